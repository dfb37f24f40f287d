"""Changes are judged by the cycles that follow: loops are none, what breaks is named, and last;
what comes behind the first refusal, known defects, and who may not be cut or deleted.
"""

import re
import sys
from pathlib import Path

import pytest

from volcano_lab.api.objects import ObjectMeta, PriorityClass
from volcano_lab.cluster import Cluster
from volcano_lab.explain import Explainer
from volcano_lab.explain.outcome import Eviction, Outcome, outcome
from volcano_lab.explain.releases import DEFECTS
from volcano_lab.explain.search import Search
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.loader import loads
from volcano_lab.messages import Message

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import why


def conf(actions, *plugins, capacity=False):
    last = "capacity" if capacity else "proportion"
    names = ", ".join(f"{{name: {name}}}" for name in (*plugins, "predicates", last))
    return f'actions: "{actions}"\ntiers:\n- plugins: [{names}]\n'


def two_queues():
    """Queue a holds more than it deserves in one pod: without it it holds nothing, and is first."""
    return Cluster().node("n1", cpu=5).queue("a", deserved=3).queue("b", deserved=5).job(
        "one", queue="a", cpu=4, running={"n1": 1}).job("small", queue="b", cpu=1,
                                                        running={"n1": 1}).job(
        "new", queue="b", cpu=4)


def asked(cluster, text, name="new"):
    return Explainer(cluster.objects() if isinstance(cluster, Cluster) else cluster, text).why(name)


@pytest.mark.long
def test_a_promise_that_goes_to_others_again_and_again_is_reported_and_cured():
    found = asked(two_queues(), conf("allocate, reclaim", "gang", capacity=True).replace(
        "gang", "gang, enableReclaimable: false"))
    assert found.codes == ["promise_lost"] and "does not keep that node" in found.text
    assert "volcano-sh/volcano#4947" in found.text
    assert re.search(r"What is freed goes to [a-z/]+ \(\d+ pods?\):", found.text), found.text
    changes = [remedy.change for remedy in found.remedies]
    assert "queue b: priority 0 -> 1" in changes
    for remedy in found.remedies:
        after = outcome(*remedy.world.applied(remedy.tried), "default/new")
        assert after.runs("default/new") and not after.again, remedy


@pytest.mark.long
def test_a_pod_whose_promise_is_lost_waits_here_as_in_the_cluster():
    """Its age shows nothing that the cycle does not."""
    objects = [obj.changed(metadata={"creation_timestamp": 3600.0 * number,
                                     "resource_version": "7"})
               for number, obj in enumerate(two_queues().objects(), 1)]
    found = asked([*objects, *Cluster().node("n0", cpu=1).objects()[-1:]], conf(
        "allocate, reclaim", "gang", capacity=True).replace(
        "gang", "gang, enableReclaimable: false"))
    assert found.codes == ["promise_lost"]
    assert found.head.startswith("new waits for resources: what is freed for it goes to other jobs")


ZONED = """\
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {zone: z}}, ALLOCATABLE}
---
{apiVersion: v1, kind: Node, metadata: {name: n2, labels: {zone: z}}, ALLOCATABLE}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 9}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: low}, value: 1}
"""
ZONED_POD = """\
---
{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: g-NAME, namespace: a},
  spec: {minMember: 1, priorityClassName: CLASS}, status: {phase: PHASE}}
---
{apiVersion: v1, kind: Pod, metadata: {name: NAME, namespace: a, labels: {app: NAME},
  annotations: {scheduling.k8s.io/group-name: g-NAME}, ownerReferences: [
    {apiVersion: apps/v1, kind: ReplicaSet, name: NAME, uid: u-NAME, controller: true}]},
 spec: {schedulerName: volcano, nodeName: 'NODE', AFFINITY containers: [
   {name: c, resources: {requests: {cpu: 2}}}]}, status: {phase: PHASE}}
"""
APART = """\
affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
  {topologyKey: zone, labelSelector: {matchLabels: {app: web}}}]}},"""
LOST = "a/g-new waits for resources: what is freed for it goes to other jobs."
KEPT_OFF = "a/g-new waits for a node that fits: preempt frees n2, where allocate refuses it."


