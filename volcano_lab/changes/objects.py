"""Settings of objects by name: `queue/a.weight=5`, `job/x.tolerations+=[…]`, `node/n1.more=2`.

A setting sets a manifest's field, before defaults and controllers; that of a job with a PodGroup
sets the PodGroup and its pods. Objects created by a removed object are removed with it.

Volcano: none
"""

import re
from collections.abc import Iterable, Sequence
from copy import deepcopy
from itertools import chain
from typing import Any

import attrs

from volcano_lab.api import objects as api
from volcano_lab.changes.conf import value_of
from volcano_lab.changes.draft import CLASSES, Draft, keys_of, kind_of
from volcano_lab.changes.job_fields import IN_GROUP, WORDS, edited, set_field
from volcano_lab.changes.more_nodes import add_nodes
from volcano_lab.changes.scale import refill, rollout, scale
from volcano_lab.manifests import OperatorObject, loader, names, operators, quotas, with_defaults
from volcano_lab.manifests.disruptions import counted
from volcano_lab.manifests.job_controller import CREATING
from volcano_lab.manifests.owners import created_again, deployment_of
from volcano_lab.manifests.schema import at_path, json_name
from volcano_lab.manifests.writer import to_dict
from volcano_lab.messages.similar import meant

UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
"""The taint that is added and removed with `spec.unschedulable`."""
_JOB: type = api.VolcanoJobSpec
OF_JOB = {json_name(field) for field in attrs.fields(_JOB)}
IN_STATUS = {api.Node: ("allocatable", "capacity"), api.ResourceQuota: ("hard", "used"),
             api.Queue: ("state",)}
"""Fields of the status that the scheduler reads, and that users name without `status.`."""
_STEP = re.compile(r"\[([^]]+)\]|([^.[\]]+)")
_NAMES = re.compile(r"(.*?\b(?:capability|deserved|resource|requests|limits|labels|annotations"
                    r"|allocatable|capacity|hard|used))\.([^[\]]*/[^[\]]*)")
"""A field whose keys are names of resources or of labels, and one with a domain, which has dots."""
_FIELD = re.compile(r"\.[^.[\]]+(\.[^.[\]]+|\[[^]]+\])*")


def change(objects: Iterable[api.KubernetesObject], settings: Sequence[str] = (),
           removals: Sequence[str] = ()) -> loader.Loaded:
    """Return the scheduler's objects with fields set (`KIND/NAME.FIELD=VALUE`; `+=` appends to a
    list) and some objects removed (`KIND/NAME`).

    A field without `spec.` or `metadata.` in front is one of the spec (of a Node's status); a name
    with dots is put in brackets: `capability[nvidia.com/gpu]`. `KIND/NAME={...}` creates an object
    with that spec, `node/NAME.more=N` creates N more nodes like one.

    Raises:
        ManifestError: No such object or field, or a wrong value.

    >>> from volcano_lab.manifests.loader import loads
    >>> queue = "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: a}}"
    >>> [queue.spec.weight for queue in change(loads(queue), ["queue/a.weight=5"])]
    [1, 1, 5]
    >>> [queue.name for queue in change(loads(queue), [], ["q/a"])]
    ['root', 'default']
    """
    given = Draft(objects if isinstance(objects, list) else list(objects))
    removed = {name: _remove(given, name) for name in removals}
    doomed = [name for name, found in removed.items() if not found]
    gone = [obj for obj in chain(*removed.values()) if not (
        isinstance(obj, api.Pod) and given.has(f"pod/{obj.key}", obj.key))]
    for place in given.of_kind("resourcequota") if gone else ():
        quota: Any = given[place]
        given.put(place, quotas.released(quota, gone))
    read = [*map(Setting.read, settings)]
    late = [each.text for each in read if not each.applied_to(given)]
    for each in read:
        each.check_effect(given)
    refill(given)
    world = with_defaults(given.loaded())
    if not late and not doomed:
        return world
    draft = Draft(world)
    apply(draft, late, doomed)
    return draft.loaded()


def apply(world: Draft, settings: Iterable[str] = (), removals: Iterable[str] = ()) -> None:
    """Apply a change to the scheduler's objects. Raises `ManifestError`."""
    for name in removals:
        if not _remove(world, name):
            world.find(name, f"remove {name}")
    for each in map(Setting.read, settings):
        if not each.applied_to(world):
            each.apply_to(world)


def _remove(draft: Draft, name: str) -> list[api.KubernetesObject]:
    """Remove an object and the objects it created, with a node its pods; return them, none where it
    does not exist. A pod whose controller is there is created again.
    """
    if not draft.has(name, f"remove {name}"):
        return []
    found = draft.find(name, f"remove {name}")
    obj, places = draft[found], draft.with_children(found)
    there: dict[int, Any] = {place: draft[place] for place in draft.of_kind("pod")}
    pods = {place for place, pod in there.items() if place == found or (
        isinstance(obj, api.Node) and pod.spec.node_name == obj.name)}
    removed = {place: draft[place] for place in places | pods}
    for place in removed:
        draft.put(place, None)
    for place in sorted(pods):
        pod: Any = removed[place]
        if _has_creator(draft, pod):
            draft.put(place, created_again(pod))
    return [*removed.values()]


