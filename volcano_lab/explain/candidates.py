"""Which changes may turn the answer: for each cause those that a maintainer would think of.

Volcano: none
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from volcano_lab.api import PIPELINED, ROOT_QUEUE, JobInfo, Resource, total
from volcano_lab.api.objects import HyperNode
from volcano_lab.changes.change import Change, value_before
from volcano_lab.changes.draft import Draft
from volcano_lab.changes.objects import UNSCHEDULABLE, Setting
from volcano_lab.explain import values
from volcano_lab.explain.conf_options import (
    KEEPERS,
    SWITCHED,
    in_order,
    keeping,
    switched,
    with_action,
    with_plugin,
    without_action,
)
from volcano_lab.explain.explanation import Amounts, Cause
from volcano_lab.explain.nodes import GOING, KUBERNETES
from volcano_lab.explain.options import Option, Rank, World, once, setting
from volcano_lab.explain.owners import comes_whole, ends, grows, lacks_head, runs_on
from volcano_lab.explain.sizes import ROOM, less_or_more, missing
from volcano_lab.explain.slips import selector_slips, values_by_label
from volcano_lab.framework import Session
from volcano_lab.manifests.pod_group_controller import SCHEDULER
from volcano_lab.manifests.schema import unstructure
from volcano_lab.plugins.kube.taints import tolerates
from volcano_lab.plugins.nodegroup import NODE_GROUP_LABEL
from volcano_lab.trace import queue_attributes
from volcano_lab.trace.plain import amounts

CAPABILITY = ("queue_over_capability", "ancestor_over_capability")
ENDED = 4
"""So many jobs at most are waited for."""
AFFINITIES = {"node_affinity": "nodeAffinity", "anti_affinity": "podAntiAffinity",
              "pod_affinity": "podAffinity"}
PATHS: dict[str, tuple[str, ...]] = {
    "gated": ("{job}.schedulingGates=[]",),
    **{code: (f"{{job}}.affinity.{field}=null",) for code, field in AFFINITIES.items()},
    "preempt_not_eligible": ("{job}.preemptionPolicy=PreemptLowerPriority",),
    "revocable_zone": ("{job}.annotations[volcano.sh/preemptable]=true",),
    "other_scheduler": (f"{{job}}.schedulerName={SCHEDULER}",)}
"""Cause -> what could be otherwise; {job} is the one that waits."""

Numbers = dict[str, Any]
BY_CAUSE: dict[str, Callable[[World, JobInfo, Numbers], Iterable[Option]]] = {
    **{f"no_{name}_action": lambda world, job, numbers, name=name: with_action(world, name)
       for name in ("allocate", "backfill", "reclaim")},
    "no_enqueue_action": lambda world, job, numbers: with_action(world, "enqueue", "allocate"),
    **{code: lambda world, job, numbers: values.spread(world, job.uid)
       for code in ("topology_spread", "spread_label")},
    "node_affinity": lambda world, job, numbers: _selector(world, job.uid),
    "driver_nowhere": lambda world, job, numbers: [once("conf/ignored-provisioners=" + ", ".join(
        [*world.conf.ignored_provisioners, numbers["driver"]]), rank=Rank.SWITCH)],
    "not_starving": lambda world, job, numbers: with_action(world, "allocate"),
    "queue_closed": lambda world, job, numbers: _opened(world, job.queue),
    "resource_quota": lambda world, job, numbers: _quota(world, job.namespace, numbers),
    "tree_broken": lambda world, job, numbers: chain(
        *(_parents(world, *each) for each in numbers["missing"].items()),
        *(in_queues(world, uid, below) for uid, below in numbers["inner"].items())),
    "no_default_sub_group": lambda world, job, numbers: _anywhere(world, job.uid),
    "gang_invalid": lambda world, job, numbers: _there(world, job, numbers),
    "node_group": lambda world, job, numbers: _node_groups(world, job.queue, numbers["names"]),
    "taint": lambda world, job, numbers: chain(_tolerations(
        world, job.uid, numbers["names"]), _repaired(world, numbers["names"])),
    "cordoned": lambda world, job, numbers: uncordoned(world, numbers["names"]),
    "topology_too_small": lambda world, job, numbers: values.tiers(world, job.uid)}
"""Cause -> its changes, where these follow from it alone and not by a path."""


def candidates(world: World, ssn: Session, job: JobInfo, causes: list[Cause]) -> list[Option]:
    """The options of a job that waits, those that change least first; each once, and none that
    changes nothing.
    """
    found: dict[Change, Option] = {}
    for option in _options(world, ssn, job, causes):
        known = found.get(option.most)
        if option.steps > 0 and (known is None or option.rank < known.rank):
            found[option.most] = option
    draft = Draft(world.objects, world.index)
    return sorted((option for change, option in found.items() if _changes(world, draft, change)),
                  key=lambda option: option.rank)


def _changes(world: World, draft: Draft, change: Change) -> bool:
    """Whether a change is one: not of what is so already, or of a plugin that is not there."""
    for text in change.settings:
        before = value_before(draft, world.conf, text)
        if text.startswith("plugin/"):
            after = text.partition("=")[2]
            known = before is not None or not text.partition(".")[2].startswith("enable")
            if known and str(before).lower() != after:
                return True
        elif text.startswith("conf/"):
            if before != text.partition("=")[2]:
                return True
        else:
            value = Setting.read(text).value
            if before != value and not (value in (None, []) and not before):
                return True
    return bool(change.removals or change.added)


def _options(world: World, ssn: Session, job: JobInfo, causes: list[Cause]) -> Iterator[Option]:
    codes = {cause.code for cause in causes}
    refused = bool(codes & {*CAPABILITY, "overcommit_refuses"}) and job.is_pending()
    evicts = {"preempt", "reclaim"} & {*world.conf.actions}  # enqueue keeps these from acting
    for cause in causes:
        yield from _for(world, ssn, job, cause)
    yield from with_action(world, "allocate") if "no_enqueue_action" not in codes else ()
    if codes & {*ROOM, *CAPABILITY, "over_deserved", "overcommit_refuses"}:
        yield from _from_others(world, ssn, job, evicts)
    spare = refused and not any(map(grows, ssn.jobs.values()))  # a change for everybody
    evicts = evicts if _others_hold(ssn, job) or _less_important(ssn, job) else set()
    yield from without_action(world, "enqueue") if spare and evicts else ()
    if codes & {*CAPABILITY, "over_deserved", "overused", "queue_closed", "refused", "node_group"}:
        yield from in_queues(world, job.uid, _other_queues(ssn, job))
    ending = dict.fromkeys(uid for cause in causes for uid in cause.numbers.get("holders", ())
                           if uid != job.uid and ends(ssn.jobs[uid]))
    yield from gone(world, [*ending], Rank.WAIT)
    yield from less_or_more(world, ssn, job, causes)
    yield from values.minimum(world, job.uid) if comes_whole(job) else ()
    yield from without_action(world, "enqueue", Rank.LESS) if spare and not evicts else ()


def _from_others(world: World, ssn: Session, job: JobInfo, evicts: set[str]) -> Iterator[Option]:
    """What would let the job take from others, or be served before them."""
    yield from with_action(world, "reclaim") if _others_hold(ssn, job) else ()
    yield from with_action(world, "preempt") if _less_important(ssn, job) else ()
    yield from in_order(world) if evicts else ()
    yield from _reclaimable(world, ssn, job)
    first = _first(ssn, job)
    yield from above(world, job.uid, first) if first is not None else ()


def _others_hold(ssn: Session, job: JobInfo) -> bool:
    """Whether other queues hold anything."""
    return any(other.queue != job.queue and not other.allocated.is_empty()
               for other in ssn.jobs.values())


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


def _other_queues(ssn: Session, job: JobInfo) -> list[str]:
    """Some queues that are open and have none below them, the job's own children first."""
    parents = {queue.queue.spec.parent for queue in ssn.queues.values()} | {ROOT_QUEUE, job.queue}
    names = [name for name, queue in ssn.queues.items() if queue.is_open and name not in parents]
    return sorted(names, key=lambda name: ssn.queues[name].queue.spec.parent != job.queue)[:2]


