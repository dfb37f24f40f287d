"""Why one job is served before another, its place in the queue, and who may evict its pods."""

from __future__ import annotations

import pytest

from explain.test_exports import asked, exported
from volcano_lab.api.objects.meta import OwnerReference
from volcano_lab.cli.__main__ import main
from volcano_lab.cluster import Cluster

CLASS = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: p}, value: 9}"
PLUGINS = ("priority", "gang", "predicates", "proportion")


def conf(actions, *plugins):
    return {"actions": actions, "tiers": [{"plugins": [{"name": name} for name in plugins]}]}


@pytest.mark.parametrize("plugins, first, said", [
    (PLUGINS, "b", "priority compares priorities of jobs: 9 (default/b) before 0 (default/a)."),
    (PLUGINS[1:], "a", "Served before it: default/a.")])
def test_which_of_two_jobs_is_served_first_and_by_whose_order(plugins, first, said):
    cluster = Cluster().node("n1", cpu=4).add(CLASS).job("a", cpu=2)
    cluster.job("b", cpu=2, priority=9, priority_class="p")
    second = {"a": "b", "b": "a"}[first]
    for name, other in (("a", "b"), ("b", "a")):
        found = cluster.why(name, before=other, conf=conf("allocate", *plugins))
        assert found.head == f"allocate serves default/{first} before default/{second}."
        assert "is number" in found.text
    assert said in cluster.why("a", before="b", conf=conf("allocate", *plugins)).text


def test_the_place_in_a_queue_and_who_is_directly_before():
    cluster = Cluster().node("n1", cpu=4).queue("q").job("other", cpu=1)
    for number in range(8):
        cluster.job(f"j{number}", queue="q", cpu=1)
    found = cluster.why("j6", before="j0", conf=conf("allocate", *PLUGINS))
    place = next(cause for cause in found.causes if cause.code == "place")
    assert place.numbers == {"place": 7, "of": 8}
    assert place.text.endswith("Directly before it: " + ", ".join(
        f"default/j{number}" for number in range(1, 6)) + ".")


@pytest.mark.parametrize("name, cpu, offered", [("b", 1, False), ("c", 2, True)])
def test_a_turn_that_gives_a_job_no_more_than_its_turn_is_not_offered(name, cpu, offered):
    cluster = Cluster().node("n1", cpu=3).job("a", cpu=2).job(name, cpu=cpu)
    found = cluster.why(name, before="a", conf=conf("allocate", *PLUGINS))
    assert [str(each) for each in found.remedies] == [
        f"job default/{name}: a PriorityClass above 0 (allocate serves {name} before a; a waits)"
    ] * offered


def test_pods_that_are_pipelined_and_never_bound_are_not_counted_as_placed():
    cluster = Cluster().node("n1", cpu=5).add(CLASS).job("old", pods=3, cpu=1, running={"n1": 3})
    cluster.job("new", pods=3, cpu=1, priority=9, priority_class="p")
    tiers = ("actions: allocate, preempt\ntiers: [{plugins: [{name: priority}, {name: gang, "
             "enablePreemptable: false}]}, {plugins: [{name: predicates}, {name: proportion}]}]")
    said = [str(each) for each in cluster.why("old", evict=True, conf=tiers).remedies]
    assert "enablePreemptable: true for gang (old loses no pods; new waits)" in said


def test_queues_are_compared_where_the_jobs_are_in_two():
    cluster = Cluster().node("n1", cpu=4).queue("x").queue("y").job(
        "old", queue="x", cpu=1, running={"n1": 1}).job("a", queue="x", cpu=1)
    found = cluster.job("b", queue="y", cpu=1).why("a", before="b", conf=conf("allocate", *PLUGINS))
    assert found.head == "allocate serves default/b before default/a."
    assert "proportion compares priority and share" in found.text


TREE = """\
{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: "%s", annotations: {
  volcano.sh/hierarchy: root/%s, volcano.sh/hierarchy-weights: "1/%s/1"}},
 spec: {parent: "%s", deserved: {cpu: "%s"}}}
"""


@pytest.mark.parametrize("plugin, said", [
    ("capacity", "compares priority and share of queues x and y, above them: 0 and 0.25 (queue b) "
                 "before 0 and 0.5 (queue a)."),
    ("drf", "compares saturation, then share ÷ weight, of y and x: not saturated, 0.125 (queue b) "
            "before not saturated, 0.25 (queue a).")])
