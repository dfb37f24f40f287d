"""Advice that a careful platform engineer would give: what is offered first, and what never is."""

from __future__ import annotations

import pytest

from volcano_lab.cluster import Cluster

HIGH = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 9}"
PLUGINS = "[{plugins: [{name: priority}, {name: gang}, {name: predicates}, {name: %s}]}]"


def conf(actions="enqueue, allocate", last="proportion"):
    return f'actions: "{actions}"\ntiers: {PLUGINS % last}'


def asked(cluster, name="new", **given):
    return cluster.why(name, conf=conf(**given))


def changes(found):
    return [remedy.change for remedy in found.remedies]


def tainted(key):
    return ("{apiVersion: v1, kind: Node, metadata: {name: n2}, spec: {taints: [{key: KEY, effect: "
            'NoSchedule}]}, status: {allocatable: {cpu: "32", pods: "110"}}}').replace("KEY", key)


def pod(name, spec, labels="{}"):
    return f"""---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: default, labels: {labels},
  annotations: {{scheduling.k8s.io/group-name: {name.rpartition("-")[0]}}}}}
spec: {{schedulerName: volcano, containers: [{{name: c, image: x}}], {spec}}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {{name: {name.rpartition("-")[0]}, namespace: default}}
spec: {{minMember: 1}}
status: {{phase: Inqueue}}
"""


@pytest.mark.long
@pytest.mark.parametrize("key, offered, said", [
    ("dedicated", "toleration", "a taint that the pod does not tolerate"),
    ("node.kubernetes.io/not-ready", "repair", "as long as the node is in that state"),
    ("ToBeDeletedByClusterAutoscaler", "", "An autoscaler or the cloud is removing this node"),
    ("node.cilium.io/agent-not-ready", "", "An agent removes this taint once it runs on the node"),
    ("ignore-taint.cluster-autoscaler.kubernetes.io/cilium-agent-not-ready", "",
     "An agent removes this taint once it runs on the node"),
    ("startup-taint.cluster-autoscaler.kubernetes.io/kubeip", "",
     "An agent removes this taint once it runs on the node"),
    ("karpenter.sh/disrupted", "", "An autoscaler or the cloud is removing this node")])
def test_a_node_that_goes_away_is_tolerated_by_no_pod(key, offered, said):
    found = asked(Cluster().node("n1", cpu=4).add(tainted(key)).job("new", cpu=8))
    assert found.head.startswith("new waits for a node that fits: 1 of 1 large enough has a taint.")
    assert said in found.text
    assert {word for word in ("toleration", "repair") for change in changes(found)
            if word in change} == {*filter(None, [offered])}


def stranger(name, namespace, more=""):
    return (f"{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, namespace: {namespace}{more}}}"
            ", spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 3}}}]}, "
            "status: {phase: Running}}")


def test_a_pod_that_its_kubelet_has_not_started_is_bound_and_says_why():
    waiting = pod("img-0", "nodeName: n1").replace("---\napiVersion: scheduling", """\
status: {phase: Pending, containerStatuses: [{name: c, state: {waiting: {reason: ErrImagePull}}}]}
---
apiVersion: scheduling""")
    found = asked(Cluster().node("n1", cpu=4).add(waiting), "img")
    assert found.head.startswith("img is placed, and containers of it do not run: ErrImagePull."
                                 ) and found.text.endswith(
        "Pod default/img-0 is bound to node n1 and has not started there: ErrImagePull.")


def test_the_agent_that_has_a_host_port_is_named():
    port = "ports: [{containerPort: 9100, hostPort: 9100}]"
    agent = stranger("agent", "sys").replace("cpu: 3}}", f"cpu: 1}}}}, {port}")
    found = asked(Cluster().node("n1", cpu=4).add(agent).add(pod("new-0", "priority: 0").replace(
        "image: x", f"resources: {{requests: {{cpu: 1}}}}, {port}")), actions="allocate")
    assert found.text.endswith("It requests host port 9100. In the way: sys/agent (n1).")


@pytest.mark.long
def test_the_priority_of_a_queue_that_comes_first_is_exceeded():
    cluster = Cluster().node("n1", cpu=2).queue("a").queue("b", priority=7).job(
        "new", queue="a", cpu=2).job("old", queue="b", cpu=2)
    found = asked(cluster, actions="allocate", last="capacity")
    assert "Served before it: queue b." in found.text
    assert "queue a: priority 0 -> 8" in changes(found)


