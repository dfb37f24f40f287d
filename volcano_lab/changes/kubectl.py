"""A change as commands of kubectl.

Volcano: none
"""

import json
import shlex
from collections.abc import Sequence
from typing import Any

from volcano_lab.api.objects import KubernetesObject, Node, Pod, PodGroup, VolcanoJob
from volcano_lab.changes.change import Change
from volcano_lab.changes.draft import Draft
from volcano_lab.changes.objects import Setting, full_path

MUTABLE = {"Job": ("minAvailable", "priorityClassName"), "PodGroup": ("minMember",)}
"""Fields that may be changed of a Volcano Job, and of a PodGroup that no controller keeps."""


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
    draft = Draft(world)
    patches: dict[str, dict[str, Any]] = {}
    commands = [line for name in change.removals for line in _deletions(
        draft, draft[draft.find(name, name)])]
    commands += ["" if text.startswith(("conf/", "plugin/")) else _command(
        draft, Setting.read(text), patches) for text in change.settings]
    commands += [shlex.join(["kubectl", "patch", *key.split(), "--type", "merge", "-p",
                             json.dumps(patch)]) for key, patch in patches.items()]
    return [each for each in commands if each != "patched"] if all(commands) else []


def _deletions(draft: Draft, obj: KubernetesObject) -> list[str]:
    """Return the commands that delete an object, or the owner that would create it again; a
    PodGroup without an owner does not own its pods.
    """
    owner = next(iter(obj.metadata.owner_references), None) if isinstance(
        obj, PodGroup | Pod) else None
    space = ["-n", obj.namespace] if obj.namespaced else []
    if owner and owner.kind != "ReplicaSet":
        return [_delete(owner.api_version, owner.kind, owner.name, *space)]
    pods = [draft[place].name for place in draft.pods_of(obj)] if isinstance(obj, PodGroup) else []
    return [_delete(obj.api_versions[0], obj.kind, obj.name, *space),
            *[_delete("v1", "Pod", *pods, *space)] * bool(pods)]


def _delete(version: str, kind: str, *words: str) -> str:
    return shlex.join(["kubectl", "delete", _word(version, kind), *words])


def _word(version: str, kind: str) -> str:
    return "vcjob" if kind == "Job" and version in VolcanoJob.api_versions else kind.lower()


def _command(draft: Draft, setting: Setting, patches: dict[str, dict[str, Any]]) -> str:
    """Return one setting's command; "patched" if it was added to a patch, "" without one."""
    if not setting.exists_in(draft):
        return ""
    place, steps = setting.split(draft)
    obj = draft[place]
    if isinstance(obj, Node):
        if steps == ["spec", "unschedulable"]:
            return shlex.join(["kubectl", "cordon" if setting.value else "uncordon", obj.name])
        if steps == ["spec", "taints"] and not (setting.value or setting.adds):
            return shlex.join(["kubectl", "taint", "node", obj.name, *(
                f"{taint.key}:{taint.effect}-" for taint in obj.spec.taints)])
        return shlex.join(["kubectl", "label", "node", obj.name, f"{steps[2]}={setting.value}",
                            "--overwrite"]) if steps[:2] == ["metadata", "labels"] else ""
    if steps[:2] == ["status", "state"] or (obj.kind not in ("Queue", "ResourceQuota") and (
            steps[1] not in MUTABLE.get(obj.kind, ()) or obj.metadata.owner_references)):
        return ""  # others are immutable, or not changed this way
    space = f" -n {obj.namespace}" if obj.namespaced else ""
    patch = patches.setdefault(f"{_word(obj.api_versions[0], obj.kind)} {obj.name}{space}", {})
    for step in (way := ["spec", *full_path(obj, steps)[1:]])[:-1]:
        patch = patch.setdefault(step, {})
    amount = isinstance(setting.value, int) and len(way) > 2
    patch[way[-1]] = str(setting.value) if amount else setting.value
    return "patched"
