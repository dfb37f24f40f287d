"""The allowed answers to an extension point, with their names and checks.

Go's compiler refuses a function of another type; here the answers of user-defined plugins are
checked when they are returned (`guard`).

Volcano: pkg/scheduler/api/types.go
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from math import isnan
from numbers import Real
from typing import Any

import numpy as np
from attrs import define

from volcano_lab.api.fit_error import FitError


@define(slots=True, frozen=True)
class Answer:
    """An allowed type: `words` names it, `fits` checks a value.

    >>> SCORE.fits(7), SCORE.fits(None), TRUTH.words
    (True, False, 'True or False')
    """

    words: str
    fits: Callable[[Any], bool]


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def _is_number(value: Any) -> bool:
    """Return whether a value is a number; a boolean is none: it shows a misunderstood rule."""
    try:
        return isinstance(value, Real) and not _is_truth(value) and not isnan(value)
    except OverflowError:  # an int beyond the range of a float
        return False


def _is_list(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | Mapping)


def _are_tasks(value: Any) -> bool:
    """Return whether a value lists tasks, not pod names; an iterator is not consumed to check."""
    return _is_list(value) and not (isinstance(value, Collection)
                                    and any(isinstance(part, str) for part in value))


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple | list) and len(value) == 2 and _are_tasks(
        value[0]) and _is_number(value[1])


def _is_scores(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(name, str) and _is_number(score) for name, score in value.items())


ANYTHING = Answer("anything", lambda value: True)
TRUTH = Answer("True or False", _is_truth)
SCORE = Answer("a number", _is_number)
SCORES = Answer('a dict of numbers by name, such as {"node-1": 10}', _is_scores)
COMPARISON = Answer("a number: below 0 puts the left one first, above 0 the right one, 0 leaves it "
                    "to others", _is_number)
VOTE = Answer("a vote: PERMIT (1), ABSTAIN (0) or REJECT (-1)", _is_number)
OBJECTION = Answer("None, or a text (or FitError) that says why not",
                   lambda value: isinstance(value, str | FitError | None))
INVALID = Answer("None, or an object with `reason` and `message`", lambda value: value is None
                 or (hasattr(value, "reason") and hasattr(value, "message")))
TASKS = Answer("a list of tasks", _are_tasks)
VICTIMS = Answer("a pair: the list of tasks that may be evicted, and PERMIT, ABSTAIN or REJECT",
                 _is_pair)
LEVELS = Answer("a list of lists",
                lambda value: _is_list(value) and all(_is_list(part) for part in value))
