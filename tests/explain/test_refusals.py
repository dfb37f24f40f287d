"""Which queue refuses a job or a pod of it, with the sum, its limit and where that is from."""

import pytest
from small_cluster import conf, group, node, pod, queue, quota

from explain.test_questions import LATER
from volcano_lab import Cluster
from volcano_lab.api.quantity import parse
from volcano_lab.explain import Explainer

ADMITTED = conf("gang", "predicates", "proportion", actions="enqueue, allocate")
SHARED = conf("gang", "predicates", "proportion")
OVERCOMMIT = conf("overcommit", "predicates", "proportion", actions="enqueue, allocate")
TREE = conf("gang", "predicates", "{name: capacity, enableHierarchy: true}")
TREE_ADMITTED = TREE.replace('"allocate"', '"enqueue, allocate"')


def queues(**limits):
    """Eight CPUs, and queues a and b."""
    return Cluster().node("n1", cpu=8).queue("a", **limits).queue("b")


OWN = "Counted in: 2 pods of this job, placed earlier in the same attempt."
LINE = Cluster().node("n1", cpu=9).queue("up", capability=5)
TABLE = [  # cluster, configuration, the first sentences, the next ones of a queue above
    (queues(capability=2).job("new", queue="a", cpu=3), ADMITTED,
     "Queue a refuses it: cpu 3 requested, limit 2 (its capability).", None),
    (queues(capability=2).job("new", queue="a", cpu=2), ADMITTED, None, None),
    (queues(capability={"cpu": 2, "memory": "1Gi"}).node("n2", memory="9Gi").job(
        "new", queue="a", cpu=3, memory="2Gi"), ADMITTED,
     "Queue a refuses it: cpu 3 and memory 2Gi requested, limit cpu 2 and memory 1Gi (its "
     "capability).", None),
    (queues(capability=4).job("old", queue="a", pods=3, min_member=1, cpu=1, running={"n1": 3}).job(
        "new", queue="a", cpu=4), ADMITTED,
     "Queue a refuses it: cpu 3 allocated + 4 requested - 2 above the minimums = 5, limit 4 (its "
     "capability).", None),
    (LINE.copy().queue("a", parent="up", capability=3).job("new", queue="a", cpu=6), TREE_ADMITTED,
     "Queue a refuses it: cpu 6 requested, limit 3 (its capability).",
     "Queue up would refuse it, too: cpu 6 > limit 5 (its capability)."),
    (LINE.copy().queue("a", parent="up", capability=3).job("new", queue="a", cpu=4), TREE_ADMITTED,
     "Queue a refuses it: cpu 4 requested, limit 3 (its capability).", None),
    (LINE.copy().queue("a", parent="up").job("new", queue="a", pods=6, cpu=1), TREE,
     "Queue a refuses pod default/new-5: cpu 5 allocated + 1 requested = 6, limit 5 (the limit of "
     "queue up above it). Counted in: 5 pods of this job, placed earlier in the same attempt.",
     "Queue up would refuse it, too: cpu 6 > limit 5 (its capability)."),
    (queues().job("new", queue="a", cpu=4).queue("b", guarantee=5), TREE_ADMITTED,
     "Queue a refuses it: cpu 4 requested, limit 3 (8 of queue root above it - 5 guaranteed to b "
     "(no jobs)).",
     None),
    (queues().job("other", queue="b", cpu=4).job("new", queue="a", pods=3, cpu=2), SHARED,
     "Queue a refuses pod default/new-2: cpu 4 allocated + 2 requested = 6, deserved 4 (weight 1). "
     f"{OWN} At that point a node has free resources: they are kept for b (deserves cpu 4, has 0 "
     "so far).",
     None),
    (queues().job("other", queue="b", cpu=6, pods=2, min_member=1).job(
        "new", queue="a", pods=3, cpu=2), SHARED,
     "Queue a refuses pod default/new-2: cpu 4 allocated + 2 requested = 6, deserved 4 (weight 1). "
     f"{OWN} A node has free resources, but one more pod exceeds what each queue deserves: b "
     "(deserves cpu 4, has 0 so far).", None),
    *((queues().job("other", queue="b", cpu=6, pods=2, min_member=1).job(
        "new", queue="a", pods=3, cpu=2).add(group("g", of, minResources={"cpu": "1"})), SHARED,
       "Queue a refuses pod default/new-2: cpu 4 allocated + 2 requested = 6, deserved 4 (weight "
       f"1). {OWN} {said} b (deserves cpu 4, has 0 so far).", None)
      for of, said in (("b", "At that point a node has free resources: they are kept for"), (
          "a", "A node has free resources, but one more pod exceeds what each queue deserves:"))),
    (queues(capability=4).job("new", queue="a", pods=3, cpu=2), SHARED,
     "Queue a refuses pod default/new-2: cpu 4 allocated + 2 requested = 6, deserved 4 (its "
     f"capability, weight 1). {OWN}", None),
    (queues().queue("b", guarantee=5).job("new", queue="a", pods=2, cpu=2), SHARED,
     "Queue a refuses pod default/new-1: cpu 2 allocated + 2 requested = 4, deserved 3 (8 in the "
     "cluster - 5 guaranteed to b (no jobs), weight 1). Counted in: 1 pod of this job, placed "
     "earlier in the same attempt.", None),
    (queues().job("old", queue="a", cpu=4, running={"n1": 1}).job(
        "other", queue="b", cpu=4, running={"n1": 1}).job("new", queue="a", cpu=1), SHARED,
     "Queue a refuses pod default/new-0: cpu 4 allocated + 1 requested = 5, deserved 4 (weight 1).",
     None),
    (queues().job("new", cpu=10), OVERCOMMIT,
     "Not admitted by overcommit: cpu 0 reserved + 10 requested = 10, limit 9.6 (8 in the cluster "
     "× factor 1.2).", None),
    (queues().job("new", cpu=1, gpu=1), OVERCOMMIT,
     "Not admitted by overcommit: nvidia.com/gpu 1 requested, and the nodes of the cluster have 0.",
     None)]