@pytest.mark.long
@pytest.mark.parametrize("namespace, more, offered", [
    ("lab", "", True), ("kube-system", "", False),
    ("lab", ", ownerReferences: [{apiVersion: v1, kind: ReplicaSet, name: r, uid: u}]", False)])
def test_a_pod_of_no_queue_is_deleted_where_nothing_creates_it_again(namespace, more, offered):
    found = asked(Cluster().node("n1", cpu=4).add(stranger("shell", namespace, more)).job(
        "new", cpu=2), actions="allocate")
    assert any(change == f"delete pod/{namespace}/shell" for change in changes(found)) == offered


def test_what_an_image_needs_of_a_node_stays_selected():
    spec = "nodeSelector: {kubernetes.io/arch: amd64, pool: a}"
    found = asked(Cluster().node("n1", cpu=4).add(pod("new-0", spec)),
                  actions="allocate, backfill")
    assert "No node has the label kubernetes.io/arch." in found.text
    assert not any("node selector" in change for change in changes(found))


@pytest.mark.long
@pytest.mark.parametrize("overhead, dropped", [("", True), (", overhead: {cpu: 500m}", False)])
def test_selected_nodes_that_are_too_small_come_before_larger_ones_of_other_labels(overhead,
                                                                                   dropped):
    own = pod("new-0", "nodeSelector: {pool: a}" + overhead).replace(
        "image: x", "resources: {requests: {cpu: 8}}")
    cluster = Cluster().node("a1", cpu=7.5, labels={"pool": "a"}).node("b1", cpu=16)
    found = asked(cluster.node("a2", cpu=4, labels={"pool": "a"}).add(own), actions="allocate")
    asks = 8.5 if overhead else 8
    assert found.head.startswith(f"new waits for a larger node: cpu {asks} requested, the largest "
                                 "with matching labels has 7.5")
    assert "no rule refuses 2 of 3 nodes" in found.text
    assert "DaemonSets" not in found.text, "no node of the label has as much without them"
    assert any("without its node selector" in each for each in changes(found)) is dropped


def test_what_the_whole_cluster_lacks_is_no_matter_of_quota():
    full = Cluster().node("n1", cpu=8).job("old", pods=4, cpu=2, running={"n1": 4})
    assert asked(full.job("new", cpu=2), actions="allocate").head.startswith(
        "new waits for resources: node n1 lacks cpu 2 for its pod.")
    large = asked(Cluster().node("n1", cpu=8).job("new", cpu=12), actions="allocate")
    assert large.head.startswith("new waits for a larger node: cpu 12 requested, the largest has 8")
    assert large.codes == ["over_deserved"]


@pytest.mark.long
def test_a_device_that_no_node_announces_is_named_and_its_kin_is_offered():
    cluster = Cluster().node("n1", cpu=8, resources={"nvidia.com/mig-1g.5gb": 7})
    found = asked(cluster.job("new", cpu=1, gpu=1), actions="allocate")
    assert found.head.startswith("new waits for a node with nvidia.com/gpu 1: no node announces")
    assert changes(found) == ["job default/new: nvidia.com/mig-1g.5gb instead of nvidia.com/gpu"]


@pytest.mark.long
def test_what_a_gang_is_promised_in_vain_is_no_place_of_it():
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=4).job(
        "old", cpu=4, running={"n1": 1}).job("new", pods=2, cpu=4)
    cluster.add("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: x}, "
                "value: 1}")
    found = asked(cluster, actions="allocate, preempt")
    assert "(PodGroup Inqueue, 0 of 2 pods placed, 1 pipelined)" in found.head
    assert [remedy.effect for remedy in found.remedies if "1 more node" in remedy.change] == [
        "new is placed on n2, 1 new node"]


@pytest.mark.long
def test_a_place_that_is_promised_and_kept_is_not_what_a_change_brings():
    cluster = Cluster().node("n1", cpu=4).job(
        "old", pods=2, min_member=1, cpu=2, running={"n1": 2}).add(HIGH).job(
        "new", pods=2, min_member=1, cpu=2, priority_class="high")
    found = asked(cluster, actions="allocate, preempt")
    assert [remedy.effect for remedy in found.remedies if "1 more node" in remedy.change] == [
        "new-1 is placed on 1 new node"]


