"""The session: one cycle's snapshot of the cluster, its plugins, and the operations on it.

Opening takes a snapshot and opens each plugin; closing writes conditions, phases and the status of
queues. Unlike Volcano's, a closed session stays readable.

Volcano: pkg/scheduler/framework/session.go
"""

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from math import isfinite
from typing import Any, Protocol

import attrs

from volcano_lab.api import EMPTY, JobInfo, NodeInfo, NodeList, QueueInfo, SubJobInfo, TaskInfo
from volcano_lab.api.fit_error import ERROR, FitError, Status
from volcano_lab.api.node import NodeError
from volcano_lab.api.node_table import Memo
from volcano_lab.api.objects import PodGroup, PodGroupCondition
from volcano_lab.api.resource import total
from volcano_lab.api.snapshot import ClusterInfo
from volcano_lab.api.status import ALLOCATED, BINDING, TaskStatus
from volcano_lab.framework import opening
from volcano_lab.framework.config.conf import SchedulerConfiguration
from volcano_lab.framework.observer import NO_OBSERVER, Observer
from volcano_lab.framework.placement.arrays import NodeArrays
from volcano_lab.framework.plugin import Event, Plugin
from volcano_lab.framework.points.rules import ExtensionPoint
from volcano_lab.framework.points.table import POINTS, ExtensionPoints, extension_points
from volcano_lab.framework.priority_queue import KeyedQueue, PriorityQueue
from volcano_lab.framework.statement import Allocate, Evict, HandlerError, Statement, StatementError
from volcano_lab.framework.topology import Topology
from volcano_lab.messages import Message, Misuse, did_you_mean, guard, log


@attrs.define(slots=True)
class BindContext:
    """A task to be bound, with the state that plugins need when it is."""

    task: TaskInfo
    extensions: dict[str, Any] = attrs.Factory(dict)


class SessionCache(Protocol):
    """The part of the cache that a session calls."""

    def snapshot(self) -> ClusterInfo: ...
    def evict(self, task: TaskInfo, reason: str) -> None: ...
    def add_bind_task(self, context: BindContext) -> None: ...
    def update_job_status(self, job: JobInfo, status: bool, annotations: bool, info: bool
                          ) -> None: ...
    def update_queue_status(self, queue: QueueInfo) -> None: ...
    def record_event(self, pod_group: PodGroup, kind: str, reason: str, message: str) -> None: ...
    def is_job_terminated(self, uid: str) -> bool: ...
    def register_binder(self, name: str, binder: Any) -> None: ...


