"""Counts of pods by topology value, updated with every added or removed pod.

Kubernetes recounts all pods of the cluster for each pod to be placed. Here a count keeps its
version of `KubeNodes.changes` and continues from there; pods with equal keys share one count. A
test compares the counts with a recount.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import chain
from typing import Generic, TypeVar

import numpy as np

from volcano_lab.api.selector import Selector

from .node_pods import KubeNodes
from .pod_changes import PodChanges
from .pod_info import AffinityTerm, PodInfo

T = TypeVar("T")
Rows = int | np.ndarray


class PairCounts:
    """A number for each (label, value) of nodes; 0 where nothing was counted.

    >>> from volcano_lab.api import NodeInfo
    >>> from volcano_lab.api.node_table import NodeTable
    >>> from volcano_lab.api.objects import Node, ObjectMeta
    >>> table, there = NodeTable(), Node(ObjectMeta("n1", labels={"zone": "a"}))
    >>> kube = KubeNodes([NodeInfo("n1", table, there),
    ...                   NodeInfo("n2", table, Node(ObjectMeta("n2")))], {})
    >>> counts = PairCounts(kube)
    >>> counts.add("zone", 0, 2)
    >>> counts.nodes("zone").tolist()
    [2, 0]
    """

    __slots__ = ("counts", "kube")

    def __init__(self, kube: KubeNodes):
        self.kube = kube
        self.counts: dict[str, np.ndarray] = {}

    def add(self, key: str, row: Rows, amount: int) -> None:
        """Add `amount` for the value of label `key` on the node in `row`, or on each of several;
        nothing without the label.
        """
        topology = self.kube.topology(key)
        codes = topology.codes[row]
        if isinstance(row, np.ndarray):
            codes = codes[codes >= 0]
        elif codes < 0:
            return
        counts = self.counts.get(key)
        if counts is None:
            # one more entry than values: code -1 of nodes without the label finds 0 there
            counts = self.counts[key] = np.zeros(len(topology.code_of) + 1, np.int64)
        np.add.at(counts, codes, amount)

    def nodes(self, key: str) -> np.ndarray:
        """Return the number for each node's value; 0 where it lacks the label."""
        if key not in self.counts:
            return np.zeros(len(self.kube.nodes), np.int64)
        found: np.ndarray = self.counts[key][self.kube.topology(key).codes]
        return found

    def is_zero(self) -> bool:
        return not any(map(np.count_nonzero, self.counts.values()))

    def copy(self) -> "PairCounts":
        copy = PairCounts(self.kube)
        copy.counts = {key: counts.copy() for key, counts in self.counts.items()}
        return copy


class Follower(Generic[T]):
    """Counts of the pods on the nodes that are kept up to date: `count(counts, row, pod, +1 or -1)`
    is called once for each change, and with several rows for the pods of a kind at the start.

    `selectors` are those that `count` applies to the labels of these pods.
    """

    def __init__(self, changes: PodChanges, counts: T, count: Callable[..., None],
                 selectors: Iterable[Selector]):
        self.changes, self.counts, self.count, self.seen = changes, counts, count, changes.first
        labels = frozenset(chain.from_iterable(selector.keys() for selector in selectors))
        for rows, info in changes.kinds(labels):
            count(counts, rows, info, 1)

    def current(self) -> T:
        """Return the current counts; copy them to keep them."""
        for row, info, sign in self.changes.since(self.seen):
            self.count(self.counts, row, info, sign)
        self.seen = self.changes.last
        return self.counts


def pair_counts(kube: KubeNodes, key: Hashable, count: Callable[..., None],
                terms: Sequence[AffinityTerm] = (), only_affinity: bool = False) -> PairCounts:
    """Return the current counts by label and value, updated per pod by `count`; equal keys share
    them.

    `terms` are those that it applies to the pods on the nodes. `only_affinity`: pods without
    affinity add nothing and are skipped.
    """
    changes = kube.affinity_changes if only_affinity else kube.changes
    return kube.remember(key, lambda: Follower(
        changes, PairCounts(kube), count, [term.selector for term in terms])).current()


def matching_pods(kube: KubeNodes, selector: Selector, namespace: str) -> np.ndarray:
    """Return how many pods of a namespace match on each node, without those being deleted; an empty
    selector matches none, as in Kubernetes.

    >>> matching_pods(KubeNodes([], {}), Selector(), "default").tolist()
    []
    """
    if selector.is_empty():
        return np.zeros(len(kube.nodes), np.int64)

    def count(pods: np.ndarray, row: Rows, info: PodInfo, sign: int) -> None:
        if (info.namespace == namespace and info.pod.metadata.deletion_timestamp is None
                and selector.matches(info.labels)):
            np.add.at(pods, row, sign)

    return kube.remember(("matching pods", selector, namespace), lambda: Follower(
        kube.changes, np.zeros(len(kube.nodes), np.int64), count, [selector])).current()
