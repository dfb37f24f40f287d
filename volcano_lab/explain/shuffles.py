"""Evictions for no other pod, by shuffle, where a revocable zone closes or a node is used too much:
by which rule, how many at once, when, and which nodes could take the pods again.

Volcano: none
"""

from collections.abc import Iterable, Iterator
from math import ceil
from typing import Any

from volcano_lab.api import RELEASING, RUNNING, JobInfo, TaskInfo
from volcano_lab.explain import nodes, rules
from volcano_lab.explain.evidence import Evidence, counts
from volcano_lab.explain.explanation import Cause, moment_text
from volcano_lab.messages import Message
from volcano_lab.plugins import tdm
from volcano_lab.trace import amounts, grouped

BUDGETS = {"jdb-max-unavailable": "max_unavailable_budget",
           "jdb-min-available": "min_available_budget"}
"""The annotations by which plugin tdm evicts more or fewer pods of a job at once."""


def shuffled(seen: Evidence, job: JobInfo) -> dict[str, list[str]]:
    """Return which of a job's pods this cycle evicts for no other pod, by action."""
    leaving = {task.key for task in job.in_status(RELEASING).values()}
    found = {record["action"]: [pod for pod in record["chosen"] if pod in leaving]
             for record in seen.of("victims") if not record.get("task")}
    return {action: pods for action, pods in found.items() if pods}


def shuffle_causes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield by which rules shuffle evicts pods of a job in this cycle, or will (`then`)."""
    gone = shuffled(seen, job)
    said = [Message("evict.shuffled", action=action, pods=pods, plugins=seen.plugins(
        "victim_tasks")) for action, pods in gone.items()]
    by = [*_by_zone(seen, job), *_by_usage(seen, job)] if (
        "shuffle" in seen.ssn.enabled_actions) else []
    now = {pod for pods in gone.values() for pod in pods}
    for cause in by or [Cause("shuffled", [])] * bool(said):
        least = job.min_available if counts(job)[0] < job.min_available and said else 0
        cause.said = [*said, *cause.sentences, *[Message(
            "shuffled.below", n=counts(job)[0], least=least)] * bool(least)]
        cause.numbers |= {"gone": sorted(now)}
        yield cause
        said = []


def who_shuffles(name: str, pods: list[TaskInfo], causes: list[Cause]) -> Iterator[Message]:
    """Yield how many running pods shuffle evicts for no other pod in this cycle, or else when, and
    by which rule.
    """
    gone = {pod for cause in causes for pod in cause.numbers.get("gone", ())}
    if gone:
        yield Message("evict.now.shuffled", job=name, pods=len(pods), n=len(gone), why=rule(causes))
    elif then := next((cause.numbers["then"] for cause in causes if cause.numbers["then"]), ""):
        yield Message("evict.later", job=name, moment=then, why=rule(causes))


def rule(causes: Iterable[Cause]) -> Message | None:
    """Return by which rule shuffle evicts pods: outside the hours of a zone, or from a node that is
    used too much.
    """
    rules = [cause.numbers["rule"] for cause in causes if "rule" in cause.numbers]
    return Message("shuffled.rule.zone" if "zone" in rules[0] else "shuffled.rule.usage",
                   **rules[0]) if rules else None


def _zones(seen: Evidence, job: JobInfo) -> dict[str, list[TaskInfo]]:
    """The preemptable pods of a job by the zones of their nodes."""
    tasks = [task for task in (*job.in_status(RUNNING).values(), *job.in_status(RELEASING).values())
             if task.preemptable and task.node_name in seen.ssn.nodes]
    return grouped((seen.ssn.nodes[task.node_name].revocable_zone, task) for task in tasks)


def _by_zone(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield the hours of the zones in which preemptable pods of a job run, how many leave at once
    when one closes, and when.
    """
    plugin: Any = seen.ssn.plugins.get("tdm")
    for zone, there in _zones(seen, job).items() if plugin is not None else ():
        span = tdm.hours_of(plugin.zones.get(zone, ""))
        if span is None or span == (0, tdm.DAY):  # it is never closed
            continue
        open_now, pace = not plugin.closed_because(zone), _pace(job, there, str(
            plugin.arguments.get(tdm.EVICT_PERIOD) or "1m"))
        hours = rules.hours_facts(seen, zone)
        end = "00:00" if hours["night"] else hours["hours"].partition("-")[2]
        after = seen.ssn.memory.get(plugin.name, seen.ssn.now) + plugin.evict_period
        day = seen.ssn.now - seen.ssn.now % tdm.DAY
        first = day + min(span[1], tdm.DAY) if open_now else after
        opens = day + span[0] + (0 if seen.ssn.now < day + span[0] else tdm.DAY)
        leave = pace.facts["n"]
        yield Cause("shuffled", [
            Message("hours", node=there[0].node_name, **hours), Message(
                "shuffled.zone", zone=zone), pace,
            *(_rounds(len(there), leave, first, plugin.evict_period, None if open_now else opens)
              if leave else ()),
            _again(seen, there, zone) if leave else None,
            None if open_now else Message("shuffled.opens", moment=moment_text(opens))],
            {"names": [] if open_now else sorted({task.node_name for task in there}),
             "then": (end if open_now else moment_text(after)) * bool(leave),
             "rule": {"zone": zone, "hours": hours["hours"]},
             **({"at": first} if open_now and leave else {})}, [], True)


