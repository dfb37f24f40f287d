"""What a cycle does, counted: how often each plugin is asked, how many nodes are looked at, how
many scores are worked out.

Answers to no Go file; it listens (`framework.observer`) and decides nothing. Counts are the same on
every machine; seconds are not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from volcano_lab.metrics.calls import Asked, Key


class Effort(Asked):
    """Counts one cycle's work; hand it to `Scheduler.run_once`, or see `effort_of`.

    Beside the `calls` and their `seconds`: `choices` counts how often a node was looked for,
    `pairs` the nodes that came into question, in sum; `scored` the pairs whose score was worked
    out. `notes` counts what was noted by kind.
    """

    def __init__(self) -> None:
        super().__init__()
        self.notes: Counter[str] = Counter()
        self.choices = self.pairs = self.scored = self.placed = 0

    # -- what it hears
    # -------------------------------------------------------------------------------

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

    # -- what it says
    # --------------------------------------------------------------------------------

    def count(self, *, action: str = "", point: str = "", plugin: str = "") -> int:
        """How often was asked, in all or of what is named."""
        return sum(count for key, count in self.calls.items() if _is(key, (action, point, plugin)))

    def rows(self) -> list[dict[str, Any]]:
        """A row for each action, extension point and plugin, the most asked first."""
        ordered = sorted(self.calls.items(), key=lambda item: (-item[1], item[0]))
        return [
            dict(zip(("action", "point", "plugin", "calls"), (*key, count), strict=True))
            for key, count in ordered
        ]

    def time_by_plugin(self) -> dict[str, float]:
        """Seconds in each plugin's answers, the longest first."""
        total: Counter[str] = Counter()
        for (_, _, plugin), seconds in self.seconds.items():
            total[plugin] += seconds
        return dict(total.most_common())

    def __repr__(self) -> str:
        return f"<{self.placed} pods placed, {self.pairs} pairs of pod and node, {self.scored} scored>"


def _is(key: Key, wanted: Key) -> bool:
    return all(not want or have == want for have, want in zip(key, wanted, strict=True))
