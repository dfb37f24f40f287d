"""Situations as `kubectl get -o yaml` gives them: what controllers have made, and have not made."""

import pytest

from volcano_lab import loads
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


def test_a_job_that_is_not_admitted_has_no_pods_yet_and_is_answered_as_with_them():
    explanation = asked(FULL, exported("new", 2, 2)).why("new")
    assert explanation.codes == ["overcommit_refuses", "queue_over_capability"]
    assert explanation.head.startswith("Job default/new of queue default is Pending: of 2 pods 0")
    assert explanation.causes[-1].text.startswith("Its pods are not made yet: ")
    assert [each.change for each in explanation.remedies] == [
        "job default/new: min_member 2 -> 1", "job default/new: request of cpu a pod 2 -> 1",
        "1 more node like n1", "actions without enqueue"]


def test_the_cycle_itself_has_only_the_pods_that_there_are():
    explain = asked(FULL, exported("new", 1, 1))
    assert explain.why("new").head == ("Job default/new of queue default is Inqueue: of 1 pod 1 "
                                       "has a place, 0 wait.")
    assert sorted(len(job.tasks) for job in explain.session.jobs.values()) == [0, 1]
    assert not explain.evidence.unmade


def test_pods_that_a_quota_keeps_from_being_made_are_told_of_a_job_that_runs():
    text = exported("old", 6, 1, least=2, there=4, phase="Running", job_phase="Running")
    explanation = asked(text, QUOTA.replace('used: {requests.cpu: "4"}',
                                            'used: {requests.cpu: "5"}')).why("old")
    assert explanation.text.endswith(
        "2 of its 6 pods are not among the objects (old-w-4, old-w-5): ResourceQuota "
        "default/compute has too little left of requests.cpu for one more, so the API server "
        "refuses it.")
    assert "refuses" not in asked(text, QUOTA).why("old").text


@pytest.mark.parametrize("phase, said", [
    ("Aborted", "Job default/gone: it is Aborted and has no pods; vcctl job resume -n default -N "
                "gone starts it again."),
    ("Completed", "Job default/gone: it is Completed and has no pods."),
])
def test_a_job_that_has_ended_or_was_suspended_is_known(phase, said):
    assert asked(exported("gone", 1, 1, job_phase=phase, group=False)).why("gone").text == said


def test_a_job_that_is_admitted_and_has_no_pods_is_told_so():
    explanation = asked(exported("odd", 1, 1, phase="Inqueue")).why("odd")
    assert explanation.codes[0] == "pods_not_made"
    assert "its PodGroup is Inqueue and none of its pods" in explanation.text.replace("Its", "its")