@pytest.mark.parametrize("action", ["allocate", "reclaim"])
def test_queues_in_a_tree_are_compared_where_they_part(plugin, said, action):
    cluster = Cluster().node("n1", cpu=8)
    for name, path, weight, parent, deserved in (
            ("x", "x", 1, "root", 4), ("y", "y", 2, "root", 8), ("a", "x/a", 1, "x", 4),
            ("b", "y/b", 2, "y", 8)):
        cluster.add(TREE % (name, path, weight, parent, deserved))
    for queue in "ab":
        cluster.job(f"old-{queue}", queue=queue, cpu=2, running={"n1": 1}).job(
            f"new-{queue}", queue=queue, cpu=1)
    admitted = [obj.changed(status={"phase": "Inqueue"}) if obj.kind == "PodGroup" else obj
                for obj in cluster.objects()]
    text = {"actions": action, "tiers": [{"plugins": [
        {"name": "gang"}, {"name": plugin, "enableHierarchy": True}, {"name": "predicates"}]}]}
    found = Cluster(admitted).why("new-a", before="new-b", conf=text)
    assert found.head == f"{action} serves default/new-b before default/new-a."
    assert said.replace("queues x and y", "queues y and x") in found.text


def test_a_job_that_runs_is_in_no_order():
    cluster = Cluster().node("n1", cpu=4).job("a", cpu=1, running={"n1": 1}).job("b", cpu=1)
    assert "default/a is in no order of this cycle" in cluster.why("b", before="a").head
    cluster.remove("b").node("n1", cpu=2).node("n2", cpu=2)
    found = cluster.job("big", cpu=2.5).why("big", before="a")
    assert found.codes and found.remedies
    assert found.head.startswith("default/a has its places, and default/big waits: allocate keeps "
                                 "nothing free for a job that does not fit")
    found = cluster.job("big", cpu=4).why("big", before="a")
    assert found.head == ("default/a has its places already, and default/big is not admitted: "
                          "actions order only jobs that wait.")
    assert found.codes == ["overcommit_refuses"]


def test_priority_classes_do_not_order_the_jobs_of_two_queues():
    cluster = Cluster().node("n1", cpu=4).queue("a").queue("b").add(CLASS).job(
        "old", queue="a", cpu=2, running={"n1": 1})
    text = cluster.job("high", queue="a", cpu=2, priority_class="p").job(
        "low", queue="b", cpu=2).why("high", before="low").text
    assert "Between queues a greater priority of queue a (spec.priority, from v1.10) comes" in text
    same = cluster.job("next", queue="a", cpu=1).why("high", before="next").text
    assert "Between queues" not in same


def test_a_job_that_enqueue_refuses_holds_back_none_that_it_admits():
    cluster = Cluster().node("n1", cpu=8).queue("q", capability=4).add(CLASS)
    cluster.job("old", queue="q", cpu=2, running={"n1": 1})
    cluster.job("large", queue="q", cpu=3, priority=9, priority_class="p").job(
        "small", queue="q", cpu=1)
    text = conf("enqueue, allocate", *PLUGINS)
    admitted = [obj.changed(status={"phase": "Inqueue"}) if obj.kind == "PodGroup"
                and obj.name == "small" else obj for obj in cluster.objects()]
    for one, other in (("large", "small"), ("small", "large")):
        found = Cluster(admitted).why(one, before=other, conf=text)
        assert found.head.startswith("enqueue does not admit default/large, and default/small is")
        assert "9 (default/large) before 0 (default/small)" in found.text
        assert "limit 4 (its capability). Reserved by default/small 1" in found.text


def running(**job):
    return Cluster().node("n1", cpu=4).queue("a").queue("b").add(CLASS).job(
        "old", queue="a", pods=4, cpu=1, running={"n1": 4}, **{"min_member": 1, **job})


@pytest.mark.parametrize("cluster, actions, head, said", [
    (running().job("new", queue="b", cpu=1), "allocate, reclaim",
     "1 of 4 running pods of default/old is evicted", "queue a holds cpu 4 and deserves 3"),
    (running().job("new", queue="a", cpu=1, priority=9, priority_class="p"), "allocate, preempt",
     "1 of 4 running pods of default/old is evicted", "a priority above 0"),
    (running().job("up", queue="a", cpu=4, priority=9, priority_class="p").job(
        "new", queue="b", cpu=2, pods=2, min_member=2), "allocate, preempt, reclaim",
     "3 of 4 running pods of default/old may be evicted",  # for both actions the same pods
     "reclaim may evict 2 of its 4 pods for default/new"),
    (running(min_member=4).job("new", queue="b", cpu=1), "allocate, reclaim",
     "No running pod of default/old may be evicted", "gang keeps its minimum of 4: 0 pods"),
    (running(min_member=4).job("new", queue="a", cpu=1, priority=9, priority_class="p"),
     "allocate, preempt",
     "No running pod of default/old may be evicted",
     "For default/new, gang allows none of them: evicting any would put its gang below"),
    (running().queue("a", reclaimable=False).job("new", queue="b", cpu=1), "allocate, reclaim",
     "No running pod of default/old may be evicted", "queue a has spec.reclaimable: false"),
    (running(), "allocate", "No action of the configuration evicts pods of default/old", "")])
def test_who_may_evict_a_running_job_and_when(cluster, actions, head, said):
    found = cluster.why("old", evict=True, conf=conf(actions, *PLUGINS))
    assert found.head.startswith(head) and said in found.text


