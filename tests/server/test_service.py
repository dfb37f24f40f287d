"""The service behind `volcano-lab serve`: its folder, its configuration, its page, its dumps."""

import json
import os
import re
import signal
import socket
import threading
from contextlib import closing
from html import escape
from inspect import signature
from itertools import pairwise
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from served import job, node, scrape

from volcano_lab.cache import dump
from volcano_lab.cache.api_server import ApiServer
from volcano_lab.cli import grammar
from volcano_lab.cluster import Cluster
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.framework.observer import Observer
from volcano_lab.messages import Misuse, speaking
from volcano_lab.scheduler import Scheduler
from volcano_lab.server import service as module
from volcano_lab.server.conf_file import ConfFile
from volcano_lab.server.folder import Folder
from volcano_lab.server.service import (
    Service,
    _cycle as run_cycle,
    _dump as ask_for_dump,
    _handle_signals,
    _run,
    serve,
    state_folder,
)
from volcano_lab.server.web import Handler, _bar, page, serve_web

POD_OF_CLASS = ("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {priorityClassName: high, "
                "containers: [{name: c}]}}")


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def service(tmp_path):
    (tmp_path / "nodes.yaml").write_text(node())
    clock, said = Clock(), []
    service = Service(tmp_path, report=said.append, clock=clock)
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


@pytest.mark.long
def test_page_state_and_metrics(service):
    write(service, "a.yaml", job("a", cpu=9))
    write(service, "broken.yaml", "kind: [<script>")
    service.cycle()
    web = serve_web(service, 0)
    try:
        base = f"http://127.0.0.1:{web.server_port}"
        output = urlopen(base, timeout=10).read().decode()
        assert ">a</td>" in output and "http-equiv" in output
        assert "broken.yaml" in output and "<script>" not in output
        assert 'rel="icon" href="data:,"' in output  # so that no browser asks for one
        assert not re.findall(r"(?:src|href)=.(?!/|data:,)", output)  # nothing from elsewhere
        state = json.load(urlopen(f"{base}/state", timeout=10))
        assert state["jobs"][0]["pending"] == 1 and state["cycle"] == 1
        group, = state["waiting"]
        assert group["jobs"] == ["default/a"] and escape(group["text"]) in output
        assert ("volcano_unschedule_job_count",) in scrape(f"{base}/metrics")
        with pytest.raises(HTTPError, match="404"):
            urlopen(f"{base}/etc/passwd", timeout=10)
    finally:
        web.shutdown()
        web.server_close()


@pytest.mark.long
def test_the_lines_of_volcanos_log_come_with_each_cycle_up_to_their_level(service):
    write(service, "a.yaml", job("a", cpu=9))
    found = {}
    for level in (0, 3, 4):
        service.level = level
        service.said.clear()
        service.cycle()
        found[level] = " ".join(service.said)
    assert [level for level in found if "SnapShot for scheduling" in found[level]] == [3, 4]
    assert [level for level in found if "Format queue" in found[level]] == [4]
    assert service.state.waiting[0]["jobs"] == ["default/a"]


@pytest.mark.long
def test_the_page_has_who_waits_first_and_bars_on_the_scale_of_all_nodes(service):
    write(service, "conf.yaml", """
apiVersion: v1
kind: ConfigMap
metadata: {name: volcano-scheduler-configmap}
data: {volcano-scheduler.conf: 'actions: "enqueue, allocate"

    tiers: [{plugins: [{name: gang}, {name: capacity, enableHierarchy: true}]}]'}
""")
    queues = Cluster().queue("a", capability=3).queue("b", parent="a", capability=2, deserved=1)
    write(service, "queues.yaml", queues.to_yaml())
    write(service, "j.yaml", job("runs") .replace("spec:\n", "spec:\n  queue: b\n", 1))
    write(service, "k.yaml", job("waits", pods=3).replace(
        "spec:\n", "spec:\n  queue: b\n", 1).replace("cpu: ", "a/gpu: 2, cpu: "))
    service.cycle()
    service.read()
    service.cycle()
    state, output = service.state, page(service.state)
    assert [job for group in state.waiting for job in group["jobs"]] == ["default/waits"]
    assert output.index(">waits<") < output.index("<h2>Queues") < output.index(">runs<")
    depths = {row["queue"]: (row["parent"], row["depth"]) for row in state.queues}
    assert depths["b"] == ("a", 2) and depths["a"] == ("root", 1) and state.total["cpu"] == 4
    bars = re.findall(r'aria-label="([^"]*)">.*?width="(\d+)" height="8" fill="#0072B2"/>'
                      r'<path d="M(\d+) .*?<path d="M(\d+) ', output)
    assert re.findall('border-bottom-color: (#0072B2|currentColor|#D55E00)">([^<]*)', output) == [
        ("#0072B2", "allocated"), ("currentColor", "deserved"), ("#D55E00", "real capability")]
    assert ("allocated 1, deserved 1, real capability 2, request 4", "60", "60", "120") in bars
    assert ("allocated 0, deserved 0, real capability 0, request 6", "0", "0", "0") in bars


