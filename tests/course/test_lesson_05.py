"""The lab of the queue tree without a browser, and admission by hand."""

import json
import random
from pathlib import Path

import pytest
from trees import edit, remove

from course.answers import lesson_05 as examples
from volcano_lab.course.kit.verdict import TO_DO, TRY_AGAIN, WELL_DONE
from volcano_lab.course.lesson_05 import checks
from volcano_lab.course.lesson_05.lab import (
    PLUGINS,
    START,
    queue_tree_lab,
    run_tree,
    tree_conf,
)
from volcano_lab.course.lesson_05.own_admission import run_with, worked_example
from volcano_lab.display.tables import gangs
from volcano_lab.plugins.capacity import Capacity
from volcano_lab.trace.views.jobs import over_limit
from volcano_lab.trace.views.queues import levels, tree

V1_11 = "capacity, admitting as v1.11.0 did"


@pytest.fixture
def lab():
    return queue_tree_lab()


def ends(lab):
    return {row["gang"]: (row["phase"], row["statement"]) for row in lab.facts["gangs"]}


def test_it_begins_with_a_commit_a_discard_and_a_refusal(lab):
    assert ends(lab) == {"batch-gang": ("Inqueue", "commit"), "eval-gang": ("Inqueue", "discard"),
                         "train-gang": ("Pending", "none"), "web-gang": ("Inqueue", "commit")}
    refused = [row for row in lab.facts["admission"] if row["verdict"] == "refused"]
    assert [(row["gang"], row["level"], row["sum"], row["may_hold"])
            for row in refused] == [("train-gang", "research", 9, 8)]


MOVES = [
    ("a larger capability lets the gang in", {"name": "research", "capability":
                                              10}, "train-gang", ("Inqueue", "none")),
    ("a queue that is moved has other limits", {"name": "batch", "parent":
                                                "research"}, "batch-gang", ("Pending", "none")),
    ("a guarantee takes room from the sister", {"name": "eval", "guarantee":
                                                6}, "train-gang", ("Pending", "none")),
    ("admission counts on elastic pods, allocate does not", {"name": "web", "capability": 5},
     "web-gang", ("Inqueue", "discard")),
]


@pytest.mark.parametrize(("sentence", "move", "gang", "end"), MOVES, ids=[row[0] for row in MOVES])
def test_moves(lab, sentence, move, gang, end):
    before = lab.facts
    edit(lab, **move)
    assert ends(lab)[gang] == end and lab.facts["levels"] != before["levels"]
    assert lab.reset().facts == before


def test_v1_11_lets_in_what_a_level_above_has_no_room_for(lab):
    assert ends(lab.set(plugin=V1_11))["train-gang"] == ("Inqueue", "discard")
    assert {row["level"] for row in lab.facts["admission"]} == {"train", "eval", "web", "batch"}


BROKEN = [
    ("an orphan", lambda lab: remove(lab, "prod"),
     'queue "batch": spec.parent is "prod", and there is no such queue'),
    ("a job in a queue that has children", lambda lab: edit(lab, "fresh", parent="train"),
     "has queues below it"),
    ("a negative amount", lambda lab: edit(lab, "web", deserved=-1),
     "deserved is -1; allowed is a number from 0 on"),
    ("too many pods that run", lambda lab: edit(lab, "web", runs=40), "the cluster has 20 CPUs"),
    ("two queues of one name",
     lambda lab: lab.set(tree=[*lab.values["tree"], lab.values["tree"][1]]),
     "names must differ"),
]


@pytest.mark.parametrize(("name", "breaks", "sentence"), BROKEN, ids=[row[0] for row in BROKEN])
def test_a_tree_that_does_not_work_is_a_sentence(lab, name, breaks, sentence, capfd):
    breaks(lab)
    assert lab.said.startswith("This does not work: ") and sentence in lab.said
    assert lab.reset().said.startswith("train-gang is refused")
    assert capfd.readouterr().err == "", "it is said on the board, not in the log"


def test_a_ring_of_queues_hangs_on_nothing(lab):
    lab.set(tree=[*lab.values["tree"], {**lab.values["tree"][1], "name": "ring", "parent": "ring"}])
    assert ends(lab)["web-gang"] == ("Inqueue", "commit")


@pytest.mark.long
def test_any_tree_that_can_be_edited_is_shown(lab):
    chance = random.Random(5)
    words = ["deserved", "capability", "guarantee", "runs", "gang"]
    for number in range(60):
        names = [row["name"] for row in lab.values["tree"] if row["name"] != "root"]
        name = chance.choice([*names, f"new-{number}"])
        if chance.random() < 0.1 and len(names) > 2:
            remove(lab, names[0])
        elif chance.random() < 0.3:
            edit(lab, name, parent=chance.choice([*names, "root"]))
        else:
            edit(lab, name, **{chance.choice(words): chance.randint(0, 6)})
        lab.set(plugin=chance.choice(list(PLUGINS)))
        assert set(lab.facts) == {"levels", "admission", "gangs"}
        assert "does not work" in lab.said or lab.facts["levels"] or not any(
            row["gang"] or row["runs"] for row in lab.values["tree"])


