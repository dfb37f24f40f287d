"""Which changes may turn the answer: for each cause those that a maintainer would think of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from math import ceil
from typing import Any

import attrs

from volcano_lab.api import MIN_RESOURCE, ROOT_QUEUE, JobInfo, Resource, total
from volcano_lab.explain.explanation import Amounts, Cause
from volcano_lab.explain.knob import Knob, Rank
from volcano_lab.explain.knobs import Knobs
from volcano_lab.explain.origin import guarantee_of
from volcano_lab.explain.volumes import VOLUME_CODES, volume_knobs
from volcano_lab.framework import Session
from volcano_lab.messages import meant
from volcano_lab.trace import queue_attributes
from volcano_lab.trace.plain import amounts

ROOM = ("cluster_full", "fragmented", "allowed_nodes_full", "larger_than_any_node")
CAPABILITY = ("queue_over_capability", "ancestor_over_capability")
JUST_FULL = {*ROOM[:3], *CAPABILITY, "over_deserved", "overcommit_refuses", "overused", "held_by",
             "came_first", "gang_short", "gang_content", "pods_later", "best_effort_queue",
             "deadline"}
"""Causes that say no more than that others have the room."""
BY_CAUSE: dict[str, Callable[[Knobs, JobInfo, dict[str, Any]], Iterator[Knob]]] = {
    **{f"no_{name}_action": lambda knobs, job, numbers, name=name: knobs.with_action(name)
       for name in ("allocate", "enqueue", "backfill", "reclaim")},
    **{code: lambda knobs, job, numbers: knobs.switch("gang", "enableJobStarving", False)
       for code in ("gang_content", "minimum_promised")},
    **{code: lambda knobs, job, numbers: volume_knobs(knobs, job.uid) for code in VOLUME_CODES},
    **{code: lambda knobs, job, numbers: knobs.spread(job.uid)
       for code in ("topology_spread", "spread_label")},
    "driver_nowhere": lambda knobs, job, numbers: knobs.ignoring(numbers["driver"]),
    "not_starving": lambda knobs, job, numbers: knobs.with_action("allocate"),
    "queue_closed": lambda knobs, job, numbers: knobs.opened(job.queue),
    "resource_quota": lambda knobs, job, numbers: knobs.quota(
        job.namespace, numbers["quota"], numbers["wanted"]),
    "tree_broken": lambda knobs, job, numbers: chain(
        *(knobs.parents(*each) for each in numbers["missing"].items()),
        *(knobs.in_queue(uid, below) for uid, below in numbers["inner"].items())),
    "other_scheduler": lambda knobs, job, numbers: knobs.ours(job.uid),
    "no_default_sub_group": lambda knobs, job, numbers: knobs.anywhere(job.uid),
    "gang_invalid": lambda knobs, job, numbers: knobs.roles(job.uid, numbers["roles"]),
    "node_group": lambda knobs, job, numbers: knobs.node_groups(job.queue, numbers["names"]),
    "taint": lambda knobs, job, numbers: chain(knobs.tolerations(
        job.uid, numbers["names"]), knobs.working(numbers["names"])),
    "revocable_zone": lambda knobs, job, numbers: knobs.preemptable(job.uid, Rank.JOB),
    "gang_short": lambda knobs, job, numbers: knobs.foremost(job.uid),
    "cordoned": lambda knobs, job, numbers: knobs.uncordoned(numbers["names"]),
    "topology_too_small": lambda knobs, job, numbers: knobs.tier(job.uid)}
"""Cause -> its changes, where these follow from it alone."""
SWITCHED = {"preempt": "enablePreemptable", "reclaim": "enableReclaimable"}
FOREVER = ("ReplicaSet", "StatefulSet", "DaemonSet")
"""Kinds whose pods do not end."""
DEVICES = 8000
"""As many thousandths of a device as a node has that is to be bought."""
KEEPERS = ("drf", "gang", "priority")
"""Plugins whose say about victims people switch off; conformance and pdb protect for a reason."""


def keeping(knobs: Knobs, action: str) -> Iterator[Knob]:
    """The switches with which plugins keep more of the pods that an action would evict."""
    for plugin in KEEPERS if action in SWITCHED else ():
        yield from knobs.switch(plugin, SWITCHED[action], True)


def candidates(knobs: Knobs, ssn: Session, job: JobInfo, causes: list[Cause]) -> list[Knob]:
    """The knobs for a job that waits, those that change least first; each once."""
    found = {(knob.what, knob.field, knob.before, knob.text("")): knob
             for knob in _knobs(knobs, ssn, job, causes)}
    return sorted(found.values(), key=lambda knob: knob.rank)


def _knobs(knobs: Knobs, ssn: Session, job: JobInfo, causes: list[Cause]) -> Iterator[Knob]:
    codes = {cause.code for cause in causes}
    refused = bool(codes & {*CAPABILITY, "overcommit_refuses"}) and job.is_pending()
    evicts = {"preempt", "reclaim"} & {*knobs.conf.actions}  # enqueue keeps these from acting
    for cause in causes:
        yield from _for(knobs, ssn, job, cause)
    if codes & {*ROOM, *CAPABILITY, "over_deserved", "overcommit_refuses"}:
        yield from knobs.without_action("enqueue") if refused and evicts else ()
        yield from knobs.with_action("reclaim") if _others_hold(ssn, job) else ()
        yield from knobs.with_action("preempt") if _less_important(ssn, job) else ()
        yield from knobs.priority(job.uid, first) if (first := _first(ssn, job)) is not None else ()
    if codes & {*CAPABILITY, "over_deserved", "overused", "queue_closed", "refused", "node_group"}:
        yield from knobs.in_queue(job.uid, _other_queues(ssn, job))
    ending = dict.fromkeys(uid for cause in causes for uid in cause.numbers.get("holders", ())
                           if uid != job.uid and _ends(ssn.jobs[uid]))
    yield from knobs.gone([*ending], Rank.WAIT, _calm(ssn, job, causes, ending))
    yield from _less_or_more(knobs, ssn, job, causes)
    yield from knobs.min_member(job.uid)
    if refused and not evicts:  # a change for everybody, where one of the job or its queue may do
        yield from (attrs.evolve(knob, rank=Rank.JOB) for knob in knobs.without_action("enqueue"))


def _ends(job: JobInfo) -> bool:
    """Whether a job has all its places, and does not run forever."""
    return bool(job.tasks) and all(task.node_name for task in job.tasks.values()) and not any(
        owner.kind in FOREVER for owner in job.pod_group.metadata.owner_references)


def _importance(job: JobInfo) -> int:
    """The priority that a job's author has in mind: its pods', whether or not it counts."""
    return max((task.pod.spec.priority or 0 for task in job.tasks.values()), default=job.priority)


def _owed(ssn: Session, job: JobInfo) -> bool:
    """Whether something keeps from the job what its queue is owed: it would leave the queue within
    what its `deserved` or guarantee names of what the job asks for, or others' guarantees take it.
    """
    queue = queue_attributes(ssn).get(job.queue)
    if queue is None:
        return False
    asked = {name for name, amount in amounts(job.get_min_resources() + total(
        task.resreq for task in job.tasks.values())).items() if amount and name != "pods"}
    own = job.get_min_resources()

    def within(limit: Resource) -> bool:
        named = [name for name in asked if limit.get(name)]
        return bool(named) and all(queue.allocated.get(name) + own.get(name)
                                   <= limit.get(name) + MIN_RESOURCE for name in named)

    return within(queue.deserved) or within(guarantee_of(ssn.queues[job.queue]))


def _stranded(job: JobInfo) -> bool:
    """Whether some pods of a gang hold places without the rest of its minimum."""
    return 0 < job.ready_task_num() < job.min_available


def _withheld(ssn: Session, job: JobInfo, causes: list[Cause]) -> bool:
    """Whether another queue's guarantee, of which it does not hold all, takes what is short."""
    short = {name for cause in causes if cause.code in CAPABILITY or cause.code == "over_deserved"
             for name in cause.numbers["short_of"]}
    known = queue_attributes(ssn)
    line = {job.queue, *getattr(known.get(job.queue), "ancestors", ())}
    return any(guarantee_of(queue).get(name) - (known[other].allocated.get(name)
                                                if other in known else 0.0) >= MIN_RESOURCE
               for other, queue in ssn.queues.items() if other not in line for name in short)


