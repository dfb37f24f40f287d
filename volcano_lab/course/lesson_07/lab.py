"""Lesson 07: teams in a tree that share by dominant resource, and what every level of the tree
holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import ipywidgets

from volcano_lab.cluster import Cluster
from volcano_lab.display.palette import colors_of
from volcano_lab.display.styled import styled
from volcano_lab.plugins.hierarchy import HierarchicalNode
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.widgets.board_lab import BoardLab as Lab

if TYPE_CHECKING:
    import altair as alt

CPUS = 12
QUEUES = ("dev", "prod", "sci")
START = {
    "sci_weight": 1, "eng_weight": 1, "dev_weight": 1, "prod_weight": 1, "sci_pods": 12, "dev_pods":
    12, "prod_pods": 12
}

CONF = """\
actions: "enqueue, allocate"
tiers:
- plugins:
  - name: priority
  - name: gang
- plugins:
  - name: drf{drf}
  - name: predicates
{more}  - name: nodeorder
"""
FLAT = CONF.format(drf="", more="  - name: proportion\n")
HIERARCHICAL = CONF.format(drf="\n    enableHierarchy: true", more="")
WITHOUT_DRF = FLAT.replace("  - name: drf\n", "")

QUEUE = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: {name}
  annotations:
    volcano.sh/hierarchy: {path}
    volcano.sh/hierarchy-weights: "{weights}"
spec:
  weight: 1
"""


def queue_text(name: str, path: str, weights: str) -> str:
    """The manifest of a queue with a place in the tree.

    >>> print(queue_text("sci", "root/sci", "1/2").splitlines()[5].strip())
    volcano.sh/hierarchy: root/sci
    """
    return QUEUE.format(name=name, path=path, weights=weights)


def tree_cluster(prod_memory: bool = False, **values: int) -> Cluster:
    """A node of 12 CPUs and 12Gi; root has sci and eng, eng has dev and prod. Pods ask for 1 CPU.

    With `prod_memory` those of prod ask for 1Gi of memory and nothing else.

    >>> len(tree_cluster(eng_weight=2).run(HIERARCHICAL).committed)
    12
    """
    said = START | values
    sci, eng, dev, prod = (said[f"{name}_weight"] for name in ("sci", "eng", "dev", "prod"))
    cluster = Cluster().node("n1", cpu=CPUS, memory=f"{CPUS}Gi")
    cluster.add(queue_text("sci", "root/sci", f"1/{sci}"),
                queue_text("dev", "root/eng/dev", f"1/{eng}/{dev}"),
                queue_text("prod", "root/eng/prod", f"1/{eng}/{prod}"))
    for queue in QUEUES:
        asked = {"memory": "1Gi"} if prod_memory and queue == "prod" else {"cpu": 1}
        cluster.job(f"{queue}-work", queue=queue, pods=said[f"{queue}_pods"], min_member=1, **asked)
    return cluster


def placed(cycle: Cycle) -> dict[str, int]:
    """How many pods of each job have a place.

    >>> placed(tree_cluster(sci_pods=2).run(HIERARCHICAL))["sci-work"]
    2
    """
    return {row["job"].removeprefix("default/"): row["placed"] for row in cycle.jobs()}


def levels(cycle: Cycle) -> list[dict[str, Any]]:
    """A row a level of the tree when the cycle ends: its weight, its (scaled) dominant share, and
    whether it is saturated.

    >>> [row["level"] for row in levels(tree_cluster().run(HIERARCHICAL))]
    ['root', 'root/eng', 'root/eng/dev', 'root/eng/prod', 'root/sci']
    """
    return list(_levels(cycle.session.plugins["drf"].hierarchy.root, ""))


def _levels(node: HierarchicalNode, above: str) -> Iterator[dict[str, Any]]:
    path = f"{above}/{node.name}".lstrip("/")
    yield {
        "level": path, "weight": node.weight, "dominant": node.dominant_resource or "none", "share":
        node.share, "share_by_weight": node.share / node.weight, "saturated": node.saturated
    }
    for _, child in sorted(node.children.items()):
        if child.children is not None:
            yield from _levels(child, path)


