"""What the scheduler's configuration may be instead: its actions, plugins, switches and arguments.

Volcano: none
"""

from collections.abc import Iterator, Sequence
from math import ceil
from typing import Any

from volcano_lab.api import JobInfo
from volcano_lab.api.node_usage import METRICS_PERIOD
from volcano_lab.changes import Change, value_text
from volcano_lab.explain import explanation, settings, sizes, values
from volcano_lab.explain.options import Numbers, Option, Rank, World, once, stages
from volcano_lab.framework import Session
from volcano_lab.framework.plugin import plugin_names
from volcano_lab.messages import meant
from volcano_lab.plugins import tdm

KEEPERS = ("drf", "gang")
"""Plugins whose answer about victims Helm's configuration switches off; the others protect for a
reason: without priority, jobs evict others of a higher one.
"""
SWITCHED = {"preempt": "enablePreemptable", "reclaim": "enableReclaimable"}
"""Action -> the switch of a plugin's answer about its victims."""


def with_action(world: World, *names: str, but: str = "") -> Option:
    """More actions as Volcano's documents have them: enqueue first, then allocate, then others;
    without one.
    """
    there = [name for name in world.actions if name != but]
    for name in (name for name in names if name not in there):
        place = {"enqueue": 0, "allocate": int("enqueue" in there)}.get(
            name, there.index("allocate") + 1 if "allocate" in there else len(there))
        there.insert(place, name)
    return _actions(there, Rank.HARMLESS if world.conf.refused else Rank.SWITCH)


def without_action(world: World, name: str, rank: int = Rank.QUEUE) -> Option:
    """The actions without one of them, unless it is the only one."""
    return _actions([each for each in world.actions if each != name] or [name], rank)


def named_right(world: World, ssn: Session) -> Iterator[Option]:
    """Plugins, and their arguments, that the configuration names by a slip, by the name that is
    meant.
    """
    for *_, right in settings.slips(ssn):
        yield once(right, rank=Rank.HARMLESS)
    known = plugin_names()
    for number, tier in enumerate(world.conf.tiers, 1):
        for name in [option.name for option in tier.plugins if option.name not in known]:
            if (right := meant(name, known, 0.75)) and right not in world.conf.plugin_names():
                yield once(f"plugin/{name}.tier=null", f"plugin/{right}.tier={number}",
                           rank=Rank.HARMLESS)


def in_order(world: World) -> Option:
    """Allocate before the actions that evict, so that free resources are allocated first."""
    there = list(world.actions)
    first = min((there.index(name) for name in SWITCHED if name in there), default=len(there))
    if "allocate" in there[first:]:
        there.remove("allocate")
        there.insert(first, "allocate")
    return _actions(there)


def apart(world: World, first: Change, second: Change) -> Change:
    """The second of two changes without the first; of the actions, which both set as a whole, what
    it adds or leaves out. Nothing where it replaces the first.
    """
    shared = first.targets & second.targets
    if shared != {"conf/actions"}:
        return Change() if shared else second
    before, after = ({*each.settings[0].partition("=")[2].split(", ")} for each in (first, second))
    gone = before - after
    return (without_action(world, min(gone)) if gone else with_action(world, *after - before)).most


def _actions(names: list[str], rank: int = Rank.SWITCH) -> Option:
    return once(f"conf/actions={', '.join(names)}", rank=rank)


def switched(plugin: str, switch: str, value: bool) -> Option:
    """A switch of a plugin."""
    return once(f"plugin/{plugin}.{switch}={value_text(value)}", rank=Rank.SWITCH)


def keeping(action: str, named: Sequence[str] = ()) -> list[Option]:
    """The switches with which plugins keep more of the pods that an action would evict: on; off for
    those that `named` some of them.
    """
    return [switched(plugin, SWITCHED[action], plugin not in named)
            for plugin in KEEPERS if action in SWITCHED]


class Configured:
    """The options for one job in a cluster, after a cycle, that change arguments of plugins; its
    name in a change, and its `pods` that wait.
    """

    def __init__(self, world: World, ssn: Session, job: JobInfo):
        self.world, self.ssn, self.job, self.name = world, ssn, job, world.job(job.uid)
        self.pods = world.waiting(job.uid)

    def answered(self, numbers: Numbers) -> Iterator[Option]:
        """That plugins answer an extension point again; without gang, where this keeps all pods."""
        yield from stages((Change(tuple(
            f"plugin/{name}.{numbers['switch']}=true" for name in numbers["off"] if name != but))
            for but in ("", "gang")), Rank.SWITCH)

    def factor(self, numbers: Numbers) -> Iterator[Option]:
        """The overcommit factor, to about what the sum of the cause takes."""
        overcommit: Any = self.ssn.plugins["overcommit"]
        whole, factor = self.ssn.total_resource, overcommit.factor
        more = max((amount / whole.get(name) for name, amount in sizes.missing(numbers).items()
                    if whole.get(name)), default=0.0)
        first = max(ceil(round(more * 10, 6)), 1)
        yield values.stepped("plugin/overcommit.overcommit-factor", factor, 0.1, max(200, first),
                             first=first)

    def open_hours(self, numbers: Numbers) -> Iterator[Option]:
        """That the revocable zones of nodes be open now: from this hour on, or until it ends; all
        day where no hours are known, or these end on the next day.
        """
        plugin: Any = self.ssn.plugins["tdm"]
        now = explanation.moment_text(self.ssn.now)[-5:-3]
        for zone in dict.fromkeys(self.ssn.nodes[name].revocable_zone for name in numbers["names"]):
            hours = plugin.zones.get(zone, "")
            start, _, end = hours.replace(" ", "").partition("-")
            wider = f"{now}:00-{end}" if now < start.zfill(5) else f"{start}-{now}:59"
            if (tdm.hours_of(hours) or (0, tdm.DAY))[1] >= tdm.DAY:
                wider = "00:00-23:59"
            if plugin.closed_because(zone):
                yield once(f"plugin/tdm.{tdm.ZONE_PREFIX}{zone}={value_text(wider)}",
                           rank=Rank.OTHERS)

    def thresholds(self, numbers: Numbers) -> Iterator[Option]:
        """What plugin usage reads as thresholds: those that are written by other names of CPU and
        memory, or as much as a node uses.
        """
        plugin: Any = self.ssn.plugins["usage"]
        least = {"cpu": plugin.cpu_threshold, "mem": plugin.memory_threshold}
        given = plugin.arguments.get("thresholds")
        meant = {name: percent for key, percent in given.items() for name in least if str(
            key).lower().startswith(name)} if isinstance(given, dict) else {}
        uses = sorted([use.cpu.get(METRICS_PERIOD, 0.0), use.memory.get(METRICS_PERIOD, 0.0)]
                      for use in (self.ssn.nodes[name].resource_usage for name in numbers["names"]))
        levels = [{name: max(least[name], ceil(percent)) for name, percent in zip(
            least, each, strict=True)} for each in uses]
        yield from stages((Change((f"plugin/usage.thresholds={value_text(level)}",))
                           for level in (least | meant, *levels)), Rank.SWITCH)
