"""Searches for victims that are known to fail are not repeated, and no decision changes."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from volcano_lab.actions.reclaim import Reclaim
from volcano_lab.cache import Cache
from volcano_lab.cluster import Cluster
from volcano_lab.framework import Session
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.framework.observer import Observer
from volcano_lab.framework.plugin import PLUGINS, Plugin, register_plugin
from volcano_lab.plugins.gang import Gang
from volcano_lab.scheduler import Scheduler

TIERS = """\
actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: drf}, {name: predicates}, {name: proportion}, {name: nodeorder}]
"""


ONE_TIER = """\
actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: predicates}, {name: proportion}]
"""
"""gang returns no victim of a gang that needs all of its pods, and it decides alone."""


def cluster(minimum: int, requests: tuple[int, ...]) -> Cluster:
    """Four nodes full of gangs of queue a, and three gangs of queue b that wait."""
    built = Cluster().queue("a").queue("b", weight=3)
    for number in range(4):
        built.node(f"n{number}", cpu=8)
        built.job(f"run-{number}", queue="a", pods=4, cpu=2, min_member=minimum,
                  running={f"n{number}": 4})
    for number, cpu in enumerate(requests):
        built.job(f"wait-{number}", queue="b", pods=5, cpu=cpu, min_member=3)
    return built


def asked(monkeypatch: pytest.MonkeyPatch, observer: Observer | None) -> tuple[list[str], list]:
    """The claimants of gang's calls, and the cycle's decisions."""
    claimants: list[str] = []

    def counted(self: Gang, claimant: Any, candidates: Any) -> Any:
        claimants.append(claimant.key)
        return Gang.preemptable(self, claimant, candidates)

    monkeypatch.setattr(Gang, "reclaimable", counted)
    cache = cluster(4, (1, 1, 2)).cache()
    ssn = Scheduler(cache, ONE_TIER).run_once(observer)
    return claimants, ssn.committed


def test_a_search_that_failed_is_not_repeated_for_the_next_pod_of_a_gang(monkeypatch):
    with pytest.MonkeyPatch.context() as patch:
        watched, decided = asked(patch, Observer())
    brief, same = asked(monkeypatch, None)
    assert decided == same
    assert len(watched) == len({*watched}) * 4  # each of the nodes
    assert {*brief} < {*watched}


def test_plugins_are_not_called_for_nodes_where_they_name_none(monkeypatch):
    """Twelve nodes of gangs that need all of their pods."""
    calls = []
    monkeypatch.setattr(Gang, "reclaimable", lambda self, claimant, candidates: calls.append(
        candidates) or ([], 1))
    built = Cluster().queue("a", weight=3).queue("b")
    for number in range(12):
        built.node(f"n{number:02}", cpu=8)
        built.job(f"run-{number}", queue="a", pods=4, cpu=2, running={f"n{number:02}": 4})
    built.job("wait", queue="b", pods=2, cpu=8)
    watched = Scheduler(built.cache(), ONE_TIER).run_once(Observer())
    assert len(calls) >= 12
    calls.clear()
    assert Scheduler(built.cache(), ONE_TIER).run_once().committed == watched.committed == []
    assert not calls


@pytest.mark.parametrize("conf", [TIERS, ONE_TIER], ids=["tiers", "one tier"])
@pytest.mark.parametrize("minimum", [1, 2, 4])
@pytest.mark.parametrize("requests", [(1, 1, 1), (2, 1, 4), (8, 2, 9), (3, 3, 3)])
def test_decisions_do_not_depend_on_what_is_observed(conf, minimum, requests):
    built = cluster(minimum, requests)
    every = Scheduler(built.cache(), conf).run_once(Observer())
    brief = Scheduler(built.cache(), conf).run_once()
    assert brief.committed == every.committed


@pytest.mark.long
@pytest.mark.parametrize("sizes", [(5, 3, 5), (3, 5, 5), (5, 5, 3)])
def test_nodes_with_too_few_victims_are_not_asked_again_until_one_of_their_jobs_changes(
        monkeypatch, sizes):
    """Twelve nodes with three gangs on each, two of which have one pod above their minimum: cpu 3
    takes two evictions, for cpu 5 two are too few.
    """
    calls = []

    def counted(self: Gang, claimant: Any, candidates: Any) -> Any:
        calls.append(claimant.key)
        return Gang.preemptable(self, claimant, candidates)

    monkeypatch.setattr(Gang, "reclaimable", counted)
    built = Cluster().queue("a").queue("b", weight=9)
    for number in range(12):
        built.node(f"n{number:02}", cpu=6)
    for number in range(12):
        built.job(f"run-{number:02}", queue="a", pods=3, cpu=2, min_member=2 + (number % 3 == 0),
                  running={f"n{(number + place) % 12:02}": 1 for place in range(3)})
    for number, cpu in enumerate(sizes):
        built.job(f"wait-{number}", queue="b", pods=3, cpu=cpu, min_member=1)
    decided, asked = [], []
    for observer, arrays in ((None, True), (Observer(), True), (None, False)):
        calls.clear()
        decided.append(Scheduler(built.cache(), TIERS).run_once(observer, arrays).committed)
        asked.append(len(calls))
    assert decided[0] == decided[1] == decided[2]
    assert any(operation == "evict" for operation, *_ in decided[0])
    assert asked[0] < min(asked[1:])


OWN = """\
actions: "enqueue, preempt"
tiers:
- plugins: [{name: priority, enablePreemptable: false}, {name: predicates},
            {name: gang, enableJobStarving: false, enableJobOrder: false}]
