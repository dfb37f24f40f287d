"""The pods of an owner that has some already, after a change of how many it asks for: these stay,
and as many are created or deleted as its controller creates or deletes.

A pod is deleted that is most like the one that is not asked for any more, without a node before
others. Left out: a change of a template, with which pods are replaced one after another, and of
pods that others create: a SparkApplication starts again.

Volcano: pkg/controllers/job/job_controller_actions.go (syncJob)
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import chain
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
    there = {(draft[place].kind, draft[place].key): place for place in children}
    pods: list[Any] = [draft[place] for (kind, _), place in sorted(there.items()) if kind == "Pod"]
    old, new = _created(draft, pods, before, after)
    if not pods or old == new or not _alike(old, new):
        return False
    for key in sorted(new.keys() - old.keys() - there.keys()):
        draft.add(_adopted(new[key], pods[0], new.keys() - old.keys() | there.keys()))
    _delete(draft, there, pods, [pod for key, pod in sorted(old.items()) if key not in new])
    _update(draft, there, old, new)
    return True


def _created(draft: Draft, pods: list[Any], *owners: api.KubernetesObject
             ) -> list[dict[Key, Any]]:
    """Return what controllers create for each state of an owner, as if nothing were there; pods
    that are created once others run are of the kind `later`.
    """
    others = [released(obj, pods) if isinstance(obj, api.ResourceQuota) else obj
              for obj in draft.loaded() if not isinstance(obj, CREATED) and not _creates(obj)]
    worlds = [with_defaults([*others, owner], pods) for owner in owners]
    return [{(obj.kind, obj.key): obj for obj in world if isinstance(obj, CREATED)} | {
        ("later", pod.key): pod for pod in chain.from_iterable(world.later.values())}
        for world in worlds]


def _creates(obj: api.KubernetesObject) -> bool:
    """Return whether a controller creates pods for an object."""
    return isinstance(obj, api.VolcanoJob | api.Workload) or (
        isinstance(obj, OperatorObject) and OPERATORS[type(obj)].reader is not None)


def _alike(old: Mapping[Key, Any], new: Mapping[Key, Any]) -> bool:
    """Return whether two states have pods in common, these alike, and the same `later` ones."""
    kept = [key for key in old.keys() & new.keys() if key[0] != "PodGroup"]
    later = [key for key in old.keys() ^ new.keys() if key[0] == "later"]
    return bool(kept) and not later and all(
        _template(old[key]) == _template(new[key]) for key in kept)


def _template(pod: Any) -> tuple[Any, ...]:
    return pod.spec, pod.metadata.labels, pod.metadata.annotations


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


def _delete(draft: Draft, there: Mapping[Key, int], pods: list[Any], gone: Sequence[Any]) -> None:
    """Delete as many `pods` as are gone, each the one that shares most labels with that."""
    for other in gone:
        if isinstance(other, api.Pod) and pods:
            labels = other.metadata.labels.items()
            most = max(pods, key=lambda pod: (len(pod.metadata.labels.items() & labels),
                                              not pod.spec.node_name, pod.name))
            pods.remove(most)
            draft.put(there["Pod", most.key], None)


def _update(draft: Draft, there: Mapping[Key, int], old: Mapping[Key, Any],
            new: Mapping[Key, Any]) -> None:
    """Write what differs between two states of a PodGroup to the one that is there."""
    groups = [key for key in there if key[0] == "PodGroup"]
    for key in old.keys() & new.keys():
        named = key if key in there else groups[0] if len(groups) == 1 else None
        if key[0] == "PodGroup" and named and old[key].spec != new[key].spec:
            group: Any = draft[there[named]]
            draft.put(there[named], group.changed(spec={
                field.name: getattr(new[key].spec, field.name)
                for field in attrs.fields(type(group.spec))
                if getattr(new[key].spec, field.name) != getattr(old[key].spec, field.name)}))
