"""The engines of a sweep: this process, a pool of processes, or a Dask cluster.

Each is a generator that takes a function and numbered items, and yields (number, result) as they
finish, in any order. If a worker crashes, its items run on another one; an item that crashes
workers repeatedly is a failure of its own.
"""

import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from typing import Any

from volcano_lab.messages import OneSentence, gettext
from volcano_lab.messages.install import install_line

Item = tuple[int, Any]
TRIES = 3
"""How often an item may crash its worker."""
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
        raise SweepError("base or a metric can't be sent to another process ({error}); allowed "
                         "are objects and functions of a module, or one worker",
                         error=error) from None


@lru_cache(maxsize=2)
def _unpacked(data: bytes) -> Any:
    return pickle.loads(data)


def call_packed(function: Callable, data: bytes, item: Any) -> Any:
    """Call a function with the packed object; a process unpacks the same bytes once."""
    return function(_unpacked(data), item)


def _pool(function: Callable, payload: Any, items: Sequence[Item], workers: int) -> Iterator[Item]:
    data, left = packed(payload), dict(items)
    tries: Counter[int] = Counter()
    alone = False  # after a crash, single items reveal its cause
    while left:
        batch = dict(list(left.items())[:1]) if alone else dict(left)
        with ProcessPoolExecutor(min(workers, len(batch))) as pool:
            futures: dict[Future, int] = {pool.submit(call_packed, function, data, item): number
                                          for number, item in batch.items()}
            broken = False
            for future in as_completed(futures):
                try:
                    result = future.result()
                except BrokenProcessPool:
                    broken = True
                    continue
                del left[futures[future]]
                yield futures[future], result
        tries.update(batch.keys() & left.keys() if broken else ())
        if broken and alone and tries[number := next(iter(batch))] >= TRIES:
            del left[number]
            yield number, RuntimeError(gettext("its process died"))
        alone = broken and any(tries[number] >= TRIES - 1 for number in left)


def _dask(function: Callable, payload: Any, items: Sequence[Item], workers: int,
          scheduler: str) -> Iterator[Item]:
    try:
        from distributed import Client, LocalCluster
        from distributed import as_completed as done_of
    except ImportError:
        raise SweepError("--scheduler needs Dask: {command}",
                         command=install_line("sweep")) from None
    cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) \
        if scheduler == LOCAL else None
    def connected() -> Any:
        try:
            return Client(cluster or scheduler, timeout=4)
        except TypeError as error:  # tls:// without certificates in Dask's configuration
            raise ValueError(error) from error

    try:
        with connected() as client:
            # A task can be done again elsewhere; scattered data dies with the workers that hold it.
            data = client.submit(bytes, packed(payload), pure=False)
            futures = {client.submit(call_packed, function, data, item, pure=False): number
                       for number, item in items}
            for future in done_of(futures):
                error = future.exception()
                yield futures[future], future.result() if error is None else error
    except (OSError, TimeoutError, ValueError, CancelledError) as error:
        raise SweepError("the Dask scheduler at {scheduler} can't be reached ({error})",
                         scheduler=scheduler, error=error) from None
    finally:
        if cluster is not None:
            cluster.close()
