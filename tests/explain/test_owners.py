"""What the owners of pods say, and their pods have not; what they never create, or do not keep
running.
"""

from __future__ import annotations

import pytest

from volcano_lab import Cluster
from volcano_lab.changes.change import Change
from volcano_lab.explain import Explainer
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.loader import loads

CONF = """\
actions: "allocate, preempt, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: predicates}, {name: proportion}, {name: nodeorder}]
"""
GROUP = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: pg, namespace: a}
spec: {minMember: LEAST, queue: default MORE}
status: {phase: Inqueue}
---
"""
POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: NAME
  namespace: a
  labels: LABELS
  annotations: {scheduling.k8s.io/group-name: GROUP}
  ownerReferences: [{apiVersion: v1, kind: KIND, name: o, uid: u, controller: true}]
spec:
  schedulerName: volcano
  MORE
  containers: [{name: CONTAINER, image: i, resources: {requests: {cpu: CPU}}}]
STATUS
---
"""
SPARK = """\
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata: {name: o, namespace: a, uid: u}
spec: {batchScheduler: volcano, driver: {cores: 1}, executor: {cores: CPU, memory: 1g, SPEC}}
---
"""


def group(least=1, more="", name="pg"):
    return GROUP.replace("LEAST", str(least)).replace("MORE", more).replace("name: pg", (
        f"name: {name}"))


def pod(name="o-0", kind="Job", labels="{}", more="", container="c", cpu=1, status="", into="pg"):
    facts = {"NAME": name, "LABELS": labels, "GROUP": into, "KIND": kind, "MORE": more,
             "CONTAINER": container, "CPU": str(cpu), "STATUS": status}
    text = POD
    for word, value in facts.items():
        text = text.replace(word, value)
    return text


def asked(*texts, taint="", cpu=4, now=None, conf=CONF):
    node = f"""\
apiVersion: v1
kind: Node
metadata: {{name: n1, labels: {{zone: b}}}}
spec: {{{taint}}}
status: {{allocatable: {{cpu: {cpu}, memory: 9Gi, pods: 9}}}}
---
"""
    return Explainer(with_defaults(loads(node + "".join(texts))), conf, now=now)


WORKFLOW = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: o, namespace: a, uid: u}
spec: {entrypoint: m, MORE templates: [{name: m, container: {image: i}}]}
---
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: o, namespace: a, uid: u}
spec: {completions: 3, MORE template: {spec: {schedulerName: volcano, containers: [
  {name: c, image: i}]}}}
---
"""
WAIT = ("and the gang starts none before 3 exist: they wait for each other, until the parallelism "
        "is higher or the minimum lower.")


@pytest.mark.parametrize("kind, owner, more, said", [
    ("Workflow", WORKFLOW, "parallelism: 1,", f"Workflow o has at most 1 pods at once (its "
                                              f"parallelism), {WAIT}"),
    ("Workflow", WORKFLOW, "parallelism: 3,", "Workflow o creates them: look"),
    ("Workflow", WORKFLOW, "", "Workflow o creates them: look"),
    ("Job", JOB, "", "Job o has at most 1 pods at once"),
    ("Job", JOB, "parallelism: 3,", "Job o creates them: look")])
def test_an_owner_that_has_fewer_pods_at_once_than_its_gang_is_named(kind, owner, more, said):
    found = asked(owner.replace("MORE", more), group(3), pod(kind=kind))
    for name in ("a/o", f"{kind.lower()}/o", "o"):  # the PodGroup itself has no owner
        assert said in found.why(name).text


@pytest.mark.parametrize("role, said", [
    ("", "0 of 1 pods of role w exist that may run. 1 of its pods names no role: minTaskMember "
     "counts pods by their annotation volcano.sh/task-spec, which is to be in the template"),
    ("volcano.sh/task-spec: ps, ", "Job o creates them: look at its replicas")])
def test_pods_without_a_role_are_reported_where_a_role_has_a_minimum(role, said):
    text = pod().replace("annotations: {", f"annotations: {{{role}")
    assert said in asked(group(1, ", minTaskMember: {w: 1}"), text).why("a/pg").text


@pytest.mark.parametrize("label, name, shown", [
    ("scheduling.x-k8s.io/pod-group", "podgroup-u", True),
    ("pod-group.scheduling.sigs.k8s.io", "podgroup-u", True), ("app", "podgroup-u", False),
    ("scheduling.x-k8s.io/pod-group", "own", False)])
def test_a_gang_of_another_scheduler_is_said_to_be_none(label, name, shown):
    pods = [pod(f"o-{number}", labels=f"{{{label}: ft}}", cpu=3, into=name) for number in (0, 1)]
    found = asked(group(name=name), *pods).why(f"a/{name}")
    assert (f"It is no gang: the label {label} of its pods names PodGroup ft of another scheduler"
            in found.text) == shown


@pytest.mark.long
@pytest.mark.parametrize("own, code", [("spark-o-pg", None), ("podgroup-u", "held_by.twice")])
def test_a_podgroup_without_pods_that_counts_those_of_another_one_is_deleted_alone(own, code):
    """The application is called by its name, and is not deleted for its PodGroup."""
    ref = ("ownerReferences: [{apiVersion: sparkoperator.k8s.io/v1beta2, kind: SparkApplication, "
           "name: o, uid: u, controller: true}]")
    groups = [group(name=name, more=f", minResources: {{cpu: {cpu}}}").replace(
        "namespace: a", f"namespace: a, {ref}").replace("Inqueue", phase)
        for name, cpu, phase in (("spark-o-pg", 5, "Inqueue"), ("podgroup-u", 1, "Pending"))]
    driver = pod("o-driver", "SparkApplication", "{spark-role: driver}", into=own)
    found = asked(SPARK.replace("CPU", "1").replace("SPEC", "instances: 4"), *groups, driver,
                  conf=CONF.replace("allocate", "enqueue, allocate")
                  .replace("{name: predicates}", "{name: predicates}, {name: overcommit}")).why(
        "a/o" if code else "a/spark-o-pg")
    assert ("they are counted twice, as they name PodGroup podgroup-u" in found.text) is bool(code)
    assert found.head.startswith("a/o waits for admission") is bool(code)
    assert [str(each) for each in found.remedies][:1] == [
        "delete a/spark-o-pg, a PodGroup without pods (o is placed on n1)"] * bool(code)


VCJOB = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: NAME, namespace: a, uid: u-NAME}
spec: {minAvailable: 1, schedulerName: volcano, tasks: [{name: t, replicas: 1, template: {spec: {
  containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}]}
status: {state: {phase: PHASE}}
---
"""
OWNED = group(name="done-u").replace("namespace: a}", (
    "namespace: a, ownerReferences: [{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: done,"
    " uid: u-done, controller: true}]}")).replace("Inqueue", "Completed")
