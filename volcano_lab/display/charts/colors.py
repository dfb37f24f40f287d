"""Colours of a chart by a table."""

from collections.abc import Mapping
from typing import Any

import altair as alt


def color(field: str, colors: Mapping[str, str], **given: Any) -> alt.Color:
    """Return the colour of a mark by a field; `colors` has the colour of each of its values.

    >>> color("state:N", {"on": "#000000"}).to_dict()["scale"]
    {'domain': ['on'], 'range': ['#000000']}
    """
    scale = alt.Scale(domain=list(colors), range=list(colors.values()))
    return alt.Color(field, scale=scale, title=None, **given)
