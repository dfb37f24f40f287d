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


CLASS = """\
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 9}
"""


@pytest.mark.parametrize("capability", [2, 8])
def test_a_pod_that_is_pipelined_here_and_has_waited_waits_in_the_cluster(capability):
    conf = CONF.replace("allocate", "allocate, preempt").replace(
        "{name: gang}", "{name: priority}, {name: gang, enablePreemptable: false}") % "proportion"
    low = pod("low-0", capability, node="n1").replace("group-name: g,", "group-name: low,")
    found = why(CLASS, queue(spec=f"weight: 1, capability: {{cpu: {capability}}}"), group(
        "low"), low, group().replace("minMember: 1", "minMember: 1, priorityClassName: high"), pod(
        "p", 1), version="v1.9.0", conf=conf)
    assert found.head.startswith(
        "a/g waits in the cluster; v1.14.0 pipelines it with these objects.")
    assert "something has changed since" in found.text


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


@pytest.mark.parametrize("state, said", [
    ("Closed", ""), ("Unknown", "volcano-controllers sets that state: look at kubectl logs -n "
     "volcano-system deployment/volcano-controllers. "),
    ("Closing", "volcano-controllers sets it to Closed once its 1 PodGroup is gone. ")])
def test_what_opens_a_queue_is_one_sentence_whatever_its_state(state, said):
    text = why(group(), pod("p", 1), queue(status=f"state: {state}"), conf=CONF % "proportion").text
    assert (f"its state is {state}, not Open. {said}This opens it: kubectl patch queue default "
            "--subresource status" in text)


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


@pytest.mark.parametrize("cpus, said", [((1, 9), True), ((9, 9), False), ((1, 1), False)])
def test_pods_placed_here_beside_those_that_wait_have_waited_in_the_cluster(cpus, said):
    found = why(group(), *(pod(f"p{number}", cpu) for number, cpu in enumerate(cpus)))
    assert ("a/g waits for" in found.head) is (9 in cpus)
    beside = [cause for cause in found.causes if cause.code == "waited" and cause.context]
    assert bool(beside) is said and (not said or "is placed on n1" in beside[0].text)


APART = ("affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{"
         "topologyKey: KEY, labelSelector: {matchLabels: {app: x}}}]}}, ")


@pytest.mark.parametrize("key, near", [("host", True), ("zone", False), ("", False)])
@pytest.mark.parametrize("name", ["a/g", "a/p0"])
def test_pods_that_run_against_their_anti_affinity_are_reported(key, near, name):
    pods = [pod(f"p{number}", 1, node="n1").replace("spec: {", "spec: {" + (
        APART.replace("KEY", key) if key else "")).replace(
            "namespace: a,", "namespace: a, labels: {app: x},") for number in range(2)]
    runs = NODE.replace("name: n1}", "name: n1, labels: {host: h}}")
    beat = "---\n".join([runs, SCHEDULER % "v1.14.0", group().replace("Inqueue", "Running"), *pods])
    text = Cluster(loads(beat)).explainer(CONF % "nodeorder").why(name).text
    assert ("Pod a/p0 runs near a/p1 (label host: h), which its required" in text) is near


BIG = NODE.replace("n1", "n2").replace("cpu: 8", "cpu: 8, nvidia.com/gpu: 8, example.com/npu: 8")
EVICTING = CONF.replace("allocate", "allocate, ACTION, backfill").replace(
    "{name: gang}", "{name: priority}, {name: gang, enablePreemptable: false, "
    "enableReclaimable: false}")
OTHER = group("other", "second"), pod("other-0", 6, node="n1").replace(
    "group-name: g,", "group-name: other,")
CARDS = OTHER[0], OTHER[1].replace("cpu: 6", "cpu: 6, nvidia.com/gpu: 8").replace("n1", "n2")
SECOND = queue("second", spec="weight: 1, reclaimable: true")


def deserves(amounts):
    return queue(spec=f"weight: 1, deserved: {{{amounts}}}")


