"""Patches of a PodGroup, or of the object that has the templates of its pods.

Volcano: none
"""

import shlex
from collections.abc import Iterable, Iterator
from typing import Any

from volcano_lab.api.objects import (
    KubernetesObject,
    OwnerReference,
    Pod,
    PodGroup,
    VolcanoJob,
)
from volcano_lab.changes.details import POLICY, has_policy
from volcano_lab.changes.draft import Draft
from volcano_lab.changes.job_fields import KEPT
from volcano_lab.changes.objects import Setting, apply
from volcano_lab.changes.owner_fields import fields_of
from volcano_lab.manifests.operators.model import OperatorObject
from volcano_lab.manifests.owners import by_label, deployment_of
from volcano_lab.manifests.pod_group_controller import GROUP_MIN_MEMBER, QUEUE_NAME
from volcano_lab.manifests.writer import to_dict

TEMPLATE = ("affinity", "annotations", "nodeSelector", "tolerations", "topologySpreadConstraints")
"""Fields of a template that are patched as they are in its pods."""

MINIMUM, LEFT = {"minMember", "minResources"}, {"networkTopology"}
"""Fields of a PodGroup that a Job's controller sets again, and those that each owner leaves as they
are.
"""

CLASS = "priorityClassName"
OWN, RENEWED = "podgroup-", ("ReplicaSet", "StatefulSet")
"""How names of PodGroups of Volcano's controller begin, and the owners with whose changes it writes
them again.
"""

ROLLED = {kind.lower() for kind in KEPT if kind != "Pod"}
"""Kinds of owners of which a template may be changed while their pods are there."""

STAYING = {"RayCluster", "StatefulSet"}
"""Kinds of owners that leave a pod without a node as it is when its template changes."""

Patches = dict[str, dict[str, Any]]
"""An object in the words of kubectl = its patch."""


def of_group(draft: Draft, place: int, patches: Patches) -> str:
    """Patch a PodGroup, or what has created its pods; return "patched", "" where neither lets it
    change.
    """
    group: Any = draft[place]
    was, now = (to_dict(each).get("spec", {}) for each in (draft.source[place], group))
    fields = merging(was, now)
    owner = next(iter(group.metadata.owner_references), None)
    pods: list[Any] = [draft[each] for each in draft.pods_of(group)]
    creator = _creator(draft, pods[0]) if pods and owner else None
    if not fields:
        return ""
    if {*fields} <= _left(group, owner, creator):
        add_patch(patches, "podgroup", group.name, group).update(fields)
        return "patched"
    done = _of_creator(patches, creator, group, fields) if creator else (
        owner is not None and _of_owner(patches, owner, group, fields))
    return "patched" * done


def _of_creator(patches: Patches, creator: tuple[str, str], group: PodGroup, fields: dict[str, Any]
                ) -> bool:
    """Patch the template in which a Deployment or a StatefulSet names the queue of its pods, or its
    annotation of a minimum.
    """
    if fields.keys() == {"queue"}:
        add_patch(patches, *creator, group)["template"] = {"metadata": {"annotations": {
            QUEUE_NAME: fields["queue"]}}}
    elif fields.keys() == {"minMember"}:
        add_patch(patches, *creator, group, "metadata")["annotations"] = {
            GROUP_MIN_MEMBER: str(fields["minMember"])}
    return fields.keys() in ({"queue"}, {"minMember"})


def _of_owner(patches: Patches, owner: OwnerReference, group: PodGroup, fields: dict[str, Any]
              ) -> bool:
    """Patch the Volcano Job, or the scheduling policy, whose controller would set a field of a
    PodGroup again.
    """
    if owner.api_version in VolcanoJob.api_versions and (
            fields.keys() <= MINIMUM or fields.keys() == {CLASS}):
        add_patch(patches, "vcjob", owner.name, group).update(
            fields if CLASS in fields else {"minAvailable": group.spec.min_member})
        return True
    if not has_policy(owner) or not fields.keys() <= POLICY.keys():
        return False
    policy = add_patch(patches, owner.kind.lower(), owner.name, group).setdefault("runPolicy", {})
    policy.setdefault("schedulingPolicy", {}).update(
        {POLICY[name]: value for name, value in fields.items()
         if name != "minResources" or "minMember" not in fields})  # else computed of that
    return True


def _left(group: KubernetesObject, owner: Any, creator: Any) -> set[str]:
    """Return the fields of a PodGroup that its controller leaves as they are."""
    if creator or (owner and (owner.kind in RENEWED or owner.api_version in (
            VolcanoJob.api_versions))):
        return LEFT
    left = LEFT | ({"queue"} if owner and has_policy(owner) else {"queue", CLASS})
    return left | (set() if owner and not group.name.startswith(OWN) else MINIMUM)


