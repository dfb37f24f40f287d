"""What reclaim and preempt share: which tasks may evict, which tasks on a node are evictable, and
whether evicting them is enough.

Volcano: pkg/scheduler/util/scheduler_helper.go (ValidateVictims),
pkg/scheduler/actions/reclaim/reclaim.go, pkg/scheduler/actions/preempt/preempt.go
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from volcano_lab.api import MIN_RESOURCE, PENDING, JobInfo, NodeInfo, TaskInfo
from volcano_lab.framework import PriorityQueue, Session, Statement, StatementError, unplace


def admitted_jobs(ssn: Session) -> Iterator[JobInfo]:
    """Yield jobs that were admitted, are valid and have a queue: others may be evicted for them."""
    for job in ssn.jobs.values():
        if not job.is_pending() and ssn.job_valid(job) is None:
            yield job


def waiting_tasks(ssn: Session, job: JobInfo) -> PriorityQueue[TaskInfo]:
    """Return a job's pending tasks without scheduling gates, in task order."""
    return ssn.task_queue([task for _, task in sorted(job.in_status(PENDING).items())
                           if not task.sch_gated])


def never_preempts(task: TaskInfo) -> bool:
    """Return whether the pod's preemption policy is Never."""
    return task.pod.spec.preemption_policy == "Never"


def tasks_of(node: NodeInfo, accepts: Callable[[TaskInfo], bool]) -> list[TaskInfo]:
    """Return those of a node's tasks that `accepts` selects, by "namespace/name"."""
    return [task for _, task in sorted([item for item in node.tasks.items() if accepts(item[1])])]


def rows_where(ssn: Session, nodes: Sequence[NodeInfo], mask: np.ndarray) -> np.ndarray:
    """Return the rows of the nodes for which the mask (a boolean per row) holds, in their order."""
    if nodes is ssn.node_list:
        return mask.nonzero()[0]
    rows = np.array([node.row for node in nodes], np.intp)
    found: np.ndarray = rows[mask[rows]]
    return found


def nodes_at(ssn: Session, rows: np.ndarray) -> Iterator[NodeInfo]:
    """Yield the nodes of some rows; lazily, as mostly the first one fits."""
    return map(ssn.node_list.__getitem__, rows.tolist())


def suffices(task: TaskInfo, node: NodeInfo, victims: Sequence[TaskInfo]) -> bool:
    """Return whether a task fits a node's future idle resources with the victims evicted.

    It may fit without any victim, too: those evicted for an earlier task may have freed more than
    that task requested.
    """
    idle = node.future_idle
    for name, amount in task.init_resreq.items:
        left = idle.get(name)
        for victim in victims:
            left += victim.resreq.get(name)
        if amount - left >= MIN_RESOURCE:
            return False
    return True


def note_victims(ssn: Session, action: str, task: TaskInfo, node: NodeInfo,
                 chosen: Iterable[TaskInfo], candidates: Iterable[TaskInfo] | None = None) -> None:
    """Report to the observer the victims on a node for a task, and their candidates."""
    if ssn.observer.watching:
        among = {} if candidates is None else {"candidates": [victim.key for victim in candidates]}
        ssn.observer.note("victims", action=action, task=task.key, node=node.name, **among,
                          chosen=[victim.key for victim in chosen])


def pipeline(statement: Statement, task: TaskInfo, node: str, evicted: bool) -> None:
    """Pipeline a task onto a node; on failure log the error and undo it."""
    try:
        statement.pipeline(task, node, evicted)
    except StatementError as error:
        statement.ssn.log.error("%s", error)
        unplace(statement.ssn, task)
