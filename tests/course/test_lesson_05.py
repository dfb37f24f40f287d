"""The lab of the queue tree without a browser, and admission by hand."""

import json
import re
from pathlib import Path

import pytest

from course.answers import lesson_05 as examples
from volcano_lab.course.kit.scenery import cluster_of
from volcano_lab.course.kit.verdict import TO_DO, TRY_AGAIN, WELL_DONE
from volcano_lab.course.lesson_05 import checks
from volcano_lab.course.lesson_05.lab import (
    TASKS,
    queue_tree_lab,
    tree_cluster,
    tree_conf,
)
from volcano_lab.course.lesson_05.own_admission import run_with
from volcano_lab.plugins.capacity import Capacity
from volcano_lab.trace.views.queues import levels, tree
from volcano_lab.widgets import pictures

V1_11 = "capacity, admitting as v1.11.0 did"


@pytest.fixture
def lab():
    return queue_tree_lab()


def fates(lab):
    return {name: row["fate"] for name, row in lab.facts.jobs.items() if row["fate"] != "running"}


def refusals(lab):
    return [(row["job"].removeprefix("default/"), row["level"], row["sum"], row["may_hold"])
            for row in levels(lab.facts.cycle.trace) if row["verdict"] == "refused"]


@pytest.mark.long
def test_it_begins_with_a_commit_a_discard_and_a_refusal(lab):
    assert fates(lab) == {"batch-gang": "placed", "eval-gang": "discarded",
                          "train-gang": "not admitted", "web-gang": "placed"}
    assert refusals(lab) == [("train-gang", "research", 9, 8)]


MOVES = [
    ("a larger capability lets the gang in", {"queue/research.capability.cpu": 10}, "train-gang",
     "not tried"),
    ("a queue that is moved has other limits", {"queue/batch.parent": "research"}, "batch-gang",
     "not admitted"),
    ("a guarantee lowers what the sister may hold", {"queue/eval.guarantee.resource.cpu": 6},
     "train-gang", "not admitted"),
    ("admission counts on elastic pods, allocate does not", {"queue/web.capability.cpu": 5},
     "web-gang", "discarded"),
    ("v1.11.0 admits what a level above has no resources for", {"conf": V1_11}, "train-gang",
     "discarded"),
]


@pytest.mark.long
@pytest.mark.parametrize(("sentence", "move", "gang", "fate"), MOVES, ids=[row[0] for row in MOVES])
def test_moves(lab, sentence, move, gang, fate):
    before = lab.board
    assert fates(lab.set(**move))[gang] == fate and lab.board != before
    assert gang in lab.said or "guarantee" in sentence
    assert lab.reset().board == before


@pytest.mark.long
def test_in_v1_11_only_the_queue_itself_is_compared(lab):
    lab.set(conf=V1_11)
    assert {row["level"] for row in levels(lab.facts.cycle.trace)} == {"train", "eval", "web",
                                                                       "batch"}


@pytest.mark.long
def test_queues_keep_their_colours_and_what_they_say_without_the_tree(lab):
    tree_rows = {row["queue"]: row for row in lab.board["channels"]["queues"]}
    for conf in ("capacity, without the tree", "proportion (no tree; weight counts)"):
        rows = {row["queue"]: row for row in lab.set(conf=conf).board["channels"]["queues"]}
        for name in ("batch", "eval", "train", "web"):
            assert rows[name]["color"] == tree_rows[name]["color"]
        given = [rows[name]["deserved"] for name in ("prod", "research")]  # these have no jobs
        assert given == ([12, 8] if "capacity" in conf else [0, 0])
        assert [rows[name]["limit"] for name in ("prod", "research")] == [20, 8]
        assert len({row["color"] for row in rows.values()}) == 5


@pytest.mark.long
def test_every_outcome_that_changes_is_named_up_to_three(lab):
    said = lab.set(conf="capacity, without the tree").said
    assert "eval-gang is placed (was discarded): eval" in said
    assert said.endswith("batch-gang is discarded (was placed).")


