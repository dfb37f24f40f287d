"""Nodes in a trace: the answers for each of them in a search."""

from collections.abc import Collection, Iterator
from typing import Any

from volcano_lab.trace import TraceReader
from volcano_lab.trace.reading import scores_of

Rows = Iterator[dict[str, Any]]
CHOSEN, FITS, LATER, NO_FIT = "chosen", "fits", "fits later", "does not fit"


def choices(trace: TraceReader, job: str | None = None,
            tasks: Collection[str] | None = None) -> Rows:
    """Return one row per searched pod and node: whether it was chosen or fits, or why not, and its
    scores, which a node that does not fit may have, too. The answers are those of a `Trace`; an
    `Outline` has none.

    `verdict` is "chosen", "fits", "fits later" (in future idle resources), "does not fit", or else
    the objecting plugin, with the reason where each call was recorded. `job` or `tasks` select the
    pods; of each the last search counts.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> trace, _ = traced(Cluster().node("n1", cpu=4).node("n2", cpu=1).job("a", cpu=2).objects())
    >>> [(row["task"], row["node"], row["verdict"]) for row in choices(trace)]
    [('default/a-0', 'n1', 'chosen'), ('default/a-0', 'n2', 'does not fit')]
    """
    wanted = {task for task, fields in trace.start["tasks"].items()
              if (job is None or fields["job"] == job) and (tasks is None or task in tasks)}
    for task, (record, columns) in trace.searches(wanted).items():
        filtered = any(column.startswith("predicate ") for row in columns.values()
                       for column in row)
        for node in trace.nodes:
            row = columns.get(node, {})
            scores = scores_of(row)
            verdict = CHOSEN if node == record["node"] else _verdict(row, filtered)
            yield {"task": task, "node": node, "verdict": verdict, "score": sum(scores.values()),
                   "scores": scores, "number": record.number}


def _verdict(row: dict[str, Any], filtered: bool) -> str:
    """Return which plugin objects, or whether the pod fits. Call by call, a node without enough
    resources is not even filtered (`filtered`).
    """
    asked = {column.partition(" ")[2]: value for column, value in row.items()
             if column.startswith("predicate ")}
    for plugin, value in asked.items():
        if value is not True and value is not None:
            reason = "" if isinstance(value, bool | int) else value
            reason = reason if isinstance(reason, str) else ", ".join(reason)
            return f"{plugin}: {reason}" if reason else plugin
    if "room" in row:
        return {0: NO_FIT, 1: LATER}.get(row["room"], FITS)
    return FITS if asked or not filtered else NO_FIT
