"""What a change costs others, what it gives a job, and how many nodes of it are not for the job."""

from collections import Counter
from time import perf_counter
from types import SimpleNamespace

import pytest
from small_cluster import group, node, pod, queue

from volcano_lab import Cluster
from volcano_lab.api.objects import OwnerReference
from volcano_lab.changes import Change
from volcano_lab.explain import Explainer
from volcano_lab.explain.options import Rank
from volcano_lab.explain.outcome import Outcome
from volcano_lab.explain.price import Price, placed_before, price, surplus
from volcano_lab.explain.remedy import by_owner
from volcano_lab.explain.search import Search
from volcano_lab.explain.tries import ADMITTED, NOTHING, PLACED

ALLOCATE = """
actions: "allocate"
tiers: [{plugins: [{name: gang}, {name: predicates}]}]
"""


def session(least=1, priority=0, new=0, **jobs):
    """Ten CPUs; jobs of four pods of one CPU, of which some are placed, and a job `new` of two."""
    cluster = Cluster().node("n1", cpu=10)
    for name, placed in jobs.items():
        cluster.job(name, pods=4, cpu=1, min_member=least,
                    running={"n1": placed} if placed else None)
    cluster.job("new", pods=2, cpu=1, running={"n1": new} if new else None)
    ssn = Explainer(cluster.objects(), 'actions: "backfill"').session
    for name in jobs:
        ssn.jobs[f"default/{name}"].priority = priority
    return ssn


ROWS = [  # placed before and after, evicted, fewest, minimum, priority -> what it is said to lose
    ((4, 4), 0, 4, 1, 0, {}),
    ((4, 2), 0, 2, 1, 0, {"fewer": {"default/x": (2, 4)}, "share": 0.2}),
    ((4, 0), 0, 0, 1, 0, {"waits": ["default/x"], "share": 0.4}),
    ((2, 4), 0, 2, 1, 0, {"own": 0.4}),
    ((4, 4), 1, 3, 1, 0, {"evicts": {"default/x": 1}, "share": 0.1}),
    ((4, 4), 1, 3, 1, 1, {"evicts": {"default/x": 1}, "share": 0.1, "higher": ["default/x"]}),
    ((4, 4), 1, 3, 3, 0, {"evicts": {"default/x": 1}, "share": 0.1}),
    ((4, 4), 1, 2, 3, 0, {"evicts": {"default/x": 1}, "share": 0.4,
                          "breaks": {"default/x": (2, 3)}}),
    ((4, 4), 9, 2, 3, 0, {"evicts": {"default/x": 9}, "share": 0.4,
                          "breaks": {"default/x": (2, 3)}}),
    ((2, 2), 1, 1, 3, 0, {"evicts": {"default/x": 1}, "share": 0.1}),
    ((4, None), 0, 0, 1, 0, {"ends": {"default/x": 4}, "share": 0.4}),
    ((0, None), 0, 0, 1, 0, {}),
]


@pytest.mark.parametrize(("pods", "evicted", "fewest", "least", "priority", "said"), ROWS)
@pytest.mark.parametrize("anyway", [0, 2])
def test_what_a_change_costs_a_job(pods, evicted, fewest, least, priority, said, anyway):
    """Of the evictions only those that are more than without the change."""
    had, now = pods
    before = Outcome(last=session(least, priority, x=had), evicted=Counter({
        "default/x": anyway}), fewest={"default/x": had, "default/new": 0})
    after = Outcome(last=session(least, priority, new=2, **{} if now is None else {"x": now}),
                    evicted=Counter({"default/x": evicted + anyway}), fewest={
                        "default/x": fewest})
    found = price(before, after, placed_before(before.last), "default/new")
    wanted = {"evicts": {}, "ends": {}, "breaks": {}, "waits": [], "fewer": {}, "higher": [],
              "share": 0.0, "own": 0.2} | said
    assert {name: getattr(found, name) for name in wanted if name not in ("share", "own")} == {
        name: value for name, value in wanted.items() if name not in ("share", "own")}
    assert (found.share, found.own) == (pytest.approx(wanted["share"]), pytest.approx(
        wanted["own"]))


