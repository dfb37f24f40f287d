"""The observer of a cycle: hooks that the framework and the actions call while it runs.

A session always has one; `NO_OBSERVER` has no effect.
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
    """Every hook is empty here; override those needed.

    Attributes:
        watching: False without an observer: costly facts need not be computed then.
        watches_calls: Whether every single call of a plugin is observed; nodes are then filtered
            and scored one by one.
        watches_attempts: Whether to record preempt's attempts on nodes without victims and without
            enough future idle resources.
    """

    watching = True
    watches_calls = False
    watches_attempts = True
    _action = "open"  # the current action; this before the first, "close" after the last

    def opened(self, ssn: Session) -> None:
        """Receive the open session; plugins are registered and prepared."""

    def closed(self, ssn: Session) -> None:
        """Receive the session after its results are written."""

    def plugin_done(self, ssn: Session, plugin: str, when: str, seconds: float) -> None:
        """Receive a plugin's finished hook: `when` is "OnSessionOpen" or "OnSessionClose"."""

    def cycle_ended(self, ssn: Session, times: dict[str, float]) -> None:
        """Receive the end of the cycle; `times` holds its parts' seconds, as `Scheduler.times`."""

    def died(self) -> None:
        """Handle a scheduler crash within the cycle; no hook of the cycle follows."""

    def action_started(self, ssn: Session, action: str) -> None:
        """Receive the action that is about to run."""
        self._action = action

    def action_ended(self, ssn: Session, action: str) -> None:
        """Receive the action that has run."""
        self._action = "close"

    def watch(self, point: ExtensionPoint, tier: int, plugin: str, function: Function) -> Function:
        """Return a function to call in place of a plugin's own."""
        return function

    def watch_point(self, point: ExtensionPoint, ask: Function) -> Function:
        """Return a function to call in place of an extension point's `ask`."""
        return ask

    def watches_claims(self, job: str) -> bool:
        """Return whether to record repeated claims of a job's tasks, which are known to fail."""
        return self.watching

    def watches_sums(self, job: str) -> bool:
        """Return whether to record the sums that plugins compare for a job's tasks."""
        return self.watching

    def watches_victims(self, job: str) -> bool:
        """Return whether to record the plugins' answers about victims for a job's tasks."""
        return self.watches_attempts

    def note(self, kind: str, /, **facts: Any) -> None:
        """Record an event that no extension point shows: a queue popped, a round of deserved, a
        victim chosen.
        """

    def popped(self, kind: str, item: Any, rest: PriorityQueue[Any]) -> None:
        """Record the "queue" or "job" that is next; `rest` are those that follow it."""
        self.note(kind, **{kind: item.uid})

    def changed(self, kind: str, subject: JobInfo | TaskInfo) -> None:
        """Record a change without an operation: a job was "enqueued", a task "unplaced"."""

    def chose(self, task: TaskInfo, nodes: Sequence[NodeInfo], node: NodeInfo | None,
              errors: FitErrors) -> None:
        """Record the node chosen for a task, or none; nothing is placed yet."""

    def did(self, statement: Statement | None, operation: Operation) -> None:
        """Record an operation that was done; the action's own without a statement."""

    def undid(self, statement: Statement | None, operation: Operation) -> None:
        """Record an operation that was undone."""

    def committed(self, statement: Statement | None, operation: Operation) -> None:
        """Record an operation that was sent to the cache."""


class _NoObserver(Observer):
    watching = watches_attempts = False

    def popped(self, kind: str, item: Any, rest: PriorityQueue[Any]) -> None:
        """Do nothing."""


NO_OBSERVER = _NoObserver()


def joined(*observers: Observer | None) -> Observer | None:
    """Return one observer for all that are given, None for none.

    >>> joined(None, None) is None
    True
    """
    present = [observer for observer in observers if observer is not None]
    if len(present) > 1:
        return Observers(present)
    return present[0] if present else None


class Observers(Observer):
    """Several observers of one cycle, called in order; each wraps functions that the earlier ones
    wrapped.
    """

    def __init__(self, observers: Sequence[Observer]):
        self.observers = list(observers)
        self.watching = any(observer.watching for observer in self.observers)
        self.watches_calls = any(observer.watches_calls for observer in self.observers)
        self.watches_attempts = any(observer.watches_attempts for observer in self.observers)
        for name, hook in vars(Observer).items():
            if callable(hook) and not name.startswith(("_", "watch")):
                setattr(self, name, _each([getattr(observer, name) for observer in self.observers]))

    def watches_claims(self, job: str) -> bool:
        return any(observer.watches_claims(job) for observer in self.observers)

    def watches_sums(self, job: str) -> bool:
        return any(observer.watches_sums(job) for observer in self.observers)

    def watches_victims(self, job: str) -> bool:
        return any(observer.watches_victims(job) for observer in self.observers)

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