@pytest.mark.long
def test_a_limit_counts_all_that_the_whole_gang_exceeds():
    limits = {"cpu": 4, "memory": "8Gi"}
    held = Cluster().node("n1", cpu=16, memory="64Gi").queue("a", capability=limits).job(
        "old", queue="a", cpu=1, memory="4Gi", running={"n1": 1}).job(
        "new", queue="a", pods=4, cpu=1, memory="3Gi")
    found = Explainer(held.objects(), TREE).why("new")
    assert found.head.startswith("new waits for quota: queue a is memory 8Gi and cpu 1 short.")
    assert ("With the 4 pods of its gang: memory 4Gi and cpu 1 + memory 12Gi and cpu 4 = memory "
            "16Gi and cpu 5, limit memory 8Gi and cpu 4.") in found.text
    assert "queue a: capability cpu 4, memory 8Gi -> cpu 5, memory 16Gi" in [
        remedy.change for remedy in found.remedies][:1]


@pytest.mark.parametrize("factor, said", [("1.2", False), ("3", True)])
def test_a_queue_that_may_hold_the_whole_cluster_is_named_where_no_other_sum_is(factor, said):
    overcommit = f"{{name: overcommit, arguments: {{overcommit-factor: {factor}}}}}"
    settings = conf("gang", overcommit, "proportion", actions="enqueue, allocate")
    text = Explainer(queues().job("new", queue="a", cpu=10).objects(), settings).why("new").text
    assert ("It requests cpu 10, and the whole cluster has 8." in text) is said


@pytest.mark.parametrize("cluster, settings, said, above", TABLE)
def test_the_queue_that_refuses(cluster, settings, said, above):
    causes = Explainer(cluster.objects(), settings).why("new").causes
    texts = [cause.text for cause in causes if cause.code not in ("held_by", "gang_short")]
    assert (texts[0] if texts else None) == said
    assert [text for text in texts if "would refuse it, too" in text
            and "Queue default" not in text] == [above] * bool(above)
    for cause in causes:
        if "limit" in cause.numbers and "asked" in cause.numbers:
            assert all(cause.numbers["asked"][name] > cause.numbers["limit"][name]
                       for name in cause.numbers["short_of"])


@pytest.mark.parametrize(("used", "first", "asked", "short"), [
    ("2500m", "0", "2", "500m"), ("2", "1", "2", "1"), ("2", "1", "1", None), ("0", "0", "5", "1"),
    ("6", "0", "1", "3")])
