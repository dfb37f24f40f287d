"""Lesson 04: one queue that two jobs want to enter: the sums that enqueue compares, resource by
resource.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import attrs
import ipywidgets

from volcano_lab.api.resource import CPU, MEMORY
from volcano_lab.cluster import Cluster
from volcano_lab.explain import Explainer
from volcano_lab.framework.config.conf import DEFAULT_CONF
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.trace.views.queues import PARTS as SIDES
from volcano_lab.trace.views.queues import admissions
from volcano_lab.widgets.board_lab import BoardLab as Lab
from volcano_lab.widgets.board_lab import Values

if TYPE_CHECKING:
    import altair as alt

NODES, CPUS, GIGABYTES = 2, 10, 20
PARTS = {"allocated − elastic": "#0072B2", "in queue": "#E69F00", "minimum": "#009E73"}
"""The parts of the sum -> their colours."""

MOST = {CPU: 36.0, MEMORY: 72.0}
"""Where the scale of a resource ends, in CPUs and Gi: 1.8 times the cluster."""

SCALES = {CPU: (1, "CPUs"), MEMORY: (2**30, "Gi")}
START = {
    "capability": 12, "kept": 6, "runs": 6, "needs": 4, "first": 4, "second": 5, "memory": 1,
    "factor": 1.2
}


def admission_cluster(capability: int = 12, kept: int = 6, runs: int = 6, needs: int = 4,
                      first: int = 4, second: int = 5, memory: int = 1) -> Cluster:
    """Two nodes of 10 CPUs and 20Gi; queue team with a job that runs and two that want to come in,
    and an idle queue.

    `kept` is the guarantee of the idle queue *other*; `runs` the pods of job old, of which it
    `needs` some; `first` and `second` the pods of the jobs of these names; `memory` the Gi of each
    pod of second. All other pods have 1Gi, all have 1 CPU.

    >>> cycle = admission_cluster().run()
    >>> [(row["job"], row["phase"]) for row in cycle.jobs()]
    [('default/first', 'Inqueue'), ('default/old', 'Running'), ('default/second', 'Pending')]
    """
    cluster = _nodes().copy()
    cluster.queue("team", capability=capability).queue("other", guarantee=kept or None)
    if runs:
        on_first = min(runs, CPUS)
        running = {"node-0": on_first} | ({"node-1": runs - on_first} if runs > on_first else {})
        cluster.job("old", queue="team", pods=runs, cpu=1, memory="1Gi", min_member=min(
            needs, runs), running=running)
    if first:
        cluster.job("first", queue="team", pods=first, cpu=1, memory="1Gi")
    return cluster.job("second", queue="team", pods=second, cpu=1,
                       memory=f"{memory}Gi" if memory else None)


@cache
def _nodes() -> Cluster:
    cluster = Cluster()
    for number in range(NODES):
        cluster.node(f"node-{number}", cpu=CPUS, memory=f"{GIGABYTES}Gi")
    cluster.objects()  # written once, for all clusters that begin as a copy
    return cluster


def conf_with(factor: float = 1.2, actions: str = "enqueue, allocate, backfill") -> str:
    """Volcano's default configuration with an overcommit-factor, and with other actions.

    >>> [line.strip() for line in conf_with(1.5).splitlines() if "overcommit" in line]
    ['- name: overcommit', 'overcommit-factor: 1.5']
    """
    name = "  - name: overcommit\n"
    said = f"{name}    arguments:\n      overcommit-factor: {factor}\n"
    return DEFAULT_CONF.replace(name, said).replace("enqueue, allocate, backfill", actions)


def without_min_resources(cluster: Cluster, job: str) -> Cluster:
    """The same cluster, in which the PodGroup of a job says nothing of its minimum's resources.

    >>> cluster = without_min_resources(admission_cluster(), "second")
    >>> [row["phase"] for row in cluster.run().jobs() if row["job"] == "default/second"]
    ['Inqueue']
    """
    return Cluster(
        attrs.evolve(obj, spec=attrs.evolve(obj.spec, min_resources=None)
                     ) if obj.kind == "PodGroup" and obj.name == job else obj
        for obj in cluster.objects())


def sums(cycle: Cycle) -> list[dict[str, Any]]:
    """What enqueue compared, in order: a row for each job, plugin and resource that the job asks
    for.

    Amounts are CPUs and Gi; `elastic` is taken off already. overcommit compares the cluster, where
    what is used counts on the side of the limit.

    >>> [(row["job"], row["who"], row["sum"], row["limit"]) for row in sums(admission_cluster(memory=0).run())][-2:]
    [('second', 'cluster', 9, 18), ('second', 'queue team', 13, 12)]
    """
    rows = []
    asked = {record["job"]: record["min_resources"]
             for record in cycle.trace.iter("enqueue_comparison")}
    for name, (scale, _) in SCALES.items():
        for row in admissions(cycle.trace, resource=name):
            if asked[row["job"]].get(name):
                numbers = {word: _number(row[word] / scale) for word in SIDES}
                cluster = row["level"] == "cluster"
                rows.append({
                    "job": row["job"].removeprefix("default/"), "plugin": row["plugin"],
                    "who": "cluster" if cluster else f"queue {row['level']}", "resource": name,
                    "parts": [_number((row["allocated"] - row["elastic"]) / scale),
                              numbers["inqueue"], numbers["minimum"]], "sum": numbers["sum"],
                    "limit": numbers["may_hold"], "over": name in row["short_of"],
                    "number": row["number"]
                })
    return sorted(rows, key=lambda row: row["number"])


def _number(amount: float) -> float:
    number = round(amount, 3)
    return int(number) if number == int(number) else number


def _label(row: dict[str, Any]) -> str:
    return f"{row['job']}: {row['who']}, {SCALES[row['resource']][1]}"


def _text(row: dict[str, Any]) -> str:
    return f"{row['sum']:g} of {row['limit']:g}" + (": too much" if row["over"] else "")


def sums_chart(cycle: Cycle, title: str = "") -> alt.Chart:
    """The parts of each sum as one bar, and the limit as a thick line; CPUs and Gi each on a scale
    of its own.

    >>> len(sums_chart(admission_cluster().run()).layer)
    3
    """
    import altair as alt

    from volcano_lab.display.styled import styled

    rows = sums(cycle)
    bars: list[dict[str, Any]] = []
    marks = []
    for row in rows:
        label, start, scale = _label(row), 0.0, MOST[row["resource"]] / MOST[CPU]
        for part, amount in zip(PARTS, row["parts"], strict=True):
            bars.append({
                "label": label, "part": part, "from": start / scale, "to": (start + amount) / scale
            })
            start += amount
        marks.append({
            "label": label, "at": row["limit"] / scale, "end":
            max(row["limit"], row["sum"]) / scale, "text": _text(row)
        })
    y = alt.Y("label:N", title=None, sort=[_label(row) for row in rows],
              axis=alt.Axis(labelLimit=220, minExtent=180, domain=False, ticks=False))
    x = alt.X("from:Q", title=None, axis=None, scale=alt.Scale(domain=[0, MOST[CPU]], nice=False))
    color = alt.Color("part:N", title=None, scale=alt.Scale(domain=list(PARTS), range=list(
        PARTS.values())), legend=alt.Legend(padding=14))
    drawn = alt.Chart(alt.InlineData(bars)).mark_bar(size=18).encode(y=y, x=x, x2="to:Q",
                                                                     color=color)
    limits = alt.Chart(alt.InlineData(marks)).mark_tick(color="black", opacity=1, thickness=3,
                                                        size=28).encode(y=y, x="at:Q")
    texts = alt.Chart(alt.InlineData(marks)).mark_text(align="left", dx=8, fontSize=12).encode(
        y=y, x="end:Q", text="text:N")
    told = "; ".join(f"{_label(row)}: {_text(row)}" for row in rows)
    return styled(
        alt.layer(drawn, limits, texts).properties(width=560, height=30 * max(len(rows), 1)), title,
        f"Sums: {told}")


PANELS: list[dict[str, Any]] = [
    {
        "kind": "table", "key": "limits", "title": "What queue team may hold, in CPUs", "columns":
        ["capability", "cluster_−_guarantees_of_others", "real_capability", "deserved"]
    },
    {
        "kind":
        "sums", "key":
        "sums", "title":
        "What enqueue compares, one sum after the other", "parts":
        PARTS, "lines":
        8, "legend":
        "Thick line: the limit. The cluster's limit is factor × cluster − used; the queue's is its real capability."
    },
    {
        "kind": "table", "key": "jobs", "title": "When the cycle ends", "texts":
        ["PodGroup",
         "let_in"], "columns": ["job", "let_in", "PodGroup", "pods_placed", "pods_waiting"]
    },
    {"kind": "sentences", "key": "why", "title": "Why a job waits"},
]
WORDS = {
    "capability": ("capability of team, CPUs (0: not a limit)", 0, 20),
    "kept": ("guarantee of the idle queue other, CPUs", 0, 20),
    "runs": ("old: pods that run", 0, 20),
    "needs": ("old: pods that it needs", 0, 20),
    "first": ("first: pods", 0, 12),
    "second": ("second: pods", 1, 12),
    "memory": ("second: Gi of each pod", 0, 8),
}


def admission_lab() -> Lab:
    """Sliders for the limits, the jobs and the factor; the sums, and what becomes of each job,
    follow.

    >>> lab = admission_lab()
    >>> [row["PodGroup"] for row in lab.set(needs=1).state["jobs"]]
    ['Running', 'Inqueue', 'Inqueue']
    """
    controls: dict[str, ipywidgets.ValueWidget] = {
        name: ipywidgets.IntSlider(START[name], least, most, 1, tooltip=text)
        for name, (text, least, most) in WORDS.items()
    }
    controls["factor"] = ipywidgets.FloatSlider(START["factor"], min=1.0, max=1.8, step=0.1,
                                                readout_format=".1f", tooltip="overcommit-factor")
    return Lab(controls, board_state, PANELS, _stand(controls))


def board_state(values: Values) -> dict[str, Any]:
    """What the board shows for the sliders' values."""
    said = dict(values)
    cluster, conf = admission_cluster(**{word: said[word] for word in WORDS}), conf_with(
        round(said["factor"], 1))
    cycle = cluster.run(conf)
    bars = [{
        "name": _label(row), "text": _text(row), "over": row["over"], "parts": row["parts"],
        "limit": row["limit"], "most": MOST[row["resource"]]
    } for row in sums(cycle)]
    known = {row["job"].removeprefix("default/"): row for row in cycle.jobs()}
    jobs = [{
        "job": name, "let_in":
        "before" if name == "old" else "no" if known[name]["phase"] == "Pending" else "yes",
        "PodGroup": known[name]["phase"], "pods_placed": known[name]["placed"], "pods_waiting":
        known[name]["pending"]
    } for name in ("old", "first", "second") if name in known]
    waiting = [name for name in ("first", "second") if name in known and known[name]["pending"]]
    explain = Explainer(cluster.objects(), conf) if waiting else None
    why = [
        f"{name}: {explain.why(f'default/{name}').causes[0].text}" for name in waiting if explain
    ]
    team = next(row for row in cycle.queues() if row["queue"] == "team")
    limits = {
        "capability": said["capability"] or "no limit", "cluster_−_guarantees_of_others":
        NODES * CPUS - said["kept"], "real_capability": team["real_capability"]["cpu"], "deserved":
        team["deserved"]["cpu"]
    }
    return {"limits": [limits], "sums": bars, "jobs": jobs, "why": why}


def _stand(controls: dict[str, ipywidgets.ValueWidget]) -> ipywidgets.GridBox:
    texts = {name: text for name, (text, _, _) in WORDS.items()} | {"factor": "overcommit-factor"}
    cells: list[ipywidgets.Widget] = []
    for name, control in controls.items():
        control.layout.width = "auto"
        cells += [
            ipywidgets.HTML(f'<span style="white-space: nowrap">{texts[name]}</span>'), control
        ]
    grid = ipywidgets.GridBox(cells)
    grid.layout.grid_template_columns = "max-content minmax(0, 1fr)"
    grid.layout.max_width = "720px"
    return grid
