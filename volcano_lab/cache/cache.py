"""The cluster as the scheduler knows it, kept up to date by events, and copied for each session.

Answers to `pkg/scheduler/cache/cache.go` and `event_handlers.go`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import attrs

from volcano_lab.api.cluster_info import ClusterInfo
from volcano_lab.api.job import JobInfo, clone_pod_group
from volcano_lab.api.node import NodeError, NodeInfo
from volcano_lab.api.node_table import NodeTable
from volcano_lab.api.node_usage import METRICS_PERIOD, NodeUsage
from volcano_lab.api.objects import (
    HyperNode,
    KubernetesObject,
    Namespace,
    Node,
    Pod,
    PodDisruptionBudget,
    PodGroup,
    PriorityClass,
    Queue,
    ResourceQuota,
)
from volcano_lab.api.queue import QueueInfo
from volcano_lab.api.status import BINDING, FAILED, RELEASING, SUCCEEDED
from volcano_lab.api.task import GROUP_NAME_ANNOTATION, TaskInfo
from volcano_lab.cache.hyper_nodes import HyperNodes
from volcano_lab.framework.session import BindContext

DEFAULT_QUEUE = "default"
SCHEDULER_NAME = "volcano"
"""The `schedulerName` of pods that are Volcano's to place; a pod that names none is taken for one, too."""


class CacheError(NodeError):
    """The cache doesn't know, or can't change, what a session asks it to."""


@attrs.define(slots=True)
class ClusterEvent:
    """A note that users would see with `kubectl describe`: about which object, of which kind and reason."""

    about: str
    kind: str
    reason: str
    message: str


