"""What a cluster adds to manifests, and what becomes of a Volcano Job."""

import re
from fractions import Fraction

import pytest

from volcano_lab.api.objects import (
    Container,
    Node,
    PersistentVolumeClaim,
    Pod,
    PodGroup,
    PodSpec,
    Queue,
    ResourceRequirements,
)
from volcano_lab.api.storage import claims_of
from volcano_lab.manifests import quotas
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.field_defaults import FIRST_TIME
from volcano_lab.manifests.job_controller import (
    expand,
    inherited_annotations,
    policy_for,
    usage,
    waiting_tasks,
)
from volcano_lab.manifests.loader import ManifestError, from_dict, loads
from volcano_lab.manifests.quotas import Quotas


def only(text: str, kind: type):
    """The only object of a kind, or the first, after the defaults."""
    return next(obj for obj in with_defaults(loads(text))
                if isinstance(obj, kind) and obj.name not in ("root", "default"))


def pod(spec: str = "{}", more: str = "") -> Pod:
    return only(f"{{apiVersion: v1, kind: Pod, metadata: {{name: web}}, spec: {spec}}}\n{more}",
                Pod)


PRIORITIES = """
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
preemptionPolicy: Never
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: low}, value: 10}
"""


def test_a_bare_pod_gets_namespace_uid_time_phase_scheduler_and_priority():
    found = pod()
    assert found.key == "default/web" and found.metadata.uid == "pod-default-web"
    assert found.metadata.creation_timestamp >= FIRST_TIME
    assert (found.status.phase, found.spec.scheduler_name,
            found.spec.priority) == ("Pending", "default-scheduler", 0)


def test_creation_times_follow_document_order_where_they_are_missing():
    text = "---\n".join(
        f"{{apiVersion: v1, kind: Node, metadata: {{name: n{number}}}}}\n" for number in (2, 1, 0))
    nodes = [obj for obj in with_defaults(loads(text)) if obj.kind == "Node"]
    times = [node.metadata.creation_timestamp for node in nodes]
    assert [node.name for node in nodes] == ["n2", "n1", "n0"] and times == sorted(set(times))


def test_what_is_given_stays_and_the_objects_read_do_not_change():
    text = """
apiVersion: v1
kind: Pod
metadata:
  name: web
  namespace: team
  uid: u
  annotations: {scheduling.k8s.io/group-name: g}
  creationTimestamp: 2020-01-01T00:00:00Z
spec: {priority: 5, schedulerName: volcano}
status: {phase: Running}
"""
    read = loads(text)
    done = [obj for obj in with_defaults(read) if isinstance(obj, Pod)]
    assert done == read == loads(text)
    bare = loads("{apiVersion: v1, kind: Pod, metadata: {name: web}}")
    with_defaults(bare)
    assert bare[0].namespace == "" and bare[0].spec.priority is None


def test_limits_count_as_requests_where_there_are_none():
    container = pod(
        "{containers: [{resources: {limits: {cpu: 2, memory: 1Gi}, requests: {cpu: 1}}}]}"
    ).spec.containers[0]
    assert container.resources.requests == {"cpu": "1", "memory": "1Gi"}


def test_on_the_hosts_network_each_port_is_a_host_port():
    ports = pod("{hostNetwork: true, containers: [{ports: [{containerPort: 80}]}]}"
                ).spec.containers[0].ports
    assert (ports[0].host_port, ports[0].protocol) == (80, "TCP")
    assert pod(
        "{containers: [{ports: [{containerPort: 80}]}]}").spec.containers[0].ports[0].host_port == 0


@pytest.mark.parametrize(
    ("spec", "more", "priority", "policy"),
    [
        ("{priorityClassName: high}", PRIORITIES, 1000, "Never"),
        ("{priorityClassName: high, preemptionPolicy: PreemptLowerPriority}", PRIORITIES, 1000,
         "PreemptLowerPriority"),
        ("{priorityClassName: low}", PRIORITIES, 10, None),
        ("{priorityClassName: low, priority: 7}", PRIORITIES, 7, None),
        ("{priorityClassName: system-node-critical}", "", 2_000_001_000, None),
        ("{}", PRIORITIES, 0, None),
        ("{}", PRIORITIES.replace("value: 10}", "value: 10, globalDefault: true}"), 10, None),
        ("{}", PRIORITIES.replace("value: 10}", "value: 10, globalDefault: true}").replace(
            "value: 1000", "value: 1000\nglobalDefault: true"), 10, None),  # the lowest of several
    ],
)
def test_the_priority_comes_from_the_class(spec, more, priority, policy):
    found = pod(spec, more).spec
    assert (found.priority, found.preemption_policy) == (priority, policy)


def test_a_priority_class_that_does_not_exist_is_refused():
    with pytest.raises(
            ManifestError,
            match=r'^Pod default/web \(text, document 1\): spec.priorityClassName is "none"; '
                  "allowed is high, low, "):
        pod("{priorityClassName: none}", PRIORITIES)


def test_queues_get_weight_state_and_reclaimable_and_the_clusters_own_exist_once():
    queue = only("{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: a}}",
                 Queue)
    assert (queue.spec.weight, queue.spec.reclaimable, queue.status.state) == (1, True, "Open")
    names = [
        obj.name for obj in with_defaults(
            loads(
                "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, "
                "metadata: {name: default}}"
            ))
    ]
    assert sorted(names) == ["default", "root"]


def test_a_hierarchy_begins_at_root():
    annotations = "{volcano.sh/hierarchy: sci/dev, volcano.sh/hierarchy-weights: 2/3}"
    queue = only(
        "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\n"
        + f"metadata: {{name: a, annotations: {annotations}}}",
        Queue,
    )
    assert sorted(queue.metadata.annotations.values()) == ["1/2/3", "root/sci/dev"]


def test_podgroups_belong_to_the_default_queue_and_wait():
    group = only(
        "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: a}, "
        "spec: {networkTopology: {}, subGroupPolicy: [{name: s}]}}",
        PodGroup,
    )
    assert (group.spec.queue, group.status.phase,
            group.spec.network_topology.mode) == ("default", "Pending", "hard")
    assert (group.spec.sub_group_policy[0].sub_group_size,
            group.spec.sub_group_policy[0].min_sub_groups) == (1, 0)


