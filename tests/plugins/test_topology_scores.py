"""network-topology-aware: the scores of nodes and HyperNodes, computed by hand; for all nodes at
once the same.
"""

import pytest
from hyper_scene import gang, hyper_node, two_tiers
from hypothesis import given, settings, strategies as st
from small_cluster import group, node, open_session, pod, queue, task

from volcano_lab.framework.topology import CLUSTER_TOP
from volcano_lab.plugins.network_topology_aware.plugin import power

NAME = "network-topology-aware"
LOWEST_TIER = "hypernode.binpack.normal-pod.fading: 0"
HARD = {"mode": "hard", "highestTierAllowed": 1}
SOFT = {"mode": "soft"}


def scores_of(ssn, name="p-0"):
    one = task(ssn, name)
    return ssn.plugins[NAME].batch_node_order(one, ssn.node_list)


def full_session(plugin=NAME, **allocatable):
    """Leaf s0 with 2 of 8 CPU used (2 of 16 GiB), leaf s1 empty, a node outside; a pod of 2 CPU and
    2 GiB to place.
    """
    pods = [
        pod("old", "old", "n0", requests={"cpu": "2", "memory": "2Gi"}),
        pod("p-0", "p", requests={"cpu": "2", "memory": "2Gi"}),
    ]
    return open_session(*two_tiers(**allocatable), node("outside"), queue(), group("old"),
                        group("p"), *pods, plugins=plugin)


@pytest.mark.parametrize(
    ("sentence", "arguments", "s0", "s1", "outside"),
    [
        # s0 would be (4/8 + 4/16) / 2 = 0.375 full, s1 0.1875, top as well 0.1875, all of the
        # cluster 0.15
        ("tiers fade", "", (0.375 + 0.8 * 0.1875 + 0.64 * 0.15) / 2.44,
         (0.1875 + 0.8 * 0.1875 + 0.64 * 0.15) / 2.44, (1 + 0.8 + 0.64 * 0.15) / 2.44),
        ("only the lowest tier", LOWEST_TIER, 0.375, 0.1875, 1),
        ("tiers alike", "hypernode.binpack.normal-pod.fading: 1", (0.375 + 0.1875 + 0.15) / 3,
         (0.1875 + 0.1875 + 0.15) / 3, 2.15 / 3),
        ("a fading below zero is the default", "hypernode.binpack.normal-pod.fading: -1",
         (0.375 + 0.15 + 0.096) / 2.44, (0.1875 + 0.15 + 0.096) / 2.44, 1.896 / 2.44),
        ("only the CPU counts", f"{LOWEST_TIER}, hypernode.binpack.memory: 0", 0.5, 0.25, 1),
        ("a weight below zero is one", f"{LOWEST_TIER}, hypernode.binpack.cpu: -3, weight: -2",
         0.375, 0.1875, 1),
        ("twice the weight", f"{LOWEST_TIER}, weight: 2", 0.75, 0.375, 2),
        ("nothing counts", f"{LOWEST_TIER}, hypernode.binpack.cpu: 0, hypernode.binpack.memory: 0",
         0, 0, 1),
    ],
)
def test_pods_without_topology_fill_up_hyper_nodes(sentence, arguments, s0, s1, outside):
    scores = scores_of(full_session(f"{{name: {NAME}, arguments: {{{arguments}}}}}"))
    expected = {"n0": s0, "n1": s0, "n2": s1, "n3": s1, "outside": outside}
    assert scores == pytest.approx(
        {name: 100 * score for name, score in expected.items()}), sentence


def test_a_hyper_node_that_would_be_too_full_counts_nothing():
    scores = scores_of(
        full_session(f"{{name: {NAME}, arguments: {{hypernode.binpack.normal-pod.fading: 0}}}}",
                     cpu="1"))
    assert scores["n0"] == 0.0


def test_pods_without_topology_may_be_left_alone():
    assert not scores_of(
        full_session(
            f"{{name: {NAME}, arguments: {{hypernode.binpack.normal-pod.enable: false}}}}"))


