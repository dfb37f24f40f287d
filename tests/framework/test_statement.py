"""Statements: doing, committing, and taking everything back."""

from __future__ import annotations

import pytest
from clusters import CONF, cases
from hypothesis import HealthCheck, given, settings, strategies as st
from session_state import state_of

from volcano_lab.api.status import ALLOCATED, BINDING, PENDING, PIPELINED, RELEASING, RUNNING
from volcano_lab.cli.replay import load_cache
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.framework.session import Session
from volcano_lab.framework.statement import (
    Evict,
    Statement,
    StatementError,
    save_operations,
    unplace,
)
from volcano_lab.scheduler import actions, plugins

assert actions and plugins  # importing them registers the built-in ones


def open_session(case):
    return Session(load_cache(case), load_conf(case["conf"]))


def do_some(data: st.DataObject, ssn: Session, statement: Statement) -> None:
    """A few operations that the session allows, whether they make sense or not."""
    tasks = sorted((t for job in ssn.jobs.values() for t in job.tasks.values()),
                   key=lambda t: t.uid)
    for task in data.draw(st.lists(st.sampled_from(tasks), max_size=8, unique_by=lambda t: t.uid)):
        node = ssn.nodes[data.draw(st.sampled_from(sorted(ssn.nodes)))]
        if task.status == RUNNING:
            statement.evict(ssn.nodes[task.node_name].tasks[task.key].clone(),
                            "resources are needed")
        elif task.status == PENDING and task.resreq.less_equal(node.idle, "zero"):
            statement.allocate(task, node)
        elif task.status == PENDING:
            statement.pipeline(task, node.name, data.draw(st.booleans()))


@pytest.mark.long
@given(cases(), st.data())
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
def test_discard_restores_the_whole_session(case, data):
    ssn = open_session(case)
    before = state_of(ssn)
    statement = ssn.statement()
    do_some(data, ssn, statement)
    statement.discard()
    assert state_of(ssn) == before
    assert ssn.undone == len(statement.operations)


@pytest.mark.long
@given(cases(), st.data())
@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_saved_and_recovered_is_what_was_done(case, data):
    ssn = open_session(case)
    statement = ssn.statement()
    do_some(data, ssn, statement)
    done = state_of(ssn)
    saved = save_operations(statement)
    statement.discard()
    again = ssn.statement()
    again.recover(saved)
    for part in ("tasks", "jobs", "nodes", "queues", "shares", "kube"):
        assert state_of(ssn)[part] == done[part], part


def pod(name, node="", request="1", phase=None):
    meta = {
        "name": name, "uid": f"uid-{name}", "namespace": "default", "annotations":
        {"scheduling.k8s.io/group-name": "gang"}
    }
    return {
        "kind": "Pod", "apiVersion": "v1", "metadata": meta, "status":
        {"phase": phase or ("Running" if node else "Pending")}, "spec":
        {"nodeName": node, "containers": [{"resources": {"requests": {"cpu": request}}}]}
    }


def scene(phase, *pods):
    """One node of 2 CPU, one queue, one gang of the given pods."""
    version = "scheduling.volcano.sh/v1beta1"
    return {
        "conf":
        CONF, "objects": [
            {
                "kind": "Node", "apiVersion": "v1", "metadata": {"name": "n1"}, "status":
                {"allocatable": {"cpu": "2", "pods": "10"}}
            },
            {
                "kind": "Queue", "apiVersion": version, "metadata": {"name": "q"}, "spec":
                {"weight": 1}, "status": {"state": "Open"}
            },
            {
                "kind": "PodGroup", "apiVersion": version, "metadata":
                {"name": "gang", "namespace": "default"}, "spec": {"minMember": 1, "queue":
                                                                   "q"}, "status": {"phase": phase}
            },
            *pods,
        ]
    }


@pytest.fixture
def ssn():
    return open_session(
        scene("Inqueue", pod("a-run-0", "n1"), pod("a-wait-0"), pod("a-wait-1", request="2")))


def task(ssn, name):
    return ssn.jobs["default/gang"].tasks[f"uid-{name}"]


def test_allocating_takes_idle_resources_and_committing_sends_the_task_to_be_bound(ssn):
    statement = ssn.statement()
    statement.allocate(task(ssn, "a-wait-0"), ssn.nodes["n1"])
    assert task(ssn, "a-wait-0").status == ALLOCATED
    assert ssn.nodes["n1"].idle.milli_cpu == 0
    statement.commit()
    assert task(ssn, "a-wait-0").status == BINDING
    assert ssn.committed == [["allocate", "default/a-wait-0", "n1"]]
    assert [context.task.key for context in ssn.cache.bind_contexts] == ["default/a-wait-0"]


def test_pipelining_takes_nothing_idle_and_sends_nothing(ssn):
    statement = ssn.statement()
    statement.pipeline(task(ssn, "a-wait-1"), "n1")
    assert task(ssn, "a-wait-1").status == PIPELINED
    assert ssn.nodes["n1"].idle.milli_cpu == 1000
    assert ssn.nodes["n1"].pipelined.milli_cpu == 2000
    statement.commit()
    assert task(ssn, "a-wait-1").status == PIPELINED
    assert ssn.cache.bind_contexts == []


