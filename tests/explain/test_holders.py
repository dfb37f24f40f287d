"""Who holds what a job lacks, what each of these jobs is, and by which rule one came first."""

import pytest
from own_plugins import Answers
from small_cluster import conf, group, node, pod, queue

from explain.test_exports import exported
from volcano_lab import Cluster
from volcano_lab.api.objects import OwnerReference
from volcano_lab.explain import Explainer
from volcano_lab.explain.holders import allocated
from volcano_lab.framework.registry import registered
from volcano_lab.manifests import loader

NOW = 1_800_000_000.0
ALLOCATE = conf("priority", "gang", "predicates", "nodeorder")
ADMIT = conf("gang", "overcommit", "predicates", "proportion",
             actions="enqueue, allocate")
LIMITED = conf("gang", "predicates", "{name: capacity, enableHierarchy: true}",
               actions="enqueue, allocate")
SHARED = conf("priority", "gang", "predicates", "proportion")
STUCK = """
{apiVersion: batch/v1, kind: Job, metadata: {name: run-1, namespace: default, uid: j, ABOVE},
 spec: {template: {spec: {schedulerName: volcano, containers: [{name: c}]}}}, status: {active: 1}}
---
{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: g, namespace: default,
 ownerReferences: &own [{apiVersion: batch/v1, kind: Job, name: run-1, uid: j, controller: true}]},
 spec: {minMember: 1}, status: {phase: Inqueue}}
---
{apiVersion: v1, kind: Pod, metadata: {name: run-1-x, namespace: default, annotations: {
  scheduling.k8s.io/group-name: g}, ownerReferences: [
  {apiVersion: batch/v1, kind: Job, name: run-1, uid: j, controller: true}]},
 spec: {schedulerName: volcano, nodeName: n1, containers: [
  {name: c, resources: {requests: {cpu: 3}}}]},
 status: {phase: Pending, containerStatuses: [
  {name: c, state: {waiting: {reason: ImagePullBackOff}}}]}}
"""
FIRST, LATER = "2026-01-01T00:00:00Z", "2026-01-01T00:00:09Z"


def klass(name, value):
    return loader.from_dict({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                             "metadata": {"name": name}, "value": value})


def stray(name, cpu, *, space="default", owned=False, node="n1", kind="DaemonSet"):
    """A pod that Volcano does not schedule."""
    owners = [{"kind": kind, "name": "d", "uid": "d", "apiVersion": "apps/v1"}] * owned
    return loader.from_dict({
        "apiVersion": "v1", "kind": "Pod", "metadata": {
            "name": name, "namespace": space, "ownerReferences": owners},
        "spec": {"nodeName": node, "containers": [{"name": "c", "resources": {
            "requests": {"cpu": cpu}}}]}, "status": {"phase": "Running"}})


def admitted(name, cpu, queue="default", phase="Inqueue"):
    """A PodGroup without pods."""
    return group(name, queue, phase, minResources={"cpu": cpu})


def asked(cluster, conf, name="new"):
    """The first cause of each code of an answer."""
    causes = Explainer(cluster.objects(), conf, NOW).why(name).causes
    return {cause.code: cause for cause in reversed(causes)}


def text_of(causes, code):
    return causes[code].text if code in causes else None


# -- a job that is not admitted: what others have reserved and hold --------------------------------

def busy():
    """10 CPUs, of which 4 are in use and 5 reserved."""
    return Cluster().node("n1", cpu=10).queue("a").queue("b").job(
        "old", cpu=2, pods=2, queue="a", running={"n1": 2}).add(admitted("g1", 2, "a")).job(
        "first", queue="b", cpu=3).job("new", queue="a", cpu=4)


G1 = "default/g1 2 (its PodGroup has no pods)"
MINE = "default/first 3 (admitted before it in this cycle)"
RESERVED = [  # what is added, the jobs behind what is reserved, those without pods
    ([], f"{MINE}, {G1}", ["g1"]),
    ([admitted("g2", 2)], "2 PodGroups without a single pod (default/g1, default/g2, cpu 2 each), "
     + MINE, ["g1", "g2"]),
    ([admitted("g2", 3)], "2 PodGroups without a single pod (default/g2, default/g1), " + MINE,
     ["g2", "g1"]),
    ([admitted("g2", 3), pod("g2-0", "g2", phase="Succeeded", node="n1")],
     "2 PodGroups whose pods have all ended (default/g2, default/g1), " + MINE, ["g2", "g1"]),
    ([admitted("g2", 3, phase="Pending")],
     f"{MINE}, default/g2 3 (admitted before it in this cycle), {G1}", ["g1"]),
    ([admitted("wide", 3), pod("wide-0", "wide", requests={"cpu": "3"})],
     f"{MINE}, default/wide 3 (Inqueue, 0 of its 1 placed), {G1}", ["g1"]),
    ([each for name in ("w0", "w1", "w2") for each in (
        admitted(name, 1), pod(f"{name}-0", name, requests={"cpu": "1"}))],
     f"{MINE}, {G1}, default/w0 1 (Inqueue, 0 of its 1 placed), 2 more jobs 2", ["g1"]),
]