"""


@pytest.mark.parametrize("first", ["own", "other"])
def test_pods_of_a_job_are_no_victims_of_it_and_are_those_of_one_with_the_same_request(first):
    """What a search finds for one of two jobs that are alike is not taken for the other."""
    jobs = {"own": {"pods": 4, "min_member": 1, "running": {"n1": 3}}, "other": {"pods": 1}}
    built = Cluster().node("n1", cpu=7).node("n2", cpu=1).job(
        "rest", pods=2, cpu=1, min_member=1, running={"n1": 1, "n2": 1})
    for name in sorted(jobs, key=lambda name: name != first):
        built.job(name, cpu=2, **jobs[name])
    decided = [Scheduler(built.cache(), OWN).run_once(observer, arrays).committed
               for observer, arrays in ((None, True), (Observer(), True), (None, False))]
    assert decided[0] == decided[1] == decided[2]
    assert ["pipeline", "default/other-0", "n1"] in decided[0]


def three_each(*requests: float) -> Cluster:
    """Gangs of three that wait: two pods of each can have a node by evictions."""
    built = Cluster().queue("a").queue("b")
    for number in range(4):
        built.node(f"n{number}", cpu=4)
        built.job(f"run-{number}", queue="a", pods=2, cpu=2, running={f"n{number}": 2},
                  min_member=1 + number % 2)
    for number, cpu in enumerate(requests):
        built.job(f"wait-{number}", queue="b", pods=3, cpu=cpu)
    return built


@pytest.mark.parametrize(("requests", "tried"), [((2, 2, 2), [0]), ((2, 1.5, 2), [0, 1])])
def test_what_failed_for_a_gang_is_not_tried_for_one_that_is_alike(monkeypatch, requests, tried):
    seen, search = [], Reclaim._nodes_with_victims
    monkeypatch.setattr(Reclaim, "_nodes_with_victims", lambda self, task, job: seen.append(
        task.name) or search(self, task, job))
    assert not Scheduler(three_each(*requests).cache(), ONE_TIER).run_once().committed
    assert seen == [f"wait-{number}-{pod}" for number in tried for pod in range(3)]


def test_a_plugin_of_a_learner_may_distinguish_gangs():
    class OneFirst(Plugin):
        name = "one-first"

        def reclaimable(self, claimant: Any, candidates: Any) -> Any:
            return (candidates if claimant.job == "default/wait-1" else []), 1

    with PLUGINS.restored():
        register_plugin("one-first", OneFirst)
        conf = ONE_TIER.replace("{name: gang}", "{name: gang, enableReclaimable: false}, "
                                "{name: one-first}")
        done = Scheduler(three_each(2, 2).cache(), conf).run_once().committed
    assert {key for operation, key, *_ in done if operation == "pipeline"} == {
        f"default/wait-1-{pod}" for pod in range(3)}


def test_a_gang_that_sla_lets_be_pipelined_is_tried_though_one_alike_failed():
    built = three_each(2, 2).objects()
    (late,) = (obj for obj in built if obj.kind == "PodGroup" and obj.name == "wait-1")
    late.metadata.annotations["sla-waiting-time"] = "1s"
    conf = ONE_TIER.replace("tiers:", "tiers:\n- plugins: [{name: sla, enableJobOrder: false}]")
    decided, same = (Scheduler(Cache(built), conf).run_once(arrays=arrays, now=1e10).committed
                     for arrays in (True, False))
    assert decided == same
    assert {key for operation, key, *_ in decided if operation == "pipeline"} == {
        "default/wait-1-0", "default/wait-1-1"}


def crowded(seed: int) -> Cluster:
    """Nodes that are nearly full with jobs of up to five pods on as many nodes, of which some want
    more, and jobs that wait, a few of them for a resource that no node has.
    """
    chance, built = Random(seed), Cluster()
    free = {f"n{number:02}": chance.choice([4, 5, 8]) for number in range(chance.randint(6, 20))}
    for name, cpu in free.items():
        built.node(name, cpu=cpu, memory="12Gi")
    for queue in "abc":
        built.queue(queue, weight=chance.choice([1, 2, 5]), deserved={
            "cpu": str(chance.choice([4, 10, 30])), "memory": f"{chance.choice([4, 20])}Gi"})
    for number in range(2 * len(free)):
        cpu, pods = chance.choice([1, 1, 2, 3]), chance.randint(1, 5)
        names = [name for name in chance.sample(sorted(free), pods) if free[name] >= cpu]
        free |= {name: free[name] - cpu for name in names}
        if names:
            built.job(f"run-{number:02}", queue=chance.choice("abc"), cpu=cpu, memory="1Gi",
                      pods=len(names) + chance.choice([0, 0, 1, 2]),
                      min_member=chance.choice([1, len(names)]), running=dict.fromkeys(names, 1))
    for number in range(10):
        pods = chance.randint(1, 4)
        least, cpu = chance.randint(1, pods), chance.choice([1, 2, 2, 2.5, 3])
        for copy in range(chance.choice([1, 1, 3])):  # like the jobs before, or nearly
            built.job(f"wait-{number}-{copy}", queue=chance.choice("aab"), pods=pods, memory="2Gi",
                      min_member=chance.choice([least, least, 1]), cpu=cpu,
                      gpu=chance.choice([None] * 9 + [1]))
    return built


def results(ssn: Session) -> list[Any]:
    """What jobs and pods have in the end, with the plans of statements that were discarded."""
    return [(job.pod_group.status, {key: (task.status, task.node_name, task.last_transaction)
                                    for key, task in job.tasks.items()})
            for job in ssn.jobs.values()]


@pytest.mark.parametrize("tiers", [
    pytest.param(["priority gang conformance", "drf predicates proportion nodeorder"],
                 marks=pytest.mark.long),
    pytest.param(["priority", "gang drf proportion predicates"], marks=pytest.mark.long),
    pytest.param(["gang", "drf", "predicates capacity"], marks=pytest.mark.slow),
    pytest.param(["gang conformance proportion predicates"], marks=pytest.mark.long),
])
def test_searches_that_are_skipped_would_find_nothing(tiers):
    conf = {"actions": "enqueue, preempt, reclaim", "tiers": [
        {"plugins": [{"name": name} for name in tier.split()]} for tier in tiers]}
    evicts = 0
    for seed in range(16):
        cache = crowded(seed).cache
        decided, same = (Scheduler(cache(), load_conf(conf)).run_once(arrays=arrays, now=0.0)
                         for arrays in (True, False))
        assert decided.committed == same.committed
        assert results(decided) == results(same)
        evicts += any(done[0] == "evict" for done in same.committed)
    assert evicts > 3
