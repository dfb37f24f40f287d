"""priority: a higher priority is first, and may evict a lower one."""

from __future__ import annotations

import pytest
from small_cluster import group, names, node, open_session, pod, queue, task

from volcano_lab.framework.points.rules import PERMIT
from volcano_lab.manifests import loader as manifests

CLASSES = [
    manifests.from_dict({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                         "metadata": {"name": name}, "value": value})
    for name, value in (("low", 1), ("high", 9))
]


def session(*objects):
    return open_session(node("n1", "8"), queue(), *CLASSES, *objects, plugins="priority")


def jobs_of_two(left="", right=""):
    """Job a with pods of priority 1 and 5, job b with one of 3."""
    return session(group("a", priorityClassName=left), group("b", priorityClassName=right),
                   pod("a-1", "a", "n1", priority=1), pod("a-5", "a", "n1", priority=5),
                   pod("b-3", "b", "n1", priority=3))


@pytest.mark.parametrize(
    ("sentence", "left", "right", "left_first"),
    [
        ("the class of the job decides", "low", "high", False),
        ("either way", "high", "low", True),
        ("a job without a class has 0", "low", "", True),
    ],
)
def test_jobs(sentence, left, right, left_first):
    ssn = jobs_of_two(left, right)
    found = ssn.job_order(ssn.jobs["default/a"], ssn.jobs["default/b"])
    assert found is left_first, sentence


def test_tasks_are_ordered_by_their_own_priority():
    ssn = jobs_of_two()
    assert ssn.task_order(task(ssn, "a-5"), task(ssn, "b-3"))
    assert names(ssn.task_queue([task(ssn, n) for n in ("a-1", "b-3", "a-5")]).drain()) == [
        "a-5", "b-3", "a-1"]


@pytest.mark.parametrize(
    ("sentence", "claimant", "left", "right", "victims"),
    [
        ("of another job all, whatever the pods' own, if that job matters less", "b-3", "low",
         "high", ["a-1", "a-5"]),
        ("of a job that matters as much none", "b-3", "low", "low", []),
        ("of its own job those that matter less than itself", "a-5", "low", "high", ["a-1"]),
        ("the least important takes nothing", "a-1", "low", "high", []),
    ],
)
def test_victims(sentence, claimant, left, right, victims):
    ssn = jobs_of_two(left, right)
    candidates = [task(ssn, name) for name in ("a-1", "a-5", "b-3") if name != claimant]
    found = ssn.plugins["priority"].preemptable(task(ssn, claimant), candidates)
    assert (names(found[0]), found[1]) == (victims, PERMIT), sentence


@pytest.mark.parametrize(
    ("sentence", "waits", "starving"),
    [("all run", False, False), ("beyond its minimum one waits", True, True)],
)
def test_a_job_with_any_waiting_task_starves(sentence, waits, starving):
    ssn = session(group("a", minMember=1), pod("a-0", "a", "n1"),
                  pod("a-1", "a", "" if waits else "n1"))
    assert ssn.job_starving(ssn.jobs["default/a"]) is starving, sentence
