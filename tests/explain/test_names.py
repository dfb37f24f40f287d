"""A Job is known by its own name; who has several is asked which; who is unknown is answered with
what is near.
"""

from __future__ import annotations

import pytest
from small_cluster import group, node, pod

from volcano_lab.api.objects import ObjectMeta, OwnerReference, PodGroup
from volcano_lab.cache import Cache
from volcano_lab.cluster import Cluster
from volcano_lab.explain import Explainer
from volcano_lab.scheduler import Scheduler
from volcano_lab.trace.names import Names

JOB = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: %s, namespace: %s}
spec:
  minAvailable: 2
  tasks:
  - {name: t, replicas: 2, template: {spec: {containers: [
      {name: main, resources: {requests: {cpu: "3"}}}]}}}
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  template:
    spec:
      schedulerName: volcano
      containers: [{name: main, resources: {requests: {cpu: "9"}}}]
"""


@pytest.fixture(scope="module")
def explain():
    cluster = Cluster().node("n1", cpu=4).queue("team").add(
        JOB % ("train", "default"), JOB % ("train", "other"), JOB % ("solo", "other"), DEPLOYMENT)
    return Explainer(cluster.objects())


NAMES = [
    ("default/train", "job default/train"), ("train", "job default/train"),
    ("other/train", "job other/train"), ("solo", "job other/solo"),
    ("vcjob/solo", "job other/solo"), ("Job/solo", "job other/solo"),
    ("jobs.batch.volcano.sh/solo", "job other/solo"), ("deploy/web", "job default/web"),
    ("Deployments.apps/web", "job default/web"), ("q/team", "queue team"),
    ("web", "job default/web"), ("team", "queue team"), ("queue/team", "queue team"),
    ("train-t-0", "pod default/train-t-0"), ("pod/train-t-0", "pod default/train-t-0"),
    ("solo-t-1", "pod other/solo-t-1"),
]


@pytest.mark.parametrize(("name", "about"), NAMES, ids=[row[0] for row in NAMES])
def test_who_is_meant(name, about, explain):
    explanation = explain.why(name)
    assert explanation.about == about
    uids = [uid for uid, called in explain.names.jobs.items() if uid != called]
    assert len(uids) == 4 and not any(uid in explanation.text for uid in uids)
    pod_group = next(uid for uid in uids if uid.startswith("other/solo-"))
    assert explain.why(pod_group).about == "job other/solo"


RAY = """\
apiVersion: ray.io/v1
kind: RayCluster
metadata:
  name: demo
  namespace: ml
  labels: {ray.io/scheduler-name: volcano, volcano.sh/queue-name: %s}
spec:
  headGroupSpec:
    template:
      spec: {schedulerName: volcano, containers: [{name: main, resources: {requests: {cpu: "9"}}}]}
  workerGroupSpecs: []
"""


def test_an_object_of_an_operator_is_found_by_its_kind_as_kubectl_takes_it():
    known, lost = (Explainer(Cluster().node("n1", cpu=4).add(RAY % queue).objects())
                   for queue in ("default", "gone"))
    for kind in ("raycluster", "RayCluster", "rayclusters.ray.io"):
        assert known.why(f"{kind}/demo").about == "job ml/demo"
        assert "gone" in lost.why(f"{kind}/demo").text
    with pytest.raises(LookupError, match='called "raycluter/demo"'):
        known.why("raycluter/demo")


UNKNOWN = [
    ("tra", "near it are default/train, other/train, default/train-t-0"),
    ("n1", '"n1" is a node; name a pod'),
    ("zzz", "there are default/train, default/web, other/solo"),
    ("so", "near it are other/solo, other/solo-t-0, other/solo-t-1"),
]


@pytest.mark.parametrize(("name", "sentence"), UNKNOWN, ids=[row[0] for row in UNKNOWN])
def test_who_is_near(name, sentence, explain):
    with pytest.raises(LookupError, match=sentence.replace("(", r"\(")):
        explain.why(name)


def test_a_name_in_two_namespaces_is_asked_back():
    cluster = Cluster().node("n1", cpu=4).add(JOB % ("twin", "a"), JOB % ("twin", "b"))
    with pytest.raises(LookupError, match='"twin" is the name of 2: job a/twin, job b/twin'):
        Explainer(cluster.objects()).why("twin")


def test_a_pod_that_is_a_job_of_its_own_is_one_name():
    cluster = Cluster().node("n1", cpu=4).add(
        "{apiVersion: v1, kind: Pod, metadata: {name: step, namespace: flow}, spec: {"
        "schedulerName: volcano, containers: [{name: c, image: i}]}}")
    assert Explainer(cluster.objects()).why("step").head.startswith("flow/step ")


def above(*kinds):
    """A vcjob, and its owners."""
    text = JOB % ("step", "a")
    for below, (version, kind, name) in zip(("step", *(name for *_, name in kinds)), kinds,
                                            strict=False):
        owner = (f"ownerReferences: [{{apiVersion: {version}, kind: {kind}, name: {name}, "
                 f"uid: u-{name}}}]")
        text = text.replace(f"name: {below}, namespace: a", f"name: {below}, namespace: a, {owner}")
        text += (f"---\napiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}, "
                 f"namespace: a, uid: u-{name}}}\n")
    return text


@pytest.mark.parametrize("name", ["flow", "a/flow", "higher", "a/step", "step"])
def test_a_job_is_found_by_the_names_of_all_its_owners(name):
    text = above(("flow.volcano.sh/v1alpha1", "JobFlow", "flow"),
                 ("flow.volcano.sh/v1alpha1", "JobFlow", "higher"))
    assert Cluster().node("n1", cpu=2).add(text).explainer().why(name).about == "job a/step"


OWNED = """\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: NAME, uid: u-NAME, ownerReferences: [
  {apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, name: x, uid: lws}]}