def test_how_much_a_resource_quota_is_short_of(used, first, asked, short):
    """What is used, of a job admitted before it in this cycle, and requested; the limit is 4."""
    new = group("new", phase="Pending", minResources={"requests.cpu": asked})
    objects = [queue(), node("n1", cpu="20"), quota("q", {"requests.cpu": "4"}, {
        "requests.cpu": used}), group("a", phase="Pending", minResources={"requests.cpu": first}),
        pod("a-0", "a", requests={"cpu": "1"}), group("there"), pod("there-0", "there", "n1"),
        new, pod("new-0", "new", requests={"cpu": asked})]
    causes = {cause.code: cause for cause in Explainer(objects, conf(
        "resourcequota", "predicates", actions="enqueue, allocate")).why("new").causes}
    if short is None:
        assert "resource_quota" not in causes
        return
    found = causes["resource_quota"]
    assert not found.context and causes["quota_used"].context
    own = f", of which {asked} by its own pods," if parse(asked) <= parse(used) else ""
    assert (f"{used} used{own} + {first} of jobs admitted in this cycle + {asked} requested > 4"
            in found.text)
    assert found.numbers["twice"] is (bool(own) and parse(short) <= parse(asked))
    assert found.numbers["short"] == [f"requests.cpu {short}"]
    ((name, whole),) = found.numbers["wanted"]
    assert (name, parse(whole)) == ("requests.cpu", 4 + parse(short))


def test_a_plugin_that_abstains_refuses_nothing():
    found = Explainer(queues().job("new", cpu=10).objects(), OVERCOMMIT.replace(
        "{name: overcommit}", "{name: sla}\n  - {name: overcommit}")).why("new").codes
    assert "overcommit_refuses" in found and "refused" not in found


def test_an_overused_queue_is_passed_over_by_reclaim_as_well():
    cluster = queues(capability={"cpu": 4, "pods": 1}).job(
        "old", queue="a", cpu=4, running={"n1": 1}).job(
        "other", queue="b", pods=4, min_member=1, cpu=1, running={"n1": 4})
    causes = {cause.code: cause for cause in Explainer(
        cluster.job("new", queue="a", cpu=1).objects(), SHARED.replace(
            '"allocate"', '"allocate, reclaim"')).why("new").causes}
    assert causes["overused"].text == (
        "Queue a is overused by proportion: cpu 4 allocated, 4 deserved. Allocate passes it over.")
    assert causes["reclaim_overused"].text == (
        "reclaim does nothing for it: its queue is overused (queue a: cpu 4 allocated, 4 "
        "deserved).")
    assert causes["reclaim_overused"].context and causes["held_by"].text == (
        "Holders of cpu in queue a: default/old 4.")


@pytest.mark.parametrize(("least", "pods", "whole"), [
    (1, 1, "cpu 1 short"), (1, 3, "cpu 3 short"), (3, 3, "cpu 3 short"), (2, 3, "cpu 2 short")])
@pytest.mark.parametrize("full", [True, False])
def test_the_first_line_says_what_the_whole_gang_lacks_or_all_pods_without_one(
        least, pods, whole, full):
    """In a full queue and in a full cluster."""
    cluster = Cluster().node("n1", cpu=4 if full else 9).queue("a", capability=9 if full else 4)
    cluster.job("old", queue="a", cpu=4, running={"n1": 1}).job(
        "new", queue="a", pods=pods, min_member=least, cpu=1)
    conf = 'actions: "allocate"\ntiers: [{plugins: [{name: gang}, {name: predicates}%s]}]'
    head = Explainer(cluster.objects(), conf % ("" if full else ", {name: capacity}")).why(
        "new").head
    amount = whole.removesuffix(" short")
    who = "node n1 lacks" if pods == 1 else "the nodes lack"
    assert (f"{who} {amount} for its " if full else f"queue a is {whole}") in head


def test_a_gang_whose_largest_pods_lack_nothing_says_what_the_refused_one_lacks():
    """Its two largest by CPU have places: those with a device wait."""
    pods = [pod(f"new-{number}", "new", requests={"cpu": cpu, **gpu}) for number, (cpu, gpu) in
            enumerate((("1", {"nvidia.com/gpu": "1"}), ("2", {}), ("2", {})))]
    full = Cluster().node("n1", cpu=9, gpu=1).job("old", cpu=1, gpu=1, running={"n1": 1})
    found = Explainer(Cluster([*full.objects(), group("new", minMember=2), *pods]).objects(), conf(
        "gang", "predicates", actions="allocate")).why("new")
    assert "node n1 lacks nvidia.com/gpu 1 for its pod" in found.head, found.head


@pytest.mark.parametrize("plugin", ["drf", "capacity"])
def test_the_gap_of_one_pod_is_what_the_best_node_lacks(plugin):
    """Not what all nodes lack in sum, of which no pod has anything."""
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=4).job(
        "old", pods=2, cpu=3, running={"n1": 1}).job("less", cpu=2, running={"n2": 1})
    found = Explainer(cluster.job("new", cpu=3.5).objects(), conf(
        "predicates", plugin, actions="allocate")).why("new")
    assert "the best node, n2, lacks cpu 1.5 for its pod" in found.head, found.head


