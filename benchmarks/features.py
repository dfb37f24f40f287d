"""What a seed may add to a soak's cluster: plugins, objects of users, and jobs that need them.

Each function of `FEATURES` changes a draft and returns the kinds of jobs that belong to it. Nodes
that it adds are open to all pods, unless its plugin says otherwise.
"""

import json
from collections.abc import Callable
from random import Random
from typing import Any

from attrs import define
from kinds import job, task

from volcano_lab.api.objects import SubGroupPolicySpec
from volcano_lab.cluster import Cluster
from volcano_lab.simulation import JobTemplate

ZONE_OF_TIME = "00:00-00:02"
"""Simulated time begins at midnight, so this zone closes after two minutes."""


@define
class Draft:
    """A scenario so far: `nodes` is how many there are, `kind` how queues share, `topology` whether
    there are HyperNodes, `queues` those that take jobs, `period` the seconds between two cycles.
    """

    cluster: Cluster
    conf: dict[str, Any]
    nodes: int
    kind: str
    topology: bool
    queues: list[str]
    random: Random
    period: float = 1.0

    def add(self, kind: str, version: str, name: str, labels: dict[str, str] | None = None,
            metadata: dict[str, Any] | None = None, **parts: Any) -> None:
        """Add an object; `metadata` are more fields of it."""
        self.cluster.add(json.dumps({
            "apiVersion": version, "kind": kind,
            "metadata": {"name": name, "labels": labels or {}, **(metadata or {})}, **parts}))

    def node(self, labels: dict[str, str], **metadata: Any) -> str:
        """Add one more node; return its name."""
        self.nodes += 1
        name = f"n{self.nodes}"
        self.cluster.add(json.dumps({
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels,
                                                             **metadata},
            "status": {"allocatable": {"cpu": "7500m", "memory": "31Gi", "pods": "20"}}}))
        return name

    def loaded_node(self, cpu: int, memory: int) -> str:
        """Add one more node with a measured load, in percent; return its name."""
        return self.node({}, annotations={"volcano-lab/cpu-usage": str(cpu),
                                          "volcano-lab/memory-usage": str(memory)})

    def plugin(self, name: str, **arguments: Any) -> None:
        """Add a plugin to the last tier."""
        self.conf["tiers"][-1]["plugins"].append({"name": name, "arguments": {
            key.replace("__", "."): value for key, value in arguments.items()}})

    @property
    def queue(self) -> str:
        return self.random.choice(self.queues)

    def new_queue(self, name: str, **spec: Any) -> str | None:
        """Add a queue of its own beside the others; None where these share by drf's hierarchy."""
        if self.kind == "hdrf":
            return None
        due = {"deserved": {"cpu": "8", "memory": "32Gi"}} if self.kind != "proportion" else {}
        self.add("Queue", "scheduling.volcano.sh/v1beta1", name,
                 spec={"weight": 2, "reclaimable": True, **due, **spec})
        return name


def cooldown(draft: Draft) -> list[JobTemplate]:
    """Pods that may not be evicted soon after they were placed, by label or by annotation."""
    draft.plugin("cdp")
    mark = {"volcano.sh/cooldown-time": draft.random.choice(["5s", "20s", "1m"])}
    where = draft.random.choice(["labels", "notes"])
    return [job("cool", draft.queue, [task("a", 4, least=1, **{where: mark})])]


def hours(draft: Draft) -> list[JobTemplate]:
    """Nodes for some hours, and pods that may use them until these end."""
    draft.plugin("tdm", **{"tdm.revocable-zone.rz": draft.random.choice(
        [ZONE_OF_TIME, "00:01-00:03"]), "tdm.evict.period": "10s"})
    draft.conf["actions"] += ", shuffle"
    for _ in range(2):
        draft.node({"volcano.sh/revocable-zone": "rz"})
    budgets = [("spare", {}), ("spare-most", {"volcano.sh/jdb-max-unavailable": "50%"}),
               ("spare-least", {"volcano.sh/jdb-min-available": "1"})]
    return [job(name, draft.queue, [task("a", 4, least=1, notes={
        "volcano.sh/revocable-zone": "*", "volcano.sh/preemptable": "true"})],
        notes={"volcano.sh/preemptable": "true", **budget}) for name, budget in budgets]


