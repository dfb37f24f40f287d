"""What a change is called: each kind of field, several settings as one, and what is deleted."""

import pytest

from volcano_lab.changes import Change
from volcano_lab.changes.words import any_of, described
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.loader import loads
from volcano_lab.messages import Message

NODE = """{apiVersion: v1, kind: Node, metadata: {name: %s}, spec: {taints: [
 {key: a, effect: NoSchedule}, {key: a, effect: NoExecute}, {key: b, effect: NoSchedule}]},
 status: {allocatable: {cpu: 4, pods: 10, nvidia.com/gpu: 1}}}"""
LOST = """{apiVersion: v1, kind: Node, metadata: {name: n4}, spec: {taints: [
 {key: node.kubernetes.io/not-ready, effect: NoSchedule}]}}"""
QUEUE = """{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: a},
 spec: {weight: 2, capability: {cpu: 4}, guarantee: {resource: {cpu: 1}}}}"""
GHOST = """{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: %s},
 spec: {minMember: 1}}"""
JOB = """{apiVersion: batch.volcano.sh/v1alpha1, kind: Job,
 metadata: {name: train, uid: "1", annotations: {a: x}}, spec: {minAvailable: 2, tasks: [
 {name: w, replicas: 2, minAvailable: 1, template: {spec: {nodeSelector: {zone: a, disk: ssd},
 containers: [{name: c, resources: {requests: {cpu: 1, memory: 1Gi}}}]}}}]}}"""
SET = """{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web, uid: w}, spec: {replicas: 1,
 selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}},
 spec: {schedulerName: volcano, containers: [{name: c}]}}}}"""
BATCH = """{apiVersion: batch/v1, kind: Job, metadata: {name: once, uid: b},
 spec: {template: {spec: {schedulerName: volcano, restartPolicy: Never,
 containers: [{name: c}]}}}}"""
SWITCH = """{apiVersion: topology.volcano.sh/v1alpha1, kind: HyperNode, metadata: {name: s1},
 spec: {tier: 1, members: [{type: Node, selector: {exactMatch: {name: n1}}}]}}"""
HIGH = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 9}"
WORLD = [*with_defaults(loads("\n---\n".join([
    HIGH, JOB, SET, NODE % "n1", NODE % "n2", NODE % "n3", LOST, QUEUE, BATCH, SWITCH,
    GHOST % "ghost", GHOST % "other"])))]
CONF = load_conf("""{actions: "enqueue, allocate, backfill", tiers: [{plugins: [
 {name: gang}, {name: overcommit}]}]}""")

