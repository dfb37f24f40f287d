"""Answers to the checks of lesson 03: right ones, and wrong ones with words of their hints."""

from __future__ import annotations

from course.answers import answers
from volcano_lab.course.kit.checking import checks_of
from volcano_lab.course.lesson_03 import checks


def _take(had, offered, queue):
    most = float("inf") if queue["capability"] is None else queue["capability"]
    return max(min(had + offered, most, queue["request"]), queue["guarantee"])


def _takes_all(had, offered, queue):
    return had + offered


def _forgets(had, offered, queue):
    return min(offered, queue["request"])


def _no_floor(had, offered, queue):
    most = float("inf") if queue["capability"] is None else queue["capability"]
    return min(had + offered, most, queue["request"])


def _floor_first(had, offered, queue):
    most = float("inf") if queue["capability"] is None else queue["capability"]
    return min(max(had + offered, queue["guarantee"]), most, queue["request"])


def _none(had, offered, queue):
    return min(had + offered, queue["capability"])


answers(
    "03.second_offer",
    right=[12, "12.0"],
    wrong=[(6, "queue c is done"), (20, "all that is left"), (42, "round 2 add"),
           (8, "what a is offered"), (10, "one half"), (7, "3 of 5")],
)

answers(
    checks.take,
    right=[_take],
    wrong=[
        (_takes_all, "its request"),
        (_forgets, "on top of"),
        (_no_floor, "guarantee"),
        (_floor_first, "comes last"),
        (_none, "None: no limit"),
        (lambda had: had, "TypeError"),
    ],
)

answers(
    checks.overbooked,
    right=[51, "51"],
    wrong=[(42, "not more than 100"), (50, "not more than 100"), (60, "A smaller one"),
           (71, "A smaller one"), (70, "100 together. That is a surprise"), (100, "of 100")],
)

answers(
    checks.favour_early,
    right=[lambda cluster: cluster.queue("early", priority=1)],
    wrong=[
        (lambda cluster: cluster.queue("early", weight=9), "no share is below 0"),
        (lambda cluster: cluster.job("early-more", priority=9), "inside its queue"),
        (lambda cluster: cluster.queue("late", priority=1), "late"),
        (lambda cluster: cluster.remove("late-work"), "nothing may be taken away"),
        (lambda cluster: 3, "wanted is the cluster"),
    ],
)

ALWAYS = [("its priority", "orders the jobs"), ("its place", "comes first"),
          ("its weight", "deserves nothing")]

answers(
    "03.patient_one",
    right=["not allocatable", checks_of("03")["patient_one"].options[1]],
    wrong=[*ALWAYS, ("overused", "every resource"), ("not admitted", "Inqueue"), ("?", "Choose")],
)

answers(
    "03.patient_two",
    right=["not admitted"],
    wrong=[*ALWAYS, ("overused", "holds nothing"), ("not allocatable", "phase")],
)

answers(
    "03.patient_three",
    right=["overused"],
    wrong=[*ALWAYS, ("not allocatable", "not full"), ("not admitted", "Inqueue")],
)
