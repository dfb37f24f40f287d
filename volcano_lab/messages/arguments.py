"""Arguments that a public function does not have, or that are of another type, refused with what is
allowed.
"""

import inspect
import re
from collections.abc import Callable
from contextlib import suppress
from difflib import get_close_matches
from functools import wraps
from types import FunctionType, SimpleNamespace, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from volcano_lab.messages.catalogue import gettext
from volcano_lab.messages.errors import Misuse

Wrapped = TypeVar("Wrapped", bound=Callable[..., Any])


class WrongType(Misuse):
    """A function failed, and was called with an argument of another type than it takes."""


def friendly_errors(called: Wrapped) -> Wrapped:
    """Raise `Misuse` with the allowed names where a function, or a method of a class, is called
    with other arguments than it has; with the allowed type where it fails as one is of another.

    >>> @friendly_errors
    ... def queue(name: str, weight: int = 1): return weight + 1
    >>> queue("a", wieght=2)
    Traceback (most recent call last):
    volcano_lab.messages.errors.Misuse: queue: got an unexpected keyword argument 'wieght'
    (weight?); allowed are name, weight
    >>> queue("a", "2")
    Traceback (most recent call last):
    volcano_lab.messages.arguments.WrongType: queue: weight is '2'; allowed is int
    """
    if not isinstance(called, type):
        checked: Wrapped = _checked(called)
        return checked
    for name, value in list(vars(called).items()):
        function = value.__func__ if isinstance(value, classmethod) else value
        if isinstance(function, FunctionType) and (name == "__init__" or name[0] != "_"):
            checked = _checked(function)
            setattr(called, name, classmethod(checked) if function is not value else checked)
    return called


def _checked(function: Callable[..., Any]) -> Any:
    refuse, misuse, wrong_type = _refuse, Misuse, WrongType

    def call(*given: Any, **named: Any) -> Any:
        try:
            return function(*given, **named)
        except (TypeError, AttributeError) as error:
            if isinstance(error, misuse) and not isinstance(error, wrong_type):
                raise  # in words of its own
            refuse(function, given, named)
            raise

    # With the function's own globals doctest counts it among its module's.
    own = FunctionType(call.__code__, function.__globals__, call.__name__, None, call.__closure__)
    return wraps(function)(own)


def _refuse(function: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Raise `Misuse` where a function does not have the arguments that it was called with, or one
    of them is of another type.
    """
    signature = inspect.signature(function)
    try:
        bound = signature.bind(*given, **named).arguments
    except TypeError as error:
        allowed = [name for name in signature.parameters if name not in ("self", "cls")]
        near = [best for name in named.keys() - {*allowed}
                for best in get_close_matches(name, allowed, 1)]
        raise Misuse("{about}: {error}{near}; allowed are {names:20}",
                     about=_called(function, given), error=error,
                     near=f" ({near[0]}?)" if near else "",
                     names=allowed or gettext("no arguments")) from None
    _refuse_types(function, given, signature, bound)


def _refuse_types(function: Callable[..., Any], given: tuple[Any, ...],
                  signature: inspect.Signature, bound: dict[str, Any]) -> None:
    """Raise `Misuse` where an argument is of another type than the function's annotations."""
    named = {name: each for name, each in signature.parameters.items()
             if name in bound and each.kind != each.VAR_KEYWORD and each.annotation != each.empty}
    written = {name: each.annotation for name, each in named.items()}
    hints: dict[str, Any] = {}
    with suppress(NameError):  # of a type that is imported for type checkers only
        hints = get_type_hints(SimpleNamespace(__annotations__=written), function.__globals__)
    for name, hint in hints.items():
        values = bound[name] if named[name].kind == inspect.Parameter.VAR_POSITIONAL else [
            bound[name]]
        for wrong in (value for value in values if not _fits(value, hint)):
            raise WrongType("{about}: {name} is {found}; allowed is {type}", name=name,
                            about=_called(function, given), found=repr(wrong), type=re.sub(
                                r"[\w.]+\.", "", inspect.formatannotation(hint))) from None


def _fits(value: Any, hint: Any) -> bool:
    """Return whether a value may be of a type; of what is in it only a list's or tuple's parts are
    looked at.

    >>> _fits(1, float | None), _fits(["a", 2], list[str]), _fits("2", int | Any)
    (True, False, True)
    """
    origin, inner = get_origin(hint) or hint, get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, each) for each in inner)
    if origin is Any or not isinstance(origin, type):
        return True
    parts = value if inner and isinstance(value, list | tuple) else ()
    return isinstance(value, (int, float) if origin is float else origin) and all(
        _fits(part, inner[0]) for part in parts)


def _called(function: Callable[..., Any], given: tuple[Any, ...]) -> str:
    """Return a function's name; a method's with the class that it is called on."""
    name = function.__qualname__
    if given and "." in name:
        owner = given[0] if isinstance(given[0], type) else type(given[0])
        name = f"{owner.__name__}.{function.__name__}"
    return name.removesuffix(".__init__")
