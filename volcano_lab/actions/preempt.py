"""preempt: free resources within a queue by evicting lower-priority tasks, of other jobs or of the
same one.

First the starving jobs of each queue evict tasks of other jobs of the same queue, one statement per
job, kept only if the gang is pipelined; then each starving job's tasks evict tasks of the same job,
one statement per task. Nodes are tried from the best score down. `preempt_topology.py` chooses
victims in the topology-aware mode.

Volcano: pkg/scheduler/actions/preempt/preempt.go
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from attrs import define

from volcano_lab.actions import evictions, preempt_topology as dry_run, searches
from volcano_lab.actions.evictable_tasks import EvictableTasks
from volcano_lab.api import ZERO, FitError, JobInfo, Memo, NodeInfo, QueueInfo, TaskInfo, total
from volcano_lab.api.objects import Pod
from volcano_lab.api.status import PREEMPTABLE_STATUSES
from volcano_lab.framework import Action, PriorityQueue, Session, Statement, node_arrays
from volcano_lab.framework.placement.arrays import LATER
from volcano_lab.framework.placement.chooser import PredicateHelper, prioritize_nodes

TOPOLOGY_AWARE = "enableTopologyAwarePreemption"


@define(slots=True, frozen=True)
class Claim:
    """A task to evict for: tasks of other jobs of its queue, or (`within_job`) of its own job."""

    task: TaskInfo
    job: JobInfo
    queue: QueueInfo
    within_job: bool = False


class Preempt(Action):
    """Evict tasks of the same queue for starving jobs; jobs with a network topology are skipped."""

    name = "preempt"
    topology_aware = False
    _is_full = False  # the claimant's queue, until a task is evicted
    limits = dry_run.CandidateLimits()

    def execute(self, ssn: Session) -> None:
        self.ssn = ssn
        arguments = ssn.conf.action_arguments(self.name)
        self.read_error_cache(ssn)
        self.topology_aware = arguments.get_bool(TOPOLOGY_AWARE, self.topology_aware)
        self.limits = self.limits.changed_by(arguments)
        self.helper = PredicateHelper(self.use_error_cache)
        self._failed: Memo[tuple[str, str], np.ndarray] = Memo(
            lambda role: np.zeros(ssn.table.count, bool))
        self._evictable = Memo(self._evictable_in)
        self._attempts = searches.Attempts(ssn)
        self._own: dict[str, int] = {}  # by job: the operations in force after its own attempt
        queues: dict[str, PriorityQueue[JobInfo]] = {}
        under_request = []
        self.tasks: dict[str, PriorityQueue[TaskInfo]] = {}
        for job in evictions.admitted_jobs(ssn):
            preemptors = queues.setdefault(job.queue, PriorityQueue(ssn.job_order))
            if not ssn.job_starving(job):
                continue
            if job.contains_network_topology():
                ssn.observer.note("passed_over", job=job.uid, reason="network_topology")
                continue
            preemptors.push(job)
            under_request.append(job)
            self.tasks[job.uid] = evictions.waiting_tasks(ssn, job)
        for name, preemptors in sorted(queues.items()):
            while preemptors:
                job = preemptors.pop()
                ssn.observer.popped("job", job, preemptors)
                if self._preempt_other_jobs(job, ssn.queues[name]):
                    preemptors.push(job)
            for job in under_request:  # the jobs of all queues, again for each queue
                self._preempt_own_tasks(job)

    def _preempt_other_jobs(self, job: JobInfo, queue: QueueInfo) -> bool:
        """Return whether the gang is pipelined and the last task tried got a node, so that more may
        be tried.
        """
        return self._attempts.attempt(job, self.tasks[job.uid], lambda statement, task:
                                      self._preempt(statement, Claim(task, job, queue)))

    def _preempt_own_tasks(self, job: JobInfo) -> None:
        ssn = self.ssn
        if self._own.get(job.uid) == ssn.in_force and not ssn.observer.watches_claims(job.uid):
            return  # nothing has changed: it would fail again
        tasks = self.tasks[job.uid] = evictions.waiting_tasks(ssn, job)
        assigned = True
        while assigned and tasks:
            statement = ssn.statement()
            assigned = self._preempt(
                statement, Claim(tasks.pop(), job, ssn.queues[job.queue], within_job=True))
            statement.commit()
        self._own[job.uid] = ssn.in_force

    # -- one task ----------------------------------------------------------------------------------

    def _preempt(self, statement: Statement, claim: Claim) -> bool:
        """Find a node for a task, and its victims."""
        ssn, task = self.ssn, claim.task
        ssn.observer.note("claimant", task=task.key, job=claim.job.uid, queue=claim.queue.uid,
                   within_job=claim.within_job)
        objection = self._not_eligible(task)
        if objection is not None:
            ssn.observer.note("passed_over", task=task.key, **objection)
            return False
        if ssn.pre_predicate(task) is not None:
            return False
        nodes, self._is_full, may_evict = self._fitting(task), False, self._may_evict(claim)
        self._homes = (sorted({other.node_name for other in claim.job.tasks.values()} - {""})
                       if claim.within_job else [])
        if self.topology_aware:
            wanted = self.limits.count(len(nodes))
            promising = (evictions.nodes_at(ssn, self._promising(claim, nodes)) if ssn.use_arrays
                         else nodes)
            return dry_run.preempt(statement, task, claim.queue, promising, wanted,
                                   lambda node: evictions.tasks_of(node, may_evict))
        if (claim.within_job and not self._homes and ssn.use_arrays
                and not (ssn.observer.watches_attempts or ssn.allocatable(claim.queue, task))):
            return False  # the job has no victims, and the queue refuses the task
        if any(self._preempt_on(statement, claim, node, may_evict)
               for node in self._ranked(statement, claim, nodes)):
            return True
        if not ssn.use_arrays:
            # Volcano then scores the nodes of other shards, even where there are none
            prioritize_nodes(ssn, task, [])
        return False

    def _may_evict(self, claim: Claim) -> Callable[[TaskInfo], bool]:
        """Return whether a task may be evicted; a best-effort task evicts only best-effort ones."""
        jobs, job, queue = self.ssn.jobs, claim.job.uid, claim.queue.uid
        only_best_effort = claim.task.best_effort

        def may(other: TaskInfo) -> bool:
            if claim.within_job != (other.job == job) or not evictable(other):
                return False
            if only_best_effort and not other.best_effort:
                return False
            return claim.within_job or (other.job in jobs and jobs[other.job].queue == queue)

        return may

    def _not_eligible(self, task: TaskInfo) -> dict[str, str] | None:
        """Return why a task may not preempt, as facts: its policy, or its nominated node, where
        victims are still terminating.
        """
        if evictions.never_preempts(task):
            return {"reason": "policy_never"}
        name = task.pod.status.nominated_node_name
        if not name:
            return None
        node = self.ssn.nodes.get(name)
        if node is None:
            return {"reason": "nominated_gone", "node": name}
        error = self.ssn.predicate(task, node)
        if error is None:
            return {"reason": "nominated_fits", "node": name}
        if not isinstance(error, FitError):
            return {"reason": "nominated_unchecked", "node": name, "error": str(error)}
        if error.unresolvable():
            return None
        mine = dry_run.pod_priority(task.pod)
        if any(dry_run.pod_priority(other.pod) < mine and terminating_by_preemption(other.pod)
               for other in node.tasks.values()):
            return {"reason": "nominated_leaving", "node": name}
        return None

    def _fitting(self, task: TaskInfo) -> Sequence[NodeInfo]:
        """Return the nodes that pass this action's predicates, without those that have failed for a
        task of this role.
        """
        ssn = self.ssn
        nodes = ssn.nodes_that_eviction_may_help(task)
        fits = node_arrays(ssn).may_fit(task) if ssn.use_arrays else None
        if fits is None:
            return self.helper.predicate_nodes(task, nodes, ssn.predicate_for_preempt)[0]
        if self.use_error_cache and task.task_role:
            failed = self._failed[task.job, task.task_role]
            fits, tried = fits & ~failed, evictions.rows_where(ssn, nodes, ~fits)
            failed[tried] = True
        return nodes if fits.all() else [node for node in nodes if fits[node.row]]

    def _ranked(self, statement: Statement, claim: Claim,
                nodes: Sequence[NodeInfo]) -> Iterable[NodeInfo]:
        """Return the promising nodes from the best score down; among equals in their order."""
        ssn, task = self.ssn, claim.task
        if not ssn.use_arrays:
            by_score = prioritize_nodes(ssn, task, nodes)
            return [node for score in sorted(by_score, reverse=True) for node in by_score[score]]
        rows = self._promising(claim, nodes)
        if len(rows) > 1:
            candidates = np.full(ssn.table.count, nodes is ssn.node_list)
            if nodes is not ssn.node_list:
                candidates[[node.row for node in nodes]] = True
            scores = node_arrays(ssn).scores(task, candidates)
            rows = rows[np.argsort(-scores[rows], kind="stable")]
        return (evictions.nodes_at(ssn, rows) if claim.within_job else
                self._evictable[claim.queue.uid].promising(task, statement.number, rows))

    def _promising(self, claim: Claim, nodes: Sequence[NodeInfo]) -> np.ndarray:
        """Return the rows of the nodes where the task would fit with all candidates evicted."""
        ssn, request = self.ssn, claim.task.init_resreq
        if claim.within_job:
            may_fit = node_arrays(ssn).fit(request) >= LATER
            may_fit[[ssn.nodes[name].row for name in self._homes if name in ssn.nodes]] = True
        else:
            may_fit = self._evictable[claim.queue.uid].may_suffice(request)
        return evictions.rows_where(ssn, nodes, may_fit)

    def _evictable_in(self, queue: str) -> EvictableTasks:
        jobs = {uid for uid, job in self.ssn.jobs.items() if job.queue == queue}
        return EvictableTasks(self.ssn, "preemptable",
                              lambda task: task.job in jobs and evictable(task))

    def _preempt_on(self, statement: Statement, claim: Claim, node: NodeInfo,
                    may_evict: Callable[[TaskInfo], bool]) -> bool:
        """Evict on one node until the task fits queue and node; return whether it is pipelined."""
        ssn, task, queue = self.ssn, claim.task, claim.queue
        if self._is_full and claim.within_job and node.name not in self._homes:
            return False  # the job has no tasks there
        ours = None if claim.within_job or not ssn.use_arrays else self._evictable[queue.uid]
        preemptees = (evictions.tasks_of(node, may_evict) if ours is None else
                      list(filter(may_evict, ours.on(node))))
        if self._is_full and not preemptees:
            return False
        if ours is not None:
            victims = ours.victims(task, statement.number, node, preemptees)
        else:
            victims = ssn.preemptable(task, preemptees)
            victims = victims if searches.suffices_in(ssn, task, node, victims) else None
        if victims is None:
            return False
        in_order, evicted = ssn.victims_queue(victims, task), []
        while in_order and not self._fits(task, queue, node):
            evicted.append(in_order.pop().clone())
            statement.evict(evicted[-1], self.name)
        evictions.note_victims(ssn, self.name, task, node, evicted, victims)
        if not self._fits(task, queue, node):
            self._is_full = not (ssn.observer.watches_attempts or ssn.allocatable(queue, task))
            return False
        evictions.pipeline(statement, task, node.name,
                 not total(victim.resreq for victim in evicted).is_empty())
        return True

    def _fits(self, task: TaskInfo, queue: QueueInfo, node: NodeInfo) -> bool:
        """Return whether both queue and node fit the task: idle nodes do not help a queue at its
        limit.
        """
        return self.ssn.allocatable(queue, task) and task.init_resreq.less_equal(
            node.future_idle, ZERO)


def evictable(task: TaskInfo) -> bool:
    """Return whether a task is bound or running, and preemptable."""
    return task.status in PREEMPTABLE_STATUSES and task.preemptable


def terminating_by_preemption(pod: Pod) -> bool:
    """Return whether a pod is being deleted because a scheduler preempted it."""
    return pod.metadata.deletion_timestamp is not None and any(
        c.type == "DisruptionTarget" and c.status == "True" and c.reason == "PreemptionByScheduler"
        for c in pod.status.conditions)
