"""A task: one pod in the scheduler, and its request.

Not modelled: NUMA decisions.

Volcano: pkg/scheduler/api/job_info.go (TaskInfo, TransactionContext), pkg/scheduler/api/pod_info.go
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from volcano_lab.api.durations import parse_bool
from volcano_lab.api.objects import Pod
from volcano_lab.api.pod_sum import requests_in_force
from volcano_lab.api.resource import PODS, Resource, total
from volcano_lab.api.status import TaskStatus

GROUP_NAME = "scheduling.k8s.io/group-name"
TASK_SPEC = "volcano.sh/task-spec"
TASK_PRIORITY_ANNOTATION = "volcano.sh/task-priority"
COOLDOWN_TIME = "volcano.sh/cooldown-time"
PREEMPTABLE = "volcano.sh/preemptable"
REVOCABLE_ZONE = "volcano.sh/revocable-zone"

ONE_POD = Resource(scalars={PODS: 1.0})


class TransactionContext(NamedTuple):
    """A statement's plan for a task when it was discarded; it explains why the task still waits."""

    node_name: str
    eviction_occurred: bool
    status: TaskStatus


class TaskInfo:
    """One pod: its request, and its state in this session.

    `resreq` is what it takes on a node; `key` is "namespace/name", `job` the id of its job, or ""
    without one. `priority` is the pod's own, or the one in the `volcano.sh/task-priority`
    annotation, or 1.

    `attached` is the pod's number of volumes by CSI driver: resources that it requests, one by one,
    on its node.

    Tasks with the same `template` have equal pods but for name, labels and annotations.

    >>> from volcano_lab.api.objects import Container, ObjectMeta, PodSpec, ResourceRequirements
    >>> pod = Pod(ObjectMeta(name="a-0", namespace="default",
    ...                      annotations={"scheduling.k8s.io/group-name": "a"}),
    ...           PodSpec(containers=[Container(resources=ResourceRequirements({"cpu": "1"}))]))
    >>> task = TaskInfo(pod)
    >>> task.key, task.job, task.resreq, str(task.status)
    ('default/a-0', 'default/a', Resource(cpu=1000, memory=0, pods=1), 'Unknown')
    """

    __slots__ = ("uid", "job", "name", "namespace", "key", "task_role", "resreq", "priority",
                 "preemptable", "best_effort", "sch_gated", "revocable_zone", "pod",
                 "creation_timestamp", "order_index", "template", "node_name", "status",
                 "eviction_occurred", "job_allocated_hyper_node", "last_transaction")

    def __init__(self, pod: Pod, attached: Mapping[str, int] | None = None):
        meta, spec = pod.metadata, pod.spec
        annotations, labels = meta.annotations, meta.labels
        self.pod = pod
        self.uid = meta.uid
        self.name, self.namespace = meta.name, meta.namespace
        self.key = f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name
        group = annotations.get(GROUP_NAME, "")
        self.job = f"{meta.namespace}/{group}" if group else ""
        self.task_role = annotations.get(TASK_SPEC) or labels.get(TASK_SPEC) or ""
        request = pod_resource_request(pod)
        self.resreq = request if not attached else request + Resource(
            scalars={name: float(count) for name, count in attached.items()})
        self.best_effort = self.resreq.is_empty()
        self.priority = 1 if spec.priority is None else spec.priority
        override = annotations.get(TASK_PRIORITY_ANNOTATION, "")
        if override.lstrip("+-").isdigit():
            self.priority = int(override)
        marked = annotations.get(PREEMPTABLE, labels.get(PREEMPTABLE))
        self.preemptable = True if marked is None else parse_bool(marked) or False
        self.revocable_zone = revocable_zone_of(annotations)
        self.sch_gated = bool(spec.scheduling_gates)
        self.creation_timestamp = meta.creation_timestamp or 0.0
        self.order_index = _index_under_task(pod)
        self.template = pod_template(pod)
        self.node_name = spec.node_name
        self.status = pod_status(pod)
        self.eviction_occurred = False
        self.job_allocated_hyper_node = ""
        self.last_transaction: TransactionContext | None = None

    @property
    def init_resreq(self) -> Resource:
        """What must be free on a node: in Volcano, too, the same as `resreq`."""
        return self.resreq

    def clone(self) -> "TaskInfo":
        """Return a copy whose status and node may change independently; whether an eviction
        occurred is not copied.
        """
        task = TaskInfo.__new__(TaskInfo)
        task.job, task.name, task.key, task.resreq = self.job, self.name, self.key, self.resreq
        task.uid, task.preemptable = self.uid, self.preemptable
        task.namespace, task.priority, task.template = self.namespace, self.priority, self.template
        task.task_role, task.best_effort, task.pod = self.task_role, self.best_effort, self.pod
        task.creation_timestamp, task.revocable_zone = self.creation_timestamp, self.revocable_zone
        task.order_index, task.last_transaction = self.order_index, self.last_transaction
        task.node_name, task.status, task.sch_gated = self.node_name, self.status, self.sch_gated
        task.eviction_occurred, task.job_allocated_hyper_node = False, ""
        return task

    def transaction_context(self) -> TransactionContext:
        return TransactionContext(self.node_name, self.eviction_occurred, self.status)

    def before(self, other: "TaskInfo") -> bool:
        """Order tasks that no plugin orders: by index in the task, then age, then uid."""
        if (self.order_index is None or other.order_index is None
                or self.order_index == other.order_index):
            return (self.creation_timestamp, self.uid) < (other.creation_timestamp, other.uid)
        return self.order_index < other.order_index

    def __repr__(self) -> str:
        place = f" on {self.node_name}" if self.node_name else ""
        return f"TaskInfo({self.key}, {self.status}{place})"


