"""Taints, tolerations and cordoned nodes.

Volcano: k8s.io/kubernetes/pkg/scheduler/framework/plugins/tainttoleration,
k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeunschedulable
"""

from collections.abc import Iterable, Sequence

from volcano_lab.api.objects import Taint, Toleration

NAME, UNSCHEDULABLE_NAME = "TaintToleration", "NodeUnschedulable"
UNSCHEDULABLE_REASON = "node(s) were unschedulable"
KEEPS_PODS_OFF = ("NoSchedule", "NoExecute")
CORDON = Taint("node.kubernetes.io/unschedulable", effect="NoSchedule")
"""The taint that a pod must tolerate to be placed on a cordoned node."""


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Return whether one toleration matches one taint.

    >>> tolerates(Toleration(operator="Exists"), Taint("gpu", "a100", "NoSchedule"))
    True
    >>> tolerates(Toleration("gpu", "Equal", "h100"), Taint("gpu", "a100", "NoSchedule"))
    False
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    return toleration.operator == "Exists"


def tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    """Return whether any of the tolerations matches the taint."""
    return any(tolerates(toleration, taint) for toleration in tolerations)


def first_untolerated(taints: Iterable[Taint], tolerations: Sequence[Toleration]) -> Taint | None:
    """Return the first taint that the pod does not tolerate, or None."""
    return next((t for t in taints if t.effect in KEEPS_PODS_OFF and not tolerated(t, tolerations)),
                None)


def untolerated_preferences(taints: Iterable[Taint], tolerations: Iterable[Toleration]) -> int:
    """Return how many taints with `PreferNoSchedule` the pod does not tolerate.

    >>> untolerated_preferences([Taint("slow", effect="PreferNoSchedule"),
    ...                          Taint("gpu", effect="NoSchedule")], [])
    1
    """
    relevant = [t for t in tolerations if t.effect in ("", "PreferNoSchedule")]
    return sum(1 for taint in taints
               if taint.effect == "PreferNoSchedule" and not tolerated(taint, relevant))
