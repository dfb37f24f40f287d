"""A change in words, and as commands of kubectl.

Volcano: none
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any

from volcano_lab.api.objects import KubernetesObject, Node, Pod, PodGroup
from volcano_lab.api.task import GROUP_NAME, TASK_SPEC
from volcano_lab.changes.change import Change, value_before
from volcano_lab.changes.draft import Draft, Index
from volcano_lab.changes.objects import Setting, full_path, key_of
from volcano_lab.framework import SchedulerConfiguration
from volcano_lab.messages import listed

AMOUNTS = re.compile(r"(.+?)\.(capability|deserved|guarantee\.resource|minResources|status\.hard"
                     r"|requests)\.([^=]+)=")
"""Settings of amounts: those of one field of one object are one change in words."""

SAID = tuple((re.compile(pattern), text) for pattern, text in (
    (r"node\.unschedulable=false", "uncordon {name}"),
    (r"node\.taints=", "repair node {name}, so that its taint {gone} goes"),
    (r"node\.metadata\.labels\.(?P<key>.+)=", "label {name} {key}={after}"),
    (r"node\.more=1$", "1 more node like {name}"),
    (r"node\.more=\d", "{after} more nodes like {name}"),
    (r'node\.more=\{"count": 1,', "1 more node like {name} with {devices}"),
    (r"node\.more=\{", "{count} more nodes like {name} with {devices}"),
    (r"queue=\{", "create queue {name}"),
    (r"queue\.affinity\.nodeGroupAffinity\.", "queue {name}: nodeGroupAffinity {after}, required"),
    (r"queue\.status\.state=", "queue {name}: state {before} -> {after}"),
    (r"queue\.reclaimable=true", "queue {name}: reclaimable false -> true"),
    (r"queue\.reclaimable=false", "queue {name}: reclaimable true -> false"),
    (r"persistentvolume=\{", "a volume of {size} for PersistentVolumeClaim {claim}"),
    (r"persistentvolumeclaim=\{", "create PersistentVolumeClaim {name}"),
    (r"persistentvolumeclaim\.", ""),
    (r"pod\.priority=", "job {owner}: a higher priorityClassName for the pods of {role}"),
    (r"job\.requests\.(?P<key>.+)=", "job {name}: request of {key} a pod {before} -> {after}"),
    (r"job\.annotations\.(?P<key>.+)=true", "job {name}: {key} false -> true"),
    (r"job\.minTaskMember\.(?P<key>.+)=0", "job {name}: minimum of role {key} {before} -> none"),
    (r"job\.minTaskMember\.(?P<key>.+)=", "job {name}: minimum of role {key} {before} -> {after}"),
    (r"job\.minAvailable=", "job {name}: {minimum} {before} -> {after}{where}"),
    (r"job\.queue=", "job {name}: in queue {after}"),
    (r"job\.priority=", "job {name}: a PriorityClass above {below}"),
    (r"job\.tolerations\+=", "job {name}: with a toleration of {tolerated}"),
    (r"job\.nodeSelector=\{\}", "job {name}: without its node selector {labels}"),
    (r"job\.nodeSelector=", "job {name}: node selector {more} instead of {less}"),
    (r"job\.affinity\.nodeAffinity=null", "job {name}: without its node affinity"),
    (r"job\.affinity\.podAntiAffinity=null", "job {name}: without its pod anti-affinity"),
    (r"job\.affinity\.podAffinity=null", "job {name}: without its pod affinity"),
    (r"job\.schedulingGates=", "job {name}: without its scheduling gates"),
    (r"job\.schedulerName=", "job {name}: schedulerName {after} for its pods"),
    (r"job\.topologySpreadConstraints=", "job {name}: whenUnsatisfiable ScheduleAnyway in its "
                                         "topology spread"),
    (r"job\.networkTopology=\{", "job {name}: networkTopology hard, highestTierAllowed {tier}"),
    (r"conf\.ignored-provisioners=", "the scheduler's flag --ignored-provisioners={after}"),
    (r"plugin\.tier=1", "plugin {name} in the first tier"),
    (r"plugin\.(?P<key>enable\w+)=", "{key}: {after} for {name}"),
    (r"plugin\.(?P<key>.+)=", "configuration: {key} {before} -> {after}"),
    (r"(?P<word>\w+)\.(?P<key>[^=]+)=", "{word} {name}: {key} {before} -> {after}")))
"""`kind.path=value` -> how that is said; the first one that fits."""


def described(change: Change, world: Sequence[KubernetesObject], conf: SchedulerConfiguration,
              called: Callable[[str], str] = str, index: Index | None = None,
              ends: bool = False) -> str:
    """Return a change of a world (and its `index`) and a configuration in words; `called` is how
    the job of a PodGroup (by its key) is called; `ends`: what is removed ends by itself.

    Raises `ManifestError`.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.framework.config.conf import load_conf
    >>> objects = Cluster().node("n1", cpu=4).queue("a").objects()
    >>> described(Change(("queue/a.weight=5", "node/n1.more=2")), objects, load_conf())
    'both: queue a: weight 1 -> 5; 2 more nodes like n1'
    """
    draft = Draft(world, index)
    parts: list[str] = []
    texts = [(_amounts_of(draft, text), text) for text in change.settings]
    for group, some in groupby(texts, lambda pair: pair[0] or pair[1]):
        settings = [text for _, text in some]
        parts.append(_together(draft, conf, settings, called) if isinstance(group, tuple)
                     else _said(draft, conf, settings[0], called))
    parts += _removals(draft, change.removals, called, ends)
    parts = list(dict.fromkeys(filter(None, parts)))
    heads = {1: "", 2: "both: "}
    return heads.get(len(parts), "all: ") + "; ".join(parts)


def _form(draft: Draft, text: str) -> str:
    """`kind.path=value`, the path without `spec.`."""
    target, _, value = text.partition("=")
    word, _, rest = target.partition("/")
    if word in ("conf", "plugin"):
        name, _, field = (f"{word}.{rest}" if word == "conf" else rest).partition(".")
        return f"{word}.{field}={value}"
    setting = Setting.read(text)
    name = draft.named_in(setting.target)
    if not name:
        return f"{word}={value}"
    steps = setting.split(draft)[1]
    sign = "+=" if setting.adds else "="
    return ".".join([word, *steps]).replace(".spec.", ".", 1) + sign + value


def _amounts_of(draft: Draft, text: str) -> tuple[str, str] | None:
    """(object, field) of which a setting is one amount; None for others."""
    if text.startswith(("conf/", "plugin/")):
        return None
    found = AMOUNTS.match(_form(draft, text))
    return found and (text.partition(".")[0], found[2])


def _together(draft: Draft, conf: SchedulerConfiguration, settings: list[str],
              called: Callable[[str], str]) -> str:
    """Settings of one field of one object; a request that goes where another comes is renamed."""
    forms = [AMOUNTS.match(_form(draft, text)) for text in settings]
    if not forms[0] or forms[0][2] != "requests":
        return _amounts(draft, conf, settings, called)
    names = {text.endswith("=null"): form[3] for form, text in zip(forms, settings, strict=True)
             if form}
    if {*names} == {True, False}:
        name = _places(draft, conf, settings[0], called)["name"]
        return f"job {name}: {names[False]} instead of {names[True]}"
    return "; ".join(_said(draft, conf, text, called) for text in settings)


def _amounts(draft: Draft, conf: SchedulerConfiguration, settings: list[str],
             called: Callable[[str], str]) -> str:
    """Several amounts of one field of one object."""
    found = [AMOUNTS.match(_form(draft, text)) for text in settings]
    names = [each[3] for each in found if each]
    before = [value_before(draft, conf, text) or "0" for text in settings]
    after = [_plain(text.partition("=")[2]) for text in settings]
    pairs = [", ".join(f"{name} {text}" for name, text in zip(names, each, strict=True))
             for each in (before, after)]
    places = _places(draft, conf, settings[0], called)
    field = found[0][2].removeprefix("status.") if found[0] else ""
    return f"{places['word']} {places['name']}: {field} {pairs[0]} -> {pairs[1]}"


def _said(draft: Draft, conf: SchedulerConfiguration, text: str,
          called: Callable[[str], str]) -> str:
    if text.startswith("conf/actions="):
        return _actions(conf.actions, text.partition("=")[2].split(", "))
    form = _form(draft, text)
    pattern, template = next((pattern, template) for pattern, template in SAID
                             if pattern.match(form))
    found = pattern.match(form)
    return template.format_map(_places(draft, conf, text, called) | (
        found.groupdict() if found else {}))


def _places(draft: Draft, conf: SchedulerConfiguration, text: str,
            called: Callable[[str], str]) -> dict[str, Any]:
    """What is put into a template, by name."""
    target, _, value = text.partition("=")
    word, _, rest = target.partition("/")
    before = value_before(draft, conf, text)
    facts: dict[str, Any] = {"word": word, "name": rest.partition(".")[0],
                             "after": _plain(value) or "none", "before": _shown(before)}
    if word in ("conf", "plugin"):
        return facts | ({"before": before or 1.2} if rest.endswith("overcommit-factor") else {})
    setting = Setting.read(text)
    facts["name"] = draft.named_in(setting.target) or rest.removesuffix("+")
    place = draft.find(f"{word}/{facts['name']}", text) if draft.named_in(setting.target) else None
    obj = None if place is None else draft[place]
    if isinstance(obj, PodGroup):
        facts |= {"word": "job", "name": called(obj.key)} | _of_gang(obj)
    elif obj is not None:
        facts["word"] = obj.kind.lower() if obj.kind in ("Queue", "Node") else obj.kind
    if isinstance(obj, Pod):
        group = obj.metadata.annotations.get(GROUP_NAME, "")
        facts |= {"owner": called(f"{obj.namespace}/{group}"),
                  "role": obj.metadata.annotations.get(TASK_SPEC, "")}
    return facts | _details(setting, obj, before)


def _shown(value: Any) -> str:
    """A value as people write it."""
    if value is None or isinstance(value, bool):
        return {True: "true", False: "false", None: "unset"}[value]
    return f"{value:g}" if isinstance(value, float) else str(value)


def _of_gang(group: PodGroup) -> dict[str, str]:
    """How the field of a gang's minimum is called, by who has created the PodGroup."""
    kinds = {owner.kind for owner in group.metadata.owner_references}
    note = " (annotation scheduling.volcano.sh/group-min-member)"
    return {"minimum": "minAvailable" if "Job" in kinds else "minMember",
            "where": note if kinds - {"Job", "PodGroup"} else ""}


