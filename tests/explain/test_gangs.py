"""Why a gang does not start: its pods, its roles, its owner, or the HyperNode that it needs."""

import pytest
from hyper_scene import gang, hyper_node, two_tiers
from small_cluster import conf, group, node, pod

from volcano_lab import Cluster
from volcano_lab.api.objects import OwnerReference
from volcano_lab.explain import Explainer

GANG = conf("gang", "predicates", "nodeorder")
NO_GANG = conf("predicates", "nodeorder")
TOPOLOGY = conf("gang", "predicates", "{name: network-topology-aware}")
HARD = {"mode": "hard", "highestTierAllowed": 1}
WORKER = {"training.kubeflow.org/replica-type": "worker"}


def asked(*objects, conf=GANG, name="new"):
    """The first cause of each code of an answer."""
    causes = Explainer(Cluster(objects).objects(), conf, 1_800_000_000).why(name).causes
    return {cause.code: cause for cause in reversed(causes)}


def owned(obj, kind):
    """An object that one of this kind has created."""
    return obj.changed(metadata={"owner_references": [OwnerReference(
        api_version="v1", kind=kind, name="o", uid="o")]})


def text_of(causes, code):
    return causes[code].text if code in causes else None


# -- pods that the gang lacks ----------------------------------------------------------------------

UNNAMED = ("No pod names PodGroup new: a pod is in it that has the annotation "
           "scheduling.k8s.io/group-name: new when it is created, which its pod template gives it; "
           "a Volcano Job always gets a PodGroup of its own")
UNREAD = ("The PodGroup has no pods yet. ReplicaSet o is to create them: look at its status and "
          "events. If it is over, delete the PodGroup (kubectl delete "
          "podgroups.scheduling.volcano.sh -n default new): while it is admitted it reserves its "
          "minResources (cpu 2) in queue default.")
FLINK = """\
{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, metadata: {name: f, namespace: %s},
 spec: {job: {}, jobManager: {annotations: {scheduling.k8s.io/group-name: %s}}}}
"""


@pytest.mark.parametrize("owner, other, flink, said", [
    (None, None, None, f"{UNNAMED}."),
    (None, "web", None, f"{UNNAMED}."),  # it is another's, and named by its pods
    (None, "podgroup-7", None, f"{UNNAMED}. Pods of namespace default that had none got PodGroups "
     "of Volcano's controller, with a minimum of 1: podgroup-7 (default/y)."),
    (None, "podgroup-7", ("default", "new"), "(default/y). FlinkDeployment default/f names it in "
     "spec.jobManager.annotations, and its pods do not have the annotation: it has to be in their "
     "template (for Flink spec.podTemplate.metadata.annotations)."),
    (None, "podgroup-7", ("default", "old"), "1: podgroup-7 (default/y)."),
    (None, "podgroup-7", ("team", "new"), "1: podgroup-7 (default/y)."),
    ("o", None, None, UNREAD),
    ("o", "web", None, "PodGroup new has no pods: default/y, of ReplicaSet o, names PodGroup web "
     "in its annotation scheduling.k8s.io/group-name. Volcano's controller created new beside it "
     "(before v1.13 it does so for each ReplicaSet): delete it (kubectl delete "
     "podgroups.scheduling.volcano.sh -n default new), as it reserves its minResources once it is "
     "admitted."),
    ("p", "web", None, UNREAD.replace(" o ", " p "))])
def test_pods_that_are_meant_for_a_podgroup_without_pods_are_found_in_others(
        owner, other, flink, said):
    mine = [group(other), owned(pod("y", other), "ReplicaSet")] if other else []
    new = group("new", minResources={"cpu": "2"})
    if owner:
        new = owned(new, "ReplicaSet").changed(metadata={"owner_references": [OwnerReference(
            api_version="v1", kind="ReplicaSet", name=owner, uid=owner)]})
    cluster = Cluster([node("n1"), new, *mine])
    found = Explainer((cluster.add(FLINK % flink) if flink else cluster).objects(), GANG,
                      1_800_000_000).why("podgroup/new" if owner else "new")
    (cause,) = [each for each in found.causes if each.code == "no_pods"]
    assert cause.text.endswith(said) and found.find_remedies is None
    assert ("waits for pods: none names" in found.head) is ("no pods yet" not in said)


