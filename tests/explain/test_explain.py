"""Explanations: each situation tells its own cause with the session's numbers, and what would
change it does.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from itertools import product

import pytest
from recorded_cases import HERE, rows

from volcano_lab.api.formatting import amount_text
from volcano_lab.cluster import Cluster
from volcano_lab.explain import Explainer
from volcano_lab.explain.options import smallest
from volcano_lab.explain.outcome import run
from volcano_lab.explain.requests import still_needed
from volcano_lab.manifests import loader as manifests
from volcano_lab.scheduler import traced
from volcano_lab.trace import Trace
from volcano_lab.trace.cause_trace import CauseTrace
from volcano_lab.trace.state import queue_attributes

FAMILIES = ("fair_share", "hierarchy", "gang", "reclaim", "preempt", "topology")
NO_NUMBER = {
    "no_allocate_action", "no_enqueue_action", "gang_invalid", "no_pods", "no_backfill_action",
    "gated", "pods_leave", "promised", "minimum_promised", "hyper_nodes_not_ready",
    "reclaim_no_candidates", "preempt_no_candidates", "no_default_sub_group", "not_starving"
}
"""Causes that no number of the objects could mend, or that need no mending."""


def conf(*names, actions="enqueue, allocate, backfill", hierarchy=False):
    plugins = "".join(f"  - name: {name}\n" +
                      ("    enableHierarchy: true\n" if hierarchy and name == "capacity" else "")
                      for name in names)
    return f'actions: "{actions}"\ntiers:\n- plugins:\n{plugins}'


def explained(cluster, job="default/train", conf=None):
    return Explainer(cluster.objects(), conf).why(job)


def cause(explanation, code):
    assert code in [each.code for each in explanation.causes], explanation.text
    return next(each for each in explanation.causes if each.code == code)


# -- the situations that people mix up
# ------------------------------------------------------------------------


def tree():
    """Queue dev is below its limit; team, above it, has little left, as prod holds most of it."""
    return (Cluster().node("n1", cpu=16).queue(
        "team", capability=4).queue("dev", parent="team").queue("prod", parent="team").job(
            "old", queue="prod", pods=3, cpu=1, running={"n1": 3}).job("train", queue="dev", cpu=2))


@pytest.mark.long
def test_a_queue_over_its_capability_through_an_ancestor():
    explanation = explained(tree(), conf=conf("gang", "predicates", "capacity", hierarchy=True))
    found = cause(explanation, "ancestor_over_capability")
    assert found.numbers == {
        "asked": {"cpu": 5000}, "limit": {"cpu": 4000}, "level": "team", "short_of": ["cpu"]
    }
    assert ("Queue team, above queue dev, refuses it: cpu 3 allocated + 2 requested = 5"
            in explanation.text)
    assert "queue team: capability cpu 4 -> 5 (train is placed on n1)" in map(
        str, explanation.remedies)


@pytest.mark.long
def test_a_gang_short_of_one_member():
    cluster = Cluster().node("n1", cpu=2).node("n2", cpu=3).job("train", pods=3, cpu=2)
    explanation = explained(cluster, conf=conf("gang", "predicates"))
    gang = cause(explanation, "gang_short")
    assert gang.numbers == {"found": 2, "ready": 0, "min_available": 3
                            } and "2 placed, 1 not" in gang.text
    assert "1 more node like n1 (train is placed on n1, n2, 1 new node)" in map(
        str, explanation.remedies)
    assert ("job default/train: minMember 3 -> 2 (2 pods of train are placed on n1, n2; 1 pod of "
            "it still waits)") in map(str, explanation.remedies)


def test_a_gang_of_which_some_run_lacks_what_neither_ran_nor_was_placed():
    cluster = Cluster().node("n1", cpu=5).job("train", pods=5, cpu=1, min_member=5,
                                              running={"n1": 2}).job(
        "old", cpu=1, running={"n1": 1})
    gang = cause(explained(cluster, conf=conf("gang", "predicates")), "gang_short")
    assert "2 were placed before, 2 in this attempt, 1 not" in gang.text


def test_the_largest_pods_of_a_gang_are_what_it_still_needs():
    cluster = Cluster().node("n1", cpu=9).job("a", cpu=1).job("b", cpu=3)
    jobs = cluster.cache().jobs
    both = jobs["default/a"]
    for task in jobs["default/b"].tasks.values():
        both.add_task_info(task)
    assert [still_needed(both, most).milli_cpu for most in (0, 1, 2, None)] == [
        0, 3000, 4000, 4000]


def test_enough_cpu_in_total_but_on_no_single_node():
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=4)
    cluster.job("old", pods=2, cpu=1, running={"n1": 1, "n2": 1})
    explanation = explained(cluster.job("train", cpu=4))
    found = cause(explanation, "fragmented")
    assert found.numbers == {
        "request": {"cpu": 4000}, "free_in_total": {"cpu": 6000}, "free_on_one_node": {"cpu": 3000},
        "nodes": 2, "allowed": ["n1", "n2"], "best": "n1", "lacks": {"cpu": 1000}, "n": 2}
    assert "6 left in total, but no single node has enough" in explanation.text


def test_devices_that_are_free_on_nodes_without_enough_of_another_resource_are_counted():
    cluster = Cluster().node("full", cpu=8, gpu=8).node("g1", cpu=8, gpu=8).node("g2", cpu=8, gpu=4)
    cluster.node("c1", cpu=8).job("sim", cpu=8, running={"c1": 1}).job(
        "old", cpu=8, gpu=8, running={"full": 1}).job(
        "etl", pods=2, cpu=6, running={"g1": 1, "g2": 1})
    explanation = explained(cluster.job("train", cpu=3, gpu=2))
    assert explanation.head.startswith(
        "train waits for a node that fits: the best with free nvidia.com/gpu, g1, lacks cpu "
        "1. (PodGroup Inqueue, 0 of 1 pods placed)")
    assert "g1, g2 have nvidia.com/gpu 12 free, and too little cpu for this pod." in (
        cause(explanation, "fragmented").text)
    assert cause(explanation, "held_by").text == "Holders of cpu: default/etl 12, default/old 8."


def test_a_pod_that_is_larger_than_any_node_is_reported_and_of_which_size_a_node_would_do():
    cluster = Cluster().node("n1", cpu=4, memory=8).node("n2", cpu=6, memory=8)
    explanation = explained(cluster.job("train", cpu=7, memory=8))
    found = cause(explanation, "larger_than_any_node")
    assert found.numbers["largest"] == {"cpu": 6000}
    assert found.text == ("Pod default/train-0 requests cpu 7; no node is that large, even empty: "
                          "the largest has 6.")
    assert [str(remedy) for remedy in explanation.remedies] == [
        "job default/train: request per pod cpu 7 -> 6 (train is placed on n2)",
        "1 more node like n1 with cpu 7 (train is placed on 1 new node)"]


def test_a_cluster_that_is_full_is_another_thing():
    cluster = Cluster().node("n1", cpu=4).job("old", pods=2, cpu=2, running={"n1": 2}).job(
        "train", cpu=1)
    explanation = explained(cluster, conf=conf("gang", "predicates"))
    assert cause(explanation, "cluster_full").numbers["free_in_total"] == {"cpu": 0}


@pytest.mark.parametrize("plugins", ["gang, overcommit, predicates", "gang, predicates, proportion",
                                     "gang, predicates"])
@pytest.mark.parametrize("actions", ["enqueue, allocate", "allocate"])
def test_a_gang_above_the_whole_cluster_is_reported_first(plugins, actions):
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=4).job("train", pods=5, cpu=2)
    explanation = explained(cluster, conf=conf(*plugins.split(", "), actions=actions))
    assert explanation.head.startswith(
        "train waits for a larger cluster: its minimum requests cpu 10, all nodes together have 8.")
    enough = explained(cluster.job("train", pods=4), conf=conf(*plugins.split(", ")))
    assert "cluster_too_small" not in [each.code for each in enough.causes]


@pytest.mark.parametrize(("least", "asked"), [(2, None), (3, {"cpu": 5000.0})])
def test_of_uneven_pods_the_smallest_are_the_minimum_of_a_gang(least, asked):
    cluster = Cluster().node("n1", cpu=4).job("old", cpu=4, running={"n1": 1}).job(
        "new", pods=2, cpu=3, min_member=least).add(*(f"""\
