"""Letting jobs in: the sum that decides it, and what jobs let in have reserved; shared by the
plugins that admit jobs.

Answers to `GetInqueueResource` and its neighbours in `pkg/scheduler/plugins/util/util.go`, and to
what the `JobEnqueueable` functions of `proportion.go` and `capacity.go` have in common.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from volcano_lab.api import quantity
from volcano_lab.api.job import JobInfo
from volcano_lab.api.queue import QueueInfo
from volcano_lab.api.resource import (
    CPU,
    EMPTY,
    MAX_FLOAT,
    MEMORY,
    Resource,
    is_scalar_resource_name,
)
from volcano_lab.api.task import TaskInfo
from volcano_lab.framework.session import Session
from volcano_lab.plugins.reasons import format_resource_names


class QueueSums(Protocol):
    """What the sum of admission needs to know of a queue."""

    name: str
    allocated: Resource
    inqueue: Resource
    elastic: Resource
    real_capability: Resource


def missing_for(ssn: Session, plugin: str, job: JobInfo, attr: QueueSums) -> list[str]:
    """The resources of which a queue lacks enough to let a job in.

    minimum + allocated + inqueue - elastic must not exceed the real capability, in any dimension of
    the minimum. The observer hears of both sides; `level` is the queue compared, which may stand
    above the job's.

    `elastic` stays as it was when the session opened, so that after evictions it may be more than
    what is allocated. Volcano stops with a panic then (unless PANIC_ON_ERROR is false, which the
    lab does likewise).
    """
    least, limit = job.get_min_resources(), attr.real_capability
    asked = least + attr.allocated + attr.inqueue - attr.elastic
    names = asked.less_equal_with_dimension_and_resources_name(limit, least)[1]
    ssn.observer.note("enqueue_comparison", plugin=plugin, job=job.uid, queue=job.queue,
                      level=attr.name, min_resources=least, allocated=attr.allocated,
                      inqueue=attr.inqueue, elastic=attr.elastic, asked=asked, limit=limit,
                      short_of=names)
    return names


def refuse(ssn: Session, job: JobInfo, short_of: list[str]) -> None:
    """Tell a job's owner which resources its queue lacks."""
    message = format_resource_names("queue resource quota insufficient", "insufficient", short_of)
    ssn.record_pod_group_event(job, "Normal", "Unschedulable", message)


def capability_of(queue: QueueInfo) -> Resource | None:
    """A queue's capability as its author wrote it; CPU or memory left out (or zero) is no limit.
    None where unset.
    """
    spec = queue.queue.spec
    if not spec.capability:
        return None
    written = Resource.from_list(spec.capability)
    return Resource(written.milli_cpu if written.milli_cpu > 0 else MAX_FLOAT,
                    written.memory if written.memory > 0 else MAX_FLOAT, written.scalars)


def inqueue_resource(job: JobInfo) -> Resource:
    """What a job reserves beyond what it has allocated.

    An Inqueue gang reserves its minimum. A Running one reserves the part of its minimum that isn't
    allocated, as long as it still has its minimum of members (one whose driver has finished
    reserves nothing). Tasks behind a scheduling gate reserve nothing.
    """
    status, spec = job.pod_group.status, job.pod_group.spec
    if status.phase == "Inqueue":
        return job.deduct_sch_gated_resources(job.get_min_resources())
    if status.phase == "Running" and spec.min_resources is not None and job.allocated_task_num(
    ) >= spec.min_member:
        return job.deduct_sch_gated_resources(not_allocated_yet(job))
    return EMPTY


def not_allocated_yet(job: JobInfo) -> Resource:
    """The minimum resources less what is allocated, never negative.

    Volcano takes the whole number of a scalar here where everywhere else it takes thousandths; so
    do we.
    """
    cpu = memory = 0.0
    scalars: dict[str, float] = {}
    allocated = job.allocated.scalars or {}
    for name, text in (job.pod_group.spec.min_resources or {}).items():
        if name == CPU:
            cpu = max(quantity.milli_value(text) - job.allocated.milli_cpu, 0.0)
        elif name == MEMORY:
            memory = max(quantity.value(text) - job.allocated.memory, 0.0)
        elif not name.startswith("count/") and is_scalar_resource_name(name):
            left = quantity.value(text) - allocated.get(name, 0.0)
            if name not in allocated or left > 0:
                scalars[name] = float(left)
    return Resource(float(cpu), float(memory), scalars or None)


def requests_of(tasks: Iterable[TaskInfo]) -> Resource:
    """The sum of the requests of tasks; equal requests are counted, not added one by one."""
    result = EMPTY
    counts: dict[Resource, int] = {}
    for task in tasks:
        counts[task.resreq] = counts.get(task.resreq, 0) + 1
    for request, count in counts.items():
        result = result + (request * count if count > 1 else request)
    return result
