"""What a team asks in its first month: why a Job is Failed or has no pods, why more nodes or a
higher priority do not help, what becomes of a volume whose node is gone.
"""

import json

import pytest
from small_cluster import conf

from volcano_lab import Cluster
from volcano_lab.changes import Change
from volcano_lab.explain import Explainer
from volcano_lab.explain.configuration import apart
from volcano_lab.explain.options import World
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.manifests.loader import loads

PLUGINS = "priority", "gang", "conformance", "overcommit", "predicates", "proportion", "nodeorder"
HEAD = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: load, namespace: a, uid: u}
"""
OWNER = "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: load, uid: u, controller: true}"
GROUP = f"""\
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {{name: load-u, namespace: a, ownerReferences: [{OWNER}]}}
spec: {{minMember: 4}}
status: {{phase: PHASE}}
---
apiVersion: v1
kind: Node
metadata: {{name: n1}}
status: {{allocatable: {{cpu: 8, memory: 8Gi, pods: 10}}}}
---
"""
ENDED = HEAD + """\
spec: {schedulerName: volcano, minAvailable: 4, MORE, tasks: [{name: t, replicas: 4, template: {
  spec: {containers: [{name: c, image: i}]}}}]}
status: {state: {phase: Failed}}
""" + GROUP.replace("PHASE", "Completed")
DONE = f"""\
apiVersion: v1
kind: Pod
metadata: {{name: load-t-NUMBER, namespace: a, annotations: {{scheduling.k8s.io/group-name: load-u,
  volcano.sh/job-name: load, volcano.sh/task-spec: t}}, ownerReferences: [{OWNER}]}}
spec: {{schedulerName: volcano, nodeName: n1, containers: [{{name: c, image: i}}]}}
status: {{phase: PHASE, containerStatuses: [{{name: c, state: {{terminated: END}}}}]}}
---
"""


@pytest.mark.parametrize(("more", "said"), [
    ("maxRetry: 3", "3 have succeeded, and minAvailable is 4, so the Job is Failed."),
    ("minSuccess: 4", "3 have succeeded, and minSuccess is 4, so the Job is Failed."),
    ("minSuccess: 2", "")])
def test_a_job_that_failed_says_how_many_of_its_pods_had_to_succeed(more, said):
    killed = DONE.replace("PHASE", "Failed").replace("END", "{exitCode: 137, reason: OOMKilled}")
    done = DONE.replace("PHASE", "Succeeded").replace("END", "{exitCode: 0}")
    text = Cluster(loads(ENDED.replace("MORE", more) + "".join(
        (killed if number == 2 else done).replace("NUMBER", str(number))
        for number in range(4)))).why("a/load").text
    assert "Pod a/load-t-2 failed: container c ended with OOMKilled (exit code 137)." in text
    assert said in text and ("so the Job is Failed" in text) is bool(said)


def event(reason, message, kind="Warning", name="load", time="2026-11-28T06:05:00Z"):
    return json.dumps({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": f"{name}.1", "namespace": "a"},
        "involvedObject": {"kind": "Job", "name": name, "namespace": "a"}, "reason": reason,
        "message": message, "type": kind, "lastTimestamp": time}) + "\n---\n"


MISSING = HEAD + """\
spec: {schedulerName: volcano, minAvailable: 4, tasks: [{name: t, replicas: 4, template: {
  spec: {serviceAccountName: spark, containers: [{name: c, image: i}]}}}]}
""" + GROUP.replace("PHASE", "Inqueue")
FORBIDDEN = 'pods "load-t-0" is forbidden: serviceaccount "spark" not found'
STATUS = ("Error creating pods: [failed to create pod load-t-0, err: &errors.StatusError{Status:"
          '"Failure", Message:"' + FORBIDDEN.replace('"', '\\"') + '", Reason:"Forbidden"}]')


@pytest.mark.parametrize("events", [
    event("FailedCreate", STATUS), event("FailedCreate", FORBIDDEN + "."),
    event("FailedCreate", "exceeded quota") + event("FailedCreate", FORBIDDEN)])
def test_the_last_warning_of_a_controller_says_why_pods_are_not_created(events):
    text = Cluster(loads(MISSING + events)).why("a/load").text
    assert ("a/load: the last warning of its controller (Event FailedCreate, 2026-11-28T06:05:00Z)"
            f": {FORBIDDEN}. a/load: 4 of its 4 pods are not among the objects") in text


def test_the_podgroup_that_a_webhook_asks_for_is_named():
    said = 'denied the request: podgroups.scheduling.volcano.sh "pg" not found'
    text = Cluster(loads(MISSING + event("FailedCreate", said))).why("a/load").text
    assert f"{said}. PodGroup pg is to be there before the pods" in text


@pytest.mark.parametrize("other", [
    event("FailedCreate", FORBIDDEN, name="other"), event("FailedCreate", FORBIDDEN, "Normal"),
    event("Unschedulable", "4/4 tasks in gang unschedulable"),
    event("FailedCreatePodSandBox", "network plugin not ready")])
def test_an_event_that_says_nothing_of_missing_pods_is_not_quoted(other):
    loaded = loads(MISSING + other)
    assert "last warning" not in Cluster(loaded).why("a/load").text
    assert not any("Event" in each for each in map(str, loaded.warnings))


DEPLOYED = """\
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: a, uid: d},
  spec: {replicas: 2, template: {spec: {schedulerName: volcano, containers: [{name: c}]}}}}