QUOTA = """\
apiVersion: v1
kind: ResourceQuota
metadata: {name: q, namespace: SPACE}
status: {hard: {count/podgroups.scheduling.volcano.sh: HARD}, used: {
  count/podgroups.scheduling.volcano.sh: 1}}
---
"""


@pytest.mark.parametrize("space, hard, refused", [
    ("a", "1", True), ("a", "2", False), ("b", "1", False)])
def test_a_quota_of_podgroups_keeps_a_job_from_being_created(space, hard, refused):
    done = VCJOB.replace("NAME", "done").replace("PHASE", "Completed") + OWNED
    new = VCJOB.replace("NAME", "new").replace("PHASE", "Pending")
    found = asked(done, new, QUOTA.replace("SPACE", space).replace("HARD", f'"{hard}"'))
    shown = ("a/new: its PodGroup is not created, nor are its pods: ResourceQuota a/q allows 1 "
            "podgroups.scheduling.volcano.sh, and 1 exist. Those of ended Jobs count, too: delete "
            "them (done), let ttlSecondsAfterFinished in their spec do so, or raise the count.")
    assert (shown in found.why("a/new").text) == refused
    assert [each.jobs for each in found.waiting()] == [["a/new"]] * refused
    key = "resourcequota/a/q.status.hard[count/podgroups.scheduling.volcano.sh]=2"
    for change in (Change(removals=("job/a/done",)), Change((key,))) if refused else ():
        after, conf = change.given(found.evidence.given, load_conf(CONF))
        assert Explainer(after, conf).why("a/new").head.startswith("a/new does not wait.")


EVENT = """\
apiVersion: v1
kind: Event
metadata: {name: e, namespace: a}
involvedObject: {kind: Pod, name: old, namespace: a}
type: Warning
reason: FailedKillPod
message: context deadline exceeded
---
"""


@pytest.mark.parametrize("ends, head", [
    ("2026-01-01T00:00:00Z", "a/pg waits for a/old to end, which is overdue since 2026-01-01"),
    ("2026-01-02T00:00:00Z", "a/pg waits for resources that are being freed.")])
def test_a_pod_that_does_not_end_is_named_with_the_warning_about_it(ends, head):
    leaving = pod("old", cpu=4, more="nodeName: n1", status="status: {phase: Running}",
                  into="x").replace("name: old", f"name: old\n  deletionTimestamp: '{ends}'")
    found = asked(group(), group(name="x"), leaving, EVENT, pod("o-0", cpu=4),
                  now=1767312000.0).why("a/pg")
    assert found.head.startswith(head)
    assert ("Event FailedKillPod of it" in found.text) == ("overdue" in head)


CLASSES = "".join(f"""\
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {{name: {name}}}
value: {value}
---
""" for name, value in (("low", 1), ("high", 9)))


@pytest.mark.long
@pytest.mark.parametrize("own, shown", [("low", True), ("high", False)])
def test_the_priority_of_victims_that_does_not_count_between_jobs_is_reported(own, shown):
    running = [pod(f"r-{number}", cpu=2, more=f"nodeName: n1\n  priorityClassName: {own}",
                   status="status: {phase: Running}", into="r") for number in (0, 1)]
    high = ", priorityClassName: high"
    found = asked(CLASSES, group(1, high, "r").replace("Inqueue", "Running"), *running,
                  group(1, high), pod(cpu=2, more="priorityClassName: high")).why("a/pg")
    assert ("Pods of a/r have a lower priority themselves (1 is the lowest), which counts within "
            "their job only" in found.text) == shown
    assert ("job a/r: priorityClassName high -> low" in [
        each.change for each in found.remedies]) == shown


@pytest.mark.long
@pytest.mark.parametrize("made_for, waits", [
    ("RayCluster", False), ("RayService", False), ("RayJob", True)])
def test_the_end_of_what_serves_is_not_waited_for(made_for, waits):
    labels = f"{{ray.io/originated-from-crd: {made_for}}}"
    held = [pod(f"r-{number}", labels=labels, cpu=2, more="nodeName: n1",
                status="status: {phase: Running}", into="r") for number in (0, 1)]
    found = asked(group(2, "", "r").replace("Inqueue", "Running"), *held, group(), pod(cpu=2))
    assert any(each.change == "wait for the end of a/r"
               for each in found.why("a/pg").remedies) == waits


@pytest.mark.parametrize(("owner", "policy", "stays"), [
    ("", "Always", True), ("", "Never", False), ("kind: Job, name: o, apiVersion: batch/v1",
                                                 "Always", False),
    ("kind: Job, name: o, apiVersion: batch.volcano.sh/v1alpha1", "Always", True)])
def test_the_end_of_pods_that_are_started_again_is_not_waited_for(owner, policy, stays):
    held = pod("r-0", cpu=4, more=f"nodeName: n1\n  restartPolicy: {policy}",
               status="status: {phase: Running}", into="r").replace(
        "ownerReferences: [{apiVersion: v1, kind: Job, name: o, uid: u, controller: true}]",
        f"ownerReferences: [{f'{{{owner}, uid: u}}' * bool(owner)}]")
    found = asked(group(1, "", "r").replace("Inqueue", "Running"), held, group(), pod(cpu=2)).why(
        "a/pg")
    assert ("a/r 4 (restartPolicy Always: its pods end once they are deleted)"
            in " ".join(found.text.split())) == stays
    assert any("wait for the end" in each.change for each in found.remedies) != stays


