"""A live cluster without files: the real kubectl against a small API server."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from api_over_http import api_server, kubeconfig

from volcano_lab.cli import main
from volcano_lab.cluster import Cluster
from volcano_lab.manifests import events, live
from volcano_lab.manifests.loader import ManifestError, load, loads

CONF = """
apiVersion: v1
kind: ConfigMap
metadata: {name: volcano-scheduler-configmap, namespace: volcano-system}
data: {volcano-scheduler.conf: "actions: allocate\\ntiers: [{plugins: [{name: gang}]}]"}
"""
needs_kubectl = pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not here")


def scene(cpu=4):
    cluster = Cluster().node("n1", cpu=cpu).queue("team").job("train", queue="team", pods=2, cpu=1)
    return [*cluster.job("late", queue="team", cpu=4).objects(), *loads(CONF)]


@pytest.fixture
def clusters(tmp_path, monkeypatch):
    with api_server(scene(), ["HyperNode"]) as (url, asked), api_server(scene(8)) as (other, _):
        path = kubeconfig(tmp_path / "config", {"small": url, "large": other})
        monkeypatch.setenv("KUBECONFIG", str(path))
        monkeypatch.setenv("HOME", str(tmp_path))
        yield asked


@pytest.mark.long
@needs_kubectl
def test_a_live_cluster_is_the_cluster_of_its_export(clusters, tmp_path):
    found = Cluster.live()
    assert {(obj.kind, obj.key) for obj in found.others} == {(obj.kind, obj.key)
                                                            for obj in scene()}
    assert found.run().session.conf.actions == ["allocate"]
    assert Cluster.live("large").run().committed == Cluster(scene(8)).run().committed
    asked = [path.partition("?")[0] for path in clusters]
    assert not [path for path in asked if "secrets" in path or path.endswith("/configmaps")]


@pytest.mark.long
@needs_kubectl
@pytest.mark.parametrize(("context", "placed"), [([], 2), (["--context", "large"], 3)])
def test_commands_without_a_file_read_the_context(clusters, capsys, context, placed):
    assert main(["run", *context, "-o", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["placements"]) == placed
    assert main(["why", "train", "-n", "default", *context, "-o", "name"]) == 0
    assert capsys.readouterr().out == "job/default/train\n"
    assert main(["lint", *context]) == 0
    assert main(["what-if", *context, "--set", "queue/team.weight=2"]) == 0


@pytest.mark.long
@needs_kubectl
def test_the_line_that_capture_prints_brings_a_cluster_into_a_file(clusters, capsys, tmp_path,
                                                                  monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert subprocess.run(live.command_line(), shell=True, check=False).returncode == 0
    assert Cluster.read("cluster.json").run().committed == Cluster(scene()).run().committed


@pytest.mark.long
@needs_kubectl
@pytest.mark.parametrize(("words", "sentence"), [
    (["run", "--context", "none"], 'context "none" does not exist'),
    (["why", "nobody"], 'is called "nobody"')])
def test_what_a_live_cluster_has_not_is_one_sentence(clusters, capsys, words, sentence):
    assert main(words) == 2
    shown = capsys.readouterr().err.splitlines()
    assert sentence in shown[-1]


@pytest.mark.long
@needs_kubectl
def test_a_server_that_does_not_answer_is_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig(tmp_path / "c", {"x": "http://127.0.0.1:9"})))
    assert main(["run"]) == 2
    shown = capsys.readouterr().err
    assert "kubectl api-resources: " in shown and shown.count("\n") == 1


@pytest.mark.long
@needs_kubectl
def test_the_program_is_a_plugin_of_kubectl(clusters, tmp_path):
    plugin = Path(sys.executable).with_name("kubectl-volcano_lab")
    if not plugin.exists():
        pytest.skip("the package is installed without its programs")
    path = f"{plugin.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(["kubectl", "volcano-lab", "why", "train", "-o", "name"],
                          env=os.environ | {"PATH": path}, capture_output=True, text=True,
                          check=False)
    assert done.stdout == "job/default/train\n", done.stderr


def test_without_kubectl_a_sentence_says_what_is_allowed(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ManifestError, match="there is no kubectl"):
        Cluster.live()


@pytest.mark.parametrize(("prints", "sentence"), [
    ("E1130 memcache.go:265] couldn't get the list\nThe connection was refused\n \n",
     "kubectl version: The connection was refused"),
    ("", "kubectl version: ")])
def test_the_last_line_of_kubectl_is_the_problem(monkeypatch, tmp_path, prints, sentence):
    """Before it client-go logs what it tried."""
    program = tmp_path / "kubectl"
    program.write_text(f"#!/bin/sh\nprintf '%s' \"{prints}\" >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ManifestError, match=f"^{sentence}"):
        live.kubectl("version")


def event(reason, said):
    return {"apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": reason,
            "metadata": {"name": f"load.{reason}", "namespace": "a"}, "message": said,
            "involvedObject": {"kind": "Job", "namespace": "a", "name": "load"},
            "lastTimestamp": "2026-11-28T06:05:00Z"}


@pytest.mark.parametrize(("fields", "time"), [
    ({"lastTimestamp": "2026-11-28T06:05:00Z"}, "2026-11-28T06:05:00Z"),
    ({"eventTime": "2026-11-28T06:06:00Z"}, "2026-11-28T06:06:00Z"),
    ({"creationTimestamp": "2026-11-28T06:07:00Z"}, "2026-11-28T06:07:00Z"), ({}, "-")])
def test_an_event_without_its_last_time_is_as_old_as_it_is_known(fields, time):
    said = event("FailedCreate", "no")
    del said["lastTimestamp"]
    said["metadata"] |= {"creationTimestamp": fields.pop("creationTimestamp", None)}
    (found,) = events.reported(said | fields).values()
    assert found.facts["time"] == time


def test_of_warnings_one_without_a_time_is_the_earliest():
    early, late = (event("FailedCreate", said) for said in ("early", "late"))
    del early["lastTimestamp"]
    for order in ((early, late), (late, early)):
        found = loads(json.dumps({"apiVersion": "v1", "kind": "List", "items": order}))
        assert [each.facts["said"] for each in found.reports["a/load"]] == ["late"]


@pytest.mark.long
@needs_kubectl
def test_the_last_warning_of_a_controller_is_read_of_a_live_cluster(tmp_path, monkeypatch):
    refused = event("FailedCreate", 'pods "load-t-0" is forbidden')
    with api_server(scene(), events=[event("BackOff", "restarting"), refused]) as (url, _):
        path = kubeconfig(tmp_path / "config", {"small": url})
        monkeypatch.setenv("KUBECONFIG", str(path))
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.chdir(tmp_path)
        found = live.objects()
        assert subprocess.run(live.command_line(), shell=True, check=False).returncode == 0
    assert [*found.reports] == ["a/load"]
    assert not any("Event" in each for each in map(str, found.warnings))
    assert load("cluster.json").reports["a/load"] == found.reports["a/load"]
