"""For which jobs resources are kept, and which promises hold."""

import pytest
from small_cluster import NOW, conf, group, node, pod, queue

from explain.test_exports import GROUP, JOB, NODE
from volcano_lab import loads
from volcano_lab.cluster import Cluster
from volcano_lab.explain import Explainer
from volcano_lab.manifests.defaults import with_defaults

TREE = conf("gang", "predicates", "{name: capacity, enableHierarchy: true}",
            actions="enqueue, allocate, reclaim")
CONF = """\
actions: "enqueue, allocate%s"
tiers:
- plugins: [{name: priority}, {name: gang%s}]
- plugins: [{name: overcommit}, {name: drf}, {name: predicates}, {name: %s}, {name: nodeorder}]
"""
PROPORTION, CAPACITY = CONF % ("", "", "proportion"), CONF % ("", "", "capacity")
APART = """\
{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup,
 metadata: {name: high, namespace: default}, spec: {minMember: 1, priorityClassName: high},
 status: {phase: Inqueue}}
---
apiVersion: v1
kind: Pod
metadata:
  {name: high-0, namespace: default, annotations: {scheduling.k8s.io/group-name: high}}
spec:
  schedulerName: volcano
  priority: 100
  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
    {labelSelector: {matchLabels: {app: serve}}, topologyKey: kubernetes.io/hostname}]}}
  containers: [{name: c, resources: {requests: {cpu: 1}}}]
status: {phase: Pending}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 100}
"""


def test_a_node_has_resources_that_no_queue_can_use():
    cluster = Cluster().node("n1", cpu=9, gpu=3).queue("a").queue("b")
    cluster.job("one", queue="a", cpu=1, gpu=2).job("two", queue="b", cpu=1, gpu=2)
    text = Explainer(cluster.objects(), PROPORTION).why("one").text
    assert ("A node has free resources, but one more pod exceeds what each queue deserves: "
            "b (deserves nvidia.com/gpu 1.5, has 0 so far).") in text
    assert "kept for" not in text
    cluster.job("small", queue="b", cpu=1, gpu=1)
    text = Explainer(cluster.objects(), PROPORTION.replace("{name: overcommit}, ", "")).why(
        "one").text
    assert "one more pod exceeds" not in text


def test_nothing_is_kept_for_others_where_the_own_capability_is_the_limit():
    cluster = Cluster().node("n1", cpu=100).queue("own", capability={"cpu": 8}).queue("etl")
    cluster.job("big", queue="etl", pods=40, min_member=10, cpu=2, running={"n1": 20})
    cluster.job("held", queue="own", cpu=8, running={"n1": 1}).job("new", queue="own", cpu=4)
    conf = PROPORTION.replace("enqueue, ", "")
    text = Explainer(cluster.objects(), conf).why("new").text
    assert "its capability" in text and "kept for" not in text and "no queue can" not in text


def test_places_that_a_gang_gave_back_are_not_held_by_it():
    cluster = Cluster().node("n1", cpu=8).job("old", cpu=3, running={"n1": 1})
    found = Explainer(cluster.job("new", pods=2, cpu=4).objects(), PROPORTION.replace(
        "enqueue, ", "").replace("{name: proportion}, ", "")).why("new")
    held = next(cause for cause in found.causes if cause.code == "held_by")
    assert held.text == "Holders of cpu: default/old 3." and held.numbers["holders"] == [
        "default/old"]


def test_a_promise_that_allocate_refuses_in_every_cycle_is_never_kept():
    cluster = Cluster()
    for name in ("n1", "n2"):
        cluster.node(name, cpu=8).job(f"low-{name}", cpu=1, running={name: 1},
                                      labels={"app": "serve"})
    explain = Explainer(cluster.add(APART).objects(), CONF % (
        ", preempt", ", enablePreemptable: false", "proportion"))
    found = explain.why("high")
    assert found.codes == ["never_bound"]
    assert "Each cycle pipelines" in found.text and "refuses" in found.text
    assert "anti-affinity" in found.text and "default/low-n" in found.text
    assert "volcano-sh/volcano#2976" in found.text
    assert [(group.code, group.jobs) for group in explain.waiting()] == [
        ("never_bound", ["default/high"])]
    assert next(iter(explain._shown())).startswith("1 of 3 jobs wait")


