"""A pandas table in the lab's style: texts left, numbers right, one row of headings."""

from __future__ import annotations

from typing import Any

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from volcano_lab.messages import NoSuch, gettext, one_line
from volcano_lab.trace.shown import cell_text, html_table


class Table(pd.DataFrame):
    """A `DataFrame` with the lab's style, which slices and computed tables keep.

    >>> from volcano_lab.widgets.tables import frame
    >>> opened = frame([{"queue": "a", "is_open": True}], ["queue", "is_open"], "queue")
    >>> "queue</th><th" in opened._repr_html_()
    True
    """

    @property
    def _constructor(self) -> type[Table]:
        return Table

    def __getitem__(self, key: Any) -> Any:
        try:
            return super().__getitem__(key)
        except KeyError as error:
            raise NoSuch("table.column", column=one_line(repr(key), 100),
                         names=[*map(str, self.columns)]) from error

    def _repr_html_(self) -> str:
        named = [name for name in self.index.names if name]
        flat = self.reset_index(allow_duplicates=True) if named else self
        most = pd.get_option("display.max_rows") or len(flat)
        numbers = [is_numeric_dtype(kind) and not is_bool_dtype(kind) for kind in flat.dtypes]
        rows = [[cell_text(cell) for cell in row]
                for row in flat.head(most).itertuples(index=False, name=None)]
        more = gettext("{count} rows, the first {most} are shown", count=len(flat),
                       most=most) if len(flat) > most else ""
        heads = [gettext(str(name)) for name in flat.columns]
        return html_table(heads, rows, numbers, len(named)) + (more and f"<p>{more}</p>")
