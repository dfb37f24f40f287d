"""Why reclaim and preempt evict no pods for a job, and why a pod was evicted.

Volcano: none
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import reduce
from typing import Any

from volcano_lab.actions.evictions import admitted_jobs
from volcano_lab.actions.preempt import TOPOLOGY_AWARE
from volcano_lab.api import RELEASING, ROOT_QUEUE, JobInfo, Resource, TaskInfo, total
from volcano_lab.api.status import BOUND
from volcano_lab.explain.evidence import Evidence, not_started, unplaced
from volcano_lab.explain.explanation import Amounts, Cause, added, moment_text, over, part
from volcano_lab.explain.holders import held_by_strangers
from volcano_lab.explain.lint import SHARES
from volcano_lab.explain.pages import TABLES
from volcano_lab.framework import Session
from volcano_lab.messages import Message
from volcano_lab.plugins.cdp import cooled
from volcano_lab.plugins.pdb import selecting
from volcano_lab.trace import Record
from volcano_lab.trace.cause_trace import POINTS
from volcano_lab.trace.kinds import passed
from volcano_lab.trace.plain import amounts, grouped

PROTECTION = TABLES["protection"]
"""Plugin -> the code of why it allows no candidate."""
LASTING = ("conformance", "cdp", "pdb")
"""Plugins that protect a pod for what it is, whoever asks."""
CONDITIONS = [plugin for plugin, code in PROTECTION.items()
              if code in ("not_less_important", "victims_within_deserved")]
"""Plugins that compare the claimant with the owners of pods: priorities, shares of queues."""


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
        for cause in _attempt(seen, job, action) if (
                not context or may_evict(seen, job, action)) else ():
            cause.context = context
            yield cause
    if "reclaim" not in actions:
        yield from _no_reclaim(seen, job)
    if "preempt" not in actions:
        yield from _no_preempt(seen, job)


def may_evict(seen: Evidence, job: JobInfo, action: str) -> bool:
    """Whether other jobs have pods that an action is meant for: those of other queues, those of
    its own queue, and for preempt those of a lower priority anywhere.
    """
    preempt = action == "preempt"
    return any(
        other is not job and len(unplaced(other)) < len(other.tasks)
        and ((other.queue == job.queue) == preempt or (preempt and other.priority < job.priority))
        for other in seen.ssn.jobs.values())


def _attempt(seen: Evidence, job: JobInfo, action: str) -> Iterator[Cause]:
    """Yield what stopped an action: the queue, the pod, the plugins, or that it found too little.
    """
    claims = seen.calls_about(job, "claimant", action)
    for record in [] if claims else seen.in_action(action, "passed_over", queue=job.queue)[:1]:
        yield Cause(f"{action}_overused", Message(
            "attempt.overused", action=action, sums=_sums(seen, record, job.queue)), {}, [record])
    skipped = seen.calls_about(job, "passed_over", action) if claims else seen.in_action(
        action, "passed_over", job=job.uid)
    for record in skipped[:1]:
        kind = "not_eligible" if claims else "topology"
        asked = seen.in_action(action, "preemptive", task=record.get("task"))
        said = Message(f"attempt.{kind}", action=action, pod=record.get("task"),
                       reason=passed(record),
                       sums=_sums(seen, record, job.queue) if asked else None)
        yield Cause(f"{action}_{kind}", said, {}, [record, *asked])
    answers = seen.calls_about(job, POINTS[action], action)
    lost = claims and not (skipped or seen.brief) and _tried_elsewhere(seen, job, claims[0])
    if lost:
        yield Cause.of("preempt_order", records=claims[:1], queue=job.queue, first=min(
            other.queue for other in admitted_jobs(seen.ssn)))
    if claims and (answers or not seen.ssn.job_starving(job)):
        yield from [*_protected(seen, job, answers)] or [_not_enough(seen, job, answers, action)]
    elif claims and not (skipped or lost):
        yield _no_candidates(seen, job, action, claims[:1])


def _tried_elsewhere(seen: Evidence, job: JobInfo, first: Record) -> bool:
    """Whether preempt has tried a job's pods for their own job before it looked at its queue, where
    it could evict pods of others.
    """
    return bool(first.get("within_job") and less_important(seen.ssn, job))


def _no_candidates(seen: Evidence, job: JobInfo, action: str, claims: list[Record]) -> Cause:
    """That no pod may be evicted, and the queues and jobs whose own fields say so."""
    closed = _not_reclaimable(seen, job) if action == "reclaim" else {}
    theirs = [task for task in seen.tasks.values() if task.node_name and (
        seen.ssn.jobs[task.job].queue == job.queue) == (action == "preempt")]
    kept = [*dict.fromkeys(task.job for task in theirs if not task.preemptable)]
    bound = [task for task in theirs if task.status == BOUND and action == "reclaim"]
    said = Message("no_candidates.closed", queues=[
        Message("queue.holds", **{**seen.sums(name, held), "allocated": held})
        for name, held in closed.items()]) if closed else Message(f"no_candidates.{action}")
    why = not_started(task.pod for task in bound)
    notes = [Message(code, jobs=[*map(seen.called, dict.fromkeys(uids))], why=why)
             for code, uids in (("not_preemptable", kept),
                                ("not_running", [task.job for task in bound])) if uids]
    return Cause(f"{action}_no_candidates", [said, *notes],
                 {"not_reclaimable": closed, "kept": kept}, claims)


def _not_reclaimable(seen: Evidence, job: JobInfo) -> dict[str, Amounts]:
    """Other queues that have `reclaimable: false`, with what they hold of the resources that the
    job waits for.
    """
    found: dict[str, Amounts] = {}
    wanted = _wanted(job)
    for name, queue in seen.ssn.queues.items():
        sums = seen.trace.start["queues"].get(name)
        if sums is None or name == job.queue or queue.reclaimable:
            continue
        names = over(sums["allocated"], sums["deserved"]).keys() & wanted or wanted
        held = {each: amount for each, amount in sums["allocated"].items()
                if amount and each in names}
        found |= {name: held} if held else {}
    return found


def _wanted(job: JobInfo) -> dict[str, None]:
    """The resources that pods of the job wait for."""
    return dict.fromkeys(name for task in unplaced(job)
                         for name in over(amounts(task.init_resreq), {}))


def _protected(seen: Evidence, job: JobInfo, answers: list[Record]) -> Iterator[Cause]:
    """Yield a cause for each plugin that allows none of its candidates."""
    plugins = grouped((record["plugin"], record) for record in answers)
    for calls in plugins.values():
        candidates = sorted({task for record in calls for task in record["candidates"]})
        if candidates and calls[0]["answer"][1] and not any(
                record["answer"][0] for record in calls):
            yield _protects(seen, job, calls, candidates)
            yield from _too(seen, calls[-1], plugins, candidates)


def _too(seen: Evidence, call: Record, asked: Iterable[str], candidates: list[str]
         ) -> Iterator[Cause]:
    """Yield a cause for each plugin that was not asked any more, and would allow none either."""
    tasks = [seen.tasks[key] for key in candidates]
    for plugin, kept, why in keepers(seen, call["point"], tasks):
        if plugin not in asked and kept == len(tasks):
            yield Cause(PROTECTION[plugin], Message("candidates.too", plugin=plugin, why=why),
                        {"candidates": candidates, "plugin": plugin, "action": call.action})


def keepers(seen: Evidence, point: str, tasks: list[TaskInfo]
            ) -> Iterator[tuple[str, int, Message]]:
    """Yield the plugins that protect some tasks for what they are: (plugin, how many, why)."""
    for plugin in [name for name in LASTING if tasks and name in seen.plugins(point)]:
        allowed = seen.ssn.points[point].functions[plugin](tasks[0], tasks)[0]
        if len(allowed) < len(tasks):
            yield plugin, len(tasks) - len(allowed), protection(
                plugin, budgets=budgets_of(seen, tasks))


def refusing(seen: Evidence, point: str, claimant: TaskInfo, tasks: list[TaskInfo]) -> list[str]:
    """Return the plugins that allow a claimant none of some tasks, those for what they are apart.
    """
    asked = {plugin: seen.ssn.points[point].functions[plugin](claimant, tasks)
             for plugin in seen.plugins(point) if plugin not in LASTING}
    return [plugin for plugin, (allowed, vote) in asked.items() if vote and not allowed]


def first_node(seen: Evidence, action: str, nodes: list[str]) -> Message | None:
    """Return in which order an action looks at nodes, as fewer evictions elsewhere may be enough;
    None where it compares them by their victims.
    """
    compares = seen.ssn.conf.action_arguments(action).get_bool(TOPOLOGY_AWARE, False)
    return None if compares else Message(f"evict.first.{action}", nodes=nodes)


def protection(plugin: str, **facts: Any) -> Message:
    """Why a plugin protects pods."""
    code = PROTECTION.get(plugin, "protected")
    labels = code == "protected_by_pdb" and not facts.get("budgets")
    return Message(f"{code}{'.labels' * labels}{'.claimant' * facts.get('revocable', 0)}", **facts)


def _protects(seen: Evidence, job: JobInfo, calls: list[Record], candidates: list[str]) -> Cause:
    """Why a plugin allows none of the candidates."""
    plugin, action = calls[0]["plugin"], calls[0].action
    owners = dict.fromkeys(seen.trace.start["tasks"][task]["job"] for task in candidates)
    code = PROTECTION.get(plugin, "protected")
    least, more = min(seen.ssn.jobs[uid].priority for uid in owners), None
    numbers = {"candidates": candidates, "plugin": plugin, "action": action, "least": least,
               "owners": [*owners]}
    claimant = seen.tasks[calls[-1]["task"]]
    facts: dict[str, Any] = {"least": least, "priority": job.priority, "revocable": bool(
        code == "protected_by_tdm" and (claimant.preemptable or claimant.revocable_zone))}
    if code == "victims_within_deserved":
        queues = [*dict.fromkeys(seen.ssn.jobs[uid].queue for uid in owners)]
        wanted = over(amounts(claimant.init_resreq), {})
        numbers |= {"queues": queues, "short_of": wanted}
        facts |= {"reasons": _verdicts(seen, calls),
                  "sums": [_sums(seen, calls[-1], each) for each in queues[:2]]}
        more = _contradicted(seen, calls[-1], candidates) or _deserved_in_sum(
            seen, wanted) or _shared_with_strangers(seen, job, plugin, wanted)
    elif code == "not_less_important":
        numbers["classes"], more = _own_priorities(seen, job, candidates)
    elif code == "protected_by_cooldown":
        more = Message("cooldown.until", moment=moment_text(min(
            cooled(seen.tasks[key].pod) for key in candidates)))
    elif code == "protected_by_pdb":
        facts["budgets"] = budgets_of(seen, [seen.tasks[key] for key in candidates])
        numbers["budgets"] = [each.facts["budget"] for each in facts["budgets"]]
    said = Message("candidates", action=action, n=len(candidates), plugin=plugin,
                   why=protection(plugin, **facts), jobs=[*map(seen.called, owners)])
    return Cause(code, [said, more], numbers, calls[:3])


def _own_priorities(seen: Evidence, job: JobInfo, candidates: list[str]
                    ) -> tuple[dict[str, str], Message | None]:
    """The PriorityClass of candidates that are less important than the job, by their jobs, which
    are not; and that it does not count.
    """
    specs = [(seen.tasks[key].job, seen.tasks[key].pod.spec) for key in candidates]
    own = {uid: spec for uid, spec in specs if (spec.priority or 0) < job.priority}
    said = Message("not_less_important.pods", jobs=[*map(seen.called, own)], least=min(
        spec.priority or 0 for spec in own.values())) if own else None
    return {uid: spec.priority_class_name for uid, spec in own.items()
            if spec.priority_class_name}, said


def _contradicted(seen: Evidence, call: Record, candidates: list[str]) -> Message | None:
    """That the other one of two plugins that compute shares allows some of the candidates."""
    tasks = [seen.tasks[key] for key in candidates]
    for other in (SHARES - {call["plugin"]}).intersection(seen.plugins(call["point"])):
        allowed = seen.ssn.points[call["point"]].functions[other](seen.tasks[call["task"]], tasks)
        if allowed[0]:
            return Message("shares_disagree", plugin=call["plugin"], other=other, n=len(allowed[0]))
    return None


def _deserved_in_sum(seen: Evidence, wanted: Iterable[str]) -> Message | None:
    """That queues deserve more than the cluster has, where spec.deserved decides."""
    parents = {ROOT_QUEUE} | {queue.queue.spec.parent for queue in seen.ssn.queues.values()}
    due = amounts(total(Resource.from_list(queue.queue.spec.deserved) for name, queue
                        in seen.ssn.queues.items() if name not in parents))
    there = amounts(seen.ssn.total_resource)
    names = over(part(due, wanted), there)
    return Message("deserved.sum", deserved=part(due, names), there=part(there, names)
                   ) if names and "capacity" in seen.ssn.plugins else None


def _shared_with_strangers(seen: Evidence, job: JobInfo, plugin: str, wanted: Iterable[str]
                           ) -> Message | None:
    """That proportion divides among queues, of which the job's has less than it deserves, also what
    pods hold that Volcano does not schedule.
    """
    sums = seen.sums(job.queue, wanted)
    owed = over(sums.get("deserved", {}), sums.get("allocated", {}))
    held = held_by_strangers(seen, [*owed], seen.ssn.nodes)[0][:1] if plugin == "proportion" else []
    return Message("deserved.strangers", taken=held[0].facts["taken"]) if held else None


def budgets_of(seen: Evidence, pods: Iterable[TaskInfo]) -> list[Message]:
    """Return the PodDisruptionBudgets that select some pods, and what they allow."""
    return [Message("budget", budget=budget.key, n=budget.status.disruptions_allowed)
            for budget, selector in selecting(seen.ssn)
            if any(budget.namespace == task.namespace
                   and selector.matches(task.pod.metadata.labels) for task in pods)]


def _sums(seen: Evidence, record: Record | None, queue: str, names: Iterable[str] = ()
          ) -> Message | None:
    """What a queue holds at a moment and deserves, of some resources or all."""
    sums = {} if seen.brief else seen.sums(queue, names, record)
    return Message("queue.sums_of", **sums) if sums.get("deserved") else None


def _verdicts(seen: Evidence, calls: list[Record]) -> list[Message]:
    """Why capacity allows none of the candidates."""
    asked = {record["task"] for record in calls}
    verdicts = dict.fromkeys(record["verdict"] for record in seen.of("reclaimee")
                             if record["reclaimer"] in asked and record["verdict"] != "victim")
    return [Message(f"reclaim.{each}") for each in verdicts or ["within_deserved"]]


def _not_enough(seen: Evidence, job: JobInfo, answers: list[Record], action: str) -> Cause:
    """That the plugins allow some pods, and these are not enough: more than the minimum is asked
    for, no single node has enough of them, or the plugins allow different ones.
    """
    least = job.min_available
    if not seen.ssn.job_starving(job):
        return Cause.of("minimum_promised", records=answers[-1:], action=action, least=least)
    combined = [record for record in seen.of("asked", point=POINTS[action])
                if seen.tasks[record["task"]].job == job.uid]
    agreed = [record for record in combined if record["answer"]]
    made = {record["task"] for record in seen.in_action(action, "do", job=job.uid)
            if record["operation"] == "pipeline"}
    if made and not seen.in_action(action, "commit", job=job.uid):
        return Cause("victims_insufficient", Message(
            "victims_insufficient.gang", action=action, made=len(made), least=least),
            {"made": len(made)}, agreed[:3])
    if combined and not agreed:
        return Cause.of("victims_disagree", records=answers[:3], action=action)
    return Cause("victims_insufficient", _most_freed(seen, agreed, action), {},
                 agreed[:3] or answers[:3])


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
                    pods=Message("pods", n=len(keys)), sums=[_sums(seen, None, name, short)
                                                             for name in queues]
                    if action == "reclaim" else None)
    return found


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
            sums = seen.sums(name, more)
            yield Cause("no_reclaim_action", Message(f"no_reclaim_action{closed}", **sums), sums,
                        context=True)
            return


def _no_preempt(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield the jobs of a lower priority in its queue that hold what this job waits for, where the
    configuration has no preempt.
    """
    wanted = _wanted(job)
    lower = [seen.called(other.uid) for other in less_important(seen.ssn, job)
             if any(map(other.allocated.get, wanted))]
    if lower and "priority" in seen.ssn.plugins:
        yield Cause("no_preempt_action", Message(
            "no_preempt_action", n=len(lower), jobs=lower, queue=job.queue), context=True)


