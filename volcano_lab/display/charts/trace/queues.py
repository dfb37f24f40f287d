"""Queues in a trace, as charts: water-filling by round, who has its turn and why, the tree, what
enqueue compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from volcano_lab.api.formatting import quantity_text
from volcano_lab.display import charts
from volcano_lab.display.charts.trace.drawn import drawn
from volcano_lab.display.styled import scale_of, styled
from volcano_lab.trace import TraceReader
from volcano_lab.trace.views import queues

if TYPE_CHECKING:
    import altair as alt

PARTS = {"allocated − elastic": "#0072B2", "in queue": "#E69F00", "minimum": "#009E73"}
"""The parts of the sum of admission -> their colours."""
LIMITS = {
    "guarantee": ("triangle-up", 14), "deserved": ("diamond", 0), "real_capability":
    ("triangle-down", -14)
}
"""Limit -> its shape, and how far below the bar it stands, so that equal limits can be told apart.
"""


def _filling_rows(trace: TraceReader, resource: str = "cpu") -> list[dict[str, Any]]:
    return charts.filling_rows(queues.rounds(trace, resource))


@drawn(_filling_rows)
def water_filling(trace: TraceReader, resource: str = "cpu", title: str = "") -> alt.Chart:
    """What each queue deserves after each round: pale what it had, full what the round added,
    outlined what it can take.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> trace, _ = traced(Cluster().node("n1", cpu=4).job("train", pods=6, min_member=2, cpu=1).objects())
    >>> [(row["part"], row["to"]) for row in water_filling.rows(trace)]
    [('had before', 0), ('added', 4)]
    >>> water_filling(trace).to_dict()["description"]
    'Deserved cpu by round 1: default 4'
    """
    return charts.filling(_filling_rows(trace, resource), resource, title)


def _order_rows(trace: TraceReader, action: str = "allocate") -> list[dict[str, Any]]:
    return list(queues.order(trace, action))


@drawn(_order_rows)
def queue_order(trace: TraceReader, action: str = "allocate", title: str = "") -> alt.Chart:
    """The queues' shares, turn by turn, and whose turn it is: the one with a dot. Its tooltip says
    what put it first.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> trace, _ = traced(Cluster().node("n1", cpu=4).job("train", pods=1, cpu=1).objects())
    >>> len(queue_order(trace).layer)
    2
    """
    import altair as alt

    rows = _order_rows(trace, action)
    names = sorted({row["queue"] for row in rows if row["taken"]})
    color = alt.Color("queue:N", scale=scale_of(dict.fromkeys(row["queue"] for row in rows)),
                      legend=alt.Legend(title="queue", values=names))
    base = alt.Chart().transform_filter(alt.FieldOneOfPredicate(field="queue", oneOf=names)).encode(
        x=alt.X("turn:Q", title="turn", axis=alt.Axis(tickMinStep=1, grid=False)),
        y=alt.Y("share:Q", title="share before the turn"), color=color,
        tooltip=["turn:Q", "queue:N", alt.Tooltip("share:Q", format=".3f"), "why:N"])
    lines = base.mark_line(interpolate="step-after", opacity=0.5)
    dots = base.transform_filter("datum.taken").mark_point(size=70, filled=True, opacity=1)
    told = "; ".join(
        f"{row['turn']}. {row['queue']} with share {row['share']:.3g}, {row['why']}" for row in rows
        if row["taken"])
    layers = alt.layer(lines, dots, data=alt.InlineData(rows)).properties(width=680, height=190)
    return styled(layers, title, f"Turns of {action}: {told}")


def _tree_rows(trace: TraceReader, number: int | None = None,
               resource: str = "cpu") -> list[dict[str, Any]]:
    return [
        row | {"label": "— " * row["depth"] + row["queue"]}
        for row in queues.tree(trace, number, resource)
    ]


@drawn(_tree_rows)
def queue_tree(trace: TraceReader, number: int | None = None, resource: str = "cpu",
               title: str = "") -> alt.Chart:
    """Each queue below its parent at a moment: what is asked for (pale) and held (full), and its
    three limits.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> trace, _ = traced(Cluster().node("n1", cpu=4).job("train", pods=2, cpu=1).objects())
    >>> queue_tree(trace).to_dict()["description"]
    'cpu, each queue below its parent: default asks for 2, holds 2, deserves 2, may hold 4'
    """
    import altair as alt

    rows = _tree_rows(trace, number, resource)
    axis = alt.Axis(labelAlign="left", labelPadding=120, labelLimit=120, domain=False, ticks=False)
    base = alt.Chart().encode(y=alt.Y("label:N", title=None, sort=None, axis=axis))
    most = max([row[name] or 0
                for row in rows
                for name in ("request", "allocated", *LIMITS)], default=1) or 1
    x = alt.X("request:Q", title=resource, scale=alt.Scale(domain=[0, most]))
    asked = base.mark_bar(size=20, opacity=0.3, color="#0072B2").encode(x=x)
    held = base.mark_bar(size=11, color="#0072B2").encode(x="allocated:Q")
    words = {name: name.replace("_", " ") for name in LIMITS}
    scale = alt.Scale(domain=list(words.values()), range=[shape for shape, _ in LIMITS.values()])
    shape = alt.Shape("limit:N", scale=scale, title="limits")
    marks = [
        base.transform_filter(f"datum['{name}'] > 0").transform_calculate(
            limit=f"'{words[name]}'").mark_point(filled=True, color="black", opacity=1, size=60,
                                                 yOffset=offset).encode(x=f"{name}:Q", shape=shape)
        for name, (_, offset) in LIMITS.items()
    ]
    told = "; ".join(_tree_text(row, resource) for row in rows)
    layers = alt.layer(asked, held, *marks, data=alt.InlineData(rows)).properties(
        width=560, height=36 * max(len(rows), 1))
    return styled(layers, title, f"{resource}, each queue below its parent: {told}")


def _tree_text(row: dict[str, Any], resource: str) -> str:
    parts = {
        "asks for": "request", "holds": "allocated", "deserves": "deserved", "may hold":
        "real_capability"
    }
    return f"{row['queue']} " + ", ".join(f"{words} {quantity_text(resource, row[name])}"
                                          for words, name in parts.items())


def _admission_rows(trace: TraceReader, resource: str = "cpu",
                    job: str = "") -> list[dict[str, Any]]:
    rows = []
    for compared in queues.admissions(trace, resource):
        if job not in ("", compared["job"]):
            continue
        label = f"{compared['job'].removeprefix('default/')} · {compared['plugin']} · {compared['level']}"
        verdict = f"too little {', '.join(compared['short_of'])}" if compared["short_of"] else "room"
        limit, start = compared["limit"], 0.0
        for part, amount in zip(
                PARTS,
            (compared["allocated"] - compared["elastic"], compared["inqueue"], compared["minimum"]),
                strict=True):
            rows.append({
                "comparison":
                label, "part":
                part, "from":
                start, "to":
                start + amount, "limit":
                limit, "asked":
                compared["asked"], "verdict":
                f"{quantity_text(resource, compared['asked'])} of "
                f"{quantity_text(resource, limit)}: {verdict}"
            })
            start += amount
    return rows


@drawn(_admission_rows)
def admissions(trace: TraceReader, resource: str = "cpu", job: str = "",
               title: str = "") -> alt.Chart:
    """What enqueue compared, for one job or all: the parts of each sum as one bar, and the limit as
    a line.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> trace, _ = traced(Cluster().node("n1", cpu=1).job("train", pods=2, cpu=1).objects())
    >>> admissions(trace).to_dict()["description"]
    'cpu that enqueue compared: train · overcommit · cluster: 2 of 1.2: too little cpu'
    """
    import altair as alt

    rows = _admission_rows(trace, resource, job)
    axis = alt.Axis(labelLimit=260, domain=False, ticks=False)
    base = alt.Chart().encode(y=alt.Y("comparison:N", title=None, sort=None, axis=axis))
    most = max([max(row["asked"], row["limit"] or 0) for row in rows], default=1) or 1
    x = alt.X("from:Q", title=resource, scale=alt.Scale(domain=[0, most * 1.5], nice=False))
    color = alt.Color("part:N", title=None, scale=alt.Scale(domain=list(PARTS),
                                                            range=list(PARTS.values())))
    bars = base.mark_bar(size=18).encode(x=x, x2="to:Q", color=color)
    once = base.transform_filter("datum.part == 'minimum'")
    limits = once.mark_tick(color="black", thickness=3, size=28).encode(x="limit:Q")
    words = once.transform_calculate(end="max(datum.asked, datum.limit)").mark_text(
        align="left", dx=8, fontSize=11)
    told = "; ".join(
        f"{row['comparison']}: {row['verdict']}" for row in rows if row["part"] == "minimum")
    layers = alt.layer(bars, limits, words.encode(x="end:Q", text="verdict:N"),
                       data=alt.InlineData(rows))
    height = 34 * max(len(rows) // len(PARTS), 1)
    return styled(layers.properties(width=520, height=height), title,
                  f"{resource} that enqueue compared: {told}")
