"""Topology spread: how unevenly matching pods may lie over the values of a node label.

Answers to `plugins/podtopologyspread`. `DoNotSchedule` constraints refuse nodes, `ScheduleAnyway`
ones score them. Kept as Volcano has it: in the score, pods per node (`kubernetes.io/hostname`)
always count as 0, since Volcano hands Kubernetes nodes without their pods.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from attrs import frozen

from volcano_lab.api.fit_error import UNSCHEDULABLE, Status
from volcano_lab.api.fit_error import UNSCHEDULABLE_AND_UNRESOLVABLE as UNRESOLVABLE
from volcano_lab.api.objects import TopologySpreadConstraint

from .node_masks import matching_nodes, tolerated_nodes
from .node_pods import KubeNode, KubeNodes
from .pod_counts import matching_pods
from .pod_info import Labels, PodInfo
from .selectors import EVERYTHING, Selector, label_selector

NAME = "PodTopologySpread"
REASON = "node(s) didn't match pod topology spread constraints"
MISSING_LABEL_REASON = f"{REASON} (missing required label)"
HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
DO_NOT_SCHEDULE, SCHEDULE_ANYWAY = "DoNotSchedule", "ScheduleAnyway"

SYSTEM_DEFAULTS = ((HOSTNAME, 3), (ZONE, 5))
"""(label, max skew): how pods of a service or replica set are spread that name no constraints of
their own.
"""


@frozen(cache_hash=True)
class Constraint:
    """A constraint, compiled. The policies say whether nodes that the pod can't use are left out of
    the counts.
    """

    max_skew: int
    topology_key: str
    selector: Selector
    min_domains: int = 1
    honor_affinity: bool = True
    honor_taints: bool = False


def constraints(info: PodInfo, action: str,
                default_selector: Selector = EVERYTHING) -> tuple[Constraint, ...]:
    """The pod's constraints of one kind; where it has none of either kind, the cluster's defaults
    for its owner.

    `default_selector` chooses the pods of the owner; empty means there is none to be spread with.

    >>> from volcano_lab.api.objects import Pod
    >>> constraints(PodInfo(Pod()), SCHEDULE_ANYWAY)
    ()
    """
    own = info.pod.spec.topology_spread_constraints
    if own:
        return tuple(_compile(c, info.labels) for c in own if c.when_unsatisfiable == action)
    if action != SCHEDULE_ANYWAY or default_selector.is_empty():
        return ()
    return tuple(Constraint(skew, key, default_selector) for key, skew in SYSTEM_DEFAULTS)


def _compile(c: TopologySpreadConstraint, labels: Labels) -> Constraint:
    same = {key: labels[key] for key in c.match_label_keys if key in labels}
    return Constraint(c.max_skew, c.topology_key,
                      label_selector(c.label_selector).with_labels(same),
                      1 if c.min_domains is None else c.min_domains,
                      c.node_affinity_policy != "Ignore", c.node_taints_policy == "Honor")


def _counted_nodes(kube: KubeNodes, info: PodInfo, constraint: Constraint,
                   labelled: np.ndarray) -> np.ndarray:
    """The nodes whose pods and domains a constraint looks at."""
    mask = labelled
    if constraint.honor_affinity:
        mask = mask & matching_nodes(kube, info)
    if constraint.honor_taints:
        mask = mask & tolerated_nodes(kube, info)
    return mask


def _have_all_labels(kube: KubeNodes, found: Sequence[Constraint]) -> np.ndarray:
    mask = np.ones(len(kube.nodes), bool)
    for constraint in found:
        mask &= kube.topology(constraint.topology_key).codes >= 0
    return mask


# -- what may be
# ---------------------------------------------------------------------------------------------


class SpreadState:
    """Matching pods per value of each `DoNotSchedule` constraint, as they were when the task was
    looked at.
    """

    def __init__(self, kube: KubeNodes, info: PodInfo, found: tuple[Constraint, ...]):
        self.kube, self.info, self.constraints = kube, info, found
        self.matches: list[np.ndarray] = []
        self.lowest: list[int] = []
        labelled = _have_all_labels(kube, found)
        for c in found:
            topology = kube.topology(c.topology_key)
            counted = _counted_nodes(kube, info, c, labelled)
            pods = matching_pods(kube, c.selector, info.namespace)
            matches = topology.sum_by_value(counted, pods)
            in_domains = matches[topology.sum_by_value(counted) > 0]
            self.matches.append(matches)
            self.lowest.append(int(in_domains.min()) if 0 < len(in_domains) >= c.min_domains else 0)
        self.own = [int(c.selector.matches(info.labels)) for c in found]

    def refusal(self, node: KubeNode) -> Status | None:
        """Why the pod can't be on the node, or None: there would be too many there over the
        emptiest value.
        """
        for c, matches, lowest, own in zip(self.constraints, self.matches, self.lowest, self.own,
                                           strict=True):
            code = self.kube.topology(c.topology_key).codes[node.row]
            if code < 0:
                return Status(UNRESOLVABLE, MISSING_LABEL_REASON, NAME)
            if matches[code] + own - lowest > c.max_skew:
                return Status(UNSCHEDULABLE, REASON, NAME)
        return None

    def nodes(self) -> np.ndarray:
        """`refusal` for all nodes at once: True where there is none."""
        fits = np.ones(len(self.kube.nodes), bool)
        for c, matches, lowest, own in zip(self.constraints, self.matches, self.lowest, self.own,
                                           strict=True):
            codes = self.kube.topology(c.topology_key).codes
            fits &= (codes >= 0) & (matches[codes] + own - lowest <= c.max_skew)
        return fits


def look(kube: KubeNodes, info: PodInfo) -> SpreadState | None:
    """Count for an incoming pod; None where it has no `DoNotSchedule` constraint."""
    if not info.pod.spec.topology_spread_constraints:
        return None
    found = constraints(info, DO_NOT_SCHEDULE)
    return SpreadState(kube, info, found) if found else None


# -- what is best
# ----------------------------------------------------------------------------------------------


def scores(kube: KubeNodes, info: PodInfo, nodes: Sequence[KubeNode],
           default_selector: Selector = EVERYTHING) -> list[int] | None:
    """0 to 100 for each node: the fewer matching pods its values hold, the more; None: nothing to
    say.

    A node without a label that the pod's own constraints name gets 0.
    """
    found = constraints(info, SCHEDULE_ANYWAY, default_selector)
    if not found or not nodes:
        return None
    own = bool(info.pod.spec.topology_spread_constraints)
    keys = [c.topology_key for c in found]
    kept = [node for node in nodes if not own or all(key in node.labels for key in keys)]
    sums = {node.name: 0.0 for node in kept}
    for c in found:
        values = {node.labels.get(c.topology_key, "") for node in kept}
        weight = math.log((len(kept) if c.topology_key == HOSTNAME else len(values)) + 2)
        counts = _pods_by_value(kube, info, c, keys if own else [])
        for node in kept:
            if c.topology_key in node.labels:
                sums[node.name] += counts.get(node.labels[c.topology_key], 0) * weight + (
                    c.max_skew - 1)
    rounded = {name: round_half_away(total) for name, total in sums.items()}
    return _fewest_best([rounded.get(node.name) for node in nodes])


def _pods_by_value(kube: KubeNodes, info: PodInfo, c: Constraint,
                   required_keys: list[str]) -> dict[str, int]:
    """Matching pods of the whole cluster by the value of their node's label."""
    counts: dict[str, int] = {}
    if c.topology_key == HOSTNAME:
        return counts  # Volcano's nodes are empty here
    pods = matching_pods(kube, c.selector, info.namespace)
    counted = _counted_nodes(kube, info, c, np.ones(len(kube.nodes), bool))
    for node in kube.nodes:
        if counted[node.row] and all(key in node.labels for key in required_keys):
            value = node.labels.get(c.topology_key, "")
            counts[value] = counts.get(value, 0) + int(pods[node.row])
    return counts


