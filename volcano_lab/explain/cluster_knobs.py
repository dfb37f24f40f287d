"""What could be otherwise of the cluster and the configuration: more nodes like one, the overcommit
factor.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from functools import partial

import attrs

from volcano_lab.api.objects import HyperNode, KubernetesObject, Node
from volcano_lab.api.objects.volcano import ExactMatch, MemberSelector, MemberSpec
from volcano_lab.explain.knob import Knob, KnobSet, Objects, evolved
from volcano_lab.framework.config.conf import SchedulerConfiguration

HOSTNAME = "kubernetes.io/hostname"


class ClusterKnobs(KnobSet):
    """The knobs of nodes and of the configuration."""

    def nodes(self) -> Iterator[Knob]:
        """More nodes like one that is there; a knob for each kind of node."""
        known = set()
        for node in self.nodes_there:
            labels = {
                name: value for name, value in node.metadata.labels.items() if name != HOSTNAME
            }
            kind = repr(
                (sorted(node.status.allocatable.items()), node.spec, sorted(labels.items())))
            if kind not in known:
                known.add(kind)
                yield Knob("cluster", f"nodes like {node.name}", "0 more", 16,
                           partial(self._with_nodes, node))

    def _with_nodes(self, like: Node, count: int) -> tuple[str, Objects, SchedulerConfiguration]:
        names = [f"{like.name}-more-{number}" for number in range(count)]
        metas = [attrs.evolve(like.metadata, name=name, uid=f"{like.metadata.uid}-{name}",
                              labels=like.metadata.labels | {HOSTNAME: name}) for name in names]
        copies = [attrs.evolve(like, metadata=meta) for meta in metas]
        objects = [_with_members(obj, like.name, names) for obj in self.objects]
        last = max(place for place, obj in enumerate(objects) if isinstance(obj, Node))
        return f"{count} more", [*objects[: last + 1], *copies, *objects[last + 1 :]], self.conf

    def overcommit_factor(self) -> Iterator[Knob]:
        for number, tier in enumerate(self.conf.tiers):
            for place, option in enumerate(tier.plugins):
                if option.name == "overcommit":
                    factor = max(option.arguments.get_float("overcommit-factor", 1.2), 1.0)
                    turn = partial(self._with_factor, (number, place), factor)
                    yield Knob("configuration", "overcommit-factor", f"{factor:g}", 200, turn)

    def _with_factor(self, at: tuple[int, int], before: float,
                     step: int) -> tuple[str, Objects, SchedulerConfiguration]:
        conf, factor = deepcopy(self.conf), before + step / 10
        conf.tiers[at[0]].plugins[at[1]].arguments["overcommit-factor"] = round(factor, 6)
        return f"{factor:g}", self.objects, conf


def _with_members(obj: KubernetesObject, like: str, names: list[str]) -> KubernetesObject:
    """A HyperNode that names a node also gets the nodes that are like it."""
    if not isinstance(obj, HyperNode):
        return obj
    named = [
        m for m in obj.spec.members
        if m.type == "Node" and m.selector.exact_match and m.selector.exact_match.name == like
    ]
    if not named:
        return obj
    more = [MemberSpec("Node", MemberSelector(exact_match=ExactMatch(name))) for name in names]
    return evolved(obj, "spec.members", [*obj.spec.members, *more])
