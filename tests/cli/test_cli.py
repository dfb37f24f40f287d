"""The command as people use it: a whole process, its output, its exit code."""

import gzip
import json
import os
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import pytest
from commands import volcano_lab_command

import volcano_lab
from volcano_lab.cli import Mistake, main
from volcano_lab.cli.lab import command, lessons
from volcano_lab.cli.run import placement_table, queue_table
from volcano_lab.cluster import Cluster
from volcano_lab.course.lesson_00.lab import fair_share_cluster

ROOT = Path(__file__).parents[2]
CASES = ROOT.parent / "shared" / "conformance" / "dev-cases.jsonl.gz"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    (folder / "cluster.yaml").write_text(fair_share_cluster(4, 4).to_yaml())
    (folder / "case.json").write_text(
        json.dumps({
            "name": "one", "family": "f", "conf": None, "objects":
            [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}]
        }))
    (folder / "wrong.yaml"
     ).write_text("{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {taints: 5}}")
    (folder / "unknown.yaml"
     ).write_text("{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {tains: []}}")
    (folder / "wrong.conf").write_text("actions: alocate")
    (folder / "map.yaml").write_text(
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: [a]}")
    (folder / "odd.conf").write_text("actions: allocate\nplugins: []\n")
    return folder


@pytest.mark.long
def test_run_shows_queues_jobs_placements_and_reasons(files):
    result = volcano_lab_command("run", files / "cluster.yaml")
    assert result.returncode == 0
    assert [line.partition(" (")[0] for line in result.stderr.splitlines()] == [
        "warning: Queue a", "warning: Queue c"]  # admission wants a guarantee to be deserved, too
    lines = [line.rstrip() for line in result.stdout.splitlines()]
    row = next(line for line in lines if line.startswith("a ")).split()
    assert row == ["a", "1", "no", "cpu", "28", "50", "28", "80"]
    assert next(line for line in lines if line.startswith("default/a-gang  a")).split()[-1] == "4"
    assert "default/a-gang (4 of 4 pods) waits:" in lines
    assert "NotEnoughResources: 1/4 tasks in gang unschedulable" in result.stdout
    assert lines[0] == "Jobs" and max(map(len, lines)) <= 80


