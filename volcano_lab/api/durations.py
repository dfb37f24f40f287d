"""Parsing the small values in annotations: booleans, numbers, durations.

The format is that of Go's `strconv.ParseBool` and `time.ParseDuration`.
"""

import re

_TRUE, _FALSE = {"1", "t", "T", "TRUE", "true", "True"}, {"0", "f", "F", "FALSE", "false", "False"}
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0,
          "h": 3600.0}
_PART = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_LONGEST = 2**63 / 1e9
"""Seconds; the nanoseconds of a duration are a signed 64-bit number."""


def parse_bool(text: str) -> bool | None:
    """Return True or False, or None where the text is neither.

    >>> parse_bool("true"), parse_bool("F"), parse_bool("yes")
    (True, False, None)
    """
    if text in _TRUE:
        return True
    return False if text in _FALSE else None


def parse_float(text: str | None) -> float:
    """Return the number in the text, 0 where it is none.

    >>> parse_float("1.5"), parse_float("many"), parse_float(None)
    (1.5, 0.0, 0.0)
    """
    try:
        return float(text or 0.0)
    except ValueError:
        return 0.0


def parse_duration(text: str) -> float | None:
    """Return the seconds of a duration such as "1h30m" or "1.5s"; None where the text is none.

    >>> parse_duration("1h30m"), parse_duration("-1.5s"), parse_duration("10")
    (5400.0, -1.5, None)
    """
    sign, rest = -1.0 if text[:1] == "-" else 1.0, text[text[:1] in ("+", "-"):]
    if rest == "0":
        return 0.0
    parts = _PART.findall(rest)
    if not parts or "".join(number + unit for number, unit in parts) != rest:
        return None
    seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
    return sign * seconds if seconds < _LONGEST else None
