"""Why preempt and reclaim evict nothing for a job that waits."""

import pytest
from hyper_scene import gang, hyper_node
from small_cluster import conf, group, node, pod

from volcano_lab import Cluster
from volcano_lab.explain import Explainer
from volcano_lab.explain.evictions import may_evict
from volcano_lab.manifests import loader

PREEMPT = conf("priority", "gang", "conformance", "cdp", "predicates", actions="allocate, preempt")
RECLAIM = conf("gang", "predicates", "proportion", actions="allocate, reclaim")
CAPACITY = conf("gang", "predicates", "capacity", actions="allocate, reclaim")
BOTH = conf("priority", "gang", "predicates", "proportion", actions="allocate, preempt, reclaim")
COOLS = {"labels": {"volcano.sh/cooldown-time": "1h"}, "conditions": [
    {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2027-01-15T07:30:00Z"}]}
CODES = ("not_less_important", "protected", "victims", "preempt_", "reclaim_", "no_preempt",
         "no_reclaim", "unanswered", "gang_content", "minimum_promised", "not_preemptable")


def klass(name, value, **fields):
    return loader.from_dict({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                             "metadata": {"name": name}, "value": value, **fields})


def full(pods=2, least=1, new=None, **old):
    """A node that a job of some pods fills; one of a higher priority waits, unless it is given."""
    return Cluster().node("n1", cpu=4).add(klass("high", 9)).job(
        "old", pods=pods, cpu=4 // pods, min_member=least, running={"n1": pods}, **old).job(
        "new", **new or {"cpu": 2, "priority_class": "high"})


def queues(cpu=1, least=1, a=None, b=None, **new):
    """A node that a job of queue b fills; one of queue a waits."""
    return Cluster().node("n1", cpu=4).queue("a", **a or {}).queue("b", **b or {}).job(
        "old", queue="b", cpu=1, pods=4, min_member=least, running={"n1": 4}).job(
        "new", queue="a", cpu=cpu, **new)


def single(**words):
    """A node that one pod fills."""
    return Cluster([node("n1"), klass("high", 9), group("old"), pod(
        "old-0", "old", "n1", requests={"cpu": "4"}, **words)]).job(
        "new", cpu=2, priority_class="high")


KEPT = ("protected_by_gang", "preempt finds 1 candidate (of default/old), but gang allows none: "
        "evicting any would put its gang below its minimum.")
TABLE = [  # the cluster, the configuration, codes and sentences
    (full(new={"cpu": 2}), PREEMPT, [("not_less_important", "preempt finds 2 candidates (of "
     "default/old), but priority allows none: the lowest priority among their jobs is 0, and this "
     "job has 0.")]),
    (full(new={"cpu": 2}, priority_class="high"), PREEMPT, [("not_less_important", "preempt finds "
     "2 candidates (of default/old), but priority allows none: the lowest priority among their "
     "jobs is 9, and this job has 0.")]),
    (full(least=2), PREEMPT, [("protected_by_gang", "preempt finds 2 candidates (of default/old), "
     "but gang allows none: evicting any would put its gang below its minimum.")]),
    (full(new={"cpu": 4, "priority_class": "high"}), PREEMPT, [("victims_insufficient", "preempt "
     "may evict at most 1 pod on one node (n1, of default/old): cpu 2 would be free there, 4 "
     "requested."), ("protected_by_gang", "1 more pod of default/old is allowed by the other "
                     "plugins, and not by gang: evicting more would put its gang below its "
                     "minimum.")]),
    (full(new={"pods": 2, "cpu": 2, "priority_class": "high"}), PREEMPT, [
        ("victims_insufficient", "preempt finds resources for 1 of the 2 pods that its gang "
         "needs at once, and none for the next one: it undoes its evictions."),
        ("protected_by_gang", "preempt finds 1 candidate (of default/old), but gang allows none: "
         "evicting any would put its gang below its minimum.")]),
    (queues(cpu=2, least=4, pods=2).node("n2", cpu=4).job(
        "small", cpu=1, pods=2, queue="b", running={"n2": 2}), RECLAIM,
     [("protected_by_gang", "reclaim finds 6 candidates (of default/old, default/small), but gang "
       "allows none: evicting any would put its gang below its minimum.")]),
    (full(new={"pods": 2, "min_member": 1, "cpu": 2}).node("n2", cpu=2), BOTH, [
        ("gang_content", "Its gang has its minimum of 1, so reclaim and preempt evict no pod for "
         "more of it.")]),
    (full(), conf("priority", "gang", "predicates"), [("no_preempt_action", "default/old of queue "
     "default has a lower priority: no preempt action is configured.")]),
    (full(new={"cpu": 2}), conf("priority", "gang", "predicates"), []),
    (full(), PREEMPT.replace("name: priority", "name: priority, enablePreemptable: false").replace(
        "name: gang", "name: gang, enablePreemptable: false").replace("conformance", "nodeorder"
        ).replace("name: cdp", "name: cdp, enablePreemptable: false"),
     [("unanswered", "preempt evicts no pod for any job: no plugin answers preemptable (priority "
       "of tier 1 has enablePreemptable: false, gang of tier 1 has enablePreemptable: false, cdp "
       "of tier 1 has enablePreemptable: false).")]),
    (queues(), RECLAIM.replace("name: gang", "name: gang, enableJobStarving: false"),
     [("unanswered", "reclaim evicts no pod for any job: no plugin answers job_starving (gang of "
       "tier 1 has enableJobStarving: false).")]),
    (queues(), conf("predicates", actions="allocate, reclaim"),
     [("unanswered", "reclaim evicts no pod for any job: no plugin answers reclaimable.")]),
    (single(), PREEMPT, [KEPT]),
    (single(**COOLS), PREEMPT, [KEPT, (
        "protected_by_cooldown", "cdp would allow none either: they have run for less than their "
        "volcano.sh/cooldown-time.")]),
    (single(annotations={"volcano.sh/preemptable": "false"}), PREEMPT, [
        ("preempt_no_candidates", "preempt finds no node where evicting pods of its own queue "
         "would free enough."),
        ("not_preemptable", "preempt evicts no pods of default/old: they have "
         "volcano.sh/preemptable: false.")]),
    (single().node("n2", cpu=4).add(group("own"), pod("own-0", "own", "n2", requests={
        "cpu": "4"}, annotations={"volcano.sh/preemptable": "false"})), PREEMPT, [
        KEPT, ("not_preemptable", "preempt evicts no pods of default/own: they have "
               "volcano.sh/preemptable: false.")]),
    (single().add(group("never", priorityClassName="high"), pod(
        "never-0", "never", requests={"cpu": "2"}, preemptionPolicy="Never")).job("new", cpu=9),
     PREEMPT, [("preempt_not_eligible", "preempt does nothing for pod default/never-0: its "
                "preemption policy is Never.")]),
    (single().add(klass("meek", 9, preemptionPolicy="Never"), group(
        "never", priorityClassName="meek"), pod("never-0", "never", requests={"cpu": "2"},
        priorityClassName="meek", preemptionPolicy="Never")).job("new", cpu=9), PREEMPT, [
        ("preempt_not_eligible", "preempt does nothing for pod default/never-0: its preemption "
         "policy is Never. It has that from PriorityClass meek, whose preemptionPolicy cannot be "
         "edited: create another class, and the job again with it.")]),
    (queues(b={"reclaimable": False}), RECLAIM, [("reclaim_no_candidates", "reclaim takes nothing "
     "from queue b, which holds cpu 4, deserves 3 and has spec.reclaimable: false.")]),
    (queues(cpu=3, least=2, a={"weight": 3}), RECLAIM, [("victims_insufficient", "reclaim may "
     "evict at most 2 pods on one node (n1, of default/old): cpu 2 would be free there, 3 "
     "requested (queue b: cpu 4 allocated, 1 deserved)."), (
        "protected_by_gang", "1 more pod of default/old is allowed by the other plugins, and not "
        "by gang: evicting more would put its gang below its minimum.")]),
    (queues(a={"deserved": 2}, b={"deserved": 4}), CAPACITY, [("victims_within_deserved",
     "reclaim finds 4 candidates (of default/old), but capacity allows none: their queues hold no "
     "more than they deserve (queue b: cpu 4 allocated, 4 deserved). The queues deserve cpu 6 in "
     "total, and the cluster has 4.")]),
    (queues(), RECLAIM.replace(", reclaim", ""), [("no_reclaim_action", "Queue b holds cpu 4, "
     "deserved 3: no reclaim action is configured.")]),
    (queues(cpu=2).node("n2", cpu=1).node("n3", cpu=1), RECLAIM.replace(", reclaim", ""), []),
    (queues(b={"reclaimable": False}), RECLAIM.replace(", reclaim", ""), [("no_reclaim_action",
     "Queue b holds cpu 4, deserved 3: no reclaim action is configured, and it has reclaimable: "
     "false.")]),
    (queues().job("old", pods=2, running={"n1": 2}).job(
        "mine", queue="a", cpu=1, pods=2, running={"n1": 2}), RECLAIM,
     [("reclaim_not_eligible", "reclaim does nothing for pod default/new-0: the queue may not "
       "reclaim for it (queue a: cpu 2 allocated, 2 deserved).")])]


@pytest.mark.parametrize("cluster, settings, said", TABLE)
def test_why_nothing_is_evicted_for_a_job(cluster, settings, said):
    name = "never" if "never-0" in str(said) else "new"
    causes = Explainer(cluster.objects(), settings, 1_800_000_000).why(name).causes
    found = [(cause.code, cause.text) for cause in causes if cause.code.startswith(CODES)]
    assert found == said
    assert all(cause.context for cause in causes if cause.code.startswith(CODES))


@pytest.mark.parametrize(("mine", "theirs", "actions"), [
    ({}, {}, ["reclaim"]), ({"priority_class": "high"}, {}, ["preempt", "reclaim"]),
    ({}, {"priority_class": "high"}, ["reclaim"])])
def test_the_actions_that_are_meant_for_a_job_of_another_queue(mine, theirs, actions):
    cluster = Cluster().node("n1", cpu=1).add(klass("high", 9)).queue("a").queue("b")
    cluster.job("old", queue="b", cpu=1, running={"n1": 1}, **theirs).job(
        "new", queue="a", cpu=1, **mine)
    seen = Explainer(cluster.objects(), BOTH).evidence
    job = seen.ssn.jobs["default/new"]
    assert [each for each in ("preempt", "reclaim") if may_evict(seen, job, each)] == actions


def test_what_refused_a_pod_before_pods_are_evicted_for_it_is_said():
    cluster = Cluster().node("n1", cpu=8).add(klass("high", 9)).queue("a", capability=4).job(
        "old", queue="a", pods=4, cpu=1, min_member=1, running={"n1": 4}).job(
        "new", queue="a", cpu=1, priority_class="high")
    found = Explainer(cluster.objects(), conf(
        "priority", "gang", "predicates", "proportion", actions="allocate, preempt")).why("new")
    assert found.codes[:1] == ["promised"]
    assert ("Allocate could not place it before that: Queue a refuses pod default/new-0: cpu 4 "
            "allocated + 1 requested = 5, deserved 4 (its capability" in found.text)


@pytest.mark.long
@pytest.mark.parametrize("topology", [{"mode": "hard", "highestTierAllowed": 1}, {
    "mode": "soft"}, None])
def test_a_job_with_a_network_topology_evicts_nothing_and_may_do_without(topology):
    cluster = Cluster([node("n1"), node("n2"), hyper_node("s", 1, "node:n1", "node:n2"), klass(
        "high", 9), *gang("old", 2, nodes=["n1", "n2"], cpu="4"), *gang(
        "new", 1, topology, cpu="4", priorityClassName="high")])
    objects = [obj.changed(spec={"min_member": 1}) if obj.key == "default/old" else obj
               for obj in cluster.objects()]
    found = Explainer(objects, PREEMPT).why("new")
    said = "preempt does nothing for it: jobs with a network topology do not preempt"
    assert (said in found.text) == bool(topology)
    change = "job default/new: without its networkTopology"
    evicts = [remedy for remedy in found.remedies if remedy.change == change]
    assert bool(evicts) == bool(topology)
    assert all("evicts 1 pod of old" in each.effect for each in evicts)


@pytest.mark.long
@pytest.mark.parametrize("first, lost", [("a", True), ("m", False)])
def test_preempt_that_visits_another_queue_first_is_a_known_defect(first, lost):
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=4).add(klass("high", 9))
    for queue, node_name in (first, "n1"), ("b", "n2"):
        cluster.queue(queue).job(f"old-{queue}", queue=queue, pods=4, min_member=1, cpu=1,
                                 running={node_name: 4})
    cluster.job("new", queue="b", cpu=1, priority_class="high").job("alike", queue="b", cpu=1)
    assert "5140" not in cluster.why("alike", conf=BOTH).text  # its priority lets it evict none
    found = cluster.why("new", conf=BOTH)
    said = ("preempt visits queue a before queue b, and there tries the waiting pods of this job "
            "once, against pods of their own job.")
    assert (said in found.text) == ("#5140: " in found.text) == lost
    assert ("preempt evicts default/old-b-" in found.text) is not lost
    assert "would free enough" not in found.text


@pytest.mark.parametrize("name, actions, said", [
    ("high", "enqueue, allocate", True), ("", "enqueue, allocate", False),
    ("high", "enqueue, allocate, preempt", False)])
def test_a_job_that_is_refused_says_why_it_evicts_none_of_a_lower_priority(name, actions, said):
    found = full(least=2, new={"cpu": 2, "priority_class": name}).explainer(conf(
        "priority", "gang", "predicates", "proportion", actions=actions)).why("new")
    assert found.codes == ["queue_over_capability"]
    assert ("default/old of queue default has a lower priority: no preempt action is configured. "
            "preempt evicts pods for admitted jobs only." in found.text) is said


@pytest.mark.long
def test_preempt_is_offered_to_a_job_that_is_refused_without_a_larger_set_of_the_same():
    single = {"cpu": 4, "pods": 1, "running": {"n1": 1}}
    found = Cluster().node("n1", cpu=4).add(klass("high", 9)).job("old", **single).job(
        "new", cpu=4, priority_class="high").explainer(conf(
            "priority", "gang", "predicates", "proportion", actions="enqueue, allocate").replace(
                "name: gang}", "name: gang, enablePreemptable: false}")).why("new")
    changes = [str(remedy.change) for remedy in found.remedies]
    assert changes[0] == "actions with preempt and without enqueue"
    assert not any("preempt" in change for change in changes[1:])


@pytest.mark.long
def test_preempt_is_offered_with_the_switches_that_let_it_evict_gangs():
    found = Cluster().node("n1", cpu=8).node("n2", cpu=8).add(klass("high", 9)).job(
        "old", pods=2, cpu=8, running={"n1": 1, "n2": 1},
        labels={"volcano.sh/preemptable": "true"}).job(
        "new", pods=2, cpu=8, priority_class="high").explainer(conf(
            "priority", "gang", "overcommit", "predicates", "proportion",
            actions="enqueue, allocate")).why("new")
    first = found.remedies[0]
    assert str(first.change) == (
        "both: actions with preempt and without enqueue; enablePreemptable: false for gang")
    assert "evicts 2 of 2 pods of old, below its minimum of 2" in str(first)


TIERS = """\
actions: "enqueue, reclaim, allocate, backfill, preempt"
tiers:
- plugins: [{name: priority}, {name: gang}]
- plugins: [{name: overcommit}, {name: drf}, {name: predicates}, {name: proportion}]
"""


@pytest.mark.long
def test_a_change_that_is_offered_is_no_part_of_a_larger_one():
    found = Cluster().node("n1", cpu=4).node("n2", cpu=4).queue("a").queue("b").add(klass(
        "high", 9)).job("old", queue="a", cpu=1, pods=7, min_member=1, priority_class="high",
                        running={"n1": 4, "n2": 3}).job("new", queue="b", cpu=1, pods=4)
    changes = [str(remedy.change) for remedy in found.explainer(TIERS).why("new").remedies]
    assert [each for each in changes if "without enqueue" in each] == ["actions without enqueue"]


@pytest.mark.long
@pytest.mark.parametrize(("least", "plugins", "said"), [
    (2, ("priority", "gang", "predicates"), True), (1, ("priority", "gang", "predicates"), False),
    (4, ("priority", "gang", "predicates"), False), (2, ("gang", "predicates"), False)])
def test_pods_above_the_minimum_of_an_equal_gang_are_for_preempt(least, plugins, said):
    found = Explainer(full(4, least, {"cpu": 1}).objects(), conf(*plugins)).why("new")
    assert ("In its queue default/old has 2 pods above its minimum of 2: only preempt, which is "
            "not configured, takes pods above a minimum, for a higher priority." in found.text
            ) is said
    pair = "both: job default/new: a PriorityClass above 0; actions with preempt"
    assert [each.effect for each in found.remedies if each.change == pair] == [
        "new is pipelined to n1; evicts 1 pod of old"] * said


def test_with_a_hierarchy_drf_compares_queues_and_says_so():
    queues = "\n---\n".join(f"""apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: {name}, annotations: {{volcano.sh/hierarchy: root/{name},
                                        volcano.sh/hierarchy-weights: 1/1}}}}
spec: {{reclaimable: true}}
status: {{state: Open}}""" for name in "ab")
    cluster = Cluster().node("n1", cpu=4).add(queues).job(
        "old", queue="a", pods=2, cpu=2, min_member=1, running={"n1": 2}).job(
        "new", queue="b", cpu=4)
    found = cluster.explainer(conf("gang", "{name: drf, enableHierarchy: true}", "predicates",
                                   actions="allocate, reclaim")).why("new")
    kept = next(cause for cause in found.causes if cause.code == "protected_by_drf")
    assert "by hierarchical share" in kept.text and "dominant share than" not in kept.text
