"""A dump of a cache, loaded and run: the cycle that the scheduler would have run next."""

from __future__ import annotations

from pathlib import Path

from volcano_lab.cache import dump
from volcano_lab.framework.observer import Observer
from volcano_lab.framework.session import Session
from volcano_lab.scheduler import Scheduler


def run_dump(path: str | Path, observer: Observer | None = None) -> Session:
    """One cycle on what a file says, with its configuration and at its time. Raises `DumpError` or
    `ConfError`.

    >>> from tempfile import TemporaryDirectory
    >>> from volcano_lab.cluster import Cluster
    >>> with TemporaryDirectory() as folder:
    ...     cache = Cluster().node("n1", cpu=4).job("a", cpu=2).cache()
    ...     path = dump.write(Path(folder, "dump.json"), dump.dump(cache))
    ...     run_dump(path).committed
    [['allocate', 'default/a-0', 'n1']]
    """
    data = dump.read(path)
    scheduler = Scheduler(dump.load(data), data["conf"])
    scheduler.memory = data["memory"]
    return scheduler.run_once(observer, now=data["now"])
