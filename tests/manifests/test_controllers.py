"""What Volcano's and Kubernetes' controllers would make of manifests is made, and nothing twice."""

from itertools import islice

import attrs
import pytest
import yaml

from manifests.hostile import soon
from volcano_lab.api.node_affinity import required_node_affinity
from volcano_lab.api.objects import (
    BatchJob,
    ObjectMeta,
    OwnerReference,
    Pod,
    PodGroup,
    PodSpec,
    ResourceQuota,
    ResourceQuotaStatus,
    WorkloadSpec,
)
from volcano_lab.cache import Cache
from volcano_lab.cache.api_server import ApiServer
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.loader import ManifestError, from_dict, loads
from volcano_lab.manifests.names import generated, series
from volcano_lab.manifests.pod_group_controller import PodGroups
from volcano_lab.manifests.quotas import released
from volcano_lab.manifests.workloads import MOST_PODS, pods_of, too_large
from volcano_lab.scheduler import run_cycle
from volcano_lab.server.folder import Folder

NODES = "\n---\n".join(
    f"{{apiVersion: v1, kind: Node, metadata: {{name: n{number}, labels: {{zone: z{number}}}}}, "
    "status: {allocatable: {cpu: 8, memory: 8Gi, pods: 20}}}" for number in (1, 2))
CONTAINERS = [{"name": "c", "resources": {"requests": {"cpu": "500m", "memory": "1Gi"},
                                          "limits": {"memory": "2Gi"}}}]
VERSIONS = {"Job": "batch/v1", "Pod": "v1", "Namespace": "v1"}


def workload(kind, name="web", annotations=None, pod=None, template=None, **spec):
    """A workload of Volcano's scheduler; `pod` changes the spec of its pods."""
    pod_spec = {"schedulerName": "volcano", "containers": CONTAINERS} | (pod or {})
    metadata = {"name": name, "annotations": annotations or {}}
    body = pod_spec if kind == "Pod" else spec | {
        "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": {"app": name}} | (template or {}), "spec": pod_spec}}
    return {"apiVersion": VERSIONS.get(kind, "apps/v1"), "kind": kind, "metadata": metadata,
            "spec": body}


def made(*documents):
    """PodGroups and pods, and what is said, after the controllers."""
    complete = with_defaults(loads(NODES + "\n---\n" + yaml.safe_dump_all(documents)))
    groups = [obj for obj in complete if isinstance(obj, PodGroup)]
    return groups, [obj for obj in complete if isinstance(obj, Pod)], [*map(str, complete.warnings)]


MADE = [
    # (workload, names of its pods, its PodGroup's name)
    ("a bare pod", workload("Pod"), ["web"], "podgroup-pod-default-web"),
    ("a Deployment", workload("Deployment", replicas=2), ["web-HASH-", "web-HASH-"],
     "podgroup-deployment-default-web-HASH"),
    ("one pod where replicas is not set", workload("Deployment"), ["web-HASH-"],
     "podgroup-deployment-default-web-HASH"),
    ("a ReplicaSet", workload("ReplicaSet", replicas=2), ["web-", "web-"],
     "podgroup-replicaset-default-web"),
    ("a StatefulSet", workload("StatefulSet", replicas=3), ["web-0", "web-1", "web-2"],
     "podgroup-statefulset-default-web"),
    ("a DaemonSet: a pod a node", workload("DaemonSet"), ["web-", "web-"],
     "podgroup-daemonset-default-web"),
    ("a DaemonSet on some nodes", workload("DaemonSet", pod={"nodeSelector": {"zone": "z2"}}),
     ["web-"], "podgroup-daemonset-default-web"),
    ("a Job: as many as run at a time", workload("Job", parallelism=2, completions=5),
     ["web-", "web-"], "podgroup-job-default-web"),
    ("a Job with few left", workload("Job", parallelism=5, completions=1), ["web-"],
     "podgroup-job-default-web"),
    ("a suspended Job", workload("Job", suspend=True), [], None),
    ("none", workload("Deployment", replicas=0), [], None),
]


@pytest.mark.parametrize(("document", "names", "group"), [case[1:] for case in MADE],
                         ids=[case[0] for case in MADE])
def test_workloads_of_volcanos_scheduler_become_pods_in_one_podgroup(document, names, group):
    groups, pods, shown = made(document)
    digest = pods[0].metadata.labels.get("pod-template-hash", "") if pods else ""
    assert len(pods) == len(names) and shown == document["spec"].get("suspend", False) * [
        "Job default/web (text, document 3): spec.suspend is true, so that no pods are "
        "created for it."]
    for pod, name in zip(pods, names, strict=True):
        expected = name.replace("HASH", digest)
        assert pod.name == expected if not name.endswith("-") else pod.name.startswith(expected)
        assert pod.metadata.annotations["scheduling.k8s.io/group-name"] == groups[0].name
    assert [found.name for found in groups] == ([group.replace("HASH", digest)] if group else [])
    assert len({pod.name for pod in pods}) == len({pod.metadata.uid for pod in pods}) == len(pods)


