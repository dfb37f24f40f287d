"""The arguments of the plugin resource-strategy-fit, read and checked.

A wrong type terminates Volcano's process; here it is a `ConfError`.

    resourceStrategyFitWeight: 10      # below 0: 10
    resources:                         # unset or empty: cpu and memory by LeastAllocated, weight 1
      nvidia.com/gpu: {type: MostAllocated, weight: 2}
      example.com/*: {type: LeastAllocated}      # by prefix; the longest that matches applies
    sra: {enable: true, resources: nvidia.com/gpu, weight: 10, resourceWeight: {nvidia.com/gpu: 1}}
    proportional:
      enable: true
      resources: nvidia.com/gpu
      resourceProportion: {nvidia.com/gpu.cpu: 4, nvidia.com/gpu.memory: 8}

Volcano: pkg/scheduler/plugins/resource-strategy-fit (calculateWeight, calculateSraWeight,
calculateProportionalResources)
"""

from collections.abc import Mapping
from math import isfinite
from typing import Any, TypeVar

from attrs import Factory, define

from volcano_lab.api.resource import CPU, MEMORY
from volcano_lab.framework import Arguments, ConfError, effect
from volcano_lab.messages import Message, one_line

MOST_ALLOCATED, LEAST_ALLOCATED = "MostAllocated", "LeastAllocated"
DEFAULT_WEIGHT = 10
Number = TypeVar("Number", int, float)


@define(slots=True, frozen=True)
class Strategy:
    """One resource's strategy: whether fuller or emptier nodes score higher, and its weight."""

    type: str = LEAST_ALLOCATED
    weight: int = 1


@define(slots=True, frozen=True)
class Sra:
    """Scarce resources that nodes should rather not have: name -> weight; a repeated name counts
    twice in `total`.
    """

    weight: int = 0
    resources: dict[str, int] = Factory(dict)
    total: int = 0


@define(slots=True, frozen=True)
class Proportion:
    """What must stay idle per idle unit of a scarce resource on a node: CPUs, and 10^9 bytes."""

    cpu: float = 1.0
    memory: float = 1.0


def read_weight(arguments: Arguments) -> int:
    """Return the plugin's weight, at least 0."""
    key = "resourceStrategyFitWeight"
    weight: int = _get(arguments, key, DEFAULT_WEIGHT)
    return _least(arguments, key, weight, 0, DEFAULT_WEIGHT)


def read_strategies(arguments: Arguments) -> dict[str, Strategy]:
    """Return resource name, or prefix and `*` -> strategy.

    >>> read_strategies(Arguments(
    ...     {"resources": {"cpu": {"type": "MostAllocated", "weight": 0}, "a*b": {}}}))
    {'cpu': Strategy(type='MostAllocated', weight=1)}
    """
    given = _get(arguments, "resources", {})
    if not given:
        return {CPU: Strategy(), MEMORY: Strategy()}
    strategies = {}
    for name in sorted(given):
        entry, path = _get(given, name, {}, "resources."), f"resources.{name}."
        kind, weight = _get(entry, "type", "", path), _get(entry, "weight", 0, path)
        if "*" in name and (name == "*" or name.index("*") != len(name) - 1):
            arguments.doubt("resources", name, "beginning", Message("used.not"))
            continue
        _only(arguments, path[:-1], entry, ("type", "weight"))
        if kind not in ("", MOST_ALLOCATED, LEAST_ALLOCATED):
            arguments.doubt(path + "type", kind, "words", Message("used", used=LEAST_ALLOCATED),
                            words=(MOST_ALLOCATED, LEAST_ALLOCATED))
        known = kind if kind == MOST_ALLOCATED else LEAST_ALLOCATED
        strategies[name] = Strategy(known, _least(arguments, path + "weight", weight, 1, 1)
                                    if "weight" in entry else 1)
    return strategies


def find_strategy(name: str, strategies: Mapping[str, Strategy]) -> Strategy | None:
    """Return the strategy of a resource: its own, else that of the longest matching prefix.

    >>> strategies = {"a/*": Strategy(weight=2), "a/b*": Strategy(weight=3)}
    >>> find_strategy("a/bc", strategies).weight, find_strategy("c", strategies)
    (3, None)
    """
    if name in strategies:
        return strategies[name]
    fitting = [pattern
               for pattern in strategies if pattern.endswith("*") and name.startswith(pattern[:-1])]
    return strategies[max(fitting, key=len)] if fitting else None