@pytest.mark.parametrize("memory, said", [("8Gi", True), ("1Gi", False)])
def test_one_resource_above_what_a_queue_deserves_is_enough(memory, said):
    cluster = Cluster().node("n1", cpu=4, memory="16Gi").queue("a", deserved={
        "cpu": 2, "memory": memory}).queue("b", deserved={"cpu": 2})
    cluster.job("old", queue="a", pods=4, min_member=1, cpu=1, memory="1Gi", running={"n1": 4})
    found = cluster.job("new", queue="b", cpu=1).why("old", evict=True, conf=conf(
        "allocate, reclaim", "gang", "predicates", "capacity"))
    assert ("One resource above is enough, although memory is not." in found.text) == said
    assert ("memory 4Gi" in found.text) != said


def test_what_is_evicted_whatever_the_priority_is_said():
    tiers = conf("allocate, preempt", "priority", "gang")
    tiers["tiers"] += conf("", "drf")["tiers"]
    found = running().job("new", queue="a", cpu=1).why("old", evict=True, conf=tiers)
    assert ("Where the plugins of the tier of priority agree on no pod, the next tier decides "
            "without regard to priority: drf." in found.text)


@pytest.mark.parametrize("large", ["n1", "n2"])
def test_reclaim_stops_at_the_first_node_where_evictions_are_enough(large):
    small = {"n1": "n2", "n2": "n1"}[large]
    cluster = Cluster().node("n1", cpu=8).node("n2", cpu=8).queue("a").queue("b")
    for name, queue, cpu, node in (("large", "a", 8, large), ("small", "a", 2, small),
                                   ("rest", "b", 6, small)):
        cluster.job(name, queue=queue, cpu=cpu, running={node: 1})
    text = conf("allocate, reclaim", "priority", "predicates", "proportion")
    victim = "large" if large == "n1" else "small"
    found = cluster.job("new", queue="b", cpu=2).why(victim, evict=True, conf=text)
    assert f"evicts default/{victim}-0 for default/new in this cycle" in found.text
    assert "stops at the first where evictions are enough: n1." in found.text


def test_only_what_a_queue_deserves_counts_for_reclaim():
    cluster = Cluster().node("n1", cpu=4, gpu=4).queue("a", deserved={"nvidia.com/gpu": 4}).queue(
        "b", deserved={"nvidia.com/gpu": 1}).job("old", queue="a", cpu=1, gpu=4, running={"n1": 1})
    found = cluster.job("new", queue="b", cpu=1, gpu=1).why("old", evict=True, conf=conf(
        "allocate, reclaim", "priority", "predicates", "capacity"))
    assert "nvidia.com/gpu 4 allocated, 4 deserved" in found.text


def test_what_is_said_of_evictions_is_what_the_cycle_does():
    cluster = running().job("new", queue="b", cpu=1)
    text = conf("allocate, reclaim", *PLUGINS)
    evicted = {pod for done, pod, *_ in cluster.run(text).committed if done == "evict"}
    assert evicted and all(pod.startswith("default/old") for pod in evicted)
    assert "default/new" in cluster.why("old", evict=True, conf=text).text


def test_what_its_queue_holds_is_reported_of_a_job_that_keeps_its_pods_after_others_lost_theirs():
    cluster = Cluster().node("n1", cpu=4).queue("a").queue("b")
    for number in range(4):
        cluster.job(f"old-{number}", queue="a", cpu=1, running={"n1": 1})
    for number in range(4):
        cluster.job(f"new-{number}", queue="b", cpu=1)
    text = conf("allocate, reclaim", "priority", "predicates", "proportion")
    gone = {pod.rpartition("-")[0] for done, pod, *_ in cluster.run(text).committed
            if done == "evict"}
    assert len(gone) == 2
    kept = next(name for number in range(4) if (name := f"default/old-{number}") not in gone)
    assert "2 allocated, 2 deserved" in cluster.why(kept, evict=True, conf=text).text
    assert "queue a holds cpu 4 and deserves 2" in cluster.why(
        min(gone), evict=True, conf=text).text


@pytest.mark.long
def test_the_command_asks_the_same_and_one_thing_at_a_time(tmp_path, capsys):
    path = tmp_path / "c.yaml"
    path.write_text(running().job("new", queue="b", cpu=1).export(), encoding="utf-8")
    assert main(["why", str(path), "old", "--evict"]) == 0
    assert "default/old" in capsys.readouterr().out
    assert main(["why", str(path), "new", "--before", "old"]) == 0
    assert "actions order only jobs that wait" in " ".join(capsys.readouterr().out.split())
    assert main(["why", str(path), "new", "--before", "old", "--evict"]) == 2
    assert "allowed is one of them" in capsys.readouterr().err


