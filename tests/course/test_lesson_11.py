"""Lesson 11: the lab of binds that fail, the tables of a run, and the figure of the state machine.
"""

import itertools

import pytest

from volcano_lab.api.status import TRANSITIONS
from volcano_lab.course.lesson_11 import scene as healing
from volcano_lab.course.lesson_11.lab import (
    CONTROLS,
    LANES,
    UNTIL,
    lanes_of,
    run_lab,
    run_state,
    short_run,
)
from volcano_lab.simulation import KINDS
from volcano_lab.widgets.charts import transitions

START = {name: control.start for name, control in CONTROLS.items()}


@pytest.mark.long
def test_every_position_fits_the_scales():
    positions = itertools.product(range(0, 91, 30), CONTROLS["rate"].choices()[::2], (2, 5, 8))
    for fail, rate, period in positions:
        run = run_state(fail, rate, period)
        for lane, (_, most, _) in LANES.items():
            assert max(pods for _, pods in run["lanes"][lane]) <= most, (lane, fail, rate, period)
        assert all(0 <= time <= UNTIL for time, _ in run["refused"])


@pytest.mark.long
@pytest.mark.parametrize(("fail", "period"), [(0, 2), (50, 2), (90, 8)])
def test_the_lanes_are_what_happened(fail, period):
    sim, run = short_run(fail, START["rate"], period), run_state(fail, START["rate"], period)
    phases = [pod.status.phase for pod in sim.server.list("Pod")]
    waiting = sum(not pod.spec.node_name for pod in sim.server.list("Pod"))
    assert run["lanes"]["waiting"][-1][1] == waiting == run["facts"]["still waiting"]
    assert run["lanes"]["running"][-1][1] == phases.count("Running")
    assert run["facts"]["binds refused"] == sim.faults.struck["bind_refused"]
    assert sum(count for _, count in run["refused"]) == run["facts"]["binds refused"]
    assert len(lanes_of(run)["ticks"]) == sim.cycles


@pytest.mark.long
def test_the_same_pods_come_whatever_fails():
    def arrivals(**given):
        return [run.arrived for run in short_run(**START | given).side.jobs.values()]

    assert arrivals() == arrivals(fail=90) == arrivals(period=8) != arrivals(rate=10)


@pytest.mark.long
def test_every_task_of_the_lab_can_be_done():
    lab = run_lab()
    for task in lab.tasks:
        lab.begin(task.name)
        lab.set(**task.show)
        assert lab.done[task.name], task.name


@pytest.mark.long
def test_the_figure_of_the_states_has_every_legal_step_and_no_other():
    rows = transitions().data.to_dict()["values"]
    drawn = {(row["from"], row["to"]) for row in rows}
    assert drawn == {(str(old), str(new))
                     for old, allowed in TRANSITIONS.items()
                     for new in allowed}


@pytest.mark.long
def test_a_look_says_where_a_request_is():
    sim = healing.train()
    seen = []
    for second in (1.01, 1.3, 1.5):
        sim.run(until=second)
        seen.append(healing.look(sim).loc["train-1-0", ["on its way", "node there"]].tolist())
    assert seen == [["channel", "–"], ["bind request", "–"], ["–", "n1"]]
    sim = healing.reclaimed()
    sim.run(until=6.1)
    assert healing.look(sim).loc["web-1-0", "on its way"] == "evict request"


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_fault_heals(kind):
    sim = healing.train([(1, kind), (1, "bind_refused")])
    sim.run(until=60)
    assert sim.side.jobs[healing.JOB].finished


def test_a_lane_shows_when_pods_have_a_node_and_when_they_run():
    (lane,) = healing.running("slow", {"slow": healing.train(bind=2.5)}, until=6).data["lanes"]
    assert lane["line"] == [[0, 0], [1, 3]] and lane["points"][-1] == [4.52, 3]
    assert lane["points"][0] == [0, 0] and not lane["marks"]


@pytest.mark.long
def test_a_pod_that_has_ended_has_no_node():
    lanes = healing.known("", healing.train(), until=16).data["lanes"]
    assert [lane["points"][-1] for lane in lanes] == [[12.42, 0]] * 3


def test_the_cache_forgets_what_a_dead_scheduler_sent_until_it_hears_of_it():
    sim = healing.train()
    sim.calendar.after(1.2, sim.restart)
    cached, bound, run = (lane["points"] for lane in healing.known("", sim, 5).data["lanes"])
    assert cached[:3] == [[0, 0], [1, 3], [1.2, 0]] and cached[-1] == bound[-1] == [1.42, 3]
    assert run[-1] == [2.42, 3]
    assert healing.known("", sim, 6).data["lanes"][0]["points"] == [[5, 3]], "it is watched again"
