"""Who is right to wait, for whom, and what users of Volcano asked about waiting jobs."""

import pytest

from explain.test_exports import asked, exported
from volcano_lab.cluster import Cluster
from volcano_lab.explain import Explainer

GROUP = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: %s, namespace: %s, ownerReferences: [{kind: ReplicaSet, name: %s}]}
spec: {minMember: 2}
status: {phase: Inqueue}
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: a, annotations: {scheduling.k8s.io/group-name: %s}%s}
spec: {schedulerName: %s, containers: [{name: c, resources: {requests: {cpu: 1}}}]%s}
status: {phase: %s}
"""


def waits(explanation):
    return [remedy for remedy in explanation.remedies if "wait for" in remedy.change]


def full(*, pods=2, queue="default", least=1):
    return Cluster().node("n1", cpu=4).queue("q").job(
        "old", queue=queue, pods=pods, min_member=least, cpu=4 // pods, running={"n1": pods})


@pytest.mark.parametrize(("cluster", "change"), [
    (full().job("new", cpu=2), "nothing is wrong: wait for the end of default/old"),
    (full(queue="q").job("new", cpu=2), "wait for the end of default/old"),  # reclaim is missing
    (full(pods=4).job("new", cpu=2), "nothing is wrong: wait for the end of default/old"),
])
def test_for_whom_a_job_waits_is_run(cluster, change):
    last = waits(Explainer(cluster.objects()).why("new"))
    assert [str(remedy) for remedy in last] == [f"{change} (new is placed on n1)"]


def test_something_is_wrong_where_a_less_important_job_has_the_room_or_a_node_has_too_much():
    low = Cluster().node("n1", cpu=4).job("old", cpu=4, running={"n1": 1}, priority=1).job(
        "new", cpu=2, priority=9)
    lost = Cluster().node("n1", cpu=3).job("old", cpu=4, running={"n1": 1}).job("new", cpu=2)
    for cluster in (low, lost):
        last = waits(Explainer(cluster.objects(), 'actions: "allocate"\ntiers: [{plugins: [{name: '
                                                  'gang}, {name: predicates}]}]').why("new"))
        assert [remedy.change for remedy in last] == ["wait for the end of default/old"]


def test_nobody_waits_for_jobs_that_wait_themselves_or_never_end():
    cluster = Cluster().node("n1", cpu=4)
    for name in "abc":
        cluster.job(name, pods=2, min_member=1, cpu=2, running={"n1": 1} if name < "c" else None)
    explanation = Explainer(cluster.objects()).why("a")
    assert "default/b 2 (1 of its pods without a place)" in explanation.text
    assert not waits(explanation)
    group = GROUP % ("web", "a", "web-1") + "---\n" + "---\n".join(
        POD % (f"web-{number}", "web", "", "volcano", ", nodeName: n1", "Running")
        for number in range(4))
    service = Cluster().node("n1", cpu=4).add(group).job("new", cpu=1)
    assert not waits(Explainer(service.objects()).why("new"))


def test_a_change_that_costs_the_job_pods_of_its_own_is_none():
    cluster = Cluster().node("n1", cpu=8).job("other", pods=2, cpu=2, running={"n1": 2}).job(
        "train", pods=6, min_member=2, cpu=2, running={"n1": 2})
    explanation = Explainer(cluster.objects(), """\
actions: "enqueue, allocate, preempt, backfill"
tiers: [{plugins: [{name: priority}, {name: gang}, {name: proportion}, {name: predicates}]}]
""").why("train")
    assert explanation.remedies
    assert not any("of train;" in remedy.effect or remedy.effect.endswith("of train")
                   for remedy in explanation.remedies)


def test_a_rollout_that_makes_fewer_pods_than_the_minimum_stands():
    objects = Cluster().node("n1", cpu=4).add(GROUP % ("new", "a", "web-2") + "---\n" + POD % (
        "web-x", "new", ", labels: {pod-template-hash: '2'}", "volcano", "", "Pending")).add(
        GROUP % ("old", "a", "web-1") + "---\n" + POD % (
            "web-y", "old", ", labels: {pod-template-hash: '1'}", "volcano", ", nodeName: n1",
            "Running")).objects()
    explanation = Explainer(objects).why("a/web-x")
    assert "gang_invalid" in explanation.codes and "maxSurge" in explanation.text


def test_who_got_the_room_that_a_gang_gave_back():
    cluster = Cluster().node("n1", cpu=4).job("big", pods=3, cpu=2, priority=9).job("small", cpu=2)
    assert "After that default/small got room there." in Explainer(
        cluster.objects(), """\
actions: "allocate"
tiers: [{plugins: [{name: priority}, {name: gang}, {name: predicates}]}]
""").why("big").text


@pytest.mark.parametrize(("deleted", "said"), [("2020-01-01T00:00:00Z", True), ("", False)])
def test_a_pod_that_should_have_ended_is_told(deleted, said):
    leaving = POD % ("gone", "old", f", deletionTimestamp: '{deleted or '2030-01-01T00:00:00Z'}'",
                     "volcano", ", nodeName: n1", "Running")
    cluster = Cluster().node("n1", cpu=1).add(
        (GROUP % ("old", "a", "old-1")).replace("minMember: 2", "minMember: 1") + "---\n"
        + leaving).job("new", cpu=1)
    explanation = Explainer(cluster.objects(), 'actions: "allocate"', 1_800_000_000).why("new")
    assert explanation.codes == ["promised"]
    assert ("should have ended by 2020-01-01 00:00 UTC" in explanation.text) == said


def test_a_pod_group_of_another_namespace_is_named():
    objects = Cluster().node("n1", cpu=4).add(GROUP % ("web", "b", "web-1")).add(
        POD % ("lonely", "web", "", "volcano", "", "Pending")).objects()
    assert Explainer(objects).why("a/lonely").text.endswith(
        "there is b/web, but pods and their PodGroup have to be in one namespace.")


def test_nodes_outside_of_all_hyper_nodes_are_named():
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=4).add(
        "{apiVersion: topology.volcano.sh/v1alpha1, kind: HyperNode, metadata: {name: s0}, spec: "
        "{tier: 1, members: [{type: Node, selector: {exactMatch: {name: n1}}}]}}").job(
        "new", pods=2, cpu=4, network_topology={"mode": "hard", "highestTierAllowed": 1})
    assert "In none of them: n2." in Explainer(cluster.objects(), """\
actions: "allocate"
tiers: [{plugins: [{name: gang}, {name: predicates}, {name: network-topology-aware}]}]
""").why("new").text


@pytest.mark.parametrize(("version", "told"), [("resourceVersion: '7', ", True), ("", False)])
def test_a_queue_that_nobody_has_opened_yet_is_told(version, told):
    queue = ("{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {" + version
             + "name: q}, spec: {weight: 1}}\n---\n")
    explanation = asked(queue, exported("new", 1, 9).replace(
        "queue: default", "queue: q")).why("new")
    assert ("here it is taken as Open" in explanation.text) == told
