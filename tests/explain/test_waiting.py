"""Who is right to wait, for whom, and what users of Volcano asked about waiting jobs."""

import pytest
from small_cluster import conf, group, node, pod, queue

from explain.test_exports import asked, exported
from volcano_lab.cli import main
from volcano_lab.cluster import Cluster
from volcano_lab.explain import Explainer
from volcano_lab.server.web import page, state_of
from volcano_lab.trace import Trace, TraceReader

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


@pytest.mark.long
@pytest.mark.parametrize(("cluster", "change"), [
    (full().job("new", cpu=2), "wait for the end of default/old"),
    (full(queue="q").job("new", cpu=2), "wait for the end of default/old"),  # reclaim is missing
    (full(pods=4).job("new", cpu=2), "wait for the end of default/old"),
])
def test_for_whom_a_job_waits_is_run(cluster, change):
    last = waits(Explainer(cluster.objects()).why("new"))
    assert [str(remedy) for remedy in last] == [f"{change} (new is placed on n1)"]


@pytest.mark.long
def test_something_is_wrong_where_a_less_important_job_has_the_nodes_or_a_node_has_too_much():
    low = Cluster().node("n1", cpu=4).job("old", cpu=4, running={"n1": 1}, priority=1).job(
        "new", cpu=2, priority=9)
    lost = Cluster().node("n1", cpu=3).job("old", cpu=4, running={"n1": 1}).job("new", cpu=2)
    for cluster in (low, lost):
        last = waits(Explainer(cluster.objects(), 'actions: "allocate"\ntiers: [{plugins: [{name: '
                                                  'gang}, {name: predicates}]}]').why("new"))
        assert [remedy.change for remedy in last] == ["wait for the end of default/old"]


@pytest.mark.long
def test_no_wait_is_offered_for_jobs_that_wait_themselves_or_never_end():
    cluster = Cluster().node("n1", cpu=4)
    for name in "abc":
        cluster.job(name, pods=2, min_member=1, cpu=2, running={"n1": 1} if name < "c" else None)
    explanation = Explainer(cluster.objects()).why("a")
    assert "default/b 2 (1 pod waiting)" in explanation.text
    assert not waits(explanation)
    group = GROUP % ("web", "a", "web-1") + "---\n" + "---\n".join(
        POD % (f"web-{number}", "web", "", "volcano", ", nodeName: n1", "Running")
        for number in range(4))
    service = Cluster().node("n1", cpu=4).add(group).job("new", cpu=1)
    assert not waits(Explainer(service.objects()).why("new"))


@pytest.mark.long
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
    assert "maxSurge 100% it creates all at once, beside the old ones" in explanation.text


def test_which_job_got_the_resources_that_a_gang_gave_back():
    cluster = Cluster().node("n1", cpu=4).job("big", pods=3, cpu=2, priority=9).job("small", cpu=2)
    assert "Placed after its refusal, for which nothing is kept: default/small 2." in Explainer(
        cluster.objects(), """\
actions: "allocate"
tiers: [{plugins: [{name: priority}, {name: gang}, {name: predicates}]}]
""").why("big").text


@pytest.mark.parametrize(("tiers", "said", "taken"), [
    ("{plugins: [{name: gang}, {name: predicates}]}", True, True),
    ("{plugins: [SLA]}, {plugins: [{name: gang}, {name: predicates}]}", False, False),
    ("{plugins: [{name: predicates}]}", False, True)])
def test_sla_keeps_for_a_gang_what_else_others_take(tiers, said, taken):
    conf = f"actions: allocate\ntiers: [{tiers}]".replace(
        "SLA", "{name: sla, arguments: {sla-waiting-time: 1h}}")
    cluster = Cluster().node("n1", cpu=4).job("big", pods=3, cpu=2).job("small", cpu=2)
    explain = Explainer(cluster.objects(), conf, now=9e9)
    assert ("Plugin sla, in a tier above gang, keeps the places of a gang" in explain.why(
        "big").text) is said
    small = explain.session.jobs["default/small"].ready_task_num()
    assert bool(small) is (taken and "gang" in tiers)


