"""Why reclaim and preempt evict no pods for a job.

Volcano: none
"""

from collections.abc import Iterator
from functools import reduce
from itertools import chain
from operator import itemgetter

from volcano_lab.actions.evictions import admitted_jobs
from volcano_lab.actions.preempt import TOPOLOGY_AWARE
from volcano_lab.api import BOUND, RUNNING, JobInfo
from volcano_lab.api.objects import PriorityClass
from volcano_lab.explain.evidence import Evidence, not_started, unplaced
from volcano_lab.explain.explanation import Amounts, Cause, added, over, part
from volcano_lab.explain.protection import budgets_of, disagreeing, protected_causes, sums_of
from volcano_lab.explain.requests import rest_of, still_needed
from volcano_lab.framework import Session
from volcano_lab.messages import Message
from volcano_lab.trace import POINTS, Record, amounts, grouped, kinds


def broken(seen: Evidence, job: JobInfo) -> Iterator[Message]:
    """Yield that pods of a gang are left, fewer than its minimum."""
    if 0 < job.ready_task_num() < job.min_available:
        yield Message("promised.breaks", job=seen.called(job.uid), n=job.ready_task_num(),
                      least=job.min_available)


def eviction_causes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield why reclaim and preempt evict no pods for the job; as context where allocate could
    have placed its pods, too.
    """
    context = "allocate" in seen.ssn.enabled_actions
    actions = [action for action in POINTS if action in seen.ssn.enabled_actions]
    content = "gang" in seen.plugins("job_starving") and not job.is_starving() and not any(
        seen.calls_about(job, "claimant", action) for action in actions)
    if actions and context and content:
        yield Cause.of("gang_content", context=True, n=len(actions), actions=actions,
                       least=job.min_available)
        return
    for action in actions:
        for cause in [*_unanswered(seen, action)] or chain(
                _attempt(seen, job, action), _not_preemptable(seen, job, action)) if (
                not context or may_evict(seen, job, action)) else ():
            cause.context = context
            yield cause
    if "reclaim" not in actions:
        yield from _no_reclaim(seen, job)
    if "preempt" not in actions:
        yield from [*no_preempt(seen, job)] or _above_minimum(seen, job)


def may_evict(seen: Evidence, job: JobInfo, action: str) -> bool:
    """Whether other jobs have pods that an action is meant for: those of other queues, those of
    its own queue, and for preempt those of a lower priority anywhere.
    """
    preempt = action == "preempt"
    return any(
        other is not job and len(unplaced(other)) < len(other.tasks)
        and ((other.queue == job.queue) == preempt or (preempt and other.priority < job.priority))
        for other in seen.ssn.jobs.values())


def _unanswered(seen: Evidence, action: str) -> Iterator[Cause]:
    """Yield that no plugin says which pods an action may evict, or which jobs lack pods, so that it
    evicts none, with the switches of the configuration by which that is so.
    """
    for name in (POINTS[action], "job_starving"):
        point = seen.ssn.points[name]
        off = [(plugin.name, number) for number, tier in enumerate(seen.ssn.conf.tiers, 1)
               for plugin in tier.plugins if plugin.name in point.functions]
        if not point.flat:
            parts = [Message("unanswered.off", plugin=plugin, tier=tier, switch=point.switches[0])
                     for plugin, tier in off]
            yield Cause.of("unanswered", context=True, action=action, point=name, parts=parts,
                           off=[plugin for plugin, _ in off if plugin != "drf"],
                           absent=[] if off else ["gang"], switch=point.switches[0])
            return


def _attempt(seen: Evidence, job: JobInfo, action: str) -> Iterator[Cause]:
    """Yield what stopped an action: the queue, the pod, the plugins, or that it found too little.
    """
    claims = seen.calls_about(job, "claimant", action)
    for record in [] if claims else seen.in_action(action, "passed_over", queue=job.queue)[:1]:
        yield Cause(f"{action}_overused", Message(
            "attempt.overused", action=action, sums=sums_of(seen, record, job.queue)), {}, [record])
    skipped = seen.calls_about(job, "passed_over", action) if claims else seen.in_action(
        action, "passed_over", job=job.uid)
    for record in skipped[:1]:
        kind = "not_eligible" if claims else "topology"
        asked = seen.in_action(action, "preemptive", task=record.get("task"))
        said = Message(f"attempt.{kind}", action=action, pod=record.get("task"),
                       reason=kinds.passed(record),
                       sums=sums_of(seen, record, job.queue, _wanted(job)) if asked else None)
        unset = _unset(seen, job) if asked else None
        yield Cause(f"{action}_{kind}", [said, unset, *_class_of(seen, record)], {}, [
            record, *asked])
    answers = [*filter(itemgetter("candidates"), seen.calls_about(job, POINTS[action], action))]
    lost = claims and not (skipped or seen.brief) and claims[0].get("within_job") and (
        less_important(seen.ssn, job))
    if lost:  # preempt tried its pods for their own job first, and those of others not at all
        yield Cause.of("preempt_order", records=claims[:1], queue=job.queue, first=min(
            other.queue for other in admitted_jobs(seen.ssn)))
    if claims and (answers or not seen.ssn.job_starving(job)):
        yield from _not_enough(seen, job, answers, action)
    elif claims and not (skipped or lost):
        yield _no_candidates(seen, job, action, claims[:1])


def _no_candidates(seen: Evidence, job: JobInfo, action: str, claims: list[Record]) -> Cause:
    """That no pod may be evicted, and the queues and jobs whose own fields say so."""
    closed = _not_reclaimable(seen, job) if action == "reclaim" else {}
    bound = [task for task in seen.tasks.values() if task.status == BOUND and (
        action == "reclaim" and seen.ssn.jobs[task.job].queue != job.queue)]
    said = Message("no_candidates.closed", queues=[
        Message("queue.holds", **{**seen.sums(name, held), "allocated": held})
        for name, held in closed.items()]) if closed else Message(f"no_candidates.{action}")
    jobs = [*map(seen.called, dict.fromkeys(task.job for task in bound))]
    return Cause(f"{action}_no_candidates", [
        said, Message("not_running", jobs=jobs, why=not_started(task.pod for task in bound))
        if bound else None], {"not_reclaimable": closed}, claims)


def _not_preemptable(seen: Evidence, job: JobInfo, action: str) -> Iterator[Cause]:
    """Yield the jobs that an action is meant for whose own pods say that they are not evicted."""
    meant = less_important(seen.ssn, job) if action == "preempt" else [
        other for other in seen.ssn.jobs.values() if other.queue != job.queue]
    kept = [other.uid for other in meant if any(
        task.node_name and not task.preemptable for task in other.tasks.values())]
    if kept and seen.calls_about(job, "claimant", action):
        yield Cause.of("not_preemptable", action=action, jobs=[*map(seen.called, kept)], kept=kept)


def _not_reclaimable(seen: Evidence, job: JobInfo) -> dict[str, Amounts]:
    """Other queues that have `reclaimable: false`, with what they hold of the resources that the
    job waits for.
    """
    found: dict[str, Amounts] = {}
    wanted = _short(seen, job)
    for name, queue in seen.ssn.queues.items():
        sums = seen.trace.start["queues"].get(name)
        if sums is None or name == job.queue or queue.reclaimable:
            continue
        names = over(sums["allocated"], sums["deserved"]).keys() & wanted or wanted
        held = {each: amount for each, amount in sums["allocated"].items()
                if amount and each in names}
        found |= {name: held} if held else {}
    return found


def _unset(seen: Evidence, job: JobInfo) -> Message | None:
    """That the queue of a job deserves nothing of what it requests, as its spec does not say so."""
    named = seen.ssn.queues[job.queue].queue.spec.deserved or {}
    names = [name for name in _wanted(job) if name not in named]
    return Message("attempt.unset", queue=job.queue, names=names) if (
        names and "capacity" in seen.ssn.plugins) else None


def _wanted(job: JobInfo) -> dict[str, None]:
    """The resources that pods of the job request."""
    return dict.fromkeys(name for task in unplaced(job)
                         for name in over(amounts(task.init_resreq), {}))


def _short(seen: Evidence, job: JobInfo) -> dict[str, None]:
    """Those of which no node has enough left for a pod; all where each has a node with enough."""
    free = [node.idle for node in seen.ssn.nodes.values()]
    wanted = _wanted(job)
    return {name: None for name in wanted if any(
        max((idle.get(name) for idle in free), default=0.0) < task.init_resreq.get(name)
        for task in unplaced(job))} or wanted


def first_node(seen: Evidence, action: str, nodes: list[str]) -> Message | None:
    """Return in which order an action looks at nodes, as fewer evictions elsewhere may be enough;
    None where it compares them by their victims.
    """
    compares = seen.ssn.conf.action_arguments(action).get_bool(TOPOLOGY_AWARE, False)
    return None if compares else Message(f"evict.first.{action}", nodes=nodes)


def _not_enough(seen: Evidence, job: JobInfo, answers: list[Record], action: str) -> list[Cause]:
    """That the plugins allow no pods, or some, and these are not enough: for all of the gang, more
    than the minimum is asked for, no single node has enough of them, or the plugins allow different
    ones.
    """
    found = seen.in_action(action, "do", operation="pipeline", job=job.uid)
    freed = {record["task"] for record in found}
    unserved = [record for record in answers if record["task"] not in freed]
    protected = [*protected_causes(seen, job, unserved)]
    if undone := _undone(seen, job, answers, action, found):
        return [undone, *protected]
    answers = unserved or answers
    if protected or not seen.ssn.job_starving(job):
        return protected or [Cause.of("minimum_promised", records=answers[-1:], action=action,
                                      least=job.min_available)]
    combined = [record for record in seen.of("asked", point=POINTS[action])
                if seen.tasks[record["task"]].job == job.uid and record["task"] not in freed]
    agreed = [record for record in combined if record["answer"]]
    differ = [*disagreeing(seen, job, answers, bool(agreed))] if combined else []
    return differ if differ and not agreed else [_with_budgets(
        seen, answers, _most_freed(seen, agreed, action), agreed or answers), *differ]


def _undone(seen: Evidence, job: JobInfo, answers: list[Record], action: str, found: list[Record]
            ) -> Cause | None:
    """That an action undoes its evictions, as these are `found` to help some pods of a gang only;
    None where it evicts none, or keeps them.
    """
    tasks = {record["task"] for record in found}
    taken = set(chain(*(record["chosen"] for record in seen.in_action(action, "victims")
                        if record["task"] in tasks)))
    if not taken or seen.in_action(action, "commit", job=job.uid):
        return None
    waiting = [amounts(task.init_resreq) for task in unplaced(job) if task.key not in tasks]
    said = Message("victims_insufficient.gang", action=action, freed=len(tasks),
                   least=job.min_available)
    return _with_budgets(seen, answers, said, answers, _skipped(
        seen, job, found, waiting, taken) if action == "reclaim" else None)


def _skipped(seen: Evidence, job: JobInfo, found: list[Record], waiting: list[Amounts],
             taken: set[str]) -> Message | None:
    """What evictions of the `taken` leave of a node that is enough for a further pod of the gang,
    and reclaim skips it, as it may evict no more pods there.
    """
    for record in found:
        node = seen.ssn.nodes[record["node"]]
        left = seen.free(record)[node.name]
        asked = next((each for each in waiting if not over(each, left)), None)
        if asked and taken.issuperset(task.key for task in node.tasks.values() if (
                task.preemptable and task.status == RUNNING and task.job in seen.ssn.jobs
                and seen.ssn.jobs[task.job].queue != job.queue)):
            return Message("victims_insufficient.skipped", node=node.name, free=part(left, asked))
    return None


def _with_budgets(seen: Evidence, answers: list[Record], said: Message, records: list[Record],
                  beside: Message | None = None) -> Cause:
    """That pods are too few, and the PodDisruptionBudgets by which plugin pdb keeps others."""
    kept = {key for record in answers if record["plugin"] == "pdb"
            for key in record["candidates"] if key not in record["answer"][0]}
    budgets = budgets_of(seen, map(seen.tasks.__getitem__, kept))
    more = Message("victims_insufficient.budgets", n=len(kept), budgets=budgets)
    return Cause("victims_insufficient", [said, beside, more if budgets else None], {
        "candidates": kept, "budgets": [each.facts["budget"] for each in budgets]}, records[:3])


def _most_freed(seen: Evidence, agreed: list[Record], action: str) -> Message:
    """What evicting all allowed pods would free, on the node where it is most."""
    most, found = 0.0, Message("victims_insufficient", action=action)
    tasks = seen.trace.start["tasks"]
    for record in [] if seen.brief else agreed:
        request = tasks[record["task"]]["request"]
        left = seen.free(record, request)
        nodes = grouped((tasks[key]["node"], key) for key in record["answer"])
        for node, keys in nodes.items():
            free = reduce(added, (tasks[key]["request"] for key in keys), left[node])
            short = over(request, free)
            ratio = min((free[name] / request[name] for name in short), default=0.0)
            if ratio > most:
                most, owners = ratio, dict.fromkeys(tasks[key]["job"] for key in keys)
                queues = dict.fromkeys(seen.ssn.jobs[uid].queue for uid in owners)
                found = Message(
                    "victims_insufficient.most", action=action, node=node, free=part(free, short),
                    request=part(request, short), jobs=[*map(seen.called, owners)],
                    pods=Message("pods", n=len(keys)), sums=[sums_of(seen, None, name, short)
                                                             for name in queues]
                    if action == "reclaim" else None)
    return found


def _class_of(seen: Evidence, record: Record) -> Iterator[Message]:
    """Yield the PriorityClass from which a pod has the policy not to preempt."""
    if record["reason"] == "policy_never":
        name = seen.tasks[record["task"]].pod.spec.priority_class_name
        yield from (Message("attempt.class", name=name) for each in seen.named.get(name, ())
                    if isinstance(each, PriorityClass) and each.preemption_policy == "Never")


def _no_reclaim(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield a queue that holds more than it deserves of what this job's queue is owed, where the
    configuration has no reclaim.
    """
    queues = seen.trace.start["queues"]
    mine = queues.get(job.queue, {"deserved": {}, "allocated": {}})
    owed = over(part(mine["deserved"], _wanted(job)), mine["allocated"])
    for name, queue in queues.items():
        more = [each for each in over(queue["allocated"], queue["deserved"]) if each in owed]
        if more and name != job.queue:
            closed = "" if seen.ssn.queues[name].reclaimable else ".closed"
            sums, gang = seen.sums(name, more), amounts(still_needed(job, rest_of(job)[0]))
            whole = part(added(mine["allocated"], gang), _wanted(job))
            beyond = over(whole, mine["deserved"]).keys() == whole.keys()  # in no dimension within
            stops = Message("no_reclaim_action.stops", queue=job.queue, asked=part(whole, owed),
                            limit=part(mine["deserved"], owed)) if beyond else None
            yield Cause("no_reclaim_action", [
                Message(f"no_reclaim_action{closed}", **sums), stops], sums, context=True)
            return