@pytest.mark.long
def test_the_page_is_chinese_from_its_language_to_its_last_word(service):
    write(service, "a.yaml", job("a", cpu=9))
    write(service, "b.yaml", job("b"))
    service.cycle()
    with speaking("zh"):
        service.cycle()
        output = page(service.state, service.command)
    assert '<html lang="zh">' in output and '<html lang="en">' in page(service.state)
    texts = re.sub(r"<style>.*?</style>|<title>.*?</title>|<[^>]*>", "\n", output, flags=re.DOTALL)
    texts += "\n".join(re.findall('aria-label="([^"]*)"', output))
    same = {"metrics", "state", "default", "root", "cpu", "volcano-lab", "why", "Pod", "a", "b",
            *str(service.path).split("/"), "Inqueue", "Running", "Pending", "overcommit"}
    assert {*re.findall("[A-Za-z][-\\w]*", texts)} - same == set()


def test_the_page_counts_pods_as_its_state_and_has_the_command_that_explains(service):
    group = ("{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: a}, "
             "spec: {minMember: 3, minResources: {cpu: 27}}}")
    write(service, "a.yaml", job("a", cpu=9, pods=3))
    write(service, "g.yaml", group)
    service.cycle()
    row, = service.state.jobs
    output = page(service.state, service.command)
    table = output.partition("</table>")[0]
    shown = dict(zip(*(re.findall(f"<{tag} [^>]*>([^<]*)", table) for tag in ("th", "td")),
                     strict=True))
    assert (row["pods"], row["missing"]) == (0, 3)
    assert (shown["pods"], shown["not created"]) == ("0", "3")
    assert shown["command"] == f"volcano-lab why {service.path} default/a"


@pytest.mark.parametrize(("total", "scale"), [(16, 16), (8, 8), (4, 8), (0, 8)])
def test_a_bar_has_the_scale_of_what_is_allocated_where_that_is_more_than_there_is(total, scale):
    bar = _bar({"allocated": 8, "deserved": 4, "real_capability": 2, "request": 9}, total)
    marks = re.findall(r'width="([^"]*)" height="8" fill="#0072B2"|<path d="M(\S+) ', bar)
    assert [float("".join(mark)) for mark in marks] == [240 * part / scale for part in (8, 4, 2)]


@pytest.mark.long
def test_the_jobs_that_wait_are_reported_when_they_or_the_number_of_their_pods_changes(service):
    for count in (9, 9, 8, 0):
        write(service, "k.yaml", job("waits", pods=count) if count else node("n2"))
        service.cycle()
        service.report_waiting()
    assert [each.partition(": ")[2].removeprefix("jobs that wait (pods): ") for each in service.said
            if "that wait" in each or "no job waits" in each] == [
        "default/waits (9)", "default/waits (8)", "no job waits"]


@pytest.mark.long
def test_a_job_whose_pod_is_pipelined_is_reported(tmp_path):
    conf = tmp_path / "conf"
    conf.write_text("actions: enqueue, allocate, reclaim\ntiers: [{plugins: [{name: gang}, "
                    "{name: predicates}, {name: proportion}]}]\n")
    said, folder = [], tmp_path / "folder"
    folder.mkdir()
    cluster = Cluster().node("n1", cpu=4).queue("a").queue("b").job(
        "old", queue="a", pods=4, cpu=1, min_member=1, running={"n1": 4})
    (folder / "k.yaml").write_text(cluster.job("new", queue="b", cpu=1).export())
    service = Service(folder, conf, said.append, Clock())
    service.read()
    service.cycle()
    service.report_waiting()
    assert [row["pipelined"] for row in service.state.jobs if row["job"] == "default/new"] == [1]
    assert said[-1].endswith("jobs that wait (pods): default/new (1)")


