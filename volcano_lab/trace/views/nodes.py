"""Nodes in a trace: what was said of each of them when one was sought."""

from collections.abc import Collection, Iterator
from typing import Any

from volcano_lab.trace import TraceReader
from volcano_lab.trace.reading import scores_of

Rows = Iterator[dict[str, Any]]
CHOSEN, FITS, LATER, NO_ROOM = "chosen", "fits", "room later", "no room"


def choices(trace: TraceReader, job: str | None = None,
            tasks: Collection[str] | None = None) -> Rows:
    """One row per pod for which a node was sought, and node: whether it was chosen or fits, or why
    not, and its scores.

    `verdict` is "chosen", "fits", "room later" (once others have gone), "no room", or else who
    objects, with the reason where each call was recorded. `job` or `tasks` say which pods; of each
    the last search counts.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> trace, _ = traced(Cluster().node("n1", cpu=4).node("n2", cpu=1).job("a", cpu=2).objects())
    >>> [(row["task"], row["node"], row["verdict"]) for row in choices(trace)]
    [('default/a-0', 'n1', 'chosen'), ('default/a-0', 'n2', 'no room')]
    """
    wanted = {task for task, fields in trace.start["tasks"].items()
              if (job is None or fields["job"] == job) and (tasks is None or task in tasks)}
    for task, (record, columns) in trace.searches(wanted).items():
        filtered = any(column.startswith("predicate ") for said in columns.values()
                       for column in said)
        for node in trace.nodes:
            said = columns.get(node, {})
            scores = scores_of(said)
            verdict = CHOSEN if node == record["node"] else _verdict(said, filtered)
            yield {"task": task, "node": node, "verdict": verdict, "score": sum(scores.values()),
                   "scores": scores, "number": record.number}


def _verdict(said: dict[str, Any], filtered: bool) -> str:
    """Who objects, or whether there is room. Call by call, a node without room is not even asked
    about (`filtered`).
    """
    asked = {column.partition(" ")[2]: value for column, value in said.items()
             if column.startswith("predicate ")}
    for plugin, value in asked.items():
        if value is not True and value is not None:
            reason = "" if isinstance(value, bool | int) else value
            reason = reason if isinstance(reason, str) else ", ".join(reason)
            return f"{plugin}: {reason}" if reason else plugin
    if "room" in said:
        return {0: NO_ROOM, 1: LATER}.get(said["room"], FITS)
    return FITS if asked or not filtered else NO_ROOM
