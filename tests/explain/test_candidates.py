"""Which changes are tried for a job that waits, by what keeps it waiting, cheapest first; then the
requests and more nodes that are tried for all.
"""

import re
from pathlib import Path

import pytest
from hyper_scene import gang, hyper_node, two_tiers
from small_cluster import conf, group, node, pod, queue

from volcano_lab import Cluster, explain as package
from volcano_lab.api.objects import OwnerReference, Taint
from volcano_lab.changes import Change
from volcano_lab.explain import Explainer
from volcano_lab.explain.candidates import candidates
from volcano_lab.explain.explanation import TABLES
from volcano_lab.explain.fields import ROLE
from volcano_lab.explain.options import Rank, World
from volcano_lab.explain.others import HOLDERS
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.manifests import loader, with_defaults

ADMITTED = conf("priority", "gang", "predicates", "proportion", actions="enqueue, allocate")
EVICTING = conf("priority", "gang", "overcommit", "predicates", "proportion",
                actions="enqueue, allocate, preempt, reclaim")
CAPACITY = conf("gang", "predicates", "capacity", actions="enqueue, allocate")
RECLAIM = CAPACITY.replace("allocate", "allocate, reclaim")
TREE = CAPACITY.replace("{name: capacity}", "{name: capacity, enableHierarchy: true}")
TOPOLOGY = conf("gang", "predicates", "network-topology-aware", actions="enqueue, allocate")
GROUPS = conf("gang", "predicates", "nodegroup", actions="enqueue, allocate")
CHEAP = {"harmless": Rank.HARMLESS, "switch": Rank.SWITCH, "queue": Rank.QUEUE, "job": Rank.JOB,
         "others": Rank.OTHERS, "less": Rank.LESS, "wait": Rank.WAIT}
OLD, NO_ENQUEUE = "wait -podgroup/default/old", "less conf/actions=allocate"
FACTOR = "queue plugin/overcommit.overcommit-factor=21.2"
NEW = "job/default/new"


def options_of(cluster, conf):
    explain = Explainer(cluster.objects(), conf, 1_800_000_000)
    seen, causes = explain.evidence, explain.why("new").causes
    return candidates(World(seen.objects, seen.ssn.conf, seen.called), seen.ssn,
                      seen.ssn.jobs["default/new"], causes)


def test_only_of_what_nodes_are_short_of_a_smaller_request_is_tried():
    cluster = Cluster([*two_tiers(), *gang("new", 3, HARD, ["n0"], cpu="3")])
    cuts = {text.rpartition(".requests.")[2].partition("=")[0] for option in options_of(
        cluster, TOPOLOGY) for text in option.most.settings if ".requests." in text}
    assert cuts == {"cpu"}


def tried(cluster, conf):
    """The price and the settings of each change; what is removed with a minus sign."""
    options, texts = options_of(cluster, conf), {rank: name for name, rank in CHEAP.items()}
    return [" ".join([texts[option.rank], *option.most.settings,
                      *(f"-{each}" for each in option.most.removals)])
            for option in options if option.rank in texts and not any(
                ".requests" in text for text in option.most.settings)]


def klass(name, value):
    return loader.from_dict({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                             "metadata": {"name": name}, "value": value})


def held(reclaimable=None, **facts):
    """Three of four CPUs are held by a job of another queue."""
    return Cluster().node("n1", cpu=4).queue("a", reclaimable=reclaimable).job(
        "old", queue="a", cpu=3, running={"n1": 1}).job("new", cpu=2, **facts)


def tainted(name, *taints, **resources):
    return node(name, **resources).changed(spec={"taints": [Taint(*each) for each in taints]})


def tolerated(key):
    return f'{NEW}.tolerations+=[{{"key": "{key}", "operator": "Exists", "effect": "NoSchedule"}}]'


def affine(key, operator, *values):
    term = {"matchExpressions": [{"key": key, "operator": operator, "values": [*values]}]}
    return {"nodeAffinity": {NEEDED: {"nodeSelectorTerms": [term]}}}


PORTS = f"job {NEW}.containers[0].ports[0].hostPort=null"
NEEDED = "requiredDuringSchedulingIgnoredDuringExecution"
OF_TERMS = f"{NEEDED}.nodeSelectorTerms[0].matchExpressions[0]"
NO_AFFINITY = f"less {NEW}.affinity.nodeAffinity=null"
ALONE = loader.from_dict({
    "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "alone", "namespace": "default"},
    "spec": {"nodeName": "n1", "containers": [{"name": "c", "resources": {
        "requests": {"cpu": "3"}}}]}, "status": {"phase": "Running"}})
