"""Situations as `kubectl get -o yaml` gives them: what controllers have made, and have not made."""

import pytest

from volcano_lab import Cluster, loads
from volcano_lab.explain import Explainer
from volcano_lab.manifests.defaults import with_defaults

CONF = """\
actions: "enqueue, allocate, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}]
- plugins: [{name: overcommit}, {name: predicates}, {name: proportion}, {name: nodeorder}]
"""
NODE = """\
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 8, pods: 9}}}
---
"""
JOB = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: NAME, namespace: default, uid: u-NAME, resourceVersion: "7"}
spec:
  minAvailable: MIN
  schedulerName: volcano
  queue: default
  tasks:
  - {name: w, replicas: PODS, minAvailable: MIN, template: {spec: {containers: [{name: c, resources:
      {requests: {cpu: CPU}}}]}}}
status: {state: {phase: JOBPHASE}}
---
"""
GROUP = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata:
  {name: NAME-u-NAME, namespace: default, uid: g-NAME, ownerReferences: [{apiVersion:
    batch.volcano.sh/v1alpha1, kind: Job, name: NAME, uid: u-NAME, controller: true}]}
spec: {minMember: MIN, queue: default, minResources: {cpu: ALL}}
status: {phase: PHASE}
---
"""
POD = """\
apiVersion: v1
kind: Pod
metadata:
  {name: NAME-w-INDEX, namespace: default, annotations: {scheduling.k8s.io/group-name: NAME-u-NAME,
    volcano.sh/task-spec: w}, ownerReferences: [{apiVersion: batch.volcano.sh/v1alpha1, kind: Job,
    name: NAME, uid: u-NAME, controller: true}]}
spec: {schedulerName: volcano, NODE containers: [{name: c, resources: {requests: {cpu: CPU}}}]}
status: {phase: RUNS}
---
"""
QUOTA = """\
apiVersion: v1
kind: ResourceQuota
metadata: {name: compute, namespace: default}
spec: {hard: {requests.cpu: "5"}}
status: {hard: {requests.cpu: "5"}, used: {requests.cpu: "4"}}
"""


def exported(name, pods, cpu, least=0, there=0, phase="Pending", job_phase="Pending", group=True):
    """A vcjob, its PodGroup and those pods of it that there are, running on n1."""
    running = phase == "Running"
    text = JOB + GROUP * group + "".join(
        POD.replace("INDEX", str(index)).replace("NODE", "nodeName: n1," * running).replace(
            "RUNS", "Running" if running else "Pending") for index in range(there))
    least = least or pods
    for word, value in {"ALL": least * cpu, "JOBPHASE": job_phase, "PHASE": phase, "NAME": name,
                        "MIN": least, "PODS": pods, "CPU": cpu}.items():
        text = text.replace(word, str(value))
    return text


def asked(*texts, conf=CONF):
    return Explainer(with_defaults(loads(NODE + "".join(texts))), conf)


FULL = exported("old", 1, 6, there=1, phase="Running", job_phase="Running")


@pytest.mark.long
def test_a_job_that_is_not_admitted_has_no_pods_yet_and_is_answered_as_with_them():
    explanation = asked(FULL, exported("new", 2, 2)).why("new")
    assert explanation.codes == ["overcommit_refuses"]  # the queue may hold all that there is
    assert explanation.head == (
        "new waits for admission: cpu 0.4 above the limit of overcommit. "
        "(PodGroup Pending, 0 of 2 pods placed) It waits for the end of another job: that of "
        "default/old would be enough now.")
    assert explanation.causes[-1].text.startswith("Its pods are created once it is admitted")
    assert [each.change for each in explanation.remedies] == [
        "wait for the end of default/old", "1 more node like n1",
        "job default/new: minAvailable 2 -> 1"]


def test_the_cycle_itself_has_only_the_pods_that_there_are():
    explain = asked(FULL, exported("new", 1, 1))
    assert explain.why("new").head == (
        "new does not wait. (PodGroup Inqueue, 1 of 1 pods placed)")
    assert sorted(len(job.tasks) for job in explain.session.jobs.values()) == [0, 1]
    assert not explain.evidence.not_created


def test_pods_that_a_quota_keeps_from_being_created_are_reported_of_a_job_that_runs():
    text = exported("old", 6, 1, least=2, there=4, phase="Running", job_phase="Running")
    explanation = asked(text, QUOTA.replace('used: {requests.cpu: "4"}',
                                            'used: {requests.cpu: "5"}')).why("old")
    assert explanation.text.endswith(
        "2 of its 6 pods are not among the objects (old-w-4, old-w-5): ResourceQuota "
        "default/compute has too little requests.cpu left for one more (5 used + 1 requested > "
        "5), so the API server refuses it; pods that wait count, too, and for all that are "
        "missing it takes requests.cpu 7. The job controller tries that 15 times, unless its "
        "flags say otherwise, then it terminates the Job.")
    assert "refuses" not in asked(text, QUOTA).why("old").text


