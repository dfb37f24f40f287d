"""The lab without a browser: one message a move, and that it shows what the scheduler decides."""

import random

import pytest

from volcano_lab.cluster import Cluster
from volcano_lab.course.lesson_00.lab import PANELS, TASKS, cluster_of, fair_share_lab

MOST = {panel.kind: panel.spec for panel in PANELS}


@pytest.fixture
def lab():
    return fair_share_lab()


def column(lab, name):
    return {row["queue"]: round(row[name], 3) for row in lab.board["queues"]}


def test_it_begins_with_the_worked_example(lab):
    assert column(lab, "deserved") == {"a": 28, "b": 42, "c": 30}
    assert column(lab, "request") == {"a": 80, "b": 60, "c": 30}
    assert lab.board["gang"]["outcome"] == "commit"


MOVES = [
    ("table, vessels, order and gang follow a's weight", {"a_weight": 3, "gang_minimum":
                                                          4}, "commit"),
    ("a gang one pod too large is taken back", {"gang_minimum": 4}, "discard"),
    ("a gang with fewer pods than its minimum is not tried", {"gang_size": 2, "gang_minimum":
                                                              3}, ""),
]


@pytest.mark.parametrize(("sentence", "moves", "outcome"), MOVES, ids=[row[0] for row in MOVES])
def test_moves(lab, sentence, moves, outcome):
    before = lab.board
    lab.set(**moves)
    assert lab.board["gang"]["outcome"] == outcome
    assert all(lab.board[key] != before[key]
               for key in (["queues", "fill", "turns"] if "a_weight" in moves else ["gang"]))
    assert lab.reset().board == before


@pytest.mark.long
def test_every_position_of_the_sliders_fits_the_board(lab):
    chance = random.Random(7)
    for _ in range(40):
        values = {name: chance.choice(control.choices()) for name, control in lab.controls.items()}
        state = lab.set(**values).board
        assert lab.values == values
        cycle = cluster_of(values).run()
        assert [row["deserved"] for row in state["queues"]] == pytest.approx(
            [row["deserved"]["cpu"] for row in cycle.queues()], abs=1e-5)
        assert sum(turn["pods"] for turn in state["turns"]["turns"]) == len(cycle.committed)
        assert len(state["gang"]["pods"]) <= MOST["statement"]["slots"]
        for row in state["limits"]:
            assert row["deserved"] <= row["limit"] + 1e-5 <= MOST["bars"]["max"] + 1
        rims = {row["queue"]: row["limit"] for row in state["fill"]["queues"]}
        for round_ in state["fill"]["rounds"]:
            poured = sum(step["after"] - step["before"] for step in round_["steps"].values())
            left = max(round_["left_before"] - poured, 0)  # guarantees may lift beyond what is left
            assert round_["left"] == pytest.approx(left, abs=1e-3)
            assert all(step["after"] <= rims[queue] + 1e-5
                       for queue, step in round_["steps"].items())


def test_the_sentence_says_who_has_more_and_what_turned(lab):
    assert lab.said == ("Queue a deserves 28: 20 in the first round, and its part of the 20 CPUs "
                        "that c leaves.")
    assert lab.set(a_weight=5).said == ("Queue a: weight 5 (was 2). a deserves 43.8 (was 28), "
                                        "b 26.3 (was 42).")
    assert lab.reset().set(gang_minimum=4).said == (
        "Gang in a: minimum 4 (was 3). The gang's statement: discard (was commit): 3 of 4 pods "
        "find room, and the minimum is 4 (NotEnoughResources).")


def test_the_lesson_s_tasks_tick_themselves_off(lab):
    assert not any(lab.done.values())
    lab.begin("weight")
    assert lab.values["gang_minimum"] == 4
    assert lab.said.startswith("weight. The gang's minimum is 4")
    assert not lab.done["weight"], "the task begins where it is not done"
    assert not lab.set(b_weight=1).done["weight"], "another queue's weight was moved, too"
    assert lab.begin("weight").set(a_weight=3).done["weight"]
    for number, task in enumerate(TASKS):
        fresh = fair_share_lab()
        fresh.ask = {"n": 1, "show": number}
        assert fresh.done[task.name], task.name
        assert fresh.values == fresh.start | task.start | task.show


def test_what_is_copied_builds_the_same_cluster(lab):
    lab.set(a_weight=7, b_guarantee=20, gang_minimum=4)
    names = {}
    exec("from volcano_lab import Cluster\n" + lab.python(), names)
    assert names["cluster"].run().queues() == cluster_of(lab.values).run().queues()
    assert Cluster().add(lab.yaml()).run().queues() == cluster_of(lab.values).run().queues()


def test_an_unknown_control_is_named(lab):
    with pytest.raises(KeyError, match="a_wieght is no control"):
        lab.set(a_wieght=3)


def test_a_reason_is_said_only_where_there_is_one(lab):
    assert lab.set(gang_minimum=4).said.endswith("the minimum is 4 (NotEnoughResources).")
    assert lab.set(gang_minimum=3).said.endswith("the minimum is 3.")
