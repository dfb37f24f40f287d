"""A field of an existing Job, set where the scheduler reads it: in its PodGroup and in those of its
pods that have no node.

The job controller updates few fields of an existing Job; here the Job is treated as submitted with
the new value: where it has to be created again for that, its pods that run lose their nodes.

Volcano: none
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from volcano_lab.api import GROUP_NAME, TASK_SPEC, objects as api, quantity
from volcano_lab.changes.draft import Draft
from volcano_lab.manifests.job_controller import scaled
from volcano_lab.manifests.loader import ManifestError, about
from volcano_lab.manifests.misfits import Misfits, found_text
from volcano_lab.manifests.owners import created_again
from volcano_lab.manifests.schema import at_path, structure, unstructure
from volcano_lab.manifests.workloads import MOST_PODS

IN_GROUP = ("minAvailable", "minMember", "minTaskMember", "queue", "priorityClassName",
            "minResources", "networkTopology", "subGroupPolicy")
IN_PODS = ("affinity", "containers", "initContainers", "nodeSelector", "preemptionPolicy",
           "schedulerName", "schedulingGates", "tolerations", "topologySpreadConstraints",
           "volumes")
OWN = ("annotations", "pods", "priority", "requests")
WORDS = (*IN_GROUP, *IN_PODS, *OWN)
"""The fields after `job/NAME.` where the Job has a PodGroup."""
KEPT = ("DaemonSet", "Deployment", "LeaderWorkerSet", "Pod", "RayCluster", "RayService",
        "ReplicaSet", "StatefulSet")
"""Kinds of owners of which pods that run stay when their template changes, or are replaced one
after the other; of the others all are created again.
"""
Change = Callable[[Any], Any]


def set_field(world: Draft, place: int, steps: list[str], edit: Change, where: str) -> None:
    """Set one field of a job, whose PodGroup is at a place, in the scheduler's objects; `edit`
    computes the new value from the old one. Raises `ManifestError`.
    """
    word, *rest = steps
    job = _Job(world, place, word == "annotations" or "podAntiAffinity" in rest,
               word in ("requests", *IN_PODS))
    if word == "priority":
        job.set_priority(edited(api.PodSpec(priority=0), steps, edit, where).priority or 0)
    elif word == "pods":
        job.set_pods(edit(0), where)
    elif word == "requests":
        job.set_request(_resource(rest, where), edit, where)
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
        if path == ["minMember"] and least and spec.min_resources:
            spec = spec.evolve(min_resources=scaled(spec.min_resources, spec.min_member, least))
        job.group = job.group.evolve(spec=spec)
        if word == "priorityClassName":
            job.set_priority(next((obj.value for obj in job.classes()
                                   if obj.name == spec.priority_class_name), 0), False)
    job.put_back()


def field_of(world: Draft, place: int, steps: list[str], but: Any = None) -> Any:
    """Return a job's value at a path, as plain data; its PodGroup is at a place. Of pods' fields
    the first value counts that is not the one to set (`but`), of requests the largest.
    """
    word, name = steps[0], ".".join(steps[1:])
    job = _Job(world, place)
    if word == "requests":
        return max(requests_of(job.pods, name), key=quantity.parse, default=None)
    if word == "pods":
        return job.running + len(job.pods)
    if word == "annotations":
        notes = [each.metadata.annotations for each in (job.group, *job.pods)]
        return next((each[name] for each in notes if name in each), None)
    if word in IN_PODS or word == "priority":
        values = [at_path(pod.spec, steps) for pod in job.pods]
        return next((value for value in values if value != but), *values[:1] or [None])
    return at_path(job.group.spec, ["minMember"] if word == "minAvailable" else steps)


class _Job:
    """A PodGroup and its pods without a node (or all of them, if `running` is set), including those
    created once it is admitted. Where the Job has to be created `again`, pods that run lose their
    nodes; those of the templates of the others are among these.
    """

    def __init__(self, world: Draft, place: int, running: bool = False, again: bool = False):
        group = world[place]
        assert isinstance(group, api.PodGroup)
        self.world, self.place, self.group = world, place, group
        pods: dict[int, Any] = {at: world[at] for at in world.pods_of(group)}
        self.places = [at for at, pod in pods.items() if running or not pod.spec.node_name]
        self.later = next((key for key, pods in world.later.items() if any(
            pod.metadata.annotations.get(GROUP_NAME) == self.group.name
            and pod.namespace == self.group.namespace for pod in pods)), "")
        self.pods = [*(pods[at] for at in self.places), *world.later.get(self.later, ())]
        self.running = sum(bool(pod.spec.node_name) for pod in pods.values())
        if again and self.running and self.pods:
            self._submit_again({place: pods[place] for place in pods if place not in self.places})

    def _submit_again(self, running: dict[int, Any]) -> None:
        owner = next(iter(self.group.metadata.owner_references), None)
        if owner is None or owner.kind in KEPT:
            return
        templates = {*map(_template, self.pods)}
        self.group = self.group.changed(status={"phase": "Pending"})
        for place, pod in running.items():
            self.world.put(place, created_again(pod))
            if _template(pod) in templates:
                self.places, self.pods = [place, *self.places], [self.world[place], *self.pods]

    def classes(self) -> Iterable[Any]:
        return (self.world[at] for at in self.world.of_kind("priorityclass"))

    def each_pod(self, change: Change) -> None:
        self.pods = [change(pod) for pod in self.pods]

    def each_spec(self, change: Change) -> None:
        """Change the specs, once for all pods that share one."""
        known = {id(pod.spec): pod.spec for pod in self.pods}
        changed = {key: change(spec) for key, spec in known.items()}
        self.each_pod(lambda pod: pod.evolve(spec=changed[id(pod.spec)]))

    def set_pods(self, count: Any, where: str) -> None:
        """Set the number of pods: remove the last pending ones, or copy the first pending one."""
        most = MOST_PODS if self.pods else self.running
        if type(count) is not int or not self.running <= count <= most:
            raise ManifestError("setting.pods", where=where, count=found_text(count),
                                running=self.running, most=most)
        wanted, like = count - self.running, self.pods[:1]
        self.pods = self.pods[:wanted] + [pod.changed(metadata={
            "name": f"{pod.name}-more-{number}", "uid": f"{pod.metadata.uid}-more-{number}"})
            for pod in like for number in range(wanted - len(self.pods))]

    def set_priority(self, value: int, with_class: bool = True) -> None:
        """Set the priority of the pods and, by a PriorityClass of that value, of the PodGroup."""
        if with_class:
            name = next((obj.name for obj in self.classes() if obj.value == value), "")
            if not name:
                name = f"priority-{value}"
                self.world.add(api.PriorityClass(api.ObjectMeta(name), value))
            self.group = self.group.changed(spec={"priority_class_name": name})
        self.each_spec(lambda spec: spec.evolve(priority=value))

    def set_request(self, name: str, edit: Change, where: str) -> None:
        """Set containers' requests: those above the value, and the largest; without any, of each
        pod's first container. Null removes it. `minResources` is scaled by the ratio of the sums.
        """
        before = [*map(quantity.parse, requests_of(self.pods, name))]
        given = edited(api.ResourceRequirements({name: "0"}), ["requests", name], edit, where
                       ).requests.get(name)
        value, most = quantity.parse(str(given or 0)), max(before, default=None)

        def wanted(container: api.Container, first: bool) -> api.Container:
            requests = container.resources.requests
            now = quantity.parse(requests.get(name, "0"))
            asks = first if most is None else name in requests and (now == most or now > value)
            kept = {key: text for key, text in requests.items() if key != name}
            more = {} if given is None else {name: str(given)}
            return container if not asks else container.evolve(
                resources=container.resources.evolve(requests=kept | more))

        self.each_spec(lambda spec: spec.evolve(
            containers=[wanted(each, not at) for at, each in enumerate(spec.containers)],
            init_containers=[wanted(each, False) for each in spec.init_containers]))
        least = dict(self.group.spec.min_resources or {})
        if given is None:
            least.pop(name, None)
        elif least and not any(before):
            least[name] = quantity.to_text(value * self.group.spec.min_member)
        elif name in least:
            after = sum(map(quantity.parse, requests_of(self.pods, name)))
            least |= scaled({name: least[name]}, after, sum(before))
        self.group = self.group.changed(spec={"min_resources": least or None})

    def put_back(self) -> None:
        self.world.put(self.place, self.group)
        for place, pod in zip(self.places, self.pods, strict=False):
            self.world.put(place, pod)
        for place in self.places[len(self.pods):]:
            self.world.put(place, None)
        for pod in () if self.later else self.pods[len(self.places):]:
            self.world.add(pod)
        if self.later:
            self.world.later[self.later] = self.pods[len(self.places):]


def _template(pod: api.Pod) -> str:
    """Return what the names of a template's pods begin with."""
    return pod.metadata.annotations.get(TASK_SPEC) or pod.name.rpartition("-")[0]


