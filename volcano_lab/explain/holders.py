"""By whom: the jobs behind "allocated" and "reserved", the largest first, and who took room in this
cycle and came first by which order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from volcano_lab.api import MIN_RESOURCE, JobInfo, amount_text
from volcano_lab.api.status import ALLOCATED_STATUSES, READY_STATUSES, RELEASING
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Amounts, Cause, added, amounts_text, moment_text
from volcano_lab.explain.origin import too_large
from volcano_lab.framework.one_sentence import listed
from volcano_lab.trace import Record, queue_attributes
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
    there = None if nodes is None else set(nodes)
    counted = HOLDING if there is not None else COUNTED
    if level is not None or there is not None:
        counted = counted | {"Pipelined"}
    held: dict[str, Amounts] = {}
    new: dict[str, Amounts] = {}
    for job in below(seen, level):
        for task in job.tasks.values():
            now = state[task.key]
            if now["status"] not in counted or (there is not None and now["node"] not in there):
                continue
            request = amounts(task.resreq)
            held[job.uid] = added(held.get(job.uid, {}), request)
            if not start[task.key]["node"]:
                new[job.uid] = added(new.get(job.uid, {}), request)
    return held, new


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
        share = by_job[uid]
        some = amounts_text(share, names).removeprefix(f"{names[0]} " if len(names) == 1 else "")
        parts.append(f"{seen.called(uid)} {some}{about(seen.ssn.jobs[uid])}")
    if len(order) > MOST:
        rest: Amounts = {}
        for uid in order[MOST:]:
            rest = added(rest, by_job[uid])
        parts.append(f"{len(order) - MOST} more job{'s' * (len(order) > MOST + 1)} "
                     f"{amounts_text(rest, names)}")
    return f" {verb} {', '.join(parts)}." if parts else ""


def strangers(seen: Evidence, names: list[str], nodes: Iterable[str]) -> str:
    """What pods on some nodes take of which Volcano knows no job."""
    pods = [task for name in nodes for task in seen.ssn.nodes[name].tasks.values()
            if task.job not in seen.ssn.jobs and str(task.status) in HOLDING]
    taken: Amounts = {}
    for task in pods:
        taken = added(taken, amounts(task.resreq))
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
    """The jobs behind what was counted; those that reserve room and can never start here."""
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
    before = [uid for uid in largest(kept, names) if seen.of("enqueued", job=uid)][:1]
    first = came_first(seen, seen.ssn.jobs[before[0]], job, record) if before else None
    if first is not None:
        yield first
    for uid in largest(kept, names)[:3]:
        least = amounts(seen.ssn.jobs[uid].get_min_resources())
        over = [name for name, amount in least.items()
                if amount > seen.ssn.total_resource.get(name)]
        if any(task.node_name for task in seen.ssn.jobs[uid].tasks.values()):
            continue
        total = {name: seen.ssn.total_resource.get(name) for name in over}
        why = (f"its minimum is {amounts_text(least, over)}, and the cluster has "
               f"{amounts_text(total)}" if over else "no node could hold a pod of it, were it empty"
               if any(too_large(seen, seen.ssn.jobs[uid])) else "")
        if why:
            yield Cause("never_starts", f"{seen.called(uid)} can never start here: {why}.",
                        {"job": uid}, [], True)


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
    took = {uid: each for uid, each in new.items() if uid != job.uid}
    what = " and ".join(names) + (" are" if len(names) > 1 else " is")
    verb = f"{what} held by" if level is None else f"In queue {level} {what} held by"
    holders, others = largest(held, names), strangers(seen, names, nodes or ())
    others += "".join(f" Node {node.name} holds {name} {amount_text(name, node.used.get(name))} "
                      f"and has {amount_text(name, node.allocatable.get(name))}." for name in names
                      for node in seen.ssn.nodes.values()
                      if node.used.get(name) - node.allocatable.get(name) >= MIN_RESOURCE)
    text = ((held_text(seen, held, names, verb) if holders != [job.uid] else "") + others).strip()
    took_text = held_text(seen, took, names, "In this cycle it went to").strip()
    if text:
        yield Cause("held_by", f"{text}{' ' if took_text else ''}{took_text}",
                    {"holders": holders, "took": largest(took, names)}, [record], context=True)
    for uid in largest(took, names)[:1]:
        first = came_first(seen, seen.ssn.jobs[uid], job, record)
        if first is not None:
            yield first


def came_first(seen: Evidence, other: JobInfo, mine: JobInfo, record: Record) -> Cause | None:
    """By which order another job had its turn before, with both values."""
    same = other.queue == mine.queue
    kind, left, right = ("job", other, mine) if same else (
        "queue", seen.ssn.queues[other.queue], seen.ssn.queues[mine.queue])
    turns = [turn for turn in seen.of(kind, **{kind: left.uid})
             if turn.number < record.number and turn.action == record.action]
    mine_before = seen.of(kind, **{kind: right.uid})
    if not turns or any(turn.number < turns[0].number and turn.action == record.action
                        for turn in mine_before):
        return None
    state = seen.state_at(turns[0])
    point = seen.ssn.points[f"{kind}_order"]
    for tier in point.tiers:
        for plugin, _ in tier:
            what, values = _values(seen, kind, plugin, state)
            if values is None:
                if turns[0].get("next") != right.uid or (turns[0]["decided_by"]
                                                         or [""])[0] != plugin:
                    return None  # this plugin's values are not known here
                return _first(seen, kind, left.uid, f"{plugin} puts it first", plugin, turns[0])
            mine_value, theirs = values(right), values(left)
            if mine_value == theirs:
                continue
            if not _before(plugin, theirs, mine_value):
                return None
            text = moment_text if plugin == "sla" else _text
            why = f"{plugin} compares {what}, {text(theirs)} ({_name(seen, kind, left.uid)}) " \
                  f"before {text(mine_value)} ({_name(seen, kind, right.uid)})"
            if plugin == "priority":
                why += priority_note(seen, mine)
            return _first(seen, kind, left.uid, why, plugin, turns[0])
    if kind == "job" and left.creation_timestamp < right.creation_timestamp:
        return _first(seen, kind, left.uid, "the plugins' orders put them level, and it was "
                      "created earlier", "", turns[0])
    return None


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


def _first(seen: Evidence, kind: str, left: str, why: str, plugin: str, turn: Record) -> Cause:
    name = _name(seen, kind, left)
    return Cause("came_first",
                 f"{name[0].upper() + name[1:] if kind == 'queue' else name} came first: {why}.",
                 {"first": left, "plugin": plugin, "kind": kind}, [turn], context=True)


def _name(seen: Evidence, kind: str, uid: str) -> str:
    return seen.called(uid) if kind == "job" else f"queue {uid}"


def _values(seen: Evidence, kind: str, plugin: str, state: dict) -> tuple[str, Callable | None]:
    """(what a plugin compares, how to have it of one at that moment); None where it isn't known."""
    shares = state["jobs"] if kind == "job" else state["queues"]
    if kind == "queue":
        tree = getattr(seen.ssn.plugins.get(plugin), "hierarchical", False)
        if plugin not in ("proportion", "capacity") or tree:
            return "", None
        return "priority and share", lambda queue: (queue.queue.spec.priority,
                                                    shares[queue.uid]["share"])
    if plugin == "drf" and seen.ssn.plugins["drf"].hierarchy is None:
        return "dominant shares", lambda job: shares[job.uid].get("share", 0.0)
    if plugin == "priority":
        return "the jobs' priorities", lambda job: job.priority
    if plugin == "gang":
        return "whether a gang has its minimum", lambda job: _ready(job, state)
    if plugin in ("sla", "tdm"):
        what = {"sla": "deadlines", "tdm": "whether a job may be preempted"}[plugin]
        return what, seen.ssn.plugins[plugin].job_order_key
    return "", None


def _ready(job: JobInfo, state: dict) -> bool:
    return sum(state["tasks"][task.key]["status"] in READY or task.best_effort
               for task in job.tasks.values()) >= job.min_available


def _before(plugin: str, left, right) -> bool:
    if plugin == "priority":
        return left > right
    if isinstance(left, tuple):
        return (-left[0], left[1]) < (-right[0], right[1])
    return left < right


def _text(value) -> str:
    if isinstance(value, tuple):
        return " and ".join(map(_text, value))
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else f"{value:.4g}"