def groups_of_nodes(draft: Draft) -> list[JobTemplate]:
    """A queue with groups of nodes of its own."""
    names = [{"requiredDuringSchedulingIgnoredDuringExecution": ["g1"],
              "preferredDuringSchedulingIgnoredDuringExecution": ["g2"]},
             {"requiredDuringSchedulingIgnoredDuringExecution": ["g3"]}]
    queue = draft.new_queue("grouped", affinity={"nodeGroupAffinity": names[0],
                                                 "nodeGroupAntiAffinity": names[1]})
    if queue is None:
        return []
    draft.plugin("nodegroup", strict=False)
    for number in (1, 2, 3):
        draft.node({"volcano.sh/nodegroup-name": f"g{number}"})
    return [job("grouped", queue, [task("a", 2)])]


def load(draft: Draft) -> list[JobTemplate]:
    """Nodes with a measured load, which counts for scores, and keeps pods off the busy one."""
    draft.plugin("usage", **{"usage.weight": 2, "cpu.weight": 3,
                             "thresholds": {"cpu": 60, "mem": 70}})
    for cpu, memory in ((20, 30), (40, 60), (61, 10), (60, 70)):
        draft.loaded_node(cpu, memory)
    return []


def strategies(draft: Draft) -> list[JobTemplate]:
    """A strategy for each resource, and nodes with what is scarce avoided."""
    draft.plugin("resource-strategy-fit", resourceStrategyFitWeight=3, resources={
        "cpu": {"type": draft.random.choice(["MostAllocated", "LeastAllocated"]), "weight": 2},
        "nvidia.com/*": {"type": "MostAllocated", "weight": 3}},
        sra={"enable": True, "resources": "nvidia.com/gpu", "weight": 2,
             "resourceWeight": {"nvidia.com/gpu": 1}})
    return [job("own-way", draft.queue, [task("a", 2, notes={
        "volcano.sh/resource-strategy-scoring-type": "MostAllocated",
        "volcano.sh/resource-strategy-weight": '{"cpu": 1, "memory": 4}'})])]


def quota(draft: Draft) -> list[JobTemplate]:
    """What jobs of the namespace may request in all, most of it in use."""
    draft.conf["tiers"][-1]["plugins"].insert(0, {"name": "resourcequota"})
    draft.add("ResourceQuota", "v1", "limits", spec={"hard": {"cpu": "20"}}, status={
        "hard": {"cpu": "20", "memory": "64Gi"}, "used": {"cpu": "10500m", "memory": "1Gi"}})
    return []


def spread(draft: Draft) -> list[JobTemplate]:
    """Pods that are spread over zones and racks, as they must or should."""
    def over(key: str, how: str, **more: Any) -> dict[str, Any]:
        return {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": how,
                "labelSelector": {"matchLabels": {"kind": "spread"}}, **more}

    policy = draft.random.choice(["Honor", "Ignore"])
    return [job("spread", draft.queue, [task("a", 4, least=1, topologySpreadConstraints=[
        over("zone", "DoNotSchedule", nodeTaintsPolicy=policy),
        over("rack", draft.random.choice(["DoNotSchedule", "ScheduleAnyway"]))])])]


def preferences(draft: Draft) -> list[JobTemplate]:
    """Pods that prefer nodes, or pods beside them, or need these."""
    def beside(kind: str) -> dict[str, Any]:
        return {"labelSelector": {"matchExpressions": [
            {"key": "kind", "operator": "In", "values": [kind]}]}, "topologyKey": "zone"}

    likes = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 10, "preference": {"matchExpressions": [
            {"key": "zone", "operator": "In", "values": ["z0"]}]}},
        {"weight": 30, "preference": {"matchExpressions": [
            {"key": "rack", "operator": "NotIn", "values": ["r0", "r1"]}]}}]},
        "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 20, "podAffinityTerm": beside("together")}]}}
    needs = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "Exists"},
                                                    {"key": "rack", "operator": "NotIn",
                                                     "values": ["r1"]}]}]}},
        "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [beside("together")]}}
    return [job("likes", draft.queue, [task("a", 2, affinity=likes)]),
            job("together", draft.queue, [task("a", 3, least=1, affinity=needs)])]