MPI = """\
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: o, namespace: a, uid: u}
spec: {mpiReplicaSpecs: {Worker: {replicas: 2, template: {spec: {containers: [{name: c}]}}}}}
status: {conditions: [{type: STATE, status: "True"}]}
---
"""


@pytest.mark.long
@pytest.mark.parametrize("state, first", [
    ("Succeeded", "delete mpijob/a/o"), ("Running", "wait for the end of a/o")])
def test_what_an_owner_that_has_ended_leaves_is_deleted_and_no_end_of_it_waited_for(state, first):
    own = ("namespace: a, ownerReferences: [{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, name: "
           "o, uid: u, controller: true}]}")
    held = [pod(f"r-{number}", kind="MPIJob", cpu=2, more="nodeName: n1",
                status="status: {phase: Running}", into="r") for number in (0, 1)]
    found = asked(MPI.replace("STATE", state), group(2, "", "r").replace(
        "namespace: a}", own).replace("Inqueue", "Running"), *held, group(), pod(cpu=2)).why("a/pg")
    changes = [each.change for each in found.remedies]
    assert changes[0] == first and ("wait for the end of a/o" in changes) == (state == "Running")
    assert ("a/o 4 (Succeeded: its controller leaves the pods that run)" in found.text) == (
        state == "Succeeded")


def test_a_pod_that_stays_on_a_node_that_is_not_ready_is_reported_with_this_and_among_all():
    dead = """\
{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 4, pods: 9},
  conditions: [{type: Ready, status: Unknown, message: Kubelet stopped posting node status.}]}}
---
"""
    left = pod("old", more="nodeName: n2", status="status: {phase: Running}").replace(
        "name: old", "name: old\n  deletionTimestamp: '2026-01-01T00:00:00Z'")
    found = asked(dead, group(2).replace("Inqueue", "Running"), left, pod(
        "o-1", more="nodeName: n1", status="status: {phase: Running}"), now=1767312000.0)
    assert found.why("a/pg").head.startswith("a/pg waits for a/old to end, which is overdue since")
    assert "n2 is not Ready: Kubelet stopped posting node status." in found.why("a/pg").text
    assert [each.jobs for each in found.waiting()] == [["a/pg"]]


@pytest.mark.long
@pytest.mark.parametrize("least, reason, shown", [
    (2, "CrashLoopBackOff", True), (1, "CrashLoopBackOff", False), (2, "PodInitializing", False)])
def test_holders_that_do_not_keep_their_minimum_running_are_deleted_first(least, reason, shown):
    fails = (f"status: {{phase: Running, containerStatuses: [{{name: c, state: {{waiting: {{"
             f"reason: {reason}}}}}}}]}}")
    held = [pod(f"r-{number}", cpu=2, more="nodeName: n1", into="r",
                status=fails if number else "status: {phase: Running}") for number in (0, 1)]
    found = asked(group(least, "", "r").replace("Inqueue", "Running"), *held, group(), pod(
        cpu=2)).why("a/pg")
    changes = [each.change for each in found.remedies]
    assert ("Fewer pods of a/r start or keep running than its minimum (CrashLoopBackOff)"
            in found.text) == shown
    assert (changes[0] == "delete job/a/r") == shown
    assert ("wait for the end of a/r" in changes) != shown


@pytest.mark.parametrize("phase", ["Running", "Failed"])
def test_pods_that_have_ended_and_are_kept_are_leaving_too(phase):
    left = pod("old", more="nodeName: n1", status=f"status: {{phase: {phase}}}").replace(
        "name: old", "name: old\n  deletionTimestamp: '2026-01-01T00:00:00Z'")
    found = asked(group().replace("Inqueue", "Running"), left, now=1767312000.0)
    assert found.why("a/pg").head.startswith("a/pg waits for a/old to end, which is overdue since")
    assert [each.jobs for each in found.waiting()] == [["a/pg"]]


FLINK = """\
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata: {name: o, namespace: a, uid: u}
spec: {podTemplate: {spec: {schedulerName: volcano}}, jobManager: {resource: {cpu: 1}}}
status: {jobManagerDeploymentStatus: STATE, error: 'ERROR'}
---
"""


@pytest.mark.parametrize("state, error, said", [
    ("MISSING", r'{"type":"x","message":"webhook \"w\" denied it"}',
     'MISSING (webhook "w" denied it)'),
    ("MISSING", "no rights", "MISSING (no rights)"), ("MISSING", "", ""), ("READY", "old", "")])
def test_an_error_that_keeps_flink_from_being_deployed_is_reported(state, error, said):
    found = asked(FLINK.replace("STATE", state).replace("ERROR", error))
    assert [each.text for each in found.waiting()] == [
        f"a/o: it is {said}, so that no pods are created of it."] * bool(said)


@pytest.mark.parametrize("reason, answer, said", [
    ("NotTriggerScaleUp", "max size", "The autoscaler adds no node for a/o-0 (-): max size."),
    ("TriggeredScaleUp", "max size", "The autoscaler has added nodes for a/o-0 (-): max size."),
    ("FailedScheduling", "Failed to schedule pod, no instance type",
     "The autoscaler adds no node for a/o-0 (-): Failed to schedule pod, no instance type."),
    ("FailedScheduling", "0/1 nodes are available", ""),
    ("Nominated", "Pod should schedule on", "Karpenter has claimed a node for a/o-0 (-): Pod")])
def test_what_the_autoscaler_said_of_a_pod_that_waits_is_reported(reason, answer, said):
    event = EVENT.replace("Warning", "Normal").replace("name: old", "name: o-0").replace(
        "FailedKillPod", reason).replace("context deadline exceeded", answer)
    found = asked(group(), pod(cpu=9), event).why("a/pg")
    assert said in found.text and (answer in found.text) == bool(said)
    bound = pod(more="nodeName: n1", status="status: {phase: Running}")
    assert "autoscaler" not in asked(group(), bound, event).why("a/pg").text


@pytest.mark.parametrize("reason, said", [
    ("NotTriggerScaleUp", "The autoscaler adds no node for a/LAST (2026-01-01T00:02:00Z)"),
    ("Preempted", "created again; of a/LAST: Event Preempted of it (2026-01-01T00:02:00Z)")])
