"""The lab of placement without a browser, and the points that the lesson takes apart."""

import random

import pytest

from course.answers.lesson_08 import packing_score
from volcano_lab.course.kit.checking import checks_of
from volcano_lab.course.kit.verdict import WELL_DONE
from volcano_lab.course.lesson_08 import checks
from volcano_lab.course.lesson_08.lab import (
    RULES,
    node_rows,
    nodes_picture,
    placement_lab,
    points_picture,
)
from volcano_lab.course.lesson_08.scene import (
    FAULTS,
    POD,
    conf_with,
    faulty_cluster,
    placement_cluster,
    preference,
)
from volcano_lab.course.lesson_08.scores import look, score_parts
from volcano_lab.manifests.loader import ManifestError
from volcano_lab.scheduler import traced


@pytest.fixture
def lab():
    return placement_lab()


def chosen(lab):
    return [row["node"] for row in lab.facts.rows if row["chosen"]]


MOVES = [
    ("binpack is heard with weight 2", {"binpack": 2}, ["node-1"]),
    ("a refused node is not chosen for its points", {"cpu": 3, "binpack": 5}, ["node-2"]),
    ("a must that fits no zone waits", {"rule": "not beside web, by zone", "node_3": 4}, []),
    ("near means the same node", {"rule": "not beside web, by node"}, ["node-2"]),
    ("near means the same zone", {"rule": "not beside web, by zone"}, ["node-3"]),
    ("a weak wish is not heard", {"rule": "prefers disk: ssd, weight 1"}, ["node-2"]),
    ("a strong wish is", {"rule": "prefers disk: ssd, weight 50"}, ["node-3"]),
    ("a taint keeps it off", {"taint": True}, ["node-3"]),
    ("a toleration lets it on", {"taint": True, "rule": "tolerates the taint"}, ["node-2"]),
]


@pytest.mark.parametrize(("sentence", "move", "where"), MOVES, ids=[row[0] for row in MOVES])
def test_moves(lab, sentence, move, where):
    assert chosen(lab.set(**move)) == where
    assert bool(lab.facts.waits) == (not where)
    assert lab.said.count("Node of new") == (where != ["node-2"])


@pytest.mark.long
def test_every_position_shows_what_a_cycle_decides(lab):
    chance = random.Random(8)
    for _ in range(60):
        used = {f"node_{number}": chance.randint(0, 4) for number in (1, 2, 3)}
        cpu, weight, rule, taint = chance.randint(1, 5), chance.randint(0, 5), chance.choice(
            list(RULES)), chance.random() < 0.5
        lab.set(**used, cpu=cpu, binpack=weight, rule=rule, taint=taint)
        conf = conf_with("nodeorder", "binpack", binpack_weight=weight)
        cycle = placement_cluster(RULES[rule], cpu=cpu, taint=taint, **used).run(conf)
        assert chosen(lab) == [node for _, _, node in cycle.committed]
        rows = node_rows(lab.facts)
        compared = [row for row in rows if row["sum"] is not None]
        assert len(compared) != 1 and len(rows) == 3
        assert all(row["sum"] == row["nodeorder"] + row["binpack"] and not row["refused"]
                   for row in compared)
        if compared:
            assert chosen(lab)[0] == max(compared, key=lambda row: row["sum"])["node"]
        elif not chosen(lab):
            assert all(row["refused"] for row in rows)


ARGUMENTS = [{}, {"mostrequested_weight":
                  2}, {"leastrequested_weight": 0, "balancedresource_weight":
                       3}, {"nodeaffinity_weight": 5, "binpack_weight": 3, "binpack_cpu": 4},
             {"tainttoleration_weight": 0}]


@pytest.mark.long
@pytest.mark.parametrize("arguments", ARGUMENTS, ids=lambda given: ", ".join(given) or "none")
def test_the_parts_of_the_points_add_up_to_what_the_trace_has(arguments):
    for number, rules in enumerate((*RULES.values(), preference(7))):
        cluster = placement_cluster(rules, node_1=number % 4, taint=number % 2 == 0)
        scores = traced(cluster.objects(), conf_with("nodeorder", "binpack",
                                                     **arguments))[0].scores(POD)
        for node, parts in score_parts(cluster, "nodeorder", "binpack", **arguments).items():
            assert sum(parts.values()) == pytest.approx(sum(scores[node].values()), abs=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("node", FAULTS)
def test_each_faulty_node_refuses_alone_or_among_all(node):
    others = ("9-zone", "1-small")  # a zone is crowded only beside another one
    few = faulty_cluster(*dict.fromkeys((node, *others)))
    alone = {row["node"]: row["refused"] for row in look(few)}
    together = {row["node"]: row["refused"] for row in look(faulty_cluster())}
    assert alone[node] == together[node] != ""


def test_rules_that_cannot_be_read_are_a_sentence():
    for rules, words in (("nodeSelektor: {}", "did you mean nodeSelector"), ("a: [", "no YAML"),
                         ("- 1", "lines of a")):
        with pytest.raises(ManifestError, match=words):
            placement_cluster(rules)


def test_a_picture_has_the_refusals_as_text_for_screen_readers():
    alt = nodes_picture(placement_cluster(cpu=3, taint=True), "refused").alt
    assert "node-2: 1 pod runs, idle 3 of 4 CPUs (db-0), refused" in alt


@pytest.mark.parametrize("notes", [True, False])
def test_only_a_picture_about_one_pod_rings_it(notes):
    drawn = nodes_picture(placement_cluster(pods=4), "four", notes=notes).data["nodes"]
    assert [pod["name"] for node in drawn for pod in node["pods"] if pod["ring"]] == \
        ["new-0"] * notes


@pytest.mark.long
def test_parts_that_are_alike_on_all_nodes_are_left_out():
    picture = points_picture(placement_cluster(), "nodeorder", "binpack")
    assert picture.spec["parts"] == ["least requested", "balanced", "binpack"]
    assert "taints 300" in picture.legend
    best = max(sum(row["parts"]) for row in picture.data)
    assert [row["text"].endswith("chosen") for row in picture.data] == [False, True, False]
    assert all(row["limit"] == best for row in picture.data)


def test_a_click_on_a_node_is_answered(lab):
    def said(**about):
        lab.ask = {"n": lab.shown["n"] + 1, "why": about}
        return lab.shown["why"]

    assert "the highest score, 449" in said(node="node-3")
    lab.set(taint=True)
    assert "taint" in said(node="node-2", pod="db-0")


@pytest.mark.long
def test_tasks_are_done_by_what_they_show(lab):
    for number, task in enumerate(lab.tasks):
        lab.begin(number)
        assert not lab.done[task.name], "not done by beginning it"
        lab.set(**task.show)
        assert lab.done[task.name]


def test_the_solution_scores_as_binpack_does():
    cases = list(checks.cases())
    assert len(cases) > 50 and {checks._as_volcano(*case) > 0 for case in cases} == {True, False}
    assert any(name not in case[3] for case in cases for name in case[0])
    assert all(
        packing_score(*case) == pytest.approx(checks._as_volcano(*case)) for case in cases)


def test_binpacks_points_are_those_of_the_check():
    points = score_parts(placement_cluster(), "binpack", binpack_cpu=5)["node-3"]["binpack"]
    assert points == 65.625 and checks_of("08")["binpack_of_node_3"](points).state == WELL_DONE
