"""The states of a task, and the groups that the scheduler treats alike.

The numbers are Volcano's bit flags; iterating over statuses in ascending number is part of the rule
for ties.

Volcano: pkg/scheduler/api/types.go, pkg/scheduler/api/helpers.go
"""

from enum import IntEnum


class TaskStatus(IntEnum):
    """A task's state between creation and deletion.

    >>> TaskStatus.PIPELINED, str(TaskStatus.PIPELINED)
    (<TaskStatus.PIPELINED: 4>, 'Pipelined')
    """

    PENDING = 1  # waits for a decision
    ALLOCATED = 2  # has a node, not yet sent to the API server
    PIPELINED = 4  # has a node on which resources are still being released
    BINDING = 8  # the bind request is in flight
    BOUND = 16  # the API server has set the node
    RUNNING = 32
    RELEASING = 64  # being deleted; releases its resources
    SUCCEEDED = 128
    FAILED = 256
    UNKNOWN = 512

    def __str__(self) -> str:
        return self.name.capitalize()

    __hash__ = int.__hash__


(PENDING, ALLOCATED, PIPELINED, BINDING, BOUND,
 RUNNING, RELEASING, SUCCEEDED, FAILED, UNKNOWN) = TaskStatus

ALLOCATED_STATUSES = frozenset((ALLOCATED, BINDING, BOUND, RUNNING))
"""Statuses whose request counts as allocated, in queues and in jobs."""

READY_STATUSES = (BOUND, BINDING, RUNNING, ALLOCATED, SUCCEEDED)
"""Statuses that count towards a gang's minimum."""

PREEMPTABLE_STATUSES = frozenset((BOUND, RUNNING))
SCHEDULED_STATUSES = frozenset((BOUND, RUNNING, SUCCEEDED, FAILED))
COMPLETED_STATUSES = frozenset((SUCCEEDED, FAILED))

TRANSITIONS: dict[TaskStatus, frozenset[TaskStatus]] = {
    PENDING: frozenset((ALLOCATED, PIPELINED, BINDING, BOUND, RUNNING, RELEASING, SUCCEEDED, FAILED,
                        UNKNOWN)), ALLOCATED: frozenset((BINDING, PENDING)),
    PIPELINED: frozenset((PENDING,)),
    BINDING: frozenset((BOUND, RUNNING, PENDING, RELEASING, SUCCEEDED, FAILED, UNKNOWN)),
    BOUND: frozenset((RUNNING, RELEASING, PENDING, SUCCEEDED, FAILED, UNKNOWN)),
    RUNNING: frozenset((RELEASING, SUCCEEDED, FAILED, UNKNOWN)),
    RELEASING: frozenset((RUNNING, BOUND, SUCCEEDED, FAILED, UNKNOWN)), SUCCEEDED: frozenset(),
    FAILED: frozenset((RELEASING,)),
    UNKNOWN: frozenset((PENDING, BOUND, RUNNING, RELEASING, SUCCEEDED, FAILED))}
"""The task state machine: from each status the allowed next ones.

Volcano's own `validateStatusUpdate` accepts everything; so does the lab's session, and the binding
pipeline checks each step against this table.
"""


class IllegalTransition(ValueError):
    """A task was to change from one status to another that the state machine does not allow."""


def check_transition(old: TaskStatus, new: TaskStatus, what: str = "task") -> None:
    """Raise `IllegalTransition`, naming both states, where the state machine has no such step.

    >>> check_transition(PENDING, ALLOCATED)
    >>> check_transition(SUCCEEDED, RUNNING, "task default/a-0")
    Traceback (most recent call last):
    ...
    volcano_lab.api.status.IllegalTransition: task default/a-0 cannot go from Succeeded to Running;
    from Succeeded it may go nowhere
    """
    if old == new or new in TRANSITIONS[old]:
        return
    allowed = ", ".join(str(s) for s in sorted(TRANSITIONS[old])) or "nowhere"
    to = "to " if TRANSITIONS[old] else ""
    raise IllegalTransition(
        f"{what} cannot go from {old} to {new}; from {old} it may go {to}{allowed}")