@pytest.mark.long
def test_the_page_answers_under_its_own_names_only(service):
    web = serve_web(service, 0)
    try:
        base = f"http://127.0.0.1:{web.server_port}/state"
        for host in ("localhost", f"localhost:{web.server_port}", f"127.0.0.1:{web.server_port}"):
            assert urlopen(Request(base, headers={"Host": host}), timeout=10).status == 200
        for host in ("evil.example", "evil.example:80", "localhost.evil.example", "[::"):
            with pytest.raises(HTTPError, match="421"):
                urlopen(Request(base, headers={"Host": host}), timeout=10)
    finally:
        web.shutdown()
        web.server_close()


@pytest.mark.long
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


@pytest.mark.long
def test_dumps_go_to_a_folder_of_ones_own(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "manifests").mkdir()
    assert serve(str(tmp_path / "manifests"), port=0, cycles=1) == 0
    assert re.fullmatch(r"serving (.*manifests) every 1 s; metrics on (http://127.0.0.1:\d+/)metrics"
                        r", a page on \2\nended after 1 cycles\n", capsys.readouterr().out)
    own = tmp_path / "state" / "volcano-lab"
    assert state_folder() == own and (os.name == "nt" or own.stat().st_mode & 0o777 == 0o700)


@pytest.mark.long
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


def test_a_pod_whose_manifest_changes_stays_on_its_node_and_no_other_object_is_written(service):
    pod = ("{apiVersion: v1, kind: Pod, metadata: {name: p%s}, "
           "spec: {schedulerName: volcano, containers: [{name: c}]}}")
    write(service, "p.yaml", pod % "")
    write(service, "q.yaml", QUEUE % ("q", "root"))
    for _ in range(2):
        service.cycle()
    known = service.server.get("Queue", "q").metadata.resource_version
    write(service, "p.yaml", pod % ", labels: {a: b}")
    assert service.server.get("Pod", "default/p").metadata.labels == {"a": "b"}
    assert pods(service) == {"default/p": ("n1", "Running")}
    assert service.server.get("Queue", "q").metadata.resource_version == known


@pytest.mark.parametrize("named", ["", "n1", "n2"])
@pytest.mark.parametrize("bound", [False, True])
def test_the_node_of_a_pod_is_the_one_that_its_manifest_names_or_else_the_server_s(
        service, bound, named):
    pod = ("{apiVersion: v1, kind: Pod, metadata: {name: p%s}, "
           "spec: {%s schedulerName: volcano, containers: [{name: c}]}}")
    write(service, "p.yaml", pod % ("", ""))
    if bound:
        service.cycle()
    write(service, "p.yaml", pod % (", labels: {a: b}", named and f"nodeName: {named}, "))
    assert pods(service)["default/p"][0] == (named or ("n1" if bound else ""))


@pytest.mark.parametrize(("environment", "where"), [
    ({"XDG_STATE_HOME": "/s", "LOCALAPPDATA": "/l"}, "/s"), ({"LOCALAPPDATA": "/l"}, "/l"),
    ({"XDG_STATE_HOME": "", "LOCALAPPDATA": "/l"}, "/l"), ({}, "~/.local/state")])
