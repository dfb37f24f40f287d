"""Situations that users of Volcano met: what the answer has to name, and which change it offers."""

from __future__ import annotations

import pytest
from kube_scene import node
from small_cluster import conf

from explain.test_exports import CONF, NODE, QUOTA, asked, exported
from volcano_lab import loads
from volcano_lab.api.objects import ObjectMeta, PriorityClass
from volcano_lab.cluster import Cluster
from volcano_lab.explain import Explainer
from volcano_lab.manifests.defaults import with_defaults

TREE = """\
actions: "enqueue, allocate, reclaim"
tiers:
- plugins: [{name: gang}]
- plugins: [{name: predicates}, {name: proportion}, {name: capacity, enableHierarchy: true}]
"""


def why(cluster, name, conf=None):
    return Explainer(cluster.objects(), conf).why(name)


def test_a_tree_of_queues_is_known_where_two_plugins_share():
    tree = Cluster().node("n1", cpu=8).queue("root").queue(
        "team", parent="root", capability={"cpu": "2"}).queue("a", parent="team").queue(
        "b", parent="team").job("old", queue="a", pods=2, cpu=1, running={"n1": 2})
    found = why(tree.job("new", queue="b", cpu=1), "new", TREE)
    assert "Queue team, above queue b, refuses" in found.text and "default/old 2" in found.text


def test_jobs_that_use_up_a_quota_are_named_with_their_pods_that_wait():
    quota = QUOTA.replace('used: {requests.cpu: "4"}', 'used: {requests.cpu: "5"}')
    other = exported("stuck", 1, 9, there=1, phase="Inqueue")
    elsewhere = exported("apart", 1, 9, there=1, phase="Inqueue").replace(
        "namespace: default", "namespace: other")
    found = asked(exported("odd", 1, 1, phase="Inqueue"), other, elsewhere, quota).why("odd")
    assert "In use by default/stuck 9 (1 pod waiting)." in found.text


@pytest.mark.long
def test_a_job_that_uses_up_a_quota_and_can_never_start_is_deleted_first():
    quota = QUOTA.replace('used: {requests.cpu: "4"}', 'used: {requests.cpu: "5"}')
    for cpus, change in ((99, "delete job/default/stuck"), (1, "ResourceQuota default/compute: ")):
        other = exported("stuck", 1, cpus, there=1, phase="Inqueue")
        found = asked(exported("odd", 1, 1, phase="Inqueue"), other, quota).why("odd")
        assert ("default/stuck can never start here" in found.text) is (cpus == 99)
        assert next(iter(found.remedies)).change.startswith(change)


@pytest.mark.long
@pytest.mark.parametrize("phase", ["Inqueue", "Pending"])
def test_a_quota_counts_no_pods_of_other_podgroups_that_are_pending(phase):
    jobs = exported("first", 1, 1), exported("odd", 1, 2, phase=phase)
    found = asked(*jobs, QUOTA).why("odd")
    assert "(4 used + 2 requested > 5)" in found.text and "In use by" not in found.text
    assert next(iter(found.remedies)).change == (
        "ResourceQuota default/compute: hard requests.cpu 5 -> 6")


def test_the_quota_that_keeps_all_pods_from_being_created_is_named():
    quota = QUOTA.replace('used: {requests.cpu: "4"}', 'used: {requests.cpu: "5"}')
    found = asked(exported("odd", 1, 1, phase="Inqueue"), quota).why("odd")
    assert "ResourceQuota default/compute has too little requests.cpu left" in found.text
    for other in (QUOTA, quota.replace("namespace: default", "namespace: other")):
        found = asked(exported("odd", 1, 1, phase="Inqueue"), other).why("odd")
        assert "ResourceQuota" not in found.text


CLASS = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: p}, value: 9}"
CAPACITY = TREE.replace("{name: proportion}, ", "")
GUARANTEED = {"parent": "team", "capability": {"cpu": "5"}, "deserved": {"cpu": "3"},
              "guarantee": {"cpu": "2"}}


def team(asked, **queue):
    tree = Cluster().node("n1", cpu=9).node("n2", cpu=9).queue("root").queue(
        "team", parent="root", capability={"cpu": "9"})
    for name in "abc":
        tree.queue(name, **GUARANTEED | (queue if name == "c" else {}))
    return tree.job("x", queue="a", cpu=4, running={"n1": 1}).job(
        "y", queue="b", cpu=4, running={"n2": 1}).job("new", queue="c", cpu=asked)


