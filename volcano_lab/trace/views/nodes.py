"""Nodes in a trace: what they hold at a moment, and what was said of each of them when one was
sought.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from volcano_lab.api.formatting import in_units
from volcano_lab.trace import Record, TraceReader
from volcano_lab.trace.reading import NODE_POINTS, SCORES
from volcano_lab.trace.stepper import state_at

Rows = Iterator[dict[str, Any]]
CHOSEN, FITS, LATER, NO_ROOM = "chosen", "fits", "room later", "no room"


def use(trace: TraceReader, number: int | None = None) -> Rows:
    """A row a node and resource right after a record (None: at the end); `part` is used over
    allocatable.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> trace, _ = traced(Cluster().node("n1", cpu=4).job("a", cpu=1).objects())
    >>> [(row["node"], row["resource"], row["used"], row["part"]) for row in use(trace)][0]
    ('n1', 'cpu', 1, 0.25)
    """
    state = state_at(trace, len(trace.records) - 1 if number is None else number)
    for name in trace.nodes:
        node = state["nodes"][name]
        for resource, whole in node["allocatable"].items():
            amounts = {field: in_units(resource, node[field].get(resource, 0.0))
                       for field in ("allocatable", "used", "idle", "releasing", "pipelined")}
            yield {
                "node": name, "resource": resource, **amounts, "part":
                node["used"].get(resource, 0.0) / whole
            }


def choices(trace: TraceReader, job: str | None = None,
            tasks: Collection[str] | None = None) -> Rows:
    """A row a pod for which a node was sought, and node: whether it was chosen or fits, or why not,
    and its scores.

    `verdict` is "chosen", "fits", "room later" (once others have gone), "no room", or else who
    objects, with the reason where each call was recorded. `job` or `tasks` say which pods; of each
    the last search counts.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> trace, _ = traced(Cluster().node("n1", cpu=4).node("n2", cpu=1).job("a", cpu=2).objects())
    >>> [(row["task"], row["node"], row["verdict"]) for row in choices(trace)]
    [('default/a-0', 'n1', 'chosen'), ('default/a-0', 'n2', 'no room')]
    """
    for task, (record, columns) in _searches(trace, job, tasks).items():
        filtered = any(
            column.startswith("predicate ") for said in columns.values() for column in said)
        for node in trace.nodes:
            said = columns.get(node, {})
            scores: dict[str, float] = {}
            for column, value in said.items():
                point, _, plugin = column.partition(" ")
                if point in SCORES and isinstance(value, int | float):
                    scores[plugin] = scores.get(plugin, 0.0) + value
            verdict = CHOSEN if node == record["node"] else _verdict(said, filtered)
            yield {
                "task": task, "node": node, "verdict": verdict, "score": sum(scores.values()),
                "scores": scores, "number": record.number
            }


def _verdict(said: dict[str, Any], filtered: bool) -> str:
    """Who objects, or whether there is room. Call by call, a node without room is not even asked
    about (`filtered`).
    """
    asked = {
        column.partition(" ")[2]: value
        for column, value in said.items()
        if column.startswith("predicate ")
    }
    for plugin, value in asked.items():
        if value is not True and value is not None:
            reason = "" if isinstance(
                value, bool | int) else value if isinstance(value, str) else ", ".join(value)
            return f"{plugin}: {reason}" if reason else plugin
    if "room" in said:
        return {0: NO_ROOM, 1: LATER}.get(said["room"], FITS)
    return FITS if asked or not filtered else NO_ROOM


def _searches(trace: TraceReader, job: str | None, tasks: Collection[str] | None
              ) -> dict[str, tuple[Record, dict[str, dict[str, Any]]]]:
    """{task: (the choice, {node: {column: value}})} of each task's last search, in one pass over
    the records.
    """
    wanted = {task for task, fields in trace.start["tasks"].items()
              if (job is None or fields["job"] == job) and (tasks is None or task in tasks)}
    known: dict[int, dict[str, list[Any]]] = {}
    found: dict[str, tuple[Record, dict[str, dict[str, Any]]]] = {}
    calls: dict[str, dict[str, Any]] = {}
    last = None  # the kind of task that was looked at last
    for record in trace.records:
        if record.kind == "node_values":
            last = record["alike"]
            for column, values in record["columns"].items():
                whole = known.setdefault(last, {}).setdefault(column, [None] * len(trace.nodes))
                for row, value in zip(record["rows"], values, strict=True):
                    whole[row] = value
        elif record.kind == "call" and record.values[0] in NODE_POINTS and record.get(
                "task") in wanted:
            column = f"{record['point']} {record['plugin']}"
            answers = record["answer"] if record["point"] == "batch_node_order" else {
                record["node"]: record["answer"]
            }
            for node, answer in answers.items():
                calls.setdefault(node, {})[column] = answer
        elif record.kind == "chose":
            if record["task"] in wanted:
                at_once = {} if last is None else {
                    node: {column: values[row]
                           for column, values in known[last].items()}
                    for row, node in enumerate(trace.nodes)
                }
                found[record["task"]] = record, calls or at_once
            calls, last = {}, None
    return found