SAID = {
    # queues and what is unset in them
    "queue/a.weight=5": "queue a: weight 2 -> 5",
    "queue/a.capability[cpu]=8": "queue a: capability cpu 4 -> 8",
    "queue/a.capability[memory]=8Gi": "queue a: capability memory unset -> 8Gi",
    "queue/a.capability[cpu]=null": "queue a: capability without cpu 4",
    "queue/default.capability[cpu]=5": "queue default: capability cpu unset -> 5",
    "queue/a.guarantee.resource[memory]=1Gi": "queue a: guarantee.resource memory 0 -> 1Gi",
    "queue/a.guarantee=null": "queue a: without its guarantee",
    "queue/a.guarantee={}": "queue a: without its guarantee",
    "queue/a.reclaimable=false": "queue a: reclaimable true -> false",
    "queue/b={weight: 1}": "create queue b",
    # nodes
    "node/n1.unschedulable=false": "uncordon n1",
    "node/n1.taints=[]": "remove taint a, b of node n1",
    "node/n1.taints=[{key: a, effect: NoSchedule}]": "remove taint b of node n1",
    "node/n4.taints=[]": "repair node n4, which has taint node.kubernetes.io/not-ready",
    "node/n1.allocatable.pods=11": "node n1: maxPods of its kubelet 10 -> 11",
    "node/n1.metadata.labels.zone=b": "label n1 zone=b",
    "node/n1.more=1": "1 more node like n1",
    "node/n1.more={count: 1, nvidia.com/gpu: 8}": "1 more node like n1 with nvidia.com/gpu 8",
    "node/n1.more={count: 2, amd.com/gpu: 8}":
    "2 more nodes like n1 announcing amd.com/gpu 8",
    "node/n1.more={count: 2, labels: {zone: new-#}}":
        "2 more nodes like n1, each with a value of its own of zone",
    "node/n1.more={count: 2, labels: {pool: b}}": "2 more nodes like n1, with the label pool=b",
    "node/n1.more={count: 1, cpu: 8, labels: {pool: b, zone: c}}":
    "1 more node like n1 with cpu 8, with the labels pool=b, zone=c",
    # jobs: the field of a minimum depends on what created the PodGroup
    "job/train.minAvailable=1": "job default/train-1: minAvailable 2 -> 1",
    "job/web.minAvailable=2": "job default/podgroup-w: minMember 1 -> 2 "
    "(annotation scheduling.volcano.sh/group-min-member)",
    "job/once.minAvailable=0": "job default/podgroup-b: minMember 1 -> 0 "
    "(annotation scheduling.volcano.sh/group-min-member)",
    "job/ghost.minAvailable=3": "job default/ghost: minMember 1 -> 3",
    "job/train.minTaskMember[w]=2": "job default/train-1: minimum of role w 1 -> 2",
    "job/train.minTaskMember[w]=null": "job default/train-1: minimum of role w 1 -> none",
    "job/train.nodeSelector={zone: b, disk: ssd}":
    "job default/train-1: node selector zone=b instead of zone=a",
    "job/train.nodeSelector={}":
    "job default/train-1: without its node selector zone=a, disk=ssd",
    "job/train.priority=10": "job default/train-1: a PriorityClass above 9",
    "job/train.annotations[a]=null": "job default/train-1: without the annotation a",
    "job/train.annotations[a]=y": "job default/train-1: a x -> y",
    "job/train.annotations[volcano.sh/preemptable]=true":
    "job default/train-1: volcano.sh/preemptable unset -> true",
    "job/train.requests[cpu]=2": "job default/train-1: request per pod cpu 1 -> 2",
    "job/train.requests[cpu]=null": "job default/train-1: request per pod without cpu 1",
    "job/train.tolerations=[{key: a, effect: NoSchedule}, {operator: Exists}]":
    "job default/train-1: with a toleration of a:NoSchedule, :",
    # values that no template is for
    "node/n1.unschedulable=true": "node n1: unschedulable false -> true",
    "node/n1.taints=null": "remove taint a, b of node n1",
    "node/n1.taints=[{key: c, effect: NoSchedule}]":
    'node n1: taints [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoExecute"}, '
    '{"key": "b", "effect": "NoSchedule"}] -> [{key: c, effect: NoSchedule}]',
    "node/n1.metadata.labels[zone]=null": "node n1: metadata.labels.zone unset -> null",
    "job/train.tolerations=null": "job default/train-1: tolerations unset -> null",
    "job/train.topologySpreadConstraints=[]":
    "job default/train-1: topologySpreadConstraints unset -> []",
    "job/train.networkTopology={mode: hard, highestTierAllowed: 2}":
    "job default/train-1: networkTopology hard, highestTierAllowed 2",
    "job/train.networkTopology={mode: soft, highestTierAllowed: 2}":
    "job default/train-1: networkTopology unset -> {mode: soft, highestTierAllowed: 2}",
    "job/train.networkTopology={mode: hard}":
    "job default/train-1: networkTopology unset -> {mode: hard}",
    "hypernode/s1.members=null":
    'HyperNode s1: members [{"type": "Node", "selector": {"exactMatch": {"name": "n1"}}}] -> null',
    "hypernode/s1.members+=[{type: Node}]":
    'HyperNode s1: members [{"type": "Node", "selector": {"exactMatch": {"name": "n1"}}}] -> '
    "[{type: Node}]",
    "hypernode/s2={spec: {tier: 1, members: null}}": "create HyperNode s2",
    "priorityclass/low={value: 1}": "create PriorityClass low",
    # the configuration
    "conf/actions=enqueue, allocate": "actions without backfill",
    "conf/actions=enqueue, allocate, backfill, preempt": "actions with preempt",
    "conf/actions=allocate, enqueue, backfill": "actions with allocate before enqueue",
    "plugin/gang.enableJobOrder=false": "enableJobOrder: false for gang",
    "plugin/gang.note=x": "plugin gang: note unset -> x",
    "plugin/overcommit.overcommit-factor=2": "plugin overcommit: overcommit-factor 1.2 -> 2",
    "plugin/gang.tier=null": "without plugin gang",
    "plugin/gang.tier=1": "plugin gang in tier 1",
    "conf/ignored-provisioners=x": "the scheduler's flag --ignored-provisioners=x",
}


@pytest.mark.parametrize("setting", SAID)
def test_each_kind_of_field_has_its_sentence(setting):
    assert str(described(Change((setting,)), WORLD, CONF)) == SAID[setting]


@pytest.mark.parametrize("setting", [each.replace("job/train", "job/ghost") for each in SAID
                                     if each.startswith("job/train")])
def test_a_field_of_a_job_without_pods_has_its_sentence(setting):
    said = str(described(Change((setting,)), WORLD, CONF))
    assert said.startswith("job default/ghost: ") and "None" not in said


