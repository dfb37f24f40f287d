"""What an answer leaves out because it does not matter to the pod, and what it must name."""

import pytest

from volcano_lab import Cluster
from volcano_lab.explain import Explainer

RECLAIM = """\
actions: "allocate, reclaim, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: drf}, {name: predicates}, {name: proportion}, {name: nodeorder}]
"""
WITHOUT = RECLAIM.replace(", reclaim", "")
NODES_ONLY = WITHOUT.replace("{name: proportion}, ", "")
CORDONED = """\
{apiVersion: v1, kind: Node, metadata: {name: c9}, spec: {unschedulable: true}, \
status: {allocatable: {cpu: 64, pods: 110}}}"""


def texts(cluster, name, conf=None):
    return [cause.text for cause in Explainer(cluster.objects(), conf).why(name).causes]


def test_nodes_without_the_device_do_not_matter():
    cluster = Cluster().node("c1", cpu=8).add(CORDONED).node("g1", cpu=8, gpu=2)
    cluster.node("g2", cpu=8, gpu=2).job("old", pods=4, cpu=1, gpu=1, running={"g1": 2, "g2": 2})
    said = texts(cluster.job("new", pods=1, cpu=1, gpu=1), "new", NODES_ONLY)
    assert said[0] == ("Pod default/new-0 requests nvidia.com/gpu 1; all 2 nodes with "
                       "nvidia.com/gpu together have 0 left.")
    assert not any("cordoned" in text for text in said)


def test_the_only_node_with_a_device_is_not_called_the_only_node():
    cluster = Cluster().node("c1", cpu=8).node("g1", cpu=8, gpu=1)
    cluster.job("old", pods=1, cpu=1, gpu=1, running={"g1": 1})
    said = texts(cluster.job("new", pods=1, cpu=1, gpu=1), "new", NODES_ONLY)
    assert said[0] == ("Pod default/new-0 requests nvidia.com/gpu 1; g1, the only node with "
                       "nvidia.com/gpu, has nvidia.com/gpu 0 left.")


def test_a_device_that_no_node_has_is_said_of_all():
    said = texts(Cluster().node("c1", cpu=8).node("c2", cpu=8).job("new", cpu=1, gpu=1), "new",
                 NODES_ONLY)
    assert "requests nvidia.com/gpu 1; all 2 nodes together have 0 left" in said[0]
    assert "No node announces nvidia.com/gpu" in said[0]


def test_another_queue_that_holds_too_much_of_something_else_is_not_named():
    cluster = Cluster().node("g1", cpu=8, gpu=4).node("n1", cpu=8).queue("a").queue("b")
    cluster.job("train", queue="b", pods=4, cpu=1, gpu=1, running={"g1": 4})
    cluster.job("wants", queue="b", pods=1, gpu=1)
    waiting = cluster.copy().job("large", queue="a", pods=1, cpu=9)
    assert not any("no reclaim action" in text for text in texts(waiting, "large", WITHOUT))
    both = cluster.job("small", queue="a", pods=2, cpu=1, gpu=1)
    assert any("no reclaim action" in text for text in texts(both, "small", WITHOUT))


LOW = """\
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: low}, value: -1}"""


@pytest.mark.long
@pytest.mark.parametrize(("queue", "resource", "priority_class", "named"), [
    ("a", "cpu", "low", True), ("a", "cpu", None, False), ("b", "cpu", "low", False),
    ("a", "gpu", "low", False)])
def test_jobs_of_lower_priority_are_named_where_no_preempt_could_evict_them(
        queue, resource, priority_class, named):
    cluster = Cluster().node("n1", cpu=4).node("g1", cpu=4, gpu=4).queue("a").queue("b").add(LOW)
    cluster.job("batch", queue=queue, pods=4, min_member=1, **{resource: 1}, running={"g1": 4},
                priority_class=priority_class)
    cluster.job("urgent", queue="a", pods=2, cpu=4)
    said = [text for text in texts(cluster, "urgent", WITHOUT) if "no preempt action" in text]
    assert said == ["default/batch of queue a has a lower priority: no preempt action is "
                    "configured."] * named
    with_preempt = WITHOUT.replace("backfill", "preempt, backfill")
    assert not any("no preempt action" in text for text in texts(cluster, "urgent", with_preempt))


