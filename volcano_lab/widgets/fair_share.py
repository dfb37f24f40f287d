"""The lab of the first lesson: three queues that share a hundred CPUs, and a gang that starts whole or not at all."""

from __future__ import annotations

from functools import cache
from typing import Any

import ipywidgets

from volcano_lab.cluster import Cluster
from volcano_lab.cycle import Cycle, most_of
from volcano_lab.palette import colors_of
from volcano_lab.widgets.lab import Lab, Values

NO_LIMIT = 100
"""A capability of the whole cluster, which is as good as none."""

WORDS = {"weight": (1, 30, 1), "capability": (40, NO_LIMIT, 2), "guarantee": (0, 30, 2)}
"""What can be set for each queue: smallest, largest, step. CPUs, but for the weight. And its demand, in whole pods."""

START = {
    "a": {"weight": 2, "capability": 50, "guarantee": 10, "demand": 80},
    "b": {"weight": 3, "capability": NO_LIMIT, "guarantee": 0, "demand": 60},
    "c": {"weight": 5, "capability": NO_LIMIT, "guarantee": 20, "demand": 30},
}
POD = {"a": 4, "b": 6, "c": 5}
"""CPUs of each queue's pods; those of the gang in a are like a's others."""

RUNNING = {"a": 4, "b": 3, "c": 3}
"""Pods of each queue's plain work that run when the cycle begins: 16, 18 and 15 CPUs."""

MACHINE = "machine"

GANG = "default/a-gang"


def fair_share_cluster(gang_size: int = 4, gang_minimum: int = 3, **queues: dict[str, int]) -> Cluster:
    """The cluster of the first lesson: one machine of a hundred CPUs, three queues, and a gang in queue a.

    Of each queue what is not given stays as in the lesson. The gang is part of what queue a asks for.

    >>> from volcano_lab import tables
    >>> tables.queues(fair_share_cluster().run())["deserved"].tolist()
    [28, 42, 30]
    """
    return _say(_start().copy(), gang_size, gang_minimum, queues)


@cache
def _start() -> Cluster:
    """The lesson's own cluster, written once: what a copy changes is all that is written again."""
    cluster = Cluster().node(MACHINE, cpu=100)
    _say(cluster, 4, 3, START).objects()
    return cluster


