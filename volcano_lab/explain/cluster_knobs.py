"""What could be otherwise of the cluster and the configuration: more nodes like one, actions, the
switches of plugins, the overcommit factor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from functools import partial
from math import ceil

import attrs

from volcano_lab.api import Resource, quantity
from volcano_lab.api.objects import Node, ResourceQuota
from volcano_lab.changes.more_nodes import with_more_nodes
from volcano_lab.changes.objects import UNSCHEDULABLE
from volcano_lab.explain.explanation import Amounts, in_quantity
from volcano_lab.explain.knob import Knob, KnobSet, Rank, Turned, text_of
from volcano_lab.explain.nodes import KUBERNETES
from volcano_lab.framework import SchedulerConfiguration
from volcano_lab.framework.config.conf import PluginOption
from volcano_lab.messages import listed
from volcano_lab.plugins.nodegroup import NODE_GROUP_LABEL


class ClusterKnobs(KnobSet):
    """The knobs of nodes and of the configuration."""

    def nodes(self, request: Amounts, lacking: Amounts, names: Iterable[str],
              devices: Amounts) -> Iterator[Knob]:
        """More nodes like one that is there, but with devices that no node has, and large enough
        for a pod's request; a knob for each size of node. `lacking` is about what is missing in
        all.
        """
        known = set()
        more = {name: text_of(name, in_quantity(name, amount)) for name, amount in devices.items()}
        kinds = listed([f"{name} {text}" for name, text in more.items()], 3)
        for node in self.nodes_called(names).values():
            amounts = node.status.allocatable | more
            kind = repr((sorted(amounts.items()), node.spec))
            room = Resource.from_list(amounts)
            if kind in known or any(room.get(name) < amount for name, amount in request.items()
                                    if name != "pods"):
                continue
            known.add(kind)
            first = max((ceil(amount / room.get(name)) for name, amount in lacking.items()
                         if room.get(name)), default=1)
            turn = partial(self._with_nodes, node, more)
            like = f"{node.name} with {kinds}" if more else node.name
            yield Knob("cluster", f"nodes like {like}", "0 more", max(first, 16), turn, Rank.NODES,
                       max(first, 1), lambda after, like=like: (
                           f"{after[:-5]} more node{'s' if after != '1 more' else ''} like {like}"))

    def _with_nodes(self, like: Node, devices: dict[str, str], count: int) -> Turned:
        return f"{count} more", with_more_nodes(self.objects, like, count, devices), self.conf

    def uncordoned(self, names: Iterable[str]) -> Iterator[Knob]:
        for name, node in self.nodes_called(names).items():
            if node.spec.unschedulable:
                spec = attrs.evolve(node.spec, unschedulable=False, taints=[
                    taint for taint in node.spec.taints if taint.key != UNSCHEDULABLE])
                yield self._once(f"node {name}", self.nodes_there[name], "spec", spec,
                                 f"uncordon {name}", rank=Rank.SWITCH)

    def working(self, names: Iterable[str]) -> Iterator[Knob]:
        """That a node is again in the state of which Kubernetes' taints say that it is not."""
        for name, node in self.nodes_called(names).items():
            broken = [t for t in node.spec.taints
                      if KUBERNETES.match(t.key) and t.key != UNSCHEDULABLE]
            if broken:
                kept = [t for t in node.spec.taints if t not in broken]
                text = listed(dict.fromkeys(t.key for t in broken))
                yield self._once(f"node {name}", self.nodes_there[name], "spec.taints", kept,
                                 f"repair node {name}, so that its taint {text} goes")

    def node_groups(self, queue: str, names: Iterable[str]) -> Iterator[Knob]:
        """That a node be in a group that a queue requires."""
        affinities = (self.objects[self.queues[name]].spec.affinity for name in self.line(queue))
        affinity = next(filter(None, affinities), None)
        wanted = affinity and affinity.node_group_affinity
        groups = wanted.required_during_scheduling_ignored_during_execution if wanted else []
        there = self.nodes_called(names) if groups else {}
        free = {name: node for name, node in there.items()
                if NODE_GROUP_LABEL not in node.metadata.labels}
        for name, node in (free or there).items():
            labels = node.metadata.labels | {NODE_GROUP_LABEL: groups[0]}
            yield self._once(f"node {name}", self.nodes_there[name], "metadata.labels", labels,
                             f"label {name} {NODE_GROUP_LABEL}={groups[0]}",
                             rank=Rank.QUEUE if free else Rank.OTHERS)

    def quota(self, namespace: str, name: str,
              wanted: dict[str, list[str]]) -> Iterator[Knob]:
        """A ResourceQuota that is raised to what these amounts are in sum."""
        for place, obj in enumerate(self.objects):
            if isinstance(obj, ResourceQuota) and (obj.namespace, obj.name) == (namespace, name):
                hard = obj.status.hard
                more = hard | {each: quantity.to_text(
                    sum(map(quantity.parse, parts)), quantity.style_of(hard.get(each, "0")))
                    for each, parts in wanted.items()}
                yield self._once(f"ResourceQuota {obj.key}", place, "status.hard", more,
                                 text=lambda amounts: ", ".join(
                                     f"{each} {amounts.get(each, '0')}" for each in wanted))

    # -- the configuration ------------------------------------------------------------------------

    def _conf(self, field: str, before: str, change: Callable[[SchedulerConfiguration], str],
              said: str) -> Knob:
        def turn(_: int) -> Turned:
            conf = deepcopy(self.conf)
            return change(conf), self.objects, conf

        return Knob("configuration", field, before, 1, turn, Rank.SWITCH, said=lambda _: said)

    def without_action(self, name: str) -> Iterator[Knob]:
        def change(conf: SchedulerConfiguration) -> str:
            conf.actions = [action for action in conf.actions if action != name]
            return ", ".join(conf.actions)

        if name in self.conf.actions and len(self.conf.actions) > 1:
            yield self._conf("actions", ", ".join(self.conf.actions), change,
                             f"actions without {name}")

    def with_action(self, name: str) -> Iterator[Knob]:
        """One more action as Volcano's documents have it: enqueue first, others after allocate."""
        def change(conf: SchedulerConfiguration) -> str:
            place = 0 if name == "enqueue" else conf.actions.index("allocate") + 1 if (
                "allocate" in conf.actions) else len(conf.actions)
            conf.actions.insert(place, name)
            return ", ".join(conf.actions)

        if name not in self.conf.actions:
            yield self._conf("actions", ", ".join(self.conf.actions), change,
                             f"actions with {name}")

    def ignoring(self, driver: str) -> Iterator[Knob]:
        """Volumes of a driver that are not counted."""
        def change(conf: SchedulerConfiguration) -> str:
            conf.ignored_provisioners = [*conf.ignored_provisioners, driver]
            return ", ".join(conf.ignored_provisioners)

        yield self._conf("ignored-provisioners", ", ".join(self.conf.ignored_provisioners), change,
                         f"the scheduler's flag --ignored-provisioners={driver}")

    def with_plugin(self, name: str) -> Iterator[Knob]:
        """A plugin at the head of the first tier, where it is in none or a later one."""
        def change(conf: SchedulerConfiguration) -> str:
            there = [(tier, option) for tier in conf.tiers for option in tier.plugins
                     if option.name == name]
            for tier, option in there:
                tier.plugins.remove(option)
            conf.tiers[0].plugins.insert(0, there[0][1] if there else PluginOption(name))
            return name

        if self.conf.tiers and all(option.name != name for option in self.conf.tiers[0].plugins):
            yield self._conf("plugins", "", change, f"plugin {name} in the first tier")

    def switch(self, plugin: str, switch: str, value: bool) -> Iterator[Knob]:
        """A switch of a plugin, where the configuration has the plugin and the switch otherwise."""
        for number, tier in enumerate(self.conf.tiers):
            for place, option in enumerate(tier.plugins):
                if option.name == plugin and bool(option.enables(switch)) != value:
                    def change(conf: SchedulerConfiguration, number=number, place=place) -> str:
                        conf.tiers[number].plugins[place].switches[switch] = value
                        return str(value).lower()

                    yield self._conf(f"{switch} of {plugin}", str(not value).lower(), change,
                                     f"{switch}: {str(value).lower()} for {plugin}")

    def overcommit_factor(self, wanted: float) -> Iterator[Knob]:
        """The factor, to about what it takes."""
        for number, tier in enumerate(self.conf.tiers):
            for place, option in enumerate(tier.plugins):
                if option.name == "overcommit":
                    factor = max(option.arguments.get_float("overcommit-factor", 1.2), 1.0)
                    turn = partial(self._with_factor, (number, place), factor)
                    first = max(ceil(round((wanted - factor) * 10, 6)), 1)
                    yield Knob("configuration", "overcommit-factor", f"{factor:g}", max(200, first),
                               turn, Rank.QUEUE, first)

    def _with_factor(self, at: tuple[int, int], before: float, step: int) -> Turned:
        conf, factor = deepcopy(self.conf), before + step / 10
        conf.tiers[at[0]].plugins[at[1]].arguments["overcommit-factor"] = round(factor, 6)
        return f"{factor:g}", self.objects, conf
