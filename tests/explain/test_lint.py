"""Fields of queues that nothing reads are named, and those that are read are not."""

import pytest
from hyper_scene import hyper_node, two_tiers
from small_cluster import conf, group, node, pod, queue
from storage import claim, claims, volume

from volcano_lab import Cluster
from volcano_lab.api.objects import OwnerReference
from volcano_lab.explain.lint import contradictions, doubts, ignored_fields

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


def test_what_holds_of_several_queues_is_one_warning():
    cluster = Cluster().node("n1", cpu=4).queue("a", deserved=1).queue("b", deserved=2).queue(
        "c", weight=2).job("j", queue="a", cpu=1)
    said = [each for each in map(str, doubts(cluster.run().session)) if "deserved" in each]
    assert len(said) == 1 and said[0].startswith("Queues a, b: spec.deserved has no effect")


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
        "ResourceQuota default/q: the API server keeps spec.hard where pods are created; the "
        "scheduler does not read it, as the configuration does not name the plugin resourcequota."]
    assert sentences(cluster, CONF + "  - name: resourcequota\n") == []


def test_pods_of_a_capability_that_v1_14_0_does_not_compare():
    cluster = Cluster().node("n1", cpu=4).queue("a", capability={"cpu": "2", "pods": "1"})
    cluster.job("train", queue="a", pods=2, cpu=1)
    assert sentences(cluster) == ["Queue a: pods of its spec.capability has no effect: comparisons "
                                  "of Volcano v1.14.0 leave pods out."]
    (job,) = cluster.run(conf=CONF).session.jobs.values()
    assert job.ready_task_num() == 2


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


def test_lint_says_where_reclaim_evicts_what_queues_deserve():
    cluster = Cluster().node("n1", cpu=8).queue("new", deserved={"cpu": 2}).job(
        "new", queue="new", cpu=1)
    for name in "ab":
        cluster.queue(name, deserved={"cpu": 4}).job(
            name, queue=name, cpu=1, pods=4, min_member=1, running={"n1": 4})
    above, below = [{"name": "gang"}, {"name": "conformance"}], [{"name": "capacity"},
                                                                {"name": "predicates"}]
    for tiers, said in ([above, below], True), ([[*above, *below]], False):
        conf = {"actions": "allocate, reclaim", "tiers": [{"plugins": each} for each in tiers]}
        found = [str(finding) for finding in cluster.lint(conf)]
        assert any("reclaim asks capacity only where" in each and "(gang and conformance)" in each
                   for each in found) is said
        assert any(row[0] == "evict" for row in cluster.run(conf).committed) is said


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


@pytest.mark.parametrize(("deserved", "plugin", "found"), [
    (3, "capacity", True), (2, "capacity", False), (3, "proportion", False)])
def test_queues_that_deserve_more_than_the_cluster_has(deserved, plugin, found):
    cluster = Cluster().node("n1", cpu=4).queue("a", deserved=2).queue("b", deserved=deserved)
    assert ("deserved-above-cluster" in rules(cluster, "allocate", "gang", plugin)) == found


def test_a_share_that_is_in_use_is_not_too_small():
    cluster = Cluster().node("n1", cpu=4).queue("a").queue("b").job("new", queue="a", cpu=3)
    cluster.job("old", queue="b", pods=3, min_member=1, cpu=1, running={"n1": 3})
    cluster.job("mine", queue="a", cpu=1, running={"n1": 1})
    assert "share-below-request" not in rules(cluster, "allocate", "gang", "predicates",
                                              "proportion")


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


def notices(*objects, plugins=("gang", "predicates")):
    """What of some objects has no effect; what contradicts itself or cannot work, as a sentence
    without its end.
    """
    ssn = Cluster(objects).run(conf(*plugins)).session
    found = [(rule, str(what)) for rule, what in contradictions(ssn)]
    assert not any(text.endswith(".") for _, text in found)
    return [*map(str, ignored_fields(ssn))], found


