"""A field of a Job that is in the cluster already, set where the scheduler reads it: in its
PodGroup and in those of its pods that have no node.

Answers to no Go file: the job controller carries over few fields of a Job that changes. Here the
Job counts as submitted with the other value.
"""

from collections.abc import Callable, Iterable
from typing import Any

import attrs

from volcano_lab.api import objects as api
from volcano_lab.api import quantity
from volcano_lab.api.task import GROUP_NAME
from volcano_lab.manifests.loader import Loaded, ManifestError
from volcano_lab.manifests.schema import Findings, structure, unstructure

IN_GROUP = ("minAvailable", "minMember", "minTaskMember", "queue", "priorityClassName",
            "minResources", "networkTopology", "subGroupPolicy")
IN_PODS = ("affinity", "containers", "initContainers", "nodeSelector", "preemptionPolicy",
           "schedulerName", "schedulingGates", "tolerations", "topologySpreadConstraints")
OWN = ("annotations", "priority", "requests")
WORDS = (*IN_GROUP, *IN_PODS, *OWN)
"""What `job/NAME.` may be followed by where the Job has a PodGroup."""
Change = Callable[[Any], Any]


def set_field(world: Loaded, group: api.PodGroup, steps: list[str], edit: Change,
              where: str) -> None:
    """Set one field of a job in the objects that the scheduler hears of, in place; `edit` makes the
    new value of the old one. Raises `ManifestError`.
    """
    word, *rest = steps
    job = _Job(world, group)
    if word == "priority":
        job.set_priority(_whole(edit(0), where))
    elif word == "requests":
        job.set_request(_resource(rest, where), edit)
    elif word == "annotations":
        key = ".".join(rest)
        job.group = job.group.changed(metadata={"annotations": _edited_map(
            job.group.metadata.annotations, key, edit)})
        job.each_pod(lambda pod: pod.changed(metadata={"annotations": _edited_map(
            pod.metadata.annotations, key, edit)}))
    elif word in IN_PODS:
        job.each_spec(lambda spec: edited(spec, steps, edit, where))
    else:
        least = job.group.spec.min_member
        path = ["minMember"] if word == "minAvailable" else steps
        spec = edited(job.group.spec, path, edit, where)
        if path == ["minMember"] and least:
            spec = attrs.evolve(spec, min_resources=scaled(spec.min_resources, spec.min_member,
                                                           least))
        job.group = attrs.evolve(job.group, spec=spec)
        if word == "priorityClassName":
            job.set_priority(next((obj.value for obj in world if isinstance(obj, api.PriorityClass)
                                   and obj.name == spec.priority_class_name), 0), False)
    job.put_back()


