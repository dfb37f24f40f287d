"""How often plugins are called, how long the calls take, and how much else a cycle does.

Counts are the same on every machine; seconds are not. A trace has no times, so that two runs give
equal traces; this is a separate observer.

Volcano: pkg/scheduler/metrics (latencies; the parts by plugin are added here)
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from volcano_lab.framework import ExtensionPoint, Observer, Session

Key = tuple[str, str, str]
"""An action ("open" before the first, "close" after the last), an extension point, a plugin."""


class Effort(Observer):
    """Count one cycle's work; pass it to `Scheduler.run_once`.

    Attributes:
        calls: How often each plugin was called.
        seconds: How long these calls took, without the calls nested in them.
        times: The seconds of the cycle's parts.
        choices: How often a node was searched for.
        pairs: The number of candidate nodes, summed over searches; `scored` the pairs whose score
            was computed.
        notes: How often each kind of record was noted; lessons 05b and 15 read it.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import Scheduler
    >>> effort = Effort()
    >>> _ = Scheduler(Cluster().node("n1", cpu=4).job("a", cpu=1).cache()).run_once(effort)
    >>> effort, effort.count(point="job_enqueueable"), list(effort.times)
    (<1 pods placed, 1 pairs of pod and node, 1 scored>, 2,
     ['open', 'enqueue', 'allocate', 'backfill', 'close', 'cycle'])
    """

    def __init__(self) -> None:
        self.calls: Counter[Key] = Counter()
        self.seconds: defaultdict[Key, float] = defaultdict(float)
        self.notes: Counter[str] = Counter()
        self.times: dict[str, float] = {}
        self.choices = self.pairs = self.scored = self.placed = 0
        self._within = 0.0  # seconds in calls nested in the current one

    def cycle_ended(self, ssn: Session, times: dict[str, float]) -> None:
        self.times = dict(times)

    def watch(self, point: ExtensionPoint, tier: int, plugin: str,
              function: Callable[..., Any]) -> Callable[..., Any]:
        name = point.name

        def counted(*args: Any) -> Any:
            outer, self._within = self._within, 0.0
            start = perf_counter()
            try:
                return function(*args)
            finally:
                taken = perf_counter() - start
                key = self._action, name, plugin
                self.calls[key] += 1
                self.seconds[key] += taken - self._within
                self._within = outer + taken

        return counted

    def note(self, kind: str, /, **facts: Any) -> None:
        self.notes[kind] += 1

    def chose(self, task: Any, nodes: Sequence[Any], node: Any, errors: Any) -> None:
        self.choices += 1
        self.pairs += len(nodes)

    def closed(self, ssn: Any) -> None:
        self.placed = sum(operation == "allocate" for operation, *_ in ssn.committed)
        if ssn.node_arrays is not None:
            self.scored = ssn.node_arrays.scored
        else:
            asked = [count for (_, point, _), count in self.calls.items() if point == "node_order"]
            self.scored = max(asked, default=0)

    def count(self, *, action: str = "", point: str = "", plugin: str = "") -> int:
        """Return the number of calls, in total or for the given action, point and plugin."""
        wanted = (action, point, plugin)
        return sum(count for key, count in self.calls.items()
                   if all(want in ("", have) for have, want in zip(key, wanted, strict=True)))

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per action, extension point and plugin, the most called first."""
        ordered = sorted(self.calls.items(), key=lambda item: (-item[1], item[0]))
        return [dict(zip(("action", "point", "plugin", "calls"), (*key, count), strict=True))
                for key, count in ordered]

    def time_by_plugin(self) -> dict[str, float]:
        """Return the seconds spent in each plugin, the longest first."""
        total: defaultdict[str, float] = defaultdict(float)
        for (_, _, plugin), seconds in self.seconds.items():
            total[plugin] += seconds
        return dict(sorted(total.items(), key=lambda item: -item[1]))

    def __repr__(self) -> str:
        return (f"<{self.placed} pods placed, {self.pairs} pairs of pod and node, "
                f"{self.scored} scored>")
