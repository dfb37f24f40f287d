"""The accounts of nodes and gangs: added tasks count once, and removed ones leave nothing."""

import numpy as np
import pytest
from small_cluster import group, open_session, pod, queue

from volcano_lab.api import FitErrors, Resource
from volcano_lab.api.node_table import NodeTable
from volcano_lab.api.objects import Node, ObjectMeta
from volcano_lab.api.objects.cluster import NodeStatus
from volcano_lab.api.status import (
    ALLOCATED,
    BINDING,
    PENDING,
    PIPELINED,
    RELEASING,
    RUNNING,
    SUCCEEDED,
)
from volcano_lab.cache import Cache
from volcano_lab.cluster import Cluster

ACCOUNTS = ("idle", "used", "releasing", "pipelined")


def gang():
    """A node and a gang of three of four pods, none of which has a place."""
    cache = Cluster().node("n1", cpu=8).job("gang", pods=4, min_member=3, cpu=2).cache()
    return cache.nodes["n1"], cache.jobs["default/gang"]


@pytest.mark.parametrize(("cpu", "memory", "offered"), [
    (None, None, (4000, 1024)), ("500", None, (4500, 1024)), (None, "512", (4000, 1536)),
    ("500", "512", (4500, 1536)), ("much", "512", (4000, 1536))])
def test_oversubscribed_amounts_are_added_to_what_a_node_offers(cpu, memory, offered):
    notes = {f"volcano.sh/oversubscription-{name}": amount
             for name, amount in (("cpu", cpu), ("memory", memory)) if amount is not None}
    node = Node(ObjectMeta("n1", annotations=notes),
                status=NodeStatus(allocatable={"cpu": "4", "memory": "1Ki"}))
    info = Cache([node]).nodes["n1"]
    for amounts in (info.allocatable, info.idle):
        assert (amounts.milli_cpu, amounts.memory) == offered


@pytest.mark.parametrize("status", [RUNNING, BINDING, RELEASING, PIPELINED])
def test_adding_and_removing_tasks_restores_a_node(status):
    node, job = gang()
    first, other, *_ = job.tasks.values()
    node.add_task(first)
    before = {name: getattr(node, name) for name in ACCOUNTS}
    job.update_task_status(other, status)
    node.add_task(other)
    assert {name: getattr(node, name) for name in ACCOUNTS} != before
    node.remove_task(other)
    assert {name: getattr(node, name) for name in ACCOUNTS} == before


def test_releasing_resources_are_future_idle_once():
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


def test_a_deleted_node_counts_nothing_until_it_is_added_again():
    node, job = gang()
    task, announced = next(iter(job.tasks.values())), node.node
    job.update_task_status(task, RUNNING)
    node.add_task(task)
    before = {name: getattr(node, name) for name in ACCOUNTS}
    node.unset_node()
    assert not node.ready and all(getattr(node, name).is_empty() for name in ACCOUNTS)
    node.set_node(announced)
    assert {name: getattr(node, name) for name in ACCOUNTS} == before


ROLES = {"big": 2, "small": 2}


@pytest.mark.parametrize(("sentence", "spec", "goes_on"), [
    ("no pod to spare", {"minMember": 4}, False),
    ("two pods to spare", {"minMember": 2}, True),
    ("no pod of the gang to spare, although its sub-groups have some",
     {"minMember": 4, "subGroupPolicy": [{"name": "p", "subGroupSize": 1}]}, False),
    ("no pod of its sub-group to spare",
     {"minMember": 2, "subGroupPolicy": [{"name": "p", "subGroupSize": 2}]}, False),
    ("a pod of its sub-group to spare",
     {"minMember": 2, "subGroupPolicy": [{"name": "p", "subGroupSize": 1}]}, True),
    ("the role needs one, and none has a place",
     {"minMember": 2, "minTaskMember": {"big": 1, "small": 1}}, False),
    ("only the other role needs one", {"minMember": 1, "minTaskMember": {"small": 1}}, True),
    ("the roles need more than the gang, and the other role suffices",
     {"minMember": 2, "minTaskMember": ROLES}, True),
    ("the roles need more than the gang, and the other role does not suffice",
     {"minMember": 3, "minTaskMember": ROLES}, False),
])
def test_a_gang_whose_big_pod_finds_no_node_continues_if_it_may_still_be_ready(
        sentence, spec, goes_on):
    for policy in spec.get("subGroupPolicy", ()):
        policy["matchLabelKeys"] = ["role"]
    pods = [pod(f"a-{role}-{n}", "a", role=role, labels={"role": role})
            for role, count in ROLES.items() for n in range(count)]
    job = open_session(group("a", **spec), *pods, queue(), plugins="gang").jobs["default/a"]
    failed = job.tasks["uid-a-big-0"]
    job.nodes_fit_errors[failed.uid] = FitErrors()
    sub_job = job.task_to_sub_job[failed.uid]
    assert job.need_continue_allocating(sub_job) == goes_on, sentence


def test_a_copy_of_a_node_without_scalars_counts_from_zero():
    bare = Node(ObjectMeta("n1"), status=NodeStatus(allocatable={"cpu": "8", "memory": "8Gi"}))
    gpu = {"cpu": "1", "nvidia.com/gpu": "1"}
    cache = Cache([queue(), bare, group("old"), pod("old-0", "old", "n1", requests=gpu)])
    node = cache.nodes["n1"]
    node.remove_task(next(iter(cache.jobs["default/old"].tasks.values())))
    assert node.idle.get("nvidia.com/gpu") == 1000
    assert cache.snapshot().nodes["n1"].idle.get("nvidia.com/gpu") == 0


def test_a_recovered_copy_stays_among_the_pending_tasks_of_its_sub_job():
    policy = {"name": "a", "subGroupSize": 2, "matchLabelKeys": ["part"]}
    ssn = open_session(queue(), group("g", subGroupPolicy=[policy]),
                       pod("g-0", "g", labels={"part": "1"}), plugins=["gang"])
    job = ssn.jobs["default/g"]
    sub_job = job.sub_jobs[job.task_to_sub_job["uid-g-0"]]
    task = job.tasks["uid-g-0"]
    job.update_task_status(task, ALLOCATED)
    saved = task.clone()
    job.update_task_status(task, PENDING)
    job.update_task_status(saved, ALLOCATED)
    assert job.in_status(PENDING) == {} and "uid-g-0" in sub_job.in_status(PENDING)
    assert sub_job.in_status(ALLOCATED) == {"uid-g-0": saved}


def test_selected_rows_are_in_the_order_asked():
    table = NodeTable()
    for cpu in (1000.0, 2000.0, 3000.0):
        table.add_row(Resource(cpu))
    assert table.select([2, 0]).idle[:, 0].tolist() == [3000.0, 1000.0]
