"""Whatever form kubectl takes or prints is read: lists, streams, events, gzip, folders, globs."""

import gzip
import io
import json
import sys

import pytest

from volcano_lab.manifests.conf import scheduler_conf_of
from volcano_lab.manifests.loader import ManifestError, load, loads


def node(name, **more):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}} | more


def bare(name):
    """An item of a NodeList, which has no kind."""
    return {"metadata": {"name": name}}


def event(kind, obj):
    return json.dumps({"type": kind, "object": obj})


NODES = [node("a"), node("b")]
FORMS = [
    # (text, names of the nodes)
    ("a NodeList whose items have no kinds",
     json.dumps({"kind": "NodeList", "apiVersion": "v1", "items": [bare("a"), bare("b")]}), "ab"),
    ("such a list in a list", json.dumps({"kind": "List", "apiVersion": "v1", "items": [
        {"kind": "NodeList", "apiVersion": "v1", "items": [bare("a")]}, node("b")]}), "ab"),
    ("JSON after JSON", json.dumps(NODES[0]) + "\n" + json.dumps(NODES[1], indent=2), "ab"),
    ("JSON without a gap", json.dumps(NODES[0]) + json.dumps(NODES[1]), "ab"),
    ("JSON in YAML documents",
     "---\n" + json.dumps(NODES[0]) + "\n---\n" + json.dumps(NODES[1]), "ab"),
    ("a byte order mark before each", "\ufeff" + json.dumps(NODES[0]) + "\n---\n\ufeff" +
     json.dumps(NODES[1]), "ab"),
    ("lines of Windows", "apiVersion: v1\r\nkind: Node\r\nmetadata:\r\n  name: a\r\n", "a"),
    ("watch events", "\n".join([event("ADDED", NODES[0]), event("ADDED", NODES[1]),
                                event("DELETED", NODES[0]), event("BOOKMARK", node("x"))]), "b"),
    ("an object that is modified and comes again", "".join([
        event("ADDED", NODES[0]), event("MODIFIED", NODES[0] | {"spec": {"unschedulable": True}}),
        event("DELETED", NODES[0]), event("ADDED", NODES[1]), event("ADDED", NODES[0])]), "ba"),
    ("generateName", json.dumps([{"apiVersion": "v1", "kind": "Node",
                                  "metadata": {"generateName": "n-"}}] * 2), None),
]


@pytest.mark.parametrize(("text", "names"), [case[1:] for case in FORMS],
                         ids=[case[0] for case in FORMS])
def test_objects_are_read_in(text, names):
    for loaded in (loads(text), load(io.StringIO(text)), load(io.BytesIO(text.encode())),
                   load(io.BytesIO(gzip.compress(text.encode())))):
        found = [obj.name for obj in loaded]
        assert found == list(names) if names else (
            len(set(found)) == 2 and all(name.startswith("n-") for name in found))


def test_the_last_event_counts():
    text = event("ADDED", NODES[0]) + event(
        "MODIFIED", NODES[0] | {"spec": {"unschedulable": True}})
    assert loads(text)[0].spec.unschedulable


def test_generated_names_are_the_same_in_each_run_and_differ_in_one():
    text = json.dumps(
        [{"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "p-" * 40}}] * 9)
    names = [pod.name for pod in loads(text)]
    assert names == [pod.name for pod in loads(text)] and len(set(names)) == 9
    assert {len(name) for name in names} == {63}


@pytest.fixture
def tree(tmp_path):
    """Folders with a node in each file."""
    (tmp_path / "below" / "deep").mkdir(parents=True)
    for number, name in enumerate(["b.yaml", "a.json", "below/c.yml", "below/deep/d.yaml"]):
        (tmp_path / name).write_text(json.dumps(node(f"n{number}")))
    (tmp_path / "e.yaml.gz").write_bytes(gzip.compress(json.dumps(node("n4")).encode()))
    (tmp_path / "notes.txt").write_text("no manifest")
    return tmp_path


def names(*sources, **options):
    return [obj.name for obj in load(*sources, **options)]


def test_folders_globs_and_gzip(tree):
    assert names(tree) == ["n1", "n0", "n4"]
    assert names(tree, recursive=True) == ["n1", "n0", "n2", "n3", "n4"]
    assert names(str(tree / "*.yaml")) == ["n0"]
    assert names(str(tree / "**" / "*.y*ml")) == ["n0", "n2", "n3"]
    assert names(str(tree / "bel*")) == ["n2"]
    assert names(tree / "b.yaml", str(tree / "*.yaml")) == ["n0"], "one file is read once"
    with pytest.raises(ManifestError, match=r"x\*: there is no such file or directory"):
        load(str(tree / "x*"))


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(node("a")).encode())))
    assert names("-") == ["a"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe")))
    with pytest.raises(ManifestError, match="cannot be read \\(not UTF-8 text\\)"):
        load("-")


CONF = 'actions: "enqueue, allocate"\n'


def config_map(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def test_the_schedulers_configuration_is_found_among_the_objects():
    export = {"kind": "List", "apiVersion": "v1", "items": [
        node("a"), config_map("kube-root-ca.crt", **{"ca.crt": "secret"}),
        config_map("volcano-scheduler-configmap", **{"volcano-scheduler.conf": CONF})]}
    loaded = loads(json.dumps(export))
    assert scheduler_conf_of(loaded) == CONF and "secret" not in repr(loaded)
    assert [*map(str, loaded.warnings)] == [
        "ConfigMap kube-root-ca.crt (text, document 1, item 2): kind ConfigMap is not read and has "
        "no effect, unless it holds a scheduler's configuration"]
    assert scheduler_conf_of(loads(json.dumps(node("a")))) is None


def test_two_configurations_that_differ_are_one_sentence():
    one = config_map("a", **{"volcano-scheduler.conf": CONF})
    same = config_map("b", **{"volcano-scheduler.conf": CONF})
    other = config_map("c", **{"volcano-scheduler.conf": "actions: allocate"})
    assert scheduler_conf_of(loads(json.dumps([one, same]))) == CONF
    with pytest.raises(ManifestError, match=r"ConfigMap a, .* and ConfigMap c, .* differ"):
        scheduler_conf_of(loads(json.dumps([one, other])))


def test_what_may_not_be_shown_is_forgotten():
    text = json.dumps([
        node("a", status={"images": [{"names": ["registry.example/private:1"]}]}),
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"},
         "data": {"key": "hidden"}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "annotations": {
            "kubectl.kubernetes.io/last-applied-configuration": "hidden"}},
         "spec": {"containers": [{"name": "c", "image": "registry.example/private:1",
                                  "env": [{"name": "TOKEN", "value": "hidden"}]}]}}])
    loaded = loads(text)
    assert len(loaded) == 2 and not any(word in repr(loaded) + repr([*map(str, loaded.warnings)])
                                        for word in ("hidden", "private", "TOKEN"))


@pytest.mark.parametrize(("metadata", "cut"), [
    ({"continue": "eyJ2", "remainingItemCount": 3}, True),
    ({"continue": ""}, False),
    (None, False),
], ids=["cut", "whole", "no metadata"])
def test_a_list_that_the_api_server_has_cut_off_is_warned_of(metadata, cut):
    loaded = loads(json.dumps({"kind": "NodeList", "apiVersion": "v1", "metadata": metadata,
                               "items": [bare("a")]}))
    assert [obj.name for obj in loaded] == ["a"]
    assert [*map(str, loaded.warnings)] == [
        "NodeList (text, document 1): is only the first part of the list (metadata.continue is "
        "set); ask for it without a limit, or add the rest"] * cut
