"""Queues as still charts: water-filling by round, whose turn it was, what each holds and may hold,
what enqueue compared. Each takes a `Cycle` or a trace.
"""

from typing import Any

import altair as alt

from volcano_lab.api import quantity_text
from volcano_lab.display.charts.cells import PLAIN, color, color_by
from volcano_lab.display.styled import GROUND, INK, styled
from volcano_lab.trace.narration import short
from volcano_lab.trace.views import Source, queues, trace_of

PARTS = {"allocated − elastic": "#0072B2", "in queue": "#E69F00", "minimum": "#009E73"}
"""The parts of the sum of admission -> their colours."""
LIMITS = {"guarantee": ("triangle-up", 14), "deserved": ("diamond", 0),
          "real_capability": ("triangle-down", -14)}
"""Limit -> its shape, and how far below the bar it stands, so that equal limits can be told apart.
"""


def water_filling(source: Source, resource: str = "cpu", title: str = "") -> alt.Chart:
    """Draw what each queue deserves after each round: pale what it had, full what the round added,
    outlined what it can take.

    >>> from volcano_lab.cluster import Cluster
    >>> cycle = Cluster().node("n1", cpu=4).job("train", pods=6, min_member=2, cpu=1).run()
    >>> water_filling(cycle).to_dict()["description"]
    'Deserved cpu by round 1: default 4'
    """
    rows: list[dict[str, Any]] = []  # of each step two bars: had before, and added
    for step in queues.rounds(trace_of(source), resource):
        common = {"round": f"round {step['round']}, {step['left']:.4g} left"} | {
            word: step[word] for word in ("queue", "most", "deserved")}
        before, after = step["before"], step["deserved"]
        rows += [common | {"part": "had before", "from": 0, "to": before, "strength": 0.4},
                 common | {"part": "added", "from": before, "to": after, "strength": 1.0}]
    # The data stand once, above the layers: a layer with data of its own would ignore the split by
    # round.
    names = dict.fromkeys(row["queue"] for row in rows)
    base = alt.Chart().encode(x=alt.X("queue:N", title=None, axis=alt.Axis(labelAngle=0)))
    filled = base.mark_bar(size=34).encode(
        y=alt.Y("from:Q", title=resource, axis=alt.Axis(tickCount=5)), y2="to:Q",
        color=color_by(names), opacity=alt.Opacity("strength:Q", scale=None))
    once = base.transform_filter("datum.part == 'added'")
    vessel = once.mark_bar(size=34, filled=False, stroke="#555",
                           strokeWidth=1).encode(y=alt.Y("most:Q", stack=None))
    text = once.mark_text(dy=-8, fontWeight="bold").encode(
        y="deserved:Q", text=alt.Text("deserved:Q", format=".4~g"))
    layers = alt.layer(filled, vessel, text, data=alt.InlineData(rows)).properties(
        width=170, height=170)
    deserved: dict[str, list[str]] = {}
    for row in rows:
        if row["part"] == "added":
            deserved.setdefault(row["round"].partition(",")[0],
                                []).append(f"{row['queue']} {row['deserved']:.4g}")
    told = "; ".join(f"{round_}: {', '.join(amounts)}" for round_, amounts in deserved.items())
    return styled(layers.facet(facet=alt.Facet("round:N", title=None), columns=4), title,
                  f"Deserved {resource} by {told}")


def queue_order(source: Source, title: str = "", action: str = "allocate") -> alt.Chart:
    """Draw whose turn it was, one turn after the other: filled where pods were placed, hollow where
    nothing came of it. The tooltip says what put it before the next.

    >>> from volcano_lab.cluster import Cluster
    >>> cycle = Cluster().node("n1", cpu=4).job("train", pods=2, cpu=1).run()
    >>> queue_order(cycle).to_dict()["description"]
    'Queues in the order of their turns: default, default'
    """
    rows = list(queues.turns(trace_of(source), action))
    names = {row["queue"]: row for row in rows}
    fill = alt.condition("datum.outcome == 'placed'", color_by(names, alt.Fill), alt.value(GROUND))
    square = alt.Chart(alt.InlineData(rows)).mark_square(size=110, strokeWidth=1.5, opacity=1)
    chart = square.encode(
        x=alt.X("turn:Q", title="turn", axis=alt.Axis(tickMinStep=1, grid=False),
                scale=alt.Scale(domain=[0, max(len(rows), 1) + 1], nice=False)),
        y=alt.Y("queue:N", title=None, axis=alt.Axis(grid=True)), fill=fill,
        stroke=color_by(names, alt.Stroke), tooltip=[
            "turn:Q", "queue:N", alt.Tooltip("share:Q", format=".3f"), "job:N", "outcome:N",
            "why:N"])
    told = ", ".join(row["queue"] for row in rows)
    return styled(chart.properties(width=720, height=110), title,
                  f"Queues in the order of their turns: {told}")


