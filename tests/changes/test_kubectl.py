"""Changes as commands of kubectl: the object's own name, as kubectl accepts it."""

import json
import shlex

import pytest
import yaml

from volcano_lab.changes import Change
from volcano_lab.changes.kubectl import created_again, kubectl
from volcano_lab.cluster import Cluster
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.loader import from_dict
from volcano_lab.manifests.writer import to_dict

WORKLOADS = """
{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: gang, namespace: team},
 spec: {minAvailable: 1, queue: a, tasks: [{name: w, replicas: 1, template: {spec: {containers: [
  {name: c, resources: {requests: {cpu: 1}}}]}}}]}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: index, namespace: team},
 spec: {parallelism: 2, template: {spec: {schedulerName: volcano, containers: [
  {name: c, resources: {requests: {cpu: 1}}}]}}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2}, spec: {taints: [
 {key: gpu, effect: NoSchedule}, {key: old, effect: NoExecute}]}}
---
{apiVersion: v1, kind: Node, metadata: {name: n3}, spec: {taints: [
 {key: node.kubernetes.io/unreachable, effect: NoExecute}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: bare, namespace: team}, spec: {schedulerName: volcano,
 containers: [{name: c}]}}
"""


@pytest.fixture(scope="module")
def world():
    """A Job of Volcano, one of Kubernetes, a bare pod, a PodGroup without an owner, two nodes."""
    return Cluster().node("n1", cpu=4).queue("a").job("train", queue="a", pods=2, cpu=1).add(
        WORKLOADS).objects()


@pytest.mark.parametrize("change, command", [
    (Change(removals=("pod/team/bare",)), "kubectl delete pod bare -n team"),
    (Change(removals=("queue/a",)), "kubectl delete queue a"),
    (Change(("node/n1.metadata.labels.zone=b",)), "kubectl label node n1 zone=b --overwrite"),
    (Change(("node/n1.unschedulable=true",)), "kubectl cordon n1"),
    (Change(("node/n2.taints=[]",)), "kubectl taint node n2 gpu:NoSchedule- old:NoExecute-"),
    (Change(("node/n1.labels[zone]=b",)), "kubectl label node n1 zone=b --overwrite"),
    (Change(("podgroup/train.minMember=1",)),
     """kubectl patch podgroup train -n default --type merge -p '{"spec": {"minMember": 1}}'"""),
    (Change(("queue/a.weight=3",)),
     """kubectl patch queue a --type merge -p '{"spec": {"weight": 3}}'"""),
    (Change(("queue/a.state=Closed",)), "kubectl patch queue a --subresource status --type merge "
     """-p '{"status": {"state": "Closed"}}'"""),
    (Change(("job/train.queue=b",)),
     """kubectl patch podgroup train -n default --type merge -p '{"spec": {"queue": "b"}}'"""),
    (Change(("job/train.priorityClassName=a",)), "kubectl patch podgroup train -n default --type "
     """merge -p '{"spec": {"priorityClassName": "a"}}'"""),
    (Change(("job/train.annotations[sla-waiting-time]=1m",)),
     "kubectl annotate podgroup/train pod/train-0 pod/train-1 -n default sla-waiting-time=1m "
     "--overwrite"),
])
def test_a_change_is_a_command(world, change, command):
    assert kubectl(change, world) == [command]


@pytest.mark.parametrize("version, command", [
    ("batch/v1", "kubectl delete job index -n team"),
    ("batch.volcano.sh/v1alpha1", "kubectl delete vcjob gang -n team")])
def test_a_job_of_kubernetes_is_not_one_of_volcano(world, version, command):
    group = next(obj for obj in world if obj.kind == "PodGroup"
                 and [each.api_version for each in obj.metadata.owner_references] == [version])
    assert kubectl(Change(removals=(f"job/team/{group.name}",)), world) == [command]


@pytest.mark.parametrize("kind", ["StatefulSet", "ReplicaSet"])
def test_a_pod_is_deleted_and_not_its_owner_which_creates_it_again(kind):
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {
        "name": "web-0", "namespace": "team", "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": kind, "name": "web", "controller": True}]},
        "spec": {"containers": [{"name": "c"}]}}
    assert kubectl(Change(removals=("pod/team/web-0",)), [from_dict(pod)]) == [
        "kubectl delete pod web-0 -n team"]


