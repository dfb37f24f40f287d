"""What Kubernetes does about the volumes of a pod that gets a node: its claims are bound.

Stands for the controller of PersistentVolumes and for the drivers that make volumes, at once and
without fail. A volume that is made can be reached from the nodes that agree with the pod's in the
labels that its driver names (`topologyKeys` of the CSINode), or from everywhere.

Volcano: pkg/scheduler/capabilities/volumebinding/binder.go (BindPodVolumes)
"""

from __future__ import annotations

from volcano_lab.api.objects import (
    ClaimReference,
    CSINode,
    CSIVolumeSource,
    Node,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    ObjectMeta,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    Pod,
    StorageClass,
    VolumeNodeAffinity,
)
from volcano_lab.api.storage import (
    BIND_COMPLETED,
    CLAIM,
    SELECTED_NODE,
    VOLUME,
    Storage,
    claims_of,
    class_of,
    is_bound,
)
from volcano_lab.cache.api_server import ApiServer


def bind_claims(server: ApiServer, storage: Storage, pod: Pod, node: Node) -> None:
    """Bind the claims of a pod as the scheduler has assumed."""
    for name, _ in claims_of(pod):
        claim = storage.latest(CLAIM, f"{pod.namespace}/{name}")
        if claim is None or is_bound(claim):
            continue
        ref = ClaimReference("v1", CLAIM, claim.namespace, claim.name, claim.metadata.uid)
        volume = next((volume for volume in storage.all(VOLUME) if volume.spec.claim_ref == ref),
                      None)
        if volume is None and SELECTED_NODE not in claim.metadata.annotations:
            continue
        if volume is None:
            volume = server.create(_made(claim, ref, storage, node))
        else:
            volume = server.update(volume.changed(status={"phase": "Bound"}))
        notes = claim.metadata.annotations | {BIND_COMPLETED: "yes"}
        server.update(claim.changed(metadata={"annotations": notes}, status={"phase": "Bound"},
                                    spec={"volume_name": volume.name}))


def _made(claim: PersistentVolumeClaim, ref: ClaimReference, storage: Storage, node: Node
          ) -> PersistentVolume:
    """A new volume for a claim, near a node."""
    driver = storage.get(StorageClass.kind, class_of(claim)).provisioner
    csi, name = storage.get(CSINode.kind, node.name), f"pvc-{claim.metadata.uid}"
    labels = node.metadata.labels
    near = [NodeSelectorRequirement(key, "In", [labels[key]])
            for each in (csi.spec.drivers if csi else ()) if each.name == driver
            for key in each.topology_keys if key in labels]
    affinity = VolumeNodeAffinity(NodeSelector([NodeSelectorTerm(near)])) if near else None
    wanted = claim.spec
    return PersistentVolume(ObjectMeta(name), PersistentVolumeSpec(
        {"storage": wanted.resources.requests.get("storage", "0")}, wanted.access_modes, ref,
        class_of(claim), wanted.volume_mode, wanted.volume_attributes_class_name, affinity,
        CSIVolumeSource(driver, name)), PersistentVolumeStatus("Bound"))
