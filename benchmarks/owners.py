"""Objects of users whose pods other controllers create: operators' and Kubernetes' own, with random
counts, requests and optional fields.
"""

import json
from random import Random
from typing import Any

Spec = dict[str, Any]


class Owners:
    """Draws such objects; their pods are Volcano's, mostly of a queue."""

    def __init__(self, random: Random, queue: str):
        self.random, self.queue, self.uid = random, queue, 0

    def document(self, version: str, kind: str, spec: Spec, labels: dict[str, str] | None = None,
                 notes: dict[str, str] | None = None) -> str:
        """Return an object as JSON."""
        self.uid += 1
        return json.dumps({"apiVersion": version, "kind": kind, "metadata": {
            "name": f"{kind.lower()}-{self.uid}", "namespace": "default", "uid": f"u{self.uid}",
            "labels": labels or {}, "annotations": notes or {}}, "spec": spec})

    def template(self, scheduler: str = "volcano", labels: dict[str, str] | None = None) -> Spec:
        """Return a pod template."""
        requests = {"cpu": self.random.choice(["250m", "1", "2", "9"]), "memory": "512Mi"}
        limits = self.random.choice([{}, {"memory": "1Gi"}, {"nvidia.com/gpu": "1"}])
        return {"metadata": {"labels": labels or {}}, "spec": {
            **({"schedulerName": scheduler} if scheduler else {}),
            "priorityClassName": self.random.choice(["", "high", "low"]), "containers": [
                {"name": "c", "resources": {"requests": requests, "limits": limits}}]}}

    def some(self, *keys: str, most: int = 4) -> dict[str, int]:
        """Return some of the keys, each with a count."""
        return {key: self.random.randint(1, most) for key in keys if self.random.random() < 0.6}

    def count(self, least: int = 1, most: int = 4) -> int:
        return self.random.randint(least, most)

    def roles(self, *names: str) -> Spec:
        """Return the replica specs of a training job."""
        return {name: {"replicas": self.count(), "template": self.template()} for name in names}

    def groups(self) -> list[list[str]]:
        """Return objects as JSON, together those of one project."""
        return [self.ray(), self.spark(), self.training(), self.runtime(), self.serving(),
                self.kubernetes()]

    def ray(self) -> list[str]:
        workers = [{"groupName": name, "replicas": self.count(), "template": self.template(""),
                    **self.some("minReplicas", "maxReplicas", "numOfHosts", most=2)}
                   for name in ("w", "v")]
        cluster = {"headGroupSpec": {"template": self.template("")}, "workerGroupSpecs": workers,
                   "enableInTreeAutoscaling": self.random.random() < 0.5}
        queue = {"volcano.sh/queue-name": self.queue}
        return [self.document("ray.io/v1", "RayCluster", cluster, queue),
                self.document("ray.io/v1", "RayJob", {"rayClusterSpec": cluster}, queue)]

    def spark(self) -> list[str]:
        return [self.document("sparkoperator.k8s.io/v1beta2", "SparkApplication", {
            "type": "Scala", "mode": self.random.choice(["cluster", "client"]),
            "batchScheduler": "volcano", "batchSchedulerOptions": {"queue": self.queue},
            "driver": {"memory": "512m", **self.some("cores")},
            "executor": {"memory": "1g", **self.some("cores", "instances")}})]

    def training(self) -> list[str]:
        policy = {"schedulingPolicy": {"queue": self.queue, **self.some("minAvailable")}}
        return [
            self.document("kubeflow.org/v1", "PyTorchJob", {
                "pytorchReplicaSpecs": self.roles("Master", "Worker"), "runPolicy": policy}),
            self.document("kubeflow.org/v1", "TFJob", {
                "tfReplicaSpecs": self.roles("Chief", "PS", "Worker"), "runPolicy": policy}),
            self.document("kubeflow.org/v2beta1", "MPIJob", {
                "mpiReplicaSpecs": self.roles("Launcher", "Worker"), "runPolicy": policy,
                "launcherCreationPolicy": self.random.choice(["AtStartup", "WaitForWorkersReady"])},
                notes={"scheduling.volcano.sh/queue-name": self.queue}),
            self.document("training.kubedl.io/v1alpha1", "TFJob", {
                "tfReplicaSpecs": self.roles("PS", "Worker"),
                "schedulingPolicy": {"queue": self.queue, **self.some("minAvailable")}})]

    def runtime(self) -> list[str]:
        def replicated(name: str) -> Spec:
            return {"name": name, "replicas": self.count(most=2), "template": {
                "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}
                if name == "node" else {}, "spec": {**self.some("parallelism", "completions"),
                                                    "template": self.template()}}}

        runtime = self.document("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime", {
            "podGroupPolicy": {"volcano": {}}, "mlPolicy": {"numNodes": self.count()},
            "template": {"spec": {"replicatedJobs": [replicated("node"), replicated("store")]}}})
        job = self.document("trainer.kubeflow.org/v1alpha1", "TrainJob", {
            "runtimeRef": {"name": json.loads(runtime)["metadata"]["name"]},
            "trainer": self.some("numNodes")})
        return [runtime, job]

    def serving(self) -> list[str]:
        group = {"size": self.count(), "workerTemplate": self.template()}
        if self.random.random() < 0.5:
            group["leaderTemplate"] = self.template()
        notes = {"scheduling.volcano.sh/queue-name": self.queue}
        roles = [{"name": name, "replicas": self.count(), "entryTemplate": self.template(),
                  "workerReplicas": self.count(0, 2), "workerTemplate": self.template()}
                 for name in ("prefill", "decode")]
        return [
            self.document("workload.serving.volcano.sh/v1alpha1", "ModelServing", {
                "replicas": self.count(most=2), "template": {
                    "gangPolicy": {"minRoleReplicas": self.some("prefill", "decode")},
                    "roles": roles}}, notes=notes),
            self.document("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {
                "replicas": self.count(most=2),
                "startupPolicy": self.random.choice(["LeaderCreated", "LeaderReady"]),
                "leaderWorkerTemplate": group}, notes=notes)]

    def kubernetes(self) -> list[str]:
        kind = {"app": "own"}
        common = {"selector": {"matchLabels": kind}, "replicas": self.count(),
                  "template": self.template(labels=kind)}
        job = {**self.some("parallelism", "completions"), "template": self.template()}
        return [self.document("apps/v1", "Deployment", common),
                self.document("apps/v1", "StatefulSet", {
                    **common, "podManagementPolicy": self.random.choice(["Parallel",
                                                                         "OrderedReady"])}),
                self.document("batch/v1", "Job", job),
                self.document("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": [
                    {"name": name, "replicas": self.count(most=2), "template": {"spec": job}}
                    for name in ("driver", "workers")]})]
