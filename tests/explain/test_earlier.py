"""What an earlier release of Volcano decides otherwise, and what queues in the cluster lack."""

import pytest

from volcano_lab.cluster import Cluster
from volcano_lab.manifests.loader import loads

HEART = "conditions: [{type: Ready, status: 'True', lastHeartbeatTime: '2026-11-28T09:00:00Z'}]"
NODE = f"""\
{{apiVersion: v1, kind: Node, metadata: {{name: n1}},
  status: {{allocatable: {{cpu: 8, memory: 8Gi, pods: 9}}, {HEART}}}}}
"""
SCHEDULER = """\
{apiVersion: v1, kind: Pod, metadata: {name: s, namespace: volcano-system,
  labels: {app: volcano-scheduler}},
 spec: {containers: [{name: s, image: 'volcanosh/vc-scheduler:%s'}]}, status: {phase: Running}}
"""
CONF = """\
actions: "allocate"
tiers:
- plugins: [{name: gang}, {name: predicates}, {name: %s}]
"""
TREE = CONF % "capacity, enableHierarchy: true"


def group(name="g", queue="default", least=1):
    return f"""\
{{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup,
  metadata: {{name: {name}, namespace: a}}, spec: {{minMember: {least}, queue: {queue}}},
  status: {{phase: Inqueue}}}}
"""


def pod(name, cpu, role="", node=""):
    phase = "Running" if node else "Pending"
    return f"""\
{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, namespace: a, resourceVersion: '7',
    creationTimestamp: "2026-11-28T07:00:00Z", annotations: {{
      scheduling.k8s.io/group-name: g, volcano.sh/task-spec: '{role}'}}}},
  spec: {{schedulerName: volcano, nodeName: '{node}', containers: [
    {{name: c, resources: {{requests: {{cpu: {cpu}}}}}}}]}}, status: {{phase: {phase}}}}}
"""


def queue(name="default", status="state: Open", spec="weight: 1", version=True):
    own = "resourceVersion: '7', creationTimestamp: '2026-11-28T07:00:00Z', " * version
    return f"""\
{{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {{{own}name: {name}}},
  spec: {{{spec}}}, status: {{{status}}}}}
"""


def why(*documents, conf=CONF % "nodeorder", version="v1.14.0", name="a/g"):
    return Cluster(loads("---\n".join([NODE, SCHEDULER % version, *documents]))).explainer(
        conf).why(name)


@pytest.mark.parametrize("version, cpus, role, told", [
    ("v1.8.1", (1, 2), "", True), ("1.9.0", (1, 2), "", True), ("v1.10.0", (1, 2), "", False),
    ("v1.14.0", (1, 2), "", False), ("v1.8.1", (1, 1), "", False), ("v1.8.1", (1, 2), "r", False)])
def test_a_node_is_not_tried_twice_for_pods_without_a_role(version, cpus, role, told):
    pods = [pod(f"p{number}", cpu, role) for number, cpu in enumerate(cpus)]
    found = why(group(least=2), *pods, version=version)
    text = found.text
    assert found.head.startswith(
        f"a/g waits for a newer release of Volcano: {version} decides otherwise than v1.14.0. (O"
        if told else "a/g waits in the cluster; v1.14.0 places it with these objects.")
    assert ("Before v1.10 a node that is refused for one pod of a PodGroup is not tried for its "
            "others that name no role (annotation volcano.sh/task-spec), and pods of this one "
            "request different amounts: cpu 1; cpu 2." in text) is told


@pytest.mark.parametrize("version, plugin, least, told", [
    ("v1.9.0", "overcommit", "{cpu: 1}", True), ("v1.9.1", "proportion", "{cpu: 1}", True),
    ("v1.10.0", "proportion", "{cpu: 1}", False), ("v1.9.0", "nodeorder", "{cpu: 1}", False),
    ("v1.9.0", "proportion", "{cpu: 1, memory: 1Gi}", False),
    ("v1.9.0", "proportion", "null", False)])
def test_admission_compares_what_a_job_does_not_request(version, plugin, least, told):
    def reserving(name, amounts):
        return group(name).replace("queue: default", f"queue: default, minResources: {amounts}")
    conf = (CONF % plugin).replace("allocate", "enqueue, allocate")
    text = why(reserving("g", least).replace("Inqueue", "Pending"), pod("p", 1), reserving(
        "ghost", "{memory: 16Gi}"), conf=conf, version=version).text
    assert (f"Before v1.10 plugin {plugin} compares at admission all resources, also those that "
            "the job does not request: memory 16Gi allocated and reserved, limit" in text) is told
    assert ("PodGroup a/ghost reserves there without a pod: delete it." in text) is told


