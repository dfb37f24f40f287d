"""The tree of HyperNodes, updated as HyperNodes and nodes are added, changed and deleted, in any
order.

Differs on purpose: what Volcano's work queue retries with growing delays is retried before the next
snapshot.

Volcano: pkg/scheduler/api/hyper_node_info.go (HyperNodesInfo),
pkg/scheduler/cache/event_handlers.go (SyncHyperNode)
"""

from collections.abc import Mapping

from volcano_lab.api import HyperNodeInfo
from volcano_lab.api.hyper_node import HyperNodeMap, HyperNodesView, matches_any, member_nodes
from volcano_lab.api.objects import HyperNode
from volcano_lab.messages import OneSentence, log


class HyperNodeError(OneSentence, ValueError):
    """The HyperNodes form no tree: one is below itself, or below two others."""


class HyperNodes:
    """HyperNodes, their relations and the nodes below each.

    `failed` has the error of each HyperNode that does not fit into the tree; while there is any,
    `ready` is false.

    >>> from volcano_lab.api.objects import (
    ...     ExactMatch, HyperNodeSpec, MemberSelector, MemberSpec, ObjectMeta)
    >>> def hyper_node(name, tier, kind, *members):
    ...     specs = [MemberSpec(kind, MemberSelector(ExactMatch(member))) for member in members]
    ...     return HyperNode(ObjectMeta(name), HyperNodeSpec(tier, members=specs))
    >>> tree = HyperNodes()
    >>> tree.add(hyper_node("spine", 2, "HyperNode", "leaf"))
    >>> tree.add(hyper_node("leaf", 1, "Node", "n1", "n2"))
    >>> view = tree.snapshot()
    >>> sorted(view.real_nodes_set["spine"]), view.hyper_nodes["leaf"].parent, view.ready
    (['n1', 'n2'], 'spine', True)
    """

    def __init__(self) -> None:
        self.infos = HyperNodeMap()
        self.real_nodes_set: dict[str, set[str]] = {}
        self.ready = True
        self.failed: dict[str, str] = {}
        self._objects: dict[str, HyperNode] = {}
        self._nodes: dict[str, Mapping[str, str]] = {}
        self._touched: set[str] = set()
        self._at_fault = ""

    # -- events ----------------------------------------------------------------------------------

    def add(self, hyper_node: HyperNode) -> None:
        """Add or update a HyperNode."""
        self._objects[hyper_node.name] = hyper_node
        self._sync(hyper_node.name)

    def delete(self, hyper_node: HyperNode) -> None:
        """Delete a HyperNode; the HyperNodes above it lose its nodes."""
        self._objects.pop(hyper_node.name, None)
        self._sync(hyper_node.name)

    def objects(self) -> list[HyperNode]:
        """Return the HyperNodes that have objects, in the order in which they were added."""
        return list(self._objects.values())

    def set_node(self, name: str, labels: Mapping[str, str]) -> None:
        """Add a node, or update its labels."""
        if self._nodes.get(name) != labels:
            self._nodes[name] = labels
            self._touched.add(name)

    def delete_node(self, name: str) -> None:
        if self._nodes.pop(name, None) is not None:
            self._touched.add(name)

    def snapshot(self) -> HyperNodesView:
        """Return a copy for a session, after placing changed nodes and retrying failures."""
        for name in self._matching(self._touched):
            self._sync(name)
        self._touched.clear()
        before = None
        while self.failed and before != list(self.failed):
            before = list(self.failed)
            for name in before:
                self._sync(name)
        by_tier: dict[int, set[str]] = {}
        for name, info in self.infos.items():
            if name in self._objects or info.is_deleting:  # others only occur as members
                by_tier.setdefault(info.tier, set()).add(name)
        real_nodes = {name: set(nodes) for name, nodes in sorted(self.real_nodes_set.items())}
        return HyperNodesView(self.infos.clone(), dict(sorted(by_tier.items())), real_nodes,
                              self.ready)

    def _matching(self, touched: set[str]) -> list[str]:
        """Return HyperNodes without HyperNode members that match a changed node, by pattern or
        labels.

        As in Volcano, one that matched only the node's old version keeps it until another event
        rebuilds it.
        """
        return [name for name, info in sorted(self.infos.items()) if touched
                and not any(member.type == "HyperNode" for member in info.hyper_node.spec.members)
                and any(matches_any(member.selector, touched, self._nodes)
                        for member in info.hyper_node.spec.members)]

    def _sync(self, name: str) -> None:
        """Update the tree for one HyperNode, or record why that fails."""
        self.failed.pop(name, None)
        try:
            if name in self._objects:
                self._put(self._objects[name])
            elif name in self.infos:
                self._remove(name)
        except HyperNodeError as error:
            log.error("%s", error)
            self.failed[name] = str(error)

    def _put(self, hyper_node: HyperNode) -> None:
        name, info = hyper_node.name, self.infos.get(hyper_node.name)
        if info is None:
            info = self.infos[name] = HyperNodeInfo.of(hyper_node)
        else:
            members = set(info.child_names())
            info.hyper_node, info.is_deleting = hyper_node, False
            info.tier, info.tier_name = hyper_node.spec.tier, hyper_node.spec.tier_name
            for child in members.difference(info.child_names()):
                self._orphan(child)
        self._update_ancestors(name)

    def _remove(self, name: str) -> None:
        info = self.infos[name]
        info.is_deleting = True
        self._update_ancestors(name)
        for child in info.child_names():
            self._orphan(child)
        del self.infos[name]

    # -- building --------------------------------------------------------------------------------

    def _update_ancestors(self, name: str) -> None:
        try:
            self._rebuild(name)
        except HyperNodeError:
            self.ready = False
            raise
        if self._at_fault == name:  # others may have been skipped while this could not be built
            for leaf in sorted(self._leaves(name, set())):
                self._rebuild(leaf)
        self._at_fault = ""
        self.ready = True

    def _rebuild(self, name: str) -> None:
        """Clear a HyperNode and all above it, and rebuild them from their members."""
        ancestors = self.infos.ancestors(name)
        for ancestor in ancestors:
            self.real_nodes_set.pop(ancestor, None)
            self._orphan(ancestor)
            if ancestor in self.infos:
                self.infos[ancestor].children.clear()
        built: set[str] = set()
        for ancestor in ancestors:
            if ancestor in self.infos:
                self._build(self.infos[ancestor], frozenset(ancestors), built, ())

    def _build(self, info: HyperNodeInfo, wanted: frozenset[str], built: set[str],
               above: tuple[str, ...]) -> None:
        """Collect the nodes below a HyperNode; of its descendants only the `wanted` ones are
        rebuilt.
        """
        name = info.name
        if name in above:
            raise HyperNodeError("hyper_node.itself", name=name, path=" > ".join((*above, name)))
        if name in built or name not in wanted or info.is_deleting:
            return
        for member in info.hyper_node.spec.members:
            if member.type == "Node":
                self.real_nodes_set.setdefault(name, set()).update(
                    member_nodes(member.selector, self._nodes))
            elif (member.type == "HyperNode" and member.selector.exact_match is not None
                  and member.selector.exact_match.name):
                child = self._add_child(info, member.selector.exact_match.name)
                self._build(child, wanted, built, (*above, name))
                self.real_nodes_set.setdefault(name, set()).update(
                    self.real_nodes_set.get(child.name, ()))
        built.add(name)

    def _add_child(self, parent: HyperNodeInfo, name: str) -> HyperNodeInfo:
        child = self.infos.get(name)
        if child is None:
            child = self.infos[name] = HyperNodeInfo.named(name)
        if child.parent not in ("", parent.name):
            self._at_fault = parent.name
            raise HyperNodeError("hyper_node.twice", name=name, parent=parent.name,
                                 other=child.parent)
        child.parent = parent.name
        parent.children.add(name)
        return child

    def _leaves(self, name: str, above: set[str]) -> set[str]:
        """Return the HyperNodes without HyperNode members below one, or itself."""
        if name in above or name not in self.infos:
            return set()
        children = self.infos[name].child_names()
        return {leaf for child in children
                for leaf in self._leaves(child, above | {name})} if children else {name}

    def _orphan(self, name: str) -> None:
        if name in self.infos:
            self.infos[name].parent = ""
