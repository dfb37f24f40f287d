"""What decides about a job beyond the lab is named, with what the cluster has answered."""

from __future__ import annotations

import pytest
from small_cluster import conf, group, node, pod

from volcano_lab.cluster import Cluster
from volcano_lab.manifests.loader import loads

CONF = """\
actions: "allocate"
tiers:
- plugins: [{name: gang}, {name: predicates}, {name: %s}]
"""
NODE = """\
apiVersion: v1
kind: Node
metadata: {name: n1, annotations: {%s}}
status: {allocatable: {cpu: 4, pods: 9, volcano.sh/vgpu-number: 8}}
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: a, annotations: {scheduling.k8s.io/group-name: g, %s}}
spec:
  schedulerName: volcano
  containers: [{name: c, resources: {requests: {cpu: 1, %s}}}]
status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", message: "%s"}]}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: g, namespace: a}
spec: {minMember: 1, queue: default}
status: {phase: Inqueue}
"""
VGPU = "volcano.sh/vgpu-number: 1"
NUMA = "volcano.sh/numa-topology-policy: %s"
REFUSED = "all nodes are unavailable: 1 node(s) no licence."
GANG = "1/1 tasks in gang unschedulable: pod group is not ready, 1 Pending, 1 minAvailable"
DEPENDS = "a/g depends on plugin {plugin}, which is not computed here"


def why(plugin, annotation="", request="", answer="", usage=False):
    node = NODE % ('volcano-lab/cpu-usage: "10"' if usage else "")
    return Cluster().add(node, POD % (annotation, request, answer)).explainer(
        CONF % plugin).why("a/g")


@pytest.mark.parametrize("plugin, facts, named", [
    ("deviceshare", {"request": VGPU}, True),
    ("deviceshare", {}, False),
    ("deviceshare", {"answer": REFUSED}, False),
    ("numa-aware", {"annotation": NUMA % "restricted"}, True),
    ("numa-aware", {"annotation": NUMA % "none"}, False),
    ("binpack", {"request": VGPU}, False),
    ("extender", {"answer": REFUSED}, True),
    ("extender", {"answer": GANG}, False),
    ("extender", {}, False),
    ("usage", {"answer": REFUSED}, True),
    ("usage", {"answer": REFUSED, "usage": True}, False),
])
def test_a_plugin_is_named_where_it_decides(plugin, facts, named):
    found = why(plugin, **facts)
    stands = "a/g waits in the cluster; v1.14.0 places it" if REFUSED in facts.values() else (
        "a/g does not wait.")
    assert found.head.startswith(DEPENDS.format(plugin=plugin) if named else stands)
    assert ("beyond" in found.codes) == named


@pytest.mark.parametrize("answer, line", [
    (REFUSED, 'the cluster\'s last answer is "all nodes are unavailable: 1 node(s) no licence".'),
    (GANG, "without that, the job does not wait."), ("", "without that, the job does not wait.")])
def test_the_first_line_quotes_the_answer_where_a_plugin_decides_beyond_the_lab(answer, line):
    assert line in why("deviceshare", request=VGPU, answer=answer).head


VENDOR = "0/2 nodes are unavailable: 1 node check failed, 1 Insufficient cpu."


@pytest.mark.parametrize("plugin, answer, named", [
    ("volcano-npu", VENDOR, True), ("volcano-npu", REFUSED, False), ("binpack", VENDOR, False),
    ("volcano-npu", "0/1 nodes are unavailable: 1 Insufficient cpu.", False),
    ("volcano-npu", GANG, False), ("volcano-npu", "", False)])
def test_a_plugin_that_volcano_does_not_have_is_named_by_its_answer(plugin, answer, named):
    found = why(plugin, answer=answer)
    assert found.head.startswith(DEPENDS.format(plugin=plugin)) is named
    assert ("Volcano v1.14.0 does not have it" in found.text) is named
    assert ("something has changed since" in found.text) is (bool(answer) and answer != GANG
                                                             and not named)


def test_what_the_pod_requests_of_the_plugin_is_named():
    assert "(volcano.sh/vgpu-number 1)" in why("deviceshare", request=VGPU).text


@pytest.mark.parametrize("plugin, changed", [("binpack", True), ("extender", False)])
def test_the_last_answer_of_the_cluster_is_quoted(plugin, changed):
    text = why(plugin, answer=REFUSED).text
    assert 'about pod a/p: "all nodes are unavailable: 1 node(s) no licence".' in text
    assert ("placed on n1: something has changed since" in text) == changed