@pytest.mark.parametrize(("conf", "queue", "said"), [
    (CAPACITY, {}, ["guarantee", "deserved"]),
    (CAPACITY.replace(", reclaim", ""), {}, ["guarantee"]),
    (CAPACITY, {"guarantee": {}}, ["deserved"]),
])
def test_a_guarantee_and_a_share_below_a_full_queue_are_explained(conf, queue, said):
    text = why(team(4, **queue), "new", conf).text
    texts = {"guarantee": "Queue c is guaranteed cpu 2 and holds 0: that lowers the limit of each "
                          "other queue, not what they hold together.",
             "deserved": "Queue c deserves cpu 3 and holds 0."}
    assert [field for field, words in texts.items() if words in text] == said
    assert ("reclaim evicts pods for admitted jobs only" in text) is ("deserved" in said)


@pytest.mark.long
def test_pods_that_do_not_run_yet_are_not_reclaimed_nor_is_their_end_waited_for():
    full = exported("old", 1, 8, there=1, phase="Running", job_phase="Running")
    waiting = "containerStatuses: [{name: c, state: {waiting: {reason: ErrImagePull}}}]}"
    full = f"phase: Pending, {waiting}".join(full.rsplit("phase: Running}", 1))
    queues = "".join(
        f"{{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {{name: {name}}}, "
        "spec: {weight: 1}, status: {state: Open}}\n---\n" for name in "ab")
    jobs = full.replace("queue: default", "queue: a") + exported(
        "new", 1, 4, there=1, phase="Inqueue").replace("queue: default", "queue: b")
    conf = CONF.replace("allocate, ", "allocate, reclaim, ")
    found = Explainer(with_defaults(loads(NODE + queues + jobs)), conf).why("new")
    assert "those of default/old have a node and do not run yet (ErrImagePull)." in found.text
    assert not [each for each in found.remedies if "wait for" in each.change]


def test_a_promise_names_the_gang_that_it_breaks():
    conf = """\
actions: "allocate, preempt"
tiers:
- plugins: [{name: priority}, {name: predicates}]
"""
    cluster = Cluster().node("n1", cpu=4).add(CLASS).job(
        "gang", pods=4, cpu=1, running={"n1": 4}).job("new", cpu=2, priority=9, priority_class="p")
    text = why(cluster, "new", conf).text
    assert "Of default/gang, 2 pods are left, below its minimum of 4." in text


def test_a_node_that_is_asked_about_is_compared_and_the_plugin_that_decides_named():
    conf = """\
actions: "allocate"
tiers:
- plugins: [{name: predicates}, {name: nodeorder},
            {name: binpack, arguments: {binpack.weight: 10}}]
"""
    cluster = Cluster().node("n1", cpu=9).node("n2", cpu=9).node("n3", cpu=9).job(
        "old", cpu=3, running={"n1": 1}).job("new", cpu=1)
    text = Explainer(cluster.objects(), conf).why_not("n3", "default/new-0").text
    assert "before node n3 with" in text and "Without binpack, n3 would come before n1." in text


@pytest.mark.long
def test_pods_that_wait_on_beside_a_change_are_counted():
    cluster = Cluster().node("n1", cpu=2).job("new", pods=4, min_member=1, cpu=2)
    brings = [remedy.effect for remedy in why(cluster, "new", CONF).remedies]
    assert any("2 pods of it still wait" in effect for effect in brings), brings


@pytest.mark.long
def test_the_ends_of_jobs_on_one_node_are_waited_for():
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=4)
    for number in range(4):
        cluster.job(f"old-{number}", cpu=2, running={f"n{number % 2 + 1}": 1})
    ends = [remedy.change for remedy in why(cluster.job("new", cpu=4), "new", CONF).remedies
            if "wait for" in remedy.change]
    assert ends == ["wait for the end of default/old-0, default/old-2"]


@pytest.mark.long
def test_devices_that_no_node_has_are_offered_with_the_largest_node():
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=8).job(
        "new", cpu=1, resources={"a.b/gpu": 1})
    assert [remedy.change for remedy in why(cluster, "new", CONF).remedies] == [
        "1 more node like n2 announcing a.b/gpu 1"]


@pytest.mark.long
def test_a_node_group_is_named_behind_a_full_queue():
    conf = CONF.replace("{name: predicates}", "{name: predicates}, {name: nodegroup}")
    cluster = Cluster().node("n1", cpu=8).queue("q", capability={"cpu": "3"}).job(
        "new", queue="q", cpu=4)
    found = why(cluster, "new", conf)
    assert "node group label not found" in found.text and found.codes[0] == "queue_over_capability"
    assert any("plugin nodegroup: strict" in remedy.change for remedy in found.remedies)


