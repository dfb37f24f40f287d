"""Why nobody makes room for a job (reclaim, preempt), and why a pod became a victim."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from volcano_lab.api import JobInfo, Resource, total
from volcano_lab.explain.evidence import POINTS, Evidence
from volcano_lab.explain.explanation import Amounts, Cause, part
from volcano_lab.explain.holders import priority_note
from volcano_lab.messages import Message
from volcano_lab.trace import Record
from volcano_lab.trace.kinds import passed
from volcano_lab.trace.plain import amounts

PROTECTION = {"gang": "protected_by_gang", "conformance": "protected_by_conformance",
              "priority": "not_less_important", "drf": "protected_by_drf",
              "cdp": "protected_by_cooldown", "pdb": "protected_by_pdb"}
"""Plugin -> the code of why it allows none of the candidates."""


def eviction_causes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Why reclaim and preempt made no room for the job's pods; context, where allocate could have
    placed them, too.
    """
    context = "allocate" in seen.ssn.enabled_actions
    actions = [action for action in POINTS if action in seen.ssn.enabled_actions]
    if actions and context and _content(seen, job, actions):
        yield Cause("gang_content", Message("gang_content", n=len(actions), actions=actions,
                                            least=job.min_available),
                    {"min_available": job.min_available}, context=True)
        return
    for action in actions:
        if context and not _holds(seen, job, action):
            continue
        for cause in _attempt(seen, job, action):
            cause.context = context
            yield cause
    if "reclaim" not in seen.ssn.enabled_actions:
        yield from _no_reclaim(seen, job)


def _holds(seen: Evidence, job: JobInfo, action: str) -> bool:
    """Whether there are pods from which one may think that an action takes: those of other queues,
    others of its own, and for preempt those of a lower priority anywhere.
    """
    preempt = action == "preempt"
    return any(
        other is not job and any(task.node_name for task in other.tasks.values())
        and ((other.queue == job.queue) == preempt or (preempt and other.priority < job.priority))
        for other in seen.ssn.jobs.values())


def _asked_of_starving(seen: Evidence) -> list[str]:
    """The plugins that say whether a job starves."""
    return [plugin for tier in seen.ssn.points["job_starving"].tiers for plugin, _ in tier]


def _content(seen: Evidence, job: JobInfo, actions: list[str]) -> bool:
    """Whether nobody tried to make room, as gang calls no job starving that has its minimum."""
    return "gang" in _asked_of_starving(seen) and not job.is_starving() and not any(
        seen.calls_about(job, "claimant", action) for action in actions)


def _attempt(seen: Evidence, job: JobInfo, action: str) -> Iterator[Cause]:
    overused = seen.in_action(action, "passed_over", queue=job.queue)
    claims = seen.calls_about(job, "claimant", action)
    if not claims:
        for record in overused[:1]:
            yield Cause(f"{action}_overused", Message("attempt.overused", action=action, sums=_sums(
                seen, record, job.queue)), {}, [record], context=True)
        return
    skipped = seen.calls_about(job, "passed_over", action)
    for record in skipped[:1]:
        asked = [each for each in seen.in_action(action, "preemptive")
                 if each["task"] == record["task"]]
        said = Message("attempt.not_eligible", action=action, pod=record["task"],
                       reason=passed(record),
                       sums=_sums(seen, record, job.queue) if asked else None)
        yield Cause(f"{action}_not_eligible", said, {}, [record, *asked], context=True)
    answers = seen.calls_about(job, POINTS[action], action)
    if answers or not seen.ssn.job_starving(job):
        protected = list(_who_protects(seen, job, answers, action))
        yield from protected or _not_enough(seen, job, answers, action)
    elif not skipped:
        yield _no_candidates(seen, job, action, claims[:1])


def _no_candidates(seen: Evidence, job: JobInfo, action: str, claims: list[Record]) -> Cause:
    """That no pod may be evicted at all, and whose pods are kept by what their authors wrote."""
    closed = _not_reclaimable(seen, job) if action == "reclaim" else {}
    kept = dict.fromkeys(uid for uid, other in seen.ssn.jobs.items() if (
        other.queue == job.queue) == (action == "preempt") and any(
            task.node_name and not task.preemptable for task in other.tasks.values()))
    said = Message("no_candidates.closed", queues=[
        Message("queue.holds", queue=name, held=held, deserved=part(
            seen.trace.start["queues"][name]["deserved"], held)) for name, held in closed.items()]
    ) if closed else Message(f"no_candidates.{action}")
    alone = Message("not_preemptable", jobs=[*map(seen.called, kept)]) if kept else None
    return Cause(f"{action}_no_candidates", [said, alone],
                 {"not_reclaimable": closed, "kept": list(kept)}, claims, True)


