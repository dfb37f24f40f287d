"""What a pod's author may have meant: labels and tolerations of which nodes have nearly the same.

Answers to no Go file: Volcano compares them letter by letter, and says only that none fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from volcano_lab.api.objects import Node, Pod
from volcano_lab.messages import meant
from volcano_lab.plugins.kube.taints import first_untolerated


def values_by_label(nodes: Iterable[Node]) -> dict[str, set[str]]:
    """The values that nodes have of each label."""
    labels: dict[str, set[str]] = {}
    for node in nodes:
        for key, value in node.metadata.labels.items():
            labels.setdefault(key, set()).add(value)
    return labels


def selector_slips(pod: Pod, labels: Mapping[str, set[str]]) -> dict[str, tuple[str, str]]:
    """{a label that the pod's node selector names and no node has so: the (label, value) near it},
    where nodes have these values of each label.

    >>> from volcano_lab.api.objects import ObjectMeta, PodSpec
    >>> pod = Pod(ObjectMeta("p"), PodSpec(node_selector={"disk": "SSD"}))
    >>> selector_slips(pod, {"disk": {"ssd"}})
    {'disk': ('disk', 'ssd')}
    """
    return {key: (name, close) for key, value in pod.spec.node_selector.items()
            if (name := meant(key, labels)) and (close := meant(value, labels[name]))
            and value not in labels.get(key, ())}


def missing_labels(pod: Pod, nodes: Iterable[Node]) -> str:
    """Which labels of a pod's node selector no node has, and what is near, in sentences; "" where
    each is there.
    """
    labels, told = values_by_label(nodes), ""
    slips = selector_slips(pod, labels)
    for key, value in pod.spec.node_selector.items():
        there = sorted(labels.get(key, set()) - {""})
        if key in slips:
            told += f" No node has {key}={value}; near it is {'='.join(slips[key])}."
        elif value not in there:
            told += (f" No node has {key}={value}; there is {', '.join(there[:4])}." if there
                     else f" No node has the label {key}.")
    return told


def near_tolerations(pod: Pod, nodes: Iterable[Node]) -> str:
    """Tolerations of a pod that have a taint's key, or one near it, and still do not cover it."""
    told = {}
    for node in nodes:
        taint = first_untolerated(node.spec.taints, pod.spec.tolerations)
        for own in pod.spec.tolerations if taint is not None else ():
            if meant(own.key, [taint.key]):
                equal = f"={own.value}" * (own.operator != "Exists")
                told[f"{own.key}{equal}:{own.effect or 'any'}"] = (
                    f"{taint.key}{'=' * bool(taint.value)}{taint.value}:{taint.effect}")
    return "".join(f" It tolerates {own}, and the taint is {taint}." for own, taint in told.items())