def test_a_queue_that_gives_nothing_back_is_named_with_what_it_holds():
    cluster = Cluster().node("n1", cpu=8).queue("guest", reclaimable=False).queue("owner")
    cluster.job("render", queue="guest", pods=8, min_member=1, cpu=1, running={"n1": 8})
    said = texts(cluster.job("home", queue="owner", pods=2, cpu=1), "home", RECLAIM)
    assert ("reclaim takes nothing from queue guest, which holds cpu 8, deserves 6 "
            "and has spec.reclaimable: false.") in said
    cluster.queue("owner", reclaimable=False).node("n2", cpu=1)
    cluster.job("mine", queue="owner", pods=1, cpu=1, running={"n2": 1})
    assert not any("from queue owner" in each or "queue owner, which" in each
                   for each in texts(cluster, "home", RECLAIM))


def test_a_node_that_holds_more_than_it_has_is_named_with_its_holders():
    cluster = Cluster().node("n1", cpu=7).node("n2", cpu=8).job("old", cpu=8, running={"n1": 1})
    assert texts(cluster.job("new", pods=1, cpu=8), "new", RECLAIM)[1] == (
        "Holders of cpu in queue default: default/old 8. Node n1 has cpu 8 in use and 7 "
        "allocatable.")


HYPER = """\
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {{name: {name}}}
spec: {{tier: {tier}, members: [{members}]}}
"""
MEMBER = "{{type: {kind}, selector: {{exactMatch: {{name: {name}}}}}}}"


def racks():
    cluster = Cluster()
    for rack, nodes in (("rack-a", ("n1", "n2")), ("rack-b", ("n3", "n4"))):
        members = ", ".join(MEMBER.format(kind="Node", name=node) for node in nodes)
        cluster.add(HYPER.format(name=rack, tier=1, members=members))
        for node in nodes:
            cluster.node(node, cpu=8)
    members = ", ".join(MEMBER.format(kind="HyperNode", name=rack) for rack in ("rack-a", "rack-b"))
    cluster.add(HYPER.format(name="row", tier=2, members=members))
    return cluster.job("web", pods=6, cpu=1, running={"n1": 4, "n3": 2})


TOPOLOGY = WITHOUT.replace("{name: nodeorder}", "{name: nodeorder}, {name: network-topology-aware}")


def test_a_capability_that_is_there_is_not_called_more_than_the_queue_may_hold():
    cluster = Cluster().node("n1", cpu=8).queue("a", capability=4).job("x", queue="a", pods=8,
                                                                       min_member=1, cpu=1)
    assert Explainer(cluster.objects()).why("a").codes == ["met_capability", "jobs_wait"]


@pytest.mark.long
def test_more_nodes_stand_where_the_one_that_they_are_like_stands():
    close = {"mode": "hard", "highestTierAllowed": 1}
    cluster = racks().job("mpi", pods=3, cpu=8, network_topology=close)
    (more,) = [remedy for remedy in Explainer(cluster.objects(), TOPOLOGY).why("mpi").remedies
               if "like n1" in remedy.change]
    racked = {obj.name: [each.selector.exact_match.name for each in obj.spec.members]
              for obj in more.world.applied(more.tried)[0] if obj.kind == "HyperNode"}
    assert racked["rack-a"][:2] == ["n1", "n2"] and "n1-more-0" in racked["rack-a"]
    assert racked["rack-b"] == ["n3", "n4"] and racked["row"] == ["rack-a", "rack-b"]


def test_what_each_hyper_node_has_free_is_reported_where_none_was_tried():
    close = {"mode": "hard", "highestTierAllowed": 1}
    cluster = racks().job("mpi", pods=4, cpu=4, network_topology=close)
    assert texts(cluster, "mpi", TOPOLOGY)[0] == (
        "No HyperNode up to tier 1 has enough left for it: its minimum of 4 pods requests cpu 16, "
        "and rack-b has cpu 14 left, rack-a has cpu 12 left.")


PARTS = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: mpi, namespace: default}
spec:
  minMember: 6
  minResources: {cpu: "18"}
  networkTopology: {mode: hard, highestTierAllowed: 2}
  subGroupPolicy:
  - {name: part, subGroupSize: 3, minSubGroups: 2, matchLabelKeys: [part], labelSelector: {
     matchLabels: {app: mpi}}, networkTopology: {mode: hard, highestTierAllowed: 1}}
