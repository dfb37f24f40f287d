"""Python's garbage collector, paused; Go's runs concurrently.

Volcano: none
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused(enable: Callable[[], None] = gc.enable) -> Iterator[None]:
    """Collect no garbage until the end; `enable` then turns the collector on, if it was.

    It would scan the whole cluster repeatedly while many objects are created and few become
    garbage.

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


def enable_past_young() -> None:
    """Turn the collector on without a look at what was created since: it is kept for long."""
    gc.freeze()
    gc.unfreeze()  # into the oldest generation
    gc.enable()
