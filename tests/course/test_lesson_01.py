"""The lab of the first lesson without a browser, and the rows that its tables show."""

import pytest

from volcano_lab.course.lesson_01.lab import (
    CHOICES,
    conf_with,
    phases,
    phases_over_time,
    questions,
    small_cluster,
)
from volcano_lab.framework.points.table import BUILT_IN
from volcano_lab.simulation import JobTemplate, Simulation, every


@pytest.mark.parametrize("actions", CHOICES)
def test_the_phases_are_those_of_the_cycle(actions):
    rows = {row["job"]: row for row in phases(small_cluster(), actions)}
    cycle = small_cluster().run(conf_with(actions))
    assert {name: row["close"] for name, row in rows.items() if name != "lost"} == {
        row["job"].removeprefix("default/"): row["phase"] for row in cycle.jobs()}
    assert rows["lost"]["open"] == "left out"
    pods = sum(
        int(text.split()[0])
        for row in rows.values()
        for text in row.values()
        if text.endswith(("pod", "pods")))
    assert pods == len(cycle.committed)


def test_a_gang_is_running_when_its_pods_are_bound_and_completed_when_they_are_done():
    rows = phases_over_time(small_cluster(), 3)
    assert [row["train"] for row in rows] == [
        "Inqueue (pods: Binding)", "Running (pods: Bound)", "Running (pods: Running)"
    ]
    assert {row["wide"] for row in rows} == {"Pending (pods: Pending)"}
    assert all("lost" not in row for row in rows)


def test_the_phase_that_is_asked_about_is_what_the_updater_says():
    """Two pods bound or running of three that are needed, one on its way: still Inqueue."""
    from volcano_lab.api.status import TaskStatus
    from volcano_lab.framework.job_updater import pod_group_phase

    gang = JobTemplate("gang", queue="team", pods=3, cpu=0.1, run_time=99)
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
