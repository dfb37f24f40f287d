"""At the end of a session: what each queue, and each of its ancestors, has allocated, and how many
PodGroups it has.

Differs on purpose: PodGroups by phase, which Volcano's queue controller counts, are written here as
well, as the lab has no such controller; and where a parent does not exist or parents form a cycle,
the lineage ends (Volcano stops with a nil pointer, or never ends).

The root's `deserved` and `guarantee` are written back to its spec, too. They are then no longer
empty, so the next session uses them unchanged, even if the cluster has grown meanwhile.

Volcano: pkg/scheduler/framework/session.go (updateQueueStatus)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from volcano_lab.api import CPU, EMPTY, MEMORY, PODS, ROOT_QUEUE, QueueInfo, Resource, quantity
from volcano_lab.api.objects import Queue

if TYPE_CHECKING:
    from volcano_lab.framework.session import Session

PHASES = ("Unknown", "Pending", "Running", "Inqueue", "Completed")
"""The phases of a PodGroup that a queue's status counts."""


def allocated_by_queue(ssn: Session) -> dict[str, Resource]:
    """Return what each queue has allocated: to its own jobs and, with a root queue, to those of its
    descendants.

    Jobs of the root queue itself count twice there, in Volcano as well.
    """
    own = dict.fromkeys(ssn.queues, EMPTY)
    for job in ssn.jobs.values():
        own[job.queue] = own[job.queue] + job.allocated
    allocated = dict.fromkeys(ssn.queues, EMPTY)
    for queue, held in own.items():
        for name in lineage(ssn.queues, queue):
            allocated[name] = allocated[name] + held
    return allocated


def lineage(queues: Mapping[str, QueueInfo], queue: str) -> list[str]:
    """Return a queue and its ancestors up to the root (above the root: the root again); the queue
    alone without a root.

    >>> from volcano_lab.api.objects import ObjectMeta, QueueSpec
    >>> queues = {name: QueueInfo.of(Queue(ObjectMeta(name=name), QueueSpec(parent=parent)))
    ...           for name, parent in (("root", ""), ("eng", ""), ("dev", "eng"))}
    >>> lineage(queues, "dev"), lineage(queues, "root")
    (['dev', 'eng', 'root'], ['root', 'root'])
    """
    line = [queue]
    while ROOT_QUEUE in queues:
        parent = queues[line[-1]].queue.spec.parent or ROOT_QUEUE
        if parent not in queues or (parent in line and parent != ROOT_QUEUE):
            break
        line.append(parent)
        if parent == ROOT_QUEUE:
            break
    return line


def update_queue_status(ssn: Session) -> None:
    """Write the queues' status where it changed, and the root's spec as the sum of its children."""
    allocated = allocated_by_queue(ssn)
    pod_groups = Counter((job.queue, job.pod_group.status.phase) for job in ssn.jobs.values())
    for name, info in ssn.queues.items():
        queue = _with_status(info.queue, to_resource_list(allocated[name]), pod_groups)
        if name == ROOT_QUEUE:
            queue = _with_totals(queue, to_resource_list(ssn.total_deserved),
                                 to_resource_list(ssn.total_guarantee))
        if queue is not info.queue:
            info.queue = queue
            ssn.cache.update_queue_status(info)


def _with_status(queue: Queue, allocated: dict[str, str],
                 pod_groups: Counter[tuple[str, str]]) -> Queue:
    """Return the queue with a new status, the same object where nothing changed."""
    status = queue.status
    count = {phase.lower(): pod_groups[queue.name, phase] for phase in PHASES}
    if same_amounts(status.allocated, allocated) and all(
            getattr(status, phase) == n for phase, n in count.items()):
        return queue
    return queue.changed(status={"allocated": allocated, **count})


def _with_totals(queue: Queue, deserved: dict[str, str], guarantee: dict[str, str]) -> Queue:
    spec = queue.spec
    if same_amounts(spec.deserved, deserved) and same_amounts(spec.guarantee.resource, guarantee):
        return queue
    return queue.changed(spec={"deserved": deserved,
                               "guarantee": spec.guarantee.evolve(resource=guarantee)})


def same_amounts(left: Mapping[str, str] | None, right: Mapping[str, str] | None) -> bool:
    """Return whether two lists have the same resources with equal amounts, however they are
    written; unset is empty.

    >>> same_amounts({"cpu": "1000m"}, {"cpu": "1"}), same_amounts({"cpu": "0"}, None)
    (True, False)
    """
    left, right = left or {}, right or {}
    return left.keys() == right.keys() and all(
        quantity.parse(left[k]) == quantity.parse(right[k]) for k in left)


def to_resource_list(resource: Resource) -> dict[str, str]:
    """Return a resource in Kubernetes' notation.

    >>> to_resource_list(Resource(1500.0, 1024.0**3, {"nvidia.com/gpu": 2000.0, "pods": 3.0}))
    {'cpu': '1500m', 'memory': '1Gi', 'nvidia.com/gpu': '2', 'pods': '3'}
    """
    texts = {CPU: quantity.to_text(Fraction(int(resource.milli_cpu), 1000)),
             MEMORY: quantity.to_text(int(resource.memory), "BinarySI")}
    for name, amount in sorted((resource.scalars or {}).items()):
        texts[name] = quantity.to_text(int(amount) if name == PODS else Fraction(int(amount), 1000))
    return texts
