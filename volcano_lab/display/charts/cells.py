"""What several charts are made of: colours by a table, and cells with words in them."""

from collections.abc import Iterable, Mapping
from typing import Any

import altair as alt

from volcano_lab.display.palette import colors_of
from volcano_lab.display.styled import GROUND, styled

PLAIN = {"domain": False, "ticks": False}


def color(field: str, colors: Mapping[str, str], title: str | None = None,
          channel: Any = alt.Color, **given: Any) -> Any:
    """Return the colour of a mark by a field; `colors` has the colour of each of its values.

    >>> color("state:N", {"on": "#000000"}).to_dict()["scale"]
    {'domain': ['on'], 'range': ['#000000']}
    """
    scale = alt.Scale(domain=list(colors), range=list(colors.values()))
    return channel(field, scale=scale, title=title, **given)


def color_by(names: Iterable[str], channel: Any = alt.Color) -> Any:
    """Return the colour of a mark by its queue, as everywhere; without a legend."""
    return color("queue:N", colors_of(names), None, channel, legend=None)


def ranked(channel: Any, field: str, title: str | None = None, **axis: Any) -> Any:
    """Return an axis without lines whose values stand in the order of the rows."""
    return channel(field, title=title, sort=None, axis=alt.Axis(**PLAIN | axis))


def matrix(rows: list[dict[str, Any]], title: str, told: str, *, x: Any, y: Any, color: Any,
           word: Any, white: Any, size: tuple[int, int], font: int = 14,
           tooltip: Any = alt.Undefined, **cell: Any) -> alt.Chart:
    """Return a chart of coloured cells with words, white ones where the condition `white` holds."""
    base = alt.Chart().encode(x=x, y=y)
    ink = alt.condition(white, alt.value("white"), alt.value("black"))
    cells = base.mark_rect(**{"stroke": GROUND} | cell).encode(color=color, tooltip=tooltip)
    words = base.mark_text(fontSize=font).encode(text=word, color=ink)
    return styled(alt.layer(cells, words, data=alt.InlineData(rows)).properties(
        width=alt.Step(size[0]), height=alt.Step(size[1])), title, told)


def one_of(field: str, values: list[str]) -> Any:
    """Return the condition that a field has one of these values."""
    return alt.FieldOneOfPredicate(field=field, oneOf=values)
