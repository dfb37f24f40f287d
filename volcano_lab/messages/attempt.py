"""The guard around a page's callbacks: a time limit, and one sentence about any exception.

Labs, steppers and fields need it: no Python frame catches what their callbacks raise.
"""

import logging
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from volcano_lab.messages.catalogue import gettext
from volcano_lab.messages.errors import OneSentence
from volcano_lab.messages.text import one_line

T = TypeVar("T")
MOST_SECONDS = 10
"""Seconds after which code that is not the lab's own is interrupted."""

LIBRARY = (str(Path(__file__).parents[1]), sys.prefix, sys.base_prefix, "<frozen")
"""Where files begin whose line numbers mean nothing to users of a notebook."""


class TooLong(BaseException):
    """The time limit has passed; no `except Exception` of user code may swallow it."""


@contextmanager
def time_limit() -> Iterator[None]:
    """Interrupt code that takes too long; not where there are no signals (in another thread, on
    Windows, in a browser), nor under a debugger.
    """
    if (not hasattr(signal, "setitimer") or sys.gettrace() is not None
            or threading.current_thread() is not threading.main_thread()):
        yield
        return

    def interrupt(*_: Any) -> None:
        raise TooLong

    handler = signal.signal(signal.SIGALRM, interrupt)
    outer = signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, *outer)


def attempt(act: Callable[[], T], code: str = "") -> tuple[T | None, str]:
    """Return what a function returns and "", or None and a sentence about what it raised. `code` is
    the name under which a reader's code was compiled.

    >>> attempt(lambda: 1 + 1), attempt(lambda: int("one"))
    ((2, ''), (None, "invalid literal for int() with base 10: 'one'"))
    >>> attempt(lambda: 1 / 0), attempt(lambda: sys.exit(3), "a notebook's cell")
    ((None, 'ZeroDivisionError: division by zero (line 1)'), (None, 'the code has called exit()'))
    """
    try:
        with time_limit():
            return act(), ""
    except BaseException as error:  # a page can't show a traceback
        logging.getLogger(__name__).debug("what is shown as one sentence", exc_info=error)
        return None, _sentence(error, code)


def _sentence(error: BaseException, code: str) -> str:
    """Return a page's sentence about an error. The text of a `ValueError` suffices, but not of a
    reader's.
    """
    text = one_line(printed(str, error.msg if isinstance(error, SyntaxError) else error))
    line = _line(error, code)
    where = gettext(" (line {line})", line=line) if line else ""
    if isinstance(error, SystemExit):
        return gettext("the code has called exit(){where}", where=where)
    if isinstance(error, TooLong):
        return gettext("the code has not returned after {seconds} seconds{where}",
                       seconds=MOST_SECONDS, where=where)
    if text and isinstance(error, OneSentence | ValueError) and not code:
        return text
    return f"{type(error).__name__}{f': {text}' if text else ''}{where}"


def printed(show: Callable[[Any], str], thing: Any, otherwise: str = "") -> str:
    """Return an object of user code as one line; some can't even be printed."""
    try:
        return " ".join(show(thing).split())
    except Exception:
        return otherwise


def _line(error: BaseException, code: str) -> int | None:
    """Return the innermost line of a reader's code, or of a notebook's; None without one."""
    if isinstance(error, SyntaxError):
        return error.lineno
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__)
             if (frame.filename == code if code else not frame.filename.startswith(LIBRARY))]
    return lines[-1] if lines else None
