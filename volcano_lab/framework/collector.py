"""Python's collector of garbage, paused. Answers to no Go file: Go's works beside the program."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused(enable: Callable[[], None] = gc.enable) -> Iterator[None]:
    """Look for no garbage until the end; `enable` then turns the collector on, if it was.

    It would walk over the whole cluster again and again, where many objects are made and next to
    nothing becomes garbage.

    >>> with collector_paused():
    ...     gc.isenabled()
    False
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            enable()
