"""reclaim: reclaim resources that other queues hold beyond their deserved share.

A queue that is not overused reclaims for its starving jobs. Nodes are tried in order for each task;
on the first where victims of other, reclaimable queues are enough they are evicted, and the task is
pipelined onto the resources they release. Unlike allocate and preempt it scores no nodes. The
`predicateErrorCacheEnable` argument has no effect, as in Volcano, where each task begins with an
empty cache.

Volcano: pkg/scheduler/actions/reclaim/reclaim.go
"""

from collections.abc import Callable, Iterator
from functools import partial

from volcano_lab.actions import evictions, searches
from volcano_lab.actions.evictable_tasks import EvictableTasks
from volcano_lab.api import RUNNING, ZERO, JobInfo, Memo, NodeInfo, QueueInfo, TaskInfo
from volcano_lab.framework import Action, PriorityQueue, Session, Statement, node_arrays
from volcano_lab.framework.placement.chooser import PredicateHelper


class Reclaim(Action):
    """Evict running tasks of other queues for starving jobs: one statement per job, kept only if
    the gang is pipelined.
    """

    name = "reclaim"

    def execute(self, ssn: Session) -> None:
        self.ssn, self._attempts = ssn, searches.Attempts(ssn)
        self._evictable: Memo[str, EvictableTasks] = Memo(lambda queue: EvictableTasks(
            ssn, "reclaimable", self._reclaimees_of(queue)))
        queues: PriorityQueue[QueueInfo] = PriorityQueue(ssn.queue_order)
        starving: dict[str, PriorityQueue[JobInfo]] = {}
        tasks: dict[str, PriorityQueue[TaskInfo]] = {}
        for job in evictions.admitted_jobs(ssn):
            if job.queue not in starving:
                starving[job.queue] = PriorityQueue(ssn.job_order)
                queues.push(ssn.queues[job.queue])
            if ssn.job_starving(job):
                starving[job.queue].push(job)
                tasks[job.uid] = evictions.waiting_tasks(ssn, job)
        while queues:
            queue = queues.pop()
            ssn.observer.popped("queue", queue, queues)
            if ssn.overused(queue):
                ssn.observer.note("passed_over", queue=queue.uid, reason="overused")
                continue
            jobs = starving[queue.uid]
            while jobs:
                job = jobs.pop()
                ssn.observer.popped("job", job, jobs)
                self._attempts.attempt(job, tasks[job.uid], partial(self._reclaim, queue, job))
                if jobs:
                    # no effect on this queue, all of whose jobs are tried now, but on the order
                    # of the others
                    queues.push(queue)

    def _reclaim(self, queue: QueueInfo, job: JobInfo, statement: Statement,
                 task: TaskInfo) -> bool:
        """Return whether a task is pipelined."""
        ssn = self.ssn
        ssn.observer.note("claimant", task=task.key, job=job.uid, queue=queue.uid)
        if evictions.never_preempts(task):
            ssn.observer.note("passed_over", task=task.key, reason="policy_never")
        elif not ssn.preemptive(queue, task):
            ssn.observer.note("passed_over", task=task.key, reason="not_preemptive")
        elif ssn.pre_predicate(task) is None:
            return any(self._evict(statement, task, node, victims)
                       for node, victims in self._nodes_with_victims(task, job))
        return False

    def _nodes_with_victims(self, task: TaskInfo,
                            job: JobInfo) -> Iterator[tuple[NodeInfo, list[TaskInfo]]]:
        """Yield nodes that pass the predicates and have enough reclaimable tasks, with the victims
        of them.
        """
        ssn = self.ssn
        nodes = ssn.nodes_that_eviction_may_help(task)
        if ssn.use_arrays:
            yield from self._promising_nodes(task, job, nodes)
            return
        is_reclaimee = self._reclaimees_of(job.queue)
        fitting, _ = PredicateHelper(use_cache=False).predicate_nodes(task, nodes,
                                                                      ssn.predicate_for_preempt)
        for node in fitting:
            reclaimees = evictions.tasks_of(node, is_reclaimee)
            if reclaimees:
                victims = ssn.reclaimable(task, reclaimees)
                if evictions.suffices(task, node, victims):
                    yield node, victims

    def _promising_nodes(self, task: TaskInfo, job: JobInfo,
                         nodes: list[NodeInfo]) -> Iterator[tuple[NodeInfo, list[TaskInfo]]]:
        """Yield the same without nodes with too few reclaimable tasks; predicates are called after
        that.
        """
        ssn, evictable = self.ssn, self._evictable[job.queue]
        allowed = node_arrays(ssn).allowed(task)
        rows = evictions.rows_where(ssn, nodes, evictable.may_suffice(task.init_resreq))
        for node in evictable.promising(task, ssn.restored, rows):
            reclaimees = evictable.on(node)
            if reclaimees and ((allowed is not None and allowed[node.row])
                               or ssn.predicate_for_preempt(task, node) is None):
                victims = evictable.victims(task, ssn.restored, node, reclaimees)
                if victims is not None:
                    yield node, victims

    def _reclaimees_of(self, queue: str) -> Callable[[TaskInfo], bool]:
        """Return a test of a task: running, preemptable, and of another, reclaimable queue."""
        queues = {name
                  for name, other in self.ssn.queues.items() if name != queue and other.reclaimable}
        jobs = {uid for uid, job in self.ssn.jobs.items() if job.queue in queues}
        return lambda task: task.status == RUNNING and task.preemptable and task.job in jobs

    def _evict(self, statement: Statement, task: TaskInfo, node: NodeInfo,
               victims: list[TaskInfo]) -> bool:
        """Evict until the task fits, at least one victim where there is any; return whether the
        task is pipelined.
        """
        available, evicted = node.future_idle, []
        in_order = self.ssn.victims_queue(victims, task)
        while in_order:
            victim = in_order.pop().clone()
            statement.evict(victim, self.name)
            available = available + victim.resreq
            evicted.append(victim)
            if task.init_resreq.less_equal(available, ZERO):
                break
        evictions.note_victims(self.ssn, self.name, task, node, evicted, victims)
        if not task.init_resreq.less_equal(available, ZERO):
            return False
        evictions.pipeline(statement, task, node.name, bool(evicted))
        return True
