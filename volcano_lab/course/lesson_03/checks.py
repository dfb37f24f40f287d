"""Checks of lesson 03: proportion. Water-filling, share, the order of queues, overused."""

from functools import cache

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.checking import Mistakes, check, is_empty
from volcano_lab.course.kit.verdict import try_again, well_done
from volcano_lab.course.lesson_03.filling import QUEUES, pour, three_queues
from volcano_lab.messages import gettext

CASES = [({"had": 0, "offered": 20, "queue": QUEUES["a"]}, 20,
          "Nothing limits it: it takes what it is offered."),
         ({"had": 20, "offered": 8, "queue": QUEUES["a"]}, 28,
          "The offer comes on top of what it had."),
         ({"had": 0, "offered": 50, "queue": QUEUES["c"]}, 30,
          "It takes no more than its request."),
         ({"had": 20, "offered": 40, "queue": QUEUES["a"]}, 50,
          "It takes no more than its capability."),
         ({"had": 0, "offered": 5, "queue": QUEUES["c"]}, 20, "It is lifted to its guarantee."),
         ({"had": 0, "offered": 9,
           "queue": {"weight": 1, "request": 4, "capability": None, "guarantee": 6}}, 6,
          "The guarantee comes last: it holds also where the request is smaller.")]


@check(takes=callable, wanted="a function of had, offered and queue")
def take(answer) -> Mistakes:
    """Write take(had, offered, queue): what a queue deserves after its turn in a round."""
    for case, wanted, hint in CASES:
        try:
            got = answer(case["had"], case["offered"], dict(case["queue"]))
        except TypeError as error:
            yield "NoneType" in str(error), (
                "A queue's capability may be None: no limit. Handle that before you compare.")
            raise
        if is_empty(got):
            return None
        if not isinstance(got, int | float) or abs(got - wanted) > 1e-6:
            limits = ", ".join(
                f"{name} {value}" for name, value in case["queue"].items() if name != "weight")
            return try_again(gettext("With had {case}, offered {case1} and a queue of {limits} "
                                     "it gives {got}; wanted is {wanted}. {hint}",
                                     case=case["had"], case1=case["offered"], limits=limits,
                                     got=str(got), wanted=wanted,
                                     hint=gettext(hint)))
    last = pour(100, QUEUES, answer)[-1]
    return well_done(gettext("With your step the loop ends at {ends:and}, as the scheduler does.",
                             ends=[*last.values()]))


@cache
def deserved_in_all(guarantee: int) -> float:
    """CPUs that the three queues deserve together when b has this guarantee.

    >>> [deserved_in_all(guarantee) for guarantee in (40, 60, 70, 80)]
    [100, 110, 100, 110]
    """
    return round(sum(row["deserved"]["cpu"] for row in three_queues(b=guarantee).run().queues()), 6)


@check(takes=int)
def overbooked(answer: int) -> Mistakes:
    """What is the smallest guarantee of b, in whole CPUs, with which the queues together deserve
    more than 100?
    """
    facts = {"guarantee": answer, "total": deserved_in_all(answer)}
    smallest = next(guarantee for guarantee in range(101) if deserved_in_all(guarantee) > 100)
    yield answer < smallest, (
        gettext("With a guarantee of {guarantee} they deserve {total} together, not more than 100. "
                "c keeps its 30, and a keeps the 20 that it takes in round 1. How much is left for "
                "b then?", **facts))
    yield answer > smallest and deserved_in_all(answer) > 100, (
        gettext("With a guarantee of {guarantee} they deserve {total} together. A smaller one is "
                "enough.", **facts))
    yield answer > smallest, (
        gettext("With a guarantee of {guarantee} they deserve {total} together. That is a "
                "surprise, and the next question is about it; but smaller ones exceed 100. Try 60.",
                **facts))
    return well_done("In round 1 a takes its 20 and c its 30. From 51 on, b is lifted above the 50 "
                     "that are left.")


def early_and_late() -> Cluster:
    """Two queues of one team: *early* runs three pods and wants more, *late* has nothing yet.

    >>> early_and_late().run().queue_order
    ['late', 'early']
    """
    cluster = Cluster().node("n1", cpu=10).queue("early").queue("late")
    cluster.job("early-run", queue="early", pods=3, cpu=1, running={"n1": 3})
    cluster.job("early-more", queue="early", pods=6, cpu=1, min_member=1)
    return cluster.job("late-work", queue="late", pods=6, cpu=1, min_member=1)


@check(takes=callable, wanted="a function of a cluster")
def favour_early(answer) -> Mistakes:
    """Write favour(cluster), which changes the cluster so that queue early goes first, and returns
    it.
    """
    before = early_and_late()
    cluster = answer(early_and_late())
    if is_empty(cluster):
        return None
    yield not isinstance(cluster, Cluster), (
        gettext("favour gives {cluster}; wanted is the cluster. `return cluster.queue(…)` "
                "returns it.", cluster=repr(cluster)))
    yield len(cluster.objects()) < len(before.objects()), (
        "Something is missing in the cluster; nothing may be taken away.")
    cycle = cluster.run()
    if cycle.queue_order[0] == "early":
        return well_done("The priority of a queue comes before its share. Only among equals the "
                         "emptier one goes first.")
    priority = {name: max(task.priority
                          for task in cycle.session.jobs[f"default/{name}"].tasks.values())
                for name in ("early-more", "late-work")}
    yield priority["early-more"] > priority["late-work"], (
        "The priority of a job counts inside its queue. Whose turn it is, is a question to queues.")
    yield cycle.session.queues["late"].queue.spec.priority > 0, (
        "Now late is first for two reasons: its share is lower, and its priority is higher.")
    return try_again("late holds nothing, so its share is 0, and nothing is below a share of 0, "
                     "whatever the weights. What is compared before the share?")


def patients() -> dict[str, Cluster]:
    """Clusters with a job team-work of queue team that waits, each for another reason.

    >>> {name: cluster.run().why("default/team-work") != [] for name, cluster in patients().items()}
    {'one': True, 'two': True, 'three': True}
    """
    one = Cluster().node("n1", cpu=10, memory="10Gi").queue("team").queue("other")
    one.job("team-big", queue="team", cpu=1, memory="8Gi", running={"n1": 1})
    one.job("team-work", queue="team", cpu=1, memory="1Gi")
    one.job("other-work", queue="other", pods=5, cpu=1, memory="2Gi", min_member=1)

    two = Cluster().node("n1", cpu=10).queue("team").queue("other", guarantee=9)
    two.job("team-work", queue="team", pods=2, cpu=1)
    two.job("other-work", queue="other", cpu=1)

    three = Cluster().node("n1", cpu=10, pods=10).queue("team").queue("other")
    three.job("team-run", queue="team", pods=5, cpu=1, running={"n1": 5})
    three.job("team-work", queue="team", cpu=1)
    three.job("other-work", queue="other", pods=9, cpu=1, min_member=1)
    return {"one": one, "two": two, "three": three}
