"""The scores by how full a node would be, weighted; nodes in the same state share them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from volcano_lab.api.node_table import RowFormula

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


def resource_scores(kube: KubeNodes, requests: PodRequests, least: int, most: int,
                    balanced: int) -> RowFormula:
    """What pods with equal requests are worth on a node, by how full it would be.

    `least`, `most` and `balanced` are the weights of the three scores of `resources`.
    """
    non_zero, asked = requests.asked_non_zero, dict(requests.asked)
    weighed = [(kube.columns[name], asked.get(name, 0)) for name in BALANCED
               if name in kube.columns and (name in (CPU, MEMORY) or asked.get(name))]
    weighs_balance = bool(balanced) and any(asked.get(name) for name in BALANCED)

    def score(taken: Sequence[Any], offered: Sequence[Any]) -> Any:
        total = 0.0
        if least or most:
            requested = [have + want for have, want in zip(taken[-2:], non_zero, strict=True)]
            if least:
                total = total + least * least_allocated(requested, offered[:2])
            if most:
                total = total + most * most_allocated(requested, offered[:2])
        if weighs_balance:
            requested = [taken[column] + want for column, want in weighed]
            total = total + balanced * balanced_allocation(
                requested, [offered[column] for column, _ in weighed])
        return total

    return RowFormula(lambda: (kube.taken, kube.allocatable), score)