@pytest.mark.parametrize(("deleted", "said"), [("2020-01-01T00:00:00Z", True), ("", False)])
def test_a_pod_that_should_have_ended_is_reported(deleted, said):
    leaving = POD % ("gone", "old", f", deletionTimestamp: '{deleted or '2030-01-01T00:00:00Z'}'",
                     "volcano", ", nodeName: n1", "Running")
    cluster = Cluster().node("n1", cpu=1).add(
        (GROUP % ("old", "a", "old-1")).replace("minMember: 2", "minMember: 1") + "---\n"
        + leaving).job("new", cpu=1)
    explanation = Explainer(cluster.objects(), 'actions: "allocate"', 1_800_000_000).why("new")
    assert explanation.codes == ["promised"]
    assert ("overdue since 2020-01-01 00:00 UTC" in explanation.text) == said
    assert ("at the latest at 2030-01-01 00:00 UTC" in explanation.text) != said
    assert [(str(each), each.kubectl) for each in explanation.remedies][:1] == [(
        "delete pod/a/gone (new is placed on n1)", ["kubectl delete pod gone -n a --force"])] * said
    gang = Explainer(cluster.objects(), 'actions: "allocate"', 1_800_000_000).why("old")
    assert gang.head.startswith("a/old-1 waits for a/gone to end, which is" if said else
                                "a/old-1 does not wait.")
    assert ("does not end a/gone; until a pod is gone" in gang.text) == said


@pytest.mark.parametrize(("ends", "said"), [
    ([-900, 900], "overdue"), ([-900, -200], "overdue"), ([-50, 50], ""), ([-50, 900], "until"),
    ([900, -900], "overdue"), ([400, 500], "until"), ([-70, 0], "overdue"), ([-60, 60], "")])
def test_of_pods_that_leave_one_overdue_is_reported_or_else_when_the_last_has_left(ends, said):
    """By seconds from now to the end of their graces; a minute is given."""
    now = 1_800_000_000.0
    pods = [pod(f"old-{number}", "old", "n1").changed(metadata={"deletion_timestamp": now + end})
            for number, end in enumerate(ends)]
    text = Explainer([queue(), node("n1", cpu="2"), group("old"), *pods, group("new"), pod(
        "new-0", "new", requests={"cpu": "2"})], conf("gang", "predicates"), now).why("new").text
    assert ("overdue since" in text, "at the latest at" in text) == (
        said == "overdue", said == "until")


@pytest.mark.parametrize(("nominated", "said"), [
    ("n1", "status.nominatedNodeName is n1 meanwhile, so an autoscaler adds no node"),
    ("", "it has no status.nominatedNodeName and stays Unschedulable: an autoscaler may add")])
def test_only_what_pods_were_evicted_for_keeps_an_autoscaler_from_adding_a_node(nominated, said):
    waiting = pod("new-0", "new", requests={"cpu": "1"}).changed(
        status={"nominated_node_name": nominated})
    gone = pod("old-0", "old", "n1").changed(metadata={"deletion_timestamp": 1_800_000_900.0})
    text = Explainer([queue(), node("n1", cpu="1"), group("old"), gone, group("new"), waiting],
                     conf("gang", "predicates"), 1_800_000_000.0).why("new").text
    assert said in text and text.count("autoscaler") == 1


@pytest.mark.parametrize("finalizers", [["example.com/device", "example.com/log"], []])
def test_finalizers_of_a_pod_that_has_not_ended_are_named(finalizers):
    gone = pod("old-0", "old", "n1").changed(metadata={
        "deletion_timestamp": 1_800_000_000.0, "finalizers": finalizers})
    found = Explainer([queue(), node("n1", cpu="1"), group("old"), gone, group("new"), pod(
        "new-0", "new")], conf("gang", "predicates"), 1_800_000_900.0)
    for text in (found.why("new").text, found.why("old").text):
        assert ("finalizer example.com/device and example.com/log" in text) == bool(finalizers)
        assert ("finalizer" in text, "delete the pod" in text or "delete pod -n" in text) == (
            bool(finalizers), not finalizers)
    gone = [each.tried.removals for each in found.why("new").remedies if each.tried.removals]
    assert gone == [("pod/default/old-0",)] * (not finalizers)


@pytest.mark.parametrize("actions", ["allocate", "backfill", "allocate, backfill", "enqueue"])
@pytest.mark.parametrize("pods", ["gated", "empty", "other", "gated empty", "gated other",
                                  "empty other", "gated empty other", "gated_nothing"])
