"""Changes of a cluster by name: `queue/a.weight=5`, `node/n1`, `plugin/binpack.binpack.cpu=3`.

Answers to no Go file. A change is that of a manifest's field, before defaults and controllers; that
of a job which has a PodGroup reaches this and its pods. What a removed object has made goes with
it.
"""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import attrs

from volcano_lab.api.objects import KINDS, KubernetesObject, Node, Pod, PodGroup, VolcanoJob
from volcano_lab.api.objects.cluster import Taint
from volcano_lab.changes.conf import value_of
from volcano_lab.changes.job_fields import IN_GROUP, WORDS, edited, set_field
from volcano_lab.changes.more_nodes import with_more_nodes
from volcano_lab.manifests import names
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.job_controller import GROUP_NAME, JOB_NAME
from volcano_lab.manifests.loader import Loaded, ManifestError, from_dict, place_key
from volcano_lab.manifests.schema import json_name
from volcano_lab.messages import did_you_mean

SHORT = {"q": "queue", "vcjob": "job", "vj": "job", "pg": "podgroup", "po": "pod", "no": "node",
         "hn": "hypernode", "pc": "priorityclass", "deploy": "deployment", "sts": "statefulset",
         "ds": "daemonset", "rs": "replicaset", "ns": "namespace", "quota": "resourcequota"}
"""kubectl's short words for kinds."""
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
"""The taint that comes and goes with `spec.unschedulable`."""
MOST_NODES = 10_000
OF_JOB = {json_name(field) for field in attrs.fields(type(VolcanoJob().spec))}
_STEP = re.compile(r"\[([^]]+)\]|([^.[\]]+)")


def change(objects: Iterable[KubernetesObject], settings: Sequence[str] = (),
           removals: Sequence[str] = ()) -> Loaded:
    """Return what the scheduler hears of with fields set (`KIND/NAME.FIELD=VALUE`; `+=` adds to a
    list) and some objects removed (`KIND/NAME`).

    A field without `spec.` or `metadata.` in front is one of the spec (of a Node's status); a name
    with dots stands in brackets: `capability[nvidia.com/gpu]`. `KIND/NAME={...}` creates an object
    of that spec, `node/NAME.more=N` as many more nodes like one.

    Raises:
        ManifestError: There is no such object or field, or the value does not fit.

    >>> from volcano_lab.manifests.loader import loads
    >>> queue = "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: a}}"
    >>> [queue.spec.weight for queue in change(loads(queue), ["queue/a.weight=5"])]
    [1, 1, 5]
    >>> [queue.name for queue in change(loads(queue), [], ["q/a"])]
    ['root', 'default']
    """
    changed = Loaded(objects, getattr(objects, "warnings", ()), getattr(objects, "places", {}))
    changes = [_Setting.read(text) for text in settings]
    doomed = [name for name in removals if not _remove(changed, name)]
    late = [each for each in changes if not each.applied_to(changed)]
    world = with_defaults(changed)
    for name in doomed:
        if not _remove(world, name):
            named(world, name, f"remove {name}")
    for each in late:
        each.apply_to(world)
    return world


def apply(world: Loaded, setting: str) -> None:
    """Apply one setting to what the scheduler hears of, in place. Raises `ManifestError`."""
    each = _Setting.read(setting)
    if not each.applied_to(world):
        each.apply_to(world)


def key_of(obj: KubernetesObject) -> str:
    """Return how a change names an object; a PodGroup by its Job, or whatever it was created for.
    """
    word = "job" if isinstance(obj, PodGroup) else obj.kind.lower()
    keys = [key for key in _keys(obj) if "/" in key] or _keys(obj)
    return f"{word}/{keys[-1]}"


def _remove(objects: Loaded, name: str) -> bool:
    """Remove an object and what it has made, where it is there."""
    if not _found(objects, name, f"remove {name}"):
        return False
    doomed = _with_children(objects, named(objects, name, f"remove {name}"))
    objects[:] = [obj for obj in objects if place_key(obj) not in doomed]
    return True


