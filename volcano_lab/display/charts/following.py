"""Charts that are drawn once from rows, and then follow other rows with one message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import altair as alt

from volcano_lab.framework import Misuse

Rows = list[dict[str, Any]]


def drawn(rows: Callable[..., Rows]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Says which rows a chart is drawn from: they become the function's `rows`, with the same
    arguments but the title.
    """

    def mark(draw: Callable[..., Any]) -> Callable[..., Any]:
        draw.rows = rows  # type: ignore[attr-defined]
        return draw

    return mark


class LiveChart:
    """A chart on a page; `show` sends it other rows. `widget` is what stands on the page, `rows`
    what it shows.

    Scales and colours stay those of the first rows, so that nothing jumps: begin with what has all
    names and the largest numbers. A chart whose rows stand in several places can't follow;
    `ValueError` says so.
    """

    def __init__(self, draw: Callable[..., Any], *args: Any, **options: Any):
        chart = draw(*args, **options)  # has its own words for wrong arguments
        if not hasattr(draw, "rows"):
            raise Misuse("this chart can't follow other rows: it has none of its own")
        self._rows = draw.rows
        self._options = {name: value for name, value in options.items() if name != "title"}
        self.rows: Rows = self._rows(*args, **self._options)
        alt.JupyterChart.enable_offline()
        self.widget = alt.JupyterChart(following(chart, self.rows))

    def show(self, *args: Any, **options: Any) -> LiveChart:
        """Other rows: of another trace, another moment, another resource."""
        self._options |= options
        self.rows = self._rows(*args, **self._options)
        self.widget.params.rows = self.rows
        return self

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        return self.widget._repr_mimebundle_(**kwargs)


def live(draw: Callable[..., Any], *args: Any, **options: Any) -> LiveChart:
    """A chart of this package, alive.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> from volcano_lab.display.charts import node_use
    >>> cluster = Cluster().node("n1", cpu=4)
    >>> chart = live(node_use, traced(cluster.job("a", cpu=1).objects())[0])
    >>> later, _ = traced(cluster.job("b", cpu=2).objects())
    >>> chart.rows[0]["part"], chart.show(later).rows[0]["part"]
    (0.25, 0.75)
    """
    return LiveChart(draw, *args, **options)


def following(chart: alt.Chart, rows: Rows) -> Any:
    """The same chart, its rows in a parameter: what is set there is drawn, and nothing is built
    anew.
    """
    spec = chart.to_dict()
    if _has_data(spec):
        raise Misuse("this chart's rows stand in several places, so it can't follow others; "
                     "allowed is one place at its top.")
    columns = dict.fromkeys(name for row in rows for name in row)
    spread = [{"calculate": "rows", "as": "r"}, {"flatten": ["r"]}, {"filter": "isValid(datum.r)"},
              *({"calculate": f"datum.r[{column!r}]", "as": column} for column in columns)]
    spec.pop("datasets", None)
    spec["data"] = {"values": [{"k": 0}]}
    spec["transform"] = spread + spec.get("transform", [])
    spec["params"] = [*spec.get("params", []), {"name": "rows", "value": rows}]
    kind = alt.FacetChart if "spec" in spec else alt.LayerChart if "layer" in spec else alt.Chart
    return kind.from_dict(spec)


def _has_data(spec: dict[str, Any]) -> bool:
    """Whether a part of the chart, below its top, has data of its own."""
    parts = [*spec.get("layer", ()), *([spec["spec"]] if "spec" in spec else ())]
    return any("data" in part or _has_data(part) for part in parts)
