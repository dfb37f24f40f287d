"""The scheduler's view of the cluster, updated by objects that are added, changed and deleted, in
any order.

Differs on purpose: an object that is added twice counts once; a deleted node leaves its pods and,
if it is added again before they are deleted, counts them at once (Volcano counts each at its next
event); the volumes of a pod are counted again when a claim, volume or class changes (there, when
the pod does); and a pod whose status change the task state machine lacks is refused.

Volcano: pkg/scheduler/cache/event_handlers.go
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from volcano_lab.api import ZERO, JobInfo, NodeError, NodeInfo, QueueInfo, TaskInfo, objects as api
from volcano_lab.api.node_table import NodeTable
from volcano_lab.api.status import ALLOCATED_STATUSES, COMPLETED_STATUSES, check_transition
from volcano_lab.api.storage import IGNORED_PROVISIONERS, KINDS as STORAGE_KINDS, Storage, claims_of
from volcano_lab.api.task import GROUP_NAME
from volcano_lab.cache.hyper_nodes import HyperNodes
from volcano_lab.messages import Message, Misuse, log, one_line

DEFAULT_QUEUE = "default"
SCHEDULER_NAME = "volcano"
"""The `schedulerName` of pods for Volcano to place; a pod without one counts as Volcano's, too."""


class CacheError(NodeError):
    """The cache lacks, or cannot change, an object of a session's request."""


