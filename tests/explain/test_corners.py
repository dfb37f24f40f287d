"""Answers at the edges: PodGroups of one owner, failed pods, init containers, plugins not asked."""

import pytest
from evictions import conf as two_tiers

from volcano_lab import Cluster, loads
from volcano_lab.explain import Explainer
from volcano_lab.explain.options import step_of
from volcano_lab.manifests.defaults import with_defaults

NODE = """\
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 99}}}
---
"""
GROUP = """\
{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: podgroup-NAME,
  ownerReferences: [{apiVersion: v9, kind: KIND, name: OWNER, uid: u-OWNER, controller: true}]},
  spec: {minMember: LEAST, queue: default}, status: {phase: PHASE}}
---
"""
POD = """\
{apiVersion: v1, kind: Pod, metadata: {name: POD, LABELS
  annotations: {scheduling.k8s.io/group-name: podgroup-NAME}},
  spec: {schedulerName: volcano, NODE containers: [{name: c, resources: {requests: {cpu: CPU}}}]},
  status: STATUS}
---
"""
EVICTING = """\
actions: "ACTION"
tiers:
- plugins: [{name: priority}, {name: FIRST}]
- plugins: [{name: LATER}, {name: predicates}]
"""


def group(name, owner, least, kind="ReplicaSet", phase="Inqueue"):
    return GROUP.replace("NAME", name).replace("OWNER", owner).replace("KIND", kind).replace(
        "LEAST", str(least)).replace("PHASE", phase)


def pod(name, of, node="", cpu=1, status=None, labels=""):
    return POD.replace("POD", name).replace("NAME", of).replace("CPU", str(cpu)).replace(
        "STATUS", status or ("{phase: Running}" if node else "{phase: Pending}")).replace(
        "NODE", f"nodeName: {node}," if node else "").replace(
        "LABELS", f"labels: {labels}," if labels else "")


def asked(*documents, conf=None):
    return Explainer(with_defaults(loads(NODE + "".join(documents))), conf)


def shown(explanation, code):
    return next(cause.text for cause in explanation.causes if cause.code == code)


@pytest.mark.long
def test_an_owner_of_several_podgroups_is_asked_about_for_the_one_that_waits():
    explain = asked(group("old", "web-1", 2, "Deployment", "Running"), pod("a", "old", "n1"),
                    pod("b", "old", "n1"), group("new", "web-1", 2, "Deployment"), pod("c", "new"))
    answer = explain.why("web-1")
    assert answer.about == "job default/podgroup-new" and answer.codes == ["gang_invalid"]
    assert len(explain.evidence.of("job_valid", job="default/podgroup-new")) > 1
    assert [len(each.records) for each in answer.causes if each.code == "gang_invalid"] == [1]
    assert shown(answer, "groups_beside") == (
        "default/web-1 has 2 PodGroups, each a gang of its own: podgroup-new (Inqueue, "
        "1 pod), podgroup-old (Running, 2 pods).")
    assert str(answer.remedies[0]).startswith("job default/podgroup-new: minMember 2 -> 1")


def test_an_owner_of_several_podgroups_that_wait_is_asked_about_for_the_first():
    explain = asked(group("run", "spark", 1, "JobSet"), pod("c", "run"),
                    group("one", "spark", 1, "JobSet"), pod("a", "one", cpu=8),
                    group("two", "spark", 1, "JobSet"), pod("b", "two", cpu=9))
    with pytest.raises(LookupError, match="no job"):
        explain.why("sparks")
    assert explain.why("spark").about == "job default/podgroup-one"
    assert shown(explain.why("spark"), "groups_beside") == (
        "default/spark has 3 PodGroups, each a gang of its own: podgroup-one (Inqueue, 1 pod), "
        "podgroup-run (Inqueue, 1 pod), podgroup-two (Inqueue, 1 pod).")


def test_owners_of_two_kinds_with_one_name_are_asked_back():
    explain = asked(group("one", "spark", 1), pod("a", "one", cpu=8),
                    group("two", "spark", 1, "Deployment"), pod("b", "two", cpu=9))
    with pytest.raises(LookupError, match='is the name of 2: job default/podgroup-one, job'):
        explain.why("spark")


def test_a_podgroup_without_pods_whose_owner_has_another_needs_no_nodes():
    answer = asked(group("own", "driver", 1), pod("d", "own", "n1"), GROUP.replace(
        "podgroup-NAME", "spark-1").replace("OWNER", "driver").replace("KIND", "Pod").replace(
        "LEAST", "1, minResources: {cpu: 9}").replace("PHASE", "Pending")).why("spark-1")
    assert "spark-1 (Pending, 0 pods)" in shown(answer, "groups_beside")
    assert not answer.find_remedies


def test_pods_of_an_operator_without_a_podgroup_of_its_own_are_no_gang():
    pods = [pod("master", "x", "n1"), pod("worker", "x", cpu=4)]
    answer = asked(group("x", "gloo", 1, "PyTorchJob", "Running"), *pods).why("gloo")
    assert shown(answer, "no_gang") == (
        "It is no gang: its PyTorchJob came without a PodGroup, so Volcano's controller created "
        "one with a minimum of 1, and its pods are placed one by one; with "
        "--gang-scheduler-name=volcano its operator creates the PodGroup: set that, and create the "
        "PyTorchJob again.")
    answer = asked(group("x", "web", 1, "ReplicaSet", "Running"), *pods).why("web")
    assert not any("no gang" in cause.text for cause in answer.causes)


