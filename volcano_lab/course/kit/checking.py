"""Checks: plain functions and answer tables that grade an answer.

The package's docstring shows how a lesson writes and uses one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping
from dis import get_instructions
from importlib import import_module
from inspect import cleandoc
from types import FunctionType
from typing import Any

from volcano_lab.course.kit import progress
from volcano_lab.course.kit.questions import COURSE, HINTS, RIGHT, entries, part, right
from volcano_lab.course.kit.values import HALF_WIDTH, as_text, read_number, same
from volcano_lab.course.kit.verdict import WELL_DONE, Verdict, to_do, try_again, well_done
from volcano_lab.messages import gettext, mark

TAKES = {"str": str, "int": int, "float": float, "list": list}
CHECKS: dict[str, Check] = {}
"""Every check that has been imported, by lesson and name: "02.tolerance"."""

WORDS: dict[object, str] = {
    float: "a number, such as 28, 1.5, 1/2 or 50 %", int: "a whole number, such as 28",
    str: 'a text, such as "a"', bool: "True or False", list: "a list, such as [1, 2]",
    dict: 'a dict, such as {"a": 1}', set: 'a set, such as {"a", "b"}',
    tuple: "a tuple, such as (1, 2)"}
NOTHING = "Your function gives nothing back. Is there a `return`?"
Mistake = tuple[object, str | Verdict]
"""Whether an answer has an error, and its hint: a text, the name of one of the lesson's hints, or
`try_again` of a name with its facts."""

Mistakes = Generator[Mistake, None, Verdict | None]
"""Possible errors in an answer, and at the end the verdict on the others."""


class Check:
    """A task that grades its answer: calling it gives a `Verdict` and never raises.

    >>> from volcano_lab.course.kit.verdict import well_done
    >>> def half(answer):
    ...     '''What is half of ten?'''
    ...     return well_done("Yes.") if answer == 5 else try_again("Divide by 2.")
    >>> graded = Check("99.half", half, float)
    >>> graded(...), graded("10/2"), graded(4), graded("five")
    (to do: What is half of ten?, well done: Yes., try again: Divide by 2.,
     try again: The answer is 'five'; wanted is a number, such as 28, 1.5, 1/2 or 50 %.)
    """

    def __init__(self, key: str, grade: Callable[[Any], Verdict | Mistakes | None],
                 takes: type | Callable[[Any], bool] | None = None, wanted: str = "",
                 options: tuple[Any, ...] = (), solution: tuple[str, ...] = ()):
        self.key, self.grade, self.takes = key, grade, takes
        self.options, self.solution = options, solution
        self.task = " ".join(cleandoc(grade.__doc__ or "").split())
        self.wanted = wanted or WORDS.get(takes) or f"a {getattr(takes, '__name__', takes)}"
        self.__name__, self.__doc__ = grade.__name__, grade.__doc__
        self.__module__ = grade.__module__

    def __call__(self, answer: Any = ...) -> Verdict:
        if is_empty(answer) or (isinstance(answer, FunctionType) and is_unwritten(answer)):
            return to_do(self.task)
        try:
            answer = self._read(answer)
        except (TypeError, ValueError):
            return try_again(gettext("The answer is {answer}; wanted is {wanted}.",
                                     answer=short(answer), wanted=gettext(self.wanted)))
        try:
            verdict = verdict_of(self.grade(answer))
        except Exception as error:  # any exception of a reader's code or of an impossible cluster
            text = " ".join(str(error).split())
            if isinstance(error, ValueError) and not callable(answer):  # a sentence of the library
                return try_again(ended(text))
            return try_again(gettext("That stopped with {error}", error=": ".join(
                filter(None, (type(error).__name__, text)))))
        if verdict is None:
            return try_again(NOTHING) if isinstance(answer, FunctionType) else to_do(self.task)
        verdict = verdict.worded(part(self.key.partition(".")[0], HINTS))
        if verdict.state == WELL_DONE:
            progress.note(self.key)
        return verdict

    def _read(self, answer: Any) -> Any:
        """Return the answer in the check's type; raise if it has another one."""
        takes = self.takes
        if takes in (float, int):
            if isinstance(answer, bool) or not isinstance(answer, int | float | str):
                raise TypeError
            number = read_number(answer)
            if takes is int and number != int(number):
                raise ValueError
            return takes(number)
        if takes is bool and str(answer).strip().casefold() in ("true", "false", "yes", "no"):
            return str(answer).strip().casefold() in ("true", "yes")
        if takes is str and isinstance(answer, str):
            return answer.translate(HALF_WIDTH).strip()
        if takes is set and isinstance(answer, list | tuple | frozenset):
            return set(answer)
        if takes is list and isinstance(answer, tuple):
            return list(answer)
        fits = (isinstance(answer, takes) if isinstance(takes, type) else
                takes is None or takes(answer))
        if not fits:
            raise TypeError
        return answer

    def __repr__(self) -> str:
        return f"<check {self.key}: {self.task}>"


def verdict_of(graded: Verdict | Mistakes | None) -> Verdict | None:
    """Return the hint of the first error, or the verdict at the end.

    >>> def grade(answer):
    ...     yield answer < 0, "It is below 0."
    ...     return well_done("It is not.")
    >>> verdict_of(grade(-1)), verdict_of(grade(1))
    (try again: It is below 0., well done: It is not.)
    """
    if not isinstance(graded, Generator):
        return graded
    try:
        while True:
            wrong, hint = next(graded)
            if wrong:
                return hint if isinstance(hint, Verdict) else try_again(hint)
    except StopIteration as end:
        return end.value