@attrs.frozen
class _Setting:
    """One setting as it was typed, taken apart."""

    text: str
    target: str
    value: Any
    adds: bool

    @classmethod
    def read(cls, text: str) -> "_Setting":
        target, equals, value = text.partition("=")
        if not equals:
            raise ManifestError([f'"{text}" sets nothing; allowed is KIND/NAME.FIELD=VALUE, such '
                                 "as queue/a.weight=5"])
        kind_of(target.partition("/")[0], target)
        return cls(text, target.removesuffix("+"), value_of(value, text), target.endswith("+"))

    def edit(self, before: Any) -> Any:
        """The value after, of that before."""
        if not self.adds:
            return self.value
        if not isinstance(before, list | None) or not isinstance(self.value, list):
            raise ManifestError([f'"{self.text}": += adds a list to a list; allowed is ='])
        return [*(before or ()), *self.value]

    def applied_to(self, objects: Loaded) -> bool:
        """Apply it to manifests, before controllers see them; False where it is for later."""
        more_nodes = re.match("(no|nodes?)/", self.target) and self.target.endswith(".more")
        if more_nodes or not _known_field(objects, self.target):
            if more_nodes or not isinstance(self.value, dict):
                return False
            objects.append(_created(self.target, self.value, self.text))
            return True
        obj, steps = _split(objects, self.target)
        made = _with_children(objects, obj) - {place_key(obj)} if isinstance(
            obj, PodGroup | VolcanoJob) else set()
        of_job = self.target.partition("/")[0] not in ("podgroup", "pg")
        if isinstance(obj, PodGroup | VolcanoJob) and of_job and steps[0] in WORDS and (
                made or isinstance(obj, PodGroup) or steps[0] not in (*OF_JOB, *IN_GROUP)):
            return False
        if isinstance(obj, VolcanoJob) and made:
            self._submit_again(objects, obj, made)
        self._put(objects, obj, steps)
        return True

    def _submit_again(self, objects: Loaded, job: VolcanoJob, made: set[tuple]) -> None:
        """The controller is to create PodGroup and pods again, unless some of these run."""
        runs = sum(isinstance(obj, Pod) and bool(obj.spec.node_name) for obj in objects
                   if place_key(obj) in made)
        if runs:
            raise ManifestError([f'"{self.text}": {runs} pods of Job {job.key} have a node; of '
                                 f"such a Job, allowed are {', '.join(WORDS)}"])
        objects[:] = [obj for obj in objects if place_key(obj) not in made]

    def apply_to(self, world: Loaded) -> None:
        """Apply it to what controllers have created."""
        obj, steps = _split(world, self.target)
        if isinstance(obj, Node) and steps == ["more"]:
            _add_nodes(world, obj, self.value, self.text)
        elif isinstance(obj, PodGroup) and self.target.partition("/")[0] not in ("podgroup", "pg"):
            if steps[:2] == ["metadata", "annotations"] or steps[0] == "spec":
                steps = steps[1:]
            if steps[0] not in WORDS:
                raise ManifestError([f'"{self.text}": {steps[0]} is no field of a job that has a '
                                     f"PodGroup; allowed are {', '.join(WORDS)}"])
            set_field(world, obj, steps, self.edit, self.text)
        else:
            self._put(world, obj, steps)

    def _put(self, objects: Loaded, obj: KubernetesObject, steps: list[str]) -> None:
        if steps[0] not in ("metadata", "spec", "status") and hasattr(obj, "spec"):
            status = isinstance(obj, Node) and steps[0] in ("allocatable", "capacity")
            steps = ["status" if status else "spec", *steps]
        changed = edited(obj, steps, self.edit, self.text)
        if isinstance(obj, Node) and steps == ["spec", "unschedulable"]:
            changed = _cordoned(changed)
        objects[[id(each) for each in objects].index(id(obj))] = changed


def _cordoned(node: Node) -> Node:
    """A node with the taint that comes and goes with `unschedulable`, as kubectl cordon has it."""
    taints = [taint for taint in node.spec.taints if taint.key != UNSCHEDULABLE]
    if node.spec.unschedulable:
        taints.append(Taint(UNSCHEDULABLE, effect="NoSchedule"))
    return node.changed(spec={"taints": taints})


def _known_field(objects: Sequence[KubernetesObject], target: str) -> bool:
    """Whether a target's object is among the objects, and its field one that objects have."""
    word, _, rest = target.partition("/")
    known = _of_kind(objects, kind_of(word, target))
    return any(rest == key or rest.startswith(f"{key}.") for obj in known for key in _keys(obj))


def _found(objects: Sequence[KubernetesObject], name: str, where: str) -> bool:
    word, _, rest = name.partition("/")
    return any(rest in _keys(obj) for obj in _of_kind(objects, kind_of(word, where)))


def _created(target: str, value: dict[str, Any], where: str) -> KubernetesObject:
    """A new object, of its spec or of all its parts."""
    word, _, rest = target.partition("/")
    kind = kind_of(word, where)
    cls = next(cls for cls in KINDS.values() if cls.kind.lower() == kind)
    namespace, _, name = rest.rpartition("/")
    parts = value if {*value} <= {"metadata", "spec", "status"} else {"spec": value}
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    document = {"apiVersion": cls.api_versions[0], "kind": cls.kind, **parts,
                "metadata": parts.get("metadata", {}) | metadata}
    obj = from_dict(document, strict=True)
    if wrong := names.problems(obj):
        raise ManifestError([f'"{where}": there is no {word} "{rest}", and none can be created: '
                             f"{wrong[0]}"])
    return obj


