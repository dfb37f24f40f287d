"""The lab of network topology: a gang, how close it must lie, and the dry run in each HyperNode."""

from typing import Any

from attrs import define

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.tasks import tasks
from volcano_lab.course.lesson_10 import cluster as rooms
from volcano_lab.framework.session import Session
from volcano_lab.messages import Message, gettext
from volcano_lab.scheduler import traced
from volcano_lab.trace import TraceReader
from volcano_lab.widgets import pictures
from volcano_lab.widgets.controls import choice, group, slider
from volcano_lab.widgets.lab import Lab, Values
from volcano_lab.widgets.story import outcome

TRIED = "chosen", "fits", "does not fit"
"""What becomes of a HyperNode that is tried."""


@define
class Tried:
    """One cycle: its trace and its session, and what became of the gang."""

    trace: TraceReader
    session: Session
    rows: list[dict[str, Any]]
    highest: int

    @property
    def placed(self) -> int:
        """How many pods of the gang have a node."""
        return sum(bool(task.node_name) for task in self.session.jobs[rooms.JOB].tasks.values())

    @property
    def goes(self) -> str:
        """Where the gang goes, in words."""
        chosen = [row["hyper_node"] for row in self.rows if row["dry_run"] == "chosen"]
        return next(iter(chosen), "nodes, without a dry run" if self.placed else "it waits")

    @property
    def because(self) -> str:
        """The number that decided."""
        best = next((row for row in self.rows if row["dry_run"] == "chosen"), None)
        if best:
            return gettext("score {score}, the highest of tier {tier}", tier=best["tier"],
                           score=f"{best['score']:.4g}")
        if self.placed:
            return "its mode is soft"
        if any(row["dry_run"] == "does not fit" for row in self.rows):
            return "enough is free in sum, but not on single nodes"
        return str(Message("gang.free", asks=self.rows[0]["asks"], tier=self.highest, free=max(
            row["free"] for row in self.rows if row["tier"] <= self.highest)))

    @property
    def tried(self) -> str:
        """The HyperNodes in which the gang was tried."""
        return gettext("{names:,}", names=[
            row["hyper_node"] for row in self.rows if row["dry_run"] in TRIED]) or "none"


def cluster_of(values: Values) -> Cluster:
    """Return the cluster that the controls describe."""
    said = dict(values)
    return rooms.topology_cluster(taken={"node-4": said.pop("node_4")}, **said)


def tried(values: Values) -> Tried:
    """Run the cycle of some values."""
    trace, ssn = traced(cluster_of(values).objects(), rooms.CONF)
    return Tried(trace, ssn, rooms.hyper_nodes(trace), values["highest_tier"])


CONTROLS = group("the gang", {
    "pods": slider(4, 1, 20, "pods"), "cpu": slider(1, 1, 4, "per pod", unit="CPUs"),
    "mode": choice("hard", ["hard", "soft"], "mode"),
    "highest_tier": slider(1, 1, 3, "highest tier", about="highestTierAllowed, of a hard gang"),
}, link=rooms.JOB) | group("others hold", {
    "node_4": slider(rooms.TAKEN["node-4"], 0, 4, "on node-4", unit="CPUs")})

PANELS = [pictures.cluster("Rooms, racks, and the gang",
                           lambda at: rooms.dry_runs(at.trace, at.session), unit="CPUs", cell=1,
                           wide=True, legend=rooms.LEGEND)]

TASKS = tasks("10", {"leave the racks": lambda values, at: (
    values["highest_tier"] == 2 and at.goes.startswith("room"))})


def topology_lab() -> Lab:
    """Make the lab: the gang, how close it must lie, and what others hold of node-4.

    >>> lab = topology_lab()
    >>> lab.set(pods=7).facts.goes, lab.set(pods=7, highest_tier=2).facts.goes
    ('it waits', 'room-2')
    """
    return Lab(CONTROLS, tried, PANELS, tasks=TASKS, code=cluster_of,
               title="A gang in two rooms with two racks each",
               says=[outcome("HyperNode of the gang", lambda at: at.goes, lambda at: at.because),
                     outcome("Tried", lambda at: at.tried)],
               nothing=lambda at: gettext("As before: {text}", text=gettext(
                   "{goes}: {because}.", goes=gettext(at.goes), because=gettext(at.because))),
               opening=lambda at: str(Message("gang.opening", tried=at.tried, goes=at.goes)))
