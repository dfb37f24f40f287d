"""Invariants that hold after every event, whatever faults occur.

No pod is lost, or ever on two nodes; no two running pods share a host port, and no node holds more
than its allocatable resources; the cache has exactly the pods that the scheduler was informed of;
sums of nodes and jobs are those of their pods; every binding or releasing task has a pending event
that will end that; and every pending task is in the next session or is left out for a reason. The
project's tests check invariants within a session, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from volcano_lab.api import MIN_RESOURCE, PODS, JobInfo, NodeInfo, Resource, TaskInfo, status, total
from volcano_lab.api.objects import Pod
from volcano_lab.messages import Message
from volcano_lab.trace.plain import grouped

if TYPE_CHECKING:
    from volcano_lab.simulation.simulation import Simulation


class InvariantBroken(AssertionError):
    """An invariant does not hold: the model has a bug. The text is for its author, in English."""


def problems_of(sim: Simulation) -> list[str]:
    """Return a sentence for each invariant that does not hold now."""
    cache = sim.cache
    tasks = [task for job in cache.jobs.values() for task in job.tasks.values()]
    tasks += [task for node in (*cache.nodes.values(), *cache.deleted_nodes.values())
              for task in node.tasks.values() if not task.job]
    jobs = map(job_problems, cache.jobs.values())
    checks = (_lost_pods(sim), _bindings(sim), _overcommitted(sim, tasks), _known_pods(sim, tasks),
              _nodes(sim, tasks), *jobs, _stuck(sim, tasks), _session(sim))
    return [problem for check in checks for problem in check]


def _lost_pods(sim: Simulation) -> Iterator[str]:
    """Check that every pod of an unfinished job exists or is about to be recreated."""
    coming = {entry.facts["like"].key
              for entry in sim.calendar.entries.values() if entry.kind == "pod_recreated"}
    pods = sim.server.objects.get("Pod", {})
    for uid, run in sim.side.jobs.items():
        if run.finished is None:
            lost = [key for key in run.members if key not in pods and key not in coming]
            if lost:
                yield f"job {uid} has lost pods {', '.join(lost)}"


def _bindings(sim: Simulation) -> Iterator[str]:
    """Check that a pod stays on the node to which it was bound first."""
    for pod in sim.server.list("Pod"):
        first = sim.side.first_node.get(pod.metadata.uid, "")
        if pod.spec.node_name != first:
            yield str(Message("invariants.moved", key=pod.key, node=pod.spec.node_name,
                              first=first))  # lesson 11 shows it


def _overcommitted(sim: Simulation, tasks: list[TaskInfo]) -> Iterator[str]:
    """Check that no node's pods exceed its resources or share a host port.

    Nodes with a pod bound by a scheduler that has crashed since are left out: its successor could
    not know of it.
    """
    leaving = {task.uid for task in tasks if task.status == status.RELEASING}
    by_node = grouped((pod.spec.node_name, sim.cache.new_task(pod))
                      for pod in sim.server.list("Pod")
                      if pod.spec.node_name and pod.status.phase in ("Pending", "Running"))
    for name, there in by_node.items():
        node = sim.cache.nodes.get(name)
        if node is None or not node.ready or not sim.surprises.isdisjoint(t.uid for t in there):
            continue
        taken = total(task.resreq for task in there)
        if above(taken, node.allocatable):
            yield f"node {name} has pods that request {taken}, and offers {node.allocatable}"
        staying = [task.pod for task in there
                   if task.uid not in leaving and task.pod.metadata.deletion_timestamp is None]
        ports = Counter(port for pod in staying for port in host_ports(pod))
        yield from (f"node {name} has {count} pods on host port {port}"
                    for (_, port), count in ports.items() if count > 1)


def _known_pods(sim: Simulation, tasks: list[TaskInfo]) -> Iterator[str]:
    """Check that the cache has a task for each pod the scheduler was informed of, and no other."""
    informed = {pod.metadata.uid: pod.key
                for (kind, key), pod in sim.informer.known.items()
                if kind == "Pod" and key not in sim.cache.pods_left_out}
    held = [task.uid for task in tasks]
    if len(held) != len(set(held)):
        yield "a pod has two tasks"
    yield from (f"pod {informed[uid]} has no task" for uid in informed.keys() - set(held))
    yield from (f"a task has no pod, uid {uid}" for uid in set(held) - informed.keys())


def _nodes(sim: Simulation, tasks: list[TaskInfo]) -> Iterator[str]:
    """Check that nodes hold the tasks that name them, and that their accounts are the sums."""
    on_node: dict[str, dict[str, TaskInfo]] = {}
    for task in tasks:
        if task.node_name and task.status not in status.COMPLETED_STATUSES:
            on_node.setdefault(task.node_name, {})[task.key] = task
    for name, node in (*sim.cache.nodes.items(), *sim.cache.deleted_nodes.items()):
        expected = on_node.pop(name, {})
        if node.tasks.keys() != expected.keys():
            yield (f"node {name} holds {sorted(node.tasks)}, but its tasks are "
                   f"{sorted(expected)}")
        for key in node.tasks.keys() & expected.keys():
            if node.tasks[key].status != expected[key].status:
                yield (f"task {key} is {expected[key].status}, but {node.tasks[key].status} on "
                       f"node {name}")
        yield from node_problems(node)
    for name, left in on_node.items():
        yield f"tasks {sorted(left)} are on node {name}, which the cache does not have"


def _stuck(sim: Simulation, tasks: list[TaskInfo]) -> Iterator[str]:
    """Check that an event is pending for each binding or releasing task, and no bind is twice."""
    pipeline, pods = sim.pipeline, sim.server.objects.get("Pod", {})
    bound_for = Counter(context.task.uid for context in pipeline.bound_for())
    yield from (f"pod {uid} is on its way {count} times"
                for uid, count in bound_for.items() if count > 1)
    evicted = {task.uid for task, _ in pipeline.evictions}
    for task in tasks:
        if task.status not in (status.BINDING, status.RELEASING) or (
                f"{task.job}/{task.uid}" in pipeline.errors):
            continue
        pod = pods.get(task.key)
        if pod is None or pod.metadata.resource_version != task.pod.metadata.resource_version:
            continue  # the scheduler will be informed
        if task.status == status.BINDING and task.uid not in bound_for:
            yield f"task {task.key} is Binding, and nothing binds it"
        if (task.status == status.RELEASING and task.uid not in evicted
                and pod.metadata.deletion_timestamp is None):
            yield f"task {task.key} is Releasing, and nothing ends it"


def _session(sim: Simulation) -> Iterator[str]:
    """Check that the latest session had every eligible pending task, or a reason against it."""
    ssn = sim.ssn
    if ssn is None or sim.checked is ssn:
        return
    sim.checked = ssn
    left_out = {why.facts["name"] for why in ssn.snapshot.left_out if isinstance(why, Message)}
    for uid, job in sim.cache.jobs.items():
        if job.has_pending_tasks() and uid not in ssn.jobs and uid not in left_out:
            yield f"job {uid} has pending tasks, but the session did not have it, for no reason"


def host_ports(pod: Pod) -> set[tuple[str, int]]:
    """Return the protocols and host ports of a pod."""
    return {(port.protocol or "TCP", port.host_port) for container in pod.spec.containers
            for port in container.ports if port.host_port}


def differ(left: Resource, right: Resource) -> bool:
    """Return whether two amounts differ in any dimension."""
    names = {*left.resource_names(), *right.resource_names()}
    return any(abs(left.get(name) - right.get(name)) >= MIN_RESOURCE for name in names)


def above(left: Resource, right: Resource) -> bool:
    """Return whether an amount exceeds another in any dimension."""
    return any(left.get(name) - right.get(name) >= MIN_RESOURCE
               for name in left.resource_names() if name != PODS)


def node_problems(node: NodeInfo) -> Iterator[str]:
    """Compare a node's accounts with the tasks on it."""
    if not node.ready:
        return
    table, row = node.table, node.row
    sums = {account: np.zeros(len(table.dimensions))
            for account in ("used", "releasing", "pipelined")}
    for task in node.tasks.values():
        amounts = table.vector(task.resreq)[0]
        sums["pipelined" if task.status == status.PIPELINED else "used"] += amounts
        if task.status == status.RELEASING:
            sums["releasing"] += amounts
    for account, expected in sums.items():
        counted = getattr(table, account)[row]
        if not np.array_equal(counted, expected):
            yield f"node {node.name} counts {account} {counted}, but its tasks make {expected}"
    offered = np.array([node.allocatable.get(name) for name in table.dimensions])
    if (table.idle[row] != offered - sums["used"]).any():
        yield (f"node {node.name} counts idle {table.idle[row]}, but has {offered} less "
               f"{sums['used']}")


def job_problems(job: JobInfo) -> Iterator[str]:
    """Compare a job's sums and its index of tasks with the tasks themselves."""
    tasks = job.tasks.values()
    for task in tasks:
        if job.in_status(task.status).get(task.uid) is not task:
            yield f"task {task.key} is {task.status}, but job {job.uid} has it elsewhere"
    for what, counted, expected in (
        ("in all", job.total_request, total(task.resreq for task in tasks)),
        ("as allocated", job.allocated,
         total(task.resreq for task in tasks if task.status in status.ALLOCATED_STATUSES))):
        if differ(counted, expected):
            yield f"job {job.uid} counts {counted} {what}, its tasks make {expected}"
