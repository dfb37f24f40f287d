"""What operators create of their objects: names, gangs and resources as their sources say."""

import pickle

import pytest
import yaml
from hypothesis import given, settings, strategies as st

from volcano_lab.api.objects import ObjectMeta, Pod, PodGroup
from volcano_lab.cluster import Cluster
from volcano_lab.explain import Explainer
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.export import anonymised, as_manifests
from volcano_lab.manifests.loader import ManifestError, loads
from volcano_lab.manifests.operators import KINDS, OPERATORS
from volcano_lab.manifests.operators.model import SUMS, Reading
from volcano_lab.manifests.operators.table import READERS
from volcano_lab.scheduler import at_rest

QUEUED = {"labels": {"volcano.sh/queue-name": "team"}}
NOTED = {"annotations": {"scheduling.volcano.sh/queue-name": "team"}}


def pods(cpu: str = "1", scheduler: str = "", **spec) -> dict:
    named = {"schedulerName": scheduler} if scheduler else {}
    return {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}],
                     **named, **spec}}


def document(version: str, kind: str, spec: dict, metadata: dict | None = None,
             status: dict | None = None) -> dict:
    return {"apiVersion": version, "kind": kind, "spec": spec, "status": status or {},
            "metadata": {"name": "x", "namespace": "ns", "uid": "u1", **(metadata or {})}}


def made(*documents: dict):
    return with_defaults(loads(yaml.safe_dump_all(documents), "x.yaml"))


def of(kind: type, loaded) -> list:
    return [obj for obj in loaded if isinstance(obj, kind)]


RAY = {"headGroupSpec": {"template": pods("2")},
       "workerGroupSpecs": [{"groupName": "w", "replicas": 3, "minReplicas": 1, "maxReplicas": 5,
                             "numOfHosts": 2, "template": pods("4")}]}
REPLICAS = {"Master": {"replicas": 1, "template": pods("2", "volcano")},
            "Worker": {"replicas": 3, "template": pods("1", "volcano")}}
KUBEDL = {"pytorchReplicaSpecs": REPLICAS, "schedulingPolicy": {"queue": "q"}}
MPI = {"mpiReplicaSpecs": {"Launcher": {"template": pods("1", "volcano")},
                           "Worker": {"replicas": 2, "template": pods("2", "volcano")}}}
SERVING = {"replicas": 2, "template": {
    "gangPolicy": {"minRoleReplicas": {"prefill": 1}},
    "roles": [{"name": "prefill", "replicas": 2, "entryTemplate": pods("2"), "workerReplicas": 1,
               "workerTemplate": pods("1")},
              {"name": "decode", "replicas": 1, "entryTemplate": pods("4"),
               "workerReplicas": 0}]}}
LWS = {"replicas": 2, "leaderWorkerTemplate": {
    "size": 3, "leaderTemplate": pods("2", "volcano"), "workerTemplate": pods("1", "volcano")}}
SPARK = {"type": "Scala", "mode": "cluster", "batchScheduler": "volcano",
         "batchSchedulerOptions": {"queue": "team"},
         "driver": {"cores": 2, "memory": "512m"},
         "executor": {"cores": 4, "instances": 3, "memory": "1g"}}
RUNTIME = {**document("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime", {
    "podGroupPolicy": {"volcano": {}}, "mlPolicy": {"numNodes": 2}, "template": {"spec": {
        "replicatedJobs": [{"name": "node", "template": {
            "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
            "spec": {"template": {"spec": {"schedulerName": "volcano", "containers": [
                {"name": "node"}]}}}}}]}}}),
    "metadata": {"name": "torch"}}

CASES = [
    # (document, PodGroups [name, minMember, cpu, queue], pods created, pods that come later)
    (document("ray.io/v1", "RayCluster", RAY, QUEUED), [("ray-x-pg", 7, "26", "team")], 7, 0),
    (document("ray.io/v1", "RayCluster", RAY | {"enableInTreeAutoscaling": True}, QUEUED),
     [("ray-x-pg", 3, "10", "team")], 7, 0),
    (document("ray.io/v1", "RayJob", {"rayClusterSpec": RAY}, QUEUED),
     [("ray-x-pg", 7, "26500m", "team")], 7, 1),
    (document("sparkoperator.k8s.io/v1beta2", "SparkApplication", SPARK),
     [("spark-x-pg", 1, "14", "team")], 1, 3),
    (document("kubeflow.org/v1", "PyTorchJob", {"pytorchReplicaSpecs": REPLICAS}),
     [("x", 4, "5", "default")], 4, 0),
    (document("kubeflow.org/v1", "TFJob", {
        "tfReplicaSpecs": REPLICAS,
        "runPolicy": {"schedulingPolicy": {"minAvailable": 2, "queue": "team"}}}),
     [("x", 2, "3", "team")], 4, 0),
    (document("kubeflow.org/v1", "TFJob", {
        "tfReplicaSpecs": {"Master": {"replicas": 2, "template": pods("2", "volcano")},
                           "Worker": REPLICAS["Worker"]},
        "runPolicy": {"schedulingPolicy": {"minAvailable": 1}}}),
     [("x", 1, "2", "default")], 5, 0),
    (document("kubeflow.org/v2beta1", "MPIJob", MPI, NOTED), [("x", 3, "5", "team")], 3, 0),
    (document("kubeflow.org/v2beta1", "MPIJob",
              MPI | {"launcherCreationPolicy": "WaitForWorkersReady"}),
     [("x", 3, "5", "default")], 2, 1),
    (document("kubeflow.org/v1", "MPIJob", MPI), [("x", 3, "5", "default")], 3, 0),
    (document("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", LWS, NOTED),
     [("x-0-1", 3, "4", "team"), ("x-1-1", 3, "4", "team")], 6, 0),
    (document("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet",
              LWS | {"startupPolicy": "LeaderReady"}),
     [("x-0-1", 1, "4", "default"), ("x-1-1", 1, "4", "default")], 2, 4),
    (document("workload.serving.volcano.sh/v1alpha1", "ModelServing", SERVING, NOTED),
     [("x-0", 3, "7", "team"), ("x-1", 3, "7", "team")], 10, 0),
    (document("sparkoperator.k8s.io/v1beta2", "SparkApplication", SPARK | {"mode": "client"}),
     [("spark-x-pg", 1, "12", "team")], 3, 0),
]


