"""proportion: queues share the cluster by weight, flat; what one doesn't ask for goes to the
others.

Answers to `pkg/scheduler/plugins/proportion/proportion.go`. The rounds of sharing are
`api.fairness.water_fill`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import define

from volcano_lab.api.fairness import Claim, Round, queue_share, real_capability, water_fill
from volcano_lab.api.job import JobInfo
from volcano_lab.api.node import NodeInfo
from volcano_lab.api.queue import QueueInfo
from volcano_lab.api.resource import EMPTY, ZERO, Resource
from volcano_lab.api.status import PENDING
from volcano_lab.api.task import TaskInfo
from volcano_lab.framework.plugin import Event, Plugin, active_if
from volcano_lab.framework.points.rules import PERMIT, REJECT
from volcano_lab.framework.session import Session
from volcano_lab.plugins.admission import (
    capability_of,
    inqueue_resource,
    missing_for,
    refuse,
    requests_of,
)


@define(slots=True)
class QueueAttr:
    """What proportion knows of one queue that has jobs.

    `deserved` is worked out; `capability` is what the queue's author wrote, `real_capability` what
    is left of it after what is guaranteed to others. `inqueue` is what jobs let in have reserved,
    `elastic` what jobs hold above their minimum. `share` is allocated over deserved in the fullest
    dimension.
    """

    queue_id: str
    name: str
    weight: int
    capability: Resource
    real_capability: Resource
    guarantee: Resource
    deserved: Resource = EMPTY
    allocated: Resource = EMPTY
    request: Resource = EMPTY
    elastic: Resource = EMPTY
    inqueue: Resource = EMPTY
    _share: tuple[Resource | None, Resource | None, float] = (None, None, 0.0)

    @property
    def share(self) -> float:
        """Worked out when somebody asks, and once for as long as neither side changes."""
        allocated, deserved, share = self._share
        if allocated is not self.allocated or deserved is not self.deserved:
            share = queue_share(self.allocated, self.deserved)
            self._share = self.allocated, self.deserved, share
        return share


class Proportion(Plugin):
    """Deserved shares by weight; queue order, overused, allocatable, admission and reclaim that
    follow from them.
    """

    name = "proportion"

    def on_session_open(self, ssn: Session) -> None:
        self.ssn = ssn
        self.total_resource = ssn.total_resource
        self.total_guarantee = EMPTY
        for queue in ssn.queues.values():
            self.total_guarantee = self.total_guarantee + Resource.from_list(
                queue.queue.spec.guarantee.resource)
        self.tries_preemption = "preempt" in ssn.enabled_actions
        self.queue_opts: dict[str, QueueAttr] = {}
        for job in ssn.jobs.values():
            attr = self.queue_opts.get(job.queue)
            if attr is None:
                attr = self.queue_opts[job.queue] = self._attr(ssn.queues[job.queue])
            attr.allocated = attr.allocated + job.allocated
            attr.request = attr.request + job.allocated + requests_of(
                job.in_status(PENDING).values())
            attr.inqueue = attr.inqueue + inqueue_resource(job)
            attr.elastic = attr.elastic + job.get_elastic_resources()
        self._share_out()

    def _attr(self, queue: QueueInfo) -> QueueAttr:
        capability = capability_of(queue)
        guarantee = Resource.from_list(queue.queue.spec.guarantee.resource)
        most = real_capability(self.total_resource, self.total_guarantee, guarantee, capability)
        return QueueAttr(queue.uid, queue.name, queue.weight, capability or EMPTY, most, guarantee)

    def _share_out(self) -> None:
        self.rounds: list[Round] = water_fill(self.total_resource, [
            Claim(attr.queue_id, attr.weight, attr.request, attr.real_capability, attr.guarantee)
            for attr in self.queue_opts.values()])
        if self.rounds:
            for name, deserved in self.rounds[-1].deserved.items():
                self.queue_opts[name].deserved = deserved
        for number, round_ in enumerate(self.rounds, 1):
            self.ssn.observer.note("deserved_round", plugin=self.name, number=number, round=round_)

    # -- order and limits ------------------------------------------------------------------------

    def queue_order(self, left: QueueInfo, right: QueueInfo) -> float:
        """The queue's own priority first, then the emptier queue."""
        by_priority = right.queue.spec.priority - left.queue.spec.priority
        return by_priority or self.queue_opts[left.uid].share - self.queue_opts[right.uid].share

    def overused(self, queue: QueueInfo) -> bool:
        """A queue that has all it deserves, in every dimension."""
        attr = self.queue_opts[queue.uid]
        return attr.deserved.less_equal(attr.allocated, ZERO)

    def allocatable(self, queue: QueueInfo, candidate: TaskInfo) -> bool:
        """Whether one more task keeps the queue within what it deserves, in the dimensions the task
        asks for.
        """
        attr = self.queue_opts[queue.uid]
        return queue.is_open and attr.allocated.stays_within(attr.deserved, candidate.resreq)

    preemptive = allocatable

    def reclaimable(self, reclaimer: TaskInfo,
                    reclaimees: Sequence[TaskInfo]) -> tuple[list[TaskInfo], int]:
        """Tasks of queues that hold more than they deserve, until they would no longer."""
        allocated: dict[str, Resource] = {}
        victims = []
        for task in reclaimees:
            queue = self.ssn.jobs[task.job].queue
            attr = self.queue_opts[queue]
            held = allocated.get(queue, attr.allocated)
            if not held.less_equal(attr.deserved, ZERO):
                held = held.sub(task.resreq)
                victims.append(task)
            allocated[queue] = held
        return victims, PERMIT

    def job_enqueueable(self, job: JobInfo) -> int:
        """minimum + allocated + inqueue - elastic must not exceed the real capability."""
        attr, queue = self.queue_opts[job.queue], self.ssn.queues[job.queue]
        if not queue.is_open:
            return REJECT
        if job.pod_group.spec.min_resources is None:
            return PERMIT
        short_of = missing_for(self.ssn, self.name, job, attr)
        if short_of:
            refuse(self.ssn, job, short_of)
            return REJECT
        attr.inqueue = attr.inqueue + job.deduct_sch_gated_resources(job.get_min_resources())
        return PERMIT

    # -- what happens meanwhile --------------------------------------------------------------------

    def on_allocate(self, event: Event) -> None:
        attr = self.queue_opts[self.ssn.jobs[event.task.job].queue]
        attr.allocated = attr.allocated + event.task.resreq

    def on_deallocate(self, event: Event) -> None:
        attr = self.queue_opts[self.ssn.jobs[event.task.job].queue]
        attr.allocated = attr.allocated.sub(event.task.resreq)

    # -- what if: used while a preemption is tried out
    # ------------------------------------------------

    @active_if("tries_preemption")
    def pre_predicate(self, task: TaskInfo) -> None:
        """Remember the queues as they are, for the trial."""
        self.ssn.cycle_state(task.uid)[self.name] = {queue: attr.allocated
                                                     for queue, attr in self.queue_opts.items()}

    def simulate_allocatable(self, state: dict[str, Any], queue: QueueInfo,
                             candidate: TaskInfo) -> bool:
        trial = state.get(self.name)
        if not trial or queue.uid not in trial:
            return False
        return trial[queue.uid].stays_within(self.queue_opts[queue.uid].deserved, candidate.resreq)

    def simulate_add_task(self, state: dict[str, Any], task_to_schedule: TaskInfo,
                          task_to_add: TaskInfo, node: NodeInfo) -> str | None:
        return self._simulate(state, task_to_add, Resource.__add__)

    def simulate_remove_task(self, state: dict[str, Any], task_to_schedule: TaskInfo,
                             task_to_remove: TaskInfo, node: NodeInfo) -> str | None:
        return self._simulate(state, task_to_remove, Resource.sub)

    def _simulate(self, state: dict[str, Any], task: TaskInfo, change: Any) -> str | None:
        trial, queue = state.get(self.name), self.ssn.jobs[task.job].queue
        if trial is None or queue not in trial:
            return f"queue {queue} not found"
        trial[queue] = change(trial[queue], task.resreq)
        return None