@pytest.mark.parametrize("more, said, ghosts", RESERVED)
def test_what_is_reserved_where_a_job_is_not_admitted(more, said, ghosts):
    held = asked(busy().add(*more), ADMIT)["held_by"]
    assert held.text == f"Reserved by {said}. In use by default/old 4."
    assert held.numbers["ghosts"] == [f"default/{name}" for name in ghosts]
    assert held.numbers["holders"][-1] == "default/old"


def test_pods_of_other_schedulers_are_in_use_too():
    more = [stray("one", 1), stray("two", "500m", space="x")]
    assert asked(busy().add(*more), ADMIT)["held_by"].text.endswith(
        "In use by default/old 4. Pods that Volcano does not schedule hold cpu 1.5 (default/one, "
        "x/two).")


def test_one_podgroup_whose_pods_have_ended_keeps_what_it_reserved():
    ended = [admitted("g2", 3), pod("g2-0", "g2", phase="Failed", node="n1")]
    cluster = busy()
    cluster.remove("g1")
    assert ("default/g2 3 (all its pods have ended, its PodGroup is still admitted)"
            in asked(cluster.add(*ended), ADMIT)["held_by"].text)


@pytest.mark.parametrize("limit, said", [
    ("a", f"Reserved by {G1}. Held by default/old 4."),
    ("up", "Reserved by 2 PodGroups without a single pod (default/g1, default/side, cpu 2 each). "
           "Held by default/old 4."), ("b", None)])
def test_only_jobs_below_a_queue_count_against_its_limit(limit, said):
    cluster = busy().node("n2", cpu=10).queue("up").queue("a", parent="up").queue(
        "b", parent="up").add(admitted("side", 2, "b"), admitted("far", 1))
    cluster.queue(limit, capability=8 if limit == "a" else 10)
    assert text_of(asked(cluster, LIMITED), "held_by") == said


# -- a pod for which a node or a queue has too little left -----------------------------------------

def full(cpu=4, **old):
    """A node on which all but one CPU is in use, and a job that requests two."""
    return Cluster().node("n1", cpu=cpu).job("new", cpu=2).job("old", **{
        "cpu": 3, "running": {"n1": 1}, **old})


def pods_of(name, count, cpu, *changes, **spec):
    """A PodGroup and pods on n1."""
    pods = [pod(f"{name}-{number}", name, node="n1", requests={"cpu": str(cpu)}, **spec)
            for number in range(count)]
    return [group(name), *(each.changed(metadata=change) if change else each for each, change in
                           zip(pods, (*changes, *[None] * count), strict=False))]


INIT = {"initContainers": [{"name": "i", "resources": {"requests": {"cpu": "3"}}}]}
EMPTY = Cluster().node("n1", cpu=4).job("new", cpu=2)
HOLDING = [  # the cluster, the sentence
    (full(), "Holders of cpu: default/old 3."),
    (EMPTY.copy().add(*pods_of("old", 1, 1, **INIT)),
     "Holders of cpu: default/old 3 (for init containers; the other containers request 1)."),
    (EMPTY.copy().add(*pods_of("old", 2, 2, {"deletion_timestamp": NOW + 5})).job("new", cpu=3),
     "Holders of cpu: default/old 4."),
    (full(pods=2, min_member=1), "Holders of cpu: default/old 3 (1 pod waiting)."),
    (full().node("n2", cpu=1).job("tiny", cpu=1, running={"n2": 1}),  # a node that is too small
     "Holders of cpu: default/old 3."),
    (full(2), "Holders of cpu: default/old 3. Node n1 has cpu 3 in use and 2 allocatable."),
    (Cluster().node("n1", cpu=4).job("new", pods=3, min_member=1, cpu=2, running={"n1": 2}),
     "Holders of cpu: default/new 4."),
    (Cluster().node("n1", cpu=4).job("new", pods=3, min_member=1, cpu=2, running={"n1": 1}).job(
        "tiny", cpu=1, running={"n1": 1}), "Holders of cpu: default/new 2, default/tiny 1."),
    (Cluster().node("n1", cpu=4).job("new", pods=4, min_member=1, cpu=2, running={"n1": 1}).job(
        "more", pods=3, min_member=2, cpu=1, running={"n1": 2}),
     "Holders of cpu: default/more 2 (1 pod waiting), default/new 2. All of them wait for more "
     "themselves. Minimums (minMember, minResources) that count all that a job needs admit fewer "
     "at once."),
    (Cluster().node("n1", cpu=4).job("new", pods=2, cpu=2, running={"n1": 1}).job(
        "more", pods=3, cpu=1, running={"n1": 2}),
     "Holders of cpu: default/more 2 (1 pod waiting), default/new 2. All of them wait for more "
     "themselves."),
    (Cluster().node("n1", cpu=5).job("new", pods=4, min_member=1, cpu=2, running={"n1": 1}).job(
        "more", pods=4, min_member=1, cpu=1, running={"n1": 3}),
     "Holders of cpu: default/more 3 (1 pod waiting), default/new 2."),
]


