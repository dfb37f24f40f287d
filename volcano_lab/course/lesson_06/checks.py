"""The checks of lesson 06: gangs and statements."""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from volcano_lab.api.node import NodeError
from volcano_lab.api.objects import Node, Pod, PodGroup, Queue
from volcano_lab.api.panics import Panic, panics_stop
from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.checking import Mistake, Mistakes, check
from volcano_lab.course.kit.questions import entries
from volcano_lab.course.kit.verdict import try_again, well_done
from volcano_lab.course.lesson_06.scene import CONF, gang_that_does_not_fit, half_full
from volcano_lab.course.lesson_06.watched_rehearsal import WatchedRehearsal
from volcano_lab.debug.sandbox import Rehearsal
from volcano_lab.framework.statement import StatementError

Plan = list[list[str]]
WHY = {"pods of train": "smaller_pods", "minimum": "minimum_counts"}
"""What was changed -> the hint that says why it helps."""


@check(takes=list, wanted='a list of pods, such as ["web-1", "train-0", "train-1"]')
def order_of_undoing(answer: list) -> Mistakes:
    """In which order does discard take the three operations back? Give the pods."""
    pods = [str(pod) for pod in answer]
    yield sorted(pods) != ["train-0", "train-1", "web-1"], "name_three_pods"
    if pods == ["train-1", "train-0", "web-1"]:
        return well_done("last_first")
    yield pods == ["web-1", "train-0", "train-1"], "order_of_doing"
    yield pods[0] == "web-1", "eviction_first"
    return try_again("begin_with_the_last")


@check(takes=list, wanted='a list of states, such as ["Pending", "Running"]')
def path_of_a_pod(answer: list) -> Mistakes:
    """A gang fits into what is idle and is committed, and nothing fails. Through which states does
    each pod go?
    """
    states = [str(state).capitalize() for state in answer]
    if states == ["Pending", "Allocated", "Binding", "Bound", "Running"]:
        return well_done("path_of_a_pod")
    yield states[0] != "Pending", "which_first_state"
    yield "Pipelined" in states, "pipelined_is_later"
    yield "Inqueue" in states, "inqueue_is_a_phase"
    yield "Allocated" not in states, "after_allocate"
    yield "Binding" not in states, "after_commit"
    yield "Bound" not in states, "after_the_api_server"
    return try_again("where_the_path_ends")


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
    if job is None or len(job.tasks) != 3:
        return try_again("train_three_pods")
    yield web is None or len(web.tasks) != 2, "web_runs_on"
    yield answer.objects() == gang_that_does_not_fit().objects(), "same_cluster"
    yield _nodes(before) != _nodes(after), "two_nodes"
    yield len(changed) > 1, try_again("more_than_one_number", changed=[*changed])
    outcomes = [row["outcome"] for row in cycle.statements("default/train")]
    if "commit" in outcomes:
        changed_what = changed[0] if changed else ""
        why = next((hint for word, hint in WHY.items() if word in changed_what), "one_pod_more")
        return well_done(
            "on_their_way", ready_task_num=job.ready_task_num(), min_available=job.min_available,
            why=why)
    if job.pod_group.status.phase == "Pending":
        why = cycle.why("default/train")[0].removeprefix("not admitted: ")
        return try_again("not_admitted", why=why)
    return try_again("still_taken_back")


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
        if isinstance(obj, Node):
            found |= {f"{what} of {name}": amount
                      for what, amount in obj.status.allocatable.items()}
        elif isinstance(obj, Queue):
            found |= {f"weight of queue {name}": obj.spec.weight,
                      f"capability of queue {name}": obj.spec.capability}
        elif isinstance(obj, PodGroup):
            found[f"minimum of {name}"] = obj.spec.min_member
        elif isinstance(obj, Pod):
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


def plans_of_the_lesson() -> list[Plan]:
    """Three plans for the gang of `half_full`; the one without an eviction stands in the middle."""
    return [list(plan) for plan in entries("06")["keep_the_cheapest"]["cases"][0]]


@check(takes=callable, wanted="a function")
def keep_the_cheapest(answer: Callable[[Rehearsal, list[Plan]], Any]) -> Mistakes:
    """Write `cheapest(by_hand, plans)`: try every plan and take it back; then do the one with the
    fewest evictions again, from saved copies, and commit it."""
    for plans in entries("06")["keep_the_cheapest"]["cases"]:
        by_hand = WatchedRehearsal(half_full())
        try:
            with panics_stop():
                answer(by_hand, [list(plan) for plan in plans])
        except (NodeError, Panic, StatementError):
            yield _saved_too_late(by_hand), "saved_too_late"
            return try_again("could_not_be_done", trying=by_hand.trying)
        if not list(by_hand.trace.operations):
            return None
        yield from _mistakes(by_hand, plans)
    return well_done("cheapest")


def _saved_too_late(by_hand: Rehearsal) -> bool:
    """Whether a statement was saved when its operations had been undone already."""
    kinds = [record.kind for record in by_hand.trace.records
             if record.kind in ("do", "undo", "saved")]
    return any(pair == ("undo", "saved") for pair in pairwise(kinds))


def _mistakes(by_hand: Rehearsal, plans: list[Plan]) -> Iterator[Mistake]:
    """What may be wrong with what a function has done."""
    best = min(plans, key=_evictions)
    wanted = [[word, f"default/{pod}"] for word, pod, *_ in best]
    done = [[word, pod] for word, pod, *_ in by_hand.session.committed]
    kinds = Counter(record.kind for record in by_hand.trace.records)
    yield not done, "nothing_committed"
    yield len(done) > len(best) and all(step in done for step in wanted), "more_than_one_plan"
    yield kinds["do"] != kinds["undo"] + kinds["commit"], "a_try_left"
    yield done != wanted, try_again(
        "not_the_cheapest", evictions=[str(_evictions(plan)) for plan in plans])
    yield not kinds["recovers"], "not_from_copies"
    yield not kinds["saved"], "done_again"


# -- the question that people have
# ------------------------------------------------------------------------------
