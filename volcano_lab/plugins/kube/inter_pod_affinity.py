"""Pod affinity and anti-affinity, of the incoming pod and of existing pods towards it.

Kept as in Kubernetes: required affinity does not refuse the first pod of a group with affinity to
its own labels; a namespace selector of the incoming pod is resolved to namespaces, and also matched
against no labels at all; preferred terms of existing pods count both ways, required ones only where
they are anti-affinity (Volcano sets the weight of required affinity to 0). Existing pods count only
on nodes that had a pod with affinity when the session opened (see `node_pods`).

Volcano: k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from attrs import evolve

from volcano_lab.api.fit_error import UNRESOLVABLE, UNSCHEDULABLE, Status

from .node_pods import ByVerdict, KubeNodes
from .pod_counts import PairCounts, Rows, pair_counts
from .pod_info import AffinityTerm, Labels, PodInfo

NAME = "InterPodAffinity"
AFFINITY_REASON = "node(s) didn't match pod affinity rules"
ANTI_AFFINITY_REASON = "node(s) didn't match pod anti-affinity rules"
EXISTING_REASON = "node(s) didn't satisfy existing pods anti-affinity rules"
NO_LABELS: Labels = {}

REFUSALS = (None, Status(UNRESOLVABLE, AFFINITY_REASON, NAME),
            Status(UNSCHEDULABLE, ANTI_AFFINITY_REASON, NAME),
            Status(UNSCHEDULABLE, EXISTING_REASON, NAME))
"""The rule's statuses for a node; earlier ones take precedence."""


class AffinityState(ByVerdict):
    """The counts for one incoming pod, by topology value: pods that match its terms, and terms of
    others that match it.

    `affinity` counts pods that match all its required terms, `anti_affinity` pods that match each
    of its required anti-affinity terms, `existing` other pods' required anti-affinity terms that
    match it.
    """

    refusals = REFUSALS

    def __init__(self, info: PodInfo, namespace_labels: Labels, required: tuple[AffinityTerm, ...],
                 apart: tuple[AffinityTerm, ...], existing: PairCounts, affinity: PairCounts,
                 anti: PairCounts):
        self.info, self.namespace_labels = info, namespace_labels
        self.required, self.apart = required, apart
        self.existing, self.affinity, self.anti_affinity = existing, affinity, anti
        self._known: np.ndarray | None = None

    def __copy__(self) -> AffinityState:
        """Return a copy with its own counts, to simulate evictions on."""
        return AffinityState(self.info, self.namespace_labels, self.required, self.apart,
                             self.existing.copy(), self.affinity.copy(), self.anti_affinity.copy())

    def update(self, pod: PodInfo, row: int, sign: int) -> None:
        """Count a pod that is added to (+1) or removed from (-1) the node in `row`."""
        _count(self.existing, row, sign, pod.required_anti_affinity, self.info,
               self.namespace_labels)
        _count_together(self.required, self.affinity, row, pod, sign)
        _count_apart(self.apart, self.anti_affinity, row, pod, sign)
        self._known = None

    @property
    def verdicts(self) -> np.ndarray:
        if self._known is None:
            kube = self.existing.kube
            alone, apart, hurts = np.zeros((3, len(kube.nodes)), bool)
            first_of_group = self.affinity.is_zero() and _matches_all(self.required, self.info)
            for term in self.required:  # a node without the label never satisfies affinity
                key = term.topology_key
                alone |= (kube.topology(key).codes < 0) | ((self.affinity.nodes(key) <= 0)
                                                           & (not first_of_group))
            for term in self.apart:
                apart |= self.anti_affinity.nodes(term.topology_key) > 0
            for key in self.existing.counts:
                hurts |= self.existing.nodes(key) > 0
            self._known = np.select([alone, apart, hurts], [1, 2, 3], 0)
        return self._known


def pre_filter(kube: KubeNodes, info: PodInfo) -> AffinityState | None:
    """Count for an incoming pod; None where pod affinity has nothing to check."""
    if not (info.required_affinity or info.required_anti_affinity
            or kube.rows_with_required_anti_affinity):
        return None
    own_labels = kube.namespaces.get(info.namespace, NO_LABELS)
    existing = _existing(kube, info, own_labels)
    required = _with_namespaces(kube, info.required_affinity)
    apart = _with_namespaces(kube, info.required_anti_affinity)
    if existing.is_zero() and not required and not apart:
        return None
    together = pair_counts(kube, ("together", required), partial(_count_together, required),
                           required)
    away = pair_counts(kube, ("apart", apart), partial(_count_apart, apart), apart)
    return AffinityState(info, own_labels, required, apart, existing.copy(), together.copy(),
                         away.copy())