@pytest.mark.parametrize("node", ["n1", "n2"])
def test_the_best_of_full_nodes_is_none_that_the_job_itself_fills(node):
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=4).job(
        "old", cpu=4, running={"n2" if node == "n1" else "n1": 1})
    cluster.job("new", pods=2, cpu=4, min_member=1, running={node: 1})
    found = Explainer(cluster.objects(), conf("predicates", actions="allocate")).why("new")
    assert f"the best node, {'n2' if node == 'n1' else 'n1'}, lacks cpu 4" in found.head


def test_a_pod_of_which_the_nodes_have_parts_waits_for_what_the_best_one_lacks():
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=4).job(
        "old", pods=2, cpu=2, running={"n1": 1, "n2": 1}).job("less", cpu=1, running={"n1": 1})
    found = Explainer(cluster.job("new", cpu=3).objects(), conf(
        "predicates", actions="allocate")).why("new")
    assert found.head.startswith("new waits for a node that fits: the best, n2, lacks cpu 1.")


@pytest.mark.long
def test_a_queue_that_deserves_less_says_that_its_capability_is_less_than_the_gang_too():
    cluster = Cluster().node("n1", cpu=15).queue("a", capability={"cpu": 5.5}).queue("b", weight=2)
    cluster.job("other", queue="b", pods=8, min_member=1, cpu=2, running={"n1": 4}).job(
        "new", queue="a", pods=3, cpu=2)
    found = Explainer(cluster.objects(), conf(
        "gang", "predicates", "proportion", actions="allocate")).why("new")
    assert found.codes == ["over_deserved", "queue_over_capability"]
    assert "Queue a would refuse it, too: cpu 6 > limit 5.5 (its capability)." in found.text
    assert "both: queue a: weight 1 -> 2; queue a: capability cpu 5.5 -> 6" in [
        each.change for each in found.remedies]


@pytest.mark.long
@pytest.mark.parametrize(("least", "said"), [(6, True), (4, False)])
def test_an_elastic_job_starts_with_the_pods_that_its_queue_deserves(least, said):
    cluster = Cluster().node("n1", cpu=16).queue("a").queue("b").job(
        "other", queue="b", pods=6, min_member=1, cpu=2, running={"n1": 6}).job(
        "new", queue="a", pods=8, min_member=least, cpu=2)
    found = Explainer(cluster.objects(), conf(
        "gang", "predicates", "proportion", actions="allocate, reclaim")).why("new")
    assert ("Queue a deserves cpu 8, 0 allocated: enough for 4 of its 8 pods, and its minimum is 6."
            in found.text) is said
    if said:
        assert next(iter(found.remedies)).change == "job default/new: minMember 6 -> 4"


def test_a_resource_quota_counts_jobs_that_were_admitted_before_the_refusal_and_no_later_ones():
    """Of a job whose pods come once it is admitted: first the sum by which it is not."""
    order = [("large", "9"), ("small", "6"), ("last", "3")]
    cluster = Cluster([queue(), node("n1", cpu="20"), quota(
        "q", {"requests.cpu": "10"}, {"requests.cpu": "2"}), *(group(
            name, phase="Pending", created=f"2026-01-0{number}T00:00:00Z",
            minResources={"requests.cpu": asked, "cpu": asked})
            for number, (name, asked) in enumerate(order, 1))], conf=conf(
        "resourcequota", "predicates", actions="enqueue, allocate"))
    assert "In use by" not in cluster.why("large").text
    assert "In use by default/small 6 (admitted before it in this cycle)." in cluster.why(
        "last").text


JOBS = ("""
{apiVersion: v1, kind: ResourceQuota, metadata: {name: compute, namespace: default},
 spec: {hard: {requests.cpu: "10"}},
 status: {hard: {requests.cpu: "10"}, used: {requests.cpu: "2"}}}
---
""", """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: NAME, namespace: default, creationTimestamp: "2026-01-01T00:00:00Z"}
spec:
  minAvailable: PODS
  tasks: [{name: t, replicas: PODS, template: {spec: {containers: [
    {name: c, resources: {requests: {cpu: 1}}}]}}}]
---
""")