def _add_nodes(world: Loaded, like: Node, value: Any, where: str) -> None:
    """Add nodes like one, with more of some resources where these are named beside the count."""
    more = dict(value) if isinstance(value, dict) else {"count": value}
    count = more.pop("count", None)
    if type(count) is not int or not 0 < count <= MOST_NODES:
        raise ManifestError([f'"{where}": the number of nodes is {count}; allowed is a whole '
                             f"number from 1 to {MOST_NODES:,}"])
    world[:] = with_more_nodes(world, like, count, {name: str(text)
                                                    for name, text in more.items()})


def kind_of(word: str, where: str) -> str:
    """Return the kind that a word of kubectl means, in lower case. Raises `ManifestError`."""
    word = SHORT.get(word.lower(), word.lower())
    kinds = {cls.kind.lower() for cls in KINDS.values()}
    found = next((kind for kind in (word, word[:-1], word[:-2]) if kind in kinds), None)
    if found is None:
        hint = did_you_mean(word, kinds, f"; allowed are {', '.join(sorted(kinds))}")
        raise ManifestError([f'"{where}": "{word}" is no kind{hint}'])
    return found


def _of_kind(objects: Iterable[KubernetesObject], kind: str) -> list[KubernetesObject]:
    """The objects of a kind; the word `job` also means a PodGroup that no Job is there for."""
    found = [obj for obj in objects if obj.kind.lower() == kind]
    return found + [obj for obj in objects if kind == "job" and isinstance(obj, PodGroup)]


def _keys(obj: KubernetesObject) -> list[str]:
    """The names of an object; a PodGroup also has that of its Job."""
    owners = [ref.name for ref in obj.metadata.owner_references if isinstance(obj, PodGroup)]
    names, space = [obj.name, *owners], obj.namespace or "default"
    return [f"{space}/{name}" for name in names] + names if obj.namespaced else names


def named(objects: Sequence[KubernetesObject], name: str, where: str) -> KubernetesObject:
    """Return the object that is named KIND/NAME or KIND/NAMESPACE/NAME. Raises `ManifestError`."""
    word, _, rest = name.partition("/")
    known = _of_kind(objects, kind_of(word, where))
    found = [obj for obj in known if rest in _keys(obj)]
    if not found:
        near = [_keys(obj)[0] for obj in known]
        near = get_close_matches(rest, near, 5, 0.4) or near[:5]
        raise ManifestError([f'"{where}": there is no {word} "{rest}"; there '
                             f"{'is' if len(near) == 1 else 'are'} {', '.join(near) or 'none'}"])
    if len({place_key(obj) for obj in found if obj.kind == found[0].kind}) > 1:
        raise ManifestError([f'"{where}": {", ".join(_keys(obj)[0] for obj in found)} have this '
                             "name; allowed is NAMESPACE/NAME"])
    return found[0]


def _split(objects: Sequence[KubernetesObject], target: str
           ) -> tuple[KubernetesObject, list[str]]:
    """The object and the steps to the field that a target means; names may have dots in them."""
    word, _, rest = target.partition("/")
    keys = {key for obj in _of_kind(objects, kind_of(word, target)) for key in _keys(obj)}
    name = max((key for key in keys if rest.startswith(f"{key}.")), key=len, default="")
    if not name:
        name = rest.partition(".")[0] if "." in rest else rest
    obj = named(objects, f"{word}/{name}", target)
    if not (field := rest[len(name) + 1:]):
        raise ManifestError([f'"{target}" names no field; allowed is KIND/NAME.FIELD=VALUE'])
    return obj, steps_of(field)


def steps_of(field: str) -> list[str]:
    """Return the names in the path of a field.

    >>> steps_of("capability[nvidia.com/gpu]")
    ['capability', 'nvidia.com/gpu']
    """
    return [bracket or step for bracket, step in _STEP.findall(field)]


def _with_children(objects: Iterable[KubernetesObject], obj: KubernetesObject) -> set[tuple]:
    """What goes with an object: all that it has made, and what these have."""
    doomed: set[tuple] = set()
    more = {place_key(obj)}
    while more - doomed:
        doomed |= more
        names = {(key[0].removeprefix("Volcano"), *key[1:]) for key in doomed}
        more = {place_key(each) for each in objects if any(
            (kind, each.namespace or "default", name) in names for kind, name in _owners(each))}
    return doomed


def _owners(obj: KubernetesObject) -> Iterable[tuple[str, str]]:
    """(kind, name) of what an object belongs to."""
    yield from ((ref.kind, ref.name) for ref in obj.metadata.owner_references)
    if isinstance(obj, Pod):
        for kind, annotation in (("PodGroup", GROUP_NAME), ("Job", JOB_NAME)):
            if annotation in obj.metadata.annotations:
                yield kind, obj.metadata.annotations[annotation]