@pytest.mark.parametrize("argument, node, head, said", [
    ("true", "", "a/g depends on dynamic resource allocation, which is not",
     "Pod a/p depends on dynamic resource allocation (gpu)."),
    ("false", "", "a/g waits in the cluster", "does not read its claims (gpu)"),
    ("false", "n1", "a/g is placed, and containers of it do not run: ContainerCreating.",
     "is bound to node n1 and has not started there: ContainerCreating. Plugin predicates does not "
     "read its claims (gpu), so pods get nodes without the devices")])
def test_devices_that_a_pod_claims_are_named_and_whether_they_are_read(argument, node, head, said):
    text = (POD % ("", "", "" if node else REFUSED)).replace(
        "schedulerName: volcano", "schedulerName: volcano\n  resourceClaims: [{name: gpu, "
        f"resourceClaimName: one}}]\n  nodeName: '{node}'").replace(
        "status: {phase: Pending,", "status: {phase: Pending, containerStatuses: [{name: c, state: "
        "{waiting: {reason: ContainerCreating}}}],")
    conf = (CONF % "drf").replace("{name: predicates}", "{name: predicates, arguments: {"
                                  f"predicate.DynamicResourceAllocationEnable: {argument}}}}}")
    found = Cluster().add(NODE % "", text).explainer(conf).why("a/g")
    assert found.head.startswith(head)
    assert said in found.text
    assert ("something has changed" in found.text) == (argument == "false" and not node)


@pytest.mark.parametrize("created, version, heart, image, status, said", [
    ("07:00", "7", "09:00", "volcanosh/vc-scheduler:v1.9.0", "", "(image v1.9.0, this answer is"),
    ("07:00", "7", "09:00", "r.io/volcanosh/vc-scheduler:v1.14.0", "", "decides otherwise."),
    ("07:00", "7", "09:00", "r.io/mirror:v1.9.0", "", "decides otherwise."),
    ("08:59:30", "7", "09:00", "volcanosh/vc-scheduler:v1.9.0", "", None),
    ("07:00", "", "09:00", "volcanosh/vc-scheduler:v1.9.0", "", None),
    ("07:00", "7", "09:00", "volcanosh/vc-scheduler:v1.9.0", "n1", None)])
def test_a_pod_that_is_older_than_a_cycle_and_placed_here_waits_for_its_scheduler(
        created, version, heart, image, status, said):
    created += ":00" * (created.count(":") < 2)
    pod = (POD % ("", "", "")).replace("namespace: a,", f"""namespace: a,
        creationTimestamp: "2026-11-28T{created}Z", resourceVersion: "{version}",""", 1).replace(
            "schedulerName: volcano", f"schedulerName: volcano\n  nodeName: '{status}'")
    node = (NODE % "").replace("status: {", f"""status: {{conditions: [
        {{type: Ready, status: "True", lastHeartbeatTime: "2026-11-28T{heart}:00Z"}}], """)
    own = SCHEDULER.replace("[{name: s,", f"[{{name: s, image: '{image}',") % (
        "volcano-scheduler", "'--v=4'")
    found = Cluster(loads("---\n".join([node, pod, own]))).why("a/g")
    assert found.head.startswith("a/g waits in the cluster; v1.14.0" if said else "a/g does not")
    assert ("waited" in found.codes) is bool(said) and (said or "") in found.text


@pytest.mark.parametrize("created, leaves, said", [
    (7, False, True), (7, True, False), (9, False, False)])
def test_a_pod_that_is_older_than_a_cycle_and_pipelined_here_says_that_none_leaves_for_it(
        created, leaves, said):
    """Unless pods are terminating there already, or nothing in the cluster is newer."""
    times = {"creation_timestamp": 3600.0 * created, "resource_version": "7"}
    high = loads("apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\n"
                 "value: 9\n")
    found = Cluster([node("n1", cpu="1"), *high, group("old"), group("g", priorityClassName="high"),
                     pod("old-0", "old", "n1").changed(metadata={
                         **times, "creation_timestamp": 3600.0 * 9,
                         **({"deletion_timestamp": 3600.0 * 10} if leaves else {})}),
                     pod("g-0", "g").changed(metadata=times)]).why("g", conf=conf(
                         "priority", "predicates", actions="allocate, preempt"))
    assert found.codes[0] == "promised"
    assert ("it is pipelined to n1: something has changed" in found.text) is said


