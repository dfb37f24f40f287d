"""Two or three things that each keep a job from its places: one change for all of them is offered,
and holds.
"""

from itertools import combinations
from random import Random

import pytest
from hyper_scene import gang, two_tiers
from small_cluster import conf

from volcano_lab import Cluster
from volcano_lab.manifests.loader import loads

CONF = conf("priority", "gang, enablePreemptable: false", "overcommit", "drf", "predicates",
            "capacity", actions="enqueue, allocate, preempt, reclaim")
NODE = """apiVersion: v1
kind: Node
metadata: {name: %s, labels: {pool: gpu}}
spec: {unschedulable: %s, taints: [%s]}
status: {allocatable: {cpu: "8", memory: 32Gi, pods: "%s"}}
"""
QUEUES = """apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: team}
spec: {capability: {cpu: "%s"}}
status: {state: %s}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: other}
spec: {guarantee: {resource: {cpu: "%s"}}}
"""
QUOTA = """apiVersion: v1
kind: ResourceQuota
metadata: {name: quota, namespace: ml}
spec: {hard: {requests.cpu: "%s"}}
status: {hard: {requests.cpu: "%s"}}
"""
RANGE = """apiVersion: v1
kind: LimitRange
metadata: {name: range, namespace: ml}
spec: {limits: [{type: Pod}, {type: Container, default: {cpu: "%s"}}]}
"""
JOB = """apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train, namespace: ml}
spec: {queue: %s, minAvailable: %s, schedulerName: %s, tasks: [{name: worker, replicas: 3,
 template: {spec: {nodeSelector: {%s}, schedulingGates: [%s], affinity: {%s}, containers: [{name: c,
 ports: [%s], resources: {requests: {cpu: "2", memory: 4Gi}}}]}}}]}
"""
APART = ("podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: pool, "
         "labelSelector: {matchLabels: {volcano.sh/job-name: train}}}]}")
BLOCKERS = {
    "taint": {"taint": "{key: gpu, effect: NoSchedule}"}, "cordon": {"cordoned": 3},
    "capability": {"capability": 4}, "closed": {"state": "Closed"}, "minimum": {"least": 4},
    "label": {"label": "pool: gpus"}, "quota": {"quota": 3}, "guarantee": {"guarantee": 20},
    "apart": {"apart": APART}, "host port": {"port": "{containerPort: 8, hostPort: 8}",
                                             "cordoned": 1},
    "gate": {"gate": "{name: a/b}"}, "scheduler": {"scheduler": "default-scheduler"},
    "queue": {"queue": "teem"}, "range": {"limit": 1},
    "one node": {"label": "kubernetes.io/hostname: n0", "cordoned": 1}}
"""What keeps the job waiting, by the fields that differ from a job that runs."""
PAIRS = [*combinations(BLOCKERS, 2)]
THREE = Random(1).sample([*combinations(BLOCKERS, 3)], 40)
FAST = [("capability", "apart"), ("host port", "minimum"), ("host port", "gate"),
        ("one node", "host port"), ("quota", "one node"), ("cordon", "apart"), ("taint", "closed"),
        ("queue", "scheduler"), ("cordon", "queue"), ("range", "taint"),
        ("capability", "label", "gate"), ("closed", "quota", "taint"),
        ("minimum", "label", "scheduler")]


def cluster(taint="", cordoned=0, capability=24, state="Open", least=3, label="", quota=99,
            guarantee=0, apart="", port="", gate="", scheduler="volcano", queue="team",
            limit=9):
    nodes = [NODE % (f"n{number}", str(number < cordoned).lower(), taint, 110)
             for number in range(3)]
    return Cluster(loads("---\n".join([
        *nodes, QUEUES % (capability, state, guarantee), QUOTA % (quota, quota), RANGE % limit,
        JOB % (queue, least, scheduler, label, gate, apart, port)])))


def blocked(*names):
    fields = {}
    for name in names:
        fields |= BLOCKERS[name] if not {*fields} & {*BLOCKERS[name]} else {}
    return cluster(**fields)


def test_the_job_runs_without_a_blocker():
    assert "does not wait" in cluster().why("train", conf=CONF).head


