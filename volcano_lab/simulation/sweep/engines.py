"""The engines of a sweep: this process, a pool of processes, or a Dask cluster.

Each is a generator that takes a function and numbered items, and yields (number, result) as they
finish, in any order. If a worker crashes, its items run on another one; an item that crashes
workers repeatedly is a failure of its own.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Executor, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, nullcontext
from functools import lru_cache
from typing import Any

from volcano_lab.messages import Message, OneSentence, install

Item = tuple[int, Any]
LOCAL = "local"
"""The address of a Dask cluster on this machine."""


class SweepError(OneSentence, ValueError):
    """A sweep cannot be run as requested; the text is one sentence."""


def results(function: Callable, payload: Any, items: Sequence[Item], workers: int = 1,
            scheduler: str | None = None) -> Iterator[Item]:
    """Return the results of items from some workers, or from a Dask scheduler at an address.

    >>> list(results(lambda payload, item: payload * item, 2, [(0, 3), (1, 4)]))
    [(0, 6), (1, 8)]
    """
    if scheduler is not None:
        return _dask(function, payload, items, workers, scheduler)
    if workers > 1:
        return _pool(function, payload, items, workers)
    return ((number, function(payload, item)) for number, item in items)


def packed(thing: Any) -> bytes:
    """Return an object as bytes for another process; functions of a notebook too, where cloudpickle
    is installed (Dask depends on it).
    """
    try:
        from cloudpickle import dumps
    except ImportError:
        dumps = pickle.dumps
    try:
        return dumps(thing)
    except Exception as error:
        raise SweepError("sweep.packed", error=error) from None


@lru_cache(maxsize=2)
def _unpacked(data: bytes) -> Any:
    return pickle.loads(data)


def call_packed(function: Callable, data: bytes, item: Any) -> Any:
    """Call a function with the packed object; a process unpacks the same bytes once."""
    return function(_unpacked(data), item)


def _finished(executor: Executor, function: Callable, data: Any, items: Iterable[Item]
              ) -> Iterator[Item]:
    """Yield the results of items as they finish; what one raised is its result."""
    futures = {executor.submit(call_packed, function, data, item): number for number, item in items}
    for future in as_completed(futures):
        yield futures[future], future.exception() or future.result()


def _pool(function: Callable, payload: Any, items: Sequence[Item], workers: int) -> Iterator[Item]:
    data, left = packed(payload), dict(items)
    for alone in (False, False, True):  # after two crashes, single items reveal the cause
        batches = [[item] for item in left.items()] if alone else [list(left.items())]
        for batch in filter(None, batches):
            with ProcessPoolExecutor(min(workers, len(batch))) as pool:
                for number, result in _finished(pool, function, data, batch):
                    if not isinstance(result, BrokenProcessPool):
                        del left[number]
                        yield number, result
    for number in left:
        yield number, RuntimeError(str(Message("sweep.died")))


def _dask(function: Callable, payload: Any, items: Sequence[Item], workers: int,
          scheduler: str) -> Iterator[Item]:
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise SweepError("sweep.no_dask", command=install.install_line("sweep")) from None
    cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) \
        if scheduler == LOCAL else None
    try:
        with closing(cluster) if cluster else nullcontext(), \
                Client(cluster or scheduler, timeout=4) as client:
            # A task can be done again elsewhere; scattered data dies with the workers that hold it.
            data = client.submit(bytes, packed(payload), pure=False)
            yield from _finished(client.get_executor(pure=False), function, data, items)
    except (OSError, TimeoutError, ValueError, TypeError, CancelledError) as error:
        # TypeError: tls:// without certificates in Dask's configuration
        raise SweepError("sweep.dask", scheduler=scheduler, error=error) from None
