"""nodegroup: the nodes allowed for a queue's pods and their scores, by sentences."""

import pytest
from small_cluster import conf, group, node, open_session, pod, queue, run, task

from volcano_lab.framework.placement.arrays import node_arrays

NO_GROUP, NO_AFFINITY = "node group label not found", "node group affinity not specified"
UNSATISFIED = "node does not satisfy the node group affinity"


def affinity(**wants):
    """`required`, `preferred`, `anti_required`, `anti_preferred`: names of groups."""

    def term(prefix):
        return {f"{kind}DuringSchedulingIgnoredDuringExecution": wants[prefix + kind].split()
                for kind in ("required", "preferred") if prefix + kind in wants}

    return {"affinity": {"nodeGroupAffinity": term(""), "nodeGroupAntiAffinity": term("anti_")}}


def member(name, node_group=None):
    return node(name,
                labels={} if node_group is None else {"volcano.sh/nodegroup-name": node_group})


@pytest.mark.parametrize(
    ("sentence", "wants", "node_group", "strict", "reason", "score"),
    [
        ("required", affinity(required="g"), "g", True, None, 100.0),
        ("preferred", affinity(preferred="g"), "g", True, None, 50.0),
        ("both", affinity(required="g", preferred="g"), "g", True, None, 150.0),
        ("another group than the required one", affinity(required="g"), "h", True, UNSATISFIED,
         0.0),
        ("another than the preferred one is not allowed either", affinity(preferred="g"), "h", True,
         UNSATISFIED, 0.0),
        ("excluded", affinity(anti_required="g"), "g", True, UNSATISFIED, 0.0),
        ("not the excluded one, but not named", affinity(anti_required="g"), "h", True, UNSATISFIED,
         0.0),
        ("disliked is allowed, as the worst", affinity(anti_preferred="g"), "g", True, None, -1.0),
        ("excluded goes before required, which still scores",
         affinity(required="g", anti_required="g"), "g", True, UNSATISFIED, 100.0),
        ("disliked goes before excluded", affinity(anti_required="g",
                                                   anti_preferred="g"), "g", True, None, -1.0),
        ("no affinity, a node with a group", {}, "g", True, NO_AFFINITY, 0.0),
        ("no affinity, a node with a group, not strict", {}, "g", False, NO_AFFINITY, 0.0),
        ("an affinity without terms is none", affinity(), "g", True, NO_AFFINITY, 0.0),
        ("no affinity, no group", {}, None, True, NO_GROUP, 0.0),
        ("no affinity, no group, not strict", {}, None, False, None, 0.0),
        ("an affinity, no group, not strict", affinity(required="g"), None, False, NO_GROUP, 0.0),
        ("a group without a name is a group", affinity(required="g"), "", False, UNSATISFIED, 0.0),
    ],
)
def test_one_node(sentence, wants, node_group, strict, reason, score):
    plugin = f"{{name: nodegroup, arguments: {{strict: {str(strict).lower()}}}}}"
    ssn = open_session(queue("q", **wants), member("n1", node_group), group("a", "q"),
                       pod("a-0", "a"), plugins=plugin)
    asked = task(ssn, "a-0")
    error = ssn.predicate_for_allocate(asked, ssn.nodes["n1"])
    assert (error and error.reasons) == (reason and [reason]), sentence
    assert ssn.node_order(asked, ssn.nodes["n1"]) == score, sentence


TREE = (queue("root"), queue("top", **affinity(required="g")), queue("middle", parent="top"),
        queue("leaf", parent="middle"), queue("own", parent="top", **affinity(required="h")),
        queue("empty", parent="top", **affinity()), queue(
            "lost", parent="nowhere"), queue("round", parent="about"), queue(
                "about", parent="round"))


@pytest.mark.parametrize(
    ("sentence", "name", "score"),
    [
        ("its own", "top", 100.0),
        ("its parent's", "middle", 100.0),
        ("its grandparent's", "leaf", 100.0),
        ("its own, not its parent's", "own", 0.0),
        ("an empty one of its own, not its parent's", "empty", 0.0),
        ("a parent that doesn't exist has none", "lost", 0.0),
        ("in a circle there is none", "round", 0.0),
    ],
)
def test_affinity_from_above(sentence, name, score):
    objects = (*TREE, member("n1", "g"), group("a", name), pod("a-0", "a"))
    ssn = open_session(*objects, plugins="{name: nodegroup, enableHierarchy: true}")
    assert ssn.node_order(task(ssn, "a-0"), ssn.nodes["n1"]) == score, sentence
    flat = open_session(*objects, plugins="nodegroup")
    assert flat.node_order(task(flat, "a-0"), flat.nodes["n1"]) == (100.0 if name == "top" else 0.0)


@pytest.mark.parametrize("parent", ["", "root", "middle"])
def test_the_affinity_of_the_root_is_that_of_queues_without_a_nearer_one(parent):
    objects = (queue("root", **affinity(required="g")), queue("middle"), queue("q", parent=parent))
    ssn = open_session(*objects, member("n1", "g"), group("a", "q"), pod("a-0", "a"),
                       plugins="{name: nodegroup, enableHierarchy: true}")
    assert ssn.node_order(task(ssn, "a-0"), ssn.nodes["n1"]) == 100.0


def test_all_nodes_at_once_are_as_one_by_one():
    objects = [member(f"n{i}", g) for i, g in enumerate(("g", "h", "i", None))]
    ssn = open_session(queue("q", **affinity(preferred="g", anti_preferred="i")), *objects,
                       group("a", "q"), pod("a-0", "a"), plugins="nodegroup")
    plugin, asked, arrays = ssn.plugins["nodegroup"], task(ssn, "a-0"), node_arrays(ssn)
    assert arrays.predicates[0](asked).tolist() == [
        plugin.predicate(asked, n) is None for n in ssn.node_list
    ]
    assert arrays.orders[0](asked).tolist() == [
        plugin.node_order(asked, n) for n in ssn.node_list
    ] == [50, 0, -1, 0]


def test_the_reasons_reach_the_user():
    ssn = run(queue("q", **affinity(required="g")), member("n1", "h"), member("n2"), group(
        "a", "q"), pod("a-0", "a"), conf=conf("gang", "nodegroup"))
    assert str(ssn.jobs["default/a"].nodes_fit_errors["uid-a-0"]) == (
        f"0/2 nodes are unavailable: 1 {UNSATISFIED}, 1 {NO_GROUP}.")
