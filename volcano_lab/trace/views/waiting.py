"""Why pods of a job wait, in sentences: what enqueue compared, the gang's condition, nodes that
don't fit, full queues.

Answers to no Go file; conditions and fit errors are quoted as Volcano writes them. It needs no
trace, so a slider may ask at every move, and `volcano-lab run` for every job; `explain` says more
of one job, and what would change it.
"""

from __future__ import annotations

from collections.abc import Iterator

from volcano_lab.api.formatting import amount_text
from volcano_lab.api.job import JobInfo
from volcano_lab.api.job_conditions import fit_error
from volcano_lab.api.status import PENDING
from volcano_lab.framework.session import Session
from volcano_lab.trace.cycle_record import CycleRecord, queue_attributes


def reasons(ssn: Session, record: CycleRecord, job: JobInfo) -> list[str]:
    """Why pods of a job wait, once its session has closed; empty where none waits.

    >>> from volcano_lab.cluster import Cluster
    >>> cycle = Cluster().node("n1", cpu=4).job("train", pods=6, cpu=1).run()
    >>> reasons(cycle.session, cycle.record, cycle.session.jobs["default/train"])[0]
    "not let in: with this job's minimum, overcommit counts cpu 6 where 4.8 is allowed"
    """
    if not job.has_pending_tasks() and job.tasks:
        return []
    return list(dict.fromkeys(_reasons(ssn, record, job)))


def _reasons(ssn: Session, record: CycleRecord, job: JobInfo) -> Iterator[str]:
    if not job.tasks:
        yield "the PodGroup has no pods yet"
    if job.is_pending():
        yield from _refusals(record, job)
        if "enqueue" not in ssn.enabled_actions:
            yield "the configuration has no enqueue action"
    invalid = ssn.job_valid(job)
    if invalid is not None:
        yield f"{invalid.reason}: {invalid.message}"
    for condition in job.pod_group.status.conditions:
        if condition.type == "Unschedulable" and condition.status == "True":
            yield f"{condition.reason}: {condition.message}"
    if job.is_ready() and (job.job_fit_errors or job.nodes_fit_errors):
        yield fit_error(job)
    if not job.is_pending():
        yield from _queue_full(ssn, record, job)


def _refusals(record: CycleRecord, job: JobInfo) -> Iterator[str]:
    """What enqueue compared when it refused the job."""
    for fact in record.facts.get("enqueue_comparison", ()):
        if fact["job"] != job.uid or not fact["short_of"]:
            continue
        sides = [(name, fact["asked"].get(name), fact["limit"].get(name))
                 for name in fact["short_of"]]
        sums = " and ".join(
            f"{name} {amount_text(name, asked)} where {amount_text(name, limit)} is allowed"
            for name, asked, limit in sides)
        where = f" in queue {fact['level']}" if "level" in fact else ""
        yield f"not let in: with this job's minimum, {fact['plugin']} counts {sums}{where}"


def _queue_full(ssn: Session, record: CycleRecord, job: JobInfo) -> Iterator[str]:
    """That one more pod is too much for the queue, or for one above it, in which resource."""
    queue, attr = ssn.queues[job.queue], queue_attributes(ssn).get(job.queue)
    task = min(job.in_status(PENDING).values(), key=lambda task: task.uid, default=None)
    if task is None or attr is None or ssn.allocatable(queue, task):
        return
    if not queue.is_open:
        yield f"queue {queue.name} is {queue.queue.status.state}, not Open"
        return
    name, word, most = queue.name, "deserves", attr.deserved
    if "proportion" not in ssn.plugins:
        levels = record.facts.get("allocatable_level",
                                  ())  # the last one is that of the question above
        name = levels[-1]["level"] if levels and levels[-1]["task"] == task.key else queue.name
        attr = queue_attributes(ssn)[name]
        word, most = "may hold", attr.real_capability
    _, short_of = (attr.allocated + task.resreq).less_equal_with_dimension_and_resources_name(
        most, task.resreq)
    for resource in short_of:
        yield (
            f"queue {name} holds {resource} {amount_text(resource, attr.allocated.get(resource))}; with "
            f"{amount_text(resource, task.resreq.get(resource))} more for {task.name} it would pass the "
            f"{amount_text(resource, most.get(resource))} that it {word}")