spec: {template: {spec: {containers: [{name: c}]}}}
---
"""


def test_an_owner_is_asked_about_for_what_waits_though_a_job_has_its_name():
    lead, work = (REPLICAS.replace("HASH", name).replace("LABEL", "").replace(
        "KIND", "StatefulSet").replace(f"name: web-{name},", f"name: {owner},").replace(
        "NODE", node).replace("PHASE", phase) for name, owner, node, phase in (
            ("lead", "x", "nodeName: n1,", "Running"), ("work", "x-0", "", "Pending")))
    owners = """\
{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: x, uid: lws}}
---
""" + OWNED.replace("NAME", "x") + OWNED.replace("NAME", "x-0")
    explain = Cluster().node("n1", cpu=4).add(owners + lead + "---\n" + work).explainer()
    assert explain.names.called("default/podgroup-lead") == "default/x"
    for name in ("x", "lws/x", "default/x"):
        assert explain.why(name).about == "job default/x-0"
        assert explain.names.groups(name) == ["default/podgroup-lead", "default/podgroup-work"]
    assert explain.names.groups("x-0") == ["default/podgroup-work"]


def test_a_pod_group_of_the_same_name_keeps_it():
    cluster = Cluster().node("n1", cpu=4).add(DEPLOYMENT).job("web", cpu=1)
    explain = Explainer(cluster.objects())
    assert explain.why("web").head.startswith("web does not wait.")
    others = [name for name in explain.names.jobs.values() if name != "default/web"]
    assert len(others) == 1 and others[0].startswith("default/web-")


REPLICAS = """\
{apiVersion: v1, kind: Pod, metadata: {name: web-HASH-x, labels: {LABEL}, annotations: \
{scheduling.k8s.io/group-name: podgroup-HASH}}, spec: {schedulerName: volcano, NODE containers: \
[{name: c, resources: {requests: {cpu: "3"}}}]}, status: {phase: PHASE}}
---
{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: podgroup-HASH, \
ownerReferences: [{apiVersion: v9, kind: KIND, name: web-HASH, uid: u, controller: true}]}, \
spec: {minMember: 1}, status: {phase: Inqueue}}
"""


@pytest.mark.parametrize("kind, label, said", [
    ("ReplicaSet", "pod-template-hash: HASH", "A rolling update deletes the old ReplicaSet's pods"),
    ("Job", "jobset.sigs.k8s.io/jobset-name: web", "2 PodGroups, each a gang of its own: web-new")])
def test_each_pod_group_of_a_larger_owner_has_the_name_of_its_own(kind, label, said):
    replicas = REPLICAS.replace("LABEL", label).replace("KIND", kind)
    old, new = (replicas.replace("HASH", name).replace("NODE", node).replace("PHASE", phase)
                for name, node, phase in (("old", "nodeName: n1,", "Running"),
                                          ("new", "", "Pending")))
    found = Cluster().node("n1", cpu=4).add(old).add(new).why("web")
    assert found.head.startswith("web-new waits") and said in found.text
    assert "Holders of cpu in queue default: default/web-old 3." in found.text


@pytest.mark.parametrize("name", ["theirs", "a/theirs", "grouped"])
def test_a_pod_of_another_scheduler_is_reported_as_one(name):
    pod = ("{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: a%s}, spec: "
           "{containers: [{name: c}]}}")
    explain = Explainer(Cluster().node("n1", cpu=4).add(
        pod % ("theirs", ""), pod % (
            "grouped", ", annotations: {scheduling.k8s.io/group-name: g}")).objects())
    explanation = explain.why(name)
    assert explanation.codes == ["other_scheduler"] and explanation.text.endswith(
        f"{name.removeprefix('a/')} names the scheduler default-scheduler (spec.schedulerName); "
        "Volcano places pods that name volcano, and evicts none for others.")


@pytest.mark.parametrize("name", ["api", "shop/api", "deploy/api", "api-6d", "rs/api-6d"])
def test_a_deployment_of_another_scheduler_is_known_by_its_name(name):
    found = Cluster().node("n1", cpu=4).add(
        "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: api-6d, namespace: shop, "
        "ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: api, uid: d}]}}",
        "{apiVersion: v1, kind: Pod, metadata: {name: api-6d-x, namespace: shop, ownerReferences: "
        "[{apiVersion: apps/v1, kind: ReplicaSet, name: api-6d, uid: r}]}, "
        "spec: {containers: [{name: c}]}}").explainer().why(name)
    assert found.codes == ["other_scheduler"] and found.head == (
        f"{name.removeprefix('deploy/').removeprefix('rs/')} is not scheduled by Volcano: its pods "
        "are for the scheduler default-scheduler.")
    assert ("Pod shop/api-6d-x names the scheduler default-scheduler (spec.schedulerName); Volcano "
            "places pods that name volcano, and evicts none for others. Deployment api creates its "
            "pods: the scheduler is set there (schedulerName: volcano in its pod template)"
            ) in found.text


@pytest.mark.parametrize("spec, said", [
    ("concurrencyPolicy: Forbid",
     ", and no other before that has ended (concurrencyPolicy Forbid)"),
    ("concurrencyPolicy: Replace",
     ", and deletes that once it creates the next one (concurrencyPolicy Replace)"),
    ("", ", and further ones beside those that run (concurrencyPolicy Allow)")])
def test_what_creates_a_job_and_further_ones_is_named(spec, said):
    text = above(("batch.volcano.sh/v1alpha1", "CronJob", "hourly")).replace(
        "kind: CronJob\n", f"kind: CronJob\nspec: {{{spec}}}\n")
    found = Cluster().node("n1", cpu=1).add(text).explainer().why("hourly")
    assert f"CronJob a/hourly creates a/step{said}: a change that is to last is made there." in (
        found.text)


def test_a_job_that_is_called_by_its_highest_owner_is_created_by_nothing_else():
    flow = Cluster().node("n1", cpu=1).add(above(("flow.volcano.sh/v1alpha1", "JobFlow", "x")))
    assert "JobFlow a/x creates a/step: a change that is" in flow.why("x").text
    web = Cluster().node("n1", cpu="100m").add(DEPLOYMENT).why("web")
    assert "is made there" not in web.text


def test_what_a_flow_creates_later_is_named_of_its_job():
    text = above(("flow.volcano.sh/v1alpha1", "JobFlow", "x")).replace(
        "kind: JobFlow\n", "kind: JobFlow\nspec: {flows: [{name: a, dependsOn: {targets: [s]}}]}\n")
    found = Cluster().node("n1", cpu=2).add(text).explainer().why("x")
    assert "a/x: x-a: created when what it depends on has run" in found.text


FLOW = """
apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata: {name: x, namespace: a, uid: x}
spec: {flows: [{name: s}, {name: t, dependsOn: {targets: [s]}}]}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: x-s, namespace: a, uid: s, ownerReferences: [
  {apiVersion: flow.volcano.sh/v1alpha1, kind: JobFlow, name: x, uid: x, controller: true}]}
