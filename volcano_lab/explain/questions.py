"""Two further questions of a job: why another one is served before it, and who may evict its pods.

Volcano: none
"""

from __future__ import annotations

from collections.abc import Iterator

from volcano_lab.api import JobInfo, TaskInfo
from volcano_lab.api.status import PENDING, RELEASING, RUNNING
from volcano_lab.explain.evidence import POINTS, Evidence
from volcano_lab.explain.explanation import Cause, Explanation, part
from volcano_lab.explain.holders import decided
from volcano_lab.messages import Message
from volcano_lab.trace import Record

ORDERED = ("allocate", "enqueue")
"""The actions in whose order jobs are compared, the one that gives resources first."""
MOST = 5
"""Jobs that are named before one in its queue."""


def why_before(seen: Evidence, job: JobInfo, other: JobInfo) -> Explanation:
    """Explain why one of two jobs is served before the other, and where the first stands in its
    queue.
    """
    about = f"job {seen.called(job.uid)} and job {seen.called(other.uid)}"
    for action in ORDERED:
        mine, theirs = (_turn(seen, action, "job", each.uid) for each in (job, other))
        if mine is None or theirs is None:
            continue
        first, second = (job, other) if mine.number < theirs.number else (other, job)
        said = Message("order.first", first=seen.called(first.uid), action=action,
                       second=seen.called(second.uid))
        return Explanation(about, said, [*_compared(seen, action, first, second),
                                         *_place(seen, action, job)])
    unordered = next((each for each in (job, other) if all(
        _turn(seen, action, "job", each.uid) is None for action in ORDERED)), job)
    return Explanation(about, Message("order.no_turn", job=seen.called(unordered.uid)), [])


def _turn(seen: Evidence, action: str, kind: str, name: str) -> Record | None:
    """When an action first took a job or a queue."""
    return next(iter(seen.in_action(action, kind, **{kind: name})), None)


def _compared(seen: Evidence, action: str, first: JobInfo, second: JobInfo) -> Iterator[Cause]:
    """By which plugin's order, with both values."""
    same = first.queue == second.queue
    kind = "job" if same else "queue"
    left, right = (first, second) if same else (
        seen.ssn.queues[first.queue], seen.ssn.queues[second.queue])
    turn = _turn(seen, action, kind, left.uid)
    said = decided(seen, kind, left, right, turn) if turn is not None else None
    if said is None and not same:
        said = Message("order.level", queues=[first.queue, second.queue])
    if said is not None:
        yield Cause("came_first", said, {"first": first.uid, "kind": kind}, [turn])


def _place(seen: Evidence, action: str, job: JobInfo) -> Iterator[Cause]:
    """Which jobs of its queue an action took before a job."""
    jobs = seen.ssn.jobs
    order = dict.fromkeys(record["job"] for record in seen.in_action(action, "job")
                          if record["job"] in jobs and jobs[record["job"]].queue == job.queue)
    before = [*order][:[*order].index(job.uid)]
    said = Message("order.place", job=seen.called(job.uid), place=len(before) + 1,
                   count=len(order), queue=job.queue, action=action)
    yield Cause("place", [said, Message("order.before", jobs=[*map(seen.called, before[-MOST:])])
                          if before else None], {"place": len(before) + 1, "of": len(order)})


def who_evicts(seen: Evidence, job: JobInfo) -> Explanation:
    """Explain which actions may evict pods of a job, for whom now, and under which conditions."""
    about, name = f"job {seen.called(job.uid)}", seen.called(job.uid)
    pods = sorted([*job.in_status(RUNNING).values(), *job.in_status(RELEASING).values()],
                  key=lambda task: task.key)
    actions = [action for action in POINTS if action in seen.ssn.enabled_actions]
    if not pods or not actions:
        return Explanation(about, Message("evict.no_pods" if not pods else "evict.no_action",
                                          job=name))
    causes = [cause for action in actions for cause in (
        *_done(seen, job, action), *_now(seen, job, action, pods),
        *_condition(seen, job, action))]
    now = [cause for cause in causes if cause.code == "evicted_for"]
    said = Message("evict.now" if now else "evict.none", job=name,
                   n=max((cause.numbers["pods"] for cause in now), default=0), pods=len(pods))
    return Explanation(about, said, [*causes, *_kept(seen, job, pods)])


