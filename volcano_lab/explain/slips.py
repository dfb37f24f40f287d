"""What a pod's author may have meant: labels and tolerations of which nodes have nearly the same.

Answers to no Go file: Volcano compares them letter by letter, and says only that none fits.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher

from volcano_lab.api.objects import Node, Pod, Taint
from volcano_lab.api.taints import first_untolerated
from volcano_lab.messages import Message, meant
from volcano_lab.trace.plain import grouped

VENDOR = re.compile(r"[^/]+/|hugepages-")
"""How devices of one vendor, and huge pages, begin."""
PART = re.compile(r"[-.]?percentage$")  # of a device: no amount of another resource
TRIED = 0.8
"""How similar a label is at least for another value of it to be tried."""
BEYOND = 8
"""How many times larger than the largest node a request is a slip of the keyboard."""


def values_by_label(nodes: Iterable[Node]) -> dict[str, set[str]]:
    """The values that nodes have of each label."""
    labels = grouped(pair for node in nodes for pair in node.metadata.labels.items())
    return {key: {*values} for key, values in labels.items()}


def selector_slips(pod: Pod, labels: Mapping[str, set[str]], alike: float = 0.93
                   ) -> dict[str, tuple[str, str]]:
    """{a label that the pod's node selector names and no node has so: the (label, value) near it},
    where nodes have these values of each label; `alike` is how similar the values are at least.

    >>> from volcano_lab.api.objects import ObjectMeta, PodSpec
    >>> pod = Pod(ObjectMeta("p"), PodSpec(node_selector={"disk": "SSD"}))
    >>> selector_slips(pod, {"disk": {"ssd"}})
    {'disk': ('disk', 'ssd')}
    """
    found = {}
    for key, value in pod.spec.node_selector.items():
        name = meant(key, labels)
        close = meant(value, labels[name], alike) if name else ""
        if name and close and value not in labels.get(key, ()):
            found[key] = name, close
    return found


def missing_labels(pod: Pod, labels: Mapping[str, set[str]]) -> Iterator[Message]:
    """Yield which labels of a pod's node selector no node has, and what is near, of the values that
    nodes have of each label.
    """
    slips = selector_slips(pod, labels)
    for key, value in pod.spec.node_selector.items():
        label, there = f"{key}={value}", sorted(labels.get(key, set()) - {""})
        if key in slips:
            yield Message("label.near", label=label, near="=".join(slips[key]))
        elif not there:
            yield Message("label.none", label=key)
        elif value not in there:
            yield Message("label.values", label=label, values=there)


def missing_keys(keys: Iterable[str], labels: Mapping[str, set[str]]) -> Iterator[Message]:
    """Yield the labels of a topology that no node has, each with the nearest that nodes have."""
    for key in [key for key in keys if key not in labels]:
        near = near_key(key, labels)
        yield Message("label.near" if near else "label.none", label=key, near=near)


def near_key(key: str, labels: Iterable[str]) -> str:
    """The label of nodes that the key of a topology is meant to be, such as the zone by which nodes
    were labelled before; "" without one.

    >>> near_key("topology.kubernetes.io/zone", ["rack", "failure-domain.beta.kubernetes.io/zone"])
    'failure-domain.beta.kubernetes.io/zone'
    """
    end = key.partition("/")[2]
    return announced(key, labels) or next(
        (each for each in labels if end and each.partition("/")[2] == end), "")


def announced(resource: str, there: Iterable[str]) -> str:
    """The resource of nodes that the name of one is meant to be: a slip of the pen, or the most
    similar other of its vendor, of equal ones the first; "" without one.

    >>> announced("nvidia.com/gpu", ["cpu", "nvidia.com/mig-1g.5gb"])
    'nvidia.com/mig-1g.5gb'
    >>> announced("nvidia.com/mig-1g.5gb", ["nvidia.com/gpu", "nvidia.com/mig-2g.10gb"])
    'nvidia.com/mig-2g.10gb'
    >>> announced("nvidia.com/gpumem-percentage", ["nvidia.com/gpu", "nvidia.com/gpumem"])
    'nvidia.com/gpu'
    """
    if stem := PART.search(resource) and PART.sub("", resource):  # then only the device itself
        there = [each for each in there if stem.startswith(each) and each != stem]
    vendor = VENDOR.match(resource)
    kin = [each for each in there if vendor and each.startswith(vendor[0])]
    return meant(resource, there) or max(
        kin, key=lambda each: SequenceMatcher(None, resource, each).ratio(), default="")


def in_milli(asked: float, largest: float) -> bool:
    """Return whether a request for CPU, in internal units, is one in thousandths that lacks its
    unit: larger than any node is likely to be, and in thousandths not larger than one that is
    there.

    >>> in_milli(500_000.0, 16_000.0), in_milli(24_000.0, 16_000.0)
    (True, False)
    """
    return asked > BEYOND * largest and 100 <= asked / 1000 <= largest


def taint_text(taint: Taint) -> str:
    """A taint as kubectl writes it.

    >>> taint_text(Taint("gpu", "a100", "NoSchedule")), taint_text(Taint("slow", "", "NoExecute"))
    ('gpu=a100:NoSchedule', 'slow:NoExecute')
    """
    return f"{taint.key}{'=' * bool(taint.value)}{taint.value}:{taint.effect}"


def near_tolerations(pod: Pod, nodes: Iterable[Node]) -> Iterator[Message]:
    """Yield the tolerations of a pod that have a taint's key, or one near it, and still do not
    cover it.
    """
    found = {}
    for node in nodes:
        taint = first_untolerated(node.spec.taints, pod.spec.tolerations)
        for own in pod.spec.tolerations:
            if taint is not None and meant(own.key, [taint.key]):
                equal = f"={own.value}" * (own.operator != "Exists")
                found[f"{own.key}{equal}:{own.effect or 'any'}"] = taint_text(taint)
    for tolerated, tainted in found.items():
        yield Message("taint.near", own=tolerated, taint=tainted)