def holds(*names):
    """Whether the first change that is offered places the job; None without one."""
    return first_holds(blocked(*names))


def first_holds(world):
    remedies = [*world.why("train", conf=CONF).remedies_within(60)]
    return world.what_if(*remedies[0].tried.settings, remove=remedies[0].tried.removals,
                         base_conf=CONF).holds("train", "placed") if remedies else None


@pytest.mark.parametrize("names", [*FAST, *(pytest.param(names, marks=pytest.mark.slow)
                                            for names in PAIRS if names not in FAST)], ids="+".join)
def test_a_change_is_offered_that_holds(names):
    assert holds(*names)


@pytest.mark.slow
def test_for_three_blockers_a_change_is_offered_that_holds():
    found = [holds(*names) for names in THREE]
    assert False not in found
    assert found.count(None) <= 4


@pytest.mark.long
def test_a_change_may_open_the_next_one_where_the_first_line_stays_the_same():
    sick = "{key: gpu, effect: NoSchedule}, {key: node.kubernetes.io/not-ready, effect: NoSchedule}"
    world = cluster(taint=sick, quota=3)
    change = next(iter(world.why("train", conf=CONF).remedies_within(60))).change
    assert all(part in change for part in (
        "requests.cpu 3 -> 6", "repair node n0", "a toleration of gpu:NoSchedule"))
    assert first_holds(world)


@pytest.mark.long
def test_more_is_offered_than_a_lower_minimum_where_only_that_helps_alone():
    found = Cluster([*two_tiers(cpu="8"), *gang(
        "train", 10, {"mode": "hard", "highestTierAllowed": 1}, cpu="3")]).why(
        "train", conf=conf("gang", "predicates", "proportion", "network-topology-aware"))
    changes = [remedy.change for remedy in found.remedies_within(20)]
    wider = "both: job default/train: networkTopology.highestTierAllowed 1 -> 2"
    assert changes[-1] == "job default/train: minMember 10 -> 4"
    assert any(change.startswith(wider) for change in changes)
    assert any(change.endswith("more nodes like n0") for change in changes)


SIZED = """\
{{apiVersion: v1, kind: Node, metadata: {{name: {name}}}, spec: {{taints: [{taints}]}},
  status: {{allocatable: {{cpu: {cpu}, memory: 64Gi, pods: 20}}}}}}
"""
AGENT = """\
apiVersion: v1
kind: Pod
metadata: {name: agent, namespace: kube-system, ownerReferences: [
  {apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: w, controller: true}]}
spec: {nodeName: open, containers: [{name: c, resources: {requests: {cpu: 350m}}}]}
status: {phase: Running}
"""


@pytest.mark.long
@pytest.mark.parametrize(("asked", "head"), [
    (70, "train waits for a larger node: cpu 70 requested, the largest has 64. "),
    (40, "train waits for a node that fits: 2 of 2 large enough have a taint. ")])
def test_a_pod_larger_than_each_node_waits_for_a_larger_one_whatever_their_taints(asked, head):
    cluster = Cluster()
    for name, cpu, taints in (("a", 64, "{key: x, effect: NoSchedule}"), ("open", 32, ""),
                              ("b", 64, "{key: x, effect: NoSchedule}")):
        cluster.add(SIZED.format(name=name, cpu=cpu, taints=taints))
    answer = cluster.add(AGENT).job("train", cpu=asked).why("train")
    assert answer.text.startswith(head)
    changes = [each.change for each in answer.remedies]
    assert ("1 more node like open with cpu 70400m" in changes) is (asked == 70)


@pytest.mark.long
@pytest.mark.parametrize(("cpu", "node"), [(8, "4 more nodes like n1 announcing nvidia.com/gpu 1"),
                                           (2, "1 more node like n1 announcing nvidia.com/gpu 4")])
def test_a_node_that_is_bought_has_devices_for_as_many_pods_as_fit_on_it(cpu, node):
    cluster = Cluster().node("n1", cpu=15).job("train", pods=4, cpu=cpu, gpu=1)
    assert cluster.why("train").remedies[0].change == node