@pytest.mark.long
@pytest.mark.parametrize("inherits", [False, True])
def test_the_node_groups_of_a_queue_above_are_named_with_the_switch_that_passes_them_on(inherits):
    conf = TREE.replace("{name: proportion}", "{name: nodegroup}" if not inherits else (
        "{name: nodegroup, enableHierarchy: true}"))
    cluster = Cluster().node("n1", cpu=8, labels={"volcano.sh/nodegroup-name": "b"}).node(
        "n2", cpu=1 if inherits else 8, labels={"volcano.sh/nodegroup-name": "a"}).add("""\
{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: up}, spec: {affinity: {
  nodeGroupAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [a]}}}}""")
    cluster.queue("root").queue("low", parent="up").job("new", queue="low", cpu=2)
    found = why(cluster, "new", conf)
    assert "Queue up" in found.text and (
        "passes it on only with enableHierarchy: true" in found.text) is not inherits
    changes = [remedy.change for remedy in found.remedies]
    assert ("enableHierarchy: true for nodegroup" in changes) is not inherits


def test_a_claim_without_a_volume_is_named_beside_its_driver():
    text = """\
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, provisioner: a.b,
 volumeBindingMode: Immediate}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: default},
 spec: {accessModes: [ReadWriteOnce], storageClassName: fast,
        resources: {requests: {storage: 1Gi}}}, status: {phase: Pending}}
---
"""
    job = exported("new", 1, 1, there=1, phase="Inqueue").replace("containers: [{name: c,", (
        "volumes: [{name: d, persistentVolumeClaim: {claimName: data}}], containers: [{name: c,"))
    found = asked(text, job).why("new").text
    assert "StorageClass fast, which binds at once (Immediate)" in found


@pytest.mark.long
def test_the_plugin_that_names_a_pod_of_the_same_priority_is_one_to_switch_off():
    conf = """\
actions: "allocate, preempt"
tiers:
- plugins: [{name: priority}, {name: gang}]
- plugins: [{name: drf}, {name: predicates}]
"""
    cluster = Cluster().node("n1", cpu=8).node("n2", cpu=8).job(
        "old", pods=2, min_member=1, cpu=8, running={"n1": 1, "n2": 1}).job("new", cpu=1)
    explainer = Explainer(cluster.objects(), conf)
    gone = next(key for key in ("default/old-0", "default/old-1") if explainer.why(key).remedies)
    assert "enablePreemptable: false for drf" in [
        remedy.change for remedy in explainer.why(gone).remedies]


@pytest.mark.parametrize("large, waits", [(4, True), (2, False)])
def test_a_job_that_only_reserves_is_reported_with_what_it_waits_for(large, waits):
    cluster = Cluster().node("n1", cpu=8).job("old", cpu=5, running={"n1": 1}).job(
        "large", cpu=large).job("new", cpu=2)
    admitted = [obj.changed(status={"phase": "Inqueue"}) if obj.kind == "PodGroup"
                and obj.name == "large" else obj for obj in cluster.objects()]
    conf = ("{actions: 'enqueue, allocate', tiers: [{plugins: [{name: gang}, {name: predicates}, "
            "{name: overcommit, arguments: {overcommit-factor: 1}}]}]}")
    text = Explainer(admitted, conf).why("new").text
    assert ("default/large, which reserves most and holds nothing, waits itself for resources"
            in text) == waits
    assert ("Backfill does not use what is idle meanwhile: it places pods without requests only."
            in text) == waits


@pytest.mark.parametrize("deserved", [{"cpu": "4"}, None])
def test_a_share_of_a_queue_above_is_said_not_to_count(deserved):
    cluster = Cluster().node("n1", cpu=8).queue("root").queue(
        "mine", parent="root", deserved=deserved).queue("own", parent="mine").queue(
        "other", parent="root", deserved={"cpu": "4"}).job(
        "old", queue="other", pods=4, cpu=2, running={"n1": 4}).job("new", queue="own", cpu=2)
    conf = TREE.replace("{name: proportion}, ", "").replace("enqueue, ", "")
    text = why(cluster, "new", conf).text
    assert ("Queue own has no spec.deserved (best effort; that of a queue above it does not count)"
            in text)
    found = why(cluster.queue("own", parent="mine", deserved={"cpu": "2"}), "new", conf)
    assert "best effort" not in found.text and "pipelined" in found.head + found.text


@pytest.mark.long
def test_what_a_queue_deserves_is_raised_with_those_above_it():
    tree = Cluster().node("n1", cpu=6).queue("root").queue(
        "team", parent="root", deserved={"cpu": "4"}, capability={"cpu": "6"}).queue(
        "own", parent="team", deserved={"cpu": "3"}).queue(
        "other", parent="team", deserved={"cpu": "1"}).job(
        "old", queue="other", pods=6, cpu=1, min_member=1, running={"n1": 6}).job(
        "new", queue="own", pods=2, cpu=2)
    found = why(tree, "new", CAPACITY.replace("enqueue, ", ""))
    assert "the queue may not reclaim for it" in found.text
    both = next(each for each in found.remedies if "deserved" in each.change)
    assert both.change == "both: queue own: deserved cpu 3 -> 4; queue team: deserved cpu 4 -> 5"
    assert both.effect == "new is pipelined to n1; evicts 4 pods of old"


