"""What controllers beside the scheduler do to jobs that wait, and what they never create."""

from __future__ import annotations

from textwrap import indent

import pytest

from volcano_lab.cluster import Cluster
from volcano_lab.explain import Explainer
from volcano_lab.manifests.loader import ManifestError, loads

TEMPLATE = """\
  schedulerName: volcano
  minAvailable: 1
  tasks:
  - name: t
    replicas: 8
    template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
"""
JOB = f"""\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {{name: NAME, namespace: a, uid: u}}
spec:
{TEMPLATE}  POLICIES
status: {{state: {{phase: PHASE}}, retryCount: 2}}
"""
CRON = f"""\
apiVersion: batch.volcano.sh/v1alpha1
kind: CronJob
metadata: {{name: night, namespace: a}}
spec:
  schedule: "0 2 * * *"
  concurrencyPolicy: POLICY
  jobTemplate:
    spec:
{indent(TEMPLATE, "    ")}status: {{active: [{{kind: Job, name: night-1, namespace: a}}]}}
---
"""
FLOW = f"""\
apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata: {{name: day, namespace: a}}
spec: {{flows: [{{name: prep}}]}}
---
apiVersion: flow.volcano.sh/v1alpha1
kind: JobTemplate
metadata: {{name: prep, namespace: SPACE}}
spec:
{TEMPLATE}"""
RAY = """\
apiVersion: ray.io/v1
kind: RayCluster
metadata:
  name: NAME
  namespace: a
  uid: u-NAME
  labels: {ray.io/scheduler-name: volcano}
  ownerReferences: [{apiVersion: ray.io/v1, kind: OWNER, name: llm, uid: u, controller: true}]
spec:
  headGroupSpec:
    rayStartParams: {}
    template: {spec: {containers: [{name: c, image: ray, resources: {requests: {cpu: 3}}}]}}
---
"""


def job(name="x", phase="Pending", policies="queue: default"):
    return JOB.replace("NAME", name).replace("PHASE", phase).replace("POLICIES", policies)


def cluster(text):
    return Cluster().node("n1", cpu=4).add(text)


@pytest.mark.parametrize("policy, said", [
    ("{event: PodPending, action: RestartJob, timeout: 10m}",
     "Its policy RestartJob for PodPending deletes all its pods and creates them again once one "
     "has been Pending for 10m, also for lack of resources: it loses its place each time, 2 of 3 "
     "retries (maxRetry) are used"),
    ("{event: PodPending, action: AbortJob, timeout: 1h}",
     "Its policy AbortJob for PodPending ends it once a pod has been Pending for 1h"),
    ("{event: PodPending, action: RestartJob}", ""),  # without a timeout it has no effect
    ("{event: PodEvicted, action: RestartJob, timeout: 10m}", "")])
def test_a_policy_that_ends_the_wait_of_pods_is_reported(policy, said):
    text = cluster(job(policies=f"policies: [{policy}]").replace(
        "minAvailable: 1", "minAvailable: 8")).why("a/x").text
    assert said in text and ("for PodPending" in text) == bool(said)
    there = cluster(job(policies=f"policies: [{policy}]").replace("replicas: 8", "replicas: 2"))
    assert "for PodPending" not in there.why("a/x").text


@pytest.mark.parametrize("policy, phase, shown", [
    ("Forbid", "Aborted", True), ("Forbid", "Completed", False), ("Allow", "Aborted", False)])
def test_a_cron_job_whose_active_job_never_counts_as_ended_is_reported(policy, phase, shown):
    one = job("night-1", phase).replace("uid: u}", "uid: u, ownerReferences: [{apiVersion: "
                                        "batch.volcano.sh/v1alpha1, kind: CronJob, name: night}]}")
    found = cluster(CRON.replace("POLICY", policy) + one)
    groups = [*Explainer(found.objects()).waiting()]
    assert [(group.code, group.jobs) for group in groups] == (
        [("pods_not_made", ["a/night"])] if shown else [])
    if shown:
        assert ("no further Job is created (concurrencyPolicy Forbid): its Job night-1 is Aborted, "
                "which v1.14.0 does not count as ended." in found.why("a/night").text)


