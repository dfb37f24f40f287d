"""Lesson 11: half a minute of arrivals with binds that fail, as a still chart and as a lab with
three sliders.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

import ipywidgets

from volcano_lab.cluster import Cluster
from volcano_lab.display.styled import styled
from volcano_lab.framework.action import action_names
from volcano_lab.framework.config.conf import SchedulerConfiguration, load_conf
from volcano_lab.simulation import Faults, JobTemplate, Latencies, Simulation, poisson
from volcano_lab.widgets.board_lab import BoardLab as Lab
from volcano_lab.widgets.board_lab import Values
from volcano_lab.widgets.run_view import RunView

if TYPE_CHECKING:
    import altair as alt

UNTIL = 32
CPUS = 8
START = {"fail": 20, "rate": 20, "period": 2}
LANES = {
    "waiting": ("pods that wait", 16, "#D55E00"), "running": ("pods that run", CPUS, "#0072B2")
}
"""Lane -> its label, the top of its scale, its colour."""

CONF = """\
actions: "enqueue, allocate"
tiers:
- plugins: [{name: gang}]
- plugins: [{name: predicates}, {name: proportion}]
"""


@cache
def _conf() -> SchedulerConfiguration:
    return load_conf(CONF, action_names())


def short_run(fail: int, rate: int, period: int) -> Simulation:
    """32 seconds on two nodes of 4 CPUs: `rate` pods a minute of 1 CPU and 10 seconds, a cycle each
    `period` seconds, and `fail` percent of the binds refused. The same pods come at the same times,
    whatever else is chosen.

    >>> short_run(0, 20, 2).cycles
    16
    """
    cluster = Cluster().node("n1", cpu=CPUS // 2).node("n2", cpu=CPUS // 2)
    sim = Simulation(cluster, _conf(), seed=27, period=period, faults=Faults(
        {"bind_refused":
         fail / 100}), workload=[poisson(rate / 60, JobTemplate("job", cpu=1, run_time=10))],
                     latencies=Latencies(remove=60.0))
    sim.run(until=UNTIL)
    return sim


def run_state(fail: int, rate: int, period: int) -> dict[str, Any]:
    """One run as a view shows it: how many pods wait and run from which second on, refused binds,
    cycles, and sums.

    >>> run_state(0, 20, 2)["facts"]["binds_refused"]
    0
    """
    sim = short_run(fail, rate, period)
    changes = {
        "job arrived": {"waiting": 1}, "pod bound": {"waiting": -1}, "job started": {"running": 1},
        "job finished": {"running": -1}
    }
    count, lanes, refused = {"waiting": 0, "running":
                             0}, {"waiting": [[0, 0]], "running": [[0, 0]]}, []
    events = sim.history.rows["events"]
    for time, what, _, _ in events:
        if what == "bind refused":
            refused.append(time)
        for lane, change in changes.get(what, {}).items():
            count[lane] += change
            lanes[lane].append([time, count[lane]])
    waits = [run.waiting for run in sim.side.jobs.values() if run.waiting is not None]
    facts = {
        "pods_that_came": len(sim.side.jobs), "bound": sum(
            what == "pod bound"
            for _, what, _, _ in events), "wait_at_the_end": count["waiting"], "binds_refused":
        len(refused), "mean_wait": round(sum(waits) / len(waits), 1) if waits else None,
        "longest_wait": round(max(waits), 1) if waits else None
    }
    return {
        "run": {
            **lanes, "refused": list(Counter(refused).items()), "cycles": list(
                range(0, UNTIL, period))
        }, "facts": facts
    }


def run_chart(fail: int, rate: int, period: int, title: str = "") -> alt.Chart:
    """One run: pods that wait above, pods that run below, crosses for refused binds, a tick for
    each cycle.

    >>> len(run_chart(0, 20, 2).vconcat)
    2
    """
    import altair as alt

    state = run_state(fail, rate, period)
    run, facts = state["run"], state["facts"]
    x = alt.X("time:Q", title=None, scale=alt.Scale(domain=[0, UNTIL], nice=False))
    bands = []
    for lane, (_, most, color) in LANES.items():
        rows = [{"time": time, "pods": pods}
                for time, pods in [*run[lane], [UNTIL, run[lane][-1][1]]]]
        y = alt.Y("pods:Q", title=lane, scale=alt.Scale(domain=[0, most]), axis=alt.Axis(
            tickCount=4, format="d"), stack=None)
        area = alt.Chart(alt.InlineData(rows)).mark_area(interpolate="step-after", color=color,
                                                         opacity=0.75).encode(x=x, y=y)
        ticks = alt.Chart(alt.InlineData([{"time": time} for time in run["cycles"]])).mark_tick(
            color="#555", thickness=1, size=8, yOffset=-4).encode(x=x, y=alt.YValue("height"))
        marks = [{"time": time, "mark": f"×{count}" if count > 1 else "×"}
                 for time, count in run["refused"]]
        crosses = alt.Chart(alt.InlineData(marks)).mark_text(
            fontSize=14, fontWeight="bold", dy=9).encode(x=x, y=alt.YValue(0), text="mark:N")
        bands.append(
            alt.layer(area, ticks, *([crosses] if lane == "waiting" else [])).properties(
                width=640, height=90))
    told = (
        f"{facts['pods_that_came']} pods came, {facts['bound']} were bound, {facts['binds_refused']} binds refused, "
        f"mean wait {facts['mean_wait']} s, longest {facts['longest_wait']} s")
    return styled(alt.vconcat(*bands, spacing=8).resolve_scale(x="shared"), title, told)


PANELS: list[dict[str, Any]] = [{
    "title":
    "Pods that wait (above) and pods that run (below), over 32 seconds",
    "until":
    UNTIL,
    "lanes": [{"key": key, "label": label, "most": most, "color": color}
              for key, (label, most, color) in LANES.items()],
    "legend":
    "A cross: a bind was refused (×3: three at once). A tick: a cycle. With one rate the same pods come at the same "
    "times, whatever else you choose.",
}]


class RunLab(Lab):
    """The lab of this lesson; `values` and `set` as in every lab."""

    kind = RunView


def run_lab() -> RunLab:
    """Sliders for the part of binds that fail, for how many pods come, and for the time between
    cycles.

    >>> run_lab().set(fail=0).state["facts"]["binds_refused"]
    0
    """
    controls = {"fail": _slider("binds that fail, %", START["fail"], 0, 90, 10),
                "rate": _slider("pods a minute", START["rate"], 10, 30, 5),
                "period": _slider("seconds between cycles", START["period"], 2, 8, 1)}
    stand = ipywidgets.VBox(list(controls.values()), layout={"max_width": "640px"})
    return RunLab(controls, _decide, PANELS, stand)


def _decide(values: Values) -> dict[str, Any]:
    return run_state(**values)


def _slider(label: str, value: int, least: int, most: int, step: int) -> ipywidgets.IntSlider:
    return ipywidgets.IntSlider(value, least, most, step, description=label,
                                layout={"width": "auto"}, style={"description_width": "170px"})