def _reclaimable(world: World, ssn: Session, job: JobInfo) -> Iterator[Option]:
    """That others' queues which hold something may be reclaimed from."""
    if "reclaim" in world.conf.actions:
        for name in dict.fromkeys(other.queue for other in ssn.jobs.values()
                                  if other.queue != job.queue and not other.allocated.is_empty()):
            yield once(f"queue/{name}.reclaimable=true", rank=Rank.SWITCH)


def _for(world: World, ssn: Session, job: JobInfo, cause: Cause) -> Iterator[Option]:
    code, numbers = cause.code, cause.numbers
    if job.uid in world.groups:
        yield from (once(text.format(job=world.job(job.uid)), rank=Rank.LESS
                         if code in AFFINITIES else Rank.JOB) for text in PATHS.get(code, ()))
    if code in BY_CAUSE:
        yield from BY_CAUSE[code](world, job, numbers)
    if code in ("over_deserved", "overused") and "proportion" in ssn.plugins:
        yield from values.weight(world, job.queue)
    if code in CAPABILITY or code == "over_deserved":
        yield from _limits(world, ssn, job, cause)
    if code == "overcommit_refuses":
        plugin = ssn.plugins["overcommit"]
        yield from values.factor(world, plugin.factor, max(
            (plugin.factor + amount / ssn.total_resource.get(name)
             for name, amount in missing(numbers).items() if ssn.total_resource.get(name)),
            default=1.0))
    if code in ("never_bound", "promise_lost"):
        yield from _kept(world, ssn, job, cause)
    yield from _holding(world, ssn, job, cause)
    yield from _evicting(world, ssn, job, cause)