spec: {tasks: [{name: m, replicas: 1, template: {spec: {containers: [{name: c}]}}}]}
status: {state: {phase: PHASE}}
"""


@pytest.mark.parametrize("phase, never", [("Terminated", True), ("Failed", True), (
    "Running", False)])
@pytest.mark.parametrize("name", ["a/x", "a/x-t"])
def test_a_job_of_a_flow_that_depends_on_one_that_failed_is_never_created(name, phase, never):
    found = Cluster().node("n1", cpu=2).add(FLOW.replace("PHASE", phase)).explainer().why(name)
    assert (f"a/x: x-t: created once all Jobs that it depends on are Completed, which x-s "
            f"({phase}) never becomes. Mend what failed, delete the JobFlow" in found.text) == never
    assert ("x-t: created when what it depends on has run or ended" in found.text) != never


DEAD = """
apiVersion: v1
kind: Pod
metadata: {name: x-s-m-0, namespace: a, uid: p, annotations: {scheduling.k8s.io/group-name: gone},
  ownerReferences: [{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: x-s, uid: s}]}
spec: {schedulerName: volcano, nodeName: n1, containers: [{name: c}]}
status: {phase: Failed, containerStatuses: [
  {name: c, state: {terminated: {exitCode: 3, reason: Error}}}]}
