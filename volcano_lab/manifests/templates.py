"""What the owner of a pod says of it now: a pod keeps what it was created with, whatever its owner
says later, or a webhook should have added.

Compared are requests, tolerations and node selectors that the template names; what others add to
pods is theirs.

Volcano: none
"""

from collections.abc import Iterable, Iterator
from typing import Any

from volcano_lab.api.objects import Container, KubernetesObject, Pod, PodSpec, Workload
from volcano_lab.api.objects.pod import ResourceRequirements
from volcano_lab.api.pod_sum import parsed
from volcano_lab.manifests.operators import OPERATORS, OperatorObject, roles_of
from volcano_lab.manifests.owners import by_label, created_again

Templates = dict[tuple[str, str], list[tuple[KubernetesObject, dict[str, str], PodSpec]]]
"""Objects that create pods, with labels of these, and their spec."""
Difference = tuple[str, str, Any, Any]
"""What differs, its name, and what the pod and the template have."""


def templates(given: Iterable[KubernetesObject], namespace: str) -> Templates:
    """Return the templates of the objects of a namespace that create pods, by kind and name."""
    found: Templates = {}
    for obj in given:
        if (obj.namespace or "default") == (namespace or "default") and isinstance(
                obj, OperatorObject | Workload):
            found[obj.kind, obj.name] = [(obj, {}, obj.spec.template.spec)] if isinstance(
                obj, Workload) else [(obj, role.labels, role.template.spec)
                                     for role in roles_of(obj) if role.labels]
    return found


def template_of(pod: Pod, known: Templates) -> tuple[KubernetesObject, PodSpec] | None:
    """Return the owner that has the template of a pod, and this; None where none has one for it
    alone.
    """
    owners = {*by_label(pod), *((ref.kind, ref.name) for ref in pod.metadata.owner_references
                                if ref.controller)}
    found = [(obj, spec) for owner in owners for obj, own, spec in known.get(owner, ())
             if own.items() <= pod.metadata.labels.items()]
    return found[0] if found and all(spec == found[0][1] for _, spec in found) else None


def by_webhook(owner: KubernetesObject) -> bool:
    """Whether a webhook of its operator adds fields to its pods, whose requests others compute."""
    return isinstance(owner, OperatorObject) and OPERATORS[type(owner)].webhook


def differences(pod: Pod, owner: KubernetesObject, template: PodSpec) -> Iterator[Difference]:
    """Yield what the template of an owner names and its pod has not."""
    for here, there in _both(pod.spec, owner, template):
        before, after = ({**each.resources.limits, **each.resources.requests}
                         for each in (here, there))
        amounts = parsed(before), parsed(after)
        for name in after:
            if amounts[0].get(name) != amounts[1][name]:
                yield "request", name, before.get(name, "0"), after[name]
    for each in template.tolerations:
        if each not in pod.spec.tolerations:
            yield "toleration", each.key, None, each
    for label, value in template.node_selector.items():
        if pod.spec.node_selector.get(label) != value:
            yield "selector", label, pod.spec.node_selector.get(label), value


def renewed(pod: Pod, given: Iterable[KubernetesObject]) -> Pod | None:
    """Return a pod as its owner creates it again from its template; None without one."""
    found = template_of(pod, templates(given, pod.namespace))
    if found is None:
        return None
    resources = {here.name: there.resources for here, there in _both(pod.spec, *found)}
    return created_again(pod).changed(spec={
        "containers": [each.evolve(resources=each.resources.evolve(
            requests={**each.resources.requests, **amounts.limits, **amounts.requests},
            limits={**each.resources.limits, **amounts.limits}))
            for each in pod.spec.containers
            for amounts in [resources.get(each.name, ResourceRequirements())]],
        "tolerations": [*pod.spec.tolerations, *found[1].tolerations],
        "node_selector": {**pod.spec.node_selector, **found[1].node_selector}})


def _both(pod: PodSpec, owner: KubernetesObject, template: PodSpec
          ) -> Iterator[tuple[Container, Container]]:
    """Yield the containers of a pod and those of its template that have their names; none where the
    template has no requests of theirs.
    """
    named = {each.name: each for each in ([] if by_webhook(owner) else template.containers)}
    return ((each, named[each.name]) for each in pod.containers if each.name in named)
