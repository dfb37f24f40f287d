"""Lesson 08: which nodes may take a pod, and which of those has most points: a chart, and a lab to
explore it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets

from volcano_lab.course.lesson_08.scene import (
    NODES,
    RUNS,
    ZONES,
    anti_affinity,
    conf_with,
    placement_cluster,
    preference,
)
from volcano_lab.course.lesson_08.scores import look, score_parts
from volcano_lab.display.palette import COLORS, colors_of
from volcano_lab.display.styled import styled
from volcano_lab.widgets.board_lab import BoardLab as Lab
from volcano_lab.widgets.board_lab import Values, labelled

if TYPE_CHECKING:
    import altair as alt

    from volcano_lab.cluster import Cluster

PART_COLORS = {
    "taints": COLORS[6], "least requested": COLORS[0], "balanced": COLORS[4], "binpack": COLORS[5],
    "node affinity": COLORS[2], "pod affinity": COLORS[3], "most requested": COLORS[1], "images":
    "#B8A000", "topology spread": "#5B4A9C"
}
"""The parts of a node's points -> their colours, in the order in which they are stacked."""

RULES = {
    "none": "",
    "nodeSelector disk: ssd": "nodeSelector: {disk: ssd}",
    "prefers disk: ssd, weight 1": preference(1),
    "prefers disk: ssd, weight 50": preference(50),
    "not beside web, by node": anti_affinity("web", "kubernetes.io/hostname"),
    "not beside web, by zone": anti_affinity("web", "zone"),
    "tolerates the taint": "tolerations: [{key: team, operator: Exists}]",
}
"""What the lab's pod may have in its spec."""


def scores_chart(cluster: Cluster, *scorers: str, title: str = "", **arguments: Any) -> alt.Chart:
    """The points of each node, part by part, with their sum; or why the node refuses.

    >>> chart = scores_chart(placement_cluster(), "binpack", title="fill nodes up")
    >>> chart.description
    'fill nodes up. node-1: 62.5, chosen; node-2: 31.25; node-3: 46.875'
    """
    import altair as alt

    names = scorers or ("nodeorder",)
    parts = score_parts(cluster, *names, **arguments)
    rows, notes = [], []
    for row in look(cluster, conf_with(*names, **arguments)):
        given = parts.get(row["node"], {})
        rows += [{"node": row["node"], "part": part, "points": given.get(part, 0.0), "order": place}
                 for place, part in enumerate(PART_COLORS) if part in given]
        text = row["refused"] or ("not asked" if row["total"] is None else f"{row['total']:.6g}")
        notes.append({
            "node": row["node"], "at": row["total"] or 0, "text":
            text + (", chosen" if row["chosen"] else "")
        })
    shown = [part for part in PART_COLORS if any(row["part"] == part for row in rows)]
    scale = alt.Scale(domain=shown, range=[PART_COLORS[part] for part in shown])
    y = alt.Y("node:N", title=None, sort=list(NODES))
    x_scale = alt.Scale(domain=[0, 720 if "nodeorder" in names else 160], nice=False)
    bars = alt.Chart(alt.InlineData(rows)).mark_bar(size=24, stroke="white").encode(
        y=y, x=alt.X("points:Q", title="points", scale=x_scale), order="order:Q", color=alt.Color(
            "part:N", title=None, scale=scale, legend=alt.Legend(orient="bottom",
                                                                 columnPadding=18)))
    texts = alt.Chart(alt.InlineData(notes)).mark_text(align="left", dx=5, fontSize=12).encode(
        y=y, x="at:Q", text="text:N")
    told = "; ".join(f"{note['node']}: {note['text']}" for note in notes)
    return styled((bars + texts).properties(width=620, height=120), title,
                  told).configure_legend(labelFontSize=12)


PANELS: list[dict[str, Any]] = [
    {
        "kind":
        "table", "key":
        "nodes", "title":
        "First who may, then who has most points", "texts": ["runs", "refused",
                                                             "chosen"], "columns":
        ["node", "zone", "runs", "CPUs_free", "refused", "nodeorder", "binpack", "sum",
         "chosen"], "legend":
        "–: nobody was asked for points, because the node refuses or is the only one that is left."
    },
    {"kind": "sentences", "key": "why", "title": "Why it waits"},
]
WORDS = {
    "node_1": ("CPUs in use on node-1", 3, 0, 4), "node_2": ("CPUs in use on node-2", 1, 0, 4),
    "node_3": ("CPUs in use on node-3", 2, 0, 4), "cpu": ("CPUs that the pod asks for", 1, 1, 5),
    "binpack": ("binpack.weight", 0, 0, 5)
}
"""A slider -> its label, where it begins, and its ends."""


def placement_lab() -> Lab:
    """Sliders for what is in use and for the pod, a rule in its spec, binpack's weight beside
    nodeorder, a taint on node-2.

    >>> [row["chosen"] for row in placement_lab().set(binpack=2).state["nodes"]]
    ['yes', '', '']
    """
    controls: dict[str, ipywidgets.ValueWidget] = {
        name: ipywidgets.IntSlider(start, least, most, 1, tooltip=label)
        for name, (label, start, least, most) in WORDS.items()
    }
    controls["rule"] = ipywidgets.Dropdown(options=list(RULES), value="none",
                                           tooltip="the pod's rule")
    controls["taint"] = ipywidgets.Checkbox(False, description="team=gpu:NoSchedule", indent=False,
                                            tooltip="taint on node-2")
    labels = {name: row[0] for name, row in WORDS.items()
              } | {"rule": "the pod's rule", "taint": "taint on node-2"}
    return Lab(controls, board_state, PANELS, labelled(controls, labels, "15em", "680px"))


def board_state(values: Values) -> dict[str, Any]:
    """What the board shows."""
    said = dict(values)
    conf = conf_with("nodeorder", "binpack", binpack_weight=said.pop("binpack"))
    cluster = placement_cluster(RULES[said.pop("rule")], **said)
    colors = colors_of(NODES)
    rows = []
    for row in look(cluster, conf):
        node, points, asked = row["node"], row["points"] or {}, row["total"] is not None
        runs = RUNS[node] if said[node.replace("-", "_")] else ""
        rows.append({"node": node, "zone": ZONES[node], "runs": runs, "CPUs_free": row["free"],
                     "refused": row["refused"], "nodeorder": points.get("nodeorder"),
                     "binpack": points.get("binpack", 0.0) if asked else None, "sum": row["total"],
                     "chosen": "yes" if row["chosen"] else "", "color": colors[node]})
    return {
        "nodes": rows, "why":
        [] if any(row["chosen"] for row in rows) else cluster.run(conf).why("default/new")
    }
