"""`volcano-lab serve` as a process: manifests that come and break, a configuration that reloads,
metrics, dumps, the end.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from dumped import run_dump
from prometheus_client.parser import text_string_to_metric_families

from volcano_lab.cache import dump
from volcano_lab.cache.api_server import ApiServer
from volcano_lab.cache.manifest_folder import Folder
from volcano_lab.cli.conf_file import ConfFile
from volcano_lab.cli.server import (
    Ended,
    ServeError,
    Service,
    _handle_signals,
    serve,
    state_folder,
)
from volcano_lab.cli.server import _cycle as run_cycle
from volcano_lab.cli.server import _dump as ask_for_dump
from volcano_lab.cli.web import Handler, serve_web
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.framework.observer import Observer
from volcano_lab.scheduler import Scheduler

NODE = ("{{apiVersion: v1, kind: Node, metadata: {{name: {name}}}, "
        'status: {{allocatable: {{cpu: "{cpu}", pods: "10"}}}}}}')
JOB = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {{name: {name}}}
spec:
  minAvailable: {pods}
  tasks:
  - replicas: {pods}
    name: worker
    template: {{spec: {{containers: [{{name: c, resources: {{requests: {{cpu: "{cpu}"}}}}}}]}}}}
"""
GOOD_CONF = ("actions: 'enqueue, allocate'\ntiers:\n- plugins:\n"
             "  - name: gang\n  - name: predicates\n  - name: {plugin}\n")


def node(name="n1", cpu=4):
    return NODE.format(name=name, cpu=cpu)


def job(name="a", pods=1, cpu=1):
    return JOB.format(name=name, pods=pods, cpu=cpu)


# -- as a process --------------------------------------------------------------------------------


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
    return folder, conf, dumps


def scrape(url):
    families = text_string_to_metric_families(urlopen(url, timeout=10).read().decode())
    return {(sample.name, *sorted(sample.labels.items())): sample.value
            for family in families
            for sample in family.samples}


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

        end = time.monotonic() + 30
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
        os.kill(server.process.pid, signal.SIGUSR2)
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
def test_a_configuration_behind_links_or_in_a_folder_made_anew_is_read(places):
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
    ({"period": 0.0}, "--period is 0; allowed are seconds from 0.01 to 3600"),
    ({"port": 70000}, "--port is 70000; allowed is a number from 0 to 65535"),
    ({"dump_dir": "nowhere"}, "--dump-dir is nowhere; allowed is a folder that exists"),
    ({"conf": "nowhere/file"}, "--conf is nowhere/file; its folder doesn't exist"),
])
def test_what_cannot_be_served_is_told_in_a_sentence(tmp_path, given, sentence):
    with pytest.raises(ServeError) as error:
        serve(**{"directory": str(tmp_path), "dump_dir": "/", "port": 0} | given)
    assert str(error.value) == sentence


def test_dumps_do_not_go_where_the_manifests_are(tmp_path):
    with pytest.raises(ServeError, match="a dump is no manifest"):
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
def test_a_renamed_folder_is_followed_and_sighup_reads_all_anew(places):
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
        server.wait_for("all files are read anew")
        assert server.end() == 0
    finally:
        server.process.kill()


@pytest.mark.long
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
@pytest.mark.parametrize("kept", ["ZeroDivisionError", "BaseException"])
def test_the_end_comes_within_two_seconds_whatever_is_under_way(places, kept):
    server = Process(*places, start=("-c", HANG.replace("KEPT", kept)))
    try:
        server.wait_for("it hangs")
        begin = time.monotonic()
        assert server.end() == 0
        assert 1 < time.monotonic() - begin < 6  # two seconds, and what a busy machine takes
    finally:
        server.process.kill()
    told = "what was under way is given up" in (places[2] / "said.txt").read_text()
    assert told == (kept != "BaseException")


def test_page_state_and_metrics(service):
    write(service, "a.yaml", job("a", cpu=9))
    write(service, "broken.yaml", "kind: [<script>")
    service.cycle()
    web = serve_web(service, 0)
    try:
        base = f"http://127.0.0.1:{web.server_port}"
        told = urlopen(base, timeout=10).read().decode()
        assert "default/a" in told and "not admitted" in told and "http-equiv" in told
        assert "broken.yaml" in told and "<script>" not in told
        assert not re.findall(r"(?:src|href)=.(?!/)", told)  # nothing from elsewhere
        state = json.load(urlopen(f"{base}/state", timeout=10))
        assert state["jobs"][0]["pending"] == 1 and state["cycle"] == 1
        assert ("volcano_unschedule_job_count",) in scrape(f"{base}/metrics")
        with pytest.raises(HTTPError, match="404"):
            urlopen(f"{base}/etc/passwd", timeout=10)
    finally:
        web.shutdown()
        web.server_close()


