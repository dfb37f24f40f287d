"""Answers to the checks of lesson 09: right ones, and wrong ones with words of their hints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from course.answers import answers
from volcano_lab.cluster import Cluster
from volcano_lab.course.lesson_09 import checks
from volcano_lab.course.lesson_09.checks import broken_cluster
from volcano_lab.course.lesson_09.scene import conf_with


def _all_protected() -> str:
    return conf_with("reclaim", one_tier=True)


def repaired() -> tuple[Cluster, str]:
    """The broken cluster of the lesson, with all three causes removed."""
    return broken_cluster().queue("b", reclaimable=True), conf_with("reclaim").replace(
        "  - name: overcommit\n", "")


def _repairs() -> Iterator[tuple[Any, str]]:
    good, conf = repaired()
    yield (broken_cluster(), conf_with()), "line of actions"
    yield (broken_cluster(), conf_with("reclaim")), "Pending"
    yield (broken_cluster(), conf), "reclaimable"
    yield (good.copy().job("urgent", pods=2), conf), "3 pods"
    yield (good, conf.replace("reclaim", "preempt")), "line of actions"
    yield good, "(cluster, conf)"


answers(
    "09.let_equals_go",
    right=["drf", "DRF"],
    wrong=[("priority", "names no pod"), ("gang", "not asked"), ("conformance", "not asked"),
           ("proportion", "reclaim"), ("nodeorder", "no victims")],
)

answers(
    "09.largest_admitted_gang",
    right=[2, "2"],
    wrong=[(3, "14.4"), (1, "more"), (0, "more"), (4, "14.4"), (12, "in use already"),
           (14, "all that")],
)

answers(
    checks.whole_gangs,
    right=[_all_protected(), _all_protected().replace("  - name: drf\n", "")],
    wrong=[
        (conf_with("reclaim"), "next tier"),
        (conf_with("preempt"), "no reclaim"),
        (_all_protected().replace("  - name: gang\n", ""), "gang"),
        ("actions: 5", "allowed are"),
        (conf_with("reclaim").replace("  - name: proportion\n", ""), "what queues deserve"),
    ],
)

answers(
    checks.reclaim_fires,
    right=[repaired()],
    wrong=list(_repairs()),
)
