"""Arguments that a public function does not have, refused with the names that it has."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar

from volcano_lab.messages.catalogue import gettext
from volcano_lab.messages.errors import Misuse

Wrapped = TypeVar("Wrapped", bound=Callable[..., Any])


def friendly_errors(called: Wrapped) -> Wrapped:
    """Raise `Misuse` with the allowed names where a function, or a method of a class, is called
    with other arguments than it has.

    >>> @friendly_errors
    ... def queue(name: str, weight: int = 1): return weight + 1
    >>> queue("a", wieght=2)
    Traceback (most recent call last):
    volcano_lab.messages.errors.Misuse: queue: got an unexpected keyword argument 'wieght'
    (weight?); allowed are name, weight
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
    refuse = _refuse

    def call(*given: Any, **named: Any) -> Any:
        try:
            return function(*given, **named)
        except TypeError:
            refuse(function, given, named)
            raise

    # With the function's own globals doctest counts it among its module's.
    own = FunctionType(call.__code__, function.__globals__, call.__name__, None, call.__closure__)
    return wraps(function)(own)


def _refuse(function: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Raise `Misuse` where a function does not have the arguments that it was called with."""
    signature = inspect.signature(function)
    try:
        signature.bind(*given, **named)
    except TypeError as error:
        allowed = [name for name in signature.parameters if name not in ("self", "cls")]
        raise misused(_called(function, given), error, named, allowed) from None


def misused(about: str, error: object, named: Iterable[str], allowed: Sequence[str]) -> Misuse:
    """Return the error of a call with names of arguments that are not all allowed."""
    near = [best for name in named if name not in allowed
            for best in get_close_matches(name, allowed, 1)]
    return Misuse("{about}: {error}{near}; allowed are {names:20}", about=about, error=error,
                  near=f" ({near[0]}?)" if near else "", names=allowed or gettext("no arguments"))


def _called(function: Callable[..., Any], given: tuple[Any, ...]) -> str:
    """Return a function's name; a method's with the class that it is called on."""
    name = function.__qualname__
    if given and "." in name:
        owner = given[0] if isinstance(given[0], type) else type(given[0])
        name = f"{owner.__name__}.{function.__name__}"
    return name.removesuffix(".__init__")