status: {phase: Inqueue}
""" + "".join(f"""\
---
apiVersion: v1
kind: Pod
metadata: {{name: mpi-{number}, namespace: default, labels: {{app: mpi, part: "{number // 3}"}},
  annotations: {{scheduling.k8s.io/group-name: mpi}}}}
spec: {{schedulerName: volcano, containers: [{{name: m, resources: {{requests: {{cpu: "3"}}}}}}]}}
""" for number in range(6))


def test_hyper_nodes_that_were_not_tried_for_a_sub_group_are_named_with_what_they_have_left():
    cluster = racks().job("db", cpu=6, pods=1, running={"n3": 1}).add(PARTS)
    said = texts(cluster, "mpi", TOPOLOGY)
    assert said[0] == (
        "No single HyperNode up to tier 1 holds its sub-group: 3 pods are needed together, and "
        "rack-a takes 0. Not tried, as its minimum of 3 pods requests cpu 9: rack-b has cpu 8 "
        "left. Counted in: 3 pods of this job, placed earlier in the same attempt.")
    assert said[1] == "Holders of cpu: default/db 6, default/web 6."


@pytest.mark.long
def test_sub_groups_without_a_topology_that_must_hold_start_with_one():
    parts = PARTS.replace(", networkTopology: {mode: hard, highestTierAllowed: 1}", "").replace(
        "  networkTopology: {mode: hard, highestTierAllowed: 2}\n", "")
    explanation = Explainer(racks().add(parts).objects(), TOPOLOGY).why("mpi")
    assert explanation.codes == ["no_default_sub_group"]
    assert "volcano-sh/volcano#4871" in explanation.text
    assert explanation.remedies[0].change == (
        "job default/mpi: networkTopology hard, highestTierAllowed 3")
    gated = parts.replace("schedulerName", "schedulingGates: [{name: g}], schedulerName")
    assert "#4871" not in Explainer(racks().add(gated).objects(), TOPOLOGY).why("mpi").text


def test_a_tier_below_all_hyper_nodes_is_said():
    close = {"mode": "hard", "highestTierAllowed": 0}
    cluster = racks().job("mpi", pods=1, cpu=1, network_topology=close)
    assert any("tier 0" in text for text in texts(cluster, "mpi", TOPOLOGY))


def test_waiting_jobs_are_grouped_by_the_cause_that_their_answer_begins_with():
    cluster = Cluster().job("big", cpu=20)
    for number in range(5):
        cluster.node(f"n{number}", cpu=8)
    shown = Explainer(cluster.add(CORDONED).objects(), NODES_ONLY)
    assert shown.why("big").causes[0].code == "cordoned", "it is the node that is large enough"
    assert [group.code for group in shown.waiting()] == ["cordoned"]


CLASSES = """\
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 100}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: low}, value: 10}
"""
WITHOUT_PRIORITY = """
actions: "enqueue, allocate, preempt"
tiers:
- plugins: [{name: gang}, {name: conformance}, {name: predicates}]
"""


@pytest.mark.long
def test_a_job_that_loses_pods_to_a_less_important_one_is_reported_with_the_reason():
    cluster = Cluster().add(CLASSES).node("n1", cpu=4).job(
        "old", pods=4, cpu=1, min_member=1, priority_class="high", running={"n1": 4})
    explain = Explainer(cluster.job("new", pods=1, cpu=1, priority_class="low").objects(),
                        WITHOUT_PRIORITY)
    pod, = (key for key in explain.evidence.tasks
            if explain.evidence.of("commit", task=key, operation="evict"))
    assert explain.why("old").causes[0].text == (
        f"1 of its pods is leaving its node, and it has no others to place. preempt evicts {pod} "
        "for default/new.")
    shown = explain.why(pod)
    assert shown.causes[1].text == (
        "default/old has priority 100 and default/new 10 (plugin priority, which compares them, "
        "is not configured).")
    assert "plugin priority in tier 1 (old loses no pods; new waits)" in map(
        str, shown.remedies)


def test_a_job_of_lower_priority_is_not_said_to_matter_more():
    cluster = Cluster().add(CLASSES).node("n1", cpu=4).job("old", pods=4, cpu=1, min_member=1,
                                                           running={"n1": 4})
    explain = Explainer(cluster.job("new", pods=1, cpu=1, priority_class="low").objects(),
                        WITHOUT_PRIORITY)
    pod, = (key for key in explain.evidence.tasks
            if explain.evidence.of("commit", task=key, operation="evict"))
    assert "less_important_claimant" not in explain.why(pod).codes


GANG_FIRST = """\
actions: "allocate, preempt"
tiers: [{plugins: [{name: priority}, {name: gang}, {name: conformance}, {name: predicates}]}]
"""


@pytest.mark.parametrize(("space", "said"), [("kube-system", True), ("default", False)])
def test_a_plugin_that_was_not_asked_any_more_and_would_protect_too_is_named(space, said):
    cluster = Cluster().node("n1", cpu=2).add(
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, "
        "value: 9}").job("new", cpu=1, priority=9, priority_class="high")
    cluster.job("old", namespace=space, cpu=2, running={"n1": 1})
    found = cluster.why("new", conf=GANG_FIRST)
    assert "protected_by_gang" in [cause.code for cause in found.causes]
    assert ("conformance would allow none either" in found.text) == said


def test_hyper_nodes_that_take_as_many_pods_are_named_together():
    cluster = Cluster()
    for number in range(4):
        members = ", ".join(f"{{type: Node, selector: {{exactMatch: {{name: {side}{number}}}}}}}"
                            for side in "ab")
        cluster.node(f"a{number}", cpu=5).node(f"b{number}", cpu=5).add(
            "{apiVersion: topology.volcano.sh/v1alpha1, kind: HyperNode, metadata: {name: "
            f"rack-{number}}}, spec: {{tier: 1, members: [{members}]}}}}")
    said = texts(cluster.job("new", pods=3, cpu=3, network_topology={
        "mode": "hard", "highestTierAllowed": 1}), "new", TOPOLOGY)
    assert said[0].startswith(
        "No single HyperNode up to tier 1 holds it: 3 pods are needed together, and rack-0, "
        "rack-1, rack-2 and 1 more take 2 each.")


INIT = """\
apiVersion: v1
kind: Pod
metadata: {name: setup, namespace: default, annotations: {scheduling.k8s.io/group-name: setup}}
spec:
  schedulerName: volcano
  nodeName: mini
  initContainers: [{name: init, resources: {requests: {cpu: 6}}}]
  containers: [{name: c, resources: {requests: {cpu: 100m}}}]
