"""What a session works on is a copy: it has all that the cache's own has, and changes alone."""

from copy import deepcopy

import pytest

from volcano_lab.actions.allocate import resolve_tier_names
from volcano_lab.api import JobInfo
from volcano_lab.api.objects import (
    NetworkTopologySpec,
    ObjectMeta,
    PodGroup,
    PodGroupSpec,
    SubGroupPolicySpec,
)
from volcano_lab.api.resource import Resource
from volcano_lab.api.task import PREEMPTABLE
from volcano_lab.cluster import Cluster

COPIED = {"tasks", "task_status_index", "sub_jobs", "task_to_sub_job", "pod_group", "min_sub_jobs",
        "nodes_fit_errors", "table"}
"""What a copy has of its own."""


def fields(known):
    return [name for kind in type(known).__mro__ for name in getattr(kind, "__slots__", ())]


@pytest.fixture
def cache():
    cluster = Cluster().node("n1", cpu=4, memory="8Gi").queue("q", weight=2)
    return cluster.job("a", queue="q", pods=3, cpu=1, min_member=2, priority=7).cache()


def test_a_copy_has_every_field(cache):
    job, node = cache.jobs["default/a"], cache.nodes["n1"]
    for name in {*fields(job)} - COPIED:  # each with a value of its own, so that none is a default
        kind = type(getattr(job, name))
        setattr(job, name, Resource(9.0) if kind is Resource else f"{name}!" if kind is str
                else 9.0 if name == "waiting_time" else kind(9) if kind in (int, float) else
                {"worker": 9} if kind is dict else not getattr(job, name))
    task = next(iter(job.tasks.values()))
    task.revocable_zone, task.node_name, task.last_transaction = "*", "n1", ("n1", False, None)
    copies = [(job, job.clone()), (task, task.clone()),
              (node, node.snapshot(cache.table.select([node.row]), node.row))]
    for original, copy in copies:
        for name in {*fields(original)} - COPIED:
            assert getattr(copy, name) == getattr(original, name), name
        assert all(hasattr(copy, name) for name in fields(original))


def test_a_copy_changes_alone(cache):
    job, node = cache.jobs["default/a"], cache.nodes["n1"]
    before = deepcopy(job.pod_group.status)
    copy, table = job.clone(), cache.table.select([node.row])
    there = node.snapshot(table, 0)
    task = copy.tasks[min(copy.tasks)]
    task.node_name = "n1"
    there.add_task(task)
    copy.pod_group.status.phase = "Running"
    copy.delete_task_info(task)
    copy.nodes_fit_errors["x"] = copy.task_to_sub_job["x"] = None
    assert list(copy.tasks) == sorted(copy.tasks) and len(copy.tasks) == 2 and len(job.tasks) == 3
    assert job.pod_group.status == before and not node.tasks and node.idle == node.allocatable
    assert there.idle != node.idle
    assert not job.nodes_fit_errors and "x" not in job.task_to_sub_job
    assert job.tasks[task.uid].node_name == "" and job.total_request != copy.total_request


def test_a_copy_has_the_hyper_nodes_of_its_sub_jobs(cache):
    job = cache.jobs["default/a"]
    for sub_job in job.sub_jobs.values():
        sub_job.allocated_hyper_node = "s0"
    assert [each.allocated_hyper_node for each in job.clone().sub_jobs.values()] == ["s0"]


def test_what_a_session_writes_into_a_pod_group_stays_in_the_session():
    """A tier's number for its name, the phase, a condition."""
    def tier():
        return NetworkTopologySpec("hard", highest_tier_name="leaf")

    job = JobInfo("default/a")
    job.set_pod_group(PodGroup(ObjectMeta("a"), PodGroupSpec(
        network_topology=tier(), sub_group_policy=[SubGroupPolicySpec(
            "p", network_topology=tier())])))
    copy, before = job.clone(), deepcopy(job.pod_group)
    copy.pod_group.status.phase = "Running"
    copy.pod_group.status.conditions.append("new")
    resolve_tier_names({"leaf": 1}, copy)
    topologies = [(group.network_topology, *(
        policy.network_topology for policy in group.sub_group_policy))
        for group in (copy.pod_group.spec, job.pod_group.spec)]
    assert [[each.highest_tier_allowed for each in some] for some in topologies] == [
        [1, 1], [None, None]]
    assert job.pod_group == before


@pytest.mark.parametrize(("annotations", "labels", "preemptable"), [
    ({}, {}, False),
    ({}, {PREEMPTABLE: "true"}, True),
    ({PREEMPTABLE: "true"}, {}, True),
    ({PREEMPTABLE: "false"}, {PREEMPTABLE: "true"}, False),
])
def test_a_job_is_preemptable_by_its_annotation_or_else_its_label(annotations, labels, preemptable):
    job = JobInfo("default/a")
    job.set_pod_group(PodGroup(ObjectMeta("a", annotations=annotations, labels=labels)))
    assert job.preemptable is preemptable
