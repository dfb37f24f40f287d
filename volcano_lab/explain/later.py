"""Who is hurt by a change: what becomes of all jobs in the cycles that follow, with it and without.

Volcano: none
"""

from __future__ import annotations

from math import inf
from time import perf_counter

from volcano_lab.explain.evidence import counts
from volcano_lab.explain.options import Objects
from volcano_lab.explain.outcome import is_large, outcome, placed_before, price
from volcano_lab.explain.remedy import costs
from volcano_lab.explain.trial import TooLate
from volcano_lab.framework import SchedulerConfiguration
from volcano_lab.messages import Message
from volcano_lab.trace import Names, short
from volcano_lab.trace.views.comparison import Later

SECONDS = 4.0
"""In a large cluster, what becomes of it has so long, with a change and without."""
World = tuple[Objects, SchedulerConfiguration]


def later(before: World, after: World, now: float | None) -> Later:
    """Return what becomes of jobs with a change (`after`) and without it (`before`), each of them
    objects and a configuration; that it takes too long, where it does in a large cluster.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.framework.config.conf import load_conf
    >>> worlds = [(Cluster().node("n1", cpu=cpu).job("a", cpu=2).objects(), load_conf())
    ...           for cpu in (4, 1)]
    >>> later(*worlds, None).costs["waits"]
    ['default/a']
    """
    try:
        was, then = (outcome(objects, conf, "", now, perf_counter() + SECONDS
                             if is_large(objects) else inf) for objects, conf in (before, after))
    except TooLate:
        return Later(said=[Message("later.late")])
    assert was.first is not None and was.last is not None and then.last is not None
    names = Names(was.last).jobs | Names(then.last).jobs
    cost = price(was, then, placed_before(was.first))
    again = [names[uid] for uid in sorted(then.again - was.again)]
    said = [*costs(names.__getitem__, cost),
            *([Message("cost.again", n=len(again), names=again)] if again else [])]
    for uid, job in then.last.jobs.items():
        _, promised, waits = counts(job)
        facts = {"job": short(names[uid]), "queue": job.queue, "pods": len(job.tasks)}
        said += [Message("later.waits", n=waits, **facts)] * bool(waits and uid in cost.evicts)
        said += [Message("later.promised", n=promised, **facts)] * bool(promised)
    placed = {names[uid]: [was.placed(uid), then.placed(uid)] for uid in names
              if was.placed(uid) != then.placed(uid)}
    return Later(placed, {**cost.as_dict(names.__getitem__), "again": again}, said, then.cycles)
