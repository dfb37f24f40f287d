"""Checks: plain functions that grade an answer, with the examples that test them.

The package's docstring shows how a lesson writes and uses one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from typing import Any

from volcano_lab.lessons.verdict import Verdict, to_do, try_again

Examples = Iterable[Any] | Callable[[], Iterable[Any]]
CHECKS: dict[str, Check] = {}
"""Every check that has been imported, by lesson and name: "02.tolerance"."""

WORDS = {float: "a number, such as 28 or 1.5", int: "a whole number, such as 28", str: 'a text, such as "a"',
         bool: "True or False", list: "a list, such as [1, 2]", dict: 'a dict, such as {"a": 1}',
         set: 'a set, such as {"a", "b"}', tuple: "a tuple, such as (1, 2)"}


class Check:
    """Calling it with an answer gives a `Verdict`; it never raises.

    >>> from volcano_lab.lessons.verdict import well_done
    >>> def half(answer):
    ...     '''What is a half of ten?'''
    ...     return well_done("Yes.") if answer == 5 else try_again("Divide by 2.")
    >>> graded = Check("99.half", half, float)
    >>> graded(...), graded("5"), graded(4), graded("five")
    (to do: What is a half of ten?, well done: Yes., try again: Divide by 2.,
     try again: The answer is 'five'; wanted is a number, such as 28 or 1.5.)
    """

    def __init__(self, key: str, grade: Callable[[Any], Verdict | None], takes: type | Callable[[Any], bool] | None = None,
                 right: Examples = (), wrong: Examples = (), wanted: str = ""):
        self.key, self.grade, self.takes, self._right, self._wrong = key, grade, takes, right, wrong
        self.task = " ".join(cleandoc(grade.__doc__ or "").split())
        self.wanted = wanted or WORDS.get(takes) or f"a {getattr(takes, '__name__', takes)}"
        self.__name__, self.__doc__, self.__module__ = grade.__name__, grade.__doc__, grade.__module__

    @property
    def right(self) -> list[Any]:
        """Answers that are well done."""
        return list(self._right() if callable(self._right) else self._right)

    @property
    def wrong(self) -> list[tuple[Any, str]]:
        """(answer, words that its hint must have)."""
        return list(self._wrong() if callable(self._wrong) else self._wrong)

    def __call__(self, answer: Any = ...) -> Verdict:
        if is_empty(answer):
            return to_do(self.task)
        try:
            answer = self._read(answer)
        except (TypeError, ValueError):
            return try_again(f"The answer is {short(answer)}; wanted is {self.wanted}.")
        try:
            return self.grade(answer) or to_do(self.task)
        except Exception as error:  # whatever a reader's own code, or a cluster that cannot be, may raise
            text = " ".join(str(error).split())
            return try_again(f"That stopped with {type(error).__name__}{f': {text}' if text else ''}")

    def _read(self, answer: Any) -> Any:
        """The answer as what the check takes; raises where it is something else."""
        takes = self.takes
        if takes in (float, int):
            if isinstance(answer, bool) or not isinstance(answer, int | float | str):
                raise TypeError
            number = float(answer)
            if takes is float:
                return number
            if number != int(number):
                raise ValueError
            return int(number)
        if takes is bool and str(answer).strip().casefold() in ("true", "false", "yes", "no"):
            return str(answer).strip().casefold() in ("true", "yes")
        if takes is str and isinstance(answer, str):
            return answer.strip()
        if takes is set and isinstance(answer, list | tuple | frozenset):
            return set(answer)
        if takes is list and isinstance(answer, tuple):
            return list(answer)
        fits = isinstance(answer, takes) if isinstance(takes, type) else takes is None or takes(answer)
        if not fits:
            raise TypeError
        return answer

    def __repr__(self) -> str:
        return f"<check {self.key}: {self.task}>"


def check(*, takes: type | Callable[[Any], bool] | None = None, right: Examples, wrong: Examples,
          wanted: str = "") -> Callable[[Callable[[Any], Verdict | None]], Check]:
    """Make a function of a `checks_NN.py` a check, and register it.

    `takes`: a type (numbers may come as text), or a predicate such as `callable`; `wanted` says in words what that is.
    `right`: answers that pass. `wrong`: (answer, words that the hint must have). Both may be functions that make them.
    """

    def register(grade: Callable[[Any], Verdict | None]) -> Check:
        lesson = grade.__module__.rpartition("checks_")[2]
        made = Check(f"{lesson}.{grade.__name__}", grade, takes, right, wrong, wanted)
        CHECKS[made.key] = made
        return made

    return register


def all_checks() -> dict[str, Check]:
    """Every check of every lesson, by lesson and name."""
    for path in sorted(Path(__file__).parent.glob("checks_*.py")):
        import_module(f"{__package__}.{path.stem}")
    return dict(sorted(CHECKS.items()))


def is_empty(answer: Any) -> bool:
    """Whether there is no answer yet: dots, None, an empty text or collection, or dots anywhere in one.

    >>> [is_empty(answer) for answer in (..., None, " ", [], {"a": ...}, 0, False, [1])]
    [True, True, True, True, True, False, False, False]
    """
    if answer is ... or answer is None:
        return True
    if isinstance(answer, str):
        return not answer.strip()
    if isinstance(answer, dict):
        return not answer or any(is_empty(value) for value in answer.values())
    if isinstance(answer, list | tuple | set | frozenset):
        return not answer or any(value is ... for value in answer)
    return False


def short(answer: Any, most: int = 60) -> str:
    """An answer as a reader would write it, cut where it is long."""
    text = re.sub(r"\s+", " ", repr(answer))
    return text if len(text) <= most else text[: most - 1] + "…"
