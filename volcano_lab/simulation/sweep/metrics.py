"""The metrics of a sweep: a name, a path to a number, or a user-defined function."""

from collections.abc import Callable
from typing import Any

from volcano_lab.messages import NoSuch, gettext
from volcano_lab.simulation.history import History
from volcano_lab.simulation.measures import measure as of_history
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


def measure(name: str, cycle: Cycle | History) -> Any:
    """Return one number of a cycle: `placed`, `queue/NAME.FIELD.RESOURCE` or
    `job/[NAMESPACE/]NAME.FIELD`; the default namespace is `default`. For a history see
    `simulation.measures`.

    Raises `LookupError` with a sentence if there is none.

    >>> from volcano_lab.cluster import Cluster
    >>> cycle = Cluster().node("n1", cpu=4).job("train", pods=6, min_member=2, cpu=1).run()
    >>> names = ("placed", "queue/default.deserved.cpu", "job/train.pending")
    >>> [measure(name, cycle) for name in names]
    [4, 4, 2]
    """
    if isinstance(cycle, History):
        return of_history(name, cycle)
    if name in METRICS:
        return METRICS[name](cycle)
    kind, _, rest = name.partition("/")
    rows = {"queue": cycle.queues, "job": cycle.jobs}.get(kind, list)()
    for row in sorted(rows, key=lambda row: -len(row[kind])):
        for known in _names(row[kind], cycle) if kind == "job" else [row[kind]]:
            if rest.startswith(f"{known}."):
                value: Any = row
                for step in rest[len(known) + 1:].split(".", 1):
                    value = value.get(step, None if value is row else 0) if isinstance(
                        value, dict) else None
                if value is not None and not isinstance(value, dict | list):
                    return value
    known = [_names(row[kind], cycle)[-1] if kind == "job" else row[kind] for row in rows]
    there = gettext("; queues are {known:5}" if kind == "queue" else "; jobs are {known:5}",
                    known=sorted(known)) if known else ""
    raise NoSuch('no metric is called "{name}"; allowed are {metrics:,}, '
                 "queue/NAME.FIELD.RESOURCE and job/[NAMESPACE/]NAME.FIELD{there}", name=name,
                 metrics=[*METRICS], there=there)


def _names(uid: str, cycle: Cycle) -> list[str]:
    """Return the names of a job: of its PodGroup, of its Job, and both without `default/`."""
    job = cycle.session.jobs[uid]
    owners = [f"{job.namespace}/{owner.name}" for owner in job.pod_group.metadata.owner_references]
    names = [uid, *owners]
    return names + [name.removeprefix("default/") for name in names]