def test_what_is_created_is_placed():
    documents = [workload(kind, kind.lower(), replicas=2, parallelism=2) for kind in
                 ("Deployment", "ReplicaSet", "StatefulSet", "Job", "Pod")]
    complete = with_defaults(loads(NODES + "\n---\n" + yaml.safe_dump_all(documents)))
    cycle = run_cycle(Cache(complete))
    assert len(cycle.committed) == 9 and cycle.session.snapshot.left_out == []


def test_a_stateful_set_numbers_its_pods_from_0():
    complete = with_defaults(loads(yaml.safe_dump(workload("StatefulSet", "db", replicas=2))))
    labels = {obj.name: obj.metadata.labels for obj in complete if obj.kind == "Pod"}
    for number in range(2):
        found = labels[f"db-{number}"]
        assert found["apps.kubernetes.io/pod-index"] == str(number)
        assert found["statefulset.kubernetes.io/pod-name"] == f"db-{number}"


@pytest.mark.parametrize("namespace", ["default", "other"])
@pytest.mark.parametrize(("phase", "counts"), [
    ("Pending", True), ("Running", True), ("Unknown", True), ("Succeeded", False),
    ("Failed", False)])
def test_a_quota_counts_of_a_removed_pod_what_it_has_counted(phase, counts, namespace):
    """Kubernetes counts a pod that has ended for count/pods only."""
    used = {"pods": "5", "count/pods": "5", "requests.cpu": "2500m", "limits.memory": "10Gi",
            "services": "1"}
    quota = ResourceQuota(ObjectMeta("q", "default"), status=ResourceQuotaStatus({}, used))
    pod = from_dict(workload("Pod")).changed(metadata={"namespace": namespace},
                                             status={"phase": phase})
    size = {"pods": "4", "requests.cpu": "2", "limits.memory": "8Gi"} if counts else {}
    expected = used | size | {"count/pods": "4"} if namespace == "default" else used
    assert released(quota, [pod]).status.used == expected
    less = dict.fromkeys(used, "0") | {"requests.cpu": "300m"}  # counted before the pod was there
    none = dict.fromkeys(used, "0") if counts and namespace == "default" else less
    assert released(quota.changed(status={"used": less}), [pod]).status.used == none


def test_pods_are_counted_up_to_a_bound_and_those_of_a_refused_object_are_not():
    def refused(*counts):
        numbers = {f"j{number}": count for number, count in enumerate(counts)}
        found = too_large([BatchJob(ObjectMeta(name)) for name in numbers],
                          lambda job: numbers[job.name], lambda job: job.name)
        return [each.facts["place"] for each in found]

    assert refused(MOST_PODS) == refused(MOST_PODS - 1, 1) == []
    assert refused(MOST_PODS + 1) == ["j0"] and refused(1, MOST_PODS, 1) == ["j1"]


@pytest.mark.parametrize(("space", "count"), [("default", 2), ("other", 0), (None, 0)])
def test_an_admitted_job_without_pods_gets_them_where_a_quota_has_refused_them(space, count):
    job = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {
        "name": "j", "uid": "u"}, "spec": {"tasks": [{"name": "w", "replicas": 2, "template": {
            "spec": {"containers": CONTAINERS}}}]}}
    (group,) = (obj for obj in with_defaults(loads(yaml.safe_dump(job))) if obj.kind == "PodGroup")
    quota = [ResourceQuota(ObjectMeta("q", space), status=ResourceQuotaStatus({"pods": "9"}))]
    complete = with_defaults([from_dict(job), group.changed(status={"phase": "Inqueue"}),
                              *quota[:space is not None]])
    assert sum(obj.kind == "Pod" for obj in complete) == count


REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
LABELLED = {"key": "zone", "operator": "In", "values": ["z2"]}
NAMED = {"key": "metadata.name", "operator": "In", "values": ["n1"]}


@pytest.mark.parametrize("terms", [
    None, [], [{}], [{"matchExpressions": [LABELLED]}], [{"matchFields": [NAMED]}],
    [{"matchExpressions": [LABELLED], "matchFields": [NAMED]}],
    [{"matchExpressions": [LABELLED]}, {"matchFields": [NAMED]}],
    [{"matchExpressions": [LABELLED | {"operator": "NotIn"}]}],
    [{"matchExpressions": [{"key": "zone", "operator": "DoesNotExist"}]}]])
def test_a_daemon_has_pods_on_the_nodes_that_a_pod_of_its_template_may_use(terms):
    affinity = {} if terms is None else {"affinity": {"nodeAffinity": {REQUIRED: {
        "nodeSelectorTerms": terms}}}}
    daemon = workload("DaemonSet", pod=affinity)
    complete = with_defaults(loads(NODES + "\n---\n" + yaml.safe_dump(daemon)))
    template = from_dict(workload("Pod", pod=affinity))
    allowed = [obj.name for obj in complete if obj.kind == "Node"
               and required_node_affinity(template).matches(obj)]
    assert sorted(run[2] for run in run_cycle(Cache(complete)).committed) == allowed