@pytest.mark.parametrize("space, said", [
    ("a", ""), ("b", "a/day: day-prep: never created, as no JobTemplate prep is in the namespace "
                     "of its JobFlow, and those of other namespaces do not count (b).")])
def test_a_template_of_a_flow_in_another_namespace_is_named(space, said):
    found = Explainer(cluster(FLOW.replace("SPACE", space)).objects())
    shown = [group.text for group in found.waiting() if group.code == "pods_not_made"]
    assert shown == [said] * bool(said)
    assert said in found.why("a/day").text if said else "a/day-prep" in found.names.jobs.values()


@pytest.mark.parametrize("owner, shown", [("RayService", True), ("RayJob", False)])
def test_an_upgrade_that_takes_the_resources_of_both_clusters_is_reported(owner, shown):
    both = "".join(RAY.replace("NAME", name).replace("OWNER", owner) for name in ("old", "new"))
    text = cluster(both).why("a/new").text
    assert (", in an upgrade beside the old cluster, which it deletes only once the new one is "
            "ready: that takes the resources of both" in text) == shown


@pytest.mark.long
def test_fewer_workers_are_no_more_than_an_autoscaler_keeps():
    spec = OWNERS["ray.io/v1 RayCluster"].replace("COUNT", "8, minReplicas: 8")
    cluster = Cluster().node("n1", cpu=6, memory="64Gi").add(
        "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: x, namespace: ml, labels: "
        f"{{ray.io/scheduler-name: volcano}}}}\nspec: {spec}")
    fewer = cluster.explainer().why("x").remedies[-1]
    workers = "raycluster/ml/x.workerGroupSpecs.1"
    assert fewer.args == ["--set", f"{workers}.replicas=4", "--set", f"{workers}.minReplicas=4"]
    assert cluster.what_if(*fewer.args[1::2]).holds("x")
    with pytest.raises(ManifestError, match="has no effect: with it, RayCluster ml/x has the same"):
        cluster.what_if(f"{workers}.replicas=4")
    with pytest.raises(ManifestError, match=r"rayVersion=2.* has no effect"):
        cluster.what_if(*fewer.args[1::2], "raycluster/x.rayVersion=2")


ONE_CPU = "{spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}"
OWNERS = {
    "sparkoperator.k8s.io/v1beta2 SparkApplication": """{batchScheduler: volcano, mode: cluster,
  driver: {cores: 1, memory: 1g}, executor: {instances: COUNT, cores: 1, memory: 1g}}""",
    "ray.io/v1 RayCluster": f"""{{headGroupSpec: {{template: {ONE_CPU}}}, workerGroupSpecs: [
  {{groupName: few, replicas: 1, template: {ONE_CPU}}},
  {{groupName: many, replicas: COUNT, template: {ONE_CPU}}}]}}""",
    "kubeflow.org/v1 PyTorchJob": f"""{{runPolicy: {{schedulingPolicy: {{queue: default}}}},
  pytorchReplicaSpecs: {{Master: {{replicas: 1, template: {ONE_CPU}}},
                         Worker: {{replicas: COUNT, template: {ONE_CPU}}}}}}}""",
    "leaderworkerset.x-k8s.io/v1 LeaderWorkerSet": f"""{{leaderWorkerTemplate: {{size: COUNT,
  workerTemplate: {ONE_CPU.replace("{spec: {", "{spec: {schedulerName: volcano, ")}}}}}"""}


@pytest.mark.long
@pytest.mark.parametrize(("kind", "path", "most"), [
    ("SparkApplication", "executor.instances", 5),
    ("RayCluster", "workerGroupSpecs.1.replicas", 4),
    ("PyTorchJob", "pytorchReplicaSpecs.Worker.replicas", 5),
    ("LeaderWorkerSet", "leaderWorkerTemplate.size", None)])  # each group holds a whole model
