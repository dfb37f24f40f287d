"""`volcano-lab serve`: its options; what it does is in `volcano_lab.cli.server`."""

from __future__ import annotations

import argparse

from volcano_lab.cli import Mistake
from volcano_lab.framework import log


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of `volcano-lab serve`."""
    add = command.add_argument
    add("directory", metavar="DIR", help="a folder of manifests; it is watched")
    add("--conf", metavar="FILE",
        help="a volcano-scheduler.conf; it is watched (default: Volcano's own default)")
    add("--period", type=float, default=1.0, metavar="SECONDS",
        help="between two cycles (default: 1)")
    add("--port", type=int, default=8080,
        help="metrics on http://127.0.0.1:PORT/metrics (default: 8080; 0: any)")
    add("--dump-dir", metavar="DIR",
        help="where SIGUSR2 writes the cache (default: the system's folder for such)")
    add("--verbosity", "-v", type=int, default=0, choices=range(log.MOST + 1),
        help="facts to log, as Volcano's -v")


def serve(options: argparse.Namespace) -> int:
    """Serve until a signal ends it. Raises `Mistake`."""
    from volcano_lab.cli.server import ServeError
    from volcano_lab.cli.server import serve as run

    if options.verbosity:
        log.verbosity(options.verbosity)
    try:
        return run(options.directory, options.conf, options.period, options.port, options.dump_dir)
    except ServeError as error:
        raise Mistake(str(error)) from None
