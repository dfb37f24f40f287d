"""The metrics of a sweep: a name, a path to a number, or a user-defined function."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from volcano_lab.messages import Message, NoSuch
from volcano_lab.simulation import measures
from volcano_lab.simulation.history import TABLES, History
from volcano_lab.trace.views.cycle import Cycle

Metric = Callable[[Any], Any]

METRICS: dict[str, Metric] = {
    "placed": lambda cycle: sum(row["placed"] for row in cycle.jobs()),
    "pending": lambda cycle: sum(row["pending"] for row in cycle.jobs()),
    "jobs_waiting": lambda cycle: sum(row["pending"] > 0 for row in cycle.jobs()),
    "allocated": lambda cycle: _operations(cycle, "allocate"),
    "evicted": lambda cycle: _operations(cycle, "evict"),
    "promised": lambda cycle: _operations(cycle, "pipeline")}
"""Name -> its count: placed pods, unplaced pods, jobs with such pods, operations."""


def _operations(cycle: Cycle, name: str) -> int:
    return sum(row[0] == name for row in cycle.committed)


def measure(name: str, run: Cycle | History) -> Any:
    """Return one number of a cycle: `placed`, `queue/NAME.FIELD.RESOURCE` or
    `job/[NAMESPACE/]NAME.FIELD`; the default namespace is `default`. Of a history a column of
    `simulation.measures` instead.

    Raises `LookupError` with a sentence if there is none.

    >>> from volcano_lab.cluster import Cluster
    >>> cycle = Cluster().node("n1", cpu=4).job("train", pods=6, min_member=2, cpu=1).run()
    >>> names = ("placed", "queue/default.deserved.cpu", "job/train.pending")
    >>> [measure(name, cycle) for name in names]
    [4, 4, 2]
    """
    whole: Mapping[str, Any]
    tables: Mapping[str, Callable[[], list[dict[str, Any]]]]
    if isinstance(run, History):
        whole = measures.cluster(run)[0]
        tables = {each: partial(TABLES[f"{each}s"], run) for each in ("queue", "job")}
    else:
        whole, tables = METRICS, {"queue": run.queues, "job": run.jobs}
    if name in whole:
        return whole[name] if isinstance(run, History) else METRICS[name](run)
    kind, _, path = name.partition("/")
    rows = {row[kind].removeprefix(cut): row for row in tables.get(kind, list)()
            for cut in ("", "default/")}
    for known, row in sorted(rows.items(), key=lambda pair: -len(pair[0])):
        field, _, resource = path.removeprefix(f"{known}.").partition(".")
        if path.startswith(f"{known}.") and field in row and (
                isinstance(row[field], dict) if resource else
                not isinstance(row[field], dict | list)):
            return row[field].get(resource, 0) if resource else row[field]
    names = sorted({row[kind].removeprefix("default/") for row in rows.values()})
    there = Message("hint.queues" if kind == "queue" else "hint.jobs", known=names) if rows else ""
    raise NoSuch("sweep.metric", name=name, metrics=[*whole], there=there)
