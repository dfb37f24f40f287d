"""What would change the answer: the smallest changes, found by running the cycle again, judged by
the cycles that follow, those that cost others least first; and what a job would wait for, too, once
it was admitted, or if its pods had no volumes.

Volcano: none
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from math import inf
from time import perf_counter
from typing import Any

from volcano_lab.api import PIPELINED, JobInfo, objects as api
from volcano_lab.changes import Change
from volcano_lab.explain import beyond, head, origin, outcome, rules, tries, why_job
from volcano_lab.explain.around import around
from volcano_lab.explain.candidates import CAPABILITY, SHARE, Candidates, candidates, distinct
from volcano_lab.explain.configuration import SWITCHED, switched
from volcano_lab.explain.evidence import Evidence, waits
from volcano_lab.explain.explanation import TABLES, Cause, Explanation
from volcano_lab.explain.options import Rank, World, setting
from volcano_lab.explain.order import turn_of
from volcano_lab.explain.price import costs, placed_before, price
from volcano_lab.explain.remedy import Remedy
from volcano_lab.explain.search import LESS, Search
from volcano_lab.explain.victims import victim_causes
from volcano_lab.manifests import Loaded, ManifestError, cards
from volcano_lab.messages import Message
from volcano_lab.scheduler import traced
from volcano_lab.trace import POINTS, CauseTrace, short

MOST, ENDS, MUCH = 5, 2, 10_000
"""Remedies that are offered, changes that end the loops of a cluster, and a weight with which a
queue deserves all that it may have.
"""
ENOUGH, SOON = 3, 0.4
"""In a `LARGE` cluster the search ends after this part of its time, once so many are found."""
STAGES = {Rank.HARMLESS: 0, Rank.WAIT: 4, Rank.NODES: 5, Rank.REQUEST: 6, Rank.LESS: 7}
"""Where changes of a rank come, beside settings; 1 is what a queue is owed."""
NOT_OWED = re.compile(r"queue/.*\.(deserved|weight|guarantee)\b|\.more=")
"""A setting of what a queue is owed, or of nodes that are bought."""
AT_ONCE = (0, False, 2, 0, 1)
"""What comes before this place is shown at once in a `LARGE` cluster."""
VOLUMES = ("claim_missing", "claim_unbound", "volume_unbound")
"""Causes that hide the search of a node."""
NEXT_DOORS = {*rules.STATIC, *TABLES["doors"]["next"].split(), *TABLES["protection"].values()}
"""Causes that keep a job waiting once it is admitted, however much the cluster has left."""
EVICTING = {*TABLES["doors"]["evicting"].split(), *TABLES["protection"].values()}
"""Causes that no pods are evicted for it then."""
DOORS = 2
"""How many of these are named."""


def finder(seen: Evidence, job: JobInfo, causes: list[Cause]
           ) -> Callable[..., Iterable[Remedy]] | None:
    """Return what finds changes with which a job gets, or keeps, its places, or has what is counted
    beyond the lab.
    """
    codes = {cause.code for cause in causes}
    leaves = "victim" in codes or any(cause.numbers.get("gone") for cause in causes)
    if (seeks := lacks(job, codes, causes)) or leaves:
        return partial(remedies_for, seen, job, causes, keep=not seeks)
    losing = {seen.tasks[pod].job: pod for task in job.in_status(PIPELINED).values()
              for record in seen.of("victims", task=task.key) for pod in record["chosen"]}
    if len(losing) == 1:
        loser, victim = losing.popitem()
        return partial(without_evictions, seen, job, causes,
                       seen.ssn.jobs[loser], [*victim_causes(seen, victim)])
    return next((partial(find, seen, job, cause) for cause in causes
                 for name, find in (("sure", fitting), ("overdue", around)) if name in cause.numbers
                 ), next((partial(together, seen, job, cause) for cause in causes
                          if cause.code == "spread"), None))


def lacks(job: JobInfo, codes: set[str], causes: Iterable[Cause]) -> bool:
    """Return whether a change may place pods: a pipelined one lacks nothing, and none that is not
    created, unless its Job has ended.
    """
    lost = {"never_bound", "promise_lost", *head.PODS_REFUSED}  # pods, or their promised places
    if job.has_pending_tasks() or codes & lost or any(
            cause.numbers.get("ended") for cause in causes):
        return True
    if not job.tasks:
        return "resource_quota" in codes or codes.isdisjoint((
            "pods_not_made", "pods_forbidden", "groups_beside", "no_pods"))
    return waits(job) and codes.isdisjoint(("pods_not_made", "pods_forbidden"))


def sparing(seen: Evidence, job: JobInfo, causes: list[Cause]
            ) -> Callable[..., Iterable[Remedy]] | None:
    """Return what finds changes with which fewer pods of a job are evicted, by causes of one."""
    return partial(remedies_for, seen, job, causes, keep=True) if causes else None


def remedies_for(seen: Evidence, job: JobInfo, causes: list[Cause], seconds: float = inf,
                 pod: str = "", keep: bool = False) -> Iterator[Remedy]:
    """Changes with which a job that waits runs, or (`keep`) fewer of its pods are evicted, at most
    five, by their `place`; in a large cluster those of which few come before others as soon as they
    are found. None after `seconds`.
    """
    soon = perf_counter() + seconds * SOON
    search = Search(seen, job, pod, perf_counter() + seconds, seconds / tries.PATIENCE, keep)
    found = islice(search.found(causes), MOST if search.large else 2 * MOST)
    held: list[Remedy] = []
    for number, remedy in enumerate(found, 1):
        if search.large and number == ENOUGH:
            search.end = min(search.end, soon)
        if search.large and place(remedy, job) < AT_ONCE:
            yield remedy
        else:
            held.append(remedy)
    depth = 3 if keep else None  # it is the configuration that lets its pods be evicted
    yield from sorted(held, key=lambda each: place(each, job)[:depth])[:MOST]


def without_evictions(seen: Evidence, job: JobInfo, causes: list[Cause], loser: JobInfo,
                      victims: list[Cause], seconds: float = inf, pod: str = ""
                      ) -> Iterator[Remedy]:
    """Changes with which a job has its places although the one that is evicted for it loses no
    pods; first a higher limit that refused the job before.
    """
    search = Search(seen, loser, "", perf_counter() + seconds, seconds / tries.PATIENCE, True)
    own = Candidates(search.world, seen.ssn, job)
    limits = distinct(search.world, chain(*(
        own.limits(cause.numbers) for cause in causes if cause.code in CAPABILITY)))
    for each in chain(search.singles(limits), remedies_for(
            seen, loser, victims, seconds, keep=True)):
        cost = each.price
        if not cost.evicts and job.uid not in {*cost.waits, *cost.fewer, *cost.ends}:
            yield each


def place(remedy: Remedy, job: JobInfo) -> tuple[int, ...]:
    """Where a change comes among those that are offered to a job: first what is of use to none,
    then what gives its queue what it deserves or is guaranteed, from those that hold more;
    settings that take nothing from others, nor from what it requests, and those that do; the end of
    jobs by itself, nodes, requests cut by much, fewer of its pods. Of each of these, what ends the
    fewest jobs, and what changes the job and its queue, then one other object, then several, and
    last the configuration, which all jobs share: plugins, then actions, then without one of these.
    Behind all of these comes what places some pods only, or ends others for these, then what breaks
    a gang, and what costs others more than the job requests.
    """
    change, rank, price = remedy.tried, remedy.rank, remedy.price
    lower = rank == Rank.LESS and any(map(LESS.search, change.settings))
    splits = (lower or bool(price.ends)) and remedy.placed < len(job.tasks)
    cuts = change.removals or any(".requests" in text for text in change.settings)
    stage = STAGES.get(rank, 3 if price.takes or cuts else 2)
    removals = () if rank == Rank.WAIT else change.removals  # they end by themselves
    changed = {text.partition("=")[2] if ".queue=" in text else text.partition(".")[0]
               for text in (*change.settings, *removals)} - remedy.world.own(job)
    shared = [each for each in changed if each.startswith(("conf/", "plugin/"))]
    scope = max((1 + each.startswith("conf/") * (1 + any(
        name not in each for name in remedy.world.actions)) for each in shared), default=0)
    owed = price.owed and not cuts and not any(map(NOT_OWED.search, change.settings))
    return (price.dear, splits, min(stage, 1) if owed else stage, len(price.ends), scope,
            len(changed) - len(shared), rank)


def sooner(seen: Evidence, order: Cause, jobs: list[JobInfo], why: Callable[[str], Explanation],
           seconds: float = inf) -> Iterable[Remedy]:
    """Return changes with which an action serves the second of two jobs before the first, and which
    give it places or take nothing from others, with what they cost; none after `seconds`. Where
    there are none, those with which it runs: `why` explains it.
    """
    (first, second), action = jobs, order.records[0].action
    end, now, (other, name) = perf_counter() + seconds, seen.ssn.now, map(
        seen.called, (first.uid, second.uid))
    world, found = World(seen.objects, seen.ssn.conf, seen.called), list[Remedy]()
    waits = beyond.lacks(seen, first.tasks.values())  # in the cluster, whatever the order
    for option in [] if waits else Candidates(world, seen.ssn, second).sooner(order, first):
        with suppress(ManifestError, outcome.TooLate), outcome.silent():
            objects, conf = world.applied(option.most)
            trace, ssn = traced(objects, conf, now=now)
            then = Evidence(ssn, trace, objects)
            turns = [turn.number if turn else inf for each in jobs for turn in [
                turn_of(then, action, ssn.jobs[each.uid])]]
            before, after = outcome.alone(seen, end), outcome.outcome(objects, conf, "", now, end)
            cost = price(before, after, placed_before(seen.ssn), second.uid)
            more = after.placed(second.uid) > before.placed(second.uid) or not (
                cost.takes or before.runs(second.uid))  # than its place in the order
            gain = Message("gains.served", action=action, name=short(name), other=short(other))
            brings = gain, *costs(seen.called, cost)
            found += [Remedy(brings, option.most, option.rank, world, name, price=cost)
                      ] * (more and turns[1] < turns[0])
    find = None if found else why(second.uid).find_remedies
    return find(seconds) if find else found


def fitting(seen: Evidence, job: JobInfo, sure: Cause, seconds: float = inf) -> Iterator[Remedy]:
    """Changes with which a node has what a plugin counts that the lab does not model: a mode that
    cards have, the most that one has, if that is at least half of what is requested, or what is
    left once a pod has ended.
    """
    facts, world = sure.numbers, World(seen.objects, seen.ssn.conf, seen.called)
    called, pods = seen.called(job.uid), facts["ends"].facts["pods"] if facts.get("ends") else ()
    for change in [*(Change((text,)) for text in _as_counted(facts, world.job(job.uid))),
                   *(Change(removals=(world.owner(task.job, False),))
                     for task in map(seen.tasks.get, pods) if task)]:
        objects, conf = world.applied(change)
        with outcome.silent():
            trace, ssn = traced(objects, conf, now=seen.ssn.now)
        tasks = [*ssn.jobs[job.uid].tasks.values()]
        if all(task.node_name for task in tasks) and (
                not beyond.lacks(Evidence(ssn, trace, objects), tasks)):
            yield Remedy((Message("gains.counted"),), change, Rank.WAIT if (
                pods and change.removals) else Rank.JOB, world, called, len(tasks))


def together(seen: Evidence, job: JobInfo, spread: Cause, seconds: float = inf
             ) -> Iterator[Remedy]:
    """Yield that the pods of a job are created again in one HyperNode, of the lowest tier in which
    one takes all.
    """
    world, called = World(seen.objects, seen.ssn.conf, seen.called), seen.called(job.uid)
    own = tuple(sorted(f"pod/{task.key}" for task in job.tasks.values()))
    now = {task.node_name for task in job.tasks.values()}
    for tier in spread.numbers["tiers"]:
        change = Change((setting(world.job(job.uid), "networkTopology", to={
            "mode": "hard", "highestTierAllowed": tier}),), own)
        then = outcome.run(*world.applied(change), seen.ssn.now).jobs[job.uid]
        nodes = [task.node_name for task in then.tasks.values()]
        if len(nodes) == len(own) and all(nodes) and now != {*nodes}:
            gain = Message("gains.placed", n=len(nodes), name=short(called), late=None,
                           nodes=[*dict.fromkeys(nodes)])
            yield Remedy((gain,), change, Rank.JOB, world, called, len(nodes))
            return


def _as_counted(facts: dict[str, Any], job: str) -> Iterator[str]:
    """The settings with which a job requests what there is."""
    for mode in facts.get("modes", ()):
        yield f"{job}.annotations[{facts['key']}]={mode}"
    most = facts.get("most", 0)
    if "resource" in facts and facts.get("asked", facts.get("n", 0)) <= 2 * most:
        yield f"{job}.requests[{facts['resource']}]={most}"
    if facts.get("fit"):
        yield f"{job}.requests[{cards.NUMBER}]={facts['fit']}"


def ends_of(seen: Evidence, loops: Cause, seconds: float = inf) -> Iterator[Remedy]:
    """Changes after which a cluster does not evict again and again, the smallest ones first; none
    after `seconds`.
    """
    end = perf_counter() + seconds
    world = World(seen.objects, seen.ssn.conf, seen.called)
    victim, actions = seen.ssn.jobs[loops.numbers["victims"][0]], loops.numbers["actions"]
    keeper = [switched("drf", SWITCHED[name], False) for name in actions if name in SWITCHED]
    found = 0
    for option in [*distinct(world, keeper), *candidates(world, seen.ssn, victim, [loops], True)]:
        if found == ENDS or option.steps > 1:
            continue
        with suppress(ManifestError, outcome.TooLate):
            if not outcome.outcome(*world.applied(option.most), "", seen.ssn.now, end,
                                   lambda after: False).loops:
                found += 1
                yield Remedy((Message("gains.loop_ends"),), option.most, option.rank, world)


# -- what a job waits for behind what it waits for -------------------------------------------------


def behind(seen: Evidence, job: JobInfo, known: set[str]) -> list[Cause]:
    """What a job would wait for, too, if it was admitted alone, its queue had quota, or its pods
    had no volumes.
    """
    if known & {*origin.TOO_LARGE, *rules.STATIC} or not seen.objects:
        return []
    known = known | {"gang_invalid"} if "pods_refused" in known else known
    code = "once_admitted" if job.is_pending() else "with_quota"
    code = "with_volume" if known & {*VOLUMES} else code
    world = World(_alone(seen, job, code == "with_volume"), seen.ssn.conf)
    limits = [f"queue/{name}.capability=null" for name in world.line(job.queue)
              if known & {*CAPABILITY, *SHARE} and world.queues[name].spec.capability]
    limits += [f"queue/{job.queue}.weight={MUCH}"] * bool(known & {*SHARE})
    doors = _doors(seen, job, world, limits, known)
    return [Cause(cause.code, [
        Message("behind.more" if number else code), *cause.sentences,
        Message("admission_adds", n=len(cause.numbers["allowed"]))
        if code == "once_admitted" and "which" in cause.numbers else None],
        cause.numbers, [], True) for number, cause in enumerate(doors[:DOORS])]


def _doors(seen: Evidence, job: JobInfo, world: World, limits: list[str], known: set[str]
           ) -> list[Cause]:
    """What keeps it waiting then: what lasts, without a limit that the cluster has no more, or what
    keeps actions from evicting pods for it within its limits; without volumes, all.
    """
    also = [cause for cause in _causes_with(seen, job, world, limits)
            if cause.code not in {*known, *beyond.WAITED}]
    if known & {*VOLUMES}:
        return [cause for cause in also if not cause.context]
    doors = [each for each in also if each.code in NEXT_DOORS  # or fields of queues or jobs
             or each.numbers.get("not_reclaimable") or each.numbers.get("kept")]  # protect all pods
    if limits and not doors and "overcommit_refuses" not in known:
        doors = [each for each in also  # the cluster has too little left, which no limit says
                 if each.code == "cluster_full" or "whole" in each.numbers][:1]
    if doors or "evicts_for_admitted" not in known:
        return doors
    return sorted((cause for cause in _causes_with(seen, job, world, [])
                   if cause.code in EVICTING), key=lambda cause: "reclaim" in cause.code)


def _causes_with(seen: Evidence, job: JobInfo, world: World, settings: list[str]) -> list[Cause]:
    """What a job waits for once it is admitted, in a world with some settings."""
    kept = [action for action in seen.ssn.conf.actions  # in a large cluster no searches for victims
            if action not in POINTS or len(seen.ssn.nodes) < outcome.LARGE]
    objects, conf = world.applied(Change((
        f"podgroup/{job.uid}.status.phase=Inqueue", f"conf/actions={', '.join(kept)}", *settings)))
    trace, ssn = traced(objects, conf, now=seen.ssn.now, trace=CauseTrace(job.uid))
    then, after = Evidence(ssn, trace, objects), ssn.jobs.get(job.uid)
    then.future = outcome.Outcome()  # further cycles are not run
    return why_job.job_causes(then, after) if after is not None else []


def _alone(seen: Evidence, job: JobInfo, bare: bool) -> Loaded:
    """The objects without other pods that wait; the pods of a job `bare` of their volumes."""
    idle = {uid for uid, each in seen.ssn.jobs.items() if each is not job and not any(
        task.node_name for task in each.tasks.values())}
    own = {task.key for task in job.tasks.values()}
    kept = Loaded(obj for obj in seen.objects if not (
        obj.key not in own and not obj.spec.node_name if isinstance(obj, api.Pod)
        else isinstance(obj, api.PodGroup) and obj.key in idle))
    return kept if not bare else Loaded(
        obj.changed(spec={"volumes": []}) if isinstance(obj, api.Pod) and obj.key in own else obj
        for obj in kept)