def test_a_podgroup_that_pods_of_another_scheduler_name_is_named():
    stray = pod("y", "new").changed(spec={"scheduler_name": "other"})
    found = Explainer(Cluster([node("n1"), group("new"), stray]).objects(), GANG,
                      1_800_000_000).why("new")
    assert "other_scheduler" in found.codes and "No pod names" not in found.text


RAY_JOB = """\
{apiVersion: ray.io/v1, kind: RayJob, metadata: {name: o, namespace: default, uid: o},
 spec: {}, status: {jobDeploymentStatus: %s}}
"""


@pytest.mark.parametrize("status, phase, least, said", [
    ("Complete", "Inqueue", {"cpu": "3"}, "RayJob o is Complete and creates no more pods, but its "
     "PodGroup is still admitted and reserves cpu 3 in queue default. Delete the PodGroup (kubectl "
     "delete podgroups.scheduling.volcano.sh -n default new), or RayJob o with it."),
    ("Complete", "Inqueue", {}, None), ("Complete", "Unknown", {"cpu": "3"}, None),
    ("Running", "Inqueue", {"cpu": "3"}, "RayJob o creates them: look at its replicas, status")])
def test_the_podgroup_of_what_is_over_keeps_what_it_reserves(status, phase, least, said):
    new = owned(group("new", minMember=3, minResources=least, phase=phase), "RayJob")
    done = owned(pod("x", "new", phase="Succeeded"), "RayJob")
    found = Explainer(Cluster([node("n1"), new, done]).add(RAY_JOB % status).objects(), GANG,
                      1_800_000_000).why("new")
    assert (said or "min: 3): 1 of 3 pods exist that may run.") in found.text
    over = status == "Complete"
    assert found.head.startswith("o is Complete: no pod of it waits for a node.") is over
    assert not over or "0 of 1 pods placed, 1 succeeded" in found.head
    assert ("is still admitted" in found.text) is bool(over and said)
    assert (found.find_remedies is None) is over


@pytest.mark.parametrize("kind, waits", [("RayJob", True), ("CronJob", False)])
def test_a_job_may_wait_for_what_its_owner_has_created_beside_it(kind, waits):
    runs, new = (owned(group(name, phase=phase), kind) for name, phase in (
        ("runs", "Running"), ("new", "Inqueue")))
    pods = [owned(pod(name, name, node=on, requests={"cpu": "3"}), kind)
            for name, on in (("runs", "n1"), ("new", ""))]
    text = Explainer(Cluster([node("n1"), runs, new, *pods]).objects(), GANG,
                     1_800_000_000).why("podgroup/new").text
    assert ("RayJob default/o has created default/runs and this job" in text) is waits


@pytest.mark.parametrize("status, said, other", [
    ("Complete", "RayJob o is Complete, and its operator deletes PodGroup gone then; pods that it "
     "leaves running keep their nodes and count for no queue", "create PodGroup"),
    ("Running", "create PodGroup gone in namespace default", "deletes PodGroup")])
def test_a_podgroup_that_its_operator_has_deleted_is_not_to_be_created(status, said, other):
    runs = owned(pod("x", "gone", node="n1"), "RayJob")
    found = Explainer(Cluster([node("n1"), runs]).add(RAY_JOB % status).objects(), GANG,
                      1_800_000_000).why("x")
    assert said in found.head and other not in found.head


TOO_FEW = ("The gang is not valid (NotEnoughTasks: Not enough valid tasks for gang-scheduling, "
           "valid: 1, min: 3): 1 of 3 pods exist that may run.")