@pytest.mark.long
def test_a_job_that_a_quota_ends_waits_for_no_other_but_with_plugin_resourcequota():
    text = exported("old", 4, 1, there=4, phase="Running", job_phase="Running")
    new = exported("new", 2, 1, group=False)
    explain = asked(text, new, QUOTA.replace('used: {requests.cpu: "4"}',
                                             'used: {requests.cpu: "5"}'))
    found = explain.why("new")
    assert "The job controller tries that 15 times" in found.text
    assert "Where plugin resourcequota is configured, too, such a Job waits" in found.text
    assert not [each for each in found.remedies if "wait for" in str(each)]


@pytest.mark.parametrize("phase, said", [
    ("Aborted", "default/gone: it is Aborted and has no pods; vcctl job resume -n default -N "
                "gone submits it again (what-if --set job/default/gone.status.state.phase=Pending "
                "shows whether it is placed then)."),
    ("Completed", "default/gone: it is Completed and has no pods."),
])
def test_a_job_that_has_ended_or_was_suspended_is_known(phase, said):
    assert asked(exported("gone", 1, 1, job_phase=phase, group=False)).why("gone").text == said


def test_a_job_that_is_admitted_and_has_no_pods_is_reported():
    explanation = asked(exported("odd", 1, 1, phase="Inqueue")).why("odd")
    assert explanation.codes[0] == "pods_not_made"
    assert "1 of its 1 pods are not among the objects (odd-w-0)" in explanation.text


CORDONED = """\
apiVersion: v1
kind: Node
metadata: {name: c1}
spec: {unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]}
status: {allocatable: {cpu: 8, pods: 9}}
---
"""
SPREAD = ("containers: [", "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, "
          "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {a: b}}}], containers: [")


def changes(explanation):
    return list(map(str, explanation.remedies))


@pytest.mark.long
def test_a_cordoned_node_is_uncordoned_with_the_taint_that_kubectl_shows():
    explain = asked(CORDONED, FULL, exported("new", 1, 4))
    assert changes(explain.why("new"))[0] == "uncordon c1 (new is placed on c1)"


@pytest.mark.long
def test_nodes_without_the_label_of_a_spread_are_distinguished_from_full_domains():
    explain = asked(exported("new", 1, 4).replace(*SPREAD))
    assert explain.why("new").codes == ["spread_label"]
    assert changes(explain.why("new")) == [
        "job default/new: whenUnsatisfiable ScheduleAnyway in its topology spread (new is placed "
        "on n1)"]


@pytest.mark.long
def test_a_gang_that_keeps_another_away_and_is_short_itself_may_be_deleted():
    apart = ("containers: [", "affinity: {podAntiAffinity: {"
             "requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {}, topologyKey: "
             "kubernetes.io/hostname}]}}, containers: [")
    one = exported("one", 2, 1, there=1, phase="Running", job_phase="Running").replace(
        "status: {phase: Running}\n---\n", "status: {phase: Unknown}\n---\n", 1).replace(*apart)
    explain = asked(one, exported("two", 1, 1).replace(*apart))
    assert "delete job/default/one (two is placed on n1; ends 1 pod of one)" in changes(
        explain.why("two"))


@pytest.mark.long
def test_a_job_that_can_never_start_and_keeps_another_out_is_the_first_to_go():
    both = NODE.replace("n1", "n2") + exported("big", 1, 12, phase="Inqueue", there=1)
    explanation = asked(both, exported("new", 1, 8)).why("new")
    assert ("default/big can never start here: no node is large enough for the pods"
            in explanation.text)
    assert changes(explanation)[0] == "delete job/default/big (new is placed on n1)"


@pytest.mark.long
def test_jobs_that_can_never_start_are_named_together_and_as_many_go_as_it_takes():
    stuck = [exported(f"big{number}", 1, 9, phase="Inqueue", there=1) for number in range(3)]
    explanation = asked(*(NODE.replace("n1", f"n{number}") for number in (2, 3)), *stuck,
                        exported("new", 1, 8)).why("new")
    assert ("default/big0, default/big1, default/big2 can never start here: no node is large "
            "enough for the pods, even empty." in explanation.text)
    assert changes(explanation)[0] == (
        "delete job/default/big0, job/default/big1 (new is placed on n1)")


