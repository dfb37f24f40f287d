"""Lesson 02: two amounts side by side, and what every comparison says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets

from volcano_lab.api.resource import Resource
from volcano_lab.course.lesson_02.comparisons import FITS, NOT_LOOKED_AT, TOO_MUCH, compared
from volcano_lab.display.styled import styled
from volcano_lab.widgets.board_lab import BoardLab as Lab
from volcano_lab.widgets.board_lab import Values, labelled

if TYPE_CHECKING:
    import altair as alt

GPU = "nvidia.com/gpu"
NAMES = {"cpu": "cpu", "memory": "memory", GPU: "gpu"}
SIGNS = {FITS: "✓", TOO_MUCH: "✗", NOT_LOOKED_AT: "·"}
RIGHT_CPU, RIGHT_MEMORY = 1000.0, float(4 * 2**30)
"""The right side: one CPU in millicores, four GiB in bytes."""

NOT_MENTIONED = "not mentioned"
START = {
    "cpu": 0.05, "memory": 0, "left_gpu": "1", "right_gpu": NOT_MENTIONED, "ask_cpu": True,
    "ask_memory": True, "ask_gpu": False
}


def sides(cpu: float = START["cpu"], memory: float = START["memory"],
          left_gpu: str = START["left_gpu"], right_gpu: str = START["right_gpu"],
          ask_cpu: bool = True, ask_memory: bool = True,
          ask_gpu: bool = False) -> tuple[Resource, Resource, Resource]:
    """(left, right, request): left is above right by `cpu` millicores and `memory` bytes; GPUs are
    a number or not mentioned.

    >>> left, right, request = sides(cpu=0.05)
    >>> left.milli_cpu - right.milli_cpu < 0.1, right.scalars, request
    (True, None, Resource(cpu=1, memory=1))
    """
    left = Resource(RIGHT_CPU + cpu, RIGHT_MEMORY + memory, _gpus(left_gpu))
    request = Resource(float(ask_cpu), float(ask_memory), {GPU: 1.0} if ask_gpu else None)
    return left, Resource(RIGHT_CPU, RIGHT_MEMORY, _gpus(right_gpu)), request


def _gpus(count: str) -> dict[str, float] | None:
    return None if count == NOT_MENTIONED else {GPU: 1000.0 * int(count)}


def comparison_chart(title: str = "", **values: Any) -> alt.Chart:
    """Every comparison of `sides(**values)`: a row a comparison, a column a dimension, and the
    answer.

    >>> chart = comparison_chart(cpu=0.05)
    >>> [row["sign"] for row in chart.data.to_dict()["values"] if row["comparison"].startswith("strict")]
    ['✗', '✓', '·', 'no']
    """
    import altair as alt

    rows = []
    for row in compared(*sides(**values)):
        where = f"{row['comparison']}: {row['rule']}"
        for name, short in NAMES.items():
            cell = row["dimensions"].get(name, NOT_LOOKED_AT)
            rows.append(
                {"comparison": where, "dimension": short, "sign": SIGNS[cell], "cell": cell})
        answer = row["answer"]
        rows.append({"comparison": where, "dimension": "answer", "sign": "yes" if answer else "no",
                     "cell": FITS if answer else TOO_MUCH})
    order = list(dict.fromkeys(row["comparison"] for row in rows))
    base = alt.Chart(alt.InlineData(rows)).encode(
        x=alt.X("dimension:N", title=None, sort=[*NAMES.values(), "answer"], axis=alt.Axis(
            labelAngle=0, orient="top")), y=alt.Y("comparison:N", title=None, sort=order,
                                                  axis=alt.Axis(labelLimit=400, minExtent=290)))
    colors = alt.Scale(domain=[FITS, TOO_MUCH, NOT_LOOKED_AT],
                       range=["#0072B2", "#D55E00", "#e8e8e8"])
    cells = base.mark_rect(
        stroke="white", strokeWidth=3).encode(color=alt.Color("cell:N", title=None, scale=colors))
    signs = base.mark_text(fontSize=14, fontWeight="bold").encode(
        text="sign:N", color=alt.condition(f"datum.cell == '{NOT_LOOKED_AT}'", alt.value("#333"),
                                           alt.value("white")))
    told = "; ".join(f"{row['comparison']} {'yes' if row['answer'] else 'no'}"
                     for row in compared(*sides(**values)))
    chart = alt.layer(cells, signs, data=alt.InlineData(rows)).properties(width=340, height=170)
    return styled(chart, title, f"Answers: {told}").configure_axis(labelFontSize=12, domain=False,
                                                                   ticks=False)


PANELS: list[dict[str, Any]] = [
    {
        "kind": "table", "key": "sides", "title": "The two sides", "columns":
        ["side", "cpu", "memory", "gpu"], "legend":
        "CPU in millicores, memory in bytes, GPUs in thousandths. –: not mentioned."
    },
    {
        "kind": "table", "key": "answers", "title": "What each comparison says", "columns":
        ["comparison", "rule", "cpu", "memory", "gpu", "answer",
         "asked_by"], "legend": "✓: holds in this dimension. ✗: does not hold. ·: not looked at."
    },
]


def comparison_lab() -> Lab:
    """Two amounts that differ by as little as you like, with GPUs or without, and all comparisons.

    >>> lab = comparison_lab()
    >>> [row["answer"] for row in lab.set(cpu=0.2, left_gpu="not mentioned").state["answers"]][::2]
    ['no', 'no', 'yes']
    """
    gpus = [NOT_MENTIONED, "0", "1", "2"]
    controls: dict[str, ipywidgets.ValueWidget] = {
        "cpu":
        ipywidgets.SelectionSlider(
            options=[(f"{step / 20:+.2f}", step / 20) for step in range(-6, 7)], value=START["cpu"],
            tooltip="left CPU less right CPU, in millicores"),
        "memory":
        ipywidgets.IntSlider(START["memory"], -2, 2, 1, readout_format="+d",
                             tooltip="left memory less right memory, in bytes"),
        "left_gpu":
        ipywidgets.Dropdown(options=gpus, value=START["left_gpu"], tooltip="GPUs of the left side"),
        "right_gpu":
        ipywidgets.Dropdown(options=gpus, value=START["right_gpu"],
                            tooltip="GPUs of the right side"),
        **{
            f"ask_{name}":
            ipywidgets.Checkbox(START[f"ask_{name}"], description=name, indent=False, tooltip=f"the request asks for {name}") for name in NAMES.values(
            )
        },
    }
    return Lab(controls, lambda values: board_state(values), PANELS, _stand(controls))


def board_state(values: Values) -> dict[str, Any]:
    """The sides and the answers as the board shows them."""
    left, right, request = sides(**values)
    tables = [{"side": side, "cpu": f"{resource.milli_cpu:.2f}", "memory": f"{resource.memory:.0f}",
               "gpu": f"{resource.get(GPU):.0f}" if resource.scalars else None}
              for side, resource in (("left", left), ("right", right))]
    asked = {
        "side": "asked for",
        **{short: "yes" if request.get(name) else "no" for name, short in NAMES.items()}
    }
    rows = []
    for row in compared(left, right, request):
        cells = {
            short: SIGNS[row["dimensions"].get(name, NOT_LOOKED_AT)]
            for name, short in NAMES.items()
        }
        rows.append(row | cells | {"answer": "yes" if row["answer"] else "no"})
    return {"sides": [*tables, asked], "answers": rows}


def _stand(controls: dict[str, ipywidgets.ValueWidget]) -> ipywidgets.GridBox:
    labels = {
        "cpu": "left CPU − right CPU, millicores", "memory": "left memory − right memory, bytes",
        "left_gpu": "GPUs on the left", "right_gpu": "GPUs on the right"
    }
    grid = labelled(controls, labels, "20em", "800px")
    asked = [controls[f"ask_{name}"] for name in NAMES.values()]
    for box in asked:
        box.layout.width = "7em"
    grid.children += (ipywidgets.HTML("<span>the request asks for</span>"), ipywidgets.HBox(asked))
    return grid