def test_placements_and_their_undoing_count():
    ssn = full_session(
        f"{{name: {NAME}, arguments: "
        "{hypernode.binpack.normal-pod.fading: 0, hypernode.binpack.memory: 0}}"
    )
    before, statement = scores_of(ssn), ssn.statement()
    statement.allocate(task(ssn, "p-0"), ssn.nodes["n0"])
    usage = ssn.plugins[NAME].usage
    assert usage.score([("cpu", 2000.0)], usage.places["s0"]) == 6 / 8
    statement.discard()
    assert scores_of(ssn) == before


@pytest.mark.parametrize(
    ("sentence", "allocated", "s0", "s1", "outside"),
    [
        ("nothing is allocated yet", "", None, None, None),
        # half of the tasks are in s0; tier 2 of 1 to 3 is half way
        ("the leaf itself, and what is in it", "s0", 1.5, 0.5, 0),
        ("the top: both leaves are as close, the tasks decide", "top", 0.5 + 0.5, 0.5, 0),
        ("all of the cluster", CLUSTER_TOP, 0.0 + 0.5, 0, 0),
        ("a HyperNode that is gone is close to nothing", "gone", 0.5, 0, 0),
    ],
)
def test_pods_with_topology_stay_close(sentence, allocated, s0, s1, outside):
    ssn = open_session(*two_tiers(), node("outside"), queue(), *gang("p", 2, SOFT, ["n0"]),
                       plugins=NAME)
    task(ssn, "p-1").job_allocated_hyper_node = allocated
    expected = {"n0": s0, "n1": s0, "n2": s1, "n3": s1, "outside": outside}
    assert scores_of(ssn,
                     "p-1") == ({n: 100 * v
                                 for n, v in expected.items()} if s0 is not None else {}), sentence


@pytest.mark.parametrize(
    ("sentence", "old", "asked", "scores"),
    [
        # each leaf has 8 CPU and 16 GiB; the gang requests 2 x 1 CPU and 2 x 1 GiB
        ("the fuller one", [
            ("n2", "2")
        ], ["s0", "s1"], {"s0": (2 / 8 + 2 / 16) / 2, "s1": (4 / 8 + 3 / 16) / 2}),
        ("equals, with nothing in them", [], ["s0", "s1"], {"s0": 3 / 16, "s1": 3 / 16}),
        ("too full", [("n2", "4"), ("n3", "3")], ["s0", "s1"], {"s0": 3 / 16, "s1": 0}),
    ],
)
def test_the_fullest_hyper_node_is_best(sentence, old, asked, scores):
    pods = [
        pod(f"old-{node}", "old", node, requests={"cpu": cpu, "memory": "1Gi"}) for node, cpu in old
    ]
    ssn = open_session(*two_tiers(), queue(), group("old"), *pods, *gang("g", 2, HARD),
                       plugins=NAME)
    found = ssn.plugins[NAME].hyper_node_order(ssn.jobs["default/g"].sub_jobs["default/g"],
                                               {name: [] for name in asked})
    assert found == pytest.approx({name: 100 * score for name, score in scores.items()}), sentence


def test_among_equally_full_hyper_nodes_the_tasks_decide():
    pods = [pod("old", "old", "n2", requests={"cpu": "1", "memory": "1Gi"})]
    ssn = open_session(*two_tiers(), queue(), group("old"), *pods, *gang("g", 3, HARD, ["n0"]),
                       plugins=NAME)
    found = ssn.plugins[NAME].hyper_node_order(ssn.jobs["default/g"].sub_jobs["default/g"],
                                               {"s0": [], "s1": []})
    assert found["s0"] - found["s1"] == pytest.approx(100 / 3)


