"""Answers to the checks of lesson 10: right ones, and wrong ones with words of their hints."""

from __future__ import annotations

from course.answers import answers
from volcano_lab.cluster import Cluster
from volcano_lab.course.lesson_10 import checks
from volcano_lab.course.lesson_10.checks import Row
from volcano_lab.course.lesson_10.cluster import topology_cluster
from volcano_lab.course.lesson_10.scene import sub_group_cluster


def in_order(rows: list[Row], asks: float, highest: int) -> list[list[str]]:
    """The HyperNodes that are tried for a gang, tier by tier from the lowest; in a tier by name."""
    fitting = sorted((row["tier"], row["name"]) for row in rows if row["tier"] <= highest
                     and row["free"] >= asks)
    return [[name for tier, name in fitting if tier == wanted]
            for wanted in sorted({tier for tier, _ in fitting})]


def _emptied() -> Cluster:
    return topology_cluster(pods=7, taken={"node-5": 1})


def _one_list(rows: list[Row], asks: float, highest: int) -> list[list[str]]:
    return [sorted(row["name"] for row in rows if row["tier"] <= highest and row["free"] >= asks)]


def _any_room(rows: list[Row], asks: float, highest: int) -> list[list[str]]:
    return in_order([row | {"free": asks} for row in rows], asks, highest)


def _any_tier(rows: list[Row], asks: float, highest: int) -> list[list[str]]:
    return in_order(rows, asks, 99)


answers(
    "10.allocations_in_all",
    right=[12, "12"],
    wrong=[
        (4, "dry run"),
        (8, "taken back"),
        (16, "recovered one"),
        (24, "commit"),
        (3, "whole gang"),
    ],
)

answers(
    checks.room_for_seven,
    right=[_emptied(), topology_cluster(pods=7, taken={"node-1": 0})],
    wrong=[
        (topology_cluster(pods=7), "no rack"),
        (topology_cluster(pods=4), "7 pods"),
        (topology_cluster(pods=7, highest_tier=2), "tier 1"),
        (topology_cluster(pods=7, mode="soft"), "tier 1"),
        (topology_cluster(pods=7, taken=dict.fromkeys(("node-1", "node-2", "node-7"), 0)),
         "one node"),
    ],
)

answers(
    "10.tier_to_grow",
    right=[2, "2"],
    wrong=[(1, "rack-1"), (3, "lower"), (0, "from 1"), (4, "lower"), (-1, "from 1")],
)

answers(
    "10.points_in_the_next_rack",
    right=[50, "50"],
    wrong=[(100, "same"), (0, "cluster"), (33.3, "from 1 to 3"), (20, "share"), (70, "best")],
)

answers(
    checks.twelve_in_parts,
    right=[sub_group_cluster(groups, 12 // groups, job_tier=3) for groups in (2, 3, 4, 6)],
    wrong=[
        (sub_group_cluster(3, 4, job_tier=2), "room"),
        (sub_group_cluster(1, 12, job_tier=3), "in one rack"),
        (sub_group_cluster(2, 4), "12 pods"),
        (sub_group_cluster(1, 12, job_tier=3, tier=3), "tier 1"),
        (topology_cluster(pods=12), "sub-groups"),
    ],
)

answers(
    checks.tiers_to_try,
    right=[in_order],
    wrong=[
        (_one_list, "list for each tier"),
        (_any_room, "room"),
        (_any_tier, "higher than"),
        (lambda rows, asks, highest: list(reversed(in_order(rows, asks, highest))), "lowest tier"),
        (lambda rows, asks, highest: 5, "list for each tier"),
        (lambda rows: [], "TypeError"),
        (lambda rows, asks, highest: in_order([row for row in rows if row["free"] > asks], asks,
                                              highest), "Exactly what"),
        (lambda rows, asks, highest: in_order(rows, asks, highest - 1), "is allowed, too"),
        (lambda rows, asks, highest: [list(rows)], "names only"),
    ],
)

answers(
    checks.pattern,
    right=["^gpu-([34]|10)$", "gpu-(3|4|10)", " 3|4|10 ", "^gpu-3$|^gpu-4$|^gpu-10$"],
    wrong=[
        ("gpu-[34]", "gpu-10 is missing"),
        ("gpu-[3410]", "gpu-1 should not"),
        ("gpu-.*", "gpu-1 should not"),
        ("gpu-3, gpu-4, gpu-10", "takes no node"),
        ("^gpu-(3|4|1)", "gpu-1 should not"),
        ("gpu-(", "no regular expression"),
        (["gpu-3", "gpu-4"], "wanted is a pattern"),
    ],
)
