"""Opens and closes the plugins of a session: each is built, prepares itself, and has its methods
registered with the extension points by name.

Volcano: pkg/scheduler/framework/framework.go
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from volcano_lab.framework.config.arguments import Arguments
from volcano_lab.framework.config.conf import ACTIONS
from volcano_lab.framework.placement.arrays import NodeArrays
from volcano_lab.framework.plugin import Plugin, UnknownPlugin, answer_of, plugin_class
from volcano_lab.framework.points.rules import NoScore
from volcano_lab.messages import Message, guard, log

if TYPE_CHECKING:
    from volcano_lab.framework.session import Session

_IN_GO = {"on_session_open": "OnSessionOpen", "on_session_close": "OnSessionClose"}
"""Plugin hook -> its name in metrics."""


def open_plugins(ssn: Session) -> None:
    """Open each plugin of the configuration, tier by tier; an unknown one is a warning."""
    _arrange(ssn)
    for tier in ssn.conf.tiers:
        for option in tier.plugins:
            try:
                build = plugin_class(option.name)
            except UnknownPlugin as unknown:
                ssn.warnings.append(unknown.said)
                log.once(str(unknown))
                continue
            plugin = guard.call_plugin(build, f'plugin "{option.name}"', build, option.arguments)
            ssn.plugins[option.name], plugin.ssn = plugin, ssn
            _call_hook(ssn, option.name, plugin, "on_session_open")
            _register(ssn, option.name, plugin)
            _warn_about_arguments(ssn, "plugin", option.name, option.arguments,
                                  guard.is_user_defined(plugin))
    _arrange(ssn)
    extend = "setup_bind_context_extension"
    ssn.bind_extensions = [
        partial(guard.call_plugin, plugin, f'plugin "{name}", {extend}', getattr(plugin, extend))
        for name, plugin in sorted(ssn.plugins.items()) if hasattr(plugin, extend)]
    ssn.use_arrays = ssn.use_arrays and NodeArrays.serve(ssn)
    ssn.observer.opened(ssn)


def close_plugins(ssn: Session) -> None:
    """Close each plugin, by name; then warn about arguments of actions that nothing has read."""
    for name, plugin in sorted(ssn.plugins.items()):
        _call_hook(ssn, name, plugin, "on_session_close")
    for name in dict.fromkeys(ssn.conf.actions):
        _warn_about_arguments(ssn, "action", name, ssn.conf.action_arguments(name),
                              name not in ACTIONS)


def _warn_about_arguments(ssn: Session, kind: str, name: str, arguments: Arguments,
                          user_defined: bool) -> None:
    """Warn about invalid or unused arguments; a user-defined plugin may still read its own."""
    unknown = () if user_defined else arguments.unknown()
    ssn.warnings += [Message(f"argument.of_{kind}", name=name, what=each)
                     for each in (*arguments.warnings, *unknown)]


def _call_hook(ssn: Session, name: str, plugin: Plugin, hook: str) -> None:
    """Call a plugin's open or close hook and report its duration to the observer."""
    start = time.perf_counter()
    guard.call_hook(plugin, f'plugin "{name}", {hook}', getattr(plugin, hook), ssn)
    ssn.observer.plugin_done(ssn, name, _IN_GO[hook], time.perf_counter() - start)


def _register(ssn: Session, name: str, plugin: Plugin) -> None:
    """Register a plugin's methods with the extension points, and its handlers of events."""
    own = guard.is_user_defined(plugin)
    if own:
        guard.validate_plugin(name, plugin, Plugin, ssn.points)
    for point in ssn.points.values():
        function = answer_of(plugin, point.name)
        if function is not None:
            point.register(name, guard.guarded(point, name, function, NoScore)
                           if own and callable(function) else function)
    for hook, handlers in ssn.handlers.items():
        handler = getattr(plugin, hook, None)
        if handler is not None:
            handlers.append(partial(guard.call_handler, f'plugin "{name}", {hook}', handler)
                            if own else handler)
    if hasattr(plugin, "pre_bind"):
        ssn.cache.register_binder(name, plugin)


def _arrange(ssn: Session) -> None:
    """Set every extension point as an attribute of the session, wrapped where observed."""
    for point in ssn.points.values():
        if ssn.observer.watching:
            point.arrange(ssn.conf.tiers, ssn.observer.watch)
            setattr(ssn, point.name, ssn.observer.watch_point(point, point.ask))
        else:
            point.arrange(ssn.conf.tiers)
            setattr(ssn, point.name, point.asked())