def test_fewer_pods_are_offered_of_what_needs_no_certain_number_of_them(kind, path, most):
    version, spec = next((name.split()[0], spec) for name, spec in OWNERS.items()
                         if name.endswith(kind))
    owner = (f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: x, namespace: ml, "
             f"labels: {{ray.io/scheduler-name: volcano}}}}\nspec: {spec.replace('COUNT', '8')}")
    cluster = Cluster().node("n1", cpu=6, memory="64Gi").add(owner)
    target = f"{kind.lower()}/ml/x.{path}="
    found = [each for each in Explainer(cluster.objects()).why("x").remedies
             if each.args[1].startswith(target)]
    assert [each.args[1] for each in found] == [f"{target}{most}"] * (most is not None)
    large = owner.replace("cpu: 1", "cpu: 70").replace("cores: 1", "cores: 70")
    both = Cluster().node("n1", cpu=6, memory="64Gi").add(large).explainer().why("x").remedies
    assert all(str(each) for each in both)  # sets with fewer pods have words, too
    for each in found:
        shown = path.replace(".1.", "[1].")
        assert f"{kind} ml/x: {shown} 8 -> {most}" in str(each)
        assert cluster.what_if(each.args[1]).holds("x")
        assert not cluster.what_if(f"{target}{most + 1}").holds("x")


POD = "{spec: {schedulerName: volcano, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}"
QUOTA = """\
apiVersion: v1
kind: ResourceQuota
metadata: {name: q, namespace: a}
spec: {hard: {requests.cpu: "1"}}
status: {hard: {requests.cpu: "1"}, used: {requests.cpu: "1"}}
---
"""
OF_ONE = {
    "deployment": ("apps/v1", "Deployment", "{replicas: 2, template: POD}", ""),
    "pytorchjob": ("kubeflow.org/v1", "PyTorchJob", "{runPolicy: {suspend: true}, "
                   "pytorchReplicaSpecs: {Worker: {replicas: 2, template: POD}}}",
                   "volcano.sh/queue-name: default"),
    "job": ("batch/v1", "Job", "{suspend: true, parallelism: 2, template: POD}", ""),
    "kueue": ("batch/v1", "Job", "{suspend: true, parallelism: 2, template: POD}",
              "kueue.x-k8s.io/queue-name: ml"),
    "flinkdeployment": ("flink.apache.org/v1beta1", "FlinkDeployment",
                        "{podTemplate: POD, job: {state: suspended}, "
                        "jobManager: {resource: {cpu: 1, memory: 1g}}}", "")}


def owner(kind: str, name: str = "x") -> str:
    version, word, spec, labels = OF_ONE[kind]
    return (f"{{apiVersion: {version}, kind: {word}, metadata: {{name: {name}, namespace: a, "
            f"labels: {{{labels}}}}}, spec: {spec.replace('POD', POD)}}}\n---\n")


@pytest.mark.parametrize(("manifests", "setting"), [
    (QUOTA + owner("deployment"), "resourcequota/a/q.status.hard[requests.cpu]=3"),
    (QUOTA + owner("deployment") + owner("deployment", "before"),
     "resourcequota/a/q.status.hard[requests.cpu]=3"),
    (QUOTA + owner("deployment", "before") + owner("deployment"),
     "resourcequota/a/q.status.hard[requests.cpu]=5"),  # of 3 the other one has its pods
    (owner("pytorchjob"), "pytorchjob/a/x.runPolicy.suspend=false"),
    (owner("job"), "job/a/x.suspend=false"), (owner("kueue"), ""),
    (owner("flinkdeployment"), "flinkdeployment/a/x.job.state=running")])
def test_what_lets_an_owner_have_pods_is_offered_and_works_where_it_is_pasted(manifests, setting):
    cluster = Cluster(loads(manifests)).node("n1", cpu=8, memory="64Gi")
    found = cluster.why("x")
    assert [remedy.args for remedy in found.remedies] == [["--set", setting]] * bool(setting)
    for remedy in found.remedies:
        assert remedy.kubectl and f"{remedy}".endswith("x is placed on n1)")
        jobs = cluster.what_if(*remedy.args[1:]).frame("jobs")
        assert jobs[jobs.value == "placed"].after.sum() >= remedy.placed > 0


@pytest.mark.long
def test_a_job_whose_quota_others_use_first_gets_as_much_as_all_of_them_lack():
    job = JOB.replace("NAME", "x").replace("minAvailable: 1", "minAvailable: 8").replace(
        "POLICIES", "").partition("status:")[0]
    cluster = Cluster(loads(QUOTA + owner("deployment", "before") + job)).node("n1", cpu=20)
    remedies = cluster.why("x").remedies
    assert remedies[0].args == ["--set", "resourcequota/a/q.status.hard[requests.cpu]=11"]