def test_a_pod_group_without_an_owner_does_not_own_its_pods(world):
    assert kubectl(Change(removals=("job/train",)), world) == [
        "kubectl delete podgroup train -n default",
        "kubectl delete pod train-0 train-1 -n default"]


def test_a_job_of_volcano_lets_its_minimum_change_and_its_queue_not():
    job = [from_dict(yaml.safe_load(WORKLOADS.partition("---")[0]), strict=True)]
    assert kubectl(Change(("job/gang.minAvailable=2",)), job) == [
        """kubectl patch vcjob gang -n team --type merge -p '{"spec": {"minAvailable": 2}}'"""]
    assert kubectl(Change(("job/gang.priorityClassName=a",)), with_defaults(job)) == [
        """kubectl patch vcjob gang -n team --type merge """
        """-p '{"spec": {"priorityClassName": "a"}}'"""]
    assert kubectl(Change(("job/gang.queue=b",)), job) == []


@pytest.mark.parametrize("setting", [
    "job/team/gang.tolerations=[]", "job/team/gang.queue=b",
    "job/team/gang.requests.cpu=500m", "job/train.requests.cpu=500m", "job/train.pods=1",
    "job/team/gang.spec.tasks.0.name=b",
    "node/n2.taints=[{key: gpu, effect: NoSchedule}]", "node/n2.taints+=[]", "node/n3.taints=[]"])
def test_what_the_api_does_not_let_change_has_no_command(world, setting):
    assert kubectl(Change((setting,)), world) == []


@pytest.mark.parametrize(("setting", "spec"), [
    ("podgroup/team/gang.minMember=2", {"vcjob gang": {"minAvailable": 2}}),
    ("job/team/gang.minAvailable=2", {"vcjob gang": {"minAvailable": 2}}),
    ("job/team/gang.networkTopology={mode: hard}", {"podgroup gang-": {"networkTopology": {
        "mode": "hard"}}}),
    ("podgroup/team/index.minMember=2", {"podgroup podgroup-": {"minMember": 2}}),
    ("job/team/index.queue=a", {"podgroup podgroup-": {"queue": "a"}}),
    ("job/train.minAvailable=1", {"podgroup train": {"minMember": 1, "minResources": {
        "cpu": "1"}}})])
def test_a_minimum_is_patched_where_its_controller_keeps_it(world, setting, spec):
    """The controller of Volcano's Jobs sets the minimum of their PodGroups again, not the rest."""
    commands = kubectl(Change((setting,)), world)
    assert len(commands) == (spec is not None)
    for command in commands:
        (name, patch), = spec.items()
        assert command.startswith(f"kubectl patch {name}")
        assert json.loads(shlex.split(command)[-1]) == {"spec": patch}


def test_fields_in_lists_of_a_job_are_one_patch_of_their_paths(world):
    command, = kubectl(Change(("job/team/gang.spec.tasks.0.replicas=2", "job/team/gang.spec.tasks."
                               "0.minAvailable=2", "job/team/gang.spec.minAvailable=2")), world)
    *words, patch = shlex.split(command)
    assert words == ["kubectl", "patch", "vcjob", "gang", "-n", "team", "--type", "json", "-p"]
    assert {each["path"]: each["value"] for each in json.loads(patch)} == {
        "/spec/tasks/0/replicas": 2, "/spec/tasks/0/minAvailable": 2, "/spec/minAvailable": 2}


