"""`volcano-lab serve DIR`: a scheduler that runs cycles on a folder of manifests until it is
stopped.

The folder and the configuration are checked before each cycle, and twice a second; an error in one
file, one configuration, one dump or one cycle is reported in a sentence and affects nothing else.
Bound pods run, and evicted pods are deleted by the next cycle; those of a controller are created
again. SIGHUP reads all files again, SIGUSR1 writes the cache to a file, SIGUSR2 prints its nodes,
jobs and HyperNodes, SIGTERM and Ctrl-C end it. One thread does all of it; the page and the metrics
have their own.

Volcano: cmd/scheduler, pkg/scheduler/scheduler.go (Scheduler.Run)
"""

import _thread
import os
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from volcano_lab.api.status import IllegalTransition
from volcano_lab.cache import Cache, api_server, binding, dump, informer
from volcano_lab.manifests import owners
from volcano_lab.messages import Message, Misuse, gettext, log, one_line
from volcano_lab.scheduler import Scheduler
from volcano_lab.server import conf_file, folder, prometheus
from volcano_lab.server.web import LOOPBACK, State, serve_web, state_of
from volcano_lab.trace import CauseTrace, Trace

LOOK = 0.5
"""Seconds between two checks of the files, where the period is longer."""
GRACE = 1.5
"""Seconds until running work is given up after a stop signal."""


class Service:
    """A folder of manifests, a scheduler on it, and metrics: `read` what changed, run a `cycle`.

    `report` is called with each sentence for users, and with Volcano's log of each cycle up to
    `level`; `command` and a name explain a job; `state` is the page's content, `series` the
    scrape's: both as of the end of the latest cycle.
    """

    def __init__(self, directory: str | Path, conf: str | Path | None = None,
                 report: Callable[[str], None] = print, clock: Callable[[], float] = time.time,
                 level: int = 0):
        self.server = api_server.ApiServer(clock)
        self.informer = informer.Informer(Cache())
        self.cache = self.informer.cache
        self.server.watchers.append(self._forward)
        self.pipeline = binding.BindingPipeline(self.informer, self.server)
        self.report, self.level = report, level
        self.folder = folder.Folder(directory, self.server)
        self.conf_file = conf_file.ConfFile(conf, report, self.folder.conf)
        self.scheduler = Scheduler(self.cache, self.conf_file.conf)
        self.metrics = prometheus.Metrics()
        self.metrics.attach(self.pipeline)
        words = ["volcano-lab", "why", *(["--conf", str(conf)] if conf else []), str(directory)]
        self.command = shlex.join(words)
        self.reported: set[str] = set()
        self.warnings: set[str] = set()
        self.state, self.series = State(), self.metrics.text()
        self._waits: dict[str, int] = {}

    def _forward(self, event: api_server.WatchEvent) -> None:
        """Pass a change on to the scheduler; report an illegal change of a pod's phase (a manifest
        may contain any) and ignore it.
        """
        try:
            self.informer.handle(event)
        except IllegalTransition as illegal:
            self.report(gettext("{illegal}; the scheduler keeps what it knew", illegal=illegal))

    def read(self, again: bool = False) -> list[str]:
        """Apply changes of the folder and of the configuration, `again` with unchanged files;
        return the names of the changed ones.
        """
        found, changed = set(), []
        try:
            changed = self.folder.read(again)
        except NotADirectoryError:
            found = {str(Message("folder.gone", path=self.folder.path))}
        except Exception as error:
            found = {one_line(f"{self.folder.path}: {type(error).__name__}: {error}")}
        if self.conf_file.load(again):
            self.report(gettext("configuration from {where} is in force: {actions:,}",
                                where=self.conf_file.where, actions=[*self.conf_file.conf.actions]))
        self.scheduler.conf = self.conf_file.conf
        self.warnings = {warning for each in self.folder.warnings.values() for warning in each}
        found |= self.warnings | {*self.folder.problems.values()}
        for sentence in sorted(found - self.reported):
            self.report(sentence)
        self.reported = found
        return changed

    def cycle(self) -> None:
        """Run bound pods, delete evicted ones, which their controllers create again, and run one
        cycle with its effects.
        """
        for pod in self.server.list("Pod"):  # what kubelets and controllers have done since
            if pod.metadata.deletion_timestamp is not None:
                self.server.remove("Pod", pod.key)
                group = self.server.find("PodGroup", owners.job_of(pod))
                if self.folder.has(pod) and group and owners.has_controller(group):
                    self.server.create(owners.submitted_again(pod))
            elif pod.spec.node_name and pod.status.phase == "Pending":
                self.server.update(pod.changed(status={"phase": "Running"}))
        cycle = self.scheduler.cycle(self.metrics, now=self.server.clock(),
                                     trace=Trace() if self.level else CauseTrace())
        for line in cycle.log(self.level) if self.level else ():
            self.report(line)
        for operation, pod, node, *_ in cycle.committed:
            self.report(gettext("cycle {cycle}: {operation} {pod} on {node}", operation=operation,
                                cycle=self.scheduler.cycles, pod=pod, node=node))
        self.pipeline.drain()
        problems = sorted({*self.reported, self.conf_file.problem} - self.warnings - {""})
        self.state = state_of(cycle, self.scheduler.cycles, problems, sorted(self.warnings),
                              [*self.server.everything()])
        self.series = self.metrics.text()  # once per cycle, not once per scrape

    def report_waiting(self) -> None:
        """Report the waiting jobs, if they changed."""
        rows = {row["job"]: row["pending"] + row["pipelined"] for row in self.state.jobs}
        waits = {job: rows.get(job, 0) for group in self.state.waiting for job in group["jobs"]}
        if waits != self._waits:
            names = [f"{job} ({pods})" for job, pods in waits.items()]
            self.report(gettext("cycle {cycle}: jobs that wait (pods): {names:5}" if waits else
                                "cycle {cycle}: no job waits", cycle=self.state.cycle, names=names))
        self._waits = waits

    def dump(self, directory: str | Path) -> Path:
        """Write the cache to a new file in a folder."""
        now = self.server.clock()
        data = dump.dump(self.cache, self.conf_file.text, now, self.scheduler.memory)
        return dump.write(Path(directory, f"snapshot-{int(now)}.json"), data, replace=False)

    def print_cache(self) -> None:
        """Print the nodes, jobs and HyperNodes of the cache, one per line."""
        known = self.cache.snapshot()
        for item in (*known.nodes.values(), *known.jobs.values()):
            self.report(one_line(repr(item)))
        for name, nodes in sorted(known.hyper_nodes.real_nodes_set.items()):
            self.report(one_line(f"HyperNode({name}, nodes {', '.join(sorted(nodes))})"))


