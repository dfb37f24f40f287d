"""From plain data (dicts, lists, text) to API objects and back.

The attrs classes in `api.objects` are the schema: names, types, allowed words. One walk over the
data builds the object and collects, with the path to each field, wrong values (`errors`) and
unknown fields (`warnings`). That, and its speed, is what a general converter lacks; Kubernetes'
rules are kept: `null` is "not set", numbers are not converted to text (only in resource lists,
where both are quantities).
"""

import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache, lru_cache, partial
from typing import Any

import attrs

from volcano_lab.api.objects import IGNORED, Raw, ResourceList, Time, VolumeResourceList
from volcano_lab.api.objects.meta import INT32, INT64
from volcano_lab.api.quantity import SUFFIXES, QuantityError, check, milli_value, parse
from volcano_lab.framework.config.yaml import MOST_DEPTH
from volcano_lab.manifests.misfits import Misfits, Path, found_text, path_text
from volcano_lab.manifests.names import is_qualified
from volcano_lab.messages import Message

Reader = Callable[[Any, Path, Misfits], Any]

_PERCENT = re.compile(r"\d\d?%|100%")
_CONTAINERS_RESOURCE = re.compile(r"cpu|memory|ephemeral-storage|hugepages-.+|.*/.*", re.DOTALL)
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")


def structure(cls: type, data: Any, misfits: Misfits, path: Path = ()) -> Any:
    """Return an object of class `cls` from plain data; wrong values are recorded and left out.

    >>> from volcano_lab.api.objects import Toleration
    >>> structure(Toleration, {"key": "gpu", "tolerationSeconds": 30}, Misfits())
    Toleration(key='gpu', operator='', value='', effect='', toleration_seconds=30)
    """
    fields = _readers(cls)
    values = {}
    if type(data) is not dict:
        misfits.misfit(path, data, "fields", fields=[*fields])
        return cls()
    for key, raw in data.items():
        field = fields.get(key)
        if field is None:
            if key not in IGNORED.get(cls.__name__, ()):
                misfits.unknown(path, key, fields, _inner(cls, key, path))
        elif raw is not None:
            name, read = field
            values[name] = read(raw, (path, key), misfits)
    return cls(**values)


def unstructure(value: Any) -> Any:
    """Return plain data from an object; fields at their default are left out.

    >>> from volcano_lab.api.objects import Toleration
    >>> unstructure(Toleration(key="gpu", toleration_seconds=0))
    {'key': 'gpu', 'tolerationSeconds': 0}
    """
    if attrs.has(type(value)):
        data = {}
        for name, json_name, default, is_time in _written(value.__class__):
            item = getattr(value, name)
            if item != default or type(item) is not type(default):
                data[json_name] = _time_text(item) if is_time else unstructure(item)
        return data
    if isinstance(value, list):
        return [unstructure(item) for item in value]
    return dict(value) if isinstance(value, dict) else value


def at_path(part: Any, steps: Iterable[str]) -> Any:
    """Return an object's value at a path, as plain data; None without one.

    >>> from volcano_lab.api.objects import Node
    >>> at_path(Node(), ["spec", "unschedulable"]), at_path(Node(), ["spec", "a", "b"])
    (False, None)
    """
    for step in steps:
        if attrs.has(type(part)):
            part = next((getattr(part, field.name) for field in attrs.fields(type(part))
                         if json_name(field) == step), None)
        elif isinstance(part, list):
            part = part[int(step)] if step.isdigit() and int(step) < len(part) else None
        else:
            part = part.get(step) if isinstance(part, dict) else None
    return unstructure(part)


def json_name(field: attrs.Attribute) -> str:
    """Return a field's name in a manifest."""
    head, *rest = field.name.split("_")
    return field.metadata.get("json") or head + "".join(word.capitalize() for word in rest)


@cache
def _readers(cls: type) -> dict[str, tuple[str, Reader]]:
    """Return name in a manifest -> (attribute, its reader)."""
    hints = typing.get_type_hints(cls, include_extras=True)
    return {json_name(field): (field.name, _reader(hints[field.name], field))
            for field in attrs.fields(cls)}


