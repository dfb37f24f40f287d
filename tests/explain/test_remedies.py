"""Changes that a maintainer would make: each kind is found where it helps, says what it costs
others, and holds when the cycle is run on it; senseless ones are never offered.
"""

from __future__ import annotations

import json
from itertools import product
from math import ceil, inf
from typing import ClassVar

import pytest
from recorded_cases import HERE, rows

from volcano_lab.cluster import Cluster
from volcano_lab.explain import Explainer, values
from volcano_lab.explain.candidates import Candidates, distinct
from volcano_lab.explain.configuration import keeping
from volcano_lab.explain.evidence import counts
from volcano_lab.explain.explanation import TABLES
from volcano_lab.explain.options import Rank, World
from volcano_lab.explain.outcome import Deadline, TooLate, run
from volcano_lab.explain.search import ABOUT
from volcano_lab.explain.tries import Trial
from volcano_lab.framework import joined
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.manifests import loader as manifests, verdicts
from volcano_lab.trace import Outline
from volcano_lab.trace.views.cycle import Cycle

NAMES = ("priority", "gang", "conformance", "overcommit", "drf", "predicates", "proportion")


def conf(*names, actions="enqueue, allocate, backfill", **switches):
    plugins = "".join(f"  - name: {name}\n" + "".join(
        f"    {switch}: {value}\n" for switch, value in switches.get(name, {}).items())
        for name in names or NAMES)
    return f'actions: "{actions}"\ntiers:\n- plugins:\n{plugins}'


ROLES = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: train, namespace: default}
spec: {minMember: 4, minTaskMember: {ps: 2, worker: 2}}
status: {phase: Inqueue}
---
apiVersion: v1
kind: Pod
metadata: {name: w-0, namespace: default, annotations: {
  scheduling.k8s.io/group-name: train, volcano.sh/task-spec: worker}}
spec: {schedulerName: volcano, containers: [{name: main, resources: {requests: {cpu: "1"}}}]}
""" + "".join(f"""\
---
apiVersion: v1
kind: Pod
metadata: {{name: w-{number}, namespace: default, annotations: {{
  scheduling.k8s.io/group-name: train, volcano.sh/task-spec: worker}}}}
spec: {{schedulerName: volcano, containers: [{{name: m, resources: {{requests: {{cpu: "1"}}}}}}]}}
""" for number in range(1, 4))
GROUP = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: q}
spec: {affinity: {nodeGroupAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [fast]}}}
"""


QUOTA = """\
apiVersion: v1
kind: ResourceQuota
metadata: {name: small, namespace: default}
spec: {hard: {requests.cpu: "4"}}
status: {hard: {requests.cpu: "4"}, used: {requests.cpu: "4"}}
"""
NEVER = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train}
spec:
  minAvailable: 1
  priorityClassName: high
  tasks:
  - {name: t, replicas: 1, template: {spec: {preemptionPolicy: Never, containers: [
      {name: main, resources: {requests: {cpu: "1"}}}]}}}
"""


def full(**classes):
    """All that the cluster has is held by job old, one pod of it beyond its minimum."""
    return Cluster().node("n1", cpu=4).node("n2", cpu=4).job(
        "old", pods=8, min_member=1, cpu=1, running={"n1": 4, "n2": 4}, **classes)


PRIORITIES = """\
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
"""
TAINTED = """\
apiVersion: v1
kind: Node
metadata: {name: n2}
spec: {taints: [{key: dedicated, value: gpu, effect: NoSchedule}]}
status: {allocatable: {cpu: "8", pods: "110"}}
"""
CORDONED = TAINTED.replace("taints: [{key: dedicated, value: gpu, effect: NoSchedule}]",
                           "unschedulable: true")
SELECTS = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train}
spec:
  minAvailable: 1
  tasks:
  - {name: t, replicas: 1, template: {spec: {nodeSelector: {zone: a}, containers: [
      {name: main, resources: {requests: {cpu: "2"}}}]}}}
"""


def ghosts(cluster, count, cpu, ended=False):
    for number in range(count):
        cluster.job(f"ghost-{number}", pods=2, cpu=cpu)
    objects = cluster.job("train", cpu=2).objects()
    for obj in objects:
        if obj.kind == "PodGroup" and obj.name.startswith("ghost"):
            obj.status.phase = "Inqueue"
        elif obj.kind == "Pod" and obj.name.startswith("ghost"):
            obj.status.phase = "Failed"
    return [obj for obj in objects if ended or obj.kind != "Pod" or not obj.name.startswith(
        "ghost")]


