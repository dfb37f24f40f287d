"""What happened in a run, as a still chart (altair): what queues had and deserved, how full and how
fair the cluster was.
"""

from typing import Any, Literal

import altair as alt

from volcano_lab.display.charts.colors import color
from volcano_lab.display.palette import colors_of
from volcano_lab.simulation.history import CLUSTER, QUEUES, History

WIDTH, HEIGHT = 640, 120


def timeline(history: History, resource: Literal["cpu", "memory", "gpu"] = "cpu", title: str = ""
             ) -> alt.Chart:
    """Four bands over time: allocated by queue (dashed: deserved), the part in use, fairness, jobs
    that wait and run.

    A queue without jobs has and deserves 0. A run without cycles gives empty bands.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.simulation import JobTemplate, Simulation, every
    >>> sim = Simulation(Cluster().node("n1", cpu=4), workload=[every(5, JobTemplate(cpu=1))])
    >>> chart = timeline(sim.run(until=20))
    >>> len(chart.vconcat)
    4
    """
    queues = _rows(history.rows["queues"], QUEUES,
                   ("time", "queue", f"allocated_{resource}", f"deserved_{resource}"))
    names = {row["queue"] for row in queues if row["allocated"] or row["deserved"]} - {"root"}
    used = [row | {part: row[part] or 0 for part in ("allocated", "deserved")} for row in queues
            if row["queue"] in names]
    cluster = _rows(history.rows["cluster"], CLUSTER,
                    ("time", f"part_{resource}", "fairness", "jobs_waiting", "jobs_running"))
    time = alt.X("time:Q", title=None)
    by_queue = alt.Y("allocated:Q", title=[f"{resource} by queue", "(dashed: deserved)"])
    base = alt.Chart(alt.InlineData(used)).encode(x=time, color=color("queue:N", colors_of(names)))
    deserved = base.mark_line(interpolate="step-after", strokeDash=[3, 3], opacity=0.6)
    bands = [base.mark_line(interpolate="step-after").encode(y=by_queue)
             + deserved.encode(y="deserved:Q"),
             _band(cluster, time, f"part of {resource} in use", "part", "#555"),
             _band(cluster, time, "fairness", "fairness", "#009E73"),
             _jobs(cluster, alt.X("time:Q", title="seconds"))]
    chart = alt.vconcat(*(band.properties(width=WIDTH, height=HEIGHT) for band in bands), spacing=8)
    return chart.properties(title=title, description=_described(history, resource)).resolve_scale(
        x="shared", color="independent")


def _band(rows: list[dict[str, Any]], time: Any, label: str, field: str, color: str) -> Any:
    y = alt.Y(f"{field}:Q", title=label, scale=alt.Scale(domain=[0, 1]))
    area = {"interpolate": "step-after", "color": color, "opacity": 0.7}
    return alt.Chart(alt.InlineData(rows)).mark_area(**area).encode(x=time, y=y)


def _jobs(rows: list[dict[str, Any]], time: Any) -> Any:
    states = {"waiting": "#D55E00", "running": "#0072B2"}
    counts = [{"time": row["time"], "jobs": row[f"jobs_{state}"], "state": state} for row in rows
              for state in states]
    line = alt.Chart(alt.InlineData(counts)).mark_line(interpolate="step-after")
    return line.encode(x=time, y=alt.Y("jobs:Q", title="jobs"), color=color("state:N", states))


def _rows(rows: list[list[Any]], columns: tuple[str, ...],
          wanted: tuple[str, ...]) -> list[dict[str, Any]]:
    """The wanted columns; "allocated_cpu" becomes "allocated"."""
    places = [columns.index(name) for name in wanted]
    names = [name.split("_")[0] if name.split("_")[0] in ("allocated", "deserved", "part") else name
             for name in wanted]
    return [{name: row[place] for name, place in zip(names, places, strict=True)} for row in rows]


def _described(history: History, resource: str) -> str:
    """The run in a sentence, for those who don't see the picture."""
    parts = [row[CLUSTER.index(f"part_{resource}")] for row in history.rows["cluster"]]
    known = [part for part in parts if part is not None]
    finished = sum(row[8] is not None for row in history.rows["jobs"])
    mean = f"{100 * sum(known) / len(known):.0f} %" if known else "nothing"
    return (f"{len(parts)} cycles; on average {mean} of {resource} in use; {finished} of "
            f"{len(history.rows['jobs'])} jobs finished")