apiVersion: v1
kind: Pod
metadata: {{name: new-{name}, annotations: {{scheduling.k8s.io/group-name: new}}}}
spec: {{schedulerName: volcano, containers: [{{name: c, resources: {{requests: {{cpu: 1}}}}}}]}}
""" for name in "ab"))
    found = explained(cluster, "new", conf=conf("gang", "predicates", actions="allocate"))
    sums = [each.numbers["asked"] for each in found.causes if each.code == "cluster_too_small"]
    assert sums == ([asked] if asked else [])


def test_overcommit_refuses():
    cluster = Cluster().node("n1", cpu=10).job("old", pods=8, cpu=1, running={"n1": 8}).job(
        "train", pods=5, cpu=1)
    explanation = explained(cluster, conf=conf("gang", "overcommit", "predicates"))
    found = cause(explanation, "overcommit_refuses")
    assert found.numbers["asked"] == {"cpu": 5000} and found.numbers["limit"] == {"cpu": 4000}
    assert "Not admitted by overcommit" in explanation.text
    assert found.records[0].kind == "enqueue_comparison"


def two_queues(**other):
    """Queue a waits for what it deserves while queue b runs on all of the cluster."""
    return (Cluster().node("n1", cpu=8).queue("a").queue("b", **other).job(
        "old", queue="b", pods=8, cpu=1, min_member=1, running={"n1": 8}).job(
            "train", queue="a", pods=2, cpu=1, min_member=1))


def let_in(cluster, name="train"):
    """The cluster's objects, with one PodGroup admitted already."""
    objects = cluster.objects()
    next(obj for obj in objects
         if obj.kind == "PodGroup" and obj.name == name).status.phase = "Inqueue"
    return objects


