"""Answers to the checks of lesson 04: right ones, and wrong ones with words of their hints."""

from __future__ import annotations

from collections.abc import Mapping

from course.answers import answers
from volcano_lab.course.kit.checking import checks_of
from volcano_lab.course.lesson_04 import checks
from volcano_lab.course.lesson_04.checks import Amounts
from volcano_lab.course.lesson_04.lab import admission_cluster

CAUSES = checks_of("04")["patient_one"].options


def short_of(minimum: Amounts, queue: Mapping[str, Amounts]) -> list[str]:
    """The resources that the job asks for, and whose sum is above the limit."""
    return [name for name, amount in minimum.items() if amount > 0
            and amount + queue["allocated"].get(name, 0) + queue["inqueue"].get(name, 0) - queue[
                "elastic"].get(name, 0) > queue["may_hold"].get(name, 0)]


def _sum_of(name: str, minimum: Amounts, queue: Mapping[str, Amounts],
            words: str = "allocated inqueue -elastic") -> float:
    total = minimum.get(name, 0)
    for word in words.split():
        amount = queue[word.removeprefix("-")].get(name, 0)
        total += -amount if word.startswith("-") else amount
    return total


def _no_elastic(minimum, queue):
    return [
        n for n in minimum if minimum[n]
        and _sum_of(n, minimum, queue, "allocated inqueue") > queue["may_hold"].get(n, 0)
    ]


def _no_inqueue(minimum, queue):
    return [
        n for n in minimum if minimum[n]
        and _sum_of(n, minimum, queue, "allocated -elastic") > queue["may_hold"].get(n, 0)
    ]


def _too_strict(minimum, queue):
    return [
        n for n in minimum
        if minimum[n] and _sum_of(n, minimum, queue) >= queue["may_hold"].get(n, 0)
    ]


def _all_resources(minimum, queue):
    return [n for n in queue["may_hold"] if _sum_of(n, minimum, queue) > queue["may_hold"][n]]


def _zero_too(minimum, queue):
    return [n for n in minimum if _sum_of(n, minimum, queue) > queue["may_hold"].get(n, 0)]


def _must_be_there(minimum, queue):
    return [
        n for n in minimum if minimum[n] and minimum[n] + queue["allocated"][n] +
        queue["inqueue"][n] - queue["elastic"][n] > queue["may_hold"][n]
    ]


def _no_limit_where_missing(minimum, queue):
    return [
        n for n in minimum
        if minimum[n] and _sum_of(n, minimum, queue) > queue["may_hold"].get(n, float("inf"))
    ]


answers(
    "04.may_hold",
    right=[10, "10"],
    wrong=[
        (12, "smaller of"),
        (20, "whole cluster"),
        (2, "its own capability"),
        (14, "a guarantee of 6"),
        (6, "before"),
    ],
)

answers(
    "04.sum_of_second",
    right=[10, "10"],
    wrong=[(13, "elastic was 2"), (15, "Subtract elastic"), (5, "minimum"), (6, "in queue"),
           (9, "it needs one")],
)

answers(
    checks.admission,
    right=[short_of],
    wrong=[
        (_no_elastic, "elastic"),
        (_no_inqueue, "in queue"),
        (_too_strict, "still fits"),
        (_all_resources, "asks for none"),
        (_zero_too, "Asking for 0"),
        (_must_be_there, "counts as 0"),
        (_no_limit_where_missing, "may hold nothing"),
        (lambda minimum, queue: True, "a list of names"),
        (lambda minimum: [], "TypeError"),
    ],
)

answers(
    checks.let_second_in,
    right=[
        admission_cluster().job("old", min_member=3),
        admission_cluster().job("old", min_member=1),
        admission_cluster().job("old", cpu="500m"),
    ],
    wrong=[
        (admission_cluster(), "nothing has changed"),
        (admission_cluster().queue("team", capability=20), "team as it is"),
        (admission_cluster().queue("other", guarantee={}), "14"),
        (admission_cluster().job("second", pods=4), "two new jobs"),
        (admission_cluster().remove("first"), "two new jobs"),
        (admission_cluster().job("old", min_member=5), "less elastic"),
        (admission_cluster().node("node-2", cpu=10), "capability of 12"),
        (admission_cluster().job("old", pods=5, running={"node-0": 5}), "5 + 5 + 4 − 1 = 13"),
        (admission_cluster().job("old", pods=7), "the sum is the same"),
        (admission_cluster().job("old", cpu=2), "= 17"),
    ],
)

answers(
    "04.patient_one",
    right=[CAUSES[1]],
    wrong=[(CAUSES[0], "says 9"), (CAUSES[2], "times 1.2"), (CAUSES[3], "Pending"),
           (CAUSES[4], "no node was asked"), (CAUSES[5], "orders the jobs"), ("?", "Choose")],
)

answers(
    "04.patient_two",
    right=[CAUSES[3], "admitted"],
    wrong=[(CAUSES[0], "Inqueue"), (CAUSES[1], "Inqueue"), (CAUSES[2], "Inqueue"),
           (CAUSES[4], "six pods of 1 CPU"), (CAUSES[5], "orders the jobs")],
)

answers(
    "04.patient_three",
    right=[CAUSES[2], "overcommit"],
    wrong=[(CAUSES[0], "4 of 10"), (CAUSES[1], "no guarantee"), (CAUSES[3], "Pending"),
           (CAUSES[4], "no node was asked"), (CAUSES[5], "orders the jobs")],
)