TWO = """\
{apiVersion: kubeflow.org/v1, kind: TFJob, metadata: {name: NAME, namespace: a, uid: u-NAME},
  spec: {runPolicy: {schedulingPolicy: {queue: default}},
    tfReplicaSpecs: {Worker: {replicas: 2, template: POD}}}}
---
{apiVersion: v1, kind: Event, metadata: {name: e-NAME, namespace: a}, type: Warning,
  involvedObject: {kind: TFJob, name: NAME, namespace: a}, reason: FailedCreatePod,
  message: 'pods "NAME-worker-1" is forbidden: exceeded quota: q'}
---
{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: NAME, namespace: a,
  ownerReferences: [{apiVersion: kubeflow.org/v1, kind: TFJob, name: NAME, uid: u-NAME,
    controller: true}]}, spec: {minMember: 2, queue: default}, status: {phase: Inqueue}}
---
{apiVersion: v1, kind: Pod, metadata: {name: NAME-worker-0, namespace: a,
  annotations: {scheduling.k8s.io/group-name: NAME}, ownerReferences: [{
    apiVersion: kubeflow.org/v1, kind: TFJob, name: NAME, uid: u-NAME, controller: true}]},
  spec: {schedulerName: volcano, containers: [{name: c, resources: {requests: {cpu: 3}}}]}}
---
"""


@pytest.mark.long
@pytest.mark.parametrize(("name", "hard"), [("v", 9), ("w", 12)])
def test_two_gangs_that_share_a_quota_are_each_offered_what_completes_them(name, hard):
    text = QUOTA.replace('"1"', '"6"') + "".join(
        TWO.replace("POD", POD.replace("cpu: 1", "cpu: 3")).replace("NAME", each) for each in "vw")
    remedies = Cluster(loads(text)).node("n1", cpu=20).why(name).remedies
    assert remedies[0].args == ["--set", f"resourcequota/a/q.status.hard[requests.cpu]={hard}"]


@pytest.mark.long
@pytest.mark.parametrize("event", [True, False])
@pytest.mark.parametrize(("hard", "refused"), [(6, True), (20, False)])
def test_a_quota_is_compared_for_the_pods_that_an_operator_lacks(event, hard, refused):
    """With an Event or without, where it refuses one more; others it keeps from starting, too."""
    parts = [part for each in "vw" for part in TWO.replace("POD", POD.replace(
        "cpu: 1", "cpu: 3")).replace("NAME", each).split("---\n") if event or "Event," not in part]
    text = QUOTA.replace('hard: {requests.cpu: "1"}', f'hard: {{requests.cpu: "{hard}"}}').replace(
        '"1"', '"6"') + "---\n".join(parts)
    found = Cluster(loads(text)).node("n1", cpu=20).why("v")
    assert ("ResourceQuota a/q is requests.cpu 3 short" in found.head) is refused
    assert ("a/v, a/w wait for each other: each holds a part of ResourceQuota a/q" in found.text
            ) is refused
    changes = [remedy.change for remedy in found.remedies]
    assert ("delete tfjob/a/w" in changes) is refused
    assert not any("minMember" in change or "minAvailable" in change for change in changes)


OF_QUOTA = """\
{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: rc, namespace: a, uid: u-rc,
  labels: {volcano.sh/queue-name: default}}, spec: {headGroupSpec: {template: POD},
    workerGroupSpecs: [{groupName: w, replicas: 2, minReplicas: 2, maxReplicas: 2, template: POD}]}}
---
{apiVersion: v1, kind: Event, metadata: {name: e, namespace: a}, type: Warning,
  involvedObject: {kind: RayCluster, name: rc, namespace: a}, reason: FailedToCreateWorkerPod,
  message: 'pods "rc-w-worker-x7f" is forbidden: exceeded quota: q'}
---
{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: ray-rc-pg,
  namespace: a, ownerReferences: [{apiVersion: ray.io/v1, kind: RayCluster, name: rc, uid: u-rc,
    controller: true}]}, spec: {minMember: 3, queue: default}, status: {phase: Inqueue}}
---
"""
OF_RAY = """\
{apiVersion: v1, kind: Pod, metadata: {name: rc-NAME, namespace: a, labels: {ray.io/cluster: rc},
  annotations: {scheduling.k8s.io/group-name: ray-rc-pg}, ownerReferences: [{
    apiVersion: ray.io/v1, kind: RayCluster, name: rc, uid: u-rc, controller: true}]},
  spec: {schedulerName: volcano, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
---
"""


