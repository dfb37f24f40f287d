"""A pod's requests as Kubernetes counts them, and the scores by a node's utilization.

All amounts are integers: millicores, bytes, pieces. The scores here are for one node; `nodeorder`
has them for all nodes at once.

Volcano: k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources (resource.PodRequests,
framework.PodInfo.CalculateResource)
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from attrs import frozen

from volcano_lab.api.node_table import where
from volcano_lab.api.objects import Container, Pod, PodSpec, ResourceRequirements
from volcano_lab.api.pod_sum import Amounts, add, parsed, requests_in_force, sum_of_containers

CPU, MEMORY, PODS = "cpu", "memory", "pods"
DEFAULTS = {CPU: Fraction(1, 10), MEMORY: Fraction(200 * 1024 * 1024)}
"""Default requests of a container without any, in scores only, so that such pods are spread over
nodes.
"""

_MAX_INT64 = 2**63 - 1


@frozen(cache_hash=True)
class PodRequests:
    """A pod's requests in the four ways in which they are counted.

    `counted` is what the pod takes on its node (pod-level `resources` and a resize in progress
    included), `counted_non_zero` the same CPU and memory with defaults; `asked` and
    `asked_non_zero` are what a score adds for the pod to be placed, from its containers alone.
    """

    counted: tuple[tuple[str, int], ...]
    counted_non_zero: tuple[int, int]
    asked: tuple[tuple[str, int], ...]
    asked_non_zero: tuple[int, int]


def pod_requests(pod: Pod) -> PodRequests:
    """Return a pod's requests.

    >>> from volcano_lab.api.objects import Container, PodSpec, ResourceRequirements
    >>> container = Container(resources=ResourceRequirements({"cpu": "2"}))
    >>> pod_requests(Pod(spec=PodSpec(containers=[container])))
    PodRequests(counted=(('cpu', 2000),), counted_non_zero=(2000, 209715200), \
asked=(('cpu', 2000),), asked_non_zero=(2000, 209715200))
    """
    spec, status = pod.spec, pod.status
    if spec.init_containers or spec.overhead or spec.resources or status.container_statuses:
        return _requests(pod)
    return _plain_requests(tuple(tuple(c.resources.requests.items()) for c in spec.containers))


@lru_cache(maxsize=16384)
def _plain_requests(containers: tuple[tuple[tuple[str, str], ...], ...]) -> PodRequests:
    """Return the requests of pods with containers only; equal ones share one value."""
    return _requests(Pod(spec=PodSpec([Container(resources=ResourceRequirements(dict(requests)))
                                       for requests in containers])))


def _requests(pod: Pod) -> PodRequests:
    spec = pod.spec
    own = parsed(spec.resources.requests) if spec.resources else {}
    pod_level = {name: amount for name, amount in own.items()
                 if name in (CPU, MEMORY) or name.startswith("hugepages-")}

    def amounts(defaults: Amounts, now: bool) -> Amounts:
        """Return the sum over the containers at its peak, plus the overhead. `now` counts a running
        pod's allocated resources, and pod-level `resources`, where set, instead of the sum.
        """
        found = sum_of_containers(spec, lambda container, once: {**defaults, **parsed(
            requests_in_force(pod, container) if now and not once
            else container.resources.requests)})
        found |= pod_level if now else {}
        add(found, parsed(spec.overhead))
        return found

    asked, asked_non_zero, counted = amounts({}, False), amounts(DEFAULTS, False), amounts({}, True)
    missing = {name: amount for name, amount in DEFAULTS.items()
               if not (pod_level and name in counted)}
    return PodRequests(_whole(counted), _cpu_and_memory(amounts(missing, True)), _whole(asked),
                       _cpu_and_memory(asked_non_zero))


def _whole(amounts: Amounts) -> tuple[tuple[str, int], ...]:
    return tuple((name, _units(name, amount)) for name, amount in sorted(amounts.items()))


def _cpu_and_memory(amounts: Amounts) -> tuple[int, int]:
    return _units(CPU, amounts.get(CPU, 0)), _units(MEMORY, amounts.get(MEMORY, 0))


def _units(name: str, amount: Fraction | int) -> int:
    """Return millicores of CPU, whole units of anything else, rounded up, within 64 bits."""
    return min(math.ceil(amount * 1000 if name == CPU else amount), _MAX_INT64)


# -- scores by utilization: amounts are integers, of one node, or arrays of many


def least_allocated(requested: Sequence[Any], allocatable: Sequence[Any]) -> Any:
    """Return the mean over resources of the part left free, in whole percent; 0 for a resource that
    would be exceeded.

    A resource of which the node has none is omitted. Weights are equal, as in Volcano.

    >>> least_allocated([500, 10], [1000, 100])
    70
    """
    return _mean(allocatable, [where(r > a, 0, (a - r) * 100)
                               for r, a in zip(requested, allocatable, strict=True)])


def most_allocated(requested: Sequence[Any], allocatable: Sequence[Any]) -> Any:
    """Return the mean over resources of the requested part, in whole percent.

    >>> most_allocated([500, 10], [1000, 100])
    30
    """
    return _mean(allocatable, [where(r < a, r, a) * 100
                               for r, a in zip(requested, allocatable, strict=True)])


def _mean(allocatable: Sequence[Any], amounts: Sequence[Any]) -> Any:
    total = count = 0
    for offered, amount in zip(allocatable, amounts, strict=True):
        there = offered != 0
        total = total + where(there, amount // where(there, offered, 1), 0)
        count = count + there
    return total // where(count > 0, count, 1)


def balanced_allocation(requested: Sequence[Any], allocatable: Sequence[Any]) -> Any:
    """Return how evenly the resources are used: 100 less the standard deviation of the requested
    parts, in whole percent.

    >>> balanced_allocation([500, 10], [1000, 100]), balanced_allocation([500, 50], [1000, 100])
    (80.0, 100.0)
    """
    parts, count, total, squares, last, before = [], 0, 0.0, 0.0, 0.0, 0.0
    for r, a in zip(requested, allocatable, strict=True):
        there = a != 0
        part = where(there, r * 1.0 / where(there, a, 1), 0.0)
        part = where(part < 1.0, part, 1.0)
        before, last = where(there, last, before), where(there, part, last)
        parts.append((part, there))
        count, total = count + there, total + part  # in this order: others may round differently
    count_or_1 = where(count > 0, count, 1)
    mean = total / count_or_1
    for part, there in parts:
        squares = squares + where(there, (part - mean) * (part - mean), 0.0)
    of_many = where(count > 2, np.sqrt(squares / count_or_1), 0.0)
    return (1 - where(count == 2, abs((before - last) / 2), of_many)) * 100 // 1
