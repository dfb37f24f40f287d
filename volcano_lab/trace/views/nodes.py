"""Nodes in a trace: the answers for each of them in a search."""

from collections.abc import Collection
from typing import Any

from volcano_lab.api import ZERO, Resource
from volcano_lab.trace import Rows, State, Stepper, TraceReader, reading

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
    stepper = None
    for task, (record, columns) in trace.searches(wanted).items():
        fits: dict[str, int] = {}
        if trace.whole and not any("fit" in row for row in columns.values()):
            stepper = stepper or Stepper(trace)
            fits = _fits(stepper.goto(record.number).state, task)
        for node in trace.nodes:
            row = columns.get(node, {})
            scores = reading.scores_of(row)
            verdict = CHOSEN if node == record["node"] else _verdict(
                row, row.get("fit", fits.get(node, 2)))
            yield {"task": task, "node": node, "verdict": verdict, "score": sum(scores.values()),
                   "scores": scores, "number": record.number}


def _fits(state: State, task: str) -> dict[str, int]:
    """Return on which nodes a task fits idle resources (2), future idle ones (1) or none, where
    nodes were filtered call by call.
    """
    request = Resource.from_dict(state["tasks"][task]["request"])
    fits = {}
    for name, node in state["nodes"].items():
        idle, releasing, pipelined = (Resource.from_dict(node[part])
                                      for part in ("idle", "releasing", "pipelined"))
        short = request + pipelined
        fits[name] = 2 if request.less_equal(idle, ZERO) else int(
            short.less_equal(idle + releasing, ZERO))
    return fits


def _verdict(row: dict[str, Any], fit: int) -> str:
    """Return which plugin objects, or whether the pod fits."""
    asked = {column.partition(" ")[2]: value for column, value in row.items()
             if column.startswith("predicate ")}
    for plugin, value in asked.items():
        if value is not True and value is not None:
            reason = "" if isinstance(value, bool | int) else value
            reason = reason if isinstance(reason, str) else ", ".join(reason)
            return f"{plugin}: {reason}" if reason else plugin
    return {0: NO_FIT, 1: LATER}.get(fit, FITS)
