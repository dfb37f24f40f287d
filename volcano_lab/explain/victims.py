"""Victims: which pods a cycle evicts and for which others, which actions may evict pods of a job,
for which jobs now, and when; and what a cluster evicts again and again.

Volcano: none
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from volcano_lab.actions.evictions import never_preempts
from volcano_lab.api import PENDING, RELEASING, ROOT_QUEUE, RUNNING, JobInfo, TaskInfo
from volcano_lab.explain import evictions, origin, outcome, owners, protection
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Cause, Explanation, each_said, over, part
from volcano_lab.explain.settings import ineffective
from volcano_lab.explain.shuffles import rule, shuffle_causes, shuffled, who_shuffles
from volcano_lab.messages import Message
from volcano_lab.trace import POINTS, Record, grouped, short

GROUPS = 3
"""The most loops of a cluster that are named, each by its action and queues."""


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


def evicts(seen: Evidence, job: JobInfo, causes: Iterable[Cause]) -> list[Message]:
    """Return which actions evict pods of a job in this cycle, how many, and for which jobs, or by
    which rule for none.
    """
    by = grouped((action, (seen.called(uid), len(pods)))
                 for (action, uid), pods in evicted_for(seen, job).items())
    found = [Message("loses.for", action=action, n=sum(n for _, n in some),
                     jobs=[name for name, _ in some]) for action, some in by.items()]
    return found + [Message("loses.shuffled", n=len(pods), why=rule(causes))
                    for action, pods in shuffled(seen, job).items() if action == "shuffle"]


def victim_causes(seen: Evidence, task: str) -> Iterator[Cause]:
    """Yield for which pod another one was evicted, which plugins allowed it, and which were not
    asked.
    """
    for record in [each for each in seen.of("victims") if task in each["chosen"]]:
        claimant, action = record.get("task"), record["action"]
        if claimant is None:
            yield from shuffle_causes(seen, seen.ssn.jobs[seen.tasks[task].job])
            continue
        point = POINTS.get(action, "preemptable")
        asked = [earlier for earlier in seen.of("asked", point=point, task=claimant)
                 if earlier.number < record.number]
        calls = seen.trace.calls_of(asked[-1]) if asked else list(seen.of(point, task=claimant))
        decides = protection.decided(seen, point, calls)
        calls = [call for call in calls if call["tier"] == calls[-1]["tier"]]
        named = [call["plugin"] for call in calls if task in call["answer"][0]]
        count, chosen = len(record.get("candidates") or record["chosen"]), len(record["chosen"])
        said = Message("victim", action=action, node=record.get("node"), pod=claimant,
                       plugins=named or [Message("victim.no_plugin")], chosen=chosen, count=count)
        yield Cause("victim", said, {"named_by": named, "actions": [action],
                                     "winners": [seen.tasks[claimant].job]}, [*calls, record])
        victim, winner = (seen.ssn.jobs[seen.tasks[key].job] for key in (task, claimant))
        if winner.min_available < len(winner.tasks) and (
                seen.plugins("job_starving") == ["priority"]):
            yield Cause.of("starving_beyond", context=True, job=seen.called(winner.uid),
                           least=winner.min_available)
        yield from _of_victim(seen, victim, winner, action, decides)


def _of_victim(seen: Evidence, victim: JobInfo, winner: JobInfo, action: str,
               decides: protection.Tiers) -> Iterator[Cause]:
    """Yield that a job of a lower priority gets the place, or what the victim's queue holds and
    deserves; why the plugin that compares these did not decide; and what its policies do then.
    """
    if action == "preempt" and victim.priority > winner.priority:
        yield Cause("less_important_claimant", Message(
            "less_important_claimant", victim=seen.called(victim.uid), priority=victim.priority,
            claimant=seen.called(winner.uid), other=winner.priority, why=protection.aside(
                seen, "priority", decides)), {"priority": victim.priority,
                                              "claimant": winner.priority}, context=True)
    elif action == "reclaim":
        known = seen.trace.start["queues"].get(victim.queue, {"allocated": {}, "deserved": {}})
        more = over(known["allocated"], known["deserved"])
        asides = [protection.aside(seen, plugin, decides)
                  for plugin in sorted(origin.SHARES.intersection(chain(*decides[0])))]
        why, sums = next(filter(None, asides), None), seen.sums(victim.queue, more)
        if sums.get("deserved") and (why or more):
            later = [why.facts["plugin"]] if why and why.code == "compares.later" else []
            yield Cause("queue_over_deserved" if more else "queue_within_deserved", Message(
                "queue_of_victim", **sums, why=why), sums | {"later": later}, context=True)
    if policy := owners.on_event(seen, victim, "PodEvicted"):
        yield Cause("evict_policy", policy, context=True)


def who_evicts(seen: Evidence, job: JobInfo, why: Callable[[str], Explanation]) -> Explanation:
    """Explain which actions may evict pods of a job, for which jobs now, and when; `why` explains
    one of which none runs.
    """
    about, name = f"job {seen.called(job.uid)}", seen.called(job.uid)
    pods = sorted([*job.in_status(RUNNING).values(), *job.in_status(RELEASING).values()],
                  key=lambda task: task.key)
    actions = [action for action in POINTS if action in seen.ssn.enabled_actions]
    beside = [*shuffle_causes(seen, job)]
    if not pods:
        return Explanation(about, [Message("evict.no_pods", job=name), *each_said(
            why(job.uid).said)])
    if not (actions or beside):
        return Explanation(about, Message("evict.no_action", job=name))
    done = {action: [*_done(seen, job, action)] for action in actions}
    more = {action: [*_spared(seen, job, action), *_now(seen, job, action, pods)]
            for action in actions}
    causes = [cause for action in actions for cause in (
        *done[action], *more[action], *_when(seen, job, action))]
    now = _counted(name, pods, done, more)
    none = now.code == "evict.none"
    causes += [] if none else [_order(pods)]
    spared = _protected(seen, actions, pods) if none else ()
    later = [*who_shuffles(name, pods, beside)]
    return Explanation(about, [*[now] * (not none or not later), *later], [
        *beside, *causes, *spared, *kept(seen, job, pods, actions), *ineffective(seen, job)])


def _counted(name: str, pods: list[TaskInfo], *found: dict[str, list[Cause]]) -> Message:
    """How many pods this cycle evicts, and how many more plugins allow, for jobs that wait."""
    facts = [[cause.numbers for cause in chain(*each.values()) if cause.code == "evicted_for"]
             for each in found]
    gone, free = ({*chain(*(each["pods"] for each in some))} for some in facts)
    kind = ".tried" * all(each.get("tried") for each in facts[1])
    if gone:
        kind = ".both" if free - gone else ".done"
    return Message(f"evict.now{kind}" if gone | free else "evict.none", job=name, pods=len(pods),
                   n=len(gone | free), done=len(gone), more=len(free - gone))


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
            yield Cause("evicted_for", [said, evictions.first_node(seen, action, [*nodes])],
                        {"pods": [*records], "jobs": [uid]}, [*records.values()])


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
            yield Cause("evicted_for", said, {"pods": pods, "jobs": [uid]}, [record])
            return


def _now(seen: Evidence, job: JobInfo, action: str, pods: list[TaskInfo]) -> Iterator[Cause]:
    """Yield the jobs that wait now and for which all plugins of a tier allow pods of it; or else
    the plugins that allow none.
    """
    free = [task for task in pods if task.preemptable and task.status == RUNNING]
    claimants = {uid: task for uid, task in _claimants(seen, job, action).items() if free}
    victims = {uid: seen.ssn.points[POINTS[action]].ask(task, free)
               for uid, task in claimants.items()}
    if found := [uid for uid, tasks in victims.items() if tasks]:
        allowed = [*dict.fromkeys(task.key for uid in found for task in victims[uid])]
        yield _allows(seen, action, {uid: claimants[uid] for uid in found}, allowed, pods)
        return
    against = {uid: protection.refusing(seen, POINTS[action], task, free)
               for uid, task in claimants.items()}
    refused = grouped((plugin, seen.called(uid)) for uid, plugins in against.items()
                      if {*protection.CONDITIONS}.isdisjoint(plugins) for plugin in plugins)
    for plugin, jobs in refused.items():
        said = Message("evict.refused", plugin=plugin, jobs=jobs, why=protection.protection(plugin))
        yield Cause("refused_for", said, {"plugin": plugin, "jobs": jobs}, [], True)


def _allows(seen: Evidence, action: str, claimants: dict[str, TaskInfo], allowed: list[str],
            pods: list[TaskInfo]) -> Cause:
    """How many pods all plugins of a tier allow for some jobs, and that these were not enough."""
    names, running = [*map(seen.called, claimants)], sum(task.status == RUNNING for task in pods)
    tried = all(any(not record.get("within_job") for record in seen.in_action(
        action, "claimant", task=task.key)) for task in claimants.values())
    return Cause("evicted_for", [
        Message("evict.for" if running == len(pods) else "evict.for.others", action=action,
                jobs=names, n=len(allowed), pods=running),
        Message("evict.tried", job=names[0]) if tried else None],
        {"pods": allowed, "jobs": [*claimants], "tried": tried})


def _claimants(seen: Evidence, job: JobInfo, action: str) -> dict[str, TaskInfo]:
    """The first pod that waits and may evict, of each job for which an action looks at the pods of
    a job.
    """
    queues, preempt = seen.ssn.queues, action == "preempt"
    first = {uid: next((task for task in other.in_status(PENDING).values()
                        if not never_preempts(task)), None)
             for uid, other in seen.ssn.jobs.items()
             if other is not job and (other.queue == job.queue) == preempt
             and not other.is_pending() and seen.ssn.job_starving(other)}
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
        last = None if evicted_for(seen, job) else seen.trace.records[-1]  # others may lose pods
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
        above, share = protection.before_shares(seen.ssn)
        said += _owed(seen, job.queue) if more else []
        if above and share:
            decide = Message("evict.before_shares", plugins=above, queue=job.queue)
            said = [*said, decide] if more else [decide]
    yield Cause(f"condition_{action}", said, numbers, [], True)


def _owed(seen: Evidence, queue: str) -> list[Message]:
    """Which other queues hold less than they deserve, for whose jobs reclaim may take pods."""
    no_leaf = {each.queue.spec.parent for each in seen.ssn.queues.values()} | {queue, ROOT_QUEUE}
    owed = [name for name, sums in seen.trace.start["queues"].items()
            if name not in no_leaf and over(sums["deserved"], sums["allocated"])]
    return [Message("evict.owed", n=len(owed), queues=owed)] if owed else []


def _protected(seen: Evidence, actions: list[str], pods: list[TaskInfo]) -> Iterator[Cause]:
    """Yield the plugins that protect pods of it for what they are, each once."""
    found = {plugin: (kept, why) for action in actions
             for plugin, kept, why in protection.keepers(seen, POINTS[action], pods)}
    for plugin, (kept, why) in found.items():
        yield Cause("protected", Message("evict.protected", plugin=plugin, n=kept, why=why),
                    {"plugin": plugin, "pods": kept}, context=True)


def kept(seen: Evidence, job: JobInfo, pods: list[TaskInfo], actions: list[str]
         ) -> Iterator[Cause]:
    """Yield what keeps pods of it, annotations and its gang's minimum, and what is lost with one.
    """
    if count := sum(not task.preemptable for task in pods):
        yield Cause("not_preemptable", Message("evict.not_preemptable", n=count), {}, [], True)
    asking = [action for action in actions if "gang" in seen.plugins(POINTS[action])]
    if actions and job.min_available > 1:
        going = sum(map(len, evicted_for(seen, job).values()))
        code = "evict.gang" if asking == actions else f"evict.gang.{'some' if asking else 'none'}"
        said = Message(code, least=job.min_available, actions=asking, n=max(
            job.ready_task_num() + going - job.min_available, 0))
        yield Cause("gang_minimum", [said, *evictions.broken(seen, job)], context=True)
    if "pdb" not in seen.ssn.plugins and (loose := protection.budgets_of(seen, pods)):
        yield Cause.of("evict_no_pdb", context=True, n=len(loose), budgets=loose)
    if policy := owners.on_event(seen, job, "PodEvicted"):
        yield Cause("evict_policy", policy, context=True)
    yield from _leads(job, pods)


def _leads(job: JobInfo, pods: list[TaskInfo]) -> Iterator[Cause]:
    """Yield the pods, of those that may go, on which others of the job depend."""
    roles = {task.key: owners.head(job, task) for task in pods if task.preemptable}
    if lead := {key: role for key, role in roles.items() if role}:
        yield Cause.of("evict_head", context=True, n=len(lead), pods=[*lead],
                       roles=[*dict.fromkeys(lead.values())])


# -- loops of the cluster --------------------------------------------------------------------------


def cluster_loops(seen: Evidence, found: outcome.Outcome) -> Cause | None:
    """Return what a cluster repeats in some cycles without a change: by action and queues, the jobs
    that lose pods, those for which they do, the plugins that allow it, and what returns the places.
    """
    groups = grouped(((each.action, *(found.jobs[uid].queue for uid in (
        each.winner, each.job) if uid in found.jobs)), each) for each in found.loops)
    if not groups:
        return None
    largest = sorted(groups.values(), key=lambda some: -len(some))[:GROUPS]
    said = [Message("cluster_loops", cycles=found.cycles, n=len(found.again)),
            *(_loop(seen, found, some) for some in largest)]
    often = Counter(each.job for each in found.loops)
    return Cause("cluster_loops", said, {
        "victims": [uid for uid, _ in often.most_common()],
        "winners": [*dict.fromkeys(each.winner for each in found.loops)],
        "actions": [*dict.fromkeys(each.action for each in found.loops)]}, [], True)


def _loop(seen: Evidence, found: outcome.Outcome, some: list[outcome.Eviction]) -> Message:
    """What one action repeats between two queues, and the rule that returns the places."""
    winners, victims = ([*dict.fromkeys(getattr(each, name) for each in some)]
                        for name in ("winner", "job"))
    first, turn = some[0], next((each.action for each in found.loops if each.job in winners
                                 and each.winner in victims), "")
    rules = dict.fromkeys(rule for cause in victim_causes(seen, first.pod) if cause.code == "victim"
                          for rule in cause.numbers["named_by"]) if first.cycle == 1 else {}
    allow = Message("cluster_loops.rules", n=len(rules), plugins=[*rules]) if rules else None
    back = Message("cluster_loops.in_turn", action=turn) if turn else _returns(found, first)
    names = [[short(seen.called(uid)) for uid in some if uid] for some in (victims, winners)]
    return Message("cluster_loops.part", action=first.action, rules=allow, back=back,
                   victims=names[0], winners=names[1])


def _returns(found: outcome.Outcome, one: outcome.Eviction) -> Message:
    """That allocate returns the places, by the plugin that puts the job of a victim first."""
    queues = [found.jobs[uid].queue for uid in (one.job, one.winner) if uid in found.jobs]
    plugin = found.orders.get((one.job, one.winner)) or found.orders.get((*queues,))
    return Message("cluster_loops.order", plugin=plugin) if plugin else Message(
        "cluster_loops.back")
