"""Settings that nothing reads, and those that are meant: keys of the configuration, and what is
written on a job for a plugin, or an action, that is configured; until when sla lets a job wait.

Volcano: none
"""

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from volcano_lab.api import JobInfo, parse_duration
from volcano_lab.api.durations import parse_bool
from volcano_lab.api.objects import Pod, PodGroup
from volcano_lab.changes import Change, value_text
from volcano_lab.explain import evidence, outcome, owners
from volcano_lab.explain.evidence import Evidence, counts, was_admitted
from volcano_lab.explain.explanation import TABLES, Cause, deciding, moment_text
from volcano_lab.explain.options import World
from volcano_lab.framework import Session
from volcano_lab.framework.config.conf import ALL_SWITCHES
from volcano_lab.messages import Message, meant
from volcano_lab.plugins.sla import WAITING_TIME

OF_PLUGIN = re.compile(r"tiers\[(\d+)\]\.plugins\[(\d+)\]\.(.+)")
"""Where a key of a plugin is that is neither a switch nor below its arguments."""
FORMS: dict[str, Callable[[str], bool]] = {
    "duration": lambda text: (parse_duration(text) or 0) > 0,
    "bool": lambda text: parse_bool(text) is not None, "any": bool,
    "budget": lambda text: re.fullmatch(r"\+?[0-9]+%?", text) is not None}
"""Whether a value counts, by its form."""
ALIKE = 0.9
"""How much a key is like the one that it is meant to be."""


def slips(ssn: Session) -> Iterator[tuple[str, str, str, str]]:
    """Yield (a key that nothing reads, the plugin and the key that are meant, the setting of this),
    by its name or at the plugin that reads it.

    >>> from volcano_lab.cluster import Cluster
    >>> conf = "{actions: allocate, tiers: [{plugins: [{name: overcommit, arguments: {"
    >>> cycle = Cluster().run(conf=conf + "overcommitFactor: 2}}]}]}")
    >>> print(*next(slips(cycle.session)))
    overcommitFactor overcommit overcommit-factor plugin/overcommit.overcommit-factor=2
    """
    for own, key, value in _unread(ssn):
        for name in sorted(ssn.plugins, key=lambda name: name != own):
            known = {*ssn.plugins[name].arguments.asked, *(ALL_SWITCHES if name == own else ())}
            if right := key if key in known else meant(key, sorted(known), ALIKE):
                yield key, name, right, f"plugin/{name}.{right}={value_text(value)}"
                break


def _unread(ssn: Session) -> Iterator[tuple[str, str, Any]]:
    """Yield (the plugin or action, a key of it that nothing reads, its value)."""
    tiers, actions = ssn.conf.tiers, ssn.conf.configurations.items()
    for name, given in chain(actions, ((each.name, each.arguments)
                                       for tier in tiers for each in tier.plugins)):
        yield from ((name, key, value) for said in given.unknown() for key, value in given.items()
                    if key == said.facts["key"])
    for said in ssn.conf.warnings:
        if found := OF_PLUGIN.fullmatch(str(said.facts.get("where"))):
            tier, place = map(int, found.groups()[:2])
            yield tiers[tier].plugins[place].name, found[3], said.facts["value"]


def unread(ssn: Session, causes: Iterable[Cause]) -> Iterator[Cause]:
    """Yield the keys that nothing reads and are meant for a plugin that decides in some causes."""
    named = deciding(causes)
    if parts := [Message("argument_slip.switch" if right in ALL_SWITCHES else "argument_slip.part",
                         key=key, plugin=name, right=right)
                 for key, name, right, _ in slips(ssn) if name in named]:
        yield Cause.of("argument_slip", context=True, parts=parts)


