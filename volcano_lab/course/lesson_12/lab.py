"""Lesson 12: how the answers of three plugins in two tiers become one, as a picture and a lab."""

from collections.abc import Callable, Iterable
from typing import Any

from volcano_lab.course.kit.tasks import tasks
from volcano_lab.framework.config.conf import PluginOption, Tier
from volcano_lab.framework.points.rules import ABSTAIN, PERMIT, REJECT
from volcano_lab.framework.points.table import extension_points
from volcano_lab.messages import Message, gettext
from volcano_lab.widgets import pictures
from volcano_lab.widgets.controls import choice, group
from volcano_lab.widgets.lab import Lab
from volcano_lab.widgets.story import outcome

PLUGINS = {"A": 1, "B": 1, "C": 2}
"""Plugin -> its tier."""


class Named(str):
    """What stands for a task, with a name and nothing else."""

    uid = name = property(str)


VICTIMS = [Named(name) for name in ("x", "y", "z")]
NAMED = {"A": VICTIMS[:2], "B": VICTIMS[1:], "C": VICTIMS[2:]}
"""Plugin -> the tasks that it names as victims when it names any."""

Voice = Callable[[str, int], tuple[Any, str]]
"""A plugin and whether it is against (-1), says nothing (0) or is for (1) -> its answer, and the
words for it."""


def _listed(tasks: Iterable[Any]) -> str:
    return gettext("{names:and}", names=[*map(str, tasks)]) or gettext("no pod")


def _of(*answers: tuple[Any, str]) -> Voice:
    return lambda plugin, at: answers[at + 1]


def _victims(plugin: str, at: int) -> tuple[Any, str]:
    if at > 0:
        return (NAMED[plugin], PERMIT), _listed(NAMED[plugin])
    return (([], PERMIT), _listed([])) if at < 0 else (([], ABSTAIN), "abstains")


def _words(yes: str, no: str) -> Callable[[Any], str]:
    return lambda answer: yes if answer else no


POINTS: dict[str, tuple[Voice, tuple[Any, ...], Callable[[Any], str]]] = {
    "node_order":
    (_of((-100, "-100"), (0, "0"), (100, "100")), ("task", "node"), lambda sum_: f"{sum_:g}"),
    "job_order": (_of((1, "1: right"), (0, "0"), (-1, "-1: left")), (Named("a"), Named("b")),
                  lambda left: {True: "the left one first", False: "the right one first",
                                None: "the left one first, because it is older"}[left]),
    "predicate": (_of(("refused", "a reason"), (None, "None"), (None, "None")), ("task", "node"),
                  _words("the node is refused", "the node may be taken")),
    "allocatable":
    (_of((False, "False"), (True, "True"), (True, "True")), ("queue", "task"), _words("yes", "no")),
    "overused":
    (_of((False, "False"), (False, "False"), (True, "True")), ("queue",), _words("yes", "no")),
    "job_enqueueable": (_of((REJECT, "REJECT"), (ABSTAIN, "ABSTAIN"), (PERMIT, "PERMIT")), ("job",),
                        _words("admitted", "not admitted")),
    "reclaimable": (_victims, ("task", VICTIMS), _listed)}
"""Extension point -> (how a plugin speaks, what is asked about, the combined answer in words)."""


def combined(point: str, a: int = 0, b: int = 0, c: int = 0,
             off: str = "") -> tuple[list[dict[str, Any]], Any, str]:
    """(one row per plugin, the session's answer, the same in words). Each plugin is against (-1),
    says nothing (0) or is for (1), in the point's words; `off` is switched off.

    >>> rows, _, together = combined("job_enqueueable", a=1, c=-1)
    >>> [(row["plugin"], row["answer"], row["asked"]) for row in rows], together
    ([('A', 'PERMIT', True), ('B', 'ABSTAIN', True), ('C', 'REJECT', False)], 'admitted')
    """
    voice, about, words = POINTS[point]
    asked: set[str] = set()
    question = extension_points(None)[point]
    if point == "job_order":
        question.otherwise = lambda left, right: None
    tiers: dict[int, Tier] = {}
    said = {}
    for plugin, at in zip(PLUGINS, (a, b, c), strict=True):
        answer, said[plugin] = voice(plugin, at)
        question.register(plugin, lambda *_, answer=answer: answer)
        option = PluginOption(plugin)
        if plugin == off:
            option.switches = dict.fromkeys(question.switches, False)
        tiers.setdefault(PLUGINS[plugin], Tier()).plugins.append(option)

    def watch(point: Any, tier: int, plugin: str, function: Callable[..., Any]
              ) -> Callable[..., Any]:
        def answered(*args: Any) -> Any:
            asked.add(plugin)
            return function(*args)

        return answered

    question.arrange(list(tiers.values()), watch)
    heard = question.ask(*about)
    rows = [{"tier": PLUGINS[plugin], "plugin": plugin, "answer": answer, "asked": plugin in asked,
             "for": {voice(plugin, -1)[1]: False, voice(plugin, 1)[1]: True}.get(answer)}
            for plugin, answer in said.items()]
    return rows, heard, words(heard)


