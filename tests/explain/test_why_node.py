"""What is said of a node: what it has left, and what keeps the pods that wait off it."""

import pytest
from hyper_scene import gang, hyper_node, two_tiers
from own_plugins import CONF, Answers
from small_cluster import conf, group, node, pod, queue

from volcano_lab import Cluster
from volcano_lab.api.objects import OwnerReference
from volcano_lab.explain import Explainer
from volcano_lab.framework.registry import registered
from volcano_lab.manifests.loader import from_dict


def cluster():
    """Three nodes, of which n2 is cordoned; jobs that wait for a larger node and for quota."""
    built = Cluster().node("n1", cpu=8).node("n2", cpu=8).queue("small", capability={"cpu": 1}).job(
        "runs", cpu=2, pods=3, running={"n1": 3})
    built.job("large", cpu=9).job("larger", cpu=10).job("more", queue="small", cpu=2)
    objects = [obj.changed(spec={"unschedulable": True}) if obj.key == "n2" else
               obj.changed(status={"phase": "Inqueue"}) if obj.kind == "PodGroup" else obj
               for obj in built.objects()]
    return Cluster(objects)


@pytest.mark.parametrize("name", ["node/n1", "no/n1", "nodes/n1"])
def test_what_a_node_has_left_and_who_is_on_it(name):
    found = cluster().why(name)
    assert found.about == "node n1"
    assert found.head.startswith("Node n1 has cpu 2 left of 8; 3 pods are on it.")
    assert found.head.endswith("On it: default/runs (3 pods).")


def test_each_reason_that_keeps_pods_off_a_node_is_one_cause_with_its_jobs():
    found = cluster().why("node/n1")
    assert found.codes == ["insufficient", "node_fits"]
    assert [cause.text for cause in found.causes] == [
        "Pod default/large-0 requests cpu 9; node n1 had 2 left. The same holds for 1 more "
        "job: default/larger.",
        "Node n1 could take pod default/more-0, which waits for quota: queue small is cpu 1 "
        "short."]
    cordoned = cluster().why("node/n2")
    assert cordoned.head == "Node n2 has cpu 8 left of 8; 0 pods are on it."
    assert "cordoned" in cordoned.text


def test_jobs_that_wait_for_quota_of_different_queues_are_distinguished():
    built = cluster().queue("other", capability={"cpu": 1})
    for number in range(2):
        built.job(f"twin-{number}", queue="other", cpu=2)
    found = Cluster([obj.changed(status={"phase": "Inqueue"}) if obj.kind == "PodGroup" else obj
                     for obj in built.objects()]).why("node/n1")
    assert [cause.text for cause in found.causes if cause.code == "node_fits"] == [
        "Node n1 could take pod default/twin-0-0, which waits for quota: queue other is cpu 1 "
        "short. The same holds for 1 more job: default/twin-1.",
        "Node n1 could take pod default/more-0, which waits for quota: queue small is cpu 1 "
        "short."]


def test_a_node_without_pods_that_wait():
    found = Cluster().node("n1", cpu=4).why("node/n1")
    assert found.codes == ["no_pod_waits"] and not found.remedies


def test_a_node_that_does_not_exist_names_those_that_do():
    with pytest.raises(LookupError, match='no node is called "n9"; near it are n1, n2'):
        cluster().why("node/n9")
    with pytest.raises(LookupError, match='"n1" is a node'):
        cluster().why("n1")  # may be the name of a pod


def test_a_queue_above_its_limit_says_that_none_is_evicted_for_it():
    built = Cluster().node("n1", cpu=8).queue("a", capability={"cpu": 2})
    lowered = built.copy().job("old", queue="a", cpu=1, pods=3, running={"n1": 3})
    assert ("Queue a holds more than its limit: cpu 3, limit 2. Limits are compared when jobs are "
            "admitted") in lowered.why("queue/a").text.replace("\n    ", " ")
    kept = built.job("old", queue="a", cpu=1, pods=2, running={"n1": 2})
    assert lowered.why("old").codes == ["queue_above_limit"]
    assert all("queue_above_limit" not in kept.why(name).codes for name in ("queue/a", "old"))


@pytest.mark.parametrize("pattern, said", [("n1", "It is in no HyperNode, as is 1 other node"),
                                           ("n[123]", ""), ("", "")])
def test_a_node_in_no_hyper_node_is_reported(pattern, said):
    built = cluster().node("n3", cpu=1)
    if pattern:
        built.add("{apiVersion: topology.volcano.sh/v1alpha1, kind: HyperNode, "
                  "metadata: {name: s}, spec: {tier: 1, members: [{type: Node, selector: "
                  f'{{regexMatch: {{pattern: "^{pattern}$"}}}}}}]}}}}')
    head = built.why("node/n2").head
    assert (said in head) and ("HyperNode" in head) == bool(said)