@pytest.mark.long
def test_pods_whose_names_are_generated_are_counted_where_a_quota_refuses_more():
    text = QUOTA.replace('"1"', '"2"') + OF_QUOTA.replace("POD", POD) + "".join(
        OF_RAY.replace("NAME", name) for name in ("head-a1", "w-worker-b2"))
    found = Cluster(loads(text)).node("n1", cpu=20).why("rc")
    assert found.head.startswith("a/rc waits for quota: ResourceQuota a/q is requests.cpu 1 short")
    assert found.remedies[0].args == ["--set", "resourcequota/a/q.status.hard[requests.cpu]=3"]


@pytest.mark.parametrize(("manifests", "listed"), [
    (QUOTA + owner("deployment"), ["a/x"]), (owner("job"), [])])
def test_all_that_wait_include_owners_whose_pods_a_quota_refuses(manifests, listed):
    waiting = Cluster(loads(manifests)).node("n1", cpu=8).why()
    assert [name for group in waiting for name in group.jobs] == listed


SUSPENDED = """
{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: old, namespace: a, uid: u-old},
 spec: {suspend: KEPT, headGroupSpec: {template: {spec: {containers: [{name: h}]}}}}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: ray-old-pg, namespace: a, uid: u-pg, ownerReferences: [
  {apiVersion: ray.io/v1, kind: RayCluster, name: old, uid: u-old, controller: true}]}
spec: {minMember: 3, minResources: {cpu: 3}}
status: {phase: Inqueue}
"""


@pytest.mark.long
@pytest.mark.parametrize(("kept", "deleted", "command"), [
    ("true", "podgroup/a/ray-old-pg", "kubectl delete podgroup ray-old-pg -n a"),
    ("false", "raycluster/a/old", "kubectl delete raycluster old -n a")])
def test_an_owner_that_is_suspended_is_not_deleted_for_what_its_podgroup_reserves(
        kept, deleted, command):
    cluster = Cluster().node("n1", cpu=4).add(SUSPENDED.replace("KEPT", kept)).job("new", cpu=3)
    found = cluster.why("new", conf={"actions": "enqueue, allocate", "tiers": [{"plugins": [
        {"name": "overcommit", "arguments": {"overcommit-factor": 1}},
        {"name": "predicates"}]}]}).remedies
    gone = [remedy for remedy in found if remedy.tried.removals]
    assert [(remedy.tried.removals, remedy.kubectl) for remedy in gone] == [
        ((deleted,), [command])]


ENDED_JOB = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: j, namespace: default, uid: u1}
spec: {minAvailable: 1, schedulerName: volcano, tasks: [{name: w, replicas: 1, template: {spec: {
  containers: [{name: c, resources: {requests: {cpu: 1}}}]}}}]}
status: {state: {phase: PHASE, lastTransitionTime: "2026-11-30T09:00:00Z", reason: Evicted}}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: 4, pods: 10}}
"""
ITS_PODGROUP = """\
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: j-u1, namespace: default, ownerReferences: [{apiVersion: batch.volcano.sh/v1alpha1,
  kind: Job, name: j, uid: u1, controller: true}]}
spec: {minMember: 1, queue: default}
status: {phase: Running}
"""


@pytest.mark.parametrize("phase", [
    "Completed", "Failed", "Terminated", "Completing", "Terminating"])
def test_a_job_that_has_ended_waits_for_nothing_and_has_the_phase_of_its_files(phase):
    text = ENDED_JOB.replace("PHASE", phase)
    found = Cluster().add(text + ITS_PODGROUP).why("j")
    assert found.head == (f"j is {phase} since 2026-11-30 09:00 UTC (Evicted): no pod of it waits "
                          "for a node. (PodGroup Running, no pods)")
    assert found.head in Cluster().add(text + ITS_PODGROUP).why("j", evict=True).head
    alone = Cluster().add(text).why("j").text
    assert f"it is {phase}" in alone and "PodGroup" not in alone and "placed" not in alone