PYTORCH = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: mnist, namespace: default, uid: u1}
spec:
  runPolicy: {schedulingPolicy: {queue: default, minAvailable: 2, minResources: {cpu: "64"}}}
  pytorchReplicaSpecs:
    Master: {template: {spec: {containers: [{name: c, resources: {requests: {cpu: 4}}}]}}}
    Worker: {template: {spec: {containers: [{name: c, resources: {requests: {cpu: 4}}}]}}}
"""


@pytest.mark.long
def test_what_an_operator_reserves_for_pods_that_exist_is_lowered_to_them():
    found = asked(PYTORCH).why("mnist")
    assert "Its PodGroup's minResources are cpu 64; the pods that exist request 8." in found.text
    assert found.remedies[0].change == (
        "job default/mnist: minResources cpu 64 -> 8 "
        "(spec.runPolicy.schedulingPolicy.minResources of its PyTorchJob)")


@pytest.mark.long
@pytest.mark.parametrize("version, named", [
    ("kubeflow.org/v1", True), ("training.kubedl.io/v1alpha1", False)])
def test_a_field_of_an_owner_is_named_where_its_kind_is_of_that_operator(version, named):
    found = asked(f"""\
{{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {{name: g, namespace: a,
  ownerReferences: [{{apiVersion: {version}, kind: PyTorchJob, name: t, uid: u}}]}},
  spec: {{minMember: 2}}, status: {{phase: Inqueue}}}}
---
{{apiVersion: v1, kind: Pod, metadata: {{name: p, namespace: a, annotations: {{
  scheduling.k8s.io/group-name: g}}}}, spec: {{schedulerName: volcano, containers: [{{name: c}}]}}}}
""").why("a/t")
    assert found.remedies[0].change == "job a/t: minMember 2 -> 1" + named * (
        " (spec.runPolicy.schedulingPolicy.minAvailable of its PyTorchJob)")


FIVE = """\
{apiVersion: v1, kind: ResourceQuota, metadata: {name: small, namespace: default},
 status: {hard: {requests.cpu: "5"}, used: {requests.cpu: "0"}}}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train, namespace: default}
spec: {minAvailable: LEAST, tasks: [{name: w, replicas: 8, template: {spec: {containers: [
  {name: c, resources: {requests: {cpu: "1"}}}]}}}]}
"""


@pytest.mark.long
@pytest.mark.parametrize(("least", "said", "change"), [
    (3, "train waits for quota", "ResourceQuota default/small: hard requests.cpu 5 -> 8"),
    (7, "waits for quota", "ResourceQuota default/small: hard requests.cpu 5 -> 7")])
def test_the_pods_that_a_quota_refuses_are_named_with_its_sum(least, said, change):
    conf = CONF.replace("{name: overcommit}", "{name: overcommit}, {name: resourcequota}")
    found = asked(FIVE.replace("LEAST", str(least)), conf=conf).why("train")
    assert said in found.text and "(5 used + 1 requested > 5)" in found.text
    assert "3 of its 8 pods are not among the objects" in found.text
    assert change in {each.change for each in found.remedies}


COUNT = """\
{apiVersion: v1, kind: ResourceQuota, metadata: {name: count, namespace: default},
 spec: {hard: {pods: "5", limits.cpu: "9"}}, status: {hard: {pods: "5"}, used: {pods: "3"}}}
---
"""


@pytest.mark.long
def test_a_job_whose_pods_a_quota_refuses_waits_for_quota_and_no_lower_minimum_helps():
    train = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train, namespace: default}
spec: {minAvailable: 4, tasks: [{name: w, replicas: 4, template: {spec: {containers: [
  {name: c, resources: {requests: {cpu: "1"}, limits: {cpu: "1"}}}]}}}]}
"""
    found = asked(COUNT, exported("held", 3, 1, there=3, phase="Running"), train).why("train")
    assert "train waits for quota: ResourceQuota default/count is pods 2 short." in found.head
    assert "(5 used + 1 requested > 5)" in found.text and "In use by default/held 3." in found.text
    both = CONF.replace("{name: overcommit}", "{name: overcommit}, {name: resourcequota}")
    assert asked(COUNT, exported("held", 3, 1, there=3, phase="Running"), train,
                 conf=both).why("train").text.count("In use by") == 1
    changes = [each.change for each in found.remedies]
    assert changes[0] == "ResourceQuota default/count: hard pods 5 -> 7"
    assert not any("minAvailable" in change and "replicas" not in change for change in changes)


