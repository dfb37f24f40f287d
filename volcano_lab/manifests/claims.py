"""The claims to volumes that controllers create with new pods: those of Jobs and StatefulSets, and
those of ephemeral volumes.

Differs on purpose: the claim of a Job has a number at the end of its name in place of random
letters.

Volcano: pkg/controllers/job/job_controller_actions.go (createJobIOIfNotExist)
"""

from collections.abc import Iterator, Mapping
from typing import Any

from volcano_lab.api import objects as api
from volcano_lab.manifests.job_controller import claims_of_job
from volcano_lab.manifests.loader import ManifestError, about, labelled
from volcano_lab.manifests.schema import Findings, structure

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
    path, findings = f"spec.volumes[{number}].ephemeral.volumeClaimTemplate", Findings(strict=False)
    template: api.PersistentVolumeClaimTemplate = structure(
        api.PersistentVolumeClaimTemplate, given, findings, ((), path))
    if findings.errors:
        raise ManifestError([about(labelled(pod, None), each) for each in findings.errors])
    return template
