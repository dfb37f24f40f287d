"""Answers to the checks of lesson 14: right ones, and wrong ones with words of their hints."""

from __future__ import annotations

from course.answers import answers
from volcano_lab.course.lesson_14 import checks

answers(
    "14.lets_it_start",
    right=["a minimum of 7 for its 14 pods", "A minimum of 7 for its 14 pods"],
    wrong=[("a weight of 8 for research", "no weight"), ("priority 1000", "No pod is evicted"),
           ("sla, with four hours", "lets it be first"), ("half as many small jobs", "36 CPUs"),
           ("reclaim", "Choose one of")],
)

answers(
    checks.most_per_hour,
    right=[9, "9"],
    wrong=[(10, "waits 44 minutes"), (11, "waits 96 minutes"), (8, "One more"), (4, "One more"),
           (0, "from 1 to 12"), (30, "from 1 to 12")],
)

answers(
    checks.factor,
    right=[1.4, "1.4", 1.375],
    wrong=[(1.0, "0 CPUs"), (0.5, "Below 1"), (4, "From 1.0 to 3"), (1.2, "12.8 CPUs"),
           (1.3, "19.2 CPUs"), (1.5, "a smaller factor"), (2, "64 CPUs"), ("much", "a number")],
)