@pytest.mark.parametrize(("name", "said"), [
    ("count/pods", "In use by default/past 2 (2 of its pods have ended: count/pods counts them "
                   "until they are deleted with their job, see ttlSecondsAfterFinished)."),
    ("pods", "In use by default/held 2.")])
def test_pods_that_have_ended_use_the_quota_that_counts_objects_alone(name, said):
    quota = COUNT.replace("pods:", f"{name}:").replace('"3"', '"5"').replace(
        ', limits.cpu: "9"', "")
    held = exported("held", 2, 1, there=2, phase="Running")
    past = exported("past", 2, 1, there=2, phase="Completed").replace(
        "status: {phase: Pending}", "status: {phase: Succeeded}")
    found = asked(quota, past, *[held] * (name == "pods"), exported(
        "odd", 1, 1, phase="Inqueue")).why("odd")
    assert said in found.text


@pytest.mark.long
def test_a_job_whose_pods_a_limit_range_refuses_says_so_first():
    bound = """\
{apiVersion: v1, kind: LimitRange, metadata: {name: most, namespace: default}, spec: {limits: [
 {type: Container, max: {cpu: "1"}}]}}
---
"""
    train = FIVE.partition("---\n")[2].replace("LEAST", "3").replace(
        "requests:", "limits: {cpu: 2}, requests:")
    found = asked(bound, train).why("train")
    assert "train waits for its pods, which the API server refuses." in found.head
    assert ("LimitRange default/most allows a container at most cpu 1, and the limit is 2"
            in found.text)
    assert not any("minAvailable" in each.change for each in found.remedies)


@pytest.mark.long
@pytest.mark.parametrize(("bound", "has", "change"), [
    ('max: {cpu: "1"}', "limits: {cpu: 2}", "limits.0.max.cpu=2"),
    ('default: {cpu: 500m}, max: {cpu: "3"}', "requests: {memory: 1Gi, cpu: 1}",
     "limits.0.default.cpu=1"),
    ('min: {memory: 2Gi}', "requests: {memory: 1Gi}", "limits.0.min.memory=1Gi")])
def test_a_limit_range_that_refuses_pods_is_offered_with_what_they_have(bound, has, change):
    bounds = f"""\
{{apiVersion: v1, kind: LimitRange, metadata: {{name: most, namespace: default}}, spec: {{limits: [
 {{type: Container, {bound}}}]}}}}
---
"""
    train = FIVE.partition("---\n")[2].replace("LEAST", "3").replace(
        "requests: {cpu: \"1\"}", has)
    found = asked(bounds, train).why("train")
    assert found.codes[0] == "pods_forbidden"
    settings = [text for each in found.remedies for text in each.tried.settings]
    assert any(text.endswith(change) for text in settings), settings


@pytest.mark.long
@pytest.mark.parametrize(("scopes", "offered"), [
    ("scopes: [BestEffort]", True), ("scopes: [NotBestEffort]", False), ("", False)])
def test_a_quota_whose_scopes_the_plugin_does_not_read_is_named(scopes, offered):
    conf = CONF.replace("{name: overcommit}", "{name: overcommit}, {name: resourcequota}")
    quota = FIVE.partition("---\n")[0].replace("status:", f"spec: {{{scopes}}}, status:")
    train = FIVE.partition("---\n")[2].replace("LEAST", "8")
    found = asked(f"{quota}---\n{train}", conf=conf).why("train")
    assert "waits for quota: ResourceQuota default/small is requests.cpu 3 short" in found.head
    assert ("default/small has scopes, by which the API server counts none of its pods"
            in found.text) == offered
    assert ("without plugin resourcequota" in [each.change for each in found.remedies]) == offered


@pytest.mark.long
def test_a_plugin_that_counts_a_pod_that_exists_twice_may_go():
    conf = CONF.replace("{name: overcommit}", "{name: overcommit}, {name: resourcequota}")
    quota = ('{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: default}, status'
             ': {hard: {requests.cpu: "5"}, used: {requests.cpu: "5"}}}')
    step = """\
{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: s, namespace: default},
 spec: {minMember: 1, minResources: {requests.cpu: "2"}}, status: {phase: Pending}}
"""
    pod = """\
{apiVersion: v1, kind: Pod, metadata: {name: s, namespace: default, annotations: {
  scheduling.k8s.io/group-name: s}}, spec: {schedulerName: volcano, containers: [
  {name: c, resources: {requests: {cpu: "2"}}}]}}
"""
    found = asked(f"{quota}\n---\n{step}---\n{pod}", conf=conf).why("s")
    assert [each.change for each in found.remedies][:2] == [
        "ResourceQuota default/q: hard requests.cpu 5 -> 7", "without plugin resourcequota"]


