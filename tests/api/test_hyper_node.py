"""The tree of HyperNodes: members, order of arrival, changes, errors."""

import random

import pytest
from hyper_scene import hyper_node
from hypothesis import given, strategies as st
from small_cluster import node

from volcano_lab.api import go_pattern
from volcano_lab.api.go_pattern import compile_pattern
from volcano_lab.api.hyper_node import HyperNodeInfo, HyperNodeMap, member_nodes
from volcano_lab.api.objects import (
    ExactMatch,
    HyperNode,
    LabelSelector,
    MemberSelector,
    RegexMatch,
)
from volcano_lab.cache import Cache
from volcano_lab.cache.hyper_nodes import HyperNodes

NODES = {"gpu-1": {"rack": "a"}, "gpu-2": {"rack": "b"}, "cpu-1": {"rack": "a"}}


def tree_of(*objects: HyperNode, nodes: dict = NODES) -> HyperNodes:
    tree = HyperNodes()
    for name, labels in nodes.items():
        tree.set_node(name, labels)
    for each in objects:
        tree.add(each)
    return tree


@pytest.mark.parametrize(
    ("sentence", "members", "nodes"),
    [
        ("a node by its name", ["node:gpu-1"], {"gpu-1"}),
        ("a node that is not announced", ["node:new"], {"new"}),
        ("nodes whose name the pattern finds anywhere", ["regex:pu-1"], {"gpu-1", "cpu-1"}),
        ("nodes whose whole name matches", ["regex:^gpu-[[:digit:]]$"], {"gpu-1", "gpu-2"}),
        ("a pattern that Go refuses matches nothing", ["regex:gpu(?=-1)"], set()),
        ("nodes by label", ["label:rack=a"], {"gpu-1", "cpu-1"}),
        ("a selector without labels matches nothing", ["label:"], set()),
        ("and takes nothing from other members", ["label:", "node:gpu-2"], {"gpu-2"}),
        ("members add up", ["node:new", "label:rack=b"], {"new", "gpu-2"}),
    ],
)
def test_members(sentence, members, nodes):
    assert tree_of(hyper_node("s0", 1, *members)).snapshot().real_nodes_set["s0"] == nodes, sentence


@pytest.mark.parametrize("more", [{}, {"label_match": LabelSelector({"rack": "a"})}])
def test_an_empty_name_makes_its_member_match_nothing(more):
    assert member_nodes(MemberSelector(exact_match=ExactMatch(""), **more), NODES) == set()


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("^n[[:digit:]]+$", ["n1"]),
        (r"\Qa.b\E", ["a.b"]),
        ("[^$]", ["n1", "a.b", "a"]),
        (r"a\z", ["a"]),
        ("(?i)N1", ["n1"]),
        ("(?<x>n)1", ["n1"]),
        ("(?P<x>n)1", ["n1"]),
        (r"\d", ["n1"]),
    ],
)
def test_patterns_find_what_go_finds(pattern, found):
    assert [text for text in ("n1", "a.b", "a", "$")
            if compile_pattern(pattern).search(text)] == found


@pytest.mark.parametrize(
    "pattern", ["a(?=b)", "a(?!b)", "(?<=a)b", r"(a)\1", "x{2,1}", "(", "[[:nothing:]]", "(?>a)"])
def test_patterns_that_go_refuses(pattern):
    with pytest.raises(ValueError, match="is no regular expression of Go"):
        compile_pattern(pattern)


LEAVES = [hyper_node("s0", 1, "node:gpu-1"), hyper_node("s1", 1, "node:gpu-2")]
TREE = [*LEAVES, hyper_node("s2", 2, "s0", "s1"), hyper_node("top", 3, "s2")]


@pytest.mark.parametrize("seed", range(24))
def test_any_order_of_arrival_builds_the_same_tree(seed):
    objects = TREE.copy()
    random.Random(seed).shuffle(objects)
    view = tree_of(*objects).snapshot()
    assert view.ready
    assert view.real_nodes_set == {
        "s0": {"gpu-1"}, "s1": {"gpu-2"}, "s2": {"gpu-1", "gpu-2"}, "top": {"gpu-1", "gpu-2"}
    }
    assert {name: info.parent for name, info in view.hyper_nodes.items()} == {
        "s0": "s2", "s1": "s2", "s2": "top", "top": ""
    }
    assert view.set_by_tier == {1: {"s0", "s1"}, 2: {"s2"}, 3: {"top"}}
    assert view.hyper_nodes.ancestors("s1") == ["s1", "s2", "top"]


