"""`volcano-lab serve` for ten minutes in a folder where everything goes wrong that can.

Good and hostile manifests and configurations come, break, move and go; pipes, folders, links and
zeros take their names; the folder itself is renamed and created again; signals arrive
100 times a second, and others connect and say nothing. Wanted: it lives, its memory stays flat, no
traceback is printed, and once the trouble is over each good job in the folder has its node.
"""

import argparse
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from framework import test_hostile_conf  # noqa: E402
from manifests import hostile  # noqa: E402

NODES = "\n---\n".join(
    f"{{apiVersion: v1, kind: Node, metadata: {{name: n{number}}}, "
    'status: {allocatable: {cpu: "64", memory: 256Gi, pods: "500"}}}' for number in range(4))
JOB = """{{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {{name: {name}}},
spec: {{minAvailable: 2, tasks: [{{name: w, replicas: 2, template: {{spec: {{containers: [
{{name: c, resources: {{requests: {{cpu: 100m}}}}}}]}}}}}}]}}}}"""
CONF = """actions: "enqueue, allocate, backfill"
tiers:
- plugins: [{{name: priority}}, {{name: gang}}]
- plugins: [{{name: predicates}}, {{name: proportion}}, {{name: {plugin}}}]
"""
MOST_FILES = 40
SCRAPERS, PER_SECOND = 10, 10