def ineffective(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield the settings of a job that what is configured for them does not read, each with the
    object and the key that it does; that sla has none for a job that one would admit and place.
    """
    there = seen.ssn.plugins.keys() | seen.ssn.enabled_actions
    for row in TABLES["settings"]:
        if not (by := sorted(there & {*row["by"]})):
            continue
        found = [*_written(seen, job, row["keys"])]
        read = [each for each in found if each[0] in row["on"] and each[1] in row["fields"]
                and each[2] in row["keys"]]
        if any(FORMS[row["form"]](each[3]) for each in read):
            continue
        if any(_holds(seen, job, row, each[3]) for each in found):
            continue
        if found:
            cause = _said(job, row, by, *(read or found)[0], bool(read))
            admits = "none" in row and not was_admitted(seen, job) and not _places(seen, job, cause)
            cause.said = [cause.sentences[0], *[Message("ineffective.admits")] * admits,
                          *cause.sentences[1:]]
            yield cause
        elif "none" in row and not was_admitted(seen, job) and (
                {*row["keys"]}.isdisjoint(seen.ssn.plugins[by[0]].arguments)):
            cause = _said(job, row, by, "", "", row["keys"][-1], "", False)
            yield from [cause] * _places(seen, job, cause)


def _holds(seen: Evidence, job: JobInfo, row: dict[str, Any], text: str) -> bool:
    """Whether a value that is not read holds nevertheless: the default of all pods, or jobs."""
    if row["form"] == "bool":
        value = parse_bool(text)
        return value is not None and all(task.preemptable == value for task in job.tasks.values())
    sla: Any = seen.ssn.plugins.get("sla") if "sla" in row["by"] else None
    return sla is not None and None is not sla.waiting_time == parse_duration(text)


def _places(seen: Evidence, job: JobInfo, cause: Cause) -> bool:
    """Whether a cycle with the setting that counts places the job."""
    if seen.brief or not seen.objects:
        return False
    world = World(seen.objects, seen.ssn.conf, seen.called)
    change = Change(("{}.annotations[{right}]={value}".format(
        world.job(job.uid), **cause.numbers),))
    then = outcome.run(*world.applied(change), seen.ssn.now).jobs[job.uid]
    return then.is_ready() and counts(then)[0] > 0


def _said(job: JobInfo, row: dict[str, Any], by: list[str], kind: str, field: str, key: str,
          text: str, read: bool) -> Cause:
    """That a setting has no effect, and where which one has."""
    form, group = row["form"], job.pod_group
    ends = {each.rpartition("/")[2]: each for each in row["keys"]}
    right = ends[_meant(key, [*ends])]
    value, shown = [text] * 2 if FORMS[form](text) else (row.get("none", "VALUE"), form.upper())
    code = f"ineffective{'.form' * read}{'.none' * (not kind)}"
    moment = group.metadata.creation_timestamp
    return Cause("ineffective", [
        Message(code, kind=kind, field=field[:-1], key=key, text=text, by=by,
                form=Message(f"ineffective.{form}")),
        Message("ineffective.then", moment=moment_text(moment)) if (
            moment and "none" in row) else None,
        Message(f"ineffective.{row['on'][0].lower()}", right=right, value=shown,
                command=shlex.join(["kubectl", "annotate", "podgroup", group.name, "-n",
                                    job.namespace, f"{right}={shown}", "--overwrite"]))],
        {"right": right, "value": value}, [], True)


def _written(seen: Evidence, job: JobInfo, keys: list[str]) -> Iterator[tuple[str, str, str, str]]:
    """Yield where a job's objects have one of some keys, or one that may be meant to be: the kind
    of the object, annotations or labels, the key and its value.
    """
    ends = [key.rpartition("/")[2] for key in keys]
    above = [seen.called(job.uid), *seen.names.above[job.uid]]
    for obj in [job.pod_group, *(task.pod for task in job.tasks.values()), *(
            obj for name in above for obj in seen.named.get(name, ())
            if not isinstance(obj, Pod | PodGroup))]:
        for field in ("annotations", "labels"):
            yield from ((obj.kind, field, key, text)
                        for key, text in getattr(obj.metadata, field).items()
                        if _meant(key, ends))


def _meant(key: str, ends: Sequence[str]) -> str:
    """Return the end of a key that one is meant to be: one like its own, or, of a key of Volcano,
    one that has its words and more; "" without one.

    >>> _meant("volcano.sh/max-unavailable", ["jdb-min-available", "jdb-max-unavailable"])
    'jdb-max-unavailable'
    """
    domain, _, end = key.rpartition("/")
    words = {*end.split("-")} if "volcano.sh" in domain else set()
    longer = (each for each in ends if len(words) > 1 and words < {*each.split("-")})
    return meant(end, ends, ALIKE) or next(longer, "")


def deadlines(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield the time at which sla admits the job, and what its policies do before."""
    if evidence.unplaced(job) and (policy := owners.on_event(seen, job, "PodPending")):
        yield Cause("pending_policy", policy, context=True)
    sla: Any = seen.ssn.plugins.get("sla")
    deadline = sla.deadline(job) if sla is not None else None
    if deadline is not None:
        refused = any(each["answer"] < 0 for each in seen.of("job_enqueueable", job=job.uid))
        past = "deadline.refused" if refused else "deadline.past"
        code = past if deadline <= seen.ssn.now else "deadline"
        late = [each for each in seen.ssn.jobs.values() if each is not job and counts(each)[2]
                and was_admitted(seen, each)
                and max(deadline, sla.job_order_key(each)) <= seen.ssn.now]
        reserves = late and sla.waiting_time and "overcommit" in seen.ssn.plugins
        yield Cause("deadline", [
            Message(code, moment=moment_text(deadline)),
            Message("deadline.others", n=len(late)) if late else None,
            Message("deadline.all", name=WAITING_TIME) if reserves else None,
            Message("deadline.gang") if code == "deadline.past" and len(job.tasks) > 1 and (
                "gang" in next(filter({"gang", "sla"}.intersection, seen.tiers(
                    "job_pipelined")))) else None],
            {"deadline": deadline}, [], True)