status: {phase: Running}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: setup, namespace: default}
spec: {minMember: 1, queue: default}
status: {phase: Running}
"""


def test_what_a_holder_keeps_for_init_containers_is_reported_of_the_nodes_that_are_large_enough():
    cluster = Cluster().node("mini", cpu=8).node("edge", cpu=2).add(INIT).job("new", cpu=4)
    explanation = Explainer(cluster.objects(), NODES_ONLY).why("new")
    assert explanation.head.startswith(
        "new waits for resources: node mini lacks cpu 2 for its pod.")
    assert ("cpu 4; mini, the only node large enough, has cpu 2 left. Holders of cpu: "
            "default/setup 6 (for init containers; the other containers request 0.1)."
            ) in explanation.text


PAIR = {name: f"""\
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: default, annotations: {{scheduling.k8s.io/group-name: pair}}}}
spec: {{schedulerName: volcano, containers: [{{name: c, resources: {{requests: {{cpu: {cpu}}}}}}}]}}
""" for name, cpu in (("head", 3), ("tail", 5))}
GROUP = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: pair, namespace: default}
spec: {minMember: 2, queue: default}
status: {phase: Inqueue}
"""


@pytest.mark.long
@pytest.mark.parametrize("spread, more, offered", [
    (0, "", True), (20, "", False), (20, ", {name: binpack}", False)])
def test_the_node_that_a_small_pod_of_the_gang_took_from_a_large_is_reported(spread, more, offered):
    cluster = Cluster().node("a", cpu=8).node("b", cpu=8).job("on-a", cpu=3, running={"a": 1}).job(
        "on-b", cpu=5, running={"b": 1}).add("---\n".join([*PAIR.values(), GROUP]))
    conf = ("actions: allocate\ntiers: [{plugins: [{name: gang}, {name: predicates}, "
            f"{{name: nodeorder, arguments: {{leastrequested.weight: {spread}}}}}{more}]}}]")
    explanation = Explainer(cluster.objects(), conf).why("default/pair")
    assert ("Counted in: default/head (a) of this job, placed earlier in the same attempt."
            ) in explanation.text
    changes = [str(remedy) for remedy in explanation.remedies]
    assert ("plugin binpack in tier 1 (pair is placed on b, a)" in changes) == offered


