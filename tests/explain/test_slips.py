"""Slips of the pen, what keeps pods from being created at all, and which others take resources."""

import pytest

from explain.test_questions import LATER
from volcano_lab import Cluster, Trace, loads
from volcano_lab.explain import Explainer
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.messages import speaking
from volcano_lab.scheduler import traced
from volcano_lab.trace.cause_trace import CauseTrace
from volcano_lab.trace.stepper import state_at

ALLOCATE = """\
actions: "allocate"
tiers:
- plugins: [{name: gang}, {name: pdb}, {name: predicates}]
"""
RECLAIM = """\
actions: "allocate, reclaim, preempt"
tiers:
- plugins: [{name: priority}, {name: gang}]
- plugins: [{name: drf}, {name: predicates}, {name: proportion}, {name: nodeorder}]
"""
NODE = """\
{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {taints: [{key: \
node.kubernetes.io/not-ready, effect: NoSchedule}]}, status: {allocatable: {cpu: 4, pods: 9}}}"""
OTHERS = """\
{apiVersion: v1, kind: Pod, metadata: {name: agent, namespace: kube-system}, spec: {schedulerName: \
default-scheduler, nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 3}}}]}, \
status: {phase: Running}}"""
GROUP = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: web, namespace: default}
spec: {minMember: 1}
status: {phase: Inqueue}
"""
POD = """\
{apiVersion: v1, kind: Pod, metadata: {name: web-0, namespace: default, annotations: {
  scheduling.k8s.io/group-name: web}}, spec: {schedulerName: volcano, containers: [{name: c,
  resources: {requests: {cpu: 1}}}]}, status: {phase: Pending}}
"""
JOB = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {{name: web, namespace: default}}
spec:
  minAvailable: 1
  schedulerName: volcano
  {more}
  tasks:
  - name: w
    replicas: 1
    template: {{spec: {{containers: [{{name: c, resources: {{requests: {asks}}}}}], {pods}}}}}
"""


def made(node, asks="{cpu: 1}", more="", pods=""):
    return with_defaults(loads(f"{node}\n---\n" + JOB.format(asks=asks, more=more,
                                                             pods=pods)))


def written(asks="{cpu: 1}", more="queue: default", pods="", nodes="cpu: 4, memory: 32Gi",
            labels=""):
    node = (f"{{apiVersion: v1, kind: Node, metadata: {{name: n1, labels: {{{labels}}}}}, "
            "status: {allocatable: "
            f"{{{nodes}, pods: 9}}}}}}")
    return made(node, asks, more, pods)


