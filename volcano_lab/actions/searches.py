"""What preempt and reclaim try for a job, and what of it they can skip. Decisions do not depend on
what is skipped.

Volcano: none
"""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence

from volcano_lab.actions.evictions import never_preempts, suffices
from volcano_lab.api import PENDING, JobInfo, NodeInfo, TaskInfo
from volcano_lab.api.task import TransactionContext
from volcano_lab.framework import PriorityQueue, Session, Statement, node_arrays
from volcano_lab.framework.placement.arrays import LATER
from volcano_lab.messages import guard


def suffices_in(ssn: Session, task: TaskInfo, node: NodeInfo, victims: Sequence[TaskInfo]) -> bool:
    """Return `suffices` for a node of the session; without victims the arrays have the answer."""
    if victims or not ssn.use_arrays:
        return suffices(task, node, victims)
    return bool(node_arrays(ssn).fit(task.init_resreq)[node.row] >= LATER)


BY_TASKS = {"gang", "tdm"}
"""Plugins whose answer about a gang that is to be pipelined depends on its tasks alone. Of sla's
answer the age of the job decides.
"""


class Attempts:
    """Attempts to evict for a job: one statement each, kept only if the gang is pipelined.

    One that failed would fail for each job that is alike, as long as all that was done since is
    undone. It is not repeated unless it is recorded; the tasks get the same plans.
    """

    def __init__(self, ssn: Session):
        self.ssn = ssn
        self._failed: dict[Hashable, tuple[int, list[TransactionContext | None]]] = {}
        self._serves = (ssn.use_arrays and node_arrays(ssn).by_template
                        and ssn.points["job_pipelined"].functions.keys() <= BY_TASKS
                        and not any(map(guard.is_user_defined, ssn.plugins.values())))

    def attempt(self, job: JobInfo, tasks: PriorityQueue[TaskInfo],
                evict_for: Callable[[Statement, TaskInfo], bool]) -> bool:
        """Evict for one task after the other; return whether the gang is pipelined and the last
        task, too.
        """
        ssn, order = self.ssn, tasks.clone().drain()
        before, kind, helped = ssn.in_force, self._kind(job, order), False
        since, plans = self._failed.get(kind, (None, []))
        if kind and since == before and not ssn.observer.watches_claims(job.uid):
            for task, plan in zip(order, plans, strict=True):
                task.last_transaction = plan or task.last_transaction
            return False
        statement = ssn.statement()
        while ssn.job_starving(job) and tasks:
            helped = evict_for(statement, tasks.pop())
        if ssn.job_pipelined(job):
            statement.commit()
            return helped
        statement.discard()
        if kind:
            tried = {operation.task.uid for operation in statement.operations}
            self._failed[kind] = before, [
                task.last_transaction if task.uid in tried else None for task in order]
        return False

    def _kind(self, job: JobInfo, order: Sequence[TaskInfo]) -> Hashable:
        """Return what decides about a job whose tasks are tried in some order; None where it has
        places already, or more may decide.
        """
        tasks = job.tasks.values()
        if (not self._serves or len(tasks) > len(job.in_status(PENDING))
                or job.contains_sub_job_policy() or job.contains_network_topology()
                or any(task.template is None for task in tasks)):
            return None

        def like(task: TaskInfo) -> Hashable:
            errors = job.nodes_fit_errors.get(task.uid)
            return (task.template, task.task_role, task.priority, task.preemptable,
                    task.revocable_zone, task.sch_gated, never_preempts(task),
                    frozenset(errors.unresolvable_nodes()) if errors else None)

        return (job.queue, job.priority, job.preemptable, job.min_available,
                frozenset(job.task_min_available.items()), tuple(map(like, order)),
                frozenset(Counter(map(like, tasks)).items()))