def _inner(cls: type, key: str, path: Path = ()) -> Path | None:
    """Return where a class has a key one level down, in a list at its first item; None without.

    >>> from volcano_lab.api.objects import VolcanoJobSpec
    >>> from volcano_lab.api.objects.volcano import Guarantee
    >>> path_text(_inner(Guarantee, "cpu")), _inner(Guarantee, "weight")
    ('resource.cpu', None)
    >>> path_text(_inner(VolcanoJobSpec, "replicas"))
    'tasks[0].replicas'
    """
    for name, kind, is_list in _nested(cls):
        if key in _readers(kind) if attrs.has(kind) else _CONTAINERS_RESOURCE.fullmatch(key):
            field: Path = (path, name)
            return ((field, 0) if is_list else field), key
    return None


@cache
def _nested(cls: type) -> list[tuple[str, Any, bool]]:
    """Return the fields of a class that have fields, or amounts, of their own: name, type, and
    whether it is a list of them.
    """
    hints = typing.get_type_hints(cls, include_extras=True)
    return [(json_name(field), kind, typing.get_origin(hints[field.name]) is list)
            for field in attrs.fields(cls)
            for kind in (hints[field.name], *typing.get_args(hints[field.name]))
            if attrs.has(kind) or kind is ResourceList]


@cache
def _written(cls: type) -> list[tuple[str, str, Any, bool]]:
    """Return attribute, name in a manifest, default, and whether it is a time."""
    blank, hints = cls(), typing.get_type_hints(cls, include_extras=True)
    return [(field.name, json_name(field), getattr(blank, field.name),
             hints[field.name] == Time | None) for field in attrs.fields(cls)]


def _reader(hint: Any, field: attrs.Attribute | None = None) -> Reader:
    """Return the reader for values of a type."""
    args = tuple(arg for arg in typing.get_args(hint) if arg is not types.NoneType)
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        return _reader(args[0], field) if len(args) == 1 else partial(_any_of, args)
    if typing.get_origin(hint) is list:
        return partial(_list, _reader(args[0], field))
    if typing.get_origin(hint) is dict:
        return _texts if args[1] is str else partial(_dict, _reader(args[1]))
    if attrs.has(hint):
        return lambda raw, path, misfits: structure(hint, raw, misfits, path)
    if allowed := field and field.metadata.get("allowed"):
        return partial(_word, allowed)
    if hint is int:
        return partial(_whole, *((field and field.metadata.get("range")) or (-INT32 - 1, INT32)))
    readers: dict[Any, Reader] = {
        str: _str, bool: _bool, Time: _time, ResourceList: _resources, Raw: _raw,
        VolumeResourceList: partial(_resources, of_pod=False)}
    return readers[hint]


def _str(raw: Any, path: Path, misfits: Misfits) -> str:
    if type(raw) is not str:
        misfits.misfit(path, raw, "text" if isinstance(raw, dict | list) else "quoted")
    return raw


def _word(allowed: tuple[str, ...], raw: Any, path: Path, misfits: Misfits) -> str:
    if type(raw) is not str or (misfits.strict and raw and raw not in allowed):
        misfits.misfit(path, raw, "words", words=allowed)
    return raw


def _whole(least: int, most: int, raw: Any, path: Path, misfits: Misfits) -> int:
    number = int(raw) if type(raw) is float and raw.is_integer() else raw
    if not misfits.strict:
        least, most = -INT64 - 1, INT64
    if type(number) is not int or not least <= number <= most:
        misfits.misfit(path, raw, "whole", least=least, most=most)
    return number


def _bool(raw: Any, path: Path, misfits: Misfits) -> bool:
    if type(raw) is not bool:
        misfits.misfit(path, raw, "switch")
    return raw