def in_queue(cluster, *names):
    objects = cluster.objects()
    for obj in objects:
        if obj.kind == "PodGroup" and obj.name in names:
            obj.status.phase = "Inqueue"
    return objects


def cordoned(*names):
    cluster = Cluster().node("n1", cpu=4)
    for name in names:
        cluster.add(json.dumps({
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
            "spec": {"unschedulable": True}, "status": {"allocatable": {"cpu": 4, "pods": 9}}}))
    return cluster


SCENES = {
    "ghosts": (lambda: ghosts(Cluster().node("n1", cpu=8), 3, 2), conf(),
               "delete 2 of the 3 PodGroups without pods (default/ghost-0, default/ghost-1)",
               "train is placed on n1"),
    "pods that have ended, whose PodGroups still reserve": (
        lambda: ghosts(Cluster().node("n1", cpu=8), 3, 2, ended=True), conf(),
        "delete job/default/ghost-0, job/default/ghost-1", "train is placed on n1"),
    "a reservation that never starts": (
        lambda: in_queue(Cluster().node("n1", cpu=8).job("big", pods=2, cpu=8).job("train", cpu=1),
                         "big"), conf(), "delete job/default/big", "train is placed on n1"),
    "enqueue stands before preempt": (
        lambda: full().add(PRIORITIES).job("train", cpu=2, priority=1000,
                                           priority_class="high").objects(),
        conf(actions="enqueue, allocate, preempt, backfill", drf={"enablePreemptable": "false"}),
        "actions without enqueue", "evicts 2 pods of old"),
    "no preempt": (
        lambda: full().add(PRIORITIES).job("train", cpu=2, priority=1000,
                                           priority_class="high").objects(),
        conf("priority", "gang", "predicates", actions="enqueue, allocate"),
        "actions with preempt", "train is pipelined to n1; evicts 2 pods of old"),
    "no reclaim": (
        lambda: full(queue="b").queue("a").queue("b").job("train", queue="a", cpu=1).objects(),
        conf("gang", "predicates", "proportion", actions="allocate"),
        "actions with reclaim", "train is pipelined to n1; evicts 1 pod of old"),
    "who came first": (
        lambda: in_queue(Cluster().node("n1", cpu=1).node("n2", cpu=1).job(
            "train", pods=2, cpu=1, running={"n1": 1}).job("filler", cpu=1), "train", "filler"),
        conf("gang", "drf", "predicates", gang={"enableJobOrder": "false"}),
        "enableJobOrder: false for drf", "train-1 is placed on n2; filler waits"),
    "a queue that is not reclaimable": (
        lambda: full(queue="b").queue("a").queue("b", reclaimable=False).job(
            "train", queue="a", cpu=1).objects(),
        conf("gang", "predicates", "proportion", actions="allocate, reclaim"),
        "queue b: reclaimable false -> true", "evicts 1 pod of old"),
    "a taint": (lambda: Cluster().add(TAINTED).job("train", cpu=2).objects(),
                conf("gang", "predicates"),
                "job default/train: with a toleration of dedicated:NoSchedule",
                "train is placed on n2"),
    "a cordon": (lambda: Cluster().add(CORDONED).job("train", cpu=2).objects(),
                 conf("gang", "predicates"), "uncordon n2", "train is placed on n2"),
    "a selector": (lambda: Cluster().node("n1", cpu=4, labels={"zone": "b"}).add(SELECTS).objects(),
                   conf("gang", "predicates"),
                   "job default/train: without its node selector zone=a", "train is placed on n1"),
    "whole CPUs": (lambda: Cluster().node("n1", cpu=7).job("train", cpu=8).objects(),
                   conf("gang", "predicates"), "job default/train: request per pod cpu 8 -> 7",
                   "train is placed on n1"),
    "the guarantee of another queue": (
        lambda: Cluster().node("n1", cpu=8).queue("vip", guarantee=6).job("train", cpu=4).objects(),
        conf("gang", "predicates", "proportion"),
        "both: queue vip: guarantee.resource cpu 6 -> 4; queue vip: deserved cpu 0 -> 4",
        "train is placed on n1"),
    "a priority": (
        lambda: full().job("train", cpu=2).objects(),
        conf("priority", "gang", "predicates", actions="allocate, preempt"),
        "job default/train: a PriorityClass above 0", "evicts 2 pods of old"),
    "a priority to come first": (
        lambda: in_queue(Cluster().node("n1", cpu=1).add(PRIORITIES).job("train", cpu=1).job(
            "vip", cpu=1, priority=1000, priority_class="high"), "train", "vip"),
        conf("priority", "gang", "predicates"),
        "job default/train: a PriorityClass above 1000", "train is placed on n1; vip waits"),
    "another queue": (
        lambda: Cluster().node("n1", cpu=8).queue("a", capability=2).queue("b").job(
            "train", queue="a", cpu=4).objects(),
        conf("gang", "predicates", "capacity"),
        "job default/train: in queue b or default", "train is placed on n1"),
    "a queue that has others below it": (
        lambda: Cluster().node("n1", cpu=8).queue("a").queue("b", parent="a").job(
            "train", queue="a", cpu=4).objects(),
        conf("gang", "predicates", "capacity", capacity={"enableHierarchy": "true"}),
        "job default/train: in queue b or default", "train is placed on n1"),
    "its own capability, for the whole gang": (
        lambda: Cluster().node("n1", cpu=16).queue("q", capability=8).job(
            "old", queue="q", pods=6, min_member=1, cpu=1, running={"n1": 6}).job(
            "train", queue="q", pods=4, cpu=1).objects(),
        conf(), "queue q: capability cpu 8 -> 10", "train is placed on n1"),
    "neither reclaim nor a queue that lets it take": (
        lambda: in_queue(full(queue="b").queue("a").queue("b", reclaimable=False).job(
            "train", queue="a", cpu=1), "train"), conf(),
        "both: actions with reclaim; queue b: reclaimable false -> true",
        "evicts 1 pod of old"),
    "enqueue stands before a reclaim that is not there": (
        lambda: full(queue="b").queue("a").queue("b").job("train", queue="a", cpu=3).objects(),
        conf(), "actions with reclaim and without enqueue",
        "evicts 3 pods of old"),
    "a device that no node has": (
        lambda: Cluster().node("n1", cpu=8).job("train", pods=2, cpu=1, gpu=2).objects(),
        conf("gang", "predicates"), "1 more node like n1 announcing nvidia.com/gpu 4",
        "train is placed on 1 new node"),
    "more than a few nodes": (
        lambda: Cluster().node("n1", cpu=1).job("train", pods=20, min_member=20, cpu=1).objects(),
        conf("gang", "predicates"), "19 more nodes like n1", "train is placed on n1, 19 new nodes"),
    "a role without pods": (
        lambda: Cluster().node("n1", cpu=4).add(ROLES).objects(), conf("gang", "predicates"),
        "job default/train: minimum of role ps 2 -> none", "train is placed on n1"),
    "nodes without the label of a node group": (
        lambda: Cluster().node("n1", cpu=4).add(GROUP).job("train", queue="q", cpu=1).objects(),
        conf("gang", "predicates", "nodegroup"),
        "label n1 volcano.sh/nodegroup-name=fast", "train is placed on n1"),
    "more than the minimum": (
        lambda: Cluster().node("n1", cpu=4).queue("a").queue("b").job(
            "old", queue="b", pods=3, min_member=1, cpu=1, running={"n1": 3}).job(
            "train", queue="a", pods=2, min_member=1, cpu=1, running={"n1": 1}).objects(),
        conf("priority", "gang", "predicates", "proportion", actions="allocate, reclaim"),
        "enableJobStarving: false for gang", "evicts 1 pod of old"),
    "a quota that is used up": (
        lambda: Cluster().node("n1", cpu=4).add(PRIORITIES, QUOTA, NEVER).objects(),
        conf("gang", "predicates", "resourcequota"),
        "ResourceQuota default/small: hard requests.cpu 4 -> 5",
        "train is placed on n1"),
    "a policy that never preempts": (
        lambda: full().add(PRIORITIES, NEVER).objects(),
        conf("priority", "gang", "predicates", actions="allocate, preempt"),
        "job default/train: preemptionPolicy Never -> PreemptLowerPriority", "evicts 1 pod of old"),
    "a capability, and nodes for it": (
        lambda: Cluster().node("n1", cpu=4).queue("q", capability=4).job(
            "old", queue="q", cpu=4, running={"n1": 1}).job("train", queue="q", cpu=2).objects(),
        conf("gang", "predicates", "capacity"),
        "both: queue q: capability cpu 4 -> 6; 1 more node like n1",
        "train is placed on 1 new node"),
    "a capability, and any of three nodes": (
        lambda: cordoned("n2", "n3", "n4").queue("q", capability=4).job(
            "old", queue="q", cpu=4, running={"n1": 1}).job("train", queue="q", cpu=2).objects(),
        conf("gang", "predicates", "capacity"),
        "both: queue q: capability cpu 4 -> 6; uncordon any of 3: n2, n3, n4",
        "train is placed on n2"),
    "the factor": (
        lambda: Cluster().node("n1", cpu=4).job("old", pods=4, min_member=1, cpu=1, queue="b",
                                                running={"n1": 4}).queue("a").queue("b").job(
            "train", queue="a", cpu=2).objects(),
        conf("gang", "overcommit", "predicates", "proportion",
             actions="enqueue, allocate, reclaim"),
        "plugin overcommit: overcommit-factor 1.2 -> 1.5",
        "train is pipelined to n1; evicts 2 pods of old"),
}


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name, row in SCENES.items() if row[2]])
def test_a_change_is_found_and_says_what_it_costs(name):
    objects, configuration, change, effect = SCENES[name]
    explanation = Explainer(objects(), configuration).why("default/train")
    found = {remedy.change: remedy for remedy in explanation.remedies}
    assert change in found, (explanation.text, list(found))
    assert effect in found[change].effect, found[change].effect
    check(explanation, Explainer(objects(), configuration).names.find("train")[1])


