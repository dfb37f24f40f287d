"""A pod with the placement rules' view of it, computed once.

Volcano: k8s.io/kubernetes/pkg/scheduler/framework/types.go (PodInfo)
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from volcano_lab.api import node_affinity
from volcano_lab.api.objects import Affinity, Pod, PodAffinityTerm
from volcano_lab.api.selector import NOTHING, Selector, label_selector

from .resources import PodRequests, pod_requests

Labels = Mapping[str, str]
ANY_ADDRESS = "0.0.0.0"
HostPort = tuple[str, str, int]
"""(address, protocol, port)."""


def host_ports(pod: Pod) -> tuple[HostPort, ...]:
    """Return the host ports of a pod's sidecars and containers.

    >>> from volcano_lab.api.objects import Container, ContainerPort, PodSpec
    >>> container = Container(ports=[ContainerPort(host_port=80, container_port=80)])
    >>> host_ports(Pod(spec=PodSpec(containers=[container])))
    (('0.0.0.0', 'TCP', 80),)
    """
    sidecars = [container
                for container in pod.spec.init_containers if container.restart_policy == "Always"]
    ports = [port for container in sidecars + pod.spec.containers
             for port in container.ports if port.host_port > 0]
    return tuple(
        [(port.host_ip or ANY_ADDRESS, port.protocol or "TCP", port.host_port) for port in ports])


@frozen(cache_hash=True)
class AffinityTerm:
    """The pods that match (by labels, and by the name or the labels of their namespace), and the
    topology key.

    `weight` is 0 for required terms.
    """

    selector: Selector
    topology_key: str
    namespaces: frozenset[str]
    namespace_selector: Selector = NOTHING
    weight: int = 1

    def matches(self, namespace: str, labels: Labels, namespace_labels: Labels) -> bool:
        """Return whether a pod of this namespace with these labels matches."""
        if namespace not in self.namespaces and not self.namespace_selector.matches(
                namespace_labels):
            return False
        return self.selector.matches(labels)


class PodInfo:
    """A pod and its requests, host ports, compiled affinity terms, and its tolerations as a value.

    >>> from volcano_lab.api.objects import ObjectMeta
    >>> info = PodInfo(Pod(ObjectMeta("web-0", "default", uid="u1")))
    >>> info.namespace, info.uid, info.has_affinity, info.required_affinity
    ('default', 'u1', False, ())
    """

    __slots__ = ("has_affinity", "host_ports", "labels", "namespace", "plain", "pod", "preferred",
                 "preferred_nodes", "requests", "required_affinity", "required_anti_affinity",
                 "required_nodes", "tolerations", "uid")

    def __init__(self, pod: Pod):
        self.pod = pod
        meta, affinity = pod.metadata, pod.spec.affinity
        self.uid = meta.uid
        self.namespace = meta.namespace
        self.labels = meta.labels
        self.requests: PodRequests = pod_requests(pod)
        self.host_ports: tuple[HostPort, ...] = host_ports(pod)
        self.required_nodes = node_affinity.required_node_affinity(pod)
        self.preferred_nodes = node_affinity.preferred_node_affinity(pod)
        self.tolerations = tuple(
            [(t.key, t.operator, t.value, t.effect) for t in pod.spec.tolerations])
        self.has_affinity = affinity is not None and bool(affinity.pod_affinity
                                                          or affinity.pod_anti_affinity)
        self.required_affinity: tuple[AffinityTerm, ...] = ()
        self.required_anti_affinity: tuple[AffinityTerm, ...] = ()
        self.preferred: tuple[AffinityTerm, ...] = ()  # anti-affinity with a negative weight
        if affinity is not None and self.has_affinity:
            self._compile(affinity)
        # no rule that changes with placements applies, except anti-affinity of pods on the nodes
        self.plain = not (self.host_ports or self.has_affinity
                          or pod.spec.topology_spread_constraints)

    def for_pod(self, pod: Pod) -> PodInfo:
        """Return a copy for another pod with the same spec and namespace."""
        info = PodInfo.__new__(PodInfo)
        info.pod, info.uid, info.labels = pod, pod.metadata.uid, pod.metadata.labels
        info.namespace, info.requests, info.plain = self.namespace, self.requests, self.plain
        info.required_nodes, info.preferred_nodes = self.required_nodes, self.preferred_nodes
        info.has_affinity, info.preferred = self.has_affinity, self.preferred
        info.required_affinity, info.tolerations = self.required_affinity, self.tolerations
        info.required_anti_affinity, info.host_ports = self.required_anti_affinity, self.host_ports
        return info

    def _compile(self, affinity: Affinity) -> None:
        preferred: list[AffinityTerm] = []
        for field, sign, kind in (("required_affinity", 1, affinity.pod_affinity),
                                  ("required_anti_affinity", -1, affinity.pod_anti_affinity)):
            if kind is not None:
                terms = kind.required_during_scheduling_ignored_during_execution
                setattr(self, field, tuple(self._term(term) for term in terms))
                preferred += (self._term(each.pod_affinity_term, sign * each.weight)
                              for each in kind.preferred_during_scheduling_ignored_during_execution)
        self.preferred = tuple(preferred)

    def _term(self, term: PodAffinityTerm, weight: int = 1) -> AffinityTerm:
        """Compile a term; without namespaces and selector it is the pod's own namespace."""
        own = not term.namespaces and term.namespace_selector is None
        return AffinityTerm(label_selector(term.label_selector), term.topology_key,
                            frozenset((self.namespace,) if own else term.namespaces),
                            label_selector(term.namespace_selector), weight)
