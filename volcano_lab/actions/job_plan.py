"""A job's worksheet: which of its sub-jobs and tasks still need a node, in order.

Volcano: pkg/scheduler/actions/allocate/allocate.go (JobWorksheet, organizeJobWorksheet)
"""

from __future__ import annotations

from collections import Counter
from functools import cmp_to_key

from attrs import define

from volcano_lab.api import PENDING, JobInfo, SubJobInfo, TaskInfo
from volcano_lab.framework import PriorityQueue, Session


@define(slots=True)
class JobWorksheet:
    """`sub_jobs` with tasks to place, and their `tasks`; true while any sub-job is left.

    Sub-jobs that the gang needs are placed before those that it does not need.
    """

    sub_jobs: PriorityQueue[SubJobInfo]
    tasks: dict[str, PriorityQueue[TaskInfo]]

    def __bool__(self) -> bool:
        return bool(self.sub_jobs)

    def clone(self) -> JobWorksheet:
        return JobWorksheet(self.sub_jobs.clone(),
                            {uid: tasks.clone() for uid, tasks in self.tasks.items()})


def organize(ssn: Session, job: JobInfo) -> JobWorksheet:
    """Return by sub-job the tasks that are pending, have no gate and request resources."""
    required = _required_sub_jobs(ssn, job) if job.min_sub_jobs else frozenset()

    def less(left: SubJobInfo, right: SubJobInfo) -> bool:
        if (left.uid in required) != (right.uid in required):
            return left.uid in required
        return ssn.sub_job_order(left, right)

    sub_jobs: PriorityQueue[SubJobInfo] = PriorityQueue(less)
    tasks: dict[str, PriorityQueue[TaskInfo]] = {}
    for uid, sub_job in sorted(job.sub_jobs.items()):
        pending = [task for _, task in sorted(sub_job.in_status(PENDING).items())
                   if not task.sch_gated and not task.resreq.is_empty()]
        if pending:
            sub_jobs.push(sub_job)
            tasks[uid] = ssn.task_queue(pending)
    return JobWorksheet(sub_jobs, tasks)


def _required_sub_jobs(ssn: Session, job: JobInfo) -> frozenset[str]:
    """Return the first sub-jobs, in order, that give each policy its minimum of sub-groups."""
    ready: Counter[str] = Counter()
    waiting = []
    for _, sub_job in sorted(job.sub_jobs.items()):
        if ssn.is_sub_job_ready(job, sub_job):
            ready[sub_job.gid] += 1
        else:
            waiting.append(sub_job)
    waiting.sort(key=cmp_to_key(lambda left, right: -1 if ssn.sub_job_order(left, right) else 1))
    required = set()
    for sub_job in waiting:
        if ready[sub_job.gid] < job.min_sub_jobs.get(sub_job.gid, 0):
            required.add(sub_job.uid)
            ready[sub_job.gid] += 1
    return frozenset(required)
