"""rescheduling: evict pods from nodes with high measured usage, while others have low usage.

The action `shuffle` evicts the plugin's victims. Arguments:

    interval: 5m            # the least time between two runs, and before the first
    metricsPeriod: 5m       # over which period usage is read (`api.node_usage`)
    strategies:
    - name: lowNodeUtilization
      params:
        thresholds: {cpu: 20, memory: 20}        # percent; below in each: a node that can take more
        targetThresholds: {cpu: 80, memory: 80}  # above in any: a node that should lose some

All thresholds are 100 by default. Volcano's traps are kept: usage is measured over `10m` only, so
that with the default `metricsPeriod` of `5m` every node seems idle; victims are matched by the
pod's name alone, whatever its namespace; nodes are compared by allocatable, a pod's released amount
is counted by capacity.

Differs on purpose: the scheduler, not the process, keeps the time of the last run; a
`metricsPeriod` applies to the configuration that sets it; and thresholds that are no integers are
refused with a sentence where Volcano crashes.

Volcano: pkg/scheduler/plugins/rescheduling/rescheduling.go,
pkg/scheduler/plugins/rescheduling/rescheduling_util.go,
pkg/scheduler/plugins/rescheduling/low_node_utilization.go,
pkg/scheduler/plugins/rescheduling/node_utilization_util.go
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from attrs import Factory, define

from volcano_lab.api import CPU, MEMORY, NodeInfo, TaskInfo, quantity
from volcano_lab.framework import Arguments, ConfError, Plugin, Session, active_if
from volcano_lab.messages import Message
from volcano_lab.plugins.kube.qos import QOS_CLASSES, qos_class

STRATEGY = "lowNodeUtilization"
DEFAULT_INTERVAL = 300.0
DEFAULT_PERIOD = "5m"
A_MOMENT = 1e-3
"""Seconds by which the scheduler is assumed to have started before its first cycle."""

RESOURCES = (CPU, MEMORY)


class Rescheduling(Plugin):
    """Selects victims on overloaded nodes once per interval, and none in other cycles."""

    name = "rescheduling"

    def on_session_open(self, ssn: Session) -> None:
        self.interval = self.arguments.get_duration("interval", DEFAULT_INTERVAL)
        self.period = self.arguments.get_string("metricsPeriod", DEFAULT_PERIOD) or DEFAULT_PERIOD
        self.thresholds = _strategy(self.arguments)
        self.due = ssn.memory.setdefault(self.name, ssn.now - A_MOMENT) + self.interval < ssn.now
        if self.due:
            ssn.memory[self.name] = ssn.now

    @active_if("due")
    def victim_tasks(self, tasks: Sequence[TaskInfo]) -> list[TaskInfo]:
        """Select those of `tasks` to evict from overloaded nodes, if the strategy
        `lowNodeUtilization` is configured.
        """
        thresholds = self.thresholds
        if thresholds is None:
            return []
        nodes = [NodeUtilization.of(node, self.period) for node in self.ssn.nodes.values()]
        low = [node for node in nodes if thresholds.is_low(node)]
        high = [node for node in nodes if not thresholds.is_low(node) and thresholds.is_high(node)]
        if not low or len(low) == len(nodes) or not high:
            return []
        left = {name: sum(node.headroom(name, thresholds.target[name]) for node in low)
                for name in RESOURCES}
        victims = []
        for node in sorted(high, key=lambda node: -sum(node.usage.values())):
            victims += self._evict(node, tasks, left, thresholds)
        return victims

    @staticmethod
    def _evict(node: NodeUtilization, tasks: Sequence[TaskInfo], left: dict[str, int],
               thresholds: Thresholds) -> list[TaskInfo]:
        """Return victims on one node, the least important first, until it is below its target or
        the other nodes' headroom is used up.

        Only a headroom of exactly 0 counts as used up, not a negative one, as in Volcano.
        """
        victims = []
        for pod in node.eviction_order():
            if not thresholds.is_over(node) or not all(left.values()):
                break
            task = next((task for task in tasks if task.name == pod.name), None)
            if task is not None:
                for name in RESOURCES:
                    amount, capacity = int(task.resreq.get(name)), node.capacity[name]
                    left[name] -= amount
                    node.usage[name] -= amount * 100 / capacity if capacity else math.inf
                victims.append(task)
        return victims


@define(slots=True, eq=False)
class NodeUtilization:
    """A node's usage in percent, and its resources: CPU in millicores, memory in bytes."""

    info: NodeInfo
    usage: dict[str, float]
    allocatable: dict[str, int]
    capacity: dict[str, int]

    @classmethod
    def of(cls, info: NodeInfo, period: str) -> NodeUtilization:
        usage = info.resource_usage
        capacity, allocatable = info.node.status.capacity, info.node.status.allocatable
        return cls(info, {CPU: usage.cpu.get(period, 0.0), MEMORY: usage.memory.get(period, 0.0)},
                   _amounts(allocatable or capacity), _amounts(capacity))

    def headroom(self, name: str, target: float) -> int:
        """Return how much of a resource may be added up to the target, in percent; negative above
        it.
        """
        return int(target * self.allocatable[name] * 0.01) - int(
            self.usage[name] * self.allocatable[name] * 0.01)

    def eviction_order(self) -> list[TaskInfo]:
        """Return the node's pods: without a priority first, then by ascending priority, then by
        QoS; of equal best-effort pods the last is first, as Volcano's comparison sorts up to a
        dozen pods.
        """

        def rank(place: int, task: TaskInfo) -> tuple[Any, ...]:
            priority, qos = task.pod.spec.priority, QOS_CLASSES.index(qos_class(task.pod))
            return priority is not None, priority or 0, qos, place if qos else -place

        tasks = [task for _, task in sorted(self.info.tasks.items())]
        return [task for _, task in sorted(enumerate(tasks), key=lambda item: rank(*item))]


