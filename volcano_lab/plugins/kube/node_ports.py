"""Host ports: two pods on one node cannot use the same one.

Volcano: k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeports, types.go (HostPortInfo)
"""

from collections.abc import Collection, Iterable

from volcano_lab.api.fit_error import UNSCHEDULABLE, Status

from .node_pods import KubeNodes, NodeByNode
from .pod_info import ANY_ADDRESS, HostPort, PodInfo

NAME = "NodePorts"
REASON = "node(s) didn't have free ports for the requested pod ports"


def conflict(wanted: Iterable[HostPort], used: Collection[HostPort]) -> bool:
    """Return whether one of the wanted ports is used; 0.0.0.0 matches every address.

    >>> taken = {("0.0.0.0", "TCP", 80)}
    >>> conflict([("10.0.0.1", "TCP", 80)], taken), conflict([("10.0.0.1", "UDP", 80)], taken)
    (True, False)
    """
    for address, protocol, port in wanted:
        if address == ANY_ADDRESS:
            if any(used_protocol == protocol and used_port == port
                   for _, used_protocol, used_port in used):
                return True
        elif (address, protocol, port) in used or (ANY_ADDRESS, protocol, port) in used:
            return True
    return False


def pre_filter(kube: KubeNodes, info: PodInfo) -> NodeByNode | None:
    """Return the check for an incoming pod; None where it has no host port."""
    taken = Status(UNSCHEDULABLE, REASON, NAME)
    return NodeByNode(kube, lambda node: taken if conflict(info.host_ports, node.used_ports)
                      else None) if info.host_ports else None
