"""Warnings are messages until they are printed: in the language that is asked for then."""

import json

import pytest
from commands import volcano_lab_command

from volcano_lab import Cluster
from volcano_lab.manifests.loader import ManifestError, loads
from volcano_lab.messages import Message, parts, speaking

GIVEN = """
apiVersion: v1
kind: Node
metadata: {name: n1, uid: u}
spec: {taints: [{key: a}], podCIDRs: 5, zone: 1}
status: {allocatable: {cpu: "4", pods: 9}}
---
{apiVersion: v1, kind: Secret, metadata: {name: s}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {template: {spec: {
  schedulerName: volcano, priorityClassName: high, containers: [{name: c}]}}}}
"""
CONF = ("actions: allocate, enqueue\ntiers: [{plugins: [{name: gnag}, {name: binpack, arguments: "
        "{a: 1}}]}]")


@pytest.fixture(scope="module")
def warnings():
    """What reading and a cycle warn of, read in English."""
    cluster = Cluster(conf=CONF).add(GIVEN).queue("a", capability=2, deserved=3)
    return cluster.warnings(cluster.run()) + cluster.admit(refuse=False)


def test_warnings_that_were_read_in_english_are_printed_in_chinese(warnings):
    assert len(warnings) > 6 and {*map(type, warnings)} == {Message}
    for each in warnings:
        english, chinese = str(each), each.text("zh")
        assert any("\u4e00" <= sign <= "\u9fff" for sign in chinese), (english, chinese)
        assert {part.code for part in parts(each)} and english.isascii()


def test_an_error_keeps_its_messages():
    with pytest.raises(ManifestError) as refused:
        loads("{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {unschedulable: 5}}")
    assert refused.value.problems == [
        "Node n1 (text, document 1): spec.unschedulable is 5; allowed is true or false"]
    (said,) = refused.value.found
    assert [part.code for part in parts(said)] == [
        "problem", "place.of", "place.document", "schema.misfit", "allowed.switch"]
    with speaking("zh"):
        assert str(said).endswith("true 或 false") and "true or false" in str(refused.value)


@pytest.mark.long
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_warning_that_the_answer_repeats_is_left_out(tmp_path, language):
    (tmp_path / "x.yaml").write_text(GIVEN)
    words = ("why", tmp_path / "x.yaml", "j", "--lang", language)
    result = volcano_lab_command(*words)
    repeated = Message("not_created.priority", count=1, pods=1, classes=["high"]).text(language)
    assert "".join(repeated.split()) in "".join(result.stdout.split())
    assert repeated not in result.stderr and "Secret s" in result.stderr
    data = json.loads(volcano_lab_command(*words, "-o", "json").stdout)
    assert any(repeated in each for each in data["warnings"])
