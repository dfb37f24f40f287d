"""Volumes: what pods claim, what there is, how it is made, and how much of it a node can have.

Where a volume lies (`local`, `nfs`, ...) is kept as the manifest has it for the commonest kinds.

Volcano: k8s.io/api/core/v1 (PersistentVolume, PersistentVolumeClaim), k8s.io/api/storage/v1
"""

from .affinity import NodeSelector
from .meta import *

VolumeResourceList = Annotated[dict[str, str], "VolumeResourceList"]
"""Like `ResourceList`, of what a volume has: `{"storage": "10Gi"}`."""
ACCESS_MODES = {"allowed": ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")}
"""The ways in which nodes and pods may share a volume."""
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"


class VolumeResources(Part):
    """How large a claimed volume must be."""

    requests: VolumeResourceList = Factory(dict)
    limits: VolumeResourceList = Factory(dict)


class PersistentVolumeClaimSpec(Part):
    """What is claimed; `storage_class_name` "" means no class, None the cluster's default."""

    access_modes: list[str] = field(factory=list, metadata=ACCESS_MODES)
    selector: LabelSelector | None = None
    resources: VolumeResources = Factory(VolumeResources)
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: str | None = choice("Filesystem", "Block", default=None)
    volume_attributes_class_name: str | None = None


class PersistentVolumeClaimStatus(Part):
    """Whether it has its volume."""

    phase: str = choice("Pending", "Bound", "Lost")


class ClaimReference(Part):
    """The claim that has a volume, or for which it is kept (then mostly without a uid)."""

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
        """True once Kubernetes is done with binding the claim to its volume."""
        return bool(self.spec.volume_name) and BIND_COMPLETED in self.metadata.annotations

    def bound(self, volume: str) -> Self:
        """Return the claim as it is once Kubernetes has bound it to a volume."""
        notes = self.metadata.annotations | {BIND_COMPLETED: "yes"}
        return self.changed(metadata={"annotations": notes}, spec={"volume_name": volume},
                            status={"phase": "Bound"})

    def reference(self) -> ClaimReference:
        """Return what a volume says of the claim that has it."""
        return ClaimReference("v1", self.kind, self.namespace, self.name, self.metadata.uid)


class VolumeNodeAffinity(Part):
    """The nodes from which a volume can be reached."""

    required: NodeSelector | None = None


class CSIVolumeSource(Part):
    """A volume of a CSI driver."""

    driver: str = ""
    volume_handle: str = ""


class PersistentVolumeSpec(Part):
    """How large a volume is, who has it, and where it is."""

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
    """Whether it is free."""

    phase: str = choice("Pending", "Available", "Bound", "Released", "Failed")


class PersistentVolume(KubernetesObject, kind="PersistentVolume", versions=("v1",)):
    """A volume.

    >>> PersistentVolume(ObjectMeta("disk-1")).key
    'disk-1'
    """

    spec: PersistentVolumeSpec = Factory(PersistentVolumeSpec)
    status: PersistentVolumeStatus = Factory(PersistentVolumeStatus)


class TopologySelectorLabelRequirement(Part):
    """A label of a node, and the values it may have."""

    key: str = ""
    values: list[str] = Factory(list)


class TopologySelectorTerm(Part):
    """Conditions that must all hold; a term without any matches no node."""

    match_label_expressions: list[TopologySelectorLabelRequirement] = Factory(list)


class StorageClass(KubernetesObject, kind="StorageClass", versions=("storage.k8s.io/v1",)):
    """How volumes of a class are made: at once, or where their first pod runs.

    >>> StorageClass(ObjectMeta("fast"), "ebs.csi.aws.com").provisioner
    'ebs.csi.aws.com'
    """

    provisioner: str = ""
    parameters: dict[str, str] = Factory(dict)
    volume_binding_mode: str | None = choice("Immediate", "WaitForFirstConsumer", default=None)
    allowed_topologies: list[TopologySelectorTerm] = Factory(list)


class VolumeNodeResources(Part):
    """How many volumes of a driver a node can have; None means without limit."""

    count: int | None = whole(default=None)


class CSINodeDriver(Part):
    """A CSI driver on a node, and the node labels by which it tells where volumes are."""

    name: str = ""
    node_id: str = named("nodeID")
    topology_keys: list[str] = Factory(list)
    allocatable: VolumeNodeResources | None = None


class CSINodeSpec(Part):
    """The drivers of a node."""

    drivers: list[CSINodeDriver] = Factory(list)


class CSINode(KubernetesObject, kind="CSINode", versions=("storage.k8s.io/v1",)):
    """What CSI drivers say of the node of that name.

    >>> CSINode(ObjectMeta("n1")).spec.drivers
    []
    """

    spec: CSINodeSpec = Factory(CSINodeSpec)
