"""By whom: the jobs behind "allocated" and "reserved", the largest first, and who took room in this
cycle and came first by which order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial, reduce
from typing import Any

from volcano_lab.api import MIN_RESOURCE, PENDING, JobInfo, amount_text, total
from volcano_lab.api.status import ALLOCATED_STATUSES, READY_STATUSES, RELEASING
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Amounts, Cause, added, amounts_text, moment_text
from volcano_lab.messages import listed
from volcano_lab.trace import Record, State, queue_attributes
from volcano_lab.trace.plain import amounts

MOST = 3
"""Jobs that are named; the others are counted."""
COUNTED = frozenset(map(str, ALLOCATED_STATUSES))
READY = frozenset(map(str, READY_STATUSES))
HOLDING = COUNTED | {str(RELEASING)}


def below(seen: Evidence, level: str | None) -> list[JobInfo]:
    """The jobs of a queue and of all queues below it; all jobs without one."""
    attrs = queue_attributes(seen.ssn)
    return [job for job in seen.ssn.jobs.values() if level is None or job.queue == level
            or level in getattr(attrs.get(job.queue), "ancestors", ())]


def reserved(seen: Evidence, record: Record, level: str | None) -> dict[str, Amounts]:
    """What each job had reserved when a job was refused: nothing is allocated of it yet, and it was
    admitted; by the plugin itself, which alone knows of queues, or by all, for the whole cluster.
    """
    permits = seen.of("enqueued") if level is None else [
        each for each in seen.of("job_enqueueable", plugin=record["plugin"]) if each["answer"] > 0]
    count = Counter(each["job"] for each in permits if each.number < record.number)
    return {job.uid: seen.reserved_at_start[job.uid] if not count[job.uid] else amounts(
        job.deduct_sch_gated_resources(job.get_min_resources()) * count[job.uid])
        for job in below(seen, level)}


def allocated(seen: Evidence, record: Record, level: str | None,
              nodes: Iterable[str] | None = None) -> tuple[dict[str, Amounts], dict[str, Amounts]]:
    """(what each job held at a moment, what of it was placed in this cycle), in a queue or on some
    nodes.
    """
    state, start = seen.state_at(record)["tasks"], seen.trace.start["tasks"]
    there = seen.ssn.nodes if nodes is None else {*nodes}
    counted = (COUNTED if nodes is None else HOLDING) | (
        set() if level is None is nodes else {"Pipelined"})
    tasks = {job.uid: [task for task in job.tasks.values() if state[task.key]["status"] in counted
                       and (nodes is None or state[task.key]["node"] in there)]
             for job in below(seen, level)}
    new = {uid: [task for task in each if not start[task.key]["node"]]
           for uid, each in tasks.items()}
    held, placed = ({uid: amounts(total(task.resreq for task in each))
                     for uid, each in some.items() if each} for some in (tasks, new))
    return held, placed


def largest(by_job: dict[str, Amounts], names: list[str]) -> list[str]:
    """The jobs that have something of these resources, the largest first."""
    some = [uid for uid, each in by_job.items() if any(each.get(name, 0.0) > 0 for name in names)]
    return sorted(some, key=lambda uid: ([-by_job[uid].get(name, 0.0) for name in names], uid))


def is_ghost(seen: Evidence, uid: str) -> bool:
    """Whether a PodGroup was admitted before this cycle, and has no pods."""
    return not seen.ssn.jobs[uid].tasks and not seen.of("enqueued", job=uid)


def held_text(seen: Evidence, by_job: dict[str, Amounts], names: list[str], verb: str,
              about: Callable[[JobInfo], str] = lambda job: "") -> str:
    """Who holds how much, such as "held by default/a 4 and default/b 2"; "" where nobody does."""
    order = largest(by_job, names)
    ghosts = [uid for uid in order if is_ghost(seen, uid)]
    parts = []
    if len(ghosts) > 1:
        same = {amounts_text(by_job[uid], names) for uid in ghosts}
        each = f", {same.pop()} each" if len(same) == 1 else ""
        parts.append(f"{len(ghosts)} PodGroups without a single pod "
                     f"({listed(map(seen.called, ghosts), 8)}{each})")
        order = [uid for uid in order if uid not in ghosts]
    for uid in order[:MOST]:
        some = amounts_text(by_job[uid], names).removeprefix(f"{names[0]} " * (len(names) == 1))
        parts.append(f"{seen.called(uid)} {some}{about(seen.ssn.jobs[uid])}")
    if len(order) > MOST:
        rest = reduce(added, (by_job[uid] for uid in order[MOST:]))
        parts.append(f"{len(order) - MOST} more job{'s' * (len(order) > MOST + 1)} "
                     f"{amounts_text(rest, names)}")
    return f" {verb} {', '.join(parts)}." if parts else ""


def strangers(seen: Evidence, names: list[str], nodes: Iterable[str]) -> str:
    """What pods on some nodes take of which Volcano knows no job."""
    pods = [task for name in nodes for task in seen.ssn.nodes[name].tasks.values()
            if task.job not in seen.ssn.jobs and str(task.status) in HOLDING]
    taken = amounts(total(task.resreq for task in pods))
    largest_first = sorted(pods, key=lambda task: [-task.resreq.get(name) for name in names])
    return (f" Pods that Volcano does not schedule take {amounts_text(taken, names)} "
            f"({listed([task.key for task in largest_first], MOST)})."
            if any(taken.get(name) for name in names) else "")


def phase_text(seen: Evidence, record: Record, job: JobInfo) -> str:
    """How a job stood that had reserved something when another was refused."""
    if is_ghost(seen, job.uid):
        return " (its PodGroup has no pods)"
    if any(each.number < record.number for each in seen.of("enqueued", job=job.uid)):
        return " (admitted before it in this cycle)"
    start = seen.trace.start
    placed = sum(bool(start["tasks"][task.key]["node"]) for task in job.tasks.values())
    some = f"{placed or 'none'} of its {len(job.tasks)} pods"
    have = "has" if placed <= 1 else "have"
    return f" ({start['jobs'][job.uid]['phase'] or 'Pending'}, {some} {have} a place)"


def by_whom(seen: Evidence, job: JobInfo, record: Record) -> Iterator[Cause]:
    """The jobs behind what was counted."""
    if seen.brief:
        return
    names, level = record["short_of"], record.get("level")
    kept = reserved(seen, record, level)
    own = kept.pop(job.uid, {})
    held = allocated(seen, record, level)[0]
    verb = "Held by" if level else "In use by"
    about = partial(phase_text, seen, record)
    text = (held_text(seen, kept, names, "Reserved by", about) + held_text(seen, held, names, verb)
            + ("" if level else strangers(seen, names, seen.ssn.nodes))).strip()
    if any(own.get(name) for name in names):
        text += (f" Counted in: {amounts_text(own, names)} of its own, for the configuration names "
                 f"{record['plugin']} twice, and the first has let it in.")
    holders = [*largest(kept, names)[:12], *largest(held, names)[:3]]
    if text:
        yield Cause("held_by", text, {"holders": list(dict.fromkeys(holders)),
                                      "ghosts": [uid for uid in largest(kept, names)
                                                 if is_ghost(seen, uid)]}, [record], True)
    before = [uid for uid in largest(kept, names) if seen.of("enqueued", job=uid)]
    yield from came_first(seen, before[:1], job, record)


def room_causes(seen: Evidence, job: JobInfo, cause: Cause) -> Iterator[Cause]:
    """Who holds the room that a pod found taken, and why who took it in this cycle came first."""
    if seen.brief:
        return
    record = cause.records[-1]
    names = list(cause.numbers.get("short_of") or cause.numbers.get("request", ()))
    level = cause.numbers.get("level", job.queue) if (
        "limit" in cause.numbers or cause.code == "overused") else None
    nodes = None if level is not None else cause.numbers.get("allowed", seen.trace.nodes)
    held, new = allocated(seen, record, level, nodes)
    held = held_to_the_end(seen, job, record, held, nodes)
    took = {uid: each for uid, each in new.items() if uid != job.uid}

    def waits(other: JobInfo) -> str:
        pods = len(other.in_status(PENDING)) * (other is not job)
        return f" ({pods} of its pods without a place)" * bool(pods)

    what = " and ".join(names) + (" are" if len(names) > 1 else " is")
    verb = f"{what} held by" if level is None else f"In queue {level} {what} held by"
    holders, others = largest(held, names), strangers(seen, names, nodes or ())
    broken = "".join(f" Node {node.name} holds {name} {amount_text(name, node.used.get(name))} "
                      f"and has {amount_text(name, node.allocatable.get(name))}." for name in names
                      for node in seen.ssn.nodes.values()
                      if node.used.get(name) - node.allocatable.get(name) >= MIN_RESOURCE)
    text = held_text(seen, held, names, verb, waits) * (holders != [job.uid]) + others + broken
    if text:
        text += held_text(seen, took, names, "In this cycle it went to")
        if len(holders) > 1 and all(_lacks_more(seen.ssn.jobs[uid]) for uid in holders):
            text += (" All of them wait for more themselves. Minimums (minMember, minResources) "
                     "that count all that a job needs let in fewer at once.")
    later = {uid: added(each, new.get(uid, {}), -1.0) for uid, each in allocated(
        seen, seen.trace.records[-1], level, nodes)[1].items() if uid != job.uid}
    if text or largest(later, names):
        text += held_text(seen, later, names, "After its refusal some room went to")
        yield Cause("held_by", text.strip(), {"holders": holders, "broken": bool(broken)}, [record],
                    context=True)
    yield from came_first(seen, largest(took, names)[:1], job, record)


def held_to_the_end(seen: Evidence, job: JobInfo, record: Record, held: dict[str, Amounts],
                    nodes: Iterable[str] | None) -> dict[str, Amounts]:
    """What jobs held at a moment, less places of this job that were given back with its gang's."""
    then, there = seen.state_at(record)["tasks"], seen.ssn.nodes if nodes is None else {*nodes}
    tried = amounts(total(task.resreq for task in job.tasks.values()
                          if not task.node_name and then[task.key]["node"] in there))
    return held | {job.uid: added(held[job.uid], tried, -1.0)} if job.uid in held else held