class EventHandlers:
    """Jobs, nodes, queues and other objects, as they are added, changed and deleted.

    >>> from volcano_lab.api.objects import ObjectMeta
    >>> known = EventHandlers()
    >>> known.add(api.Queue(ObjectMeta("team")))
    >>> known.delete(api.Queue(ObjectMeta("team")))
    >>> known.queues
    {}
    """

    def __init__(self) -> None:
        self.table = NodeTable()
        self.pods: dict[str, api.Pod] = {}
        self.pods_left_out: dict[str, Message] = {}
        self.nodes: dict[str, NodeInfo] = {}
        self.node_list: list[str] = []
        self.jobs: dict[str, JobInfo] = {}
        self.queues: dict[str, QueueInfo] = {}
        self.priority_classes: dict[str, api.PriorityClass] = {}
        self.default_priority = 0
        self.namespaces: dict[str, api.Namespace] = {}
        self.resource_quotas: dict[str, api.ResourceQuota] = {}
        self.pod_disruption_budgets: dict[str, api.PodDisruptionBudget] = {}
        self.hyper_nodes = HyperNodes()
        self.storage = Storage()
        self._storage_changed = False
        self.deleted_nodes: dict[str, NodeInfo] = {}

    def add(self, obj: api.KubernetesObject) -> None:
        """Add or update an object.

        Raises:
            TypeError: The scheduler does not watch objects of this kind.
            IllegalTransition: The task state machine lacks a pod's status change.
        """
        self._handler("add", obj)(obj)

    update = add

    def delete(self, obj: api.KubernetesObject) -> None:
        """Delete an object; no effect where it is unknown."""
        self._handler("delete", obj)(obj)

    def _handler(self, verb: str, obj: api.KubernetesObject) -> Callable[[Any], Any]:
        if not isinstance(obj, api.KubernetesObject):
            raise Misuse("cache.object", obj=one_line(repr(obj), 100))
        if obj.kind in STORAGE_KINDS:
            return partial(self._store, verb)
        if obj.kind == api.HyperNode.kind:
            changed: Callable[[Any], Any] = getattr(self.hyper_nodes, verb)
            return changed
        all_kept: dict[str, dict[str, Any]] = {
            "Namespace": self.namespaces, "ResourceQuota": self.resource_quotas,
            "PodDisruptionBudget": self.pod_disruption_budgets}
        kept = all_kept.get(obj.kind)
        if kept is not None:
            return lambda obj: kept.pop(obj.key, None) if verb == "delete" else kept.update(
                {obj.key: obj})
        handler: Callable[[Any], Any] | None = getattr(
            self, f"_{verb}_{obj.kind.lower()}", None)
        if handler is None:
            raise Misuse("cache.kind", kind=obj.kind)
        return handler

    # -- pods ------------------------------------------------------------------------------------

    def _add_pod(self, pod: api.Pod) -> None:
        """Add a pod that is Volcano's to place, or that takes resources of a node; record why any
        other is not placed.
        """
        known = self.task_of(pod)
        if known is not None and known.status in ALLOCATED_STATUSES and not pod.spec.node_name:
            log.v(4, "pod %s is being bound; what was heard of it is older and changes nothing",
                  pod.key)
        else:
            self.replace_pod(pod)

    def replace_pod(self, pod: api.Pod) -> None:
        """Replace a pod's state by the pod's own, even where it was being bound."""
        old, task = self.pods.get(pod.key), self.new_task(pod)
        if old is not None:
            known = self.task_of(pod)
            if known is not None:
                check_transition(known.status, task.status, f"task {pod.key}")
            self._delete_pod(old)
        self.pods[pod.key] = pod
        scheduler = pod.spec.scheduler_name or SCHEDULER_NAME
        if not task.node_name and scheduler != SCHEDULER_NAME:
            self.pods_left_out[task.key] = Message("left_out.other_scheduler", name=task.key,
                                                   scheduler=scheduler)
            return
        if not task.node_name and not task.job:
            self.pods_left_out[task.key] = Message("left_out.no_annotation", name=task.key,
                                                   annotation=GROUP_NAME)
        self.add_task(task)
        log.v(3 if old is None else 4, "pod %s is %s", pod.key,
              "new" if old is None else f"now {task.status}")

    def new_task(self, pod: api.Pod) -> TaskInfo:
        """Create the task of a pod, with the volumes of its claims."""
        return TaskInfo(pod, self.storage.attached(pod) if pod.spec.volumes else None)

    def add_task(self, task: TaskInfo) -> None:
        """Count a task on its node (even one without an object yet) and in its job."""
        if task.node_name and task.status not in COMPLETED_STATUSES:
            try:
                self._node(task.node_name).add_task(task)
            except NodeError as error:
                log.error("%s", error)
                return
        elif task.node_name:
            self._node(task.node_name)
        if task.job:
            if task.job not in self.jobs:
                self.jobs[task.job] = JobInfo(task.job)
            self.jobs[task.job].add_task_info(task)

    def task_of(self, pod: api.Pod) -> TaskInfo | None:
        """Return a pod's task (by its uid), in its job or, without one, on its node."""
        group = pod.metadata.annotations.get(GROUP_NAME)
        job = self.jobs.get(f"{pod.namespace}/{group}") if group else None
        if job is not None:
            return job.tasks.get(pod.metadata.uid)
        node = self._known_node(pod.spec.node_name)
        task = node.tasks.get(pod.key) if node is not None else None
        return task if task is not None and task.uid == pod.metadata.uid else None

    def _delete_pod(self, pod: api.Pod) -> None:
        known = self.pods.get(pod.key)
        if known is None or known.metadata.uid != pod.metadata.uid:
            return
        del self.pods[pod.key]
        self.pods_left_out.pop(pod.key, None)
        task = self.task_of(known)
        if task is not None:
            self.delete_task(task)
            log.v(3, "pod %s is deleted from the cache", pod.key)

    def delete_task(self, task: TaskInfo) -> None:
        """Delete a task from its job and its node, whatever its status; an empty job is deleted,
        too.
        """
        job = self.jobs.get(task.job)
        if job is not None:
            job.delete_task_info(task)
        node = self._known_node(task.node_name)
        if node is not None:
            node.remove_task(task)
        if job is not None:
            self.drop_empty_job(job)

    # -- jobs ------------------------------------------------------------------------------------

    def _add_podgroup(self, pod_group: api.PodGroup) -> None:
        uid = pod_group.key
        job = self.jobs.get(uid)
        if job is None:
            job = self.jobs[uid] = JobInfo(uid)
        elif job.pod_group is not None and _same_version(job.pod_group, pod_group):
            return
        job.set_pod_group(pod_group)
        if not job.queue:
            job.queue = DEFAULT_QUEUE

    def _delete_podgroup(self, pod_group: api.PodGroup) -> None:
        job = self.jobs.get(pod_group.key)
        if job is not None:
            job.unset_pod_group()
            self.drop_empty_job(job)

    def drop_empty_job(self, job: JobInfo) -> None:
        """Delete a job that has neither a PodGroup nor tasks."""
        if job.pod_group is None and not job.tasks:
            self.jobs.pop(job.uid, None)
            log.v(3, "job %s is gone", job.uid)

    def is_job_terminated(self, uid: str) -> bool:
        """Return whether a job is empty."""
        job = self.jobs.get(uid)
        return job is None or (job.pod_group is None and not job.tasks)

    # -- nodes -----------------------------------------------------------------------------------

    def _node(self, name: str) -> NodeInfo:
        """Return a node by name, whether it exists, was deleted, or has no object yet."""
        node = self._known_node(name)
        if node is None:
            node = self.nodes[name] = NodeInfo(name, self.table)
        return node

    def _known_node(self, name: str) -> NodeInfo | None:
        return self.nodes.get(name) or self.deleted_nodes.get(name)

    def _add_node(self, node: api.Node) -> None:
        if node.name in self.deleted_nodes:
            self.nodes[node.name] = self.deleted_nodes.pop(node.name)
        info = self.nodes.get(node.name)
        if info is None:
            info = self.nodes[node.name] = NodeInfo(
                node.name, self.table, node, self.storage.attachable(node.name))
        else:
            info.set_node(node, self.storage.attachable(node.name))
            fits, names = info.used.less_equal_with_resources_name(info.allocatable, ZERO)
            if not fits:
                log.error("node %s offers less than its pods hold: %s", node.name, ", ".join(names))
        if node.name not in self.node_list:
            self.node_list.append(node.name)
        self.hyper_nodes.set_node(node.name, node.metadata.labels)

    def _delete_node(self, node: api.Node) -> None:
        info = self.nodes.get(node.name)
        if info is None or not info.ready:
            return
        info.unset_node()
        self.deleted_nodes[node.name] = self.nodes.pop(node.name)
        self.node_list.remove(node.name)
        self.hyper_nodes.delete_node(node.name)
        log.v(3, "node %s is gone", node.name)

    # -- volumes ---------------------------------------------------------------------------------

    def _store(self, verb: str, obj: api.KubernetesObject) -> None:
        getattr(self.storage, verb)(obj)
        self._storage_changed = True
        info = self.nodes.get(obj.name) if obj.kind == api.CSINode.kind else None
        if info is not None and info.ready:
            info.set_node(info.node, self.storage.attachable(obj.name))

    def ignore_provisioners(self, names: Iterable[str]) -> None:
        """Count no volumes of these drivers, nor of those that Volcano never counts."""
        ignored = IGNORED_PROVISIONERS.union(names)
        self._storage_changed |= ignored != self.storage.ignored
        self.storage.ignored = ignored

    def count_volumes(self) -> None:
        """Count the volumes of pods again, where an object of volumes has changed."""
        if not self._storage_changed:
            return
        self._storage_changed = False
        for pod in list(self.pods.values()):
            known = self.task_of(pod) if claims_of(pod) else None
            task = self.new_task(pod)
            if known is not None and task.resreq != known.resreq:
                task.status, task.node_name = known.status, known.node_name
                self.delete_task(known)
                self.add_task(task)

    # -- queues and the rest ---------------------------------------------------------------------

    def _add_queue(self, queue: api.Queue) -> None:
        known = self.queues.get(queue.name)
        if known is None or not _same_version(known.queue, queue):
            self.queues[queue.name] = QueueInfo.of(queue)

    def _delete_queue(self, queue: api.Queue) -> None:
        self.queues.pop(queue.name, None)

    def _add_priorityclass(self, priority_class: api.PriorityClass) -> None:
        self._delete_priorityclass(priority_class)
        if priority_class.global_default:
            self.default_priority = priority_class.value
        self.priority_classes[priority_class.name] = priority_class

    def _delete_priorityclass(self, priority_class: api.PriorityClass) -> None:
        known = self.priority_classes.pop(priority_class.name, None)
        if known is not None and known.global_default:
            self.default_priority = 0


def _same_version(known: api.KubernetesObject, new: api.KubernetesObject) -> bool:
    """Return whether the version was already applied; objects without one are always new."""
    return new.metadata.resource_version == known.metadata.resource_version != ""
