"""Argument errors of public functions as one readable sentence, for notebooks."""

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import wraps
from numbers import Integral, Real
from types import FunctionType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from volcano_lab.messages.catalogue import gettext
from volcano_lab.messages.errors import Misuse
from volcano_lab.messages.text import one_line

Wrapped = TypeVar("Wrapped", bound=Callable[..., Any])
NUMBERS: dict[Any, type] = {int: Integral, float: Real}
WORDS = {str: "text", int: "a whole number", float: "a number", bool: "True or False",
         dict: "a mapping", list: "a list", tuple: "a tuple", type(None): "None",
         Mapping: "a mapping", Iterable: "a list", Sequence: "a list"}


def friendly_errors(called: Wrapped, first: bool = False) -> Wrapped:
    """Raise `Misuse` with one sentence for wrong arguments of a function or of a class's methods.

    A function's own errors take precedence: its arguments are compared with their annotations only
    if it fails. Those of a constructor are compared always; with `first`, all are, before the call.

    >>> @friendly_errors
    ... def queue(name: str, weight: int = 1): return weight + 1
    >>> queue("a", wieght=2)
    Traceback (most recent call last):
    volcano_lab.messages.errors.Misuse: queue: got an unexpected keyword argument 'wieght'
    (weight?); allowed are name, weight
    >>> queue("a", weight="2")
    Traceback (most recent call last):
    volcano_lab.messages.errors.Misuse: queue: weight is '2'; allowed is a whole number
    """
    if isinstance(called, type):
        for name, value in list(vars(called).items()):
            function = value.__func__ if isinstance(value, classmethod) else value
            if isinstance(function, FunctionType) and (name == "__init__" or name[0] != "_"):
                checked = _checked(function, first)
                setattr(called, name, classmethod(checked) if function is not value else checked)
        return called
    return _checked(called, first)


RAW = (TypeError, AttributeError, ValueError, LookupError)
"""What Python itself raises about an argument; errors derived from these have their own text."""


def _checked(function: Callable[..., Any], first: bool) -> Any:
    raw, refuse_mistake = RAW, _refuse_mistake
    always = function.__name__ == "__init__" and not first

    def call(*given: Any, **named: Any) -> Any:
        if first:
            refuse_mistake(function, given, named)
        try:
            answer = function(*given, **named)
        except raw as error:
            refuse_mistake(function, given, named, error)
            raise
        if always:
            refuse_mistake(function, given, named)
        return answer

    # With the function's own globals doctest counts it among its module's.
    own = FunctionType(call.__code__, function.__globals__, call.__name__, None, call.__closure__)
    return wraps(function)(own)


def _refuse_mistake(function: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any],
                    error: Exception | None = None) -> None:
    """Raise `Misuse` where an argument is wrong, unless the error has a text of its own."""
    if type(error) in (*RAW, KeyError, IndexError, Misuse, type(None)):
        sentence = mistake_in(function, given, named, type(error) in (TypeError, AttributeError))
        if sentence:
            raise Misuse(sentence) from error


def mistake_in(function: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any],
               parts: bool = False) -> str:
    """Return a sentence about the first argument that a function does not take, or "".

    With `parts` the entries of lists are compared, too.

    >>> mistake_in(one_line, (5,), {})
    'one_line: text is 5; allowed is text'
    """
    signature = inspect.signature(function)
    allowed = [name for name in signature.parameters if name not in ("self", "cls")]
    about = _called(function, given)
    try:
        bound = signature.bind(*given, **named)
    except TypeError as error:
        near = [best for name in named.keys() - set(allowed)
                for best in get_close_matches(name, allowed, 1)]
        return gettext("{about}: {error}{near}; allowed are {names:20}", about=about, error=error,
                       near=f" ({near[0]}?)" if near else "",
                       names=allowed or gettext("no arguments"))
    for name, value in bound.arguments.items():
        parameter = signature.parameters[name]
        hint = _hint(function, parameter.annotation)
        values = (value if parameter.kind == parameter.VAR_POSITIONAL else
                  value.values() if parameter.kind == parameter.VAR_KEYWORD else (value,))
        for each in values:
            if not _fits(each, hint):
                return _misfit(about, name, each, hint)
            for at, part in enumerate(_parts(each, hint) if parts else ()):
                if not _fits(part, get_args(hint)[0]):
                    return _misfit(about, f"{name}[{at}]", part, get_args(hint)[0])
    return ""


def _misfit(about: str, name: str, found: Any, hint: Any) -> str:
    return one_line(gettext("{about}: {name} is {found}; allowed is {allowed}", about=about,
                            name=name, found=one_line(repr(found), 100), allowed=_words(hint)))


def _called(function: Callable[..., Any], given: tuple[Any, ...]) -> str:
    """Return a function's name; a method's with the class that it is called on."""
    owner = given[0] if given and "." in function.__qualname__ else None
    kind = owner if isinstance(owner, type) else type(owner)
    if not hasattr(kind, function.__name__):
        return function.__qualname__.removesuffix(".__init__")
    return f"{kind.__name__}.{function.__name__}".removesuffix(".__init__")


def _parts(value: Any, hint: Any) -> Sequence[Any]:
    """Return the entries of a list (or the keys of a mapping in place of one) whose annotation
    restricts them; otherwise nothing.
    """
    typed = get_origin(hint) in (list, Iterable, Sequence) and get_args(hint)
    return list(value) if typed and isinstance(value, list | tuple | dict) else ()


def _hint(function: Callable[..., Any], annotation: Any) -> Any:
    """Return what an annotation names; `Any` where only a type checker can resolve it."""
    if not isinstance(annotation, str):
        return Any if annotation is inspect.Parameter.empty else annotation
    names = vars(sys.modules[function.__module__]) | function.__globals__
    try:
        return eval(annotation, dict(names))  # the annotations are those of this package
    except (NameError, TypeError):
        return Any


def _fits(value: Any, hint: Any) -> bool:
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, each) for each in get_args(hint))
    if origin is Literal:
        return value in get_args(hint)
    kind = NUMBERS.get(hint, origin or hint)
    if kind in (Iterable, Sequence) and isinstance(value, str):
        return False  # letters are hardly intended
    try:
        return kind is Any or not isinstance(kind, type) or isinstance(value, kind)
    except TypeError:  # a protocol that cannot be checked at run time
        return True


def _words(hint: Any) -> str:
    if get_origin(hint) in (Union, UnionType):
        words = dict.fromkeys(_words(each) for each in get_args(hint))
        return gettext("{words:or}", words=[*words])
    if get_origin(hint) is Literal:
        return gettext("{words:or}", words=get_args(hint))
    kind = get_origin(hint) or hint
    name = getattr(kind, "__name__", str(kind))
    return gettext(WORDS[kind]) if kind in WORDS else gettext(
        "an {name}" if name[0] in "AEIOU" else "a {name}", name=name)
