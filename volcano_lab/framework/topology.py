"""The session's HyperNodes: which nodes lie together in the network. Answers to parts of `framework/session.go`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from volcano_lab.api.cluster_info import ClusterInfo
    from volcano_lab.framework.session import Session

CLUSTER_TOP = "<cluster-top-hypernode>"
"""The virtual HyperNode above all others: it holds every node."""


def attach(ssn: Session, snapshot: ClusterInfo) -> None:
    """Give the session its HyperNodes, with the virtual top above them."""
    ssn.real_nodes_list = {CLUSTER_TOP: ssn.node_list}
    ssn.real_nodes_set = {CLUSTER_TOP: set(ssn.nodes)}
    ssn.hyper_nodes = {}
    ssn.hyper_nodes_set_by_tier = {}
    ssn.hyper_nodes_tiers = []
    ssn.hyper_node_tier_name_map = {}
    ssn.hyper_nodes_ready = True


def lowest_hyper_node_of_node(ssn: Session, node: str) -> str:
    """The HyperNode of the lowest tier that holds a node, "" where none does."""
    if not ssn.hyper_nodes_tiers:
        return ""
    for name in sorted(ssn.hyper_nodes_set_by_tier[ssn.hyper_nodes_tiers[0]]):
        if node in ssn.real_nodes_set.get(name, ()):
            return name
    return ""