RECLAIM = conf("gang", "predicates", "capacity", actions="allocate, reclaim")


def test_reclaim_finds_no_victim_because_the_queue_is_within_its_deserved():
    explanation = Explainer(let_in(two_queues(deserved=8).queue("a", deserved=8)),
                            RECLAIM).why("default/train")
    found = cause(explanation, "victims_within_deserved")
    assert len(found.numbers["candidates"]) == 8 and "hold no more than they deserve" in found.text


def test_victims_protected_by_their_gang():
    cluster = two_queues(deserved=2).queue("a", deserved=6).job("old", min_member=8)
    explanation = Explainer(let_in(cluster), RECLAIM).why("default/train")
    found = cause(explanation, "protected_by_gang")
    assert "evicting any would put its gang below its minimum" in found.text and len(
        found.numbers["candidates"]) == 8


TAINT = """\
apiVersion: v1
kind: Node
metadata: {name: n2}
spec: {taints: [{key: dedicated, effect: NoSchedule}]}
status: {allocatable: {cpu: "8", pods: "110"}}
"""


def test_a_taint():
    explanation = explained(Cluster().add(TAINT).job("train", cpu=2), conf=conf(
        "gang", "predicates"))
    found = cause(explanation, "taint")
    assert found.numbers[
        "nodes"] == 1 and "a taint that the pod does not tolerate" in explanation.text
    both = Explainer(Cluster().node("n1", cpu=1).add(TAINT).job("train", cpu=2).objects(),
                     conf("gang", "predicates"))
    assert both.why_not("n2", "default/train-0").codes == ["taint"]
    assert both.why_not("n2", "train").about == "pod default/train-0 on node n2"
    assert both.why_not("n1", "default/train-0").causes[0].numbers == {
        "pod": "default/train-0", "node": "n1",
        "request": {"cpu": 2000}, "free": {"cpu": 1000}
    }


def test_of_a_job_the_first_pod_that_waits_is_asked_about():
    cluster = Cluster().node("n1", cpu=2).job("a", pods=3, min_member=1, cpu=1, running={"n1": 2})
    found = Explainer(cluster.objects(), conf("gang", "predicates")).why_not("n1", "a")
    assert found.about == "pod default/a-2 on node n1" and found.codes == ["insufficient"]


def test_a_refused_node_has_its_reason_where_the_pod_went_elsewhere():
    cluster = Cluster().node("n1", cpu=4).add(TAINT).job("train", cpu=2)
    explain = Explainer(cluster.objects(), conf("gang", "predicates"))
    assert "n1 was the only node" in explain.why("default/train-0").text
    explanation = explain.why_not("n2", "default/train-0")
    assert explanation.codes == ["taint"]
    assert explanation.causes[0].numbers["reason"] == "node(s) had untolerated taint {dedicated: }"
    assert [record.kind for record in explanation.causes[0].records] == ["chose"]
    assert all(
        record is explain.trace.records[record.number] for record in explanation.causes[0].records)


def anti_affine(cluster):
    from volcano_lab.api.objects.affinity import Affinity, PodAffinityTerm, PodAntiAffinity
    from volcano_lab.api.objects.meta import LabelSelector

    term = PodAffinityTerm(label_selector=LabelSelector(match_labels={"app": "train"}),
                           topology_key="kubernetes.io/hostname")
    objects = cluster.objects()
    for obj in objects:
        if obj.kind == "Pod":
            anti = PodAntiAffinity(required_during_scheduling_ignored_during_execution=[term])
            obj.spec.affinity = Affinity(pod_anti_affinity=anti)
    return objects


