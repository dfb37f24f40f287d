"""One scheduling cycle that has run, and what it decided, as plain rows for tables, charts and
commands.

Answers to no Go file; it decides nothing. Amounts in rows are in the units people use: CPUs, bytes,
whole GPUs.
"""

from __future__ import annotations

from typing import Any

from attrs import define

from volcano_lab.api.fairness import Round
from volcano_lab.api.formatting import in_units, plain
from volcano_lab.api.status import PENDING, READY_STATUSES
from volcano_lab.framework.session import Session
from volcano_lab.trace.cycle_record import CycleRecord, StatementRecord, Turn, queue_attributes
from volcano_lab.trace.views.waiting import reasons

QUEUE_COLUMNS = ("guarantee", "deserved", "real_capability", "allocated", "request", "inqueue",
                 "elastic")


@define(slots=True, repr=False)
class Cycle:
    """A cycle that has run: its `session` (closed, still readable), and rows of what it decided.

    >>> from volcano_lab.cluster import Cluster
    >>> cycle = Cluster().node("n1", cpu=4).job("train", pods=6, min_member=2, cpu=1).run()
    >>> [(row["queue"], row["deserved"]["cpu"], row["allocated"]["cpu"]) for row in cycle.queues()]
    [('default', 4, 4)]
    >>> [(row["job"], row["phase"], row["placed"], row["pending"]) for row in cycle.jobs()]
    [('default/train', 'Inqueue', 4, 2)]
    """

    session: Session
    record: CycleRecord
    times: dict[str, float]

    def __repr__(self) -> str:
        return f"Cycle({self.session!r})"

    @property
    def committed(self) -> list[list[str]]:
        """What took effect, in order: [operation, pod, node]."""
        return self.session.committed

    @property
    def queue_order(self) -> list[str]:
        """Queues that have jobs, as the session ordered them when it opened."""
        return self.record.queue_order

    @property
    def turns(self) -> list[Turn]:
        """The times that allocate took a queue, one after the other."""
        return self.record.turns

    @property
    def rounds(self) -> list[Round]:
        """The rounds in which proportion worked out what queues deserve; none without that plugin.
        """
        return getattr(self.session.plugins.get("proportion"), "rounds", [])

    def statements(self, job: str) -> list[StatementRecord]:
        """What was tried for a job ("namespace/name"), in order."""
        return [record for record in self.record.statements if record.job == job]

    def queues(self) -> list[dict[str, Any]]:
        """A row a queue, as the plugin that shares between queues sees it when the cycle ends."""
        ssn = self.session
        return [{
            "queue": name, "weight":
            attr.weight if hasattr(attr, "weight") else ssn.queues[name].weight, **{
                column: plain(getattr(attr, column)) for column in QUEUE_COLUMNS
            }, "share": attr.share, "overused": ssn.overused(ssn.queues[name])
        } for name, attr in sorted(queue_attributes(ssn).items())]

    def jobs(self) -> list[dict[str, Any]]:
        """A row a job: phase, how many of its pods have a place, how many wait, and why (see
        `why`).
        """
        return [{
            "job": uid, "queue": job.queue, "phase": job.pod_group.status.phase, "pods":
            len(job.tasks), "min_member": job.min_available, "placed": sum(
                len(job.in_status(s)) for s in READY_STATUSES), "pending": len(
                    job.in_status(PENDING)), "why": self.why(uid)
        } for uid, job in self.session.jobs.items()]

    def fill(self, resource: str = "cpu") -> list[dict[str, Any]]:
        """The rounds of deserved, a row a queue and round: what it had, what was added, and why it
        stopped (`met`).

        A queue that was done before keeps what it has. `left` is what remains after the round.
        """
        rows, held = [], {}
        for number, round_ in enumerate(self.rounds, 1):
            met = {step.queue: step.met for step in round_.steps}
            left = in_units(resource, round_.remaining.get(resource))
            for queue, deserved in round_.deserved.items():
                now, before = in_units(resource, deserved.get(resource)), held.get(queue, 0)
                rows.append({
                    "round": number, "queue": queue, "before": before, "added": now - before,
                    "deserved": now, "met": met.get(queue, "before"), "left": left
                })
                held[queue] = now
        return rows

    def operations(self, job: str) -> list[dict[str, Any]]:
        """What was tried for a job, a row an operation, with the commit or the undoing that
        followed.
        """
        rows: list[dict[str, Any]] = []
        for number, record in enumerate(self.statements(job), 1):
            steps = [(name, pod, node) for name, pod, node in record.operations]
            if record.outcome == "discard":
                steps += [(f"undo {name}", pod, node)
                          for name, pod, node in reversed(record.operations)]
            rows += [{
                "statement": number, "operation": name, "pod": pod, "node": node, "outcome":
                record.outcome
            } for name, pod, node in steps]
        return rows

    def placements(self) -> list[dict[str, str]]:
        """A row for each operation that took effect."""
        return [
            dict(zip(("operation", "pod", "node"), row, strict=False)) for row in self.committed
        ]

    def why(self, job: str) -> list[str]:
        """Why pods of a job wait, in sentences; empty where none waits. `KeyError` for a job that
        isn't there.
        """
        return reasons(self.session, self.record, self.session.jobs[job])

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data, ready for JSON."""
        return {"queueOrder": self.queue_order, "queues": self.queues(), "jobs": self.jobs(),
                "placements": self.placements(), "leftOut": self.session.snapshot.left_out,
                "warnings": self.session.conf.warnings + self.session.warnings}


def most_of(row: dict[str, Any], resource: str = "cpu") -> float:
    """The most that a queue can deserve: what it asks for or its real capability, but never less
    than its guarantee.

    >>> most_of({"request": {"cpu": 80}, "real_capability": {"cpu": 50}, "guarantee": {"cpu": 10}})
    50
    """
    asked, most = row["request"].get(resource, 0), row["real_capability"].get(resource)
    return max(asked if most is None else min(asked, most), row["guarantee"].get(resource, 0))