MPI = """\
{apiVersion: kubeflow.org/v2beta1, kind: MPIJob,
  metadata: {name: mpi, namespace: default, uid: u-mpi MORE}, spec: {POLICY mpiReplicaSpecs: {}}}
---
"""
LAB = "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: lab}}\n---\n"


def mpi(policy="", more=""):
    return MPI.replace("POLICY", policy).replace("MORE", more)


@pytest.mark.long
@pytest.mark.parametrize("policy, waits", [("WaitForWorkersReady", True), ("AtStartup", False)])
def test_an_owner_that_creates_pods_once_others_are_ready_deadlocks_with_gang(policy, waits):
    role = "{training.kubeflow.org/replica-type: worker}"
    answer = asked(mpi(f"launcherCreationPolicy: {policy},"), group("x", "mpi", 3, "MPIJob"),
                   pod("w-0", "x", labels=role), pod("w-1", "x", labels=role)).why("mpi")
    said = f"(launcherCreationPolicy: {policy}), and the gang starts none"
    assert (said in answer.text) == waits
    assert any("minMember 3 -> 2" in str(each) for each in answer.remedies)


REPLICAS = """\
{apiVersion: kubeflow.org/v2beta1, kind: MPIJob,
  metadata: {name: mpi, namespace: default, uid: u-mpi},
  spec: {launcherCreationPolicy: WaitForWorkersReady, mpiReplicaSpecs: {
    Launcher: {replicas: 1, template: TEMPLATE}, Worker: {replicas: 3, template: TEMPLATE}}}}
""".replace("TEMPLATE", "{spec: {schedulerName: volcano, containers: [{name: c, resources: "
                        "{requests: {cpu: 1}}}]}}")


@pytest.mark.long
def test_the_field_that_delays_pods_is_changed_and_not_their_number():
    answer = Cluster().add(NODE + REPLICAS).explainer().why("mpi")
    changes = [remedy.change for remedy in answer.remedies]
    assert changes[0] == (
        "MPIJob default/mpi: launcherCreationPolicy WaitForWorkersReady -> AtStartup")
    assert not any("replicas" in change for change in changes)
    assert "look at its replicas" not in answer.text


@pytest.mark.parametrize("name", ["mpi", "default/w-0"])
def test_pods_of_another_scheduler_are_reported_of_the_podgroup_of_their_owner(name):
    owner = ("ownerReferences: [{apiVersion: v9, kind: MPIJob, name: mpi, uid: u-mpi, "
             "controller: true}]")
    stray = pod("w-0", "x").replace("schedulerName: volcano", "schedulerName: other").replace(
        "annotations: {scheduling.k8s.io/group-name: podgroup-x}", owner)
    answer = asked(group("x", "mpi", 3, "MPIJob"), stray).why(name)
    assert answer.codes == ["other_scheduler"]
    assert answer.text.endswith("MPIJob mpi creates its pods: the scheduler is set there "
                                "(schedulerName: volcano in its pod template), or by the settings "
                                "of its operator (--gang-scheduling=volcano).")


@pytest.mark.parametrize("field, facts", [
    ("annotation scheduling.volcano.sh/queue-name", {
        "more": ", annotations: {scheduling.volcano.sh/queue-name: lab}"}),
    ("runPolicy.schedulingPolicy.queue", {
        "policy": "runPolicy: {schedulingPolicy: {queue: lab}},"})])
def test_a_queue_that_only_an_owner_names_has_no_effect(field, facts):
    owner = mpi(**facts)
    answer = asked(LAB, owner, group("x", "mpi", 1, "MPIJob"), pod("w-0", "x", cpu=9)).why("mpi")
    assert (f"{field}: lab of its MPIJob has no effect: neither its pods nor its PodGroup have it, "
            "and the latter is in queue default; with --gang-scheduling=volcano its operator "
            "creates the PodGroup: set that, and create the MPIJob again; for the PodGroup that is "
            "there: kubectl patch podgroup podgroup-x -n default --type merge -p "
            """'{"spec": {"queue": "lab"}}'.""" in answer.text)


@pytest.mark.parametrize("version, flag", [
    ("kubeflow.org/v2beta1", "--gang-scheduling"), ("kubeflow.org/v1", "--gang-scheduler-name")])
def test_an_owner_that_runs_in_another_queue_than_its_own_says_so_first(version, flag):
    owner = mpi("runPolicy: {schedulingPolicy: {queue: lab}},").replace(
        "kubeflow.org/v2beta1", version)
    answer = asked(LAB, owner, group("x", "mpi", 1, "MPIJob").replace("v9", version), pod(
        "w-0", "x", "n1")).why("mpi")
    assert answer.head.startswith("mpi is in queue default, and not in lab, which its owner names.")
    assert f"with {flag}=volcano its operator creates the PodGroup" in answer.text


@pytest.mark.parametrize("version", ["scheduling.incubator.k8s.io/v1alpha1",
                                     "scheduling.x-k8s.io/v1alpha1"])
@pytest.mark.parametrize("name, kind, flag", [
    ("o", "PyTorchJob", "--gang-scheduler-name=volcano"), ("w-0", "Widget", "")])
