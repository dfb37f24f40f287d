"""task-topology: place the tasks of a job together or apart by role, one bucket of them per node.

`buckets.py` sorts tasks into buckets. Argument: `task-topology.weight`, an integer (default 1). A
job is configured by annotations of its PodGroup, roles separated by commas and groups by
semicolons:

    volcano.sh/task-topology-affinity: "ps,worker;evaluator"
    volcano.sh/task-topology-anti-affinity: "ps"
    volcano.sh/task-topology-task-order: "ps,worker"

A group of one role applies to its own tasks. An annotation with a role that the job does not have,
or with a repeated one in a group, invalidates all of the job's annotations. As in Volcano, a task
whose placement was undone does not return to its bucket, and tasks that had a node before the cycle
count for the bucket but not for anti-affinity.

Volcano: pkg/scheduler/plugins/task-topology/topology.go,
pkg/scheduler/plugins/task-topology/util.go
"""

from collections.abc import Sequence

from volcano_lab.api import JobInfo, NodeInfo, Resource, TaskInfo
from volcano_lab.framework import Event, Plugin, Session
from volcano_lab.messages import Message, OneSentence
from volcano_lab.plugins.task_topology.buckets import JobManager, TaskTopology, role_of

WEIGHT = "task-topology.weight"
AFFINITY = "volcano.sh/task-topology-affinity"
ANTI_AFFINITY = "volcano.sh/task-topology-anti-affinity"
TASK_ORDER = "volcano.sh/task-topology-task-order"
MAX_NODE_SCORE = 100.0


class TopologyError(OneSentence, ValueError):
    """A job's annotations name roles that it does not have, or repeat one."""


class TaskTopologyPlugin(Plugin):
    """`managers` has the buckets of each job with such annotations and pending tasks."""

    name = "task-topology"

    def on_session_open(self, ssn: Session) -> None:
        self.weight = self.arguments.get_weight(WEIGHT, 1)
        self.managers: dict[str, JobManager] = {}
        for uid, job in ssn.jobs.items():
            if not job.has_pending_tasks():
                continue
            try:
                topology = read_topology(job)
            except TopologyError as error:
                ssn.warnings.append(error.said)
                continue
            if topology is not None:
                manager = self.managers[uid] = JobManager(topology)
                manager.build_buckets(task for _, task in sorted(job.tasks.items()))

    def task_order(self, left: TaskInfo, right: TaskInfo) -> int:
        """Put tasks in buckets first, then full buckets before emptier ones, older before younger,
        and urgent roles first.
        """
        mine, theirs = self.managers.get(left.job), self.managers.get(right.job)
        if mine is None or theirs is None:
            return 0
        left_bucket, right_bucket = mine.bucket_of.get(left.uid), theirs.bucket_of.get(right.uid)
        if left_bucket is None or right_bucket is None:
            return (left_bucket is None) - (right_bucket is None)
        if left.job != right.job:
            return 0
        if left_bucket is right_bucket:
            return mine.compare_roles(left, right)
        if len(left_bucket.tasks) != len(right_bucket.tasks):
            return len(right_bucket.tasks) - len(left_bucket.tasks)
        return left_bucket.index - right_bucket.index

    def node_order(self, task: TaskInfo, node: NodeInfo) -> float:
        """Score a node by how much of the task's bucket is, or fits, there, relative to the job's
        largest bucket.
        """
        manager = self.managers.get(task.job)
        if manager is None:
            return 0.0
        score = float(self._bucket_score(manager, task, node) * self.weight)
        most = manager.bucket_max_size
        return score * MAX_NODE_SCORE / most if most else score

    def _bucket_score(self, manager: JobManager, task: TaskInfo, node: NodeInfo) -> int:
        free, bucket = idle_and_releasing(node), manager.bucket_of.get(task.uid)
        if bucket is None or free.less_partly(task.resreq):
            return 0
        driven_off = manager.affinity_to(role_of(task), manager.node_roles.get(node.name, {}),
                                         only_anti=True)
        return bucket.nodes[node.name] + driven_off + bucket.how_many_fit(task, free)

    def node_order_key(self, task: TaskInfo) -> str | None:
        """Return None with buckets: every bound pod may change the scores of its job's others."""
        return None if task.job in self.managers else ""

    def on_allocate(self, event: Event) -> None:
        manager = self.managers.get(event.task.job)
        if manager is not None:
            manager.task_bound(event.task)


def idle_and_releasing(node: NodeInfo) -> Resource:
    """Return idle and releasing resources, with 0 for those of the node that are used up."""
    offered = Resource(scalars=dict.fromkeys(node.scalar_names, 0.0) or None)
    return offered + node.idle + node.releasing


def read_topology(job: JobInfo) -> TaskTopology | None:
    """Return a job's task topology; None without annotations. Raises `TopologyError`."""
    notes = job.pod_group.metadata.annotations
    groups = {key: [group.split(",") for group in notes[key].split(";")]
              for key in (AFFINITY, ANTI_AFFINITY) if key in notes}
    order: Sequence[str] = notes[TASK_ORDER].split(",") if TASK_ORDER in notes else ()
    for key, named in groups.items():
        _check(job, key, named)
    _check(job, TASK_ORDER, [order])
    return TaskTopology(groups.get(AFFINITY, ()), groups.get(ANTI_AFFINITY, ()),
                        order) if groups or order else None


def _check(job: JobInfo, key: str, groups: Sequence[Sequence[str]]) -> None:
    roles = {task.task_role for task in job.tasks.values()}
    for group in groups:
        named = [role for role in group if role]
        for i, role in enumerate(named):
            if role not in roles or role in named[:i]:
                raise TopologyError("roles.twice" if role in roles else "roles.unknown",
                                    uid=job.uid, key=key, role=role,
                                    roles=sorted(roles - {""}) or Message("roles.none"))
