"""Display of results on a page: as text, Markdown and HTML, from the same parts.

A part is a sentence, or rows of a table. Texts are aligned left, numbers right.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from html import escape
from importlib import import_module
from typing import Any, Self

from volcano_lab.messages import NoSuch, columns, gettext, padded, speaking, spoken

Row = dict[str, Any]
Rows = Iterator[Row]
Part = str | list[Row]
MOST = 30
"""The most rows of a table in a result."""

NAMED = frozenset({"queue", "job", "pod", "node", "name", "plugin", "parent", "point",
                   "extension_point", "extension point"})
"""Columns of names, which are the same in every language."""


class Shown:
    """A result that notebooks, terminals and Markdown show readably; a subclass returns its parts.

    >>> class Day(Shown):
    ...     def _shown(self):
    ...         yield "A day has 24 hours."
    ...         yield [{"part": "night", "hours": 8}, {"part": "day", "hours": 16}]
    >>> print(Day())
    A day has 24 hours.
    <BLANKLINE>
    part   hours
    night      8
    day       16
    """

    __slots__ = ("_lang",)

    def in_language(self, lang: str | None) -> Self:
        """Show this result in a language, whatever the current one; None changes nothing.

        >>> from volcano_lab import Cluster
        >>> print(Cluster().lint(lang="zh"))
        0 个错误，0 个警告
        """
        if lang is not None:
            with speaking(lang):
                self._lang = lang
        return self

    @property
    def lang(self) -> str | None:
        """The language in which this is shown; None: the current one."""
        return getattr(self, "_lang", None)

    def _speaking(self) -> AbstractContextManager[None]:
        return speaking(self.lang or spoken())

    def _shown(self) -> Iterable[Part]:
        """Return the content: sentences and tables."""
        raise NotImplementedError

    def _frames(self) -> dict[str, list[dict[str, Any]]]:
        """Return the rows of each table in long form: no cell is a mapping with amounts of several
        resources.
        """
        return {}

    def frame(self, table: str = "") -> Any:
        """Return a table as a pandas DataFrame in long form, by default the first.

        Raises `ModuleNotFoundError` with a sentence where pandas is not installed.

        >>> from volcano_lab import Cluster
        >>> list(Cluster().node("n1", cpu=4).frame("nodes").columns)
        ['node', 'allocatable']
        """
        return import_module("volcano_lab").Table(self.rows_of(table))

    def rows_of(self, table: str = "") -> list[dict[str, Any]]:
        """Return the rows of a table in long form, by default the first."""
        frames = self._frames()
        if table and table not in frames:
            raise NoSuch("table.none", table=table, tables=[*frames])
        return frames[table] if table else next(iter(frames.values()), [])

    def __str__(self) -> str:
        with self._speaking():
            return "\n\n".join(plain_text(part) for part in self._shown() if part)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        with self._speaking():
            parts = [part for part in self._shown() if part]
            return {"text/plain": "\n\n".join(map(plain_text, parts)),
                    "text/markdown": "\n\n".join(map(markdown, parts)),
                    "text/html": "\n".join(map(html, parts))}


def plain_text(part: Part, translate: Callable[[str], str] = gettext) -> str:
    """Return a sentence, or a table with aligned columns, in the language of `translate`."""
    if isinstance(part, str):
        return translate(part)
    heads, rows, numbers = _table(part, translate)
    lines = [heads, *rows]
    widths = [max(columns(line[place]) for line in lines) for place in range(len(heads))]
    return "\n".join("  ".join(map(padded, line, widths, numbers)).rstrip() for line in lines)


def markdown(part: Part) -> str:
    r"""Return a sentence, or a table of Markdown; names and values are escaped.

    >>> print(markdown([{"queue": "a", "share": 0.5}]))
    | queue | share |
    |:---|---:|
    | a | 0.5 |
    >>> print(markdown("pod <b>[x](y)"))
    pod &lt;b>\[x\](y)
    """
    if isinstance(part, str):
        return _no_markup(gettext(part))
    heads, rows, numbers = _table(part)
    marks = "|".join("---:" if number else ":---" for number in numbers)
    lines = ["| " + " | ".join(_no_markup(cell) for cell in line) + " |" for line in [heads, *rows]]
    return "\n".join([lines[0], f"|{marks}|", *lines[1:]])


def _no_markup(text: str) -> str:
    """Return text without active tags, links or code of Markdown."""
    return _MARKS.sub(r"\\\1", text.replace("&", "&amp;").replace("<", "&lt;"))


_MARKS = re.compile(r"([\\`\[\]|])")


def html(part: Part) -> str:
    """Return a sentence as a paragraph, rows as a table."""
    return f"<p>{escape(gettext(part))}</p>" if isinstance(part, str) else html_table(*_table(part))


def html_table(heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[bool],
               named: int = 0) -> str:
    """Return a table of texts; the first `named` columns are headings of their rows.

    >>> print(html_table(["queue", "share"], [["a", "0.5"]], [False, True], 1))
    <table class="dataframe"><thead>
    <tr><th style="text-align: left">queue</th><th style="text-align: right">share</th></tr></thead>
    <tbody>
    <tr><th style="text-align: left">a</th><td style="text-align: right">0.5</td></tr>
    </tbody></table>
    """

    def line(cells: Iterable[str], headings: int) -> str:
        parts = []
        for place, (cell, number) in enumerate(zip(cells, numbers, strict=True)):
            tag, side = "th" if place < headings else "td", "right" if number else "left"
            parts.append(f'<{tag} style="text-align: {side}">{escape(cell)}</{tag}>')
        return f"<tr>{''.join(parts)}</tr>"

    body = "\n".join(line(row, named) for row in rows)
    return (f'<table class="dataframe"><thead>\n{line(heads, len(heads))}</thead>\n'
            f"<tbody>\n{body}\n</tbody></table>")


def image(svg: str, words: str, attributes: str = "") -> str:
    """Return a picture as HTML that every notebook page shows, with its alternative text.

    >>> image("<svg/>", 'a "b"')
    '<img alt="a &quot;b&quot;" style="max-width: 100%" src="data:image/svg+xml;base64,PHN2Zy8+">'
    """
    return (f'<img {attributes}alt="{escape(words)}" style="max-width: 100%" '
            f'src="data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}">')


def cell_text(value: Any, translate: Callable[[str], str] = gettext) -> str:
    """Return a value for a reader: yes and no, no default namespace, "" for nothing.

    >>> [cell_text(value) for value in (True, None, 1 / 3, "default/a-0", ["x", "y"])]
    ['yes', '', '0.333333', 'a-0', 'x, y']
    """
    if isinstance(value, bool):
        return translate("yes" if value else "no")
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return ", ".join(cell_text(part, translate) for part in value)
    return translate(str(value).removeprefix("default/"))


def _table(rows: Sequence[Row], translate: Callable[[str], str] = gettext
           ) -> tuple[list[str], list[list[str]], list[bool]]:
    names = list(dict.fromkeys(name for row in rows for name in row))
    shown = [[cell_text(row.get(name), str if name in NAMED else translate) for name in names]
             for row in rows[:MOST]]
    numbers = [all(isinstance(row.get(name), int | float | None)
                   and not isinstance(row.get(name), bool) for row in rows) for name in names]
    if len(rows) > MOST:
        shown.append([gettext("{count} more", count=len(rows) - MOST), *[""] * (len(names) - 1)])
    return [translate(name.replace("_", " ")) for name in names], shown, numbers