ROLES = ("The gang is not valid (NotEnoughPodsOfTask: Not enough valid pods of each task for "
         "gang-scheduling): ")
ALONE = " With a minimum of 1, pods that are created later are placed one by one."


@pytest.mark.parametrize("owner, more, said", [
    ("", {}, TOO_FEW + ALONE), ("", {"labels": WORKER}, TOO_FEW),
    ("StatefulSet", {}, f"{TOO_FEW} StatefulSet o creates them, each once the one before it is "
     f"ready, unless its podManagementPolicy is Parallel: look at that, its replicas, status and "
     f"events.{ALONE}"),
    ("ReplicaSet", {}, f"{TOO_FEW} ReplicaSet o creates them: look at its replicas, status and "
                       f"events.{ALONE}"),
    ("RayCluster", {}, f"{TOO_FEW} RayCluster o creates them: look at its replicas, status and "
                       f"events.")])  # its operator sets the minimum
def test_a_gang_of_which_too_few_pods_exist(owner, more, said):
    groups = group("new", minMember=3)
    objects = [node("n1"), owned(groups, owner) if owner else groups, pod("x", "new", **more),
               pod("failed", "new", phase="Failed")]
    found = asked(*objects)["gang_invalid"]
    assert found.text == said and len(found.records) == 1
    assert found.numbers == {"min_available": 3, "valid": 1, "roles": {}, "renamed": {},
                             "after": {}, "slips": [("replicas", 1, 3)]}


@pytest.mark.parametrize("minima, owner, said, renamed", [
    ({"ps": 1, "worker": 2}, "", "1 of 2 pods of role worker exist that may run.", {}),
    ({"ps": 1, "workers": 1}, "StatefulSet", "0 of 1 pods of role workers exist that may run. The "
     "PodGroup's minTaskMember names role workers, and the role of its pods is worker.",
     {"workers": "worker"}),
    ({"ps": 1, "gpu": 1}, "", "0 of 1 pods of role gpu exist that may run.", {}),
    ({"ps": 1, "workers": 1, "worker": 1}, "", "0 of 1 pods of role workers exist that may run.",
     {})])
def test_a_gang_of_which_a_role_has_too_few_pods(minima, owner, said, renamed):
    groups = group("new", minMember=3, minTaskMember=minima)
    found = asked(node("n1"), owned(groups, owner) if owner else groups, *(
        pod(name, "new", role=role) for name, role in (("x", "ps"), ("y", "worker"), ("z", "ps"))))
    assert found["gang_invalid"].text == ROLES + said
    assert found["gang_invalid"].numbers["renamed"] == renamed


JOB = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: new, namespace: default}
spec:
  minAvailable: 2
  schedulerName: volcano
  tasks:
  - {name: a, replicas: 1, template: &one {spec: {containers: [
      {name: c, image: i, resources: {requests: {cpu: 1}}}]}}}
  - {name: b, replicas: 1, dependsOn: {name: [a]}, template: *one}
