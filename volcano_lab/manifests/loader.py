"""Kubernetes and Volcano manifests, in any form that kubectl accepts or prints, as objects.

YAML and JSON, many documents, lists of objects (also those without kinds, as `--raw` prints them),
watch events, files, folders, globs, gzip, standard input. Reads the kinds in `api.objects.KINDS`
unchanged; `volcano_lab.manifests.defaults.with_defaults` adds what the API server, the admission
webhooks and the controllers would. An unknown field or kind is a warning; a wrong value is an
error, all errors are raised together, and then nothing is loaded. Fields that no scheduling
decision reads are dropped: environment, images, secrets, applied configurations.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from volcano_lab.api import claims_of, objects as api
from volcano_lab.framework import collector_paused
from volcano_lab.manifests import document as documents, names, operators, unsupported
from volcano_lab.manifests.files import MOST_BYTES, Reader, Source, Unreadable, values
from volcano_lab.manifests.misfits import Misfits, found_text
from volcano_lab.manifests.reports import Reports
from volcano_lab.manifests.schema import structure
from volcano_lab.messages import Message, OneSentence, Said, capped, friendly_errors, one_line

MOST_KINDS = 3
"""How many unread kinds are named one by one: for a whole cluster's objects the other warnings must
stay visible.
"""
MOST_LISTS = 3
"""The maximum depth of nested lists."""
IMAGE = re.compile(r"\bvc-(?:scheduler|(controller|webhook)-manager)(?:-\w+)?:"
                   r"(?:v?1\.14\.0\b|(v?\d[\w.-]*))")
"""The release in an image of Volcano, where it is not that of the lab; the scheduler's sorts first.
"""
NODE_LABELS = re.compile(r"--node-selector(?:=|', ')([^'\"\s]+)")
"""The scheduler's flag with labels: it knows nodes alone that have one of them."""
APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class ManifestError(OneSentence, ValueError):
    """Manifests that cannot be read, for one reason with its facts, or for several: `found` holds
    them, similar ones counted, and `problems` a sentence for each.

    >>> str(ManifestError("{name} is empty", name="pods.yaml"))
    'pods.yaml is empty'
    """

    def __init__(self, problems: str | Sequence[Message], /, **facts: Any) -> None:
        self.found = capped([OneSentence(problems, **facts).said] if isinstance(problems, str)
                            else problems)
        self.problems = [one_line(str(each)) for each in self.found]
        super().__init__("\n".join(self.problems))


class Loaded(list[api.KubernetesObject]):
    """Objects in document order. As their `source` it has `warnings`, one message for each thing
    without effect, `places` where each object is written, and `reports`, by name what was not read
    and the last warning of a controller, by `pod/NAME` those about a pod; of its own, `not_created`
    why pods of an object (by key) are not created, `later` has the pods of a Volcano Job whose
    PodGroup is not admitted yet, `given` the manifests before controllers, `created` the objects
    between, of which these create others in turn; `unseen` has the nodes that the scheduler leaves
    out by its flag, `scheduler` its version where it is another one.

    >>> [obj.key for obj in loads("{apiVersion: v1, kind: Node, metadata: {name: n1}}")]
    ['n1']
    """

    def __init__(self, objects: Iterable[api.KubernetesObject] = (),
                 source: Iterable[api.KubernetesObject] = ()):
        super().__init__(objects)
        self.warnings: list[Message] = [*getattr(source, "warnings", ())]
        self.places: dict[tuple[str, str, str], Said] = getattr(source, "places", {})
        self.reports: dict[str, list[Message]] = getattr(source, "reports", {})
        self.not_created: dict[str, list[Message]] = getattr(source, "not_created", {})
        self.created: list[api.KubernetesObject] = [*getattr(source, "created", ())]
        self.unseen: list[api.Node] = getattr(source, "unseen", [])
        self.node_labels: list[str] = getattr(source, "node_labels", [])
        self.scheduler: str = getattr(source, "scheduler", "")
        self.later: dict[str, list[api.Pod]] = {}
        self.given: list[api.KubernetesObject] = self


