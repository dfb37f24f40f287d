"""A change as commands of kubectl.

Volcano: none
"""

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from volcano_lab.api.objects import KubernetesObject, Node, Pod, PodGroup, VolcanoJob
from volcano_lab.changes.change import Change
from volcano_lab.changes.conf import parted
from volcano_lab.changes.draft import Draft
from volcano_lab.changes.job_fields import IN_GROUP, IN_PODS, KEPT
from volcano_lab.changes.objects import Setting, apply
from volcano_lab.manifests.operators import SUSPENDED
from volcano_lab.manifests.operators.model import OperatorObject
from volcano_lab.manifests.owners import deployment_of
from volcano_lab.manifests.pod_group_controller import GROUP_MIN_MEMBER, QUEUE_NAME
from volcano_lab.manifests.schema import at_path
from volcano_lab.manifests.writer import to_dict

MUTABLE = re.compile(r"spec\.(minAvailable|priorityClassName|tasks\.\d+\.(replicas|minAvailable))")
"""Fields that may be changed of a Volcano Job."""

RESUMING = {f"spec.{path}" for path, _ in SUSPENDED} | {
    "spec.strategy", "spec.replicas", "spec.parallelism"}
"""Fields that may be changed of each owner of pods: they suspend and resume it, or are how many
pods it has and how a Deployment replaces them.
"""

TEMPLATE = ("affinity", "annotations", "nodeSelector", "tolerations", "topologySpreadConstraints")
"""Fields of a template that are patched as they are in its pods."""

MINIMUM, LEFT = {"minMember", "minResources"}, {"networkTopology"}
"""Fields of a PodGroup that a Job's controller sets again, and those that each owner leaves as they
are.
"""

OWN, RENEWED = "podgroup-", ("ReplicaSet", "StatefulSet")
"""How names of PodGroups of Volcano's controller begin, and the owners with whose changes it writes
them again.
"""

ROLLED = {kind.lower() for kind in KEPT if kind != "Pod"}
"""Kinds of owners of which a template may be changed while their pods are there."""

PATCHED = ("Queue", "ResourceQuota", "PodDisruptionBudget", "HyperNode")
"""Kinds of which each field may be changed."""


def kubectl(change: Change, world: Sequence[KubernetesObject]) -> list[str]:
    """Return the commands of kubectl for a change of a world; none if kubectl can't express all of
    it.

    >>> from volcano_lab.cluster import Cluster
    >>> objects = Cluster().node("n1", cpu=4).queue("a").objects()
    >>> kubectl(Change(("node/n1.unschedulable=false",)), objects)
    ['kubectl uncordon n1']
    >>> print(*kubectl(Change(("queue/a.capability[nvidia.com/gpu]=8",)), objects))
    kubectl patch queue a --type merge -p '{"spec": {"capability": {"nvidia.com/gpu": "8"}}}'
    """
    given = Draft(getattr(world, "given", world))
    draft = _named_by(change, world)
    patches: dict[str, dict[str, Any]] = {}
    deleted = [(name.startswith("pod/"), line) for name in change.removals
               for there in [draft if draft.has(name, name) else given]
               for line in _deletions(there, there[there.find(name, name)], name)]
    commands = [line for of_pod, line in deleted if not of_pod]
    commands += ["" if text.startswith(("conf/", "plugin/")) else _command(
        draft if Setting.read(text).exists_in(draft) else given, Setting.read(text), patches)
        for text in change.settings]
    commands += [shlex.join(["kubectl", "patch", *key.split(), "--type", way, "-p",
                             json.dumps(patch)]) for key, (way, patch) in {
        key: _of_lists(patch) for key, patch in patches.items()}.items()]
    commands += [line for of_pod, line in deleted if of_pod]  # created again as settings have it
    return [each for each in commands if each != "patched"] if all(commands) else []


