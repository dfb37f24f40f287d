"""The events of a run, as rows of plain data: queues and cluster after each cycle, jobs, and
events with their times.

The same run gives the same rows. `frame("queues")`, "cluster", "jobs" and "events" are pandas
tables of them. A job waits while none of its pods runs, also again after all of them were lost.
Amounts are in CPUs, bytes and whole GPUs; times in seconds since the start.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from volcano_lab.api import CPU, MEMORY, in_units
from volcano_lab.api.status import BINDING, BOUND, PENDING, RUNNING
from volcano_lab.framework import Session
from volcano_lab.messages import ENGLISH, Message, NoSuch
from volcano_lab.simulation import measures
from volcano_lab.trace import Names, Part, Shown, queue_attributes

SHOWN = ("queue", "jobs", "finished", "still_waiting", "waiting_median", "waiting_p95",
         "slowdown_median", "used_cpu", "of_deserved_cpu", "evicted", "broken")
TABLES = {"queues": measures.queues, "jobs": measures.jobs, "cluster": measures.cluster}
GPU = "nvidia.com/gpu"
RESOURCES = {"cpu": CPU, "memory": MEMORY, "gpu": GPU}
PARTS = ("deserved", "allocated", "request")
QUEUES = ("time", "queue", "weight", "share", *(f"{part}_{name}" for part in PARTS
                                                for name in RESOURCES), "pending", "inqueue",
          "running", "completed", "unknown")
CLUSTER = ("time", "nodes", *(f"used_{name}" for name in RESOURCES),
           *(f"part_{name}" for name in RESOURCES), "pods_pending", "pods_binding", "pods_running",
           "jobs_waiting", "jobs_running", "jobs_finished", "fairness",
           *(f"all_{name}" for name in RESOURCES))
JOBS = ("job", "queue", "pods", "min_member", "run_time", "arrived", "admitted", "started",
        "finished", "waiting", "lost", "evicted", "broken")
EVENTS = ("time", "what", "about", "detail")


class History(Shown):
    """Rows by table; `columns` names the columns of each.

    >>> history = History()
    >>> history.note(1.5, "node lost", "n1")
    >>> history.rows["events"], history
    ([[1.5, 'node lost', 'n1', '']], <a history of 0 cycles and 1 event>)
    """

    columns = {"queues": QUEUES, "cluster": CLUSTER, "jobs": JOBS, "events": EVENTS}  # noqa: RUF012

    def __init__(self) -> None:
        self.rows: dict[str, list[list[Any]]] = {name: [] for name in self.columns}
        self.names: dict[str, str] = {}  # of the jobs that exist at the start
        self.copied: list[str] = []  # the jobs that arrive again and again
        self.until = 0.0
        self.in_vain = 0  # cycles without an arrival or end after which the run was stopped

    def __repr__(self) -> str:
        cycles, events = len(self.rows["cluster"]), len(self.rows["events"])
        found = Message("history", cycles=Message("cycles", n=cycles),
                        events=Message("events", n=events))
        return f"<{found.text(ENGLISH)}>"

    # -- writing ---------------------------------------------------------------------------------

    def note(self, time: float, what: str, about: str, detail: str = "") -> None:
        """Record an event of an object."""
        self.rows["events"].append([time, what, self.names.get(about, about), detail])

    def sample(self, time: float, ssn: Session, unfinished: Iterable[str], finished: int) -> None:
        """Record the state of queues and cluster at the end of a session, with the uids of
        unfinished jobs, and the number of finished ones.
        """
        self.names = self.names or Names(ssn).jobs
        attributes = queue_attributes(ssn)
        shares, parents = [], {queue.queue.spec.parent or "root" for queue in ssn.queues.values()}
        for name, queue in ssn.queues.items():
            attr, status = attributes.get(name), queue.queue.status
            parts = [getattr(attr, part, None) for part in PARTS]
            amounts = [None if part is None else in_units(resource, part.get(resource))
                       for part in parts for resource in RESOURCES.values()]
            self.rows["queues"].append([time, name, queue.weight, None if attr is None
                                        else attr.share, *amounts, status.pending, status.inqueue,
                                        status.running, status.completed, status.unknown])
            if attr is not None and name not in parents and not attr.request.is_empty():
                shares.append(attr.share)
        used, offered = ([ssn.table.total(what).get(name) for name in RESOURCES.values()]
                         for what in ("used", "allocatable"))
        runs = [uid in ssn.jobs and bool(ssn.jobs[uid].in_status(RUNNING)) for uid in unfinished]
        self.rows["cluster"].append([
            time, len(ssn.nodes), *map(in_units, RESOURCES.values(), used),
            *(round(part / whole, 9) if whole else None
              for part, whole in zip(used, offered, strict=True)), *_pods(ssn),
            runs.count(False), runs.count(True), finished, fairness(shares),
            *map(in_units, RESOURCES.values(), offered)])

    def set_jobs(self, jobs: Mapping[str, Any]) -> None:
        """Record the current outcome of every job."""
        self.rows["jobs"] = [[self.names.get(key, key), *(getattr(run, name) for name in JOBS[1:])]
                             for key, run in jobs.items()]

    # -- reading ---------------------------------------------------------------------------------

    def dicts(self, table: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a table as mappings."""
        for row in self.rows[table]:
            yield dict(zip(self.columns[table], row, strict=True))

    def measures(self, table: str) -> list[dict[str, Any]]:
        """Return the measures of a run: "jobs", "queues", or "cluster", which is one row.

        >>> History().measures("jobs")
        []
        """
        if table not in TABLES:
            raise NoSuch("table.none", table=table, tables=[*TABLES])
        return TABLES[table](self)

    def _shown(self) -> Iterator[Part]:
        (whole,) = self.measures("cluster")
        yield str(Message(
            "history.jobs", jobs=Message("jobs", n=whole["jobs"]), seconds=whole["seconds"],
            cycles=Message("cycles", n=whole["cycles"]), finished=whole["finished"],
            waiting=whole["still_waiting"]))
        if whole["jobs"]:
            yield str(Message("history.waited", median=whole["waiting_median"],
                              most=whole["waiting_p95"], evicted=whole["evicted"],
                              broken=whole["broken"]))
        used = [f"{name} {whole[f'used_{name}']:.0%}" for name in RESOURCES
                if whole[f"used_{name}"] is not None]
        if used:
            yield str(Message("history.used", parts=used))
        if self.copied:
            yield str(Message("history.copied", jobs=self.copied))
        if self.in_vain:
            yield str(Message("history.in_vain", cycles=Message("cycles", n=self.in_vain)))
        if endless := sum(run["run_time"] is None for run in self.dicts("jobs")):
            yield str(Message("history.endless", count=endless))
        yield [{name.replace("_", " "): _cell(name, row.get(name)) for name in SHOWN}
               for row in self.measures("queues")]

    def _frames(self) -> dict[str, list[dict[str, Any]]]:
        return {table: list(self.dicts(table)) for table in ("jobs", "queues", "cluster", "events")
                } | {f"{table}_measured": self.measures(table) for table in TABLES}


def _cell(name: str, value: Any) -> Any:
    if value is None or not isinstance(value, float):
        return "" if value is None else value
    return f"{value:.0%}" if "used" in name or "deserved" in name else round(value, 2)


def fairness(shares: Sequence[float]) -> float | None:
    """Return the fairness of the shares of queues with requests (Jain's index): 1 for equal shares,
    1/n where one of n has all.

    >>> fairness([0.5, 0.5]), fairness([1.0, 0.0]), fairness([])
    (1.0, 0.5, None)
    """
    squares = sum(share * share for share in shares)
    if not shares:
        return None
    return round(sum(shares) ** 2 / (len(shares) * squares), 9) if squares else 1.0


def _pods(ssn: Session) -> list[int]:
    """Count pods that wait, are starting, and run."""
    return [sum(len(job.in_status(status)) for job in ssn.jobs.values() for status in some)
            for some in ((PENDING,), (BINDING, BOUND), (RUNNING,))]

