"""Rows as a pandas table."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame


def frame(rows: list[dict], columns: list[str], index: str = "") -> DataFrame:
    """Rows as a table; headings are words, without underscores. A cycle without rows keeps its
    headings.
    """
    import pandas as pd

    frame = pd.DataFrame(rows) if rows else pd.DataFrame(columns=columns)
    frame = frame.set_index(index) if index else frame
    return frame.rename(columns=lambda name: str(name).replace("_", " "))
