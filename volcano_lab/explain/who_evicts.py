"""Which actions may evict pods of a job, for which jobs now, and when.

Volcano: none
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from volcano_lab.actions.evictions import never_preempts
from volcano_lab.api import PENDING, RELEASING, RUNNING, JobInfo, TaskInfo
from volcano_lab.explain.evictions import first_node
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Cause, Explanation, over, part
from volcano_lab.explain.lint import before_shares
from volcano_lab.explain.owners import head, on_event
from volcano_lab.explain.protection import CONDITIONS, budgets_of, keepers, protection, refusing
from volcano_lab.explain.victims import evicted_for, shuffled
from volcano_lab.messages import Message
from volcano_lab.trace import POINTS, grouped


def who_evicts(seen: Evidence, job: JobInfo) -> Explanation:
    """Explain which actions may evict pods of a job, for which jobs now, and when."""
    about, name = f"job {seen.called(job.uid)}", seen.called(job.uid)
    pods = sorted([*job.in_status(RUNNING).values(), *job.in_status(RELEASING).values()],
                  key=lambda task: task.key)
    actions = [action for action in POINTS if action in seen.ssn.enabled_actions]
    beside = [Cause("shuffled", said, {}, [], True) for said in shuffled(seen, job)]
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
    now = min(sum(gone) + max(free, default=0), len(pods))
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
    for (by, uid), records in evicted_for(seen, job).items():
        if by == action:
            said = Message("evict.does", action=action, pods=[*records], job=seen.called(uid))
            nodes = dict.fromkeys(record["node"] for record in records.values())
            yield Cause("evicted_for", [said, first_node(seen, action, [*nodes])],
                        {"pods": len(records), "jobs": [uid]}, [*records.values()])


def _spared(seen: Evidence, job: JobInfo, action: str) -> Iterator[Cause]:
    """Yield the pods of it that an action could evict in this cycle, for the first job for which it
    takes pods of others instead, as these come first.
    """
    for record in seen.of("victims", action=action):
        pods = [key for key in record.get("candidates", ()) if seen.tasks[key].job == job.uid]
        taken = record["chosen"]
        if pods and taken and not any(seen.tasks[key].job == job.uid for key in taken):
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
    against = {uid: refusing(seen, POINTS[action], task, free)
               for uid, task in claimants.items()}
    refused = grouped((plugin, seen.called(uid)) for uid, plugins in against.items()
                      if {*CONDITIONS}.isdisjoint(plugins) for plugin in plugins)
    for plugin, jobs in refused.items():
        said = Message("evict.refused", plugin=plugin, jobs=jobs, why=protection(plugin))
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
        last = None if evicted_for(seen, job) else seen.trace.records[-1]
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
             for plugin, kept, why in keepers(seen, POINTS[action], pods)}
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
        going = sum(map(len, evicted_for(seen, job).values()))
        yield Cause("gang_minimum", Message("evict.gang", least=job.min_available, n=max(
            job.ready_task_num() + going - job.min_available, 0)), {}, [], True)
    loose = budgets_of(seen, pods) if "pdb" not in seen.ssn.plugins else []
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
        spared = {key: record for record in seen.of("victims") if record["chosen"] for key in lead
                  if key in record.get("candidates", ()) and key not in record["chosen"]}
        yield Cause.of("evict_head", *(Message(
            "evict_head.spared", pod=key, action=record["action"], taken=record["chosen"])
            for key, record in spared.items()), context=True, n=len(lead), pods=[*lead],
            roles=[*dict.fromkeys(lead.values())])
