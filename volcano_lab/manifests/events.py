"""Events: what controllers, the scheduler, kubelets and autoscalers have said of objects.

Volcano: none
"""

import re
from typing import Any

from volcano_lab.manifests.document import key_of, text_of
from volcano_lab.manifests.operators import refusing
from volcano_lab.manifests.operators.model import at, items
from volcano_lab.messages import Message

FAILED = re.compile(r"^Failed(To)?Create(?!PodSandBox)|Error$")
"""Reasons of Events by which controllers report that they cannot create something; the kubelet
reports sandboxes of pods.
"""
OF_POD, OF_GROUP, OF_ADMISSION, OF_WORKLOAD = "pod/", "podgroup/", "admission/", "workload/"
OF_CLAIM, OF_DRIVER = "claim/", "csidriver/"
PROVISIONS = ("ExternalProvisioning", "ProvisioningFailed")
"""Reasons of Events about claims that have no volume."""
OF_STATUS = re.compile(r'^.*?Message:"((?:[^"\\]|\\.)*)".*', re.DOTALL)
"""An Event of Volcano's with the API server's answer, of which only the message is read."""
OF_CRD = re.compile(r"is invalid: status\.\S+: Required value")
"""In an answer of the API server: a CRD is not that of the release whose controller writes."""
EVICT = "Evict"
"""The reason of the scheduler's Events about pods that it evicts, and about their PodGroups."""
EVICTS = (EVICT, "Preempted", "TaintManagerEviction")
"""Reasons of Events about pods that Volcano, the default scheduler or a taint evicts."""
REFUSED = ("PodGroup", "Unschedulable", "Normal")
"""Kind, reason and type of an Event in which plugins refuse to admit; of pods it is a Warning."""
SCALES = {"NotTriggerScaleUp": "scales.not", "TriggeredScaleUp": "scales",
          "FailedScheduling": "scales.not", "Nominated": "scales.claim"}
"""Reasons of an autoscaler's Events about pods, the last two of Karpenter, and what they say."""
OF_KARPENTER = "Failed to schedule pod"
"""The start of its Event of a reason that schedulers have, too."""
TIMES = ("lastTimestamp", "eventTime", "metadata.creationTimestamp")
"""Fields with the time of an Event; without one, it is the earliest."""
OF_CYCLES = ("FailedScheduling", "Unschedulable")
"""Reasons of Events about pods with what a scheduler says in each cycle."""


def reported(event: dict[str, Any]) -> dict[str, Message]:
    """Return from an Event, by what it is about, the warning of a controller that it cannot create
    something, or one about a pod (`pod/` before its name), also what the scheduler says of a
    PodGroup whose pods it evicts, or that it does not admit (`admission/`); nothing for others.
    """
    reason, text = (text_of(event.get(name)) or "" for name in ("reason", "message"))
    about: Any = event.get("involvedObject")
    about = about if isinstance(about, dict) else {}
    kind = about.get("kind")
    before = _before(kind, reason, event.get("type"), text)
    if before is None:
        return {}
    key = str(about.get("name")) if kind == "Queue" else key_of({"metadata": about})
    return {before + key: Message(
        "event" if before else "not_created.event", reason=reason,
        said=OF_STATUS.sub(r"\1", text).replace('\\"', '"').rstrip(". \n"),
        webhook=refusing(text.replace('\\"', '"')),
        crd=Message("event.crd") if OF_CRD.search(text) else None,
        time=str(next(filter(None, (at(event, path) for path in TIMES)), "-")))}


def _before(kind: Any, reason: str, type_: Any, text: str) -> str | None:
    """Return the prefix of the name that an Event is about; None where it says nothing here."""
    if (kind, reason, type_) == REFUSED:
        return OF_ADMISSION
    if (kind, reason) == ("PodGroup", EVICT) or (kind == "Pod" and (reason in EVICTS or (
            reason in SCALES and (reason not in OF_CYCLES or text.startswith(OF_KARPENTER))))):
        return OF_POD
    if kind == "PersistentVolumeClaim":
        return OF_CLAIM if reason in PROVISIONS else None
    if type_ != "Warning" or (kind == "Pod" and reason in OF_CYCLES):
        return None
    if kind == "Pod":
        return OF_POD
    return "" if kind == "Queue" or FAILED.search(reason) else None


def of_workload(workload: dict[str, Any]) -> dict[str, Message]:
    """Return why Kueue has not admitted a Workload, by its own name and those of its owners
    (`workload/` before these); nothing for one that it has admitted.

    >>> said = of_workload({"metadata": {"name": "w"}, "status": {"conditions": [
    ...     {"type": "QuotaReserved", "status": "False", "message": "1 more needed"}]}})
    >>> print(said["default/w"])
    Kueue has not admitted its Workload w (1 more needed), which no queue of Volcano decides
    """
    metadata, conditions = at(workload, "metadata", {}), items(workload, "status.conditions")
    if any(at(each, "status") == "True" and at(each, "type") in ("Admitted", "Finished")
           for each in conditions):
        return {}
    why = [at(each, "message") for each in conditions if (at(each, "type"), at(each, "status")) in (
        ("QuotaReserved", "False"), ("Evicted", "True"))]
    why += [f"{at(each, 'name')}: {at(each, 'message') or at(each, 'state')}"
            for each in items(workload, "status.admissionChecks") if at(each, "state") != "Ready"]
    why += ["spec.active false"] * (at(workload, "spec.active") is False)
    said = Message("not_created.workload", workload=str(metadata.get("name")),
                   why=[*dict.fromkeys(str(each).rstrip(". \n") for each in why if each)] or None)
    return {key_of(workload): said} | {
        OF_WORKLOAD + key_of({"metadata": {**metadata, "name": at(each, "name")}}): said
        for each in items(metadata, "ownerReferences")}
