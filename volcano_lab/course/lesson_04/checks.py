"""The checks of lesson 04: limits, and who is admitted."""

import random
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from volcano_lab.api.formatting import in_units
from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.checking import Mistakes, check, is_empty
from volcano_lab.course.kit.verdict import Verdict, try_again, well_done
from volcano_lab.course.lesson_04.lab import admission_cluster
from volcano_lab.messages import gettext, paragraph
from volcano_lab.trace.views.queues import levels

Amounts = Mapping[str, float]


# -- make: the sum as a function
# ----------------------------------------------------------------------------


ROOMY = {"allocated": {"cpu": 6}, "inqueue": {"cpu": 4}, "elastic": {"cpu": 2},
         "may_hold": {"cpu": 12, "memory": 40}}
CASES: list[tuple[dict[str, float], dict[str, dict[str, float]], list[str], str]] = [
    ({"cpu": 4}, ROOMY, [],
     "4 + 6 + 4 − 2 is 12, and 12 of 12 is still room: only more than the limit is too much."),
    ({"cpu": 5}, ROOMY, ["cpu"],
     "5 + 6 + 4 − 2 is 13: subtract elastic, and count what is in queue."),
    ({"cpu": 1}, ROOMY | {"elastic": {}, "inqueue": {"cpu": 6}}, ["cpu"],
     "What is in queue counts: 1 + 6 + 6 is 13."),
    ({"cpu": 1, "memory": 30}, ROOMY | {"allocated": {"memory": 20}}, ["memory"],
     "Each resource has a sum and a limit of its own."),
    ({"cpu": 1}, ROOMY | {"allocated": {"cpu": 6, "memory": 50}}, [],
     "Memory is too full, but this job asks for none."),
    ({"cpu": 1, "memory": 0}, ROOMY | {"allocated": {"memory": 50}}, [],
     "Asking for 0 memory is not asking for memory."),
    ({"gpu": 1}, ROOMY, ["gpu"],
     "A resource that may_hold does not name is one of which the queue may hold nothing.")]


@check(takes=callable, wanted="a function of minimum and queue")
def admission(answer: Callable[..., Any]) -> Mistakes:
    """Write short_of(minimum, queue): the names of the resources that are short; an empty list
    where there is room.
    """
    if is_empty(answer({"cpu": 5}, ROOMY)) and answer({"cpu": 5}, ROOMY) != []:
        return None
    for minimum, queue, wanted, hint in CASES:
        said = _tried(answer, minimum, queue)
        if isinstance(said, Verdict):
            return said
        yield said != wanted, (
            gettext("With minimum {minimum} and queue {queue} it gives {said}; wanted is "
                    "{wanted}. {hint}", minimum=str(minimum), queue=str(queue), said=str(said),
                    wanted=str(wanted), hint=gettext(hint)))
    compared = recorded()
    for minimum, queue, names in compared:
        said = _tried(answer, minimum, queue)
        yield said != names, (gettext("The scheduler found {names} short where your function "
                                      "says {said}: minimum {minimum}, queue {queue}.",
                                      names=str(names), said=str(said),
                                      minimum=str(minimum), queue=str(queue)))
    refused = sum(bool(names) for _, _, names in compared)
    return well_done(gettext("The scheduler made {len} comparisons in random clusters, and "
                             "refused {refused} times. Your function says the same each time, "
                             "resource by resource.", len=len(compared), refused=refused))


def _tried(function: Callable[..., Any], minimum: Amounts,
           queue: Mapping[str, Amounts]) -> list[str] | Verdict:
    try:
        said = function(dict(minimum), {word: dict(amounts) for word, amounts in queue.items()})
    except KeyError as error:
        return try_again(gettext("It stopped at {error}, which is missing in one of the dicts. "
                                 "What is missing counts as 0: `.get(name, 0)`.", error=error))
    if not isinstance(said, list | tuple | set):
        return try_again(gettext("It gives {said}; wanted is a list of names, such as [] or "
                                 "['cpu'].", said=repr(said)))
    return sorted(said)