@pytest.mark.parametrize("cluster, said", HOLDING)
def test_the_jobs_that_hold_what_a_node_lacks(cluster, said):
    assert text_of(asked(cluster, ALLOCATE), "held_by") == said


def test_the_largest_jobs_are_named_and_the_others_are_counted_for_each_resource():
    cluster = Cluster().node("n1", cpu=10, gpu=10).job("new", cpu=2, gpu=7)
    for name, cpu in zip("abcde", (1, 2, 3, 1, 2), strict=True):
        cluster.job(name, cpu=cpu, gpu=1 if name != "c" else None, running={"n1": 1})
    said = ("Holders of cpu and nvidia.com/gpu: default/c cpu 3, default/b cpu 2 and "
            "nvidia.com/gpu 1, default/e cpu 2 and nvidia.com/gpu 1, 2 more jobs cpu 2 and "
            "nvidia.com/gpu 2.")
    assert asked(cluster, ALLOCATE)["held_by"].text == said
    assert asked(cluster.job("new", gpu=1), ALLOCATE)["held_by"].text == (
        "Holders of cpu: default/c 3, default/b 2, default/e 2, 2 more jobs 2.")


@pytest.mark.parametrize("actions, more", [
    ("allocate", ""),
    ("allocate, preempt", " Volcano evicts none of them, whatever their priority.")])
def test_pods_of_other_schedulers_on_a_node(actions, more):
    cluster = EMPTY.copy().add(stray("one", 1), stray("two", "1500m", owned=True),
                               stray("sys", "500m", space="kube-system"))
    held = asked(cluster, conf("predicates", actions=actions))["held_by"]
    assert held.text == ("Pods that Volcano does not schedule hold cpu 3 (default/two, "
                         f"default/one, kube-system/sys).{more} Without default/one node n1 has "
                         "enough left for one of its pods.")
    assert held.numbers["bare"] == ["default/one"], "no owner creates it again"


def test_a_pod_with_a_claim_is_not_to_be_deleted():
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    base = loader.from_dict({"apiVersion": "v1", "kind": "Pod", "metadata": {
        "name": "base"}, "spec": {
        "nodeName": "n1", "volumes": volumes, "containers": [
            {"name": "c", "resources": {"requests": {"cpu": 3}}}]}, "status": {"phase": "Running"}})
    held = asked(EMPTY.copy().add(base), ALLOCATE)["held_by"]
    assert "default/base" in held.text and not held.numbers["bare"]


@pytest.mark.parametrize("here, there, said", [
    ((1, 1), (2,), "Without default/s2-0 node n2"),
    ((1, 1), (1, 1), "Without default/s1-0 and default/s1-1 node n1"),
    ((1,) * 5, (1,) * 5, ""), ((2,), (3,), "Without default/s1-0 node n1")])
def test_the_fewest_pods_of_other_schedulers_that_keep_a_pod_from_a_node_are_named(here, there,
                                                                                 said):
    cluster = Cluster().job("new", cpu=8)
    for number, sizes in enumerate((here, there), 1):
        cluster.node(f"n{number}", cpu=8)
        for place, cpu in enumerate(sizes):
            cluster.add(stray(f"s{number}-{place}", cpu, node=f"n{number}"))
    text = text_of(asked(cluster, conf("predicates", actions="allocate")), "held_by")
    assert said in text and ("Without" in text) is bool(said)


def test_only_nodes_that_may_take_the_pod_count():
    cluster = full().node("n2", cpu=4).job("far", cpu=4, running={"n2": 1}).add(
        group("g"), pod("g-0", "g", requests={"cpu": "2"}, nodeSelector={
            "kubernetes.io/hostname": "n1"}))
    assert asked(cluster, ALLOCATE, "g")["held_by"].text == "Holders of cpu: default/old 3."


