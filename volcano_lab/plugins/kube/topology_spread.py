"""Topology spread: the allowed skew of matching pods over the values of a node label.

`DoNotSchedule` constraints refuse nodes, `ScheduleAnyway` ones score them. Kept as in Volcano: in
the score, pods per node (`kubernetes.io/hostname`) always count as 0, since Volcano passes nodes
without their pods to Kubernetes.

Volcano: k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread
"""

import math
from collections.abc import Sequence

import numpy as np
from attrs import frozen

from volcano_lab.api import UNRESOLVABLE, UNSCHEDULABLE, Selector, Status, label_selector, taints
from volcano_lab.api.node_affinity import ANY_NODE
from volcano_lab.api.objects import TopologySpreadConstraint

from .node_pods import ByVerdict, KubeNodes
from .pod_counts import matching_pods
from .pod_info import Labels, PodInfo

NAME = "PodTopologySpread"
REASON = "node(s) didn't match pod topology spread constraints"
MISSING_LABEL_REASON = f"{REASON} (missing required label)"
HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
DO_NOT_SCHEDULE, SCHEDULE_ANYWAY = "DoNotSchedule", "ScheduleAnyway"

FITS, NO_LABEL, TOO_MANY = range(3)
REFUSALS = (None, Status(UNRESOLVABLE, MISSING_LABEL_REASON, NAME),
            Status(UNSCHEDULABLE, REASON, NAME))
"""The constraints' statuses for a node."""


@frozen(cache_hash=True)
class Constraint:
    """A compiled constraint. Its policies say whether nodes that the pod cannot use are excluded
    from the counts.
    """

    max_skew: int
    topology_key: str
    selector: Selector
    min_domains: int = 1
    honor_affinity: bool = True
    honor_taints: bool = False


def constraints(info: PodInfo, action: str) -> tuple[Constraint, ...]:
    """Return the pod's constraints of one kind.

    >>> from volcano_lab.api.objects import Pod
    >>> constraints(PodInfo(Pod()), SCHEDULE_ANYWAY)
    ()
    """
    return tuple(_compile(c, info.labels) for c in info.pod.spec.topology_spread_constraints
                 if c.when_unsatisfiable == action)


def _compile(c: TopologySpreadConstraint, labels: Labels) -> Constraint:
    same = {key: labels[key] for key in c.match_label_keys if key in labels}
    return Constraint(c.max_skew, c.topology_key,
                      label_selector(c.label_selector).with_labels(same),
                      1 if c.min_domains is None else c.min_domains,
                      c.node_affinity_policy != "Ignore", c.node_taints_policy == "Honor")


def counted_nodes(kube: KubeNodes, info: PodInfo, constraint: Constraint,
                  labelled: np.ndarray) -> np.ndarray:
    """Return the nodes whose pods and domains a constraint counts, of those with all labels."""
    mask, terms, tolerations = labelled, info.required_nodes, info.pod.spec.tolerations
    if constraint.honor_affinity and terms is not ANY_NODE:
        mask = mask & kube.required(terms)
    if constraint.honor_taints:
        mask = mask & kube.mask(("taints", info.tolerations), lambda node: taints.first_untolerated(
            node.node.spec.taints, tolerations) is None)
    return mask


def have_all_labels(kube: KubeNodes, found: Sequence[Constraint]) -> np.ndarray:
    """Return the nodes with the labels of all constraints of a pod."""
    mask = np.ones(len(kube.nodes), bool)
    for constraint in found:
        mask &= kube.topology(constraint.topology_key).codes >= 0
    return mask


# -- predicate -------------------------------------------------------------------------------------


class SpreadState(ByVerdict):
    """Whether placing the pod on each node would exceed the allowed skew of the `DoNotSchedule`
    constraints, as of the task's `pre_predicate`.
    """

    refusals = REFUSALS

    def __init__(self, kube: KubeNodes, info: PodInfo, found: tuple[Constraint, ...]):
        self.verdicts = np.full(len(kube.nodes), FITS)
        labelled = have_all_labels(kube, found)
        for c in found:
            topology = kube.topology(c.topology_key)
            counted = counted_nodes(kube, info, c, labelled)
            matches = topology.sum_by_value(counted,
                                            matching_pods(kube, c.selector, info.namespace))
            in_domains = matches[topology.sum_by_value(counted) > 0]
            lowest = int(in_domains.min()) if 0 < len(in_domains) >= c.min_domains else 0
            skew = matches[topology.codes] + int(c.selector.matches(info.labels)) - lowest
            verdicts = np.where(skew > c.max_skew, TOO_MANY, FITS)
            verdicts[topology.codes < 0] = NO_LABEL
            self.verdicts = np.where(self.verdicts == FITS, verdicts, self.verdicts)


def pre_filter(kube: KubeNodes, info: PodInfo) -> SpreadState | None:
    """Count for an incoming pod; None where it has no `DoNotSchedule` constraint."""
    if not info.pod.spec.topology_spread_constraints:
        return None
    found = constraints(info, DO_NOT_SCHEDULE)
    return SpreadState(kube, info, found) if found else None


# -- score -----------------------------------------------------------------------------------------


def scores(kube: KubeNodes, info: PodInfo, rows: np.ndarray) -> np.ndarray | int:
    """Return 0 to 100 for each node in `rows`: the fewer matching pods in its domains, the higher.

    0 for all without constraints; a node without a label of the pod's constraints gets 0.
    """
    found = constraints(info, SCHEDULE_ANYWAY)
    if not found or not len(rows):
        return 0
    labelled = have_all_labels(kube, found)
    kept = rows[labelled[rows]]
    sums = np.zeros(len(kept))
    for c in found:
        topology = kube.topology(c.topology_key)
        codes = topology.codes[kept]
        counts: np.ndarray | int = 0
        if c.topology_key == HOSTNAME:  # Volcano passes nodes without pods here
            size = len(kept)
        else:
            size = int(np.count_nonzero(topology.sum_by_value(kept)))
            counted = counted_nodes(kube, info, c, labelled)
            counts = topology.sum_by_value(counted, matching_pods(kube, c.selector,
                                                                  info.namespace))[codes]
        sums += np.where(codes >= 0, counts * math.log(size + 2) + (c.max_skew - 1), 0.0)
    whole = np.trunc(sums)
    rounded = (whole + np.copysign(np.abs(sums - whole) >= 0.5, sums)).astype(np.int64)
    result = np.zeros(len(kube.nodes), np.int64)
    if len(kept):
        lowest, highest = rounded.min(), max(rounded.max(), 0)
        result[kept] = 100 if highest == 0 else 100 * (highest + lowest - rounded) // highest
    scores: np.ndarray = result[rows]
    return scores