def read_sra(arguments: Arguments) -> Sra:
    """Read the scarce resources to keep nodes free for, and their weights.

    >>> read_sra(Arguments({"sra": {"enable": True, "weight": 5, "resources": "a/x, a/y",
    ...                             "resourceWeight": {"a/x": 2}}}))
    Sra(weight=5, resources={'a/x': 2, 'a/y': 1}, total=3)
    """
    given = _get(arguments, "sra", {})
    weight, weights = _get(given, "weight", 0, "sra."), _get(given, "resourceWeight", {}, "sra.")
    names, enabled = _names(given, "sra."), _get(given, "enable", False, "sra.")
    _only(arguments, "sra", given, ("enable", "resources", "weight", "resourceWeight"))
    read = {name: _get(weights, name, 1, "sra.resourceWeight.") for name in weights}
    if not enabled:
        return Sra()
    resources = {name: _least(arguments, f"sra.resourceWeight.{name}", read.get(name, 1), 0, 1)
                 for name in names}
    weight = _least(arguments, "sra.weight", weight, 0, 0)
    return Sra(weight, resources, sum(resources[name] for name in names))


def read_proportional(arguments: Arguments) -> dict[str, Proportion]:
    """Return scarce resource -> what must stay idle beside it; empty where the check is off.

    >>> read_proportional(Arguments({"proportional": {
    ...     "enable": True, "resources": "a/x", "resourceProportion": {"a/x.cpu": 4}}}))
    {'a/x': Proportion(cpu=4.0, memory=1.0)}
    """
    given = _get(arguments, "proportional", {})
    rates = _get(given, "resourceProportion", {}, "proportional.")
    names = _names(given, "proportional.")
    enabled = _get(given, "enable", False, "proportional.")
    _only(arguments, "proportional", given, ("enable", "resources", "resourceProportion"))
    read = {key: _get(rates, key, 1.0, "proportional.resourceProportion.") for key in rates}
    if not enabled:
        return {}

    def rate(key: str) -> float:
        value: float = read.get(key, 1.0)
        return _least(arguments, f"proportional.resourceProportion.{key}", value, 0, 1.0)

    return {name: Proportion(rate(f"{name}.cpu"), rate(f"{name}.memory")) for name in names}


def _least(arguments: Arguments, path: str, value: Number, least: int, below: Number) -> Number:
    """Return a number, or Volcano's replacement for one that is too low, with a warning."""
    if value >= least:
        return value
    arguments.doubt(path, value, "least", effect(below == value, below), least=least)
    return below


def _only(arguments: Arguments, path: str, given: Mapping[str, Any],
          known: tuple[str, ...]) -> None:
    """Warn about unused keys of a mapping."""
    for key in sorted(given.keys() - {*known}):
        arguments.doubt(f"{path}.{key}", given[key], "all", Message("used.not"), words=known)


_ALLOWED: dict[type, tuple[tuple[type, ...], str]] = {
    int: ((int, float), "int"), float: ((int, float), "number"),
    bool: ((bool,), "switch"), str: ((str,), "text"), dict: ((dict,), "mapping")}


def _get(values: Mapping[str, Any], key: str, default: Any, path: str = "") -> Any:
    """Return a value of its default's type: absent is the default, null is the zero value (0,
    false, ""), fractions are cut off integers. Raises `ConfError` for any other type.
    """
    value, kind = values.get(key, default), type(default)
    if value is None:
        return kind()
    types, allowed = _ALLOWED[kind]
    endless = isinstance(value, float) and not isfinite(value)
    if not isinstance(value, types) or endless or (isinstance(value, bool) and bool not in types):
        raise ConfError("conf.fit", path=path + key, value=one_line(repr(value), 300),
                        allowed=Message(f"allowed.{allowed}"))
    return kind(value)


def _names(values: Mapping[str, Any], path: str) -> list[str]:
    return [name.strip() for name in _get(values, "resources", "", path).split(",") if name.strip()]
