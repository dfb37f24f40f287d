"""Questions about two things: why a pod is on its node and not on another one, and why one job is
served before another.

Volcano: none
"""

from collections.abc import Callable, Mapping
from typing import Any

from volcano_lab.api import JobInfo, TaskInfo, taints
from volcano_lab.explain import evidence, lint, nodes, outcome, placed, required, rules, topology
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import (
    Cause,
    Explanation,
    each_said,
    moment_text,
    over,
    part,
)
from volcano_lab.explain.order import order_causes, turn_of
from volcano_lab.messages import Message, NoSuch
from volcano_lab.plugins.kube import pod_info
from volcano_lab.trace import Record, amounts, reading

ORDERED = ("allocate", "enqueue", "reclaim", "preempt")
"""The actions in whose order jobs are compared, the one that gives resources first."""
MOST = 5
"""Jobs that are named before one in its queue."""

# -- a pod and its node ---------------------------------------------------------------------------


def last_choice(seen: Evidence, task: str, node: str = "") -> Record | None:
    """Return the last search of a node for a pod, or the last one that included a `node`."""
    return next((each for each in reversed(seen.of("chose", task=task))
                 if not node or node in nodes.searched_in(seen, each)[1]), None)


def why_here(seen: Evidence, task: TaskInfo, other: str = "") -> Cause | None:
    """Return why a placed pod's node is the best, with the scores of an `other`, or the next one,
    and the plugins without which that would come first.
    """
    choice = last_choice(seen, task.key, task.node_name)
    if choice is None or choice["node"] is None:
        return None
    tried, searched = nodes.searched_in(seen, choice)
    scores = {node: reading.scores_of(row)
              for node, row in seen.trace.node_values(task.key, choice.number + 1).items()
              if node in searched and not (
                  _objector(row) or _lacking(seen, task.key, node, choice))}
    totals = {node: sum(by.values()) for node, by in scores.items()}
    chosen, others = choice["node"], sorted(totals, key=lambda node: -totals[node])
    if chosen not in totals or len(others) < 2:
        return Cause.of("only_node", records=[choice], node=chosen, inside=Message(
            "only_node.inside", hyper_node=tried) if tried else None)
    second = other if other in totals else next(node for node in others if node != chosen)
    return Cause("best_score", [*placed.before(scores, chosen, second)],
                 {"scores": {node: scores[node] for node in (chosen, second)}}, [choice])


def despite(seen: Evidence, task: TaskInfo, node: str) -> Cause | None:
    """Return the taint or the labels by which Kubernetes keeps a pod off a node, where no plugin
    compares them, or the pod is there already; None also of a node that is not among the objects.
    """
    if node not in seen.ssn.nodes:
        return None
    there = seen.ssn.nodes[node].node
    taint = taints.first_untolerated(there.spec.taints, task.pod.spec.tolerations)
    fits = taint is None and pod_info.PodInfo(task.pod).required_nodes.matches(there)
    if fits or (lint.PREDICATES in seen.ssn.plugins and task.node_name != node):
        return None
    why = "before" if lint.PREDICATES in seen.ssn.plugins else "unread"
    return Cause("despite", [
        Message("despite.taint", node=node, taint=required.taint_text(taint)) if taint else
        Message("despite.labels", node=node), Message(f"despite.{why}", plugin=lint.PREDICATES)])


def why_not_cause(seen: Evidence, task: str, node: str) -> Cause | None:
    """Return why a pod was not placed on a node at the last choice that included it, or without one
    would not be placed there now; None where it fits.
    """
    if kept := topology.outside(seen, seen.tasks[task], node):
        return kept
    choice = last_choice(seen, task, node)
    short = _lacking(seen, task, node, choice)
    if short:
        request, free = seen.trace.start["tasks"][task]["request"], seen.free(choice)[node]
        own = seen.own(seen.tasks[task].job, choice) if choice else None
        more = [*nodes.withheld(seen, seen.tasks[task], [node], short), *[own] * bool(own)]
        return Cause.of("insufficient", *more, records=[choice] if choice else [], pod=task,
                        node=node, request=part(request, short), free=part(free, short))
    if choice is None:
        return rule_against(seen, task, node)
    plugin = _objector(seen.trace.node_values(task, choice.number + 1).get(node, {}))
    against = rules.refused_then(seen, seen.tasks[task], {node: plugin}, choice)
    return next(rules.rule_causes(seen, task, against, (0, None), choice)) if plugin else None


def rule_against(seen: Evidence, task: str, node: str) -> Cause | None:
    """Return by which rule a node would refuse a pod now, whatever it has free; None without."""
    pod = seen.tasks[task]
    reason = seen.ssn.pre_predicate(pod) or rules.refused_now(seen, pod, node)
    against = {node: reason} if reason else {}
    return next(rules.rule_causes(seen, task, against, (0, None), None), None)


def _lacking(seen: Evidence, task: str, node: str, choice: Record | None) -> list[str]:
    """The resources of which the node had too little left."""
    return nodes.missing(seen.trace.start["tasks"][task]["request"], seen.free(choice)[node])


def _objector(row: dict[str, Any]) -> str:
    """The first plugin that refuses a node, from its columns; "" without."""
    return next((column.partition(" ")[2] for column, value in row.items()
                 if column.startswith("predicate ") and not value), "")

# -- the order of two jobs ------------------------------------------------------------------------


