"""What NodeMetrics say of nodes, in place of the averages that plugin usage reads elsewhere.

Volcano: pkg/scheduler/metrics/source
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from volcano_lab.api import quantity
from volcano_lab.api.node_usage import CPU_USAGE_ANNOTATION, MEMORY_USAGE_ANNOTATION
from volcano_lab.api.objects import Node

FIELDS = {"cpu": CPU_USAGE_ANNOTATION, "memory": MEMORY_USAGE_ANNOTATION}


def measured(node: Node, used: Mapping[str, Any]) -> bool:
    """Annotate a node with what of it is used, in percent, unless it is; return whether it was not.

    >>> from volcano_lab.api.objects import NodeStatus
    >>> node = Node(status=NodeStatus(allocatable={"cpu": "8"}))
    >>> measured(node, {"cpu": "7800m"}), node.metadata.annotations
    (True, {'volcano-lab/cpu-usage': '97.5'})
    """
    found = dict[str, str]()
    for name, field in FIELDS.items():
        size = node.status.capacity.get(name) or node.status.allocatable.get(name, "0")
        with suppress(quantity.QuantityError, KeyError, ZeroDivisionError):
            percent = 100 * quantity.parse(str(used[name])) / quantity.parse(size)
            found[field] = f"{float(percent):.4g}"
    if found.keys() & node.metadata.annotations.keys():
        return False
    node.metadata.annotations |= found
    return bool(found)