---
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web-1, namespace: a, uid: r,
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: d, controller: true}]},
  spec: {replicas: 2, template: {spec: {schedulerName: volcano, containers: [{name: c}]}}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 8, pods: 10}}}
---
"""
ANY_QUOTA = """\
{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: a}, spec: {hard: {pods: 9}}}
---
"""
CALLED = 'failed calling webhook "validatepod.volcano.sh": no endpoints available'


@pytest.mark.parametrize(("more", "created"), [
    (event("FailedCreate", CALLED, name="web-1"), False), ("", True),
    (event("FailedCreate", "exceeded quota", name="web-1") + ANY_QUOTA, True)])
def test_pods_of_a_controller_that_cannot_create_them_are_not_placed(more, created):
    """What a quota refuses is decided here: it may have more left by now."""
    cluster = Cluster(loads(DEPLOYED + more))
    assert bool(cluster.run().committed) is created
    text, group = cluster.why("a/web").text, [*cluster.why().groups]
    assert ("none of its pods is created" in text) is (not created) is bool(group)
    asked = "The API server asks webhook validatepod.volcano.sh about each such object" in text
    assert asked is (not created)


TORCH = """\
{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: t, namespace: a, uid: u},
  spec: {pytorchReplicaSpecs: {Master: &one {replicas: 1, template: {spec: {containers: [
    {name: c, resources: {requests: {memory: 1Gi}}}]}}}, Worker: *one}}}
---
{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: t, namespace: a,
  ownerReferences: [&owner {apiVersion: kubeflow.org/v1, kind: PyTorchJob, name: t, uid: u}]},
  spec: {minMember: 2}, status: {phase: Inqueue}}
---
{apiVersion: v1, kind: Pod, metadata: {name: t-master-0, namespace: a, ownerReferences: [{
    apiVersion: kubeflow.org/v1, kind: PyTorchJob, name: t, uid: u}],
    annotations: {scheduling.k8s.io/group-name: t}}, spec: {schedulerName: volcano, containers: [
      {name: c, resources: {requests: {memory: 1Gi}}}]}, status: {phase: Pending}}
---
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {
  allocatable: {cpu: 8, memory: 8Gi, pods: 10}}}
---
{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: a}, spec: {
  hard: {memory: HARD}}, status: {hard: {memory: HARD}, used: {memory: 1Gi}}}
---
""".replace("&owner ", "")


@pytest.mark.long
@pytest.mark.parametrize(("hard", "message", "head", "change"), [
    ("1Gi", "exceeded quota: q", "a/t waits for quota: ResourceQuota a/q is memory 1Gi short.",
     "ResourceQuota a/q: hard memory 1Gi -> 2Gi"),
    ("9Gi", "exceeded quota: q", "a/t waits for its gang: 1 of 2 pods exist that may run.", None),
    ("1Gi", "no such account", "a/t waits for its gang: 1 of 2 pods exist that may run.", None)])
def test_a_quota_that_refuses_some_pods_of_an_operator_is_what_they_wait_for(
        hard, message, head, change):
    """Also where a flag of the operator, and no field of the object, hands its pods to Volcano."""
    said = event("FailedCreatePod", message, name="t").replace('"Job"', '"PyTorchJob"')
    found = Cluster(loads(TORCH.replace("HARD", hard) + said)).why("a/t")
    assert found.head.startswith(head)
    assert next((each.change for each in found.remedies if "Quota" in each.change), None) == change


@pytest.mark.parametrize("order", [1, -1])
def test_the_last_of_a_controllers_warnings_is_that_of_the_latest_time(order):
    events = [event("FailedCreate", "first"), event("FailedCreate", "second",
                                                    time="2026-11-28T07:00:00Z")]
    text = Cluster(loads(MISSING + "".join(events[::order]))).why("a/load").text
    assert "second" in text and "first" not in text


def test_an_object_that_is_not_read_is_known_by_its_name_and_hides_no_job():
    service = "{apiVersion: v1, kind: Service, metadata: {name: load, namespace: a}}\n---\n"
    world = Cluster(loads(service)).node("n1", cpu=1)
    assert "kind Service is not read" in world.why("a/load").head
    assert "begin so: a/load-7d9f" in world.job("load-7d9f", namespace="a").why("load").text
    assert "Service" not in Cluster(loads(service + MISSING)).why("a/load").text
    assert "Service" not in Explainer(Cluster(loads(service + MISSING)).objects()).why("load").text


CLAIM = """\
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: SPACE},
  spec: {accessModes: [ReadWriteMany]}}
---
"""


@pytest.mark.parametrize(("names", "said"), [("data", True), ("", False)])
def test_a_claim_that_the_job_itself_names_keeps_its_controller_from_creating_pods(names, said):
    volumes = "volumes: [{mountPath: /d, volumeClaimName: data}], " if names else ""
    pod = "" if names else (", volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]")
    job = HEAD + f"""\
spec: {{schedulerName: volcano, minAvailable: 1, {volumes}tasks: [{{name: t, replicas: 1,
  template: {{spec: {{containers: [{{name: c, image: i}}]{pod}}}}}}}]}}
