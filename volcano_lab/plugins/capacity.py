"""capacity: each queue gets the amounts in its spec, flat or in a tree, and no queue exceeds its or
its ancestors' limit.

The tree is `queue_tree.py`. `enableHierarchy` enables the tree; without it queues are independent,
and only queues with jobs have attributes. Unlike proportion it has no `overused`: `allocatable`
compares with the limit; what a queue deserves decides the order and who may reclaim.

Differs on purpose: a task placed for a queue that an invalid tree omits is not counted, where
Volcano stops with a nil pointer. The argument `lab.v1-11-enqueue: true` is the lab's own, not
Volcano's: it admits a job as v1.11.0 did, checking and charging its own queue and no ancestor
(volcano-sh/volcano#4118, fixed by #4119).

Volcano: pkg/scheduler/plugins/capacity/capacity.go
"""

from collections.abc import Sequence
from typing import Any

from volcano_lab.api import ROOT_QUEUE, QueueInfo, Resource, TaskInfo
from volcano_lab.api.resource import INFINITY, max_of
from volcano_lab.framework import REJECT, Session, TasksAndVote, active_if
from volcano_lab.messages import ENGLISH, Message
from volcano_lab.plugins.queue_shares import Change, QueueShares
from volcano_lab.plugins.queue_tree import QueueAttr, QueueTreeError, Verdict

V1_11_ENQUEUE = "lab.v1-11-enqueue"


class Capacity(QueueShares):
    """Queue order by allocated over deserved; limits and admission from the queue up to the root;
    reclaim from queues above their deserved share.

    As in Volcano, a change of allocated resources is added to all queues of a line, but updates
    only the lowest one's share: its ancestors keep, for the whole session, their share at its
    opening.
    """

    name = "capacity"
    no_state = f'failed to get capacity state: error reading "{name}" from cycleState: not found'

    def on_session_open(self, ssn: Session) -> None:
        super().on_session_open(ssn)
        self.hierarchical = ssn.hierarchy_enabled(self.name)
        self.leaf_only = self.arguments.get_bool(V1_11_ENQUEUE, False)
        self.grown = self.hierarchical
        if self.hierarchical:
            self._open_tree()
            return
        self.open_flat()
        for attr in self.queue_opts.values():
            attr.deserved = max_of(attr.deserved.min_dimension_resource(attr.real_capability,
                                                                        INFINITY), attr.guarantee)
            attr.keep_share()

    def _open_tree(self) -> None:
        """Build the tree, count the jobs, set the limits. On an error admit no job."""
        ssn = self.ssn
        try:
            self.tree.add_queues(ssn.queues)
            for circle in self.tree.circles():
                ssn.log.warning("%s", Message("sentence", what=circle))
            for job in ssn.jobs.values():
                if not self.tree.is_leaf(job.queue):
                    raise QueueTreeError("tree.has_children", uid=job.uid, queue=job.queue)
        except QueueTreeError as error:
            self.ready = self.grown = False
            ssn.warnings.append(Message("tree.broken", error=error.said))
            ssn.log.error("%s", ssn.warnings[-1])
            return
        self.count_jobs()
        self.tree.limit(self.total_resource)
        root = self.queue_opts[ROOT_QUEUE]
        ssn.total_guarantee, ssn.total_deserved = root.guarantee, root.deserved
        for attr in self.queue_opts.values():
            attr.keep_share()
        for warning in self.tree.warnings:
            text = Message("sentence", what=warning).text(ENGLISH)
            ssn.log.info("%s", text)
            ssn.observer.note("queue_tree_warning", plugin=self.name, message=text)

    def _recount(self, task: TaskInfo, change: Change) -> list[QueueAttr]:
        line = super()._recount(task, change)
        for attr in line[:1]:
            attr.keep_share()
        return line

    @active_if("ready")
    def queue_order(self, left: QueueInfo, right: QueueInfo) -> int:
        """Compare the queues' own priority; then the shares of the branches of the tree that
        contain the two.
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
        """Put first the queue that is more closely related to the preemptor's."""
        return _compare(self.tree.level(right.uid, preemptor.uid),
                        self.tree.level(left.uid, preemptor.uid))

    # -- limits ----------------------------------------------------------------------------------

    def allocatable(self, queue: QueueInfo, candidate: TaskInfo) -> bool:
        """Return whether a further task keeps an open queue and its ancestors within the limits."""
        if not (queue.is_open and self.ready):
            return False
        return all(self._fits(attr, attr.allocated, queue, candidate)
                   for attr in self.tree.line(queue.uid))

    def _fits(self, attr: QueueAttr, allocated: Resource, queue: QueueInfo,
              candidate: TaskInfo) -> bool:
        limit = attr.real_capability
        if not self.ssn.observer.watches_sums(candidate.job):
            return allocated.stays_within(limit, candidate.resreq)
        asked = allocated + candidate.resreq
        fits, names = asked.less_equal_with_dimension_and_resources_name(limit, candidate.resreq)
        self.ssn.observer.note("allocatable_level", plugin=self.name, task=candidate.key,
                               queue=queue.uid, level=attr.name, allocated=allocated,
                               request=candidate.resreq, asked=asked, limit=limit, short_of=names)
        return fits

    def asked_levels(self, queue: str) -> list[QueueAttr]:
        return self.tree.line(queue)[: 1 if self.leaf_only else None]

    # -- reclaim ---------------------------------------------------------------------------------

    def preemptive(self, queue: QueueInfo, candidate: TaskInfo) -> bool:
        """Return whether an open queue with the task would stay within its deserved share in any
        relevant dimension.
        """
        if not self.ready or not queue.is_open:
            return False
        attr = self.queue_opts[queue.uid]
        asked = attr.allocated + candidate.resreq
        may, names = asked.less_equal_partly_with_dimension_zero_filtered(
            attr.deserved, candidate.resreq)
        if self.ssn.observer.watches_sums(candidate.job):
            self.ssn.observer.note("preemptive_comparison", plugin=self.name, task=candidate.key,
                                   queue=queue.uid, allocated=attr.allocated, asked=asked,
                                   deserved=attr.deserved, within=names)
        return may

    def reclaimable(self, reclaimer: TaskInfo, reclaimees: Sequence[TaskInfo]) -> TasksAndVote:
        return super().reclaimable(reclaimer, reclaimees) if self.ready else ([], REJECT)

    def reclaimable_alone(self, reclaimer: TaskInfo, task: TaskInfo) -> bool:
        return self.ready and super().reclaimable_alone(reclaimer, task)

    def can_spare(self, task: TaskInfo, reclaimer: TaskInfo, attr: QueueAttr,
                  held: Resource) -> bool:
        verdict = attr.verdict(task, reclaimer, held)
        if self.ssn.observer.watches_sums(reclaimer.job):
            self.ssn.observer.note(
                "reclaimee", plugin=self.name, reclaimer=reclaimer.key, task=task.key,
                queue=attr.queue_id, verdict=str(verdict), allocated=held, deserved=attr.deserved,
                guarantee=attr.guarantee)
        return verdict is Verdict.VICTIM

    # -- simulated preemption ----------------------------------------------------------------------

    def simulate_allocatable(self, state: dict[str, Any], queue: QueueInfo,
                             candidate: TaskInfo) -> bool:
        """Answer as `allocatable`, with the simulated changes, also for closed queues."""
        trial = state.get(self.name)
        if trial is None or not self.ready:
            return False
        return all(self._fits(attr, trial[attr.queue_id], queue, candidate)
                   for attr in self.tree.line(queue.uid))


def _compare(left: float, right: float) -> int:
    return (left > right) - (left < right)
