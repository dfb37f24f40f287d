"""A cycle's log in Volcano's own lines: what guides search for is found, with the cycle's numbers.
"""

import pytest

from volcano_lab import Cluster, Trace
from volcano_lab.course.lesson_10.cluster import CONF as TOPOLOGY, topology_cluster
from volcano_lab.messages import Misuse

ONE_TIER = """
actions: "enqueue, allocate, reclaim"
tiers:
- plugins: [{name: gang}, {name: proportion}, {name: predicates}]
"""
CAPACITY = "actions: allocate\ntiers: [{plugins: [{name: gang}, {name: capacity}]}]"


def guide() -> Cluster:
    """100 CPUs, and queues of weights 2, 3 and 5 that ask for 80, 60 and 30."""
    cluster = Cluster().node("n1", cpu=100).queue("a", weight=2, capability=50)
    cluster.queue("b", weight=3).queue("c", weight=5)
    for queue, pods in (("a", 80), ("b", 60), ("c", 30)):
        cluster.job(f"{queue}-work", queue=queue, pods=pods, cpu=1, min_member=1)
    return cluster


def taken() -> Cluster:
    """Queue b holds all 10 CPUs, queue a asks for one."""
    cluster = Cluster().node("n1", cpu=10).queue("a").queue("b")
    cluster.job("b-run", queue="b", pods=10, cpu=1, min_member=1, running={"n1": 10})
    return cluster.job("a-one", queue="a", cpu=1).job("b-more", queue="b", cpu=1)


def limited() -> Cluster:
    """Queue a may hold 2 CPUs, and its job asks for three times one."""
    return Cluster().node("n1", cpu=10).queue("a", capability={"cpu": 2}).job(
        "one", queue="a", pods=3, cpu=1, min_member=1)


def inner() -> Cluster:
    """A job is in queue team, which has a queue below it."""
    cluster = Cluster().node("n1", cpu=4).queue("team").queue("below", parent="team")
    return cluster.job("one", queue="team", cpu=1)


def orphan() -> Cluster:
    """Queue below names a parent that does not exist, and a job a queue that does not."""
    cluster = Cluster().node("n1", cpu=4).queue("below", parent="gone")
    return cluster.job("one", queue="below", cpu=1).job("two", queue="lost", cpu=1)


TREE = "actions: allocate\ntiers: [{plugins: [{name: capacity, enableHierarchy: true}]}]"

FOUND = [
    ("the config in force", guide, None, "Finished loading scheduler config", 1,
     "actions=[enqueue allocate backfill]"),
    ("the snapshot's counts", guide, None, "SnapShot for scheduling", 1,
     "jobNum=3 QueueNum=5 NodeNum=1"),
    ("a job's priority", guide, None, "The priority of job <default/b-work>", 1, "is </0>"),
    ("what there is to share", guide, None, "The total resource is", 1, "cpu 100000.00"),
    ("each queue of each round", guide, None, "Considering Queue <b>", 2,
     "weight <3>, total weight <10>."),
    ("what a queue gets", guide, None, "Format queue <a> deserved resource to", 2, "cpu 20000.00"),
    ("what is left", guide, None, "Remaining resource is", 2, "cpu 20000.00"),
    ("a queue that has all it asks for", guide, None, "queue <c> is meet", 1, "is meet"),
    ("an overused queue", guide, None, "Queue <c> is overused", 1, "ignore it."),
    ("victims", taken, ONE_TIER, "Victims from proportion plugins are", 1, "default/b-run-0"),
    ("a queue that may take no more", limited, CAPACITY, "Candidate <one-2>", 1,
     "Queue <a>: realCapability <cpu 2000.00, memory 0.00, pods 110.00>, allocated <cpu 2000.00, "
     "memory 0.00, pods 2.00>; Candidate <one-2>: resource request <cpu 1000.00, "),
    ("a job in a queue with queues below it", inner, TREE, "is not leaf queue", 1,
     "capacity.go:572] The Queue <team> of Job <default/one> is not leaf queue"),
    ("a parent that does not exist", orphan, TREE, "Failed to update Queue <below> attributes", 1,
     "capacity.go:563] Failed to update Queue <below> attributes, error: the queue below has "
     "invalid parent queue gone"),
    ("a job whose queue does not exist", orphan, TREE, "does not exist, ignore it.", 1,
     "cache.go:1516] The Queue <lost> of Job <default/two>"),
    ("HyperNodes", topology_cluster, TOPOLOGY, "HyperNode snapShot", 1,
     "2:map[room-1:{} room-2:{}]"),
]


@pytest.mark.long
@pytest.mark.parametrize(("sentence", "cluster", "conf", "grep", "times", "words"), FOUND,
                         ids=[row[0] for row in FOUND])
def test_what_a_guide_searches_for_is_found(sentence, cluster, conf, grep, times, words):
    lines = [line for line in cluster().run(conf, trace=Trace()).log() if grep in line]
    assert len(lines) == times and any(words in line for line in lines), lines


@pytest.mark.long
def test_a_lower_level_says_less():
    cycle = guide().run(trace=Trace())
    two, three, four = (cycle.log(level) for level in (2, 3, 4))
    assert len(two) == 1 and set(two) < set(three) < set(four)


def test_without_a_tree_no_queue_has_to_be_a_leaf():
    assert "leaf" not in "".join(inner().run(CAPACITY, trace=Trace()).log())


@pytest.mark.long
def test_an_outline_has_not_all_answers():
    with pytest.raises(Misuse, match="trace=Trace"):
        guide().run().log()
