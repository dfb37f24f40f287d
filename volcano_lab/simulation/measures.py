"""Measures of a run in simulated time: waiting, slowdown, utilisation, fairness, evictions.

Rows of plain data, computed from a history's rows. A job waits from its arrival until its minimum
runs, or until the end of the run. Its slowdown is the time from arrival to end over its run time.
Averages over time weight each cycle by the time until the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean, median
from typing import TYPE_CHECKING

import numpy as np

from volcano_lab.trace import Row, grouped

if TYPE_CHECKING:
    from volcano_lab.simulation.history import History


def quantile(values: Sequence[float], part: float) -> float | None:
    """Return the value below which a given fraction lies, interpolated between neighbours.

    >>> quantile([1.0, 2.0, 3.0, 4.0], 0.5), quantile([5.0], 0.95), quantile([], 0.95)
    (2.5, 5.0, None)
    """
    return round(float(np.quantile(values, part)), 6) if values else None


def jobs(history: History) -> list[Row]:
    """Return one row per job: seconds it waited, slowdown, evictions, how often its gang fell below
    its minimum.
    """
    rows = []
    for run in history.dicts("jobs"):
        waited = run["waiting"] if run["started"] is not None else (
            round(history.until - run["arrived"], 6))
        taken = None if run["finished"] is None else run["finished"] - run["arrived"]
        state = "running" if run["started"] is not None else "waiting"
        state = "finished" if taken is not None else state
        rows.append({
            "job": run["job"], "queue": run["queue"], "state": state, "pods": run["pods"],
            "arrived": run["arrived"], "waiting": waited, "slowdown": round(
                taken / run["run_time"], 6) if taken is not None and run["run_time"] else None,
            "evicted": run["evicted"], "broken": run["broken"]})
    return rows


def queues(history: History) -> list[Row]:
    """Return one row per queue with jobs or allocations: jobs, waiting, slowdown, utilisation of
    each resource, and its allocated part of deserved, over the whole time.
    """
    of_queue = grouped((row["queue"], row) for row in jobs(history))
    samples = grouped((row["queue"], (length, row)) for length, row in timed(history, "queues"))
    seen = list(timed(history, "cluster"))
    offered = {name: average(seen, f"all_{name}") for name in ("cpu", "memory", "gpu")}
    total = {name: amount for name, amount in offered.items() if amount}
    rows = []
    for name in sorted(samples.keys() | of_queue.keys()):
        own, came = samples.get(name, []), of_queue.get(name, [])
        held, due = ({resource: average(own, f"{part}_{resource}", 0.0) for resource in total}
                     for part in ("allocated", "deserved"))
        if came or any(held.values()):
            rows.append({"queue": name, **_waited(came), **{
                f"used_{resource}": _share(held[resource], total[resource]) for resource in total},
                **{f"of_deserved_{resource}": _share(
                    held[resource], due[resource]) for resource in total}})
    return rows


def cluster(history: History) -> list[Row]:
    """Return one row for the whole cluster, with the fairness of the queues' shares over time."""
    seen = list(timed(history, "cluster"))
    return [{"cycles": len(history.rows["cluster"]), "seconds": history.until,
             **_waited(jobs(history)), **{
                 f"used_{name.removeprefix('part_')}": _rounded(average(seen, name))
                 for name in history.columns["cluster"] if name.startswith("part_")},
             "fairness": _rounded(average(seen, "fairness"))}]


def timed(history: History, table: str) -> Iterator[tuple[float, Row]]:
    """Yield each row of a table and its duration."""
    times = [row[0] for row in history.rows["cluster"]]
    ends = dict(zip(times, [*times, history.until][1:], strict=True))
    for row in history.dicts(table):
        yield ends[row["time"]] - row["time"], row


def average(rows: Iterable[tuple[float, Row]], name: str, missing: float | None = None
            ) -> float | None:
    """Return the mean of a column over time; a row without a value counts as `missing`, or not."""
    values = [(length, missing if row[name] is None else row[name]) for length, row in rows]
    known = [(length, value) for length, value in values if value is not None]
    whole = sum(length for length, _ in known)
    return sum(length * value for length, value in known) / whole if whole else None


def _waited(rows: Sequence[Row]) -> Row:
    waits = [row["waiting"] for row in rows]
    slow = [row["slowdown"] for row in rows if row["slowdown"] is not None]
    states = [row["state"] for row in rows]
    return {"jobs": len(rows), "finished": states.count("finished"),
            "still_waiting": states.count("waiting"),
            "waiting_mean": round(fmean(waits), 6) if waits else None,
            "waiting_median": round(median(waits), 6) if waits else None,
            "waiting_p95": quantile(waits, 0.95),
            "slowdown_median": round(median(slow), 6) if slow else None,
            "slowdown_p95": quantile(slow, 0.95),
            "evicted": sum(row["evicted"] for row in rows),
            "broken": sum(row["broken"] for row in rows)}


def _share(part: float | None, whole: float | None) -> float | None:
    return round(part / whole, 6) if part is not None and whole else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
