"""One completed scheduling cycle and its decisions, as plain rows for tables, charts and commands.
Amounts in rows are in display units: CPUs, bytes, whole GPUs.
"""

from collections import Counter
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from attrs import Factory, define

from volcano_lab.api import fairness, quantity_text, status
from volcano_lab.framework import Session
from volcano_lab.messages import Message, Misuse, friendly_errors, gettext, one_line
from volcano_lab.trace import Part, Row, Shown, TraceReader, names
from volcano_lab.trace.views import jobs, queues
from volcano_lab.trace.views.volcano_log import volcano_log


@define(slots=True, repr=False)
class Cycle(Shown):
    """A completed cycle: its `session` (closed, still readable), its `trace`, and rows of its
    decisions. `first` is the first cycle before it, `earlier` what previous ones committed, `rests`
    whether no pods are left to be created for the jobs that it admitted, `world` the objects before
    it.

    >>> from volcano_lab.cluster import Cluster
    >>> cycle = Cluster().node("n1", cpu=4).job("train", pods=6, min_member=2, cpu=1).run()
    >>> [(row["queue"], row["deserved"]["cpu"], row["allocated"]["cpu"]) for row in cycle.queues()]
    [('default', 4, 4)]
    >>> [(row["job"], row["phase"], row["placed"], row["pending"]) for row in cycle.jobs()]
    [('default/train', 'Inqueue', 4, 2)]
    """

    session: Session
    trace: TraceReader
    times: dict[str, float]
    first: Any = None
    earlier: list[list[str]] = Factory(list)
    rests: bool = True
    world: Any = Factory(list)

    def __repr__(self) -> str:
        return f"Cycle({self.session!r})"

    def _shown(self) -> Iterable[Part]:
        ssn, jobs = self.session, self.jobs()
        counts = Counter(operation for operation, *_ in self.committed)
        done = [f"{count} {word}" for word, count in counts.items()] or gettext("nothing")
        yield str(Message("cycle", done=done, sizes=[
            Message(each, n=count) for each, count in (
                ("jobs", len(jobs)), ("queues", len(ssn.queues)), ("nodes", len(ssn.nodes)))]))
        yield from map(str, ssn.conf.warnings + ssn.warnings)
        yield from (str(Message("left_out.cycle", why=why)) for why in ssn.snapshot.left_out)
        yield [row | {"why": next(iter(row["why"]), "")} for row in jobs]
        yield [{word: amounts_of(row[word]) if isinstance(row[word], dict) else row[word]
                for word in ("queue", "deserved", "allocated", "request", "share", "overused")}
               for row in self.queues()]

    def _frames(self) -> dict[str, list[Row]]:
        return {"jobs": [row | {"why": "; ".join(row["why"])} for row in self.jobs()],
                "queues": [{**row, "resource": name, **{each: row[each].get(name, 0)
                                                        for each in queues.SUMS}}
                           for row in self.queues() for name in sorted(
                               {name for each in queues.SUMS for name in row[each]})],
                "pods": self.placements()}

    def chart(self) -> Any:
        """Return an altair chart of what each queue holds and deserves."""
        return import_module("volcano_lab").charts.queues({"": self})

    @property
    def committed(self) -> list[list[str]]:
        """The committed operations, in order: [operation, pod, node]."""
        return self.earlier + self.session.committed

    @property
    def queue_order(self) -> list[str]:
        """Queues that have jobs, as the session ordered them when it opened."""
        return self.trace.queue_order

    @property
    def rounds(self) -> list[fairness.Round]:
        """The rounds in which proportion computed deserved; none without that plugin."""
        return getattr(self.session.plugins.get("proportion"), "rounds", [])

    @property
    def plot(self) -> Any:
        """Its pictures: `.queues()`, `.tree()`, `.water()`, `.turns()`, `.sums(job)`, `.nodes()`,
        `.votes()`, `.statement(job)`, `.timeline()`; see `widgets.plots`.
        """
        return import_module("volcano_lab.widgets.plots").Plot(self)

    def log(self, level: int = 4) -> list[str]:
        """Return the lines that Volcano's scheduler logs in such a cycle, up to V(level). The cycle
        must have been run with a `Trace`.

        >>> from volcano_lab import Cluster, Trace
        >>> cycle = Cluster().node("n1", cpu=4).job("a", cpu=1).run(trace=Trace())
        >>> next(line for line in cycle.log() if "Format queue" in line)
        'proportion.go:229] Format queue <default> deserved resource to <cpu 1000.00, ... 1.00>'
        """
        if not self.trace.whole:
            raise Misuse("cycle.log")
        return volcano_log(self.session, self.trace, level)

    def turns(self) -> list[Row]:
        """Return the turns of allocate: one row per popped queue; see `queues.turns`."""
        return list(queues.turns(self.trace))

    def statements(self, job: str = "") -> list[Row]:
        """Return the statements of a job ("namespace/name") or all: one row per statement."""
        return list(jobs.statements(self.trace, job))

    def operations(self, job: str) -> list[Row]:
        """Return the operations tried for a job: one row per operation, or undo of one. Raises
        `NoSuch` for a job that is not there.
        """
        uid = job if job in self.session.jobs else names.Names(self.session).find(job, "job")[1]
        return list(jobs.operations(self.trace, uid))

    def queues(self) -> list[Row]:
        """Return one row per queue, with the sums of the sharing plugin at the end."""
        ssn = self.session
        return [row | {"overused": ssn.overused(ssn.queues[row["queue"]])}
                for row in queues.sums(self.trace)]

    def jobs(self) -> list[Row]:
        """Return one row per job, named as `why` names it: phase, how many of its pods are placed,
        how many wait for resources that are being freed (pipelined), how many have no node (with
        the members of its gang that are `missing`, as they are not created yet), and why (see
        `why`).
        """
        called = names.Names(self.session).called
        return [{"job": called(uid), "queue": job.queue, "phase": job.pod_group.status.phase,
                 "pods": len(job.tasks), "min_member": job.min_available,
                 "placed": sum(len(job.in_status(s)) for s in status.READY_STATUSES),
                 "pipelined": len(job.in_status(status.PIPELINED)),
                 "pending": len(job.in_status(status.PENDING)) + jobs.missing(job),
                 "missing": jobs.missing(job), "why": self.why(uid)}
                for uid, job in self.session.jobs.items()]

    def placements(self) -> list[dict[str, str]]:
        """Return one row per operation that took effect."""
        return [dict(zip(("operation", "pod", "node"), row, strict=False))
                for row in self.committed]

    @friendly_errors
    def why(self, job: str) -> list[str]:
        """Return why pods of a job wait, in sentences; empty if none waits. The name is one that
        `volcano-lab why` accepts; `KeyError` if no job, or more than one, has it.

        >>> from volcano_lab.cluster import Cluster
        >>> Cluster().node("n1", cpu=4).job("train", pods=6, cpu=1).run().why("train")[0]
        'not admitted by overcommit: cpu 6 > limit 4.8'
        """
        if job not in self.session.jobs:
            _, job = names.Names(self.session).find(one_line(str(job)), "job")
        return jobs.reasons(self.session, self.trace, self.session.jobs[job])

    def as_dict(self) -> Row:
        """Return everything as plain data, ready for JSON."""
        return {"queueOrder": self.queue_order, "queues": self.queues(), "jobs": self.jobs(),
                "placements": self.placements(),
                "leftOut": [*map(str, self.session.snapshot.left_out)],
                "warnings": [*map(str, self.session.conf.warnings + self.session.warnings)]}


def amounts_of(amounts: dict[str, float | None]) -> str:
    """Return the amounts of a row as text, without pods and zeros.

    >>> amounts_of({"cpu": 4, "memory": 0, "pods": 3, "nvidia.com/gpu": None})
    'cpu 4, nvidia.com/gpu no limit'
    """
    return ", ".join(f"{name} {quantity_text(name, amount)}" for name, amount in amounts.items()
                     if amount != 0 and name != "pods")
