"""Answers to the checks of lesson 15: right ones, and wrong ones with words of their hints."""

from __future__ import annotations

from course.answers import answers
from volcano_lab.course.lesson_15 import checks
from volcano_lab.course.lesson_15.scene import conf_of


def estimate(nodes: int, gangs: list[int], room: int) -> int:
    """The solution of the lesson."""
    pairs = 0
    for pods in gangs:
        if pods <= room:
            pairs += pods * nodes
            room -= pods
        else:
            pairs += (room + 1) * nodes
    return pairs


def _all_pods(nodes: int, gangs: list[int], room: int) -> int:
    return sum(gangs) * nodes


def _only_placed(nodes: int, gangs: list[int], room: int) -> int:
    pairs = 0
    for pods in gangs:
        if pods <= room:
            pairs, room = pairs + pods * nodes, room - pods
    return pairs


def _keeps_the_room(nodes: int, gangs: list[int], room: int) -> int:
    return sum((pods if pods <= room else room + 1) * nodes for pods in gangs)


def _loses_the_room(nodes: int, gangs: list[int], room: int) -> int:
    pairs = 0
    for pods in gangs:
        pairs += (pods if pods <= room else room + 1) * nodes
        room = max(room - pods, 0)
    return pairs


def _switched_off(conf: str, *names: str) -> str:
    for name in names:
        conf = conf.replace(f"  - name: {name}\n",
                            f"  - name: {name}\n    enableNodeOrder: false\n")
    return conf


def _without(*names: str) -> str:
    conf = conf_of()
    for name in names:
        conf = conf.replace(f"  - name: {name}\n", "")
    return conf


answers(
    "15.asked_with_two_full",
    right=[20, "20"],
    wrong=[(30, "full"), (11, "pair"), (4, "five pods"), (7, "Count"), (24, "Count")],
)

answers(
    checks.estimates,
    right=[estimate],
    wrong=[
        (_all_pods, "doesn't fit"),
        (_only_placed, "are looked at, too"),
        (_keeps_the_room, "only what is left"),
        (_loses_the_room, "given back"),
        (lambda nodes, gangs, room: "many", "number"),
        (lambda nodes, gangs: 1, "TypeError"),
    ],
)

answers(
    "15.scored_again",
    right=[299, "299"],
    wrong=[
        (20000, "every pair"),
        (200, "at first"),
        (300, "last"),
        (100, "each placement"),
        (5, "Count"),
    ],
)

answers(
    checks.slow_plugin,
    right=["green", "Green"],
    wrong=[("red", "fast"), ("blue", "seldom"), ("nodeorder", "longer"), ("x", "one of"),
           ("binpack", "longer")],
)

answers(
    "15.looked_for",
    right=[680, "680"],
    wrong=[(1000, "percent"), (34, "nodes"), (100, "least"), (2000, "all"), (5, "Compute")],
)

answers(
    checks.under_budget,
    right=[
        _without("nodeorder", "binpack"),
        _switched_off(conf_of(), "nodeorder", "binpack"),
        _switched_off(_without("binpack"), "nodeorder"),
    ],
    wrong=[
        (conf_of(), "calls"),
        (_without("binpack"), "calls"),
        (_without("predicates"), "broken"),
        (_without("nodeorder", "binpack", "gang"), "giant"),
        (_without("proportion", "nodeorder", "binpack"), "share"),
        (conf_of().replace("enqueue, allocate", "enqueue"), "Not all"),
        ("actions: nothing", "nothing"),
    ],
)
