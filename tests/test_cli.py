"""The command as people use it: a whole process, its output, its exit code."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import volcano_lab
from volcano_lab.cli import Mistake, main
from volcano_lab.cli.lab import command, find_lessons
from volcano_lab.widgets.fair_share import fair_share_cluster

ROOT = Path(__file__).parents[1]
CASES = ROOT.parent / "shared" / "conformance" / "dev-cases.jsonl.gz"


def volcano_lab_command(*arguments, input=None):
    environment = os.environ | {"COLUMNS": "", "PYTHONWARNINGS": "error"}
    return subprocess.run([sys.executable, "-m", "volcano_lab.cli", *map(str, arguments)], capture_output=True, text=True,
                          input=input, env=environment, check=False)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    (folder / "cluster.yaml").write_text(fair_share_cluster(4, 4).to_yaml())
    (folder / "case.json").write_text(json.dumps({"name": "one", "family": "f", "conf": None, "objects": [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}]}))
    (folder / "wrong.yaml").write_text("{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {taints: 5}}")
    (folder / "unknown.yaml").write_text("{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {tains: []}}")
    (folder / "wrong.conf").write_text("actions: alocate")
    (folder / "odd.conf").write_text("actions: allocate\nplugins: []\n")
    return folder


def test_run_shows_queues_jobs_placements_and_reasons(files):
    result = volcano_lab_command("run", files / "cluster.yaml")
    assert (result.returncode, result.stderr) == (0, "")
    lines = [line.rstrip() for line in result.stdout.splitlines()]
    row = next(line for line in lines if line.startswith("a ")).split()
    assert row == ["a", "2", "1", "no", "cpu", "10", "28", "50", "28", "80", "16", "12"]
    assert next(line for line in lines if line.startswith("default/a-gang  a")).split()[-1] == "4"
    assert "default/a-gang waits (4 of 4 pods):" in lines
    assert "NotEnoughResources: 1/4 tasks in gang unschedulable" in result.stdout
    assert max(map(len, lines)) <= 120


def test_run_as_json(files):
    result = volcano_lab_command("run", "-", "--output", "json", input=(files / "cluster.yaml").read_text())
    told = json.loads(result.stdout)
    assert result.returncode == 0 and told["queueOrder"] == ["b", "c", "a"]
    assert {row["queue"]: row["deserved"]["cpu"] for row in told["queues"]} == {"a": 28, "b": 42, "c": 30}
    assert len(told["placements"]) == 10 and told["leftOut"] == [] and told["warnings"] == []
    assert [row["phase"] for row in told["jobs"] if row["job"] == "default/a-gang"] == ["Inqueue"]


def test_warnings_go_to_the_error_output(files):
    result = volcano_lab_command("run", files / "unknown.yaml", "--conf", files / "odd.conf", "--output", "json")
    assert result.returncode == 0 and json.loads(result.stdout)
    assert "spec.tains is not known and has no effect; did you mean taints?" in result.stderr
    assert "plugins" in result.stderr


MISTAKES = [
    (["run", "none.yaml"], "none.yaml: there is no such file or directory"),
    (["run", "wrong.yaml"], "spec.taints is 5; allowed is a list"),
    (["run", "cluster.yaml", "--conf", "none.conf"], "none.conf: cannot be read (No such file or directory)"),
    (["run", "cluster.yaml", "--conf", "wrong.conf"], 'wrong.conf: scheduler configuration: actions names "alocate"'),
    (["replay", "none.jsonl"], "none.jsonl: cannot be read (No such file or directory)"),
    (["replay", "cluster.yaml"], "cluster.yaml: is not a file of cases; allowed is one JSON object a line"),
]


@pytest.mark.parametrize(("arguments", "sentence"), MISTAKES, ids=[row[1] for row in MISTAKES])
def test_a_mistake_is_a_sentence_and_exit_code_2(arguments, sentence, files, monkeypatch, capsys):
    monkeypatch.chdir(files)
    assert main(arguments) == 2
    told = capsys.readouterr()
    assert told.out == "" and sentence in told.err and "Traceback" not in told.err and told.err.count("\n") == 1


def test_help_and_version():
    assert volcano_lab_command("--version").stdout.strip() == f"volcano-lab {volcano_lab.__version__}"
    told = volcano_lab_command("--help").stdout
    assert all(word in told for word in ("run", "replay", "lab"))
    assert [volcano_lab_command(*arguments).returncode for arguments in ([], ["runn"], ["run"])] == [2, 2, 2]


def test_replay_goes_on_after_a_case_that_raises(files, tmp_path, capsys):
    good = (files / "case.json").read_text()
    broken = json.dumps({"name": "two", "family": "f", "objects": [{"kind": "Node"}]})
    refused = json.dumps(json.loads(good) | {"name": "three", "conf": "actions: alocate"})
    path = tmp_path / "cases.jsonl.gz"
    with gzip.open(path, "wt") as out:
        out.write("\n".join([good, broken, refused, good]) + "\n")
    assert main(["replay", str(path)]) == 0
    told = capsys.readouterr()
    rows = [json.loads(line) for line in told.out.splitlines()]
    assert [row["name"] for row in rows] == ["one", "two", "three", "one"]
    assert [sorted(row.keys() & {"open", "error", "confError"}) for row in rows] == [
        ["open"], ["error"], ["confError"], ["open"]]
    assert "1 cases raised" in told.err


def test_replay_with_timing(files, capsys):
    assert main(["replay", str(files / "case.json"), "--timing"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert set(row) == {"name", "times", "statuses"} and {"open", "close", "cycle"} < set(row["times"])


def test_a_reader_that_stops_is_no_error():
    if not CASES.is_file():
        pytest.skip(f"{CASES.name} is not beside this repository")
    script = f"{sys.executable} -m volcano_lab.cli replay {CASES} | head -1"
    result = subprocess.run(["bash", "-o", "pipefail", "-c", script], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "") and json.loads(result.stdout)["name"]


def test_lab_finds_the_notebooks_or_says_where_they_are(tmp_path):
    assert find_lessons([tmp_path, ROOT]) == ROOT
    with pytest.raises(Mistake, match="come with a clone of the repository"):
        find_lessons([tmp_path])
    started = command(ROOT, ["--no-browser"])
    assert started[1:3] == ["-m", "jupyterlab"] and started[-1] == "--no-browser"
    assert f"--ServerApp.root_dir={ROOT}" in started
