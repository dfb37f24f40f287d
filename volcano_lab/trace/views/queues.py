"""Queues in a trace: how deserved was worked out, who had its turn before whom and why, the tree,
who was let in.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from volcano_lab.api.formatting import in_units
from volcano_lab.trace import State, TraceReader
from volcano_lab.trace.stepper import Stepper, state_at
from volcano_lab.trace.views.cycle import most_of

Rows = Iterator[dict[str, Any]]
SUMS = ("allocated", "deserved", "guarantee", "real_capability", "request", "inqueue", "elastic")


def rounds(trace: TraceReader, resource: str = "cpu") -> Rows:
    """A row a round of sharing and queue: what it deserved before, was offered, deserves after, and
    why it stopped.

    `most` is what it can deserve at all, `left` what remains after the round; `met` is "before" for
    a queue that was done.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> trace, _ = traced(Cluster().node("n1", cpu=8).queue("a", weight=3).job("x", queue="a", cpu=2).job("y", cpu=8).objects())
    >>> [(row["round"], row["queue"], row["offered"], row["deserved"], row["met"]) for row in rounds(trace)]
    [(1, 'a', 6, 2, 'request'), (1, 'default', 2, 2, ''), (2, 'a', 0, 2, 'before'), (2, 'default', 4, 6, '')]
    """
    start, held = trace.start["queues"], {}
    for record in trace.iter("deserved_round"):
        step_of = {step["queue"]: step for step in record["round"]["steps"]}
        for queue, deserved in record["round"]["deserved"].items():
            now, step = _amount(deserved, resource), step_of.get(queue)
            offered = (_amount(step["offered"], resource)
                       or 0) - (_amount(step["before"], resource) or 0) if step else 0
            yield {
                "round": record["number"], "queue": queue, "weight": start[queue]["weight"],
                "before": held.get(queue, 0), "offered": offered, "deserved": now,
                "met": step["met"] if step else "before", "most": most_of(
                    _sums(start[queue], resource), resource), "left": _amount(
                        record["round"]["remaining"], resource)
            }
            held[queue] = now


def order(trace: TraceReader, action: str = "allocate") -> Rows:
    """A row a turn and queue: its share at that moment, whether the turn was its own, and who put
    it before the next.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> trace, _ = traced(Cluster().node("n1", cpu=8).queue("a").job("x", queue="a", pods=2, min_member=1, cpu=1)
    ...                   .job("y", pods=2, min_member=1, cpu=2).objects())
    >>> [(row["turn"], row["queue"], row["share"], row["why"]) for row in order(trace) if row["taken"]][:2]
    [(1, 'default', 0.0, 'before a by default: no plugin tells them apart'), (2, 'a', 0.0, 'before default by proportion')]
    """
    stepper, turn = Stepper(trace), 0
    for record in trace.iter("queue"):
        if record.action != action:
            continue
        turn += 1
        plugin, difference = record["decided_by"] or ("", None)
        by = plugin or "default: no plugin tells them apart"
        why = f"before {record['next']} by {by}" if record[
            "next"] is not None else "nobody else waits"
        queues = stepper.goto(record.number).state["queues"] or {record["queue"]: {"share": 0.0}}
        for queue in sorted({*queues, record["queue"]}):
            taken = queue == record["queue"]
            yield {
                "turn": turn, "queue": queue, "share": queues.get(queue, {}).get(
                    "share", 0.0), "taken": taken, "next": record["next"] if taken else None,
                "decided_by": plugin if taken else "", "difference": difference if taken else None,
                "why": why if taken else ""
            }


def tree(trace: TraceReader, number: int | None = None, resource: str = "cpu") -> Rows:
    """A row a queue, each below its parent, right after a record (None: at the end): its sums,
    share and weight.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> conf = 'actions: "enqueue, allocate"\\ntiers: [{plugins: [{name: gang}, {name: capacity, enableHierarchy: true}]}]'
    >>> cluster = Cluster().node("n1", cpu=4).queue("a").queue("b", parent="a", capability=2).job("j", queue="b", cpu=1)
    >>> trace, _ = traced(cluster.objects(), conf)
    >>> [(row["queue"], row["depth"], row["allocated"], row["real_capability"]) for row in tree(trace)]
    [('root', 0, 1, 4), ('a', 1, 1, 4), ('b', 2, 1, 2), ('default', 1, 0, 4)]
    """
    queues = _at(trace, number)["queues"]
    ways = {name: _way(queues, name) for name in queues}
    for name in sorted(queues, key=ways.__getitem__):
        queue = queues[name]
        yield {
            "queue": name, "parent": queue.get("parent", ""), "depth": len(ways[name]) - 1,
            "weight": queue["weight"], **_sums(queue, resource, flat=True), "share": queue["share"]
        }


def admissions(trace: TraceReader, resource: str = "cpu") -> Rows:
    """A row a comparison of enqueue, level by level: the parts of the sum, both sides, and what was
    too little.

    Parts that a plugin doesn't count are 0 (overcommit looks at no queue).

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> trace, _ = traced(Cluster().node("n1", cpu=1).job("a", pods=2, cpu=1).objects())
    >>> [(row["job"], row["plugin"], row["minimum"], row["asked"], row["limit"], row["short_of"]) for row in admissions(trace)]
    [('default/a', 'overcommit', 2, 2, 1.2, ['cpu'])]
    """
    for record in trace.iter("enqueue_comparison"):
        parts = {
            "minimum": "min_resources", "allocated": "allocated", "inqueue": "inqueue", "elastic":
            "elastic", "asked": "asked", "limit": "limit"
        }
        yield {
            "job": record["job"], "plugin": record["plugin"], "level": record.get("level")
            or "cluster", **{
                word: _amount(record.get(name) or {}, resource) for word, name in parts.items()
            }, "short_of": record["short_of"], "number": record.number
        }


def _at(trace: TraceReader, number: int | None) -> State:
    return state_at(trace, len(trace.records) - 1 if number is None else number)


def _way(queues: dict[str, dict[str, Any]], name: str) -> tuple[str, ...]:
    """The queues from the root down to one."""
    parent = queues[name].get("parent", "") if name in queues else ""
    return (*(_way(queues, parent) if parent else ()), name)


def _sums(queue: dict[str, Any], resource: str, flat: bool = False) -> dict[str, Any]:
    amounts = {field: _amount(queue[field], resource) for field in SUMS}
    return amounts if flat else {field: {resource: amount} for field, amount in amounts.items()}


def _amount(amounts: dict[str, float], resource: str) -> float | None:
    """In the unit people use; None where there is no limit."""
    return in_units(resource, amounts.get(resource, 0.0))
