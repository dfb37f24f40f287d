"""What a cycle decided, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from volcano_lab.display.tables.frame import frame
from volcano_lab.trace.views.cycle import QUEUE_COLUMNS, Cycle

if TYPE_CHECKING:
    from pandas import DataFrame


def queues(cycle: Cycle, resource: str = "cpu") -> DataFrame:
    """A row a queue, for one resource: weight, what it deserves, may hold, holds and asks for,
    share, overused.

    >>> from volcano_lab.cluster import Cluster
    >>> cycle = Cluster().node("n1", cpu=4).job("train", pods=6, min_member=2, cpu=1).run()
    >>> queues(cycle)[["deserved", "allocated", "request"]].loc["default"].tolist()
    [4, 4, 6]
    """
    rows = [{
        column: row[column].get(resource, 0) if column in QUEUE_COLUMNS else row[column]
        for column in row
    }
            for row in cycle.queues()]
    return frame(rows, ["queue", "weight", *QUEUE_COLUMNS, "share", "overused"], "queue")


def rounds(cycle: Cycle, resource: str = "cpu") -> DataFrame:
    """What each queue deserves after each round, and what is left for the next.

    >>> from volcano_lab.cluster import Cluster
    >>> print(rounds(Cluster().node("n1", cpu=4).job("train", pods=6, min_member=2, cpu=1).run()))
           default  left
    round
    1            4     0
    """
    rows: dict[int, dict] = {}
    for step in cycle.fill(resource):
        row = rows.setdefault(step["round"], {"round": step["round"]})
        row[step["queue"]] = step["deserved"]
        row["left"] = step["left"]
    ordered = [{**{name: row[name] for name in row if name != "left"}, "left":
                row["left"]} for row in rows.values()]
    return frame(ordered, ["round"], "round")


def turns(cycle: Cycle) -> DataFrame:
    """The order in which allocate took the queues: each queue's share before its turn, and what
    came of it.

    >>> from volcano_lab.cluster import Cluster
    >>> turns(Cluster().node("n1", cpu=4).job("train", pods=2, cpu=1).run())[["queue", "outcome"]].loc[1].tolist()
    ['default', 'placed']
    """
    rows = [{
        "turn": number, "queue": turn.queue, "share": turn.share, "job": turn.job, "outcome":
        turn.outcome, "pods": turn.pods
    } for number, turn in enumerate(cycle.turns, 1)]
    return frame(rows, ["turn", "queue", "share", "job", "outcome", "pods"], "turn")


def operations(cycle: Cycle, job: str) -> DataFrame:
    """What was tried for a job ("namespace/name"), step by step, with the commit or the undoing
    that followed.

    >>> from volcano_lab.cluster import Cluster
    >>> cycle = Cluster().node("n1", cpu=4).node("n2", cpu=2).job("train", pods=2, cpu=3).run()
    >>> operations(cycle, "default/train")["operation"].tolist()
    ['allocate', 'undo allocate']
    """
    rows = [{"step": number, **row} for number, row in enumerate(cycle.operations(job), 1)]
    return frame(rows, ["step", "statement", "operation", "pod", "node", "outcome"], "step")


def jobs(cycle: Cycle) -> DataFrame:
    """A row a job: phase, pods placed and waiting, and why they wait.

    >>> from volcano_lab.cluster import Cluster
    >>> jobs(Cluster().node("n1", cpu=4).job("train", pods=2, cpu=3).run())["phase"].tolist()
    ['Pending']
    """
    rows = [{**row, "why": "; ".join(row["why"])} for row in cycle.jobs()]
    return frame(rows, ["job", "queue", "phase", "pods", "min_member", "placed", "pending", "why"],
                 "job")


def placements(cycle: Cycle) -> DataFrame:
    """A row for each operation that took effect.

    >>> from volcano_lab.cluster import Cluster
    >>> placements(Cluster().node("n1", cpu=4).job("train", pods=2, cpu=1).run())["node"].tolist()
    ['n1', 'n1']
    """
    return frame(cycle.placements(), ["operation", "pod", "node"])