@pytest.mark.parametrize(("given", "groups", "count", "later"), CASES,
                         ids=[f"{case[0]['kind']}-{number}" for number, case in enumerate(CASES)])
def test_an_operator_creates_a_podgroup_and_pods(given, groups, count, later):
    team = document("scheduling.volcano.sh/v1beta1", "Queue", {"weight": 1})
    team["metadata"] = {"name": "team"}
    loaded = made(given, team)
    found = [(group.name, group.spec.min_member, group.spec.min_resources["cpu"],
              group.spec.queue) for group in of(PodGroup, loaded)]
    assert found == groups
    created = of(Pod, loaded)
    assert len(created) == len({pod.name for pod in created}) == count
    assert {pod.spec.scheduler_name for pod in created} == {"volcano"}
    named = {group[0] for group in groups}
    assert {pod.metadata.annotations["scheduling.k8s.io/group-name"]
            for pod in created} == named
    owners = {ref.kind for pod in created for ref in pod.metadata.owner_references}
    assert owners == {given["kind"]}
    assert sum(map(len, loaded.later.values())) == later
    label = OPERATORS[KINDS[given["apiVersion"].partition("/")[0], given["kind"]]].label
    assert {pod.metadata.labels.get(label) for pod in created} == {"x"}


@pytest.mark.long
@pytest.mark.parametrize(("given", "groups", "count", "later"), CASES,
                         ids=[f"{case[0]['kind']}-{number}" for number, case in enumerate(CASES)])
def test_beside_its_children_nothing_is_created_twice(given, groups, count, later):
    exported = [given, *yaml.safe_load_all(as_manifests(made(given)))]
    again = made(*[each for each in exported if each["kind"] not in ("Queue", "Namespace")])
    assert [obj.name for obj in of(Pod, again)] == [obj.name for obj in of(Pod, made(given))]
    assert len(of(PodGroup, again)) == len(groups)
    assert sum(map(len, again.later.values())) == later  # those that follow pods without a node


@pytest.mark.parametrize("suspended", [False, True])
@pytest.mark.parametrize("autoscaled", [False, True])
@pytest.mark.parametrize(("least", "replicas", "most"), [
    (1, 3, 5), (2, 1, 5), (0, 6, 4), (2, None, 4), (3, 2, 1)])
def test_a_ray_group_has_workers_within_its_bounds_and_none_while_suspended(
        least, replicas, most, autoscaled, suspended):
    """Its gang needs what exists, and less only where it is scaled: the minimum."""
    group = RAY["workerGroupSpecs"][0] | {
        "minReplicas": least, "replicas": replicas, "maxReplicas": most, "suspend": suspended}
    group = {name: value for name, value in group.items() if value is not None}
    cluster = document("ray.io/v1", "RayCluster", {
        **RAY, "workerGroupSpecs": [group], "enableInTreeAutoscaling": autoscaled}, QUEUED)
    wanted = max(replicas or least, least)
    there = 0 if suspended else (min(wanted, most) if most >= least else wanted)
    needed = min(least, there) if autoscaled else there
    loaded = made(cluster)
    (gang,) = of(PodGroup, loaded)
    assert len(of(Pod, loaded)) == 1 + 2 * there
    assert gang.spec.min_member == 1 + 2 * needed
    assert gang.spec.min_resources["cpu"] == str(2 + 8 * needed)


def test_a_podgroup_that_waits_gets_the_pods_once_it_is_admitted():
    given = CASES[4][0]
    (group,) = of(PodGroup, made(given))
    group = yaml.safe_load(as_manifests([group])) | {"status": {"phase": "Pending"}}
    loaded = made(given, group)
    assert not of(Pod, loaded) and len(loaded.later["ns/x"]) == 4
    running = made(given, group | {"status": {"phase": "Running"}})
    assert not running.later and "none are created" in " ".join(map(str, running.warnings))