def levels_chart(cycle: Cycle, title: str = "") -> alt.Chart:
    """Each level's dominant share (pale) and its share for its weight (full), which is what is
    compared.

    >>> len(levels_chart(tree_cluster().run(HIERARCHICAL)).layer)
    3
    """
    import altair as alt

    rows = levels(cycle)[1:]
    names = [row["level"].split("/")[-1] for row in rows]
    colors = colors_of(names)
    base = alt.Chart(alt.InlineData(rows)).encode(y=alt.Y("level:N", title=None, sort=None))
    scale = alt.Scale(domain=[row["level"] for row in rows], range=[colors[name] for name in names])
    color = alt.Color("level:N", scale=scale, legend=None)
    x = alt.X("share:Q", title="dominant share (pale), divided by weight (full)",
              scale=alt.Scale(domain=[0, 1]))
    whole = base.mark_bar(size=26, opacity=0.35).encode(x=x, color=color)
    part = base.mark_bar(size=12).encode(x="share_by_weight:Q", color=color)
    text = base.mark_text(align="left", dx=5, fontSize=12).encode(
        x="share:Q", text=alt.Text("share:Q", format=".2f"))
    told = "; ".join(
        f"{row['level']} share {row['share']:.2f}, weight {row['weight']:.0f}" for row in rows)
    return styled(alt.layer(whole, part, text).properties(width=560, height=150), title, told)


PANELS: list[dict[str, Any]] = [
    {
        "kind": "table", "key": "levels", "title": "The tree when the cycle ends", "columns":
        ["level", "weight", "dominant", "share", "share_by_weight",
         "saturated"], "texts": ["dominant"], "legend":
        "share by weight: what is compared, level by level. The lower one is served first."
    },
    {
        "kind": "table", "key": "jobs", "title": "Pods that have a place", "columns":
        ["job", "placed", "waiting"]
    },
    {
        "kind": "turns", "key": "turns", "title":
        "Queue order: whose turn it is, one turn after the other", "slots": 40, "lanes": 3,
        "legend": "Filled: a pod was placed. Dotted: nothing could be placed."
    },
]


def hierarchy_lab() -> Lab:
    """Sliders for the weights of the tree and the pods of each queue.

    >>> lab = hierarchy_lab()
    >>> [row["placed"] for row in lab.set(sci_pods=2).state["jobs"]]
    [5, 5, 2]
    """
    bounds = {"weight": (1, 6), "pods": (1, 16)}
    controls = {
        name:
        ipywidgets.IntSlider(value, *bounds[name.split("_")[1]], 1, tooltip=name.replace("_", ": "))
        for name, value in START.items()
    }
    return Lab(controls, lambda values: board_state(tree_cluster(**values).run(HIERARCHICAL)),
               PANELS, _stand(controls))


def board_state(cycle: Cycle) -> dict[str, Any]:
    """A cycle as the board shows it."""
    colors = colors_of(QUEUES)
    turns = [{
        "queue": turn.queue, "share": turn.share, "job": turn.job.removeprefix("default/"),
        "outcome": turn.outcome, "pods": turn.pods
    } for turn in cycle.turns]
    jobs = [{
        "job": row["job"].removeprefix("default/"), "placed": row["placed"], "waiting":
        row["pending"], "color": colors[row["queue"]]
    } for row in cycle.jobs()]
    return {
        "levels": levels(cycle), "jobs": jobs, "turns":
        {"queues": [{"queue": queue, "color": colors[queue]} for queue in QUEUES], "turns": turns}
    }


def _stand(controls: dict[str, ipywidgets.IntSlider]) -> ipywidgets.GridBox:
    cells: list[ipywidgets.Widget] = [
        ipywidgets.HTML(f"<b>{head}</b>") for head in ("level", "weight", "pods that ask")
    ]
    for name in ("sci", "eng", "dev", "prod"):
        cells.append(ipywidgets.HTML(f"<b>{name}</b>"))
        for word in ("weight", "pods"):
            control = controls.get(f"{name}_{word}") or ipywidgets.HTML(
                "<span>(those of dev and prod)</span>")
            control.layout.width = "auto"
            cells.append(control)
    grid = ipywidgets.GridBox(cells)
    grid.layout.grid_template_columns = "5em repeat(2, minmax(0, 1fr))"
    grid.layout.max_width = "760px"
    return grid
