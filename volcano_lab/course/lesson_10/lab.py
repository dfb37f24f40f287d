"""The lab of network topology: a gang, how close it must lie, and the dry run in each HyperNode."""

from __future__ import annotations

from typing import Any

import ipywidgets

from volcano_lab.course.lesson_10.cluster import CONF, JOB, TAKEN, hyper_nodes, topology_cluster
from volcano_lab.scheduler import traced
from volcano_lab.widgets.board_lab import BoardLab as Lab
from volcano_lab.widgets.board_lab import Values

PANELS: list[dict[str, Any]] = [
    {
        "kind": "table", "key": "hyper_nodes", "title":
        "HyperNodes, in CPUs, and what became of the dry run in each", "columns": [
            "hyper_node", "tier", "free", "asks", "dry_run", "score"
        ], "texts": ["hyper_node", "dry_run"], "legend":
        "The lowest tier in which a dry run fits decides. In it the highest score wins."
    },
    {
        "kind": "operations", "key": "gang", "title":
        "The gang's last statement: the best dry run, done once more", "lines": 10
    },
]


def topology_lab() -> Lab:
    """Choices for the gang and for what others hold on node-4.

    >>> lab = topology_lab()
    >>> lab.set(pods=7).state["gang"]["outcome"], lab.set(pods=7, highest_tier=2).state["gang"]["outcome"]
    ('', 'commit')
    """
    controls = {
        "pods": _slider("pods", 4, 1, 20), "cpu": _slider("CPUs a pod", 1, 1, 4), "node_4":
        _slider("node-4 holds", TAKEN["node-4"], 0, 4), "mode": _choice(
            "mode", ["hard", "soft"], "hard"), "highest_tier": _choice(
                "highest tier", [1, 2, 3], 1)
    }
    grid = ipywidgets.GridBox(list(controls.values()))
    grid.layout.grid_template_columns = "repeat(auto-fill, minmax(300px, 1fr))"
    grid.layout.max_width = "960px"
    return Lab(controls, board_state, PANELS, grid)


def board_state(values: Values) -> dict[str, Any]:
    """One cycle with these choices, as the board shows it."""
    said = dict(values)
    cluster = topology_cluster(taken={"node-4": said.pop("node_4")}, **said)
    trace, ssn = traced(cluster.objects(), CONF)
    done = [record for record in trace.of("commit") if record["job"] == JOB]
    job = ssn.jobs[JOB]
    steps = [
        f"{record['operation']} {record['task'].removeprefix('default/')} on {record['node']}"
        for record in done
    ]
    headline = f"{len(done)} of {len(job.tasks)} pods placed"
    if job.allocated_hyper_node:
        headline += f", in HyperNode {job.allocated_hyper_node}"
    reason = "" if done else "No HyperNode that is allowed can hold the whole gang." if values[
        "mode"] == "hard" else ("The nodes together cannot hold the whole gang.")
    return {
        "hyper_nodes": hyper_nodes(trace), "gang": {
            "outcome": "commit" if done else "", "headline": headline, "steps": steps, "reason":
            reason
        }
    }


def _slider(label: str, value: int, least: int, most: int) -> ipywidgets.IntSlider:
    return ipywidgets.IntSlider(value, least, most, description=label, layout={"width": "auto"},
                                style={"description_width": "90px"})


def _choice(label: str, options: list[Any], value: Any) -> ipywidgets.Dropdown:
    return ipywidgets.Dropdown(options=options, value=value, description=label,
                               layout={"width": "auto"}, style={"description_width": "90px"})
