"""What few clusters have, drawn by recorded seeds only: bare pods, namespaces with limits, pods
that terminate, resources that few nodes offer, plugins in other tiers.

Each function of `RARITIES` changes a draft and returns the kinds of jobs that belong to it, as
those of `features.py` do.
"""

from collections.abc import Callable
from typing import Any

from features import Draft, reschedules
from kinds import job, task

from volcano_lab.simulation import JobTemplate

SCRATCH = [{"name": "data", "persistentVolumeClaim": {"claimName": "scratch"}}]


def pod(draft: Draft, name: str, namespace: str = "default", group: str = "", node: str = "",
        containers: tuple[dict[str, Any], ...] = (), leaving: bool = False, **spec: Any) -> None:
    """Add a pod; one on a node runs there, unless it is `leaving`."""
    parts = containers or ({"requests": {"cpu": "500m", "memory": "256Mi"}},)
    notes = {"scheduling.k8s.io/group-name": group} if group else {}
    ended = {"deletionTimestamp": "2026-01-01T00:00:00Z"} if leaving else {}
    draft.add("Pod", "v1", name, {"kind": "bare"}, metadata={
        "namespace": namespace, "annotations": notes, **ended}, spec={
            "schedulerName": "volcano", **({"nodeName": node} if node else {}), "containers": [
                {"name": f"c{number}", "resources": part} for number, part in enumerate(parts)],
            **spec}, status={"phase": "Running" if node else "Pending"})


def group(draft: Draft, name: str, least: int, **spec: Any) -> None:
    """Add a PodGroup that is admitted."""
    draft.add("PodGroup", "scheduling.volcano.sh/v1beta1", name,
              spec={"minMember": least, "queue": draft.queue, **spec},
              status={"phase": "Inqueue"})


def namesakes(draft: Draft) -> list[JobTemplate]:
    """Claims of one name in two namespaces, and a node that attaches one volume."""
    draft.add("StorageClass", "storage.k8s.io/v1", "scratch", provisioner="scratch.example.com",
              volumeBindingMode="WaitForFirstConsumer")
    node = draft.node({"scratch": "yes"})
    draft.add("CSINode", "storage.k8s.io/v1", node, spec={"drivers": [
        {"name": "scratch.example.com", "nodeID": "x", "allocatable": {"count": 1}}]})
    for namespace in ("default", "other"):
        spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "scratch",
                "resources": {"requests": {"storage": "1Gi"}}}
        draft.add("PersistentVolumeClaim", "v1", "scratch", metadata={"namespace": namespace},
                  spec=spec)
        pod(draft, "same", namespace, volumes=SCRATCH, nodeSelector={"scratch": "yes"})
    return []


def limited(draft: Draft) -> list[JobTemplate]:
    """Bare pods of a namespace with defaults and limits for what they do not request."""
    draft.add("Namespace", "v1", "limited")
    draft.add("LimitRange", "v1", "limits", metadata={"namespace": "limited"},
              spec={"limits": [
                  {"type": "Container", "max": {"cpu": "3", "memory": "2Gi"},
                   "default": {"cpu": "2"}, "defaultRequest": {"memory": "512Mi"}},
                  {"type": "Pod", "max": {"memory": "5Gi"}}]})
    for name, part in (("nothing", {}), ("some", {"requests": {"cpu": "250m"}}),
                       ("most", {"limits": {"cpu": "1", "memory": "1Gi"}})):
        pod(draft, name, "limited", containers=(part, {"requests": {"cpu": "100m"}}))
    return []


def without_roles(draft: Draft) -> list[JobTemplate]:
    """A group of pods without roles, the first of which fits no node."""
    group(draft, "mixed", 1, minResources={"cpu": "1"})
    for number, cpu in enumerate((40, 1, 60, 1)):
        pod(draft, f"mixed-{number}", group="mixed",
            containers=({"requests": {"cpu": str(cpu), "memory": "64Mi"}},))
    return []


def sizes(draft: Draft) -> list[JobTemplate]:
    """Pods of other sizes on one node, which a pod of a higher priority needs."""
    node = draft.node({"sizes": "yes"})
    group(draft, "sizes", 1, priorityClassName="low")
    for number, cpu in enumerate(draft.random.sample(("500m", "1", "1500m", "2", "2250m"), 5)):
        pod(draft, f"sizes-{number}", group="sizes", node=node, priority=10,
            priorityClassName="low", containers=({"requests": {"cpu": cpu}},))
    return [job("large", draft.queue, [task("a", 1, cpu=cpu, nodeSelector={"sizes": "yes"},
                                            priorityClassName="high")])
            for cpu in draft.random.sample((2, 3, 4), 1)]


def nowhere(draft: Draft) -> list[JobTemplate]:
    """Best-effort jobs, the first of which no node takes, and one whose roles differ in that."""
    elsewhere = {"nodeSelector": {"zone": "nowhere"}, "resources": {}}
    return [job("a-lost", draft.queue, [task("a", 2, **elsewhere)]),
            job("b-found", draft.queue, [task("a", 2, resources={})]),
            job("c-mixed", draft.queue, [task("a", 1, least=0, **elsewhere),
                                         task("b", 2, resources={}, least=1)], least=1)]


