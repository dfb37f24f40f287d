"""Counts of pods by topology value, kept up with every pod that comes or goes.

Kubernetes counts all pods of the cluster anew for each pod that is to be placed. Here a count
remembers how far in `KubeNodes.changes` it has read, and reads on from there; equal questions of
many pods share one count. A test compares the counts with counting anew.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from volcano_lab.api.selector import Selector

from .node_pods import Change, KubeNodes
from .pod_info import PodInfo


class PairCounts:
    """A number for each (label, value) of nodes; 0 where nothing was counted.

    >>> from volcano_lab.api.objects import Node, ObjectMeta
    >>> kube = KubeNodes([(Node(ObjectMeta("n1", labels={"zone": "a"})), []),
    ...                   (Node(ObjectMeta("n2")), [])])
    >>> counts = PairCounts(kube)
    >>> counts.add("zone", 0, 2)
    >>> counts.nodes("zone").tolist()
    [2, 0]
    """

    __slots__ = ("counts", "kube", "touched")

    def __init__(self, kube: KubeNodes):
        self.kube = kube
        self.counts: dict[str, np.ndarray] = {}
        self.touched = False

    def add(self, key: str, row: int, amount: int) -> None:
        """Count `amount` for the value of label `key` that the node in `row` has; nothing where it
        has none.
        """
        topology = self.kube.topology(key)
        code = topology.codes[row]
        if code < 0:
            return
        counts = self.counts.get(key)
        if counts is None:
            # one place more than there are values: code -1 of nodes without the label finds 0 there
            counts = self.counts[key] = np.zeros(len(topology.index) + 1, np.int64)
        counts[code] += amount
        self.touched = True

    def nodes(self, key: str) -> np.ndarray:
        """The number for each node's value; 0 where it lacks the label."""
        if key not in self.counts:
            return np.zeros(len(self.kube.nodes), np.int64)
        return self.counts[key][self.kube.topology(key).codes]

    def is_zero(self) -> bool:
        return not (self.touched and any(map(np.count_nonzero, self.counts.values())))

    def copy(self) -> PairCounts:
        copy = PairCounts(self.kube)
        copy.counts = {key: counts.copy() for key, counts in self.counts.items()}
        copy.touched = self.touched
        return copy


class Follower:
    """Something worked out from the pods on the nodes: `see(row, pod, +1 or -1)` is told of every
    change once.
    """

    def __init__(self, changes: list[Change], see: Callable[[int, PodInfo, int], None]):
        self.changes, self.see, self.position = changes, see, 0

    def catch_up(self) -> None:
        changes = self.changes
        while self.position < len(changes):
            self.see(*changes[self.position])
            self.position += 1


class PairFollower(Follower):
    """`PairCounts` that are kept up; `count(counts, row, pod, sign)` says what one pod adds.

    `only_affinity`: pods that name no others add nothing, and are passed over.
    """

    def __init__(self, kube: KubeNodes, count: Callable[[PairCounts, int, PodInfo, int], None],
                 only_affinity: bool = False):
        self.counts = PairCounts(kube)
        changes = kube.affinity_changes if only_affinity else kube.changes
        super().__init__(changes, lambda row, info, sign: count(self.counts, row, info, sign))

    def current(self) -> PairCounts:
        """The counts as of now; copy them to keep them."""
        self.catch_up()
        return self.counts


class MatchingPods(Follower):
    """How many pods of one namespace match a selector on each node; pods that are being deleted
    don't count.
    """

    def __init__(self, kube: KubeNodes, selector: Selector, namespace: str):
        self.pods = np.zeros(len(kube.nodes), np.int64)
        self.selector, self.namespace = selector, namespace
        super().__init__(kube.changes, self._see)

    def _see(self, row: int, info: PodInfo, sign: int) -> None:
        if (info.namespace == self.namespace and info.pod.metadata.deletion_timestamp is None
            and self.selector.matches(info.labels)):
            self.pods[row] += sign


def matching_pods(kube: KubeNodes, selector: Selector, namespace: str) -> np.ndarray:
    """How many pods of a namespace match on each node; an empty selector counts none, as in
    Kubernetes.

    >>> matching_pods(KubeNodes([]), Selector(), "default").tolist()
    []
    """
    if selector.is_empty():
        return np.zeros(len(kube.nodes), np.int64)
    follower = kube.remember(("matching pods", selector, namespace),
                             lambda: MatchingPods(kube, selector, namespace))
    follower.catch_up()
    return follower.pods