@pytest.mark.parametrize(("owner", "phase", "pods", "said"), [
    ("u", "Pending", 2, None),
    ("u", "Inqueue", 0, "its PodGroup x is Inqueue, so its operator is to create its pods now"),
    ("u", "Running", 0, "its PodGroup x is Running and none of its pods is among the objects"),
    ("other", "Pending", 0, "its pods are for another scheduler, default-scheduler")])
def test_a_podgroup_of_its_operator_shows_that_pods_are_volcanos(owner, phase, pods, said):
    """Also where neither its templates nor its queue hand them over: its operator's flag does."""
    given = document("kubeflow.org/v1", "PyTorchJob", {"pytorchReplicaSpecs": {
        "Worker": {"replicas": 2, "template": {"spec": {"containers": [{"name": "c"}]}}}}})
    given["metadata"] |= {"uid": "u"}
    group = document("scheduling.volcano.sh/v1beta1", "PodGroup", {"minMember": 2})
    group["metadata"] |= {"ownerReferences": [{
        "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "x", "uid": owner}]}
    loaded = made(given, group | {"status": {"phase": phase}})
    assert len(loaded.later.get("ns/x", ())) == pods
    assert (said or "") in " ".join(map(str, loaded.warnings))
    assert bool(loaded.warnings) is bool(said)


def test_executors_come_when_the_driver_has_a_place():
    given = CASES[3][0] | {"metadata": {"name": "x", "namespace": "ns", "uid": "u"}}
    given["spec"] = SPARK | {"batchSchedulerOptions": {}}

    def placed(cpus: int) -> set[str]:
        cluster = Cluster().node("n1", cpu=cpus, memory="64Gi").add(yaml.safe_dump(given))
        cycle = at_rest(cluster.objects())
        return {task.name for job in cycle.session.jobs.values() for task in job.tasks.values()
                if task.node_name}

    assert placed(14) == {"x-driver", "x-exec-1", "x-exec-2", "x-exec-3"}
    assert placed(4) == set()


def test_executors_are_not_created_for_a_driver_that_is_admitted_and_has_no_place():
    given = CASES[3][0] | {"metadata": {"name": "x", "namespace": "ns", "uid": "u"}}
    given["spec"] = SPARK | {"batchSchedulerOptions": {}}
    cluster = Cluster().add(yaml.safe_dump(given))
    for number in range(14):
        cluster.node(f"n{number}", cpu=1, memory="64Gi")
    (job,) = at_rest(cluster.objects()).session.jobs.values()
    assert not job.is_pending() and [task.name for task in job.tasks.values()] == ["x-driver"]


@pytest.mark.parametrize(("given", "made_of"), [
    (document("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": [
        {"name": "a", "replicas": 2, "template": {"spec": {
            "parallelism": 2, "template": pods("1", "volcano")}}},
        {"name": "b", "dependsOn": [{"name": "a"}],
         "template": {"spec": {"template": pods("1", "volcano")}}}]}), 4),
    (document("batch/v1", "CronJob", {"jobTemplate": {"spec": {
        "parallelism": 3, "template": pods("1", "volcano")}}}), 3),
    (document("batch.volcano.sh/v1alpha1", "CronJob", {"jobTemplate": {"spec": {
        "tasks": [{"name": "w", "replicas": 2, "template": pods()}]}}}), 2),
    (document("flink.apache.org/v1beta1", "FlinkDeployment", {
        "podTemplate": {"spec": {"schedulerName": "volcano"}},
        "flinkConfiguration": {"taskmanager.numberOfTaskSlots": "2"},
        "jobManager": {"resource": {"cpu": 1, "memory": "2048m"}},
        "taskManager": {"resource": {"cpu": 2, "memory": "4g"}}, "job": {"parallelism": 5}}), 4),
    (document("argoproj.io/v1alpha1", "Workflow", {
        "entrypoint": "main", "schedulerName": "volcano", "templates": [
            {"name": "main", "steps": [[{"name": "a", "template": "t", "withItems": [1, 2]}],
                                       [{"name": "b", "template": "u"}]]},
            {"name": "t", "container": {"image": "i"}}, {"name": "u", "script": {}}]}), 2),
    (document("argoproj.io/v1alpha1", "Workflow", {
        "entrypoint": "main", "templates": [
            {"name": "main", "dag": {"tasks": [{"name": "a", "template": "t", "arguments": {
                "parameters": [{"name": "size", "value": 3}]}}]}},
            {"name": "t", "inputs": {"parameters": [{"name": "size"}]}, "resource": {
                "action": "create", "manifest": yaml.safe_dump(document(
                    "batch.volcano.sh/v1alpha1", "Job", {"tasks": [
                        {"name": "w", "replicas": 1, "template": pods()}]})).replace(
                            "replicas: 1", "replicas: {{inputs.parameters.size}}")}}]}), 3),
], ids=lambda given: given["kind"] if isinstance(given, dict) else "")
def test_objects_of_objects_become_pods(given, made_of):
    created = of(Pod, loaded := made(given))
    assert len(created) == made_of
    assert all(pod.metadata.annotations.get("scheduling.k8s.io/group-name") for pod in created)
    assert not loaded.later


def test_a_flow_creates_the_jobs_that_wait_for_no_other():
    flow = document("flow.volcano.sh/v1alpha1", "JobFlow", {"flows": [
        {"name": "a"}, {"name": "b", "dependsOn": {"targets": ["a"]}}, {"name": "gone"}]})
    template = document("flow.volcano.sh/v1alpha1", "JobTemplate", {"tasks": [
        {"name": "w", "replicas": 2, "template": pods()}]}, {"name": "a", "uid": "u2"})
    loaded = made(flow, template)
    assert [pod.name for pod in of(Pod, loaded)] == ["x-a-w-0", "x-a-w-1"]
    shown = " ".join(map(str, loaded.warnings))
    assert "x-b: created when what it depends on has run" in shown
    assert ("x-gone: never created, as no JobTemplate gone is in the namespace of its JobFlow, and "
            "those of other namespaces do not count." in shown)


@pytest.mark.parametrize(("depends", "names", "circle"), [
    ({"a": "b", "b": "a", "c": "b"}, "x-a, x-b, x-c", "x-a and x-b"), ({"a": "a"}, "x-a", "x-a"),
    ({"a": "b", "b": "c"}, "", ""), ({"a": "c", "b": "c"}, "", "")])
def test_jobs_of_a_flow_that_depend_on_each_other_are_never_created(depends, names, circle):
    flows = [{"name": name, "dependsOn": {"targets": [target]}} for name, target in depends.items()]
    shown = " ".join(map(str, made(document("flow.volcano.sh/v1alpha1", "JobFlow", {
        "flows": [*flows, {"name": "last"}]}), template_of("last")).warnings))
    assert (f"{names}: never created, as the dependsOn of {circle} goes in a circle" in shown
            ) is bool(names)
    assert ("created when what " in shown) is not bool(names)


def counted(*documents: dict) -> tuple[dict[str, int], dict[str, int]]:
    """How many pods with which CPUs there are, by "role cpu", and the minima of PodGroups."""
    created = made(*documents)
    found: dict[str, int] = {}
    for pod in of(Pod, created):
        key = f"{pod.name.split('-')[1]} {pod.spec.containers[-1].resources.requests.get('cpu')}"
        found[key] = found.get(key, 0) + 1
    return found, {group.name: group.spec.min_member for group in of(PodGroup, created)}


def template_of(name="a", namespace="ns"):
    return document("flow.volcano.sh/v1alpha1", "JobTemplate", {"tasks": [
        {"name": "w", "replicas": 2, "template": pods()}]}, {
        "name": name, "namespace": namespace, "uid": f"u-{name}"})


@pytest.mark.parametrize(("flow", "templates", "found"), [
    ({"name": "a"}, [template_of()], {"a 1": 2}),
    ({"name": "a"}, [template_of(namespace="other")], {}),
    ({"name": "a"}, [template_of("b"), template_of()], {"a 1": 2}),
    ({"name": "a", "patch": {"jobSpec": {"tasks": [
        {"name": "w", "replicas": 3, "template": pods("4")}]}}}, [template_of()], {"a 4": 3})])
def test_the_job_of_a_flow_is_that_of_its_template(flow, templates, found):
    job_flow = document("flow.volcano.sh/v1alpha1", "JobFlow", {"flows": [flow]})
    assert counted(job_flow, *templates)[0] == found


def runtime(kind="ClusterTrainingRuntime", policy=None, volcano=True, others=()):
    trainer = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}
    spec = {"mlPolicy": policy or {"numNodes": 2}, "template": {"spec": {"replicatedJobs": [
        {"name": "work", "template": {"metadata": trainer, "spec": {
            "template": pods("1", "volcano")}}}, *others]}}}
    return document("trainer.kubeflow.org/v1alpha1", kind, spec | (
        {"podGroupPolicy": {"volcano": {}}} if volcano else {}), {"name": "rt", "uid": "u2"})


LAUNCHER = {"name": "launch", "replicas": 2, "template": {"spec": {
    "parallelism": 3, "template": pods("2", "volcano")}}}
AFTER = LAUNCHER | {"name": "after", "dependsOn": [{"name": "work"}]}
PLAIN = {"name": "node", "template": {"spec": {"template": pods("3", "volcano")}}}


@pytest.mark.parametrize(("spec", "given", "found", "minima"), [
    ({}, runtime(), {"work 1": 2}, {"x": 2}),
    ({}, runtime(volcano=False), {"work 1": 2}, {"podgroup-u1": 1}),
    ({}, runtime(policy={"numNodes": "auto"}), {"work 1": 1}, {"x": 1}),
    ({"trainer": {"numNodes": 3}}, runtime(), {"work 1": 3}, {"x": 3}),
    ({"trainer": {"numNodes": 3, "resourcesPerNode": {"requests": {"cpu": "5"}}}},
     runtime(others=[LAUNCHER, AFTER]), {"work 5": 3, "launch 2": 6}, {"x": 9}),
    ({}, runtime(others=[PLAIN]), {"work 1": 2, "node 3": 2}, {"x": 4}),
    ({"runtimeRef": {"name": "rt", "kind": "TrainingRuntime"}}, runtime("TrainingRuntime"),
     {"work 1": 2}, {"x": 2}),
    ({}, runtime("TrainingRuntime"), {}, {}),
    ({"runtimeRef": {"name": "else"}}, runtime(), {}, {})])
def test_the_pods_of_a_train_job(spec, given, found, minima):
    job = document("trainer.kubeflow.org/v1alpha1", "TrainJob", {"runtimeRef": {"name": "rt"}}
                   | spec)
    assert counted(job, given) == (found, minima)


def step(name: str, **more) -> dict:
    return {"name": name, "template": name, **more}


def container(name: str, cpu: str = "1", **more) -> dict:
    return {"name": name, "container": {"resources": {"requests": {"cpu": cpu}}}, **more}


MAKES = yaml.safe_dump(document("batch.volcano.sh/v1alpha1", "Job", {"tasks": [
    {"name": "w", "replicas": 1, "template": pods()}]}, {
    "name": "", "generateName": "x-made-", "namespace": ""}))


def resource(parameter: str, action: str = "create", **more) -> dict:
    return {"name": "t", "resource": {"action": action, "manifest": MAKES.replace(
        "replicas: 1", f"replicas: {{{{{parameter}}}}}")}, **more}


LATER = "{}: created when what "
NOT_MADE = "the object of a resource template is not created"
EACH = step("t", withItems=[1, 2], arguments={"parameters": [{"name": "q", "value": "{{item}}"}]})


@pytest.mark.parametrize(("main", "templates", "found", "said"), [
    ({"steps": [[step("a"), step("b")], [step("c")]]},
     [container("a"), container("b", "2"), container("c")], {"a 1": 1, "b 2": 1},
     LATER.format("c")),
    ({"steps": [step("a"), step("b")]}, [container("a"), container("b")], {"a 1": 1},
     LATER.format("b")),
    ({"dag": {"tasks": [step("a"), step("b", dependencies=["a"]), step("c", depends="a")]}},
     [container("a"), container("b"), container("c")], {"a 1": 1}, LATER.format("b, c")),
    ({"steps": [[step("sub"), step("a")]]}, [
        {"name": "sub", "steps": [[step("b")], [step("c")]]}, container("a"), container("b"),
        container("c")], {"a 1": 1, "b 1": 1}, LATER.format("c")),
    ({"steps": [[{"name": "i", "inline": {"container": container("i", "3")["container"]}},
                 step("a")]]}, [container("a")], {"step 3": 1, "a 1": 1}, ""),
    ({"script": {"source": "print(1)", "resources": {"requests": {"cpu": "2"}}}}, [],
     {"main 2": 1}, ""),
    ({"containerSet": {"containers": [{"name": "p"}, {
        "dependencies": ["p"], "resources": {"requests": {"cpu": "2"}}}]}}, [],
     {"main 2": 1}, ""),
    ({"steps": [[step("main")]]}, [], {}, "no pods are created of it"),
    ({"steps": [[step("gone")]]}, [], {}, "no pods are created of it"),
    ({"steps": [[step("t")]]}, [resource("workflow.parameters.size")], {"made 1": 3}, ""),
    ({"steps": [[EACH]]}, [resource("inputs.parameters.q", "apply", inputs={
        "parameters": [{"name": "q"}]})], {"made 1": 3}, ""),
    ({"steps": [[step("t")]]}, [resource("workflow.parameters.size", "get")], {}, NOT_MADE),
    ({"steps": [[step("t")]]}, [{"name": "t", "resource": {
        "action": "create", "manifest": "{apiVersion: x/v1, kind: Y}"}}], {}, NOT_MADE)])
def test_the_first_pods_of_a_workflow(main, templates, found, said):
    given = document("argoproj.io/v1alpha1", "Workflow", {
        "entrypoint": "main", "schedulerName": "volcano", "arguments": {"parameters": [
            {"name": "size", "value": 3}]}, "templates": [{"name": "main", **main}, *templates]})
    pods_of, shown = counted(given)[0], " ".join(map(str, made(given).warnings))
    assert pods_of == found and "is not known" not in shown
    assert said in shown and (LATER[2:] in shown) == (LATER[2:] in said)


@pytest.mark.parametrize(("own", "found"), [({"z": "own"}, "own"), ({}, "all")])
def test_a_template_of_a_workflow_has_its_node_selector_or_that_of_all(own, found):
    given = document("argoproj.io/v1alpha1", "Workflow", {
        "entrypoint": "main", "schedulerName": "volcano", "nodeSelector": {"z": "all"},
        "templates": [container("main", nodeSelector=own)]})
    (created,) = of(Pod, made(given))
    assert created.spec.node_selector == {"z": found}
    assert [each.name for each in created.spec.containers] == ["main"]


def test_a_train_job_needs_its_runtime():
    job = document("trainer.kubeflow.org/v1alpha1", "TrainJob", {
        "runtimeRef": {"name": "torch"}, "trainer": {"numNodes": 3, "resourcesPerNode": {
            "requests": {"cpu": "5"}}}})
    loaded = made(job, RUNTIME)
    (group,) = of(PodGroup, loaded)
    assert (group.name, group.spec.min_member) == ("x", 3)
    assert group.spec.min_resources["cpu"] == "15" and len(of(Pod, loaded)) == 3
    assert "the runtime that it names" in " ".join(map(str, made(job).warnings))


@pytest.mark.parametrize(("given", "words"), [
    (document("ray.io/v1", "RayCluster", RAY), "for another scheduler, default-scheduler, and are "
     "not created; a label such as volcano.sh/queue-name hands them to Volcano"),
    (document("sparkoperator.k8s.io/v1beta2", "SparkApplication", SPARK | {
        "batchScheduler": "yunikorn"}), "spec.batchScheduler: volcano hands them to Volcano"),
    (document("kubeflow.org/v1", "PyTorchJob", {
        "pytorchReplicaSpecs": REPLICAS, "runPolicy": {"suspend": True}}),
     "spec.runPolicy.suspend is true"),
    (document("flink.apache.org/v1beta1", "FlinkDeployment", {"job": {"state": "suspended"}}),
     "spec.job.state is suspended"),
    (document("sparkoperator.k8s.io/v1beta2", "SparkApplication", SPARK,
              status={"applicationState": {"state": "COMPLETED", "errorMessage": "x"}}),
     "it is COMPLETED, so"),
    (document("sparkoperator.k8s.io/v1beta2", "SparkApplication", SPARK, status={
        "applicationState": {"state": "SUBMISSION_FAILED", "errorMessage": "no rights."}}),
     "it is SUBMISSION_FAILED (no rights), so that no pods are created of it"),
    (document("kubeflow.org/v1", "PyTorchJob", {"pytorchReplicaSpecs": REPLICAS}, status={
        "conditions": [{"type": "Failed", "status": "True", "message": "backoff limit"}]}),
     "it is Failed (backoff limit), so that no pods are created of it"),
    (document("kueue.x-k8s.io/v1beta1", "ClusterQueue", {"resourceGroups": []}),
     "kind ClusterQueue is not read and has no effect"),
    (document("flow.volcano.sh/v1alpha1", "JobTemplate", {"tasks": []}),
     "no pods are created of it: no JobFlow is among the objects"),
    (document("kubeflow.org/v1", "PyTorchJob", {"pytorchReplicaSpecs": {}}),
     "no pods are created of it: it asks for 0 replicas"),
    (document("example.com/v1", "Trainer", {"template": pods()}),
     "kind Trainer is not read and has no effect; if its operator creates pods, give these"),
])
def test_what_creates_no_pods_says_why(given, words):
    loaded = made(given)
    shown = " ".join(map(str, loaded.warnings))
    assert words in shown and not of(Pod, loaded)
    assert ("if its operator" in words) == ("if its operator" in shown)


def test_errors_in_templates_name_the_field():
    broken = document("ray.io/v1", "RayCluster", {"headGroupSpec": {"template": {"spec": {
        "containers": [{"name": "c", "resources": {"requests": {"cpu": "many"}}}]}}},
        "workerGroupSpecs": [{"replicas": 10**6}]}, QUEUED)
    with pytest.raises(ManifestError) as raised:
        made(broken)
    assert [problem.partition("): ")[2].partition(" is ")[0] for problem in raised.value.problems
            ] == ["spec.headGroupSpec.template.spec.containers[0].resources.requests.cpu",
                  "spec.workerGroupSpecs[0].replicas"]


def test_an_error_in_the_name_of_an_operators_object_is_said_alone():
    broken = document("ray.io/v1", "RayCluster", RAY, QUEUED)
    broken["metadata"]["name"] = 7
    with pytest.raises(ManifestError, match=r"metadata\.name is 7; allowed is text"):
        loads(yaml.safe_dump(broken))


def test_objects_of_operators_can_be_kept_and_renamed():
    loaded = loads(yaml.safe_dump(CASES[0][0]))
    assert pickle.loads(pickle.dumps(list(loaded))) == list(loaded)
    kept = yaml.safe_load(as_manifests(loaded))
    assert kept["apiVersion"] == "ray.io/v1" and kept["spec"] == RAY
    assert {obj.kind for obj in anonymised(loaded)} == {"Queue", "PodGroup", "Pod"}


WORDS = st.sampled_from(["replicas", "template", "spec", "containers", "name", "steps", "x", "dag",
                         "workers", "roles", "driver", "executor", "cores", "memory", "type",
                         "headGroupSpec", "workerGroupSpecs", "backend", "tasks", "gpu",
                         "leaderWorkerTemplate", "mpiReplicaSpecs", "flows", "jobTemplate",
                         "Worker", "replicatedJobs", "job", "runPolicy", "schedulingPolicy",
                         "resource", "podTemplate", "entrypoint", "templates", "suspend"])
JUNK = st.recursive(st.none() | st.booleans() | st.integers() | WORDS,
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner,
                                                                                max_size=4))


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(KINDS)), st.dictionaries(WORDS, JUNK, max_size=6))
def test_any_spec_is_read_or_refused_in_a_sentence(which, spec):
    cls = KINDS[which]
    try:
        made(document(cls.api_versions[0], cls.kind, spec, QUEUED))
    except ManifestError as error:
        assert "Traceback" not in str(error)


