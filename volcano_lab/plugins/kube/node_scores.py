"""The scores by how full a node would be, for all nodes at once and kept up to date row by row.

Gives exactly what `resources` gives for one node; a test compares them.
"""

from __future__ import annotations

import numpy as np

from . import resources
from .node_pods import KubeNodes
from .resources import CPU, MEMORY, PodRequests

BALANCED = (CPU, MEMORY, "nvidia.com/gpu")
"""The resources that balanced allocation weighs, in Volcano's order."""


def least_allocated(requested: np.ndarray, allocatable: np.ndarray) -> np.ndarray:
    """`resources.least_allocated` for rows of nodes.

    >>> least_allocated(np.array([[500, 10]]), np.array([[1000, 100]])).tolist()
    [70]
    """
    has = allocatable != 0
    free = np.where(requested > allocatable, 0, allocatable - requested)
    return _mean(free * 100 // np.where(has, allocatable, 1), has)


def most_allocated(requested: np.ndarray, allocatable: np.ndarray) -> np.ndarray:
    """`resources.most_allocated` for rows of nodes."""
    has = allocatable != 0
    return _mean(np.minimum(requested, allocatable) * 100 // np.where(has, allocatable, 1), has)


def balanced_allocation(requested: np.ndarray, allocatable: np.ndarray) -> np.ndarray:
    """`resources.balanced_allocation` for rows of nodes."""
    has = allocatable != 0
    parts = np.minimum(requested.astype(float) / np.where(has, allocatable, 1), 1.0)
    parts[~has] = 0.0
    count = has.sum(axis=1)
    total = np.zeros(len(parts))
    squares = np.zeros(len(parts))
    for column in range(
            parts.shape[1]):  # resource by resource: the order in which the parts are added matters
        total += parts[:, column]
    mean = total / np.maximum(count, 1)
    for column in range(parts.shape[1]):
        squares += np.where(has[:, column], (parts[:, column] - mean) ** 2, 0.0)
    deviation = np.where(count > 2, np.sqrt(squares / np.maximum(count, 1)), 0.0)
    two = count == 2
    if two.any():
        first, second = _pair(parts[two], has[two])
        deviation[two] = np.abs((first - second) / 2)
    return ((1 - deviation) * 100).astype(np.int64)


def _pair(parts: np.ndarray, has: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The two resources that each node has."""
    rows = np.arange(len(parts))
    return parts[rows, has.argmax(axis=1)], parts[rows,
                                                  parts.shape[1] - 1 - has[:, ::-1].argmax(axis=1)]


def _mean(scores: np.ndarray, has: np.ndarray) -> np.ndarray:
    return np.where(has, scores, 0).sum(axis=1) // np.maximum(has.sum(axis=1), 1)


FEW = 4
"""Up to so many rows, plain Python is faster than numpy; a placement changes one."""


class ResourceScores:
    """The weighted sum of the three scores for pods with one request, on every node.

    After `kube.changes` only the rows that changed are worked out anew. All scores are whole
    numbers, so the sum is the same in any order.
    """

    def __init__(self, kube: KubeNodes, requests: PodRequests, least: int, most: int,
                 balanced: int):
        self.kube, self.least, self.most, self.balanced = kube, least, most, balanced
        self.non_zero = np.array(requests.asked_non_zero, np.int64)
        asked = dict(requests.asked)
        # A node's scalar resource counts only for a pod that asks for it.
        names = [name for name in BALANCED
                 if name in kube.columns and (name in (CPU, MEMORY) or asked.get(name))]
        self.columns = [kube.columns[name] for name in names]
        self.asked = np.array([asked.get(name, 0) for name in names], np.int64)
        self.weighs_balance = bool(balanced) and any(asked.get(name) for name in BALANCED)
        self.known: dict[tuple[int, bytes], int] = {}
        """Score by what a node offers and what is taken of it: nodes fill up alike."""
        self.scores = np.zeros(len(kube.nodes))
        self.position = len(kube.changes)
        self._score(np.arange(len(kube.nodes)))

    def current(self) -> np.ndarray:
        """The scores as of now, a float for each node; not to be changed."""
        changes = self.kube.changes
        if self.position < len(changes):
            rows = {row for row, _, _ in changes[self.position :]}
            if len(rows) <= FEW:
                for row in rows:
                    state = self.kube.sizes[row], self.kube.taken[row].tobytes()
                    score = self.known.get(state)
                    if score is None:
                        score = self.known[state] = self._score_one(row)
                    self.scores[row] = score
            else:
                self._score(np.array(sorted(rows), np.int64))
            self.position = len(changes)
        return self.scores

    def _score_one(self, row: int) -> int:
        kube, total = self.kube, 0
        if self.least or self.most:
            requested = (kube.non_zero_requested[row] + self.non_zero).tolist()
            allocatable = kube.allocatable[row, :2].tolist()
            if self.least:
                total += resources.least_allocated(requested, allocatable) * self.least
            if self.most:
                total += resources.most_allocated(requested, allocatable) * self.most
        if self.weighs_balance:
            requested = (kube.requested[row, self.columns] + self.asked).tolist()
            total += resources.balanced_allocation(
                requested, kube.allocatable[row, self.columns].tolist()) * self.balanced
        return total

    def _score(self, rows: np.ndarray) -> None:
        kube = self.kube
        total = np.zeros(len(rows), np.int64)
        if self.least or self.most:
            requested, allocatable = kube.non_zero_requested[
                rows] + self.non_zero, kube.allocatable[rows, :2]
            if self.least:
                total += least_allocated(requested, allocatable) * self.least
            if self.most:
                total += most_allocated(requested, allocatable) * self.most
        if self.weighs_balance:
            at = np.ix_(rows, self.columns)
            total += balanced_allocation(kube.requested[at] + self.asked,
                                         kube.allocatable[at]) * self.balanced
        self.scores[rows] = total
