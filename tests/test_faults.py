"""Everything goes wrong that can: invariants hold after every event, and what is broken heals."""

import importlib.util
import json
from pathlib import Path

import attrs
import pytest

from volcano_lab.api.status import BINDING, PENDING
from volcano_lab.cache import Cache
from volcano_lab.cluster import Cluster
from volcano_lab.scheduler import run_once
from volcano_lab.simulation import KINDS, Faults, InvariantBroken, JobTemplate, Latencies, Simulation, every
from volcano_lab.simulation.invariants import problems_of
from volcano_lab.simulation.saving import simulation_of, state_of

SPEC = importlib.util.spec_from_file_location("soak", Path(__file__).parents[1] / "benchmarks" / "soak.py")
soak = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(soak)


def simulation(plan=(), pods=2, cpu=2, nodes=2, **given):
    cluster = Cluster()
    for number in range(nodes):
        cluster.node(f"n{number}", cpu=4)
    given = {"latencies": Latencies(bind=0.5), "check": True} | given
    return Simulation(cluster, workload=[every(2, JobTemplate("a", pods=pods, cpu=cpu, run_time=10), count=1)],
                      faults=Faults(plan=list(plan)), **given)


def happened(sim, what):
    return [row for row in sim.history.rows["events"] if row[1] == what]


def finished(sim):
    return all(job.finished is not None for job in sim.side.jobs.values())


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


def test_without_faults_nothing_goes_wrong():
    sim = simulation()
    sim.run(until=60)
    assert finished(sim) and not sum(sim.faults.struck.values()) and sim.crashes == 0
    assert next(iter(sim.side.jobs.values())).lost == 0


def test_a_refused_bind_is_tried_again_and_bound_once():
    sim = simulation([[2, "bind_refused"], [2, "bind_refused"], [2, "read_refused"]])
    sim.run(until=60)
    assert len(happened(sim, "bind refused")) == 2 and len(happened(sim, "pod bound")) == 2 == len(sim.server.bindings)
    assert finished(sim)


def test_a_node_that_goes_between_snapshot_and_bind_gets_no_pod():
    sim = simulation([[2, "node_lost"]], nodes=1)
    sim.run(until=3)
    assert sim.ssn.committed == [] and not sim.pipeline.bound_for()
    sim.run(until=60)
    assert finished(sim) and len(happened(sim, "node back")) == 1


def test_a_scheduler_that_dies_forgets_what_it_had_not_sent_and_finds_what_it_had():
    sim = simulation([[2, "cycle_crash"]])
    sim.run(until=2.5)
    assert sim.crashes == 1 and sim.cache.jobs and str(sim.cache.snapshot().left_out) == "[]"
    sim.run(until=60)
    assert finished(sim)
    sessions = [row[0] for row in sim.history.rows["cluster"]]
    assert 2.0 not in sessions and 3.0 in sessions  # the cycle that died left no mark


def test_a_request_that_was_on_its_way_arrives_although_nobody_waits_for_it():
    sim = simulation()
    sim.run(until=2.1)
    assert sim.pipeline.in_flight
    sim.restart()
    sim.run(until=2.9)
    assert all(pod.spec.node_name for pod in sim.server.list("Pod"))
    sim.run(until=60)
    assert finished(sim) and len(sim.server.bindings) == 2


@pytest.mark.parametrize(("chance", "sentence"), [
    ({"bind_lost": 0.1}, 'the faults name kind "bind_lost"; allowed are bind_refused'),
    ({"bind_refused": 2}, "the chance of bind_refused is 2; allowed is a number from 0 to 1"),
    ({"bind_refused": "often"}, "the chance of bind_refused is often; allowed is a number from 0 to 1"),
])
def test_faults_that_there_are_not_are_told_in_a_sentence(chance, sentence):
    with pytest.raises(ValueError, match=sentence):
        Faults(chance)


@pytest.mark.parametrize("entry", ["bind_refused", ["bind_refused", 2], [2, "bind_refused", 1]])
def test_a_plan_that_is_none_is_told_in_a_sentence(entry):
    with pytest.raises(ValueError, match=r"the plan of faults has .*; allowed are a time in seconds and a kind"):
        Faults(plan=[entry])


def test_a_cycle_of_one_action_has_nothing_between_two_actions():
    sim = Simulation(Cluster().node("n0", cpu=4), "actions: allocate", faults=Faults({"cycle_crash": 1.0}))
    sim.run(until=3)
    assert sim.crashes == 0 == sim.faults.struck["cycle_crash"] and sim.cycles == 3


@pytest.mark.parametrize("action", ["preempt", "reclaim"])
def test_a_cluster_that_has_lost_every_node_claims_nothing(action):
    """Requests may name resources that no node has, and there may be no node at all."""
    admitted = []
    for obj in Cluster().job("web", pods=2, cpu=1).job("gpu", pods=2, cpu=1, gpu=1).objects():
        if obj.kind == "PodGroup":
            obj = attrs.evolve(obj, status=attrs.evolve(obj.status, phase="Inqueue"))
        admitted.append(obj)
    conf = soak.CONF.replace('"enqueue, allocate, preempt, reclaim, backfill"', action)
    assert run_once(Cache(admitted), conf).committed == []


