"""Jobs that were there when a run began: they have their rows, and their pods come back."""

import pytest
from audited import Audited

from volcano_lab.cluster import Cluster
from volcano_lab.manifests.loader import loads
from volcano_lab.scheduler import life
from volcano_lab.simulation import JobTemplate, Simulation, every, simulate

PREEMPT = """
actions: "enqueue, allocate, preempt"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: predicates}]
"""
CLASSES = ("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, "
           "value: 9}")
BARE = """
apiVersion: v1
kind: Pod
metadata: {name: bare, namespace: default}
spec:
  schedulerName: volcano
  nodeName: n1
  containers: [{name: c, resources: {requests: {cpu: "2"}}}]
status: {phase: Running}
"""


def rows(sim, *names):
    columns = [sim.history.columns["jobs"].index(name) for name in names]
    return {row[0]: tuple(row[column] for column in columns) for row in sim.history.rows["jobs"]}


def test_jobs_that_were_there_have_rows_from_the_first_second():
    cluster = (Cluster().node("n1", cpu=4).job("runs", pods=2, cpu=1, running={"n1": 2})
               .job("waits", pods=3, cpu=2))
    sim = Simulation(cluster, workload=[every(2, JobTemplate("new", cpu=1, run_time=3), count=1)])
    sim.run(until=10)
    found = rows(sim, "arrived", "started", "finished", "run_time", "waiting")
    assert found["default/runs"] == (0.0, 0.0, None, None, 0.0)
    assert found["default/waits"] == (0.0, None, None, None, None)
    assert found["default/new-1"][:2] == (2.0, 4.03)
    counts = sim.history.columns["cluster"].index("jobs_waiting")
    assert sim.history.rows["cluster"][0][counts:counts + 3] == [1, 1, 0]


def preempted():
    cluster = (Cluster().add(CLASSES).node("n1", cpu=4)
               .job("low", pods=2, min_member=1, cpu=2, running={"n1": 2}))
    urgent = JobTemplate("urgent", cpu=2, run_time=4, priority_class="high", at_once=True)
    return Audited(cluster, PREEMPT, workload=[every(10, urgent, count=2)])


@pytest.mark.long
def test_a_pod_that_was_there_is_created_again_when_it_is_evicted():
    sim = preempted()
    sim.run(until=14)
    assert rows(sim, "lost")["default/low"] == (1,)
    sim.run(until=40)
    assert rows(sim, "finished", "lost")["default/low"] == (None, 2)
    pods = {pod.key: pod.status.phase for pod in sim.server.list("Pod")}
    assert pods["default/low-0"] == pods["default/low-1"] == "Running"


@pytest.mark.long
def test_each_event_of_a_preemption_is_noted_once():
    """A pod that ran at the start was bound before; that of each winner ends a second before the
    next cycle binds the evicted one again.
    """
    sim = preempted()
    sim.run(until=40)
    events = sim.history.rows["events"]
    once = [("job arrived", "urgent"), ("job admitted", "urgent"), ("pod lost", "low-0"),
            ("pod bound", "urgent-0"), ("job started", "urgent"), ("job finished", "urgent"),
            ("pod bound", "low-0")]
    assert [(what, about.removeprefix("default/").replace("-1", "").replace("-2", ""))
            for _, what, about, _ in events] == once * 2
    assert [row[3] for row in events if row[1].startswith("pod")] == ["n1"] * 6
    assert [time for time, *_ in events] == sorted(time for time, *_ in events)


@pytest.mark.long
@pytest.mark.parametrize(("owned", "there"), [(False, []), (True, ["default/bare"])])
def test_a_bare_pod_is_not_created_again(owned, there):
    pod, = loads(BARE)
    if owned:
        pod, = loads(BARE.replace("namespace: default", "namespace: default, ownerReferences: "
                                  "[{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: r, "
                                  "controller: true}]"))
    sim = Audited([*Cluster().node("n1", cpu=4).objects(), pod])
    sim.run(until=2)
    sim.server.delete("Pod", "default/bare")
    sim.run(until=10)
    assert list(sim.server.objects["Pod"]) == there
    assert {row[-1] for row in sim.history.rows["jobs"]} == {1}


@pytest.mark.long
@pytest.mark.parametrize(("owner", "back"), [
    ("batch.volcano.sh/v1alpha1, kind: Job", True), ("batch/v1, kind: Job", False), ("", False)])
def test_a_deleted_pod_that_had_succeeded_is_created_again_by_the_job_controller_only(owner, back):
    """Kubernetes' Job has counted it. Its job goes on in each case."""
    done = BARE.replace("Running", "Succeeded")
    if owner:
        done = done.replace("namespace: default", "namespace: default, ownerReferences: "
                            f"[{{apiVersion: {owner}, name: r, uid: r, controller: true}}]")
    group = f"""
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {{name: bare, ownerReferences: [{{apiVersion: {owner or "v1, kind: Pod"}, name: r,
  uid: r, controller: true}}]}}
spec: {{minMember: 1}}
status: {{phase: Running}}"""
    named = done.replace("name: bare,", "name: bare, annotations: "
                         "{scheduling.k8s.io/group-name: bare},")
    sim = Simulation([*Cluster().node("n1", cpu=4).objects(), *loads(group), *loads(named)],
                     check=True)
    sim.run(until=2)
    sim.server.delete("Pod", "default/bare")
    sim.run(until=10)
    assert list(sim.server.objects["Pod"]) == ["default/bare"] * back
    assert sim.side.jobs["default/bare"].finished is None