"""


def test_a_pod_that_has_ended_with_its_job_lacks_no_podgroup_nor_do_jobs_after_it_come():
    flow = FLOW.replace("PHASE", "Terminated").replace(
        "targets: [s]}}]", "targets: [s]}}, {name: u, dependsOn: {targets: [t]}}]")
    explainer = Cluster().node("n1", cpu=2).add(f"{flow}---{DEAD}").explainer()
    said = "a/x-s: it is Terminated, and its controller creates no pods for it any more"
    for name in ("a/x-s-m-0", "x-s-m-0", "pod/x-s-m-0"):
        found = explainer.why(name)
        assert found.head == ("Pod a/x-s-m-0 is Failed (container c ended with Error (exit code "
                              "3)), and no cycle places a pod that has ended.")
        assert said in found.text and "create PodGroup" not in found.text
    found = explainer.why("a/x")
    assert found.head == "a/x-s is Terminated: no pod of it waits for a node. (1 failed)"
    assert "x-t, x-u: created once all Jobs that they depend on are Completed, which x-s" in (
        found.text)
    said = " ".join(group.text for group in explainer.waiting())
    assert "x-t, x-u" in said and "PodGroup that doesn't exist" not in said


# -- the names of a session ------------------------------------------------------------------------


def ref(name, kind="Job", controller=False):
    return OwnerReference("batch.volcano.sh/v1alpha1", kind, name, "u", controller)


def named(**owners):
    """The names in a session with a PodGroup of namespace ml for each of these owner references."""
    cache = Cache(Cluster().node("n1", cpu=4).job("one", cpu=1).job("n1", cpu=1).queue("train"))
    for name, references in owners.items():
        cache.add(PodGroup(ObjectMeta(name, "ml", owner_references=references)))
        cache.jobs[f"ml/{name}"].queue = "default"
    return Names(Scheduler(cache, "actions: backfill").run_once())


@pytest.mark.parametrize(("references", "called"), [
    ([], "ml/g"), ([ref("train")], "ml/train"), ([ref("")], "ml/g"),
    ([ref("a"), ref("b", controller=True)], "ml/b"), ([ref("a"), ref("b")], "ml/g"),
    ([ref("a", controller=True), ref("b")], "ml/a"),
    ([ref("", controller=True), ref("b")], "ml/g")])
def test_a_job_has_the_name_of_the_owner_that_controls_it_or_is_the_only_one(references, called):
    assert named(g=references).called("ml/g") == called


def test_a_name_that_two_podgroups_would_have_is_neither_ones():
    names = named(g=[ref("train")], h=[ref("train")], train=[], i=[ref("other")])
    assert [names.called(f"ml/{uid}") for uid in ("g", "h", "train", "i")] == [
        "ml/g", "ml/h", "ml/train", "ml/other"]
    assert names.beside("ml/g") == ["ml/g", "ml/h", "ml/train"] and not names.beside("ml/i")
    assert [names.groups(name) for name in ("h", "ml/g", "other", "job/i")] == [
        ["ml/h"], ["ml/g"], ["ml/i"], ["ml/i"]]


def test_no_job_has_the_name_that_is_another_ones_podgroup():
    names = named(g=[ref("train")], train=[ref("other")])
    assert [names.called(f"ml/{uid}") for uid in ("g", "train")] == ["ml/g", "ml/other"]


def test_an_owner_has_the_podgroups_of_all_its_jobs():
    names = named(g=[ref("train")], h=[ref("train")], i=[ref("other")])
    assert names.groups("train") == names.groups("job/ml/train") == ["ml/g", "ml/h"]


def test_a_text_has_the_names_of_jobs_for_those_of_their_podgroups():
    names = named(**{"train-u": [ref("train")]})
    assert names.plainly("ml/train-u, train-u and default/one") == "ml/train, train and default/one"


@pytest.mark.parametrize(("name", "kind", "found"), [
    ("one", "", ("job", "default/one")), ("one", "job", ("job", "default/one")),
    ("default/one-0", "pod", ("pod", "default/one-0")), ("job/one", "", ("job", "default/one")),
    ("queue/train", "", ("queue", "train")), ("train", "queue", ("queue", "train")),
    ("train", "job", ("job", "ml/train-u")), ("ml/train", "", ("job", "ml/train-u")),
    ("n1", "job", ("job", "default/n1")),
    ("job/one", "job", ("job", "default/one")), ("deployment/one", "job", ("job", "default/one")),
    ("one", "pod", "no pod is called"), ("pod/one-0", "job", "no job is called"),
    ("job/", "", "no job, pod or queue is called"), ("", "", "no job, pod or queue is called"),
    ("new/one", "", "no job, pod or queue is called")])
def test_an_object_is_found_by_its_kind_and_name(name, kind, found):
    names = named(**{"train-u": [ref("train")]})
    if isinstance(found, tuple):
        assert names.find(name, kind) == found
    else:
        with pytest.raises(LookupError, match=found):
            names.find(name, kind)


@pytest.mark.parametrize(("kind", "words"), [("", "is a node; name a pod"), ("job", "no job is ")])
def test_a_node_is_no_job(kind, words):
    ssn = Scheduler(Cluster().node("n7", cpu=1).cache()).run_once()
    with pytest.raises(LookupError, match=words):
        Names(ssn).find("n7", kind)


APART = """\
{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup,
  metadata: {name: g, namespace: one}, spec: {minMember: 1}}
