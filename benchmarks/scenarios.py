"""What each seed of the soak draws: a cluster, its queues, a configuration, and kinds of jobs."""

import json
import re
from collections.abc import Iterable
from random import Random

import yaml
from attrs import define
from features import FEATURES, Draft
from kinds import job, task
from oddities import ODDITIES
from rarities import RARITIES

from volcano_lab.cluster import Cluster
from volcano_lab.manifests.loader import Loaded
from volcano_lab.simulation import JobTemplate

CLASSES = """
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: low}, value: 10}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: polite}
value: 2000
preemptionPolicy: Never
"""
CLOSED = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: closed}
spec: {weight: 1}
status: {state: Closed}
"""
VOLUMES = """
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: disk},
 provisioner: csi.example.com}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk-1, labels: {topology.kubernetes.io/zone: z0}}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteMany]
  storageClassName: disk
  csi: {driver: csi.example.com, volumeHandle: disk-1}
  claimRef: {namespace: default, name: data}
  nodeAffinity: {required: {nodeSelectorTerms: [
    {matchExpressions: [{key: zone, operator: In, values: [z0]}]}]}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, annotations: {pv.kubernetes.io/bind-completed: "yes"}}
spec: {accessModes: [ReadWriteMany], storageClassName: disk, volumeName: disk-1,
       resources: {requests: {storage: 1Gi}}}
