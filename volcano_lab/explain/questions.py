"""Questions beside why a job waits: why a pod is on its node and not on another one, what a queue
holds, why one job is served before another, and which actions may evict its pods.

Volcano: none
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from volcano_lab.actions.evictions import never_preempts
from volcano_lab.api import MIN_RESOURCE, JobInfo, Resource, TaskInfo
from volcano_lab.api.status import PENDING, PIPELINED, RELEASING, RUNNING
from volcano_lab.explain import evictions
from volcano_lab.explain.evidence import Evidence, counts, requested, unbound
from volcano_lab.explain.explanation import Cause, Explanation, over, part
from volcano_lab.explain.holders import order_causes, turn_of
from volcano_lab.explain.lint import PREDICATES, SHARES, before_shares
from volcano_lab.explain.nodes import missing, refused_now, refused_then, rule_causes, withheld
from volcano_lab.explain.origin import best_effort, closed
from volcano_lab.explain.owners import head, on_event
from volcano_lab.explain.refusals import admission_causes
from volcano_lab.explain.slips import taint_text
from volcano_lab.messages import Message, NoSuch
from volcano_lab.plugins.kube.pod_info import PodInfo
from volcano_lab.plugins.kube.taints import first_untolerated
from volcano_lab.trace import Record
from volcano_lab.trace.cause_trace import POINTS
from volcano_lab.trace.plain import amounts, grouped
from volcano_lab.trace.reading import scores_of
from volcano_lab.trace.views.jobs import missing as not_created

ORDERED = ("allocate", "enqueue", "reclaim", "preempt")
"""The actions in whose order jobs are compared, the one that gives resources first."""
MOST = 5
"""Jobs that are named before one in its queue."""
UNLIMITED = 1e300
"""An amount of a capability that names no limit."""

# -- a pod and its node ---------------------------------------------------------------------------


def last_choice(seen: Evidence, task: str) -> Record | None:
    """Return the last search of a node for a pod."""
    return next(reversed(seen.of("chose", task=task)), None)


def why_here(seen: Evidence, task: TaskInfo, other: str = "") -> Cause | None:
    """Return why a placed pod's node is the best, with the scores of an `other`, or the next one,
    and the plugins without which that would come first.
    """
    choice = last_choice(seen, task.key)
    if choice is None or choice["node"] is None:
        return None
    scores = {node: scores_of(row)
              for node, row in seen.trace.node_values(task.key, choice.number + 1).items()
              if not _objector(row) and not _lacking(seen, task.key, node, choice)}
    totals = {node: sum(by.values()) for node, by in scores.items()}
    chosen, others = choice["node"], sorted(totals, key=lambda node: -totals[node])
    if chosen not in totals or len(others) < 2:
        return Cause.of("only_node", records=[choice], node=chosen)
    second = other if other in totals else next(node for node in others if node != chosen)
    turning = [plugin for plugin, score in scores[chosen].items() if totals[chosen] - score
               < totals[second] - scores[second].get(plugin, 0.0)]
    code = "best_score" if totals[chosen] > totals[second] else "best_score.equal"
    facts = {"node": chosen, "second": second}
    return Cause("best_score", [
        Message(code, count=len(totals), total=totals[chosen], points=_points(scores[chosen]),
                less=totals[second], fewer=_points(scores[second]), **facts),
        Message("best_score.without", plugins=turning, **facts) if turning else None],
        {"scores": {node: scores[node] for node in (chosen, second)}}, [choice])


def _points(scores: dict[str, float]) -> list[Message]:
    """What each plugin gives a node."""
    return [Message("points", plugin=plugin, score=score)
            for plugin, score in scores.items() if score] or [Message("points.none")]


def despite(seen: Evidence, task: TaskInfo, node: str) -> Cause | None:
    """Return the taint or the labels by which Kubernetes keeps a pod off a node, where no plugin
    compares them, or the pod is there already.
    """
    there = seen.ssn.nodes[node].node
    taint = first_untolerated(there.spec.taints, task.pod.spec.tolerations)
    fits = taint is None and PodInfo(task.pod).required_nodes.matches(there)
    if fits or (PREDICATES in seen.ssn.plugins and task.node_name != node):
        return None
    why = "before" if PREDICATES in seen.ssn.plugins else "unread"
    return Cause("despite", [
        Message("despite.taint", node=node, taint=taint_text(taint)) if taint else
        Message("despite.labels", node=node), Message(f"despite.{why}", plugin=PREDICATES)])


def why_not_cause(seen: Evidence, task: str, node: str, choice: Record | None) -> Cause | None:
    """Return why a pod was not placed on a node at that choice, or without one would not be placed
    there now; None where it fits.
    """
    short = _lacking(seen, task, node, choice)
    if short:
        request, free = seen.trace.start["tasks"][task]["request"], seen.free(choice)[node]
        more = withheld(seen, seen.tasks[task], [node], short)
        return Cause.of("insufficient", *more, records=[choice] if choice else [], pod=task,
                        node=node, request=part(request, short), free=part(free, short))
    if choice is None:
        pod = seen.tasks[task]
        reason = seen.ssn.pre_predicate(pod) or refused_now(seen, pod, node)
        against = {node: reason} if reason else {}
        return next(rule_causes(seen, task, against, (0, None), None), None)
    plugin = _objector(seen.trace.node_values(task, choice.number + 1).get(node, {}))
    return next(rule_causes(seen, task, {node: refused_then(
        seen, seen.tasks[task], node, choice, plugin)}, (0, None), choice)) if plugin else None


def _lacking(seen: Evidence, task: str, node: str, choice: Record | None) -> list[str]:
    """The resources of which the node had too little left."""
    return missing(seen.trace.start["tasks"][task]["request"], seen.free(choice)[node])


def _objector(row: dict[str, Any]) -> str:
    """The first plugin that refuses a node, from its columns; "" without."""
    return next((column.partition(" ")[2] for column, value in row.items()
                 if column.startswith("predicate ") and not value), "")


# -- a queue --------------------------------------------------------------------------------------


def why_queue(seen: Evidence, queue: str) -> Explanation:
    """Explain what a queue requests, deserves, holds and may hold, what bounds its share, and
    which jobs wait in it.
    """
    records = seen.trace.records
    queues = seen.state_at(records[-1] if records else None)["queues"]
    sums = queues.get(queue)
    if sums is None:
        return _without_share(seen, queue)
    names = [name for name in {**sums["request"], **sums["deserved"]} if name != "pods"]
    limited = [name for name, amount in sums["capability"].items()
               if name != "pods" and amount < UNLIMITED]
    may = sums["real_capability"]
    bounds = dict.fromkeys([*names, *limited]) or over(may, {})
    code = "queue_head.weight" if "proportion" in seen.ssn.plugins else "queue_head"
    shares = [Message("queue_share", queue=name, weight=each["weight"], deserved=part(
        each["deserved"], names)) for name, each in queues.items() if over(each["request"], {})]
    parts = {name: sums["allocated"].get(name, 0.0) / amount
             for name, amount in sums["deserved"].items() if amount and name in names}
    most = [name for name in names if len(names) > 1 and parts.get(name) == sums["share"] > 0]
    head = Message(code, queue=queue, weight=sums["weight"], share=sums["share"], of=most,
                   limit=part(may, bounds), **{each: part(sums[each], names) for each in (
                       "request", "deserved", "allocated")})
    beside = [Message("queue_shares", shares=shares)] * (code != "queue_head" and len(shares) > 1)
    return Explanation(f"queue {queue}", [head, *beside],
                       [*_queue_causes(seen, queue, sums, limited)])


def _without_share(seen: Evidence, queue: str) -> Explanation:
    """That a queue has no jobs, or no plugin gives it a share; what is kept for it all the same."""
    own, shared = seen.ssn.queues[queue], SHARES & seen.ssn.plugins.keys()
    kept = over(amounts(Resource.from_list(own.queue.spec.guarantee.resource)), {})
    return Explanation(f"queue {queue}", Message(
        "queue_head.empty" if shared else "queue_head.none", queue=queue,
        kept=Message("queue_head.kept", amount=kept) if kept else None),
        [*([] if own.is_open else [closed(seen, queue)]), *_waiting(seen, queue)])


def _queue_causes(seen: Evidence, queue: str, sums: dict[str, Any], limited: list[str]
                  ) -> Iterator[Cause]:
    ssn, may = seen.ssn, sums["real_capability"]
    if not ssn.queues[queue].is_open:
        yield closed(seen, queue)
    yield from _bound(seen, queue)
    if ssn.overused(ssn.queues[queue]) and over(sums["request"], {}):
        names = [name for name in sums["deserved"] if name != "pods"]
        yield Cause("overused", Message("queue_overused", deserved=part(sums["deserved"], names)),
                    {each: sums[each] for each in ("deserved", "allocated")},
                    seen.of("overused", queue=queue)[-1:])
    yield from best_effort(seen, queue)
    less = [name for name in limited if may.get(name, 0.0) < sums["capability"][name]]
    if less:
        yield Cause.of("real_capability", capability=part(sums["capability"], less),
                       limit=part(may, less))
    if above := over(part(sums["allocated"], limited), may):
        yield Cause.of("queue_above_limit", held=part(sums["allocated"], above),
                       limit=part(may, above))
    coming = [task for job in ssn.jobs.values() if job.queue == queue
              for task in job.in_status(PIPELINED).values()]
    if coming:
        yield Cause.of("queue_promised", n=len(coming), amount=part(
            requested(coming), sums["deserved"]), jobs=[*dict.fromkeys(
                seen.called(task.job) for task in coming)])
    yield from _waiting(seen, queue)


def _waiting(seen: Evidence, queue: str) -> Iterator[Cause]:
    """Yield the jobs of a queue that wait."""
    waiting = {job.uid: Message(
        "job_waits", job=seen.called(job.uid), phase=job.pod_group.status.phase or "Pending",
        pods=Message("pods", n=sum(counts(job)[1:]) + not_created(job)) if job.tasks else Message(
            "status.no_pods"))
        for job in seen.ssn.jobs.values() if job.queue == queue and unbound(job)}
    if waiting:
        yield Cause("jobs_wait", Message("jobs_wait", jobs=[*waiting.values()]),
                    {"jobs": [*map(seen.called, waiting)]})


def _bound(seen: Evidence, queue: str) -> Iterator[Cause]:
    """Yield what stops its share from growing, and in which round."""
    rounds = [(record, step) for record in seen.of("deserved_round")
              for step in record["round"]["steps"] if step["queue"] == queue]
    records = [record for record, _ in rounds]
    met = next((number for number, (_, step) in enumerate(rounds) if step["met"]), None)
    if met is not None:
        record, step = rounds[met]
        code, names = ("met_request", []) if step["met"] == "request" else _no_more(
            seen.trace.start["queues"][queue], step)
        yield Cause(code, Message("sharing_stops", round=record["number"], why=Message(
            code, resources=names)), {"round": record["number"], "after": step["after"]},
            records[:met + 1])
    elif rounds:
        yield Cause.of("met_nothing", records=records, n=len(rounds))


def _no_more(sums: dict[str, Any], step: dict[str, Any]) -> tuple[str, list[str]]:
    """Whether its real capability stops it, or that nothing is left, and of what: Volcano's log
    calls both the capability.
    """
    def ends(names: list[str], more: dict[str, float], less: dict[str, float]) -> list[str]:
        return [name for name in names if more.get(name, 0.0) - less.get(name, 0.0) < MIN_RESOURCE]

    after = step["after"]
    has = ends([*sums["request"]], sums["request"], after)
    wants = [name for name in sums["request"] if name != "pods" and name not in has]
    bound = ends(wants, sums["real_capability"], after)
    gone = ends(wants, step["offered"], step["before"])
    if bound:
        return "met_capability", bound
    return "met_nothing_left" if gone else "met_no_growth", gone


# -- the order of two jobs ------------------------------------------------------------------------


def why_before(seen: Evidence, job: JobInfo, other: JobInfo) -> Explanation:
    """Explain why one of two jobs is served before the other, and the place of the first in its
    queue.
    """
    about = f"job {seen.called(job.uid)} and job {seen.called(other.uid)}"
    if job is other:
        raise NoSuch("job {name} is compared with itself; allowed is another job",
                     name=seen.called(job.uid))
    for action in ORDERED:
        turns = {each.uid: turn_of(seen, action, each) for each in (job, other)}
        numbers = {uid: turn.number for uid, turn in turns.items() if turn is not None}
        if len(numbers) == len(turns):
            first, second = sorted((job, other), key=lambda each: numbers[each.uid])
            said = Message("order.first", first=seen.called(first.uid), action=action,
                           second=seen.called(second.uid))
            causes = [*order_causes(seen, action, first, second)]
            if not causes and first.queue != second.queue:
                causes = [Cause("came_first", Message("order.level", queues=[
                    first.queue, second.queue]))]
            return Explanation(about, said, [*causes, _place(seen, action, job)])
    refused, admitted = sorted((job, other), key=lambda each: not each.is_pending())
    if not refused.is_pending() or turn_of(seen, "allocate", admitted) is None:
        without = next(each for each in (admitted, refused)
                       if turn_of(seen, "allocate", each) is None)
        return Explanation(about, Message("order.no_turn", job=seen.called(without.uid)), [])
    said = Message("order.apart", job=seen.called(refused.uid), other=seen.called(admitted.uid))
    return Explanation(about, said, [*order_causes(seen, "enqueue", refused, admitted),
                                     *admission_causes(seen, refused)])


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


# -- evictions of a job's pods --------------------------------------------------------------------


def who_evicts(seen: Evidence, job: JobInfo) -> Explanation:
    """Explain which actions may evict pods of a job, for which jobs now, and when."""
    about, name = f"job {seen.called(job.uid)}", seen.called(job.uid)
    pods = sorted([*job.in_status(RUNNING).values(), *job.in_status(RELEASING).values()],
                  key=lambda task: task.key)
    actions = [action for action in POINTS if action in seen.ssn.enabled_actions]
    beside = [Cause("shuffled", said, {}, [], True) for said in evictions.shuffled(seen, job)]
    if not pods or not (actions or beside):
        return Explanation(about, Message("evict.no_pods" if not pods else "evict.no_action",
                                          job=name))
    done = {action: [*_done(seen, job, action)] for action in actions}
    more = {action: [*_spared(seen, job, action), *_now(seen, job, action, pods)]
            for action in actions}
    causes = [cause for action in actions for cause in (
        *done[action], *more[action], *_when(seen, job, action))]
    gone, free = ([cause.numbers["pods"] for found in each.values() for cause in found
                   if cause.code == "evicted_for"] for each in (done, more))
    now = sum(gone) + max(free, default=0)
    causes += [_order(pods)] if now else []
    said = Message("evict.now" if now else "evict.none", job=name, n=now, pods=len(pods))
    kept = () if now else _protected(seen, actions, pods)
    return Explanation(about, said, [*beside, *causes, *kept, *_kept(seen, job, pods, actions)])


def _order(pods: list[TaskInfo]) -> Cause:
    """In which order pods of one job are evicted."""
    least = min(task.priority for task in pods)
    lowest = [task.key for task in pods if task.priority == least]
    return Cause("evict_order", [Message("evict.order"), Message(
        "evict.lowest", pods=lowest, priority=least) if len(lowest) < len(pods) else None],
        context=True)


def _done(seen: Evidence, job: JobInfo, action: str) -> Iterator[Cause]:
    """Yield the pods of it that an action evicts in this cycle, by the job that gets the place."""
    for (by, uid), records in evictions.evicted_for(seen, job).items():
        if by == action:
            said = Message("evict.does", action=action, pods=[*records], job=seen.called(uid))
            nodes = dict.fromkeys(record["node"] for record in records.values())
            yield Cause("evicted_for", [said, evictions.first_node(seen, action, [*nodes])],
                        {"pods": len(records), "jobs": [uid]}, [*records.values()])


def _spared(seen: Evidence, job: JobInfo, action: str) -> Iterator[Cause]:
    """Yield the pods of it that an action could evict in this cycle, for the first job for which it
    takes pods of others instead, as these come first.
    """
    for record in seen.of("victims", action=action):
        pods = [key for key in record.get("candidates", ()) if seen.tasks[key].job == job.uid]
        taken = record["chosen"]
        if pods and not any(seen.tasks[key].job == job.uid for key in taken):
            uid = seen.tasks[record["task"]].job
            said = Message("evict.spared", action=action, n=len(pods), pods=pods, taken=taken,
                           job=seen.called(uid))
            yield Cause("evicted_for", said, {"pods": len(pods), "jobs": [uid]}, [record])
            return


def _now(seen: Evidence, job: JobInfo, action: str, pods: list[TaskInfo]) -> Iterator[Cause]:
    """Yield the jobs that wait now and for which all plugins of a tier allow pods of it; or else
    the plugins that allow none.
    """
    free = [task for task in pods if task.preemptable and task.status == RUNNING]
    claimants = {uid: task for uid, task in _claimants(seen, job, action).items() if free}
    victims = {uid: seen.ssn.points[POINTS[action]].ask(task, free)
               for uid, task in claimants.items()}
    found = {uid: len(tasks) for uid, tasks in victims.items() if tasks}
    if found:
        said = Message("evict.for", action=action, jobs=[*map(seen.called, found)],
                       n=max(found.values()), pods=len(pods))
        yield Cause("evicted_for", said, {"pods": max(found.values()), "jobs": [*found]})
        return
    yield from _never(seen, job) if action == "preempt" else ()
    against = {uid: evictions.refusing(seen, POINTS[action], task, free)
               for uid, task in claimants.items()}
    refused = grouped((plugin, seen.called(uid)) for uid, plugins in against.items()
                      if {*evictions.CONDITIONS}.isdisjoint(plugins) for plugin in plugins)
    for plugin, jobs in refused.items():
        said = Message("evict.refused", plugin=plugin, jobs=jobs, why=evictions.protection(plugin))
        yield Cause("refused_for", said, {"plugin": plugin, "jobs": jobs}, [], True)


def _never(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield the jobs of a higher priority in its queue of which no pod may preempt."""
    jobs = [seen.called(uid) for uid, other in seen.ssn.jobs.items() for waiting in [
        other.in_status(PENDING).values()] if other.queue == job.queue
        and other.priority > job.priority and waiting and all(map(never_preempts, waiting))]
    if jobs:
        yield Cause.of("evict_never", context=True, jobs=jobs)


