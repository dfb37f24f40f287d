"""The watch from the API server to the scheduler: events arrive at once, unless they are late or
duplicated.

The changes of one object arrive in order, as a watch guarantees; those of different objects may
overtake each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from volcano_lab.cache.api_server import WatchEvent
from volcano_lab.simulation.calendar import TICKS

if TYPE_CHECKING:
    from volcano_lab.simulation.simulation import Simulation

LATEST = 3.0
"""The largest delay of a late event, in seconds."""


class Wire:
    """Delivers events.

    `changes` counts events sent and events that arrived late; `ready_at` has the time (in ticks) of
    an object's last one.
    """

    def __init__(self, sim: Simulation):
        self.sim = sim
        self.ready_at: dict[str, int] = {}
        self.changes = 0
        sim.server.watchers.append(self.carry)

    def carry(self, event: WatchEvent) -> None:
        """Deliver an event to the scheduler now or later, once or twice."""
        self.changes += 1
        sim, random = self.sim, self.sim.random["faults"]
        now = sim.calendar.now
        place = f"{event.object.kind} {event.object.key}"
        delay = random.uniform(0.0, LATEST) if sim.faults.strike("event_late", now, random) else 0.0
        delay = max(delay, (self.ready_at.get(place, 0) - sim.calendar.env.now) / TICKS)
        if delay > 0 or place in self.ready_at:
            self.ready_at[place] = self._later(event, delay)
        else:
            sim.informer.handle(event)
        if sim.faults.strike("event_twice", now, random):
            self._later(event, delay + random.uniform(0.0, LATEST))

    def _later(self, event: WatchEvent, delay: float) -> int:
        """Return the delivery time (in ticks) of an event."""
        return self.sim.calendar.after(delay, self.deliver, event=event).time

    def deliver(self, event: WatchEvent) -> None:
        """Deliver a scheduled event."""
        self.changes += 1
        place = f"{event.object.kind} {event.object.key}"
        now = self.sim.calendar.env.now
        if self.ready_at.get(place, now + 1) == now:
            del self.ready_at[place]
        self.sim.informer.handle(event)

    def cut(self) -> None:
        """Drop the events for a scheduler that has crashed."""
        self.sim.calendar.cancel("deliver")
        self.ready_at.clear()
