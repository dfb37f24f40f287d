"""The session's HyperNodes, the network-topology-aware plugin, and allocate's dry runs."""

import pytest
from hyper_scene import gang, hyper_node, two_tiers
from hypothesis import given, settings, strategies as st
from small_cluster import conf, group, node, open_session, pod, queue, run

from volcano_lab.api.hyper_node import HyperNodeInfo, HyperNodeMap
from volcano_lab.cache import Cache
from volcano_lab.framework.observer import Observer
from volcano_lab.framework.topology import CLUSTER_TOP
from volcano_lab.manifests import loader as manifests
from volcano_lab.plugins.network_topology_aware.gradients import NoSearchRoot, gradients
from volcano_lab.scheduler import Scheduler

NAME = "network-topology-aware"
CONF = conf("gang", "proportion", "predicates", "nodeorder",
            f"{{name: {NAME}, arguments: {{weight: 10}}}}")
HARD = {"mode": "hard", "highestTierAllowed": 1}
SOFT = {"mode": "soft"}


def places(ssn):
    """Pod -> node, of pods that have one."""
    return {
        t.name: t.node_name for job in ssn.jobs.values() for t in job.tasks.values() if t.node_name
    }


# -- the session
# ---------------------------------------------------------------------------------------


def test_without_hyper_nodes_the_top_holds_all_in_tier_1():
    ssn = open_session(node("b"), node("a"), plugins=NAME)
    assert list(ssn.topology.hyper_nodes) == [CLUSTER_TOP]
    assert ssn.topology.tiers == [1]
    assert [each.name for each in ssn.topology.nodes[CLUSTER_TOP]] == ["b", "a"]


def test_the_top_is_above_the_highest_tier_and_holds_nodes_outside():
    ssn = open_session(*two_tiers(), node("outside"), plugins=NAME)
    assert ssn.topology.tiers == [1, 2, 3]
    assert ssn.topology.hyper_nodes[CLUSTER_TOP].children == {"top"}
    assert ssn.topology.hyper_nodes.ancestors("s1") == ["s1", "top", CLUSTER_TOP]
    assert "outside" in ssn.topology.node_names[CLUSTER_TOP]
    assert [each.name for each in ssn.topology.nodes["top"]] == ["n0", "n1", "n2", "n3"]


@pytest.mark.parametrize(
    ("sentence", "nodes", "topology", "allocated", "found"),
    [
        ("nothing stands anywhere", [], SOFT, "", ""),
        ("one leaf holds all", ["n0", "n1"], SOFT, "", "s0"),
        ("two leaves are held by the top", ["n0", "n2"], SOFT, "", "top"),
        ("a node outside leaves the virtual top", ["n0", "outside"], SOFT, "", CLUSTER_TOP),
        ("what is known stays", ["n0"], SOFT, "top", "top"),
        ("a HyperNode that is gone is found again", ["n0"], SOFT, "gone", "s0"),
        ("without tasks in place it is forgotten", [], SOFT, "s0", ""),
        ("without a topology none is sought", ["n0"], None, "", ""),
        ("without a topology what is known stays", ["n0"], None, "s1", "s1"),
    ],
)
def test_where_a_job_is_placed(sentence, nodes, topology, allocated, found):
    cache = Cache([*two_tiers(), node("outside"), queue(), *gang("g", 3, topology, nodes)])
    job = cache.jobs["default/g"]
    job.allocated_hyper_node = job.sub_jobs["default/g"].allocated_hyper_node = allocated
    ssn = Scheduler(cache, conf(NAME, actions="backfill")).run_once()
    assert ssn.jobs["default/g"].allocated_hyper_node == found, sentence
    assert ssn.jobs["default/g"].sub_jobs["default/g"].allocated_hyper_node == found, sentence
    assert cache.jobs[
        "default/g"].allocated_hyper_node == found, f"{sentence}, and the cache learns of it"


# -- gradients
# -----------------------------------------------------------------------------------------

TREE = {
    "s0": (1, "m0"), "s1": (1, "m0"), "s2": (1, "m1"), "m0": (2, "top"), "m1": (2, "top"), "top":
    (3, "")
}


def tree():
    infos = HyperNodeMap(
        {name: HyperNodeInfo.named(name, tier) for name, (tier, _) in TREE.items()})
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
        ("full HyperNodes are left out", "top", 2, "", "s0 m1", [["s1", "s2"], ["m0"]]),
        ("only below the one at hand", "m1", 3, "", "", [["s2"], ["m1"]]),
        ("around what is allocated, full or not", "top", 2, "s0", "s0 s1 m0", [["s0", "s1"], ["m0"]
                                                                               ]),
        ("the one at hand is smaller than what is allowed", "s1", 2, "s0", "", [["s1"]]),
    ],
)
def test_gradients(sentence, within, highest, allocated, full, found):
    infos = tree()
    result = gradients(infos, infos[within], highest, allocated,
                       lambda name: name not in full.split())
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


# -- allocate
# --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "size", "topology", "leaves"),
    [
        ("a hard gang is in one leaf", 4, HARD, {"s0"}),
        ("a hard gang that no leaf holds waits", 9, HARD, set()),
        ("a higher tier is allowed", 9, {"mode": "hard", "highestTierAllowed": 2}, {"s0", "s1"}),
        ("the tier by name", 4, {"mode": "hard", "highestTierName": "leaf"}, {"s0"}),
        ("the tier by name, and no leaf holds it", 9, {"mode": "hard", "highestTierName": "leaf"
                                                       }, set()),
        ("a name that no tier has binds nothing", 9, {"mode": "hard", "highestTierName": "nowhere"
                                                      }, {"s0", "s1"}),
        ("a soft gang is together where it can be", 8, SOFT, {"s0"}),
        ("a soft gang spreads where it must", 9, SOFT, {"s0", "s1"}),
    ],
)
def test_gangs_and_tiers(sentence, size, topology, leaves):
    ssn = run(*two_tiers(), queue(), *gang("g", size, topology), conf=CONF)
    around = {ssn.topology.lowest[name] for name in places(ssn).values()}
    assert around == leaves, sentence
    assert len(places(ssn)) == (size if leaves else 0), sentence