@pytest.mark.long
@pytest.mark.parametrize("cpu, affinity, head", [
    (3, APART, KEPT_OFF), (2, "", "a/g-new waits for resources that are being freed."),
    (2, APART, LOST)])
def test_a_node_that_is_freed_and_that_a_rule_refuses_is_named(cpu, affinity, head):
    pods = [ZONED_POD.replace("NAME", name).replace("NODE", node).replace("CLASS", rank).replace(
        "AFFINITY", affinity if name == "new" else "").replace(
        "PHASE", "Running" if node else "Pending") for name, node, rank in (
            ("web", "n1", "high"), ("low", "n2", "low"), ("new", "", "high"))]
    text = ZONED.replace("ALLOCATABLE", f"status: {{allocatable: {{cpu: {cpu}, pods: 9}}}}")
    found = asked(with_defaults(loads(text + "".join(pods))), conf(
        "allocate, preempt", "priority", "gang, enablePreemptable: false", "conformance"),
        "a/g-new")
    assert found.head.startswith(head)
    assert ("In the way: a/web (n1)." in found.text) is (head == KEPT_OFF)


@pytest.mark.long
@pytest.mark.parametrize("actions", ["enqueue, reclaim, allocate", "enqueue, allocate, reclaim"])
def test_no_change_evicts_again_and_again(actions):
    cluster = Cluster().node("n1", cpu=4).queue("a").queue("b")
    for number in range(4):
        cluster.job(f"old-{number}", queue="a", cpu=1, running={"n1": 1})
    found = asked(cluster.job("new", queue="b", cpu=1), conf(actions, "gang", "overcommit"))
    assert found.remedies
    for remedy in found.remedies:
        after = outcome(*remedy.world.applied(remedy.tried), "default/new")
        assert after.runs("default/new") and not after.again, remedy


@pytest.mark.long
def test_a_gang_that_breaks_is_named_and_costs_more_than_the_job():
    cluster = Cluster().node("n1", cpu=8).queue("a").queue("b").job(
        "gang", queue="a", pods=8, cpu=1, running={"n1": 8}).job("new", queue="b", cpu=1)
    plugins = conf("allocate", "gang").replace("gang", "gang, enableReclaimable: false")
    remedies = asked(cluster, plugins).remedies
    assert [remedy.price.dear for remedy in remedies] == sorted(
        remedy.price.dear for remedy in remedies)
    last = remedies[-1]
    assert last.change == "actions with reclaim" and last.price.breaks == {"default/gang": (7, 8)}
    assert "evicts 1 of 8 pods of gang, below its minimum of 8" in last.effect
    assert last.effect.endswith("costs others more than the job requests")
    assert last.as_dict()["breaks"] == {"default/gang": [7, 8]}


@pytest.mark.long
def test_what_comes_behind_the_first_refusal_is_reported_and_both_are_mended():
    cluster = Cluster().node("n1", cpu=8).queue("q", capability=2).add(
        "{apiVersion: v1, kind: Node, metadata: {name: n2, labels: {pool: x}}, "
        "spec: {unschedulable: true}, status: {allocatable: {cpu: 8, pods: 9}}}")
    cluster.add("""\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: new}
spec:
  minAvailable: 1
  queue: q
  tasks:
  - {name: w, replicas: 1, template: {spec: {nodeSelector: {pool: x}, containers: [
      {name: c, resources: {requests: {cpu: 4}}}]}}}
""")
    found = asked(cluster, conf("enqueue, allocate", "gang", capacity=True))
    assert found.codes == ["queue_over_capability"]
    assert "it would wait, too: " in found.text and "cordoned" in found.text
    assert [remedy.change for remedy in found.remedies][:1] == [
        "both: queue q: capability cpu 2 -> 4; uncordon n2"]


def test_alternatives_stand_on_one_line():
    cluster = Cluster().node("full", cpu=1)
    for name in ("a", "b", "c"):
        cluster.add(f"{{apiVersion: v1, kind: Node, metadata: {{name: {name}}}, spec: "
                    "{unschedulable: true}, status: {allocatable: {cpu: 8, pods: 9}}}")
    found = asked(cluster.job("new", cpu=4), conf("allocate", "gang"))
    changes = [remedy.change for remedy in found.remedies]
    assert changes[0] == "uncordon any of 3: a, b, c" and "uncordon" not in " ".join(changes[1:])
    assert [each.args for each in found.remedies[0].alike] == [
        ["--set", f"node/{name}.unschedulable=false"] for name in ("b", "c")]


