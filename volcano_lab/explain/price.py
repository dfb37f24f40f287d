"""What a change costs others: what becomes of all jobs in the cycles that follow, with it and
without.

Volcano: none
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from math import inf
from time import perf_counter
from typing import Any

from attrs import Factory, define

from volcano_lab.api import JobInfo, Resource, status, total
from volcano_lab.explain import options, owners
from volcano_lab.explain.evidence import Evidence, counts
from volcano_lab.explain.outcome import LARGE, Outcome, TooLate, is_large, outcome
from volcano_lab.explain.promises import leaving_for
from volcano_lab.framework import SchedulerConfiguration, Session
from volcano_lab.messages import Message
from volcano_lab.trace import Names, short
from volcano_lab.trace.views.comparison import Later

NAMED = 3
"""Jobs that are named with what a change takes from them; of more the sum."""
SECONDS = 4.0
"""In a large cluster, what becomes of it has so long, with a change and without."""
World = tuple[options.Objects, SchedulerConfiguration]


@define(slots=True)
class Price:
    """What a change costs others, by job: pods evicted, or ended with their job; gangs that fall
    below their minimum (the pods that are left, the minimum), `torn` unless these are of one pod or
    leave as a whole for a higher priority; jobs that wait instead, or have fewer pods (then,
    before); those of a `higher` priority that lose some, unless the job's is `raised`. `share` is
    how much of the cluster that is, `own` what the job and others gain, of which some waited and
    `start`; of nodes that are bought, `surplus` are not for the job. `owed`: reclaim alone evicts
    for it, from queues that hold more than they deserve.
    """

    evicts: dict[str, int] = Factory(dict)
    ends: dict[str, int] = Factory(dict)
    breaks: dict[str, tuple[int, int]] = Factory(dict)
    torn: bool = False
    waits: list[str] = Factory(list)
    fewer: dict[str, tuple[int, int]] = Factory(dict)
    higher: list[str] = Factory(list)
    raised: bool = False
    starts: list[str] = Factory(list)
    share: float = 0.0
    own: float = 0.0
    surplus: int = 0
    owed: bool = False

    def as_dict(self, called: Callable[[str], str]) -> dict[str, Any]:
        """The price as plain data, jobs by their names; gangs that break with the pods that are
        left, and their minimum; jobs with fewer pods with how many then and before.
        """
        return {"evicts": {called(uid): count for uid, count in self.evicts.items()},
                "ends": {called(uid): count for uid, count in self.ends.items()},
                "breaks": {called(uid): list(pair) for uid, pair in self.breaks.items()},
                "waits": [called(uid) for uid in self.waits],
                "fewer": {called(uid): list(pair) for uid, pair in self.fewer.items()}}

    @property
    def takes(self) -> bool:
        """Whether others lose pods, or wait instead."""
        return bool(self.evicts or self.ends or self.waits or self.fewer)

    @property
    def dear(self) -> int:
        """0 where others lose no more than is gained, 1 where a gang is torn or a job of a higher
        priority loses pods, 2 where others lose more, or most of what is bought is for them.
        """
        return 2 if self.surplus or self.share > self.own * 1.001 else int(
            bool(self.higher) or self.torn)


def surplus(before: Session, after: Session, uid: str) -> int:
    """How many nodes are added beside those that a job needs, where that is more than these."""
    job, added = after.jobs[uid], after.nodes.keys() - before.nodes.keys()
    needed = len(added & {task.node_name for task in job.tasks.values()}) or job.min_available
    return len(added) - needed if len(added) > 2 * max(needed, 1) else 0


def placed_before(ssn: Session) -> dict[str, int]:
    """How many pods of each job had a place when a cycle began."""
    return {uid: sum(bool(task.pod.spec.node_name) for task in job.tasks.values())
            for uid, job in ssn.jobs.items()}


def price(before: Outcome, after: Outcome, start: dict[str, int], uid: str = "",
          over: Collection[str] = ()) -> Price:
    """What others lose, or without a job all, beyond what they lose without the change; `start` is
    how many pods of each job had a place before any cycle (of those that end by themselves: none).
    The end of jobs that are `over` costs nothing.
    """
    assert before.last is not None and after.last is not None
    whole = after.last.total_resource
    own = before.last.jobs.get(uid) or after.last.jobs.get(uid)
    found = Price(own=inf if own is None else _share(own, whole))
    found.raised = own is not None and after.last.jobs.get(uid, own).priority > own.priority
    left_out = _left_out(after.last)
    for other, job in before.last.jobs.items():
        if other in left_out:
            continue
        now = after.last.jobs.get(other)
        part = _share(job, whole) / max(len(job.tasks), 1)
        if now is None:
            runs = sum(task.status not in status.COMPLETED_STATUSES for task in job.tasks.values())
            if ended := min(start.get(other, 0), runs):
                found.ends[other] = ended
                found.share += part * ended * (other not in over)
            continue
        gone = after.evicted[other] - before.evicted[other]
        if gone > 0:
            found.evicts[other] = gone
        was, then = _placed(before.last, job), _placed(after.last, now)
        less = was - then
        if other == uid or (gone <= 0 and less < 0):
            found.own -= part * less * (other != uid)
            found.starts += [other] * (other != uid and not was)
        elif gone > 0:
            had = min(start.get(other, 0), before.fewest.get(other, 0))
            above = job.priority - own.priority if own is not None else 0
            _evicted(found, job, gone, (had, after.fewest.get(other, 0)), above, part)
        elif less > 0:
            found.share += part * less
            if then:
                found.fewer[other] = then, was
            elif now.tasks:
                found.waits.append(other)
            else:  # nothing creates its pods again
                found.ends[other] = less
    return found


def _placed(ssn: Session, job: JobInfo) -> int:
    """How many pods of a job are placed, or pipelined to nodes that pods leave."""
    placed, promised, _ = counts(job)
    leave = leaving_for(ssn, job.in_status(status.PIPELINED).values())
    return placed + promised * bool(leave)


def _evicted(found: Price, job: JobInfo, gone: int, had_left: tuple[int, int], above: int,
             part: float) -> None:
    """Count the pods that are evicted of another job, which is `above` the own one in priority, and
    the gang that falls below its minimum; `part`: what one of its pods is of the cluster.
    """
    (had, left), least = had_left, job.min_available
    found.higher += [job.uid] * (above > 0)
    found.share += part * min(gone, len(job.tasks))
    if len(job.tasks) > 1 and had >= least > left:
        found.breaks[job.uid] = left, least
        found.torn |= least > 1 and (above >= 0 or left > 0)
        found.share += part * max(had - gone, 0)


def _left_out(ssn: Session) -> set[str]:
    """The jobs that a cycle leaves out, as their queue is gone: their pods run on."""
    return {reason.facts["name"] for reason in ssn.snapshot.jobs_left_out}


def _share(job: JobInfo, whole: Resource) -> float:
    """The largest part that a job's pods ask for of any resource of the cluster."""
    asked = total(task.resreq for task in job.tasks.values())
    return max((amount / whole.get(name) for name, amount in asked
                if name != "pods" and whole.get(name)), default=0.0)


