"""The claims to volumes that controllers create with new pods: those of Jobs and StatefulSets, and
those of ephemeral volumes; the volumes of new claims that wait for no pod; and the CSINodes that
an export lacks.

Differs on purpose: the claim of a Job has a number at the end of its name in place of random
letters.

Volcano: pkg/controllers/job/job_controller_actions.go (createJobIOIfNotExist)
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from volcano_lab.api import objects as api
from volcano_lab.api.storage import DRIVER, NO_PROVISIONER, WAIT, class_of, size, suits
from volcano_lab.manifests.job_controller import claims_of_job
from volcano_lab.manifests.loader import ManifestError, about, labelled
from volcano_lab.manifests.misfits import Misfits
from volcano_lab.manifests.schema import structure

Owned = Mapping[tuple[str, str, str, str], api.KubernetesObject]
"""Owners by apiVersion, kind, namespace and name."""


def created_with(pod: api.Pod, owned: Owned) -> Iterator[api.PersistentVolumeClaim]:
    """Yield the claims that controllers create with a new pod of one of the owners.

    Raises `ManifestError` where the template of an ephemeral volume is not that of a claim.
    """
    for ref in pod.metadata.owner_references:
        owner = owned.get((ref.api_version, ref.kind, pod.namespace, ref.name))
        if isinstance(owner, api.VolcanoJob):
            for name, volume in claims_of_job(owner).items():
                if not volume.volume_claim_name and volume.volume_claim is not None:
                    yield api.PersistentVolumeClaim(api.ObjectMeta(
                        name, pod.namespace, owner_references=[ref]), volume.volume_claim)
        elif isinstance(owner, api.StatefulSet):
            for template in owner.spec.volume_claim_templates:
                yield api.PersistentVolumeClaim(template.metadata.evolve(
                    name=f"{template.metadata.name}-{pod.name}", namespace=pod.namespace),
                    template.spec)
    controller = api.OwnerReference("v1", "Pod", pod.name, pod.metadata.uid, True, True)
    for number, each in enumerate(pod.spec.volumes):
        own = each.get("ephemeral")
        if isinstance(own, dict) and "volumeClaimTemplate" in own:
            template = _template(pod, number, own["volumeClaimTemplate"])
            yield api.PersistentVolumeClaim(template.metadata.evolve(
                name=f"{pod.name}-{each.get('name', '')}", namespace=pod.namespace,
                owner_references=[controller]), template.spec)


def _template(pod: api.Pod, number: int, given: Any) -> api.PersistentVolumeClaimTemplate:
    """Return the template of an ephemeral volume, which is one of a pod's volumes by its number."""
    path, misfits = f"spec.volumes[{number}].ephemeral.volumeClaimTemplate", Misfits(strict=False)
    template: api.PersistentVolumeClaimTemplate = structure(
        api.PersistentVolumeClaimTemplate, given, misfits, ((), path))
    if misfits.errors:
        raise ManifestError([about(labelled(pod, None), each) for each in misfits.errors])
    return template


def with_volume(claim: api.PersistentVolumeClaim, classes: Iterable[api.StorageClass],
                volumes: Iterable[api.PersistentVolume] = ()) -> list[api.KubernetesObject]:
    """Return a claim that is complete; of a new one whose class provisions at once also its volume,
    to which it is bound. The volume is reached from the topologies that the class allows. One whose
    class provisions none, or is not there, is bound to the smallest free volume that suits it.

    >>> found = api.StorageClass(api.ObjectMeta("fast"), "disk.csi.io")
    >>> claim = api.PersistentVolumeClaim(api.ObjectMeta("a", "b", "u"))
    >>> claim.spec.storage_class_name = "fast"
    >>> [each.name for each in with_volume(claim, [found])]
    ['a', 'pvc-u']
    """
    found = next((each for each in classes if each.name == class_of(claim)), None)
    if claim.spec.volume_name or (found is not None and found.volume_binding_mode == WAIT):
        return [claim]
    if found is None or found.provisioner in ("", NO_PROVISIONER):
        free = sorted((each for each in volumes if each.status.phase == "Available"
                       and suits(each, claim) and not (each.spec.claim_ref or claim.spec.selector)
                       and {*claim.spec.access_modes} <= {*each.spec.access_modes}), key=size)
        return [claim.bound(each.name) for each in free[:1]] or [claim]
    wanted, name = claim.spec, f"pvc-{claim.metadata.uid}"
    terms = [api.NodeSelectorTerm([api.NodeSelectorRequirement(each.key, "In", each.values)
                                   for each in term.match_label_expressions])
             for term in found.allowed_topologies]
    affinity = api.VolumeNodeAffinity(api.NodeSelector(terms)) if terms else None
    return [claim.bound(name), api.PersistentVolume(api.ObjectMeta(name), api.PersistentVolumeSpec(
        {"storage": wanted.resources.requests.get("storage", "0")}, wanted.access_modes,
        claim.reference(), found.name, wanted.volume_mode, wanted.volume_attributes_class_name,
        affinity, api.CSIVolumeSource(found.provisioner, name)),
        api.PersistentVolumeStatus("Bound"))]


def csi_nodes(objects: Iterable[api.KubernetesObject]) -> list[api.CSINode]:
    """Return what each node of a cluster has, and some exports lack: its CSINode, with the drivers
    of all volumes and classes and no limits. None for nodes that no API server has stored.

    >>> node = api.Node(api.ObjectMeta("n1", resource_version="7"))
    >>> found = csi_nodes([node, api.StorageClass(api.ObjectMeta("fast"), "disk.csi.io")])
    >>> [(each.name, each.spec.drivers[0].name) for each in found]
    [('n1', 'disk.csi.io')]
    """
    drivers, nodes = dict[str, None](), list[str]()
    for obj in objects:
        if isinstance(obj, api.CSINode):
            return []
        if isinstance(obj, api.StorageClass):
            drivers[obj.parameters.get(DRIVER, obj.provisioner)] = None
        if isinstance(obj, api.PersistentVolume) and obj.spec.csi:
            drivers[obj.spec.csi.driver] = None
        nodes += [obj.name] * (isinstance(obj, api.Node) and bool(obj.metadata.resource_version))
    spec = api.CSINodeSpec([api.CSINodeDriver(name) for name in sorted(drivers)
                            if name not in ("", NO_PROVISIONER)])
    return [api.CSINode(api.ObjectMeta(name), spec) for name in nodes if spec.drivers]
