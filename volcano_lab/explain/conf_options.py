"""Changes of the scheduler's configuration that may turn an answer: actions, switches, plugins.

Volcano: none
"""

from __future__ import annotations

from collections.abc import Iterator

from volcano_lab.changes.change import value_text
from volcano_lab.explain.options import Option, Rank, World, once

KEEPERS = ("drf", "gang")
"""Plugins whose say about victims Helm's configuration switches off; the others protect for a
reason: without priority, jobs evict others of a higher one.
"""
SWITCHED = {"preempt": "enablePreemptable", "reclaim": "enableReclaimable"}


def with_action(world: World, *names: str) -> Iterator[Option]:
    """More actions as Volcano's documents have them: enqueue first, then allocate, then others."""
    there = list(world.conf.actions)
    wanted = [name for name in names if name not in there]
    for name in wanted:
        place = {"enqueue": 0, "allocate": int("enqueue" in there)}.get(
            name, there.index("allocate") + 1 if "allocate" in there else len(there))
        there.insert(place, name)
    if wanted:
        yield once(f"conf/actions={', '.join(there)}", rank=Rank.SWITCH)


def without_action(world: World, name: str, rank: int = Rank.QUEUE) -> Iterator[Option]:
    """The actions without one of them."""
    kept = [action for action in world.conf.actions if action != name]
    if kept and kept != [*world.conf.actions]:
        yield once(f"conf/actions={', '.join(kept)}", rank=rank)


def in_order(world: World) -> Iterator[Option]:
    """Allocate before the actions that evict, so that what is free is given first."""
    there = list(world.conf.actions)
    first = min((there.index(name) for name in SWITCHED if name in there), default=len(there))
    if "allocate" in there and there.index("allocate") > first:
        there.remove("allocate")
        there.insert(first, "allocate")
        yield once(f"conf/actions={', '.join(there)}", rank=Rank.SWITCH)


def switched(world: World, plugin: str, switch: str, value: bool) -> Iterator[Option]:
    """A switch of a plugin, where the configuration has the plugin and the switch otherwise."""
    if any(option.name == plugin and bool(option.enables(switch)) != value
           for tier in world.conf.tiers for option in tier.plugins):
        yield once(f"plugin/{plugin}.{switch}={value_text(value)}", rank=Rank.SWITCH)


def keeping(world: World, action: str) -> Iterator[Option]:
    """The switches with which plugins keep more of the pods that an action would evict."""
    for plugin in KEEPERS if action in SWITCHED else ():
        yield from switched(world, plugin, SWITCHED[action], True)


def with_plugin(world: World, name: str) -> Iterator[Option]:
    """A plugin at the head of the first tier, where it is in none or a later one."""
    if world.conf.tiers and all(option.name != name for option in world.conf.tiers[0].plugins):
        yield once(f"plugin/{name}.tier=1", rank=Rank.SWITCH)