@define(slots=True)
class Thresholds:
    """Percent by resource: below `low` in each a node can take more, above `target` in any it
    should lose some.
    """

    low: dict[str, float] = Factory(lambda: dict.fromkeys(RESOURCES, 100.0))
    target: dict[str, float] = Factory(lambda: dict.fromkeys(RESOURCES, 100.0))

    def is_low(self, node: NodeUtilization) -> bool:
        return not node.info.node.spec.unschedulable and all(node.usage[name] < self.low[name]
                                                             for name in RESOURCES)

    def is_high(self, node: NodeUtilization) -> bool:
        return any(node.usage[name] > self.target[name] for name in RESOURCES)

    def is_over(self, node: NodeUtilization) -> bool:
        """Return whether a node is not below its target yet."""
        return any(node.usage[name] >= self.target[name] for name in RESOURCES)


def _strategy(arguments: Arguments) -> Thresholds | None:
    """Return the thresholds of the built-in strategy; None where only others are configured.

    >>> other = Arguments({"strategies": [{"name": "other"}]})
    >>> _strategy(Arguments()).low, _strategy(other)
    ({'cpu': 100.0, 'memory': 100.0}, None)
    """
    given = arguments.get("strategies")
    if not isinstance(given, list) or not given:
        if given not in (None, []):
            arguments.doubt("strategies", given, "list", Message("used", used=STRATEGY))
        return Thresholds()
    thresholds = None
    for number, entry in enumerate(given):
        name = entry.get("name") if isinstance(entry, dict) else None
        params = entry.get("params") if isinstance(entry, dict) else None
        if name != STRATEGY or not isinstance(params, dict | None):
            arguments.doubt(f"strategies[{number}]", entry, "strategy", Message("used.not"))
        else:
            thresholds = _thresholds(params, arguments)
    return thresholds


def _thresholds(params: dict[str, Any] | None, arguments: Arguments) -> Thresholds:
    thresholds = Thresholds()
    for key, amounts in (("thresholds", thresholds.low), ("targetThresholds", thresholds.target)):
        given = (params or {}).get(key, {})
        if not isinstance(given, dict):
            arguments.doubt(f"{STRATEGY}'s {key}", given, "percents_of", Message("used.full"))
            break  # the rest is not read either
        for name, percent in given.items():
            if not isinstance(percent, int) or isinstance(percent, bool):
                raise ConfError("conf.percent", key=key, name=name, percent=repr(percent))
            if name in amounts:
                amounts[name] = float(percent)
            if name not in (*RESOURCES, "pod") or not 0 <= percent <= 100:
                arguments.doubt(f"{STRATEGY}'s {key}.{name}", percent, "percents", Message(
                    "used.as_it_is" if name in amounts else "used.not"))
    return thresholds


def _amounts(resources: dict[str, str]) -> dict[str, int]:
    return {CPU: quantity.milli_value(resources.get(CPU, "0")),
            MEMORY: quantity.value(resources.get(MEMORY, "0"))}