---
"""
    cluster = Cluster(loads(job + CLAIM.replace("SPACE", "shared"))).node("n1", cpu=4)
    text = cluster.why("a/load").text
    assert "its PersistentVolumeClaim a/data does not exist" in text
    assert ("The Job's spec.volumes names a/data: its controller creates neither PodGroup nor pods"
            in text) is said


@pytest.mark.parametrize(("spare", "started", "said"), [(4, 1, True), (0, 1, False), (4, 0, False)])
def test_more_nodes_do_not_help_a_job_that_runs_in_a_full_queue(spare, started, said):
    cluster = Cluster().node("n1", cpu=4).queue("q", capability=4).queue("r")
    cluster = cluster.node("n2", cpu=spare) if spare else cluster
    cluster.job("etl", queue="q", pods=3, cpu=4, min_member=1,
                running={"n1": 1} if started else None)
    if not started:
        cluster.job("other", queue="q", pods=1, cpu=4, running={"n1": 1})
    text = Explainer(cluster.objects(), conf(*PLUGINS)).why("etl").text
    assert "Queue q refuses pod" in text
    assert ("Nodes have enough left for it, so more nodes do not help" in text) is said


@pytest.mark.parametrize(("priority", "said"), [(1, True), (9, False)])
def test_jobs_of_a_lower_priority_that_are_admitted_after_one_that_is_refused_are_named(
        priority, said):
    classes = loads("".join(f"{{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: "
                            f"{{name: p{value}}}, value: {value}}}\n---\n" for value in (1, 5, 9)))
    cluster = Cluster(classes).node("n1", cpu=4).job("run", cpu=2, running={"n1": 1})
    cluster.job("big", pods=2, cpu=2, priority_class="p5")
    cluster.job("small", cpu=2, priority_class=f"p{priority}")
    found = Explainer(cluster.objects(), conf(*PLUGINS, actions="enqueue, allocate")).why("big")
    assert found.codes[0] == "overcommit_refuses"
    assert ("default/small is admitted, though created later or of a lower priority" in found.text
            ) is said


DEAD = """\
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {kubernetes.io/hostname: n1}},
  status: {allocatable: {cpu: 8, memory: 8Gi, pods: 10}, conditions: [
    {type: Ready, status: STATUS}]}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2, labels: {kubernetes.io/hostname: n2}},
  status: {allocatable: {cpu: 8, memory: 8Gi, pods: 10}}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: v}
spec: {accessModes: [ReadWriteOnce], claimRef: {name: d, namespace: default},
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [
    {key: kubernetes.io/hostname, operator: In, values: [WHERE]}]}]}}}
status: {phase: Bound}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: d, annotations: {pv.kubernetes.io/bind-completed: "yes"}}
spec: {volumeName: v, accessModes: [ReadWriteOnce]}
status: {phase: Bound}
---
apiVersion: v1
kind: Pod
metadata: {name: db}
spec: {schedulerName: volcano, containers: [{name: c, image: i, resources: {requests: {cpu: 9}}}],
  volumes: [{name: d, persistentVolumeClaim: {claimName: d}}]}
"""


@pytest.mark.parametrize(("status", "where", "said"), [
    ("Unknown", "n1", True), ('"True"', "n1", False), ('"True"', "n3", True)])
def test_the_claim_of_a_volume_whose_node_is_gone_may_be_created_again(status, where, said):
    text = Cluster(loads(DEAD.replace("STATUS", status).replace("WHERE", where).replace(
        "cpu: 9", "cpu: 2"))).job("fill", cpu=8, running={"n1": 1}).why("db").text
    assert ("the data is lost: delete default/d and the pod, and create the claim again" in text
            ) is said


@pytest.mark.parametrize(("owner", "said"), [
    ("ReplicaSet", True), ("StatefulSet", True), ("DaemonSet", False)])
def test_who_creates_deleted_pods_of_other_schedulers_again_is_named(owner, said):
    web = loads(f"""\
apiVersion: v1
kind: Pod
metadata: {{name: web-1, namespace: b, ownerReferences: [
  {{apiVersion: apps/v1, kind: {owner}, name: web, uid: w, controller: true}}]}}
spec: {{nodeName: n1, containers: [{{name: c, resources: {{requests: {{cpu: 6}}}}}}]}}
status: {{phase: Running}}
""")
    cluster = Cluster(web).node("n1", cpu=8).job("train", cpu=4, priority=9)
    for actions in ("allocate, preempt", "enqueue, allocate, preempt"):
        text = Explainer(cluster.objects(), conf(*PLUGINS, actions=actions)).why("train").text
        assert "hold cpu 6 (b/web-1). Volcano evicts none of them, whatever their priority." in text
        assert (f"{owner} b/web creates a deleted pod again" in text) is (
            said and "enqueue" not in actions)


POOL = """\
{apiVersion: v1, kind: Node, metadata: {name: NAME, labels: {pool: NAME}},
  status: {allocatable: {cpu: 16, memory: 8Gi, pods: 10}}}
---
{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: NAME}, spec: {weight: 1},
  status: {state: Open}}
---
"""
WAITS = """\
{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: NAME},
  spec: {minMember: 1, minResources: {cpu: 4}, queue: QUEUE}, status: {phase: PHASE}}
---
{apiVersion: v1, kind: Pod, metadata: {name: NAME, annotations: {
  scheduling.k8s.io/group-name: NAME}}, spec: {schedulerName: volcano, ON nodeSelector: {
  pool: QUEUE}, containers: [{name: c, resources: {requests: {cpu: 4}}}]}, status: {phase: POD}}