def check(explanation, uid):
    """What is offered turns the answer when it is run, in a cache of its own, and makes sense."""
    for remedy in explanation.remedies:
        job = run(*remedy.world.applied(remedy.tried)).jobs[uid]
        placed = sum(counts(job)[:2])
        assert placed or not job.is_pending(), str(remedy)
        assert "-> 0" not in str(remedy), str(remedy)
        assert remedy.tried not in remedy.alike, str(remedy)
        if "/" in remedy.change.partition("request per pod ")[2]:
            assert remedy.change.rpartition(" ")[2].isdigit(), str(remedy)
    dear = [remedy.price.dear for remedy in explanation.remedies]
    assert dear == sorted(dear)


def test_a_job_whose_pods_are_promised_lacks_nothing_and_may_have_them_without_evictions():
    objects, _, _, _ = SCENES["no reclaim"]
    explain = Explainer(objects(), conf("gang", "predicates", "proportion",
                                        actions="allocate, reclaim"))
    explanation = explain.why("default/train")
    assert explanation.codes == ["promised"] and "reclaim evicts default/old-" in explanation.text
    assert [str(each) for each in explanation.remedies] == [
        "1 more node like n1 (old loses no pods)"]


@pytest.mark.long
def test_a_pod_that_was_evicted_is_spared_by_a_switch():
    cluster = Cluster().node("n1", cpu=4).add(PRIORITIES).job(
        "old", pods=4, min_member=1, cpu=1, running={"n1": 4}).job(
        "train", pods=4, min_member=1, cpu=1, priority_class="high", priority=1000)
    plugins = conf("priority", "gang", "predicates", actions="allocate, preempt", gang={
        "enableJobStarving": "false", "enablePreemptable": "false"})
    explanation = Explainer(cluster.objects(), plugins).why("old-3")
    assert "The minimum of default/train is 1, but gang" in explanation.text
    found = {remedy.change: remedy for remedy in explanation.remedies}
    assert set(found) >= {"enableJobStarving: true for gang",
                          "job default/old: volcano.sh/preemptable unset -> false"}
    assert "old loses 1 pod instead of 4" in str(found["enableJobStarving: true for gang"])
    for remedy in explanation.remedies:
        old = run(*remedy.world.applied(remedy.tried)).jobs["default/old"]
        assert sum(str(task.status) == "Releasing" for task in old.tasks.values()) < 4


