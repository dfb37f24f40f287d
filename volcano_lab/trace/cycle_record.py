"""What happens in a cycle, written down while it runs: queue order, allocate's turns, statements,
comparisons.

Answers to no Go file: it listens (`framework.observer`) and decides nothing.
"""

from __future__ import annotations

from typing import Any

from attrs import Factory, define

from volcano_lab.framework.observer import Observer
from volcano_lab.framework.priority_queue import PriorityQueue
from volcano_lab.framework.session import Session
from volcano_lab.framework.statement import Operation, Statement


@define(slots=True)
class StatementRecord:
    """What one statement did for a job, in order, and how it ended: "commit", "discard" or ""
    (neither).

    `operations` are (operation, task, node); a discard takes them back from the last to the first.
    """

    action: str
    job: str
    operations: list[tuple[str, str, str]] = Factory(list)
    outcome: str = ""


@define(slots=True)
class Turn:
    """One time that allocate took a queue: its share before, the job it took, and how that ended.

    `outcome` is "placed", "discarded", "overused" (the queue was passed over), or "nothing"
    (nothing could be placed, or no job was left); `pods` is how many were placed.
    """

    queue: str
    share: float
    job: str = ""
    outcome: str = "nothing"
    pods: int = 0


class CycleRecord(Observer):
    """Listens to a cycle. `facts` has what was noted, by kind."""

    def __init__(self) -> None:
        self.queue_order: list[str] = []
        self.statements: list[StatementRecord] = []
        self.turns: list[Turn] = []
        self.facts: dict[str, list[dict[str, Any]]] = {}
        self._action = ""
        self._known: dict[int, tuple[Statement,
                                     StatementRecord]] = {}  # the statement too: its id stays taken

    def opened(self, ssn: Session) -> None:
        self.ssn = ssn
        used = {job.queue for job in ssn.jobs.values()}
        order = PriorityQueue(ssn.queue_order, (ssn.queues[name] for name in sorted(used)))
        self.queue_order = [queue.uid for queue in order.drain()]

    def action_started(self, ssn: Session, action: str) -> None:
        self._action = action

    def note(self, kind: str, /, **facts: Any) -> None:
        self.facts.setdefault(kind, []).append(facts)
        if self._action != "allocate":
            return
        if kind == "queue":
            queue = facts["queue"]
            self.turns.append(Turn(queue, queue_shares(self.ssn).get(queue, 0.0)))
            if self.ssn.overused(self.ssn.queues[queue]):
                self.turns[-1].outcome = "overused"
        elif kind == "job" and self.turns:
            self.turns[-1].job = facts["job"]

    def did(self, statement: Statement | None, operation: Operation) -> None:
        record = self._record(statement, operation)
        record.operations.append((operation.name, operation.task.key, operation.task.node_name))

    def undid(self, statement: Statement | None, operation: Operation) -> None:
        self._end(self._record(statement, operation), "discard", "discarded")

    def committed(self, statement: Statement | None, operation: Operation) -> None:
        self._end(self._record(statement, operation), "commit", "placed")

    def _end(self, record: StatementRecord, outcome: str, word: str) -> None:
        record.outcome = outcome
        if self._action == "allocate" and self.turns:
            self.turns[-1].outcome = word
            self.turns[-1].pods += outcome == "commit"

    def _record(self, statement: Statement | None, operation: Operation) -> StatementRecord:
        if statement is None:
            self.statements.append(StatementRecord(self._action, operation.task.job))
            return self.statements[-1]
        if id(statement) not in self._known:
            self._known[id(statement)] = statement, StatementRecord(self._action,
                                                                    operation.task.job)
            self.statements.append(self._known[id(statement)][1])
        return self._known[id(statement)][1]


def queue_attributes(ssn: Session) -> dict[str, Any]:
    """What the plugin that shares between queues (proportion or capacity) keeps of each; nothing
    without one.
    """
    plugin = ssn.plugins.get("proportion") or ssn.plugins.get("capacity")
    return getattr(plugin, "queue_opts", {})


def queue_shares(ssn: Session) -> dict[str, float]:
    """Each queue's share at this moment."""
    return {name: attr.share for name, attr in queue_attributes(ssn).items()}