def test_a_daemons_pod_is_bound_to_its_node():
    complete = with_defaults(loads(NODES + "\n---\n" + yaml.safe_dump(workload("DaemonSet"))))
    assert sorted(node for _, _, node, *_ in run_cycle(Cache(complete)).committed) == ["n1", "n2"]


@pytest.mark.parametrize(("what", "effect"), [
    ("not-ready", "NoExecute"), ("unreachable", "NoExecute"), ("disk-pressure", "NoSchedule"),
    ("memory-pressure", "NoSchedule"), ("pid-pressure", "NoSchedule"),
    ("unschedulable", "NoSchedule")])
def test_a_daemons_pod_is_bound_whatever_state_of_its_node_a_taint_says(what, effect):
    node = yaml.safe_load(NODES.partition("---")[0])
    node["spec"] = {"taints": [{"key": f"node.kubernetes.io/{what}", "effect": effect}],
                    "unschedulable": what == "unschedulable"}
    complete = with_defaults(loads(yaml.safe_dump_all([node, workload("DaemonSet")])))
    assert [where for _, _, where, *_ in run_cycle(Cache(complete)).committed] == ["n1"]


@pytest.mark.parametrize(("tolerates", "count"), [
    ({"key": "gpu", "effect": "NoExecute"}, 2), ({"key": "gpu", "effect": "NoSchedule"}, 3),
    ({"key": "gpu"}, 3), ({"key": "disk"}, 2), ({"effect": "NoSchedule"}, 3), ({}, 3),
    ({"key": "gpu", "operator": "Equal", "value": "yes"}, 3),
    ({"key": "gpu", "operator": "Equal", "value": "no"}, 2)])
def test_a_daemon_has_a_pod_on_a_node_whose_taint_it_tolerates(tolerates, count):
    tainted = yaml.safe_load(NODES.partition("---")[0])
    tainted["metadata"]["name"] = "n3"
    tainted["spec"] = {"taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]}
    daemon = workload("DaemonSet", pod={"tolerations": [{"operator": "Exists"} | tolerates]})
    assert len(made(tainted, daemon)[1]) == count


GROUPS = [
    # (annotations of owner, change of the template, PodGroup's fields)
    ("alone", {}, {}, {"min_member": 1, "queue": "default"}),
    ("least members of the owner", {"scheduling.volcano.sh/group-min-member": "3"}, {},
     {"min_member": 3}),
    ("a number that is none", {"scheduling.volcano.sh/group-min-member": "three"}, {},
     {"min_member": 1}),
    ("below none", {"scheduling.volcano.sh/group-min-member": "-1"}, {}, {"min_member": 1}),
    ("none at all", {"scheduling.volcano.sh/group-min-member": "0"}, {},
     {"min_member": 0, "min_resources": {}}),
    ("above 32 bits", {"scheduling.volcano.sh/group-min-member": str(2**31)}, {},
     {"min_member": 1}),
    ("the queue of the pod", {"scheduling.volcano.sh/queue-name": "owners"},
     {"annotations": {"scheduling.volcano.sh/queue-name": "pods"}}, {"queue": "pods"}),
    ("not the owner's queue", {"scheduling.volcano.sh/queue-name": "owners"}, {},
     {"queue": "default"}),
    ("a topology", {}, {"annotations": {"volcano.sh/network-topology-mode": "Soft",
                                        "volcano.sh/network-topology-highest-tier": "2"}},
     {"network_topology.mode": "soft", "network_topology.highest_tier_allowed": 2}),
    ("a tier alone is hard", {}, {"annotations": {"volcano.sh/network-topology-highest-tier": "x"}},
     {"network_topology.mode": "hard", "network_topology.highest_tier_allowed": None}),
]


@pytest.mark.parametrize(("owner", "template", "fields"), [case[1:] for case in GROUPS],
                         ids=[case[0] for case in GROUPS])
@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_the_podgroup_says(kind, owner, template, fields):
    (group,), _, _ = made(workload(kind, annotations=owner, template=template, replicas=3))
    for path, expected in fields.items():
        found = group.spec
        for name in path.split("."):
            found = getattr(found, name)
        assert found == expected, path


@pytest.mark.parametrize(("owners", "group"), [
    ("parent*", "podgroup-parent"), ("other parent*", "podgroup-parent"),
    ("parent* other", "podgroup-parent"), ("other", "podgroup-u"), ("", "podgroup-u")])
def test_pods_share_the_podgroup_of_the_owner_that_controls_them(owners, group):
    pod = workload("Pod")
    pod["metadata"] |= {"uid": "u", "ownerReferences": [
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name.strip("*"),
         "uid": name.strip("*"), "controller": name.endswith("*")} for name in owners.split()]}
    (found,), _, _ = made(pod)
    assert found.name == group


def test_the_podgroup_needs_what_its_minimum_of_pods_needs():
    annotations = {"scheduling.volcano.sh/group-min-member": "3"}
    (group,), _, _ = made(workload("Deployment", annotations=annotations, replicas=4))
    assert group.spec.min_resources == {
        "count/pods": "3", "pods": "3", "cpu": "1500m", "requests.cpu": "1500m", "memory": "3Gi",
        "requests.memory": "3Gi", "limits.memory": "6Gi"}