@pytest.mark.parametrize("sentence, objects, said, change", [
    ("a resource's name with a letter too many", written(
        "{nvidia.com/gpus: 1}", nodes="cpu: 4, nvidia.com/gpu: 4"),
     "No node announces nvidia.com/gpus; the nearest name is nvidia.com/gpu (4 on all nodes).",
     "job default/web: nvidia.com/gpu instead of nvidia.com/gpus (web is placed on n1)"),
    ("a part of a device is no amount of another resource", written(
        "{volcano.sh/vgpu-number: 2, volcano.sh/vgpu-memory-percentage: 100}",
        nodes="cpu: 4, volcano.sh/vgpu-number: 8, volcano.sh/vgpu-memory: 9999"),
     "Request volcano.sh/vgpu-memory in MiB, or neither: each of volcano.sh/vgpu-number is then a",
     "job default/web: request per pod without volcano.sh/vgpu-memory-percentage 100 (web is "
     "placed on n1)"),
    ("a part of a card whose memory is known is as much of that", written(
        "{volcano.sh/vgpu-number: 2, volcano.sh/vgpu-memory-percentage: 25}",
        nodes="cpu: 4, volcano.sh/vgpu-number: 8, volcano.sh/vgpu-memory: 9999",
        labels="}, annotations: {volcano.sh/node-vgpu-register: 'a,4,4096,X,true,m:b,4,4096,X,t:'"),
     "Request volcano.sh/vgpu-memory in MiB, or neither",
     "job default/web: volcano.sh/vgpu-memory 1024 instead of volcano.sh/vgpu-memory-percentage ("
     "web is placed on n1)"),
    ("pages of another size", written(
        "{hugepages-2Mi: 2Gi}", nodes="cpu: 4, hugepages-1Gi: 4Gi"),
     "No node announces hugepages-2Mi; the nearest name is hugepages-1Gi (4Gi on all nodes).",
     "job default/web: hugepages-1Gi instead of hugepages-2Mi (web is placed on n1)"),
    ("bytes are shown as such, and lowered in whole steps", written("{cpu: 1, memory: 64G}"),
     "the largest has 32Gi",
     "job default/web: request per pod memory 64G -> 32Gi (web is placed on n1)"),
    ("ephemeral storage is bytes, too", written(
        "{ephemeral-storage: 50Gi}", nodes="cpu: 4, ephemeral-storage: 20Gi"),
     "the largest has 20Gi",
     "job default/web: request per pod ephemeral-storage 50Gi -> 20Gi (web is placed on n1)"),
    ("thousandths of a CPU without their unit", written("{cpu: 3000}"),
     "cpu 3000 without a unit counts whole CPUs: is 3000m meant?",
     "job default/web: request per pod cpu 3000 -> 3000m (web is placed on n1)"),
    ("a gate is named", written(pods="schedulingGates: [{name: example.com/quota}]"),
     "(example.com/quota); whoever set it has to remove it.",
     "job default/web: without its scheduling gates (web is placed on n1)"),
    ("a gate of a newer Volcano", written(
        pods="schedulingGates: [{name: scheduling.volcano.sh/queue-allocation-gate}]"),
     "Volcano v1.15 and newer remove scheduling.volcano.sh/queue-allocation-gate; v1.14.0 does not",
     "job default/web: without its scheduling gates (web is placed on n1)"),
    ("a node that does not work", made(NODE), "node.kubernetes.io/not-ready",
     "repair node n1, which has taint node.kubernetes.io/not-ready (web is placed on n1)"),
    ("a label with a capital letter", written(
        pods="nodeSelector: {diskType: ssd}", nodes="cpu: 4", labels="disktype: ssd"),
     "No node has diskType=ssd; the nearest label is disktype=ssd.",
     "job default/web: node selector disktype=ssd instead of diskType=ssd (web is placed on n1)"),
    ("a label that has another value", written(
        pods="nodeSelector: {pool: b}", nodes="cpu: 4", labels="pool: batch"),
     "No node has pool=b; there is batch.",
     "job default/web: without its node selector pool=b (web is placed on n1)"),
    ("a label that no node has", written(pods="nodeSelector: {zone: b}"),
     "No node has the label zone.", "label n1 zone=b (web is placed on n1)"),
    ("a toleration of another value", made(
        NODE.replace("node.kubernetes.io/not-ready", "gpu, value: present"),
        pods='tolerations: [{key: GPU, value: "true", effect: NoSchedule}]'),
     "It tolerates GPU=true:NoSchedule, and the taint is gpu=present:NoSchedule.",
     "job default/web: with a toleration of gpu:NoSchedule (web is placed on n1)"),
    ("a part that is not a container's", written("{cpu: 4}", pods="overhead: {cpu: 250m}"),
     "cpu 0.25 of it is the overhead of its RuntimeClass (spec.overhead).",
     "job default/web: request per pod cpu 4 -> 3700m (web is placed on n1)"),
    ("a sidecar that counts, too", written("{cpu: 4}", pods=(
        "initContainers: [{name: proxy, restartPolicy: Always, resources: {requests: {cpu: "
        "100m}}}]")), "Its containers request c cpu 4, proxy cpu 0.1.",
     "job default/web: request per pod cpu 4 -> 3900m (web is placed on n1)"),
    ("a toleration of no taint that is there", made(
        NODE.replace("node.kubernetes.io/not-ready", "gpu"),
        pods="tolerations: [{key: spot, operator: Exists}]"),
     "untolerated taint {gpu: }).",
     "job default/web: with a toleration of gpu:NoSchedule (web is placed on n1)"),
])
def test_what_is_meant_is_said_and_first_among_the_remedies(sentence, objects, said, change):
    explanation = Explainer(objects, ALLOCATE).why("web")
    assert said in explanation.text, sentence
    first = next(remedy for remedy in explanation.remedies if not remedy.price.dear
                 and " more node" not in remedy.change)
    assert str(first) == change


