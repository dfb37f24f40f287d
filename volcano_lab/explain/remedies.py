"""What would change the answer: the smallest changes, found by running the cycle again, judged by
the cycles that follow, those that cost others least first.

Volcano: none
"""

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from math import inf
from time import perf_counter

from volcano_lab.api import JobInfo
from volcano_lab.changes import Change
from volcano_lab.explain.beyond import lacks
from volcano_lab.explain.candidates import Candidates, candidates, distinct
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Cause
from volcano_lab.explain.options import SWITCHED, Rank, World, switched
from volcano_lab.explain.order import turn_of
from volcano_lab.explain.outcome import TooLate, alone, outcome, silent
from volcano_lab.explain.price import costs, placed_before, price
from volcano_lab.explain.remedy import Remedy
from volcano_lab.explain.search import LESS, Search
from volcano_lab.explain.tries import PATIENCE
from volcano_lab.manifests.loader import ManifestError
from volcano_lab.messages import Message
from volcano_lab.scheduler import traced
from volcano_lab.trace import short

MOST, ENDS = 5, 2
"""Remedies that are offered, and changes that end the loops of a cluster."""
ENOUGH, SOON = 3, 0.4
"""In a `LARGE` cluster the search ends after this part of its time, once so many are found."""


def remedies_for(seen: Evidence, job: JobInfo, causes: list[Cause], seconds: float = inf,
                 pod: str = "", keep: bool = False) -> Iterator[Remedy]:
    """Changes with which a job that waits runs, or (`keep`) fewer of its pods are evicted, at most
    five: first settings that take nothing from others, then those that take no more than the job's
    size, more nodes and less of the job, each as soon as it is found; then a lower minimum for some
    of its pods, those that break a gang, and last what costs others more than the job requests.
    None after `seconds`.
    """
    soon = perf_counter() + seconds * SOON
    search = Search(seen, job, pod, perf_counter() + seconds, seconds / PATIENCE, keep)
    held: list[Remedy] = []
    taking: list[Remedy] = []
    shown = 0
    for number, remedy in enumerate(search.found(causes), 1):
        if search.large and number == ENOUGH:
            search.end = min(search.end, soon)
        if remedy.price.dear or _splits(remedy, job):
            held.append(remedy)
            continue
        shown += 1
        if _takes(remedy):
            taking.append(remedy)
        else:
            while taking and remedy.rank >= Rank.REQUEST:
                yield taking.pop(0)
            yield remedy
        if shown == MOST:
            break
    yield from taking
    yield from islice(sorted(held, key=lambda each: (each.price.dear, each.rank)), MOST - shown)


def _splits(remedy: Remedy, job: JobInfo) -> bool:
    """Whether a lower minimum places the job with some of its pods only."""
    return remedy.rank == Rank.LESS and remedy.placed < len(job.tasks) and any(
        map(LESS.search, remedy.made.settings))


def _takes(remedy: Remedy) -> bool:
    """Whether a setting takes something from others, or from what the job requests."""
    return Rank.HARMLESS < remedy.rank < Rank.REQUEST and bool(
        remedy.price.takes or remedy.made.removals
        or any(".requests" in text for text in remedy.made.settings))


def sooner(seen: Evidence, order: Cause, jobs: list[JobInfo], seconds: float = inf
           ) -> list[Remedy]:
    """Return changes with which an action serves the second of two jobs before the first, with what
    they cost others; none after `seconds`.
    """
    (first, second), action = jobs, order.records[0].action
    end, now, (other, name) = perf_counter() + seconds, seen.ssn.now, map(
        seen.called, (first.uid, second.uid))
    world, found = World(seen.objects, seen.ssn.conf, seen.called), list[Remedy]()
    for option in Candidates(world, seen.ssn, second).sooner(order, first):
        with suppress(ManifestError, TooLate), silent():
            objects, conf = world.applied(option.most)
            trace, ssn = traced(objects, conf, now=now)
            then = Evidence(ssn, trace, objects)
            turns = [turn.number if turn else inf for each in jobs for turn in [
                turn_of(then, action, ssn.jobs[each.uid])]]
            after = outcome(objects, conf, "", now, end)
            cost = price(alone(seen, end), after, placed_before(seen.ssn), second.uid)
            gain = Message("gains.served", action=action, name=short(name), other=short(other))
            brings = gain, *costs(seen.called, cost)
            found += [Remedy(brings, option.most, option.rank, world, name, price=cost)
                      ] * (turns[1] < turns[0])
    return found


def fitting(seen: Evidence, job: JobInfo, sure: Cause, seconds: float = inf) -> Iterator[Remedy]:
    """Changes with which a node has what a plugin counts that the lab does not model: a mode that
    cards have, the most that one has, if that is at least half of what is requested, or what is
    left once a pod has ended.
    """
    facts, world = sure.numbers, World(seen.objects, seen.ssn.conf, seen.called)
    asked, name = facts.get("asked", facts.get("n", 0)), world.job(job.uid)
    pods = facts["ends"].facts["pods"] if facts.get("ends") else ()
    values = [(f"annotations[{facts['key']}]", mode) for mode in facts.get("modes", ())] + [
        (f"requests[{facts['resource']}]", facts["most"])
        for most in [facts.get("most", 0)] if "resource" in facts and asked <= 2 * most]
    for change in [*(Change((f"{name}.{path}={value}",)) for path, value in values), *(
            Change(removals=(world.owner(task.job, False),)) for task in map(seen.tasks.get, pods)
            if task)]:
        objects, conf = world.applied(change)
        with silent():
            trace, ssn = traced(objects, conf, now=seen.ssn.now)
        tasks = [*ssn.jobs[job.uid].tasks.values()]
        if all(task.node_name for task in tasks) and not lacks(
                Evidence(ssn, trace, objects), tasks):
            yield Remedy((Message("gains.counted"),), change, Rank.WAIT if change.removals else
                         Rank.JOB, world, seen.called(job.uid), len(tasks))


def ends_of(seen: Evidence, loops: Cause, seconds: float = inf) -> Iterator[Remedy]:
    """Changes after which a cluster does not evict again and again, the smallest ones first; none
    after `seconds`.
    """
    end = perf_counter() + seconds
    world = World(seen.objects, seen.ssn.conf, seen.called)
    victim, actions = seen.ssn.jobs[loops.numbers["victims"][0]], loops.numbers["actions"]
    keeper = [switched("drf", SWITCHED[name], False) for name in actions if name in SWITCHED]
    found = 0
    for option in [*distinct(world, keeper), *candidates(world, seen.ssn, victim, [loops], True)]:
        if found == ENDS or option.steps > 1:
            continue
        try:
            after = outcome(*world.applied(option.most), "", seen.ssn.now, end, lambda after: False)
        except (ManifestError, TooLate):
            continue
        if not after.loops:
            found += 1
            yield Remedy((Message("gains.loop_ends"),), option.most, option.rank, world)