@pytest.mark.parametrize("cls", OPERATORS, ids=lambda cls: cls.__name__)
def test_an_entry_of_the_table_is_whole(cls):
    row = OPERATORS[cls]
    assert KINDS[cls.api_versions[0].rpartition("/")[0], cls.kind] is cls
    assert row.source and row.sums in SUMS
    for place in (*row.queue, *row.priority, *row.asked):
        assert place.partition(" ")[0] in ("label", "annotation") or " " not in place
    assert all(value in ("", "volcano") for values in row.asked.values() for value in values)


def test_each_reader_serves_a_kind():
    assert {row.reader for row in OPERATORS.values()} == {None, *READERS.values()}


@pytest.mark.parametrize(("labels", "spec", "handed"), [
    ({"volcano.sh/x": ""}, {}, True), ({"volcano.sh": "x"}, {}, False),
    ({"ray.io/scheduler-name": "volcano"}, {}, True), ({"ray.io/scheduler-name": "x"}, {}, False),
    ({}, {"headGroupSpec": {"template": {"spec": {"schedulerName": "volcano"}}}}, True),
])
def test_a_label_of_a_domain_or_a_value_hands_pods_over(labels, spec, handed):
    cluster = KINDS["ray.io", "RayCluster"](ObjectMeta("x", labels=labels), spec=spec)
    row = OPERATORS[type(cluster)]
    assert row.hands_over(cluster, row.reader(Reading(cluster))) is handed


