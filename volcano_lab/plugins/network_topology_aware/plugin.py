"""network-topology-aware: gangs whose pods talk a lot lie close together in the network.

Answers to `pkg/scheduler/plugins/network-topology-aware/network_topology_aware.go`. A job or
sub-job with a hard topology is tried in HyperNodes of the lowest tiers first
(`network_topology_aware_gradients.py`), the fullest HyperNode wins
(`network_topology_aware_usage.py`). Pods with a topology prefer nodes close to where their sub-job
is already; other pods fill up HyperNodes, so that whole ones stay free.

Arguments, with their defaults:

- `weight` (1): what all scores are multiplied with, besides 100;
- `hypernode.binpack.cpu`, `hypernode.binpack.memory` (1), `hypernode.binpack.resources` (names,
  comma separated) and `hypernode.binpack.resources.NAME` (1): what each resource counts;
- `hypernode.binpack.normal-pod.enable` (true): whether pods without a topology fill up HyperNodes;
- `hypernode.binpack.normal-pod.fading` (0.8): what each tier counts for them, as a part of the tier
  below it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from volcano_lab.api.hyper_node import HyperNodeInfo
from volcano_lab.api.job import JobInfo
from volcano_lab.api.node import NodeInfo
from volcano_lab.api.resource import Resource
from volcano_lab.api.sub_job import SubJobInfo
from volcano_lab.api.task import TaskInfo
from volcano_lab.framework.config.arguments import Arguments
from volcano_lab.framework.plugin import Event, Plugin
from volcano_lab.framework.session import Session
from volcano_lab.plugins.network_topology_aware.gradients import Gradients, NoSearchRoot, gradients
from volcano_lab.plugins.network_topology_aware.usage import (
    HyperNodeUsage,
    resource_weights,
    sum_by_name,
)

MAX_NODE_SCORE = 100.0
FULL_SCORE, ZERO_SCORE = 1.0, 0.0
FADING = 0.8


class NetworkTopologyAware(Plugin):
    """Scores from 0 to 100 x weight, or to twice that where the number of a sub-job's tasks decides
    between equals.
    """

    name = "network-topology-aware"

    def __init__(self, arguments: Arguments | None = None):
        super().__init__(arguments)
        weight = self.arguments.get_int("weight", 1)
        fading = self.arguments.get_float("hypernode.binpack.normal-pod.fading", FADING)
        self.scale = MAX_NODE_SCORE * (weight if weight >= 0 else 1)
        self.fading = fading if fading >= 0 else FADING
        self.normal_pods = self.arguments.get_bool("hypernode.binpack.normal-pod.enable", True)
        self.weights = resource_weights(self.arguments)

    def on_session_open(self, ssn: Session) -> None:
        self.ssn = ssn
        self.topology, tiers = ssn.topology, ssn.topology.tiers
        self.min_tier, self.max_tier = tiers[0], tiers[-1]
        self.usage = HyperNodeUsage(ssn, self.weights)
        weights = ((tier, power(self.fading, tier - 1))
                   for tier in range(self.min_tier, self.max_tier + 1))
        self.tier_weights = {tier: weight for tier, weight in weights if weight}
        self.total_tier_weight = 0.0
        for weight in self.tier_weights.values():
            self.total_tier_weight += weight
        self._holders = {tier: self._holder_by_node(tier) for tier in self.tier_weights}
        self._holder_rows: list[tuple[float, np.ndarray]] | None = None
        self._tier_scores: dict[str, list[float]] = {}
        self._lowest: np.ndarray | None = None
        self._below_one = {nodes.number for nodes in ssn.topology.nodes.values()
                           if len({self._lowest_around(node) for node in nodes}) == 1}

    def _lowest_around(self, node: NodeInfo) -> str:
        return self.topology.lowest.get(node.name, "")

    def _holder_by_node(self, tier: int) -> dict[str, int]:
        """Node -> place of the HyperNode of a tier that holds it, the first by name."""
        holder: dict[str, int] = {}
        for name in sorted(self.topology.by_tier.get(tier, ())):
            for node in self.topology.nodes.get(name, ()):
                holder.setdefault(node.name, self.usage.places[name])
        return holder

    def on_allocate(self, event: Event) -> None:
        self.usage.add(event.task.node_name, event.task.resreq)

    def on_deallocate(self, event: Event) -> None:
        self.usage.add(event.task.node_name, event.task.resreq, -1.0)

    # -- which HyperNodes to try -------------------------------------------------------------------

    def hyper_node_gradient_for_job(self, job: JobInfo, hyper_node: HyperNodeInfo) -> Gradients:
        """With a hard topology the HyperNodes up to its tier that have room for the job's minimum;
        else the one at hand.
        """
        hard, highest = job.hard_topology()
        if not hard:
            return [[hyper_node]]
        return self._gradients(hyper_node, highest, job.allocated_hyper_node,
                               job.get_min_resources(), job.uid)

    def hyper_node_gradient_for_sub_job(self, sub_job: SubJobInfo,
                                        hyper_node: HyperNodeInfo) -> Gradients:
        """The same for a sub-job and its pending tasks. Without sub-group policies the job's own
        gradients suffice.
        """
        job = self.ssn.jobs.get(sub_job.job)
        hard, highest = sub_job.hard_topology()
        if not hard or (job is not None and not job.contains_sub_job_policy()):
            return [[hyper_node]]
        return self._gradients(hyper_node, highest, sub_job.allocated_hyper_node,
                               sub_job.get_min_resources(), sub_job.uid)

    def _gradients(self, within: HyperNodeInfo, highest: int, allocated: str, least: Resource,
                   about: str) -> Gradients:
        try:
            return gradients(self.topology.hyper_nodes, within, highest, allocated,
                             lambda name: self.usage.has_room(least, name))
        except NoSearchRoot as reason:
            self.ssn.log.info("no HyperNode can be tried for %s: %s", about, reason)
            return []

    # -- which of the HyperNodes that serve --------------------------------------------------------

    def hyper_node_order(self, sub_job: SubJobInfo,
                         hyper_nodes: dict[str, Sequence[NodeInfo]]) -> dict[str, float]:
        """The fullest with the sub-job in it; among the fullest, the one with most of its tasks
        already.
        """
        tasks = [task for _, task in sorted(sub_job.tasks.items())]
        request = sum_by_name(self.usage.asked_for(task.resreq) for task in tasks)
        scores = {name: self.usage.score(request, name) for name in hyper_nodes}
        best = max(scores.values())
        ties = [name for name, score in scores.items() if score == best]
        if len(ties) > 1:
            shares = self._task_shares(sub_job)
            for name in ties:
                scores[name] += shares.get(name, ZERO_SCORE)
        return {name: self.scale * score for name, score in scores.items()}

    def _task_shares(self, sub_job: SubJobInfo) -> dict[str, float]:
        """HyperNode -> which part of a sub-job's tasks has a node in it; those without any are left
        out.
        """
        counts: dict[int, int] = {}
        for task in sub_job.tasks.values():
            if task.node_name in self.usage.holders:
                for place in self.usage.holders[task.node_name]:
                    counts[place] = counts.get(place, 0) + 1
        return {self.usage.names[place]: count / len(sub_job.tasks)
                for place, count in counts.items()}

    # -- which node --------------------------------------------------------------------------------

    def batch_node_order(self, task: TaskInfo, nodes: Sequence[NodeInfo]) -> dict[str, float]:
        """Scores of nodes, compared with each other; none where nothing speaks for any."""
        sub_job = self._sub_job_of(task)
        scores = self._close_nodes(task, sub_job,
                                   nodes) if sub_job.with_network_topology() else self._full_nodes(
                                       task, nodes)
        return {name: self.scale * score for name, score in scores.items()}

    def _sub_job_of(self, task: TaskInfo) -> SubJobInfo:
        job = self.ssn.jobs[task.job]
        return job.sub_jobs[job.task_to_sub_job[task.uid]]

    def _close_nodes(self, task: TaskInfo, sub_job: SubJobInfo,
                     nodes: Sequence[NodeInfo]) -> dict[str, float]:
        """How close to where the sub-job is; among the closest, how many of its tasks are in the
        same HyperNode.
        """
        allocated = task.job_allocated_hyper_node
        if not allocated:
            return {}
        around = {node.name: self._lowest_around(node) for node in nodes}
        scores = {name: self.tier_score(hyper_node, allocated)
                  for name, hyper_node in around.items()}
        best = max(scores.values())
        ties = [name for name, score in scores.items() if score == best]
        if len(ties) > 1:
            shares = self._task_shares(sub_job)
            for name in ties:
                scores[name] += shares.get(around[name], ZERO_SCORE)
        return scores

    def tier_score(self, hyper_node: str, allocated: str) -> float:
        """1 in the HyperNode that is allocated already; outside, the less the higher the tier that
        holds both.
        """
        if not hyper_node or not allocated:
            return ZERO_SCORE
        if hyper_node == allocated:
            return FULL_SCORE
        both = self.topology.hyper_nodes.get(self.topology.around(hyper_node, allocated))
        if both is None:
            return ZERO_SCORE
        if self.min_tier == self.max_tier:
            return FULL_SCORE
        if not self.min_tier <= both.tier <= self.max_tier:
            return ZERO_SCORE
        return (self.max_tier - both.tier) / (self.max_tier - self.min_tier)

    def _full_nodes(self, task: TaskInfo, nodes: Sequence[NodeInfo]) -> dict[str, float]:
        """How full the task would make the HyperNodes around a node, lower tiers counting more; 1
        for a tier without any.
        """
        if not self.normal_pods or self.total_tier_weight <= 0:
            return {}
        full = self.usage.pod_scores(task.resreq).tolist()
        scores = {}
        for node in nodes:
            score = 0.0
            for tier, holder in self._holders.items():
                place = holder.get(node.name)
                score += self.tier_weights[tier] * (FULL_SCORE if place is None else full[place])
            scores[node.name] = score / self.total_tier_weight
        return scores

    # -- the same for all nodes at once ------------------------------------------------------------

    def batch_node_order_nodes(self, task: TaskInfo, candidates: np.ndarray) -> np.ndarray:
        """`batch_node_order` of the candidates (a mask over the session's nodes), in the order of
        `node_list`.
        """
        sub_job = self._sub_job_of(task)
        if sub_job.with_network_topology():
            return self._close_rows(task, sub_job, candidates)
        return self._full_rows(task) * self.scale

    def batch_node_order_even(self, task: TaskInfo, nodes: Sequence[NodeInfo]) -> bool:
        """Nodes below one and the same lowest HyperNode, as in most dry runs, are as close as one
        another.
        """
        if not self._sub_job_of(task).with_network_topology():
            return not self.normal_pods
        return not task.job_allocated_hyper_node or nodes.number in self._below_one

    def _close_rows(self, task: TaskInfo, sub_job: SubJobInfo,
                    candidates: np.ndarray) -> np.ndarray:
        """Nodes below the same HyperNode of the lowest tier are as close: one score for each of
        these is enough.
        """
        allocated = task.job_allocated_hyper_node
        if not allocated:
            return np.zeros(len(candidates))
        if self._lowest is None:
            around = [self._lowest_around(node) for node in self.ssn.node_list]
            names, self._lowest = np.unique(around, return_inverse=True)
            self._lowest_names = names.tolist()
        close = self._tier_scores.get(allocated)
        if close is None:
            close = self._tier_scores[allocated] = [self.tier_score(name, allocated)
                                                    for name in self._lowest_names]
        counts = np.bincount(self._lowest[candidates], minlength=len(close)).tolist()
        best = max(score for score, count in zip(close, counts, strict=True) if count)
        ties = sum(count for score, count in zip(close, counts, strict=True) if score == best)
        shares = self._task_shares(sub_job) if ties > 1 else {}
        by_name = zip(self._lowest_names, close, strict=True)
        scores = [score + shares.get(name, ZERO_SCORE) if score == best else score
                  for name, score in by_name]
        return (np.array(scores) * self.scale)[self._lowest]

    def _full_rows(self, task: TaskInfo) -> np.ndarray:
        nodes = self.ssn.node_list
        scores = np.zeros(len(nodes))
        if not self.normal_pods or self.total_tier_weight <= 0:
            return scores
        if self._holder_rows is None:  # the place after the last one stands for "no HyperNode"
            self._holder_rows = [(self.tier_weights[tier],
                                  np.array([holder.get(node.name, -1)
                                            for node in nodes], dtype=np.intp))
                                 for tier, holder in self._holders.items()]
        full = np.append(self.usage.pod_scores(task.resreq), FULL_SCORE)
        for weight, places in self._holder_rows:
            scores += weight * full[places]
        return scores / self.total_tier_weight


def power(base: float, exponent: int) -> float:
    """base to a whole number, multiplied out by squaring as Go's `math.Pow` does: the last bit may
    decide between nodes.

    >>> power(0.8, 0), power(0.5, 3), power(0.0, 0)
    (1.0, 0.125, 1.0)
    """
    result, left = 1.0, abs(exponent)
    while left:
        if left & 1:
            result *= base
        base *= base
        left >>= 1
    if exponent >= 0:
        return result
    return 1.0 / result if result else float("inf")
