"""The accounts of nodes and gangs: what comes is counted once, and what goes leaves nothing."""

import numpy as np
import pytest

from volcano_lab.api.status import (
    ALLOCATED,
    BINDING,
    PENDING,
    PIPELINED,
    RELEASING,
    RUNNING,
    SUCCEEDED,
)
from volcano_lab.cluster import Cluster

ACCOUNTS = ("idle", "used", "releasing", "pipelined")


def gang():
    """A node and a gang of three of four pods, none of which has a place."""
    cache = Cluster().node("n1", cpu=8).job("gang", pods=4, min_member=3, cpu=2).cache()
    return cache.nodes["n1"], cache.jobs["default/gang"]


@pytest.mark.parametrize("status", [RUNNING, BINDING, RELEASING, PIPELINED])
def test_what_came_and_went_leaves_a_node_as_it_was(status):
    node, job = gang()
    first, other, *_ = job.tasks.values()
    node.add_task(first)
    before = {name: getattr(node, name) for name in ACCOUNTS}
    job.update_task_status(other, status)
    node.add_task(other)
    assert {name: getattr(node, name) for name in ACCOUNTS} != before
    node.remove_task(other)
    assert {name: getattr(node, name) for name in ACCOUNTS} == before


def test_what_leaves_is_room_to_come_once():
    node, job = gang()
    task = next(iter(job.tasks.values()))
    job.update_task_status(task, RUNNING)
    node.add_task(task)
    assert (node.idle.milli_cpu, node.future_idle.milli_cpu) == (6000, 6000)
    job.update_task_status(task, RELEASING)
    node.update_task(task)
    assert (node.idle.milli_cpu, node.future_idle.milli_cpu) == (6000, 8000)
    assert np.all(node.table.idle >= 0)


@pytest.mark.parametrize(("statuses", "ready", "promised"), [
    ((PENDING, PENDING, PENDING, PENDING), False, False),
    ((RUNNING, ALLOCATED, PENDING, PENDING), False, False),
    ((RUNNING, BINDING, PIPELINED, PENDING), False, True),
    ((RUNNING, PIPELINED, PENDING, PENDING), False, False),
    ((PIPELINED, PIPELINED, PIPELINED, PENDING), False, True),
    ((RUNNING, ALLOCATED, SUCCEEDED, PENDING), True, True),
    ((RUNNING, RUNNING, RELEASING, PENDING), False, False),
])
def test_a_gang_is_ready_or_promised_at_its_minimum_and_not_below(statuses, ready, promised):
    _, job = gang()
    for task, status in zip(list(job.tasks.values()), statuses, strict=True):
        if status != PENDING:
            job.update_task_status(task, status)
    assert (job.is_ready(), job.is_pipelined()) == (ready, promised)