"""


def test_a_gang_and_a_task_that_depends_on_another_wait_for_each_other():
    found = Explainer(Cluster([node("n1")]).add(JOB).objects(), GANG).why("new")
    assert (f"{ROLES}0 of 1 pods of role b exist that may run. These wait for each other: the gang "
            "for the pods of a task that depends on others (dependsOn), and the others for the "
            "gang.") in found.text
    assert "creates them" not in found.text


@pytest.mark.parametrize("topology, waits", [(HARD, True), ({"mode": "soft"}, True), (None, False)])
def test_a_topology_waits_for_the_tree_of_hyper_nodes(topology, waits):
    circle = [hyper_node("a", 1, "b"), hyper_node("b", 2, "a")]
    found = asked(node("n1"), *circle, *gang("new", 1, topology), conf=TOPOLOGY)
    assert text_of(found, "hyper_nodes_not_ready") == (
        "Jobs with a network topology wait until the HyperNodes form a tree. HyperNode b is below "
        "itself (b > a > b): remove one of these from the members of the one before it." if waits
        else None)


QUOTA = ("{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: default}, "
         "spec: {hard: {%s: 9}}}")


@pytest.mark.parametrize("hard, phase, said", [
    ("requests.cpu", "Pending", True), ("cpu", "Pending", True), ("pods", "Pending", True),
    ("limits.cpu", "Pending", True),
    ("requests.nvidia.com/gpu", "Pending", False), ("cpu", "Inqueue", False)])
def test_a_quota_counts_pods_of_a_job_that_is_not_admitted(hard, phase, said):
    objects = [node("n1", cpu="4"), pod("x", "new", requests={"cpu": "8"}), group(
        "new", phase=phase, minMember=1, minResources={"cpu": "8"})]
    cluster = Cluster(objects).add(QUOTA % hard)
    found = Explainer(cluster.objects(), conf("proportion", actions="enqueue, allocate")).why("new")
    assert ("default/q (ResourceQuota) counts its pod, though it waits" in found.text) is said


# -- pods that were placed, and rolled back --------------------------------------------------------

def pods(*cpus, node="", first=0, **more):
    return [pod(f"new-{number}", "new", node, requests={"cpu": str(cpu)}, **more)
            for number, cpu in enumerate(cpus, first)]


SHORT = "The gang needs {} pods at once: "
BACK = [  # the PodGroup's spec, its pods, code, the sentence, the end of the first line
    ({"minMember": 3}, pods(2, 2, 2, 2), "gang_short",
     SHORT.format(3) + "2 placed, 1 not; all were rolled back.",
     "2 of its pods fit. (PodGroup Inqueue, 0 of 4 pods placed)"),
    ({"minMember": 4}, [*pods(2, node="n2"), *pods(2, 2, 2, 2, first=1)], "gang_short",
     SHORT.format(4) + "1 were placed before, 2 in this attempt, 1 not; the attempt was rolled "
     "back.", "1 of 5 pods placed, 2 more rolled back: gang of 4)"),
    ({"minMember": 2, "minTaskMember": {"ps": 1, "w": 1}},
     [*pods("1500m", "1500m", role="w"), *pods(3, first=2, role="ps")], "gang_short",
     "2 pods of its gang of 2 were placed, but not the ones that its roles or sub-groups need; "
     "they were rolled back.", "2 of its pods fit. (PodGroup Inqueue, 0 of 3 pods placed)"),
    ({"minMember": 4, "minTaskMember": {"w": 2, "ps": 2}},
     [*pods(*["500m"] * 4, node="n2", role="w"), *pods(2, 3, first=4, role="ps")], "gang_short",
     "5 pods of its gang of 4 were placed, but not the ones that its roles or sub-groups need; "
     "they were rolled back.", "1 of its pods fits. (PodGroup Running, 4 of 6 pods placed)"),
    ({"minMember": 3}, [*pods(2, 2), *pods(1, first=2, nodeSelector={"a": "b"})], "gang_short",
     SHORT.format(3) + "2 placed, 1 not; all were rolled back.",
     "0 of 3 pods placed, 2 rolled back: gang of 3)"),
    ({"minMember": 3}, [*pods(1, node="n2"), *pods(2, first=1), *pods(
        1, first=2, nodeSelector={"a": "b"})], "gang_short",
     SHORT.format(3) + "1 were placed before, 1 in this attempt, 1 not; the attempt was rolled "
     "back.", "1 of 3 pods placed, 1 more rolled back: gang of 3)"),
    ({"minMember": 2, "minTaskMember": {"ps": 1, "w": 1}},
     [*pods(1, 1, role="w"), *pods(1, first=2, role="ps", nodeSelector={"a": "b"})], "gang_short",
     "2 pods of its gang of 2 were placed, but not the ones that its roles or sub-groups need; "
     "they were rolled back.", "2 rolled back: the roles of its gang lack others)"),
    ({"minMember": 2}, [*pods(2, node="n2"), *pods(2, 2, 2, first=1)], "gang_short", None,
     "placed)"),
    ({"minMember": 2}, pods(2, 2, 2, labels=WORKER), "in_part",
     "Its gang's minimum is 2 of 3 pods, so gang lets a part of it run; minResources are compared "
     "only at admission.", "placed)"),
    ({"minMember": 3}, pods(2, 2, 2, labels=WORKER), "in_part", None, "placed)"),
    ({"minMember": 2}, pods(2, 2, 2), "in_part", None, "placed)")]


@pytest.mark.parametrize("spec, pods, code, said, end", BACK)
def test_what_a_gang_had_placed_when_it_was_rolled_back(spec, pods, code, said, end):
    objects = [node("n1"), node("n2", cpu="2", labels={"full": "y"}), group("full"), pod(
        "full-0", "full", "n2", requests={"cpu": "0" if any(
            each.spec.node_name for each in pods) else "2"}), group("new", **spec), *pods]
    found = asked(*objects)
    assert text_of(found, code) == said and (not said or found[code].context)
    assert end in Cluster(objects).why("new", conf=GANG).head


@pytest.mark.parametrize("conf, least, cpus, said", [
    (NO_GANG, 3, (2, 2, 2), True), (NO_GANG, 2, (2, 2, 2), False), (NO_GANG, 2, (5, 5), False),
    (NO_GANG, 2, (3, 3), True), (GANG, 3, (2, 2, 2), False)])
def test_a_minimum_that_no_plugin_reads(conf, least, cpus, said):
    found = asked(node("n1"), group("new", minMember=least), *pods(*cpus), conf=conf)
    assert text_of(found, "no_gang") == (f"The configuration does not name the plugin gang: its "
                                         f"pods are placed one by one, whatever its minimum of "
                                         f"{least}." if said else None)
    assert not said or found["no_gang"].context


@pytest.mark.parametrize("name, kind, node_name, said", [
    ("podgroup-x", "PyTorchJob", "n1", True), ("podgroup-x", "ReplicaSet", "n1", False),
    ("podgroup-x", "Pod", "n1", False), ("x", "PyTorchJob", "n1", False),
    ("podgroup-x", "PyTorchJob", "", False)])
def test_pods_of_an_operator_without_a_podgroup_are_placed_one_by_one(name, kind, node_name, said):
    found = asked(node("n1"), owned(group(name), kind), pod("a", name, node_name, requests={
        "cpu": "3" if node_name else "5"}), pod("b", name, requests={"cpu": "5"}), name=name)
    assert ("no_gang" in found) is said and (not said or found["no_gang"].context)


# -- HyperNodes ------------------------------------------------------------------------------------

OLD = gang("old", 1, None, ["n0"], cpu="2")
ONE = "No single HyperNode up to tier {} holds it: {} pods are needed together, and {}."
EMPTY = " Even empty, each of them takes at most {}: no pod that ends is enough."
TOO_SMALL = [  # more objects, the topology, pods and CPUs of each, the sentence, what each takes
    ([], HARD, 3, 3, ONE.format(1, 3, "s0, s1 take 2 each") + EMPTY.format(2), {
        "s0": 2, "s1": 2}),
    (OLD, HARD, 3, 3, ONE.format(1, 3, "s0 takes 1, s1 takes 2") + EMPTY.format(2), {
        "s0": 1, "s1": 2}),
    (OLD, {"mode": "hard", "highestTierAllowed": 2}, 5, 3, ONE.format(
        2, 5, "s0 takes 1, s1 takes 2, top takes 3") + EMPTY.format(4), {
        "s0": 1, "s1": 2, "top": 3}),
    (OLD, {"mode": "hard", "highestTierAllowed": 2}, 4, 3, ONE.format(
        2, 4, "s0 takes 1, s1 takes 2, top takes 3") + " n0 of s0 has cpu 2 left for a pod that "
        "requests 3; on it: default/old.", {"s0": 1, "s1": 2, "top": 3}),
    ([node("out2"), node("out1")], HARD, 3, 3, ONE.format(
        1, 3, "s0, s1 take 2 each") + EMPTY.format(2) + " In no HyperNode of these tiers: out1, "
        "out2.", {"s0": 2, "s1": 2}),
    ([hyper_node("bare", 1)], HARD, 3, 3, ONE.format(
        1, 3, "bare takes 0, s0, s1 take 2 each") + EMPTY.format(2),
     {"bare": 0, "s0": 2, "s1": 2}),  # one without members
    (OLD, HARD, 8, 1, None, None),
    (OLD, HARD, 9, 1, ONE.format(1, 9, "s0 takes 6, s1 takes 8") + EMPTY.format(8), {
        "s0": 6, "s1": 8}),
    ([], {"mode": "hard", "highestTierAllowed": 0}, 3, 3,
     "There is no HyperNode up to tier 0, the highest tier that it allows.", {}),
    ([], {"mode": "soft"}, 9, 3, None, None)]


@pytest.mark.parametrize("more, topology, size, cpu, said, holds", TOO_SMALL)
def test_how_many_pods_each_hyper_node_takes(more, topology, size, cpu, said, holds):
    found = asked(*two_tiers(), *more, *gang("new", size, topology, cpu=str(cpu)), conf=TOPOLOGY)
    assert text_of(found, "topology_too_small") == said
    assert not said or found["topology_too_small"].numbers["holds"] == holds


@pytest.mark.parametrize(("size", "named"), [(2, True), (3, False)])
def test_holders_are_named_of_hyper_nodes_that_take_the_gang_once_empty(size, named):
    new = [each.changed(spec={"min_resources": None}) if each.kind == "PodGroup" else each
           for each in gang("new", size, HARD, cpu="3")]
    busy = gang("old", 2, None, ["n0", "n2"], cpu="3")
    found = asked(*two_tiers(), *busy, *new, conf=TOPOLOGY)
    assert ("default/old" in text_of(found, "held_by")
            if named else "held_by" not in found)


@pytest.mark.long
@pytest.mark.parametrize(("more", "topology", "size", "said"), [
    ([], HARD, 3, "1 more node like n0 (to be listed by HyperNode s0; new is placed on n0, n1, 1 "
     "new node)"),
    ([], {"mode": "soft"}, 5, "1 more node like n0 (to be listed by HyperNode s0; new is placed on "
     "n0, n1, n2 and 2 more)"),
    ([], None, 5, "1 more node like n0 (new is placed on n2, n3, n0 and 2 more)"),
    ([node("a"), node("b")], HARD, 4, "HyperNode s0: with a, b as members (new is placed on a, b, "
     "n0 and 1 more)"),
    ([node("a", cpu="2"), node("b")], HARD, 3, "HyperNode s0: with b as a member (new is placed on "
     "b, n0, n1)")])
def test_nodes_are_to_be_listed_by_a_hyper_node(more, topology, size, said):
    cluster = Cluster([*two_tiers(), *more, *gang("new", size, topology, cpu="3")])
    assert said in map(str, cluster.why("new", conf=TOPOLOGY).remedies)


@pytest.mark.long
@pytest.mark.parametrize("last, free", [(9, True), (1, False)])
def test_a_node_that_is_added_has_a_free_name_that_a_hyper_node_matches(last, free):
    """However it is called in the lab."""
    member = {"type": "Node", "selector": {"regexMatch": {"pattern": f"^n[0-{last}]$"}}}
    cluster = Cluster([node("n0"), node("n1")]).add(str({
        "apiVersion": "topology.volcano.sh/v1alpha1", "kind": "HyperNode", "metadata": {
            "name": "rack"}, "spec": {"tier": 1, "members": [member]}}))
    found = cluster.add(*gang("new", 3, HARD, cpu="3")).why("new", conf=TOPOLOGY)
    assert ("1 more node like n0 (with names that HyperNode rack matches; new is placed on n0, n1, "
            "1 new node)" in [*map(str, found.remedies)]) is free


def parts(*sizes, cpu="3", topology=None, least=None, minimum=None):
    """A gang with sub-groups, each in a leaf."""
    policy = {"name": "w", "subGroupSize": max(sizes), "matchLabelKeys": ["part"],
              "labelSelector": {"matchLabels": {"role": "w"}}, "networkTopology": HARD}
    return [group("new", minMember=least or sum(sizes), subGroupPolicy=[
        policy | ({"minSubGroups": minimum} if minimum else {})], **(
        {"networkTopology": topology} if topology else {})),
        *(pod(f"new-{part}-{number}", "new", requests={"cpu": cpu},
              labels={"part": str(part), "role": "w"})
          for part, size in enumerate(sizes) for number in range(size))]


SUB = "No single HyperNode up to tier 1 holds its sub-group: 2 pods are needed together, and {}"
COUNTED = " Counted in: 2 pods of this job, placed earlier in the same attempt."
LEFT = SUB.format("s0 takes 0. Not tried, as its minimum of 2 pods requests cpu 6: s1 has cpu 5 "
                  "left.") + COUNTED
FULL = ("No HyperNode up to tier 1 has enough left for its sub-group: its minimum of {0} pods "
        "requests cpu {1}, and s0 has cpu {2} left, s1 has cpu {2} left.")
BUSY = gang("old", 1, None, ["n3"], cpu="3")
BESIDE = ("No single HyperNode up to tier 1 holds it: {}. Its placed pods are in s0, and its own "
          "topology (hard, tier 1) keeps the others there. n0 of s0 has cpu 0 left for a pod that "
          "requests 2; on it: default/new, default/old.")
N1 = " n1 of s0 has cpu 0 left for a pod that requests 2; on it: default/new, default/old."
SUB_GROUPS = [  # what is there, the gang, the sentence, what each HyperNode takes
    (gang("old", 2, None, ["n0", "n1"], cpu="2"), gang("new", 3, HARD, ["n0"], cpu="2"),
     BESIDE.format("2 more pods of its 3 are needed together, and s0 takes 1"), {"s0": 1}),
    (gang("old", 2, None, ["n0", "n1"], cpu="2"), gang("new", 3, HARD, ["n0", "n1"], cpu="2"),
     BESIDE.format("1 more pod of its 3 is needed, and s0 takes 0") + N1, {"s0": 0}),
    (gang("old", 2, None, ["n0", "n1"], cpu="1"), [*parts(3, cpu="3")[:1], *(
        pod.changed(spec={"node_name": f"n{number}"} if number < 2 else {})
        for number, pod in enumerate(parts(3, cpu="3")[1:]))],
     "No single HyperNode up to tier 1 holds its sub-group: 1 pod is needed, and s0 takes 0."
     + (N1.replace("n1", "n0") + N1).replace("requests 2", "requests 3"),
     {"s0": 0}),
    (gang("first", 2, HARD, cpu="2"), gang("new", 3, HARD, cpu="3"),
     ONE.format(1, 3, "s0 takes 1, s1 takes 2") + EMPTY.format(2), {"s0": 1, "s1": 2}),
    ([], parts(3), FULL.format(3, 9, 8) + EMPTY.format(2), {}),
    (gang("old", 4, None, ["n0", "n1", "n2", "n3"], cpu="3"), parts(2, 2, cpu="2"),
     FULL.format(2, 4, 2), {}),
    (BUSY, parts(2, 2), LEFT, {"s0": 0}),
    (BUSY, parts(2, 2, topology={"mode": "hard", "highestTierAllowed": 2}), LEFT, {"s0": 0}),
    (BUSY, parts(2, 2, 2, least=2, minimum=1), LEFT, {"s0": 0}),
    ([], parts(2, 2, topology=HARD), SUB.format("s0, s1 take 0 each.") + COUNTED,
     {"s0": 0, "s1": 0}),
    ([], parts(2, 2), None, None)]


@pytest.mark.parametrize("there, new, said, holds", SUB_GROUPS)
def test_the_hyper_nodes_that_a_job_or_its_sub_group_lacks(there, new, said, holds):
    found = asked(*two_tiers(), *there, *new, conf=TOPOLOGY)
    assert text_of(found, "topology_too_small") == said
    assert not said or found["topology_too_small"].numbers["holds"] == holds


@pytest.mark.parametrize(("placed", "head"), [
    ([], "a HyperNode that fits 3 pods together"),
    (["n0"], "nodes of HyperNode s0, where its other pods are, that fit 2 more pods"),
    (["n0", "n1"], "a node of HyperNode s0, where its other pods are, that fits 1 more pod")])
def test_the_first_line_of_a_gang_names_the_hyper_node_of_its_other_pods(placed, head):
    held = gang("old", 2, None, ["n0", "n1"], cpu="2") if placed else []
    cluster = Cluster([*two_tiers(), *held, *gang("new", 3, HARD, placed, cpu="2")])
    cluster = cluster if placed else cluster.job("one", cpu=3, running={"n2": 1}).job(
        "two", cpu=3, running={"n0": 1})
    assert cluster.why("new", conf=TOPOLOGY).head.startswith(f"new waits for {head}. ")


@pytest.mark.long
@pytest.mark.parametrize("free", [True, False])
def test_a_gang_is_created_again_where_another_hyper_node_takes_all_of_it(free):
    held = gang("old", 2, None, ["n0", "n1"], cpu="2") + (
        [] if free else gang("more", 1, None, ["n2"], cpu="4"))
    new = gang("new-w", 3, HARD, ["n0"], cpu="2")
    for each in new:
        each.metadata.owner_references = [OwnerReference(
            "batch.volcano.sh/v1alpha1", "Job", "new", "u", True)]
    found = Cluster([*two_tiers(), *held, *new]).add("""\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: new, namespace: default, uid: u}
