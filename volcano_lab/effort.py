"""What a cycle does, counted: how often each plugin is asked, how many nodes are looked at, how many scores are worked out.

Answers to no Go file; it listens (`framework.observer`) and decides nothing. Counts are the same on every machine; seconds
are not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from volcano_lab.cluster import Cluster
from volcano_lab.framework.observer import Observer
from volcano_lab.scheduler import Scheduler

Key = tuple[str, str, str]
"""An action ("open" before the first, "close" after the last), an extension point, a plugin."""


class Effort(Observer):
    """Counts one cycle's work; hand it to `Scheduler.run_once`, or see `effort_of`.

    `calls` has how often plugins were asked, `seconds` how long they took for it. `choices` counts how often a node was
    looked for, `pairs` the nodes that came into question, in sum; `scored` the pairs whose score was worked out. `notes`
    counts what was noted by kind, `times` are the seconds of the cycle's parts.
    """

    def __init__(self) -> None:
        self.calls: Counter[Key] = Counter()
        self.seconds: Counter[Key] = Counter()
        self.notes: Counter[str] = Counter()
        self.times: dict[str, float] = {}
        self.choices = self.pairs = self.scored = self.placed = 0
        self._action = "open"

    # -- what it hears -------------------------------------------------------------------------------

    def action_started(self, ssn: Any, action: str) -> None:
        self._action = action

    def action_ended(self, ssn: Any, action: str) -> None:
        self._action = "close"

    def watch(self, point: Any, tier: int, plugin: str, function: Callable[..., Any]) -> Callable[..., Any]:
        if isinstance(function, list):
            return [self.watch(point, tier, plugin, each) for each in function]  # type: ignore[return-value]
        name, calls, seconds = point.name, self.calls, self.seconds

        def counted(*args: Any) -> Any:
            key = self._action, name, plugin
            calls[key] += 1
            start = perf_counter()
            try:
                return function(*args)
            finally:
                seconds[key] += perf_counter() - start

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

    def cycle_ended(self, ssn: Any, times: dict[str, float]) -> None:
        self.times = dict(times)

    # -- what it says --------------------------------------------------------------------------------

    def count(self, *, action: str = "", point: str = "", plugin: str = "") -> int:
        """How often was asked, in all or of what is named."""
        return sum(count for key, count in self.calls.items() if _is(key, (action, point, plugin)))

    def rows(self) -> list[dict[str, Any]]:
        """A row for each action, extension point and plugin, the most asked first."""
        ordered = sorted(self.calls.items(), key=lambda item: (-item[1], item[0]))
        return [dict(zip(("action", "point", "plugin", "calls"), (*key, count), strict=True)) for key, count in ordered]

    def time_by_plugin(self) -> dict[str, float]:
        """Seconds in each plugin's answers, the longest first."""
        total: Counter[str] = Counter()
        for (_, _, plugin), seconds in self.seconds.items():
            total[plugin] += seconds
        return dict(total.most_common())

    def __repr__(self) -> str:
        return f"<{self.placed} pods placed, {self.pairs} pairs of pod and node, {self.scored} scored>"


def effort_of(cluster: Cluster, conf: str | None = None, arrays: bool = True) -> Effort:
    """The work of one cycle over a cluster. Without `arrays` every pair of pod and node is asked about, as in Volcano.

    >>> cluster = Cluster().node("n1", cpu=4).node("n2", cpu=4).job("train", pods=3, cpu=1)
    >>> each, shared = effort_of(cluster, arrays=False), effort_of(cluster)
    >>> each, shared
    (<3 pods placed, 6 pairs of pod and node, 6 scored>, <3 pods placed, 6 pairs of pod and node, 4 scored>)
    >>> each.count(point="predicate"), shared.count(point="predicate")
    (6, 0)
    """
    effort = Effort()
    Scheduler(cluster.cache(), conf).run_once(effort, arrays)
    return effort


def _is(key: Key, wanted: Key) -> bool:
    return all(not want or have == want for have, want in zip(key, wanted, strict=True))
