"""Checks of lesson 03: proportion. Water-filling, share, the order of queues, overused."""

from __future__ import annotations

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.checking import check, choice, is_empty
from volcano_lab.course.kit.verdict import Verdict, try_again, well_done
from volcano_lab.course.lesson_03.filling import QUEUES, pour, three_queues


@choice({12: well_done("Queues a and b still want more, with weights 2 and 3: b is offered 3/5 of "
                       "the 20 that are left."),
         6: "3/10 of 20 would be 6; but queue c is done, so only the weights of a and b count.",
         20: "20 is all that is left, for a and b together.",
         10: "That is one half. The weights of a and b are 2 and 3.",
         8: "8 is what a is offered: 2/5. And b?",
         42: "42 is what b deserves in the end. Wanted is what b is offered more in round 2."},
        "20 CPUs are left after round 1, and b has 3 of 5 parts of them.", takes=float)
def second_offer() -> None:
    """How many CPUs is queue b offered in round 2?"""


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
def take(answer) -> Verdict | None:
    """Write take(had, offered, queue): what a queue deserves after its turn in a round."""
    for case, wanted, hint in CASES:
        try:
            got = answer(case["had"], case["offered"], dict(case["queue"]))
        except TypeError as error:
            if "NoneType" in str(error):
                return try_again(
                    "A queue's capability may be None: no limit. Handle that before you compare.")
            raise
        if is_empty(got):
            return None
        if not isinstance(got, int | float) or abs(got - wanted) > 1e-6:
            limits = ", ".join(
                f"{name} {value}" for name, value in case["queue"].items() if name != "weight")
            return try_again(f"With had {case['had']}, offered {case['offered']} and a queue of "
                             f"{limits} it gives {got}; wanted is {wanted}. {hint}")
    last = pour(100, QUEUES, answer)[-1]
    ends = "{a:g}, {b:g} and {c:g}".format(**last)
    return well_done(f"With your step the loop ends at {ends}, as the scheduler does.")


def deserved_in_all(guarantee: int) -> float:
    """CPUs that the three queues deserve together when b has this guarantee.

    >>> deserved_in_all(40), deserved_in_all(60)
    (100, 110)
    """
    return round(sum(row["deserved"]["cpu"] for row in three_queues(b=guarantee).run().queues()), 6)


@check(takes=int)
def overbooked(answer: int) -> Verdict:
    """What is the smallest guarantee of b, in whole CPUs, with which the queues together deserve
    more than 100?
    """
    if deserved_in_all(answer) <= 100:
        return try_again(f"With a guarantee of {answer} they deserve {deserved_in_all(answer):g} "
                         "together, not more than 100. c keeps its 30, and a keeps the 20 that it "
                         "takes in round 1. How much is left for b then?")
    if deserved_in_all(answer - 1) > 100:
        return try_again(f"With {answer} they deserve {deserved_in_all(answer):g}. A smaller one "
                         "is enough.")
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
def favour_early(answer) -> Verdict | None:
    """Write favour(cluster), which changes the cluster so that queue early goes first, and returns
    it.
    """
    before = early_and_late()
    cluster = answer(early_and_late())
    if is_empty(cluster):
        return None
    if not isinstance(cluster, Cluster):
        return try_again(f"favour gives {cluster!r}; wanted is the cluster. `return "
                         "cluster.queue(…)` returns it.")
    if len(cluster.objects()) < len(before.objects()):
        return try_again("Something is missing in the cluster; nothing may be taken away.")
    cycle = cluster.run()
    if cycle.queue_order[0] == "early":
        return well_done("The priority of a queue comes before its share. Only among equals the "
                         "emptier one goes first.")
    priority = {name: max(task.priority
                          for task in cycle.session.jobs[f"default/{name}"].tasks.values())
                for name in ("early-more", "late-work")}
    if priority["early-more"] > priority["late-work"]:
        return try_again("The priority of a job counts inside its queue. Whose turn it is, is a "
                         "question to queues.")
    if cycle.session.queues["late"].queue.spec.priority > 0:
        return try_again(
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


CAUSES = ("overused: it has all it deserves", "not allocatable: one resource is full",
          "not admitted: its limit is too low", "not its turn: the other queue comes first",
          "its weight: the queue deserves nothing", "its priority is too low")
NEVER = ("", "", "Its phase is Inqueue: it was admitted already.",
         "An order is no refusal: a queue that comes later gets its turn in the same cycle.",
         "Look at the column *deserved*: team deserves something.",
         "Priority orders the jobs of one queue. No other job of team waits.")
"""What a reader may choose for a patient, and what is to be said of it in any of the clusters."""


def _patient(right: int, why: str, **hints: str) -> dict[str, str | Verdict]:
    """What is said of each cause; `hints` are by the first word of the cause's name."""
    said = {cause: next((hint for word, hint in hints.items() if word in cause), always)
            for cause, always in zip(CAUSES, NEVER, strict=True)}
    return {**said, CAUSES[right]: well_done(why)}


@choice(_patient(1,
                 "Memory is full (8 Gi of 5 Gi) and CPU is not. So the queue is not overused, but "
                 "a pod that asks for memory must wait.",
                 overused=
                 "Overused needs every resource to be full. Which one is, and which is not?"))
def patient_one() -> None:
    """Cluster one: why does team-work wait?"""


@choice(_patient(2,
                 "9 of 10 CPUs are kept for the other queue, so the real capability is 1, and the "
                 "gang needs 2. Lesson 04 goes on here.",
                 overused="The queue holds nothing. It cannot be full.",
                 allocatable="Look at its phase: it is still Pending. It was never asked whether a "
                             "pod may be placed."))
def patient_two() -> None:
    """Cluster two: why does team-work wait?"""


@choice(_patient(0,
                 "It holds 5 of 5 CPUs and 5 of 5 pods: all that it deserves, in every resource. "
                 "Its turn is passed over.",
                 allocatable="One more pod would be too much, too. But is there any resource that "
                             "is not full? Compare every pair of numbers."))
def patient_three() -> None:
    """Cluster three: why does team-work wait?"""
