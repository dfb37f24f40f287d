"""The observer of a cycle: hooks that the framework and the actions call while it runs.

A session always has one; `NOBODY` is the one that does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from volcano_lab.api import FitErrors, JobInfo, NodeInfo, TaskInfo
from volcano_lab.framework.points.rules import ExtensionPoint, Function
from volcano_lab.framework.priority_queue import PriorityQueue
from volcano_lab.framework.statement import Operation, Statement

if TYPE_CHECKING:
    from volcano_lab.framework.session import Session


class Observer:
    """Every hook does nothing here; override those that matter.

    Attributes:
        watching: False where nothing is observed: facts that cost something need not be computed.
        watches_calls: Whether every single call of a plugin is to be seen; nodes are then filtered
            and scored one by one.
        watches_attempts: Whether preempt's questions are to be seen about nodes where nobody may go
            and there is no room.
    """

    watching = True
    watches_calls = False
    watches_attempts = True
    _action = "open"  # the action that runs; this before the first, "close" after the last

    def opened(self, ssn: Session) -> None:
        """The session is open; plugins are registered and prepared."""

    def closed(self, ssn: Session) -> None:
        """The session's results are written."""

    def plugin_done(self, ssn: Session, plugin: str, when: str, seconds: float) -> None:
        """A plugin's hook has run: `when` is "OnSessionOpen" or "OnSessionClose"."""

    def cycle_ended(self, ssn: Session, times: dict[str, float]) -> None:
        """The cycle is over; `times` has the seconds of its parts, as `Scheduler.times`."""

    def died(self) -> None:
        """The scheduler died in the middle of the cycle, of which nothing more is heard."""

    def action_started(self, ssn: Session, action: str) -> None:
        """An action is about to run."""
        self._action = action

    def action_ended(self, ssn: Session, action: str) -> None:
        """An action has run."""
        self._action = "close"

    def watch(self, point: ExtensionPoint, tier: int, plugin: str, function: Function) -> Function:
        """Return a function to call in place of a plugin's own."""
        return function

    def watch_point(self, point: ExtensionPoint, ask: Function) -> Function:
        """Return a function to call in place of an extension point's `ask`."""
        return ask

    def note(self, kind: str, /, **facts: Any) -> None:
        """Something happened that no extension point shows: a queue popped, a round of deserved, a
        victim chosen.
        """

    def popped(self, kind: str, item: Any, rest: PriorityQueue[Any]) -> None:
        """A "queue" or "job" has its turn; `rest` are those that come after it."""
        self.note(kind, **{kind: item.uid})

    def changed(self, kind: str, subject: JobInfo | TaskInfo) -> None:
        """Something changed without an operation: a job was "enqueued", a task "unplaced"."""

    def chose(self, task: TaskInfo, nodes: Sequence[NodeInfo], node: NodeInfo | None,
              errors: FitErrors) -> None:
        """One of some nodes was chosen for a task, or none; nothing has been placed yet."""

    def did(self, statement: Statement | None, operation: Operation) -> None:
        """An operation was done; without a statement, by the action itself."""

    def undid(self, statement: Statement | None, operation: Operation) -> None:
        """An operation was undone."""

    def committed(self, statement: Statement | None, operation: Operation) -> None:
        """An operation was sent to the cache."""


class _Nobody(Observer):
    watching = watches_attempts = False

    def popped(self, kind: str, item: Any, rest: PriorityQueue[Any]) -> None:
        """Nothing to tell."""


NOBODY = _Nobody()


def joined(*observers: Observer | None) -> Observer | None:
    """Return one observer for all that are given, None without any.

    >>> joined(None, None) is None
    True
    """
    present = [observer for observer in observers if observer is not None]
    return Observers(present) if len(present) > 1 else present[0] if present else None


class Observers(Observer):
    """Several observers of one cycle, called in order; of the functions that they put in a
    function's place, the last one's is the outermost.
    """

    def __init__(self, observers: Sequence[Observer]):
        self.observers = list(observers)
        self.watches_calls = any(observer.watches_calls for observer in self.observers)
        self.watches_attempts = any(observer.watches_attempts for observer in self.observers)
        for name, hook in vars(Observer).items():
            if callable(hook) and not name.startswith(("_", "watch")):
                setattr(self, name, _each([getattr(observer, name) for observer in self.observers]))

    def watch(self, point: ExtensionPoint, tier: int, plugin: str, function: Function) -> Function:
        for observer in self.observers:
            function = observer.watch(point, tier, plugin, function)
        return function

    def watch_point(self, point: ExtensionPoint, ask: Function) -> Function:
        for observer in self.observers:
            ask = observer.watch_point(point, ask)
        return ask


def _each(hooks: list[Callable[..., None]]) -> Callable[..., None]:
    def call(*args: Any, **facts: Any) -> None:
        for hook in hooks:
            hook(*args, **facts)

    return call
