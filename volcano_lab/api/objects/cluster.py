"""The cluster's resources and limits: nodes, namespaces, priority classes, quotas, ranges of
limits, disruption budgets.

Volcano: k8s.io/api/core/v1, k8s.io/api/scheduling/v1, k8s.io/api/policy/v1
"""

from attrs import Factory

from .meta import *


class Taint(Part):
    """Keeps pods off a node unless they tolerate it."""

    key: str = ""
    value: str = ""
    effect: str = choice("NoSchedule", "PreferNoSchedule", "NoExecute")


class NodeSpec(Part):
    """The administrator's settings of a node; cordoning sets `unschedulable`."""

    unschedulable: bool = False
    taints: list[Taint] = Factory(list)


class NodeCondition(Condition):
    """One condition of a node, such as `Ready` or `DiskPressure`."""

    last_heartbeat_time: Time | None = None


class NodeStatus(Part):
    """A node's resources (`capacity`) and those usable by pods (`allocatable`)."""

    capacity: ResourceList = Factory(dict)
    allocatable: ResourceList = Factory(dict)
    phase: str = choice("Pending", "Running", "Terminated")
    conditions: list[NodeCondition] = Factory(list)


class Node(KubernetesObject, kind="Node", versions=("v1",)):
    """A node.

    >>> from volcano_lab.api.objects import ObjectMeta
    >>> Node(ObjectMeta(name="node-1"), status=NodeStatus(allocatable={"cpu": "4"})).key
    'node-1'
    """

    spec: NodeSpec = Factory(NodeSpec)
    status: NodeStatus = Factory(NodeStatus)


class Namespace(KubernetesObject, kind="Namespace", versions=("v1",)):
    """A namespace; `namespaceSelector` matches its labels.

    >>> from volcano_lab.api.objects import ObjectMeta
    >>> Namespace(ObjectMeta(name="team", labels={"tier": "gold"})).metadata.labels
    {'tier': 'gold'}
    """


class PriorityClass(KubernetesObject, kind="PriorityClass",
                    versions=("scheduling.k8s.io/v1", "scheduling.k8s.io/v1beta1")):
    """A name for a priority; higher is first.

    >>> from volcano_lab.api.objects import ObjectMeta
    >>> PriorityClass(ObjectMeta(name="high"), value=1000).value
    1000
    """

    value: int = 0
    global_default: bool = False
    preemption_policy: str | None = choice("Never", "PreemptLowerPriority", default=None)
    description: str = ""


class ResourceQuotaSpec(Part):
    """The most that a namespace's pods may request together, such as `{"requests.cpu": "10"}`."""

    hard: ResourceList = Factory(dict)
    scopes: list[str] = Factory(list)
    scope_selector: Raw = Factory(dict)


class ResourceQuotaStatus(Part):
    """The limit in force and what is used of it."""

    hard: ResourceList = Factory(dict)
    used: ResourceList = Factory(dict)


class ResourceQuota(KubernetesObject, kind="ResourceQuota", versions=("v1",), namespaced=True):
    """A namespace's limit.

    >>> from volcano_lab.api.objects import ObjectMeta
    >>> ResourceQuota(ObjectMeta("quota", "team"), ResourceQuotaSpec({"cpu": "10"})).spec.hard
    {'cpu': '10'}
    """

    spec: ResourceQuotaSpec = Factory(ResourceQuotaSpec)
    status: ResourceQuotaStatus = Factory(ResourceQuotaStatus)


class LimitRangeItem(Part):
    """What the API server adds to, and refuses of, each container (or pod) of a namespace."""

    type: str = choice("Container", "Pod", "PersistentVolumeClaim")
    default: ResourceList = Factory(dict)
    default_request: ResourceList = Factory(dict)
    max: ResourceList = Factory(dict)
    min: ResourceList = Factory(dict)
    max_limit_request_ratio: ResourceList = Factory(dict)


class LimitRangeSpec(Part):
    """The limits, one for each type."""

    limits: list[LimitRangeItem] = Factory(list)


class LimitRange(KubernetesObject, kind="LimitRange", versions=("v1",), namespaced=True):
    """The requests and limits of containers that name none."""

    spec: LimitRangeSpec = Factory(LimitRangeSpec)

    def defaults(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return the limits and the requests: the maximum is the default limit, that the default
        request, and without both the minimum is.

        >>> LimitRange(spec=LimitRangeSpec([LimitRangeItem("Container", {"cpu": "2"})])).defaults()
        ({'cpu': '2'}, {'cpu': '2'})
        """
        found: tuple[dict[str, str], dict[str, str]] = {}, {}
        for item in self.spec.limits:
            if item.type == "Container":
                limits = item.max | item.default
                found[0].update(limits)
                found[1].update({**item.min, **limits, **item.default_request})
        return found


class PodDisruptionBudgetSpec(Part):
    """How many selected pods must stay (`min_available`) or may be disrupted (`max_unavailable`): a
    number or a percentage.
    """

    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    selector: LabelSelector | None = None
    unhealthy_pod_eviction_policy: str | None = choice("IfHealthyBudget", "AlwaysAllow",
                                                       default=None)


class PodDisruptionBudgetStatus(Part):
    """How many pods may be disrupted now, as of the cluster's last count."""

    disruptions_allowed: int = whole()
    disrupted_pods: dict[str, str] = Factory(dict)


class PodDisruptionBudget(KubernetesObject, kind="PodDisruptionBudget", namespaced=True,
                          versions=("policy/v1",)):
    """A bound on concurrent evictions of the selected pods.

    >>> from volcano_lab.api.objects import ObjectMeta
    >>> spec = PodDisruptionBudgetSpec(min_available="50%")
    >>> PodDisruptionBudget(ObjectMeta("web", "team"), spec).key
    'team/web'
    """

    spec: PodDisruptionBudgetSpec = Factory(PodDisruptionBudgetSpec)
    status: PodDisruptionBudgetStatus = Factory(PodDisruptionBudgetStatus)