def test_a_podgroup_that_volcano_does_not_read_is_named(version, name, kind, flag):
    stray = pod("w-0", "x").replace("annotations:", "ownerReferences: [{apiVersion: v9, kind: "
                                    f"{kind}, name: o, uid: u-o, controller: true}}], annotations:")
    answer = asked(group("x", "o", 1, kind).replace("scheduling.volcano.sh/v1beta1", version),
                   stray).why(name)
    assert (f"doesn't exist; PodGroup default/podgroup-x is one of {version}, which Volcano does "
            "not read, but scheduling.volcano.sh/v1beta1 alone: update the operator" in answer.head)
    assert (f"with {flag} its operator creates the PodGroup" in answer.head) is bool(flag)


UNREAD = """\
{apiVersion: sparkoperator.k8s.io/v1beta2, kind: SparkApplication, metadata: {name: pi,
  namespace: default}, spec: {batchScheduler: volcano}, status: {applicationState: {
    state: SUBMISSION_FAILED, errorMessage: 'podgroups.scheduling.volcano.sh "NAME" not found'}}}
---
{apiVersion: scheduling.incubator.k8s.io/v1alpha1, kind: PodGroup, metadata: {name: pg,
  namespace: default}}
---
"""


@pytest.mark.parametrize("name", ["pg", "other"])
def test_a_podgroup_that_a_webhook_does_not_find_is_there_in_another_version(name):
    text = asked(UNREAD.replace("NAME", name)).why("pi").text
    assert ("PodGroup default/pg is one of scheduling.incubator.k8s.io/v1alpha1, which Volcano "
            "does not read" in text) is (name == "pg")
    assert ("with --enable-batch-scheduler=true its operator" in text) is (name == "pg")


@pytest.mark.parametrize("kind, version, field", [
    ("PyTorchJob", "kubeflow.org/v1", "runPolicy.schedulingPolicy.minAvailable"),
    ("Job", "batch.volcano.sh/v1alpha1", "minAvailable"), ("Job", "batch/v1", "")])
def test_jobs_that_wait_for_each_other_name_the_field_of_their_minimum(kind, version, field):
    text = asked(*(part for name in "ab" for part in (
        group(name, name, 1, kind, "Running").replace("v9", version), pod(f"{name}-0", name, "n1"),
        pod(f"{name}-1", name, cpu=3)))).why("a").text
    assert ("count all that a job needs admit fewer at once" + (
        f": {field} of default/a, whose pods request cpu 4." if field else ".")) in text


@pytest.mark.parametrize("others, says", [((), "its pods have failed, OutOfcpu."), (("n1",), "")])
def test_a_job_of_which_all_pods_have_failed_says_so_first(others, says):
    head = asked(group("x", "o", 1, "PyTorchJob"), pod(
        "w-0", "x", "n1", status="{phase: Failed, reason: OutOfcpu}"), *(
        pod("w-1", "x", node) for node in others)).why("o").head
    assert head.startswith(f"o does not wait{': ' + says if says else '.'}")


@pytest.mark.parametrize("kind, field", [
    ("Workflow", "spec.podMetadata.annotations"), ("Widget", ""),
    ("Deployment", "spec.template.metadata.annotations")])
def test_an_owner_whose_pods_name_no_queue_says_where_it_has_their_annotations(kind, field):
    owner = f"""\
{{apiVersion: {"apps/v1" if kind == "Deployment" else "argoproj.io/v1alpha1"}, kind: {kind},
  metadata: {{name: o, namespace: default, uid: u-o,
    annotations: {{scheduling.volcano.sh/queue-name: lab}}}},
  spec: {{template: {{spec: {{schedulerName: volcano}}}}}}}}
---
"""
    text = asked(LAB, owner, group("x", "o", 1, kind), pod("o-0", "x", cpu=9)).why("o").text
    assert (f"is in queue default; it is read of {field} of the {kind}, where it is to be written"
            in text) is bool(field)


@pytest.mark.parametrize("notes, template, where", [
    ("{KEY: '3'}", "{}", ""), ("{}", "{KEY: '3'}", " (spec.template)"), ("{}", "{}", None)])
def test_a_minimum_that_the_controller_has_not_read_says_where_it_reads_it(notes, template, where):
    key = "scheduling.volcano.sh/group-min-member"
    owner = """\
{apiVersion: batch/v1, kind: Job, metadata: {name: o, namespace: default, uid: u-o,
  annotations: NOTES}, spec: {template: {metadata: {annotations: TEMPLATE}, spec: {
  schedulerName: volcano, containers: [{name: c}]}}}}
---
""".replace("NOTES", notes).replace("TEMPLATE", template).replace("KEY", key)
    text = asked(owner, group("u-o", "o", 1, "Job"), pod("o-0", "u-o", cpu=9)).why("o").text
    assert (f"annotation {key}{where}: 3 of its Job has no effect: its PodGroup has a minimum of "
            "1; Volcano's controller reads it of metadata.annotations of the Job when it creates "
            "the PodGroup; for the PodGroup that is there: kubectl patch podgroup podgroup-u-o"
            in text) is (where is not None)