def _lacks_more(job: JobInfo) -> bool:
    """Whether a job has its minimum or less, and pods that wait."""
    return job.has_pending_tasks() and job.ready_task_num() <= max(job.min_available, 1)


def came_first(seen: Evidence, others: list[str], mine: JobInfo,
               record: Record) -> Iterator[Cause]:
    """By which order another job had its turn before, with both values."""
    yield from filter(None, (_came_first(seen, seen.ssn.jobs[uid], mine, record) for uid in others))


def _came_first(seen: Evidence, other: JobInfo, mine: JobInfo, record: Record) -> Cause | None:
    kind, left, right = ("job", other, mine) if other.queue == mine.queue else (
        "queue", seen.ssn.queues[other.queue], seen.ssn.queues[mine.queue])
    turns, before = ([turn for turn in seen.of(kind, **{kind: each.uid})
                      if turn.action == record.action] for each in (left, right))
    if not turns or turns[0].number >= record.number or (
            before and before[0].number < turns[0].number):
        return None
    names = [seen.called(each.uid) if kind == "job" else f"queue {each.uid}"
             for each in (left, right)]

    def first(why: str, plugin: str = "") -> Cause:
        text = f"{names[0]} came first: {why}."
        return Cause("came_first", text[0].upper() + text[1:] if kind == "queue" else text, {
            "first": left.uid, "plugin": plugin, "kind": kind}, [turns[0]], context=True)

    state = seen.state_at(turns[0])
    for plugin in (plugin for tier in seen.ssn.points[f"{kind}_order"].tiers for plugin, _ in tier):
        what, key, text = _compared(seen, kind, plugin, state)
        if key is None:  # this plugin's values are not known here
            decided = turns[0].get("next") == right.uid and turns[0]["decided_by"]
            return first(f"{plugin} puts it first", plugin) if decided and (
                decided[0] == plugin) else None
        theirs, own = key(left), key(right)
        if theirs == own:
            continue
        if theirs > own:
            return None
        note = priority_note(seen, mine) if plugin == "priority" else ""
        return first(f"{plugin} compares {what}, {text(theirs)} ({names[0]}) before {text(own)} "
                     f"({names[1]}){note}", plugin)
    return first("the plugins' orders put them level, and it was created earlier") if (
        kind == "job" and left.creation_timestamp < right.creation_timestamp) else None