def test_what_only_jobs_lose_that_were_placed_in_the_cycle_itself_ends_nothing():
    before, after = Outcome(last=session(x=4)), Outcome(last=session())
    assert price(before, after, {}, "default/new").ends == {}
    assert price(before, after, {"default/x": 3}, "default/new").ends == {"default/x": 3}
    assert price(before, after, {"default/x": 9}).ends == {"default/x": 4}


@pytest.mark.parametrize(("facts", "dear"), [
    ({"share": 0.2, "own": 0.2}, 0), ({"share": 0.3, "own": 0.2}, 2), ({"surplus": 1}, 2),
    ({"higher": ["x"]}, 1), ({"torn": True}, 1), ({"breaks": {"x": (0, 2)}}, 0),
    ({"higher": ["x"], "share": 1.0}, 2), ({}, 0)])
def test_what_is_dear(facts, dear):
    assert Price(**facts).dear == dear


@pytest.mark.parametrize(("added", "used", "least", "more"), [
    (0, 0, 1, 0), (1, 1, 1, 0), (2, 1, 1, 0), (3, 1, 1, 2), (4, 2, 1, 0), (5, 2, 1, 3),
    (4, 0, 2, 0), (5, 0, 2, 3), (3, 0, 0, 3)])
def test_nodes_that_are_not_for_the_job(added, used, least, more):
    """More than twice as many as it is placed on; without a place on these, as its minimum."""
    before = SimpleNamespace(nodes={"n1": None})
    nodes = ["n1", *(f"more-{number}" for number in range(added))]
    job = SimpleNamespace(min_available=least, tasks={number: SimpleNamespace(
        node_name=name) for number, name in enumerate(["n1", *nodes[1:used + 1]])})
    assert surplus(before, SimpleNamespace(nodes=dict.fromkeys(nodes), jobs={"x": job}),
                   "x") == more


def asked(running, cpu=0, leaving=0, phase="Inqueue"):
    """The evidence of a job of four pods, of which some run, some of these leave, and others find
    some CPUs.
    """
    cluster = Cluster().node("n1", cpu=running + cpu).job(
        "new", pods=4, cpu=1, min_member=2, running={"n1": running} if running else None)
    objects, left = [], leaving
    for obj in cluster.objects():
        if obj.kind == "Pod" and obj.spec.node_name and left:
            obj, left = obj.changed(metadata={"deletion_timestamp": 1_800_000_000.0}), left - 1
        elif obj.kind == "PodGroup":
            obj = obj.changed(status={"phase": phase})
        objects.append(obj)
    return Explainer(objects, ALLOCATE if cpu else ALLOCATE.replace("allocate", "backfill"),
                     1_800_000_000.0).evidence


@pytest.mark.parametrize(("before", "after", "pod", "gives"), [
    ((0,), (0, 2), "", PLACED), ((0,), (0, 4), "", PLACED), ((0,), (0,), "", NOTHING),
    ((0,), (1,), "", NOTHING), ((2,), (2, 1), "", PLACED), ((2,), (2,), "", NOTHING),
    ((3,), (2,), "", NOTHING), ((2,), (3, 1, 1), "", NOTHING),
    ((2,), (3, 1, 1), "default/new-3", PLACED), ((2, 0, 1), (3, 1, 1), "", PLACED),
    ((0, 0, 0, "Pending"), (0,), "", ADMITTED),
    ((0, 0, 0, "Pending"), (0, 0, 0, "Pending"), "", NOTHING)])
def test_what_a_cycle_gives_a_job(before, after, pod, gives):
    """Its minimum and more than it had, or its pod; nothing where it loses pods of its own."""
    before, ssn = asked(*before), asked(*after).ssn
    search = Search(before, before.ssn.jobs["default/new"], pod, 1e18)
    assert search.gives(ssn) == gives and search.gives(None) == NOTHING
    del ssn.jobs["default/new"]
    assert search.gives(ssn) == NOTHING


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("lost", range(4))
def test_a_job_is_kept_where_it_loses_fewer_pods_and_none_for_ever(lost, again):
    seen = asked(2)
    search = Search(seen, seen.ssn.jobs["default/new"], "", 1e18, keep=True)
    search.base = SimpleNamespace(evicted={"default/new": 2})
    after = SimpleNamespace(evicted={"default/new": lost},
                            again={"default/new"} if again else {"default/old"})
    assert search._keeps(after) is (lost < 2 and not again)


