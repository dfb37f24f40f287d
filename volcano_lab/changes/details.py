"""Further facts of the templates of some fields, from the value, the previous one and the object;
None for a value that the template is not for.

Volcano: none
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from volcano_lab.api import quantity
from volcano_lab.api.objects import KubernetesObject, Node, OwnerReference, PodGroup
from volcano_lab.changes.draft import Draft
from volcano_lab.changes.job_fields import requests_of
from volcano_lab.manifests.operators.model import KINDS
from volcano_lab.manifests.operators.table import OPERATORS
from volcano_lab.manifests.pod_group_controller import GROUP_MIN_MEMBER, OWNERS
from volcano_lab.manifests.schema import at_path
from volcano_lab.messages import Message

OF_POLICY = {(kind.kind, group) for kind, row in OPERATORS.items()
             if "runPolicy.schedulingPolicy.queue" in row.queue
             for group in ("", *(text.partition("/")[0] for text in kind.api_versions))}
"""Kinds, each with its groups, whose operator copies its scheduling policy to the PodGroup, over
what is set there.
"""
POLICY = {"minMember": "minAvailable", "minResources": "minResources",
          "priorityClassName": "priorityClass"}
"""Fields of a PodGroup = what that policy calls them."""
Facts = dict[str, Any]


def _taints(value: Any, before: Any, obj: Node) -> Facts | None:
    kept, there = {taint.get("key") for taint in value or ()}, [
        taint.key for taint in obj.spec.taints]
    gone = [*dict.fromkeys(key for key in there if key not in kept)]
    by_state = any(key.startswith("node.") and "kubernetes.io/" in key for key in gone)
    return {"gone": gone, "form": ".set" * (not by_state)} if gone and kept <= {*there} else None


def _more(value: Any, before: Any, obj: Node) -> Facts:
    if not isinstance(value, dict):
        value = {"count": value}
    given = value.get("labels", {})
    labels = [f"{key}={text}" for key, text in given.items() if "#" not in str(text)]
    own = [key for key, text in given.items() if "#" in str(text)]
    devices = {name: text for name, text in value.items() if name not in ("count", "labels")}
    code = "" if devices.keys() & obj.status.allocatable.keys() else ".new"
    return {"n": value["count"], "devices": Message(f"change.devices{code}", devices=[
        f"{name} {text}" for name, text in devices.items()]) if devices else None,
        **{code: Message(f"change.node.{code}", n=len(some), labels=some) if some else None
           for code, some in (("labels", labels), ("own", own))}}


def _members(value: Any, before: Any, obj: KubernetesObject) -> Facts | None:
    names = [at_path(each, ["selector", "exactMatch", "name"]) for each in value or ()]
    return _if(bool(names) and all(names), n=len(names), nodes=names)


def _minimum(value: Any, before: Any, obj: KubernetesObject) -> Facts:
    """Return the field of a gang's minimum, which depends on the creator of the PodGroup."""
    if not isinstance(obj, PodGroup) or (not obj.name.startswith("podgroup-") and any(
            owner.kind == "Job" for owner in obj.metadata.owner_references)):
        return {"minimum": "minAvailable", "where": None}
    return {"minimum": "minMember", "where": _where(obj, "minAvailable")}


def of_amount(draft: Draft, obj: KubernetesObject, path: list[str], value: Any) -> Message | None:
    """Return what sets an amount of a PodGroup, or of which containers it is."""
    if not isinstance(obj, PodGroup):
        return None
    pods = [draft[place] for place in draft.pods_of(obj)] if path[0] == "requests" else []
    return _init_only(pods, path[-1], str(value or 0)) if pods else _where(obj, path[0])


def _init_only(pods: Sequence[Any], name: str, value: str) -> Message | None:
    """Return the init containers whose requests a setting changes, where it changes no others."""
    most = max(map(quantity.parse, requests_of(pods, name)), default=0)
    kinds = {each.name: each in pod.spec.init_containers for pod in pods
             for each in (*pod.spec.containers, *pod.spec.init_containers)
             for now in [quantity.parse(each.resources.requests.get(name, "0"))]
             if now and (now == most or now > quantity.parse(value))}
    return Message("change.init", n=len(kinds), names=[*kinds]) if kinds and all(
        kinds.values()) else None