def less_important(ssn: Session, job: JobInfo) -> list[JobInfo]:
    """Return the jobs in its queue that preempt could evict for a job: those of a lower priority,
    where priorities count.
    """
    by_priority = "priority" in ssn.plugins
    return [other for other in ssn.jobs.values()
            if other.queue == job.queue and other is not job and not other.allocated.is_empty()
            and (not by_priority or other.priority < job.priority)]


def evicted_for(seen: Evidence, job: JobInfo) -> dict[tuple[str, str], dict[str, Record]]:
    """Return the job's pods that leave and that this cycle evicts, each with its record, by action
    and the job that gets the place.
    """
    found: dict[tuple[str, str], dict[str, Record]] = defaultdict(dict)
    leaving = {task.key for task in job.in_status(RELEASING).values()}
    for record in [each for each in seen.of("victims") if each.get("task")]:
        for pod in [pod for pod in record["chosen"] if pod in leaving]:
            found[record["action"], seen.tasks[record["task"]].job][pod] = record
    return found


def shuffled(seen: Evidence, job: JobInfo) -> list[Message]:
    """Return which of a job's pods this cycle evicts for no other pod, and which plugins choose
    them.
    """
    leaving = {task.key for task in job.in_status(RELEASING).values()}
    found = {record["action"]: [pod for pod in record["chosen"] if pod in leaving]
             for record in seen.of("victims") if not record.get("task")}
    plugins = seen.plugins("victim_tasks")
    return [Message("evict.shuffled", action=action, pods=pods, plugins=plugins)
            for action, pods in found.items() if pods]