def no_preempt(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield the jobs of a lower priority in its queue that hold what this job waits for, where the
    configuration has no preempt.
    """
    wanted = _wanted(job)
    lower = [seen.called(other.uid) for other in less_important(seen.ssn, job)
             if any(map(other.allocated.get, wanted))]
    if lower and "priority" in seen.ssn.plugins:
        yield Cause("no_preempt_action", Message(
            "no_preempt_action", n=len(lower), jobs=lower, queue=job.queue), context=True)


def _above_minimum(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield the gangs in its queue that hold more pods than their minimum, and what this job waits
    for, where no priority is lower and the configuration has no preempt.
    """
    wanted = _wanted(job)
    gangs = [other for other in seen.ssn.jobs.values() if other.queue == job.queue
             and 1 < other.min_available < other.ready_task_num() and other is not job
             and any(map(other.allocated.get, wanted))]
    if gangs and "priority" in seen.ssn.plugins:
        yield Cause.of("above_minimum", context=True, highest=max(
            other.priority for other in gangs), jobs=[Message(
                "above_minimum.job", job=seen.called(other.uid), least=other.min_available,
                n=other.ready_task_num() - other.min_available) for other in gangs])


def less_important(ssn: Session, job: JobInfo, slots: bool = False) -> list[JobInfo]:
    """Return the jobs in its queue that preempt could evict for a job: those of a lower priority,
    where priorities count, which hold resources, or `slots` of nodes for pods.
    """
    by_priority = "priority" in ssn.plugins
    return [other for other in ssn.jobs.values()
            if other.queue == job.queue and other is not job and (
                not other.allocated.is_empty() or (slots and other.ready_task_num()))
            and (not by_priority or other.priority < job.priority)]