def test_annotations_of_owner_and_pod_reach_the_podgroup():
    owner = {"volcano.sh/preemptable": "true", "volcano.sh/sla-waiting-time": "1h", "other": "x"}
    template = {"annotations": {"volcano.sh/preemptable": "false",
                                "volcano.sh/revocable-zone": "z"},
                "labels": {"volcano.sh/cooldown-time": "10m", "app": "web"}}
    (group,), _, _ = made(workload("Deployment", annotations=owner, template=template))
    assert group.metadata.annotations == {"volcano.sh/preemptable": "false",
                                          "volcano.sh/sla-waiting-time": "1h",
                                          "volcano.sh/revocable-zone": "z"}
    assert group.metadata.labels == {"volcano.sh/cooldown-time": "10m"}


BY_JOB = {"labels": ["preemptable", "cooldown-time"], "annotations": [
    "preemptable", "cooldown-time", "revocable-zone", "jdb-min-available"]}
BY_CONTROLLER = {"labels": ["task-spec", "job-name", "queue-name", "job-namespace", "task-index"],
                 "annotations": ["task-spec", "job-name", "queue-name", "job-version",
                                 "template-uid", "task-index"]}


@pytest.mark.parametrize("says", [False, True])
@pytest.mark.parametrize("part", ["labels", "annotations"])
def test_a_pods_template_gives_way_to_its_job_and_both_to_the_controller(part, says):
    """What only the template says stays."""
    keys = [f"volcano.sh/{key}" for key in (*BY_JOB[part], *BY_CONTROLLER[part])]
    document = job(("w", 1, {}))
    document["spec"]["tasks"][0]["template"]["metadata"] = {
        part: dict.fromkeys([*keys, "own"], "template")}
    document["metadata"][part] = dict.fromkeys([*keys, "other"] if says else ["other"], "job")
    _, (created,), _ = made(document)
    found = getattr(created.metadata, part)
    assert found["own"] == "template" and "other" not in found
    for key in BY_JOB[part]:
        assert found[f"volcano.sh/{key}"] == ("job" if says else "template"), key
    for key in BY_CONTROLLER[part]:
        assert found[f"volcano.sh/{key}"] not in ("job", "template"), key


def test_of_several_owners_with_an_annotation_the_first_counts():
    names = {"one": "1h", "two": "2h"}
    owners = {("default", "ReplicaSet", name): {"volcano.sh/sla-waiting-time": time}
              for name, time in names.items()}
    references = [OwnerReference("apps/v1", "ReplicaSet", name, f"uid-{name}") for name in names]
    pod = Pod(ObjectMeta("web", "default", "u", owner_references=references))
    pod.spec.scheduler_name = "volcano"
    group, _ = PodGroups(owners).adopt(pod)
    assert group.metadata.annotations == {"volcano.sh/sla-waiting-time": "1h"}


OWNED = {
    # references of a pod (* controls it) -> owners of its PodGroup
    "": "Pod/web*", "set": "Pod/web*", "set*": "ReplicaSet/set*",
    "other set*": "ReplicaSet/other, ReplicaSet/set*"}


@pytest.mark.parametrize("names", OWNED)
def test_a_podgroup_has_the_owners_of_its_pod_or_else_the_pod(names):
    """With one that controls the pod all of its owners, which delete both with themselves."""
    references = [OwnerReference("apps/v1", "ReplicaSet", name.strip("*"), f"uid-{name}",
                                 name.endswith("*"), name.endswith("*")) for name in names.split()]
    group, _ = PodGroups({}).adopt(Pod(ObjectMeta("web", "team", "u", owner_references=references),
                                       PodSpec(scheduler_name="volcano")))
    assert ", ".join(f"{ref.kind}/{ref.name}{'*' * ref.controller}"
                     for ref in group.metadata.owner_references) == OWNED[names]
    found = group.metadata.owner_references
    assert all(ref.controller == ref.block_owner_deletion for ref in found)
    assert (found == references) == ("*" in names)


@pytest.mark.parametrize(("mode", "tier", "expected"), [
    (None, None, None), ("soft", None, ("soft", None)), ("SOFT", "2", ("soft", 2)),
    ("hard", None, ("hard", None)), ("firm", "1", ("hard", 1)), ("", None, ("hard", None)),
    (None, "0", ("hard", 0)), (None, "", ("hard", None)), ("soft", "-1", ("soft", -1))])
def test_the_topology_of_a_pods_annotations(mode, tier, expected):
    """Either annotation is enough; an unknown mode is hard, a tier that is no number is none."""
    given = {"volcano.sh/network-topology-mode": mode,
             "volcano.sh/network-topology-highest-tier": tier}
    pod = Pod(ObjectMeta("web", "team", "u", annotations={
        key: text for key, text in given.items() if text is not None}),
        PodSpec(scheduler_name="volcano"))
    found = PodGroups({}).adopt(pod)[0].spec.network_topology
    assert (found and (found.mode, found.highest_tier_allowed)) == expected