def victim_causes(seen: Evidence, task: str) -> Iterator[Cause]:
    """Yield for which pod another one was evicted, which plugins allowed it, and which were not
    asked.
    """
    for record in [each for each in seen.of("victims") if task in each["chosen"]]:
        claimant, action = record.get("task"), record["action"]
        if claimant is None:
            yield Cause.of("shuffled", records=[record], action=action)
            continue
        point = POINTS.get(action, "preemptable")
        asked = [earlier for earlier in seen.of("asked", point=point, task=claimant)
                 if earlier.number < record.number]
        calls = seen.trace.calls_of(asked[-1]) if asked else list(seen.of(point, task=claimant))
        calls = [call for call in calls if call["tier"] == calls[-1]["tier"]]
        named = [call["plugin"] for call in calls if task in call["answer"][0]]
        count, chosen = len(record.get("candidates") or record["chosen"]), len(record["chosen"])
        said = Message("victim", action=action, node=record.get("node"), pod=claimant,
                       plugins=named or [Message("victim.no_plugin")], chosen=chosen, count=count)
        yield Cause("victim", said, {"named_by": named, "actions": [action],
                                     "winners": [seen.tasks[claimant].job]}, [*calls, record])
        victim, winner = (seen.ssn.jobs[seen.tasks[key].job] for key in (task, claimant))
        yield from _more_important(seen, victim, winner) if action == "preempt" else ()
        beyond = winner.min_available < len(winner.tasks)
        if beyond and seen.plugins("job_starving") == ["priority"]:
            yield Cause.of("starving_beyond", context=True, job=seen.called(winner.uid),
                           least=winner.min_available)
        if action == "reclaim":
            yield from _queue_of_victim(seen, victim.queue, {*seen.plugins(point)} - {
                call["plugin"] for call in calls})


