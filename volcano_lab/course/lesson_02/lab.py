"""Lesson 02: two amounts side by side, and what every comparison says of them."""

from typing import Any

from volcano_lab.api.resource import Resource
from volcano_lab.course.kit.tasks import tasks
from volcano_lab.course.lesson_02.comparisons import FITS, NOT_LOOKED_AT, TOO_MUCH, compared
from volcano_lab.messages import Message, gettext, paragraph
from volcano_lab.widgets import pictures
from volcano_lab.widgets.controls import choice, group, slider, switch
from volcano_lab.widgets.lab import Lab, Values
from volcano_lab.widgets.story import Outcome, outcome

GPU = "nvidia.com/gpu"
NAMES = {"cpu": "cpu", "memory": "memory", GPU: "gpu"}
SIGNS = {FITS: "✓", TOO_MUCH: "✗", NOT_LOOKED_AT: "·"}
RIGHT_CPU, RIGHT_MEMORY = 1000.0, float(4 * 2**30)
"""The right side: one CPU in millicores, four GiB in bytes."""

NOT_MENTIONED = "not mentioned"
START: Values = {"cpu": 0.05, "memory": 0, "left_gpu": "1", "right_gpu": NOT_MENTIONED,
                 "ask_cpu": True, "ask_memory": True, "ask_gpu": False}


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


COLUMNS = ["comparison", "rule", *NAMES.values(), "answer"]
LEGEND = "✓: holds in this resource. ✗: does not. ·: not looked at."


def comparison_table(title: str, **values: Any) -> pictures.Picture:
    """Show what the first three comparisons say of `sides(**values)`: a column per resource.

    >>> table = comparison_table("", cpu=0.05)
    >>> [row["answer"] for row in table.data if row["comparison"] == "strict"]
    ['✗ no']
    """
    return pictures.table(title, _worded(_answers(values)[:3]), columns=COLUMNS, texts=True,
                          legend=LEGEND)


def _answers(values: Values) -> list[dict[str, Any]]:
    return [row | {short: SIGNS[row["dimensions"].get(name, NOT_LOOKED_AT)]
                   for name, short in NAMES.items()}
            | {"answer": "✓ yes" if row["answer"] else "✗ no"}
            for row in compared(*sides(**values))]


def _worded(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row | {name: gettext(row[name])
                   for name in ("comparison", "rule", "asked_by", "answer")} for row in rows]


def difference(cpu: float, title: str) -> pictures.Picture:
    """Draw how a tolerant and a strict comparison see a left side above the right by `cpu`.

    >>> [row["text"] for row in difference(0.05, "").data]
    ['yes', 'no']
    """
    return pictures.band(title, _difference(cpu), unit="millicores")


def _difference(cpu: float, asked: bool = True) -> list[dict[str, Any]]:
    left, right, request = sides(cpu=cpu, left_gpu=NOT_MENTIONED, ask_cpu=asked)
    said = {row["comparison"]: row["answer"] for row in compared(left, right, request)}
    return [{"name": name, "label": gettext(name), "value": cpu, "over": not said[name],
             "strict": name == "strict", "text": gettext("yes" if said[name] else "no")}
            for name in ("tolerant", "strict")]


def decide(values: Values) -> dict[str, Any]:
    """Compare the two sides of some values in every way."""
    left, right, request = sides(**values)
    amounts = [{"side": side, "cpu": f"{resource.milli_cpu:.2f}", "memory": _bytes(resource.memory),
                "gpu": f"{resource.get(GPU) / 1000:.0f}" if resource.scalars else "–"}
               for side, resource in (("left side", left), ("right side", right))]
    asked = {short: gettext("yes" if request.get(name) else "no") for name, short in NAMES.items()}
    return {"sides": [*amounts, {"side": gettext("asked for"), **asked}],
            "answers": _answers(values),
            "difference": _difference(values["cpu"], values["ask_cpu"])}


def _bytes(memory: float) -> str:
    more = int(memory - RIGHT_MEMORY)
    sign = "+" if more > 0 else "−"
    return "4 Gi" + (f" {sign} {abs(more)} B" if more else "")


def _because(before: dict[str, Any], now: dict[str, Any]) -> str:
    """Return the amounts that were moved, and whether they are asked for."""
    left, right, asked = now["sides"]
    return paragraph(
        Message("compared", name=name, left=left[name], right=right[name], asked=asked[name])
        for name in NAMES.values()
        if [row[name] for row in now["sides"]] != [row[name] for row in before["sides"]])


GPUS = [NOT_MENTIONED, "0", "1", "2"]
CONTROLS = group("left minus right", {
    "cpu": slider(START["cpu"], -0.3, 0.3, "CPU", step=0.05, about="millicores"),
    "memory": slider(START["memory"], -2, 2, "memory", unit="B")}) | group("GPUs", {
    "left_gpu": choice(START["left_gpu"], GPUS, "left side"),
    "right_gpu": choice(START["right_gpu"], GPUS, "right side"),
}) | group("the request asks for", {
    f"ask_{name}": switch(START[f"ask_{name}"], name) for name in NAMES.values()})
PANELS = [pictures.band("CPU: left minus right, in millicores", lambda at: at["difference"],
                        key="difference", unit="millicores"),
          pictures.table("The two sides", lambda at: at["sides"], key="sides", texts=True,
                         heads=["side"], legend="CPU in millicores. –: not mentioned."),
          pictures.table("What each comparison says", lambda at: _worded(at["answers"]),
                         key="answers", wide=True, columns=COLUMNS, texts=True, long=["rule"],
                         legend=LEGEND)]


def _said(number: int, comparison: str) -> Outcome:
    """Return what the sentence after a move says of a comparison."""
    return outcome(f"“{gettext(comparison).capitalize()}”",
                   lambda at: at["answers"][number]["answer"][2:],
                   lambda at: at["answers"][number]["rule"])


def comparison_lab() -> Lab:
    """Make the lab: two amounts that differ by as little as you like, and all comparisons.

    >>> lab = comparison_lab()
    >>> [row["answer"] for row in lab.set(cpu=0.2, left_gpu="not mentioned").board["answers"]][::2]
    ['✗ no', '✗ no', '✓ yes']
    """
    return Lab(CONTROLS, decide, PANELS, title="Two amounts, five comparisons", tasks=tasks("02"),
               says=[_said(i, row["comparison"]) for i, row in enumerate(_answers(START))],
               opening="The left side has 0.05 millicores more, and a GPU that the right side does "
               "not mention.", nothing="Every comparison says what it said before.",
               because=_because)
