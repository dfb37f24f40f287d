"""What must hold after every event, however much goes wrong: sentences about what doesn't.

No pod is lost or bound twice; the cache has exactly the pods that the scheduler was told of; what nodes, jobs and queues
count is the sum of their pods; and no pod is forgotten on its way: whatever is binding or releasing has something under
way that will end that, and whatever is pending is in the next session or is left out for a reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from volcano_lab.api.job import JobInfo
from volcano_lab.api.node import NodeInfo
from volcano_lab.api.resource import EMPTY
from volcano_lab.api.status import ALLOCATED_STATUSES, BINDING, COMPLETED_STATUSES, PENDING, PIPELINED, RELEASING
from volcano_lab.api.task import TaskInfo
from volcano_lab.cycle_record import queue_attributes

if TYPE_CHECKING:
    from volcano_lab.framework.session import Session
    from volcano_lab.simulation.simulation import Simulation


class InvariantBroken(AssertionError):
    """Something that must always hold doesn't: the model has a fault."""


def problems_of(sim: Simulation) -> list[str]:
    """Everything that doesn't hold right now; empty where all is well."""
    tasks = [task for job in sim.cache.jobs.values() for task in job.tasks.values()]
    jobs = (job_problems(job) for job in sim.cache.jobs.values())
    checks = (_lost_pods(sim), _bindings(sim), _known_pods(sim, tasks), _nodes(sim, tasks), *jobs, _stuck(sim, tasks),
              _session(sim))
    return [problem for check in checks for problem in check]


def _lost_pods(sim: Simulation) -> Iterator[str]:
    """Every pod of a job that hasn't finished is there, or is being made anew."""
    coming = {entry.facts["pod"] for entry in sim.calendar.entries.values() if entry.kind == "pod_recreated"}
    pods = sim.server.objects.get("Pod", {})
    for uid, run in sim.side.jobs.items():
        if run.finished is None:
            lost = [key for key in run.members if key not in pods and key not in coming]
            if lost:
                yield f"job {uid} has lost pods {', '.join(lost)}"


def _bindings(sim: Simulation) -> Iterator[str]:
    """A pod stays on the node that it was bound to."""
    for pod in sim.server.list("Pod"):
        if pod.spec.node_name != sim.server.bindings.get(pod.metadata.uid, ""):
            bound_to = sim.server.bindings.get(pod.metadata.uid)
            yield f"pod {pod.key} is on node {pod.spec.node_name}, but was bound to {bound_to}"


def _known_pods(sim: Simulation, tasks: list[TaskInfo]) -> Iterator[str]:
    """The cache has a task for each pod that the scheduler has been told of, and for no other."""
    told = {pod.metadata.uid: pod.key for (kind, _), pod in sim.informer.known.items() if kind == "Pod"}
    held = [task.uid for task in tasks]
    if len(held) != len(set(held)):
        yield "a pod has two tasks"
    for uid in told.keys() - set(held):
        yield f"pod {told[uid]} has no task"
    for uid in set(held) - told.keys():
        yield f"a task has no pod, uid {uid}"


def _nodes(sim: Simulation, tasks: list[TaskInfo]) -> Iterator[str]:
    """Nodes hold the tasks that say so, and their accounts are the sums of these."""
    on_node: dict[str, dict[str, TaskInfo]] = {}
    for task in tasks:
        if task.node_name and task.status not in COMPLETED_STATUSES:
            on_node.setdefault(task.node_name, {})[task.key] = task
    for name, node in (*sim.cache.nodes.items(), *sim.cache.gone_nodes.items()):
        expected = on_node.pop(name, {})
        if node.tasks.keys() != expected.keys():
            yield f"node {name} holds {sorted(node.tasks)}, but its tasks are {sorted(expected)}"
        for key in node.tasks.keys() & expected.keys():
            if node.tasks[key].status != expected[key].status:
                yield f"task {key} is {expected[key].status}, but {node.tasks[key].status} on node {name}"
        yield from node_problems(node)
    for name, left in on_node.items():
        yield f"tasks {sorted(left)} are on node {name}, which nobody knows"