def test_less_of_a_job_is_offered_after_more_of_the_cluster():
    cluster = Cluster().node("n1", cpu=8, labels={"gpu": "a100"}).node("n2", cpu=8)
    cluster.job("old", cpu=6, running={"n1": 1})
    cluster.add(pod("new-0", "nodeSelector: {gpu: a100}").replace(
        "image: x", "image: x, resources: {requests: {cpu: 6}}"))
    assert changes(asked(cluster, actions="allocate")) == [
        "label n2 gpu=a100", "wait for the end of default/old", "1 more node like n1",
        "job default/new: without its node selector gpu=a100"]


@pytest.mark.long
def test_a_request_cut_by_half_is_not_offered_before_a_node():
    cluster = Cluster().node("n1", cpu=8).job("old", cpu=4, running={"n1": 1})
    found = changes(asked(cluster.job("new", cpu=8), actions="allocate"))
    assert found.index("1 more node like n1") < found.index(
        "job default/new: request per pod cpu 8 -> 4")


@pytest.mark.long
def test_what_a_pod_group_reserves_in_vain_is_lowered_first():
    cluster = Cluster().node("n1", cpu=8).add(pod("new-0", "").replace(
        "image: x", "image: x, resources: {requests: {cpu: 2}}").replace(
            "minMember: 1", "minMember: 1, minResources: {cpu: 200}").replace(
                "Inqueue", "Pending"))
    assert changes(asked(cluster, last="overcommit"))[0] == (
        "job default/new: minResources cpu 200 -> 2")


@pytest.mark.parametrize("actions", ["backfill", "reclaim, backfill"])
def test_actions_that_neither_admit_nor_place_are_completed(actions):
    cluster = Cluster().node("n1", cpu=8).job("new", cpu=2)
    assert changes(asked(cluster, actions=actions)) == [
        "actions with enqueue and with allocate"]


def test_a_priority_class_that_does_not_exist_is_said():
    cluster = Cluster().node("n1", cpu=2).add(
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: urgent}, "
        "value: 10}").job("old", cpu=2, running={"n1": 1})
    lost = pod("new-0", "").replace("image: x", "image: x, resources: {requests: {cpu: 2}}")
    lost = lost.replace("minMember: 1", "minMember: 1, priorityClassName: urgnt")
    found = asked(cluster.copy().add(lost), actions="allocate")
    assert ("default/new has priority 0: its PodGroup names PriorityClass urgnt, which does not "
            "exist (near: urgent).") in found.text
    built_in = lost.replace("urgnt", "system-cluster-critical")
    known = (cluster.copy().add(built_in), cluster.job("new", cpu=2, priority_class="urgent"))
    assert all("does not exist" not in asked(each, actions="allocate").text for each in known)


def test_the_pods_that_an_affinity_requires_are_named():
    near = ("affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
            "[{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: db}}}]}}")
    cluster = Cluster().node("n1", cpu=2, labels={"kubernetes.io/hostname": "n1"})
    cluster.node("n2", cpu=2, labels={"kubernetes.io/hostname": "n2"})
    cluster.add(pod("new-0", near))
    text = asked(cluster, actions="allocate, backfill").text
    assert "app=db in the same kubernetes.io/hostname; no placed pod has these labels" in text


BUDGET = """
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: default}
spec: {minAvailable: 4, selector: {matchLabels: {app: web}}}
status: {disruptionsAllowed: 0}
"""


@pytest.mark.long
def test_a_budget_that_protects_is_named_with_what_it_allows():
    cluster = Cluster().node("n1", cpu=4).add(BUDGET).add(
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: x}, value: 9}")
    cluster.job("web", pods=4, min_member=1, cpu=1, labels={"app": "web"}, running={"n1": 4})
    cluster.job("new", cpu=2, priority_class="x", priority=9)
    found = cluster.why("new", conf=conf(actions="allocate, preempt").replace(
        "{name: priority}, {name: gang}", "{name: priority}, {name: pdb}, {name: gang}"))
    assert "(default/web (minAvailable 4) allows 0 disruptions)" in found.text
    assert "PodDisruptionBudget default/web: minAvailable 4 -> 2" in changes(found)


@pytest.mark.long
@pytest.mark.parametrize("plugins", [("priority", "gang", "pdb"), ("priority", "pdb", "gang"),
                                     ("pdb", "priority", "conformance", "gang")])