@pytest.mark.long
def test_a_place_for_which_no_pod_leaves_is_not_waited_for():
    cluster = Cluster().node("n1", cpu=4).queue("a").queue("b").job(
        "web", queue="b", pods=2, cpu=1, running={"n1": 2}).job("train", queue="a", pods=3, cpu=1)
    plugins = ("gang", "drf", "predicates", "proportion")
    found = Explainer(in_queue(cluster, "train"), conf(
        *plugins, actions="enqueue, allocate, reclaim, preempt")).why("train")
    assert "2 pipelined" in found.head and "never_bound" not in [
        cause.code for cause in found.causes], "what its other pods lack is the cause"
    assert all("train is placed" in remedy.effect for remedy in found.remedies
               if "minMember" not in remedy.change)


@pytest.mark.long
def test_a_trial_leaves_no_trace():
    objects = SCENES["no preempt"][0]()
    explain = Explainer(objects, SCENES["no preempt"][1])
    trial = Trial(objects, "default/train", explain.now)
    before = run(objects, explain.conf, explain.now).committed
    for remedy in explain.why("default/train").remedies:
        trial.run(*remedy.world.applied(remedy.tried), lambda ssn: None)
        assert trial.run(objects, explain.conf, lambda ssn: ssn.committed) == before


def test_a_deadline_asks_for_no_facts_that_it_does_not_read():
    """With an observer that watches, every action composes its notes, and every plugin is wrapped.
    """
    class Noted(Deadline):
        noted: ClassVar[list[str]] = []

        def note(self, kind, /, **facts):
            self.noted.append(kind)

    objects, actions = SCENES["no preempt"][0](), "allocate, preempt"
    ssn = run(objects, load_conf(conf("priority", "gang", "predicates", actions=actions)),
              observer=Noted(inf))
    assert [done[0] for done in ssn.committed] == ["evict", "evict", "pipeline"]
    assert "victims" not in Noted.noted


