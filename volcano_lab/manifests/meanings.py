"""The meaning of each text field of the API, and the public texts: what `export --anonymise` must
rename, and what it must keep so that the decisions stay. `meanings.md` lists both; a meaning is the
name of the method of `anonymise.Renaming` that renames such a text.

Fields with words of the API (`choice`), resource lists and raw parts need no entry: their type is
enough. A text field in no list is left out of anonymised exports.
"""

import re
import typing
from functools import cache
from pathlib import Path

import attrs

from volcano_lab.api.objects import KINDS, Part, Raw, ResourceList, VolumeResourceList
from volcano_lab.manifests.admission import jobs
from volcano_lab.manifests.unsupported import KINDS as OTHER_KINDS

VALUE, WORD, RESOURCES, RAW, NOTHING = "label_value", "word", "resources", "raw", "nothing"
_ROW = re.compile(r"^\| ([a-z_ ]+) \| (.+) \|$", re.MULTILINE)
_FIELDS, _LISTS = (
    {name: frozenset(words.split()) for name, words in _ROW.findall(table)} for table in Path(
        __file__).with_suffix(".md").read_text("utf-8").split("| public words |"))
_MEANINGS = {field: meaning for meaning, fields in _FIELDS.items() for field in fields}
DOMAINS, NOTED, KEYS = _LISTS["domains"], _LISTS["domains of annotations"], _LISTS["keys"]
"""Domains whose keys, resources and drivers identify no user; those of annotations that affect
decisions; and keys without a domain that Kubernetes and Volcano read or set.
"""
MEASURED = _LISTS["keys of amounts"]
"""Keys of labels and annotations whose values are amounts, durations or public words."""
NATIVE, RAW_KEYS = _LISTS["resources"], _LISTS["fields of raw parts"]
"""Resources without a domain; fields of volumes and states of containers that no class has."""
ARGUMENTS, PLUGIN_NAMES = _LISTS["arguments"], _LISTS["plugins"]
"""Arguments of plugins and actions, the keys in them, and those of `metrics`; Volcano's plugins."""
WORDS = _LISTS["words"].union(
    jobs.EVENTS, jobs.ACTIONS, jobs.PLUGINS, OTHER_KINDS, (kind for _, kind in KINDS),
    *(cls.api_versions for cls in KINDS.values()))
"""Words of the API beside those listed by a field."""
NAMES = frozenset(("system-cluster-critical", "system-node-critical", "true", "false"))
"""Names and values that are kept whole: they are the same in every cluster."""
ANCHORS = ("cpu", "default", "kube", "master", "memory", "root", "scheduler", "system", "volcano",
           "worker")
"""Words of names that are kept, such as those of `kube-system`, in ascending order; other words
keep their rank among them.
"""
PREFIXES = ("tdm.revocable-zone.", "binpack.resources.", "hypernode.binpack.resources.")
"""Prefixes of arguments that end with the name of a zone or a resource."""
MPI_FLAGS = frozenset(("master", "worker", "port"))


@cache
def meanings(cls: type) -> dict[str, str | None]:
    """Return attribute -> meaning of its text; None for no text, or a part with its own texts.

    >>> from volcano_lab.api.objects import Taint
    >>> meanings(Taint)
    {'key': 'key', 'value': 'label_value', 'effect': 'word'}
    """
    hints = typing.get_type_hints(cls, include_extras=True)
    return {field.name: declared(cls, field.name) or _by_type(hints[field.name], field)
            for field in attrs.fields(cls)}


def declared(cls: type, name: str) -> str | None:
    """Return the meaning of an attribute in `meanings.md`; None without one."""
    found = (_MEANINGS.get(f"{base.__name__}.{name}") for base in cls.__mro__)
    return next(filter(None, found), None)


def _by_type(hint: typing.Any, field: attrs.Attribute) -> str | None:
    if field.metadata.get("allowed"):
        return WORD
    if hint in (ResourceList, VolumeResourceList):
        return RESOURCES
    if hint == Raw:
        return RAW
    found = [_by_type(inner, field) for inner in typing.get_args(hint)]
    return NOTHING if hint is str else next(filter(None, found), None)


def parts() -> set[type]:
    """Return all classes of objects and of their parts."""
    known, found = set(), set(KINDS.values())
    while found:
        cls = found.pop()
        known.add(cls)
        for hint in typing.get_type_hints(cls, include_extras=True).values():
            found |= {inner for inner in _inside(hint) if inner not in known}
    return known


def _inside(hint: typing.Any) -> set[type]:
    if isinstance(hint, type) and issubclass(hint, Part):
        return {hint}
    return {cls for inner in typing.get_args(hint) for cls in _inside(inner)}


@cache
def public_words() -> frozenset[str]:
    """Return the words of the API in fields with a fixed set of words."""
    return WORDS.union(*(field.metadata.get("allowed", ()) for cls in parts()
                         for field in attrs.fields(cls)))
