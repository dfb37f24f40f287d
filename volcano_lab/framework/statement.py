"""Statements: a run of operations on the session that is committed or taken back as a whole.

Answers to `pkg/scheduler/framework/statement.go`. An operation knows how to be done, undone and committed;
a statement is the list of them. Doing changes the session only; committing tells the cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from volcano_lab.api.node import NodeError, NodeInfo
from volcano_lab.api.status import ALLOCATED, BINDING, PENDING, PIPELINED, RELEASING, RUNNING
from volcano_lab.api.task import TaskInfo

if TYPE_CHECKING:
    from volcano_lab.framework.session import Session


class StatementError(RuntimeError):
    """An operation could not be done in full; what it did has to be rolled back by its inverse."""


class Operation:
    """One change of one task. `do` makes it, `undo` takes it back, `commit` makes it last beyond the session."""

    name: ClassVar[str] = ""
    __slots__ = ("task",)

    def __init__(self, task: TaskInfo):
        self.task = task

    def do(self, ssn: Session) -> None:
        raise NotImplementedError

    def undo(self, ssn: Session) -> None:
        raise NotImplementedError

    def commit(self, ssn: Session) -> None:
        raise NotImplementedError

    def copy(self) -> Operation:
        """The same operation on a copy of the task as it is now; discarding changes the task, not the copy."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{self.name} {self.task.key} {self.task.node_name}"


class Evict(Operation):
    """The task gives up its room: Releasing, and taken back always Running."""

    name = "evict"
    __slots__ = ("reason",)

    def __init__(self, task: TaskInfo, reason: str = ""):
        super().__init__(task)
        self.reason = reason

    def do(self, ssn: Session) -> None:
        ssn.set_status(self.task, RELEASING)
        _recount(ssn, self.task)
        ssn.fire_deallocate(self.task)

    def undo(self, ssn: Session) -> None:
        ssn.set_status(self.task, RUNNING)
        _recount(ssn, self.task)
        ssn.fire_allocate(self.task)

    def commit(self, ssn: Session) -> None:
        try:
            ssn.cache.evict(self.task, self.reason)
        except NodeError as error:
            ssn.log.error("%s of %s failed: %s", self.name, self.task.key, error)
            self.undo(ssn)
            return
        ssn.record_committed(self.name, self.task)

    def copy(self) -> Evict:
        return Evict(self.task.clone(), self.reason)


class Pipeline(Operation):
    """The task is promised room that is being freed; nothing idle is taken and nothing is sent."""

    name = "pipeline"
    __slots__ = ("node_name", "eviction_occurred")

    def __init__(self, task: TaskInfo, node_name: str, eviction_occurred: bool = False):
        super().__init__(task)
        self.node_name, self.eviction_occurred = node_name, eviction_occurred

    def do(self, ssn: Session) -> None:
        task = self.task
        ssn.set_status(task, PIPELINED)
        task.node_name, task.eviction_occurred = self.node_name, self.eviction_occurred
        _place(ssn, self)

    def undo(self, ssn: Session) -> None:
        unplace(ssn, self.task)

    def commit(self, ssn: Session) -> None:
        ssn.record_committed(self.name, self.task)

    def copy(self) -> Pipeline:
        return Pipeline(self.task.clone(), self.task.node_name, False)


class Allocate(Operation):
    """The task takes idle room on a node; committing sends it to be bound."""

    name = "allocate"
    __slots__ = ("node_name",)

    def __init__(self, task: TaskInfo, node_name: str):
        super().__init__(task)
        self.node_name = node_name

    def do(self, ssn: Session) -> None:
        ssn.set_status(self.task, ALLOCATED)
        self.task.node_name = self.node_name
        _place(ssn, self)

    def undo(self, ssn: Session) -> None:
        unplace(ssn, self.task)

    def commit(self, ssn: Session) -> None:
        try:
            ssn.cache.add_bind_task(ssn.create_bind_context(self.task))
        except NodeError as error:
            ssn.log.error("%s of %s failed: %s", self.name, self.task.key, error)
            self.undo(ssn)
            return
        ssn.set_status(self.task, BINDING)
        ssn.record_committed(self.name, self.task)

    def copy(self) -> Allocate:
        return Allocate(self.task.clone(), self.task.node_name)


class Statement:
    """Operations done in a session, in order; they stand or fall together."""

    __slots__ = ("ssn", "operations")

    def __init__(self, ssn: Session):
        self.ssn = ssn
        self.operations: list[Operation] = []

    # -- doing -----------------------------------------------------------------------------------

    def evict(self, task: TaskInfo, reason: str) -> None:
        self._do(Evict(task, reason))

    def pipeline(self, task: TaskInfo, node_name: str, eviction_occurred: bool = False) -> None:
        """Raises `StatementError` where it could not be done in full; roll back with `unplace` then."""
        self._do(Pipeline(task, node_name, eviction_occurred))

    def allocate(self, task: TaskInfo, node: NodeInfo) -> None:
        """Raises `StatementError` where it could not be done in full; roll back with `unplace` then."""
        self._do(Allocate(task, node.name))

    def _do(self, operation: Operation) -> None:
        operation.do(self.ssn)
        self.operations.append(operation)
        if self.ssn.observer is not None:
            self.ssn.observer.did(self, operation)

    # -- ending ----------------------------------------------------------------------------------

    def commit(self) -> None:
        """Make all operations last, in order. One that the cache refuses is taken back alone."""
        observer = self.ssn.observer
        for operation in self.operations:
            operation.task.last_transaction = None
            operation.commit(self.ssn)
            if observer is not None:
                observer.committed(self, operation)

    def discard(self) -> None:
        """Take all operations back, the last one first; each task remembers what had been planned for it."""
        observer = self.ssn.observer
        for operation in reversed(self.operations):
            operation.task.last_transaction = operation.task.transaction_context()
            operation.undo(self.ssn)
            self.ssn.undone += 1
            if observer is not None:
                observer.undid(self, operation)

    def recover(self, saved: list[Operation]) -> None:
        """Do saved operations once more, as this statement's own."""
        for operation in saved:
            try:
                self._do(operation)
            except StatementError:
                if isinstance(operation, Allocate):
                    unplace(self.ssn, operation.task)
                raise


def save_operations(*statements: Statement) -> list[Operation]:
    """Copies of all operations of some statements, to be recovered once those have been discarded."""
    return [operation.copy() for statement in statements for operation in statement.operations]


def unplace(ssn: Session, task: TaskInfo) -> None:
    """Take a task off its node and let it wait again: the inverse of allocating and of pipelining."""
    ssn.set_status(task, PENDING)
    node = ssn.nodes.get(task.node_name)
    if node is not None:
        node.remove_task(task)
    ssn.fire_deallocate(task)
    task.node_name = ""
    task.job_allocated_hyper_node = ""


def _place(ssn: Session, operation: Allocate | Pipeline) -> None:
    """Count a task on its node and tell the plugins; all problems are found before any is raised."""
    task, problems = operation.task, []
    node = ssn.nodes.get(operation.node_name)
    if node is None:
        problems.append(f"node {operation.node_name} is not in the session")
    else:
        try:
            node.add_task(task)
        except NodeError as error:
            problems.append(str(error))
    problems += ssn.fire_allocate(task)
    if problems:
        raise StatementError(f"task {task.key} {operation.name} to node {operation.node_name}: {'; '.join(problems)}")


def _recount(ssn: Session, task: TaskInfo) -> None:
    node = ssn.nodes.get(task.node_name)
    if node is not None:
        node.update_task(task)
