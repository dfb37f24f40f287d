"""What would change the answer: the smallest turn of one number, found by running the cycle again,
and verified by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from attrs import define, field

from volcano_lab.api.job import JobInfo
from volcano_lab.cache import Cache
from volcano_lab.explain.evidence import counts
from volcano_lab.explain.explanation import Cause
from volcano_lab.explain.knobs import Knob, Knobs, Objects
from volcano_lab.framework.config.conf import SchedulerConfiguration
from volcano_lab.framework.session import Session
from volcano_lab.scheduler import Scheduler

Goal = Callable[[Session], bool]


@define(slots=True, frozen=True)
class Remedy:
    """One number that turns the answer: of `what`, in which `field`, from `before` to `after`.

    `effect` says what it brings about. `objects` and `conf` are those with which the cycle ran;
    with one step less (`steps` - 1) the answer stayed.
    """

    what: str
    field: str
    before: str
    after: str
    effect: str
    steps: int
    objects: Objects = field(repr=False, eq=False)
    conf: SchedulerConfiguration = field(repr=False, eq=False)

    def __str__(self) -> str:
        return f"{self.what}: {self.field} {self.before} -> {self.after} ({self.effect})"


def run(objects: Objects, conf: SchedulerConfiguration) -> Session:
    """One cycle, without a trace."""
    return Scheduler(Cache(objects), conf).run_once()


def smallest(turns: Callable[[int], bool], steps: int) -> int | None:
    """The fewest steps that turn the answer: ever more until it turns, then halving back. None
    where none does.

    >>> smallest(lambda step: step >= 11, 100), smallest(lambda step: False, 100), smallest(lambda step: 3 <= step < 7, 100)
    (11, None, 3)
    """
    low, high = 0, 1
    while high < steps and not turns(high):
        low, high = high, min(high * 2, steps)
    if steps < 1 or (high == steps and not turns(high)):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if turns(middle) else (middle, high)
    return high


def remedies_for(objects: Objects, conf: SchedulerConfiguration, job: JobInfo,
                 causes: list[Cause]) -> list[Remedy]:
    """Verified changes for a job that waits; those that give its gang a place, else those that let
    it in.
    """
    knobs = {(knob.what, knob.field, knob.before): knob
             for knob in _knobs(Knobs(objects, conf), job, causes, conf)}
    if job.is_ready():
        goals = [("more of its pods get a place", _more_places(job))]
    else:
        goals = [("its gang gets its places", _has_places(job.uid))]
    if job.is_pending():
        goals.append(("it is let in",
                      lambda ssn: job.uid in ssn.jobs and not ssn.jobs[job.uid].is_pending()))
    for effect, goal in goals:
        found = [
            remedy for knob in knobs.values() if (remedy := _try(knob, goal, effect)) is not None
        ]
        if found:
            return found
    return []


def _try(knob: Knob, goal: Goal, effect: str) -> Remedy | None:
    def turns(step: int) -> bool:
        _, objects, conf = knob.turn(step)
        return goal(run(objects, conf))

    steps = smallest(turns, knob.steps)
    if steps is None:
        return None
    after, objects, conf = knob.turn(steps)
    return Remedy(knob.what, knob.field, knob.before, after, effect, steps, objects, conf)


def _has_places(uid: str) -> Goal:
    def holds(ssn: Session) -> bool:
        job = ssn.jobs.get(uid)
        return job is not None and bool(
            job.tasks) and (job.is_ready() or ssn.job_pipelined(job)) and sum(counts(job)[:2]) > 0

    return holds


def _more_places(job: JobInfo) -> Goal:
    before = sum(counts(job)[:2])
    return lambda ssn: job.uid in ssn.jobs and sum(counts(ssn.jobs[job.uid])[:2]) > before


# -- which knobs for which causes
# ---------------------------------------------------------------------------

QUEUE = {
    "overcommit_refuses": (), "queue_over_capability": ("capability", ), "ancestor_over_capability":
    ("capability", ), "over_deserved": ("capability", "guarantee"), "overused":
    ("capability", "guarantee", "deserved")
}
"""Cause -> the amounts of a queue that may mend it."""


def _knobs(knobs: Knobs, job: JobInfo, causes: list[Cause],
           conf: SchedulerConfiguration) -> Iterator[Knob]:
    codes = {cause.code for cause in causes}
    resources = _resources(job, causes)
    flat = any(option.name == "proportion" for tier in conf.tiers for option in tier.plugins)
    if "queue_closed" in codes:
        yield from knobs.opened(job.queue)
    if codes & {"over_deserved", "overused"} and flat:
        yield from knobs.weight(job.queue)
    for cause in causes:
        level = cause.numbers.get("level", job.queue)
        short = cause.numbers.get("short_of", resources)
        for name in QUEUE.get(cause.code, ()):
            for resource in short:
                yield from knobs.amount(level, name, resource)
            if name == "capability" and len(short) > 1:
                yield from knobs.capability_factor(level)
    if codes & {"queue_over_capability", "ancestor_over_capability", "over_deserved"}:
        for other in knobs.queues:  # what is guaranteed to others is kept from this queue
            for resource in resources if other != job.queue else ():
                yield from knobs.amount(other, "guarantee", resource, -1)
    if "overcommit_refuses" in codes:
        yield from knobs.overcommit_factor()
    if any(code.startswith(("victims_", "reclaim_", "no_reclaim")) for code in codes):
        yield from (knobs.weight(job.queue) if flat else ())
        for resource in resources if not flat else ():
            yield from knobs.amount(job.queue, "deserved", resource)
    if "reclaim_no_candidates" in codes:
        for other in knobs.queues:
            yield from knobs.reclaimable(other)
    for cause in causes:
        if cause.code == "protected_by_gang":
            for other in knobs.groups:
                yield from knobs.min_member(other) if other != job.uid else ()
    yield from knobs.tier(job.uid)
    yield from knobs.min_member(job.uid)
    for resource in resources:
        yield from knobs.request(job.uid, resource)
    if len(resources) > 1:
        yield from knobs.requests(job.uid)
    yield from knobs.nodes()


def _resources(job: JobInfo, causes: Iterable[Cause]) -> list[str]:
    """The resources that causes name, else all that waiting pods ask for."""
    named = [
        name for cause in causes for key in ("short_of", "request")
        for name in cause.numbers.get(key, ())
    ]
    asked = [
        name for task in job.tasks.values() if not task.node_name
        for name, amount in task.init_resreq if amount
    ]
    return [name for name in dict.fromkeys(named or asked) if name != "pods"]
