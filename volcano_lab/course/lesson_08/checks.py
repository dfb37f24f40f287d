"""Checks of lesson 08: placement, predicates and scores."""

import random
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from volcano_lab.api.resource import Resource
from volcano_lab.course.kit.checking import Mistakes, check
from volcano_lab.course.kit.questions import entries
from volcano_lab.course.kit.verdict import Verdict, try_again, well_done
from volcano_lab.course.lesson_08.scene import conf_with, placement_cluster
from volcano_lab.messages import gettext
from volcano_lab.plugins.binpack import binpacking_score

Amounts = Mapping[str, float]


@check(takes=str, wanted="a text with lines of a pod's spec")
def wish(answer: str) -> Mistakes:
    """A rule with which the pod goes to node-3, and still starts, on node-2, when the other two
    nodes are full.
    """
    weights = [int(number) for number in re.findall(r"weight: *(\d+)", answer)]
    yield any(weight not in range(1, 101) for weight in weights), "weight_of_a_wish"
    where = [step[2] for step in placement_cluster(answer).run(conf_with()).committed]
    full = placement_cluster(answer, node_1=4, node_3=4).run(conf_with())
    crowded = [step[2] for step in full.committed]
    if where == ["node-3"] and crowded == ["node-2"]:
        return well_done("a_wish")
    yield where == ["node-3"], "a_must"
    place = gettext("{names:,}", names=where) if where else gettext("no node")
    yield "preferred" in answer, try_again("a_weak_wish", place=place)
    return try_again("another_place", place=place)


# -- make
# --------------------------------------------------------------------------------------------------


def cases() -> Iterator[tuple[Amounts, Amounts, Amounts, Amounts]]:
    """(request, used, allocatable, weights), in CPUs, Gi and GPUs: some by hand, and many by
    chance, always the same.
    """
    yield from entries("08")["packing"]["cases"]
    chance = random.Random(8)
    for _ in range(60):
        node = {"cpu": chance.randint(2, 16), "memory": chance.randint(2, 64),
                "gpu": chance.randint(1, 8)}
        held = {name: chance.randint(0, amount) for name, amount in node.items()}
        asked = chance.sample(sorted(node), chance.randint(1, 3))
        weights = {name: chance.randint(1, 5)
                   for name in ("cpu", "memory", *(["gpu"] if chance.random() < 0.5 else []))}
        request = {name: chance.randint(1, max(1, node[name] // 2)) for name in asked}
        yield request, held, node, weights


def _as_volcano(request: Amounts, used: Amounts, allocatable: Amounts, weights: Amounts) -> float:
    """What the plugin binpack makes of it."""
    asked, offers, held = (
        Resource(each.get("cpu", 0) * 1000.0, each.get("memory", 0) * 2.0**30,
                 {"gpu": each["gpu"] * 1000.0} if "gpu" in each else None)
        for each in (request, allocatable, used))
    return binpacking_score(asked, offers, held,
                            {name: int(weight) for name, weight in weights.items()})


@check(takes=callable, wanted="a function of request, used, allocatable and weights")
def packing(answer: Callable[[Amounts, Amounts, Amounts, Amounts], Any]) -> Verdict | None:
    """Write score(request, used, allocatable, weights) for several resources: how full the node is
    with the pod, from 0 to 1.
    """
    for tried, case in enumerate(cases(), 1):
        try:
            got, wanted = answer(*case), _as_volcano(*case)
        except ZeroDivisionError:
            return try_again("divides_by_zero")
        if got is None and tried == 1:
            return None
        if not isinstance(got, int | float) or abs(got - wanted) > 1e-9:
            shown = ", ".join(f"{name}={value}" for name, value in zip(
                ("request", "used", "allocatable", "weights"), case, strict=True))
            return try_again(
                "score_otherwise", shown=shown, got=got, wanted=f"{wanted:.4g}", hint=_hint(got,
                wanted, case[0], case[3]))
    return well_done("score", tried=tried)


def _hint(got: Any, wanted: float, request: Amounts, weights: Amounts) -> str:
    counted, every = sum(weights.get(name, 0) for name in request), sum(weights.values())
    number = isinstance(got, int | float)
    if number and abs(got - 100 * wanted) < 1e-9:
        return "times_100"
    if number and counted and abs(got * every - wanted * counted) < 1e-9:
        return "divide_by_its_weights"
    if not wanted and any(name in weights for name in request):
        return "does_not_fit"
    if any(name not in weights for name in request):
        return "without_a_weight"
    if len({weights[name] for name in request}) > 1:
        return "each_by_its_weight"
    return "with_the_pod"
