"""Node selectors and node affinity: a pod's requirements on its node's labels and name.

A term that Kubernetes cannot parse matches no node.

Volcano: k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeaffinity,
k8s.io/component-helpers/scheduling/corev1/nodeaffinity
"""

from attrs import frozen

from volcano_lab.api.objects import LabelSelector, Node, NodeSelector, NodeSelectorTerm, Pod
from volcano_lab.api.selector import EVERYTHING, Requirement, Selector, compiled, label_selector

NAME = "NodeAffinity"
REASON = "node(s) didn't match Pod's node affinity/selector"


@frozen(cache_hash=True)
class NodeTerm:
    """Conditions on labels and fields that must all hold; `readable` is False where Kubernetes
    refuses one.
    """

    labels: Selector
    fields: tuple[Requirement, ...] = ()
    readable: bool = True

    def matches(self, node: Node) -> bool:
        if not self.readable or not self.labels.matches(node.metadata.labels):
            return False
        fields = {"metadata.name": node.name}
        return all((fields.get(f.key, "") in f.values) == (f.operator == "In") for f in self.fields)


@frozen(cache_hash=True)
class RequiredNodeAffinity:
    """A pod's node selector, and terms of which one must hold (None: no affinity; empty: no node
    matches).
    """

    selector: Selector = EVERYTHING
    terms: tuple[NodeTerm, ...] | None = None

    def matches(self, node: Node) -> bool:
        """Return whether the node satisfies the pod's selector and affinity."""
        if not self.selector.matches(node.metadata.labels):
            return False
        return self.terms is None or any(term.matches(node) for term in self.terms)


ANY_NODE = RequiredNodeAffinity()


def required_node_affinity(pod: Pod) -> RequiredNodeAffinity:
    """Return the pod's node selector and required node affinity, compiled.

    >>> from volcano_lab.api.objects import ObjectMeta, PodSpec
    >>> required = required_node_affinity(Pod(spec=PodSpec(node_selector={"zone": "a"})))
    >>> [required.matches(Node(ObjectMeta("n1", labels=labels))) for labels in ({"zone": "a"}, {})]
    [True, False]
    """
    spec = pod.spec
    affinity = spec.affinity.node_affinity if spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    if required is None and not spec.node_selector:
        return ANY_NODE
    terms = None if required is None else node_terms(required)
    return RequiredNodeAffinity(label_selector(LabelSelector(spec.node_selector)), terms)


def node_terms(selector: NodeSelector) -> tuple[NodeTerm, ...]:
    """Return the terms of which one must hold; empty ones match no node."""
    return tuple(_compile(term) for term in selector.node_selector_terms if not _is_empty(term))


def preferred_node_affinity(pod: Pod) -> tuple[tuple[int, NodeTerm], ...]:
    """Return the pod's preferred node affinity as (weight, term)."""
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    if affinity is None:
        return ()
    preferred = affinity.preferred_during_scheduling_ignored_during_execution
    return tuple((term.weight, _compile(term.preference))
                 for term in preferred if term.weight and not _is_empty(term.preference))


def score(preferred: tuple[tuple[int, NodeTerm], ...], node: Node) -> int:
    """Return the sum of the weights of matching terms; Volcano does not normalise it."""
    return sum(weight for weight, term in preferred if term.matches(node))


def _is_empty(term: NodeSelectorTerm) -> bool:
    return not term.match_expressions and not term.match_fields


def _compile(term: NodeSelectorTerm) -> NodeTerm:
    labels, fields = compiled(term.match_expressions), compiled(term.match_fields)
    readable = all(r.is_valid() for r in labels) and all(
        r.operator in ("In", "NotIn") and len(r.values) == 1 for r in term.match_fields)
    return NodeTerm(Selector(labels), fields, readable)