RECLAIM = EVICTING.replace("ACTION", "reclaim") % "capacity"
NONE = pod("none", 0).replace("requests: {cpu: 0}", "requests: {}")
STUCK = NONE.replace("name: none", "name: stuck").replace("group-name: g,", "group-name: h,"
                     ).replace("schedulerName", "nodeSelector: {disk: ssd}, schedulerName")


@pytest.mark.long
@pytest.mark.parametrize("row, first, last, documents, conf, said", [
    ("reclaimed", "v1.0.0", "v1.13.3", (deserves("cpu: 8"), SECOND, *OTHER, group(), pod(
        "p", 8)), RECLAIM, "requests cpu 8, and the pods that it may evict on n1 6."),
])
def test_what_an_earlier_release_decides_is_reported_of_these_releases_alone(
        row, first, last, documents, conf, said):
    from volcano_lab.explain.releases import differs, number

    major, minor, patch = number(last)
    after = f"v{major}.{minor}.{patch + 1}", f"v{major}.{minor + 1}.0"
    shown = {version: said in why(*documents, conf=conf, version=version).text
            for version in (first, last, *after)}
    assert shown == {version: differs(version, row) for version in shown}
    assert shown[first] and shown[last] and not shown[after[1]]


@pytest.mark.parametrize("version, documents, conf, unsaid", [
    ("v1.9.1", (group(), pod("p", 1), group("h"), STUCK), (CONF % "nodeorder").replace(
        "allocate", "allocate, backfill"), "no further"),
    ("v1.13.3", (deserves("cpu: 8"), SECOND, *OTHER, group(), pod("p", 5)), RECLAIM, "reclaim c"),
    ("v1.13.0", (deserves("cpu: 8"), SECOND, *OTHER, group(), pod("p", 5)), RECLAIM, "only where"),
    ("v1.11.0", (deserves("cpu: 8"), SECOND, *OTHER, group(), pod("p", 5)), RECLAIM, "of any res"),
])
def test_what_an_earlier_release_decides_is_not_said_of_others(version, documents, conf, unsaid):
    assert unsaid not in why(*documents, conf=conf, version=version).text


@pytest.mark.parametrize("version, said", [("v1.11.2", True), ("v1.12.0", False)])
def test_an_annotation_that_a_release_does_not_read_is_reported(version, said):
    asked = pod("p", 1).replace("annotations: {", (
        "annotations: {scheduling.volcano.sh/group-min-member: '2', "))
    text = why(group(), asked, conf=CONF % "nodeorder", version=version).text
    assert ("metadata.annotations.scheduling.volcano.sh/group-min-member is read from v1.12 on"
            in text) is said


@pytest.mark.parametrize("version, said", [("v1.12.4", True), ("v1.13.0", False)])
def test_an_argument_that_a_release_does_not_read_is_reported_by_lint(version, said):
    given = Cluster(loads("---\n".join([NODE, SCHEDULER % version])))
    conf = CONF % "nodegroup, arguments: {strict: false}"
    assert (f"Plugin nodegroup: Volcano {version} runs here, and strict is read from v1.13 on: it "
            "has no effect" in map(str, given.lint(conf))) is said


HIERARCHY = [queue("root"), queue(), queue("up", spec="parent: root, capability: {cpu: 4}"), queue(
    "q", spec="parent: up, capability: {cpu: 4, nvidia.com/gpu: 4}")]


@pytest.mark.parametrize("version, said", [
    ("v1.11.0", True), ("v1.12.4", True), ("v1.13.0", False), ("v1.10.0", False)])
def test_an_extended_resource_that_the_parent_does_not_name_was_refused(version, said):
    text = why(BIG, group(queue="q"), pod("p", 1), *HIERARCHY, conf=TREE, version=version).text
    assert ("queue q: spec.capability nvidia.com/gpu 4 is more than all nodes have together of "
            "what that of its parent names, nvidia.com/gpu 0" in text) is said


