"""Objects under change: found by name in an index, replaced, added and removed in a copy.

Volcano: none
"""

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from volcano_lab.api.objects import KINDS, KubernetesObject, Pod, PodGroup
from volcano_lab.api.task import GROUP_NAME
from volcano_lab.manifests import job_controller, operators
from volcano_lab.manifests.loader import Loaded, ManifestError, place_key
from volcano_lab.manifests.owners import by_label, deployment_of
from volcano_lab.messages import Message, did_you_mean
from volcano_lab.trace.names import kinds_meant

CLASSES = {cls.kind.lower(): cls for cls in (*operators.KINDS.values(), *KINDS.values())}
"""Kind in lower case -> its class, Kubernetes' and Volcano's own before those of operators."""


class Index:
    """The places of objects by kind, by kind and name, and by their owner's kind and name, and the
    PodGroups by the names of what has created their pods.
    """

    def __init__(self, objects: Iterable[KubernetesObject] = ()):
        self.kinds: dict[str, list[int]] = {}
        self.names: dict[tuple[str, str], list[int]] = {}
        self.owned: dict[tuple[str, str, str], list[int]] = {}
        self.groups: dict[str, dict[str, None]] = {}
        for place, obj in enumerate(objects):
            self.add(place, obj)

    def add(self, place: int, obj: KubernetesObject) -> None:
        """Add an object."""
        kind, space = obj.kind.lower(), obj.namespace or "default"
        self.kinds.setdefault(kind, []).append(place)
        for key in keys_of(obj):
            self.names.setdefault((kind, key), []).append(place)
        for owner, name in owners_of(obj):
            self.owned.setdefault((owner, space, name), []).append(place)
            if isinstance(obj, Pod) and (group := obj.metadata.annotations.get(GROUP_NAME)):
                for key in (name, f"{space}/{name}"):
                    self.groups.setdefault(key, {})[f"{space}/{group}"] = None