def test_a_session_is_readable_after_its_deadline():
    """What is read of it may ask plugins, which note what they compare."""
    objects = Cluster().node("n1", cpu=4).job("a", cpu=1).objects()
    deadline, trace = Deadline(inf), Outline()
    text = conf("capacity", actions="allocate")
    cycle = Cycle(run(objects, load_conf(text), observer=joined(deadline, trace)), trace, {})
    deadline.end = 0.0
    (row,) = cycle.jobs()
    assert row["placed"] == 1 and cycle.session.allocatable(
        cycle.session.queues["default"], next(iter(cycle.session.jobs["default/a"].tasks.values())))
    with pytest.raises(TooLate):
        run(objects, load_conf(text), observer=joined(deadline, Outline()))


def test_pods_that_have_ended_are_reported_as_what_reserves():
    objects = ghosts(Cluster().node("n1", cpu=8), 3, 2, ended=True)
    assert ("Reserved by 3 PodGroups whose pods have all ended (default/ghost-0, default/ghost-1, "
            "default/ghost-2, cpu 4 each)." in Explainer(objects, conf()).why("train").text)


def test_no_time_gives_no_remedy_and_they_come_one_by_one():
    explanation = Explainer(SCENES["ghosts"][0](), conf()).why("default/train")
    assert list(explanation.remedies_within(0)) == []
    assert next(iter(explanation.find_remedies(inf))).change.startswith("delete 2 of the 3")


@pytest.mark.slow
def test_what_is_offered_in_the_recorded_cases_makes_sense():
    offered = 0
    for case in list(rows(HERE / "dev-cases.jsonl.gz"))[7::60]:
        explain = Explainer([manifests.from_dict(obj) for obj in case["objects"]], case["conf"])
        for uid, job in explain.session.jobs.items():
            if job.has_pending_tasks() or job.is_pending():
                explanation = explain.why(uid)
                check(explanation, uid)
                offered += len(explanation.remedies)
    assert offered > 20


def half_taken():
    """Queue batch holds 4 of its 5 CPUs, 3 of them beyond its job's minimum."""
    return (Cluster().node("n1", cpu=16).queue("batch", capability=5).job(
        "old", queue="batch", pods=4, cpu=1, min_member=1, running={"n1": 4}).job(
            "train", queue="batch", pods=6, cpu=1))


@pytest.mark.long
def test_a_capability_is_raised_by_what_enqueue_leaves_out_too():
    explain = Explainer(half_taken().objects(), conf("gang", "predicates", "capacity"))
    remedies = [str(each) for each in explain.why("train").remedies]
    assert remedies[0] == "queue batch: capability cpu 5 -> 10 (train is placed on n1)"


@pytest.mark.long
@pytest.mark.parametrize("cluster", [half_taken, lambda: Cluster().node("n1", cpu=2).job(
    "train", pods=3, cpu=1)], ids=["queue", "gang"])
def test_objects_with_the_versions_of_a_real_cluster_have_the_same_remedies(cluster):
    objects = cluster().objects()
    real = [obj.changed(metadata={"resource_version": str(number)})
            for number, obj in enumerate(objects, 1000)]
    explainers = [Explainer(some, conf("gang", "predicates", "capacity"))
                  for some in (objects, real)]
    shown = [[str(each) for each in explain.why("train").remedies] for explain in explainers]
    assert shown[0] == shown[1] != []


