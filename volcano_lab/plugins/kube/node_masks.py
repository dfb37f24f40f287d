"""For which nodes a pod's node selector, node affinity and tolerations speak: all nodes at once.

Nodes keep their labels and taints for a whole session, so each distinct wish is worked out once.
"""

import numpy as np

from . import taints
from .node_affinity import ANY_NODE
from .node_pods import KubeNodes
from .pod_info import PodInfo


def matching_nodes(kube: KubeNodes, info: PodInfo) -> np.ndarray:
    """True where the pod's node selector and required node affinity hold."""
    wish = info.required_nodes
    if wish is ANY_NODE:
        return kube.remember("every node", lambda: np.ones(len(kube.nodes), bool))
    return kube.remember(("node affinity", wish),
                         lambda: _mask(kube, lambda node: wish.matches(node)))


def tolerated_nodes(kube: KubeNodes, info: PodInfo) -> np.ndarray:
    """True where the pod tolerates every taint that keeps pods off."""
    tolerations = info.pod.spec.tolerations
    return kube.remember(
        ("taints", info.tolerations),
        lambda: _mask(kube,
                      lambda node: taints.first_untolerated(node.spec.taints, tolerations) is None))


def untolerated_preferences(kube: KubeNodes, info: PodInfo) -> np.ndarray | None:
    """How many `PreferNoSchedule` taints of each node the pod doesn't tolerate; None where it is 0
    for all.
    """
    def count() -> tuple[np.ndarray | None]:
        counts = [taints.untolerated_preferences(node.node.spec.taints, info.pod.spec.tolerations)
                  for node in kube.nodes]
        return (np.array(counts, np.int64) if any(counts) else None,)

    return kube.remember(("preferences", info.tolerations), count)[0]


def _mask(kube: KubeNodes, holds) -> np.ndarray:
    return np.fromiter((holds(node.node) for node in kube.nodes), bool, len(kube.nodes))
