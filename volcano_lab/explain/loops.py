"""What only several cycles show: pods that are evicted over and over, and gangs of which some pods
hold their places without the rest.

Answers to no Go file. Volcano keeps no promise from one cycle to the next: the room that an
eviction makes is given anew, so that it may go back to whom it was taken from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Any

from volcano_lab.explain.explanation import Cause
from volcano_lab.messages import Message

if TYPE_CHECKING:
    from volcano_lab.explain.timeline import Eviction, Timeline


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
    winners, actions = _parties(gone)
    turn = [each for each in timeline.evictions
            if each.job in winners and each.winner == uid and each.cycle <= last]
    if turn:
        said.append(Message("evicted.in_turn", times=_times(len(turn)),
                            jobs=_names(timeline, [each.job for each in turn])))
    return Cause("evicted_again", said, {
        "evicted": len(gone), "taken": len(takers), "losers": [each.winner for each, _ in takers],
        "winners": winners, "actions": actions})


def _parties(gone: list[Eviction]) -> tuple[list[str], list[str]]:
    """(The jobs for which pods were evicted, the actions that did it), each once."""
    return ([*dict.fromkeys(each.winner for each in gone)],
            [*dict.fromkeys(each.action for each in gone)])


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
