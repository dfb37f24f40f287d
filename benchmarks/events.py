"""A trace in the form of the recorded events, so that the way to the decisions can be compared with
Volcano's.

The form: ["queue", queue], ["job", job], ["overused", plugin, queue, answer], ["predicate", plugin,
pod, node, reason] and so on, a list an action, in the order in which they happened; queues and jobs
as allocate popped them.
"""

from __future__ import annotations

from typing import Any

from volcano_lab.trace import Record, TraceReader

CALLS = {
    "overused": ("plugin", "queue", "answer"),
    "allocatable": ("plugin", "queue", "task", "answer"),
    "preemptive": ("plugin", "queue", "task", "answer"),
    "job_enqueueable": ("plugin", "job", "answer"),
    "node_order": ("plugin", "task", "node", "answer"),
    "batch_node_order": ("plugin", "task", "answer"),
}
"""Extension point -> the facts of an event of that kind."""

KINDS = ("queue", "job", *CALLS, "predicate", "preemptable", "reclaimable")


def events_of(trace: TraceReader) -> list[dict[str, Any]]:
    """The events of a trace by action, in the form of the recorded ones.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> trace, _ = traced(Cluster().node("n1", cpu=4).job("a", cpu=1).objects())
    >>> events_of(trace)[1]["events"][:2]
    [['queue', 'default'], ['overused', 'proportion', 'default', False]]
    """
    steps: list[dict[str, Any]] = []
    for record in trace.records:
        if record.kind == "start":
            steps.append({"action": record.action, "events": []})
        event = _event(record)
        if event is not None and steps:
            steps[-1]["events"].append(event)
    return steps


def _event(record: Record) -> list[Any] | None:
    if record.kind in ("queue", "job"):
        return [record.kind, record[record.kind]] if record.action == "allocate" else None
    if record.kind != "call":
        return None
    point = record["point"]
    if point in CALLS:
        return [point, *(record[name] for name in CALLS[point])]
    if point == "predicate":
        reason = record["answer"]
        return None if reason is None else [
            point, record["plugin"], record["task"], record["node"],
            _text(record, reason)
        ]
    if point in ("preemptable", "reclaimable"):
        victims, vote = record["answer"]
        return [point, record["plugin"], record["task"], victims, vote]
    return None


def _text(record: Record, reason: Any) -> str:
    if isinstance(reason, str):
        return reason
    return f"task {record['task']} on node {record['node']} fit failed: {', '.join(reason)}"
