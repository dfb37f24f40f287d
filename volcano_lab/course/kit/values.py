"""Parse values that readers type, and format values for readers."""

import re
from collections.abc import Mapping
from typing import Any

from volcano_lab.messages import gettext

NUMBER = re.compile(r"([-+]?)(\d[\d ]*(?:[.,]\d+)*|\.\d+)(e[-+]?\d+)?")
THOUSANDS = re.compile(r"[1-9]\d{0,2}(,\d{3})+(\.\d+)?")


HALF_WIDTH = {sign: sign - 0xFEE0 for sign in range(0xFF01, 0xFF5F)} | {ord("、"): ","}
"""Characters of a Chinese keyboard -> the ASCII sign."""


def read_number(text: object) -> float:
    r"""Parse a number in common notations: with a comma, as a fraction, in per cent, with its unit.

    >>> [read_number(text) for text in ("28", "0,5", "1/2", "50 %", "1,000", "10 000", "12 CPUs")]
    [28.0, 0.5, 0.5, 0.5, 1000.0, 10000.0, 12.0]
    >>> read_number("\uff11\uff12 个")
    12.0

    Raises:
        ValueError: The text is not a number.
    """
    words = str(text).translate(HALF_WIDTH).replace("\u2212", "-").replace("\u00a0", " ").strip()
    percent = words.endswith("%")
    words = re.sub(r"\s*(%|(?<=[\d\s])(?:[A-Za-z]{2,}|个.*))$", "", words)
    parts = [_decimal(part.strip()) for part in words.split("/")]
    if len(parts) > 2 or (len(parts) == 2 and not parts[1]):
        raise ValueError(gettext("{text} is not a number", text=text))
    return (parts[0] / parts[1] if len(parts) == 2 else parts[0]) / (100 if percent else 1)


def _decimal(text: str) -> float:
    if not NUMBER.fullmatch(text.lower()):
        raise ValueError(gettext("{text} is not a number", text=text))
    text = text.replace(" ", "")
    return float(text.replace(",", "") if THOUSANDS.fullmatch(text) else text.replace(",", "."))


def as_text(value: Any) -> str:
    """Format a value for readers.

    >>> [as_text(value) for value in (6.0, 0.42857, True, None, "default/train", ["a", "b"])]
    ['6', '0.4286', 'yes', '–', 'train', 'a, b']
    >>> as_text({"rack-1": 2.0, "rack-2": 1}), as_text(12000)
    ('rack-1 2, rack-2 1', '12,000')
    """
    if value is None or value != value:
        return "–"
    if type(value).__name__ in ("bool", "bool_"):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{as_text(name)} {as_text(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(map(as_text, sorted(value) if isinstance(value, set) else value))
    if hasattr(value, "__float__"):
        number = float(value)
        if abs(number) < 1e15 and number == int(number):
            return f"{int(number):,}" if abs(number) >= 10_000 else str(int(number))
        return f"{number:.4g}"
    return str(value).removeprefix("default/")


def same(given: object, truth: object) -> bool:
    """Return whether an answer is true: as numbers, also rounded to two decimals or more, or words.

    >>> same("1/3", 0.3333), same("0.33", 1 / 3), same("40 %", 40), same("Queue B ", "queue b")
    (True, True, True, True)
    >>> same("0.3", 1 / 3), same("28", 28.4)
    (False, False)
    """
    if str(given).strip().casefold() == str(truth).strip().casefold():
        return True
    try:
        found, true = read_number(given), read_number(truth)
    except ValueError:
        return False
    decimals = len(str(given).replace(",", ".").partition(".")[2])
    near = 0.5 * 10**-decimals if decimals > 1 else 0
    near = 1e-3 * abs(true) if "/" in str(given) else near
    return any(abs(number - true) <= near + 1e-9
               for number in ([found, found * 100] if "%" in str(given) else [found]))
