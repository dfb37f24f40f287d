"""The lab without a browser: one message a move, and that it shows what the scheduler decides."""

import random

import pytest

from volcano_lab.widgets import fair_share_lab
from volcano_lab.widgets.fair_share import PANELS, cluster_of

SLOTS = {panel["kind"]: panel.get("slots", panel.get("lines")) for panel in PANELS}


@pytest.fixture
def lab():
    return fair_share_lab()


def column(lab, name):
    return {row["queue"]: round(row[name], 3) for row in lab.state["queues"]}


def test_it_begins_with_the_worked_example(lab):
    assert column(lab, "deserved") == {"a": 28, "b": 42, "c": 30}
    assert column(lab, "request") == {"a": 80, "b": 60, "c": 30}
    assert lab.state["gang"]["outcome"] == "commit"


def test_a_move_is_one_message(lab):
    sent = []
    lab.board.send_state = lambda key=None: sent.append(key)
    lab.controls["a_weight"].value = 4
    assert sent == ["state"]
    assert column(lab, "deserved") == {"a": 40, "b": 30, "c": 30}
    lab.set(a_weight=2, b_weight=3, gang_minimum=4)
    assert sent == ["state", "state"] and lab.state["gang"]["outcome"] == "discard"


MOVES = [
    ("table, vessels, order and gang follow a's weight", {"a_weight": 3, "gang_minimum": 4}, "commit"),
    ("a gang one pod too large is taken back", {"gang_minimum": 4}, "discard"),
    ("a gang with fewer pods than its minimum is not tried", {"gang_size": 2, "gang_minimum": 3}, ""),
]


@pytest.mark.parametrize(("sentence", "moves", "outcome"), MOVES, ids=[row[0] for row in MOVES])
def test_moves(lab, sentence, moves, outcome):
    before = lab.state
    lab.set(**moves)
    assert lab.state["gang"]["outcome"] == outcome
    assert all(lab.state[key] != before[key] for key in (["queues", "fill", "turns"] if "a_weight" in moves else ["gang"]))
    assert lab.reset().state == before


def test_every_position_of_the_sliders_fits_the_board(lab):
    chance = random.Random(7)
    for _ in range(40):
        values = {name: chance.choice(range(c.min, c.max + 1, c.step)) for name, c in lab.controls.items()}
        state = lab.set(**values).state
        assert lab.values == values
        cycle = cluster_of(values).run()
        assert [row["deserved"] for row in state["queues"]] == [row["deserved"]["cpu"] for row in cycle.queues()]
        assert sum(turn["pods"] for turn in state["turns"]["turns"]) == len(cycle.committed)
        assert len(state["turns"]["turns"]) <= SLOTS["turns"]
        assert len(state["gang"]["steps"]) <= 3 * SLOTS["operations"]
        assert all(row["limit"] <= 100 and row["deserved"] <= row["limit"] + 1e-9 for row in state["queues"])


def test_an_unknown_control_is_named(lab):
    with pytest.raises(KeyError, match="a_wieght is no control"):
        lab.set(a_wieght=3)