def test_what_a_limit_range_has_filled_in_is_said():
    filled = exported("new", 1, 9, there=1, phase="Pending").replace(
        "volcano.sh/task-spec: w}", "volcano.sh/task-spec: w, kubernetes.io/limit-ranger: "
        "'LimitRanger plugin set: WHAT request for container c'}")
    said = "A LimitRange of namespace default set it"
    assert said in asked(filled.replace("WHAT", "cpu")).why("new").text
    assert said not in asked(filled.replace("WHAT", "memory")).why("new").text


def test_nodes_that_a_rule_refuses_are_not_called_full():
    tainted = CORDONED.replace("c1", "t1").replace("unschedulable: true, ", "")
    explanation = asked(tainted, NODE.replace("n1", "n2"), FULL, FULL.replace("n1", "n2").replace(
        "old", "older"), exported("new", 1, 3, there=1, phase="Inqueue")).why("new")
    assert explanation.head.startswith(
        "new waits for a node that fits: the best of the 2 (of 3) whose taints it tolerates, n1, "
        "lacks cpu 1; 1 node with enough left is refused by a taint.")


def test_pods_of_others_count_where_a_node_has_all_the_pods_that_it_may_have():
    full = NODE.replace("n1", "n2").replace("pods: 9", "pods: 1").replace("cpu: 8", "cpu: 99")
    other = "".join(POD.splitlines(True)[:2]) + (
        "metadata: {name: agent, namespace: kube-system}\nspec: {schedulerName: x, nodeName: n2, "
        "containers: [{name: c}]}\nstatus: {phase: Running}\n---\n")
    text = asked(full, other, exported("new", 1, 9)).why("new").text
    assert "n2 has 0 pods of Volcano's jobs and 1 others, of at most 1." in text


SLA = CONF.replace("{name: gang}", "{name: gang}, {name: sla, arguments: {sla-waiting-time: 1h}}")


@pytest.mark.parametrize("now, said", [
    (0.0, "Plugin sla admits it from 1970-01-01 01:00 UTC on."),
    (7200.0, "its deadline was 1970-01-01 01:00 UTC, so sla admits it, before jobs"),
])
def test_the_deadline_of_sla_is_said(now, said):
    text = exported("new", 2, 9).replace("uid: g-new", 'uid: g-new, creationTimestamp: '
                                         '"1970-01-01T00:00:00Z"')
    explain = Explainer(with_defaults(loads(NODE + text)), SLA, now)
    assert said in explain.why("new").text
    before = SLA.replace("{name: gang}, ", "")
    for conf, kept in ((SLA, False), (before, True)):
        text_of = Explainer(with_defaults(loads(NODE + text)), conf, now).why("new").text
        assert ("plugin gang, which is asked in the same tier or before" in text_of) == (
            now > 0 and not kept)


@pytest.mark.parametrize(("tiers", "said"), [
    ("{plugins: [{name: proportion}, SLA]}", True), ("{plugins: [{name: gang}, SLA, {name: "
     "proportion}]}", True), ("{plugins: [SLA]}, {plugins: [{name: proportion}]}", False)])
def test_sla_admits_no_job_that_a_plugin_of_its_tier_refuses(tiers, said):
    sla = "{name: sla, arguments: {sla-waiting-time: 1h}}"
    cluster = Cluster().node("n1", cpu=9).queue("a", capability={"cpu": 2}).job(
        "old", queue="a", cpu=2, running={"n1": 1}).job("new", queue="a", cpu=1)
    conf = f"actions: enqueue, allocate\ntiers: [{tiers.replace('SLA', sla)}]"
    text = Explainer(cluster.objects(), conf, now=9e9).why("new").text
    assert ("sla would admit it; a plugin of the same tier, or of one before, refuses" in text
            ) is said
    assert ("so sla admits it" in text) is not said


def test_pods_with_a_priority_that_the_job_has_not_are_reported():
    conf = CONF.replace("backfill", "preempt")
    high = exported("new", 1, 4, phase="Inqueue", there=1).replace(
        "schedulerName: volcano, ", "schedulerName: volcano, priority: 100, ")
    text = asked(FULL, high, conf=conf).why("new").text
    assert ("default/new has priority 0: its PodGroup names no PriorityClass, and the priority of "
            "its pods, 100, does not count between jobs.") in text


EVICTS = CONF.replace("backfill", "preempt").replace(
    "{name: gang}", "{name: gang, enablePreemptable: false}")