@pytest.mark.parametrize(("scheduler", "named", "existing", "created", "name"), [
    ("volcano", "", (), True, "podgroup-u"), ("volcano", "", ("team/podgroup-u",), False,
                                              "podgroup-u"),
    ("volcano", "", ("other/podgroup-u",), True, "podgroup-u"),
    ("volcano", "mine", (), False, "mine"), ("other", "", (), False, None)])
def test_a_podgroup_is_created_once_for_pods_without_one(scheduler, named, existing, created,
                                                         name):
    key = "scheduling.k8s.io/group-name"
    pod = Pod(ObjectMeta("web", "team", "u", annotations={key: named} if named else {}),
              PodSpec(scheduler_name=scheduler))
    controller = PodGroups({}, set(existing))
    group, adopted = controller.adopt(pod)
    assert (group is not None) is created and adopted.metadata.annotations.get(key) == name
    assert controller.adopt(pod) == (None, adopted)


def test_a_namespace_names_the_queue_of_its_new_podgroups():
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {
        "name": "default", "annotations": {"scheduling.volcano.sh/queue-name": "team"}}}
    (group,), _, _ = made(space, workload("Pod"))
    assert group.spec.queue == "team"
    (group,), _, _ = made(space, workload("Pod", annotations={
        "scheduling.volcano.sh/queue-name": "own"}))
    assert group.spec.queue == "own"


@pytest.mark.parametrize("namespace", ["", "team"])
@pytest.mark.parametrize("named", ["", "default", "own"])
@pytest.mark.parametrize("phase", ["", "Pending", "Running"])
def test_the_queue_of_a_podgroup(namespace, named, phase):
    """The CRD's default is `default`; for a new PodGroup in that one, named or not, the webhook
    takes the namespace's.
    """
    notes = {"scheduling.volcano.sh/queue-name": namespace} if namespace else {}
    space = {"apiVersion": "v1", "kind": "Namespace",
             "metadata": {"name": "default", "annotations": notes}}
    (group,), _, _ = made(space, {
        "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
        "metadata": {"name": "there"}, "spec": {"queue": named} if named else {},
        "status": {"phase": phase}})
    queue = named or "default"
    assert group.spec.queue == (namespace if namespace and queue == "default" and not phase
                                else queue)


def test_children_among_the_objects_are_not_created_again():
    _, pods, _ = made(workload("Deployment", replicas=2))
    assert len(pods) == 2
    deployment = workload("Deployment", replicas=2)
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "d",
             "controller": True}
    replica_set = workload("ReplicaSet", "web-1", replicas=2)
    replica_set["metadata"] |= {"ownerReferences": [owner], "uid": "r"}
    _, found, _ = made(deployment, replica_set)
    assert len(found) == 2 and {pod.metadata.owner_references[0].name for pod in found} == {"web-1"}
    child = workload("Pod", "web-1-abcde")
    child["metadata"] |= {
        "ownerReferences": [owner | {"kind": "ReplicaSet", "name": "web-1", "uid": "r"}]}
    (group,), found, _ = made(deployment, replica_set, child)
    assert [pod.name for pod in found] == ["web-1-abcde"] and group.name == "podgroup-r"


@pytest.mark.parametrize(("owner", "reference", "children"), [
    ("d", "d", 1), ("d", "", 1), ("", "d", 1), ("", "", 1), ("d", "of-an-earlier-one", 3)])
def test_a_child_is_found_by_its_owners_name_and_by_uids_where_both_have_one(owner, reference,
                                                                              children):
    replica_set, pod = workload("ReplicaSet", replicas=2), workload("Pod", "web-abcde")
    replica_set["metadata"] |= {"uid": owner} if owner else {}
    pod["metadata"]["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name":
                                           "web", "controller": True, "uid": reference}]
    assert len(made(replica_set, pod)[1]) == children


def test_pods_of_other_schedulers_are_not_created_and_count_where_they_run():
    groups, pods, shown = made(workload("Deployment", pod={"schedulerName": "mine"}, replicas=2))
    assert (groups, pods) == ([], []) and shown == [
        "Deployment default/web (text, document 3): its pods are for another scheduler, mine, and "
        "are not created."]
    running = workload("Pod", "other", pod={"schedulerName": "default-scheduler", "nodeName": "n1"})
    running["status"] = {"phase": "Running"}
    cache = Cache(with_defaults(loads(NODES + "\n---\n" + yaml.safe_dump(running))))
    assert cache.nodes["n1"].used.milli_cpu == 500 and not cache.jobs


def test_what_makes_jobs_later_is_reported():
    loaded = loads("{apiVersion: ray.io/v1, kind: RayCronJob, metadata: {name: c}}\n"
                   "---\n"
                   "{apiVersion: ray.io/v1, kind: RayCronJob, metadata: {name: d}}")
    assert [*map(str, loaded.warnings)] == [
        "RayCronJob c (text, document 1) and 1 more: kind RayCronJob is not modelled by the "
        "lab (objects by a schedule; give one of those that it creates) and has no effect"]


