"""Lesson 07: whose turn it was, by the trace; queues found again instead of by a heap; the lab's
moves.
"""

import random
import re

import pytest

from volcano_lab.actions import allocate
from volcano_lab.cluster import Cluster
from volcano_lab.course.lesson_07.lab import (
    compared,
    hierarchy_lab,
    level_picture,
    rescaling,
    resources_film,
    tree_picture,
    turns_picture,
)
from volcano_lab.course.lesson_07.scene import (
    AT_REST,
    FLAT,
    HIERARCHICAL,
    WITHOUT_DRF,
    placed,
    tree_cluster,
)
from volcano_lab.course.lesson_07.turns import FoundAgain, job_turns, run_found_again
from volcano_lab.framework.priority_queue import PriorityQueue
from volcano_lab.messages.language import speaking


def two_jobs():
    cluster = Cluster().node("n1", cpu=9, memory="18Gi")
    cluster.job("a", pods=9, cpu=1, memory="4Gi", min_member=1)
    return cluster.job("b", pods=9, cpu=3, memory="1Gi", min_member=1)


@pytest.mark.parametrize(("conf", "deciders"),
                         [(FLAT, ["age", "gang", "drf", "drf", "drf", "age"]),
                          (WITHOUT_DRF, ["age", "gang", "age", "age", "age", "age"])])
def test_who_decided_each_turn(conf, deciders):
    turns = job_turns(two_jobs(), conf)
    assert turns["decided by"].tolist() == deciders
    assert ((turns["difference"] == "") == (turns["decided by"] == "age")).all()


def test_the_difference_is_that_of_the_dominant_shares():
    turns = job_turns(two_jobs(), FLAT)
    held, shares = {"a": 0, "b": 0}, {"a": 4 / 18, "b": 3 / 9}
    for _, turn in turns.iterrows():
        if turn["decided by"] == "drf":
            difference = held[turn["job"]] * shares[turn["job"]] - held[turn["before"]] * shares[
                turn["before"]]
            assert float(turn["difference"]) == pytest.approx(difference, abs=1e-3)
            left, right = map(float, turn["shares"].split(" − "))
            assert left - right == pytest.approx(difference, abs=1e-3)
        held[turn["job"]] += 1


def test_found_again_is_exact_where_the_heap_is_a_pod_off_and_leaves_allocate_as_it_was():
    assert placed(
        tree_cluster().run(HIERARCHICAL)) == {"dev": 4, "prod": 3, "sci": 5}
    assert placed(run_found_again(tree_cluster(),
                                 HIERARCHICAL)) == {"dev": 3, "prod": 3, "sci": 6}
    assert allocate.PriorityQueue is PriorityQueue


def test_found_again_takes_the_first_by_the_order_of_the_moment():
    chance, rank = random.Random(7), {}
    queue = FoundAgain(lambda left, right: rank[left] < rank[right])
    for item in range(20):
        rank[item] = chance.random()
        queue.push(item)
    while len(queue):
        rank.update({item: chance.random() for item in queue.items})
        best = min(queue.items, key=rank.__getitem__)
        assert queue.pop() == best


@pytest.mark.long
def test_tasks_are_done_by_what_they_show():
    lab = hierarchy_lab()
    for number, task in enumerate(lab.tasks):
        lab.begin(number)
        assert not lab.done[task.name], "not done by beginning it"
        lab.set(**task.show)
        assert lab.done[task.name]


@pytest.mark.long
def test_any_choice_is_shown_as_a_cycle_decides():
    lab, chance = hierarchy_lab(), random.Random(7)
    for _ in range(15):
        lab.set(**{name: chance.choice(control.choices())
                   for name, control in lab.controls.items()})
        pods = placed(tree_cluster(**lab.values).run(HIERARCHICAL))
        drawn = {row["queue"]: row["allocated"] for row in lab.board["tree"]["queues"]}
        assert {name: drawn[name] for name in ("dev", "prod", "sci")} == pods
        assert drawn["sci"] + drawn["eng"] == sum(pods.values())
        sizes = {row["queue"]: row["size"] for row in lab.board["tree"]["queues"]}
        assert sizes["sci"] + sizes["eng"] == pytest.approx(12, abs=0.02)


