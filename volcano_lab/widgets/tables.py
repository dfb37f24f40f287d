"""What a cycle decided as pandas tables, built from rows of `trace.views`; nothing is decided here.

Amounts are in CPUs, bytes or whole devices. Cells for "no limit" are missing values.
pandas is loaded with the first table.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from volcano_lab.messages import Misuse, friendly_errors
from volcano_lab.trace import TraceReader
from volcano_lab.trace.views import queues as queue_rows
from volcano_lab.trace.views.cycle import Cycle

if TYPE_CHECKING:
    from volcano_lab.widgets.table import Table

__all__ = ["jobs", "levels", "operations", "placements", "queues", "turns"]


def frame(rows: list[dict[str, Any]], columns: list[str], index: str = "") -> Table:
    """Return these columns of rows as a table.

    Headings have spaces instead of underscores. A cycle without rows keeps its headings.
    """
    table: Table = import_module("volcano_lab").Table(rows, columns=columns)
    table = table.set_index(index) if index else table
    return table.rename(columns=lambda name: str(name).replace("_", " "))


Source = Any
"""A trace, or an object with one: a `Cycle`, an `Explainer`."""


def _trace_of(source: Source) -> TraceReader:
    """Return the trace of an object, or the trace itself. Raises `TypeError` otherwise."""
    trace = getattr(source, "trace", source)
    if not isinstance(trace, TraceReader):
        raise Misuse("table.source", name=type(source).__name__)
    return trace


# -- of a cycle; those of queues also of a trace

LEVELS = ["queue", "parent", "deserved", "guarantee", "real_capability", "request", "allocated",
          "inqueue", "elastic", "share"]


def queues(cycle: Cycle, resource: str = "cpu") -> Table:
    """Return one row per queue, for one resource: weight, what it deserves, may hold, holds and
    requests, share, overused.

    >>> from volcano_lab.cluster import Cluster
    >>> cycle = Cluster().node("n1", cpu=4).job("train", pods=6, min_member=2, cpu=1).run()
    >>> queues(cycle)[["deserved", "allocated", "request"]].loc["default"].tolist()
    [4, 4, 6]
    """
    rows = [{column: value.get(resource, 0) if column in queue_rows.SUMS else value
             for column, value in row.items()} for row in cycle.queues()]
    return frame(rows, ["queue", "weight", *queue_rows.SUMS, "share", "overused"], "queue")


def levels(source: Source, resource: str = "cpu", number: int | None = None) -> Table:
    """Return one row per queue, each below its parent, right after a record (None: at the end);
    sums cover all queues below.

    >>> from volcano_lab.cluster import Cluster
    >>> cluster = Cluster().node("n1", cpu=4).queue("a", capability=2).job("x", queue="a", cpu=1)
    >>> levels(cluster.run())["real capability"].tolist()
    [2]
    """
    return frame(list(queue_rows.tree(_trace_of(source), number, resource)), LEVELS, "queue")


def turns(source: Source) -> Table:
    """Return one row per turn of a queue in allocate: its share before, and the outcome.

    >>> from volcano_lab.cluster import Cluster
    >>> cycle = Cluster().node("n1", cpu=4).job("train", pods=2, cpu=1).run()
    >>> turns(cycle)[["queue", "outcome"]].loc[1].tolist()
    ['default', 'placed']
    """
    columns = ["turn", "queue", "share", "job", "outcome", "pods"]
    return frame(list(queue_rows.turns(_trace_of(source))), columns, "turn")


def operations(cycle: Cycle, job: str) -> Table:
    """Return one row per operation tried for a job, with the commit or undo that followed.

    >>> from volcano_lab.cluster import Cluster
    >>> cycle = Cluster().node("n1", cpu=4).node("n2", cpu=2).job("train", pods=2, cpu=3).run()
    >>> operations(cycle, "train")["operation"].tolist()
    ['allocate', 'undo allocate']
    """
    rows = [{"step": number, **row} for number, row in enumerate(cycle.operations(job), 1)]
    return frame(rows, ["step", "statement", "operation", "pod", "node", "outcome"], "step")


def jobs(cycle: Cycle) -> Table:
    """Return one row per job: phase, pods placed and waiting, and the reason they wait.

    >>> from volcano_lab.cluster import Cluster
    >>> jobs(Cluster().node("n1", cpu=4).job("train", pods=2, cpu=3).run())["phase"].tolist()
    ['Pending']
    """
    rows = [{**row, "why": "; ".join(row["why"])} for row in cycle.jobs()]
    return frame(rows, ["job", "queue", "phase", "pods", "min_member", "placed", "pending", "why"],
                 "job")


def placements(cycle: Cycle) -> Table:
    """Return one row per operation that took effect.

    >>> from volcano_lab.cluster import Cluster
    >>> placements(Cluster().node("n1", cpu=4).job("train", pods=2, cpu=1).run())["node"].tolist()
    ['n1', 'n1']
    """
    return frame(cycle.placements(), ["operation", "pod", "node"])


for _name in __all__:
    globals()[_name] = friendly_errors(globals()[_name])


def __dir__() -> list[str]:
    """Return the public names only, for completion with Tab."""
    return __all__