@pytest.mark.parametrize("labels, there, said", [
    ("{scheduling.k8s.io/group-name: train}", True, "PodGroup podgroup-train, with"),
    ("{scheduling.volcano.sh/groupname: podgroup-train}", True, "PodGroup podgroup-train, with a "
     "minimum of 4, is there and has none of them."),
    ("{scheduling.k8s.io/group-name: train}", False, "There is no PodGroup train in namespace"),
    ("{jobset.sigs.k8s.io/group-name: default}", False, "")])
def test_pods_that_name_a_podgroup_where_that_is_not_read_are_no_gang(labels, there, said):
    labels = labels.replace(": train", ": podgroup-train") if there else labels
    answer = asked(*[group("train", "t", 4)] * there, group("a", "w-0", 1, "Pod"), pod(
        "w-0", "a", "n1", labels=labels), group("b", "w-1", 1, "Pod"), pod(
        "w-1", "b", cpu=4, labels=labels))
    for name in ["w-1"] + ["t"] * there:
        text = answer.why(name).text
        assert ("created 2 PodGroups, each with a minimum of 1: they are no gang. 1 has a node and "
                "keeps it, 1 without one." in text) is bool(said) and said in text


@pytest.mark.parametrize("made, where", [
    ("Job", "spec.submitterPodTemplate"), ("RayCluster", "its pod template")])
def test_the_template_of_pods_for_another_scheduler_is_that_of_what_created_them(made, where):
    api = {"Job": "batch/v1", "RayCluster": "ray.io/v1"}[made]
    owners = f"""\
{{apiVersion: ray.io/v1, kind: RayJob, spec: {{}},
  metadata: {{name: ray, namespace: default, uid: u-ray}}}}
---
{{apiVersion: {api}, kind: {made}, metadata: {{name: part, namespace: default, uid: u-part,
  ownerReferences: [
  {{apiVersion: ray.io/v1, kind: RayJob, name: ray, uid: u-ray, controller: true}}]}}, spec: {{}}}}
---
"""
    own = f"ownerReferences: [{{apiVersion: {api}, kind: {made}, name: part, uid: u-part}}]"
    stray = pod("p", "x").replace("schedulerName: volcano", "schedulerName: other").replace(
        "annotations: {scheduling.k8s.io/group-name: podgroup-x}", own)
    assert (f"RayJob ray creates its pods: the scheduler is set there (schedulerName: volcano in "
            f"{where})" in asked(owners, stray).why("default/p").text)


@pytest.mark.parametrize("kind, part", [("SparkApplication", True), ("ReplicaSet", False)])
def test_a_minimum_that_lets_a_part_of_pods_with_roles_run_is_named(kind, part):
    answer = asked(group("x", "etl", 2, kind, "Running"), pod("driver", "x", "n1"),
                   pod("exec", "x", "n1"), pod("more", "x", cpu=3)).why("etl")
    assert ("minimum is 2 of 3 pods, so gang lets a part of it run" in answer.text) is part


def test_pods_whose_podgroup_is_gone_are_found_by_the_name_of_their_owner():
    lost = pod("db-0", "gone").replace("annotations:", "ownerReferences: [{apiVersion: apps/v1, "
                                       "kind: StatefulSet, name: db, uid: u}], annotations:")
    assert "PodGroup podgroup-gone is gone" in asked(lost).why("db").head


def test_a_failed_pod_says_what_of():
    status = "{phase: Failed, reason: OutOfcpu, message: 'cpu, requested: 1000, used: 4000'}"
    answer = asked(group("x", "low", 1), pod("p", "x", "n1", status=status)).why("low")
    assert "1 failed" in answer.head
    assert shown(answer, "failed") == (
        "Pod default/p failed: OutOfcpu: cpu, requested: 1000, used: 4000. The kubelet refused "
        "it: the node had less left than Volcano had counted.")


def test_a_label_that_names_no_queue_is_reported():
    queue = "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: lab}}\n---\n"
    labels = "{volcano.sh/queue-name: lab}"
    answer = asked(queue, group("x", "p", 1), pod("p", "x", cpu=9, labels=labels)).why("p")
    assert shown(answer, "no_effect").partition(": ")[2].startswith(
        "that its pods name queue lab has no effect: ")
    assert "lab" not in asked(queue, group("x", "p", 1), pod(
        "p", "x", cpu=1, labels=labels)).why("p").head, "its owner names none"
    answer = asked(group("x", "p", 1), pod("p", "x", cpu=9)).why("p")
    assert "no_effect" not in [cause.code for cause in answer.causes]


def test_a_kind_that_is_not_read_is_known_by_name():
    cron = ("{apiVersion: ray.io/v1, kind: RayCronJob, metadata: {name: nightly}, "
            "spec: {schedule: 0 3 * * *}}\n---\n")
    assert "kind RayCronJob is not modelled" in asked(cron).why("nightly").head
    with pytest.raises(LookupError):
        asked(cron).why("night")
    said = ("status: {state: Queued, conditions: [{type: Admitted, status: 'False', message: no "
            "quota., lastTransitionTime: '2026-01-02'}, {type: Created, status: 'True', message: "
            "it is there, lastTransitionTime: '2026-01-01'}]}")
    other = f"{{apiVersion: example.com/v1, kind: AIJob, metadata: {{name: big}}, {said}}}\n---\n"
    assert "its status says Queued; Admitted False: no quota." in asked(other).why("big").text