def _limits(world: World, ssn: Session, job: JobInfo, cause: Cause) -> Iterator[Option]:
    """Higher limits of the queue that refused, or less of what is kept from it."""
    numbers, capability = cause.numbers, cause.code in CAPABILITY
    level = numbers.get("level", job.queue)
    if capability and any(queue.queue.spec.parent for queue in ssn.queues.values()):
        yield once("plugin/capacity.enableHierarchy=true", rank=Rank.SWITCH)
    if capability and not all(numbers.get("limit", {}).values()):
        for name in world.line(level):
            yield from values.raised(world, name, "capability", [amounts(ssn.total_resource)], True)
    yield from values.raised(world, level, "capability", _levels(ssn, job, level, numbers))
    for other in world.queues:  # what is guaranteed to others is kept from this queue
        for name, amount in missing(numbers).items() if other not in (job.queue, level) else ():
            yield from values.lowered(world, other, "guarantee.resource", name, amount)


def _levels(ssn: Session, job: JobInfo, level: str, numbers: Numbers) -> list[Amounts]:
    """What a queue has to hold, the least first: what was refused, with what enqueue leaves out of
    its sum, with the gang whole, with all of its pods; with more, where others come first.
    """
    asked = _resource(numbers["asked"])
    known = queue_attributes(ssn).get(level)
    held = known.allocated if known is not None else Resource()
    sizes = sorted((task.resreq for task in job.tasks.values() if not task.node_name),
                   key=lambda size: -size.get("cpu"))
    minimum, whole = total(sizes[:max(job.min_available, 1)]), total(sizes)
    found = [asked, asked + _resource(numbers.get("elastic", {})), held + minimum, held + whole]
    each = numbers.get("each")
    if each:  # others may come first, and take what is added
        count = sum(not task.node_name for other in ssn.jobs.values()
                    for task in other.tasks.values())
        found += [asked + _resource({name: amount * number for name, amount in each.items()})
                  for number in range(1, count)]
    rows = {repr(row): row for row in map(amounts, found)
            if all(row.get(name, 0.0) >= amount for name, amount in numbers["asked"].items()
                   if name in numbers.get("short_of", ()))}
    return sorted(rows.values(), key=lambda row: [row.get(name, 0.0) for name in (
        *numbers.get("short_of", ()), "cpu", "memory")])


