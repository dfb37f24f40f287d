"""Where a cycle's time goes: by phase, action and plugin. Answers to `pkg/scheduler/metrics`' latencies; it adds the parts.

A trace has no times, so that two runs give equal traces; this is an observer beside it. With `every_call` nodes are
filtered and scored one by one, so that what plugins say of nodes counts as theirs; without, all nodes are worked out at
once, which counts as the action's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import TYPE_CHECKING, Any

from volcano_lab.framework.observer import Observer

if TYPE_CHECKING:
    from volcano_lab.framework.extension_point import ExtensionPoint
    from volcano_lab.framework.session import Session

OPEN, CLOSE, ITSELF = "open", "close", "itself"
PHASES = {"OnSessionOpen": OPEN, "OnSessionClose": CLOSE}


class Timing(Observer):
    """Seconds and calls by phase, plugin and what it did. Hand it to `Scheduler.run_once`.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import Scheduler
    >>> timing = Timing()
    >>> _ = Scheduler(Cluster().node("n1", cpu=4).job("a", cpu=1).cache()).run_once(timing)
    >>> {row["phase"] for row in timing.rows()} == {"open", "enqueue", "allocate", "backfill", "close"}
    True
    >>> [row["calls"] for row in timing.rows() if (row["phase"], row["what"]) == ("enqueue", "job_enqueueable")]
    [1, 1]
    """

    def __init__(self, every_call: bool = False):
        self.watches_calls = every_call
        self.times: dict[str, float] = {}
        self._phase = OPEN
        self._parts: dict[tuple[str, str, str], list[float]] = {}  # (phase, plugin, what) -> [seconds, calls]
        self._within = 0.0  # seconds that calls inside the present one took

    def action_started(self, ssn: Session, action: str) -> None:
        self._phase = action

    def action_ended(self, ssn: Session, action: str) -> None:
        self._phase = CLOSE

    def plugin_done(self, ssn: Session, plugin: str, when: str, seconds: float) -> None:
        self._add((PHASES[when], plugin, when), seconds)

    def cycle_ended(self, ssn: Session, times: dict[str, float]) -> None:
        self.times = dict(times)

    def watch(self, point: ExtensionPoint, tier: int, plugin: str, function: Callable[..., Any]) -> Callable[..., Any]:
        if isinstance(function, list):
            return [self.watch(point, tier, plugin, each) for each in function]  # type: ignore[return-value]
        name = point.name

        def timed(*args: Any) -> Any:
            outer, self._within = self._within, 0.0
            start = perf_counter()
            try:
                return function(*args)
            finally:
                taken = perf_counter() - start
                self._add((self._phase, plugin, name), taken - self._within)
                self._within = outer + taken

        return timed

    def _add(self, part: tuple[str, str, str], seconds: float) -> None:
        held = self._parts.setdefault(part, [0.0, 0])
        held[0] += seconds
        held[1] += 1

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row a phase, plugin and what it did: seconds and calls; "itself" is what remains of the phase."""
        for phase in [name for name in self.times if name != "cycle"]:
            mine = {key: held for key, held in self._parts.items() if key[0] == phase}
            for (_, plugin, what), (seconds, calls) in sorted(mine.items(), key=lambda part: -part[1][0]):
                yield {"phase": phase, "plugin": plugin, "what": what, "seconds": seconds, "calls": int(calls)}
            rest = self.times[phase] - sum(held[0] for held in mine.values())
            yield {"phase": phase, "plugin": ITSELF, "what": "", "seconds": max(rest, 0.0), "calls": 1}