@pytest.mark.parametrize("leaves", [True, False])
def test_the_clusters_answer_about_a_pod_that_waits_for_leaving_ones_is_no_contradiction(leaves):
    high = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: h}\nvalue: 9\n"
    ends = f"{{name: o, namespace: a, deletionTimestamp: '{2099 if leaves else ''}-01-01T00:00:00Z'"
    old = (POD % ("", "", "")).replace("{name: p, namespace: a", ends if leaves else "{name: o, "
        "namespace: a").replace("name: g,", "name: o,").replace("spec:\n", "spec:\n  nodeName: n1\n"
        ).replace("{name: g,", "{name: o,").replace("Pending", "Running").replace(
            "cpu: 1", "cpu: 4")
    new = (POD % ("", "", REFUSED)).replace("{minMember", "{priorityClassName: h, minMember")
    explain = Cluster(loads("---\n".join([NODE % "", high, old, new]))).explainer(conf(
        "priority", "predicates", actions="allocate, preempt"))
    found, pod = explain.why("a/g"), explain.why("pod/p")
    assert pod.head == "Pod a/p is Pipelined on node n1." and pod.codes[0] == "promised"
    assert REFUSED.rstrip(".") in found.text
    assert ("something has changed since" in found.text) is not leaves
    assert found.head.startswith("a/g waits for resources that are being freed." if leaves
                                 else "a/g waits in the cluster; v1.14.0 pipelines it")


def test_a_pod_whose_gang_waits_for_a_leaving_one_is_reported_as_given_back():
    """Its pod with a free node is Allocated in each cycle, and never bound."""
    old = Cluster().node("n1", cpu=8).node("n2", cpu=8).job("old", cpu=8, running={"n2": 1})
    found = old.job("new", pods=2, cpu=8).changed(
        "pod/old-0.metadata.deletionTimestamp=2026-01-01T00:00:00Z")
    job, pod = (found.why(name, conf=conf("gang", "predicates")) for name in ("new", "new-0"))
    assert "0 of 2 pods placed, 1 allocated and not bound, 1 pipelined" in job.head
    assert "Pod default/new-0 has node n1 in each cycle and is not bound" in job.text
    assert pod.head.startswith(job.head)
    assert "is Allocated. Node n1 was found for it, and rolled back with its gang" in pod.head


@pytest.mark.parametrize("phase, version, created, said", [
    ("Pending", "7", "07", True), ("Inqueue", "7", "07", False), ("Running", "7", "07", False),
    ("Pending", "", "07", False), ("Pending", "7", "09", False)])
def test_a_podgroup_that_is_older_than_a_cycle_and_admitted_here_waits_for_its_scheduler(
        phase, version, created, said):
    owner = "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: j, uid: u, controller: true}"
    job = f"""\
{{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {{name: j, namespace: a, uid: u}},
  spec: {{minAvailable: 1, tasks: [{{name: t, replicas: 1, template: {{spec: {{
    containers: [{{name: c}}]}}}}}}]}}, status: {{state: {{phase: Pending}}}}}}
---
{{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {{name: j-u, namespace: a,
  creationTimestamp: "2026-11-28T{created}:00:00Z", resourceVersion: "{version}",
  ownerReferences: [{owner}]}}, spec: {{minMember: 1}}, status: {{phase: {phase}}}}}
---
"""
    node = (NODE % "").replace("status: {", """status: {conditions: [{type: Ready, status: "True",
        lastHeartbeatTime: "2026-11-28T09:00:00Z"}], """)
    found = Cluster(loads(job + node)).why("a/j")
    assert found.head.startswith("a/j waits in the cluster; v1.14.0") is said
    assert (f"PodGroup a/j-u of 2026-11-28 07:00 is {phase} and has no pods, and the cluster has "
            "objects of 2026-11-28 09:00. With these objects it is placed on n1" in found.text
            ) is said


SCHEDULER = """\
apiVersion: v1
kind: Pod
metadata: {name: s, namespace: volcano-system, labels: {app: %s}}
spec: {containers: [{name: s, args: ['--v=3', %s]}]}
status: {phase: Running}
"""


@pytest.mark.parametrize("app, flag, others", [
    ("volcano-scheduler", "'--node-selector=pool:a,pool:c'", "pool:b"),
    ("volcano-scheduler", "'--node-selector', 'pool:a'", "pool:b"),
    ("volcano-scheduler", "'--node-selector=team:a'", None),
    ("volcano-scheduler", "'--v=4'", ""), ("web", "'--node-selector=pool:a'", "")])
def test_nodes_that_the_schedulers_flag_leaves_out_are_named(app, flag, others, tmp_path):
    text = "---\n".join([SCHEDULER % (app, flag), *(
        (NODE % "").replace("name: n1", f"name: n-{pool}, labels: {{pool: {pool}}}").replace(
            "cpu: 4", f"cpu: {cpu}") for pool, cpu in (("a", 1), ("b", 4), ("b-small", 1)))])
    job = Cluster().job("j", cpu=2).export()
    (tmp_path / "all.yaml").write_text(f"{text}---\n{job}")
    cluster = Cluster.read(tmp_path / "all.yaml")
    found = cluster.why("j")
    left = others != ""
    assert (not found.head.startswith("j does not wait")) == left
    assert ("1 more node is large enough, and the scheduler leaves it out: n-b." in found.text
            ) == left
    assert (f"Add --node-selector={others} to the arguments" in found.text) == bool(others)
    reasons = ["is left out, as the scheduler does" in str(each)
               for each in cluster.objects().warnings]
    assert any(reasons) == left


