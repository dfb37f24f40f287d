"""Compare what a session writes at its end, of PodGroups and of queues, with its tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from queue_audit import requested

from volcano_lab.api.job import JobInfo
from volcano_lab.api.queue import ROOT_QUEUE
from volcano_lab.api.resource import Resource, total
from volcano_lab.api.status import (
    ALLOCATED_STATUSES,
    COMPLETED_STATUSES,
    FAILED,
    RUNNING,
    SCHEDULED_STATUSES,
    SUCCEEDED,
)
from volcano_lab.framework.session import Session
from volcano_lab.simulation.invariants import differ


def written_problems(ssn: Session) -> Iterator[str]:
    """A sentence for each status that is not what the tasks make."""
    for job in ssn.jobs.values():
        yield from _of_pod_group(job)
    phases = Counter((job.queue, job.pod_group.status.phase.lower()) for job in ssn.jobs.values())
    for name, queue in ssn.queues.items():
        yield from (f"the status of queue {name} does not count {phases[name, phase]} {phase}"
                    for phase in ("unknown", "pending", "running", "inqueue", "completed")
                    if getattr(queue.queue.status, phase) != phases[name, phase])
        written = Resource.from_list(queue.queue.status.allocated)
        expected = total(requested(task for task in job.tasks.values()
                                   if task.status in ALLOCATED_STATUSES)
                         for job in ssn.jobs.values() for each in _upwards(ssn, job.queue)
                         if each == name)
        if differ(written, expected):
            yield f"the status of queue {name} has {written}, its jobs have {expected}"


def _upwards(ssn: Session, queue: str) -> list[str]:
    """The queues whose status counts a job: its own and, where there is a root, those above; for
    jobs of the root this is the root, too.
    """
    names = [queue]
    while ROOT_QUEUE in ssn.queues and names[-1] in ssn.queues:
        names.append(ssn.queues[names[-1]].queue.spec.parent or ROOT_QUEUE)
        if names[-1] == ROOT_QUEUE:
            break
    return names


def _of_pod_group(job: JobInfo) -> Iterator[str]:
    status, count = job.pod_group.status, Counter(task.status for task in job.tasks.values())
    made = count[RUNNING], count[SUCCEEDED], count[FAILED]
    if (status.running, status.succeeded, status.failed) != made:
        yield f"the status of job {job.uid} does not count its {made} tasks"
    scheduled = sum(count[each] for each in SCHEDULED_STATUSES)
    ended = sum(count[each] for each in COMPLETED_STATUSES)
    if status.phase == "Completed" and ended < scheduled:
        yield f"job {job.uid} is Completed, and {scheduled - ended} of its tasks are not"
    started = status.phase in ("Running", "Completed", "Unknown")
    if started != (scheduled >= job.pod_group.spec.min_member) and (
            status.phase != "Unknown" or not count[RUNNING]):
        yield f"job {job.uid} is {status.phase} with {scheduled} tasks"
    types = Counter(each.type for each in status.conditions)
    if len(types) < len(status.conditions):
        yield f"job {job.uid} has conditions {types}"
    for each in status.conditions:
        missing = each.message.partition("/")[0] if each.type == "Unschedulable" else "0"
        if missing.isdigit() and int(missing) > job.min_available:
            yield f"job {job.uid} lacks {missing} tasks for its minimum of {job.min_available}"