def test_pods_of_its_own_job_are_no_defect_of_preempt():
    """Its anti-affinity excludes its own pod, which no action evicts for it."""
    own = APART.replace("name: high-0, ", "name: high-0, labels: {app: serve}, ")
    there = own.split("---")[1].replace("high-0", "high-1").replace(
        "phase: Pending", "phase: Running").replace("scheduler", "nodeName: n1\n  scheduler")
    both = own.replace("minMember: 1", "minMember: 2").replace("Inqueue", "Unknown") + "---" + there
    cluster = Cluster().node("n1", cpu=8).add(both).job("low", cpu=1, running={"n1": 1})
    found = Explainer(cluster.objects(), CONF % (
        ", preempt", ", enablePreemptable: false", "proportion")).why("high")
    assert found.codes == ["never_bound"] and "#2976" not in found.text


def test_a_promise_for_which_a_pod_leaves_is_kept():
    cluster = Cluster().node("n1", cpu=2).job("low", pods=2, min_member=1, cpu=1, running={"n1": 2})
    explain = Explainer(cluster.add(APART).objects(), CONF % (
        ", preempt", ", enablePreemptable: false", "proportion"))
    assert explain.why("high").codes == ["promised"]
    assert [(group.code, group.jobs) for group in explain.waiting()] == [
        ("promised", ["default/high"])]


def filled(text, **fields):
    for name, value in {"NAME": "train", "MIN": "4", "PODS": "4", "CPU": "1", "ALL": "4",
                        "JOBPHASE": "Pending", "PHASE": "Pending", **fields}.items():
        text = text.replace(name, value)
    return text


def test_a_queue_without_requests_says_what_it_may_hold_and_who_waits_in_it():
    queue = ("{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: test}, "
             "spec: {capability: {cpu: 2}}, status: {state: Open}}\n---\n")
    text = NODE + queue + filled(JOB + GROUP).replace("queue: default", "queue: test")
    explain = Explainer(with_defaults(loads(text)), PROPORTION)
    said = explain.why("queue/test").text
    assert "limit 2;" in said and "limit nothing" not in said
    assert "Waiting in it: default/train (no pods yet, Pending)" in said


def test_jobs_whose_pods_are_not_created_yet_are_counted():
    explain = Explainer(with_defaults(loads(NODE + filled(JOB + GROUP, ALL="40"))), PROPORTION)
    assert [group.jobs for group in explain.waiting()] == [["default/train"]]
    title, job = explain._shown()
    assert title == "1 of 1 jobs waits." and job.startswith("default/train: ")


def test_jobs_that_the_shares_of_two_queues_refuse_are_two_groups():
    cluster = Cluster().node("n1", cpu=8)
    for name in "ab":
        cluster.queue(name).job(f"old-{name}", queue=name, cpu=1, pods=3, running={"n1": 3})
        cluster.job(f"new-{name}", queue=name, cpu=2, pods=1).job(
            f"next-{name}", queue=name, cpu=2, pods=1)
    conf = {"actions": "allocate", "tiers": [{"plugins": [
        {"name": "proportion"}, {"name": "predicates"}]}]}
    waiting = cluster.explainer(conf=conf).waiting()
    assert [(group.code, group.jobs) for group in waiting] == [
        ("over_deserved", ["default/new-a", "default/next-a"]),
        ("over_deserved", ["default/new-b", "default/next-b"])]


HELM = """\
actions: "allocate, reclaim"
tiers:
- plugins: [{name: priority}, {name: gang, enablePreemptable: false}, {name: conformance}]
- plugins: [{name: drf, enablePreemptable: false}, {name: predicates}, {name: capacity}]
"""


