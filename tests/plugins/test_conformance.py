"""conformance: what the cluster itself needs is never evicted."""

from __future__ import annotations

import pytest
from attrs import evolve
from small_cluster import group, names, node, open_session, pod, queue, task

from volcano_lab.framework.points.rules import PERMIT


def in_namespace(one, namespace):
    return evolve(one, metadata=evolve(one.metadata, namespace=namespace))


@pytest.mark.parametrize(
    ("sentence", "priority_class", "namespace", "may_go"),
    [
        ("a pod without a priority class", "", "default", True),
        ("a class of one's own", "gold", "default", True),
        ("critical for its node", "system-node-critical", "default", False),
        ("critical for the cluster", "system-cluster-critical", "default", False),
        ("in kube-system whatever its class", "", "kube-system", False),
    ],
)
def test_victims(sentence, priority_class, namespace, may_go):
    one = in_namespace(pod("a-0", "a", "n1", priorityClassName=priority_class), namespace)
    ssn = open_session(node("n1"), queue(), in_namespace(group("a"), namespace), one,
                       plugins="conformance")
    plugin = ssn.plugins["conformance"]
    for point in (plugin.preemptable, plugin.reclaimable):
        victims, vote = point(task(ssn, "a-0"), [task(ssn, "a-0")])
        assert (names(victims), vote) == (["a-0"] if may_go else [], PERMIT), sentence