def node_problems(node: NodeInfo) -> Iterator[str]:
    """Whether a node's accounts are the sums of the tasks on it."""
    if not node.ready:
        return
    table, row = node.table, node.row
    sums = {account: np.zeros(len(table.dimensions)) for account in ("used", "releasing", "pipelined")}
    for task in node.tasks.values():
        amounts = table.vector(task.resreq)[0]
        sums["pipelined" if task.status == PIPELINED else "used"] += amounts
        if task.status == RELEASING:
            sums["releasing"] += amounts
    for account, expected in sums.items():
        if not np.array_equal(getattr(table, account)[row], expected):
            yield f"node {node.name} counts {account} {getattr(table, account)[row]}, but its tasks make {expected}"
    offered = np.array([node.allocatable.get(name) for name in table.dimensions])
    differs = table.idle[row] != offered - sums["used"]
    if differs.any():
        yield f"node {node.name} counts idle {table.idle[row]}, but has {offered} less {sums['used']}"


def job_problems(job: JobInfo) -> Iterator[str]:
    """Whether a job's sums are those of its tasks, each of which stands under its status."""
    allocated = total = EMPTY
    for task in job.tasks.values():
        total = total + task.resreq
        if task.status in ALLOCATED_STATUSES:
            allocated = allocated + task.resreq
        if job.in_status(task.status).get(task.uid) is not task:
            yield f"task {task.key} is {task.status}, but job {job.uid} has it elsewhere"
    if dict(total) != {name: value for name, value in job.total_request if value or name in dict(total)}:
        yield f"job {job.uid} counts {job.total_request} in all, its tasks make {total}"
    if dict(allocated) != {name: value for name, value in job.allocated if value or name in dict(allocated)}:
        yield f"job {job.uid} counts {job.allocated} as allocated, its tasks make {allocated}"


def _stuck(sim: Simulation, tasks: list[TaskInfo]) -> Iterator[str]:
    """Whatever is on its way gets somewhere: something is under way for it."""
    pipeline, pods = sim.pipeline, sim.server.objects.get("Pod", {})
    bound_for = {context.task.uid for context in pipeline.bound_for()}
    evicted = {task.uid for task, _ in pipeline.evictions}
    for task in tasks:
        if task.status not in (BINDING, RELEASING) or f"{task.job}/{task.uid}" in pipeline.errors:
            continue
        pod = pods.get(task.key)
        behind = pod is None or pod.metadata.resource_version != task.pod.metadata.resource_version
        if task.status == BINDING and task.uid not in bound_for and not behind:
            yield f"task {task.key} is Binding, and nothing binds it"
        if task.status == RELEASING and task.uid not in evicted and not behind and pod.metadata.deletion_timestamp is None:
            yield f"task {task.key} is Releasing, and nothing ends it"


def _session(sim: Simulation) -> Iterator[str]:
    """The last session had every pending task that could be had, and its queues' sums are those of their jobs."""
    ssn = sim.ssn
    if ssn is None or sim.checked is ssn:
        return
    sim.checked = ssn
    left_out = {sentence.partition(":")[0] for sentence in ssn.snapshot.left_out}
    for uid, job in sim.cache.jobs.items():
        if job.has_pending_tasks() and uid not in ssn.jobs and f"job {uid}" not in left_out:
            yield f"job {uid} has pending tasks, but the session didn't have it, for no reason"
    yield from session_problems(ssn)


def session_problems(ssn: Session) -> Iterator[str]:
    """Whether queues, jobs and nodes of a session that has ended add up."""
    parents = {queue.queue.spec.parent or "root" for queue in ssn.queues.values()}
    for name, attr in queue_attributes(ssn).items():
        if name in parents:
            continue
        expected = EMPTY
        for job in ssn.jobs.values():
            if job.queue == name:  # what is promised counts for the queue, too
                expected = sum((task.resreq for task in job.in_status(PIPELINED).values()), expected + job.allocated)
        if {n: v for n, v in attr.allocated if v} != {n: v for n, v in expected if v}:
            yield f"queue {name} counts {attr.allocated}, its jobs make {expected}"
    for node in ssn.nodes.values():
        yield from node_problems(node)
    for job in ssn.jobs.values():
        yield from job_problems(job)
        for task in job.in_status(PENDING).values():
            if task.node_name:
                yield f"task {task.key} is pending, but has node {task.node_name}"