WITHHELD = """\
{apiVersion: v1, kind: Node, metadata: {name: NAME}, SPEC status: {capacity: {a.b/gpu: 8},
  allocatable: {cpu: 4, pods: 9, a.b/gpu: USABLE}}}
---
"""


@pytest.mark.parametrize("spec, named", [("", True), ("spec: {unschedulable: true},", False)])
def test_devices_withheld_from_a_node_count_beside_larger_nodes(spec, named):
    nodes = "".join(WITHHELD.replace("NAME", name).replace("SPEC", more).replace("USABLE", usable)
                    for name, more, usable in (("n1", "", "8"), ("n2", spec, "7")))
    cluster = Cluster().add(nodes).job(
        "old", cpu=1, resources={"a.b/gpu": "2"}, running={"n1": 1}).job(
        "new", cpu=1, resources={"a.b/gpu": "8"})
    for asked in ({}, {"node": "n2"}):
        found = cluster.why("new-0" if asked else "new", conf=ALLOCATE, **asked)
        assert ("n2 has a.b/gpu 8 (status.capacity)" in found.text) == named


def broken(**nodes):
    """Nodes of which so many of eight devices are usable, and a job that requests eight."""
    text = "".join(WITHHELD.replace("NAME", name).replace("SPEC", "").replace("USABLE", str(usable))
                   for name, usable in nodes.items())
    return Cluster().add(text).job("new", cpu=1, resources={"a.b/gpu": "8"})


def test_of_many_broken_nodes_as_many_are_repaired_as_it_takes():
    found = broken(**{f"n{number}": 7 for number in range(9)}).why("new", conf=ALLOCATE)
    assert found.remedies[0].change == "repair node n0, which has 7 of 8 a.b/gpu"


def test_a_broken_node_that_would_be_too_full_is_not_repaired():
    cluster = broken(n1=7).job("old", cpu=1, resources={"a.b/gpu": "2"}, running={"n1": 1})
    assert not [each for each in cluster.why("new", conf=ALLOCATE).remedies
                if "repair" in each.change]


def test_a_node_with_devices_that_it_may_not_use_is_repaired_before_one_is_bought():
    found = broken(n1=7, n2=0).why("new", conf=ALLOCATE)
    assert "n1 has a.b/gpu 8 (status.capacity) and only 7 allocatable" in found.text
    assert "n2 has a.b/gpu 8 (status.capacity) and only 0 allocatable" in found.text
    assert found.remedies[0].change == (
        "repair node n1, which has 7 of 8 a.b/gpu or repair node n2, which has 0 of 8 a.b/gpu")


AGENT = """\
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: kube-system, labels: {app: plugin}%s}
spec: {nodeName: %s, containers: [{name: c}]}
status: {phase: Running, containerStatuses: [{name: c, state: {%s}}]}
"""


def test_pods_that_do_not_run_on_a_node_that_is_repaired_are_named():
    crashes = "waiting: {reason: CrashLoopBackOff}"
    cluster = broken(n1=7, n2=7).add(
        AGENT % ("a-1", "", "n1", crashes), AGENT % ("b-1", "", "n1", "running: {}"), AGENT % (
            "a-2", ", deletionTimestamp: '2026-01-01T00:00:00Z'", "n2", "running: {}"))
    assert str(cluster.why("new", conf=ALLOCATE).remedies[0]).endswith(
        "(not running on n1: kube-system/a-1 (CrashLoopBackOff); not running on n2: "
        "kube-system/a-2 (Terminating); new is placed on n1)")


@pytest.mark.parametrize("first", ["volcano", "other"])
def test_pods_of_a_gang_that_name_another_scheduler_are_given_to_volcano(first):
    pods = "".join("---\n" + POD.replace("web-0", f"web-{number}").replace("volcano,", f"{name},")
                   for number, name in enumerate([first, *{"volcano", "other"} - {first}]))
    explanation = Explainer(with_defaults(loads(NODE.replace("not-ready", "none").replace(
        "NoSchedule", "PreferNoSchedule") + "\n---\n" + GROUP.replace(
            "Member: 1", "Member: 2") + pods)), ALLOCATE).why("web")
    assert [remedy.change for remedy in explanation.remedies] == [
        "job default/web: schedulerName volcano for its pods"]


