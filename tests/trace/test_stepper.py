"""The stepper: its last state is the session's, its first the snapshot's, and every step can be
taken back.
"""

from __future__ import annotations

import tracemalloc

import pytest
from recorded_cases import HERE, rows

from volcano_lab.cli.replay import load_cache
from volcano_lab.cluster import Cluster
from volcano_lab.scheduler import Scheduler, traced
from volcano_lab.trace import Trace, state_of
from volcano_lab.trace.stepper import Stepper

FAMILIES = ("fair_share", "hierarchy", "gang", "reclaim", "preempt", "topology", "subgroups",
            "best_effort", "contention")


def stepped(case):
    trace = Trace()
    ssn = Scheduler(load_cache(case), case["conf"]).run_once(trace)
    return Stepper(trace), ssn


@pytest.fixture(scope="module")
def cases():
    return rows(HERE / "dev-cases.jsonl.gz")


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_the_last_state_is_the_sessions_and_the_first_the_snapshots(cases, family):
    moved = 0
    for case in [case for case in cases if case["family"] == family]:
        stepper, ssn = stepped(case)
        assert stepper.goto(len(stepper.trace.records)).state == state_of(ssn), case["name"]
        moved += len(stepper.trace.operations)
        assert stepper.goto(-1).state == stepper.trace.start, case["name"]
    assert moved > 100


@pytest.mark.long
def test_back_undoes_each_step_one_by_one(cases):
    case = max((case for case in cases if case["family"] == "preempt"),
               key=lambda case: len(case["objects"]))
    stepper, _ = stepped(case)
    seen = []
    while True:
        seen.append((stepper.at, repr(stepper.state), repr(stepper.statements)))
        if stepper.forward() is None:
            break
    for at, state, statements in reversed(seen[:-1]):
        stepper.back()
        assert (stepper.at, repr(stepper.state), repr(
            stepper.statements)) == (at, state, statements)
    assert len(seen) > 10
    assert stepper.back() is None


def cluster(cpus):
    return Cluster().node("n1", cpu=cpus).queue("a").job("one", queue="a", pods=3, cpu=1).job(
        "two", pods=1, cpu=1)


def test_a_statement_is_there_while_it_is_under_way():
    trace, _ = traced(cluster(4).objects())
    stepper = Stepper(trace)
    stepper.jump(job="default/one", operation="allocate")
    stepper.forward()
    assert pods_under_way(stepper) == ["default/one-0", "default/one-1"]
    stepper.jump(job="default/one", outcome="commit")
    assert pods_under_way(stepper) == ["default/one-1", "default/one-2"]
    assert stepper.back().kind == "do" and len(pods_under_way(stepper)) == 3


def pods_under_way(stepper):
    return [pod for operations in stepper.statements.values() for _, pod, _ in operations]


def test_jumps_to_a_queue_a_job_a_discard_and_back():
    objects = Cluster().node("n1", cpu=2).node("n2", cpu=2).job("big", pods=3, cpu=1.5).objects()
    trace, _ = traced(
        objects,
        'actions: "enqueue, allocate"\ntiers:\n- plugins:\n  - name: gang\n  - name: predicates\n')
    stepper = Stepper(trace)
    assert stepper.jump(queue="default").kind == "queue"
    assert stepper.jump(
        outcome="discard")["task"] == "default/big-1", "the last operation is taken back first"
    assert stepper.jump(job="default/big", operation="allocate", backwards=True).kind == "do"
    at = stepper.at
    assert stepper.jump(queue="nobody") is None and stepper.at == at
    with pytest.raises(ValueError, match='allowed are "commit" and "discard"'):
        stepper.jump(outcome="later")


@pytest.mark.slow
def test_ten_thousand_steps_take_less_than_200_megabytes():
    large = Cluster()
    for number in range(100):
        large.node(f"n{number:03}", cpu=64, memory="256Gi")
    for number in range(100):
        large.queue(f"q{number % 5}").job(f"j{number:03}", queue=f"q{number % 5}", pods=50, cpu=1,
                                          memory="1Gi")
    objects = large.objects()
    tracemalloc.start()
    trace, ssn = traced(objects)
    before = tracemalloc.get_traced_memory()[0]
    del ssn
    stepper = Stepper(trace)
    stepper.goto(len(stepper.trace.records))
    stepper.goto(-1)
    size, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(trace.operations) >= 10_000
    assert peak - before < 200e6 and size < 200e6, (size, peak, before)


@pytest.mark.parametrize("beyond", [1, 99])
def test_no_step_leads_beyond_the_ends(beyond):
    trace, _ = traced(Cluster().node("n1", cpu=4).job("a", cpu=1).objects())
    stepper, last = Stepper(trace), len(trace.records) - 1
    assert stepper.goto(last + beyond).at == last
    assert stepper.goto(-1 - beyond).at == -1 and stepper.state == trace.start
