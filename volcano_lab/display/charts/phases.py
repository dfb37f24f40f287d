"""Where a cycle's time went, as a chart: a bar a phase, with the parts of the plugins."""

from collections import Counter
from typing import Any

import altair as alt

from volcano_lab.display.charts.cells import color
from volcano_lab.display.palette import COLORS
from volcano_lab.display.styled import styled
from volcano_lab.metrics.calls import ITSELF, Timing

OTHERS = "other plugins"


def _time_rows(timing: Timing) -> list[dict[str, Any]]:
    parts = [(row["phase"], row["plugin"], 1000 * row["seconds"]) for row in timing.rows()]
    by_plugin: Counter[str] = Counter()
    for _, plugin, amount in parts:
        by_plugin[plugin] += amount
    del by_plugin[ITSELF]
    told = {ITSELF, *(plugin for plugin, _ in by_plugin.most_common(len(COLORS) - 2))}
    sums: Counter[tuple[str, str]] = Counter()
    for phase, plugin, amount in parts:
        sums[phase, plugin if plugin in told else OTHERS] += amount
    return [{"phase": phase, "plugin": plugin, "milliseconds": amount}
            for (phase, plugin), amount in sums.items()]


def times(timing: Timing, title: str = "") -> alt.Chart:
    """Milliseconds of each phase and action, by plugin; "itself" is what no plugin took (with
    arrays: the scoring, too).

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import Scheduler
    >>> timing = Timing()
    >>> _ = Scheduler(Cluster().node("n1", cpu=4).job("a", cpu=1).cache()).run_once(timing)
    >>> times(timing).to_dict()["description"]
    'Milliseconds by phase: open ..., enqueue ..., allocate ..., backfill ..., close ...'
    """
    rows = _time_rows(timing)
    names = dict.fromkeys(row["plugin"] for row in rows if row["plugin"] not in (ITSELF, OTHERS))
    colors = dict(zip(names, COLORS, strict=False)) | {OTHERS: COLORS[-2], ITSELF: COLORS[-1]}
    bars = alt.Chart(alt.InlineData(rows)).mark_bar(size=20).encode(
        y=alt.Y("phase:N", title=None, sort=None),
        x=alt.X("milliseconds:Q", title="milliseconds", stack="zero"),
        color=color("plugin:N", colors),
        tooltip=["phase:N", "plugin:N", alt.Tooltip("milliseconds:Q", format=".3f")])
    sums: Counter[str] = Counter()
    for row in rows:
        sums[row["phase"]] += row["milliseconds"]
    told = ", ".join(f"{phase} {amount:.2g}" for phase, amount in sums.items())
    return styled(bars.properties(width=560, height=alt.Step(30)), title,
                  f"Milliseconds by phase: {told}")