def created_again(change: Change, world: Sequence[KubernetesObject]) -> list[str]:
    """Return the objects that a change takes as submitted with it, as kubectl accepts their names:
    of those that exist the API server, or Volcano's webhook, refuses it.

    >>> from volcano_lab.cluster import Cluster
    >>> objects = Cluster().queue("a").job("train", pods=2, cpu=1).objects()
    >>> created_again(Change(("job/train.requests.cpu=500m",)), objects)
    ['pod train-0 -n default', 'pod train-1 -n default']
    >>> created_again(Change(("job/train.minAvailable=1", "queue/a.weight=2")), objects)
    []
    """
    draft = _named_by(change, world)
    return [*dict.fromkeys(chain.from_iterable(
        _refusing(draft, Setting.read(text)) for text in parted(change.settings)[0]))]


def _named_by(change: Change, world: Sequence[KubernetesObject]) -> Draft:
    """Return the objects of which a change names fields: manifests, where it has whole paths."""
    return Draft(getattr(world, "given", world) if change.of_manifest else world)


def _refusing(draft: Draft, setting: Setting) -> Iterator[str]:
    """Yield the objects that refuse a setting of their fields, or of those of their pods."""
    if not setting.exists_in(draft):
        return
    _, steps, obj = setting.split(draft)
    word, path = "".join(steps[1:2]), ".".join(steps)
    of_pods = word == "requests" or (word in IN_PODS and not (setting.adds or "Gates" in word))
    owner = next(iter(obj.metadata.owner_references), None)
    kind, names = _word(obj.api_versions[0], obj.kind), [obj.name]
    if isinstance(obj, PodGroup):
        kind = _word(owner.api_version, owner.kind) if owner else "pod"
        names = [owner.name] if owner else [
            pod.name for pod in map(draft.__getitem__, draft.pods_of(obj))
            if not pod.metadata.owner_references]
        of_pods = (of_pods or (kind == "vcjob" and word == "queue")) and not setting.of_group
    fixed = {"vcjob": of_pods or not (isinstance(obj, PodGroup) or MUTABLE.fullmatch(path)),
             "job": of_pods or word == "template",
             **dict.fromkeys(ROLLED, False)}.get(kind, of_pods)
    space = f" -n {obj.namespace}" if obj.namespaced else ""
    yield from (f"{kind} {name}{space}" for name in names if fixed and steps[0] == "spec")


def _deletions(draft: Draft, obj: KubernetesObject, name: str) -> list[str]:
    """Return the commands that delete an object, or the owner that would create it again, unless
    the `name` is that of a PodGroup; one without an owner does not own its pods.
    """
    owner = next(iter(obj.metadata.owner_references), None) if isinstance(
        obj, PodGroup) and not name.startswith("podgroup/") else None
    space = ["-n", obj.namespace] if obj.namespaced else []
    if owner and owner.kind != "ReplicaSet":
        return [_delete(owner.api_version, owner.kind, owner.name, *space)]
    pods = [draft[place].name for place in draft.pods_of(obj)] if isinstance(obj, PodGroup) else []
    space += ["--force"] * bool(obj.metadata.deletion_timestamp)  # which waits for no kubelet
    return [_delete(obj.api_versions[0], obj.kind, obj.name, *space),
            *[_delete("v1", "Pod", *pods, *space)] * bool(pods)]


def _delete(version: str, kind: str, *words: str) -> str:
    return shlex.join(["kubectl", "delete", _word(version, kind), *words])


def _word(version: str, kind: str) -> str:
    return "vcjob" if kind == "Job" and version in VolcanoJob.api_versions else kind.lower()


