"""Who wants to know what a cycle does: the hooks that the framework and the actions call.

Without an observer (`Session.observer` is None) nothing is called and nothing is wrapped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from volcano_lab.api.fit_error import FitErrors
    from volcano_lab.api.job import JobInfo
    from volcano_lab.api.node import NodeInfo
    from volcano_lab.api.task import TaskInfo
    from volcano_lab.framework.extension_point import ExtensionPoint
    from volcano_lab.framework.priority_queue import PriorityQueue
    from volcano_lab.framework.session import Session
    from volcano_lab.framework.statement import Operation, Statement


class Observer:
    """Every hook does nothing here; override those that matter.

    With `watches_calls` every single call of a plugin is shown: nodes are then filtered and scored one by one.
    """

    watches_calls = False

    def opened(self, ssn: Session) -> None:
        """The session is open; plugins are registered and prepared."""

    def closed(self, ssn: Session) -> None:
        """The session's results are written."""

    def plugin_done(self, ssn: Session, plugin: str, when: str, seconds: float) -> None:
        """A plugin has prepared itself ("OnSessionOpen") or concluded ("OnSessionClose"), in so many seconds."""

    def cycle_ended(self, ssn: Session, times: dict[str, float]) -> None:
        """The cycle is over; `times` has the seconds of its parts, as `Scheduler.times`."""

    def action_started(self, ssn: Session, action: str) -> None:
        pass

    def action_ended(self, ssn: Session, action: str) -> None:
        pass

    def watch(self, point: ExtensionPoint, tier: int, plugin: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function to call in place of a plugin's own."""
        return function

    def watch_point(self, point: ExtensionPoint, ask: Callable[..., Any]) -> Callable[..., Any]:
        """A function to call in place of the extension point's `ask`."""
        return ask

    def note(self, kind: str, /, **facts: Any) -> None:
        """Something happened that no extension point shows: a queue popped, a round of deserved, a victim chosen."""

    def popped(self, kind: str, item: Any, rest: PriorityQueue[Any]) -> None:
        """A "queue" or "job" got its turn; `rest` are those that come after it."""
        self.note(kind, **{kind: item.uid})

    def changed(self, kind: str, subject: JobInfo | TaskInfo) -> None:
        """Something changed without an operation: a job was "enqueued", a task "unplaced"."""

    def chose(self, task: TaskInfo, nodes: Sequence[NodeInfo], node: NodeInfo | None, errors: FitErrors) -> None:
        """One of some nodes was chosen for a task, or none; nothing has been placed yet."""

    def did(self, statement: Statement | None, operation: Operation) -> None:
        """An operation was done; without a statement, by the action itself."""

    def undid(self, statement: Statement | None, operation: Operation) -> None:
        pass

    def committed(self, statement: Statement | None, operation: Operation) -> None:
        pass
