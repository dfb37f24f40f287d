"""What is known of objects that are not read: why not, and what Events, Kueue's Workloads,
Numatopologies and NodeMetrics say; the last in place of the averages that plugin usage reads
elsewhere.

Volcano: pkg/scheduler/metrics/source
"""

from contextlib import suppress
from typing import Any

from volcano_lab.api import quantity
from volcano_lab.api.node_usage import CPU_USAGE_ANNOTATION, MEMORY_USAGE_ANNOTATION
from volcano_lab.api.objects import Node, PodGroup
from volcano_lab.manifests import document as documents, events, numa
from volcano_lab.manifests.operators.model import at
from volcano_lab.messages import Message


class Reports(dict[str, list[Message]]):
    """By an object's name what was not read, and the last warning of a controller; by `pod/NAME`
    those about a pod, by `numa/NAME` what a Numatopology says of its node; `used` has what nodes
    use by NodeMetrics.

    >>> reports = Reports()
    >>> reports.said_by({"kind": "Event", "reason": "FailedCreate", "type": "Warning",
    ...                  "message": "quota", "involvedObject": {"kind": "Job", "name": "train"}})
    True
    >>> [said.facts["said"] for said in reports["default/train"]]
    ['quota']
    """

    def __init__(self) -> None:
        super().__init__()
        self.used: dict[str, dict[str, Any]] = {}

    def add(self, name: str, said: Message) -> None:
        self.setdefault(name, []).append(said)

    def said_by(self, document: dict[str, Any]) -> bool:
        """Keep what an object says that is not read itself; return whether it only says something,
        as an Event does.
        """
        kind, known = document.get("kind"), False
        if kind == "Event":
            for name, said in events.reported(document).items():
                self._replace(name, said)
        elif kind == "Workload" and document["apiVersion"].startswith("kueue."):
            found = events.of_workload(document)
            for name, said in found.items():
                self.add(name, said)
            known = bool(found)
        elif known := kind == "NodeMetrics":
            self.used[documents.key_of(document)] = at(document, "usage", {})
        elif kind == "Numatopology":
            said = numa.of_node(document)
            self[numa.OF_NUMA + said.facts["node"]] = [said]
        elif kind == "CSIDriver":
            name = str(at(document, "metadata.name"))
            self[events.OF_DRIVER + name] = [Message("driver_nowhere.listed", driver=name)]
        elif kind == "PodGroup":
            self[events.OF_GROUP + documents.key_of(document)] = [Message(
                "left_out.version", name=documents.key_of(document),
                version=document["apiVersion"], read=PodGroup.api_versions[0])]
        return known or kind == "Event"

    def measures(self, node: Node) -> bool:
        """Annotate a node with what of it is used, in percent, unless it is; return whether it was
        not.

        >>> from volcano_lab.api.objects import NodeStatus, ObjectMeta
        >>> node, reports = Node(ObjectMeta("n1"), status=NodeStatus({"cpu": "8"})), Reports()
        >>> reports.used["default/n1"] = {"cpu": "7800m"}
        >>> reports.measures(node), node.metadata.annotations
        (True, {'volcano-lab/cpu-usage': '97.5'})
        """
        used, found = self.used.get(f"default/{node.name}", {}), dict[str, str]()
        for name, field in (("cpu", CPU_USAGE_ANNOTATION), ("memory", MEMORY_USAGE_ANNOTATION)):
            size = node.status.capacity.get(name) or node.status.allocatable.get(name, "0")
            with suppress(quantity.QuantityError, KeyError, ZeroDivisionError):
                percent = 100 * quantity.parse(str(used[name])) / quantity.parse(size)
                found[field] = f"{float(percent):.4g}"
        if found.keys() & node.metadata.annotations.keys():
            return False
        node.metadata.annotations |= found
        return bool(found)

    def _replace(self, name: str, said: Message) -> None:
        """Keep the last warning of a controller, of those about a pod the last of each reason."""
        known = self.get(name, [])
        alike = [each for each in known if each.code not in documents.UNREAD and (
            not name.startswith(events.OF_POD) or each.facts["reason"] == said.facts["reason"])]
        last = max([said, *alike], key=lambda each: each.facts["time"])
        self[name] = [*(each for each in known if each not in alike), last]
