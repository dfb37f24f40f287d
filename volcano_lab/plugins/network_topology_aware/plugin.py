"""network-topology-aware: place gangs with much pod-to-pod traffic close together in the network.

A job or sub-job with a hard topology is tried in HyperNodes of the lowest tiers first
(`gradients.py`), the fullest HyperNode wins (`usage.py`). Pods with a topology prefer nodes close
to their sub-job's; other pods fill up HyperNodes, so that others stay empty.

Arguments, with their defaults:

- `weight` (1): the factor of all scores, besides 100;
- `hypernode.binpack.cpu`, `hypernode.binpack.memory` (1), `hypernode.binpack.resources` (names,
  comma separated) and `hypernode.binpack.resources.NAME` (1): each resource's weight;
- `hypernode.binpack.normal-pod.enable` (true): whether pods without a topology fill up HyperNodes;
- `hypernode.binpack.normal-pod.fading` (0.8): each tier's weight for them, relative to the tier
  below it.

Volcano: pkg/scheduler/plugins/network-topology-aware/network_topology_aware.go
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from volcano_lab import api
from volcano_lab.framework import Event, Plugin, Session
from volcano_lab.plugins.network_topology_aware.gradients import Gradients, NoSearchRoot, gradients
from volcano_lab.plugins.network_topology_aware.usage import HyperNodeUsage, sum_by_name

MAX_NODE_SCORE = 100.0
FULL_SCORE, ZERO_SCORE = 1.0, 0.0
FADING = 0.8


class NetworkTopologyAware(Plugin):
    """Scores from 0 to 100 x weight, or to twice that where the number of a sub-job's tasks breaks
    ties.
    """

    name = "network-topology-aware"

    def on_session_open(self, ssn: Session) -> None:
        self.scale = MAX_NODE_SCORE * self.arguments.get_weight("weight", 1, below_zero=1)
        self.fading = self.arguments.get_float("hypernode.binpack.normal-pod.fading", FADING,
                                               least=0.0)
        self.normal_pods = self.arguments.get_bool("hypernode.binpack.normal-pod.enable", True)
        self.weights = self.arguments.get_resource_weights("hypernode.binpack.")
        self.topology, tiers = ssn.topology, ssn.topology.tiers
        self.min_tier, self.max_tier = tiers[0], tiers[-1]
        self.usage = HyperNodeUsage(ssn, self.weights)
        weights = ((tier, power(self.fading, tier - 1))
                   for tier in range(self.min_tier, self.max_tier + 1))
        self.tier_weights = {tier: weight for tier, weight in weights if weight}
        self.total_tier_weight = 0.0
        for weight in self.tier_weights.values():
            self.total_tier_weight += weight
        self._counts_normal_pods = self.normal_pods and self.total_tier_weight > 0
        self._tier_scores: api.Memo[str, list[float]] = api.Memo(
            lambda allocated: [self.tier_score(name, allocated) for name in self._lowest[0]])
        lowest = ssn.topology.lowest
        self._below_one = {nodes.number for nodes in ssn.topology.nodes.values()
                           if len({lowest.get(node.name, "") for node in nodes}) == 1}

    def on_allocate(self, event: Event) -> None:
        self.usage.add(event.task.node_name, event.task.resreq)

    def on_deallocate(self, event: Event) -> None:
        self.usage.add(event.task.node_name, event.task.resreq, -1.0)

    # -- which HyperNodes to try -------------------------------------------------------------------

    def hyper_node_gradient_for_job(self, job: api.JobInfo,
                                    hyper_node: api.HyperNodeInfo) -> Gradients:
        """Return, with a hard topology, the HyperNodes up to its tier that fit the job's minimum;
        else only the given one.
        """
        hard, highest = job.hard_topology()
        if not hard:
            return [[hyper_node]]
        return self._gradients(hyper_node, highest, job.allocated_hyper_node,
                               job.get_min_resources(), job.uid)

    def hyper_node_gradient_for_sub_job(self, sub_job: api.SubJobInfo,
                                        hyper_node: api.HyperNodeInfo) -> Gradients:
        """Return the same for a sub-job and its pending tasks. Without sub-group policies the job's
        own gradients are enough.
        """
        job = self.ssn.jobs.get(sub_job.job)
        hard, highest = sub_job.hard_topology()
        if not hard or (job is not None and not job.contains_sub_job_policy()):
            return [[hyper_node]]
        return self._gradients(hyper_node, highest, sub_job.allocated_hyper_node,
                               sub_job.get_min_resources(), sub_job.uid)

    def _gradients(self, within: api.HyperNodeInfo, highest: int, allocated: str,
                   least: api.Resource, about: str) -> Gradients:
        try:
            return gradients(self.topology.hyper_nodes, within, highest, allocated,
                              lambda name: self.usage.fits(least, name))
        except NoSearchRoot as reason:
            self.ssn.log.info("no HyperNode can be tried for %s: %s", about, reason)
            return []

    # -- score of HyperNodes -----------------------------------------------------------------------

    def hyper_node_order(self, sub_job: api.SubJobInfo,
                         hyper_nodes: dict[str, Sequence[api.NodeInfo]]) -> dict[str, float]:
        """Score HyperNodes by utilization with the sub-job; ties by its tasks already in them."""
        tasks = [task for _, task in sorted(sub_job.tasks.items())]
        request = sum_by_name(self.usage.asked_for(task.resreq) for task in tasks)
        scores = {name: self.usage.score(request, self.usage.places[name]) for name in hyper_nodes}
        best = max(scores.values())
        ties = [name for name, score in scores.items() if score == best]
        if len(ties) > 1:
            shares = self._task_shares(sub_job)
            for name in ties:
                scores[name] += shares.get(name, ZERO_SCORE)
        return {name: self.scale * score for name, score in scores.items()}

    def _task_shares(self, sub_job: api.SubJobInfo) -> dict[str, float]:
        """Return HyperNode -> fraction of a sub-job's tasks with a node in it; those without any
        are omitted.
        """
        counts: dict[int, int] = {}
        for task in sub_job.tasks.values():
            if task.node_name in self.usage.holders:
                for place in self.usage.holders[task.node_name]:
                    counts[place] = counts.get(place, 0) + 1
        return {self.usage.names[place]: count / len(sub_job.tasks)
                for place, count in counts.items()}

    # -- score of nodes ----------------------------------------------------------------------------

    def batch_node_order(self, task: api.TaskInfo,
                         nodes: Sequence[api.NodeInfo]) -> dict[str, float]:
        """Return scores of nodes, relative to each other; none where no score applies."""
        near = self._sub_job_of(task).with_network_topology()
        if not nodes or not (task.job_allocated_hyper_node if near else self._counts_normal_pods):
            return {}
        candidates = np.zeros(len(self.ssn.node_list), dtype=bool)
        candidates[[node.row for node in nodes]] = True
        scores = self.batch_node_order_nodes(task, candidates).tolist()
        return {node.name: scores[node.row] for node in nodes}

    def batch_node_order_nodes(self, task: api.TaskInfo, candidates: np.ndarray) -> np.ndarray:
        """Return `batch_node_order` of the candidates (a mask over the session's nodes), in the
        order of `node_list`.
        """
        sub_job = self._sub_job_of(task)
        if sub_job.with_network_topology():
            return self._close_rows(task, sub_job, candidates)
        return self._full_rows(task) * self.scale

    def batch_node_order_even(self, task: api.TaskInfo, nodes: api.NodeList) -> bool:
        """Return whether all nodes are below one lowest HyperNode, as in most dry runs, so that
        their scores are equal.
        """
        if not self._sub_job_of(task).with_network_topology():
            return not self.normal_pods
        return not task.job_allocated_hyper_node or nodes.number in self._below_one

    def _sub_job_of(self, task: api.TaskInfo) -> api.SubJobInfo:
        job = self.ssn.jobs[task.job]
        return job.sub_jobs[job.task_to_sub_job[task.uid]]

    def tier_score(self, hyper_node: str, allocated: str) -> float:
        """Return 1 in the allocated HyperNode; outside, the less the higher the tier that holds
        both.
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

    def _close_rows(self, task: api.TaskInfo, sub_job: api.SubJobInfo,
                    candidates: np.ndarray) -> np.ndarray:
        """Score nodes by closeness to the sub-job's; ties by the number of its tasks in the same
        HyperNode.

        Nodes below the same HyperNode of the lowest tier share one score.
        """
        allocated = task.job_allocated_hyper_node
        if not allocated:
            return np.zeros(len(candidates))
        names, lowest = self._lowest
        close = self._tier_scores[allocated]
        counts = np.bincount(lowest[candidates], minlength=len(close)).tolist()
        best = max(score for score, count in zip(close, counts, strict=True) if count)
        ties = sum(count for score, count in zip(close, counts, strict=True) if score == best)
        shares = self._task_shares(sub_job) if ties > 1 else {}
        scores = [score + shares.get(name, ZERO_SCORE) if score == best else score
                  for name, score in zip(names, close, strict=True)]
        found: np.ndarray = (np.array(scores) * self.scale)[lowest]
        return found

    def _full_rows(self, task: api.TaskInfo) -> np.ndarray:
        """Score nodes by the utilization of their HyperNodes with the task, lower tiers weighing
        more; 1 for a tier without any.
        """
        scores = np.zeros(len(self.ssn.node_list))
        if not self._counts_normal_pods:
            return scores
        full = np.append(self.usage.pod_scores(task.resreq), FULL_SCORE)
        for weight, places in self._holders:
            scores += weight * full[places]
        return scores / self.total_tier_weight

    @cached_property
    def _holders(self) -> list[tuple[float, np.ndarray]]:
        """Return the weight of each tier and, for each node, the index of the HyperNode that holds
        it: the first by name, the last index (-1) without any.
        """
        holders = []
        for tier, weight in self.tier_weights.items():
            places = np.full(len(self.ssn.node_list), -1)
            for name in sorted(self.topology.by_tier.get(tier, ()), reverse=True):
                if name in self.topology.nodes:
                    places[self.topology.nodes[name].rows] = self.usage.places[name]
            holders.append((weight, places))
        return holders

    @cached_property
    def _lowest(self) -> tuple[list[str], np.ndarray]:
        """Return the HyperNodes of the lowest tier, and each node's index among them."""
        around = [self.topology.lowest.get(node.name, "") for node in self.ssn.node_list]
        names, places = np.unique(around, return_inverse=True)
        return names.tolist(), places


def power(base: float, exponent: int) -> float:
    """Return base to an integer power, by squaring as Go's `math.Pow` does: the last bit may decide
    between nodes.

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