@pytest.mark.parametrize("marked", [True, False])
def test_a_queue_that_was_closed_with_the_one_above_it_is_reported_with_the_others(marked):
    note = 'annotations: {volcano.sh/closed-by-parent: "true"}' if marked else ""
    queues = "".join(f"""\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: {name}, {note if parent else ''}}}
spec: {{weight: 1, parent: {parent or 'root'}}}
status: {{state: Closed}}
---
""" for name, parent in (("team", ""), ("infer", "team"), ("fit", "team")))
    job = exported("a", 1, 1).replace("queue: default", "queue: fit")
    found = asked(queues, job, conf=CAPACITY).why("a")
    assert "Queue fit takes no jobs: its state is Closed" in found.text
    assert ("Queue fit was closed with team (annotation volcano.sh/closed-by-parent)" in found.text
            and "it opens fit and infer by itself" in found.text) == marked


@pytest.mark.long
@pytest.mark.parametrize(("phase", "said"), [
    ("Failed", "default/over 6 (Failed: its controller leaves the pods that run)."),
    ("Running", "default/over 6.")])
def test_a_job_that_has_ended_and_holds_resources_by_a_pod_that_runs_is_named(phase, said):
    over = exported("over", 2, 6, there=1, phase="Running", job_phase=phase)
    found = asked(over, exported("new", 1, 4)).why("new")
    assert f"In use by {said}" in found.text
    assert "delete job/default/over" in [each.change for each in found.remedies]


def test_a_pod_that_is_pipelined_is_reported_with_the_pod_that_leaves():
    leaving = "metadata: {deletionTimestamp: '2026-01-01T00:00:00Z', "
    old = exported("old", 1, 6, there=1, phase="Running", job_phase="Running")
    start = old.rindex("metadata:\n  {")
    old = old[:start] + leaving + old[start + len("metadata:\n  {"):]
    found = asked(old, exported("new", 1, 4, there=1, phase="Inqueue")).why("default/new-w-0")
    assert found.head == "Pod default/new-w-0 is Pipelined on node n1."
    assert ("default/old-w-0 (of default/old) leaving; overdue since 2026-01-01 00:00 UTC"
            in found.text)
    assert ("Look at the node; after kubectl delete pod -n default old-w-0 --force Volcano counts"
            in found.text)


@pytest.mark.long
def test_a_pod_that_has_failed_is_not_ended_by_a_deletion():
    over = exported("over", 2, 6, there=2, phase="Running", job_phase="Failed")
    failed = over.rindex("status: {phase: Running}")
    over = over[:failed] + over[failed:].replace("Running", "Failed")
    deletion = next(each for each in asked(over, exported("new", 1, 4)).why("new").remedies
                    if each.change == "delete job/default/over")
    assert deletion.effect == "new is placed on n1; ends 1 pod of over"  # the Job itself has ended


ENDED = exported("over", 2, 3, job_phase="Terminated", group=False).replace(
    "namespace: default", "namespace: team")
SMALL = """\
apiVersion: v1
kind: ResourceQuota
metadata: {name: compute, namespace: team}
status: {hard: {requests.cpu: "5"}, used: {requests.cpu: "4"}}
---
"""


@pytest.mark.parametrize(("failed", "evicted", "said"), [
    ("TerminateJob", "RestartJob", True), ("RestartJob", "RestartJob", False),
    ("TerminateJob", "", False), ("AbortJob", "RestartTask", True)])
def test_an_evicted_pod_that_fails_before_it_is_deleted_is_reported(failed, evicted, said):
    policies = ", ".join(f"{{event: {event}, action: {action}}}" for event, action in (
        ("PodFailed", failed), ("PodEvicted", evicted)) if action)
    ended = ENDED.replace("Terminated", "Aborted" if failed == "AbortJob" else "Terminated")
    found = asked(ended.replace("  queue:", f"  policies: [{policies}]\n  queue:")).why("over")
    assert (f"the policy {failed} for PodFailed acts before {evicted} for PodEvicted"
            in found.text) == said


@pytest.mark.parametrize(("action", "event", "said"), [
    ("TerminateJob", "PodFailed", "; its policies have TerminateJob for PodFailed; its"),
    ("TerminateJob", "PodEvicted", "; its policies have TerminateJob for PodEvicted. Before v1.11"),
    ("TerminateJob", 137, "; its policies have TerminateJob for exitCode 137; its"),
    ("AbortJob", "PodFailed", "; its controller does not start it again")])