---
"""


def member(name, queue, phase, on=""):
    return WAITS.replace("NAME", name).replace("QUEUE", queue).replace("PHASE", phase).replace(
        "ON ", on and f"nodeName: {on}, ").replace("POD", "Running" if on else "Pending")


@pytest.mark.long
def test_a_set_of_changes_of_which_one_alone_is_enough_is_not_offered():
    """Admission counts both pools; each pod may use the node of its own."""
    text = POOL.replace("NAME", "low") + POOL.replace("NAME", "high")
    text += "".join(member(f"run-{number}", "low", "Running", "low") for number in range(4))
    text += "".join(member(f"wait-{number}", "low", "Inqueue") for number in range(5))
    world = Cluster(loads(text + member("urgent", "high", "Pending"))).objects()
    found = Explainer(world, conf(*PLUGINS, actions="enqueue, allocate, backfill")).why("urgent")
    made = [remedy.tried.settings for remedy in found.remedies]
    assert ("conf/actions=allocate, backfill",) in made
    assert not any("reclaim" in text for each in made for text in each)


@pytest.mark.parametrize(("first", "second", "alone"), [
    ("conf/actions=enqueue, allocate, reclaim, backfill",
     "conf/actions=allocate, reclaim, backfill", ["conf/actions=allocate, backfill"]),
    ("conf/actions=allocate, backfill", "conf/actions=allocate, preempt, backfill",
     ["conf/actions=enqueue, allocate, preempt, backfill"]),
    ("queue/a.weight=2", "queue/b.weight=2", ["queue/b.weight=2"]),
    ("queue/a.weight=2", "queue/a.weight=3", [])])
def test_what_the_second_of_two_changes_is_without_the_first(first, second, alone):
    world = World([], load_conf('actions: "enqueue, allocate, backfill"'))
    assert [*apart(world, Change((first,)), Change((second,))).settings] == alone


def test_a_job_that_was_resumed_too_often_says_that_this_counts():
    text = Cluster(loads(ENDED.replace("MORE", "maxRetry: 3").replace(
        "{state: {phase: Failed}}", "{state: {phase: Failed}, retryCount: 3}"))).why("a/load").text
    assert ("it is Failed after 3 of at most 3 retries (maxRetry; each resume of a "
            "suspended Job is one, too) and has no pods; its controller does not start it again: "
            "delete it and create it again.") in text
    assert text.startswith(
        "a/load is Failed: no pod of it waits for a node. (PodGroup")


@pytest.mark.parametrize("asked, codes, said", [
    (7.5, ["fragmented"], False), (7.8, ["larger_than_any_node"], True),
    (8.5, ["larger_than_any_node"], False)])
def test_a_new_node_has_pods_of_daemon_sets_too(asked, codes, said):
    agents = loads("---".join(f"""
apiVersion: v1
kind: Pod
metadata: {{name: agent-{node}, namespace: a, ownerReferences: [
  {{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: w, controller: true}}]}}
spec: {{nodeName: {node}, containers: [{{name: c, resources: {{requests: {{cpu: 350m}}}}}}]}}
status: {{phase: Running}}
""" for node in ("n1", "n2")))
    cluster = Cluster(agents).node("n1", cpu=8).node("n2", cpu=8)
    cluster.job("web", cpu=3, pods=2, running={"n1": 1, "n2": 1})
    answer = cluster.job("train", cpu=asked).why("train")
    assert [cause.code for cause in answer.causes if not cause.context][:1] == codes
    assert ("Beside pods of DaemonSets cpu 7.65 is left of a node, also of a new one."
            in answer.text) is said


@pytest.mark.parametrize("kind", ["TrainJob", "PyTorchJob"])
def test_what_a_train_job_reserves_may_be_that_of_its_runtime(kind):
    objects = loads(f"""\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {{name: ft, namespace: a, ownerReferences: [
  {{apiVersion: trainer.kubeflow.org/v1alpha1, kind: {kind}, name: ft, uid: u, controller: true}}]}}