def _details(setting: Setting, obj: KubernetesObject | None, before: Any) -> dict[str, Any]:
    """What some templates have beside names and values."""
    value = setting.value
    found: dict[str, Any] = {}
    if type(value) is int:
        found["below"] = value - 1
    if isinstance(value, dict):
        found |= {"count": value.get("count"), "tier": value.get("highestTierAllowed"),
                  "devices": listed([f"{name} {text}" for name, text in value.items()
                                     if name != "count"], 3)}
    if isinstance(value, list) and isinstance(obj, Node):
        kept = {taint.get("key") for taint in value}
        found["gone"] = listed([t.key for t in obj.spec.taints if t.key not in kept])
    elif isinstance(value, list):
        found["tolerated"] = ", ".join(f"{each.get('key', '')}:{each.get('effect', '')}"
                                       for each in value if isinstance(each, dict))
    if setting.target.startswith("persistentvolume/"):
        claim = value["spec"].get("claimRef", {})
        found |= {"claim": f"{claim.get('namespace')}/{claim.get('name')}",
                  "size": value["spec"].get("capacity", {}).get("storage", "")}
    if isinstance(before, dict):
        found["labels"] = ", ".join(f"{key}={text}" for key, text in before.items())
        after = value if isinstance(value, dict) else {}
        found |= {"more": listed([f"{key}={text}" for key, text in after.items()
                                  if before.get(key) != text]),
                  "less": listed([key for key, text in before.items() if after.get(key) != text])}
    return found