def _calm(ssn: Session, job: JobInfo, causes: list[Cause], ending: Iterable[str]) -> bool:
    """Whether nothing is wrong: others, no less important, hold what no rule owes to the job."""
    return not (_owed(ssn, job) or _stranded(job) or _withheld(ssn, job, causes)) and all(
        cause.code in JUST_FULL and not cause.numbers.get("broken") for cause in causes) and all(
            _importance(ssn.jobs[uid]) >= _importance(job) for uid in ending)


def _other_queues(ssn: Session, job: JobInfo) -> list[str]:
    """Some queues that are open and have none below them, the job's own children first."""
    parents = {queue.queue.spec.parent for queue in ssn.queues.values()} | {ROOT_QUEUE, job.queue}
    names = [name for name, queue in ssn.queues.items() if queue.is_open and name not in parents]
    return sorted(names, key=lambda name: ssn.queues[name].queue.spec.parent != job.queue)[:2]


def _others_hold(ssn: Session, job: JobInfo) -> bool:
    """Whether there is somebody from whom reclaim could take."""
    return any(other.queue != job.queue and ssn.queues[other.queue].reclaimable
               and not other.allocated.is_empty() for other in ssn.jobs.values())


def _less_important(ssn: Session, job: JobInfo) -> bool:
    """Whether there is somebody in the queue whom preempt could evict for the job."""
    return any(other.queue == job.queue and not other.allocated.is_empty() and other is not job
               and ("priority" not in ssn.plugins or other.priority < job.priority)
               for other in ssn.jobs.values())