@pytest.mark.parametrize("last", ["o-0", "o-1"])
def test_of_events_about_several_pods_the_last_is_reported(reason, said, last):
    events = [EVENT.replace("name: e", f"name: e-{name}").replace("name: old", f"name: {name}")
              .replace("FailedKillPod", reason).replace("type: Warning", (
                  f"type: Warning\nlastTimestamp: '2026-01-01T00:0{1 + (name == last)}:00Z'"))
              for name in ("o-0", "o-1")]
    text = asked(group(2), pod(cpu=9), pod("o-1", cpu=9), *events).why("a/pg").text
    assert said.replace("LAST", last) in text and "00:01:00Z" not in text


FAILED = SPARK.replace("SPEC", "serviceAccount: s").replace("CPU", "1").replace("---\n", """\
status: {applicationState: {state: STATE, errorMessage: 'failed calling webhook "v": none.'}}
---
""")


@pytest.mark.parametrize("state, jobs", [
    ("SUBMISSION_FAILED", ["a/o"]), ("FAILED", []), ("COMPLETED", [])])
def test_what_failed_before_it_had_pods_is_among_all_that_wait(state, jobs):
    found = asked(FAILED.replace("STATE", state))
    assert [name for each in found.waiting() for name in each.jobs] == jobs
    assert ("asks webhook v about each such object" in found.why("a/o").text) == (
        state != "COMPLETED")


@pytest.mark.parametrize("error, said", [
    ('podgroups.scheduling.volcano.sh "spark-o-pg" not found', True),
    ('services "o" not found', False)])
def test_a_podgroup_that_its_operator_has_not_created_is_named(error, said):
    text = asked(FAILED.replace("STATE", "FAILED").replace(
        'failed calling webhook "v": none.', f"denied: {error}.")).why("a/o").text
    assert (". PodGroup spark-o-pg is to be there before the pods: an operator" in text) is said


@pytest.mark.parametrize("app, created", [("spark-1", True), ("spark-2", False)])
def test_a_podgroup_that_spark_creates_in_cluster_mode_alone_is_reported(app, created):
    text = asked(pod(into="spark-1-podgroup", labels=f"{{spark-app-selector: {app}}}")).why(
        "a/o-0").text
    assert "name a PodGroup that doesn't exist" in text
    assert ("in cluster mode alone" in text) is created
    assert ("create PodGroup spark-1-podgroup in namespace a" in text) is not created


@pytest.mark.parametrize("phase, reason, said", [
    ("Pending", "ImagePullBackOff", "Pod a/o-0 is bound to node n1 and has not started there: "
                                    "ImagePullBackOff."),
    ("Running", "CrashLoopBackOff", "Pod a/o-0 on node n1 does not keep running: "
                                    "CrashLoopBackOff."),
    ("Pending", "ContainerCreating", ""),
    ("Pending", "ContainerCreating # warned", "Pod a/o-0 is bound to node n1 and has not started "
     "there: ContainerCreating. Event FailedKillPod of it (-): context deadline exceeded.")])
def test_what_its_node_does_not_start_is_among_all_that_wait_and_last(phase, reason, said):
    status = (f"status: {{phase: {phase}, containerStatuses: [{{name: c, state: {{waiting: "
              f"{{reason: {reason}}}}}}}]}}")
    other = [group(name="two"), pod("t-0", cpu=9, into="two")]
    warned = [EVENT.replace("name: old", "name: o-0")] * ("warned" in reason)
    found = asked(*other, group().replace("Inqueue", "Running"), pod(
        more="nodeName: n1", status=status.replace(" # warned", "")), *warned)
    groups = [*found.waiting()]
    assert [each.code for each in groups] == ["over_deserved", *["bound"] * bool(said)]
    assert groups[-1].text == said or not said


@pytest.mark.parametrize("kind, scheduler, said", [
    ("SparkApplication", "default-scheduler", "(--enable-batch-scheduler=true). The webhook of "),
    ("RayCluster", "default-scheduler", "its operator (--batch-scheduler=volcano)."),
    ("Deployment", "other", "or by the settings of its operator."),
    ("SparkApplication", "volcano", "")])
def test_pods_that_another_scheduler_placed_are_reported_though_none_waits(kind, scheduler, said):
    runs = pod(kind=kind, more="nodeName: n1", status="status: {phase: Running}").replace(
        "schedulerName: volcano", f"schedulerName: {scheduler}")
    found = asked(group().replace("Inqueue", "Running"), runs).why("a/pg")
    assert "does not wait" in found.head
    assert (f"names the scheduler {scheduler}" in found.text) == bool(said)
    assert said in found.text


TRAINS = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: o, namespace: a, uid: u}
spec: {pytorchReplicaSpecs: {Worker: {replicas: 1, template: {spec: {schedulerName: volcano,
  containers: [{name: c, resources: {requests: {cpu: CPU}}}]}}}}}
---
"""
LATER = """\
{apiVersion: v1, kind: Node, metadata: {name: n9, creationTimestamp: "2026-11-28T09:00:00Z"}}
---
"""


@pytest.mark.parametrize("text", [SPARK.replace("SPEC", "instances: 1"), TRAINS])
@pytest.mark.parametrize("cpu, version, status, owned, shown", [
    (1, "7", "{}", False, True), (3, "7", "{}", False, True), (1, "", "{}", False, False),
    (1, "7", "{applicationState: {state: RUNNING}}", False, False), (1, "7", "{}", True, False)])
def test_an_object_that_its_operator_has_not_handled_waits_for_that(
        text, cpu, version, status, owned, shown):
    text = text.replace("uid: u}", f"""uid: u, resourceVersion: "{version}",
  creationTimestamp: "2026-11-28T06:00:00Z"}}\nstatus: {status}""").replace("CPU", str(cpu))
    made = """\
{apiVersion: v1, kind: Pod, metadata: {name: z, namespace: a, ownerReferences: [
  {apiVersion: x, kind: Any, name: o, uid: u}]}, spec: {containers: [{name: c}]}}
