"""What a cycle decided, as still charts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from volcano_lab.display.styled import color_by, scale_of, styled
from volcano_lab.trace.views.cycle import Cycle, most_of

if TYPE_CHECKING:
    import altair as alt


def water_filling(cycle: Cycle, resource: str = "cpu", title: str = "") -> alt.Chart:
    """What each queue deserves after each round: pale what it had, full what the round added,
    outlined what it can take.

    >>> from volcano_lab.cluster import Cluster
    >>> chart = water_filling(Cluster().node("n1", cpu=4).job("train", pods=6, min_member=2, cpu=1).run())
    >>> [row["part"] for row in chart.data.to_dict()["values"]]
    ['had before', 'added']
    """
    about = {row["queue"]: row for row in cycle.queues()}
    rows = [{**step, "most": most_of(about[step["queue"]], resource)}
            for step in cycle.fill(resource)]
    return filling(filling_rows(rows), resource, title)


def filling_rows(steps: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """What `filling` draws: of each step of a round two bars, what the queue had before and what
    was added.
    """
    rows: list[dict[str, Any]] = []
    for step in steps:
        common = {
            "round": f"round {step['round']}, {step['left']:.4g} left", "queue": step["queue"],
            "most": step["most"], "deserved": step["deserved"]
        }
        rows.append(
            {**common, "part": "had before", "from": 0, "to": step["before"], "strength": 0.4})
        rows.append({
            **common, "part": "added", "from": step["before"], "to": step["deserved"], "strength":
            1.0
        })
    return rows


def filling(rows: list[dict[str, Any]], resource: str, title: str) -> alt.Chart:
    """Water-filling, a picture a round, of rows as `filling_rows` gives them."""
    import altair as alt

    # The data stand once, above the layers: a layer with data of its own would ignore the split by
    # round.
    names = [row["queue"] for row in rows]
    base = alt.Chart().encode(x=alt.X("queue:N", title=None, axis=alt.Axis(labelAngle=0)))
    filled = base.mark_bar(size=34).encode(
        y=alt.Y("from:Q", title=resource, axis=alt.Axis(tickCount=5)), y2="to:Q", color=color_by(
            dict.fromkeys(names)), opacity=alt.Opacity("strength:Q", scale=None))
    once = base.transform_filter("datum.part == 'added'")
    vessel = once.mark_bar(size=34, filled=False, stroke="#555",
                           strokeWidth=1).encode(y=alt.Y("most:Q", stack=None))
    text = once.mark_text(dy=-8, fontWeight="bold", fontSize=12).encode(
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


def queue_order(cycle: Cycle, title: str = "") -> alt.Chart:
    """Whose turn it is, one turn after the other: filled where pods were placed, hollow where
    nothing came of it.

    >>> from volcano_lab.cluster import Cluster
    >>> queue_order(Cluster().node("n1", cpu=4).job("train", pods=2, cpu=1).run()).data.to_dict()["values"][0]["queue"]
    'default'
    """
    import altair as alt

    rows = [{"turn": number, "queue": turn.queue, "outcome": turn.outcome, "share": turn.share}
            for number, turn in enumerate(cycle.turns, 1)]
    chart = alt.Chart(alt.InlineData(rows)).mark_square(
        size=110, strokeWidth=1.5, opacity=1).encode(
            x=alt.X("turn:Q", title="turn", axis=alt.Axis(tickMinStep=1, grid=False),
                    scale=alt.Scale(domain=[0, max(len(rows), 1) + 1], nice=False)),
            y=alt.Y("queue:N", title=None, axis=alt.Axis(grid=True)),
            fill=alt.condition("datum.outcome == 'placed'", _fill(cycle), alt.value("white")),
            stroke=color_by({turn.queue: turn for turn in cycle.turns}, alt.Stroke),
        )
    told = ", ".join(turn.queue for turn in cycle.turns)
    return styled(chart.properties(width=720, height=110), title,
                  f"Queues in the order of their turns: {told}")


def limits(cycle: Cycle, resource: str = "cpu", title: str = "") -> alt.Chart:
    """What each queue asks for (pale) and holds (full), against what it deserves, its guarantee,
    its real capability.

    >>> from volcano_lab.cluster import Cluster
    >>> len(limits(Cluster().node("n1", cpu=4).job("train", pods=2, cpu=1).run()).layer)
    5
    """
    import altair as alt

    rows = [{
        "queue": row["queue"], **{
            name: row[name].get(resource, 0) for name in ("request", "allocated", "deserved", "guarantee", "real_capability")
        }
    } for row in cycle.queues()]
    marks = [{"queue": row["queue"], "limit": name.replace("_", " "), "at": row[name]}
             for row in rows
             for name in ("guarantee", "deserved", "real_capability")
             if row[name]]
    color = color_by({row["queue"]: row for row in rows})
    base = alt.Chart(alt.InlineData(rows)).encode(y=alt.Y("queue:N", title=None))
    asked = base.mark_bar(size=26, opacity=0.3).encode(x=alt.X("request:Q", title=resource),
                                                       color=color)
    held = base.mark_bar(size=14).encode(x="allocated:Q", color=color)
    shapes = {
        "guarantee": ("triangle-up", 19), "deserved": ("diamond", 0), "real capability":
        ("triangle-down", -19)
    }
    shape = alt.Shape("limit:N", title="limits", scale=alt.Scale(
        domain=list(shapes), range=[name for name, _ in shapes.values()]))
    points = [  # below, on and above the bar, so that equal limits can be told apart
        alt.Chart(alt.InlineData([mark for mark in marks if mark["limit"] == limit])).mark_point(
            filled=True, color="black", opacity=1, size=80, yOffset=offset).encode(
                y="queue:N", x="at:Q", shape=shape) for limit, (_, offset) in shapes.items()
    ]
    told = "; ".join(
        f"{row['queue']} asks for {row['request']:.4g}, holds {row['allocated']:.4g}, deserves "
        f"{row['deserved']:.4g}" for row in rows)
    return styled(
        alt.layer(asked, held, *points).properties(width=620, height=170), title,
        f"{resource}: {told}")


def _fill(cycle: Cycle) -> alt.Fill:
    import altair as alt

    return alt.Fill("queue:N", scale=scale_of({turn.queue: turn for turn in cycle.turns}),
                    legend=None)