def _fewest_best(sums: list[int | None]) -> list[int]:
    """Sums as scores from 100 down; None, a node that is left out, gives 0."""
    known = [total for total in sums if total is not None]
    lowest, highest = min(known, default=0), max([0, *known])
    return [0 if total is None else 100
            if highest == 0 else 100 * (highest + lowest - total) // highest for total in sums]


def round_half_away(number: float) -> int:
    """The nearest whole number, halves away from zero, as Go rounds.

    >>> round_half_away(2.5), round_half_away(0.49999999999999994)
    (3, 0)
    """
    whole = math.trunc(number)
    return whole + (abs(number - whole) >= 0.5) * (1 if number > 0 else -1)


def scores_of_rows(kube: KubeNodes, info: PodInfo, rows: np.ndarray,
                   default_selector: Selector = EVERYTHING) -> np.ndarray | int:
    """`scores` for all nodes in `rows` at once; 0 where there is nothing to say."""
    found = constraints(info, SCHEDULE_ANYWAY, default_selector)
    if not found or not len(rows):
        return 0
    own = bool(info.pod.spec.topology_spread_constraints)
    labelled = _have_all_labels(kube, found) if own else np.ones(len(kube.nodes), bool)
    kept = rows[labelled[rows]]
    sums = np.zeros(len(kept))
    for c in found:
        topology = kube.topology(c.topology_key)
        codes = topology.codes[kept]
        if c.topology_key == HOSTNAME:  # Volcano's nodes are empty here
            size, counts = len(kept), 0
        else:
            size = np.count_nonzero(topology.sum_by_value(kept))
            counted = _counted_nodes(kube, info, c, labelled)
            counts = topology.sum_by_value(counted, matching_pods(kube, c.selector,
                                                                  info.namespace))[codes]
        sums += np.where(codes >= 0, counts * math.log(size + 2) + (c.max_skew - 1), 0.0)
    whole = np.trunc(sums)
    rounded = (whole + np.copysign(np.abs(sums - whole) >= 0.5, sums)).astype(np.int64)
    result = np.zeros(len(kube.nodes), np.int64)
    if len(kept):
        lowest, highest = rounded.min(), max(rounded.max(), 0)
        result[kept] = 100 if highest == 0 else 100 * (highest + lowest - rounded) // highest
    return result[rows]