def test_the_folder_of_states_is_that_of_the_system_or_in_the_users_home(
        environment, where, monkeypatch, tmp_path):
    for name in ("XDG_STATE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, text in environment.items():
        monkeypatch.setenv(name, text)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert state_folder() == Path(where.replace("~", str(tmp_path))) / "volcano-lab"


@pytest.mark.parametrize(("wanted", "reported", "printed"), [
    ("", [], ""), ("reload", ["all files are read again"], ""),
    ("print", ["NodeInfo(n1, "], ""), ("dump", [], "cache written to "),
    ("reload dump print", ["all files are read again", "NodeInfo(n1, "], "cache written to ")])
def test_what_a_signal_asks_for_is_done_once_before_the_next_cycle(
        service, wanted, reported, printed, tmp_path, capsys, monkeypatch):
    asked, again, read = {*wanted.split()}, [], service.folder.read
    monkeypatch.setattr(service.folder, "read", lambda all_: again.append(all_) or read(all_))
    service.said.clear()
    dumps = tmp_path / "dumps"
    dumps.mkdir()
    _run(service, threading.Event(), asked, dumps, 0.0, 2)
    assert not asked and service.scheduler.cycles == 2 and again == ["reload" in wanted, False]
    assert [text for text, start in zip(service.said, reported, strict=True)
            if not text.startswith(start)] == []
    assert capsys.readouterr().out.count("\n") == bool(printed)
    assert [path.name for path in dumps.iterdir()] == ["snapshot-1000.json"] * ("dump" in wanted)


@pytest.mark.parametrize("takes", [0.0, 0.25, 2.5])
def test_cycles_begin_a_period_apart_however_long_they_take(service, takes, monkeypatch, tmp_path):
    """A cycle longer than the period is followed at once by the next."""
    now, begun, stop = [0.0], [], threading.Event()

    def cycle():
        begun.append(now[0])
        now[0] += takes

    def wait(seconds):
        now[0] += seconds
        if len(begun) == 4:
            stop.set()

    monkeypatch.setattr("volcano_lab.server.service.time.monotonic", lambda: now[0])
    monkeypatch.setattr(service, "cycle", cycle)
    monkeypatch.setattr(stop, "wait", wait)
    _run(service, stop, set(), tmp_path, 1.0, None)
    gaps = [later - one for one, later in pairwise(begun)]
    assert begun[0] == 0.0 and gaps == pytest.approx([max(takes, 1.0)] * 3, abs=0.002)


@pytest.mark.long
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


BARE = ("{apiVersion: v1, kind: Pod, metadata: {name: a-worker-0}, "
        "spec: {schedulerName: volcano, containers: [{name: c}]}}")


@pytest.mark.long
@pytest.mark.parametrize(("manifest", "stays", "again"), [
    (job("a"), True, True), (job("a"), False, False), (BARE, True, False)])
def test_an_evicted_pod_is_created_again_by_the_controller_that_it_has(
        service, manifest, stays, again):
    write(service, "a.yaml", manifest)
    for _ in range(2):
        service.cycle()
    first = service.server.get("Pod", "default/a-worker-0")
    assert (first.spec.node_name, first.status.phase) == ("n1", "Running")
    if stays:
        service.server.delete("Pod", first.key)  # as an eviction does
    else:
        (service.path / "a.yaml").unlink()
        service.read()
    for _ in range(3):
        service.cycle()
    assert pods(service) == ({first.key: ("n1", "Running")} if again else {})
    if again:
        assert service.server.get("Pod", first.key).metadata.uid != first.metadata.uid


@pytest.mark.long
def test_a_job_that_loses_a_pod_still_counts_it(tmp_path):
    conf = tmp_path / "conf"
    conf.write_text("actions: enqueue, allocate, reclaim\ntiers: [{plugins: [{name: gang}, "
                    "{name: predicates}, {name: proportion}]}]\n")
    folder = tmp_path / "folder"
    folder.mkdir()
    cluster = Cluster().node("n1", cpu=4).queue("a").queue("b").job(
        "old", queue="a", pods=4, cpu=1, min_member=1, running={"n1": 4})
    (folder / "k.yaml").write_text(cluster.job("new", queue="b", cpu=1).export())
    service = Service(folder, conf, [].append, Clock())
    service.read()
    for _ in range(6):
        service.cycle()
    rows = {row["job"]: (row["pods"], row["placed"]) for row in service.state.jobs}
    assert rows == {"default/old": (4, 3), "default/new": (1, 1)}


def test_a_changed_node_is_what_its_file_says(service):
    write(service, "nodes.yaml", node(cpu=2) + "\n---\n" + node("n2", cpu=8))
    service.cycle()
    assert {name: info.allocatable.milli_cpu
            for name, info in service.cache.nodes.items()} == {"n1": 2000, "n2": 8000}


@pytest.mark.long
def test_a_broken_file_keeps_what_it_said_and_is_reported_once(service):
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


@pytest.mark.parametrize("content", ["{", "{kind: Pod}"])
def test_the_problem_of_a_file_goes_with_the_file(service, content):
    write(service, "a.yaml", content)
    assert list(service.folder.problems) == ["a.yaml"]
    (service.path / "a.yaml").unlink()
    service.read()
    assert service.folder.problems == {} and "a.yaml" not in service.folder.warnings


def test_files_that_contradict_each_other_change_nothing(service):
    write(service, "a.yaml", job("a"))
    write(service, "b.yaml", job("a"))
    assert service.folder.problems["b.yaml"].endswith(
        "/b.yaml: Job a is in a.yaml and in b.yaml; allowed is one of a name "
        "(what the file said before stays)")
    assert set(pods(service)) == {"default/a-worker-0"}
    (service.path / "b.yaml").unlink()
    service.read()
    assert service.folder.problems == {}


QUEUE = ("{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: %s}, "
         "spec: {parent: %s}}")


@pytest.mark.long
@pytest.mark.parametrize("content", [
    job("j9", pods=1_000_000), job("a"), node("n1", cpu=64),
    "\n---\n".join(QUEUE % (f"q{number}", f"q{number - 1}" if number else "root")
                   for number in range(300))],
    ids=["too many pods", "a job of another file", "a node of another file", "too deep"])
def test_a_file_that_contradicts_keeps_no_other_from_being_read(service, content):
    write(service, "a.yaml", job("a"))
    write(service, "contradicts.yaml", content)
    write(service, "later.yaml", job("later"))
    service.cycle()
    assert list(service.folder.problems) == ["contradicts.yaml"]
    assert not any("later" in sentence for sentence in service.said if "allowed" in sentence)
    assert pods(service).keys() == {"default/a-worker-0", "default/later-worker-0"}
    (service.path / "a.yaml").unlink()
    service.read()
    service.cycle()
    assert "default/later-worker-0" in pods(service)
    write(service, "contradicts.yaml", job("mended"))
    assert service.folder.problems == {} and "default/mended-worker-0" in pods(service)


def test_a_file_that_contradicts_from_now_on_keeps_what_it_said(service):
    write(service, "a.yaml", job("a"))
    write(service, "a.yaml", job("a", pods=1_000_000))
    write(service, "b.yaml", job("b"))
    assert pods(service).keys() == {"default/a-worker-0", "default/b-worker-0"}
    assert "it asks for 1,000,000 pods" in service.folder.problems["a.yaml"]


def test_a_file_that_others_need_stays_in_force_when_it_goes(service):
    high = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}}"
    write(service, "c.yaml", high)
    write(service, "p.yaml", POD_OF_CLASS)
    (service.path / "c.yaml").unlink()
    write(service, "x.yaml", job("x"))
    assert "c.yaml is gone, but Pod default/p" in service.folder.problems["c.yaml"]
    assert pods(service).keys() == {"default/p", "default/x-worker-0"}


