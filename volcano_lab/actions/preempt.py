"""preempt: make room within a queue, at the expense of jobs (or of the job's own tasks) that matter less.

Answers to `pkg/scheduler/actions/preempt/preempt.go`; its topology-aware way of choosing victims is in
`preempt_topology.py`. First the starving jobs of each queue evict tasks of other jobs of the same queue, a statement a
job, kept only if the gang gets its room; then each starving job's tasks evict tasks of the same job, a statement a
task. Nodes are tried from the best score down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from volcano_lab.actions.preempt_topology import CandidateLimits, TopologyAwarePreemption, pod_priority
from volcano_lab.actions.victims import EvictableTasks, admitted_jobs, never_preempts, suffices, tasks_of, waiting_tasks
from volcano_lab.api.fit_error import FitError
from volcano_lab.api.job import JobInfo
from volcano_lab.api.node import NodeInfo
from volcano_lab.api.objects import Pod
from volcano_lab.api.queue import QueueInfo
from volcano_lab.api.resource import ZERO, total
from volcano_lab.api.status import PREEMPTABLE_STATUSES
from volcano_lab.api.task import TaskInfo
from volcano_lab.framework.action import Action
from volcano_lab.framework.node_arrays import node_arrays
from volcano_lab.framework.node_chooser import PredicateHelper, prioritize_nodes
from volcano_lab.framework.priority_queue import PriorityQueue
from volcano_lab.framework.session import Session
from volcano_lab.framework.statement import Statement, StatementError, unplace

ERROR_CACHE = "predicateErrorCacheEnable"
TOPOLOGY_AWARE = "enableTopologyAwarePreemption"

Accepts = Callable[[TaskInfo], bool]


class Preempt(Action):
    """Evicts tasks of the same queue for starving jobs. Jobs with a network topology don't take part."""

    name = "preempt"
    use_error_cache = True
    topology_aware = False
    limits = CandidateLimits()

    def execute(self, ssn: Session) -> None:
        self.ssn = ssn
        arguments = ssn.conf.action_arguments(self.name)
        self.use_error_cache = arguments.get_bool(ERROR_CACHE, self.use_error_cache)
        self.topology_aware = arguments.get_bool(TOPOLOGY_AWARE, self.topology_aware)
        self.limits = self.limits.changed_by(arguments)
        self.helper = PredicateHelper(self.use_error_cache)
        self._evictable: dict[str, EvictableTasks] = {}
        queues: dict[str, PriorityQueue[JobInfo]] = {}
        under_request = []
        self.tasks: dict[str, PriorityQueue[TaskInfo]] = {}
        for job in admitted_jobs(ssn):
            preemptors = queues.setdefault(job.queue, PriorityQueue(ssn.job_order))
            if not ssn.job_starving(job):
                continue
            if job.contains_network_topology():
                self._note("passed_over", job=job.uid, reason="jobs with a network topology do not preempt")
                continue
            preemptors.push(job)
            under_request.append(job)
            self.tasks[job.uid] = waiting_tasks(ssn, job)
        for name, preemptors in sorted(queues.items()):
            while preemptors:
                job = preemptors.pop()
                if ssn.observer is not None:
                    ssn.observer.popped("job", job, preemptors)
                if self._preempt_other_jobs(job, ssn.queues[name]):
                    preemptors.push(job)
            for job in under_request:  # the jobs of all queues, once for every queue
                self._preempt_own_tasks(job)

    def _preempt_other_jobs(self, job: JobInfo, queue: QueueInfo) -> bool:
        """Whether the gang got its room and the last task that tried found a node, so that more may be tried."""
        ssn, tasks = self.ssn, self.tasks[job.uid]
        statement, assigned = ssn.statement(), False
        while ssn.job_starving(job) and tasks:
            task = tasks.pop()
            self._note("claimant", task=task.key, job=job.uid, queue=queue.uid)
            assigned = self._preempt(statement, task, queue, self._of_other_jobs(job))
        if not ssn.job_pipelined(job):
            statement.discard()
            return False
        statement.commit()
        return assigned

    def _preempt_own_tasks(self, job: JobInfo) -> None:
        ssn = self.ssn
        tasks = self.tasks[job.uid] = waiting_tasks(ssn, job)
        assigned = True
        while assigned and tasks:
            task, statement = tasks.pop(), ssn.statement()
            self._note("claimant", task=task.key, job=job.uid, queue=job.queue, within="job")
            assigned = self._preempt(statement, task, ssn.queues[job.queue], lambda other: other.job == job.uid)
            statement.commit()

    def _of_other_jobs(self, job: JobInfo) -> Accepts:
        return lambda other: other.job != job.uid and self._in_queue(other, job.queue)

    def _in_queue(self, task: TaskInfo, queue: str) -> bool:
        job = self.ssn.jobs.get(task.job)
        return job is not None and job.queue == queue

    # -- one task ----------------------------------------------------------------------------------

    def _preempt(self, statement: Statement, task: TaskInfo, queue: QueueInfo, whose: Accepts) -> bool:
        """Find a node for a task, and victims among the tasks there that `whose` lets through."""
        ssn = self.ssn
        objection = self._not_eligible(task)
        if objection is not None:
            self._note("passed_over", task=task.key, reason=objection)
            return False
        if ssn.pre_predicate(task) is not None:
            return False

        def accepts(other: TaskInfo) -> bool:
            return may_go(other) and not (task.best_effort and not other.best_effort) and whose(other)

        nodes, _ = self.helper.predicate_nodes(task, ssn.nodes_that_eviction_may_help(task), self._predicate(task))
        if self.topology_aware:
            return TopologyAwarePreemption(ssn, self.limits).preempt(statement, task, queue, nodes, accepts)
        return any(self._preempt_on(statement, task, queue, node, accepts) for node in self._promising(task, queue, nodes))

    def _not_eligible(self, task: TaskInfo) -> str | None:
        """Why a task may not evict others: by its policy, or because it was promised a node that is being cleared."""
        if never_preempts(task):
            return "its preemption policy is Never"
        name = task.pod.status.nominated_node_name
        if not name:
            return None
        node = self.ssn.nodes.get(name)
        if node is None:
            return f"its nominated node {name} is not in the session"
        error = self.ssn.predicate(task, node)
        if error is None:
            return f"it fits its nominated node {name} as it is"
        if not isinstance(error, FitError):
            return f"its nominated node {name} could not be checked: {error}"
        if error.unresolvable():
            return None
        mine = pod_priority(task.pod)
        if any(pod_priority(other.pod) < mine and terminating_by_preemption(other.pod) for other in tasks_of(node)):
            return f"pods evicted for it are still leaving its nominated node {name}"
        return None

    def _predicate(self, task: TaskInfo) -> Callable[[TaskInfo, NodeInfo], FitError | None]:
        """The predicate of this action; nodes that are fine as they are needn't be asked one by one."""
        ssn = self.ssn
        allowed = node_arrays(ssn).allowed(task) if ssn.use_arrays else None
        if allowed is None:
            return ssn.predicate_for_preempt
        fine = allowed.tolist()
        return lambda task, node: None if fine[node.row] else ssn.predicate_for_preempt(task, node)

    def _promising(self, task: TaskInfo, queue: QueueInfo, nodes: Sequence[NodeInfo]) -> Iterable[NodeInfo]:
        """Nodes from the best score down; over arrays without those on which nobody's going would suffice."""
        ssn = self.ssn
        if not ssn.use_arrays:
            scores = prioritize_nodes(ssn, task, nodes)
            return [node for score in sorted(scores, reverse=True) for node in scores[score]]
        if not nodes:
            return []
        evictable = self._evictable.get(queue.uid)
        if evictable is None:
            evictable = EvictableTasks(ssn, lambda other: may_go(other) and self._in_queue(other, queue.uid))
            self._evictable[queue.uid] = evictable
        rows = np.array([node.row for node in nodes], dtype=np.intp)
        candidates = np.zeros(ssn.table.count, dtype=bool)
        candidates[rows] = True
        scores = np.broadcast_to(node_arrays(ssn).scores(task, candidates), candidates.shape)[rows]
        ranked = rows[np.argsort(-scores, kind="stable")]
        promising = evictable.may_make_room(task.init_resreq)
        return [ssn.node_list[row] for row in ranked[promising[ranked]].tolist()]

    def _preempt_on(self, statement: Statement, task: TaskInfo, queue: QueueInfo, node: NodeInfo, accepts: Accepts) -> bool:
        """Evict on one node until queue and node have room; whether the task now waits for it."""
        ssn = self.ssn
        preemptees = [other for other in tasks_of(node) if accepts(other)]
        victims = ssn.preemptable(task, preemptees)
        if not suffices(task, node, victims):
            return False
        evicted = []
        for victim in self._until_room(victims, task, queue, node):
            statement.evict(victim, self.name)
            evicted.append(victim)
        self._note("victims", action=self.name, task=task.key, node=node.name,
                   candidates=[victim.key for victim in victims], chosen=[victim.key for victim in evicted])  # fmt: skip
        if not self._has_room(task, queue, node):
            return False
        try:
            statement.pipeline(task, node.name, not total(victim.resreq for victim in evicted).is_empty())
        except StatementError as error:
            ssn.log.error("%s", error)
            unplace(ssn, task)
        return True

    def _until_room(self, victims: list[TaskInfo], task: TaskInfo, queue: QueueInfo, node: NodeInfo) -> Iterator[TaskInfo]:
        """Copies of the victims, the least important first, as long as there is too little room."""
        left = self.ssn.victims_queue(victims, task)
        while left and not self._has_room(task, queue, node):
            yield left.pop().clone()

    def _has_room(self, task: TaskInfo, queue: QueueInfo, node: NodeInfo) -> bool:
        """In the queue and on the node: a cluster with room to spare doesn't help a queue that may not take it."""
        return self.ssn.allocatable(queue, task) and task.init_resreq.less_equal(node.future_idle, ZERO)

    def _note(self, kind: str, **facts: object) -> None:
        if self.ssn.observer is not None:
            self.ssn.observer.note(kind, **facts)


def may_go(task: TaskInfo) -> bool:
    """Bound or running, and not marked as one that must stay."""
    return task.status in PREEMPTABLE_STATUSES and task.preemptable


def terminating_by_preemption(pod: Pod) -> bool:
    """Whether a pod is being deleted because a scheduler evicted it for another."""
    if pod.metadata.deletion_timestamp is None:
        return False
    condition = next((c for c in pod.status.conditions if c.type == "DisruptionTarget"), None)
    return condition is not None and condition.status == "True" and condition.reason == "PreemptionByScheduler"