# -- priority classes and dependencies of Volcano Jobs ---------------------------------------------


def job(*tasks, **spec):
    """A Volcano Job; a task is (name, replicas, more)."""
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
            "metadata": {"name": "train"}, "spec": spec | {"tasks": [
                {"name": name, "replicas": replicas, "template": {"spec": {
                    "containers": CONTAINERS, **more.pop("spec", {})}}, **more}
                for name, replicas, more in tasks]}}


def test_a_priority_class_that_is_missing_stops_only_the_pods_that_name_it():
    wanting = {"spec": {"priorityClassName": "urgent"}}
    groups, pods, shown = made(job(("a", 1000, wanting), ("b", 2, {})), workload("Pod"))
    assert len(groups) == 2
    assert sorted(pod.name for pod in pods) == ["train-b-0", "train-b-1", "web"]
    assert shown == ["Job default/train (text, document 3): 1000 of its 1002 pods are not created, "
                    "for there is no PriorityClass urgent; add it, or take its name out."]


DEPENDS = [
    # (dependsOn of the last task, its pods are made when these pods run)
    ("one task", {"name": ["a"]}, [((), False), (("a-0",), False), (("a-0", "a-1"), True)]),
    ("all of two", {"name": ["a", "b"]}, [(("a-0", "a-1"), False), (("a-0", "a-1", "b-0"), True)]),
    ("any of two", {"name": ["a", "b"], "iteration": "any"}, [((), False), (("b-0",), True)]),
    ("any of one is all of one", {"name": ["a"], "iteration": "any"}, [(("a-0",), False)]),
    ("a task that is none", {"name": ["x"]}, [(("a-0", "a-1", "b-0"), False)]),
    ("nothing", {"name": []}, [((), True)]),
]


@pytest.mark.parametrize(("depends_on", "runs"), [case[1:] for case in DEPENDS],
                         ids=[case[0] for case in DEPENDS])
@pytest.mark.parametrize("phase", ["Running", "Succeeded"])
def test_a_task_gets_its_pods_when_those_that_it_depends_on_run(depends_on, runs, phase):
    tasks = job(("a", 2, {}), ("b", 1, {}), ("c", 3, {"dependsOn": depends_on}), minAvailable=1)
    loaded = loads(yaml.safe_dump(tasks))
    _, all_pods, _ = made(job(("a", 2, {}), ("b", 1, {}), ("c", 3, {})))
    for names, expected in runs:
        running = [pod for pod in all_pods if pod.name.removeprefix("train-") in names]
        for pod in running:
            pod.status.phase = phase
        complete = with_defaults(loaded, running)
        pods = [obj.name for obj in complete if isinstance(obj, Pod)]
        assert len(pods) == (6 if expected else 3)
        assert len(complete.warnings) == (not expected)
        for pod in running:
            pod.status.phase = "Pending"


def test_pods_that_are_not_ready_do_not_count_and_zero_pods_are_always_there():
    loaded = loads(yaml.safe_dump(job(("a", 2, {"minAvailable": 0}),
                                      ("c", 3, {"dependsOn": {"name": ["a"]}}))))
    assert sum(isinstance(obj, Pod) for obj in with_defaults(loaded)) == 5


def test_in_a_served_folder_dependent_tasks_follow(tmp_path):
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(
        job(("a", 1, {}), ("c", 2, {"dependsOn": {"name": ["a"]}}), minAvailable=1)))
    server = ApiServer()
    folder = Folder(tmp_path, server)
    folder.read()
    (pod,) = server.list("Pod")
    said = "created once those of a are ready (dependsOn)"
    assert any(said in text for text in folder.warnings[""])
    server.update(attrs.evolve(pod, status=attrs.evolve(pod.status, phase="Running")))
    folder.read()
    assert sorted(pod.name for pod in server.list("Pod")) == ["train-a-0", "train-c-0", "train-c-1"]
    assert folder.warnings[""] == [] and server.find("Pod", pod.key).status.phase == "Running"


def test_a_finished_job_is_not_begun_again():
    finished = job(("a", 2, {})) | {"status": {"state": {"phase": "Completed"}}}
    assert made(finished) == ([], [], [])


@pytest.mark.long
def test_pods_of_an_object_that_is_refused_do_not_count_for_others():
    sizes = {"first": 30_000, "second": 30_000, "huge": 10**6, "small": 1}
    with pytest.raises(ManifestError) as refused:
        made(*(workload("Deployment", name, replicas=size) for name, size in sizes.items()))
    shown = refused.value.problems
    assert [name for name in sizes if any(f"Deployment {name}" in each or f"/{name}" in each
                                          for each in shown)] == ["second", "huge"]


@pytest.mark.long
def test_five_thousand_pods_are_created_soon():
    with soon():
        groups, pods, _ = made(job(*[(f"t{n}", 500, {}) for n in range(8)]),
                               workload("Deployment", replicas=1000))
    assert len(pods) == 5000 and len(groups) == 2


