"""The tree of hierarchical DRF: queues share at each level by weight and by dominant share.

A queue's path and weights are its annotations `volcano.sh/hierarchy` ("root/science/ml") and
`volcano.sh/hierarchy-weights` ("1/2/3"); jobs are leaves.

Volcano: pkg/scheduler/plugins/drf/drf.go (hierarchicalNode)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import define, evolve, field

from volcano_lab.api import EMPTY, JobInfo, QueueInfo, Resource, dominant_share


@define(slots=True, eq=False)
class HierarchicalNode:
    """A level of the tree or a job, which has no children.

    `share` and `allocated` of a level are summed over its children, with unsaturated ones scaled
    down to the lowest share among them; `saturated` means that nothing below can take more.
    """

    name: str
    weight: float = 1.0
    children: dict[str, HierarchicalNode] = field(factory=dict)
    is_job: bool = False
    request: Resource = EMPTY
    allocated: Resource = EMPTY
    share: float = 0.0
    dominant_resource: str = ""
    saturated: bool = False

    def clone(self) -> HierarchicalNode:
        """Return a copy with the same children, each of which is copied when it is changed."""
        return HierarchicalNode(self.name, self.weight, {**self.children}, self.is_job,
                                self.request, self.allocated, self.share, self.dominant_resource,
                                self.saturated)


class Hierarchy:
    """The tree. `total` is (name, amount) of the cluster's dimensions, `total_allocated` the sum
    over jobs. What `copy` returns can be updated by itself, as a node is copied before a change.
    """

    def __init__(self, total: Sequence[tuple[str, float]]):
        self.total = total
        self.total_allocated = EMPTY
        self.root = HierarchicalNode("root")
        self._demanding: set[str] = set()  # resources of which the cluster has some left

    def update(self, job: JobInfo, queue: QueueInfo, allocated: Resource) -> None:
        """Set a job's allocated resources, add it to its queue's level, and recompute the shares of
        the levels above it; of all where a resource of the cluster is used up, or no longer.
        """
        node = self.root = self.root.clone()
        path = [node]
        names, weights = queue.hierarchy.split("/"), queue.weights.split("/")
        for depth, name in enumerate(names[1:], 1):
            known = node.children.get(name)
            node.children[name] = node = known.clone() if known else HierarchicalNode(
                name, _weight(weights[depth]))
            path.append(node)
        leaf = node.children[job.uid] = HierarchicalNode(
            job.uid, is_job=True, request=job.total_request, allocated=allocated)
        leaf.dominant_resource, leaf.share = dominant_share(allocated, self.total)
        demanding = {name for name, amount in self.total if self.total_allocated.get(name) < amount}
        if demanding != self._demanding:
            self._demanding = demanding
            self.root = self._updated(self.root)
            return
        leaf.saturated = resource_saturated(allocated, job.total_request, demanding)
        for node in reversed(path):
            self._update_share(node)

    def _updated(self, node: HierarchicalNode) -> HierarchicalNode:
        """Return a copy of a level or a job, with all that is below it up to date."""
        node = evolve(node, children={
            name: self._updated(child) for name, child in node.children.items()})
        if node.is_job:
            node.saturated = resource_saturated(node.allocated, node.request, self._demanding)
        else:
            self._update_share(node)
        return node

    def _update_share(self, node: HierarchicalNode) -> None:
        """Compute what a level holds, its share, and whether it is saturated, from its children."""
        children = [child for _, child in sorted(node.children.items())]
        poorest = min([1.0, *[child.share for child in children
                              if child.share and not child.saturated]])
        cpu, memory, scalars = 0.0, 0.0, dict[str, float]()  # sums without a value for each child
        for child in children:
            if child.share != 0:
                held, ratio = child.allocated, 1.0 if child.saturated else poorest / child.share
                cpu, memory = cpu + held.milli_cpu * ratio, memory + held.memory * ratio
                for name, amount in held.scalars.items() if held.scalars else ():
                    scalars[name] = scalars.get(name, 0.0) + amount * ratio
        node.allocated = Resource(cpu, memory, scalars or None)
        node.dominant_resource, node.share = dominant_share(node.allocated, self.total)
        node.saturated = all(child.saturated for child in children)

    def levels(self, left: QueueInfo, right: QueueInfo
               ) -> Iterator[tuple[HierarchicalNode, HierarchicalNode]]:
        """Yield the levels of two queues, from the root down to the end of the shorter path."""
        mine = theirs = self.root
        yield mine, theirs
        paths = (queue.hierarchy.split("/")[1:] for queue in (left, right))
        for own, other in zip(*paths, strict=False):
            mine, theirs = mine.children[own], theirs.children[other]
            yield mine, theirs

    def compare(self, left: QueueInfo, right: QueueInfo) -> float:
        """Compare queues at the first level in which they differ: the unsaturated one is first,
        then the one with the lower share for its weight. Negative means the left one, 0 a tie.
        """
        for mine, theirs in self.levels(left, right):
            if mine.saturated != theirs.saturated:
                return 1.0 if mine.saturated else -1.0
            if difference := mine.share / mine.weight - theirs.share / theirs.weight:
                return difference
        return 0.0


def resource_saturated(allocated: Resource, request: Resource, demanding: set[str]) -> bool:
    """Return whether a job can take no more: it has all of a resource that it requests, or the
    cluster has none left of one.

    >>> [resource_saturated(Resource(cpu), Resource(2.0), {"cpu"}) for cpu in (2.0, 1.0)]
    [True, False]
    """
    for name in allocated.resource_names():
        asked = request.get(name)
        if asked != 0 and (allocated.get(name) >= asked or name not in demanding):
            return True
    return False


def _weight(text: str) -> float:
    """Return a weight of at least 1; text that is no number counts as 1."""
    try:
        return max(float(text), 1.0)
    except ValueError:
        return 1.0
