"""A change as `what-if` takes it: the arguments that turn one cluster and configuration into
another, and what comes of them.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from volcano_lab.api import objects as api
from volcano_lab.api.task import GROUP_NAME
from volcano_lab.changes import change, change_conf, parted
from volcano_lab.changes.objects import apply, key_of, steps_of
from volcano_lab.framework import SchedulerConfiguration
from volcano_lab.manifests.loader import Loaded, ManifestError, place_key, to_dict
from volcano_lab.manifests.schema import json_name, unstructure
from volcano_lab.scheduler import at_rest
from volcano_lab.trace.names import Names

MORE = re.compile(r"(.+)-more-\d+")
PLAIN = re.compile(r"(?!(?:true|false|null|yes|no|on|off|y|n)$)[A-Za-z][\w./-]*"
                   r"|-?\d+(?:m|[KMGTPE]i?)?")
MOST = 12
"""Settings in one change; a longer one is for a file."""


def arguments(before: Sequence[Any], after: Sequence[Any], old: SchedulerConfiguration,
              new: SchedulerConfiguration) -> list[str]:
    """Return the arguments of `what-if` that turn the first cluster into the second; none where
    words for it are missing.
    """
    settings, removals = list(_settings_of_conf(old, new)), list(_removed(before, after))
    world = Loaded(obj for obj in before)
    for find in (_created, _of_jobs, _of_pods, _of_objects):
        try:
            for setting in find(world, after):
                settings.append(setting)
                apply(world, setting)
        except ManifestError:
            return []
    if len(settings) + len(removals) > MOST:
        return []
    return [word for each in settings for word in ("--set", each)] + [
        word for each in removals for word in ("--remove", each)]


def outcome(given: Sequence[Any], args: Sequence[str], conf: SchedulerConfiguration, uid: str,
            now: float) -> tuple[str, int]:
    """Return what a job is called and how many of its pods have a place after a change, once the
    cluster is at rest. Raises `ManifestError`, and `LookupError` where the job has no part in it.
    """
    pairs = list(zip(args[::2], args[1::2], strict=True))
    of_objects, of_conf = parted(text for word, text in pairs if word == "--set")
    removals = [text for word, text in pairs if word == "--remove"]
    cycle = at_rest(change(given, of_objects, removals), change_conf(conf, of_conf), now)
    row = next((row for row in cycle.jobs() if row["job"] == uid), None)
    if row is None:
        raise LookupError(uid)
    return Names(cycle.session).called(uid), row["placed"]


def kubectl(args: Sequence[str]) -> list[str]:
    """Return the commands of kubectl for a change; none where it is more than these can do.

    >>> kubectl(["--set", "node/n1.unschedulable=false"])
    ['kubectl uncordon n1']
    >>> print(*kubectl(["--set", "queue/a.capability[nvidia.com/gpu]=8"]))
    kubectl patch queue a --type merge -p '{"spec": {"capability": {"nvidia.com/gpu": "8"}}}'
    """
    commands = [_command(text) if word == "--set" else ""
                for word, text in zip(args[::2], args[1::2], strict=True)]
    return commands if all(commands) else []


def _command(setting: str) -> str:
    target, _, text = setting.partition("=")
    if target.startswith("node/") and setting.endswith(".unschedulable=false"):
        return f"kubectl uncordon {target.removeprefix('node/').removesuffix('.unschedulable')}"
    queue = re.fullmatch(r"queue/([^.[]+)\.([^+]+)", target)
    if queue is None or queue[2].startswith("status"):
        return ""  # a status is not patched this way
    steps = steps_of(queue[2])
    value = text if PLAIN.fullmatch(text) else json.loads(text)
    if steps[0] in ("weight", "priority"):
        value = int(text)
    for step in reversed(["spec", *steps]):
        value = {step: value}
    return shlex.join(["kubectl", "patch", "queue", queue[1], "--type", "merge", "-p",
                       json.dumps(value)])


def _settings_of_conf(old: SchedulerConfiguration, new: SchedulerConfiguration) -> Iterator[str]:
    if old.actions != new.actions:
        yield f"conf/actions={', '.join(new.actions)}"
    there = {option.name: (number, option) for number, tier in enumerate(old.tiers)
             for option in tier.plugins}
    for number, tier in enumerate(new.tiers):
        for option in tier.plugins:
            place, known = there.get(option.name, (None, None))
            if place != number:
                yield f"plugin/{option.name}.tier={number + 1}"
            if known is not None:
                for kind in ("switches", "arguments"):
                    values, before = getattr(option, kind), getattr(known, kind)
                    yield from (f"plugin/{option.name}.{name}={_text(value)}"
                                for name, value in values.items() if before.get(name) != value)


def _removed(before: Sequence[Any], after: Sequence[Any]) -> Iterator[str]:
    """What is gone; pods go with their PodGroup."""
    kept = {place_key(obj) for obj in after}
    gone = [obj for obj in before if place_key(obj) not in kept]
    groups = {(obj.namespace, obj.name) for obj in gone if isinstance(obj, api.PodGroup)}
    for obj in gone:
        group = obj.metadata.annotations.get(GROUP_NAME) if isinstance(obj, api.Pod) else None
        if (obj.namespace, group) not in groups:
            yield key_of(obj)


def _created(world: Loaded, after: Sequence[Any]) -> Iterator[str]:
    """New nodes by the one that they are like, other objects by what they are."""
    there = {place_key(obj): obj for obj in world}
    more: dict[str, list[api.Node]] = {}
    for obj in after:
        if place_key(obj) in there or isinstance(obj, api.PriorityClass):
            continue
        like = MORE.fullmatch(obj.name) if isinstance(obj, api.Node) else None
        if like:
            more.setdefault(like[1], []).append(obj)
        else:
            parts = {name: part for name, part in to_dict(obj).items()
                     if name in ("spec", "status")}
            yield f"{key_of(obj)}={_text(parts)}"
    for name, nodes in more.items():
        known = there["Node", "", name].status.allocatable
        devices = {key: text for key, text in nodes[0].status.allocatable.items()
                   if known.get(key) != text}
        yield f"node/{name}.more=" + (_text({"count": len(nodes), **devices}) if devices
                                      else str(len(nodes)))


def _pairs(world: Loaded, after: Sequence[Any], kind: type) -> list[tuple[Any, Any]]:
    """Objects of a kind that are others after, each with what it is then."""
    there = {place_key(obj): obj for obj in world if isinstance(obj, kind)}
    same = {id(obj) for obj in there.values()}
    return [(there[place_key(obj)], obj) for obj in after if isinstance(obj, kind)
            and id(obj) not in same and place_key(obj) in there and there[place_key(obj)] != obj]


def _by_group(world: Loaded, after: Sequence[Any]) -> dict[str, list[tuple[Any, Any]]]:
    """The changed pods of each PodGroup, by how a setting calls it."""
    names = {(obj.namespace, obj.name): key_of(obj) for obj in world
             if isinstance(obj, api.PodGroup)}
    found: dict[str, list[tuple[Any, Any]]] = {}
    for was, now in _pairs(world, after, api.Pod):
        group = names.get((was.namespace, was.metadata.annotations.get(GROUP_NAME)))
        if group:
            found.setdefault(group, []).append((was, now))
    return found


def _of_jobs(world: Loaded, after: Sequence[Any]) -> Iterator[str]:
    """What reaches both a PodGroup and its pods: its minimum, their requests, their priority."""
    for group, pods in _by_group(world, after).items():
        for name, text in _requests(pods).items():
            yield f"{group}.{_path('requests', name)}={text}"
        priorities = {now.spec.priority for was, now in pods if was.spec.priority
                      != now.spec.priority}
        if len(priorities) == 1 and len(pods) == _waiting(world, pods[0][0]):
            yield f"{group}.priority={priorities.pop()}"
    for was, now in _pairs(world, after, api.PodGroup):
        if was.spec.min_member != now.spec.min_member:
            yield f"{key_of(was)}.minAvailable={now.spec.min_member}"


def _requests(pods: list[tuple[Any, Any]]) -> dict[str, str]:
    """The resources of which containers of these pods ask for another amount, and this."""
    found = {}
    for was, now in pods:
        for field in ("containers", "init_containers"):
            for old, new in zip(getattr(was.spec, field), getattr(now.spec, field), strict=False):
                wants = new.resources.requests
                found |= {name: wants[name] for name, text in old.resources.requests.items()
                          if wants.get(name, text) != text}
    return found


def _of_pods(world: Loaded, after: Sequence[Any]) -> Iterator[str]:
    """Fields of a job's pods, one setting for all of them where it is the same."""
    for group, pods in _by_group(world, after).items():
        for name in attrs.fields_dict(api.PodSpec):
            changed = [(was, getattr(was.spec, name), getattr(now.spec, name)) for was, now in pods
                       if getattr(was.spec, name) != getattr(now.spec, name)]
            yield from _of_field(group, name, changed,
                                 len(changed) == _waiting(world, pods[0][0]))
        notes = {(key, text) for was, now in pods for key, text in (
            now.metadata.annotations.items() - was.metadata.annotations.items())}
        yield from (f"{group}.{_path('annotations', key)}={_text(text)}" for key, text in notes)


