"""Everything goes wrong that can: invariants hold after every event, and what is broken heals."""

import json
import sys
from collections import Counter
from pathlib import Path

import attrs
import pytest
from audited import Audited
from clusters import CONF

from volcano_lab.cache import Cache
from volcano_lab.cluster import Cluster
from volcano_lab.scheduler import Scheduler
from volcano_lab.simulation import (
    KINDS,
    Faults,
    InvariantBroken,
    JobTemplate,
    Latencies,
    Simulation,
    every,
)

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import soak


def simulation(plan=(), pods=2, cpu=2, nodes=2, **given):
    cluster = Cluster()
    for number in range(nodes):
        cluster.node(f"n{number}", cpu=4)
    given = {"latencies": Latencies(bind=0.5)} | given
    return Audited(
        cluster, workload=[every(2, JobTemplate(
            "a", pods=pods, cpu=cpu, run_time=10, at_once=True), count=1)],
        faults=Faults(plan=list(plan)), **given)


def happened(sim, what):
    return [row for row in sim.history.rows["events"] if row[1] == what]


def finished(sim):
    return all(job.finished is not None for job in sim.side.jobs.values())


@pytest.mark.long
@pytest.mark.parametrize(("kind", "sign"), [
    ("bind_refused", "bind refused"),
    ("bind_timeout", "bind timed out"),
    ("pod_deleted", "pod deleted"),
    ("node_lost", "node lost"),
    ("cycle_crash", "scheduler died"),
    ("event_late", None),
    ("event_twice", None),
])
def test_one_planned_fault_happens_once_and_heals(kind, sign):
    sim = simulation([[2, kind]])
    sim.run(until=60)
    assert sim.faults.struck[kind] == 1 and not sim.faults.plan
    if sign:
        assert len(happened(sim, sign)) == 1
    assert finished(sim)


@pytest.mark.long
def test_without_faults_nothing_goes_wrong():
    sim = simulation()
    sim.run(until=60)
    assert finished(sim) and not sum(sim.faults.struck.values()) and sim.crashes == 0
    assert next(iter(sim.side.jobs.values())).lost == 0


@pytest.mark.long
def test_a_refused_bind_is_tried_again_and_bound_once():
    sim = simulation([[2, "bind_refused"], [2, "bind_refused"], [2, "read_refused"]])
    sim.run(until=60)
    assert len(happened(sim, "bind refused")) == 2
    assert len(happened(sim, "pod bound")) == 2 == len(sim.side.first_node)
    assert finished(sim)


def test_the_history_says_which_binds_took_effect_although_they_were_not_answered():
    sim = simulation([[2, "bind_timeout"]] * 8, pods=8, cpu=1)
    sim.run(until=2.6)
    shown = {key: detail for _, _, key, detail in happened(sim, "bind timed out")}
    bound = {pod.key: bool(pod.spec.node_name) for pod in sim.server.list("Pod")}
    assert shown == {key: "it took effect" if there else "it took no effect"
                    for key, there in bound.items()} and len(set(shown.values())) == 2


@pytest.mark.long
def test_a_node_that_goes_between_snapshot_and_bind_gets_no_pod():
    sim = simulation([[2, "node_lost"]], nodes=1)
    sim.run(until=3)
    assert sim.ssn.committed == [] and not sim.pipeline.bound_for()
    sim.run(until=60)
    assert finished(sim) and len(happened(sim, "node back")) == 1


@pytest.mark.long
def test_a_scheduler_that_dies_forgets_what_it_had_not_sent_and_finds_what_it_had():
    sim = simulation([[2, "cycle_crash"]])
    sim.run(until=2.5)
    assert sim.crashes == 1 and sim.cache.jobs and str(sim.cache.snapshot().left_out) == "[]"
    sim.run(until=60)
    assert finished(sim)
    sessions = [row[0] for row in sim.history.rows["cluster"]]
    assert 2.0 not in sessions and 3.0 in sessions  # the cycle that died left no mark


@pytest.mark.long
def test_a_request_that_was_on_its_way_arrives_although_no_caller_waits_for_it():
    sim = simulation()
    sim.run(until=2.1)
    assert sim.pipeline.in_flight
    sim.restart()
    assert [row[0] for row in happened(sim, "scheduler died")] == [2.1]
    assert sim.scheduler.cycles == sim.cycles > 0  # sessions are numbered on
    sim.run(until=2.9)
    assert all(pod.spec.node_name for pod in sim.server.list("Pod"))
    sim.run(until=60)
    assert finished(sim) and len(sim.side.first_node) == 2


@pytest.mark.parametrize(("chance", "sentence"), [
    ({"bind_lost": 0.1}, 'the faults name kind "bind_lost"; allowed are bind_refused'),
    ({"bind_refused": 2}, "the chance of bind_refused is 2; allowed is a number from 0 to 1"),
    ({"bind_refused": "often"
      }, "the chance of bind_refused is often; allowed is a number from 0 to 1"),
])
def test_faults_that_there_are_not_are_reported_in_a_sentence(chance, sentence):
    with pytest.raises(ValueError, match=sentence):
        Faults(chance)


