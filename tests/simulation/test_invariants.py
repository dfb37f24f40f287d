"""Each invariant between events finds the fault that it is for, and so does a run's audit."""

import json

import attrs
import pytest
from audited import Audited, under_way_problems
from driving import settle, take_off

from volcano_lab.api.job import JobInfo
from volcano_lab.api.objects import ContainerPort
from volcano_lab.api.status import BINDING, PENDING, RELEASING
from volcano_lab.cache.api_server import ApiError
from volcano_lab.cluster import Cluster
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.framework.session import BindContext
from volcano_lab.simulation import Faults, InvariantBroken, JobTemplate, Latencies, every
from volcano_lab.simulation.invariants import problems_of


def simulation(**given):
    built = Cluster()
    for number in range(2):
        built.node(f"n{number}", cpu=4)
    given = {"latencies": Latencies(bind=0.5)} | given
    return Audited(
        built, workload=[every(2, JobTemplate("a", pods=2, cpu=2, run_time=10), count=1)], **given)


def running():
    sim = simulation(check=False)
    sim.run(until=5)
    assert problems_of(sim) == []
    return sim


def lose_a_pod(sim):
    sim.side.jobs["default/a-1"].members.append("default/nobody")


def bind_twice(sim):
    pod = sim.server.list("Pod")[0]
    sim.server.update(attrs.evolve(pod, spec=attrs.evolve(pod.spec, node_name="n9")))


def crowd_a_node(sim):
    for number in range(2):
        pod = JobTemplate("b", cpu=3, at_once=True).build(f"b-{number}")[1][0]
        sim.server.create(attrs.evolve(pod, spec=attrs.evolve(pod.spec, node_name="n0")))


def share_a_port(sim):
    for number in range(2):
        pod = JobTemplate("b", at_once=True).build(f"b-{number}")[1][0]
        pod.spec.containers[0].ports = [ContainerPort(host_port=80)]
        sim.server.create(attrs.evolve(pod, spec=attrs.evolve(pod.spec, node_name="n0")))


def forget_a_task(sim):
    job = sim.cache.jobs["default/a-1"]
    job.delete_task_info(next(iter(job.tasks.values())))


def miscount_a_node(sim):
    sim.cache.nodes["n0"].table.used[0] += 1


def miscount_a_job(sim):
    job = sim.cache.jobs["default/a-1"]
    job.allocated = job.allocated + job.allocated


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


def send_twice(sim):
    task = next(iter(sim.cache.jobs["default/a-1"].tasks.values()))
    sim.pipeline.channel.extend([BindContext(task), BindContext(task)])


def leave_a_job_out(sim):
    job = sim.cache.jobs["default/a-1"]
    job.update_task_status(next(iter(job.tasks.values())), PENDING)
    del sim.ssn.jobs["default/a-1"]
    sim.checked = None


@pytest.mark.long
@pytest.mark.parametrize(("fault", "sentence"), [
    (lose_a_pod, "job default/a-1 has lost pods default/nobody"),
    (bind_twice, "is on node n9, but was bound to n0"),
    (crowd_a_node, "node n0 has pods that request"),
    (share_a_port, "node n0 has 2 pods on host port 80"),
    (forget_a_task, "has no task"),
    (miscount_a_node, "counts used"),
    (miscount_a_job, "as allocated, its tasks make"),
    (forget_a_bind, "is Binding, and nothing binds it"),
    (forget_an_eviction, "is Releasing, and nothing ends it"),
    (send_twice, "is on its way 2 times"),
    (leave_a_job_out, "has pending tasks, but the session did not have it"),
])
def test_each_check_finds_its_fault(fault, sentence):
    sim = running()
    fault(sim)
    assert sentence in "; ".join(problems_of(sim))


def keep_a_job(sim):
    sim.cache.jobs["default/gone"] = JobInfo("default/gone")


def set_a_pod_back(sim):
    job = sim.cache.jobs["default/a-1"]
    job.update_task_status(next(iter(job.tasks.values())), PENDING)


def forget_to_collect(sim):
    sim.side.node_fails("n0")
    take_off(sim, "pods_collected")


def forget_to_start(sim):
    pod = JobTemplate("late", at_once=True).build("late")[1][0]
    sim.server.create(pod.changed(spec={"node_name": "n0"}))
    take_off(sim, "pod_starts")


