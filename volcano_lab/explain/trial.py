"""Cycles on changed objects: tried over one cache, which is told of the changes and forgets what a
cycle decides; a cycle that has refused the job already goes no further.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from volcano_lab.api.objects import KubernetesObject
from volcano_lab.cache import Cache
from volcano_lab.framework.config.conf import SchedulerConfiguration
from volcano_lab.framework.observer import Observer
from volcano_lab.framework.session import Session
from volcano_lab.scheduler import Scheduler


def run(objects: Sequence[KubernetesObject], conf: SchedulerConfiguration,
        now: float | None = None) -> Session:
    """One cycle over a cache of its own, without a trace."""
    return Scheduler(Cache(objects), conf).run_once(now=now)


class Trial:
    """Runs cycles for one job; `run` gives the session, which goes no further than an action after
    which `done` holds, or None where enqueue did not admit the job.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.framework.config.conf import load_conf
    >>> objects = Cluster().node("n1", cpu=4).job("a", cpu=6).objects()
    >>> trial = Trial(objects, "default/a", None)
    >>> ssn = trial.run([*objects, Cluster().node("n2", cpu=8).objects()[-1]], load_conf())
    >>> [task.node_name for task in ssn.jobs["default/a"].tasks.values()], len(trial.cache.nodes)
    (['n2'], 1)
    """

    def __init__(self, objects: Sequence[KubernetesObject], job: str, now: float | None):
        self.objects, self.job, self.now = list(objects), job, now
        self.cache = _Forgetful(self.objects)
        self._ids = {id(obj) for obj in self.objects}

    def run(self, objects: Sequence[KubernetesObject], conf: SchedulerConfiguration,
            done: Callable[[Session], bool] = lambda ssn: False) -> Session | None:
        there = {id(obj) for obj in objects}
        new = [obj for obj in objects if id(obj) not in self._ids]
        old = [obj for obj in self.objects if id(obj) not in there]
        silent = logging.root.manager.disable
        logging.disable(logging.CRITICAL)  # what the cycle has to say was said once
        self._exchange(old, new)
        try:
            return Scheduler(self.cache, conf).run_once(_Watch(self.job, done), now=self.now)
        except _Known as known:
            return known.ssn
        finally:
            self._exchange(new, old)
            logging.disable(silent)

    def _exchange(self, old: Sequence[KubernetesObject], new: Sequence[KubernetesObject]) -> None:
        """Pods go before, and come after, what they belong to."""
        kept = {(obj.kind, obj.key) for obj in new}
        for obj in sorted(old, key=lambda obj: obj.kind != "Pod"):
            if (obj.kind, obj.key) not in kept:
                self.cache.delete(obj)
        for obj in sorted(new, key=lambda obj: obj.kind == "Pod"):
            self.cache.update(obj)


class _Known(Exception):
    """What becomes of the job is known; `ssn` is None where enqueue is over, and it was not
    admitted: no later action looks at it.
    """

    def __init__(self, ssn: Session | None):
        super().__init__()
        self.ssn = ssn


class _Watch(Observer):
    watching = watches_attempts = False

    def __init__(self, job: str, done: Callable[[Session], bool]):
        self.job, self.done = job, done

    def popped(self, kind: str, item: Any, rest: Any) -> None:
        """Nothing to tell."""

    def action_ended(self, ssn: Session, action: str) -> None:
        if action == "enqueue" and self.job in ssn.jobs and ssn.jobs[self.job].is_pending():
            raise _Known(None)
        if self.done(ssn):
            raise _Known(ssn)


class _Forgetful(Cache):
    """A cache that takes nothing over from a session, so that the next one begins as this did."""

    def evict(self, task: Any, reason: str) -> None:
        """The pod stays."""

    def add_bind_task(self, context: Any) -> None:
        """The pod stays without a node."""

    def update_job_status(self, job: Any, status: bool, annotations: bool, info: bool) -> None:
        """The PodGroup stays as it is."""

    def update_queue_status(self, queue: Any) -> None:
        """So does the queue."""

    def record_event(self, pod_group: Any, kind: str, reason: str, message: str) -> None:
        """Nobody reads it."""
