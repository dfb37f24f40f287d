"""Who is hurt by a change, some cycles on; jobs that wait for each other."""

import json
from collections import Counter
from itertools import product

import pytest

from volcano_lab.changes import Change
from volcano_lab.cli import main
from volcano_lab.cluster import Cluster
from volcano_lab.explain import Explainer
from volcano_lab.explain.outcome import Outcome
from volcano_lab.explain.price import price
from volcano_lab.manifests.writer import dump

CONF = """actions: "allocate, reclaim"
tiers: [{plugins: [{name: gang, enableReclaimable: false}, {name: predicates}, {name: proportion}]}]
"""


def held():
    """Queue a holds all, and reclaim takes a pod of a gang that needs all of its own."""
    return Cluster(conf=CONF.replace(", reclaim", "")).node("n1", cpu=8).queue("a").queue("b").job(
        "gang", queue="a", pods=8, cpu=1, running={"n1": 8}).job("new", queue="b", cpu=1)


def test_gangs_that_break_and_pods_that_go_are_named():
    found = held().what_if("conf/actions=allocate, reclaim")
    later = found.as_dict()["later"]
    assert later["evicts"] == {"default/gang": 1} and later["breaks"] == {"default/gang": [7, 8]}
    assert {row["job"]: row["later"] for row in found.as_dict()["jobs"]} == {
        "default/gang": [8, 7], "default/new": [0, 1]}
    said = " ".join(found._repr_mimebundle_()["text/plain"].split())
    assert "evicts 1 of 8 pods of gang, below its minimum of 8; 1 of 8 pods of gang waits" in said
    assert "驱逐" in found.in_language("zh")._repr_mimebundle_()["text/plain"]


@pytest.mark.long
def test_a_job_that_waits_longer_is_named():
    cluster = Cluster().node("n1", cpu=2).job("one", cpu=2).job("two", cpu=2)
    found = cluster.what_if("job/two.priority=9")
    assert found.as_dict()["later"] == {"waits": ["default/one"]}
    assert not cluster.what_if("node/n1.more=1").as_dict()["later"]


def test_later_cycles_are_not_run_for_what_is_only_asked_of_the_first():
    found = held().what_if("conf/actions=allocate, reclaim")
    assert not found.holds("new", "placed") and "later" not in vars(found)


def test_a_cluster_that_is_too_large_to_look_on_says_so(monkeypatch):
    monkeypatch.setattr("volcano_lab.explain.outcome.LARGE", 1)
    monkeypatch.setattr("volcano_lab.explain.price.SECONDS", -1.0)
    found = held().what_if("conf/actions=allocate, reclaim")
    assert not found.as_dict()["later"]
    assert "take too long in a cluster of this size" in found._repr_mimebundle_()["text/plain"]


