"""What a plugin is, and where plugins are found by name.

Answers to `pkg/scheduler/framework/interface.go` and `plugins.go`.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

from attrs import define

from volcano_lab.framework.arguments import Arguments
from volcano_lab.framework.one_sentence import NotRegistered

if TYPE_CHECKING:
    from volcano_lab.api.task import TaskInfo
    from volcano_lab.framework.session import Session


@define(slots=True)
class Event:
    """A task was given a node, or lost it; a handler that can't follow says so in `error`."""

    task: TaskInfo
    error: str = ""


class Plugin:
    """A policy. Its methods named after extension points answer the session's questions; nothing else is needed.

    `on_session_open` prepares what the answers need. A point that only some configurations have is withdrawn there
    by setting it to None, as in `self.queue_order = None`. `on_allocate` and `on_deallocate`, where defined, hear of
    every task that gains or loses a node, so that sums may be kept up to date.

    >>> class ShortNamesFirst(Plugin):
    ...     name = "short-names-first"
    ...     def job_order(self, left, right):
    ...         return len(left.name) - len(right.name)
    """

    name = ""

    def __init__(self, arguments: Arguments | None = None):
        self.arguments = Arguments() if arguments is None else arguments

    def on_session_open(self, ssn: Session) -> None:
        """The session is open; no action has run yet."""

    def on_session_close(self, ssn: Session) -> None:
        """All actions have run; the session is about to write its results."""


class UnknownPlugin(LookupError):
    """No plugin goes by that name, or the lab doesn't model it."""


_BUILDERS: dict[str, Any] = {}
_NOT_MODELLED: dict[str, str] = {}
_LOGGED: set[str] = set()

logger = logging.getLogger("volcano_lab")


def register_plugin(name: str, builder: type[Plugin] | str) -> None:
    """Make a plugin known by name: its class, or "module:Class" to be imported when it is first configured.

    A later one of the same name takes its place. Raises `NotRegistered` for anything else.

    >>> try:
    ...     register_plugin("mine", Plugin())
    ... except TypeError as error:
    ...     print(error)
    plugin "mine" is registered with an object of Plugin; allowed is a class that is made from Plugin, itself.
    """
    if not isinstance(name, str):
        raise NotRegistered(f"a plugin is registered as {name!r}; allowed is its name first, as a text, and then its class.")
    if not isinstance(builder, str) and not (isinstance(builder, type) and issubclass(builder, Plugin)):
        found = f"class {builder.__name__}" if isinstance(builder, type) else f"an object of {type(builder).__name__}"
        raise NotRegistered(f'plugin "{name}" is registered with {found}; allowed is a class that is made from Plugin, itself.')
    _BUILDERS[name] = builder


def register_not_modelled(name: str, sentence: str) -> None:
    """A plugin that Volcano has and the lab doesn't model; `sentence` says what that means."""
    _NOT_MODELLED[name] = sentence


def plugin_names() -> list[str]:
    """The names of all plugins that can be configured."""
    return sorted(_BUILDERS)


def plugin_class(name: str) -> type[Plugin]:
    """The class of a plugin by name. Raises `UnknownPlugin` with one sentence where there is none."""
    builder = _BUILDERS.get(name)
    if builder is None:
        raise UnknownPlugin(_NOT_MODELLED.get(name) or f'the configuration names plugin "{name}"; '
                            f"known are {', '.join(plugin_names())}.")
    if isinstance(builder, str):
        module, _, attribute = builder.partition(":")
        builder = _BUILDERS[name] = getattr(import_module(module), attribute)
    return builder


def log_once(sentence: str) -> None:
    """Log an error the first time it is met; a configuration with an unknown plugin would repeat it every cycle."""
    if sentence not in _LOGGED:
        _LOGGED.add(sentence)
        logger.error("%s", sentence)