def test_devices_that_a_node_may_not_use_are_named():
    node = ("{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {capacity: {a.b/gpu: 8}, "
            "allocatable: {cpu: 4, pods: 9, a.b/gpu: 7}}}")
    found = Explainer(made(node, "{a.b/gpu: 8}"), ALLOCATE).why("web")
    assert ("n1 has a.b/gpu 8 (status.capacity) and only 7 allocatable: its device plugin reports "
            "the others as unhealthy, or does not run.") in found.text


@pytest.mark.long
def test_other_devices_of_a_vendor_are_named_where_nodes_have_them_instead():
    cluster = Cluster().node("n1", cpu=9, gpu=1).node(
        "n2", cpu=9, resources={"nvidia.com/mig-1g": "7"}).job(
        "old", cpu=1, gpu=1, running={"n1": 1}).job("new", cpu=1, gpu=1)
    found = cluster.why("new", conf=RECLAIM)
    assert "n2 announces nvidia.com/mig-1g 7 instead of nvidia.com/gpu." in found.text
    assert "job default/new: nvidia.com/mig-1g instead of nvidia.com/gpu" in [
        each.change for each in found.remedies]


def test_pods_that_are_not_created_are_reported_first_and_admission_is_no_help():
    explanation = Explainer(written(more="priorityClassName: gold")).why("web")
    assert explanation.codes[0] == "pods_forbidden"
    assert "there is no PriorityClass gold" in explanation.causes[0].text
    assert [remedy.change for remedy in explanation.remedies] == [
        "job default/web: without PriorityClass gold", "create PriorityClass gold"]


def test_pods_of_another_scheduler_are_reported_and_given_to_volcano():
    explanation = Explainer(Cluster().node("n1", cpu=4).add(GROUP).add(OTHERS.replace(
        "nodeName: n1, ", "").replace("kube-system}", "default, annotations: {"
        "scheduling.k8s.io/group-name: web}}").replace("Running", "Pending")).objects()).why("web")
    assert explanation.codes == ["other_scheduler"]
    assert [str(remedy) for remedy in explanation.remedies] == [
        "job default/web: schedulerName volcano for its pods (web is placed on n1)"]


def test_a_queue_that_is_not_there_is_created_or_the_near_one_is_taken():
    node = NODE.replace("node.kubernetes.io/not-ready, effect: NoSchedule", "x, effect: "
                        "PreferNoSchedule")
    queue = "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: team-ml}}"
    explanation = Explainer(made(f"{node}\n---\n{queue}", more="queue: team-mi")).why("web")
    assert explanation.text.endswith("its queue team-mi doesn't exist; near: team-ml.")
    with speaking("zh"):
        assert explanation.head == (
            "未进入本周期：作业 web 的队列 team-mi 不存在；相近的有：team-ml。")
    assert [str(remedy) for remedy in explanation.remedies] == [
        "job web: in queue team-ml (web is placed on n1)",
        "create queue team-mi (web is placed on n1)"]


@pytest.mark.parametrize("name", ["train", "ml/train", "job/train"])
def test_a_job_of_another_namespace_whose_queue_is_not_there_has_the_same_changes(name):
    job = """{apiVersion: batch.volcano.sh/v1alpha1, kind: Job,
     metadata: {name: train, namespace: ml}, spec: {queue: teem, minAvailable: 1, tasks: [{name: w,
     replicas: 1, template: {spec: {containers: [{name: c}]}}}]}}"""
    found = Cluster().node("n1", cpu=4).queue("team").add(job).why(name)
    assert next(each.tried.settings for each in found.remedies) == ("job/ml/train.queue=team",)


def test_pods_that_volcano_does_not_schedule_are_named():
    cluster = Cluster().node("n1", cpu=4).add(OTHERS).job("web", pods=1, cpu=2)
    assert "Pods that Volcano does not schedule hold cpu 3 (kube-system/agent)." in Explainer(
        cluster.objects()).why("web").text


