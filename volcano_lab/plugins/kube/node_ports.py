"""Host ports: two pods on one node can't both have the same one.

Answers to `plugins/nodeports`, `util.GetHostPorts` and `framework.HostPortInfo`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from volcano_lab.api.fit_error import UNSCHEDULABLE, Status
from volcano_lab.api.objects import Pod

from .node_by_node import NodeByNode

if TYPE_CHECKING:
    from .node_pods import KubeNodes
    from .pod_info import PodInfo

NAME = "NodePorts"
REASON = "node(s) didn't have free ports for the requested pod ports"
ANY_ADDRESS = "0.0.0.0"

HostPort = tuple[str, str, int]
"""(address, protocol, port)."""


def host_ports(pod: Pod) -> tuple[HostPort, ...]:
    """The host ports that a pod's sidecars and containers take.

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


def conflict(wanted: Iterable[HostPort], used: Collection[HostPort]) -> bool:
    """Whether one of the wanted ports is taken; 0.0.0.0 stands for every address.

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


def look(kube: KubeNodes, info: PodInfo) -> NodeByNode | None:
    """What an incoming pod wants; None where it wants no host port."""
    taken = Status(UNSCHEDULABLE, REASON, NAME)
    return NodeByNode(kube, lambda node: taken if conflict(info.host_ports, node.used_ports)
                      else None) if info.host_ports else None