def owned(kind, name, phase="Running", node="nodeName: n1, ", least=1, pods=4, labels=""):
    group = (f"{{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {{name: "
             f"{name}, namespace: default, ownerReferences: [{{kind: {kind}, name: {name}}}]}}, "
             f"spec: {{minMember: {least}}}, status: {{phase: {phase}}}}}\n---\n")
    return group + "\n---\n".join(
        f"{{apiVersion: v1, kind: Pod, metadata: {{name: {name}-{number}, namespace: default, "
        f"annotations: {{scheduling.k8s.io/group-name: {name}}}, labels: {{{labels}}}}}, spec: "
        f"{{{node}schedulerName: volcano, containers: [{{name: c, resources: "
        "{requests: {cpu: 1}}}]}, status: "
        f"{{phase: {phase if node else 'Pending'}}}}}" for number in range(pods))


@pytest.mark.long
@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet", "LeaderWorkerSet"])
def test_neither_deletion_nor_a_wait_is_offered_for_what_is_meant_to_run(kind):
    cluster = Cluster().node("n1", cpu=4).add(owned(kind, "web"))
    changes = [remedy.change for remedy in asked(
        cluster.job("new", cpu=1), conf("allocate", "gang")).remedies]
    assert changes and not any("delete" in each or "wait for" in each for each in changes)


@pytest.mark.long
@pytest.mark.parametrize("kind, cut", [("Job", True), ("RayCluster", False), ("MPIJob", False)])
def test_a_gang_with_a_head_is_not_cut(kind, cut):
    new = owned(kind, "new", phase="Inqueue", node="", least=4)
    changes = [remedy.change for remedy in asked(
        Cluster().node("n1", cpu=3).add(new), conf("allocate", "gang")).remedies]
    assert any(" 4 -> 3" in each for each in changes) == cut and changes


@pytest.mark.long
@pytest.mark.parametrize("labels", [
    "", "training.kubeflow.org/job-role: master", "training.kubeflow.org/job-role: worker"])
def test_a_gang_whose_members_do_not_all_exist_may_need_those_that_do(labels):
    new = owned("MPIJob", "new", phase="Inqueue", node="", least=5, pods=3, labels=labels)
    found = asked(Cluster().node("n1", cpu=4).add(new), conf("allocate", "gang"))
    assert found.codes == ["gang_invalid"]
    assert any(" 5 -> 3" in each.change for each in found.remedies)
    assert "placed one by one" not in found.text, "its operator sets the minimum"


@pytest.mark.long
def test_what_a_driver_reserves_for_its_executors_is_not_taken_from_it():
    driver = owned("Pod", "new", phase="Pending", node="", pods=1, labels="spark-role: driver")
    driver = driver.replace("minMember: 1", "minMember: 1, minResources: {cpu: 4}, queue: q")
    cluster = Cluster().node("n1", cpu=8).queue("q", capability=2).add(driver)
    found = asked(cluster, conf("enqueue, allocate", "gang", capacity=True))
    changes = [remedy.change for remedy in found.remedies]
    assert changes[0] == "queue q: capability cpu 2 -> 4"
    assert not any("minResources" in each or "without enqueue" in each for each in changes)
    assert "all its pods together" not in found.text


@pytest.mark.long
def test_a_defect_is_reported_where_a_full_root_withholds_what_is_deserved():
    cluster = Cluster().node("n1", cpu=8).queue("a", deserved=4).queue("b", deserved=4).job(
        "old", queue="a", pods=8, cpu=1, running={"n1": 8}).job("new", queue="b", cpu=2)
    text = conf("enqueue, allocate, reclaim", "gang", capacity=True).replace(
        ", {name: capacity}]", "]\n- plugins: [{name: capacity, enableHierarchy: true}]")
    found = asked(cluster, text)
    assert "This is volcano-sh/volcano#4679: " in found.text
    assert any("actions without enqueue" in remedy.change for remedy in found.remedies)
    assert "#4679" not in asked(cluster, text.replace(", reclaim", "")).text
    admitted = Cluster([obj.changed(status={"phase": "Inqueue"}) if obj.key == "default/new"
                        and obj.kind == "PodGroup" else obj for obj in cluster.objects()])
    assert "#4679" not in asked(admitted, text).text
    within = Cluster().node("n1", cpu=8).queue("a", deserved=8).queue("b", deserved=4).job(
        "old", queue="a", pods=8, cpu=1, running={"n1": 8}).job("new", queue="b", cpu=2)
    assert "#4679" not in asked(within, text).text  # a holds what it deserves: reclaim takes none


