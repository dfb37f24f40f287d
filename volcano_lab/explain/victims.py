"""Which pods a cycle evicts, for which others, and which plugins allowed it.

Volcano: none
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from volcano_lab.api import RELEASING, JobInfo
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Cause, over
from volcano_lab.explain.lint import SHARES
from volcano_lab.messages import Message
from volcano_lab.trace import POINTS, Record


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
