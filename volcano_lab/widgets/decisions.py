"""The recent decisions of a lab, and its work between answers."""

import asyncio
import gc
from collections.abc import Callable
from time import perf_counter
from typing import Any

COLLECT_AFTER = 0.1
"""Seconds after a move until Python may collect garbage again."""

REMEMBERED = 24
"""How many decisions are remembered."""


class Decisions:
    """Decide from values, and keep the results: a slider moved back is answered at once.

    >>> asked = Decisions(lambda values: print("decided") or values["n"] + 1)
    >>> asked.of({"n": 1}), asked.of({"n": 1})
    decided
    (2, 2)
    """

    def __init__(self, decide: Callable[[dict[str, Any]], Any]):
        self._decide, self._known = decide, dict[str, Any]()
        self.took = 0.0
        """Seconds of the last decision."""

    def of(self, values: dict[str, Any]) -> Any:
        """Return the decision for values."""
        key = repr(values)
        if key not in self._known:
            began = perf_counter()
            self._known[key] = self._decide(dict(values))
            self.took = perf_counter() - began
            if len(self._known) > REMEMBERED:
                del self._known[next(iter(self._known))]
        return self._known[key]


def collect_later() -> None:
    """Enable the garbage collector shortly after a move.

    In a notebook's process it traverses pandas, altair and the rest, and takes longer than the
    scheduling cycle; right after the move it would delay the answer.
    """
    if not later(COLLECT_AFTER, gc.enable):  # no answer is pending
        gc.enable()


def later(seconds: float, act: Callable[[], object]) -> asyncio.TimerHandle | None:
    """Call a function some seconds later, or never without a running loop."""
    try:
        return asyncio.get_running_loop().call_later(seconds, act)
    except RuntimeError:
        return None