def test_pods_that_no_action_tries(pods, actions):
    """Gated ones are tried by none, those without requests by backfill, others by allocate."""
    facts = {"gated": {"schedulingGates": [{"name": "g"}]}, "empty": {"requests": {}},
             "other": {"nodeSelector": {"zone": "none"}},
             "gated_nothing": {"schedulingGates": [{"name": "g"}], "requests": {}}}
    found = Explainer([queue(), node("n1"), group("new"), *(
        pod(kind.replace("_", "-"), "new", **facts[kind]) for kind in pods.split())],
        conf("gang", "predicates", actions=actions)).why("new").codes
    assert [code for code in found if code.startswith(("gated", "no_backfill", "no_allocate"))] == [
        code for code, kind, action in (("gated", "gated", ""), (
            "no_backfill_action", "empty", "backfill"), ("no_allocate_action", "other", "allocate"))
        if kind in pods and (not action or action not in actions)]


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
    assert "In no HyperNode of these tiers: n2." in Explainer(cluster.objects(), """\
actions: "allocate"
tiers: [{plugins: [{name: gang}, {name: predicates}, {name: network-topology-aware}]}]
""").why("new").text


@pytest.mark.long
def test_members_of_hyper_nodes_that_are_no_nodes_are_named_and_corrected():
    cluster = Cluster().node("gpu-01", cpu=4).node("gpu-02", cpu=4).add(
        "{apiVersion: topology.volcano.sh/v1alpha1, kind: HyperNode, metadata: {name: s0}, spec: "
        "{tier: 1, members: [{type: Node, selector: {exactMatch: {name: gpu-1}}}, {type: Node, "
        "selector: {exactMatch: {name: gpu-02}}}]}}").job(
        "new", pods=2, cpu=4, network_topology={"mode": "hard", "highestTierAllowed": 1})
    found = Explainer(cluster.objects(), """\
actions: "allocate"
tiers: [{plugins: [{name: gang}, {name: predicates}, {name: network-topology-aware}]}]
""").why("new")
    assert "A member that HyperNodes name is no node: s0: gpu-1." in found.text
    assert str(found.remedies[0]) == (
        "HyperNode s0: member gpu-01 instead of gpu-1 (new is placed on gpu-01, gpu-02)")


@pytest.mark.parametrize("selector, said", [
    ("regexMatch: {pattern: ^gpu-n}", 'no node: s0: {"regexMatch": {"pattern": "^gpu-n"}}.'),
    ("labelMatch: {matchLabels: {rack: a}}",
     'no node: s0: {"labelMatch": {"matchLabels": {"rack": "a"}}}.'),
    ("regexMatch: {pattern: ^gpu}", ""),
])
def test_a_selector_of_a_hyper_node_that_matches_no_node_is_shown(selector, said):
    cluster = Cluster().node("gpu-01", cpu=4).add(
        "{apiVersion: topology.volcano.sh/v1alpha1, kind: HyperNode, metadata: {name: s0}, spec: "
        "{tier: 1, members: [{type: Node, selector: {" + selector + "}}]}}").job(
        "new", pods=2, cpu=4, network_topology={"mode": "hard", "highestTierAllowed": 1})
    text = Explainer(cluster.objects(), """\
actions: "allocate"
tiers: [{plugins: [{name: gang}, {name: predicates}, {name: network-topology-aware}]}]
""").why("new").text
    assert ("The selector of a HyperNode matches" in text, said in text) == (bool(said), True)


@pytest.mark.parametrize(("version", "shown"), [("resourceVersion: '7', ", True), ("", False)])
def test_jobs_wait_for_a_queue_that_the_controller_has_not_handled(version, shown):
    queue = ("{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {" + version
             + "name: q}, spec: {weight: 1}}\n---\n")
    explanation = asked(queue, exported("new", 1, 9).replace(
        "queue: default", "queue: q")).why("new")
    assert ("its state is unset, not Open" in explanation.text) == shown
    assert ("Volcano's controller, which opens a new queue" in explanation.text) == shown