def _command(draft: Draft, setting: Setting, patches: dict[str, dict[str, Any]]) -> str:
    """Return one setting's command, and apply it to the draft; "patched" if it was added to a
    patch, "" without one.
    """
    if not setting.exists_in(draft):
        return ""
    place, steps, obj = setting.split(draft)
    if isinstance(obj, PodGroup) and not (setting.of_group or {*steps[:2]} & {*IN_GROUP}):
        return _of_template(draft, obj, setting, steps[1:], patches)
    if obj.kind == "Queue" and steps == ["status", "state"]:
        patch = shlex.quote(json.dumps({"status": {"state": setting.value}}))
        return f"kubectl patch queue {obj.name} --subresource status --type merge -p {patch}"
    hard = obj.kind == "ResourceQuota" and steps[:2] == ["status", "hard"]  # copied from its spec
    if not (isinstance(obj, Node | PodGroup) or hard or _is_mutable(obj, steps)):
        return ""  # others are immutable, or not changed this way
    apply(draft, [setting.text])
    if isinstance(obj, Node):
        return _of_node(obj, draft[place], setting, steps)
    if isinstance(obj, PodGroup):
        return _of_group(draft, place, patches)
    whole = steps[1] == "tasks" or isinstance(obj, OperatorObject)
    steps = steps if whole else steps[:2]
    was, now = (at_path(each, steps) for each in (draft.source[place], draft[place]))
    _patch(patches, _word(obj.api_versions[0], obj.kind), obj.name, obj,
           "spec" if hard else steps[0])["/".join(steps[1:])] = _merging(was, now)
    return "patched"


def _is_mutable(obj: KubernetesObject, steps: list[str]) -> bool:
    """Return whether a field of an object may be changed in place."""
    path = ".".join(steps)
    return len(steps) > 1 and steps[0] != "status" and (
        obj.kind in PATCHED or isinstance(obj, OperatorObject)
        or (isinstance(obj, VolcanoJob) and bool(MUTABLE.fullmatch(path)))
        or not RESUMING.isdisjoint((".".join(steps[:2]), path)))


def _of_lists(patch: dict[str, dict[str, Any]]) -> tuple[str, Any]:
    """Return a patch with its type: one of fields in lists has their paths."""
    spec = patch.get("spec", {})
    if not any("/" in field for field in spec):
        return "merge", patch
    return "json", [{"op": "add", "path": f"/spec/{field}", "value": value}
                    for field, value in spec.items()]


def _of_node(before: Node, after: KubernetesObject, setting: Setting, steps: list[str]) -> str:
    if steps == ["spec", "unschedulable"]:
        return shlex.join(["kubectl", "cordon" if setting.value else "uncordon", before.name])
    if steps == ["spec", "taints"] and not (setting.value or setting.adds):
        if any("node.kubernetes.io/" in taint.key for taint in before.spec.taints):
            return ""  # Kubernetes sets it again as long as the node is in that state
        return shlex.join(["kubectl", "taint", "node", before.name, *(
            f"{taint.key}:{taint.effect}-" for taint in before.spec.taints)])
    if steps[:2] != ["metadata", "labels"]:
        return ""
    labels = _merging(before.metadata.labels, after.metadata.labels)
    return shlex.join(["kubectl", "label", "node", before.name, *(
        f"{key}-" if value is None else f"{key}={value}" for key, value in labels.items()),
        "--overwrite"])


def _of_group(draft: Draft, place: int, patches: dict[str, dict[str, Any]]) -> str:
    """Patch a PodGroup, or the Volcano Job whose controller would set its minimum again, or the
    template in which a Deployment or a StatefulSet names the queue of its pods, or its annotation
    of a minimum.
    """
    group = draft[place]
    was, now = (to_dict(each).get("spec", {}) for each in (draft.source[place], group))
    fields = _merging(was, now)
    owner = next(iter(group.metadata.owner_references), None)
    pods: list[Any] = [draft[each] for each in draft.pods_of(group)]
    creator = _creator(draft, pods[0]) if pods and owner else None
    if fields and {*fields} <= _left(group, owner, creator):
        _patch(patches, "podgroup", group.name, group).update(fields)
    elif creator and fields.keys() == {"queue"}:
        _patch(patches, *creator, group)["template"] = {"metadata": {"annotations": {
            QUEUE_NAME: fields["queue"]}}}
    elif creator and fields.keys() == {"minMember"}:
        _patch(patches, *creator, group, "metadata")["annotations"] = {
            GROUP_MIN_MEMBER: str(fields["minMember"])}
    elif owner and owner.api_version in VolcanoJob.api_versions and {*fields} <= MINIMUM and fields:
        _patch(patches, "vcjob", owner.name, group)["minAvailable"] = at_path(
            group, ["spec", "minMember"])
    else:
        return ""
    return "patched"