def _plain(text: str) -> str:
    """A value as it is read, without the quotation marks of a string."""
    return json.loads(text) if text.startswith('"') else text


def _actions(before: Sequence[str], after: Sequence[str]) -> str:
    parts = [f"with {name}" for name in after if name not in before]
    parts += [f"without {name}" for name in before if name not in after]
    kept = [name for name in before if name in after]
    parts += [f"with {first} before {then}" for first, then in pairwise(after)
              if first in kept and then in kept and kept.index(first) > kept.index(then)]
    return f"actions {' and '.join(parts)}"


def _removals(draft: Draft, removals: Sequence[str], called: Callable[[str], str], ends: bool
              ) -> Iterator[str]:
    """What is deleted, or ends: PodGroups without pods are said to be such."""
    groups = [draft[draft.find(name, name)] for name in removals]
    ghosts = [obj for obj in groups if isinstance(obj, PodGroup) and not draft.pods_of(obj)]
    others = [called(obj.key) if isinstance(obj, PodGroup) else key_of(obj)
              for obj in groups if not any(obj is ghost for ghost in ghosts)]
    if others and ends:
        yield f"wait for the end of {listed(others, 3)}"
    elif others:
        yield f"delete {listed(others, 3)}"
    every = sum(not draft.pods_of(draft[place]) for place in draft.of_kind("podgroup"))
    if len(ghosts) == every == 1:
        yield f"delete {ghosts[0].key}, a PodGroup without pods"
    elif ghosts:
        yield (f"delete {len(ghosts)} of the {every} PodGroups without pods "
               f"({listed([obj.key for obj in ghosts], 3)})")


