"""Still charts (altair) of sweeps and of a task's states.

Each has a text description. `still()` stores charts in notebooks as pictures for pages without a
kernel. A cycle is drawn by `widgets.pictures`, live and still, with data from `widgets.facts`, and
a simulation's run by its `timeline`; `widgets.tables` shows a cycle as tables.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import altair as alt

from volcano_lab.api.status import TRANSITIONS, TaskStatus
from volcano_lab.messages import Misuse, friendly_errors, gettext, mark, paragraph
from volcano_lab.simulation.sweep import Sweep
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.widgets.styled import GROUND, still, styled

__all__ = ["plot", "queues", "still", "transitions"]

HELD = ("queue", "resource", "allocated", "deserved")
COLORS_OF_CYCLES = ["#56B4E9", "#0072B2"]

WAY = ("Pending", "Allocated", "Binding", "Bound", "Running", "Succeeded")
RELEASED = {("Running", "Releasing"), ("Bound", "Releasing")}
BACK = {("Allocated", "Pending"), ("Pipelined", "Pending"), ("Binding", "Pending"),
        ("Releasing", "Running")}
COLORS = {"the way of a pod": "#0072B2", "a promise": "#56B4E9", "resources are freed": "#F0E442",
          "taken back": "#D55E00", "also legal": "#D9D9D9"}


@friendly_errors
def plot(sweep: Sweep, metric: str = "") -> alt.FacetChart | alt.Chart:
    """Return a chart of one metric over the grid: one name of the grid gives a line, two a heat
    map, three small multiples of lines. Raises `ValueError` if the sweep has no such metric.
    """
    metric = metric or sweep.metrics[0]
    if metric not in sweep.metrics:
        raise Misuse("sweep.metrics", metric=metric, metrics=[*sweep.metrics])
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
    words = [gettext("{count} settings, from {least} to {most}.", count=len(measured),
                     least=min(measured), most=max(measured)) if measured else None,
             gettext("{count} settings failed.", count=len(sweep.failures))
             if sweep.failures else None]
    return styled(chart, gettext("{metric} over {names:,}", metric=metric, names=[*names]),
                  paragraph(words))


@friendly_errors
def queues(cycles: Mapping[str, Cycle], title: str = "") -> alt.FacetChart:
    """Draw what each queue holds (a bar) and deserves (a tick), per resource, with a bar for each
    of some named cycles, such as before and after a change.
    """
    rows = [{"cycle": name, **{field: row[field] for field in HELD}} for name, cycle in
            cycles.items() for row in cycle.rows_of("queues") if row["resource"] != "pods"
            and any(row[field] for field in HELD[2:])]
    y = alt.Y("queue:N", title=None)
    given: dict[str, Any] = {}
    if len(cycles) > 1:
        given["yOffset"] = alt.YOffset("cycle:N", sort=[*cycles])
    base = alt.Chart().encode(y=y, **given)
    bars = base.mark_bar().encode(x=alt.X("allocated:Q", title=None), color=alt.Color(
        "cycle:N", sort=[*cycles], title=None, scale=alt.Scale(range=COLORS_OF_CYCLES),
        legend=alt.Legend() if given else None))
    ticks = base.mark_tick(thickness=2, color="black").encode(x="deserved:Q")
    chart = alt.layer(bars, ticks, data=alt.InlineData(rows)).properties(width=320).facet(
        row=alt.Row("resource:N", title=None)).resolve_scale(x="independent")
    alt_text = mark("; ").join(
        gettext("{cycle} {queue}: {resource} {allocated} of {deserved}", **row).strip()
        for row in rows)
    return styled(chart, title, alt_text)


@friendly_errors
def transitions(title: str = "") -> alt.LayerChart | alt.FacetChart:
    """Draw the legal transitions, a row per state and a column per next state: numbers are a pod's
    path without failures; an empty cell is illegal.

    >>> len(transitions().layer)
    2
    """
    steps = {pair: str(number)
             for number, pair in enumerate(pairwise(WAY), 1)} | {("Pending", "Binding"): "1, 2"}
    kinds = (dict.fromkeys(RELEASED, ("resources are freed", "freed"))
             | dict.fromkeys(BACK, ("taken back", "back"))
             | {("Pending", "Pipelined"): ("a promise", "promise")}
             | {pair: ("the way of a pod", word) for pair, word in steps.items()})
    pairs = [(str(old), str(new)) for old in TaskStatus for new in sorted(TRANSITIONS[old])]
    rows = [{"from": pair[0], "to": pair[1], "kind": gettext(kind), "word": gettext(word)}
            for pair in pairs for kind, word in [kinds.get(pair, ("also legal", "ok"))]]
    names = [str(status) for status in TaskStatus]
    axis: dict[str, Any] = {"labelAngle": 0, "titleAngle": 0, "domain": False, "ticks": False,
                            "grid": False}
    above = alt.Axis(**axis, titleX=-6, titleY=-10, titleAlign="right")  # of the states' names
    given: dict[str, Any] = {"sort": names, "scale": alt.Scale(domain=names)}
    alt_text = mark("; ").join(
        f"{old} → {'/'.join(str(new) for new in sorted(TRANSITIONS[old])) or '–'}"
        for old in TaskStatus)
    on_dark = alt.FieldOneOfPredicate("kind", [gettext("the way of a pod"), gettext("taken back")])
    base = alt.Chart().encode(x=alt.X("to:N", title="to", axis=alt.Axis(**axis), **given),
                              y=alt.Y("from:N", title="from", axis=above, **given))
    colors = alt.Scale(domain=[gettext(kind) for kind in COLORS], range=list(COLORS.values()))
    legend = alt.Legend(orient="bottom", columnPadding=40)
    cells = base.mark_rect(stroke=GROUND, strokeWidth=2).encode(
        color=alt.Color("kind:N", scale=colors, title=None, legend=legend))
    words = base.mark_text(fontSize=14).encode(
        text="word:N", color=alt.condition(on_dark, alt.value("white"), alt.value("black")))
    return styled(alt.layer(cells, words, data=alt.InlineData(rows)).properties(
        width=alt.Step(86), height=alt.Step(24)), title, alt_text)


def __dir__() -> list[str]:
    """Return the public names only, for completion with Tab."""
    return __all__