def test_the_jobs_that_a_job_set_creates_later_are_named_beside_those_that_exist():
    replicated = [{"name": name, "replicas": 1, "template": {"spec": {"template": pods()}}, **more}
                  for name, more in (("a", {}), ("b", {"dependsOn": [{"name": "a"}]}))]
    job_set = document("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": replicated})
    shown = []
    for there in ((), ("a",), ("a", "b")):
        jobs = [document("batch/v1", "Job", {"template": pods()}, {
            "name": f"x-{name}-0", "uid": f"u-{name}", "ownerReferences": [{
                "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "x",
                "uid": "u1"}]}) for name in there]
        shown.append("x-b-0: created when" in " ".join(map(str, made(job_set, *jobs).warnings)))
    assert shown == [True, True, False]


@pytest.mark.parametrize(("order", "first"), [
    ("InOrder", ["x-a-0", "x-a-1"]), ("AnyOrder", ["x-a-0", "x-a-1", "x-b-0"])])
def test_the_jobs_with_which_a_job_set_starts(order, first):
    job_set = document("jobset.x-k8s.io/v1alpha2", "JobSet", {
        "startupPolicy": {"startupPolicyOrder": order}, "replicatedJobs": [
            {"name": name, "replicas": count, "template": {"spec": {
                "template": pods("1", "volcano")}}} for name, count in (("a", 2), ("b", 1))]})
    created = made(job_set)
    assert sorted({name for obj in created if obj.kind == "Pod"
                   for name in ["-".join(obj.name.split("-")[:3])]}) == first
    assert ("x-b-0: created when" in " ".join(map(str, created.warnings))) is (order == "InOrder")