---
"""
    found = asked(text, LATER, made if owned else "").why("a/o")
    assert ("a/o waits for its operator, which has not handled" in found.head) is shown
    assert ("has no status, no PodGroup and no pods" in found.text) is shown


STEPS = """\
{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: default}, spec: {
  weight: 1, capability: {cpu: 2}}, status: {state: Open}}
---
{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: etl}, spec: {
  weight: 1}, status: {state: Open}}
---
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 8, pods: 9}}}
---
"""


@pytest.mark.long
@pytest.mark.parametrize("label", ["", "volcano.sh/queue-name: etl"])
def test_a_step_among_several_is_offered_the_queue_of_its_label_and_evicts_no_other_step(label):
    steps = [group(name=f"podgroup-{name}") + pod(
        f"o-{name}", "Workflow", f"{{{label}}}", more, cpu=2, status=status, into=f"podgroup-{name}"
        ) for name, more, status in (("a", "nodeName: n1", "status: {phase: Running}"),
                                     ("b", "", "status: {phase: Pending}"))]
    owned = "".join(steps).replace("namespace: a}\nspec: {minMember", "namespace: a, "
                                   "ownerReferences: [{apiVersion: v1, kind: Workflow, name: o, "
                                   "uid: u, controller: true}]}\nspec: {minMember")
    found = Explainer(loads(STEPS + owned), load_conf(CONF)).why("o")
    offered = [remedy.change for remedy in found.remedies]
    assert ("queue etl" in offered[0]) is bool(label)
    assert len([cause for cause in found.causes if cause.code == "no_effect"]) == bool(label)
    assert not any("evicts" in str(remedy) for remedy in found.remedies)


WORLD = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: o, namespace: a}
spec:
  {minAvailable: 5, schedulerName: volcano, plugins: {PLUGIN: []}, tasks: [
    {name: master, replicas: 1, template: &t {spec: {
      containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}},
    {name: worker, replicas: 4, template: *t}]}
---
"""
OF_KUBEFLOW = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: o, namespace: a}
spec:
  MORE
  runPolicy: {schedulingPolicy: {queue: default, minAvailable: LEAST}}
  pytorchReplicaSpecs:
    Master: {replicas: 1, template: &t {spec: {schedulerName: volcano, containers: [
      {name: pytorch, image: i, resources: {requests: {cpu: 1}}}]}}}
    Worker: {replicas: 4, template: *t}
---
"""


@pytest.mark.long
@pytest.mark.parametrize("given, change", [
    (WORLD.replace("PLUGIN", "pytorch"),
     "both: Job a/o: tasks[1].replicas 4 -> 3; job a/o: minAvailable 5 -> 4 (o is placed on n1)"),
    (WORLD.replace("PLUGIN", "svc"), "both: Job a/o: tasks[1].minAvailable unset -> 3; job a/o: "
     "minAvailable 5 -> 4 (4 pods of o are placed on n1; 1 pod of it still waits)"),
    (OF_KUBEFLOW.replace("LEAST", "5").replace("MORE", ""),
     "both: PyTorchJob a/o: pytorchReplicaSpecs.Worker.replicas 4 -> 3; PyTorchJob a/o: "
     "runPolicy.schedulingPolicy.minAvailable 5 -> 4 (o is placed on n1)")])
def test_of_a_training_whose_processes_wait_for_all_pods_fewer_are_offered(given, change):
    assert [*map(str, asked(given).why("a/o").remedies)][-1] == change


@pytest.mark.parametrize("elastic", [False, True])
def test_a_part_of_a_training_is_said_to_wait_for_the_rest(elastic):
    more = "elasticPolicy: {minReplicas: 1}" if elastic else ""
    found = asked(OF_KUBEFLOW.replace("LEAST", "3").replace("MORE", more)).why("a/o")
    assert ("lets a part of it run; minResources are compared only at admission. But the processes "
            "of its PyTorchJob wait for all 5 pods" in found.text) is not elastic


@pytest.mark.parametrize("given, field", [
    (OF_KUBEFLOW.replace("LEAST", "5").replace("MORE", ""),
     "runPolicy.schedulingPolicy.minAvailable"), (WORLD.replace("PLUGIN", "svc"), "minAvailable"),
    (group(5) + "".join(pod(f"o-{number}", "Pod") for number in range(5)), "minMember")])
def test_lint_names_the_field_that_sets_the_minimum(given, field):
    found = [str(each) for each in Cluster(asked(given).objects).lint()]
    assert [each for each in found if f"(lower {field} or the requests, or add nodes)" in each]


ELASTIC = """\
apiVersion: KIND_OF
metadata: {name: e, namespace: a, uid: u}
spec: SPEC
---
"""
VOLCANO_JOB = ("batch.volcano.sh/v1alpha1\nkind: Job", "{minAvailable: 2, schedulerName: volcano, "
               "tasks: [{name: t, replicas: 4, template: &t {spec: {schedulerName: volcano, "
               "containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}]}")


@pytest.mark.long
@pytest.mark.parametrize("least, owned, task, change", [
    (2, True, "", "Job a/e: tasks[0].replicas 4 -> 3 (x is placed on n1; a/e has 3 instead of 4 "
     "pods placed)"), (4, True, "", None),
    (2, True, ", minAvailable: 4", "both: Job a/e: tasks[0].replicas 4 -> 3; Job a/e: "
     "tasks[0].minAvailable 4 -> 3 (x is placed on n1; a/e has 3 instead of 4 pods placed)"),
    (2, False, "", "delete pod/a/e-t-3 (x is placed on n1; a/e has 3 instead of 4 pods placed)")])
def test_a_holder_with_more_pods_than_its_minimum_is_reduced(least, owned, task, change):
    kind, spec = VOLCANO_JOB
    spec = spec.replace("replicas: 4", f"replicas: 4{task}")
    job = ELASTIC.replace("KIND_OF", kind).replace("SPEC", spec) if owned else ""
    pods = [pod(f"e-t-{number}", "Job", more="nodeName: n1", status="status: {phase: Running}",
                into="e").replace("name: o,", "name: e,").replace(
        "apiVersion: v1, kind: Job", "apiVersion: batch.volcano.sh/v1alpha1, kind: Job").replace(
        "annotations: {", "annotations: {volcano.sh/job-name: e, volcano.sh/task-spec: t, ")
        for number in range(4)]
    if not owned:
        pods = [each.replace("ownerReferences: [{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, "
                             "name: e, uid: u, controller: true}]", "") for each in pods]
    found = asked(job, group(least, name="e").replace("Inqueue", "Running"), *pods,
                  group(name="x"), pod("x-0", "Pod", into="x")).why("a/x")
    changes = [str(each) for each in found.remedies if "instead of" in str(each)]
    assert changes == [change] * bool(change)


@pytest.mark.long
def test_a_task_that_loses_replicas_has_no_higher_minimum():
    """Volcano's webhook refuses a task with a minimum above its replicas."""
    kind, spec = VOLCANO_JOB
    job = ELASTIC.replace("KIND_OF", kind).replace("SPEC", spec.replace(
        "replicas: 4", "replicas: 4, minAvailable: 4"))
    pods = [pod(f"e-t-{number}", "Job", more="nodeName: n1", status="status: {phase: Running}",
                into="e").replace("name: o,", "name: e,").replace(
        "apiVersion: v1, kind: Job", "apiVersion: batch.volcano.sh/v1alpha1, kind: Job").replace(
        "annotations: {", "annotations: {volcano.sh/job-name: e, volcano.sh/task-spec: t, ")
        for number in range(4)]
    found = asked(job, group(2, name="e").replace("Inqueue", "Running"), *pods,
                  group(name="x"), pod("x-0", "Pod", into="x")).why("a/x")
    fields = [{"tasks.0.replicas=3", "tasks.0.minAvailable=3"}]
    changes = [each for each in found.remedies if "instead of" in str(each)]
    assert [{text.rpartition("spec.")[2] for text in each.tried.settings}
            for each in changes] == fields
    patch, = changes[0].kubectl
    assert "--type json" in patch and changes[0].again == []


