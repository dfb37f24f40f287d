"""Lesson 15: calls by extension point, what grows with what, how many nodes are looked for, and a
lab that counts cycles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import ipywidgets

from volcano_lab.course.kit.effort import effort_of
from volcano_lab.course.lesson_15.scene import conf_of, cost_cluster
from volcano_lab.display.palette import COLORS
from volcano_lab.display.styled import styled
from volcano_lab.framework.placement.feasible import nodes_to_find
from volcano_lab.metrics.effort import Effort
from volcano_lab.widgets.board_lab import BoardLab as Lab
from volcano_lab.widgets.board_lab import labelled

if TYPE_CHECKING:
    import altair as alt

EACH, ONCE = "every pair (Volcano)", "worked out once (the lab)"
PARTS = {EACH: COLORS[5], ONCE: COLORS[0]}


def calls_chart(effort: Effort, title: str = "", most: int = 0) -> alt.Chart:
    """How often each extension point's plugins were asked, the most asked first; `most` is where
    the scale ends.

    >>> len(calls_chart(effort_of(cost_cluster(), conf_of(), arrays=False)).layer)
    2
    """
    import altair as alt

    total: Counter[tuple[str, str]] = Counter()
    for (_, point, plugin), count in effort.calls.items():
        total[point, plugin] += count
    ordered = sorted(total.items(), key=lambda item: (-item[1], item[0]))
    rows = [{"who": f"{point} ({plugin})", "calls": count, "pair": _of_pairs(point)}
            for (point, plugin), count in ordered]
    names = [row["who"] for row in rows]
    base = alt.Chart(alt.InlineData(rows)).encode(
        y=alt.Y("who:N", sort=names, title=None, axis=alt.Axis(labelLimit=260)), x=alt.X(
            "calls:Q", title="calls", scale=alt.Scale(domain=[0, most or rows[0]["calls"]]),
            axis=alt.Axis(tickMinStep=1)))
    asked = alt.Color(
        "pair:N", title="asked for", scale=alt.Scale(domain=["each pair", "each pod, job or queue"],
                                                     range=[COLORS[5], COLORS[4]]))
    bars, text = base.mark_bar().encode(color=asked), base.mark_text(
        align="left", dx=4, fontSize=12).encode(text="calls:Q")
    told = "; ".join(f"{row['who']}: {row['calls']}" for row in rows)
    return styled(alt.layer(bars, text).properties(width=420, height=20 * len(rows)), title, told)


def _of_pairs(point: str) -> str:
    return "each pair" if point in ("predicate", "node_order") else "each pod, job or queue"


def growth_rows(sizes: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    """A row for each (nodes, pods): pairs, and scores that the lab works out; counted.

    >>> growth_rows([(4, 8)])
    [{'nodes': 4, 'pods': 8, 'pairs': 32, 'scored': 11}]
    """
    rows = []
    for nodes, pods in sizes:
        effort = effort_of(cost_cluster(nodes, pods, gang=4), conf_of())
        rows.append({"nodes": nodes, "pods": pods, "pairs": effort.pairs, "scored": effort.scored})
    return rows


def growth_chart(rows: Sequence[dict[str, Any]], title: str = "") -> alt.Chart:
    """Pairs beside scores that are worked out once, on a scale where each line is ten times the one
    before.

    >>> len(growth_chart(growth_rows([(4, 8)])).layer)
    2
    """
    import altair as alt

    data = [{
        "size": f"{row['nodes']} nodes, {row['pods']} pods", "what": what, "count": row[key],
        "text": f"{row[key]:,}"
    } for row in rows for what, key in ((EACH, "pairs"), (ONCE, "scored"))]
    sizes = list(dict.fromkeys(row["size"] for row in data))
    base = alt.Chart(alt.InlineData(data)).encode(
        y=alt.Y("size:N", sort=sizes, title=None, axis=alt.Axis(labelLimit=200)),
        yOffset=alt.YOffset("what:N", sort=[EACH, ONCE]),
        x=alt.X("count:Q", title="scores", scale=alt.Scale(type="log", domain=[1, 1_000_000]),
                axis=alt.Axis(values=[10**power for power in range(7)], format=",")))
    color = alt.Color("what:N", title=None, scale=alt.Scale(domain=list(PARTS),
                                                            range=list(PARTS.values())))
    bars = base.mark_bar().encode(color=color, x2=alt.datum(1))
    text = base.mark_text(align="left", dx=4, fontSize=12).encode(text="text:N")
    told = "; ".join(f"{row['size']}, {row['what']}: {row['text']}" for row in data)
    return styled(alt.layer(bars, text).properties(width=420, height=46 * len(sizes)), title, told)


def sampling_chart(percentages: Sequence[int], title: str = "") -> alt.Chart:
    """How many nodes that fit are enough, against the size of the cluster; a line for each
    percentage (0: by size).

    >>> len(sampling_chart([0, 100]).layer)
    2
    """
    import altair as alt

    sizes = [*range(0, 1000, 50), *range(1000, 10_001, 250)]
    rows = [{"nodes": nodes, "found": nodes_to_find(nodes, percentage), "line": _line(percentage)}
            for percentage in percentages for nodes in sizes]
    lines = [_line(percentage) for percentage in percentages]
    ends = [row for row in rows if row["nodes"] == 10_000]
    x = alt.X("nodes:Q", title="nodes in the cluster",
              axis=alt.Axis(values=[*range(0, 10_001, 2000)]))
    y = alt.Y("found:Q", title="nodes looked for")
    color = alt.Color("line:N", title="--percentage-nodes-to-find", sort=lines,
                      scale=alt.Scale(domain=lines, range=list(COLORS[: len(lines)])))
    dash = alt.StrokeDash("line:N", sort=lines, legend=None)
    drawn = alt.Chart(alt.InlineData(rows)).mark_line(strokeWidth=2).encode(
        x=x, y=y, color=color, strokeDash=dash)
    ending = alt.Chart(alt.InlineData(ends)).mark_text(align="right", dy=-8, fontSize=12)
    text = ending.encode(x=x, y=y, text=alt.Text("found:Q", format=","))
    told = "; ".join(f"{row['line']}: {row['found']} of 10000" for row in ends)
    return styled(alt.layer(drawn, text).properties(width=520, height=220), title, told)


def _line(percentage: int) -> str:
    return f"{percentage}" if percentage else "0 (by size)"


PANELS: list[dict[str, Any]] = [
    {
        "kind": "table", "key": "work", "title": "What one cycle does", "texts": ["way"], "columns":
        ["way", "a pod",
         "in all"], "legend": "a pod: nodes looked at for each. in all: scores, or nodes looked at."
    },
    {
        "kind": "table", "key": "asked", "title": "Asked, however many nodes there are", "texts":
        ["question"], "columns": ["question", "calls"]
    },
]
START = {"nodes": 40, "pods": 80, "kinds": 1, "queues": 1, "percentage": 0, "minimum": 20}


def cost_lab() -> Lab:
    """Sliders for the sizes of a cluster, and for the flags with which Volcano looks at fewer
    nodes. Every move runs a cycle.

    >>> [row["in all"] for row in cost_lab().set(nodes=10, pods=20).state["work"]]
    [200, 200, 29]
    """
    limits = {
        "nodes": (10, 120, 10), "pods": (20, 160, 20), "kinds": (1, 4, 1), "queues": (1, 8, 1),
        "percentage": (0, 100, 10), "minimum": (10, 120, 10)
    }
    controls = {
        name: ipywidgets.IntSlider(START[name], *limits[name], tooltip=LABELS[name])
        for name in limits
    }
    return Lab(controls, lambda values: board_state(**values), PANELS,
               labelled(controls, LABELS, "16em", "680px"))


def board_state(nodes: int, pods: int, kinds: int, queues: int, percentage: int,
                minimum: int) -> dict[str, Any]:
    """What the board shows."""
    effort = effort_of(cost_cluster(nodes, pods, gang=4, kinds=kinds, queues=queues), conf_of())
    found = nodes_to_find(nodes, percentage, minimum)
    work = [{"way": "every node for every pod", "a pod": nodes, "in all": effort.pairs}, {
        "way": "Volcano with these flags, where every node fits", "a pod": found, "in all":
        effort.choices * found
    }, {
        "way": "the lab: only what has changed", "a pod": effort.scored / effort.choices, "in all":
        effort.scored
    }]
    points = ("queue_order", "overused", "allocatable", "job_ready")
    asked = [{"question": point, "calls": effort.count(point=point)} for point in points]
    return {"work": work, "asked": asked}


LABELS = {
    "nodes": "nodes", "pods": "pods, in gangs of 4", "kinds": "kinds of pods", "queues": "queues",
    "percentage": "percentage to find (0: by size)", "minimum": "least number to find"
}
