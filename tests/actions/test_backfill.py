"""backfill: tasks that ask for nothing are placed wherever they may run."""

from __future__ import annotations

import pytest
from small_cluster import group, names, node, open_session, pod, queue, run, task

from volcano_lab.actions.backfill import Backfill
from volcano_lab.framework import Plugin
from volcano_lab.framework.registry import registered

CONF = """\
actions: "backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: predicates
"""
NOTHING: dict = {}


def placed(*objects):
    ssn = run(queue(), *objects, conf=CONF)
    return [(key.removeprefix("default/"), where) for _, key, where, *_ in ssn.committed]


def one(name="a-0", requests=NOTHING, **more):
    return pod(name, name.partition("-")[0], requests=requests, **more)


@pytest.mark.parametrize(
    ("sentence", "objects", "placements"),
    [
        ("on the first node", [node("n1"), node("n2"), group("a"), one()], [("a-0", "n1")]),
        ("on a full node as well", [node("n1", "1"), group("old"), pod("old-0", "old", "n1"),
                                    group("a"), one()], [("a-0", "n1")]),
        ("not on a cordoned one", [node("n1", unschedulable=True), node("n2"), group("a"), one()],
         [("a-0", "n2")]),
        ("a task that asks for something is none of its", [
            node("n1"), group("a"), one(requests={"cpu": "1"})], []),
        ("nor is a job that has not been admitted", [
            node("n1"), group("a", phase="Pending"), one()], []),
        ("a task behind a gate waits", [
            node("n1"), group("a"), one(schedulingGates=[{"name": "g"}])], []),
        ("an invalid gang waits", [node("n1"), group("a", minMember=2), one()], []),
        ("more important jobs first", [
            node("n1"), group("a"), group("b"), one("a-0", priority=1), one("b-0", priority=5)],
         [("a-0", "n1"), ("b-0", "n1")]),
    ],
)
def test_placements(sentence, objects, placements):
    assert placed(*objects) == placements, sentence


def test_where_it_cannot_be_its_job_says_why():
    ssn = run(queue(), node("n1", unschedulable=True), group("a"), one(), conf=CONF)
    errors = ssn.jobs["default/a"].nodes_fit_errors["uid-a-0"]
    assert str(errors) == "0/1 nodes are unavailable: 1 node(s) were unschedulable."


def test_a_task_that_no_node_can_take_keeps_none_of_the_others_back():
    class Picky(Plugin):
        def pre_predicate(self, task):
            return "not this one" if task.name == "a-0" else None

    with registered(plugin={"picky": Picky}):
        ssn = run(queue(), node("n1"), group("a"), group("b"), one("a-0", priority=9), one("b-0"),
                  conf=CONF + "  - name: picky\n")
    assert [key for _, key, *_ in ssn.committed] == ["default/b-0"]
    assert "not this one" in str(ssn.jobs["default/a"].nodes_fit_errors["uid-a-0"])


def test_a_gang_is_bound_when_all_of_it_is_ready():
    """The tasks are taken at once, but sent to be bound only with the gang."""
    ssn = run(queue(), node("n1"), group("a", minMember=2), one(), one("a-1"), conf=CONF)
    assert [str(task(ssn, name).status) for name in ("a-0", "a-1")] == ["Binding", "Binding"]
    assert len(ssn.cache.bind_contexts) == 2


def test_a_pipelined_best_effort_task_is_unplaced_first():
    ssn = open_session(queue(), node("n1"), group("a"), one(), plugins=("gang", "predicates"))
    ssn.statement().pipeline(task(ssn, "a-0"), "n1")
    Backfill().execute(ssn)
    assert str(task(ssn, "a-0").status) == "Binding"
    assert names(ssn.nodes["n1"].tasks.values()) == ["a-0"]