CLASS = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: p}, value: 9}"


@pytest.mark.long
@pytest.mark.parametrize("limit, action", [("4", "preempt"), ("4", "backfill"), ("9", "preempt")])
def test_what_an_action_that_evicts_would_do_within_the_quota_after_admission(limit, action):
    """The nodes have enough left, so that nothing else keeps the job waiting."""
    cluster = Cluster().node("n1", cpu=9).queue("q", capability={"cpu": limit}).add(CLASS).job(
        "low", queue="q", pods=2, cpu=2, running={"n1": 2}).job(
        "high", queue="q", cpu=2, priority=9, priority_class="p")
    text = Explainer(cluster.objects(), (
        f"actions: enqueue, allocate, {action}\ntiers: [{{plugins: [{{name: priority}}, "
        "{name: gang}, {name: predicates}, {name: proportion}]}]")).why("high").text
    assert ("Once admitted, it would wait, too: preempt finds 2 candidates (of default/low), but "
            "gang allows none" in text) == ((limit, action) == ("4", "preempt"))


@pytest.mark.long
@pytest.mark.parametrize("pods, offered", [(1, True), (2, False)])
def test_what_preempt_would_be_refused_by_after_admission_is_reported_and_changed(pods, offered):
    """A gang of several pods is broken for no other job's sake."""
    cluster = Cluster().node("n1", cpu=2 * pods).add(CLASS).job(
        "low", pods=pods, cpu=2, running={"n1": pods}).job(
        "high", cpu=2, priority=9, priority_class="p")
    conf = ("actions: enqueue, allocate, preempt\ntiers: [{plugins: [{name: priority}, "
            "{name: gang}]}, {plugins: [{name: predicates}, {name: proportion}DRF]}]")
    explanation = Explainer(cluster.objects(), conf.replace(
        "DRF", ", {name: drf}" * offered)).why("high")
    assert "Once admitted, it would wait, too: preempt finds" in explanation.text
    assert "but gang allows none" in explanation.text
    assert ("Then also: drf allows none of them either" in explanation.text) == offered
    assert any(str(remedy).startswith(
        "both: actions without enqueue; enablePreemptable: false for gang (high is pipelined")
        for remedy in explanation.remedies) == offered


REVOCABLE = "---\n".join(f"""\
apiVersion: v1
kind: Pod
metadata:
  name: {name}
  namespace: default
  annotations: {{scheduling.k8s.io/group-name: {name}, {annotation}}}
spec:
  schedulerName: volcano
  nodeName: {node}
  containers: [{{name: c, resources: {{requests: {{cpu: 2}}}}}}]
status: {{phase: {phase}}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {{name: {name}, namespace: default, annotations: {{{annotation}}}}}
spec: {{minMember: 1, queue: default}}
status: {{phase: Inqueue}}
""" for name, annotation, node, phase in (
    ("old", 'volcano.sh/preemptable: "true"', "n1", "Running"),
    ("new", 'volcano.sh/preemptable: "false", volcano.sh/revocable-zone: "*"', '""', "Pending")))


@pytest.mark.long
def test_a_pod_that_may_use_revocable_nodes_preempts_none_until_it_may_not():
    conf = ("actions: allocate, preempt\ntiers: [{plugins: [{name: tdm}]}, "
            "{plugins: [{name: gang}, {name: predicates}]}]")
    explanation = Explainer(Cluster().node("n1", cpu=2).add(REVOCABLE).objects(), conf).why("new")
    assert ("tdm allows none: a pod that is preemptable, or may use revocable nodes, preempts "
            "none.") in explanation.text
    assert str(explanation.remedies[0]) == (
        "job default/new: without the annotation volcano.sh/revocable-zone "
        "(new is pipelined to n1; evicts 1 pod of old)")


