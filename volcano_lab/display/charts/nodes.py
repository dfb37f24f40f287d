"""Nodes in a trace, as charts: how full each is in each resource, and what was said of it when a
node was sought.
"""

from collections import Counter
from typing import Any

import altair as alt

from volcano_lab.display.charts.cells import color, matrix, one_of, ranked
from volcano_lab.display.palette import colors_of
from volcano_lab.display.styled import styled
from volcano_lab.trace import TraceReader, short
from volcano_lab.trace.views import nodes
from volcano_lab.trace.views.nodes import CHOSEN, FITS, LATER, NO_ROOM

OBJECTION = "somebody objects"
VERDICTS = {CHOSEN: "#0072B2", FITS: "#56B4E9", LATER: "#F0E442", NO_ROOM: "#D9D9D9",
            OBJECTION: "#D55E00"}
"""What is said of a node -> its colour; the cell says it in words or with its score, too."""


def node_use(trace: TraceReader, number: int | None = None, title: str = "") -> alt.Chart:
    """A row a node, a column a resource that somebody asks for: the part in use right after a
    record (None: at the end).

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> trace, _ = traced(Cluster().node("n1", cpu=4).job("train", cpu=1).objects())
    >>> node_use(trace).to_dict()["description"]
    'In use: n1 cpu 25 %, pods 1 %'
    """
    asked = {name for task in trace.start["tasks"].values() for name in task["request"]} | {"pods"}
    rows = [row for row in nodes.use(trace, number) if row["resource"] in asked]
    by_node: dict[str, list[str]] = {}
    for row in rows:
        by_node.setdefault(row["node"], []).append(f"{row['resource']} {100 * row['part']:.0f} %")
    told = "; ".join(f"{node} {', '.join(parts)}" for node, parts in by_node.items())
    scale = alt.Scale(domain=[0, 1], range=["#F2F8FC", "#0072B2"])
    return matrix(
        rows, title, f"In use: {told}", x=ranked(alt.X, "resource:N", labelAngle=0, orient="top"),
        y=ranked(alt.Y, "node:N"), word=alt.Text("part:Q", format=".0%"), size=(76, 22),
        color=alt.Color("part:Q", scale=scale, title="part in use", legend=alt.Legend(format="%")),
        white="datum.part > 0.6",
        tooltip=["node:N", "resource:N", "used:Q", "idle:Q", "releasing:Q", "pipelined:Q"])


def _choice_rows(trace: TraceReader, job: str | None) -> list[dict[str, Any]]:
    rows = []
    for row in nodes.choices(trace, job):
        known = row["verdict"] in VERDICTS
        fits = row["verdict"] in (CHOSEN, FITS)
        rows.append({"task": short(row["task"]), "node": row["node"],
                     "verdict": row["verdict"] if known else OBJECTION,
                     "word": f"{row['score']:.4g}" if fits else row["verdict"].partition(":")[0],
                     "score": row["score"], "reason": row["verdict"],
                     "by_plugin": ", ".join(
                         f"{plugin} {score:.4g}" for plugin, score in row["scores"].items())})
    return rows


def node_choices(trace: TraceReader, job: str | None = None, title: str = "") -> alt.Chart:
    """A row a node, a column a pod for which one was sought: chosen, fits (with its score), or why
    not.

    Best of one job's pods; the tooltip has each plugin's part of the score.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> cluster = Cluster().node("n1", cpu=4).node("n2", cpu=1).job("train", cpu=2)
    >>> trace, _ = traced(cluster.objects())
    >>> node_choices(trace).to_dict()["description"]
    'train-0: n1 is chosen; 1 no room'
    """
    rows = _choice_rows(trace, job)
    by_task: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_task.setdefault(row["task"], []).append(row)
    told = "; ".join(_told(task, said) for task, said in by_task.items())
    return matrix(rows, title, told or "No node was sought", strokeWidth=1.5,
                  x=ranked(alt.X, "task:N", labelAngle=-40, orient="top"),
                  y=ranked(alt.Y, "node:N"), color=color("verdict:N", VERDICTS), word="word:N",
                  white=one_of("verdict", [CHOSEN, OBJECTION]), size=(64, 22),
                  tooltip=["task:N", "node:N", "reason:N", "score:Q", "by_plugin:N"])


def _told(task: str, said: list[dict[str, Any]]) -> str:
    chosen = next((row["node"] for row in said if row["verdict"] == CHOSEN), "")
    counts = Counter(row["reason"] for row in said if row["verdict"] != CHOSEN)
    others = ", ".join(f"{count} {reason}" for reason, count in counts.items())
    end = f"{chosen} is chosen" if chosen else "no node"
    return f"{task}: {end}{f'; {others}' if others else ''}"


def node_scores(trace: TraceReader, task: str, title: str = "") -> alt.Chart:
    """The scores of the nodes that a pod ("namespace/name") fits, plugin by plugin; the largest sum
    is taken.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> cluster = Cluster().node("n1", cpu=4).node("n2", cpu=8).job("train", cpu=2)
    >>> trace, _ = traced(cluster.objects())
    >>> node_scores(trace, "default/train-0").to_dict()["description"]
    'Scores for train-0: n1 450, n2 (chosen) 475'
    """
    rows = [{"node": row["node"] + (" (chosen)" if row["verdict"] == CHOSEN else ""),
             "plugin": plugin, "score": score}
            for row in nodes.choices(trace, tasks={task}) if row["verdict"] in (CHOSEN, FITS)
            for plugin, score in row["scores"].items()]
    sums: Counter[str] = Counter()
    for row in rows:
        sums[row["node"]] += row["score"]
    bars = alt.Chart(alt.InlineData(rows)).mark_bar(size=16).encode(
        y=alt.Y("node:N", title=None, sort=None), x=alt.X("score:Q", title="score", stack="zero"),
        color=color("plugin:N", colors_of(row["plugin"] for row in rows), "plugin"),
        tooltip=["node:N", "plugin:N", "score:Q"])
    told = ", ".join(f"{node} {score:.4g}" for node, score in sums.items())
    return styled(bars.properties(width=520, height=alt.Step(24)), title,
                  f"Scores for {short(task)}: {told or 'no node fits'}")
