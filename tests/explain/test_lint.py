"""Fields of queues that nothing reads are named, and those that are read are not."""

import pytest

from volcano_lab import Cluster
from volcano_lab.explain.lint import contradictions, ignored_fields

CONF = 'actions: "enqueue, allocate"\ntiers:\n- plugins:\n  - name: gang\n'
QUEUE = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: a, annotations: {{{notes}}}}}
spec: {spec}
"""
AFFINITY = "{affinity: {nodeGroupAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [x]}}}"
TABLE = [  # spec, plugins, the words of each sentence
    ("{weight: 1}", "proportion", []),
    ("{deserved: {cpu: 2}}", "proportion", [
        "spec.deserved has no effect: only the plugin capacity"
    ]),
    ("{deserved: {cpu: 2}}", "capacity", []),
    ("{weight: 3}", "capacity", ["spec.weight has no effect: only the plugin proportion"]),
    ("{weight: 3}", "proportion", []),
    ("{capability: {cpu: 2}, guarantee: {resource: {cpu: 1}}}", "capacity", []),
    ("{capability: {cpu: 2}, guarantee: {resource: {cpu: 1}}}", "drf", [
        "spec.capability has", "spec.guarantee has"
    ]),
    ("{parent: b}", "capacity", ["spec.parent has no effect: it takes the plugin capacity"]),
    ("{parent: b}", "capacity\n    enableHierarchy: true", []),
    ("{parent: root}", "proportion", []),
    (AFFINITY, "drf", ["spec.affinity has no effect"]),
    (AFFINITY, "nodegroup", []),
    ("{dequeueStrategy: fifo}", "capacity", ["spec.dequeueStrategy: fifo has no effect"]),
    ("{dequeueStrategy: traverse}", "capacity", []),
]


def cycle_of(spec, plugins, notes=""):
    cluster = Cluster().node("n1", cpu=4).queue("b").add(QUEUE.format(spec=spec, notes=notes))
    return cluster.run(CONF + f"  - name: {plugins}\n")


@pytest.mark.parametrize(("spec", "plugins", "words"), TABLE)
def test_what_nothing_reads_is_named(spec, plugins, words):
    found = [*map(str, ignored_fields(cycle_of(spec, plugins).session))]
    assert len(found) == len(words) and all(f"Queue a: {word}" in sentence
                                            for word, sentence in zip(words, found, strict=True))


@pytest.mark.parametrize(("plugins", "count"), [("drf", 1), ("drf\n    enableHierarchy: true", 0)])
def test_the_annotation_of_hierarchical_drf(plugins, count):
    notes = "volcano.sh/hierarchy: root/a, volcano.sh/hierarchy-weights: 1/1"
    found = [*map(str, ignored_fields(cycle_of("{weight: 1}", plugins, notes).session))]
    assert len(found) == count and all("volcano.sh/hierarchy" in sentence for sentence in found)


def sentences(cluster, conf=None):
    ssn = cluster.run(conf).session
    return [*map(str, ignored_fields(ssn)), *(str(what) for _, what in contradictions(ssn))]


def test_a_topology_that_no_plugin_keeps_is_named():
    cluster = Cluster().node("n1", cpu=4).job("a", cpu=1, network_topology={"mode": "hard"})
    cluster.job("b", cpu=1)
    conf = CONF + "  - name: predicates\n  - name: {}\n"
    assert [*map(str, ignored_fields(cluster.run(conf.format("drf")).session))] == [
        "Job default/a: spec.networkTopology has no effect: only the plugin network-topology-aware "
        "reads it, and the configuration does not name it."]
    assert ignored_fields(cluster.run(conf.format("network-topology-aware")).session) == []


def test_a_resource_of_a_queue_that_is_nearly_called_as_another_is_named():
    cluster = Cluster().node("n1", cpu=4, gpu=2)
    cluster.queue("a", capability={"gpu": 1, "cpu": 1}).queue(
        "b", guarantee={"nvidia.com/gpus": 1}).queue("c", capability={"amd.com/gpu": 1})
    assert [*map(str, ignored_fields(cluster.run().session))] == [
        f"Queue {name}: spec.{field} names {resource}, of which no node has anything; near it is "
        "nvidia.com/gpu." for name, field, resource in (
            ("a", "capability", "gpu"), ("b", "guarantee", "nvidia.com/gpus"))]


QUOTA = """\
apiVersion: v1
kind: ResourceQuota
metadata: {name: q, namespace: default}
spec: {hard: {requests.cpu: "1"}}
status: {hard: {requests.cpu: "1"}, used: {requests.cpu: "0"}}
"""
PARTITIONS = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: parts}
spec:
  minAvailable: 2
  tasks:
  - name: t
    replicas: 2
    partitionPolicy:
      totalPartitions: 1
      partitionSize: 2
      networkTopology: {mode: hard, highestTierName: %s}
    template: {spec: {containers: [{name: main, resources: {requests: {cpu: "1"}}}]}}
"""
HYPER_NODE = """\
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: s0}
spec: {tier: 1, tierName: rack, members: [{type: Node, selector: {exactMatch: {name: n1}}}]}
"""


def test_a_quota_that_no_plugin_reads():
    cluster = Cluster().node("n1", cpu=4).add(QUOTA).job("train", cpu=1)
    assert sentences(cluster) == [
        "ResourceQuota default/q: spec.hard has no effect on the scheduler: only the plugin "
        "resourcequota reads it, and the configuration does not name it."]
    assert sentences(cluster, CONF + "  - name: resourcequota\n") == []


