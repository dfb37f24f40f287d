"""Checks of code that a reader writes: empty methods, plugins, and the framework's sentences as
hints.
"""

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any

from volcano_lab.course.kit.checking import Check, check, is_unwritten, verdict_of
from volcano_lab.course.kit.verdict import Verdict, try_again
from volcano_lab.framework import Action, Plugin
from volcano_lab.messages.guard import ExtensionError

WANTED = {Plugin: "a subclass of Plugin (the class itself, without parentheses)",
          Action: "a subclass of Action (the class itself, without parentheses)"}


def check_class(base: type, method: str) -> Callable[[Callable[[Any], Any]], Check]:
    """Create a check of a reader's class derived from `base`: to do while the method is empty; a
    sentence of the framework is the hint.
    """

    def register(grade: Callable[[Any], Any]) -> Check:
        @wraps(grade)
        def graded(answer: Any) -> Verdict | None:
            function = vars(answer).get(method)
            if isinstance(function, FunctionType) and is_unwritten(function):
                return None
            try:
                return verdict_of(grade(answer))
            except ExtensionError as error:
                return try_again(str(error).replace('"mine"', '"yours"'))

        return check(takes=lambda answer: isinstance(answer, type) and issubclass(answer, base),
                     wanted=WANTED[base])(graded)

    return register
