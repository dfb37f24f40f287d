"""What changes give one job: each is tried in one cycle, over one cache, which receives the changes
and forgets what a cycle decides, and judged by the cycles that follow.

Volcano: none
"""

import re
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import pairwise
from math import inf
from time import perf_counter
from typing import Any, TypeVar

from volcano_lab.api import PIPELINED, RELEASING, JobInfo, Resource
from volcano_lab.api.objects import KubernetesObject, Pod, PodGroup, Queue
from volcano_lab.cache import Cache
from volcano_lab.changes import Change
from volcano_lab.explain import beyond, candidates, head, outcome, owners, promises
from volcano_lab.explain.evidence import Evidence, counts, fails_to_start
from volcano_lab.explain.options import Option, Rank, World
from volcano_lab.explain.outcome import Done, Outcome, TooLate, Watch, silent
from volcano_lab.explain.price import costs, placed_before, price, returning, surplus
from volcano_lab.explain.remedy import Remedy, beside, gains, spared, written
from volcano_lab.framework import SchedulerConfiguration, Session, collector_paused
from volcano_lab.manifests import ManifestError, verdicts
from volcano_lab.messages import Message
from volcano_lab.scheduler import Scheduler
from volcano_lab.trace import POINTS, Names

T = TypeVar("T")

LATE, NOTHING, ADMITTED, PROMISED, PLACED = range(-1, 4)
"""What a cycle gives a job; it is promised places only where no pod leaves these."""
PATIENCE, LIFE = 4, 2
"""A try has 1/`PATIENCE` of the time, the cycles that follow it as much as `LIFE` tries; in a
`LARGE` cluster as much as one.
"""
SUMS = re.compile(r"\.(more|allocatable|overcommit-factor|unschedulable|taints|requests|capability"
                  r"|tolerations|minResources|nodeSelector|affinity|labels)\b")
"""Settings by which allocate alone may place a job: no pod has to be evicted for it."""
FIRST = re.compile(r"(job|queue)/.*\.priority=")
"""A setting by which a job is served before others: with another one, allocate may place it."""


def by_sums(change: Change) -> bool:
    """Whether a change gives a job its places by what is free then, without evictions."""
    rest = [text for text in change.settings if not FIRST.match(text)]
    return all(map(SUMS.search, rest)) and bool(rest or change.removals)


class Trial:
    """Runs cycles for one job; `run` returns what is `read` of the session, which ends where that
    is `enough` after operations of the job, or before one of some actions; it is read of None where
    enqueue did not admit the job: no later action looks at it. Raises `TooLate` at the `end`, a
    moment of the clock.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.framework.config.conf import load_conf
    >>> objects = Cluster().node("n1", cpu=4).job("a", cpu=6).objects()
    >>> trial = Trial(objects, "default/a", None)
    >>> more = [*objects, Cluster().node("n2", cpu=8).objects()[-1]]
    >>> trial.run(more, load_conf(), lambda ssn: ssn.committed), len(trial.cache.nodes)
    ([['allocate', 'default/a-0', 'n2']], 1)
    """

    def __init__(self, objects: Sequence[KubernetesObject], job: str, now: float | None):
        self.objects, self.job, self.now = list(objects), job, now
        with silent():
            self.cache = _Forgetful(self.objects)
        self._ids = {id(obj) for obj in self.objects}

    def run(self, objects: Sequence[KubernetesObject], conf: SchedulerConfiguration,
            read: Callable[[Session | None], T], enough: T | None = None, end: float = inf,
            before: Container[str] = ()) -> T:
        there = {id(obj) for obj in objects}
        new = [obj for obj in objects if id(obj) not in self._ids]
        old = [obj for obj in self.objects if id(obj) not in there]
        following = dict(pairwise(["open", *conf.actions]))
        observer = Watch(end, self.job, lambda ssn: read(ssn) == enough)
        with silent(), suppress(Done):
            self._exchange(old, new)
            try:
                for name, ssn in Scheduler(self.cache, conf).steps(observer, now=self.now):
                    job = ssn.jobs.get(self.job)
                    if name == "enqueue" and job is not None and job.is_pending():
                        return read(None)
                    if following.get(name) in before:
                        break
            finally:
                self._exchange(new, old)
        found = read(observer.ssn)
        vars(observer.ssn).clear()  # without cycles of references it is freed at once
        return found

    def _exchange(self, old: Sequence[KubernetesObject], new: Sequence[KubernetesObject]) -> None:
        """Pods are deleted before, and added after, their PodGroups: one of the same name may be
        created again. The cache takes a changed object even if it has the version that the API
        server gave it.
        """
        kept = {(obj.kind, obj.key) for obj in new}
        for obj in sorted(old, key=lambda obj: obj.kind != "Pod"):
            if obj.kind == "Pod" or (obj.kind, obj.key) not in kept:
                self.cache.delete(obj)
        for obj in sorted(new, key=lambda obj: obj.kind == "Pod"):
            self.cache.update(obj.changed(metadata={"resource_version": ""})
                              if obj.metadata.resource_version else obj)