def test_the_policies_that_lead_to_the_state_of_a_job_are_reported(action, event, said):
    field = "exitCode" if event == 137 else "event"
    found = asked(ENDED.replace(
        "  queue:", f"  policies: [{{{field}: {event}, action: {action}}}]\n  queue:")).why("over")
    assert found.head.startswith(f"team/over: it is Terminated and has no pods{said}")


KNATIVE = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: llm, namespace: team}
spec: {predictor: {schedulerName: volcano}}
---
apiVersion: v1
kind: Event
metadata: {name: e, namespace: team}
type: Warning
reason: InternalError
involvedObject: {kind: InferenceService, name: llm, namespace: team}
message: 'SAID'
---
"""
FIELD = "validation failed: must not set the field(s): spec.template.spec."
ROLE = ('forbidden: User "system:serviceaccount:seldon:manager" cannot create resource "podgroups" '
        'in API group "scheduling.volcano.sh" in the namespace "team"')


@pytest.mark.parametrize("text, advice", [
    (FIELD + "schedulerName", "Knative Serving allows schedulerName of pods once "
                              "kubernetes.podspec-schedulername is enabled"),
    (FIELD + "affinity", "of pods once kubernetes.podspec-affinity is enabled"),
    (ROLE, "kubectl create clusterrole manager-podgroups --verb=create "
           "--resource=podgroups.scheduling.volcano.sh, and kubectl create clusterrolebinding "
           "manager-podgroups --clusterrole=manager-podgroups --serviceaccount=seldon:manager.")])
def test_an_object_of_an_unknown_kind_is_first_what_its_controller_says(text, advice):
    head = asked(KNATIVE.replace("SAID", text)).why("llm").head
    assert head.startswith("team/llm: the last warning of its controller (Event InternalError")
    assert advice in head


def test_a_job_that_ended_without_pods_is_found_by_its_name_and_names_the_quota():
    found = asked(SMALL, ENDED).why("over")
    assert found.head.startswith("team/over: it is Terminated and has no pods; its controller does")
    assert "ResourceQuota team/compute has too little requests.cpu left" in found.text
    with pytest.raises(LookupError, match='no job, pod or queue is called "over"'):
        asked(ENDED, ENDED.replace("team", "other").replace("u-over", "u-other")).why("over")


SERVES = """\
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 8, pods: 9}}}
---
{apiVersion: v1, kind: ResourceQuota, metadata: {name: small, namespace: a},
 status: {hard: {requests.cpu: "HARD"}, used: {requests.cpu: "0"}}}
---
{apiVersion: apps/v1, kind: KIND, metadata: {name: web, namespace: a}, spec: {replicas: 3,
 serviceName: web, podManagementPolicy: Parallel, selector: {matchLabels: {app: web}}, template: {
 metadata: {labels: {app: web}}, spec: {schedulerName: volcano, containers: [
 {name: c, resources: {requests: {cpu: 1}}}]}}}}