CLASS = """\
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 9}
"""


@pytest.mark.parametrize("version, capability, head, told", [
    ("v1.5.1", 2, "a/g waits for a newer release of Volcano: v1.5.1 decides otherwise", True),
    ("v1.7.0", 2, "a/g waits in the cluster; v1.14.0 pipelines it with these objects.", False),
    ("v1.5.1", 8, "a/g waits in the cluster; v1.14.0 pipelines it with these objects.", False)])
def test_a_pod_that_is_pipelined_here_and_has_waited_waits_in_the_cluster(
        version, capability, head, told):
    conf = CONF.replace("allocate", "allocate, preempt").replace(
        "{name: gang}", "{name: priority}, {name: gang, enablePreemptable: false}") % "proportion"
    low = pod("low-0", capability, node="n1").replace("group-name: g,", "group-name: low,")
    found = why(CLASS, queue(spec=f"weight: 1, capability: {{cpu: {capability}}}"), group(
        "low"), low, group().replace("minMember: 1", "minMember: 1, priorityClassName: high"), pod(
        "p", 1), version=version, conf=conf)
    assert found.head.startswith(head)
    assert ("Before v1.6 preempt evicts no pod on a node that has enough left, as n1 has here"
            in found.text) is told


ABOVE = "queue q: spec.capability cpu 9 is more than all nodes have together, cpu 8"
MORE = "Queue q: spec.capability cpu 9 is more than that of its parent root, cpu 8, which limits it"


@pytest.mark.parametrize("version, conf, cpu, root, said", [
    ("v1.11.1", TREE, 9, "weight: 1", ABOVE), ("v1.13.0", TREE, 9, "weight: 1", MORE),
    ("v1.12.0", TREE, 9, "capability: {cpu: 99}", ABOVE),
    ("v1.13.0", TREE, 9, "capability: {cpu: 99}", ""), ("v1.11.1", TREE, 8, "weight: 1", ""),
    ("v1.10.0", TREE, 9, "weight: 1", ""), ("v1.14.0", TREE, 9, "weight: 1", ""),
    ("v1.11.1", CONF % "capacity", 9, "weight: 1", "")])
def test_a_tree_that_is_not_consistent_stops_some_releases(version, conf, cpu, root, said):
    text = why(group(queue="q"), pod("p", 1), queue(), queue("root", spec=root), queue(
        "q", spec=f"parent: root, capability: {{cpu: {cpu}}}"), conf=conf, version=version).text
    assert ("admit no job and place no pod while the tree of queues is not consistent: " in text
            ) is bool(said) and said in text


@pytest.mark.parametrize("state, version, node, stays, old", [
    ("Closed", "v1.14.0", "n1", True, False), ("Closing", "v1.11.0", "n1", True, True),
    ("Open", "v1.5.1", "n1", False, False), ("Closed", "v1.5.1", "", False, False)])
def test_pods_of_a_queue_that_is_not_open_stay(state, version, node, stays, old):
    text = why(group(), pod("p", 1, node=node), queue(status=f"state: {state}"),
               conf=CONF % "proportion", version=version).text
    assert (f"Queue default is {state}: none of its pods gets a new place, and those that run "
            "stay." in text) is stays
    assert (f"The release that runs, {version}, places pods whatever the state of their queue"
            in text) is old


EVENT = """\
{apiVersion: v1, kind: Event, metadata: {name: e, namespace: default}, type: Warning,
 involvedObject: {kind: Queue, name: default}, reason: SyncQueue, lastTimestamp: t, message: '%s'}
"""
REFUSED = 'Queue "default" is invalid: status.allocated: Required value'


@pytest.mark.parametrize("status, version, said, crd", [
    ("", True, REFUSED, True), ("", True, "conflict", False), ("", False, REFUSED, None),
    ("state: Open", True, REFUSED, None)])