def test_pods_that_hold_nothing_of_it_are_not_named_and_none_is_evicted():
    cluster = Cluster().node("n1", cpu=4).add(OTHERS).add(OTHERS.replace(
        "name: agent", "name: idle").replace("cpu: 3", "memory: 1Gi")).job("web", pods=1, cpu=2)
    text = Explainer(cluster.objects(), RECLAIM).why("web").text
    said = "hold cpu 3 (kube-system/agent). Volcano evicts none of them, whatever their priority."
    assert said in text


def test_a_node_of_a_size_that_none_is_likely_to_have_is_not_offered():
    offered = [any(" more node" in remedy.change for remedy in Explainer(
        written(f"{{cpu: {cpu}}}"), ALLOCATE).why("web").remedies) for cpu in (20, 100)]
    assert offered == [True, False]


def test_a_job_with_fewer_places_is_not_said_to_wait():
    cluster = Cluster().node("n1", cpu=4).job("first", pods=4, min_member=1, cpu=1)
    cluster.job("second", pods=1, cpu=1)
    explain = Explainer(cluster.objects(), ALLOCATE.replace("gang", "priority"))
    assert next(str(remedy) for remedy in explain.why("second").remedies) == (
        "job default/second: a PriorityClass above 0 (second is placed on n1; first has 3 "
        "instead of 4 pods placed)")


def test_a_cause_trace_has_what_each_operation_changed():
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=4).queue("a").queue("b").job(
        "old", queue="b", pods=8, min_member=1, cpu=1, running={"n1": 4, "n2": 4}).job(
        "train", queue="a", pods=2, cpu=2)
    brief, whole = CauseTrace(), Trace()
    traced(cluster.objects(), RECLAIM, trace=brief, now=1e9)
    traced(cluster.objects(), RECLAIM, trace=whole, now=1e9)
    found, expected = ([(record.kind, [(what, name, now) for what, name, _, now in trace.log.get(
        record.number, ())]) for record in trace.operations] for trace in (brief, whole))
    assert found == expected and any(changes for _, changes in found)


def test_a_trace_about_one_job_has_its_records_and_the_states_there():
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=4).queue("a").queue("b").queue("c").job(
        "old", queue="b", pods=8, min_member=1, cpu=1, running={"n1": 4, "n2": 4})
    for name in ("first", "train", "last"):
        cluster.job(name, queue="c" if name == "first" else "a", pods=2, cpu=1)
    about, whole = CauseTrace("train"), CauseTrace()
    traced(cluster.objects(), RECLAIM, trace=about, now=1e9)
    traced(cluster.objects(), RECLAIM, trace=whole, now=1e9)

    def seen(trace):
        return [(record.kind, {name: fact for name, fact in record.facts.items() if name not in (
            "since", "statement", "rows", "columns", "alike")},
            state_at(trace, record.number)) for record in trace.records
            if str(record.get("task")).startswith("default/train-")]

    assert {kind for kind, *_ in seen(about)} >= {"chose", "claimant", "victims", "do", "commit"}
    assert seen(about) == seen(whole)
    kept = {record.get("task") for record in about.records if record.kind != "victims"}
    assert kept == {None, "default/train-0", "default/train-1"}
    assert state_at(about) == state_at(whole)


def test_a_label_of_a_node_that_is_cordoned_is_there():
    cluster = Cluster().node("n1", cpu=4).add(
        "{apiVersion: v1, kind: Node, metadata: {name: n2, labels: {disk: ssd}}, "
        "spec: {unschedulable: true}, status: {allocatable: {cpu: 4, pods: 9}}}")
    text = Explainer([*cluster.objects(), *Cluster().add(JOB.format(
        asks="{cpu: 1}", more="", pods="nodeSelector: {disk: ssd}")).objects()[2:]],
        ALLOCATE).why("web").text
    assert "1 of 2 nodes (n1) cannot take pod" in text and "No node has" not in text


def test_a_node_with_none_of_it_does_not_make_a_misspelt_device_a_right_one():
    cluster = Cluster().node("n1", cpu=8, gpu=4).add(
        "{apiVersion: v1, kind: Node, metadata: {name: n0}, "
        "status: {allocatable: {cpu: 8, pods: 9, nvidia.com/gpus: 0}}}\n---\n"
        + JOB.format(more="", asks="{nvidia.com/gpus: 1}", pods=""))
    (remedy,) = Explainer(cluster.objects(), ALLOCATE).why("web").remedies
    assert remedy.change == "job default/web: nvidia.com/gpu instead of nvidia.com/gpus"