def ranks(draft: Draft) -> list[JobTemplate]:
    """A job whose tasks have other priorities, by their class or by an annotation."""
    return [job("ranks", draft.queue, [
        task("a", 2, least=0, priorityClassName="low"), task("b", 1, priorityClassName="high"),
        task("c", 1, least=0, notes={"volcano.sh/task-priority": "500"})], least=1)]


def amounts(draft: Draft) -> list[JobTemplate]:
    """Requests in other units, of init containers and sidecars, for several ports, with overhead.
    """
    init = [{"name": "side", "restartPolicy": "Always",
             "resources": {"requests": {"cpu": "100m", "memory": "64M"}}},
            {"name": "first", "resources": {"requests": {"cpu": "1500m", "memory": "0.5Gi"}}}]
    ports = [{"containerPort": 80, "hostPort": 9000},
             {"containerPort": 81, "hostPort": 9001, "protocol": "UDP"}]
    return [job("odd", draft.queue, [task("a", 2, cpu="333m", ports=ports, initContainers=init,
                                          overhead={"cpu": "10m"}),
                                     task("b", 1, cpu="1e0", ports=ports[1:])]),
            job("whole", draft.queue, [task("a", 2, resources={
                "requests": {"cpu": "1500m", "memory": "3Gi"}})])]


def loose(draft: Draft) -> list[JobTemplate]:
    """A PodGroup without minResources, one with sub-groups of one pod each, and pods with a gate,
    which is removed later.
    """
    return [job("single", draft.queue, [task("a", 2)], sub_groups=(
        SubGroupPolicySpec("each", match_label_keys=["kind"], min_sub_groups=1),),
        topology=("hard", 2) if draft.topology else None),
            job("loose", draft.queue, [task("a", 3, least=2)], loose=True),
            job("gated", draft.queue, [task("a", 2, schedulingGates=[{"name": "wait"}])])]


def strangers(draft: Draft) -> list[JobTemplate]:
    """Pods without a job on nodes, and pods that are not Volcano's to place."""
    def pod(name: str, scheduler: str, node: str = "", namespace: str = "default",
            ports: tuple[dict[str, Any], ...] = ()) -> None:
        draft.cluster.add(json.dumps({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace},
            "spec": {"schedulerName": scheduler, "nodeName": node, "containers": [
                {"name": "a", "resources": {"requests": {"cpu": "250m"}}, "ports": ports}]},
            "status": {"phase": "Running" if node else "Pending"}}))

    pod("dns", "default-scheduler", "n2", "kube-system",
        ({"containerPort": 1, "hostPort": 9001, "protocol": "UDP"},))
    pod("agent", "volcano", "n3")
    pod("theirs", "default-scheduler")
    pod("without-group", "volcano")
    return []


def system(draft: Draft) -> list[JobTemplate]:
    """Jobs that the cluster itself needs, by their priority class."""
    draft.add("PriorityClass", "scheduling.k8s.io/v1", "system-node-critical", value=5)
    return [JobTemplate("critical", draft.queue, pods=3, min_member=1, cpu=1,
                        priority_class="system-node-critical", run_time=("uniform", 10, 40))]


def default_class(draft: Draft) -> list[JobTemplate]:
    """A priority class for all that name none, and one that users delete."""
    draft.add("PriorityClass", "scheduling.k8s.io/v1", "usual", value=50, globalDefault=True)
    draft.add("PriorityClass", "scheduling.k8s.io/v1", "fleeting", value=500)
    return [JobTemplate("fleeting", draft.queue, pods=2, cpu=1, priority_class="fleeting",
                        run_time=("uniform", 10, 30))]