def costs(called: Callable[[str], str], cost: Price) -> Iterator[Message]:
    """What a change takes from others."""
    broken = dict(islice(cost.breaks.items(), NAMED))
    for uid, (left, least) in broken.items():
        gone = cost.evicts[uid]
        yield Message("cost.breaks", n=gone, pods=left + gone, least=least, job=short(called(uid)))
    yield from _of_jobs(called, "cost.ends", cost.ends)
    yield from _of_jobs(called, "cost.evicts", {uid: count for uid, count in cost.evicts.items()
                                                if uid not in broken})
    higher = [] if cost.raised else cost.higher
    for code, uids in (("cost.higher", higher), ("cost.waits", cost.waits)):
        if uids:
            yield Message(code, n=len(uids), names=[short(called(uid)) for uid in uids])
    parts = [Message("cost.placed", job=short(called(uid)), then=then, was=was)
             for uid, (then, was) in cost.fewer.items()]
    yield from [Message("cost.fewer", parts=parts)] * bool(parts)
    if cost.surplus:
        yield Message("cost.surplus", n=cost.surplus)
    elif cost.dear > 1:
        yield Message("cost.dear")


def returning(seen: Evidence, after: Session, uids: Iterable[str]) -> Iterator[Message]:
    """Yield what becomes of evicted pods: by a policy of their Job, or whether their owner creates
    them again, and how many wait in the end.
    """
    waits, bare = list[int](), False
    for was, now in ((seen.ssn.jobs[uid], after.jobs[uid]) for uid in uids if uid in after.jobs):
        if policy := owners.on_event(seen, was, "PodEvicted"):
            yield Message(f"cost.{policy.code}", **policy.facts)
        elif owners.is_single(was):
            bare = True
        elif owners.kind_of(was):
            waits.append(max(counts(now)[2] - counts(was)[2], 0))
    if waits and len(after.nodes) < LARGE:  # else the last cycles have not run
        yield Message(f"cost.returns.{'waits' if sum(waits) else 'placed'}", n=sum(waits))
    yield from [Message("cost.returns.lost")] * bare


def _of_jobs(called: Callable[[str], str], code: str, counts: dict[str, int]) -> Iterator[Message]:
    parts = [Message("cost.pods", n=count, job=short(called(uid))) for uid, count in counts.items()]
    if len(parts) > NAMED:
        parts = [Message("cost.pods_of", n=sum(counts.values()), jobs=len(parts))]
    if parts:
        yield Message(code, parts=parts)


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
              if was.placed(uid) != then.placed(uid) and uid not in _left_out(then.last)}
    return Later(placed, {**cost.as_dict(names.__getitem__), "again": again}, said, then.cycles)