HIERARCHY = ("gang", "predicates", "{name: capacity, enableHierarchy: true}")
TOPOLOGY = ("predicates", "{name: network-topology-aware}")


@pytest.mark.parametrize("kept, sum_of", [
    ({("a", ""): 3, ("b", ""): 1}, ""), ({("up", ""): 4, ("a", "up"): 4}, ""),
    ({("a", ""): 3, ("b", ""): 2}, "cpu 5 in sum (a 3, b 2)"),
    ({("up", ""): 4, ("a", "up"): 3, ("b", ""): 2}, "cpu 5 in sum (a 3, b 2)"),
    ({("a", ""): 5}, "cpu 5 in sum (a 5)")])
def test_guarantees_count_where_no_queue_is_below(kept, sum_of):
    """A queue's guarantee is part of that of the queue above it; of the root, too, to whose spec
    the scheduler writes the sum.
    """
    queues = [queue(name, parent=parent, guarantee={"resource": {"cpu": str(cpu)}})
              for (name, parent), cpu in kept.items()]
    found = notices(node("n1"), *queues, plugins=HIERARCHY)[1]
    assert [what for rule, what in found if rule == "guarantees-above-cluster"] == [
        f"Queues are guaranteed {sum_of}, and the cluster has cpu 4"] * bool(sum_of)


@pytest.mark.parametrize("plugins", [HIERARCHY, ("capacity",)])
def test_queues_that_are_one_anothers_parents(plugins):
    ways = [("c", "b"), ("b", "a"), ("a", "c"), ("y", "x"), ("x", "y"), ("below", "a")]
    found = notices(node("n1"), *(queue(name, parent=parent) for name, parent in ways),
                    plugins=plugins)[1]
    assert [what.partition(":")[0] for rule, what in found if rule == "queue-circle"] == [
        f"The parents of queues form a cycle ({way})" for way in (
            "a -> c -> b -> a", "x -> y -> x")] * (plugins == HIERARCHY)


@pytest.mark.parametrize("memory, found", [
    ("0", False), ("1", True), ("1048575", True), ("1048576", False), ("100M", False)])
def test_memory_without_a_unit(memory, found):
    said = notices(node("n1"), queue("a", capability={"memory": memory}))[1]
    assert said == [("memory-in-bytes", f"Queue a: spec.capability.memory is {memory}, which "
                     "counts bytes: a unit such as Gi is missing")] * found


def test_members_of_hyper_nodes_that_match_no_node():
    found = [node("n1"), hyper_node("h", 1, "node:n1", "node:n9"), hyper_node("top", 2, "h", "no"),
             hyper_node("e", 1, "regex:^gone"), hyper_node("ok", 1, "regex:^n")]
    assert notices(*found, plugins=TOPOLOGY)[1] == [
        ("hyper-node-member", "A member that HyperNodes name is no node: h: n9"),
        ("hyper-node-member", 'The selector of a HyperNode matches no node: e: {"regexMatch": '
                              '{"pattern": "^gone"}}')]


@pytest.mark.parametrize(("members", "said"), [
    ({"a": ["b"], "b": ["a"]}, "HyperNode b is below itself (b > a > b)"),
    ({"a": ["a"]}, "HyperNode a is below itself (a > a)"),
    ({"top": ["c"], "a": ["b"], "b": ["c"], "c": ["a"]}, "HyperNode b is below itself (b > c > a"),
    ({"x": ["s"], "y": ["s"], "s": ["node:n1"]}, "HyperNode s is a member of x and y, and may be"),
    ({"x": ["s"], "s": ["node:n1"]}, None)])
def test_hyper_nodes_that_form_no_tree(members, said):
    made = [hyper_node(name, tier, *below) for tier, (name, below) in enumerate(members.items(), 1)]
    found = [text for rule, text in notices(node("n1"), *made, plugins=TOPOLOGY)[1]
             if rule == "hyper-node-tree"]
    assert any(text.startswith(said) for text in found) if said else not found


