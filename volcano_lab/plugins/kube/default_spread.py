"""What a pod that names no spread constraints is spread with: the pods of its services and of its
controller.

Answers to `plugins/helper/spread.go`. A session has the services and controllers that its cache
heard of in `spread_owners`; without any, no pod is spread by default.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from volcano_lab.api.objects import LabelSelector

from .pod_info import PodInfo
from .selectors import EVERYTHING, Selector, label_selector

CONTROLLERS = {("v1", "ReplicationController"), ("apps/v1", "ReplicaSet"),
               ("apps/v1", "StatefulSet")}


@frozen
class SpreadOwner:
    """A Service, ReplicationController, ReplicaSet or StatefulSet, and the pods that it chooses."""

    kind: str
    namespace: str
    name: str
    selector: LabelSelector | None = None


def default_selector(info: PodInfo, owners: Iterable[SpreadOwner]) -> Selector:
    """Chooses the pods that this one is spread with by default; an empty selector: none.

    >>> from volcano_lab.api.objects import ObjectMeta, Pod
    >>> web = SpreadOwner("Service", "default", "web", LabelSelector({"app": "web"}))
    >>> pod = Pod(ObjectMeta("web-0", "default", labels={"app": "web"}))
    >>> default_selector(PodInfo(pod), [web]).matches({"app": "web"}), default_selector(PodInfo(pod), []).is_empty()
    (True, True)
    """
    here = [owner for owner in owners if owner.namespace == info.namespace]
    if not here:
        return EVERYTHING
    labels: dict[str, str] = {}
    for owner in here:
        if owner.kind == "Service" and label_selector(owner.selector).matches(info.labels):
            labels.update(owner.selector.match_labels)
    reference = next((r for r in info.pod.metadata.owner_references if r.controller), None)
    selector = EVERYTHING.with_labels(labels)
    if reference is None or (reference.api_version, reference.kind) not in CONTROLLERS:
        return selector
    controller = next((o for o in here if (o.kind, o.name) == (reference.kind, reference.name)),
                      None)
    chosen = label_selector(controller.selector) if controller else EVERYTHING
    return Selector((*selector.requirements, *(chosen.requirements or ())))
