"""Lesson 15 and what it counts with: a cycle's work, how many nodes Volcano looks for, the lab of
sizes.
"""

import json
import re
from pathlib import Path

import pytest

from volcano_lab import Cluster
from volcano_lab.course.kit.checking import checks_of
from volcano_lab.course.kit.effort import effort_of
from volcano_lab.course.kit.scenery import nodes
from volcano_lab.course.kit.verdict import TO_DO, WELL_DONE
from volcano_lab.course.lesson_15 import checks
from volcano_lab.course.lesson_15.lab import CONTROLS, cluster_of, cost_lab, scores_film
from volcano_lab.course.lesson_15.scene import conf_of, cost_cluster
from volcano_lab.debug.calls import Effort
from volcano_lab.framework.config.conf import PluginOption, Tier
from volcano_lab.framework.placement.feasible import nodes_to_find
from volcano_lab.framework.points.table import extension_points
from volcano_lab.scheduler import Scheduler

NOTEBOOK = json.loads(
    (Path(__file__).parents[2] / "notebooks" / "15-what-a-cycle-costs.ipynb").read_text())
SOURCES = ["".join(cell["source"]) for cell in NOTEBOOK["cells"]]


@pytest.mark.parametrize(("nodes", "percentage", "minimum", "least", "found"), [
    (0, 0, 100, 5, 0),
    (99, 0, 100, 5, 99),
    (100, 0, 100, 5, 100),
    (101, 0, 100, 5, 100),
    (1000, 0, 100, 5, 420),
    (5625, 0, 100, 5, 281),
    (10_000, 0, 100, 5, 500),
    (10_000, 0, 100, 20, 2000),
    (6000, 0, 100, 5, 300),
    (1000, 70, 100, 5, 700),
    (1000, 1, 100, 5, 100),
    (1000, 100, 100, 5, 1000),
    (1000, 200, 100, 5, 1000),
    (1000, -3, 100, 5, 420),
    (50, 10, 20, 5, 20),
])
def test_how_many_nodes_are_enough(nodes, percentage, minimum, least, found):
    assert nodes_to_find(nodes, percentage, minimum, least) == found


def test_nodes_below_zero_are_refused():
    with pytest.raises(ValueError, match="nodes is -1; allowed"):
        nodes_to_find(-1)


# -- counting


def test_pairs_are_pods_times_nodes_and_once_is_nodes_and_placements():
    each, once = (effort_of(cost_cluster(7, 12, gang=4), conf_of(), arrays)
                  for arrays in (False, True))
    assert (each.pairs, each.scored, each.count(point="predicate")) == (84, 84, 84)
    assert (once.pairs, once.scored, once.count(point="predicate")) == (84, 7 + 11, 0)
    assert each.placed == once.placed == 12


@pytest.mark.parametrize(("nodes", "pods"), [(6, 8), (3, 1), (2, 9)])
def test_the_film_of_scores_plays_what_is_counted(nodes, pods):
    cluster = cost_cluster(nodes, pods)
    film = scores_film("T", cluster.run(conf_of()))
    counted = effort_of(cluster, conf_of())
    assert len(film.data) == pods
    for number, rows in enumerate(film.data, 1):
        assert [row["asked"] for row in rows] == [number] * nodes
        assert sum(row["held"] for row in rows) == nodes + number - 1
    assert sum(row["asked"] for row in film.data[-1]) == counted.pairs
    assert sum(row["held"] for row in film.data[-1]) == counted.scored
    assert f"every pair {counted.pairs} scores, the lab {counted.scored}" in film.alt


@pytest.mark.long
def test_counts_are_the_same_in_every_run():
    first, second = (effort_of(checks.busy(), conf_of(), arrays=False) for _ in range(2))
    assert first.calls == second.calls and first.rows() == second.rows()


@pytest.mark.long
def test_counting_decides_nothing():
    plain = checks.busy().run(conf_of()).committed
    for arrays in (True, False):
        assert Scheduler(checks.busy().cache(), conf_of()).run_once(Effort(),
                                                                    arrays).committed == plain


def test_calls_are_counted_by_action_point_and_plugin():
    effort = effort_of(cost_cluster(), conf_of(), arrays=False)
    assert effort.count() == effort.calls.total() == sum(row["calls"] for row in effort.rows())
    assert effort.count(action="enqueue") == effort.count(point="job_enqueueable",
                                                          plugin="proportion") == 1
    assert effort.count(plugin="nobody") == 0
    assert set(effort.times) == {"open", "enqueue", "allocate", "backfill", "close", "cycle"}
    assert set(effort.time_by_plugin()) == {plugin for _, _, plugin in effort.calls}