# -- the checks themselves -------------------------------------------------------------------------


def running():
    sim = simulation(check=False)
    sim.run(until=5)
    assert problems_of(sim) == []
    return sim


def lose_a_pod(sim):
    sim.side.jobs["default/a-1"].members.append("default/nobody")


def bind_twice(sim):
    sim.server.bindings[sim.server.list("Pod")[0].metadata.uid] = "n9"


def forget_a_task(sim):
    job = sim.cache.jobs["default/a-1"]
    job.delete_task_info(next(iter(job.tasks.values())))


def miscount_a_node(sim):
    sim.cache.nodes["n0"].table.used[0] += 1


def miscount_a_job(sim):
    job = sim.cache.jobs["default/a-1"]
    job.allocated = job.allocated + job.allocated


def miscount_a_queue(sim):
    sim.checked = None
    attr = sim.ssn.plugins["proportion"].queue_opts["default"]
    attr.allocated = attr.allocated + attr.allocated


def forget_a_bind(sim):
    job = sim.cache.jobs["default/a-1"]
    task = next(iter(job.tasks.values()))
    job.update_task_status(task, BINDING)
    sim.cache.nodes[task.node_name].remove_task(task)
    sim.cache.nodes[task.node_name].add_task(task)


def forget_an_eviction(sim):
    task = next(iter(sim.cache.jobs["default/a-1"].tasks.values()))
    sim.cache.evict(task, "test")
    sim.pipeline.evictions.clear()


@pytest.mark.parametrize(("fault", "sentence"), [
    (lose_a_pod, "job default/a-1 has lost pods default/nobody"),
    (bind_twice, "is on node n0, but was bound to n9"),
    (forget_a_task, "has no task"),
    (miscount_a_node, "counts used"),
    (miscount_a_job, "as allocated, its tasks make"),
    (miscount_a_queue, "queue default counts"),
    (forget_a_bind, "is Binding, and nothing binds it"),
    (forget_an_eviction, "is Releasing, and nothing ends it"),
])
def test_each_check_finds_its_fault(fault, sentence):
    sim = running()
    fault(sim)
    assert sentence in "; ".join(problems_of(sim))


def test_a_discard_that_leaves_something_is_found(monkeypatch):
    def forgetful(ssn, task):
        ssn.set_status(task, PENDING)  # but it stays on its node

    sim = Simulation(Cluster().node("n0", cpu=9).node("n1", cpu=3), soak.CONF, check=True,
                     workload=[every(1, JobTemplate("a", pods=2, cpu=5), count=1)])
    monkeypatch.setattr("volcano_lab.framework.statement.unplace", forgetful)
    with pytest.raises(InvariantBroken, match="task default/a-1-0 is still on node n0"):
        sim.run(until=5)


def test_a_broken_invariant_ends_the_run_with_the_seed_and_the_moment():
    sim = simulation(seed=7)
    sim.run(until=5)
    sim.cache.nodes["n0"].table.used[0] += 1
    with pytest.raises(InvariantBroken, match=r"after \w+ .* at [\d.]+ s \(seed 7\): .*node n0 counts used"):
        sim.run(until=10)


# -- saved in the middle ----------------------------------------------------------------------------


@pytest.mark.parametrize(("seed", "chance", "plugin"), [(2, 0.2, "proportion"), (3, 0.0, "proportion"), (4, 0.1, "capacity")])
def test_a_run_saved_and_loaded_again_and_again_is_the_uninterrupted_run(seed, chance, plugin):
    whole = soak.simulation(seed, chance, soak.CONF.replace("proportion", plugin), check=False)
    whole.run_events(280)
    sim = soak.simulation(seed, chance, soak.CONF.replace("proportion", plugin), check=False)
    while sim.calendar.done < 280:
        sim.run_events(min(13, 280 - sim.calendar.done))
        sim = simulation_of(json.loads(json.dumps(state_of(sim))))
    assert sim.history.to_json() == whole.history.to_json()
    assert json.dumps(state_of(sim)) == json.dumps(state_of(whole))


# -- many at once ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [101, 102])
def test_a_short_soak(seed):
    sim = soak.simulate(seed, events=300, chance=0.1)
    assert sim.calendar.done >= 300
    assert all(sim.faults.struck[kind] for kind in KINDS if kind != "read_refused")
    assert soak.unfinished_that_fit(sim) == []
    assert sum(job.finished is not None for job in sim.side.jobs.values()) > 5


@pytest.mark.slow
def test_a_longer_soak():
    sim = soak.simulate(201, events=2000, chance=0.05)
    assert soak.unfinished_that_fit(sim) == []
    assert all(sim.faults.struck[kind] for kind in KINDS)