@pytest.mark.long
def test_a_pod_of_a_submitted_job_that_had_succeeded_runs_and_ends_again():
    sim = Audited(Cluster().node("n1", cpu=2), workload=[every(1, JobTemplate(
        "a", pods=3, min_member=1, cpu=1, run_time=10), count=1)])
    sim.run(until=15)
    done = [pod.key for pod in sim.server.list("Pod") if pod.status.phase == "Succeeded"]
    sim.server.delete("Pod", done[0])
    sim.run(until=60)
    (job,) = sim.side.jobs.values()
    assert job.lost == 1 and job.finished is not None


@pytest.mark.long
@pytest.mark.parametrize("owner", ["", "ReplicaSet", "Job"])
def test_cycles_without_time_create_the_evicted_pods_again_that_a_simulation_does(owner):
    reference = ("namespace: default, ownerReferences: [{apiVersion: apps/v1, kind: KIND, name: r, "
                 "uid: r, controller: true}]")
    bare = BARE.replace("namespace: default", reference.replace("KIND", owner)) if owner else BARE
    objects = Cluster().add(CLASSES).node("n1", cpu=4).add(bare).job(
        "urgent", pods=1, cpu=4, priority_class="high").objects()
    conf = PREEMPT.replace("{name: gang}, ", "")  # which lets no gang of one pod be evicted
    *_, last = life(objects, conf, most=6)
    sim = Audited(objects, conf)
    sim.run(until=10)
    pods = [{task.key: str(task.status) for job in last.session.jobs.values()
             for task in job.tasks.values()},
            {pod.key: pod.status.phase for pod in sim.server.list("Pod")}]
    again = {"default/bare": "Pending"} if owner else {}
    assert pods == [{"default/urgent-0": "Running"} | again] * 2


@pytest.mark.long
@pytest.mark.parametrize(("submitted", "kept", "back"), [
    (True, True, True), (True, False, True), (False, True, True), (False, False, False)])
def test_a_lost_pod_comes_back_without_its_pod_group_only_of_a_submitted_job(submitted, kept, back):
    """Of a job that was there nothing is left then that says which controller made its pods."""
    cluster, job = Cluster().node("n1", cpu=4), JobTemplate("a", cpu=1, run_time=20)
    sim = Audited(cluster if submitted else cluster.job("a-1", pods=1, cpu=1, running={"n1": 1}),
                  workload=[every(1, job, count=1)] * submitted)
    sim.run(until=5)
    if not kept:
        sim.server.delete("PodGroup", "default/a-1")
    (lost,) = sim.server.list("Pod")
    sim.server.delete("Pod", lost.key)
    sim.run(until=10)
    found = sim.server.find("Pod", lost.key)
    assert (found is not None) is back and (not back or found.metadata.uid != lost.metadata.uid)
    assert rows(sim, "lost") == {"default/a-1": (1,)}


@pytest.mark.long
@pytest.mark.parametrize("gone", ["PodGroup", "Pod", ""])
def test_what_is_left_of_a_job_goes_after_its_end(gone):
    """Also where somebody deletes its PodGroup, or its pod once that has succeeded, before."""
    job = JobTemplate("a", cpu=1, run_time=20)
    sim = Audited(Cluster().node("n1", cpu=4), workload=[every(1, job, count=1)])
    sim.run(until=24)
    for obj in sim.server.list(gone):
        assert sim.side.jobs["default/a-1"].finished is not None
        sim.server.delete(gone, obj.key)
    sim.run(until=60)
    assert not sim.server.list("Pod") and not sim.server.list("PodGroup")
    assert [count for (count,) in rows(sim, "lost").values()] == [0]


@pytest.mark.parametrize("admitted", [False, True])
@pytest.mark.parametrize(("pods", "least", "running"), [
    (2, 2, 0), (2, 2, 1), (2, 2, 2), (3, 1, 1), (3, 1, 0), (1, 0, 0), (1, 0, 1)])
def test_a_job_that_was_there_has_started_where_its_minimum_runs(pods, least, running, admitted):
    cluster = Cluster().node("n1", cpu=4).job("a", pods=pods, min_member=least, cpu=1,
                                              **{"running": {"n1": running}} if running else {})
    sim = Simulation([obj.changed(status={"phase": "Inqueue" if admitted else "Pending"})
                      if obj.kind == "PodGroup" else obj for obj in cluster.objects()])
    run = sim.side.jobs["default/a"]
    starts = running > 0 and running >= least
    assert (run.admitted, run.started) == (0.0 if admitted else None, 0.0 if starts else None)
    assert (run.whole, run.pods, run.lost) == (starts, pods, 0)


