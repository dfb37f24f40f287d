"""Kubernetes and Volcano manifests in and out: YAML and JSON, `List` objects, many documents, directories.

Reads the kinds in `api.objects.KINDS` as they are written; `volcano_lab.defaults.with_defaults` adds what the API
server, the admission webhooks and the controllers would. An unknown field or kind is a warning; anything that does
not fit is an error, all errors are told at once, and then nothing is loaded.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import yaml
from attrs import Factory, define

from volcano_lab import not_modelled
from volcano_lab.api.objects import KINDS, KubernetesObject, Pod
from volcano_lab.framework.one_sentence import OneSentence
from volcano_lab.framework.yaml_v2 import compose_all, plain_value, resolve, syntax_problem
from volcano_lab.structure import Findings, found_text, structure, unstructure

SUFFIXES = (".yaml", ".yml", ".json")
Source = str | Path | IO[str]


class ManifestError(OneSentence, ValueError):
    """Manifests that cannot be read; `problems` holds one sentence each.

    >>> str(ManifestError(["pods.yaml is empty"]))
    'pods.yaml is empty'
    """

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


class _NotRead(Exception):
    """An object of a kind that the scheduler does not look at."""


@define
class Loaded:
    """What was read: the objects in document order, and sentences about what has no effect.

    >>> [obj.key for obj in loads("{apiVersion: v1, kind: Node, metadata: {name: n1}}")]
    ['n1']
    """

    objects: list[KubernetesObject] = Factory(list)
    warnings: list[str] = Factory(list)

    def __iter__(self) -> Iterator[KubernetesObject]:
        return iter(self.objects)

    def __len__(self) -> int:
        return len(self.objects)


def load(*sources: Source) -> Loaded:
    """Read files, directories (their .yaml, .yml and .json files, by name) and open text streams.

    Raises `ManifestError`.

    >>> load("no-such-file.yaml")
    Traceback (most recent call last):
    ...
    volcano_lab.manifests.ManifestError: no-such-file.yaml: there is no such file or directory
    """
    batch = _Batch()
    for source in sources:
        if hasattr(source, "read"):
            batch.read_text(source.read(), getattr(source, "name", "input"))
            continue
        for path in batch.files(Path(source)):
            try:
                batch.read_text(path.read_text(encoding="utf-8"), str(path))
            except (OSError, UnicodeDecodeError) as error:
                batch.errors.append(f"{path}: cannot be read ({getattr(error, 'strerror', None) or 'not UTF-8 text'})")
    return batch.loaded()


def loads(text: str, name: str = "text") -> Loaded:
    """Read manifests from text; `name` stands for it in errors and warnings.

    >>> loads("kind: Node\\napiVersion: v1\\nmetadata: {name: n1}\\nspec: {taints: 5}", "n.yaml")
    Traceback (most recent call last):
    ...
    volcano_lab.manifests.ManifestError: Node n1 (n.yaml, document 1): spec.taints is 5; allowed is a list
    """
    batch = _Batch()
    batch.read_text(text, name)
    return batch.loaded()


def from_dict(document: dict[str, Any], strict: bool = False) -> KubernetesObject:
    """One object from plain data, exactly as it is: no defaults, and without `strict` any word in any field.

    Raises `ManifestError` for a kind that is not read and for values of the wrong type.

    >>> from_dict({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}).key
    'n1'
    """
    findings = Findings(strict)
    label = _label(document, "")
    try:
        cls = _kind_of(document)
    except (_NotRead, ManifestError) as error:
        raise ManifestError([f"{label}: {error}"]) from None
    obj = structure(cls, _body(document), findings)
    if findings.errors:
        raise ManifestError([f"{label}: {error}" for error in findings.errors])
    return obj


def to_dict(obj: KubernetesObject) -> dict[str, Any]:
    """An object as a manifest's plain data; fields at their default are left out.

    >>> to_dict(from_dict({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n1"}}))
    {'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': 'n1'}}
    """
    return {"apiVersion": obj.api_versions[0], "kind": obj.kind, **unstructure(obj)}


def dump(objects: Iterable[KubernetesObject], form: str = "yaml") -> str:
    """Objects as text: YAML documents, or one JSON `List` with `form="json"`.

    >>> print(dump([from_dict({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n1"}})]), end="")
    apiVersion: v1
    kind: Node
    metadata:
      name: n1
    """
    documents = [to_dict(obj) for obj in objects]
    if form == "json":
        return json.dumps({"apiVersion": "v1", "kind": "List", "items": documents}, indent=2, ensure_ascii=False)
    return yaml.dump_all(documents, Dumper=_Dumper, sort_keys=False, allow_unicode=True)


class _Batch:
    """All that one call reads; errors are collected, so that they are told together."""

    def __init__(self) -> None:
        self.objects: list[KubernetesObject] = []
        self.errors: list[str] = []
        self.warnings: list[str] = []
        self._places: dict[tuple[str, str, str], str] = {}

    def files(self, path: Path) -> list[Path]:
        if not path.exists():
            self.errors.append(f"{path}: there is no such file or directory")
            return []
        if path.is_dir():
            inside = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES)
            if not inside:
                self.errors.append(f"{path}: there is no file that ends in {', '.join(SUFFIXES)}")
            return inside
        return [path]

    def read_text(self, text: str, name: str) -> None:
        with _no_collection():
            for number, document in enumerate(self._documents(text, name), 1):
                if document is not None:
                    self._read(document, f"{name}, document {number}")

    def loaded(self) -> Loaded:
        if self.errors:
            raise ManifestError(self.errors)
        return Loaded(self.objects, self.warnings)

    def _documents(self, text: str, name: str) -> list[Any]:
        """A file's documents as plain data; JSON is tried first where it begins like JSON, for it reads faster."""
        if text.lstrip()[:1] in ("{", "["):
            try:
                return [json.loads(text)]
            except (ValueError, RecursionError):
                pass  # YAML's own notation begins like this, too; if it is neither, the YAML reader says where
        try:
            return [plain_value(node) for node in compose_all(text)]
        except yaml.YAMLError as error:
            self.errors.append(f"{name}: {syntax_problem(error)}")
        except RecursionError:
            self.errors.append(f"{name}: a YAML anchor contains itself, or the text is nested too deeply")
        return []

    def _read(self, document: Any, place: str) -> None:
        """One document: an object, or a list of them."""
        if isinstance(document, list) or (isinstance(document, dict) and _is_list(document)):
            items = document if isinstance(document, list) else document["items"]
            for number, item in enumerate(items, 1):
                self._read(item, f"{place}, item {number}")
            return
        label = _label(document, place)
        try:
            cls = _kind_of(document)
        except _NotRead as reason:
            self.warnings.append(f"{label}: {reason}")
        except ManifestError as error:
            self.errors.append(f"{label}: {error}")
        else:
            self._read_object(cls, document, label, place)

    def _read_object(self, cls: type[KubernetesObject], document: dict[str, Any], label: str, place: str) -> None:
        findings = Findings()
        obj = structure(cls, _body(document), findings)
        self.warnings += [f"{label}: {warning}" for warning in findings.warnings]
        if isinstance(obj, Pod) and (obj.spec.volumes or obj.spec.resource_claims):
            self.warnings += [f"{label}: {warning}" for warning in not_modelled.pod_warnings(obj)]
        if findings.errors:
            self.errors += [f"{label}: {error}" for error in findings.errors]
        elif not obj.metadata.name:
            self.errors.append(f"{label}: metadata.name is missing; every object needs a name")
        else:
            self._keep(obj, label, place)

    def _keep(self, obj: KubernetesObject, label: str, place: str) -> None:
        """Take an object in, unless there is one of that name (no namespace means `default`, as for kubectl)."""
        key = (obj.kind, (obj.namespace or "default") if obj.namespaced else "", obj.name)
        if key in self._places:
            self.errors.append(f"{label}: is already given in {self._places[key]}; allowed is one {obj.kind} of a name")
        else:
            self._places[key] = place
            self.objects.append(obj)


def _kind_of(document: Any) -> type[KubernetesObject]:
    """The class of a document. Raises `ManifestError` for what is no object, `_NotRead` for other kinds of object."""
    if not isinstance(document, dict):
        raise ManifestError([f"is {found_text(document)}; allowed is a mapping with apiVersion, kind and metadata"])
    for field, example in (("kind", "Pod"), ("apiVersion", "v1")):
        if not _text(document.get(field)):
            raise ManifestError([f"{field} is {found_text(document.get(field))}; allowed is text, such as {example}"])
    kind, version = document["kind"], document["apiVersion"]
    cls = KINDS.get((version.rpartition("/")[0], kind))
    if cls is not None and version in cls.api_versions:
        return cls
    same_kind = cls or next((cls for (_, name), cls in KINDS.items() if name == kind), None)
    if same_kind:
        raise _NotRead(f"apiVersion is {version}; read is {' or '.join(same_kind.api_versions)}, so it has no effect")
    misspelt = next((name for _, name in KINDS if name.lower() == kind.lower()), None)
    if misspelt:
        raise ManifestError([f'kind is "{kind}"; allowed is {misspelt}'])
    if kind in not_modelled.KINDS:
        raise _NotRead(f"kind {kind} is not modelled by the lab ({not_modelled.KINDS[kind]}) and has no effect")
    raise _NotRead(f"kind {kind} is not read and has no effect; read are {_KIND_NAMES}")


def _label(document: Any, place: str) -> str:
    """How an error names an object: kind, namespace/name and where it stands."""
    metadata = document.get("metadata") if isinstance(document, dict) else None
    names = [metadata.get(key) for key in ("namespace", "name")] if isinstance(metadata, dict) else []
    kind = document.get("kind") if isinstance(document, dict) else None
    words = [_text(kind) or "object", "/".join(filter(None, map(_text, names))), f"({place})" if place else ""]
    return " ".join(filter(None, words))


def _is_list(document: dict[str, Any]) -> bool:
    """Whether a document is a list of objects, such as `List` or `PodList`."""
    return isinstance(document.get("items"), list) and (_text(document.get("kind")) or "").endswith("List")


def _body(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in ("apiVersion", "kind")}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


@contextmanager
def _no_collection() -> Iterator[None]:
    """Loading makes many objects and no garbage; looking for garbage meanwhile doubles the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):
    """Puts text that YAML readers could take for something else into quotes, and repeats what occurs twice."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _quoted_where_needed(dumper: _Dumper, text: str) -> yaml.Node:
    node = dumper.represent_str(text)
    if resolve(text) != text:
        node.style = "'"
    return node


_Dumper.add_representer(str, _quoted_where_needed)
_KIND_NAMES = ", ".join(sorted({kind for _, kind in KINDS}))