@pytest.mark.parametrize(("cpu", "fields"), [
    (1, {"spec.worker.cores": "1", "spec.driver.cores": "1"}), (2, {"spec.worker.cores": "2"}),
    (4, {}), (5, {})])
def test_an_owner_has_to_ask_for_less_for_roles_whose_pods_request_more_than_before(
        cpu, fields, monkeypatch):
    seen = Explainer([node("n1", cpu="1"), queue(), group("a", minMember=2), *(
        pod(role, "a", role=role, requests={"cpu": cpus})
        for role, cpus in (("worker", "4"), ("driver", "2")))], ALLOCATE).evidence
    monkeypatch.setattr("volcano_lab.explain.remedy.sized_by", lambda seen, task, name: [
        ("Kind", f"spec.{task.task_role}.cores", "9")])
    found = by_owner(seen, seen.ssn.jobs["default/a"], Change((f"job/a.requests.cpu={cpu}",)))
    assert {each.facts["field"]: each.facts["after"] for each in found} == fields


CONF = """
actions: "enqueue, allocate, preempt"
tiers: [{plugins: [{name: priority}, {name: gang}, {name: predicates}, {name: proportion}]}]
"""
CLASSES = """
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: low}, value: 10}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 50}
"""


@pytest.mark.long
def test_whoever_is_outranked_with_a_change_has_no_higher_priority_in_it():
    """Only the pods of `j` have the class `high`; `x` of class `low` has the node."""
    cpus = {"cpu": "4"}
    cluster = Cluster([
        node("n1"), queue(), group("j"), group("x", priorityClassName="low"),
        pod("x-0", "x", "n1", "Running", requests=cpus, priority=10, priorityClassName="low"),
        pod("j-0", "j", requests=cpus, priority=50, priorityClassName="high")]).add(CLASSES)
    conf = CONF.replace("name: gang", "name: gang, enablePreemptable: false")
    found = [str(each) for each in Explainer(cluster.objects(), conf).why("j").remedies]
    assert [text for text in found if "evicts" in text] == [
        "job default/j: priorityClassName unset -> high (j is pipelined to n1; evicts 1 pod of x)"]


@pytest.mark.long
def test_another_queue_is_offered_once_and_with_its_cost():
    cluster = Cluster().node("n1", cpu=9).job("own", cpu=1, queue="a", running={"n1": 1})
    for name in ("a", "b", "c"):
        cluster.queue(name, capability={"cpu": "1"} if name == "a" else {"cpu": "8"})
    found = [str(each) for each in cluster.job("j", cpu=1, queue="a").explainer().why("j").remedies]
    assert [text for text in found if "in queue" in text] == [
        "job default/j: in queue any of 3: b, c, default (j is placed on n1; counts in the quota "
        "of that queue)"]


def test_the_first_line_says_how_the_tree_of_queues_is_broken():
    conf = CONF.replace("proportion", "capacity, enableHierarchy: true")
    cluster = Cluster().node("n1", cpu=4).queue("p", parent="root").queue("c", parent="p").queue(
        "o", parent="root").job("x", cpu=1, queue="p", running={"n1": 1}).job("j", cpu=1, queue="o")
    found = Explainer(cluster.objects(), conf).why("j")
    assert found.head.startswith(
        "j waits for admission: the tree of queues is broken, default/x is in p, which has ")
    assert {"job default/x: in queue any of 3: c, default, o", "delete job/default/x"} <= {
        each.change for each in found.remedies}


def test_a_pod_that_nothing_creates_again_ends_with_its_deletion():
    objects = Cluster().node("n1", cpu=4).job("small", cpu=1, running={"n1": 1}).job(
        "big", cpu=4).to_yaml().replace("nodeName: n1", "nodeName: n1\n  restartPolicy: Always")
    effects = {each.change: each.effect for each in Cluster().add(objects).why("big").remedies}
    assert effects["delete pod/default/small-0"] == "big is placed on n1; ends 1 pod of small"


