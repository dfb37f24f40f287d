"""The labs of lessons 02 and 03 without a browser: every position fits, and is what is decided."""

import random

from moves import choices_of

from volcano_lab.api.fairness import queue_share
from volcano_lab.course.lesson_02 import lab as lesson_02
from volcano_lab.course.lesson_03 import lab as lesson_03


def positions(lab, count):
    chance = random.Random(3)
    for _ in range(count):
        yield {name: chance.choice(choices_of(control)) for name, control in lab.controls.items()}


def test_comparisons_in_every_position():
    lab = lesson_02.comparison_lab()
    for values in positions(lab, 60):
        state = lab.set(**values).board
        left, right, request = lesson_02.sides(**values)
        strict = left.less_equal_with_dimension_and_resources_name(right, request)[0]
        assert {row["comparison"]: row["answer"]
                for row in state["answers"]}["strict"] == ("✓ yes" if strict else "✗ no")


def test_proportion_in_every_position():
    lab = lesson_03.proportion_lab()
    for values in positions(lab, 15):
        state = lab.set(**values).board
        cluster = lesson_03.cluster_of(values)
        cycle = cluster.run()
        jobs = cluster.cache().snapshot().jobs
        shares = {queue: queue_share(jobs[f"default/{queue}-work"].allocated, deserved)
                  for queue, deserved in cycle.rounds[-1].deserved.items()}
        rows = {row["queue"]: row for row in state["queues"]}
        assert {name: row["share"] for name, row in rows.items()} == shares
        order = sorted(rows, key=lambda name: (shares[name], name))
        assert [row["queue"] for row in sorted(rows.values(), key=lambda row: row["turn"])] == order
        first = cycle.turns()[0]
        assert first["queue"] == order[0] and first["share"] == shares[order[0]]
        assert (first["outcome"] == "overused") == rows[first["queue"]]["overused"]
        for panel in lesson_03.PANELS:
            if panel.kind == "vessels":
                assert all(queue["limit"] <= panel.spec["max"][-1] + 1e-9
                           for queue in state[panel.key]["queues"])
