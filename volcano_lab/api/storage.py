"""The volumes of a cluster, with the scheduler's assumptions ahead of the API server.

When a pod is allocated, the volumes for its claims are assumed reserved, and released with the
node. The API server's next version of such an object replaces the assumption. The state lasts from
cycle to cycle.

Volcano: k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding/assume_cache.go
"""

from collections import Counter
from collections.abc import Iterator
from hashlib import sha1
from typing import Any, NamedTuple

from volcano_lab.api import objects as api
from volcano_lab.api.quantity import value

CLAIM, VOLUME = api.PersistentVolumeClaim.kind, api.PersistentVolume.kind
KINDS = api.StorageClass.kind, api.CSINode.kind, VOLUME, CLAIM
WAIT, NO_PROVISIONER = "WaitForFirstConsumer", "kubernetes.io/no-provisioner"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
CLASS = "volume.beta.kubernetes.io/storage-class"
DRIVER = "csi.storage.k8s.io/csi-driver-name"
"""The StorageClass parameter with a driver other than its provisioner."""
ATTACHABLE = "attachable-volumes-csi-"
UNLIMITED_VOLUMES = 2**31 - 1
"""The limit of a node's volumes for a driver without a count."""
IGNORED_PROVISIONERS = frozenset(("rancher.io/local-path", "hostpath.csi.k8s.io"))
"""Drivers whose volumes Volcano never counts."""


class Claimed(NamedTuple):
    """A claim that a pod refers to; an ephemeral one is created for the pod alone."""

    name: str
    ephemeral: bool = False


def claims_of(pod: api.Pod) -> list[Claimed]:
    """Return the claims of a pod's volumes.

    >>> from volcano_lab.api.objects import ObjectMeta, PodSpec
    >>> volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}},
    ...            {"name": "tmp", "ephemeral": {}}, {"name": "conf", "configMap": {}}]
    >>> claims_of(api.Pod(ObjectMeta("web"), PodSpec(volumes=volumes)))
    [Claimed(name='data', ephemeral=False), Claimed(name='web-tmp', ephemeral=True)]
    """
    found = []
    for volume in pod.spec.volumes:
        claim = volume.get("persistentVolumeClaim")
        if isinstance(claim, dict):
            found.append(Claimed(str(claim.get("claimName", ""))))
        elif isinstance(volume.get("ephemeral"), dict):
            found.append(Claimed(f"{pod.name}-{volume.get('name', '')}", True))
    return found


def class_of(obj: api.PersistentVolume | api.PersistentVolumeClaim) -> str:
    """Return the name of the StorageClass, "" for none."""
    return obj.metadata.annotations.get(CLASS, obj.spec.storage_class_name) or ""


def attach_key(driver: str) -> str:
    """Return the resource in which Volcano counts a driver's volumes; a long name is truncated.

    >>> attach_key("ebs.csi.aws.com")
    'attachable-volumes-csi-ebs.csi.aws.com'
    """
    if len(ATTACHABLE + driver) < 63:
        return ATTACHABLE + driver
    return ATTACHABLE + driver[:23] + sha1(driver.encode()).hexdigest()[:16]


def owned_by(claim: api.PersistentVolumeClaim, pod: api.Pod) -> bool:
    """Return whether an ephemeral volume's claim was created for the pod."""
    return any(owner.controller and owner.uid == pod.metadata.uid
               for owner in claim.metadata.owner_references)


def is_for(volume: api.PersistentVolume, claim: api.PersistentVolumeClaim) -> bool:
    """Return whether a volume is bound to the claim or reserved for it."""
    ref = volume.spec.claim_ref
    return ref is not None and (ref.namespace, ref.name) == (
        claim.namespace, claim.name) and ref.uid in ("", claim.metadata.uid)


def size(obj: api.PersistentVolume | api.PersistentVolumeClaim) -> int:
    """Return the bytes that a volume has, or a claim requests."""
    amounts = obj.spec.capacity if isinstance(
        obj, api.PersistentVolume) else obj.spec.resources.requests
    return value(amounts.get("storage", "0"))


def suits(volume: api.PersistentVolume, claim: api.PersistentVolumeClaim) -> bool:
    """Return whether a volume has a claim's class, size and modes, and no other claim."""
    has, wanted = volume.spec, claim.spec
    return (class_of(volume) == class_of(claim) and size(volume) >= size(claim)
            and (has.claim_ref is None or is_for(volume, claim))
            and (has.volume_mode or "Filesystem") == (wanted.volume_mode or "Filesystem")
            and (has.volume_attributes_class_name or "") == (
                wanted.volume_attributes_class_name or "")
            and volume.metadata.deletion_timestamp is None)


