"""What protects pods from eviction: the plugins that allow none of some candidates, and why.

Volcano: none
"""

from collections.abc import Iterable, Iterator
from typing import Any

from volcano_lab.api import ROOT_QUEUE, JobInfo, Resource, TaskInfo, total
from volcano_lab.explain import lint, pages
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Cause, moment_text, over, part
from volcano_lab.explain.holders import held_by_strangers
from volcano_lab.messages import Message
from volcano_lab.plugins import cdp, pdb
from volcano_lab.trace import Record, amounts, grouped

PROTECTION = pages.TABLES["protection"]
"""Plugin -> the code of why it allows no candidate."""
LASTING = ("conformance", "cdp", "pdb")
"""Plugins that protect a pod for what it is, whoever asks."""
CONDITIONS = [plugin for plugin, code in PROTECTION.items()
              if code in ("not_less_important", "victims_within_deserved")]
"""Plugins that compare the claimant with the owners of pods: priorities, shares of queues."""


def protected_causes(seen: Evidence, job: JobInfo, answers: list[Record]) -> Iterator[Cause]:
    """Yield a cause for each plugin that allows none of its candidates."""
    plugins, said = grouped((record["plugin"], record) for record in answers), list[list[str]]()
    for calls in plugins.values():
        candidates = sorted({task for record in calls for task in record["candidates"]})
        if candidates and calls[0]["answer"][1] and not any(
                record["answer"][0] for record in calls):
            yield _protects(seen, job, calls, candidates, candidates in said)
            said.append(candidates)
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


def protection(plugin: str, **facts: Any) -> Message:
    """Why a plugin protects pods."""
    code = PROTECTION.get(plugin, "protected")
    labels = code == "protected_by_pdb" and not facts.get("budgets")
    return Message(f"{code}{'.labels' * labels}{'.claimant' * facts.get('revocable', 0)}", **facts)


def _protects(seen: Evidence, job: JobInfo, calls: list[Record], candidates: list[str],
              also: bool) -> Cause:
    """Why a plugin allows none of the candidates; `also` where one was named that does not."""
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
                  "sums": [sums_of(seen, calls[-1], each) for each in queues[:2]]}
        more = _contradicted(seen, calls[-1], candidates) or _deserved_in_sum(
            seen, wanted) or _shared_with_strangers(seen, job, plugin, wanted)
    elif code == "not_less_important":
        numbers["classes"], more = _own_priorities(seen, job, candidates)
    elif code == "protected_by_cooldown":
        more = Message("cooldown.until", moment=moment_text(min(
            cdp.cooled(seen.tasks[key].pod) for key in candidates)))
    elif code == "protected_by_pdb":
        facts["budgets"] = budgets_of(seen, [seen.tasks[key] for key in candidates])
        numbers["budgets"] = [each.facts["budget"] for each in facts["budgets"]]
    return Cause(code, [Message(
        "candidates.also" if also else "candidates", action=action, n=len(candidates),
        plugin=plugin, why=protection(plugin, **facts), jobs=[*map(seen.called, owners)]), more],
        numbers, calls[:3])


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
    for other in (lint.SHARES - {call["plugin"]}).intersection(seen.plugins(call["point"])):
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
            for budget, selector in pdb.selecting(seen.ssn)
            if any(budget.namespace == task.namespace
                   and selector.matches(task.pod.metadata.labels) for task in pods)]


def sums_of(seen: Evidence, record: Record | None, queue: str, names: Iterable[str] = ()
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