EXECUTOR = {"cores": 4, "instances": 3, "memory": "1g"}


@pytest.mark.parametrize(("more", "executor", "cpu", "mebibytes", "limit"), [
    ({}, {}, "4", 1024 + 384, None),
    ({}, {"memory": "8192m"}, "4", 8192 + 819.2, None),
    ({"type": "Python"}, {"memory": "2g"}, "4", 2048 * 1.4, None),
    ({"type": "R"}, {"memory": "2048"}, "4", 2048 * 1.4, None),
    ({"type": "Java"}, {"memory": "4GiB"}, "4", 4096 * 1.1, None),
    ({"memoryOverheadFactor": "0.5"}, {"memory": "2g"}, "4", 3072, None),
    ({"type": "Python", "memoryOverheadFactor": "0.25"}, {"memory": "4g"}, "4", 5120, None),
    ({"memoryOverheadFactor": "0.5"}, {"memory": "2g", "memoryOverhead": "100m"}, "4", 2148, None),
    ({}, {"memory": None}, "4", 1024 + 384, None),
    ({}, {"coreRequest": "500m", "coreLimit": "2"}, "500m", 1408, "2"),
    ({}, {"cores": None}, "1", 1408, None),
    ({}, {"coreRequest": "many"}, "4", 1408, None),
])
def test_sizes_of_spark_are_what_its_pods_request(more, executor, cpu, mebibytes, limit):
    given = document("sparkoperator.k8s.io/v1beta2", "SparkApplication", SPARK | more | {
        "mode": "client", "executor": EXECUTOR | executor})
    (pod, *_) = of(Pod, made(given))
    resources = pod.spec.containers[0].resources
    assert resources.requests == {"cpu": cpu, "memory": str(int(mebibytes * 2**20))}
    assert resources.limits.get("cpu") == limit
    assert resources.limits["memory"] == resources.requests["memory"]


