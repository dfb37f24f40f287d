"""The texts of a waiting job: its conditions, and the reason of each of its tasks.

The wording is interface: people and tools search for it in `kubectl describe podgroup`.

Volcano: pkg/scheduler/api/job_info.go (FitError, TaskSchedulingReason)
"""

from collections import Counter
from typing import NamedTuple

from volcano_lab.api.fit_error import POD_REASON_SCHEDULABLE, POD_REASON_UNSCHEDULABLE, histogram
from volcano_lab.api.job import JobInfo
from volcano_lab.api.status import ALLOCATED, ALLOCATED_STATUSES, PENDING, PIPELINED

_WORDS = {ALLOCATED: POD_REASON_SCHEDULABLE, PIPELINED: POD_REASON_UNSCHEDULABLE,
          PENDING: POD_REASON_UNSCHEDULABLE}
"""The reason of a pending task by its status, or by the one that a statement planned."""


class SchedulingReason(NamedTuple):
    """Why a task has its state, as in its pod's condition."""

    reason: str
    message: str
    nominated_node: str = ""


def fit_error(job: JobInfo) -> str:
    """Return the job's state in one line: tasks by status, pending tasks by reason, first cause.

    >>> fit_error(JobInfo("default/a"))
    'pod group is ready, 0 minAvailable'
    """
    counts = {str(status): len(tasks) for status, tasks in job.task_status_index.items()}
    counts["minAvailable"] = job.min_available
    text = (f"pod group is {'ready' if job.is_ready() else 'not ready'}, "
            f"{', '.join(histogram(counts))}")
    reasons = Counter([_WORDS.get(status, str(status)) for status in (
        (task.last_transaction or task).status for task in job.in_status(PENDING).values())])
    if reasons:
        text += f"; {PENDING}: {', '.join(histogram(reasons))}"
    for uid in sorted(job.tasks):
        if uid in job.nodes_fit_errors:
            return f"{text}. Origin reason is {job.tasks[uid].name}: {job.nodes_fit_errors[uid]}"
    return text


def task_scheduling_reason(job: JobInfo, uid: str) -> SchedulingReason:
    """Return why one task waits: a discarded statement's plan, or why no node fits."""
    task = job.tasks.get(uid)
    if task is None:
        return SchedulingReason("", "")
    context = task.last_transaction or task.transaction_context()
    possible = (f"Pod {task.namespace}/{task.name} can possibly be assigned to "
                f"{context.node_name}, once ")
    if context.status == ALLOCATED:
        return SchedulingReason(POD_REASON_SCHEDULABLE, possible + "minAvailable is satisfied")
    if context.status == PIPELINED:
        return SchedulingReason(
            POD_REASON_UNSCHEDULABLE,
            possible + "resource is released and minAvailable is satisfied",
            context.node_name if context.eviction_occurred else "")
    if context.status == PENDING:
        errors = job.nodes_fit_errors.get(uid)
        return SchedulingReason(POD_REASON_UNSCHEDULABLE, "" if errors is None else str(errors))
    return SchedulingReason(str(context.status), "")


def schedulable_task_num(job: JobInfo) -> int:
    """Return how many tasks are ready or had a node in a discarded statement."""
    would = sum((task.last_transaction or task).status in ALLOCATED_STATUSES
                for task in job.in_status(PENDING).values())
    return would + job.ready_task_num()
