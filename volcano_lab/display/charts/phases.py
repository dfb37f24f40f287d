"""Where a cycle's time went, as a chart: a bar a phase, with the parts of the plugins."""

from __future__ import annotations

from typing import Any

import altair as alt

from volcano_lab.display.charts.following import drawn
from volcano_lab.display.palette import COLORS
from volcano_lab.display.styled import styled
from volcano_lab.metrics.calls import ITSELF, Timing

OTHERS = "other plugins"


def _time_rows(timing: Timing) -> list[dict[str, Any]]:
    sums: dict[tuple[str, str], float] = {}
    for row in timing.rows():
        key = row["phase"], row["plugin"]
        sums[key] = sums.get(key, 0.0) + 1000 * row["seconds"]
    by_plugin: dict[str, float] = {}
    for (_, plugin), amount in sums.items():
        if plugin != ITSELF:
            by_plugin[plugin] = by_plugin.get(plugin, 0.0) + amount
    first = sorted(by_plugin, key=lambda plugin: -by_plugin[plugin])[: len(COLORS) - 2]
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for (phase, plugin), amount in sums.items():
        name = plugin if plugin in first or plugin == ITSELF else OTHERS
        row = rows.setdefault((phase, name), {"phase": phase, "plugin": name, "milliseconds": 0.0})
        row["milliseconds"] += amount
    return list(rows.values())


@drawn(_time_rows)
def times(timing: Timing, title: str = "") -> alt.Chart:
    """Milliseconds of each phase and action, by plugin; "itself" is what no plugin took (with
    arrays: the scoring, too).

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import Scheduler
    >>> timing = Timing()
    >>> _ = Scheduler(Cluster().node("n1", cpu=4).job("a", cpu=1).cache()).run_once(timing)
    >>> list(dict.fromkeys(row["phase"] for row in times.rows(timing)))
    ['open', 'enqueue', 'allocate', 'backfill', 'close']
    """
    rows = _time_rows(timing)
    names = list(
        dict.fromkeys(row["plugin"] for row in rows if row["plugin"] not in (ITSELF, OTHERS)))
    colors = dict(zip(names, COLORS, strict=False)) | {OTHERS: COLORS[-2], ITSELF: COLORS[-1]}
    color = alt.Color("plugin:N", title=None, scale=alt.Scale(domain=list(colors),
                                                              range=list(colors.values())))
    bars = alt.Chart(alt.InlineData(rows)).mark_bar(size=20).encode(
        y=alt.Y("phase:N", title=None, sort=None),
        x=alt.X("milliseconds:Q", title="milliseconds", stack="zero"), color=color,
        tooltip=["phase:N", "plugin:N", alt.Tooltip("milliseconds:Q", format=".3f")])
    sums: dict[str, float] = {}
    for row in rows:
        sums[row["phase"]] = sums.get(row["phase"], 0.0) + row["milliseconds"]
    told = ", ".join(f"{phase} {amount:.2g}" for phase, amount in sums.items())
    return styled(bars.properties(width=560, height=alt.Step(30)), title,
                  f"Milliseconds by phase: {told}")
