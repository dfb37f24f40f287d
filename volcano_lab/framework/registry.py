"""Registries of what a configuration or an action may refer to by name, built-in or user-defined.

Volcano: pkg/scheduler/framework/plugins.go
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any, ClassVar, Generic, TypeVar

from volcano_lab.messages import OneSentence, gettext

T = TypeVar("T")


class NotRegistered(OneSentence, TypeError, ValueError):
    """The object cannot be registered, or not under that name."""


class Registry(Generic[T]):
    """Objects by name. A built-in is the text "module:Class", imported on first use.

    Args:
        what: The noun for the objects in messages, such as "plugin".
        prepare: Check a user-defined object and return the registered one; raises `NotRegistered`.

    >>> shapes = Registry("shape", lambda name, thing: thing)
    >>> shapes.register("square", 4)
    >>> shapes.names(), shapes.get("square")
    (['square'], 4)
    """

    all: ClassVar[dict[str, Registry[Any]]] = {}

    def __init__(self, what: str, prepare: Callable[..., T]):
        self.what, self.prepare = what, prepare
        self.built_in: dict[str, T | str] = {}
        self.own: dict[str, T] = {}
        self.all[what] = self

    def names(self) -> list[str]:
        """Return all names, in ascending order."""
        return sorted({**self.built_in, **self.own})

    def get(self, name: str) -> T:
        """Return the object of that name; a user-defined one hides a built-in.

        Raises:
            KeyError: No object has that name.
        """
        found = self.own[name] if name in self.own else self.built_in[name]
        if isinstance(found, str):
            module, _, attribute = found.partition(":")
            found = self.built_in[name] = getattr(import_module(module), attribute)
        return found

    def register(self, name: str, thing: Any, *facts: Any, replace: bool = False,
                 **more: Any) -> None:
        """Register a user-defined object, replacing an earlier user-defined one.

        Args:
            name: Its name in a configuration or an action.
            thing: A class (of a plugin, an action, or the rule of an extension point).
            *facts: Further positional arguments of `prepare`.
            replace: Hide a built-in of that name; without, that is refused.
            **more: Further keyword arguments of `prepare`.

        Raises:
            NotRegistered: With one sentence: what was found, what is allowed.
        """
        if not isinstance(name, str):
            raise NotRegistered("registered.name", what=gettext(self.what), name=repr(name))
        if name in self.built_in and not replace:
            raise NotRegistered("registered.built_in", what=gettext(self.what), name=name)
        self.own[name] = self.prepare(name, thing, *facts, **more)

    def unregister(self, name: str) -> None:
        """Remove a user-defined object; a built-in that it hid is visible again.

        Raises:
            NotRegistered: Nothing user-defined has that name.
        """
        if name not in self.own:
            raise NotRegistered("registered.none", what=gettext(self.what), name=name,
                                own=sorted(self.own) or gettext("none"))
        del self.own[name]

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Remove afterwards whatever is registered inside the `with`."""
        before = dict(self.own)
        try:
            yield
        finally:
            self.own.clear()
            self.own.update(before)


@contextmanager
def registered(plugin: Mapping[str, Any] | None = None, action: Mapping[str, Any] | None = None,
               point: Mapping[str, Any] | None = None, replace: bool = False) -> Iterator[None]:
    """Register by name until the `with` ends, which also removes whatever is registered inside it.

    >>> from volcano_lab.framework.plugin import Plugin, plugin_names
    >>> class Mine(Plugin):
    ...     def job_order(self, left, right):
    ...         return 0
    >>> with registered(plugin={"mine": Mine}):
    ...     "mine" in plugin_names()
    True
    >>> "mine" in plugin_names()
    False
    """
    with ExitStack() as stack:
        for registry in Registry.all.values():
            stack.enter_context(registry.restored())
        for what, things in (("plugin", plugin), ("action", action), ("extension point", point)):
            for name, thing in (things or {}).items():
                Registry.all[what].register(name, thing, replace=replace)
        yield
