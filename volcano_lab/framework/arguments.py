"""The arguments of a plugin or an action, and how their values are read.

Answers to `pkg/scheduler/framework/arguments.go`. A value of the wrong type is not refused: the default stays and a
warning is logged, as in Volcano. Nothing is converted: `"3"` is no number, `1.0` is no whole number.
Differs on purpose: the getters take the default and return the value, where the Go writes through a pointer.
"""

from __future__ import annotations

import logging
from typing import Any

logger = logging.getLogger(__name__)


class Arguments(dict):
    """Argument name -> value, as the configuration has them.

    >>> arguments = Arguments({"binpack.cpu": 5, "strict": False})
    >>> arguments.get_int("binpack.cpu", 1), arguments.get_int("binpack.memory", 1)
    (5, 1)
    """

    __slots__ = ()

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
        return float(self._read(key, default, lambda value: isinstance(value, float) or _is_int(value), "a number"))

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
        logger.warning("argument %s is %r, allowed is %s; %r is used", key, value, allowed, default)
        return default


def _is_int(value: Any) -> bool:
    """Whether a value is a whole number; Python counts truth values among them, YAML does not."""
    return isinstance(value, int) and not isinstance(value, bool)