def test_a_job_that_never_preempts_is_none_for_which_pods_are_evicted():
    cluster = running().job("new", queue="a", cpu=1, priority=9, priority_class="p")
    never = Cluster([obj.changed(spec={"preemption_policy": "Never"}) if obj.kind == "Pod" else obj
                     for obj in cluster.objects()])
    text, found = conf("allocate, preempt", *PLUGINS), []
    for each in (cluster, never):
        evicts = any(done == "evict" for done, *_ in each.run(text).committed)
        found.append((evicts, each.why("old", evict=True, conf=text).head.split()[0]))
    assert found == [(True, "1"), (False, "No")]


@pytest.mark.parametrize(("space", "said"), [("kube-system", True), ("default", False)])
def test_what_protects_its_pods_for_what_they_are_is_named(space, said):
    cluster = running(namespace=space, min_member=4).job("new", queue="b", cpu=1)
    found = cluster.why(f"{space}/old", evict=True, conf=conf(
        "allocate, reclaim", *PLUGINS, "conformance"))
    assert ("conformance keeps 4 of its pods: they are critical" in found.text) == said


@pytest.mark.parametrize(("queues", "plugin", "change"), [
    (("a", "a"), "priority", "job/default/late.priority=1"),
    (("a", "b"), "proportion", "queue/b.priority=1")])
def test_what_would_reverse_the_order_of_two_jobs_is_offered_and_does(queues, plugin, change):
    cluster = Cluster().node("n1", cpu=4).queue("a").queue("b")
    for name, queue in zip(("early", "late"), queues, strict=True):
        cluster.job(name, queue=queue, cpu=3)
    text = conf("allocate", plugin, "predicates", *["proportion"] * (plugin != "proportion"))
    found = cluster.why("late", before="early", conf=text)
    assert found.head.startswith("allocate serves default/early before default/late")
    first = found.remedies[0]
    assert first.tried.settings == (change,) and "allocate serves late before early" in first.effect
    objects, changed = first.world.applied(first.tried)
    assert "serves default/late before" in Cluster(objects).why(
        "late", before="early", conf=changed).head
    assert ("early waits" in first.effect) is (queues == ("a", "a"))


def test_a_job_is_not_compared_with_itself(tmp_path, capsys):
    cluster = Cluster().node("n1", cpu=4).job("a", cpu=1)
    with pytest.raises(LookupError, match="job default/a is compared with itself"):
        cluster.why("a", before="default/a")
    (tmp_path / "c.yaml").write_text(cluster.to_yaml())
    assert main(["why", str(tmp_path / "c.yaml"), "a", "--before", "a"]) == 2
    assert capsys.readouterr().err.endswith("allowed is another job\n")


@pytest.mark.parametrize("cpu, said", [
    (4, "Node n2 could take it now"), (1, "requests cpu 2; node n2 had 1 left")])
def test_of_a_pod_that_runs_it_is_said_what_another_node_has_now(cpu, said):
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=cpu).job("a", cpu=2, running={"n1": 1})
    assert said in cluster.why("a-0", node="n2").text


def test_the_resource_that_makes_a_queues_share_is_named():
    cluster = Cluster().node("n1", cpu=8, memory="8Gi").queue("a").job(
        "old", queue="a", cpu=1, memory="4Gi", running={"n1": 1}).job(
        "new", queue="a", cpu=8, memory="4Gi")
    assert "share 0.5 (memory)." in cluster.why("a", conf=conf("allocate", *PLUGINS)).head
    alone = Cluster().node("n1", cpu=8).queue("a").job("old", queue="a", cpu=1, running={"n1": 1})
    assert "share 1." in alone.why("a", conf=conf("allocate", *PLUGINS)).head


def test_of_two_queues_that_all_plugins_put_level_the_older_one_is_first():
    queues = "".join(f"""\
---
{{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {{name: {name},
  creationTimestamp: "1970-01-0{day}T00:00:00Z"}}, spec: {{weight: 1}}}}
""" for name, day in (("new", 3), ("old", 2)))
    cluster = Cluster().add(queues).node("n1", cpu=4).job("a", queue="old", cpu=1).job(
        "b", queue="new", cpu=1)
    text = cluster.why("b", before="a", conf=conf("allocate", "gang", "predicates")).text
    assert "it was created earlier (1970-01-02 00:00, queue new 1970-01-03 00:00)" in text


def test_what_is_counted_for_pods_that_wait_for_others_to_leave():
    found = running().job("new", queue="b", cpu=1).why(
        "queue/b", conf=conf("allocate, reclaim", *PLUGINS))
    assert "Counted as allocated: cpu 1 of 1 pipelined pod that still waits (default/new)." in (
        found.text)
    assert "Waiting in it: default/new (1 pod, Inqueue)" in found.text


