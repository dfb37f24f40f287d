"""A statement as a still chart (altair): the state of every pod after each step."""

import altair as alt

from volcano_lab.debug.frames import frames_of
from volcano_lab.display.charts.cells import PLAIN, color, matrix, one_of, ranked
from volcano_lab.trace import TraceReader, say
from volcano_lab.trace.shown import columns

STATES = {"Pending": "#F0F0F0", "Allocated": "#56B4E9", "Pipelined": "#F0E442",
          "Binding": "#0072B2", "Running": "#009E73", "Releasing": "#D55E00"}
"""State -> its colour; the state is written in each cell, too."""
DARK = ["Binding", "Running", "Releasing", "Succeeded", "Failed", "Unknown"]


def pod_states(trace: TraceReader, title: str = "") -> alt.Chart:
    """Draw one row per step, one column per pod: the pod's state right after the step, written out
    where it changes.

    >>> from volcano_lab.course.lesson_06.scene import SCENES
    >>> chart = pod_states(next(iter(SCENES.values()))())
    >>> len(chart.layer)
    2
    """
    shown = frames_of(trace)
    rows, before = [], {}
    for frame in shown:
        for pod in frame["pods"]:
            name, state = pod["pod"], "Running" if pod["status"] == "Bound" else pod["status"]
            rows.append({"step": f"{frame['step']}. {say(frame['text'])}", "pod": name,
                         "state": state, "word": state if before.get(name) != state else ""})
            before[name] = state
    told = "; ".join(f"{each['step']}. {each['text']}: " + ", ".join(
        f"{pod['pod']} {pod['status']}" for pod in each["pods"]) for each in (shown[0], shown[-1]))
    told = f"The states of the pods at the first and the last of {len(shown)} steps. {told}"
    longest = max(columns(row["step"]) for row in rows)  # letters; a reader's may be wide
    return matrix(rows, title, told, word="word:N", stroke="#999", size=(88, 26),
                  x=alt.X("pod:N", title=None,
                          axis=alt.Axis(**PLAIN, orient="top", labelAngle=0, labelLimit=86)),
                  y=ranked(alt.Y, "step:N", labelLimit=440, minExtent=8 * longest),
                  color=color("state:N", STATES, legend=None), white=one_of("state", DARK))