def test_the_number_of_pods_is_patched():
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {
        "name": "web", "namespace": "team"}, "spec": {"replicas": 6, "template": {"spec": {
            "containers": [{"name": "c"}]}}}}
    assert kubectl(Change(("deployment/team/web.replicas=5",)), [from_dict(deployment)]) == [
        """kubectl patch deployment web -n team --type merge -p '{"spec": {"replicas": 5}}'"""]


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
@pytest.mark.parametrize("setting, command", [
    ("requests.cpu=500m", "kubectl set resources KIND web -n team -c c --requests=cpu=500m"),
    ("requests.cpu=null", ""), ("schedulerName=other", ""),
    ("nodeSelector.disk=null", {"spec": {"nodeSelector": {"disk": None}}}),
    ("nodeSelector={}", {"spec": {"nodeSelector": {"disk": None}}}),
    ("tolerations+=[{operator: Exists}]", {"spec": {"tolerations": [{"operator": "Exists"}]}}),
    ("annotations[volcano.sh/revocable-zone]='*'", {"metadata": {"annotations": {
        "volcano.sh/revocable-zone": "*"}}})])
def test_what_has_a_template_is_changed_there(kind, setting, command):
    world = Cluster().node("n1", cpu=4).add(f"""
{{apiVersion: apps/v1, kind: {kind}, metadata: {{name: web, namespace: team}}, spec: {{
 replicas: 2, template: {{spec: {{schedulerName: volcano, nodeSelector: {{disk: ssd}}, containers: [
  {{name: b}}, {{name: c, resources: {{requests: {{cpu: 1}}}}}}]}}}}}}}}""").objects()
    group = next(obj for obj in world if obj.kind == "PodGroup")
    found = kubectl(Change((f"job/{group.key}.{setting}",)), world)
    if kind == "StatefulSet" and command:
        assert found.pop() == "kubectl delete pod web-0 web-1 -n team"
    if isinstance(command, dict):
        *words, patch = shlex.split(*found)
        assert words == ["kubectl", "patch", kind.lower(), "web", "-n", "team", "--type", "merge",
                         "-p"] and json.loads(patch) == {"spec": {"template": command}}
    else:
        assert found == [command.replace("KIND", kind.lower())] * bool(command)
    assert created_again(Change((f"job/{group.key}.{setting}",)), world) == []


@pytest.mark.parametrize("setting, names", [
    ("job/team/gang.requests.cpu=500m", ["vcjob gang -n team"]),
    ("job/team/gang.queue=b", ["vcjob gang -n team"]),
    ("job/team/gang.spec.queue=b", ["vcjob gang -n team"]),
    ("job/team/gang.minAvailable=2", []), ("job/team/gang.spec.tasks.0.replicas=2", []),
    ("job/team/index.tolerations=[]", ["job index -n team"]),
    ("job/team/index.spec.parallelism=3", []), ("podgroup/train.queue=default", []),
    ("job/train.nodeSelector={}", ["pod train-0 -n default", "pod train-1 -n default"]),
    ("job/train.tolerations+=[{operator: Exists}]", []), ("node/n1.unschedulable=true", []),
    ("plugin/gang.enablePreemptable=false", [])])
def test_what_the_api_server_refuses_of_objects_that_exist_has_them_created_again(
        world, setting, names):
    world = [*world, *(from_dict(each, strict=True) for each in list(
        yaml.safe_load_all(WORKLOADS))[:2])]
    assert sorted(created_again(Change((setting,)), world)) == names


@pytest.mark.parametrize("field, fixed", [
    ("template.spec.nodeSelector={disk: ssd}", True), ("replicas=2", False)])
def test_a_whole_path_is_one_of_the_job_itself(world, field, fixed):
    found = created_again(Change((f"job/team/gang.spec.tasks.0.{field}",)), world)
    assert found == ["vcjob gang -n team"] * fixed


LIMITS = """
{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q}, spec: {weight: 2,
 capability: {cpu: 8, memory: 4Gi}, affinity: {nodeGroupAffinity: {
  requiredDuringSchedulingIgnoredDuringExecution: [g1]}}}}
---
{apiVersion: v1, kind: ResourceQuota, metadata: {name: r, namespace: team}, spec: {hard: {cpu: 4}},
 status: {hard: {cpu: 4}, used: {cpu: 4}}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: p, namespace: team},
 spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n3, labels: {old: "1", zone: a}}}
"""
GROUPS = "affinity.nodeGroupAffinity.requiredDuringSchedulingIgnoredDuringExecution"


