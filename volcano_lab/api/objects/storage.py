"""Volumes: claims, volumes, their provisioning, and their number per node.

A volume's source (`local`, `nfs`, ...) is kept as in the manifest for the commonest kinds.

Volcano: k8s.io/api/core/v1 (PersistentVolume, PersistentVolumeClaim), k8s.io/api/storage/v1
"""

from typing import Annotated, Self

from attrs import Factory, field

from .affinity import NodeSelector
from .meta import *

VolumeResourceList = Annotated[dict[str, str], "VolumeResourceList"]
"""Like `ResourceList`, for a volume's capacity: `{"storage": "10Gi"}`."""
ACCESS_MODES = {"allowed": ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")}
"""The ways in which nodes and pods may share a volume."""
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"


class VolumeResources(Part):
    """The minimum size of a claimed volume."""

    requests: VolumeResourceList = Factory(dict)
    limits: VolumeResourceList = Factory(dict)


class PersistentVolumeClaimSpec(Part):
    """The claimed volume; `storage_class_name` "" means no class, None the cluster's default."""

    access_modes: list[str] = field(factory=list, metadata=ACCESS_MODES)
    selector: LabelSelector | None = None
    resources: VolumeResources = Factory(VolumeResources)
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: str | None = choice("Filesystem", "Block", default=None)
    volume_attributes_class_name: str | None = None


class PersistentVolumeClaimTemplate(Part):
    """A claim that a controller creates for each pod."""

    metadata: ObjectMeta = Factory(ObjectMeta)
    spec: PersistentVolumeClaimSpec = Factory(PersistentVolumeClaimSpec)


class PersistentVolumeClaimStatus(Part):
    """Whether the claim is bound."""

    phase: str = choice("Pending", "Bound", "Lost")


class ClaimReference(Part):
    """The claim to which a volume is bound, or for which it is reserved (then mostly without a
    uid).
    """

    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


class PersistentVolumeClaim(KubernetesObject, kind="PersistentVolumeClaim", versions=("v1",),
                            namespaced=True):
    """A pod's claim to a volume.

    >>> PersistentVolumeClaim(ObjectMeta("data", "team")).key
    'team/data'
    """

    spec: PersistentVolumeClaimSpec = Factory(PersistentVolumeClaimSpec)
    status: PersistentVolumeClaimStatus = Factory(PersistentVolumeClaimStatus)

    @property
    def is_bound(self) -> bool:
        """Whether Kubernetes has finished binding the claim to its volume."""
        return bool(self.spec.volume_name) and BIND_COMPLETED in self.metadata.annotations

    def bound(self, volume: str) -> Self:
        """Return the claim as Kubernetes binds it to a volume."""
        notes = self.metadata.annotations | {BIND_COMPLETED: "yes"}
        return self.changed(metadata={"annotations": notes}, spec={"volume_name": volume},
                            status={"phase": "Bound"})

    def reference(self) -> ClaimReference:
        """Return a volume's reference to this claim."""
        return ClaimReference("v1", self.kind, self.namespace, self.name, self.metadata.uid)


class VolumeNodeAffinity(Part):
    """The nodes that can access a volume."""

    required: NodeSelector | None = None


class CSIVolumeSource(Part):
    """A volume of a CSI driver."""

    driver: str = ""
    volume_handle: str = ""


class PersistentVolumeSpec(Part):
    """A volume's size, claim and nodes."""

    capacity: ResourceList = Factory(dict)
    access_modes: list[str] = field(factory=list, metadata=ACCESS_MODES)
    claim_ref: ClaimReference | None = None
    storage_class_name: str = ""
    volume_mode: str | None = choice("Filesystem", "Block", default=None)
    volume_attributes_class_name: str | None = None
    node_affinity: VolumeNodeAffinity | None = None
    csi: CSIVolumeSource | None = None
    local: Raw | None = None
    host_path: Raw | None = None
    nfs: Raw | None = None


class PersistentVolumeStatus(Part):
    """Whether the volume is free."""

    phase: str = choice("Pending", "Available", "Bound", "Released", "Failed")


class PersistentVolume(KubernetesObject, kind="PersistentVolume", versions=("v1",)):
    """A volume.

    >>> PersistentVolume(ObjectMeta("disk-1")).key
    'disk-1'
    """

    spec: PersistentVolumeSpec = Factory(PersistentVolumeSpec)
    status: PersistentVolumeStatus = Factory(PersistentVolumeStatus)


class TopologySelectorLabelRequirement(Part):
    """A label of a node, and its allowed values."""

    key: str = ""
    values: list[str] = Factory(list)


class TopologySelectorTerm(Part):
    """Conditions that must all hold; a term without any matches no node."""

    match_label_expressions: list[TopologySelectorLabelRequirement] = Factory(list)


class StorageClass(KubernetesObject, kind="StorageClass", versions=("storage.k8s.io/v1",)):
    """How volumes of a class are provisioned: at once, or for the node of their first pod.

    >>> StorageClass(ObjectMeta("fast"), "ebs.csi.aws.com").provisioner
    'ebs.csi.aws.com'
    """

    provisioner: str = ""
    parameters: dict[str, str] = Factory(dict)
    volume_binding_mode: str | None = choice("Immediate", "WaitForFirstConsumer", default=None)
    allowed_topologies: list[TopologySelectorTerm] = Factory(list)


class VolumeNodeResources(Part):
    """The limit of a driver's volumes on a node; None means no limit."""

    count: int | None = whole(default=None)


class CSINodeDriver(Part):
    """A CSI driver on a node, and the node labels of its topology."""

    name: str = ""
    node_id: str = named("nodeID")
    topology_keys: list[str] = Factory(list)
    allocatable: VolumeNodeResources | None = None


class CSINodeSpec(Part):
    """The drivers of a node."""

    drivers: list[CSINodeDriver] = Factory(list)


class CSINode(KubernetesObject, kind="CSINode", versions=("storage.k8s.io/v1",)):
    """The CSI drivers of the node of that name.

    >>> CSINode(ObjectMeta("n1")).spec.drivers
    []
    """

    spec: CSINodeSpec = Factory(CSINodeSpec)