def test_an_answer_about_a_gang_is_not_quoted():
    assert "last answer" not in why("binpack", answer=GANG).text


@pytest.mark.parametrize("asked, said", [(9, False), (10, True)])
def test_more_memory_than_any_card_has_is_reported(asked, said):
    node = NODE % 'volcano.sh/node-vgpu-register: "a,4,7,X,true,m:b,4,9,X,true,m:"'
    node = node.replace("pods: 9", "pods: 9, volcano.sh/vgpu-memory: 16")
    text = Cluster().add(node, POD % ("", f"volcano.sh/vgpu-memory: {asked}", "")).explainer(
        CONF % "deviceshare").why("a/g").text
    assert (f"volcano.sh/vgpu-memory {asked} is more than any card has: the largest, of node n1, "
            "has 9 (volcano.sh/node-vgpu-register)" in text) == said


@pytest.mark.parametrize(("asked", "offered"), [(6, 0), (5, 1)])
def test_a_turn_before_a_job_that_has_no_card_is_not_offered(asked, offered):
    cluster = Cluster().add((
        NODE % 'volcano.sh/node-vgpu-register: "a,4,8,X,true,m:b,4,8,X,true,m:"').replace(
        "pods: 9", "pods: 9, volcano.sh/vgpu-memory: 16"))
    for name, card, memory in (("x", "a", 3), ("y", "b", 4), ("big", "", asked), ("small", "", 5)):
        cluster.add(group(name, phase="Running" if card else "Inqueue"), pod(
            f"{name}-0", name, "n1" * bool(card), requests={"volcano.sh/vgpu-memory": str(memory)},
            annotations={"volcano.sh/vgpu-ids-new": f"{card},NVIDIA,{memory},0:;"} if card else {}))
    found = cluster.explainer((CONF % "deviceshare").replace("gang", "priority")).why_before(
        "small", "big")
    assert ["PriorityClass above 0" in str(each) for each in found.remedies] == [True] * offered


@pytest.mark.parametrize("asked, waits", [(5, False), (6, True), (7, True), (8, True)])
def test_more_memory_than_any_card_has_left_is_reported_with_the_pods_whose_end_frees_enough(asked,
                                                                                         waits):
    node = (NODE % 'volcano.sh/node-vgpu-register: "a,4,7,X,true,m:b,4,8,X,true,m:"').replace(
        "pods: 9", "pods: 9, volcano.sh/vgpu-memory: 15")
    cluster = Cluster().add(node, POD % ("", f"volcano.sh/vgpu-memory: {asked}", ""), group("old"))
    for name, card, memory in (("p1", "a", 2), ("p2", "b", 3), ("p3", "b", 1)):
        cluster.add(pod(name, "old", "n1", "Running", requests={"cpu": "100m"}, annotations={
            "volcano.sh/vgpu-ids-new": f"{card},NVIDIA,{memory},0:;"}))
    found = cluster.explainer(CONF % "deviceshare").why("pod/p")
    assert found.head.startswith(f"Pod a/p waits for a card with {asked} of volcano.sh/vgpu-memory"
                                 ": the most that one has left, on node n1, is 5;") is waits
    ends = {6: "default/p1 or default/p2.", 7: "default/p1 or default/p2."}.get(asked, "")
    assert ("wait for the end of" in found.text) is bool(ends) and ends in found.text


@pytest.mark.parametrize(("cores", "pods", "fit", "most", "ends"), [
    (0, [], None, 0, ""),
    (0, [("p1", "a", 3, 0)], 1, 5, "default/p1"),  # memory
    (60, [("p1", "b", 0, 50)], 1, 0, "default/p1"),  # cores
    (0, [("p1", "b", 0, 0), ("p2", "b", 0, 0)], 1, 0, "default/p1 or default/p2")])  # parts
