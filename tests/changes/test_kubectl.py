"""Changes as commands of kubectl: the object's own name, as kubectl accepts it."""

import json
import shlex

import pytest
import yaml

from volcano_lab.changes import Change
from volcano_lab.changes.kubectl import kubectl
from volcano_lab.cluster import Cluster
from volcano_lab.manifests.loader import from_dict

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


@pytest.mark.parametrize("kind, command", [
    ("StatefulSet", "kubectl delete statefulset web -n team"),
    ("ReplicaSet", "kubectl delete pod web-0 -n team")])
def test_a_replica_set_is_not_deleted_as_its_deployment_creates_it_again(kind, command):
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {
        "name": "web-0", "namespace": "team", "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": kind, "name": "web", "controller": True}]},
        "spec": {"containers": [{"name": "c"}]}}
    assert kubectl(Change(removals=("pod/team/web-0",)), [from_dict(pod)]) == [command]


def test_a_pod_group_without_an_owner_does_not_own_its_pods(world):
    assert kubectl(Change(removals=("job/train",)), world) == [
        "kubectl delete podgroup train -n default",
        "kubectl delete pod train-0 train-1 -n default"]


def test_a_job_of_volcano_lets_its_minimum_change_and_its_queue_not():
    job = [from_dict(yaml.safe_load(WORKLOADS.partition("---")[0]), strict=True)]
    assert kubectl(Change(("job/gang.minAvailable=2",)), job) == [
        """kubectl patch vcjob gang -n team --type merge -p '{"spec": {"minAvailable": 2}}'"""]
    assert kubectl(Change(("job/gang.queue=b",)), job) == []


@pytest.mark.parametrize("setting", [
    "job/team/gang.tolerations=[]", "job/team/gang.queue=b", "job/train.priorityClassName=a",
    "node/n2.taints=[{key: gpu, effect: NoSchedule}]", "node/n2.taints+=[]"])
def test_what_the_api_does_not_let_change_has_no_command(world, setting):
    assert kubectl(Change((setting,)), world) == []


@pytest.mark.parametrize(("setting", "spec"), [
    ("podgroup/team/gang.minMember=2", {"vcjob gang": {"minAvailable": 2}}),
    ("job/team/gang.minAvailable=2", {"vcjob gang": {"minAvailable": 2}}),
    ("job/team/gang.networkTopology={mode: hard}", {"podgroup gang-": {"networkTopology": {
        "mode": "hard"}}}),
    ("podgroup/team/index.minMember=2", None),
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


@pytest.mark.parametrize("settings", [("plugin/gang.enablePreemptable=false",),
                                      ("queue/a.weight=3", "conf/actions=allocate")])
def test_a_change_of_the_configuration_has_no_command(world, settings):
    assert kubectl(Change(settings), world) == []
