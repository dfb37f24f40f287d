"""What users meet every day: pods that others wait for, devices of one node, overhead, full nodes.
"""

import pytest
from small_cluster import conf, group, pod

from volcano_lab import Cluster
from volcano_lab.api.objects.affinity import Toleration
from volcano_lab.api.objects.cluster import Taint
from volcano_lab.explain import Explainer
from volcano_lab.explain.owners import ends
from volcano_lab.manifests import loader
from volcano_lab.manifests.writer import to_dict

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
    found = Cluster().node("n1", cpu=4).add(RUNS.replace("READY", ready)).why("pipe")
    text = found.text
    assert found.head.startswith("pipe waits for the pods of api to be ready: those of its task "
                                 "train are created then.") is (ready == "false")
    said = "pipe-api-0 runs, and a container of it is not ready: look at its readiness probe."
    assert (f"once those of api are ready (dependsOn); {said}" in text) is (ready == "false")


def test_a_pod_that_has_succeeded_never_lets_a_task_start_that_depends_on_it():
    ended = RUNS.replace("phase: Running, containerStatuses", "phase: Succeeded, containerStatuses")
    gang = ended.replace("minMember: 1}", "minMember: 2}").replace("minAvailable: 1, sch",
                                                                  "minAvailable: 2, sch")
    found = Cluster().node("n1", cpu=4).add(gang.replace("READY", "false")).why("pipe")
    assert ("(dependsOn); pipe-api-0 has succeeded, so its containers are not ready, and v1.14.0 "
            "never counts it again (volcano-sh/volcano#5424).") in found.text
    assert "wait for each other" not in found.text and "creates them" not in found.text
    single = Cluster().node("n1", cpu=4).add(ended.replace("READY", "false")).why("pipe")
    assert single.head.startswith("pipe waits for its pods, which are not created.")
    assert not found.remedies  # no change of the cluster places a pod that is not created


@pytest.mark.long
@pytest.mark.parametrize("phase, said", [
    ("Restarting", "it is Restarting: its controller ends its pods, and creates none before these"),
    ("Terminated", "it is Terminated, and its controller creates no pods for it any more")])
def test_why_a_job_that_ends_or_has_ended_gets_no_pods(phase, said):
    text = RUNS.replace("state: {phase: Running}", f"state: {{phase: {phase}}}").replace(
        "minMember: 1}", "minMember: 2}").replace("READY", "true")
    leaves = text.replace("uid: u, controller: true}]}\nspec: {schedulerName: volcano, nodeName",
                          'uid: u, controller: true}], deletionTimestamp: "2020-01-01T00:00:00Z"}'
                          "\nspec: {schedulerName: volcano, nodeName")
    found = Cluster().node("n1", cpu=4).add(leaves).why("pipe")
    assert f"default/pipe: {said}" in found.text
    placed = Cluster().node("n1", cpu=4).add(text.replace("minMember: 2}", "minMember: 1}"))
    assert placed.why("pipe").head.startswith("pipe is Restarting: no pod of it waits for a node."
                                              ) is (phase == "Restarting")
    assert "look at its replicas" not in found.text and not found.remedies


@pytest.mark.parametrize("role, said", [("executor", True), ("driver", False)])
def test_memory_of_an_operators_field_is_less_than_what_its_pod_requests(role, said):
    text = Cluster().node("n1", cpu=4, memory="8Gi").add(SPARK.replace("ROLE", role)).why(
        "default/exec").text
    assert ("spec.executor.memory of its SparkApplication is 7g; the operator adds memory overhead "
            "to it." in text) is said


