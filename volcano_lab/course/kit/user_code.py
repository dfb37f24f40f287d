"""Checks of code that a reader writes: empty methods, plugins, and the framework's sentences as
hints.
"""

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any

from volcano_lab.course.kit import checking
from volcano_lab.course.kit.checking import Check, verdict_of
from volcano_lab.course.kit.verdict import Verdict, try_again
from volcano_lab.framework import Action, Plugin
from volcano_lab.messages.guard import ExtensionError

WANTED = {Plugin: "a class that is made from Plugin (the class itself, without parentheses)",
          Action: "a class that is made from Action (the class itself, without parentheses)"}


def is_unwritten(kind: type, method: str) -> bool:
    """Return whether a class has a method, but an empty one.

    >>> class Mine:
    ...     def score(self): ...
    >>> is_unwritten(Mine, "score")
    True
    """
    function = vars(kind).get(method)
    return isinstance(function, FunctionType) and checking.is_unwritten(function)


def check_class(base: type, method: str) -> Callable[[Callable[[Any], Any]], Check]:
    """Create a check of a reader's class derived from `base`: to do while the method is empty; a
    sentence of the framework is the hint.
    """

    def register(grade: Callable[[Any], Any]) -> Check:
        @wraps(grade)
        def graded(answer: Any) -> Verdict | None:
            if is_unwritten(answer, method):
                return None
            try:
                return verdict_of(grade(answer))
            except ExtensionError as error:
                return try_again(str(error).replace('"mine"', '"yours"'))

        return checking.check(takes=lambda answer: isinstance(answer, type)
                              and issubclass(answer, base), wanted=WANTED[base])(graded)

    return register
