"""What proportion and capacity share: sums by queue, admission, simulated evictions.

A flat queue is a line of length one. Subclasses define a queue's deserved share and its limit.

Volcano: pkg/scheduler/plugins/proportion/proportion.go, pkg/scheduler/plugins/capacity/capacity.go
"""

from collections.abc import Callable, Sequence
from typing import Any

from volcano_lab.api import PENDING, JobInfo, NodeInfo, Resource, TaskInfo, real_capability
from volcano_lab.api.resource import MAX_FLOAT, total
from volcano_lab.framework import PERMIT, REJECT, Event, Plugin, Session, TasksAndVote
from volcano_lab.plugins.admission import format_resource_names, inqueue_resource
from volcano_lab.plugins.queue_tree import QueueAttr, QueueTree, inherit

Change = Callable[[Resource, Resource], Resource]
NO_LIMIT = Resource(MAX_FLOAT, MAX_FLOAT)


class QueueShares(Plugin):
    """Keeps `queue_opts`, the `QueueAttr` of each queue by its name; `tree` has their lines."""

    ready = True
    """Whether the queues may take jobs; not those of a tree with an error."""
    no_state = ""
    """The message in place of "queue … not found" where no simulation was begun."""

    def on_session_open(self, ssn: Session) -> None:
        self.total_resource = ssn.total_resource
        self.tree = QueueTree()
        self.queue_opts: dict[str, QueueAttr] = self.tree.attrs

    def open_flat(self) -> None:
        """Count the jobs; queues without any have no attributes."""
        queues = self.ssn.queues
        guarantees = total(Resource.from_list(queue.queue.spec.guarantee.resource)
                           for queue in queues.values())
        for job in self.ssn.jobs.values():
            if job.queue not in self.queue_opts:
                attr = self.queue_opts[job.queue] = QueueAttr.of(queues[job.queue])
                limit = inherit(attr.capability, NO_LIMIT)
                attr.real_capability = real_capability(self.total_resource, guarantees,
                                                       attr.guarantee, limit)
                if queues[job.queue].queue.spec.capability:  # else it stays empty
                    attr.capability = limit
        self.count_jobs()

    def count_jobs(self) -> None:
        """Add what jobs hold, request, reserve and could release to all queues of their line."""
        by_queue: dict[str, list[JobInfo]] = {}
        for job in self.ssn.jobs.values():
            by_queue.setdefault(job.queue, []).append(job)
        for queue, jobs in by_queue.items():
            allocated = total(job.allocated for job in jobs)
            request = allocated + total(
                task.resreq for job in jobs for task in job.in_status(PENDING).values())
            inqueue = total(map(inqueue_resource, jobs))
            elastic = total(job.allocated.exceeded_part(job.get_min_resources()) for job in jobs)
            for attr in self.tree.line(queue):
                attr.allocated, attr.request = attr.allocated + allocated, attr.request + request
                attr.inqueue, attr.elastic = attr.inqueue + inqueue, attr.elastic + elastic

    # -- admission -------------------------------------------------------------------------------

    def asked_levels(self, queue: str) -> list[QueueAttr]:
        """Return the queues that must admit a job, and that it is charged to."""
        return self.tree.line(queue)

    def job_enqueueable(self, job: JobInfo) -> int:
        """Admit a job if every level up to the root has enough; reserve on all of them then, and on
        none before.
        """
        if not self.ready or not self.ssn.queues[job.queue].is_open:
            return REJECT
        if job.pod_group.spec.min_resources is None:
            return PERMIT
        line = self.asked_levels(job.queue)
        for attr in line:
            short_of = self._missing_for(job, attr)
            if short_of:
                message = format_resource_names("queue resource quota insufficient", "insufficient",
                                                short_of)
                self.ssn.cache.record_event(job.pod_group, "Normal", "Unschedulable", message)
                return REJECT
        reserved = job.deduct_sch_gated_resources(job.get_min_resources())
        for attr in line:
            attr.inqueue = attr.inqueue + reserved
        return PERMIT

    def _missing_for(self, job: JobInfo, attr: QueueAttr) -> list[str]:
        """Return the resources of which a queue has too little to admit a job.

        minimum + allocated + inqueue - elastic must not exceed the real capability, in any
        dimension of the minimum. The observer gets both sides; `level` is the queue compared, which
        may be an ancestor of the job's.

        `elastic` keeps its value from the session's opening, so that after evictions it may exceed
        the allocated resources: Volcano panics.
        """
        least, limit = job.get_min_resources(), attr.real_capability
        asked = least + attr.allocated + attr.inqueue
        asked = asked.sub(attr.elastic)
        names = asked.less_equal_with_dimension_and_resources_name(limit, least)[1]
        self.ssn.observer.note("enqueue_comparison", plugin=self.name, job=job.uid, queue=job.queue,
                               level=attr.name, min_resources=least, allocated=attr.allocated,
                               inqueue=attr.inqueue, elastic=attr.elastic, asked=asked,
                               limit=limit, short_of=names)
        return names

    # -- updates during the session ----------------------------------------------------------------

    def reclaimable(self, reclaimer: TaskInfo, reclaimees: Sequence[TaskInfo]) -> TasksAndVote:
        """Select tasks that their queue can spare, assuming those selected so far are gone."""
        left: dict[str, Resource] = {}
        victims = []
        for task in reclaimees:
            attr = self.queue_opts[self.ssn.jobs[task.job].queue]
            held = left.get(attr.queue_id, attr.allocated)
            if self.can_spare(task, reclaimer, attr, held):
                left[attr.queue_id] = held.sub(task.resreq)
                victims.append(task)
        return victims, PERMIT

    def reclaimable_alone(self, reclaimer: TaskInfo, task: TaskInfo) -> bool:
        attr = self.queue_opts[self.ssn.jobs[task.job].queue]
        return self.can_spare(task, reclaimer, attr, attr.allocated)

    def can_spare(self, task: TaskInfo, reclaimer: TaskInfo, attr: QueueAttr,
                  held: Resource) -> bool:
        """Return whether a queue that holds `held` may lose the task to the reclaimer."""
        raise NotImplementedError

    def on_allocate(self, event: Event) -> None:
        self._recount(event.task, Resource.__add__)

    def on_deallocate(self, event: Event) -> None:
        self._recount(event.task, Resource.sub)

    def _recount(self, task: TaskInfo, change: Change) -> list[QueueAttr]:
        line = self.tree.line(self.ssn.jobs[task.job].queue)
        for attr in line:
            attr.allocated = change(attr.allocated, task.resreq)
        return line

    # -- simulated preemption ----------------------------------------------------------------------

    def pre_predicate(self, task: TaskInfo) -> None:
        """Save what the queues hold, for the simulation."""
        self.ssn.cycle_state(task.uid)[self.name] = {queue: attr.allocated
                                                     for queue, attr in self.queue_opts.items()}

    def simulate_add_task(self, state: dict[str, Any], task_to_schedule: TaskInfo,
                          task_to_add: TaskInfo, node: NodeInfo) -> str | None:
        return self._simulate(state, task_to_add, Resource.__add__)

    def simulate_remove_task(self, state: dict[str, Any], task_to_schedule: TaskInfo,
                             task_to_remove: TaskInfo, node: NodeInfo) -> str | None:
        return self._simulate(state, task_to_remove, Resource.sub)

    def _simulate(self, state: dict[str, Any], task: TaskInfo, change: Change) -> str | None:
        trial: dict[str, Resource] | None = state.get(self.name)
        queue = self.ssn.jobs[task.job].queue
        if trial is None and self.no_state:
            return self.no_state
        if trial is None or queue not in trial:
            return f"queue {queue} not found"
        for attr in self.tree.line(queue):
            trial[attr.queue_id] = change(trial[attr.queue_id], task.resreq)
        return None
