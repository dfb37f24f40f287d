"""Kubernetes' own workloads, as far as they define pods; and ConfigMaps.

Volcano: k8s.io/api/apps/v1, batch/v1, core/v1
"""

from attrs import Factory

from .job import PodTemplateSpec
from .meta import *
from .storage import PersistentVolumeClaimTemplate


class WorkloadSpec(Part):
    """The number and template of pods; `completions`, `parallelism` and so on are a Job's,
    `strategy` is a Deployment's, `volume_claim_templates` are a StatefulSet's.
    """

    replicas: int | None = whole(default=None)
    selector: LabelSelector | None = None
    template: PodTemplateSpec = Factory(PodTemplateSpec)
    completions: int | None = whole(default=None)
    parallelism: int | None = whole(default=None)
    completion_mode: str = choice("NonIndexed", "Indexed")
    suspend: bool = False
    strategy: Raw = Factory(dict)
    volume_claim_templates: list[PersistentVolumeClaimTemplate] = Factory(list)


class Workload(KubernetesObject, versions=("apps/v1",), namespaced=True):
    """A kind whose controller creates pods.

    >>> from volcano_lab.api.objects import ObjectMeta
    >>> Deployment(ObjectMeta("web", "team"), WorkloadSpec(replicas=3)).kind
    'Deployment'
    """

    spec: WorkloadSpec = Factory(WorkloadSpec)
    status: Raw = Factory(dict)


class Deployment(Workload, kind="Deployment"):
    """Pods of a ReplicaSet, replaced by new ones when their template changes."""


class ReplicaSet(Workload, kind="ReplicaSet"):
    """A number of equal pods."""


class StatefulSet(Workload, kind="StatefulSet"):
    """Pods with ordinal names."""


class DaemonSet(Workload, kind="DaemonSet"):
    """One pod for each node."""


class BatchJob(Workload, kind="Job", versions=("batch/v1",)):
    """Kubernetes' own Job; Volcano's is another kind of the same name."""


class ConfigMap(KubernetesObject, kind="ConfigMap", versions=("v1",), namespaced=True):
    """Texts by name, such as a `volcano-scheduler.conf`.

    >>> from volcano_lab.api.objects import ObjectMeta
    >>> ConfigMap(ObjectMeta("volcano-scheduler-configmap"), {"volcano-scheduler.conf": ""}).key
    'volcano-scheduler-configmap'
    """

    data: dict[str, str] = Factory(dict)
