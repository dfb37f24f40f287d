"""What an admitted job still reserves: its minimum less what it has."""

import pytest
from small_cluster import group, node, open_session, pod, queue

from volcano_lab.plugins.admission import not_allocated_yet

GPU = "nvidia.com/gpu"


@pytest.mark.parametrize(("sentence", "least", "running", "left"), [
    ("of a scalar the whole number, not thousandths", {"cpu": "2", GPU: "2"}, {},
     {"cpu": 2000.0, GPU: 2.0}),
    ("a scalar of nothing stays named", {GPU: "0"}, {}, {GPU: 0.0}),
    ("what runs is taken off, in thousandths", {"cpu": "2", GPU: "2001"},
     {"cpu": "1", GPU: "2"}, {"cpu": 1000.0, GPU: 1.0}),
    ("never below zero", {"cpu": "1", GPU: "2"}, {"cpu": "2", GPU: "1"}, {}),
])
def test_a_job_still_reserves(sentence, least, running, left):
    pods = [pod("a-0", "a", "n1", requests=running)] if running else []
    ssn = open_session(queue(), node("n1", cpu="8", **{GPU: "4"}),
                       group("a", phase="Running", minResources=least), *pods, plugins="gang")
    found = not_allocated_yet(ssn.jobs["default/a"])
    assert {name: amount for name, amount in found if amount or name == GPU} == left, sentence