@pytest.mark.long
def test_jobs_that_hold_a_part_each_and_wait_for_the_rest_are_deleted_together():
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=4)
    for number in range(4):
        cluster.job(f"app{number}", pods=3, min_member=1, cpu=2,
                    running={f"n{number % 2 + 1}": 1})
    explanation = Explainer(cluster.objects()).why("app2")
    assert "and all 4 jobs that hold the nodes wait for more" in explanation.head
    assert "All of them wait for more themselves." in explanation.text
    assert [each.change for each in explanation.remedies] == [
        "2 more nodes like n1", "both: job default/app2: a PriorityClass above 0; delete "
        "job/default/app1", "delete job/default/app0, job/default/app1"]


def test_a_capability_that_names_some_resources_gets_the_others():
    conf = """\
actions: "enqueue, allocate"
tiers: [{plugins: [{name: gang}, {name: predicates}, {name: capacity, enableHierarchy: true}]}]
"""
    cluster = Cluster().node("n1", cpu=8, gpu=4).queue(
        "root", capability={"nvidia.com/gpu": "4"}).queue("team", parent="root").job(
        "train", queue="team", cpu=1)
    explanation = Explainer(cluster.objects(), conf).why("train")
    assert "the capability of queue root above it names no cpu" in explanation.text
    assert explanation.remedies[0].change.startswith("queue root: capability cpu unset -> 8")


def test_a_claim_without_a_volume_and_a_full_node_are_both_reported():
    cluster = Cluster().node("n1", cpu=4).job("hog", cpu=3, running={"n1": 1}).add("""\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: db}
spec:
  minAvailable: 1
  tasks:
  - {name: t, replicas: 1, template: {spec: {
      volumes: [{name: v, persistentVolumeClaim: {claimName: data}}],
      containers: [{name: c, resources: {requests: {cpu: 2}}}]}}}
""")
    text = Explainer(cluster.objects(), """\
actions: "allocate"
tiers: [{plugins: [{name: gang}, {name: predicates}]}]
""").why("db").text
    assert "PersistentVolumeClaim default/data has no volume" in text
    assert "With a volume, it would wait, too:" in text


@pytest.mark.long
def test_a_full_queue_does_not_hide_that_no_node_would_do():
    cluster = Cluster().node("n1", cpu=8).queue("a", capability={"cpu": 2}).job(
        "held", queue="a", cpu=2, running={"n1": 1}).add("""\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: new}
spec:
  minAvailable: 1
  queue: a
  tasks:
  - {name: t, replicas: 1, template: {spec: {nodeSelector: {disk: ssd},
      containers: [{name: c, resources: {requests: {cpu: 1}}}]}}}
""")
    explanation = Explainer(cluster.objects(), """\
actions: "allocate"
tiers: [{plugins: [{name: gang}, {name: predicates}, {name: proportion}]}]
""").why("new")
    assert "With quota in its queue, it would wait, too:" in explanation.text
    assert any("capability" in each.change and "node selector" in each.change
               for each in explanation.remedies)


def test_what_is_asked_of_one_job_keeps_the_searches_for_its_pods_only():
    cluster = Cluster().node("n1", cpu=8).job("old", pods=8, cpu=1, running={"n1": 8})
    for number in range(3):
        cluster.job(f"new-{number}", cpu=1)
    conf = {"actions": "allocate, preempt", "tiers": [{"plugins": [
        {"name": "gang"}, {"name": "predicates"}]}]}
    whole, one = (cluster.explainer(conf, about=name) for name in ("", "new-1"))
    counted = [len(each.trace.of("preemptable")) for each in (whole, one)]
    assert counted[0] > counted[1] > 0
    for name in ("new-1", "new-2"):
        assert one.why(name).text == whole.why(name).text
    assert [group.jobs for group in one.waiting()] == [group.jobs for group in whole.waiting()]


@pytest.mark.long
def test_jobs_that_the_cycle_leaves_out_wait_too(tmp_path):
    lost = Cluster().node("n1", cpu=4).queue("team").add(
        "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: lost, namespace: a,"
        " uid: u, resourceVersion: '1'}, spec: {queue: taem, minAvailable: 1, tasks: [{replicas: 1,"
        " template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}}]}}")
    alone = lost.to_yaml()
    waiting = lost.job("big", cpu=9).why()
    assert {group.code: group.jobs for group in waiting} == {
        "overcommit_refuses": ["default/big"], "left_out": ["a/lost"]}
    group = next(group for group in waiting if group.code == "left_out")
    assert group.jobs == ["a/lost"] and group.text == "job a/lost: its queue taem doesn't exist"
    assert group.explain().remedies and repr(waiting) == "<2 of 2 jobs wait>"
    (tmp_path / "c.yaml").write_text(alone)
    for namespace, code in ((), 1), (("-n", "a"), 1), (("-n", "b"), 0):
        assert main(["run", str(tmp_path / "c.yaml"), "--fail-on-pending", *namespace]) == code
    cycle = lost.run(trace=Trace())
    assert "its queue taem" in page(state_of(cycle, 1, [], [], lost.objects()))