spec: {{minMember: 1, queue: team, minResources: {{cpu: 8}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: ft-0, namespace: a, annotations: {{scheduling.k8s.io/group-name: ft}}}}
spec: {{schedulerName: volcano, containers: [{{name: c, resources: {{requests: {{cpu: 2}}}}}}]}}
""")
    text = Cluster(objects).node("n1", cpu=16).queue("team", capability={"cpu": 4}).why("ft").text
    assert "minResources are cpu 8; the pods that exist request 2." in text
    assert ("takes them from the runtime" in text) is (kind == "TrainJob")


QUOTA = """\
apiVersion: v1
kind: ResourceQuota
metadata: {name: objects, namespace: NAMESPACE}
spec: {hard: {count/pods: 10}}
status: {hard: {count/pods: 10}, used: {count/pods: USED}}
---
"""


@pytest.mark.parametrize(("namespace", "used", "placed"), [
    ("a", 10, 0), ("a", 6, 4), ("else", 10, 0)])
def test_pods_of_an_admitted_job_are_created_once_its_quota_lets_them(namespace, used, placed):
    job = ENDED.replace("MORE", "maxRetry: 3").replace(
        "status: {state: {phase: Failed}}", "").replace("Completed", "Inqueue")
    quota = QUOTA.replace("NAMESPACE", namespace).replace("USED", str(used))
    cluster = Cluster(loads(quota + job))
    assert sum(bool(task.node_name) for task in cluster.run().session.jobs[
        "a/load-u"].tasks.values()) == placed
    raised = "resourcequota/a/objects.status.hard[count/pods]=14"
    offered = any(raised in str(remedy.args) for remedy in cluster.why("load").remedies)
    assert offered is (namespace == "a" and not placed)
    if offered:
        assert "4 more pods are placed" in str(cluster.what_if(raised))


OLD = "{apiVersion: batch/v1, kind: Job, name: old, uid: o, controller: true}"
USES = f"""\
apiVersion: batch/v1
kind: Job
metadata: {{name: old, namespace: a, uid: o}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {{name: podgroup-o, namespace: a, ownerReferences: [{OLD}]}}
spec: {{minMember: 4}}
status: {{phase: Running}}
---
"""
USED = f"""\
apiVersion: v1
kind: Pod
metadata: {{name: old-NUMBER, namespace: a,
  annotations: {{scheduling.k8s.io/group-name: podgroup-o}},
  ownerReferences: [{OLD}]}}
spec: {{schedulerName: volcano, nodeName: n1, containers: [{{name: c, image: i}}]}}
status: {{phase: PHASE}}
---
"""


@pytest.mark.long
@pytest.mark.parametrize(("phase", "said"), [
    ("Running", ""), ("Succeeded", "delete job/a/old")])
def test_a_quota_is_free_again_without_the_job_that_uses_it(phase, said):
    old = USES + "".join(USED.replace("NUMBER", str(at)) for at in range(4))
    new = ENDED.replace("MORE", "maxRetry: 3").replace(
        "status: {state: {phase: Failed}}", "").replace("Completed", "Inqueue")
    quota = QUOTA.replace("NAMESPACE", "a").replace("USED", "10")
    cluster = Cluster(loads(quota + old.replace("PHASE", phase) + new))
    found = [str(remedy) for remedy in cluster.why("load").remedies]  # no wait: it is ended before
    assert any(each.startswith(said or "wait for") for each in found) == bool(said)
    assert "4 more pods are placed" in str(cluster.what_if(remove=["job/a/old"]))


def volcano(app, phase="Running", ready="true", waiting="{}"):
    return f"""\
---
{{apiVersion: v1, kind: Pod, metadata: {{name: {app}-1, namespace: v, labels: {{app: {app}}}}},
  spec: {{schedulerName: default-scheduler, nodeName: n1, containers: [{{name: c}}]}},
  status: {{phase: {phase}, containerStatuses: [{{ready: {ready}, state: {waiting}}}]}}}}
"""


def seen(phase="", group="2026-11-28T06:00:00Z", version="7", newest="2026-11-28T09:00:00Z"):
    return f"""\
---
{{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {{name: g, namespace: a,
  creationTimestamp: "{group}", resourceVersion: "{version}"}}, spec: {{minMember: 1}},
  status: {{phase: "{phase}"}}}}
---
{{apiVersion: v1, kind: Pod, metadata: {{name: p, namespace: a, annotations: {{
    scheduling.k8s.io/group-name: g}}}},
  spec: {{schedulerName: volcano, containers: [{{name: c}}]}}}}
---
{{apiVersion: v1, kind: Node, metadata: {{name: n1, creationTimestamp: "{newest}"}},
  status: {{allocatable: {{cpu: 8, memory: 8Gi, pods: 10}}}}}}
"""


CRASHES = volcano("volcano-scheduler", ready="false",
                  waiting="{waiting: {reason: CrashLoopBackOff}}")


@pytest.mark.parametrize(("text", "said"), [
    (seen("Inqueue") + CRASHES, "(pod v/volcano-scheduler-1: CrashLoopBackOff)"),
    (seen("Inqueue") + volcano("volcano-scheduler", "Pending"), "volcano-scheduler-1: Pending)"),
    (seen(), "PodGroup a/g of 2026-11-28 06:00 has no phase, which each cycle sets"),
    (seen() + volcano("volcano-scheduler"), "PodGroup a/g of 2026-11-28 06:00 has no phase"),
    (seen("Inqueue"), ""), (seen(version=""), ""),
    (seen(newest="2026-11-28T06:00:50Z"), ""), (seen("Inqueue") + CRASHES + volcano(
        "volcano-scheduler").replace("scheduler-1", "scheduler-2"), "")])
def test_a_cluster_whose_scheduler_does_not_run_leaves_jobs_as_they_are(text, said):
    cluster = Cluster(loads(text))
    job, pod, groups = cluster.why("a/g"), cluster.why("a/p"), [*cluster.why().groups]
    assert job.head.startswith("a/g waits for Volcano's scheduler, which runs no cycle." if said
                               else "a/g does not wait.")
    assert said in job.text and ("no_scheduler" in job.codes) is bool(said)
    assert ("its log (kubectl logs --previous -n v volcano-scheduler-1)" in job.text) is (
        "scheduler-1" in said)
    assert ("waits for Volcano's scheduler" in pod.head) is bool(said) is bool(groups)
    rules = [finding.rule for finding in cluster.lint()]
    assert ("not-running" in rules) is ("volcano-scheduler" in said)


@pytest.mark.parametrize(("created", "phase", "sees"), [
    ("06:30", "Running", False), ("06:30", "", None), ("05:30", "Running", None)])
def test_a_podgroup_without_a_phase_that_is_older_than_one_with_a_phase_is_not_seen(
        created, phase, sees):
    newer = seen().split("---\n")[1].replace("name: g", "name: h").replace(
        "T06:00:00", f"T{created}:00").replace('phase: ""', f'phase: "{phase}"')
    job = Cluster(loads(f"{seen()}---\n{newer}")).why("a/g")
    assert job.head.startswith("a/g waits for Volcano's scheduler, which " + (
        "does not see its PodGroup." if sees is False else "runs no cycle."))
    assert ("for PodGroup a/h has a phase, and does not see the older PodGroup a/g of 2026-11-28 "
            "06:00, which has none." in job.text) is (sees is False)


@pytest.mark.parametrize(("version", "state", "newest", "said"), [
    ("7", "", "09:00", True), ("", "", "09:00", False), ("7", "Pending", "09:00", False),
    ("7", "", "06:01", False)])
def test_a_job_without_a_state_that_is_older_than_other_objects_is_not_handled(
        version, state, newest, said):
    job = f"""\
{{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {{name: j, namespace: a, uid: u,
  creationTimestamp: "2026-11-28T06:00:00Z", resourceVersion: "{version}"}}, spec: {{
  minAvailable: 1, tasks: [{{name: t, replicas: 1, template: {{spec: {{
    containers: [{{name: c}}]}}}}}}]}},
  status: {{state: {{phase: "{state}"}}}}}}
---
"""
    node = seen(newest=f"2026-11-28T{newest}:00Z").split("---\n")[-1]
    found = Cluster(loads(job + node)).why("a/j")
    assert found.head.startswith("a/j waits for Volcano's controller, which has not handled Job "
                                 "a/j." if said else "a/j does not wait.")
    assert ("has not handled Job a/j of 2026-11-28 06:00" in found.text) is said


@pytest.mark.parametrize(("placed", "phase", "waits"), [
    (False, "Running", True), (False, "Pending", True), (True, "Running", False)])
def test_a_controller_that_does_not_run_creates_no_pods_of_a_job(placed, phase, waits):
    pods = DONE.replace("PHASE", phase).replace(", containerStatuses: [{name: c, state: "
                                                "{terminated: END}}]", "") if placed else ""
    text = HEAD + "spec: {minAvailable: 1, tasks: [{replicas: 1, name: t, template: {spec: {"
    text += "schedulerName: volcano, containers: [{name: c, image: i}]}}}]}\n"
    if placed:
        text += GROUP.replace("PHASE", "Running").replace("minMember: 4", "minMember: 1")
        text += pods.replace("NUMBER", "0")
    text += "---\n{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 8"
    text += ", pods: 9}}}\n" + volcano("volcano-controller", ready="false")
    answer = Cluster(loads(text)).why("a/load")
    assert ("no_controller" in answer.codes) is waits
    assert ("waits for Volcano's controller" in answer.head) is waits


EVICTED = "{event: PodEvicted, action: RestartJob}"
STRANGER = """\
{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: b}, spec: {nodeName: n1,
  schedulerName: default-scheduler, containers: [{name: c, resources: {requests: {cpu: 6}}}]},
  status: {phase: Running}}
---
"""


@pytest.mark.parametrize(("status", "policy", "said"), [
    ("reason: OutOfcpu, message: no cpu left", "", [
        "OutOfcpu: no cpu left. The kubelet refused it", "hold cpu 6 (b/web)", "Two schedulers",
        "No policy of Job a/load is for PodFailed"]),
    ("reason: OutOfmemory", "", ["OutOfmemory. The kubelet refused it"]),
    ("reason: Evicted, message: 'low on memory. '", EVICTED, [
        "Evicted: low on memory. The kubelet ended it", "No policy of Job a/load"]),
    ("reason: NodeShutdown", "{event: PodFailed, action: RestartTask}", ["as its node shut down"]),
    ("reason: UnexpectedAdmissionError", "{exitCode: 3, action: RestartJob}", [
        "device plugin", "kubectl cordon n1"])])
def test_a_pod_that_the_kubelet_refuses_or_ends_says_so(status, policy, said):
    failed = DONE.replace("NUMBER", "0").replace(
        "PHASE, containerStatuses: [{name: c, state: {terminated: END}}]", f"Failed, {status}")
    text = ENDED.replace("MORE", f"policies: [{policy}]").replace("phase: Failed", "phase: Running")
    cluster = Cluster(loads(text + failed + STRANGER))
    for answer in (cluster.why("a/load"), cluster.why("a/load-t-0")):
        assert all(each in answer.text for each in said), answer.text
        assert ("No policy" in answer.text) is (policy in ("", EVICTED))
        assert ("hold cpu" in answer.text) is ("OutOfcpu" in status)


@pytest.mark.parametrize("status", [
    "Failed, message: said of NUMBER", "Failed, reason: said of NUMBER",
    "Pending, containerStatuses: [{name: c, state: {waiting: {reason: said of NUMBER}}}]",
    "Running, containerStatuses: [{name: c, state: {waiting: {reason: said of NUMBER}}}]"])
@pytest.mark.parametrize(("asked", "number"), [("a/load-t-0", 0), ("a/load-t-1", 1)])
def test_of_several_pods_the_one_that_is_asked_about_is_explained(status, asked, number):
    one = DONE.replace("PHASE, containerStatuses: [{name: c, state: {terminated: END}}]", status)
    text = ENDED.replace("MORE", "policies: []").replace("phase: Failed", "phase: Running")
    answer = Cluster(loads(text + "".join(one.replace("NUMBER", each) for each in "01"))).why(asked)
    said = answer.text
    assert f"said of {number}" in said and f"said of {1 - number}" not in said


@pytest.mark.parametrize(("policy", "least", "stuck"), [
    ("", 2, True), ("", 1, False), ("{event: PodFailed, action: RestartTask}", 2, False)])
def test_a_gang_below_its_minimum_waits_for_a_pod_that_nothing_creates_again(policy, least, stuck):
    ends = ", containerStatuses: [{name: c, state: {terminated: END}}]"
    text = ENDED.replace("MORE", f"policies: [{policy}]").replace("phase: Failed", "phase: Running")
    for field in ("minAvailable", "minMember"):
        text = text.replace(f"{field}: 4", f"{field}: {least}")
    cluster = Cluster(loads(text.replace("replicas: 4", "replicas: 2") + DONE.replace(
        "NUMBER", "0").replace("PHASE" + ends, "Failed, reason: Evicted") + DONE.replace(
        "NUMBER", "1").replace("PHASE" + ends, "Running")))
    assert cluster.why("a/load").head.startswith(
        "a/load waits for a pod in place of a/load-t-0, which failed." if stuck
        else "a/load does not wait.")
    assert [group.jobs for group in cluster.why().groups] == [["a/load"]] * stuck


@pytest.mark.long
def test_a_gang_is_not_reduced_by_its_failed_pods():
    failed = DONE.replace("NUMBER", "0").replace("PHASE", "Failed").replace("END", "{exitCode: 1}")
    waiting = DONE.replace("NUMBER", "1").replace("nodeName: n1, ", "").replace(
        "status: {phase: PHASE, containerStatuses: [{name: c, state: {terminated: END}}]}\n", "")
    text = ENDED.replace("MORE", "policies: []").replace("phase: Failed", "phase: Running").replace(
        "minAvailable: 4", "minAvailable: 2").replace("replicas: 4", "replicas: 2").replace(
        "minMember: 4", "minMember: 2")
    answer = Cluster(loads(text + failed + waiting)).why("a/load")
    assert "gang_invalid" in answer.codes and "creates them" not in answer.text
    assert [each.change for each in answer.remedies] == [
        "delete 1 pod of a/load, which is created again"]


CLAIMED = """\
{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: d, namespace: a}}, spec: {{
  accessModes: [{mode}], volumeName: v}}, status: {{phase: Bound}}}}