def test_of_files_that_change_together_one_may_need_a_later_one(service):
    high = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}}"
    for name, text in (("a.yaml", POD_OF_CLASS), ("b.yaml", high), ("c.yaml", node("n1", cpu=64))):
        (service.path / name).write_text(text)
    service.read()
    assert list(service.folder.problems) == ["c.yaml"] and "default/p" in pods(service)


def test_a_pod_without_its_priority_class_is_reported(service):
    write(service, "p.yaml", POD_OF_CLASS)
    assert 'spec.priorityClassName is "high"' in service.folder.problems["p.yaml"]
    write(
        service, "c.yaml",
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 7}")
    assert service.folder.problems == {} and service.server.get("Pod",
                                                                "default/p").spec.priority == 7


def test_what_has_no_effect_is_reported_once(service):
    text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n---\n" + node("n9")
    for _ in range(2):
        write(service, "c.yaml", text)
    (output,) = (sentence for sentence in service.said if "ConfigMap c" in sentence)
    assert "is not read and has no effect" in output and "n9" in service.cache.nodes
    (service.path / "c.yaml").unlink()
    service.read()
    write(service, "c.yaml", text)  # once for each time that it comes
    assert service.said.count(output) == 2


def test_a_step_that_a_pod_cannot_take_is_reported_of_and_ends_nothing(service):
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


