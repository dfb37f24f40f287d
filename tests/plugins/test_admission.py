"""What an admitted job still reserves: its minimum less what it has."""

import pytest
from small_cluster import group, node, open_session, pod, queue

from volcano_lab.plugins.admission import inqueue_resource, not_allocated_yet

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


@pytest.mark.parametrize(("sentence", "phase", "spec", "pods", "cpu"), [
    ("one that is not admitted: nothing", "Pending", {}, "", 0),
    ("an admitted one its minimum", "Inqueue", {}, "", 6000),
    ("also with pods on nodes", "Inqueue", {}, "running", 6000),
    ("a running one with its minimum of members the rest", "Running", {}, "running running", 2000),
    ("and with more", "Running", {"minMember": 1}, "running running", 2000),
    ("one with fewer nothing", "Running", {"minMember": 3}, "running running", 0),
    ("one whose driver has ended nothing", "Running", {"minMember": 1}, "ended", 0),
    ("one with all of it nothing", "Running", {}, "running running running", 0),
    ("a running one without minResources nothing", "Running", {"minResources": None}, "running", 0),
    ("pods with a gate nothing", "Inqueue", {}, "gated gated", 2000),
    ("of a running one neither", "Running", {"minMember": 1}, "running gated", 2000),
])
def test_what_a_job_reserves(sentence, phase, spec, pods, cpu):
    """Its minimum is 2 members and 6 CPUs; each pod requests 2."""
    words = {"running": {"node": "n1"}, "ended": {"node": "n1", "phase": "Succeeded"},
             "gated": {"schedulingGates": [{"name": "g"}]}}
    ssn = open_session(
        queue(), node("n1", cpu="8"),
        group("a", phase=phase, **{"minMember": 2, "minResources": {"cpu": "6"}, **spec}),
        *(pod(f"a-{number}", "a", requests={"cpu": "2"}, **words[word])
          for number, word in enumerate(pods.split())), plugins="gang")
    assert inqueue_resource(ssn.jobs["default/a"]).get("cpu") == cpu, sentence