@pytest.mark.long
@pytest.mark.parametrize("actions, offered", [("enqueue, allocate", False),
                                              ("enqueue, allocate, preempt", True)])
def test_that_a_job_is_admitted_and_waits_on_is_no_cure(actions, offered):
    cluster = Cluster().add(PRIORITIES).node("n1", cpu=4).job("old", pods=3, min_member=1, cpu=1,
                                                              running={"n1": 3})
    cluster.job("train", pods=3, cpu=1, priority=1000, priority_class="high")
    found = [remedy.change for remedy in Explainer(cluster.objects(), conf(
        "priority", "gang", "predicates", "overcommit", actions=actions)).why(
            "default/train").remedies if remedy.rank < Rank.OTHERS]
    assert ("actions without enqueue" in found) == offered, found


@pytest.mark.long
def test_two_switches_are_offered_and_a_pod_of_a_quarter_of_its_size_is_not():
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=4).queue("a").queue("b").job(
        "old", queue="b", pods=7, min_member=1, cpu=1, running={"n1": 4, "n2": 3})
    found = Explainer(cluster.job("train", queue="a", cpu=4).objects(), conf(
        actions="enqueue, allocate")).why("default/train").remedies
    assert [remedy.change for remedy in found[:2]] == [
        "both: plugin overcommit: overcommit-factor 1.2 -> 1.4; actions with reclaim",
        "actions with reclaim and without enqueue"]


@pytest.mark.long
def test_what_a_queue_deserves_is_raised_to_its_guarantee_where_a_change_reaches_it():
    """The webhook refuses each change of a queue that is guaranteed more than it deserves."""
    cluster = Cluster().node("n1", cpu=32).queue("vip", guarantee={"cpu": 24}).queue(
        "old", guarantee={"cpu": 2}).job("wait", cpu=8)
    found = cluster.why("wait", conf=conf("proportion")).remedies
    reached = [remedy for remedy in found if any("queue/vip.guarantee.r" in arg
                                                 for arg in remedy.args)]
    assert reached
    for remedy in reached:
        objects = remedy.world.applied(remedy.tried)[0]
        assert [each.label for each in verdicts(objects)] == ["Queue old"]


@pytest.mark.long
@pytest.mark.parametrize("parent, offered", [({}, True), ({"deserved": 2}, False)])
def test_what_the_webhooks_refuse_is_not_offered(parent, offered):
    """Children may not deserve more than their parent says."""
    conf = ('actions: "enqueue, allocate, reclaim"\ntiers:\n- plugins: [{name: gang}]\n'
            "- plugins: [{name: capacity}, {name: predicates}]\n")
    cluster = Cluster().node("n1", cpu=8).queue("org", **parent).queue("b", deserved=4)
    cluster.queue("a", parent="org", deserved=1).job("train", queue="a", cpu=3)
    cluster.job("web", queue="b", pods=8, cpu=1, min_member=1, running={"n1": 8})
    args = [remedy.args for remedy in Explainer(cluster.objects(), conf).why("train").remedies]
    assert (["--set", "queue/a.deserved.cpu=3"] in args) is offered, args


@pytest.mark.parametrize(("action", "offered"), [
    ("preempt", ["plugin/drf.enablePreemptable=true", "plugin/gang.enablePreemptable=true"]),
    ("reclaim", []), ("shuffle", [])])
def test_switches_by_which_plugins_keep_pods_are_tried_where_they_are_off(action, offered):
    conf = load_conf("actions: allocate, preempt\ntiers: [{plugins: [{name: gang, "
                     "enablePreemptable: false}, {name: drf, enablePreemptable: false}]}]")
    assert [option.most.args[1] for option in distinct(World([], conf), keeping(action))] == offered


def test_a_request_that_is_cut_by_a_quarter_ranks_before_changes_of_other_jobs_and_no_deeper_cut():
    """Whether one resource is cut, in steps, or two at once."""
    cluster = Cluster().node("n1", cpu=9).job("a", pods=2, cpu=8, memory="8Gi")
    world = World(cluster.objects(), load_conf())
    for cpu, memory in product(range(1, 9), repeat=2):
        (both,) = values.requests(world, "default/a", {"cpu": cpu * 1e3, "memory": memory * 2**30})
        assert both.rank == (Rank.JOB if min(cpu, memory) >= 6 else Rank.REQUEST)
    less, deep = values.request(world, "default/a", "cpu", 7000.0)
    assert (less.rank, deep.rank) == (Rank.JOB, Rank.REQUEST) and Rank.JOB < Rank.OTHERS < deep.rank
    assert less.most.settings == ("job/default/a.requests.cpu=6",)


