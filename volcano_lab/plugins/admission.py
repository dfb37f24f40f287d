"""What jobs that were let in, but don't run in full yet, have reserved: shared by the plugins that admit jobs.

Answers to `GetInqueueResource` and its neighbours in `pkg/scheduler/plugins/util/util.go`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from volcano_lab.api import quantity
from volcano_lab.api.job import JobInfo
from volcano_lab.api.resource import CPU, EMPTY, MEMORY, Resource, is_scalar_resource_name
from volcano_lab.api.task import TaskInfo


def inqueue_resource(job: JobInfo) -> Resource:
    """What a job reserves beyond what it has allocated.

    An Inqueue gang reserves its minimum. A Running one reserves the part of its minimum that isn't allocated, as long
    as it still has its minimum of members (one whose driver has finished reserves nothing). Tasks behind a scheduling
    gate reserve nothing.
    """
    status, spec = job.pod_group.status, job.pod_group.spec
    if status.phase == "Inqueue":
        return job.deduct_sch_gated_resources(job.get_min_resources())
    if status.phase == "Running" and spec.min_resources is not None and job.allocated_task_num() >= spec.min_member:
        return job.deduct_sch_gated_resources(not_allocated_yet(job))
    return EMPTY


def not_allocated_yet(job: JobInfo) -> Resource:
    """The minimum resources less what is allocated, never negative.

    Volcano takes the whole number of a scalar here where everywhere else it takes thousandths; so do we.
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
    for request, count in Counter(task.resreq for task in tasks).items():
        result = result + (request * count if count > 1 else request)
    return result