CONFIG_MAP = ("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, "
              "data: {volcano-scheduler.conf: '%s'}}")


def test_a_config_map_in_the_folder_is_the_configuration_unless_another_is_named(service):
    def actions():
        return service.scheduler.conf.actions

    write(service, "conf.yaml", CONFIG_MAP % ("a", "actions: allocate"))
    assert actions() == ["allocate"]
    assert "configuration from the ConfigMap is in force: allocate" in service.said
    write(service, "conf.yaml", CONFIG_MAP % ("a", "actions: fly"))
    assert actions() == ["allocate"] and "fly" in service.conf_file.problem
    write(service, "conf.yaml", CONFIG_MAP % ("a", "actions: enqueue"))
    write(service, "other.yaml", CONFIG_MAP % ("b", "actions: backfill"))
    assert actions() == ["enqueue"] and "differ; allowed is one" in service.conf_file.problem
    (service.path / "other.yaml").unlink()
    service.read()
    assert actions() == ["enqueue"] and service.conf_file.problem == ""
    (service.path / "conf.yaml").unlink()
    service.read()
    assert actions() == ["enqueue", "allocate", "backfill"]

    named = service.path.parent / "named.conf"
    named.write_text("actions: allocate")
    write(service, "conf.yaml", CONFIG_MAP % ("a", "actions: enqueue"))
    other = Service(service.path, named, report=service.said.append)
    other.read()
    assert other.scheduler.conf.actions == ["allocate"]


def test_a_broken_configuration_keeps_the_last_good_one_and_says_why(tmp_path):
    path = tmp_path / "conf"
    assert ConfFile(path).conf.actions == ["enqueue", "allocate",
                                           "backfill"]  # there is none yet: Volcano's default
    assert ConfFile(path).problem.endswith("; Volcano's default is in force")
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


def test_a_cycle_that_fails_each_time_is_reported_once(service, capsys, monkeypatch):
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
    path, output = tmp_path / "volcano-scheduler.conf", []
    path.write_text("actions: allocate")
    file = ConfFile(path, output.append)
    path.unlink()
    assert not file.load() and file.problem.endswith("the last good configuration stays in force")
    path.write_text("actions: allocate")
    assert file.load() and file.problem == "" and file.conf.actions == ["allocate"]
    assert len(output) == 1


def test_reading_all_again_sees_what_times_of_files_do_not_show(service):
    conf, nodes = service.path.parent / "volcano-scheduler.conf", service.path / "nodes.yaml"
    conf.write_text("actions: allocate")
    service.conf_file = ConfFile(conf)
    stat = nodes.stat()
    nodes.write_text(node("n2"))
    os.utime(nodes, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    service.read()
    assert list(service.cache.nodes) == ["n1"] and service.said == []
    service.read(again=True)
    assert list(service.cache.nodes) == ["n2"]
    assert service.said == [f"configuration from {conf} is in force: allocate"]


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="this system has no SIGALRM")
def test_an_alarm_from_outside_ends_nothing():
    stop = threading.Event()
    old = _handle_signals(stop, set())
    try:
        signal.raise_signal(signal.SIGALRM)
        assert not stop.is_set()
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def test_a_stop_signal_takes_no_lock_that_the_interrupted_thread_may_hold():
    stop = threading.Event()
    taken, old = [], _handle_signals(stop, set())
    watch = threading.Timer(20, os._exit, (1,))  # a deadlock hears no exception
    try:
        with stop._cond:  # as within wait() and set()
            watch.start()
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGINT)
            taken.append(stop.is_set())
        assert stop.wait(20) and taken == [False]
    finally:
        watch.cancel()
        for number, handler in old.items():
            signal.signal(number, handler)