@pytest.mark.long
def test_anti_affinity():
    host = {"kubernetes.io/hostname": "n1"}
    cluster = Cluster().node("n1", cpu=8, labels=host).job("train", pods=2, cpu=1,
                                                           labels={"app": "train"})
    explanation = Explainer(anti_affine(cluster), conf("gang", "predicates")).why("default/train")
    assert cause(explanation, "anti_affinity"
                 ).numbers["of"] == 1 and "anti-affinity with a pod there" in explanation.text
    assert "1 more node like n1 (train is placed on n1, 1 new node)" in map(
        str, explanation.remedies)


@pytest.mark.long
def test_a_topology_too_small_in_the_recorded_cases():
    cases = [case for case in rows(HERE / "dev-cases.jsonl.gz") if case["family"] == "topology"]
    found = [(explanation, each)
             for case in cases[:40]
             for explanation in pending(case)
             for each in explanation.causes
             if each.code == "topology_too_small"]
    assert any(each.numbers["holds"] for _, each in found)
    for explanation, each in found:
        assert "No " in each.text and "HyperNode" in explanation.text
        takes = Counter(each.numbers["holds"].values())
        assert all(f"take {count} each" in each.text if names > 1 else f" takes {count}"
                   in each.text for count, names in takes.items())


def test_overused_and_not_allocatable_are_distinguished():
    base = (Cluster().node("n1", cpu=4, pods=4).queue("a").queue("b").job(
        "other", queue="b", pods=4, min_member=1,
        cpu=1).job("old", queue="a", pods=2, cpu=1, running={"n1": 2}).job(
            "train", queue="a", pods=2, min_member=1, cpu=1))
    overused = explained(base, conf=conf("gang", "predicates", "proportion"))
    assert overused.codes == ["overused"] and "cpu 2 allocated, 2 deserved" in overused.text
    assert "Holders of cpu in queue a: default/old 2." in overused.text
    explanation = explained(base.node("n1", pods=110), conf=conf("gang", "predicates",
                                                                 "proportion"))
    assert explanation.codes == ["over_deserved"] and "is overused" not in explanation.text


def test_what_is_deserved_to_the_last_byte_is_not_exceeded():
    cluster = (Cluster().node("n1", cpu=4, memory="8Gi").queue("a").queue("b")
               .job("held", queue="a", cpu=2, memory="2Gi", running={"n1": 1})
               .job("train", queue="a", cpu=1, memory="2Gi")
               .job("other", queue="b", cpu=4, memory="8Gi"))
    cause = explained(cluster).causes[0]
    assert (cause.code, cause.numbers) == ("over_deserved", {
        "asked": {"cpu": 3000.0}, "limit": {"cpu": 2000.0}, "short_of": ["cpu"],
        "each": {"cpu": 1000.0}, "stranded": ["default/other"]})
    assert cause.text.endswith(
        "A node has free resources, but one more pod exceeds what each queue deserves: "
        "b (deserves cpu 2, has 0 so far).")


@pytest.mark.long
def test_a_closed_queue_a_best_effort_queue_and_a_job_without_pods():
    closed = Cluster().node("n1", cpu=4).queue("a").job("train", queue="a", cpu=1)
    objects = closed.objects()
    next(obj for obj in objects if obj.kind == "Queue" and obj.name == "a").status.state = "Closed"
    explanation = Explainer(objects).why("default/train")
    assert explanation.codes == ["queue_closed"] and str(
        explanation.remedies[0]).startswith("queue a: state Closed -> Open")
    free = Cluster().node("n1", cpu=1).queue("a").job("train", queue="a", cpu=2)
    free_queue = Explainer(free.objects(), conf("gang", "predicates", "capacity")).why("a")
    assert "best_effort_queue" in free_queue.codes


@pytest.mark.parametrize("priority", [None, 3])
@pytest.mark.parametrize("actions", ["allocate", "allocate, reclaim"])
def test_a_queue_that_deserves_nothing_is_reported_where_a_job_may_reclaim(actions, priority):
    cluster = Cluster().node("n1", cpu=1).queue("a", priority=priority).job("old", cpu=1, running={
        "n1": 1}).job("train", queue="a", cpu=1)
    found = Explainer(cluster.objects(), conf("gang", "predicates", "capacity", actions=actions)
                      ).why("train")
    assert ("has no spec.deserved" in found.text) == ("reclaim" in actions)
    assert ("Its priority of 3 orders it" in found.text) == (
        "reclaim" in actions and priority is not None)


