"""What `why` offers, pasted into `what-if`, has the effect that was promised; changes and back."""

import json

import pytest

from volcano_lab.changes import Change
from volcano_lab.cli import main
from volcano_lab.cluster import Cluster
from volcano_lab.framework import load_conf
from volcano_lab.manifests.writer import dump

CONF = """actions: "enqueue, allocate, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}]
- plugins: [{name: overcommit}, {name: drf}, {name: predicates}, {name: proportion},
            {name: nodeorder}]
"""
TAINTED = """{apiVersion: v1, kind: Node, metadata: {name: n2},
 spec: {taints: [{key: team, value: a, effect: NoSchedule}]},
 status: {allocatable: {cpu: 16, pods: 110}}}"""
CORDONED = """{apiVersion: v1, kind: Node, metadata: {name: n2},
 spec: {unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]},
 status: {allocatable: {cpu: 16, pods: 110}}}"""


def cluster():
    return Cluster().node("n1", cpu=8, memory="32Gi")


SITUATIONS = {
    "capability": cluster().queue("a", capability={"cpu": 2}).job("x", queue="a", pods=3, cpu=1),
    "request": cluster().job("x", pods=2, cpu=5),
    "too large": cluster().job("x", cpu=20),
    "a GPU that is nowhere": cluster().job("x", cpu=1, gpu=1),
    "held": cluster().job("old", pods=6, cpu=1, running={"n1": 6}).job("x", pods=4, cpu=1),
    "tainted": cluster().add(TAINTED).job("x", cpu=12),
    "cordoned": cluster().add(CORDONED).job("x", cpu=12),
    "weights": cluster().queue("a").queue("b", weight=3).job("b", queue="b", pods=9, min_member=1,
                                                               cpu=1).job(
        "x", queue="a", pods=4, cpu=1)}


@pytest.mark.long
@pytest.mark.parametrize("situation", SITUATIONS)
def test_each_change_that_is_offered_holds_in_what_if(situation, tmp_path, capsys):
    (tmp_path / "conf").write_text(CONF)
    file = tmp_path / "cluster.yaml"
    file.write_text(dump(SITUATIONS[situation].objects()))
    more = ["--conf", str(tmp_path / "conf"), "-o", "json"]
    assert main(["why", str(file), "x", *more]) == 0
    remedies = json.loads(capsys.readouterr().out)["remedies"]
    assert remedies
    for remedy in remedies:
        assert remedy["args"] and remedy["job"] == "default/x", remedy["change"]
        assert main(["what-if", str(file), *remedy["args"], *more]) == 0
        rows = json.loads(capsys.readouterr().out)["jobs"]
        after = [row["placed"][1] for row in rows if row["job"] == "default/x"]
        assert after == [remedy["placed"]], (remedy["change"], remedy["args"])


@pytest.mark.long
@pytest.mark.parametrize("situation", SITUATIONS)
def test_each_change_that_is_offered_holds_in_python_and_in_a_sweep(situation):
    given = Cluster(SITUATIONS[situation].objects(), CONF)
    for remedy in given.why("x").remedies:
        change = remedy.tried
        found = given.what_if(*change.settings, remove=change.removals, add=change.added).after
        rows = [row["placed"] for row in found.jobs() if row["job"] == "default/x"]
        assert rows == [remedy.placed], change
        grid = {target: [text] for target, _, text in (each.partition("=")
                                                       for each in change.settings)}
        if grid and not change.removals and not change.added:
            swept = given.sweep(grid, ["job/x.placed"])
            assert [row["job/x.placed"] for row in swept.rows] == [remedy.placed], swept.failures


@pytest.mark.parametrize("setting", [
    "queue/a.weight=5", "queue/a.capability.cpu=4", "job/default/x.requests.cpu=500m",
    "job/default/x.minAvailable=2", "job/default/x.queue=default", "node/n1.unschedulable=true",
    'job/default/x.tolerations+=[{"key": "team", "operator": "Exists"}]', "node/n1.more=2",
    "conf/actions=allocate", "plugin/gang.enableJobStarving=false", "plugin/drf.tier=1",
    "plugin/overcommit.overcommit-factor=1.5", 'queue/new={"weight": 2}',
    "job/default/x.labels.team=b", "job/default/x.annotations.note=b", "job/default/x.pods=5",
    "job/default/x.nodeSelector.zone=b", "podgroup/default/x.minMember=1",
    "node/n1.labels.zone=b", "node/n1.taints+=[{key: a, effect: NoSchedule}]",
    "queue/a.labels.team=b", "queue/a.deserved={cpu: 1}"])
def test_each_setting_changes_something(setting):
    conf, made = load_conf(CONF), Change((setting,))
    before, _ = Change(("job/default/x.labels.team=a", "node/n1.labels.zone=a",
                        "queue/a.labels.team=a")).applied(cluster().queue(
        "a", capability={"cpu": 2}).job("x", queue="a", pods=3, cpu=1).objects(), conf)
    assert made.applied(before, conf) != (before, conf)


def test_what_is_removed_goes_with_what_it_has_created():
    before = cluster().job("x", pods=2, cpu=1).objects()
    conf, made = load_conf(CONF), Change(removals=("job/x",))
    objects, _ = made.applied(before, conf)
    assert len(objects) == len(before) - 3
    assert [obj for obj in objects if obj not in before] == []


@pytest.mark.long
def test_lines_that_can_be_pasted_are_printed_where_all_is_wanted(tmp_path, capsys):
    file = tmp_path / "cluster.yaml"
    file.write_text(dump(SITUATIONS["capability"].objects()))
    assert main(["why", str(file), "x", "-o", "wide"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert f"$ volcano-lab what-if {file} --set queue/a.capability.cpu=3" in lines
    patch = """'{"spec": {"capability": {"cpu": "3"}}}'"""
    assert f"$ kubectl patch queue a --type merge -p {patch}" in lines
    assert main(["why", str(file), "x"]) == 0
    assert "what-if" not in capsys.readouterr().out


@pytest.mark.long
def test_waiting_has_no_command_that_deletes():
    waits = [remedy for remedy in cluster().job("old", pods=6, cpu=1, running={"n1": 6}).job(
        "x", pods=4, cpu=1).why("x", conf=CONF).remedies if remedy.change.startswith("wait")]
    assert waits and all(remedy.kubectl == [] and remedy.args for remedy in waits)