@pytest.mark.long
@pytest.mark.parametrize("role, said", [("executor", True), ("driver", False)])
def test_a_smaller_request_is_said_in_the_field_of_the_owner(role, said):
    cluster = Cluster().node("n1", cpu=4, memory="8Gi").add(SPARK.replace("ROLE", role))
    found = cluster.why("default/exec").remedies[0]
    assert found.change == "job default/g: request per pod memory 9Gi -> 6Gi"
    assert found.effect.startswith("SparkApplication spec.executor.memory 7g -> 4g; g is placed"
                                   if said else "g is placed")
    assert bool(found.fields) is not said  # the operator computes what the containers request


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
def test_for_a_job_whose_policy_keeps_it_from_preempting_no_pod_is_evicted(policy):
    cluster = Cluster().node("n1", cpu=1).add("{apiVersion: scheduling.k8s.io/v1, kind: "
                                              "PriorityClass, metadata: {name: p}, value: 9}")
    cluster.job("old", cpu=1, running={"n1": 1}).job("new", cpu=1, priority=9, priority_class="p")
    changed = Cluster([obj.changed(spec={"preemption_policy": policy}) if obj.name == "new-0" else
                       obj for obj in cluster.objects()])
    head = changed.why("old", evict=True, conf={"actions": "allocate, preempt", "tiers": [
        {"plugins": [{"name": "priority"}]}]}).head
    assert ("No running pod of default/old may be evicted" in head) is (policy == "Never")