GROUP_OF_NODES = "volcano.sh/nodegroup-name"
REQUIRED = f"affinity.nodeGroupAffinity.{NEEDED}"
IN_TREE = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: %s, annotations: {volcano.sh/hierarchy: root/%s,
                                   volcano.sh/hierarchy-weights: 1/1}}
"""
ORDERED = """
actions: enqueue, allocate, backfill
tiers: [{plugins: [{name: gang}, {name: drf, enableHierarchy: true}, {name: predicates},
                   {name: capacity}]}]
"""
IN_GROUP = f"""
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: a}}
spec: {{affinity: {{nodeGroupAffinity: {{{REQUIRED.rpartition('.')[2]}: [g1]}}}}}}
status: {{state: Open}}
"""
HARD = {"mode": "hard", "highestTierAllowed": 1}
TABLE = {
    "another queue holds it": (held(), ADMITTED, [
        "switch conf/actions=enqueue, allocate, reclaim", "queue queue/default.weight=1001", OLD]),
    "without enqueue none is named": (held(), conf("gang", "predicates", actions="allocate"), [
        "switch conf/actions=allocate, reclaim", OLD]),
    "a queue gives nothing back": (held(reclaimable=False), EVICTING, [
        "switch queue/a.reclaimable=true", "switch conf/actions=allocate, preempt, reclaim",
        FACTOR, "queue queue/default.weight=1001", OLD]),
    "a factor of seven digits": (held(reclaimable=False), EVICTING.replace(
        "{name: overcommit}", "{name: overcommit, arguments: {overcommit-factor: 1.234567}}"), [
        "switch queue/a.reclaimable=true", "switch conf/actions=allocate, preempt, reclaim",
        FACTOR.replace("21.2", "21.234567"), "queue queue/default.weight=1001", OLD]),
    "gang keeps all victims": (held(), EVICTING, [
        "switch plugin/gang.enableReclaimable=false",
        "switch conf/actions=allocate, preempt, reclaim", FACTOR, OLD]),
    "reclaim comes before allocate": (
        held(), conf("gang", "predicates", actions="reclaim, allocate"),
        ["switch conf/actions=allocate, reclaim", OLD]),
    "a less important job of its queue holds it": (
        Cluster().node("n1", cpu=4).add(klass("low", -1)).job(
            "old", cpu=3, running={"n1": 1}, priority_class="low").job("new", cpu=2), ADMITTED,
        ["switch conf/actions=allocate, preempt", "switch conf/actions=enqueue, allocate, preempt",
         NO_ENQUEUE, OLD]),
    "a more important job waits, too": (
        held().add(klass("high", 7)).job("other", cpu=3, priority_class="high"), ADMITTED,
        ["switch plugin/priority.enableJobOrder=false",
         "switch conf/actions=enqueue, allocate, reclaim", f"job {NEW}.priority=8",
         f"others {NEW}.queue=a", NO_ENQUEUE]),
    "a more important job holds it": (
        Cluster().node("n1", cpu=4).add(klass("high", 9)).job(
            "old", cpu=4, running={"n1": 1}, priority_class="high").job("new", cpu=2),
        conf("priority", "gang", "predicates", actions="enqueue, allocate, preempt"),
        [f"switch {NEW}.priority=10", OLD]),
    "its queue may hold no more, and others are guaranteed some": (
        Cluster().node("n1", cpu=8).queue("a", capability=2).queue("b").queue("c", guarantee=3).job(
            "old", queue="a", cpu=1, running={"n1": 1}).job("new", queue="a", cpu=2), CAPACITY,
        ["switch conf/actions=enqueue, allocate, preempt", "queue queue/a.capability.cpu=3",
         "queue queue/c.guarantee.resource.cpu=0",
         *(f"others {NEW}.queue={name}" for name in ("b", "c", "default")), NO_ENQUEUE, OLD]),
    "its queue may hold no more of the job's pods": (
        Cluster().node("n1", cpu=4).queue("a", capability=4).job(
            "new", queue="a", pods=4, min_member=1, cpu=2, running={"n1": 2}), CAPACITY,
        ["queue queue/a.capability.cpu=8", f"others {NEW}.queue=default"]),
    "its queue deserves less than it asks for": (
        Cluster().node("n1", cpu=8).queue("a", deserved=2).queue("b", deserved=4).job(
            "old", queue="b", pods=8, min_member=1, cpu=1, running={"n1": 8}).job(
            "new", queue="a", cpu=3), RECLAIM, ["queue queue/a.deserved.cpu=3", "less " + " ".join(
                f"-pod/default/old-{number}" for number in range(1, 8)), OLD]),
    "a gang that needs all its pods holds it": (
        Cluster().node("n1", cpu=8).queue("a").queue("b").job(
            "old", queue="b", pods=8, cpu=1, running={"n1": 8}).job("new", queue="a", cpu=3),
        RECLAIM.replace("capacity", "proportion"),
        ["switch plugin/gang.enableReclaimable=false", "others job/default/old.minAvailable=1",
         OLD]),
    "a queue of a higher priority came first": (
        Cluster().node("n1", cpu=4).queue("a", priority=5).queue("b").job(
            "old", queue="a", cpu=3).job("new", queue="b", cpu=3), CAPACITY,
        ["switch plugin/capacity.enableQueueOrder=false",
         "switch conf/actions=enqueue, allocate, reclaim", "queue queue/b.priority=6", OLD]),
    "its queue is closed, and the one above": (
        Cluster([queue("up", state="Closed"), queue("a", parent="up", state="Closed"),
                 queue("b")]).node("n1", cpu=8).job("new", queue="a", cpu=2), TREE,
        ["switch queue/up.status.state=Open queue/a.status.state=Open", f"others {NEW}.queue=b",
         f"others {NEW}.queue=default"]),
    "a PodGroup without pods has reserved it": (
        Cluster().node("n1", cpu=4).add(group("g1", minResources={"cpu": "2"})).job("new", cpu=4),
        EVICTING, ["harmless -podgroup/default/g1", FACTOR,
                   "less conf/actions=allocate, preempt, reclaim"]),
    "a pod that nothing creates again holds it": (
        Cluster([node("n1"), ALONE]).job("new", cpu=2), ADMITTED, ["less -pod/default/alone"]),
    "gangs that are short of pods hold it": (
        Cluster().node("n1", cpu=4).job("x", pods=3, cpu=1, running={"n1": 2}).job(
            "y", pods=4, cpu=1, running={"n1": 2}).job("new", cpu=1), ADMITTED,
        [f"job {NEW}.priority=1", "others -podgroup/default/x -podgroup/default/y",
         "others -podgroup/default/y", NO_ENQUEUE]),
    "nodes have taints": (
        Cluster([tainted("n1", ("k", "", "NoSchedule"), ("soft", "", "PreferNoSchedule")),
                 tainted("n2", ("node.kubernetes.io/unreachable", "", "NoExecute")),
                 tainted("n3", ("node.kubernetes.io/unschedulable", "", "NoSchedule")),
                 tainted("g1", ("gpu", "", "NoSchedule"), **{"nvidia.com/gpu": "1"})]).job(
            "new", cpu=2), ADMITTED,
        ["queue node/n2.taints=[]", f"job {tolerated('k')}", 'others node/n1.taints=[{"key": '
         '"soft", "effect": "PreferNoSchedule"}]', f"others {tolerated('gpu')}"]),
    "one of the nodes is a control plane": (
        Cluster([node("n1"), tainted("c1", (f"{ROLE}control-plane", "", "NoSchedule"))]).job(
            "old", cpu=4, running={"n1": 1}).job("new", cpu=2), conf(
                "priority", "gang", "predicates"),
        [f"less {tolerated(f'{ROLE}control-plane')}", OLD]),
    "each node is one of a control plane": (
        Cluster([tainted("c1", (f"{ROLE}master", "", "NoSchedule"))]).job("new", cpu=2),
        conf("gang", "predicates"), [f"job {tolerated(f'{ROLE}master')}",
                                     "others node/c1.taints=[]"]),
    "its own pods request a port of the node": (
        Cluster([node("n1"), group("new", minMember=2), *(pod(
            f"new-{number}", "new", host_port=80) for number in range(2))]), ADMITTED,
        ["switch plugin/binpack.tier=1", PORTS, f"less {NEW}.minAvailable=1"]),
    "another job has the port of the node": (
        Cluster([node("n1"), group("old"), pod("old-0", "old", "n1", host_port=80),
                 group("new"), pod("new-0", "new", host_port=80)]), ADMITTED,
        [PORTS, OLD]),
    "a pod in the network of the node requests a port": (
        Cluster([node("n1"), group("old"), pod("old-0", "old", "n1", host_port=80), group("new"),
                 pod("new-0", "new", host_port=80, hostNetwork=True)]), ADMITTED, [OLD]),
    "a node has as many pods as it may have": (
        Cluster([node("n1", pods="2"), group("old", minMember=2), *(pod(
            f"old-{number}", "old", "n1") for number in range(2)), group("new"),
                 pod("new-0", "new")]), ADMITTED, ["others node/n1.allocatable.pods=3", OLD]),
    "its node affinity names a value nearly as nodes have it": (
        Cluster([node("n1", labels={"rack": "west-07"}), group("new"), pod(
            "new-0", "new", affinity=affine("rack", "In", "wset-07"))]), ADMITTED,
        [f'job {NEW}.affinity.nodeAffinity.{OF_TERMS}.values=["west-07"]', NO_AFFINITY]),
    "its node affinity requires a label that no node has": (
        Cluster([node("n1", labels={"rack": "r1"}), group("new"), pod(
            "new-0", "new", affinity=affine("fast", "Exists"), nodeSelector={"rack": "r1"})]),
        ADMITTED, ['others node/n1.metadata.labels.fast="true"', f"less {NEW}.nodeSelector={{}}",
                   NO_AFFINITY]),
    "nodes are cordoned": (
        Cluster([node("n1", unschedulable=True), node("n2", unschedulable=True)]).job(
            "new", cpu=2), ADMITTED,
        ["switch node/n1.unschedulable=false", "switch node/n2.unschedulable=false",
         "switch node/n1.unschedulable=false node/n2.unschedulable=false"]),
    "no node has its label, but one a similar one": (
        Cluster([node("n1", labels={"zone": "east-1"}), group("new"), pod("new-0", "new",
                 nodeSelector={"zone": "eest-1", "kubernetes.io/arch": "amd64"})]), ADMITTED,
        [f'job {NEW}.nodeSelector={{"zone": "east-1", "kubernetes.io/arch": "amd64"}}',
         f'less {NEW}.nodeSelector={{"kubernetes.io/arch": "amd64"}}']),
    "no node has its label, nor a similar one": (
        Cluster([node("n1", labels={"zone": "east-1"}), group("new"), pod(
            "new-0", "new", nodeSelector={"zone": "moon"})]), ADMITTED,
        [f"less {NEW}.nodeSelector={{}}"]),
    "a role of the minimum is called otherwise": (
        Cluster([node("n1"), group("new", minMember=3, minTaskMember={"ps": 1, "workers": 2}),
                 *(pod(f"new-{number}", "new", role=role) for number, role in enumerate(
                     ("ps", "worker", "worker")))]), ADMITTED,
        [f"harmless {NEW}.minTaskMember.workers=null {NEW}.minTaskMember.worker=2",
         f"job {NEW}.minTaskMember.workers=0"]),
    "too few of its pods exist": (
        Cluster([node("n1"), group("new", minMember=3), pod("new-0", "new")]), ADMITTED,
        [f"job {NEW}.minAvailable=1"]),
    "no HyperNode of its tier holds it": (
        Cluster([*two_tiers(), *gang("new", 3, HARD, cpu="4")]), TOPOLOGY,
        ["switch plugin/binpack.tier=1", f"job {NEW}.networkTopology.highestTierAllowed=9",
         f"job {NEW}.networkTopology.mode=soft", f"less {NEW}.minAvailable=1"]),
    "an idle node is in no HyperNode": (
        Cluster([*two_tiers(), *gang("old", 2, None, ["n0", "n1"]), node("out"),
                 *gang("new", 3, HARD, cpu="4")]), TOPOLOGY,
        ["switch plugin/binpack.tier=1", f"job {NEW}.networkTopology.highestTierAllowed=9",
         f"job {NEW}.networkTopology.mode=soft",
         *(f'others hypernode/{leaf}.members+=[{{"type": "Node", "selector": {{"exactMatch": '
           f'{{"name": "out"}}}}}}]' for leaf in ("s1", "s0")), f"less {NEW}.minAvailable=1"]),
    "a HyperNode names a node wrongly": (
        Cluster([node("gpu-01"), node("gpu-02"), hyper_node("s0", 1, "node:gpu-1", "node:gpu-02"),
                 *gang("new", 2, HARD, cpu="4")]), TOPOLOGY,
        ["harmless hypernode/s0.members.0.selector.exactMatch.name=gpu-01",
         "switch plugin/binpack.tier=1",
         f"job {NEW}.networkTopology.highestTierAllowed=9", f"job {NEW}.networkTopology.mode=soft",
         f"less {NEW}.minAvailable=1"]),
    "its queue requires nodes of a group": (
        Cluster([node("n1", labels={GROUP_OF_NODES: "g2"}), node("n2")]).add(IN_GROUP).job(
            "new", queue="a", cpu=2), GROUPS,
        [f'queue queue/a.{REQUIRED}=["g1", "g2"]',
         f"queue node/n2.metadata.labels[{GROUP_OF_NODES}]=g1",
         f"others node/n1.metadata.labels[{GROUP_OF_NODES}]=g1", f"others {NEW}.queue=default"]),
    "drf orders a tree of queues beside capacity": (
        Cluster([node("n1", cpu="1")]).add(IN_TREE % ("a", "a"), IN_TREE % ("b", "b")).job(
            "other", queue="a", cpu=1).job("new", queue="b", cpu=1), ORDERED,
        ["switch conf/actions=enqueue, allocate, reclaim, backfill", "job queue/b.priority=1",
         "wait -podgroup/default/other"]),
    "its queue requires no group": (
        Cluster([node("n1", labels={GROUP_OF_NODES: "g2"})]).job("new", cpu=2), GROUPS,
        ["switch plugin/nodegroup.strict=false", f'queue queue/default.{REQUIRED}=["g2"]']),
}


@pytest.mark.parametrize("sentence", TABLE)
def test_the_changes_that_are_tried_for_a_job_that_waits(sentence):
    cluster, settings, changes = TABLE[sentence]
    assert tried(cluster, settings) == changes, sentence


def sizes(cluster, conf):
    """By how much requests become smaller, and nodes more: about as much as it takes, at most."""
    ranges = [(option.at(option.first).settings, option.most.settings)
              for option in options_of(cluster, conf) if any(
                  ".requests" in text or ".more" in text or ".minResources" in text
                  for text in option.most.settings)]
    return [" ".join(dict.fromkeys(text.removeprefix(f"{NEW}.") for settings in both
                                   for text in settings)) for both in ranges]


def one(**more):
    return Cluster().node("n1", cpu=4, **more)


def devices(**new):
    """A node with two GPUs, and a job."""
    return Cluster([node("n1", **{"nvidia.com/gpu": "2"})]).job("new", cpu=1, **new)


def bought(count, **amounts):
    amounts = "".join(f', "{name.replace("_", ".").replace("..", "/")}": "{amount}"'
                      for name, amount in amounts.items())
    return f'node/n1.more={{"count": {count}{amounts}}}'


def more(name, first, most):
    return f"node/{name}.more={first} node/{name}.more={most}"


SIZES = {
    "larger than any node": (one().job("new", cpu=6), ADMITTED, [
        "requests.cpu=4", "requests.cpu=4 requests.cpu=1",
        f"{bought(1, cpu=6)} {bought(2, cpu=6)}"]),
    "beside another": (one().job("old", cpu=3, running={"n1": 1}).job("new", cpu=3), ADMITTED, [
        "requests.cpu=1", more("n1", 1, 2)]),
    "beside another with devices": (devices(gpu=2, pods=2), ADMITTED, [
        "requests[nvidia.com/gpu]=1", more("n1", 1, 2)]),
    "beside another that takes nearly all": (
        one().job("old", cpu="3500m", running={"n1": 1}).job("new", cpu="700m"), ADMITTED,
        ["requests.cpu=600m", "requests.cpu=500m requests.cpu=100m", more("n1", 1, 2)]),
    "more pods than fit": (one().job("new", pods=4, cpu=2), ADMITTED, [
        "requests.cpu=1", more("n1", 1, 2)]),
    "on nodes of two sizes": (one().node("n2", cpu=8).job("new", pods=4, cpu=3, min_member=3),
                              ADMITTED, ["requests.cpu=2 requests.cpu=1",
                                         more("n1", 1, 2), more("n2", 1, 2)]),
    "two resources": (one(memory="4Gi").job("new", cpu=6, memory="8Gi"), ADMITTED, [
        "requests.cpu=4", "requests.memory=6Gi", "requests.cpu=4 requests.cpu=1",
        "requests.memory=4Gi requests.memory=1Gi",
        f"{bought(1, cpu=6, memory='8Gi')} {bought(2, cpu=6, memory='8Gi')}"]),
    "more devices than a node has": (devices(gpu=3), ADMITTED, [
        "requests[nvidia.com/gpu]=1",
        f"{bought(1, nvidia_com__gpu=3)} {bought(2, nvidia_com__gpu=3)}"]),
    "a device by a wrong name": (devices(resources={"nvidia.com/gpus": 1}), ADMITTED, [
        "requests[nvidia.com/gpus]=null requests[nvidia.com/gpu]=1"]),
    "a device by both names": (devices(gpu=1, resources={"nvidia.com/gpus": 1}), ADMITTED, [
        "requests[nvidia.com/gpus]=null",
        f"{bought(1, nvidia_com__gpus=1)} {bought(2, nvidia_com__gpus=1)}"]),
    "devices that no node has": (
        one().job("new", cpu=1, pods=3, resources={"example.com/x": 2}), ADMITTED,
        ["requests[example.com/x]=1",
         f"{bought(1, example_com__x=6)} {bought(2, example_com__x=6)}"]),
    **{f"{pods} pods with {each} of a device": (
        one().job("new", cpu=1, pods=pods, min_member=least, resources={"example.com/x": each}),
        conf("gang", "predicates", actions="allocate"), [*smaller, (
            f"{bought(first, example_com__x=on_each)} {bought(2 * first, example_com__x=on_each)}"
        )]) for pods, least, each, on_each, first, smaller in (  # a node has about 8 of them
            (3, 3, 1, 3, 1, []), (5, 2, 2, 4, 1, ["requests[example.com/x]=1"]),
            (5, 5, 2, 8, 2, ["requests[example.com/x]=1"]),
            (2, 2, 16, 16, 2, ["requests[example.com/x]=1"]))},
    "a node for each pod": (one().job("new", pods=3, cpu=3), ADMITTED, [
        "requests.cpu=1", more("n1", 2, 4)]),
    "a whole node for each pod": (one().job("new", pods=4, cpu=4), ADMITTED, [
        "requests.cpu=3", "requests.cpu=1", more("n1", 3, 6)]),
    "eight times as much as the largest node has": (
        one(memory="1Gi").job("new", cpu=1, memory="8Gi"), ADMITTED, [
            "requests.memory=6Gi", "requests.memory=1Gi",
            f"{bought(1, memory='8Gi')} {bought(2, memory='8Gi')}"]),
    "more than any node is likely to have": (
        one(memory="1Gi").job("new", cpu=1, memory="9Gi"), ADMITTED, [
            "requests.memory=6Gi", "requests.memory=1Gi"]),
    "one beside a gated one": (
        Cluster([node("n1"), group("new"), *(pod(
            f"new-{cpu}", "new", requests={"cpu": cpu}, schedulingGates=[{"name": "g"}] * gated)
            for cpu, gated in (("6", 1), ("5", 0)))]), ADMITTED, [
            "requests.cpu=4", "requests.cpu=4 requests.cpu=1",
            f"{bought(1, cpu=5)} {bought(2, cpu=5)}"]),
    "none but a gated one": (
        Cluster([node("n1"), group("new"), pod("new-0", "new", requests={"cpu": "6"},
                                               schedulingGates=[{"name": "g"}])]), ADMITTED, []),
    "CPUs in thousandths": (one().job("new", cpu=2000), ADMITTED, ["requests.cpu=2000m"]),
    "more than its queue may hold": (
        one().queue("a", capability=2).job("new", queue="a", pods=2, cpu=2), CAPACITY,
        ["requests.cpu=1", more("n1", 1, 2)]),
    "more than overcommit admits": (one().job("new", pods=8, cpu=1), EVICTING, [
        "requests.cpu=800m", "requests.cpu=500m requests.cpu=100m", more("n1", 1, 2)]),
    "a group that reserves more than its pods request": (
        Cluster([node("n1"), group("new", phase="Pending", minResources={"cpu": "9"}),
                 pod("new-0", "new", requests={"cpu": "2"})]), ADMITTED,
        ["minResources.cpu=2", more("n1", 2, 4)]),
    "on nodes of a label": (
        Cluster([node("n1", labels={"z": "a"}), node("n2", cpu="8"), group("new"), pod(
            "new-0", "new", requests={"cpu": "6"}, nodeSelector={"z": "a"})]), ADMITTED,
        ["requests.cpu=5", "requests.cpu=4 requests.cpu=1",
         f"{bought(1, cpu='6')} {bought(2, cpu='6')}"]),
    "pods above the minimum": (
        one().job("new", pods=4, min_member=1, cpu=2, running={"n1": 2}), ADMITTED,
        ["requests.cpu=1", more("n1", 1, 2)]),
}


@pytest.mark.parametrize("sentence", SIZES)
def test_the_requests_and_nodes_that_are_tried_for_a_job_that_waits(sentence):
    cluster, settings, changes = SIZES[sentence]
    assert sizes(cluster, settings) == changes, sentence


@pytest.mark.long
@pytest.mark.parametrize("others, raised", [
    ({"cpu": 2}, "deserved cpu 0 -> 2 "),
    ({"cpu": 2, "memory": "1Gi"}, "deserved cpu 0, memory 0 -> cpu 2, memory 2Gi ")])
def test_of_what_queues_deserve_only_resources_are_raised_that_one_names(others, raised):
    cluster = Cluster().node("n1", cpu=4, memory="8Gi").queue("a", deserved=others).queue("b")
    cluster.job("old", queue="a", pods=4, min_member=1, cpu=1, memory="1Gi", running={"n1": 4})
    found = cluster.job("train", queue="b", pods=2, cpu=1, memory="1Gi").why("train", conf=conf(
        "gang", "predicates", "capacity", actions="allocate, reclaim"))
    assert str(found.remedies[0]).startswith(f"queue b: {raised}")


@pytest.mark.long
def test_a_capability_is_raised_until_no_pod_is_evicted_for_it():
    """By admission alone fewer are enough: what others hold above their minimums is left out."""
    cluster = Cluster().node("n1", cpu=8).node("n2", cpu=8).queue("top", capability=6).queue(
        "a", parent="top", deserved=2).queue("b", parent="top", deserved=4)
    cluster.job("old", queue="a", pods=6, min_member=5, cpu=1, running={"n1": 6})
    found = cluster.job("train", queue="b", pods=2, cpu=1).why("train", conf=conf(
        "gang", "predicates", "{name: capacity, enableHierarchy: true}",
        actions="enqueue, allocate, reclaim"))
    first = found.remedies[0]
    assert str(first).startswith("queue top: capability cpu 6 -> 8 ") and not first.price.evicts


@pytest.mark.long
@pytest.mark.parametrize(("evicts", "alone"), [(False, 3), (True, None)])
def test_only_jobs_that_were_short_before_the_cycle_are_deleted(evicts, alone):
    """Jobs below their minimum, all at once or the first ones alone; none that this cycle evicts:
    they keep the pod on a node that the new job may not use.
    """
    cluster = Cluster([tainted("far", ("team", "b", "NoSchedule"), cpu="9"), klass("high", 9)])
    for number in range(5):
        cluster.node(f"n{number}", cpu=1).job(
            f"old-{number}", pods=2 if evicts else 3, cpu=1, min_member=2 if evicts else 3,
            running={f"n{number}": 1, "far": 1})
    changes = tried(cluster.job("new", pods=9, min_member=5, cpu=1, priority_class="high"), conf(
        "priority", "predicates", actions=f"allocate{', preempt' * evicts}"))
    deleted = [text.count("-podgroup") for text in changes if text.startswith("others -")]
    assert deleted == ([] if alone is None else [5, *[1] * alone])


def test_no_node_that_announces_volumes_is_bought():
    """A CSINode offers these, and a driver that none offers has a change of its own."""
    cluster = Cluster().node("n1", cpu=4).job("new", cpu=2).add("""
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: default},
 spec: {storageClassName: local, accessModes: [ReadWriteOnce],
        resources: {requests: {storage: 1Gi}}}}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: local},
 provisioner: kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer}
