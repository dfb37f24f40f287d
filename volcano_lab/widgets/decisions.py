"""What a lab decided of late, and what it does when nobody waits for an answer."""

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
    """Decide from values, and remember: a hand that goes back and forth is answered at once.

    >>> asked = Decisions(lambda values: print("decided") or values["n"] + 1)
    >>> asked.of({"n": 1}), asked.of({"n": 1})
    decided
    (2, 2)
    """

    def __init__(self, decide: Callable[[dict[str, Any]], Any]):
        self._decide, self._known = decide, dict[str, Any]()
        self.took = 0.0
        """Seconds that the last decision took."""

    def of(self, values: dict[str, Any]) -> Any:
        """Return what follows from values."""
        key = repr(values)
        if key not in self._known:
            began = perf_counter()
            self._known[key] = self._decide(dict(values))
            self.took = perf_counter() - began
            if len(self._known) > REMEMBERED:
                del self._known[next(iter(self._known))]
        return self._known[key]


def collect_later() -> None:
    """Turn the collector on shortly after a move.

    In a notebook's process it walks through pandas, altair and the rest, and takes longer than the
    scheduling cycle; right after the move it would keep the answer from leaving.
    """
    if not later(COLLECT_AFTER, gc.enable):  # nobody waits for an answer
        gc.enable()


def later(seconds: float, act: Callable[[], object]) -> asyncio.TimerHandle | None:
    """Act some seconds later, or never where no loop runs."""
    try:
        return asyncio.get_running_loop().call_later(seconds, act)
    except RuntimeError:
        return None