NOTE, COOL = "volcano.sh/sla-waiting-time", "volcano.sh/cooldown-time"


@pytest.mark.parametrize("plugin, keys", [
    ("tdm", (COOL, NOTE)), ("sla", (COOL,)), ("cdp", (NOTE,))])
def test_annotations_whose_plugin_is_not_configured(plugin, keys):
    objects = [node("n1"), group("z", annotations={NOTE: "1h"}), group("a"), pod(
        "a-0", "a", annotations={NOTE: "1h"}, labels={COOL: "1h"}), group("b"), pod("b-0", "b")]
    places = {NOTE: "Jobs default/a, default/z", COOL: "Job default/a"}
    readers = {NOTE: "sla", COOL: "cdp"}
    assert notices(*objects, plugins=("predicates", plugin))[0] == [
        f"{places[key]}: the annotation {key} has no effect: only the plugin {readers[key]} reads "
        "it, and the configuration does not name it: add it to a tier." for key in keys]


LABEL, OWN_LABEL = "volcano.sh/queue-name", "scheduling.volcano.sh/queue-name"
OF_CONTROLLER = ("that its pods name queue b has no effect: when Volcano makes a PodGroup it "
                 f"reads their annotation {OWN_LABEL}.")
OF_OPERATOR = ("that its pods name queue b has no effect: its PodGroup is in queue default, as the "
               "operator reads it of the PyTorchJob (runPolicy.schedulingPolicy.queue).")


@pytest.mark.parametrize("name, owner, notes, said", [
    ("podgroup-x", "", {"labels": {LABEL: "b"}}, OF_CONTROLLER),
    ("podgroup-x", "", {"labels": {OWN_LABEL: "b"}}, OF_CONTROLLER),
    ("podgroup-x", "", {"labels": {OWN_LABEL: "default"}}, ""),
    ("podgroup-x", "PyTorchJob", {"labels": {LABEL: "b"}}, f"{OF_CONTROLLER[:-1]}; with --gang-"
     "scheduler-name=volcano the operator reads runPolicy.schedulingPolicy.queue of the PyTorchJob "
     "itself, not of its pods."),
    ("podgroup-x", "", {"annotations": {OWN_LABEL: "b"}}, "its pods name queue b in the annotation "
     f"{OWN_LABEL}, and its PodGroup is in queue default: Volcano's controller reads that "
     "annotation when it creates the PodGroup."),
    ("x", "", {"labels": {LABEL: "b"}}, ""), ("x", "ReplicaSet", {"labels": {LABEL: "b"}}, ""),
    ("x", "PyTorchJob", {"labels": {LABEL: "b", OWN_LABEL: "c"}}, OF_OPERATOR),
    ("x", "PyTorchJob", {"annotations": {LABEL: "b"}}, OF_OPERATOR),
    ("x", "PyTorchJob", {"labels": {LABEL: "default"}}, "")])
def test_labels_of_pods_that_name_another_queue(name, owner, notes, said):
    groups = group(name)
    if owner:
        groups = groups.changed(metadata={"owner_references": [OwnerReference(
            api_version="v1", kind=owner, name="o", uid="o")]})
    job = "default/o" if owner else f"default/{name}"
    assert notices(node("n1"), queue("b"), queue("c"), groups, pod("p", name, **notes))[0] == [
        f"Job {job}: {said}"] * bool(said)


@pytest.mark.parametrize("tier, nodes, said", [
    ("leaf", two_tiers(), ""), ("rack", two_tiers(), "no HyperNode has this tierName; there are "
                                                     "leaf, spine."),
    ("rack", [node("n1")], "no HyperNode has a tierName."), ("", two_tiers(), "")])
def test_names_of_tiers_that_no_hyper_node_has(tier, nodes, said):
    close = {"mode": "hard", **({"highestTierName": tier} if tier else {"highestTierAllowed": 1})}
    found = notices(*nodes, group("x", networkTopology=close), pod("p", "x"), plugins=TOPOLOGY)[0]
    assert found == [f"Job default/x: highestTierName {tier} has no effect: {said}"] * bool(said)


