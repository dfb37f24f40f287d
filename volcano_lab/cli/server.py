"""`volcano-lab serve DIR`: a scheduler that runs cycles on a folder of manifests, and goes on until
it is told to end.

Answers to `cmd/scheduler` and `Scheduler.Run`. The folder and the configuration are watched; a
broken file keeps what it said before. Bound pods run and deleted pods are gone by the next cycle.
Metrics are served on the loopback address only. SIGUSR2 (and SIGUSR1, Volcano's) writes the cache
to a file, SIGTERM and Ctrl-C end it. One thread does all of it; the metrics have their own.
"""

from __future__ import annotations

import signal
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs

from volcano_lab.api.status import IllegalTransition
from volcano_lab.cache import Cache, dump
from volcano_lab.cache.api_server import ApiServer, WatchEvent
from volcano_lab.cache.binding import BindingPipeline
from volcano_lab.cache.informer import Informer
from volcano_lab.cache.manifest_folder import Folder
from volcano_lab.cli.conf_file import ConfFile
from volcano_lab.framework import log
from volcano_lab.metrics.prometheus import Metrics
from volcano_lab.scheduler import Scheduler

LOOPBACK = "127.0.0.1"


class ServeError(Exception):
    """Serving can't begin; the text is one sentence."""


class Service:
    """A folder of manifests, a scheduler on it, and metrics. `step` is one turn: read what changed,
    run a cycle, bind.

    `say` is called with each sentence for people.
    """

    def __init__(self, directory: str | Path, conf: str | Path | None = None,
                 say: Callable[[str], None] = print, clock: Callable[[], float] = time.time):
        self.server = ApiServer(clock)
        self.informer = Informer(Cache())
        self.cache = self.informer.cache
        self.server.watchers.append(self._hear)
        self.pipeline = BindingPipeline(self.informer, self.server)
        self.folder, self.conf_file, self.say = Folder(directory, self.server), ConfFile(conf,
                                                                                         say), say
        self.scheduler = Scheduler(self.cache, self.conf_file.conf)
        self.metrics = Metrics()
        self.metrics.attach(self.pipeline)
        self.told: set[str] = set()

    def _hear(self, event: WatchEvent) -> None:
        """Pass a change on to the scheduler; a step that a pod can't take (a manifest may say
        anything) is only told of.
        """
        try:
            self.informer.hear(event)
        except IllegalTransition as illegal:
            self.say(f"{illegal}; the scheduler keeps what it knew")

    def read(self) -> None:
        """Take in what has changed in the folder and in the configuration."""
        self.folder.read()
        self.read_conf()
        warnings = {warning for found in self.folder.warnings.values() for warning in found}
        found = warnings | set(self.folder.problems.values())
        for sentence in sorted(found - self.told):
            self.say(sentence)
        self.told = found

    def read_conf(self) -> None:
        """Take in what has changed in the configuration; the next cycle runs with it."""
        if self.conf_file.load():
            self.say(
                f"configuration {self.conf_file.path} is in force: {', '.join(self.conf_file.conf.actions)}"
            )
        self.scheduler.conf = self.conf_file.conf

    def cycle(self) -> None:
        """One cycle, and all that follows from it."""
        self._kubelets()
        ssn = self.scheduler.run_once(self.metrics, now=self.server.clock())
        for operation, pod, node, *_ in ssn.committed:
            self.say(f"cycle {self.scheduler.cycles}: {operation} {pod} on {node}")
        self.pipeline.drain()

    def _kubelets(self) -> None:
        """Bound pods run; deleted ones are gone."""
        for pod in self.server.list("Pod"):
            if pod.metadata.deletion_timestamp is not None:
                self.server.remove("Pod", pod.key)
            elif pod.spec.node_name and pod.status.phase == "Pending":
                self.server.update(
                    attrs.evolve(pod, status=attrs.evolve(pod.status, phase="Running")))

    def dump(self, directory: str | Path) -> Path:
        """Write the cache to a new file in a folder."""
        now = self.server.clock()
        data = dump.dump(self.cache, self.conf_file.text, now, self.scheduler.memory)
        return dump.write(Path(directory, f"snapshot-{int(now)}.json"), data)


