"""The work of a lab between answers, and how many decisions it remembers."""

import asyncio
import gc
from collections.abc import Callable

COLLECT_AFTER = 0.1
"""Seconds after a move until Python may collect garbage again."""

REMEMBERED = 24
"""How many decisions are remembered."""


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
