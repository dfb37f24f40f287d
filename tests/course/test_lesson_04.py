"""The lab of admission without a browser: one message a move, every position fits, and it is what
is decided.
"""

import random

import pytest
from moves import choices_of

from course.answers.lesson_04 import short_of
from volcano_lab.course.lesson_04 import checks
from volcano_lab.course.lesson_04.lab import (
    KEPT,
    LIMIT,
    MEMORY,
    NEEDS,
    admission_cluster,
    admission_lab,
    conf_with,
    sums,
)
from volcano_lab.trace.views.queues import levels


@pytest.fixture
def lab():
    return admission_lab()


def test_it_begins_with_one_job_let_in_and_one_refused_by_the_queue(lab):
    assert {name: row["fate"] for name, row in lab.facts.jobs.items()} == {
        "second": "not admitted", "first": "placed", "old": "running"}
    assert [row["name"] for row in lab.board["sums"] if row["over"]] == ["second: team, CPUs"]
    assert lab.said.endswith("team needs 13 CPUs and may hold 12 (proportion).")


MOVES = [
    ("more elastic lets it in", {NEEDS: 3}, "discarded", 0),
    ("a larger capability lets it in", {LIMIT: 14}, "discarded", 0),
    ("a guarantee of an idle queue keeps it out", {LIMIT: 20, KEPT: 8}, "not admitted", 0),
    ("where all fit it is placed", {LIMIT: 20, KEPT: 0}, "placed", 5),
    ("fewer pods of the job before it leave enough", {"job/default/first.minAvailable": 1,
                                                    "job/default/first.pods": 1}, "placed", 5),
    ("memory keeps it out", {LIMIT: 20, KEPT: 0, MEMORY: 8}, "not admitted", 0),
]


@pytest.mark.parametrize(("sentence", "move", "fate", "placed"), MOVES,
                         ids=[row[0] for row in MOVES])
def test_moves(lab, sentence, move, fate, placed):
    second = lab.set(**move).facts.jobs["second"]
    assert (second["fate"], second["now"]) == (fate, placed)


@pytest.mark.long
def test_the_lesson_s_tasks_can_be_done():
    for number, task in enumerate(admission_lab().tasks):
        fresh = admission_lab()
        fresh.ask = {"n": 1, "show": number}
        assert fresh.done[task.name], task.name


def test_a_refusal_in_memory_shows_where_the_picture_is_of_cpus(lab):
    rows = lab.set(**{MEMORY: 8}).board["sums"]
    assert [row["label"] for row in rows] == [
        "first: cluster, CPUs", "first: team, CPUs", "second: cluster, Gi"]
    assert [row["over"] for row in rows] == [False, False, True]


@pytest.mark.long
def test_every_position_fits_the_scales(lab):
    chance = random.Random(4)
    for _ in range(80):
        values = {name: chance.choice(choices_of(control))
                  for name, control in lab.controls.items()}
        state = lab.set(**values).board
        assert len(state["sums"]) <= 4
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


@pytest.mark.long
def test_the_solution_decides_as_the_lab_in_many_clusters():
    compared = checks.recorded()
    assert len(compared) > 40
    assert {bool(names) for _, _, names in compared} == {True, False}
    assert {name for _, _, names in compared for name in names} == {"cpu", "memory"}
    assert all(
        sorted(short_of(minimum, queue)) == names for minimum, queue, names in compared)
