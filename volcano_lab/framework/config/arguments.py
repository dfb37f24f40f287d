"""The arguments of a plugin or an action, and how their values are read.

A value of the wrong type is not refused: the default stays and a warning is logged, as in Volcano;
`told` keeps it, and what is said of values that Volcano takes though nobody can mean them. Nothing
is converted: `"3"` is no number, `1.0` is no whole number. Differs on purpose: the getters take the
default and return the value, where the Go writes through a pointer.

Volcano: pkg/scheduler/framework/arguments.go
"""

from math import isfinite
from typing import Any

from volcano_lab.api.durations import parse_duration
from volcano_lab.messages import did_you_mean, log, one_line

NOT_MODELLED = {"predicate.DynamicResourceAllocationEnable", "volumebinding.bindTimeoutSeconds",
                "volumebinding.shape", "volumebinding.weight",
                "dynamicresources.filterTimeoutSeconds", "predicateErrorCacheEnable",
                "topologyAwarePreemptWorkerNum"}
"""Arguments about what is not modelled: scores of volumes, devices, and how fast Volcano is."""

AS_IT_IS = "Volcano computes with it as it is"


class Arguments(dict):
    """Argument name -> value, as the configuration has them.

    >>> arguments = Arguments({"binpack.cpu": 5, "strict": False})
    >>> arguments.get_int("binpack.cpu", 1), arguments.get_int("binpack.memory", 1)
    (5, 1)
    """

    __slots__ = ("_asked", "told")

    def __init__(self, *entries: Any):
        super().__init__(*entries)
        self._asked: set[str] = set()
        self.told: list[str] = []

    def __contains__(self, key: object) -> bool:
        self._asked.add(str(key))
        return super().__contains__(key)

    def __getitem__(self, key: str) -> Any:
        self._asked.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value under `key` as it is."""
        self._asked.add(key)
        return super().get(key, default)

    def unknown(self) -> list[str]:
        """Return a sentence for each argument that has not been read by now.

        >>> arguments = Arguments({"binpack.wieght": 5})
        >>> arguments.get_int("binpack.weight", 1), arguments.unknown()
        (1, ['argument binpack.wieght is not known and has no effect;
        did you mean binpack.weight?'])
        """
        return [f"argument {one_line(key, 100)} is not known and has no effect"
                f"{did_you_mean(key, self._asked, '.')}"
                for key in sorted(self.keys() - self._asked - NOT_MODELLED)]

    def get_int(self, key: str, default: int) -> int:
        """The whole number under `key`; `default` if it is absent or anything else.

        >>> Arguments({"weight": 2.0}).get_int("weight", 1)
        1
        """
        return self._read(key, default, is_int, "a whole number")

    def get_weight(self, key: str, default: int, below_zero: int | None = None) -> int:
        """The whole number under `key`, as `get_int`. One below zero is told, and is `below_zero`;
        without that it stays, where Volcano computes with it.

        >>> arguments = Arguments({"binpack.cpu": -3})
        >>> arguments.get_weight("binpack.cpu", 1, below_zero=1), arguments.told
        (1, ['argument binpack.cpu is -3, allowed is 0 or more; 1 is used'])
        """
        weight = self.get_int(key, default)
        if weight >= 0:
            return weight
        used = weight if below_zero is None else below_zero
        self.doubt(key, weight, "0 or more", AS_IT_IS if used == weight else f"{used} is used")
        return used

    def get_resource_weights(self, prefix: str) -> dict[str, int]:
        """What each resource counts in bin packing: cpu, memory, and those that `PREFIXresources`
        names; 1 unless `PREFIXcpu`, `PREFIXmemory` or `PREFIXresources.NAME` says otherwise.

        >>> Arguments({"binpack.cpu": 5, "binpack.resources": "a/x"}).get_resource_weights(
        ...     "binpack.")
        {'a/x': 1, 'cpu': 5, 'memory': 1}
        """
        names = [name.strip() for name in self.get_string(f"{prefix}resources", "").split(",")]
        weights = {name: self.get_weight(f"{prefix}resources.{name}", 1, below_zero=1)
                   for name in names if name}
        return weights | {name: self.get_weight(prefix + name, 1, below_zero=1)
                          for name in ("cpu", "memory")}

    def doubt(self, key: str, found: Any, allowed: str, effect: str) -> None:
        """Tell, once, of a value that its author cannot have meant, and what becomes of it."""
        sentence = (f"argument {one_line(key, 100)} is {one_line(repr(found), 100)}, allowed is "
                    f"{allowed}; {effect}")
        if sentence not in self.told:
            self.told.append(sentence)
            log.warning("%s", sentence)

    def get_float(self, key: str, default: float, least: float | None = None) -> float:
        """The number under `key` as a float; `default` if it is absent, below `least` or anything
        else. With `least`, one without an end is told, and stays.

        >>> Arguments({"overcommit-factor": 2}).get_float("overcommit-factor", 1.2)
        2.0
        """
        value = float(self._read(key, default, lambda value: isinstance(value, float)
                                 or is_int(value), "a number"))
        if least is None or (value >= least and isfinite(value)):
            return value
        used = default if value < least else value
        self.doubt(key, value, f"a finite number, {least:g} or more",
                   f"{used} is used" if value < least else AS_IT_IS)
        return used

    def get_bool(self, key: str, default: bool) -> bool:
        """The truth value under `key`; `default` if it is absent or anything else.

        >>> Arguments({"strict": "false"}).get_bool("strict", True)
        True
        """
        return self._read(key, default, lambda value: isinstance(value, bool), "true or false")

    def get_string(self, key: str, default: str) -> str:
        """The text under `key`; `default` if it is absent or anything else.

        >>> Arguments({"policy": "spread"}).get_string("policy", "")
        'spread'
        """
        return self._read(key, default, lambda value: isinstance(value, str), "text")

    def get_duration(self, key: str, default: float) -> float:
        """The seconds of the duration under `key`; `default` if it is absent or none.

        >>> Arguments({"interval": "1h30m"}).get_duration("interval", 300.0)
        5400.0
        """
        text = self.get_string(key, f"{default:g}s")
        seconds = parse_duration(text)
        if seconds is None:
            self.doubt(key, text, 'a duration such as "1h30m"', f'"{default:g}s" is used')
        return default if seconds is None else seconds

    def _read(self, key: str, default: Any, fits: Any, allowed: str) -> Any:
        if key not in self:
            return default
        value = self[key]
        if fits(value):
            return value
        self.doubt(key, value, allowed, f"{default!r} is used")
        return default


def is_int(value: Any) -> bool:
    """Whether a value is a whole number of 64 bits, as Go's int; Python counts truth values among
    them, YAML does not.
    """
    return isinstance(value, int) and not isinstance(value, bool) and -2**63 <= value < 2**63
