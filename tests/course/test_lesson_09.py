"""The lab of preempt and reclaim without a browser, and the pictures of votes."""

import random

import pytest

from volcano_lab.course.lesson_09.lab import CONTROLS, ORDERS, evictions_lab
from volcano_lab.course.lesson_09.scene import (
    COLORS,
    conf_with,
    eviction_cluster,
    nodes_picture,
    votes_picture,
)
from volcano_lab.trace.palette import colors_of


@pytest.fixture(scope="module")
def lab():
    return evictions_lab()


MOVES = [
    ("preempt takes pods of the same queue", {}, ["old-1", "old-0"], "commit"),
    ("reclaim takes those of the other", {"actions": "reclaim"}, ["greedy-2", "greedy-1"],
     "commit"),
    ("no action evicts by default", {"actions": "no eviction"}, [], "not tried"),
    ("a queue that is not reclaimable gives nothing",
     {"actions": "reclaim", "reclaimable": False}, [], "not tried"),
    ("nor do pods that are not preemptable",
     {"actions": "reclaim", "preemptable": False}, [], "not tried"),
    ("a gang can spare what is above its minimum",
     {"actions": "reclaim", "one_tier": True, "greedy_minimum": 7}, ["greedy-1", "greedy-0"],
     "commit"),
    ("one is not enough for two", {"actions": "reclaim", "one_tier": True, "greedy_minimum": 8},
     [], "discard"),
]


@pytest.mark.parametrize(("sentence", "move", "gone", "end"), MOVES, ids=[row[0] for row in MOVES])
def test_moves(lab, sentence, move, gone, end):
    lab.reset().set(**move)
    assert (lab.facts.evicted, lab.facts.end) == (gone, end)
    assert not move or (gone == ["old-1", "old-0"]) == ("Evicted:" not in lab.said)


def test_the_nodes_show_which_pods_leave_and_what_is_pipelined(lab):
    states = {pod["name"]: pod["state"] for node in lab.reset().board["nodes"]["nodes"]
              for pod in node["pods"]}
    assert [name for name, state in states.items() if state == "leaving"] == ["old-0", "old-1"]
    assert [name for name, state in states.items() if state == "promised"] == [
        "urgent-0", "urgent-1"]


WORDS = {"#0072B2": "Blue", "#E69F00": "Orange", "#56B4E9": "Light blue, dashed"}


def test_the_legend_of_the_nodes_names_the_colours_that_are_drawn():
    picture = nodes_picture(eviction_cluster().run(conf_with("preempt")))
    drawn = {pod["name"].rpartition("-")[0]: pod["color"]
             for node in picture.data["nodes"] for pod in node["pods"]}
    for job, color in drawn.items():
        assert f"{WORDS[color]}: {job}" in picture.legend
    queues = colors_of("ab")
    assert (COLORS["old"], COLORS["greedy"]) == (queues["a"], queues["b"]), "as in the bars"


def test_where_no_plugin_is_asked_the_reason_is_shown(lab):
    lab.reset().set(actions="reclaim", reclaimable=False)
    assert lab.board["votes"]["verdict"].startswith("reclaim takes nothing from queue b")
    assert "not tried (was commit): reclaim has no candidate" in lab.said


@pytest.mark.long
def test_any_choice_is_shown(lab):
    chance = random.Random(9)
    for _ in range(25):
        lab.set(actions=chance.choice(list(ORDERS)), one_tier=chance.random() < 0.5,
                **{name: chance.choice(control.choices()) for name, control in CONTROLS.items()
                   if name not in ("actions", "one_tier")})
        at, drawn = lab.facts, lab.board["votes"]
        committed = at.cluster.run(at.conf).committed
        assert at.evicted == [pod.removeprefix("default/") for operation, pod, _ in committed
                              if operation == "evict"]
        assert len(drawn["rows"]) <= 3
        if at.evicted:
            assert sum(tier["decides"] for tier in drawn["tiers"]) == 1
            assert any(row["left"] for row in drawn["rows"])


@pytest.mark.long
def test_tasks_are_done_by_what_they_show():
    lab = evictions_lab()
    for number, task in enumerate(lab.tasks):
        lab.begin(number)
        assert not lab.done[task.name], "not done by beginning it"
        lab.set(**task.show)
        assert lab.done[task.name]


def test_a_tier_that_was_not_asked_has_its_columns():
    picture = votes_picture(eviction_cluster(), conf_with("preempt"), "who may go")
    first, second = picture.data["tiers"]
    assert (first["decides"], second["note"], second["plugins"]) == (True, "not asked", ["drf"])
    assert "old-2: priority names it, gang keeps it, conformance names it" in picture.alt


@pytest.mark.long
def test_who_stays_because_the_gang_is_discarded_has_not_to_go():
    lab = evictions_lab().set(old_minimum=2)
    assert (lab.facts.end, lab.facts.evicted) == ("discard", [])
    assert lab.facts.votes["verdict"].startswith("Not evicted: old-0, named by tier 1")
    assert "drf keeps too many" in lab.said, "queue b has nothing to do with preempt"
    alt = votes_picture(eviction_cluster(), conf_with("preempt"), "Who may go?").alt
    assert alt.startswith("Who may go? Evicted: old-1, named by tier 1. old-0: priority")


@pytest.mark.long
def test_who_pays_is_done_only_where_old_does():
    lab = evictions_lab().begin("who pays")
    lab.set(actions="preempt, reclaim", urgent_pods=2, greedy_minimum=1, one_tier=True)
    assert lab.facts.evicted == ["greedy-1", "greedy-0"] and not lab.done["who pays"]
