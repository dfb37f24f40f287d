"""Plugins: what one is, and where they are found by name.

Volcano: pkg/scheduler/framework/interface.go
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from attrs import define

from volcano_lab.api import TaskInfo
from volcano_lab.framework.config.arguments import Arguments
from volcano_lab.framework.registry import NotRegistered, Registry
from volcano_lab.messages import did_you_mean, gettext

if TYPE_CHECKING:
    from volcano_lab.framework.session import Session

Method = TypeVar("Method", bound=Callable)
TasksAndVote = tuple[list[TaskInfo], int]
"""The tasks that may be evicted, and `PERMIT`, `ABSTAIN` or `REJECT`."""


@define(slots=True)
class Event:
    """A task was given a node, or lost it; a handler that cannot follow sets `error`."""

    task: TaskInfo
    error: str = ""


class Plugin:
    """A policy. Its methods named after extension points are called by the session; nothing else is
    needed.

    `on_session_open` prepares what they need. A method that takes part only in some sessions says
    when with `active_if`. `on_allocate` and `on_deallocate`, where defined, are called for every
    task that gains or loses a node, so that sums may be kept up to date. `ssn` is the session in
    which the plugin takes part, set before `on_session_open`.

    >>> class ShortNamesFirst(Plugin):
    ...     name = "short-names-first"
    ...     def job_order(self, left, right):
    ...         return len(left.name) - len(right.name)
    """

    name = ""
    ssn: Session

    def __init__(self, arguments: Arguments | None = None):
        self.arguments = Arguments() if arguments is None else arguments

    def on_session_open(self, ssn: Session) -> None:
        """Prepare for a session; no action has run yet."""

    def on_session_close(self, ssn: Session) -> None:
        """Conclude a session; all actions have run, and its results are about to be written."""


def active_if(attribute: str) -> Callable[[Method], Method]:
    """Let a plugin's method take part only in sessions in which one of its attributes is true.

    The attribute is read once, after `on_session_open`.

    >>> class Picky(Plugin):
    ...     @active_if("many_jobs")
    ...     def job_order(self, left, right):
    ...         return 0
    ...     def on_session_open(self, ssn):
    ...         self.many_jobs = len(ssn.jobs) > 10
    """

    def declare(method: Method) -> Method:
        vars(method)["active_if"] = attribute
        return method

    return declare


def answer_of(plugin: Plugin, name: str) -> Callable | None:
    """Return a plugin's method where it has one that takes part in this session."""
    method = getattr(plugin, name, None)
    condition = getattr(method, "active_if", "")
    return method if not condition or getattr(plugin, condition) else None


class UnknownPlugin(LookupError):
    """No plugin has that name, or the lab does not model it."""


def _class_of_plugin(name: str, builder: object) -> type[Plugin]:
    if isinstance(builder, type) and issubclass(builder, Plugin):
        return builder
    found = f"class {builder.__name__}" if isinstance(
        builder, type) else gettext("an object of {name}", name=type(builder).__name__)
    raise NotRegistered(gettext('plugin "{name}" is registered with {found}; allowed is a class '
                                "that is made from Plugin, itself.", name=name, found=found))


PLUGINS: Registry[type[Plugin]] = Registry("plugin", _class_of_plugin)
register_plugin, unregister_plugin, plugin_names = (
    PLUGINS.register, PLUGINS.unregister, PLUGINS.names)

UNMODELLED: dict[str, str] = {}
"""Plugins of Volcano that the lab does not model -> a sentence that says what that means."""


def plugin_class(name: str) -> type[Plugin]:
    """Return the class of a plugin by name. Raises `UnknownPlugin` with one sentence."""
    try:
        return PLUGINS.get(name)
    except KeyError:
        known = gettext("; known are {names:,}.", names=plugin_names())
        raise UnknownPlugin(UNMODELLED.get(name) or gettext(
            'the configuration names plugin "{name}"{near}', name=name,
            near=did_you_mean(name, plugin_names(), known))) from None
