"""Why nobody makes room for a job (reclaim, preempt), and why a pod became a victim."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from volcano_lab.api import JobInfo, Resource, total
from volcano_lab.explain.evidence import POINTS, Evidence
from volcano_lab.explain.explanation import Amounts, Cause, amounts_text, part
from volcano_lab.explain.holders import priority_note
from volcano_lab.messages import listed
from volcano_lab.trace import Record
from volcano_lab.trace.plain import amounts

PROTECTION = {"gang": ("protected_by_gang", "their gangs would fall below their minimum"),
              "conformance": ("protected_by_conformance", "they are critical"),
              "priority": ("not_less_important", "they are no less important"),
              "drf": ("protected_by_drf",
                      "their jobs would then have a smaller dominant share than the claimant's"),
              "cdp": ("protected_by_cooldown", "they run for less than their cooldown time"),
              "pdb": ("protected_by_pdb", "a PodDisruptionBudget keeps them"),}
"""Plugin -> (code, why it lets none of the candidates go)."""


def eviction_causes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Why reclaim and preempt made no room for the job's pods; context, where allocate could have
    placed them, too.
    """
    context = "allocate" in seen.ssn.enabled_actions
    actions = [action for action in POINTS if action in seen.ssn.enabled_actions]
    if actions and context and _content(seen, job, actions):
        text = (f"Its gang has its minimum of {job.min_available}, so {' and '.join(actions)} "
                f"evict{'s' * (len(actions) == 1)} nobody for more of it.")
        yield Cause("gang_content", text, {"min_available": job.min_available}, context=True)
        return
    for action in actions:
        for cause in _attempt(seen, job, action):
            cause.context = context
            yield cause
    if "reclaim" not in seen.ssn.enabled_actions:
        yield from _no_reclaim(seen, job)


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
        if overused:
            text = (f"{action} does nothing for it: its queue {job.queue} is overused already"
                    f"{_sums(seen, overused[0], job.queue)}.")
            yield Cause(f"{action}_overused", text, {}, overused[:1], context=True)
        return
    for record in seen.calls_about(job, "passed_over", action)[:1]:
        sums = _sums(seen, record, job.queue) if "queue may not" in record["reason"] else ""
        yield Cause(f"{action}_not_eligible",
                    f"{action} does nothing for pod {record['task']}: {record['reason']}{sums}.",
                    {}, [record, *(each for each in seen.in_action(action, "preemptive")
                                   if each["task"] == record["task"])], context=True)
    answers = seen.calls_about(job, POINTS[action], action)
    if answers or not seen.ssn.job_starving(job):
        protected = list(_who_protects(seen, job, answers, action))
        yield from protected or _not_enough(seen, job, answers, action)
    elif not seen.calls_about(job, "passed_over", action):
        closed = _not_reclaimable(seen, job) if action == "reclaim" else {}
        whose = "other queues" if action == "reclaim" else "its own queue"
        text = f"{action} finds no node where the pods of {whose} could make room for it."
        if closed:
            held = listed(f"{name} (it holds {amounts_text(has)})" for name, has in closed.items())
            one = len(closed) == 1
            text = (f"reclaim takes nothing from queue{'' if one else 's'} {held}: "
                    f"{'its' if one else 'their'} spec says reclaimable: false.")
        kept = dict.fromkeys(uid for uid, other in seen.ssn.jobs.items() if (
            other.queue == job.queue) == (action == "preempt") and any(
                task.node_name and not task.preemptable for task in other.tasks.values()))
        if kept:
            whose = listed(map(seen.called, kept), 3)
            text += f" Pods of {whose} say volcano.sh/preemptable: false."
        numbers = {"not_reclaimable": closed, "kept": list(kept)}
        yield Cause(f"{action}_no_candidates", text, numbers, claims[:1], True)