def _existing(kube: KubeNodes, info: PodInfo, own_labels: Labels) -> PairCounts:
    """Count required anti-affinity terms of other pods that match this one."""
    among = kube.rows_with_required_anti_affinity

    def count(counts: PairCounts, row: Rows, pod: PodInfo, sign: int) -> None:
        _count(counts, _rows_in(row, among), sign, pod.required_anti_affinity, info, own_labels)

    key = "existing", *kube.seen_by_terms(info)
    return pair_counts(kube, key, count, only_affinity=True)


def _rows_in(row: Rows, among: frozenset[int]) -> np.ndarray:
    return np.array([each for each in np.atleast_1d(row).tolist() if each in among], np.intp)


def _count(counts: PairCounts, row: Rows, sign: int, terms: Sequence[AffinityTerm], pod: PodInfo,
           namespace_labels: Labels = NO_LABELS) -> None:
    """Add the weight of each term that a pod matches."""
    for term in terms:
        if term.matches(pod.namespace, pod.labels, namespace_labels):
            counts.add(term.topology_key, row, sign * term.weight)


def _count_together(terms: Sequence[AffinityTerm], counts: PairCounts, row: Rows, pod: PodInfo,
                    sign: int) -> None:
    if terms and _matches_all(terms, pod):
        for term in terms:
            counts.add(term.topology_key, row, sign)


def _count_apart(terms: Sequence[AffinityTerm], counts: PairCounts, row: Rows, pod: PodInfo,
                 sign: int) -> None:
    _count(counts, row, sign, terms, pod)


def _matches_all(terms: Sequence[AffinityTerm], pod: PodInfo) -> bool:
    return bool(terms) and all(term.matches(pod.namespace, pod.labels, NO_LABELS) for term in terms)


def _with_namespaces(kube: KubeNodes, terms: tuple[AffinityTerm, ...]) -> tuple[AffinityTerm, ...]:
    """Return the terms with the names of the namespaces that their selectors match."""
    if not kube.namespaces or all(t.namespace_selector.is_empty()
                                  or t.namespace_selector.requirements is None for t in terms):
        return terms
    return tuple(evolve(term, namespaces=term.namespaces
                        | {name for name, labels in kube.namespaces.items()
                           if term.namespace_selector.matches(labels)}) for term in terms)


# -- the score -------------------------------------------------------------------------------------


def preferences(kube: KubeNodes, info: PodInfo) -> PairCounts:
    """Sum the weights of preferred terms that placing the pod would satisfy, by topology value;
    anti-affinity counts negative.

    The pod's own terms are matched against every pod; terms of existing pods count on all nodes if
    it has preferred terms, else on nodes that had a pod with affinity when the session opened.
    """
    own = _with_namespaces(kube, info.preferred)
    among = None if info.preferred else kube.rows_with_affinity
    own_labels = kube.namespaces.get(info.namespace, NO_LABELS)

    def count(counts: PairCounts, row: Rows, pod: PodInfo, sign: int) -> None:
        rows = row if among is None else _rows_in(row, among)
        _count(counts, rows, sign, own, pod)
        _count(counts, rows, sign, pod.preferred, info, own_labels)

    key = "preferences", own, *kube.seen_by_terms(info)
    return pair_counts(kube, key, count, own, only_affinity=not own)


def scores(kube: KubeNodes, info: PodInfo, rows: np.ndarray) -> np.ndarray | int:
    """Return 0 to 100 for each node in `rows`, by the sum of matching weights; 0 for all without
    any.
    """
    weights = preferences(kube, info)
    if weights.is_zero() or not len(rows):
        return 0
    sums = sum(weights.nodes(key)[rows] for key in weights.counts)
    lowest = sums.min()
    spread = sums.max() - lowest
    return (100 * ((sums - lowest) / spread)).astype(np.int64) if spread else 0
