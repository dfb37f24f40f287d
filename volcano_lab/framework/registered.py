"""Plugins, actions and extension points that are known for a while. Answers to no Go file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from volcano_lab.framework import action as actions
from volcano_lab.framework import plugin as plugins
from volcano_lab.framework import points
from volcano_lab.framework.action import Action, register_action
from volcano_lab.framework.extension_point import ExtensionPoint
from volcano_lab.framework.plugin import Plugin, register_plugin
from volcano_lab.framework.points import register_extension_point


@contextmanager
def registered(plugin: Mapping[str, type[Plugin]] | None = None, action: Mapping[str, type[Action]] | None = None,
               point: Mapping[str, type[ExtensionPoint]] | None = None) -> Iterator[None]:
    """Make some known by name for as long as the `with` lasts; whatever is registered inside is forgotten, too.

    >>> class Mine(Plugin):
    ...     def job_order(self, left, right):
    ...         return 0
    >>> with registered(plugin={"mine": Mine}):
    ...     "mine" in plugins.plugin_names()
    True
    >>> "mine" in plugins.plugin_names()
    False
    """
    registries = plugins._BUILDERS, actions._ACTIONS, points._OWN
    before = [dict(registry) for registry in registries]
    try:
        for name, builder in (plugin or {}).items():
            register_plugin(name, builder)
        for name, builder in (action or {}).items():
            register_action(name, builder)
        for name, rule in (point or {}).items():
            register_extension_point(name, rule)
        yield
    finally:
        for registry, known in zip(registries, before, strict=True):
            registry.clear()
            registry.update(known)
