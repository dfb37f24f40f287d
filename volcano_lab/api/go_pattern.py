"""Regular expressions as Go reads them (RE2), for Python's `re`.

Answers to Go's package `regexp` as far as HyperNode members need it. The syntaxes agree but for a few things, and only
those are handled: classes such as `[[:digit:]]`, `\\z`, `\\Q...\\E`; what RE2 doesn't know (looking around, back
references) is refused, as it is there. Not handled: Unicode classes (`\\pL`), since names of nodes are plain ASCII.
"""

from __future__ import annotations

import re
from functools import lru_cache

_CLASSES = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "ascii": r"\x00-\x7f", "blank": r"\t ", "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9", "graph": "!-~", "lower": "a-z", "print": " -~", "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ", "upper": "A-Z", "word": "0-9A-Za-z_", "xdigit": "0-9A-Fa-f",
}
_REWRITTEN = re.compile(
    r"\\Q(?P<quoted>.*?)(?:\\E|$)|\[:(?P<cls>\^?[a-z]+):\]|(?P<escape>\\.)|(?P<name>\(\?<(?![=!]))|(?P<foreign>\(\?(?:<?[=!]|[(>#]|P=))"
)


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """A Go pattern, compiled; search with it, as Go's `MatchString` does. Raises `ValueError` with one sentence.

    >>> bool(compile_pattern("^node-[[:digit:]]+$").search("node-12")), bool(compile_pattern("b.d").search("abcd"))
    (True, True)
    >>> compile_pattern("(?=a)")
    Traceback (most recent call last):
        ...
    ValueError: "(?=a)" is no regular expression of Go: "(?=" is not supported
    """

    def rewrite(found: re.Match[str]) -> str:
        if found["quoted"] is not None:
            return re.escape(found["quoted"])
        if found["cls"] in _CLASSES:
            return _CLASSES[found["cls"]]
        if found["cls"] or found["foreign"] or found[0][1] in "123456789Z":
            raise ValueError(f'"{pattern}" is no regular expression of Go: "{found[0]}" is not supported')
        return {r"\z": r"\Z", "(?<": "(?P<"}.get(found[0], found[0])

    rewritten = _REWRITTEN.sub(rewrite, pattern)
    try:
        return re.compile(rewritten, re.ASCII)
    except re.error as error:
        raise ValueError(f'"{pattern}" is no regular expression of Go: {error}') from None
