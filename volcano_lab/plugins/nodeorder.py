"""nodeorder: Kubernetes' own scores for the nodes that fit.

Each score is 0 to 100 (node affinity: the plain sum of weights) times its weight. Per node: its
utilization with the pod (least, most, balanced), preferred node affinity. Over all candidate nodes
together, as these scores are relative: preferred pod affinity, taints with `PreferNoSchedule`,
topology spread.

Differs on purpose: a preference that Kubernetes cannot parse (no API server accepts one) is
ignored, where Volcano aborts the node's score.

Volcano: pkg/scheduler/plugins/nodeorder
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

import volcano_lab.plugins.kube.resources as by_resource
from volcano_lab.api import CPU, MEMORY, NodeInfo, RowFormula, TaskInfo, node_affinity, taints
from volcano_lab.framework import ByRow, Plugin, Session
from volcano_lab.plugins.kube import inter_pod_affinity, topology_spread
from volcano_lab.plugins.kube.node_pods import KubeNodes, kube_nodes
from volcano_lab.plugins.kube.pod_info import PodInfo

MAX_SCORE = 100
NO_ROWS = np.zeros(0, dtype=np.intp)
BALANCED = (CPU, MEMORY, "nvidia.com/gpu")
"""The resources in the balanced allocation score, in Volcano's order."""


class NodeOrder(Plugin):
    """Kubernetes' scores with Volcano's weights; a weight of 0 disables a score."""

    name = "nodeorder"

    def on_session_open(self, ssn: Session) -> None:
        weight = self.arguments.get_weight
        self.least_requested = weight("leastrequested.weight", 1)
        self.most_requested = weight("mostrequested.weight", 0)
        self.node_affinity = weight("nodeaffinity.weight", 2)
        self.pod_affinity = weight("podaffinity.weight", 2)
        self.balanced_resource = weight("balancedresource.weight", 1)
        self.taint_toleration = weight("tainttoleration.weight", 3)
        self.image_locality = weight("imagelocality.weight", 1)  # always 0: Volcano sets no images
        self.topology_spread = weight("podtopologyspread.weight", 2)
        self.kube = kube_nodes(ssn)
        same = float(MAX_SCORE * self.taint_toleration)
        # the scores of nodes that all score the same: no taint that the pod does not tolerate, and
        # the other scores at 0
        self.all_alike = np.full(len(self.kube.nodes), same)
        self._same_for_all = ByRow(lambda row: same, lambda: self.all_alike)
        self.alike_by_template = not self.kube.rows_with_affinity

    def node_order(self, task: TaskInfo, node: NodeInfo) -> float:
        kube_node, info = self.kube.by_name[node.name], self.kube.info_of(task)
        score = self._resource_scores(info).at(kube_node.row)
        if self.node_affinity and info.preferred_nodes:
            score += self.node_affinity * node_affinity.score(info.preferred_nodes, kube_node.node)
        return float(score)

    def _resource_scores(self, info: PodInfo) -> RowFormula:
        weights = self.least_requested, self.most_requested, self.balanced_resource
        return self.kube.remember(("resource scores", weights, info.requests),
                                  lambda: resource_scores(self.kube, info.requests, *weights))

    def node_order_key(self, task: TaskInfo) -> tuple[Any, ...]:
        info = self.kube.info_of(task)
        return info.requests, self.node_affinity and info.preferred_nodes

    def node_order_formula(self, task: TaskInfo) -> RowFormula | None:
        info = self.kube.info_of(task)
        preferred = self.node_affinity and info.preferred_nodes
        return None if preferred else self._resource_scores(info)

    def batch_node_order(self, task: TaskInfo, nodes: Sequence[NodeInfo]) -> dict[str, float]:
        rows = np.array([self.kube.by_name[node.name].row for node in nodes], dtype=np.intp)
        scores = self._relative_scores(task, rows)[rows].tolist()
        return {node.name: score for node, score in zip(nodes, scores, strict=True)}

    def batch_node_order_nodes(self, task: TaskInfo, candidates: np.ndarray) -> np.ndarray:
        """Return `batch_node_order` of every node as compared among the candidates, a mask; do not
        modify the result.
        """
        return self._relative_scores(task, candidates.nonzero()[0])

    def batch_node_order_alike(self, task: TaskInfo) -> ByRow | None:
        """Return an answer equal for all nodes, or None where it depends on the candidates."""
        return self._same_for_all if self._relative_scores(task,
                                                           NO_ROWS) is self.all_alike else None

    def _relative_scores(self, task: TaskInfo, rows: np.ndarray) -> np.ndarray:
        """Return the scores that compare the nodes in `rows`: taints, pod affinity, spread."""
        kube, info = self.kube, self.kube.info_of(task)
        counts = untolerated_preferences(kube, info) if self.taint_toleration else None
        spread = self.topology_spread and info.pod.spec.topology_spread_constraints
        affinity = self.pod_affinity and (info.preferred or kube.rows_with_affinity)
        if counts is None and not spread and not affinity:
            return self.all_alike
        total = self.all_alike.copy()
        if counts is not None and len(rows):
            total[rows] -= self.taint_toleration * (MAX_SCORE * counts[rows]
                                                    // max(counts[rows].max(), 1))
        if affinity:
            total[rows] += self.pod_affinity * inter_pod_affinity.scores(kube, info, rows)
        if spread:
            total[rows] += self.topology_spread * topology_spread.scores(kube, info, rows)
        return total


def untolerated_preferences(kube: KubeNodes, info: PodInfo) -> np.ndarray | None:
    """Return how many `PreferNoSchedule` taints of each node the pod does not tolerate; None where
    it is 0 for all.
    """
    def count() -> tuple[np.ndarray | None]:
        counts = [taints.untolerated_preferences(node.node.spec.taints, info.pod.spec.tolerations)
                  for node in kube.nodes]
        return (np.array(counts, np.int64) if any(counts) else None,)

    return kube.remember(("preferences", info.tolerations), count)[0]


def resource_scores(kube: KubeNodes, requests: by_resource.PodRequests, least: int, most: int,
                    balanced: int) -> RowFormula:
    """Return the scores of pods with equal requests by the node's utilization with the pod.

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
                total = total + least * by_resource.least_allocated(requested, offered[:2])
            if most:
                total = total + most * by_resource.most_allocated(requested, offered[:2])
        if weighs_balance:
            requested = [taken[column] + want for column, want in weighed]
            total = total + balanced * by_resource.balanced_allocation(
                requested, [offered[column] for column, _ in weighed])
        return total

    return RowFormula(lambda: (kube.taken, kube.allocatable), score)
