"""nodegroup: queues have groups of nodes in which their pods must, should or must not run.

A node's group is its label `volcano.sh/nodegroup-name`; a queue's rules are its `spec.affinity`.
Argument: `strict` (default true): no queue may use nodes without a group; when false, queues
without an affinity may. With `enableHierarchy` a queue without an affinity inherits that of its
nearest ancestor.

Differs on purpose: all tasks of a queue share one answer per node (`predicate_key`).

Volcano: pkg/scheduler/plugins/nodegroup/nodegroup.go, pkg/scheduler/plugins/nodegroup/errors.go
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import define

from volcano_lab.api import ROOT_QUEUE, FitError, NodeInfo, QueueInfo, TaskInfo, unresolvable
from volcano_lab.api.objects import Queue
from volcano_lab.framework import Plugin, Session

NODE_GROUP_LABEL = "volcano.sh/nodegroup-name"
BASE_SCORE = 100.0

NO_AFFINITY = "node group affinity not specified"
NO_GROUP = "node group label not found"
UNSATISFIED = "node does not satisfy the node group affinity"


class NodeGroup(Plugin):
    """`affinities` maps each queue to its node groups; None where neither it nor, with the
    hierarchy, an ancestor has an affinity.
    """

    name = "nodegroup"

    def on_session_open(self, ssn: Session) -> None:
        self.strict = self.arguments.get_bool("strict", True)
        self.affinities = {name: NodeGroups.of(info.queue) for name, info in ssn.queues.items()}
        if ssn.hierarchy_enabled(self.name):
            own = dict(self.affinities)
            self.affinities = {name: nearest_affinity(ssn.queues, own, name) for name in own}

    def predicate(self, task: TaskInfo, node: NodeInfo) -> FitError | None:
        return unresolvable(task.key, node.name, self._refusal(self.ssn.jobs[task.job].queue, node))

    def _refusal(self, queue: str, node: NodeInfo) -> str:
        groups, group = self.affinities[queue], node.node.metadata.labels.get(NODE_GROUP_LABEL)
        wants = None if groups is None or groups.empty() else groups
        if group is None:
            return NO_GROUP if self.strict or wants else ""
        if wants is None:
            return NO_AFFINITY
        return "" if wants.allow(group) else UNSATISFIED

    def node_order(self, task: TaskInfo, node: NodeInfo) -> float:
        groups = self.affinities.get(self.ssn.jobs[task.job].queue)
        group = node.node.metadata.labels.get(NODE_GROUP_LABEL)
        return 0.0 if group is None or groups is None else groups.score(group)

    def predicate_key(self, task: TaskInfo) -> str:
        return self.ssn.jobs[task.job].queue

    node_order_key = predicate_key


@define(slots=True, frozen=True)
class NodeGroups:
    """A queue's affinity: names of groups that are required, preferred, or to be avoided."""

    required: frozenset[str] = frozenset()
    preferred: frozenset[str] = frozenset()
    anti_required: frozenset[str] = frozenset()
    anti_preferred: frozenset[str] = frozenset()

    @classmethod
    def of(cls, queue: Queue) -> NodeGroups | None:
        """Return None for a queue without an affinity; one with an empty affinity inherits none."""
        affinity = queue.spec.affinity
        if affinity is None:
            return None
        terms = affinity.node_group_affinity, affinity.node_group_anti_affinity
        return cls(*(frozenset(names) for term in terms for names in (
            (term.required_during_scheduling_ignored_during_execution,
             term.preferred_during_scheduling_ignored_during_execution) if term else ((), ()))))

    def empty(self) -> bool:
        return not (self.required or self.preferred or self.anti_required or self.anti_preferred)

    def allow(self, group: str) -> bool:
        """Return whether a group is named; one in `anti_preferred` is named, so it is allowed.

        >>> groups = NodeGroups(required=frozenset({"gpu"}), anti_preferred=frozenset({"old"}))
        >>> groups.allow("gpu"), groups.allow("old"), groups.allow("other")
        (True, True, False)
        """
        if group in self.anti_preferred:
            return True
        return group not in self.anti_required and (group in self.required
                                                    or group in self.preferred)

    def score(self, group: str) -> float:
        """Return 100 if required plus 50 if preferred; -1 if to be avoided."""
        if group in self.anti_preferred:
            return -1.0
        return BASE_SCORE * (group in self.required) + 0.5 * BASE_SCORE * (group in self.preferred)


def nearest_affinity(queues: Mapping[str, QueueInfo], own: Mapping[str, NodeGroups | None],
                     name: str) -> NodeGroups | None:
    """Return a queue's own affinity or that of its nearest ancestor; a missing parent or a cycle
    ends the search.
    """
    seen = set()
    while name in queues and name not in seen:
        if own[name] is not None:
            return own[name]
        if name == ROOT_QUEUE:
            break
        seen.add(name)
        name = queues[name].queue.spec.parent or ROOT_QUEUE
    return None
