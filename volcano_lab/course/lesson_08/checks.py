"""Checks of lesson 08: placement, predicates and scores."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from typing import Any

from volcano_lab.api.resource import Resource
from volcano_lab.course.kit.checking import check, choice
from volcano_lab.course.kit.verdict import Verdict, try_again, well_done
from volcano_lab.course.lesson_08.scene import conf_with, placement_cluster
from volcano_lab.course.lesson_08.scores import score_parts
from volcano_lab.plugins.binpack import binpacking_score

Amounts = dict[str, float]


@choice({3: well_done("node-2 has 3 CPUs free. All nodes together have 6, but a pod runs on one "
                      "node."), 1: "That starts, but a larger one would, too.",
         2: "That starts, but a larger one would, too.",
         4: "4 is what an empty node has. How much is free on the emptiest node?",
         5: "No node is that large: each has 4 CPUs, and pods already run there.",
         6: "6 is the sum over three nodes. A pod runs on one of them."},
        "How much is free on the emptiest node?", int)
def largest_pod() -> None:
    """3, 1 and 2 of 4 CPUs are in use. How many CPUs may one pod ask for, at most, so that it
    starts?"""


@choice({"Insufficient cpu":
         "That is what it said before. Now 3 CPUs are asked for, and 3 are free.",
         "untolerated taint {team: gpu}": well_done(
             "Room is asked first, and one refusal ends the questions. So the taint shows only "
             "when there is room. Fix one reason, and read the message once more."),
         "both reasons": "There is room now: 3 CPUs are free. So only one reason is left.",
         "nothing, it takes the pod": "There is room now, so it is asked the next question, by the "
                                      "plugin predicates. What is different about node-2?",
         "Insufficient memory": "The pod asks for 1Gi, and node-2 has 15Gi free.",
         "Too many pods": "A node takes 110 pods here."})
def next_reason() -> None:
    """The request is lowered to 3 CPUs. What does node-2 say then?"""


@choice({53: well_done("CPU: 1 of 4 stays free, 25. Memory: 13 of 16, 81. The mean is 53."),
         **dict.fromkeys((53.125, 53.13, 53.1), "Nearly. Volcano uses whole numbers here: "
                         "fractions are dropped at each step."),
         25: "25 is right for CPU. Now memory, and the mean of both.",
         81: "81 is right for memory. Now CPU, and the mean.",
         68: "That is node-2. Put in the numbers of node-3.",
         46: "That is the part that is taken. Count what stays free.",
         106: "That is the sum. Take the mean of the two."},
        "For each of the two: what stays free, times 100, divided by what the node has, without "
        "fraction. Then the mean, without fraction.", float)
def least_requested_of_node_3() -> None:
    """With the pod, node-3 has 3 of 4 CPUs and 3 of 16Gi requested. How many points does it get for
    *least requested*?"""


@check(takes=float)
def binpack_of_node_3(answer: float) -> Verdict:
    """Now the configuration says `binpack.cpu: 5`. How many points does binpack give node-3, with 3
    of 4 CPUs and 3 of 16Gi taken?"""
    wanted = score_parts(placement_cluster(), "binpack", binpack_cpu=5)["node-3"]["binpack"]
    if abs(answer - wanted) < 0.05:
        return well_done("(5 × 0.75 + 1 × 0.1875) / 6 × 100. Memory counts little now.")
    hints = {65: "Nearly. Here no fraction is dropped or rounded.",
             66: "Nearly. Here no fraction is dropped or rounded.",
             47: "That is with the weights 1 and 1, both alike. CPU has weight 5 now.",
             75: "75 is CPU alone. Memory counts once, CPU five times.",
             28: "It is the other way round: CPU has weight 5, memory 1."}
    return try_again(hints.get(round(answer),
                               "Add 5 × the part of the CPUs and 1 × the part of the memory, "
                               "divide by the sum of the weights (5 + 1), and multiply by 100."))


@choice({2: well_done("With 1, binpack puts node-1 31.25 points ahead; with 2 it is 62.5, and that "
                      "is more than 50. Naming binpack in the configuration is not enough: its "
                      "weight decides."),
         0: "With 0 binpack gives no points at all, and the pod goes to node-2.",
         1: "With 1 the pod goes to node-2: nodeorder puts it 50 points ahead, binpack puts node-1 "
            "only 31.25 ahead.", 3: "That does it, but less is enough.",
         5: "That does it, but less is enough.", 10: "That does it, but less is enough."},
        "nodeorder puts node-2 50 points before node-1. Each unit of the weight brings node-1 "
        "31.25 points nearer.", int)
def enough_binpack() -> None:
    """What is the smallest `binpack.weight` that sends the pod to node-1?"""


@check(takes=str, wanted="a text with lines of a pod's spec")
def wish(answer: str) -> Verdict:
    """A rule with which the pod goes to node-3, and still starts, on node-2, when the other two
    nodes are full.
    """
    weights = [int(number) for number in re.findall(r"weight: *(\d+)", answer)]
    if any(weight not in range(1, 101) for weight in weights):
        return try_again("The weight of a wish is a number from 1 to 100; Kubernetes refuses "
                         "others.")
    where = [step[2] for step in placement_cluster(answer).run(conf_with()).committed]
    full = placement_cluster(answer, node_1=4, node_3=4).run(conf_with())
    crowded = [step[2] for step in full.committed]
    if where == ["node-3"] and crowded == ["node-2"]:
        return well_done("A wish gives points to the nodes that have the label, and refuses none.")
    if where == ["node-3"]:
        return try_again("It goes to node-3. But when node-1 and node-3 are full, it does not "
                         "start: your rule is a must. Write a wish (preferred…).")
    place = ", ".join(where) or "no node"
    if "preferred" in answer:
        return try_again(f"It is a wish, but a weak one: the pod goes to {place}. A weight of 1 is "
                         "worth 2 points. Raise it.")
    return try_again(f"With this the pod goes to {place}. Which label does node-3 have and node-2 "
                     "not?")


# -- make
# --------------------------------------------------------------------------------------------------


def cases() -> Iterator[tuple[Amounts, Amounts, Amounts, Amounts]]:
    """(request, used, allocatable, weights), in CPUs, Gi and GPUs: some by hand, and many by
    chance, always the same.
    """
    node, held = {"cpu": 4, "memory": 16, "gpu": 2}, {"cpu": 1, "memory": 1, "gpu": 0}
    yield {"cpu": 1}, held, node, {"cpu": 2, "memory": 1}
    yield {"cpu": 4}, held, node, {"cpu": 1, "memory": 1}
    yield {"cpu": 1, "memory": 1}, held, node, {"cpu": 5, "memory": 1}
    yield {"cpu": 1, "gpu": 1}, held, node, {"cpu": 1, "memory": 1}
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
    amounts = [Resource(each.get("cpu", 0) * 1000.0, each.get("memory", 0) * 2.0**30,
                        {"gpu": each["gpu"] * 1000.0} if "gpu" in each else None)
               for each in (request, allocatable, used)]
    return binpacking_score(*amounts, {name: int(weight) for name, weight in weights.items()})


@check(takes=callable, wanted="a function of request, used, allocatable and weights")
def packing(answer: Callable[[Amounts, Amounts, Amounts, Amounts], Any]) -> Verdict | None:
    """Write score(request, used, allocatable, weights) for several resources: how full the node is
    with the pod, from 0 to 1.
    """
    tried = 0
    for case in cases():
        try:
            got, wanted = answer(*case), _as_volcano(*case)
        except ZeroDivisionError:
            return try_again("That divides by zero. Where nothing counts, because nothing that the "
                             "pod asks for has a weight, the score is 0.")
        if got is None and not tried:
            return None
        tried += 1
        if not isinstance(got, int | float) or abs(got - wanted) > 1e-9:
            shown = ", ".join(f"{name}={value}" for name, value in zip(
                ("request", "used", "allocatable", "weights"), case, strict=True))
            return try_again(f"For {shown} your score is {got}; binpack's is {wanted:.4g}. "
                             f"{_hint(got, wanted, case[0], case[3])}")
    return well_done(f"The same as the plugin in {tried} cases. Times 100 and times "
                     "binpack.weight, these are the points. GPUs count only when "
                     "`binpack.resources` names them.")


def _hint(got: Any, wanted: float, request: Amounts, weights: Amounts) -> str:
    counted, every = sum(weights.get(name, 0) for name in request), sum(weights.values())
    number = isinstance(got, int | float)
    if number and abs(got - 100 * wanted) < 1e-9:
        return "That is times 100. Leave this out: the result is from 0 to 1."
    if number and counted and abs(got * every - wanted * counted) < 1e-9:
        return "Divide by the weights of what the pod asks for, not by all weights."
    if not wanted and any(name in weights for name in request):
        return "A pod that does not fit in a resource that counts has the score 0."
    if any(name not in weights for name in request):
        return "A resource without a weight does not count, neither above nor below the line."
    if len({weights[name] for name in request}) > 1:
        return ("Multiply each part by its weight, and divide by the sum of the weights that "
                "counted.")
    return "Count how full the node is with the pod on it."
