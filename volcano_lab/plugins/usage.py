"""usage: refuse nodes with high measured usage, and prefer those with low usage.

Arguments: `usage.weight` (5), `cpu.weight` and `memory.weight` (1), all integers, and `thresholds`
with `cpu` and `mem` in whole percent (80; anything but an integer counts as 0). With
`enablePredicate: false` no node is refused. Usage is read from `api.node_usage`; without any, or
where it is older than five minutes, the plugin neither refuses nor scores a node.

Differs on purpose: weights of 0 for both cpu and memory give 0, where Volcano divides by zero and
then takes no node.

>>> usage_score(40.0, 60.0, 1, 1)
0.5

Volcano: pkg/scheduler/plugins/usage/usage.go
"""

from volcano_lab.api import FitError, NodeInfo, TaskInfo, unresolvable
from volcano_lab.api.node_usage import METRICS_PERIOD
from volcano_lab.framework import Plugin, Session, effect
from volcano_lab.framework.config.arguments import is_int
from volcano_lab.messages import Message

THRESHOLDS = "thresholds"
DEFAULT_THRESHOLD = 80
METRICS_ACTIVE_TIME = 300.0
MAX_NODE_SCORE = 100
CPU_TOO_BUSY = "the CPU load of the node exceeds the upper limit."
MEMORY_TOO_BUSY = "the memory load of the node exceeds the upper limit."


class Usage(Plugin):
    """Scores from 0 to 100 x weight: the weighted mean of unused CPU and memory."""

    name = "usage"

    def on_session_open(self, ssn: Session) -> None:
        args = self.arguments
        self.weight = args.get_weight("usage.weight", 5)
        self.cpu_weight = args.get_weight("cpu.weight", 1)
        self.memory_weight = args.get_weight("memory.weight", 1)
        thresholds = self._thresholds()
        self.cpu_threshold, self.memory_threshold = thresholds["cpu"], thresholds["mem"]

    def _thresholds(self) -> dict[str, int]:
        """Return the limits in percent; as in Volcano, one that is no integer counts as 0."""
        limits, doubt = dict.fromkeys(("cpu", "mem"), DEFAULT_THRESHOLD), self.arguments.doubt
        given = self.arguments.get(THRESHOLDS, {})
        if not isinstance(given, dict):
            doubt(THRESHOLDS, given, "both", Message("used.both", percent=DEFAULT_THRESHOLD))
            return limits
        for name, percent in given.items():
            key = f"{THRESHOLDS}.{name}"
            if name not in limits:
                doubt(key, percent, "of_both", Message("used.default", percent=DEFAULT_THRESHOLD))
            else:
                limits[name] = percent if is_int(percent) else 0
            if name in limits and (not is_int(percent) or not 0 <= percent <= 100):
                doubt(key, percent, "percent", effect(is_int(percent), 0))
        return limits

    def _stale(self, node: NodeInfo) -> bool:
        return self.ssn.now - node.resource_usage.metrics_time > METRICS_ACTIVE_TIME

    def predicate(self, task: TaskInfo, node: NodeInfo) -> FitError | None:
        return unresolvable(task.key, node.name, self._refusal(node), self.name)

    def _refusal(self, node: NodeInfo) -> str:
        usage = node.resource_usage
        if self._stale(node):
            return ""
        if usage.cpu.get(METRICS_PERIOD, 0.0) > self.cpu_threshold:
            return CPU_TOO_BUSY
        return MEMORY_TOO_BUSY if usage.memory.get(METRICS_PERIOD,
                                                   0.0) > self.memory_threshold else ""

    def node_order(self, task: TaskInfo, node: NodeInfo) -> float:
        usage = node.resource_usage
        if self._stale(node) or not (METRICS_PERIOD in usage.cpu
                                     and METRICS_PERIOD in usage.memory):
            return 0.0
        score = usage_score(usage.cpu[METRICS_PERIOD], usage.memory[METRICS_PERIOD],
                            self.cpu_weight, self.memory_weight)
        return score * (MAX_NODE_SCORE * self.weight)

    def predicate_key(self, task: TaskInfo) -> str:
        """Return one key for all tasks: only the node matters."""
        return ""

    node_order_key = predicate_key


def usage_score(cpu: float, memory: float, cpu_weight: int, memory_weight: int) -> float:
    """Return the weighted mean of the unused fractions, given usage in percent.

    >>> usage_score(0.0, 100.0, 3, 1)
    0.75
    """
    weights = cpu_weight + memory_weight
    if not weights:
        return 0.0
    return ((100 - cpu) / 100 * cpu_weight + (100 - memory) / 100 * memory_weight) / weights