def test_each_known_defect_says_what_helps():
    assert DEFECTS and all(len(str(Message(f"known_defect.{issue}"))) > 40 for issue in DEFECTS)


@pytest.mark.long
def test_a_queue_without_affinity_may_be_given_one():
    nodes = "\n---\n".join(
        f"{{apiVersion: v1, kind: Node, metadata: {{name: {name}, labels: "
        f"{{volcano.sh/nodegroup-name: {group}}}}}, status: {{allocatable: {{cpu: 4, pods: 9}}}}}}"
        for name, group in (("n1", "train"), ("n2", "infer")))
    cluster = Cluster().queue("q").add(nodes).job("new", queue="q", cpu=1)
    found = asked(cluster, conf("allocate", "gang", "nodegroup"))
    assert "queue q has no node group affinity" in found.text
    assert "spec.affinity is" not in found.text
    assert [remedy.change for remedy in found.remedies] == [
        "queue q: nodeGroupAffinity train or infer, required"]


def test_the_affinity_of_a_queue_that_refuses_nodes_is_shown():
    node = ("{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {volcano.sh/nodegroup-name: "
            "old}}, status: {allocatable: {cpu: 4, pods: 9}}}")
    queue = ("{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q}, spec: "
             "{affinity: {nodeGroupAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
             "[old]}}}}")
    cluster = Cluster().add(node, queue).job("new", queue="q", cpu=1)
    assert '"requiredDuringSchedulingIgnoredDuringExecution": ["old"]' in asked(
        cluster, conf("allocate", "gang", "nodegroup")).text


LOOP = conf("allocate, reclaim", "gang", capacity=True).replace(
    "gang", "gang, enableReclaimable: false")
"""With `two_queues`, one and new lose and gain the same place in turn, without any change."""


def beside_a_loop():
    """A third job, which could run on a node with a taint."""
    node = ("{apiVersion: v1, kind: Node, metadata: {name: n2}, spec: {taints: [{key: team, "
            "effect: NoSchedule}]}, status: {allocatable: {cpu: 2, memory: 4Gi, pods: 9}}}")
    return two_queues().queue("c", deserved=1).add(node).job("third", queue="c", cpu=2)


@pytest.mark.long
def test_what_a_cluster_repeats_by_itself_is_reported_with_what_ends_it():
    loops = two_queues().explainer(LOOP).loops()
    assert loops is not None
    assert "as capacity puts the jobs that lost them first" in loops.text
    for explain in (Explainer(beside_a_loop().objects(), LOOP), beside_a_loop().explainer(LOOP)):
        loops = explain.loops()
        assert loops is not None
        assert loops.causes[0].numbers == {"victims": ["default/one"], "winners": ["default/new"],
                                           "actions": ["reclaim"]}
        assert "reclaim evicts pods of one for new" in loops.text
        assert loops.text in explain.why("third").text and "again" in loops.text
        assert loops.remedies and not any(outcome(
            *remedy.world.applied(remedy.tried), "").loops for remedy in loops.remedies)
    quiet = Cluster().node("n1", cpu=4).job("a", cpu=4).job("b", cpu=4)
    assert quiet.explainer(LOOP).loops() is None and "again" not in quiet.why("b", conf=LOOP).text


@pytest.mark.parametrize(("pods", "loops"), [
    (["web-0"], 0), (["web-0", "web-1"], 0), (["web-0", "web-0"], 2)])