def test_resources_beside_the_one_that_nodes_announce_are_left_out():
    found = Explainer(written("{nvidia.com/gpu: 1, nvidia.com/gpumem: 9, nvidia.com/gpucores: 5}",
                              nodes="cpu: 4, nvidia.com/gpu: 4"), ALLOCATE).why("web")
    assert "Its nvidia.com/gpu is announced (4 on all nodes)." in found.text
    changes = [remedy.change for remedy in found.remedies]
    assert changes == [
        "job default/web: request per pod without nvidia.com/gpucores 5, without "
        "nvidia.com/gpumem 9",
        "1 more node like n1 announcing nvidia.com/gpucores 5, nvidia.com/gpumem 9"]


@pytest.mark.parametrize("asks, offered", [
    ("{nvidia.com/gpu: 1, acme.io/rdma: 1}",
     ["job default/web: request per pod without acme.io/rdma 1"]), ("{acme.io/rdma: 1}", [])])
def test_a_device_that_no_node_announces_is_left_out_last_where_others_are_requested(asks, offered):
    found = Explainer(written(asks, nodes="cpu: 4, nvidia.com/gpu: 4"), ALLOCATE).why("web")
    assert [each.change for each in found.remedies if "without" in each.change] == offered


@pytest.mark.parametrize("runs, said", [
    ("metadata: {name: hami-scheduler-6f}, spec: {", " (default/hami-scheduler-6f)"),
    ("metadata: {name: a}, spec: {schedulerName: hami, ", " (hami)"),
    ("metadata: {name: kube-scheduler-n1}, spec: {schedulerName: default-scheduler, ", "")])
def test_the_other_schedulers_that_may_count_a_resource_are_named(runs, said):
    cluster = Cluster([*written("{nvidia.com/gpu: 1, nvidia.com/gpumem: 9}",
                                nodes="cpu: 4, nvidia.com/gpu: 4")])
    cluster.add(f"{{apiVersion: v1, kind: Pod, {runs}nodeName: n1, containers: [{{name: c}}]}}, "
                "status: {phase: Running}}")
    text = cluster.why("web", conf=ALLOCATE).text
    assert f"a scheduler of their own{said}, which the pod" in text


@pytest.mark.parametrize("label, labels, asks, offered", [
    ("pool: a", ["pool: b", "pool: a, full: x"], "{cpu: 2}", ["label n1 pool=a"]),
    ("pool: a", ["pool: b", "pool: c"], "{cpu: 2}", []),
    ("pool: a", ["disk: ssd", "disk: ssd"], "{cpu: 2}", ["label n1 pool=a"]),
    ("node-role.kubernetes.io/w: ''", ["", ""], "{cpu: 2}",
     ["label n1 node-role.kubernetes.io/w="]),
    ("topology.kubernetes.io/zone: a", ["", ""], "{cpu: 2}", []),
    ("model: a", ["model: b", "model: a"], "{cpu: 1, nvidia.com/gpu: 1}", []),
    ("pool: a, disk: ssd", ["", ""], "{cpu: 2}", [])])
def test_nodes_get_the_label_that_they_lack_where_people_set_it(label, labels, asks, offered):
    nodes = "\n---\n".join(
        f"{{apiVersion: v1, kind: Node, metadata: {{name: n{number}, labels: {{{some}}}}}, status: "
        f"{{allocatable: {{cpu: {cpu}, nvidia.com/gpu: 4, pods: 9}}}}}}"
        for number, (some, cpu) in enumerate(zip(labels, (4, 0), strict=True), 1))
    found = Explainer(made(nodes, asks, "queue: default", f"nodeSelector: {{{label}}}"),
                      ALLOCATE).why("web")
    assert [each.change for each in found.remedies if each.change.startswith("label")] == offered