class Session(ExtensionPoints):
    """One scheduling cycle. Each extension point is a method: `ssn.overused(queue)`.

    Args:
        arrays: Filter and score all nodes at once where the plugins can; decisions are the same.
        now: The time of the cycle in seconds since the epoch, the same from its opening to its end
            (default: the clock's).
        memory: State that plugins keep from one cycle to the next, under their names.

    Attributes:
        jobs, nodes, queues: By key, ascending.
        node_list: The nodes in the order in which they were added, the order in which they are
            tried.
        topology: The HyperNodes.
        committed: What took effect, as [operation, task, node]; `undone` counts what was discarded,
            `restored` the evictions that were undone.
        moved: The job and the node of each task that was allocated or deallocated, in order.
        handlers: The plugins' functions that follow allocations and deallocations, by point.
        warnings: Messages about entries of the configuration or the cluster that cannot apply.
    """

    def __init__(self, cache: SessionCache, conf: SchedulerConfiguration,
                 observer: Observer | None = None, uid: str = "session-1", arrays: bool = True,
                 now: float | None = None, memory: dict[str, Any] | None = None):
        self.uid, self.cache, self.conf = uid, cache, conf
        self.observer = observer or NO_OBSERVER
        self.use_arrays = arrays and not self.observer.watches_calls
        self.node_arrays: NodeArrays | None = None
        self.now = time.time() if now is None else now
        if not isinstance(self.now, int | float) or not isfinite(self.now):
            raise Misuse("now is {now}; allowed is a number of seconds since 1970", now=repr(now))
        self.memory: dict[str, Any] = {} if memory is None else memory
        self.log = log.logger
        self.enabled_actions = set(conf.actions)
        self.dirty_jobs: set[str] = set()
        self.committed: list[list[str]] = []
        self.moved: list[tuple[str, str]] = []
        self.undone = self.restored = self._statements = 0
        self.warnings: list[Message] = []
        self._take(cache.snapshot())
        self.points: dict[str, ExtensionPoint] = extension_points(self)
        self.plugins: dict[str, Plugin] = {}
        self._cycle_states: dict[str, dict[str, Any]] = {}
        self._sort_keys = Memo(self._order_keys)
        self.handlers: dict[str, list[Callable[[Event], None]]] = {
            "on_allocate": [], "on_deallocate": []}
        self.bind_extensions: list[Callable[[dict[str, Any], BindContext], object]] = []
        guard.refuse_taken_names(self, POINTS.own)
        opening.open_plugins(self)

    def _take(self, snapshot: ClusterInfo) -> None:
        self.snapshot, self.table, self.namespaces = snapshot, snapshot.table, snapshot.namespaces
        self.jobs: dict[str, JobInfo] = snapshot.jobs
        self.nodes: dict[str, NodeInfo] = snapshot.nodes
        self.queues: dict[str, QueueInfo] = snapshot.queues
        self.node_list = NodeList(snapshot.node_list)
        self.revocable_nodes = {name: node
                                for name, node in self.nodes.items() if node.revocable_zone}
        self.total_resource = total(node.allocatable for node in self.nodes.values())
        self.total_guarantee = self.total_deserved = EMPTY
        self.old_status = {uid: job.pod_group.status.clone()
                           for uid, job in self.jobs.items()}
        self.old_annotations = {uid: job.pod_group.metadata.annotations
                                for uid, job in self.jobs.items()}
        self.topology = Topology(snapshot.hyper_nodes, self.nodes, self.node_list)
        if self.topology.ready:
            for job in self.jobs.values():
                self.topology.restore(job, self.dirty_jobs.add)

    def __repr__(self) -> str:
        counts = f"nodes={len(self.nodes)}, queues={len(self.queues)}, jobs={len(self.jobs)}"
        return f"Session({counts}, committed={len(self.committed)})"

    def __getattr__(self, name: str) -> Any:
        """Name the nearest extension point or attribute to one that does not exist."""
        raise AttributeError(f"'Session' object has no attribute '{name}'"
                             f"{did_you_mean(name, self.__dict__)}")

    def hierarchy_enabled(self, plugin: str) -> bool:
        """Return whether the first entry of a plugin in the tiers sets `enableHierarchy`."""
        options = (o for tier in self.conf.tiers for o in tier.plugins if o.name == plugin)
        return next((option.enables("enableHierarchy") for option in options), False)

    def cycle_state(self, task_uid: str) -> dict[str, Any]:
        """Return the state that plugins keep for one task during the cycle."""
        return self._cycle_states.setdefault(task_uid, {})

    # -- compound queries --------------------------------------------------------------------------

    def is_sub_job_ready(self, job: JobInfo, sub_job: SubJobInfo) -> bool:
        """Return whether a sub-job is ready; without sub-group policies, whether its job is."""
        return self.sub_job_ready(sub_job) if job.contains_sub_job_policy() else self.job_ready(job)

    def is_sub_job_pipelined(self, job: JobInfo, sub_job: SubJobInfo) -> bool:
        return self.sub_job_pipelined(
            sub_job) if job.contains_sub_job_policy() else self.job_pipelined(job)

    def predicate_for_allocate(self, task: TaskInfo, node: NodeInfo) -> FitError | None:
        """Return why a node cannot take a task now, None where it can."""
        error = fit_error(task, node, self.predicate(task, node))
        return error if error is not None and error.blocks_allocate() else None

    def predicate_for_preempt(self, task: TaskInfo, node: NodeInfo) -> FitError | None:
        """Return why a node could not take a task even after evictions, None where it could."""
        error = fit_error(task, node, self.predicate(task, node))
        return error if error is not None and error.blocks_preempt() else None

    def nodes_that_eviction_may_help(self, task: TaskInfo) -> list[NodeInfo]:
        """Return the nodes not yet found unresolvable for this task, in the order in which they are
        tried.
        """
        errors = self.jobs[task.job].nodes_fit_errors.get(
            task.uid) if task.job in self.jobs else None
        skip = errors.unresolvable_nodes() if errors is not None else ()
        return [node for name, node in self.nodes.items()
                if name not in skip] if skip else self.node_list

    def task_queue(self, tasks: list[TaskInfo]) -> PriorityQueue[TaskInfo]:
        """Return tasks in the order in which they are scheduled."""
        keys = self._sort_keys["task_order"]
        if keys is None or any(task.order_index is None for task in tasks):
            return PriorityQueue(self.task_order, tasks)
        return KeyedQueue(lambda t: (*[key(t) for key in keys], t.order_index, t.creation_timestamp,
                                     t.uid), tasks)

    def job_queue(self, jobs: Iterable[JobInfo] = ()) -> PriorityQueue[JobInfo]:
        """Return jobs in order, for a caller that changes a job only while it is not queued."""
        keys = self._sort_keys["job_order"]
        if keys is None:
            return PriorityQueue(self.job_order, jobs)
        return KeyedQueue(
            lambda job: (*[key(job) for key in keys], job.creation_timestamp, job.uid), jobs)

    def _order_keys(self, point: str) -> list[Callable[[Any], Any]] | None:
        """Return the sort keys that replace comparisons: each plugin's `…_key`. None where an
        active plugin has none, or where every single comparison is observed.
        """
        plugins = [self.plugins[plugin] for tier in self.points[point].tiers for plugin, _ in tier]
        keys = [getattr(plugin, f"{point}_key", None) for plugin in plugins]
        found = [key for key in keys if key is not None]
        return None if self.observer.watches_calls or len(found) < len(keys) else found

    def victims_queue(self, victims: list[TaskInfo],
                      preemptor: TaskInfo) -> PriorityQueue[TaskInfo]:
        """Return victims in eviction order: the least important queue, job and task first."""
        preemptor_job = self.jobs.get(preemptor.job)

        def less(left: TaskInfo, right: TaskInfo) -> bool:
            if left.job == right.job:
                return not self.task_order(left, right)
            left_job, right_job = self.jobs.get(left.job), self.jobs.get(right.job)
            if left_job is None or right_job is None:
                return not self.task_order(left,
                                           right) if left_job is right_job else left_job is None
            if preemptor_job is not None and left_job.queue != right_job.queue:
                return self.victim_queue_order(self.queues[left_job.queue],
                                               self.queues[right_job.queue],
                                               self.queues[preemptor_job.queue])
            return not self.job_order(left_job, right_job)

        return PriorityQueue(less, victims)

    # -- changing tasks --------------------------------------------------------------------------

    def statement(self) -> Statement:
        """Begin a statement."""
        self._statements += 1
        return Statement(self, self._statements - 1)

    def set_status(self, task: TaskInfo, status: TaskStatus) -> None:
        job = self.jobs.get(task.job)
        if job is None:
            self.log.error("job %s of task %s is not in the session", task.job, task.key)
        else:
            job.update_task_status(task, status)

    def fire_allocate(self, task: TaskInfo) -> list[str]:
        """Notify the plugins that a task has a node; return their errors."""
        event = Event(task)
        self.moved.append((task.job, task.node_name))
        problems = []
        for handler in self.handlers["on_allocate"]:
            handler(event)
            if event.error:
                problems.append(event.error)
                event.error = ""
        return problems

    def fire_deallocate(self, task: TaskInfo) -> None:
        event = Event(task)
        self.moved.append((task.job, task.node_name))
        for handler in self.handlers["on_deallocate"]:
            handler(event)

    def allocate_directly(self, task: TaskInfo, node: NodeInfo) -> None:
        """Allocate a node to a task without a statement, and send all of its job's tasks to be
        bound once the gang is ready.

        Raises `StatementError` where any step fails.
        """
        operation = Allocate(task, node.name)
        with suppress(HandlerError):
            operation.do(self)
        self.observer.did(None, operation)
        self.record_committed("allocate", task, direct=True)
        job = self.jobs[task.job]
        if self.job_ready(job):
            for _, ready in sorted(job.in_status(ALLOCATED).items()):
                try:
                    self.cache.add_bind_task(self.create_bind_context(ready))
                except NodeError as error:
                    raise StatementError(str(error)) from error
                self.set_status(ready, BINDING)
                self.observer.committed(None, Allocate(ready, ready.node_name))

    def evict_directly(self, task: TaskInfo, reason: str) -> None:
        """Evict a task at once, without a statement. Raises `StatementError` where the cache
        refuses.
        """
        try:
            self.cache.evict(task, reason)
        except NodeError as error:
            raise StatementError(str(error)) from error
        operation = Evict(task, reason)
        operation.do(self)
        self.observer.did(None, operation)
        self.observer.committed(None, operation)
        self.record_committed("evict", task, direct=True)

    def create_bind_context(self, task: TaskInfo) -> BindContext:
        context = BindContext(task)
        for extend in self.bind_extensions:
            extend(self.cycle_state(task.uid), context)
        return context

    @property
    def in_force(self) -> int:
        """Return how many operations are not undone; as long as no more of them are, any that were
        done in between have been undone.
        """
        return len(self.moved) - 2 * self.undone

    def record_committed(self, operation: str, task: TaskInfo, direct: bool = False) -> None:
        self.committed.append(
            [operation, task.key, task.node_name, *(["direct"] if direct else [])])

    # -- PodGroups -------------------------------------------------------------------------------

    def update_pod_group_condition(self, job: JobInfo, condition: PodGroupCondition) -> None:
        """Set a PodGroup's condition, replacing an earlier one of its type."""
        conditions = job.pod_group.status.conditions
        for index, known in enumerate(conditions):
            if known.type == condition.type:
                conditions[index] = condition
                return
        conditions.append(condition)

    # -- the end ---------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the plugins, then write PodGroup phases, conditions and the queues' status."""
        from volcano_lab.framework.job_updater import update_all
        from volcano_lab.framework.queue_status import update_queue_status

        opening.close_plugins(self)
        update_all(self)
        update_queue_status(self)
        self.observer.closed(self)


def fit_error(task: TaskInfo, node: NodeInfo, objection: FitError | str | None) -> FitError | None:
    """Return a predicate's answer as a `FitError`; a plain text counts as an error."""
    if isinstance(objection, str):
        return FitError(task.key, node.name, (Status(ERROR, objection),))
    return objection