def test_the_cards_of_a_node_that_have_what_each_of_several_is_to_have_are_counted(
        cores, pods, fit, most, ends):
    cluster = Cluster().add(*((NODE % f'volcano.sh/node-vgpu-register: "{cards}"').replace(
        "n1", name).replace("pods: 9", "pods: 9, volcano.sh/vgpu-memory: 16, "
                            "volcano.sh/vgpu-cores: 200")
        for name, cards in (("n1", "a,2,8,X,true,m:b,2,8,X,true,m:"), ("n2", "c,2,9,X,true,m:"))),
        POD % ("", "volcano.sh/vgpu-memory: 6, volcano.sh/vgpu-number: 2, "
               f"volcano.sh/vgpu-cores: {cores}", ""), group("old"))
    for name, card, memory, part in pods:
        cluster.add(pod(name, "old", "n1", "Running", requests={"cpu": "100m"}, annotations={
            "volcano.sh/vgpu-ids-new": f"{card},NVIDIA,{memory},{part}:;"}))
    found = cluster.explainer(CONF % "deviceshare").why("a/g")
    assert (f"waits for 2 cards of one node with 6 of volcano.sh/vgpu-memory left: n1 has {fit}."
            in found.head) is (fit is not None)
    assert ("1 of 2 on n1, 1 of 2 on n2" in found.text) is (fit is not None)
    assert (f"each has at least {most} " in found.text) is bool(most)
    assert ("parts or cores of the others are in use" in found.text) is (most == 0 and bool(pods))
    assert f"or wait for the end of {ends}." in found.text if ends else True
    assert [remedy.change for remedy in found.remedies] == [
        f"job a/g: request per pod volcano.sh/vgpu-memory 6 -> {most}"] * bool(most) + [
        "job a/g: request per pod volcano.sh/vgpu-number 2 -> 1"] * bool(pods) + [
        "wait for the end of default/old"] * len(pods)


@pytest.mark.parametrize(("asked", "cards", "waits"), [
    (6, "a,2,9,X,true,m:", True), (4, "a,2,9,X,true,m:", False), (4, "a,1,9,X,true,m:", True),
    (6, "a,2,9,X,true,m:b,2,6,X,true,m:", False)])
def test_containers_of_a_pod_are_given_parts_of_cards_one_after_the_other(asked, cards, waits):
    node = (NODE % f'volcano.sh/node-vgpu-register: "{cards}"').replace(
        "pods: 9", "pods: 9, volcano.sh/vgpu-memory: 20")
    own = (POD % ("", f"volcano.sh/vgpu-memory: {asked}", "")).replace("containers: [{name: c, ", (
        f"containers: [{{name: b, resources: {{limits: {{volcano.sh/vgpu-memory: {asked}}}}}}}, "
        "{name: c, "))
    found = Cluster().add(node, own).explainer(CONF % "deviceshare").why("a/g")
    assert ("a node whose cards have enough left for its 2 containers together" in found.head
            ) is waits
    assert [remedy.change for remedy in found.remedies] == [
        "job a/g: request per pod volcano.sh/vgpu-memory 6 -> 4"] * (waits and asked == 6)


@pytest.mark.long
@pytest.mark.parametrize(("asks", "held", "cores", "head"), [
    ("volcano.sh/vgpu-memory-percentage: 50", 5, 0,
     "a card with 50 of volcano.sh/vgpu-memory-percentage: the most that one has left, on node n1, "
     "is 44."),
    ("volcano.sh/vgpu-memory-percentage: 50", 4, 0, ""),
    ("volcano.sh/vgpu-cores: 0", 1, 0, "a card with 100 of volcano.sh/vgpu-memory-percentage"),
    ("volcano.sh/vgpu-cores: 0", 0, 100, "a card with 100 of volcano.sh/vgpu-memory-percentage"),
    ("volcano.sh/vgpu-memory: 1, volcano.sh/vgpu-cores: 100", 0, 0, "a card with 1 of volcano.sh")])
def test_a_pod_takes_a_part_of_a_card_by_default_the_whole(asks, held, cores, head):
    """One that names neither memory nor a part takes all; all cores are those of an unused card."""
    node = (NODE % 'volcano.sh/node-vgpu-register: "a,4,9,X,true,m:"').replace(
        "pods: 9", "pods: 9, volcano.sh/vgpu-memory: 9, volcano.sh/vgpu-cores: 100, "
        "volcano.sh/vgpu-memory-percentage: 100")
    cluster = Cluster(conf=CONF % "deviceshare").add(
        node, POD % ("", f"{VGPU}, {asks}", ""), group("old"))
    cluster.add(pod("p1", "old", "n1", "Running", requests={"cpu": "100m"}, annotations={
        "volcano.sh/vgpu-ids-new": f"a,NVIDIA,{held},{cores}:;"}))
    found = cluster.why("a/g")
    assert (f"a/g waits for {head}" in found.head) is bool(head), found.head
    assert ("the default beside volcano.sh/vgpu-number alone" in found.text) is (
        "cores: 0" in asks)
    if head:
        assert [str(each) for each in found.remedies][-1] == (
            "wait for the end of default/old (a node has that, by the same count)")
        assert found.head in str(cluster.what_if("node/n1.labels[a]=b"))