def _any_of(allowed: tuple[type, ...], raw: Any, path: Path, misfits: Misfits) -> Any:
    """Read a number of pods or a percentage; the API has this pair of types only for that."""
    if type(raw) not in allowed or (misfits.strict and not (
            0 <= raw <= INT32 if type(raw) is int else _PERCENT.fullmatch(raw))):
        misfits.misfit(path, raw, "share")
    return raw


def _time(raw: Any, path: Path, misfits: Misfits) -> float | None:
    if type(raw) is str and _RFC3339.fullmatch(raw):
        with suppress(ValueError, OverflowError):  # 30 February, or no year from 1 to 9999 in UTC
            return datetime.fromisoformat(raw).astimezone(UTC).timestamp()
    misfits.misfit(path, raw, "time")
    return None


def _time_text(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="microseconds" if moment.microsecond else "seconds").replace(
        "+00:00", "Z")


def layers(data: Any) -> Iterator[list[Any]]:
    """Yield the values of plain data, those at its top first, down to the greatest depth.

    >>> [len(layer) for layer in layers({"a": [1, 2]})][:4]
    [1, 1, 2, 0]
    """
    layer = [data]
    for _ in range(MOST_DEPTH + 1):
        yield layer
        layer = [inner for outer in layer if isinstance(outer, dict | list)
                 for inner in (outer.values() if isinstance(outer, dict) else outer)]


def _raw(raw: Any, path: Path, misfits: Misfits) -> dict[str, Any] | None:
    if type(raw) is not dict:
        misfits.misfit(path, raw, "mapping")
    if not all(layers(raw)):  # raw data is traversed recursively later
        return raw
    misfits.misfit(path, raw, "depth", most=MOST_DEPTH)
    return None


def _resources(raw: Any, path: Path, misfits: Misfits, of_pod: bool = True) -> dict[str, str]:
    if type(raw) is not dict:
        misfits.misfit(path, raw, "amounts")
        return {}
    amounts = {}
    for name, amount in raw.items():
        if type(name) is not str:
            misfits.misfit((path, name), name, "name")
            continue
        text = str(amount) if type(amount) in (int, float) else amount
        try:
            check(text)
            if misfits.strict and _is_negative(text):
                misfits.misfit((path, name), amount, "from_zero")
            elif misfits.strict and _has_parts(name, text):
                misfits.misfit((path, name), amount, "pieces")
        except QuantityError:
            misfits.misfit((path, name), amount, "quantity", suffixes=SUFFIXES)
        if misfits.strict and (not is_qualified(name) or (of_pod and path[1] in (
                "requests", "limits") and not _CONTAINERS_RESOURCE.fullmatch(name))):
            misfits.errors.append(Message("schema.resource", path=path_text(path),
                                           found=found_text(name)))
        amounts[name] = text
    return amounts


@lru_cache(maxsize=1 << 12)
def _is_negative(amount: str) -> bool:
    return parse(amount) < 0


@lru_cache(maxsize=1 << 12)
def _has_parts(name: str, amount: str) -> bool:
    """Return whether an amount of an indivisible resource is not a whole number."""
    whole = name == "pods" or ("/" in name and "kubernetes.io/" not in name)
    return whole and milli_value(amount) % 1000 != 0


def _list(read: Reader, raw: Any, path: Path, misfits: Misfits) -> list:
    if type(raw) is not list:
        misfits.misfit(path, raw, "list")
        return []
    return [read(item, (path, number), misfits) for number, item in enumerate(raw)]


def _texts(raw: Any, path: Path, misfits: Misfits) -> dict[str, str]:
    """Read labels and the like. They are frequent: the valid case is checked at once."""
    if type(raw) is dict and all(type(text) is str for text in raw.values()):
        return raw.copy()
    return _dict(_str, raw, path, misfits)


def _dict(read: Reader, raw: Any, path: Path, misfits: Misfits) -> dict:
    if type(raw) is not dict:
        misfits.misfit(path, raw, "mapping")
        return {}
    return {key: read(item, (path, key), misfits) for key, item in raw.items()}
