"""The model of the operators' table: objects of kinds that only an operator knows, the equal pods
that it creates for one (`Role`), and those that share a PodGroup (`Gang`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from attrs import Factory, define

from volcano_lab.api import objects as api
from volcano_lab.manifests.misfits import Misfits
from volcano_lab.manifests.schema import structure
from volcano_lab.manifests.workloads import MOST_PODS
from volcano_lab.messages import Message

QUEUE = "annotation scheduling.volcano.sh/queue-name"
VOLCANO = "volcano"
KINDS: dict[tuple[str, str], type["OperatorObject"]] = {}
"""Group of the API and kind -> class; filled by `table`."""


class OperatorObject(api.KubernetesObject, namespaced=True):
    """An object whose operator creates pods; `spec` and `status` are the manifest's plain data."""

    api_version: str = ""
    spec: api.Raw = Factory(dict)
    status: api.Raw = Factory(dict)

    def owned(self, name: str, raw: Any = None) -> api.ObjectMeta:
        """Return the metadata of an object created for this one, with the labels and annotations of
        a manifest's metadata.
        """
        owner = api.OwnerReference(self.api_version or self.api_versions[0], self.kind, self.name,
                                   self.metadata.uid, True, True)
        labels, annotations = ({str(key): str(text) for key, text in at(raw, kind, {}).items()}
                               for kind in ("labels", "annotations"))
        return api.ObjectMeta(name, self.namespace, labels=labels, annotations=annotations,
                              owner_references=[owner])

    def first(self, *places: str) -> Any:
        """Return the first value among some places: `annotation KEY`, `label KEY`, or a path in the
        spec; for `label DOMAIN/` the first key of that domain.

        >>> OperatorObject(spec={"runPolicy": {"queue": "q"}}).first("label a", "runPolicy.queue")
        'q'
        """
        words = {"label": self.metadata.labels, "annotation": self.metadata.annotations}
        for place in places:
            where, _, key = place.partition(" ")
            found = words[where].get(key) if key else at(self.spec, place)
            if key.endswith("/"):
                found = next((each for each in words[where] if each.startswith(key)), None)
            if found not in (None, ""):
                return found
        return None


def at(data: Any, path: str, default: Any = None) -> Any:
    """Return the value at a path of mappings, or the default; also if that is a mapping and the
    value is not.

    >>> at({"a": {"b": 1}}, "a.b"), at({"a": None}, "a.b", 2), at({"a": "x"}, "a", {})
    (1, 2, {})
    """
    for key in path.split("."):
        data = data.get(key) if isinstance(data, dict) else None
    fits = data is not None and (not isinstance(default, dict) or isinstance(data, dict))
    return data if fits else default


def paths_to(data: Any, key: str, value: Any, path: str = "spec") -> Iterator[str]:
    """Yield the paths of the mappings in which a key has a value.

    >>> [*paths_to({"a": [{"b": {"k": "v"}}]}, "k", "v")]
    ['spec.a[0].b']
    """
    if isinstance(data, dict) and data.get(key) == value:
        yield path
    for name, part in data.items() if isinstance(data, dict) else ():
        yield from paths_to(part, key, value, f"{path}.{name}")
    for number, part in enumerate(data if isinstance(data, list) else ()):
        yield from paths_to(part, key, value, f"{path}[{number}]")


def items(data: Any, path: str) -> list[dict[str, Any]]:
    """Return the mappings of a list at a path."""
    found = at(data, path, [])
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


class Part:
    """A part of a manifest, read by paths; `path` is its own, and `misfits` has wrong values.

    >>> part = Part({"groups": [{"replicas": -1}]})
    >>> [group.count("replicas", 2) for group in part.items("groups")]
    [2]
    >>> print(*part.misfits.errors)
    spec.groups[0].replicas is -1; allowed is a whole number from 0 to 50,000
    """

    def __init__(self, data: Any, path: str = "spec", misfits: Misfits | None = None):
        self.data = data if isinstance(data, dict) else {}
        self.path, self.misfits = path, Misfits() if misfits is None else misfits

    def at(self, path: str, default: Any = None) -> Any:
        """Return the value at a path; see `at`."""
        return at(self.data, path, default)

    def below(self, path: str) -> "Part":
        """Return the part at a path."""
        return Part(self.at(path), f"{self.path}.{path}", self.misfits) if path else self

    def items(self, path: str) -> list["Part"]:
        """Return the mappings of a list at a path."""
        return [Part(each, f"{self.path}.{path}[{number}]", self.misfits)
                for number, each in enumerate(items(self.data, path))]

    def read(self, cls: type, path: str, raw: Any = None) -> Any:
        """Return the object of a class from the value at a path, or from `raw` in its place."""
        return structure(cls, (self.at(path) or {}) if raw is None else raw, self.misfits,
                         ((), f"{self.path}.{path}"))

    def template(self, path: str, raw: Any = None) -> api.PodTemplateSpec:
        """Return a pod template."""
        return self.read(api.PodTemplateSpec, path, raw)

    def count(self, path: str, default: int = 1) -> int:
        """Return a number of pods or groups."""
        found = self.at(path, default)
        if type(found) is not int or not 0 <= found <= MOST_PODS:
            self.misfits.misfit(((), f"{self.path}.{path}"), found, "count", most=MOST_PODS)
            return default
        return found

    def amounts(self, path: str) -> dict[str, str] | None:
        """Return a list of resources; None without one."""
        found = self.at(path)
        return None if found is None else structure(
            api.ResourceRequirements, {"requests": found}, self.misfits,
            ((), self.path)).requests