def _not_reclaimable(seen: Evidence, job: JobInfo) -> dict[str, Amounts]:
    """Other queues that say so, with what they hold of the resources that the job waits for."""
    wanted, queues = _wanted(seen, job), seen.trace.start["queues"]
    closed = [name for name, queue in seen.ssn.queues.items()
              if name != job.queue and not queue.reclaimable and name in queues]
    more = {name: [each for each in _more(queues[name]) if each in wanted] for name in closed}
    held = {name: {each: amount for each, amount in queues[name]["allocated"].items()
                   if amount and each in (more[name] or wanted)} for name in closed}
    return {name: has for name, has in held.items() if has}


def _wanted(seen: Evidence, job: JobInfo) -> list[str]:
    """The resources that pods of the job wait for."""
    tasks = seen.trace.start["tasks"]
    return list(dict.fromkeys(
        name for task in job.tasks.values() if not task.node_name
        for name, amount in tasks[task.key]["request"].items() if amount and name != "pods"))


def _who_protects(seen: Evidence, job: JobInfo, answers: list[Record],
                  action: str) -> Iterator[Cause]:
    """One cause a plugin that named nobody although there were candidates."""
    for plugin in dict.fromkeys(record["plugin"] for record in answers):
        mine = [record for record in answers if record["plugin"] == plugin]
        candidates = sorted({task for record in mine for task in record["candidates"]})
        named = {task for record in mine for task in record["answer"][0]}
        if not candidates or named or mine[0]["answer"][1] == 0:
            continue
        yield _protects(seen, job, mine, candidates)


def _protects(seen: Evidence, job: JobInfo, calls: list[Record], candidates: list[str]) -> Cause:
    """Why a plugin allowed none of the candidates."""
    plugin, action = calls[0]["plugin"], calls[0].action
    owners = dict.fromkeys(seen.trace.start["tasks"][task]["job"] for task in candidates)
    least = min(seen.ssn.jobs[uid].priority for uid in owners)
    numbers = {"candidates": candidates, "plugin": plugin, "action": action, "least": least,
               "owners": [*owners]}
    more: Message | None = None
    if plugin in ("proportion", "capacity"):
        code, queues = "victims_within_deserved", [*dict.fromkeys(
            seen.ssn.jobs[uid].queue for uid in owners)]
        wanted = amounts(seen.tasks[calls[-1]["task"]].init_resreq)
        numbers |= {"queues": queues, "short_of": {
            name: amount for name, amount in wanted.items() if name != "pods"}}
        why = Message(code, reasons=_verdicts(seen, calls),
                      sums=[*filter(None, (_sums(seen, calls[-1], each) for each in queues[:2]))])
        more = _promised_twice(seen, wanted)
    else:
        code, budgets = PROTECTION.get(plugin, "protected"), _budgets(seen, candidates)
        labels = ".labels" if code == "protected_by_pdb" and not budgets else ""
        why = Message(f"{code}{labels}", least=least, priority=job.priority, budgets=budgets)
        more = priority_note(seen, job) if code == "not_less_important" else None
    said = Message("candidates", action=action, n=len(candidates), plugin=plugin, why=why,
                   jobs=[*map(seen.called, owners)])
    return Cause(code, [said, more], numbers, calls[:3], context=True)


def _promised_twice(seen: Evidence, wanted: Iterable[str]) -> Message | None:
    """That queues deserve more than the cluster has, where their authors say what they deserve."""
    parents = {queue.queue.spec.parent for queue in seen.ssn.queues.values()}
    due = total(Resource.from_list(queue.queue.spec.deserved) for name, queue
                in seen.ssn.queues.items() if name not in parents)
    there = amounts(seen.ssn.total_resource)
    over = [name for name in wanted if due.get(name) > there.get(name, 0.0)]
    return Message("deserved.sum", deserved=part(amounts(due), over), there=part(there, over)
                   ) if over and "capacity" in seen.ssn.plugins else None


def _budgets(seen: Evidence, candidates: list[str]) -> list[Message]:
    """The PodDisruptionBudgets that select some pods, and what they allow."""
    pods = [seen.tasks[key] for key in candidates if key in seen.tasks]
    budgets = getattr(seen.ssn.plugins.get("pdb"), "budgets", ())
    return [Message("budget", budget=budget.key, allowed=budget.status.disruptions_allowed)
            for budget, selector in budgets
            if any(budget.namespace == task.namespace
                   and selector.matches(task.pod.metadata.labels) for task in pods)]


