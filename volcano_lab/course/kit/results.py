"""Results for readers: a small table, bars, a finding.

They follow light and dark pages, and are text where there is no page; tables and findings need
neither pandas nor a script.
"""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from attrs import define

from volcano_lab.course.kit.markup import BLUE, FONT, GREEN, INK, LINE, RED, html, plain
from volcano_lab.course.kit.values import as_text
from volcano_lab.messages import ENGLISH, Said, gettext, spoken
from volcano_lab.trace.palette import COLORS, colors_of
from volcano_lab.widgets import facts, pictures
from volcano_lab.widgets.story import counted

NAMES = frozenset({"plugin", "question", "point", "extension point"})
"""Headings of columns whose single words are names in every language."""

COLOURS = {"red": RED, "green": GREEN, "blue": BLUE}
"""Names of colours."""


@define(frozen=True, slots=True, repr=False)
class Finding:
    """One or more sentences to remember, with markup.

    >>> finding("A weight is **not** a number of CPUs.")
    A weight is not a number of CPUs.
    """

    text: str

    def __repr__(self) -> str:
        return plain(self.text)

    def _repr_html_(self) -> str:
        return (f'<p style="color: {INK}; font-family: {FONT}; line-height: 1.5; margin: 6px 0">'
                f"{html(self.text)}</p>")


def finding(text: Said, **facts: Any) -> Finding:
    """Return a sentence to remember, translated before facts are filled in.

    >>> finding("Queue **{queue}** deserves {deserved}.", queue="a", deserved=28.0)
    Queue a deserves 28.
    """
    return Finding(gettext(str(text), **facts))


class Printed(str):
    """What a command prints; its lines are not broken."""

    __repr__ = str.__str__

    def _repr_html_(self) -> str:
        style = "white-space: pre; word-break: normal; overflow-x: auto; font: 14px monospace"
        return f'<pre style="{style}">{escape(self)}</pre>'


@define(frozen=True, slots=True, repr=False)
class Table:
    """Headings, rows of texts, and which columns are numbers."""

    headings: list[str]
    rows: list[list[str]]
    numbers: list[bool]
    caption: str = ""

    def __repr__(self) -> str:
        lines = [self.headings, *self.rows]
        widths = [max(len(plain(line[place])) for line in lines)
                  for place in range(len(self.headings))]
        texts = ["  ".join(plain(cell).rjust(width) if number else plain(cell).ljust(width)
                           for cell, width, number in zip(line, widths, self.numbers, strict=True))
                 for line in lines]
        return "\n".join(text.rstrip() for text in [self.caption, *texts] if text)

    def _repr_html_(self) -> str:
        head = "".join(self._cell("th", *cell) for cell in zip(self.headings, self.numbers,
                                                               strict=True))
        names = [heading in NAMES for heading in self.headings]
        body = "".join("<tr>" + "".join(self._cell("td", *cell) for cell in zip(
            row, self.numbers, names, strict=True)) + "</tr>" for row in self.rows)
        caption = (f'<caption style="text-align: left; padding: 2px 0; font-weight: bold">'
                   f"{html(self.caption)}</caption>" if self.caption else "")
        return (f'<table style="border-collapse: collapse; margin: 6px 0; color: {INK}; '
                f'font-family: {FONT}; font-variant-numeric: tabular-nums">{caption}'
                f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")

    @staticmethod
    def _cell(tag: str, text: str, number: bool, name: bool = False) -> str:
        style = (f"border-bottom: 1px solid {LINE}; padding: 4px 12px 4px 0; vertical-align: top; "
                 f"text-align: {'right' if number else 'left'}")
        scope = ' scope="col"' if tag == "th" else ""
        if scope and spoken() != ENGLISH:
            style += "; word-break: keep-all"  # a browser parts Chinese words anywhere
        inner = escape(text, quote=False) if name and text.isidentifier() else html(text)
        return f'<{tag}{scope} style="{style}">{inner}</{tag}>'


def table(rows: Any, columns: Mapping[str, str] | Iterable[str] = (), caption: str = "",
          **facts: Any) -> Table:
    """Return a small table: texts at the left, numbers at the right, 6 for 6.0, yes for True.

    Args:
        rows: Dicts, or a pandas table, whose index is the first column if it has a name.
        columns: The columns to show, in order; a mapping gives them headings.
        caption: The subject of the table; `facts` are filled in as in a finding.

    >>> print(table([{"queue": "a", "deserved": 28.0, "overused": True}], ["queue", "deserved"]))
    queue  deserved
    a            28
    """
    if hasattr(rows, "to_dict"):
        named = any(name is not None for name in rows.index.names)
        rows = (rows.reset_index() if named else rows).to_dict("records")
    rows = list(rows)
    given = dict(columns) if isinstance(columns, Mapping) else {name: name for name in columns}
    names = given or {name: _sized(str(name).replace("_", " ")) for row in rows[:1] for name in row}
    cells = [[row.get(name) for name in names] for row in rows]
    numbers = [all(_is_amount(line[place]) for line in cells) for place in range(len(names))]
    return Table(list(names.values()), [list(map(as_text, line)) for line in cells], numbers,
                 gettext(caption, **facts) if caption else "")


def _sized(name: str) -> str:
    """Return a name; one that is an amount, such as "4 nodes", in the current language."""
    amount, _, unit = name.partition(" ")
    return counted(int(amount), unit) if amount.isdecimal() else name


def _is_amount(value: Any) -> bool:
    return value is None or (hasattr(value, "__float__") and not type(value).__name__.startswith(
        "bool"))


def bars(values: Mapping[str, float], was: Mapping[str, float] | None = None, unit: str = "",
         title: str = "", line: str = "", color: str = "") -> pictures.Picture:
    """Draw a bar for each name.

    Args:
        values: Name -> amount.
        was: Name -> amount before a change; drawn as a line where it differs.
        unit: The unit, such as "CPUs".
        title: The subject of the bars.
        line: The meaning of the line, if the amounts are not from before.
        color: The colour of all bars, where they are sizes of one thing.

    >>> bars({"a": 24, "b": 46.0}, was={"a": 28, "b": 46}, unit="CPUs", title="Deserved").alt
    'Deserved. a: 24 now, 28 was (CPUs). b: 46 now (CPUs).'
    """
    colors = colors_of(values)
    if COLOURS.keys() & colors.keys():
        colors = dict.fromkeys(colors, COLORS[-1]) | COLOURS
    elif color or all(str(name)[:1].isdigit() for name in colors):
        colors = dict.fromkeys(colors, color or COLORS[0])  # sizes of one thing
    before = was or {}
    rows = [{"name": _sized(str(name)), "color": colors[name], "held": facts.plain(value),
             "limit": facts.plain(before[name]) if before.get(name, value) != value else None}
            for name, value in values.items()]
    return pictures.bars(title, rows, unit=unit if was else "",
                         words={"held": unit if line or not was else "now",
                                "limit": line or "was"})
