"""A queue in the scheduler.

Volcano: pkg/scheduler/api/queue_info.go
"""

from __future__ import annotations

from attrs import define

from volcano_lab.api.objects import Queue

HIERARCHY_ANNOTATION = "volcano.sh/hierarchy"
HIERARCHY_WEIGHTS_ANNOTATION = "volcano.sh/hierarchy-weights"
ROOT_QUEUE = "root"


@define(slots=True, eq=False)
class QueueInfo:
    """`uid` and `name` are the queue's name; `hierarchy` and `weights` its path and weights for
    hierarchical DRF.

    >>> from volcano_lab.api.objects import ObjectMeta, QueueSpec
    >>> info = QueueInfo.of(Queue(ObjectMeta(name="research"), QueueSpec(weight=3)))
    >>> info.uid, info.weight, info.reclaimable, info.is_open
    ('research', 3, True, False)
    """

    uid: str
    name: str
    weight: int
    hierarchy: str
    weights: str
    queue: Queue

    @classmethod
    def of(cls, queue: Queue) -> QueueInfo:
        notes = queue.metadata.annotations
        return cls(queue.name, queue.name, queue.spec.weight or 0,
                   notes.get(HIERARCHY_ANNOTATION, ""), notes.get(HIERARCHY_WEIGHTS_ANNOTATION, ""),
                   queue)

    def clone(self) -> QueueInfo:
        return QueueInfo(self.uid, self.name, self.weight, self.hierarchy, self.weights, self.queue)

    @property
    def reclaimable(self) -> bool:
        """Whether other queues may reclaim from this one; unset means they may."""
        return self.queue.spec.reclaimable is not False

    @property
    def is_open(self) -> bool:
        """Whether the queue accepts new jobs."""
        return self.queue.status.state == "Open"

    @property
    def creation_timestamp(self) -> float:
        return self.queue.metadata.creation_timestamp or 0.0