def test_an_evicted_task_holds_its_resources_until_it_is_deleted(ssn):
    statement = ssn.statement()
    statement.evict(task(ssn, "a-run-0"), "for a test")
    node = ssn.nodes["n1"]
    assert task(ssn, "a-run-0").status == RELEASING
    assert (node.idle.milli_cpu, node.releasing.milli_cpu,
            node.future_idle.milli_cpu) == (1000, 1000, 2000)


def test_taking_an_eviction_back_always_restores_running():
    """The trap: a task that was only Bound is restored as Running."""
    ssn = open_session(scene("Running", pod("a-bound-0", "n1", phase="Pending")))
    assert str(task(ssn, "a-bound-0").status) == "Bound"
    statement = ssn.statement()
    statement.evict(task(ssn, "a-bound-0"), "for a test")
    statement.discard()
    assert task(ssn, "a-bound-0").status == RUNNING


def test_what_was_done_to_a_task_last_is_undone_first(ssn):
    statement, waiting = ssn.statement(), task(ssn, "a-wait-0")
    statement.allocate(waiting, ssn.nodes["n1"])
    statement.evict(waiting, "for a test")
    statement.discard()
    assert (waiting.status, waiting.node_name) == (PENDING, "")


def test_a_discarded_task_keeps_its_planned_node(ssn):
    statement = ssn.statement()
    waiting = task(ssn, "a-wait-0")
    statement.allocate(waiting, ssn.nodes["n1"])
    statement.discard()
    assert waiting.node_name == ""
    assert (waiting.last_transaction.status, waiting.last_transaction.node_name) == (ALLOCATED,
                                                                                     "n1")


def test_an_undone_placement_leaves_no_hyper_node_on_the_task(ssn):
    waiting, statement = task(ssn, "a-wait-0"), ssn.statement()
    waiting.job_allocated_hyper_node = "rack-1"
    statement.allocate(waiting, ssn.nodes["n1"])
    statement.discard()
    assert waiting.job_allocated_hyper_node == ""


def test_committing_clears_the_planned_node(ssn):
    """The status of a committed task counts again, not the plan of a discarded statement."""
    waiting, running = task(ssn, "a-wait-0"), task(ssn, "a-run-0")
    for end in (Statement.discard, Statement.commit):
        statement = ssn.statement()
        statement.allocate(waiting, ssn.nodes["n1"])
        statement.evict(running, "for a test")
        end(statement)
        planned = end is Statement.discard
        assert [(each.last_transaction is not None) for each in (waiting, running)] == [planned] * 2


@pytest.mark.parametrize(("do", "name", "status", "undone"), [
    (lambda statement, task: statement.allocate(task, statement.ssn.nodes["n1"]), "a-wait-0",
     ALLOCATED, PENDING),
    (lambda statement, task: statement.pipeline(task, "n1"), "a-wait-0", PIPELINED, PENDING),
    (lambda statement, task: statement.evict(task, "for a test"), "a-run-0", RELEASING, RUNNING),
])
def test_saved_operations_keep_the_task_as_it_was_when_saved(ssn, do, name, status, undone):
    statement, changed = ssn.statement(), task(ssn, name)
    do(statement, changed)
    (saved,) = save_operations(statement)
    statement.discard()
    assert (changed.status, saved.task.status, saved.task.node_name) == (undone, status, "n1")


@pytest.mark.parametrize(("do", "status", "node"), [
    (lambda statement, task: statement.allocate(task, statement.ssn.nodes["n1"]), PENDING, ""),
    (lambda statement, task: statement.pipeline(task, "n1"), PIPELINED, "n1"),
])
def test_an_allocation_that_cannot_be_recovered_is_rolled_back_a_promise_is_not(
        ssn, do, status, node):
    """Volcano rolls back the allocation alone."""
    statement = ssn.statement()
    do(statement, task(ssn, "a-wait-0"))
    saved = save_operations(statement)
    statement.discard()
    del ssn.nodes["n1"]
    again = ssn.statement()
    with pytest.raises(StatementError, match="n1 is not in the session"):
        again.recover(saved)
    assert again.operations == []
    assert (task(ssn, "a-wait-0").status, task(ssn, "a-wait-0").node_name) == (status, node)


def test_a_task_on_another_node_is_not_placed_twice(ssn):
    statement, running = ssn.statement(), task(ssn, "a-run-0")
    with pytest.raises(StatementError, match="already on node"):
        statement.allocate(running, ssn.nodes["n1"])
    assert statement.operations == []


def test_an_operation_that_the_cache_refuses_is_taken_back_alone(ssn):
    statement = ssn.statement()
    first = task(ssn, "a-wait-0")
    statement.allocate(first, ssn.nodes["n1"])
    statement.evict(task(ssn, "a-run-0"), "for a test")
    ssn.cache.nodes.pop("n1")
    statement.commit()
    assert first.status == PENDING
    assert task(ssn, "a-run-0").status == RUNNING
    assert ssn.committed == []


def test_operations_have_readable_texts(ssn):
    operation = Evict(task(ssn, "a-run-0"), "why")
    assert repr(operation) == "evict default/a-run-0 n1"
    unplace(ssn, task(ssn, "a-wait-0"))
    assert task(ssn, "a-wait-0").status == PENDING