def serve(directory: str, conf: str | None = None, period: float = 1.0, port: int = 8080,
          dump_dir: str | None = None, cycles: int | None = None, level: int = 0) -> int:
    """Run until a signal, or for a number of cycles; return the exit code. Raises `Misuse`."""
    dumps = Path(dump_dir) if dump_dir else state_folder()
    _check(directory, conf, dumps, bool(dump_dir))
    wanted: set[str] = set()
    stop, ended = threading.Event(), threading.Event()
    threading.Thread(target=_give_up, args=(stop, ended), daemon=True).start()
    old = _handle_signals(stop, wanted)
    web, service = None, None
    try:
        service = Service(directory, conf, report=_print, level=level)
        web = serve_web(service, port)
        if web is None:
            raise Misuse("serve.port", port=port)
        service.read()
        address = f"http://{LOOPBACK}:{web.server_port}/"
        _print(gettext("serving {directory} every {period:g} s; metrics on {address}metrics, a "
                       "page on {address}", directory=directory, period=period, address=address))
        _run(service, stop, wanted, dumps, period, cycles)
    finally:
        ended.set()
        stop.set()
        for number, handler in old.items():
            signal.signal(number, handler)
        if web is not None:
            web.shutdown()
            web.server_close()
    _print(gettext("ended after {cycles} cycles",
                   cycles=service.scheduler.cycles if service else 0))
    return 0


