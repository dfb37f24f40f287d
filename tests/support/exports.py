"""Three clusters as kubectl exports them: a small one of `kind`, one of GPUs with a tree of queues,
one of Spark. Uids, resource versions and owner references are those of a cluster that runs.
"""

from itertools import count
from uuid import UUID

from volcano_lab.manifests.loader import Loaded, from_dict

BATCH, SCHEDULING = "batch.volcano.sh/v1alpha1", "scheduling.volcano.sh/v1beta1"
GPU = "nvidia.com/gpu"
CONF = """actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: predicates}, {name: capacity, enableHierarchy: true}, {name: nodeorder},
            {name: binpack}]
"""


class Export:
    """Objects, each with what the API server adds to it."""

    def __init__(self):
        self.documents, self.numbers = [], count(1)

    def add(self, version, kind, name, namespace="", owner=None, **parts):
        number = next(self.numbers)
        uid = str(UUID(int=number))
        metadata = {"name": name, "uid": uid, "resourceVersion": str(1000 + number),
                    "creationTimestamp": f"2026-01-01T00:{number // 60 % 60:02}:{number % 60:02}Z",
                    **({"namespace": namespace} if namespace else {}),
                    **parts.pop("metadata", {})}
        if owner:
            metadata["ownerReferences"] = [{**owner, "controller": True}]
        self.documents.append({"apiVersion": version, "kind": kind, "metadata": metadata, **parts})
        return {"apiVersion": version, "kind": kind, "name": name, "uid": uid}

    def node(self, name, cpu, memory="64Gi", gpu=0, labels=None, taints=(), ready=True,
             cordoned=False):
        taints = [*taints, *[{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]
                  * cordoned, *[{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]
                  * (not ready)]
        amounts = {"cpu": str(cpu), "memory": memory, "pods": "110",
                   **({GPU: str(gpu)} if gpu else {})}
        self.add("v1", "Node", name, metadata={"labels": {"kubernetes.io/hostname": name,
                                                          **(labels or {})}},
                 spec={"taints": taints, **({"unschedulable": True} if cordoned else {})},
                 status={"allocatable": amounts, "capacity": amounts, "conditions": [
                     {"type": "Ready", "status": "True" if ready else "False"}]})

    def queue(self, name, state="Open", **spec):
        self.add(SCHEDULING, "Queue", name, spec={"weight": 1, "reclaimable": True, **spec},
                 status={"state": state})

    def pod(self, name, namespace, requests, node="", owner=None, notes=None, spec=None,
            scheduler="volcano"):
        self.add("v1", "Pod", name, namespace, owner, metadata={"annotations": notes or {}},
                 spec={"schedulerName": scheduler, **({"nodeName": node} if node else {}),
                       "containers": [{"name": "main", "resources": {"requests": requests}}],
                       **(spec or {})}, status={"phase": "Running" if node else "Pending"})

    def job(self, name, namespace, queue, requests, replicas, nodes=(), phase="Pending",
            spec=None):
        """A Volcano Job with its PodGroup; with `nodes` its pods run there, else it has none."""
        template = {"spec": {"containers": [
            {"name": "main", "resources": {"requests": requests}}], **(spec or {})}}
        owner = self.add(BATCH, "Job", name, namespace, spec={
            "queue": queue, "minAvailable": replicas, "schedulerName": "volcano",
            "tasks": [{"name": "worker", "replicas": replicas, "template": template}]},
            status={"state": {"phase": "Running" if nodes else "Pending"},
                    "minAvailable": replicas})
        group = f"{name}-{owner['uid']}"
        total = {key: str(int(text) * replicas) for key, text in requests.items()}
        self.add(SCHEDULING, "PodGroup", group, namespace, owner,
                 spec={"minMember": replicas, "queue": queue, "minResources": total,
                       "minTaskMember": {"worker": replicas}},
                 status={"phase": "Running" if nodes else phase})
        for number, node in enumerate(nodes):
            self.pod(f"{name}-worker-{number}", namespace, requests, node, owner,
                     {"scheduling.k8s.io/group-name": group, "volcano.sh/job-name": name,
                      "volcano.sh/task-spec": "worker"}, spec)

    def loaded(self):
        return Loaded(map(from_dict, self.documents))


def kind():
    """Three nodes, static pods on the control plane, a Job of 3 CPUs in a queue of 2."""
    export = Export()
    taint = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
    export.node("kind-control-plane", 8, taints=[taint])
    for name in ("kind-worker", "kind-worker2"):
        export.node(name, 4)
    for name in ("root", "default"):
        export.queue(name)
    export.queue("test", capability={"cpu": "2"})
    for name in ("etcd", "kube-apiserver", "kube-scheduler"):
        export.pod(f"{name}-kind-control-plane", "kube-system", {"cpu": "1"}, "kind-control-plane",
                   {"apiVersion": "v1", "kind": "Node", "name": "kind-control-plane", "uid": "n"},
                   scheduler="default-scheduler")
    agents = export.add("apps/v1", "DaemonSet", "kindnet", "kube-system", spec={
        "template": {"spec": {"containers": [{"name": "c"}]}}})
    for node in ("kind-control-plane", "kind-worker", "kind-worker2"):
        export.pod(f"kindnet-{node}", "kube-system", {"cpu": "100m"}, node, agents,
                   scheduler="default-scheduler")
    export.job("test-job", "default", "default", {"cpu": "1"}, 2, ["kind-worker"] * 2)
    export.job("too-much", "default", "test", {"cpu": "1"}, 3)
    return export.loaded()


def gpu(nodes=40):
    """Nodes of two kinds of GPUs, a tree of queues, jobs that run and five that wait."""
    export = Export()
    export.add("v1", "ConfigMap", "volcano-scheduler-configmap", "volcano-system",
               data={"volcano-scheduler.conf": CONF})
    for number in range(nodes):
        export.node(f"gpu-a100-{number}", 96, "768Gi", 8, {"gpu": "a100"}, cordoned=number == 38,
                    ready=number != 39)
    export.node("gpu-h100-0", 96, "768Gi", 8, {"gpu": "h100"},
                [{"key": "team", "value": "research", "effect": "NoSchedule"}])
    export.queue("root")
    export.queue("default")
    export.queue("ml", parent="root", capability={GPU: "300"}, deserved={GPU: "280"})
    for name, deserved in (("vision", 160), ("nlp", 80), ("research", 40)):
        export.queue(name, parent="ml", capability={GPU: str(deserved + 24)},
                     deserved={GPU: str(deserved)})
    export.queue("old", state="Closed", parent="root")
    for number in range(19):
        nodes_of = [f"gpu-a100-{2 * number}", f"gpu-a100-{2 * number + 1}"]
        queue, name = ("vision", "resnet") if number < 11 else ("nlp", "bert")
        export.job(f"{name}-{number}", "ml", queue, {"cpu": "16", GPU: "7"}, 2, nodes_of)
    export.job("triton", "serving", "research", {"cpu": "4", GPU: "1"}, 2)
    export.job("h100-only", "ml", "research", {"cpu": "8", GPU: "8"}, 1,
               spec={"nodeSelector": {"gpu": "h100"}})
    export.job("gpt-big", "ml", "nlp", {"cpu": "16", GPU: "8"}, 16)
    export.job("late", "ml", "old", {"cpu": "4", GPU: "1"}, 1)
    export.job("small", "ml", "vision", {"cpu": "4", GPU: "1"}, 1)
    return export.loaded()


def spark():
    """Drivers and executors; two applications wait with their drivers alone, as the operator
    creates them.
    """
    export = Export()
    for number in range(12):
        export.node(f"spark-{number}", 32, "128Gi")
    export.queue("root")
    export.queue("default")
    export.queue("etl", weight=3)
    export.queue("adhoc", capability={"cpu": "200"})
    export.add("v1", "ResourceQuota", "all", "spark", spec={"hard": {"requests.cpu": "400"}},
               status={"hard": {"requests.cpu": "400"}, "used": {"requests.cpu": "232"}})
    export.add("policy/v1", "PodDisruptionBudget", "drivers", "spark",
               spec={"minAvailable": 1, "selector": {"matchLabels": {"role": "driver"}}})
    for name, queue, executors, least in (("nightly", "etl", 20, 202), ("report", "adhoc", 9, 92),
                                          ("adhoc-1", "adhoc", 0, 200), ("adhoc-2", "adhoc", 0,
                                                                         140)):
        owner = {"apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication",
                 "name": name, "uid": f"app-{name}"}
        export.add(SCHEDULING, "PodGroup", f"spark-{name}-pg", "spark", owner,
                   spec={"minMember": 1, "queue": queue, "minResources": {"cpu": str(least)}},
                   status={"phase": "Running" if executors else "Pending"})
        notes = {"scheduling.k8s.io/group-name": f"spark-{name}-pg"}
        export.pod(f"{name}-driver", "spark", {"cpu": "2"}, "spark-0" if executors else "", owner,
                   notes)
        for number in range(executors):
            export.pod(f"{name}-exec-{number}", "spark", {"cpu": "10"},
                       f"spark-{number % 11 + 1}", owner, notes)
    return export.loaded()


EXPORTS = {"kind": kind, "gpu": gpu, "spark": spark}
