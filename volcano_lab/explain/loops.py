"""What only several cycles show: pods that are evicted over and over, what ends that, and gangs of
which some pods hold their places without the rest.

Answers to no Go file. Volcano keeps no promise from one cycle to the next: the room that an
eviction makes is given anew, so that it may go back to whom it was taken from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING, Any

from volcano_lab.api import total
from volcano_lab.changes import Change
from volcano_lab.explain import values
from volcano_lab.explain.candidates import above, in_order, keeping, switched, without_action
from volcano_lab.explain.explanation import Cause
from volcano_lab.explain.options import Option, World, once
from volcano_lab.explain.remedies import Remedy, smallest
from volcano_lab.messages import listed
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
    pods = listed([f"{pod.partition('/')[2]} in cycle{'s' * (len(when) > 1)} {', '.join(when)}"
                   for pod, when in cycles.items()], 3)
    parts = [f"Its pods were evicted {len(gone)} times ({pods}), {_by_whom(timeline, gone)}."]
    if takers:
        jobs = [job for _, took in takers for job in took]
        parts.append(f"{_times(len(takers))} the room went to {_names(timeline, jobs)} before "
                     f"{_names(timeline, [each.winner for each, _ in takers])} got a place: what "
                     "an eviction frees is given anew in a later cycle, in the order of that one.")
    winners = {each.winner for each in gone}
    turn = [each for each in timeline.evictions
            if each.job in winners and each.winner == uid and each.cycle <= last]
    if turn:
        parts.append(f"In turn, pods of {_names(timeline, [each.job for each in turn])} were "
                     f"evicted for it {_times(len(turn)).lower()}.")
    return Cause("evicted_again", " ".join(parts), {
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
            text = (f"Room was made for it {_times(len(made)).lower()}. Of job "
                    f"{_names(timeline, [victim])}: {cause.text}")
            yield victim, Cause("room_taken", text, cause.numbers)


def _times(count: int) -> str:
    return "Once" if count == 1 else f"{count} times"


def _names(timeline: Timeline, jobs: list[str]) -> str:
    return listed([timeline.names[job].partition("/")[2] for job in dict.fromkeys(jobs)], 3)


def _by_whom(timeline: Timeline, gone: list[Eviction]) -> str:
    """For whom, by which actions, and which plugins let it go."""
    count = Counter(each.winner for each in gone)
    whom = listed([f"for {_names(timeline, [job]) if job else 'nobody'} {_times(number).lower()}"
                   for job, number in count.most_common()], 3)
    if len(count) == 1 and gone[0].winner:
        whom = f"{'each time ' * (len(gone) > 1)}for {_names(timeline, list(count))}"
    them = "them" if len(gone) > 1 else "it"
    ways = Counter((each.action, each.rules) for each in gone)
    return f"{whom}, by " + " and by ".join(
        action + (f", as {' and '.join(rules)} let {them} go" if rules else "")
        for action, rules in ways)


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
    since = None
    for row in reversed(rows if rows and rows[-1]["cycle"] == last else ()):
        if not _held(row) or _held(row) + row["ended"] >= row["least"]:
            break
        since = row
    if since is None or _held(rows[-1]) + rows[-1]["ended"] + rows[-1]["promised"] >= rows[-1][
            "least"]:
        return None
    now, start, held = rows[-1], since["cycle"], _held(rows[-1])
    text = (f"It is stranded since cycle {start}: {held} of its pods hold{'s' if held == 1 else ''}"
            f" a place, its minimum is {now['least']}.")
    before = [row for row in rows if row["cycle"] < start]
    lost = [each for each in evictions_of(timeline, uid, last) if each.cycle >= start]
    if lost:
        names = listed([each.pod.partition("/")[2] for each in lost], 3)
        text += f" Evicted since then: {names}, {_by_whom(timeline, lost)}."
    elif not before:
        text += " So it was from the first cycle that was seen."
    elif _held(before[-1]) + before[-1]["ended"] >= now["least"]:
        text += " None of its pods was evicted then: they failed, were deleted, or lost their node."
    else:
        text += " It did not have its minimum before."
    others = [job for cycle, _, job, _ in timeline.placed if start <= cycle <= last and job != uid]
    text += f" Placed since then: {_names(timeline, others)}." if others else ""
    return Cause("stranded", text, {"since": start, "held": held, "min_available": now["least"]})


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
            yield Remedy(world.told(change),
                         _effect(after, uid, last, before), change, option.rank, world,
                         world.called(uid), _places(after, uid, last))


def _places(timeline: Timeline, uid: str, last: int) -> int:
    """How many pods of a job have a place, or have ended, at the end of a cycle."""
    rows = [row for row in timeline.rows.get(uid, ()) if row["cycle"] <= last]
    return _held(rows[-1]) + rows[-1]["ended"] if rows else 0


def _effect(after: Timeline, uid: str, last: int, before: list[Eviction]) -> str:
    """What becomes of the job and of those for whom it was evicted."""
    name, places = _names(after, [uid]), _places(after, uid, last)
    if not before:
        return f"{name} has {places} pod{'s' * (places != 1)} placed"
    count = len(evictions_of(after, uid, last))
    parts = [f"{name} is evicted {_times(count).lower()} instead of {len(before)}"
             f"{'' if places else ', and then waits'}"]
    winner = Counter(each.winner for each in before).most_common(1)[0][0]
    placed = [cycle for cycle, _, job, _ in after.placed if job == winner]
    if winner in after.names:
        who = _names(after, [winner])
        parts.append(f"{who} gets a place in cycle {placed[0]}" if placed else f"{who} waits")
    return "; ".join(parts)


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