@pytest.mark.long
def test_a_gang_that_loses_several_pods_at_once_is_broken_once_each_time():
    sim = Audited(Cluster().node("n1", cpu=4).job("a", pods=3, cpu=1, running={"n1": 3}))
    sim.run(until=2)
    for times in (1, 2):
        for number in range(2):
            sim.server.delete("Pod", f"default/a-{number}")
        sim.run(until=2 + 20 * times)
        assert rows(sim, "lost", "broken")["default/a"] == (2 * times, times)
        assert [pod.status.phase for pod in sim.server.list("Pod")] == ["Running"] * 3


@pytest.mark.long
def test_a_node_that_returns_touches_no_pod_elsewhere_and_each_bind_is_noted_once():
    """A pod that waits without a node keeps its uid, and those on other nodes run on."""
    cluster = Cluster().node("n1", cpu=2).node("n2", cpu=2).job("waits", cpu=9)
    job = JobTemplate("a", pods=2, cpu=2, run_time=30)
    sim = Simulation(cluster, workload=[every(1, job, count=1)])
    sim.run(until=1.5)
    for pod in sim.server.list("Pod"):  # an update between binding and start
        sim.server.update(pod.changed(metadata={"labels": {"seen": "yes"}}))
    sim.run(until=5)
    before = {pod.key: pod.metadata.uid for pod in sim.server.list("Pod")}
    sim.side.node_fails("n1", back_after=3.0)
    sim.run(until=30)
    assert {pod.key: pod.metadata.uid for pod in sim.server.list("Pod")} == before
    sim.run(until=45)
    events = [(what, name) for _, what, name, *_ in sim.history.rows["events"]]
    assert sorted(name for what, name in events if what == "pod bound") == [
        "default/a-1-0", "default/a-1-1"]
    assert [event for event in events if event[1] in ("default/a-1", "n1")] == [
        ("job arrived", "default/a-1"), ("job admitted", "default/a-1"),
        ("job started", "default/a-1"), ("node lost", "n1"), ("node back", "n1"),
        ("job finished", "default/a-1")]


LATER = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: a, namespace: default}
spec:
  minAvailable: 2
  tasks:
  - {name: w, replicas: 2, template: {spec: {containers: [{name: c, resources: {requests:
     {cpu: CPU}}}]}}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: a, namespace: default}
spec: {minMember: 2, minResources: {cpu: CPU}}
"""


@pytest.mark.parametrize(("cpu", "there"), [("1", 2), ("99", 0)])
def test_the_pods_of_a_job_that_was_there_are_created_once_it_is_admitted(cpu, there):
    sim = Simulation(Cluster().node("n1", cpu=4).add(LATER.replace("CPU", cpu)))
    assert not sim.server.list("Pod")
    sim.run(until=10)
    assert [pod.status.phase for pod in sim.server.list("Pod")] == ["Running"] * there
    assert (sim.side.jobs["default/a"].pods, bool(sim.side.later)) == (there, not there)


JOB = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: a}
spec:
  minAvailable: 2
  schedulerName: volcano
  tasks:
  - replicas: 3
    name: t
    template:
      spec: {restartPolicy: Never, containers: [{name: c, resources: {requests: {cpu: "2"}}}]}
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  replicas: 3
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec: {schedulerName: volcano, containers: [{name: c, resources: {requests: {cpu: "2"}}}]}
"""
EXACT = """
actions: "enqueue, allocate"
tiers:
- plugins: [{name: gang}, {name: predicates}, {name: proportion}, {name: overcommit,
             arguments: {overcommit-factor: 1.0}}]
"""


@pytest.mark.long
@pytest.mark.parametrize(("coming", "waiting", "running"), [
    (JobTemplate("a", pods=3, cpu=2), 0, 3),
    (JobTemplate("a", pods=3, cpu=2, at_once=True), 3, 3),
    (JOB, 0, 3),
    (DEPLOYMENT, 3, 3),
    (BARE.replace("  nodeName: n1\n", "").replace("Running", "Pending"), 1, 1)])
def test_pods_of_a_volcano_job_are_created_once_it_is_admitted_others_at_arrival(
        coming, waiting, running):
    """Until second 20 another job fills the node, and overcommit admits nothing."""
    cluster = Cluster().node("n1", cpu=6).job("fills", cpu=6, running={"n1": 1})
    if isinstance(coming, str):
        cluster.add(coming)
    arrivals = None if isinstance(coming, str) else every(1, coming, count=1)
    found = simulate(cluster.objects(), EXACT, arrivals=arrivals, duration=20, until=30)
    cycles = {row["time"]: row for row in found.dicts("cluster")}
    before, after = cycles[1 if arrivals else 0], cycles[max(cycles)]
    assert before["jobs_waiting"] == 1 and (
        before["pods_pending"], after["pods_running"]) == (waiting, running)