spec: {minAvailable: 3, schedulerName: volcano, tasks: [{name: w, replicas: 3, template: {spec: {
  containers: [{name: c, image: i, resources: {requests: {cpu: 2, memory: 1Gi}}}]}}}]}
status: {state: {phase: Running}}
""").why("new", conf=TOPOLOGY)
    assert ("delete 1 pod of default/new, which is created again (new is placed on n2, n3)"
            in [*map(str, found.remedies)]) is free


@pytest.mark.parametrize("topology, places, requests, said", [
    (HARD, ["n1", "n2"], {}, "Pods that request nothing are placed by backfill"),
    (HARD, ["n1", "n2"], {"cpu": "1"}, "holds all of these"), (HARD, ["n0", "n1"], {}, None),
    ({"mode": "hard", "highestTierName": "leaf"}, ["n1", "n2"], {}, "holds all of these"),
    ({"mode": "soft", "highestTierAllowed": 1}, ["n1", "n2"], {}, None)])
@pytest.mark.parametrize("name", ["new", "new-1"])
def test_pods_that_run_beyond_the_tier_of_their_topology(topology, places, requests, said, name):
    own = [pod(f"new-{number}", "new", place, requests=requests)
           for number, place in enumerate(places)]
    found = text_of(asked(*two_tiers(), group("new", minMember=2, networkTopology=topology), *own,
                          conf=TOPOLOGY, name=name), "beyond_tier")
    assert found is None if said is None else said in found
