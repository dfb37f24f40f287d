"""Cycles on changed objects: run over one cache, which receives the changes and forgets what a
cycle decides; a cycle that has refused the job ends there.
"""

import logging
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from math import inf
from time import perf_counter
from typing import Any, TypeVar

from volcano_lab.api.objects import KubernetesObject
from volcano_lab.cache import Cache
from volcano_lab.framework import Observer, SchedulerConfiguration, Session, collector_paused
from volcano_lab.scheduler import Scheduler

T = TypeVar("T")


def run(objects: Sequence[KubernetesObject], conf: SchedulerConfiguration,
        now: float | None = None, observer: Observer | None = None) -> Session:
    """One cycle over a cache of its own."""
    with silent():
        return Scheduler(Cache(objects), conf).run_once(observer, now=now)


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
        """Pods are deleted before, and added after, their PodGroups. The cache takes a changed
        object even if it has the version that the API server gave it.
        """
        kept = {(obj.kind, obj.key) for obj in new}
        for obj in sorted(old, key=lambda obj: obj.kind != "Pod"):
            if (obj.kind, obj.key) not in kept:
                self.cache.delete(obj)
        for obj in sorted(new, key=lambda obj: obj.kind == "Pod"):
            self.cache.update(obj.changed(metadata={"resource_version": ""})
                              if obj.metadata.resource_version else obj)


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


class _Forgetful(Cache):
    """A cache that takes nothing over from a session, so that the next one begins as this did."""

    def _forget(self, *_: Any, **__: Any) -> None:
        """Pods, PodGroups and queues stay as they are, and events are dropped."""

    evict = add_bind_task = update_job_status = update_queue_status = record_event = _forget