def of_template(draft: Draft, group: PodGroup, setting: Setting, steps: list[str],
                patches: Patches) -> str:
    """Return the command for a field of the pods of a Deployment or StatefulSet, or patch its
    template; requests have a command of their own, and annotations of other pods.
    """
    if steps[0] not in (*TEMPLATE, "requests"):
        return ""
    pods: dict[int, Any] = {place: draft[place] for place in draft.pods_of(group)}
    apply(draft, [setting.text])
    changed = [(pod, draft[place]) for place, pod in pods.items() if draft[place] != pod]
    creator = _creator(draft, changed[0][0]) if changed else None
    if creator is None and steps[0] != "annotations":
        return _of_operator(draft, group, [pod for pod, _ in changed], setting, steps, patches)
    if creator is None:
        return shlex.join(["kubectl", "annotate", f"podgroup/{group.name}", *(
            f"pod/{pod.name}" for pod, _ in changed), "-n", group.namespace,
            f"{'.'.join(steps[1:])}={setting.text.partition('=')[2]}", "--overwrite"]
            ) if setting.value is not None else ""
    was, now = map(to_dict, changed[0])
    part, field = ("metadata" if steps[0] == "annotations" else "spec"), steps[0]
    if field in TEMPLATE:
        add_patch(patches, *creator, group).setdefault("template", {}).setdefault(part, {})[
            field] = merging(was[part].get(field, {}), now[part].get(field, {}))
        return "patched"
    names = [each["name"] for each, old in zip(now["spec"]["containers"], was["spec"]["containers"],
                                               strict=True) if each != old]
    return shlex.join(["kubectl", "set", "resources", *creator, "-n", group.namespace, "-c",
                       names[0], f"--requests={'.'.join(steps[1:])}={setting.value}"]
                      ) if setting.value and len(names) == 1 else ""


def _of_operator(draft: Draft, group: PodGroup, pods: list[Pod], setting: Setting,
                 steps: list[str], patches: Patches) -> str:
    """Patch the templates of an object of an operator that has created some pods."""
    owner = _rolling(draft, group, pods[0]) if pods else None
    fields = fields_of(owner, pods, setting, steps) if owner else {}
    if owner and fields:
        add_patch(patches, owner.kind.lower(), owner.name, owner).update(fields)
    return "patched" * bool(fields)


def renewed(draft: Draft, settings: Iterable[Setting]) -> Iterator[list[str]]:
    """Yield the pods, and their namespace, that their owner creates again by settings of its
    template only once they are deleted.
    """
    for setting in settings:
        _, steps, obj = setting.split(draft) if setting.exists_in(draft) else (0, [], None)
        if not isinstance(obj, PodGroup) or steps[1] not in (*TEMPLATE, "requests"):
            continue
        pods = [pod for pod in map(draft.__getitem__, draft.pods_of(obj))
                if isinstance(pod, Pod) and not pod.spec.node_name]
        owner = _rolling(draft, obj, pods[0]) if pods else None
        if pods and not STAYING.isdisjoint([owner.kind] if owner else [
                ref.kind for ref in obj.metadata.owner_references]):
            yield [*(pod.name for pod in pods), "-n", obj.namespace]


def _creator(draft: Draft, pod: Pod) -> tuple[str, str] | None:
    """Return the kind and name of what has a pod's template: a Deployment or a StatefulSet that no
    operator has created.
    """
    found = [("deployment", deployment_of(pod)), *(
        ("statefulset", ref.name) for ref in pod.metadata.owner_references
        if ref.kind == "StatefulSet")]
    given = [obj for obj in getattr(draft.source, "given", ()) if obj.namespace == pod.namespace]
    owned = {(obj.kind.lower(), obj.name) for obj in given if obj.metadata.owner_references}
    if not {*by_label(pod)}.isdisjoint((obj.kind, obj.name) for obj in given):
        return None
    return next((each for each in found if each[1] and each not in owned), None)


def _rolling(draft: Draft, group: PodGroup, pod: Pod) -> OperatorObject | None:
    """Return the object of an operator that owns a PodGroup, or of which a label of its pod has the
    name, and of which the templates may be changed while its pods are there.
    """
    owners = {*by_label(pod), *((ref.kind, ref.name) for ref in group.metadata.owner_references)}
    return next((obj for obj in getattr(draft.source, "given", ()) if isinstance(
        obj, OperatorObject) and obj.namespace == group.namespace and (obj.kind, obj.name) in owners
        and obj.kind.lower() in ROLLED), None)


def merging(was: Any, now: Any) -> Any:
    """Return what a merge patch contains to replace a value; null removes a field."""
    if not (isinstance(was, dict) and isinstance(now, dict)):
        return now
    return {name: merging(was.get(name), now.get(name)) for name in {**was, **now}
            if was.get(name) != now.get(name)}


def add_patch(patches: Patches, word: str, name: str, beside: KubernetesObject,
           part: str = "spec") -> dict[str, Any]:
    """Return a part of an object's patch, in the namespace of another one."""
    space = f" -n {beside.namespace}" if beside.namespaced else ""
    return patches.setdefault(f"{word} {name}{space}", {}).setdefault(part, {})