@pytest.mark.long
def test_the_command_says_it_too(tmp_path, capsys):
    (tmp_path / "conf").write_text(held().conf)
    (tmp_path / "all.yaml").write_text(dump(held().objects()))
    args = ["what-if", str(tmp_path / "all.yaml"), "--conf", str(tmp_path / "conf"), "--set",
            "conf/actions=allocate, reclaim"]
    assert main([*args, "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["later"]["breaks"] == {"default/gang": [7, 8]}
    assert main([*args, "--lang", "zh"]) == 0
    assert "低于" in capsys.readouterr().out


HALVES = "actions: allocate\ntiers: [{plugins: [{name: gang}, {name: predicates}]}]"


def halves():
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=4)
    return cluster.job("p", pods=4, cpu=2, running={"n1": 2}).job("q", pods=4, cpu=2,
                                                                 running={"n2": 2})


@pytest.mark.long
def test_two_gangs_that_hold_what_the_other_lacks_are_said_to_wait_for_each_other():
    explain = Explainer(halves().objects(), HALVES)
    found = explain.why("p")
    assert found.head.startswith("p waits for resources: it and default/q wait for each other.")
    assert "default/p has 2 pods placed of 4; default/q has 2 pods placed of 4" in found.text
    assert "delete job/default/q" in [remedy.change for remedy in found.remedies]
    alone = Explainer(halves().objects()[:-5], HALVES)
    assert "each_other" not in alone.why("p").codes
    ended = Change(removals=("podgroup/default/q",)).applied(explain.objects, explain.conf)
    assert Explainer(*ended).why("p").codes == ["placed"]


@pytest.mark.parametrize(("required", "said"), [(("a", "b"), True), (("b", "b"), False)])
def test_pods_that_require_each_other_are_said_to(required, said):
    def pod(app, other):
        return f"""{{apiVersion: v1, kind: Pod, metadata: {{name: {app}, labels: {{app: {app}}}}},
          spec: {{schedulerName: volcano, containers: [{{name: c, image: i}}], affinity: {{
            podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{{labelSelector: {{
              matchLabels: {{app: {other}}}}}, topologyKey: kubernetes.io/hostname}}]}}}}}}}}"""

    cluster = Cluster().node("n1", cpu=4).add(pod("a", "b")).add(pod("b", required[0]))
    text = cluster.why("default/a").text
    assert ("default/b requires default/a in turn, so they wait for each other" in text) == said


DEPENDENT = """{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: dep}, spec: {
  minAvailable: 3, schedulerName: volcano, tasks: [
  {name: master, replicas: 2, minAvailable: 2, template: {spec: {containers: [{name: c,
   image: i, resources: {requests: {cpu: 1}}}]}}},
  {name: work, replicas: 2, minAvailable: 1, dependsOn: {name: [master]}, template: {spec: {
   containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}]}}"""


@pytest.mark.long
def test_a_minimum_that_counts_pods_of_dependent_tasks_is_said_to_wait_for_itself():
    found = Cluster().node("n1", cpu=8).add(DEPENDENT).why("dep")
    assert "These wait for each other: the gang for the pods of a task that depends" in found.text
    assert "job default/dep: minAvailable 3 -> 2" in [each.change for each in found.remedies]


@pytest.mark.parametrize("name, said", [
    ("podgroup-6b", "PodGroup podgroup-6b is gone, and the annotation "
                    "scheduling.k8s.io/group-name keeps the controller from creating another"),
    ("mine", "create PodGroup mine in namespace default; or remove the annotation")])
def test_a_pod_whose_pod_group_is_gone_is_reported_with_what_to_do(name, said):
    cluster = Cluster().node("n1", cpu=8).add(
        "{apiVersion: v1, kind: Pod, metadata: {name: sts-0, annotations: {"
        f"scheduling.k8s.io/group-name: {name}}}}}, spec: {{schedulerName: volcano, containers: "
        "[{name: c, image: i}]}}")
    assert said in cluster.why("sts-0").text


def test_the_label_that_a_topology_spread_lacks_is_named():
    cluster = Cluster().node("n1", cpu=8).add(
        "{apiVersion: v1, kind: Pod, metadata: {name: w, labels: {app: w}}, spec: {schedulerName: "
        "volcano, containers: [{name: c, image: i}], topologySpreadConstraints: [{maxSkew: 1, "
        "topologyKey: rack, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: "
        "w}}}]}}")
    assert "No node has the label rack." in cluster.why("w").text


def test_a_spread_by_a_label_that_nodes_have_otherwise_takes_that_label():
    cluster = Cluster()
    for zone in "ab":
        cluster.node(zone, cpu=8, labels={"failure-domain.beta.kubernetes.io/zone": zone})
    found = cluster.add(
        "{apiVersion: v1, kind: Pod, metadata: {name: w, labels: {app: w}}, spec: {schedulerName: "
        "volcano, containers: [{name: c, image: i}], topologySpreadConstraints: [{maxSkew: 1, "
        "topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, "
        "labelSelector: {matchLabels: {app: w}}}]}}").why("w")
    assert "the nearest label is failure-domain.beta.kubernetes.io/zone" in found.text
    assert [each.change.partition(": ")[2] for each in found.remedies] == [
        "topologySpreadConstraints[0].topologyKey topology.kubernetes.io/zone -> "
        "failure-domain.beta.kubernetes.io/zone",
        "whenUnsatisfiable ScheduleAnyway in its topology spread"]


@pytest.mark.long
def test_a_spread_that_counts_a_zone_of_tainted_nodes_is_to_leave_it_out():
    cluster = Cluster().node("n1", cpu=8, labels={"zone": "a"}).node(
        "n2", cpu=8, labels={"zone": "b"}).changed(
        "node/n2.taints=[{key: gpu, effect: NoSchedule}]")
    for name, node in {"w-0": "nodeName: n1, ", "w-1": ""}.items():
        cluster.add(
            f"{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, labels: {{app: w}}}}, spec: "
            f"{{schedulerName: volcano, {node}containers: [{{name: c, image: i}}], "
            "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: "
            "DoNotSchedule, labelSelector: {matchLabels: {app: w}}}]}}")
    first = next(iter(cluster.why("w-1").remedies))
    assert first.change.startswith("job default/w-1: nodeTaintsPolicy Honor in its topology spread")
    assert first.effect == "w-1 is placed on n1"


@pytest.mark.long
def test_a_job_that_loses_pods_is_reported_with_the_plugins_that_allowed_it():
    cluster = Cluster().node("n1", cpu=7).queue("a", deserved=4).queue("c", deserved=4)
    cluster.job("old", queue="c", pods=4, min_member=1, cpu=1, running={"n1": 4})
    cluster.job("own", queue="a", pods=3, cpu=1, running={"n1": 3}).job("new", queue="a", cpu=1)
    conf = """actions: "allocate, reclaim"
tiers: [{plugins: [{name: conformance}]}, {plugins: [{name: gang}, {name: capacity},
        {name: predicates}]}]"""
    for about in ("", "default/old"):
        found = Explainer(cluster.objects(), conf, about=about).why("old")
        assert "conformance of the deciding tier allowed it" in found.text
        assert "plugin capacity, which compares them, was not asked" in found.text
        assert "old loses no pods" in [each.effect.partition(";")[0] for each in found.remedies]


@pytest.mark.long
def test_what_is_evicted_again_and_again_without_the_change_is_not_named():
    assert not Cluster.read("docs/loop.yaml").what_if("queue/b.weight=2").as_dict()["later"]


@pytest.mark.parametrize("least", [1, 2])
def test_a_gang_breaks_that_had_its_minimum_and_would_have_kept_it(least):
    """Over all counts of pods: before any cycle, and the fewest without a change and with it."""
    cluster = Cluster().node("n1", cpu=9).job("gang", pods=4, cpu=1, min_member=least).job("a")
    ssn = cluster.run().session
    gang = "default/gang"
    for start, before, after, gone in product(range(4), repeat=4):
        found = price(Outcome(last=ssn, fewest={gang: before}), Outcome(
            last=ssn, fewest={gang: after}, evicted=Counter({gang: gone})), {gang: start})
        broken = gone and start >= least and before >= least and after < least
        assert found.breaks == ({gang: (after, least)} if broken else {})
        assert found.evicts == ({gang: gone} if gone else {})