class Cache:
    """Jobs, nodes, queues and the rest, as objects are added, changed and deleted.

    >>> from volcano_lab.api.objects import NodeStatus, ObjectMeta
    >>> cache = Cache([Node(ObjectMeta(name="n1"), status=NodeStatus(allocatable={"cpu": "4"}))])
    >>> cache.snapshot().nodes["n1"].idle
    Resource(cpu=4000, memory=0)
    """

    def __init__(self, objects: Iterable[KubernetesObject] = ()):
        self.table = NodeTable()
        self.pods_left_out: dict[str, str] = {}
        self.nodes: dict[str, NodeInfo] = {}
        self.node_list: list[str] = []
        self.jobs: dict[str, JobInfo] = {}
        self.queues: dict[str, QueueInfo] = {}
        self.priority_classes: dict[str, PriorityClass] = {}
        self.default_priority = 0
        self.namespaces: dict[str, dict[str, str]] = {}
        self.resource_quotas: dict[str, ResourceQuota] = {}
        self.pod_disruption_budgets: dict[str, PodDisruptionBudget] = {}
        self.hyper_nodes = HyperNodes()
        self.images: dict[str, tuple[int, set[str]]] = {}
        self.events: list[ClusterEvent] = []
        self.bind_contexts: list[BindContext] = []
        self.evicted: list[tuple[TaskInfo, str]] = []
        for obj in objects:
            self.add(obj)

    # -- events ----------------------------------------------------------------------------------

    def add(self, obj: KubernetesObject) -> None:
        """An object has come into being; `TypeError` for a kind that the scheduler doesn't watch."""
        handler = getattr(self, f"_add_{obj.kind.lower()}", None)
        if handler is None:
            raise TypeError(f"the scheduler doesn't watch objects of kind {obj.kind}")
        handler(obj)

    def _add_pod(self, pod: Pod) -> None:
        """Take a pod that is Volcano's to place, or takes room on a node; say of each that nobody will place why."""
        task, scheduler = TaskInfo(pod), pod.spec.scheduler_name or SCHEDULER_NAME
        if not task.node_name and scheduler != SCHEDULER_NAME:
            self.pods_left_out[task.key] = f"pod {task.key}: it is for another scheduler, {scheduler}"
            return
        if not task.node_name and not task.job:
            self.pods_left_out[task.key] = f"pod {task.key}: it has no annotation {GROUP_NAME_ANNOTATION} that names its PodGroup"
        self.add_task(task)

    def add_task(self, task: TaskInfo) -> None:
        """Count a task on its node (one that nobody has announced yet is remembered) and in its job."""
        if task.node_name:
            node = self.nodes.get(task.node_name)
            if node is None:
                node = self.nodes[task.node_name] = NodeInfo(task.node_name, self.table)
            if task.status not in (SUCCEEDED, FAILED):
                try:
                    node.add_task(task)
                except NodeError:
                    return
        if task.job:
            if task.job not in self.jobs:
                self.jobs[task.job] = JobInfo(task.job)
            self.jobs[task.job].add_task_info(task)

    def _add_node(self, node: Node) -> None:
        info = self.nodes.get(node.name)
        if info is None:
            info = self.nodes[node.name] = NodeInfo(node.name, self.table, node)
        else:
            info.set_node(node)
            self._forget_images(node.name)
        self._add_images(node, info)
        if node.name not in self.node_list:
            self.node_list.append(node.name)
        self.hyper_nodes.set_node(node.name, node.metadata.labels)

    def set_usage(self, node: str, cpu: float, memory: float, time: float = math.inf, period: str = METRICS_PERIOD) -> None:
        """How busy a node is, in percent, as a monitoring system would tell; without `time` it is always fresh.

        Raises `CacheError` for a node that nobody has announced.
        """
        if node not in self.nodes:
            raise CacheError(f"failed to set the usage of node {node}; known are {', '.join(sorted(self.nodes)) or 'none'}")
        self.nodes[node].resource_usage = NodeUsage.of(cpu, memory, time, period)

    def _add_images(self, node: Node, info: NodeInfo) -> None:
        states = {}
        for image in node.status.images:
            for name in image.names:
                size, nodes = self.images.setdefault(name, (image.size_bytes, set()))
                nodes.add(node.name)
                states.setdefault(name, (size, len(nodes)))
        info.image_states = states

    def _forget_images(self, node: str) -> None:
        for name, (_, nodes) in list(self.images.items()):
            nodes.discard(node)
            if not nodes:
                del self.images[name]

    def _add_podgroup(self, pod_group: PodGroup) -> None:
        uid = f"{pod_group.namespace}/{pod_group.name}"
        job = self.jobs.get(uid)
        if job is None:
            job = self.jobs[uid] = JobInfo(uid)
        job.set_pod_group(pod_group)
        if not job.queue:
            job.queue = DEFAULT_QUEUE

    def _add_queue(self, queue: Queue) -> None:
        self.queues[queue.name] = QueueInfo.of(queue)

    def _add_priorityclass(self, priority_class: PriorityClass) -> None:
        if priority_class.global_default:
            self.default_priority = priority_class.value
        self.priority_classes[priority_class.name] = priority_class

    def _add_namespace(self, namespace: Namespace) -> None:
        self.namespaces[namespace.name] = namespace.metadata.labels

    def _add_resourcequota(self, quota: ResourceQuota) -> None:
        self.resource_quotas[quota.key] = quota

    def _add_poddisruptionbudget(self, budget: PodDisruptionBudget) -> None:
        self.pod_disruption_budgets[budget.key] = budget

    def _add_hypernode(self, hyper_node: HyperNode) -> None:
        self.hyper_nodes.update(hyper_node)

    # -- the snapshot ----------------------------------------------------------------------------

    def snapshot(self) -> ClusterInfo:
        """A copy for one session; what it leaves out is listed with the reason."""
        names = [name for name in self.node_list if self.nodes[name].ready]
        table = self.table.select([self.nodes[name].row for name in names])
        by_name = {name: self.nodes[name].snapshot(table, row) for row, name in enumerate(names)}
        info = ClusterInfo(table, dict(sorted(by_name.items())), list(by_name.values()))
        info.left_out += [f"node {name}: pods name it, but it was never announced" for name, node in sorted(self.nodes.items()) if not node.ready]
        info.hyper_nodes = self.hyper_nodes.snapshot()
        info.left_out += self.hyper_nodes.failed.values()
        info.left_out += [reason for _, reason in sorted(self.pods_left_out.items())]
        info.queues = {name: queue.clone() for name, queue in sorted(self.queues.items())}
        info.namespaces = dict(self.namespaces)
        for quota in self.resource_quotas.values():
            info.resource_quotas.setdefault(quota.namespace, []).append(quota)
        info.pod_disruption_budgets = list(self.pod_disruption_budgets.values())
        for uid, job in sorted(self.jobs.items()):
            reason = self._left_out(job)
            if reason:
                info.left_out.append(reason)
                continue
            known = self.priority_classes.get(job.pod_group.spec.priority_class_name)
            job.priority = self.default_priority if known is None else known.value
            info.jobs[uid] = job.clone()
        return info

    def _left_out(self, job: JobInfo) -> str:
        if job.pod_group is None:
            return f"job {job.uid}: its pods name a PodGroup that doesn't exist"
        if job.queue not in self.queues:
            return f"job {job.uid}: its queue {job.queue} doesn't exist"
        return ""

    # -- what sessions decide ----------------------------------------------------------------------

    def _find(self, task: TaskInfo) -> tuple[JobInfo, TaskInfo]:
        job = self.jobs.get(task.job)
        if job is None:
            raise CacheError(f"failed to find Job {task.job} for Task {task.uid}")
        known = job.tasks.get(task.uid)
        if known is None:
            raise CacheError(f"failed to find task in status {task.status} by id {task.uid}")
        return job, known

    def evict(self, task: TaskInfo, reason: str) -> None:
        """A session evicts a task: it is releasing from now on. Raises `CacheError` where it isn't known."""
        job, known = self._find(task)
        node = self.nodes.get(known.node_name)
        if node is None:
            raise CacheError(f"failed to evict Task {known.uid} from host {known.node_name}, host does not exist")
        job.update_task_status(known, RELEASING)
        node.update_task(known)
        self.evicted.append((known, reason))
        if job.pod_group is not None:
            self.record_event(job.pod_group, "Normal", "Evict", reason)

    def add_bind_task(self, context: BindContext) -> None:
        """A session sends a task to be bound. Raises `CacheError` or `NodeError` where it can't be."""
        job, known = self._find(context.task)
        node = self.nodes.get(context.task.node_name)
        if node is None:
            raise CacheError(f"failed to bind Task {known.uid} to host {context.task.node_name}, host does not exist")
        before = known.status
        job.update_task_status(known, BINDING)
        try:
            node.add_task(known)
        except NodeError:
            job.update_task_status(known, before)
            raise
        self.bind_contexts.append(context)

    def update_job_status(self, job: JobInfo, status: bool, annotations: bool, info: bool) -> None:
        """Take over what a session found out about a job: its PodGroup's status and annotations, its HyperNodes."""
        known = self.jobs.get(job.uid)
        if known is None:
            return
        if (status or annotations) and known.pod_group is not None:
            known.pod_group = clone_pod_group(job.pod_group)
        if info:
            known.allocated_hyper_node = job.allocated_hyper_node
            for uid, sub_job in known.sub_jobs.items():
                if uid in job.sub_jobs:
                    sub_job.allocated_hyper_node = job.sub_jobs[uid].allocated_hyper_node

    def update_queue_status(self, queue: QueueInfo) -> None:
        self.queues[queue.name].queue = queue.queue

    def record_event(self, pod_group: PodGroup, kind: str, reason: str, message: str) -> None:
        self.events.append(ClusterEvent(f"PodGroup {pod_group.key}", kind, reason, message))

    def is_job_terminated(self, uid: str) -> bool:
        job = self.jobs.get(uid)
        return job is None or (job.pod_group is None and not job.tasks)
