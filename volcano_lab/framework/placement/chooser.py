"""Which nodes a task fits, and the best of them, node by node.

All nodes are tried in the given order; among equal scores the first wins.

Volcano: pkg/scheduler/util/predicate_helper.go, pkg/scheduler/util/scheduler_helper.go
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from volcano_lab.api import ZERO, FitErrors, NodeInfo, NodeList, TaskInfo
from volcano_lab.api.fit_error import UNSCHEDULABLE, FitError, Status, insufficient

if TYPE_CHECKING:
    from volcano_lab.framework.session import Session

Predicate = Callable[[TaskInfo, NodeInfo], FitError | None]


class PredicateHelper:
    """Filters nodes for tasks, and caches by task role the nodes that failed (the predicate error
    cache).

    Tasks without a role never use the cache: they need not be alike.
    """

    def __init__(self, use_cache: bool = True):
        self.use_cache = use_cache
        self._failed: dict[str, dict[str, FitError]] = {}

    def predicate_nodes(self, task: TaskInfo, nodes: Sequence[NodeInfo], predicate: Predicate
                        ) -> tuple[list[NodeInfo], FitErrors]:
        """Return the nodes that fit, and why the others do not."""
        errors = FitErrors()
        group = f"{task.job}/{task.task_role}"
        known = self._failed.get(group, {}) if self.use_cache and task.task_role else {}
        fitting = []
        for node in nodes:
            error = known.get(node.name)
            if error is None:
                error = predicate(task, node)
                if error is None:
                    fitting.append(node)
                    continue
                self._failed.setdefault(group, {})[node.name] = error
            errors.set_node_error(node.name, error)
        return fitting, errors


class PlainChooser:
    """Finds a node for one task after the other, within one statement."""

    def __init__(self, ssn: Session, use_cache: bool = True):
        self.ssn, self.use_cache = ssn, use_cache
        self.helper = PredicateHelper(use_cache)

    def choose(self, task: TaskInfo, nodes: NodeList) -> tuple[NodeInfo | None, FitErrors]:
        """Return the chosen node or None, and why the others do not fit.

        A nominated node, where victims were evicted in an earlier cycle, is tried alone first. Of
        the nodes that fit, the best by idle resources is chosen or, if there is none, the best by
        future idle ones.
        """
        ssn, request = self.ssn, task.init_resreq
        fitting: list[NodeInfo] = []
        nominated = self.nominated(task)
        if nominated is not None:
            fitting, errors = self.helper.predicate_nodes(task, [nominated], self._predicate)
        if not fitting:
            fitting, errors = self.helper.predicate_nodes(task, nodes, self._predicate)
        now = [node for node in fitting if request.less_equal(node.idle, ZERO)]
        return best_node(ssn, task, now or fitting), errors

    def nominated(self, task: TaskInfo) -> NodeInfo | None:
        """Return the node nominated for the task, if it fits idle or future idle resources."""
        name = task.pod.status.nominated_node_name
        node = self.ssn.nodes.get(name) if name else None
        return node if node and task.init_resreq.less_equal(node.future_idle, ZERO) else None

    def _predicate(self, task: TaskInfo, node: NodeInfo) -> FitError | None:
        fits, names = task.init_resreq.less_equal_with_resources_name(node.future_idle, ZERO)
        return self.ssn.predicate_for_allocate(task, node) if fits else FitError(
            task.key, node.name, (Status(UNSCHEDULABLE, insufficient(names)),))


def prioritize_nodes(ssn: Session, task: TaskInfo,
                     nodes: Sequence[NodeInfo]) -> dict[float, list[NodeInfo]]:
    """Return nodes by score, the sum of the plugins' scores per node and per batch of nodes."""
    mapped: dict[str, dict[str, float]] = {}
    ordered: dict[str, float] = {}
    for node in nodes:
        ordered[node.name] = ssn.node_order(task, node)
        for plugin, score in ssn.node_map(task, node).items():
            mapped.setdefault(plugin, {})[node.name] = score // 1
    reduced = ssn.node_reduce(task, mapped)
    batch = ssn.batch_node_order(task, nodes)
    scores: dict[float, list[NodeInfo]] = {}
    for node in nodes:
        score = reduced.get(node.name, 0.0) + ordered[node.name] + batch.get(node.name, 0.0)
        scores.setdefault(score, []).append(node)
    return scores


def best_node(ssn: Session, task: TaskInfo, nodes: Sequence[NodeInfo]) -> NodeInfo | None:
    """Return the only node; else a plugin's choice; else the first with the highest score."""
    if len(nodes) <= 1:
        return nodes[0] if nodes else None
    scores = prioritize_nodes(ssn, task, nodes)
    insisted = ssn.best_node(task, scores)
    return insisted if insisted is not None else scores[max(scores)][0]