def test_the_gate_of_kueue_is_left_to_it():
    gated = pod("o-0", "Job", "{kueue.x-k8s.io/queue-name: lq}",
                more="schedulingGates: [{name: GATE}]")
    for gate, said in (("kueue.x-k8s.io/admission", "it admits the workload to LocalQueue lq"),
                       ("a.b/c", "whoever set it has to remove it")):
        found = asked(group(), gated.replace("GATE", gate)).why("a/pg")
        assert said in found.text and bool(found.remedies) is (gate == "a.b/c")


WORKLOAD = """
apiVersion: kueue.x-k8s.io/v1beta1
kind: Workload
metadata: {name: w, namespace: a, ownerReferences: [{kind: KIND, name: OWNER}]}
spec: {active: true, queueName: lq}
status:
  conditions:
  - {type: QuotaReserved, status: "False", message: 1 more needed for cpu.}
  - {type: Evicted, status: "True", message: Preempted for a workload}
  - {type: Preempted, status: "True", message: Preempted for a workload}
  admissionChecks: [{name: capacity, state: Pending}, {name: dws, state: Ready}]
"""


@pytest.mark.parametrize(("kind", "name"), [("Pod", "o-0"), ("Job", "o")])
def test_the_workload_of_kueue_says_why_it_is_not_admitted(kind, name):
    gated = pod("o-0", "Job", "{kueue.x-k8s.io/queue-name: lq}",
                more="schedulingGates: [{name: kueue.x-k8s.io/admission}]")
    job = """
apiVersion: batch/v1
kind: Job
metadata: {name: o, namespace: a, uid: x, labels: {kueue.x-k8s.io/queue-name: lq}}
spec: {suspend: true, template: {spec: {schedulerName: volcano, containers: [{name: c}]}}}
"""
    workload = WORKLOAD.replace("KIND", kind).replace("OWNER", name)
    said = ("its Workload w (1 more needed for cpu, Preempted for a workload, capacity: Pending), "
            "which no queue of Volcano")
    waits = asked(group(), gated, workload).why("a/pg")
    assert said in waits.text and "kubectl get workloads" not in waits.text
    assert not waits.remedies and not any("Workload" in str(each) for each in loads(
        workload).warnings)
    if kind == "Job":
        found = Cluster(loads(f"{job}\n---\n{workload}")).why("o")
        assert "suspend is true" in str(found).splitlines()[0] and said in " ".join(
            str(found).split())
    admitted = workload.replace("QuotaReserved", "Admitted").replace('"False"', '"True"')
    assert "Workload" not in asked(group(), gated, admitted).why("a/pg").text


@pytest.mark.long
def test_a_failed_pod_of_a_gang_is_deleted_so_that_it_is_created_again():
    kind, spec = VOLCANO_JOB
    job = ELASTIC.replace("KIND_OF", kind).replace("SPEC", spec).replace("minAvailable: 2", (
        "minAvailable: 2")).replace("replicas: 4", "replicas: 2")
    pods = [pod(f"e-t-{number}", "Job", status=f"status: {{phase: {phase}}}", into="e").replace(
        "name: o,", "name: e,").replace("apiVersion: v1, kind: Job", (
            "apiVersion: batch.volcano.sh/v1alpha1, kind: Job")).replace(
        "annotations: {", "annotations: {volcano.sh/job-name: e, volcano.sh/task-spec: t, ")
        for number, phase in enumerate(("Pending", "Failed"))]
    found = asked(job, group(2, name="e"), *pods).why("a/e")
    assert [*map(str, found.remedies)][:1] == [
        "delete 1 pod of a/e, which is created again (e is placed on n1)"]


