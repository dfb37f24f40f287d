"""Actions: their base class and their registry.

Volcano: pkg/scheduler/framework/interface.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from volcano_lab.framework.registry import NotRegistered, Registry

if TYPE_CHECKING:
    from volcano_lab.framework.session import Session


class Action:
    """One step of a cycle: it calls the session's extension points and changes the session's tasks.

    One object serves all cycles of a scheduler and keeps the arguments it has read: an argument
    that a later configuration omits keeps its earlier value, as in Volcano.

    >>> class CountJobs(Action):
    ...     name = "count-jobs"
    ...     def execute(self, ssn):
    ...         self.count = len(ssn.jobs)
    """

    name = ""
    use_error_cache = True

    def read_error_cache(self, ssn: Session) -> None:
        """Read whether a task's failure on a node counts for all tasks of its role."""
        self.use_error_cache = ssn.conf.action_arguments(self.name).get_bool(
            "predicateErrorCacheEnable", self.use_error_cache)

    def execute(self, ssn: Session) -> None:
        """Run once in a session."""
        raise NotImplementedError


def _class_of_action(name: str, builder: object) -> type[Action]:
    if not (isinstance(builder, type) and issubclass(builder, Action)):
        raise NotRegistered("registered.action", name=name, builder=repr(builder))
    if builder.execute is Action.execute:
        raise NotRegistered("registered.execute", name=name)
    return builder


ACTIONS: Registry[type[Action]] = Registry("action", _class_of_action)
register_action, unregister_action = ACTIONS.register, ACTIONS.unregister


def action_names() -> tuple[str, ...]:
    """Return the names of all actions that can be configured."""
    return tuple(ACTIONS.names())
