"""What becomes of a cluster in the cycles that follow, for a job and for those beside it; with what
ends a cycle early.

Volcano: none
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from math import inf
from time import perf_counter
from typing import Any

from attrs import Factory, define

from volcano_lab.api import PIPELINED, JobInfo
from volcano_lab.cache import Cache
from volcano_lab.explain.evidence import Evidence, counts
from volcano_lab.explain.options import Objects
from volcano_lab.framework import Observer, SchedulerConfiguration, Session, collector_paused
from volcano_lab.scheduler import Scheduler, life
from volcano_lab.trace.reading import TraceReader
from volcano_lab.trace.recorder import Turns
from volcano_lab.trace.views.cycle import Cycle

CYCLES = 12
"""The most that are run to see what a change is worth."""
LARGE, SECONDS, QUIET, STAYS = 50, 1.0, 1, 2
"""In a cluster of at least `LARGE` nodes, what becomes of it takes at most `SECONDS`, evicted pods
end at once, and fewer cycles are enough: `QUIET` without evictions, or `STAYS` in which a job keeps
its nodes while the cluster evicts as it does without a change.
"""
EVICTIONS = 100
"""In a `LARGE` one it is not known whether a promise is kept once later cycles evict more pods."""
LATE, BY_ITSELF = 2, 4
"""Evictions in the last `LATE` cycles have no end; in `BY_ITSELF` cycles a `LARGE` cluster shows
what it repeats without a change.
"""


class TooLate(BaseException):  # no error that anything in a cycle could handle
    """A cycle has run beyond its deadline."""


class Deadline(Observer):
    """Ends a cycle with `TooLate`: at a moment of the clock, or after `evictions` that a `Watch`
    counts.
    """

    watching = watches_attempts = False
    evictions = inf

    def __init__(self, end: float):
        self.end = end

    def _look(self, *_: Any, **__: Any) -> None:
        # what is read of a session after its actions takes as long as it does
        if self._action != "close" and (perf_counter() > self.end or self.evictions < 0):
            raise TooLate

    plugin_done = note = popped = did = _look


class Done(BaseException):
    """The job has its places."""


class Watch(Deadline):
    """Ends a cycle also with `Done`, where `done` holds as operations of the job are committed:
    what the cycle does after that is not read.
    """

    def __init__(self, end: float, job: str, done: Callable[[Session], bool]):
        super().__init__(end)
        self.job, self.done = job, done

    def opened(self, ssn: Session) -> None:
        self.ssn = ssn

    def committed(self, statement: Any, operation: Any) -> None:
        self.evictions -= operation.name == "evict"
        if operation.task.job == self.job and self.done(self.ssn):
            raise Done


@contextmanager
def silent() -> Iterator[None]:
    """Run without log lines: the first cycle has written them."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with collector_paused():
            yield
    finally:
        logging.disable(before)


def run(objects: Objects, conf: SchedulerConfiguration, now: float | None = None,
        observer: Observer | None = None) -> Session:
    """One cycle over a cache of its own."""
    with silent():
        return Scheduler(Cache(objects), conf).run_once(observer, now=now)


@define(slots=True, frozen=True)
class Eviction:
    """In `cycle`, `action` evicted `pod` of `job` from `node` for a pod of the job `winner` (""
    where it evicts for none), as the plugins `rules` allowed it.
    """

    cycle: int
    pod: str
    job: str
    node: str
    action: str
    winner: str
    rules: tuple[str, ...] = ()


