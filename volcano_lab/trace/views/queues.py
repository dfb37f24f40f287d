"""Queues in a trace: the order of queues and its reasons, the hierarchy, the admitted jobs."""

from typing import Any

from volcano_lab.api import in_units
from volcano_lab.trace import Rows, TraceReader, stepper

SUMS = ("guarantee", "deserved", "real_capability", "allocated", "request", "inqueue", "elastic")
PARTS = {"minimum": "min_resources", "allocated": "allocated", "inqueue": "inqueue",
         "elastic": "elastic", "sum": "asked", "may_hold": "limit"}
"""Column of `admissions` -> the fact of the comparison."""


def sums(trace: TraceReader, number: int | None = None) -> Rows:
    """Return one row per queue right after a record (None: at the end): weight, share, and each
    sum's amounts by resource, None for no limit.

    >>> from volcano_lab.cluster import Cluster
    >>> [row["deserved"] for row in sums(Cluster().node("n1", cpu=4).job("a", cpu=1).run().trace)]
    [{'cpu': 1, 'memory': 0, 'pods': 1}]
    """
    for name, queue in sorted(stepper.state_at(trace, number)["queues"].items()):
        amounts = {field: {"cpu": 0.0, "memory": 0.0, **queue[field]} for field in SUMS}
        yield {"queue": name, "weight": queue["weight"],
               **{field: {each: in_units(each, amount) for each, amount in by_name.items()}
                  for field, by_name in amounts.items()}, "share": queue["share"]}


def turns(trace: TraceReader) -> Rows:
    """Return one row per turn of a queue in allocate: its share before, the popped job, its
    outcome, and what ordered the queue before the next.

    `outcome` is "placed", "discarded", "overused" (the queue was skipped), or "nothing" (no pod
    could be placed, or no job was left); `pods` is how many were placed.

    >>> from volcano_lab.cluster import Cluster
    >>> cluster = Cluster().node("n1", cpu=8).queue("a").job("x", queue="a", cpu=1).job("y", cpu=2)
    >>> [(row["queue"], row["outcome"], row["why"]) for row in turns(cluster.run().trace)][1]
    ('a', 'placed', 'before default by proportion')
    """
    row: dict[str, Any] = {}
    number = 0
    for record in trace.records:
        if record.action != "allocate":
            continue
        if record.kind == "queue":
            if row:
                yield row
            number += 1
            plugin, difference = record["decided_by"] or ("", None)
            by = plugin or "default: no plugin tells them apart"
            following = record["next"]
            row = {"turn": number, "queue": record["queue"], "share": record["share"], "job": "",
                   "outcome": "nothing", "pods": 0, "next": following, "decided_by": plugin,
                   "difference": difference, "number": record.number,
                   "why": "no other queue waits" if following is None
                   else f"before {following} by {by}"}
        elif row and record.kind == "passed_over":
            row["outcome"] = record["reason"]
        elif row and record.kind == "job":
            row["job"] = record["job"]
        elif row and record.kind in ("commit", "undo"):
            row["outcome"] = "placed" if record.kind == "commit" else "discarded"
            row["pods"] += record.kind == "commit"
    if row:
        yield row


def tree(trace: TraceReader, number: int | None = None, resource: str = "cpu") -> Rows:
    """Return one row per queue, each below its parent, right after a record (None: at the end): its
    sums over all queues below, share and weight.

    Without a hierarchy (flat capacity, or proportion) every queue has depth 0.

    >>> from volcano_lab.cluster import Cluster
    >>> conf = '''
    ... actions: "enqueue, allocate"
    ... tiers: [{plugins: [{name: gang}, {name: capacity, enableHierarchy: true}]}]'''
    >>> cluster = Cluster().node("n1", cpu=4).queue("a").queue("b", parent="a", capability=2)
    >>> trace = cluster.job("j", queue="b", cpu=1).run(conf).trace
    >>> [(row["queue"], row["depth"], row["allocated"], row["real_capability"])
    ...  for row in tree(trace)]
    [('root', 0, 1, 4), ('a', 1, 1, 4), ('b', 2, 1, 2), ('default', 1, 0, 4)]
    """
    queues = stepper.state_at(trace, number)["queues"]
    ways = {name: way_to(queues, name) for name in queues}
    for name in sorted(queues, key=ways.__getitem__):
        queue = queues[name]
        yield {"queue": name, "parent": "".join(ways[name][-2:-1]), "depth": len(ways[name]) - 1,
               "weight": queue["weight"],
               **{field: amount_of(queue[field], resource) for field in SUMS},
               "share": queue["share"]}


def admissions(trace: TraceReader, job: str = "", resource: str = "cpu") -> Rows:
    """Return one row per comparison of enqueue, for one job ("namespace/name") or all, level by
    level: the parts of the sum, both sides, and the verdict.

    `short_of` names the resources that were exceeded. Parts that a plugin does not count are 0;
    overcommit compares no queue, its `level` is "cluster".

    >>> from volcano_lab.cluster import Cluster
    >>> trace = Cluster().node("n1", cpu=1).job("a", pods=2, cpu=1).run().trace
    >>> [(row["plugin"], row["level"], row["sum"], row["may_hold"], row["verdict"])
    ...  for row in admissions(trace)]
    [('overcommit', 'cluster', 2, 1.2, 'refused')]
    """
    for record in trace.iter("enqueue_comparison"):
        if job in ("", record["job"]):
            yield {"job": record["job"], "plugin": record["plugin"],
                   "level": record.get("level") or "cluster",
                   **{word: amount_of(record.get(name) or {}, resource)
                      for word, name in PARTS.items()}, "short_of": record["short_of"],
                   "verdict": "refused" if record["short_of"] else "fits", "number": record.number}


def levels(trace: TraceReader, job: str = "", resource: str = "cpu") -> Rows:
    """Return `admissions` by queues only: the sum at each level of the hierarchy, bottom up."""
    return (row for row in admissions(trace, job, resource) if row["level"] != "cluster")


def way_to(queues: dict[str, dict[str, Any]], name: str) -> tuple[str, ...]:
    """Return the queues from the root down to one, by the queues of a state; a queue that is its
    own ancestor has none above it.

    >>> way_to({"a": {"parent": "b"}, "b": {"parent": "a"}, "c": {"parent": "b"}}, "c")
    ('b', 'c')
    """
    way = [name]
    while (parent := queues.get(way[0], {}).get("parent", "")) not in ("", *way):
        way.insert(0, parent)
    return tuple(way[way.index(parent):] if parent else way)


def amount_of(amounts: dict[str, float], resource: str) -> float | None:
    """Return one amount in display units; None for no limit.

    >>> amount_of({"cpu": 1500.0}, "cpu"), amount_of({}, "memory")
    (1.5, 0)
    """
    return in_units(resource, amounts.get(resource, 0.0))
