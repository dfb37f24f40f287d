"""What only several cycles show: pods that are evicted over and over, what ends that, and gangs of
which some pods hold their places without the rest.

Answers to no Go file. Volcano keeps no promise from one cycle to the next: the room that an
eviction makes is given anew, so that it may go back to whom it was taken from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise, takewhile
from time import perf_counter
from typing import TYPE_CHECKING, Any

from volcano_lab.api import total
from volcano_lab.changes import Change
from volcano_lab.explain import values
from volcano_lab.explain.candidates import above
from volcano_lab.explain.conf_options import in_order, keeping, switched, without_action
from volcano_lab.explain.explanation import Cause
from volcano_lab.explain.options import Option, World, once
from volcano_lab.explain.remedy import Remedy
from volcano_lab.explain.search import smallest
from volcano_lab.messages import Message
from volcano_lab.trace.plain import amounts

if TYPE_CHECKING:
    from volcano_lab.explain.timeline import Eviction, Timeline

MOST, MOST_STEPS = 3, 16
"""Changes that are sought, and the most steps of one."""


def evictions_of(timeline: Timeline, uid: str, last: int) -> list[Eviction]:
    """A job's evictions up to a cycle."""
    return [each for each in timeline.evictions if each.job == uid and each.cycle <= last]


def loop_cause(timeline: Timeline, uid: str, last: int) -> Cause | None:
    """That a pod of a job was evicted more than once, or that its room went back to the job, which
    then lost another: how often, for whom, by which rule.
    """
    gone = evictions_of(timeline, uid, last)
    cycles: dict[str, list[str]] = {}
    for each in gone:
        cycles.setdefault(each.pod, []).append(str(each.cycle))
    takers = [(each, took) for each, later in pairwise(gone)
              if (took := _who_took(timeline, each, later.cycle))]
    back = any(uid in took for _, took in takers)
    if not back and max(map(len, cycles.values()), default=0) < 2:
        return None
    pods = [Message("evicted.pod", n=len(when), pod=pod.partition("/")[2], cycles=Message(
        "parts", parts=when)) for pod, when in cycles.items()]
    said = [Message("evicted_again", times=_times(len(gone)), pods=pods,
                    whom=_by_whom(timeline, gone))]
    if takers:
        said.append(Message(
            "evicted.taken", times=_times(len(takers)),
            jobs=_names(timeline, [job for _, took in takers for job in took]),
            winners=_names(timeline, [each.winner for each, _ in takers])))
    winners = {each.winner for each in gone}
    turn = [each for each in timeline.evictions
            if each.job in winners and each.winner == uid and each.cycle <= last]
    if turn:
        said.append(Message("evicted.in_turn", times=_times(len(turn)),
                            jobs=_names(timeline, [each.job for each in turn])))
    return Cause("evicted_again", said, {
        "evicted": len(gone), "taken": len(takers), "losers": [each.winner for each, _ in takers]})


def loop_causes(timeline: Timeline, uid: str, last: int) -> Iterator[tuple[str, Cause]]:
    """The loops that a job is in, as (the job that is evicted, what is said of this one): its own,
    and those of jobs that make room for it.
    """
    own = loop_cause(timeline, uid, last)
    if own is not None:
        yield uid, own
    made = [each for each in timeline.evictions if each.winner == uid and each.cycle <= last]
    for victim in dict.fromkeys(each.job for each in made if each.job != uid):
        cause = loop_cause(timeline, victim, last)
        if cause is not None and uid in cause.numbers["losers"]:
            said = Message("room_taken", times=_times(len(made)), job=_names(timeline, [victim]))
            yield victim, Cause("room_taken", [said, *cause.sentences], cause.numbers)


def _times(count: int) -> Message:
    return Message("times", n=count)


def _names(timeline: Timeline, jobs: list[str]) -> Message:
    return Message("names.jobs", names=[timeline.names[job].partition("/")[2]
                                        for job in dict.fromkeys(jobs)])


def _by_whom(timeline: Timeline, gone: list[Eviction]) -> Message:
    """For whom, by which actions, and which plugins allowed it."""
    count = Counter(each.winner for each in gone)
    whom = [Message("evicted.for", times=_times(number), job=_names(timeline, [job]) if job
                    else Message("nobody")) for job, number in count.most_common()]
    if len(count) == 1 and gone[0].winner:
        whom = [Message("evicted.each_time", n=len(gone), job=_names(timeline, list(count)))]
    ways = Counter((each.action, each.rules) for each in gone)
    return Message("evicted.whom", whom=whom, ways=[
        Message("evicted.by" if rules else "evicted.by_action", action=action, rules=[*rules])
        for action, rules in ways])


def _who_took(timeline: Timeline, eviction: Eviction, before: int) -> list[str]:
    """The jobs that were placed on that node, where the one that wanted the room had no place."""
    placed = [(job, node) for cycle, _, job, node in timeline.placed
              if eviction.cycle < cycle <= before]
    if not eviction.winner or any(job == eviction.winner for job, _ in placed):
        return []
    return [job for job, node in placed if node == eviction.node]


