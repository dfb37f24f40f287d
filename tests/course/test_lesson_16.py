"""Lesson 16: the picture of its nodes."""

import pytest

from volcano_lab.course.lesson_16.checks import CONF, after_the_cleanup
from volcano_lab.course.lesson_16.scene import drawn


@pytest.fixture
def cycle():
    cluster = after_the_cleanup().queue("prod", capability=24)
    cluster.job("train", network_topology={"mode": "hard", "highestTierAllowed": 2})
    return cluster.run(CONF.replace("backfill", "backfill, reclaim"))


def test_a_node_says_how_many_gpus_are_in_use_or_whose_pods_it_has(cycle):
    first, *_, last = drawn(cycle, "").data["nodes"]

    assert (first["note"], last["note"]) == ("2 of 2 GPUs", "invoice, train")
    assert [pod["name"] for pod in first["pods"]] == ["shop-1", "shop-0", "eval-0"]