def _claimants(seen: Evidence, job: JobInfo, action: str) -> dict[str, TaskInfo]:
    """The first pod that waits and may evict, of each job for which an action looks at the pods of
    a job.
    """
    queues, preempt = seen.ssn.queues, action == "preempt"
    first = {uid: next((task for task in other.in_status(PENDING).values()
                        if not never_preempts(task)), None)
             for uid, other in seen.ssn.jobs.items()
             if other is not job and (other.queue == job.queue) == preempt}
    return {uid: task for uid, task in first.items() if task is not None and (preempt or (
        queues[job.queue].reclaimable
        and seen.ssn.preemptive(queues[seen.ssn.jobs[uid].queue], task)))}


def _when(seen: Evidence, job: JobInfo, action: str) -> Iterator[Cause]:
    """Yield when an action takes pods of it: by its priority, or by what its queue holds."""
    said, numbers = [Message("evict.closed", queue=job.queue)], {}
    if action == "preempt":
        code = "evict.priority" if "priority" in seen.ssn.plugins else "evict.any_priority"
        tiers = seen.tiers("preemptable")
        first = next((at for at, tier in enumerate(tiers) if "priority" in tier), len(tiers))
        later, numbers = [*chain(*tiers[first + 1:])], {"priority": job.priority}
        said = [Message(code, queue=job.queue, **numbers),
                *[Message("evict.next_tier", plugins=later)] * bool(later)]
    elif seen.ssn.queues[job.queue].reclaimable:
        # others may lose pods
        last = None if evictions.evicted_for(seen, job) else seen.trace.records[-1]
        sums = (seen.state_at(last) if last else seen.trace.start)["queues"].get(job.queue)
        if sums is None:
            return
        named = [name for name, amount in sums["deserved"].items() if amount]
        held = part(sums["allocated"], named or sums["allocated"])
        more = over(held, sums["deserved"])
        numbers = seen.sums(job.queue, more or over(held, {}), last)
        within = over(held, {}).keys() - more if named and more else ()
        said = [Message("evict.over" if more else "evict.within", **numbers),
                *[Message("evict.over.one", resources=sorted(within))] * bool(within)]
        above, share = before_shares(seen.ssn)
        if above and share:
            decide = Message("evict.before_shares", plugins=above)
            said = [*said, decide] if more else [decide]
    yield Cause(f"condition_{action}", said, numbers, [], True)