@pytest.mark.parametrize("others, said", [(0, ""), (2, "2 other jobs that wait are past their")])
def test_jobs_that_are_overdue_as_well_are_reported_beside_a_deadline(others, said):
    cluster = Cluster().node("n1", cpu=4).job("old", cpu=4, running={"n1": 1}).job("new", cpu=3)
    for number in range(others):
        cluster.job(f"small-{number}", cpu=1)
    conf = ("actions: allocate\ntiers: [{plugins: [{name: sla, arguments: "
            "{sla-waiting-time: 1h}}, {name: overcommit}, {name: predicates}]}]")
    text = Explainer(cluster.objects(), conf, now=9e9).why("new").text
    assert ("annotation sla-waiting-time at this job alone" in text) == bool(others)
    assert "so sla admits it" in text and said in text
    assert ("deadlines, too" in text) == bool(others)


@pytest.mark.parametrize(("leaf", "deserved"), [(9, 13), (12, 16)])
def test_what_queues_deserve_is_summed_over_those_without_children(leaf, deserved):
    cluster = Cluster().node("n1", cpu=10).queue("eng", deserved={"cpu": 10})
    cluster.queue("dev", parent="eng", deserved={"cpu": leaf})
    cluster.queue("test", parent="eng", deserved={"cpu": 4})
    cluster.job("old", queue="dev", pods=9, cpu=1, min_member=1, running={"n1": 9})
    cluster.job("new", queue="test", pods=1, cpu=2)
    conf = ("{actions: 'enqueue, allocate, reclaim', tiers: [{plugins: [{name: gang}, "
            "{name: capacity, enableHierarchy: true}]}]}")
    said = " ".join(texts(cluster, "new", conf))
    assert f"The queues deserve cpu {deserved} in total, and the cluster has 10." in said


def test_of_many_holders_three_are_named_and_the_others_counted():
    cluster = Cluster().node("n1", cpu=10).job("big", pods=1, cpu=5)
    for name in "abcde":
        cluster.job(name, pods=2, cpu=1, running={"n1": 2})
    said = cluster.why("big").text
    assert "In use by default/a 2, default/b 2, default/c 2, 2 more jobs 4." in said


def test_what_weights_leave_to_a_queue_is_reported_with_the_other_shares():
    cluster = Cluster().node("n1", cpu=40).queue("small", weight=1).queue("large", weight=9)
    cluster.job("many", queue="small", pods=40, cpu=1).job("few", queue="large", pods=4, cpu=1)
    assert ("Weights divide what queues request, and what one does not request the others may "
            "have: large (weight 9) deserves cpu 4, small (weight 1) deserves cpu 36."
            ) in Explainer(cluster.objects(), WITHOUT).why("small").head
    alone = Cluster().node("n1", cpu=40).queue("small").job("many", queue="small", cpu=1)
    assert "Weights divide" not in Explainer(alone.objects(), WITHOUT).why("small").head


@pytest.mark.parametrize("tiers, pods, said", [
    ("[{plugins: [{name: gang}, SLA]}, {plugins: [{name: predicates}]}]", 2, True),
    ("[{plugins: [{name: predicates}, {name: gang}, SLA]}]", 2, True),
    ("[{plugins: [{name: predicates}, {name: gang}, SLA]}]", 1, False),
    ("[{plugins: [SLA]}, {plugins: [{name: gang}, {name: predicates}]}]", 2, False)])
def test_sla_keeps_a_part_of_a_gang_only_in_a_tier_before_gang(tiers, pods, said):
    conf = "actions: allocate\ntiers: " + tiers.replace(
        "SLA", "{name: sla, arguments: {sla-waiting-time: 1h}}")
    cluster = Cluster().node("n1", cpu=2).job("late", pods=pods, cpu=4 // pods)
    found = cluster.why("late", conf=conf, now=2e9)
    assert ("With sla in a tier before gang they are kept" in found.text) is said


@pytest.mark.parametrize("actions, gone", [("shuffle", True), ("allocate", False)])
def test_pods_that_tdm_evicts_for_no_other_pod_are_reported(actions, gone):
    cluster = Cluster().node("n1", cpu=4, labels={"volcano.sh/revocable-zone": "z"}).add(
        REVOCABLE)
    conf = (f"actions: {actions}\ntiers: [{{plugins: [{{name: tdm, arguments: "
            "{tdm.revocable-zone.z: '00:00-00:01'}}, {name: predicates}]}]")
    said = "shuffle evicts old in this cycle, as tdm chooses, for no other pod."
    for found in (cluster.why("old", conf=conf, now=2e9), cluster.why(
            "old", conf=conf, now=2e9, evict=True)):
        assert (said.replace(" old ", " default/old ") in found.text) == gone
