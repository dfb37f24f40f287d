"""Faults, planned or random."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

from attrs import Factory, define, field

from volcano_lab.framework import Observer, Session
from volcano_lab.messages import Message, Misuse, friendly_errors

if TYPE_CHECKING:
    from volcano_lab.simulation.simulation import Simulation

KINDS = {kind: Message(f"fault.{kind}") for kind in (
    "bind_refused", "bind_timeout", "read_refused", "pod_deleted", "node_lost", "event_late",
    "event_twice", "cycle_crash")}
"""Kind of fault -> its effect."""
NODE_BACK_AFTER = 15.0


@friendly_errors
@define(slots=True)
class Faults:
    """`chance` is the probability of each kind per occasion, `plan` has [seconds, kind] of planned
    faults.

    A planned fault happens at the first occasion from its time on. Raises `Misuse` for an unknown
    fault.

    >>> faults = Faults.all(0.05)
    >>> faults.chance["cycle_crash"]
    0.05
    """

    chance: dict[str, float] = Factory(dict)
    plan: list[list[Any]] = Factory(list)
    struck: Counter[str] = field(factory=Counter, converter=Counter)

    def __attrs_post_init__(self) -> None:
        for kind in (*self.chance, *(kind for _, kind in self.plan)):
            if kind not in KINDS:
                raise Misuse("faults.kind", kind=kind, kinds=[*KINDS])
        for kind, chance in self.chance.items():
            if not (isinstance(chance, int | float) and 0 <= chance <= 1):
                raise Misuse("faults.chance", kind=kind, chance=chance)
        self.plan = sorted([list(entry) for entry in self.plan], key=lambda entry: entry[0])

    @classmethod
    def all(cls, chance: float) -> Faults:
        """Return faults with the same chance for every kind."""
        return cls(dict.fromkeys(KINDS, chance))

    def strike(self, kind: str, now: float, random: Random) -> str:
        """Return whether a fault happens at an occasion for it: "by chance", "by plan", or "" for
        none.

        >>> Faults(plan=[[5.0, "bind_refused"]]).strike("bind_refused", 6.0, Random(1))
        'by plan'
        """
        chance = self.chance.get(kind, 0.0)
        struck = "by chance" if chance > 0 and random.random() < chance else ""
        planned = next((entry for entry in self.plan if entry[0] <= now and entry[1] == kind), None)
        if planned is not None:
            self.plan.remove(planned)
            struck = "by plan"
        self.struck[kind] += bool(struck)
        return struck


class CycleCrash(RuntimeError):
    """The scheduler crashed in the middle of a cycle."""


class Disturbance(Observer):
    """Faults in the middle of a cycle: a node that disappears after the snapshot, a scheduler that
    crashes between two actions.

    Drawn before the cycle begins; takes effect before the action of that number (0: right after the
    session is opened).

    A cycle with a single action has no time between two actions: it doesn't crash.
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
