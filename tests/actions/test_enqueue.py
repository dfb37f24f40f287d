"""enqueue: waiting PodGroups are admitted one at a time, queue by queue."""

from __future__ import annotations

import pytest
from small_cluster import group, node, queue, run

CONF = """\
actions: "enqueue"
tiers:
- plugins:
  - name: priority
  - name: {}
"""


def admitted(*objects, plugin="proportion"):
    ssn = run(node("n1", "10"), *objects, conf=CONF.format(plugin))
    return [uid.partition("/")[2] for uid, job in ssn.jobs.items()
            if job.pod_group.status.phase == "Inqueue"]


def asks(name, cpus=None, queue="default", phase="Pending", **more):
    least = {} if cpus is None else {"minResources": {"cpu": str(cpus)}}
    return group(name, queue, phase, **least, **more)


AT = [f"2026-01-01T00:00:0{n}Z" for n in range(9)]


@pytest.mark.parametrize(
    ("sentence", "groups", "in_"),
    [
        ("a job that fits is admitted", [asks("a", 10)], "a"),
        ("one that does not is not", [asks("a", 11)], ""),
        ("the older of two that do not fit together", [
            asks("a", 6, created=AT[2]), asks("b", 6, created=AT[1])], "b"),
        ("a refused job does not keep back those behind it", [
            asks("a", 11, created=AT[1]), asks("b", 6, created=AT[2])], "b"),
        ("a job without a minimum is admitted unasked", [asks("a", 10), asks("b")], "ab"),
        ("what is admitted already reserves its minimum", [
            asks("a", 6, phase="Inqueue"), asks("b", 6)], "a"),
        ("a phase that is not set is as good as Pending", [asks("a", 1, phase="")], "a"),
        ("a job that runs is not asked", [asks("a", 1, phase="Running")], ""),
    ],
)
def test_one_queue(sentence, groups, in_):
    assert admitted(queue(), *groups) == list(in_), sentence


@pytest.mark.parametrize(
    ("sentence", "queues", "groups", "in_"),
    [
        ("queues take turns: one job of each before the second of any",
         [queue("p"), queue("q")],
         [asks("p1", 4, "p", created=AT[1]), asks("p2", 4, "p", created=AT[2]),
          asks("q1", 4, "q", created=AT[3])], ["p1", "p2", "q1"]),
        ("the queue with the higher priority comes first, to its last job",
         [queue("p"), queue("q", priority=1)],
         [asks("p1", 4, "p"), asks("q1", 4, "q"), asks("q2", 4, "q")], ["p1", "q1", "q2"]),
        ("a closed queue admits no job", [queue("p"), queue("q", state="Closed")],
         [asks("p1", 4, "p"), asks("q1", 4, "q")], ["p1"]),
        ("a queue's capability limits it alone", [queue("p", capability={"cpu": "5"}), queue("q")],
         [asks("p1", 6, "p"), asks("q1", 6, "q")], ["q1"]),
    ],
)
def test_several_queues(sentence, queues, groups, in_):
    assert admitted(*queues, *groups) == in_, sentence


def test_in_overcommit_queues_compete_for_the_same_reserve():
    groups = [asks("p1", 7, "p", created=AT[1]), asks("q1", 7, "q", created=AT[2])]
    assert admitted(queue("p"), queue("q"), *groups, plugin="overcommit") == ["p1"]
