"""Volumes: a pod is placed only where its claims have, or can get, their volumes.

A bound claim needs a node that can access its volume. An unbound one waits for Kubernetes, unless
its StorageClass has `WaitForFirstConsumer`: then the smallest free matching volume is used, or one
is provisioned for the pod's node. Volcano reserves volumes where a pod is allocated, under the node
to which it was last *allocated*, so a pipelined pod reserves none; and volumes that a statement
reserved, released and reserves again are no longer reserved. Both are kept.

Omitted: the translation of in-tree volumes (`awsElasticBlockStore`, ...) to CSI, and
CSIStorageCapacity, which Volcano reads only with `--csi-storage`.

Volcano: pkg/scheduler/capabilities/volumebinding, k8s.io/component-helpers/storage/volume
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial

import numpy as np
from attrs import evolve

from volcano_lab.api import EVERYTHING, label_selector, objects as api, storage as stored
from volcano_lab.api.fit_error import SUCCESS, UNRESOLVABLE, Status
from volcano_lab.api.node_affinity import node_terms

from .node_pods import KubeNode, KubeNodes, NodeByNode
from .pod_info import PodInfo

NAME = "VolumeBinding"
NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind"
NO_VOLUME = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
UNBOUND = "pod has unbound immediate PersistentVolumeClaims"
Wanted = tuple[api.PersistentVolume | None, api.PersistentVolumeClaim]
"""A claim with the free volume for it; None where one would be provisioned."""


def not_owned(pod: api.Pod, claim: api.PersistentVolumeClaim) -> str:
    """Return the error where an ephemeral volume's claim was not created for the pod, or ""."""
    return "" if stored.owned_by(claim, pod) else (
        f"PVC {claim.key} was not created for pod {pod.key} (pod is not owner)")


def unusable(pod: api.Pod, storage: stored.Storage, name: str, ephemeral: bool) -> str:
    """Return the error where a pod's claim does not exist or cannot be used, or ""."""
    claim = storage.get(stored.CLAIM, f"{pod.namespace}/{name}")
    if claim is None:
        return (f'waiting for ephemeral volume controller to create the persistentvolumeclaim '
                f'"{name}"' if ephemeral else f'persistentvolumeclaim "{name}" not found')
    if claim.status.phase == "Lost":
        return (f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume '
                f'"{claim.spec.volume_name}"')
    if claim.metadata.deletion_timestamp is not None:
        return f'persistentvolumeclaim "{name}" is being deleted'
    return not_owned(pod, claim) if ephemeral else ""


def pre_filter(kube: KubeNodes, info: PodInfo, storage: stored.Storage) -> ClaimsState | str | None:
    """Return the pod's claims; text where no node can fit, None without claims."""
    claims, pod = stored.claims_of(info.pod), info.pod
    errors = (unusable(pod, storage, name, ephemeral) for name, ephemeral in claims)
    if error := next(filter(None, errors), ""):
        return error
    if not claims:
        return None
    claimed = [storage.latest(stored.CLAIM, f"{pod.namespace}/{claim.name}") for claim in claims]
    state = ClaimsState(kube, storage, claimed)
    classes = {claim.key: storage.class_of(claim) for claim in claimed if not claim.is_bound}
    for found in classes.values():
        if found is not None and found.volume_binding_mode is None:
            return f'VolumeBindingMode not set for StorageClass "{found.name}"'
    waits = {key for key, found in classes.items()
             if found and found.volume_binding_mode == stored.WAIT}
    if any(claim.key not in waits or claim.spec.volume_name for claim in state.unbound):
        return UNBOUND
    return state


class Volumes:
    """The volumes as assumed at some `version`, smallest first, and which nodes `reach` each: the
    last row is that of no volume.
    """

    def __init__(self, kube: KubeNodes, storage: stored.Storage):
        self.kube, self.version = kube, storage.version
        self.all: list[api.PersistentVolume] = sorted(storage.all(stored.VOLUME), key=stored.size)
        self.reach = np.array([*map(self.reaches, self.all), np.zeros(len(kube.nodes), bool)])
        self._free: dict[Hashable, np.ndarray] = {}

    def reaches(self, volume: api.PersistentVolume) -> np.ndarray:
        """Return True for the nodes that can access a volume, by their labels."""
        def compute() -> np.ndarray:
            affinity = volume.spec.node_affinity
            if affinity is None or affinity.required is None:
                return np.ones(len(self.kube.nodes), bool)
            terms = node_terms(affinity.required)  # of a node without a name
            return self.kube.matching([evolve(term, fields=()) for term in terms if all(
                field.operator != "In" for field in term.fields)])

        return self.kube.remember(("volume", volume.name), compute)

    def reserved(self, claim: api.PersistentVolumeClaim) -> list[api.PersistentVolume]:
        """Return the volumes reserved for a claim that suit it."""
        return sorted((volume for volume in self.all if volume.spec.claim_ref is not None
                       and stored.suits(volume, claim)), key=lambda volume: volume.key)

    def free(self, claim: api.PersistentVolumeClaim) -> np.ndarray:
        """Return True for the free volumes that match a claim; of one kind of claim once."""
        wanted, modes = claim.spec, frozenset(claim.spec.access_modes)
        selector = EVERYTHING if wanted.selector is None else label_selector(wanted.selector)
        kind = (stored.class_of(claim), stored.size(claim), selector, modes, wanted.volume_mode,
                wanted.volume_attributes_class_name)
        if kind not in self._free:
            self._free[kind] = np.array([*(
                volume.spec.claim_ref is None and volume.status.phase == "Available"
                and selector.matches(volume.metadata.labels) and stored.suits(volume, claim)
                and modes <= set(volume.spec.access_modes) for volume in self.all), False])
        return self._free[kind]