@pytest.mark.parametrize("value, near", [("tesla-v100-16gb", True), ("t4", False)])
def test_a_value_near_the_one_of_a_selector_is_tried_and_the_job_without_it(value, near):
    found = Explainer(written(pods="nodeSelector: {model: tesla-v100-32gb}",
                              labels=f"model: {value}"), ALLOCATE).why("web")
    assert [remedy.change for remedy in found.remedies] == [
        "job default/web: node selector model=tesla-v100-16gb instead of model=tesla-v100-32gb"
    ] * near + ["1 more node like n1, with the label model=tesla-v100-32gb"] * (not near) + [
        "job default/web: without its node selector model=tesla-v100-32gb"]


@pytest.mark.parametrize("name", ["team-mi", "queue/team-mi"])
def test_a_queue_that_does_not_exist_is_known_by_the_jobs_in_it(name):
    found = Explainer(made(NODE.replace("not-ready, effect: NoSchedule", "a, effect: "
                                        "PreferNoSchedule"), more="queue: team-mi")).why(name)
    assert "no queue team-mi" in found.head and "web names it, and each cycle leaves" in found.head
    assert [remedy.change for remedy in found.remedies] == ["create queue team-mi"]
    with pytest.raises(LookupError):
        Explainer(made(NODE)).why("team-mi")


@pytest.mark.parametrize("plugins, asked, said", [
    (("gang",), {}, "Only plugin predicates compares these"),
    (("gang",), {"node": "n2"}, "Only plugin predicates compares these"),
    (("gang",), {"node": "n1"}, ""),
    (("gang", "predicates"), {"node": "n2"}, "it was there before they changed"),
    (("gang", "predicates"), {"node": "n3"}, "untolerated taint")])
def test_a_taint_of_the_node_on_which_a_pod_is(plugins, asked, said):
    taint = "spec: {taints: [{key: a, value: b, effect: NoSchedule}]}, status"
    nodes = "---\n".join(NODE.replace("n1", name).partition("spec")[0] + f"{taint}: {{allocatable: "
                         "{cpu: 4, pods: 9}}}\n" for name in ("n2", "n3"))
    cluster = Cluster().node("n1", cpu=4).add(nodes).job("old", cpu=1, running={"n2": 1})
    conf = {"actions": "allocate", "tiers": [{"plugins": [{"name": name} for name in plugins]}]}
    text = cluster.why("old-0", conf=conf, **asked).text
    assert said in text and ("has the taint a=b:NoSchedule, which the pod" in text) is (
        bool(said) and asked != {"node": "n3"})


def test_what_a_node_lacks_is_said_of_a_pod_for_which_none_was_searched():
    cluster = Cluster().node("n1", cpu=4).queue("q", capability=2).job("new", queue="q", cpu=6)
    text = cluster.why("new-0", node="n1").text
    assert "Pod default/new-0 requests cpu 6; node n1 had 4 left." in text and "overcommit" in text


@pytest.mark.parametrize("actions, overcommit, proportion, said", [
    ("", "arguments: {overcommitFactor: 3}", "", "overcommitFactor"),
    ("", "overcommit_factor: 3", "", "overcommit_factor"),
    ("", "", "arguments: {overcommit-factor: 3}", "overcommit-factor"),
    ("{name: enqueue, arguments: {overcommit-factor: 3}}", "", "", "overcommit-factor"),
    ("", "arguments: {factor: 3}", "", ""), ("", "arguments: {overcommit-factor: 1}", "", "")])
def test_an_argument_that_nothing_reads_is_offered_where_it_is_meant(
        actions, overcommit, proportion, said):
    conf = ("{actions: 'enqueue, allocate', configurations: [%s], tiers: [{plugins: [{name: gang}, "
            "{name: overcommit, %s}, {name: predicates}, {name: nodeorder, %s}]}]}")
    cluster = Cluster().node("n1", cpu=10, labels={"for": "big"})
    for name, cpu, phase in (("big", 8, "Pending"), ("small", 5, "Inqueue")):
        cluster.add(LATER.format(name, cpu, 1, phase, "default"))
    found = cluster.why("big", conf=conf % (actions, overcommit, proportion))
    assert (f"Nothing reads {said} of the configuration (meant is overcommit-factor below the "
            "arguments of plugin overcommit)." in found.text) is bool(said)
    assert ("plugin overcommit: overcommit-factor 1.2 -> 3" in [
        each.change for each in found.remedies]) is bool(said)
