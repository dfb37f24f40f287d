"""`volcano-lab serve` as a process: manifests that come and break, a configuration that reloads,
metrics, dumps, the end.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
from dumped import run_dump
from served import GOOD_CONF, job, node, scrape

from volcano_lab.messages import Misuse
from volcano_lab.server.service import serve

RACK = """\
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: rack}
spec: {tier: 1, members: [{type: Node, selector: {exactMatch: {name: n1}}}]}
"""


class Process:
    """A running `volcano-lab serve`, and what it has said so far."""

    def __init__(self, folder, conf, dumps, start=("-m", "volcano_lab.cli")):
        command = [
            sys.executable, *start, "serve",
            str(folder), "--conf",
            str(conf), "--period", "0.1", "--port", "0", "--dump-dir",
            str(dumps)
        ]
        self.log = open(dumps / "said.txt", "w+")  # noqa: SIM115  closed in end()
        self.process = subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT)

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def wait_for(self, pattern, seconds=60):
        """The match of a pattern in what was said, once it is there."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            match = re.search(pattern, self.said())
            if match:
                return match
            assert self.process.poll() is None, f"ended by itself:\n{self.said()}"
            time.sleep(0.05)
        pytest.fail(f"waited in vain for {pattern}:\n{self.said()}")

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(30)
        finally:
            self.process.kill()
            self.log.close()


@pytest.fixture
def places(tmp_path):
    """Folders for manifests, for dumps, and for a configuration, which there is already."""
    folder, dumps = tmp_path / "cluster", tmp_path / "dumps"
    conf = tmp_path / "conf" / "volcano-scheduler.conf"
    for path in (folder, dumps, conf.parent):
        path.mkdir()
    conf.write_text(GOOD_CONF.format(plugin="proportion"))
    (folder / "nodes.yaml").write_text(node())
    (folder / "racks.yaml").write_text(RACK)
    return folder, conf, dumps


@pytest.mark.long
@pytest.mark.skipif(not hasattr(signal, "SIGUSR2"), reason="this system has no SIGUSR2")
def test_the_command_from_beginning_to_end(places):
    folder, conf, dumps = places
    server = Process(folder, conf, dumps)
    try:
        url = server.wait_for(r"metrics on (http://127\.0\.0\.1:\d+/metrics)")[1]

        (folder / "a.yaml").write_text(job("a", pods=2))
        server.wait_for(r"allocate default/a-worker-0 on n1")
        server.wait_for(r"allocate default/a-worker-1 on n1")

        (folder / "a.yaml").write_text("kind: [")
        server.wait_for(r"a\.yaml: .*what the file said before stays")
        (folder / "b.yaml").write_text(job("b"))
        server.wait_for(r"allocate default/b-worker-0 on n1")

        conf.write_text("actions: 'allocate, fly'\n")
        server.wait_for(
            r"volcano-scheduler\.conf: .*fly.*the last good configuration stays in force")
        conf.write_text(GOOD_CONF.format(plugin="binpack"))
        server.wait_for(r"volcano-scheduler\.conf is in force: enqueue, allocate")
        (folder / "c.yaml").write_text(job("c", cpu=9))

        end = time.monotonic() + 120
        metrics = scrape(url)
        while metrics.get(("volcano_unschedule_job_count",)) != 1 and time.monotonic() < end:
            time.sleep(0.1)
            metrics = scrape(url)
        assert metrics["volcano_queue_allocated_milli_cpu", ("queue_name", "default")] == 3000
        assert metrics["volcano_e2e_scheduling_latency_milliseconds_count",] > 3
        assert metrics["volcano_action_scheduling_latency_milliseconds_count",
                       ("action", "allocate")] > 3
        assert metrics["volcano_unschedule_job_count",] == 1
        assert metrics[
            "volcano_task_scheduling_latency_milliseconds_count",
        ] == 6  # three pods, sent and bound

        os.kill(server.process.pid, signal.SIGUSR2)
        server.wait_for(r"NodeInfo\(n1, idle .*, 3 tasks\)")
        server.wait_for(r"JobInfo\(default/a-.*2 Running\)")
        server.wait_for(r"HyperNode\(rack, nodes n1\)")
        assert not list(dumps.glob("*.json"))
        os.kill(server.process.pid, signal.SIGUSR1)
        dumped = server.wait_for(r"cache written to (.*snapshot-\d+\.json)")[1]
        assert server.end() == 0
    finally:
        server.process.kill()
    assert "Traceback" not in (dumps / "said.txt").read_text()
    assert sorted(path.suffix for path in dumps.iterdir()) == [".json",
                                                               ".txt"]  # nothing half written
    ssn = run_dump(dumped)
    running = {
        task.key for job in ssn.jobs.values() for task in job.tasks.values() if task.node_name
    }
    assert running == {"default/a-worker-0", "default/a-worker-1", "default/b-worker-0"}
    assert ssn.committed == [] and [option.name for option in ssn.conf.tiers[0].plugins
                                    ] == ["gang", "predicates", "binpack"]