@pytest.mark.parametrize("facts, said, order", [
    ({"running": {"n1": 1}}, "", None),
    ({"priority_class": "high"}, " Placed in this cycle: default/x 3.",
     "Served before it: default/x. priority compares priorities of jobs: 3 (default/x) before 0 "
     "(default/new)."),
])
def test_jobs_of_a_queue_hold_what_it_may_have(facts, said, order):
    cluster = Cluster().node("n1", cpu=8).queue("a", capability=4).queue("b").add(
        klass("high", 3)).job("x", queue="a", cpu=3, **facts).job(
        "y", queue="b", cpu=3, running={"n1": 1}).job("new", queue="a", cpu=2)
    found = asked(cluster, SHARED)
    assert found["held_by"].text == f"Holders of cpu in queue a: default/x 3.{said}"
    assert text_of(found, "came_first") == order


def test_what_was_placed_before_and_after_the_refusal_of_a_gang():
    cluster = Cluster().node("n1", cpu=5).add(klass("high", 9), klass("top", 10)).job(
        "old", cpu=1, running={"n1": 1}).job("ahead", cpu=1, priority_class="top").job(
        "big", pods=3, cpu=2, priority_class="high").job("small", cpu=2).job("tiny", cpu=1)
    found = asked(cluster, ALLOCATE, "big")
    assert found["held_by"].text == (
        "Holders of cpu: default/ahead 1, default/old 1. Placed in this cycle: default/ahead 1. "
        "Placed after its refusal, for which nothing is kept: default/small 2, default/tiny 1. "
        "Plugin sla, in a tier above gang, keeps the places of a gang that has waited for "
        "sla-waiting-time; other jobs wait for that.")
    assert found["came_first"].numbers["first"] == "default/ahead"


@pytest.mark.parametrize("mine, theirs, said", [
    ((3, 3, 2), (3, 3, 2), "default/new has 2 pods placed of 3; default/y has 2 pods placed of 3"),
    ((3, 3, 1), (3, 2, 1), "default/new has 1 pods placed of 3; default/y has 1 pods placed of 2"),
    ((3, 3, 2), (2, 3, 2), None), ((3, 3, 2), (3, 2, 2), None),
    ((3, 2, 2), (3, 3, 2), None), ((4, 4, 2), (2, 2, 2), None)])
def test_gangs_below_their_minimum_that_wait_for_each_other(mine, theirs, said):
    cluster = Cluster().node("n1", cpu=mine[2] + theirs[2])
    for name, (pods, least, running) in {"new": mine, "y": theirs}.items():
        cluster.job(name, pods=pods, min_member=least, cpu=1, running={"n1": running})
    found = asked(cluster, ALLOCATE)
    assert text_of(found, "each_other") == (said and (
        f"Each of these holds places and is short of its minimum: {said}. None gives its places "
        "back, so none starts until one of them is deleted or there are more nodes."))
    assert not said or found["each_other"].numbers["others"] == ["default/y"]


@pytest.mark.parametrize(("pods", "least", "said"), [
    (3, 1, " (2 pods above its minimum of 1)"), (3, 2, " (1 pod above its minimum of 2)"),
    (2, 2, "")])
def test_holders_above_their_minimum_are_named_as_such(pods, least, said):
    cluster = Cluster().node("n1", cpu=pods).job("new", cpu=1).job(
        "old", pods=pods, min_member=least, cpu=1, running={"n1": pods})
    found = asked(cluster, ALLOCATE)
    assert text_of(found, "held_by") == f"Holders of cpu: default/old {pods}{said}."


PARTS = ("Each of these has part of its pods placed and waits for what the others hold: {}. One "
         "that needs all its pods keeps these places and does not start its work. ")


@pytest.mark.parametrize(("mine", "theirs", "said"), [  # pods, minimum, how many run
    ((3, 1, 2), (4, 1, 1), "default/new has 2 pods placed of 3, default/y has 1 pods placed of 4"),
    ((3, 1, 2), (3, 3, 2), "default/new has 2 pods placed of 3, default/y has 2 pods placed of 3"),
    ((3, 1, 2), (2, 1, 2), None), ((3, 1, 0), (3, 1, 2), None), ((3, 1, 2), (3, 2, 2), None)])
def test_jobs_that_hold_a_part_of_what_each_of_them_waits_for(mine, theirs, said):
    cluster = Cluster().node("n1", cpu=mine[2] + theirs[2])
    for name, (pods, least, running) in {"new": mine, "y": theirs}.items():
        cluster.job(name, pods=pods, min_member=least, cpu=1, running={"n1": running})
    found = asked(cluster, ALLOCATE)
    assert "each_other" not in found  # with its minimum placed it may do without the others
    assert text_of(found, "half_started") == (said and PARTS.format(said) + (
        "Minimums (minMember, minResources) that count all that a job needs admit fewer at once."))


