"""A Job that waits in an export: its pods are created once it is admitted, for every command."""

import json
import shlex

import pytest

from volcano_lab.cli import main
from volcano_lab.cluster import Cluster
from volcano_lab.framework.config.conf import DEFAULT_CONF
from volcano_lab.manifests.loader import loads
from volcano_lab.server.service import Service

CLUSTER = """
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 8, pods: 110}}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: small}
spec: {weight: 1, capability: {cpu: 2}}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train, namespace: default, uid: u1}
spec:
  queue: small
  minAvailable: 3
  schedulerName: volcano
  tasks:
  - {name: w, replicas: 3, template: {spec: {
      containers: [{name: c, resources: {requests: {cpu: 1}}}]}}}
status: {state: {phase: Pending}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata:
  name: train-u1
  namespace: default
  ownerReferences:
  - {apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: train, uid: u1, controller: true}
spec: {minMember: 3, queue: small, minResources: {cpu: 3}}
status: {phase: Pending}
"""
HELD = """---
apiVersion: v1
kind: Node
metadata: {name: n2}
spec: {unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]}
status: {allocatable: {cpu: 16, pods: 110}}
"""
FAILED = """
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 8, pods: 110}}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: gang, namespace: default}
spec: {minMember: 3, queue: default}
status: {phase: Inqueue}
---
apiVersion: v1
kind: Pod
metadata: {name: gang-0, annotations: {scheduling.k8s.io/group-name: gang}}
spec: {schedulerName: volcano, nodeName: n1, containers: [{name: c}]}
status: {phase: Failed}
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "cluster.yaml"
    path.write_text(CLUSTER + HELD)
    return str(path)


def json_of(capsys, *words):
    assert main([*words, "-o", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def train(capsys, *words):
    """What happens to the job: [before, after] of each value that a command prints as data."""
    found = json_of(capsys, *words)
    return next((row for row in found["jobs"] if row["job"].startswith("default/train")), None)


def test_run_counts_members_that_are_not_created_as_pending(capsys, file):
    row = train(capsys, "run", file)
    assert (row["placed"], row["pending"], row["missing"], row["phase"]) == (0, 3, 3, "Pending")
    assert main(["run", file, "--fail-on-pending"]) == 1
    assert "train (3 of 3 pods, 3 not created yet) waits" in capsys.readouterr().out


@pytest.mark.long
def test_every_verb_counts_a_gang_whose_only_pod_has_failed_as_waiting(capsys, tmp_path):
    (tmp_path / "gang.yaml").write_text(FAILED)
    row, = json_of(capsys, "run", str(tmp_path / "gang.yaml"))["jobs"]
    assert (row["pods"], row["pending"], row["missing"]) == (1, 2, 2)
    assert [group["jobs"] for group in json_of(
        capsys, "why", str(tmp_path / "gang.yaml"), "--all")["waiting"]] == [["default/gang"]]
    assert main(["why", str(tmp_path / "gang.yaml"), "gang"]) == 0
    assert capsys.readouterr().out.startswith(
        "gang waits for its gang: 0 of 3 pods exist that may run.")


@pytest.mark.parametrize(("cycles", "placed", "pending"), [
    ("1", 0, 3), ("2", 3, 0), ("rest", 3, 0)])
def test_run_creates_pods_between_cycles(capsys, file, tmp_path, cycles, placed, pending):
    path = tmp_path / "large.yaml"
    path.write_text(CLUSTER.replace("capability: {cpu: 2}", "capability: {cpu: 4}"))
    row = train(capsys, "run", str(path), "--cycles", cycles)
    assert (row["placed"], row["pending"]) == (placed, pending)


def test_run_says_that_it_is_not_at_rest(capsys, file, tmp_path):
    path = tmp_path / "large.yaml"
    path.write_text(CLUSTER.replace("capability: {cpu: 2}", "capability: {cpu: 4}"))
    main(["run", str(path)])
    assert "are still to be created" in capsys.readouterr().err
    main(["run", str(path), "--cycles", "rest"])
    assert "are still to be created" not in capsys.readouterr().err


@pytest.mark.parametrize("cycles", ["0", "-1", "many", "100000"])
def test_other_numbers_of_cycles_are_refused(capsys, file, cycles):
    assert main(["run", file, f"--cycles={cycles}"]) == 2
    assert f"--cycles is {cycles}; allowed" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.parametrize("setting", [
    "queue/small.capability.cpu=3", "job/train.queue=default", "job/train.requests.cpu=500m",
    "job/default/train.queue=default", "job/train.tasks[0].replicas=2"])
def test_a_change_has_its_effect_on_a_job_without_pods(capsys, file, setting):
    more = ["--set", "job/train.minAvailable=2"] if "replicas" in setting else []
    row = train(capsys, "what-if", file, "--set", setting, *more)
    assert row["placed"] == [0, 2 if more else 3], row
    assert row["pending"] == [3, 0]


@pytest.mark.long
def test_a_smaller_minimum_asks_for_less(capsys, file):
    row = train(capsys, "what-if", file, "--set", "job/train.minAvailable=2")
    assert (row["placed"], row["pending"]) == ([0, 2], [3, 1])


@pytest.mark.long
def test_a_node_is_uncordoned_with_its_taint(capsys, file):
    change = "--set", "job/train.requests.cpu=10", "--set", "job/train.queue=default", "--set", (
        "job/train.minAvailable=1")
    assert train(capsys, "what-if", file, *change)["placed"] == [0, 0]
    row = train(capsys, "what-if", file, *change, "--set", "node/n2.unschedulable=false")
    assert row["placed"] == [0, 1]


@pytest.mark.long
def test_sweep_sees_the_pods_that_are_created(capsys, file):
    assert main(["sweep", file, "--grid", "queue/small.capability.cpu=2..4", "--metric",
                 "job/train.placed", "--metric", "pending", "-o", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["job/train.placed"], row["pending"]) for row in rows] == [(0, 3), (3, 0), (3, 0)]


@pytest.mark.parametrize(("setting", "words"), [
    ("job/train.weight=3", "spec.weight is not known"),
    ("job/train.minAvailable=many", "minMember is \"many\""),
    ("job/train.priority=high", "allowed is a whole number"),
    ("job/train.queue+=a", "+= adds a list"),
    ("node/n1.more=none", "allowed is a whole number from 1")])
def test_what_cannot_have_an_effect_is_refused(capsys, file, setting, words):
    assert main(["what-if", file, "--set", setting]) == 2
    assert words in capsys.readouterr().err


def enlarged(tmp_path):
    path = tmp_path / "world" / "large.yaml"
    path.parent.mkdir()
    path.write_text(CLUSTER.replace("capability: {cpu: 2}", "capability: {cpu: 4}"))
    return path


@pytest.mark.parametrize(("cycle", "pods"), [(1, 0), (2, 3), (5, 3)])
def test_a_simulation_creates_the_pods_of_an_admitted_job(capsys, tmp_path, cycle, pods):
    assert main(["why", str(enlarged(tmp_path)), "train", "--cycle", str(cycle), "-o", "json",
                 "--no-remedies"]) == 0
    row = json.loads(capsys.readouterr().out)["cycles"][-1]
    assert (row["phase"] == "Pending", row["bound"] + row["running"]) == (False, pods)


@pytest.mark.long
def test_a_job_that_is_never_admitted_is_explained_with_its_pods_in_any_cycle(capsys, file):
    codes = []
    for more in ([], ["--cycle", "3"]):
        assert main(["why", file, "train", "-o", "json", "--no-remedies", *more]) == 0
        codes.append([cause["code"] for cause in json.loads(capsys.readouterr().out)["causes"]])
    assert codes[0] == codes[1] and "pods_later" in codes[0]


@pytest.mark.long
def test_the_pods_of_a_submitted_job_are_not_there_before_it_is_admitted():
    """Whether its PodGroup is among the files, or only the Job."""
    job = next(each for each in CLUSTER.split("---") if "kind: Job" in each)
    for queue, later in (("default", False), ("small", True)):
        cluster = Cluster().node("n1", cpu=16).queue("small", capability={"cpu": 1}).add(
            job.replace("queue: small", f"queue: {queue}"))
        codes = [cause.code for cause in cluster.why("train").causes]
        assert ("pods_later" in codes) is later, codes
    there = Cluster([*cluster.objects()]).why("train")
    assert "pods_later" not in [cause.code for cause in there.causes]


@pytest.mark.long
def test_serve_creates_the_pods_of_an_admitted_job(tmp_path):
    service = Service(enlarged(tmp_path).parent, report=lambda _: None)
    for _ in range(3):
        service.read()
        service.cycle()
    row, = (row for row in service.state.jobs if row["job"].startswith("default/train"))
    assert (row["placed"], row["pending"]) == (3, 0)


def test_serve_refuses_what_admission_refuses_and_keeps_the_rest(tmp_path):
    folder = enlarged(tmp_path).parent
    (folder / "wrong.yaml").write_text(
        "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: wrong}, "
        "spec: {weight: 1, capability: {cpu: 1}, deserved: {cpu: 2}}}")
    service = Service(folder, report=lambda _: None)
    service.read()
    assert list(service.folder.problems) == ["wrong.yaml"]
    assert {queue.name for queue in service.server.list("Queue")} == {"root", "default", "small"}


def test_lint_looks_at_the_pods_that_a_waiting_job_will_have(capsys, tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(CLUSTER.replace("requests: {cpu: 1}", "requests: {example.com/fpga: 1}"))
    assert main(["lint", str(path), "-o", "json"]) == 1
    assert "gang-impossible" in {
        row["rule"] for row in json.loads(capsys.readouterr().out)["findings"]}


@pytest.mark.long
def test_why_looks_at_the_cluster_once_the_admitted_jobs_have_their_pods(capsys, tmp_path):
    cluster = Cluster(loads(CLUSTER.replace("capability: {cpu: 2}", "capability: {cpu: 4}")))
    cluster.job("late", pods=6, cpu=1)
    explainer = cluster.explainer()
    train = next(job for uid, job in explainer.session.jobs.items() if "train" in uid)
    assert len(train.tasks) == 3
    placed = {row["job"]: row["placed"] for row in cluster.run(cycles=10).jobs()}
    assert placed == {row["job"]: row["placed"] for row in cluster.what_if().after.jobs()}


@pytest.mark.parametrize(("cycles", "said"), [("12", True), ("1", False)])
def test_a_run_that_stops_though_pods_are_evicted_says_so(cycles, said, capsys, tmp_path):
    cluster = Cluster().node("n1", cpu=2).job("vip", cpu=1, priority_class="high").job(
        "old", pods=2, min_member=1, cpu=1, running={"n1": 2})
    cluster.add("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, "
                "value: 9}")
    (tmp_path / "c.yaml").write_text(cluster.export())
    (tmp_path / "p.conf").write_text(
        'actions: "enqueue, allocate, preempt"\n'
        "tiers: [{plugins: [{name: priority}, {name: gang}, {name: predicates}]}]")
    assert main(["run", str(tmp_path / "c.yaml"), "--conf", str(tmp_path / "p.conf"),
                 "--cycles", cycles]) == 0
    assert ("--cycle 12 runs 12 cycles" in capsys.readouterr().err) == said


@pytest.mark.long
def test_the_line_of_a_change_can_be_pasted(capsys, file, tmp_path, monkeypatch):
    (tmp_path / "x.conf").write_text(DEFAULT_CONF)
    monkeypatch.setenv("COLUMNS", "400")
    assert main(["why", file, "train", "--conf", str(tmp_path / "x.conf"), "-o", "wide"]) == 0
    lines = [line.strip()[2:] for line in capsys.readouterr().out.splitlines()
             if line.strip().startswith("$ volcano-lab what-if")]
    assert lines
    placed = [train(capsys, *shlex.split(line)[1:])["placed"] for line in lines[:3]]
    assert {after > before for before, after in placed} == {True}


@pytest.mark.parametrize(("actions", "cycles"), [
    ("enqueue, allocate", 1), ("allocate, enqueue", 2), ("allocate, enqueue, allocate", 1),
    ("allocate", 1)])
def test_a_job_that_is_admitted_after_allocate_is_placed_at_rest(actions, cycles):
    cluster = Cluster(conf={"actions": actions, "tiers": [{"plugins": [{"name": "gang"}]}]})
    cluster.node("n1", cpu=4).job("train", pods=2, cpu=1)
    assert not cluster.why("train").causes
    assert len(cluster.run(cycles=cycles).session.jobs["default/train"].tasks) == 2
    assert cluster.run(cycles=cycles).rests and cluster.run().rests == (cycles == 1)