def test_nothing_to_do_costs_nothing():
    effort = effort_of(Cluster().node("n1", cpu=1), conf_of())
    assert (effort.pairs, effort.scored, effort.placed, effort.choices) == (0, 0, 0, 0)


def test_a_plugin_with_several_functions_is_counted_for_each():
    effort, point = Effort(), extension_points(None)["victim_tasks"]
    point.register("p", [lambda tasks: tasks, lambda tasks: []])
    point.arrange([Tier([PluginOption("p")])], effort.watch)
    assert point.ask(["t"]) == ["t"] and effort.count(plugin="p") == 2


# -- the lesson


@pytest.mark.long
def test_the_notebooks_solutions_are_well_done():
    words = {"conf": conf_of()}
    for text in (text for source in SOURCES
                 for text in re.findall(r"```python\n(.*?)```", source, re.S)):
        exec(text, words)
    assert checks.estimates(words["estimate"]).state == WELL_DONE
    assert checks.under_budget(words["cheaper"]).state == WELL_DONE


def test_an_estimate_without_a_body_is_to_do():
    def estimate(nodes, gangs, room): ...

    assert checks.estimates(estimate).state == TO_DO


@pytest.mark.long
def test_another_plugin_that_was_slow_once_is_not_the_slow_one(monkeypatch):
    measured = iter([{"red": 9.0, "green": 3.0}, {"green": 3.0, "red": 1.0},
                     {"green": 9.0, "red": 2.0}])
    monkeypatch.setattr(checks.Effort, "time_by_plugin", lambda self: next(measured))
    assert checks.slowest_first.__wrapped__() == ["green", "red"]
    monkeypatch.undo()
    assert checks.slowest_first()[0] == "green"


@pytest.mark.long
def test_the_lab_counts_what_a_cycle_does():
    start = {name: control.start for name, control in CONTROLS.items()}
    for values in ({"nodes": 10, "pods": 20}, {"nodes": 30, "pods": 60, "kinds": 3},
                   {"nodes": 20, "pods": 40, "queues": 5}):
        at, sizes = cost_lab().set(**values).facts, start | values
        effort = effort_of(cluster_of(sizes), conf_of())
        assert at.work["every pair"] == sizes["nodes"] * sizes["pods"]
        assert at.work["the lab"] == effort.scored and effort.placed == sizes["pods"]
        dots = {line["name"]: line["dot"] for line in at.curves["lines"]}
        assert dots == {name: [sizes["nodes"], count] for name, count in at.work.items()}


@pytest.mark.long
def test_every_dot_is_on_its_curve_and_within_the_axes():
    lab = cost_lab()
    for values in ({}, {"nodes": 120, "pods": 160}, {"nodes": 10, "pods": 20, "kinds": 4}):
        for line in lab.reset().set(**values).facts.curves["lines"]:
            assert line["dot"] in line["points"] or line["name"] == "the lab"
            assert 10 <= line["dot"][0] <= 120 and 10 <= line["dot"][1] <= 20_000


@pytest.mark.long
def test_the_lab_says_how_often_queues_were_compared():
    lab = cost_lab().set(queues=8)
    (calls,) = [row["calls"] for row in lab.facts.asked if row["question"] == "queue_order"]
    assert f"queue_order is asked {calls} times (was 0)." in lab.said


@pytest.mark.long
def test_every_task_of_the_lab_can_be_done():
    lab = cost_lab()
    for task in lab.tasks:
        lab.begin(task.name)
        assert not lab.done[task.name], task.name
        lab.set(**task.show)
        assert lab.done[task.name], task.name


@pytest.mark.long
def test_the_counts_that_checks_ask_for_are_those_of_cycles():
    full = nodes(range(1, 7), cpu=8, memory="16Gi").job("old", pods=16, cpu=1, memory="1Gi",
                                                        min_member=1,
                                                        running={"node-1": 8, "node-2": 8})
    asked = effort_of(full.job("train", pods=5, cpu=1, memory="1Gi"), conf_of(), arrays=False)
    truths = {checks_of("15")["asked_with_two_full"]: asked.count(point="predicate"),
              checks_of("15")["scored_again"]: effort_of(cost_cluster(100, 200), conf_of()).scored,
              checks_of("15")["looked_for"]: nodes_to_find(2000)}
    assert [check(truth).state for check, truth in truths.items()] == [WELL_DONE] * 3