def job(tasks: list, **spec):
    """A job's podgroup and pods; a task is (name, replicas, minAvailable, cpu, priority class)."""
    document = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {
            "name": "j", "namespace": "team", "uid": "u", "annotations":
            {"volcano.sh/preemptable": "true"}
        },
        "spec":
        {"tasks": [task if isinstance(task, dict) else task_of(*task) for task in tasks], **spec},
    }
    return expand(from_dict(document, strict=True), {"high": 100, "low": 1})


def task_of(name: str, replicas: int, least: int | None = None, cpu: str = "1", priority: str = "",
            **more) -> dict:
    container = {"name": "c", "resources": {"requests": {"cpu": cpu}}}
    template = {
        "metadata": {"labels": {"app": "x"}},
        "spec": {"containers": [container], "priorityClassName": priority},
    }
    return {"name": name, "replicas": replicas, "minAvailable": least, "template": template, **more}


def test_pods_carry_the_names_by_which_the_scheduler_finds_their_gang_and_role():
    group, pods = job([("ps", 1), ("worker", 2)], queue="research")
    assert group.key == "team/j-u" and group.spec.queue == "research"
    assert [found.key for found in pods] == ["team/j-ps-0", "team/j-worker-0", "team/j-worker-1"]
    last = pods[-1].metadata
    assert last.annotations["scheduling.k8s.io/group-name"] == "j-u"
    assert last.annotations["volcano.sh/task-spec"] == last.labels[
        "volcano.sh/task-spec"] == "worker"
    assert last.labels["volcano.sh/task-index"] == "1" and last.labels["app"] == "x"
    assert last.annotations["volcano.sh/preemptable"] == "true"
    assert last.owner_references[0].controller and pods[0].spec.scheduler_name == "volcano"


def test_a_new_job_has_no_pods_of_tasks_that_depend_on_others():
    group, pods = job([("ps", 1), task_of("worker", 2, dependsOn={"name": ["ps"]})])
    assert [found.name for found in pods] == ["j-ps-0"] and group.spec.min_member == 3


def test_a_task_without_a_name_is_called_by_its_number():
    group, pods = job([{"replicas": 1}, {"replicas": 1}])
    assert [found.name for found in pods] == ["j-default0-0", "j-default1-0"]
    assert group.spec.min_task_member == {"default0": 1, "default1": 1}


MINIMUMS = [
    # (tasks, the job's minAvailable) -> the gang's minMember and its cpu
    ("all pods without a minimum", [("a", 2), ("b", 3, None, "2")], None, 5, "8"),
    ("the tasks' minimums", [("a", 4, 1), ("b", 3, 2, "2")], None, 3, "5"),
    ("fewer than the tasks need: first tasks first", [("a", 4, 2), ("b", 3, 3, "2")], 3, 3, "3"),
    ("fewer, from two tasks", [("a", 2, 2), ("b", 3, 3, "2")], 4, 4, "6"),
    ("more than the tasks need: other replicas fill up", [("a", 4, 1),
                                                          ("b", 3, 1, "2")], 5, 5, "6"),
    ("high priority first", [("a", 4, None, "1", "low"), ("b", 3, None, "2", "high")], 3, 3, "6"),
    ("without a class after a low one", [("a", 4), ("b", 3, None, "2", "low")], 3, 3, "6"),
    ("other replicas fill up in order", [("a", 3, 1), ("b", 5, 1, "2")], 5, 5, "7"),
    ("fractions", [("a", 3, None, "250m")], None, 3, "750m"),
]


@pytest.mark.parametrize(("tasks", "least", "members", "cpu"), [case[1:] for case in MINIMUMS],
                         ids=[case[0] for case in MINIMUMS])
def test_the_gang_needs(tasks, least, members, cpu):
    group, _ = job(tasks, **({"minAvailable": least} if least else {}))
    needs = group.spec.min_resources
    assert (group.spec.min_member, needs["cpu"]) == (members, cpu)
    assert needs["requests.cpu"] == cpu and needs["pods"] == needs["count/pods"] == str(members)


@pytest.mark.parametrize(("whole", "counted"), [
    ({}, {}),
    ({"requests": {"cpu": "5"}}, {"cpu": "10200m", "requests.cpu": "10200m"}),
    ({"limits": {"memory": "3Gi"}}, {"limits.memory": "6146Mi"}),
    ({"requests": {"memory": "2Gi"}, "limits": {"cpu": "0"}},
     {"memory": "4098Mi", "requests.memory": "4098Mi", "limits.cpu": "0"}),
])
def test_init_containers_sidecars_overhead_and_limits_count_as_in_a_quota(whole, counted):
    """Amounts of the pod as a whole replace the sum over its containers; overhead is added."""
    spec = {
        "containers":
        [{"resources": {"requests": {"cpu": "1", "memory": "1Gi"},
                        "limits": {"cpu": "2", "memory": "0"}}}],
        "initContainers": [
            {
                "restartPolicy": "Always", "resources":
                {"requests": {"cpu": "500m", "nvidia.com/gpu": "1"}}
            },
            {"resources": {"requests": {"cpu": "3", "kubernetes.io/odd": "1"}}},
        ],
        "overhead": {"cpu": "100m", "memory": "1Mi"},
        **({"resources": whole} if whole else {}),
    }
    group, _ = job([{"name": "a", "replicas": 2, "template": {"spec": spec}}])
    assert group.spec.min_resources == {
        "count/pods": "2",
        "pods": "2",
        "cpu": "7200m",
        "requests.cpu": "7200m",
        "memory": "2050Mi",
        "requests.memory": "2050Mi",
        "nvidia.com/gpu": "2",
        "requests.nvidia.com/gpu": "2",
        "limits.cpu": "4200m",
        "limits.memory": "0",
    } | counted


