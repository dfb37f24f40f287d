"""How often plugins are asked, and how long their answers take: what `timing` and `effort` have in
common.

Answers to no Go file; it listens (`framework.observer`) and decides nothing. Counts are the same on
every machine; seconds are not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any

from volcano_lab.framework.observer import Observer

if TYPE_CHECKING:
    from volcano_lab.framework.points.rules import ExtensionPoint
    from volcano_lab.framework.session import Session

OPEN, CLOSE = "open", "close"
Key = tuple[str, str, str]
"""An action (`OPEN` before the first, `CLOSE` after the last), an extension point, a plugin."""


class Asked(Observer):
    """Counts one cycle's questions to plugins.

    `calls` has how often each was asked, `seconds` how long it took for it, without the questions
    that it asked meanwhile; `times` are the seconds of the cycle's parts.
    """

    def __init__(self) -> None:
        self.calls: Counter[Key] = Counter()
        self.seconds: Counter[Key] = Counter()
        self.times: dict[str, float] = {}
        self._action = OPEN
        self._within = 0.0  # seconds that calls inside the present one took

    def action_started(self, ssn: Session, action: str) -> None:
        self._action = action

    def action_ended(self, ssn: Session, action: str) -> None:
        self._action = CLOSE

    def cycle_ended(self, ssn: Session, times: dict[str, float]) -> None:
        self.times = dict(times)

    def watch(self, point: ExtensionPoint, tier: int, plugin: str,
              function: Callable[..., Any]) -> Callable[..., Any]:
        if isinstance(function, list):
            return [self.watch(point, tier, plugin, each)
                    for each in function]  # type: ignore[return-value]
        name = point.name

        def counted(*args: Any) -> Any:
            outer, self._within = self._within, 0.0
            start = perf_counter()
            try:
                return function(*args)
            finally:
                taken = perf_counter() - start
                self._add((self._action, name, plugin), taken - self._within)
                self._within = outer + taken

        return counted

    def _add(self, key: Key, seconds: float) -> None:
        self.calls[key] += 1
        self.seconds[key] += seconds
