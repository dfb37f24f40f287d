"""Checks of lesson 08: placement, predicates and scores."""

from __future__ import annotations

from volcano_lab.lessons.checking import check
from volcano_lab.lessons.verdict import Verdict, try_again, well_done
from volcano_lab.widgets.lesson_08 import conf_with, placement_cluster


@check(takes=int, right=[3, "3"], wrong=[(4, "no node"), (2, "larger"), (6, "no node"), (0, "from 1")])
def largest_pod(answer: int) -> Verdict:
    """On the nodes 3, 1 and 2 of 4 CPUs are in use. How many CPUs may one pod ask for, at most, so that it starts?"""
    if answer < 1:
        return try_again("A pod asks for a whole number of CPUs here, from 1.")
    if not placement_cluster(cpu=answer).run(conf_with()).committed:
        return try_again(f"For a pod of {answer} CPUs there is no node: the sum of what is free does not help.")
    if placement_cluster(cpu=answer + 1).run(conf_with()).committed:
        return try_again("That starts, but a larger one would, too.")
    return well_done("node-2 has 3 CPUs free. All nodes together have 6, but a pod is on one node.")


def _where(plugin: str) -> list[str]:
    return [node for _, _, node in placement_cluster().run(conf_with(plugin)).committed]


@check(takes=str, right=["binpack"], wrong=[("nodeorder", "node-2"), ("best", "nodeorder or binpack")])
def filler(answer: str) -> Verdict:
    """Which plugin, nodeorder or binpack, puts the pod on node-1, the fullest node that has room?"""
    if answer not in ("nodeorder", "binpack"):
        return try_again("Write nodeorder or binpack.")
    where = _where(answer)
    return well_done("binpack prefers the node that will be fullest. Large holes stay for large pods.") if where == [
        "node-1"] else try_again(f"{answer} puts it on {where[0]}, where it is emptier.")


CASES = [((4, 3, 1), 1.0), ((4, 1, 1), 0.5), ((4, 0, 1), 0.25), ((4, 4, 1), 0)]


def _packing(allocatable, used, request):
    return 0 if used + request > allocatable else (used + request) / allocatable


@check(takes=callable, wanted="a function of allocatable, used and request", right=lambda: [_packing],
       wrong=lambda: [(lambda a, u, r: u / a, "with the pod"), (lambda a, u, r: (u + r) / a, "does not fit"),
                      (lambda a: 1, "TypeError")])
def packing(answer) -> Verdict | None:
    """Write score(allocatable, used, request) for one resource: how full the node is with the pod, and 0 if it can't be."""
    if all(answer(*case) is None for case, _ in CASES):
        return None
    for case, wanted in CASES:
        got = answer(*case)
        if not isinstance(got, int | float) or abs(got - wanted) > 1e-9:
            hint = "A pod that does not fit scores 0." if not wanted else "Count how full the node is with the pod on it."
            return try_again(f"`score{case}` is {got}; wanted is {wanted}. {hint}")
    return well_done("binpack takes the mean of this over the resources asked for, times 100 and its weight.")