SLOW_WRITES = """
import os, sys, time
from volcano_lab import cli
replace = os.replace
def slowly(*paths):
    print("half way", flush=True)
    while not os.path.exists(os.environ["GO_ON"]):
        time.sleep(0.05)
    replace(*paths)
os.replace = slowly
sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.mark.long
@pytest.mark.skipif(not hasattr(signal, "SIGUSR2"), reason="this system has no SIGUSR2")
def test_the_end_in_the_middle_of_a_write_waits_for_the_write(places, tmp_path, monkeypatch):
    monkeypatch.setenv("GO_ON", str(tmp_path / "go on"))
    server = Process(*places, start=("-c", SLOW_WRITES))
    try:
        server.wait_for("metrics on")
        os.kill(server.process.pid, signal.SIGUSR1)
        server.wait_for("half way")
        assert [path.suffix for path in places[2].iterdir()].count(".part") == 1
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        assert server.process.poll() is None
        (tmp_path / "go on").touch()
        assert server.end() == 0
    finally:
        server.process.kill()
    written = sorted(path for path in places[2].iterdir() if path.name != "said.txt")
    assert [path.suffix for path in written] == [".json"]
    assert "n1" in run_dump(written[0]).nodes


@pytest.mark.long
def test_a_configuration_behind_links_or_in_a_folder_created_again_is_read(places):
    folder, conf, dumps = places
    conf.unlink()
    for version, actions in (("..1", "enqueue"), ("..2", "allocate")):
        (conf.parent / version).mkdir()
        (conf.parent / version / conf.name).write_text(f"actions: {actions}")
    # as Kubernetes mounts a ConfigMap
    data, coming = conf.parent / "..data", conf.parent / "..coming"
    data.symlink_to("..1")
    conf.symlink_to(f"..data/{conf.name}")
    server = Process(folder, conf, dumps)
    try:
        server.wait_for("metrics on")
        coming.symlink_to("..2")
        coming.replace(data)
        server.wait_for("is in force: allocate")
        shutil.rmtree(conf.parent)
        server.wait_for("cannot be read .*; the last good configuration stays in force")
        conf.parent.mkdir()
        conf.write_text("actions: backfill")
        server.wait_for("is in force: backfill")
        assert server.end() == 0
    finally:
        server.process.kill()
    assert (dumps / "said.txt").read_text().count("cannot be read") == 1


@pytest.mark.parametrize(("given", "sentence"), [
    ({"directory": "nowhere"}, "nowhere is no folder; allowed is a folder of manifests"),
    ({"directory": ""}, "(nothing) is no folder; allowed is a folder of manifests"),
    ({"dump_dir": "nowhere"}, "--dump-dir is nowhere; allowed is a folder that exists"),
    ({"conf": "nowhere/file"}, "--conf is nowhere/file; its folder doesn't exist"),
])
def test_what_cannot_be_served_is_reported_in_a_sentence(tmp_path, monkeypatch, given, sentence):
    monkeypatch.chdir(tmp_path)  # no folder is created, not even here
    with pytest.raises(Misuse) as error:
        serve(**{"directory": str(tmp_path), "dump_dir": "/", "port": 0} | given)
    assert str(error.value) == sentence and not list(tmp_path.iterdir())


def test_dumps_do_not_go_where_the_manifests_are(tmp_path):
    with pytest.raises(Misuse, match="a dump is no manifest"):
        serve(str(tmp_path), dump_dir=str(tmp_path), port=0)


HANG = """
import sys, time
from volcano_lab import cli
from volcano_lab.scheduler import Scheduler
def forever(*_, **__):
    print("it hangs", flush=True)
    while True:
        try:
            time.sleep(0.01)
        except KEPT:
            pass
