"""nodeorder: which of the nodes that fit is best, by Kubernetes' own scores.

Answers to `pkg/scheduler/plugins/nodeorder`. Each score is 0 to 100 (node affinity: the plain sum
of weights) times its weight. For one node: how full it would be (least, most, balanced), preferred
node affinity, images. For all nodes in question together, because these scores are relative:
preferred pod affinity, taints with `PreferNoSchedule`, topology spread.

Differs on purpose: `node_order_nodes` and `batch_node_order_nodes` answer for all nodes at once; a
preference that Kubernetes can't read (no API server lets one through) is left out, where Volcano
gives up on the node's score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from volcano_lab.framework.placement.arrays import ByRow
from volcano_lab.framework.plugin import Plugin
from volcano_lab.plugins.kube import (
    image_locality,
    inter_pod_affinity,
    node_affinity,
    node_masks,
    resources,
    taints,
    topology_spread,
)
from volcano_lab.plugins.kube.default_spread import default_selector
from volcano_lab.plugins.kube.node_pods import KubeNode, kube_nodes
from volcano_lab.plugins.kube.node_scores import BALANCED, ResourceScores
from volcano_lab.plugins.kube.pod_info import PodInfo

if TYPE_CHECKING:
    from volcano_lab.api.node import NodeInfo
    from volcano_lab.api.task import TaskInfo
    from volcano_lab.framework.config.arguments import Arguments
    from volcano_lab.framework.session import Session

MAX_SCORE = 100


class NodeOrder(Plugin):
    """Kubernetes' scores with Volcano's weights; a weight of 0 switches a score off."""

    name = "nodeorder"

    def __init__(self, arguments: Arguments | None = None):
        super().__init__(arguments)
        weight = self.arguments.get_int
        self.least_requested = weight("leastrequested.weight", 1)
        self.most_requested = weight("mostrequested.weight", 0)
        self.node_affinity = weight("nodeaffinity.weight", 2)
        self.pod_affinity = weight("podaffinity.weight", 2)
        self.balanced_resource = weight("balancedresource.weight", 1)
        self.taint_toleration = weight("tainttoleration.weight", 3)
        self.image_locality = weight("imagelocality.weight", 1)
        self.topology_spread = weight("podtopologyspread.weight", 2)

    def on_session_open(self, ssn: Session) -> None:
        self.ssn = ssn
        self.kube = kube_nodes(ssn)
        self.has_images = any(node.image_states for node in self.kube.nodes)
        self.all_alike = np.full(len(self.kube.nodes), float(MAX_SCORE * self.taint_toleration))
        """The scores where nothing tells the nodes apart: no taint that the pod minds, and the
        other scores at 0.
        """
        self.no_nodes = np.zeros(len(self.kube.nodes), dtype=bool)
        same = float(MAX_SCORE * self.taint_toleration)
        self._same_for_all = ByRow(lambda row: same, lambda: self.all_alike)
        self.spread_owners = getattr(ssn, "spread_owners", ())
        self.alike_by_template = not (self.kube.rows_with_affinity or self.spread_owners)

    # -- one node
    # --------------------------------------------------------------------------------------------

    def node_order(self, task: TaskInfo, node: NodeInfo) -> float:
        """The weighted sum of the scores that need no other node to compare with."""
        kube_node, info = self.kube.by_name[node.name], self.kube.info_of(task)
        score = 0
        if self.least_requested:
            score += self.least_requested * resources.least_allocated(
                *self._non_zero(info, kube_node))
        if self.most_requested:
            score += self.most_requested * resources.most_allocated(
                *self._non_zero(info, kube_node))
        if self.balanced_resource:
            score += self.balanced_resource * self._balanced(info, kube_node)
        if self.node_affinity:
            score += self.node_affinity * node_affinity.score(info.preferred_nodes, kube_node.node)
        if self.image_locality:
            score += self.image_locality * image_locality.score(info.pod, kube_node.image_states,
                                                                len(self.kube.nodes))
        return float(score)

    def _non_zero(self, info: PodInfo, node: KubeNode) -> tuple[list[int], list[int]]:
        """(CPU and memory requested with the pod on the node, defaults included; what the node
        offers).
        """
        asked, row = info.requests.asked_non_zero, node.row
        requested = [have + want for have, want in zip(self.kube.non_zero_requested[row].tolist(),
                                                       asked, strict=True)]
        return requested, self.kube.allocatable[row, :2].tolist()

    def _balanced(self, info: PodInfo, node: KubeNode) -> int:
        """Balanced allocation; 0 for a pod that asks for none of its resources."""
        kube, asked = self.kube, dict(info.requests.asked)
        if not any(asked.get(name) for name in BALANCED):
            return 0
        requested, allocatable = [], []
        for name in BALANCED:
            column = kube.columns.get(name)
            if column is None or (name not in (resources.CPU, resources.MEMORY)
                                  and not asked.get(name)):
                continue
            requested.append(int(kube.requested[node.row, column]) + asked.get(name, 0))
            allocatable.append(int(kube.allocatable[node.row, column]))
        return resources.balanced_allocation(requested, allocatable)

    # -- nodes together
    # --------------------------------------------------------------------------------------

    def batch_node_order(self, task: TaskInfo, nodes: Sequence[NodeInfo]) -> dict[str, float]:
        """The weighted sum of the scores that compare the nodes in question with each other."""
        info = self.kube.info_of(task)
        kube_nodes_ = [self.kube.by_name[node.name] for node in nodes]
        total = dict.fromkeys((node.name for node in kube_nodes_), 0.0)
        for weight, scores in self._relative_scores(info, kube_nodes_):
            for node, score in zip(kube_nodes_, scores, strict=True):
                total[node.name] += float(score * weight)
        return total

    def _relative_scores(self, info: PodInfo, nodes: list[KubeNode]):
        """(weight, normalised score of each node) of each score that is on."""
        if self.taint_toleration:
            counts = [taints.untolerated_preferences(n.node.spec.taints, info.pod.spec.tolerations)
                      for n in nodes]
            yield self.taint_toleration, fewest_best(counts)
        if self.pod_affinity:
            yield self.pod_affinity, inter_pod_affinity.scores(self.kube, info, nodes)
        if self.topology_spread:
            scores = topology_spread.scores(self.kube, info, nodes,
                                            default_selector(info, self.spread_owners))
            if scores is not None:
                yield self.topology_spread, scores

    # -- all nodes at once
    # -----------------------------------------------------------------------------------

    def node_order_nodes(self, task: TaskInfo) -> np.ndarray:
        """`node_order` of every node in the session's order; not to be changed by the caller."""
        kube, info = self.kube, self.kube.info_of(task)
        scores = self._resource_scores(info).current()
        if self.node_affinity and info.preferred_nodes:
            scores = scores + self.node_affinity * kube.remember(
                ("preferred nodes", info.preferred_nodes), lambda: np.array(
                    [node_affinity.score(info.preferred_nodes, n.node) for n in kube.nodes], float))
        if self.image_locality and self.has_images:
            scores = scores + [self.image_locality * image_locality.score(info.pod, n.image_states,
                                                                          len(kube.nodes))
                               for n in kube.nodes]
        return scores

    def _resource_scores(self, info: PodInfo) -> ResourceScores:
        kube, weights = self.kube, (self.least_requested, self.most_requested,
                                    self.balanced_resource)
        key = "resource scores", weights, info.requests
        return kube.remember(key, lambda: ResourceScores(kube, info.requests, *weights))

    def node_order_alike(self, task: TaskInfo) -> ByRow | None:
        """Tasks with equal requests are alike where neither images nor preferred nodes tell them
        apart.
        """
        info = self.kube.info_of(task)
        if (self.image_locality and self.has_images) or (self.node_affinity
                                                         and info.preferred_nodes):
            return None
        scores = self._resource_scores(info)
        return self.kube.remember(
            ("alike", scores),
            lambda: ByRow(lambda row: float(scores.current()[row]), scores.current))

    def batch_node_order_alike(self, task: TaskInfo) -> ByRow | None:
        """Tasks are alike, and so are all nodes for them, where no score compares nodes."""
        if self.batch_node_order_nodes(task, self.no_nodes) is not self.all_alike:
            return None
        return self._same_for_all

    def batch_node_order_nodes(self, task: TaskInfo, mask: np.ndarray | None = None) -> np.ndarray:
        """`batch_node_order` among the nodes where `mask` is True (None: all); elsewhere the number
        means nothing.

        Not to be changed by the caller.
        """
        kube, info = self.kube, self.kube.info_of(task)
        counts = node_masks.untolerated_preferences(kube, info) if self.taint_toleration else None
        spread = self.topology_spread and (info.pod.spec.topology_spread_constraints
                                           or self.spread_owners)
        affinity = self.pod_affinity and (info.preferred or kube.rows_with_affinity)
        if counts is None and not spread and not affinity:
            return self.all_alike
        total = self.all_alike.copy()
        rows = np.arange(len(total)) if mask is None else np.flatnonzero(mask)
        if counts is not None and len(rows):
            total[rows] -= self.taint_toleration * (MAX_SCORE * counts[rows] //
                                                    max(counts[rows].max(), 1))
        if affinity:
            total[rows] += self.pod_affinity * inter_pod_affinity.scores_of_rows(kube, info, rows)
        if spread:
            selector = default_selector(info, self.spread_owners)
            total[rows] += self.topology_spread * topology_spread.scores_of_rows(
                kube, info, rows, selector)
        return total


def fewest_best(counts: Sequence[int]) -> list[int]:
    """Counts as scores: none gives 100, the highest 0.

    >>> fewest_best([0, 1, 2]), fewest_best([0, 0])
    ([100, 50, 0], [100, 100])
    """
    highest = max(counts, default=0)
    return [MAX_SCORE - MAX_SCORE * count // highest if highest else MAX_SCORE for count in counts]