@friendly_errors
def load(*sources: Source, recursive: bool = False, most_bytes: int = MOST_BYTES) -> Loaded:
    """Read files, folders, globs, open streams, and "-", the standard input.

    Args:
        sources: For a folder, its .yaml, .yml and .json files by name, gzipped or not.
        recursive: Also read the folders in a folder.
        most_bytes: The limit of all input together.

    Raises:
        ManifestError: Something cannot be read or has a wrong value.

    >>> load("no-such-file.yaml")
    Traceback (most recent call last):
    ...
    volcano_lab.manifests.loader.ManifestError: no-such-file.yaml:
    there is no such file or directory
    """
    if not sources:
        raise ManifestError("manifest.no_file")
    reader, batch = Reader(most_bytes, recursive), _Batch()
    for source in sources:
        for name, text in reader.texts(source):
            batch.read(text, name)
    return batch.loaded()


@friendly_errors
def loads(text: str, name: str = "text") -> Loaded:
    r"""Read manifests from text; `name` is its name in errors and warnings.

    >>> loads("kind: Node\napiVersion: v1\nmetadata: {name: n1}\nspec: {taints: 5}", "n.yaml")
    Traceback (most recent call last):
    ...
    volcano_lab.manifests.loader.ManifestError: Node n1 (n.yaml, document 1): spec.taints is 5;
    allowed is a list
    """
    batch = _Batch()
    batch.read(text, name)
    return batch.loaded()


def from_dict(document: dict[str, Any], strict: bool = False) -> api.KubernetesObject:
    """Return one object from plain data, unchanged: no defaults, and without `strict` any word in
    any field.

    Raises `ManifestError` for an unknown kind and for values of the wrong type; with `strict` for
    unknown fields, too.

    >>> from_dict({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}).key
    'n1'
    """
    misfits = Misfits(strict)
    label = documents.label_of(document, "")
    try:
        cls = documents.kind_of(document)
    except (documents.NotRead, Unreadable) as error:
        raise ManifestError([about(label, error.said)]) from None
    obj = structure(cls, documents.body_of(cls, document), misfits)
    if problems := misfits.errors + misfits.warnings * strict:
        raise ManifestError([about(label, problem) for problem in problems])
    return obj