def test_a_pod_that_is_placed_and_a_queue_show_why():
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=8).queue("a", weight=3).job(
        "train", queue="a", pods=2, cpu=1)
    explain = Explainer(cluster.objects())
    task = explain.why("default/train-0")
    scores = explain.trace.scores("default/train-0")
    best = max(scores, key=lambda node: sum(scores[node].values()))
    assert f"node {best} has the highest score, {sum(scores[best].values()):.6g} " in task.text
    assert task.codes == ["best_score"]
    queue = explain.why("a")
    assert "cpu 2 requested, 2 deserved (weight 3), 2 allocated, " in queue.text
    assert "met_request" in queue.codes


@pytest.mark.long
def test_why_a_pod_was_evicted():
    case = next(case for case in rows(HERE / "dev-cases.jsonl.gz")
                if case["family"] == "reclaim" and victims_of(case))
    explain = explainer(case)
    victim = victims_of(case)[0]
    explanation = explain.why(victim)
    found = cause(explanation, "victim")
    assert found.numbers["named_by"] and "allowed it" in explanation.text and explanation.chain[
        -1].kind == "victims"


def test_names_that_no_object_has_are_answered_in_a_sentence():
    explain = Explainer(Cluster().node("n1", cpu=4).job("train", cpu=1).objects())
    with pytest.raises(LookupError,
                       match='no job, pod or queue is called "x"; there are default/train'):
        explain.why("x")
    with pytest.raises(LookupError, match='no node is called "n9"; near it is n1'):
        explain.why_not("n9", "default/train-0")


# -- the recorded cases
# -----------------------------------------------------------------------------------------


def explainer(case):
    return Explainer([manifests.from_dict(obj) for obj in case["objects"]], case["conf"])


def victims_of(case):
    ssn = explainer(case).session
    return [pod for operation, pod, *_ in ssn.committed if operation == "evict"]


def pending(case):
    explain = explainer(case)
    return [explain.why(uid) for uid, job in explain.session.jobs.items()
            if job.has_pending_tasks() or job.is_pending() or not job.tasks]


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_every_job_that_waits_is_explained_with_the_sessions_numbers(family, no_until):
    codes: Counter[str] = Counter()
    for case in [case for case in rows(HERE / "dev-cases.jsonl.gz") if case["family"] == family]:
        explain = explainer(case)
        for uid, job in explain.session.jobs.items():
            if not (job.has_pending_tasks() or job.is_pending() or not job.tasks):
                continue
            explanation = explain.why(uid)
            assert explanation.causes and explanation.text and explanation.codes, (case["name"],
                                                                                   uid)
            codes.update(explanation.codes)
            for each in explanation.causes:
                check_numbers(explain, job, each, f"{case['name']} {uid} {each}")
    assert codes.total() > 20 and codes["unknown"] == codes["no_turn"] == 0, codes


def check_numbers(explain, job, each, where):
    """The numbers of a cause are the session's, and stand in its text."""
    attrs = queue_attributes(explain.session)
    level = each.numbers.get("level", job.queue)
    if each.code in ("queue_over_capability", "ancestor_over_capability"):
        for name, amount in each.numbers["limit"].items():
            assert attrs[level].real_capability.get(
                name) == amount < each.numbers["asked"][name], where
    if each.code == "over_deserved":
        for name, amount in each.numbers["limit"].items():
            assert attrs[level].deserved.get(name) == amount < each.numbers["asked"][name], where
    if each.code == "larger_than_any_node":
        nodes = [explain.session.nodes[name]
                 for name in each.numbers.get("allowed", explain.session.nodes)]
        request, largest = each.numbers["request"], each.numbers["largest"]
        assert largest, where
        assert all(amount == max(node.allocatable.get(name) for node in nodes) < request[name]
                   for name, amount in largest.items()), where
    if each.code in ("fragmented", "cluster_full") and each.records:  # else of the next cycle
        task = next(task for task in job.tasks.values() if task.key == each.records[0]["task"])
        assert {name: task.init_resreq.get(name)
                for name in each.numbers["request"]} == each.numbers["request"], where
        total, most, request = (each.numbers[key]
                                for key in ("free_in_total", "free_on_one_node", "request"))
        assert (each.code == "fragmented") == all(
            total[name] >= request[name] for name in request), where
        assert all(most[name] <= total[name] for name in most), where
    if each.code == "gang_short":
        assert each.numbers["min_available"] == job.min_available and each.numbers[
            "ready"] == job.ready_task_num(), where
    for name, amount in each.numbers.get("limit", {}).items():
        assert amount_text(name, amount) in each.text, where
    assert re.search(r"\w+.*\.$", each.text), where