@pytest.mark.long
def test_a_change_without_effect_says_what_keeps_pods_off_the_nodes_that_it_adds():
    cluster = Cluster().node("n1", cpu=4).queue("full", capability={"cpu": 1}).job("web", cpu=6)
    for name in ("a", "b"):
        cluster.job(name, queue="full", cpu=2)
    tainted = ("{apiVersion: v1, kind: Node, metadata: {name: new}, spec: {taints: [{key: x, "
               "effect: NoSchedule}]}, status: {allocatable: {cpu: 16, pods: 9}}}")
    found = str(cluster.what_if(add=tainted))
    assert "No pod is placed on the added node new. " in found
    assert "Node new cannot take pod default/a-0: a taint that the pod does not tolerate" in found
    assert "The same holds for 2 more jobs: default/b, default/web." in found
    assert "3 jobs wait as before, the first of them for this: a waits for quota: queue" in str(
        cluster.what_if("queue/full.reclaimable=false"))
    assert "wait as before" not in str(cluster.what_if("queue/full.capability.cpu=9"))


def test_a_node_says_for_what_jobs_without_pods_wait():
    cluster = Cluster().node("n1", cpu=4).queue("full", capability={"cpu": 1}).add("""\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: later, namespace: a}
spec: {minMember: 1, queue: full, minResources: {cpu: 2}}
status: {phase: Pending}
""")
    assert ("Job a/later has no pods yet and waits for quota: queue full is cpu 1 short."
            in cluster.why("node/n1").text)


@pytest.mark.parametrize(("point", "scores"), [
    ("node_order", lambda task, node: 10.0 / (1 + len(node.tasks))),
    ("batch_node_order", lambda task, nodes: {
        node.name: 10.0 / (1 + len(node.tasks)) for node in nodes})])
def test_scores_of_a_plugin_that_is_asked_node_by_node(point, scores):
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=4).job("a", pods=2, cpu=1)
    with registered(plugin={"mine": Answers[point, scores]}):
        found = cluster.why("a-1", node="n1", conf=CONF.format(actions="enqueue, allocate"))
    assert "has the highest score, 10 (mine 10), before node n1 with 5 (mine 5)." in found.text


HARD = {"mode": "hard", "highestTierAllowed": 1}
RACKS = conf("gang", "predicates", "nodeorder", "network-topology-aware", actions="allocate")
KEPT = ("Node n2 is not in HyperNode s0, where pods of default/new are: its topology (hard, tier "
        "1) keeps pod default/new-1 there. The lowest HyperNode with both is top, of tier 2.")


def test_a_node_outside_the_hyper_node_of_the_placed_pods_is_said_to_be_excluded():
    """In both questions, with the changes of the job."""
    explain = Cluster([*two_tiers(), *gang("new", 2, HARD, ["n0"], cpu="3"), *gang(
        "old", 1, None, ["n1"], cpu="3")]).explainer(RACKS)
    found = explain.why_not("n2", "default/new-1")
    assert found.head == "Pod default/new-1 is not on node n2."
    assert found.causes[0].text == KEPT + (
        " Of the nodes of s0 (2), 2 have too little left for it: n0, n1, with pods of default/new, "
        "default/old.")
    assert "networkTopology.highestTierAllowed 1 -> 2" in str(found.remedies[0])
    assert KEPT in explain.why("node/n2").text
    assert "topology_outside" not in explain.why_not("n1", "default/new-1").codes
    assert KEPT.replace("new-1", "new-0") in explain.why_not("n2", "default/new-0").text


def test_a_hyper_node_that_was_chosen_in_this_cycle_and_a_node_in_none():
    explain = Cluster([*two_tiers(), node("out"), *gang("new", 2, HARD, cpu="2"), *gang(
        "large", 5, HARD, cpu="2")]).explainer(RACKS)
    here = explain.session.jobs[explain.names.find("new", "job")[1]].allocated_hyper_node
    for name in {"n0", "n2"} - explain.session.topology.node_names[here]:
        found = explain.why_not(name, "default/new-0")
        assert f"{here}, which was chosen for default/new in this cycle" in found.text
    assert "Node out is in no HyperNode up to tier 1" in explain.why_not(
        "out", "default/large-0").text


def test_scores_are_compared_within_the_hyper_node_that_was_searched_last():
    nodes = [each for each in two_tiers() if each.key not in ("n1", "n3")]
    found = Cluster([*nodes, *gang("new", 1, HARD, cpu="2")]).explainer(RACKS).why("default/new-0")
    assert "was the only node of HyperNode s" in found.text


def test_a_node_without_a_search_as_its_hyper_node_is_too_small_for_the_gang():
    objects = [*two_tiers(), *gang("new", 2, {"mode": "hard", "highestTierAllowed": 1}, cpu="3"),
               *gang("old", 2, None, ["n0", "n1"], cpu="4"), *gang("older", 2, None, [
                   "n2", "n3"], cpu="2")]
    found = Cluster(objects).explainer(RACKS).why_not("n2", "default/new-0")
    assert "but node" not in found.text and "fits_now" not in found.codes