@pytest.mark.parametrize("first", [5, 9])
def test_the_sum_of_a_quota_comes_before_what_it_keeps_from_being_created(first):
    job = JOBS[1].replace("PODS", "6").replace("NAME", "second").replace("01-01", "01-02")
    cluster = Cluster(conf=conf("gang", "resourcequota", "predicates", "{name: proportion}",
                                actions="enqueue, allocate")).node("n1", cpu=64).add(
        JOBS[0] + JOBS[1].replace("PODS", str(first)).replace("NAME", "first") + job)
    name, rest = ("second", first) if first == 5 else ("first", 0)
    found, groups = cluster.why(name), list(cluster.why())
    said = f"requests.cpu 2 used + {rest} of jobs admitted in this cycle + {6 if rest else 9}"
    assert found.codes == ["resource_quota"] and said in found.causes[0].text
    assert [said in group.text for group in groups if f"default/{name}" in group.jobs] == [True]


def test_a_queue_without_a_limit_of_its_own_is_not_said_to_refuse_in_a_full_cluster():
    busy = queues().job("old", queue="a", cpu=6, running={"n1": 1}).job("new", queue="a", cpu=3)
    for settings, said in (
            (conf("gang", "proportion", actions="allocate"), "queue a holds cpu 6 of 8 in the"),
            (conf("gang", "capacity", actions="allocate"), "cpu 6 of 8 in the whole cluster is"),
            (conf("gang", "proportion", actions="enqueue, allocate"),
             "new waits for admission: the whole cluster is cpu 1 short."),
            (conf("gang", "capacity", actions="enqueue, allocate"),
             "Queue a may hold the whole cluster, which is too small: cpu 6 allocated + 3 requested"
             " = 9, 8 in the cluster.")):
        text = Explainer(busy.objects(), settings).why("new").text
        assert said in text and "refuses" not in text and "limit 8" not in text


@pytest.mark.parametrize(("left", "said"), [
    ((4, 2), "; 3 of its pods fit."), ((2, 1), "; 1 of its pods fits."), ((1, 1), "")])
def test_how_many_pods_of_a_gang_fit_stands_in_the_first_line(left, said):
    cluster = Cluster().queue("a").job("new", queue="a", pods=4, cpu=2)
    for name, cpu in zip(("n1", "n2"), left, strict=True):
        cluster.node(name, cpu=8).job(f"on-{name}", cpu=8 - cpu, running={name: 1})
    head = Explainer(cluster.objects(), conf("gang", "predicates")).why("new").head
    assert said in head and ("of its pods fit" in head) == bool(said)


@pytest.mark.parametrize("plugins, deserved, said, offered", [
    (("proportion", "capacity"), 6, "proportion decides here. Queues have", True),
    (("proportion", "capacity"), None, "proportion decides here. No queue has", False),
    (("proportion",), 6, "", False)])
def test_of_two_plugins_that_share_between_queues_the_one_that_refuses_is_named(
        plugins, deserved, said, offered):
    cluster = Cluster().node("n1", cpu=10).queue("a", **{"deserved": deserved} if deserved else {})
    cluster.queue("b").job("old", queue="b", cpu=4, running={"n1": 1}).job("x", queue="b", cpu=2)
    found = cluster.job("new", queue="a", cpu=6).why("new", conf=conf("predicates", *plugins))
    assert ("both configured" in found.text) is bool(said) and said in found.text
    assert ("without plugin proportion" in [each.change for each in found.remedies]) is offered


@pytest.mark.parametrize("plugins, hard, said", [
    (("resourcequota", "overcommit"), 9, True), (("resourcequota", "overcommit"), 20, False),
    (("overcommit", "resourcequota"), 9, False), (("resourcequota",), 9, False)])
def test_overcommit_that_is_not_asked_as_another_plugin_refuses_first_has_its_sum(
        plugins, hard, said):
    cluster = Cluster().node("n1", cpu=10, labels={"for": "big"})
    cluster.add("{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {cpu: "
                f"{hard}}}}}, status: {{hard: {{cpu: {hard}}}, used: {{cpu: 5}}}}}}")
    for name, cpu, phase in (("big", 8, "Pending"), ("small", 5, "Inqueue")):
        cluster.add(LATER.format(name, cpu, 1, phase, "default"))
    found = cluster.why("big", conf=conf("predicates", *plugins, actions="enqueue, allocate"))
    assert ("Overcommit, which is not asked after that, would refuse it, too: cpu 5 reserved + 8 "
            "requested = 13, limit 12" in found.text) is said
    assert ("both: ResourceQuota default/q: hard cpu 9 -> 13; plugin overcommit: "
            "overcommit-factor 1.2 -> 1.3" in [each.change for each in found.remedies]) is said
