"""Features that Volcano's scheduler reads and the lab does not model, for warnings about manifests
that use them.

Dynamic resource allocation, the sharding of nodes among schedulers, NUMA topology: objects of these
kinds have no effect, and pods that request such things are placed as if they didn't. So are pods
with claims if no object about volumes is given.
"""

from collections.abc import Iterable

from volcano_lab.api.objects import KubernetesObject, Node, Pod
from volcano_lab.api.storage import KINDS as STORAGE_KINDS
from volcano_lab.messages import Message

KINDS = {**dict.fromkeys(("CSIDriver", "CSIStorageCapacity", "VolumeAttachment"), "volumes"),
         **dict.fromkeys(("ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "DeviceClass"),
                         "claims"), "NodeShard": "shards", "Numatopology": "numa",
         **dict.fromkeys(("RayCronJob", "Cron"), "schedule"),
         **dict.fromkeys(("WorkflowTemplate", "ClusterWorkflowTemplate"), "patterns"),
         "HyperJob": "clusters"}
"""Kind -> its subject, a message of `unmodelled`."""

def claims_decide(objects: Iterable[KubernetesObject]) -> bool:
    """Return whether claims to volumes decide: one of the objects is about volumes."""
    return any(obj.kind in STORAGE_KINDS for obj in objects)


def warnings_of(obj: KubernetesObject) -> list[Message]:
    """Return a message for each field of an object that has no effect.

    >>> from volcano_lab.api.objects import NodeSpec, ObjectMeta, Taint
    >>> print(*warnings_of(Node(ObjectMeta("n1"), NodeSpec(taints=[Taint("gpu")]))))
    spec.taints[0] has no effect, as it names none; allowed are NoSchedule, PreferNoSchedule and
    NoExecute
    """
    if isinstance(obj, Node):
        return [Message("manifest.taint", number=number)
                for number, taint in enumerate(obj.spec.taints) if not taint.effect]
    return pod_warnings(obj) if isinstance(obj, Pod) else []


def pod_warnings(pod: Pod) -> list[Message]:
    """Return a message for each request of a pod that has no effect.

    >>> from volcano_lab.api.objects import ObjectMeta, PodSpec
    >>> print(*pod_warnings(Pod(ObjectMeta("p"), PodSpec(resource_claims=[{"name": "gpu"}]))))
    spec.resourceClaims names gpu; dynamic resource allocation is not modelled by the lab,
    and the pod is placed as if it had none.
    """
    names = [str(claim.get("name", "")) for claim in pod.spec.resource_claims]
    return [Message("manifest.claims", names=names, what=Message("unmodelled.claims"))
            ] if names else []