@pytest.mark.long
def test_a_change_by_which_a_pod_is_placed_says_that_no_node_has_its_cards():
    node = NODE % 'volcano.sh/node-vgpu-register: "a,4,9,X,true,m:"'
    cluster = Cluster(conf=CONF % "deviceshare").add(
        node, POD % ("", VGPU.replace("1", "2"), "")).changed("node/n1.unschedulable=true")
    assert str(next(iter(cluster.why("a/g").remedies))) == (
        "uncordon n1 (g is placed on n1; then it waits for a node with 2 cards: n1 has the "
        "most, 1)")


def test_a_pod_that_is_asked_about_says_what_decides_beyond_the_lab():
    found = Cluster().add(NODE % "", POD % ("", VGPU, REFUSED)).explainer(
        CONF % "deviceshare").why("pod/p")
    assert "Pod a/p depends on plugin deviceshare (volcano.sh/vgpu-number 1)." in found.text
    assert 'about pod a/p: "all nodes are unavailable: 1 node(s) no licence".' in found.text
    assert "the only node" not in found.text


@pytest.mark.parametrize("plugin, answer, waits", [
    ("numa-aware", REFUSED, True), ("numa-aware", "", False), ("binpack", REFUSED, False)])
def test_a_pod_that_the_cluster_refuses_by_a_plugin_beyond_the_lab_is_among_those_that_wait(
        plugin, answer, waits):
    found = Cluster().add(NODE % "", POD % (NUMA % "restricted", "", answer)).explainer(
        CONF % plugin)
    assert [group.jobs for group in found.waiting()] == [["a/g"]] * waits
    depends = "depends on plugin numa-aware, which is not computed here"
    assert found.why("a/p").head == (
        f"Pod a/p {depends}; without that, it is placed on node n1." if plugin == "numa-aware" else
        "Pod a/p waits in the cluster; v1.14.0 places it on node n1 with these objects."
        if answer else "Pod a/p is Binding on node n1.")


TOPOLOGY = """\
apiVersion: nodeinfo.volcano.sh/v1alpha1
kind: Numatopology
metadata: {name: NODE}
spec:
  policies: {CPUManagerPolicy: CPUS, TopologyManagerPolicy: POLICY}
  numares: {cpu: {allocatable: "0,2-3"}}
  cpuDetail: {"0": {}, "1": {}, "2": {numa: 1}, "3": {numa: 1}}
"""


@pytest.mark.parametrize(("node", "cpus", "policy", "sure", "said"), [
    ("n1", "static", "restricted", False,
     "Free CPUs by NUMA node, on nodes with policy restricted: n1: 1 and 2."),
    ("n1", "static", "best-effort", True, "none is, by their Numatopologies (n1: best-effort, CPUs "
                                          "static)."),
    ("n1", "none", "restricted", True, "(n1: restricted, CPUs none)."),
    ("n2", "static", "best-effort", False, "")])
def test_what_a_numatopology_says_of_a_node_is_reported(node, cpus, policy, sure, said):
    topology = TOPOLOGY.replace("NODE", node).replace("CPUS", cpus).replace("POLICY", policy)
    found = Cluster(loads("---\n".join([
        NODE % "", POD % (NUMA % "restricted", "", ""), topology]))).explainer(
            CONF % "numa-aware").why("a/g")
    assert found.head.startswith("a/g waits for a node with TopologyManagerPolicy restricted:"
                                 if sure else DEPENDS.format(plugin="numa-aware"))
    assert said in found.text and ("NUMA node, on" in found.text or "ologies (" in found.text
                                   ) is bool(said)


def test_nodes_without_the_numa_policy_of_a_pod_are_named():
    objects = [POD % (NUMA % "restricted", "", "")]
    for name, policy in (("n1", "restricted"), ("n2", "none"), ("n3", "")):
        objects += [(NODE % "").replace("n1", name), *[TOPOLOGY.replace("NODE", name).replace(
            "CPUS", "static").replace("POLICY", policy)] * bool(policy)]
    found = Cluster(loads("---\n".join(objects))).explainer(CONF % "numa-aware").why("a/g")
    assert ("n1: 1 and 2. Left out, by their Numatopologies: n2: none, CPUs static, n3: none."
            in found.text)


