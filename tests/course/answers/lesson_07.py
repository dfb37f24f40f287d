"""Answers to the checks of lesson 07: right ones, and wrong ones with words of their hints."""

from __future__ import annotations

from course.answers import answers
from volcano_lab.course.lesson_07 import checks


def _dominant(held, total):
    return max(held.get(name, 0) / total[name] for name in total)


def _sum(held, total):
    return sum(held.get(name, 0) / total[name] for name in total)


def _cpu_only(held, total):
    return held.get("cpu", 0) / total["cpu"]


answers(
    "07.share_of_both",
    right=[0.5, "0.5", "1/2", "50 %"],
    wrong=[(0.25, "memory"), (0.75, "not added"), (0.375, "mean"), (16, "part"), (4, "part"),
           (8, "from 0 to 1")],
)

answers(
    "07.next_in_line",
    right=["z", "Z"],
    wrong=[("x", "0.46"), ("y", "10/24"), ("x or y, whoever is older", "equal"),
           ("y or z, whoever is older", "dominant"), ("all at once", "in rotation")],
)

answers(
    "07.weights_of_dev",
    right=["1/2/3"],
    wrong=[("3", "three parts"), ("2/3", "begins with root"), ("1/3/1", "gives the 3 to eng"),
           ("1/1/3", "should say the same"), ("3/2/1", "root comes first")],
)

answers(
    checks.weight_of_eng,
    right=[5, "5"],
    wrong=[(1, "sci has 6 of"), (2, "sci has 4 of"), (4, "sci has 3 of"), (6, "a smaller one"),
           (12, "sci has 1 of"), (0, "from 1")],
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
