"""A change as a message: which field of which object, from which value to which.

The template is found by the object's kind and the field's path: `change.node.unschedulable`;
`.none` is added where the field is cleared, `.*` is the key of a map; a field without a template
of its own, or of another value than its template is for, uses `change.field`.

Volcano: none
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise
from typing import Any

from volcano_lab.api.objects import KubernetesObject, Pod, PodGroup
from volcano_lab.changes.change import Change, value_before, value_text
from volcano_lab.changes.conf import IN_CONF
from volcano_lab.changes.details import DETAILS, Facts, of_amount
from volcano_lab.changes.draft import CLASSES, Draft, Index, kind_of
from volcano_lab.changes.objects import Setting, key_of
from volcano_lab.framework import SchedulerConfiguration
from volcano_lab.framework.config.conf import ALL_SWITCHES
from volcano_lab.manifests.owners import job_of
from volcano_lab.manifests.templates import field_text
from volcano_lab.messages import Message, known

AMOUNTS = ("capability", "deserved", "guarantee.resource", "minResources", "hard", "requests")
"""Fields of amounts by resource: settings of one of them are one message."""
DEFAULTS = {"plugin.overcommit-factor": 1.2, "queue.reclaimable": True,
            "deployment.strategy.rollingUpdate.maxSurge": "25%"}
"""Values of fields that are unset."""
OF_NODES = ("change.node.unschedulable", "change.node.taints", "change.node.taints.set",
            "change.node.metadata.labels.*")
"""Settings that are shown together where only the nodes differ."""
Called = Callable[[str], str]


def described(change: Change, world: Sequence[KubernetesObject], conf: SchedulerConfiguration,
              called: Called = str, index: Index | None = None,
              ends: Collection[str] = ()) -> Message:
    """Return a change of a world (and its `index`) and a configuration as a message; `called` names
    the job of a PodGroup (by its key); of removed objects, those `ends` by themselves.

    Raises `ManifestError`.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.framework.config.conf import load_conf
    >>> objects = Cluster().node("n1", cpu=4).queue("a").objects()
    >>> print(described(Change(("queue/a.weight=5", "node/n1.more=2")), objects, load_conf()))
    both: queue a: weight 1 -> 5; 2 more nodes like n1
    """
    draft = Draft(world, index)
    parts: list[Message] = []
    for text in change.settings:
        found = _of_conf(conf, text) if text.startswith(IN_CONF) else _of_object(
            draft, conf, text, called)
        if parts and (both := _together(parts[-1], found)):
            parts[-1] = both
        elif found not in parts:
            parts.append(found)
    parts += _removals(draft, change.removals, called, ends)
    if len(parts) == 1:
        return parts[0]
    return Message("change.both" if len(parts) == 2 else "change.all", parts=parts)


def any_of(messages: Sequence[Message]) -> Message:
    """Return alternatives as one message: the fact that differs lists them all, or, if more facts
    differ, each is said in full.

    >>> print(any_of([Message("change.node.unschedulable", name=name) for name in ("n1", "n2")]))
    uncordon n1 or n2
    """
    first, *others = messages
    alike = all((each.code, each.facts.keys()) == (first.code, first.facts.keys())
                for each in others)
    differing = [name for name, fact in first.facts.items() if alike
                 and any(each.facts[name] != fact for each in others)]
    if len(differing) != 1:
        return first if alike and not differing else _any_fact([*messages])
    facts = [each.facts[differing[0]] for each in messages]
    return Message(first.code, **first.facts | {differing[0]: _any_fact(facts)})


def _any_fact(facts: list[Any]) -> Any:
    """Combine several facts into one; of parts, each a message, the same part of each."""
    parts = [fact for fact in facts if isinstance(fact, list) and all(
        isinstance(part, Message) for part in fact)]
    if len(parts) == len(facts) and len({*map(len, parts)}) == 1:
        return [any_of(each) for each in zip(*parts, strict=True)]
    return Message("any_of" if len(facts) > 2 else "either", n=len(facts), names=facts)


def _together(before: Message, after: Message) -> Message | None:
    """Combine two settings of amounts in one field of one object, or of one state of two nodes."""
    if before.code == after.code and before.code in OF_NODES and all(
            before.facts[name] == fact for name, fact in after.facts.items() if name != "name"):
        names = before.facts["name"]
        return Message(after.code, **after.facts | {"name": [
            *([names] if isinstance(names, str) else names), after.facts["name"]]})
    if "amounts" not in before.facts or "amounts" not in after.facts or any(
            before.facts[name] != after.facts[name] for name in ("name", "field", "where")):
        return None
    amounts = before.facts["amounts"] + after.facts["amounts"]
    old, new = ([each.facts for each in amounts if (each.facts["after"] == "null") is gone]
                for gone in (True, False))
    if old and new:  # one request replaces another
        return _replaced(after.facts["name"], old, new)
    if after.code != "change.amounts":
        return Message(after.code, **after.facts | {"amounts": amounts})
    sides = {side: [f"{each.facts['resource']} {each.facts[side]}" for each in amounts]
             for side in ("before", "after")}
    return Message("change.several", **after.facts | {"amounts": amounts} | sides)


def _replaced(name: str, old: list[Facts], new: list[Facts]) -> Message:
    """Return that requests replace others, with their amounts where these differ."""
    form = "{resource}" if [each["before"] for each in old] == [
        each["after"] for each in new] else "{resource} {after}"
    return Message("change.job.renamed", name=name, old=[each["resource"] for each in old],
                   new=[form.format(**each) for each in new])


# -- one setting ----------------------------------------------------------------------------------


def _of_conf(conf: SchedulerConfiguration, text: str) -> Message:
    target, _, value = text.partition("=")
    word, _, rest = target.partition("/")
    if rest == "actions":
        before = (conf.refused or conf).actions
        return Message("change.actions", parts=_actions(before, value.split(", ")))
    name, _, key = rest.partition(".") if word == "plugin" else ("", "", rest)
    code = "change.plugin.switch" if key in ALL_SWITCHES else _code(
        word, [key], None if value == "null" else value)
    before = value_before(Draft([]), conf, text)
    return Message(code, name=name, key=key, before=_shown(before, f"{word}.{key}"),
                   after=_plain(value))


def _of_object(draft: Draft, conf: SchedulerConfiguration, text: str, called: Called) -> Message:
    """Return the message of a setting."""
    setting = Setting.read(text)
    word, _, rest = setting.target.partition("/")
    name = draft.named_in(setting.target)
    if not name and isinstance(setting.value, dict):
        kind = CLASSES[kind_of(word, text)].kind
        return Message("change.create.queue", name=rest) if kind == "Queue" else Message(
            "change.create", word=kind, name=rest)
    _, steps, obj = setting.split(draft)
    path = steps[steps[0] in ("spec", "status"):]
    before, field = value_before(draft, conf, text), ".".join([word, *path])
    facts = {"name": name, "word": word, "key": field_text(tuple(path)),
             "before": _shown(before, field), "after": _plain(text.partition("=")[2])
             } | _named(obj, called)
    if ".".join(path[:-1]) in AMOUNTS:
        code = f"change.amounts.{path[0]}"
        ends = ".none" * (setting.value is None)
        if path[0] == "requests" and isinstance(obj, PodGroup) and not draft.pods_of(obj):
            ends += ".any"  # no pod is there yet
        absent = Message("unset") if path[0] == "capability" else "0"
        amount = Message(f"change.amount{ends}", resource=path[-1], after=facts["after"],
                         before=before or absent)
        where = of_amount(draft, obj, path, setting.value)
        return Message(code if known(code) else "change.amounts", name=facts["name"], where=where,
                       word=facts["word"], field=".".join(path[:-1]), amounts=[amount])
    pod = path.index("template") + 2 if "template" in path else 0  # the same field of pods
    code = _code("job" if pod else word, path[pod:], setting.value)
    code += ".any" * (before is None and known(f"{code}.any"))  # no pod is there yet
    more = DETAILS[code](setting.value, before, obj) if code in DETAILS else {}
    if more is None:
        code, more = "change.field", {"before": facts["before"] or Message("unset")}
    code += more.pop("form", "")
    key = path[-1] if "*" in code else facts["key"]
    return Message(code, **facts | {"key": key} | more)


def _code(word: str, path: Sequence[str], value: Any = 0) -> str:
    """Return the most specific template of a field; "#" is any place in a list."""
    path = ["#" if step.isdigit() else step for step in path]
    field = ".".join(["change", word, *path])
    of_map = ".".join(["change", word, *path[:-1], "*"])
    emptied = [f"{each}.none" for each in (field, of_map)] if value in (None, [], {}) else []
    return next(filter(known, [*emptied, field, of_map]), "change.field")


def _named(obj: KubernetesObject, called: Called) -> Facts:
    """Return an object's name; for a PodGroup its job's."""
    if isinstance(obj, PodGroup):
        return {"word": Message("about.kind.job"), "name": called(obj.key)}
    kind = f"about.kind.{obj.kind.lower()}"
    return {"word": Message(kind) if obj.kind in ("Queue", "Node") else obj.kind}


def _shown(value: Any, field: str) -> Any:
    """Return a value in display form."""
    value = DEFAULTS.get(field) if value is None else value
    if value in (None, "", []):
        return Message("unset")
    parts = value if isinstance(value, list) else [value]
    return value_text(value) if any(isinstance(each, bool | dict) for each in parts) else value


def _plain(text: str) -> Any:
    """Return a value without the quotation marks of a string, or of several."""
    return json.loads(text) if text.startswith(('"', '["')) else text


def _actions(before: Sequence[str], after: Sequence[str]) -> list[Message]:
    parts = [Message("change.with", action=name) for name in after if name not in before]
    parts += [Message("change.without", action=name) for name in before if name not in after]
    kept = [name for name in before if name in after]
    parts += [Message("change.order", first=first, then=then) for first, then in pairwise(after)
              if first in kept and then in kept and kept.index(first) > kept.index(then)]
    return parts


def _removals(draft: Draft, removals: Sequence[str], called: Called, ends: Collection[str]
              ) -> Iterator[Message]:
    """Yield what is deleted, or `ends`: pods that their owner creates again by their job, PodGroups
    without pods as such.
    """
    again, ghosts = Counter[tuple[str, bool]](), list[str]()
    late, gone = list[str](), list[str]()
    for name in removals:
        obj = draft[draft.find(name, name)]
        if isinstance(obj, Pod) and obj.metadata.owner_references and job_of(obj):
            again[called(job_of(obj)), bool(obj.metadata.deletion_timestamp)] += 1
        elif isinstance(obj, PodGroup) and not draft.pods_of(obj):
            ghosts.append(obj.key)
        else:
            job = called(obj.key) if isinstance(obj, PodGroup) else ""
            if name in ends:
                late.append(job or key_of(obj))
            else:
                gone.append(f"job/{job}" if job else key_of(obj))
    if late:
        yield Message("change.end", names=late)
    for (job, leaves), n in again.items():
        yield Message("change.delete.leaving" if leaves else "change.delete.pods", n=n, name=job)
    if gone:
        yield Message("change.delete", names=gone)
    if ghosts:
        every = sum(not draft.pods_of(draft[place]) for place in draft.of_kind("podgroup"))
        yield Message("change.delete.ghost" if every == 1 else "change.delete.ghosts",
                      n=len(ghosts), every=every, names=ghosts)
