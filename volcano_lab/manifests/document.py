"""One document of a manifest: whether it is an object, of which class, and how errors name it."""

import re
from typing import Any

from volcano_lab.api import objects as api
from volcano_lab.manifests import misfits, operators, schema, unsupported as not_modelled
from volcano_lab.manifests.files import Unreadable
from volcano_lab.manifests.operators.model import at, items
from volcano_lab.messages import Message, OneSentence, Said, printable

_TABLE = re.compile(r"(NAMESPACE\s+)?NAME\s+[A-Z]")
"""The first words of kubectl's tables."""


UNREAD = frozenset(("document.version", "document.unmodelled", "document.operator",
                    "document.unread", "document.status", "manifest.unseen"))
"""The codes of what is said of an object that is not read."""


class NotRead(OneSentence):
    """An object of a kind that the scheduler does not read."""


def kind_of(document: Any) -> type[api.KubernetesObject]:
    """Return the class of a document.

    Raises:
        Unreadable: It is no object.
        NotRead: It is an object of another kind.
    """
    _check_form(document)
    for field, example in (("kind", "Pod"), ("apiVersion", "v1")):
        if not text_of(document.get(field)):
            raise Unreadable("document.text" if field in document else "document.missing",
                             field=field, example=example,
                             found=misfits.found_text(document.get(field)))
    kind, version = document["kind"], document["apiVersion"]
    of_group = version.rpartition("/")[0], kind
    cls = api.KINDS.get(of_group) or operators.KINDS.get(of_group)
    if cls is not None and version in cls.api_versions:
        return cls
    same_kind = cls or next((cls for (_, name), cls in api.KINDS.items() if name == kind), None)
    if same_kind:
        raise NotRead("document.version", version=printable(version),
                      versions=same_kind.api_versions)
    misspelt = next((name for _, name in api.KINDS if name.lower() == kind.lower()), None)
    if misspelt:
        raise Unreadable("document.misspelt", kind=kind, misspelt=misspelt)
    if kind in not_modelled.KINDS:
        raise NotRead("document.unmodelled", kind=kind,
                      what=Message(f"unmodelled.{not_modelled.KINDS[kind]}"))
    raise NotRead("document.operator" if _has_pods(document) else "document.unread",
                  kind=printable(kind))


def _check_form(document: Any) -> None:
    """Raise `Unreadable` for what is no object: a text, a recorded case, a configuration."""
    if not isinstance(document, dict):
        is_table = isinstance(document, str) and _TABLE.match(document)
        raise Unreadable("document.table" if is_table else "document.none",
                         found=misfits.found_text(document))
    if "kind" not in document:
        if "objects" in document:
            raise Unreadable("document.case")
        if document.keys() & {"actions", "tiers"}:
            raise Unreadable("document.conf")


def _has_pods(document: Any) -> bool:
    """Return whether a part of an object looks like a pod: with containers or a scheduler."""
    return any(isinstance(each.get("containers"), list) or isinstance(
        each.get("schedulerName"), str) for layer in schema.layers(document) for each in layer
               if isinstance(each, dict))


def says(document: Any) -> Message | None:
    """Return what the status of an object of any kind says: its phase, its last condition.

    >>> print(says({"status": {"phase": "Pending", "conditions": [
    ...     {"type": "Ready", "status": "False", "message": "no quota."}]}}))
    its status says Pending; Ready False: no quota
    """
    status = document.get("status")
    words = [text for text in (text_of(at(status, key)) for key in ("phase", "state")) if text]
    last = max((each for each in items(status, "conditions") if text_of(each.get("message"))),
               key=lambda each: str(each.get("lastTransitionTime", "")), default={})
    words += [f"{last.get('type')} {last.get('status')}: {last['message']}".rstrip(". \n")
              ] if last else []
    return Message("document.status", words=words) if words else None


def key_of(document: Any) -> str:
    """Return the namespace and name of an object; no namespace means `default`."""
    named = _metadata(document)
    return f"{text_of(named.get('namespace')) or 'default'}/{text_of(named.get('name')) or ''}"


def _metadata(document: Any) -> dict[str, Any]:
    metadata = document.get("metadata") if isinstance(document, dict) else None
    return metadata if isinstance(metadata, dict) else {}


def label_of(document: Any, place: Said) -> Said:
    """Return an object's name in errors: kind, namespace/name and its place."""
    data = document if isinstance(document, dict) else {}
    names = (text_of(_metadata(data).get(key)) for key in ("namespace", "name"))
    name = printable(f" {'/'.join(filter(None, names))}".rstrip())
    kind = text_of(data.get("kind"))
    label = f"{printable(kind)}{name}" if kind else Message("place.unnamed", name=name)
    return placed(label, place)


def placed(label: Said, place: Said | None) -> Said:
    """Return an object's label with its place in brackets.

    >>> str(placed("Pod a", "pods.yaml, document 2")), placed("Pod a", "")
    ('Pod a (pods.yaml, document 2)', 'Pod a')
    """
    return Message("place.of", label=label, place=place) if place else label


def is_list(document: Any) -> bool:
    """Return whether a document is a list of objects, such as `List` or `PodList`."""
    return isinstance(document, dict) and "items" in document and (
        text_of(document.get("kind")) or "").endswith("List")


def body_of(cls: type[api.KubernetesObject], document: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a class's fields; an operator's object keeps its version."""
    known = ("kind",) if issubclass(cls, operators.OperatorObject) else ("apiVersion", "kind")
    return {key: value for key, value in document.items() if key not in known}


def is_conf(name: str) -> bool:
    """Return whether a key of a ConfigMap is that of a scheduler's configuration."""
    return name.endswith(".conf") and "scheduler" in name


def text_of(value: Any) -> str | None:
    """Return a non-empty text; None for anything else."""
    return value if isinstance(value, str) and value else None