def test_a_job_of_which_a_pod_is_evicted_twice_does_not_run(pods, loops):
    ssn = Cluster().node("n1", cpu=4).job("web", pods=2, running={"n1": 2}).run().session
    found = Outcome(last=ssn, evictions=[
        Eviction(1, pod, "default/web", "n1", "reclaim", "") for pod in pods])
    assert len(found.loops) == loops and found.runs("default/web") is not bool(loops)


def test_in_one_queue_too_the_plugin_is_named_that_puts_the_loser_first():
    classes = [PriorityClass(ObjectMeta(name), value) for name, value in (("l", 1), ("h", 9))]
    cluster = Cluster(classes).node("n1", cpu=4).job(
        "low", cpu=1, priority_class="l", running={"n1": 1}).job(
        "high", cpu=1, pods=4, priority_class="h", running={"n1": 3})
    loops = cluster.explainer(
        'actions: "allocate, preempt"\ntiers:\n- plugins: [{name: drf, enablePreemptable: false}, '
        "{name: priority}, {name: predicates}, {name: gang, enablePreemptable: false}]\n").loops()
    assert loops is not None
    assert "preempt evicts pods of low for high (priority allows it)" in loops.text
    assert "as drf puts the jobs that lost them first" in loops.text


@pytest.mark.long
@pytest.mark.parametrize("large", [1, 200])
def test_a_loop_that_a_change_does_not_cause_does_not_refuse_it(monkeypatch, large):
    monkeypatch.setattr("volcano_lab.explain.outcome.LARGE", large)
    found = asked(beside_a_loop(), LOOP, "third")
    offered = {remedy.change: remedy for remedy in found.remedies}
    assert "job default/third: with a toleration of team:NoSchedule" in offered
    remedy = offered["job default/third: with a toleration of team:NoSchedule"]
    goes_on = "" if large == 1 else "; evictions go on in a, as without the change"  # 2 cycles
    assert remedy.effect == f"third is placed on n2{goes_on}" and not remedy.price.evicts


@pytest.mark.long
@pytest.mark.parametrize("large", [1, 200])
def test_a_loop_for_the_job_or_of_other_queues_refuses_a_change(monkeypatch, large):
    """With reclaim, old and new lose and gain the same place: none does without it."""
    monkeypatch.setattr("volcano_lab.explain.outcome.LARGE", large)
    changes = [remedy.change for remedy in asked(two_queues(), LOOP.replace(
        "allocate, reclaim", "allocate")).remedies]
    assert changes and not any("reclaim" in change for change in changes)


def test_what_is_evicted_ends_in_halves_and_comes_back_as_another_pod():
    cluster = Cluster().node("n1", cpu=4).queue("a").queue("b").job(
        "old", queue="a", pods=4, min_member=1, cpu=1, running={"n1": 4}).job(
        "new", queue="b", pods=2, cpu=1)
    found = outcome(with_defaults(cluster.objects()), Explainer(
        [], conf("allocate, reclaim", "gang")).conf, "default/new")
    assert found.runs("default/new") and found.evicted["default/old"] == 2
    assert found.last is not None and len(found.last.jobs["default/old"].tasks) == 4




@pytest.mark.long
@pytest.mark.parametrize(("large", "cycles"), [(1, 2), (200, 5)])
def test_in_a_large_cluster_a_promise_is_followed_until_it_is_kept(monkeypatch, large, cycles):
    """The cycle that has run is the first one; the objects that were given do not change."""
    monkeypatch.setattr("volcano_lab.explain.outcome.LARGE", large)
    monkeypatch.setattr("volcano_lab.explain.outcome.SECONDS", 60.0)
    cluster = Cluster().node("n1", cpu=4).queue("a").queue("b").job(
        "low", queue="a", pods=4, cpu=1, min_member=1, running={"n1": 4}).job(
        "high", queue="b", cpu=2)
    objects, text = cluster.objects(), conf("enqueue, allocate, reclaim", "gang")
    explain = Explainer(objects, text, about="high")
    assert explain.why("high").codes == ["promised"]
    future = explain.evidence.future
    assert future.cycles == cycles and future.first is explain.session
    assert future.runs("default/high") and future.evicted == {"default/low": 2}
    assert Explainer(objects, text).why("high").text == explain.why("high").text


