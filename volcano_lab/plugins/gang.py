"""gang: a job starts with at least its minimum of tasks, or not at all.

Volcano: pkg/scheduler/plugins/gang/gang.go
"""

from collections.abc import Sequence

from attrs import define

from volcano_lab.api import JobInfo, SubJobInfo, TaskInfo
from volcano_lab.api.job_conditions import fit_error, schedulable_task_num
from volcano_lab.api.objects import PodGroupCondition
from volcano_lab.framework import PERMIT, REJECT, Plugin, Session, TasksAndVote

NOT_ENOUGH_PODS = "NotEnoughTasks"
NOT_ENOUGH_PODS_OF_TASK = "NotEnoughPodsOfTask"
NOT_ENOUGH_RESOURCES = "NotEnoughResources"
READY_REASON = "tasks in gang are ready to be scheduled"


@define(slots=True, frozen=True)
class Invalid:
    """Why a job cannot be scheduled whatever resources are free."""

    reason: str
    message: str


class Gang(Plugin):
    """Jobs are valid, ready and pipelined by their minimum; no gang is evicted below it; gangs that
    are not ready are first.
    """

    name = "gang"
    victims_by_job = True

    def job_valid(self, job: JobInfo) -> Invalid | None:
        if job.roles_short():
            return Invalid(NOT_ENOUGH_PODS_OF_TASK,
                           "Not enough valid pods of each task for gang-scheduling")
        if not job.check_sub_job_valid():
            return Invalid(NOT_ENOUGH_PODS_OF_TASK,
                           "Not enough valid subGroups of each task for gang-scheduling")
        valid = job.valid_task_num()
        if valid < job.min_available:
            return Invalid(NOT_ENOUGH_PODS, "Not enough valid tasks for gang-scheduling, "
                           f"valid: {valid}, min: {job.min_available}")
        return None

    def preemptable(self, preemptor: TaskInfo, preemptees: Sequence[TaskInfo]) -> TasksAndVote:
        """Select a gang's tasks above its minimum, assuming victims selected so far are gone."""
        ready: dict[str, int] = {}
        victims = []
        for task in preemptees:
            job = self.ssn.jobs[task.job]
            left = ready.setdefault(job.uid, job.ready_task_num())
            if left > job.min_available:
                ready[job.uid] = left - 1
                victims.append(task)
        return victims, PERMIT

    reclaimable = preemptable

    def preemptable_alone(self, preemptor: TaskInfo, task: TaskInfo) -> bool:
        job = self.ssn.jobs[task.job]
        return job.ready_task_num() > job.min_available

    reclaimable_alone = preemptable_alone

    def job_order(self, left: JobInfo, right: JobInfo) -> int:
        """Put a gang that is not ready first."""
        return left.is_ready() - right.is_ready()

    def job_order_key(self, job: JobInfo) -> bool:
        return job.is_ready()

    def sub_job_order(self, left: SubJobInfo, right: SubJobInfo) -> int:
        return left.is_ready() - right.is_ready()

    def job_ready(self, job: JobInfo) -> bool:
        return job.is_ready() and job.check_task_ready() and job.check_sub_job_ready()

    def sub_job_ready(self, sub_job: SubJobInfo) -> bool:
        return sub_job.is_ready()

    def job_pipelined(self, job: JobInfo) -> int:
        pipelined = job.is_pipelined() and job.check_task_pipelined(
        ) and job.check_sub_job_pipelined()
        return PERMIT if pipelined else REJECT

    def sub_job_pipelined(self, sub_job: SubJobInfo) -> int:
        return PERMIT if sub_job.is_pipelined() else REJECT

    def job_starving(self, job: JobInfo) -> bool:
        """Return whether a job lacks its minimum; those of its roles do not count here."""
        return job.is_starving()

    def on_session_close(self, ssn: Session) -> None:
        """Write each gang's condition: unschedulable with the reasons, or ready."""
        now = float(int(ssn.now))  # the API has whole seconds
        for job in ssn.jobs.values():
            if not job.tasks:
                continue
            if job.is_ready():
                condition = PodGroupCondition("Scheduled", "True", ssn.uid, now, READY_REASON)
            else:
                missing = job.min_available - schedulable_task_num(job)
                condition = PodGroupCondition(
                    "Unschedulable", "True", ssn.uid, now, NOT_ENOUGH_RESOURCES,
                    f"{missing}/{len(job.tasks)} tasks in gang unschedulable: {fit_error(job)}")
            ssn.update_pod_group_condition(job, condition)