class Chaos:
    """A folder, a configuration, a process that serves them, and what can be done to these."""

    def __init__(self, place: Path, seed: int):
        self.random, self.made, self.done = Random(seed), 0, Counter()
        self.bad, self.confs = list(hostile.cases(400, seed)), test_hostile_conf.cases(100, seed)
        self.folder, self.conf, self.dumps = place / "cluster", place / "conf", place / "dumps"
        for path in (self.folder, self.dumps):
            path.mkdir()
        self.set_conf("binpack")
        (self.folder / "nodes.yaml").write_text(NODES)
        self.log = open(place / "said.txt", "w+")  # noqa: SIM115  closed with the process
        self.process = subprocess.Popen(
            [sys.executable, "-m", "volcano_lab.cli", "serve", str(self.folder), "--conf",
             str(self.conf), "--period", "0.2", "--port", "0", "--dump-dir", str(self.dumps)],
            stdout=self.log, stderr=subprocess.STDOUT, env=os.environ | {"PYTHONPATH": str(ROOT)})

    def said(self) -> str:
        return Path(self.log.name).read_text(encoding="utf-8", errors="replace")

    def set_conf(self, plugin: str) -> None:
        remove(self.conf)
        self.conf.write_text(CONF.format(plugin=plugin))

    def files(self, kind: str) -> list[Path]:
        return sorted(path for path in self.folder.glob(f"{kind}-*"))

    def act(self) -> None:
        """Do one thing."""
        actions = [self.good, self.good, self.wrong, self.wrong, self.gone, self.special,
                   self.configured, self.moved, self.signalled, self.dumps_gone]
        action = self.random.choices(actions, [9, 9, 9, 9, 30, 3, 5, 1, 5, 1])[0]
        self.done[action.__name__] += 1
        with suppress(FileNotFoundError):  # the folder has just been moved
            action()

    def good(self) -> None:
        self.made += 1
        path = self.folder / f"good-{self.made}.yaml"
        text = JOB.format(name=f"j{self.made}")
        if self.random.random() < 0.3:  # half of it first
            path.write_text(text[:len(text) // 2])
            time.sleep(0.02)
        path.write_text(text)

    def wrong(self) -> None:
        path = self.folder / f"bad-{self.random.randrange(MOST_FILES)}.yaml"
        remove(path)
        path.write_text(self.random.choice(self.bad), encoding="utf-8", errors="surrogatepass")

    def gone(self) -> None:
        for kind in ("good", "bad"):
            if len(found := self.files(kind)) > MOST_FILES // 2:
                remove(self.random.choice(found))

    def special(self) -> None:
        path = self.folder / f"bad-{self.random.randrange(MOST_FILES)}.yaml"
        remove(path)
        make = self.random.choice([os.mkfifo, os.mkdir, lambda p: os.symlink(p, p),
                                   lambda p: os.symlink("/dev/zero", p),
                                   lambda p: p.write_bytes(b"\0" * 10**6),
                                   lambda p: p.write_text("[" * 30000)])
        make(path)

    def configured(self) -> None:
        remove(self.conf)
        kind = self.random.random()
        if kind < 0.4:
            self.set_conf(self.random.choice(["binpack", "nodeorder", "drf", "overcommit"]))
        elif kind < 0.8:
            self.conf.write_text(self.random.choice(self.confs), encoding="utf-8",
                                 errors="surrogatepass")
        else:
            self.random.choice([os.mkfifo, os.mkdir, lambda path: None])(self.conf)

    def moved(self) -> None:
        other = self.folder.with_name("elsewhere")
        self.folder.rename(other)
        time.sleep(self.random.random() / 2)
        self.folder.mkdir()
        for path in sorted(other.iterdir()):
            path.rename(self.folder / path.name)
        other.rmdir()

    def signalled(self) -> None:
        names = ["SIGHUP", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGPIPE", "SIGWINCH"]
        self.process.send_signal(getattr(signal, self.random.choice(names)))

    def dumps_gone(self) -> None:
        remove(self.dumps)
        time.sleep(0.05)
        self.dumps.mkdir()

    def calm(self) -> set[str]:
        """End the trouble; return the jobs that are in the folder."""
        for path in self.files("bad"):
            remove(path)
        self.set_conf("binpack")
        (self.folder / "nodes.yaml").write_text(NODES)
        self.process.send_signal(signal.SIGHUP)
        return {path.stem.replace("good-", "j") for path in self.files("good")}


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        while path.exists():  # a dump may be written to it in that moment
            shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def scrape(url: str, stop: threading.Event, times: list[float], failed: list[str]) -> None:
    """Ask for the metrics, ten times a second, mostly on a connection that is kept as Prometheus
    does; now and then connect and say nothing.
    """
    address, idle, kept = urlsplit(url).netloc, [], None
    due = time.monotonic()
    while not stop.is_set():
        due, start = due + 1 / PER_SECOND, time.monotonic()
        try:
            kept = kept or HTTPConnection(address, timeout=30)
            kept.request("GET", "/metrics")
            answer = kept.getresponse()
            body = answer.read()
            times.append(time.monotonic() - start)
            if answer.status != 200 or not body.endswith(b"\n"):
                failed.append(f"status {answer.status}, {len(body)} bytes")
            if len(times) % 10 == 0:
                kept.close()
            if len(times) % 100 == 0:
                host, port = address.split(":")
                idle = [*idle[-5:], socket.create_connection((host, int(port)), timeout=30)]
        except (OSError, HTTPException) as error:
            failed.append(repr(error))
            kept = None
        stop.wait(max(due - time.monotonic(), 0))


def wait_for(holds, seconds: float):
    end = time.monotonic() + seconds
    while not (found := holds()) and time.monotonic() < end:
        time.sleep(0.2)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="volcano-lab-chaos-") as place:
        chaos = Chaos(Path(place), given.seed)
        try:
            return report(chaos, given.seconds)
        finally:
            chaos.process.kill()


def report(chaos: Chaos, seconds: float) -> int:
    """Make trouble for so long and say what became of it; 0 where all went well."""
    found = wait_for(lambda: re.search(r"metrics on (\S+metrics)", chaos.said()), 120)
    if not found:
        print(chaos.said())
        return 1
    stop, times, failed, memory = threading.Event(), [], [], []
    for _ in range(SCRAPERS):
        threading.Thread(target=scrape, args=(found[1], stop, times, failed), daemon=True).start()
    start = look = time.monotonic()
    while time.monotonic() < start + seconds and chaos.process.poll() is None:
        chaos.act()
        if time.monotonic() >= look:
            look += 2
            with suppress(OSError):
                pages = int(Path(f"/proc/{chaos.process.pid}/statm").read_text().split()[1])
                memory.append(pages * os.sysconf("SC_PAGE_SIZE") / 1e6)
        time.sleep(chaos.random.random() * 0.1)
    passed = time.monotonic() - start
    stop.set()
    lives = chaos.process.poll() is None
    jobs = chaos.calm() if lives else set()
    pods = {f"default/{name}-w-{number}" for name in jobs for number in range(2)}

    def waiting() -> set[str]:
        return pods - set(re.findall(r"allocate (\S+) on", chaos.said()))

    wait_for(lambda: not waiting() or chaos.process.poll() is not None, 120 if lives else 0)
    chaos.process.terminate()
    ended = time.monotonic()
    code = wait_for(lambda: [] if chaos.process.poll() is None else [chaos.process.poll()], 30)
    cycles = re.search(r"ended after (\d+) cycles", chaos.said())
    quarter = max(len(memory) // 4, 1)
    early, late = (sorted(part)[len(part) // 2] for part in (memory[quarter:2 * quarter] or memory,
                                                           memory[-quarter:]))
    ordered = sorted(times) or [0.0]
    print(f"{passed:.0f} s, {chaos.done.total()} operations: "
          + ", ".join(f"{name} {count}" for name, count in chaos.done.most_common()))
    print(f"{'lives' if lives else 'HAS ENDED'}, {cycles[1] if cycles else '?'} cycles; exit code "
          f"{code[0] if code else 'none'} {time.monotonic() - ended:.1f} s after SIGTERM")
    print(f"{len(times)} scrapes ({len(times) / passed:.0f} a second), {len(failed)} failed "
          f"{sorted(set(failed))[:2] or ''}; p50 {ordered[len(ordered) // 2] * 1e3:.0f} ms, p99 "
          f"{ordered[len(ordered) * 99 // 100] * 1e3:.0f} ms")
    print(f"memory {early:.1f} MB in the second quarter, {late:.1f} MB in the last; "
          f"{chaos.made} jobs came")
    tracebacks, left = chaos.said().count("Traceback"), sorted(waiting())
    print(f"{len(jobs)} jobs in the folder at the end, {len(left)} pods of them without a node "
          f"{left[:3] or ''}; {tracebacks} tracebacks")
    fine = lives and code == [0] and not (left or tracebacks or failed) and late < early * 1.1 + 5
    if not fine:
        print(chaos.said()[-3000:])
    return int(not fine)


if __name__ == "__main__":
    sys.exit(main())