@pytest.mark.long
@pytest.mark.parametrize("more", [0, 1])
def test_applications_whose_pods_have_a_podgroup_each_and_wait_for_each_other(more):
    """With another holder they do not wait for each other alone."""
    cluster = Cluster().node("n1", cpu=2 + more, memory="9Gi").job(
        "z", cpu=1, running={"n1": more})
    objects = list[object]()
    for name, on in (("a-0", "n1"), ("a-1", ""), ("b-0", "n1"), ("b-1", "")):
        objects += [group(f"podgroup-{name}").changed(metadata={"owner_references": [
            OwnerReference("v1", "Pod", name)]}), pod(name, f"podgroup-{name}", on)]
    found = Explainer([*cluster.objects(), *objects], ALLOCATE).why("default/a-1")
    code = "half_started" if more else "each_other"
    assert next(each.text for each in found.causes if each.code == code) == PARTS.format(
        "default/a has 1 pods placed of 2, default/b has 1 pods placed of 2") + (
        "The pods of default/a, default/b have a PodGroup each: one PodGroup for all of them "
        "(scheduling.k8s.io/group-name, with minMember of all) places them all at once.")
    assert ("wait for each other" in found.head) is not more
    assert not any("end of default/a" in each.change for each in found.remedies)


@pytest.mark.long
def test_two_half_started_jobs_with_minimums_of_all_pods_run_one_after_the_other():
    text = "".join(exported(name, 4, 2, 1, 2, "Running", "Running") + "---\n".join(
        exported(name, 4, 2, 1, 4).split("---\n")[-3:]) for name in ("new", "z"))
    cluster = Cluster().node("n1", cpu=8).add(text)
    first = next(iter(Explainer(cluster.objects(), ALLOCATE).why("new").remedies))
    assert first.change == (
        "all: job default/new: minAvailable 1 -> 4; job default/z: minAvailable 1 -> 4; delete 2 "
        "pods of default/z, which are created again") and first.placed == 4


# -- by which rule another job was served before it ------------------------------------------------

def in_turn(plugins, one, two, *more):
    """Why the second of two jobs waits that request 3 of 4 CPUs."""
    objects = [node("n1"), node("n2", cpu="6"), *more]
    for name, facts in (("one", one), ("two", two)):
        pods = facts.get("pods", [{}])
        objects += [group(name, **{key: each for key, each in facts.items() if key != "pods"}),
                    *(pod(f"{name}-{number}", name, requests={"cpu": "3"}, nodeSelector={
                        "kubernetes.io/hostname": each.get("node", "n1")}, **each)
                      for number, each in enumerate(pods))]
    return asked(Cluster(objects), conf(*plugins, "predicates"), "two").get("came_first")


CLASSES = klass("high", 9), klass("low", -5)
NOTE = "default/two has priority 0: its PodGroup names no PriorityClass, and the priority of its "
ORDERS = [  # plugins, facts of the first and of the second job, the plugin, what it compares
    (("priority",), {"priorityClassName": "high"}, {}, "priority",
     "priorities of jobs: 9 (default/one) before 0 (default/two)."),
    (("priority",), {"priorityClassName": "high"}, {"pods": [{"priority": 5}]}, "priority",
     f"priorities of jobs: 9 (default/one) before 0 (default/two). {NOTE}pods, 5, does not count "
     "between jobs."),
    (("priority",), {"priorityClassName": "high"},
     {"priorityClassName": "hihg", "pods": [{"priority": 0}]}, "priority",
     "priorities of jobs: 9 (default/one) before 0 (default/two). default/two has priority 0: its "
     "PodGroup names PriorityClass hihg, which does not exist (near: high)."),
    (("priority",), {"priorityClassName": "high"},
     {"priorityClassName": "low", "pods": [{"priority": 4}]}, "priority",
     "priorities of jobs: 9 (default/one) before -5 (default/two)."),
    (("priority",), {"priorityClassName": "high"},
     {"priorityClassName": "system-node-critical", "pods": [{"priority": 0}]}, "priority",
     "priorities of jobs: 9 (default/one) before 0 (default/two)."),
    (("priority",), {"priorityClassName": "high"},
     {"priorityClassName": "hihg", "pods": [{"priority": 4}]}, "priority",
     "priorities of jobs: 9 (default/one) before 0 (default/two). default/two has priority 0: "
     "there is no PriorityClass hihg among the objects, and the priority of its pods, 4, does not "
     "count between jobs."),
    (("sla", "priority"), {"annotations": {"sla-waiting-time": "1h"}, "created": FIRST},
     {"priorityClassName": "high"}, "sla",
     "deadlines: 2026-01-01 01:00 (default/one) before none (default/two)."),
    (("tdm",), {"annotations": {"volcano.sh/preemptable": "false"}},
     {"annotations": {"volcano.sh/preemptable": "true"}, "created": FIRST}, "tdm",
     "whether a job may be preempted: no (default/one) before yes (default/two)."),
    (("gang",), {"minMember": 2, "created": LATER, "pods": [{}, {"node": "n2"}]},
     {"created": FIRST, "pods": [{}, {"node": "n2"}]}, "gang",
     "whether a gang has its minimum: no (default/one) before yes (default/two)."),
    (("drf",), {"created": LATER}, {"created": FIRST, "pods": [{}, {"node": "n2"}]}, "drf",
     "dominant shares: 0 (default/one) before 0.3 (default/two)."),
]


