"""What explanations look at: one cycle's session and trace, and the state at any of its moments."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from volcano_lab.api.job import JobInfo
from volcano_lab.api.status import PENDING, PIPELINED, READY_STATUSES
from volcano_lab.explain.explanation import Amounts, added
from volcano_lab.explain.names import Names
from volcano_lab.framework.session import Session
from volcano_lab.trace import Record, State, Trace, TraceReader
from volcano_lab.trace.stepper import Stepper


class Evidence:
    """A closed session, its trace, and questions about them that several explanations ask.

    `node_by_node` runs the same cycle once more, with a trace of every call; it is asked only where
    this trace doesn't say why a plugin refused a node.
    """

    def __init__(self, ssn: Session, trace: Trace,
                 node_by_node: Callable[[], TraceReader] | None = None):
        self.ssn, self.trace, self._node_by_node = ssn, trace, node_by_node
        self.names = Names(ssn)
        self.called = self.names.called

    @cached_property
    def _stepper(self) -> Stepper:
        return Stepper(self.trace)

    @cached_property
    def _every_call(self) -> TraceReader:
        return self._node_by_node() if self._node_by_node is not None else self.trace

    def refusal(self, task: str, node: str) -> Record | None:
        """What a plugin last said against a node for a task, from this trace or from the run node
        by node; None where neither tells."""
        return _last_refusal(self.trace, task, node) or _last_refusal(self._every_call, task, node)

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
        """What each node would have left at that moment, with what is releasing gone and what is
        promised come.
        """
        nodes = self.state_at(record)["nodes"]
        return {
            name: added(added(node["idle"], node["releasing"]), node["pipelined"], -1.0)
            for name, node in nodes.items()
        }


def _last_refusal(trace: TraceReader, task: str, node: str) -> Record | None:
    """The last objection to a node before the last time that a node was sought for the task."""
    choice = next((record.number for record in reversed(trace.records)
                   if record.kind == "chose" and record["task"] == task), 0)
    said = [record for record in trace.of("predicate", task=task, node=node)
            if record.number < choice and record["answer"] is not None]
    return said[-1] if said else None


def counts(job: JobInfo) -> tuple[int, int, int]:
    """(pods that have a place, pods that were promised one, pods that wait)."""
    return sum(len(job.in_status(s)) for s in READY_STATUSES), len(job.in_status(PIPELINED)), len(
        job.in_status(PENDING))
