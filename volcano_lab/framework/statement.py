"""Statements: operations on the session that are committed or undone together.

An operation is an object with its inverse; doing it changes the session only, committing it also
updates the cache.

Volcano: pkg/scheduler/framework/statement.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from attrs import define

from volcano_lab.api import NodeError, NodeInfo, TaskInfo, status as states

if TYPE_CHECKING:
    from volcano_lab.framework.session import Session


class StatementError(RuntimeError):
    """An operation failed; its inverse rolls back what it did."""


class HandlerError(StatementError):
    """Only a plugin's `on_allocate` failed; operations without a statement continue."""


@define(eq=False, repr=False)
class Operation:
    """One change of one task."""

    name: ClassVar[str] = ""
    task: TaskInfo

    def do(self, ssn: Session) -> None:
        """Make the change in the session."""

    def undo(self, ssn: Session) -> None:
        """Restore the previous state."""

    def commit(self, ssn: Session) -> None:
        """Apply the change outside the session. One that the cache refuses is undone."""
        try:
            self.send(ssn)
        except NodeError as error:
            ssn.log.error("%s of %s failed: %s", self.name, self.task.key, error)
            self.undo(ssn)
        else:
            ssn.record_committed(self.name, self.task)

    def send(self, ssn: Session) -> None:
        """Update the cache. Raises `NodeError` where it refuses."""

    def copy(self) -> Operation:
        """Return the same operation on a copy of the task in its current state: discarding changes
        the task, not the copy.
        """
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{self.name} {self.task.key} {self.task.node_name}"


@define(eq=False, repr=False)
class Evict(Operation):
    """A task is evicted: Releasing until it is deleted."""

    name = "evict"
    reason: str = ""

    def do(self, ssn: Session) -> None:
        self._set(ssn, states.RELEASING)
        ssn.fire_deallocate(self.task)

    def undo(self, ssn: Session) -> None:
        # Volcano: whatever the task was before (it may have been Bound), it is Running again.
        self._set(ssn, states.RUNNING)
        ssn.fire_allocate(self.task)
        ssn.restored += 1

    def _set(self, ssn: Session, status: states.TaskStatus) -> None:
        ssn.set_status(self.task, status)
        node = ssn.nodes.get(self.task.node_name)
        if node is not None:
            node.update_task(self.task)

    def send(self, ssn: Session) -> None:
        ssn.cache.evict(self.task, self.reason)

    def copy(self) -> Evict:
        return Evict(self.task.clone(), self.reason)


@define(eq=False, repr=False)
class Placement(Operation):
    """A task is placed on a node with a new status."""

    status: ClassVar[states.TaskStatus]
    node_name: str

    def do(self, ssn: Session) -> None:
        """Add the task to the node and notify the plugins; all problems are collected before any is
        raised.
        """
        task, name, problems = self.task, self.node_name, []
        ssn.set_status(task, self.status)
        task.node_name = name
        node = ssn.nodes.get(name)
        if node is None:
            problems.append(f"node {name} is not in the session")
        else:
            try:
                node.add_task(task)
            except NodeError as error:
                problems.append(str(error))
        refused = ssn.fire_allocate(task)
        if problems or refused:
            kind = StatementError if problems else HandlerError
            raise kind(f"task {task.key} {self.name} to node {name}: "
                       f"{'; '.join(problems + refused)}")

    def undo(self, ssn: Session) -> None:
        unplace(ssn, self.task)

    def copy(self) -> Self:
        return type(self)(self.task.clone(), self.task.node_name)


@define(eq=False, repr=False)
class Allocate(Placement):
    """A task takes idle resources of a node; committing sends it to be bound."""

    name, status = "allocate", states.ALLOCATED

    def send(self, ssn: Session) -> None:
        ssn.cache.add_bind_task(ssn.create_bind_context(self.task))
        ssn.set_status(self.task, states.BINDING)


@define(eq=False, repr=False)
class Pipeline(Placement):
    """A task is assigned resources that are being released; it takes nothing idle and sends
    nothing.
    """

    name, status = "pipeline", states.PIPELINED
    eviction_occurred: bool = False

    def do(self, ssn: Session) -> None:
        self.task.eviction_occurred = self.eviction_occurred
        super().do(ssn)


class Statement:
    """Operations done in a session, in order; all are committed or all are undone.

    `number` counts the statements of the session, from 0.
    """

    __slots__ = ("ssn", "number", "operations")

    def __init__(self, ssn: Session, number: int = 0):
        self.ssn, self.number = ssn, number
        self.operations: list[Operation] = []

    # -- doing -----------------------------------------------------------------------------------

    def evict(self, task: TaskInfo, reason: str) -> None:
        """Evict a task; `reason` is recorded in its PodGroup's event."""
        self._do(Evict(task, reason))

    def pipeline(self, task: TaskInfo, node_name: str, eviction_occurred: bool = False) -> None:
        """Pipeline a task onto a node. Raises `StatementError`; roll back with `unplace` then."""
        self._do(Pipeline(task, node_name, eviction_occurred))

    def allocate(self, task: TaskInfo, node: NodeInfo) -> None:
        """Allocate a node to a task. Raises `StatementError`; roll back with `unplace` then."""
        self._do(Allocate(task, node.name))

    def _do(self, operation: Operation) -> None:
        operation.do(self.ssn)
        self.operations.append(operation)
        self.ssn.observer.did(self, operation)

    # -- ending ----------------------------------------------------------------------------------

    def commit(self) -> None:
        """Commit every operation, in order. One that the cache refuses is undone on its own."""
        for operation in self.operations:
            operation.task.last_transaction = None
            operation.commit(self.ssn)
            self.ssn.observer.committed(self, operation)

    def discard(self) -> None:
        """Undo all operations, the last one first; `last_transaction` keeps each task's plan."""
        for operation in reversed(self.operations):
            operation.task.last_transaction = operation.task.transaction_context()
            operation.undo(self.ssn)
            self.ssn.undone += 1
            self.ssn.observer.undid(self, operation)

    def recover(self, saved: list[Operation]) -> None:
        """Repeat saved operations as this statement's own. Raises `StatementError`."""
        for operation in saved:
            try:
                self._do(operation)
            except StatementError:
                if isinstance(operation, Allocate):
                    unplace(self.ssn, operation.task)
                raise


def save_operations(*statements: Statement) -> list[Operation]:
    """Return copies of all operations of some statements, to be recovered after a discard."""
    return [operation.copy() for statement in statements for operation in statement.operations]


def unplace(ssn: Session, task: TaskInfo) -> None:
    """Remove a task from its node; it is Pending again: the inverse of allocate and pipeline."""
    ssn.set_status(task, states.PENDING)
    node = ssn.nodes.get(task.node_name)
    if node is not None:
        node.remove_task(task)
    ssn.fire_deallocate(task)
    task.node_name = task.job_allocated_hyper_node = ""
