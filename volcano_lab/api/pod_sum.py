"""The sum over a pod's containers, by Kubernetes' rules.

Volcano: k8s.io/component-helpers/resource, AggregateContainerRequests
"""

from collections.abc import Callable, Mapping
from fractions import Fraction

from volcano_lab.api import quantity
from volcano_lab.api.objects import Container, Pod, PodSpec, ResourceQuota

Amounts = dict[str, Fraction]


def parsed(resource_list: Mapping[str, str]) -> Amounts:
    """Return the exact amounts of a resource list."""
    return {name: quantity.parse(text) for name, text in resource_list.items()}


def add(total: Amounts, amounts: Amounts, times: int = 1) -> None:
    """Add `times` the amounts to the total, in place."""
    for name, amount in amounts.items():
        total[name] = total.get(name, Fraction()) + amount * times


def raise_to(highest: Amounts, amounts: Amounts) -> None:
    """Raise each amount, in place, to that of `amounts` where that is larger."""
    for name, amount in amounts.items():
        if name not in highest or amount > highest[name]:
            highest[name] = amount


def exceeded(quota: ResourceQuota, requested: Amounts, pending: Amounts) -> list[str]:
    """Return the resources, requested and limited by a quota, whose limit would be exceeded, with
    what is `pending` before.

    >>> from volcano_lab.api.objects import ObjectMeta, ResourceQuotaSpec, ResourceQuotaStatus
    >>> quota = ResourceQuota(ObjectMeta("q"), ResourceQuotaSpec(),
    ...                       ResourceQuotaStatus({"cpu": "4"}, {"cpu": "3"}))
    >>> one = parsed({"cpu": "1"})
    >>> exceeded(quota, one, {}), exceeded(quota, one, parsed({"cpu": "1m"}))
    ([], ['cpu'])
    """
    hard, used = parsed(quota.status.hard), parsed(quota.status.used)
    add(used, pending)
    return [name for name in sorted(requested)
            if name in hard and used.get(name, 0) + requested[name] > hard[name]]


def requests_in_force(pod: Pod, container: Container) -> Mapping[str, str]:
    """Return a container's requests; during an in-place resize the highest of those requested,
    allocated and in force.
    """
    asked, conditions = container.resources.requests, pod.status.conditions
    statuses = (*pod.status.init_container_statuses, *reversed(pod.status.container_statuses))
    status = next((each for each in statuses if each.name == container.name), None)
    if status is None or status.resources is None:
        return asked
    pending = next((each for each in conditions if each.type == "PodResizePending"), None)
    highest = {} if pending and pending.reason == "Infeasible" else dict(asked)
    for name, text in (*status.resources.requests.items(), *status.allocated_resources.items()):
        if name not in highest or quantity.parse(text) > quantity.parse(highest[name]):
            highest[name] = text
    return highest


def sum_of_containers(spec: PodSpec, amounts_of: Callable[[Container, bool], Amounts]) -> Amounts:
    """Return the containers' concurrent amounts at their peak.

    Init containers run one after the other, before the others; sidecars (`restartPolicy: Always`)
    keep running beside all later ones. `amounts_of` is called with a container and whether it runs
    to completion before the others; it returns a new dict.
    """
    total: Amounts = {}
    sidecars: Amounts = {}
    highest: Amounts = {}
    for container in spec.containers:
        add(total, amounts_of(container, False))
    for container in spec.init_containers:
        sidecar = container.restart_policy == "Always"
        amounts = amounts_of(container, not sidecar)
        if sidecar:
            add(total, amounts)
            add(sidecars, amounts)
            amounts = sidecars
        else:
            add(amounts, sidecars)
        raise_to(highest, amounts)
    raise_to(total, highest)
    return total