@pytest.mark.parametrize("ring", [0, 4])
def test_plugins_that_keep_different_pods_are_named_with_what_each_protects(plugins, ring):
    """No plugin's own answer is empty where a gang has no labels that a budget selects."""
    cluster = Cluster().node("n1", cpu=4 + ring).add(BUDGET).add(
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: x}, value: 9}")
    cluster.job("web", pods=4, min_member=4 if not ring else 1, cpu=1, labels={"app": "web"},
                running={"n1": 4}).job("new", cpu=2, priority_class="x")
    if ring:
        cluster.job("ring", pods=ring, cpu=1, labels={"app": "ring"}, running={"n1": ring})
    found = cluster.why("new", conf=conf(actions="allocate, preempt").replace(
        "{name: priority}, {name: gang}", ", ".join(f"{{name: {name}}}" for name in plugins)))
    for plugin, count, job in [("gang", 4, "ring"), ("pdb", 3, "web")] if ring else ():
        assert (f"preempt finds {count} candidates (of default/{job}) that other plugins allow, "
                f"but {plugin} allows none: ") in found.text
    assert "(default/web (minAvailable 4) allows 0 disruptions)" in found.text
    offered = {change for change in changes(found) if "PodDisruptionBudget" in change}
    assert offered == ({"PodDisruptionBudget default/web: minAvailable 4 -> 2"} if ring else set())


@pytest.mark.long
@pytest.mark.parametrize(("bound", "less"), [
    ("minAvailable: 4", "minAvailable 4 -> 2"), ("maxUnavailable: 0", "maxUnavailable 0 -> 2"),
    ("minAvailable: 100%", None)])
def test_a_budget_lets_as_many_more_go_as_are_needed(bound, less):
    cluster = Cluster().node("n1", cpu=4).add(BUDGET.replace("minAvailable: 4", bound)).add(
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: x}, value: 9}")
    cluster.job("web", pods=4, min_member=1, cpu=1, labels={"app": "web"}, running={"n1": 4})
    cluster.job("new", cpu=2, priority_class="x", priority=9)
    found = cluster.why("new", conf=conf(actions="allocate, preempt").replace(
        "{name: priority}, {name: gang}", "{name: priority}, {name: pdb}, {name: gang}"))
    offered = [change for change in changes(found) if "PodDisruptionBudget" in change]
    assert offered == ([f"PodDisruptionBudget default/web: {less}"] if less else [])
    lines = [line for remedy in found.remedies for line in remedy.kubectl]
    assert any("kubectl patch poddisruptionbudget web " in line for line in lines) is bool(less)


@pytest.mark.long
@pytest.mark.parametrize(("bound", "asked", "change"), [
    ("minAvailable: 3", 2, "minAvailable 3 -> 2"),
    ("maxUnavailable: 1", 4, "maxUnavailable 1 -> 4"), ("minAvailable: 75%", 2, None)])
def test_a_budget_that_lets_too_few_go_is_named_with_its_field(bound, asked, change):
    cluster = Cluster().node("n1", cpu=4).add(BUDGET.replace("minAvailable: 4", bound).replace(
        "Allowed: 0", "Allowed: 1")).add(
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: x}, value: 9}")
    cluster.job("web", pods=4, min_member=1, cpu=1, labels={"app": "web"}, running={"n1": 4})
    found = cluster.job("new", cpu=asked, priority_class="x").why("new", conf=conf(
        actions="allocate, preempt").replace("{name: gang}", "{name: pdb}"))
    assert ("preempt may evict at most 1 pod on one node" in found.text and
            f"Plugin pdb keeps 3 more pods: PodDisruptionBudget default/web "
            f"({bound.replace(':', '')}) allows 1 disruption." in found.text)
    offered = [text for text in changes(found) if "PodDisruptionBudget" in text]
    assert offered == [f"PodDisruptionBudget default/web: {change}"] * bool(change)


def test_what_may_be_evicted_is_counted_where_it_is_too_little():
    cluster = Cluster().node("n1", cpu=4).queue("a", deserved=4).queue("b", deserved=2)
    cluster.job("old", queue="b", pods=4, min_member=1, cpu=1, running={"n1": 4})
    found = asked(cluster.job("new", queue="a", cpu=4), actions="allocate, reclaim",
                  last="capacity")
    assert ("reclaim may evict at most 2 pods on one node (n1, of default/old): cpu 2 would be "
            "free there, 4 requested") in found.text


