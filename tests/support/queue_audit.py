"""Compare what the plugins proportion, capacity and drf keep with sums over tasks and objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import inf
from typing import Any

from volcano_lab.api.job import JobInfo
from volcano_lab.api.queue import ROOT_QUEUE, QueueInfo
from volcano_lab.api.resource import (
    CPU,
    EMPTY,
    MEMORY,
    MIN_RESOURCE,
    PODS,
    Resource,
    share_of,
    total,
)
from volcano_lab.api.status import ALLOCATED_STATUSES, PENDING, PIPELINED
from volcano_lab.api.task import TaskInfo
from volcano_lab.framework.session import Session
from volcano_lab.framework.statement import Operation
from volcano_lab.simulation.invariants import above, differ

COUNTED = ALLOCATED_STATUSES | {PIPELINED}
"""Statuses that count for a queue: what is promised, too."""


class QueueAudit:
    """The queues of one session, recounted: at its opening, in its order of queues, at its end."""

    def __init__(self, ssn: Session):
        self.ssn = ssn
        plugin = ssn.plugins.get("proportion") or ssn.plugins.get("capacity")
        broken = plugin is None or not getattr(plugin, "ready", True)  # a tree without its root
        self.attrs: dict[str, Any] = {} if broken else plugin.queue_opts
        self.request = self._sums(lambda job: requested(
            task for task in job.tasks.values() if task.status in COUNTED | {PENDING}))
        self.inqueue = self._sums(reserved)
        self.elastic = self._sums(lambda job: job.allocated.exceeded_part(
            Resource.from_list(job.pod_group.spec.min_resources)))
        self.permitted = EMPTY  # by plugin resourcequota, in this session
        self.everything = total(map(reserved, ssn.jobs.values()))
        self.shares = {name: self._share(name) for name in self.attrs}

    def _sums(self, of: Callable[[JobInfo], Resource]) -> dict[str, Resource]:
        """Add something up over the jobs of each queue and of all queues below it."""
        sums = dict.fromkeys(self.attrs, EMPTY)
        for job in self.ssn.jobs.values():
            amount = of(job)
            for name in line(self.ssn, job.queue):
                if name in sums:
                    sums[name] = sums[name] + amount
        return sums

    def admitted(self, job: JobInfo) -> None:
        """A job was admitted: its minimum is reserved on every level, unless plugin sla admits it
        in a tier before the queue's plugin is asked.
        """
        self.everything = self.everything + reserved(job)
        tiers = [[plugin for plugin, _ in tier]
                 for tier in self.ssn.points["job_enqueueable"].tiers]
        first = next((tier for tier in tiers if {*tier} & {"sla", "proportion", "capacity"}), [])
        if first == ["sla"] and self.ssn.now >= deadline(self.ssn, job):
            return
        for name in line(self.ssn, job.queue):
            if name in self.inqueue:
                self.inqueue[name] = self.inqueue[name] + reserved(job)

    def opening_problems(self) -> Iterator[str]:
        """What queues count and deserve when the session opens."""
        yield from self.closing_problems()
        for name, attr in self.attrs.items():
            if differ(attr.elastic, self.elastic[name]):
                yield (f"queue {name} counts elastic {attr.elastic}, "
                       f"its jobs make {self.elastic[name]}")
        yield from self._limit_problems()
        if "proportion" not in self.ssn.plugins:
            return
        yield from self._sharing_problems()
        deserved = total(attr.deserved for attr in self.attrs.values())
        guaranteed = not all(attr.guarantee.is_empty() for attr in self.attrs.values())
        if not guaranteed and above(deserved, self.ssn.total_resource):
            yield (f"the queues deserve {deserved}, "
                   f"more than the cluster's {self.ssn.total_resource}")
        for name, attr in self.attrs.items():
            if above(attr.deserved, attr.real_capability) or (not guaranteed and above(
                    attr.deserved, attr.request)):
                yield f"queue {name} deserves {attr.deserved}, more than it requests or may hold"
            if above(attr.guarantee, attr.deserved):
                yield f"queue {name} deserves {attr.deserved}, less than its guarantee"

    def _sharing_problems(self) -> Iterator[str]:
        """What is left goes to queues that request more, and by weight: of two without a guarantee,
        the one that lacks something has as much of it for its weight.
        """
        free = {name: attr for name, attr in self.attrs.items() if attr.guarantee.is_empty()}
        for of in (CPU, MEMORY):
            whole = self.ssn.total_resource.get(of)
            has = {name: attr.deserved.get(of) for name, attr in self.attrs.items()}
            slack = 1.0 + whole * 1e-6
            poor = [name for name, attr in free.items() if has[name] + slack < min(
                attr.request.get(of), attr.real_capability.get(of))]
            if poor and len(free) == len(has) and sum(has.values()) + slack < whole:
                yield f"queue {poor[0]} lacks {of}, of which no queue deserves the last part"
            of_weight = {name: has[name] / self.ssn.queues[name].weight for name in free}
            yield from (f"queue {name} lacks {of}, and {other} deserves more for its weight"
                        for name in poor for other in free
                        if of_weight[other] > of_weight[name] + slack)

    def _limit_problems(self) -> Iterator[str]:
        """Each queue may hold what others' guarantees leave of its parent, or of the cluster,
        within its own capability; and by flat capacity it deserves no more.
        """
        for name, attr in self.attrs.items():
            limit, spec = self._limit(name), self.ssn.queues[name].queue.spec
            due, least = (Resource.from_list(amounts)
                          for amounts in (spec.deserved, spec.guarantee.resource))
            for of in (CPU, MEMORY):
                if abs(attr.real_capability.get(of) - limit[of]) >= MIN_RESOURCE:
                    yield f"queue {name} may hold {attr.real_capability}, and should {limit}"
                deserved = max(min(due.get(of), limit[of]), least.get(of))
                if "proportion" not in self.ssn.plugins and ROOT_QUEUE not in self.attrs and (
                        attr.deserved.get(of) != deserved):
                    yield f"queue {name} deserves {attr.deserved}, and should {deserved} of {of}"

    def _limit(self, name: str) -> dict[str, float]:
        """Return how much CPU and memory a queue may hold."""
        above_it, queues = line(self.ssn, name)[1:2], self.ssn.queues
        beside = [other for other in queues if line(self.ssn, other)[1:2] == above_it]
        given = self._limit(above_it[0]) if above_it else dict(self.ssn.total_resource)
        spec, limit = queues[name].queue.spec, {}
        for of in (CPU, MEMORY):
            kept = sum(Resource.from_list(queues[other].queue.spec.guarantee.resource).get(of)
                       for other in beside)
            own = Resource.from_list(spec.guarantee.resource).get(of)
            limit[of] = given[of] if name == ROOT_QUEUE and ROOT_QUEUE in self.attrs else min(
                max(given[of] - kept, 0.0) + own,
                Resource.from_list(spec.capability).get(of) or float("inf"))
        return limit

    def closing_problems(self) -> Iterator[str]:
        """What queues count as allocated, requested, reserved, on every level, and jobs for drf."""
        allocated = self._sums(held)
        for name, attr in self.attrs.items():
            for what, counted, expected in (("", attr.allocated, allocated[name]),
                                            ("request ", attr.request, self.request[name]),
                                            ("inqueue ", whole(attr.inqueue), self.inqueue[name])):
                if differ(counted, expected):
                    yield f"queue {name} counts {what}{counted}, its jobs make {expected}"
        drf = self.ssn.plugins.get("drf")
        for uid, share in (drf.job_attrs if drf is not None else {}).items():
            expected = held(self.ssn.jobs[uid])
            if differ(share.allocated, expected):
                yield f"drf counts {share.allocated} for job {uid}, its tasks make {expected}"
            everything = self.ssn.total_resource
            parts = [share_of(expected.get(name), everything.get(name))
                     for name in everything.resource_names()]
            if abs(share.share - max(parts, default=0.0)) > 1e-9:
                yield f"drf gives job {uid} a share of {share.share}, its tasks one of {max(parts)}"
        hierarchy = drf and drf.hierarchical and drf.hierarchy
        if hierarchy and differ(hierarchy.total_allocated,
                                total(map(held, self.ssn.jobs.values()))):
            yield f"drf counts {hierarchy.total_allocated} for all jobs"

    def order_problems(self, action: str, queue: QueueInfo, rest: Any) -> Iterator[str]:
        """Higher priority first, then the lower share; in reclaim others' shares change meanwhile.
        """
        drf = self.ssn.plugins.get("drf")
        if action not in ("enqueue", "allocate") or not self.attrs or (drf and drf.hierarchical):
            return
        for other in rest.items:
            if self._place(other, queue) < self._place(queue, other):
                yield f"{action} takes queue {queue.name} before {other.name}, whose turn it is"

    def _place(self, queue: QueueInfo, other: QueueInfo) -> tuple[int, float]:
        """Return what orders a queue against another: in a tree the share of its branch below their
        last common ancestor, as it was when the session opened, or the queue's own as it is now.
        """
        ways = (reversed(line(self.ssn, each.uid)) for each in (queue, other))
        branch = next((mine for mine, theirs in zip(*ways, strict=False) if mine != theirs),
                      queue.uid)
        share = self._share(branch) if branch == queue.uid else self.shares[branch]
        return -queue.queue.spec.priority, share

    def _share(self, name: str) -> float:
        has, due = held_in(self.ssn, name), self.attrs[name].deserved
        shares = [share_of(has.get(of), due.get(of)) for of in due.resource_names()]
        best_effort = "capacity" in self.ssn.plugins and due.is_empty()
        return 1.0 if best_effort else round(max(shares, default=0.0), 9)


def limit_problems(ssn: Session, operation: Operation) -> Iterator[str]:
    """A queue that is given a task stays within its limit, and so does every queue above it."""
    job = ssn.jobs[operation.task.job]
    for plugin, limit in (("proportion", "deserved"), ("capacity", "real_capability")):
        attrs = ssn.plugins[plugin].queue_opts if plugin in ssn.plugins else {}
        for name in line(ssn, job.queue):
            if name in attrs and above_where(held_in(ssn, name), getattr(attrs[name], limit),
                                             operation.task.resreq):
                yield f"{operation}: queue {name} now holds more than its {limit.replace('_', ' ')}"


def deadline(ssn: Session, job: JobInfo) -> float:
    """Return until when a job may wait by plugin sla."""
    waiting = job.waiting_time or ssn.plugins["sla"].waiting_time
    return inf if waiting is None else job.creation_timestamp + waiting


def has_room(ssn: Session, task: TaskInfo, evicted: TaskInfo) -> bool:
    """Return whether the task's queue could have it before another of that queue was evicted; what
    is above a limit by the smallest part of a unit is above it.
    """
    for plugin, limit in (("proportion", "deserved"), ("capacity", "real_capability")):
        attrs = ssn.plugins[plugin].queue_opts if plugin in ssn.plugins else {}
        for name in line(ssn, ssn.jobs[task.job].queue):
            wanted = held_in(ssn, name) + evicted.resreq + task.resreq
            if name in attrs and any(wanted.get(of) > getattr(attrs[name], limit).get(of)
                                     for of, _ in task.resreq):
                return False
    return True


def line(ssn: Session, queue: str) -> list[str]:
    """Return a queue and the queues above it; under proportion and flat capacity itself alone."""
    capacity = ssn.plugins.get("capacity")
    if capacity is None or not ssn.hierarchy_enabled("capacity"):
        return [queue]
    names = [queue]
    while names[-1] != ROOT_QUEUE and names[-1] in ssn.queues:
        names.append(ssn.queues[names[-1]].queue.spec.parent or ROOT_QUEUE)
    return names


def above_where(left: Resource, right: Resource, where: Resource) -> bool:
    """Return whether an amount exceeds another in any dimension that `where` has."""
    return any(left.get(name) - right.get(name) >= MIN_RESOURCE and name != PODS
               for name in where.resource_names())


def requested(tasks: Iterable[TaskInfo]) -> Resource:
    """Return the sum of what some tasks request."""
    return total(task.resreq for task in tasks)


def held(job: JobInfo) -> Resource:
    """Return what a job's tasks hold or are promised."""
    return requested(task for task in job.tasks.values() if task.status in COUNTED)


def held_in(ssn: Session, queue: str) -> Resource:
    """Return what the jobs of a queue and of those below it hold or are promised."""
    return total(held(job) for job in ssn.jobs.values() if queue in line(ssn, job.queue))


def reserved(job: JobInfo) -> Resource:
    """Return the CPU and memory that an admitted job reserves beyond what it has allocated, but for
    pods with a gate.
    """
    phase, least = job.pod_group.status.phase, Resource.from_list(job.pod_group.spec.min_resources)
    holding = [task for task in job.tasks.values() if task.status in ALLOCATED_STATUSES]
    gated = requested(task for task in job.tasks.values() if task.pod.spec.scheduling_gates)
    if phase == "Running" and len(holding) >= job.pod_group.spec.min_member:
        return whole(least.exceeded_part(requested(holding)).exceeded_part(gated))
    return whole(least.exceeded_part(gated)) if phase == "Inqueue" else EMPTY


def whole(resource: Resource) -> Resource:
    """Return an amount without scalars, of which Volcano reserves another unit than it compares."""
    return Resource(resource.get(CPU), resource.get(MEMORY))