class ClaimsState(NodeByNode):
    """The claims of an incoming pod, and by node the volumes that it would use there."""

    def __init__(self, kube: KubeNodes, storage: stored.Storage,
                 claims: list[api.PersistentVolumeClaim]):
        self.kube, self.storage = kube, storage
        if kube.remember("volumes", lambda: Volumes(kube, storage)).version != storage.version:
            kube.memo["volumes"] = Volumes(kube, storage)
        self.volumes: Volumes = kube.memo["volumes"]
        self.bound = [claim for claim in claims if claim.is_bound]
        self.unbound = sorted((claim for claim in claims if not claim.is_bound), key=stored.size)
        self.choice = [(self.volumes.reserved(claim), self.volumes.free(claim))
                       for claim in self.unbound]
        self.passed = np.zeros(len(kube.nodes), bool)  # nodes that did not refuse the pod
        # node -> the volume of each unbound claim there, once they are asked for
        self.found: dict[str, list[Wanted]] = {}

    # -- which nodes -------------------------------------------------------------------------------

    def refusal(self, node: KubeNode) -> Status | None:
        """Return why the pod cannot be on the node, or None."""
        reasons, missing = [], False
        for claim in self.bound:
            volume = self.storage.latest(stored.VOLUME, claim.spec.volume_name)
            if volume is None:
                missing = True
                break
            if not self.volumes.reaches(volume)[node.row]:
                reasons.append(NODE_CONFLICT)
                break
        if self._unbound_on(node) is None:
            reasons.append(BIND_CONFLICT)
        if missing:
            reasons.append(NO_VOLUME)
        if reasons:
            return Status(UNRESOLVABLE, ", ".join(reasons), NAME)
        self.found.pop(node.name, None)
        self.passed[node.row] = True
        return None

    def codes(self) -> np.ndarray:
        """Return the code of `refusal` for all nodes at once; node by node where a claim has a
        volume or a node already.
        """
        if any(kept or claim.metadata.annotations.get(stored.SELECTED_NODE)
               for claim, (kept, _) in zip(self.unbound, self.choice, strict=True)):
            return super().codes()
        fits, rows = np.ones(len(self.kube.nodes), bool), np.arange(len(self.kube.nodes))
        for claim in self.bound:
            volume = self.storage.latest(stored.VOLUME, claim.spec.volume_name)
            fits &= self.volumes.reaches(volume) if volume is not None else False
        taken: list[np.ndarray] = []
        for claim, (_, free) in zip(self.unbound, self.choice, strict=True):
            usable = self.volumes.reach & free[:, None]
            for earlier in taken:
                usable[earlier, rows] = False
            first = usable.argmax(axis=0)
            taken.append(np.where(usable[first, rows], first, len(free) - 1))
            fits &= usable[first, rows] | self.kube.mask(
                ("provides", stored.class_of(claim)), partial(self._can_provision, claim))
        self.found, self.passed = {}, fits
        return np.where(fits, SUCCESS, UNRESOLVABLE)

    def _unbound_on(self, node: KubeNode) -> list[Wanted] | None:
        """Return the unbound claims' volumes on a node; None where one of them has none."""
        found: list[Wanted] = []
        selected = [claim.metadata.annotations.get(stored.SELECTED_NODE) for claim in self.unbound]
        if any(name not in (None, node.name) for name in selected):
            return None
        for claim, (kept, free), name in zip(self.unbound, self.choice, selected, strict=True):
            taken = {volume.name for volume, _ in found if volume is not None}
            volume = None if name else self._first(kept, free, taken, node.row)
            if volume is None and not self._can_provision(claim, node):
                return None
            found.append((volume, claim))
        return found

    def _first(self, kept: list[api.PersistentVolume], free: np.ndarray, taken: set[str], row: int
               ) -> api.PersistentVolume | None:
        """Return the volume reserved for a claim, or else the smallest free one in reach."""
        for volume in kept:
            if volume.name not in taken:
                return volume if self.volumes.reaches(volume)[row] else None
        near = map(self.volumes.all.__getitem__, (self.volumes.reach[:, row] & free).nonzero()[0])
        return next((volume for volume in near if volume.name not in taken), None)

    def _can_provision(self, claim: api.PersistentVolumeClaim, node: KubeNode) -> bool:
        """Return whether a volume of the claim's class can be provisioned for a node."""
        found = self.storage.class_of(claim)
        return found.provisioner not in ("", stored.NO_PROVISIONER) and (
            not found.allowed_topologies or any(
                term.match_label_expressions and all(
                    node.labels.get(label.key) in label.values
                    for label in term.match_label_expressions)
                for term in found.allowed_topologies))

    # -- reserving ---------------------------------------------------------------------------------

    def _wanted(self, name: str) -> list[Wanted]:
        """Return the unbound claims' volumes on a node that did not refuse the pod."""
        node = self.kube.by_name.get(name)
        if name not in self.found and node is not None and self.passed[node.row]:
            self.found[name] = self._unbound_on(node) or []
        return self.found.get(name, [])

    def reserve(self, node_name: str) -> None:
        """Assume the pod's volumes on a node; a second time, only those to be provisioned."""
        for volume, claim in self._wanted(node_name):
            if volume is not None:
                self.storage.assume(volume.changed(spec={"claim_ref": claim.reference()}))
            else:
                notes = claim.metadata.annotations | {stored.SELECTED_NODE: node_name}
                self.storage.assume(claim.changed(metadata={"annotations": notes}))

    def release(self, node_name: str) -> None:
        """Remove the assumption."""
        found = self._wanted(node_name)
        for volume, claim in found:
            obj = volume or claim
            self.storage.restore(obj.kind, obj.key)
        found[:] = [(volume, claim) for volume, claim in found if volume is None]