def _votes(point: str, off: str, rows: list[dict[str, Any]], heard: Any, words: str) -> Any:
    """The data of `pictures.votes`: for victims one row per task, else one row of answers."""
    asked = {row["plugin"]: row for row in rows if row["asked"]}
    last = max((row["tier"] for row in asked.values()), default=0)
    by_tier = bool(heard) if point == "reclaimable" else any(
        row["answer"] in ("PERMIT", "REJECT") for row in asked.values())
    tiers = [{"name": gettext("tier {number}", number=tier), "decides": by_tier and tier == last,
              "note": gettext("not asked") if tier > last else gettext(
                  "decides" if by_tier and tier == last else "asked"),
              "plugins": [name for name, own in PLUGINS.items() if own == tier]}
             for tier in sorted(set(PLUGINS.values()))]
    silent = {off: {"text": gettext("off"), "yes": None}} if off else {}
    if point == "reclaimable":
        lines = [{"name": task.name, "left": task in heard, "votes": silent | {
            name: {"text": gettext("abstains"), "yes": None} if row["answer"] == "abstains"
            else bool(row["for"]) and task in NAMED[name] for name, row in asked.items()}}
            for task in VICTIMS]
    else:
        lines = [{"name": gettext("answer"), "votes": silent | {
            name: {"text": gettext(row["answer"]), "yes": row["for"]}
            for name, row in asked.items()}}]
    return {"tiers": tiers, "rows": lines, "verdict": gettext("The session's answer: {words}",
                                                              words=gettext(words))}


def decided(point: str, a: int = 0, b: int = 0, c: int = 0, off: str = "") -> dict[str, Any]:
    """What the three plugins answer, and what becomes of it.

    >>> decided("reclaimable", a=-1, c=1)["together"]
    'z'
    """
    rows, heard, words = combined(point, a, b, c, off)
    return {"votes": _votes(point, off, rows, heard, words), "together": words,
            "rule": extension_points(None)[point].rule,
            "asked": [row["plugin"] for row in rows if row["asked"]]}


def combination(point: str, a: int = 0, b: int = 0, c: int = 0) -> pictures.Picture:
    """The picture of `decided`.

    >>> print(combination("overused", c=1).alt)
    overused. The session's answer: yes. answer: A False, B False, C True. Rule: any one suffices.
    """
    at = decided(point, a, b, c)
    return pictures.votes(point, at["votes"], legend=gettext(
        "Rule: {rule}.", rule=gettext(at["rule"])))


VOICES = {"against": -1, "nothing": 0, "in favour": 1}
CONTROLS = {"point": choice("node_order", {f"{name}()": name for name in POINTS},
                            "extension point"),
            **group("answers of the plugins",
                    {name: choice(-1 if name == "c" else 0, VOICES, gettext(
                        "{name}, tier {tier}", name=name.upper(), tier=tier), about=
                                  "for job_order: the right one first, equal, the left one first")
                     for name, tier in (("a", 1), ("b", 1), ("c", 2))}),
            "off": choice("", {"none": "", **{name: name for name in PLUGINS}}, "switched off")}

PANELS = [pictures.votes("Plugins in their order, and their answers", lambda at: at["votes"],
                         rows=3, wide=True, legend="Blue: for. Red: against. Hollow: no opinion. "
                                                   "–: not named. Dotted: not asked.")]

TASKS = tasks("12", {"one is enough": lambda values, at: (
    values["point"] == "allocatable" and at["together"] == "no")})


def combination_lab() -> Lab:
    """Make the lab: an extension point, what three plugins answer, which one is switched off.

    >>> combination_lab().set(a=1).facts["together"]
    '0'
    """
    return Lab(CONTROLS, lambda values: decided(**values), PANELS, tasks=TASKS,
               title="Three plugins in two tiers, one answer",
               says=[outcome("The session's answer", lambda at: at["together"],
                             lambda at: at["rule"])],
               nothing=lambda at: str(Message("votes.nothing", plugins=at["asked"]
                                              or gettext("none"))),
               opening=lambda at: str(Message("votes.opening", plugins=at["asked"], answer=gettext(
                   at["together"]), rule=gettext(at["rule"]))))