@pytest.mark.parametrize("configured", [True, False])
def test_a_budget_is_named_that_no_plugin_respects(configured):
    budget = """\
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: keep}, spec: {minAvailable: 4,
  selector: {matchLabels: {app: web}}}, status: {disruptionsAllowed: 0}}
"""
    cluster = running(labels={"app": "web"}).job("new", queue="b", cpu=1).add(budget)
    text = cluster.why("old", evict=True, conf=conf(
        "allocate, reclaim", *PLUGINS, *["pdb"] * configured)).text
    assert ("allows 0 disruptions: without plugin pdb" in text) is not configured


@pytest.mark.parametrize("policies, said", [
    ("[{event: PodEvicted, action: RestartJob}]", "deletes all its 2 pods and creates them again"),
    ("[{events: ['*'], action: AbortJob}]", "then ends it, with all its pods"),
    ("[{event: PodFailed, action: AbortJob}, {event: PodEvicted, action: RestartJob}]",
     "the policy AbortJob for PodFailed acts before RestartJob for PodEvicted."),
    ("[{event: PodEvicted, action: RestartTask}]", ""), ("[]", "")])
def test_what_an_eviction_does_to_the_whole_job_by_its_policies(policies, said):
    old = exported("old", 2, 4, least=1, there=2, phase="Running", job_phase="Running").replace(
        "minAvailable: 1\n", f"minAvailable: 1\n  policies: {policies}\n", 1)
    explain = asked(old, exported("new", 1, 4, there=1, phase="Inqueue"),
                    conf=conf("allocate, preempt", "gang", "predicates"))
    found = [explain.who_evicts("old").text, explain.why("new").text, explain.why("old").text]
    assert all((said or "PodEvicted") in text for text in found) is bool(said)


@pytest.mark.parametrize("action, said", [
    ("RestartJob", "; its policy RestartJob for PodEvicted then creates all 2 pods of default/old "
     "again"), ("TerminateJob", "; its policy TerminateJob for PodEvicted then ends default/old"),
    ("RestartTask", "")])
def test_a_change_that_evicts_says_what_the_policies_of_the_evicted_job_do(action, said):
    old = exported("old", 2, 4, least=1, there=2, phase="Running", job_phase="Running").replace(
        "minAvailable: 1\n",
        f"minAvailable: 1\n  policies: [{{event: PodEvicted, action: {action}}}]\n", 1)
    found = asked(old, exported("new", 1, 4, there=1, phase="Inqueue"),
                  conf=conf("allocate", "gang", "predicates")).why("new").remedies
    assert any("evicts 1 pod of old" in each.effect for each in found)
    assert any((said or "PodEvicted") in each.effect for each in found) is bool(said)


@pytest.mark.parametrize("priority, named", [("", False), ("priority: 5, ", True)])
def test_pods_of_a_lower_priority_than_others_of_their_job_are_named(priority, named):
    old = exported("old", 2, 4, least=1, there=2, phase="Running", job_phase="Running")
    other = old.rpartition("spec: {schedulerName")
    explain = asked(other[0] + other[1].replace("{", "{" + priority) + other[2],
                    exported("new", 1, 4, there=1, phase="Inqueue"),
                    conf=conf("allocate, preempt", "gang", "predicates"))
    said = "The lowest priority of its pods, 0, is that of default/old-w-0."
    assert (said in explain.who_evicts("old").text) is named


@pytest.mark.parametrize("plugins, said", [
    (PLUGINS, "Queue q has no jobs."), (PLUGINS[:2], "No plugin gives queue q a share or a limit")])
def test_a_queue_without_jobs_is_not_one_without_a_share(plugins, said):
    assert said in Cluster().node("n1", cpu=1).queue("q").why(
        "queue/q", conf=conf("allocate", *plugins)).text


@pytest.mark.parametrize("guarantee, kept", [
    (None, ""), (3, "; its guarantee, cpu 3, is kept from all other queues")])
def test_a_queue_without_jobs_says_what_is_kept_for_it(guarantee, kept):
    cluster = Cluster().node("n1", cpu=4).queue("q", guarantee=guarantee).queue("a")
    found = cluster.why("queue/q", conf=conf("allocate", *PLUGINS))
    assert found.head == f"Queue q has no jobs{kept}."
    waits = cluster.job("new", queue="a", cpu=2).why("new", conf=conf("allocate", *PLUGINS)).text
    assert ("3 guaranteed to q (no jobs)" in waits) is bool(kept)


def test_a_queue_says_what_the_first_job_in_it_waits_for():
    found = Cluster().node("n1", cpu=1).queue("q").job("a", queue="q", cpu=2).why("queue/q")
    assert "The first of them: a waits for" in found.text


def test_all_pods_that_a_cycle_evicts_are_counted_and_gang_only_where_it_is_asked():
    loose = {"name": "gang", "enableReclaimable": False}
    cluster = running(min_member=4).job("one", queue="b", cpu=1).job("two", queue="b", cpu=1)
    tiers = conf("allocate, reclaim", "priority", "gang", "conformance")
    tiers["tiers"][0]["plugins"][1] = loose
    tiers["tiers"] += conf("", "predicates", "proportion")["tiers"]
    found = cluster.why("old", evict=True, conf=tiers)
    assert found.head.startswith("2 of 4 running pods of default/old are evicted")
    assert ("For a queue that stays within what it deserves, reclaim takes those of its pods that "
            "are allowed by conformance. What queue a deserves counts only where the plugins of "
            "this tier allow none." in found.text)
    assert ("Its minimum of 4 protects none of its pods: gang is not asked about victims. Of "
            "default/old, 2 pods are left, below its minimum of 4." in found.text)