class _Batch:
    """The input of one call; errors are collected, so that they are raised together."""

    def __init__(self) -> None:
        self.errors: list[Message] = []
        self.warnings: list[Message] = []
        self._objects: dict[tuple[str, str, str], tuple[api.KubernetesObject, Said]] = {}
        self._twice: list[tuple[Said, Said, str]] = []
        self._not_read: dict[Message, list[Said]] = {}
        self.reports = Reports()
        self._sources: list[str] = []
        self._generated: Counter[str] = Counter()
        self._node_labels: set[str] = set()
        self._releases: list[tuple[str, str]] = []

    @collector_paused()
    def read(self, text: str | Unreadable, name: str) -> None:
        """Read one text, or record why it could not be read."""
        self._sources.append(name)
        try:
            if isinstance(text, Unreadable):
                raise text
            for number, document in enumerate(values(text), 1):
                if document is not None:
                    self._read(document, Message("place.document", name=name, number=number),
                               ("", ""), 0)
        except Unreadable as problem:
            self.errors.append(about(name, problem.said))

    def loaded(self) -> Loaded:
        """Return what was read. Raises `ManifestError`."""
        for label, place, kind in self._twice[:1]:
            more = len(self._twice) - 1
            self.errors.append(about(label, Message(
                "manifest.twice", place=place, kind=kind,
                more=Message("manifest.twice.more", more=more) if more else None)))
        self._check_uids()
        if not (self.errors or self._objects or self._not_read or self.reports):
            self.errors.append(Message("manifest.no_object", sources=[*self._sources]))
        if self.errors:
            raise ManifestError(self.errors)
        self._look_for_volumes()
        if found := [obj.name for obj, _ in self._objects.values() if isinstance(obj, api.Node)
                     and self.reports.measures(obj)]:
            self.warnings.append(Message("manifest.measured", nodes=found))
        unseen = self._take_unseen()
        unread = [reason for reason in self._not_read if reason.code == "document.unread"]
        if len(unread) > MOST_KINDS:
            kinds = [f"{reason.facts['kind']} {len(self._not_read[reason])}" for reason in unread]
            for reason in unread:
                del self._not_read[reason]
            self.warnings.append(about(Message("place.kinds", count=len(kinds)),
                                       Message("manifest.kinds", kinds=kinds)))
        self.warnings += [about(labels, reason) for reason, labels in self._not_read.items()]
        loaded = Loaded([obj for obj, _ in self._objects.values()])
        loaded.warnings, loaded.reports = capped(self.warnings), self.reports
        loaded.places = {key: place for key, (_, place) in self._objects.items()}
        loaded.unseen, loaded.node_labels = unseen, sorted(self._node_labels)
        loaded.scheduler = min(self._releases, default=("", ""))[1]
        return loaded

    def _take_unseen(self) -> list[api.Node]:
        """Take out the nodes that have none of the labels of the scheduler's flag."""
        unseen = {key: (obj, place) for key, (obj, place) in self._objects.items() if isinstance(
            obj, api.Node) and self._node_labels and self._node_labels.isdisjoint(
                f"{name}:{value}" for name, value in obj.metadata.labels.items())}
        reason = Message("manifest.unseen", labels=sorted(self._node_labels))
        for key, (obj, place) in unseen.items():
            del self._objects[key]
            self._not_read.setdefault(reason, []).append(labelled(obj, place))
            self.reports.add(f"default/{obj.name}", reason)
        return [obj for obj, _ in unseen.values()]

    def _read(self, document: Any, place: Said, item: tuple[str, Any], depth: int) -> None:
        """Read one document: an object, a list of them, or an event; `item` is its list's kind."""
        if isinstance(document, list) or documents.is_list(document):
            if depth > MOST_LISTS:
                self.errors.append(about(place, Message("manifest.lists", most=MOST_LISTS)))
                return
            if isinstance(document, dict):
                kind, metadata = document["kind"], document.get("metadata")
                if isinstance(metadata, dict) and metadata.get("continue"):
                    self.warnings.append(about(documents.label_of(document, place),
                                               Message("manifest.continued")))
                item = (kind[:-4], document.get("apiVersion")) if kind != "List" else ("", "")
            items = document if isinstance(document, list) else document["items"] or []
            if not isinstance(items, list):
                self.errors.append(about(documents.label_of(document, place),
                                         Message("manifest.items", found=found_text(items))))
                return
            for number, inner in enumerate(items, 1):
                self._read(inner, Message("place.item", place=place, number=number), item,
                           depth + 1)
            return
        event = ""
        if isinstance(document, dict) and document.keys() == {"type", "object"}:
            event, document = document["type"], document["object"]
        if event == "BOOKMARK":
            return
        if isinstance(document, dict) and item[0] and not document.get("kind"):
            document = {"apiVersion": item[1], **document, "kind": item[0]}
        self._read_object(document, documents.label_of(document, place), place, event)

    def _read_object(self, document: Any, label: Said, place: Said, event: str) -> None:
        try:
            cls = documents.kind_of(document)
        except documents.NotRead as reason:
            if not self.reports.said_by(document):
                self._not_read.setdefault(reason.said, []).append(label)
                for said in filter(None, [reason.said, documents.says(document)]):
                    self.reports.add(documents.key_of(document), said)
            return
        except Unreadable as error:
            self.errors.append(about(label, error.said))
            return
        obj, misfits = _structured(cls, documents.body_of(cls, document))
        if isinstance(obj, operators.OperatorObject) and not misfits.errors:
            wrong, unknown = operators.problems(obj)
            misfits.errors += wrong
            misfits.warnings += unknown
        if not (misfits.errors or obj.metadata.name):
            if prefix := documents.text_of((document.get("metadata") or {}).get("generateName")):
                self._generated[prefix] += 1
                obj.metadata.name = names.generated(prefix, self._generated[prefix])
            else:
                misfits.errors.append(Message("manifest.no_name"))
        errors = misfits.errors or names.problems(obj)
        self.errors += [about(label, error) for error in errors]
        if not errors:
            misfits.warnings += unsupported.warnings_of(obj)
            self.warnings += [about(label, warning) for warning in misfits.warnings]
            obj.metadata.annotations.pop(APPLIED, None)  # it may be confidential
            if obj.metadata.labels.get("app", "").startswith("volcano-"):
                spec = str(document.get("spec"))
                self._releases += IMAGE.findall(spec)
                self._node_labels |= {*",".join(NODE_LABELS.findall(spec)).split(",")} - {""}
            self._keep(obj, label, place, event)

    def _keep(self, obj: api.KubernetesObject, label: Said, place: Said, event: str) -> None:
        """Keep an object, unless there is one of that name (no namespace means `default`, as for
        kubectl); an event replaces the previous object.
        """
        key = place_key(obj)
        if event == "DELETED":
            self._objects.pop(key, None)
        elif isinstance(obj, api.ConfigMap) and not any(map(documents.is_conf, obj.data)):
            self._not_read.setdefault(Message("manifest.config_map"), []).append(label)
        elif key in self._objects and not event:
            self._twice.append((label, self._objects[key][1], obj.kind))
        else:
            self._objects[key] = obj, place

    def _look_for_volumes(self) -> None:
        """Warn once if no object about volumes is given, because claims are then not checked."""
        if not unsupported.claims_decide(obj for obj, _ in self._objects.values()):
            labels = [labelled(obj, place) for obj, place in self._objects.values()
                      if isinstance(obj, api.Pod) and claims_of(obj)]
            self._not_read |= {Message("manifest.volumes_unknown"): labels} if labels else {}

    def _check_uids(self) -> None:
        """Refuse two objects with one uid, which would be treated as one."""
        seen: dict[str, Said] = {}
        for obj, place in self._objects.values():
            uid, label = obj.metadata.uid, labelled(obj, place)
            if uid and seen.setdefault(uid, label) is not label:
                self.errors.append(about(label, Message("manifest.uid", found=found_text(uid),
                                                        other=seen[uid])))