def test_the_tasks_decide_among_the_fullest_only():
    pods = [pod(f"old-{name}", "old", name, requests={"cpu": "3", "memory": "3Gi"})
            for name in ("n2", "n4")]
    ssn = open_session(*two_tiers(3), queue(), group("old"), *pods, *gang("g", 3, HARD, ["n0"]),
                       plugins=NAME)
    score, sub_job = ssn.plugins[NAME].hyper_node_order, ssn.jobs["default/g"].sub_jobs["default/g"]
    found = score(sub_job, {"s0": [], "s1": [], "s2": []})
    assert found["s1"] == found["s2"] > found["s0"] == score(sub_job, {"s0": [], "s1": []})["s0"]


def test_powers_are_those_of_go():
    assert [power(0.8, e) for e in (-1, 0, 1, 5, 11)] == [
        1.25, 1.0, 0.8, 0.3276800000000002, 0.08589934592000009
    ]
    assert power(0.8, 5) != 0.8**5
    assert power(0.0, -1) == float("inf")


cpus = st.sampled_from(["1", "2", "4"])


@pytest.mark.long
@settings(max_examples=60)
@given(st.data())
def test_scores_are_those_by_the_definition(data):
    leaves = data.draw(st.integers(1, 3))
    objects = [
        *two_tiers(leaves, data.draw(st.integers(1, 3)), cpu=data.draw(cpus)),
        node("outside")
    ]
    if data.draw(st.booleans()):
        objects.append(hyper_node("other", data.draw(st.integers(1, 4)), "node:n0", "node:outside"))
    names = [each.name for each in objects if each.kind == "Node"]
    topology = data.draw(st.sampled_from([None, SOFT]))
    size = data.draw(st.integers(1, 5))
    running = data.draw(st.lists(st.sampled_from(names), max_size=size - 1))
    ssn = open_session(*objects, queue(), *gang("p", size, topology, running), plugins=NAME)
    last, plugin = task(ssn, f"p-{size - 1}"), ssn.plugins[NAME]
    last.job_allocated_hyper_node = data.draw(st.sampled_from(["", *ssn.topology.hyper_nodes]))
    asked = data.draw(
        st.lists(st.sampled_from(ssn.node_list), min_size=1,
                 unique=True).map(lambda nodes: sorted(nodes, key=lambda n: n.row)))
    sub_job = ssn.jobs[last.job].sub_jobs[ssn.jobs[last.job].task_to_sub_job[last.uid]]
    define = closeness if sub_job.with_network_topology() else fullness
    assert plugin.batch_node_order(last, asked) == {
        name: 100.0 * score for name, score in define(ssn, plugin, last, sub_job, asked).items()}


def closeness(ssn, plugin, last, sub_job, nodes):
    """How close each node is to where the sub-job is; among the closest, how many of its tasks are
    there.
    """
    allocated = last.job_allocated_hyper_node
    if not allocated:
        return {}
    lowest = {each.name: ssn.topology.lowest.get(each.name, "") for each in nodes}
    scores = {name: plugin.tier_score(below, allocated) for name, below in lowest.items()}
    best = max(scores.values())
    ties = [name for name, score in scores.items() if score == best]
    for name in ties if len(ties) > 1 else ():
        inside = ssn.topology.node_names.get(lowest[name], ()) if lowest[name] else ()
        tasks = sub_job.tasks.values()
        scores[name] += sum(t.node_name in inside for t in tasks) / len(tasks)
    return scores


def fullness(ssn, plugin, last, sub_job, nodes):
    """How full the task would make the HyperNodes around each node, lower tiers counting more."""
    topology, full = ssn.topology, plugin.usage.pod_scores(last.resreq)
    scores = {}
    for each in nodes:
        score = 0.0
        for tier, weight in plugin.tier_weights.items():
            holder = next((name for name in sorted(topology.by_tier.get(tier, ()))
                           if each.name in topology.node_names.get(name, ())), None)
            score += weight * (1.0 if holder is None else full[plugin.usage.places[holder]])
        scores[each.name] = score / plugin.total_tier_weight
    return scores
