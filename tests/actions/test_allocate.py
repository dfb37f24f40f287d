"""allocate: tasks of admitted jobs get their nodes, gang by gang."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from clusters import cases
from hypothesis import HealthCheck, given, settings
from small_cluster import conf, group, node, open_session, pod, queue, run, task

from volcano_lab.actions.allocate import Allocate, resolve_tier_names
from volcano_lab.api import JobInfo
from volcano_lab.cache import Cache
from volcano_lab.cli.replay import load_cache
from volcano_lab.framework import load_conf
from volcano_lab.framework.placement.array_chooser import node_chooser
from volcano_lab.framework.placement.chooser import PlainChooser
from volcano_lab.scheduler import Scheduler

CONF = """\
actions: "{}"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: predicates
  - name: proportion
"""
AT = [f"2026-01-01T00:00:0{n}Z" for n in range(9)]


def gang(name, pods, cpu="1", queue="default", phase="Inqueue", running="", **spec):
    """A gang of equal pods that all wait, but for those that run on the nodes in `running`."""
    spec.setdefault("minMember", pods)
    places = [*running.split(), *[""] * (pods - len(running.split()))]
    return [group(name, queue, phase, **spec), *(
        pod(f"{name}-{n}", name, place, requests={"cpu": cpu}) for n, place in enumerate(places))]


def placed(*objects, actions="allocate"):
    ssn = run(*objects, conf=CONF.format(actions))
    return " ".join(f"{key.removeprefix('default/')}>{where}" for _, key, where in ssn.committed)


@pytest.mark.parametrize(
    ("sentence", "objects", "placements"),
    [
        ("a gang that fits", gang("a", 2), "a-0>n1 a-1>n1"),
        ("one that does not gets nothing", gang("a", 5), ""),
        ("its minimum is enough", gang("a", 5, minMember=4), "a-0>n1 a-1>n1 a-2>n1 a-3>n1"),
        ("the next one may still fit", [*gang("a", 5), *gang("b", 1)], "b-0>n1"),
        ("the older of two comes first", [
            *gang("a", 3, created=AT[2]), *gang("b", 2, created=AT[1])], "b-0>n1 b-1>n1"),
        ("a gate keeps a task back", [
            group("a"), pod("a-0", "a", schedulingGates=[{"name": "g"}])], ""),
        ("a task that asks for nothing is left to backfill", gang("a", 1, cpu="0"), ""),
        ("above its minimum a job places as many as fit", gang("a", 6, minMember=1),
         "a-0>n1 a-1>n1 a-2>n1 a-3>n1"),
    ],
)
def test_four_cpus(sentence, objects, placements):
    assert placed(node("n1", "4"), queue(), *objects) == placements, sentence


@pytest.mark.parametrize(
    ("sentence", "actions", "placements", "phase"),
    [
        ("where no other action would, allocate itself admits", "allocate", "a-0>n1", "Running"),
        ("beside enqueue it waits to be admitted", "allocate, enqueue", "", "Inqueue"),
        ("after enqueue it has been", "enqueue, allocate", "a-0>n1", "Running"),
    ],
)
def test_admission(sentence, actions, placements, phase):
    objects = node("n1"), queue(), *gang("a", 1, phase="Pending", minResources={"cpu": "1"})
    assert placed(*objects, actions=actions) == placements, sentence


@pytest.mark.parametrize(
    ("sentence", "queues", "objects", "placements"),
    [
        ("queues take turns, the emptier one first", [queue("p"), queue("q")], [
            *gang("p1", 2, "1", "p"), *gang("p2", 2, "1", "p"), *gang("q1", 2, "1", "q")],
         "p1-0>n1 p1-1>n1 q1-0>n1 q1-1>n1"),
        ("a queue takes no more than it deserves", [queue("p"), queue("q", weight=3)], [
            *gang("p1", 4, "1", "p", minMember=1), *gang("q1", 4, "1", "q", minMember=1)],
         "p1-0>n1 q1-0>n1 q1-1>n1 q1-2>n1"),
        ("nor a closed one anything", [queue("p", state="Closed")], gang("p1", 1, "1", "p"), ""),
    ],
)
def test_queues(sentence, queues, objects, placements):
    assert placed(node("n1", "4"), *queues, *objects) == placements, sentence


def test_resources_being_released_are_pipelined():
    """Nothing is committed for a gang that is only pipelined, but its tasks stay pipelined."""
    ssn = open_session(node("n1", "2"), queue(), *gang("old", 2, running="n1 n1"),
                       *gang("new", 1, "2"), plugins=("gang", "predicates"))
    for name in ("old-0", "old-1"):
        ssn.evict_directly(task(ssn, name), "for a test")
    Allocate().execute(ssn)
    assert str(task(ssn, "new-0").status) == "Pipelined"
    assert [operation for operation, *_ in ssn.committed] == ["evict", "evict"]


@pytest.mark.parametrize(("init", "status"), [("1", "Binding"), ("2", "Binding"), (
    "3", "Pipelined"), ("4", "Pipelined"), ("5", "Pending")])
def test_a_pod_needs_what_its_init_containers_need(init, status):
    """Two CPUs are idle, two are being released."""
    ssn = open_session(node("n1"), queue(), *gang("old", 2, running="n1 n1"), group("new"), pod(
        "new-0", "new", initContainers=[{"name": "i", "resources": {"requests": {"cpu": init}}}]),
        plugins=("gang", "predicates"))
    for name in ("old-0", "old-1"):
        ssn.evict_directly(task(ssn, name), "for a test")
    Allocate().execute(ssn)
    assert str(task(ssn, "new-0").status) == status


def test_roles_that_have_failed_are_not_tried_again():
    pods = [pod(f"a-{role}-{n}", "a", role=role, requests={"cpu": cpu})
            for role, cpu in (("big", "8"), ("small", "1")) for n in range(2)]
    ssn = run(node("n1", "4"), queue(), group("a", minMember=2), *pods,
              conf=conf("gang", "predicates"))
    assert [key for _, key, _ in ssn.committed] == ["default/a-small-0", "default/a-small-1"]
    messages = {ssn.jobs["default/a"].tasks[uid].name: str(errors)
                for uid, errors in ssn.jobs["default/a"].nodes_fit_errors.items()}
    assert messages == {
        "a-big-0": "0/1 nodes are unavailable: 1 Insufficient cpu.",
        "a-big-1": "Task a-big-1 with role spec big has already predicated failed, skip"}


@pytest.mark.parametrize("arrays", [True, False])
@pytest.mark.parametrize(("sentence", "cpu", "where"), [
    ("the node that it was nominated for, although another is as good", "1", "n2"),
    ("another, where that one has too little", "3", "n1"),
])
def test_a_nominated_task_gets(sentence, cpu, where, arrays):
    waiting = pod("a-0", "a", requests={"cpu": cpu})
    waiting.status.nominated_node_name = "n2"
    objects = [node("n1", "4"), node("n2", "2"), queue(), group("a"), waiting]
    ssn = Scheduler(Cache(objects), CONF.format("allocate")).run_once(arrays=arrays)
    assert ssn.committed == [["allocate", "default/a-0", where]], sentence


@pytest.mark.long
@pytest.mark.parametrize("chooser", [node_chooser, PlainChooser])
def test_the_node_of_a_task_is_the_one_by_the_definition(chooser):
    """The nominated node where the task fits what is idle or ending there; else of the nodes that
    it fits now, or without any later, the first of the best score.
    """
    reasons = Counter()
    for seed in range(40):
        chance = Random(seed)
        nodes = [node(f"n{n}", chance.choice("234"), unschedulable=not chance.randrange(5))
                 for n in range(4)]
        there = [pod(f"old-{n}", "old", f"n{chance.randrange(4)}", requests={"cpu": "1"})
                 for n in range(9)]
        for ending in chance.sample(there, 4):
            ending.metadata.deletion_timestamp = 1.0
        waiting = pod("new", "new", requests={"cpu": chance.choice("12")})
        waiting.status.nominated_node_name = chance.choice(["", "gone", "n0", "n1", "n2", "n3"])
        ssn = open_session(*nodes, queue(), group("old"), group("new"), *there, waiting,
                           plugins=("predicates", "nodeorder"))
        new = task(ssn, "new")
        ssn.pre_predicate(new)
        fits = [each for each in ssn.node_list if ssn.predicate_for_allocate(new, each) is None
                and new.resreq.milli_cpu <= each.future_idle.milli_cpu]
        now = [each for each in fits if new.resreq.milli_cpu <= each.idle.milli_cpu]
        named = [each for each in fits if each.name == waiting.status.nominated_node_name]
        found, _ = chooser(ssn).choose(new, ssn.node_list)
        among = named or now or fits
        relative = ssn.batch_node_order(new, among)
        assert found is max(among, key=lambda each: ssn.node_order(new, each) + relative[each.name],
                            default=None), seed
        reasons["now" if named and found in now else "ends" if named else bool(now)] += 1
    assert len(reasons) == 4


@pytest.mark.parametrize("arrays", [True, False])
def test_a_role_fails_on_a_node_for_the_reason_at_its_own_look(arrays):
    """What others take between two looks of a role counts at the second one."""
    requests = {"a": ("500m", "3Gi"), "b": ("3200m", "500Mi"), "c": ("100m", "0")}
    pods = [pod(f"g-{n}", "g", role=role, requests=dict(zip(("cpu", "memory"), requests[role],
                                                            strict=True)))
            for n, role in enumerate("abac")]
    objects = [node("n1", "4", "4Gi"), queue(), group("g", minMember=3), *pods]
    ssn = Scheduler(Cache(objects), conf("gang", "predicates")).run_once(arrays=arrays)
    assert [key for _, key, _ in ssn.committed] == ["default/g-0", "default/g-1", "default/g-3"]
    (errors,) = ssn.jobs["default/g"].nodes_fit_errors.values()
    assert str(errors) == "0/1 nodes are unavailable: 1 Insufficient cpu."  # memory before that


@pytest.mark.long
@given(cases())
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_no_node_is_overfilled(case):
    cache = load_cache(case)
    idle = {name: node.idle for name, node in cache.nodes.items()}
    ssn = Scheduler(cache, case["conf"]).run_once()
    requests = {t.key: t.resreq for job in ssn.jobs.values() for t in job.tasks.values()}
    for _, key, where, *direct in ssn.committed:
        if not direct:  # backfill places best-effort tasks on full nodes, too
            idle[where] = idle[where] - requests[key]
            assert all(idle[where].get(name) > -0.1 for name in requests[key].resource_names())


@pytest.mark.parametrize("name", ["allocate", "backfill", "preempt"])
def test_an_argument_that_a_later_configuration_leaves_out_stays(name):
    given = f"configurations: [{{name: {name}, arguments: {{predicateErrorCacheEnable: false}}}}]"
    scheduler = Scheduler(Cache([queue()]), f"actions: {name}\n{given}")
    scheduler.run_once()
    scheduler.conf = load_conf(f"actions: {name}")
    scheduler.run_once()
    assert scheduler.actions[name].use_error_cache is False


@pytest.mark.parametrize(("topology", "allowed"), [
    ({"mode": "hard", "highestTierName": "rack"}, 1),
    ({"mode": "hard", "highestTierName": "row"}, None),
    ({"mode": "hard", "highestTierName": "rack", "highestTierAllowed": 2}, 2),
])
def test_the_name_of_a_tier_becomes_its_number_where_none_is_given(topology, allowed):
    job = JobInfo("default/a")
    job.set_pod_group(group("a", networkTopology=topology))
    resolve_tier_names({"rack": 1}, job)
    assert job.pod_group.spec.network_topology.highest_tier_allowed == allowed
