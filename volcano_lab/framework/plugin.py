"""Plugins: their base class and their registry.

Volcano: pkg/scheduler/framework/interface.go
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define

from volcano_lab.api import TaskInfo
from volcano_lab.framework.config.arguments import Arguments
from volcano_lab.framework.registry import NotRegistered, Registry
from volcano_lab.messages import Message, OneSentence, did_you_mean, gettext

if TYPE_CHECKING:
    from volcano_lab.framework.session import Session

Method = TypeVar("Method", bound=Callable[..., Any])
TasksAndVote = tuple[list[TaskInfo], int]
"""The tasks that may be evicted, and `PERMIT`, `ABSTAIN` or `REJECT`."""


@define(slots=True)
class Event:
    """A task was allocated or deallocated; a handler that fails sets `error`."""

    task: TaskInfo
    error: str = ""


class Plugin:
    """A policy. The session calls its methods named after extension points; nothing else is needed.
    `POINT_key` beside them makes a cycle faster (`framework/placement/arrays.py`).

    `on_session_open` prepares their state. Mark a method that applies only in some sessions with
    `active_if`. `on_allocate` and `on_deallocate`, where defined, are called for every task that
    gains or loses a node, so that sums can be updated. `ssn` is the plugin's session, set before
    `on_session_open`.

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
        """Finish a session: all actions have run, and its results are written next."""


def active_if(attribute: str) -> Callable[[Method], Method]:
    """Call a plugin's method only in sessions in which one of the plugin's attributes is true.

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


def answer_of(plugin: Plugin, name: str) -> Callable[..., Any] | None:
    """Return a plugin's method, None where it is absent or inactive in this session."""
    method = getattr(plugin, name, None)
    condition = getattr(method, "active_if", "")
    return method if not condition or getattr(plugin, condition) else None


class UnknownPlugin(OneSentence, LookupError):
    """No plugin has that name, or the lab does not model it."""


def _class_of_plugin(name: str, builder: object) -> type[Plugin]:
    if isinstance(builder, type) and issubclass(builder, Plugin):
        return builder
    found = f"class {builder.__name__}" if isinstance(
        builder, type) else gettext("an object of {name}", name=type(builder).__name__)
    raise NotRegistered("registered.plugin", name=name, found=found)


PLUGINS: Registry[type[Plugin]] = Registry("plugin", _class_of_plugin)
register_plugin, unregister_plugin, plugin_names = (
    PLUGINS.register, PLUGINS.unregister, PLUGINS.names)

UNMODELLED: set[str] = set()
"""Plugins of Volcano that the lab does not model; the message `plugin.NAME` says what each does."""


def plugin_class(name: str) -> type[Plugin]:
    """Return the class of a plugin by name. Raises `UnknownPlugin` with one sentence."""
    try:
        return PLUGINS.get(name)
    except KeyError:
        if name in UNMODELLED:
            raise UnknownPlugin("plugin.unmodelled", name=name,
                                what=Message(f"plugin.{name}")) from None
        known = Message("plugin.known", names=plugin_names())
        raise UnknownPlugin("plugin.unregistered", name=name,
                            near=did_you_mean(name, plugin_names(), known)) from None
