"""The lab of the first lesson without a browser, and the rows that its tables show."""

from itertools import permutations

import pytest

from volcano_lab.course.lesson_01.lab import (
    ACTIONS,
    NONE,
    PLACES,
    Ran,
    cycle_lab,
    phases,
    phases_over_time,
    questions,
    small_cluster,
)
from volcano_lab.framework.points.table import BUILT_IN
from volcano_lab.simulation import JobTemplate, Simulation, every

LISTS = [", ".join(some) for n in (1, 2, 3) for some in permutations(ACTIONS.split(", "), n)]


def listed(actions):
    """The lab's controls for a list of actions."""
    return dict(zip(PLACES, [*actions.split(", "), NONE, NONE], strict=False))


@pytest.mark.parametrize("actions", [*LISTS, "allocate, enqueue, allocate"])
def test_the_phases_are_those_of_the_cycle(actions):
    ran = Ran(actions)
    rows, cycle = {row["job"]: row for row in phases(ran)}, ran.cycle
    placed = {row["job"].removeprefix("default/"): row for row in cycle.jobs()}
    assert {name: row["close"] for name, row in rows.items() if name != "lost"} == {
        name: row["phase"] for name, row in placed.items()}
    assert rows["lost"]["open"] == "✗ left out"
    pods = sum(int(text.split()[1]) for row in rows.values() for text in row.values()
               if text.endswith(("pod", "pods")))
    assert pods == len(cycle.committed)


def test_what_allocate_tried_and_gave_back_is_held_back():
    wide = phases(Ran("allocate, backfill"))[-1]
    assert (wide["allocate"], wide["close"]) == ("✗ not all fit", "Inqueue")


@pytest.mark.long
@pytest.mark.parametrize(("actions", "said"), [
    ("backfill", "train is not admitted (was placed): No action of the configuration admits jobs "
     "(enqueue or allocate). helper is not admitted (was placed): backfill passes over jobs that"),
    ("backfill, enqueue, allocate", "helper is not tried (was placed): enqueue admits it after "
     "backfill has run."),
    ("backfill, allocate", "helper is not tried (was placed): allocate admits it after backfill"),
    ("allocate, backfill", "wide is discarded (was not admitted): without enqueue, allocate admits "
     "it; its 3 pods do not all fit."),
    ("allocate, enqueue", "helper is not tried (was placed): only backfill places pods without"),
    ("allocate, enqueue", "train is not tried (was placed): enqueue admits it after allocate"),
    ("enqueue, allocate", "helper is not tried (was placed): only backfill places pods without"),
    ("enqueue, backfill", "train is not tried (was placed): The configuration has no allocate")])
def test_the_lab_says_why_a_job_ends_otherwise(actions, said):
    assert said in cycle_lab().set(**listed(actions)).said


@pytest.mark.long
def test_the_lab_names_the_action_that_admits_a_job():
    lab = cycle_lab().set(**listed("allocate, enqueue")).set(**listed("enqueue, allocate"))
    assert "train is placed (was not tried): enqueue admits it; allocate places it." in lab.said
    said = lab.set(**listed("allocate, enqueue")).set(**listed("allocate, backfill")).said
    assert "train is placed (was not tried): without enqueue, allocate admits it;" in said
    assert said.index("wide is discarded") < said.index("train is placed"), "the largest first"
    assert said.endswith("without enqueue, allocate admits it; backfill places it.")


@pytest.mark.long
def test_the_next_cycle_places_what_was_admitted_too_late_and_then_it_runs():
    lab = cycle_lab().set(**listed("allocate, enqueue"))
    assert "train is placed (was not tried): it was admitted in the cycle before;" in lab.set(
        cycle=2).said
    assert "train is running (was placed)." in lab.set(cycle=3).said
    assert {row["job"]: row["close"] for row in lab.board["phases"]}["train"] == "Running"


@pytest.mark.long
def test_a_move_names_the_jobs_that_it_leaves_waiting_for_an_action():
    lab = cycle_lab().set(third=NONE)
    assert "still waits" not in lab.said, "that it waits is new"
    assert lab.set(cycle=2).said.endswith(
        "helper still waits: only backfill places pods without requests.")
    assert "still waits" not in lab.set(third="backfill").said


def test_an_action_that_is_twice_in_the_list_has_a_column_each_time():
    lab = cycle_lab().set(**listed("allocate, enqueue, allocate"))
    row = next(row for row in lab.board["phases"] if row["job"] == "train")
    assert (row["allocate"], row["enqueue"], row["allocate (3)"]) == ("·", "✓ admitted", "✓ 2 pods")


@pytest.mark.long
def test_the_job_that_was_left_out_is_placed_where_its_queue_exists():
    lab = cycle_lab().set(nobody=True)
    assert "lost is placed (was left out): enqueue admits it; allocate places it." in lab.said
    assert any(pod["label"] == "lost-0" for node in lab.board["cluster"]["nodes"]
               for pod in node["pods"])
    lab.set(nobody=False)
    assert "lost is left out (was placed): its queue does not exist." in lab.said
    assert not any(pod["label"] == "lost-0" for node in lab.board["cluster"]["nodes"]
                   for pod in node["pods"])


def test_a_gang_is_running_when_its_pods_are_bound_and_completed_when_they_are_done():
    film = phases_over_time(small_cluster())
    assert [name.split()[-1] for name in film.spec["moments"]] == ["Inqueue", "Running", "Running"]
    assert [[pod["state"] for pod in moment["pods"]] for moment in film.data] == [
        ["Binding"] * 2, ["Bound"] * 2, ["Running"] * 2]
    waiting = phases_over_time(small_cluster(), "wide")
    assert {pod["state"] for moment in waiting.data for pod in moment["pods"]} == {"Pending"}


def test_the_phase_that_is_asked_about_is_what_the_updater_says():
    """Two pods bound or running of three that are needed, one on its way: still Inqueue."""
    from volcano_lab.api.status import TaskStatus
    from volcano_lab.framework.job_updater import pod_group_phase

    gang = JobTemplate("gang", queue="team", pods=3, cpu=0.1, run_time=99, at_once=True)
    sim = Simulation(small_cluster(), workload=[every(1, gang, count=1)])
    sim.run(until=1.2)
    job = next(job for job in sim.ssn.jobs.values() if job.name.startswith("gang"))
    tasks = list(job.tasks.values())
    for task, status in zip(tasks, (TaskStatus.RUNNING, TaskStatus.BOUND, TaskStatus.BINDING),
                            strict=True):
        job.update_task_status(task, status)
    job.pod_group.status.phase = "Inqueue"
    assert pod_group_phase(job, unschedulable=False) == "Inqueue"
    job.update_task_status(tasks[2], TaskStatus.BOUND)
    assert pod_group_phase(job, unschedulable=False) == "Running"


def test_the_questions_are_extension_points_of_the_default_plugins():
    rows = questions()
    assert {row["point"] for row in rows} <= set(BUILT_IN)
    assert {row["answered by"]
            for row in rows
            if row["point"] == "job_enqueueable"} == {"overcommit, proportion"}
    assert all("reclaim" not in row["asked by"] for row in rows)
