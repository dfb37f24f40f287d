"""What a session's end makes of each PodGroup: its phase, its counts, and whether it is written at
all.
"""

import attrs
import pytest

from volcano_lab.api.objects import PodGroupCondition, PodGroupStatus
from volcano_lab.cache import Cache
from volcano_lab.cluster import Cluster
from volcano_lab.framework.job_updater import (
    ALLOCATED_HYPER_NODE_ANNOTATION,
    pod_group_phase,
    status_changed,
)
from volcano_lab.framework.observer import Observer
from volcano_lab.scheduler import Scheduler


def job_with(phases, phase="Inqueue", min_member=2):
    """A job whose pods are in these phases (P, B and R for Pending, Bound and Running, S and F for
    Succeeded and Failed).
    """
    cluster = Cluster().node("n1", cpu=100).job("a", pods=len(phases), cpu=1, min_member=min_member)
    objects = cluster.objects()
    words = {"P": "Pending", "B": "Pending", "R": "Running", "S": "Succeeded", "F": "Failed"}
    letters = iter(phases)
    for number, obj in enumerate(objects):
        if obj.kind == "Pod":
            letter = next(letters)
            obj = attrs.evolve(obj, status=attrs.evolve(obj.status, phase=words[letter]))
            objects[number] = attrs.evolve(
                obj, spec=attrs.evolve(obj.spec, node_name="" if letter == "P" else "n1"))
        elif obj.kind == "PodGroup":
            objects[number] = attrs.evolve(obj, status=attrs.evolve(obj.status, phase=phase))
    return Cache(objects).snapshot().jobs["default/a"]


@pytest.mark.parametrize(("phases", "before", "unschedulable", "after"), [
    ("PP", "Pending", False, "Pending"),
    ("PP", "Inqueue", False, "Inqueue"),
    ("PP", "Running", False, "Pending"),
    ("BP", "Inqueue", False, "Inqueue"),
    ("BB", "Inqueue", False, "Running"),
    ("RR", "Running", False, "Running"),
    ("RP", "Running", True, "Unknown"),
    ("RR", "Running", True, "Unknown"),
    ("BB", "Inqueue", True, "Running"),
    ("SS", "Running", False, "Completed"),
    ("FF", "Running", False, "Completed"),
    ("SR", "Running", False, "Running"),
    ("SSP", "Running", False, "Completed"),
    ("SP", "Running", False, "Pending"),
])
def test_the_phase(phases, before, unschedulable, after):
    assert pod_group_phase(job_with(phases, before), unschedulable) == after


CONDITION = PodGroupCondition("Unschedulable", "True", "session-1", 5.0, "NotEnoughResources",
                              "text")
BEFORE = PodGroupStatus("Inqueue", [CONDITION], 1, 2, 3)


@pytest.mark.parametrize(("change", "written"), [
    ({}, False),
    ({"phase": "Running"}, True),
    ({"running": 2}, True),
    ({"succeeded": 3}, True),
    ({"failed": 4}, True),
    ({"conditions": []}, True),
    ({"conditions": [attrs.evolve(CONDITION, transition_id="session-2")]}, False),
    ({"conditions": [attrs.evolve(CONDITION, last_transition_time=9.0)]}, False),
    ({"conditions": [attrs.evolve(CONDITION, message="another text")]}, True),
    ({"conditions": [attrs.evolve(CONDITION, status="False")]}, True),
    ({"conditions": [CONDITION, PodGroupCondition("Scheduled", "True")]}, True),
])
def test_only_what_changed_is_written(change, written):
    assert status_changed(attrs.evolve(BEFORE, **change), BEFORE) is written


def test_a_condition_names_the_session_that_found_it_and_when():
    cache = Cluster().node("n1", cpu=1).job("a", cpu=2).cache()
    scheduler = Scheduler(cache)
    for number in (1, 2):
        ssn = scheduler.run_once(now=1000.5 + number)
        (condition, ) = (c for c in ssn.jobs["default/a"].pod_group.status.conditions
                         if c.type == "Unschedulable")
        assert (condition.transition_id, condition.last_transition_time) == (f"session-{number}",
                                                                             1000.0 + number)


def test_an_earlier_sessions_condition_does_not_set_the_phase():
    stale = attrs.evolve(CONDITION, transition_id="session-0")
    objects = (Cluster().node("n1", cpu=4).job("a", pods=2, cpu=1, running={"n1": 1})).objects()
    objects = [obj.changed(status={"conditions": [stale]}) if obj.kind == "PodGroup" else obj
               for obj in objects]
    ssn = Scheduler(Cache(objects), "actions: backfill").run_once()
    status = ssn.jobs["default/a"].pod_group.status
    assert status.conditions == [stale] and status.phase != "Unknown"


def test_a_gang_is_completed_once_none_of_its_tasks_runs_any_more():
    gang = Cluster().node("n1", cpu=4).job("a", pods=2, cpu=1, min_member=1, running={"n1": 2})
    for running, phase in ((1, "Running"), (0, "Completed")):
        ends = [pod.evolve(status=pod.status.evolve(phase="Succeeded"))
                for pod in gang.objects() if pod.kind == "Pod"][running:]
        others = [obj for obj in gang.objects() if obj.key not in {pod.key for pod in ends}]
        job = Scheduler(Cache([*others, *ends])).run_once().jobs["default/a"]
        assert job.pod_group.status.phase == phase


def test_what_a_session_writes_is_what_changed(monkeypatch):
    cache = Cluster().node("n1", cpu=4).job("fits", cpu=2).job("waits", cpu=9).cache()
    calls = []
    monkeypatch.setattr(cache, "update_job_status", lambda job, *flags: calls.append(
        (job.name, *flags)))
    Scheduler(cache).run_once(now=1000.0)
    assert calls == [("fits", True, False, False), ("waits", True, False, False)]


def test_a_hyper_node_that_was_chosen_is_written(monkeypatch):
    cache = Cluster().node("n1", cpu=4).job("a", cpu=2).cache()
    calls = []
    monkeypatch.setattr(cache, "update_job_status", lambda job, *flags: calls.append(flags))

    class Choose(Observer):
        def action_ended(self, ssn, action):
            group = ssn.jobs["default/a"].pod_group
            group.metadata = attrs.evolve(group.metadata,
                                          annotations={ALLOCATED_HYPER_NODE_ANNOTATION: "rack-1"})
            ssn.dirty_jobs.add("default/a")

    Scheduler(cache).run_once(Choose(), now=1000.0)
    assert calls == [(True, True, True)]
