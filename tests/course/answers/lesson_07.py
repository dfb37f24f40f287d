"""Answers to the checks of lesson 07: right ones, and wrong ones with words of their hints."""

from __future__ import annotations

from course.answers import answers
from volcano_lab.course.lesson_07 import checks
from volcano_lab.course.lesson_07.checks import _dominant


def _sum(held, total):
    return sum(held.get(name, 0) / total[name] for name in total)


def _cpu_only(held, total):
    return held.get("cpu", 0) / total["cpu"]


answers(
    checks.share_of_both,
    right=[0.5, "0.5"],
    wrong=[(0.25, "memory"), (0.75, "larger"), (8, "part")],
)

answers(
    checks.next_in_line,
    right=["z", "Z"],
    wrong=[("x", "0.5"), ("y", "11/24"), ("a", "x, y or z")],
)

answers(
    checks.weight_of_eng,
    right=[2, "2"],
    wrong=[(1, "5 pods"), (4, "of sci are placed"), (0, "from 1")],
)

answers(
    checks.dominant_share,
    right=[_dominant],
    wrong=[
        (_sum, "larger"),
        (_cpu_only, "larger"),
        (lambda held: 1, "TypeError"),
        (lambda held, total: max(held[name] / total[name] for name in held), "share 0"),
        (lambda held, total: max(held[name] / total[name] for name in total), "is zero"),
    ],
)