def _run(service: Service, stop: threading.Event, wanted: set[str], dumps: Path, period: float,
         cycles: int | None) -> None:
    """Check the files, run cycles, and handle signals, until the end."""
    due, failed = time.monotonic(), ""
    while not stop.is_set() and (cycles is None or service.scheduler.cycles < cycles):
        if "reload" in wanted:
            service.read(again=True)
            service.report(gettext("all files are read again"))
        elif changed := service.read():
            _print(gettext("changed: {names:5}", names=changed))
        if "dump" in wanted:
            _dump(service, dumps)
        if "print" in wanted:
            service.print_cache()
        wanted.clear()
        if time.monotonic() >= due:
            due = time.monotonic() + period
            failed = _cycle(service, failed)
        stop.wait(max(min(LOOK, due - time.monotonic()), 0.001))


def _cycle(service: Service, failed: str) -> str:
    """Run a cycle; return its error. A repeated error is reported once."""
    try:
        service.cycle()
        service.report_waiting()
        return ""
    except Exception as error:  # a user-defined plugin must not end the service
        problem = one_line(f"{type(error).__name__}: {error}")
        if problem != failed:
            _print(gettext("cycle {cycle} failed: {problem}", cycle=service.scheduler.cycles,
                           problem=problem))
            log.logger.debug("cycle %d failed", service.scheduler.cycles, exc_info=True)
        return problem


def _dump(service: Service, directory: Path) -> None:
    try:
        _print(gettext("cache written to {path}", path=service.dump(directory)))
    except Exception as error:  # a full disk must not end the service
        reason = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
        _print(one_line(gettext("the cache can't be written to {directory}: {reason}",
                                directory=directory, reason=reason)))


def state_folder() -> Path:
    """Return the user's state folder, which no other user can read."""
    home = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        return (Path(home) if home else Path.home() / ".local" / "state") / "volcano-lab"
    except RuntimeError:  # a user without an entry, as in a container
        raise Misuse("there is no home folder; --dump-dir names a folder for dumps") from None


def _check(directory: str, conf: str | None, dumps: Path, given: bool) -> None:
    if not (directory and Path(directory).is_dir()):
        raise Misuse("folder.none", path=directory or gettext("(nothing)"))
    if conf is not None and not Path(conf).parent.is_dir():
        raise Misuse("--conf is {conf}; its folder doesn't exist", conf=conf)
    if not given:
        try:
            dumps.mkdir(0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise Misuse("dump.uncreated", dumps=dumps, reason=error.strerror) from None
    if not dumps.is_dir():
        raise Misuse("--dump-dir is {dumps}; allowed is a folder that exists", dumps=dumps)
    if dumps.resolve() == Path(directory).resolve():
        raise Misuse("dump.folder", dumps=dumps)


def _handle_signals(stop: threading.Event, wanted: set[str]) -> dict[int, Any]:
    """Install the signal handlers; return the previous ones.

    A handler interrupts this thread anywhere, also where it holds the lock of `stop`: a thread of
    its own sets that.
    """
    def end(*_: Any) -> None:
        _thread.start_new_thread(stop.set, ())

    handlers = {"SIGTERM": end, "SIGINT": end, "SIGALRM": lambda *_: None,
                "SIGHUP": lambda *_: wanted.add("reload"),
                "SIGUSR1": lambda *_: wanted.add("dump"),
                "SIGUSR2": lambda *_: wanted.add("print")}
    return {getattr(signal, name): signal.signal(getattr(signal, name), handler)
            for name, handler in handlers.items() if hasattr(signal, name)}  # Windows has few


def _give_up(stop: threading.Event, ended: threading.Event) -> None:
    """End the process, whatever it does, if it has not ended some time after the stop."""
    stop.wait()
    if not ended.wait(GRACE):
        _print(gettext("what was under way is given up"))
        os._exit(0)


def _print(sentence: str) -> None:
    try:
        print(sentence, flush=True)
    except (BrokenPipeError, ValueError):  # the output is closed
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    except UnicodeEncodeError:
        print(ascii(sentence), flush=True)