def _not_reclaimable(seen: Evidence, job: JobInfo) -> dict[str, Amounts]:
    """Other queues that say so, with what they hold of the resources that the job waits for."""
    wanted, queues = _wanted(seen, job), seen.trace.start["queues"]
    held = {name: {each: amount for each in wanted if (amount := queues[name]["allocated"].get(
        each))} for name, queue in seen.ssn.queues.items()
        if name != job.queue and not queue.reclaimable and name in queues}
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
        owners = dict.fromkeys(seen.trace.start["tasks"][task]["job"] for task in candidates)
        if plugin in ("proportion", "capacity"):
            queues = dict.fromkeys(seen.ssn.jobs[uid].queue for uid in owners)
            held = "".join(_sums(seen, mine[-1], queue) for queue in list(queues)[:2])
            code, why = "victims_within_deserved", (_verdicts(seen, mine) or (
                "their queues hold no more than they deserve")) + held
        else:
            code, why = PROTECTION.get(plugin, ("protected", "it says so"))
        if code == "protected_by_pdb":
            why += _budgets(seen, candidates)
        least = min(seen.ssn.jobs[uid].priority for uid in owners)
        if code == "not_less_important":
            why += (f" (the lowest priority among their jobs is {least}"
                    f"{priority_note(seen, job)})")
        text = (f"{action} finds {len(candidates)} candidate{'s' * (len(candidates) > 1)} for "
                f"eviction (of {listed(map(seen.called, owners), 3)}), but {plugin} lets none of "
                f"them go: {why}.")
        numbers = {"candidates": candidates, "plugin": plugin, "action": action, "least": least,
                   "owners": [*owners]}
        if code == "victims_within_deserved":
            wanted = amounts(seen.tasks[mine[-1]["task"]].init_resreq)
            numbers |= {"queues": list(queues), "short_of": {
                name: amount for name, amount in wanted.items() if name != "pods"}}
            text += _promised_twice(seen, wanted)
        yield Cause(code, text, numbers, mine[:3], context=True)


def _promised_twice(seen: Evidence, wanted: Iterable[str]) -> str:
    """That queues deserve more than the cluster has, where their authors say what they deserve."""
    parents = {queue.queue.spec.parent for queue in seen.ssn.queues.values()}
    due = total(Resource.from_list(queue.queue.spec.deserved) for name, queue
                in seen.ssn.queues.items() if name not in parents)
    there = amounts(seen.ssn.total_resource)
    over = [name for name in wanted if due.get(name) > there.get(name, 0.0)]
    return (f" The queues deserve {amounts_text(amounts(due), over)} in sum, and the cluster has "
            f"{amounts_text(there, over)}.") if over and "capacity" in seen.ssn.plugins else ""


def _budgets(seen: Evidence, candidates: list[str]) -> str:
    """The PodDisruptionBudgets that speak for some pods, and what they allow."""
    pods = [task for job in seen.ssn.jobs.values() for task in job.tasks.values()
            if task.key in candidates]
    named = [f"{budget.key} allows {budget.status.disruptions_allowed} disruptions"
             for budget, selector in seen.ssn.plugins["pdb"].budgets
             if any(budget.namespace == task.namespace
                    and selector.matches(task.pod.metadata.labels) for task in pods)]
    return f" ({listed(named, 3)})" if named else " (this plugin keeps pods without labels)"


def _sums(seen: Evidence, record: Record, queue: str) -> str:
    """What a queue holds at a moment and deserves, of what its cause is about."""
    sums = None if seen.brief else seen.state_at(record)["queues"].get(queue)
    names = [name for name in sums["deserved"] if name != "pods"] if sums else []
    return (f" (queue {queue} holds {amounts_text(sums['allocated'], names)} and deserves "
            f"{amounts_text(sums['deserved'], names)})") if names else ""


def _verdicts(seen: Evidence, calls: list[Record]) -> str:
    """What capacity has against each candidate, in its words."""
    asked = {record["task"] for record in calls}
    return " or ".join(dict.fromkeys(
        record["verdict"] for record in seen.of("reclaimee")
        if record["reclaimer"] in asked and record["verdict"] != "victim"))