def merged(before, patch):
    """What the API server makes of a merge patch (RFC 7386)."""
    found = {**before}
    for key, value in patch.items():
        found[key] = merged(found.get(key) or {}, value) if isinstance(value, dict) else value
    return {key: value for key, value in found.items() if value is not None}


@pytest.mark.parametrize("settings", [
    (f'queue/q.{GROUPS}+=["g2"]', f'queue/q.{GROUPS}+=["g3"]'), (f"queue/q.{GROUPS}[0]=g4",),
    ("queue/q.capability={cpu: 4}",), ("queue/q.capability.cpu=2.5", "queue/q.capability.cpu=3"),
    ("queue/q.capability=null", "queue/q.capability.memory=1Gi"), ("queue/q.capability.cpu=null",),
    ('queue/q.labels.team="1"', "queue/q.weight=1"), ("pdb/team/p.minAvailable=50%",),
    ("pdb/team/p.selector.matchLabels.app=db", "resourcequota/team/r.hard.pods=9"),
    ("node/n3.labels.zone=b", "node/n3.labels.old=null", "node/n3.labels={gpu: a100}"),
])
def test_the_commands_do_what_the_change_does(settings):
    world = [from_dict(each) for each in yaml.safe_load_all(LIMITS)]
    objects = {obj.name: to_dict(obj) for obj in world}
    commands = kubectl(Change(settings), world)
    assert commands
    for _, verb, _, *words in map(shlex.split, commands):
        if verb == "patch":
            objects[words[0]] = merged(objects[words[0]], json.loads(words[-1]))
        else:
            labels = {word.rstrip("-"): None for word in words[1:-1] if "=" not in word}
            objects[words[0]] = merged(objects[words[0]], {"metadata": {"labels": labels | dict(
                word.split("=") for word in words[1:-1] if "=" in word)}})
    for obj in Change(settings).applied(world, load_conf())[0]:
        wanted, found = to_dict(obj), objects[obj.name]
        if obj.kind == "ResourceQuota":  # the API server copies spec.hard
            wanted["spec"] = {"hard": wanted["status"]["hard"]}
        left, right = (from_dict({**each, "status": {}}) for each in (wanted, found))
        assert left == right


@pytest.mark.parametrize("setting", [
    "resourcequota/team/r.used.cpu=0", "pdb/team/p.status.disruptionsAllowed=1",
    "queue/q.spec={weight: 3}", "node/n3.status.allocatable.cpu=9"])
def test_what_the_api_server_writes_has_no_command(setting):
    world = [from_dict(each) for each in yaml.safe_load_all(LIMITS)]
    assert kubectl(Change((setting,)), world) == []


@pytest.mark.parametrize("settings", [("plugin/gang.enablePreemptable=false",),
                                      ("queue/a.weight=3", "conf/actions=allocate")])
def test_a_change_of_the_configuration_has_no_command(world, settings):
    assert kubectl(Change(settings), world) == []


@pytest.mark.parametrize(("setting", "patch"), [
    ("pytorchjob/t/p.runPolicy.schedulingPolicy.minAvailable=2",
     """json -p '[{"op": "add", "path": "/spec/runPolicy/schedulingPolicy/minAvailable", """
     """"value": 2}]'"""),
    ("pytorchjob/t/p.pytorchReplicaSpecs.Worker.replicas=1",
     """json -p '[{"op": "add", "path": "/spec/pytorchReplicaSpecs/Worker/replicas", """
     """"value": 1}]'""")])
def test_a_field_of_an_operators_object_is_patched_there(setting, patch):
    world = Cluster().add("""\
{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: p, namespace: t}, spec: {
  runPolicy: {schedulingPolicy: {minAvailable: 3, queue: default}}, pytorchReplicaSpecs: {
    Worker: {replicas: 3, template: {spec: {containers: [{name: pytorch, image: x}]}}}}}}
""").objects()
    assert kubectl(Change((setting,)), world) == [
        f"kubectl patch pytorchjob p -n t --type {patch}"]