@pytest.mark.long
@pytest.mark.parametrize("uid, left", [("k", True), ("other", False)])
def test_the_podgroup_of_a_later_stage_is_left_to_its_operator(uid, left):
    """As of KubeDL, which creates one for each role, and pods once others run."""
    ref = "ownerReferences: [{apiVersion: training.kubedl.io/v1alpha1, kind: PyTorchJob, name: "
    groups = [group(name=name, more=f", minResources: {{cpu: {cpu}}}").replace(
        "namespace: a", f"namespace: a, {ref}{owner}, uid: {own}, controller: true}}]").replace(
        "Inqueue", phase) for name, cpu, phase, owner, own in (
            ("o-worker", 4, "Inqueue", "o" if left else "x", uid),
            ("o-master", 1, "Pending", "o", "k"))]
    found = asked(*groups, pod("o-master-0", "PyTorchJob", into="o-master").replace("uid: u", (
        "uid: k")), conf=CONF.replace("allocate", "enqueue, allocate").replace(
        "{name: predicates}", "{name: predicates}, {name: overcommit}")).why("a/o-master")
    assert ("PyTorchJob a/o has created a/o-worker and this job: where these run" in found.text
            ) is left
    assert any("a PodGroup without pods" in str(each) for each in found.remedies) is not left


@pytest.mark.parametrize("name", ["web", "a/web"])
def test_a_pod_with_an_event_is_found_with_and_without_its_namespace(name):
    text = """
{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: a},
 spec: {schedulerName: other, containers: [{name: c}]}}
---
{apiVersion: v1, kind: Event, type: Warning, reason: FailedMount, message: no volume,
 metadata: {name: e}, involvedObject: {kind: Pod, name: web, namespace: a}}
"""
    assert "is not scheduled by Volcano" in asked(text).why(name).head


@pytest.mark.parametrize("group, apart", [("podgroup-u2", True), ("spark-app-pg", False)])
def test_pods_that_are_not_in_the_pod_group_of_their_operator_are_named(group, apart):
    owner = ("ownerReferences: [{apiVersion: sparkoperator.k8s.io/v1beta2, kind: SparkApplication, "
             "name: app, uid: u1, controller: true}]")
    cluster = Cluster().node("n1", cpu=4).queue("q").add(
        "{apiVersion: sparkoperator.k8s.io/v1beta2, kind: SparkApplication, metadata: {name: app, "
        "uid: u1}, spec: {batchScheduler: volcano, batchSchedulerOptions: {queue: q}, driver: {"
        "cores: 1, memory: 1g}, executor: {instances: 1, cores: 1, memory: 1g}}}")
    for name, queue in {"spark-app-pg": "q", group: "default" if apart else "q"}.items():
        cluster.add("{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: "
                    f"{name}, {owner}}}, spec: {{minMember: 1, queue: {queue}}}, status: {{phase: "
                    "Inqueue}}")
    cluster.add("{apiVersion: v1, kind: Pod, metadata: {name: app-driver, labels: {spark-role: "
                "driver}, annotations: {scheduling.k8s.io/group-name: " + group + "}, " + owner +
                "}, spec: {schedulerName: volcano, containers: [{name: c, image: i, resources: {"
                "requests: {cpu: 5}}}]}, status: {phase: Pending}}")
    for name in ("app-driver", "spark-app-pg"):
        text = cluster.why(name).text
        assert ("Its operator has created spark-app-pg in queue q, and pod default/app-driver is "
                "not in it" in text) is apart
        assert "--enable-batch-scheduler=true" not in text


WORKER_GANG = """\
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: o, namespace: a, uid: u}
spec:
  runPolicy: {schedulingPolicy: {queue: default}}
  mpiReplicaSpecs:
    Launcher: {replicas: 1, template: {spec: {containers: [{name: c}]}}}
    Worker: {replicas: 2, template: {spec: {containers: [{name: c}]}}}
---
"""
RAY = """\
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: o, namespace: a, uid: u, labels: {ray.io/scheduler-name: volcano,
  volcano.sh/queue-name: qa}}
spec: {enableInTreeAutoscaling: true, headGroupSpec: {template: &t {spec: {containers: [
  {name: c, resources: {requests: {cpu: 1}}}]}}}, workerGroupSpecs: [
  {groupName: w, replicas: 1, template: *t}]}
---
"""
WORKERS = "".join(pod(f"o-worker-{n}", "MPIJob", "{training.kubeflow.org/job-role: worker}")
                  for n in range(2))
NEEDS = "Without its launcher, which is not among its pods, no MPIJob starts its work."


@pytest.mark.parametrize("given, lacks, offers", [
    (WORKER_GANG, "Of MPIJob o, 0 of 1 pods of role launcher exist that may run. ", False),
    ("", "", True)])  # its operator may create the launcher once these run
def test_the_role_that_a_gang_lacks_and_its_kind_needs_is_named(given, lacks, offers):
    found = asked(given, owned_group(3), WORKERS).why("o")
    assert lacks + NEEDS in found.text
    assert [str(each.does) for each in found.remedies] == [
        "job a/o: minMember 3 -> 2 (spec.runPolicy.schedulingPolicy.minAvailable of its MPIJob)"
        ] * offers


def owned_group(least, kind="MPIJob", version="kubeflow.org/v2beta1"):
    return group(least).replace("metadata: {", "metadata: {ownerReferences: [{apiVersion: " + (
        f"{version}, kind: {kind}, name: o, uid: u, controller: true}}], "))


def test_a_priority_of_pods_alone_comes_first_where_order_decides_with_the_field_that_counts():
    other = group(name="old").replace("metadata: {", (
        "metadata: {creationTimestamp: '2020-01-01T00:00:00Z', ")) + pod(
            "old-0", "Pod", cpu=4, into="old")
    high = WORKERS.replace("schedulerName: volcano", (
        "schedulerName: volcano\n  priority: 9\n  priorityClassName: high"))
    classes = ("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, "
               "value: 9}\n---\n")
    found = asked(classes, other, owned_group(2), high).why("o")
    assert found.causes[0].code == "no_priority_class" and found.causes[0].text.startswith(
        "a/o has priority 0: its PodGroup names no PriorityClass (spec.runPolicy.schedulingPolicy."
        "priorityClass of its MPIJob), and the priority of its pods, 9, does not count")


TAINT = "taints: [{key: gpu, effect: NoSchedule}]"
MODEL = """{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: NAME,
  namespace: a, uid: w}, spec: {leaderWorkerTemplate: {size: 2, workerTemplate: {spec: {
  containers: [{name: c}]}}}}}
---
"""


