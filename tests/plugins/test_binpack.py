"""binpack: the fuller a node is with the pod, the higher its score."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from small_cluster import group, node, open_session, pod, queue, task

GPU = "nvidia.com/gpu"


def scores(arguments="", request=None, **scalars):
    """Each node's score for a pod of 1 CPU and 2 GiB; n1 has 4 CPU and 8 GiB, 2 of each in use."""
    plugin = f"{{name: binpack, arguments: {{{arguments}}}}}" if arguments else "binpack"
    ssn = open_session(
        node("n1", "4", "8Gi", **scalars), node("n2", "4", "8Gi", **scalars), queue(),
        group("old"), pod("old-0", "old", "n1", requests={"cpu": "2", "memory": "2Gi"}),
        group("a"), pod("a-0", "a", requests=request or {"cpu": "1", "memory": "2Gi"}),
        plugins=plugin)
    one = task(ssn, "a-0")
    return [ssn.node_order(one, each) for each in ssn.node_list]


@pytest.mark.parametrize(
    ("sentence", "arguments", "n1", "n2"),
    [
        ("the mean of what would be used of each resource", "", (3 / 4 + 4 / 8) / 2,
         (1 / 4 + 2 / 8) / 2),
        ("the weight is a factor", "binpack.weight: 3", 3 * 0.625, 3 * 0.25),
        ("resources by their weights", "binpack.cpu: 3", (3 * 3 / 4 + 4 / 8) / 4, 0.25),
        ("a weight below zero is one", "binpack.cpu: -2", 0.625, 0.25),
        ("without any weight nothing counts", "binpack.cpu: 0, binpack.memory: 0", 0, 0),
        ("a weight of 0 switches it off", "binpack.weight: 0", 0, 0),
    ],
)
def test_scores(sentence, arguments, n1, n2):
    assert scores(arguments) == pytest.approx([100 * n1, 100 * n2]), sentence


@pytest.mark.parametrize(
    ("sentence", "arguments", "request_", "n1", "n2"),
    [
        ("a resource without a weight doesn't count", "", {"cpu": "1", GPU: "1"}, 3 / 4, 1 / 4),
        ("one that is named does", f"binpack.resources: {GPU}", {"cpu": "1", GPU: "1"},
         (3 / 4 + 1 / 2) / 2, (1 / 4 + 1 / 2) / 2),
        ("nor one that is not asked for", f"binpack.resources: {GPU}", {"cpu": "1"}, 3 / 4, 1 / 4),
        ("a pod that does not fit gets 0", "", {"cpu": "3"}, 0, 3 / 4),
        ("a pod that asks for nothing as well", "", {"pods": "0"}, 0, 0),
    ],
)
def test_only_requested_and_weighed_resources_count(sentence, arguments, request_, n1, n2):
    found = scores(arguments, request_, **{GPU: "2"})
    assert found == pytest.approx([100 * n1, 100 * n2]), sentence


@pytest.mark.long
@given(st.integers(0, 9), st.integers(0, 4))
def test_a_score_is_between_0_and_100_times_the_weight(weight, cpu):
    found = scores(f"binpack.weight: {weight}, binpack.cpu: {cpu}")
    assert all(0 <= score <= 100 * weight for score in found)
