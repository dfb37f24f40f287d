"""The clusters of the lesson on network topology: gangs that grow, sub-groups, members, and what
its tables say.
"""

import pytest

from course.answers.lesson_10 import in_order
from volcano_lab.course.kit.checking import checks_of
from volcano_lab.course.kit.verdict import WELL_DONE
from volcano_lab.course.lesson_10 import checks, scene as scenes
from volcano_lab.course.lesson_10.cluster import (
    CONF,
    JOB,
    RACKS,
    ROOMS,
    dry_runs,
    hyper_nodes,
    topology_cluster,
)
from volcano_lab.course.lesson_10.lab import topology_lab
from volcano_lab.scheduler import traced

GROWING = [
    ("rack-1 has room for all", {}, {"node-1", "node-2"}, "rack-1"),
    ("rack-1 is full, and no other is allowed", {"node_2": 4}, set(), "rack-1"),
    ("rack-1 is full, and the room is allowed", {"node_2": 4, "highest_tier":
                                                 2}, {"node-3", "node-4"}, "room-1"),
]


@pytest.mark.parametrize(("sentence", "choices", "nodes", "lies_in"), GROWING,
                         ids=[row[0] for row in GROWING])
def test_a_gang_that_runs_in_part(sentence, choices, nodes, lies_in):
    cycle = scenes.growing_cluster(**choices).run(CONF)
    assert {node for _, _, node in cycle.committed} == nodes
    assert cycle.session.jobs[JOB].allocated_hyper_node == lies_in


def test_the_table_says_why_a_hyper_node_is_out_of_reach():
    trace, _ = traced(scenes.growing_cluster().objects(), CONF)
    said = {row["hyper_node"]: row["dry_run"] for row in hyper_nodes(trace)}
    assert said["rack-1"] == "chosen" and said["room-1"] == "a lower tier serves"
    assert said["rack-3"] == said["room-2"] == "the gang runs elsewhere"
    assert {row["asks"] for row in hyper_nodes(trace)} == {2}
    notes = {group["name"]: group["note"] for group in dry_runs(*traced(
        scenes.growing_cluster().objects(), CONF))["groups"]}
    assert notes["rack-3"] == "the gang runs elsewhere", "grey pods are the other ones"


@pytest.mark.parametrize(("groups", "size", "job_tier", "placed"),
                         [(2, 4, 2, True), (2, 4, 1, False), (3, 3, 2, True), (3, 4, 2, False),
                          (3, 4, 3, True), (1, 8, 3, False)])
def test_sub_groups_are_in_one_rack_each_and_the_gang_within_its_tier(groups, size, job_tier,
                                                                      placed):
    job = scenes.sub_group_cluster(groups, size, job_tier).run(CONF).session.jobs["default/train"]
    rack_of = {node: rack for rack, nodes in RACKS.items() for node in nodes}
    racks = {}
    for task in job.tasks.values():
        racks.setdefault(job.task_to_sub_job[task.uid], set()).add(rack_of.get(task.node_name, ""))
    assert len(job.tasks) == groups * size and len(racks) == groups
    if not placed:
        assert set.union(*racks.values()) == {""}
        return
    assert all(len(each) == 1 and each != {""} for each in racks.values())
    rooms = {room for room, inside in ROOMS.items() if set.union(*racks.values()) & set(inside)}
    assert len(rooms) == 1 or job_tier == 3


def test_points_of_a_soft_gang_by_the_formula_of_the_lesson():
    trace, _ = traced(topology_cluster(pods=5, mode="soft").objects(), CONF)
    points = scenes.points_by_rack(trace, "train-1")["train-1"]
    tiers = {"rack-2": 2, "rack-3": 3}
    assert {rack: float(points[rack]) for rack in tiers} == {
        rack: (3 - tier) / (3 - 1) * 100 for rack, tier in tiers.items()
    }
    assert float(points["rack-1"]) == 100 + 1 / 5 * 100


@pytest.mark.parametrize("mode", ["soft", "hard"])
def test_a_hyper_node_below_two_others_stops_jobs_with_a_topology(mode, capfd):
    placed, said = scenes.claimed_twice(mode)
    assert placed == 0 and '"room-3"' in said
    assert capfd.readouterr().err == ""


def test_the_solution_tries_what_the_plugin_tries():
    trees = list(checks.trees())
    assert {len(checks._as_volcano(*tree)) for tree in trees} >= {0, 1, 2, 3}
    assert all(in_order(*tree) == checks._as_volcano(*tree) for tree in trees)


@pytest.mark.long
def test_every_task_of_the_lab_can_be_done():
    lab = topology_lab()
    for task in lab.tasks:
        lab.begin(task.name)
        assert not lab.done[task.name], task.name
        lab.set(**task.show)
        assert lab.done[task.name], task.name


@pytest.mark.long
@pytest.mark.parametrize("values", [{}, {"pods": 20, "highest_tier": 3}, {"cpu": 4, "mode": "soft"},
                                    {"pods": 7, "highest_tier": 2}])
def test_the_picture_shows_every_pod_where_it_is(values):
    lab = topology_lab().set(**values)
    drawn = [pod for node in lab.board["cluster"]["nodes"] for pod in node["pods"]]
    assert sum(pod["ring"] for pod in drawn) == lab.facts.placed
    assert len(drawn) - lab.facts.placed == 13
    assert all(pod["state"] == ("allocated" if pod["ring"] else "running") for pod in drawn)
    chosen = [group["name"] for group in lab.board["cluster"]["groups"]
              if group["state"] == "chosen"]
    assert chosen == ([lab.facts.goes] if lab.facts.goes.startswith("r") else [])


def test_racks_of_a_gang_in_parts_say_that_they_hold_one():
    groups = dry_runs(*traced(scenes.sub_group_cluster().objects(), CONF))["groups"]
    notes = {group["name"]: (group["note"], group["state"]) for group in groups}
    assert notes["room-1"] == ("chosen: 175", "chosen")
    assert notes["rack-1"] == notes["rack-2"] == ("a sub-group", "")
    assert notes["rack-3"] == notes["rack-4"] == ("", "")


@pytest.mark.long
def test_the_lowest_tier_to_grow_is_the_checks():
    starts = [tier for tier in (1, 2, 3)
              if scenes.growing_cluster(tier, node_2=4).run(CONF).committed]
    assert starts == [2, 3] and checks_of("10")["tier_to_grow"](starts[0]).state == WELL_DONE
