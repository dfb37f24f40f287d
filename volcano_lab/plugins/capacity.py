"""capacity: each queue has what its author wrote, flat or in a tree, and nobody in its line goes
over a limit.

Answers to `pkg/scheduler/plugins/capacity/capacity.go`; the tree is `queue_tree.py`.
`enableHierarchy` switches the tree on; without it each queue stands for itself and only queues that
have jobs are known.

Differs on purpose: a task placed for a queue that a broken tree has left out is not counted, where
Volcano stops with a nil pointer. The argument `lab.v1-11-enqueue: true` is the lab's own, not
Volcano's: it lets a job in as v1.11.0 did, asking and charging its own queue and none above it
(volcano-sh/volcano#4118, mended by #4119).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from volcano_lab.api.fairness import real_capability
from volcano_lab.api.job import JobInfo
from volcano_lab.api.node import NodeInfo
from volcano_lab.api.queue import ROOT_QUEUE, QueueInfo
from volcano_lab.api.resource import EMPTY, INFINITY, Resource, max_of, total
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
from volcano_lab.plugins.queue_tree import QueueAttr, QueueTree, QueueTreeError

V1_11_ENQUEUE = "lab.v1-11-enqueue"
Change = Callable[[Resource, Resource], Resource]


class Capacity(Plugin):
    """Queue order by share of what is deserved; limits and admission from the queue up to the root;
    reclaim by excess.

    A change of what is allocated reaches all queues of a line, but only the lowest one's share:
    those above keep, for the whole session, the share they had when it opened. That is Volcano's
    doing.
    """

    name = "capacity"

    def on_session_open(self, ssn: Session) -> None:
        self.ssn, self.total_resource = ssn, ssn.total_resource
        self.tree = QueueTree()
        self.queue_opts: dict[str, QueueAttr] = self.tree.attrs
        self.hierarchical = ssn.hierarchy_enabled(self.name)
        self.leaf_only = self.arguments.get_bool(V1_11_ENQUEUE, False)
        self.ready, self.grown = True, self.hierarchical
        if self.hierarchical:
            self._open_tree()
        else:
            self._open_flat()

    def _open_flat(self) -> None:
        queues = self.ssn.queues
        guarantees = total(
            Resource.from_list(queue.queue.spec.guarantee.resource) for queue in queues.values())
        for job in self.ssn.jobs.values():
            if job.queue not in self.queue_opts:
                attr = self.queue_opts[job.queue] = QueueAttr.of(queues[job.queue])
                capability = capability_of(queues[job.queue])
                attr.capability = capability or EMPTY
                attr.real_capability = real_capability(self.total_resource, guarantees,
                                                       attr.guarantee, capability)
            self._count(job)
        for attr in self.queue_opts.values():
            attr.deserved = max_of(attr.deserved.min_dimension_resource(attr.real_capability,
                                                                        INFINITY), attr.guarantee)
            attr.update_share()

    def _open_tree(self) -> None:
        """Grow the tree, count the jobs, set the limits. Where that fails, this session lets nobody
        in.
        """
        ssn = self.ssn
        try:
            self.tree.plant(ssn.queues)
            for job in ssn.jobs.values():
                if not self.tree.is_leaf(job.queue):
                    raise QueueTreeError(
                        f'job {job.uid}: its queue "{job.queue}" has queues below it; '
                        "allowed is a queue that has none.")
                self._count(job)
        except QueueTreeError as error:
            self.ready = self.grown = False
            sentence = f"{self.name} lets no job in and places no task in this session: {error}"
            ssn.log.error("%s", sentence)
            ssn.warnings.append(sentence)
            return
        self.tree.limit(self.total_resource)
        root = self.queue_opts[ROOT_QUEUE]
        ssn.total_guarantee, ssn.total_deserved = root.guarantee, root.deserved
        for attr in self.queue_opts.values():
            attr.update_share()
        for warning in self.tree.warnings:
            ssn.log.info("%s", warning)
            ssn.observer.note("queue_tree_warning", plugin=self.name, message=warning)

    def _count(self, job: JobInfo) -> None:
        """Add what a job holds, asks for and has reserved to its queue and all above it."""
        allocated, inqueue, elastic = job.allocated, inqueue_resource(
            job), job.get_elastic_resources()
        request = allocated + requests_of(job.in_status(PENDING).values())
        for attr in self.tree.line(job.queue):
            attr.allocated, attr.request = attr.allocated + allocated, attr.request + request
            attr.inqueue, attr.elastic = attr.inqueue + inqueue, attr.elastic + elastic

    # -- order -----------------------------------------------------------------------------------

    @active_if("ready")
    def queue_order(self, left: QueueInfo, right: QueueInfo) -> int:
        """The queue's own priority first; then, of the branches in which the two stand, the emptier
        one.
        """
        by_priority = right.queue.spec.priority - left.queue.spec.priority
        if by_priority:
            return by_priority
        mine, theirs = self.queue_opts[left.uid], self.queue_opts[right.uid]
        if self.hierarchical:
            leaf, other_leaf = not mine.children, not theirs.children
            if leaf != other_leaf:
                return -1 if leaf else 1
            if leaf:
                mine, theirs = self.tree.branches(left.uid, right.uid)
        return _compare(mine.share, theirs.share) or mine.is_best_effort - theirs.is_best_effort

    @active_if("grown")
    def victim_queue_order(self, left: QueueInfo, right: QueueInfo, preemptor: QueueInfo) -> int:
        """The queue that is more closely related to the preemptor's gives first."""
        return _compare(self.tree.level(right.uid, preemptor.uid),
                        self.tree.level(left.uid, preemptor.uid))

    # -- limits ----------------------------------------------------------------------------------

    def allocatable(self, queue: QueueInfo, candidate: TaskInfo) -> bool:
        """Whether one more task keeps an open leaf and all above it within what they may hold."""
        if not (queue.is_open and self._takes_jobs(queue.uid)):
            return False
        return all(self._has_room(attr, attr.allocated, queue, candidate)
                   for attr in self.tree.line(queue.uid))

    def _takes_jobs(self, queue: str) -> bool:
        return self.ready and not (self.hierarchical and not self.tree.is_leaf(queue))

    def _has_room(self, attr: QueueAttr, allocated: Resource, queue: QueueInfo,
                  candidate: TaskInfo) -> bool:
        asked, limit = allocated + candidate.resreq, attr.real_capability
        fits, names = asked.less_equal_with_dimension_and_resources_name(limit, candidate.resreq)
        self.ssn.observer.note("allocatable_level", plugin=self.name, task=candidate.key,
                               queue=queue.uid, level=attr.name, allocated=allocated,
                               request=candidate.resreq, asked=asked, limit=limit, short_of=names)
        return fits

    def job_enqueueable(self, job: JobInfo) -> int:
        """Every level up to the root must have room; nothing is reserved on any before all have
        agreed.
        """
        if not self._takes_jobs(job.queue) or not self.ssn.queues[job.queue].is_open:
            return REJECT
        if job.pod_group.spec.min_resources is None:
            return PERMIT
        line = self.tree.line(job.queue)[: 1 if self.leaf_only else None]
        for attr in line:
            short_of = missing_for(self.ssn, self.name, job, attr)
            if short_of:
                refuse(self.ssn, job, short_of)
                return REJECT
        reserved = job.deduct_sch_gated_resources(job.get_min_resources())
        for attr in line:
            attr.inqueue = attr.inqueue + reserved
        return PERMIT

    # -- taking back -----------------------------------------------------------------------------

    def preemptive(self, queue: QueueInfo, candidate: TaskInfo) -> bool:
        """Whether, with the task, an open queue would stay within what it deserves in any dimension
        that counts.
        """
        if not self.ready or not queue.is_open:
            return False
        attr = self.queue_opts[queue.uid]
        asked = attr.allocated + candidate.resreq
        may, names = asked.less_equal_partly_with_dimension_zero_filtered(
            attr.deserved, candidate.resreq)
        self.ssn.observer.note("preemptive_comparison", plugin=self.name, task=candidate.key,
                               queue=queue.uid, allocated=attr.allocated, asked=asked,
                               deserved=attr.deserved, within=names)
        return may

    def reclaimable(self, reclaimer: TaskInfo,
                    reclaimees: Sequence[TaskInfo]) -> tuple[list[TaskInfo], int]:
        """Tasks that their queue can spare, each as if those chosen before it had gone already."""
        if not self.ready:
            return [], REJECT
        left: dict[str, Resource] = {}
        victims = []
        for task in reclaimees:
            queue = self.ssn.jobs[task.job].queue
            attr = self.queue_opts[queue]
            held = left.get(queue, attr.allocated)
            verdict = attr.why_not_reclaim(task, reclaimer, held)
            self.ssn.observer.note("reclaimee", plugin=self.name, reclaimer=reclaimer.key,
                                   task=task.key, queue=queue, verdict=verdict or "victim",
                                   allocated=held, deserved=attr.deserved, guarantee=attr.guarantee)
            if not verdict:
                left[queue] = held.sub(task.resreq)
                victims.append(task)
        return victims, PERMIT

    # -- what happens meanwhile --------------------------------------------------------------------

    def on_allocate(self, event: Event) -> None:
        self._recount(event.task, Resource.__add__)

    def on_deallocate(self, event: Event) -> None:
        self._recount(event.task, Resource.sub)

    def _recount(self, task: TaskInfo, change: Change) -> None:
        line = self.tree.line(self.ssn.jobs[task.job].queue)
        for attr in line:
            attr.allocated = change(attr.allocated, task.resreq)
        for attr in line[:1]:
            attr.update_share()

    # -- what if: used while a preemption is tried out
    # ------------------------------------------------

    def pre_predicate(self, task: TaskInfo) -> None:
        """Remember what the queues hold, for the trial."""
        self.ssn.cycle_state(task.uid)[self.name] = {queue: attr.allocated
                                                     for queue, attr in self.queue_opts.items()}

    def simulate_allocatable(self, state: dict[str, Any], queue: QueueInfo,
                             candidate: TaskInfo) -> bool:
        """As `allocatable`, with what the trial has changed; whether the queue is open isn't asked.
        """
        trial = state.get(self.name)
        if trial is None or not self._takes_jobs(queue.uid):
            return False
        return all(self._has_room(attr, trial[attr.queue_id], queue, candidate)
                   for attr in self.tree.line(queue.uid))

    def simulate_add_task(self, state: dict[str, Any], task_to_schedule: TaskInfo,
                          task_to_add: TaskInfo, node: NodeInfo) -> str | None:
        return self._simulate(state, task_to_add, Resource.__add__)

    def simulate_remove_task(self, state: dict[str, Any], task_to_schedule: TaskInfo,
                             task_to_remove: TaskInfo, node: NodeInfo) -> str | None:
        return self._simulate(state, task_to_remove, Resource.sub)

    def _simulate(self, state: dict[str, Any], task: TaskInfo, change: Change) -> str | None:
        trial, queue = state.get(self.name), self.ssn.jobs[task.job].queue
        if trial is None:
            return f'failed to get capacity state: error reading "{self.name}" from cycleState: not found'
        if queue not in trial:
            return f"queue {queue} not found"
        for attr in self.tree.line(queue):
            trial[attr.queue_id] = change(trial[attr.queue_id], task.resreq)
        return None


def _compare(left: float, right: float) -> int:
    return (left > right) - (left < right)