def test_partitions_become_sub_groups():
    policy = {
        "totalPartitions": 2,
        "partitionSize": 2,
        "minPartitions": 1,
        "networkTopology": {"mode": "hard", "highestTierAllowed": 1},
    }
    group, pods = job([task_of("a", 4, None, partitionPolicy=policy)])
    (sub,) = group.spec.sub_group_policy
    assert (sub.name, sub.sub_group_size, sub.min_sub_groups) == ("a", 2, 1)
    assert sub.label_selector.match_labels == {"volcano.sh/task-spec": "a"}
    assert sub.match_label_keys == ["volcano.sh/partition-id"
                                    ] and sub.network_topology.highest_tier_allowed == 1
    assert [found.metadata.labels["volcano.sh/partition-id"]
            for found in pods] == ["0", "0", "1", "1"]
    assert group.spec.min_member == 2


def test_a_tiers_number_goes_before_its_name():
    group, _ = job([("a", 1)], networkTopology={
        "mode": "soft", "highestTierAllowed": 2, "highestTierName": "rack"
    })
    assert (group.spec.network_topology.highest_tier_allowed,
            group.spec.network_topology.highest_tier_name) == (2, "")
    group, _ = job([("a", 1)], networkTopology={"mode": "soft", "highestTierName": "rack"})
    assert group.spec.network_topology.highest_tier_name == "rack"


def test_a_job_in_a_manifest_becomes_a_waiting_gang_of_pods_with_uids():
    text = (
        """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train}
spec:
  maxRetry: 3
  policies: []
  plugins: {ssh: [], svc: []}
  priorityClassName: high
  tasks:
  - name: worker
    replicas: 2
    template: {spec: {containers: [{name: c, image: busybox, resources: {limits: {cpu: 1}}}]}}
"""
        + PRIORITIES
    )
    loaded = loads(text)
    assert loaded.warnings == []
    done = with_defaults(loaded)
    group = next(obj for obj in done if isinstance(obj, PodGroup))
    pods = [obj for obj in done if isinstance(obj, Pod)]
    assert group.status.phase == "Pending" and group.spec.queue == "default" and "Job" not in {
        obj.kind for obj in done
    }
    assert len({found.metadata.uid
                for found in pods}) == 2 and {found.spec.priority for found in pods} == {1000}
    assert pods[0].metadata.annotations["scheduling.k8s.io/group-name"] == group.name
    assert pods[0].spec.containers[0].resources.requests == {"cpu": "1"}


def test_a_cluster_has_a_root_that_is_not_reclaimable_and_a_default_queue():
    assert {queue.name: queue.spec.reclaimable for queue in with_defaults([])} == {
        "root": False, "default": True}


@pytest.mark.parametrize(("hard", "requests", "unnamed"), [
    (["cpu"], {}, ["requests.cpu"]), (["requests.cpu"], {}, ["requests.cpu"]),
    (["limits.cpu"], {}, ["limits.cpu"]), (["memory", "requests.cpu"], {"cpu": "1"},
                                           ["requests.memory"]),
    (["limits.memory", "cpu"], {}, ["requests.cpu", "limits.memory"]),
    (["cpu", "requests.cpu"], {"cpu": "1"}, None), (["pods", "requests.nvidia.com/gpu"], {}, None)])
def test_a_quota_wants_what_it_counts_named_by_every_container(hard, requests, unnamed):
    container = {"name": "c", "resources": {"requests": requests}}
    job = from_dict({
        "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
        "metadata": {"name": "j", "namespace": "team", "uid": "u"},
        "spec": {"tasks": [{"name": "a", "replicas": 1, "template": {"spec": {
            "containers": [container]}}}]}})
    quota = from_dict({
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "team"},
        "status": {"hard": dict.fromkeys(hard, "9"), "used": {}}})
    why = Quotas([quota], lambda pod: pod).refusal(expand(job)[1], {})
    assert (why and why.facts["resources"]) == unnamed
    elsewhere = quota.changed(metadata={"namespace": "other"})
    assert Quotas([elsewhere], lambda pod: pod).refusal(expand(job)[1], {}) is None


def test_what_a_controller_creates_is_owned_and_carries_what_its_task_names():
    group, (pod,) = job([task_of("a", 1, topologyPolicy="single-numa-node")])
    for found in (group, pod):
        (owner,) = found.metadata.owner_references
        assert (owner.kind, owner.name, owner.uid) == ("Job", "j", "u")
        assert owner.controller is owner.block_owner_deletion is True
    key = "volcano.sh/numa-topology-policy"
    assert pod.metadata.annotations[key] == "single-numa-node"
    assert key not in job([("a", 1)])[1][0].metadata.annotations


GIVEN = """
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: all, META}, value: 3,
 globalDefault: true}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: low, META}, value: 2}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: q, META, annotations: {volcano.sh/hierarchy: root/a,
                                        volcano.sh/hierarchy-weights: 1/2}}
spec: {weight: 3, reclaimable: false}
status: {state: Closed}
---
apiVersion: v1
kind: Node
metadata: {name: n1, META, labels: {kubernetes.io/hostname: other}}
status: {allocatable: {cpu: "3"}, capacity: {cpu: "4"}}
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: team, META, annotations: {scheduling.k8s.io/group-name: g}}
spec:
  priorityClassName: low
  priority: 2
  preemptionPolicy: Never
  schedulerName: volcano
  hostNetwork: true
  containers:
  - name: c
    ports: [{containerPort: 80, hostPort: 81, protocol: UDP}]
    resources: {requests: {cpu: "1"}, limits: {cpu: "2"}}
status: {phase: Failed}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: g, namespace: team, META}
spec:
  queue: q
  networkTopology: {mode: soft, highestTierAllowed: 2}
  subGroupPolicy: [{name: s, subGroupSize: 4, minSubGroups: 5}]
status: {phase: Unknown}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: v, META}, status: {phase: Released}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: c, namespace: team, META}
spec: {volumeName: v, storageClassName: ""}
status: {phase: Lost}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: s, META, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: x
volumeBindingMode: WaitForFirstConsumer
"""
for number in range(GIVEN.count("META")):  # each has a uid of its own
    GIVEN = GIVEN.replace("META", f"uid: u{number}, creationTimestamp: 2020-01-01T00:00:00Z", 1)


def test_no_default_replaces_what_is_given():
    """Beside PriorityClass, StorageClass and volume that would be a default of theirs."""
    for given in loads(GIVEN):
        found = next(obj for obj in with_defaults(loads(GIVEN))
                     if (obj.kind, obj.key) == (given.kind, given.key))
        assert found == given