def _left(group: KubernetesObject, owner: Any, creator: Any) -> set[str]:
    """Return the fields of a PodGroup that its controller leaves as they are."""
    if creator or (owner and (owner.kind in RENEWED or owner.api_version in (
            VolcanoJob.api_versions))):
        return LEFT
    return LEFT | {"queue"} | (set() if owner and not group.name.startswith(OWN) else MINIMUM)


def _of_template(draft: Draft, group: PodGroup, setting: Setting, steps: list[str],
                 patches: dict[str, dict[str, Any]]) -> str:
    """Return the command for a field of the pods of a Deployment or StatefulSet, or patch its
    template; requests have a command of their own, and annotations of other pods.
    """
    if steps[0] not in (*TEMPLATE, "requests"):
        return ""
    pods: dict[int, Any] = {place: draft[place] for place in draft.pods_of(group)}
    apply(draft, [setting.text])
    changed = [(pod, draft[place]) for place, pod in pods.items() if draft[place] != pod]
    creator = _creator(draft, changed[0][0]) if changed else None
    if creator is None:
        return shlex.join(["kubectl", "annotate", f"podgroup/{group.name}", *(
            f"pod/{pod.name}" for pod, _ in changed), "-n", group.namespace,
            f"{'.'.join(steps[1:])}={setting.text.partition('=')[2]}", "--overwrite"]
            ) if steps[0] == "annotations" and setting.value is not None else ""
    was, now = map(to_dict, changed[0])
    part, field = ("metadata" if steps[0] == "annotations" else "spec"), steps[0]
    if field in TEMPLATE:
        _patch(patches, *creator, group).setdefault("template", {}).setdefault(part, {})[
            field] = _merging(was[part].get(field, {}), now[part].get(field, {}))
        return "patched"
    names = [each["name"] for each, old in zip(now["spec"]["containers"], was["spec"]["containers"],
                                               strict=True) if each != old]
    return shlex.join(["kubectl", "set", "resources", *creator, "-n", group.namespace, "-c",
                       names[0], f"--requests={'.'.join(steps[1:])}={setting.value}"]
                      ) if setting.value and len(names) == 1 else ""


def _creator(draft: Draft, pod: Pod) -> tuple[str, str] | None:
    """Return the kind and name of what has a pod's template: a Deployment or a StatefulSet that no
    operator has created.
    """
    found = [("deployment", deployment_of(pod)), *(
        ("statefulset", ref.name) for ref in pod.metadata.owner_references
        if ref.kind == "StatefulSet")]
    owned = {(obj.kind.lower(), obj.name) for obj in getattr(draft.source, "given", ())
             if obj.namespace == pod.namespace and obj.metadata.owner_references}
    return next((each for each in found if each[1] and each not in owned), None)


def _merging(was: Any, now: Any) -> Any:
    """Return what a merge patch contains to replace a value; null removes a field."""
    if not (isinstance(was, dict) and isinstance(now, dict)):
        return now
    return {name: _merging(was.get(name), now.get(name)) for name in {**was, **now}
            if was.get(name) != now.get(name)}


def _patch(patches: dict[str, dict[str, Any]], word: str, name: str, beside: KubernetesObject,
           part: str = "spec") -> dict[str, Any]:
    """Return a part of an object's patch, in the namespace of another one."""
    space = f" -n {beside.namespace}" if beside.namespaced else ""
    return patches.setdefault(f"{word} {name}{space}", {}).setdefault(part, {})
