"""What seeds of the soak decide is what was recorded: else it is a bug, or a decision that was
changed on purpose (`python benchmarks/soak.py --record` stores all again).
"""

import sys
from pathlib import Path

import pytest

from volcano_lab.messages import Message

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import answered
import decisions
import soak

RECORDED = decisions.recorded(decisions.DECIDED)
QUICK = 11
ASKED = (4, 6, 11)
"""Seeds whose answers take few seconds; the soak asks all of them."""
LOOK = decisions.digest


def compared(seed):
    return decisions.difference(seed, RECORDED[seed], soak.decide)


def test_a_seed_decides_what_was_recorded():
    assert compared(QUICK) == ""


@pytest.mark.long
@pytest.mark.parametrize("seed", sorted(RECORDED.keys() - {QUICK}))
def test_every_seed_decides_what_was_recorded(seed):
    assert compared(seed) == ""


@pytest.mark.long
@pytest.mark.parametrize("seed", ASKED)
def test_the_verbs_answer_what_was_recorded(seed):
    rows = decisions.recorded(decisions.ANSWERED)[seed]
    assert decisions.difference(seed, rows, answered.answer) == ""


def test_all_seeds_are_recorded_for_enough_cycles():
    assert [*RECORDED] == [*soak.SEEDS] and all(len(rows) > 20 for rows in RECORDED.values())


@pytest.mark.parametrize(("where", "what", "found"), [
    ("plugins.gang.Gang.job_ready", lambda self, job: False, "cycle 0: of 'alone web' otherwise"),
    ("plugins.drf.Drf.job_order", lambda self, left, right: 0,
     "cycle 1: of 'open jobOrder default' "),
    ("cache.status_updater.StatusUpdater.record", lambda self, *event: None, "of 'events' "),
])
def test_the_first_object_that_differs_is_named(monkeypatch, where, what, found):
    monkeypatch.setattr(f"volcano_lab.{where}", what)
    assert found in compared(QUICK), compared(QUICK)


def test_what_is_missing_is_named():
    seen = decisions.Comparison(1, [{"a": LOOK(1), "b": LOOK(2)}, {"b": ""}])
    with pytest.raises(decisions.Differs, match="seed 1, cycle 0: 'b' is recorded, and is not"):
        seen.hear(0, {"a": 1})
    seen.hear(1, {"a": 1})
    with pytest.raises(decisions.Differs, match="cycle 1: of 'b' nothing is recorded; it is 2"):
        seen.hear(1, {"a": 1, "b": 2})


@pytest.mark.parametrize(("left", "right", "same"), [
    (0.1 + 0.2, 0.3, True), (0.3, 0.3001, False), ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
    (Message("sentence", what=1), Message("sentence", what=1), True),
    (Message("sentence", what=1), Message("sentence", what=2), False), ([1, 2], (1, 2), True)])
def test_numbers_count_to_twelve_digits_and_messages_by_their_facts(left, right, same):
    assert (LOOK(left) == LOOK(right)) == same
