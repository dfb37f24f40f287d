"""The origin of a limit: the cluster, a capability, what is guaranteed to others, a weight; and
what no quota mends: closed queues, a broken tree, a job that is too large.

Volcano: none
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from volcano_lab.api import ATTACHABLE, MIN_RESOURCE, PODS, ROOT_QUEUE, JobInfo, Resource, total
from volcano_lab.changes import Change
from volcano_lab.changes.kubectl import kubectl
from volcano_lab.explain.evidence import Evidence, unplaced
from volcano_lab.explain.explanation import Amounts, Cause, deciding, over, part
from volcano_lab.explain.requests import at_first, not_announced
from volcano_lab.framework import Session
from volcano_lab.messages import Message, alike, known, meant
from volcano_lab.trace import Record, amounts, grouped, queue_attributes

SHARES = frozenset({"proportion", "capacity"})
"""The plugins that compute what queues deserve, by their weights or by their specs."""
CLOSED_WITH = "volcano.sh/closed-by-parent"
BUILT_IN = ("system-cluster-critical", "system-node-critical")
"""PriorityClasses that each cluster has."""
UNLIMITED = 1e300
"""An amount of a capability that names no limit."""
TOO_LARGE = ("no_nodes", "pod_too_large", "cluster_too_small")
"""Causes that hold whatever others leave."""


def of_cluster(seen: Evidence, limit: Amounts, level: str) -> bool:
    """Whether a queue's limit is all that the cluster has, and no capability, its own or of a queue
    above it, names the same.
    """
    named = {name for each in (level, *above(seen, level)) if each in seen.ssn.queues
             for name in seen.ssn.queues[each].queue.spec.capability or ()}
    return bool(limit) and named.isdisjoint(limit) and all(_same(
        seen.ssn.total_resource.get(name), limit[name]) for name in limit)


def above_limit(seen: Evidence, queue: str, context: bool = False) -> Iterator[Cause]:
    """Yield of which resources a queue holds more than its limit."""
    sums: Any = seen.state_at(next(reversed(seen.trace.records), None))["queues"].get(queue, {})
    held, may = sums.get("allocated", {}), sums.get("real_capability", {})
    limited = [name for name, amount in sums.get("capability", {}).items() if amount < UNLIMITED]
    if above := over(part(held, limited), may):
        yield Cause.of("queue_above_limit", context=context, queue=queue,
                       held=part(held, above), limit=part(may, above))


def limit_origin(seen: Evidence, level: str, limit: Amounts) -> list[Message]:
    """Return what limits a queue to these amounts; nothing where an origin is unknown."""
    if of_cluster(seen, limit, level):
        return [Message("origin.cluster")]
    parts = [_origin(seen, level, name, amount) for name, amount in limit.items()]
    return [*{(each.code, str(each.facts)): each for each in parts if each}.values()
            ] if all(parts) else []


def over_cause(seen: Evidence, job: JobInfo, level: str, code: str, names: list[str],
               sums: tuple[Amounts, Amounts], records: Sequence[Record] = (),
               numbers: dict[str, Any] | None = None, **facts: Any) -> Cause:
    """Return that a queue, or one above it, would hold more than its limit: `sums` are (asked, the
    limit), `facts` are further ones of the message `code`.
    """
    asked, limit, own = part(sums[0], names), part(sums[1], names), level == job.queue
    where = Message("queue.this" if own else "queue.above", queue=level, below=job.queue)
    code += ".cluster" * (of_cluster(seen, limit, level) and known(f"{code}.cluster"))
    said = Message(code, asked=asked, limit=limit, origin=limit_origin(seen, level, limit),
                   **{"queue": where, **facts})
    return Cause("queue_over_capability" if own else "ancestor_over_capability",
                 [said, *(_owed(seen, job, level, names) if records else ())],
                 {"asked": asked, "limit": limit, "short_of": names, "level": level,
                  **(numbers or {})}, [*records])


def _owed(seen: Evidence, job: JobInfo, level: str, names: list[str]) -> Iterator[Message]:
    """Yield why the guarantee, or the share, of a job's queue does not help against a full queue
    above it.
    """
    sums = seen.trace.start["queues"].get(job.queue, {})
    for field in ["guarantee", *["deserved"] * ("reclaim" in seen.ssn.enabled_actions)]:
        due = over(part(sums.get(field, {}), names), sums.get("allocated", {}))
        if due and level != job.queue and job.is_pending():
            yield Message(f"owed.{field}", queue=job.queue, due=part(sums[field], due),
                          held=part(sums["allocated"], due))


def guaranteed(seen: Evidence, job: JobInfo, names: Iterable[str]) -> Iterator[Cause]:
    """Yield why the guarantee of a job's queue gives it nothing of some resources: it is used, more
    than the queue may hold, or held by others, from which only reclaim takes it back.
    """
    queues = seen.trace.start["queues"]
    sums: dict[str, Amounts] = queues.get(job.queue, {"guarantee": {}})
    if not (due := over(part(sums["guarantee"], names), {})) or seen.brief:
        return
    held, limit = part(sums["allocated"], due), part(sums["real_capability"], due)
    due = part(sums["guarantee"], due)
    facts: dict[str, Any] = {"queue": job.queue, "due": due}
    if more := over(due, limit):
        yield Cause.of("guaranteed.limit", context=True, limit=part(limit, more),
                       origin=limit_origin(seen, job.queue, part(limit, more)), **facts)
    elif not over(due, held):
        yield Cause.of("guaranteed.used", context=True, jobs=[seen.called(
            uid) for uid, each in seen.ssn.jobs.items() if each is not job
            and each.queue == job.queue and any(map(each.allocated.get, due))], **facts)
    else:
        beyond = {name: over(part(each["allocated"], due), each["real_capability"])
                  for name, each in queues.items() if name not in (ROOT_QUEUE, job.queue)}
        by = "reclaim" if "reclaim" in seen.ssn.enabled_actions else "no_reclaim"
        others = [Message("guaranteed.other", queue=name, **{
            key: part(queues[name][what], more) for key, what in (
                ("held", "allocated"), ("limit", "real_capability"))})
                  for name, more in beyond.items() if more]
        yield Cause.of("guaranteed", Message(f"guaranteed.{by}"), context=True, held=held,
                       others=others, **facts)


def above(seen: Evidence, queue: str) -> list[str]:
    """Return the queues above a queue, its parent first."""
    tree = getattr(seen.ssn.plugins.get("capacity"), "queue_opts", {})
    return [*reversed(getattr(tree.get(queue), "ancestors", ()))]


CONTROLLERS = "kubectl logs -n volcano-system deployment/volcano-controllers"
"""What the controller that sets the state of queues writes."""


def closed(seen: Evidence, queue: str, job: str = "") -> Cause:
    """Return that a queue is not open, with the records that refuse a job in it."""
    closed_too = [name for name in above(seen, queue) if not seen.ssn.queues[name].is_open]
    records = [record for record in (*seen.of("allocatable", queue=queue)[:1],
                                     *seen.of("job_enqueueable", job=job)[:1])
               if record["answer"] in (False, -1)]
    marked = [name for name, each in seen.ssn.queues.items()
              if each.queue.metadata.annotations.get(CLOSED_WITH) == "true"]
    found = [Message("queue_closed.with", queue=queue, above=top, note=CLOSED_WITH, queues=[
        name for name in marked if top in above(seen, name)])
        for top in closed_too[-1:] if queue in marked]
    state = seen.ssn.queues[queue].queue.status.state or "unset"
    inside = sum(job.queue == queue for job in seen.ssn.jobs.values())
    found += [] if state == "Closed" else [Message(
        f"queue_closed.{'closing' if state == 'Closing' and inside else 'by_controller'}", n=inside,
        command=CONTROLLERS)]
    by_hand = kubectl(Change((f"queue/{queue}.state=Open",)), seen.objects)
    found += [Message("queue_closed.by_hand", command=each) for each in by_hand if not closed_too]
    return Cause.of("queue_closed", *found, queue=queue, records=records, state=state,
                    above=Message("queue_closed.above", queues=closed_too) if closed_too else None)


def refused(seen: Evidence, record: Record, code: str, **facts: Any) -> Cause:
    """Return that a plugin refuses; for capacity, what breaks its tree of queues."""
    plugin = record["plugin"]
    if getattr(seen.ssn.plugins[plugin], "ready", True):
        return Cause("refused", Message(code, plugin=plugin, **facts), {}, [record])
    queues = seen.ssn.queues
    below = grouped((each.queue.spec.parent or ROOT_QUEUE, name) for name, each in queues.items())
    parts = [Message("tree.missing", queue=name, children=below[name], near=near(name, queues))
             for name in below if name not in queues]
    inner = grouped((job.queue, uid) for uid, job in seen.ssn.jobs.items() if job.queue in below)
    parts += [Message("tree.inner", job=seen.called(uid), queue=queue)
              for queue, uids in inner.items() for uid in uids]
    astray = [(each, meant(name, sorted(queues.keys() - {each}), 0.8) or ROOT_QUEUE)
              for name in below if name not in queues for each in below[name]]
    return Cause("tree_broken", Message("tree_broken", parts=parts, plugin=plugin),
                 {"astray": astray, "inner": inner, "holders": [*chain(*inner.values())]}, [record])


def both_share(seen: Evidence, causes: Iterable[Cause]) -> Iterator[Cause]:
    """Yield which of proportion and capacity decides where both are configured, and which to drop.
    """
    by = SHARES & deciding(causes)
    if by and {*seen.ssn.conf.plugin_names()} >= SHARES:
        tree = any(queue.queue.spec.deserved or queue.queue.spec.parent not in ("", ROOT_QUEUE)
                   for name, queue in seen.ssn.queues.items() if name != ROOT_QUEUE)
        drop = "proportion" if tree else "capacity"
        yield Cause.of("both_share", Message(f"both_share.{drop}"), context=True, by=sorted(by),
                       drop=drop)


def deserved_beyond(ssn: Session) -> tuple[Amounts, Amounts]:
    """Return (what queues without others below them deserve in sum, what the cluster has), of the
    resources of which that is less, where capacity reads `spec.deserved`.
    """
    parents = {ROOT_QUEUE} | {queue.queue.spec.parent for queue in ssn.queues.values()}
    due = amounts(total(Resource.from_list(queue.queue.spec.deserved) for name, queue
                        in ssn.queues.items() if name not in parents))
    there = amounts(ssn.total_resource)
    names = [*over(due, there)] if "capacity" in ssn.plugins else []
    return part(due, names), part(there, names)


def unknown_class(job: JobInfo, classes: list[str], called: str) -> Message | None:
    """That its PodGroup names a PriorityClass which is not among those that there are."""
    name = job.pod_group.spec.priority_class_name
    return Message("priority.unknown_class", name=name, job=called, priority=job.priority,
                   near=near(name, classes)) if (
        name and classes and name not in (*classes, *BUILT_IN)) else None


def best_effort(seen: Evidence, queue: str, context: bool = False) -> Iterator[Cause]:
    """Yield that a queue deserves nothing by capacity; as `context`, where a job may reclaim."""
    sums = seen.trace.start["queues"].get(queue)
    priority = seen.ssn.queues[queue].queue.spec.priority
    if "capacity" in seen.ssn.plugins and sums is not None and not over(sums["deserved"], {}) and (
            not context or "reclaim" in seen.ssn.enabled_actions):
        yield Cause.of("best_effort_queue", Message(
            "best_effort_queue.priority", priority=priority) if priority > 0 else None,
            context=context, queue=queue)


def too_large(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield that no node could hold one of its pods, or all nodes together not its minimum, even
    empty; or that there is no node.
    """
    for task in unplaced(job) if seen.ssn.nodes else ():
        asked, most = amounts(task.init_resreq), seen.largest_nodes
        if names := over(asked, most):
            yield Cause.of("pod_too_large", *at_first(seen, task, names),
                           *not_announced(seen, names, task), context=True, pod=task.key,
                           asked=part(asked, names), largest=part(most, names))
            return
    yield from cluster_too_small(seen, job)


