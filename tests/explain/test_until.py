"""Until when a job waits, beside the first line of its answer."""

import pytest

from volcano_lab.cluster import Cluster

CONF = """\
actions: "enqueue, allocate"
tiers: [{plugins: [{name: priority}, {name: gang}, {name: predicates}, {name: proportion}%s]}]
"""
SERVICE = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: podgroup-web, namespace: default, ownerReferences: [
  {apiVersion: apps/v1, kind: ReplicaSet, name: web, controller: true}]}
spec: {minMember: 1}
status: {phase: Running}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: default, ownerReferences: [
  {apiVersion: apps/v1, kind: ReplicaSet, name: web, controller: true}],
  annotations: {scheduling.k8s.io/group-name: podgroup-web}}
spec: {schedulerName: volcano, nodeName: n2, containers: [
  {name: c, resources: {requests: {cpu: 4}}}]}
status: {phase: Running}
"""
STRANGER = """\
apiVersion: v1
kind: Pod
metadata: {name: other, namespace: default}
spec: {schedulerName: default-scheduler, nodeName: n2, containers: [
  {name: c, resources: {requests: {cpu: 4}}}]}
status: {phase: Running}
"""
HIGH = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 9}"
EVER = "It waits for ever without a change: "


def cluster(*running, service="", small=0, later=0, **job):
    """Two nodes of 4 CPUs, jobs of one pod that hold them, others that wait as the new one does."""
    found = Cluster().node("n1", cpu=4).node("n2", cpu=4).queue("q", capability={"cpu": 4})
    for number, node in enumerate(running):
        found.job(f"old{number}", cpu=4, running={node: 1})
    for number in range(small):
        found.job(f"small{number}", cpu=4)
    found = found.add(service) if service else found
    found.job("new", **({"cpu": 4} | job))
    for number in range(later):
        found.job(f"later{number}", cpu=4)
    return found


@pytest.mark.parametrize(("given", "said"), [
    (cluster("n1", "n2"),
     "It waits for the end of another job: that of default/old0 would be enough now."),
    (cluster("n1", "n2", pods=2),
     "It waits for the end of other jobs: that of default/old0, default/old1 would be enough now."),
    (cluster("n1", "n2", pods=4), "It waits for ever without a change: it would wait even if"),
    (cluster("n1", "n2", pods=4, cpu=2), "It waits for the end of other jobs"),
    (cluster("n1", "n2", pods=2, later=1),
     "once default/old0 alone has ended, default/later0 gets places, not this job."),
    (cluster("n1", "n2", pods=2, small=1),
     "It waits for the end of default/old0, default/old1, and then of default/small0, which waits "
     "as well and comes first."),
    (cluster("n1", service=SERVICE, pods=2), EVER + "default/web does not end by itself, and the "
                                                   "end of all other jobs is not enough."),
    (cluster(service=SERVICE, pods=2), EVER + "default/web does not end by itself."),
    (cluster(service=SERVICE.replace("apps/v1, kind: ReplicaSet", "kubeflow.org/v1, kind: Notebook"
                                     ), pods=2), EVER + "default/web does not end by itself."),
    (cluster("n1", cpu=8), EVER + "it would wait even if all other jobs had ended."),
    (cluster("n1", pods=2, queue="q"), EVER + "it would wait even if all other jobs had ended."),
    (cluster("n1", "n2", pods=3, min_member=1),
     "It waits for the end of another job: that of default/old0 would be enough now."),
    (cluster("n1", "n1", service=STRANGER, pods=2), None)])  # which may end, too
def test_until_when_a_job_waits(given, said):
    head = given.why("new", conf=CONF % "").head
    assert said in head if said else "It waits" not in head


def test_the_next_pod_of_a_job_that_runs_waits():
    given = Cluster().node("n1", cpu=4).job("old", cpu=2, running={"n1": 1}).job(
        "new", pods=2, min_member=1, cpu=2, running={"n1": 1})
    assert given.why("new", conf=CONF % "").head.endswith(
        "Its next pod waits for the end of another job: that of default/old would be enough now.")


def test_nothing_is_said_of_a_job_that_gets_its_places_by_itself():
    given = Cluster().node("n1", cpu=4).job("old", pods=2, min_member=1, cpu=2, running={
        "n1": 2}).add(HIGH).job("new", cpu=2, priority_class="high")
    found = given.why("new", conf=(CONF % ", {name: conformance}").replace(
        "allocate", "allocate, preempt"))
    assert "resources that are being freed." in found.head and "It waits" not in found.head


@pytest.mark.long
@pytest.mark.parametrize(("preempts", "said", "change"), [
    (False, "gets places, not this job", "actions with preempt"),
    (True, "It is placed without a change in one of the next cycles.", None)])
def test_what_the_cycle_gives_to_others_may_be_evicted_by_later_ones(preempts, said, change):
    """The first cycle places a small job, whose pod cannot be evicted before it runs."""
    given = Cluster().node("n1", cpu=4).node("n2", cpu=4).add(HIGH).job(
        "big", pods=2, cpu=4, priority_class="high")
    for number in range(5):
        given.job(f"small{number}", cpu=2, running={
            f"n{number // 2 + 1}": 1} if number < 3 else None)
    found = given.why("big", conf="""
actions: "enqueue, allocate%s"
tiers: [{plugins: [{name: priority}, {name: predicates}, {name: gang, enablePreemptable: false}]}]
""" % (", preempt" * preempts))
    assert said in found.head
    assert [each.change for each in found.remedies][:1] == [*filter(None, [change])]
