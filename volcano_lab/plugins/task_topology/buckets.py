"""Buckets: groups of a job's tasks, by the affinity between their roles.

`plugin.py` is the plugin. A role here is the pod's annotation `volcano.sh/task-spec`; its label
does not count.

Volcano: pkg/scheduler/plugins/task-topology/bucket.go,
pkg/scheduler/plugins/task-topology/manager.go
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import Factory, define

from volcano_lab.api import EMPTY, TASK_SPEC, ZERO, Resource, TaskInfo

SELF_ANTI_AFFINITY, INTER_AFFINITY, SELF_AFFINITY, INTER_ANTI_AFFINITY = 4, 3, 2, 1
"""Kinds of affinity, by the order in which roles with them are placed."""

MIB = 1024 * 1024


@define(slots=True)
class TaskTopology:
    """Groups of roles to place together, groups to place apart, and the roles to place first."""

    affinity: Sequence[Sequence[str]] = ()
    anti_affinity: Sequence[Sequence[str]] = ()
    task_order: Sequence[str] = ()


@define(slots=True, eq=False)
class Bucket:
    """Tasks to place on one node.

    `tasks` are the pending ones, by uid, `request` their summed requests and `size` the same as one
    number (1m CPU, 1 MiB and a thousandth of anything else count alike). `roles` counts all tasks
    by role, `nodes` those with a node by its name.
    """

    index: int
    tasks: dict[str, TaskInfo] = Factory(dict)
    roles: Counter[str] = Factory(Counter)
    size: float = 0.0
    request: Resource = EMPTY
    nodes: Counter[str] = Factory(Counter)

    def add_task(self, role: str, task: TaskInfo) -> None:
        self.roles[role] += 1
        if task.node_name:
            self.nodes[task.node_name] += 1
            return
        self.tasks[task.uid] = task
        self.size += size_of(task.resreq)
        self.request = self.request + task.resreq

    def task_bound(self, task: TaskInfo) -> None:
        """Move a task that got a node. It is not moved back if it loses it again."""
        self.nodes[task.node_name] += 1
        self.tasks.pop(task.uid, None)
        self.size -= size_of(task.resreq)
        self.request = self.request.sub(task.resreq)

    def how_many_fit(self, task: TaskInfo, free: Resource) -> int:
        """Return how many pending tasks are left once others than `task` are removed, by uid, until
        the rest fits.
        """
        count, request = len(self.tasks), self.request
        for uid in sorted(self.tasks):
            if request.less_equal(free, ZERO):
                break
            if uid != task.uid:
                request = request - self.tasks[uid].resreq
                count -= 1
        return count


class JobManager:
    """The buckets of one job, and the affinity between its roles.

    >>> manager = JobManager(TaskTopology(affinity=[["ps", "worker"]], anti_affinity=[["ps"]]))
    >>> manager.affinity_to("worker", {"ps": 1}), manager.affinity_to("ps", {"ps": 2, "worker": 3})
    (1, 1)
    """

    def __init__(self, topology: TaskTopology):
        self.buckets: list[Bucket] = []
        self.bucket_of: dict[str, Bucket] = {}
        self.bucket_max_size = 0
        self.node_roles: dict[str, Counter[str]] = {}
        self.role_priority: dict[str, int] = {}
        self.role_order = {role: len(topology.task_order) - i
                           for i, role in enumerate(topology.task_order)}
        self.friends = self._pairs(topology.affinity, SELF_AFFINITY, INTER_AFFINITY)
        self.foes = self._pairs(topology.anti_affinity, SELF_ANTI_AFFINITY, INTER_ANTI_AFFINITY)

    def _pairs(self, groups: Iterable[Sequence[str]], alone: int,
               together: int) -> set[tuple[str, str]]:
        """Return ordered pairs of roles of one group; a group of one role pairs it with itself."""
        pairs: set[tuple[str, str]] = set()
        for group in groups:
            for role in group:
                kind = alone if len(group) == 1 else together
                self.role_priority[role] = max(self.role_priority.get(role, 0), kind)
                pairs.update((role, other) for other in group if other != role or len(group) == 1)
        return pairs

    def affinity_to(self, role: str, roles: Mapping[str, int], only_anti: bool = False) -> int:
        """Return the affinity of a role to a set of roles: those with affinity less those with
        anti-affinity.
        """
        if not role:
            return 0
        foes = sum(count for other, count in roles.items() if (role, other) in self.foes)
        return -foes if only_anti else sum(
            n for other, n in roles.items() if (role, other) in self.friends) - foes

    def compare_roles(self, left: TaskInfo, right: TaskInfo) -> int:
        """Compare two tasks in buckets by their roles' placement order; negative means the left one
        is first.
        """
        mine, theirs = self._urgency(left), self._urgency(right)
        return (mine < theirs) - (mine > theirs)

    def _urgency(self, task: TaskInfo) -> tuple[int, int]:
        role = role_of(task)
        return self.role_order.get(role, 0), self.role_priority.get(role, 0)

    def build_buckets(self, tasks: Iterable[TaskInfo]) -> None:
        """Sort the tasks of roles with an affinity into buckets: those on nodes first, roles of the
        task order before the others.
        """

        def rank(task: TaskInfo) -> tuple[Any, ...]:
            order, priority = self._urgency(task)
            return (0, task.node_name) if task.node_name else (1, -order, -priority, task.name)

        by_node: dict[str, Bucket] = {}
        for task in sorted((task for task in tasks
                            if role_of(task) in self.role_priority and role_of(task)), key=rank):
            bucket = by_node.get(task.node_name) if task.node_name else self._best_bucket(
                role_of(task))
            if bucket is None:
                bucket = Bucket(len(self.buckets))
                self.buckets.append(bucket)
                if task.node_name:
                    by_node[task.node_name] = bucket
            bucket.add_task(role_of(task), task)
            self.bucket_of[task.uid] = bucket
            self.bucket_max_size = max(self.bucket_max_size,
                                       len(bucket.tasks) + bucket.nodes.total())

    def _best_bucket(self, role: str) -> Bucket | None:
        """Return the bucket with the highest affinity to a role or, among equals, the smallest;
        None where anti-affinity excludes all.
        """
        best, highest = None, 0
        for bucket in self.buckets:
            affinity = self.affinity_to(role, bucket.roles)
            if affinity > highest or (affinity == highest and
                                      (best is None or bucket.size < best.size)):
                best, highest = bucket, affinity
        return best

    def task_bound(self, task: TaskInfo) -> None:
        """Update the bucket of a task that got a node."""
        role = role_of(task)
        if role:
            self.node_roles.setdefault(task.node_name, Counter())[role] += 1
        bucket = self.bucket_of.get(task.uid)
        if bucket is not None:
            bucket.task_bound(task)


def role_of(task: TaskInfo) -> str:
    """Return the task's role in its Job, "" without one."""
    return task.pod.metadata.annotations.get(TASK_SPEC, "")


def size_of(request: Resource) -> float:
    """Return a request as one number.

    >>> size_of(Resource(500.0, 1024.0 * MIB, {"pods": 1.0}))
    1525.0
    """
    size = request.milli_cpu + request.memory / MIB
    for amount in (request.scalars or {}).values():
        size += amount
    return size