def test_a_sibling_with_another_resource_counts_as_the_poorest():
    halfway = tree_cluster(prod_memory=True, running={"dev": 2, "prod": 6, "sci": 3})
    cycle = halfway.run(AT_REST)
    rows = {row["name"]: row for row in compared(cycle, "") + compared(cycle, "eng")}
    assert (rows["eng"]["asked"], rows["eng"]["held"]) == (6, pytest.approx(2))
    assert rows["eng"]["says"] == "(rescaled from 6)"
    assert rows["prod"]["held"] == 6 and not rows["prod"]["says"]


@pytest.mark.long
def test_rings_are_where_the_numbers_of_the_moment_put_another_queue_first():
    cycle = tree_cluster().run(HIERARCHICAL)
    order, early = [turn["queue"] for turn in cycle.turns()][:12], []
    for turn, queue in enumerate(order, 1):
        held = {name: order[:turn - 1].count(name) for name in ("dev", "prod", "sci")}
        first = tree_cluster(running=held).run(AT_REST).queue_order[0] if turn > 1 else "sci"
        early += [turn] * (queue != first)
    assert early == [3, 8, 12]
    film = turns_picture(tree_cluster(), "T")
    assert film.svg.count('class="vp-ring"') == len(early)
    said = film.spec["moments"]
    assert len(said) == len(film.data) == 19 and said[2] == "turn 2: dev"
    assert [len(at["turns"]) for at in film.data] == [*range(19)]
    assert [at for at, text in enumerate(said) if text.endswith(
        "by its old place; the numbers put sci first")] == early


@pytest.mark.long
@pytest.mark.parametrize(("moves", "said"), [
    ({"sci_weight": 4},
     "The last pod goes to dev: drf compares share ÷ weight, sci 2.3/12 (9 ÷ 4), eng 2/12."),
    ({"sci_pods": 2},
     "The last pod goes to prod: drf compares share ÷ weight, sci 2/12 (saturated: last), eng"),
    ({"prod_weight": 2}, "The last pod of eng goes to prod: drf compares share ÷ weight, "
     "dev 2/12 (saturated: last), prod 1.5/12 (3 ÷ 2)."),
    ({"dev_pods": 12, "dev_weight": 6}, "The last pod goes to prod: drf compares share ÷ weight, "
     "sci 3/12, eng 2/12 (rescaled from 8). eng is rescaled: dev and prod count as the poorer"),
    ({"dev_pods": 12, "dev_weight": 6, "eng_weight": 2},
     "sci 2/12, eng 2/12 (rescaled from 9: 4 ÷ 2)")])
def test_a_move_names_the_last_pod_and_the_shares_at_its_own_level(moves, said):
    assert said in hierarchy_lab().set(**moves).said


@pytest.mark.long
@pytest.mark.parametrize(("moves", "said"), [
    ({"dev_pods": 12}, "The last pod goes to dev: drf compares share ÷ weight, sci 5/12, "
     "eng 6/12 (first, by an old place)."),
    ({"dev_pods": 12, "sci_weight": 2, "eng_weight": 2},
     "(first, by an old place)"),
    ({"dev_weight": 3, "dev_pods": 12},
     "The last pod goes to sci: drf compares share ÷ weight, sci 4/12 (first, as it is older), "
     "eng 4/12 (rescaled from 7).")])
def test_what_is_decided_by_no_number_is_said_to_be_by_age_or_by_an_old_place(moves, said):
    lab = hierarchy_lab()
    for name, value in moves.items():
        lab.set(**{name: value})
    assert said in lab.said
    opening = lab.reset().said
    assert "older" not in opening and "by an old place" not in opening, "the lower number decides"