def test_a_queue_that_its_controller_has_not_opened_keeps_jobs_waiting(status, version, said, crd):
    new = pod("p", 1).replace("2026-11-28T07", "2026-11-28T09")
    found = why(group().replace("Inqueue", "Pending"), new, EVENT % said, queue(
        status=status, version=version), conf=CONF.replace("allocate", "enqueue, allocate") % (
            "proportion"))
    unseen = crd is not None
    assert found.head.startswith("a/g waits for Volcano's controller, which has not handled Queue "
                                 "default.") is unseen
    assert ("not handled Queue default of 2026-11-28 07:00: it has no state" in found.text
            ) is unseen
    if unseen:
        assert f"the last warning of its controller (Event SyncQueue, t): {said}" in found.text
        assert ("Apply the CRDs of the release that runs" in found.text) is crd


@pytest.mark.parametrize("others, gone", [
    ((), False), ((queue("q"),), False), ((queue("root", version=False),), False),
    ((queue("root"),), True), ((queue("root"), queue()), False)])
def test_the_default_queue_is_missing_where_all_queues_of_a_cluster_are_there(others, gone):
    found = why(group(), pod("p", 1), *others)
    assert ("its queue default doesn't exist" in found.head) is gone
    if gone:
        assert "Volcano's scheduler creates queue default when it starts: restart it" in found.head
        assert [(each.change, each.job) for each in found.remedies] == [
            ("create queue default", "a/g")]


@pytest.mark.parametrize("version, plugin, other, said", [
    ("v1.3.0", "nodeorder", "a", True), ("v1.4.0", "nodeorder", "a", False),
    ("v1.3.0", "proportion", "a", False), ("v1.3.0", "nodeorder", "b", False)])
def test_queues_without_an_order_were_not_all_served(version, plugin, other, said):
    before = group("h", "first").replace("namespace: a", f"namespace: {other}")
    text = why(group(), before, pod("p", 1), queue(), queue("first").replace("T07", "T06"),
               conf=CONF % plugin, version=version).text
    assert ("only the queue that was created first, first, where neither" in text) is said


@pytest.mark.parametrize("version, conf, most, said", [
    ("v1.4.0", "proportion", "cpu: 3", "that of queue default is cpu 8, its capability 3."),
    ("v1.4.0", "proportion", "cpu: 3, memory: 9Gi", "is cpu 8, its capability 3."),
    ("v1.5.0", "proportion", "cpu: 3", ""), ("v1.4.0", "proportion", "cpu: 9", ""),
    ("v1.4.0", "proportion", "nvidia.com/gpu: 1", ""), ("v1.4.0", "capacity", "cpu: 3", "")])
def test_a_capability_below_the_part_by_weight_ends_sharing_before_v1_5(version, conf, most, said):
    text = why(group(), pod("p", 1), queue(spec=f"weight: 2, capability: {{{most}}}"),
               conf=CONF % conf, version=version).text
    assert ("Before v1.5 a queue whose part by weight" in text) is bool(said) and said in text


@pytest.mark.parametrize("cpus, said", [((1, 9), True), ((9, 9), False), ((1, 1), False)])
def test_pods_placed_here_beside_those_that_wait_have_waited_in_the_cluster(cpus, said):
    found = why(group(), *(pod(f"p{number}", cpu) for number, cpu in enumerate(cpus)))
    assert ("a/g waits for" in found.head) is (9 in cpus)
    beside = [cause for cause in found.causes if cause.code == "waited" and cause.context]
    assert bool(beside) is said and (not said or "is placed on n1" in beside[0].text)


APART = ("affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{"
         "topologyKey: KEY, labelSelector: {matchLabels: {app: x}}}]}}, ")


@pytest.mark.parametrize("key, version, near, old", [
    ("host", "v1.8.0", True, True), ("host", "v1.9.0", True, False),
    ("zone", "v1.8.0", False, False), ("", "v1.8.0", False, False)])
@pytest.mark.parametrize("name", ["a/g", "a/p0"])
def test_pods_that_run_against_their_anti_affinity_are_told(key, version, near, old, name):
    pods = [pod(f"p{number}", 1, node="n1").replace("spec: {", "spec: {" + (
        APART.replace("KEY", key) if key else "")).replace(
            "namespace: a,", "namespace: a, labels: {app: x},") for number in range(2)]
    runs = NODE.replace("name: n1}", "name: n1, labels: {host: h}}")
    beat = "---\n".join([runs, SCHEDULER % version, group().replace("Inqueue", "Running"), *pods])
    text = Cluster(loads(beat)).explainer(CONF % "nodeorder").why(name).text
    assert ("Pod a/p0 runs near a/p1 (label host: h), which its required" in text) is near
    assert (f"The release that runs, {version}, may compare" in text) is old
