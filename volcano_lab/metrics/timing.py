"""Where a cycle's time goes: by phase, action and plugin. Answers to `pkg/scheduler/metrics`'
latencies; it adds the parts.

A trace has no times, so that two runs give equal traces; this is an observer beside it. With
`every_call` nodes are filtered and scored one by one, so that what plugins say of nodes counts as
theirs; without, all nodes are worked out at once, which counts as the action's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from volcano_lab.metrics.calls import CLOSE, OPEN, Asked

if TYPE_CHECKING:
    from volcano_lab.framework.session import Session

ITSELF = "itself"
PHASES = {"OnSessionOpen": OPEN, "OnSessionClose": CLOSE}


class Timing(Asked):
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
        super().__init__()
        self.watches_calls = every_call

    def plugin_done(self, ssn: Session, plugin: str, when: str, seconds: float) -> None:
        self._add((PHASES[when], when, plugin), seconds)

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row a phase, plugin and what it did: seconds and calls; "itself" is what remains of the
        phase.
        """
        for phase in [name for name in self.times if name != "cycle"]:
            mine = {key: seconds for key, seconds in self.seconds.items() if key[0] == phase}
            for key, seconds in sorted(mine.items(), key=lambda part: -part[1]):
                yield {
                    "phase": phase, "plugin": key[2], "what": key[1], "seconds": seconds, "calls":
                    self.calls[key]
                }
            rest = self.times[phase] - sum(mine.values())
            yield {
                "phase": phase, "plugin": ITSELF, "what": "", "seconds": max(rest, 0.0), "calls": 1
            }
