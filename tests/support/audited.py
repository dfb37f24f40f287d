"""A simulation of which more is checked than a user's `check=True` does: what happens within each
cycle, and that a cycle on a copy of the cache decides the same.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from session_audit import SessionAudit

from volcano_lab.cache import dump
from volcano_lab.framework.observer import Observer, joined
from volcano_lab.framework.session import Session
from volcano_lab.scheduler import Scheduler
from volcano_lab.simulation import Simulation
from volcano_lab.simulation.faults import Disturbance

TWICE_EVERY = 5
"""One of so many cycles is decided twice: on the cache, and on a copy of it."""


class Audited(Simulation):
    """A `Simulation` with an audit of each session."""

    def __init__(self, *given: Any, observer: Observer | None = None, **named: Any) -> None:
        self.audit = SessionAudit()
        super().__init__(*given, observer=joined(self.audit, observer), **{"check": True} | named)

    def _problems(self) -> list[str]:
        found = [*super()._problems(), *self.audit.problems]
        self.audit.problems.clear()
        return found

    def _decide(self, disturbance: Disturbance) -> Session:
        again = decided_again(self) if self.cycles % TWICE_EVERY == 0 else None
        ssn = super()._decide(disturbance)
        if again is not None and not disturbance.needed and again != ssn.committed:
            self.audit.problems.append(
                f"{ssn.uid} commits {ssn.committed}, on a copy of the cache {again}")
        return ssn


def decided_again(sim: Simulation) -> list[list[str]]:
    """Return what the coming cycle commits, node by node, on a copy made from the cache's dump."""
    scheduler = Scheduler(dump.load(dump.dump(sim.cache)), sim.conf)
    scheduler.memory = deepcopy(sim.scheduler.memory)
    return scheduler.run_once(arrays=False, now=sim.server.clock()).committed