@pytest.mark.long
def test_as_many_cordoned_nodes_as_it_takes_are_uncordoned():
    nodes = "".join(f"{{apiVersion: v1, kind: Node, metadata: {{name: n{number}}}, spec: "
                    "{unschedulable: true}, status: {allocatable: {cpu: 4, pods: 9}}}\n---\n"
                    for number in range(4))
    found = Cluster().add(nodes).job("new", pods=3, cpu=3).explainer().why("new").remedies
    assert str(found[0]) == (
        "uncordon n0, n1, n2 (new is placed on n0, n1, n2)")


@pytest.mark.long
def test_as_many_nodes_as_it_takes_are_repaired():
    taint = "taints: [{key: node.kubernetes.io/disk-pressure, effect: NoSchedule}]"
    nodes = "".join(f"{{apiVersion: v1, kind: Node, metadata: {{name: n{number}}}, spec: "
                    f"{{{taint}}}, status: {{allocatable: {{cpu: 4, pods: 9}}}}}}\n---\n"
                    for number in range(3))
    found = Cluster().add(nodes).job("new", pods=2, cpu=3).explainer().why("new").remedies
    assert str(found[0]) == ("repair node n0, n1, which has taint node.kubernetes.io/disk-pressure "
                             "(new is placed on n0, n1)")


@pytest.mark.parametrize(("binpack", "gpu", "said"), [
    ("{name: binpack}", 1, True), ("nodeorder", 1, False), ("{name: binpack}", 0, False),
    ('{name: binpack, arguments: {binpack.resources: "nvidia.com/gpu"}}', 1, False)])
def test_devices_in_parts_on_nodes_are_not_counted_by_binpack(binpack, gpu, said):
    """Unless they are among its resources; of CPUs it counts what is left."""
    cluster = Cluster()
    for name in ("n1", "n2"):
        cluster.node(name, cpu=8, gpu=2 * gpu).job(f"on-{name}", cpu=1 + 3 * (not gpu), gpu=gpu,
                                                   running={name: 1})
    text = cluster.job("big", cpu=1 + 4 * (not gpu), gpu=2 * gpu).explainer(
        f"actions: allocate\ntiers: [{{plugins: [{{name: predicates}}, {binpack}]}}]".replace(
            " nodeorder", " {name: nodeorder}")).why("big").text
    assert "no single node has enough" in text
    assert ("binpack does not count nvidia.com/gpu: with its argument binpack.resources: "
            "nvidia.com/gpu pods with them fill" in text) is said


@pytest.mark.parametrize("capacity", [2, 4])
def test_devices_that_nodes_do_not_announce_are_named_in_place_of_binpack(capacity):
    """Binpack keeps nothing free of what a kubelet withholds; and a hint is no cause: it is last.
    """
    cluster = Cluster()
    for name in ("n1", "n2"):
        cluster.node(name, cpu=8, gpu=2).job(f"on-{name}", gpu=1, running={name: 1})
    nodes = [obj.changed(status={"capacity": {"nvidia.com/gpu": str(capacity)}})
             if obj.kind == "Node" else obj for obj in cluster.job("big", gpu=2).objects()]
    found = Explainer(nodes, "actions: allocate\ntiers: [{plugins: [{name: predicates}, "
                             "{name: binpack}]}]").why("big")
    first = next(cause for cause in found.causes if cause.code == "fragmented")
    codes = [said.code for said in first.sentences if said]
    assert codes[-1] == ("devices.withheld" if capacity > 2 else "not_packed")
    assert ("not_packed" in codes) is (capacity == 2)


