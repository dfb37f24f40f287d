"""Who wants to know what a cycle does: the hooks that the framework and the actions call.

Without an observer (`Session.observer` is None) nothing is called and nothing is wrapped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from volcano_lab.framework.extension_point import ExtensionPoint
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

    def did(self, statement: Statement | None, operation: Operation) -> None:
        """An operation was done; without a statement, by the action itself."""

    def undid(self, statement: Statement | None, operation: Operation) -> None:
        pass

    def committed(self, statement: Statement | None, operation: Operation) -> None:
        pass
