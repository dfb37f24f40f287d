"""The checks of lesson 06: gangs and statements."""

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from volcano_lab.api.node import NodeError
from volcano_lab.api.panics import Panic, panics_stop
from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.checking import Mistakes, check
from volcano_lab.course.kit.verdict import try_again, well_done
from volcano_lab.course.lesson_06.scene import CONF, gang_that_does_not_fit, half_full
from volcano_lab.course.lesson_06.watched_rehearsal import WatchedRehearsal
from volcano_lab.debug.sandbox import Rehearsal
from volcano_lab.framework.statement import StatementError
from volcano_lab.messages import gettext

Plan = list[tuple[str, ...]]


@check(takes=list, wanted='a list of pods, such as ["web-1", "train-0", "train-1"]')
def order_of_undoing(answer: list) -> Mistakes:
    """In which order does discard take the three operations back? Give the pods."""
    pods = [str(pod) for pod in answer]
    yield sorted(pods) != ["train-0", "train-1", "web-1"], (
        "Name the three pods web-1, train-0 and train-1, each once.")
    if pods == ["train-1", "train-0", "web-1"]:
        return well_done("From the last operation to the first, so that every state in between is "
                         "one that has been before.")
    yield pods == ["web-1", "train-0", "train-1"], (
        "That is the order in which they were done. Discard goes the other way: the last one "
        "first.")
    yield pods[0] == "web-1", (
        "The eviction was done first. Discard goes the other way: the last one first.")
    return try_again("Begin with the operation that was done last.")


@check(takes=list, wanted='a list of states, such as ["Pending", "Running"]')
def path_of_a_pod(answer: list) -> Mistakes:
    """A gang finds idle room and is committed, and everything goes well. Through which states does
    each pod go?
    """
    states = [str(state).capitalize() for state in answer]
    if states == ["Pending", "Allocated", "Binding", "Bound", "Running"]:
        return well_done("allocate makes it Allocated, commit Binding; with the API server's "
                         "answer it is Bound, and the kubelet runs it.")
    yield states[0] != "Pending", "In the beginning it waits. Which state is that?"
    yield "Pipelined" in states, (
        "Pipelined is for room that is still being freed. Here the room is idle.")
    yield "Inqueue" in states, "Inqueue is a phase of the PodGroup. Which states does a pod have?"
    yield "Allocated" not in states, "What does the operation allocate make of a pod (section 2)?"
    yield "Binding" not in states, "What is a pod that commit has handed to the cache (section 4)?"
    yield "Bound" not in states, (
        "The API server has said yes, and nothing runs yet. What is the pod then?")
    return try_again("The path ends where the pod runs, and each state stands in it once.")


# -- modify
# --------------------------------------------------------------------------------------------------


@check(takes=Cluster, wanted="a cluster, such as gang.copy().job(...)")
def let_it_commit(answer: Cluster) -> Mistakes:
    """Change one number, of the gang or of a node, so that train's statement is committed. train
    keeps its three pods.
    """
    before, after = _numbers(gang_that_does_not_fit()), _numbers(answer)
    changed = sorted(what for what in before | after if before.get(what) != after.get(what))
    cycle = answer.run(CONF)
    job, web = cycle.session.jobs.get("default/train"), cycle.session.jobs.get("default/web")
    yield job is None or len(job.tasks) != 3, "train must have three pods, as before."
    yield web is None or len(web.tasks) != 2, "web must run on, with its two pods."
    yield answer.objects() == gang_that_does_not_fit().objects(), (
        "This is the same cluster as before. Change a number in a copy of it.")
    yield _nodes(before) != _nodes(after), (
        "The cluster keeps its two nodes. Which one number of a node, or of the gang, would do?")
    yield len(changed) > 1, (gettext("That is more than one number: {join}. One of them, or "
                                     "another one, is enough.", join=", ".join(changed)))
    outcomes = [row["outcome"] for row in cycle.statements("default/train")]
    if "commit" in outcomes:
        changed_what = changed[0] if changed else ""
        why = ("Its pods are smaller now, so two of them find room on a node."
               if "pods of train" in changed_what else "A gang counts its minimum, not its size."
               if "minimum" in changed_what else "That node has room for one pod more.")
        return well_done(gettext("{ready_task_num} pods of train are on their way, and its "
                                 "minimum is {min_available}. {why}",
                                 ready_task_num=job.ready_task_num(),
                                 min_available=job.min_available, why=gettext(why)))
    if job.pod_group.status.phase == "Pending":
        why = cycle.why("default/train")[0].removeprefix("not admitted: ")
        return try_again(gettext("train is not admitted, so nothing is tried for it: {why}.",
                                 why=why))
    return try_again("train's statement is still taken back. How many of its pods fit on each "
                     "node, and how many must?")


