"""The checks of Volcano's validating webhooks and CRDs on objects, before they are in the cluster.

`rules.md` is the table of the rules; one module for each kind finds violations.
Each object is checked as if the others were in the cluster already. Left out: updates and
deletions, and of Kubernetes' own rules for pods all but missing and repeated containers and
requests above limits.

Volcano: pkg/webhooks/admission, config/crd
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from attrs import define

from volcano_lab.api import Resource, amount_text, objects as api
from volcano_lab.framework import collector_paused
from volcano_lab.manifests.admission import hyper_nodes, jobs, pod_groups, pods, queues
from volcano_lab.manifests.admission.rules import exists
from volcano_lab.manifests.document import placed
from volcano_lab.manifests.loader import ManifestError, about, place_key
from volcano_lab.manifests.misfits import found_text
from volcano_lab.manifests.schema import at_path
from volcano_lab.manifests.writer import to_dict
from volcano_lab.messages import Message, Said, one_line
from volcano_lab.trace import grouped

KINDS = {api.VolcanoJob: ("job", jobs), api.Queue: ("queue", queues),
         api.PodGroup: ("podgroup", pod_groups), api.HyperNode: ("hypernode", hyper_nodes),
         api.Pod: ("pod", pods)}
"""Kind -> name of its webhook, and module of its rules."""
_ROW = re.compile(r"^\| (\S+-\S+) \| (\S+) \| (.+) \|$", re.MULTILINE)
RULES = {row[0]: row[1:]
         for row in _ROW.findall(Path(__file__).with_name("rules.md").read_text("utf-8"))}
"""Rule -> field, and Volcano's message; `messages/texts/rules.toml` has what it allows."""
OF_STATE = {"queue-state", "job-queue-closed", "podgroup-queue-closed"}
"""Rules about a queue's state, which changes after an object was accepted: those that the API
server has stored are not asked.
"""


@define
class Verdict:
    """A rule that an object breaks, and where; `message` is Volcano's message to its users.

    `exists`: the object is in a cluster already; only a new one would be refused.
    """

    label: Said
    rule: str
    field: str
    found: Said
    allowed: Message
    message: str
    exists: bool

    @property
    def level(self) -> str:
        """`error`, or `warning` for an object that exists."""
        return "warning" if self.exists else "error"

    @property
    def what(self) -> Message:
        """What is wrong with the object."""
        return Message("problem.verdict", field=self.field, found=self.found, allowed=self.allowed,
                       message=self.message)

    @property
    def text(self) -> str:
        """The verdict as one sentence."""
        return one_line(str(about(self.label, self.what)))


@collector_paused()
def verdicts(objects: Iterable[api.KubernetesObject]) -> list[Verdict]:
    """Return the rules that objects break, in their order.

    >>> from volcano_lab.manifests.loader import loads
    >>> group = ("{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup,"
    ...          " metadata: {name: a}, spec: {queue: b}}")
    >>> for verdict in verdicts(loads(group)):
    ...     print(verdict.rule, verdict.level, verdict.text, sep="; ")
    podgroup-queue-missing; error; PodGroup default/a (text, document 1): spec.queue is "b";
    allowed is default, or a Queue among the files (validatepodgroup.volcano.sh: unable to find
    queue: queue.scheduling.volcano.sh "b" not found)
    """
    objects, places = list(objects), getattr(objects, "places", {})
    known = {name: api.Queue(api.ObjectMeta(name, uid=name)) for name in ("root", "default")}
    known |= {obj.name: obj for obj in objects if isinstance(obj, api.Queue)}
    found = []
    for obj in objects:
        webhook, rules = KINDS.get(type(obj), ("", None))
        for rule, values in rules.broken(obj, known) if rules else ():
            if rule in OF_STATE and (obj.metadata.uid or obj.metadata.resource_version):
                continue
            key = place_key(obj)
            label = placed(f"{obj.kind} {'/'.join(filter(None, key[1:]))}", places.get(key))
            field, message = RULES[rule]
            field = field.format(**values)
            found.append(Verdict(label, rule, field, _found(to_dict(obj), field),
                                 Message(f"rule.{rule}", **_quantities(values)),
                                 f"validate{webhook}.volcano.sh: {message.format(**values)}",
                                 exists(obj)))
    return found


def _quantities(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return facts with amounts as quantities; Volcano's own message has internal units."""
    return {key: [f"{name} {amount_text(name, amount)}" for name, amount in value if amount]
            or Message("nothing") if isinstance(value, Resource) else value
            for key, value in values.items()}


def _found(data: Any, field: str) -> Said:
    """Return the value of a field in a sentence's form."""
    data = at_path(data, map("".join, re.findall(r"\[([^]]*)\]|([^.[]+)", field)))
    if data is None:
        return Message("found.not_set")
    amounts = isinstance(data, dict) and all(isinstance(text, str) for text in data.values())
    return Message("found.amounts", amounts=[
        " ".join(each) for each in data.items()]) if amounts else found_text(data)


def admit(objects: Iterable[api.KubernetesObject]) -> list[Message]:
    """Return a message for each rule that existing objects break.

    Raises `ManifestError` where a new object breaks one.
    """
    found = verdicts(objects)
    if refused := _merged(verdict for verdict in found if not verdict.exists):
        raise ManifestError(refused)
    return _merged(found)


def _merged(found: Iterable[Verdict]) -> list[Message]:
    """Return a message for each rule and value, with the number of further objects."""
    alike = grouped((each.what, each.label) for each in found)
    return [about(labels, what) for what, labels in alike.items()]