@pytest.mark.long
@pytest.mark.parametrize(("mine", "pods", "actions", "first"), [
    (2, 2, "enqueue, allocate", "actions with preempt and without enqueue"),
    (2, 2, "enqueue, allocate, preempt", "actions without enqueue"),
    (2, 2, "allocate, preempt", "enablePreemptable: false for gang"),
    (2, 3, "allocate, preempt", "wait for the end of default/low"),  # one pod would be left
    (1, 2, "allocate, preempt", "wait for the end of default/low")])
def test_a_gang_of_a_lower_priority_goes_as_a_whole_before_nodes_are_bought(
        mine, pods, actions, first):
    cluster = Cluster().node("n1", cpu=pods).add(*(
        f"{{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {{name: p{value}}}, "
        f"value: {value}}}" for value in (1, 2)))
    cluster.job("low", pods=pods, cpu=1, running={"n1": pods}, priority=1, priority_class="p1")
    cluster.job("high", pods=2, cpu=1, priority=mine, priority_class=f"p{mine}")
    explain = Explainer(cluster.objects(), load_conf(conf(
        *(name for name in NAMES if name != "drf"), actions=actions,
        gang={"enablePreemptable": "enqueue" not in actions})))
    assert next(iter(explain.why("high").find_remedies(inf))).change == first


@pytest.mark.parametrize(("pods", "cpu"), [
    (12, 5), *(pytest.param(*each, marks=pytest.mark.long) for each in ((2, 4), (5, 3)))])
def test_as_many_nodes_are_offered_as_a_gang_needs_and_nothing_beside(pods, cpu):
    """A node takes 8 // cpu of its pods, and the nodes that are there are full."""
    cluster = Cluster()
    for number in range(3):
        cluster.node(f"n{number}", cpu=8).job(f"run-{number}", cpu=8, running={f"n{number}": 1})
    cluster.job("gang", pods=pods, cpu=cpu)
    for actions in ("allocate", "enqueue, allocate"):
        explain = Explainer(cluster.objects(), load_conf(conf(actions=actions)))
        made = [remedy.tried for remedy in explain.why("gang").find_remedies(inf)]
        assert [each.settings for each in made if each.settings] == [
            (f"node/n0.more={ceil(pods / (8 // cpu))}",)]


@pytest.fixture(scope="module")
def line():
    """200 nodes that are full, and 40 jobs of a node each of which the last is asked about."""
    cluster = Cluster()
    for number in range(200):
        cluster.node(f"n{number}", cpu=4, memory="16Gi")
        cluster.job(f"run-{number}", running={f"n{number}": 1}, cpu=4)
    for number in range(40):
        cluster.job(f"wait-{number:02}", pods=2, cpu=2, memory="1Gi")
    return cluster


@pytest.mark.long
def test_in_a_large_cluster_nodes_are_counted_for_the_jobs_served_before_too(line):
    """And besides what has the job served first, for the job alone; sets come first, as they ask
    for less.
    """
    objects, settings = line.objects(), load_conf(conf())
    made = [remedy.tried for remedy in Explainer(objects, settings, about="wait-39").why(
        "wait-39").find_remedies(inf)]
    counts_of = {len(change.settings): int(change.settings[-1].rpartition("=")[2])
                 for change in made if change.settings and ".more=" in change.settings[-1]}
    assert counts_of[2] == 1
    assert 40 <= counts_of[1] <= 40 + 200 // ABOUT
    for change in made:
        ssn = run(*change.applied(objects, settings))
        assert ssn.jobs["default/wait-39"].is_ready() or ".more=" not in str(change)


def test_each_way_of_the_table_of_changes_is_one_of_the_candidates():
    ways = {row["finds"] for rows in TABLES["changes"].values() for row in rows if "finds" in row}
    assert ways and all(callable(getattr(Candidates, way, None)) for way in ways)


def test_a_job_with_its_minimum_is_offered_a_capability_for_all_of_its_pods():
    cluster = Cluster().node("n1", cpu=32).queue("q", capability=4).job(
        "train", queue="q", pods=5, min_member=1, cpu=2, running={"n1": 2})
    assert [str(each) for each in cluster.why("train", conf=conf("gang", "capacity", "predicates")
                                               ).remedies][:1] == [
        "queue q: capability cpu 4 -> 10 (3 pods of train are placed on n1)"]


