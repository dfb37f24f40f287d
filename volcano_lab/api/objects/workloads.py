"""Kubernetes' own workloads, as far as they say which pods there are to be; and ConfigMaps.

Volcano: k8s.io/api/apps/v1, batch/v1, core/v1
"""

from __future__ import annotations

from typing import ClassVar

from attrs import Factory, define

from .job import PodTemplateSpec
from .meta import KubernetesObject, LabelSelector, ObjectMeta, choice, whole


@define
class WorkloadSpec:
    """How many pods of which template; `completions`, `parallelism` and so on are a Job's."""

    replicas: int | None = whole(default=None)
    selector: LabelSelector | None = None
    template: PodTemplateSpec = Factory(PodTemplateSpec)
    completions: int | None = whole(default=None)
    parallelism: int | None = whole(default=None)
    completion_mode: str = choice("NonIndexed", "Indexed")
    suspend: bool = False


@define
class Workload(KubernetesObject):
    """A kind whose controller makes pods.

    >>> Deployment(ObjectMeta("web", "team"), WorkloadSpec(replicas=3)).kind
    'Deployment'
    """

    api_versions: ClassVar[tuple[str, ...]] = ("apps/v1",)
    namespaced: ClassVar[bool] = True

    metadata: ObjectMeta = Factory(ObjectMeta)
    spec: WorkloadSpec = Factory(WorkloadSpec)


@define
class Deployment(Workload):
    """Pods that are replaced by new ones when their template changes; they belong to a ReplicaSet.
    """

    kind: ClassVar[str] = "Deployment"


@define
class ReplicaSet(Workload):
    """A number of equal pods."""

    kind: ClassVar[str] = "ReplicaSet"


@define
class StatefulSet(Workload):
    """Pods with numbers as names."""

    kind: ClassVar[str] = "StatefulSet"


@define
class DaemonSet(Workload):
    """One pod for each node."""

    kind: ClassVar[str] = "DaemonSet"


@define
class BatchJob(Workload):
    """Kubernetes' own Job; Volcano's is another kind of the same name."""

    kind: ClassVar[str] = "Job"
    api_versions: ClassVar[tuple[str, ...]] = ("batch/v1",)


@define
class ConfigMap(KubernetesObject):
    """Texts by name, such as a `volcano-scheduler.conf`.

    >>> ConfigMap(ObjectMeta("volcano-scheduler-configmap"), {"volcano-scheduler.conf": ""}).key
    'volcano-scheduler-configmap'
    """

    kind: ClassVar[str] = "ConfigMap"
    api_versions: ClassVar[tuple[str, ...]] = ("v1",)
    namespaced: ClassVar[bool] = True

    metadata: ObjectMeta = Factory(ObjectMeta)
    data: dict[str, str] = Factory(dict)
