"""Tasks by status, and the counts towards a gang: the common base of a job and a sub-job.

Counts are updated, not recounted.

Volcano: pkg/scheduler/api/job_info.go, pkg/scheduler/api/sub_job_info.go
"""

from volcano_lab.api.objects import NetworkTopologySpec
from volcano_lab.api.task import TaskInfo

from .status import ALLOCATED_STATUSES, PENDING, PIPELINED, READY_STATUSES, TaskStatus

_NONE: dict[str, TaskInfo] = {}
_READY = frozenset(READY_STATUSES)


class TaskIndex:
    """Tasks by uid and by status.

    Invariant: each task in `tasks` is in exactly one map of `task_status_index`, that of its status
    when it was added, and no map there is empty.
    """

    __slots__ = ("tasks", "task_status_index", "min_available", "_pending_best_effort", "_ready")

    def __init__(self, min_available: int = 0) -> None:
        self.tasks: dict[str, TaskInfo] = {}
        self.task_status_index: dict[TaskStatus, dict[str, TaskInfo]] = {}
        self.min_available = min_available
        self._pending_best_effort = self._ready = 0

    def in_status(self, status: TaskStatus) -> dict[str, TaskInfo]:
        """Return tasks in a status, by uid (read only)."""
        return self.task_status_index.get(status, _NONE)

    def index_task(self, task: TaskInfo) -> None:
        status = task.status
        self.tasks[task.uid] = task
        by_uid = self.task_status_index.get(status)
        if by_uid is None:
            by_uid = self.task_status_index[status] = {}
        if task.uid not in by_uid:
            if status in _READY:
                self._ready += 1
            elif task.best_effort and status == PENDING:
                self._pending_best_effort += 1
        by_uid[task.uid] = task

    def index_copies(self, other: "TaskIndex") -> None:
        """Start with copies of another's tasks, in ascending order of uid."""
        self._pending_best_effort, self._ready = other._pending_best_effort, other._ready
        self.tasks, self.task_status_index = {}, {}
        for uid in sorted(other.tasks):
            task = self.tasks[uid] = other.tasks[uid].clone()
            self.task_status_index.setdefault(task.status, {})[uid] = task

    def unindex_task(self, uid: str, status: TaskStatus) -> None:
        self.tasks.pop(uid, None)
        by_uid = self.task_status_index.get(status)
        task = by_uid.pop(uid, None) if by_uid is not None else None
        if task is None:
            return
        if status in _READY:
            self._ready -= 1
        elif task.best_effort and status == PENDING:
            self._pending_best_effort -= 1
        if not by_uid:
            del self.task_status_index[status]

    # -- counts towards the gang -----------------------------------------------------------------

    def ready_task_num(self) -> int:
        """Return how many tasks have, or had until they succeeded, their own node."""
        return self._ready

    def waiting_task_num(self) -> int:
        """Return how many tasks are pipelined."""
        return len(self.in_status(PIPELINED))

    def allocated_task_num(self) -> int:
        index = self.task_status_index
        return sum([len(index[s]) for s in ALLOCATED_STATUSES if s in index])

    def is_ready(self) -> bool:
        """Return whether enough tasks have a node for the gang to start."""
        return self._ready + self._pending_best_effort >= self.min_available

    def is_pipelined(self) -> bool:
        """Return whether enough tasks have a node or are pipelined."""
        return self.waiting_task_num(
        ) + self._ready + self._pending_best_effort >= self.min_available

    def is_starving(self) -> bool:
        """Return whether too few tasks have a node or are pipelined, without best-effort tasks."""
        return self.waiting_task_num() + self._ready < self.min_available

    # -- network topology --------------------------------------------------------------------------

    @property
    def network_topology(self) -> NetworkTopologySpec | None:
        """The part of the network within which the tasks must be placed."""
        raise NotImplementedError
    def with_network_topology(self) -> bool:
        return self.network_topology is not None

    def hard_topology(self) -> tuple[bool, int]:
        """Return whether the topology must hold, and its highest tier."""
        return hard_topology(self.network_topology)

    def is_soft_topology_mode(self) -> bool:
        return self.network_topology is not None and self.network_topology.mode == "soft"


def hard_topology(topology: NetworkTopologySpec | None) -> tuple[bool, int]:
    """Return whether a network topology must hold, and its highest tier (0 without one)."""
    if topology is None or topology.highest_tier_allowed is None:
        return False, 0
    return topology.mode == "hard", topology.highest_tier_allowed