@st.composite
def histories(draw):
    """Forests one after the other, the last one last, each with its nodes and their labels; from
    one to the next HyperNodes and nodes move, come and go.
    """
    forests = []
    for _ in range(draw(st.integers(1, 3))):
        leaves = [f"s{i}" for i in range(draw(st.integers(1, 4)))]
        spines = {f"t{i}": [] for i in range(draw(st.integers(0, 3)))}
        for leaf in leaves:
            if spines and draw(st.booleans()):
                spines[draw(st.sampled_from(sorted(spines)))].append(leaf)
        forest = [
            hyper_node(leaf, 1, f"node:n{draw(st.integers(0, 3))}",
                       f"{draw(st.sampled_from(['regex:x0', 'regex:x1', 'label:rack=a']))}")
            for leaf in leaves
        ]
        forest += [hyper_node(spine, 2, *below) for spine, below in spines.items()]
        nodes = {name: {"rack": rack} for name in ("n1", "x0", "x1")
                 if (rack := draw(st.sampled_from(["a", "b", ""])))}
        forests.append((draw(st.permutations(forest)), nodes))
    return forests


@pytest.mark.long
@given(histories())
def test_the_past_leaves_no_trace(forests):
    tree, known, nodes = tree_of(nodes={}), set(), {}
    for forest, then in forests:
        names = {each.name for each in forest}
        for gone in nodes.keys() - then.keys():
            tree.delete_node(gone)
        for name, labels in then.items():
            tree.set_node(name, labels)
        for gone in sorted(known - names):
            tree.delete(hyper_node(gone, 1))
        for each in forest:
            tree.add(each)
        known, nodes = names, then
    view, fresh = tree.snapshot(), tree_of(*forest, nodes=nodes).snapshot()
    assert view.ready and fresh.ready
    assert {k: v
            for k, v in view.real_nodes_set.items()
            if v} == {k: v for k, v in fresh.real_nodes_set.items() if v}
    assert view.set_by_tier == fresh.set_by_tier
    for each in forest:
        assert view.hyper_nodes.ancestors(each.name) == fresh.hyper_nodes.ancestors(each.name)


def test_a_hyper_node_below_two_others():
    tree = tree_of(*LEAVES, hyper_node("s2", 2, "s0"), hyper_node("s3", 2, "s0", "s1"))
    assert not tree.snapshot().ready
    assert list(
        tree.failed.values()) == ['HyperNode "s0" is a member of "s3", but already of "s2".']
    tree.add(hyper_node("s2", 2))
    view = tree.snapshot()
    assert view.ready and not tree.failed
    assert view.real_nodes_set["s3"] == {"gpu-1", "gpu-2"}


@pytest.mark.parametrize(("members", "nodes"), [
    (["s1"], {"gpu-2"}), (["s1", "s4"], {"gpu-2", "cpu-1"}), ([], None), (["unknown"], set())])
def test_the_hyper_node_at_fault_is_built_once_its_members_are_right(members, nodes):
    tree = tree_of(*LEAVES, hyper_node("s2", 2, "s0"), hyper_node("s3", 2, "s0", "s1"),
                   hyper_node("s4", 1, "node:cpu-1"), hyper_node("top", 3, "s2", "s3"))
    assert not tree.snapshot().ready and [*tree.failed] == ["s3"]
    tree.add(hyper_node("s3", 2, *members))
    view = tree.snapshot()
    assert view.ready and not tree.failed
    assert view.real_nodes_set.get("s3") == nodes
    assert view.real_nodes_set["top"] == {"gpu-1", *(nodes or ())}
    assert view.hyper_nodes["s3"].children == set(members)
    assert all(view.hyper_nodes[each].parent == "s3" for each in members)


@pytest.mark.parametrize(("change", "children"), [
    (["s1"], {"s1"}), (["s0"], {"s0"}), ([], set()), (["s0", "s1", "s4"], {"s0", "s1", "s4"}),
    (None, None)])
def test_a_member_that_is_taken_out_has_no_parent_and_may_be_anothers(change, children):
    tree = tree_of(*TREE, hyper_node("s4", 1, "node:cpu-1"))
    if change is None:
        tree.delete(hyper_node("s2", 2))
    else:
        tree.add(hyper_node("s2", 2, *change))
    infos = tree.snapshot().hyper_nodes
    assert infos["s2"].children == children if change is not None else "s2" not in infos
    free = {"s0", "s1", "s4"} - (children or set())
    assert {name for name in ("s0", "s1", "s4") if not infos[name].parent} == free
    tree.add(hyper_node("s5", 2, *sorted(free)))
    view = tree.snapshot()
    assert view.ready and view.hyper_nodes["s5"].children == free


