"""Lesson 01: what every phase of a cycle does to every job, for a list of actions that the reader chooses."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import ipywidgets

from volcano_lab.cluster import Cluster
from volcano_lab.framework.conf import DEFAULT_CONF
from volcano_lab.framework.observer import Observer
from volcano_lab.framework.session import Session
from volcano_lab.plugins.catalogue import table
from volcano_lab.simulation import Simulation
from volcano_lab.trace import traced
from volcano_lab.widgets.lab import Lab, Values

if TYPE_CHECKING:
    import altair as alt

ACTIONS = "enqueue, allocate, backfill"
NOTHING = "·"
CHOICES = [ACTIONS, "allocate, backfill", "allocate, enqueue", "enqueue, allocate", "enqueue, backfill", "backfill"]


def small_cluster() -> Cluster:
    """Two nodes of 4 CPUs and four jobs: one that fits, one too big, one that asks for nothing, one without its queue.

    >>> [row["job"] for row in small_cluster().run().jobs()]
    ['default/helper', 'default/train', 'default/wide']
    """
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=4).queue("team")
    cluster.job("train", queue="team", pods=2, cpu=2).job("wide", queue="team", pods=3, cpu=4)
    return cluster.job("helper", queue="team", pods=1).job("lost", queue="nobody", pods=1, cpu=1)


def conf_with(actions: str) -> str:
    """Volcano's default configuration with other actions.

    >>> conf_with("allocate").splitlines()[0]
    'actions: "allocate"'
    """
    return DEFAULT_CONF.replace(f'"{ACTIONS}"', f'"{actions}"')


def phases(cluster: Cluster, actions: str = ACTIONS) -> list[dict[str, str]]:
    """One row a job: what opening the session, every action, and closing it did to it.

    >>> [row["allocate"] for row in phases(small_cluster())]
    ['·', '·', '2 pods', '·']
    """
    groups = [obj for obj in cluster.objects() if obj.kind == "PodGroup"]
    names = sorted(f"{group.metadata.namespace}/{group.metadata.name}" for group in groups)
    trace = traced(cluster.objects(), conf_with(actions))[0]
    ended = {row["job"]: row["phase"] for row in cluster.run(conf_with(actions)).jobs()}
    placed = Counter((r.action, r["job"]) for r in trace.records if r.kind == "commit")
    let_in = {r["job"] for r in trace.records if r.kind == "enqueued"}
    refused = {r["job"] for r in trace.records
               if r.kind == "asked" and r["point"] == "job_enqueueable" and not r["answer"]}
    rows = []
    for name in names:
        row = {"job": name.removeprefix("default/"), "open": "copied" if name in ended else "left out"}
        for action in actions.split(", "):
            pods = placed[action, name]
            row[action] = f"{pods} pod{'s' * (pods > 1)}" if pods else NOTHING
            if action == "enqueue" and name in let_in | refused:
                row[action] = "let in" if name in let_in else "refused"
        rows.append(row | {"close": ended.get(name, NOTHING)})
    return rows


def questions(conf: str = DEFAULT_CONF) -> list[dict[str, str]]:
    """The questions that the actions of a configuration ask its plugins: who answers, and how the answers combine.

    >>> [row["question"] for row in questions() if row["answered by"] == "overcommit"]
    ['A job has been let in.']
    """
    rows = []
    for row in table():
        plugins = [plugin for plugin in row.plugins if f"- name: {plugin}\n" in conf]
        actions = [action for action in row.asked_by if action in conf.splitlines()[0]]
        if plugins and actions and not row.point.startswith("sub_job"):
            rows.append({"point": row.point, "question": row.question, "answered by": ", ".join(plugins),
                         "answers combine": row.rule, "asked by": ", ".join(actions)})
    return rows


class _Closed(Observer):
    """Keeps each PodGroup's phase, and its pods' states, as every session leaves them."""

    def __init__(self) -> None:
        self.rows: list[dict[str, str]] = []

    def cycle_ended(self, ssn: Session, times: dict[str, float]) -> None:
        row = {"cycle": str(len(self.rows) + 1)}
        for job in ssn.jobs.values():
            states = sorted({task.status.name.capitalize() for task in job.tasks.values()})
            row[job.name] = f"{job.pod_group.status.phase} (pods: {', '.join(states)})"
        self.rows.append(row)


def phases_over_time(cluster: Cluster, cycles: int = 3) -> list[dict[str, str]]:
    """What closing wrote, cycle after cycle, a second apart, while pods are bound and start.

    >>> [row["train"] for row in phases_over_time(small_cluster(), 2)]
    ['Inqueue (pods: Binding)', 'Running (pods: Bound)']
    """
    seen = _Closed()
    Simulation(cluster, observer=seen).run(until=cycles - 0.5)
    return seen.rows


def phase_chart(title: str = "", actions: str = ACTIONS) -> alt.Chart:
    """The small cluster's jobs as rows, the phases of the cycle as columns, and what happened in the cells.

    >>> phase_chart(actions="backfill").description.split("; ")[0]
    'helper: open copied, backfill ·, close Pending'
    """
    import altair as alt

    rows, columns = phases(small_cluster(), actions), ["open", *actions.split(", "), "close"]
    cells = [{"job": row["job"], "phase": phase, "text": row[phase],
              "cell": "nothing" if row[phase] == NOTHING else "held back" if row[phase] in ("left out", "refused", "Pending")
              else "moved on"} for row in rows for phase in columns]
    base = alt.Chart(alt.InlineData(cells)).encode(
        x=alt.X("phase:N", title=None, sort=columns, axis=alt.Axis(labelAngle=0, orient="top")),
        y=alt.Y("job:N", title=None))
    scale = alt.Scale(domain=["moved on", "held back", "nothing"], range=["#0072B2", "#D55E00", "#e8e8e8"])
    marks = base.mark_rect(stroke="white", strokeWidth=3).encode(color=alt.Color(
        "cell:N", title=None, scale=scale, legend=alt.Legend(padding=14)))
    words = base.mark_text(fontSize=13, fontWeight="bold").encode(
        text="text:N", color=alt.condition("datum.cell == 'nothing'", alt.value("#333"), alt.value("white")))
    told = "; ".join(f"{row['job']}: " + ", ".join(f"{phase} {row[phase]}" for phase in columns) for row in rows)
    chart = alt.layer(marks, words).properties(width=90 * len(columns), height=150, title=title, description=told)
    return (chart.configure(background="white", font="system-ui, sans-serif", padding=8)
            .configure_axis(labelFontSize=12, domain=False, ticks=False)
            .configure_title(fontSize=13, anchor="start").configure_view(stroke=None))


def cycle_lab() -> Lab:
    """Choose the actions of the cycle, and see what becomes of the jobs of the small cluster.

    >>> [row["close"] for row in cycle_lab().set(actions="allocate, enqueue").state["phases"]]
    ['Inqueue', '·', 'Inqueue', 'Pending']
    """
    columns = ["job", "open", "enqueue", "allocate", "backfill", "close"]
    panels: list[dict[str, Any]] = [{"kind": "table", "key": "phases", "title": "What each phase did", "columns": columns,
                                     "legend": "–: the action is not in the list. ·: it did nothing to the job."}]
    menu = ipywidgets.Dropdown(options=CHOICES, value=ACTIONS, description="actions", tooltip="the actions, in order")
    return Lab({"actions": menu}, board_state, panels)


def board_state(values: Values) -> dict[str, Any]:
    """The rows of the board."""
    empty = dict.fromkeys(("enqueue", "allocate", "backfill"))
    return {"phases": [empty | row for row in phases(small_cluster(), values["actions"])]}
