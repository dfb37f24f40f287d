"""What would change the answer: the smallest changes, found by running the cycle again, judged by
the cycles that follow, those that cost others least first.

Volcano: none
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from math import inf
from time import perf_counter

from volcano_lab.api import RELEASING, JobInfo
from volcano_lab.explain.conf_options import keeping, switched, with_plugin, without_action
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Cause
from volcano_lab.explain.options import Rank, World, once
from volcano_lab.explain.outcome import Outcome, price, ready
from volcano_lab.explain.remedy import Remedy, costs
from volcano_lab.explain.search import PATIENCE, Search
from volcano_lab.explain.trial import Deadline, TooLate, run
from volcano_lab.messages import Message
from volcano_lab.trace import short

MOST = 5
"""Remedies that are offered."""


def remedies_for(seen: Evidence, job: JobInfo, causes: list[Cause], seconds: float | None = None,
                 pod: str = "") -> Iterator[Remedy]:
    """Changes with which a job that waits runs, at most five: first those that hurt nobody beyond
    the job's size, each as soon as it is found, those that change least before others; then those
    that break a gang, and last what costs others more than the job is. None after so many
    `seconds`.
    """
    end = inf if seconds is None else perf_counter() + seconds
    search = Search(seen, job, pod, end, inf if seconds is None else seconds / PATIENCE)
    held: list[Remedy] = []
    told = 0
    for remedy in search.found(causes):
        if remedy.price.dear:
            held.append(remedy)
            continue
        told += 1
        yield remedy
        if told == MOST:
            break
    yield from islice(sorted(held, key=lambda each: (each.price.dear, each.rank)), MOST - told)


def remedies_that_spare(seen: Evidence, key: str, causes: list[Cause],
                        seconds: float | None = None) -> Iterator[Remedy]:
    """Changes of the configuration with which a job loses fewer pods than this one and others."""
    end = inf if seconds is None else perf_counter() + seconds
    world = World(seen.objects, seen.ssn.conf, seen.called)
    uid = seen.trace.start["tasks"][key]["job"]
    lost, name = len(seen.ssn.jobs[uid].in_status(RELEASING)), short(seen.called(uid))
    queue, action = seen.ssn.jobs[uid].queue, causes[0].records[-1]["action"]
    unasked = ["priority"] if action == "preempt" else [
        plugin for cause in causes for plugin in cause.numbers.get("later", ())]
    reclaimable = queue in world.queues and world.queues[queue].spec.reclaimable is not False
    for option in chain(
            *(with_plugin(world, plugin) for plugin in unasked),
            [once(f"queue/{queue}.reclaimable=false", rank=Rank.SWITCH)] if (
                action == "reclaim" and reclaimable) else [],
            switched(world, "gang", "enableJobStarving", True), keeping(world, action),
            without_action(world, action)):
        try:
            ssn = run(*world.applied(option.most), seen.ssn.now, Deadline.at(end))
        except TooLate:
            return
        fewer = len(ssn.jobs[uid].in_status(RELEASING))
        if fewer < lost:
            before, after = Outcome(), Outcome()
            before.add(seen.ssn)
            after.add(ssn)
            code = "gains.loses" if fewer else "gains.loses_none"
            brings = (Message(code, n=fewer, name=name, before=lost),
                      *costs(seen, price(before, after, {}, uid)))
            yield Remedy(world.told(option.most), brings, option.most, option.rank, world,
                         seen.called(uid), ready(ssn.jobs[uid]))
