"""What is known of objects that are not read: why not, and what Events, Kueue's Workloads,
Numatopologies and NodeMetrics say.

Volcano: none
"""

from typing import Any

from volcano_lab.api.objects import PodGroup
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

    def _replace(self, name: str, said: Message) -> None:
        """Keep the last warning of a controller, of those about a pod the last of each reason."""
        known = self.get(name, [])
        alike = [each for each in known if each.code not in documents.UNREAD and (
            not name.startswith(events.OF_POD) or each.facts["reason"] == said.facts["reason"])]
        last = max([said, *alike], key=lambda each: each.facts["time"])
        self[name] = [*(each for each in known if each not in alike), last]
