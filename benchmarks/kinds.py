"""Kinds of jobs of a soak that are Volcano Jobs."""

import json
from typing import Any

from attrs import define

from volcano_lab.api.objects import SubGroupPolicySpec
from volcano_lab.cluster import Cluster
from volcano_lab.manifests.loader import loads
from volcano_lab.simulation import JobTemplate


@define(slots=True)
class ManifestJob(JobTemplate):
    """A kind of job that is a Volcano Job; with `loose` its PodGroup has no minResources, with
    `sub_groups` other policies than the controller makes.
    """

    manifest: str = ""
    loose: bool = False
    sub_groups: tuple[SubGroupPolicySpec, ...] = ()

    def build(self, name, classes=()):
        """Return the PodGroup of one such job and its pods, which are created once it is admitted.
        """
        (given,) = loads(self.manifest)
        made = [obj.changed(metadata={"uid": "", "creation_timestamp": None}) for obj in
                Cluster(classes).add(given.changed(metadata={"name": name})).objects()]
        (group,) = (obj for obj in made if obj.kind == "PodGroup")
        if self.loose:
            group = group.changed(spec={"min_resources": None})
        if self.sub_groups:
            group = group.changed(spec={"sub_group_policy": list(self.sub_groups)})
        return group, [], [obj for obj in made if obj.kind == "Pod"]


def task(name: str, replicas: int, least: int | None = None, ports: list[Any] | None = None,
         parts: int | None = None, cpu: int | str = 1, notes: dict[str, str] | None = None,
         labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    """A task of a Volcano Job."""
    container = {"name": "main", "resources": {"requests": {"cpu": str(cpu), "memory": "1Gi"}},
                 "ports": [port if isinstance(port, dict) else
                           {"containerPort": port, "hostPort": port} for port in ports or ()]}
    partitions = {"totalPartitions": parts, "partitionSize": replicas // parts,
                  "minPartitions": parts} if parts else None
    return {"name": name, "replicas": replicas, "partitionPolicy": partitions,
            "minAvailable": replicas if least is None else least,
            "template": {"metadata": {"labels": labels or {}, "annotations": notes or {}},
                         "spec": {"containers": [container], **spec}}}


def job(name: str, queue: str, tasks: list[dict[str, Any]], least: int | None = None,
        topology: tuple[str, int] | None = None, notes: dict[str, str] | None = None,
        loose: bool = False, sub_groups: tuple[SubGroupPolicySpec, ...] = (),
        **spec: Any) -> JobTemplate:
    """A kind of job from a Volcano Job's manifest."""
    for each in tasks:
        each["template"]["metadata"]["labels"] |= {"kind": name}
    near = {"mode": topology[0], "highestTierAllowed": topology[1]} if topology else None
    least = sum(each["minAvailable"] for each in tasks) if least is None else least
    manifest = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
                "metadata": {"name": name, "annotations": notes or {}},
                "spec": {"queue": queue, "schedulerName": "volcano", "minAvailable": least,
                         "tasks": tasks, "networkTopology": near, **spec}}
    return ManifestJob(name, manifest=json.dumps(manifest), run_time=("uniform", 10, 30),
                       loose=loose, sub_groups=sub_groups)