def _has_creator(draft: Draft, pod: api.Pod) -> bool:
    """Whether the controller of a pod is there, and creates pods."""
    names = [(owner.kind, owner.name) for owner in pod.metadata.owner_references
             if owner.controller and owner.kind in ("Job", "ReplicaSet", "StatefulSet")]
    names += [("Deployment", above)] if (above := deployment_of(pod)) else []
    owners = [draft[place] for kind, name in names for place in draft.of_kind(kind.lower())
              if loader.place_key(draft[place])[1:] == (pod.namespace or "default", name)]
    return any(not isinstance(owner, (api.VolcanoJob, api.PodGroup)) or (
        isinstance(owner, api.VolcanoJob) and owner.status.state.phase in CREATING)
        for owner in owners)


@attrs.frozen
class Setting:
    """One parsed setting."""

    text: str
    target: str
    value: Any
    adds: bool

    @classmethod
    def read(cls, text: str) -> "Setting":
        target, equals, value = text.partition("=")
        if not equals or "/" not in target:
            raise loader.ManifestError("setting.nothing", text=text)
        kind_of(target.partition("/")[0], target)
        if target.endswith("-"):
            raise loader.ManifestError("setting.minus", text=text)
        return cls(text, target.removesuffix("+"), value_of(value, text), target.endswith("+"))

    @property
    def of_group(self) -> bool:
        """Whether only a PodGroup is named, and not its job."""
        return self.target.partition("/")[0] in ("podgroup", "pg")

    @property
    def more_nodes(self) -> bool:
        return bool(re.match("(no|nodes?)/", self.target)) and self.target.endswith(".more")

    def exists_in(self, draft: Draft) -> bool:
        """Return whether it changes an object that exists, and creates none."""
        return not self.more_nodes and bool(draft.named_in(self.target))

    def _is_field(self, draft: Draft) -> bool:
        """Return whether a name with dots that does not exist is a field of what controllers
        create.
        """
        return "." in self.target and self.exists_in(Draft(with_defaults(draft.loaded())))

    def edit(self, before: Any) -> Any:
        """Return the value after the setting, from that before."""
        if not self.adds:
            return self.value
        if not isinstance(before, list | None) or not isinstance(self.value, list):
            raise loader.ManifestError("setting.adds", text=self.text)
        return [*(before or ()), *self.value]

    def split(self, draft: Draft) -> tuple[int, list[str], Any]:
        """Return the object's place, the steps to the field, and the object. Raises
        `ManifestError`.
        """
        word, _, rest = self.target.partition("/")
        name = draft.named_in(self.target)
        if not name:
            draft.find(f"{word}/{rest.partition('.')[0]}", self.target)
        place = draft.find(f"{word}/{name}", self.target)
        if not _FIELD.fullmatch(field := rest[len(name):]):
            raise loader.ManifestError("setting.no_field" if field else "setting.no_field_remove",
                                       target=self.target)
        return place, full_path(draft[place], steps_of(field)), draft[place]

    def applied_to(self, draft: Draft) -> bool:
        """Apply it to manifests, before controllers see them; return False if it must wait."""
        if not self.exists_in(draft):
            if self.more_nodes or not isinstance(self.value, dict) or self._is_field(draft):
                kind = kind_of(self.target.partition("/")[0], self.target)
                if issubclass(CLASSES[kind], OperatorObject):
                    self.split(draft)  # no controller creates it: names the existing ones
                return False
            draft.add(_created(self.target, self.value, self.text))
            return True
        place, steps, obj = self.split(draft)
        owns = isinstance(obj, api.VolcanoJob | api.Workload | OperatorObject)
        created = draft.with_children(place) - {place} if owns else set[int]()
        if isinstance(obj, api.PodGroup | api.VolcanoJob | api.BatchJob):
            word = steps[1] if len(steps) > 1 else steps[0]
            if not self.of_group and word in WORDS and (
                    created or isinstance(obj, api.PodGroup) or word not in (*OF_JOB, *IN_GROUP)):
                return False
        self._put(draft, place, steps)
        if created and draft[place] != obj and not any(
                each(draft, obj, draft[place], created) for each in (rollout, scale)):
            self._submit_again(draft, obj, created)
        return True

    def _submit_again(self, draft: Draft, job: api.KubernetesObject, created: set[int]) -> None:
        """Let the controller create PodGroup and pods again, unless some of these run."""
        there = [*map(draft.__getitem__, created)]
        runs = sum(isinstance(pod, api.Pod) and bool(pod.spec.node_name) for pod in there)
        if runs:
            name = next((key_of(obj) for obj in there if isinstance(obj, api.PodGroup)), "job/NAME")
            raise loader.ManifestError("setting.running", text=self.text, runs=runs, kind=job.kind,
                                       key=job.key, name=name, words=WORDS)
        for place in created:
            draft.put(place, None)

    def apply_to(self, draft: Draft) -> None:
        """Apply it to objects created by controllers."""
        place, steps, obj = self.split(draft)
        if self.more_nodes and isinstance(obj, api.Node):
            add_nodes(draft, obj, self.value, self.text)
        elif isinstance(obj, api.PodGroup) and not self.of_group:
            set_field(draft, place, steps[1:], self.edit, self.text)
        else:
            self._put(draft, place, steps)

    def _put(self, draft: Draft, place: int, steps: list[str]) -> None:
        before = draft[place]
        if isinstance(before, OperatorObject):  # its spec is shared with the manifest
            changed = edited(deepcopy(before), steps, self.edit, self.text)
            if wrong := operators.problems(changed)[0]:
                raise loader.ManifestError([loader.about(f'"{self.text}"', each) for each in wrong])
        else:
            changed = edited(before, steps, self.edit, self.text)
        if isinstance(changed, api.PersistentVolumeClaim):  # immutable: it is created again
            changed = changed.changed(status={"phase": ""}, metadata={
                "resource_version": "", "annotations": {
                    key: text for key, text in changed.metadata.annotations.items()
                    if not key.startswith(("pv.kubernetes.io/", "volume.kubernetes.io/"))}})
        if isinstance(changed, api.Node) and steps == ["spec", "unschedulable"]:
            taints = [taint for taint in changed.spec.taints if taint.key != UNSCHEDULABLE]
            cordon = [api.Taint(UNSCHEDULABLE, effect="NoSchedule")] * changed.spec.unschedulable
            changed = changed.changed(spec={"taints": taints + cordon})
        if isinstance(changed, api.PodDisruptionBudget) and steps[0] == "spec":
            changed = counted(changed, draft.pods())
        draft.put(place, changed)

    def check_effect(self, draft: Draft) -> None:
        """Refuse a field of an operator's object that is changed and without which, the other
        settings kept, the object has the same pods.
        """
        if not issubclass(CLASSES[kind_of(self.target.partition("/")[0], self.text)],
                          OperatorObject):
            return
        place, steps, after = self.split(draft)
        objects, value = draft.loaded(), at_path(draft.source[place], steps)
        if value == at_path(after, steps):
            return
        before = edited(deepcopy(after), steps, lambda _: value, self.text)
        one, other = (operators.created(obj, objects, lambda name: None, set(), {})
                      for obj in (before, after))
        if [*map(to_dict, [*one.objects, *one.later])] == [
                *map(to_dict, [*other.objects, *other.later])]:
            raise loader.ManifestError("setting.no_effect", text=self.text, kind=after.kind,
                                       key=after.key)


