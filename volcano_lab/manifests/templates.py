"""Where the owner of a pod has the spec of it: a pod template, or a part that is called like the
pod's role, as `spec.driver`.

Volcano: none
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

from volcano_lab.api import quantity
from volcano_lab.api.objects import KubernetesObject, Pod
from volcano_lab.api.task import TASK_SPEC
from volcano_lab.manifests.schema import unstructure
from volcano_lab.manifests.writer import to_dict

Place = TypeVar("Place")
Steps = tuple[str, ...]
NAMES = ("name", "groupName")
"""The fields that name an item of a list of templates."""
LONG = 4
"""So many letters of a role are enough for a field that begins with it: `headGroupSpec`."""


def specs_of(owner: KubernetesObject, pod: Pod) -> list[Steps]:
    """Return the steps to the specs in an owner by which one of its pods may be created: those that
    fit its labels best, and of these those with its containers and their requests.

    >>> from volcano_lab.api.objects import ObjectMeta
    >>> from volcano_lab.manifests.operators import KINDS
    >>> job = KINDS["ray.io", "RayCluster"](spec={kind: {"template": {"spec": {"containers": []}}}
    ...                                           for kind in ("headGroupSpec", "workers")})
    >>> specs_of(job, Pod(ObjectMeta(labels={"ray.io/node-type": "head"})))
    [('spec', 'headGroupSpec', 'template', 'spec')]
    """
    spec, labels = to_dict(owner).get("spec", {}), pod.metadata.labels.values()
    found = [((steps, data), named) for steps, named, data in _specs(spec)]
    found += [((("spec", each), {}), (each,)) for each in labels if isinstance(
        spec.get(each), dict) and not any(each == named[1] for _, named in found)]
    some = likest(found, pod)
    for fits in (_requests, _names):
        if same := [steps for steps, data in some if fits(data) <= fits(unstructure(pod.spec))]:
            return same
    return [steps for steps, _ in some]


def _names(spec: Any) -> set[Any]:
    """Return the names of the containers of a spec."""
    return {each.get("name") for each in spec.get("containers", ())}


def _requests(spec: Any) -> set[Any]:
    """Return what each container of a spec requests, with those names."""
    return {(each.get("name"), name, _amount(str(amount)))
            for each in spec.get("containers", ()) for given in [each.get("resources") or {}]
            for name, amount in {**(given.get("limits") or {}), **(given.get("requests") or {})
                                 }.items()} | {(each,) for each in _names(spec)}


def likest(found: Iterable[tuple[Place, Steps]], pod: Pod) -> list[Place]:
    """Return the places of which the names fit the labels and the role of a pod best.

    >>> from volcano_lab.api.objects import ObjectMeta
    >>> likest([(1, ("Master",)), (2, ("Worker",))], Pod(ObjectMeta(labels={"role": "worker"})))
    [2]
    """
    role = pod.metadata.annotations.get(TASK_SPEC, "")
    words = {each.lower() for each in (*pod.metadata.labels.values(), role)} - {""}
    marks = [(place, _likeness(named, words)) for place, named in found]
    best = max((mark for _, mark in marks), default=0)
    return [place for place, mark in marks if mark == best]


def _amount(text: str) -> Any:
    """Return a quantity as a number; a text that is none as it is."""
    with suppress(quantity.QuantityError):
        return quantity.parse(text)
    return text


def _specs(data: Any, steps: Steps = ("spec",), named: Steps = ()
           ) -> Iterator[tuple[Steps, Steps, dict[str, Any]]]:
    """Yield the specs of pods in plain data: (steps to one, these with names of items, it)."""
    if isinstance(data, dict):
        containers = data.get("containers")
        if isinstance(containers, list) and all(isinstance(each, dict) for each in containers):
            yield steps, named, data
            return
        named += tuple(str(data[each]) for each in NAMES if each in data)
        for name, part in data.items():
            yield from _specs(part, (*steps, name), (*named, name))
    elif isinstance(data, list):
        for number, part in enumerate(data):
            yield from _specs(part, (*steps, str(number)), named)


def _likeness(named: Steps, words: set[str]) -> int:
    """How many of a pod's words are steps to a spec, or what one begins with."""
    lower = [each.lower() for each in named]
    return sum(any(word == each or (len(word) >= LONG and each.startswith(word)) for each in lower)
               for word in words)


def of_role(fields: list[str], head: str) -> list[str]:
    """Return the fields of a leader's template for a `head`, the others for the pods that follow
    one; all where none is a leader's.

    >>> of_role(["spec.leaderTemplate.spec", "spec.workerTemplate.spec"], "")
    ['spec.workerTemplate.spec']
    """
    leads = [field for field in fields if ".leaderTemplate." in field]
    return [field for field in fields if (field in leads) is bool(head)] if leads else fields


def field_text(steps: Steps) -> str:
    """Return a field as it is written: `spec.tasks[0].template`.

    >>> field_text(("spec", "tasks", "0", "template"))
    'spec.tasks[0].template'
    """
    return "".join(f"[{each}]" if each.isdigit() else f".{each}" for each in steps).lstrip(".")