@pytest.mark.parametrize(("asked", "less"), [(2, False), (3, True)])
def test_no_numa_node_has_the_cpus_of_a_container_free(asked, less):
    topology = TOPOLOGY.replace("NODE", "n1").replace("CPUS", "static").replace(
        "POLICY", "single-numa-node")
    found = Cluster(loads("---\n".join([NODE % "", POD.replace("cpu: 1", f"cpu: {asked}") % (
        NUMA % "single-numa-node", "", ""), topology]))).explainer(
            CONF % "numa-aware").why("a/g")
    assert found.head.startswith("a/g waits for 3 free CPUs of one NUMA node: n1 has the most, 2."
                                 ) is less
    assert ("Request no more than 2" in found.text) is less


@pytest.mark.parametrize(("cards", "given", "free", "said"), [
    ("a,4,9,X,true:", ["a", "a"], 99,
     "Card a of node n1 has volcano.sh/vgpu-memory 9, and its pods are given 12: a/p, a/p1."),
    ("a,4,9,X,true:b,4,9,X,true:", ["a", "b"], 99, ""), ("a,4,12,X,true:", ["a", "a"], 99, ""),
    ("", ["a", "a"], 99, ""),
    ("", ["a", "a"], 11, "Node n1 announces volcano.sh/vgpu-memory 11 now, and the pods on it "
                         "request 12")])
@pytest.mark.parametrize("asked", ["p", "g"])
def test_a_node_or_card_with_less_than_its_pods_hold_is_reported(cards, given, free, said, asked):
    """Of pods that run; a card by the annotations of its node and of its pods."""
    note = f'volcano.sh/node-vgpu-register: "{cards}"' if cards else ""
    node = (NODE % note).replace("pods: 9", f"pods: 9, volcano.sh/vgpu-memory: {free}")
    first, group = (POD % (
        'volcano.sh/vgpu-ids-new: "CARD,NVIDIA,6,0:;"', "volcano.sh/vgpu-memory: 6", "")).replace(
            "schedulerName: volcano", "nodeName: n1").replace("Pending", "Running").split("---\n")
    pods = [first.replace("CARD", card).replace("name: p,", f"name: p{number or ''},")
            for number, card in enumerate(given)]
    found = Cluster(loads("---\n".join([node, group, *pods]))).explainer(
        CONF % "deviceshare").why(f"a/{asked}")
    assert said in found.text and ("crowded" in found.codes) is bool(said)


@pytest.mark.parametrize(("mode", "cards", "said"), [
    ("mig", "a,4,9,X,true,hami-core:", True), ("mig", "a,4,9,X,true,hami-core:b,4,9,X,true,mig:",
                                               False),
    ("hami-core", "a,4,9,X,true,m:", False), ("mig", "", False)])
def test_a_mode_of_sharing_that_no_node_has_is_what_a_job_waits_for(mode, cards, said):
    node = NODE % (f'volcano.sh/node-vgpu-register: "{cards}"' if cards else "")
    found = Cluster().add(node, POD % (f"volcano.sh/vgpu-mode: {mode}", VGPU, "")).explainer(
        CONF % "deviceshare").why("a/g")
    assert found.head.startswith("a/g waits for a node with cards in mode mig: those of all are in "
                                 "hami-core.") is said
    assert ("(volcano.sh/vgpu-mode mig): those of all are in hami-core" in found.text) is said


@pytest.mark.parametrize(("number", "memory", "cards", "head"), [
    (2, 0, "a,4,9,X,true,m:", "a/g waits for a node with 2 cards: n1 has the most, 1. (PodGroup"),
    (2, 0, "a,4,9,X,true,m:b,4,9,X,true,m:", DEPENDS.format(plugin="deviceshare")),
    (2, 0, "", DEPENDS.format(plugin="deviceshare")),
    (1, 8, "a,4,9,X,true,m:", DEPENDS.format(plugin="deviceshare")),
    (1, 10, "a,4,9,X,true,m:",
     "a/g waits for a card with 10 of volcano.sh/vgpu-memory: the largest, of node n1, has 9.")])
def test_cards_that_no_node_has_are_what_a_job_waits_for(number, memory, cards, head):
    node = NODE % (f'volcano.sh/node-vgpu-register: "{cards}"' if cards else "")
    request = VGPU.replace("1", str(number)) + f", volcano.sh/vgpu-memory: {memory}" * bool(memory)
    assert Cluster().add(node.replace("vgpu-number", "vgpu-memory: 99, volcano.sh/vgpu-number"),
                         POD % ("", request, "")).explainer(CONF % "deviceshare").why(
        "a/g").head.startswith(head)