Scheduler.cycle = forever
sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.mark.long
@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this system has no SIGHUP")
def test_a_renamed_folder_is_followed_and_sighup_reads_all_again(places):
    folder, conf, dumps = places
    server = Process(folder, conf, dumps)
    try:
        server.wait_for("metrics on")
        folder.rename(folder.with_name("old"))
        server.wait_for("cluster is gone; all stays as it was until it is there again")
        folder.mkdir()
        (folder / "nodes.yaml").write_text(node())
        (folder / "late.yaml").write_text(job("late"))
        server.wait_for("changed: late.yaml, nodes.yaml")
        server.wait_for("allocate default/late-worker-0 on n1")
        (folder / "big.yaml").write_text(job("big", cpu=9))
        server.wait_for(r"jobs that wait \(pods\): default/big\S* \(1\)")
        os.kill(server.process.pid, signal.SIGHUP)
        server.wait_for("all files are read again")
        assert server.end() == 0
    finally:
        server.process.kill()


@pytest.mark.long
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
@pytest.mark.parametrize("kept", ["ZeroDivisionError", "BaseException"])
def test_the_end_comes_whatever_is_under_way(places, kept):
    server = Process(*places, start=("-c", HANG.replace("KEPT", kept)))
    try:
        server.wait_for("it hangs")
        assert server.end() == 0
    finally:
        server.process.kill()
    assert "what was under way is given up" in (places[2] / "said.txt").read_text()


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_any_number_of_stop_signals_at_once_ends_it(places):
    for signals in (2, 2, 2, 2, 2, 2, 30):
        server = Process(*places)
        try:
            server.wait_for("metrics on")
            for _ in range(signals - 1):
                server.process.send_signal(signal.SIGTERM)
            assert server.end() == 0
        finally:
            server.process.kill()
        assert "ended after" in (places[2] / "said.txt").read_text()


INTERRUPTED = """
import signal, sys
from volcano_lab import cli
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
command = cli._main
def ready(arguments):
    print("ready", flush=True)
    return command(arguments)
cli._main = ready
sys.exit(cli.main(sys.argv[1:]))
"""


COLLECTED = """
import gc, os, sys, threading, time
from volcano_lab import cli
def look():
    until = time.monotonic() + 120
    while not gc.isenabled() and time.monotonic() < until:
        time.sleep(0.01)
    os._exit(not gc.isenabled())
disable = gc.disable
def begin():
    gc.disable = disable
    disable()
    threading.Thread(target=look, daemon=True).start()
gc.disable = begin
sys.exit(cli.main(sys.argv[1:]) or 2)
"""


@pytest.mark.long
def test_the_garbage_of_cycles_is_collected(tmp_path):
    command = [sys.executable, "-c", COLLECTED, "serve", str(tmp_path), "--port", "0"]
    assert subprocess.run(command, capture_output=True, timeout=300).returncode == 0


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("command", [
    ["run"], ["why", "a"], ["sweep", "--grid", "queue/default.weight=1..9", "--workers", "2"]])
@pytest.mark.parametrize("wait", [0.0, 0.5])
def test_ctrl_c_ends_a_command_with_a_line_and_its_code_whatever_it_does(command, wait):
    command = [command[0], "-", *command[1:]]  # the input never comes to its end
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED, *command], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(wait)  # while modules load, or while it reads
        process.send_signal(signal.SIGINT)
        _, shown = process.communicate(timeout=300)
    assert (process.returncode, shown) == (130, "\n")