@define(slots=True)
class Outcome:
    """Some cycles: the first one at `rest`, the first session and the last; by job, the most pods
    that were evicted of it, the fewest that it had, those `given` a place after an eviction, and
    how many it has `since` which cycle.
    All `evictions`, how many cycles in a `row` evicted, or did not, like the last one, for how many
    a job `stays` in its places, and by two jobs or queues that allocate served one after the other,
    the plugin that `orders` them.
    """

    rest: Cycle | None = None
    first: Session | None = None
    last: Session | None = None
    cycles: int = 0
    evicted: Counter[str] = Factory(Counter)
    fewest: dict[str, int] = Factory(dict)
    since: dict[str, tuple[int, int]] = Factory(dict)
    given: Counter[str] = Factory(Counter)
    evictions: list[Eviction] = Factory(list)
    row: int = 0
    stays: int = 0
    orders: dict[tuple[str, ...], str] = Factory(dict)

    def add(self, ssn: Session, trace: TraceReader) -> None:
        """Count in what a cycle did."""
        before, self.cycles = bool(self.gone), self.cycles + 1
        self._take(ssn)
        jobs = {task.key: uid for uid, job in ssn.jobs.items() for task in job.tasks.values()}
        why = {pod: (record.action, record.get("task")) for record in trace.iter("victims")
               for pod in record["chosen"]}
        gone = []
        for done, key, node, *_ in ssn.committed:
            if done == "evict" and key in jobs:
                action, winner = why.get(key, ("", ""))
                gone.append(Eviction(self.cycles, key, jobs[key], node, action,
                                     jobs.get(winner, "")))
            elif done == "allocate" and key in jobs and self.evictions:
                self.given[jobs[key]] += 1
        self.orders.update(((record[what], record["next"]), record["decided_by"][0])
                           for what in ("queue", "job") for record in trace.iter(what)
                           if record.action == "allocate" and record["decided_by"])
        self.evicted.update(each.job for each in gone)
        self.row = self.row + 1 if bool(gone) == before else 1
        self.evictions += gone
        for uid, job in ssn.jobs.items():
            here = counts(job)[0]
            self.fewest[uid] = min(here, self.fewest.get(uid, here))
            if here != self.since.get(uid, (-1, 0))[0]:
                self.since[uid] = here, self.cycles

    def _take(self, ssn: Session) -> None:
        """Keep the first session, the one at rest and the last; free others at once."""
        if self.last not in (None, self.first, self.rest and self.rest.session):
            vars(self.last).clear()  # without cycles of references, as in `Trial.run`
        self.first, self.last = self.first or ssn, ssn

    @property
    def jobs(self) -> dict[str, JobInfo]:
        """The jobs of the last session."""
        return self.last.jobs if self.last is not None else {}

    def placed(self, uid: str) -> int:
        """How many pods of a job are placed in the end."""
        job = self.jobs.get(uid)
        return counts(job)[0] if job is not None else 0

    def runs(self, uid: str) -> bool:
        """Whether a job has its minimum in the end; one without pods, whether it was admitted."""
        job = self.jobs.get(uid)
        return job is not None and uid not in self.again and (
            job.is_ready() and counts(job)[0] > 0 if job.tasks else not job.is_pending())

    @property
    def gone(self) -> list[Eviction]:
        """The evictions of the last cycle."""
        return [each for each in self.evictions if each.cycle == self.cycles]

    @property
    def loops(self) -> list[Eviction]:
        """The evictions of pods that are evicted again, and those that have no end."""
        often = Counter(each.pod for each in self.evictions)
        endless = self.row >= LATE and self.cycles == CYCLES
        return [each for each in self.evictions
                if often[each.pod] > 1 or (endless and each.cycle == self.cycles)]

    @property
    def again(self) -> set[str]:
        """The jobs whose pods are evicted again and again, of those that are there in the end."""
        return {each.job for each in self.loops if each.job in self.jobs}

    @property
    def kinds(self) -> set[tuple[str, str]]:
        """The kinds of all evictions: the action, and the queue that loses pods."""
        return {(each.action, self.jobs[each.job].queue) for each in self.evictions
                if each.job in self.jobs}

    def evicting(self, uid: str) -> set[str]:
        """The actions that evict pods for a job."""
        return {each.action for each in self.evictions if each.winner == uid}

    def begun(self, uid: str) -> Outcome:
        """The first cycle, with all evictions for a job: the others go on without a change."""
        assert self.first is not None
        found = Outcome(first=self.first, last=self.first, cycles=1)
        found.evicted.update(each.job for each in self.evictions
                             if each.cycle == 1 or each.winner == uid)
        taken = {each.job for each in self.evictions if each.winner == uid}
        found.fewest = {job.uid: self.fewest[job.uid] if job.uid in taken else counts(job)[0]
                        for job in self.first.jobs.values()}
        return found

    def touches(self, uid: str) -> bool:
        """Whether pods are evicted again and again of a job, or for it."""
        return any(uid in (each.job, each.winner) for each in self.loops)


def future(seen: Evidence) -> Outcome | None:
    """What becomes of the cluster as it is; None where its objects are not known. In a large one
    only until the job that is asked about is bound, and nothing where that takes too long, later
    cycles evict many pods, or about none, unless it is known.
    """
    if seen.future is None and seen.objects:
        about, known = getattr(seen.trace, "about", ""), seen.alone
        if len(seen.ssn.nodes) < LARGE:
            seen.future = alone(seen)
        elif not about:
            return known[0] if known and known[0].cycles >= BY_ITSELF else Outcome()
        else:
            seen.future = Outcome()
            with suppress(TooLate):
                seen.future = outcome(seen.objects, seen.ssn.conf, "", seen.ssn.now,
                                      perf_counter() + SECONDS, ran=_ran(seen), bound=about)
    return seen.future