def _sums(seen: Evidence, record: Record, queue: str) -> Message | None:
    """What a queue holds at a moment and deserves, of what its cause is about."""
    sums = None if seen.brief else seen.state_at(record)["queues"].get(queue)
    names = [name for name in sums["deserved"] if name != "pods"] if sums else []
    return Message("queue.sums_of", queue=queue, allocated=part(sums["allocated"], names),
                   deserved=part(sums["deserved"], names)) if names else None


def _verdicts(seen: Evidence, calls: list[Record]) -> list[Message]:
    """What capacity has against each candidate."""
    asked = {record["task"] for record in calls}
    verdicts = dict.fromkeys(record["verdict"] for record in seen.of("reclaimee")
                             if record["reclaimer"] in asked and record["verdict"] != "victim")
    return [Message(f"reclaim.{each}") for each in verdicts or ["within_deserved"]]


def _not_enough(seen: Evidence, job: JobInfo, answers: list[Record],
                action: str) -> Iterator[Cause]:
    """Every plugin named somebody, and still it wasn't enough: beyond the minimum, not on one node,
    or not the same ones.
    """
    least = job.min_available
    if not seen.ssn.job_starving(job):
        yield Cause("minimum_promised", Message("minimum_promised", action=action, least=least),
                    {"min_available": least}, answers[-1:])
        return
    combined = [record for record in seen.of("asked", point=POINTS[action])
                if seen.tasks[record["task"]].job == job.uid]
    agreed = [record for record in combined if record["answer"]]
    made = {record["task"] for record in seen.in_action(action, "do", job=job.uid)
            if record["operation"] == "pipeline"}
    if made and not seen.in_action(action, "commit", job=job.uid):
        said = Message("victims_insufficient.gang", action=action, made=len(made), least=least)
        yield Cause("victims_insufficient", said, {"made": len(made)}, agreed[:3])
    elif agreed or not combined:
        most = max((len(record["answer"]) for record in agreed), default=0)
        yield Cause("victims_insufficient", _too_few(seen, agreed, action),
                    {"most": most}, agreed[:3] or answers[:3])
    else:
        yield Cause("victims_disagree", Message("victims_disagree", action=action),
                    {"action": action}, answers[:3])


def _too_few(seen: Evidence, agreed: list[Record], action: str) -> Message:
    """What evicting all that may go would free, on the node where it is most."""
    start, found = seen.trace.start, Message("victims_insufficient", action=action)
    most = 0.0
    for record in [] if seen.brief else agreed:
        request = start["tasks"][record["task"]]["request"]
        nodes: dict[str, list[str]] = {}
        for key in record["answer"]:
            nodes.setdefault(start["tasks"][key]["node"], []).append(key)
        for node, keys in nodes.items():
            free = seen.free(record, request)[node]
            gone = {name: free[name] + sum(start["tasks"][key]["request"].get(name, 0.0)
                                           for key in keys) for name in request}
            short = [name for name in request if name != "pods" and gone[name] < request[name]]
            part_of = min((gone[name] / request[name] for name in short), default=0.0)
            if part_of > most:
                most, owners = part_of, dict.fromkeys(start["tasks"][key]["job"] for key in keys)
                queues = dict.fromkeys(seen.ssn.jobs[uid].queue for uid in owners)
                found = Message("victims_insufficient.most", action=action, node=node, free=part(
                    gone, short), request=part(request, short), jobs=[*map(seen.called, owners)],
                    pods=Message("pods", n=len(keys)), sums=[_sums_of(seen, name, short)
                                 for name in queues] if action == "reclaim" else None)
    return found


def _sums_of(seen: Evidence, queue: str, names: list[str]) -> Message | None:
    """What a queue held and deserves of some resources when the cycle began."""
    sums = seen.trace.start["queues"].get(queue)
    return Message("queue.sums_of", queue=queue, allocated=part(sums["allocated"], names),
                   deserved=part(sums["deserved"], names)) if sums else None