@pytest.mark.parametrize(("spec", "more", "priority"), [
    ("{priorityClassName: low}", "", 2), ("{}", "", 3), ("{priority: 5}", "", 5),
    ("{priorityClassName: mine}", "\n---\n{apiVersion: v1, kind: Pod, metadata: {name: b}, "
     "spec: {priorityClassName: mine, priority: 8}}", 8),
    ("{priorityClassName: system-cluster-critical}", "", 2_000_000_000)])
def test_the_default_class_is_for_pods_without_one(spec, more, priority):
    assert pod(spec, "---\n" + GIVEN.partition("---\napiVersion")[0] + more).spec.priority == (
        priority)


def test_what_is_completed_is_complete():
    once = with_defaults(loads(f"{{apiVersion: v1, kind: Pod, metadata: {{name: b}}}}\n---{GIVEN}"))
    assert [*with_defaults(once)] == [*once]


SMALL = """
---
{apiVersion: v1, kind: ResourceQuota, metadata: {name: small, namespace: team},
 status: {hard: {requests.cpu: "5"}, used: {requests.cpu: "USED"}}}
---
"""
EIGHT = {
    "Volcano Job": "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: META, spec: {"
                   "minAvailable: 3, tasks: [{replicas: 8, name: w, template: {spec: SPEC}}]}}",
    "Job": "{apiVersion: batch/v1, kind: Job, metadata: META, spec: {parallelism: 8, template: {"
           "spec: SPEC}}}",
    "PyTorchJob": "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: META, spec: {"
                  "runPolicy: {schedulingPolicy: {queue: default}}, pytorchReplicaSpecs: {Worker: {"
                  "replicas: 8, template: {spec: SPEC}}}}}"}


def eight(kind, name="a", cpu='{requests: {cpu: "1"}}'):
    """Return a manifest of an object with eight pods of one CPU."""
    spec = f"{{schedulerName: volcano, containers: [{{name: c, resources: {cpu}}}]}}"
    return EIGHT[kind].replace("META", f"{{name: {name}, namespace: team}}").replace("SPEC", spec)


@pytest.mark.parametrize("kind", EIGHT)
@pytest.mark.parametrize("used", [0, 2, 5])
def test_controllers_create_the_pods_that_a_quota_leaves(kind, used):
    found = with_defaults(loads(eight(kind) + SMALL.replace("USED", str(used))))
    assert sum(isinstance(obj, Pod) for obj in found) == 5 - used
    (why,) = found.not_created["team/a"]
    assert f"{3 + used} of its 8 pods" in str(why)
    assert ("ResourceQuota team/small has too little requests.cpu left for one more "
            "(5 used + 1 requested > 5)") in str(why)
    assert ("terminates the Job" in str(why)) == (kind == "Volcano Job")


@pytest.mark.parametrize(("quota", "pods"), [
    (SMALL, 8), (SMALL.replace("namespace: team", "namespace: other"), 16),
    (SMALL.replace("status:", "spec: {scopes: [BestEffort]}, status:"), 16),
    (SMALL.replace("status:", "spec: {scopes: [NotBestEffort]}, status:"), 8),
    (SMALL.replace("status:", "spec: {scopeSelector: {matchExpressions: []}}, status:"), 8),
    (SMALL.replace("status:", "spec: {hard: {pods: 9}}, status:"), 8),
    (SMALL.replace('status: {hard: {requests.cpu: "5"}, used: {requests.cpu: "USED"}}',
                   'spec: {hard: {requests.cpu: "5"}}'), 8)])
def test_a_quota_counts_the_pods_of_all_owners_of_its_namespace(quota, pods):
    """One with a scope counts some pods only; one without a status has not been counted yet."""
    quota = quota.replace("USED", "0").replace('"5"', '"8"')
    found = with_defaults(loads(f"{eight('Job')}\n---\n{eight('Job', 'b')}{quota}"))
    assert sum(isinstance(obj, Pod) for obj in found) == pods


@pytest.mark.parametrize("phase", ["Terminated", "Aborted", "Completed"])
def test_a_job_that_a_quota_has_ended_names_it(phase):
    job = eight("Volcano Job")[:-1] + f", status: {{state: {{phase: {phase}}}}}}}"
    found = with_defaults(loads(job + SMALL.replace("USED", "0")))
    assert not any(isinstance(obj, Pod) for obj in found)
    assert ("team/small" in "".join(map(str, found.not_created["team/a"]))) == (
        phase != "Completed")


RANGE = """
---
{apiVersion: v1, kind: LimitRange, metadata: {name: r, namespace: team}, spec: {limits: [
 {type: PersistentVolumeClaim, max: {storage: 9Gi}}, {type: Container, LIMITS}]}}
---
"""


@pytest.mark.parametrize(("limits", "own", "requests", "most"), [
    ('defaultRequest: {cpu: "3"}, default: {cpu: "4"}', "{}", "3", "4"),
    ('default: {cpu: "4"}', "{}", "4", "4"), ('max: {cpu: "4"}', "{}", "4", "4"),
    ('min: {cpu: "1"}', "{}", "1", None),
    ('defaultRequest: {cpu: "3"}, default: {cpu: "4"}', '{requests: {cpu: "1"}}', "1", "4"),
    ('defaultRequest: {cpu: "3"}, default: {cpu: "4"}', '{limits: {cpu: "2"}}', "2", "2")])
@pytest.mark.parametrize("there", [False, True])
def test_a_limit_range_sets_what_containers_of_new_pods_do_not_name(
        limits, own, requests, most, there):
    """Pods that are there have been admitted; an existing one stays as it is."""
    text = eight("Job", cpu=own)
    if there:
        text = (f"{{apiVersion: v1, kind: Pod, metadata: {{name: p, namespace: team, uid: u}}, "
                f"spec: {{containers: [{{name: c, resources: {own}}}]}}}}")
    found = with_defaults(loads(text + RANGE.replace("LIMITS", limits)))
    assert not found.warnings and not any(obj.kind == "LimitRange" for obj in found)
    for obj in found:
        if isinstance(obj, Pod):
            resources = obj.spec.containers[0].resources
            given = loads(text)[0].spec.containers[0].resources if there else None
            assert resources.limits.get("cpu") == (given.limits.get("cpu") if there else most)
            assert there or resources.requests == {"cpu": requests}
            assert ("kubernetes.io/limit-ranger" in obj.metadata.annotations) == (
                not there and own == "{}")


