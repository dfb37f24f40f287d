"""What an action is, and where actions are found by name. Answers to `pkg/scheduler/framework/interface.go`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from volcano_lab.framework.one_sentence import NotRegistered

if TYPE_CHECKING:
    from volcano_lab.framework.session import Session


class Action:
    """One step of a cycle: it asks the session's extension points and changes the session's tasks.

    One object serves all cycles of a scheduler. What it reads from its arguments it keeps: an argument that a later
    configuration leaves out stays as the earlier one had it, as in Volcano.

    >>> class CountJobs(Action):
    ...     name = "count-jobs"
    ...     def execute(self, ssn):
    ...         self.count = len(ssn.jobs)
    """

    name = ""

    def execute(self, ssn: Session) -> None:
        raise NotImplementedError


_ACTIONS: dict[str, Any] = {}


def register_action(name: str, builder: type[Action] | str) -> None:
    """Make an action known by name: its class, or "module:Class" to be imported when it first runs.

    A later one of the same name takes its place. Raises `NotRegistered` for anything else, and for a class without `execute`.
    """
    if not isinstance(name, str):
        raise NotRegistered(f"an action is registered as {name!r}; allowed is its name first, as a text, and then its class.")
    if not isinstance(builder, str):
        if not (isinstance(builder, type) and issubclass(builder, Action)):
            raise NotRegistered(f'action "{name}" is registered with {builder!r}; allowed is a class that is made from Action.')
        if builder.execute is Action.execute:
            raise NotRegistered(f'action "{name}" has no method execute; allowed is execute(self, ssn).')
    _ACTIONS[name] = builder


def action_names() -> tuple[str, ...]:
    return tuple(sorted(_ACTIONS))


def build_action(name: str) -> Action:
    """A new action by name; `LookupError` where there is none."""
    builder = _ACTIONS[name]
    if isinstance(builder, str):
        module, _, attribute = builder.partition(":")
        builder = _ACTIONS[name] = getattr(import_module(module), attribute)
    return builder()
