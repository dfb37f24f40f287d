"""A tree of queues as still charts (altair): what each level holds and may hold, and what enqueue
compares on each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from volcano_lab.api.formatting import quantity_text
from volcano_lab.display.styled import styled
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.trace.views.queue_levels import admission as admission_rows
from volcano_lab.trace.views.queue_levels import levels

if TYPE_CHECKING:
    import altair as alt

PARTS = {"allocated − elastic": "#0072B2", "in queue": "#E69F00", "minimum": "#009E73"}
"""The parts of the sum of admission -> their colours."""


def queue_levels(cycle: Cycle, resource: str = "cpu", title: str = "") -> alt.Chart:
    """Each queue below its parent: what is asked for (pale) and held (full), and its three limits.

    >>> from volcano_lab.cluster import Cluster
    >>> conf = 'actions: "enqueue, allocate"\\ntiers: [{plugins: [{name: gang}, {name: capacity, enableHierarchy: true}]}]'
    >>> chart = queue_levels(Cluster().node("n1", cpu=4).queue("a", capability=2).run(conf))
    >>> len(chart.layer)
    5
    """
    import altair as alt

    rows = [row | {"label": "— " * row["depth"] + row["queue"]} for row in levels(cycle, resource)]
    labels = alt.Y("label:N", title=None, sort=[row["label"] for row in rows], axis=_left_axis())
    base = alt.Chart(alt.InlineData([_numbers(row) for row in rows])).encode(y=labels)
    asked = base.mark_bar(size=20, opacity=0.3,
                          color="#0072B2").encode(x=alt.X("request:Q", title=resource))
    held = base.mark_bar(size=11, color="#0072B2").encode(x="allocated:Q")
    shapes = {
        "guarantee": ("triangle-up", 14), "deserved": ("diamond", 0), "real capability":
        ("triangle-down", -14)
    }
    shape = alt.Shape("limit:N", title="limits", scale=alt.Scale(
        domain=list(shapes), range=[s for s, _ in shapes.values()]))
    marks = []
    for limit, (_, offset) in shapes.items(
    ):  # below, on and above the bar, so that equal limits can be told apart
        at = [{"label": row["label"], "limit": limit, "at": row[limit.replace(" ", "_")]}
              for row in rows]
        data = alt.InlineData([mark for mark in at if mark["at"]])
        marks.append(
            alt.Chart(data).mark_point(filled=True, color="black", opacity=1, size=60,
                                       yOffset=offset).encode(y=labels, x="at:Q", shape=shape))
    told = "; ".join(
        f"{row['queue']} asks for {row['request']:.4g}, holds {row['allocated']:.4g}, deserves "
        f"{row['deserved']:.4g}, may hold {quantity_text(resource, row['real_capability'])}"
        for row in rows)
    layers = alt.layer(asked, held, *marks).properties(width=560, height=36 * len(rows))
    return styled(layers, title, f"{resource}, each queue below its parent: {told}")


def admission(cycle: Cycle, job: str, resource: str = "cpu", title: str = "") -> alt.Chart:
    """What enqueue compared for a job, level by level: the parts of the sum as one bar, and what
    the level may hold.

    >>> from volcano_lab.cluster import Cluster
    >>> conf = 'actions: enqueue\\ntiers: [{plugins: [{name: capacity, enableHierarchy: true}]}]'
    >>> cluster = Cluster().node("n1", cpu=4).queue("a", capability=2).job("j", queue="a", pods=3, cpu=1)
    >>> len(admission(cluster.run(conf), "default/j").layer)
    3
    """
    import altair as alt

    rows = list(admission_rows(cycle, job, resource))
    parts: list[dict[str, Any]] = []
    for row in rows:
        start = 0.0
        for part, amount in zip(PARTS,
                                (row["allocated"] - row["elastic"], row["inqueue"], row["minimum"]),
                                strict=True):
            parts.append({"level": row["level"], "part": part, "from": start, "to": start + amount})
            start += amount
    verdicts = [{
        "level": row["level"], "at": row["may_hold"], "end": max(row["may_hold"], row["sum"]),
        "verdict": f"{row['sum']:.4g} of {row['may_hold']:.4g}: {row['verdict']}"
    } for row in rows if row["may_hold"] is not None]
    y = alt.Y("level:N", title=None, sort=[row["level"] for row in rows], axis=_left_axis())
    most = max([mark["end"] for mark in verdicts], default=1)
    x = alt.X("from:Q", title=resource, scale=alt.Scale(domain=[0, most * 1.35], nice=False))
    color = alt.Color("part:N", title=None, scale=alt.Scale(domain=list(PARTS),
                                                            range=list(PARTS.values())))
    bars = alt.Chart(alt.InlineData(parts)).mark_bar(size=20).encode(y=y, x=x, x2="to:Q",
                                                                     color=color)
    limits = alt.Chart(alt.InlineData(verdicts)).mark_tick(color="black", thickness=3,
                                                           size=32).encode(y=y, x="at:Q")
    texts = alt.Chart(alt.InlineData(verdicts)).mark_text(align="left", dx=8, fontSize=12)
    texts = texts.encode(y=y, x="end:Q", text="verdict:N")
    told = "; ".join(f"{mark['level']}: {mark['verdict']}" for mark in verdicts)
    layers = alt.layer(bars, limits, texts).properties(width=560, height=40 * max(len(rows), 1))
    return styled(layers, title, f"Admission of {job} in {resource}, from the queue up: {told}")


def _left_axis() -> alt.Axis:
    """Names from one left edge, so that the indentation shows."""
    import altair as alt

    return alt.Axis(labelAlign="left", labelPadding=120, labelLimit=120, domain=False, ticks=False)


def _numbers(row: dict[str, Any]) -> dict[str, Any]:
    return {word: row[word] for word in ("label", "request", "allocated")}