def stranded_cause(timeline: Timeline, uid: str, last: int) -> Cause | None:
    """That some pods of a gang hold their places while it is below its minimum: since when, and
    what took the others.
    """
    rows = [row for row in timeline.rows.get(uid, ()) if row["cycle"] <= last]
    start = _stranded_since(rows) if rows and rows[-1]["cycle"] == last else None
    if start is None:
        return None
    now, held = rows[-1], _held(rows[-1])
    said = [Message("stranded", n=held, cycle=start, least=now["least"])]
    before = [row for row in rows if row["cycle"] < start]
    lost = [each for each in evictions_of(timeline, uid, last) if each.cycle >= start]
    if lost:
        said.append(Message("stranded.evicted", whom=_by_whom(timeline, lost), pods=[
            each.pod.partition("/")[2] for each in lost]))
    else:
        had = bool(before) and _held(before[-1]) + before[-1]["ended"] >= now["least"]
        said.append(Message("stranded.lost" if had else "stranded.short" if before
                            else "stranded.from_start"))
    others = [job for cycle, _, job, _ in timeline.placed if start <= cycle <= last and job != uid]
    if others:
        said.append(Message("stranded.placed", jobs=_names(timeline, others)))
    return Cause("stranded", said, {"since": start, "held": held, "min_available": now["least"]})


def _stranded_since(rows: list[dict[str, Any]]) -> int | None:
    """The cycle since which some pods hold their places below the minimum; None where that is
    not so, or promised places make it up.
    """
    short = list(takewhile(lambda row: 0 < _held(row) < row["least"] - row["ended"],
                           reversed(rows)))
    made_up = _held(rows[-1]) + rows[-1]["ended"] + rows[-1]["promised"] >= rows[-1]["least"]
    return None if made_up or not short else short[-1]["cycle"]


def _held(row: dict[str, Any]) -> int:
    return row["bound"] + row["running"]


def breaks(timeline: Timeline, uid: str, last: int, seconds: float | None) -> Iterator[Remedy]:
    """Changes with which a job is in no loop and not stranded up to a cycle, each found by running
    all cycles again.
    """
    end = None if seconds is None else perf_counter() + seconds
    before = evictions_of(timeline, uid, last)
    if timeline.first is None or timeline.again is None:
        return
    world = World(*timeline.first, lambda job: timeline.names.get(job, job))
    found = 0
    for option in _options(timeline, world, uid, before):
        if found >= MOST or (end is not None and perf_counter() > end):
            return
        runs: dict[Change, Timeline] = {}

        def turns(step: int, option: Option = option, runs: dict[Change, Timeline] = runs) -> bool:
            change = option.at(step)
            after = runs[change] = timeline.again(*world.applied(change))
            if before:
                worse = len(evictions_of(after, uid, last)) >= len(before)
            else:
                worse = not _places(after, uid, last)
            return not (worse or loop_cause(after, uid, last) or stranded_cause(after, uid, last))

        steps = smallest(turns, min(option.steps, MOST_STEPS))
        if steps is not None:
            found += 1
            change = option.at(steps)
            after = runs[change]
            yield Remedy(world.told(change), _brings(after, uid, last, before), change, option.rank,
                         world, world.called(uid), _places(after, uid, last))


def _places(timeline: Timeline, uid: str, last: int) -> int:
    """How many pods of a job have a place, or have ended, at the end of a cycle."""
    rows = [row for row in timeline.rows.get(uid, ()) if row["cycle"] <= last]
    return _held(rows[-1]) + rows[-1]["ended"] if rows else 0


def _brings(after: Timeline, uid: str, last: int, before: list[Eviction]
            ) -> tuple[Message, ...]:
    """What becomes of the job and of those for whom it was evicted."""
    name, places = _names(after, [uid]), _places(after, uid, last)
    if not before:
        return (Message("effect.placed", job=name, pods=Message("pods", n=places)),)
    again = len(evictions_of(after, uid, last))
    parts = [Message("effect.evicted" if places else "effect.evicted_waits", job=name,
                     times=_times(again), before=len(before))]
    winner = Counter(each.winner for each in before).most_common(1)[0][0]
    placed = [cycle for cycle, _, job, _ in after.placed if job == winner]
    if winner in after.names:
        parts.append(Message("effect.placed_in" if placed else "effect.waits",
                             job=_names(after, [winner]), cycle=placed[0] if placed else None))
    return tuple(parts)


def _options(timeline: Timeline, world: World, uid: str, gone: list[Eviction]) -> list[Option]:
    """Orders and switches, the job's priority, its queue's weight, nodes, and that nobody evicts.
    """
    ssn = timeline.kept[-1][-1] if timeline.kept else None
    job = ssn.jobs.get(uid) if ssn else None
    found = [*in_order(world), *switched(world, "drf", "enableJobOrder", False),
             *switched(world, "priority", "enableJobOrder", True)]
    actions = dict.fromkeys(each.action for each in gone)
    for action in actions:
        found += keeping(world, action)
    if ssn is not None and job is not None:
        winners = [ssn.jobs[each.winner] for each in gone if each.winner in ssn.jobs]
        most = max((winner.priority for winner in winners), default=job.priority)
        found += above(world, uid, most - 1) if most > job.priority else ()
        for queue in dict.fromkeys(winner.queue for winner in winners) if (
                "reclaim" in actions) else ():
            found += _like(world, job.queue, queue)
            found += values.weight(world, job.queue) if "proportion" in ssn.plugins else ()
            found += values.raised(world, job.queue, "deserved", [amounts(job.allocated + total(
                task.resreq for task in job.tasks.values() if not task.node_name))])
        tasks = list(job.tasks.values())
        found += values.nodes(world, amounts(tasks[0].init_resreq), {}, ssn.nodes, {}
                              ) if tasks else ()
    found.sort(key=lambda option: option.rank)
    for action in actions:  # what takes most from others comes last
        found += without_action(world, action)
    return found


def _like(world: World, queue: str, other: str) -> Iterator[Option]:
    """That a queue have the priority of another."""
    if queue in world.queues and other in world.queues:
        before, after = (world.queues[name].spec.priority for name in (queue, other))
        if before != after:
            yield once(f"queue/{queue}.priority={after}")