def test_a_connection_that_says_nothing_is_closed(service, monkeypatch):
    monkeypatch.setattr(Handler, "timeout", 0.2)
    web = serve_web(service, 0)
    try:
        with socket.create_connection(("127.0.0.1", web.server_port), timeout=10) as idle:
            idle.sendall(b"GET / HTTP/1.1\r\n")
            assert idle.recv(10) == b""
    finally:
        web.shutdown()
        web.server_close()


def test_dumps_go_to_a_folder_of_ones_own(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "manifests").mkdir()
    assert serve(str(tmp_path / "manifests"), port=0, cycles=1) == 0
    own = tmp_path / "state" / "volcano-lab"
    assert state_folder() == own and (os.name == "nt" or own.stat().st_mode & 0o777 == 0o700)


# -- the folder ------------------------------------------------------------------------------------


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def service(tmp_path):
    (tmp_path / "nodes.yaml").write_text(node())
    clock, said = Clock(), []
    service = Service(tmp_path, say=said.append, clock=clock)
    service.clock, service.said, service.path = clock, said, tmp_path
    service.read()
    return service


def write(service, name, text):
    service.clock.now += 1
    (service.path / name).write_text(text)
    os.utime(service.path / name,
             ns=(int(service.clock.now * 1e9), ) * 2)  # times of files are coarse
    service.read()


def pods(service):
    return {pod.key: (pod.spec.node_name, pod.status.phase) for pod in service.server.list("Pod")}


def test_what_a_manifest_does_not_say_is_the_server_s(service):
    write(service, "a.yaml", job("a"))
    service.cycle()
    service.cycle()
    assert pods(service) == {"default/a-worker-0": ("n1", "Running")}
    before = service.server.get("Pod", "default/a-worker-0")
    write(service, "a.yaml", job("a") + "    policies: []\n")
    write(service, "b.yaml", job("b"))
    after = service.server.get("Pod", "default/a-worker-0")
    assert (after.metadata.uid,
            after.metadata.creation_timestamp) == (before.metadata.uid,
                                                   before.metadata.creation_timestamp)
    assert pods(service)["default/a-worker-0"] == ("n1", "Running")
    service.cycle()
    assert pods(service)["default/b-worker-0"][0] == "n1"


def test_what_leaves_the_folder_leaves_the_cluster(service):
    write(service, "a.yaml", job("a", cpu=4))
    write(service, "b.yaml", job("b", cpu=4))
    for _ in range(3):
        service.cycle()
    assert [node for node, _ in pods(service).values()].count("n1") == 1
    (service.path / "a.yaml").unlink()
    service.read()
    for _ in range(3):
        service.cycle()
    assert pods(service) == {"default/b-worker-0": ("n1", "Running")}
    assert list(service.cache.jobs) == [next(iter(service.cache.jobs))]
    assert service.metrics.value("queue_allocated_milli_cpu", queue_name="default") == 4000


def test_a_changed_node_is_what_its_file_says(service):
    write(service, "nodes.yaml", node(cpu=2) + "\n---\n" + node("n2", cpu=8))
    service.cycle()
    assert {name: info.allocatable.milli_cpu
            for name, info in service.cache.nodes.items()} == {"n1": 2000, "n2": 8000}


def test_a_broken_file_keeps_what_it_said_and_is_told_of_once(service):
    write(service, "a.yaml", job("a"))
    said = len(service.said)
    write(service, "a.yaml", "{")
    write(service, "b.yaml", job("b"))
    service.cycle()
    assert len(
        service.said) - said == 1 + 2 and "what the file said before stays" in service.said[said]
    assert set(pods(service)) == {"default/a-worker-0", "default/b-worker-0"}
    write(service, "a.yaml", job("a"))
    assert service.folder.problems == {}


def test_files_that_contradict_each_other_change_nothing(service):
    write(service, "a.yaml", job("a"))
    write(service, "b.yaml", job("a"))
    assert "another file has it, too; allowed is one of a name" in service.folder.problems[""]
    assert set(pods(service)) == {"default/a-worker-0"}
    (service.path / "b.yaml").unlink()
    service.read()
    assert service.folder.problems == {}


def test_a_pod_without_its_priority_class_is_told_of(service):
    write(service, "p.yaml",
          "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {priorityClassName: high}}")
    assert 'spec.priorityClassName is "high"' in service.folder.problems[""]
    write(
        service, "c.yaml",
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 7}")
    assert service.folder.problems == {} and service.server.get("Pod",
                                                                "default/p").spec.priority == 7


def test_what_has_no_effect_is_told_of_once(service):
    text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n---\n" + node("n9")
    for _ in range(2):
        write(service, "c.yaml", text)
    (told,) = (sentence for sentence in service.said if "ConfigMap c" in sentence)
    assert "is not read and has no effect" in told and "n9" in service.cache.nodes