def _protected(seen: Evidence, actions: list[str], pods: list[TaskInfo]) -> Iterator[Cause]:
    """Yield the plugins that protect pods of it for what they are, each once."""
    found = {plugin: (kept, why) for action in actions
             for plugin, kept, why in evictions.keepers(seen, POINTS[action], pods)}
    for plugin, (kept, why) in found.items():
        yield Cause("protected", Message("evict.protected", plugin=plugin, n=kept, why=why),
                    {"plugin": plugin, "pods": kept}, [], True)


def _kept(seen: Evidence, job: JobInfo, pods: list[TaskInfo], actions: list[str]
          ) -> Iterator[Cause]:
    """Yield what keeps pods of it, their own annotation and its gang's minimum, and what is lost
    with one.
    """
    kept = sum(not task.preemptable for task in pods)
    if kept:
        yield Cause("not_preemptable", Message("evict.not_preemptable", n=kept), {}, [], True)
    gang = any("gang" in seen.plugins(POINTS[action]) for action in actions)
    if gang and job.min_available > 1:
        going = sum(map(len, evictions.evicted_for(seen, job).values()))
        yield Cause("gang_minimum", Message("evict.gang", least=job.min_available, n=max(
            job.ready_task_num() + going - job.min_available, 0)), {}, [], True)
    loose = evictions.budgets_of(seen, pods) if "pdb" not in seen.ssn.plugins else []
    if loose:
        yield Cause.of("evict_no_pdb", context=True, n=len(loose), budgets=loose)
    if policy := on_event(seen, job, "PodEvicted"):
        yield Cause("evict_policy", policy, context=True)
    yield from _leads(seen, job, pods)


def _leads(seen: Evidence, job: JobInfo, pods: list[TaskInfo]) -> Iterator[Cause]:
    """Yield the pods, of those that may go, on which others of the job depend, and whether one was
    spared in this cycle only by its place in the order.
    """
    roles = {task.key: head(job, task) for task in pods if task.preemptable}
    lead = {key: role for key, role in roles.items() if role}
    if lead:
        spared = {key: record for record in seen.of("victims") for key in lead
                  if key in record.get("candidates", ()) and key not in record["chosen"]}
        yield Cause.of("evict_head", *(Message(
            "evict_head.spared", pod=key, action=record["action"], taken=record["chosen"])
            for key, record in spared.items()), context=True, n=len(lead), pods=[*lead],
            roles=[*dict.fromkeys(lead.values())])