---
{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: v}}, spec: {{accessModes: [{mode}]}},
  status: {{phase: Bound}}}}
---
"""
WRITES = """\
{{apiVersion: v1, kind: Pod, metadata: {{name: p{node}, namespace: a}}, spec: {{nodeName: {node},
  schedulerName: volcano, containers: [{{name: c}}], volumes: [{{persistentVolumeClaim: {{
    claimName: d}}}}]}}, status: {{phase: {phase}, containerStatuses: [{{name: c, state: {{
      waiting: {{reason: ContainerCreating}}}}}}]}}}}
---
{{apiVersion: v1, kind: Node, metadata: {{name: {node}}}, status: {{allocatable: {{pods: 9}}}}}}
---
"""


def about_pod(reason, message, pod, time="2026-11-28T06:05:00Z"):
    return event(reason, message, name=pod, time=time).replace('"kind": "Job"', '"kind": "Pod"')


@pytest.mark.parametrize(("mode", "other", "said"), [
    ("ReadWriteOnce", "n2", True), ("ReadWriteMany", "n2", False), ("ReadWriteOnce", "n1", False)])
def test_a_volume_that_one_node_has_at_a_time_keeps_pods_from_starting(mode, other, said):
    text = CLAIMED.format(mode=mode) + WRITES.format(node="n1", phase="Pending")
    text += WRITES.format(node="n2", phase="Running") if other == "n2" else ""
    text += about_pod("FailedAttachVolume", "Multi-Attach error", "pn1") + about_pod(
        "FailedScheduling", "0/2 nodes", "pn1") + about_pod(
        "FailedAttachVolume", "an older one", "pn1", "2026-11-28T06:00:00Z")
    cluster = Cluster(loads(text))
    for answer in (cluster.why("job/a/pn1"), cluster.why("pod/a/pn1")):
        assert ("Its claim a/d is ReadWriteOnce: one node at a time has its volume, and a/pn2 on n2"
                in answer.text) is said
        assert "Event FailedAttachVolume of it (2026-11-28T06:05:00Z): Multi-Attach error." in (
            answer.text)
        assert "0/2 nodes" not in answer.text and "older" not in answer.text


@pytest.mark.parametrize(("state", "evicted"), [("Running", True), ("Pending", False)])
def test_pods_that_were_evicted_say_by_what_and_that_the_state_of_their_job_stays(state, evicted):
    waiting = "".join(DONE.replace("NUMBER", str(number)).replace("nodeName: n1, ", "").replace(
        "status: {phase: PHASE, containerStatuses: [{name: c, state: {terminated: END}}]}\n",
        "status: {phase: Pending}\n") for number in range(4))
    text = ENDED.replace("MORE", "policies: []").replace("phase: Failed", f"phase: {state}")
    text = text.replace("Completed", "Inqueue").replace("pods: 10", "pods: 0")
    text += waiting + about_pod("Evict", "Pod is evicted, because of preempt",
                                "load-t-1") * evicted
    answer = Cluster(loads(text)).why("a/load")
    assert ("Its pod a/load-t-1 was evicted, and created again. Event Evict of it (2026-11-28"
            "T06:05:00Z): Pod is evicted, because of preempt." in answer.text) is evicted
    assert ("the state of its Job stays Running" in answer.text) is (state == "Running")


@pytest.mark.parametrize(("kind", "reason", "evicted"), [
    ("PodGroup", "Evict", True), ("PodGroup", "Unschedulable", False), ("Queue", "Evict", False)])
def test_pods_that_were_evicted_and_have_other_names_now_are_reported_by_their_podgroup(
        kind, reason, evicted):
    text = seen("Running").replace("containers: [{name: c}]", "containers: [{name: c, resources: "
                                   "{requests: {cpu: 9}}}]")
    shown = about_pod(reason, "reclaim", "g").replace("Warning", "Normal")
    text += "---\n" + shown.replace('"kind": "Pod"', f'"kind": "{kind}"')
    assert ("Pods of it were evicted, and others created in their place. Event Evict of it "
            "(2026-11-28T06:05:00Z): reclaim." in Cluster(loads(text)).why("a/g").text) is evicted


@pytest.mark.parametrize(("reason", "kind", "shown"), [
    ("Evict", "Warning", True), ("Preempted", "Normal", True), ("Killing", "Normal", False),
    ("TaintManagerEviction", "Normal", True), ("Scheduled", "Normal", False)])
def test_events_say_what_has_evicted_a_pod_whatever_their_type(reason, kind, shown):
    text = seen("Inqueue").replace("[{name: c}]", "[{name: c, resources: {requests: {cpu: 9}}}]")
    loaded = loads(text + "---\n" + about_pod(reason, "its words", "p").replace("Warning", kind))
    assert ("Its pod a/p was evicted, and created again. Event" in Cluster(loaded).why(
        "a/g").text) is shown
    assert not loaded.warnings


@pytest.mark.parametrize(("phase", "kind", "reason", "shown"), [
    ("Pending", "Normal", "Unschedulable", True), ("Inqueue", "Normal", "Unschedulable", False),
    ("Pending", "Warning", "Unschedulable", False), ("Pending", "Normal", "Scheduled", False)])
def test_the_event_by_which_a_podgroup_is_not_admitted_is_the_answer_of_the_cluster(
        phase, kind, reason, shown):
    said = event(reason, "queue resource quota insufficient.", kind, "g").replace("Job", "PodGroup")
    found = Cluster(loads(seen(phase) + "---\n" + said)).why("a/g")
    assert ('The cluster\'s last answer about PodGroup a/g (Event Unschedulable, 2026-11-28T06:05:'
            '00Z): "queue resource quota insufficient".' in found.text) is shown
    assert ("beyond_answer" in found.codes) is shown


@pytest.mark.parametrize(("there", "said"), [(1, True), (2, False)])
def test_a_node_that_announces_fewer_devices_than_its_pods_request_is_named(there, said):
    text = seen("Inqueue").replace("cpu: 8,", f"cpu: 8, x.y/gpu: {there},").replace(
        "schedulerName: volcano, containers: [{name: c}]}}", "nodeName: n1, containers: [{name: c, "
        "resources: {limits: {x.y/gpu: 2}}}]}}\n---\n" + """\
{apiVersion: v1, kind: Pod, metadata: {name: q, namespace: a, annotations: {
  scheduling.k8s.io/group-name: g}}, spec: {schedulerName: volcano, nodeName: n1, containers: [
  {name: c}]}, status: {phase: Failed, reason: UnexpectedAdmissionError, message: none left}}""")
    text = text.replace("{apiVersion: v1, kind: Pod, metadata: {name: p,", """\
{apiVersion: v1, kind: Pod, status: {phase: Running}, metadata: {name: p,""")
    assert ("Node n1 announces x.y/gpu 1 now, and the pods on it request 2: v1.14.0 places no more "
            "such pods there." in Cluster(loads(text)).why("a/g").text) is said


@pytest.mark.long
@pytest.mark.parametrize(("selector", "labels", "offered"), [
    ("pool: gpu", "pool: cpu", True), ("pool: gpu", "", True), ("pool: gpu", "pool: gpu", False),
    ("disk: SSD", "disk: ssd", False), ("kubernetes.io/hostname: n9", "", False)])
def test_more_nodes_have_the_labels_of_a_pool_without_any(selector, labels, offered):
    text = seen("Inqueue").replace("containers: [{name: c}]}}", f"""nodeSelector: {{{selector}}},
  containers: [{{name: c, resources: {{requests: {{cpu: 9}}}}}}]}}}}""").replace(
        "metadata: {name: n1,", f"metadata: {{name: n1, labels: {{{labels}}},").replace(
        "cpu: 8,", "cpu: 16,")
    holder = STRANGER.replace("cpu: 6", "cpu: 14").replace("status: {phase: Running}\n---\n",
                                                         "status: {phase: Running}\n")
    cluster = Cluster(loads(text + "---\n" + holder))
    found = [str(each) for each in cluster.why("a/g").remedies if "more node" in str(each)]
    assert any("1 more node like n1, with the label pool=gpu (" in each for each in found
               ) is offered, found


PART = """\
{{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {{name: {group}-{number},
  namespace: a}}, spec: {{minMember: 1}}, status: {{phase: Inqueue}}}}
---
{{apiVersion: v1, kind: Pod, metadata: {{name: v-{number}, namespace: a, labels: {{{label}: v}},
    annotations: {{scheduling.k8s.io/group-name: {group}-{number}}}}}, spec: {{{node}
    schedulerName: volcano, containers: [{{name: c, resources: {{requests: {{cpu: 8}}}}}}]}}}}
---
"""
NODE = """\
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 8, pods: 9}}}
"""


@pytest.mark.parametrize(("group", "label", "said"), [
    ("podgroup", "leaderworkerset.sigs.k8s.io/name", True), ("podgroup", "app", False),
    ("own", "leaderworkerset.sigs.k8s.io/name", False)])
def test_a_group_of_pods_that_is_in_several_podgroups_is_no_gang(group, label, said):
    text = "".join(PART.format(group=group, label=label, number=number, node=node)
                   for number, node in enumerate(["nodeName: n1,", ""]))
    answer = Cluster(loads(text + NODE)).why("a/v-1")
    assert ("The pods of LeaderWorkerSet v are no gang: they are in 2 PodGroups, each created by "
            "Volcano's controller with a minimum of 1. 1 has a node and keeps it"
            in answer.text) is said