def _resource(some: Amounts) -> Resource:
    return Resource(some.get("cpu", 0.0), some.get("memory", 0.0), {
        name: amount for name, amount in some.items() if name not in ("cpu", "memory")})


def _holding(world: World, ssn: Session, job: JobInfo, cause: Cause) -> Iterator[Option]:
    """That those be gone, or come later, who hold what it takes; none that is meant to run on."""
    code, numbers = cause.code, cause.numbers
    if code == "held_by":
        yield from gone(world, numbers.get("ghosts", ()), Rank.HARMLESS)
        stuck = [uid for uid in numbers["holders"] if uid != job.uid and _stranded(ssn.jobs[uid])]
        yield from gone(world, stuck)
        yield from chain(*(gone(world, [uid]) for uid in stuck[1:]))
    if code == "never_starts" and not runs_on(ssn.jobs[numbers["job"]]):
        yield from gone(world, [numbers["job"]], Rank.HARMLESS)
    if code == "came_first" and numbers["plugin"] in ssn.plugins:
        switch = {"job": "enableJobOrder", "queue": "enableQueueOrder"}[numbers["kind"]]
        yield once(f"plugin/{numbers['plugin']}.{switch}=false", rank=Rank.SWITCH)
        if numbers["plugin"] == "priority":
            yield from above(world, job.uid, ssn.jobs[numbers["first"]].priority)
    yield from chain(*(gone(world, [uid]) for uid in numbers.get("stranded", ())
                       if not runs_on(ssn.jobs[uid])))


def _stranded(job: JobInfo) -> bool:
    """Whether it holds something, is short of pods, and may be started again; one that holds
    nothing waits for its turn as the other does.
    """
    return not runs_on(job) and not job.allocated.is_empty() and any(
        not task.node_name for task in job.tasks.values())


def _kept(world: World, ssn: Session, job: JobInfo, cause: Cause) -> Iterator[Option]:
    """That a promised place is kept: by the order of the next cycle, or as nobody has to go."""
    numbers = cause.numbers
    yield from in_order(world)
    yield from switched(world, "drf", "enableJobOrder", False)
    queues = dict.fromkeys(ssn.jobs[uid].queue for uid in numbers.get("takers", ())
                           if uid in ssn.jobs and ssn.jobs[uid].queue != job.queue)
    for name in queues if job.queue in world.queues else ():
        most = max(world.queues[name].spec.priority, world.queues[job.queue].spec.priority)
        yield once(f"queue/{job.queue}.priority={most + 1}")
    takers = [ssn.jobs[uid].priority for uid in numbers.get("takers", ())
              if uid in ssn.jobs and ssn.jobs[uid].queue == job.queue]
    yield from above(world, job.uid, max(takers)) if takers and "priority" in ssn.plugins else ()
    known = queue_attributes(ssn).get(job.queue)
    promised = [task.init_resreq for task in job.tasks.values() if task.status == PIPELINED]
    if known is not None and "capacity" in ssn.plugins:
        held = known.allocated + total(promised)
        yield from values.raised(world, job.queue, "deserved", [amounts(held)])
    yield from values.weight(world, job.queue) if "proportion" in ssn.plugins else ()
    if numbers.get("against") == "anti_affinity":
        yield once(f"{world.job(job.uid)}.affinity.podAntiAffinity=null", rank=Rank.LESS)
    for size in promised[:1]:
        yield from values.nodes(world, amounts(size), amounts(total(promised)), ssn.nodes, {})


