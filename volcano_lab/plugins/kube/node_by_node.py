"""A rule that is asked node by node, as no array holds what it looks at."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from volcano_lab.api.fit_error import Status

if TYPE_CHECKING:
    from .node_pods import KubeNode, KubeNodes


class NodeByNode:
    """A rule about an incoming pod that is asked node by node: `refusal(node)` says why the pod
    can't be there, or None.
    """

    def __init__(self, kube: KubeNodes, refusal: Callable[[KubeNode], Status | None]):
        self.kube, self.refusal = kube, refusal

    def nodes(self) -> np.ndarray:
        """`refusal` for all nodes at once: True where there is none."""
        return np.fromiter((self.refusal(node) is None for node in self.kube.nodes), bool)
