"""Lesson 03: queues that want CPU and memory; how full each is in each resource when a cycle begins."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import ipywidgets

from volcano_lab.api.resource import EMPTY, MEMORY, ZERO, Resource, share_of
from volcano_lab.charts.styled import styled
from volcano_lab.cluster import Cluster
from volcano_lab.palette import colors_of
from volcano_lab.units import in_units
from volcano_lab.widgets.lab import Lab, Values

if TYPE_CHECKING:
    import altair as alt

    from volcano_lab.cycle import Cycle

POD_CPU, NODES = 2, 10
WORDS = {"weight": (1, 9, 1), "memory": (0, 4, 1), "asks": (10, 30, 1), "runs": (0, 10, 1)}
"""What can be set for each queue: weight, Gi of memory a pod, pods it asks for, and how many of them run already."""

START = {
    "a": {"weight": 1, "memory": 4, "asks": 15, "runs": 5},
    "b": {"weight": 3, "memory": 2, "asks": 30, "runs": 4},
    "c": {"weight": 5, "memory": 3, "asks": 20, "runs": 6},
}


def two_resource_cluster(**queues: dict[str, int]) -> Cluster:
    """Ten nodes of 10 CPUs and 12Gi; three queues whose pods take 2 CPUs and a different amount of memory.

    Of each queue what is not given is as in `START`; at most one pod of a queue runs on a node.

    >>> cluster = two_resource_cluster(a={"memory": 1})
    >>> [(row["queue"], row["resource"], round(row["share"], 2)) for row in shares(cluster)][:2]
    [('a', 'cpu', 0.67), ('a', 'memory', 0.33)]
    """
    cluster = _nodes().copy()
    for name, start in START.items():
        said = start | queues.get(name, {})
        cluster.queue(name, weight=said["weight"])
        memory = f"{said['memory']}Gi" if said["memory"] else None
        cluster.job(f"{name}-work", queue=name, pods=said["asks"], min_member=1, cpu=POD_CPU, memory=memory,
                    running={f"node-{number}": 1 for number in range(said["runs"])})
    return cluster


@cache
def _nodes() -> Cluster:
    cluster = Cluster()
    for number in range(NODES):
        cluster.node(f"node-{number}", cpu=10, memory="12Gi")
    cluster.objects()  # written once, for all clusters that begin as a copy
    return cluster


def opening(cluster: Cluster, cycle: Cycle) -> list[dict[str, Any]]:
    """A row a queue when its cycle began: what it held and deserved, as resources, whether it was overused."""
    deserved = cycle.rounds[-1].deserved
    held: dict[str, Resource] = dict.fromkeys(deserved, EMPTY)
    for job in cluster.cache().snapshot().jobs.values():
        held[job.queue] = held[job.queue] + job.allocated
    return [{"queue": name, "held": held[name], "deserved": amount, "overused": amount.less_equal(held[name], ZERO)}
            for name, amount in deserved.items()]


def shares(cluster: Cluster) -> list[dict[str, Any]]:
    """A row a queue and resource when a cycle begins: held over deserved. The largest is the queue's share.

    >>> cluster = Cluster().node("n1", cpu=4, pods=8).job("train", pods=4, cpu=1, running={"n1": 1}, min_member=1)
    >>> [(row["resource"], row["share"]) for row in shares(cluster)]
    [('cpu', 0.25), ('pods', 0.25)]
    """
    return _shares(opening(cluster, cluster.run()))


def _shares(queues: list[dict[str, Any]]) -> list[dict[str, Any]]:
    rows = []
    for row in queues:
        for name in row["deserved"].resource_names():
            held, deserved = row["held"].get(name), row["deserved"].get(name)
            rows.append({"queue": row["queue"], "resource": name, "held": in_units(name, held),
                         "deserved": in_units(name, deserved), "share": share_of(held, deserved)})
    return rows


def share_chart(cluster: Cluster, title: str = "") -> alt.Chart:
    """How full each queue is in each resource when a cycle begins; the line stands at what it deserves.

    >>> chart = share_chart(two_resource_cluster())
    >>> sorted({row["resource"] for row in chart.data.to_dict()["values"]})
    ['cpu', 'memory', 'pods']
    """
    import altair as alt

    rows = shares(cluster)
    for row in rows:
        row["text"] = f"{row['share']:.2f}"
    colors = colors_of(row["queue"] for row in rows)
    base = alt.Chart().encode(y=alt.Y("resource:N", title=None, sort=["cpu", "memory", "pods"],
                                         axis=alt.Axis(minExtent=64)))
    bars = base.mark_bar(size=16).encode(
        x=alt.X("share:Q", title="held / deserved", scale=alt.Scale(domain=[0, 2], clamp=True),
                axis=alt.Axis(values=[0, 0.5, 1, 1.5, 2])),
        color=alt.Color("queue:N", legend=None, scale=alt.Scale(domain=list(colors), range=list(colors.values()))))
    texts = base.mark_text(align="left", dx=4, fontSize=12).encode(
        x=alt.X("share:Q", scale=alt.Scale(domain=[0, 2], clamp=True)), text="text:N")
    line = alt.Chart().mark_rule(color="black", strokeDash=[4, 3], strokeWidth=1.5).encode(x=alt.datum(1))
    layers = alt.layer(bars, texts, line, data=alt.InlineData(rows)).properties(width=560, height=78)
    told = "; ".join(f"{row['queue']} {row['resource']} {row['share']:.2f}" for row in rows)
    header = alt.Header(labelAngle=0, labelAlign="left", labelExpr="'queue ' + datum.value", labelFontSize=12,
                        labelFontWeight="bold", labelPadding=24)
    chart = layers.facet(row=alt.Row("queue:N", title=None, header=header))
    return styled(chart, title, f"Held over deserved: {told}")


PANELS: list[dict[str, Any]] = [
    {"kind": "table", "key": "queues", "title": "When the cycle begins",
     "columns": ["queue", "turn", "share", "cpu", "memory", "pods", "overused", "one_more_pod"],
     "legend": "cpu, memory, pods: held over deserved; the largest of them is the share. turn: its place in the order. "
     "one more pod: whether proportion would allow it."},
    {"kind": "vessels", "key": "cpu", "title": "Deserved CPUs, filled up round by round", "slots": 5, "max": 100,
     "legend": "Full colour: added in this round. Pale: from the rounds before. Outline: what the queue asks for."},
    {"kind": "vessels", "key": "memory", "title": "Deserved memory, Gi", "slots": 5, "max": 120,
     "legend": "The same rounds, for memory. After the first rounds only the last one is shown."},
    {"kind": "turns", "key": "turns", "title": "Whose turn it is, one turn after the other", "slots": 40, "lanes": 3,
     "legend": "Filled: pods were placed. Dotted: nothing could be placed. –: overused, passed over."},
]


def proportion_lab() -> Lab:
    """Sliders for each queue's weight, memory a pod, pods asked for and running; shares, rounds and turns follow.

    >>> lab = proportion_lab()
    >>> [(row["queue"], row["turn"]) for row in lab.set(a_runs=0).state["queues"]]
    [('a', 1), ('b', 2), ('c', 3)]
    """
    controls = {f"{queue}_{word}": _slider(START[queue][word], *bounds, f"{word} of queue {queue}")
                for queue in START for word, bounds in WORDS.items()}
    return Lab(controls, lambda values: board_state(cluster_of(values)), PANELS, _stand(controls))


def cluster_of(values: Values) -> Cluster:
    """The cluster that the sliders describe."""
    return two_resource_cluster(**{queue: {word: values[f"{queue}_{word}"] for word in WORDS} for queue in START})


def board_state(cluster: Cluster) -> dict[str, Any]:
    """A cluster's cycle as the board shows it."""
    cycle, colors = cluster.run(), colors_of(START)
    queues = opening(cluster, cycle)
    filled = {(row["queue"], row["resource"]): row["share"] for row in _shares(queues)}
    rows = []
    for row in queues:
        name, held, deserved = row["queue"], row["held"], row["deserved"]
        by_resource = {resource: filled.get((name, resource)) for resource in ("cpu", "memory", "pods")}
        pod = next(iter(cycle.session.jobs[f"default/{name}-work"].tasks.values())).resreq
        rows.append({"queue": name, "color": colors[name], "turn": cycle.queue_order.index(name) + 1,
                     "share": max([0.0, *(share for share in by_resource.values() if share is not None)]), **by_resource,
                     "overused": row["overused"], "one_more_pod": held.stays_within(deserved, pod),
                     "deserved_cpu": deserved.milli_cpu / 1000, "deserved_Gi": deserved.memory / 2**30})
    turns = [{"queue": turn.queue, "share": turn.share, "job": turn.job.removeprefix("default/"),
              "outcome": turn.outcome, "pods": turn.pods} for turn in cycle.turns]
    return {"queues": rows, "turns": {"queues": rows, "turns": turns},
            **{name: _vessels(cycle, rows, name) for name in ("cpu", "memory")}}