def twins(draft: Draft) -> list[JobTemplate]:
    """Jobs that differ in one field each: minimum, priority, whether they may be evicted."""
    queue = draft.queue

    def alike(name: str, **fields: Any) -> JobTemplate:
        return JobTemplate(f"twin-{name}", queue, **{
            "pods": 5, "min_member": 5, "cpu": 3, "priority_class": "high",
            "run_time": ("uniform", 10, 30), **fields})

    return [alike("a"), alike("b", min_member=1), alike("c", priority_class="polite"),
            alike("d", cpu=2)]


def scarce(draft: Draft) -> list[JobTemplate]:
    """Resources that one node offers, and a pod that holds GPUs where its node offers none."""
    draft.nodes += 1
    draft.add("Node", "v1", f"n{draft.nodes}", {"zone": "z1"}, status={"allocatable": {
        "cpu": "7", "memory": "20Gi", "pods": "9", "ephemeral-storage": "10Gi",
        "hugepages-2Mi": "1Gi", "example.com/nic": "3"}})
    pod(draft, "ghost", node=draft.node({}), containers=(
        {"requests": {"cpu": "1", "nvidia.com/gpu": "1"}},))

    def needs(name: str, amount: str) -> dict[str, Any]:
        return {"requests": {"cpu": "250m", name: amount}}

    return [job("stores", draft.queue, [
                task("a", 3, least=1, resources=needs("ephemeral-storage", "4Gi"))]),
            job("nics", draft.queue, [
                task("a", 2, least=1, resources=needs("example.com/nic", "2")),
                task("b", 1, resources=needs("hugepages-2Mi", "256Mi"))])]


def qualities(draft: Draft) -> list[JobTemplate]:
    """Pods of each quality of service on a node that is too busy, in rescheduling's order."""
    reschedules(draft, "2s")
    busy = draft.loaded_node(90, 75)
    draft.loaded_node(5, 5)
    full = {"cpu": "1", "memory": "1Gi"}
    whole, bound = {"requests": full, "limits": full}, {"limits": full}
    for name, parts in (("whole", (whole,)), ("half", ({}, whole)), ("bound", (bound, bound)),
                        ("some", ({"requests": {"cpu": "1"}}, whole)), ("least", ({}, {}))):
        pod(draft, f"quality-{name}", node=busy, containers=parts)
    return []


def chains(draft: Draft) -> list[JobTemplate]:
    """HyperNodes that contain each other, in a circle or in a line whose end comes first."""
    if not draft.topology:
        return []
    members = draft.random.choice([{"ring-a": "ring-b", "ring-b": "ring-c", "ring-c": "ring-a"},
                                   {"line-c": "r0", "line-a": "line-b", "line-b": "line-c"},
                                   {"line-a": "line-b", "line-b": "line-c", "line-c": "r1"}])
    for tier, (name, below) in enumerate(members.items()):
        draft.add("HyperNode", "topology.volcano.sh/v1alpha1", name, spec={
            "tier": 3 + tier, "members": [
                {"type": "HyperNode", "selector": {"exactMatch": {"name": below}}}]})
    return [job("chained", draft.queue, [task("a", 2)], topology=("hard", 4))]


def leaving(draft: Draft) -> list[JobTemplate]:
    """Pods that terminate on a node, and a bare pod that needs the node."""
    node = draft.node({"leaving": "yes"})
    for number in range(5):
        pod(draft, f"leaving-{number}", node=node, leaving=True, containers=(
            {"requests": {"cpu": "1400m"}},))
    pod(draft, "follows", nodeSelector={"leaving": "yes"}, containers=(
        {"requests": {"cpu": "6"}},))
    return []


def other_tiers(draft: Draft) -> list[JobTemplate]:
    """The plugins in three tiers, in which they decide in another order."""
    plugins = [plugin for tier in draft.conf["tiers"] for plugin in tier["plugins"]]
    tiers = [[], [], []]
    for plugin in plugins:
        draft.random.choice(tiers).append(plugin)
    draft.conf["tiers"] = [{"plugins": tier} for tier in tiers if tier]
    return []


def nearly_right(draft: Draft) -> list[JobTemplate]:
    """Arguments at the edge of what is allowed."""
    edges = {"overcommit": {"overcommit-factor": 1.0}, "binpack": {"binpack.weight": 0},
             "network-topology-aware": {"hypernode.binpack.normal-pod.fading": 0, "weight": 0},
             "nodeorder": {"balancedresource.weight": 0}, "sla": {"sla-waiting-time": "0s"}}
    for tier in draft.conf["tiers"]:
        for plugin in tier["plugins"]:
            plugin.setdefault("arguments", {}).update(edges.get(plugin["name"], {}))
    return []


RARITIES: list[Callable[[Draft], list[JobTemplate]]] = [
    namesakes, limited, without_roles, sizes, nowhere, twins, scarce, qualities, chains, leaving,
    other_tiers, nearly_right]