@pytest.mark.parametrize(("instances", "dynamic", "pods"), [
    (3, {}, 3), (None, {}, 2), (0, {}, 0), (None, {"enabled": False, "initialExecutors": 5}, 2),
    (None, {"enabled": True}, 0), (None, {"enabled": True, "initialExecutors": 5}, 5),
    (None, {"enabled": True, "minExecutors": 4, "initialExecutors": 1}, 4),
    (6, {"enabled": True, "minExecutors": 4}, 6)])
def test_so_many_executors_come_after_the_driver(instances, dynamic, pods):
    executor = {key: value for key, value in EXECUTOR.items() if key != "instances"}
    if instances is not None:
        executor["instances"] = instances
    loaded = made(document("sparkoperator.k8s.io/v1beta2", "SparkApplication", SPARK | {
        "executor": executor, "dynamicAllocation": dynamic}))
    assert [pod.name for pod in of(Pod, loaded)] == ["x-driver"]
    assert [pod.name for later in loaded.later.values() for pod in later] == [
        f"x-exec-{number}" for number in range(1, pods + 1)]


@pytest.mark.parametrize(("driver", "executor", "options", "reserved"), [
    ({}, {}, {}, {"cpu": "14"}),
    ({"memory": "512Mi", "memoryOverhead": "100Mi"}, {"memory": "1Gi"}, {},
     {"cpu": "14", "memory": str((612 + 3 * 1024) * 2**20)}),
    ({"memoryOverhead": "100Mi"}, {}, {}, {"cpu": "14"}),
    ({"coreRequest": "1"}, {"coreRequest": "1500m"}, {}, {"cpu": "6500m"}),
    ({"cores": None, "coreLimit": "3"}, {"cores": None, "coreLimit": "2"}, {}, {"cpu": "9"}),
    ({}, {}, {"resources": {"cpu": "20"}}, {"cpu": "20"}),
])
def test_a_podgroup_of_spark_reserves_for_the_executors_too(driver, executor, options, reserved):
    spec = SPARK | {"driver": {"cores": 2, "memory": "512g"} | driver,
                    "executor": EXECUTOR | executor,
                    "batchSchedulerOptions": {"queue": "default"} | options}
    (group,) = of(PodGroup, made(
        document("sparkoperator.k8s.io/v1beta2", "SparkApplication", spec)))
    assert group.spec.min_resources == reserved


