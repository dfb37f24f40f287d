"""What explanations look at: one cycle's session and trace, and the state at any of its moments."""

from __future__ import annotations

from functools import cached_property

from volcano_lab.api.job import JobInfo
from volcano_lab.api.status import PENDING, PIPELINED, READY_STATUSES
from volcano_lab.explain.explanation import Amounts, added
from volcano_lab.framework.session import Session
from volcano_lab.stepper import Stepper
from volcano_lab.trace import Record, State, Trace


class Evidence:
    """A closed session, its trace, and questions about them that several explanations ask."""

    def __init__(self, ssn: Session, trace: Trace):
        self.ssn, self.trace = ssn, trace

    @cached_property
    def _stepper(self) -> Stepper:
        return Stepper(self.trace)

    def state_at(self, record: Record) -> State:
        """The state right after a record; good until the next call."""
        return self._stepper.goto(record.number).state

    def tasks_of(self, job: JobInfo) -> set[str]:
        return {task.key for task in job.tasks.values()}

    def in_action(self, action: str, name: str, **facts: object) -> list[Record]:
        return [record for record in self.trace.iter(name, **facts) if record.action == action]

    def calls_about(self, tasks: set[str], name: str, action: str) -> list[Record]:
        """Records of a kind, in an action, about some tasks."""
        return [record for record in self.in_action(action, name) if record.get("task") in tasks]

    def free(self, record: Record) -> dict[str, Amounts]:
        """What each node would have left at that moment, with what is releasing gone and what is promised come."""
        nodes = self.state_at(record)["nodes"]
        return {name: added(added(node["idle"], node["releasing"]), node["pipelined"], -1.0) for name, node in nodes.items()}


def counts(job: JobInfo) -> tuple[int, int, int]:
    """(pods that have a place, pods that were promised one, pods that wait)."""
    return sum(len(job.in_status(s)) for s in READY_STATUSES), len(job.in_status(PIPELINED)), len(job.in_status(PENDING))
