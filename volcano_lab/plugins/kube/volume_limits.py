"""Volumes on nodes: the limit per CSI driver, and the volumes' zones.

Volcano checks both node by node only. Omitted: VolumeAttachments, which count volumes that no pod
uses any more.

Volcano: k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits,
k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumezone
"""

from collections import Counter
from functools import partial

from volcano_lab.api.fit_error import ERROR, UNRESOLVABLE, UNSCHEDULABLE, Status
from volcano_lab.api.objects import CSINode, PersistentVolumeClaim, Pod
from volcano_lab.api.storage import CLAIM, VOLUME, WAIT, Storage, claims_of, class_of

from .node_pods import KubeNode, KubeNodes, NodeByNode
from .pod_info import PodInfo
from .volume_binding import not_owned

LIMITS, ZONE = "NodeVolumeLimits", "VolumeZone"
TOO_MANY = "node(s) exceed max volume count"
OTHER_ZONE = "node(s) had no available volume zone"
_BETA, _TOPOLOGY = "failure-domain.beta.kubernetes.io/", "topology.kubernetes.io/"
ZONES = tuple(prefix + what for prefix in (_BETA, _TOPOLOGY) for what in ("zone", "region"))
Places = list[tuple[str, frozenset[str]]]


# -- limits ----------------------------------------------------------------------------------------


def pre_filter_limits(kube: KubeNodes, info: PodInfo, storage: Storage) -> NodeByNode | None:
    """Return the check of volumes to attach for an incoming pod; None without claims."""
    if not claims_of(info.pod):
        return None
    wanted = volumes_of(info.pod, storage, True)
    limits = kube.remember("limits", lambda: {
        node.name: limits_of(storage, node.name) for node in kube.nodes})
    if isinstance(wanted, Status) or not wanted or not any(limits.values()):
        return NodeByNode(kube, partial(_refused, wanted if isinstance(wanted, Status) else None))

    def refusal(node: KubeNode) -> Status | None:
        if not limits[node.name]:
            return None
        there: dict[tuple[str, str], str] = {}
        for other in kube.pods(node):
            found = kube.remember(("attached", other.pod.key), partial(
                volumes_of, other.pod, storage, False))
            if isinstance(found, Status):
                return found
            there.update(found)
        new, old = Counter((wanted | there).values()), Counter(there.values())
        if any(new[driver] > max(most, old[driver]) for driver, most in limits[node.name].items()):
            return Status(UNSCHEDULABLE, TOO_MANY, LIMITS)
        return None

    return NodeByNode(kube, refusal)


def limits_of(storage: Storage, node: str) -> dict[str, int]:
    """Return each CSI driver's limit on a node; drivers without a limit are omitted."""
    csi = storage.get(CSINode.kind, node)
    return {driver.name: driver.allocatable.count for driver in (csi.spec.drivers if csi else ())
            if driver.allocatable is not None and driver.allocatable.count is not None}


def volumes_of(pod: Pod, storage: Storage, incoming: bool) -> dict[tuple[str, str], str] | Status:
    """Return the CSI volumes of a pod: (driver, volume) -> driver."""
    found = {}
    for name, ephemeral in claims_of(pod):
        key = f"{pod.namespace}/{name}"
        claim = storage.get(CLAIM, key) if name else None
        if not name:
            return Status(ERROR, "PersistentVolumeClaim had no name", LIMITS)
        if claim is None and incoming:
            return Status(UNRESOLVABLE, f'looking up PVC {key}: persistentvolumeclaim "{name}" '
                          "not found", LIMITS)
        if claim is None:
            continue
        if ephemeral and (wrong := not_owned(pod, claim)):
            return Status(ERROR, wrong, LIMITS)
        volume = storage.get(VOLUME, claim.spec.volume_name)
        storage_class = storage.class_of(claim)
        if volume is not None:
            source = volume.spec.csi
            driver, handle = (source.driver, source.volume_handle) if source else ("", "")
        else:  # to be provisioned: its claim's name is unique
            driver, handle = storage_class.provisioner if storage_class else "", f" {key}"
        if driver and handle:
            found[driver, handle] = driver
    return found


# -- zones -----------------------------------------------------------------------------------------


def _refused(status: Status | None, node: KubeNode) -> Status | None:
    return status


def pre_filter_zones(kube: KubeNodes, info: PodInfo, storage: Storage) -> NodeByNode | None:
    """Return the check of the zones of an incoming pod's volumes; None without claims."""
    claimed = claims_of(info.pod)
    if not claimed:
        return None
    places: Places = []
    for name, ephemeral in claimed:
        found = [] if ephemeral else _places(info.namespace, name, storage)
        if isinstance(found, str):
            return NodeByNode(kube, partial(_refused, Status(UNRESOLVABLE, found, ZONE)))
        places += found
    if not places:
        return NodeByNode(kube, partial(_refused, None))

    def refusal(node: KubeNode) -> Status | None:
        labels = node.labels
        outside = any(label in labels for label in ZONES) and any(
            labels.get(key, labels.get(key.replace(_BETA, _TOPOLOGY))) not in values
            for key, values in places)
        return Status(UNRESOLVABLE, OTHER_ZONE, ZONE) if outside else None

    return NodeByNode(kube, refusal)


def _places(namespace: str, name: str, storage: Storage) -> Places | str:
    """Return the zones of a claim's volume; text on an error."""
    if not name:
        return "PersistentVolumeClaim had no name"
    claim: PersistentVolumeClaim | None = storage.get(CLAIM, f"{namespace}/{name}")
    if claim is None:
        return f'persistentvolumeclaim "{name}" not found'
    if not claim.spec.volume_name:  # empty while the claim waits for its pod
        storage_class = storage.class_of(claim)
        if not class_of(claim):
            return "PersistentVolumeClaim had no pv name and storageClass name"
        if storage_class is None:
            return f'storageclass.storage.k8s.io "{class_of(claim)}" not found'
        if storage_class.volume_binding_mode is None:
            return f'VolumeBindingMode not set for StorageClass "{storage_class.name}"'
        return [] if storage_class.volume_binding_mode == WAIT else "PersistentVolume had no name"
    volume = storage.get(VOLUME, claim.spec.volume_name)
    if volume is None:
        return f'persistentvolume "{claim.spec.volume_name}" not found'
    found = [(key, frozenset(map(str.strip, volume.metadata.labels[key].split("__"))))
             for key in ZONES if key in volume.metadata.labels]
    return [(key, values) for key, values in found if "" not in values]