SCOPED = SMALL.replace("status:", """spec: {scopeSelector: {matchExpressions: [
 {scopeName: PriorityClass, operator: OPERATOR, values: VALUES}]}}, status:""")
CLASS = """
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 9}
"""


@pytest.mark.parametrize(("operator", "values", "own", "pods"), [
    ("In", "[low]", "", 8), ("In", "[low]", "high", 8), ("In", "[low, high]", "high", 5),
    ("NotIn", "[low]", "high", 5), ("NotIn", "[high]", "high", 8), ("Exists", "[]", "high", 5),
    ("Exists", "[]", "", 8), ("DoesNotExist", "[]", "", 5), ("DoesNotExist", "[]", "high", 8)])
def test_a_quota_counts_the_pods_in_its_scope(operator, values, own, pods):
    text = eight("Job").replace("schedulerName: volcano", f"schedulerName: volcano, "
                                f'priorityClassName: "{own}"')
    quota = SCOPED.replace("USED", "0").replace("OPERATOR", operator).replace("VALUES", values)
    found = with_defaults(loads(text + quota + CLASS))
    assert sum(isinstance(obj, Pod) for obj in found) == pods


@pytest.mark.parametrize(("limits", "why"), [
    ('max: {cpu: "500m"}', "allows a container at most cpu 500m, and the limit is 1"),
    ('min: {cpu: "2"}', "allows a container no request below cpu 2, and the request is 1"),
    ('max: {cpu: "1"}, min: {cpu: "1"}', None), ('min: {memory: 1Gi}', None),
    ('maxLimitRequestRatio: {cpu: "2"}', None),
    ('maxLimitRequestRatio: {cpu: 500m}', "allows a container at most 500m as the ratio of its "
     "limit of cpu to its request, and it is 1"),
    ('maxLimitRequestRatio: {memory: "2"}', "allows a container at most 2 as the ratio of its "
     "limit of memory to its request, and it is none"),
    ('type: Pod, max: {cpu: "1"}, min: {cpu: "1"}', None),
    ('type: Pod, max: {cpu: 900m}', "allows a pod at most cpu 900m, and the limit is 1"),
    ('type: Pod, max: {memory: 1Gi}', "allows a pod at most memory 1Gi, and the limit is none"),
    ('type: Pod, min: {cpu: "3"}', "allows a pod no request below cpu 3, and the request is 1")])
@pytest.mark.parametrize("kind", EIGHT)
def test_a_limit_range_refuses_pods_outside_its_bounds(kind, limits, why):
    cpu = '{requests: {cpu: "1"}, limits: {cpu: "1"}}'
    bounds = RANGE.replace("LIMITS", limits).replace("Container, type: ", "")
    found = with_defaults(loads(eight(kind, cpu=cpu) + bounds))
    assert sum(isinstance(obj, Pod) for obj in found) == (0 if why else 8)
    said = "".join(map(str, found.not_created.get("team/a", ())))
    assert (f"LimitRange team/r {why}, so the API server refuses the pod" in said) == bool(why)
    assert ("terminates the Job" in said) == (bool(why) and kind == "Volcano Job")


@pytest.mark.parametrize(("limits", "refused"), [
    ('max: {cpu: "1"}', True), ('default: {cpu: "1"}', True), ('default: {cpu: "2"}', False),
    ('max: {cpu: "1"}, default: {cpu: "2"}', True), ('default: {memory: 1Gi}', False),
    ('max: {cpu: "3"}, default: {cpu: "1"}', True), ('max: {cpu: "3"}', False)])
@pytest.mark.parametrize("own", [None, 2])
def test_a_request_above_the_limit_that_a_limit_range_gives_is_refused(limits, refused, own):
    """Not one with a limit of its own, unless that is above the maximum."""
    cpu = f'{{requests: {{cpu: "2"}}, limits: {{{f"cpu: {own}" if own else ""}}}}}'
    found = with_defaults(loads(eight("Job", cpu=cpu) + RANGE.replace("LIMITS", limits)))
    said = "".join(map(str, found.not_created.get("team/a", ())))
    above = ": LimitRange team/r gives a container the limit cpu 1, and the request is 2, so "
    assert (above in said) is (refused and not own and "default: {cpu: \"2\"}" not in limits)
    assert bool(said) is (('max: {cpu: "1"}' in limits) if own else refused)


@pytest.mark.long
def test_a_quota_counts_thousands_of_equal_pods_at_once(monkeypatch):
    sizes = []
    monkeypatch.setattr(quotas, "usage", lambda *args: sizes.append(1) or usage(*args))
    text = eight("Job").replace("parallelism: 8", "parallelism: 3000") + SMALL.replace("USED", "0")
    found = with_defaults(loads(text.replace('"5"', '"2000"')))
    assert sum(isinstance(obj, Pod) for obj in found) == 2000 and len(sizes) < 10


def test_a_quota_counts_what_a_limit_range_sets():
    cluster = eight("Job", cpu="{}") + SMALL.replace("USED", "0") + RANGE.replace(
        "LIMITS", 'defaultRequest: {cpu: "2"}')
    assert sum(isinstance(obj, Pod) for obj in with_defaults(loads(cluster))) == 2


@pytest.mark.parametrize(("first", "second", "requests", "limits"), [
    ('default: {cpu: "4"}', 'default: {memory: 2Gi}', {"cpu": "4", "memory": "2Gi"},
     {"cpu": "4", "memory": "2Gi"}),
    ('default: {cpu: "4"}', 'default: {cpu: "3"}, defaultRequest: {cpu: "1"}', {"cpu": "4"},
     {"cpu": "4"}),
    ('min: {cpu: "1"}', 'max: {cpu: "2"}', {"cpu": "1"}, {"cpu": "2"})])
def test_of_several_limit_ranges_each_sets_what_those_before_it_do_not(
        first, second, requests, limits):
    ranges = RANGE.replace("LIMITS", first) + RANGE.replace("LIMITS", second).replace(
        "name: r", "name: s")
    found = next(obj for obj in with_defaults(loads(eight("Job", cpu="{}") + ranges))
                 if isinstance(obj, Pod)).spec.containers[0].resources
    assert (found.requests, found.limits) == (requests, limits)


