"""A cluster written for others decides the same when it is read again, also with other names."""

import io
import json
import re

import pytest
from recorded_cases import HERE

from volcano_lab.cli import main
from volcano_lab.cli.replay import load_cache, read_cases, replay
from volcano_lab.cluster import Cluster
from volcano_lab.manifests.export import _names, anonymised, as_case, as_manifests, as_python
from volcano_lab.manifests.loader import from_dict, load, loads, to_dict

SOME = [case for number, case in enumerate(read_cases(HERE / "dev-cases.jsonl.gz"))
        if number % 40 == 7]


def objects_of(case):
    return [from_dict(obj) for obj in case["objects"]]


@pytest.mark.parametrize("case", SOME, ids=[case["name"] for case in SOME])
def test_manifests_lose_nothing(case):
    for form in ("yaml", "json"):
        again = loads(as_manifests(objects_of(case), form))
        assert replay(case | {"objects": [to_dict(obj) for obj in again]}) == replay(case)


@pytest.mark.parametrize("case", SOME, ids=[case["name"] for case in SOME])
def test_other_names_decide_the_same(case):
    objects = objects_of(case)
    names = _names([to_dict(obj) for obj in objects])
    other = case | {"objects": [to_dict(obj) for obj in anonymised(objects)]}
    before, after = replay(case), replay(other)
    assert load_cache(other).nodes.keys().isdisjoint(names.keys() - names.values())

    def told(decisions):
        words = json.dumps([decisions["steps"], decisions["close"]])
        return json.loads(re.sub(r"[A-Za-z0-9][-.A-Za-z0-9]*", lambda word: names.get(
            word[0], word[0]), words))

    if "confError" not in before:
        assert told(before) == [after["steps"], after["close"]]


def scene():
    cluster = Cluster().node("secret-host-1", cpu=4, labels={"team": "blue"}).queue("secret-queue")
    return cluster.job("secret-job", namespace="secret-ns", queue="secret-queue", pods=3, cpu=1,
                       labels={"owner": "alice"})


def test_no_name_of_ones_own_is_left():
    text = as_manifests(anonymised(scene().objects()))
    assert not re.findall("secret|alice|blue|owner:|team", text)
    assert len(Cluster(loads(text)).run().committed) == 3


def test_an_owner_that_is_no_object_is_called_by_its_kind():
    pod = loads("{apiVersion: v1, kind: Pod, metadata: {name: web-1, ownerReferences: [{kind: "
                "ReplicaSet, name: secret-set, uid: u, apiVersion: apps/v1, controller: true}]}}")
    owner, = anonymised(pod)[0].metadata.owner_references
    assert (owner.kind, owner.name) == ("ReplicaSet", "replicaset-1")


def test_python_and_case_decide_the_same(tmp_path):
    objects = scene().objects()
    here = {}
    exec(as_python(objects).replace("print(", "str("), here)
    assert here["cycle"].committed == scene().run().committed
    case = json.loads(as_case(objects))
    assert replay(case)["steps"][1]["committed"] == scene().run().committed


def test_the_command(tmp_path, capsys):
    path = tmp_path / "cluster.yaml"
    path.write_text(scene().to_yaml())
    assert main(["export", str(path), "-o", "json"]) == 0
    assert len(loads(capsys.readouterr().out)) == len(load(path))
    assert main(["export", str(path), "--anonymise"]) == 0
    assert "secret" not in capsys.readouterr().out
    assert main(["export", str(path), "-o", "case"]) == 0
    line = tmp_path / "case.jsonl"
    line.write_text(capsys.readouterr().out)
    assert main(["replay", str(line)]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "cluster"


def test_capture_prints_one_line_and_checks_what_came(tmp_path, capsys, monkeypatch):
    assert main(["capture"]) == 0
    line = capsys.readouterr().out
    assert line.count("\n") == 1 and "jobs.batch.volcano.sh" in line and "priorityclasses" in line
    assert "queues.scheduling.volcano.sh" in line and "volcano-scheduler-configmap" in line
    path = tmp_path / "cluster.yaml"
    path.write_text(scene().remove("secret-host-1").remove("secret-queue").to_yaml())
    assert main(["capture", str(path)]) == 1
    told = " ".join(capsys.readouterr().out.split())
    for sentence in ("there are no Nodes", "there is no ConfigMap",
                     "Queue secret-queue: it is named"):
        assert f"missing: {sentence}" in told
    whole = scene().to_yaml() + """---
{apiVersion: v1, kind: ConfigMap, metadata: {name: volcano-scheduler-configmap},
 data: {volcano-scheduler.conf: 'actions: allocate'}}
"""
    monkeypatch.setattr("sys.stdin", io.StringIO(whole))
    assert main(["capture", "-"]) == 0
    assert "missing" not in capsys.readouterr().out
    path.write_text(whole)
    assert main(["run", str(path), "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["placements"] != []
