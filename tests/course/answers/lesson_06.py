"""Answers to the checks of lesson 06: right ones, and wrong ones with words of their hints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from course.answers import answers
from volcano_lab.course.lesson_06 import checks
from volcano_lab.course.lesson_06.checks import Plan, _evictions
from volcano_lab.course.lesson_06.scene import gang_that_does_not_fit
from volcano_lab.debug.sandbox import Rehearsal


def cheapest(by_hand: Rehearsal, plans: list[Plan]) -> None:
    """Try every plan, keep copies of the one with the fewest evictions, do it again and commit."""
    best = None
    for plan in plans:
        statement = by_hand.statement().play(plan)
        evictions = len(
            [operation for operation in statement.operations if operation.name == "evict"])
        if best is None or evictions < best[0]:
            best = evictions, statement.save()
        statement.discard()
    by_hand.statement().recover(best[1]).commit()


def _first(by_hand: Rehearsal, plans: list[Plan]) -> None:
    by_hand.statement().play(plans[0]).commit()


def _last(by_hand: Rehearsal, plans: list[Plan]) -> None:
    for plan in plans[:-1]:
        by_hand.statement().play(plan).discard()
    by_hand.statement().play(plans[-1]).commit()


def _never_commits(by_hand: Rehearsal, plans: list[Plan]) -> None:
    by_hand.statement().play(plans[0]).discard()


def _never_recovers(by_hand: Rehearsal, plans: list[Plan]) -> None:
    by_hand.statement().play(min(plans, key=_evictions)).commit()


def _without_discard(by_hand: Rehearsal, plans: list[Plan]) -> None:
    tried = [by_hand.statement().play(plan) for plan in plans]
    min(tried, key=lambda statement: len(statement.operations)).commit()


def _one_statement(by_hand: Rehearsal, plans: list[Plan]) -> None:
    statement = by_hand.statement()
    for plan in plans:
        statement.play(plan).discard()


def _choose(by_hand: Rehearsal, plans: list[Plan], cost: Callable[[Any], int],
            save: Callable[[Any], Any]) -> None:
    tried = []
    for plan in plans:
        statement = by_hand.statement().play(plan)
        tried.append((cost(statement), save(statement)))
        statement.discard()
    by_hand.statement().recover(min(tried, key=lambda row: row[0])[1]).commit()


def _fewest_operations(by_hand: Rehearsal, plans: list[Plan]) -> None:
    _choose(by_hand, plans, lambda statement: len(statement.operations),
            lambda statement: statement.save())


def _never_saves(by_hand: Rehearsal, plans: list[Plan]) -> None:
    _choose(by_hand, plans,
            lambda statement: sum(step.name == "evict" for step in statement.operations),
            lambda statement: statement.operations)


def _saves_too_late(by_hand: Rehearsal, plans: list[Plan]) -> None:
    for plan in plans:
        statement = by_hand.statement().play(plan)
        statement.discard()
        saved = statement.save()
    by_hand.statement().recover(saved).commit()


def _commits_all(by_hand: Rehearsal, plans: list[Plan]) -> None:
    for plan in plans:
        by_hand.statement().play(plan).commit()


answers(
    "06.future_idle",
    right=[0, "0"],
    wrong=[(2, "promised"), (4, "used"), (-2, "idle"), (1, "releasing"), (6, "node-1")],
)

answers(
    checks.order_of_undoing,
    right=[["train-1", "train-0", "web-1"]],
    wrong=[
        (["web-1", "train-0", "train-1"], "last one first"),
        (["train-0", "train-1", "web-1"], "last"),
        (["web-1"], "three"),
        (["web-1", "train-1", "train-0"], "done first"),
        (["train-0", "web-1", "train-1"], "last"),
    ],
)

answers(
    "06.bound_after_refusal",
    right=[1, "1"],
    wrong=[(0, "all or nothing"), (3, "the cache refuses"), (2, "has left"), (4, "each node"),
           (6, "each node")],
)

answers(
    checks.path_of_a_pod,
    right=[
        ["Pending", "Allocated", "Binding", "Bound", "Running"],
        ["pending", "allocated", "binding", "bound", "running"],
    ],
    wrong=[
        (["Pending", "Running"], "section 2"),
        (["Pending", "Pipelined", "Binding", "Bound", "Running"], "idle"),
        (["Pending", "Allocated", "Bound", "Running"], "section 4"),
        (["Pending", "Allocated", "Binding", "Running"], "nothing runs yet"),
        (["Allocated", "Binding", "Bound", "Running"], "waits"),
        (["Pending", "Allocated", "Binding", "Bound"], "ends"),
    ],
)

answers(
    checks.let_it_commit,
    right=[
        gang_that_does_not_fit().job("train", min_member=2),
        gang_that_does_not_fit().node("node-1", cpu=5),
        gang_that_does_not_fit().job("train", cpu=1),
    ],
    wrong=[
        (gang_that_does_not_fit(), "the same"),
        (gang_that_does_not_fit().job("train", pods=2), "three pods"),
        (gang_that_does_not_fit().node("node-1", cpu=2), "taken back"),
        (gang_that_does_not_fit().job("train", cpu=3), "not admitted"),
        (gang_that_does_not_fit().remove("web"), "web"),
        (gang_that_does_not_fit().remove("train"), "three pods"),
        (gang_that_does_not_fit().node("node-0", cpu="4500m"), "taken back"),
        (gang_that_does_not_fit().node("node-0", cpu=5).node("node-1", cpu=5),
         "more than one number: cpu of node-0"),
        (gang_that_does_not_fit().job("train", cpu=1, min_member=2), "minimum of train"),
        (gang_that_does_not_fit().node("node-2", cpu=4), "two nodes"),
    ],
)

answers(
    checks.keep_the_cheapest,
    right=[cheapest],
    wrong=[
        (_first, "evictions"),
        (_last, "evictions"),
        (_never_commits, "Nothing is committed"),
        (_commits_all, "still there"),
        (_without_discard, "it is Releasing"),
        (_one_statement, "taken back before"),
        (_never_recovers, "try each plan"),
        (_fewest_operations, "Count the operations"),
        (_never_saves, "not copies"),
        (_saves_too_late, "First `save()`"),
        (lambda by_hand: 1, "TypeError"),
    ],
)

answers(
    "06.had_a_place",
    right=[2, "2"],
    wrong=[(1, "Unschedulable"), (3, "minAvailable"), (0, "before"), (4, "statement"),
           (5, "statement")],
)
