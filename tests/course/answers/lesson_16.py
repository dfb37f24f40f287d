"""Answers to the last boss: right ones, and wrong ones with words of their hints."""

from __future__ import annotations

from course.answers import answers
from volcano_lab.course.lesson_16 import checks
from volcano_lab.course.lesson_16.checks import CONF, after_the_cleanup

CAPACITY = "  - name: capacity\n    enableHierarchy: true\n"
RECLAIM = CONF.replace("backfill", "backfill, reclaim")
ONE_TIER = RECLAIM.replace(CAPACITY, "").replace("  - name: conformance\n",
                                                 f"  - name: conformance\n{CAPACITY}")


def _repaired(*left_out, **topology):
    cluster = after_the_cleanup()
    if "invoice" not in left_out:
        cluster.queue("prod", capability=24)
    if "train" not in left_out:
        cluster.job("train", network_topology=topology or {"mode": "hard", "highestTierAllowed": 2})
    return cluster


answers(
    "16.no_to_invoice",
    right=["queue prod"],
    wrong=[("enqueue", "admitted it"), ("queue billing", "admits it"), ("the nodes", "1 CPU"),
           ("the gang", "of no use"), ("queue web", "Choose one of")],
)
answers(
    "16.who_pays",
    right=["one of shop, one of crawl"],
    wrong=[("none", "Try it"), ("two of crawl", "Look at the tiers"),
           ("two of shop", "minimum is 1"), ("three of crawl", "no more than that"),
           ("all", "Choose one of")],
)
answers(
    checks.all_served,
    right=[(_repaired(), ONE_TIER),
           (_repaired().queue("web", reclaimable=False), RECLAIM),
           (_repaired("invoice").queue("prod", capability={}), ONE_TIER)],
    wrong=[
        (after_the_cleanup(), "wanted is (a cluster"),
        ((after_the_cleanup(), CONF), "as it was"),
        ((_repaired("invoice"), ONE_TIER), "Look at invoice"),
        ((_repaired("train"), ONE_TIER), "Look at train"),
        ((_repaired(), CONF), "Look at eval"),
        ((_repaired(), RECLAIM), "Look at shop"),
        ((_repaired(), ONE_TIER.replace("conformance", "conformence")), "did you mean conformance"),
        ((_repaired(mode="soft"), ONE_TIER), "nothing keeps train"),
        ((_repaired(), ONE_TIER.replace("  - name: network-topology-aware\n", "")),
         "nothing keeps train"),
        ((_repaired().node("node-9", cpu=8, gpu=2), ONE_TIER), "Node node-9"),
        ((_repaired().job("eval", pods=1), RECLAIM), "stay as it was"),
    ],
)