def cluster_too_small(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield that all nodes together have less than the job's minimum requests, or than all of its
    pods do, or are none.
    """
    asked, there = minimum_above(job, seen.ssn.total_resource)
    whole, most = minimum_above(job, seen.ssn.total_resource, len(job.tasks))
    if not seen.ssn.nodes:
        yield Cause.of("no_nodes", context=True)
    elif asked:
        first = next(iter(unplaced(job)), None)
        yield Cause.of("cluster_too_small", *(not_announced(seen, asked, first) if first else ()),
                       context=True, least=job.min_available, asked=asked, there=there)
    elif whole:
        yield Cause.of("never_whole", context=True, n=len(job.tasks), asked=whole, there=most)


def above_queue(ssn: Session, job: JobInfo) -> Iterator[tuple[str, Amounts, Amounts]]:
    """Yield the queues, its own first, that may hold less than a job's minimum requests: (queue,
    that request, the limit), of the resources of which they may hold any.
    """
    attrs = queue_attributes(ssn)
    own: Any = attrs.get(job.queue)
    for level in [job.queue, *reversed(getattr(own, "ancestors", ()))] if own else ():
        asked, limit = minimum_above(job, attrs[level].real_capability)
        if names := [name for name in asked if limit[name] > 0 and name != PODS]:
            yield level, part(asked, names), part(limit, names)


def minimum_above(job: JobInfo, most: Resource, least: int | None = None
                  ) -> tuple[Amounts, Amounts]:
    """Return (what a job's minimum, or so many pods of it, request, the most that there is), of the
    resources in which that is less.
    """
    least = job.min_available if least is None else least
    sizes, there = [task.init_resreq for task in job.tasks.values()], amounts(most)
    if sizes and len(sizes) < least:
        return {}, {}
    names = dict.fromkeys(name for size in sizes for name, _ in size)
    asked = least_request(job, least, names) if sizes else amounts(job.get_min_resources())
    more = [name for name in over(asked, there) if not name.startswith(ATTACHABLE)]
    return part(asked, more), part(there, more)


def least_request(job: JobInfo, count: int, names: Iterable[str]) -> Amounts:
    """Return what so many of a job's pods request of some resources, of each those with least."""
    sizes = [task.init_resreq for task in job.tasks.values()]
    return {name: sum(sorted(size.get(name) for size in sizes)[:count]) for name in names}


def near(name: str, known: Iterable[str]) -> Message:
    """Return the names that are like one, or else the first known ones."""
    found = alike(name, known)
    return Message("near", names=found) if found else Message("near.none", names=[*known])


def _origin(seen: Evidence, level: str, name: str, amount: float) -> Message | None:
    """What limits a queue to this amount of a resource."""
    attrs, line = queue_attributes(seen.ssn), [level, *above(seen, level)]
    if not attrs.keys() & seen.ssn.queues.keys() >= {*line}:
        return None
    limits = {each: seen.ssn.queues[each].queue.spec.capability or {} for each in line}
    if name in limits[level] and _same(Resource.from_list(limits[level]).get(name), amount):
        return Message("origin.capability")
    parent = next(iter(line[1:]), None)
    whole = (attrs[parent].real_capability if parent else seen.ssn.total_resource).get(name)
    if parent and _same(whole, amount):
        return Message("origin.parent", parent=parent)
    limited = next(filter(limits.get, line[1:]), None)
    if limited and not amount and name not in {**limits[level], **limits[limited]}:
        return Message("origin.unnamed", above=limited, resource=name)
    return _left_by_others(seen, level, parent, name, (amount, whole))


def _left_by_others(seen: Evidence, level: str, parent: str | None, name: str,
                    sums: tuple[float, float]) -> Message | None:
    """That a limit is what the guarantees of others leave, of its siblings in a tree or all other
    queues: `sums` are (the limit, the whole).
    """
    (amount, whole), queues = sums, seen.ssn.queues
    siblings = queue_attributes(seen.ssn)[parent].children if parent else queues
    guaranteed = {each: Resource.from_list(queues[each].queue.spec.guarantee.resource).get(name)
                  for each in siblings if each in queues}
    own = guaranteed.pop(level, 0.0)
    others = sorted(filter(guaranteed.get, guaranteed), key=lambda each: -guaranteed[each])
    kept = sum(guaranteed.values())
    facts = {"kept": {name: kept}, "whole": Message(
        "origin.in_parent" if parent else "origin.in_cluster", amount={name: whole}, parent=parent)}
    if own and _same(own, amount) and whole - kept < own:
        return Message("origin.guarantee", **facts)
    jobs = {job.queue for job in seen.ssn.jobs.values()}
    used = jobs.union(*(above(seen, name) for name in jobs))
    return Message("origin.less", **facts, queues=[
        each if each in used else Message("origin.idle", queue=each) for each in others]) if (
        others and _same(max(whole - kept, 0.0), amount)) else None


def _same(left: float, right: float) -> bool:
    return abs(left - right) < MIN_RESOURCE