@pytest.mark.parametrize(("marks", "filled"), [
    ("metadata: {name: p}", True), ("metadata: {name: p, uid: u}", False),
    ('metadata: {name: p, resourceVersion: "1"}', False),
    ("metadata: {name: p}, status: {phase: Pending}", False),
    ("metadata: {name: p}, nodeName: n1", False)])
def test_a_limit_range_fills_in_only_pods_that_are_new(marks, filled):
    """And without a namespace it is one of the namespace `default`, as a pod is."""
    marks, _, name = marks.partition(", nodeName: ")
    found = pod_with_range(f"{{apiVersion: v1, kind: Pod, {marks}, spec: {{nodeName: '{name}', "
                           "containers: [{name: c, resources: {requests: {memory: 1Gi}}}]}}")
    assert found.spec.containers[0].resources.requests == {"memory": "1Gi"} | (
        {"cpu": "3", "ephemeral-storage": "1Gi"} if filled else {})
    assert found.metadata.annotations == ({
        "kubernetes.io/limit-ranger": "LimitRanger plugin set: cpu, ephemeral-storage request"}
        if filled else {})


def pod_with_range(text: str) -> Pod:
    """The pod of a text beside a LimitRange, neither of them with a namespace."""
    text += RANGE.replace(", namespace: team", "").replace(
        "LIMITS", 'defaultRequest: {memory: 2Gi, ephemeral-storage: 1Gi, cpu: "3"}')
    return only(text, Pod)


def test_what_a_limit_range_sets_is_noted_beside_the_other_annotations():
    found = pod_with_range("{apiVersion: v1, kind: Pod, metadata: {name: p, annotations: {a: b}}, "
                           "spec: {containers: [{name: c}]}}")
    assert found.metadata.annotations.pop("kubernetes.io/limit-ranger").endswith(
        "cpu, ephemeral-storage, memory request")
    assert found.metadata.annotations == {"a": "b"}


CLASSES = """
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: s, annotations: MARK},
 provisioner: x}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, annotations: NOTES}, spec: SPEC}
"""
DEFAULT = '{storageclass.kubernetes.io/is-default-class: "true"}'


@pytest.mark.parametrize(("mark", "notes", "spec", "name"), [
    (DEFAULT, "{}", "{}", "s"), (DEFAULT, "{}", "{storageClassName: t}", "t"),
    (DEFAULT, "{}", '{storageClassName: ""}', ""),
    (DEFAULT, "{volume.beta.kubernetes.io/storage-class: t}", "{}", None),
    ("{}", "{}", "{}", None), (DEFAULT.replace("true", "false"), "{}", "{}", None)])
def test_a_claim_without_a_class_gets_the_default_one(mark, notes, spec, name):
    text = CLASSES.replace("MARK", mark).replace("NOTES", notes).replace("SPEC", spec)
    assert only(text, PersistentVolumeClaim).spec.storage_class_name == name


@pytest.mark.parametrize("given", ["hierarchy: sci", "hierarchy-weights: 2/3"])
def test_a_part_of_a_hierarchy_stays_as_it_is(given):
    notes = f"{{volcano.sh/{given}, other: note}}"
    found = only("apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\n"
                 f"metadata: {{name: a, annotations: {notes}}}", Queue)
    name, text = given.split(": ")
    assert found.metadata.annotations == {f"volcano.sh/{name}": text, "other": "note"}
    both = only("apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: a, "
                "annotations: {volcano.sh/hierarchy: a, volcano.sh/hierarchy-weights: '2', "
                "other: note}}", Queue)
    assert both.metadata.annotations == {"volcano.sh/hierarchy": "root/a", "other": "note",
                                         "volcano.sh/hierarchy-weights": "1/2"}


@pytest.mark.parametrize(("status", "allocatable", "capacity"), [
    ('allocatable: {cpu: "3"}', {"cpu": "3"}, {"cpu": "3"}),
    ('capacity: {cpu: "4"}', {"cpu": "4"}, {"cpu": "4"}),
    ('allocatable: {cpu: "3"}, capacity: {cpu: "4"}', {"cpu": "3"}, {"cpu": "4"}), ("", {}, {})])
def test_of_a_nodes_capacity_and_allocatable_one_stands_for_the_other(
        status, allocatable, capacity):
    found = only(f"{{apiVersion: v1, kind: Node, metadata: {{name: n1}}, status: {{{status}}}}}\n",
                 Node).status
    assert (found.allocatable, found.capacity) == (allocatable, capacity)


def test_classes_that_pods_name_with_their_value_are_created_and_those_of_the_system_are_not():
    pods = "---\n".join(f"{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}, spec: "
                      f"{{priorityClassName: {name}, priority: {value}}}}}\n" for name, value in (
                          ("z", 3), ("system-node-critical", 2_000_001_000), ("a", 5)))
    found = with_defaults(loads(pods))
    assert [(obj.name, obj.value) for obj in found if obj.kind == "PriorityClass"] == [
        ("a", 5), ("z", 3)]
    (warning,) = [*map(str, found.warnings)]
    assert warning.startswith("PriorityClass a, z: not among the objects")


BUDGETS = ("volcano.sh/jdb-min-available", "volcano.sh/jdb-max-unavailable")


@pytest.mark.parametrize(("ours", "theirs", "found"), [
    ({}, {}, "volcano high"), ({"schedulerName": "mine"}, {}, "mine high"),
    ({"priorityClassName": "low"}, {}, "volcano low"),
    ({"schedulerName": "mine", "priorityClassName": "low"}, {"schedulerName": "other"}, "mine low"),
    ({}, {"schedulerName": "other"}, "other high"), ({}, {"priorityClassName": ""}, "volcano ")])
def test_what_a_template_names_goes_before_what_its_job_names(ours, theirs, found):
    task = task_of("a", 1)
    del task["template"]["spec"]["priorityClassName"]
    task["template"]["spec"] |= ours
    _, (created,) = job([task], **{"priorityClassName": "high"} | theirs)
    assert f"{created.spec.scheduler_name} {created.spec.priority_class_name}" == found


