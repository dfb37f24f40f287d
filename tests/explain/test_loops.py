"""What evictions repeat: between which jobs and queues, by which actions, and what gives back."""

from types import SimpleNamespace

import pytest

from volcano_lab.cluster import Cluster
from volcano_lab.explain import Timeline
from volcano_lab.explain.outcome import CYCLES, Eviction, Outcome
from volcano_lab.explain.timeline import loop_cause
from volcano_lab.explain.victims import cluster_loops

QUEUES = {"n/a": "q", "n/b": "r", "n/c": "q", "n/d": "s", "n/e": "t"}
SEEN = SimpleNamespace(called=str, of=lambda *_, **__: [])


def repeated(*pairs, orders=None):
    """An outcome in which each pair (action, job that loses a pod, job that gets its place) is
    repeated so many times.
    """
    evictions = [Eviction(cycle, f"{job}-0", job, "n1", action, winner)
                 for action, job, winner, times in pairs for cycle in range(1, times + 1)]
    return Outcome(last=SimpleNamespace(jobs={
        uid: SimpleNamespace(queue=name) for uid, name in QUEUES.items()}), cycles=CYCLES,
        evictions=evictions, orders=orders or {})


@pytest.mark.long
def test_a_change_that_keeps_a_promise_says_where_the_pod_is_placed():
    found = Cluster.read("docs/loop.yaml").timeline(3).why("train")
    assert "1 pipelined" in found.head
    assert [each.effect for each in found.remedies] == [
        "train is placed on n1 after 2 cycles", "train is placed on 1 new node"]


def test_what_is_not_repeated_is_no_loop():
    assert cluster_loops(SEEN, repeated()) is None
    assert cluster_loops(SEEN, repeated(("preempt", "n/a", "n/b", 1))) is None


@pytest.mark.parametrize(("pairs", "orders", "parts"), [
    ([("reclaim", "n/a", "n/b", 3)], {}, [("reclaim", "n/a", "n/b", "cluster_loops.back", None)]),
    ([("reclaim", "n/a", "n/b", 3)], {("n/a", "n/b"): "drf"},
     [("reclaim", "n/a", "n/b", "cluster_loops.order", "drf")]),
    ([("reclaim", "n/a", "n/b", 3)], {("q", "r"): "capacity"},
     [("reclaim", "n/a", "n/b", "cluster_loops.order", "capacity")]),
    ([("reclaim", "n/a", "n/b", 3)], {("n/b", "n/a"): "drf", ("r", "q"): "capacity"},
     [("reclaim", "n/a", "n/b", "cluster_loops.back", None)]),
    ([("reclaim", "n/a", "n/b", 3), ("preempt", "n/b", "n/a", 2)], {},
     [("reclaim", "n/a", "n/b", "cluster_loops.in_turn", "preempt"),
      ("preempt", "n/b", "n/a", "cluster_loops.in_turn", "reclaim")]),
    ([("reclaim", "n/a", "n/b", 2), ("reclaim", "n/c", "n/b", 3)], {},  # of one queue
     [("reclaim", "n/a n/c", "n/b", "cluster_loops.back", None)]),
    ([("shuffle", "n/a", "", 2)], {}, [("shuffle", "n/a", "", "cluster_loops.back", None)]),
    ([("reclaim", "n/a", "n/b", 2), ("reclaim", "n/d", "n/b", 5), ("reclaim", "n/e", "n/b", 3),
      ("preempt", "n/a", "n/c", 4)], {},  # the three largest
     [("reclaim", "n/d", "n/b", "cluster_loops.back", None),
      ("preempt", "n/a", "n/c", "cluster_loops.back", None),
      ("reclaim", "n/e", "n/b", "cluster_loops.back", None)])])
def test_what_a_cluster_repeats_by_actions_and_queues(pairs, orders, parts):
    found = repeated(*pairs, orders=orders)
    cause = cluster_loops(SEEN, found)
    assert cause.context and cause.said[0].facts == {"cycles": CYCLES, "n": len({
        job for _, job, _, _ in pairs})}
    assert [(each.facts["action"], " ".join(each.facts["victims"]), " ".join(
        each.facts["winners"]), each.facts["back"].code, each.facts["back"].facts.get(
            "plugin", each.facts["back"].facts.get("action"))) for each in cause.said[1:]] == parts
    times = {}
    for _, job, _, count in pairs:
        times[job] = times.get(job, 0) + count
    assert cause.numbers["victims"] == sorted(times, key=lambda job: -times[job])
    assert cause.numbers["winners"] == [*dict.fromkeys(pair[2] for pair in pairs)]
    assert cause.numbers["actions"] == [*dict.fromkeys(pair[0] for pair in pairs)]


@pytest.mark.parametrize(("winner", "loops"), [("n/b", True), ("", False), ("n/a", False)])
def test_places_go_back_only_where_a_pod_was_evicted_for_another_job(winner, loops):
    timeline = Timeline()
    timeline.names = {uid: uid for uid in QUEUES} | {"": ""}
    timeline.evictions = [Eviction(cycle, f"n/a-{cycle}", "n/a", "n1", "reclaim", winner)
                          for cycle in (1, 3)]
    timeline.placed = [(2, "n/a-0", "n/a", "n1")]
    found = loop_cause(timeline, "n/a", 9)
    assert (found is not None) is loops
    assert not loops or (found.numbers["taken"], found.numbers["losers"]) == (1, ["n/b"])
