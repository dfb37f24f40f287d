"""A job: the tasks of one PodGroup, and the states of their gang.

`job_conditions.py` has the texts that explain a job's state. Sums are updated as tasks change their
status.

Volcano: pkg/scheduler/api/job_info.go (JobInfo)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from volcano_lab.api import objects
from volcano_lab.api.durations import parse_bool, parse_duration
from volcano_lab.api.fit_error import FitErrors
from volcano_lab.api.resource import EMPTY, Resource, total
from volcano_lab.api.status import ALLOCATED_STATUSES, PENDING, PIPELINED, SUCCEEDED, TaskStatus
from volcano_lab.api.sub_job import SubJobInfo, WholeJob, match_values, sub_job_id
from volcano_lab.api.task import PREEMPTABLE, TaskInfo, revocable_zone_of
from volcano_lab.api.task_index import TaskIndex, hard_topology

SLA_WAITING_TIME = "volcano.sh/sla-waiting-time"
SLA_WAITING_TIME_SHORT = "sla-waiting-time"
JDB_MIN_AVAILABLE = "volcano.sh/jdb-min-available"
JDB_MAX_UNAVAILABLE = "volcano.sh/jdb-max-unavailable"

_UNKNOWN: Any = None
"""The PodGroup of a job before its object is added. A session has no such job, so the attribute has
the type of a PodGroup."""
_OCCUPIED = ALLOCATED_STATUSES | {SUCCEEDED}
_MAY_RUN = _OCCUPIED | {PIPELINED, PENDING}


class JobInfo(TaskIndex):
    """The scheduler's state of one job; `uid` is "namespace/name" of its PodGroup.

    `min_available` is the gang's minimum, `task_min_available` the minimum of each task role,
    `allocated` and `total_request` sums over its tasks. `nodes_fit_errors` has, by task uid, why
    nodes did not fit.
    """

    __slots__ = ("uid", "pg_uid", "name", "namespace", "queue", "priority", "waiting_time",
                 "nodes_fit_errors", "allocated_hyper_node", "sub_jobs", "task_to_sub_job",
                 "min_sub_jobs", "task_min_available", "task_min_available_total", "allocated",
                 "total_request", "creation_timestamp", "pod_group", "preemptable",
                 "revocable_zone", "min_available_budget", "max_unavailable_budget", "_gated")

    def __init__(self, uid: str):
        super().__init__()
        self.uid = uid
        self.pg_uid = self.name = self.namespace = self.queue = self.revocable_zone = ""
        self.priority = 0
        self.waiting_time: float | None = None
        self.nodes_fit_errors: dict[str, FitErrors] = {}
        self.allocated_hyper_node = ""
        self.sub_jobs: dict[str, SubJobInfo] = {}
        self.task_to_sub_job: dict[str, str] = {}
        self.min_sub_jobs: dict[str, int] = {}
        self.task_min_available: dict[str, int] = {}
        self.task_min_available_total = 0
        self.allocated = self.total_request = EMPTY
        self.creation_timestamp = 0.0
        self.pod_group: objects.PodGroup = _UNKNOWN
        self.preemptable = False
        self.min_available_budget = self.max_unavailable_budget = ""
        self._gated = 0

    # -- the PodGroup ----------------------------------------------------------------------------

    def set_pod_group(self, pod_group: objects.PodGroup) -> None:
        """Apply a PodGroup; sub-jobs are rebuilt if its policies changed."""
        meta, spec, notes = pod_group.metadata, pod_group.spec, pod_group.metadata.annotations
        self.name, self.namespace, self.pg_uid = meta.name, meta.namespace, meta.uid
        self.min_available, self.queue = spec.min_member, spec.queue
        self.creation_timestamp = meta.creation_timestamp or 0.0
        self.waiting_time = _positive(notes.get(SLA_WAITING_TIME)) or _positive(
            notes.get(SLA_WAITING_TIME_SHORT))
        marked = notes.get(PREEMPTABLE, meta.labels.get(PREEMPTABLE, ""))
        self.preemptable = parse_bool(marked) or False
        self.revocable_zone = revocable_zone_of(notes)
        self.min_available_budget = notes.get(JDB_MIN_AVAILABLE, "")
        self.max_unavailable_budget = "" if JDB_MIN_AVAILABLE in notes else notes.get(
            JDB_MAX_UNAVAILABLE, "")
        self.task_min_available = dict(spec.min_task_member)
        self.task_min_available_total = sum(spec.min_task_member.values())
        old, self.pod_group = self.pod_group, pod_group
        if old is None or old.spec.sub_group_policy != spec.sub_group_policy:
            self._form_sub_jobs()
            self.min_sub_jobs = {f"{self.uid}/{p.name}": p.min_sub_groups or 0
                                 for p in spec.sub_group_policy}

    def unset_pod_group(self) -> None:
        self.pod_group = _UNKNOWN
        self._form_sub_jobs()

    def _form_sub_jobs(self) -> None:
        self.sub_jobs.clear()
        if self.tasks and not self._policies() and not self.with_network_topology():
            whole = self.sub_jobs[self.uid] = WholeJob(self, self.uid, self.min_available)
            whole.priority = max(0, max([task.priority for task in self.tasks.values()]))
            self.task_to_sub_job = dict.fromkeys(self.tasks, whole.uid)
            return
        for _, task in sorted(self.tasks.items()):
            self._add_task_to_sub_job(task)

    # -- tasks -----------------------------------------------------------------------------------

    def add_task_info(self, task: TaskInfo) -> None:
        self.index_task(task)
        self.total_request = self.total_request + task.resreq
        if task.status in ALLOCATED_STATUSES:
            self.allocated = self.allocated + task.resreq
        self._gated += task.sch_gated
        self._add_task_to_sub_job(task)

    def delete_task_info(self, task: TaskInfo) -> None:
        """Delete a task (by its uid); no effect where the job does not have it."""
        known = self.tasks.get(task.uid)
        if known is None:
            return
        self.total_request = self.total_request - known.resreq
        if known.status in ALLOCATED_STATUSES:
            self.allocated = self.allocated - known.resreq
        self._gated -= known.sch_gated
        self.unindex_task(known.uid, known.status)
        sub_job = self.sub_jobs.get(self.task_to_sub_job.pop(known.uid, ""))
        if sub_job is not None:
            sub_job.unindex_task(known.uid, task.status)

    def update_task_status(self, task: TaskInfo, status: TaskStatus) -> None:
        """Set a task's status; the given object replaces the job's own.

        The sub-job looks the task up under the previous status of the given object, as Volcano's
        does: a recovered copy therefore stays among the sub-job's pending tasks.
        """
        known = self.tasks.get(task.uid)
        if known is None:
            task.status = status
            self.add_task_info(task)
            return
        if known.status in ALLOCATED_STATUSES:
            if status not in ALLOCATED_STATUSES:
                self.allocated = self.allocated - known.resreq
        elif status in ALLOCATED_STATUSES:
            self.allocated = self.allocated + task.resreq
        sub_job = self.sub_jobs.get(self.task_to_sub_job.get(task.uid, ""))
        own = None if type(sub_job) is WholeJob else sub_job
        self.unindex_task(task.uid, known.status)
        if own is not None:
            own.unindex_task(task.uid, task.status)
        task.status = status
        self.index_task(task)
        if own is not None:
            own.add_task(task)
        elif sub_job is None:
            self._add_task_to_sub_job(task)

    def clone(self) -> JobInfo:
        """Return a copy for a session: tasks are copied, in ascending order of uid, and so is the
        PodGroup's status.
        """
        job = JobInfo.__new__(JobInfo)
        job.uid, job.name, job.namespace, job.queue = (
            self.uid, self.name, self.namespace, self.queue)
        job.pg_uid, job.priority, job.preemptable = self.pg_uid, self.priority, self.preemptable
        job.waiting_time, job.revocable_zone = self.waiting_time, self.revocable_zone
        job.creation_timestamp, job._gated = self.creation_timestamp, self._gated
        job.allocated_hyper_node, job.min_available = self.allocated_hyper_node, self.min_available
        job.task_min_available, job.task_min_available_total = (
            self.task_min_available, self.task_min_available_total)
        job.min_available_budget, job.max_unavailable_budget = (
            self.min_available_budget, self.max_unavailable_budget)
        job.allocated, job.total_request = self.allocated, self.total_request
        job.nodes_fit_errors, job.sub_jobs, job.task_to_sub_job = {}, {}, {}
        job.min_sub_jobs = dict(self.min_sub_jobs)
        job.pod_group = self.pod_group.clone() if self.pod_group else _UNKNOWN
        job.index_copies(self)
        job._form_sub_jobs()
        for uid, sub_job in self.sub_jobs.items():
            if uid in job.sub_jobs:
                job.sub_jobs[uid].allocated_hyper_node = sub_job.allocated_hyper_node
        return job

    # -- resources -------------------------------------------------------------------------------

    def get_min_resources(self) -> Resource:
        """Return the PodGroup's minResources; empty where it has none."""
        return Resource.from_list(self.pod_group.spec.min_resources)

    def deduct_sch_gated_resources(self, resources: Resource) -> Resource:
        """Return `resources` less the requests of gated tasks, never below zero."""
        gated = self._gated and total(task.resreq for task in self.tasks.values() if task.sch_gated)
        if not gated or gated.is_empty():
            return resources
        scalars = {k: max(v - gated.get(k), 0.0) if k in (gated.scalars or {}) else v
                   for k, v in (resources.scalars or {}).items()}
        return Resource(max(resources.milli_cpu - gated.milli_cpu, 0.0),
                        max(resources.memory - gated.memory, 0.0),
                        scalars if resources.scalars is not None else None)

    # -- gang states by task role and sub-group --------------------------------------------------

    def roles_short(self) -> dict[str, tuple[int, int]]:
        """Return (number of tasks that may still run, minimum) of each role below its minimum."""
        if self.min_available < self.task_min_available_total or not self.task_min_available:
            return {}
        actual = self._roles(_MAY_RUN)
        return {role: (actual[role], least) for role, least in self.task_min_available.items()
                if actual[role] < least}

    def check_task_ready(self) -> bool:
        """Return whether every role has its minimum ready, pending best-effort tasks included."""
        return self._roles_suffice(_OCCUPIED)

    def check_task_pipelined(self) -> bool:
        """Return whether every role has its minimum ready or pipelined."""
        return self._roles_suffice(_OCCUPIED | {PIPELINED})

    def _roles_suffice(self, statuses: frozenset[TaskStatus]) -> bool:
        if self.min_available < self.task_min_available_total or not self.task_min_available:
            return True
        occupied = self._roles(statuses) + self._pending_best_effort_roles()
        return all(occupied[role] >= least for role, least in self.task_min_available.items())

    def check_sub_job_valid(self) -> bool:
        """Return whether each policy has as many sub-groups as it needs."""
        return self._sub_jobs_suffice(lambda sub_job: True)

    def check_sub_job_ready(self) -> bool:
        return self._sub_jobs_suffice(SubJobInfo.is_ready)

    def check_sub_job_pipelined(self) -> bool:
        return self._sub_jobs_suffice(SubJobInfo.is_pipelined)

    def _sub_jobs_suffice(self, holds: Callable[[SubJobInfo], bool]) -> bool:
        if not self.min_sub_jobs:
            return True
        count = Counter(sub_job.gid for sub_job in self.sub_jobs.values() if holds(sub_job))
        return all(count[gid] >= least for gid, least in self.min_sub_jobs.items())

    def valid_task_num(self) -> int:
        """Return how many tasks run, have run or may still run."""
        return sum([len(tasks) for status, tasks in self.task_status_index.items()
                    if status in _MAY_RUN])

    def _roles(self, statuses: frozenset[TaskStatus]) -> Counter[str]:
        return Counter(
            task.task_role for status in statuses for task in self.in_status(status).values())

    def _pending_best_effort_roles(self) -> Counter[str]:
        return Counter(
            task.task_role for task in self.in_status(PENDING).values() if task.best_effort)

    # -- while allocating -------------------------------------------------------------------------

    def fit_failed_roles(self, sub_job: str) -> set[str]:
        """Return roles with a task of the sub-job that found no node in this cycle."""
        return {self.tasks[uid].task_role
                for uid in self.nodes_fit_errors if self.task_to_sub_job.get(uid) == sub_job}

    def need_continue_allocating(self, sub_job_id: str) -> bool:
        """Return whether, after one task found no node, the others may still reach the gang's
        minimum.
        """
        if self.min_available == len(self.tasks):
            return False
        sub_job = self.sub_jobs.get(sub_job_id)
        if sub_job is not None and sub_job.min_available >= len(sub_job.tasks):
            return False
        if self.contains_sub_job_policy() or not self.task_min_available:
            return True
        failed = self.fit_failed_roles(sub_job_id)
        if self.min_available < self.task_min_available_total:
            left = sum(task.task_role not in failed for task in self.in_status(PENDING).values())
            return self.ready_task_num() + left >= self.min_available
        allocated = self._roles(_OCCUPIED) + self._pending_best_effort_roles()
        return all(allocated[role] >= self.task_min_available.get(role, 0) for role in failed)

    def is_pending(self) -> bool:
        """Return whether the PodGroup is not admitted yet."""
        return self.pod_group is None or self.pod_group.status.phase in ("Pending", "")

    def has_pending_tasks(self) -> bool:
        return PENDING in self.task_status_index

    def reset_sub_job_fit_err(self, sub_job: str) -> None:
        self.nodes_fit_errors = {uid: errors for uid, errors in self.nodes_fit_errors.items()
                                 if self.task_to_sub_job.get(uid) != sub_job}

    # -- sub-jobs and topology --------------------------------------------------------------------

    def _policies(self) -> list[objects.SubGroupPolicySpec]:
        return self.pod_group.spec.sub_group_policy if self.pod_group else []

    def _add_task_to_sub_job(self, task: TaskInfo) -> None:
        sub_job = self._sub_job_for(task)
        sub_job.add_task(task)
        self.task_to_sub_job[task.uid] = sub_job.uid

    def _sub_job_for(self, task: TaskInfo) -> SubJobInfo:
        for policy in self._policies():
            values = match_values(policy, task.pod)
            if values:
                uid = sub_job_id(self.uid, policy.name, values)
                if uid not in self.sub_jobs:
                    self.sub_jobs[uid] = SubJobInfo(f"{self.uid}/{policy.name}", uid, self.uid,
                                                    policy, values)
                return self.sub_jobs[uid]
        default = self.sub_jobs.get(self.uid)
        if default is None and not self._policies() and not self.with_network_topology():
            default = self.sub_jobs[self.uid] = WholeJob(self, self.uid, self.min_available)
        elif default is None:
            policy = objects.SubGroupPolicySpec(
                sub_group_size=None if self._policies() else self.min_available,
                network_topology=self.network_topology)
            default = self.sub_jobs[self.uid] = SubJobInfo(self.uid, self.uid, self.uid, policy)
        return default

    def contains_sub_job_policy(self) -> bool:
        return bool(self._policies())

    @property
    def network_topology(self) -> objects.NetworkTopologySpec | None:
        """Return the PodGroup's network topology; None without one."""
        return self.pod_group.spec.network_topology if self.pod_group else None

    def contains_hard_topology(self) -> bool:
        return self.hard_topology()[0] or any(
            hard_topology(p.network_topology)[0] for p in self._policies())

    def contains_network_topology(self) -> bool:
        return self.with_network_topology() or any(p.network_topology is not None
                                                   for p in self._policies())

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(tasks)} {status}" for status, tasks
                           in sorted(self.task_status_index.items())) or "no tasks"
        return f"JobInfo({self.uid}, queue {self.queue}, min {self.min_available}, {counts})"


def _positive(text: str | None) -> float | None:
    """Return the seconds of a positive duration, None for anything else."""
    seconds = parse_duration(text) if text is not None else None
    return seconds if seconds is not None and seconds > 0 else None