def _structured(cls: type[api.KubernetesObject], body: dict[str, Any]
                ) -> tuple[api.KubernetesObject, Misfits]:
    """Return an object and what is wrong with it; in one that an API server has stored, a value
    that is no longer allowed is read with a warning.
    """
    misfits = Misfits()
    obj = structure(cls, body, misfits)
    metadata = body.get("metadata")
    if misfits.errors and isinstance(metadata, dict) and documents.text_of(metadata.get("uid")):
        stored = Misfits(strict=False)
        obj = structure(cls, body, stored)
        misfits.errors, now = stored.errors, misfits.errors
        misfits.warnings += [Message("manifest.now", problem=problem)
                              for problem in now if problem not in stored.errors]
    return obj, misfits


def about(place: Said | list[Said], what: Said) -> Message:
    """Return what is said of a place, or of several, of which one is named."""
    if isinstance(place, list):
        place = place[0] if len(place) == 1 else Message("place.some", names=place)
    return Message("problem", place=place, what=what)


def labelled(obj: api.KubernetesObject, place: Said | None) -> Said:
    """Return an object's name in a sentence: kind, namespace/name and its place."""
    return documents.placed(f"{obj.kind} {obj.key}", place)


def place_key(obj: api.KubernetesObject) -> tuple[str, str, str]:
    """Return an object's unique key: kind, namespace and name."""
    return type(obj).__name__, (obj.namespace or "default") if obj.namespaced else "", obj.name