def single_cause(explanation):
    """Whether one cause stands alone, in one resource, and a number could mend it; that of a job
    whose places are promised already is mended; without allocate, or where reclaim may not act for
    it either, there are two.
    """
    causes = [each for each in explanation.causes if not each.context] or explanation.causes
    if {"promised", "not_starving", "reclaim_not_eligible", "reclaim_no_candidates"} & {
            each.code for each in explanation.causes}:
        return False
    return len(causes) == 1 and causes[0].code not in NO_NUMBER and len(causes[0].numbers.get(
        "short_of", [0])) == 1


@pytest.mark.slow
def test_what_would_change_it_does_for_jobs_with_a_single_cause(no_until):
    logging.disable(logging.ERROR)
    total = mended = 0
    for family in FAMILIES:
        for case in [
                case for case in rows(HERE / "dev-cases.jsonl.gz") if case["family"] == family
        ][41:50:2]:
            actions = explainer(case).session.enabled_actions
            for explanation in filter(single_cause, pending(case)) if "allocate" in actions else ():
                if "reclaim" in actions and "queue_over_capability" in explanation.codes:
                    continue  # reclaim does not act for it either
                total += 1
                mended += bool(explanation.remedies)
                for remedy in explanation.remedies[:1]:
                    uid = explanation.about.removeprefix("job ")
                    job = run(*remedy.world.applied(remedy.tried)).jobs[uid]
                    assert not job.is_pending() or not job.tasks, (case["name"], str(remedy))
    logging.disable(logging.NOTSET)
    assert total > 20 and mended >= 0.97 * total, (mended, total)


def test_searches_for_victims_read_as_in_a_whole_trace():
    cluster = Cluster().node("n1", cpu=4).queue("a").queue("b").job(
        "old", queue="b", pods=4, min_member=1, cpu=1, running={"n1": 4}).job(
        "train", queue="a", cpu=1)
    text = conf("gang", "predicates", "proportion", actions="allocate, reclaim")
    brief, whole = CauseTrace(), Trace()
    traced(cluster.objects(), text, trace=brief, now=1e9)
    traced(cluster.objects(), text, trace=whole, now=1e9)
    read, all_of_them = brief.of("reclaimable"), whole.of("reclaimable")
    assert read and [(r.kind, r.action, r.get("task"), r.facts) for r in read] == [
        (r.kind, r.action, r.get("task"), r.facts) for r in all_of_them]
    assert [record.get("point") for record in read] == ["reclaimable"] * len(read)


def test_the_fewest_steps_are_found():
    tried = []

    def turns(step):
        tried.append(step)
        return step >= 37

    assert smallest(turns, 1000) == 37 and len(tried) < 16
    assert smallest(turns, 1000, 37) == smallest(turns, 1000, 30) == smallest(turns, 1000, 90) == 37
    assert smallest(lambda step: step == 1000, 1000) == 1000


@pytest.mark.parametrize("near", [1, 2, 4])
@pytest.mark.parametrize("steps", [1, 2, 7, 24])
def test_the_fewest_steps_are_those_by_definition(steps, near):
    """At most `near` minus one more; the first step is tried first, none beyond the most, and not
    all of them.
    """
    for first, turn in product(range(1, steps + 1), range(1, steps + 2)):
        tried = []
        found = smallest(lambda step, tried=tried, turn=turn: (tried.append(step), step >= turn)[1],
                         steps, first, near)
        assert found is None if turn > steps else turn <= found < min(turn + near, steps + 1)
        assert tried[0] == first and set(tried) <= set(range(1, steps + 1))
        assert len(tried) <= 3 + 2 * steps.bit_length()


def test_an_explanation_is_printed_as_a_notebook_shows_it():
    found = Cluster().node("n1", cpu=4).job("train", cpu=6).why("train")
    assert str(found).split("\n\n")[:2] == [found.head, found.causes[0].text]
    assert str(found) == found._repr_mimebundle_()["text/plain"]
    assert repr(found) == "<job default/train: overcommit_refuses>"