def test_a_job_that_waits_its_turn_is_not_deleted_for_another():
    cluster = Cluster().node("n1", cpu=8).job("old", cpu=6, running={"n1": 1})
    cluster.job("huge", pods=2, cpu=4).job("new", cpu=2)
    assert not any("delete" in change for change in changes(asked(
        cluster, last="overcommit"))), "huge runs once old has ended"


def test_the_owner_of_pods_that_are_missing_is_named():
    group = pod("new-0", "").replace("minMember: 1", "minMember: 3").replace(
        "name: new, namespace: default}",
        "name: new, namespace: default, ownerReferences: [{apiVersion: kubeflow.org/v2beta1, "
        "kind: MPIJob, name: mpi, uid: u}]}")
    found = asked(Cluster().node("n1", cpu=4).add(group), actions="allocate, backfill")
    assert "MPIJob mpi creates them: look at its replicas, status and events." in found.text
    ordered = asked(Cluster().node("n1", cpu=4).add(group.replace("MPIJob", "StatefulSet")),
                    actions="allocate, backfill")
    assert ("StatefulSet mpi creates them, each once the one before it is ready, unless its "
            "podManagementPolicy is Parallel" in ordered.text)
    assert any("annotation scheduling.volcano.sh/group-min-member" in change
               for change in changes(ordered))


@pytest.mark.long
def test_a_job_for_which_resources_are_kept_and_that_can_never_start_is_named():
    cluster = Cluster().node("n1", cpu=8).queue("small").queue("big", weight=3).job(
        "old", queue="small", cpu=2, running={"n1": 1}).job("new", queue="small", cpu=2)
    found = asked(cluster.add(pod("lost-0", "nodeSelector: {disk: nvme}").replace(
        "image: x", "resources: {requests: {cpu: 6}}").replace(
        "minMember: 1", "minMember: 1, queue: big")), actions="allocate")
    assert "default/lost can never start here" in found.text
    assert changes(found)[0] == "delete job/default/lost"

def test_the_sum_of_a_gang_is_what_its_queue_would_hold():
    cluster = Cluster().node("n1", cpu=16).queue("q", capability=6)
    cluster.job("old", queue="q", cpu=4, running={"n1": 1}).job("new", queue="q", pods=3, cpu=2)
    found = asked(cluster, actions="allocate")
    assert "With the 3 pods of its gang: cpu 4 + 6 = 10." in found.text
    assert found.head.startswith("new waits for quota: queue q is cpu 4 short.")


def test_nodes_that_are_full_are_short_of_the_whole_gang():
    cluster = Cluster().node("n1", cpu=6).job("old", cpu=4, running={"n1": 1})
    found = asked(cluster.job("new", pods=3, cpu=2), actions="allocate")
    assert found.head.startswith("new waits for resources: the nodes lack cpu 4 for its gang; 1 ")


@pytest.mark.long
def test_nodes_with_devices_that_no_pod_requests_are_tolerated_last():
    cluster = Cluster().node("full", cpu=1).job("web", cpu=2)
    for name, more in (("a", ", nvidia.com/gpu: 4"), ("b", "")):
        cluster.add(f"""\
{{apiVersion: v1, kind: Node, metadata: {{name: {name}}}, spec: {{taints: [{{key: {name}, effect:
  NoSchedule}}]}}, status: {{allocatable: {{cpu: 4, pods: 9{more}}}}}}}
""")
    found = [each.change for each in cluster.why("web").remedies]
    assert found.index("job default/web: with a toleration of b:NoSchedule") < found.index(
        "job default/web: with a toleration of a:NoSchedule")


def test_the_job_that_breaks_a_tree_of_queues_is_moved_and_not_the_one_that_waits():
    cluster = Cluster().node("n1", cpu=8).queue("team").queue("a", parent="team").queue(
        "b", parent="team").queue("deep", parent="b").queue("z")
    cluster.job("bad", queue="team", cpu=1).job("new", queue="a", cpu=1)
    found = cluster.why("new", conf=conf(last="capacity").replace(
        "{name: capacity}", "{name: capacity, enableHierarchy: true}"))
    assert changes(found) == ["job default/bad: in queue any of 4: a, deep, default, z",
                              "delete job/default/bad"]
