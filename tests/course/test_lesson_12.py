"""Lesson 12: the solutions that stand in the notebook, unwritten classes, the lab of combined
answers, the small clusters.
"""

import json
import re
from itertools import product
from pathlib import Path

import pytest

from volcano_lab import Action, Plugin
from volcano_lab.course.kit.boss import evicted
from volcano_lab.course.kit.verdict import TO_DO, TRY_AGAIN, WELL_DONE
from volcano_lab.course.lesson_12 import checks, scene
from volcano_lab.course.lesson_12.lab import POINTS, combination_lab, combined, decided
from volcano_lab.course.lesson_12.own_steps import crowded, held, place, waiting
from volcano_lab.course.lesson_12.scene import (
    RECLAIM,
    KeptStay,
    conf_with,
    kept_and_plain,
    report,
    run_with,
    two_racks,
)
from volcano_lab.framework.points.rules import PERMIT
from volcano_lab.framework.registry import registered

NOTEBOOK = json.loads(
    (Path(__file__).parents[2] / "notebooks" / "12-your-own-plugin.ipynb").read_text())
SOURCES = ["".join(cell["source"]) for cell in NOTEBOOK["cells"]]
TASKS = {
    "Spread": checks.spread, "WaitsLongest": checks.waits_longest, "Maintenance":
    checks.maintenance, "Protect": checks.protect, "FirstAid": checks.first_aid, "Triage":
    checks.triage
}
WORDS = {
    "Plugin": Plugin, "Action": Action, "PERMIT": PERMIT, "held": held, "place": place, "waiting":
    waiting, "__name__": "notebook"
}


def classes(texts):
    """{name: class} of the classes that stand in some texts of Python."""
    found = dict(WORDS)
    for text in texts:
        exec(text, found)
    return {name: found[name] for name in TASKS if name in found}


SOLUTIONS = classes(
    text for source in SOURCES for text in re.findall(r"```python\n(.*?)```", source, re.S))
STORED = classes(
    source.partition("\n\n\nchecks.")[0]
    for source in SOURCES
    if "\n\n\nchecks." in source and "class " in source)


@pytest.mark.long
@pytest.mark.parametrize("name", TASKS)
def test_the_notebooks_solution_is_well_done(name):
    assert TASKS[name](SOLUTIONS[name]).state == WELL_DONE


@pytest.mark.parametrize("name", TASKS)
def test_as_stored_it_is_to_do(name):
    assert TASKS[name](STORED[name]).state == TO_DO


def test_a_docstring_alone_is_no_answer_yet():
    class Spread(Plugin):
        def node_order(self, task, node):
            """The fewer mates, the better."""

    assert checks.spread(Spread).state == TO_DO


def test_what_a_readers_plugin_raises_is_the_hint():
    class Spread(Plugin):
        def node_order(self, task, node):
            return self.session.jobs

    verdict = checks.spread(Spread)
    assert verdict.state == TRY_AGAIN
    assert verdict.text.startswith(
        'plugin "yours", node_order: AttributeError') and "return self.session.jobs" in verdict.text


def test_a_kept_pod_goes_unless_its_guard_stands_in_both_tiers():
    conf = conf_with("mine", tier=1, actions=RECLAIM)
    assert evicted(run_with(KeptStay, kept_and_plain(4, 0), conf)) == ["kept-0"]
    assert evicted(run_with(KeptStay, kept_and_plain(4, 0), conf + "\n  - name: mine")) == []


def test_without_proportion_the_oldest_queue_takes_all():
    committed = crowded().run(conf_with(without="proportion")).committed
    assert {pod.partition("-")[0] for _, pod, _ in committed} == {"default/big"}


# -- the lab


@pytest.mark.parametrize("point", POINTS)
def test_every_position_has_an_answer_and_who_is_off_is_not_asked(point):
    for a, b, c in product((-1, 0, 1), repeat=3):
        for off in ("", "A", "C"):
            rows, _, together = combined(point, a, b, c, off)
            assert together and [row["plugin"] for row in rows] == ["A", "B", "C"]
            assert not any(row["asked"] for row in rows if row["plugin"] == off)


COMBINED = [
    ("a sum", ("node_order", 1, 1, -1), "100"),
    ("the first difference", ("job_order", 0, -1, 1), "the right one first"),
    ("no difference: the older", ("job_order", 0, 0, 0),
     "the left one first, because it is older"),
    ("one no", ("allocatable", 1, 1, -1), "no"),
    ("one yes", ("overused", -1, -1, 1), "yes"),
    ("a reject beside a permit", ("job_enqueueable", 1, -1, 1), "not admitted"),
    ("what two of a tier both name", ("reclaimable", 1, 1, 1), "y"),
    ("an empty list: the next tier", ("reclaimable", 1, -1, 1), "z"),
    ("one objection", ("predicate", 0, 0, -1), "the node is refused"),
]


@pytest.mark.parametrize(("sentence", "position", "together"), COMBINED,
                         ids=[row[0] for row in COMBINED])
def test_answers_become_one(sentence, position, together):
    assert combined(*position)[2] == together


def test_the_picture_says_who_was_asked():
    votes = decided("reclaimable", a=-1, c=1)["votes"]
    assert [tier["note"] for tier in votes["tiers"]] == ["asked", "decides"]
    assert [row["name"] for row in votes["rows"] if row["left"]] == ["z"]
    assert votes["rows"][2]["votes"] == {"A": False, "C": True}


def test_every_task_of_the_lab_can_be_done():
    lab = combination_lab()
    for task in lab.tasks:
        lab.begin(task.name)
        assert not lab.done[task.name], task.name
        lab.set(**task.show)
        assert lab.done[task.name], task.name


@pytest.mark.parametrize(("point", "said", "decides"), [
    ("job_enqueueable", {}, []), ("job_enqueueable", {"c": -1}, ["tier 2"]),
    ("job_enqueueable", {"a": 1}, ["tier 1"]), ("reclaimable", {}, []),
    ("reclaimable", {"a": -1, "c": 1}, ["tier 2"])])
def test_a_tier_decides_only_where_somebody_in_it_does_not_abstain(point, said, decides):
    tiers = decided(point, **said)["votes"]["tiers"]
    assert [tier["name"] for tier in tiers if tier["decides"]] == decides


def test_a_report_plays_what_a_plugin_changes_and_says_why_a_pod_has_no_node(monkeypatch):
    said = []
    monkeypatch.setattr(scene, "display", said.append)

    class Never(Plugin):
        def predicate(self, task, node):
            return "not today"

    with registered(plugin={"mine": Never}):
        picture = report(two_racks(), conf_with(), conf_with("mine"))
    before, after = ([pod for node in moment["nodes"] for pod in node["pods"]]
                     for moment in picture.data)
    assert (len(before), len(after)) == (4, 0) and "not today" in str(said[0])
