"""Lesson 08: three nodes and one pod: which nodes may take it, and which of those scores best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets

from volcano_lab.api.resource import ZERO
from volcano_lab.cluster import Cluster
from volcano_lab.palette import colors_of
from volcano_lab.widgets.lab import Lab

if TYPE_CHECKING:
    import altair as alt

POD = "default/new-0"
NODES = ("node-1", "node-2", "node-3")
START = {"node_1": 3, "node_2": 1, "node_3": 2, "cpu": 1, "plugin": "nodeorder", "taint": False}

CONF = """\
actions: "{actions}"
tiers:
- plugins:
  - name: gang
- plugins:
  - name: predicates
  - name: {plugin}
"""
NODE = """\
apiVersion: v1
kind: Node
metadata:
  name: {name}
spec:
  taints: {taints}
status:
  allocatable: {{cpu: "4", memory: 16Gi, pods: "110"}}
"""


def conf_with(plugin: str = "nodeorder", actions: str = "enqueue, allocate") -> str:
    """A configuration in which one plugin scores nodes.

    >>> conf_with("binpack").split()[-1]
    'binpack'
    """
    return CONF.format(plugin=plugin, actions=actions)


def placement_cluster(node_1: int = 3, node_2: int = 1, node_3: int = 2, cpu: int = 1, taint: bool = False) -> Cluster:
    """Three nodes of 4 CPUs, on which so many CPUs are in use, and a pod that asks for `cpu`; `taint` is on node-2.

    >>> placement_cluster().run(conf_with()).committed
    [['allocate', 'default/new-0', 'node-2']]
    """
    cluster = Cluster()
    for name, used in zip(NODES, (node_1, node_2, node_3), strict=True):
        tainted = '[{key: team, value: gpu, effect: NoSchedule}]' if taint and name == "node-2" else "[]"
        cluster.add(NODE.format(name=name, taints=tainted))
        if used:
            cluster.job(f"old-{name}", pods=used, cpu=1, memory="1Gi", min_member=1, running={name: used})
    return cluster.job("new", pods=1, cpu=cpu, memory="1Gi")


def scores(cluster: Cluster, plugin: str = "nodeorder") -> list[dict[str, Any]]:
    """A row a node before anything is placed: CPUs free, why it refuses the pod, and the plugin's score where it fits.

    >>> [row["score"] is None for row in scores(placement_cluster(node_1=4))]
    [True, False, False]
    """
    ssn = cluster.run(conf_with(plugin, "enqueue")).session
    task = next(task for job in ssn.jobs.values() for task in job.tasks.values() if task.key == POD)
    rules, scorer = ssn.plugins["predicates"], ssn.plugins[plugin]
    rules.pre_predicate(task)
    rows: list[dict[str, Any]] = []
    for node in ssn.node_list:
        refusal = rules.predicate(task, node)
        fits, names = task.init_resreq.less_equal_with_resources_name(node.idle, ZERO)
        why = [f"Insufficient {name}" for name in names] if not fits else []
        if refusal is not None:
            why += [status.reason for status in refusal.statuses]
        rows.append({"node": node.name, "free": node.idle.milli_cpu / 1000, "refused": "; ".join(why), "score": None})
    fitting = [node for node, row in zip(ssn.node_list, rows, strict=True) if not row["refused"]]
    together = scorer.batch_node_order(task, fitting) if plugin == "nodeorder" else {}
    for row in rows:
        if not row["refused"]:
            row["score"] = round(scorer.node_order(task, ssn.nodes[row["node"]]) + together.get(row["node"], 0), 2)
    return rows


def scores_chart(cluster: Cluster, plugin: str = "nodeorder", title: str = "") -> alt.Chart:
    """The score of each node, or why it refuses the pod.

    >>> len(scores_chart(placement_cluster()).layer)
    2
    """
    import altair as alt

    rows = [row | {"bar": row["score"] or 0, "text": row["refused"] or f"{row['score']:g}"} for row in scores(cluster, plugin)]
    colors = colors_of(NODES)
    base = alt.Chart(alt.InlineData(rows)).encode(
        y=alt.Y("node:N", title=None),
        x=alt.X("bar:Q", title=f"score by {plugin}", scale=alt.Scale(domain=[0, 600 if plugin == "nodeorder" else 120])))
    scale = alt.Scale(domain=list(colors), range=list(colors.values()))
    bars = base.mark_bar(size=24).encode(color=alt.Color("node:N", scale=scale, legend=None))
    text = base.mark_text(align="left", dx=5, fontSize=12).encode(text="text:N")
    told = "; ".join(f"{row['node']}: {row['text']}" for row in rows)
    return (alt.layer(bars, text).properties(width=560, height=120, title=title, description=f"{title}. {told}")
            .configure(background="white", font="system-ui, sans-serif", padding=8)
            .configure_axis(labelFontSize=12, titleFontSize=12, gridColor="#ddd")
            .configure_title(fontSize=13, anchor="start").configure_view(stroke=None))


PANELS: list[dict[str, Any]] = [
    {"kind": "table", "key": "nodes", "title": "First who may, then who is best", "texts": ["refused", "chosen"],
     "columns": ["node", "free", "refused", "score", "chosen"], "legend": "free: CPUs. –: not scored, because refused."},
    {"kind": "sentences", "key": "why", "title": "Why it waits"},
]


def placement_lab() -> Lab:
    """Sliders for the CPUs in use on each node and for the pod's; the plugin that scores; a taint on node-2.

    >>> [row["chosen"] for row in placement_lab().set(plugin="binpack").state["nodes"]]
    ['yes', '', '']
    """
    controls: dict[str, ipywidgets.ValueWidget] = {
        name: ipywidgets.IntSlider(START[name], 0, 4, 1, tooltip=f"CPUs in use on {name.replace('_', '-')}")
        for name in ("node_1", "node_2", "node_3")}
    controls["cpu"] = ipywidgets.IntSlider(START["cpu"], 1, 5, 1, tooltip="CPUs that the pod asks for")
    controls["plugin"] = ipywidgets.Dropdown(options=["nodeorder", "binpack"], value=START["plugin"], tooltip="who scores")
    controls["taint"] = ipywidgets.Checkbox(START["taint"], description="NoSchedule", indent=False, tooltip="taint on node-2")
    return Lab(controls, lambda values: board_state(**values), PANELS, _stand(controls))


def board_state(plugin: str, **values: Any) -> dict[str, Any]:
    """What the board shows."""
    cluster, colors = placement_cluster(**values), colors_of(NODES)
    cycle = cluster.run(conf_with(plugin))
    chosen = {node for _, _, node in cycle.committed}
    rows = [row | {"chosen": "yes" if row["node"] in chosen else "", "color": colors[row["node"]]}
            for row in scores(cluster, plugin)]
    return {"nodes": rows, "why": cycle.why("default/new")}


def _stand(controls: dict[str, ipywidgets.ValueWidget]) -> ipywidgets.GridBox:
    labels = {"node_1": "CPUs in use on node-1", "node_2": "CPUs in use on node-2", "node_3": "CPUs in use on node-3",
              "cpu": "CPUs that the pod asks for", "plugin": "who scores", "taint": "taint on node-2"}
    cells: list[ipywidgets.Widget] = []
    for name, text in labels.items():
        controls[name].layout.width = "auto"
        cells += [ipywidgets.HTML(f"<span>{text}</span>"), controls[name]]
    grid = ipywidgets.GridBox(cells)
    grid.layout.grid_template_columns = "15em minmax(0, 24em)"
    grid.layout.max_width = "680px"
    return grid