def _evicting(world: World, ssn: Session, job: JobInfo, cause: Cause) -> Iterator[Option]:
    """What would let reclaim or preempt evict for the job."""
    code, numbers = cause.code, cause.numbers
    if code == "not_less_important":
        yield from above(world, job.uid, numbers["least"], Rank.SWITCH)
    if code.startswith(("protected_", "not_less_important", "victims_disagree")):
        yield from _unprotected(world, ssn, cause)
    for other in numbers.get("queues", ()) if "capacity" in ssn.plugins else ():
        for name, amount in numbers["short_of"].items():
            yield from values.lowered(world, other, "deserved", name, amount)
    for uid in numbers.get("kept", ()):
        yield once(f"{world.job(uid)}.annotations[volcano.sh/preemptable]=true", rank=Rank.OTHERS)
    if code in ("gang_content", "minimum_promised"):
        yield from values.whole_minimum(world, job.uid, len(job.tasks))
        yield once("plugin/gang.enableJobStarving=false", rank=Rank.SWITCH)
    if code == "reclaim_no_candidates":
        yield from (once(f"queue/{name}.reclaimable=true", rank=Rank.SWITCH)
                    for name in world.queues)
    if code.startswith(("victims_", "reclaim_", "no_reclaim")):
        yield from _more_deserved(world, ssn, job.queue)


def _unprotected(world: World, ssn: Session, cause: Cause) -> Iterator[Option]:
    """Victims without the plugin, the gang's minimum or the budget that keeps them."""
    action = cause.numbers.get("action", "")
    keepers = KEEPERS if "disagree" in cause.code else [
        plugin for plugin in KEEPERS if plugin in cause.numbers["plugin"]]
    for plugin in keepers:
        yield once(f"plugin/{plugin}.{SWITCHED[action]}=false", rank=Rank.SWITCH, kind="guard")
    if cause.code == "protected_by_gang":
        for uid in cause.numbers["owners"][:3]:
            if comes_whole(ssn.jobs[uid]):
                yield from values.minimum(world, uid, Rank.OTHERS)


def _more_deserved(world: World, ssn: Session, queue: str) -> Iterator[Option]:
    """A queue that deserves more: by its weight, or by the field where capacity reads it."""
    if "proportion" in ssn.plugins:
        yield from values.weight(world, queue)
    elif "capacity" in ssn.plugins:
        known = ssn.plugins["capacity"].queue_opts.get(queue)
        yield from values.raised(world, queue, "deserved",
                                 [] if known is None else [amounts(known.request)])


def sparing(world: World, ssn: Session, job: JobInfo, causes: list[Cause]) -> list[Option]:
    """The options of a job whose pods are evicted, those that change least first: plugins that were
    not asked, orders and switches, its priority, its queue's share, nodes; last that nobody evicts.
    """
    numbers = [cause.numbers for cause in causes if "winners" in cause.numbers]
    actions = dict.fromkeys(name for each in numbers for name in each["actions"])
    winners = [ssn.jobs[uid] for each in numbers for uid in each["winners"] if uid in ssn.jobs]
    unasked = [name for cause in causes for name in cause.numbers.get("later", ())]
    found = [option for name in ["priority"] * ("preempt" in actions) + unasked
             for option in with_plugin(world, name)]
    found += [*in_order(world), *switched(world, "drf", "enableJobOrder", False),
              *switched(world, "priority", "enableJobOrder", True),
              *switched(world, "gang", "enableJobStarving", True)]
    found += [option for action in actions for option in keeping(world, action)]
    most = max((winner.priority for winner in winners), default=job.priority)
    found += above(world, job.uid, most - 1) if most > job.priority else ()
    found += _sparing_queue(world, ssn, job, winners) if "reclaim" in actions else ()
    size = amounts(next(iter(job.tasks.values())).init_resreq)
    found += values.nodes(world, size, {}, ssn.nodes, {})
    found += [option for action in actions for option in without_action(world, action, Rank.LESS)]
    return sorted(found, key=lambda option: option.rank)