@pytest.mark.long
def test_pods_of_one_job_have_different_names_however_many_there_are():
    assert len({generated("a-", number) for number in range(5000)}) < 5000, "by chance two are one"
    names = [*islice(series("a-"), 5000)]
    assert len(set(names)) == 5000 and names[:100] == [generated("a-", at) for at in range(100)]
    job = BatchJob(ObjectMeta("a", "default"), WorkloadSpec(completions=5000, parallelism=5000))
    assert len({pod.name for pod in pods_of(job, [])}) == 5000


OF_JOB = ("ownerReferences: [{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: j, uid: u, "
         "controller: true}]")
JOB_OF_TWO = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: j, namespace: team, uid: u}
spec:
  minAvailable: 1
  tasks:
  - {name: w, replicas: 2, template: {metadata: {annotations: {own: note}}, spec: {
     schedulerName: volcano, containers: [{name: c}]}}}
status: {state: {phase: "PHASE"}, retryCount: RETRIES}
"""
ITS_GROUP = ("{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: j-u, "
             f"namespace: team, {OF_JOB}}}, spec: {{minMember: 1}}, status: {{phase: PHASE}}}}")
ITS_POD = ("{apiVersion: v1, kind: Pod, metadata: {name: j-w-0, namespace: team, annotations: {"
           "scheduling.k8s.io/group-name: j-u, volcano.sh/job-name: j, volcano.sh/task-spec: w}, "
           f"{OF_JOB}}}, spec: {{schedulerName: volcano, containers: [{{name: c}}]}}, "
           "status: {phase: Running}}")
ENDED = ("Completed", "Failed", "Terminated", "Aborted")
ENDS = ("Restarting", "Completing", "Aborting", "Terminating")


def controlled(phase, group, pods):
    """How many PodGroups and pods a Job has, how many follow once it is admitted, and why it lacks
    some: by its phase, that of its PodGroup if there is one, and whether it has a pod.
    """
    again = (phase, group) == ("Restarting", "Pending")  # its old PodGroup is deleted
    lost = phase == "Restarting" and not (group or pods)
    if phase in ENDED or (phase in ENDS and not (again or lost)):
        why = "ending" if phase in ENDS else ("finished" if pods else "no_pods")
        return int(bool(group or pods)), pods, 0, [f"not_created.{why}"]
    if group == "Pending" and not pods:
        return 1, 0, 2, []
    return (1, pods, 0, ["not_created.lacking"]) if group or pods else (1, 2, 0, [])


@pytest.mark.parametrize("phase", ["", "Pending", "Running", *ENDS, *ENDED])
@pytest.mark.parametrize(("group", "pods"), [
    ("", 0), ("", 1), ("Pending", 0), ("Pending", 1), ("Running", 0), ("Running", 1)])
@pytest.mark.parametrize("retries", [0, 3])
def test_the_controller_creates_what_a_job_of_its_phase_lacks(phase, group, pods, retries):
    documents = [JOB_OF_TWO.replace("PHASE", phase).replace("RETRIES", str(retries)),
                 *[ITS_GROUP.replace("PHASE", group)] * bool(group), *[ITS_POD] * pods]
    found = with_defaults(loads("\n---\n".join(documents)))
    kinds = [obj.kind for obj in found]
    later, why = found.later.get("team/j", []), found.not_created.get("team/j", [])
    assert (kinds.count("PodGroup"), kinds.count("Pod"), len(later),
            [each.code for each in why]) == controlled(phase, group, pods)
    for each in later:
        assert each.metadata.annotations["scheduling.k8s.io/group-name"] == "j-u"
        assert each.metadata.annotations["own"] == "note"
    for each in why:
        until = each.code == "not_created.lacking" and (group, pods) == ("Pending", 1)
        assert ("once PodGroup team/j-u, which is Pending, is admitted" in str(each)) == until
    for each in why if why != [] and why[0].code != "not_created.lacking" else ():
        assert (each.facts["tried"] is not None) == bool(retries)
        assert (each.facts["again"] is not None) == (phase in ENDED[1:])


@pytest.mark.parametrize(("version", "status", "shown"), [
    ("", "state: ''", False), ("5", "", True), ("", "allocated: {}", True),
    ("5", "state: Open", False), ("", "state: Closed", False)])
def test_a_queue_of_a_cluster_without_a_state_was_not_handled_by_its_controller(
        version, status, shown):
    found = with_defaults(loads(
        "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q, "
        f"resourceVersion: '{version}'}}, status: {{{status}}}}}"))
    assert (found[-1].status.state == "") == shown
    assert [each.code for each in found.not_created.get("q", [])] == ["not_created.queue"] * shown


TWO_TASKS = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: j, namespace: team, uid: u}
spec:
  tasks:
  - {name: a, replicas: 2, template: {spec: {containers: [{name: c}]}}}
  - {name: b, replicas: 1, dependsOn: {name: [a]}, template: {spec: {containers: [{name: c}]}}}
"""