@cache
def recorded(
        count: int = 60) -> list[tuple[dict[str, float], dict[str, dict[str, float]], list[str]]]:
    """What proportion compared in random clusters: (minimum, queue, the names of what is
    short).

    >>> minimum, queue, names = recorded()[0]
    >>> sorted(queue)
    ['allocated', 'elastic', 'inqueue', 'may_hold']
    """
    chance = random.Random(4)
    found = []
    for _ in range(count):
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


def _lesson() -> Cluster:
    return admission_cluster()


@check(takes=Cluster, wanted="a cluster, such as cluster.copy().job(...)")
def let_second_in(answer: Cluster) -> Mistakes:
    """Get second admitted, too. Queue team stays as it is, and so do the jobs first and second."""
    before, after = _specs(_lesson()), _specs(answer)
    yield before == after, ("In this cluster nothing has changed: old still needs 4 of its 6 pods, "
                            "and other keeps 6 CPUs. Another number?")
    yield before["Queue/team"] != after.get("Queue/team"), (
        "Leave queue team as it is. Look at the other terms of its sum.")
    if any(before[key] != after.get(key) for key in before
           if key.split("/")[1].startswith(("first", "second"))):
        return try_again("Leave the two new jobs as they are. Look at the other terms of the sum.")
    said = _sum_for_second(answer)
    same_pods = all(before.get(key) == after.get(key) for key in before | after
                    if key.startswith("Pod/old-"))
    if answer.run().session.jobs["default/second"].pod_group.status.phase == "Inqueue":
        if same_pods and after["PodGroup/old"].queue == "team":
            return well_done(_after(said, "old keeps its six pods, but it needs fewer of them "
                                    "now. The rest is elastic, and that is taken off."))
        return well_done(_after(said, "There is a gentler way, too: old keeps its six pods in "
                                "team, and needs fewer of them."))
    yield not same_pods, _after(said, (
        "A pod of old above its minimum counts in allocated and in elastic, once plus and once "
        "minus: without it the sum is the same. Leave its pods. How many of them does it need?"))
    yield before["PodGroup/old"] != after["PodGroup/old"], _after(said, (
        "Now old needs more of its pods: there is less elastic than before."))
    yield before["Queue/other"] != after.get("Queue/other"), (
        "The guarantee leaves 14 or more of the cluster; the narrow place is team's own capability "
        "of 12.")
    return try_again(
        "team is held by its own capability of 12. More room in the cluster does not help it.")


def _after(said: str, hint: str) -> str:
    return paragraph([said, gettext(hint)])


def _sum_for_second(cluster: Cluster) -> str:
    """The sum that queue team compares for second, in CPUs, as a sentence; another where overcommit
    refuses it before.
    """
    for row in levels(cluster.run().trace):
        if (row["job"], row["level"]) == ("default/second", "team"):
            return gettext("The sum is {minimum} + {allocated} + {inqueue} − {elastic} = {sum} "
                           "now, and team may hold {may_hold}.", **row)
    return gettext("The cluster itself is too full now.")


def _specs(cluster: Cluster) -> dict[str, Any]:
    return {f"{obj.kind}/{obj.name}": getattr(obj, "spec", None) or obj
            for obj in cluster.objects()}


def patients() -> dict[str, Cluster]:
    """Clusters in which a job team-work waits, each for another reason.

    >>> {name: cluster.run().jobs()[-1]["phase"] for name, cluster in patients().items()}
    {'one': 'Pending', 'two': 'Inqueue', 'three': 'Pending'}
    """
    one = Cluster().node("n1", cpu=10).queue("team", capability=9).queue("other", guarantee=4)
    one.job("team-run", queue="team", pods=3, cpu=1, running={"n1": 3}).job(
        "team-work", queue="team", pods=4, cpu=1)

    two = Cluster().node("n1", cpu=10).queue("team").queue("other")
    two.job("other-run", queue="other", pods=6, cpu=1, min_member=1, running={"n1": 4})
    two.job("team-work", queue="team", pods=6, cpu=1)

    three = Cluster().node("n1", cpu=10).queue("team").queue("other")
    three.job("other-run", queue="other", pods=9, cpu=1, min_member=1, running={"n1": 9})
    three.job("team-work", queue="team", pods=4, cpu=1)
    return {"one": one, "two": two, "three": three}