def _no_reclaim(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """A queue waits for what it deserves while another holds more than that, and nothing takes it
    back.
    """
    queues = seen.trace.start["queues"]
    mine = queues.get(job.queue)
    due_to_it = [name for name in _wanted(seen, job) if mine and mine["deserved"].get(
        name, 0.0) > mine["allocated"].get(name, 0.0)]
    over = {name: [each for each in _more(queue) if each in due_to_it]
            for name, queue in queues.items() if name != job.queue}
    for name, names in [(name, names) for name, names in over.items() if names][:1]:
        numbers = {each: part(queues[name][each], names) for each in ("allocated", "deserved")}
        open_to_it = seen.ssn.queues[name].reclaimable
        said = Message("no_reclaim_action" if open_to_it else "no_reclaim_action.closed",
                       queue=name, held=numbers["allocated"], deserved=numbers["deserved"])
        yield Cause("no_reclaim_action", said, numbers, context=True)


def _more(queue: dict[str, dict[str, float]]) -> list[str]:
    return [name for name, amount in queue["allocated"].items() if name != "pods"
            and amount > queue["deserved"].get(name, 0.0)]


def victim_causes(seen: Evidence, task: str) -> Iterator[Cause]:
    """For whom a pod was evicted, who named it and who could have kept it."""
    for record in seen.of("victims"):
        if task not in record["chosen"]:
            continue
        claimant, action = record.get("task"), record["action"]
        if claimant is None:
            yield Cause("shuffled", Message("shuffled", action=action), {}, [record])
            continue
        point = POINTS.get(action, "preemptable")
        asked = [earlier for earlier in seen.of("asked", point=point, task=claimant)
                 if earlier.number < record.number]
        calls = seen.trace.calls_of(asked[-1]) if asked else list(seen.of(point, task=claimant))
        calls = [call for call in calls if call["tier"] == calls[-1]["tier"]]
        named = [call["plugin"] for call in calls if task in call["answer"][0]]
        count, chosen = len(record.get("candidates") or record["chosen"]), len(record["chosen"])
        said = Message("victim", action=action, node=record.get("node"), pod=claimant,
                       plugins=named or [Message("victim.nobody")], chosen=chosen, count=count)
        yield Cause("victim", said, {"named_by": named, "actions": [action],
                                     "winners": [seen.tasks[claimant].job]}, [*calls, record])
        yield from _for_less_important(seen, task, record)
        yield from _beyond_minimum(seen, record)
        yield from _queue_of_victim(seen, task, record, {plugin for plugin, _ in chain(
            *seen.ssn.points[point].tiers)} - {call["plugin"] for call in calls})


def _for_less_important(seen: Evidence, task: str, record: Record) -> Iterator[Cause]:
    """That it goes for a job of lower priority, as the plugin that compares them is not asked."""
    victim, claimant = (seen.ssn.jobs[seen.tasks[key].job] for key in (task, record["task"]))
    if record["action"] == "preempt" and victim.priority > claimant.priority:
        absent = "" if "priority" in seen.ssn.plugins else ".absent"
        said = Message(f"less_important_claimant{absent}", victim=seen.called(victim.uid),
                       priority=victim.priority, claimant=seen.called(claimant.uid),
                       other=claimant.priority)
        yield Cause("less_important_claimant", said, {"priority": victim.priority,
                                                      "claimant": claimant.priority}, context=True)


def _beyond_minimum(seen: Evidence, record: Record) -> Iterator[Cause]:
    """That room is made for more of a gang than its minimum."""
    job = seen.ssn.jobs[seen.trace.start["tasks"][record["task"]]["job"]]
    if _asked_of_starving(seen) == ["priority"] and job.min_available < len(job.tasks):
        said = Message("starving_beyond", job=seen.called(job.uid), least=job.min_available)
        yield Cause("starving_beyond", said, {"min_available": job.min_available}, context=True)


def _queue_of_victim(seen: Evidence, task: str, record: Record,
                     unasked: set[str]) -> Iterator[Cause]:
    """What its queue holds and deserves, for reclaim; and that who compares them was not asked."""
    queue = seen.ssn.jobs[seen.trace.start["tasks"][task]["job"]].queue
    sums = seen.trace.start["queues"].get(queue)
    names = sums and (_more(sums) or [name for name in sums["deserved"] if name != "pods"])
    later = sorted(unasked & {"proportion", "capacity"})
    if record["action"] != "reclaim" or not names or not (later or _more(sums)):
        return
    numbers = {each: part(sums[each], names) for each in ("allocated", "deserved")}
    said = [Message("queue_of_victim", queue=queue, held=numbers["allocated"],
                    deserved=numbers["deserved"]),
            Message("queue_of_victim.later", plugin=later[0]) if later else None]
    yield Cause("queue_over_deserved" if _more(sums) else "queue_within_deserved", said,
                numbers | {"later": later}, context=True)