@pytest.mark.long
def test_a_set_changes_no_node_that_the_other_change_creates():
    explain = Cluster().node("n1", cpu=12).job("train", pods=4, cpu=8, gpu=1).explainer()
    found = [each.tried for each in explain.why("train").remedies]
    assert found and not [text for each in found for text in each.settings if "-more-" in text]


@pytest.mark.long
@pytest.mark.parametrize("least, together", [("8Gi", True), ("2Gi", False)])
def test_cpu_and_memory_of_a_pod_are_lowered_together_to_what_a_node_has(least, together):
    cluster = Cluster().node("n1", cpu=8, memory="16Gi").job(
        "old", cpu=6, memory="14Gi", running={"n1": 1}).job("new", cpu=4, memory=least)
    changes = {each.change for each in cluster.why("new", conf=conf(
        "gang", "predicates", actions="allocate")).remedies}
    both = "job default/new: request per pod cpu 4 -> 2, memory 8Gi -> 2Gi"
    assert (both in changes) == together
    assert ("job default/new: request per pod cpu 4 -> 2" in changes) != together


@pytest.mark.long
@pytest.mark.parametrize("queue, first", [
    ("a", "job default/new: a PriorityClass above 0"), ("b", "queue b: priority 0 -> 1")])
def test_a_job_is_served_before_others_by_its_priority_or_by_its_queues(queue, first):
    cluster = Cluster().node("n1", cpu=4).queue("a").queue("b").job(
        "old", queue="b", cpu=1, running={"n1": 1}).job("ahead", queue="a", cpu=3).job(
        "new", queue=queue, cpu=3)
    found = Explainer(cluster.objects(), conf(
        "priority", "gang", "predicates", "capacity")).why("new").remedies
    assert [each.effect for each in found if each.change == first] == [
        "new is placed on n1; ahead waits"]


@pytest.mark.long
def test_nodes_that_are_mostly_for_others_come_last():
    cluster = Cluster().node("n1", cpu=4)
    for number in range(4):
        cluster.job(f"ahead-{number}", cpu=4)
    found = Explainer(cluster.job("new", cpu=4).objects(), conf("gang", "predicates")).why(
        "new").remedies
    nodes = found[-1]
    assert (nodes.change, nodes.effect) == (
        "4 more nodes like n1", "new is placed on 1 new node; 3 new nodes are for jobs that are "
        "served before it")
    assert nodes.price.dear == 2


@pytest.mark.long
@pytest.mark.parametrize("theirs, mine, dear", [(9, 0, 1), (0, 9, 0), (0, 0, 0)])
def test_a_change_that_evicts_pods_of_a_higher_priority_comes_after_others(theirs, mine, dear):
    cluster = Cluster().node("n1", cpu=4).queue("a").queue("b").add(
        *(f"{{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {{name: c{value}}}, "
          f"value: {value}}}" for value in {theirs, mine}))
    cluster.job("old", queue="a", pods=4, cpu=1, min_member=1, running={"n1": 4},
                priority_class=f"c{theirs}").job("new", queue="b", cpu=1, priority_class=f"c{mine}")
    found = Explainer(cluster.objects(), conf("gang", "predicates", "proportion")).why(
        "new").remedies
    (evicting,) = [each for each in found if each.change == "actions with reclaim"]
    assert evicting.price.dear == dear
    assert ("old has a higher priority" in evicting.effect) == bool(dear)


@pytest.mark.long
def test_a_list_of_changes_reads_as_sentences():
    cluster = Cluster().node("n1", cpu=8).queue("a", capability={"cpu": 2})
    found = cluster.job("x", queue="a", pods=3, cpu=1).why("x").remedies
    assert repr(found[:1]) == "[queue a: capability cpu 2 -> 3 (x is placed on n1)]"


@pytest.mark.long
@pytest.mark.parametrize(("idle", "moves"), [(0, False), (4, True)])
def test_another_queue_is_offered_for_what_is_free_there(idle, moves):
    """Reclaim would evict pods of the queue that the job has left."""
    cluster = full(queue="a").queue("a", capability=8).queue("b").job("train", queue="a", cpu=1)
    found = Explainer((cluster.node("n3", cpu=idle) if idle else cluster).objects(), conf(
        "gang", "predicates", "proportion", actions="allocate, reclaim")).why("train").remedies
    assert any("in queue b" in each.change for each in found) is moves
