"""The pods of an owner that has some already, after a change of how many it asks for, or of how
many a ResourceQuota lets its controller create: these stay, others are created or deleted.

A pod is deleted that is most like the one that is not asked for any more, without a node before
others. Left out: a change of a template, with which pods are replaced one after another, and of
pods that others create: a SparkApplication starts again.

Volcano: pkg/controllers/job/job_controller_actions.go (syncJob)
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any

import attrs

from volcano_lab.api import GROUP_NAME, objects as api
from volcano_lab.changes.draft import Draft
from volcano_lab.manifests import (
    OPERATORS,
    SCHEDULER,
    Loaded,
    OperatorObject,
    job_controller,
    with_defaults,
)
from volcano_lab.manifests.names import series
from volcano_lab.manifests.operators.model import at
from volcano_lab.manifests.owners import pods_asked, submitted_again
from volcano_lab.manifests.quotas import released
from volcano_lab.messages import Message

HASH = "pod-template-hash"
"""The label of pods by which a Deployment tells its ReplicaSets apart."""
Key = tuple[str, str]
CREATED = api.Pod | api.PodGroup


def scale(draft: Draft, before: api.KubernetesObject, after: api.KubernetesObject,
          children: Iterable[int]) -> bool:
    """Create or delete pods and PodGroups of a changed owner, whose `children` are at these places;
    return False where its controller would do something else, or nothing.
    """
    there, pods, others = _parted(draft, children)
    old, new = (_created([*others, each], pods) for each in (before, after))
    if not (old or new):  # another scheduler's, of which only some may go
        old, new = (_created([*others, _of_volcano(each)], pods) for each in (before, after))
        if new.keys() - old.keys():
            return False
    none = not isinstance(after, api.DaemonSet) and not pods_asked(after, others)
    if not pods or old == new or not (none or _alike(old, new)):
        return False
    _add(draft, there, pods, old, new)
    _delete(draft, there, pods, [pod for key, pod in sorted(old.items()) if key not in new])
    _update(draft, there, old, new)
    if isinstance(after, api.Deployment | api.ReplicaSet | api.StatefulSet) and not pods:
        for place in there.values():  # a ReplicaSet's PodGroup is deleted with its last pod
            draft.put(place, None)
    _recount(draft, [place for place in children if place not in there.values()])
    return True


def _of_volcano(owner: api.KubernetesObject) -> api.KubernetesObject:
    """Return a workload as if Volcano placed its pods."""
    if not isinstance(owner, api.Workload):
        return owner
    template = owner.spec.template
    return owner.changed(spec={"template": template.evolve(spec=template.spec.evolve(
        scheduler_name=SCHEDULER))})


def rollout(draft: Draft, before: api.KubernetesObject, after: api.KubernetesObject,
            children: Collection[int]) -> bool:
    """Delete the pods of old ReplicaSets that the changed strategy of a Deployment lets go while
    new ones wait, and create new ones as far as it lets it; return False where another field is
    changed.
    """
    if not isinstance(after, api.Deployment) or after != before.changed(
            spec={"strategy": after.spec.strategy}):
        return False
    pods = {place: pod for place in children for pod in [draft[place]] if isinstance(pod, api.Pod)}
    there = [pod for pod in pods.values() if pod.spec.node_name]
    hashes = {pod.metadata.labels.get(HASH) for pod in pods.values() if not pod.spec.node_name}
    new = [pod for pod in pods.values() if pod.metadata.labels.get(HASH) in hashes]
    count = 1 if after.spec.replicas is None else after.spec.replicas
    missing, more = _bounds(after.spec.strategy, count)
    old = [place for place, pod in pods.items() if new and pod not in new]
    gone = old[:max(len(there) - (count - missing), 0)]
    for place in gone:
        draft.put(place, None)
    _create_like(draft, new, min(count + more - len(pods) + len(gone), count - len(new)))
    _recount(draft, [place for place in children if place not in pods])
    return True


def _create_like(draft: Draft, pods: Sequence[api.Pod], count: int) -> None:
    """Create more pods of a ReplicaSet that has some."""
    for pod in pods[:1]:
        names = (name for name in series(f"{pod.metadata.owner_references[0].name}-")
                 if name not in [each.name for each in pods])
        for name in islice(names, max(count, 0)):
            draft.add(submitted_again(pod).changed(metadata={"name": name}))


def _bounds(strategy: Mapping[str, Any], count: int) -> tuple[int, int]:
    """Return how many pods of a Deployment may be unavailable, and how many may exist beyond its
    replicas: percentages are rounded down and up, and one is missing where both would be none.

    >>> _bounds({}, 6), _bounds({"rollingUpdate": {"maxSurge": 0}}, 3), _bounds(
    ...     {"type": "Recreate"}, 3)
    ((1, 2), (1, 0), (3, 0))
    """
    if strategy.get("type") == "Recreate":
        return count, 0
    less, more = (str(at(strategy, f"rollingUpdate.{name}", "25%"))
                  for name in ("maxUnavailable", "maxSurge"))
    missing = int(less[:-1]) * count // 100 if less.endswith("%") else int(less)
    beyond = -(-int(more[:-1]) * count // 100) if more.endswith("%") else int(more)
    return (missing, beyond) if missing or beyond else (1, 0)


def _recount(draft: Draft, places: Iterable[int]) -> None:
    """Let ReplicaSets among these objects ask for as many pods as they have."""
    for place in places:
        obj: Any = draft[place]
        if isinstance(obj, api.ReplicaSet):
            draft.put(place, obj.changed(spec={"replicas": sum(
                isinstance(draft[each], api.Pod) for each in draft.with_children(place))}))


def refill(draft: Draft) -> None:
    """Create the pods of owners that have some which ResourceQuotas, as they are now, let
    controllers create, and did not before.
    """
    quotas = [{obj.key: obj for obj in some if isinstance(obj, api.ResourceQuota)}
              for some in (draft.source, draft.loaded())]
    spaces = {obj.namespace or "default" for key, obj in quotas[0].items()
              if quotas[1].get(key) != obj}
    if not spaces:
        return
    owners = _with_pods(draft, spaces)
    there, pods, others = _parted(draft, {child for owner in owners
                                          for child in draft.with_children(owner)})
    if pods:
        world = [each for each in others if not isinstance(each, api.ResourceQuota)]
        world += [draft[place] for place in owners]
        old, new = (_created([*world, *some.values()], pods) for some in quotas)
        for key in _refused(draft, [*world, *quotas[0].values()], there, pods):
            old.pop(("Pod", key), None)
        _add(draft, there, pods, old, new)


def _with_pods(draft: Draft, spaces: Collection[str]) -> list[int]:
    """Return the places of owners in some namespaces of which pods are there."""
    return [place for place in draft.places() if _creates(draft[place])
            and (draft[place].namespace or "default") in spaces
            and any(draft[child].kind == "Pod" for child in draft.with_children(place))]


def _refused(draft: Draft, world: Sequence[api.KubernetesObject], there: Mapping[Key, int],
             pods: Iterable[api.Pod]) -> set[str]:
    """Return the pods, beside some of the same owners, that a ResourceQuota refuses."""
    owners = {f"{pod.namespace}/{ref.name}" for pod in pods
              for ref in pod.metadata.owner_references}
    loaded = with_defaults(Loaded([*world, *map(draft.__getitem__, there.values())], draft.source))
    return {f"{owner.partition('/')[0]}/{name}" for owner in owners
            for why in loaded.not_created.get(owner, ())
            if isinstance(why, Message) and why.facts.get("quota")
            for name in why.facts.get("names") or ()}


def _parted(draft: Draft, children: Iterable[int]
            ) -> tuple[dict[Key, int], list[Any], list[api.KubernetesObject]]:
    """Return the places of PodGroups and pods that controllers created, by kind and name, these
    pods, and what controllers neither create nor create pods for.
    """
    there = {(draft[place].kind, draft[place].key): place for place in children
             if isinstance(draft[place], CREATED)}
    return there, [draft[place] for (kind, _), place in sorted(there.items()) if kind == "Pod"], [
        obj for obj in draft.loaded() if not isinstance(obj, CREATED) and not _creates(obj)]


def _created(world: Sequence[api.KubernetesObject], pods: list[Any]) -> dict[Key, Any]:
    """Return what controllers create for the owners of some pods, as if these were not there; pods
    that are created once others run are of the kind `later`.
    """
    loaded = with_defaults([released(obj, pods) if isinstance(obj, api.ResourceQuota) else obj
                            for obj in world], pods)
    return {(obj.kind, obj.key): obj for obj in loaded if isinstance(obj, CREATED)} | {
        ("later", pod.key): pod for pod in chain.from_iterable(loaded.later.values())}


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


def _add(draft: Draft, there: Mapping[Key, int], pods: Sequence[Any], old: Mapping[Key, Any],
         new: Mapping[Key, Any]) -> None:
    """Add the objects of the second state that are not in the first one; a pod whose PodGroup is
    not there, with that of the pod like it, and with its ReplicaSet.
    """
    added = [key for key in sorted(new.keys() - old.keys() - there.keys()) if key[0] != "later"]
    for key in added:
        obj, notes = new[key], new[key].metadata.annotations
        group = "PodGroup", f"{obj.namespace}/{notes.get(GROUP_NAME, '')}"
        if isinstance(obj, api.Pod) and group not in there and group not in added:
            like = max(pods, key=partial(_likeness, obj)).metadata
            owner = next(iter(obj.metadata.owner_references), None)
            obj = obj.changed(metadata={
                "annotations": notes | job_controller.chosen(like.annotations, GROUP_NAME),
                **({"owner_references": like.owner_references}
                   if owner and owner.kind == "ReplicaSet" else {})})
        draft.add(obj)


def _likeness(pod: Any, other: Any) -> tuple[int, bool, str]:
    """Return how many labels two pods share; of equals the last without a node is most alike."""
    return (len(pod.metadata.labels.items() & other.metadata.labels.items()),
            not other.spec.node_name, other.name)


def _delete(draft: Draft, there: Mapping[Key, int], pods: list[Any], gone: Sequence[Any]) -> None:
    """Delete as many `pods` as are gone, each the one that shares most labels with that."""
    for other in gone:
        if isinstance(other, api.Pod) and pods:
            most = max(pods, key=partial(_likeness, other))
            pods.remove(most)
            draft.put(there["Pod", most.key], None)


def _update(draft: Draft, there: Mapping[Key, int], old: Mapping[Key, Any],
            new: Mapping[Key, Any]) -> None:
    """Write what differs between two states of a PodGroup to the one that is there."""
    groups = [key for key in there if key[0] == "PodGroup"]
    only = groups[0] if len(groups) == 1 else None
    for key in old.keys() & new.keys():
        named = key if key in there else only
        if key[0] == "PodGroup" and named and old[key].spec != new[key].spec:
            group: Any = draft[there[named]]
            draft.put(there[named], group.changed(spec={
                field.name: getattr(new[key].spec, field.name)
                for field in attrs.fields(type(group.spec))
                if getattr(new[key].spec, field.name) != getattr(old[key].spec, field.name)}))