def check(*, takes: type | Callable[[Any], bool] | None = None, wanted: str = "",
          options: tuple[Any, ...] = ()) -> Callable[[Callable[[Any], Any]], Check]:
    """Turn a function of a lesson's `checks.py` into a check, and register it.

    The function returns the verdict on an answer, or yields possible errors first (`Mistakes`).

    Args:
        takes: A type (numbers may come as text), or a predicate such as `callable`.
        wanted: The same in words, for readers who enter something else.
        options: The choices, if there are few.
    """

    def register(grade: Callable[[Any], Any]) -> Check:
        lesson = grade.__module__.rpartition("lesson_")[2].partition(".")[0]
        return registered(Check(f"{lesson}.{grade.__name__}", grade, takes, wanted, options))

    return register


def checks_of(lesson: str) -> dict[str, Check]:
    """Return the checks of a lesson by name, in the order of its `questions.yaml`: entries with
    `asks` (with `needs`, of a repair), and functions of its `checks.py`.

    >>> list(checks_of("07"))
    ['share_of_both', 'next_in_line', 'weights_of_dev', 'weight_of_eng', 'dominant_share']
    """
    if (COURSE / f"lesson_{lesson}" / "checks.py").exists():
        import_module(f"volcano_lab.course.lesson_{lesson}.checks")
    for name, entry in entries(lesson).items():
        if "needs" in entry and f"{lesson}.{name}" not in CHECKS:
            registered(import_module("volcano_lab.course.kit.boss").repair(lesson, name))
        elif "asks" in entry and f"{lesson}.{name}" not in CHECKS:
            graded = {word: reply for word, reply in entry.items() if word not in ("first", "then")}
            registered(answer_table(f"{lesson}.{name}", **graded))
    return {name: CHECKS[f"{lesson}.{name}"] for name, entry in entries(lesson).items()
            if "predicts" not in entry}


def answer_table(key: str, asks: str, answers: Mapping[Any, str], otherwise: str = "",
                 takes: str = "str") -> Check:
    """Create a check that looks its answer up in a table.

    Without `otherwise` the table's answers are the options.

    Args:
        key: Lesson and name.
        asks: The task.
        answers: Answer -> its hint, or "right: " and why.
        otherwise: The hint for any other answer.
        takes: What an answer must be: str, int, float or list.

    >>> writes_status = answer_table("99.writes_status", "When is the status written?", {
    ...     "open": "Opening only makes the copy.", "close": "right: When all is done."})
    >>> writes_status("Open"), writes_status("close"), writes_status("never")
    (try again: Opening only makes the copy., well done: When all is done.,
     try again: Choose one of: open; close.)
    """

    def look_up(answer: Any) -> Verdict:
        found = next((each for each in answers if _means(answer, each)), None)
        reply = answers.get(found, otherwise)
        if not reply:
            return try_again(gettext("Choose one of: {answers:;}.",
                                     answers=[gettext(str(each)) for each in answers]))
        why = reply.removeprefix(RIGHT)
        return try_again(reply) if why == reply else well_done(why)

    look_up.__doc__ = asks
    truth = right({"answers": answers})
    return Check(key, look_up, TAKES[takes], options=() if otherwise else tuple(answers),
                 solution=(as_text(truth), answers[truth].removeprefix(RIGHT)))


def _means(answer: Any, key: Any) -> bool:
    """Return whether an answer is this one; words may be shortened to their part before a colon."""
    if isinstance(answer, list | tuple):
        return [str(each).casefold() for each in answer] == [str(each).casefold() for each in key]
    words = str(answer).partition(":")[0].strip().casefold()
    begins = isinstance(key, str) and len(words) > 2 and key.casefold().startswith(words)
    return begins or same(answer, key)


def registered(added: Check) -> Check:
    """Register a check by its key."""
    CHECKS[added.key] = added
    return added


def ended(text: str) -> str:
    """Return a sentence with a mark at its end.

    >>> ended("That is no cluster"), ended("Did you mean train?")
    ('That is no cluster.', 'Did you mean train?')
    """
    return text if text.endswith(tuple(".?。？")) else text + mark(".")


def is_empty(answer: Any) -> bool:
    """Return whether there is no answer yet: dots, None, an empty text or collection, dots in one.

    >>> [is_empty(answer) for answer in (..., None, " ", [], {"a": ...}, 0, False, [1])]
    [True, True, True, True, True, False, False, False]
    """
    if answer is ... or answer is None:
        return True
    if isinstance(answer, str):
        return not answer.strip()
    if isinstance(answer, dict):
        return not answer or any(is_empty(value) for value in answer.values())
    return isinstance(answer, list | tuple | set | frozenset) and (
        not answer or any(value is ... for value in answer))


def is_unwritten(function: FunctionType) -> bool:
    """Return whether a function contains only dots, `pass` or a docstring.

    >>> def stub(left): return ...
    >>> is_unwritten(stub), is_unwritten(lambda left: left), is_unwritten(lambda: None)
    (True, False, True)
    """
    return all(step.opname in ("RESUME", "NOP", "RETURN_VALUE", "POP_TOP") or
               (step.opname in ("LOAD_CONST", "RETURN_CONST") and step.argval in (None, ...))
               for step in get_instructions(function))


def short(answer: Any, most: int = 60) -> str:
    """Write an answer as a reader would, shortened if it is long."""
    text = re.sub(r"\s+", " ", repr(answer))
    return text if len(text) <= most else text[: most - 1] + "…"