@pytest.mark.parametrize(("members", "found"), [
    (["regex:^new"], True), (["regex:^old", "regex:^new"], True), (["label:rack=z"], True),
    (["label:rack=y", "label:rack=z"], True), (["regex:^old"], False), (["label:"], False),
    (["s0", "regex:^new"], False)])
def test_a_new_node_is_a_members_at_once_only_without_members_that_are_hyper_nodes(members, found):
    """As in Volcano; another event of the HyperNode finds it."""
    tree = tree_of(LEAVES[0], hyper_node("s9", 2, *members))
    assert "new-1" not in tree.snapshot().real_nodes_set["s9"]
    tree.set_node("new-1", {"rack": "z"})
    assert ("new-1" in tree.snapshot().real_nodes_set["s9"]) is found
    tree.add(hyper_node("s9", 2, *members))
    assert ("new-1" in tree.snapshot().real_nodes_set["s9"]) is (
        members not in (["regex:^old"], ["label:"]))


def test_a_hyper_node_below_itself():
    tree = tree_of(hyper_node("s0", 1, "s1"), hyper_node("s1", 2, "s0"))
    assert not tree.snapshot().ready
    assert set(tree.failed.values()) == {'HyperNode "s1" is below itself: s1 > s0 > s1.'}
    tree.add(hyper_node("s0", 1, "node:n1"))
    assert tree.snapshot().real_nodes_set["s1"] == {"n1"}


def test_one_snapshot_ends_failures_that_wait_for_each_other():
    tree = tree_of(hyper_node("s1", 2, "s0"), hyper_node("top", 3, "s1", "s0"),
                   hyper_node("s0", 1, "node:n1"))
    tree.delete(hyper_node("s1", 2))
    assert [*tree.failed] == ["top", "s0", "s1"]
    assert {*tree.failed.values()} == {'HyperNode "s0" is a member of "top", but already of "s1".'}
    view = tree.snapshot()
    assert view.ready and not tree.failed and view.real_nodes_set["top"] == {"n1"}


def test_a_hyper_node_at_fault_whose_new_member_is_above_it():
    tree = tree_of(hyper_node("s2", 2, "s0", "s1"), hyper_node("s1", 2, "s0"),
                   hyper_node("s1", 2, "s2"))
    assert not tree.snapshot().ready
    assert set(tree.failed.values()) == {'HyperNode "s1" is below itself: s1 > s2 > s1.'}
    tree.add(hyper_node("s1", 1, "node:n1"))
    view = tree.snapshot()
    assert view.ready and view.real_nodes_set["s2"] == {"n1"}


def test_the_snapshot_reports_left_out_objects():
    cache = Cache([
        node("n0"),
        hyper_node("s0", 1, "node:n0"),
        hyper_node("a", 2, "s0"),
        hyper_node("b", 2, "s0")
    ])
    assert cache.snapshot().left_out == ['HyperNode "s0" is a member of "b", but already of "a".']


def test_nodes_added_later_match_by_pattern_and_label():
    tree = tree_of(hyper_node("s0", 1, "regex:^gpu"), hyper_node("s1", 1, "label:rack=b"),
                   hyper_node("top", 2, "s0", "s1"), nodes={})
    assert tree.snapshot().real_nodes_set["top"] == set()
    tree.set_node("gpu-9", {"rack": "b"})
    assert tree.snapshot().real_nodes_set == {"s0": {"gpu-9"}, "s1": {"gpu-9"}, "top": {"gpu-9"}}
    tree.set_node("gpu-8", {"rack": "c"})
    assert tree.snapshot().real_nodes_set["s1"] == {"gpu-9"}
    tree.set_node("gpu-8", {"rack": "b"})
    tree.set_node("cpu-9", {"rack": "c"})
    assert tree.snapshot().real_nodes_set["s1"] == {"gpu-8", "gpu-9"}
    tree.set_node("gpu-9", {"rack": "a"})
    view = tree.snapshot()
    assert view.real_nodes_set["s0"] == {"gpu-8", "gpu-9"}
    assert view.real_nodes_set["s1"] == {"gpu-8", "gpu-9"}, "as in Volcano: nothing has rebuilt s1"
    tree.delete_node("gpu-9")
    assert tree.snapshot().real_nodes_set["s0"] == {"gpu-8"}


