r"""Regular expressions of Go (RE2's syntax), matched in time linear in the text.

Python parses the pattern, but does not match it: its matcher backtracks, so that `(a+)+$` never
finishes on a name of 30 letters. Here a pattern becomes an automaton without backtracking
(Thompson's), whose sets of states are computed once and cached. Differs on purpose: at most 1,000
states; flags are allowed at the start of the pattern or in a group only; Unicode classes (`\pL`)
are refused, since names of nodes are ASCII.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any, Literal

op, parser = import_module("re._constants"), import_module("re._parser")

MOST_STATES = MOST_REPEATS = MOST_CHARACTERS = 1_000
MOST_REMEMBERED = 20_000

_CLASSES = {"alnum": "0-9A-Za-z", "alpha": "A-Za-z", "ascii": r"\x00-\x7f", "blank": r"\t ",
            "cntrl": r"\x00-\x1f\x7f", "digit": "0-9", "graph": "!-~", "lower": "a-z",
            "print": " -~", "punct": r"!-/:-@\[-`{-~", "space": r"\t\n\v\f\r ", "upper": "A-Z",
            "word": "0-9A-Za-z_", "xdigit": "0-9A-Fa-f"}
_REWRITTEN = re.compile(
    r"\\Q(?P<quoted>.*?)(?:\\E|$)|\[:(?P<cls>\^?[a-z]+):\]|\\x\{(?P<hex>[0-9A-Fa-f]{1,6})\}"
    r"|(?P<escape>\\.)|(?P<name>\(\?<(?![=!]))|\{(?=,)"
    r"|(?P<flags>\(\?[ims]*U[imsU]*[:)])|(?P<foreign>\(\?(?:<?[=!]|[(>#]|P=|-?[imsU]*[axLu]))",
    re.DOTALL)

States = frozenset[int]
Test = Callable[[str], bool]
Border = Callable[[str, str], bool]
"""Whether there is a boundary between a character and the next ("" at the ends)."""


class Pattern:
    """A compiled pattern. State 0 is the match; a state has its next states, the boundary that it
    requires, and the test of the character that it consumes first.

    Raises `ValueError` with one sentence.

    >>> Pattern("^node-[[:digit:]]+$").search("node-12"), Pattern("(a+)+$").search("a" * 1000 + "!")
    (True, False)
    >>> Pattern("(?=a)")
    Traceback (most recent call last):
        ...
    ValueError: "(?=a)" is no regular expression of Go: "(?=" is not supported
    """

    def __init__(self, pattern: str):
        self._states: list[tuple[list[int], Border | None, Test | None]] = [([], None, None)]
        self._known: dict[tuple[States, str, str], States | Literal[True]] = {}
        try:
            if len(pattern) > MOST_CHARACTERS:
                raise ValueError(f"it has more than {MOST_CHARACTERS:,} characters")
            tree = parser.parse(_REWRITTEN.sub(_rewritten, pattern), re.ASCII)
            self._start = self._sequence(tree, 0, tree.state.flags)
        except (ValueError, re.error, RecursionError, OverflowError) as error:
            shown = (pattern if pattern.isprintable() else ascii(pattern)[1:-1])[:200]
            raise ValueError(f'"{shown}" is no regular expression of Go: {error}') from None
        self._looks = any(border for _, border, _ in self._states)

    def search(self, text: str) -> bool:
        """Return whether the pattern matches anywhere in the text."""
        states, before = frozenset([self._start]), ""
        for char in (*text, ""):
            key = states, before if self._looks else "", char
            after = self._known.get(key)
            if after is None:
                if len(self._known) >= MOST_REMEMBERED:
                    self._known.clear()
                after = self._known[key] = self._following(states, before, char)
            if after is True:
                return True
            states, before = after, char
        return False

    def _following(self, states: States, before: str, char: str) -> States | Literal[True]:
        """Return the states after a character; True where the match is reached before it."""
        found, waiting, seen = {self._start}, list(states), set(states)
        while waiting:
            if (number := waiting.pop()) == 0:
                return True
            leads, border, takes = self._states[number]
            if takes is not None:
                found.update(leads if char and takes(char) else ())
            elif border is None or border(before, char):
                waiting += [state for state in leads if state not in seen]
                seen.update(leads)
        return frozenset(found)

    # -- building, from the end: each method returns the first state of a part -------------------

    def _new(self, leads: list[int], border: Border | None = None, takes: Test | None = None
             ) -> int:
        if len(self._states) >= MOST_STATES:
            raise ValueError(f"it expands to more than {MOST_STATES:,} states")
        self._states.append((leads, border, takes))
        return len(self._states) - 1

    def _sequence(self, parts: Any, after: int, flags: int) -> int:
        for kind, value in reversed(list(parts)):
            after = self._part(kind, value, after, flags)
        return after

    def _part(self, kind: Any, value: Any, after: int, flags: int) -> int:
        if kind is op.SUBPATTERN:
            _, added, removed, inside = value
            return self._sequence(inside, after, (flags | added) & ~removed)
        if kind is op.BRANCH:
            return self._new([self._sequence(part, after, flags) for part in value[1]])
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT):
            least, most, inside = value
            return self._repeat(least, most, inside, after, flags)
        if kind is op.AT:
            name = f"{value}{'_M' if flags & re.MULTILINE else ''}"
            return self._new([after], _BORDERS.get(name) or _BORDERS[f"{value}"])
        return self._new([after], takes=_test(kind, value, flags))

    def _repeat(self, least: int, most: int, part: Any, after: int, flags: int) -> int:
        if least > MOST_REPEATS or (most is not op.MAXREPEAT and most > MOST_REPEATS):
            raise ValueError(f"invalid repeat count above {MOST_REPEATS:,}")
        end = after
        if most is op.MAXREPEAT:
            after = self._new([end])
            self._states[after][0].append(self._sequence(part, after, flags))
        else:
            for _ in range(most - least):
                after = self._new([self._sequence(part, after, flags), end])
        for _ in range(least):
            after = self._sequence(part, after, flags)
        return after


compile_pattern = lru_cache(maxsize=1024)(Pattern)


def _rewritten(found: re.Match[str]) -> str:
    """Return Python's notation for Go's syntax. Raises `ValueError` for what Go does not have."""
    if found["quoted"] is not None:
        return re.escape(found["quoted"])
    if (name := (found["cls"] or "").removeprefix("^")) in _CLASSES:
        inside = re.compile(f"[{_CLASSES[name]}]").match
        others = [re.escape(chr(code)) for code in range(128) if not inside(chr(code))]
        return "".join(others) + "\x80-\U0010ffff" if "^" in found["cls"] else _CLASSES[name]
    if found["hex"]:
        return re.escape(chr(int(found["hex"], 16)))
    if found["flags"]:
        return found["flags"].replace("U", "").replace("(?)", "")
    if found["cls"] or found["foreign"] or (found[0][0] == "\\" and found[0][1] in "123456789ZuUN"):
        raise ValueError(f'"{found[0]}" is not supported')
    return {r"\z": r"\Z", "(?<": "(?P<", "{": r"\{"}.get(found[0], found[0])


def _test(kind: Any, value: Any, flags: int) -> Test:
    """Return the test of one character. Raises `ValueError` for what Go does not have."""
    if kind is op.ANY:
        return lambda char: char != "\n" or bool(flags & re.DOTALL)
    if kind not in (op.LITERAL, op.NOT_LITERAL, op.IN):
        raise ValueError(f"{str(kind).lower().replace('_', ' ')} is not supported")
    negated = kind is op.NOT_LITERAL or (kind is op.IN and value[0][0] is op.NEGATE)
    tests = [_item(*item) for item in (value[negated:] if kind is op.IN else [(op.LITERAL, value)])]
    forms = (str, str.lower, str.upper) if flags & re.IGNORECASE else (str,)
    return lambda char: negated != any(test(form(char)) for test in tests for form in forms)


def _item(kind: Any, value: Any) -> Test:
    """Return the test of one item of a class."""
    if kind is op.CATEGORY:
        letter = {"DIGIT": "d", "SPACE": "s", "WORD": "w"}[f"{value}".rpartition("_")[2]]
        match = re.compile(f"\\{letter.upper() if 'NOT' in f'{value}' else letter}", re.ASCII).match
        return lambda char: match(char) is not None
    low, high = value if kind is op.RANGE else (value, value)
    return lambda char: len(char) == 1 and low <= ord(char) <= high


def _at_word(before: str, behind: str) -> bool:
    word = re.compile(r"\w", re.ASCII).match
    return (word(before) is None) != (word(behind) is None)


_BORDERS: dict[str, Border] = {
    **dict.fromkeys(("AT_BEGINNING", "AT_BEGINNING_STRING"), lambda before, behind: before == ""),
    **dict.fromkeys(("AT_END", "AT_END_STRING"), lambda before, behind: behind == ""),
    "AT_BEGINNING_M": lambda before, behind: before in ("", "\n"),
    "AT_END_M": lambda before, behind: behind in ("", "\n"), "AT_BOUNDARY": _at_word,
    "AT_NON_BOUNDARY": lambda before, behind: not _at_word(before, behind)}
