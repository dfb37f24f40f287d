"""The state of a session as plain data, and what has changed of it since one last looked. Answers to no Go file.

A state is {what: {name: {field: value}}}: tasks, jobs, nodes, queues. A change is [what, name, field, before, after];
turned round it is its own inverse.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from volcano_lab.api.job import JobInfo
from volcano_lab.api.node import NodeInfo
from volcano_lab.api.task import TaskInfo
from volcano_lab.framework.session import Session
from volcano_lab.trace.plain import amounts, plain

ACCOUNTS = ("idle", "used", "releasing", "pipelined")
SUMS = ("allocated", "inqueue", "share")
"""What operations change of a queue."""
QUEUE_FIXED = ("deserved", "guarantee", "capability", "real_capability", "request", "elastic")

State = dict[str, dict[str, dict[str, Any]]]
Change = list[Any]


def state_of(ssn: Session) -> State:
    """All that operations may change in a session, and what is needed to read it.

    >>> from volcano_lab.cluster import Cluster
    >>> state = state_of(Cluster().node("n1", cpu=4).job("a", cpu=1).run().session)
    >>> state["tasks"]["default/a-0"]["status"], state["nodes"]["n1"]["idle"]
    ('Binding', {'cpu': 3000.0, 'pods': 109.0})
    """
    shares = queue_sums(ssn)
    return {
        "tasks": {task.key: {**_task(task), "job": job.uid, "uid": task.uid, "request": amounts(task.init_resreq)}
                  for job in ssn.jobs.values() for task in job.tasks.values()},
        "jobs": {uid: {**_job(ssn, job), "queue": job.queue, "min_available": job.min_available}
                 for uid, job in ssn.jobs.items()},
        "nodes": {name: {**_node(node), "allocatable": amounts(node.allocatable)} for name, node in ssn.nodes.items()},
        "queues": {name: {"weight": ssn.queues[name].weight if name in ssn.queues else 0, **_queue(attr),
                          **{field: amounts(getattr(attr, field)) for field in QUEUE_FIXED}}
                   for name, attr in shares.items()},
    }


def queue_sums(ssn: Session) -> dict[str, Any]:
    """What the plugin that shares between queues keeps of each; nothing without one."""
    plugin = ssn.plugins.get("proportion") or ssn.plugins.get("capacity")
    return getattr(plugin, "queue_opts", {})


def _task(task: TaskInfo) -> dict[str, Any]:
    return {"status": str(task.status), "node": task.node_name}


def _node(node: NodeInfo) -> dict[str, Any]:
    return {account: amounts(getattr(node, account)) for account in ACCOUNTS}


def _queue(attr: Any) -> dict[str, Any]:
    return {"allocated": amounts(attr.allocated), "inqueue": amounts(attr.inqueue), "share": attr.share}


def _job(ssn: Session, job: JobInfo) -> dict[str, Any]:
    drf = ssn.plugins.get("drf")
    shares = getattr(drf, "job_attrs", {})
    return {"phase": job.pod_group.status.phase, **({"share": shares[job.uid].share} if job.uid in shares else {})}


class Changes:
    """Knows the state that was last seen, and tells what is different now."""

    def __init__(self, ssn: Session):
        self.ssn, self.sums = ssn, queue_sums(ssn)
        self.seen = {what: {name: dict(fields) for name, fields in items.items()} for what, items in state_of(ssn).items()}
        self._ancestors = {name: getattr(attr, "ancestors", ()) for name, attr in self.sums.items()}

    def of_task(self, task: TaskInfo) -> list[Change]:
        """What an operation on one task has changed: the task, its nodes, its job and its queue with all above it."""
        ssn, changes = self.ssn, []
        before = self.seen["tasks"].setdefault(task.key, {"status": "", "node": ""})["node"]
        self._compare(changes, "tasks", task.key, _task(task))
        for name in {before: None, task.node_name: None}:
            if name in ssn.nodes:
                self._compare(changes, "nodes", name, _node(ssn.nodes[name]))
        if task.job in ssn.jobs:
            self.of_job(ssn.jobs[task.job], changes)
        return changes

    def of_job(self, job: JobInfo, changes: list[Change] | None = None) -> list[Change]:
        changes = [] if changes is None else changes
        self._compare(changes, "jobs", job.uid, _job(self.ssn, job))
        for name in (job.queue, *self._ancestors.get(job.queue, ())):
            if name in self.sums:
                self._compare(changes, "queues", name, _queue(self.sums[name]))
        return changes

    def everywhere(self) -> list[Change]:
        """Whatever has changed, operation or not."""
        changes: list[Change] = []
        for what, name, fields in self._all():
            self._compare(changes, what, name, fields)
        return changes

    def _all(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        ssn = self.ssn
        for job in ssn.jobs.values():
            for task in job.tasks.values():
                yield "tasks", task.key, _task(task)
            yield "jobs", job.uid, _job(ssn, job)
        for name, node in ssn.nodes.items():
            yield "nodes", name, _node(node)
        for name, attr in self.sums.items():
            yield "queues", name, _queue(attr)

    def _compare(self, changes: list[Change], what: str, name: str, now: dict[str, Any]) -> None:
        seen = self.seen[what].setdefault(name, {})
        for field, value in now.items():
            known = seen.get(field)
            if known is not value and known != value:
                changes.append([what, name, field, plain(known), value])
                seen[field] = value
