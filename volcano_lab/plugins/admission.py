"""Admission: resources that admitted jobs reserve, shared by the plugins that admit jobs.

Volcano: pkg/scheduler/plugins/util/util.go
"""

from collections.abc import Sequence

from volcano_lab.api import EMPTY, JobInfo, Resource, quantity
from volcano_lab.api.resource import is_scalar_resource_name


def inqueue_resource(job: JobInfo) -> Resource:
    """Return what a job reserves beyond its allocated resources.

    An Inqueue gang reserves its minimum. A Running one reserves the unallocated part of its
    minimum, while it has its minimum of members (one whose driver has finished reserves nothing).
    Tasks with a scheduling gate reserve nothing.
    """
    status, spec = job.pod_group.status, job.pod_group.spec
    if status.phase == "Inqueue":
        return job.deduct_sch_gated_resources(job.get_min_resources())
    if status.phase == "Running" and spec.min_resources is not None and job.allocated_task_num(
    ) >= spec.min_member:
        return job.deduct_sch_gated_resources(not_allocated_yet(job))
    return EMPTY


def not_allocated_yet(job: JobInfo) -> Resource:
    """Return the minimum resources less the allocated ones, never negative.

    As in Volcano, a scalar is taken in whole units here, where it is in thousandths everywhere
    else.
    """
    least, allocated = job.get_min_resources(), job.allocated.scalars or {}
    named = least.scalars or {}
    scalars: dict[str, float] = {}
    for name, text in (job.pod_group.spec.min_resources or {}).items():
        if name in named and is_scalar_resource_name(name):
            left = quantity.value(text) - allocated.get(name, 0.0)
            if name not in allocated or left > 0:
                scalars[name] = float(left)
    return Resource(max(least.milli_cpu - job.allocated.milli_cpu, 0.0),
                    max(least.memory - job.allocated.memory, 0.0), scalars or None)


def format_resource_names(prefix: str, verb: str, names: Sequence[str]) -> str:
    """Return a reason with the resources that it concerns.

    >>> format_resource_names("queue resource quota insufficient", "insufficient",
    ...                       ["cpu", "memory"])
    'queue resource quota insufficient: insufficient cpu, insufficient memory'
    """
    return f"{prefix}: {', '.join(f'{verb} {name}' for name in names)}" if names else prefix