@pytest.mark.parametrize("plugins, one, two, plugin, said", ORDERS)
def test_the_plugin_that_put_a_job_first_with_both_values(plugins, one, two, plugin, said):
    found = in_turn(plugins, one, two, *CLASSES)
    assert found.text == f"Served before it: default/one. {plugin} compares {said}"
    assert found.numbers == {"first": "default/one", "plugin": plugin, "kind": "job"}


@pytest.mark.parametrize("one, two, said", [
    ({"created": FIRST}, {"created": LATER}, True),
    ({"created": FIRST}, {"created": FIRST}, False)])
def test_the_older_job_comes_first_where_all_plugins_put_both_level(one, two, said):
    found = in_turn(("priority", "gang", "drf", "sla"), one, two)
    assert found is None if not said else found.text == (
        "Served before it: default/one. All plugins put both level, and it is older.")


@pytest.mark.parametrize("first, second, plugin, said", [
    ({"priority": 2}, {"priority": 1}, "capacity",
     "Served before it: queue qa. capacity compares priority and share: 2 and 1 (queue qa) before "
     "1 and 1 (queue qb)."),
    ({}, {}, "capacity", None),
    ({"created": NOW - 100}, {"created": NOW - 10}, "",
     "Served before it: queue qa. All plugins put both level, and it was created earlier "
     "(2027-01-15 07:58, queue qb 2027-01-15 07:59)."),
    ({"created": NOW - 12}, {"created": NOW - 10}, "", None)])
def test_the_queue_that_came_first(first, second, plugin, said):
    queues = [queue(name, priority=facts.get("priority", 0)).changed(metadata={
        "creation_timestamp": facts.get("created")})
        for name, facts in (("qa", first), ("qb", second))]
    found = in_turn((plugin or "gang",), {"queue": "qa"}, {"queue": "qb"}, *queues)
    assert (found and found.text) == said and (not said or found.numbers["kind"] == "queue")


def test_the_first_turn_of_a_job_counts():
    cluster = Cluster().node("n1", cpu=4).job("new", pods=2, min_member=1, cpu=2).job(
        "other", cpu=2)
    found = asked(cluster, ALLOCATE)
    assert found["held_by"].text == (
        "Holders of cpu: default/other 2. Placed in this cycle: default/other 2.")
    assert "came_first" not in found


def test_a_job_that_had_no_turn_was_served_after_the_one_that_had():
    """Its queue has all that it deserves with the first one's pod, and is passed over."""
    cluster = Cluster().node("n1", cpu=8).queue("a", capability={"cpu": 4, "pods": 1}).job(
        "one", queue="a", cpu=4).job("new", queue="a", cpu=1)
    found = asked(cluster, SHARED)
    assert "overused" in found and text_of(found, "came_first") == (
        "Served before it: default/one. All plugins put both level, and it is older.")


def test_pods_without_a_podgroup_are_jobs_of_their_own():
    found = asked(Cluster([node("n1"), *(pod(name, requests={"cpu": "3"}) for name in (
        "one", "two"))]), ALLOCATE, "two")
    assert found["came_first"].text.startswith(
        "Served before it: default/one. All plugins put both level, and it is older. Each of these "
        "pods has a PodGroup of its own, so each is a job:")


def test_a_plugin_whose_values_are_not_known_decides():
    mine = Answers["job_order", lambda left, right: -1 if left.name == "one" else 1]
    with registered(plugin={"mine": mine}):
        text = conf("mine", "gang", "predicates")
        cluster = Cluster().node("n1", cpu=4).job("new", cpu=3).job("one", cpu=3)
        assert text_of(asked(cluster, text), "came_first") == (
            "Served before it: default/one, as mine decides.")