@pytest.mark.parametrize(("loose", "said"), [
    ({}, "gang keeps its minimum of 4: 0 pods"),
    ({"enablePreemptable": False}, "gang, which reclaim asks, keeps its minimum of 4: 0 pods"),
    ({"enableReclaimable": False}, "gang, which preempt asks, keeps its minimum of 4: 0 pods")])
def test_gang_keeps_its_minimum_from_the_actions_that_ask_it(loose, said):
    tiers = conf("allocate, preempt, reclaim", "priority", "gang", "predicates", "proportion")
    tiers["tiers"][0]["plugins"][1] = {"name": "gang", **loose}
    assert said in running(min_member=4).why("old", evict=True, conf=tiers).text


@pytest.mark.parametrize("role, said", [("launcher", True), ("worker", False)])
def test_the_pod_on_which_others_depend_is_named(role, said):
    old = exported("old", 2, 4, least=1, there=2, phase="Running", job_phase="Running")
    label = f"labels: {{training.kubeflow.org/job-role: {role}}}, annotations: {{"
    explain = asked(label.join(old.rsplit("annotations: {", 1)),
                    exported("new", 1, 4, there=1, phase="Inqueue"),
                    conf=conf("allocate, preempt", "gang", "predicates"))
    assert ("is its launcher: the other pods depend on it." in explain.who_evicts("old").text) is (
        said)


def test_that_a_job_is_not_admitted_keeps_actions_from_evicting_for_it():
    cluster = running().job("new", queue="b", cpu=9)
    for actions, said in (("enqueue, allocate, reclaim", True), ("enqueue, allocate", False)):
        text = cluster.why("new", conf=conf(actions, *PLUGINS)).text
        assert ("reclaim evicts pods for admitted jobs only" in text) is said


@pytest.mark.parametrize("kind, single", [("Pod", True), ("ReplicaSet", False)])
def test_pods_with_a_pod_group_each_are_jobs_of_their_own(kind, single):
    cluster = Cluster().node("n1", cpu=1).job("one", cpu=1).job("two", cpu=1)
    owned = [obj.changed(metadata={"owner_references": [OwnerReference("v1", kind, "x", "u")]})
             if obj.kind == "PodGroup" else obj for obj in cluster.objects()]
    found = Cluster(owned).why("one", before="two", conf=conf("allocate", "gang", "predicates"))
    assert ("Each of these pods has a PodGroup of its own" in found.text) is single


def test_a_queue_in_which_nothing_is_requested_is_not_called_overused():
    cluster = Cluster().node("n1", cpu=4).queue("a").queue("b").job("new", queue="b", cpu=9)
    bare = Cluster([obj for obj in cluster.objects() if obj.kind != "Pod"])
    text = bare.why("b", conf=conf("enqueue, allocate", *PLUGINS)).text
    assert "nothing requested" in text and "overused" not in text


@pytest.mark.long
def test_a_job_that_waits_only_for_pods_that_leave_needs_no_change():
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=4).add(CLASS)
    for name in ("n1", "n2"):
        cluster.job(f"on-{name}", cpu=3, running={name: 1})
    for name in ("new", "next"):
        cluster.job(name, cpu=2, priority=9, priority_class="p")
    said = "It is placed without a change in one of the next cycles."
    tiers = {"actions": "enqueue, allocate, preempt", "tiers": [
        {"plugins": [{"name": name} for name in ("priority", "proportion")]}]}
    assert said in cluster.why("next", conf=tiers).text
    assert said not in cluster.why("new", conf=tiers).text, "its pod is pipelined"
    cluster = Cluster().node("n1", cpu=4).add(CLASS).job(
        "old", pods=3, min_member=1, cpu=2, running={"n1": 2}).job(
            "vip", cpu=2, priority=9, priority_class="p")
    assert said not in cluster.why("old", conf=tiers).text, "it has its minimum, and gets no more"


@pytest.mark.parametrize("asked, said", [("8", True), ("9", False)])
def test_what_the_kubelet_keeps_is_reported_where_the_machine_would_be_enough(asked, said):
    given = Cluster().add(f"""
apiVersion: v1
kind: Node
metadata: {{name: n1}}
status: {{capacity: {{cpu: 8}}, allocatable: {{cpu: 7910m, memory: 8Gi, pods: 10}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: new, namespace: default}}
spec: {{schedulerName: volcano, containers: [
  {{name: c, image: i, resources: {{requests: {{cpu: {asked}}}}}}}]}}
""")
    text = given.why("new", conf=conf("allocate", "gang", "predicates")).text
    assert ("n1 has cpu 8 (status.capacity), and 7.91 allocatable: its kubelet keeps the rest"
            in text) is said


