"""preempt: within a queue and within a job, plain and topology-aware; and what keeps a task from
it.
"""

from __future__ import annotations

import pytest
from evictions import (
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

from volcano_lab.actions.preempt_topology import Candidate, CandidateLimits, select_candidate
from volcano_lab.api.fit_error import UNRESOLVABLE, UNSCHEDULABLE, FitError, FitErrors, Status
from volcano_lab.api.objects import (
    Container,
    NetworkTopologySpec,
    ObjectMeta,
    Pod,
    PodCondition,
    PodSpec,
    PodStatus,
    ResourceRequirements,
)
from volcano_lab.api.task import TaskInfo
from volcano_lab.cache import Cache
from volcano_lab.cluster import Cluster
from volcano_lab.framework.config.arguments import Arguments
from volcano_lab.scheduler import Scheduler

PLAIN = conf(second="predicates nodeorder", actions="enqueue, preempt")
TOPOLOGY_AWARE = PLAIN + ("configurations:\n- name: preempt\n  arguments:\n"
                          "    enableTopologyAwarePreemption: true\n")
HIGH, LOW = priority("high", 1000), priority("low", 10)


def base() -> Cluster:
    """A full node, and in the same queue a job that matters more than the one that fills it."""
    return (Cluster().node("n1", cpu=4)
            .job("low", pods=4, cpu=1, min_member=1, running={"n1": 4})
            .job("high", pods=1, cpu=1))


def being_evicted(pod: Pod) -> None:
    pod.metadata.deletion_timestamp = 1.0
    pod.status = PodStatus("Running",
                           [PodCondition("DisruptionTarget", "True", "PreemptionByScheduler")])


def nominated(node: str):
    return change(
        "Pod", "high",
        lambda pod: setattr(pod, "status", PodStatus("Pending", nominated_node_name=node)))


ONE = ["evict low-2 n1", "pipeline high-0 n1"]


@pytest.mark.parametrize("how", [PLAIN, TOPOLOGY_AWARE], ids=["plain", "topology-aware"])
@pytest.mark.parametrize(("sentence", "changes", "expected"), [
    ("the last task that the gang can spare goes", [], ONE),
    ("jobs of equal priority leave each other alone", [priority("low", 1000)], []),
    ("a task may say that it isn't preemptable", [annotate("low", preemptable="false")], []),
    ("a gang without a task to spare keeps all", [spec("PodGroup", "low", min_member=4)], []),
    ("a task whose policy is Never evicts no pod", [spec("Pod", "high", preemption_policy="Never")
                                                    ], []),
    ("another queue's tasks are not touched", [spec("PodGroup", "low", queue="other")], []),
    ("a job with a network topology doesn't take part",
     [spec("PodGroup", "high", network_topology=NetworkTopologySpec("hard", 1))], []),
    ("no eviction frees what no node offers", [
        spec(
            "Pod", "high", containers=[
                Container("main", resources=ResourceRequirements({"example.com/fpga": "1"}))
            ])
    ], []),
    ("a cordoned node is no place to clear", [spec("Node", "n1", unschedulable=True)], []),
    ("a node that doesn't exist was promised: wait", [nominated("gone")], []),
    ("pods evicted before are still leaving the promised node: wait",
     [nominated("n1"), change("Pod", "low-3", being_evicted)], []),
])
def test_a_job_that_matters_more_takes_one_task_unless(sentence, changes, expected, how):
    cluster = base().queue("other")
    assert decide(cluster, how, LOW, HIGH, *changes) == expected, sentence


@pytest.mark.parametrize("condition", [
    ("Ready", "True", "PreemptionByScheduler"),
    ("DisruptionTarget", "False", "PreemptionByScheduler"),
    ("DisruptionTarget", "True", "EvictionByEvictionAPI"),
], ids="-".join)
def test_a_task_does_not_wait_for_pods_that_leave_its_promised_node_for_another_reason(condition):
    def leaving(pod: Pod) -> None:
        being_evicted(pod)
        pod.status.conditions[:] = [PodCondition(*condition)]

    changes = [nominated("n1"), change("Pod", "low-3", leaving)]
    assert decide(base(), PLAIN, LOW, HIGH, *changes) == ["pipeline high-0 n1"]


@pytest.mark.parametrize(("value", "expected"), [
    (999, []), (1000, ["pipeline high-0 n1"]), (1001, ["pipeline high-0 n1"]),
    (None, [])])
def test_a_task_waits_for_pods_of_a_lower_priority_that_leave_its_promised_node(value, expected):
    assert decide(base(), PLAIN, LOW, HIGH, nominated("n1"), change("Pod", "low-3", being_evicted),
                  spec("Pod", "low-3", priority=value)) == expected


def test_a_task_does_not_wait_for_pods_that_leave_its_promised_node_if_it_can_never_be_there():
    """A node that refuses it whatever pods leave: it preempts elsewhere."""
    cluster = base().node("n2", cpu=2).job("more", pods=2, cpu=1, min_member=1, running={"n2": 2})
    found = decide(cluster, PLAIN, LOW, HIGH, priority("more", 10), nominated("n1"),
                   change("Pod", "low-3", being_evicted), spec("Node", "n1", unschedulable=True))
    assert found == ["evict more-0 n2", "pipeline high-0 n2"]


def test_a_job_with_a_network_topology_keeps_no_other_from_preempting():
    cluster = base().job("first", pods=1, cpu=1)
    topology = spec("PodGroup", "first", network_topology=NetworkTopologySpec("hard", 1))
    assert decide(cluster, PLAIN, LOW, HIGH, priority("first", 1000), topology) == ONE


def test_a_node_that_was_found_to_be_no_place_at_all_is_not_cleared():
    """Volcano then takes the others of a map, in any order: by name here."""
    ssn = Scheduler(base().node("n2", cpu=4).node("n0", cpu=4).cache(), PLAIN).run_once()
    job = ssn.jobs["default/high"]
    (task,) = job.tasks.values()
    errors = job.nodes_fit_errors[task.uid] = FitErrors()
    for code, left in ((UNSCHEDULABLE, ["n1", "n2", "n0"]), (UNRESOLVABLE, ["n0", "n1"])):
        errors.set_node_error("n2", FitError(task.key, "n2", (Status(code, "no"),)))
        assert [node.name for node in ssn.nodes_that_eviction_may_help(task)] == left


def test_the_nominated_node_is_tried_again_when_no_pod_there_is_terminating():
    assert decide(base(), PLAIN, LOW, HIGH, nominated("n1")) == ONE


def test_a_promised_node_that_nothing_speaks_against_is_left_to_allocate():
    assert decide(base(), conf(second="nodeorder", actions="enqueue, preempt"), LOW, HIGH,
                  nominated("n1")) == []


@pytest.mark.parametrize(("how", "expected"), [(PLAIN, ["pipeline high-0 n1"]),
                                               (TOPOLOGY_AWARE, [])])
def test_a_best_effort_task_evicts_only_best_effort_ones(how, expected):
    assert decide(base(), how, LOW, HIGH, spec("Pod", "high", containers=[])) == expected


def test_a_job_that_is_too_large_to_be_helped_gives_all_back():
    ssn = run(scene(base().job("high", pods=5), LOW, HIGH), PLAIN)
    assert decisions(ssn) == []
    assert ssn.undone == 6  # three tasks of the other job were evicted, and three pipelined


def test_a_queue_at_its_limit_evicts_although_resources_are_idle():
    limited = Cluster().node("n1", cpu=8).queue("team", capability=4)
    cluster = (limited.job("low", queue="team", pods=4, cpu=1, min_member=1, running={"n1": 4})
               .job("high", queue="team", pods=1, cpu=1))
    with_limit = conf(second="predicates proportion", actions="enqueue, preempt")
    let_in = change("PodGroup", "high", lambda group: setattr(group.status, "phase", "Inqueue"))
    assert decide(cluster, with_limit, LOW, HIGH, let_in) == ONE
    assert decide(cluster, PLAIN, LOW, HIGH, let_in) == ["pipeline high-0 n1"]


@pytest.mark.parametrize(("how", "expected"),
                         [(PLAIN, ["pipeline high-0 n2"]),
                          (TOPOLOGY_AWARE, ["evict low-2 n1", "pipeline high-0 n1"])])
def test_resources_that_are_free_without_an_eviction(how, expected):
    """Plain preemption takes it; topology-aware preemption only ever takes nodes where somebody has
    to go.
    """
    assert decide(base().node("n2", cpu=4), how, LOW, HIGH) == expected


def test_within_a_job_the_more_important_task_takes_the_place_of_the_less_important():
    cluster = Cluster().node("n1", cpu=2).job("low", pods=3, cpu=1, min_member=1, running={"n1": 2})
    third = annotate("low-2", task_priority="100")
    within = conf("priority conformance", "predicates", "enqueue, preempt")
    assert decide(cluster, within, LOW, third) == ["evict low-1 n1", "pipeline low-2 n1"]
    assert decide(cluster, within, LOW) == []


@pytest.mark.parametrize(("sentence", "cpu", "limit", "expected"), [
    ("one pod leaves", 1, 2, ["evict low-1 n1", "pipeline low-2 n1"]),
    ("two pods leave", 2, 2, ["evict low-1 n1", "evict low-0 n1", "pipeline low-2 n1"]),
    ("two pods leave in vain: the queue's limit is below the request", 4, 2,
     ["evict low-1 n1", "evict low-0 n1"]),
    ("no pod leaves where all of them are too few for the node", 9, 9, []),
])
def test_within_a_job_what_was_evicted_in_vain_stays_evicted(sentence, cpu, limit, expected):
    """As in Volcano: the statement of a task is committed whether or not it got a node."""
    cluster = Cluster().node("n1", cpu=8).queue("team", capability=limit).job(
        "low", queue="team", pods=3, cpu=1, min_member=1, running={"n1": 2})
    third = annotate("low-2", task_priority="100")
    larger = spec("Pod", "low-2", containers=[Container(
        "main", resources=ResourceRequirements({"cpu": str(cpu)}))])
    within = conf("priority conformance", "predicates proportion", "enqueue, preempt")
    assert decide(cluster, within, LOW, third, larger) == expected, sentence


def test_the_jobs_of_all_queues_try_their_own_tasks_once_for_every_queue():
    """So a task of a later queue's job that found nothing is not there any more when its queue has
    its turn.
    """
    cluster = (Cluster().node("n1", cpu=2).queue("a").queue("b")
               .job("low", queue="b", pods=2, cpu=1, min_member=1, running={"n1": 2})
               .job("high", queue="b", pods=2, cpu=1, min_member=1)
               .job("one", queue="a", pods=1, cpu=4))
    two_queues = conf("priority conformance", "predicates", "enqueue, preempt")
    assert decide(cluster, two_queues, LOW, HIGH) == ["evict low-1 n1", "pipeline high-1 n1"]
    assert decide(cluster.remove("one"), two_queues, LOW, HIGH) == [
        "evict low-1 n1", "pipeline high-0 n1", "evict low-0 n1", "pipeline high-1 n1"]


def two_sizes() -> tuple[Cluster, list]:
    """One node with a least important task of 1 CPU and one of 3 CPUs; 3 CPUs are requested."""
    cluster = (Cluster().node(
        "n1", cpu=4).job("small", pods=1, cpu=1, min_member=0, running={"n1": 1}).job(
            "large", pods=1, cpu=3, min_member=0, running={"n1": 1}).job("high", pods=1, cpu=3))
    return cluster, [priority("small", 1), priority("large", 5), HIGH]


def test_only_a_dry_run_reprieves_victims():
    cluster, changes = two_sizes()
    assert decide(cluster, PLAIN,
                  *changes) == ["evict small-0 n1", "evict large-0 n1", "pipeline high-0 n1"]
    assert decide(cluster, TOPOLOGY_AWARE, *changes) == ["evict large-0 n1", "pipeline high-0 n1"]


def test_of_three_candidates_the_unnecessary_one_is_reprieved():
    """Whoever is put back and leaves too little is removed again before the next is tried."""
    cluster, changes = Cluster().node("n1", cpu=5).job("high", pods=1, cpu=4), [HIGH]
    for number, cpu in enumerate((2, 1, 2)):
        cluster.job(f"job{number}", pods=1, cpu=cpu, min_member=0, running={"n1": 1})
        changes.append(priority(f"job{number}", number))
    assert decide(cluster, TOPOLOGY_AWARE, *changes) == [
        "evict job0-0 n1", "evict job2-0 n1", "pipeline high-0 n1"]


def test_the_first_candidate_is_chosen_unless_more_are_requested():
    cluster = (Cluster().node("n1", cpu=1).node(
        "n2", cpu=1).job("less", pods=1, cpu=1, min_member=0, running={"n2": 1}).job(
            "more", pods=1, cpu=1, min_member=0, running={"n1": 1}).job("high", pods=1, cpu=1))
    changes = [priority("less", 1), priority("more", 5), HIGH]
    assert decide(cluster, TOPOLOGY_AWARE, *changes) == ["evict more-0 n1", "pipeline high-0 n1"]
    two = TOPOLOGY_AWARE + "    minCandidateNodesAbsolute: 2\n"
    assert decide(cluster, two, *changes) == ["evict less-0 n2", "pipeline high-0 n2"]


def test_actions_keep_an_argument_that_a_later_configuration_leaves_out():
    cluster, changes = two_sizes()
    expected = [["evict", "default/large-0", "n1"], ["pipeline", "default/high-0", "n1"]]
    actions = {}
    for text in (TOPOLOGY_AWARE, PLAIN):
        assert Scheduler(Cache(scene(cluster, *changes)), text,
                         actions).run_once().committed == expected
    assert Scheduler(Cache(scene(cluster, *changes)),
                     PLAIN).run_once().committed[0] == ["evict", "default/small-0", "n1"]


@pytest.mark.parametrize(("arguments", "nodes", "count"), [
    ({}, 5, 1),
    ({}, 40, 4),
    ({}, 5000, 100),
    ({"minCandidateNodesAbsolute": 3}, 2, 2),
    ({"minCandidateNodesPercentage": 100}, 7, 7),
    ({"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 0}, 7, 0),
    ({"maxCandidateNodesAbsolute": -1}, 7, 0),
])
def test_how_many_candidates_are_looked_for(arguments, nodes, count):
    assert CandidateLimits().changed_by(Arguments(arguments)).count(nodes) == count


def candidate(node: str, *victims: tuple[int | None, float | None]) -> Candidate:
    """A node with victims, each a priority and a start time."""
    pods = (Pod(ObjectMeta(name=f"{node}-{i}"), PodSpec(priority=importance),
                PodStatus("Running", start_time=start))
            for i, (importance, start) in enumerate(victims))
    return Candidate(node, [TaskInfo(pod) for pod in pods])


@pytest.mark.parametrize(("sentence", "candidates", "best"), [
    ("the lowest first victim", [candidate("a", (5, 1.0)),
                                 candidate("b", (4, 1.0), (4, 1.0))], "b"),
    ("only the first counts, not the highest",
     [candidate("a", (5, 1.0)), candidate("b", (4, 1.0), (9, 1.0))], "b"),
    ("then the lowest sum",
     [candidate("a", (5, 1.0),
                (5, 1.0)), candidate("b", (5, 1.0), (4, 1.0))], "b"),
    ("fewer victims have the lower sum, even below zero",
     [candidate("a", (-5, 1.0),
                (-5, 1.0)), candidate("b", (-5, 1.0))], "b"),
    ("no priority is 0", [candidate("a", (1, 1.0)),
                          candidate("b", (None, 1.0))], "b"),
    ("then the latest start", [candidate("a", (5, 1.0)),
                               candidate("b", (5, 2.0))], "b"),
    ("the earliest of a node's most important victims counts",
     [candidate("a", (5, 9.0),
                (5, 1.0)), candidate("b", (5, 2.0), (5, 2.0))], "b"),
    ("the start of a less important one does not",
     [candidate("a", (5, 2.0), (1, 9.0)), candidate("b", (5, 3.0), (1, 1.0))], "b"),
    ("what has not started yet started last", [candidate("a", (5, 1.0)),
                                               candidate("b", (5, None))], "b"),
    ("else the first by name", [candidate("b", (5, 1.0)),
                                candidate("a", (5, 1.0))], "a"),
])
def test_the_best_candidate_has(sentence, candidates, best):
    assert select_candidate(candidates).node == best, sentence


def test_without_candidates_there_is_no_best():
    assert select_candidate([]) is None


def test_why_a_task_may_not_evict_is_recorded():
    notes = Notes()
    Scheduler(Cache(scene(base(), LOW, HIGH, nominated("gone"))), PLAIN).run_once(notes)
    assert ("passed_over", {
        "task": "default/high-0", "reason": "nominated_gone", "node": "gone"
    }) in notes.rows


@pytest.mark.long
@given(contended(), st.sampled_from(["proportion", "capacity", "drf"]), st.booleans())
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_arrays_decide_as_node_by_node(objects, fairness, topology_aware):
    text = TOPOLOGY_AWARE if topology_aware else PLAIN
    text = text.replace("enqueue, preempt", "enqueue, allocate, preempt")
    run(objects, text.replace("name: nodeorder", f"name: {fairness}\n  - name: nodeorder"))