def _waiting(world: Loaded, pod: api.Pod) -> int:
    """How many pods of the PodGroup of one have no node."""
    group = pod.namespace, pod.metadata.annotations.get(GROUP_NAME)
    return sum(isinstance(obj, api.Pod) and not obj.spec.node_name
               and (obj.namespace, obj.metadata.annotations.get(GROUP_NAME)) == group
               for obj in world)


def _of_field(group: str, name: str, changed: list[tuple[Any, Any, Any]],
              whole: bool) -> Iterator[str]:
    """One field of some pods (each with its value before and after), or of the whole job's."""
    word = json_name(attrs.fields_dict(api.PodSpec)[name])
    values = {_text(unstructure(now)) for _, _, now in changed}
    longer = all(isinstance(was, list) and now[:len(was)] == was for _, was, now in changed)
    added = {_text(unstructure(now[len(was):])) for _, was, now in changed} if longer else ()
    if len(added) == 1 and whole:
        yield f"{group}.{word}+={added.pop()}"
    elif len(values) == 1 and whole:
        yield f"{group}.{word}={values.pop()}"
    else:
        yield from (f"{key_of(pod)}.{word}={_text(unstructure(now))}" for pod, _, now in changed)


def _of_objects(world: Loaded, after: Sequence[Any]) -> Iterator[str]:
    """What is left: fields of queues, PodGroups, nodes and other objects."""
    for was, now in _pairs(world, after, api.KubernetesObject):
        if isinstance(was, api.HyperNode | api.Pod):
            continue  # follow from others
        old, new = unstructure(was), unstructure(now)
        paths = list(_differing(old, new))
        if isinstance(was, api.Node) and ["spec", "unschedulable"] in [path for path, _ in paths]:
            paths = [([*path], value) for path, value in paths if path != ["spec", "taints"]]
        known = {obj.name for obj in world if isinstance(obj, api.PriorityClass)}
        for path, value in paths:
            if path[-1] == "priorityClassName" and value not in known:
                continue  # one of that priority is there by another name
            if path[0] == "spec":
                path = path[1:]
            yield f"{key_of(was)}.{_path(*path)}={_text(value)}"


def _differing(old: Any, new: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[list[str], Any]]:
    for name in old | new:
        was, now = old.get(name), new.get(name)
        if not path or (now and isinstance(now, dict) and isinstance(was or {}, dict)):
            yield from _differing(was or {}, now or {}, (*path, name))
        elif was != now:
            yield [*path, name], (False if now is None and was is True else now)


def _path(*steps: str) -> str:
    text = "".join(f"[{step}]" if "." in step else f".{step}" for step in steps)
    return text.removeprefix(".")


def _text(value: Any) -> str:
    if isinstance(value, str) and PLAIN.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=False)