@pytest.mark.long
def test_a_discarded_gang_is_drawn_on_what_its_department_holds_past_its_limit(lab):
    def lying():
        """Return where hatched boxes in the rows of departments begin and end, in CPUs."""
        svg = pictures.channels("", lab.board["channels"], width=1100).svg
        ends = [float(x) for x in re.findall(r'<path d="M([\d.]+) [\d.]+ V[\d.]+ H([\d.]+)" '
                                             'class="vp-vessel"', svg)[0]]
        boxes = re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="9" '
                           r'fill="url\(#', svg)
        scale = (ends[1] - ends[0]) / 20
        return [(round((float(x) - 1 - ends[0]) / scale, 1), round((float(wide) + 2) / scale, 1))
                for x, wide in boxes]

    assert lying() == [(6, 4)], "research holds 6 of 8; the gang has 4 pods"
    lab.set(**{"queue/web.capability.cpu": 5})
    assert lying() == [(7, 2), (6, 4)], "web-gang lies in prod, which holds 7"
    lab.reset().set(**{"queue/research.capability.cpu": 10})
    assert lying() == []


@pytest.mark.long
def test_a_tree_that_does_not_work_is_a_sentence_and_leaves_the_picture(lab, capfd):
    before = lab.board
    lab.set(**{"queue/web.parent": "train"})
    assert lab.said.startswith("This does not work: ") and "has queues below it" in lab.said
    assert lab.board == before and lab.undo().board == before
    assert capfd.readouterr().err == "", "it is said on the page, not in the log"


@pytest.mark.long
def test_the_lesson_s_tasks_can_be_done(lab):
    for number, task in enumerate(TASKS):
        fresh = queue_tree_lab()
        fresh.ask = {"n": 1, "show": number}
        assert fresh.done[task.name], task.name
    lab.begin("place eval-gang")
    for capability, fate in ((9, "discarded"), (10, "placed")):
        lab.set(**{"queue/research.capability.cpu": capability})
        assert fates(lab)["eval-gang"] == fate
        assert lab.done["place eval-gang"] == (fate == "placed")
    assert fates(lab)["train-gang"] == "not tried"


def test_the_levels_hold_what_the_queues_below_them_hold():
    cycle = tree_cluster().run(tree_conf())
    rows = {row["queue"]: row for row in tree(cycle.trace)}
    for parent in ("root", "research", "prod"):
        below = [row for row in rows.values() if row["parent"] == parent]
        for word in ("allocated", "request", "inqueue", "elastic"):
            assert rows[parent][word] == sum(row[word] for row in below)


def test_the_picture_climbs_as_enqueue_compares():
    drawn = tree_cluster().run(tree_conf()).plot.tree().data
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
    cluster = cluster_of("05", "report")
    assert [row["phase"] for row in run_with(function, cluster, tree_conf()).jobs()] == phases
    after = cluster.run(tree_conf())
    assert type(after.session.plugins["capacity"]) is Capacity, "capacity is itself again"
    assert [row["phase"] for row in after.jobs()] == ["Inqueue", "Pending"]


def test_the_fixed_function_decides_as_capacity_does():
    cluster = cluster_of("05", "report")
    for name, cpu in (("job-3", 1), ("job-4", 3)):
        cluster.job(name, queue="default", pods=2, cpu=cpu)
    today, fixed = cluster.run(tree_conf()), run_with(examples.fixed, cluster, tree_conf())
    assert today.queues() == fixed.queues() and today.jobs()[0] == fixed.jobs()[0]
    assert [row["phase"] for row in today.jobs()] == [row["phase"] for row in fixed.jobs()]
    assert [row["verdict"] for row in levels(today.trace, "default/job-2")] == ["fits", "refused"]


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
    ("research may hold more", {"name": "research", "capability": 9}, WELL_DONE,
     "Placed in this cycle: eval-gang 0 of 4 pods, train-gang 3 of 3 pods."),
    ("too little for eval", {"name": "research", "capability": 5}, TRY_AGAIN,
     "eval-gang is refused"),
    ("another queue may hold more", {"name": "train", "capability": 20}, TRY_AGAIN,
     "on research the sum is 3 + 6 + 4 − 4 = 9, and it may hold 8"),
]


@pytest.mark.parametrize(("sentence", "change", "state", "words"), CHANGES,
                         ids=[row[0] for row in CHANGES])
def test_the_notebooks_cluster_is_changed_in_one_queue(sentence, change, state, words):
    verdict = checks.let_train_in(the_notebooks_cluster().copy().queue(**change))
    assert verdict.state == state and words in verdict.text


def test_the_notebooks_cluster_as_it_is_has_no_change():
    assert "nothing has changed" in checks.let_train_in(the_notebooks_cluster()).text
