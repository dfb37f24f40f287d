"""What a cycle decided as pandas tables, made of rows of `trace.views`; nothing is decided here.

Amounts are in CPUs, bytes or whole devices. Cells that stand for "no limit" are missing values.
pandas is loaded with the first table.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from volcano_lab.messages import Misuse, friendly_errors, gettext
from volcano_lab.trace import TraceReader
from volcano_lab.trace.views import queues as queue_rows
from volcano_lab.trace.views.cycle import Cycle

if TYPE_CHECKING:
    from volcano_lab.widgets.table import Table

__all__ = ["admission", "gangs", "jobs", "levels", "operations", "placements", "queues",
           "rounds", "turns"]


def frame(rows: list[dict[str, Any]], columns: list[str], index: str = "", more: bool = False
          ) -> Table:
    """Return these columns of rows as a table, with `more` those too that rows have besides.

    Headings are words, without underscores. A cycle without rows keeps its headings.
    """
    table: Table = import_module("volcano_lab").Table(
        rows, columns=None if more and rows else columns)
    table = table.set_index(index) if index else table
    return table.rename(columns=lambda name: str(name).replace("_", " "))


class Traced(Protocol):
    """What keeps a trace: a `Cycle`, an `Explainer`."""

    trace: Any


Source = TraceReader | Traced


def _trace_of(source: Source) -> TraceReader:
    """Return the trace of what keeps one, or the trace itself. Raises `TypeError` otherwise."""
    trace = getattr(source, "trace", source)
    if not isinstance(trace, TraceReader):
        raise Misuse(gettext("rows come from a Cycle or a trace, not from {name}.",
                             name=type(source).__name__))
    return trace


# -- of a cycle; those of queues also of a trace

LEVELS = ["queue", "parent", "deserved", "guarantee", "real_capability", "request", "allocated",
          "inqueue", "elastic", "share"]
SUM = ["job", "level", "minimum", "allocated", "inqueue", "elastic", "sum", "may_hold", "verdict"]


def queues(cycle: Cycle, resource: str = "cpu") -> Table:
    """One row per queue, for one resource: weight, what it deserves, may hold, holds and asks for,
    share, overused.

    >>> from volcano_lab.cluster import Cluster
    >>> cycle = Cluster().node("n1", cpu=4).job("train", pods=6, min_member=2, cpu=1).run()
    >>> queues(cycle)[["deserved", "allocated", "request"]].loc["default"].tolist()
    [4, 4, 6]
    """
    rows = [{column: value.get(resource, 0) if column in queue_rows.SUMS else value
             for column, value in row.items()} for row in cycle.queues()]
    return frame(rows, ["queue", "weight", *queue_rows.SUMS, "share", "overused"], "queue")


def levels(source: Source, resource: str = "cpu", number: int | None = None) -> Table:
    """One row per queue, each below its parent, right after a record (None: at the end); sums cover
    all queues below.

    >>> from volcano_lab.cluster import Cluster
    >>> cluster = Cluster().node("n1", cpu=4).queue("a", capability=2).job("x", queue="a", cpu=1)
    >>> levels(cluster.run())["real capability"].tolist()
    [2]
    """
    return frame(list(queue_rows.tree(_trace_of(source), number, resource)), LEVELS, "queue")


def rounds(source: Source, resource: str = "cpu") -> Table:
    """One row per round: what each queue deserves after it, and what is left for the next.

    >>> from volcano_lab.cluster import Cluster
    >>> print(rounds(Cluster().node("n1", cpu=4).job("train", pods=6, min_member=2, cpu=1).run()))
           default  left
    round
    1            4     0
    """
    rows: dict[int, dict[str, float]] = {}
    for step in queue_rows.rounds(_trace_of(source), resource):
        row = rows.setdefault(step["round"], {"round": step["round"], "left": step["left"]})
        row[step["queue"]] = step["deserved"]
    ordered = [row | {"left": row.pop("left")} for row in rows.values()]
    return frame(ordered, ["round"], "round", more=True)


def turns(source: Source) -> Table:
    """One row per turn of a queue in allocate: its share before, and what came of it.

    >>> from volcano_lab.cluster import Cluster
    >>> cycle = Cluster().node("n1", cpu=4).job("train", pods=2, cpu=1).run()
    >>> turns(cycle)[["queue", "outcome"]].loc[1].tolist()
    ['default', 'placed']
    """
    columns = ["turn", "queue", "share", "job", "outcome", "pods"]
    return frame(list(queue_rows.turns(_trace_of(source))), columns, "turn")


def admission(source: Source, job: str = "", resource: str = "cpu") -> Table:
    """One row per comparison of enqueue with a queue, level by level: minimum + allocated + in
    queue − elastic, and what the level may hold.

    >>> from volcano_lab.cluster import Cluster
    >>> admission(Cluster().node("n1", cpu=2).job("train", pods=2, cpu=1).run())["sum"].tolist()
    [2]
    """
    return frame(list(queue_rows.levels(_trace_of(source), job, resource)), SUM, "job")


def operations(cycle: Cycle, job: str) -> Table:
    """One row per operation that was tried for a job ("namespace/name"), with the commit or the
    undoing that followed.

    >>> from volcano_lab.cluster import Cluster
    >>> cycle = Cluster().node("n1", cpu=4).node("n2", cpu=2).job("train", pods=2, cpu=3).run()
    >>> operations(cycle, "default/train")["operation"].tolist()
    ['allocate', 'undo allocate']
    """
    rows = [{"step": number, **row} for number, row in enumerate(cycle.operations(job), 1)]
    return frame(rows, ["step", "statement", "operation", "pod", "node", "outcome"], "step")


def jobs(cycle: Cycle) -> Table:
    """One row per job: phase, pods placed and waiting, and why they wait.

    >>> from volcano_lab.cluster import Cluster
    >>> jobs(Cluster().node("n1", cpu=4).job("train", pods=2, cpu=3).run())["phase"].tolist()
    ['Pending']
    """
    rows = [{**row, "why": "; ".join(row["why"])} for row in cycle.jobs()]
    return frame(rows, ["job", "queue", "phase", "pods", "min_member", "placed", "pending", "why"],
                 "job")


def gangs(cycle: Cycle) -> Table:
    """One row per job that waits or was tried: its phase, how its statements ended, and why it
    waits.

    >>> from volcano_lab.cluster import Cluster
    >>> gangs(Cluster().node("n1", cpu=4).job("train", pods=2, cpu=1).run())["statement"].tolist()
    ['commit']
    """
    rows = [row | {"operations": ", ".join(row["operations"])} for row in cycle.gangs()]
    return frame(rows, ["job", "phase", "statement", "operations", "why"], "job")


def placements(cycle: Cycle) -> Table:
    """One row per operation that took effect.

    >>> from volcano_lab.cluster import Cluster
    >>> placements(Cluster().node("n1", cpu=4).job("train", pods=2, cpu=1).run())["node"].tolist()
    ['n1', 'n1']
    """
    return frame(cycle.placements(), ["operation", "pod", "node"])


for _name in __all__:
    globals()[_name] = friendly_errors(globals()[_name], first=True)


def __dir__() -> list[str]:
    """Return the public names alone, which Tab completes."""
    return __all__