@pytest.mark.parametrize("phase", ["Completing", "Restarting"])
def test_a_job_that_is_being_ended_has_no_pods_for_that(phase):
    job = f"""\
{{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {{name: done, uid: u-done}}, spec: {{
  minAvailable: 1, schedulerName: volcano, tasks: [{{name: t, replicas: 1, template: {{spec: {{
  containers: [{{name: c}}]}}}}}}]}}, status: {{state: {{phase: {phase}}}}}}}
---
"""
    given = group("x", "done", 1, "Job", "Running").replace("podgroup-x", "done-u-done").replace(
        "v9", "batch.volcano.sh/v1alpha1")
    answer = asked(job, given).why("done")
    assert [cause.text for cause in answer.causes] == [
        f"default/done: it is {phase}: its controller ends its pods, and creates none before these "
        "have ended."]


@pytest.mark.long
def test_what_init_containers_ask_for_is_said():
    init = "initContainers: [{name: i, resources: {requests: {cpu: 9}}}], containers:"
    answer = asked(group("x", "etl", 1), pod("p", "x").replace("containers:", init),
                   conf='actions: "allocate"\ntiers: [{plugins: [{name: predicates}]}]').why("etl")
    assert answer.causes[0].text == (
        "Pod default/p requests cpu 9; no node is that large, even empty: the largest has 4. "
        "Its init container i requests this much; the other containers request cpu 1.")
    assert [remedy.change for remedy in answer.remedies] == [
        "1 more node like n1 with cpu 9",
        "job default/etl: request per pod cpu 9 -> 4 (init container i)"]


@pytest.mark.long
def test_only_the_init_containers_that_decide_a_request_are_named():
    init = ("initContainers: [{name: small, resources: {requests: {cpu: 100m}}}, {name: large, "
            "resources: {requests: {cpu: 9}}}], containers:")
    found = asked(group("x", "etl", 1), pod("p", "x").replace("containers:", init),
                  conf='actions: "allocate"\ntiers: [{plugins: [{name: predicates}]}]').why("etl")
    assert "Its init container large requests this much" in found.text
    assert [remedy.change for remedy in found.remedies][1:] == [
        "job default/etl: request per pod cpu 9 -> 4 (init container large)"]


def test_minimal_resources_beyond_the_pods_are_reported():
    large = group("x", "tf", 1, phase="Pending").replace("minMember", "minResources: {cpu: 40}, "
                                                         "minMember")
    answer = asked(large, pod("p", "x", cpu=2)).why("tf")
    assert shown(answer, "min_resources_beyond") == (
        "Its PodGroup's minResources are cpu 40; the pods that exist request 2.")
    assert not {"min_resources_beyond", "held_by", "pod_too_large"} & {*answer.codes}


@pytest.mark.long
def test_minimal_resources_that_count_executors_are_reported_and_stay():
    large = group("x", "tf", 1, "SparkApplication", "Pending").replace(
        "minMember", "minResources: {cpu: 40}, minMember")
    answer = asked(large, pod("p", "x", cpu=2)).why("tf")
    assert shown(answer, "min_resources_ahead") == (
        "Its PodGroup's minResources are cpu 40: they count its executors, which are created when "
        "its other pods run; these request 2.")
    assert not any("min_resources" in str(remedy) for remedy in answer.remedies)


def test_pods_of_others_are_named_beside_the_jobs_own():
    cluster = Cluster().node("n1", cpu=8).job("j", pods=3, cpu=1)
    cluster.add("{apiVersion: v1, kind: Pod, metadata: {name: etcd, namespace: kube-system}, spec: "
                "{nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 6}}}]}, "
                "status: {phase: Running}}")
    answer = Explainer(cluster.objects(), 'actions: "allocate"\ntiers: [{plugins: [{name: gang}, '
                       '{name: predicates}]}]').why("j")
    assert shown(answer, "held_by") == (
        "Pods that Volcano does not schedule hold cpu 6 (kube-system/etcd).")


def test_own_pods_count_for_what_a_queue_holds():
    text = Explainer(Cluster().node("n1", cpu=4).job("j", pods=5, min_member=1, cpu=1).objects(),
                     "actions: allocate").why("j").causes[0].text
    assert "Counted in: 4 pods of this job, placed earlier in the same attempt." in text


def reclaimed():
    cluster = Cluster().node("n1", cpu=4).queue("a", deserved=4).queue("c", deserved=2)
    cluster.job("old", queue="c", pods=2, min_member=1, cpu=1, running={"n1": 2})
    return cluster.job("new", queue="a", pods=4, min_member=1, cpu=1)


@pytest.mark.long
def test_a_plugin_of_a_later_tier_is_said_not_to_be_asked_and_put_first():
    conf = EVICTING.replace("ACTION", "allocate, reclaim").replace(
        "FIRST", "conformance").replace("LATER", "capacity")
    explain = Explainer(reclaimed().objects(), conf)
    victim = next(key for key in explain.evidence.tasks
                  if explain.evidence.of("commit", task=key, operation="evict"))
    answer = explain.why(victim)
    assert shown(answer, "queue_within_deserved") == (
        "Queue c held cpu 2 and deserves 2 (plugin capacity, which compares them, was not "
        "asked: the first tier that names a victim decides, and it is in a later one).")
    assert answer.remedies[0].change == "plugin capacity in tier 1"
    assert answer.remedies[0].effect.startswith("old loses no pods")


