"""Checks of code that a reader writes: what is still empty, what is a plugin, and the framework's
sentences as hints.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any

from volcano_lab.course.kit import checking
from volcano_lab.course.kit.verdict import Verdict, try_again
from volcano_lab.framework.action import Action
from volcano_lab.framework.guard import ExtensionError
from volcano_lab.framework.plugin import Plugin

Graded = Callable[[Any], Verdict | None]

PLUGIN = "a class that is made from Plugin (the class itself, without parentheses)"
ACTION = "a class that is made from Action (the class itself, without parentheses)"


def is_unwritten(kind: type, method: str) -> bool:
    """Whether a class has a method, but nothing in it yet.

    >>> class Mine:
    ...     def score(self): ...
    >>> is_unwritten(Mine, "score")
    True
    """
    function = vars(kind).get(method)
    return isinstance(function, FunctionType) and checking.is_unwritten(function)


def is_plugin(answer: Any) -> bool:
    return isinstance(answer, type) and issubclass(answer, Plugin)


def is_action(answer: Any) -> bool:
    return isinstance(answer, type) and issubclass(answer, Action)


def written(method: str) -> Callable[[Graded], Graded]:
    """For a function that grades a class: to do while the method is empty; a sentence of the
    framework is the hint.
    """

    def around(grade: Graded) -> Graded:
        def graded(answer: Any) -> Verdict | None:
            if is_unwritten(answer, method):
                return None
            try:
                return grade(answer)
            except ExtensionError as error:
                return try_again(str(error).replace('"mine"', '"yours"'))

        graded.__name__, graded.__doc__ = grade.__name__, grade.__doc__
        graded.__module__ = grade.__module__
        return graded

    return around
