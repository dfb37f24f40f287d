"""Answers to the checks of lesson 14: right ones, and wrong ones with words of their hints."""

from __future__ import annotations

from course.answers import answers
from volcano_lab.course.lesson_14 import checks

answers(
    "14.lets_it_start",
    right=["a minimum of 7", "A minimum of 7"],
    wrong=[("a weight of 8 for research", "keeps web out"), ("priority 1000", "No pod is evicted"),
           ("sla, with four hours", "lets it be first"), ("half as many small jobs", "36 CPUs"),
           ("reclaim", "Choose one of")],
)

answers(
    checks.most_per_hour,
    right=[7, "7"],
    wrong=[(8, "waits 40 minutes"), (10, "waits 161 minutes"), (6, "One more"), (4, "One more"),
           (0, "from 1 to 24"), (30, "from 1 to 24")],
)

answers(
    checks.factor,
    right=[1.2, "1.2"],
    wrong=[(1.0, "6 of 12"), (0.5, "Below 1"), (3, "From 1.0 to 1.5"), (2, "From 1.0 to 1.5"),
           (1.02, "of 12 start"), ("much", "a number")],
)