def _first(ssn: Session, job: JobInfo) -> int | None:
    """The highest priority of those that wait or took room beside the job, where it counts."""
    return max((other.priority for other in ssn.jobs.values() if other is not job and any(
        not task.pod.spec.node_name for task in other.tasks.values())),
        default=None) if "priority" in ssn.plugins else None


def _for(knobs: Knobs, ssn: Session, job: JobInfo, cause: Cause) -> Iterator[Knob]:
    code, numbers = cause.code, cause.numbers
    level, flat = numbers.get("level", job.queue), "proportion" in ssn.plugins
    limit: Amounts = numbers.get("limit", {})
    missing = {name: amount - limit.get(name, 0.0) for name, amount in numbers.get("asked",
                                                                                   {}).items()}
    if code in BY_CAUSE:
        yield from BY_CAUSE[code](knobs, job, numbers)
    if code in ("over_deserved", "overused") and flat:
        yield from knobs.weight(job.queue)
    if code in CAPABILITY and any(queue.queue.spec.parent for queue in ssn.queues.values()):
        yield from knobs.switch("capacity", "enableHierarchy", True)
    if code in CAPABILITY and not all(limit.values()):
        for above in knobs.line(level):
            yield from knobs.raised(above, "capability", amounts(ssn.total_resource), unset=True)
    if code in CAPABILITY or code == "over_deserved":
        each, steps = numbers.get("each"), 1
        if each:  # others may come first, and take what is added
            steps = sum(not task.node_name for other in ssn.jobs.values()
                        for task in other.tasks.values())
        elif "elastic" in numbers:  # enqueue leaves it out of its sum, allocate does not
            each, steps = numbers["elastic"], 2
        yield from knobs.raised(level, "capability", numbers["asked"], each, steps)
        for other in knobs.queues:  # what is guaranteed to others is kept from this queue
            for name in missing if other not in (job.queue, level) else ():
                yield from knobs.lowered(other, "guarantee", name, missing[name])
    if code == "overcommit_refuses":
        plugin = ssn.plugins["overcommit"]
        yield from knobs.overcommit_factor(max(
            (plugin.factor + amount / ssn.total_resource.get(name)
             for name, amount in missing.items() if ssn.total_resource.get(name)), default=1.0))
    if code == "held_by":
        yield from knobs.gone(numbers.get("ghosts", ()), Rank.HARMLESS)
        stuck = [uid for uid in numbers["holders"] if uid != job.uid and any(
            not task.node_name for task in ssn.jobs[uid].tasks.values())]
        yield from knobs.gone(stuck)
        yield from chain(*(knobs.gone([uid]) for uid in stuck[1:]))
    if code == "never_starts":
        yield from knobs.gone([numbers["job"]], Rank.HARMLESS)
    if code == "came_first" and numbers["plugin"] in ssn.plugins:
        switch = {"job": "enableJobOrder", "queue": "enableQueueOrder"}[numbers["kind"]]
        yield from knobs.switch(numbers["plugin"], switch, False)
        if numbers["plugin"] == "priority":
            yield from knobs.priority(job.uid, ssn.jobs[numbers["first"]].priority)
    yield from chain(*(knobs.gone([uid]) for uid in numbers.get("stranded", ())))
    yield from knobs.freed(job.uid, code)
    yield from _evicting(knobs, ssn, job, cause)


