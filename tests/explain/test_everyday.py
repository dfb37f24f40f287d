"""What users meet every day: pods that others wait for, devices of one node, overhead, full nodes.
"""

import pytest
from small_cluster import conf, pod

from volcano_lab import Cluster
from volcano_lab.explain import Explainer

RUNS = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: pipe, namespace: default, uid: u}
spec: {minAvailable: 1, schedulerName: volcano, tasks: [
  {name: api, replicas: 1, minAvailable: 1, template: &t {spec: {containers: [
    {name: c, image: i}]}}},
  {name: train, replicas: 1, dependsOn: {name: [api]}, template: *t}]}
status: {state: {phase: Running}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: pipe-u, namespace: default, ownerReferences: [
  {apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: pipe, uid: u, controller: true}]}
spec: {minMember: 1}
status: {phase: Running}
---
apiVersion: v1
kind: Pod
metadata: {name: pipe-api-0, namespace: default, annotations: {scheduling.k8s.io/group-name: pipe-u,
  volcano.sh/job-name: pipe, volcano.sh/task-spec: api}, ownerReferences: [
  {apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: pipe, uid: u, controller: true}]}
spec: {schedulerName: volcano, nodeName: n1, containers: [{name: c, image: i}]}
status: {phase: Running, containerStatuses: [{name: c, ready: READY}]}
"""
SPARK = """
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata: {name: etl, namespace: default, uid: s}
spec: {batchScheduler: volcano, executor: {memory: 7g}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: g, namespace: default, ownerReferences: [
  {apiVersion: sparkoperator.k8s.io/v1beta2, kind: SparkApplication, name: etl, uid: s}]}
spec: {minMember: 1}
status: {phase: Inqueue}
---
apiVersion: v1
kind: Pod
metadata: {name: exec, namespace: default, labels: {spark-role: ROLE},
  annotations: {scheduling.k8s.io/group-name: g}}
spec: {schedulerName: volcano, containers: [{name: c, image: i, resources: {requests: {
  memory: 9Gi}}}]}
"""
LEADERS = """
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: vllm, namespace: default, uid: l, annotations: {NOTES}}
spec: {startupPolicy: POLICY, leaderWorkerTemplate: {size: 2, workerTemplate: {spec: {
  schedulerName: volcano, containers: [{name: c, image: i}]}}}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: g, namespace: default, ownerReferences: [
  {apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, name: vllm, uid: l}]}
