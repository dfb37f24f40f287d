"""The labs of lessons 02 and 03 without a browser: every position fits, and is what is decided."""

import random

import pytest
from moves import choices_of

from volcano_lab.api.fairness import queue_share
from volcano_lab.course.lesson_02 import lab as lesson_02
from volcano_lab.course.lesson_03 import lab as lesson_03


def positions(lab, count):
    chance = random.Random(3)
    for _ in range(count):
        yield {name: chance.choice(choices_of(control)) for name, control in lab.controls.items()}


@pytest.mark.long
def test_comparisons_in_every_position():
    lab = lesson_02.comparison_lab()
    for values in positions(lab, 60):
        state = lab.set(**values).board
        left, right, request = lesson_02.sides(**values)
        strict = left.less_equal_with_dimension_and_resources_name(right, request)[0]
        assert {row["comparison"]: row["answer"]
                for row in state["answers"]}["strict"] == ("✓ yes" if strict else "✗ no")


@pytest.mark.long
def test_proportion_in_every_position():
    lab = lesson_03.proportion_lab()
    for values in positions(lab, 12):
        facts = lab.set(**values).facts
        jobs = lab.cluster.changed(*lab.changes()).cache().snapshot().jobs
        shares = {queue: queue_share(jobs[f"default/{queue}-work"].allocated, deserved)
                  for queue, deserved in facts.cycle.rounds[-1].deserved.items()}
        drawn = {row["queue"]: row for row in lab.board["channels"]["queues"]}
        assert {name: drawn[name]["share"] for name in shares} == shares
        order = sorted(shares, key=lambda name: (shares[name], name))
        assert [name for name in facts.cycle.queue_order if name in shares] == order
        assert drawn[order[0]]["turn"] == 1 or facts.cycle.turns()[0]["queue"] != order[0]
