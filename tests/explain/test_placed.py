"""Why pods run on their nodes: the scores of now, and who else has chosen the node."""

import pytest
from small_cluster import conf

from volcano_lab.cluster import Cluster
from volcano_lab.explain import placed

PLUGINS = ("priority", "gang", "predicates", "proportion")
KEPT = ("{apiVersion: v1, kind: Node, metadata: {name: kept}, spec: {taints: [{key: k, "
        "effect: NoSchedule}]}, status: {allocatable: {cpu: 4, pods: 9}}}")


def cluster(running, nodes=4, **job):
    built = Cluster()
    for number in range(nodes):
        built.node(f"n{number}", cpu=4)
    built.job("old", **{"pods": sum(running.values()), "cpu": 1} | job, running=running)
    return built.node("small", cpu=0.5).add(KEPT)


@pytest.mark.parametrize("plugins, nodes, running, head, said", [
    (("nodeorder", "binpack"), 4, {"n0": 2}, "n0, by the scores of binpack",
     "n1, n2, n3, which fit, too, hold none."),
    (("nodeorder", "binpack"), 2, {"n0": 2}, "n0, by the scores of binpack",
     "n1, which fits, too, holds none."),
    (("nodeorder", "binpack"), 2, {"n0": 1, "n1": 1}, "n0 and n1, by the scores of nodeorder",
     "With leastrequested.weight 0 instead of 1, n1 would come first."),
    (("nodeorder",), 2, {"n0": 1, "n1": 1}, "n0 and n1, by the scores of nodeorder",
     "With mostrequested.weight 2 instead of 0, n1 would come first."),
    (("nodeorder",), 4, {"n0": 2}, "n0; by the scores of now", "another state, or configuration"),
    (("binpack",), 1, {"n0": 2}, "n0, the only node that it fits now",
     "Of the others, 1 has too little cpu left, 1 refuses it: a taint that the pod does not"),
    ((), 2, {"n0": 2}, "n0, by the sum of the scores", "(no plugin scores it)")])
@pytest.mark.parametrize("name", ["old-0", "old"])
def test_why_pods_run_on_their_nodes(plugins, nodes, running, head, said, name):
    found = cluster(running, nodes).why(name, conf=conf(*PLUGINS, *plugins, actions="allocate"))
    assert said in found.text and found.codes == ["placed"]
    assert head.replace(" and n1", "" if name == "old-0" else ", n1") in found.head


def test_a_session_is_the_same_after_a_pod_was_taken_away():
    seen = cluster({"n0": 2}).explainer(conf(*PLUGINS, "nodeorder", "binpack", actions="allocate")
                                        ).evidence
    task, there = seen.tasks["default/old-0"], seen.ssn.nodes["n0"]

    def state():
        return (task.status, task.node_name, [*there.tasks], there.idle, there.used,
                seen.ssn.plugins["predicates"].kube.pod_count.tolist(),
                seen.ssn.plugins["proportion"].queue_opts["default"].allocated)

    before, scores = state(), placed.scored(seen, task)
    assert state() == before and placed.scored(seen, task) == scores
    assert {*scores.short} == {"small"} and {*scores.refused} == {"kept"}
