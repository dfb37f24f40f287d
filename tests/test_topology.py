"""The session's HyperNodes, the network-topology-aware plugin, and allocate's dry runs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyper_scene import hyper_node, two_tiers
from small_cluster import conf, group, node, open_session, pod, queue, run, task
from volcano_lab.api.hyper_node import HyperNodeInfo, HyperNodeMap
from volcano_lab.cache import Cache
from volcano_lab.framework.observer import Observer
from volcano_lab.framework.topology import CLUSTER_TOP
from volcano_lab.plugins.network_topology_aware import power
from volcano_lab.plugins.network_topology_aware_gradients import NoSearchRoot, gradients
from volcano_lab.scheduler import Scheduler

NAME = "network-topology-aware"
CONF = conf("gang", "proportion", "predicates", "nodeorder", f"{{name: {NAME}, arguments: {{weight: 10}}}}")
LOWEST_TIER = "hypernode.binpack.normal-pod.fading: 0"
HARD = {"mode": "hard", "highestTierAllowed": 1}
SOFT = {"mode": "soft"}


def gang(name, size, topology=None, nodes=(), cpu="1", **spec):
    """A gang of `size` pods named NAME-0, ..., the first of them running on `nodes`."""
    requests = {"cpu": cpu, "memory": "1Gi"}
    more = {"networkTopology": topology} if topology else {}
    places = [*nodes, *[""] * (size - len(nodes))]
    return [group(name, minMember=size, **more, **spec),
            *(pod(f"{name}-{i}", name, place, requests=requests) for i, place in enumerate(places))]  # fmt: skip


def places(ssn):
    """Pod -> node, of pods that have one."""
    return {t.name: t.node_name for job in ssn.jobs.values() for t in job.tasks.values() if t.node_name}


# -- the session ---------------------------------------------------------------------------------------


def test_without_hyper_nodes_the_top_holds_all_in_tier_1():
    ssn = open_session(node("b"), node("a"), plugins=NAME)
    assert list(ssn.hyper_nodes) == [CLUSTER_TOP]
    assert ssn.hyper_nodes_tiers == [1]
    assert [each.name for each in ssn.real_nodes_list[CLUSTER_TOP]] == ["b", "a"]


def test_the_top_is_above_the_highest_tier_and_holds_nodes_outside():
    ssn = open_session(*two_tiers(), node("outside"), plugins=NAME)
    assert ssn.hyper_nodes_tiers == [1, 2, 3]
    assert ssn.hyper_nodes[CLUSTER_TOP].children == {"top"}
    assert ssn.hyper_nodes.ancestors("s1") == ["s1", "top", CLUSTER_TOP]
    assert "outside" in ssn.real_nodes_set[CLUSTER_TOP]
    assert [each.name for each in ssn.real_nodes_list["top"]] == ["n0", "n1", "n2", "n3"]


@pytest.mark.parametrize(
    ("sentence", "nodes", "topology", "allocated", "found"),
    [
        ("nothing stands anywhere", [], SOFT, "", ""),
        ("one leaf holds all", ["n0", "n1"], SOFT, "", "s0"),
        ("two leaves are held by the top", ["n0", "n2"], SOFT, "", "top"),
        ("a node outside leaves the virtual top", ["n0", "outside"], SOFT, "", CLUSTER_TOP),
        ("what is known stays", ["n0"], SOFT, "top", "top"),
        ("a HyperNode that is gone is found anew", ["n0"], SOFT, "gone", "s0"),
        ("without tasks in place it is forgotten", [], SOFT, "s0", ""),
        ("without a topology nobody looks", ["n0"], None, "", ""),
        ("without a topology what is known stays", ["n0"], None, "s1", "s1"),
    ],
)
def test_where_a_job_stands(sentence, nodes, topology, allocated, found):
    cache = Cache([*two_tiers(), node("outside"), queue(), *gang("g", 3, topology, nodes)])
    job = cache.jobs["default/g"]
    job.allocated_hyper_node = job.sub_jobs["default/g"].allocated_hyper_node = allocated
    ssn = Scheduler(cache, conf(NAME, actions="backfill")).run_once()
    assert ssn.jobs["default/g"].allocated_hyper_node == found, sentence
    assert ssn.jobs["default/g"].sub_jobs["default/g"].allocated_hyper_node == found, sentence
    assert cache.jobs["default/g"].allocated_hyper_node == found, f"{sentence}, and the cache learns of it"


# -- gradients -----------------------------------------------------------------------------------------

TREE = {"s0": (1, "m0"), "s1": (1, "m0"), "s2": (1, "m1"), "m0": (2, "top"), "m1": (2, "top"), "top": (3, "")}


def tree():
    infos = HyperNodeMap({name: HyperNodeInfo.named(name, tier) for name, (tier, _) in TREE.items()})
    for name, (_, parent) in TREE.items():
        infos[name].parent = parent
        if parent:
            infos[parent].children.add(name)
    return infos


@pytest.mark.parametrize(
    ("sentence", "within", "highest", "allocated", "full", "found"),
    [
        ("lower tiers first", "top", 3, "", "", [["s0", "s1", "s2"], ["m0", "m1"], ["top"]]),
        ("no tier above the highest", "top", 1, "", "", [["s0", "s1", "s2"]]),
        ("nothing allowed", "top", 0, "", "", []),
        ("HyperNodes without room are left out", "top", 2, "", "s0 m1", [["s1", "s2"], ["m0"]]),
        ("only below the one at hand", "m1", 3, "", "", [["s2"], ["m1"]]),
        ("around what is allocated, room or not", "top", 2, "s0", "s0 s1 m0", [["s0", "s1"], ["m0"]]),
        ("the one at hand is smaller than what is allowed", "s1", 2, "s0", "", [["s1"]]),
    ],
)
def test_gradients(sentence, within, highest, allocated, full, found):
    infos = tree()
    result = gradients(infos, infos[within], highest, allocated, lambda name: name not in full.split())
    assert [[info.name for info in tier] for tier in result] == found, sentence


@pytest.mark.parametrize(
    ("sentence", "within", "highest", "allocated"),
    [
        ("what is allocated is elsewhere", "m1", 2, "s0"),
        ("what is allocated is above the highest tier", "top", 1, "m0"),
        ("what is allocated is gone", "top", 2, "gone"),
    ],
)
def test_no_gradients(sentence, within, highest, allocated):
    infos = tree()
    with pytest.raises(NoSearchRoot):
        gradients(infos, infos[within], highest, allocated, lambda name: True)


# -- scores --------------------------------------------------------------------------------------------


def scores_of(ssn, name="p-0"):
    one = task(ssn, name)
    return ssn.plugins[NAME].batch_node_order(one, ssn.node_list)


def full_session(plugin=NAME, **room):
    """Leaf s0 with 2 of 8 CPU used (2 of 16 GiB), leaf s1 empty, a node outside; a pod of 2 CPU and 2 GiB to place."""
    pods = [
        pod("old", "old", "n0", requests={"cpu": "2", "memory": "2Gi"}),
        pod("p-0", "p", requests={"cpu": "2", "memory": "2Gi"}),
    ]
    return open_session(*two_tiers(**room), node("outside"), queue(), group("old"), group("p"), *pods, plugins=plugin)


@pytest.mark.parametrize(
    ("sentence", "arguments", "s0", "s1", "outside"),
    [
        # s0 would be (4/8 + 4/16) / 2 = 0.375 full, s1 0.1875, top as well 0.1875, all of the cluster 0.15
        ("tiers fade", "", (0.375 + 0.8 * 0.1875 + 0.64 * 0.15) / 2.44, (0.1875 + 0.8 * 0.1875 + 0.64 * 0.15) / 2.44,
         (1 + 0.8 + 0.64 * 0.15) / 2.44),
        ("only the lowest tier", LOWEST_TIER, 0.375, 0.1875, 1),
        ("tiers alike", "hypernode.binpack.normal-pod.fading: 1", (0.375 + 0.1875 + 0.15) / 3, (0.1875 + 0.1875 + 0.15) / 3,
         2.15 / 3),
        ("a fading below zero is the default", "hypernode.binpack.normal-pod.fading: -1", (0.375 + 0.15 + 0.096) / 2.44,
         (0.1875 + 0.15 + 0.096) / 2.44, 1.896 / 2.44),
        ("only the CPU counts", f"{LOWEST_TIER}, hypernode.binpack.memory: 0", 0.5, 0.25, 1),
        ("a weight below zero is one", f"{LOWEST_TIER}, hypernode.binpack.cpu: -3, weight: -2", 0.375, 0.1875, 1),
        ("twice the weight", f"{LOWEST_TIER}, weight: 2", 0.75, 0.375, 2),
        ("nothing counts", f"{LOWEST_TIER}, hypernode.binpack.cpu: 0, hypernode.binpack.memory: 0", 0, 0, 1),
    ],
)  # fmt: skip
def test_pods_without_topology_fill_up_hyper_nodes(sentence, arguments, s0, s1, outside):
    scores = scores_of(full_session(f"{{name: {NAME}, arguments: {{{arguments}}}}}"))
    expected = {"n0": s0, "n1": s0, "n2": s1, "n3": s1, "outside": outside}
    assert scores == pytest.approx({name: 100 * score for name, score in expected.items()}), sentence


def test_a_hyper_node_that_would_be_too_full_counts_nothing():
    scores = scores_of(full_session(f"{{name: {NAME}, arguments: {{hypernode.binpack.normal-pod.fading: 0}}}}", cpu="1"))
    assert scores["n0"] == 0.0


def test_pods_without_topology_may_be_left_alone():
    assert not scores_of(full_session(f"{{name: {NAME}, arguments: {{hypernode.binpack.normal-pod.enable: false}}}}"))


def test_what_is_placed_and_taken_back_counts():
    ssn = full_session(f"{{name: {NAME}, arguments: {{hypernode.binpack.normal-pod.fading: 0, hypernode.binpack.memory: 0}}}}")
    before, statement = scores_of(ssn), ssn.statement()
    statement.allocate(task(ssn, "p-0"), ssn.nodes["n0"])
    assert ssn.plugins[NAME].usage.score([("cpu", 2000.0)], "s0") == 6 / 8
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
    ssn = open_session(*two_tiers(), node("outside"), queue(), *gang("p", 2, SOFT, ["n0"]), plugins=NAME)
    task(ssn, "p-1").job_allocated_hyper_node = allocated
    expected = {"n0": s0, "n1": s0, "n2": s1, "n3": s1, "outside": outside}
    assert scores_of(ssn, "p-1") == ({n: 100 * v for n, v in expected.items()} if s0 is not None else {}), sentence


@pytest.mark.parametrize(
    ("sentence", "old", "asked", "scores"),
    [
        # each leaf has 8 CPU and 16 GiB; the gang asks for 2 x 1 CPU and 2 x 1 GiB
        ("the fuller one", [("n2", "2")], ["s0", "s1"], {"s0": (2 / 8 + 2 / 16) / 2, "s1": (4 / 8 + 3 / 16) / 2}),
        ("equals, with nothing in them", [], ["s0", "s1"], {"s0": 3 / 16, "s1": 3 / 16}),
        ("too full", [("n2", "4"), ("n3", "3")], ["s0", "s1"], {"s0": 3 / 16, "s1": 0}),
    ],
)
def test_the_fullest_hyper_node_is_best(sentence, old, asked, scores):
    pods = [pod(f"old-{node}", "old", node, requests={"cpu": cpu, "memory": "1Gi"}) for node, cpu in old]
    ssn = open_session(*two_tiers(), queue(), group("old"), *pods, *gang("g", 2, HARD), plugins=NAME)
    found = ssn.plugins[NAME].hyper_node_order(ssn.jobs["default/g"].sub_jobs["default/g"], {name: [] for name in asked})
    assert found == pytest.approx({name: 100 * score for name, score in scores.items()}), sentence


def test_among_equally_full_hyper_nodes_the_tasks_decide():
    pods = [pod("old", "old", "n2", requests={"cpu": "1", "memory": "1Gi"})]
    ssn = open_session(*two_tiers(), queue(), group("old"), *pods, *gang("g", 3, HARD, ["n0"]), plugins=NAME)
    found = ssn.plugins[NAME].hyper_node_order(ssn.jobs["default/g"].sub_jobs["default/g"], {"s0": [], "s1": []})
    assert found["s0"] - found["s1"] == pytest.approx(100 / 3)


def test_powers_are_those_of_go():
    assert [power(0.8, e) for e in (-1, 0, 1, 5, 11)] == [1.25, 1.0, 0.8, 0.3276800000000002, 0.08589934592000009]
    assert power(0.8, 5) != 0.8**5
    assert power(0.0, -1) == float("inf")


rooms = st.sampled_from(["1", "2", "4"])


@settings(max_examples=60)
@given(st.data())
def test_scores_for_all_nodes_at_once_are_those_node_by_node(data):
    leaves = data.draw(st.integers(1, 3))
    objects = [*two_tiers(leaves, data.draw(st.integers(1, 3)), cpu=data.draw(rooms)), node("outside")]
    if data.draw(st.booleans()):
        objects.append(hyper_node("other", data.draw(st.integers(1, 4)), "node:n0", "node:outside"))
    names = [each.name for each in objects if each.kind == "Node"]
    topology = data.draw(st.sampled_from([None, SOFT]))
    size = data.draw(st.integers(1, 5))
    running = data.draw(st.lists(st.sampled_from(names), max_size=size - 1))
    ssn = open_session(*objects, queue(), *gang("p", size, topology, running), plugins=NAME)
    last, plugin = task(ssn, f"p-{size - 1}"), ssn.plugins[NAME]
    last.job_allocated_hyper_node = data.draw(st.sampled_from(["", *ssn.hyper_nodes]))
    asked = data.draw(
        st.lists(st.sampled_from(ssn.node_list), min_size=1, unique=True).map(lambda nodes: sorted(nodes, key=lambda n: n.row))
    )
    found = plugin.batch_node_order_nodes(last, np.array([each in asked for each in ssn.node_list]))
    expected = plugin.batch_node_order(last, asked)
    assert {each.name: found[each.row] for each in asked} == {each.name: expected.get(each.name, 0.0) for each in asked}


# -- allocate --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "size", "topology", "leaves"),
    [
        ("a hard gang is in one leaf", 4, HARD, {"s0"}),
        ("a hard gang that no leaf holds waits", 9, HARD, set()),
        ("a higher tier is allowed", 9, {"mode": "hard", "highestTierAllowed": 2}, {"s0", "s1"}),
        ("the tier by name", 4, {"mode": "hard", "highestTierName": "leaf"}, {"s0"}),
        ("the tier by name, and no leaf holds it", 9, {"mode": "hard", "highestTierName": "leaf"}, set()),
        ("a name that no tier has binds nothing", 9, {"mode": "hard", "highestTierName": "nowhere"}, {"s0", "s1"}),
        ("a soft gang is together where it can be", 8, SOFT, {"s0"}),
        ("a soft gang spreads where it must", 9, SOFT, {"s0", "s1"}),
    ],
)
def test_gangs_and_tiers(sentence, size, topology, leaves):
    ssn = run(*two_tiers(), queue(), *gang("g", size, topology), conf=CONF)
    around = {ssn.lowest_hyper_nodes[name] for name in places(ssn).values()}
    assert around == leaves, sentence
    assert len(places(ssn)) == (size if leaves else 0), sentence


def test_a_hard_gang_prefers_the_fuller_leaf_and_the_job_knows_where_it_is():
    old = [group("old"), pod("old", "old", "n3")]
    cache = Cache([*two_tiers(), queue(), *old, *gang("g", 4, HARD)])
    ssn = Scheduler(cache, CONF).run_once()
    assert set(places(ssn).values()) <= {"n2", "n3"}
    assert ssn.jobs["default/g"].allocated_hyper_node == cache.jobs["default/g"].allocated_hyper_node == "s1"


def test_a_gang_that_grows_stays_where_it_is():
    """s0 is fuller; yet the gang stands in s1, and only two more of its pods fit there."""
    old = [group("old"), pod("old", "old", "n0", requests={"cpu": "3", "memory": "1Gi"})]
    more = gang("g", 5, HARD, ["n2", "n3"], cpu="2")
    more[0].spec.min_member = 2
    ssn = run(*two_tiers(), queue(), *old, *more, conf=CONF)
    assert {name: place for name, place in places(ssn).items() if name.startswith("g-")} == {
        "g-0": "n2", "g-1": "n3", "g-2": "n2", "g-3": "n3"}  # fmt: skip


def test_jobs_with_a_topology_wait_for_a_tree_that_is_ready():
    broken = hyper_node("again", 2, "s0")
    ssn = run(*two_tiers(), broken, queue(), *gang("g", 2, SOFT), *gang("plain", 2), conf=CONF)
    assert set(places(ssn)) == {"plain-0", "plain-1"}
    assert not ssn.hyper_nodes_ready


def test_why_a_gang_waits_names_the_hyper_node():
    ssn = run(*two_tiers(), queue(), *gang("g", 9, HARD), conf=CONF)
    (condition,) = ssn.jobs["default/g"].pod_group.status.conditions
    assert "In hyperNode s1: 0/2 nodes are unavailable: 2 Insufficient cpu." in condition.message


class Notes(Observer):
    """Keeps what is told of HyperNodes, or (`watches_calls`) the decisions alone, made call by call."""

    def __init__(self, watches_calls=False):
        self.watches_calls, self.notes = watches_calls, []

    def note(self, kind, /, **facts):
        if kind.startswith("hyper_node"):
            self.notes.append((kind, facts["sub_job"], facts["hyper_node"], facts.get("fits")))


@pytest.mark.parametrize("watches_calls", [False, True])
def test_observers_hear_of_each_dry_run_and_of_the_choice(watches_calls):
    old = [group("old"), pod("old", "old", "n0", requests={"cpu": "1", "memory": "1Gi"})]
    notes = Notes(watches_calls)
    objects = [*two_tiers(), queue(), *old, *gang("g", 8, HARD)]
    Scheduler(Cache(objects), CONF).run_once(notes)
    assert notes.notes == [
        ("hyper_node_tried", "default/g", "s0", False),
        ("hyper_node_tried", "", "s0", False),
        ("hyper_node_tried", "default/g", "s1", True),
        ("hyper_node_chosen", "default/g", "s1", None),
        ("hyper_node_tried", "", "s1", True),
        ("hyper_node_chosen", "", "s1", None),
    ]


@pytest.mark.parametrize("size", [2, 3, 4])
def test_watching_each_call_changes_no_decision(size):
    objects = [*two_tiers(3, 2), queue(), *(each for i in range(4) for each in gang(f"g{i}", size + i % 2, HARD, cpu="1500m"))]
    plain, watched = (Scheduler(Cache(objects), CONF).run_once(observer) for observer in (None, Notes(True)))
    assert plain.committed == watched.committed
    assert plain.undone == watched.undone
    assert {uid: job.allocated_hyper_node for uid, job in plain.jobs.items()} == {
        uid: job.allocated_hyper_node for uid, job in watched.jobs.items()}  # fmt: skip