def pod_template(pod: Pod) -> int | None:
    """Return a number that equal plain pods share; None for a pod with affinity, spread, ports or
    any other special field.
    """
    spec, status = pod.spec, pod.status
    if (spec.affinity or spec.topology_spread_constraints or spec.init_containers or spec.overhead
            or spec.resources or spec.volumes or spec.resource_claims or status.container_statuses
            or status.nominated_node_name):
        return None
    if any(container.ports for container in spec.containers):
        return None
    tolerations = tuple((t.key, t.operator, t.value, t.effect) for t in spec.tolerations)
    containers = tuple(tuple(c.resources.requests.items()) for c in spec.containers)
    key = pod.metadata.namespace, containers, tuple(sorted(spec.node_selector.items())), tolerations
    return _TEMPLATES.setdefault(key, len(_TEMPLATES))


_TEMPLATES: dict[tuple[Any, ...], int] = {}


def pod_status(pod: Pod) -> TaskStatus:
    """Return the status for a pod's phase, node and deletion timestamp."""
    phase, deleting = pod.status.phase, pod.metadata.deletion_timestamp is not None
    if phase == "Running":
        return TaskStatus.RELEASING if deleting else TaskStatus.RUNNING
    if phase == "Pending":
        if deleting:
            return TaskStatus.RELEASING
        return TaskStatus.BOUND if pod.spec.node_name else TaskStatus.PENDING
    return {"Succeeded": TaskStatus.SUCCEEDED, "Failed": TaskStatus.FAILED}.get(phase,
                                                                                TaskStatus.UNKNOWN)


def revocable_zone_of(annotations: dict[str, str]) -> str:
    """Return "*" for pods that may run on revocable nodes, else ""; only "*" is a known zone."""
    if REVOCABLE_ZONE in annotations:
        return "*" if annotations[REVOCABLE_ZONE] == "*" else ""
    return "*" if parse_bool(annotations.get(PREEMPTABLE, "")) else ""


def pod_resource_request(pod: Pod) -> Resource:
    """Return a pod's request: the sum of its containers, init containers at their peak, overhead,
    and one "pods".
    """
    spec, status = pod.spec, pod.status
    if not (spec.init_containers or spec.overhead or status.container_statuses):
        return _plain_request(tuple(tuple(c.resources.requests.items()) for c in spec.containers))
    result = total(Resource.from_list(requests_in_force(pod, container))
                   for container in spec.containers) + Resource.from_list(spec.overhead)
    sidecars, highest = Resource(), Resource()
    for container in spec.init_containers:
        if container.restart_policy == "Always":  # a sidecar keeps running beside all later ones
            request = Resource.from_list(requests_in_force(pod, container))
            result, sidecars = result + request, sidecars + request
            highest = highest.set_max_resource(sidecars)
        else:
            highest = highest.set_max_resource(
                Resource.from_list(container.resources.requests) + sidecars)
    return result.set_max_resource(highest) + ONE_POD


@lru_cache(maxsize=16384)
def _plain_request(containers: tuple[tuple[tuple[str, str], ...], ...]) -> Resource:
    """Equal pods share one value, and with it everything computed from it."""
    return total(Resource.from_list(dict(requests)) for requests in containers) + ONE_POD


def _index_under_task(pod: Pod) -> int | None:
    """Return the number at the end of a name such as "job-worker-3", None without such a form."""
    parts = pod.metadata.name.split("-")
    text = parts[-1] if len(parts) >= 3 else ""
    return int(text) if text.removeprefix("+").isdecimal() else None