class _Forgetful(Cache):
    """A cache that takes nothing over from a session, so that the next one begins as this did."""

    def _forget(self, *_: Any, **__: Any) -> None:
        """Pods, PodGroups and queues stay as they are, and events are dropped."""

    evict = add_bind_task = update_job_status = update_queue_status = record_event = _forget


class Tries:
    """Whether one job gets its places by a change, or (`keep`) keeps its pods: until the `end`, a
    moment of the clock, one try after another for at most the `patience`.
    """

    def __init__(self, seen: Evidence, job: JobInfo, pod: str, end: float, patience: float = inf,
                 keep: bool = False):
        self.seen, self.job, self.pod, self.before = seen, job, pod, seen.ssn
        self.end, self.patience, self.keep = end, patience, keep
        self.watched = "" if keep else job.uid  # cycles go on though it has its places
        self.large = len(seen.ssn.nodes) >= outcome.LARGE
        self.world = World(seen.objects, seen.ssn.conf, seen.called)
        self.trial = Trial(seen.objects, job.uid, seen.ssn.now)
        placed, promised, waiting = counts(job)
        self.places = placed + (0 if promises.promise_fails(seen, job) else promised)
        self.lost = bool(job.tasks) and not waiting and not pod
        self.barred = bool(seen.not_created.get(seen.called(job.uid))) or (
            seen.by_others(job))  # its pods are not there once it is admitted
        self._known: dict[Change, int] = {}
        self._loops = False  # whether the change that was judged last evicts again and again

    @cached_property
    def _over(self) -> set[str]:
        """The jobs whose owner has ended, or whose pods do not keep running."""
        return {uid for uid, job in self.before.jobs.items()
                if owners.ended_as(self.seen, job) or fails_to_start(job)}

    @cached_property
    def _ending(self) -> set[str]:
        """What is removed of jobs that end by themselves."""
        return {self.world.owner(uid, False) for uid, job in self.before.jobs.items()
                if uid in self.world.groups and owners.ends(job)}

    @cached_property
    def base(self) -> Outcome:
        """What becomes of the cluster without a change. In a large one promised places count as
        places, as cycles take long.
        """
        leaves = any(job.in_status(RELEASING) for job in self.before.jobs.values())
        if self.keep or ((leaves or outcome.gives(self.before, self.job)) and not self.large):
            return outcome.alone(self.seen, self.end)
        found = Outcome()
        found.add(self.before, self.seen.trace)
        return found

    def as_before(self, after: Outcome) -> bool:
        """Whether a change evicts pods again and again only of jobs that lose them so without it;
        in a large cluster, pods only of queues that do, by the same actions.
        """
        if not self.large:
            return after.again <= outcome.alone(self.seen, self.end).again
        end = self._until(outcome.BY_ITSELF)
        return after.kinds <= self.base.kinds or after.kinds <= outcome.alone(
            self.seen, end, lambda found: after.kinds <= found.kinds).kinds

    def best(self, option: Option) -> int:
        """The best outcome of an option that was seen."""
        changes = map(option.at, {1, option.first, option.steps})
        return max((self._known[change] for change in changes if change in self._known),
                   default=NOTHING)

    @collector_paused()
    def at(self, change: Change) -> int:
        """What a cycle with the change gives the job."""
        if change not in self._known:
            if perf_counter() > self.end:
                return LATE
            try:
                self._known[change] = self._run(
                    *self.world.applied(change), self.large and by_sums(change))
            except ManifestError:
                self._known[change] = NOTHING
            except TooLate:
                self._known[change] = LATE
        return self._known[change]

    def _run(self, objects: Any, conf: SchedulerConfiguration, by_sums: bool = False) -> int:
        """One cycle, without evictions where sums alone decide; where the job has its promise
        already or is evicted, or the cycle places pods of others that later ones may evict, those
        that follow.
        """
        found = NOTHING
        if not (self.keep or self.lost):
            found = self.trial.run(objects, conf, self.gives, PLACED, self._until(),
                                   POINTS if by_sums else ())
            if found == PLACED or self.large or not (
                    POINTS.keys() & conf.actions and outcome.gives(self.before, self.job)):
                return found
        after, uid = outcome.outcome(objects, conf, self.watched, self.before.now, self._until(),
                                     None if self.keep else self.as_before), self.job.uid
        turns = self._keeps(after) if self.keep else after.runs(uid) and (
            after.placed(uid) > self.places and not self._loops_beyond(after))
        return PLACED if turns else found

    def _until(self, tries: int = 1) -> float:
        """Until when a try may take, or what takes as long as a number of `tries`."""
        return min(self.end, perf_counter() + tries * self.patience)

    def gives(self, ssn: Session | None) -> int:
        """Whether the job has its places (or more than it had), or was admitted at least."""
        job = None if ssn is None else ssn.jobs.get(self.job.uid)
        if ssn is None or job is None:
            return NOTHING
        if len(job.in_status(RELEASING)) > len(self.job.in_status(RELEASING)) and not self.pod:
            return NOTHING  # it would lose pods of its own
        starts = bool(job.tasks) and (job.is_ready() or ssn.job_pipelined(job))
        if starts and (sum(counts(job)[:2]) > self.places or self._has_pod(job)):
            return PLACED if job.is_ready() or promises.leaving_for(
                ssn, job.in_status(PIPELINED).values()) else PROMISED
        return ADMITTED if self.job.is_pending() and not job.is_pending() else NOTHING

    def _loops_beyond(self, after: Outcome) -> bool:
        return bool(after.loops) and (after.touches(self.watched) or not self.as_before(after))

    def _keeps(self, after: Outcome) -> bool:
        """Whether fewer pods of the job are evicted than without the change, and none for ever."""
        uid = self.job.uid
        return after.evicted[uid] < self.base.evicted[uid] and uid not in after.again

    def _spares_own(self, after: Outcome) -> bool:
        """Whether no other PodGroup of the job's owner loses pods by evictions."""
        return all(after.evicted[each] <= self.base.evicted[each]
                   for each in self.seen.names.beside(self.job.uid))

    def _has_pod(self, job: JobInfo) -> bool:
        """Whether the pod that is asked about has a place, be it another one's of the job."""
        return any(task.key == self.pod and task.node_name for task in job.tasks.values())

    def _deletes_own(self, change: Change) -> bool:
        """Whether a change deletes pods of the job itself."""
        return any(f"pod/{task.key}" in change.removals for task in self.job.tasks.values())

    def _inadmissible(self, objects: Any) -> bool:
        """Whether Volcano's webhooks would refuse the change by a rule that is not broken yet."""
        before, after = ({(verdict.label, verdict.rule) for verdict in verdicts(
            [obj for obj in some if isinstance(obj, Queue | PodGroup)])}
            for some in (self.seen.objects, objects))
        return bool(after - before)

    def _guaranteed(self, objects: Any) -> Change:
        """What changed queues deserve, raised to their guarantee: Volcano's webhook refuses each
        change of a queue that is guaranteed more.
        """
        raised: list[str] = []
        for obj in objects:
            if isinstance(obj, Queue) and obj is not self.world.queues.get(obj.name):
                deserved, guarantee = (Resource.from_list(amounts or {}) for amounts in (
                    obj.spec.deserved, obj.spec.guarantee.resource))
                raised += [f"queue/{obj.name}.deserved[{name}]={text}"
                           for name, text in (obj.spec.guarantee.resource or {}).items()
                           if guarantee.get(name) > deserved.get(name)]
        return Change(tuple(raised))

    def judged(self, change: Change, rank: int, alike: tuple[Change, ...] = ()) -> Remedy | None:
        """The remedy that a change is, by the cycles that follow it from the manifests on; None
        where the job does not run in the end, or pods are evicted again and again.
        """
        uid = self.job.uid
        try:
            change = candidates.differing(self.world, change)
            tried = self.world.ended(change) if rank == Rank.WAIT else change
            world = self.world.applied(tried)
            if (raised := self._guaranteed(world[0])) != Change():
                change, tried = change + raised, tried + raised
                world = self.world.applied(tried)
            if self._inadmissible(world[0]):
                return None
            if not self.large:  # in a large one what controllers do besides takes too long
                world = tried.given(self.seen.given, self.before.conf)
            had = self.base.placed(uid)
            after = outcome.outcome(*world, self.watched, self.before.now,
                            self._until(1 if self.large else LIFE), self.as_before)
            self._loops = self._loops_beyond(after)
        except (ManifestError, TooLate):
            return None
        job = after.last.jobs.get(uid) if after.last is not None else None
        if job is None or after.rest is None or self._loops or (self.barred and not job.tasks):
            return None
        if not (self._keeps(after) if self.keep else after.runs(uid) and self._spares_own(after)
                and (after.placed(uid) > had or not job.tasks or (
                    self._has_pod(job) and not self._deletes_own(change)))):
            return None
        return self._remedy(change, rank, alike, after, self._again(world[0]))

    def _again(self, objects: Any) -> list[str]:
        """The pods of the job that run, and are created again with a change."""
        runs = {task.key for task in self.job.tasks.values() if task.pod.spec.node_name}
        return [obj.key for obj in objects if obj.key in runs and isinstance(obj, Pod)
                and not obj.spec.node_name]

    def _goes_on(self, change: Change, after: Outcome) -> Iterator[Message]:
        """What a change costs from now on: evictions in further cycles, quotas, guarantees."""
        jobs, late = after.jobs, after.loops or (
            after.gone if self.large and after.cycles > 1 else [])
        if queues := sorted({jobs[each.job].queue for each in late if each.job in jobs}):
            yield Message("cost.goes_on", queues=queues)
        if jobs[self.job.uid].queue != self.job.queue and self.job.queue in self.before.queues:
            yield Message("cost.quota")
        yield from [Message("cost.guarantee", queue=text.partition(".")[0].partition("/")[2])
                    for text in change.settings if ".guarantee" in text
                    and not text.startswith(f"queue/{self.job.queue}.")][:1]

    def _remedy(self, change: Change, rank: int, alike: tuple[Change, ...], after: Outcome,
                again: list[str]) -> Remedy:
        """What a change gives and takes; with it, pods that run are created `again`."""
        assert after.rest is not None and after.last is not None
        uid = self.job.uid
        start = {} if rank == Rank.WAIT else placed_before(self.before)
        if rank == Rank.OTHERS:  # those that are deleted while they wait lose all their pods
            start |= {each: len(job.tasks) for each, job in self.before.jobs.items()
                      if not start[each]}
        cost = price(self.base, after.begun(uid) if self.large else after, start, uid, self._over)
        cost.surplus, cost.owed = surplus(self.before, after.last, uid), (
            after.evicting(uid) == {"reclaim"})
        brings = [*(spared(self.seen, self.base, after, uid) if self.keep else gains(
            self.seen, self.before, after, uid, gone=again))]
        then = beyond.lacks(Evidence(after.rest.session, after.rest.trace, after.rest.world),
                            after.rest.session.jobs[uid].tasks.values()
                            ) if beyond.named(after.rest.session.conf) else None
        lacking = [Message("gains.then", gap=head.gap_of(then, True))] if then else []
        said = [*beside(self.seen, self.job, (change, *alike), [
            key for key in again if f"pod/{key}" not in change.removals])]
        if any(each.code == "gains.no_volume" for each in said):
            brings = []  # its places are not for long
        losses = [*costs(self.seen.called, cost), *returning(self.seen, after.last, (
            uid for uid in cost.evicts if uid in self.before.jobs))]
        return Remedy((*said, *brings, *lacking, *losses, *self._goes_on(change, after)),
                      change, rank, self.world, Names(after.rest.session).called(uid),
                      counts(after.rest.session.jobs[uid])[0], cost, alike,
                      frozenset(change.removals) - self._ending,
                      tuple(dict.fromkeys(written(self.seen, self.job, change))))