def test_the_levels_hold_what_the_queues_below_them_hold():
    cycle = run_tree(START)
    rows = {row["queue"]: row for row in tree(cycle.trace)}
    for parent in ("root", "research", "prod"):
        below = [row for row in rows.values() if row["parent"] == parent]
        for word in ("allocated", "request", "inqueue", "elastic"):
            assert rows[parent][word] == sum(row[word] for row in below)


def test_what_was_in_the_way_of_a_gang():
    cycle = run_tree(START)
    jobs = cycle.session.jobs
    assert over_limit(cycle.trace, jobs["default/eval-gang"]) == (
        "queue research refuses pod eval-gang-2: cpu 9 > limit 8")
    assert over_limit(cycle.trace, jobs["default/web-gang"]) == ""
    assert gangs(cycle)["statement"].to_dict()["default/train-gang"] == "none"


def test_an_edited_tree_is_told(lab):
    edit(edit(lab, "dev", capability=3), "test", parent="dev")
    assert [(row["name"], row["parent"], row["capability"]) for row in lab.values["tree"][-2:]] == [
        ("dev", "root", 3), ("test", "dev", None)]
    assert lab.said.startswith("Queue test is new, below dev.")


def test_a_tree_that_does_not_work_leaves_the_pictures_as_they_were(lab):
    before = lab.board
    edit(lab, "web", deserved=-1)
    assert lab.board == before and lab.said.startswith("This does not work: queue \"web\"")
    assert lab.undo().said.startswith("Undone.") and lab.board == before


def test_the_picture_climbs_as_enqueue_compares(lab):
    drawn = lab.board["tree"]
    climb = drawn["climbs"][drawn["climb"]]
    assert drawn["climb"] == "train-gang" and climb["amount"] == 3
    assert [(step["queue"], step["fits"]) for step in climb["steps"]] == [
        ("train", True), ("research", False)]
    assert climb["steps"][-1]["text"].endswith("= 9 of 8: refused")
    fates = {row["gang"]["name"]: row["gang"]["fate"] for row in drawn["queues"] if "gang" in row}
    assert fates == {"batch-gang": "commit", "eval-gang": "discard", "train-gang": "refused",
                     "web-gang": "commit"}


# -- admission by hand
# --------------------------------------------------------------------------------


@pytest.mark.parametrize(("function", "phases"), [
    (examples.fixed, ["Inqueue", "Pending"]),
    (examples.rolled_back, ["Inqueue", "Pending"]),
    (examples.as_in_v1_11, ["Inqueue", "Inqueue"]),
    (lambda minimum, line: None, ["Pending", "Pending"]),
])
def test_a_readers_function_decides_in_a_whole_cycle(function, phases):
    cluster = worked_example()
    assert [row["phase"] for row in run_with(function, cluster, tree_conf()).jobs()] == phases
    after = cluster.run(tree_conf())
    assert type(after.session.plugins["capacity"]) is Capacity, "capacity is itself again"
    assert [row["phase"] for row in after.jobs()] == ["Inqueue", "Pending"]


def test_the_fixed_function_decides_as_capacity_does():
    cluster = worked_example()
    for name, cpu in (("job-3", 1), ("job-4", 3)):
        cluster.job(name, queue="default", pods=2, cpu=cpu)
    today, fixed = cluster.run(tree_conf()), run_with(examples.fixed, cluster, tree_conf())
    assert today.queues() == fixed.queues() and today.jobs()[0] == fixed.jobs()[0]
    assert [row["phase"] for row in today.jobs()] == [row["phase"] for row in fixed.jobs()]
    assert [row["verdict"] for row in levels(today.trace, "default/job-2")] == ["room", "refused"]


def test_a_function_without_a_body_is_to_do():
    def empty(minimum, line):
        ...

    assert checks.job_enqueueable(empty).state == TO_DO


# -- the check that begins with the notebook's own cluster
# ------------------------------------------------


def the_notebooks_cluster():
    """The cluster that the lesson's first cells build, by hand and not by the lab."""
    notebook = json.loads((Path(__file__).parents[2] / "notebooks" /
                           "05-capacity-and-the-queue-tree.ipynb").read_text())
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    found = {}
    for source in cells:
        exec(source, found)
        if ".job(" in source:
            return found["cluster"]
    raise AssertionError("the lesson builds no jobs")


CHANGES = [
    ("research may hold more", {"name": "research", "capability":
                                9}, WELL_DONE, "research was the narrow place"),
    ("too little for eval", {"name": "research", "capability":
                             5}, TRY_AGAIN, "eval-gang is refused"),
    ("another queue may hold more", {"name": "train", "capability":
                                     20}, TRY_AGAIN, "on research the sum is 9 of 8"),
]


@pytest.mark.parametrize(("sentence", "change", "state", "words"), CHANGES,
                         ids=[row[0] for row in CHANGES])
def test_the_notebooks_cluster_is_changed_in_one_queue(sentence, change, state, words):
    verdict = checks.let_train_in(the_notebooks_cluster().copy().queue(**change))
    assert verdict.state == state and words in verdict.text


def test_the_notebooks_cluster_as_it_is_has_no_change():
    assert "nothing has changed" in checks.let_train_in(the_notebooks_cluster()).text
