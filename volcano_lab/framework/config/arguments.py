"""The arguments of a plugin or an action, with a typed getter for each kind of value.

A value of the wrong type is not refused: the default is used and a warning is logged, as in
Volcano; `warnings` keeps these, and those for values that Volcano accepts although they make no
sense. Nothing is converted: `"3"` is no number, `1.0` is no integer. Differs on purpose: the
getters take the default and return the value, where the Go writes through a pointer.

Volcano: pkg/scheduler/framework/arguments.go
"""

from math import isfinite
from typing import Any, TypeVar

from volcano_lab.api.durations import parse_duration
from volcano_lab.messages import Message, did_you_mean, log, one_line

T = TypeVar("T")

NOT_MODELLED = {"predicate.DynamicResourceAllocationEnable", "volumebinding.bindTimeoutSeconds",
                "volumebinding.shape", "volumebinding.weight",
                "dynamicresources.filterTimeoutSeconds", "predicateErrorCacheEnable",
                "topologyAwarePreemptWorkerNum"}
"""Arguments of what is not modelled: volume scores, devices, and Volcano's own performance."""


class Arguments(dict[str, Any]):
    """Argument name -> value, as the configuration sets them.

    >>> arguments = Arguments({"binpack.cpu": 5, "strict": False})
    >>> arguments.get_int("binpack.cpu", 1), arguments.get_int("binpack.memory", 1)
    (5, 1)
    """

    __slots__ = ("asked", "warnings")

    def __init__(self, *entries: Any):
        super().__init__(*entries)
        self.asked: set[str] = set()
        self.warnings: list[Message] = []

    def __contains__(self, key: object) -> bool:
        self.asked.add(str(key))
        return super().__contains__(key)

    def __getitem__(self, key: str) -> Any:
        self.asked.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value under `key` unchanged."""
        self.asked.add(key)
        return super().get(key, default)

    def unknown(self) -> list[Message]:
        """Return a message for each argument that has not been read so far.

        >>> arguments = Arguments({"binpack.wieght": 5})
        >>> print(arguments.get_int("binpack.weight", 1), *arguments.unknown())
        1 argument binpack.wieght is not known and has no effect; did you mean binpack.weight?
        """
        return [Message("argument.unknown", key=one_line(key, 100),
                        hint=did_you_mean(key, self.asked, Message("argument.end")))
                for key in sorted(self.keys() - self.asked - NOT_MODELLED)]

    def get_int(self, key: str, default: int) -> int:
        """Return the integer under `key`; `default` if it is absent or anything else.

        >>> Arguments({"weight": 2.0}).get_int("weight", 1)
        1
        """
        return self._read(key, default, is_int, "int")

    def get_weight(self, key: str, default: int, below_zero: int | None = None) -> int:
        """Return the integer under `key`, as `get_int`. A negative one is warned about and replaced
        by `below_zero`; without that it is used, where Volcano computes with it.

        >>> arguments = Arguments({"binpack.cpu": -3})
        >>> print(arguments.get_weight("binpack.cpu", 1, below_zero=1), *arguments.warnings)
        1 argument binpack.cpu is -3, allowed is 0 or more; 1 is used
        """
        weight = self.get_int(key, default)
        if weight >= 0:
            return weight
        used = weight if below_zero is None else below_zero
        self.doubt(key, weight, "least", effect(used == weight, used), least=0)
        return used

    def get_resource_weights(self, prefix: str) -> dict[str, int]:
        """Return each resource's weight in bin packing: of cpu, memory, and those that
        `PREFIXresources` lists; 1 unless `PREFIXcpu`, `PREFIXmemory` or `PREFIXresources.NAME` is
        set.

        >>> Arguments({"binpack.cpu": 5, "binpack.resources": "a/x"}).get_resource_weights(
        ...     "binpack.")
        {'a/x': 1, 'cpu': 5, 'memory': 1}
        """
        names = [name.strip() for name in self.get_string(f"{prefix}resources", "").split(",")]
        weights = {name: self.get_weight(f"{prefix}resources.{name}", 1, below_zero=1)
                   for name in names if name}
        return weights | {name: self.get_weight(prefix + name, 1, below_zero=1)
                          for name in ("cpu", "memory")}

    def doubt(self, key: str, found: Any, allowed: str, effect: Message, **facts: Any) -> None:
        """Warn, once, about a value that makes no sense, and its effect; the message
        `allowed.ALLOWED` has the right ones.
        """
        said = Message("argument.doubt", key=one_line(key, 100), found=one_line(repr(found), 100),
                       allowed=Message(f"allowed.{allowed}", **facts), effect=effect)
        if said not in self.warnings:
            self.warnings.append(said)
            log.warning("%s", said)

    def get_float(self, key: str, default: float, least: float | None = None) -> float:
        """Return the number under `key` as a float; `default` if it is absent, below `least` or
        anything else. With `least`, an infinite one is warned about and used.

        >>> Arguments({"overcommit-factor": 2}).get_float("overcommit-factor", 1.2)
        2.0
        """
        value = float(self._read(key, default, lambda value: isinstance(value, float)
                                 or is_int(value), "number"))
        if least is None or (value >= least and isfinite(value)):
            return value
        used = default if value < least else value
        self.doubt(key, value, "finite", effect(not value < least, used), least=least)
        return used

    def get_bool(self, key: str, default: bool) -> bool:
        """Return the boolean under `key`; `default` if it is absent or anything else.

        >>> Arguments({"strict": "false"}).get_bool("strict", True)
        True
        """
        return self._read(key, default, lambda value: isinstance(value, bool), "switch")

    def get_string(self, key: str, default: str) -> str:
        """Return the text under `key`; `default` if it is absent or anything else.

        >>> Arguments({"policy": "spread"}).get_string("policy", "")
        'spread'
        """
        return self._read(key, default, lambda value: isinstance(value, str), "text")

    def get_duration(self, key: str, default: float) -> float:
        """Return the duration under `key` in seconds; `default` if it is absent or no duration.

        >>> Arguments({"interval": "1h30m"}).get_duration("interval", 300.0)
        5400.0
        """
        text = self.get_string(key, f"{default:g}s")
        seconds = parse_duration(text)
        if seconds is None:
            self.doubt(key, text, "duration", Message("used", used=f'"{default:g}s"'))
        return default if seconds is None else seconds

    def _read(self, key: str, default: T, fits: Any, allowed: str) -> T:
        if key not in self:
            return default
        value: T = self[key]
        if fits(value):
            return value
        self.doubt(key, value, allowed, Message("used", used=repr(default)))
        return default


def effect(kept: bool, used: Any) -> Message:
    """Return that a value that makes no sense is `kept`, or what is used instead."""
    return Message("used.as_it_is") if kept else Message("used", used=used)


def is_int(value: Any) -> bool:
    """Return whether a value is an integer of 64 bits, as Go's int; Python counts booleans among
    them, YAML does not.
    """
    return isinstance(value, int) and not isinstance(value, bool) and -2**63 <= value < 2**63
