"""Where a pod wants to run: affinity, tolerations, topology spread.

Volcano: k8s.io/api/core/v1 (Affinity, Toleration, TopologySpreadConstraint, NodeSelector)
"""

from .meta import *


class NodeSelectorRequirement(Part):
    """One condition on a node's label or field; `Gt` and `Lt` compare whole numbers."""

    key: str = ""
    operator: str = choice("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
    values: list[str] = Factory(list)


class NodeSelectorTerm(Part):
    """Conditions that must all hold; a term without any matches no node."""

    match_expressions: list[NodeSelectorRequirement] = Factory(list)
    match_fields: list[NodeSelectorRequirement] = Factory(list)


class NodeSelector(Part):
    """Terms of which at least one must hold."""

    node_selector_terms: list[NodeSelectorTerm] = Factory(list)


class PreferredSchedulingTerm(Part):
    """A wish: a node for which `preference` holds gains `weight` (1 to 100)."""

    weight: int = whole(1, 100)
    preference: NodeSelectorTerm = Factory(NodeSelectorTerm)


class NodeAffinity(Part):
    """What nodes must (required) and should (preferred) look like."""

    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: list[PreferredSchedulingTerm] = Factory(
        list)


class PodAffinityTerm(Part):
    """Pods (by label and namespace) that count, and the node label that says what "together" means.

    `namespaces` and `namespace_selector` both unset mean the pod's own namespace.
    """

    label_selector: LabelSelector | None = None
    namespaces: list[str] = Factory(list)
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: list[str] = Factory(list)
    mismatch_label_keys: list[str] = Factory(list)


class WeightedPodAffinityTerm(Part):
    """A wish with a weight from 1 to 100."""

    weight: int = whole(1, 100)
    pod_affinity_term: PodAffinityTerm = Factory(PodAffinityTerm)


class PodAffinity(Part):
    """Be where such pods are."""

    required_during_scheduling_ignored_during_execution: list[PodAffinityTerm] = Factory(list)
    preferred_during_scheduling_ignored_during_execution: list[WeightedPodAffinityTerm] = Factory(
        list)


class PodAntiAffinity(PodAffinity):
    """Be where no such pods are."""


class Affinity(Part):
    """A pod's wishes about nodes and about its neighbours."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAntiAffinity | None = None


class Toleration(Part):
    """A taint that the pod puts up with. An empty key with `Exists` tolerates all; an empty effect
    all effects.
    """

    key: str = ""
    operator: str = choice("Exists", "Equal")
    value: str = ""
    effect: str = choice("NoSchedule", "PreferNoSchedule", "NoExecute")
    toleration_seconds: int | None = whole(-INT64 - 1, INT64, None)


class TopologySpreadConstraint(Part):
    """How unevenly matching pods may lie over the values of a node label."""

    max_skew: int = whole(1)
    topology_key: str = ""
    when_unsatisfiable: str = choice("DoNotSchedule", "ScheduleAnyway")
    label_selector: LabelSelector | None = None
    min_domains: int | None = whole(1, default=None)
    node_affinity_policy: str | None = choice("Honor", "Ignore", default=None)
    node_taints_policy: str | None = choice("Honor", "Ignore", default=None)
    match_label_keys: list[str] = Factory(list)
