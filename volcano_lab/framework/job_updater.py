"""At the end of a session: compute each PodGroup's phase and counts, and write those that changed.

Volcano: pkg/scheduler/framework/job_updater.go, pkg/scheduler/framework/session.go (jobStatus)
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from volcano_lab.api import RUNNING, JobInfo
from volcano_lab.api.objects import PodGroupStatus
from volcano_lab.api.status import COMPLETED_STATUSES, FAILED, SCHEDULED_STATUSES, SUCCEEDED

if TYPE_CHECKING:
    from volcano_lab.framework.session import Session

ALLOCATED_HYPER_NODE_ANNOTATION = "volcano.sh/job-allocated-hypernode"


def update_all(ssn: Session) -> None:
    """Compute every job's status and pass changes to the cache."""
    for uid, job in ssn.jobs.items():
        status = job.pod_group.status
        unschedulable = any(c.type == "Unschedulable" and c.status == "True"
                            and c.transition_id == ssn.uid for c in status.conditions)
        status.phase = pod_group_phase(job, unschedulable)
        status.running, status.failed, status.succeeded = (
            len(job.in_status(s)) for s in (RUNNING, FAILED, SUCCEEDED))
        old = ssn.old_status.get(uid)
        changed = old is None or status_changed(status, old)
        key = ALLOCATED_HYPER_NODE_ANNOTATION
        moved = ssn.old_annotations.get(uid,
                                        {}).get(key) != job.pod_group.metadata.annotations.get(key)
        ssn.cache.update_job_status(job, changed, moved, uid in ssn.dirty_jobs)


def pod_group_phase(job: JobInfo, unschedulable: bool) -> str:
    """Return the phase.

    Unknown while some tasks run and this cycle found the gang unschedulable; Running or Completed
    once enough tasks are (or were) bound; an Inqueue gang keeps it; any other is Pending.
    """
    if job.in_status(RUNNING) and unschedulable:
        return "Unknown"
    scheduled = sum([len(tasks) for status, tasks in job.task_status_index.items()
                     if status in SCHEDULED_STATUSES])
    if scheduled >= job.pod_group.spec.min_member:
        completed = sum([len(job.in_status(status)) for status in COMPLETED_STATUSES])
        return "Completed" if scheduled == completed else "Running"
    return "Inqueue" if job.pod_group.status.phase == "Inqueue" else "Pending"


def status_changed(new: PodGroupStatus, old: PodGroupStatus) -> bool:
    """Return whether anything but times and transition identifiers differs."""
    return _counts(new) != _counts(old) or list(map(_timeless, new.conditions)) != list(
        map(_timeless, old.conditions))


_counts = attrgetter("phase", "running", "succeeded", "failed")
_timeless = attrgetter("type", "status", "reason", "message")
