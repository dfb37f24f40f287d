"""Checks of lesson 03: proportion. Water-filling, share, the order of queues, overused."""

from functools import cache

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.checking import Mistakes, check, is_empty
from volcano_lab.course.kit.questions import entries
from volcano_lab.course.kit.scenery import cluster_of
from volcano_lab.course.kit.verdict import try_again, well_done
from volcano_lab.course.lesson_03.filling import QUEUES, pour, three_queues


@check(takes=callable, wanted="a function of had, offered and queue")
def take(answer) -> Mistakes:
    """Write take(had, offered, queue): what a queue deserves after its turn in a round."""
    for had, offered, queue, wanted, hint in entries("03")["take"]["cases"]:
        queue = QUEUES[queue] if isinstance(queue, str) else queue
        try:
            got = answer(had, offered, dict(queue))
        except TypeError as error:
            yield "NoneType" in str(error), "capability_is_none"
            raise
        if is_empty(got):
            return None
        if not isinstance(got, int | float) or abs(got - wanted) > 1e-6:
            limits = ", ".join(
                f"{name} {value}" for name, value in queue.items() if name != "weight")
            return try_again("take_otherwise", case=had, case1=offered, limits=limits,
                             got=str(got), wanted=wanted, hint=hint)
    last = pour(100, QUEUES, answer)[-1]
    return well_done("take", ends=[*last.values()])


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
    yield answer < smallest, try_again("not_overbooked", **facts)
    yield answer > smallest and deserved_in_all(answer) > 100, try_again("a_smaller_one", **facts)
    yield answer > smallest, try_again("a_smaller_one_try_60", **facts)
    return well_done("overbooked")


def early_and_late() -> Cluster:
    """Two queues of one team: *early* runs three pods and wants more, *late* has nothing yet.

    >>> early_and_late().run().queue_order
    ['late', 'early']
    """
    return cluster_of("03", "early_and_late")


@check(takes=callable, wanted="a function of a cluster")
def favour_early(answer) -> Mistakes:
    """Write favour(cluster), which changes the cluster so that queue early goes first, and returns
    it.
    """
    before = early_and_late()
    cluster = answer(early_and_late())
    if is_empty(cluster):
        return None
    yield not isinstance(cluster, Cluster), try_again("favour_gives", cluster=repr(cluster))
    yield len(cluster.objects()) < len(before.objects()), "something_missing"
    cycle = cluster.run()
    if cycle.queue_order[0] == "early":
        return well_done("favoured")
    priority = {name: max(task.priority
                          for task in cycle.session.jobs[f"default/{name}"].tasks.values())
                for name in ("early-more", "late-work")}
    yield priority["early-more"] > priority["late-work"], "priority_of_a_job"
    yield cycle.session.queues["late"].queue.spec.priority > 0, "late_first_twice"
    return try_again("share_of_zero")
