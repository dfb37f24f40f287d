"""Kubernetes' handling of the volumes of a pod that gets a node: its claims are bound.

Replaces the controller of PersistentVolumes and the drivers that provision volumes, which act at
once and never fail. A provisioned volume is accessible from the nodes with the pod's node's labels
of the driver's `topologyKeys` (in the CSINode), or from everywhere.

Volcano: pkg/scheduler/capabilities/volumebinding/binder.go (BindPodVolumes)
"""

from volcano_lab.api import objects as api
from volcano_lab.api.storage import CLAIM, SELECTED_NODE, VOLUME, Storage, claims_of, class_of
from volcano_lab.cache.api_server import ApiServer


def bind_claims(server: ApiServer, storage: Storage, pod: api.Pod, node: api.Node) -> None:
    """Bind the claims of a pod as the scheduler assumed."""
    for name, _ in claims_of(pod):
        claim = server.find(CLAIM, f"{pod.namespace}/{name}")
        if claim is None or claim.is_bound:  # the event of another pod's binding may be in flight
            continue
        ref, assumed = claim.reference(), storage.latest(CLAIM, claim.key)
        volume = next((server.find(VOLUME, volume.name) for volume in storage.all(VOLUME)
                       if volume.spec.claim_ref == ref), None)
        if volume is not None:
            server.update(volume.changed(spec={"claim_ref": ref}, status={"phase": "Bound"}))
        elif assumed is not None and SELECTED_NODE in assumed.metadata.annotations:
            volume = server.create(_provisioned(claim, storage, node))
        if volume is not None:
            server.update(claim.bound(volume.name))


def _provisioned(claim: api.PersistentVolumeClaim, storage: Storage, node: api.Node
                 ) -> api.PersistentVolume:
    """Return a new volume for a claim, near a node."""
    driver, wanted = storage.class_of(claim).provisioner, claim.spec
    csi, name = storage.get(api.CSINode.kind, node.name), f"pvc-{claim.metadata.uid}"
    labels = node.metadata.labels
    near = [api.NodeSelectorRequirement(key, "In", [labels[key]])
            for each in (csi.spec.drivers if csi else ()) if each.name == driver
            for key in each.topology_keys if key in labels]
    terms = api.NodeSelector([api.NodeSelectorTerm(near)]) if near else None
    return api.PersistentVolume(api.ObjectMeta(name), api.PersistentVolumeSpec(
        {"storage": wanted.resources.requests.get("storage", "0")}, wanted.access_modes,
        claim.reference(), class_of(claim), wanted.volume_mode, wanted.volume_attributes_class_name,
        api.VolumeNodeAffinity(terms), api.CSIVolumeSource(driver, name)),
        api.PersistentVolumeStatus("Bound"))
