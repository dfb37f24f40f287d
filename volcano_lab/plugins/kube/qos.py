"""Kubernetes' quality-of-service class of a pod, from its requests and limits of CPU and memory.

A class in the pod's status is not read.

Volcano: k8s.io/kubernetes/pkg/apis/core/v1/helper/qos
"""

from collections.abc import Mapping

from volcano_lab.api import CPU, MEMORY
from volcano_lab.api.objects import Pod
from volcano_lab.api.pod_sum import Amounts, add, parsed

QOS_CLASSES = ("BestEffort", "Burstable", "Guaranteed")
"""From the first to be evicted to the last."""

COMPUTE = (CPU, MEMORY)


def qos_class(pod: Pod) -> str:
    """Return `BestEffort` without any request or limit, `Guaranteed` where every container has
    limits that equal its requests.

    Where the pod has pod-level requests and limits, those of its containers do not count.

    >>> from volcano_lab.api.objects import Container, ObjectMeta, PodSpec, ResourceRequirements
    >>> half = ResourceRequirements({"cpu": "1"})
    >>> full = ResourceRequirements({"cpu": "1", "memory": "1Gi"}, {"cpu": "1", "memory": "1Gi"})
    >>> [qos_class(Pod(ObjectMeta("p"), PodSpec(containers=[Container(resources=r)])))
    ...  for r in (ResourceRequirements(), half, full)]
    ['BestEffort', 'Burstable', 'Guaranteed']
    """
    requests: Amounts = {}
    limits: Amounts = {}
    guaranteed = True
    whole = pod.spec.resources
    parts = [c.resources for c in (*pod.spec.containers,
                                   *pod.spec.init_containers)] if whole is None else [whole]
    for resources in parts:
        limited = _compute(resources.limits)
        add(requests, _compute(resources.requests))
        add(limits, limited)
        guaranteed = guaranteed and len(limited) == len(COMPUTE)
    if not requests and not limits:
        return "BestEffort"
    return "Guaranteed" if guaranteed and requests == limits else "Burstable"


def _compute(resources: Mapping[str, str]) -> Amounts:
    """Return the positive amounts of CPU and memory."""
    return {name: amount for name, amount in parsed(resources).items()
            if name in COMPUTE and amount > 0}