"""


@pytest.mark.long
@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
@pytest.mark.parametrize(("hard", "short"), [(1, 2), (2, 1), (3, 0)])
def test_an_owner_whose_pods_run_in_part_waits_for_the_quota_that_refuses_the_rest(
        kind, hard, short):
    """It is among the jobs that wait, too, and the quota for all of its pods is offered."""
    cluster = Cluster(loads(SERVES.replace("HARD", str(hard)).replace("KIND", kind)))
    found, waiting = cluster.why("web"), cluster.explainer().waiting()
    names = [each.about for group in waiting.groups for each in group.answers]
    if not short:
        assert "does not wait" in found.head and not names
        return
    assert f"waits for quota: ResourceQuota a/small is requests.cpu {short} short" in found.head
    assert next(each.change for each in found.remedies) == (
        f"ResourceQuota a/small: hard requests.cpu {hard} -> 3")
    assert names == ["a/web"]


JOB_OF = {"Job": """apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train}
spec: {minAvailable: 2, priorityClassName: %s, tasks: [{name: w, replicas: 2, template: {spec: {
  containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}]}
""", "Deployment": """apiVersion: apps/v1
kind: Deployment
metadata: {name: train}
spec: {replicas: 2, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {
  schedulerName: volcano, priorityClassName: %s, containers: [{name: c, image: i}]}}}
"""}


@pytest.mark.long
@pytest.mark.parametrize(("kind", "name", "changes"), [
    ("Job", "hgih", ["job default/train: priorityClassName hgih -> high",
                     "job default/train: without PriorityClass hgih", "create PriorityClass hgih"]),
    ("Job", "other", ["job default/train: without PriorityClass other",
                      "create PriorityClass other"]),
    ("Deployment", "other", ["create PriorityClass other"])])
def test_a_priority_class_that_is_not_there_is_created_or_another_one_named(kind, name, changes):
    cluster = Cluster([node("n1"), PriorityClass(ObjectMeta("high"), value=5)]).add(
        JOB_OF[kind] % name)
    found = cluster.why("train")
    assert f"there is no PriorityClass {name}" in found.text
    assert [remedy.change for remedy in found.remedies] == changes
    assert all("2 more pods are placed" in str(cluster.what_if(*remedy.tried.settings))
               for remedy in found.remedies)
    assert not Cluster([node("n1")]).add(JOB_OF[kind] % "system-node-critical").why(
        "train").remedies


def test_what_protects_all_pods_of_a_job_is_named_before_the_job_is_admitted():
    kept = Cluster().node("n1", cpu=8).queue("q").job(
        "old", cpu=4, pods=2, queue="q", running={"n1": 2}).job("train", cpu=4, queue="q").changed(
        "job/old.metadata.annotations[volcano.sh/preemptable]=false")
    found = kept.why("train", conf=conf("gang", "overcommit", "proportion", "predicates",
                                        actions="enqueue, allocate, preempt"))
    assert ("Once admitted, it would wait, too: preempt evicts no pods of default/old: they have "
            "volcano.sh/preemptable: false.") in found.text


POD = "spec: {schedulerName: volcano, restartPolicy: Never, containers: [{name: c, image: i}]}"
OWNERS = {
    "a set without replicas": (
        "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: own}, spec: {replicas: 0, "
        "selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, POD}}}",
        ["StatefulSet own: replicas 0 -> 1"]),
    "a CronJob that is suspended": (
        "{apiVersion: batch/v1, kind: CronJob, metadata: {name: own}, spec: {suspend: true, "
        "schedule: 0 * * * *, jobTemplate: {spec: {template: {POD}}}}}",
        ["CronJob default/own: suspend true -> false"]),
    "a Job that has ended": (
        "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: own}, spec: {tasks: "
        "[{name: w, replicas: 1, template: {POD}}]}, status: {state: {phase: Terminated}}}",
        ["submit job default/own again"]),
    "a Job with fewer pods than its minimum": (
        "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: own}, spec: {"
        "minAvailable: 4, tasks: [{name: w, replicas: 2, template: {POD}}]}}",
        ["Job default/own: tasks[0].replicas 2 -> 4", "job default/own: minAvailable 4 -> 2"])}


@pytest.mark.long
@pytest.mark.parametrize("owner", OWNERS)
def test_an_owner_that_creates_no_pods_is_offered_the_field_by_which_it_does(owner):
    manifest, changes = OWNERS[owner]
    cluster = Cluster([node("n1")]).add(manifest.replace("POD", POD))
    found = cluster.why("own")
    assert [remedy.change for remedy in found.remedies] == changes
    assert all(cluster.what_if(*remedy.tried.settings).holds(remedy.job, "placed")
               for remedy in found.remedies)


ROLES = """apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train}
spec: {minAvailable: 4, tasks: [
  {name: chief, replicas: 1, template: {spec: {containers: [CPU]}}},
  {name: worker, replicas: 3, minAvailable: LEAST, template: {spec: {containers: [CPU]}}}]}
"""
CPU = "{name: c, image: i, resources: {requests: {cpu: 2}}}"


@pytest.mark.long
@pytest.mark.parametrize(("cpu", "least", "said"), [
    ("6", "3", "both: Job default/train: tasks[1].minAvailable 3 -> 2; job default/train: "
     "minAvailable 4 -> 3"),
    ("4", "3", "both: Job default/train: tasks[1].minAvailable 3 -> 1; job default/train: "
     "minAvailable 4 -> 2"),
    ("2", "3", "")])
def test_a_role_of_a_job_may_have_a_lower_minimum_but_not_none(cpu, least, said):
    cluster = Cluster([node("n1", cpu=cpu)]).add(
        ROLES.replace("CPU", CPU).replace("LEAST", least))
    changes = [remedy.change for remedy in cluster.why("train").remedies]
    assert [each for each in changes if "minAvailable" in each] == [said] * bool(said)


@pytest.mark.long
def test_queues_whose_parent_does_not_exist_get_one_that_does():
    cluster = Cluster().node("n1", cpu=8).queue("science").queue("labs", parent="sciense").queue(
        "lone", parent="gone").queue("near", parent="sciense").job("new", queue="labs", cpu=1)
    conf = TREE.replace("{name: proportion}, ", "")
    change, *_ = [each.change for each in why(cluster, "new", conf).remedies]
    assert change == ("all: queue labs: parent sciense -> science; queue near: parent sciense -> "
                      "science; queue lone: parent gone -> root")