@pytest.mark.long
def test_deserved_of_a_queue_that_keeps_its_pods_is_lowered():
    conf = EVICTING.replace("ACTION", "allocate, reclaim").replace("FIRST", "capacity").replace(
        "LATER", "gang")
    answer = Explainer(reclaimed().objects(), conf).why("new")
    cause = next(cause for cause in answer.causes if cause.code == "victims_within_deserved")
    assert cause.text.endswith("The queues deserve cpu 6 in total, and the cluster has 4.")
    assert answer.remedies[0].change.startswith("queue c: deserved cpu 2 -> ")


@pytest.mark.long
def test_of_what_a_queue_deserves_one_resource_is_lowered_where_that_is_enough():
    """Of no cpu deserved, memory alone is compared: no step of the search."""
    conf = EVICTING.replace("ACTION", "allocate, reclaim").replace("FIRST", "capacity").replace(
        "LATER", "nodeorder")
    cluster = Cluster().node("n1", cpu=8, memory="16Gi").queue(
        "a", deserved={"cpu": 8, "memory": "16Gi"}).queue(
        "c", deserved={"cpu": 6, "memory": "8Gi"})
    for name, queue in (("old", "c"), ("own", "a")):
        cluster.job(name, queue=queue, pods=4, min_member=1, cpu=1, memory="1Gi",
                    running={"n1": 4})
    answer = Explainer(cluster.job("new", queue="a", cpu=1, memory="1Gi").objects(), conf).why(
        "new")
    assert [each.change for each in answer.remedies][:2] == [
        "queue c: deserved cpu 6 -> 3", "queue c: deserved memory 8Gi -> 3Gi"]


@pytest.mark.long
def test_pods_without_labels_are_said_to_be_no_victims_and_given_one():
    low = pod("l", "low", "n1", cpu=4)
    high = group("high", "high", 1).replace("minMember", "priorityClassName: p, minMember")
    classes = ("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: p}, "
               "value: 9}")
    conf = EVICTING.replace("ACTION", "allocate, preempt").replace("FIRST", "pdb").replace(
        "LATER", "nodeorder")
    answer = Explainer(asked(group("low", "low", 1, phase="Running"), low, high,
                             pod("h", "high", cpu=4), classes).objects, conf).why("high")
    assert shown(answer, "protected_by_pdb").endswith(
        "pdb allows none: they have no labels, and it never lets pods without labels go.")
    assert "label pod default/l app=l" in [each.change for each in answer.remedies]


@pytest.mark.long
def test_pods_in_their_cooldown_are_said_to_be_kept():
    status = ("{phase: Running, conditions: [{type: PodScheduled, status: 'True', "
              "lastTransitionTime: '2026-11-20T08:00:00Z'}]}")
    low = pod("l", "low", "n1", cpu=4, status=status, labels="{volcano.sh/cooldown-time: 100h}")
    classes = ("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: p}, "
               "value: 9}")
    high = group("high", "high", 1).replace("minMember", "priorityClassName: p, minMember")
    conf = EVICTING.replace("ACTION", "allocate, preempt").replace("FIRST", "cdp").replace(
        "LATER", "nodeorder")
    objects = asked(group("low", "low", 1, phase="Running"), low, high, pod("h", "high", cpu=4),
                    classes).objects
    assert shown(Explainer(objects, conf, 1795165200.0).why("high"), "protected_by_cooldown") == (
        "preempt finds 1 candidate (of default/low), but cdp allows none: they have run for less "
        "than their volcano.sh/cooldown-time. The first of these times ends at 2026-11-24 12:00 "
        "UTC: from then on cdp allows that pod; a shorter volcano.sh/cooldown-time of the pods "
        "counts at once.")
    later = Explainer(objects, conf, 1795165200.0 + 100 * 3600)
    assert later.why("high").codes == ["promised"]


@pytest.mark.long
def test_within_a_job_a_pod_that_is_asked_about_may_be_given_anothers_place():
    pods = [pod(f"low-{number}", "x", "n1") for number in range(4)]
    high = pod("high", "x").replace("schedulerName", "priority: 9, schedulerName")
    conf = EVICTING.replace("ACTION", "allocate, preempt").replace("FIRST", "gang").replace(
        "LATER", "priority")
    explain = asked(group("x", "mix", 1, phase="Running"), *pods, high, conf=conf)
    changes = {remedy.change: remedy.effect for remedy in explain.why("default/high").remedies}
    assert changes["enableJobStarving: false for gang"] == (
        "high is pipelined to n1; evicts 1 pod of mix; created again, these are placed")
    assert "enableJobStarving: false for gang" not in [
        remedy.change for remedy in explain.why("mix").remedies]


@pytest.mark.long
def test_a_small_cut_of_a_request_comes_before_more_nodes_and_fewer_pods():
    cluster = Cluster().node("n1", cpu=8).node("n2", cpu=8)
    cluster.job("old", pods=2, cpu=1, running={"n1": 1, "n2": 1}).job("new", pods=2, cpu=8)
    cluster.node("n3", cpu=8)
    remedies = Explainer(cluster.objects(), 'actions: "allocate"\ntiers: [{plugins: [{name: gang}, '
                         '{name: predicates}]}]').why("new").remedies
    assert [remedy.change for remedy in remedies] == [
        "job default/new: request per pod cpu 8 -> 7", "wait for the end of default/old",
        "1 more node like n1", "job default/new: minMember 2 -> 1"]


