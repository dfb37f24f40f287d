"""Future events and their times: SimPy's clock, with entries that can be listed and removed.

Time is counted in whole microseconds, so that sums of times are exact.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import simpy

TICKS = 1_000_000
"""Ticks per second."""
NEVER = 1e12
"""Seconds that no run reaches: longer ones are as good, and may be infinite."""


class Entry(NamedTuple):
    """An event at `time` (ticks); of two at the same time the one with the lower number happens
    first.
    """

    number: int
    time: int
    handler: Callable[..., Any]
    facts: dict[str, Any]

    @property
    def kind(self) -> str:
        """The name of its handler."""
        return self.handler.__name__.lstrip("_")


class Calendar:
    """Calls `handler(**facts)` at the time of each entry, and then `happened(entry)`.

    >>> calendar = Calendar(lambda entry: print(calendar.now, entry.kind))
    >>> _ = calendar.after(1.5, print, end="it is ")
    >>> calendar.run(2.0)
    it is 1.5 print
    """

    def __init__(self, happened: Callable[[Entry], None] = lambda entry: None) -> None:
        self.env = simpy.Environment()
        self.happened = happened
        self.entries: dict[int, Entry] = {}
        self.number = self.done = 0

    @property
    def now(self) -> float:
        """Seconds since the start of the run."""
        return self.env.now / TICKS

    def after(self, seconds: float, handler: Callable[..., Any], **facts: Any) -> Entry:
        """Add an event in some seconds, which happens unless it is removed from `entries`."""
        self.number += 1
        ticks = max(round(min(seconds, NEVER) * TICKS), 0)
        entry = Entry(self.number, int(self.env.now) + ticks, handler, facts)
        self.entries[entry.number] = entry
        self.env.timeout(entry.time - self.env.now).callbacks.append(lambda _: self._fire(entry))
        return entry

    def cancel(self, *kinds: str, **facts: Any) -> None:
        """Remove the events of some kinds that have some facts."""
        self.entries = {number: entry for number, entry in self.entries.items()
                        if entry.kind not in kinds or not facts.items() <= entry.facts.items()}

    def _fire(self, entry: Entry) -> None:
        if self.entries.pop(entry.number, None) is not None:
            self.done += 1
            entry.handler(**entry.facts)
            self.happened(entry)

    def run(self, until: float) -> None:
        """Advance to some seconds after the start; events at exactly that time happen in the next
        call.
        """
        ticks = round(until * TICKS)
        if ticks > self.env.now:
            self.env.run(until=ticks)