@pytest.mark.parametrize("priority, said", [
    (3, None), (1, "Served before it: queue a. capacity compares priority and share: 2 and 1 "
                   "(queue a) before 1 and 1 (queue b).")])
def test_queues_of_a_tree_are_compared_by_priority_first(priority, said):
    cluster = Cluster().node("n1", cpu=4).queue("a", priority=2).queue("b", priority=priority).job(
        "one", queue="a", cpu=3).job("new", queue="b", cpu=3)
    assert text_of(asked(cluster, LIMITED), "came_first") == said


def test_what_is_admitted_after_a_job_is_not_reserved_before_it():
    after = busy().job("after", queue="a", cpu=1)
    assert asked(after, ADMIT)["held_by"].text == (
        f"Reserved by {MINE}, {G1}. In use by default/old 4.")
    level = Cluster().node("n1", cpu=20).queue("a", capability=8).queue("b")
    for name, of, cpu in (("one", "a", 5), ("new", "a", 4), ("after", "a", 1), ("side", "b", 2)):
        level.job(name, queue=of, cpu=cpu)
    found = asked(level, LIMITED)
    assert found["held_by"].text == (
        "Reserved by default/one 5 (admitted before it in this cycle).")
    assert found["held_by"].context and found["came_first"].context


@pytest.mark.parametrize("more, said", [(["second"], True), ([], False)])
def test_jobs_are_admitted_by_what_all_nodes_have(more, said):
    objects = [queue("default"), node("n1", "4", labels={"pool": "a"}), node("n2", "9"),
               group("old", phase="Running"),
               pod("old-0", "old", requests={"cpu": "3"}, node="n1", phase="Running")]
    for name in ("new", *more):
        objects += [group(name, minResources={"cpu": "2"}), pod(f"{name}-0", name, requests={
            "cpu": "2"}, nodeSelector={"pool": "a"})]
    adds = ("Admission adds up what all nodes have, not only the one that no rule refuses: a queue "
            "with the capability of that node admits fewer at once.")
    assert (adds in Explainer(objects, ADMIT).why("new").text) == said


@pytest.mark.parametrize("above", ["", "nightly"])
def test_what_creates_holders_that_never_start_is_named(above):
    text = (f"ownerReferences: [{{apiVersion: batch/v1, kind: CronJob, name: {above}, uid: c}}]"
            if above else "")
    held = Cluster().node("n1", cpu=4).job("new", cpu=4).add(STUCK.replace("ABOVE", text))
    found = held.why("new").text
    assert "Fewer pods of default/run-1 start or keep running than" in found
    assert ("CronJob default/nightly creates default/run-1: a change that is to last is made "
            "there." in found) == bool(above)


def test_gangs_that_wait_for_each_other_are_no_matter_of_a_job_that_holds_nothing():
    cluster = Cluster().node("n1", cpu=4).job("new", cpu=1)
    for name in "xy":
        cluster.job(name, pods=3, cpu=1, running={"n1": 2})
    found = asked(cluster, ALLOCATE)
    assert "each_other" not in found and "All of them wait for more themselves." in (
        found["held_by"].text)


# -- what is counted, by the state of a pod --------------------------------------------------------

STATES = {"Running": 1, "Bound": 2, "Binding": 4, "Releasing": 8, "Pipelined": 16, "Pending": 32}
"""A pod in each state, and the CPUs that it requests: each sum tells which of them are counted."""
IN_USE = ("Running", "Bound", "Binding")


def every_state():
    """The evidence of a cycle at whose end there is one pod in each state."""
    def one(state, node="", **metadata):
        name, cpu = state.lower(), {"cpu": str(STATES[state])}
        running = {"phase": "Pending"} if state == "Bound" else {}
        return [group(name, minResources=cpu), pod(f"{name}-0", name, node, requests=cpu,
                                                   **running).changed(metadata=metadata)]

    return Explainer([
        queue(), node("n1", cpu="15"), node("n2", cpu="16"), *one("Running", "n1"),
        *one("Bound", "n1"), *one("Binding"), *one("Releasing", "n1", deletion_timestamp=1.0),
        *one("Pending"), *one("Pipelined"), group("leaves", minResources={"cpu": "16"}),
        pod("leaves-0", "leaves", "n2", requests={"cpu": "16"}).changed(metadata={
            "deletion_timestamp": 1.0})], ALLOCATE, NOW).evidence