@pytest.mark.parametrize(("notes", "requests", "change"), [
    ("", "volcano.sh/vgpu-number: 3", "request per pod volcano.sh/vgpu-number 3 -> 2"),
    ("", "volcano.sh/vgpu-number: 5", None),  # two are not about as many
    ("", "volcano.sh/vgpu-number: 1, volcano.sh/vgpu-memory: 10",
     "request per pod volcano.sh/vgpu-memory 10 -> 9"),
    ("", "volcano.sh/vgpu-number: 3, volcano.sh/vgpu-memory: 10", None),  # one of two is not enough
    ("volcano.sh/vgpu-mode: mig", VGPU, "volcano.sh/vgpu-mode mig -> hami-core")])
def test_what_a_node_has_of_devices_is_offered_by_the_same_count(notes, requests, change):
    node = (NODE % 'volcano.sh/node-vgpu-register: "a,4,9,X,true,hami-core:b,4,9,X,true,hami-core:"'
            ).replace("vgpu-number", "vgpu-memory: 99, volcano.sh/vgpu-number")
    found = Cluster().add(node, POD % (notes, requests, "")).explainer(CONF % "deviceshare").why(
        "a/g")
    assert [str(each) for each in found.remedies] == [
        f"job a/g: {change} (a node has that, by the same count)"] * bool(change)


@pytest.mark.parametrize(("number", "cards", "said"), [
    (1, "", ""), (2, "", "are parts of 2 different cards of one node, not of one;"),
    (2, "GPU-a,4,24564,RTX,true,hami-core:",
     "not of one, and the node with the most cards, n1, has 1 (volcano.sh/node-vgpu-register)"),
    (2, "GPU-a,4,2,X,true,m:GPU-b,4,2,X,false,m:", "the node with the most cards, n1, has 2 (")])
def test_parts_of_a_card_are_said_to_be_of_different_ones(number, cards, said):
    node = NODE % (f'volcano.sh/node-vgpu-register: "{cards}"' if cards else "")
    text = Cluster().add(node, POD % ("", VGPU.replace("1", str(number)), "")).explainer(
        CONF % "deviceshare").why("a/g").text
    assert said in text and ("different cards" in text) is (number > 1)


@pytest.mark.parametrize("counted, at, said", [
    ("2/0", "08:00", "counted 0 pods of it at 2026-11-28 08:00 UTC, and 1 were there"),
    ("2/1", "08:00", None), ("2/0", "07:00", None)])
def test_a_scheduler_that_counts_fewer_pods_than_are_there_has_to_be_restarted(counted, at, said):
    """A condition from before the pod says nothing of it."""
    known = (POD % ("", "", "")).replace("namespace: a,", """namespace: a,
        creationTimestamp: "2026-11-28T07:00:00Z", resourceVersion: "7",""", 1).replace(
            "phase: Inqueue", f"""phase: Inqueue, conditions: [{{type: Unschedulable,
        status: "True", lastTransitionTime: "2026-11-28T{at}:00Z",
        message: "{counted} tasks in gang unschedulable: pod group is not ready"}}]""")
    beat = (NODE % "").replace("status: {", """status: {conditions: [
        {type: Ready, status: "True", lastHeartbeatTime: "2026-11-28T09:00:00Z"}], """)
    found = Cluster(loads(f"{beat}---\n{known}")).why("a/g")
    assert "waited" in found.codes
    assert ("kubectl rollout restart" in found.text) == (said is not None)
    assert said is None or said in found.text


@pytest.mark.parametrize("asked, left_out", [(150, True), (90, False)])
def test_what_a_count_beyond_the_lab_refuses_takes_nothing_from_others(asked, left_out):
    node = (NODE % 'volcano.sh/node-vgpu-register: "a,9,100,X,true,m:b,9,100,X,true,m:"').replace(
        "pods: 9", "pods: 9, volcano.sh/vgpu-memory: 200")
    cluster = Cluster().add(node, POD % ("", f"volcano.sh/vgpu-memory: {asked}", "")).add(
        POD.replace("name: p,", "name: thin,").replace("name: g", "name: h") % (
            "", "volcano.sh/vgpu-memory: 80", ""))
    found = cluster.why("a/h", conf=CONF % "deviceshare")
    assert ("a/g is left out here" in found.text) is left_out
    assert "Holders" not in found.text
    text = cluster.why("queue/default", conf=CONF % "deviceshare}, {name: proportion").text
    assert ("Counted as allocated: cpu 1 and volcano.sh/vgpu-memory 150 of 1 pod that the lab "
            "places and that waits in the cluster (a/g)." in text) is left_out
    assert ("Waiting in it: a/g (1 pod, Inqueue). The first of them: a/g waits" in text) is left_out
    groups = cluster.explainer(CONF % "deviceshare").waiting().groups
    assert [group.jobs for group in groups] == [["a/g"]] * left_out
