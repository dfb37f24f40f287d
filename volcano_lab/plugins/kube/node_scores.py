"""The scores by how full a node would be, weighted; nodes in the same state share them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .node_pods import KubeNodes
from .resources import (
    CPU,
    MEMORY,
    PodRequests,
    balanced_allocation,
    least_allocated,
    most_allocated,
)

BALANCED = (CPU, MEMORY, "nvidia.com/gpu")
"""The resources that balanced allocation weighs, in Volcano's order."""


class ResourceScores:
    """What pods with equal requests are worth on a node, by how full it would be.

    `least`, `most` and `balanced` are the weights of the three scores of `resources`.
    """

    def __init__(self, kube: KubeNodes, requests: PodRequests, least: int, most: int,
                 balanced: int):
        self.kube, self.least, self.most, self.balanced = kube, least, most, balanced
        self.non_zero, asked = requests.asked_non_zero, dict(requests.asked)
        self.asked = [(kube.columns[name], asked.get(name, 0)) for name in BALANCED
                      if name in kube.columns and (name in (CPU, MEMORY) or asked.get(name))]
        self.weighs_balance = bool(balanced) and any(asked.get(name) for name in BALANCED)
        self.known: dict[tuple[int, bytes], float] = {}
        """Score by what a node offers and what is taken of it: nodes fill up alike."""

    def at(self, row: int) -> float:
        """The score of the node in `row`, as it is now."""
        state = self.kube.sizes[row], self.kube.taken[row].tobytes()
        score = self.known.get(state)
        if score is None:
            score = self.known[state] = self._score(self.kube.taken[row].tolist(),
                                                    self.kube.allocatable[row].tolist())
        return score

    def of(self, rows: np.ndarray) -> np.ndarray:
        """`at` of several rows."""
        return np.zeros(len(rows)) + self._score(self.kube.taken[rows].T,
                                                 self.kube.allocatable[rows].T)

    def _score(self, taken: Sequence[Any], offered: Sequence[Any]) -> Any:
        total = 0.0
        if self.least or self.most:
            requested = [have + want for have, want in zip(taken[-2:], self.non_zero, strict=True)]
            total = total + self.least * least_allocated(requested, offered[:2])
            total = total + self.most * most_allocated(requested, offered[:2])
        if self.weighs_balance:
            requested = [taken[column] + want for column, want in self.asked]
            total = total + self.balanced * balanced_allocation(
                requested, [offered[column] for column, _ in self.asked])
        return total