def priority_note(seen: Evidence, job: JobInfo) -> str:
    """That a job has not the priority of its pods: only a PriorityClass of its PodGroup counts."""
    name = job.pod_group.spec.priority_class_name
    pods = max((task.pod.spec.priority or 0 for task in job.tasks.values()), default=0)
    if pods == job.priority or not job.tasks:
        return ""
    why = (f"there is no PriorityClass {name} among the objects" if name
           else "its PodGroup names no PriorityClass")
    return (f"; {seen.called(job.uid)} has priority {job.priority}, as {why}, and its pods' own, "
            f"{pods}, does not count between jobs")


def _compared(seen: Evidence, kind: str, plugin: str, state: State
              ) -> tuple[str, Callable[[Any], Any] | None, Callable[[Any], str]]:
    """(what a plugin compares, a key of it at that moment that puts the smaller first, its text);
    no key where it isn't known.
    """
    shares = state["jobs" if kind == "job" else "queues"]
    if kind == "queue":
        if plugin in ("proportion", "capacity") and not getattr(
                seen.ssn.plugins[plugin], "hierarchical", False):
            return "priority and share", lambda queue: (
                -queue.queue.spec.priority, shares[queue.uid]["share"]), (
                lambda key: f"{-key[0]:.4g} and {key[1]:.4g}")
    elif plugin == "drf" and not seen.ssn.plugins["drf"].hierarchical:
        return "dominant shares", lambda job: shares[job.uid].get("share", 0.0), "{:.4g}".format
    elif plugin == "priority":
        return "the jobs' priorities", lambda job: -job.priority, lambda key: f"{-key:.4g}"
    elif plugin == "gang":
        return "whether a gang has its minimum", lambda job: sum(
            state["tasks"][task.key]["status"] in READY or task.best_effort
            for task in job.tasks.values()) >= job.min_available, ["no", "yes"].__getitem__
    elif plugin == "sla":
        return "deadlines", seen.ssn.plugins[plugin].job_order_key, moment_text
    elif plugin == "tdm":
        return "whether a job may be preempted", seen.ssn.plugins[plugin].job_order_key, (
            ["no", "yes"].__getitem__)
    return "", None, str
