"""Volcano's Job: what people write, and what Volcano's controller turns into a PodGroup and Pods.

Answers to `volcano.sh/apis/pkg/apis/batch/v1alpha1`. Lifecycle policies, volumes and the controller's plugins
(ssh, svc, ...) are left out: they matter when pods run, not when they are placed.
"""

from __future__ import annotations

from typing import ClassVar

from attrs import Factory, define

from .meta import KubernetesObject, ObjectMeta, choice
from .pod import PodSpec
from .volcano import NetworkTopologySpec


@define
class PodTemplateSpec:
    """The pattern of a task's pods."""

    metadata: ObjectMeta = Factory(ObjectMeta)
    spec: PodSpec = Factory(PodSpec)


@define
class PartitionPolicySpec:
    """How a task's pods fall into partitions of equal size, and how many of them the gang needs."""

    total_partitions: int = 0
    partition_size: int = 0
    min_partitions: int = 0
    network_topology: NetworkTopologySpec | None = None


@define
class TaskSpec:
    """One role of a job: `replicas` pods after one pattern, of which `min_available` are needed (unset: all)."""

    name: str = ""
    replicas: int = 0
    min_available: int | None = None
    template: PodTemplateSpec = Factory(PodTemplateSpec)
    topology_policy: str = choice("none", "best-effort", "restricted", "single-numa-node")
    partition_policy: PartitionPolicySpec | None = None


@define
class VolcanoJobSpec:
    """What the job asks for. `min_available` zero means: what its tasks need in sum."""

    scheduler_name: str = ""
    min_available: int = 0
    tasks: list[TaskSpec] = Factory(list)
    queue: str = ""
    priority_class_name: str = ""
    network_topology: NetworkTopologySpec | None = None


@define
class VolcanoJob(KubernetesObject):
    """A Volcano Job (kind `Job` of `batch.volcano.sh`).

    >>> VolcanoJob(ObjectMeta("train", "team"), VolcanoJobSpec(tasks=[TaskSpec("worker", 4)])).key
    'team/train'
    """

    kind: ClassVar[str] = "Job"
    api_versions: ClassVar[tuple[str, ...]] = ("batch.volcano.sh/v1alpha1",)
    namespaced: ClassVar[bool] = True

    metadata: ObjectMeta = Factory(ObjectMeta)
    spec: VolcanoJobSpec = Factory(VolcanoJobSpec)
