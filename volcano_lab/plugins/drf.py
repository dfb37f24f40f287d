"""drf: of two jobs, the one with the lower dominant share is first; with a hierarchy the same
applies between queues.

The tree is `plugins/hierarchy.py`. `enableHierarchy` enables the hierarchy and excludes proportion.

Volcano: pkg/scheduler/plugins/drf/drf.go
"""

from collections.abc import Callable, Sequence
from copy import copy

from attrs import define

from volcano_lab.api import EMPTY, JobInfo, QueueInfo, Resource, TaskInfo, dominant_share
from volcano_lab.framework import PERMIT, Event, Plugin, Session, TasksAndVote, active_if
from volcano_lab.plugins.hierarchy import Hierarchy

Change = Callable[[Resource, Resource], Resource]
SHARE_DELTA = 0.000001
"""Shares within this difference are equal when victims are chosen."""


@define(slots=True)
class JobShare:
    """A job's allocated resources, and its largest share of the cluster (`total`) with its
    resource.

    The share is computed on use, once until the allocated resources change.
    """

    total: Sequence[tuple[str, float]]
    allocated: Resource = EMPTY
    _known: tuple[Resource | None, str, float] = (None, "", 0.0)
    _after: tuple[Resource | None, dict[tuple[Change, Resource], float]] = (None, {})

    def _dominant(self) -> tuple[Resource | None, str, float]:
        if self._known[0] is not self.allocated:
            self._known = self.allocated, *dominant_share(self.allocated, self.total)
        return self._known

    @property
    def dominant_resource(self) -> str:
        return self._dominant()[1]

    @property
    def share(self) -> float:
        return self._dominant()[2]

    def after(self, change: Change, request: Resource) -> float:
        """Return the share after a request is added or subtracted."""
        if self._after[0] is not self.allocated:
            self._after = self.allocated, {}
        known = self._after[1]
        if (change, request) not in known:
            known[change, request] = dominant_share(change(self.allocated, request), self.total)[1]
        return known[change, request]


class Drf(Plugin):
    """Job order and victims by dominant share; with the hierarchy also queue order and reclaim."""

    name = "drf"

    def on_session_open(self, ssn: Session) -> None:
        total = ssn.total_resource
        self.total = [(name, total.get(name)) for name in total.resource_names()]
        self.hierarchical, self.hierarchy = ssn.hierarchy_enabled(self.name), Hierarchy(self.total)
        self.job_attrs: dict[str, JobShare] = {}
        for uid, job in ssn.jobs.items():
            self.job_attrs[uid] = JobShare(self.total, job.allocated)
            if self.hierarchical:
                self._update_hierarchy(job, self.hierarchy.total_allocated + job.allocated)

    def _update_hierarchy(self, job: JobInfo, total_allocated: Resource) -> None:
        self.hierarchy.total_allocated = total_allocated
        self.hierarchy.update(job, self.ssn.queues[job.queue], self.job_attrs[job.uid].allocated)

    # -- jobs ------------------------------------------------------------------------------------

    def job_order(self, left: JobInfo, right: JobInfo) -> float:
        return self.job_attrs[left.uid].share - self.job_attrs[right.uid].share

    def job_order_key(self, job: JobInfo) -> float:
        return self.job_attrs[job.uid].share

    def preemptable(self, preemptor: TaskInfo, preemptees: Sequence[TaskInfo]) -> TasksAndVote:
        """Select tasks without which their job would keep at least the share that the preemptor's
        job would reach.
        """
        claim = self._claim(preemptor)
        left: dict[str, Resource] = {}
        victims = []
        for task in preemptees:
            held = left.get(task.job) or self.job_attrs[task.job].allocated
            left[task.job] = held.sub(task.resreq)
            if claim - dominant_share(left[task.job], self.total)[1] <= SHARE_DELTA:
                victims.append(task)
        return victims, PERMIT

    def preemptable_alone(self, preemptor: TaskInfo, task: TaskInfo) -> bool:
        left = self.job_attrs[task.job].after(Resource.sub, task.resreq)
        return self._claim(preemptor) - left <= SHARE_DELTA

    def _claim(self, preemptor: TaskInfo) -> float:
        return self.job_attrs[preemptor.job].after(Resource.__add__, preemptor.resreq)

    # -- queues, with the hierarchy only -----------------------------------------------------------

    @active_if("hierarchical")
    def queue_order(self, left: QueueInfo, right: QueueInfo) -> float:
        return self.hierarchy.compare(left, right)

    @active_if("hierarchical")
    def reclaimable(self, reclaimer: TaskInfo, reclaimees: Sequence[TaskInfo]) -> TasksAndVote:
        """Select tasks whose queue would still be ordered after the reclaimer's, with the one
        evicted and the other placed.
        """
        ssn, tree = self.ssn, copy(self.hierarchy)
        job = ssn.jobs[reclaimer.job]
        queue = ssn.queues[job.queue]
        tree.total_allocated = tree.total_allocated + reclaimer.resreq
        tree.update(job, queue, self.job_attrs[job.uid].allocated + reclaimer.resreq)
        victims = []
        for task in reclaimees:
            victim_job = ssn.jobs[task.job]
            victim_queue = ssn.queues[victim_job.queue]
            without = copy(tree)
            without.total_allocated = tree.total_allocated.sub(task.resreq)
            without.update(victim_job, victim_queue,
                           self.job_attrs[victim_job.uid].allocated.sub(task.resreq))
            if without.compare(queue, victim_queue) < 0:
                victims.append(task)
        return victims, PERMIT

    # -- updates during the session ----------------------------------------------------------------

    def on_allocate(self, event: Event) -> None:
        self._recount(event.task, Resource.__add__)

    def on_deallocate(self, event: Event) -> None:
        self._recount(event.task, Resource.sub)

    def _recount(self, task: TaskInfo, change: Change) -> None:
        attr = self.job_attrs[task.job]
        attr.allocated = change(attr.allocated, task.resreq)
        if self.hierarchical:
            self._update_hierarchy(self.ssn.jobs[task.job],
                                   change(self.hierarchy.total_allocated, task.resreq))
