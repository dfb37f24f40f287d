"""Events: what controllers, the scheduler, kubelets and autoscalers have said of objects.

Volcano: none
"""

import re
from typing import Any

from volcano_lab.manifests.document import key_of, text_of
from volcano_lab.manifests.operators import refusing
from volcano_lab.messages import Message

FAILED = re.compile(r"^Failed(To)?Create(?!PodSandBox)|Error$")
"""Reasons of Events by which controllers report that they cannot create something; the kubelet
reports sandboxes of pods.
"""
OF_POD, OF_GROUP = "pod/", "podgroup/"
OF_STATUS = re.compile(r'^.*?Message:"((?:[^"\\]|\\.)*)".*', re.DOTALL)
"""An Event of Volcano's with the API server's answer, of which only the message is read."""
OF_CRD = re.compile(r"is invalid: status\.\S+: Required value")
"""In an answer of the API server: a CRD is not that of the release whose controller writes."""
EVICT = "Evict"
"""The reason of the scheduler's Events about pods that it evicts, and about their PodGroups."""
SCALES = {"NotTriggerScaleUp": "scales.not", "TriggeredScaleUp": "scales",
          "FailedScheduling": "scales.not", "Nominated": "scales.claim"}
"""Reasons of an autoscaler's Events about pods, the last two of Karpenter, and what they say."""
OF_KARPENTER = "Failed to schedule pod"
"""The start of its Event of a reason that schedulers have, too."""
OF_CYCLES = ("FailedScheduling", "Unschedulable")
"""Reasons of Events about pods with what a scheduler says in each cycle."""


def reported(event: dict[str, Any]) -> dict[str, Message]:
    """Return from an Event, by what it is about, the warning of a controller that it cannot create
    something, or one about a pod (`pod/` before its name), also what the scheduler says of a
    PodGroup whose pods it evicts; nothing for other objects.
    """
    reason, text = (text_of(event.get(name)) or "" for name in ("reason", "message"))
    about: Any = event.get("involvedObject")
    about = about if isinstance(about, dict) else {}
    kind = about.get("kind")
    told = reason in SCALES and (reason not in OF_CYCLES or text.startswith(
        OF_KARPENTER)) if kind == "Pod" else (kind, reason) == ("PodGroup", EVICT)
    of_pod = kind == "Pod" or told
    if event["kind"] != "Event" or not (told or event.get("type") == "Warning") or (
            reason in OF_CYCLES and not told if of_pod
            else kind != "Queue" and not FAILED.search(reason)):
        return {}
    key = str(about.get("name")) if kind == "Queue" else key_of({"metadata": about})
    return {OF_POD * of_pod + key: Message(
        "event" if of_pod else "not_created.event", reason=reason,
        said=OF_STATUS.sub(r"\1", text).replace('\\"', '"').rstrip(". \n"),
        webhook=refusing(text.replace('\\"', '"')),
        crd=Message("event.crd") if OF_CRD.search(text) else None,
        time=str(event.get("lastTimestamp") or event.get("eventTime")))}
