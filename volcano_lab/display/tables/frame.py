"""Rows as a pandas table, shown in one style: words at the left, numbers at the right, one row of
headings.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

import pandas as pd

STYLE = {"word": "text-align: left", "number": "text-align: right"}


class Table(pd.DataFrame):
    """A `DataFrame` that shows itself so; what is cut out of it, or computed from it, does, too.

    >>> print(frame([{"queue": "a", "is_open": True}], [], "queue")._repr_html_())
    <table class="dataframe"><thead><tr><th style="text-align: left">queue</th>...
    <tr><th style="text-align: left">a</th><td style="text-align: left">yes</td></tr>
    </tbody></table>
    """

    @property
    def _constructor(self) -> type[Table]:
        return Table

    def _repr_html_(self) -> str:
        names = [name for name in self.index.names if name]
        flat = self.reset_index(allow_duplicates=True) if names else self
        most = pd.get_option("display.max_rows") or len(flat)
        numbers = [pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind)
                   for kind in flat.dtypes]
        styles = [STYLE["number" if number else "word"] for number in numbers]
        head = _row("th", map(str, flat.columns), styles)
        body = [_row("td", map(_cell, row), styles, len(names))
                for row in flat.head(most).itertuples(index=False, name=None)]
        more = f"<p>{len(flat)} rows, the first {most} are shown</p>" if len(flat) > most else ""
        return (f'<table class="dataframe"><thead>{head}</thead>\n<tbody>\n'
                + "\n".join(body) + f"\n</tbody></table>{more}")


def _row(tag: str, cells: Iterable[str], styles: list[str], heads: int = 0) -> str:
    parts = []
    for number, (cell, style) in enumerate(zip(cells, styles, strict=True)):
        kind = "th" if number < heads else tag
        parts.append(f'<{kind} style="{style}">{escape(cell)}</{kind}>')
    return f"<tr>{''.join(parts)}</tr>"


def _cell(value: Any) -> str:
    """A value as a reader sees it: yes and no, no namespace default, nothing where nothing is."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value).removeprefix("default/")


def frame(rows: list[dict[str, Any]], columns: list[str], index: str = "") -> Table:
    """Return rows as a table; headings are words, without underscores. A cycle without rows keeps
    its headings.
    """
    table = Table(rows) if rows else Table(columns=columns)
    table = table.set_index(index) if index else table
    return table.rename(columns=lambda name: str(name).replace("_", " "))