@pytest.mark.parametrize("images, runs", [
    (["volcanosh/vc-scheduler:v1.9.0"], "v1.9.0"), (["volcanosh/vc-scheduler:latest"], ""),
    (["registry.local:5000/x/vc-scheduler:1.8.2@sha256:0a"], "1.8.2"),
    (["vc-scheduler@sha256:0a"], ""), (["x/vc-scheduler:v1.10.0-rc.1"], "v1.10.0-rc.1"),
    (["x/vc-scheduler-arm64:v1.5.1"], "v1.5.1"), (["x/vc-controller-manager:v1.7.0"], "v1.7.0"),
    (["x/vc-webhook-manager:v1.8.0", "x/vc-scheduler:v1.9.0"], "v1.9.0"),
    (["x/vc-webhook-manager:v1.8.0", "x/vc-scheduler:v1.14.0"], ""), (["x/scheduler:v1.8.0"], "")])
def test_the_release_is_that_of_an_image(images, runs):
    pods = (SCHEDULER.replace("volcanosh/vc-scheduler:%s", image).replace(
        "name: s,", f"name: s{number},", 1) for number, image in enumerate(images))
    assert loads("---\n".join([NODE, *pods])).scheduler == runs


@pytest.mark.parametrize("version, said", [
    ("v1.8.1", ["Queue default: Volcano v1.8.1 runs here, and spec.deserved is read from v1.9 on",
                "Volcano v1.8.1 runs here and does not have capacity, which exists from v1.9 on",
                "Job a/g: Volcano v1.8.1 runs here, and spec.schedulingGates is read from v1.10"]),
    ("v1.9.0", ["Job a/g: Volcano v1.9.0 runs here, and spec.schedulingGates is read from v1.10"]),
    ("v1.10.0", []), ("v1.14.0", [])])
def test_what_a_release_does_not_have_is_reported_of_jobs_and_by_lint(version, said):
    gated = pod("p", 1).replace("schedulerName", "schedulingGates: [{name: x}], schedulerName")
    given = loads("---\n".join([NODE, SCHEDULER % version, deserves("cpu: 1"), group(), gated]))
    conf = CONF % "capacity"
    text = Cluster(given).explainer(conf).why("a/g").text
    found = [str(each) for each in Cluster(given).lint(conf) if "runs here" in str(each)]
    assert text.count("runs here") == len(found) == len(said)
    assert all(each in text and any(each in one for one in found) for each in said)


def test_a_plugin_that_a_release_does_not_have_is_reported_where_pods_are_pipelined():
    leaves = pod("q", 8, node="n1").replace("metadata: {", (
        "metadata: {deletionTimestamp: '2026-11-28T08:00:00Z', "))
    found = why(queue(), group(), pod("p", 4), leaves, conf=CONF % "capacity", version="v1.6.0")
    assert "1 pipelined" in found.text and "does not have capacity" in found.text


def test_a_queue_of_weight_0_receives_no_part_and_lint_says_so_in_the_language_of_the_rest():
    stored = queue(spec="weight: 0").replace("metadata: {", "metadata: {uid: u, ")
    given = Cluster(loads("---\n".join([NODE, stored, group(), pod("p", 1)])))
    given.queue("b").job("x", queue="b", cpu=1)
    found = given.explainer(CONF % "proportion").why("default")
    assert "met_no_weight" in found.codes and "all that it deserves (nothing)" in found.text
    assert "警告：" in str(given.lint(lang="zh"))


def test_the_tables_name_what_the_lab_has():
    from volcano_lab.explain.explanation import TABLES
    from volcano_lab.framework.config.conf import ACTIONS
    from volcano_lab.messages.message import known
    from volcano_lab.plugins import BUILT_IN, NOT_MODELLED

    assert {*TABLES["newer"]["conf"]} <= {*BUILT_IN, *NOT_MODELLED, *ACTIONS}
    for row, facts in TABLES["earlier"].items():
        assert ("amounts" in facts or "finds" in facts) is (
            known(f"earlier.{row}") and row != "above"), row