def _rounds(pods: int, n: int, first: float, period: float, opens: float | None
            ) -> Iterator[Message]:
    """Yield in how many rounds all pods of a job leave a zone: the next and the last one; or how
    many until it `opens` again, where it is closed and a round has just been.
    """
    rounds = ceil(pods / n) - (opens is not None)
    left = pods - n * (opens is not None)
    until = rounds if opens is None else min(rounds, int(max(opens - first, 0.0) // period) + (
        opens > first))
    if until:
        some = "" if rounds > 1 else ".one"
        yield Message(f"shuffled.rounds{some if until == rounds else '.until'}", n=until,
                      next=moment_text(first), last=moment_text(first + (until - 1) * period),
                      pods=Message("pods", n=left), gone=min(until * n, left))


def _hours(seen: Evidence, node: str) -> Message:
    zone = seen.ssn.nodes[node].revocable_zone
    return Message("hours", node=node, **rules.hours_facts(seen, zone))


def _pace(job: JobInfo, there: list[TaskInfo], period: str) -> Message:
    """How many pods of a job plugin tdm evicts in one round, by which annotation."""
    gone = sum(task.status == RELEASING for task in there)
    by = next((Message("shuffled.budget", name=f"volcano.sh/{name}", value=getattr(job, field))
               for name, field in BUDGETS.items() if getattr(job, field)), None)
    names = [f"volcano.sh/{name}" for name in BUDGETS]
    n = gone or min(tdm.max_evictions(job), len(there))
    return Message("shuffled.pace" if n else "shuffled.kept", n=n, period=period,
                   by=by or Message("shuffled.no_budget", names=names))


def _again(seen: Evidence, there: list[TaskInfo], zone: str) -> Message:
    """The nodes outside a zone that could take pods that are created again now, and how many."""
    request, free = amounts(there[0].init_resreq), seen.free(
        next(reversed(seen.trace.records), None))
    fit = {name: min((free[name].get(each, 0.0) // amount for each, amount in request.items()
                      if amount), default=float(len(there)))
           for name, node in seen.ssn.nodes.items() if node.revocable_zone != zone
           and rules.lets_in(seen, there[0], name) and not nodes.missing(request, free[name])}
    return Message("shuffled.again" if fit else "shuffled.waits", nodes=[*fit], pods=len(there),
                   n=min(int(sum(fit.values())), len(there)))


def zone_hours(seen: Evidence, job: JobInfo) -> Iterator[Message]:
    """Yield the hours of the nodes that the pods of a job are on, where shuffle evicts none."""
    plugin: Any = seen.ssn.plugins.get("tdm")
    used = {task.node_name for task in job.tasks.values() if task.node_name in seen.ssn.nodes}
    zones = {seen.ssn.nodes[node].revocable_zone: node for node in sorted(used)}
    if plugin is not None and "shuffle" not in seen.ssn.enabled_actions:
        yield from (_hours(seen, node) for zone, node in zones.items() if zone in plugin.zones)


def _by_usage(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield the measured usage of nodes from which plugin rescheduling takes pods of a job, and
    when it compares them next.
    """
    plugin: Any = seen.ssn.plugins.get("rescheduling")
    if plugin is None or plugin.thresholds is None:
        return
    running = [task for other in seen.ssn.jobs.values()
               for _, task in sorted(other.in_status(RUNNING).items())]
    gone = [seen.tasks[key] for pods in shuffled(seen, job).values() for key in pods]
    taken = gone if plugin.due else [
        task for task in plugin.victim_tasks(running) if task.job == job.uid]
    after = moment_text(seen.ssn.memory.get(plugin.name, seen.ssn.now) + plugin.interval)
    said = Message("shuffled.next", moment=after) if plugin.due else Message(
        "shuffled.next.takes", moment=after, pods=[task.key for task in taken])
    for name in dict.fromkeys(task.node_name for task in taken):
        used = seen.ssn.nodes[name].resource_usage
        target, low = ([f"{each} {value:g}" for each, value in values.items()] for values in (
            plugin.thresholds.target, plugin.thresholds.low))
        yield Cause("shuffled", [
            Message("shuffled.usage", node=name, cpu=used.cpu.get(plugin.period, 0.0), low=low,
                    memory=used.memory.get(plugin.period, 0.0), period=plugin.period,
                    target=target), said],
            {"then": "" if plugin.due else after, "rule": {"node": name}}, [], True)