def test_a_priority_class_that_was_not_exported_is_known_by_its_pods():
    named = ("schedulerName: volcano, ", "schedulerName: volcano, priority: 7, "
             "priorityClassName: high, ")
    high = exported("new", 1, 4, phase="Inqueue", there=1).replace(*named).replace(
        "spec: {minMember", "spec: {priorityClassName: high, minMember")
    loaded = with_defaults(loads(NODE + FULL + high))
    assert "PriorityClass high: not among the objects" in str(loaded.warnings[0])
    explain = Explainer(loaded, EVICTS)
    assert explain.session.jobs["default/new-u-new"].priority == 7
    assert "preempt evicts default/old-w-0" in explain.why("new").text


@pytest.mark.long
def test_a_job_without_priority_class_is_advised_one_with_its_cost_for_the_larger_one():
    high = exported("new", 1, 4, phase="Inqueue", there=1)
    assert changes(asked(FULL, high, conf=EVICTS).why("new"))[-1] == (
        "job default/new: a PriorityClass above 0 (new is pipelined to n1; evicts 1 pod of "
        "old; costs others more than the job requests; created again, 1 of these waits)")


def test_a_pod_whose_pod_group_is_not_there_is_known():
    orphan = exported("new", 1, 4, phase="Inqueue", there=1).replace("kind: PodGroup", "kind: X")
    pod = orphan[orphan.rindex("apiVersion: v1\n"):]
    assert "PodGroup that doesn't exist" in asked(pod).why("new-w-0").text


@pytest.mark.long
def test_what_an_init_container_asks_for_is_lowered_too():
    init = exported("new", 1, 1).replace(
        "containers: [{name: c", "initContainers: [{name: i, resources: {requests: {cpu: 64}}}], "
        "containers: [{name: c")
    assert any(change.startswith(
        "job default/new: request per pod cpu 64 -> 8 (init container i) (new is placed on n1")
        for change in changes(asked(init).why("new")))


def test_without_the_plugin_gang_no_minimum_is_required():
    text = asked(exported("new", 4, 3, phase="Inqueue", there=4),
                 conf=CONF.replace(", {name: gang}", "")).why("new").text
    assert "does not name the plugin gang" in text and "its minimum of 4." in text


def test_a_failed_pod_is_counted_and_no_job_waits():
    text = exported("new", 2, 3, there=2, phase="Running", job_phase="Running")
    at = text.rindex("Running")
    head = asked(text[:at] + "Failed" + text[at + 7:]).why("new").head
    assert "does not wait. (PodGroup Unknown, 1 of 2 pods placed, 1 failed)" in head
    assert head.endswith("1 of its pods runs, fewer than its gang of 2, and none waits.")


@pytest.mark.long
def test_what_a_pod_group_reserves_beyond_its_pods_is_what_is_lowered():
    spark = exported("new", 1, 1, there=1).replace("minResources: {cpu: 1}", "minResources: {cpu: "
                                                  "30}")
    changed = changes(asked(spark).why("new"))
    assert "job default/new: minResources cpu 30 -> 1 (new is placed on n1)" in changed
    assert not any("request of cpu" in change for change in changed)


@pytest.mark.long
def test_a_queue_below_one_that_is_closed_is_opened_with_it():
    queues = "".join(
        f"{{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {{name: {name}}}, "
        f"spec: {{weight: 1, parent: {above}}}, status: {{state: Closed}}}}\n---\n"
        for name, above in (("dept", "root"), ("team", "dept")))
    new = exported("new", 1, 1).replace("queue: default", "queue: team")
    assert changes(asked(queues, new).why("new"))[0] == (
        "both: queue dept: state Closed -> Open; queue team: state Closed -> Open "
        "(new is placed on n1)")


@pytest.mark.parametrize("spec, said", [
    ("suspend: true", "default/pi: spec.suspend is true (Kueue sets it to false once it admits the "
                      "object to its queue a), so that no pods are created for it."),
    ("template: {spec: {schedulerName: other, containers: [{name: c}]}}",
     "default/pi: its pods are for another scheduler, other, and are not created."),
])
def test_workloads_without_pods_are_known(spec, said):
    job = (f"{{apiVersion: batch/v1, kind: Job, metadata: {{name: pi, labels: {{"
           f"kueue.x-k8s.io/queue-name: a}}}}, spec: {{{spec}}}}}")
    assert asked(job).why("pi").text == said


@pytest.mark.parametrize("status, there", [
    ("conditions: [{type: Failed, status: 'True', reason: DeadlineExceeded}]", False),
    ("conditions: [{type: Complete, status: 'True'}]", False),
    ("conditions: [{type: Failed, status: 'False'}]", True),
    ("active: 1", True),
])
def test_a_job_of_kubernetes_that_has_ended_creates_no_pods(status, there):
    job = ("{apiVersion: batch/v1, kind: Job, metadata: {name: pi}, spec: {template: {spec: {"
           "schedulerName: volcano, containers: [{name: c}]}}}, status: {" + status + "}}")
    assert any(obj.kind == "Pod" for obj in with_defaults(loads(job))) == there