def roles(draft: Draft) -> list[JobTemplate]:
    """Jobs whose roles are kept together and apart, one bucket of them a node."""
    draft.plugin("task-topology", **{"task-topology.weight": 5})
    notes = {"volcano.sh/task-topology-affinity": "ps,worker",
             "volcano.sh/task-topology-anti-affinity": "ps",
             "volcano.sh/task-topology-task-order": "worker,ps"}
    odd = notes | {"volcano.sh/task-topology-affinity": "ps,worker;worker,unknown"}
    tasks = [task("ps", 2), task("worker", 3, least=1), task("other", 1)]
    return [job("buckets", draft.queue, tasks, notes=notes),
            job("no-buckets", draft.queue, tasks, notes=odd)]


def balance(draft: Draft) -> list[JobTemplate]:
    """Pods that leave nodes with a high load, for others with a low one."""
    reschedules(draft, "2m")
    for cpu, memory in ((20, 10), (90, 30), (25, 20)):
        draft.loaded_node(cpu, memory)
    return []


def reschedules(draft: Draft, interval: str) -> None:
    """Add the plugin rescheduling, with its action."""
    draft.plugin("rescheduling", interval=interval, metricsPeriod="10m", strategies=[
        {"name": "lowNodeUtilization", "params": {
            "thresholds": {"cpu": 30, "memory": 30},
            "targetThresholds": {"cpu": 60, "memory": 70}}}])
    draft.conf["actions"] += ", shuffle"


def guarantees(draft: Draft) -> list[JobTemplate]:
    """A queue that deserves less than its guarantee, and a closed queue above others."""
    queue = draft.new_queue("sure", guarantee={"resource": {"cpu": "5", "memory": "8Gi"}},
                            capability={"cpu": "12", "memory": "40Gi"},
                            **({} if draft.kind == "proportion" else
                               {"deserved": {"cpu": "3", "memory": "64Gi"}}))
    return [] if queue is None else [JobTemplate("sure", queue, pods=4, min_member=2, cpu=2,
                                                 memory="2Gi", run_time=("uniform", 10, 30))]


def late_volumes(draft: Draft) -> list[JobTemplate]:
    """A claim that gets its volume only where its pod is placed: one that is there or a new one."""
    given = draft.random.choice(["kubernetes.io/no-provisioner", "csi.example.com"])
    draft.add("StorageClass", "storage.k8s.io/v1", "late", provisioner=given,
              volumeBindingMode="WaitForFirstConsumer")
    for number in range(2):
        draft.add("CSINode", "storage.k8s.io/v1", draft.node({"zone": f"z{number}"}), spec={
            "drivers": [{"name": given, "nodeID": "x", "topologyKeys": ["zone"],
                         "allocatable": {"count": 3}}]})
    for number, size in ((1, "1Gi"), (2, "5Gi"), (3, "9Gi")):
        draft.add("PersistentVolume", "v1", f"late-{number}", spec={
            "capacity": {"storage": size}, "accessModes": ["ReadWriteMany"],
            "storageClassName": "late", "local": {"path": "/x"}, "nodeAffinity": {"required": {
                "nodeSelectorTerms": [{"matchExpressions": [
                    {"key": "zone", "operator": "In", "values": [f"z{number % 2}"]}]}]}}})
    draft.add("PersistentVolumeClaim", "v1", "late", spec={
        "accessModes": ["ReadWriteMany"], "storageClassName": "late",
        "resources": {"requests": {"storage": "2Gi"}}})
    return [job("late", draft.queue, [task("a", 2, volumes=[
        {"name": "data", "persistentVolumeClaim": {"claimName": "late"}}])])]


FEATURES: list[Callable[[Draft], list[JobTemplate]]] = [
    cooldown, hours, groups_of_nodes, load, strategies, quota, spread, preferences, amounts, loose,
    strangers, system, default_class, roles, ranks, balance, guarantees, late_volumes]