def _done(seen: Evidence, job: JobInfo, action: str) -> Iterator[Cause]:
    """The pods of it that an action evicts in this cycle, by the job that they are evicted for."""
    found: dict[str, list[str]] = {}
    records = [record for record in seen.of("victims") if record["action"] == action
               and record.get("task")]
    for record in records:
        own = [key for key in record["chosen"] if seen.tasks[key].job == job.uid
               and seen.tasks[key].status == RELEASING]
        found.setdefault(seen.tasks[record["task"]].job, []).extend(own)
    for uid, keys in found.items():
        if keys:
            yield Cause("evicted_for", Message("evict.does", action=action, pods=keys,
                                               job=seen.called(uid)),
                        {"pods": len(keys), "jobs": [uid]}, records)


def _now(seen: Evidence, job: JobInfo, action: str, pods: list[TaskInfo]) -> Iterator[Cause]:
    """The jobs that wait now and for which all plugins of a tier would allow pods of it."""
    found: dict[str, int] = {}
    free = [task for task in pods if task.preemptable and task.status == RUNNING]
    for other in seen.ssn.jobs.values():
        inside = other.queue == job.queue
        task = next(iter(other.in_status(PENDING).values()), None)
        if other is job or task is None or inside != (action == "preempt") or not free or (
                action == "reclaim" and not (seen.ssn.queues[job.queue].reclaimable and
                                             seen.ssn.preemptive(seen.ssn.queues[other.queue],
                                                                 task))):
            continue
        victims = seen.ssn.points[POINTS[action]].ask(task, free)
        if victims:
            found[other.uid] = len(victims)
    if found:
        said = Message("evict.for", action=action, jobs=[*map(seen.called, found)],
                       n=max(found.values()), pods=len(pods))
        yield Cause("evicted_for", said, {"pods": max(found.values()), "jobs": [*found]})


def _condition(seen: Evidence, job: JobInfo, action: str) -> Iterator[Cause]:
    """When an action takes pods of it: by its priority, or by what its queue holds."""
    if action == "preempt":
        code = "evict.priority" if "priority" in seen.ssn.plugins else "evict.any_priority"
        yield Cause("condition_preempt", Message(code, queue=job.queue, priority=job.priority),
                    {"priority": job.priority}, [], True)
        return
    sums = seen.trace.start["queues"].get(job.queue)
    if not seen.ssn.queues[job.queue].reclaimable:
        yield Cause("condition_reclaim", Message("evict.closed", queue=job.queue), {}, [], True)
    elif sums is not None:
        names = [name for name, amount in sums["allocated"].items() if amount and name != "pods"]
        over = [name for name in names
                if sums["allocated"][name] > sums["deserved"].get(name, 0.0)]
        over = [name for name in over if sums["deserved"].get(name)] or over
        numbers = {each: part(sums[each], over or names) for each in ("allocated", "deserved")}
        yield Cause("condition_reclaim", Message("evict.over" if over else "evict.within",
                                                 queue=job.queue, **numbers), numbers, [], True)


def _kept(seen: Evidence, job: JobInfo, pods: list[TaskInfo]) -> Iterator[Cause]:
    """What keeps pods of it: their own annotation, and its gang's minimum."""
    kept = sum(not task.preemptable for task in pods)
    if kept:
        yield Cause("not_preemptable", Message("evict.not_preemptable", n=kept), {}, [], True)
    gang = any(plugin == "gang" for point in POINTS.values()
               for tier in seen.ssn.points[point].tiers for plugin, _ in tier)
    if gang and job.min_available > 1:
        yield Cause("gang_minimum", Message("evict.gang", least=job.min_available, n=max(
            job.ready_task_num() - job.min_available, 0)), {}, [], True)
