"""What only several cycles show: pods that are evicted again and again, and gangs of which some
pods stay placed without the rest.

Volcano keeps nothing for a pipelined pod from one cycle to the next: resources that an eviction
frees may be given back to the job that lost them.

Volcano: none
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Any

from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Cause
from volcano_lab.explain.outcome import Eviction, Outcome
from volcano_lab.explain.victims import victim_causes
from volcano_lab.messages import Message
from volcano_lab.trace import grouped, short

if TYPE_CHECKING:
    from volcano_lab.explain.timeline import Timeline

GROUPS = 3
"""The most loops of a cluster that are named, each by its action and queues."""


def loop_cause(timeline: Timeline, uid: str, last: int) -> Cause | None:
    """Return that a pod of a job was evicted more than once, or that freed resources went back to
    the job, which then lost another pod: how often, for which jobs, by which plugins.
    """
    past = [each for each in timeline.evictions if each.cycle <= last]
    gone = [each for each in past if each.job == uid]
    cycles = grouped((each.pod, str(each.cycle)) for each in gone)
    took, losers = [], []
    for each, later in pairwise(gone):
        jobs = _takers(timeline, each, later.cycle)
        took += jobs
        losers += [each.winner] * bool(jobs)
    if uid not in took and max(map(len, cycles.values()), default=0) < 2:
        return None
    pods = [Message("evicted.pod", n=len(when), pod=pod.partition("/")[2], cycles=Message(
        "parts", parts=when)) for pod, when in cycles.items()]
    winners = [*dict.fromkeys(each.winner for each in gone)]
    turn = [each.job for each in past if each.job in winners and each.winner == uid]
    said = [Message("evicted_again", times=_times(gone), pods=pods, whom=_whom(timeline, gone)),
            Message("evicted.taken", times=_times(losers), jobs=_names(timeline, took),
                    winners=_names(timeline, losers)) if losers else None,
            Message("evicted.in_turn", times=_times(turn), jobs=_names(timeline, turn))
            if turn else None]
    return Cause("evicted_again", said, {
        "evicted": len(gone), "taken": len(losers), "losers": losers, "winners": winners,
        "actions": [*dict.fromkeys(each.action for each in gone)]})


def loop_causes(timeline: Timeline, uid: str, last: int) -> Iterator[tuple[str, Cause]]:
    """Yield the loops of a job, as (the job that loses pods, the cause for this one): its own, and
    those of jobs that lose pods for it.
    """
    own = loop_cause(timeline, uid, last)
    if own is not None:
        yield uid, own
    made = [each for each in timeline.evictions if each.winner == uid and each.cycle <= last]
    for victim in dict.fromkeys(each.job for each in made if each.job != uid):
        cause = loop_cause(timeline, victim, last)
        if cause is not None and uid in cause.numbers["losers"]:
            said = Message("room_taken", times=_times(made), job=_names(timeline, [victim]))
            yield victim, Cause("room_taken", [said, *cause.sentences], cause.numbers)


# -- loops of the cluster -------------------------------------------------------------------------


def cluster_loops(seen: Evidence, found: Outcome) -> Cause | None:
    """Return what a cluster repeats in some cycles without a change: by action and queues, the jobs
    that lose pods, those for which they do, the plugins that allow it, and what returns the places.
    """
    jobs = found.last.jobs if found.last is not None else {}
    groups = grouped(((each.action, *(jobs[uid].queue for uid in (
        each.winner, each.job) if uid in jobs)), each) for each in found.loops)
    if not groups:
        return None
    largest = sorted(groups.values(), key=lambda some: -len(some))[:GROUPS]
    said = [Message("cluster_loops", cycles=found.cycles, n=len(found.again)),
            *(_loop(seen, found, some) for some in largest)]
    often = Counter(each.job for each in found.loops)
    return Cause("cluster_loops", said, {
        "victims": [uid for uid, _ in often.most_common()],
        "winners": [*dict.fromkeys(each.winner for each in found.loops)],
        "actions": [*dict.fromkeys(each.action for each in found.loops)]}, [], True)


def _loop(seen: Evidence, found: Outcome, some: list[Eviction]) -> Message:
    """What one action repeats between two queues, and the rule that returns the places."""
    winners, victims = ([*dict.fromkeys(getattr(each, name) for each in some)]
                        for name in ("winner", "job"))
    first, turn = some[0], next((each.action for each in found.loops if each.job in winners
                                 and each.winner in victims), "")
    rules = dict.fromkeys(rule for cause in victim_causes(seen, first.pod) if cause.code == "victim"
                          for rule in cause.numbers["named_by"]) if first.cycle == 1 else {}
    allow = Message("cluster_loops.rules", n=len(rules), plugins=[*rules]) if rules else None
    back = Message("cluster_loops.in_turn", action=turn) if turn else _returns(found, first)
    names = [[short(seen.called(uid)) for uid in some if uid] for some in (victims, winners)]
    return Message("cluster_loops.part", action=first.action, rules=allow, back=back,
                   victims=names[0], winners=names[1])


def _returns(found: Outcome, one: Eviction) -> Message:
    """That allocate returns the places, by the plugin that puts the job of a victim first."""
    jobs = found.last.jobs if found.last is not None else {}
    queues = [jobs[uid].queue for uid in (one.job, one.winner) if uid in jobs]
    plugin = found.orders.get((one.job, one.winner)) or found.orders.get((*queues,))
    return Message("cluster_loops.order", plugin=plugin) if plugin else Message(
        "cluster_loops.back")


def _times(some: list[Any]) -> Message:
    return Message("times", n=len(some))


def _names(timeline: Timeline, jobs: list[str]) -> Message:
    return Message("names.jobs", names=[timeline.names[job].partition("/")[2]
                                        for job in dict.fromkeys(jobs)])


def _whom(timeline: Timeline, gone: list[Eviction]) -> Message:
    """For which jobs pods were evicted, by which actions, and which plugins allowed it."""
    count = Counter(each.winner for each in gone)
    whom = [Message("evicted.for", times=Message("times", n=number), job=_names(timeline, [job])
                    if job else Message("names.none")) for job, number in count.most_common()]
    if len(count) == 1 and gone[0].winner:
        whom = [Message("evicted.each_time", n=len(gone), job=_names(timeline, [*count]))]
    return Message("evicted.whom", whom=whom, ways=[
        Message("evicted.by" if rules else "evicted.by_action", action=action, rules=[*rules])
        for action, rules in dict.fromkeys((each.action, each.rules) for each in gone)])


def _takers(timeline: Timeline, eviction: Eviction, before: int) -> list[str]:
    """The jobs that were placed on the node of an eviction, where its winner was not placed."""
    placed = [(job, node) for cycle, _, job, node in timeline.placed
              if eviction.cycle < cycle <= before]
    if not eviction.winner or any(job == eviction.winner for job, _ in placed):
        return []
    return [job for job, node in placed if node == eviction.node]


def stranded_cause(timeline: Timeline, uid: str, last: int) -> Cause | None:
    """Return that some pods of a gang stay placed while it is below its minimum: since which cycle,
    and the evictions and placements since then.
    """
    rows = [row for row in timeline.rows.get(uid, ()) if row["cycle"] <= last]
    start = _stranded_since(rows) if rows and rows[-1]["cycle"] == last else None
    if start is None:
        return None
    now, held = rows[-1], _held(rows[-1])
    lost = [each for each in timeline.evictions if each.job == uid and start <= each.cycle <= last]
    others = [job for cycle, _, job, _ in timeline.placed if start <= cycle <= last and job != uid]
    said = [Message("stranded", n=held, cycle=start, least=now["least"]),
            Message("stranded.evicted", whom=_whom(timeline, lost), pods=[
                each.pod.partition("/")[2] for each in lost]) if lost
            else Message("stranded.not_evicted"),
            Message("stranded.placed", jobs=_names(timeline, others)) if others else None]
    return Cause("stranded", said, {"since": start, "held": held, "min_available": now["least"]})


def _stranded_since(rows: list[dict[str, Any]]) -> int | None:
    """The cycle since which some pods are placed, fewer than the minimum; None where that is not
    so, or pipelined pods complete the gang.
    """
    short = list(takewhile(lambda row: 0 < _held(row) < row["least"] - row["ended"],
                           reversed(rows)))
    complete = _held(rows[-1]) + rows[-1]["ended"] + rows[-1]["promised"] >= rows[-1]["least"]
    return None if complete or not short else short[-1]["cycle"]


def _held(row: dict[str, Any]) -> int:
    return row["bound"] + row["running"]
