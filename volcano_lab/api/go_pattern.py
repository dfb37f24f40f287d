r"""Regular expressions of Go (RE2's syntax), as HyperNodes have them in `regexMatch`.

The package `regex` matches them. It backtracks where RE2 does not, so each search has a time limit.
What Go lacks is refused. Differs on purpose: a pattern that exceeds the limit is refused where RE2
would match it; the limit of nested repeats is our own; `\d`, `\w` and `\b` know ASCII only, of
which names of nodes consist.
"""

import re
from functools import lru_cache

MOST_REPEATS = MOST_CHARACTERS = 1_000
MOST_EXPANDED = 10_000
"""The most characters that a pattern stands for with its counted repeats written out."""
SECONDS = 1.0
"""The time limit of one search."""

_PARTS = re.compile(r"""
    \\Q (?P<quoted> .*?) (?: \\E | $)
    | (?P<set> \[ \^? \]? (?: \[:\^?\w+:\] | \\x\{\w+\} | \\. | [^]\\] )* \])
    | \\x\{ (?P<hex> [0-9A-Fa-f]{1,6}) \}
    | (?P<end> \\z)
    | (?P<foreign> \\ (?! [0abfnrtvxABzdDsSwWpP] | [1-7][0-7] | [^0-9A-Za-z] )
        | \(\? (?! P?<\w+> | [imsU]*(?:-[imsU]+)?[:)] )
        | (?: [*+?] | \{\d+(?:,\d*)?\} ) \+ )
    | \\.
    | \(\?P?< (?P<name> \w+) >
    | \{ (?P<least> \d+) (?: , (?P<most> \d*) )? \}
    | (?P<brace> \{)
    | (?P<flags> \(\?[imsU-]+[:)])
    | .
    """, re.VERBOSE | re.DOTALL)


class Pattern:
    """A compiled pattern. Raises `ValueError` with one sentence.

    >>> Pattern("^node-[[:digit:]]+$").search("node-12")
    True
    >>> Pattern("(?=a)")
    Traceback (most recent call last):
        ...
    ValueError: "(?=a)" is no regular expression of Go: "(?" is not supported
    """

    def __init__(self, pattern: str):
        import regex  # compiled, and few clusters need it

        self._names: set[str] = set()
        self._lengths, self._last = [0], 0  # of the groups that are open, of the last part
        self._shown = (pattern if pattern.isprintable() else ascii(pattern)[1:-1])[:200]
        self._too_slow = ""
        try:
            if len(pattern) > MOST_CHARACTERS:
                raise ValueError(f"it has more than {MOST_CHARACTERS:,} characters")
            self._search = regex.compile(_PARTS.sub(self._rewritten, pattern), regex.ASCII).search
        except (ValueError, regex.error, RecursionError, OverflowError) as error:
            raise ValueError(f'"{self._shown}" is no regular expression of Go: {error}') from None

    def search(self, text: str) -> bool:
        """Return whether the pattern matches anywhere in the text.

        Raises `ValueError` where that exceeds the time limit, from then on for each text.
        """
        if not self._too_slow:
            try:
                return self._search(text, timeout=SECONDS) is not None
            except TimeoutError:
                self._too_slow = (f'"{self._shown}" takes more than {SECONDS:g} s to match '
                                  f'"{text[:63]}"')
        raise ValueError(self._too_slow)

    def _rewritten(self, part: re.Match[str]) -> str:
        """Return what `regex` writes for Go's syntax. Raises `ValueError` for what Go lacks."""
        found = part[0]
        if part["foreign"]:
            raise ValueError(f'"{found}" is not supported')
        if part["name"]:
            if part["name"] in self._names:
                raise ValueError(f'the name "{part["name"]}" is given twice')
            self._names.add(part["name"])
        self._expand(found, max(int(part["least"] or 0), int(part["most"] or 0)))
        if part["quoted"] is not None:
            return re.escape(part["quoted"])
        if part["set"] or part["hex"]:
            return re.sub(r"\\x\{([0-9A-Fa-f]{1,6})\}",
                          lambda code: re.escape(chr(int(code[1], 16))), found)
        if part["flags"]:
            return found.replace("U", "").replace("(?)", "").replace("-)", ")").replace("-:", ":")
        return {r"\z": r"\Z", "{": r"\{"}.get(found, found)

    def _expand(self, part: str, repeats: int) -> None:
        """Add a part to the length of its group. Raises `ValueError` above the limits."""
        if part[0] == "(" and part[-1] != ")":
            self._lengths.append(0)
            return
        if repeats > MOST_REPEATS:
            raise ValueError(f"invalid repeat count above {MOST_REPEATS:,}")
        if repeats:
            self._last *= repeats - 1  # the part before it stands there once already
        elif part == ")" and len(self._lengths) > 1:
            self._last = self._lengths.pop()
        else:
            self._last = 1
        self._lengths[-1] += self._last
        if self._lengths[-1] > MOST_EXPANDED:
            raise ValueError(f"its repeats stand for more than {MOST_EXPANDED:,} characters")


compile_pattern = lru_cache(maxsize=1024)(Pattern)