def requests_of(pods: Iterable[api.Pod], name: str) -> list[str]:
    """Return what containers of pods request of a resource."""
    return [each.resources.requests[name] for pod in pods
            for each in (*pod.spec.containers, *pod.spec.init_containers)
            if name in each.resources.requests]


def edited(part: Any, steps: list[str], edit: Change, where: str) -> Any:
    """Return a copy of an object, or part of one, with one field set. Raises `ManifestError`."""
    document = _with(unstructure(part), steps, edit, where)
    misfits = Misfits()
    changed = structure(type(part), document, misfits)
    if problems := misfits.errors + misfits.warnings:
        name = f"{part.kind} {part.key} ({where})" if isinstance(
            part, api.KubernetesObject) else f'"{where}"'
        raise ManifestError([about(name, problem) for problem in problems])
    return changed


def _with(part: Any, steps: Sequence[str], edit: Change, where: str,
          above: tuple[str, ...] = ()) -> Any:
    """Return a copy of plain data with the field at a path edited; null removes it."""
    step, *rest = steps
    if not isinstance(part, dict | list):
        raise ManifestError("setting.no_fields", where=where, path=".".join(above))
    if isinstance(part, list) and (not step.isdigit() or int(step) > len(part)):
        raise ManifestError("setting.place", where=where, path=".".join(above), count=len(part),
                            step=step)
    fields = dict(enumerate(part) if isinstance(part, list) else part)
    key = int(step) if isinstance(part, list) else step
    before = fields.get(key)
    fields[key] = _with({} if before is None else before, rest, edit, where, (*above, step)
                        ) if rest else edit(before)
    if fields[key] is None and before is not None:
        del fields[key]
    return [*fields.values()] if isinstance(part, list) else fields


def _edited_map(texts: dict[str, str], key: str, edit: Change) -> dict[str, str]:
    value = edit(texts.get(key))
    kept = {name: text for name, text in texts.items() if name != key}
    return kept if value is None else kept | {
        key: str(value).lower() if isinstance(value, bool) else str(value)}


def _resource(steps: Iterable[str], where: str) -> str:
    if name := ".".join(steps):
        return name
    raise ManifestError("setting.requests", where=where)
