"""Settings of a job that what is configured for them does not read, and where one counts."""

import pytest
from small_cluster import conf, group, node, pod

from volcano_lab import Cluster

CONF = conf("gang", "sla", "overcommit", "predicates", actions="enqueue, allocate")
HAND = "What counts, from the next cycle on: kubectl annotate podgroup new -n default "
NONE = "Plugin sla is configured, and has no waiting time for it: no sla-waiting-time, as an"
ADMITS = "One that counts at most admits the job in this cycle, and places none of its pods."


@pytest.mark.parametrize(("notes", "own", "said"), [
    ({}, {}, ()),
    ({"sla-waiting-time": "two"}, {}, (
        "The annotation sla-waiting-time: two of its PodGroup has no effect: sla reads a duration",
        ADMITS, f"{HAND}sla-waiting-time=DURATION")),
    ({}, {"volcano.sh/sla-waiting-time": "5m"}, (
        "The annotation volcano.sh/sla-waiting-time: 5m of its Pod has no effect: sla does not",
        ADMITS, f"{HAND}sla-waiting-time=5m")),
    ({"sla-waiting-time": "5m"}, {}, ()),
])
def test_a_waiting_time_that_sla_does_not_read_is_said_with_where_it_counts(notes, own, said):
    cluster = Cluster([
        node("n1"), group("old", phase="Running"), pod("old-0", "old", "n1", requests={"cpu": "4"}),
        group("new", phase="Pending", minResources={"cpu": "3"}, annotations=notes,
              created="2026-11-30T10:00:00Z"),
        pod("new-0", "new", requests={"cpu": "3"}, annotations=own)])
    found = cluster.why("new", conf=CONF, now=1_796_032_860.0)  # a minute later
    assert all(each in found.text for each in said)
    assert ("created, 2026-11-30 10:00 UTC" in found.text) is bool(said)
    assert "What counts" not in cluster.why("new", conf=conf("gang", "predicates")).text


def test_annotations_of_pods_and_forms_of_values():
    key = "volcano.sh/cooldown-time"
    text = Cluster([
        node("n1", "8"), group("new", phase="Running", annotations={key: "5m"}), pod(
            "new-0", "new", "n1", requests={"cpu": "3"}, labels={"preemptable": "false"})]).why(
        "new", conf=conf("gang", "cdp", "predicates", actions="allocate, preempt")).text
    assert (f"annotation {key}: 5m of its PodGroup has no effect: cdp does not read it there. What "
            f"counts is the annotation {key}: 5m of its pods") in text
    assert "label preemptable: false of its Pod has no effect: cdp or preempt does not read" in text


def test_a_key_that_lacks_a_word_of_the_one_that_is_read_is_said_with_that():
    text = Cluster([
        node("n1", "8"), pod("new-0", "new", "n1", requests={"cpu": "3"}), group(
            "new", phase="Running", annotations={"volcano.sh/max-unavailable": "4"})]).why(
        "new", conf=conf("gang", "tdm", "predicates", actions="allocate, shuffle")).text
    assert ("annotation volcano.sh/max-unavailable: 4 of its PodGroup has no effect: tdm does not "
            "read it there.") in text and "new -n default volcano.sh/jdb-max-unavailable=4" in text


@pytest.mark.parametrize("notes", [{}, {"sla-waiting-time": "1m"}])
def test_a_job_without_a_deadline_is_not_past_one(notes):
    cluster = Cluster([node("n1", "1"), *(each for name, own in (
        ("new", {"sla-waiting-time": "1m"}), ("other", notes)) for each in (
            group(name, phase="Inqueue", annotations=own, created="2026-11-30T10:00:00Z"),
            pod(f"{name}-0", name, requests={"cpu": "3"})))])
    said = cluster.why("new", conf=CONF, now=1_796_033_860.0).text
    assert ("1 other job that waits is past its deadline, too" in said) is bool(notes)


@pytest.mark.parametrize("cpu", ["3", "1"])
def test_that_a_job_has_no_waiting_time_is_said_where_one_would_place_it(cpu):
    """A gang that does not fit reserves what the node has left."""
    cluster = Cluster([node("n1", "4"), *(each for name, own, moment in (
        ("big", "5", "00"), ("new", cpu, "01")) for each in (
            group(name, phase="Inqueue" if name == "big" else "Pending", minResources={"cpu": own},
                  created=f"2026-11-30T10:{moment}:00Z"), pod(f"{name}-0", name, requests={
                      "cpu": own}))), group("old", phase="Running"), pod(
        "old-0", "old", "n1", requests={"cpu": "2"})])
    tiers = ("actions: enqueue, allocate\ntiers: [{plugins: [{name: gang}, {name: sla}]}, "
             "{plugins: [{name: overcommit}, {name: predicates}]}]")
    found = cluster.why("new", conf=tiers, now=1_796_033_860.0)
    assert (NONE in found.text and f"{HAND}sla-waiting-time=DURATION" in found.text) is (cpu == "1")
    assert ADMITS not in found.text