def has_policy(owner: OwnerReference) -> bool:
    """Return whether an owner has a scheduling policy that its operator copies."""
    return (owner.kind, owner.api_version.rpartition("/")[0]) in OF_POLICY


def _where(obj: PodGroup, field: str) -> Message | None:
    """Return what sets a field of a PodGroup: an annotation, or a field of its owner."""
    refs = obj.metadata.owner_references
    if kinds := [ref.kind for ref in refs if has_policy(ref)]:
        return Message("change.policy", field=field, kind=kinds[0])
    noted = field == "minAvailable" and {ref.kind for ref in refs} & {*OWNERS}
    return Message("change.annotation", annotation=GROUP_MIN_MEMBER) if noted else None


def of_priority(obj: KubernetesObject) -> Message | None:
    """Return what sets the PriorityClass of a PodGroup: a field of its owner, which only for a
    Volcano Job has the same name.
    """
    for ref in obj.metadata.owner_references if isinstance(obj, PodGroup) else ():
        kind = KINDS.get((ref.api_version.rpartition("/")[0], ref.kind))
        for place in OPERATORS[kind].priority if kind else ():
            word, _, key = place.partition(" ")
            return Message(f"change.owner.{word}" if key else "change.owner", kind=ref.kind,
                           field=key or f"spec.{word}")
    return None


def _selector(value: Mapping[str, str], before: Mapping[str, str] | None, obj: Any
              ) -> Facts | None:
    if before is None:
        return None
    return {"more": _pairs({key: text for key, text in value.items() if before.get(key) != text}),
            "less": _pairs({key: text for key, text in before.items() if value.get(key) != text})}


def _if(fits: bool, **facts: Any) -> Facts | None:
    return facts if fits else None


def _pairs(labels: Mapping[str, str]) -> list[str]:
    return [f"{key}={text}" for key, text in labels.items()]


DETAILS: dict[str, Callable[[Any, Any, Any], Facts | None]] = {
    "change.node.unschedulable": lambda value, before, obj: _if(value is False),
    "change.node.metadata.labels.*": lambda value, before, obj: _if(value is not None),
    "change.node.taints": _taints,
    "change.node.more": _more,
    "change.hypernode.members": _members,
    "change.deployment.strategy": lambda value, before, obj: _if(
        {"maxSurge", "maxUnavailable"} == {*(value or {}).get("rollingUpdate", ())},
        **(value or {}).get("rollingUpdate", {})),
    "change.job.minAvailable": _minimum,
    "change.job.minTaskMember.*": lambda value, before, obj: {} if value else {
        "after": Message("none")},
    "change.job.nodeSelector": _selector,
    "change.job.nodeSelector.none": lambda value, before, obj: {"labels": _pairs(before)},
    "change.job.affinity.podAntiAffinity": lambda value, before, obj: _if(
        [*value] == ["preferredDuringSchedulingIgnoredDuringExecution"]),
    "change.job.state.phase": lambda value, before, obj: _if(value == "Pending"),
    "change.job.priority": lambda value, before, obj: {
        "below": value - 1, "where": of_priority(obj)},
    "change.job.priorityClassName": lambda value, before, obj: {
        "before": before or Message("unset"), "where": of_priority(obj)},
    "change.job.networkTopology": lambda value, before, obj: _if(
        {"mode", "highestTierAllowed"} == {*value} and value["mode"] == "hard",
        tier=value.get("highestTierAllowed")),
    "change.job.tolerations": lambda value, before, obj: _if(bool(value), tolerated=[
        f"{each.get('key', '')}:{each.get('effect', '')}" for each in value or ()]),
    "change.queue.affinity.nodeGroupAffinity.*": lambda value, before, obj: {"after": value}}
"""Template -> its facts, from the value, the previous one and the object."""
