"""A statement as a still chart (altair): the state of every pod after each step."""

from __future__ import annotations

import altair as alt

from volcano_lab.debug.statement_frames import Frame, frames
from volcano_lab.display.charts.cells import PLAIN, color, matrix, one_of, ranked
from volcano_lab.trace import TraceReader

STATES = {"Pending": "#F0F0F0", "Allocated": "#56B4E9", "Pipelined": "#F0E442",
          "Binding": "#0072B2", "Running": "#009E73", "Releasing": "#D55E00"}
"""State -> its colour; the state is written in each cell, too."""
DARK = ["Binding", "Running", "Releasing", "Succeeded", "Failed", "Unknown"]


def pod_states(trace: TraceReader, title: str = "") -> alt.Chart:
    """A row a pod, a column a step: the pod's state right after it, written out where it changes.

    >>> from volcano_lab.course.lesson_06.scene import SCENES
    >>> chart = pod_states(next(iter(SCENES.values()))())
    >>> len(chart.layer)
    2
    """
    shown = frames(trace)
    rows, before = [], {}
    for frame in shown:
        for pod in frame["pods"]:
            name, state = pod["pod"], "Running" if pod["status"] == "Bound" else pod["status"]
            rows.append({"step": _label(frame), "pod": name, "state": state,
                         "word": state if before.get(name) != state else ""})
            before[name] = state
    long = len(shown) > 10
    told = "; ".join(f"{each['step']}. {each['text']}: " + ", ".join(
        f"{pod['pod']} {pod['status']}" for pod in each["pods"]) for each in (shown[0], shown[-1]))
    told = f"The states of the pods at the first and the last of {len(shown)} steps. {told}"
    return matrix(rows, title, told, word="word:N", font=9 if long else 11, stroke="#999",
                  x=ranked(alt.X, "step:N", labelAngle=-90 if long else 0, labelLimit=0,
                           labelFontSize=11, labelPadding=6, labelExpr="split(datum.value, '|')"),
                  y=alt.Y("pod:N", title=None, axis=alt.Axis(**PLAIN)),
                  color=color("state:N", STATES, legend=None),
                  white=one_of("state", DARK),
                  size=(46 if long else 80, 28))


def _label(frame: Frame) -> str:
    """A step in two or three short lines, parted by bars: what was done, the pod, the node."""
    word, _, what = frame["text"].rpartition(": ")
    operation, pod, *rest = what.split(" ")
    if not frame["pod"]:
        return f"{frame['step']}. {frame['kind']}"
    node = " ".join(rest)
    told = word.split(",")[0].replace("commit refused", "refused") or operation
    return f"{frame['step']}. {told}|{pod}|{node}"
