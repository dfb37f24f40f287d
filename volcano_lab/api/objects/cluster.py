"""What the cluster offers and limits: nodes, namespaces, priority classes, quotas, disruption
budgets.

Answers to `k8s.io/api/core/v1`, `scheduling/v1` and `policy/v1`.
"""

from __future__ import annotations

from typing import ClassVar

from attrs import Factory, define

from .meta import (
    INT64,
    KubernetesObject,
    LabelSelector,
    ObjectMeta,
    ResourceList,
    Time,
    choice,
    named,
    whole,
)


@define
class Taint:
    """What keeps pods off a node unless they tolerate it."""

    key: str = ""
    value: str = ""
    effect: str = choice("NoSchedule", "PreferNoSchedule", "NoExecute")
    time_added: Time | None = None


@define
class NodeSpec:
    """What the administrator says about a node; `unschedulable` is what cordoning sets."""

    unschedulable: bool = False
    taints: list[Taint] = Factory(list)
    provider_id: str = named("providerID")


@define
class NodeCondition:
    """One finding about a node, such as `Ready` or `DiskPressure`."""

    type: str = ""
    status: str = choice("True", "False", "Unknown")
    reason: str = ""
    message: str = ""
    last_heartbeat_time: Time | None = None
    last_transition_time: Time | None = None


@define
class ContainerImage:
    """An image that the node holds already, with its size in bytes."""

    names: list[str] = Factory(list)
    size_bytes: int = whole(0, INT64)


@define
class NodeStatus:
    """What a node has (`capacity`) and what pods may use of it (`allocatable`)."""

    capacity: ResourceList = Factory(dict)
    allocatable: ResourceList = Factory(dict)
    phase: str = choice("Pending", "Running", "Terminated")
    conditions: list[NodeCondition] = Factory(list)
    images: list[ContainerImage] = Factory(list)


@define
class Node(KubernetesObject):
    """A node.

    >>> Node(ObjectMeta(name="node-1"), status=NodeStatus(allocatable={"cpu": "4"})).key
    'node-1'
    """

    kind: ClassVar[str] = "Node"
    api_versions: ClassVar[tuple[str, ...]] = ("v1",)

    metadata: ObjectMeta = Factory(ObjectMeta)
    spec: NodeSpec = Factory(NodeSpec)
    status: NodeStatus = Factory(NodeStatus)


@define
class Namespace(KubernetesObject):
    """A namespace; its labels are what `namespaceSelector` looks at.

    >>> Namespace(ObjectMeta(name="team", labels={"tier": "gold"})).metadata.labels
    {'tier': 'gold'}
    """

    kind: ClassVar[str] = "Namespace"
    api_versions: ClassVar[tuple[str, ...]] = ("v1",)

    metadata: ObjectMeta = Factory(ObjectMeta)


@define
class PriorityClass(KubernetesObject):
    """A name for a priority; higher goes first.

    >>> PriorityClass(ObjectMeta(name="high"), value=1000).value
    1000
    """

    kind: ClassVar[str] = "PriorityClass"
    api_versions: ClassVar[tuple[str, ...]] = ("scheduling.k8s.io/v1", "scheduling.k8s.io/v1beta1")

    metadata: ObjectMeta = Factory(ObjectMeta)
    value: int = 0
    global_default: bool = False
    preemption_policy: str | None = choice("Never", "PreemptLowerPriority", default=None)
    description: str = ""


@define
class ResourceQuotaSpec:
    """The most a namespace may ask for in sum, such as `{"requests.cpu": "10"}`."""

    hard: ResourceList = Factory(dict)
    scopes: list[str] = Factory(list)


@define
class ResourceQuotaStatus:
    """The limit in force and what is used of it."""

    hard: ResourceList = Factory(dict)
    used: ResourceList = Factory(dict)


@define
class ResourceQuota(KubernetesObject):
    """A namespace's limit.

    >>> ResourceQuota(ObjectMeta("quota", "team"), ResourceQuotaSpec({"cpu": "10"})).spec.hard
    {'cpu': '10'}
    """

    kind: ClassVar[str] = "ResourceQuota"
    api_versions: ClassVar[tuple[str, ...]] = ("v1",)
    namespaced: ClassVar[bool] = True

    metadata: ObjectMeta = Factory(ObjectMeta)
    spec: ResourceQuotaSpec = Factory(ResourceQuotaSpec)
    status: ResourceQuotaStatus = Factory(ResourceQuotaStatus)


@define
class PodDisruptionBudgetSpec:
    """How many selected pods must stay (`min_available`) or may go (`max_unavailable`): a number or
    a percentage.
    """

    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    selector: LabelSelector | None = None
    unhealthy_pod_eviction_policy: str | None = choice("IfHealthyBudget", "AlwaysAllow",
                                                       default=None)


@define
class PodDisruptionBudgetStatus:
    """How many pods may go right now, as the cluster last counted."""

    disruptions_allowed: int = whole()
    current_healthy: int = whole()
    desired_healthy: int = whole()
    expected_pods: int = whole()
    disrupted_pods: dict[str, str] = Factory(dict)


@define
class PodDisruptionBudget(KubernetesObject):
    """A promise to pods that not too many of them are evicted at once.

    >>> PodDisruptionBudget(ObjectMeta("web", "team"), PodDisruptionBudgetSpec(min_available="50%")).key
    'team/web'
    """

    kind: ClassVar[str] = "PodDisruptionBudget"
    api_versions: ClassVar[tuple[str, ...]] = ("policy/v1",)
    namespaced: ClassVar[bool] = True

    metadata: ObjectMeta = Factory(ObjectMeta)
    spec: PodDisruptionBudgetSpec = Factory(PodDisruptionBudgetSpec)
    status: PodDisruptionBudgetStatus = Factory(PodDisruptionBudgetStatus)
