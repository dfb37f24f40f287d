"""Volcano's Job: the user's object, from which Volcano's controller creates a PodGroup and Pods.

Lifecycle policies, volumes and the controller's plugins (ssh, svc, ...) matter when a job is
admitted and when its pods run, not when they are placed.

Volcano: volcano.sh/apis/pkg/apis/batch/v1alpha1
"""

from attrs import Factory

from .meta import *
from .pod import PodSpec
from .storage import PersistentVolumeClaimSpec
from .volcano import NetworkTopologySpec


class PodTemplateSpec(Part):
    """The template of a task's pods."""

    metadata: ObjectMeta = Factory(ObjectMeta)
    spec: PodSpec = Factory(PodSpec)


class PartitionPolicySpec(Part):
    """The division of a task's pods into partitions of equal size, and how many the gang needs."""

    total_partitions: int = whole(1)
    partition_size: int = whole(1)
    min_partitions: int = whole()
    network_topology: NetworkTopologySpec | None = None


class DependsOn(Part):
    """Tasks whose pods must run before those of this task are created: all, or `any` of several."""

    name: list[str] = Factory(list)
    iteration: str = ""


class LifecyclePolicy(Part):
    """The action for a job on an event or an exit code."""

    action: str = ""
    event: str = ""
    events: list[str] = Factory(list)
    exit_code: int | None = None
    timeout: str = ""


class VolumeSpec(Part):
    """A claim that all pods of a job mount."""

    mount_path: str = ""
    volume_claim_name: str = ""
    volume_claim: PersistentVolumeClaimSpec | None = None


class TaskSpec(Part):
    """One role of a job: `replicas` pods of one template, of which `min_available` are needed
    (unset: all).
    """

    name: str = ""
    replicas: int = whole()
    min_available: int | None = whole(default=None)
    template: PodTemplateSpec = Factory(PodTemplateSpec)
    topology_policy: str = choice("none", "best-effort", "restricted", "single-numa-node")
    partition_policy: PartitionPolicySpec | None = None
    depends_on: DependsOn | None = None
    policies: list[LifecyclePolicy] = Factory(list)
    max_retry: int = whole()


class VolcanoJobSpec(Part):
    """The job's settings. `min_available` 0 means the sum of its tasks' minimums."""

    scheduler_name: str = ""
    min_available: int = whole()
    tasks: list[TaskSpec] = Factory(list)
    queue: str = ""
    priority_class_name: str = ""
    network_topology: NetworkTopologySpec | None = None
    policies: list[LifecyclePolicy] = Factory(list)
    plugins: dict[str, list[str]] = Factory(dict)
    volumes: list[VolumeSpec] = Factory(list)
    max_retry: int = whole()
    min_success: int | None = whole(1, default=None)
    ttl_seconds_after_finished: int | None = whole(default=None)


class JobState(Part):
    """The job's phase, and since when."""

    phase: str = choice("Pending", "Aborting", "Aborted", "Running", "Restarting", "Completing",
                        "Completed", "Terminating", "Terminated", "Failed")
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""


class VolcanoJobStatus(Part):
    """The job controller's last report on the job."""

    state: JobState = Factory(JobState)
    retry_count: int = whole()


class VolcanoJob(KubernetesObject, kind="Job", namespaced=True,
                 versions=("batch.volcano.sh/v1alpha1",)):
    """A Volcano Job (kind `Job` of `batch.volcano.sh`).

    >>> VolcanoJob(ObjectMeta("train", "team"), VolcanoJobSpec(tasks=[TaskSpec("worker", 4)])).key
    'team/train'
    """

    spec: VolcanoJobSpec = Factory(VolcanoJobSpec)
    status: VolcanoJobStatus = Factory(VolcanoJobStatus)