def _not_enough(seen: Evidence, job: JobInfo, answers: list[Record],
                action: str) -> Iterator[Cause]:
    """Everybody named somebody, and still it wasn't enough: beyond the minimum, not on one node, or
    not the same ones.
    """
    if not seen.ssn.job_starving(job):
        text = (f"{action} made room for its gang's minimum of {job.min_available}, "
                "and makes none beyond that.")
        yield Cause("minimum_promised", text, {"min_available": job.min_available}, answers[-1:])
        return
    combined = [record for record in seen.of("asked", point=POINTS[action])
                if seen.tasks[record["task"]].job == job.uid]
    agreed = [record for record in combined if record["answer"]]
    made = {record["task"] for record in seen.in_action(action, "do", job=job.uid)
            if record["operation"] == "pipeline"}
    if made and not seen.in_action(action, "commit", job=job.uid):
        text = (f"{action} could make room for {len(made)} of the {job.min_available} pods that "
                "its gang needs at once, and not for the others, so that nobody was evicted.")
        yield Cause("victims_insufficient", text, {"made": len(made)}, agreed[:3])
    elif agreed or not combined:
        text = (f"{action} finds pods that may go, "
                "but on no node would their going leave enough room.")
        most = max((len(record["answer"]) for record in agreed), default=0)
        yield Cause("victims_insufficient", text, {"most": most}, agreed[:3] or answers[:3])
    else:
        text = f"{action} finds no pod that all plugins of a tier let go: they name different ones."
        yield Cause("victims_disagree", text, {"action": action}, answers[:3])


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
        queue = queues[name]
        held, due = amounts_text(queue["allocated"], names), amounts_text(queue["deserved"], names)
        kept = "" if seen.ssn.queues[name].reclaimable else ", and it says reclaimable: false"
        text = (f"Queue {name} holds {held} and deserves {due}, but the configuration has no "
                f"reclaim action that would take it back{kept}.")
        yield Cause("no_reclaim_action", text, {each: part(queue[each], names) for each in (
            "allocated", "deserved")}, context=True)


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
            yield Cause("shuffled", f"{action} evicts it, as the plugins that choose victims say.",
                        {}, [record])
            continue
        point = POINTS.get(action, "preemptable")
        asked = [earlier for earlier in seen.of("asked", point=point, task=claimant)
                 if earlier.number < record.number]
        calls = seen.trace.calls_of(asked[-1]) if asked else list(seen.of(point, task=claimant))
        calls = [call for call in calls if call["tier"] == calls[-1]["tier"]]
        named = [call["plugin"] for call in calls if task in call["answer"][0]]
        count, chosen = len(record.get("candidates") or record["chosen"]), len(record["chosen"])
        enough = (f"of {count} candidates its going suffices" if chosen == 1
                  else f"it is among the {chosen} of {count} whose going suffices")
        text = (f"{action} evicts it from node {record.get('node')} for pod {claimant}: "
                f"{' and '.join(named) or 'nobody'} of the tier that decides let it go, and "
                f"{enough}.")
        yield Cause("victim", text, {"named_by": named}, [*calls, record])
        yield from _for_less_important(seen, task, record)
        yield from _beyond_minimum(seen, record)
        yield from _queue_of_victim(seen, task, record, {plugin for plugin, _ in chain(
            *seen.ssn.points[point].tiers)} - {call["plugin"] for call in calls})


def _for_less_important(seen: Evidence, task: str, record: Record) -> Iterator[Cause]:
    """That it goes for a job of lower priority, as the plugin that compares them is not asked."""
    victim, claimant = (seen.ssn.jobs[seen.tasks[key].job] for key in (task, record["task"]))
    if record["action"] == "preempt" and victim.priority > claimant.priority:
        without = ("is not asked about victims" if "priority" in seen.ssn.plugins
                   else "is not in the configuration")
        text = (f"{seen.called(victim.uid)} has priority {victim.priority}, and "
                f"{seen.called(claimant.uid)} has {claimant.priority}: plugin priority, which "
                f"compares them, {without}.")
        yield Cause("less_important_claimant", text, {"priority": victim.priority,
                                                      "claimant": claimant.priority}, context=True)


def _beyond_minimum(seen: Evidence, record: Record) -> Iterator[Cause]:
    """That room is made for more of a gang than its minimum."""
    job = seen.ssn.jobs[seen.trace.start["tasks"][record["task"]]["job"]]
    if _asked_of_starving(seen) == ["priority"] and job.min_available < len(job.tasks):
        text = (f"The minimum of {seen.called(job.uid)} is {job.min_available}, but gang, which "
                "looks at that, is not asked whether it starves (enableJobStarving): for priority "
                "it starves until all its pods have a place.")
        yield Cause("starving_beyond", text, {"min_available": job.min_available}, context=True)


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
    text = (f"Queue {queue} held {amounts_text(sums['allocated'], names)} and deserves "
            f"{amounts_text(sums['deserved'], names)}.")
    if later:
        text += (f" Plugin {later[0]}, which compares these, was not asked: the first tier that "
                 "names anybody decides, and it is in a later one.")
    yield Cause("queue_over_deserved" if _more(sums) else "queue_within_deserved", text,
                numbers | {"later": later}, context=True)