def _say(cluster: Cluster, gang_size: int, gang_minimum: int, queues: dict[str, dict[str, int]]) -> Cluster:
    for name, start in START.items():
        said = start | queues.get(name, {})
        limit = {} if said["capability"] == NO_LIMIT else said["capability"]
        cluster.queue(name, weight=said["weight"], capability=limit, guarantee=said["guarantee"])
        gang = gang_size if name == "a" else 0
        if gang:
            cluster.job("a-gang", queue=name, pods=gang, min_member=gang_minimum, cpu=POD[name])
        pods = max(said["demand"] // POD[name] - gang, RUNNING[name])
        cluster.job(f"{name}-work", queue=name, pods=pods, min_member=1, cpu=POD[name], running={MACHINE: RUNNING[name]})
    return cluster


def fair_share_lab() -> Lab:
    """Sliders for weight, capability, guarantee and demand of each queue, and for the gang's size and minimum.

    >>> lab = fair_share_lab()
    >>> [round(row["deserved"], 2) for row in lab.set(a_weight=7).state["queues"]]
    [49.0, 21.0, 30]
    """
    controls = {f"{queue}_{word}": _slider(start[word], *bounds, f"{word} of queue {queue}")
                for queue, start in START.items() for word, bounds in (WORDS | {"demand": _demand(queue)}).items()}
    controls["gang_size"] = _slider(4, 1, 8, 1, "pods of the gang")
    controls["gang_minimum"] = _slider(3, 1, 8, 1, "minimum of the gang")
    return Lab(controls, lambda values: board_state(cluster_of(values).run()), PANELS, _stand(controls))


def cluster_of(values: Values) -> Cluster:
    """The cluster that the sliders describe."""
    queues = {queue: {word: values[f"{queue}_{word}"] for word in start} for queue, start in START.items()}
    return fair_share_cluster(values["gang_size"], values["gang_minimum"], **queues)


def _demand(queue: str) -> tuple[int, int, int]:
    """From what runs already to a hundred CPUs, in whole pods."""
    pod = POD[queue]
    return RUNNING[queue] * pod, 100 // pod * pod, pod


PANELS: list[dict[str, Any]] = [
    {"kind": "table", "key": "queues", "title": "Queues when the cycle ends, in CPUs",
     "columns": ["queue", "weight", "deserved", "real_capability", "allocated", "request", "inqueue", "elastic", "share",
                 "overused"]},
    {"kind": "vessels", "key": "fill", "title": "What each queue deserves, filled up round by round", "slots": 5,
     "max": 100, "legend": "Full colour: added in this round. Pale: from the rounds before. Outline: the most the queue "
     "can take, which is what it asks for or its real capability. Dashed line: its guarantee."},
    {"kind": "turns", "key": "turns", "title": "Queue order: whose turn it is, one turn after the other", "slots": 20,
     "lanes": 3, "legend": "Filled: pods were placed (the number, if more than one). ×: tried and taken back. "
     "Dotted: nothing could be placed. –: overused, passed over. The emptiest queue goes first."},
    {"kind": "operations", "key": "gang", "title": "The gang in queue a: pods of 4 CPUs", "lines": 6},
]


def board_state(cycle: Cycle) -> dict[str, Any]:
    """A cycle as the board shows it."""
    colors = colors_of(START)
    rows = []
    for row in cycle.queues():
        cpus = {name: value.get("cpu", 0) if isinstance(value, dict) else value for name, value in row.items()}
        rows.append(cpus | {"color": colors[row["queue"]], "limit": most_of(row)})
    rounds: dict[int, dict[str, Any]] = {}
    for step in cycle.fill():
        round_ = rounds.setdefault(step["round"], {"round": step["round"], "left": step["left"], "bars": {}})
        round_["bars"][step["queue"]] = {"before": step["before"], "added": step["added"]}
    turns = [{"queue": turn.queue, "share": turn.share, "job": turn.job.removeprefix("default/"),
              "outcome": turn.outcome, "pods": turn.pods} for turn in cycle.turns]
    return {"queues": rows, "fill": {"queues": rows, "rounds": list(rounds.values())},
            "turns": {"queues": rows, "turns": turns}, "gang": gang_state(cycle)}


def gang_state(cycle: Cycle) -> dict[str, Any]:
    """The gang's statement: committed, discarded, or never begun, with its operations."""
    job = cycle.session.jobs[GANG]
    steps = [f"{row['operation']} {row['pod'].removeprefix('default/')} on {row['node']}" for row in cycle.operations(GANG)]
    outcomes = [record.outcome for record in cycle.statements(GANG)]
    outcome = "commit" if "commit" in outcomes else next(iter(outcomes), "")
    phase = job.pod_group.status.phase
    headline = f"{job.ready_task_num()} of {len(job.tasks)} pods placed, minimum {job.min_available}, phase {phase}"
    return {"outcome": outcome, "headline": headline, "steps": steps, "reason": " ".join(cycle.why(GANG)[:1])}


def _slider(value: int, least: int, most: int, step: int, meaning: str) -> ipywidgets.IntSlider:
    slider = ipywidgets.IntSlider(value, least, most, step, tooltip=meaning)
    slider.layout.width = "auto"
    return slider


def _stand(controls: dict[str, ipywidgets.IntSlider]) -> ipywidgets.GridBox:
    """The sliders as a grid: a row a queue, a column what is set; the gang's in the last row."""

    def label(text: str) -> ipywidgets.HTML:
        return ipywidgets.HTML(f'<span style="white-space: nowrap">{text}</span>')

    colors = colors_of(START)
    cells = [label(""), *(label(f"<b>{head}</b>") for head in (*WORDS, "asks for"))]
    for queue in START:
        swatch = f'<b style="border-left: 0.5em solid {colors[queue]}; padding-left: 0.4em">queue {queue}</b>'
        cells += [label(swatch), *(controls[f"{queue}_{word}"] for word in START[queue])]
    cells += [label("<b>gang in a</b>"), label("pods"), controls["gang_size"], label("minimum"), controls["gang_minimum"]]
    grid = ipywidgets.GridBox(cells)
    grid.layout.grid_template_columns = "6.5em repeat(4, minmax(0, 1fr))"
    grid.layout.max_width = "960px"
    return grid