@pytest.mark.parametrize("plugins, words", [
    (("capacity",), ["spec.weight has no effect: only the plugin proportion"]),
    (("proportion",), []), (("gang",), []), (("capacity", "proportion"), [])])
def test_a_weight_has_no_effect_where_capacity_alone_shares(plugins, words):
    found = notices(node("n1"), queue("z", weight=2), queue("a", weight=2), plugins=plugins)
    assert [each.split(": ", 1)[0] for each in found[0]] == ["Queue a", "Queue z"] * len(words)
    assert all(word in each for word in words for each in found[0])
    assert [rule for rule, _ in found[1]] == ["two-shares"] * (len(plugins) > 1)


def test_the_root_has_no_parent_and_a_field_of_its_own_says_so():
    assert notices(node("n1"), queue("root", parent="a"), queue("a"), plugins=("capacity",))[0] == [
        'Queue root: spec.parent is "a" and has no effect: allowed is none, the root is above all '
        "other queues."]


@pytest.mark.parametrize("fields, names", [
    ({"deserved": {"fpga": "1"}}, []),
    ({"deserved": {"nvidia.com/gpus": "1"}}, ["spec.deserved names nvidia.com/gpus"])])
def test_resources_that_no_node_has_any_of(fields, names):
    some = node("n1", **{"example.com/fpga": "0", "nvidia.com/gpu": "2"})
    found = notices(some, queue("a", **fields), plugins=("capacity",))[0]
    assert [each.split(": ")[1].split(",")[0] for each in found] == names


@pytest.mark.parametrize("used, found", [("", True), ("10", False)])
def test_usage_that_no_node_reports(used, found):
    measured = node("n1", annotations={"volcano-lab/cpu-usage": used} if used else {})
    said = notices(measured, node("n2"), plugins=("usage",))[0]
    assert [each.partition(":")[0] for each in said] == ["Plugin usage"] * found


@pytest.mark.parametrize("modes, users, space, said", [
    ("ReadWriteOncePod", 2, "default", 2), ("ReadWriteOncePod", 1, "default", 0),
    ("ReadWriteOnce", 2, "default", 0), ("ReadWriteOncePod", 2, "team", 0)])
def test_claims_for_one_pod_that_several_name(modes, users, space, said):
    one = claim(volume="disk", modes=modes).changed(metadata={"namespace": space})
    pods = [claims("data", "other", name=f"p{number}", scheduler_name="volcano")
            for number in range(users)]
    found = notices(node("n1"), one, claim("other", volume="else"), volume(), volume("else"), *pods)
    assert [each for each in found[0] if "ReadWriteOncePod" in each] == [
        "PersistentVolumeClaim default/data: it is ReadWriteOncePod and named by 2 pods; Volcano "
        "does not look at that, and places them all."] * bool(said)


@pytest.mark.parametrize("name, found", [("gold", False), ("golden", True),
                                         ("system-node-critical", False)])
def test_a_priority_class_that_does_not_exist(name, found):
    cluster = Cluster().node("n1", cpu=4).add(f"""
{{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {{name: gold}}, value: 9}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {{name: a, namespace: default}}
spec: {{minMember: 1, priorityClassName: {name}}}
""")
    assert ["Job default/a: its PodGroup names PriorityClass golden, which does not exist (near: "
            "gold): its priority is 0 (name one that exists, or create it)"] * found == [
        str(each) for each in cluster.lint()]


def test_what_volcano_refuses_of_a_configuration_is_found_beside_what_objects_show():
    found = Cluster().queue("a", capability={"cpu": 1}, deserved={"cpu": 2}).lint(
        "actions: allocate, backfil")
    assert [(each.rule, each.level) for each in found] == [
        ("configuration-refused", "error"), ("queue-deserved-capability", "warning")]
    assert 'actions names "backfil"' in str(found.found[0])
