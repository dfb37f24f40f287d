"""HyperNodes in a few words, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from small_cluster import group, node, pod

from volcano_lab.api.objects import HyperNode, KubernetesObject
from volcano_lab.manifests import loader as manifests


def hyper_node(name: str, tier: int, *members: str, tier_name: str = "") -> HyperNode:
    """Members are "node:NAME", "regex:PATTERN", "label:KEY=VALUE" ("label:" has no
    labels) or the name of a HyperNode.
    """
    spec = {
        "tier": tier, "members": [_member(member) for member in members],
        **({"tierName": tier_name} if tier_name else {})
    }
    return manifests.from_dict({"apiVersion": "topology.volcano.sh/v1alpha1", "kind": "HyperNode",
                                "metadata": {"name": name, "uid": f"uid-{name}"}, "spec": spec})


def _member(text: str) -> dict[str, Any]:
    how, colon, what = text.partition(":")
    if how == "regex":
        return {"type": "Node", "selector": {"regexMatch": {"pattern": what}}}
    if how == "label":
        return {
            "type": "Node", "selector": {"labelMatch": {
                "matchLabels": dict([what.split("=")]) if what else {}}}
        }
    return {
        "type": "Node" if colon else "HyperNode", "selector":
        {"exactMatch": {"name": what or text}}
    }


def two_tiers(leaves: int = 2, nodes_a_leaf: int = 2, **allocatable: str) -> list[KubernetesObject]:
    """Nodes n0, n1, ... in leaves s0, s1, ... of tier 1 (named "leaf"), all below "top" of tier 2
    (named "spine").
    """
    nodes = [node(f"n{number}", **allocatable) for number in range(leaves * nodes_a_leaf)]
    names = [f"node:{each.name}" for each in nodes]
    below = [
        hyper_node(f"s{leaf}", 1, *names[leaf * nodes_a_leaf:(leaf + 1) * nodes_a_leaf],
                   tier_name="leaf") for leaf in range(leaves)
    ]
    return [*nodes, *below, hyper_node("top", 2, *(leaf.name for leaf in below), tier_name="spine")]


def gang(name: str, size: int, topology: dict | None = None, nodes: Sequence[str] = (),
         cpu: str = "1", **spec: Any) -> list[KubernetesObject]:
    """A gang of `size` pods named NAME-0, ..., the first of them running on `nodes`."""
    requests, more = {"cpu": cpu, "memory":
                      "1Gi"}, {"networkTopology": topology} if topology else {}
    places = [*nodes, *[""] * (size - len(nodes))]
    return [group(name, minMember=size, **more, **spec),
            *(pod(f"{name}-{i}", name, place, requests=requests) for i, place in enumerate(places))]
