"""What a pod requires of a node's labels and taints, of the pods beside it and of its topology
spread, what there is of it, and what its author may have meant: labels and tolerations of which
nodes have nearly the same.

Volcano compares them letter by letter, and says only that none fits.

Volcano: none
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from volcano_lab.api import PIPELINED, TaskInfo, selector
from volcano_lab.api.objects import (
    LabelSelector,
    Node,
    NodeSelectorTerm,
    Pod,
    StorageClass,
    Taint,
)
from volcano_lab.api.taints import first_untolerated
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import TABLES, Cause
from volcano_lab.explain.options import REQUIRED
from volcano_lab.explain.requests import announced
from volcano_lab.manifests.schema import unstructure
from volcano_lab.messages import Message, meant
from volcano_lab.plugins.kube import node_pods, topology_spread
from volcano_lab.plugins.kube.pod_info import AffinityTerm, PodInfo
from volcano_lab.trace import Record, grouped

TRIED = 0.8
"""How similar a label is at least for another value of it to be tried."""


def terms_of(term: NodeSelectorTerm | LabelSelector) -> list[str]:
    """Return the expressions of a term, or of a selector, as text.

    >>> from volcano_lab.api.objects import NodeSelectorRequirement
    >>> terms_of(NodeSelectorTerm([NodeSelectorRequirement("zone", "In", ["a", "b"])]))
    ['zone In a, b']
    """
    return [f"{each.key} {each.operator} {', '.join(each.values)}".strip()
            for each in term.match_expressions]


def places_of(found: StorageClass, claim: str, nodes: Iterable[Node]) -> Iterator[Message]:
    """Yield for which nodes a class creates the volume of a claim, and that no node is one."""
    terms = [term.match_label_expressions for term in found.allowed_topologies]
    if terms:
        yield Message("volume.places", storage_class=found.name, claim=claim, places=[
            ", ".join(f"{each.key} {'/'.join(each.values)}" for each in term) for term in terms])
    own, keys = [node.metadata.labels for node in nodes], {each.key for each in chain(*terms)}
    if terms and not any(all(labels.get(each.key) in each.values for each in term)
                         for term in terms for labels in own):
        there = grouped((key, labels[key]) for labels in own for key in keys & labels.keys())
        yield Message("volume.nowhere.class", claim=claim, there=[
            f"{key} {'/'.join(sorted({*there[key]}))}" for key in sorted(there)] or None)


def affine_terms(pod: Pod) -> list[NodeSelectorTerm]:
    """Return the terms of a pod's required node affinity, of which any one does."""
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    return required.node_selector_terms if required else []