@pytest.mark.parametrize(("name", "use"), [("rack", "highestTierAllowed: 1"),
                                           ("zone", "a tier's number")])
def test_a_tier_name_that_v1_14_0_does_not_read(name, use):
    cluster = Cluster().node("n1", cpu=4).add(HYPER_NODE, PARTITIONS % name)
    assert sentences(cluster, CONF + "  - name: network-topology-aware\n") == [
        f"Job default/parts: highestTierName {name} of its partitionPolicy has no effect in "
        f"v1.14.0, so that its sub-groups are placed anywhere; write {use}."]


def test_amounts_that_cannot_be_had():
    conf = CONF + "  - name: capacity\n    enableHierarchy: true\n"
    cluster = Cluster().node("n1", cpu=4).queue("a", capability=2).queue("b", parent="a",
                                                                         capability=3)
    above = "Queue b: spec.capability cpu 3 is more than that of its parent a, cpu 2, which"
    assert [above in found for found in sentences(cluster, conf)] == [True]
    guaranteed = Cluster().node("n1", cpu=4).queue("a", guarantee=3).queue("b", guarantee=2)
    assert sentences(guaranteed) == [
        "Queues are guaranteed cpu 5 in sum (a 3, b 2), and the cluster has cpu 4"]
    beyond = Cluster().node("n1", cpu=4, memory="99999999999999999999E").queue("a", guarantee=3)
    assert sentences(beyond) == [], "a sum of memory that wraps round is no contradiction of 0"


def rules(cluster, actions, *plugins):
    conf = {"actions": actions, "tiers": [{"plugins": [
        name if isinstance(name, dict) else {"name": name} for name in plugins]}]}
    return {finding.rule for finding in cluster.lint(conf)}


TREE = {"name": "capacity", "enableHierarchy": True}


@pytest.mark.parametrize("actions, plugins, rule", [
    ("reclaim, allocate", ("gang", "predicates", "proportion"), "evicts-before-allocate"),
    ("preempt, allocate", ("gang", "predicates"), "evicts-before-allocate"),
    ("allocate, reclaim", ("gang", "predicates", "proportion"), ""),
    ("enqueue, allocate, reclaim", ("gang", TREE), "enqueue-keeps-from-reclaim"),
    ("enqueue, allocate, reclaim", ("gang", "capacity"), ""),
    ("allocate, reclaim", ("gang", TREE), "")])
def test_actions_that_undo_what_others_are_for(actions, plugins, rule):
    found = rules(Cluster().node("n1", cpu=4).job("a", cpu=1), actions, *plugins)
    assert found & {"evicts-before-allocate", "enqueue-keeps-from-reclaim"} == {
        *filter(None, [rule])}


@pytest.mark.parametrize("asked, found", [(3, True), (2, False)])
def test_a_share_that_is_smaller_than_any_pod_that_waits_for_it(asked, found):
    cluster = Cluster().node("n1", cpu=4).queue("a").queue("b").job("new", queue="a", cpu=asked)
    cluster.job("old", queue="b", pods=4, min_member=1, cpu=1, running={"n1": 4})
    assert ("share-below-request" in rules(cluster, "allocate", "gang", "predicates", "proportion")
            ) == found


@pytest.mark.parametrize("labels", [{"volcano.sh/nodegroup-name": "gpu"}, {}])
def test_a_queue_whose_pods_no_node_group_takes(labels):
    cluster = Cluster().node("n1", cpu=4, labels=labels).job("new", cpu=1)
    assert "node-group-unusable" in rules(cluster, "allocate", "gang", "predicates", "nodegroup")
    assert "node-group-unusable" not in rules(cluster, "allocate", "gang", "predicates")


TAINTED = """
apiVersion: v1
kind: Node
metadata: {name: n1}
spec: {taints: [{key: team, value: a, effect: NoSchedule}]}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}
---
apiVersion: v1
kind: Pod
metadata: {name: new, namespace: default}
spec: {schedulerName: volcano, nodeSelector: {disk: ssd}, containers: [{name: c, image: i}]}
"""


@pytest.mark.parametrize("plugins, found", [(("gang",), True), (("gang", "predicates"), False)])
def test_taints_and_selectors_that_no_plugin_compares(plugins, found):
    cluster = Cluster().add(TAINTED)
    said = sentences(cluster, {"actions": "allocate", "tiers": [{"plugins": [
        {"name": name} for name in plugins]}]})
    for place in ("Node n1: spec.taints", "Job default/new: spec.nodeSelector"):
        assert any(each.startswith(f"{place} has no effect: only the plugin predicates")
                   for each in said) is found


@pytest.mark.parametrize("least, small, found", [(4, 4, True), (5, 4, False), (4, 5, False)])
def test_minima_of_tasks_that_gang_does_not_count(least, small, found):
    said = sentences(Cluster().node("n1", cpu=9).add(f"""
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {{name: a, namespace: default}}
spec:
  minAvailable: {least}
  schedulerName: volcano
  tasks:
  - {{name: master, replicas: 5, minAvailable: {small}, template: &one {{spec: {{containers: [
      {{name: c, image: i, resources: {{requests: {{cpu: 1}}}}}}]}}}}}}
  - {{name: work, replicas: 1, minAvailable: 1, template: *one}}
"""))
    assert said == ["Job default/a: the minima of its tasks (master 4, work 1) have no effect: "
                    "minAvailable 4 is less than their sum of 5, so gang counts pods of any task."
                    ] * found