def test_a_share_that_no_plugin_is_asked_about_is_no_condition():
    tiers = conf("allocate, reclaim", "priority", "conformance")
    tiers["tiers"] += conf("", "predicates", "proportion")["tiers"]
    for pods, held in ((4, True), (1, False)):
        cluster = Cluster().node("n1", cpu=4).queue("a").queue("b").job(
            "old", queue="a", pods=pods, cpu=1, min_member=1, running={"n1": pods})
        text = cluster.job("new", queue="b", cpu=2).why("old", evict=True, conf=tiers).text
        assert "What queue a deserves counts only where" in text
        assert "only while queue a holds more" not in text
        assert ("queue a holds cpu 4 and deserves" in text) is held


@pytest.mark.long
def test_a_pod_that_is_spared_only_by_the_order_may_be_evicted():
    cluster = Cluster().node("n1", cpu=2).add(CLASS)
    for name in ("a", "b"):
        cluster.job(name, cpu=1, running={"n1": 1})
    cluster.job("new", cpu=1, priority=9, priority_class="p")
    found = {name: cluster.why(name, evict=True, conf=conf(
        "allocate, preempt", "priority", "predicates")) for name in ("a", "b")}
    spared, taken = sorted(found, key=lambda name: found[name].find_remedies is not None)
    assert found[spared].head.startswith("1 of 1 running pods")
    assert (f"preempt could evict 1 of its pods (default/{spared}-0) for default/new, but takes "
            f"default/{taken}-0: first in order" in found[spared].text)
    assert any("loses no pods" in str(remedy) for remedy in found[taken].remedies)


def test_pods_that_may_be_evicted_are_counted_once_and_none_is_spared_where_none_is_taken():
    gang = {"name": "gang", "enablePreemptable": False}
    cluster = Cluster().node("n1", cpu=5).add(CLASS).job("old", pods=3, cpu=1, running={
        "n1": 3}).job("new", pods=3, cpu=1, priority=9, priority_class="p")
    found = cluster.why("old", evict=True, conf={"actions": "allocate, preempt", "tiers": [
        {"plugins": [{"name": "priority"}, gang, {"name": "predicates"}, {"name": "proportion"}]}]})
    assert found.head.startswith("1 of 3 running pods of default/old is evicted")
    assert "but takes" not in found.text


@pytest.mark.long
def test_a_gang_is_kept_whole_by_gang_in_the_tier_that_decides():
    loose = {"name": "gang", "enableReclaimable": False}
    cluster = running(min_member=4).job("one", queue="b", cpu=1)
    tiers = conf("allocate, reclaim", "priority", "gang", "conformance")
    tiers["tiers"][0]["plugins"][1] = loose
    tiers["tiers"] += conf("", "predicates", "proportion")["tiers"]
    found = cluster.why("old", evict=True, conf=tiers)
    effects = {remedy.change: remedy.effect for remedy in found.remedies}
    assert "old loses no pods" in effects[
        "both: plugin proportion in tier 1; enableReclaimable: true for gang"]


@pytest.fixture
def overtaken():
    """A job that its queue refuses, and a smaller one that is admitted after it; their pods are
    created once they are admitted.
    """
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=4).queue("q", capability={"cpu": 7})
    cluster.queue("r").job("run", queue="q", cpu=4, running={"n1": 1}, priority_class="p")
    cluster.job("else", queue="r", cpu=2, running={"n2": 1}).add(CLASS)
    for name, cpu, more in (("big", 4, ", priorityClassName: p"), ("small", 1, "")):
        cluster.add("{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: " + name +
                    f"}}, spec: {{schedulerName: volcano, queue: q{more}, tasks: [{{name: t, "
                    "replicas: 1, template: {spec: {containers: [{name: c, image: i, resources: "
                    f"{{requests: {{cpu: {cpu}}}}}}}]}}}}}}]}}}}")
    return cluster


ENQUEUES = conf("enqueue, allocate", "priority", "gang", "predicates", "capacity")


def test_the_sum_of_a_refusal_has_no_jobs_that_were_admitted_after_it(overtaken):
    found = overtaken.why("big", conf=ENQUEUES)
    assert "cpu 4 allocated + 4 requested = 8, limit 7" in found.text
    assert "Reserved by" not in found.text and "default/small is admitted, though" in found.text
    assert "Once admitted, it would wait, too: Pod default/big-t-0 requests cpu 4" in found.text