@pytest.mark.long
@pytest.mark.parametrize(("most", "code"), [(50, "promise_lost"), (2, "promised")])
def test_in_a_large_cluster_that_evicts_more_pods_a_promise_is_not_followed(
        monkeypatch, most, code):
    """The pod that is evicted is placed again, cycle after cycle."""
    for name, value in (("LARGE", 1), ("SECONDS", 60.0), ("EVICTIONS", most)):
        monkeypatch.setattr(f"volcano_lab.explain.outcome.{name}", value)
    assert Explainer(two_queues().objects(), LOOP, about="new").why("new").codes[0] == code


@pytest.mark.long
def test_in_a_large_cluster_no_change_is_judged_or_offered_twice(monkeypatch):
    """What evicts again and again is refused once, and offered once with what ends that."""
    monkeypatch.setattr("volcano_lab.explain.outcome.LARGE", 10)
    judged, judge = [], Search.judged
    monkeypatch.setattr(Search, "judged", lambda self, change, *rest: judged.append(
        (change, *rest)) or judge(self, change, *rest))
    remedies = asked(why.tree(20, 200, 12), why.TREE, "wait-0009").remedies
    assert any("drf" in remedy.change for remedy in remedies)
    assert len({remedy.change for remedy in remedies}) == len(remedies)
    assert len({*judged}) == len(judged)


AWAY = """
    affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
      {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}}"""


def refused_where_it_reclaims():
    """reclaim frees n1 for the second pod of web, whose first one is there; n2 is not reclaimable.
    """
    pods = "\n---\n".join(f"""apiVersion: v1
kind: Pod
metadata:
  {{name: web-{number}, labels: {{app: web}}, annotations: {{scheduling.k8s.io/group-name: web}}}}
spec:{AWAY}
    schedulerName: volcano
    containers: [{{name: c, resources: {{requests: {{cpu: 2}}}}}}]
    {node}
status: {{phase: {phase}}}""" for number, node, phase in ((0, "nodeName: n1", "Running"),
                                                         (1, "", "Pending")))
    group = ("\n---\n{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: "
             "{name: web}, spec: {minMember: 2, queue: b}, status: {phase: Unknown}}")
    cluster = Cluster().node("n1", cpu=6, labels={"kubernetes.io/hostname": "n1"}).node(
        "n2", cpu=6, labels={"kubernetes.io/hostname": "n2"})
    return cluster.queue("a", deserved=1).queue("b", deserved=6).queue("c").job(
        "old", queue="a", pods=4, min_member=1, cpu=1, running={"n1": 4}).job(
        "kept", queue="c", cpu=6, running={"n2": 1}).add(pods.replace("\n    ", "\n  ") + group)


@pytest.mark.long
def test_a_node_that_a_rule_refuses_is_no_loop_of_shares_and_other_nodes_are_waited_for():
    cluster = Cluster([obj.changed(spec={"reclaimable": False}) if (obj.kind, obj.key) == (
        "Queue", "c") else obj for obj in refused_where_it_reclaims().objects()])
    found = asked(cluster, conf("allocate, reclaim", "gang", capacity=True).replace(
        "gang", "gang, enableReclaimable: false"), "web")
    assert found.codes == ["promise_lost"] and "where allocate refuses it" in found.head
    assert "#4947" not in found.text and "and none waits" not in found.head
    assert "runs near" not in found.text and "Holders of cpu: default/kept 6." in found.text
    changes = {remedy.change: remedy for remedy in found.remedies}
    assert "job default/web: pod anti-affinity preferred, not required, for all its pods" in changes
    assert changes["wait for the end of default/kept"].placed == 2


@pytest.mark.long
def test_a_promise_that_hinges_on_when_evicted_pods_end_says_so():
    """Of two pods of a full node one ends in each cycle, and its place is taken."""
    cluster = Cluster([PriorityClass(ObjectMeta("high"), 9)])
    for name in "ab":
        cluster.node(name, cpu=9, pods=2)
    cluster.job("low", pods=4, min_member=1, cpu=1, running={"a": 2, "b": 2})
    found = asked(cluster.job("new", pods=2, cpu=1, priority_class="high"),
                  conf("allocate, preempt", "priority", "gang"))
    assert found.codes == ["promise_lost"] and "maximum number of pods" not in found.text
    assert "where all end at once, 2 of its 2 pods are placed" in found.text
