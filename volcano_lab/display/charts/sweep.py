"""Charts of a sweep: a line, a heat map, or small multiples, by how many names its grid has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from volcano_lab.display.styled import styled
from volcano_lab.framework import Misuse
from volcano_lab.simulation.sweep import Sweep

if TYPE_CHECKING:
    import altair as alt


def plot(sweep: Sweep, metric: str = "") -> alt.FacetChart | alt.Chart:
    """Return a chart of one metric over the grid: one name of the grid gives a line, two a heat
    map, three small multiples of lines. Raises `ValueError` where the sweep has no such metric.
    """
    import altair as alt

    metric = metric or sweep.metrics[0]
    if metric not in sweep.metrics:
        raise Misuse(f'metric is "{metric}"; allowed are {", ".join(sweep.metrics)}')
    names = sweep.names
    fields = {name: f"name{number}" for number, name in enumerate([*names, metric])}
    rows: list[dict[str, Any]] = [{field: row[name] for name, field in fields.items()}
                                  for row in sweep.rows]
    numbers = all(isinstance(row["name0"], int | float) for row in rows)
    x = alt.X("name0", type="quantitative" if numbers and len(names) != 2 else "ordinal",
              title=names[0])
    y = alt.Y(fields[metric], type="quantitative", title=metric)
    chart = alt.Chart(alt.Data(values=rows))
    if len(names) == 2:
        chart = chart.mark_rect().encode(
            x, alt.Y("name1", type="ordinal", title=names[1]),
            alt.Color(fields[metric], type="quantitative", title=metric))
    else:
        chart = chart.mark_line(point=True).encode(x, y, *(
            [alt.Color("name1", type="nominal", title=names[1])] if len(names) > 1 else []))
    if len(names) > 2:
        chart = chart.properties(width=160, height=120).facet(
            alt.Facet("name2", type="nominal", title=names[2]), columns=3)
    measured = [row[metric] for row in sweep.rows]
    words = f"{len(measured)} settings" + (
        f", from {min(measured):g} to {max(measured):g}" if measured else "")
    failed = f"; {len(sweep.failures)} settings failed" if sweep.failures else ""
    return styled(chart, f"{metric} over {', '.join(names)}", f"{words}{failed}.")
