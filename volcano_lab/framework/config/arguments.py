"""The arguments of a plugin or an action, and how their values are read.

Answers to `pkg/scheduler/framework/arguments.go`. A value of the wrong type is not refused: the
default stays and a warning is logged, as in Volcano. Nothing is converted: `"3"` is no number,
`1.0` is no whole number. Differs on purpose: the getters take the default and return the value,
where the Go writes through a pointer.
"""

from __future__ import annotations

import logging
from difflib import get_close_matches
from typing import Any

from volcano_lab.framework.one_sentence import one_line

logger = logging.getLogger(__name__)

NOT_MODELLED = {"predicate.DynamicResourceAllocationEnable", "predicate.NodeVolumeLimitsEnable",
                "predicate.VolumeZoneEnable", "volumebinding.bindTimeoutSeconds",
                "volumebinding.shape", "volumebinding.weight",
                "dynamicresources.filterTimeoutSeconds"}
"""Arguments of the predicates plugin about what is not modelled."""


class Arguments(dict):
    """Argument name -> value, as the configuration has them.

    >>> arguments = Arguments({"binpack.cpu": 5, "strict": False})
    >>> arguments.get_int("binpack.cpu", 1), arguments.get_int("binpack.memory", 1)
    (5, 1)
    """

    __slots__ = ("_asked",)

    def __init__(self, *entries: Any):
        super().__init__(*entries)
        self._asked: set[str] = set()

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
        found = []
        for key in sorted(self.keys() - self._asked - NOT_MODELLED):
            near = get_close_matches(key, self._asked, 1)
            hint = f"; did you mean {near[0]}?" if near else "."
            found.append(f"argument {one_line(key, 100)} is not known and has no effect{hint}")
        return found

    def get_int(self, key: str, default: int) -> int:
        """The whole number under `key`; `default` if it is absent or anything else.

        >>> Arguments({"weight": 2.0}).get_int("weight", 1)
        1
        """
        return self._read(key, default, _is_int, "a whole number")

    def get_float(self, key: str, default: float) -> float:
        """The number under `key` as a float; `default` if it is absent or anything else.

        >>> Arguments({"overcommit-factor": 2}).get_float("overcommit-factor", 1.2)
        2.0
        """
        return float(self._read(key, default, lambda value: isinstance(value, float)
                                or _is_int(value), "a number"))

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

    def _read(self, key: str, default: Any, fits: Any, allowed: str) -> Any:
        if key not in self:
            return default
        value = self[key]
        if fits(value):
            return value
        logger.warning("argument %s is %s, allowed is %s; %r is used", one_line(key, 100),
                       one_line(repr(value), 100), allowed, default)
        return default


def _is_int(value: Any) -> bool:
    """Whether a value is a whole number; Python counts truth values among them, YAML does not."""
    return isinstance(value, int) and not isinstance(value, bool)
