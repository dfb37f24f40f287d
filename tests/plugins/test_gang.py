"""gang: a job starts with its minimum or not at all, and keeps its minimum."""

from __future__ import annotations

import pytest
from clusters import cases
from hypothesis import HealthCheck, given, settings
from small_cluster import conf, group, names, node, open_session, pod, queue, run, task

from volcano_lab.cli.replay import load_cache
from volcano_lab.framework.points.rules import PERMIT, REJECT
from volcano_lab.scheduler import Scheduler

PHASES = {"R": "Running", "P": "Pending", "S": "Succeeded", "F": "Failed"}


def gang_of(text, name="a", **spec):
    """A gang by its pods: "RRP-w" are two that run and, of role w, one that waits; b asks for
    nothing."""
    spec.setdefault("minMember", 3)
    pods = []
    for word in text.split():
        letters, _, role = word.partition("-")
        for letter in letters:
            requests = {} if letter == "b" else None
            place = "" if letter in "Pb" else "n1"
            pods.append(pod(f"{name}-{len(pods)}", name, place, PHASES.get(letter, "Pending"),
                            role, requests))
    return [group(name, **spec), *pods]


def asked(text, **spec):
    ssn = open_session(node("n1", "8"), queue(), *gang_of(text, **spec), plugins="gang")
    return ssn, ssn.plugins["gang"], ssn.jobs["default/a"]


@pytest.mark.parametrize(
    ("sentence", "pods", "ready", "pipelined", "starving"),
    [
        ("as many run as are needed", "RRR", True, PERMIT, False),
        ("one too few", "RRP", False, REJECT, True),
        ("one that has succeeded counts", "RRS", True, PERMIT, False),
        ("one that has failed does not", "RRF", False, REJECT, True),
        ("one that asks for nothing counts while it waits, but the gang still starves", "RRb",
         True, PERMIT, True),
    ],
)
def test_the_minimum_decides(sentence, pods, ready, pipelined, starving):
    _, gang, job = asked(pods)
    found = gang.job_ready(job), gang.job_pipelined(job), gang.job_starving(job)
    assert found == (ready, pipelined, starving), sentence


@pytest.mark.parametrize(("pods", "ready", "pipelined"), [
    ("R-m RR-w", True, PERMIT),
    ("RR-m R-w P-w", False, REJECT),  # three run, but of role w one too few
])
def test_a_gang_needs_the_minimum_of_each_role_too(pods, ready, pipelined):
    _, gang, job = asked(pods, minMember=3, minTaskMember={"m": 1, "w": 2})
    assert (gang.job_ready(job), gang.job_pipelined(job)) == (ready, pipelined)


def test_a_pipelined_task_makes_a_gang_pipelined_but_not_ready():
    ssn, gang, job = asked("RRP")
    ssn.statement().pipeline(task(ssn, "a-2"), "n1")
    found = gang.job_ready(job), gang.job_pipelined(job), gang.job_starving(job)
    assert found == (False, PERMIT, False)


@pytest.mark.parametrize(
    ("sentence", "pods", "spec", "reason", "message"),
    [
        ("enough pods", "PPP", {}, "", ""),
        ("a pod too few", "PP", {}, "NotEnoughTasks",
         "Not enough valid tasks for gang-scheduling, valid: 2, min: 3"),
        ("a failed pod is not valid", "PPF", {}, "NotEnoughTasks", "valid: 2, min: 3"),
        ("a role has too few", "P-m PP-w", {"minTaskMember": {"m": 1, "w": 3}, "minMember": 4},
         "NotEnoughPodsOfTask", "Not enough valid pods of each task for gang-scheduling"),
        ("minima of roles beyond the gang's do not count", "P-m PP-w",
         {"minTaskMember": {"m": 1, "w": 3}}, "", ""),
        ("sub-groups are missing", "PPP",
         {"subGroupPolicy": [{"name": "s", "minSubGroups": 2, "matchLabelKeys": ["x"]}]},
         "NotEnoughPodsOfTask", "Not enough valid subGroups of each task for gang-scheduling"),
    ],
)
def test_a_job_is_invalid_that_can_never_start(sentence, pods, spec, reason, message):
    _, gang, job = asked(pods, **spec)
    found = gang.job_valid(job)
    assert (found.reason if found else "") == reason, sentence
    assert message in (found.message if found else ""), sentence


@pytest.mark.parametrize(
    ("sentence", "pods", "spec", "victims"),
    [
        ("what is above the minimum may go", "RRRRR", {}, ["a-0", "a-1"]),
        ("the minimum itself may not", "RRR", {}, []),
        ("below the minimum no pod is evicted", "RR", {}, []),
        ("without a minimum all may go", "RR", {"minMember": 0}, ["a-0", "a-1"]),
        ("a pod that has succeeded still counts for those that stay", "RRRS", {}, ["a-0"]),
    ],
)
def test_victims(sentence, pods, spec, victims):
    _, gang, job = asked(pods, **spec)
    running = [t for _, t in sorted(job.tasks.items()) if str(t.status) == "Running"]
    named, vote = gang.reclaimable(running[0], running)
    assert (names(named), vote) == (victims, PERMIT), sentence
    assert gang.preemptable(running[0], running)[0] == named


def test_a_gang_that_waits_is_ordered_before_one_that_is_ready():
    ssn = open_session(node("n1", "8"), queue(), *gang_of("RRR"), *gang_of("PPP", "b"),
                       plugins="gang")
    ready, waiting = ssn.jobs["default/a"], ssn.jobs["default/b"]
    assert ssn.job_order(waiting, ready) and not ssn.job_order(ready, waiting)


@pytest.mark.parametrize(
    ("sentence", "cpu", "kind", "reason", "message"),
    [
        ("all fit", "3", "Scheduled", "tasks in gang are ready to be scheduled", ""),
        ("two of three fit", "2", "Unschedulable", "NotEnoughResources",
         "1/3 tasks in gang unschedulable: pod group is not ready, 3 Pending, 3 minAvailable; "
         "Pending: 1 Unschedulable, 2 Schedulable. Origin reason is a-2: "
         "0/1 nodes are unavailable: 1 Insufficient cpu."),
    ],
)
def test_the_condition_says_how_it_went(sentence, cpu, kind, reason, message):
    ssn = run(node("n1", cpu), queue(), *gang_of("PPP"), conf=conf("gang", "predicates"))
    condition = ssn.jobs["default/a"].pod_group.status.conditions[-1]
    assert (condition.type, condition.reason) == (kind, reason), sentence
    assert condition.message == message, sentence


@pytest.mark.long
@given(cases())
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_after_any_cycle_a_gang_has_its_minimum_or_got_nothing(case):
    ssn = Scheduler(load_cache(case), case["conf"]).run_once()
    got = {key for what, key, _, *direct in ssn.committed
           if what == "allocate" and not direct}
    for job in ssn.jobs.values():
        if any(t.key in got for t in job.tasks.values()):
            assert job.is_ready(), job