@pytest.mark.parametrize("name", ["old", "default/old-w-0"])
def test_pods_on_a_node_that_is_not_there_are_reported(name):
    text = FULL.replace("nodeName: n1", "nodeName: gone")
    assert asked(text).why(name).causes[0].text == (
        "Pod default/old-w-0 is on gone, which is not among the objects.")


@pytest.mark.long
def test_a_pod_group_without_pods_and_job_is_admitted_by_less():
    alone = exported("new", 4, 3)
    alone = alone[alone.index("apiVersion: scheduling"):]
    explanation = asked(alone).why("new")
    assert "(PodGroup Pending, no pods yet)" in explanation.head
    assert changes(explanation) == [
        "1 more node like n1 (new is admitted)",
        "job default/new: minAvailable 4 -> 2 (new is admitted)",
        "actions without enqueue (new is admitted)"]


def test_a_pod_may_be_away_from_those_that_it_required_to_be_beside():
    beside = ("containers: [", "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuring"
              "Execution: [{labelSelector: {matchLabels: {app: cache}}, topologyKey: "
              "kubernetes.io/hostname}]}}, containers: [")
    assert changes(asked(exported("new", 1, 1).replace(*beside)).why("new")) == [
        "job default/new: without its pod affinity (new is placed on n1)"]


@pytest.mark.long
def test_a_job_that_is_admitted_in_this_cycle_and_has_no_pods_yet_is_no_ghost():
    explanation = asked(exported("one", 1, 5), exported("two", 1, 5)).why("two")
    assert "default/one 5 (admitted before it in this cycle)" in explanation.text
    assert not any("delete" in change for change in changes(explanation))


@pytest.mark.parametrize("hard, named", [
    ("limits.cpu: 9, pods: 50", "limits.cpu"), ("cpu: 9, limits.memory: 9Gi", "limits.memory"),
    ("requests.cpu: 90", "")])
def test_a_quota_refuses_pods_that_do_not_name_what_it_counts(hard, named):
    text = exported("new", 2, 1, there=0, phase="Inqueue", job_phase="Pending")
    quota = ("{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: default}, "
             f"status: {{hard: {{{hard}}}}}}}\n---\n")
    found = asked(text, quota).why("new").text
    said = f"ResourceQuota default/q counts {named}, which a container does not name, so the API"
    assert (said in found) == bool(named)


WITHIN = "Job default/new: tasks[0].template.spec.containers[0].resources.requests.cpu 2 -> {}"
FEWER = "Job default/new: tasks[0].replicas {0} -> {1}"


@pytest.mark.long
@pytest.mark.parametrize(("pods", "least", "hard", "own"), [
    (4, 4, "6", ["all: " + FEWER.format(4, 3) + "; job default/new: minAvailable 4 -> 3; "
                 "Job default/new: tasks[0].minAvailable 4 -> 3", WITHIN.format("1500m")]),
    (4, 1, "6", [WITHIN.format("1500m")]),  # with fewer no other pod is placed
    (3, 3, "1", [WITHIN.format("300m")]),
    (3, 3, "200m", []), (1, 1, "1", [WITHIN.format("1")])])
def test_a_quota_is_kept_by_fewer_pods_or_smaller_ones(pods, least, hard, own):
    quota = QUOTA.replace('"5"', f'"{hard}"').replace('used: {requests.cpu: "4"}', "used: {}")
    found = asked(exported("new", pods, 2, least=least, group=False), quota).why("new")
    changes = [each.change for each in found.remedies]
    assert [each for each in changes if "ResourceQuota" not in each] == own
    assert any("ResourceQuota" in each for each in changes)
    commands = {each.change: each.kubectl for each in found.remedies[1:]}
    assert [change for change, lines in commands.items() if lines] == own[:least == 4]


@pytest.mark.long
@pytest.mark.parametrize("phase", ["Completed", "Failed", "Aborted", "Terminated"])
@pytest.mark.parametrize(("there", "group"), [(0, False), (0, True), (1, True)])
def test_a_job_that_has_ended_is_submitted_again(phase, there, group):
    """A lower minimum is none of its changes: its controller creates no pods for it any more."""
    text = exported("gone", 2, 2, there=there, phase="Inqueue", job_phase=phase, group=group)
    found = asked(text).why("gone")
    assert [str(each) for each in found.remedies] == [
        "submit job default/gone again (gone is placed on n1)"]