@pytest.mark.parametrize("given, kind, version, labels, owner, field", [
    ("", "RayCluster", "ray.io/v1", "ray.io/node-type: worker", "RayCluster a/o",
     "spec.workerGroupSpecs[].template.spec"),
    ("", "TFJob", "kubeflow.org/v1", "training.kubeflow.org/replica-type: ps", "TFJob a/o",
     "spec.tfReplicaSpecs.PS.template.spec"),
    (WORKER_GANG, "MPIJob", "kubeflow.org/v2beta1", "training.kubeflow.org/job-role: worker",
     "MPIJob a/o", "spec.mpiReplicaSpecs.Worker.template.spec"),
    (SPARK.replace("CPU", "1").replace(", SPEC", ""), "SparkApplication",
     "sparkoperator.k8s.io/v1beta2", "spark-role: executor", "SparkApplication a/o",
     "spec.executor"),
    # a label leads to what would write the template of the owner again
    *((MODEL.replace("NAME", name), "StatefulSet", "apps/v1",
       f"leaderworkerset.sigs.k8s.io/name: {name}", f"LeaderWorkerSet a/{name}",
       "spec.leaderWorkerTemplate.workerTemplate.spec") for name in "lo"),
    ("", "LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1", "a: b", "LeaderWorkerSet a/o",
     "spec.leaderWorkerTemplate.workerTemplate.spec")])
def test_a_field_of_pods_is_named_where_their_owner_has_it(given, kind, version, labels, owner,
                                                           field):
    found = asked(given, owned_group(1, kind, version), pod("o-x-0", kind, f"{{{labels}}}"),
                  taint=TAINT).why("a/pg")
    tolerates = next(each for each in found.remedies if "toleration" in each.change)
    assert [" ".join(each) for each in tolerates.fields] == [f"{owner} {field}.tolerations"]
    lasts = "LeaderWorkerSet a/l creates a/o: a change that is to last is made there."
    assert (lasts in found.text) is ("a/l" in owner)


@pytest.mark.parametrize("leader, field", [(True, "leaderTemplate"), (False, "workerTemplate")])
def test_a_field_is_named_in_the_template_of_the_pod_that_lacks_it(leader, field):
    """Of the leader, or of the pods that follow it, where those of the other one have a node."""
    label = "leaderworkerset.sigs.k8s.io/worker-index"
    tolerates = "tolerations: [{operator: Exists}]"
    pods = [pod(f"o-{index}", "LeaderWorkerSet", f'{{{label}: "{index}"}}',
                more=tolerates * ((index == 0) is not leader)) for index in (0, 1)]
    found = asked(owned_group(2, "LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1"), *pods,
                  taint=TAINT).why("a/pg")
    lacking = next(each for each in found.remedies if "toleration" in each.change)
    assert [each[2] for each in lacking.fields] == [
        f"spec.leaderWorkerTemplate.{field}.spec.tolerations"]


@pytest.mark.parametrize("scheduler, replicas, nodes", [
    ("default-scheduler", 2, 1), ("default-scheduler", 2, 2), ("volcano", 1, 1)])
def test_a_pod_less_of_a_deployment_whose_pods_do_not_end_is_offered(scheduler, replicas, nodes):
    """Not where its pods are on several nodes: another one of them may end."""
    spec = f"template: {{spec: {{schedulerName: {scheduler}, containers: [{{name: c}}]}}}}"
    web = (f"{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web, namespace: a}}, "
           f"spec: {{replicas: {replicas}, {spec}}}}}\n---\n")
    pods = [pod(f"web-x-{number}", "ReplicaSet", "{pod-template-hash: x}", cpu=2, into="web",
                more=f"nodeName: n{1 + number % nodes}", status="status: {phase: Running}").replace(
                    "name: o,", "name: web-x,").replace("schedulerName: volcano", (
                        f"schedulerName: {scheduler}")) for number in range(replicas)]
    owned = group(1, "", "web").replace("metadata: {", (
        "metadata: {ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-x, uid: u, "
        "controller: true}], ")).replace("Inqueue", "Running") if scheduler == "volcano" else ""
    other = ("{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 2, "
             "memory: 9Gi, pods: 9}}}\n---\n")
    least, both = replicas - 1, nodes == 2
    new = pod("new", "Pod", cpu=4 if both else 4 - 2 * least)
    found = asked(other * both, web, owned, *pods, group(), new).why("a/pg")
    fewer = f"Deployment a/web: replicas {replicas} -> {least}"
    assert (fewer in [each.change for each in found.remedies]) is (nodes == 1), found.remedies


@pytest.mark.parametrize("kind, version, into, role, first, raised", [
    ("MPIJob", "kubeflow.org/v2beta1", "pg", "training.kubeflow.org/job-role", "worker",
     "minMember 1 -> 2 (spec.runPolicy.schedulingPolicy.minAvailable of its MPIJob)"),
    ("RayCluster", "ray.io/v1", "ray-o-pg", "ray.io/node-type", "head",
     "RayCluster a/o: workerGroupSpecs[0].minReplicas unset -> 1")])
def test_a_minimum_that_an_operator_sets_is_raised_where_the_gang_starves_no_more(
        kind, version, into, role, first, raised):
    owner = RAY if kind == "RayCluster" else ""
    queues = "".join(f"{{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {{name: "
                     f"{name}}}, spec: {{weight: 1}}}}\n---\n" for name in ("qa", "qb"))
    held = [group(1, "", name).replace("queue: default", "queue: qb").replace("Inqueue", "Running")
            + pod(f"{name}-0", "Pod", cpu=1, more="nodeName: n1", into=name,
                  status="status: {phase: Running}") for name in ("k", "l", "m")]
    own = owned_group(1, kind, version).replace("queue: default", "queue: qa").replace(
        "Inqueue", "Running").replace("name: pg", f"name: {into}")
    runs = pod("o-0", kind, f"{{{role}: {first}}}", more="nodeName: n1", into=into,
               status="status: {phase: Running}")
    waits = pod("o-worker-1", kind, f"{{{role}: worker}}", into=into)
    found = asked(owner, queues, *held, own, runs, waits,
                  conf=CONF.replace("preempt", "reclaim")).why(f"a/{into}")
    assert any(raised in each.change for each in found.remedies), found.remedies
