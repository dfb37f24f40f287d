"""resource-strategy-fit: for each resource its own strategy, preferring fuller or emptier nodes.

`arguments.py` has the arguments. Three parts:

- the strategies, `MostAllocated` or `LeastAllocated` per resource. A pod may set its own:
  annotations `volcano.sh/resource-strategy-scoring-type` and `volcano.sh/resource-strategy-weight`
  (JSON: resource -> integer);
- sra (scarce resource avoidance): the fewer scarce resources a node has at all, the higher its
  score, for every pod;
- proportional: a pod without scarce resources must leave CPU and memory for those that are idle.

Volcano: pkg/scheduler/plugins/resource-strategy-fit/resource_strategy_fit.go,
pkg/scheduler/plugins/resource-strategy-fit/sra.go,
pkg/scheduler/plugins/resource-strategy-fit/proportional.go
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from volcano_lab.api import FitError, NodeInfo, Resource, TaskInfo, unresolvable
from volcano_lab.framework import Plugin, Session, active_if
from volcano_lab.messages import log
from volcano_lab.plugins.resource_strategy_fit import arguments as given

SCORING_TYPE = "volcano.sh/resource-strategy-scoring-type"
SCORING_WEIGHT = "volcano.sh/resource-strategy-weight"
MAX_NODE_SCORE = 100.0


class ResourceStrategyFit(Plugin):
    """Scores from 0 to 100 x weight by the strategies, and the same again by sra."""

    name = "resource-strategy-fit"

    def on_session_open(self, ssn: Session) -> None:
        self.weight = given.read_weight(self.arguments)
        self.strategies = given.read_strategies(self.arguments)
        self.sra = given.read_sra(self.arguments)
        self.proportional = given.read_proportional(self.arguments)
        self.scores = self.weight > 0 or self.sra.weight > 0

    @active_if("proportional")
    def predicate(self, task: TaskInfo, node: NodeInfo) -> FitError | None:
        name = out_of_proportion(task.resreq, node, self.proportional)
        reason = f"proportional of resource {name} check failed" if name else ""
        return unresolvable(task.key, node.name, reason, self.name)

    def predicate_key(self, task: TaskInfo) -> Resource:
        return task.resreq

    @active_if("scores")
    def node_order(self, task: TaskInfo, node: NodeInfo) -> float:
        request, score = task.resreq, 0.0
        if self.weight > 0:
            score += strategy_score(request, node, self._strategies_of(task)) * (
                MAX_NODE_SCORE * self.weight)
        if self.sra.weight > 0:
            score += sra_score(request, node.allocatable, self.sra)
        return score

    def node_order_key(self, task: TaskInfo) -> tuple[Any, ...]:
        return task.resreq, *self._strategies_of(task).items()

    def _strategies_of(self, task: TaskInfo) -> Mapping[str, given.Strategy]:
        """Return, by resource of the task's request, the pod's own strategies, or else the
        configured ones.
        """
        notes = task.pod.metadata.annotations
        names = task.resreq.resource_names()
        kind = notes.get(SCORING_TYPE, "")
        if not kind:
            found = {name: given.find_strategy(name, self.strategies) for name in names}
            return {name: strategy for name, strategy in found.items() if strategy is not None}
        weights = pod_weights(notes.get(SCORING_WEIGHT, ""))
        if weights is None:
            log.once(f"pod {task.key}: annotation {SCORING_WEIGHT} is "
                     f"{notes.get(SCORING_WEIGHT)!r}; allowed beside "
                     f'{SCORING_TYPE} is JSON such as {{"cpu": 1}} with whole numbers; no node is '
                     'preferred for it.')
            return {}
        return {name: given.Strategy(kind, weights[name]) for name in names if name in weights}


def strategy_score(request: Resource, node: NodeInfo,
                   strategies: Mapping[str, given.Strategy]) -> float:
    """Return the weighted mean of each resource's score, from 0 to 1; 0 where a request exceeds the
    node.
    """
    allocatable, used = node.allocatable, node.used
    score, weights = 0.0, 0
    for name in request.resource_names():
        strategy = strategies.get(name)
        if strategy is None:
            continue
        capacity, filled = allocatable.get(name), used.get(name) + request.get(name)
        if strategy.type in (given.MOST_ALLOCATED,
                             given.LEAST_ALLOCATED) and strategy.weight and capacity:
            if filled > capacity:
                return 0.0
            score += (filled if strategy.type == given.MOST_ALLOCATED else capacity -
                      filled) * strategy.weight / capacity
        weights += strategy.weight
    return score / weights if weights > 0 else score


def sra_score(request: Resource, allocatable: Resource, sra: given.Sra) -> float:
    """Return 100 x weight for a node without scarce resources, less the more of them it has; 0
    where a requested resource is absent.

    >>> sra = given.Sra(1, {"a/x": 3, "a/y": 1}, total=4)
    >>> one, other = Resource(4000.0, 1.0, {"a/x": 1000.0}), Resource(4000.0, 1.0)
    >>> sra_score(Resource(1000.0), one, sra), sra_score(Resource(1000.0), other, sra)
    (25.0, 100.0)
    """
    if any(allocatable.get(name) == 0 for name in request.resource_names()):
        return 0.0
    if sra.total <= 0:
        return 0.0
    there = sum(weight for name, weight in sra.resources.items() if allocatable.get(name) > 0)
    return (1.0 - there / sra.total) * (MAX_NODE_SCORE * sra.weight)


def out_of_proportion(request: Resource, node: NodeInfo,
                      proportional: Mapping[str, given.Proportion]) -> str:
    """Return the first scarce resource with too little CPU or memory left idle for it, or ""."""
    asked, idle = request.scalars or {}, node.idle
    if any(asked.get(name, 0.0) > 0 for name in proportional):
        return ""
    # a node lists its resources even when all of them are in use
    there = {**dict.fromkeys(node.scalar_names, 0.0), **(idle.scalars or {})}
    for name, beside in sorted(proportional.items()):
        if name in there:
            cpu, memory = there[name] * beside.cpu, there[name] * beside.memory * 1000 * 1000
            if idle.milli_cpu - request.milli_cpu < cpu or idle.memory - request.memory < memory:
                return name
    return ""


@lru_cache(maxsize=1024)
def pod_weights(text: str) -> dict[str, int] | None:
    """Return a pod's weights by resource; None for text that is no JSON object of integers.

    >>> pod_weights('{"cpu": 2}'), pod_weights('{"cpu": 0.5}'), pod_weights("")
    ({'cpu': 2}, None, None)
    """

    def refuse(found: str) -> Any:
        raise ValueError(found)

    try:
        weights = json.loads(text, parse_float=refuse, parse_constant=refuse)
    except ValueError:
        return None
    if weights is None:
        return {}
    if not isinstance(weights, dict) or not all(w is None or type(w) is int
                                                for w in weights.values()):
        return None
    return {name: weight or 0 for name, weight in weights.items()}
