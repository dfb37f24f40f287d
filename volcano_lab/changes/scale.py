"""The pods of an owner that has some already, after a change of how many it asks for: these stay,
and as many are created or deleted as its controller creates or deletes.

A pod is deleted that is most like the one that is not asked for any more, without a node before
others. Left out: a change of a template, with which pods are replaced one after another.

Volcano: pkg/controllers/job/job_controller_actions.go (syncJob)
"""

from collections.abc import Container, Iterable
from typing import Any

import attrs

from volcano_lab.api import objects as api
from volcano_lab.api.task import GROUP_NAME
from volcano_lab.changes.draft import Draft
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.operators import OPERATORS, OperatorObject
from volcano_lab.manifests.quotas import released

Key = tuple[str, str]
CREATED = api.Pod | api.PodGroup


def scale(draft: Draft, before: api.KubernetesObject, after: api.KubernetesObject,
          children: Iterable[int]) -> bool:
    """Create or delete pods and PodGroups of a changed owner, whose `children` are at these places;
    return False where its controller would do something else, or nothing.
    """
    there: dict[Key, Any] = {(draft[place].kind, draft[place].key): place for place in children}
    pods: list[Any] = [draft[place] for (kind, _), place in sorted(there.items()) if kind == "Pod"]
    old, new = _created(draft, pods, before, after)
    kept = [key for key in old if key[0] == "Pod" and key in new]
    if not kept or not pods or old == new or any(
            _template(old[key]) != _template(new[key]) for key in kept):
        return False
    like = pods[0]
    for key in sorted(old.keys() - new.keys()):
        if key[0] == "Pod" and pods:
            gone = max(pods, key=lambda pod: (_likeness(pod, old[key]), not pod.spec.node_name,
                                              pod.name))
            pods.remove(gone)
            draft.put(there["Pod", gone.key], None)
    groups = [key for key in there if key[0] == "PodGroup"]
    for key in sorted(new):
        if key not in old and key not in there:
            draft.add(_adopted(new[key], like, new.keys() - old.keys() | there.keys()))
        elif key in old and key[0] == "PodGroup" and (key in there or len(groups) == 1):
            _update(draft, there[key if key in there else groups[0]], old[key], new[key])
    return True


def _created(draft: Draft, pods: list[Any], *owners: api.KubernetesObject
             ) -> list[dict[Key, Any]]:
    """Return what controllers create for each state of an owner, as if nothing were there."""
    others = [released(obj, pods) if isinstance(obj, api.ResourceQuota) else obj
              for obj in draft.loaded() if not isinstance(obj, CREATED) and not _creates(obj)]
    return [{(obj.kind, obj.key): obj for obj in with_defaults([*others, owner], pods)
             if isinstance(obj, CREATED)} for owner in owners]


def _creates(obj: api.KubernetesObject) -> bool:
    """Return whether a controller creates pods for an object."""
    return isinstance(obj, api.VolcanoJob | api.Workload) or (
        isinstance(obj, OperatorObject) and OPERATORS[type(obj)].reader is not None)


def _template(pod: Any) -> tuple[Any, ...]:
    return pod.spec, pod.metadata.labels, pod.metadata.annotations


def _likeness(pod: Any, other: Any) -> int:
    """Return how many labels two pods share."""
    return len(pod.metadata.labels.items() & other.metadata.labels.items())


def _adopted(obj: Any, like: Any, groups: Container[Key]) -> Any:
    """Return a created object; a pod whose PodGroup is not there, with that of a pod like it, and
    with its ReplicaSet.
    """
    name = obj.metadata.annotations.get(GROUP_NAME, "")
    if not isinstance(obj, api.Pod) or ("PodGroup", f"{obj.namespace}/{name}") in groups:
        return obj
    owner = next(iter(obj.metadata.owner_references), None)
    return obj.changed(metadata={
        "annotations": obj.metadata.annotations | {
            key: text for key, text in like.metadata.annotations.items() if key == GROUP_NAME},
        **({"owner_references": like.metadata.owner_references}
           if owner and owner.kind == "ReplicaSet" else {})})


def _update(draft: Draft, place: int, old: Any, new: Any) -> None:
    """Write what differs between two states of a PodGroup to the one that is there."""
    group: Any = draft[place]
    fields = [field.name for field in attrs.fields(type(group.spec))]
    draft.put(place, group.changed(spec={
        name: getattr(new.spec, name) for name in fields
        if getattr(new.spec, name) != getattr(old.spec, name)}))