def labels_for(pod: Pod, there: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Yield what labels a node that has some would have by a pod's node selector, and by each term
    of its node affinity.
    """
    for term in affine_terms(pod) or [NodeSelectorTerm()]:
        yield pod.spec.node_selector | {
            each.key: there[each.key] if each.key in there and (
                there[each.key] in (each.values or there.values())) else (*each.values, "true")[0]
            for each in term.match_expressions if each.operator in ("In", "Exists")}


def slips_of(code: str, pod: Pod, labels: Mapping[str, set[str]]
             ) -> Iterator[tuple[str, Any, Any]]:
    """Yield fields of a pod by which a rule refuses nodes, with their value and another one: of its
    node selector, node affinity and topologies the nearest that nodes have, else that it is waived.
    """
    own, meant_by = pod.spec.node_selector, selector_slips(pod, labels, TRIED)
    if meant_by:
        yield "nodeSelector", own, dict(meant_by.get(pair[0], pair) for pair in own.items())
    for each in [each for term in affine_terms(pod) for each in term.match_expressions]:
        close = [meant(value, labels.get(each.key, ()), TRIED) for value in each.values]
        if each.operator == "In" and any(close) and labels[each.key].isdisjoint(each.values):
            yield "values", each.values, [*filter(None, close)]
    keys = {each.topology_key for each in pod.spec.topology_spread_constraints}
    keys |= {each.topology_key for each in PodInfo(pod).required_affinity}
    close_keys = {key: near_key(key, labels) for key in sorted(keys - labels.keys())}
    yield from (("topologyKey", key, near) for key, near in close_keys.items() if near)
    yield from _waived(code, pod)


def _waived(code: str, pod: Pod) -> Iterator[tuple[str, Any, Any]]:
    """Yield fields by which a rule holds, with their value and one by which it does not."""
    yield from TABLES["waived"].get(code, ())
    anti = unstructure(pod.spec.affinity.pod_anti_affinity if pod.spec.affinity else None) or {}
    if code == "anti_affinity" and REQUIRED in anti:
        preferred = REQUIRED.replace("required", "preferred")
        yield "podAntiAffinity", anti, {preferred: [*anti.get(preferred, ()), *(
            {"weight": 100, "podAffinityTerm": term} for term in anti[REQUIRED])]}
    if code == "host_ports" and not pod.spec.host_network:
        yield from (("hostPort", port, None) for *_, port in sorted(PodInfo(pod).host_ports))


def label_terms(pod: Pod, nodes: list[Node]) -> Iterator[Message]:
    """Yield a pod's node selector, what of it nodes lack, and the terms of its node affinity, with
    the number of nodes that each part matches.
    """
    if pod.spec.node_selector:
        yield Message("node_selector", labels=[
            f"{key}={value}" for key, value in pod.spec.node_selector.items()])
    labels, values = [node.metadata.labels for node in nodes], values_by_label(nodes)
    yield from missing_labels(pod, values)
    parts = []
    for term in affine_terms(pod):
        counts = [sum(map(selector.Selector((one,)).matches, labels))
                  for one in selector.compiled(term.match_expressions)]
        for each, what, count in zip(term.match_expressions, terms_of(term), counts, strict=True):
            if not count and each.key in values:
                yield Message("label.values", label=what, values=sorted(values[each.key]))
        parts.append([Message("affinity.part", what=what, count=count, nodes=len(labels))
                      for what, count in zip(terms_of(term), counts, strict=True)])
    if any(parts):
        yield Message("affinity.terms", terms=[Message("affinity.term", parts=each)
                                               for each in parts])


def company(seen: Evidence, pod: Pod, choice: Record | None) -> Iterator[Message]:
    """Yield which pods an affinity requires, the nodes that such pods had at a choice, and those
    that have the labels in namespaces which it does not search; or pods that require it in turn.
    """
    affinity = None if pod.spec.affinity is None else pod.spec.affinity.pod_affinity
    assert affinity is not None  # its rule has refused a node
    terms = affinity.required_during_scheduling_ignored_during_execution
    labels = values_by_label(node.node for node in seen.ssn.nodes.values())
    yield from missing_keys([term.topology_key for term in terms], labels)
    placed = [(task.pod, node) for task, node in seen.placed_at(choice)]
    for term, (searched, there, apart) in zip(terms, _found_by(placed, pod), strict=True):
        wanted = term.label_selector or LabelSelector()
        absent = ".apart" if apart else ".none"
        yield Message(f"company{absent * (not there)}", key=term.topology_key,
                      pods=[seen.there(each, node) for each, node in there.items()] or [*apart],
                      labels=[f"{key}={value}" for key, value in wanted.match_labels.items()]
                      + terms_of(wanted) or ["..."],
                      namespaces=sorted({*apart.values()}), searched=sorted(searched.namespaces))
        own = searched.matches(pod.namespace, pod.metadata.labels, {})  # then the first is let in
        back = [task.key for task in seen.tasks.values() if not (there or own) and searched.matches(
            task.namespace, task.pod.metadata.labels, {}) and any(
            theirs.matches(pod.namespace, pod.metadata.labels, {})
            for theirs in PodInfo(task.pod).required_affinity)]
        if back:
            yield Message("company.each_other", pod=pod.key, pods=back)


def excluding(pod: Pod, others: list[Pod]) -> Message | None:
    """Return the labels of a pod by which the anti-affinity of other ones excludes it."""
    def excluded(labels: dict[str, str]) -> bool:
        return any(term.matches(pod.namespace, labels, {}) for term in terms)

    terms = [term for each in others for term in PodInfo(each).required_anti_affinity]
    labels = pod.metadata.labels
    own = [f"{key}={value}" for key, value in labels.items() if excluded(labels)
           and not excluded({other: labels[other] for other in labels if other != key})]
    return Message("excluded_by", labels=own, keys=[*dict.fromkeys(
        term.topology_key for term in terms)]) if own else None


def too_near(seen: Evidence, tasks: Iterable[TaskInfo]) -> Iterator[Cause]:
    """Yield the pods near the first of some that runs where its required anti-affinity excludes it.
    """
    nodes = seen.ssn.nodes
    for task in tasks:
        terms = PodInfo(task.pod).required_anti_affinity if task.node_name in nodes else ()
        for term in terms:
            key = term.topology_key
            place = nodes[task.node_name].node.metadata.labels.get(key)
            near = [other.key for node in nodes.values() for other in node.tasks.values()
                    if place is not None and node.node.metadata.labels.get(key) == place
                    and other.key != task.key and other.status != PIPELINED and term.matches(
                        other.namespace, other.pod.metadata.labels, {})]
            if near and not seen.is_new(task):
                yield Cause.of("too_near", context=True, pod=task.key, others=near, key=key,
                               place=place)
                return


def _found_by(placed: list[tuple[Pod, str]], pod: Pod
              ) -> Iterator[tuple[AffinityTerm, dict[str, str], dict[str, str]]]:
    """Yield each term of a pod's required affinity, {pod: node} of those that it matches, and {pod:
    namespace} of those that have the labels in a namespace which it does not search.
    """
    for term in PodInfo(pod).required_affinity:
        alike = [(each, node) for each, node in placed
                 if term.selector.matches(each.metadata.labels)]
        there = {each.key: node for each, node in alike if term.matches(
            each.namespace, each.metadata.labels, {})}
        yield term, there, {each.key: each.namespace for each, node in alike
                            if node not in there.values()}


def spread_counts(seen: Evidence, pod: Pod, choice: Record | None) -> Iterator[Message]:
    """Yield how many pods each domain of a topology spread has at a choice, and may have."""
    info, kube = PodInfo(pod), node_pods.kube_nodes(seen.ssn)
    found = topology_spread.constraints(info, topology_spread.DO_NOT_SCHEDULE)
    labelled = topology_spread.have_all_labels(kube, found)
    for each in found:
        counted = topology_spread.counted_nodes(kube, info, each, labelled)
        value_of = {kube.nodes[row].name: kube.nodes[row].labels[each.topology_key]
                    for row in counted.nonzero()[0]}
        domains = Counter(dict.fromkeys(value_of.values(), 0))
        domains.update(value_of[node] for task, node in seen.placed_at(choice) if node in value_of
                       and task.pod.metadata.deletion_timestamp is None
                       and task.namespace == info.namespace
                       and each.selector.matches(task.pod.metadata.labels))
        few = len(domains) < each.min_domains
        lowest = 0 if few else min(domains.values(), default=0)
        if domains and each.selector.matches(info.labels) and (
                lowest + each.max_skew <= max(domains.values())):
            yield Message("spread.counts", key=each.topology_key, most=lowest + each.max_skew,
                          skew=each.max_skew, domains=[
                Message("spread.domain", value=value, count=count)
                for value, count in sorted(domains.items())])
            if few:
                yield Message("spread.few", least=each.min_domains, count=len(domains))


# -- what may be meant -----------------------------------------------------------------------------


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