def test_what_a_file_does_not_date_is_as_old_as_its_first_reading(tmp_path):
    now = [100.0]
    server = ApiServer(lambda: now[0])
    queue = "{{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {{name: {}}}}}"
    file, folder = tmp_path / "a.yaml", Folder(tmp_path, server)

    def ages():
        folder.read()
        assert not folder.problems
        return {obj.name: obj.metadata.creation_timestamp for obj in server.list("Queue")}

    dated = queue.format("old, creationTimestamp: 1970-01-01T00:00:07Z")
    file.write_text(f"{queue.format('new')}\n---\n{dated}\n")
    assert ages().items() >= {"new": 100.0, "old": 7.0}.items()
    now[0] = 250.0
    file.write_text(f"{queue.format('new')}\n---\n{dated}\n---\n{queue.format('later')}\n")
    assert ages().items() >= {"new": 100.0, "old": 7.0, "later": 250.0}.items()


@pytest.mark.parametrize(("cpu", "there"), [(1, ["default/a-worker-0", "default/a-worker-1"]),
                                            (9, [])])
def test_the_pods_of_a_job_with_a_pod_group_are_created_once_that_is_admitted(service, cpu, there):
    write(service, "a.yaml", job("a", pods=2, cpu=cpu))
    write(service, "g.yaml", "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, "
          f"metadata: {{name: a}}, spec: {{minMember: 2, minResources: {{cpu: {2 * cpu}}}}}}}")
    assert not pods(service) and not service.read()
    service.cycle()
    assert not pods(service)
    service.read()
    assert [*pods(service)] == there
    service.cycle()
    service.read()
    assert {place[0] for place in pods(service).values()} == ({"n1"} if there else set())


@pytest.mark.long
@pytest.mark.parametrize("ends", [False, True])
def test_only_what_does_not_end_after_the_stop_is_given_up(ends, monkeypatch, capsys):
    codes, stop, ended = [], threading.Event(), threading.Event()
    monkeypatch.setattr(module.os, "_exit", codes.append)
    monkeypatch.setattr(module, "GRACE", 0.01)
    watch = threading.Thread(target=module._give_up, args=(stop, ended))
    watch.start()
    watch.join(0.05)
    assert watch.is_alive() and codes == []  # however long it runs before the stop
    if ends:
        ended.set()
    stop.set()
    watch.join(60)
    assert codes == [0] * (not ends)
    assert capsys.readouterr().out == "what was under way is given up\n" * (not ends)


@pytest.mark.long
def test_what_hangs_after_a_stop_is_watched_from_the_start(tmp_path, monkeypatch):
    """By a thread that keeps no process alive, and that hears of the end."""
    watched = []
    monkeypatch.setattr(module, "_give_up", lambda stop, ended: watched.append((
        threading.current_thread().daemon, stop.wait(60), ended.wait(60))))
    (tmp_path / "manifests").mkdir()
    assert serve(str(tmp_path / "manifests"), port=0, cycles=1, dump_dir=str(tmp_path)) == 0
    for _ in range(600):
        if watched:
            break
        threading.Event().wait(0.01)
    assert watched == [(True, True, True)]


def test_the_function_has_the_defaults_of_its_command():
    params = grammar.volcano_lab.commands["serve"].params
    command = {option.name: option.default for option in params}
    own = {name: each.default for name, each in signature(serve).parameters.items()}
    assert {own[name] == command[name] for name in ("period", "port")} == {True}
    assert own["level"] == command["verbosity"]


def test_a_service_that_no_page_can_be_served_for_ends_in_one_sentence(tmp_path):
    (tmp_path / "manifests").mkdir()
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(Misuse, match=f"--port is {port}: it is taken, or not allowed"):
            serve(str(tmp_path / "manifests"), port=port, cycles=1, dump_dir=str(tmp_path))


def test_what_has_no_effect_is_no_problem_on_the_page(tmp_path):
    (tmp_path / "a.yaml").write_text("{apiVersion: v1, kind: Service, metadata: {name: a}}")
    (tmp_path / "b.yaml").write_text("no object")
    service = Service(str(tmp_path), report=lambda _: None)
    service.read()
    service.cycle()
    assert ["kind Service is not read" in each for each in service.state.warnings] == [True]
    assert ["b.yaml" in each for each in service.state.problems] == [True]
    text = page(service.state)
    assert re.search(r'<p>warning: Service a.*</p>', text) and re.search(
        r'<p class="problem">[^<]*b\.yaml', text)
