"""Ways around a promise on resources that do not become free."""

import pytest
from small_cluster import conf, group, node, pod, queue

from volcano_lab.explain import Explainer

NOW = 1_800_000_000.0
NULL = "pod/default/new-0.status.nominatedNodeName=null"
CORDON = "node/n2.unschedulable=true"


def late(nominated="n2", finalizers=("f",), other=4, cpu="2"):
    """A pod that should have ended on n2, to which another one is pipelined."""
    stuck = pod("old-0", "old", "n2", requests={"cpu": "4"}, phase="Running").changed(
        metadata={"deletion_timestamp": NOW - 9000, "finalizers": [*finalizers]})
    full = [group("full"), *(pod(f"full-{number}", "full", "n1", requests={"cpu": "1"},
                                 phase="Running") for number in range(other))]
    return Explainer([queue("default"), node("n1", cpu="4"), node("n2", cpu="4"), group("old"),
                      stuck, *full, group("new"), pod("new-0", "new", requests={
                          "cpu": cpu}).changed(status={"nominated_node_name": nominated})],
                     conf("gang", "predicates", actions="allocate"), NOW)


@pytest.mark.parametrize(("facts", "changes"), [
    ({"other": 1}, [NULL, CORDON]),
    ({"other": 4}, [f"{NULL} node/n1.more=1"]),
    ({"other": 4, "nominated": ""}, ["node/n1.more=1"]),
    ({"other": 4, "nominated": "", "finalizers": ()}, ["pod/default/old-0", "node/n1.more=1"])])
def test_a_promise_on_what_does_not_become_free_is_left(facts, changes):
    found = late(**facts).why("new")
    assert [" ".join(word for word in each.args if not word.startswith("--"))
            for each in found.remedies] == changes
    known = facts.get("nominated", "n2")
    assert ("nominatedNodeName is n2 meanwhile, so an autoscaler adds no" in found.text
            ) is bool(known)
    assert ("an autoscaler may add a node for it meanwhile" in found.text) is (not known)
    for each in found.remedies:
        assert ("no other pod is placed on n2 until it is uncordoned" in each.effect) == (
            each.args[-1] == CORDON)
        assert ("created again has no nominatedNodeName" in each.effect) == (NULL in each.args)