def test_pages_and_bytes_are_counted_in_their_steps():
    assert step_of("hugepages-2Mi") == 2**21 and step_of("nvidia.com/gpu", 8) == 1


@pytest.mark.long
def test_taints_of_a_cloud_are_a_state_of_the_node():
    cluster = Cluster().add(
        "{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {taints: [{key: "
        "node.cloudprovider.kubernetes.io/uninitialized, effect: NoSchedule}]}, "
        "status: {allocatable: {cpu: 4, pods: 9}}}").job("j", cpu=1)
    answer = Explainer(cluster.objects()).why("j")
    assert answer.causes[0].text.endswith("as long as the node is in that state.")
    assert [remedy.change.partition(",")[0] for remedy in answer.remedies] == ["repair node n1"]


def test_usage_that_is_not_measured_is_reported_by_the_linter():
    from volcano_lab.explain.lint import ignored_fields
    conf = "actions: allocate\ntiers: [{plugins: [{name: usage}]}]"
    cluster = Cluster().node("n1", cpu=4)

    def shown(cluster):
        found = [*map(str, ignored_fields(cluster.run(conf).session))]
        return any("Plugin usage: " in text for text in found)
    assert shown(cluster)
    measured = cluster.add("{apiVersion: v1, kind: Node, metadata: {name: n2, annotations: "
                           "{volcano-lab/cpu-usage: '10'}}, status: {allocatable: {cpu: 4}}}")
    assert not shown(measured)


@pytest.mark.long
def test_pods_that_say_they_may_not_be_evicted_are_reported_with_the_change():
    pods = [pod(f"low-{number}", "low", "n1").replace("annotations: {", "annotations: {"
            "volcano.sh/preemptable: 'false', ") for number in range(4)]
    high = group("high", "high", 1).replace("minMember", "priorityClassName: p, minMember")
    conf = EVICTING.replace("ACTION", "allocate, preempt").replace("FIRST", "gang").replace(
        "LATER", "conformance")
    classes = ("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: p}, "
               "value: 9}")
    answer = asked(group("low", "low", 1, phase="Running"), *pods, high, pod("h", "high"), classes,
                   conf=conf).why("high")
    assert shown(answer, "not_preemptable") == (
        "preempt evicts no pods of default/low: they have volcano.sh/preemptable: false.")
    assert "job default/low: volcano.sh/preemptable unset -> true" in [
        remedy.change for remedy in answer.remedies]


@pytest.mark.long
def test_a_capability_of_no_devices_is_a_limit_that_is_raised():
    cluster = Cluster().node("n1", cpu=4, gpu=2).queue("a", capability={"nvidia.com/gpu": 0})
    answer = Explainer(cluster.job("j", queue="a", cpu=1, gpu=1).objects()).why("j")
    assert answer.causes[0].text.endswith("limit 0 (its capability).")
    assert "queue a: capability nvidia.com/gpu 0 -> 1" in [
        remedy.change for remedy in answer.remedies]


def test_pods_that_have_ended_hold_no_place():
    done = pod("a", "x", "n1", status="{phase: Succeeded}")
    head = asked(group("x", "batch", 2, "Job"), done, pod("b", "x", cpu=9)).why("batch").head
    assert "(PodGroup Inqueue, 0 of 2 pods placed, 1 succeeded)" in head


def test_a_device_that_is_not_announced_is_reported_of_a_queue_too():
    cluster = Cluster().node("n1", cpu=4, gpu=2)
    cluster.job("j", resources={"cpu": 1, "nvidia.com/gpumem": 4000})
    said = Explainer(cluster.objects(), EVICTING.replace("ACTION", "allocate").replace(
        "FIRST", "gang").replace("LATER", "proportion")).why("j").causes[0].text
    assert ("No node announces nvidia.com/gpumem; the nearest name is nvidia.com/gpu (2 on all "
            "nodes).") in said


@pytest.mark.long
def test_a_plugin_that_was_asked_is_not_put_first():
    conf = EVICTING.replace("ACTION", "allocate, reclaim").replace("FIRST", "gang").replace(
        "LATER", "proportion")
    cluster = Cluster().node("n1", cpu=4).queue("a").queue("b")
    cluster.job("old", queue="a", pods=4, cpu=1, running={"n1": 4}).job("new", queue="b", cpu=1)
    explain = Explainer(cluster.objects(), conf)
    victim = next(key for key in explain.evidence.tasks
                  if explain.evidence.of("commit", task=key, operation="evict"))
    assert not any("first tier" in remedy.change for remedy in explain.why(victim).remedies)


@pytest.mark.long
def test_only_the_taint_that_is_not_tolerated_is_to_be_tolerated():
    cluster = Cluster().add(
        "{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {taints: [{key: gpu, effect: "
        "NoSchedule}, {key: team, effect: NoSchedule}]}, status: {allocatable: {cpu: 4, pods: 9}}}")
    cluster.add("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {schedulerName: volcano, "
                "tolerations: [{key: gpu, operator: Exists}], containers: [{name: c}]}}")
    changes = [remedy.change for remedy in Explainer(cluster.objects()).why("p").remedies]
    assert changes == ["job default/p: with a toleration of team:NoSchedule",
                       "remove taint team of node n1"]