def _more_important(seen: Evidence, victim: JobInfo, winner: JobInfo) -> Iterator[Cause]:
    """Yield that a job of lower priority gets the place, as plugin priority is not asked."""
    if victim.priority > winner.priority:
        absent = "" if "priority" in seen.ssn.plugins else ".absent"
        said = Message(f"less_important_claimant{absent}", victim=seen.called(victim.uid),
                       priority=victim.priority, claimant=seen.called(winner.uid),
                       other=winner.priority)
        yield Cause("less_important_claimant", said, {"priority": victim.priority,
                                                      "claimant": winner.priority}, context=True)


def _queue_of_victim(seen: Evidence, queue: str, unasked: set[str]) -> Iterator[Cause]:
    """Yield what the victim's queue holds and deserves, and the plugin that compares them where it
    was not asked.
    """
    known = seen.trace.start["queues"].get(queue, {"allocated": {}, "deserved": {}})
    more = over(known["allocated"], known["deserved"])
    sums, later = seen.sums(queue, more), sorted(unasked & SHARES)
    if sums.get("deserved") and (later or more):
        said = [Message("queue_of_victim", **sums),
                Message("queue_of_victim.later", plugin=later[0]) if later else None]
        yield Cause("queue_over_deserved" if more else "queue_within_deserved", said,
                    sums | {"later": later}, context=True)