@pytest.mark.long
@pytest.mark.parametrize(("cpus", "free", "change"), [
    ((6, 2, 1), 1, "default/j2"),  # the smallest one that is enough
    ((6, 2, 2), 0, "default/j1"),  # of equal ones the first
    ((6, 1, 1), 0, "default/j0"),
    ((1, 1, 1), 0, "default/j0, default/j1"),  # none is enough alone
])
def test_the_smallest_job_whose_end_is_enough_is_waited_for(cpus, free, change):
    cluster = Cluster().node("n1", cpu=sum(cpus) + free)
    for number, cpu in enumerate(cpus):
        cluster = cluster.job(f"j{number}", cpu=cpu, running={"n1": 1})
    last = waits(Explainer(cluster.job("new", cpu=2).objects()).why("new"))
    assert [remedy.change for remedy in last] == [f"wait for the end of {change}"]


DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: a, uid: w}
spec: {%sreplicas: 1, template: {spec: {schedulerName: volcano, containers: [{name: c}]}}}
"""
OF = "ownerReferences: [{apiVersion: apps/v1, kind: %s, name: %s, uid: %s}]"
REPLICAS = """\
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web-%s, namespace: a, uid: %s, %s}
spec: {replicas: 1}
"""


@pytest.mark.long
@pytest.mark.parametrize(("strategy", "offered"), [("", True), (
    "strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}, ", False)])
def test_a_rollout_whose_old_pods_hold_the_resources_deletes_one_first(strategy, offered):
    objects = [DEPLOYMENT % strategy]
    for digest, name, where, phase in (("r1", "old", ", nodeName: n1", "Running"), (
            "r2", "new", "", "Pending")):
        labels = f", labels: {{pod-template-hash: {digest}}}, "
        objects += [REPLICAS % (digest, digest, OF % ("Deployment", "web", "w")), (GROUP % (
            name, "a", f"web-{digest}")).replace("minMember: 2", "minMember: 1"), POD % (
            f"web-{digest}-x", name, labels + OF % ("ReplicaSet", f"web-{digest}", digest),
            "volcano", where, phase)]
    found = Explainer(Cluster().node("n1", cpu=1).add("---\n".join(objects)).objects()).why("a/new")
    rolls = [remedy for remedy in found.remedies if "Deployment" in remedy.change]
    assert [str(remedy) for remedy in rolls] == [
        "Deployment a/web: rolling update with maxSurge 0 and maxUnavailable 1 (web-r2 is placed "
        "on n1; ends 1 pod of a/web-r1)"] * offered
    assert [line[:35] for remedy in rolls for line in remedy.kubectl] == [
        "kubectl patch deployment web -n a -"] * offered


@pytest.mark.long
@pytest.mark.parametrize(("replicas", "offered"), [(3, True), (2, False)])
def test_a_rollout_of_a_gang_creates_all_of_it_with_a_larger_surge(replicas, offered):
    objects = [(DEPLOYMENT % "").replace("replicas: 1", f"replicas: {replicas}"), *(
        REPLICAS % (digest, digest, OF % ("Deployment", "web", "w")) for digest in ("r1", "r2"))]
    for digest, name, where, phase in (("r1", "old", ", nodeName: n1", "Running"), (
            "r2", "new", "", "Pending")):
        labels = f", labels: {{pod-template-hash: {digest}}}, "
        objects += [(GROUP % (name, "a", f"web-{digest}")).replace("minMember: 2", "minMember: 3")]
        objects += [POD % (f"web-{digest}-{number}", name, labels + OF % (
            "ReplicaSet", f"web-{digest}", digest), "volcano", where, phase)
            for number in range(3 if where else 1)]
    found = Explainer(Cluster().node("n1", cpu=9).add("---\n".join(objects)).objects()).why("a/new")
    assert ("maxSurge 100%" in found.text) is offered
    assert [str(each) for each in found.remedies if "Deployment" in each.change] == [
        "Deployment a/web: maxSurge 25% -> 100% (web-r2 is placed on n1)"] * offered


def test_all_records_are_not_read_again_for_each_job(monkeypatch):
    read, records = [], TraceReader.iter
    monkeypatch.setattr(TraceReader, "iter", lambda trace, name, /, **facts: (
        read.append(name), records(trace, name, **facts))[1])

    def reads(jobs):
        cluster = Cluster().node("n1", cpu=4)
        for number in range(jobs):
            cluster.job(f"a{number}", pods=2, cpu=3)
        explain = cluster.explainer()
        read.clear()
        assert [len(group.jobs) for group in explain.waiting()] == [jobs]
        return [*read]

    assert reads(2) == reads(3)
