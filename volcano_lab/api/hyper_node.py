"""HyperNodes: parts of the network whose nodes are close to each other, in tiers, as a tree.

`cache/hyper_nodes.py` builds the tree, event by event. The lower the tier, the closer the nodes.

Volcano: pkg/scheduler/api/hyper_node_info.go (HyperNodeInfo, HyperNodeInfoMap, GetMembers)
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

from attrs import Factory, define, evolve

from volcano_lab.api.go_pattern import compile_pattern
from volcano_lab.api.objects import HyperNode, HyperNodeSpec, MemberSelector, ObjectMeta
from volcano_lab.api.selector import Selector, label_selector

logger = logging.getLogger("volcano_lab")


@define(slots=True)
class HyperNodeInfo:
    """A HyperNode in the tree: its tier and that tier's name, `parent` ("" for a root) and the
    names of its `children`.

    A member of other HyperNodes without an object of its own is in the tree as well, in tier 0 and
    empty.
    """

    name: str
    hyper_node: HyperNode
    tier: int
    tier_name: str = ""
    parent: str = ""
    children: set[str] = Factory(set)
    is_deleting: bool = False

    @classmethod
    def of(cls, hyper_node: HyperNode) -> HyperNodeInfo:
        return cls(hyper_node.name, hyper_node, hyper_node.spec.tier, hyper_node.spec.tier_name)

    @classmethod
    def named(cls, name: str, tier: int = 0) -> HyperNodeInfo:
        """Return a HyperNode without an object."""
        return cls.of(HyperNode(ObjectMeta(name), HyperNodeSpec(tier)))

    def clone(self) -> HyperNodeInfo:
        return evolve(self, children=set(self.children))

    def child_names(self) -> list[str]:
        """Return the HyperNodes that its object lists as members, by exact names only."""
        return [member.selector.exact_match.name for member in self.hyper_node.spec.members
                if member.type == "HyperNode" and member.selector.exact_match is not None]


class HyperNodeMap(dict[str, HyperNodeInfo]):
    """HyperNodes by name, and their relations.

    >>> tiers = {"s0": 1, "s1": 1, "top": 2}
    >>> tree = HyperNodeMap({n: HyperNodeInfo.named(n, tier) for n, tier in tiers.items()})
    >>> tree["s0"].parent = tree["s1"].parent = "top"
    >>> tree.ancestors("s0")
    ['s0', 'top']
    >>> tree.lowest_common_ancestor("s0", "s1"), tree.lowest_common_ancestor("", "s1")
    ('top', 's1')
    """

    _parents: dict[str, str] | None = None

    def freeze(self) -> None:
        """Cache each HyperNode's parent: the tree no longer changes."""
        self._parents = {name: self.parent(name) for name in self}

    def parent(self, name: str) -> str:
        """Return the HyperNode above one, "" for a root; objects' members override the tree."""
        if self._parents is not None and name in self._parents:
            return self._parents[name]
        info = self.get(name)
        if info is not None and info.parent:
            return info.parent
        tier = -1 if info is None else info.tier
        return min((other for other, info in self.items()
                    if info.tier > tier and name in info.child_names()), default="")

    def ancestors(self, name: str) -> list[str]:
        """Return a HyperNode and its ancestors, lowest first; stops before a repeated name."""
        found = [name]
        while (parent := self.parent(found[-1])) and parent not in found:
            found.append(parent)
        return found

    def lowest_common_ancestor(self, left: str, right: str) -> str:
        """Return the lowest HyperNode that holds both; of "" and a name, the name; "" for none."""
        if not left or not right:
            return left or right
        above = set(self.ancestors(left))
        return next((name for name in self.ancestors(right) if name in above), "")

    def tier_by_name(self) -> dict[str, int]:
        """Return tier name -> tier; where HyperNodes disagree, the last one by name applies."""
        return {info.tier_name: info.tier for _, info in sorted(self.items()) if info.tier_name}

    def clone(self) -> HyperNodeMap:
        return HyperNodeMap((name, info.clone()) for name, info in sorted(self.items()))


@define(slots=True)
class HyperNodesView:
    """A session's view of the HyperNodes: the tree, names by tier, and names of the nodes below
    each.

    `ready` is false while the tree cannot be built from the objects; jobs with a topology then
    wait.
    """

    hyper_nodes: HyperNodeMap = Factory(HyperNodeMap)
    set_by_tier: dict[int, set[str]] = Factory(dict)
    real_nodes_set: dict[str, set[str]] = Factory(dict)
    ready: bool = True


def member_nodes(members: MemberSelector, nodes: Mapping[str, Mapping[str, str]]) -> set[str]:
    """Return the names of the nodes that a member selector matches; `nodes` maps the cluster's
    nodes to their labels.

    A node that is named exactly is a member even before it exists. An empty label selector matches
    none.

    >>> from volcano_lab.api.objects import ExactMatch, RegexMatch
    >>> nodes = {"n1": {}, "n2": {}, "m1": {}}
    >>> sorted(member_nodes(MemberSelector(regex_match=RegexMatch("^n")), nodes))
    ['n1', 'n2']
    >>> member_nodes(MemberSelector(exact_match=ExactMatch("x")), nodes)
    {'x'}
    """
    exact, by_name, chosen = members.exact_match, _by_pattern(members, nodes), _labels_of(members)
    if (exact and not exact.name) or by_name is None:
        return set()
    found = {exact.name, *by_name} if exact else {*by_name}
    if chosen is not None:
        found.update(name for name, labels in nodes.items() if chosen.matches(labels))
    return found


def matches_any(members: MemberSelector, names: Iterable[str],
                nodes: Mapping[str, Mapping[str, str]]) -> bool:
    """Return whether any node matches: by name with a pattern, else by labels with a label
    selector.
    """
    if members.regex_match is not None:
        return bool(_by_pattern(members, names))
    chosen = _labels_of(members)
    return chosen is not None and any(chosen.matches(nodes[name]) for name in names
                                      if name in nodes)


def _by_pattern(members: MemberSelector, names: Iterable[str]) -> list[str] | None:
    """Return the names that match the selector's pattern, `None` for a pattern that is invalid or
    too slow.
    """
    if members.regex_match is None:
        return []
    try:
        pattern = compile_pattern(members.regex_match.pattern)
        return [name for name in names if pattern.search(name)]
    except ValueError as error:
        logger.error("%s; as regexMatch.pattern of a HyperNode it matches no node.", error)
        return None


def _labels_of(members: MemberSelector) -> Selector | None:
    chosen = label_selector(members.label_match)
    return chosen if chosen.requirements and chosen.is_valid() else None