@pytest.mark.parametrize(("notes", "inherited"), [
    ({}, {}), ({BUDGETS[0]: "1"}, {BUDGETS[0]: "1"}), ({BUDGETS[1]: "2"}, {BUDGETS[1]: "2"}),
    ({BUDGETS[0]: "1", BUDGETS[1]: "2"}, {BUDGETS[0]: "1"}),
    ({"volcano.sh/cooldown-time": "1m", "volcano.sh/revocable-zone": "*", "other": "x"},
     {"volcano.sh/cooldown-time": "1m", "volcano.sh/revocable-zone": "*"})])
def test_a_pod_has_its_jobs_annotations_that_the_scheduler_reads_and_one_budget(notes, inherited):
    assert inherited_annotations(notes) == inherited


def test_each_pod_has_its_number_in_a_label_and_an_annotation():
    _, pods = job([("a", 3)])
    for number, each in enumerate(pods):
        assert each.metadata.annotations["volcano.sh/task-index"] == str(number)
        assert each.metadata.labels["volcano.sh/task-index"] == str(number)


@pytest.mark.parametrize(("size", "partitions"), [
    (1, "012"), (2, "001"), (3, "000"), (None, "000")])
def test_a_pod_is_in_the_partition_of_its_number(size, partitions):
    policy = {"totalPartitions": 3, "minPartitions": 1} | ({"partitionSize": size} if size else {})
    _, pods = job([task_of("a", 3, 3, partitionPolicy=policy)])
    assert "".join(each.metadata.labels["volcano.sh/partition-id"] for each in pods) == partitions


def test_claims_of_a_job_are_volumes_of_its_pods_those_without_a_name_with_one_of_their_own():
    _, (created,) = job([("a", 1)], volumes=[
        {"mountPath": "/a", "volumeClaimName": "data"}, {"mountPath": "/b", "volumeClaim": {}},
        {"mountPath": "/c", "volumeClaimName": "data"}])
    assert created.spec.volumes == [
        {"name": "j-data", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "j-j-volume-1", "persistentVolumeClaim": {"claimName": "j-volume-1"}}]


CLAIMING = {"StatefulSet": """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: team}
spec:
  replicas: 2
  volumeClaimTemplates: [{metadata: {name: data, labels: {app: db}}}, {metadata: {name: log}}]
  template: {spec: {schedulerName: volcano, containers: [{name: c}], volumes: [
    {name: data, emptyDir: {}}, {name: tmp, emptyDir: {}}]}}
""", "Job": """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: db, namespace: team}
spec:
  volumes: [{mountPath: /a, volumeClaim: {storageClassName: s}},
            {mountPath: /b, volumeClaimName: there}]
  tasks: [{name: w, replicas: 2, template: {spec: {containers: [{name: c}]}}}]
""", "Pod": """
apiVersion: v1
kind: Pod
metadata: {name: db, namespace: team}
spec: {schedulerName: volcano, containers: [{name: c}], volumes: [
  {name: scratch, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: s}}}},
  {name: half, ephemeral: {}}]}
"""}
STORAGE = """
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: s}, provisioner: x}
"""


@pytest.mark.parametrize(("kind", "names", "owner"), [
    ("StatefulSet", ["data-db-0", "log-db-0", "data-db-1", "log-db-1"], ""),
    ("Job", ["db-volume-0"], "Job"), ("Pod", ["db-scratch"], "Pod")])
def test_claims_are_created_with_new_pods_where_claims_decide(kind, names, owner):
    objects = with_defaults(loads(CLAIMING[kind] + STORAGE))
    claims = [obj for obj in objects if isinstance(obj, PersistentVolumeClaim)]
    pods = [obj for obj in objects if isinstance(obj, Pod)]
    assert [claim.key for claim in claims] == [f"team/{name}" for name in names]
    assert [ref.kind for ref in claims[0].metadata.owner_references] == [owner] * bool(owner)
    claimed = {claim.name for pod in pods for claim in claims_of(pod)} - {"there", "db-half"}
    assert claimed == {*names}  # a pod's volumes are these
    again = with_defaults(objects)
    assert [obj.key for obj in again if isinstance(obj, PersistentVolumeClaim)] == [
        claim.key for claim in claims]
    without = with_defaults(loads(CLAIMING[kind]))
    assert not any(isinstance(obj, PersistentVolumeClaim) for obj in without)


@pytest.mark.parametrize("there", ["metadata: {uid: u, ", "metadata: {resourceVersion: '7', ",
                                   "status: {phase: Pending}\nmetadata: {"])
def test_no_claim_is_created_for_a_pod_that_an_api_server_has_admitted(there):
    text = CLAIMING["Pod"].replace("metadata: {name: db", f"{there}name: db")
    objects = with_defaults(loads(text + STORAGE))
    assert not any(isinstance(obj, PersistentVolumeClaim) for obj in objects)


def test_a_template_of_a_claim_that_is_wrong_is_refused_with_its_name():
    text = CLAIMING["Pod"].replace("{storageClassName: s}", "7")
    with pytest.raises(ManifestError, match=re.escape(
            "Pod team/db: spec.volumes[0].ephemeral.volumeClaimTemplate.spec is 7; allowed is")):
        with_defaults(loads(text + STORAGE))


@pytest.mark.parametrize(("depends", "ready", "waits"), [
    ({"name": ["a"]}, {}, ["a"]), ({"name": ["a"]}, {"a": 1}, ["a"]),
    ({"name": ["a"]}, {"a": 2}, None),
    ({"name": ["a", "b"]}, {"a": 2}, ["b"]), ({"name": ["a", "b"]}, {"a": 2, "b": 1}, None),
    ({"name": ["a", "b"], "iteration": "any"}, {"b": 1}, None),
    ({"name": ["a", "b"], "iteration": "any"}, {"a": 1}, ["a", "b"]),
    ({"name": ["a"], "iteration": "any"}, {}, ["a"]), ({"name": [], "iteration": "any"}, {}, None),
    ({"name": ["none"]}, {"none": 9}, ["none"])])