def _sparing_queue(world: World, ssn: Session, job: JobInfo, winners: list[JobInfo]
                   ) -> Iterator[Option]:
    """That a job's queue come where those for which it loses pods come, deserve more, or give
    nothing back.
    """
    own = world.queues.get(job.queue)
    if own is None:
        return
    for name in dict.fromkeys(winner.queue for winner in winners if winner.queue in world.queues):
        if own.spec.priority != world.queues[name].spec.priority:
            yield once(f"queue/{job.queue}.priority={world.queues[name].spec.priority}")
    if own.spec.reclaimable is not False:
        yield once(f"queue/{job.queue}.reclaimable=false", rank=Rank.SWITCH)
    yield from values.weight(world, job.queue) if "proportion" in ssn.plugins else ()
    yield from values.raised(world, job.queue, "deserved", [amounts(job.allocated + total(
        task.resreq for task in job.tasks.values() if not task.node_name))])


# -- one thing each -------------------------------------------------------------------------------


def uncordoned(world: World, names: Iterable[str]) -> Iterator[Option]:
    """That one of these nodes take pods again."""
    for name, node in world.nodes_called(names).items():
        if node.spec.unschedulable:
            yield once(f"node/{name}.unschedulable=false", rank=Rank.SWITCH, kind="uncordon")


def _repaired(world: World, names: Iterable[str]) -> Iterator[Option]:
    """That a node is again in the state of which Kubernetes' taints say that it is not."""
    for name, node in world.nodes_called(names).items():
        kept = [taint for taint in node.spec.taints
                if not KUBERNETES.match(taint.key) or taint.key == UNSCHEDULABLE]
        if len(kept) < len(node.spec.taints) and not any(
                GOING.search(taint.key) for taint in node.spec.taints):
            yield once(setting(f"node/{name}", "taints", to=unstructure(kept)), kind="repair")


