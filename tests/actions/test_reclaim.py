"""reclaim: who takes back from whom, and what keeps it from doing so."""

from __future__ import annotations

import pytest
from evictions import (
    Change,
    Notes,
    annotate,
    change,
    conf,
    contended,
    decide,
    decisions,
    priority,
    run,
    scene,
    spec,
)
from hypothesis import HealthCheck, given, settings, strategies as st

from volcano_lab.api import PIPELINED
from volcano_lab.api.job_conditions import task_scheduling_reason
from volcano_lab.api.objects import PodSchedulingGate, Taint
from volcano_lab.api.task import PREEMPTABLE
from volcano_lab.cache import Cache
from volcano_lab.cluster import Cluster
from volcano_lab.framework import Plugin
from volcano_lab.framework.observer import Observer
from volcano_lab.framework.registry import registered
from volcano_lab.scheduler import Scheduler


def base() -> Cluster:
    """A full node of queue a; queue b, of equal weight, has a waiting job."""
    return (Cluster().node("n1", cpu=8).queue("a").queue("b")
            .job("old", queue="a", pods=8, cpu=1, min_member=1, running={"n1": 8})
            .job("new", queue="b", pods=2, cpu=1, min_member=1))


def preemptable_label(pod: str, value: str) -> Change:
    return change("Pod", pod, lambda obj: obj.metadata.labels.update({PREEMPTABLE: value}))


ONE = ["evict old-6 n1", "pipeline new-0 n1"]
BY_PROPORTION = ["evict old-1 n1", "pipeline new-0 n1"]
"""proportion names tasks in order until the queue would be at its due: of eight two. gang names
seven of eight.
"""


@pytest.mark.parametrize(
    ("sentence", "changes", "expected"),
    [
        ("for the gang's minimum of one, one task goes: the last of those that the gang can spare",
         [], ONE),
        ("a gang of two starves until both are placed", [spec(
            "PodGroup", "new", min_member=2)], [*ONE, "evict old-5 n1", "pipeline new-1 n1"]),
        ("a queue may say that nothing is taken back from it",
         [spec("Queue", "a", reclaimable=False)], []),
        ("a task may say that it isn't preemptable", [annotate("old-6", preemptable="false")
                                                      ], ["evict old-7 n1", "pipeline new-0 n1"]),
        ("so may its label", [preemptable_label("old-6", "false")],
         ["evict old-7 n1", "pipeline new-0 n1"]),
        ("an annotation counts before a label", [
            preemptable_label("old-6", "false"), annotate("old-6", preemptable="true")], ONE),
        ("a task whose policy is Never takes nothing",
         [spec("Pod", "new", preemption_policy="Never")], []),
        ("a task behind a scheduling gate doesn't claim", [
            spec("Pod", "new-0", scheduling_gates=[PodSchedulingGate("wait")])
        ], ["evict old-6 n1", "pipeline new-1 n1"]),
        ("a closed queue doesn't claim",
         [change("Queue", "b", lambda queue: setattr(queue.status, "state", "Closed"))], []),
        ("a job that isn't admitted doesn't claim", [spec("PodGroup", "new", min_member=5)
                                                   ], []),  # it has two tasks: invalid
        ("what is being deleted is no victim", [
            change("Pod", "old-6", lambda pod: setattr(pod.metadata, "deletion_timestamp", 1.0))
        ], ["evict old-5 n1", "pipeline new-0 n1"]),
        ("a priority doesn't make a job of another queue safe", [priority("old", 1000)], ONE),
        ("a taint keeps the task off the node", [
            change("Node", "n1",
                   lambda node: node.spec.taints.append(Taint("dedicated", "", "NoSchedule")))
        ], []),
        ("all tasks of the system's own namespace stay, so the first tier names no victim; "
         "then proportion decides alone",
         [
             change("PodGroup", "old",
                    lambda group: setattr(group.metadata, "namespace", "kube-system")),
             change("Pod", "old", lambda pod: setattr(pod.metadata, "namespace", "kube-system"))
         ], BY_PROPORTION),
        ("the same for a gang without a task to spare: an empty answer is no veto",
         [spec("PodGroup", "old", min_member=8)], BY_PROPORTION),
    ])
def test_one_task_is_taken_back_unless(sentence, changes, expected):
    assert decide(base(), conf(), *changes) == expected, sentence


def test_in_one_tier_an_empty_answer_is_a_veto():
    tight = conf("priority conformance proportion gang", "predicates nodeorder")
    assert decide(base(), tight) == BY_PROPORTION
    assert decide(base(), tight, spec("PodGroup", "old", min_member=8)) == []


def test_a_gang_that_gets_less_than_its_minimum_gives_all_back():
    let_in = change("PodGroup", "new", lambda group: setattr(group.status, "phase", "Inqueue"))
    ssn = run(scene(base().job("new", pods=9, min_member=9), let_in), conf(actions="reclaim"))
    assert decisions(ssn) == []
    assert ssn.undone == 8  # four evicted and four pipelined: the deserved share of queue b
    assert {str(task.status) for task in ssn.jobs["default/old"].tasks.values()} == {"Running"}


