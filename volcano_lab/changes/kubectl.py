"""A change as commands of kubectl.

Volcano: none
"""

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from volcano_lab.api.objects import KubernetesObject, Node, PodGroup, VolcanoJob
from volcano_lab.changes import patches as patches_of
from volcano_lab.changes.change import Change
from volcano_lab.changes.conf import parted
from volcano_lab.changes.draft import Draft
from volcano_lab.changes.job_fields import IN_GROUP, IN_PODS
from volcano_lab.changes.objects import Setting, apply
from volcano_lab.changes.patches import ROLLED, add_patch, merging
from volcano_lab.manifests.operators import SUSPENDED
from volcano_lab.manifests.operators.model import OperatorObject
from volcano_lab.manifests.schema import at_path
from volcano_lab.trace.names import JOB_SET

MUTABLE = re.compile(r"spec\.(minAvailable|priorityClassName|tasks\.\d+\.(replicas|minAvailable))")
"""Fields that may be changed of a Volcano Job."""

RESUMING = {f"spec.{path}" for path, _ in SUSPENDED} | {
    "spec.strategy", "spec.replicas", "spec.parallelism"}
"""Fields that may be changed of each owner of pods: they suspend and resume it, or are how many
pods it has and how a Deployment replaces them.
"""

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
    deleted += [(True, _delete("v1", "Pod", *names)) for names in patches_of.renewed(
        draft, map(Setting.read, parted(change.settings)[0]))]
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
    of_pods = word == "requests" or (word in IN_PODS and "Gates" not in word)
    kind, names = _word(obj.api_versions[0], obj.kind), [obj.name]
    if isinstance(obj, PodGroup):
        kind, names = _creators(draft, obj)
        of_pods &= kind != "pod" or not setting.adds  # a pod accepts further tolerations
        of_pods = (of_pods or (kind == "vcjob" and word == "queue")) and not setting.of_group
    fixed = {"vcjob": of_pods or not (isinstance(obj, PodGroup) or MUTABLE.fullmatch(path)),
             "job": of_pods or word == "template",
             **dict.fromkeys(ROLLED, False)}.get(kind, of_pods)
    space = f" -n {obj.namespace}" if obj.namespaced else ""
    yield from (f"{kind} {name}{space}" for name in names if fixed and steps[0] == "spec")


def _creators(draft: Draft, group: PodGroup) -> tuple[str, list[str]]:
    """Return the kind and the names of what has created a PodGroup, and would create it again as it
    was; else its pods that have no owner.
    """
    owner = next(iter(group.metadata.owner_references), None)
    pods = [draft[place] for place in draft.pods_of(group)]
    if owner is None:
        return "pod", [pod.name for pod in pods if not pod.metadata.owner_references]
    kind = _word(owner.api_version, owner.kind)
    above = pods[0].metadata.labels.get(JOB_SET) if pods and kind == "job" else None
    return ("jobset", [above]) if above else (kind, [owner.name])


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
        return patches_of.of_template(draft, obj, setting, steps[1:], patches)
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
        return patches_of.of_group(draft, place, patches)
    whole = steps[1] == "tasks" or isinstance(obj, OperatorObject)
    steps = steps if whole else steps[:2]
    was, now = (at_path(each, steps) for each in (draft.source[place], draft[place]))
    add_patch(patches, _word(obj.api_versions[0], obj.kind), obj.name, obj,
           "spec" if hard else steps[0])["/".join(steps[1:])] = merging(was, now)
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
    labels = merging(before.metadata.labels, after.metadata.labels)
    return shlex.join(["kubectl", "label", "node", before.name, *(
        f"{key}-" if value is None else f"{key}={value}" for key, value in labels.items()),
        "--overwrite"])
