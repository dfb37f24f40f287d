"""Where Volcano stops with a panic: by default the lab reports it and continues.

Volcano continues with PANIC_ON_ERROR=false. The environment variable PANIC_ON_ERROR=true makes the
lab stop, and so does `panics_stop`.

Volcano: pkg/scheduler/util/assert/assert.go
"""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

logger = logging.getLogger("volcano_lab")

_stop = ContextVar("stop", default=os.environ.get("PANIC_ON_ERROR", "").lower() == "true")


class Panic(ArithmeticError):
    """Volcano stops here."""


def panic(reason: str) -> None:
    """Report that Volcano stops here; raise `Panic` where panics stop the lab, too.

    >>> with panics_stop():
    ...     panic("resource is not sufficient")
    Traceback (most recent call last):
    volcano_lab.api.panics.Panic: Volcano stops here with a panic: resource is not sufficient
    """
    sentence = f"Volcano stops here with a panic: {reason}"
    if _stop.get():
        raise Panic(sentence)
    logger.error("%s; the lab goes on, as Volcano does with PANIC_ON_ERROR=false", sentence)


@contextmanager
def panics_stop() -> Iterator[None]:
    """Make panics stop the lab within a `with`."""
    before = _stop.set(True)
    try:
        yield
    finally:
        _stop.reset(before)