LATER = """\
[{{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {{name: {0}, namespace: {4},
  creationTimestamp: "2026-01-0{2}T00:00:00Z"}}, spec: {{minMember: 1, minResources: {{cpu: {1}}}}},
  status: {{phase: {3}}}}},
 {{apiVersion: v1, kind: Pod, metadata: {{name: {0}, namespace: {4}, annotations: {{
  scheduling.k8s.io/group-name: {0}}}}}, status: {{phase: Pending}}, spec: {{schedulerName: volcano,
  nodeSelector: {{for: "{0}"}}, containers: [{{name: c, image: i, resources: {{requests: {{
  cpu: {1}}}}}}}]}}}}]"""


@pytest.mark.parametrize("cpu, day, by, space, said", [
    (5, 2, "overcommit", "default", True), (5, 2, "capacity", "default", True),
    (9, 2, "overcommit", "default", False), (5, 1, "overcommit", "default", False),
    (5, 2, "overcommit", "other", True), (5, 2, "resourcequota", "default", True),
    (5, 2, "resourcequota", "other", False)])
def test_jobs_that_were_created_later_are_admitted_as_they_request_less(cpu, day, by, space, said):
    cluster = Cluster().node("n1", cpu=10, labels={"for": "big"}).queue(
        "default", capability={"cpu": 12}).add(LATER.format("big", 8, 1, "Pending", "default"))
    cluster.add(LATER.format("small", cpu, day, "Inqueue", space))
    if by == "resourcequota":
        cluster.add("{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {"
                    "cpu: 9}}, status: {hard: {cpu: 9}, used: {cpu: 5}}}")
    tiers = [{"plugins": [{"name": name} for name in names]} for names in (
        ("priority", "gang"), ("predicates", by))]
    found = cluster.why("big", conf={"actions": "enqueue, allocate", "tiers": tiers})
    assert found.head.startswith(("big waits for admission", "big waits for quota"))
    assert (f"{space}/small is admitted, though created later" in found.text) is said
    late = "both: plugin sla in tier 1; job default/big: sla-waiting-time unset -> 1m"
    assert (late in [each.change for each in found.remedies]) is said


@pytest.mark.long
def test_what_lets_a_refused_job_run_first_may_be_the_end_of_a_holder(overtaken):
    found = overtaken.why("big", before="small", conf=ENQUEUES)
    assert found.head.startswith("enqueue does not admit default/big, and default/small is")
    assert "= 8, limit 7" in found.text
    assert "wait for the end of default/run" in [remedy.change for remedy in found.remedies]


@pytest.mark.long
def test_a_request_is_cut_by_more_than_a_third_after_all_single_changes(overtaken):
    """Also beside another change."""
    found = [remedy.change for remedy in overtaken.why("big", conf=ENQUEUES).remedies]
    assert found and not any(f"request per pod cpu 4 -> {cpu}" in change
                             for change in found for cpu in (1, 2))


@pytest.mark.parametrize(("large", "said"), [
    (9, "Without default/a, this cycle would not place default/big either: default/a fits"),
    (4, "Without default/a, this cycle would place default/big: default/a holds what it lacks.")])
@pytest.mark.parametrize("actions", ["enqueue, allocate", "allocate"])
def test_a_job_that_has_its_places_is_compared_with_the_one_that_asks(large, said, actions):
    cluster = Cluster().node("n1", cpu=4).job("a", cpu=3, running={"n1": 1}).job("big", cpu=large)
    text = cluster.why("big", before="a", conf=conf(actions, "priority", "gang", "overcommit",
                                                    "predicates", "proportion")).text
    for name, cpu in (("a", 3), ("big", large)):
        assert f"default/{name} has a minimum of 1, requests cpu {cpu} for it and has prior" in text
    assert said in text


FITS = ("actions: {}\ntiers: [{{plugins: [{{name: priority}}, {{name: gang}}]}}, "
        "{{plugins: [{{name: predicates}}]}}]")


@pytest.mark.parametrize("pair", [("big", "small"), ("small", "big")])
def test_that_the_order_keeps_nothing_for_a_job_that_does_not_fit(pair):
    """What the second takes, what comes of the first without it, and the changes for the first."""
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=4).job(
        "busy", cpu=2, running={"n1": 1}).job("big", cpu=2, pods=4).job("small", cpu=2)
    found = cluster.why(pair[0], before=pair[1], conf=FITS.format("allocate"))
    assert found.head == "allocate serves default/big before default/small."
    said = next(cause.text for cause in found.causes if cause.code == "passed")
    assert said.startswith("The order keeps nothing for a job that does not fit: default/big waits "
                           "for resources")
    assert "default/small, served after it, is placed on n" in said and "with cpu 2." in said
    assert "would not place default/big either" in said and "scheduling gate" in said
    assert any("big is placed" in str(each) for each in found.remedies)


def test_an_order_is_turned_for_the_second_of_two_jobs_only():
    cluster = Cluster().node("n1", cpu=4).job("a", cpu=4).job("b", cpu=4)
    text = FITS.format("allocate")
    assert [*map(str, cluster.why("b", before="a", conf=text).remedies)]
    assert not cluster.why("a", before="b", conf=text).remedies
