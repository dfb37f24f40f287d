"""Answers to the checks, one module per lesson: right ones, and wrong ones with words of the hint.

    answers(
        "03.second_offer",
        right=[12, "12.0"],
        wrong=[(6, "still in the game"), (20, "all that is left"), (42, "more in round 2")],
    )

Wrong answers are those that people give. `test_checks.py` tries all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from volcano_lab.course.kit.checking import Check


class Answers(NamedTuple):
    """What is tried on one check."""

    right: Sequence[Any]
    wrong: Sequence[tuple[Any, str]]


ANSWERS: dict[str, Answers] = {}
"""Key of a check, such as "03.take" -> what is tried on it."""


def answers(check: Check | str, right: Sequence[Any], wrong: Sequence[tuple[Any, str]]) -> None:
    """Say which answers to a check, or to the one of a key, are right, and which are wrong with
    words of their hint."""
    ANSWERS[check if isinstance(check, str) else check.key] = Answers(right, wrong)


def all_answers() -> dict[str, Answers]:
    """The answers of every lesson."""
    for path in sorted(Path(__file__).parent.glob("lesson_*.py")):
        import_module(f"course.answers.{path.stem}")
    return ANSWERS
