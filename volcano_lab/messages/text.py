"""Text for one line of a terminal or a page: bounded, printable, lists cut short."""

import re
import unicodedata
from collections.abc import Iterable

MOST_CHARACTERS = 500
"""The longest sentence that is shown."""


def one_line(text: str, most: int = MOST_CHARACTERS) -> str:
    r"""Return text as one line of printable characters; a long one is cut in its middle.

    >>> one_line("a\nb\x1b[31m"), one_line("x" * 50 + "end", 20)
    ('a\\nb\\x1b[31m', 'xxxxxxxxxxx ... xend')
    """
    text = text if len(text) <= 2 * most else text[:most] + text[-most:]
    text = printable(text)
    return text if len(
        text) <= most else f"{text[:most * 3 // 5 - 1]} ... {text[4 - most * 2 // 5:]}"


def printable(text: str, kept: str = "") -> str:
    r"""Return text without control characters of a terminal, except those in `kept`.

    >>> printable("a\x1b[31m b\n", "\n")
    'a\\x1b[31m b\n'
    """
    return text if text.isprintable() else "".join(
        char if char.isprintable() or char in kept else ascii(char)[1:-1] for char in text)


def columns(text: str) -> int:
    """Return how many columns of a terminal a text takes; a Chinese character takes two.

    >>> columns("queue a"), columns("队列 a")
    (7, 6)
    """
    return len(text) + sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)


def listed(names: Iterable[str], most: int = 4) -> str:
    """List some names, and the number of the others.

    >>> listed(["n1", "n2", "n3"], 2)
    'n1, n2 and 1 more'
    """
    every = list(names)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def capped(sentences: list[str], alike: int = 5, most: int = 100) -> list[str]:
    """Return the sentences one line each; of those that differ in names and numbers only, `alike`.

    >>> capped([f"Pod p{number}: kind is null" for number in range(9)])[4:]
    ['Pod p4: kind is null', '4 more like it: kind is null']
    """
    shapes: dict[str, list[str]] = {}
    for sentence in sentences:
        about = sentence[:2 * MOST_CHARACTERS].partition(": ")
        shapes.setdefault(_NAMES.sub("", about[2] or about[0]), []).append(sentence)
    shown: list[str] = []
    for group in shapes.values():
        shown += map(one_line, group[:alike])
        if len(group) > alike:
            about = group[alike].partition(": ")
            shown.append(one_line(f"{len(group) - alike} more like it: {about[2] or about[0]}"))
    return shown if len(shown) <= most else [*shown[:most], f"{len(shown) - most} more problems"]


_NAMES = re.compile(r'"[^"]*"|\d+')
