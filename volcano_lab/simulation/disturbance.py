"""Faults in the middle of a cycle: a node that disappears after the snapshot, a scheduler that dies
between two actions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from volcano_lab.framework.observer import Observer
from volcano_lab.framework.session import Session

if TYPE_CHECKING:
    from volcano_lab.simulation.simulation import Simulation

NODE_BACK_AFTER = 15.0


class CycleCrash(RuntimeError):
    """The scheduler died in the middle of a cycle."""


class Disturbance(Observer):
    """Decided before the cycle begins; takes effect before the action of that number (0: right
    after the opening).

    A cycle of a single action has nothing between two actions: it doesn't crash.
    """

    def __init__(self, sim: Simulation):
        random, now = sim.random["faults"], sim.calendar.now
        actions = len(sim.scheduler.conf.actions)
        self.sim, self.action = sim, 0
        self.crash_before = self.node_lost_before = -1
        if actions > 1 and sim.faults.strike("cycle_crash", now, random):
            self.crash_before = random.randint(1, actions - 1)
        if sim.faults.strike("node_lost", now, random):
            self.node_lost_before = random.randint(0, max(actions - 1, 0))
        self.needed = self.crash_before >= 0 or self.node_lost_before >= 0

    def action_started(self, ssn: Session, action: str) -> None:
        sim = self.sim
        if self.action == self.node_lost_before and ssn.nodes:
            sim.side.node_fails(sim.random["faults"].choice(list(ssn.nodes)), NODE_BACK_AFTER)
        if self.action == self.crash_before:
            raise CycleCrash(f"before action {action} of {ssn.uid}")
        self.action += 1
