"""Every lab: a move is one message, and reset takes it back."""

import json
from importlib import import_module

import pytest
from moves import choices_of

from volcano_lab.course.kit.tasks import tasks
from volcano_lab.widgets import Lab

LABS = {"00": "fair_share_lab", "01": "cycle_lab", "02": "comparison_lab", "03": "proportion_lab",
        "04": "admission_lab", "05": "queue_tree_lab", "07": "hierarchy_lab",
        "08": "placement_lab", "09": "evictions_lab", "10": "topology_lab", "11": "run_lab",
        "12": "combination_lab", "14": "day_lab", "15": "cost_lab"}


@pytest.fixture(scope="module", params=[
    pytest.param(number, marks=pytest.mark.long) if number == "14" else number for number in LABS])
def lab(request):
    return getattr(import_module(f"volcano_lab.course.lesson_{request.param}.lab"),
                   LABS[request.param])()


@pytest.mark.long
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


@pytest.mark.parametrize("number", LABS)
def test_a_task_has_no_markup_because_a_lab_draws_its_text_as_it_is(number):
    assert [task.name for task in tasks(number) if {"*", "`"} & set(task.text)] == []


CAUSES = [
    ("02", {"cpu": -0.05}, "“Strict”: yes (was no): left ≤ right, where asked.",
     "Compared: cpu 999.95 with 1000.00, asked for: yes."),
    ("02", {"ask_gpu": True}, "Every comparison says what it said before.",
     "Compared: gpu 1 with –, asked for: yes."),
    ("14", {"weight": 2}, "research 16 minutes (was 17)",
     "While pods of both are Pending, research deserves 16 of 24 CPUs: 2 of 3 parts (proportion); "
     "admission reads no weight (overcommit)."),
    ("14", {"noon": True}, "research waits", "Jobs request 440 of 544 CPU-hours, 81 %; a gang "
     "waits for 8 CPUs at once (gang)."),
    ("15", {"minimum": 30}, "With the flags: 2400 scores (was 1600).",
     "A search ends after 30 nodes that fit: 20 by the percentage, at least 30, at most 40."),
    ("15", {"pods": 160}, "Every pair: 6400 scores (was 3200)",
     "160 pods × 40 nodes = 6400; with the flags, × 20 = 3200."),
    ("15", {"queues": 8}, "queue_order is asked 226 times (was 0).",
     "proportion orders 8 queues in 28 turns: 8.1 comparisons a turn.")]


@pytest.mark.parametrize(("lesson", "move", "changed", "cause"), [
    pytest.param(*row, marks=pytest.mark.long) if row[0] == "14" else row for row in CAUSES])
def test_a_move_ends_with_its_cause(lesson, move, changed, cause):
    lab = getattr(import_module(f"volcano_lab.course.lesson_{lesson}.lab"), LABS[lesson])()
    said = lab.set(**move).said
    assert changed in said and said.endswith(cause)