@pytest.mark.long
def test_for_a_pod_no_other_pod_of_its_job_is_deleted():
    """It has the changes of its job."""
    explain = Cluster([*two_tiers(1, 1), node("out"), group("new", networkTopology=HARD), *gang(
        "new", 2, HARD, ["n0"], cpu="4")[1:]]).explainer(RACKS)
    of_job, of_pod = ([*map(str, explain.why(name).remedies)] for name in (
        "new", "default/new-1"))
    assert of_pod == of_job and not any("delete" in each for each in of_pod)


@pytest.mark.parametrize(("mode", "said"), [
    (None, "Its PodGroup has no networkTopology. Of its 2 pods h1, h2 take 8 each beside other"),
    ("soft", "networkTopology is soft, so plugin network-topology-aware only adds to the scores"),
    ("hard", "")])
@pytest.mark.parametrize(("more", "best", "second"), [
    ((), "node n2 has the highest score, ", "before node n1 with "),
    (("binpack",), "node n1 has the highest score, ", "before node n3 with ")])
def test_why_pods_that_run_are_apart(mode, said, more, best, second):
    """By the scores that nodes have for the pod in a cycle that places it, and the HyperNodes."""
    topology = {"networkTopology": {"mode": mode, "highestTierAllowed": 2}} if mode else {}
    parts = [(1, "h1", ["n1", "n2"], "Node"), (1, "h2", ["n3", "n4"], "Node"),
             (2, "top", ["h1", "h2"], "HyperNode")]
    explain = Explainer([
        queue(), *[node(f"n{n}", cpu="8", memory="64Gi") for n in (1, 2, 3, 4)],
        *[from_dict({"apiVersion": "topology.volcano.sh/v1alpha1", "kind": "HyperNode",
                     "metadata": {"name": name}, "spec": {"tier": tier, "members": [
                         {"type": kind, "selector": {"exactMatch": {"name": each}}}
                         for each in members]}}) for tier, name, members, kind in parts],
        group("new", minMember=2, phase="Running", **topology),
        pod("new-0", "new", "n1", requests={"cpu": "2"}),
        pod("new-1", "new", "n3", requests={"cpu": "2"})], conf(
            "gang", "predicates", "nodeorder", *more, "network-topology-aware"))
    for text in (explain.why("new").text, explain.why_not("n1", "new-1").text):
        assert ("Its pods are on 2 nodes (n1, n3), in h1 and h2: plugins score each node" in text
                and said in text) is bool(said)
    text = explain.why_not("n1", "new-1").text
    assert "Node n1 could take it now." in text and (
        "the scores if default/new-1 were placed now, beside the other pods") in text
    assert mode == "hard" or (best in text and second in text)


@pytest.mark.parametrize(("busy", "said", "offered"), [
    (("n2", "n4"), "n2 of h1 has cpu 0 left for a pod that requests 5; on it: default/old. n4 of "
     "h2 has cpu 0 left for a pod that requests 5; on it: default/old. Of its 2 pods h1, h2 take 1 "
     "each, h3 takes 2 beside", ["n5", "n6"]),
    (("n2", "n4", "n6"), "h1, h2, h3 take 1 each beside", [])])
def test_pods_that_run_apart_are_created_again_in_a_hyper_node_that_takes_all(busy, said, offered):
    owner = [OwnerReference("batch.volcano.sh/v1alpha1", "Job", "new", "u", controller=True)]
    job = from_dict({
        "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {
            "name": "new", "namespace": "default", "uid": "u"}, "spec": {
                "minAvailable": 2, "tasks": [{"name": "w", "replicas": 2, "template": {
                    "spec": {"containers": [{"name": "m", "resources": {
                        "requests": {"cpu": "5"}}}]}}}]},
        "status": {"state": {"phase": "Running"}}})
    own = [obj.changed(metadata={"owner_references": owner}) for obj in (
        group("new-u", minMember=2, phase="Running"),
        *(pod(f"new-w-{n}", "new-u", f"n{2 * n + 1}", requests={"cpu": "5"}) for n in (0, 1)))]
    found = Cluster([
        *[node(f"n{n}", cpu="8") for n in range(1, 7)],
        *[hyper_node(f"h{n}", 1, *(f"node:n{2 * n - m}" for m in (1, 0))) for n in (1, 2, 3)],
        group("old", phase="Running"), job, *own, *(pod(
            f"old-{name}", "old", name, requests={"cpu": "8"}) for name in busy)]).why(
        "new", conf=conf("gang", "predicates", "nodeorder", "network-topology-aware"))
    assert said in found.text
    assert [f"both: job default/new: networkTopology hard, highestTierAllowed 1; delete 2 pods of "
            f"default/new, which are created again (new is placed on {name}, {other})"
            for name, other in [offered] * bool(offered)] == [*map(str, found.remedies)]
    for remedy in found.remedies:
        assert remedy.kubectl[0].startswith("kubectl patch podgroup")