@pytest.mark.parametrize(("least", "stops"), [(2, False), (3, True)])
def test_a_switch_that_is_off_says_where_it_would_stop(least, stops):
    cluster = Cluster().node("n1", cpu=8).queue("a", deserved=4).queue("b", deserved=2)
    cluster.job("old", queue="b", pods=4, min_member=1, cpu=2, running={"n1": 4}).job(
        "new", queue="a", pods=least, cpu=2)
    text = Explainer(cluster.objects(), CAPACITY.replace("enqueue, ", "")).why("new").text
    assert "Queue b holds cpu 8, deserved 2: no reclaim action is configured." in text
    assert ("reclaim alone would stop short of it: queue a would hold cpu 6, deserved 4."
            in text) is stops


@pytest.mark.long
def test_a_dimension_that_deserved_does_not_name_is_said_with_the_pair_that_ends_the_loop():
    cluster = Cluster().node("n1", cpu=8, gpu=4).queue("b", deserved={"nvidia.com/gpu": 2}).queue(
        "v", deserved={"nvidia.com/gpu": 2})
    cluster.job("old", queue="b", pods=4, min_member=1, cpu=2, running={"n1": 4}).job(
        "new", queue="v", cpu=2)
    found = Explainer(cluster.objects(), HELM).why("new")
    assert "(queue v: cpu 0 allocated, 0 deserved). The deserved of queue v names no cpu" in (
        found.text)
    assert "both: queue b: deserved cpu 0 -> 6; queue v: deserved cpu 0 -> 2" in [
        each.change for each in found.remedies]


def test_what_its_queue_deserves_is_given_back_before_others_end():
    """By what keeps reclaim off, where it gives no more than that."""
    cluster = Cluster().queue("prod", deserved={"nvidia.com/gpu": 24}).queue(
        "research", deserved={"nvidia.com/gpu": 8}, reclaimable=False)
    for number in range(4):
        cluster.node(f"n{number}", cpu=32, gpu=8)
    cluster.job("serve", queue="prod", cpu=1, gpu=8, running={"n0": 1})
    cluster.job("runs", queue="research", pods=3, min_member=1, cpu=1, gpu=8, running={
        f"n{number}": 1 for number in (1, 2, 3)}).job("train", queue="prod", cpu=1, gpu=8)
    conf = CAPACITY.replace("{name: overcommit}, ", "")
    assert [each.change for each in cluster.why("train", conf=conf).remedies][:3] == [
        "both: actions with reclaim; queue research: reclaimable false -> true",
        "wait for the end of default/serve", "1 more node like n0"]


RECLAIM = """\
actions: "enqueue, allocate, reclaim"
tiers:
- plugins: [{name: priority}, {name: gang}]
- plugins: [{name: predicates}, {name: capacity}]
"""


def larger(least, deserved):
    """Two nodes, each full with one pod of queue b, and four small pods of queue a."""
    cluster = Cluster().node("n1", cpu=8).node("n2", cpu=8).queue(
        "a", deserved={"cpu": deserved}).queue("b", deserved={"cpu": 8})
    for number in (1, 2):
        cluster.job(f"old{number}", queue="b", cpu=8, running={f"n{number}": 1})
    return cluster.job("new", queue="a", pods=4, cpu=2, min_member=least)


@pytest.mark.long
def test_the_effect_of_a_change_is_that_of_the_cycles_that_follow():
    """Where a victim is larger than a pod, the others of the job are allocated what it leaves."""
    remedies = larger(1, 0).why("new", conf=RECLAIM).remedies
    assert [str(each) for each in remedies if "queue a" in each.change] == [
        "queue a: deserved cpu 0 -> 8 (new is placed on n1 after 2 cycles; evicts 1 pod of old1)"]
    found = larger(1, 8).why("new", conf=RECLAIM)
    assert "minimum of 1, and for no more" in found.text
    assert "is placed without a change in one of the next cycles." in found.head


@pytest.mark.parametrize(("own", "said"), [(8, True), (0, False)])
def test_reclaim_leaves_what_an_eviction_freed_of_a_node_without_further_candidates(own, said):
    cluster = larger(2, own)
    text = cluster.why("new", conf=RECLAIM).text
    assert ("n1 would then have cpu 6 left, enough for the next one, but reclaim looks only at "
            "nodes with running pods of other queues" in text) is said