@pytest.mark.parametrize(("level", "nodes", "counted", "new"), [
    (None, None, IN_USE, ["Binding"]),
    ("default", None, [*IN_USE, "Pipelined"], ["Binding", "Pipelined"]),
    (None, ["n1"], [*IN_USE, "Releasing"], ["Binding"]),
    (None, ["n2"], ["Pipelined"], ["Pipelined"]),
    (None, ["n1", "n2"], [*IN_USE, "Releasing", "Pipelined"], ["Binding", "Pipelined"]),
    (None, [], [], [])], ids=str)
def test_what_is_counted_as_held(level, nodes, counted, new):
    """In the cluster what is in use, in a queue what waits for resources that are released, too,
    and on nodes what is there until it has left.
    """
    seen = every_state()
    found = {str(task.status): task for task in seen.tasks.values() if task.job != "default/leaves"}
    assert {name: task.resreq.get("cpu") / 1000 for name, task in found.items()} == STATES
    held = allocated(seen, seen.trace.records[-1], level, nodes)
    held, placed = ({uid: each["cpu"] / 1000 for uid, each in some.items()
                     if uid != "default/leaves"} for some in held)
    assert held == {f"default/{name.lower()}": STATES[name] for name in counted}
    assert placed == {f"default/{name.lower()}": STATES[name] for name in new}


@pytest.mark.parametrize("plugin", ["capacity", "proportion", "overcommit"])
@pytest.mark.parametrize(("sizes", "admitted"), [
    ((3, 2, 3), "a"), ((2, 3, 1, 2), "ac"), ((5, 2, 3, 2, 1), "bd"), ((5, 6), "")])
def test_what_a_refused_job_finds_reserved_is_that_of_admitted_jobs_alone(plugin, sizes, admitted):
    """Not that of jobs which were refused before it."""
    factor = "{name: overcommit, arguments: {overcommit-factor: 1}}"
    scene = Cluster(conf=conf("gang", "predicates", factor if plugin == "overcommit" else plugin,
                              actions="enqueue, allocate")).queue("q", capability={"cpu": 4}).node(
                                  "n1", cpu=4)
    for name, size in zip("abcde", sizes, strict=False):
        scene.job(name, queue="q", cpu=size)
    waits = [name for name, _ in zip("abcde", sizes, strict=False) if name not in admitted]
    for name in waits:
        holders = {uid for cause in scene.why(name).causes
                   for uid in cause.numbers.get("holders", ())}
        assert holders == {f"default/{each}" for each in admitted if each < name}, name


def test_what_creates_a_pod_again_is_named_only_with_pods_that_are_in_the_way():
    """It is news only to who deletes them."""
    for space, named in (("default", True), ("kube-system", False)):
        cluster = EMPTY.copy().add(stray("web", 3, space=space, owned=True, kind="ReplicaSet"))
        text = text_of(asked(cluster, conf("predicates", actions="allocate")), "held_by")
        assert f"({space}/web)" in text
        assert ("ReplicaSet default/d creates a deleted pod again" in text) is named


@pytest.mark.parametrize(("waits", "said"), [
    ("launcher", "Only pods of default/mpi hold that, and they do not end before this one runs: it "
     "waits for itself, for ever; counted in runPolicy.schedulingPolicy.minAvailable, none of"),
    ("worker", "")])
def test_a_launcher_for_which_its_workers_leave_nothing_waits_for_itself(waits, said):
    owner = [OwnerReference("kubeflow.org/v2beta1", "MPIJob", "mpi", "u", controller=True)]
    objects = [obj.changed(metadata={"owner_references": owner}) if obj.kind == "PodGroup" else obj
               for obj in (node("n1", "4"), group("mpi", minMember=2), *(
                   pod(f"mpi-{role}-{n}", "mpi", place, requests={"cpu": "2"},
                       labels={"training.kubeflow.org/job-role": role})
                   for n, (role, place) in enumerate([("worker", "n1"), ("worker", "n1"),
                                                      (waits, "")])))]
    text = Cluster(objects).why("mpi").text
    assert said in text and ("waits for itself" in text) is bool(said)


def test_jobs_of_one_owner_are_one_holder():
    owner = OwnerReference("ray.io/v1", "RayJob", "ray", "u", controller=True)
    parts = [obj for name in ("x", "y") for obj in (
        group(name, phase="Running").changed(metadata={"owner_references": [owner]}),
        pod(f"{name}-0", name, "n1", requests={"cpu": "1"}))]
    text = Cluster([node("n1", "4"), *parts, group("old", phase="Running"), pod(
        "old-0", "old", "n1", requests={"cpu": "1"}), group("new"), pod(
        "new-0", "new", requests={"cpu": "3"})]).why("new").text
    assert "default/ray 2 (2 PodGroups), default/old 1" in text
