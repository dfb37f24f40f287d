"""Results for readers: a small table, bars, a finding.

They need neither pandas nor a script, follow light and dark pages, and are text where there is no
page.
"""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from attrs import define

from volcano_lab.course.kit.markup import BLUE, FONT, GREEN, INK, LINE, RED, html, plain
from volcano_lab.course.kit.values import as_text
from volcano_lab.messages import ENGLISH, gettext, mark, spoken
from volcano_lab.messages.text import columns
from volcano_lab.trace.palette import COLORS, colors_of
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


def finding(text: str, **facts: Any) -> Finding:
    """Return a sentence to remember, translated before facts are filled in.

    >>> finding("Queue **{queue}** deserves {deserved}.", queue="a", deserved=28.0)
    Queue a deserves 28.
    """
    return Finding(gettext(text, **facts))


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
    names = given or {name: _sized(str(name).replace("_", " "))
                      for row in rows[:1] for name in row}
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


@define(frozen=True, slots=True, repr=False)
class Bars:
    """A bar for each name, with its previous amount as a dashed line."""

    values: dict[str, float]
    was: dict[str, float]
    unit: str
    title: str
    dashed: str = "was"

    def __repr__(self) -> str:
        bars = mark("; ").join(f"{gettext(name)} {self._label(name)}" for name in self.values)
        return f"{gettext(self.title)}{mark(': ')}{bars}" if self.title else bars

    def _label(self, name: str) -> str:
        value, before = self.values[name], self.was.get(name, self.values[name])
        amount = counted(value, self.unit, as_text(value))
        return amount if before == value else gettext(
            "{amount} ({dashed} {before})", amount=amount, dashed=gettext(self.dashed),
            before=as_text(before))

    def _repr_html_(self) -> str:
        most = max([*self.values.values(), *self.was.values(), 1e-9])
        colors = colors_of(self.values)
        if COLOURS.keys() & colors.keys():
            colors = dict.fromkeys(colors, COLORS[-1]) | COLOURS
        elif all(name[:1].isdigit() for name in colors):
            colors = dict.fromkeys(colors, COLORS[0])  # sizes of one thing
        left = 12 + 8 * max(columns(gettext(name)) for name in self.values)
        parts, height, size = [], 26 * len(self.values), 0.0
        for number, (name, value) in enumerate(self.values.items()):
            y, width = 26 * number, 300 * value / most
            before = 300 * self.was.get(name, value) / most
            named = escape(gettext(name))
            parts.append(f'<text x="0" y="{y + 17}" font-weight="600">{named}</text>'
                         f'<rect x="{left}" y="{y + 4}" width="{width:.1f}" height="17" rx="3" '
                         f'fill="{colors[name]}"/>')
            if before != width:
                x = left + before
                parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y + 1}" y2="{y + 24}" '
                             'stroke="currentColor" stroke-dasharray="3 2"/>')
            label, x = self._label(name), left + max(width, before) + 6
            parts.append(f'<text x="{x:.1f}" y="{y + 17}">{escape(label)}</text>')
            size = max(size, x + 9 * columns(label))
        title = f"<b>{html(self.title)}</b>" if self.title else ""
        return (f'<div style="color: {INK}; font-family: {FONT}; margin: 6px 0">{title}'
                f'<svg viewBox="0 0 {size:.0f} {height}" width="{size:.0f}" role="img" '
                f'aria-label="{escape(repr(self), quote=True)}" style="max-width: 100%; '
                'display: block; fill: currentColor; font-size: 14px">'
                f"{''.join(parts)}</svg></div>")


def bars(values: Mapping[str, float], was: Mapping[str, float] | None = None, unit: str = "",
         title: str = "", dashed: str = "was") -> Bars:
    """Draw a bar for each name.

    Args:
        values: Name -> amount.
        was: Name -> amount before a change; drawn as a dashed line where it differs.
        unit: The unit, such as "CPUs".
        title: The subject of the bars.
        dashed: The meaning of the dashed line, in a word.

    >>> bars({"a": 24, "b": 46.0}, was={"a": 28, "b": 42}, unit="CPUs")
    a 24 CPUs (was 28); b 46 CPUs (was 42)
    """
    values = {_sized(str(name)): float(value) for name, value in dict(values).items()}
    before = {_sized(str(name)): float(value) for name, value in dict(was or {}).items()}
    return Bars(values, before, unit, title, dashed)