def test_a_task_waits_until_those_before_it_have_their_minimums(depends, ready, waits):
    tasks = [task_of("a", 3, 2), task_of("b", 1), task_of("c", 1, dependsOn=depends)]
    given = from_dict({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
                       "metadata": {"name": "j"}, "spec": {"tasks": tasks}})
    assert waiting_tasks(given, ready) == ({} if waits is None else {"c": waits})


@pytest.mark.parametrize(("name", "counted"), [
    ("cpu", True), ("memory", True), ("ephemeral-storage", True), ("hugepages-2Mi", True),
    ("nvidia.com/gpu", True), ("kubernetes.io/odd", False), ("x.kubernetes.io/odd", False),
    ("widgets", False)])
def test_which_requests_and_limits_a_quota_counts(name, counted):
    container = Container(resources=ResourceRequirements({name: "3"}, {name: "4"}))
    found = usage(PodSpec(containers=[container]), {})
    assert found.keys() == {"pods", "count/pods"} | (
        {name, f"requests.{name}"} if counted else set()) | (
        {f"limits.{name}"} if name in ("cpu", "memory", "ephemeral-storage") else set())


def test_the_gang_needs_nothing_of_the_tasks_that_are_beyond_its_minimum():
    gpu = task_of("b", 1)
    gpu["template"]["spec"]["containers"][0]["resources"]["requests"]["nvidia.com/gpu"] = "1"
    group, _ = job([("a", 2), gpu], minAvailable=2)
    assert group.spec.min_resources == {"count/pods": "2", "pods": "2", "cpu": "2",
                                        "requests.cpu": "2"}


@pytest.mark.parametrize(("used", "before", "counted", "enough"), [
    ({}, 0, "0", "6"), ({"cpu": "4"}, 0, "4", "10"), ({"cpu": "500m"}, 2, "2500m", "8500m")])
def test_a_quota_that_is_too_small_is_named_with_its_sums(used, before, counted, enough):
    """`enough` is what it takes for all the pods beside those that are there."""
    _, pods = job([("a", 3, None, "2")])
    quota = from_dict({
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "team"},
        "status": {"hard": {"cpu": "1"}, "used": used}})
    why = Quotas([quota], lambda pod: pod).refusal(
        pods, {quota.key: {"cpu": Fraction(before)}})
    (sums,) = why.facts["sums"]
    assert (sums.facts["used"], sums.facts["asked"], sums.facts["hard"]) == (counted, "2", "1")
    assert why.facts["enough"] == [f"cpu {enough}"]


@pytest.mark.parametrize("named", [0, 1, 2])
def test_every_container_has_to_name_what_a_quota_counts(named):
    task = task_of("a", 1)
    task["template"]["spec"]["containers"] = [
        {"name": f"c{number}", "resources": {"requests": {"cpu": "1"} if number < named else {}}}
        for number in range(2)]
    quota = from_dict({
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "team"},
        "status": {"hard": {"cpu": "9"}, "used": {}}})
    assert (Quotas([quota], lambda pod: pod).refusal(
        job([task])[1], {}) is None) == (named == 2)


def test_what_created_pods_request_in_vain_is_one_warning_of_their_owner():
    spec = ("{schedulerName: volcano, containers: [], resourceClaims: [{name: gpu}], volumes: "
            "[{name: data, persistentVolumeClaim: {claimName: d}}]}")
    job = ("{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: a}, spec: {"
           f"schedulerName: volcano, tasks: [{{name: w, replicas: 3, template: {{spec: {spec}}}}}]"
           "}}")
    web = ("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2, "
           f"template: {{spec: {spec}}}}}}}")
    claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: d}}"
    said = [*map(str, with_defaults(loads(f"{job}\n---\n{web}")).warnings)]
    assert [each.partition(":")[0] for each in said] == [
        "Job default/a (text, document 1)"] * 2 + ["Deployment default/web (text, document 2)"] * 2
    assert "spec.resourceClaims names gpu" in said[0]
    assert "its claims to volumes do not decide" in said[1]
    known = [*map(str, with_defaults(loads("\n---\n".join((job, web, claim)))).warnings)]
    assert [each for each in said if each not in known] == said[1::2]  # those to volumes


FAILED, EVICTED, ANY = ({"event": event, "action": action} for event, action in (
    ("PodFailed", "RestartTask"), ("PodEvicted", "AbortJob"), ("*", "CompleteJob")))
LATE = {"event": "PodPending", "action": "RestartJob", "timeout": "5m"}


@pytest.mark.parametrize(("of_task", "of_job", "event", "action"), [
    ([], [], "PodFailed", None), ([EVICTED], [], "PodFailed", None),
    ([FAILED], [], "PodFailed", "RestartTask"), ([], [FAILED], "PodFailed", "RestartTask"),
    ([FAILED], [ANY], "PodFailed", "RestartTask"), ([ANY], [FAILED], "PodFailed", "CompleteJob"),
    ([EVICTED], [FAILED], "PodFailed", "RestartTask"),
    ([FAILED, ANY], [], "PodFailed", "RestartTask"),
    ([ANY, FAILED], [], "PodFailed", "CompleteJob"),
    ([], [{"events": ["PodUnknown", "PodFailed"], "action": "AbortJob"}], "PodFailed", "AbortJob"),
    ([ANY], [LATE], "PodPending", "RestartJob"), ([ANY], [], "PodPending", None)])
def test_the_policy_of_a_task_acts_before_that_of_its_job(of_task, of_job, event, action):
    job = from_dict({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
                     "metadata": {"name": "j"}, "spec": {
                         "tasks": [task_of("a", 1, policies=of_task)], "policies": of_job}})
    found = policy_for(job, job.spec.tasks[0], event)
    assert (found and found.action) == action


@pytest.mark.parametrize(("phase", "then"), [
    ("Running", "Running"), ("Succeeded", "Running"), ("Failed", "Pending"), ("", "Pending")])
def test_a_new_pod_group_of_pods_that_run_is_running(phase, then):
    node = "nodeName: n1, " if phase else ""
    (group,) = [obj for obj in with_defaults(loads(
        "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {schedulerName: volcano, "
        f"{node}containers: [{{name: c}}]}}, status: {{phase: {phase or 'Pending'}}}}}"))
        if obj.kind == "PodGroup"]
    assert group.status.phase == then