class Reading(Part):
    """The spec of one object among `objects`; `where` is the field that has its pods."""

    def __init__(self, obj: OperatorObject, objects: Sequence[api.KubernetesObject] = (),
                 where: str = ""):
        super().__init__(obj.spec)
        self.obj, self.objects, self.where, self.name = obj, objects, where, obj.name


def numbered(prefix: str, first: int = 0) -> Iterator[str]:
    """Yield names that end with a number.

    >>> next(numbered("train-worker-"))
    'train-worker-0'
    """
    return (f"{prefix}{number}" for number in count(first))


@define(eq=False)
class Role:
    """`count` equal pods of an object, the first of these `names`; `later` ones are created when
    the others run.
    """

    name: str
    template: api.PodTemplateSpec
    count: int
    names: Iterable[str]
    later: bool = False
    labels: dict[str, str] = Factory(dict)


@define(eq=False)
class Gang:
    """Pods that share a PodGroup of an operator, or, without a name, those whose PodGroup Volcano's
    own controller creates.

    `members` are its minMember (None: all pods), `reserved` the pods that its minResources count
    (None: the first `least` by priority), `minimum` its minResources if the object itself sets
    them, `more` other fields.
    """

    roles: list[Role]
    name: str = ""
    members: int | None = None
    reserved: list[tuple[Role, int]] | None = None
    minimum: dict[str, str] | None = None
    more: dict[str, Any] = Factory(dict)

    @property
    def least(self) -> int:
        """Return the `minMember` of its PodGroup."""
        return sum(role.count for role in self.roles) if self.members is None else self.members

    def add(self, role: Role, needed: int, reserved: int) -> None:
        """Add the pods of a role to a gang with numbers of its own: how many it needs, reserves."""
        self.roles.append(role)
        self.members = (self.members or 0) + needed
        self.reserved = [*(self.reserved or ()), (role, reserved)]


SUMS: dict[str, Callable[[api.ResourceRequirements], Mapping[str, str]]] = {
    "filled": lambda amounts: {**amounts.limits, **amounts.requests},
    "requests": lambda amounts: amounts.requests,
    "requests_or_limits": lambda amounts: amounts.requests or amounts.limits}
"""Word in the table -> the part of a container that minResources count."""


@define
class Created:
    """What an operator creates for an object: objects, pods created when the others run, and
    sentences about what it does not create.
    """

    objects: list[api.KubernetesObject] = Factory(list)
    later: list[api.Pod] = Factory(list)
    sentences: list[Message] = Factory(list)


Found = list[Gang] | Created | None
"""Pods in gangs, or created objects; None if a named object is missing."""


@define(frozen=True, eq=False)
class Operator:
    """A row of the table: what an operator does with the objects of a kind; `operators.toml`
    defines the fields.
    """

    source: str
    versions: list[str]
    where: str = ""
    reader: Callable[[Reading], Found] | None = None
    label: str = ""
    queue: list[str] = Factory(lambda: [QUEUE])
    priority: list[str] = Factory(list)
    asked: dict[str, list[str]] = Factory(lambda: {"templates": [VOLCANO]})
    asks: str = "scheduler"
    sums: str = "filled"
    forced: bool = False
    inherits: bool = False
    namespaced: bool = True
    namer: str = ""

    def hands_over(self, obj: OperatorObject, gangs: list[Gang]) -> bool:
        """Return whether an object's pods are scheduled by Volcano."""
        schedulers = {role.template.spec.scheduler_name for gang in gangs for role in gang.roles}
        for place, wanted in self.asked.items():
            found = schedulers if place == "templates" else {str(obj.first(place) or "")}
            if found & set(wanted) if wanted else found - {""}:
                return True
        return False