spec: {minMember: 2}
status: {phase: Inqueue}
---
apiVersion: v1
kind: Pod
metadata: {name: vllm-0, namespace: default, annotations: {scheduling.k8s.io/group-name: g}}
spec: {schedulerName: volcano, containers: [{name: c, image: i}]}
"""


@pytest.mark.parametrize("ready", ["true", "false"])
def test_a_pod_that_runs_and_is_not_ready_keeps_a_task_that_depends_on_it(ready):
    text = Cluster().node("n1", cpu=4).add(RUNS.replace("READY", ready)).why("pipe").text
    said = "pipe-api-0 runs, and a container of it is not ready: look at its readiness probe."
    assert (f"once those of api are ready (dependsOn); {said}" in text) is (ready == "false")


@pytest.mark.parametrize("role, said", [("executor", True), ("driver", False)])
def test_memory_of_an_operators_field_is_less_than_what_its_pod_requests(role, said):
    text = Cluster().node("n1", cpu=4, memory="8Gi").add(SPARK.replace("ROLE", role)).why(
        "default/exec").text
    assert ("spec.executor.memory of its SparkApplication is 7g; the operator adds memory overhead "
            "to it." in text) is said


KEY = "leaderworkerset.sigs.k8s.io/exclusive-topology"


@pytest.mark.parametrize("notes, policy, said", [
    ("", "LeaderCreated", ""), ("", "LeaderReady", "startupPolicy: LeaderReady"),
    (f"{KEY}: rack", "LeaderCreated", f"{KEY}: rack")])
def test_workers_that_are_created_once_their_leader_has_a_node_wait_for_its_gang(notes, policy,
                                                                                 said):
    found = Cluster().node("n1", cpu=4).add(LEADERS.replace("NOTES", notes).replace(
        "POLICY", policy)).why("vllm-0").text
    assert (f"creates the others once these run ({said}), and the gang" in found) is bool(said)


@pytest.mark.parametrize("pages, said", [("0", True), ("2Gi", False)])
def test_a_node_without_one_of_the_devices_that_pods_request_is_named(pages, said):
    asks = {"a.b/gpu": "1", "hugepages-2Mi": "2Gi"}
    cluster = Cluster().node("n1", cpu=4, resources=asks).node(
        "n2", cpu=4, resources=asks | {"hugepages-2Mi": pages}).node("cpu", cpu=9).job(
        "new", pods=3, cpu=1, resources=asks)
    text = cluster.why("new", conf=conf("gang", "predicates")).text
    assert ("n2 has the other devices that the pod requests, and announces no hugepages-2Mi."
            in text) is said and "cpu has" not in text


@pytest.mark.parametrize("policy", ["Never", "PreemptLowerPriority"])
def test_a_job_whose_policy_keeps_it_from_preempting_is_named(policy):
    cluster = Cluster().node("n1", cpu=1).add("{apiVersion: scheduling.k8s.io/v1, kind: "
                                              "PriorityClass, metadata: {name: p}, value: 9}")
    cluster.job("old", cpu=1, running={"n1": 1}).job("new", cpu=1, priority=9, priority_class="p")
    changed = Cluster([obj.changed(spec={"preemption_policy": policy}) if obj.name == "new-0" else
                       obj for obj in cluster.objects()])
    text = changed.why("old", evict=True, conf={"actions": "allocate, preempt", "tiers": [
        {"plugins": [{"name": "priority"}]}]}).text
    assert ("preempt evicts none for default/new: the preemption policy" in text) is (
        policy == "Never")


@pytest.mark.parametrize("elsewhere, said", [(9, "not only the 2 that they may use"),
                                             (0, "Minimums (minMember, minResources)")])
def test_jobs_that_wait_for_each_other_on_some_nodes_learn_what_admission_adds_up(elsewhere, said):
    cluster = Cluster().node("n1", cpu=4, labels={"role": "a"}).node("n2", cpu=4, labels={
        "role": "a"})
    cluster = cluster.node("n3", cpu=elsewhere) if elsewhere else cluster
    for number in range(4):
        cluster.job(f"app{number}", pods=3, min_member=1, cpu=2,
                    running={f"n{number % 2 + 1}": 1})
    spec = {"Pod": {"node_selector": {"role": "a"}}, "PodGroup": {"min_resources": {"cpu": "6"}}}
    chosen = Cluster([obj.changed(spec=spec[obj.kind]) if obj.kind in spec else obj
                      for obj in cluster.objects()])
    assert said in chosen.why("app2", conf=conf("gang", "predicates")).text


def test_a_share_counts_what_pods_of_other_schedulers_hold():
    other = pod("web", node="n1", requests={"cpu": "1"}, phase="Running").changed(
        spec={"scheduler_name": "default-scheduler"})
    cluster = Cluster([*Cluster().node("n1", cpu=4).queue("a").queue("b").job(
        "old", pods=4, min_member=1, queue="a", cpu=1, running={"n1": 2}).job(
        "new", pods=4, min_member=1, queue="b", cpu=1, running={"n1": 1}).objects(), other])
    text = cluster.why("new", conf={"actions": "allocate, reclaim", "tiers": [
        {"plugins": [{"name": "priority"}, {"name": "proportion"}]}]}).text
    assert "adds up to all that the nodes have, also cpu 1 that pods hold" in text


def test_a_pipelined_gang_above_a_capability_is_offered_one_for_all_its_pods():
    cluster = Cluster().node("n1", cpu=9).queue("up", capability=2).queue(
        "a", parent="up", deserved=1).queue("b", parent="up", deserved=2)
    cluster.job("old", pods=2, queue="a", cpu=1, running={"n1": 2}).job(
        "new", pods=2, queue="b", cpu=1)
    plugins = [{"name": "gang"}, {"name": "predicates"}, {"name": "proportion"},
               {"name": "capacity", "enableHierarchy": True}]
    found = cluster.why("new", conf={"actions": "allocate, reclaim", "tiers": [
        {"plugins": plugins}]})
    assert found.codes == ["never_bound"] and "nothing is freed in the queue" in found.text
    assert "queue up: capability cpu 2 -> 4" in [each.change for each in found.remedies]


def test_nodes_that_take_a_part_of_a_gang_are_not_said_to_be_full():
    cluster = Cluster().node("n1", cpu=4, labels={"arch": "a"}).node("n2", cpu=9).job(
        "new", pods=3, cpu=2)
    chosen = Cluster([obj.changed(spec={"node_selector": {"arch": "a"}}) if obj.kind == "Pod" else
                      obj for obj in cluster.objects()])
    found = Explainer(chosen.objects(), conf("gang", "predicates")).why("new")
    assert "the nodes that it may use have enough left for 2 of its pods only" in found.head
