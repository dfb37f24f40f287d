"""Every lab: a move is one message, and reset takes it back."""

import json
from importlib import import_module

import pytest
from moves import choices_of

from volcano_lab.widgets import Lab

LABS = {"00": "fair_share_lab", "01": "cycle_lab", "02": "comparison_lab", "03": "proportion_lab",
        "04": "admission_lab", "05": "queue_tree_lab", "07": "hierarchy_lab",
        "08": "placement_lab", "09": "evictions_lab", "10": "topology_lab", "11": "run_lab",
        "12": "combination_lab", "14": "day_lab", "15": "cost_lab"}


@pytest.fixture(scope="module", params=LABS)
def lab(request):
    return getattr(import_module(f"volcano_lab.course.lesson_{request.param}.lab"),
                   LABS[request.param])()


def test_a_move_is_one_message_and_reset_goes_back(lab):
    before, sent = lab.board, []
    framed = isinstance(lab, Lab)
    board = lab if framed else lab.board
    board.send_state = lambda key=None: sent.append(key)
    name, control = next((name, control) for name, control in lab.controls.items()
                         if len(choices_of(control)) > 1)
    now = control.start if framed else control.value
    value = [choice for choice in choices_of(control) if choice != now][-1]
    if framed:
        lab.set_state({"ask": {"n": 1, "values": {name: value}}})
        assert sent == ["shown"] and lab.shown["n"] == 1
        assert len(json.dumps(lab.shown)) < 30_000, "rows only"
    else:
        control.value = value
        assert sent == ["state"]
    assert lab.values[name] == value and lab.board != before
    assert lab.reset().board == before
    del board.send_state
