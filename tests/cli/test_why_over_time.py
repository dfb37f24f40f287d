"""`volcano-lab why` at a cycle: of a simulation, of a recording, of lives that were recorded."""

import json
import re
from pathlib import Path

import pytest
import yaml

from volcano_lab.cli import main
from volcano_lab.cluster import Cluster
from volcano_lab.manifests.writer import to_dict

ROOT = Path(__file__).parents[2]
CONF = 'actions: "allocate, reclaim"\ntiers: [{plugins: [{name: gang}, {name: capacity}]}]'


def objects(cluster):
    return [to_dict(obj) for obj in cluster.objects()]


def written(path, documents, form=yaml.safe_dump_all):
    path.write_text(form(documents) if form is yaml.safe_dump_all else "\n".join(
        map(json.dumps, documents)))
    return str(path)


@pytest.fixture
def loop(tmp_path):
    cluster = (Cluster().node("n1", cpu=4).queue("a", deserved={"cpu": 3}, priority=10)
               .queue("b", deserved={"cpu": 2})
               .job("web", queue="a", pods=2, cpu=2, min_member=1, running={"n1": 2})
               .job("train", queue="b", pods=1, cpu=2))
    (tmp_path / "conf").write_text(CONF)
    return [written(tmp_path / "loop.yaml", objects(cluster)), "--conf", str(tmp_path / "conf")]


@pytest.mark.long
def test_why_at_a_cycle_of_a_simulation_shows_the_loop_and_what_ends_it(loop, capsys):
    file, *conf = loop
    assert main(["why", file, "web", *conf, "--cycle", "12", "--seconds", "600"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Evicted 4 times (web-0 in cycles 1, 7, web-1 in cycles 4, 10), each time for train" in (
        out)
    assert "CYCLES PHASE PENDING BOUND RUNNING LEAVING WHAT 1 Running 0 0 1 1 web-0 is evicted" in (
        out)
    assert "queue a: priority 10 -> 0 web loses 1 pod instead of 12" in out


@pytest.mark.long
def test_all_and_json_and_a_node_at_a_cycle(loop, capsys):
    file, *conf = loop
    assert main(["why", file, "train", *conf, "--cycle", "3", "--no-remedies", "-o", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [row["cycles"] for row in data["cycles"]] == ["1-3"]
    assert main(["why", file, "train-0", *conf, "--cycle", "3", "--node", "n1"]) == 0
    assert main(["why", file, "--all", *conf, "--cycle", "2"]) == 0
    assert "leaving. Bound in the next cycle" in capsys.readouterr().out


def waiting():
    return objects(Cluster().node("n1", cpu=4).job("a", pods=2, cpu=2).job("b", pods=2, cpu=2))


def gone(pods, **meta):
    return [pod | {"metadata": pod["metadata"] | meta} for pod in pods]


@pytest.mark.long
@pytest.mark.parametrize("events", [False, True])
def test_a_recording_of_watched_objects_is_a_life(tmp_path, capsys, events):
    """As `kubectl get -w -o yaml` prints them: bare, or with what happened to each."""
    start = waiting()
    pods = [obj for obj in start if obj["kind"] == "Pod" and obj["metadata"]["name"][0] == "a"]
    if events:
        shown = [{"type": "ADDED", "object": obj} for obj in start]
        shown += [{"type": "DELETED", "object": pod} for pod in pods]
    else:
        shown = [{"kind": "List", "apiVersion": "v1", "items": start}, *gone(
            pods, deletionTimestamp="2026-01-01T00:00:09Z", deletionGracePeriodSeconds=0)]
    path = written(tmp_path / "watch.yaml", shown)
    (tmp_path / "conf").write_text("actions: allocate")
    conf = ["--conf", str(tmp_path / "conf"), "--no-remedies"]
    assert main(["why", "b", "--life", path, "--cycle", "1", *conf]) == 0
    assert "0 of 2 pods placed" in " ".join(capsys.readouterr().out.split())
    assert main(["why", "b", "--life", path, *conf]) == 0
    assert "2 of 2 pods placed" in " ".join(capsys.readouterr().out.split())
    assert main(["replay", "--life", path]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


@pytest.mark.long
def test_a_recording_of_one_cycle_has_its_last_one(tmp_path, capsys):
    path = written(tmp_path / "watch.yaml", waiting())
    for cycle in ([], ["--cycle", "1"]):
        assert main(["why", "b", "--life", path, "--no-remedies", "-o", "json", *cycle]) == 0
        assert [row["cycles"] for row in json.loads(capsys.readouterr().out)["cycles"]] == ["1"]
    assert main(["why", "b", "--life", path, "--cycle", "2"]) == 2
    assert "there is no cycle 2; allowed is one of the 1" in capsys.readouterr().err


@pytest.mark.parametrize("cycle", [[], ["--cycle", "1"]])
def test_a_recording_without_a_cycle_has_not_even_the_first_one(cycle, tmp_path, capsys):
    assert main(["why", "b", "--life", written(tmp_path / "watch.yaml", []), *cycle]) == 2
    assert "watch.yaml: there is no cycle; allowed is at least one object" in (
        capsys.readouterr().err)


def test_a_recording_goes_on_from_files(tmp_path, capsys):
    start = waiting()
    file = written(tmp_path / "start.yaml", start)
    path = written(tmp_path / "watch.yaml", [obj for obj in start if obj["kind"] == "Node"] * 2)
    assert main(["why", file, "a", "--life", path]) == 0
    assert "1-2 " in capsys.readouterr().out


@pytest.mark.long
def test_recorded_lives_are_asked_by_line(tmp_path, capsys):
    case = {"conf": "actions: allocate", "objects": waiting()}
    names = ("c0", "c1", "d0")
    cases = written(tmp_path / "cases.jsonl", [case | {"name": name} for name in names], None)
    rows = written(tmp_path / "events", [{"name": name, "reset": name.endswith("0"), "events": []}
                                         for name in names], None)
    for line, cycles in (("1", "1"), ("2", "1-2"), ("3", "1")):
        assert main(["why", cases, "a", "--life", rows, "--cycle", line, "-o", "json"]) == 0
        assert [row["cycles"] for row in json.loads(capsys.readouterr().out)["cycles"]] == [cycles]
    assert main(["why", cases, "a", "--life", rows, "--cycle", "4"]) == 2
    assert "there is no cycle 4; allowed is one of the 3 that it has" in capsys.readouterr().err


@pytest.mark.parametrize(("words", "sentence"), [
    (["why", "a", "--life", "none"], "none: there is no such file"),
    (["why", "none.yaml", "a", "--cycle", "2"], "none.yaml: there is no such file"),
    (["why", "none.jsonl", "a", "--life", "none"], "none.jsonl: cannot be read"),
    (["why", "none.yaml", "a", "--cycle", "0"], "--cycle"),
    (["why", "none.yaml", "a", "--life", "a.jsonl", "--now", "13:00"],
     "a recording has the times of its cycles"),
    (["why", "a", "--cycle", "1"], "kubectl")])
def test_what_cannot_be_asked_is_one_sentence(words, sentence, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    said = capsys.readouterr().err.strip()
    assert sentence in said and "\n" not in said


@pytest.mark.long
def test_the_example_of_the_documentation_runs(monkeypatch):
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs" / "over-time.md").read_text(encoding="utf-8")
    (example,), names = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S), {}
    exec(example, names)
    assert names["timeline"].cycles == 20 and len(names["timeline"].evictions) == 6
