"""Live objects as plain data: names instead of tasks and nodes, numbers instead of amounts.

Volcano: none
"""

import re
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Any, TypeVar

import attrs
import numpy as np

from volcano_lab import api
from volcano_lab.api import FitError, HyperNodeInfo, TaskInfo
from volcano_lab.api.status import TaskStatus
from volcano_lab.messages import Message

Key = TypeVar("Key")
Value = TypeVar("Value")
_SNAKE = re.compile(r"[a-z]+(_[a-z]+)+")
_RESOURCE = re.compile(r"cpu|memory|pods|ephemeral-storage|hugepages-.+|attachable-volumes-.+|"
                       r"[^/]+\.[^/]+/.+")
"""The name of a resource; a job's has no dot before its slash."""


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Return values by their key, keys in the order in which they first come.

    >>> grouped([("b", 1), ("a", 2), ("b", 3)])
    {'b': [1, 3], 'a': [2]}
    """
    found: dict[Key, list[Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def plain(value: Any) -> Any:
    """Return a value as None, truth, number, text, list or dict; live objects become their names.

    A resource becomes a dict in internal units (millicores, bytes, thousandths), without dimensions
    that are zero.

    >>> plain([api.Resource(500.0), True, 1.5])
    [{'cpu': 500.0}, True, 1.5]
    """
    convert = _CONVERT.get(type(value))
    return convert(value) if convert is not None else _other(value)


def _list(values: Any) -> list[Any]:
    return [value.key if type(value) is TaskInfo else plain(value) for value in values]


def _dict(values: Mapping[Any, Any]) -> dict[str, Any]:
    return {key if isinstance(key, str) else str(plain(key)): plain(value)
            for key, value in values.items()}


def amounts(resource: api.Resource) -> dict[str, float]:
    """Return a resource as a dict."""
    return {name: amount for name, amount in resource if amount}


def _other(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _dict(value)
    if attrs.has(type(value)):
        return {field.name: plain(getattr(value, field.name))
                for field in attrs.fields(type(value))}
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value), key=str)
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return str(value)


_CONVERT: dict[type, Callable[[Any], Any]] = {
    **{kind: kind for kind in (bool, int, float, str)},  # plain types stay unchanged
    type(None): lambda value: None,
    **dict.fromkeys((list, tuple), _list),
    dict: _dict,
    api.Resource: amounts,
    TaskInfo: attrgetter("key"),
    **dict.fromkeys((api.JobInfo, api.SubJobInfo, api.QueueInfo), attrgetter("uid")),
    **dict.fromkeys((api.NodeInfo, HyperNodeInfo), attrgetter("name")),
    # an enumeration's name is slow to read
    TaskStatus: {status: str(status) for status in TaskStatus}.__getitem__,
    FitError: attrgetter("reasons"),
    api.FitErrors: str,
}


def camel(data: Any) -> Any:
    """Return plain data with its keys in camelCase; names of resources and objects stay.

    >>> camel({"real_capability": {"cpu": 1, "example.com/a_b": 2}})
    {'realCapability': {'cpu': 1, 'example.com/a_b': 2}}
    """
    if isinstance(data, Mapping):
        return {_camel(key): camel(value) for key, value in data.items()}
    return [camel(each) for each in data] if isinstance(data, list | tuple | set) else data


def _camel(key: Any) -> str:
    if not isinstance(key, str) or not _SNAKE.fullmatch(key):
        return str(key)
    return re.sub("_([a-z])", lambda letter: letter[1].upper(), key)


def quantities(data: Any, text: Callable[[str, Any], str] = api.quantity_text) -> Any:
    """Return plain data with its amounts as Kubernetes quantities: each dict with only resource
    names as keys, and messages as text. `text` converts a value from its unit; None, no limit,
    stays.

    >>> quantities({"deserved": {"cpu": 1.5, "memory": 2**31}, "placed": {"a/b": 2}})
    {'deserved': {'cpu': '1.5', 'memory': '2Gi'}, 'placed': {'a/b': 2}}
    >>> quantities([Message("nothing")])
    ['nothing']
    """
    if isinstance(data, Mapping):
        if data and all(_RESOURCE.fullmatch(str(key)) for key in data):
            return {name: text(name, amount) if isinstance(amount, int | float) else amount
                    for name, amount in data.items()}
        return {key: quantities(value, text) for key, value in data.items()}
    if isinstance(data, list | tuple | set):
        return [quantities(each, text) for each in data]
    return str(data) if isinstance(data, Message) else data
