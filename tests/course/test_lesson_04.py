"""The lab of admission without a browser: one message a move, every position fits, and it is what
is decided.
"""

import random

import pytest
from moves import choices_of

from course.answers.lesson_04 import short_of
from volcano_lab.course.lesson_04 import checks
from volcano_lab.course.lesson_04 import lab as lesson_04
from volcano_lab.course.lesson_04.lab import admission_cluster, admission_lab, conf_with, sums
from volcano_lab.trace.views.queues import levels


@pytest.fixture
def lab():
    return admission_lab()


def job(state, name):
    return next(row for row in state["jobs"] if row["job"] == name)


def test_it_begins_with_one_job_let_in_and_one_refused_by_the_queue(lab):
    assert [(row["job"], row["PodGroup"]) for row in lab.board["jobs"]] == [
        ("first", "Inqueue"), ("second", "Pending")]
    assert [row["name"] for row in lab.board["sums"] if row["over"]] == ["second: team, CPUs"]
    assert job(lab.board, "second")["why"] == "not admitted; queue team: 13 of 12 CPUs"
    assert "Job second: refused by the cluster (was refused by queue team): 9 of 8 CPUs" in lab.set(
        runs=16).said


MOVES = [
    ("more elastic lets it in", {"needs": 3}, "yes", 0),
    ("a larger capability lets it in", {"capability": 14}, "yes", 0),
    ("a guarantee of an idle queue keeps it out", {"capability": 0, "kept": 8}, "no", 0),
    ("with room for all it is placed", {"capability": 0, "kept": 0}, "yes", 5),
    ("without the job before it there is room", {"first": 0}, "yes", 5),
    ("memory keeps it out", {"capability": 0, "kept": 0, "memory": 8}, "no", 0),
    ("old may need all that it runs, or more", {"needs": 20}, "no", 0),
]


@pytest.mark.parametrize(("sentence", "move", "let_in", "placed"), MOVES,
                         ids=[row[0] for row in MOVES])
def test_moves(lab, sentence, move, let_in, placed):
    second = job(lab.set(**move).board, "second")
    assert second["placed"] == placed
    assert ("no" if second["PodGroup"] == "Pending" else "yes") == let_in


@pytest.mark.long
def test_every_position_fits_the_scales_and_tells_why(lab):
    chance = random.Random(4)
    panel = next(panel for panel in lesson_04.PANELS if panel.key == "sums")
    for _ in range(80):
        values = {name: chance.choice(choices_of(control))
                  for name, control in lab.controls.items()}
        state = lab.set(**values).board
        assert len(state["sums"]) <= panel.spec["rows"]
        team = state["limits"][0]
        assert team["limit"] == min(values["capability"] or 20, 20 - values["kept"])
        assert team["limit"] >= team["deserved"]
        assert all(bool(row["why"]) == bool(row["waiting"])
                   for row in state["jobs"])
        for row in state["sums"]:
            assert min(row["parts"]) >= 0
            assert row["over"] == (sum(row["parts"]) > row["limit"])


def test_the_sums_are_those_that_the_plugin_compared():
    cycle = admission_cluster().run()
    compared = [(row["job"].removeprefix("default/"), row["sum"], row["may_hold"])
                for row in levels(cycle.trace)]
    shown = [(row["job"], row["sum"], row["limit"]) for row in sums(cycle)
             if row["plugin"] == "proportion" and row["resource"] == "cpu"]
    assert shown == compared == [("first", 8, 12), ("second", 13, 12)]


def test_a_factor_below_one_is_the_default(caplog):
    small, usual = (sums(admission_cluster().run(conf_with(factor))) for factor in (0.5, 1.2))
    assert small == usual and "1 or more; 1.2 is used" in caplog.text


def test_the_solution_decides_as_the_lab_in_many_clusters():
    compared = checks.recorded()
    assert len(compared) > 40
    assert {bool(names) for _, _, names in compared} == {True, False}
    assert {name for _, _, names in compared for name in names} == {"cpu", "memory"}
    assert all(
        sorted(short_of(minimum, queue)) == names for minimum, queue, names in compared)