status: {phase: Bound}
"""
APART = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
    {"labelSelector": {"matchLabels": {"kind": "apart"}},
     "topologyKey": "kubernetes.io/hostname"}]}}


@define
class Scenario:
    """What a seed has drawn: a cluster, a configuration, and kinds of jobs."""

    cluster: Cluster
    conf: str
    templates: list[JobTemplate]
    slowest: float
    rate: float
    period: float

    @property
    def kinds(self) -> dict[str, JobTemplate]:
        """The kinds of jobs by name, each once."""
        return {template.name: template for template in self.templates}

    def with_jobs(self, templates: Iterable[JobTemplate], documents: Iterable[str] = ()) -> Loaded:
        """Return the objects of the cluster with a job of each of some kinds, and further ones."""
        objects = self.cluster.copy().add(*documents).objects()
        classes = [obj for obj in objects if obj.kind == "PriorityClass"]
        for template in templates:
            group, first, later = template.build(f"{template.name}-1", classes)
            objects += [group, *first, *later]
        return objects


def scenario(seed: int, recorded: bool = False) -> Scenario:
    """Draw a cluster of 4 to 8 nodes with a configuration and jobs that fit it.

    Drawn are: proportion, capacity or capacity with a tree of queues, or drf with a hierarchy; the
    tiers; drf, overcommit, binpack, network topology, PodDisruptionBudgets; preempt, reclaim and
    enqueue on or off; jobs that are gangs, elastic or best effort, with GPUs, host ports, roles,
    partitions, topologies, selectors, anti-affinity, volumes, priority classes, one of which evicts
    no other pod; queues from which nothing may be reclaimed, and a closed one; preempt's other way
    to choose; how many seconds a bind takes at most; a node that is tainted, cordoned or takes few
    pods, a budget, how long a job may wait. Of one queue a job runs from the beginning. A
    quarter of `FEATURES` is added, other plugins and jobs that need them, so that four seeds draw
    all; where it is `recorded` half of `ODDITIES`, or of `RARITIES` for an odd seed. The text is
    JSON or YAML.
    """
    random, more, kinds, marks = (Random(f"{what} {seed}")
                                  for what in ("scenario", "more", "kinds", "marks"))
    kind = random.choice(["proportion", "proportion", "capacity", "tree", "tree", "hdrf"])
    topology = random.random() < 0.4
    cluster = Cluster().add(CLASSES)
    nodes = random.choice([4, 6, 6, 8])
    for number in range(1, nodes + 1):
        labels = {"zone": f"z{number % 2}", "rack": f"r{(number - 1) // 2}"}
        cluster.node(f"n{number}", cpu=8, memory="32Gi", gpu=4 if number <= 2 else None,
                     labels=labels)
    queues = _add_queues(cluster, kind, 8 * nodes, random)
    if topology:
        _add_hyper_nodes(cluster, nodes, Random(f"racks {seed}"))
    if kind != "hdrf" and more.random() < 0.4:
        cluster.queue(more.choice(queues), reclaimable=False)
    if kind != "hdrf" and marks.random() < 0.4:
        cluster.queue(marks.choice(queues), guarantee={"cpu": 6})
    if kind == "capacity" and marks.random() < 0.5:  # more than it may hold
        cluster.queue(marks.choice(queues), deserved={"cpu": 12 * nodes, "memory": "512Gi"})
    cluster.job("held", queue=more.choice(queues), pods=3, min_member=1, cpu=1,
                running={"n1": 1, "n2": 1, "n3": 1})
    conf = _conf(kind, topology, random)
    if more.random() < 0.4:
        conf["configurations"] = [{"name": "preempt",
                                   "arguments": {"enableTopologyAwarePreemption": True,
                                                 "minCandidateNodesAbsolute": 4}}]
    templates = [make(random.choice(queues), random) for make in _kinds(topology)]
    templates += [make(kinds.choice(queues))
                  for make in _more_kinds(cluster, nodes, topology, kinds)]
    templates += _add_marks(cluster, nodes, conf, marks, marks.choice(queues))
    features = Random(f"features {seed}")
    draft = Draft(cluster, conf, nodes + 1, kind, topology, queues, features)
    four, place = divmod(seed, 4)
    for feature in Random(f"features {four}").sample(FEATURES, len(FEATURES))[place::4]:
        templates += 3 * feature(draft)  # as often as all others together
    further = RARITIES if seed % 2 else ODDITIES
    for add in features.sample(further, len(further) // 2) if recorded else ():
        templates += 2 * add(draft)
    return Scenario(cluster, _as_text(conf, features), templates, more.choice([0.5, 2.5]),
                    rate=marks.choice([0.25, 0.5]), period=draft.period)


def _add_queues(cluster: Cluster, kind: str, cpus: int, random: Random) -> list[str]:
    """Add the queues of a kind of fairness; return those that take jobs."""
    if kind == "tree":
        for name in ("eng", "ops"):
            cluster.queue(name, parent="root", deserved={"cpu": cpus // 2, "memory": "128Gi"},
                          capability={"cpu": cpus * 3 // 4, "memory": "256Gi"})
        for name, parent in (("dev", "eng"), ("test", "eng"), ("web", "ops")):
            cluster.queue(name, parent=parent, deserved={"cpu": cpus // 4, "memory": "64Gi"},
                          capability=random.choice([None, {"cpu": cpus // 2}]))
        return ["dev", "test", "web"]
    if kind == "hdrf":
        for name, path, weights in (("dev", "root/eng/dev", "1/2/3"),
                                    ("test", "root/eng/test", "1/2/1"),
                                    ("web", "root/web", "1/3")):
            cluster.add(json.dumps({
                "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {
                    "name": name, "annotations": {"volcano.sh/hierarchy": path,
                                                  "volcano.sh/hierarchy-weights": weights}},
                "spec": {"weight": 1, "reclaimable": True}}))
        return ["dev", "test", "web"]
    for name, weight in (("prod", 4), ("research", 2), ("batch", 1)):
        amounts = {"guarantee": {"cpu": 4}} if name == "prod" and random.random() < 0.3 else {}
        if name == "batch" and random.random() < 0.5:
            amounts["capability"] = {"cpu": cpus // 2, "memory": "128Gi"}
        if kind == "capacity":
            amounts["deserved"] = {"cpu": cpus * weight // 8, "memory": f"{16 * weight}Gi"}
        cluster.queue(name, weight=weight, **amounts)
    return ["prod", "research", "batch"]


def _add_hyper_nodes(cluster: Cluster, nodes: int, random: Random) -> None:
    """Two nodes a rack (tier 1), all racks below the top (tier 2). Racks name their nodes, or match
    their labels, or their names by a pattern.
    """
    def member(kind: str, **selector: dict) -> dict:
        return {"type": kind, "selector": selector}

    racks = [f"r{rack}" for rack in range(nodes // 2)]
    members = {"top": [member("HyperNode", exactMatch={"name": rack}) for rack in racks]}
    for rack, first in zip(racks, range(1, nodes, 2), strict=False):
        members[rack] = random.choice([
            [member("Node", exactMatch={"name": f"n{n}"}) for n in (first, first + 1)],
            [member("Node", regexMatch={"pattern": f"^[mn][{first}{first + 1}]$"})],
            [member("Node", regexMatch={"pattern": f"({first}|{first + 1})$"})],
            [member("Node", labelMatch={"matchLabels": {"rack": rack}})]])
    for name, below in members.items():
        cluster.add(json.dumps({
            "apiVersion": "topology.volcano.sh/v1alpha1", "kind": "HyperNode",
            "metadata": {"name": name},
            "spec": {"tier": 2 if name == "top" else 1, "members": below}}))


def _conf(kind: str, topology: bool, random: Random) -> dict:
    """Draw actions and tiers; half of them have so few plugins that each victim must be named by
    all.
    """
    actions = ["enqueue"] * (random.random() < 0.8) + ["allocate"]
    actions += ["preempt"] * (random.random() < 0.6) + ["reclaim"] * (random.random() < 0.6)
    fair = {"name": "proportion"} if kind == "proportion" else {"name": "capacity"}
    if kind == "tree":
        fair["enableHierarchy"] = True
    drf = [{"name": "drf", "enableHierarchy": True}] if kind == "hdrf" else [{"name": "drf"}]
    base = [{"name": "overcommit"}] * (random.random() < 0.6) + [{"name": "predicates"},
                                                                {"name": "nodeorder"}]
    base += [{"name": "binpack"}] * (random.random() < 0.4)
    base += [{"name": "network-topology-aware"}] * topology
    base += [] if kind == "hdrf" else [fair]
    if random.random() < 0.5:
        tiers = [[{"name": "priority"}, {"name": "gang"}] + drf * (kind == "hdrf") + base]
    else:
        first = [{"name": name} for name in ("priority", "gang", "conformance")]
        tiers = [first, drf * (kind == "hdrf" or random.random() < 0.7) + base +
                 [{"name": "pdb"}] * (random.random() < 0.3)]
    return {"actions": ", ".join([*actions, "backfill"]),
            "tiers": [{"plugins": plugins} for plugins in tiers]}


def _as_text(conf: dict, random: Random) -> str:
    """Return a configuration as JSON, or as YAML with a number in another of its forms, and with
    names in quotes, comments, and what is on by default merged in.
    """
    if random.random() < 0.3:
        return json.dumps(conf)
    text = yaml.safe_dump(conf, sort_keys=False, default_flow_style=random.choice([None, False]))
    form = random.choice(["{}", "+{}", "0x{:x}"])
    text = re.sub(r"(?<=: )(\d+)(?=[\n,}])", lambda found: form.format(int(found[1])), text)
    if random.random() < 0.5:
        text = re.sub(r"- name: ([\w-]+)", r'- name: "\1"  # a plugin or an action', text)
        text = re.sub(r"{name: ([\w-]+)", r"{'name': '\1', <<: &on {enableJobOrder: true}",
                      text, count=1)
        text = re.sub(r"{name: ([\w-]+)", r'{name: "\1", <<: *on', text)
    return f"---\n{text}" if random.random() < 0.5 else text


def _kinds(topology: bool) -> list:
    """Return functions of (queue, random) that draw a kind of job each."""
    plain = [
        lambda q, r: JobTemplate("web", q, pods=4, cpu=2, memory="4Gi", priority_class="high",
                                 run_time=("uniform", 10, 30)),
        lambda q, r: JobTemplate("train", q, pods=8, min_member=4, cpu=1, memory="2Gi",
                                 priority_class=r.choice([None, "low"]),
                                 run_time=("uniform", 20, 60)),
        lambda q, r: JobTemplate("gpu", q, pods=2, cpu=2, gpu=2, run_time=("uniform", 10, 40)),
        lambda q, r: JobTemplate("scan", q, pods=6, min_member=1, cpu=1,
                                 run_time=("exponential", 20)),
        lambda q, r: JobTemplate("idle", q, pods=2, run_time=15),
        lambda q, r: JobTemplate("huge", q, pods=1, cpu=9, run_time=5),
        lambda q, r: job("port", q, [task("a", 2, ports=[8080])]),
        lambda q, r: job("roles", q, [task("worker", 3, least=2), task("ps", 1, cpu=4)],
                          least=3),
        lambda q, r: job("zone", q, [task("a", 2, nodeSelector={"zone": f"z{r.randint(0, 1)}"})]),
        lambda q, r: job("apart", q, [task("a", 2, affinity=APART)]),
    ]
    placed = [
        lambda q, r: job("near", q, [task("a", 3)], topology=(r.choice(["hard", "soft"]), 1)),
        lambda q, r: job("parts", q, [task("a", 4, parts=2)], least=4, topology=("hard", 2)),
    ]
    return plain + placed * topology


def _more_kinds(cluster: Cluster, nodes: int, topology: bool, random: Random) -> list:
    """Return functions of a queue that make a kind of job each; add to the cluster what they need.
    """
    found = []
    if random.random() < 0.5:
        found.append(lambda queue: JobTemplate("polite", queue, pods=3, cpu=2,
                                               priority_class="polite",
                                               run_time=("uniform", 10, 30)))
    if random.random() < 0.4:
        cluster.add(CLOSED)
        found.append(lambda _: JobTemplate("shut", "closed", pods=1, cpu=1))
    if random.random() < 0.5:
        found.append(lambda queue: job(
            "groups", queue, [task("a", 6, least=4, parts=3)], least=4,
            topology=("hard", 2) if topology else None))
    if random.random() < 0.5:
        cluster.add(VOLUMES)
        for number in range(1, nodes + 1):
            cluster.add(json.dumps({
                "apiVersion": "storage.k8s.io/v1", "kind": "CSINode",
                "metadata": {"name": f"n{number}"}, "spec": {"drivers": [
                    {"name": "csi.example.com", "nodeID": f"n{number}",
                     "allocatable": {"count": random.randint(1, 2)}}]}}))
        found.append(lambda queue: job("disk", queue, [task("a", 3, volumes=[
            {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}])]))
    return found


def _add_marks(cluster: Cluster, nodes: int, conf: dict, random: Random, queue: str) -> list:
    """Add one more node, which not every pod may use, a budget, and plugin sla; return kinds of
    jobs: one that tolerates the node's taint, one that fills its queue, one that evicts its pods.
    """
    spec = random.choice([{}, {"unschedulable": True},
                          *({"taints": [{"key": "kept", "effect": effect}]}
                            for effect in ("NoSchedule", "NoExecute", "PreferNoSchedule"))])
    cluster.add(json.dumps({
        "apiVersion": "v1", "kind": "Node", "spec": spec, "metadata": {
            "name": f"n{nodes + 1}", "labels": {"kubernetes.io/hostname": f"n{nodes + 1}"}},
        "status": {"allocatable": {"cpu": "8", "memory": "32Gi",
                                   "pods": random.choice(["3", "110"])}}}))
    if random.random() < 0.5:
        cluster.add(json.dumps({
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"name": "roles", "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"kind": "roles"}}},
            "status": {"disruptionsAllowed": random.randint(0, 2)}}))
    if random.random() < 0.2:
        waiting = {"sla-waiting-time": random.choice(["10s", "40s"])}
        conf["tiers"][0]["plugins"].insert(1, {"name": "sla", "arguments": waiting})
    return [job("brave", queue, [task("a", 2, tolerations=[
        {"key": "kept", "operator": "Exists"}])]),
            *[JobTemplate("filler", queue, pods=8, min_member=1, cpu=2, memory="1Gi",
                          priority_class="low", run_time=("uniform", 30, 60)),
              JobTemplate("urgent", queue, pods=2, cpu=2, priority_class="high",
                          run_time=("uniform", 10, 20))] * 2]
