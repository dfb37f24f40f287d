"""Guards around user-defined plugins and actions: an error in one of them is one sentence, with the
plugin, the extension point, and what is allowed.

In Go the compiler rejects a wrong type, a misspelt function is never registered, and a panic in a
plugin ends the scheduler. The lab's own plugins and actions are tested instead of guarded, because
they are called too often.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from re import sub
from typing import TYPE_CHECKING, Any

from volcano_lab.api import JobInfo, NodeInfo, QueueInfo, TaskInfo
from volcano_lab.messages import gettext, mark
from volcano_lab.messages.attempt import MOST_SECONDS, TooLong, printed, time_limit
from volcano_lab.messages.errors import OneSentence
from volcano_lab.messages.text import one_line

if TYPE_CHECKING:
    from volcano_lab.framework.points.rules import ExtensionPoint

HOUSE = tuple(f"{__name__.partition('.')[0]}.{package}." for package in ("plugins", "actions"))
HOOKS = ("on_session_open", "on_session_close", "on_allocate", "on_deallocate", "pre_bind",
         "setup_bind_context_extension")
"""Methods that a plugin may have besides those of extension points."""

COMPANIONS = ("_key", "_formula", "_nodes", "_alike", "_even", "_unresolvable")
"""Suffixes of methods that return the same answer in another form."""


class ExtensionError(OneSentence):
    """A user-defined plugin, action or extension point failed; `__cause__` has the rest."""


def is_user_defined(thing: Any) -> bool:
    """Return whether a plugin or an action, or its class, does not come with the lab.

    >>> from volcano_lab.plugins.gang import Gang
    >>> is_user_defined(Gang), is_user_defined(dict)
    (False, True)
    """
    kind = thing if isinstance(thing, type) else type(thing)
    return not kind.__module__.startswith(HOUSE)


def guarded(point: ExtensionPoint, plugin: str, function: Callable[..., Any],
            passed: type[Exception]) -> Callable[..., Any]:
    """Return a plugin's function with a check of its answers. Exceptions of class `passed` count as
    answers.

    >>> from volcano_lab.framework.points.rules import NoScore
    >>> from volcano_lab.framework.points.table import extension_points
    >>> scores = guarded(extension_points(None)["node_order"], "mine", lambda task, node: None,
    ...                  NoScore)
    >>> scores("task", "node")
    Traceback (most recent call last):
    ...
    volcano_lab.messages.guard.ExtensionError: plugin "mine", node_order: the answer is None;
    allowed is a number.
    """
    where = gettext('plugin "{plugin}", {point}', plugin=plugin, point=point.name)

    def answered(*args: Any) -> Any:
        before = [_state(arg) for arg in args]
        answer = call_handler(where, function, *args, passed=passed)
        if [_state(arg) for arg in args] != before:
            raise ExtensionError("extension.changed_argument", where=where)
        if not point.answer.fits(answer):
            raise ExtensionError("{where}: the answer is {short}; allowed is {words}.", where=where,
                                 short=_short(answer), words=gettext(point.answer.words))
        return answer

    return answered


def call_plugin(owner: Any, where: str, function: Callable[..., Any], *args: Any) -> Any:
    """Call a function of a plugin or an action, with a guard if its owner is user-defined."""
    return call_handler(where, function, *args) if is_user_defined(owner) else function(*args)


def call_hook(plugin: Any, where: str, hook: Callable[[Any], Any], ssn: Any) -> None:
    """Call a plugin's open or close hook.

    Raises:
        ExtensionError: A user-defined plugin changed which jobs, nodes or queues the session has.
    """
    held = {name: getattr(ssn, name) for name in ("jobs", "nodes", "queues")}
    before = {name: list(items) for name, items in held.items()} if is_user_defined(plugin) else {}
    call_plugin(plugin, where, hook, ssn)
    for name, keys in before.items():
        if getattr(ssn, name, None) is not held[name] or list(held[name]) != keys:
            raise ExtensionError("extension.changed_session", where=where, name=name)


def call_handler(where: str, function: Callable[..., Any], *args: Any,
                 passed: type[Exception] = ExtensionError) -> Any:
    """Call a user-defined function; an exception becomes an `ExtensionError` with its line."""
    try:
        with time_limit():
            return function(*args)
    except (ExtensionError, passed):
        raise
    except TooLong as error:
        raise ExtensionError("extension.slow", where=where, seconds=MOST_SECONDS,
                             line=_line(error, function)) from error
    except (Exception, SystemExit) as error:
        text = one_line(printed(str, error), 300)
        raise ExtensionError(
            f"{where}{mark(': ')}{type(error).__name__}{f': {text}' if text else ''}"
            f"{_line(error, function)}"
        ) from error


def _state(thing: Any) -> Any:
    """Return the state of a task, job, node or list of them that no answer may change."""
    if isinstance(thing, TaskInfo):
        return thing.status, thing.node_name, thing.resreq, thing.priority
    if isinstance(thing, NodeInfo):
        row, table = thing.row, thing.table
        return len(thing.tasks), [account[row].tobytes() for account in
                                  (table.idle, table.used, table.releasing, table.pipelined)]
    if isinstance(thing, JobInfo):
        group = thing.pod_group
        return (len(thing.tasks), thing.allocated, thing.queue, thing.priority, thing.min_available,
                group and group.status.phase)
    if isinstance(thing, QueueInfo):
        return thing.weight, thing.queue.spec.parent
    return [_state(part) for part in thing] if isinstance(thing, list | tuple) else None


def refuse_taken_names(ssn: Any, points: Iterable[str]) -> None:
    """Raise `ExtensionError` where an extension point, which becomes an attribute of the session,
    would hide an existing attribute.
    """
    for name in points:
        if name in vars(ssn) or hasattr(type(ssn), name):
            raise ExtensionError("extension.taken", name=name)


def validate_plugin(name: str, plugin: Any, base: type,
                    points: Mapping[str, ExtensionPoint]) -> None:
    """Check that a user-defined plugin answers at least one extension point, and that its methods
    have the names and parameters of the points. Methods of the class `base` are ignored.

    Raises:
        ExtensionError: With one sentence.
    """
    public = [method for method in dir(plugin)
              if not method.startswith("_") and callable(getattr(plugin, method))]
    known = [*points, *HOOKS]
    for method in public:
        companion = any(method.endswith(end) and method.removesuffix(end) in points
                        for end in COMPANIONS)
        meant = "" if method in known or companion else _meant(method, known)
        if meant:
            raise ExtensionError("extension.method", name=name, method=method, meant=meant)
    for method in points.keys() & public:
        _check_parameters(name, points[method], getattr(plugin, method))
    hooks = [hook for hook in HOOKS if hook in public
             and getattr(type(plugin), hook, None) is not getattr(base, hook, None)]
    if not points.keys() & public and not hooks:
        own = [method for method in public if not hasattr(base, method)]
        found = gettext("its methods are {methods:,}", methods=own) if own else gettext(
            "it has no methods of its own")
        raise ExtensionError("extension.silent", name=name, found=found)


def _meant(method: str, known: list[str]) -> str:
    """Return the known name closest to a method's name, also in Go's spelling; "" without one."""
    snake = sub(r"(?<=[a-z])(?=[A-Z])", "_",
                method).lower().removeprefix("add_").removesuffix("_fn").removesuffix("_fun")
    return next(iter(get_close_matches(snake, known, 1, 0.84)), "")


def _check_parameters(name: str, point: ExtensionPoint, function: Callable[..., Any]) -> None:
    """Refuse a method that cannot be called with the arguments of its extension point."""
    if not point.arguments and point.method is None:
        return  # registered without its arguments
    try:
        inspect.signature(function).bind(*point.arguments)
    except TypeError:
        found = ", ".join(["self", *inspect.signature(function).parameters])
        raise ExtensionError("extension.parameters", name=name, point=point.name, found=found,
                             allowed=["self", *point.arguments]) from None
    except ValueError:
        return  # no signature available


def _line(error: BaseException, function: Callable[..., Any]) -> str:
    """Return the line of the author's own file or cell, as text."""
    own = getattr(inspect.unwrap(function), "__code__", None)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if own and frame.filename == own.co_filename]
    code = frames[-1].line if frames else ""
    return gettext(", in line {line}: {code}", line=frames[-1].lineno, code=code) if code else ""


def _short(answer: Any, most: int = 60) -> str:
    text = printed(repr, answer, gettext("an object of {name}", name=type(answer).__name__))
    return text if len(text) <= most else text[: most - 1] + "…"