@pytest.mark.parametrize("elsewhere, said", [(9, "not only the 2 that no rule refuses"),
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


@pytest.mark.long
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
    assert "the nodes with matching labels have enough left for 2 of its pods only" in found.head


@pytest.mark.parametrize("role, alone", [("driver", True), ("executor", False)])
def test_a_job_whose_head_alone_runs_does_not_end_by_itself(role, alone):
    cluster = Cluster().node("n1", cpu=2).job("old", pods=2, min_member=1, cpu=2,
                                              running={"n1": 1})
    labelled = Cluster([obj.changed(metadata={"labels": {"spark-role": role}})
                        if obj.name == "old-0" else obj for obj in cluster.objects()])
    assert ends(labelled.run().session.jobs["default/old"]) is not alone


@pytest.mark.long
@pytest.mark.parametrize("both", [True, False])
def test_one_of_two_plugins_that_share_is_to_go_where_it_allows_no_victim(both):
    cluster = Cluster().node("n1", cpu=5).queue("a", weight=9, deserved=1).queue("b", deserved=3)
    cluster.add("{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {nodeName: n1, "
                "containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}, status: "
                "{phase: Running}}")
    cluster.job("old", pods=4, min_member=1, queue="a", cpu=1, running={"n1": 4}).job(
        "new", queue="b", cpu=1)
    plugins = ["gang", "predicates", "proportion", *["capacity"] * both]
    found = cluster.why("new", conf=conf(*plugins, actions="allocate, reclaim"))
    assert ("proportion is the one to drop" in found.text) is both
    assert ("without plugin proportion" in [each.change for each in found.remedies]) is both


@pytest.mark.parametrize("closed", [True, False])
def test_a_share_that_is_kept_for_pods_which_may_not_use_the_node_is_named(closed):
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=4).queue("a").queue(
        "b", weight=9).job("other", pods=12, min_member=1, queue="b", cpu=1, running={"n2": 4})
    cluster.job("new", queue="a", pods=2, cpu=1)
    own = {"tolerations": [Toleration("team", "Exists")]}
    spec = {"n1": {"taints": [Taint("team", effect="NoSchedule")] if closed else []},
            "new-0": own, "new-1": own}
    chosen = Cluster([obj.changed(spec=spec[obj.name]) if obj.name in spec else obj
                      for obj in cluster.objects()])
    found = chosen.why("new", conf=conf("gang", "predicates", "proportion"))
    assert ("no waiting pod of b can use this one (labels, taints)" in found.text) is closed


@pytest.mark.long
def test_a_little_less_of_several_resources_comes_before_what_costs_others():
    cluster = Cluster().node("n1", cpu=7, memory="7Gi").job(
        "old", cpu=3, memory="3Gi", running={"n1": 1}).job("new", cpu=5, memory="5Gi")
    found = cluster.why("new", conf=conf("priority", "gang", "predicates"))
    assert found.remedies[0].change == (
        "job default/new: request per pod cpu 5 -> 4, memory 5Gi -> 4Gi")


@pytest.mark.long
def test_a_gang_on_one_node_is_offered_a_part_of_what_is_missing_for_each_pod():
    cluster = Cluster().node("n1", cpu=8).job("new", pods=3, cpu=3)
    found = cluster.why("new", conf=conf("gang", "predicates"))
    assert found.remedies[0].change == "job default/new: request per pod cpu 3 -> 2600m"


def test_a_pod_that_was_not_tried_learns_at_which_one_its_job_was_given_up():
    cluster = Cluster().node("n1", cpu=4).queue("a", capability=2).job(
        "new", pods=2, queue="a", cpu=3)
    explain = Explainer(cluster.objects(), conf("gang", "predicates", "capacity"))
    assert ["Its job was given up in this cycle at pod default/new-0:" in explain.why_not(
        "n1", f"default/new-{number}").text for number in range(2)] == [False, True]


def test_without_csi_nodes_a_missing_claim_does_not_say_that_these_are_to_be_added():
    waits = pod("new", "new", requests={"cpu": "1"}, volumes=[
        {"name": "v", "persistentVolumeClaim": {"claimName": "data"}}])
    cluster = Cluster([*Cluster().node("n1", cpu=4).objects(), group("new"), waits]).add(
        "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: x}, provisioner: p}")
    assert "There is no CSINode among the objects" not in cluster.why("default/new").text


@pytest.mark.long
@pytest.mark.parametrize("reason, said", [("ImagePullBackOff", True), ("ContainerCreating", False)])
def test_holders_of_which_no_pod_starts_are_named_and_may_be_deleted(reason, said):
    waits = [{"name": "c", "state": {"waiting": {"reason": reason}}}]
    holds = pod("old", "old", "n1", requests={"cpu": "3"}, phase="Pending")
    holds = loader.from_dict({**to_dict(holds), "status": {
        "phase": "Pending", "containerStatuses": waits}})
    cluster = Cluster([*Cluster().node("n1", cpu=4).objects(), group("old"), holds]).job(
        "new", cpu=2)
    for actions in ("allocate", "enqueue, allocate"):
        found = cluster.why("new", conf=conf("overcommit", "gang", "predicates", actions=actions))
        changes = [each.change for each in found.remedies]
        assert (f"Fewer pods of default/old start or keep running than its minimum ({reason})"
                in found.text) is said
        assert ("delete job/default/old" in changes) is said


@pytest.mark.parametrize("phase, said", [("Running", True), ("Pending", False)])
def test_a_state_of_a_job_that_stays_running_is_named(phase, said):
    text = RUNS.replace("READY", "true").replace(", nodeName: n1", "").replace(
        "status: {phase: Running, cont", "status: {phase: Pending, cont").replace(
        "status: {state: {phase: Running}}", f"status: {{state: {{phase: {phase}}}}}")
    found = Cluster().node("n1", cpu=4).add(text).why("pipe", conf=conf(
        "gang", actions="enqueue")).head
    assert "its phase is Pending again" in found
    assert ("; the state of its Job stays Running." in found) is said


@pytest.mark.parametrize("going, said", [("ToBeDeletedByClusterAutoscaler", True), ("b", False)])
def test_a_node_that_is_removed_is_named_beside_the_taint_that_is_not_tolerated(going, said):
    taints = {"n1": [Taint("a", effect="NoSchedule")],
              "n2": [Taint("a", effect="NoSchedule"), Taint(going, effect="NoSchedule")]}
    cluster = Cluster([obj.changed(spec={"taints": taints[obj.name]}) if obj.name in taints else obj
                       for obj in Cluster().node("n1", cpu=4).node("n2", cpu=4).job(
                           "new", cpu=1).objects()])
    text = cluster.why("new", conf=conf("gang", "predicates")).text
    assert ("n2 also has a taint with which an autoscaler or the cloud removes it." in text) is (
        said)
