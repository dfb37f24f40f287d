"""overcommit: jobs are admitted while their minimum fits the cluster, taken a little larger."""

from __future__ import annotations

import pytest
from small_cluster import group, node, open_session, pod, queue, run

from volcano_lab.framework.points.rules import PERMIT, REJECT


def cpus(number):
    return {"minResources": {"cpu": str(number)}}


def session(*objects, factor=None):
    """A cluster of 10 CPU of which a pod uses 2."""
    plugin = "overcommit" if factor is None else (
        f"{{name: overcommit, arguments: {{overcommit-factor: {factor}}}}}")
    used = [group("old", phase="Running"), pod("old-0", "old", "n1", requests={"cpu": "2"})]
    return open_session(node("n1", "10"), queue(), *used, *objects, plugins=plugin)


@pytest.mark.parametrize(
    ("sentence", "asked", "others", "factor", "vote"),
    [
        ("up to 1.2 of the cluster less what is used", cpus(10), [], None, PERMIT),
        ("not beyond", cpus("10001m"), [], None, REJECT),
        ("what jobs admitted have reserved is gone",
     cpus(5), [group("b", **cpus(6))], None, REJECT),
        ("without a minimum nothing is asked", {}, [group("b", **cpus(60))], None, PERMIT),
        ("a resource that the minimum does not name is not compared",
         {"minResources": {"memory": "1Gi"}}, [group("b", **cpus(60))], None, PERMIT),
        ("a factor of 1 overcommits nothing", cpus(9), [], 1.0, REJECT),
        ("a factor below 1 is the default", cpus(10), [], 0.5, PERMIT),
    ],
)
def test_admission(sentence, asked, others, factor, vote):
    ssn = session(group("a", phase="Pending", **asked), *others, factor=factor)
    assert ssn.plugins["overcommit"].job_enqueueable(ssn.jobs["default/a"]) == vote, sentence


def test_an_admitted_job_has_reserved_its_minimum_for_those_that_follow():
    ssn = session(group("a", phase="Pending", **cpus(6)), group("b", phase="Pending", **cpus(5)))
    plugin, a, b = ssn.plugins["overcommit"], ssn.jobs["default/a"], ssn.jobs["default/b"]
    assert plugin.job_enqueueable(b) == PERMIT
    plugin.job_enqueued(a)
    assert plugin.job_enqueueable(b) == REJECT


def test_pods_with_a_scheduling_gate_reserve_nothing_once_their_job_is_admitted():
    gated = [pod(f"a-{number}", "a", requests={"cpu": "3"}, schedulingGates=[{"name": "g"}])
             for number in range(2)]
    ssn = session(group("a", phase="Pending", **cpus(7)), *gated,
                  group("b", phase="Pending", **cpus(9)))
    plugin = ssn.plugins["overcommit"]
    plugin.job_enqueued(ssn.jobs["default/a"])
    assert plugin.inqueue_resource.get("cpu") == 1000
    assert plugin.job_enqueueable(ssn.jobs["default/b"]) == PERMIT


def test_the_event_names_the_resources_beyond_the_limit():
    conf = 'actions: "enqueue"\ntiers:\n- plugins:\n  - name: overcommit\n'
    ssn = run(node("n1", "10"), queue(), group("a", phase="Pending", **cpus(13)), conf=conf)
    assert ssn.jobs["default/a"].pod_group.status.phase == "Pending"
    assert [(e.reason, e.message) for e in ssn.cache.events] == [
        ("Unschedulable", "resource in cluster is overused: overused cpu")]
