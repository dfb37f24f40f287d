"""priority: higher priority is first, and may evict lower.

Volcano: pkg/scheduler/plugins/priority/priority.go
"""

from collections.abc import Sequence

from volcano_lab.api import JobInfo, TaskInfo
from volcano_lab.framework import PERMIT, Plugin, TasksAndVote


class Priority(Plugin):
    """Orders tasks, jobs and sub-jobs by priority: between jobs by the jobs' priorities, within one
    by the tasks'.
    """

    name = "priority"
    victims_by_job = True

    def task_order(self, left: TaskInfo, right: TaskInfo) -> int:
        return right.priority - left.priority

    job_order = task_order
    sub_job_order = task_order

    def task_order_key(self, task: TaskInfo) -> int:
        """Return `task_order` as a number to sort by."""
        return -task.priority

    job_order_key = task_order_key

    def preemptable(self, preemptor: TaskInfo, preemptees: Sequence[TaskInfo]) -> TasksAndVote:
        """Select tasks of jobs with a lower priority, and of the same job those with a lower own
        priority.
        """
        return [task for task in preemptees if self.preemptable_alone(preemptor, task)], PERMIT

    def preemptable_alone(self, preemptor: TaskInfo, task: TaskInfo) -> bool:
        if task.job == preemptor.job:
            return task.priority < preemptor.priority
        jobs = self.ssn.jobs
        return jobs[task.job].priority < jobs[preemptor.job].priority

    def job_starving(self, job: JobInfo) -> bool:
        """Return whether a job has any task that neither runs nor is pipelined."""
        return job.ready_task_num() + job.waiting_task_num() < len(job.tasks)