def limits(source: Source, resource: str = "cpu", title: str = "",
           number: int | None = None) -> alt.Chart:
    """Draw what each queue asks for (pale) and holds (full), against its three limits; a queue of a
    tree stands below its parent. Right after a record, or at the end.

    >>> from volcano_lab.cluster import Cluster
    >>> cycle = Cluster().node("n1", cpu=4).job("train", pods=2, cpu=1).run()
    >>> limits(cycle).to_dict()["description"]
    'cpu: default asks for 2, holds 2, deserves 2, may hold 4'
    """
    rows = [row | {"label": "— " * row["depth"] + row["queue"]}
            for row in queues.tree(trace_of(source), number, resource)]
    flat = all(row["depth"] == 0 for row in rows)
    shade = color_by({row["queue"]: row for row in rows}) if flat else alt.value("#0072B2")
    label = {} if flat else {"labelAlign": "left", "labelPadding": 120, "labelLimit": 120}
    axis = alt.Axis(**PLAIN, **label)
    base = alt.Chart().encode(y=alt.Y("label:N", title=None, sort=None, axis=axis))
    most = max([row[name] or 0 for row in rows for name in ("request", "allocated", *LIMITS)],
               default=1) or 1
    x = alt.X("request:Q", title=resource, scale=alt.Scale(domain=[0, most]))
    asked = base.mark_bar(size=20, opacity=0.3).encode(x=x, color=shade)
    held = base.mark_bar(size=11).encode(x="allocated:Q", color=shade)
    words = {name: name.replace("_", " ") for name in LIMITS}
    scale = alt.Scale(domain=list(words.values()), range=[shape for shape, _ in LIMITS.values()])
    shape = alt.Shape("limit:N", scale=scale, title="limits")
    point = {"filled": True, "color": INK, "opacity": 1, "size": 60}
    marks = [base.transform_filter(f"datum['{name}'] > 0").transform_calculate(
        limit=f"'{words[name]}'").mark_point(yOffset=offset, **point).encode(
            x=f"{name}:Q", shape=shape) for name, (_, offset) in LIMITS.items()]
    told = "; ".join(_limits_text(row, resource) for row in rows)
    layers = alt.layer(asked, held, *marks, data=alt.InlineData(rows)).properties(
        width=580, height=38 * max(len(rows), 1))
    where = resource if flat else f"{resource}, each queue below its parent"
    return styled(layers, title, f"{where}: {told}")


def _limits_text(row: dict[str, Any], resource: str) -> str:
    parts = {"asks for": "request", "holds": "allocated", "deserves": "deserved",
             "may hold": "real_capability"}
    return f"{row['queue']} " + ", ".join(f"{words} {quantity_text(resource, row[name])}"
                                          for words, name in parts.items())


def _admission_rows(source: Source, job: str, resource: str) -> list[dict[str, Any]]:
    rows = []
    compared = queues.levels if job else queues.admissions
    for row in compared(trace_of(source), job, resource):
        label = row["level"] if job else f"{short(row['job'])} · {row['plugin']} · {row['level']}"
        amounts = row["allocated"] - row["elastic"], row["inqueue"], row["minimum"]
        held, most = (quantity_text(resource, row[name]) for name in ("sum", "may_hold"))
        start = 0.0
        for part, amount in zip(PARTS, amounts, strict=True):
            rows.append({"comparison": label, "part": part, "from": start, "to": start + amount,
                         "sum": row["sum"], "may_hold": row["may_hold"],
                         "verdict": f"{held} of {most}: {row['verdict']}"})
            start += amount
    return rows


def admission(source: Source, job: str = "", resource: str = "cpu", title: str = "") -> alt.Chart:
    """Draw what enqueue compared, level by level for one job ("namespace/name"), or everything: the
    parts of each sum as one bar, and what the level may hold.

    >>> from volcano_lab.cluster import Cluster
    >>> cycle = Cluster().node("n1", cpu=1).job("train", pods=2, cpu=1).run()
    >>> admission(cycle).to_dict()["description"]
    'cpu that enqueue compared: train · overcommit · cluster: 2 of 1.2: refused'
    """
    rows = _admission_rows(source, job, resource)
    axis = alt.Axis(labelLimit=260, **PLAIN)
    base = alt.Chart().encode(y=alt.Y("comparison:N", title=None, sort=None, axis=axis))
    most = max([max(row["sum"], row["may_hold"] or 0) for row in rows], default=1) or 1
    x = alt.X("from:Q", title=resource, scale=alt.Scale(domain=[0, most * 1.4], nice=False))
    bars = base.mark_bar(size=20).encode(x=x, x2="to:Q", color=color("part:N", PARTS))
    once = base.transform_filter("datum.part == 'minimum'")
    most_held = once.mark_tick(color=INK, thickness=3, size=30).encode(x="may_hold:Q")
    words = once.transform_calculate(end="max(datum.sum, datum.may_hold)").mark_text(
        align="left", dx=8).encode(x="end:Q", text="verdict:N")
    told = "; ".join(
        f"{row['comparison']}: {row['verdict']}" for row in rows if row["part"] == "minimum")
    layers = alt.layer(bars, most_held, words, data=alt.InlineData(rows)).properties(
        width=560, height=38 * max(len(rows) // len(PARTS), 1))
    about = f"Admission of {job} in {resource}, from the queue up" if job else (
        f"{resource} that enqueue compared")
    return styled(layers, title, f"{about}: {told}")
