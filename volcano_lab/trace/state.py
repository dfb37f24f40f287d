"""The state of a session as plain data, and its changes since the last look.

A state is {what: {name: {field: value}}}: tasks, jobs, nodes, queues. A change has what an object's
fields were before, and are now.
"""

from typing import Any

from volcano_lab.api import JobInfo, TaskInfo
from volcano_lab.framework import PriorityQueue, Session
from volcano_lab.trace.plain import amounts, plain

FIELDS = {"tasks": ("status", "node"), "jobs": ("phase", "share"),
          "nodes": ("idle", "used", "releasing", "pipelined"),
          "queues": ("allocated", "inqueue", "share")}
"""The fields that operations change."""
QUEUE_FIXED = ("deserved", "guarantee", "capability", "real_capability", "request", "elastic")

State = dict[str, dict[str, dict[str, Any]]]
Seen = list[tuple[str, str, tuple[Any, ...], tuple[Any, ...]]]
"""[(what, name, its fields in the session's form before, and now)]"""


def queue_attributes(ssn: Session) -> dict[str, Any]:
    """Return the attributes kept by the plugin that shares between queues (proportion or capacity),
    per queue; nothing without one.
    """
    return getattr(ssn.plugins.get("proportion") or ssn.plugins.get("capacity"), "queue_opts", {})


def state_of(ssn: Session) -> State:
    """Return all that operations may change in a session, and what is needed to read it.

    >>> from volcano_lab.cluster import Cluster
    >>> state = state_of(Cluster().node("n1", cpu=4).job("a", cpu=1).run().session)
    >>> state["tasks"]["default/a-0"]["status"], state["nodes"]["n1"]["idle"]
    ('Binding', {'cpu': 3000.0, 'pods': 109.0})
    """
    shares = _drf_shares(ssn)
    accounts = (*FIELDS["nodes"], "allocatable")
    return {"tasks": {task.key: {**named("tasks", _task(task)), "job": job.uid, "uid": task.uid,
                                 "request": amounts(task.init_resreq)} for job in ssn.jobs.values()
                      for task in job.tasks.values()},
            "jobs": {uid: {**named("jobs", _job(job, shares)), "queue": job.queue,
                           "min_available": job.min_available} for uid, job in ssn.jobs.items()},
            "nodes": {name: {field: amounts(getattr(node, field)) for field in accounts}
                      for name, node in ssn.nodes.items()}, "queues": queues_of(ssn)}


def queues_of(ssn: Session) -> dict[str, dict[str, Any]]:
    """Return the queues' part of the state."""
    return {name: {"weight": ssn.queues[name].weight if name in ssn.queues else 0,
                   # "": the root, or no tree
                   "parent": next(reversed(getattr(attr, "ancestors", ())), ""),
                   **named("queues", _queue(attr)),
                   **{field: amounts(getattr(attr, field)) for field in QUEUE_FIXED}}
            for name, attr in queue_attributes(ssn).items()}


def _task(task: TaskInfo) -> tuple[Any, ...]:
    return task.status, task.node_name


def _queue(attr: Any) -> tuple[Any, ...]:
    return attr.allocated, attr.inqueue, attr.share


def _job(job: JobInfo, shares: Any) -> tuple[Any, ...]:
    """Return the phase, and drf's share if it knows the job."""
    phase = job.pod_group.status.phase
    return (phase, shares[job.uid].share) if job.uid in shares else (phase,)


def queue_order(ssn: Session) -> list[str]:
    """Return the queues that have jobs, in the order in which they would be popped.

    >>> from volcano_lab.cluster import Cluster
    >>> cluster = Cluster().node("n1", cpu=4).queue("a").queue("b", priority=1)
    >>> queue_order(cluster.job("one", queue="a").job("two", queue="b").run().session)
    ['b', 'a']
    """
    used = sorted({job.queue for job in ssn.jobs.values()})
    order = PriorityQueue(ssn.queue_order, (ssn.queues[name] for name in used))
    return [queue.uid for queue in order.drain()]


def result_of(job: JobInfo) -> dict[str, Any]:
    """Return the phase and the conditions of a job's PodGroup."""
    status, fields = job.pod_group.status, ("type", "status", "reason", "message")
    return {"phase": status.phase,
            "conditions": [{name: getattr(condition, name) for name in fields}
                           for condition in status.conditions]}


def _drf_shares(ssn: Session) -> Any:
    return getattr(ssn.plugins.get("drf"), "job_attrs", {})


def named(what: str, raw: tuple[Any, ...]) -> dict[str, Any]:
    """Return an object's fields as plain data; a job may be without a share."""
    return dict(zip(FIELDS[what], map(plain, raw), strict=False))


class Changes:
    """The last seen state, and the changes since.

    Values are compared, and kept, in the session's form. Of the nodes, only rows changed in the
    node table are compared.
    """

    def __init__(self, ssn: Session, start: State):
        self.ssn, self.sums = ssn, queue_attributes(ssn)
        self.shares = _drf_shares(ssn)
        self._ancestors = {name: getattr(attr, "ancestors", ()) for name, attr in self.sums.items()}
        self._raw: dict[str, dict[str, tuple[Any, ...]]] = {what: {} for what in FIELDS}
        self._raw["nodes"] = {name: tuple([fields[each] for each in FIELDS["nodes"]])
                              for name, fields in start["nodes"].items()}
        self._rows = 0
        self._found: Seen = []
        self.everywhere()  # the start includes all of that

    def of_tasks(self, *tasks: TaskInfo) -> Seen:
        """Return the changes of operations on some tasks: the tasks, nodes, their jobs and their
        queues with all parents of these.
        """
        for task in tasks:
            self._look("tasks", task.key, _task(task))
        self._nodes()
        jobs = self.ssn.jobs
        return self.of_jobs(*[jobs[uid] for uid in {task.job: None for task in tasks}
                              if uid in jobs])

    def of_jobs(self, *jobs: JobInfo) -> Seen:
        """Return the changes of some jobs and their queues with all parents of these."""
        for job in jobs:
            self._look("jobs", job.uid, _job(job, self.shares))
        used = {job.queue: None for job in jobs if job.queue in self.sums}
        for name in {each: None for queue in used for each in (queue, *self._ancestors[queue])}:
            self._look("queues", name, _queue(self.sums[name]))
        return self._taken()

    def everywhere(self) -> Seen:
        """Return all changes, by operations or not."""
        for job in self.ssn.jobs.values():
            for task in job.tasks.values():
                self._look("tasks", task.key, _task(task))
            self._look("jobs", job.uid, _job(job, self.shares))
        self._nodes()
        for name, attr in self.sums.items():
            self._look("queues", name, _queue(attr))
        return self._taken()

    def _taken(self) -> Seen:
        found, self._found = self._found, []
        return found

    def _nodes(self) -> None:
        table = self.ssn.table
        rows = dict.fromkeys(table.changes[self._rows :])
        self._rows = len(table.changes)
        accounts = table.idle, table.used, table.releasing, table.pipelined
        for row in rows:
            now = tuple([{name: amount for name, amount in zip(
                table.dimensions, account[row].tolist(), strict=True) if amount}
                for account in accounts])
            self._look("nodes", self.ssn.node_list[row].name, now)

    def _look(self, what: str, name: str, now: tuple[Any, ...]) -> None:
        known = self._raw[what].setdefault(name, now)
        if known != now:
            self._raw[what][name] = now
            self._found.append((what, name, known, now))
