"""Python's garbage collector, paused; Go's runs concurrently.

Volcano: none
"""

import gc
import sys
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


_GROWN = 2
_blocks = 0  # of memory that were in use after the last look at everything


def enable_past_young() -> None:
    """Turn the collector on without a look at what was created since: it is kept for long. Look at
    everything once the memory in use has doubled: Python would not count these objects.
    """
    global _blocks
    if sys.getallocatedblocks() > _GROWN * _blocks:
        if _blocks:
            gc.collect()
        _blocks = sys.getallocatedblocks()
    gc.freeze()
    gc.unfreeze()  # into the oldest generation
    gc.enable()
