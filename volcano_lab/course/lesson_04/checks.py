"""The checks of lesson 04: limits, and who is admitted."""

import random
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from volcano_lab.api.formatting import in_units
from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.checking import Mistakes, check, is_empty
from volcano_lab.course.kit.questions import entries
from volcano_lab.course.kit.verdict import Verdict, try_again, well_done
from volcano_lab.course.lesson_04.lab import admission_cluster
from volcano_lab.trace.views.queues import levels

Amounts = Mapping[str, float]


# -- make: the sum as a function
# ----------------------------------------------------------------------------


@check(takes=callable, wanted="a function of minimum and queue")
def admission(answer: Callable[..., Any]) -> Mistakes:
    """Write short_of(minimum, queue): the names of the resources that are short; an empty list
    where none is.
    """
    cases = entries("04")["admission"]["cases"]
    first = answer(*cases[1][:2])
    if is_empty(first) and first != []:
        return None
    for minimum, queue, wanted, hint in cases:
        said = _tried(answer, minimum, queue)
        if isinstance(said, Verdict):
            return said
        yield said != wanted, try_again("short_of_otherwise", minimum=str(minimum), hint=hint,
                                        queue=str(queue), said=str(said), wanted=str(wanted))
    compared = recorded()
    for minimum, queue, names in compared:
        said = _tried(answer, minimum, queue)
        yield said != names, try_again("scheduler_found", names=str(names), said=str(said),
                                       minimum=str(minimum), queue=str(queue))
    refused = sum(bool(names) for _, _, names in compared)
    return well_done("short_of", len=len(compared), refused=refused)


def _tried(function: Callable[..., Any], minimum: Amounts,
           queue: Mapping[str, Amounts]) -> list[str] | Verdict:
    try:
        said = function(dict(minimum), {word: dict(amounts) for word, amounts in queue.items()})
    except KeyError as error:
        return try_again("key_is_missing", error=error)
    if not isinstance(said, list | tuple | set):
        return try_again("no_list", said=repr(said))
    return sorted(said)


@cache
def recorded() -> list[tuple[dict[str, float], dict[str, dict[str, float]], list[str]]]:
    """What proportion compared in random clusters: (minimum, queue, the names of what is
    short).

    >>> minimum, queue, names = recorded()[0]
    >>> sorted(queue)
    ['allocated', 'elastic', 'inqueue', 'may_hold']
    """
    chance = random.Random(4)
    found = []
    for _ in range(60):
        draw = chance.randint
        cluster = admission_cluster(draw(0, 20), draw(0, 12), draw(0, 12), draw(0, 8), draw(1, 8),
                                    draw(1, 8), draw(0, 8))
        for fact in cluster.run().trace.iter("enqueue_comparison"):
            if fact["plugin"] == "proportion":
                words = {word: _plain(fact[name])
                         for word, name in (("allocated", "allocated"), ("inqueue", "inqueue"),
                                            ("elastic", "elastic"), ("may_hold", "limit"))}
                found.append((_plain(fact["min_resources"]), words, sorted(fact["short_of"])))
    return found


def _plain(amounts: dict[str, float]) -> dict[str, float]:
    whole = {"cpu": 0.0, "memory": 0.0} | amounts
    found = {name: in_units(name, amount) for name, amount in whole.items()}
    return {name: number for name, number in found.items() if number is not None}


# -- modify, and what people see
# ----------------------------------------------------------------------------


@check(takes=Cluster, wanted="a cluster, such as cluster.copy().job(...)")
def let_second_in(answer: Cluster) -> Mistakes:
    """Get second admitted, too. Queue team stays as it is, and so do the jobs first and second."""
    before, after = _specs(admission_cluster()), _specs(answer)
    yield before == after, "unchanged"
    yield before["Queue/team"] != after.get("Queue/team"), "leave_team"
    if any(before[key] != after.get(key) for key in before
           if key.split("/")[1].startswith(("first", "second"))):
        return try_again("leave_jobs")
    said, facts = _sum_for_second(answer)
    same_pods = all(before.get(key) == after.get(key) for key in before | after
                    if key.startswith("Pod/old-"))
    if answer.run().session.jobs["default/second"].pod_group.status.phase == "Inqueue":
        if same_pods and after["PodGroup/old"].queue == "team":
            return well_done(said, "fewer_needed", **facts)
        return well_done(said, "a_gentler_way", **facts)
    yield not same_pods, try_again(said, "once_plus_once_minus", **facts)
    yield before["PodGroup/old"] != after["PodGroup/old"], try_again(said, "less_elastic", **facts)
    yield before["Queue/other"] != after.get("Queue/other"), "guarantee_not_narrow"
    return try_again("team_is_narrow")


def _sum_for_second(cluster: Cluster) -> tuple[str, dict[str, Any]]:
    """The sum that queue team compares for second, in CPUs, as a hint with its facts; another where
    overcommit refuses it before.
    """
    for row in levels(cluster.run().trace):
        if (row["job"], row["level"]) == ("default/second", "team"):
            return "sum_now", row
    return "cluster_too_full", {}


def _specs(cluster: Cluster) -> dict[str, Any]:
    return {f"{obj.kind}/{obj.name}": getattr(obj, "spec", None) or obj
            for obj in cluster.objects()}