def alone(seen: Evidence, end: float = inf, enough: Callable[[Outcome], bool] = lambda found: False
          ) -> Outcome:
    """What the cluster repeats without a change: a few cycles in a large one, until they are
    `enough` or the time is over. They go on where they stopped.
    """
    large, ran = len(seen.ssn.nodes) >= LARGE, seen.fresh
    if seen.alone is None:
        watch, before = Deadline(end), _ran(seen) if ran else None
        cycles = life(seen.objects, seen.ssn.conf, seen.ssn.now, BY_ITSELF if large else CYCLES,
                      Turns, large, observer=watch, ran=before[0] if before else None)
        seen.alone = Outcome(), watch, cycles
    found, watch, cycles = seen.alone
    watch.end = end
    with silent(), suppress(TooLate):
        while not enough(found) and (cycle := next(cycles, None)) is not None:
            found.add(cycle.session, cycle.trace if found.cycles or not ran else seen.trace)
    return found


def _ran(seen: Evidence) -> tuple[Session, TraceReader] | None:
    """The first cycle, whose cache is changed: once."""
    first, seen.fresh = seen.fresh, False
    return (seen.ssn, seen.trace) if first else None


def outcome(objects: Objects, conf: SchedulerConfiguration, uid: str, now: float | None = None,
            end: float = inf, as_before: Callable[[Outcome], bool] | None = None, bound: str = "",
            ran: tuple[Session, TraceReader] | None = None, together: bool = False) -> Outcome:
    """Run cycles until a job has its places and no pod leaves, the job `bound`
    has no promises, or nothing changes any more; with `as_before`, whether pods are evicted as they
    are without a change, until others are a second time. `ran`: the first cycle, if it has run, see
    `life`; `together`: all evicted pods end before the next cycle. Raises `TooLate` at the `end`, a
    moment of the clock.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.framework.config.conf import load_conf
    >>> cluster = Cluster().node("n1", cpu=4).job("a", cpu=3)
    >>> found = outcome(cluster.objects(), load_conf(), "default/a")
    >>> found.runs("default/a"), found.cycles
    (True, 1)
    """
    found, large = Outcome(), is_large(objects)
    observer = Watch(end, bound, lambda ssn: _is_bound(ssn, bound)) if bound else Deadline(end)
    observer.evictions = EVICTIONS
    with silent(), suppress(Done):
        for cycle in life(objects, conf, now, CYCLES, Turns, large or together, observer,
                          ran=ran[0] if ran else None):
            found.add(cycle.session, cycle.trace if found.cycles or not ran else ran[1])
            if found.rest is None and cycle.rests:
                found.rest = cycle
            if _is_over(found, cycle, uid, large, as_before):
                break
    if isinstance(observer, Watch) and observer.ssn is not found.last:
        found.last, found.cycles = observer.ssn, found.cycles + 1
    return found


def _is_over(found: Outcome, cycle: Cycle, uid: str, large: bool,
             as_before: Callable[[Outcome], bool] | None) -> bool:
    """Whether further cycles show nothing more of a job and of the evictions."""
    gone, is_bound = found.gone, cycle.rests and _is_bound(cycle.session, uid)
    calm = not gone and found.row >= (QUIET if large else CYCLES)
    if is_bound and (calm or not found.evictions):
        return True  # no pod was evicted for it, or none is evicted any more
    if as_before is None:
        return False
    if found.loops and (found.touches(uid) or not as_before(found)):
        return True
    touched = any(uid in (each.job, each.winner) for each in gone)
    found.stays = found.stays + 1 if is_bound and not touched else 0
    return large and (as_before(found) if found.stays >= STAYS else
                      found.cycles > STAYS and not found.stays)


def gives(ssn: Session, job: JobInfo) -> bool:
    """Return whether a cycle places pods of other jobs than one."""
    own = {task.key for task in job.tasks.values()}
    return any(done == "allocate" and key not in own for done, key, *_ in ssn.committed)


def _is_bound(ssn: Session, uid: str) -> bool:
    job = ssn.jobs.get(uid)
    return job is not None and bool(job.tasks and job.is_ready() and not job.in_status(PIPELINED))


def is_large(objects: Objects) -> bool:
    """Whether a cluster has at least `LARGE` nodes, so that each cycle takes long."""
    return sum(obj.kind == "Node" for obj in objects) >= LARGE
