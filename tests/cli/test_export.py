"""A cluster written for others decides the same when it is read again, also with other names."""

import io
import json
import re

import pytest
from exports import EXPORTS
from recorded_cases import HERE

from volcano_lab.cli import main
from volcano_lab.cli.replay import read_cases, replay
from volcano_lab.cluster import Cluster
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.manifests.conf import scheduler_conf_of
from volcano_lab.manifests.export import anonymised, as_case, as_manifests
from volcano_lab.manifests.loader import from_dict, load, loads
from volcano_lab.manifests.writer import to_dict

SOME = [case for number, case in enumerate(read_cases(HERE / "dev-cases.jsonl.gz"))
        if number % 40 == 7]


def objects_of(case):
    return [from_dict(obj) for obj in case["objects"]]


@pytest.mark.long
@pytest.mark.parametrize("case", SOME, ids=[case["name"] for case in SOME])
def test_manifests_lose_nothing(case):
    for form in ("yaml", "json"):
        again = loads(as_manifests(objects_of(case), form))
        assert replay(case | {"objects": [to_dict(obj) for obj in again]}) == replay(case)


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
    assert (owner.kind, owner.name) == ("ReplicaSet", "sd1-sd2")


def test_a_case_decides_the_same():
    case = json.loads(as_case(scene().objects()))
    assert replay(case)["steps"][1]["committed"] == scene().run().committed


FAR_FROM_THE_OLD = """
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {kubernetes.io/hostname: n1}},
 status: {allocatable: {cpu: 4, pods: 9}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: old, namespace: secret-team, labels: {app: x}},
 spec: {nodeName: n1, containers: [{name: c}]}, status: {phase: Running}}
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: default}
spec:
  schedulerName: volcano
  containers: [{name: c, resources: {requests: {cpu: 1}}}]
  affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {labelSelector: {matchLabels: {app: x}}, namespaces: [secret-team],
         topologyKey: kubernetes.io/hostname}
"""
"""A pod that may not be beside one of another namespace."""


def test_a_namespace_in_a_term_is_the_namespace():
    objects = loads(FAR_FROM_THE_OLD)
    hidden = anonymised(objects)
    assert Cluster(objects).run().committed == Cluster(hidden).run().committed == []
    assert "secret" not in as_manifests(hidden)


@pytest.mark.parametrize("given", ["ConfigMap", "--conf"])
@pytest.mark.parametrize("form", ["yaml", "json", "case"])
def test_the_scheduler_s_configuration_is_written_too(tmp_path, capsys, given, form):
    conf = ("# of the secret team\nactions: allocate\ntiers:\n- plugins:\n  - name: tdm\n    "
            "arguments: {tdm.revocable-zone.secret: '10:00-11:00'}\n")
    manifests, other = tmp_path / "cluster.yaml", tmp_path / "scheduler.conf"
    other.write_text(conf)
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "secret"},
                  "data": {"volcano-scheduler.conf": conf}}
    manifests.write_text(scene().to_yaml() + (
        f"---\n{json.dumps(config_map)}" if given == "ConfigMap" else ""))
    more = ["--conf", str(other)] if given == "--conf" else []
    assert main(["export", str(manifests), "--anonymise", "-o", form, *more]) == 0
    text = capsys.readouterr().out
    found = json.loads(text)["conf"] if form == "case" else scheduler_conf_of(loads(text))
    plugin, = load_conf(found).tiers[0].plugins
    assert list(plugin.arguments.values()) == ["10:00-11:00"] and "secret" not in text


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
    shown = " ".join(capsys.readouterr().out.split())
    for sentence in ("there are no Nodes", "there is no ConfigMap",
                     "Queue secret-queue: it is named"):
        assert f"missing: {sentence}" in shown
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


def test_a_capture_without_the_pods_of_the_system_is_not_whole():
    cluster = Cluster(EXPORTS["kind"]())
    assert not [shown for shown in cluster.missing() if "kube-system" in shown]
    partly = Cluster(obj for obj in cluster.others if obj.namespace != "kube-system")
    assert [shown for shown in partly.missing() if "kube-system" in shown]
    assert not [shown for shown in Cluster().node("n1", cpu=1).missing() if "kube-system" in shown]


@pytest.mark.parametrize(("phase", "shown"), [("Running", 1), ("Succeeded", 0), ("Failed", 0)])
def test_a_pod_that_has_ended_does_not_need_its_node(phase, shown):
    cluster = Cluster().node("n1", cpu=1).add(
        "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, "
        f"spec: {{nodeName: gone}}, status: {{phase: {phase}}}}}")
    assert len([sentence for sentence in cluster.missing() if "gone" in sentence]) == shown
