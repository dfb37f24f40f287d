"""Lesson 12: how the answers of three plugins in two tiers become one, and the scores of nodes
plugin by plugin.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets

from volcano_lab.display.palette import COLORS
from volcano_lab.display.styled import styled
from volcano_lab.framework.config.conf import PluginOption, Tier
from volcano_lab.framework.points.rules import ABSTAIN, PERMIT, REJECT
from volcano_lab.framework.points.table import extension_points
from volcano_lab.widgets.board_lab import BoardLab as Lab
from volcano_lab.widgets.board_lab import labelled

if TYPE_CHECKING:
    import altair as alt

    from volcano_lab.trace import TraceReader

PLUGINS = {"A": 1, "B": 1, "C": 2}
"""Plugin -> its tier."""


class Named:
    """What stands for a task, with a name and nothing else."""

    def __init__(self, name: str):
        self.uid = self.name = name

    def __repr__(self) -> str:
        return self.name


TASKS = [Named(name) for name in ("x", "y", "z")]
NAMED = {"A": TASKS[:2], "B": TASKS[1:], "C": TASKS[2:]}
"""Plugin -> the tasks that it names as victims when it names any."""

Voice = Callable[[str, int], tuple[Any, str]]
"""A plugin and where its slider stands (-1, 0, 1) -> its answer, and the words for it."""


def _of(*answers: tuple[Any, str]) -> Voice:
    return lambda plugin, at: answers[at + 1]


def _victims(plugin: str, at: int) -> tuple[Any, str]:
    if at > 0:
        return (NAMED[plugin], PERMIT), f"{' and '.join(map(str, NAMED[plugin]))} may go"
    return (([], PERMIT), "nobody may go") if at < 0 else (([], ABSTAIN), "abstains")


POINTS: dict[str, tuple[Voice, tuple[Any, ...], Callable[[Any], str]]] = {
    "node_order": (_of((-100, "-100"), (0, "0"),
                       (100, "100")), ("task", "node"), lambda sum_: f"{sum_:g}"),
    "job_order": (_of((-1, "-1"), (0, "0"),
                      (1, "1")), (Named("a"), Named("b")), lambda left_first: "the left one first"
                  if left_first else "the right one first"),
    "predicate": (_of(("refused", "a reason"), (None, "None"),
                      (None, "None")), ("task", "node"), lambda reason: "the node is refused"
                  if reason else "the node may be taken"),
    "allocatable": (_of((False, "False"), (True, "True"),
                        (True, "True")), ("queue", "task"), lambda yes: "yes" if yes else "no"),
    "overused": (_of((False, "False"), (False, "False"),
                     (True, "True")), ("queue", ), lambda yes: "yes" if yes else "no"),
    "job_enqueueable": (_of((REJECT, "REJECT"), (ABSTAIN, "ABSTAIN"),
                            (PERMIT, "PERMIT")), ("job", ), lambda yes: "let in"
                        if yes else "not let in"),
    "reclaimable":
    (_victims, ("task", TASKS), lambda found: " and ".join(map(str, found)) or "nobody"),
}
"""Extension point -> (how a plugin speaks, what is asked about, the combined answer in words)."""


def combined(point: str, a: int = 0, b: int = 0, c: int = 0,
             off: str = "") -> tuple[list[dict[str, Any]], str]:
    """(a row a plugin, what the session hears). Each plugin answers -1, 0 or 1, in the point's
    words; `off` is switched off.

    >>> rows, together = combined("job_enqueueable", a=1, c=-1)
    >>> [(row["plugin"], row["answer"], row["asked"]) for row in rows], together
    ([('A', 'PERMIT', 'yes'), ('B', 'ABSTAIN', 'yes'), ('C', 'REJECT', 'no')], 'let in')
    """
    voice, about, words = POINTS[point]
    asked: set[str] = set()
    question = extension_points(None)[point]
    if point == "job_order":
        question.otherwise, question.default = (
            lambda left, right: True), "the older one, here the left"
    tiers: dict[int, Tier] = {}
    said = {}
    for plugin, at in zip(PLUGINS, (a, b, c), strict=True):
        answer, said[plugin] = voice(plugin, at)
        question.register(plugin, lambda *_, answer=answer: answer)
        option = PluginOption(plugin)
        if plugin == off:
            option.switches = dict.fromkeys(question.switches, False)
        tiers.setdefault(PLUGINS[plugin], Tier()).plugins.append(option)

    def watch(point: Any, tier: int, plugin: str, function: Callable[...,
                                                                     Any]) -> Callable[..., Any]:
        def answered(*args: Any) -> Any:
            asked.add(plugin)
            return function(*args)

        return answered

    question.arrange(list(tiers.values()), watch)
    together = words(question.ask(*about))
    rows = [{"tier": tier, "plugin": plugin, "answer": said[plugin],
             "asked": "switched off" if plugin == off else "yes" if plugin in asked else "no"}
            for plugin, tier in PLUGINS.items()]
    return rows, together


def combination_chart(point: str, a: int = 0, b: int = 0, c: int = 0, off: str = "",
                      title: str = "") -> alt.Chart:
    """The three plugins in their tiers, who was asked, and the combined answer.

    >>> len(combination_chart("allocatable", a=-1).layer)
    2
    """
    import altair as alt

    rows, together = combined(point, a, b, c, off)
    boxes = [{
        "at": f"{row['plugin']}, tier {row['tier']}", "said": row["answer"], "who": row["asked"]
    } for row in rows]
    boxes.append({"at": "together", "said": together, "who": "together"})
    base = alt.Chart(alt.InlineData(boxes)).encode(x=alt.X(
        "at:N", sort=None, title=None, axis=alt.Axis(orient="top", labelAngle=0, labelFontSize=13,
                                                     domain=False, ticks=False)))
    fill = alt.Color(
        "who:N", legend=alt.Legend(title="asked",
                                   values=["yes", "no"] + ["switched off"] * bool(off)),
        scale=alt.Scale(domain=["yes", "no", "switched off", "together"],
                        range=[COLORS[4], "#e6e6e6", "#c4c4c4", "#ffe9b8"]))
    tiles = base.mark_rect(stroke="#777", height=40, width=130, cornerRadius=4).encode(
        y=alt.value(26), color=fill)
    text = base.mark_text(fontSize=13, color="#111").encode(y=alt.value(26), text="said:N")
    told = "; ".join(f"{box['at']}: {box['said']}" +
                     (f", asked: {box['who']}" if box["who"] != "together" else "")
                     for box in boxes)
    return styled(alt.layer(tiles, text).properties(width=4 * 150, height=50), title, told)


def scores_chart(trace: TraceReader, task: str, title: str = "") -> alt.Chart:
    """The scores of all nodes for one task, a bar a node, a part a plugin; the sum stands at the
    end.

    >>> from volcano_lab.course.lesson_12.scene import conf_with, two_racks
    >>> from volcano_lab.scheduler import traced
    >>> len(scores_chart(traced(two_racks().objects(), conf_with())[0], "default/web-0").layer)
    2
    """
    import altair as alt

    scores = trace.scores(task)
    parts = [{"node": node, "plugin": plugin, "score": score}
             for node, by_plugin in scores.items() for plugin, score in by_plugin.items() if score]
    sums = [{"node": node, "sum": total, "text": f"{total:g}"}
            for node, total in ((node, sum(by_plugin.values()))
                                for node, by_plugin in scores.items())]
    plugins = list(dict.fromkeys(part["plugin"] for part in parts))
    scale = alt.Scale(domain=plugins, range=list(COLORS[: len(plugins)]))
    x = alt.X("score:Q", title=f"score for {task.partition('/')[2]}",
              scale=alt.Scale(domain=[0, 640]))
    bars = alt.Chart(alt.InlineData(parts)).mark_bar(size=20).encode(
        y=alt.Y("node:N", title=None), x=x, order=alt.Order("plugin:N"),
        color=alt.Color("plugin:N", scale=scale, title="plugin"))
    text = alt.Chart(alt.InlineData(sums)).mark_text(align="left", dx=5, fontSize=12).encode(
        y=alt.Y("node:N", title=None), x=alt.X("sum:Q"), text="text:N")
    told = "; ".join(f"{row['node']}: {row['text']}" for row in sums)
    return styled(alt.layer(bars, text).properties(width=520, height=150), title, told)


PANELS: list[dict[str, Any]] = [
    {
        "kind": "table", "key": "plugins", "title": "Who is asked, and what they answer", "texts":
        ["plugin", "answer", "asked"], "columns": ["tier", "plugin", "answer", "asked"]
    },
    {
        "kind": "table", "key": "together", "title": "What the session hears", "texts":
        ["rule", "together"], "columns": ["rule", "together"], "legend":
        "The rule belongs to the extension point; no plugin can change it."
    },
]


def combination_lab() -> Lab:
    """An extension point, what three plugins answer, and which one is switched off.

    >>> combination_lab().set(point="job_enqueueable", a=1, c=-1).state["together"][0]["together"]
    'let in'
    """
    controls: dict[str, ipywidgets.ValueWidget] = {
        "point":
        ipywidgets.Dropdown(options=list(POINTS), value="job_enqueueable",
                            tooltip="the extension point")
    }
    for name in ("a", "b", "c"):
        controls[name] = ipywidgets.IntSlider(-1 if name == "c" else 0, -1, 1, 1,
                                              tooltip=f"what plugin {name.upper()} says")
    silenced = [("nobody", ""), *((name, name) for name in PLUGINS)]
    controls["off"] = ipywidgets.Dropdown(options=silenced, value="", tooltip="whose switch is off")
    labels = {
        "point": "extension point", "a": "plugin A (tier 1)", "b": "plugin B (tier 1)", "c":
        "plugin C (tier 2)", "off": "switched off"
    }
    stand = labelled(controls, labels, "11em", "600px")
    return Lab(controls, lambda values: board_state(**values), PANELS, stand)


def board_state(point: str, **values: Any) -> dict[str, Any]:
    """What the board shows."""
    rows, together = combined(point, **values)
    return {
        "plugins": rows, "together":
        [{"rule": extension_points(None)[point].rule, "together": together}]
    }