def why_before(seen: Evidence, job: JobInfo, other: JobInfo, why: Callable[[str], Explanation]
               ) -> Explanation:
    """Explain why one of two jobs is served before the other, and the place of the first in its
    queue; `why` explains the one that an action does not serve.
    """
    about = f"job {seen.called(job.uid)} and job {seen.called(other.uid)}"
    if job is other:
        raise NoSuch("why.itself", name=seen.called(job.uid))
    refused, admitted = sorted((job, other), key=lambda each: not each.is_pending())
    apart = not admitted.is_pending() and turn_of(seen, "allocate", admitted) and [
        *order_causes(seen, "enqueue", refused, admitted)]
    for action in ORDERED[:1] if apart else ORDERED:
        turns = {each.uid: turn_of(seen, action, each) for each in (job, other)}
        numbers = {uid: turn.number for uid, turn in turns.items() if turn is not None}
        if len(numbers) == len(turns):
            first, second = sorted((job, other), key=lambda each: numbers[each.uid])
            return _in_turn(seen, turns, action, (first, second), _place(seen, action, job), why,
                            about)
    waiting, said = refused, Message("order.apart", job=seen.called(refused.uid),
                                     other=seen.called(admitted.uid))
    causes = [*order_causes(seen, "enqueue", refused, admitted)]
    if not refused.is_pending() or turn_of(seen, "allocate", admitted) is None:
        without = next(each for each in (admitted, refused)
                       if turn_of(seen, "allocate", each) is None)
        waiting = other if without is job else job
        if evidence.unbound(without) or not evidence.waits(waiting):
            return Explanation(about, Message("order.no_turn", job=seen.called(without.uid)))
        said = Message("order.waits" if waiting.is_pending() else "order.runs", job=seen.called(
            without.uid), other=seen.called(waiting.uid))
        causes = [_passed(seen, without, waiting)]
    waits = why(waiting.uid)
    return Explanation(about, said, [*causes, *waits.causes], waits.find_remedies)


def _in_turn(seen: Evidence, turns: Mapping[str, Record | None], action: str,
             pair: tuple[JobInfo, JobInfo], place: Cause, why: Callable[[str], Explanation],
             about: str) -> Explanation:
    """Explain the order in which an action serves two jobs; where only the second has its places,
    also why the first waits.
    """
    first, second = pair
    causes = [*order_causes(seen, action, first, second)]
    if not causes and first.queue != second.queue:
        causes = [Cause("came_first", Message("order.level", queues=[first.queue, second.queue]),
                        {"first": first.queue}, [*filter(None, [turns[first.uid]])])]
    passed = why(first.uid) if evidence.waits(first) and not evidence.waits(second) else None
    more = [_no_hold(seen, first, second, passed)] if passed else []
    more += [place, *(passed.causes if passed else ())]
    return Explanation(about, Message(
        "order.first", first=seen.called(first.uid), action=action, second=seen.called(second.uid)),
        [*causes, *(each for each in more if each.code != "came_first")],
        passed.find_remedies if passed else None)


def _no_hold(seen: Evidence, first: JobInfo, second: JobInfo, why: Explanation) -> Cause:
    """That the order keeps nothing for the first of two jobs, which waits: what the second takes
    after it, what that changes, and what does keep something.
    """
    gap = next((said.facts["gap"] for said in each_said(why.said)
                if isinstance(said, Message) and said.facts.get("gap")), None)
    there = [task for task in second.tasks.values() if task.node_name]
    names = {"first": seen.called(first.uid), "second": seen.called(second.uid)}
    found = _passed(seen, second, first)
    found.said = [
        Message("order.no_hold", taken=evidence.requested(there), gap=gap and Message(
            "node_fits.gap", gap=gap), nodes=[*dict.fromkeys(task.node_name for task in there)],
            **names), *found.sentences, Message("order.keeps", **names)]
    return found


def _passed(seen: Evidence, placed: JobInfo, waiting: JobInfo) -> Cause:
    """What two jobs request, and what becomes of the one that waits in a cycle without the one that
    has its places.
    """
    sizes = [Message(
        "order.size", job=seen.called(job.uid), least=job.min_available, priority=job.priority,
        requests=over(amounts(job.get_min_resources()), {}) or over(evidence.requested(
            [*job.tasks.values()][:max(job.min_available, 1)]), {}), created=Message(
            "order.created", moment=moment_text(job.pod_group.metadata.creation_timestamp))
        if job.pod_group.metadata.creation_timestamp else None) for job in (placed, waiting)]
    own = {("PodGroup", placed.pod_group.key), *(("Pod", each.key) for each in (
        placed.tasks.values()))}
    then = outcome.run([obj for obj in seen.objects if (obj.kind, obj.key) not in own],
                       seen.ssn.conf, seen.ssn.now).jobs[waiting.uid]
    code = "admitted" if waiting.is_pending() and not then.is_pending() else "still"
    code = "placed" if then.is_ready() and then.ready_task_num() else code
    return Cause("passed", [Message("order.sizes", sizes=sizes), Message(
        f"order.without.{code}", job=seen.called(placed.uid), other=seen.called(waiting.uid))],
        {"without": code}, [], True)


def _place(seen: Evidence, action: str, job: JobInfo) -> Cause:
    """Which jobs of its queue an action takes before a job."""
    jobs = seen.ssn.jobs
    order = [*dict.fromkeys(record["job"] for record in seen.in_action(action, "job")
                            if record["job"] in jobs and jobs[record["job"]].queue == job.queue)]
    before = order[:order.index(job.uid)]
    said = Message("order.place", job=seen.called(job.uid), place=len(before) + 1,
                   count=len(order), queue=job.queue, action=action)
    return Cause("place", [said, Message("order.before", jobs=[*map(seen.called, before[-MOST:])])
                           if before else None], {"place": len(before) + 1, "of": len(order)})