@pytest.mark.long
@pytest.mark.parametrize(("moves", "said"), [
    ({"dev_weight": 3}, "dev has all that it asks for; prod and sci wait for more. The last pod"),
    ({"prod_pods": 16}, "dev has all that it asks for; prod and sci wait for more. The last pod"),
    ({"prod_weight": 3}, "dev has all that it asks for; prod and sci wait for more. Only the order "
     "of the turns changes.")])
def test_a_move_that_changes_no_pods_says_who_has_all_and_who_waits(moves, said):
    assert f"All queues have as many pods as before: {said}" in hierarchy_lab().set(**moves).said


@pytest.mark.long
def test_early_turns_are_ringed_and_named_where_they_change_the_pods():
    lab = hierarchy_lab()
    assert not lab.facts.early and "by old places" not in lab.said
    assert "by old places" not in lab.set(dev_pods=1).said
    said = lab.set(dev_pods=12).said
    assert said.endswith("Turns 3, 8, 12 (ringed) come by old places: without them, it would be "
                         "dev 3, prod 3, sci 6.")
    turns = lab.board["turns"]["turns"]
    assert [at for at, turn in enumerate(turns, 1) if turn["ring"]] == [3, 8, 12]
    assert "by old places" not in lab.set(prod_gi=1).said, "the same turns, said before"


def test_turns_are_numbered_and_the_tree_is_read_aloud_as_it_is_drawn():
    turns = turns_picture(tree_cluster(), "T").svg
    assert [str(turn) in re.findall(r">(\d+)</text>", turns) for turn in (1, 12, 18)] == [True] * 3
    said = tree_picture(tree_cluster(dev_pods=2).run(HIERARCHICAL), "T").alt
    assert "dev below eng: 2 / 3" in said and "pods / part" in said and "holds" not in said


def test_the_turns_play_on_the_node_pod_by_pod():
    cluster = two_jobs()
    film = resources_film("T", cluster.run(FLAT), job_turns(cluster, FLAT))
    shown = dict(zip(film.spec["moments"], film.data, strict=True))
    notes = [[node["note"] for node in each["nodes"]] for each in shown.values()]
    assert notes[0] == ["", ""] and notes[3] == ["a 2/9, b 3/9", "a 8/18, b 1/18"]
    assert notes[-1] == notes[-2] == ["a 3/9, b 6/9", "a 12/18, b 2/18"], "turn 6 places none"
    assert "turn 3: a before b, decided by drf" in shown


def test_the_tree_fills_cpu_by_cpu():
    film = tree_picture(tree_cluster(dev_pods=2).run(HIERARCHICAL), "T")
    held = [{row["queue"]: row["allocated"] for row in each["queues"]} for each in film.data]
    assert [sum(each.values()) - each["eng"] for each in held] == list(range(13))
    assert held[-1] == {"sci": 6, "eng": 6, "dev": 2, "prod": 4}
    assert film.spec["moments"][1] == "CPU 1 to sci"


def test_rescaling_plays_from_what_is_held_to_what_counts():
    cycle = tree_cluster(prod_memory=True, running={"dev": 2, "prod": 6, "sci": 3}).run(AT_REST)
    full, poorer = rescaling("T", cycle).data
    assert [round(row["held"], 6) for row in full] == [2, 6, 6]
    assert [round(row["held"], 6) for row in poorer] == [2, 2, 2]
    assert [round(row["asked"], 6) for row in poorer] == [2, 6, 6]


@pytest.mark.parametrize(("language", "words"), [("en", "2 (saturated: last)"),
                                                 ("zh", "2 （已饱和，排在最后）")])
def test_the_number_comes_before_its_note_in_each_language(language, words):
    held = {"sci": 4, "dev": 2, "prod": 5}
    cycle = tree_cluster(dev_pods=2, running=held).run(AT_REST)
    with speaking(language):
        assert words in level_picture("", cycle, "eng").svg