def test_a_cycle_of_one_action_has_nothing_between_two_actions():
    sim = Simulation(Cluster().node("n0", cpu=4), "actions: allocate",
                     faults=Faults({"cycle_crash": 1.0}))
    sim.run(until=3)
    assert sim.crashes == 0 == sim.faults.struck["cycle_crash"] and sim.cycles == 3


def test_a_scheduler_dies_between_two_actions():
    sim = Simulation(Cluster().node("n0", cpu=4), "actions: enqueue, allocate, backfill",
                     faults=Faults({"cycle_crash": 1.0}))
    sim.run(until=20)
    assert {row[3].split()[2] for row in happened(sim, "scheduler died")} == {
        "allocate", "backfill"}


@pytest.mark.parametrize("action", ["preempt", "reclaim"])
def test_a_cluster_that_has_lost_every_node_claims_nothing(action):
    """Requests may name resources that no node has, and there may be no node at all."""
    admitted = []
    for obj in Cluster().job("web", pods=2, cpu=1).job("gpu", pods=2, cpu=1, gpu=1).objects():
        if obj.kind == "PodGroup":
            obj = attrs.evolve(obj, status=attrs.evolve(obj.status, phase="Inqueue"))
        admitted.append(obj)
    conf = CONF.replace('"enqueue, allocate, backfill"', action)
    assert Scheduler(Cache(admitted), conf).run_once().committed == []


def test_pods_without_a_job_and_of_other_schedulers_break_no_invariant():
    cluster = Cluster().node("n0", cpu=4)
    for name, node in (("agent", "n0"), ("waiting", "")):
        cluster.add(json.dumps({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"schedulerName": "other", "nodeName": node, "containers": [{"name": "a"}]},
            "status": {"phase": "Running" if node else "Pending"}}))
    sim = Simulation(cluster, check=True)
    sim.run(until=3)
    assert sim.cycles == 3


# -- many at once ----------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("seed", [101, 102, 104])
def test_a_short_soak(seed):
    sim = soak.simulate(seed, events=250, chance=0.1)
    assert sim.calendar.done >= 250 and sum(sim.faults.struck.values()) > 10
    assert soak.unfinished(sim) == []
    assert sum(job.finished is not None for job in sim.side.jobs.values()) > 3


@pytest.mark.long
def test_scenarios_have_everything_that_they_draw_from():
    drawn = [soak.scenario(seed) for seed in range(40)]
    texts = "\n".join(scene.conf for scene in drawn)
    for word in ("preempt", "reclaim", "enqueue", "proportion", "capacity", "drf", "binpack", "pdb",
                 "enableHierarchy", "network-topology-aware", "overcommit", "conformance", "sla",
                 "cdp", "tdm", "nodegroup", "usage", "resource-strategy-fit", "resourcequota",
                 "task-topology", "rescheduling", "shuffle"):
        assert word in texts and not all(word in scene.conf for scene in drawn)
    names = {template.name for scene in drawn for template in scene.templates}
    assert {"port", "roles", "zone", "apart", "near", "parts", "huge", "idle", "polite", "shut",
            "groups", "disk", "brave", "cool", "spare", "grouped", "own-way", "spread", "likes",
            "together", "ranks", "odd", "single", "loose", "gated", "critical", "fleeting",
            "buckets", "sure", "late"} <= names


@pytest.mark.parametrize(("name", "has"), [
    ("port", lambda group, pod: pod.spec.containers[0].ports),
    ("roles", lambda group, pod: group.spec.min_task_member == {"worker": 2, "ps": 1}),
    ("zone", lambda group, pod: pod.spec.node_selector),
    ("apart", lambda group, pod: pod.spec.affinity),
    ("near", lambda group, pod: group.spec.network_topology),
    ("parts", lambda group, pod: group.spec.sub_group_policy and group.spec.network_topology),
    ("disk", lambda group, pod: pod.spec.volumes),
    ("brave", lambda group, pod: pod.spec.tolerations),
    ("loose", lambda group, pod: group.spec.min_resources is None),
    ("single", lambda group, pod: group.spec.sub_group_policy[0].sub_group_size is None),
    ("gated", lambda group, pod: pod.spec.scheduling_gates)])
def test_jobs_are_what_their_manifests_say(name, has):
    template = next(template for seed in range(40) for template in soak.scenario(seed).templates
                    if template.name == name)
    group, first, later = template.build("job")
    assert has(group, later[0]) and not first


@pytest.mark.long
def test_a_kind_of_job_that_an_empty_cluster_never_takes_is_found(monkeypatch):
    monkeypatch.setattr("volcano_lab.plugins.gang.Gang.job_ready", lambda self, job: False)
    with pytest.raises(InvariantBroken, match=r"an empty cluster takes no job of .*'web'"):
        soak.simulate(1, events=1, chance=0.0)


@pytest.mark.slow
def test_soaks_heal_and_every_kind_of_fault_strikes_in_one_of_them():
    struck = Counter()
    for seed in (201, 205, 206):
        sim = soak.simulate(seed, events=800, chance=0.05)
        assert soak.unfinished(sim) == []
        struck += sim.faults.struck
    assert struck.keys() == set(KINDS)