def test_a_step_that_a_pod_cannot_take_is_told_of_and_ends_nothing(service):
    pod = ("{apiVersion: v1, kind: Pod, metadata: {name: p}, "
           "spec: {nodeName: n1, containers: [{name: c}]}, status: {phase: %s}}")
    group = ("{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: g}, "
             "spec: {minMember: 1}}\n---\n")
    pod = group + pod.replace("{name: p}",
                              "{name: p, annotations: {scheduling.k8s.io/group-name: g}}")
    write(service, "p.yaml", pod % "Succeeded")
    service.cycle()
    write(service, "p.yaml", pod % "Running")
    service.cycle()
    assert any("task default/p cannot go from Succeeded to Running" in sentence
               for sentence in service.said)
    assert str(service.cache.jobs["default/g"].tasks["pod-default-p"].status) == "Succeeded"


def test_a_dump_that_cannot_be_written_ends_nothing_and_leaves_nothing(
        service, tmp_path, capsys, monkeypatch):
    ask_for_dump(service, tmp_path / "nowhere")
    assert "the cache can't be written to" in capsys.readouterr().out

    def full(*_):
        raise OSError(28, "No space left on device")

    (tmp_path / "dumps").mkdir()
    monkeypatch.setattr(dump.os, "replace", full)
    ask_for_dump(service, tmp_path / "dumps")
    assert "No space left on device" in capsys.readouterr().out and not list(
        (tmp_path / "dumps").iterdir())


def test_other_files_are_not_read(tmp_path):
    (tmp_path / "notes.txt").write_text("not a manifest")
    (tmp_path / ".draft.yaml").write_text("{")
    (tmp_path / "sub.yaml").mkdir()
    folder = Folder(tmp_path, ApiServer())
    assert not folder.read() and folder.problems == {}


# -- the configuration -----------------------------------------------------------------------------


def test_a_broken_configuration_keeps_the_last_good_one_and_says_why(tmp_path):
    path = tmp_path / "conf"
    assert ConfFile(path).conf.actions == ["enqueue", "allocate",
                                           "backfill"]  # there is none yet: Volcano's default
    path.write_text("actions: enqueue")
    conf = ConfFile(path)
    for broken, why in (("actions: fly", "fly"), ("actions: [", "conf"), ("tiers: 5", "tiers")):
        path.write_text(broken)
        assert not conf.load() and conf.conf.actions == ["enqueue"]
        assert why in conf.problem and conf.problem.endswith(
            "the last good configuration stays in force")
    path.unlink()
    assert not conf.load() and "cannot be read" in conf.problem
    path.write_text("actions: allocate")
    assert conf.load() and conf.conf.actions == ["allocate"] and conf.problem == ""
    assert not conf.load()  # the same text again


def test_arguments_that_a_plugin_refuses_refuse_the_configuration(tmp_path):
    path, said = tmp_path / "conf", []
    path.write_text("actions: enqueue")
    conf = ConfFile(path, said.append)
    path.write_text("actions: allocate\ntiers:\n- plugins:\n  - {name: resource-strategy-fit, "
                    "arguments: {resourceStrategyFitWeight: abc}}")
    assert not conf.load() and conf.conf.actions == ["enqueue"]
    assert not conf.load() and len(said) == 1
    assert said[0].endswith("the last good configuration stays in force")


def test_a_cycle_that_fails_each_time_is_told_of_once(service, capsys, monkeypatch):
    monkeypatch.setattr(service.scheduler, "cycle", lambda *_, **__: 1 / 0)
    failed = ""
    for _ in range(3):
        failed = run_cycle(service, failed)
    assert capsys.readouterr().out == "cycle 0 failed: ZeroDivisionError: division by zero\n"


def test_a_reload_never_changes_a_cycle_that_is_under_way(service):
    scheduler = Scheduler(service.cache,
                          "actions: 'enqueue, allocate'\ntiers: [{plugins: [{name: gang}]}]")
    seen = []

    class Reload(Observer):
        def action_started(self, ssn, action):
            seen.append(action)
            if action == "enqueue":
                scheduler.conf.actions.append("backfill")
                scheduler.conf.tiers[0].plugins.clear()
                scheduler.conf = load_conf("actions: preempt")

    ssn = scheduler.run_once(Reload())
    assert seen == ["enqueue", "allocate"]
    assert ssn.enabled_actions == {"enqueue", "allocate"
                                   } and [option.name
                                          for option in ssn.conf.tiers[0].plugins] == ["gang"]
    assert scheduler.conf.actions == ["preempt"]


def test_a_configuration_that_is_gone_and_comes_back_as_it_was_is_no_problem_any_more(tmp_path):
    path, told = tmp_path / "volcano-scheduler.conf", []
    path.write_text("actions: allocate")
    file = ConfFile(path, told.append)
    path.unlink()
    assert not file.load() and file.problem.endswith("the last good configuration stays in force")
    path.write_text("actions: allocate")
    assert file.load() and file.problem == "" and file.conf.actions == ["allocate"]
    assert len(told) == 1


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="this system has no SIGALRM")
def test_an_alarm_from_outside_ends_nothing():
    stop = threading.Event()
    old = _handle_signals(stop, set())
    try:
        signal.raise_signal(signal.SIGALRM)
        stop.set()
        with pytest.raises(Ended):
            signal.raise_signal(signal.SIGALRM)
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
