"""Kubernetes' quality-of-service class of a pod, from its requests and limits of CPU and memory.

Answers to `pkg/apis/core/v1/helper/qos` of Kubernetes. A class that the pod's status already
carries isn't read.
"""

from collections.abc import Mapping
from fractions import Fraction

from volcano_lab.api import CPU, MEMORY, quantity
from volcano_lab.api.objects import Pod

QOS_CLASSES = ("BestEffort", "Burstable", "Guaranteed")
"""From the one that is evicted first to the one that is evicted last."""

COMPUTE = (CPU, MEMORY)


def qos_class(pod: Pod) -> str:
    """`BestEffort` without any request or limit, `Guaranteed` where every container has limits that
    equal its requests.

    Where the pod has requests and limits as a whole, those of its containers don't count.

    >>> from volcano_lab.api.objects import Container, ObjectMeta, PodSpec, ResourceRequirements
    >>> half = ResourceRequirements({"cpu": "1"})
    >>> full = ResourceRequirements({"cpu": "1", "memory": "1Gi"}, {"cpu": "1", "memory": "1Gi"})
    >>> [qos_class(Pod(ObjectMeta("p"), PodSpec(containers=[Container(resources=r)])))
    ...  for r in (ResourceRequirements(), half, full)]
    ['BestEffort', 'Burstable', 'Guaranteed']
    """
    requests: dict[str, Fraction] = {}
    limits: dict[str, Fraction] = {}
    guaranteed = True
    whole = pod.spec.resources
    parts = [c.resources for c in (*pod.spec.containers,
                                   *pod.spec.init_containers)] if whole is None else [whole]
    for resources in parts:
        _add(requests, resources.requests)
        guaranteed = _add(limits, resources.limits) and guaranteed
    if not requests and not limits:
        return "BestEffort"
    return "Guaranteed" if guaranteed and requests == limits else "Burstable"


def _add(total: dict[str, Fraction], resources: Mapping[str, str]) -> bool:
    """Add what is above zero of CPU and memory; whether there was some of both."""
    found = 0
    for name in COMPUTE:
        amount = quantity.parse(resources.get(name, "0"))
        if amount > 0:
            total[name] = total.get(name, Fraction()) + amount
            found += 1
    return found == len(COMPUTE)