def test_the_queue_of_a_deployments_pods_is_an_annotation_of_its_template():
    world = Cluster().queue("a").add("""\
{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: t}, spec: {replicas: 1,
  selector: {matchLabels: {x: d}}, template: {metadata: {labels: {x: d}}, spec: {
    schedulerName: volcano, containers: [{name: c}]}}}}
""").objects()
    (name,) = [obj.metadata.owner_references[0].name for obj in world if obj.kind == "PodGroup"]
    assert kubectl(Change((f"job/t/{name}.queue=a",)), world) == [
        """kubectl patch deployment d -n t --type merge -p '{"spec": {"template": {"metadata": """
        """{"annotations": {"scheduling.volcano.sh/queue-name": "a"}}}}}'"""]


OWNED = """\
{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: r, namespace: t, labels: {
 ray.io/scheduler-name: volcano}}, spec: {
 headGroupSpec: {template: {spec: {containers: [{name: h}]}}},
 workerGroupSpecs: [{groupName: g, replicas: 1, template: {spec: {containers: [
  {name: w, resources: {requests: {cpu: 2}, limits: {x/gpu: 2}}}]}}}]}}
---
{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: p, namespace: t}, spec: {
 runPolicy: {schedulingPolicy: {queue: default}}, pytorchReplicaSpecs: {
  Worker: {replicas: 2, template: {spec: {containers: [{name: w}]}}}}}}
"""
WORKER = "workerGroupSpecs/0/template/spec"


@pytest.mark.parametrize("job, setting, fields", [
    ("ray-r-pg", "requests.cpu=1", {f"{WORKER}/containers/0/resources/requests/cpu": 1}),
    ("ray-r-pg", "requests[x/gpu]=1", {f"{WORKER}/containers/0/resources/limits/x~1gpu": 1}),
    ("ray-r-pg", "tolerations+=[{operator: Exists}]", {
        f"{part}/tolerations": [{"operator": "Exists"}]
        for part in ("headGroupSpec/template/spec", WORKER)}),
    ("ray-r-pg", "affinity.nodeAffinity=null", {})])
def test_the_templates_of_an_operators_object_are_changed_by_their_paths(job, setting, fields):
    world = Cluster().node("n1", cpu=4).add(OWNED).objects()
    found = kubectl(Change((f"job/t/{job}.{setting}",)), world)
    if fields:
        *words, patch = shlex.split(found[0])
        assert words == ["kubectl", "patch", "raycluster", "r", "-n", "t", "--type", "json", "-p"]
        assert json.loads(patch) == [{"op": "add", "path": f"/spec/{field}", "value": value}
                                     for field, value in fields.items()]
        assert found[1].startswith("kubectl delete pod r-")  # which has its own template until then
    assert bool(found) == bool(fields)


@pytest.mark.parametrize("field, of_policy, value", [
    ("minAvailable", "minAvailable", 1), ("priorityClassName", "priorityClass", "a")])
def test_a_scheduling_policy_is_changed_where_its_operator_copies_it_from(field, of_policy, value):
    world = Cluster().node("n1", cpu=4).add(OWNED).objects()
    patch = {"spec": {"runPolicy": {"schedulingPolicy": {of_policy: value}}}}
    assert kubectl(Change((f"job/t/p.{field}={value}",)), world) == [
        f"kubectl patch pytorchjob p -n t --type merge -p '{json.dumps(patch)}'"]


@pytest.mark.parametrize(("kind", "spec", "again"), [
    ("kubeflow.org/v1, kind: PyTorchJob", "pytorchReplicaSpecs: {Worker: {replicas: 2, template: "
     "TEMPLATE}}", ["pytorchjob new -n team"]),
    ("ray.io/v1, kind: RayCluster", "headGroupSpec: {template: TEMPLATE}", [])])
def test_an_owner_whose_pods_keep_their_template_is_created_again(kind, spec, again):
    spec = spec.replace("TEMPLATE", "{spec: {schedulerName: volcano, containers: [{name: c}]}}")
    world = Cluster().node("n1", cpu=4).add(f"""\
{{apiVersion: {kind}, metadata: {{name: new, namespace: team}}, spec: {{{spec}}}}}""").objects()
    assert created_again(Change(("job/team/new.requests.cpu=500m",)), world) == again