class Draft:
    """An editable copy of a list of objects; the list itself is not changed.

    A place is an index of the list, or beyond it for added objects. `later` has the pods that are
    created once their job is admitted.

    >>> from volcano_lab.api.objects import ObjectMeta, Queue
    >>> draft = Draft([Queue(ObjectMeta("a"))])
    >>> draft.put(draft.find("q/a", "q/a"), Queue(ObjectMeta("b")))
    >>> [queue.name for queue in draft.loaded()]
    ['b']
    """

    def __init__(self, objects: Sequence[KubernetesObject], index: Index | None = None):
        self.source, self.index = objects, index or Index(objects)
        self.later = dict(getattr(objects, "later", {}))
        self._changed: dict[int, KubernetesObject | None] = {}
        self._added: list[KubernetesObject] = []
        self._index_added = Index()

    def __getitem__(self, place: int) -> KubernetesObject:
        found = self._at(place)
        if found is None:
            raise IndexError(place)
        return found

    def _at(self, place: int) -> KubernetesObject | None:
        if place in self._changed:
            return self._changed[place]
        known = len(self.source)
        return self.source[place] if place < known else self._added[place - known]

    def put(self, place: int, obj: KubernetesObject | None) -> None:
        """Replace the object at a place; None removes it."""
        self._changed[place] = obj

    def add(self, obj: KubernetesObject) -> None:
        self._index_added.add(len(self.source) + len(self._added), obj)
        self._added.append(obj)

    def loaded(self) -> Loaded:
        """Return the current objects, in order."""
        every: list[KubernetesObject | None] = [*self.source, *self._added]
        for place, obj in self._changed.items():
            every[place] = obj
        found = Loaded((obj for obj in every if obj is not None), self.source)
        found.later = self.later
        found.given = getattr(self.source, "given", found)
        return found

    def places(self) -> Iterator[int]:
        """Yield the places of all objects."""
        known = range(len(self.source) + len(self._added))
        return (place for place in known if self._at(place) is not None)

    # -- finding ----------------------------------------------------------------------------------

    def _there(self, table: str, key: Any) -> list[int]:
        """Return the places in one table of the indices, without removed objects."""
        return [place for index in (self.index, self._index_added)
                for place in getattr(index, table).get(key, ()) if self._at(place) is not None]

    def of_kind(self, kind: str) -> list[int]:
        """Return the places of a kind; the word `job` also means a PodGroup without a Job."""
        return self._there("kinds", kind) + (self.of_kind("podgroup") if kind == "job" else [])

    def _called(self, kind: str, name: str) -> list[int]:
        found = self._there("names", (kind, name))
        if kind != "job":
            return found
        return (found + self._called("podgroup", name)) or [
            place for index in (self.index, self._index_added)
            for key in index.groups.get(name, ()) for place in self._called("podgroup", key)]

    def has(self, name: str, where: str) -> bool:
        """Return whether KIND/NAME exists."""
        word, _, rest = name.partition("/")
        return bool(self._called(kind_of(word, where), rest))

    def find(self, name: str, where: str) -> int:
        """Return the place of KIND/NAME or KIND/NAMESPACE/NAME. Raises `ManifestError`."""
        word, _, rest = name.partition("/")
        kind = kind_of(word, where)
        found = self._called(kind, rest)
        if not found:
            given = Draft(getattr(self.source, "given", self.source))
            objects = [given[place] for place in given.of_kind(kind)] + [
                obj for obj in map(self.__getitem__, self.of_kind(kind))
                if not obj.metadata.owner_references]
            known = dict.fromkeys(keys_of(obj)[0] for obj in objects)
            near = [*dict.fromkeys(get_close_matches(rest, known, 5, 0.4)) | known][:5]
            raise ManifestError("setting.none", n=len(near), where=where, word=word, rest=rest,
                                near=near or Message("setting.no_name"))
        alike = [self[place] for place in found if self[place].kind == self[found[0]].kind]
        if len(set(map(place_key, alike))) > 1:
            raise ManifestError("setting.names", where=where, names=[
                *dict.fromkeys(keys_of(self[place])[0] for place in found)])
        return found[0]

    def named_in(self, target: str) -> str:
        """Return the object's name in KIND/NAME.FIELD, the longest one that exists; names may
        contain dots. "" without one.
        """
        word, _, rest = target.partition("/")
        kind = kind_of(word, target)
        ends = [place for place, sign in enumerate(rest) if sign == "."] + [len(rest)]
        return next((rest[:end] for end in reversed(ends) if self._called(kind, rest[:end])), "")

    def pods(self) -> list[Pod]:
        """Return all pods."""
        every = map(self.__getitem__, self.of_kind("pod"))
        return [obj for obj in every if isinstance(obj, Pod)]

    def pods_of(self, group: KubernetesObject) -> list[int]:
        """Return the places of a PodGroup's pods."""
        owned = self._there("owned", ("PodGroup", group.namespace or "default", group.name))
        return [place for place in owned if isinstance(self[place], Pod)
                and self[place].metadata.annotations.get(GROUP_NAME) == group.name]

    def with_children(self, place: int) -> set[int]:
        """Return an object's place and those of the objects it created, recursively; of a
        ReplicaSet that is missing, too.
        """
        found: set[int] = set()
        more = {place}
        while more:
            found |= more
            objects = [self[each] for each in more]
            owners = {(obj.kind, place_key(obj)[1], obj.name) for obj in objects}
            owners |= {(owner.kind, obj.namespace or "default", owner.name)
                       for obj in objects if isinstance(obj, Pod) and place not in more
                       for owner in obj.metadata.owner_references if owner.kind == "ReplicaSet"}
            more = {child for owner in owners for child in self._there("owned", owner)} - found
        return found


def kind_of(word: str, where: str) -> str:
    """Return the kind of a kubectl word, in lower case; see `kinds_meant`. Raises `ManifestError`.

    >>> kind_of("vcjobs", ""), kind_of("podgroups.scheduling.volcano.sh", "")
    ('job', 'podgroup')
    """
    found = next((kind for kind in kinds_meant(word) if kind in CLASSES), None)
    if found is None:
        hint = did_you_mean(word, CLASSES, Message("hint.kinds", kinds=sorted(CLASSES)))
        raise ManifestError("setting.kind", where=where, word=word, hint=hint)
    return found


def keys_of(obj: KubernetesObject) -> list[str]:
    """Return the names of an object; a PodGroup also has that of its Job."""
    owners = [ref.name for ref in obj.metadata.owner_references] if isinstance(
        obj, PodGroup) else []
    names, space = [obj.name, *owners], obj.namespace or "default"
    return [f"{space}/{name}" for name in names] + names if obj.namespaced else names


def owners_of(obj: KubernetesObject) -> Iterable[tuple[str, str]]:
    """Return the (kind, name) of each owner of an object; labels of a pod name one, too, as the
    objects between the two may be missing.
    """
    yield from ((ref.kind, ref.name) for ref in obj.metadata.owner_references)
    if isinstance(obj, Pod):
        yield from by_label(obj)
        if above := deployment_of(obj):
            yield "Deployment", above
        for kind, annotation in (("PodGroup", GROUP_NAME), ("Job", job_controller.JOB_NAME)):
            if annotation in obj.metadata.annotations:
                yield kind, obj.metadata.annotations[annotation]
