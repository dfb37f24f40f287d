"""conformance: pods that the cluster itself needs are never evicted.

Volcano: pkg/scheduler/plugins/conformance/conformance.go
"""

from collections.abc import Sequence

from volcano_lab.api import TaskInfo
from volcano_lab.framework import PERMIT, Plugin, TasksAndVote

PROTECTED_CLASSES = frozenset(("system-cluster-critical", "system-node-critical"))
PROTECTED_NAMESPACE = "kube-system"


class Conformance(Plugin):
    """Tasks of a critical priority class, and all of namespace kube-system, are no victims."""

    name = "conformance"
    victims_by_job = True

    def preemptable(self, evictor: TaskInfo, evictees: Sequence[TaskInfo]) -> TasksAndVote:
        return [task
                for task in evictees if task.pod.spec.priority_class_name not in PROTECTED_CLASSES
                and task.namespace != PROTECTED_NAMESPACE], PERMIT

    reclaimable = preemptable
