"""What protects pods from eviction: the plugins that allow none of some candidates, and why; which
tiers decide before others.

Volcano: none
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, takewhile
from typing import Any

from volcano_lab.api import JobInfo, TaskInfo
from volcano_lab.explain import origin
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import TABLES, Cause, moment_text, over, part
from volcano_lab.explain.holders import held_by_strangers
from volcano_lab.framework import Session
from volcano_lab.manifests.schema import unstructure
from volcano_lab.messages import Message
from volcano_lab.plugins import cdp, pdb
from volcano_lab.trace import Record, amounts, grouped

PROTECTION = TABLES["protection"]
"""Plugin -> the code of why it allows no candidate."""
LASTING = ("conformance", "cdp", "pdb")
"""Plugins that protect a pod for what it is, whoever asks."""
CONDITIONS = [plugin for plugin, code in PROTECTION.items()
              if code in ("not_less_important", "victims_within_deserved")]
"""Plugins that compare the claimant with the owners of pods: priorities, shares of queues."""


Tiers = tuple[list[list[str]], int]


def protected_causes(seen: Evidence, job: JobInfo, answers: list[Record]) -> Iterator[Cause]:
    """Yield a cause for each plugin that allows none of its candidates."""
    plugins, said = grouped((record["plugin"], record) for record in answers), list[list[str]]()
    for calls in plugins.values():
        candidates = sorted({task for record in calls for task in record["candidates"]})
        if candidates and calls[0]["answer"][1] and not any(
                record["answer"][0] for record in calls):
            cause = _protects(seen, job, calls, candidates, ".also" * (candidates in said))
            cause.said = [*cause.sentences, *_next_tier(seen, calls)]
            yield cause
            said.append(candidates)
            yield from _too(seen, calls[-1], plugins, candidates)


def decided(seen: Evidence, point: str, calls: Sequence[Record]) -> Tiers:
    """Return the plugins by their tiers, and the place of the tier that decided, with the last of
    some calls.
    """
    tiers = seen.tiers(point)
    return tiers, next(at for at, tier in enumerate(tiers) if calls[-1]["plugin"] in tier)


def _next_tier(seen: Evidence, calls: list[Record]) -> Iterator[Message]:
    """Yield which plugins of a later tier decide, and how many pods they allow."""
    point, plugin = calls[0]["point"], calls[0]["plugin"]
    by_task = grouped((call["task"], call.number) for call in calls)
    found = [each for task, numbers in by_task.items() for each in
             seen.of("asked", point=point, task=task) if each["answer"] and (
                 bisect_left(numbers, each["since"]) < bisect_left(numbers, each.number))]
    for answer in found[-1:]:
        tiers, at = decided(seen, point, seen.trace.calls_of(answer))
        if plugin not in tiers[at]:
            yield Message("candidates.next", plugins=tiers[at], n=len({
                pod for each in found for pod in each["answer"]}))


def disagreeing(seen: Evidence, job: JobInfo, answers: list[Record], more: bool
                ) -> Iterator[Cause]:
    """Yield a cause for each plugin without whose answers pods would be left that may be evicted,
    or (`more`) more of them than those which all allow, where each plugin allows some.
    """
    calls = [record for record in answers if record["task"] == answers[-1]["task"]]
    questions = {tuple(record["candidates"]) for record in calls}
    point = seen.ssn.points[calls[0]["point"]].unwatched(seen.ssn)
    claimant, tiers = seen.tasks[calls[0]["task"]], point.tiers
    for plugin, own in grouped((record["plugin"], record) for record in calls).items():
        point.tiers = [[each for each in tier if each[0] != plugin] for tier in tiers]
        left = {task.key for keys in questions
                for task in point.ask(claimant, [seen.tasks[key] for key in keys])}
        left = left.difference(*(record["answer"][0] for record in own))
        if left and not (more and plugin in (*CONDITIONS, "pdb")):  # whose sums are named
            yield _protects(seen, job, own, sorted(left), ".more" if more else ".left")


def _too(seen: Evidence, call: Record, asked: Iterable[str], candidates: list[str]
         ) -> Iterator[Cause]:
    """Yield a cause for each plugin that was not asked any more, and would allow none either."""
    tasks = [seen.tasks[key] for key in candidates]
    for plugin, kept, why in keepers(seen, call["point"], tasks):
        if plugin not in asked and kept == len(tasks):
            yield Cause(PROTECTION[plugin], Message("candidates.too", plugin=plugin, why=why),
                        {"candidates": candidates, "plugin": plugin, "action": call.action,
                         "budgets": [each.facts["budget"] for each in why.facts["budgets"]],
                         "bare": why.facts["bare"]})


def keepers(seen: Evidence, point: str, tasks: list[TaskInfo]
            ) -> Iterator[tuple[str, int, Message]]:
    """Yield the plugins that protect some tasks for what they are: (plugin, how many, why)."""
    for plugin in [name for name in LASTING if tasks and name in seen.plugins(point)]:
        allowed = seen.ssn.points[point].functions[plugin](tasks[0], tasks)[0]
        if len(allowed) < len(tasks):
            yield plugin, len(tasks) - len(allowed), protection(
                plugin, budgets=budgets_of(seen, tasks), bare=without_labels(tasks))


def refusing(seen: Evidence, point: str, claimant: TaskInfo, tasks: list[TaskInfo]) -> list[str]:
    """Return the plugins that allow a claimant none of some tasks, those for what they are apart.
    """
    asked = {plugin: seen.ssn.points[point].functions[plugin](claimant, tasks)
             for plugin in seen.plugins(point) if plugin not in LASTING}
    return [plugin for plugin, (allowed, vote) in asked.items() if vote and not allowed]


def protection(plugin: str, **facts: Any) -> Message:
    """Why a plugin protects pods."""
    code = PROTECTION.get(plugin, "protected")
    kind = ".queues" * (plugin == "drf" and facts.get("action") == "reclaim")
    kind = ".more" if code == "protected_by_gang" and facts.get("more") else kind
    if code == "protected_by_pdb" and facts.get("bare"):
        kind = ".both" if facts.get("budgets") else ".labels"
    return Message(f"{code}{kind}{'.claimant' * facts.get('revocable', 0)}", **facts)


def without_labels(tasks: Iterable[TaskInfo]) -> list[str]:
    """Return the pods without labels, which pdb never allows."""
    return [task.key for task in tasks if not task.pod.metadata.labels]


def _protects(seen: Evidence, job: JobInfo, calls: list[Record], candidates: list[str],
              kind: str) -> Cause:
    """Why a plugin allows none of the candidates (`.also` another does not, `.left` by others)."""
    plugin, action = calls[0]["plugin"], calls[0].action
    tasks = [seen.tasks[key] for key in candidates]
    owners = dict.fromkeys(task.job for task in tasks)
    code, more = PROTECTION.get(plugin, "protected"), None
    least = min(seen.ssn.jobs[uid].priority for uid in owners)
    budgets = budgets_of(seen, tasks) if code == "protected_by_pdb" else []
    bare = without_labels(tasks)
    numbers = {"candidates": candidates, "plugin": plugin, "action": action, "least": least,
               "owners": [*owners], "budgets": [each.facts["budget"] for each in budgets],
               "bare": bare}
    claimant = seen.tasks[calls[-1]["task"]]
    facts = {"more": kind == ".more", "least": least, "action": action, "priority": job.priority,
             "budgets": budgets, "bare": bare,
             "revocable": code == "protected_by_tdm" and bool(
                 claimant.preemptable or claimant.revocable_zone)}
    if code == "victims_within_deserved":
        queues = [*dict.fromkeys(seen.ssn.jobs[uid].queue for uid in owners)]
        wanted = over(amounts(claimant.init_resreq), {})
        numbers |= {"queues": queues, "short_of": wanted}
        facts |= {"reasons": _verdicts(seen, calls),
                  "sums": [sums_of(seen, calls[-1], each) for each in queues[:2]]}
        more = _deserved_in_sum(seen, wanted) or _shared_with_strangers(
            seen, job, plugin, wanted)
    elif code == "not_less_important":
        numbers["classes"], more = _own_priorities(seen, job, tasks)
    elif code == "protected_by_cooldown":
        more = Message("cooldown.until", moment=moment_text(min(
            cdp.cooled(task.pod) for task in tasks)))
    return Cause(code, [Message(
        f"candidates{kind}", action=action, n=len(tasks), plugin=plugin,
        why=protection(plugin, **facts), jobs=[*map(seen.called, owners)]), more],
        numbers, calls[:3])


def _own_priorities(seen: Evidence, job: JobInfo, pods: list[TaskInfo]
                    ) -> tuple[dict[str, str], Message | None]:
    """The PriorityClass of candidates that are less important than the job, by their jobs, which
    are not; and that it does not count.
    """
    own = {task.job: task.pod.spec for task in pods if (task.pod.spec.priority or 0) < job.priority}
    said = Message("not_less_important.pods", jobs=[*map(seen.called, own)], least=min(
        spec.priority or 0 for spec in own.values())) if own else None
    return {uid: spec.priority_class_name for uid, spec in own.items()
            if spec.priority_class_name}, said


def _deserved_in_sum(seen: Evidence, wanted: Iterable[str]) -> Message | None:
    """That queues deserve more than the cluster has, where spec.deserved decides."""
    due, there = origin.deserved_beyond(seen.ssn)
    names = [name for name in wanted if name in due]
    return Message("deserved.sum", deserved=part(due, names), there=part(there, names)
                   ) if names else None


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
    tasks = [*pods]
    return [Message("budget", budget=budget.key, n=budget.status.disruptions_allowed, bound=[
        f"{name} {value}" for name, value in unstructure(budget.spec).items()
        if name in ("minAvailable", "maxUnavailable")])
            for budget, selector in pdb.selecting(seen.ssn)
            if any(budget.namespace == task.namespace
                   and selector.matches(task.pod.metadata.labels) for task in tasks)]


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


def aside(seen: Evidence, plugin: str, decides: Tiers) -> Message | None:
    """Return why a plugin that compares a victim with the claimant did not decide: tiers are asked
    in their order, up to the one that names victims; None where it is of that one.
    """
    tiers, at = decides
    place = next((n for n, tier in enumerate(tiers) if plugin in tier), None)
    if place is None:
        code = "unasked" if plugin in seen.ssn.plugins else "absent"
    else:
        code = "earlier" if place < at else "later"
    return None if place == at else Message(f"compares.{code}", plugin=plugin, plugins=tiers[at])


def before_shares(ssn: Session) -> tuple[list[str], str]:
    """Return the plugins that reclaim asks in tiers above the one that computes what queues
    deserve, and this; "" where none computes it.
    """
    tiers = [[plugin for plugin, _ in tier] for tier in ssn.points["reclaimable"].tiers]
    return ([*chain(*takewhile(origin.SHARES.isdisjoint, tiers))],
            next(filter(origin.SHARES.__contains__, chain(*tiers)), ""))
