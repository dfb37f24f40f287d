"""The scheduler's cache of the cluster, copied for each session, and updated by its decisions.

A session's decision updates the cache at once; with an attached `BindingPipeline` it is also sent
to the API server, else it waits in `bind_contexts` and `evicted`.

Volcano: pkg/scheduler/cache/cache.go
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import attrs

from volcano_lab.api import BINDING, RELEASING, ClusterInfo, JobInfo, NodeError, QueueInfo, TaskInfo
from volcano_lab.api.objects import KubernetesObject, Pod, PodGroup
from volcano_lab.api.status import IllegalTransition, TaskStatus, check_transition
from volcano_lab.cache.event_handlers import CacheError, EventHandlers
from volcano_lab.framework import BindContext, collector_paused
from volcano_lab.messages import Message, friendly_errors, log

if TYPE_CHECKING:
    from volcano_lab.cache.binding import BindingPipeline

__all__ = ["Cache", "CacheError", "ClusterEvent"]


@attrs.define(slots=True)
class ClusterEvent:
    """An event as shown by `kubectl describe`: its object, type and reason."""

    about: str
    kind: str
    reason: str
    message: str


class Cache(EventHandlers):
    """The cluster's state, with snapshots for sessions.

    >>> from volcano_lab.api.objects import Node, NodeStatus, ObjectMeta
    >>> cache = Cache([Node(ObjectMeta(name="n1"), status=NodeStatus(allocatable={"cpu": "4"}))])
    >>> cache.snapshot().nodes["n1"].idle
    Resource(cpu=4000, memory=0)
    """

    @friendly_errors
    @collector_paused()
    def __init__(self, objects: Iterable[KubernetesObject] = ()):
        super().__init__()
        self.pipeline: BindingPipeline | None = None
        self.pre_binders: dict[str, Any] = {}
        self.events: list[ClusterEvent] = []
        self.bind_contexts: list[BindContext] = []
        self.evicted: list[tuple[TaskInfo, str]] = []
        self._pod_views: dict[int, tuple[Pod, Any]] = {}
        for obj in objects:
            self.add(obj)

    # -- the snapshot ----------------------------------------------------------------------------

    def snapshot(self) -> ClusterInfo:
        """Return a copy for one session; objects left out are listed with the reason."""
        self.count_volumes()
        names = [name for name in self.node_list if self.nodes[name].ready]
        table = self.table.select([self.nodes[name].row for name in names])
        self.table.changes.clear()
        by_name = {name: self.nodes[name].snapshot(table, row) for row, name in enumerate(names)}
        info = ClusterInfo(table, dict(sorted(by_name.items())), list(by_name.values()))
        info.left_out += [Message("left_out.never_announced", name=name)
                          for name, node in sorted(self.nodes.items()) if not node.ready]
        info.left_out += [Message("left_out.gone", name=name, n=len(node.tasks))
                          for name, node in sorted(self.deleted_nodes.items()) if node.tasks]
        info.storage = self.storage
        info.hyper_nodes = self.hyper_nodes.snapshot()
        info.left_out += self.hyper_nodes.failed.values()
        info.left_out += [reason for _, reason in sorted(self.pods_left_out.items())]
        info.queues = {name: queue.clone() for name, queue in sorted(self.queues.items())}
        info.namespaces = {obj.name: obj.metadata.labels for obj in self.namespaces.values()}
        for quota in self.resource_quotas.values():
            info.resource_quotas.setdefault(quota.namespace, []).append(quota)
        info.pod_disruption_budgets = list(self.pod_disruption_budgets.values())
        if len(self._pod_views) > 2 * sum(len(job.tasks) for job in self.jobs.values()):
            self._pod_views.clear()  # most are of pods that are gone
        info.pod_views = self._pod_views
        for uid, job in sorted(self.jobs.items()):
            if self.is_job_terminated(uid):
                continue  # it is deleted soon
            reason = self._left_out(job)
            if reason:
                info.left_out.append(reason)
                continue
            known = self.priority_classes.get(job.pod_group.spec.priority_class_name)
            job.priority = self.default_priority if known is None else known.value
            info.jobs[uid] = job.clone()
        log.v(3, "snapshot: jobs %d, queues %d, nodes %d; objects left out %d",
              len(info.jobs), len(info.queues), len(info.nodes), len(info.left_out))
        return info

    def _left_out(self, job: JobInfo) -> Message | None:
        if job.pod_group is None:
            return Message("left_out.no_pod_group", name=job.uid)
        if job.queue not in self.queues:
            return Message("left_out.no_queue", name=job.uid, queue=job.queue)
        return None

    # -- decisions of sessions ---------------------------------------------------------------------

    def _find(self, task: TaskInfo) -> tuple[JobInfo, TaskInfo]:
        job = self.jobs.get(task.job)
        if job is None:
            raise CacheError(f"failed to find Job {task.job} for Task {task.uid}")
        known = job.tasks.get(task.uid)
        if known is None:
            raise CacheError(f"failed to find task in status {task.status} by id {task.uid}")
        return job, known

    def evict(self, task: TaskInfo, reason: str) -> None:
        """Evict a task: it is releasing from now on. Raises `CacheError` if it cannot."""
        job, known = self._find(task)
        node = self.nodes.get(known.node_name)
        if node is None:
            raise CacheError(f"failed to evict Task {known.uid} from host {known.node_name}, host "
                             "does not exist")
        _check(known, RELEASING)
        job.update_task_status(known, RELEASING)
        node.update_task(known)
        if self.pipeline is None:
            self.evicted.append((known, reason))
        else:
            self.pipeline.evict(known, reason)
        if job.pod_group is not None:
            self.record_event(job.pod_group, "Normal", "Evict", reason)

    def add_bind_task(self, context: BindContext) -> None:
        """Accept a session's task to be bound. Raises `CacheError` or `NodeError`."""
        job, known = self._find(context.task)
        node = self.nodes.get(context.task.node_name)
        if node is None:
            raise CacheError(f"failed to bind Task {known.uid} to host {context.task.node_name}, "
                             "host does not exist")
        before = known.status
        _check(known, BINDING)
        job.update_task_status(known, BINDING)
        try:
            node.add_task(known)
        except NodeError:
            job.update_task_status(known, before)
            raise
        if self.pipeline is None:
            self.bind_contexts.append(context)
        else:
            self.pipeline.send(context)

    def register_binder(self, name: str, binder: Any) -> None:
        """Register a plugin's hooks to run before a pod is bound (`pre_bind`), and to undo that
        (`pre_bind_roll_back`).
        """
        self.pre_binders[name] = binder

    def update_job_status(self, job: JobInfo, status: bool, annotations: bool, info: bool) -> None:
        """Apply a session's results on a job: its PodGroup's status and annotations, its
        HyperNodes.

        With a pipeline the PodGroup is written to the API server and returns as an event.
        """
        known = self.jobs.get(job.uid)
        if self.pipeline is not None:
            if (status or annotations) and not self.pipeline.status.write(job.pod_group.clone()):
                return
        elif known is not None and known.pod_group is not None and (status or annotations):
            known.pod_group = job.pod_group.clone()
        if info and known is not None:
            known.allocated_hyper_node = job.allocated_hyper_node
            for uid, sub_job in known.sub_jobs.items():
                if uid in job.sub_jobs:
                    sub_job.allocated_hyper_node = job.sub_jobs[uid].allocated_hyper_node
        if self.pipeline is not None:
            self.pipeline.status.record_job_status(job, status)

    def update_queue_status(self, queue: QueueInfo) -> None:
        """Apply a session's results on a queue."""
        if self.pipeline is not None:
            self.pipeline.status.write(queue.queue)
        elif queue.name in self.queues:
            self.queues[queue.name].queue = queue.queue

    def record_event(self, pod_group: PodGroup, kind: str, reason: str, message: str) -> None:
        """Record an event of a PodGroup."""
        if self.pipeline is not None:
            self.pipeline.status.record(f"PodGroup {pod_group.key}", kind, reason, message)
        else:
            self.events.append(ClusterEvent(f"PodGroup {pod_group.key}", kind, reason, message))

    def drop_empty_job(self, job: JobInfo) -> None:
        if self.pipeline is not None:
            self.pipeline.clean_up(job)
        else:
            super().drop_empty_job(job)


def _check(task: TaskInfo, status: TaskStatus) -> None:
    try:
        check_transition(task.status, status, f"task {task.key}")
    except IllegalTransition as illegal:
        raise CacheError(str(illegal)) from None