def _vessels(cycle: Cycle, queues: list[dict[str, Any]], resource: str) -> dict[str, Any]:
    scale = 2**30 if resource == MEMORY else 1
    asked = {row["queue"]: row["request"].get(resource, 0) / scale for row in cycle.queues()}
    rounds: dict[int, dict[str, Any]] = {}
    for step in cycle.fill(resource):
        round_ = rounds.setdefault(step["round"], {"round": step["round"], "left": step["left"] / scale, "bars": {}})
        round_["bars"][step["queue"]] = {"before": step["before"] / scale, "added": step["added"] / scale}
    limit = 120 if resource == MEMORY else 100
    drawn = [{"queue": row["queue"], "color": row["color"], "limit": min(asked[row["queue"]], limit), "guarantee": 0}
             for row in queues]
    return {"queues": drawn, "rounds": list(rounds.values())}


def _slider(value: int, least: int, most: int, step: int, meaning: str) -> ipywidgets.IntSlider:
    slider = ipywidgets.IntSlider(value, least, most, step, tooltip=meaning)
    slider.layout.width = "auto"
    return slider


def _stand(controls: dict[str, ipywidgets.IntSlider]) -> ipywidgets.GridBox:
    """The sliders as a grid: a row a queue, a column what is set."""

    def label(text: str) -> ipywidgets.HTML:
        return ipywidgets.HTML(f'<span style="white-space: nowrap">{text}</span>')

    colors = colors_of(START)
    heads = ["weight", "memory a pod, Gi", "pods asked for", "pods running"]
    cells = [label(""), *(label(f"<b>{head}</b>") for head in heads)]
    for queue in START:
        swatch = f'<b style="border-left: 0.5em solid {colors[queue]}; padding-left: 0.4em">queue {queue}</b>'
        cells += [label(swatch), *(controls[f"{queue}_{word}"] for word in WORDS)]
    grid = ipywidgets.GridBox(cells)
    grid.layout.grid_template_columns = "6.5em repeat(4, minmax(0, 1fr))"
    grid.layout.max_width = "960px"
    return grid