def _node_groups(world: World, queue: str, names: Iterable[str]) -> Iterator[Option]:
    """That a node be in a group that a queue requires; or that the queue require one that is there.
    """
    affinities = (world.queues[name].spec.affinity for name in world.line(queue))
    affinity = next(filter(None, affinities), None)
    wanted = affinity and affinity.node_group_affinity
    groups = wanted.required_during_scheduling_ignored_during_execution if wanted else []
    there = world.nodes_called(names)
    free = {name: node for name, node in there.items()
            if NODE_GROUP_LABEL not in node.metadata.labels}
    known = dict.fromkeys(node.metadata.labels[NODE_GROUP_LABEL] for node in there.values()
                          if NODE_GROUP_LABEL in node.metadata.labels)
    holder = next((name for name in world.line(queue) if world.queues[name].spec.affinity), "")
    path = ("affinity", "nodeGroupAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    for group in known if groups else ():
        yield once(setting(f"queue/{holder}", *path, to=[*groups, group]), kind="group")
    for name in (free or there) if groups else ():
        yield once(setting(f"node/{name}", "metadata", "labels", NODE_GROUP_LABEL, to=groups[0]),
                   rank=Rank.QUEUE if free else Rank.OTHERS, kind="label")
    if affinity is None:
        yield once("plugin/nodegroup.strict=false", rank=Rank.SWITCH)
    for group in known if affinity is None and queue in world.queues else ():
        yield once(setting(f"queue/{queue}", *path, to=[group]), kind="group")


def _quota(world: World, namespace: str, numbers: Numbers) -> Iterator[Option]:
    """A ResourceQuota that is raised to what its amounts are in sum."""
    for obj in world.objects:
        if obj.kind == "ResourceQuota" and obj.key == f"{namespace}/{numbers['quota']}":
            yield once(*(setting(f"resourcequota/{obj.key}", "status", "hard", name,
                                 to=values.sum_of(parts, obj.status.hard.get(name, "0")))
                         for name, parts in numbers["wanted"].items()))


def _opened(world: World, queue: str) -> Iterator[Option]:
    """That a queue be open, with those above it: below a closed one none can be opened."""
    closed = [name for name in world.line(queue) if world.queues[name].status.state != "Open"]
    if closed:
        yield once(*(f"queue/{name}.status.state=Open" for name in reversed(closed)),
                   rank=Rank.SWITCH)


def _parents(world: World, missing: str, known: str) -> Iterator[Option]:
    """That the queues which name a parent that does not exist name one that does, or that it be
    created, with all that they are to have.
    """
    below = [name for name, queue in world.queues.items() if queue.spec.parent == missing]
    if known:
        yield once(*(f"queue/{name}.parent={known}" for name in below))
    yield values.new_queue(world, missing, below)


def _selector(world: World, uid: str) -> Iterator[Option]:
    """That the pods' node selector name labels as nodes have them; without a slip, that there be
    none.
    """
    labels = values_by_label(world.nodes.values())
    asked: dict[str, str] = {}
    for pod in world.waiting(uid):
        asked |= pod.spec.node_selector
        if slips := selector_slips(pod, labels):
            meant_so = dict(slips.get(pair[0], pair) for pair in pod.spec.node_selector.items())
            yield once(setting(world.job(uid), "nodeSelector", to=meant_so), rank=Rank.JOB)
            return
    if asked:
        yield once(f"{world.job(uid)}.nodeSelector={{}}", rank=Rank.LESS)


def _there(world: World, job: JobInfo, numbers: Numbers) -> Iterator[Option]:
    """The minimum lowered to the pods that exist, of each role that has fewer, or of the gang."""
    short = numbers["roles"]
    for role, (there, _) in short.items() if job.uid in world.groups else ():
        yield once(setting(world.job(job.uid), "minTaskMember", role, to=there), rank=Rank.JOB)
    if not short and job.uid in world.groups and not lacks_head(job):
        yield once(f"{world.job(job.uid)}.minAvailable={numbers['valid']}", rank=Rank.JOB)


def _anywhere(world: World, uid: str) -> Iterator[Option]:
    """A topology that must hold and that the whole cluster fulfils."""
    top = max((obj.spec.tier for obj in world.objects if isinstance(obj, HyperNode)), default=0)
    if uid in world.groups:
        yield once(setting(world.job(uid), "networkTopology", to={
            "mode": "hard", "highestTierAllowed": top + 1}), rank=Rank.JOB)


def _tolerations(world: World, uid: str, names: Iterable[str]) -> Iterator[Option]:
    """That the job's pods tolerate all taints of a node; an option for each set of taints, but for
    those that say that a node does not work.
    """
    seen = set()
    for node in world.nodes_called(names).values():
        taints = [t for t in node.spec.taints if t.effect != "PreferNoSchedule" and not all(any(
            tolerates(own, t) for own in pod.spec.tolerations) for pod in world.waiting(uid))]
        text = values.tolerated(taints)
        if taints and text not in seen and not any(
                KUBERNETES.search(t.key) or GOING.search(t.key) for t in taints):
            seen.add(text)
            yield once(f"{world.job(uid)}.tolerations+={text}", rank=Rank.JOB, kind="toleration")


def above(world: World, uid: str, priority: int, rank: int = Rank.JOB) -> Iterator[Option]:
    """That a job have a PriorityClass above a number."""
    if uid in world.groups:
        yield once(f"{world.job(uid)}.priority={priority + 1}", rank=rank)


def in_queues(world: World, uid: str, queues: Iterable[str]) -> Iterator[Option]:
    """That a job be in another queue."""
    for queue in queues if uid in world.groups else ():
        yield once(f"{world.job(uid)}.queue={queue}", rank=Rank.OTHERS, kind="queue")


def gone(world: World, jobs: Iterable[str], rank: int = Rank.OTHERS) -> Iterator[Option]:
    """That jobs be gone, with their pods, in this order: that they end, or are deleted."""
    there = [uid for uid in jobs if uid in world.groups]
    names = tuple(world.owner(uid) for uid in there)
    if there:
        yield Option(lambda count: Change(removals=names[:count]), rank,
                     min(len(there), ENDED) if rank == Rank.WAIT else len(there))
