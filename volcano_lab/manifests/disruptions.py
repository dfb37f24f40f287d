"""What the disruption controller writes: how many pods each PodDisruptionBudget lets go at once.

Differs on purpose: the pods that a budget expects are those that exist, not the replicas of their
controllers.

Volcano: none
"""

from collections.abc import Iterable
from math import ceil

from volcano_lab.api import label_selector
from volcano_lab.api.objects import KubernetesObject, Pod, PodDisruptionBudget, cluster

UNKNOWN = cluster.PodDisruptionBudgetStatus()


def counted(budget: PodDisruptionBudget, pods: Iterable[Pod]) -> PodDisruptionBudget:
    """Return a budget with the disruptions that it allows among a cluster's pods.

    >>> from volcano_lab.manifests.loader import from_dict
    >>> budget = from_dict({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
    ...     "metadata": {"name": "web", "namespace": "default"}, "spec": {
    ...         "minAvailable": "50%", "selector": {"matchLabels": {"app": "web"}}}})
    >>> from volcano_lab.cluster import Cluster
    >>> pods = Cluster().node("n1", cpu=4).job("web", pods=3, cpu=1, labels={"app": "web"},
    ...                                        running={"n1": 3}).objects()
    >>> counted(budget, [pod for pod in pods if pod.kind == "Pod"]).status.disruptions_allowed
    1
    """
    selector, spec = label_selector(budget.spec.selector), budget.spec
    chosen = [pod for pod in pods if pod.namespace == budget.namespace
              and selector.matches(pod.metadata.labels)]
    if spec.max_unavailable is not None:
        least = len(chosen) - _scaled(spec.max_unavailable, len(chosen))
    else:  # one that names no bound allows none
        least = len(chosen) if spec.min_available is None else _scaled(spec.min_available,
                                                                       len(chosen))
    allowed = max(sum(map(_is_healthy, chosen)) - max(least, 0), 0)
    return budget.changed(status={"disruptions_allowed": allowed})


def count_new(objects: list[KubernetesObject], given: Iterable[KubernetesObject]) -> None:
    """Count the budgets among some objects that no API server has counted, as they were given."""
    new = {(obj.namespace or "default", obj.name) for obj in given
           if isinstance(obj, PodDisruptionBudget) and not obj.metadata.resource_version
           and obj.status == UNKNOWN}
    for place, obj in enumerate(objects if new else ()):
        if isinstance(obj, PodDisruptionBudget) and (obj.namespace, obj.name) in new:
            objects[place] = counted(obj, (pod for pod in objects if isinstance(pod, Pod)))


def _scaled(amount: int | str, whole: int) -> int:
    """Return a number of pods, or a percentage of all of them, rounded up."""
    return ceil(whole * int(amount[:-1]) / 100) if isinstance(amount, str) else amount


def _is_healthy(pod: Pod) -> bool:
    """Return whether a pod runs, is not leaving, and no probe keeps it from being ready."""
    return (pod.status.phase == "Running" and pod.metadata.deletion_timestamp is None
            and not any(each.type == "Ready" and each.status == "False"
                        for each in pod.status.conditions))