def test_a_queue_at_its_deserved_share_is_overused_and_skipped():
    cluster = base().job("old", pods=4, running={"n1": 4}).job("mine", queue="b", pods=4, cpu=1,
                                                               min_member=1, running={"n1": 4})
    assert decide(cluster.job("old", pods=9), conf()) == []


def test_a_queue_takes_its_place_among_the_others_again_after_each_job_but_its_last():
    """All of its jobs are tried at once, so nothing is left when it is popped again."""
    cluster = base().queue("c").job("other", queue="c", pods=1, cpu=1)
    cluster.job("next", queue="b", pods=1, cpu=1).job("last", queue="b", pods=1, cpu=1)
    admitted = change("PodGroup", "", lambda group: setattr(group.status, "phase", "Inqueue"))
    turns = []

    class Queues(Observer):
        def popped(self, kind, item, rest):
            if kind == "queue":
                turns.append(item.uid)

    Scheduler(Cache(scene(cluster, admitted)), conf(actions="reclaim")).run_once(Queues())
    assert sorted(turns) == ["a", "b", "b", "b", "c"]


def test_a_queue_takes_nothing_back_from_itself():
    cluster = base().job("old", pods=4, running={"n1": 4}).job("mine", queue="b", pods=4, cpu=1,
                                                               min_member=1, running={"n1": 4})
    only_gang = conf("gang", "predicates nodeorder")
    decided = decide(cluster, only_gang, spec("Queue", "a", reclaimable=False))
    assert decided == []  # although gang would allow three of its own


@pytest.mark.long
def test_a_queue_that_any_plugin_calls_overused_is_skipped_for_the_next():
    class Mine(Plugin):
        def overused(self, queue):
            return queue.name == "b"

    with registered(plugin={"mine": Mine}):
        after = base().queue("c").job("other", queue="c", pods=1, cpu=1)
        mine = conf("priority gang conformance mine")
        assert decide(base(), mine) == []
        assert decide(after, mine) == ["evict old-6 n1", "pipeline other-0 n1"]


def test_idle_resources_do_not_make_a_node_without_victims_a_candidate():
    assert decide(base().node("n0", cpu=8), conf()) == ONE


def test_one_victim_is_evicted_even_where_the_task_fits():
    assert decide(base().node("n1", cpu=9), conf()) == ONE


@pytest.mark.parametrize(("cpu", "done", "nominated"), [
    (8, ONE, "n1"), (9, ["pipeline new-0 n1"], "")])
def test_the_node_of_a_task_is_nominated_where_a_pod_was_evicted_for_it(cpu, done, nominated):
    """gang allows no victim of a gang at its minimum, and no later tier has victims."""
    least = spec("PodGroup", "old", min_member=8 if cpu == 9 else 1)
    ssn = run(scene(base().node("n1", cpu=cpu), least), conf("gang", "predicates nodeorder"))
    assert decisions(ssn) == done
    new = ssn.jobs["default/new"]
    assert [task_scheduling_reason(new, task.uid).nominated_node
            for task in new.in_status(PIPELINED).values()] == [nominated]


def test_a_large_task_evicts_until_it_fits_and_no_further():
    assert decide(base().job("new", pods=1, cpu=3), conf()) == [
        "evict old-6 n1",
        "evict old-5 n1",
        "evict old-4 n1",
        "pipeline new-0 n1",
    ]


def test_the_first_node_with_enough_victims_is_taken_though_a_later_one_would_need_fewer():
    cluster = base().node("n2", cpu=8).job("old", pods=10, running={"n1": 8, "n2": 2})
    assert decide(cluster, conf()) == ["evict old-7 n1", "pipeline new-0 n1"]


def test_the_emptier_victim_queue_keeps_its_tasks():
    cluster = (Cluster().node("n1", cpu=9).queue("a").queue("b").queue("c")
               .job("few", queue="c", pods=3, cpu=1, min_member=1, running={"n1": 3})
               .job("many", queue="a", pods=6, cpu=1, min_member=1, running={"n1": 6})
               .job("new", queue="b", pods=1, cpu=1))
    assert decide(cluster, conf()) == ["evict many-4 n1", "pipeline new-0 n1"]


def test_reclaim_is_recorded():
    notes = Notes()
    Scheduler(Cache(scene(base())), conf()).run_once(notes)
    facts = dict(notes.rows)
    assert facts["claimant"] == {"task": "default/new-0", "job": "default/new", "queue": "b"}
    assert facts["victims"]["chosen"] == ["default/old-6"]
    assert facts["victims"]["node"] == "n1"


@pytest.mark.long
@given(contended(), st.sampled_from(["proportion", "capacity", "drf proportion"]))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_arrays_decide_as_node_by_node(objects, fairness):
    run(objects,
        conf(second=f"predicates {fairness} nodeorder", actions="enqueue, allocate, reclaim"))