def forget_to_end(sim):
    sim.server.delete("Pod", sim.server.list("Pod")[0].key)
    take_off(sim, "pod_ends")


def remember_a_failure(sim):
    sim.pipeline.errors.retry("default/a-1/uid", sim.server.clock())
    sim.pipeline.errors.due.clear()


@pytest.mark.long
@pytest.mark.parametrize(("fault", "sentence"), [
    (remember_a_failure, "default/a-1/uid has failed, and is not tried again"),
    (keep_a_job, "nothing is left of job default/gone, and it stays"),
    (set_a_pod_back, "task default/a-1-0 is Pending, and on its way to node n0"),
    (forget_an_eviction, "is Releasing without an eviction or a deletion"),
    (forget_to_collect, "pod default/a-1-0 stays on node n0, which is gone"),
    (forget_to_start, "pod default/late-0 is bound to node n0, and never starts"),
    (forget_to_end, "pod default/a-1-0 is to be deleted, and never ends"),
])
def test_an_audit_finds_what_is_forgotten_on_its_way(fault, sentence):
    sim = running()
    assert list(under_way_problems(sim)) == []
    fault(sim)
    assert sentence in "; ".join(under_way_problems(sim))


@pytest.mark.long
def test_another_scheduler_takes_the_resources_and_evictions_are_refused():
    sim = simulation(faults=Faults({"bind_refused": 1.0}))
    sim.run(until=9)
    rivals = [pod for pod in sim.server.list("Pod") if pod.spec.scheduler_name == "rival"]
    assert rivals and sim.rival.number >= len(rivals)
    with pytest.raises(ApiError, match="currently unable to handle"):
        sim.pipeline._evict(None, "test")
    settle(sim)
    assert all(run.finished is not None for run in sim.side.jobs.values())


def test_a_discard_that_leaves_something_is_found(monkeypatch):
    def forgetful(ssn, task):
        ssn.set_status(task, PENDING)  # but it stays on its node

    conf = json.dumps({"actions": "enqueue, allocate", "tiers": [
        {"plugins": [{"name": name}
                     for name in ("priority", "gang", "predicates", "proportion")]}]})
    sim = Audited(Cluster().node("n0", cpu=9).node("n1", cpu=3), conf,
                  workload=[every(1, JobTemplate("a", pods=2, cpu=5), count=1)])
    monkeypatch.setattr("volcano_lab.framework.statement.unplace", forgetful)
    with pytest.raises(InvariantBroken, match="task default/a-1-0 is still on node m0"):
        sim.run(until=5)


@pytest.mark.long
def test_a_cycle_that_decides_otherwise_than_one_on_a_copy_of_the_cache_is_found():
    sim = simulation()
    sim.run(until=4)
    sim.side.submit("late", JobTemplate("late", cpu=1, at_once=True))
    sim.scheduler.conf = load_conf("actions: enqueue")  # and not allocate
    with pytest.raises(InvariantBroken, match="on a copy of the cache"):
        sim.run(until=7)


@pytest.mark.long
def test_a_broken_invariant_ends_the_run_with_the_seed_and_the_moment():
    sim = simulation(seed=7)
    sim.run(until=5)
    sim.cache.nodes["n0"].table.used[0] += 1
    with pytest.raises(InvariantBroken,
                       match=r"after \w+ .*at [\d.]+ s \(seed 7\): .*node n0 counts used"):
        sim.run(until=10)


@pytest.mark.long
def test_releasing_pods_may_share_a_port_with_those_that_follow_them():
    sim = running()
    share_a_port(sim)
    pod = sim.server.find("Pod", "default/b-0-0")
    task = sim.cache.jobs["default/b-0"].tasks[pod.metadata.uid]
    sim.cache.jobs["default/b-0"].update_task_status(task, RELEASING)
    assert "on host port" not in "; ".join(problems_of(sim))


@pytest.mark.long
@pytest.mark.parametrize("field", ["lost", "broken", "evicted"])
def test_what_befalls_a_job_is_counted_again(field):
    sim = running()
    (job,) = sim.side.jobs.values()
    assert not [*sim.books.problems()]
    setattr(job, field, 1)
    assert len([*sim.books.problems()]) == 1