@pytest.mark.parametrize(("settings", "text"), [
    # amounts of one field of one object are one
    ("queue/a.capability[cpu]=8 queue/a.capability[memory]=8Gi",
     "queue a: capability cpu 4, memory unset -> cpu 8, memory 8Gi"),
    ("queue/a.capability[cpu]=8 queue/default.capability[cpu]=8",
     "both: queue a: capability cpu 4 -> 8; queue default: capability cpu unset -> 8"),
    ("queue/a.capability[cpu]=8 queue/a.guarantee.resource[cpu]=2",
     "both: queue a: capability cpu 4 -> 8; queue a: guarantee.resource cpu 1 -> 2"),
    ("queue/a.capability[cpu]=8 queue/a.weight=3",
     "both: queue a: capability cpu 4 -> 8; queue a: weight 2 -> 3"),
    ("queue/a.weight=3 queue/a.capability[cpu]=8",
     "both: queue a: weight 2 -> 3; queue a: capability cpu 4 -> 8"),
    # one state of several nodes is one
    ("node/n1.unschedulable=false node/n2.unschedulable=false", "uncordon n1, n2"),
    ("node/n1.unschedulable=false node/n2.unschedulable=false node/n3.unschedulable=false",
     "uncordon n1, n2, n3"),
    ("node/n1.taints=[] node/n2.taints=[]", "remove taint a, b of node n1, n2"),
    ("node/n1.taints=[] node/n2.taints=[{key:a,effect:NoSchedule}]",
     "both: remove taint a, b of node n1; remove taint b of node n2"),
    ("node/n1.unschedulable=false node/n2.taints=[]",
     "both: uncordon n1; remove taint a, b of node n2"),
    ("node/n1.metadata.labels.zone=b node/n2.metadata.labels.zone=b", "label n1, n2 zone=b"),
    ("node/n1.metadata.labels.zone=b node/n2.metadata.labels.zone=c",
     "both: label n1 zone=b; label n2 zone=c"),
    # others are not, and the same setting twice is one
    ("queue/a.weight=3 queue/default.weight=3",
     "both: queue a: weight 2 -> 3; queue default: weight 1 -> 3"),
    ("queue/a.weight=3 queue/a.weight=3", "queue a: weight 2 -> 3"),
    ("queue/a.weight=3 queue/default.weight=3 node/n1.more=1",
     "all: queue a: weight 2 -> 3; queue default: weight 1 -> 3; 1 more node like n1")])
def test_several_settings_are_one_where_only_amounts_or_nodes_differ(settings, text):
    settings = tuple(each.replace("key:a,effect:", "key: a, effect: ")
                     for each in settings.split())
    assert str(described(Change(settings), WORLD, CONF)) == text


@pytest.mark.parametrize(("removed", "ends", "text"), [
    ("job/train", [], "delete job/default/train-1"),
    ("job/train", ["job/train"], "wait for the end of default/train-1"),
    ("job/train job/web", ["job/web"],
     "both: wait for the end of default/podgroup-w; delete job/default/train-1"),
    ("queue/a", [], "delete queue/a"),
    ("pod/train-w-0 pod/train-w-1 pod/web-0 pg/ghost", [], "all: delete 2 pods of "
     "default/train-1, which are created again; delete 1 pod of default/podgroup-w, which is "
     "created again; delete 1 of the 2 PodGroups without pods (default/ghost)"),
    ("pod/train-w-0 job/web", [], "both: delete 1 pod of default/train-1, which is created "
     "again; delete job/default/podgroup-w"),
    ("job/train job/web", [], "delete job/default/train-1, job/default/podgroup-w"),
    ("pg/ghost", [], "delete 1 of the 2 PodGroups without pods (default/ghost)"),
    ("pg/ghost pg/other", [],
     "delete 2 of the 2 PodGroups without pods (default/ghost, default/other)"),
    ("pg/ghost job/train", [], "both: delete job/default/train-1; delete 1 of the 2 PodGroups "
     "without pods (default/ghost)")])
def test_podgroups_without_pods_are_named_apart_from_what_is_deleted(removed, ends, text):
    removals = Change((), tuple(removed.split()))
    assert str(described(removals, WORLD, CONF, ends=ends)) == text


def test_the_deletion_of_pods_that_leave_is_forced():
    leaving = [obj.changed(metadata={"deletion_timestamp": 9.0}) if obj.name == "train-w-0" else obj
               for obj in WORLD]
    assert str(described(Change((), ("pod/train-w-0", "pod/train-w-1")), leaving, CONF)) == (
        "both: force the deletion of 1 pod of default/train-1, which is created again; delete 1 "
        "pod of default/train-1, which is created again")


def test_the_only_podgroup_without_pods_is_not_counted():
    alone = [obj for obj in WORLD if obj.name != "other"]
    assert str(described(Change((), ("pg/ghost",)), alone, CONF)) == (
        "delete default/ghost, a PodGroup without pods")


def uncordon(name):
    return Message("change.node.unschedulable", name=name)


def both(*names):
    return Message("change.both", parts=[uncordon(name) for name in names])


def label(name, value):
    return Message("change.node.metadata.labels.*", name=name, key="zone", after=value)


@pytest.mark.parametrize(("messages", "text"), [
    ([uncordon("n1")], "uncordon n1"),
    ([uncordon("n1"), uncordon("n2")], "uncordon n1 or n2"),
    ([uncordon("n1"), label("n2", "a")], "uncordon n1 or label n2 zone=a"),
    ([label("n1", "a"), label("n2", "a")], "label n1 or n2 zone=a"),
    ([label("n1", "a"), label("n2", "b")], "label n1 zone=a or label n2 zone=b"),
    ([both("n1", "n3"), both("n2", "n3")], "both: uncordon n1 or n2; uncordon n3")])
def test_alternatives_are_one_message_with_the_fact_that_differs_or_each_in_full(messages, text):
    assert str(any_of(messages)) == text