# -- kubectl --------------------------------------------------------------------------------------


def kubectl(change: Change, world: Sequence[KubernetesObject]) -> list[str]:
    """Return the commands of kubectl for a change of a world; none where it is more than these can
    do.

    >>> from volcano_lab.cluster import Cluster
    >>> objects = Cluster().node("n1", cpu=4).queue("a").objects()
    >>> kubectl(Change(("node/n1.unschedulable=false",)), objects)
    ['kubectl uncordon n1']
    >>> print(*kubectl(Change(("queue/a.capability[nvidia.com/gpu]=8",)), objects))
    kubectl patch queue a --type merge -p '{"spec": {"capability": {"nvidia.com/gpu": "8"}}}'
    """
    draft = Draft(world)
    patches: dict[str, dict[str, Any]] = {}
    commands = [_delete(draft[draft.find(name, name)]) for name in change.removals]
    for text in change.settings:
        commands.append("" if text.startswith(("conf/", "plugin/")) else _command(
            draft, Setting.read(text), patches))
    commands += [shlex.join(["kubectl", "patch", *key.split(), "--type", "merge", "-p",
                             json.dumps(patch)]) for key, patch in patches.items()]
    return [each for each in commands if each != "patched"] if all(commands) else []


def _delete(obj: KubernetesObject) -> str:
    """The command that deletes an object, or the owner that would create it again."""
    owner = next(iter(obj.metadata.owner_references), None) if isinstance(
        obj, PodGroup | Pod) else None
    kind, name = ("vcjob" if owner and owner.kind == "Job" else owner.kind.lower(), owner.name
                  ) if owner and owner.kind != "ReplicaSet" else (obj.kind.lower(), obj.name)
    return shlex.join(["kubectl", "delete", kind, name, *(
        ["-n", obj.namespace] if obj.namespaced else [])])


def _command(draft: Draft, setting: Setting, patches: dict[str, dict[str, Any]]) -> str:
    """One setting's command; "patched" where it went into a patch, "" where there is none."""
    name = draft.named_in(setting.target)
    if not name or setting.more_nodes:
        return ""
    place, steps = setting.split(draft)
    obj = draft[place]
    if isinstance(obj, Node):
        if steps == ["spec", "unschedulable"]:
            return shlex.join(["kubectl", "cordon" if setting.value else "uncordon", obj.name])
        return shlex.join(["kubectl", "label", "node", obj.name, f"{steps[2]}={setting.value}"]
                          ) if steps[:2] == ["metadata", "labels"] else ""
    if obj.kind not in ("Queue", "ResourceQuota") or steps[:2] == ["status", "state"]:
        return ""  # others do not change once they are there, or not this way
    space = f" -n {obj.namespace}" if obj.namespaced else ""
    patch = patches.setdefault(f"{obj.kind.lower()} {obj.name}{space}", {})
    for step in (way := ["spec", *full_path(obj, steps)[1:]])[:-1]:
        patch = patch.setdefault(step, {})
    amount = isinstance(setting.value, int) and len(way) > 2
    patch[way[-1]] = str(setting.value) if amount else setting.value
    return "patched"
