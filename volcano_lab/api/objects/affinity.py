"""A pod's placement rules: affinity, tolerations, topology spread.

Volcano: k8s.io/api/core/v1 (Affinity, Toleration, TopologySpreadConstraint, NodeSelector)
"""

from attrs import Factory

from .meta import *


class NodeSelectorRequirement(Part):
    """One condition on a node's label or field; `Gt` and `Lt` compare integers."""

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
    """A preference: a node that matches `preference` gains `weight` (1 to 100)."""

    weight: int = whole(1, 100)
    preference: NodeSelectorTerm = Factory(NodeSelectorTerm)


class NodeAffinity(Part):
    """The labels that nodes must (required) and should (preferred) have."""

    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: list[PreferredSchedulingTerm] = Factory(
        list)


class PodAffinityTerm(Part):
    """The pods that match (by label and namespace), and the node label that groups nodes.

    `namespaces` and `namespace_selector` both unset mean the pod's own namespace.
    """

    label_selector: LabelSelector | None = None
    namespaces: list[str] = Factory(list)
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: list[str] = Factory(list)
    mismatch_label_keys: list[str] = Factory(list)


class WeightedPodAffinityTerm(Part):
    """A preferred term with a weight from 1 to 100."""

    weight: int = whole(1, 100)
    pod_affinity_term: PodAffinityTerm = Factory(PodAffinityTerm)


class PodAffinity(Part):
    """Place near matching pods."""

    required_during_scheduling_ignored_during_execution: list[PodAffinityTerm] = Factory(list)
    preferred_during_scheduling_ignored_during_execution: list[WeightedPodAffinityTerm] = Factory(
        list)


class PodAntiAffinity(PodAffinity):
    """Do not place near matching pods."""


class Affinity(Part):
    """A pod's affinity to nodes and to other pods."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAntiAffinity | None = None


class Toleration(Part):
    """A taint that the pod tolerates. An empty key with `Exists` tolerates all; an empty effect all
    effects.
    """

    key: str = ""
    operator: str = choice("Exists", "Equal")
    value: str = ""
    effect: str = choice("NoSchedule", "PreferNoSchedule", "NoExecute")
    toleration_seconds: int | None = whole(-INT64 - 1, INT64, None)


class TopologySpreadConstraint(Part):
    """The allowed skew of matching pods over the values of a node label."""

    max_skew: int = whole(1)
    topology_key: str = ""
    when_unsatisfiable: str = choice("DoNotSchedule", "ScheduleAnyway")
    label_selector: LabelSelector | None = None
    min_domains: int | None = whole(1, default=None)
    node_affinity_policy: str | None = choice("Honor", "Ignore", default=None)
    node_taints_policy: str | None = choice("Honor", "Ignore", default=None)
    match_label_keys: list[str] = Factory(list)
