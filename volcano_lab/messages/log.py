"""What the scheduler writes while it works, at the levels V(1) to V(5), through Python's logging.

Answers to Volcano's use of klog: the same kinds of facts at the same levels, in our own words.
`verbosity(n)` shows the facts up to V(n); at 0, where it begins, only warnings and errors are
shown, and a cycle does nothing for the log's sake. What a session decides is written by
`trace.session_log.SessionLog`, a reader of the observer's hooks.

| level | facts |
|---|---|
| V(1) | evictions that change nothing |
| V(2) | configuration read, pods that are tried again |
| V(3) | sessions, snapshots, pods and nodes that come and go, queues and jobs taken, placements \
and what they leave of a node, tasks without a node and why, victims, commits, discards; queues \
that have too much, with the numbers |
| V(4) | cycles, what a snapshot leaves out, pods that change, priorities, hyper nodes, what \
queues have and deserve, round by round; who is admitted or passed over |
| V(5) | actions entered and left, each node's amounts, single comparisons, the pipeline's queues |
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
    """The level of Python's logging that stands for V(number): between INFO (20) and DEBUG (10).

    >>> level(3), logging.getLevelName(level(3))
    (17, 'V3')
    """
    return logging.INFO - number


for _number in range(1, MOST + 1):
    logging.addLevelName(level(_number), f"V{_number}")


def enabled(number: int) -> bool:
    """Whether facts of V(number) are wanted."""
    return logger.isEnabledFor(logging.INFO - number)


def v(number: int, message: str, *args: Any) -> None:
    """Write a fact of V(number); `args` are filled in only where it is wanted.

    >>> v(3, "queue %s taken", "team")
    """
    if logger.isEnabledFor(logging.INFO - number):
        logger.log(logging.INFO - number, message, *args)


error, warning = logger.error, logger.warning
"""Write what went wrong, or looks wrong; shown at any verbosity."""


def once(sentence: str) -> None:
    """Write an error the first time only: a configuration would repeat it in every cycle."""
    if sentence not in _written:
        _written.add(sentence)
        error("%s", sentence)


_written: set[str] = set()


class _Standard(logging.StreamHandler):
    """Writes to whatever is standard output at that moment: in a notebook that is the cell which
    runs.
    """

    def __init__(self) -> None:
        logging.Handler.__init__(self)
        self.setFormatter(logging.Formatter("%(levelname)s %(message)s"))

    @property
    def stream(self):
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
        raise Misuse(f"verbosity is {number}; allowed is a whole number from 0 (nothing) to "
                         f"{MOST} (all)")
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
    """Show no errors either, unless a verbosity was asked for: where things go wrong on purpose."""
    before = logger.level
    if not enabled(1):
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)