AGAIN = "its 2 running pods end, and are created again with it; train is placed on n1"


@pytest.mark.parametrize(("kind", "version", "said"), [
    ("Job", "batch.volcano.sh/v1alpha1", f"5 ({AGAIN})"), ("PyTorchJob", "kubeflow.org/v1",
                                                            f"5 ({AGAIN})"),
    ("ReplicaSet", "apps/v1", "4 (train-w-2 is placed on n1)"),
    ("", "", "4 (its 2 running pods keep what they request; train-w-2 is placed on n1)"),
])
def test_a_smaller_request_counts_for_pods_that_run_where_all_are_created_again(
        kind, version, said):
    owner = [OwnerReference(version, kind, "train", "u", controller=True)] if kind else []
    owned = [obj.changed(metadata={"owner_references": owner}) for obj in (
        group("train", minMember=1), *(
            pod(f"train-w-{number}", "train", "n1" if number < 2 else "", requests={"cpu": "6"})
            for number in range(3)))]
    found = Cluster([node("n1", "16"), *owned]).why("train").remedies
    assert f"job default/train: request per pod cpu 6 -> {said}" in map(str, found)


def test_a_job_that_ends_leaves_its_podgroup_and_is_deleted_where_that_is_in_the_way():
    """Of an inner queue capacity counts the PodGroup, whatever became of its pods."""
    tree = ALLOCATE.replace('"allocate"', '"enqueue, allocate"').replace(
        "{name: predicates}", "{name: predicates}, {name: capacity, enableHierarchy: true}")
    cluster = Cluster([
        node("n1", "4"), queue("root"), queue("up", parent="root"), queue("down", parent="up"),
        group("stray", "up", "Running"), pod("stray-0", "stray", "n1", requests={"cpu": "1"}),
        group("new", "down", "Pending", minResources={"cpu": "1"})])
    explain, change = cluster.explainer(tree), Change(removals=("podgroup/default/stray",))
    search = Search(explain.evidence, explain.session.jobs["default/new"], "", perf_counter() + 60)
    assert search.judged(change, Rank.WAIT) is None
    assert str(search.judged(change, Rank.OTHERS)).startswith("delete job/default/stray (")
    ended = Cluster([node("n1", "4"), group("old", phase="Running"), pod(
        "old-0", "old", "n1", requests={"cpu": "4"}), group("new"), pod(
        "new-0", "new", requests={"cpu": "4"})]).why("new").remedies
    assert "wait for the end of default/old (new is placed on n1)" in map(str, ended)


@pytest.mark.long
@pytest.mark.parametrize(("kind", "said"), [
    ("ReplicaSet", "; created again, 1 of these waits"),
    ("Pod", "; a pod without a controller is not created again"),
    ("", "")])
def test_what_becomes_of_an_evicted_pod_is_a_part_of_the_price(kind, said):
    owner = f", ownerReferences: [{{kind: {kind}, name: web, controller: true}}]" * bool(kind)
    web = f"""
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {{name: web, namespace: default{owner}}}
spec: {{minMember: 1, queue: b}}
status: {{phase: Running}}
""" + "".join(f"""---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: default, annotations: {{scheduling.k8s.io/group-name: web}}}}
spec: {{schedulerName: volcano, nodeName: n1, containers: [
  {{name: c, image: i, resources: {{requests: {{cpu: 2}}}}}}]}}
status: {{phase: Running}}
""" for name in ("web-1", "web-2"))
    cluster = Cluster().queue("a").queue("b").node("n1", cpu=4).add(web)
    found = cluster.job("new", queue="a", cpu=2).why("new", conf="""
actions: "allocate, backfill"
tiers: [{plugins: [{name: gang}, {name: predicates}, {name: proportion}]}]
""")
    effects = [each.effect for each in found.remedies if each.change == "actions with reclaim"]
    assert effects == [f"new is pipelined to n1; evicts 1 pod of web{said}"]
