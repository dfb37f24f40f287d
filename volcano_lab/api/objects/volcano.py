"""Volcano's own kinds: Queue, PodGroup, HyperNode.

Volcano: volcano.sh/apis/pkg/apis/scheduling/v1beta1, volcano.sh/apis/pkg/apis/topology/v1alpha1
"""

from attrs import Factory

from .meta import *

SCHEDULING = ("scheduling.volcano.sh/v1beta1", "scheduling.volcano.sh/v1alpha1")


class Guarantee(Part):
    """The resources reserved for a queue even when it is idle; `resource` unset: none."""

    resource: ResourceList | None = None


class NodeGroupAffinity(Part):
    """Names of node groups in which a queue's pods must or should run (or, as anti-affinity, must
    or should not).
    """

    required_during_scheduling_ignored_during_execution: list[str] = Factory(list)
    preferred_during_scheduling_ignored_during_execution: list[str] = Factory(list)


class QueueAffinity(Part):
    """A queue's node groups, read by the nodegroup plugin."""

    node_group_affinity: NodeGroupAffinity | None = None
    node_group_anti_affinity: NodeGroupAffinity | None = None


class ExtendCluster(Part):
    """Another cluster that also serves the queue."""

    name: str = ""
    weight: int = 0
    capacity: ResourceList | None = None


class QueueSpec(Part):
    """The queue's settings. The plugins define what unset `capability` and `deserved` mean."""

    weight: int | None = whole(1, 65535, None)
    capability: ResourceList | None = None
    deserved: ResourceList | None = None
    guarantee: Guarantee = Factory(Guarantee)
    reclaimable: bool | None = None
    parent: str = ""
    priority: int = whole()
    affinity: QueueAffinity | None = None
    dequeue_strategy: str = choice("fifo", "traverse")
    extend_clusters: list[ExtendCluster] = Factory(list)
    type: str = ""


class QueueStatus(Part):
    """The queue's state, its number of PodGroups by phase, and its allocated resources."""

    state: str = choice("Open", "Closed", "Closing", "Unknown")
    unknown: int = whole()
    pending: int = whole()
    running: int = whole()
    inqueue: int = whole()
    completed: int = whole()
    allocated: ResourceList | None = None


class Queue(KubernetesObject, kind="Queue", versions=SCHEDULING):
    """A queue of PodGroups; queues share the cluster.

    >>> from volcano_lab.api.objects import ObjectMeta
    >>> spec = QueueSpec(weight=3, capability={"cpu": "50"})
    >>> Queue(ObjectMeta(name="research"), spec).spec.capability
    {'cpu': '50'}
    """

    spec: QueueSpec = Factory(QueueSpec)
    status: QueueStatus = Factory(QueueStatus)


class NetworkTopologySpec(Part):
    """How close in the network pods must (`hard`) or should (`soft`) be: the highest tier, by
    number or name.
    """

    mode: str = choice("hard", "soft")
    highest_tier_allowed: int | None = whole(0, INT64, None)
    highest_tier_name: str = ""


class SubGroupPolicySpec(Part):
    """The division of a PodGroup's pods into sub-groups, their size and how many the gang needs."""

    name: str = ""
    network_topology: NetworkTopologySpec | None = None
    sub_group_size: int | None = whole(1, default=None)
    min_sub_groups: int | None = whole(default=None)
    label_selector: LabelSelector | None = None
    match_label_keys: list[str] = Factory(list)


class PodGroupSpec(Part):
    """A gang's minimum: members (`min_member`, and for each task role `min_task_member`) and
    resources.

    `min_resources` unset differs from empty: without it the gang is admitted unconditionally.
    """

    min_member: int = whole()
    min_task_member: dict[str, int] = Factory(dict)
    queue: str = ""
    priority_class_name: str = ""
    min_resources: ResourceList | None = None
    network_topology: NetworkTopologySpec | None = None
    sub_group_policy: list[SubGroupPolicySpec] = Factory(list)


class PodGroupCondition(Part):
    """One condition of a gang, such as `Unschedulable` with its reason."""

    type: str = ""
    status: str = choice("True", "False", "Unknown")
    transition_id: str = named("transitionID")
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""


class PodGroupStatus(Part):
    """The gang's status."""

    phase: str = choice("Pending", "Running", "Unknown", "Inqueue", "Completed")
    conditions: list[PodGroupCondition] = Factory(list)
    running: int = 0
    succeeded: int = 0
    failed: int = 0

    def clone(self) -> "PodGroupStatus":
        """Return a copy with its own list of conditions."""
        return PodGroupStatus(self.phase, self.conditions.copy(), self.running, self.succeeded,
                              self.failed)


class PodGroup(KubernetesObject, kind="PodGroup", versions=SCHEDULING, namespaced=True):
    """A gang of pods, placed together or not at all.

    >>> from volcano_lab.api.objects import ObjectMeta
    >>> PodGroup(ObjectMeta("train", "team"), PodGroupSpec(min_member=4, queue="research")).key
    'team/train'
    """

    spec: PodGroupSpec = Factory(PodGroupSpec)
    status: PodGroupStatus = Factory(PodGroupStatus)

    def clone(self) -> "PodGroup":
        """Return a copy whose status and topologies change independently; metadata is shared."""
        spec = self.spec
        if spec.network_topology is not None or spec.sub_group_policy:
            policies = [each.evolve(
                network_topology=each.network_topology and each.network_topology.evolve())
                for each in spec.sub_group_policy]
            topology = spec.network_topology and spec.network_topology.evolve()
            spec = spec.evolve(network_topology=topology, sub_group_policy=policies)
        return PodGroup(self.metadata, spec, self.status.clone())


class ExactMatch(Part):
    """The member with exactly this name."""

    name: str = ""


class RegexMatch(Part):
    """Members whose name matches the pattern (Go's RE2 syntax)."""

    pattern: str = ""


class MemberSelector(Part):
    """One of three ways to select members."""

    exact_match: ExactMatch | None = None
    regex_match: RegexMatch | None = None
    label_match: LabelSelector | None = None


class MemberSpec(Part):
    """Members of a hypernode: nodes (tier 1) or hypernodes below it."""

    type: str = choice("Node", "HyperNode")
    selector: MemberSelector = Factory(MemberSelector)


class HyperNodeSpec(Part):
    """A hypernode's position in the network: the lower the tier, the closer its members.

    The API sets tiers no upper bound; here it is far above any network, as each tier is visited.
    """

    tier: int = whole(0, 10_000)
    tier_name: str = ""
    members: list[MemberSpec] = Factory(list)


class HyperNodeStatus(Part):
    """The hypernode controller's counts."""

    node_count: int = whole(0, INT64)
    conditions: list[Raw] = Factory(list)


class HyperNode(KubernetesObject, kind="HyperNode", versions=("topology.volcano.sh/v1alpha1",)):
    """A part of the network whose nodes are close to each other.

    >>> from volcano_lab.api.objects import ObjectMeta
    >>> HyperNode(ObjectMeta("rack-1"), HyperNodeSpec(1, members=[MemberSpec("Node")])).spec.tier
    1
    """

    spec: HyperNodeSpec = Factory(HyperNodeSpec)
    status: HyperNodeStatus = Factory(HyperNodeStatus)