def test_a_node_as_large_as_the_request_is_large_enough():
    """Of the queue's refusal follows that also the only large node would refuse the pod."""
    taint = ("{apiVersion: v1, kind: Node, metadata: {name: n9}, spec: {taints: [{key: gpu, value: "
             "a, effect: NoSchedule}]}, status: {allocatable: {cpu: 4, pods: 9}}}")
    cluster = Cluster().add(taint).node("n1", cpu=2).queue("q", capability={"cpu": 2})
    answer = cluster.job("train", queue="q", cpu=4).why("train")
    assert "1 of 2 nodes is large enough. 1 of 1 nodes (n9) cannot take" in answer.text


def test_a_victim_is_reported_with_the_number_of_candidates():
    cluster = Cluster().node("n1", cpu=3).queue("a").queue("b")
    cluster.job("low", queue="a", pods=3, min_member=1, cpu=1, running={"n1": 3})
    explain = Explainer(cluster.job("high", queue="b", cpu=1).objects(),
                        two_tiers(actions="enqueue, allocate, reclaim"))
    victim = next(key for key in explain.evidence.tasks
                  if explain.evidence.of("commit", task=key, operation="evict"))
    assert "evicting 1 of 2 candidates is enough" in explain.why(victim).text


def test_what_was_measured_on_nodes_stands_beside_the_thresholds_of_plugin_usage():
    conf = {"actions": "enqueue, allocate", "tiers": [{"plugins": [
        {"name": "gang"}, {"name": "predicates"},
        {"name": "usage", "arguments": {"thresholds": {"cpu": 85}}}]}]}
    nodes = "".join(
        f"{{apiVersion: v1, kind: Node, metadata: {{name: n{at}, annotations: {{"
        f"volcano-lab/cpu-usage: '{cpu}', volcano-lab/memory-usage: '40'}}}}, "
        "status: {allocatable: {cpu: 8, pods: 99}}}\n---\n"
        for at, cpu in enumerate([92.5, 90, 99, 86, 100]))
    found = Cluster().add(nodes).job("train", cpu=1).why("train", conf=conf)
    assert found.causes[0].code == "over_usage"
    assert ("The thresholds are 85% of a node's CPU and 80% of its memory; used are 92.5% and 40% "
            "on n0, 90% and 40% on n1, 99% and 40% on n2, 86% and 40% on n3 and 1 more."
            in " ".join(found.text.split()))
    assert found.remedies[0].args == ["--set", 'plugin/usage.thresholds={"cpu": 86, "mem": 80}']


def test_thresholds_by_names_that_plugin_usage_read_before_are_offered_by_those_that_it_reads():
    conf = {"actions": "enqueue, allocate", "tiers": [{"plugins": [
        {"name": "gang"}, {"name": "predicates"}, {"name": "usage", "arguments": {
            "thresholds": {"CPUUsageAvg.5m": 95, "MEMUsageAvg.5m": 70}}}]}]}
    node = ("{apiVersion: v1, kind: Node, metadata: {name: n1, annotations: {"
            "volcano-lab/cpu-usage: '90', volcano-lab/memory-usage: '60'}}, "
            "status: {allocatable: {cpu: 8, pods: 99}}}")
    found = Cluster().add(node).job("train", cpu=1).why("train", conf=conf)
    assert found.remedies[0].args == ["--set", 'plugin/usage.thresholds={"cpu": 95, "mem": 70}']


def test_node_metrics_are_the_load_that_plugin_usage_knows():
    conf = {"actions": "enqueue, allocate", "tiers": [{"plugins": [
        {"name": "gang"}, {"name": "predicates"}, {"name": "usage"}]}]}
    nodes = ("{apiVersion: v1, kind: Node, metadata: {name: n1}, "
             "status: {capacity: {cpu: 8, memory: 8Gi}, allocatable: {cpu: 7, pods: 99}}}\n---\n"
             "{apiVersion: metrics.k8s.io/v1beta1, kind: NodeMetrics, metadata: {name: n1}, "
             "usage: {cpu: 7600m, memory: 2Gi}}\n---\n"
             "{apiVersion: metrics.k8s.io/v1beta1, kind: NodeMetrics, metadata: {name: n9}, "
             "usage: [much]}")
    loaded = loads(nodes)
    assert [*map(str, loaded.warnings)] == [
        "NodeMetrics of n1 are read as the load that plugin usage knows; Volcano itself asks the "
        "source that metrics in its configuration names, for averages."]
    found = Cluster(loaded).job("train", cpu=1).why("train", conf=conf)
    assert "used are 95% and 25% on n1." in " ".join(found.text.split())
    assert "used are 10% and" in " ".join(Cluster(loads(nodes.replace("{name: n1}, status", (
        "{name: n1, annotations: {volcano-lab/cpu-usage: '10'}}, status")))).job(
            "train", cpu=1).why("train", conf=str(conf).replace(
                "'usage'}", "'usage', 'arguments': {'thresholds': {'cpu': 5}}}")).text.split())
