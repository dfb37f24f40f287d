"""Changes of the scheduler's configuration that may turn an answer: actions, switches, plugins.

Volcano: none
"""

from __future__ import annotations

from volcano_lab.changes.change import value_text
from volcano_lab.explain.options import Option, Rank, World, once

KEEPERS = ("drf", "gang")
"""Plugins whose answer about victims Helm's configuration switches off; the others protect for a
reason: without priority, jobs evict others of a higher one.
"""
SWITCHED = {"preempt": "enablePreemptable", "reclaim": "enableReclaimable"}


def with_action(world: World, *names: str) -> Option:
    """More actions as Volcano's documents have them: enqueue first, then allocate, then others."""
    there = list(world.conf.actions)
    for name in (name for name in names if name not in there):
        place = {"enqueue": 0, "allocate": int("enqueue" in there)}.get(
            name, there.index("allocate") + 1 if "allocate" in there else len(there))
        there.insert(place, name)
    return _actions(there)


def without_action(world: World, name: str, rank: int = Rank.QUEUE) -> Option:
    """The actions without one of them, unless it is the only one."""
    return _actions([each for each in world.conf.actions if each != name] or [name], rank)


def in_order(world: World) -> Option:
    """Allocate before the actions that evict, so that free resources are allocated first."""
    there = list(world.conf.actions)
    first = min((there.index(name) for name in SWITCHED if name in there), default=len(there))
    if "allocate" in there[first:]:
        there.remove("allocate")
        there.insert(first, "allocate")
    return _actions(there)


def _actions(names: list[str], rank: int = Rank.SWITCH) -> Option:
    return once(f"conf/actions={', '.join(names)}", rank=rank)


def switched(plugin: str, switch: str, value: bool) -> Option:
    """A switch of a plugin."""
    return once(f"plugin/{plugin}.{switch}={value_text(value)}", rank=Rank.SWITCH)


def keeping(action: str) -> list[Option]:
    """The switches with which plugins keep more of the pods that an action would evict."""
    return [switched(plugin, SWITCHED[action], True) for plugin in KEEPERS if action in SWITCHED]


def with_plugin(name: str) -> Option:
    """A plugin at the head of the first tier."""
    return once(f"plugin/{name}.tier=1", rank=Rank.SWITCH)
