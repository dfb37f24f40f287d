"""network-topology-aware: which HyperNodes to try for a job or a sub-job, the closest ones first.

Volcano: pkg/scheduler/plugins/network-topology-aware/network_topology_aware.go
(hyperNodeGradientFn)
"""

from collections.abc import Callable

from volcano_lab.api.hyper_node import HyperNodeInfo, HyperNodeMap

Gradients = list[list[HyperNodeInfo]]
"""HyperNodes by tier, the lowest tier first; each of a tier is tried, and the next tier only if
none fits.
"""


class NoSearchRoot(ValueError):
    """No HyperNode is allowed by both the caller and the topology."""


def gradients(tree: HyperNodeMap, within: HyperNodeInfo, highest: int, allocated: str,
              fits: Callable[[str], bool]) -> Gradients:
    """Return the HyperNodes at or below `within`, up to tier `highest`, that may hold a gang.

    With tasks in `allocated` they must include it; otherwise those where `fits` is false are
    excluded. Raises `NoSearchRoot`.

    >>> tiers = {"s0": 1, "s1": 1, "top": 2}
    >>> tree = HyperNodeMap({n: HyperNodeInfo.named(n, tier) for n, tier in tiers.items()})
    >>> tree["s0"].parent = tree["s1"].parent = "top"
    >>> tree["top"].children = {"s0", "s1"}
    >>> found = gradients(tree, tree["top"], 2, "", lambda name: name != "s0")
    >>> [[info.name for info in tier] for tier in found]
    [['s1'], ['top']]
    """
    root = search_root(tree, within, highest, allocated)
    by_tier: dict[int, list[HyperNodeInfo]] = {}
    queue, seen = [root], {root.name}
    for info in queue:  # extended while iterated: level by level
        if info.tier <= highest and (allocated or fits(info.name)):
            by_tier.setdefault(info.tier, []).append(info)
        for child in sorted(info.children - seen):
            seen.add(child)
            if child in tree:  # a deleted one may still be listed in the HyperNode above it
                queue.append(tree[child])
    return [infos for _, infos in sorted(by_tier.items())]


def search_root(tree: HyperNodeMap, within: HyperNodeInfo, highest: int,
                allocated: str) -> HyperNodeInfo:
    """Return `within` or, if that is smaller, the largest HyperNode around `allocated` that the
    tier allows.

    Raises `NoSearchRoot` where the two do not overlap.
    """
    if not allocated:
        return within
    largest = largest_allowed(tree, highest, allocated)
    common = tree.lowest_common_ancestor(within.name, largest)
    if common == largest:
        return within
    if common == within.name:
        return tree[largest]
    raise NoSearchRoot(f'HyperNodes "{within.name}" and "{largest}" have nothing in common.')


def largest_allowed(tree: HyperNodeMap, highest: int, allocated: str) -> str:
    """Return the highest HyperNode above `allocated` whose tier is at most `highest`."""
    largest = ""
    for name in tree.ancestors(allocated):
        if name not in tree:
            raise NoSearchRoot(f'HyperNode "{name}", above "{allocated}", does not exist.')
        if tree[name].tier > highest:
            break
        largest = name
    if not largest:
        raise NoSearchRoot(
            f'the tier of HyperNode "{allocated}" is above {highest}, the highest that is allowed.')
    return largest