def full_path(obj: api.KubernetesObject, steps: list[str]) -> list[str]:
    """Return the path of a field from the object's root; without `spec.` or `metadata.` in front it
    is one of the spec, of the status if the scheduler reads it there, a resource of a node, or of
    the metadata if it is a label, perhaps a misspelt one.
    """
    if steps[0] in ("metadata", "spec", "status") or not hasattr(obj, "spec"):
        return steps
    if steps[0] in IN_STATUS.get(type(obj), ()):
        return ["status", *steps]
    if isinstance(obj, api.Node) and steps[0] in obj.status.allocatable:
        return ["status", "allocatable", *steps]
    return ["metadata" if meant(steps[0], ["labels"], alike=0.8) else "spec", *steps]


def _created(target: str, value: dict[str, Any], where: str) -> api.KubernetesObject:
    """Return a new object, from its spec or from all its parts."""
    word, _, rest = target.partition("/")
    cls = CLASSES[kind_of(word, where)]
    namespace, _, name = rest.rpartition("/")
    whole = {*value} <= {"metadata", "spec", "status"} or not hasattr(cls, "spec")
    parts = value if whole else {"spec": value}
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    document = {"apiVersion": cls.api_versions[0], "kind": cls.kind, **parts,
                "metadata": parts.get("metadata", {}) | metadata}
    obj = loader.from_dict(document, strict=True)
    if wrong := names.problems(obj):
        raise loader.ManifestError("setting.uncreated", where=where, word=word, rest=rest,
                                   problem=wrong[0])
    return obj


def steps_of(field: str) -> list[str]:
    """Return the names in the path of a field.

    >>> steps_of("capability[nvidia.com/gpu]"), steps_of("capability.nvidia.com/gpu")
    (['capability', 'nvidia.com/gpu'], ['capability', 'nvidia.com/gpu'])
    """
    if keyed := _NAMES.fullmatch(field):
        return [*steps_of(keyed[1]), keyed[2].replace("\\.", ".")]
    return [bracket.strip("\"'") or step for bracket, step in _STEP.findall(field)]


def key_of(obj: api.KubernetesObject) -> str:
    """Return the name of an object in a change; a PodGroup's is that of its owner."""
    word = "job" if isinstance(obj, api.PodGroup) else obj.kind.lower()
    keys = [key for key in keys_of(obj) if "/" in key] or keys_of(obj)
    return f"{word}/{keys[-1]}"