def serve(directory: str, conf: str | None = None, period: float = 1.0, port: int = 8080,
          dump_dir: str | None = None, cycles: int | None = None) -> int:
    """Run until a signal ends it, or so many cycles have run; returns the exit code. Raises
    `ServeError`.
    """
    watch = _watch()
    stop, wanted = threading.Event(), {"dump": False}
    dumps = Path(dump_dir or tempfile.gettempdir())
    _check(directory, conf, period, dumps)
    old = _handle_signals(stop, wanted)
    http = None
    try:
        service = Service(directory, conf, say=_say)
        http = _serve_metrics(service.metrics, port)
        service.read()
        _say(
            f"serving {directory} every {period:g} s; metrics on http://{LOOPBACK}:{http.server_port}/metrics"
        )
        due = time.monotonic()
        paths = {Path(directory), *([Path(conf).parent] if conf else [])}
        for changes in watch(*paths, stop_event=stop, rust_timeout=max(int(period * 1000),
                                                                       10), yield_on_timeout=True,
                             debounce=200, recursive=False, raise_interrupt=False):
            if changes or not service.scheduler.cycles:  # what changed before the watch began is read, too
                service.read()
            elif service.conf_file.problem:  # where its folder was made anew, the watch sees nothing
                service.read_conf()
            if wanted["dump"]:
                wanted["dump"] = False
                _dump(service, dumps)
            if time.monotonic() >= due:
                _cycle(service)
                due = time.monotonic() + period * 0.9  # the watch is late rather than early
            if cycles is not None and service.scheduler.cycles >= cycles:
                break
    except NotADirectoryError as gone:
        raise ServeError(str(gone)) from None
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
        if http is not None:
            http.shutdown()
            http.server_close()
    _say(f"ended after {service.scheduler.cycles} cycles")
    return 0


def _cycle(service: Service) -> None:
    try:
        service.cycle()
    except Exception:  # a learner's own plugin must not end the service
        log.logger.exception("cycle %d failed", service.scheduler.cycles)


def _dump(service: Service, directory: Path) -> None:
    try:
        _say(f"cache written to {service.dump(directory)}")
    except OSError as error:  # a full disk must not end the service
        _say(f"the cache can't be written to {directory}: {error.strerror}")


def _watch() -> Any:
    try:
        from watchfiles import watch
    except ImportError:
        raise ServeError(
            'serve needs the package watchfiles; "pip install volcano-lab[serve]" installs it'
        ) from None
    return watch


def _check(directory: str, conf: str | None, period: float, dumps: Path) -> None:
    if not Path(directory).is_dir():
        raise ServeError(f"{directory} is no folder; allowed is a folder of manifests")
    if conf is not None and not Path(conf).parent.is_dir():
        raise ServeError(f"--conf is {conf}; its folder doesn't exist")
    if not 0.01 <= period <= 3600:
        raise ServeError(f"--period is {period:g}; allowed are seconds from 0.01 to 3600")
    if not dumps.is_dir():
        raise ServeError(f"--dump-dir is {dumps}; allowed is a folder that exists")
    if dumps.resolve() == Path(directory).resolve():
        raise ServeError(
            f"--dump-dir is {dumps}, the folder of manifests; allowed is another, for a dump is no manifest"
        )


def _serve_metrics(metrics: Metrics, port: int) -> Any:
    from prometheus_client import start_http_server

    try:
        return start_http_server(port, LOOPBACK, metrics.registry)[0]
    except OSError as error:
        raise ServeError(f"--port is {port}: {error.strerror}; 0 takes any that is free") from None
    except OverflowError:
        raise ServeError(f"--port is {port}; allowed is a number from 0 to 65535") from None


def _handle_signals(stop: threading.Event, wanted: dict[str, bool]) -> dict[int, Any]:
    """Returns what handled them before."""

    def ask_for_dump(*_: Any) -> None:
        wanted["dump"] = True

    def end(*_: Any) -> None:
        stop.set()

    handlers = {signal.SIGTERM: end, signal.SIGINT: end}
    for name in ("SIGUSR1", "SIGUSR2"):  # Windows has neither
        if hasattr(signal, name):
            handlers[getattr(signal, name)] = ask_for_dump
    return {number: signal.signal(number, handler) for number, handler in handlers.items()}


def _say(sentence: str) -> None:
    print(sentence, flush=True)