def _numbers(cluster: Cluster) -> dict[str, Any]:
    """What one can change in a cluster, by a name for each number; pods of a job are as many as
    there are amounts.

    >>> cluster = Cluster().node("n1", cpu=4).job("train", pods=2, cpu=1)
    >>> _numbers(cluster)["cpu of the pods of train"]
    ['1', '1']
    """
    found: dict[str, Any] = {}
    for obj in cluster.objects():
        name = obj.metadata.name
        if obj.kind == "Node":
            found |= {f"{what} of {name}": amount
                      for what, amount in obj.status.allocatable.items()}
        elif obj.kind == "Queue":
            found |= {f"weight of queue {name}": obj.spec.weight,
                      f"capability of queue {name}": obj.spec.capability}
        elif obj.kind == "PodGroup":
            found[f"minimum of {name}"] = obj.spec.min_member
        elif obj.kind == "Pod":
            for what, amount in obj.spec.containers[0].resources.requests.items():
                found.setdefault(f"{what} of the pods of {name.rpartition('-')[0]}",
                                 []).append(amount)
    return found


def _nodes(numbers: dict[str, Any]) -> set[str]:
    return {what for what in numbers if what.startswith("pods of ")}


# -- make
# --------------------------------------------------------------------------------------------------


def _evictions(plan: Plan) -> int:
    return sum(word == "evict" for word, *_ in plan)


TWO, ONE, NONE = ([("evict", "web-0"), ("pipeline", "train-0", "node-0"), ("evict", "web-1"),
                   ("pipeline", "train-1", "node-0")],
                  [("evict", "web-1"), ("pipeline", "train-0", "node-0"),
                   ("allocate", "train-1", "node-1")],
                  [("allocate", "train-0", "node-1"), ("allocate", "train-1", "node-1")])
"""Three plans for the gang train of `half_full`, with two, one and no evictions."""


HALF = [("evict", "web-1"), ("pipeline", "train-0", "node-0")]
"""A plan with no more operations than NONE has, and with an eviction."""


def plans_of_the_lesson() -> list[Plan]:
    """Three plans for the gang of `half_full`; the one without an eviction stands in the middle."""
    return [list(TWO), list(NONE), list(ONE)]


@check(takes=callable, wanted="a function")
def keep_the_cheapest(answer: Callable[[Rehearsal, list[Plan]], Any]) -> Mistakes:
    """Write `cheapest(by_hand, plans)`: try every plan and take it back; then do the one with the
    fewest evictions again, from saved copies, and commit it."""
    for plans in ([TWO, NONE, ONE], [NONE, TWO], [TWO, ONE], [HALF, NONE]):
        by_hand = WatchedRehearsal(half_full())
        try:
            with panics_stop():
                answer(by_hand, [list(plan) for plan in plans])
        except (NodeError, Panic, StatementError):
            yield _saved_too_late(by_hand), (
                "A plan was saved after it was taken back, and then its operations have no node "
                "any more. First `save()`, then `discard()`.")
            return try_again(gettext("This could not be done: {trying}. Is the plan before it "
                                     "still there? `discard()` takes it back, once, and each "
                                     "plan needs a new statement.", trying=by_hand.trying))
        if not list(by_hand.trace.operations):
            return None
        yield from _mistakes(by_hand, plans)
    return well_done("Each plan was tried in the session and taken back, and only the best was "
                     "sent on. This is how allocate compares HyperNodes (lesson 10).")


def _saved_too_late(by_hand: Rehearsal) -> bool:
    """Whether a statement was saved when its operations had been undone already."""
    kinds = [record.kind for record in by_hand.trace.records
             if record.kind in ("do", "undo", "saved")]
    return any(pair == ("undo", "saved") for pair in pairwise(kinds))


def _mistakes(by_hand: Rehearsal, plans: list[Plan]) -> Mistakes:
    """What may be wrong with what a function has done."""
    best = min(plans, key=_evictions)
    wanted = [[word, f"default/{pod}"] for word, pod, *_ in best]
    done = [[word, pod] for word, pod, *_ in by_hand.session.committed]
    kinds = Counter(record.kind for record in by_hand.trace.records)
    yield not done, ("Nothing is committed at the end. Begin a new statement, let it `recover` the "
                     "plan that you saved, and `commit` it.")
    yield len(done) > len(best) and all(step in done for step in wanted), (
        "Operations of more than one plan are committed. Take every plan back, and commit only the "
        "best.")
    yield kinds["do"] != kinds["undo"] + kinds["commit"], (
        "A plan that was tried is still there. End each try with `discard()`, or its pods keep "
        "their places.")
    yield done != wanted, (
        gettext("Of plans with {join} evictions one was committed that is not the cheapest. "
                'Count the operations whose `name` is "evict".',
                join=", ".join(str(_evictions(plan)) for plan in plans)))
    yield not kinds["recovers"], (
        "The right plan is committed, but from itself, not from copies: try each plan, `save()` "
        "and `discard()` it, and `recover()` the best.")
    yield not kinds["saved"], ("The right plan is committed, but the operations themselves were "
                               "done again, not copies. In Volcano discard takes the node's name "
                               "from them. `save()` each plan before you `discard()` it.")


# -- the question that people have
# ------------------------------------------------------------------------------