def test_a_hard_gang_prefers_the_fuller_leaf_and_the_job_records_it():
    old = [group("old"), pod("old", "old", "n3")]
    cache = Cache([*two_tiers(), queue(), *old, *gang("g", 4, HARD)])
    ssn = Scheduler(cache, CONF).run_once()
    assert set(places(ssn).values()) <= {"n2", "n3"}
    assert ssn.jobs["default/g"].allocated_hyper_node == cache.jobs[
        "default/g"].allocated_hyper_node == "s1"


@pytest.mark.parametrize(("size", "hyper_node"), [(8, "s0"), (9, "top")])
def test_a_soft_gang_records_the_hyper_node_that_holds_it(size, hyper_node):
    ssn = run(*two_tiers(), queue(), *gang("g", size, SOFT), conf=CONF)
    (sub_job,) = ssn.jobs["default/g"].sub_jobs.values()
    assert sub_job.allocated_hyper_node == hyper_node


def test_a_gang_that_grows_stays_where_it_is():
    """s0 is fuller; yet the gang is in s1, and only two more of its pods fit there."""
    old = [group("old"), pod("old", "old", "n0", requests={"cpu": "3", "memory": "1Gi"})]
    more = gang("g", 5, HARD, ["n2", "n3"], cpu="2")
    more[0].spec.min_member = 2
    ssn = run(*two_tiers(), queue(), *old, *more, conf=CONF)
    assert {name: place for name, place in places(ssn).items() if name.startswith("g-")} == {
        "g-0": "n2", "g-1": "n3", "g-2": "n2", "g-3": "n3"}


def test_jobs_with_a_topology_wait_for_a_tree_that_is_ready():
    broken = hyper_node("again", 2, "s0")
    ssn = run(*two_tiers(), broken, queue(), *gang("g", 2, SOFT), *gang("plain", 2), conf=CONF)
    assert set(places(ssn)) == {"plain-0", "plain-1"}
    assert not ssn.topology.ready


def test_a_member_that_names_no_hyper_node_brings_no_nodes():
    pattern = {"type": "HyperNode", "selector": {"regexMatch": {"pattern": "s.*"}}}
    nameless = {"type": "HyperNode", "selector": {"exactMatch": {"name": ""}}}
    top = manifests.from_dict({
        "apiVersion": "topology.volcano.sh/v1alpha1", "kind": "HyperNode",
        "metadata": {"name": "above"}, "spec": {"tier": 3, "members": [pattern, nameless]}})
    ssn = open_session(*two_tiers(), top, plugins=NAME)
    assert not ssn.topology.node_names.get("above")
    assert ssn.topology.hyper_nodes.ancestors("top") == ["top", CLUSTER_TOP]


def test_why_a_gang_waits_names_the_hyper_node():
    ssn = run(*two_tiers(), queue(), *gang("g", 9, HARD), conf=CONF)
    (condition,) = ssn.jobs["default/g"].pod_group.status.conditions
    assert "In hyperNode s1: 0/2 nodes are unavailable: 2 Insufficient cpu." in condition.message


class Notes(Observer):
    """Keeps the records of HyperNodes, or (`watches_calls`) the decisions alone, call by
    call.
    """

    def __init__(self, watches_calls=False):
        self.watches_calls, self.notes = watches_calls, []

    def note(self, kind, /, **facts):
        if kind.startswith("hyper_node"):
            self.notes.append((kind, facts["sub_job"], facts["hyper_node"], facts.get("fits")))


@pytest.mark.parametrize("watches_calls", [False, True])
def test_observers_receive_each_dry_run_and_the_choice(watches_calls):
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


@pytest.mark.long
@settings(max_examples=40)
@given(st.data())
def test_all_ways_decide_the_same(data):
    """Over arrays, node by node, and with an observer of each call."""
    leaves, width = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    objects = [*two_tiers(leaves, width), node("outside"), queue()]
    names = [each.name for each in objects if each.kind == "Node"]
    cpus = st.sampled_from(["500m", "1", "1500m", "3"])
    for number, place in enumerate(data.draw(st.lists(st.sampled_from(names), max_size=3))):
        objects += gang(f"old{number}", 1, None, [place], cpu=data.draw(cpus))
    for number in range(data.draw(st.integers(1, 4))):
        topology = data.draw(
            st.sampled_from([None, SOFT, HARD, {"mode": "hard", "highestTierAllowed": 2}]))
        objects += gang(f"g{number}", data.draw(st.integers(1, 5)), topology, cpu=data.draw(cpus))
    ways = [(None, True), (None, False), (Notes(True), True)]
    decided = [
        _decisions(Scheduler(Cache(objects), CONF).run_once(observer, arrays))
        for observer, arrays in ways
    ]
    assert decided[0] == decided[1] == decided[2]


def _decisions(ssn):
    jobs = ssn.jobs.values()
    return (ssn.committed, ssn.undone, [job.allocated_hyper_node for job in jobs],
            [[(c.reason, c.message) for c in job.pod_group.status.conditions] for job in jobs])