class Storage:
    """Objects by kind and key; false where there are none.

    >>> from volcano_lab.api.objects import ObjectMeta
    >>> storage = Storage()
    >>> storage.add(api.PersistentVolume(ObjectMeta("disk")))
    >>> storage.assume(api.PersistentVolume(ObjectMeta("disk", labels={"taken": "yes"})))
    >>> storage.latest("PersistentVolume", "disk").metadata.labels
    {'taken': 'yes'}
    >>> storage.restore("PersistentVolume", "disk")
    >>> storage.latest("PersistentVolume", "disk").metadata.labels
    {}
    """

    __slots__ = ("_assumed", "_known", "ignored", "version")

    def __init__(self) -> None:
        self._known: dict[str, dict[str, api.KubernetesObject]] = {kind: {} for kind in KINDS}
        self._assumed: dict[tuple[str, str], api.KubernetesObject] = {}
        self.ignored = IGNORED_PROVISIONERS
        self.version = 0  # of the volumes, as assumed

    def __bool__(self) -> bool:
        return any(self._known.values())

    def __iter__(self) -> Iterator[api.KubernetesObject]:
        """Iterate over every object, as assumed."""
        return (obj for kind in KINDS for obj in self.all(kind))

    def add(self, obj: api.KubernetesObject) -> None:
        """Record an object that the API server reported; the same version again has no effect."""
        known, version = self.get(obj.kind, obj.key), obj.metadata.resource_version
        if known is None or not version or version != known.metadata.resource_version:
            self._known[obj.kind][obj.key] = obj
            self.restore(obj.kind, obj.key)

    def delete(self, obj: api.KubernetesObject) -> None:
        """Delete an object."""
        self._known[obj.kind].pop(obj.key, None)
        self.restore(obj.kind, obj.key)

    def get(self, kind: str, key: str) -> Any:
        """Return an object as the API server reported it, or None."""
        return self._known[kind].get(key)

    def latest(self, kind: str, key: str) -> Any:
        """Return an object as assumed, or None."""
        return self._assumed.get((kind, key)) or self.get(kind, key)

    def class_of(self, claim: api.PersistentVolumeClaim) -> Any:
        """Return the StorageClass of a claim, or None."""
        return self.get(api.StorageClass.kind, class_of(claim))

    def driver_of(self, claim: api.PersistentVolumeClaim) -> str:
        """Return the driver under which Volcano counts a claim's volume, "" for none: that of the
        volume, or of the class while there is no volume, even if it attaches nothing.
        """
        volume, found = self.get(VOLUME, claim.spec.volume_name), self.class_of(claim)
        if volume is not None:
            return volume.spec.csi.driver if volume.spec.csi else ""
        return found.parameters.get(DRIVER, found.provisioner) if found else ""

    def attached(self, pod: api.Pod) -> dict[str, int]:
        """Return a pod's number of volumes by driver; empty while any of its claims is missing."""
        drivers = []
        for name, ephemeral in claims_of(pod):
            claim = self.get(CLAIM, f"{pod.namespace}/{name}")
            if claim is None or (ephemeral and not owned_by(claim, pod)):
                return {}
            drivers.append(self.driver_of(claim))
        return Counter(attach_key(name) for name in drivers if name and name not in self.ignored)

    def attachable(self, node: str) -> dict[str, str]:
        """Return a node's limit of volumes by driver, from its CSINode; Volcano treats one volume
        as a thousandth.
        """
        csi, counts = self.get(api.CSINode.kind, node), {}
        for driver in csi.spec.drivers if csi else ():
            most = driver.allocatable.count if driver.allocatable else None
            counts[attach_key(driver.name)] = f"{UNLIMITED_VOLUMES if most is None else most}m"
        return counts

    def all(self, kind: str) -> list[Any]:
        """Return the objects of a kind by ascending key, as assumed."""
        return [self.latest(kind, key) for key in sorted(self._known[kind])]

    def assume(self, obj: api.KubernetesObject) -> None:
        """Assume a version of an object."""
        self._assumed[obj.kind, obj.key] = obj
        self.version += obj.kind == VOLUME

    def restore(self, kind: str, key: str) -> None:
        """Restore the API server's last version of an object."""
        self._assumed.pop((kind, key), None)
        self.version += kind == VOLUME
