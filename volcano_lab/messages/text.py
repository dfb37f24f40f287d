"""Text for one line of a terminal or a page: bounded, printable, lists cut short."""

import re
import unicodedata
from collections.abc import Sequence
from textwrap import TextWrapper
from typing import Any

from volcano_lab.messages.message import Message

MOST_CHARACTERS = 500
"""The longest sentence that is shown."""
CHINESE, CLOSING = "\u2e80-\u9fff（“", "，。；：！？、）」”"
_UNITS = re.compile(rf"[（“]*(?:(?:第 )?\d+ 个|[{CHINESE}]|[^\s{CHINESE}{CLOSING}]+|[{CLOSING}])"
                    rf"[{CLOSING}]*|\s+")
"""Between these a line may end: Chinese signs, words, spaces. A closing mark begins no line, and an
opening one ends none.
"""


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


def padded(text: str, width: int, right: bool = False) -> str:
    """Return a text filled with spaces to `width` columns, after it or, at the `right`, before it.

    >>> padded("队列", 6) + "|", padded("3", 3, right=True)
    ('队列  |', '  3')
    """
    gap = " " * (width - columns(text))
    return gap + text if right else text + gap


def wrapped(text: str, most: int, indent: str = "", first: str | None = None) -> str:
    r"""Return a sentence in lines, no word broken. A Chinese sign is two columns wide, and a line
    may end after it.

    >>> wrapped("queue a holds cpu 4", 12, "  ")
    '  queue a\n  holds cpu\n  4'
    >>> wrapped("队列 a 等待 cpu，因为集群已满。", 18)
    '队列 a 等待 cpu，\n因为集群已满。'
    >>> wrapped("队列 a 等待（cpu 已满）。", 14)
    '队列 a 等待\n（cpu 已满）。'
    """
    first, text = indent if first is None else first, printable(text, "\n")
    if text.isascii() or not re.search(f"[{CHINESE}]", text):  # the class takes long to compile
        return TextWrapper(max(most, 10), first, indent, break_long_words=False,
                           break_on_hyphens=False).fill(text)
    lines = [first]
    for piece in _UNITS.findall(text):
        if columns(lines[-1] + piece) > most and lines[-1].strip():
            lines.append(indent + piece.strip())
        else:
            lines[-1] += piece
    return "\n".join(map(str.rstrip, lines))


def capped(problems: Sequence[Message], alike: int = 5, most: int = 100) -> list[Message]:
    """Return the problems; of those that differ in places, names and numbers only, `alike`.

    >>> found = [Message("problem", place=f"Pod p{at}", what="kind is null") for at in range(9)]
    >>> [*map(str, capped(found))][4:]
    ['Pod p4: kind is null', '4 more like it: kind is null']
    """
    shapes: dict[Any, list[Message]] = {}
    for each in problems:
        shapes.setdefault(_shape(_what(each)), []).append(each)
    shown: list[tuple[Message, int]] = []  # a line, and how many problems it stands for
    for group in shapes.values():
        shown += [(each, 1) for each in group[:alike]]
        if (more := len(group) - alike) > 0:
            shown.append((Message("problem.alike", count=more, problem=_what(group[alike])), more))
    lines, left = [line for line, _ in shown[:most]], sum(count for _, count in shown[most:])
    return [*lines, Message("problem.more", count=left)] if left else lines


def _what(said: Message) -> Any:
    """Return what a message says of a place."""
    return said.facts.get("what", said)


def _shape(fact: Any) -> Any:
    """Return what a fact has in common with those that differ in quoted names and numbers."""
    if isinstance(fact, Message):
        return fact.code, *map(_shape, fact.facts.values())
    if isinstance(fact, list | tuple):
        return tuple(map(_shape, fact))
    return _NAMES.sub("", fact) if isinstance(fact, str) else type(fact)


_NAMES = re.compile(r'"[^"]*"|\d+')
