"""The pod, the unit of scheduling.

Probes, commands, environment and the like are left out: no scheduling decision reads them. Volumes
and resource claims are kept as in the manifest.

Volcano: k8s.io/api/core/v1 (Pod)
"""

from attrs import Factory

from .affinity import Affinity, Toleration, TopologySpreadConstraint
from .meta import *


class ContainerPort(Part):
    """A port; only `host_port` (0: none) matters to scheduling."""

    name: str = ""
    host_port: int = whole(0, 65535)
    container_port: int = whole(1, 65535)
    protocol: str = choice("TCP", "UDP", "SCTP")
    host_ip: str = named("hostIP")


class ResourceRequirements(Part):
    """A container's `requests` and `limits`. Scheduling counts requests."""

    requests: ResourceList = Factory(dict)
    limits: ResourceList = Factory(dict)
    claims: list[Raw] = Factory(list)


class Container(Part):
    """A container; `restart_policy` "Always" makes an init container a sidecar."""

    name: str = ""
    ports: list[ContainerPort] = Factory(list)
    resources: ResourceRequirements = Factory(ResourceRequirements)
    restart_policy: str | None = choice("Always", "OnFailure", "Never", default=None)


class PodSchedulingGate(Part):
    """A condition that must be met before the pod may be scheduled."""

    name: str = ""


class PodSpec(Part):
    """The pod's settings. `node_name` is empty until it is bound; `priority` unset counts as 0 (or
    Volcano's 1).
    """

    containers: list[Container] = Factory(list)
    init_containers: list[Container] = Factory(list)
    overhead: ResourceList = Factory(dict)
    resources: ResourceRequirements | None = None
    node_name: str = ""
    node_selector: dict[str, str] = Factory(dict)
    affinity: Affinity | None = None
    tolerations: list[Toleration] = Factory(list)
    topology_spread_constraints: list[TopologySpreadConstraint] = Factory(list)
    priority: int | None = None
    priority_class_name: str = ""
    preemption_policy: str | None = choice("Never", "PreemptLowerPriority", default=None)
    scheduler_name: str = ""
    scheduling_gates: list[PodSchedulingGate] = Factory(list)
    host_network: bool = False
    restart_policy: str = choice("Always", "OnFailure", "Never")
    termination_grace_period_seconds: int | None = whole(0, INT64, None)
    volumes: list[Raw] = Factory(list)
    resource_claims: list[Raw] = Factory(list)


class PodCondition(Condition):
    """One condition of the pod, such as `PodScheduled` being `False` for a reason."""


class ContainerState(Part):
    """Why a container waits, since when it runs, or how it ended, as in the manifest."""

    waiting: Raw = Factory(dict)
    running: Raw = Factory(dict)
    terminated: Raw = Factory(dict)


class ContainerStatus(Part):
    """A container's status."""

    name: str = ""
    ready: bool = False
    state: ContainerState = Factory(ContainerState)
    allocated_resources: ResourceList = Factory(dict)
    resources: ResourceRequirements | None = None


class PodStatus(Part):
    """The pod's status."""

    phase: str = choice("Pending", "Running", "Succeeded", "Failed", "Unknown")
    conditions: list[PodCondition] = Factory(list)
    nominated_node_name: str = ""
    container_statuses: list[ContainerStatus] = Factory(list)
    init_container_statuses: list[ContainerStatus] = Factory(list)
    resize: str = ""
    reason: str = ""
    message: str = ""
    start_time: Time | None = None


class Pod(KubernetesObject, kind="Pod", versions=("v1",), namespaced=True):
    """A pod.

    >>> from volcano_lab.api.objects import ObjectMeta
    >>> pod = Pod(ObjectMeta(name="web-0", namespace="default"))
    >>> pod.spec.containers.append(Container(resources=ResourceRequirements({"cpu": "500m"})))
    >>> pod.key, pod.spec.containers[0].resources.requests
    ('default/web-0', {'cpu': '500m'})
    """

    spec: PodSpec = Factory(PodSpec)
    status: PodStatus = Factory(PodStatus)