---
{apiVersion: v1, kind: Pod,
  metadata: {name: p, namespace: two, FIELD: {scheduling.k8s.io/group-name: g}},
  spec: {schedulerName: volcano, containers: [{name: c}]}}
"""


def test_pods_without_a_podgroup_are_asked_about_by_its_name():
    world = Cluster().add(APART.replace("FIELD", "annotations")).explainer()
    by_group, by_pod = world.why("two/g").text, world.why("two/p").text
    assert "create PodGroup g in namespace two" in by_group
    assert by_group == by_pod.replace("two/p", "two/g")


@pytest.mark.parametrize("nodes", [["n1"], ["n1", "n1"], ["", ""], ["n1", ""]])
def test_pods_with_a_node_are_counted_only_beside_others_without_one(nodes):
    labels = {"scheduling.k8s.io/group-name": "g"}
    cluster = Cluster().add(node("n1"), group("g"), *(
        pod(f"p{number}", "", name, labels=labels, requests={"cpu": "3" if name else "9"})
        for number, name in enumerate(nodes)))
    assert ("without one." in cluster.why("g").text) is ({*nodes} == {"n1", ""})


def test_a_job_is_found_by_the_label_that_an_operator_gives_its_pods():
    """Where the operator has created no PodGroup, so that no owner has the name."""
    labels = {"sparkoperator.k8s.io/app-name": "pi", "app": "other"}
    cluster = Cluster().add(node("n1"), group("podgroup-1"), *(
        pod(f"pi-{number}", "podgroup-1", "", labels=labels,
                          requests={"cpu": "9"}) for number in range(2)))
    assert cluster.why("pi").about == cluster.why("default/pi").about == "job default/podgroup-1"
    with pytest.raises(LookupError):
        cluster.why("other")


@pytest.mark.parametrize(("field", "space", "apart"), [
    ("annotations", "two", True), ("labels", "two", True), ("labels", "one", False)])
def test_a_podgroup_is_named_by_pods_of_another_namespace(field, space, apart):
    world = Cluster().add(APART.replace("FIELD", field).replace("two", space)).explainer()
    said = f"named by {space}/p, in another namespace"
    assert (said in world.why("one/g").text) == apart
