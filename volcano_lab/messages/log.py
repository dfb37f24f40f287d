"""The cache's log at the levels V(1) to V(5), through Python's logging.

`verbosity(n)` shows the facts up to V(n); at 0, the default, only warnings and errors are shown.
A session's decisions are in its trace; `Cycle.log` writes Volcano's own lines of them.

| level | facts |
|---|---|
| V(1) | evictions without effect |
| V(2) | configuration read, pods that are retried |
| V(3) | snapshots, pods and nodes added and deleted, binds and evictions |
| V(4) | pod updates |
| V(5) | the pipeline's queues |
"""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from volcano_lab.messages.errors import Misuse

MOST = 5
logger = logging.getLogger("volcano_lab")


def level(number: int) -> int:
    """Return Python's logging level for V(number): between INFO (20) and DEBUG (10).

    >>> level(3), logging.getLevelName(level(3))
    (17, 'V3')
    """
    return logging.INFO - number


for _number in range(1, MOST + 1):
    logging.addLevelName(level(_number), f"V{_number}")


def enabled(number: int) -> bool:
    """Return whether facts of V(number) are written."""
    return logger.isEnabledFor(logging.INFO - number)


def v(number: int, message: str, *args: Any) -> None:
    """Write a fact of V(number); `args` are formatted only if it is written.

    >>> v(3, "queue %s taken", "team")
    """
    if logger.isEnabledFor(logging.INFO - number):
        logger.log(logging.INFO - number, message, *args)


error, warning = logger.error, logger.warning
"""Write an error or a warning; shown at any verbosity."""


def once(sentence: str) -> None:
    """Write an error once: a configuration would repeat it in every cycle."""
    if sentence not in _written:
        _written.add(sentence)
        error("%s", sentence)


_written: set[str] = set()


class _Standard(logging.StreamHandler[Any]):
    """A handler that writes to the current standard output: in a notebook, the running cell's."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)
        self.setFormatter(logging.Formatter("%(levelname)s %(message)s"))

    @property
    def stream(self) -> Any:
        return sys.stdout


_handler = _Standard()


def verbosity(number: int) -> None:
    """Show facts up to V(number), from 1 to 5, on standard output; 0 shows none. `ValueError` for
    another number.

    >>> verbosity(3)
    >>> v(3, "queue %s taken", "team")
    V3 queue team taken
    >>> verbosity(0)
    """
    if number not in range(MOST + 1):
        raise Misuse("log.verbosity", number=number, most=MOST)
    if number:
        logger.setLevel(level(number))
        if _handler not in logger.handlers:
            logger.addHandler(_handler)
        logger.propagate = False
    else:
        logger.setLevel(logging.NOTSET)
        logger.removeHandler(_handler)
        logger.propagate = True


@contextmanager
def quiet() -> Iterator[None]:
    """Hide errors, too, unless a verbosity was set: for runs that fail on purpose."""
    before = logger.level
    if not enabled(1):
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)
