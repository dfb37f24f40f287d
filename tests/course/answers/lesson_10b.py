"""Answers to the check of lesson 10b: right ones, and wrong ones with words of their hints."""

from __future__ import annotations

from course.answers import answers
from volcano_lab.course.lesson_10b import checks

answers(
    checks.pattern,
    right=["^gpu-([34]|10)$", "gpu-(3|4|10)", " 3|4|10 ", "^gpu-3$|^gpu-4$|^gpu-10$"],
    wrong=[
        ("gpu-[34]", "gpu-10 is missing"),
        ("gpu-[3410]", "gpu-1 should not"),
        ("gpu-.*", "gpu-1 should not"),
        ("gpu-3, gpu-4, gpu-10", "takes no node"),
        ("^gpu-(3|4|1)", "gpu-1 should not"),
        ("gpu-(", "no node"),
        (["gpu-3", "gpu-4"], "wanted is a pattern"),
    ],
)
