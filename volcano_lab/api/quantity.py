"""Kubernetes quantities: `100m`, `1.5Gi`, `1e3`, `2M`.

A quantity is a number of nano units (finer parts round up, away from zero), binary ones at most
2**63 - 1. `value` and `milli_value` round up and, like Kubernetes, overflow 64 bits silently: the
result wraps around or is 0, depending on its representation. Differs on purpose: text without any
digit (`Ki`, `.`), which Kubernetes parses as 0, and exponents beyond 308 are refused; negative
numbers always round away from zero; beyond `E`, canonical text continues as `e21`.

Volcano: k8s.io/apimachinery/pkg/api/resource (quantity.go, suffix.go, amount.go)
"""

import re
from fractions import Fraction
from functools import lru_cache

NANO = 10**9
DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
SUFFIXES = ", ".join(filter(None, (*DECIMAL, *BINARY)))
ALLOWED = f"a number with one of the suffixes {SUFFIXES}, or an exponent such as e3"

_SYNTAX = re.compile(
    r"([+-]?)(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?(?:([eE][+-]?[0-9]+)|([numkMGTPE]|[KMGTPE]i)?)")
_MAX_INT64 = 2**63 - 1
_MAX_EXPONENT = 308
_MAX_LENGTH = 400
_INT64_DIGITS = 18
_WRAPS = (None, 1, 2, 3, 6, 9)
"""Kubernetes multiplies by these powers of ten at once (and wraps), by others step by step (and
returns 0 on overflow).
"""


class QuantityError(ValueError):
    """The text is no quantity.

    >>> value("12 cores")
    Traceback (most recent call last):
    ...
    volcano_lab.api.quantity.QuantityError: "12 cores" is not a quantity; allowed is a number with
    one of the suffixes n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei, or an exponent such as e3
    """

    def __init__(self, text: object) -> None:
        super().__init__(f'"{str(text)[:100]}" is not a quantity; allowed is {ALLOWED}')


def parse(text: str) -> Fraction:
    """Return the exact number of the text. Raises `QuantityError`.

    >>> parse("1.5Ki"), parse("100m")
    (Fraction(1536, 1), Fraction(1, 10))
    """
    return Fraction(_parse(text)[0], NANO)


def check(text: str) -> None:
    """Raise `QuantityError` unless the text is a quantity.

    >>> check("2Gi")
    """
    if not isinstance(text, str):
        raise QuantityError(text)
    _parse(text)


def value(text: str) -> int:
    """Return whole units, rounded up: bytes of memory, pieces of a device.

    >>> value("1.5Gi"), value("100m"), value("1e3")
    (1610612736, 1, 1000)
    """
    return _scaled(text, NANO)


def milli_value(text: str) -> int:
    """Return thousandths, rounded up: millicores.

    >>> milli_value("2"), milli_value("100m"), milli_value("1u")
    (2000, 100, 1)
    """
    return _scaled(text, NANO // 1000)


def style_of(text: str) -> str:
    """Return Kubernetes' style of this quantity: DecimalSI, BinarySI or DecimalExponent.

    >>> style_of("1Gi"), style_of("2"), style_of("1e3")
    ('BinarySI', 'DecimalSI', 'DecimalExponent')
    """
    return _parse(text)[1]


def to_text(number: int | float | Fraction, style: str = "DecimalSI") -> str:
    """Return a number as a quantity, in the style DecimalSI, BinarySI or DecimalExponent.

    BinarySI is used only for integers of at least 1024, as in Kubernetes.

    >>> to_text(1536 * 1024**2, "BinarySI"), to_text(0.25), to_text(12_000_000, "DecimalExponent")
    ('1536Mi', '250m', '12e6')
    """
    nano = _round_up(Fraction(number) * NANO)
    if nano == 0:
        return "0"
    if style == "BinarySI" and abs(nano) >= 1024 * NANO and nano % NANO == 0:
        amount, thousands = _strip(nano // NANO, 1024)
        thousands_left = max(0, thousands - len(BINARY))
        suffix = ["", *BINARY][thousands - thousands_left]
        return f"{amount * 1024**thousands_left}{suffix}"
    amount, thousands = _strip(nano, 1000)
    exponent = 3 * thousands - 9
    if style == "DecimalExponent" or exponent > 18:
        return f"{amount}e{exponent}" if exponent else f"{amount}"
    return f"{amount}{next(suffix for suffix, power in DECIMAL.items() if power == exponent)}"


@lru_cache(maxsize=1 << 16)
def _scaled(text: str, unit: int) -> int:
    nano, _, scale = _parse(text)
    result = _round_up(Fraction(nano, unit))
    if -_MAX_INT64 - 1 <= result <= _MAX_INT64:
        return result
    zeros = None if scale is None else scale + (0 if unit == NANO else 3)
    return (result + 2**63) % 2**64 - 2**63 if zeros in _WRAPS else 0


@lru_cache(maxsize=1 << 16)
def _parse(text: str) -> tuple[int, str, int | None]:
    """Return nano units, style, and the power of ten beside Kubernetes' 64-bit number (None: it
    keeps a big number).
    """
    match = _SYNTAX.fullmatch(text.strip()) if len(text) <= _MAX_LENGTH else None
    if match is None:
        raise QuantityError(text)
    sign, whole, fraction, exponent_text, suffix = match.groups()
    whole, fraction, suffix = whole.lstrip("0") or "0", fraction or "", suffix or ""
    exponent = int(exponent_text[1:]) if exponent_text else DECIMAL.get(suffix, 0)
    if abs(exponent) > _MAX_EXPONENT:
        raise QuantityError(text)

    number = Fraction(int(whole + fraction), 10 ** len(fraction))
    if suffix in BINARY:
        style = "BinarySI"
        number *= 2 ** BINARY[suffix]
        scale = 0 if not fraction and len(whole) + BINARY[suffix] * 3 // 10 < 15 else None
        number = min(number, Fraction(_MAX_INT64))
    else:
        style = "DecimalExponent" if exponent_text else "DecimalSI"
        number *= Fraction(10) ** exponent
        scale = exponent - len(fraction)
        if len(whole) + len(fraction) > _INT64_DIGITS or scale < -9:
            scale = None
    nano = _round_up(number * NANO)
    return (-nano if sign == "-" else nano), style, scale


def _round_up(number: Fraction) -> int:
    """Return the nearest integer away from zero."""
    magnitude = -(-abs(number.numerator) // number.denominator)
    return magnitude if number >= 0 else -magnitude


def _strip(number: int, base: int) -> tuple[int, int]:
    """Return the number without its factors of `base`, and how many there were."""
    count = 0
    while number % base == 0:
        number //= base
        count += 1
    return number, count
