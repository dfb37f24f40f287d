"""At the end of a session: what each queue, and each queue above it, has allocated.

Answers to `updateQueueStatus` of `pkg/scheduler/framework/session.go`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import attrs

from volcano_lab.api import quantity
from volcano_lab.api.queue import ROOT_QUEUE
from volcano_lab.api.resource import CPU, EMPTY, MEMORY, PODS, Resource
from volcano_lab.api.status import ALLOCATED_STATUSES

if TYPE_CHECKING:
    from volcano_lab.framework.session import Session


def allocated_by_queue(ssn: Session) -> dict[str, Resource]:
    """What each queue has allocated, its own jobs and, where there is a root queue, those of the queues below it."""
    allocated = dict.fromkeys(ssn.queues, EMPTY)
    for job in ssn.jobs.values():
        if not any(job.in_status(status) for status in ALLOCATED_STATUSES):
            continue
        for name in lineage(ssn, job.queue):
            allocated[name] = allocated[name] + job.allocated
    return allocated


def lineage(ssn: Session, queue: str) -> list[str]:
    """A queue and those above it up to the root; the queue alone where the cluster has no root queue.

    A parent that doesn't exist ends the line.
    """
    line = [queue]
    while ROOT_QUEUE in ssn.queues and queue in ssn.queues:
        queue = ssn.queues[queue].queue.spec.parent or ROOT_QUEUE
        if queue not in ssn.queues or queue in line[1:]:
            break
        line.append(queue)
        if queue == ROOT_QUEUE:
            break
    return line


def update_queue_status(ssn: Session) -> None:
    """Write `status.allocated` of the queues in which it changed, and of the root also what its children sum up to."""
    for name, resource in allocated_by_queue(ssn).items():
        info = ssn.queues[name]
        allocated, spec = to_resource_list(resource), info.queue.spec
        if name == ROOT_QUEUE:
            guarantee = attrs.evolve(spec.guarantee, resource=to_resource_list(ssn.total_guarantee))
            spec = attrs.evolve(spec, deserved=to_resource_list(ssn.total_deserved), guarantee=guarantee)
        status = attrs.evolve(info.queue.status, allocated=allocated)
        if (status, spec) != (info.queue.status, info.queue.spec):
            info.queue = attrs.evolve(info.queue, spec=spec, status=status)
            ssn.cache.update_queue_status(info)


def to_resource_list(resource: Resource) -> dict[str, str]:
    """A resource as Kubernetes writes it.

    >>> to_resource_list(Resource(1500.0, 1024.0**3, {"nvidia.com/gpu": 2000.0, "pods": 3.0}))
    {'cpu': '1500m', 'memory': '1Gi', 'nvidia.com/gpu': '2', 'pods': '3'}
    """
    texts = {CPU: quantity.to_text(Fraction(int(resource.milli_cpu), 1000)),
             MEMORY: quantity.to_text(int(resource.memory), "BinarySI")}  # fmt: skip
    for name, amount in sorted((resource.scalars or {}).items()):
        texts[name] = quantity.to_text(int(amount) if name == PODS else Fraction(int(amount), 1000))
    return texts
