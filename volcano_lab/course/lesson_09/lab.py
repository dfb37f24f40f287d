"""The lab of preempt and reclaim: who was asked about each candidate, who had to go, and what
became of the gang.
"""

from __future__ import annotations

from typing import Any

import ipywidgets

from volcano_lab.course.lesson_09.scene import MAY_GO, NOT_ASKED, conf_with, eviction_cluster, votes
from volcano_lab.scheduler import traced
from volcano_lab.trace import TraceReader
from volcano_lab.widgets.board_lab import BoardLab as Lab
from volcano_lab.widgets.board_lab import Values

ORDERS = {
    "no eviction": (), "preempt": ("preempt", ), "reclaim": ("reclaim", ), "preempt, reclaim":
    ("preempt", "reclaim"), "reclaim, preempt": ("reclaim", "preempt")
}
"""Its name in the lab -> the actions that follow allocate."""

JOB, FIRST = "default/urgent", "default/urgent-0"
TIER_1, TIER_2 = "tier 1 says", "tier 2 says"

PANELS: list[dict[str, Any]] = [
    {
        "kind":
        "table", "key":
        "votes", "title":
        "Candidates when room was sought for urgent-0, and what was said of each", "columns":
        ["candidate", "node", "action", TIER_1, TIER_2,
         "fate"], "texts": ["candidate", "node", "action", TIER_1, TIER_2, "fate"], "legend":
        "A tier lets a candidate go where all its plugins do. If it lets nobody go, the next tier is asked."
    },
    {
        "kind": "operations", "key": "gang", "title": "The gang urgent in queue a: pods of 1 CPU",
        "lines": 8
    },
]


def evictions_lab() -> Lab:
    """Choices for the actions, the tiers, and the jobs of the lesson.

    >>> lab = evictions_lab()
    >>> lab.state["gang"]["outcome"], lab.set(actions="no eviction").state["gang"]["outcome"]
    ('commit', '')
    """
    controls = {
        "actions": _choice("actions", list(ORDERS), "preempt"), "tiers": _choice(
            "tiers", {"as in Volcano's default": False, "all in tier 1": True}, False),
        "priority_class": _choice("urgent is", {"of class high": "high", "of no class": None},
                                  "high"), "urgent_pods": _choice("urgent pods", [1, 2, 3, 4], 2),
        "old_minimum": _choice("old minimum", [1, 2, 3], 1), "greedy_minimum": _choice(
            "greedy min.", [1, 5, 7, 8, 9], 1), "reclaimable": _choice(
                "queue b is",
                {"reclaimable": True, "not reclaimable": False}, True), "preemptable": _choice(
                    "greedy is", {"preemptable": True, "not preemptable": False}, True)
    }
    grid = ipywidgets.GridBox(list(controls.values()))
    grid.layout.grid_template_columns = "repeat(auto-fill, minmax(280px, 1fr))"
    grid.layout.max_width = "960px"
    return Lab(controls, board_state, PANELS, grid)


def board_state(values: Values) -> dict[str, Any]:
    """One cycle with these choices, as the board shows it."""
    said = dict(values)
    conf = conf_with(*ORDERS[said.pop("actions")], one_tier=said.pop("tiers"))
    trace, ssn = traced(eviction_cluster(**said).objects(), conf)
    rows = [{**row, TIER_1: tier_text(row, "1 "), TIER_2: tier_text(row, "2 ")}
            for row in votes(trace, FIRST)]
    return {"votes": rows, "gang": gang_state(trace, ssn.jobs[JOB].pod_group.status.phase)}


def tier_text(row: dict[str, Any], tier: str) -> str:
    """What a tier says of a candidate: who keeps it, or that it may go.

    >>> tier_text({"1 gang": "stays", "1 priority": "may go"}, "1 ")
    'gang keeps it'
    """
    said = {
        column.removeprefix(tier): word for column, word in row.items() if column.startswith(tier)
    }
    keepers = [plugin for plugin, word in said.items() if word not in (MAY_GO, NOT_ASKED)]
    if keepers:
        return f"{' and '.join(keepers)} {'keeps' if len(keepers) == 1 else 'keep'} it"
    return "it may go" if MAY_GO in said.values() else "–"


def gang_state(trace: TraceReader, phase: str) -> dict[str, Any]:
    """The gang's statement, and why nothing came of it where nothing did."""
    done = [record for record in trace.of("do") if record["statement"] is not None]
    numbers = {
        record["statement"]
        for record in done
        if record["job"] == JOB or record["operation"] == "evict"
    }
    steps = [
        f"{record['operation']} {record['task'].removeprefix('default/')} on {record['node']}"
        for record in done
    ]
    back = {record["statement"] for record in trace.iter("undo")}
    outcome = "" if not numbers else "discard" if numbers <= back else "commit"
    passed = [
        f"{record.action}: {record['reason']}." for record in trace.iter("passed_over")
        if record.get("queue") != "b" and (record.get("task") or "default/urgent").startswith(JOB)
    ]
    reason = "" if outcome == "commit" else "Not let in by enqueue, so no action evicts for it." if phase == "Pending" else (
        passed[0] if passed else "")
    return {"outcome": outcome, "headline": f"phase {phase}", "steps": steps, "reason": reason}


def _choice(label: str, options: Any, value: Any) -> ipywidgets.Dropdown:
    return ipywidgets.Dropdown(
        options=options if isinstance(options, list) else list(options.items()), value=value,
        description=label, layout={"width": "auto"}, style={"description_width": "90px"})