""")
    claimed = [obj.changed(spec={"volumes": [
        {"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]}) if obj.kind == "Pod"
        else obj for obj in cluster.objects()]
    texts = [text for option in options_of(Cluster(claimed), ADMITTED)
             for text in option.most.settings]
    assert "conf/ignored-provisioners=kubernetes.io/no-provisioner" in texts
    assert any(".more=" in text for text in texts)
    assert not any("attachable-volumes" in text for text in texts)


@pytest.mark.parametrize(("asked", "left", "count"), [
    (8, 7, 4), (6, 4, 3), (3, 2, 1), (20, 19, 19)])
def test_of_a_few_devices_a_part_is_requested_that_divides_them(asked, left, count):
    cluster = Cluster().node("n1", cpu=8, gpu=asked).job("old", cpu=1, gpu=asked - left,
                                                         running={"n1": 1})
    found = cluster.job("new", cpu=1, gpu=asked).why("new", conf=(
        'actions: "allocate"\ntiers: [{plugins: [{name: gang}, {name: predicates}]}]'))
    assert f"job default/new: request per pod nvidia.com/gpu {asked} -> {count}" in [
        remedy.change for remedy in found.remedies]


def test_less_that_is_guaranteed_to_a_queue_says_what_that_costs_it():
    cluster = Cluster().node("n1", cpu=8).queue("a").queue("b", guarantee=4, deserved=4)
    found = cluster.job("new", queue="a", cpu=6).why("new")
    assert ("queue b: guarantee.resource cpu 4 -> 2 (new is placed on n1; queue b is sure of less: "
            "its next jobs may wait)") in map(str, found.remedies)


def test_fewer_pods_are_offered_of_some_holders_only():
    cluster = Cluster().job("new", cpu=2)
    for number in range(2 * HOLDERS):
        cluster.node(f"n{number}", cpu=2).job(
            f"old{number}", pods=2, min_member=1, cpu=1, running={f"n{number}": 2})
    found = options_of(cluster, conf("gang", "predicates", actions="allocate"))
    assert sum(option.most.removals[:1] != () and option.most.removals[0].startswith("pod/")
               for option in found) == HOLDERS


@pytest.mark.parametrize("owner", ["", "ReplicaSet"])
def test_only_pods_that_their_owner_creates_again_are_removed_from_the_manifests(owner):
    """Without them the objects stay the same ones: those that differ are read again."""
    made = pod("a", "g", "n1", "Running")
    refs = [OwnerReference("apps/v1", owner, "web", controller=True)] if owner else []
    given = [node("n1"), group("g"), made.changed(metadata={"owner_references": refs})]
    objects = with_defaults(given)
    after = World(objects, load_conf()).applied(Change(removals=("pod/default/a",)))[0]
    same = [obj for obj in after if any(obj is each for each in objects)]
    assert len(same) == (0 if owner else len(objects) - 1)


WITHOUT = {
    "holders, requests, nodes and other queues are tried whatever the cause is": """
        anti_affinity host_ports spread_label volume_limit volume_zone pod_too_large insufficient
        cluster_too_small never_whole no_nodes only_node crowded role_failed stranded reserving
        refused
        quota_used queue_over_deserved real_capability min_resources_ahead""",
    "it ends by itself": """
        promised bound pods_later room_taken queue_opened queue_promised scales
        protected_by_cooldown fits_now refused_for""",
    "an object, a plugin of the cluster or a part of Volcano is not among what is given": """
        node_missing volume_missing no_operator nodes_unseen waited claims_unknown claims_off
        beyond_answer beyond_tier hyper_nodes_not_ready no_pods not_starving""",
    "its changes are found elsewhere":
        "argument_slip unplaceable beyond left_out cluster_loops failed topology_outside queue_due",
    "it says more of another cause": """
        best_effort_queue created_by deadline known_defect unknown gang_minimum in_part no_gang
        no_gang.owner no_gang.apart no_gang.slip group_unread quota_counts evicts_for_admitted
        despite admitted_early guaranteed guaranteed.limit guaranteed.used
        hierarchical_order preempt_order protected protected_by_conformance pending_policy
        queue_stays topology_outside tried_before""",
    "it answers another question": """
        best_score passed spread place node_fits node_later no_pod_waits jobs_wait
        queue_above_limit topology_outside placed
        met_nothing too_near evict_head evict_no_pdb evict_order evict_policy
        evicted_again evicted_before evicted_for less_important_claimant passed pods_leave
        starving_beyond taken.changes taken_again victim"""}
"""Why no row of the table of changes has a cause."""


def test_every_kind_of_cause_has_changes_or_a_reason_why_it_has_none():
    text = "".join(path.read_text() for path in Path(package.__file__).parent.glob("*.py"))
    codes = {*re.findall(r'Cause(?:\.of)?\(\s*f?"([a-z_.]+)"', text),
             *(value.split()[0] for value in TABLES["rules"].values()),
             *TABLES["protection"].values()}
    assert not codes - {*TABLES["changes"]} - {*" ".join(WITHOUT.values()).split()}


@pytest.mark.parametrize("name", ["prioritty", "Priority", "prio"])
def test_a_plugin_that_is_named_by_a_slip_is_offered_by_its_name(name):
    cluster = Cluster().node("n1", cpu=4).add(klass("high", 9)).job(
        "old", cpu=4, running={"n1": 1}).job("new", cpu=2, priority_class="high")
    found = tried(cluster, conf(name, "gang", "predicates", actions="allocate, preempt"))
    assert (f"harmless plugin/{name}.tier=null plugin/priority.tier=1" in found) is (
        name != "prio")


def test_the_limit_of_a_queue_above_is_raised_by_what_is_guaranteed_below_it():
    cluster = Cluster().node("n1", cpu=32).queue("org", parent="root", capability={"cpu": 8})
    cluster.queue("root")
    for name in "ab":
        cluster.queue(name, parent="org", guarantee=6, deserved=6)
    found = cluster.queue("c", parent="org").job("new", queue="c", cpu=2).why("new", conf=TREE)
    assert [each.change for each in found.remedies][:3] == [
        "queue org: capability cpu 8 -> 14", "queue a: guarantee.resource cpu 6 -> 0",
        "queue b: guarantee.resource cpu 6 -> 0"]
