"""What Volcano's scheduler looks at and the lab does not model, so that manifests which have it can
be told so.

Volumes, dynamic resource allocation, the sharding of nodes among schedulers, NUMA topology: objects
of these kinds have no effect, and pods that ask for such things are placed as if they didn't.
"""

from __future__ import annotations

from volcano_lab.api.objects import Pod

VOLUMES, CLAIMS = "volumes", "dynamic resource allocation"

KINDS = {**dict.fromkeys(("PersistentVolume", "PersistentVolumeClaim", "StorageClass", "CSINode",
                          "CSIDriver", "CSIStorageCapacity", "VolumeAttachment"), VOLUMES),
         **dict.fromkeys(("ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "DeviceClass"),
                         CLAIMS), "NodeShard": "the sharding of nodes among schedulers",
         "Numatopology": "NUMA topology within a node",
         "CronJob": "Jobs by a schedule; give one of its Jobs",
         **dict.fromkeys(("JobFlow", "JobTemplate"), "flows of Jobs; give the Jobs")}
"""Kind -> what it is about."""

VOLUME_SOURCES = ("persistentVolumeClaim", "ephemeral")
"""Volumes that bind a pod to nodes; all others come with the pod, wherever it goes."""


def pod_warnings(pod: Pod) -> list[str]:
    """A sentence for each thing that a pod asks for in vain.

    >>> from volcano_lab.api.objects import ObjectMeta, PodSpec
    >>> volume = {"name": "data", "persistentVolumeClaim": {"claimName": "d"}}
    >>> pod_warnings(Pod(ObjectMeta("p"), PodSpec(volumes=[volume])))
    ['spec.volumes names data; volumes are not modelled by the lab,
    and the pod is placed as if it had none.']
    """
    claimed = [str(volume.get("name", ""))
               for volume in pod.spec.volumes if any(source in volume for source in VOLUME_SOURCES)]
    claims = [str(claim.get("name", "")) for claim in pod.spec.resource_claims]
    return [f"{field} names {', '.join(names)}; {what} {verb} not modelled by the lab, and the pod "
            "is placed as if it had none."
            for field, names, what, verb in (("spec.volumes", claimed, VOLUMES, "are"),
                                             ("spec.resourceClaims", claims, CLAIMS, "is"))
            if names]