@pytest.mark.parametrize(("first", "second", "created", "why"), [
    ("Running true", "Running true", True, None), ("Running true", "Succeeded true", True, None),
    ("Running true", "Running false", False, ("not_created.unready", ["j-a-1"])),
    ("Running false", "Running false", False, ("not_created.unready", ["j-a-0", "j-a-1"])),
    ("Running false", "Succeeded false", False, ("not_created.ended", ["j-a-1"])),
    ("Running true", "Pending true", False, None), ("Pending false", "Failed true", False, None)])
def test_a_task_waits_for_the_ready_pods_of_the_one_before(first, second, created, why):
    pods = [ITS_POD.replace("j-w-0", f"j-a-{number}").replace("task-spec: w", "task-spec: a")
            .replace("{phase: Running}", f"{{phase: {phase}, containerStatuses: [{{name: c, ready: "
                     f"{ready}}}]}}")
            for number, (phase, ready) in enumerate((first.split(), second.split()))]
    group = ITS_GROUP.replace("PHASE", "Running")
    found = with_defaults(loads("\n---\n".join([TWO_TASKS, group, *pods])))
    shown = {each.code: each for each in found.not_created["team/j"]}
    assert ("not_created.depends" not in shown) == created
    unready = None if created else shown["not_created.depends"].facts["unready"]
    assert (unready and (unready.code, unready.facts["pods"])) == why


def test_a_new_job_lacks_the_pods_of_tasks_that_wait_for_others():
    (why,) = with_defaults(loads(TWO_TASKS)).not_created["team/j"]
    assert (why.code, why.facts["others"], why.facts["unready"]) == (
        "not_created.depends", ["a"], None)


@pytest.mark.parametrize(("given", "uid", "time"), [
    ("", "queue-q", None), (", uid: u", "u", None),
    (', creationTimestamp: "2020-01-01T00:00:00Z"', "queue-q", 1577836800.0),
    (', uid: u, creationTimestamp: "2020-01-01T00:00:00Z"', "u", 1577836800.0)])
def test_a_uid_and_a_time_that_are_given_stay(given, uid, time):
    found = next(obj for obj in with_defaults(loads(
        "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q"
        f"{given}}}}}")) if obj.name == "q").metadata
    assert found.uid == uid and (found.creation_timestamp == time or time is None)
    assert found.creation_timestamp is not None


@pytest.mark.parametrize("document", [
    workload("Deployment", replicas=60_000), workload("Job", parallelism=60_000)],
    ids=["Deployment", "Job"])
def test_a_workload_with_too_many_pods_is_refused(document):
    with pytest.raises(ManifestError, match="it asks for 60,000 pods; allowed are at most 50,000"):
        made(document)


def test_classes_that_do_not_exist_are_named_in_their_order():
    job = JOB_OF_TWO.replace("PHASE", "").replace("RETRIES", "0").replace(
        "containers:", "priorityClassName: z, containers:") + "  \n"
    second = job[job.index("  - {name: w"):job.index("status:")].replace("name: w", "name: v")
    found = with_defaults(loads(job.replace("status:", second.replace(
        "priorityClassName: z", "priorityClassName: a") + "status:")))
    (why,) = (each for each in found.not_created["team/j"] if each.code == "not_created.priority")
    assert why.facts["classes"] == ["a", "z"]


@pytest.mark.parametrize(("replicas", "phases", "lacks"), [
    (2, ["Running", "Running"], None), (5, ["Running", "Running"], 3),
    (2, ["Running", "Failed"], 1), (1, ["Running", "Running"], None)])
def test_a_replica_set_with_fewer_pods_than_replicas_says_how_many_lack(replicas, phases, lacks):
    owner = "{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: u1, controller: true}"
    pods = [f"{{apiVersion: v1, kind: Pod, metadata: {{name: web-{number}, ownerReferences: "
            f"[{owner}]}}, spec: {{schedulerName: volcano, containers: [{{name: c}}]}}, "
            f"status: {{phase: {phase}}}}}" for number, phase in enumerate(phases)]
    made = with_defaults(loads("\n---\n".join((
        "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web, uid: u1}, spec: "
        f"{{replicas: {replicas}, template: {{spec: {{schedulerName: volcano, containers: "
        "[{name: c}]}}}}", *pods))))
    said = [each.facts["count"] for each in made.not_created.get("default/web", ())]
    assert said == ([lacks] if lacks else [])


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_a_queue_that_only_the_owner_names_is_reported(kind):
    queue = {"scheduling.volcano.sh/queue-name": "team"}
    _, _, shown = made(workload(kind, annotations=queue))
    assert shown == [
        f'{kind} default/web (text, document 3): metadata.annotations '
        '"scheduling.volcano.sh/queue-name" has no effect, as Volcano reads it of the pods; '
        "allowed is spec.template.metadata.annotations."]
    assert made(workload(kind, annotations=queue, template={"annotations": queue}))[2] == []
    assert made(workload(kind, annotations=queue, pod={"schedulerName": "mine"}))[2] == [
        f"{kind} default/web (text, document 3): its pods are for another scheduler, mine, and "
        "are not created."]