@pytest.mark.long
def test_a_pod_that_others_are_evicted_for_has_why_and_a_change_that_evicts_none():
    """What its queue is owed, what becomes of the victim's job, and a higher limit above it."""
    sizes = {"p": {"capability": "8", "deserved": "8"}, "a": {"deserved": "4"},
             "b": {"deserved": "4"}}
    tree = [queue("root"), *(queue(name, parent="p" if name != "p" else "root", **{
        field: {"cpu": cpu, "memory": "64Gi"} for field, cpu in fields.items()})
        for name, fields in sizes.items())]
    found = Explainer([
        *tree, *[node(name, cpu="8", memory="64Gi") for name in ("n1", "n2")], group("old", "b"),
        *[pod(f"old-{n}", "old", "n1", requests={"cpu": "4"}) for n in (0, 1)],
        group("new", "a"), pod("new-0", "new", requests={"cpu": "4"})],
        RECLAIM.replace("{name: capacity}", "{name: capacity, enableHierarchy: true}"), NOW
    ).why("new")
    assert found.codes == ["promised"]
    assert ("Before this cycle queue a held less than it deserves, so reclaim may evict for it "
            "(queue a: cpu 0 allocated, 4 deserved; queue b: cpu 8 allocated, 4 deserved). "
            in found.text)
    assert "1 pod of default/old waits, with 1 placed and a minimum of 1." in found.text
    assert [str(each) for each in found.remedies] == [
        "queue p: capability cpu 8 -> 12 (old loses no pods)"]


@pytest.mark.parametrize(("nodes", "said"), [(2, True), (3, False)])
@pytest.mark.parametrize("runs", [0, 2])
def test_a_job_that_is_larger_than_the_cluster_is_never_whole_though_a_part_of_it_runs(
        nodes, said, runs):
    there = {"n1": runs} if runs else {}
    cluster = Cluster().job("big", pods=5, cpu=2, min_member=2, running=there)
    for number in range(nodes):
        cluster.node(f"n{number + 1}", cpu=4)
    cluster.job("old", pods=2, cpu=2, running={"n2": 2})
    assert ("All its 5 pods request cpu 10; all nodes together, even empty, have 8: they are never "
            "placed all at once." in cluster.why("big").text) is said


OWED = "Its guarantee is cpu 2, and it holds 0. Queue org, above it, holds cpu 6, limit 8. Beside "


@pytest.mark.parametrize(("field", "beside", "said"), [
    ("guarantee", {"deserved": {"cpu": "2"}}, OWED + "it, b holds cpu 6 and deserves 2. Waiting"),
    ("guarantee", {"deserved": {"cpu": "2"}, "reclaimable": False}, OWED +
     "it, b holds cpu 6 and deserves 2. reclaim evicts no pods of b (spec.reclaimable: false)."),
    ("guarantee", {"deserved": {"cpu": "6"}}, OWED + "it, b holds cpu 6 and deserves 6. reclaim "
     "evicts pods for it only of queues that hold more than they deserve."),
    ("deserved", {}, "It deserves cpu 2, and holds 0. Queue org, above it, holds cpu 6, limit 8.")])
def test_a_queue_says_what_it_is_owed_who_holds_that_and_what_would_seat_its_first_job(
        field, beside, said):
    owed = {"resource": {"cpu": "2"}} if field == "guarantee" else {"cpu": "2"}
    found = Cluster([
        node("n1", "10"), queue("root"), queue("org", parent="root", capability={"cpu": "8"}),
        queue("a", parent="org", **{field: owed}), queue("b", parent="org", **beside),
        group("old", "b", "Running"), *(pod(f"old-{n}", "old", "n1", requests={"cpu": "1"})
                                        for n in range(6)),
        group("new", "a", "Inqueue"), pod("new-0", "new", requests={"cpu": "3"}),
        group("other", "a", "Pending", minResources={"cpu": "3"})]).why(
        "queue/a", conf=TREE)
    assert "Its jobs without pods request cpu 3 (minResources), which is not in" in found.text
    assert said in found.text
    changes = [*map(str, found.remedies)]
    assert "queue org: capability cpu 8 -> 9 (new is placed on n1)" in changes