class _Job:
    """A PodGroup and its pods that have no node, also those that are created once it is admitted.
    """

    def __init__(self, world: Loaded, group: api.PodGroup):
        self.world, self.group, self.before = world, group, group
        self.places = [place for place, obj in enumerate(world) if self._waits(obj)]
        self.later = next((key for key, pods in world.later.items()
                           if any(map(self._waits, pods))), "")
        self.pods = [*(world[place] for place in self.places), *world.later.get(self.later, ())]

    def _waits(self, obj: Any) -> bool:
        return (isinstance(obj, api.Pod) and not obj.spec.node_name
                and obj.namespace == self.before.namespace
                and obj.metadata.annotations.get(GROUP_NAME) == self.before.name)

    def each_pod(self, change: Change) -> None:
        self.pods = [change(pod) for pod in self.pods]

    def each_spec(self, change: Change) -> None:
        """Change the specs, once for all pods that share one."""
        known: dict[int, Any] = {}
        for pod in self.pods:
            if id(pod.spec) not in known:
                known[id(pod.spec)] = change(pod.spec)
        self.each_pod(lambda pod: attrs.evolve(pod, spec=known[id(pod.spec)]))

    def set_priority(self, value: int, with_class: bool = True) -> None:
        """The priority of the pods and, by a PriorityClass of that value, of the PodGroup."""
        if with_class:
            name = next((obj.name for obj in self.world if isinstance(obj, api.PriorityClass)
                         and obj.value == value), "")
            if not name:
                name = f"priority-{value}"
                self.world.append(api.PriorityClass(api.ObjectMeta(name), value))
            self.group = self.group.changed(spec={"priority_class_name": name})
        self.each_spec(lambda spec: attrs.evolve(spec, priority=value))

    def set_request(self, name: str, edit: Change) -> None:
        """What containers ask for: those that ask for more than the value, and the largest. The
        minimum's resources follow.
        """
        asked = [quantity.parse(each.resources.requests[name]) for pod in self.pods
                 for each in (*pod.spec.containers, *pod.spec.init_containers)
                 if name in each.resources.requests]
        if not asked:
            return
        text = str(edit(None))
        value, most = quantity.parse(text), max(asked)

        def less(container: api.Container) -> api.Container:
            requests = container.resources.requests
            now = quantity.parse(requests.get(name, "0"))
            if name not in requests or not (now == most or now > value):
                return container
            return attrs.evolve(container, resources=attrs.evolve(
                container.resources, requests=requests | {name: text}))

        self.each_spec(lambda spec: attrs.evolve(
            spec, containers=[*map(less, spec.containers)],
            init_containers=[*map(less, spec.init_containers)]))
        least = self.group.spec.min_resources or {}
        if name in least:
            part = sum(value if now == most or now > value else now for now in asked) / sum(asked)
            amount = quantity.to_text(quantity.parse(least[name]) * part,
                                      quantity.style_of(least[name]))
            self.group = self.group.changed(spec={"min_resources": least | {name: amount}})

    def put_back(self) -> None:
        self.world[[id(obj) for obj in self.world].index(id(self.before))] = self.group
        for place, pod in zip(self.places, self.pods, strict=False):
            self.world[place] = pod
        if self.later:
            self.world.later[self.later] = self.pods[len(self.places):]


def edited(part: Any, steps: list[str], edit: Change, where: str) -> Any:
    """A copy of an object, or part of one, with the field at a path set. Raises `ManifestError`."""
    document = unstructure(part)
    place: Any = document
    for number, step in enumerate(steps):
        if isinstance(place, list):
            if not step.isdigit() or int(step) > len(place):
                raise ManifestError([f'"{where}": {".".join(steps[:number])} is a list of '
                                     f'{len(place)}; "{step}" is not in it'])
            place += [{}] if int(step) == len(place) else []
            key: Any = int(step)
        else:
            key = step
        if number == len(steps) - 1:
            place[key] = edit(place[key] if isinstance(place, list) else place.get(key))
        else:
            following = place[key] if isinstance(place, list) else place.setdefault(key, {})
            if not isinstance(following, dict | list):
                raise ManifestError([f'"{where}": {".".join(steps[:number + 1])} has no fields'])
            place = following
    findings = Findings()
    changed = structure(type(part), document, findings)
    if problems := findings.errors + findings.warnings:
        name = f"{part.kind} {part.key} ({where})" if isinstance(
            part, api.KubernetesObject) else f'"{where}"'
        raise ManifestError([f"{name}: {problem}" for problem in problems])
    return changed


def scaled(amounts: dict[str, str] | None, part: int, whole: int) -> dict[str, str] | None:
    """Amounts for `part` members, where these are for the `whole`."""
    return amounts and {name: quantity.to_text(
        quantity.parse(text) * part / whole, quantity.style_of(text))
        for name, text in amounts.items()}


def _edited_map(texts: dict[str, str], key: str, edit: Change) -> dict[str, str]:
    value = edit(texts.get(key))
    kept = {name: text for name, text in texts.items() if name != key}
    return kept if value is None else kept | {
        key: str(value).lower() if isinstance(value, bool) else str(value)}


def _whole(value: Any, where: str) -> int:
    if type(value) is not int:
        raise ManifestError([f'"{where}": priority is {value}; allowed is a whole number'])
    return value


def _resource(steps: Iterable[str], where: str) -> str:
    if name := ".".join(steps):
        return name
    raise ManifestError([f'"{where}" names no resource; allowed is job/NAME.requests.RESOURCE, '
                         "such as job/train.requests.cpu=2"])