def test_wide_shows_all_columns(files, capsys):
    assert main(["run", str(files / "cluster.yaml"), "-o", "wide"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["a", "2", "1", "no", "cpu", "10", "28", "50", "28", "80", "16", "12"] in rows


def test_run_as_json(files):
    result = volcano_lab_command("run", "-", "--output", "json",
                                 input=(files / "cluster.yaml").read_text())
    shown = json.loads(result.stdout)
    assert result.returncode == 0 and shown["queueOrder"] == ["b", "c", "a"]
    assert {row["queue"]: row["deserved"]["cpu"]
            for row in shown["queues"]} == {"a": "28", "b": "42", "c": "30"}
    assert len(shown["placements"]) == 10 and shown["leftOut"] == []
    assert [warning[:9] for warning in shown["warnings"]] == ["Queue a (", "Queue c ("]
    assert [row["phase"] for row in shown["jobs"] if row["job"] == "default/a-gang"] == ["Inqueue"]


def test_warnings_go_to_the_error_output(files):
    result = volcano_lab_command("run", files / "unknown.yaml", "--conf", files / "odd.conf",
                                 "--output", "json")
    assert result.returncode == 0 and json.loads(result.stdout)
    assert "spec.tains is not known and has no effect; did you mean taints?" in result.stderr
    assert "plugins" in result.stderr


@pytest.mark.long
@pytest.mark.parametrize(("conf", "found"), [
    ("wrong.conf", 'actions names "alocate"'), ("both.conf", "tiers[0] has proportion beside drf")])
@pytest.mark.parametrize("name", ["a", "--all"])
def test_why_answers_with_what_runs_where_the_configuration_is_refused(files, name, conf, found):
    """Volcano keeps the configuration that it has, at its start its default."""
    (files / "both.conf").write_text(
        "actions: allocate\ntiers: [{plugins: [{name: proportion}, {name: drf, enableHierarchy: "
        "true}]}]")
    answers = [volcano_lab_command("why", files / "cluster.yaml", name, "-o", "wide", "--seconds",
                                  "600", *more)
               for more in ([], ["--conf", files / conf])]
    assert [answer.returncode for answer in answers] == [0, 0]
    default, given = (answer.stdout.partition("What would change it")[0] for answer in answers)
    assert default == given  # a change of the actions is one of those that are refused
    assert found in answers[1].stderr
    assert "Volcano refuses this configuration as a whole and keeps" in answers[1].stderr


@pytest.mark.long
def test_what_if_takes_the_refused_configuration_that_why_takes(files):
    answer = volcano_lab_command("what-if", files / "cluster.yaml", "--base-conf",
                                 files / "wrong.conf", "--set", "queue/a.weight=2")
    assert answer.returncode == 0 and "Volcano refuses this configuration as a wh" in answer.stderr
    answer = volcano_lab_command("what-if", files / "cluster.yaml", "--conf", files / "wrong.conf")
    assert answer.returncode == 2 and 'actions names "alocate"' in answer.stderr


@pytest.mark.long
@pytest.mark.parametrize(("actions", "change"), [
    ("enqueue, allocate, elect, reclaim", "actions without elect"),
    ("enqueue, alocate, reclaim", "actions with allocate and without alocate")])
def test_a_refused_configuration_without_its_unknown_action_is_a_change(tmp_path, actions, change):
    """The rest of it, here reclaim and its plugins, then applies as it is written."""
    cluster = Cluster().node("n1", cpu=2).queue("a").queue("b").job(
        "old", queue="a", pods=2, cpu=1, min_member=1, running={"n1": 2}).job(
        "new", queue="b", cpu=1)
    (tmp_path / "cluster.yaml").write_text(cluster.to_yaml())
    (tmp_path / "own.conf").write_text(f"actions: {actions}\ntiers:\n- plugins: "
                                       "[{name: gang}, {name: predicates}, {name: proportion}]\n")
    files = tmp_path / "cluster.yaml", "--conf", tmp_path / "own.conf"
    found = volcano_lab_command("why", *files, "new", "-o", "json").stdout
    first = json.loads(found)["remedies"][0]
    assert first["change"] == change and "evicts 1 pod of old" in first["effect"]
    files = tmp_path / "cluster.yaml", "--base-conf", tmp_path / "own.conf"
    after = volcano_lab_command("what-if", *files, *first["args"])
    assert "1 more pod is evicted" in after.stdout


MISTAKES = [
    (["why", "none.yaml", "a"], "none.yaml: there is no such file or directory"),
    (["why", "cluster.yaml", "a", "--conf",
      "none.conf"], "none.conf: cannot be read (No such file or directory)"),
    (["run", "none.yaml"], "none.yaml: there is no such file or directory"),
    (["run", ""], '"" is no file; allowed are files, folders, patterns, or - for the input'),
    (["run", "cluster.yaml", "--conf", ""], "--conf: is no file; allowed is a volcano-scheduler"),
    (["run", "cluster.yaml", "--conf", "."], ".: is no file; allowed is a volcano-scheduler.conf"),
    (["run", "wrong.yaml"], "spec.taints is 5; allowed is a list"),
    (["run", "cluster.yaml", "--conf",
      "none.conf"], "none.conf: cannot be read (No such file or directory)"),
    (["run", "cluster.yaml", "--conf",
      "wrong.conf"], 'wrong.conf: scheduler configuration: actions names "alocate"'),
    (["run", "cluster.yaml", "--conf", "map.yaml"], "ConfigMap c: data is a list; allowed is a ma"),
    (["why", "cluster.yaml", "a\nb"], 'no job, pod or queue is called "a\\nb"; '),
    (["why", "cluster.yaml", ""], 'no job, pod or queue is called ""; '),
    (["sweep", "cluster.yaml", "--grid", "queue/default.weight=1", "--metric", "job/a.pending.x"],
     'no metric is called "job/a.pending.x"'),
    (["serve", ""], "(nothing) is no folder; allowed is a folder of manifests"),
    (["replay", "none.jsonl"], "none.jsonl: cannot be read (No such file or directory)"),
    (["replay",
      "cluster.yaml"], "cluster.yaml: is not a file of cases; allowed is one JSON object a line"),
    (["completion"], "Choose from: bash, zsh, fish (see "),
    (["sweep", "cluster.yaml", "--grid", "queue/default.weight=1,2", "--plot", "x.foo"],
     "--plot is x.foo: "),
]


@pytest.mark.parametrize(("arguments", "sentence"), MISTAKES, ids=[row[1] for row in MISTAKES])
def test_a_mistake_is_a_sentence_and_exit_code_2(arguments, sentence, files, monkeypatch, capsys):
    monkeypatch.chdir(files)
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and sentence in shown.err and "Traceback" not in shown.err
    assert shown.err.count("\n") == 1


@pytest.mark.long
def test_an_output_without_chinese_signs_is_reported(files):
    done = subprocess.run(
        [sys.executable, "-m", "volcano_lab.cli", "why", str(files / "cluster.yaml"), "a", "--lang",
         "zh"], capture_output=True, text=True, env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stdout) == (2, "") and done.stderr == (
        "volcano-lab: --lang is zh, which the output's encoding ascii can't show; allowed is en, "
        "or an output in UTF-8\n")


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="a shell of Unix")
def test_a_closed_input_ends_a_riddle():
    done = subprocess.run(["sh", "-c", f"{sys.executable} -m volcano_lab.cli riddle 1 <&-"],
                          capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and "Not solved." in done.stdout


@pytest.mark.long
def test_help_and_version():
    assert volcano_lab_command(
        "--version").stdout.strip() == f"volcano-lab {volcano_lab.__version__}"
    shown = volcano_lab_command("--help").stdout
    assert all(word in shown for word in ("run", "why", "replay", "lab"))
    wrong = ([], ["runn"], ["run"], ["why", "a", "b", "--c"])
    assert [volcano_lab_command(*arguments).returncode for arguments in wrong] == [2] * len(wrong)


def test_replay_goes_on_after_a_case_that_raises(files, tmp_path, capsys):
    good = (files / "case.json").read_text()
    broken = json.dumps({"name": "two", "family": "f", "objects": [{"kind": "Node"}]})
    refused = json.dumps(json.loads(good) | {"name": "three", "conf": "actions: alocate"})
    path = tmp_path / "cases.jsonl.gz"
    with gzip.open(path, "wt") as out:
        out.write("\n".join([good, broken, refused, good]) + "\n")
    assert main(["replay", str(path)]) == 1
    shown = capsys.readouterr()
    rows = [json.loads(line) for line in shown.out.splitlines()]
    assert [row["name"] for row in rows] == ["one", "two", "three", "one"]
    assert [sorted(row.keys() & {"open", "error", "confError"}) for row in rows] == [
        ["open"], ["error"], ["confError"], ["open"]]
    assert "cases that raised: 1;" in shown.err


def test_a_case_without_objects_or_with_escapes_in_its_words_is_reported(tmp_path, capsys):
    path = tmp_path / "cases.jsonl"
    path.write_text('{"name": "a", "objects": null}\n{"family": "\\u001b[31m", "objects": [5]}\n')
    assert main(["replay", str(path)]) == 1
    assert [json.loads(line)["error"] for line in capsys.readouterr().out.splitlines()] == [
        "ManifestError: objects is null; allowed is a list",
        "ManifestError: object: is 5; allowed is a mapping with apiVersion, kind and metadata"]


def test_a_file_without_cases_is_reported(tmp_path, capsys):
    empty = tmp_path / "cases.jsonl"
    empty.touch()
    for option in ([], ["--life"]):
        assert main(["replay", *option, str(empty)]) == 0
        assert capsys.readouterr() == ("", f"warning: {empty}: there are no cases\n")


def test_a_line_of_any_length_is_not_read(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("volcano_lab.cli.replay.MOST_BYTES", 1000)
    path = tmp_path / "bomb.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"name": "' + b"a" * 100_000 + b'"}\n'))
    assert main(["replay", str(path)]) == 2
    assert capsys.readouterr().err == (
        f"volcano-lab: {path}: cannot be read (a line has more than 1,000 bytes)\n")


def test_replay_with_timing(files, capsys):
    assert main(["replay", str(files / "case.json"), "--timing"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert set(row) == {"name", "times", "statuses"} and {"open", "close", "cycle"} < set(
        row["times"])


@pytest.mark.long
def test_a_reader_that_stops_is_no_error():
    if not CASES.is_file():
        pytest.skip(f"{CASES.name} is not beside this repository")
    script = f"{sys.executable} -m volcano_lab.cli replay {CASES} | head -1"
    result = subprocess.run(["bash", "-o", "pipefail", "-c", script], capture_output=True,
                            text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "") and json.loads(result.stdout)["name"]


def test_lab_finds_the_notebooks_or_says_where_they_are(tmp_path):
    assert lessons() == ROOT
    with pytest.raises(Mistake, match="come with a clone of the repository"):
        lessons(str(tmp_path), tmp_path / "none")
    started = command(ROOT, ["--no-browser"])
    assert started[1:3] == ["-m", "jupyterlab"] and started[-1] == "--no-browser"
    assert f"--ServerApp.root_dir={ROOT}" in started


CONFIG_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: volcano-scheduler-configmap}
data:
  volcano-scheduler.conf: |
    actions: "allocate"
    tiers:
    - plugins:
      - name: gang
      - name: tdm
        arguments: {tdm.revocable-zone.rz1: "10:00-21:00"}
      - name: predicates
"""
REVOCABLE = """\
apiVersion: v1
kind: Node
metadata: {name: night, labels: {volcano.sh/revocable-zone: rz1}}
status: {allocatable: {cpu: "8", pods: "110"}}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: transcode, annotations: {volcano.sh/preemptable: "true"}}
spec:
  minAvailable: 1
  tasks:
  - {name: t, replicas: 1, template: {spec: {containers: [
      {name: main, resources: {requests: {cpu: "2"}}}]}}}
"""


@pytest.mark.parametrize(("now", "rows"), [("13:30", 1), ("2026-01-01T03:00Z", 0)])
def test_the_configuration_of_a_config_map_and_another_time(now, rows, tmp_path, capsys):
    (tmp_path / "cluster.yaml").write_text(REVOCABLE)
    (tmp_path / "cm.yaml").write_text(CONFIG_MAP)
    assert main(["run", str(tmp_path / "cluster.yaml"), "--conf", str(tmp_path / "cm.yaml"),
                 "--now", now]) == 0
    shown = capsys.readouterr().out
    assert "transcode-" not in shown.replace("transcode-t-0", "")
    assert sum(row.startswith("default/transcode  allocate") for row in shown.splitlines()) == rows


@pytest.mark.parametrize(("arguments", "sentence"), [
    (["why", "cluster.yaml", "j", "--seconds", "nan"],
     "--seconds is nan; allowed is a number from 0 to 86400"),
    (["sweep", "cluster.yaml", "--grid", "queue/a.weight=1..1000000000"],
     "allowed is a range of 1 to 1,000,000 numbers"),
    (["sweep", "cluster.yaml", "--grid", "queue/a.weight=5..1"],
     "allowed is a range of 1 to 1,000,000 numbers"),
    (["sweep", "cluster.yaml", "--grid", "queue/a.weight=1", "--grid", "queue/a.weight=2"],
     "grid: a name is given twice; allowed is once, with all values"),
])
def test_numbers_without_an_end_or_a_sense_are_refused(tmp_path, capsys, monkeypatch, arguments,
                                                       sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cluster.yaml").write_text(Cluster().node("n1", cpu=8).job("j").to_yaml())
    assert main(arguments) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="a shell of POSIX")
@pytest.mark.parametrize(("where", "code", "sentence"), [
    (">&-", 0, "volcano-lab: the output is closed; nothing of it is shown"),
    (">/dev/full", 2, "volcano-lab: the output: No space left on device"),
])
def test_an_output_that_takes_nothing_is_reported(files, where, code, sentence):
    if "full" in where and not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    script = f"{sys.executable} -m volcano_lab.cli run {files / 'cluster.yaml'} {where}"
    ended = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    assert ended.returncode == code and sentence in ended.stderr.splitlines()
    assert "Traceback" not in ended.stderr


def test_a_time_and_a_config_map_that_cannot_be_read(tmp_path, capsys):
    (tmp_path / "cluster.yaml").write_text(REVOCABLE)
    (tmp_path / "cm.yaml").write_text(CONFIG_MAP.replace("volcano-scheduler.conf", "conf"))
    for arguments, sentence in ((["--now", "noon"], '--now is "noon"; allowed is a time such as'),
                                (["--now", "1700000000"], '--now is "1700000000"; allowed is a'),
                                (["--conf", str(tmp_path / "cm.yaml")],
                                 "the ConfigMap has 0 keys of data that end in .conf")):
        assert main(["run", str(tmp_path / "cluster.yaml"), *arguments]) == 2
        assert sentence in capsys.readouterr().err


@pytest.mark.long
def test_of_very_many_jobs_those_that_wait_are_listed(tmp_path, capsys):
    many = Cluster().node("n1", cpu=100)
    for number in reversed(range(70)):
        many.job(f"job-{number:02}", cpu=1)
    (tmp_path / "c.yaml").write_text(many.job("zero", cpu=200).to_yaml())
    assert main(["run", str(tmp_path / "c.yaml")]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert "70 others" in shown[0] and "default/zero" in shown[2] and shown[3] == ""
    assert main(["run", str(tmp_path / "c.yaml"), "-o", "wide"]) == 0
    rows = [line.split()[0] for line in capsys.readouterr().out.splitlines()[2:73]]
    assert rows == sorted(rows)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_signal_to_the_command_ends_jupyterlab():
    pytest.importorskip("jupyterlab")
    with subprocess.Popen([sys.executable, "-m", "volcano_lab.cli", "lab", "--no-browser",
                           "--port=0"], stderr=subprocess.PIPE, text=True) as lab:
        lines = takewhile(lambda line: "lab/tree/notebooks/start.ipynb" not in line, lab.stderr)
        assert any("Serving notebooks from local directory" in line for line in lines)
        ps = subprocess.run(["ps", "-o", "command=", "-p", str(lab.pid)], capture_output=True,
                            text=True, check=True)
        lab.terminate()
        assert "-m jupyterlab" in ps.stdout and any("Shutting down" in line for line in lab.stderr)
    assert lab.returncode is not None


def test_queues_have_the_order_in_which_they_were_considered_the_others_follow_by_name():
    cluster = Cluster().node("n1", cpu=4).queue("a", deserved=1).queue("z", deserved=1).queue(
        "m", deserved=2).job("j", queue="z", cpu=1).job("n", queue="m", cpu=1)
    cycle = cluster.run({"actions": "enqueue, allocate", "tiers": [{"plugins": [
        {"name": "capacity", "enableHierarchy": True}]}]})
    rows = queue_table(cycle).splitlines()[2:]
    assert cycle.queue_order == ["z", "m"]
    assert [row.split()[0] for row in rows] == ["z", "m", "a", "default", "root"]


def test_operations_are_counted_by_pods_and_their_nodes_named_with_the_pods_of_each():
    cluster = Cluster().node("n1", cpu=2).node("n2", cpu=1).job("j", pods=3, cpu=1)
    (row,) = placement_table(cluster.run(), {"default/j"}).splitlines()[2:]
    assert row.split(None, 3) in (["default/j", "allocate", "3", "n1 x2, n2"],
                                  ["default/j", "allocate", "3", "n2, n1 x2"])