def test_each_role_of_a_job_of_kubedl_is_a_gang_and_its_workers_wait_for_the_master():
    loaded = made(document("training.kubedl.io/v1alpha1", "PyTorchJob", KUBEDL))
    groups = {group.name: group.spec for group in of(PodGroup, loaded)}
    assert {name: (spec.min_member, spec.queue) for name, spec in groups.items()} == {
        "x-master": (1, "q"), "x-worker": (3, "q")}
    assert groups["x-worker"].min_resources["cpu"] == "3"
    assert [pod.name for pod in of(Pod, loaded)] == ["x-master-0"]
    assert [pod.name for pod in loaded.later["ns/x"]] == [f"x-worker-{each}" for each in range(3)]
    assert "created when x-master-0 runs; minResources of PodGroup x-worker" in str(
        loaded.not_created["ns/x"][0])


@pytest.mark.parametrize(("given", "pods"), [
    (document("sparkoperator.k8s.io/v1beta2", "ScheduledSparkApplication", {
        "schedule": "@hourly", "template": SPARK | {
            "batchScheduler": "volcano", "batchSchedulerOptions": {}}}), {"x-1-driver"}),
    (document("argoproj.io/v1alpha1", "CronWorkflow", {"workflowSpec": {
        "entrypoint": "e", "schedulerName": "volcano",
        "templates": [{"name": "e", "container": {"name": "c"}}]}}), None),
    (document("batch/v1", "CronJob", {"jobTemplate": {"spec": {"template": pods(
        "1", "volcano")}}}), None)])
def test_what_a_schedule_creates_is_created_once_and_found_by_the_name_of_the_schedule(given, pods):
    loaded = made(given)
    assert of(Pod, loaded) and pods in (None, {pod.name for pod in of(Pod, loaded)})
    node = loads("{apiVersion: v1, kind: Node, metadata: {name: n1}}")
    found = Explainer(with_defaults([*node, *loads(yaml.safe_dump(given))])).why("x")
    assert found.head.partition(" ")[0] == "ns/x-1"
