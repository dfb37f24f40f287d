"""Answers to the checks of lesson 08: right ones, and wrong ones with words of their hints."""

from __future__ import annotations

from course.answers import answers
from volcano_lab.course.lesson_08 import checks
from volcano_lab.course.lesson_08.checks import Amounts
from volcano_lab.course.lesson_08.scene import anti_affinity, preference


def _without_fit(request: Amounts, used: Amounts, allocatable: Amounts, weights: Amounts) -> float:
    names = [name for name in request if name in weights]
    parts = [weights[name] * (used[name] + request[name]) / allocatable[name] for name in names]
    return sum(parts) / sum(weights[name] for name in names) if names else 0


def _plain_mean(request: Amounts, used: Amounts, allocatable: Amounts, weights: Amounts) -> float:
    parts = [(used[name] + amount) / allocatable[name]
             for name, amount in request.items()
             if name in weights]
    return 0 if not parts or max(parts) > 1 else sum(parts) / len(parts)


def packing_score(request: Amounts, used: Amounts, allocatable: Amounts, weights: Amounts) -> float:
    """How full a node would be with a pod, from 0 to 1: the weighted mean over what it asks for and
    what has a weight.
    """
    total = weighed = 0.0
    for name, amount in request.items():
        if name not in weights:
            continue
        filled = used[name] + amount
        if filled > allocatable[name]:
            return 0.0
        total += weights[name] * filled / allocatable[name]
        weighed += weights[name]
    return total / weighed if weighed else 0.0


answers(
    "08.largest_pod",
    right=[3, "3"],
    wrong=[(4, "empty node"), (2, "larger"), (1, "larger"), (6, "one of them"), (5, "that large"),
           (0, "emptiest")],
)

answers(
    "08.next_reason",
    right=["untolerated taint {team: gpu}", "untolerated taint"],
    wrong=[("Insufficient cpu", "before"), ("nothing, it takes the pod", "next question"),
           ("both reasons", "only one"), ("Insufficient memory", "15Gi"), ("Too many pods", "110")],
)

answers(
    "08.least_requested_of_node_3",
    right=[40, "40"],
    wrong=[
        (40.625, "dropped"),
        (40.5, "dropped"),
        (25, "memory"),
        (56, "CPU"),
        (53, "with 1Gi"),
        (52, "each"),
        (59, "taken"),
        (81, "mean"),
    ],
)

answers(
    "08.binpack_of_node_3",
    right=[65.625, "65.625", 65.6, 65.63],
    wrong=[
        (46.875, "alike"),
        (75, "Memory"),
        (28.125, "other way"),
        (1.3125, "100"),
        (60, "divide"),
        (65, "dropped"),
        (66, "dropped"),
    ],
)

answers(
    "08.enough_binpack",
    right=[2, "2"],
    wrong=[(1, "node-2"), (3, "less"), (0, "no points"), (10, "less"), (-1, "nearer")],
)

answers(
    checks.wish,
    right=[preference(50), preference(100), preference(13)],
    wrong=[
        (preference(1), "2 points"),
        (preference(12), "2 points"),
        (preference(101), "from 1 to 100"),
        ("nodeSelector: {disk: ssd}", "must"),
        ("nodeSelector: {zone: b}", "must"),
        (anti_affinity("db", "kubernetes.io/hostname"), "must"),
        ("tolerations: []", "node-2"),
        ("nodeSelektor: {}", "nodeSelektor"),
        ("a: [", "no YAML"),
    ],
)

answers(
    checks.packing,
    right=[packing_score],
    wrong=[
        (_without_fit, "does not fit"),
        (_plain_mean, "weights"),
        (lambda a, b, c, d: 0.5, "does not fit"),
        (lambda r, u, a, w: u["cpu"] / a["cpu"], "with the pod"),
        (lambda a: 1, "TypeError"),
        (lambda r, u, a, w: sum(w[n] * (u[n] + r[n]) / a[n] for n in r) / sum(w[n] for n in r),
         "does not fit"),
        (lambda r, u, a, w: 100 * packing_score(r, u, a, w), "times 100"),
        (lambda r, u, a, w: sum(w[n] * (u[n] + r[n]) / a[n] for n in r if n in w) / sum(w.values()),
         "not by all"),
        (lambda r, u, a, w: packing_score(r, u, a, w) if set(r) & set(w) else 1 / 0,
         "nothing counts"),
    ],
)
