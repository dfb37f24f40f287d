"""Whether what nodes and jobs count is the sum of their tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from volcano_lab.api.job import JobInfo
from volcano_lab.api.node import NodeInfo
from volcano_lab.api.resource import MIN_RESOURCE, Resource, total
from volcano_lab.api.status import ALLOCATED_STATUSES, PIPELINED, RELEASING
from volcano_lab.api.task import TaskInfo


class InvariantBroken(AssertionError):
    """Something that must always hold does not: the model has a fault."""


def differ(left: Resource, right: Resource) -> bool:
    """Return whether two amounts differ in any dimension."""
    names = {*left.resource_names(), *right.resource_names()}
    return any(abs(left.get(name) - right.get(name)) >= MIN_RESOURCE for name in names)


def above(left: Resource, right: Resource, where: Resource | None = None) -> bool:
    """Return whether an amount exceeds another in any dimension (that `where` has)."""
    names = (left if where is None else where).resource_names()
    return any(left.get(name) - right.get(name) >= MIN_RESOURCE and name != "pods"
               and (where is None or where.get(name) > 0) for name in names)


def requested(tasks: Iterable[TaskInfo]) -> Resource:
    """Return the sum of what some tasks request."""
    return total(task.resreq for task in tasks)


def node_problems(node: NodeInfo) -> Iterator[str]:
    """Compare a node's accounts with the tasks on it."""
    if not node.ready:
        return
    table, row = node.table, node.row
    sums = {account: np.zeros(len(table.dimensions))
            for account in ("used", "releasing", "pipelined")}
    for task in node.tasks.values():
        amounts = table.vector(task.resreq)[0]
        sums["pipelined" if task.status == PIPELINED else "used"] += amounts
        if task.status == RELEASING:
            sums["releasing"] += amounts
    for account, expected in sums.items():
        counted = getattr(table, account)[row]
        if not np.array_equal(counted, expected):
            yield f"node {node.name} counts {account} {counted}, but its tasks make {expected}"
    offered = np.array([node.allocatable.get(name) for name in table.dimensions])
    if (table.idle[row] != offered - sums["used"]).any():
        yield (f"node {node.name} counts idle {table.idle[row]}, "
               f"but has {offered} less {sums['used']}")


def job_problems(job: JobInfo) -> Iterator[str]:
    """Compare a job's sums and its index of tasks with the tasks themselves."""
    tasks = job.tasks.values()
    for task in tasks:
        if job.in_status(task.status).get(task.uid) is not task:
            yield f"task {task.key} is {task.status}, but job {job.uid} has it elsewhere"
    for what, counted, expected in (
        ("in all", job.total_request, requested(tasks)),
        ("as allocated", job.allocated,
         requested(task for task in tasks if task.status in ALLOCATED_STATUSES))):
        if differ(counted, expected):
            yield f"job {job.uid} counts {counted} {what}, its tasks make {expected}"