def _evicting(knobs: Knobs, ssn: Session, job: JobInfo, cause: Cause) -> Iterator[Knob]:
    """What would let reclaim or preempt make room."""
    code, numbers = cause.code, cause.numbers
    action = numbers.get("action", "")
    if code == "not_less_important":
        yield from knobs.priority(job.uid, numbers["least"], Rank.SWITCH)
    if code.startswith(("protected_", "not_less_important", "victims_disagree")):
        for plugin in KEEPERS if "disagree" in code else [p for p in KEEPERS
                                                          if p in numbers["plugin"]]:
            yield from knobs.switch(plugin, SWITCHED[action], False)
        if code == "protected_by_gang":
            yield from chain(*map(knobs.min_member, numbers["owners"][:3]))
    for other in numbers.get("queues", ()) if "capacity" in ssn.plugins else ():
        for name, amount in numbers["short_of"].items():
            yield from knobs.lowered(other, "deserved", name, amount)
    yield from chain(*map(knobs.preemptable, numbers.get("kept", ())))
    if code == "reclaim_no_candidates":
        yield from chain(*map(knobs.reclaimable, knobs.queues))
    if code.startswith(("victims_", "reclaim_", "no_reclaim")):
        if "proportion" in ssn.plugins:
            yield from knobs.weight(job.queue)
        else:
            attr = (ssn.plugins["capacity"].queue_opts.get(job.queue)
                    if "capacity" in ssn.plugins else None)
            wants = amounts(attr.request) if attr is not None else {}
            yield from knobs.raised(job.queue, "deserved", {n: a for n, a in wants.items()
                                                            if n != "pods"})


def _less_or_more(knobs: Knobs, ssn: Session, job: JobInfo, causes: list[Cause]) -> Iterator[Knob]:
    """A smaller request, or more nodes: what always is left to do."""
    waiting = [task for task in job.tasks.values() if not task.node_name and not task.sch_gated]
    if job.tasks and not waiting:
        return
    largest = {} if waiting else {name: amount / max(job.min_available, 1) for name, amount
                                  in amounts(job.get_min_resources()).items()}
    for task in waiting:
        for name, amount in amounts(task.init_resreq).items():
            largest[name] = max(amount, largest.get(name, 0.0))
    names = [name for name in _resources(causes) or largest if name != "pods" and name in largest]
    members = max(min(job.min_available, len(waiting) or job.min_available), 1)
    lacking, gang = {}, {}
    allowed: Iterable[str] = ssn.nodes
    for cause in causes:
        asked, limit = cause.numbers.get("asked", {}), cause.numbers.get("limit", {})
        for name, amount in asked.items():
            lacking[name] = max(amount - limit.get(name, 0.0), lacking.get(name, 0.0))
        if cause.code in ROOM:
            for name, amount in cause.numbers["free_on_one_node"].items():
                lacking[name] = max(largest.get(name, 0.0) - amount, lacking.get(name, 0.0))
                gang[name] = members * largest.get(name, 0.0) - cause.numbers["free_in_total"][name]
            allowed = cause.numbers.get("allowed", allowed)
    there = {name for node in ssn.nodes.values() for name, amount in node.allocatable if amount}
    slips = {name: close for name in largest if name not in there and (close := meant(name, there))}
    for name, close in slips.items():
        yield from knobs.renamed(job.uid, name, close)
    for name in (name for name in names if name not in slips):
        less = lacking.get(name, 0.0)
        least = job.get_min_resources().get(name)
        if job.is_pending() and waiting and least > sum(each.resreq.get(name)
                                                        for each in job.tasks.values()):
            yield from knobs.min_resources(job.uid, name, least - less)
            continue
        share = less / members if any("asked" in cause.numbers for cause in causes) else less
        yield from knobs.request(job.uid, name, largest[name] - share)
    if slips:
        return
    devices = {name: amount * min(max(DEVICES // amount, 1), members)
               for name, amount in largest.items() if name not in there and amount}
    for cause in causes:  # of what even an empty node has too little, as much as a pod asks for
        devices = {name: largest[name] for name in cause.numbers.get("largest", {})} | devices
    refused = any(cause.code == "overcommit_refuses" for cause in causes)
    factor = ssn.plugins["overcommit"].factor if refused else 1.0
    wanted = {name: float(ceil(max(amount / factor, gang.get(name, 0.0))))
              for name, amount in lacking.items()}
    yield from knobs.nodes(largest, wanted, allowed, devices)


def _resources(causes: Iterable[Cause]) -> list[str]:
    """The resources that causes name."""
    return list(dict.fromkeys(name for cause in causes if not cause.context
                              for key in ("short_of", "request")
                              for name in cause.numbers.get(key, ()) if name != "pods"))