@pytest.mark.long
def test_a_pattern_that_go_refuses_takes_the_exact_name_beside_it_along():
    named = MemberSelector(ExactMatch("gpu-1"), RegexMatch("gpu(?=-1)"))
    assert member_nodes(named, {"gpu-1": {}}) == set()
    assert member_nodes(named.evolve(regex_match=None), {"gpu-1": {}}) == {"gpu-1"}


def test_a_pattern_that_exceeds_its_time_limit_matches_no_node(monkeypatch, caplog):
    monkeypatch.setattr(go_pattern, "SECONDS", 0.05)
    nodes = {"a": {}, "a" * 63 + "-1": {}, "gpu-1": {}}
    tree = tree_of(hyper_node("s0", 1, "regex:^(a|aa)+$"), hyper_node("s1", 1, "regex:^gpu"),
                   nodes=nodes)
    assert tree.snapshot().real_nodes_set == {"s0": set(), "s1": {"gpu-1"}}
    assert 'more than 0.05 s to match "aaa' in caplog.text
    assert "as regexMatch.pattern of a HyperNode it matches no node" in caplog.text


def test_a_deleted_hyper_node_removes_its_nodes_from_those_above():
    tree = tree_of(*TREE)
    tree.delete(hyper_node("s0", 1))
    view = tree.snapshot()
    assert view.real_nodes_set["top"] == {"gpu-2"}
    assert "s0" not in view.hyper_nodes
    assert view.set_by_tier[1] == {"s1"}


@pytest.mark.parametrize(
    ("left", "right", "common"),
    [("s0", "s1", "s2"), ("s0", "s0", "s0"), ("s0", "s2", "s2"), ("top", "s1", "top"),
     ("", "s1", "s1"), ("s1", "", "s1"), ("", "", ""), ("s0", "elsewhere", ""),
     ("unknown", "unknown", "unknown")],
)
def test_lowest_common_ancestor(left, right, common):
    hyper_nodes = tree_of(*TREE, hyper_node("elsewhere", 1)).snapshot().hyper_nodes
    assert hyper_nodes.lowest_common_ancestor(left, right) == common


def test_members_define_the_parent_before_the_tree_does():
    infos = HyperNodeMap((each.name, HyperNodeInfo.of(each)) for each in TREE)
    assert infos.ancestors("s0") == ["s0", "s2", "top"]


@pytest.mark.parametrize(("others", "parent"), [
    ([("b", 2, "s0"), ("a", 3, "s0")], "a"), ([("a", 2, "s1"), ("b", 2, "s0")], "b"),
    ([("a", 1, "s0")], ""), ([("a", 1, "s0"), ("b", 2, "s0")], "b"), ([("a", 2, "node:s0")], "")])
def test_the_parent_is_the_first_by_name_of_a_higher_tier_with_it_as_a_member(others, parent):
    each = [hyper_node("s0", 1, "node:gpu-1"), *(hyper_node(*other) for other in others)]
    infos = HyperNodeMap((one.name, HyperNodeInfo.of(one)) for one in each)
    assert infos.parent("s0") == parent
    infos.freeze()
    infos["s0"].parent = "changed later"
    assert infos.parent("s0") == parent


def test_tiers_by_name_where_hyper_nodes_disagree():
    tree = tree_of(hyper_node("b", 2, tier_name="rack"), hyper_node("a", 1, tier_name="rack"),
                   hyper_node("c", 3))
    assert tree.snapshot().hyper_nodes.tier_by_name() == {"rack": 2}


def test_an_updated_hyper_node_has_its_new_tier_and_the_name_of_it():
    tree = tree_of(hyper_node("a", 1, tier_name="rack"))
    tree.add(hyper_node("a", 2, tier_name="row"))
    view = tree.snapshot()
    assert view.hyper_nodes.tier_by_name() == {"row": 2} and view.set_by_tier == {2: {"a"}}


def test_a_view_does_not_change_with_the_tree():
    tree = tree_of(*TREE)
    view = tree.snapshot()
    tree.delete(hyper_node("s0", 1))
    assert view.real_nodes_set["top"] == {"gpu-1", "gpu-2"}
    assert view.hyper_nodes["s2"].children == {"s0", "s1"}


def test_a_hyper_node_that_only_its_parent_names_is_in_no_tier():
    assert HyperNodeInfo.named("leaf").tier == HyperNode().spec.tier == 0
