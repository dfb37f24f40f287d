"""What an earlier release of Volcano decides otherwise about a job, where the cluster runs one: the
rows of the table `earlier` of `tables.toml`, each with its sentence `earlier.ROW`.

Volcano: none
"""

from collections.abc import Iterator
from functools import reduce
from itertools import islice
from typing import Any

from volcano_lab.api import PIPELINED, ROOT_QUEUE, TASK_SPEC, JobInfo, Memo, Resource, TaskInfo
from volcano_lab.api.task import PREEMPTABLE
from volcano_lab.explain.evidence import Evidence, requested, unplaced
from volcano_lab.explain.explanation import Amounts, added, over, part
from volcano_lab.explain.holders import is_ghost, largest
from volcano_lab.explain.releases import ROWS, differs
from volcano_lab.messages import Message
from volcano_lab.trace import amounts

Facts = dict[str, Any]
SIZES = {"cpu", "memory"}


def earlier(seen: Evidence, job: JobInfo) -> list[Message]:
    """Return what the release that runs decides otherwise about pods that are placed here."""
    look, names = _Look(seen, job), seen.ssn.plugins.keys() | seen.ssn.enabled_actions
    phase = seen.trace.start["jobs"][job.uid]["phase"]
    rows = {code: row for code, row in ROWS.items() if differs(seen.scheduler, code)
            and names >= {*row.get("with", ())} and names.isdisjoint(row.get("without", ()))
            and phase in row.get("phases", [phase])}
    return [Message(f"earlier.{code}", to=row["to"].split()[-1], since=row.get("since"), **facts)
            for code, row in rows.items()
            for facts in islice(getattr(look, row.get("finds", "compared"))(row), 1)]


class _Look:
    """By which facts rows apply: methods that yield those of a sentence."""

    def __init__(self, seen: Evidence, job: JobInfo):
        self.seen, self.ssn, self.job = seen, seen.ssn, job
        self.sums = Memo[str, dict[str, Amounts]](lambda key: _sums(seen, seen.tasks[key]))

    def compared(self, row: Facts) -> Iterator[Facts]:
        """Pods for which amounts are above others, or `within` them; of those that an action
        pipelines, or of all.
        """
        tasks = self.job.in_status(PIPELINED) if "by" in row else self.job.tasks
        for task in tasks.values() if "amounts" in row else ():
            how = {each.action for each in self.seen.of("do", task=task.key, operation="pipeline")}
            if task.node_name and row.get("by") in {None, *how}:
                some, limit = map(self.sums[task.key].__getitem__, row["amounts"])
                if bool(more := over(some, limit)) is not row.get("within", False):
                    yield {"queue": self.job.queue, "pod": task.key, "node": task.node_name,
                           "some": part(some, more), "limit": part(limit, more)}

    def after(self, row: Facts) -> Iterator[Facts]:
        """Pods of the job for which allocate finds no node before the last that it places."""
        chose = self.seen.calls_about(self.job, "chose", "allocate")
        last = max((each.number for each in chose if each.get("node")), default=0)
        yield from ({"pod": each["task"]} for each in chose
                    if each.get("node") is None and each.number < last)

    def backfill(self, row: Facts) -> Iterator[Facts]:
        """Pods of other jobs without requests and without a node, where one of the job has one."""
        own = any(task.best_effort and task.node_name for task in self.job.tasks.values())
        yield from ({"pod": task.key} for job in self.ssn.jobs.values() for task in unplaced(job)
                    if own and task.best_effort and not job.is_pending())

    def roles(self, row: Facts) -> Iterator[Facts]:
        """Different requests of pods without a role."""
        sizes = {str(amounts(task.init_resreq)): amounts(task.init_resreq)
                 for task in self.job.tasks.values() if not task.task_role}
        yield from [{"sizes": [*sizes.values()], "annotation": TASK_SPEC}] * (len(sizes) > 1)

    def zero(self, row: Facts) -> Iterator[Facts]:
        """Tasks without pods whose minimum is 0, where the minima of tasks are compared."""
        names = {role for role, least in self.job.task_min_available.items() if not least} - {
            task.task_role for task in self.job.tasks.values()}
        compared = self.job.min_available >= self.job.task_min_available_total
        yield from [{"tasks": sorted(names)}] * bool(names and compared)

    def queues(self, row: Facts) -> Iterator[Facts]:
        """The queue of the namespace's jobs that was created first, where it is another one."""
        _, first = min((self.ssn.queues[each.queue].queue.metadata.creation_timestamp or 0.0,
                        each.queue) for each in self.ssn.jobs.values()
                       if each.namespace == self.job.namespace)
        yield from [{"first": first}] if first != self.job.queue else []

    def all(self, row: Facts) -> Iterator[Facts]:
        """Which plugin refuses the job at admission for resources that it does not request, and the
        PodGroups without pods that reserve them.
        """
        seen, asks = self.seen, amounts(self.job.get_min_resources())
        held: Any = seen.trace.start["queues"].get(self.job.queue, {})
        plugin: Any
        for plugin in self.ssn.plugins.values() if asks else ():
            queue: Any = getattr(plugin, "queue_opts", {}).get(self.job.queue)
            if queue is None and plugin.name != "overcommit":
                continue
            kept = {uid: each for uid, each in seen.reserved_at_start.items() if uid != self.job.uid
                    and (queue is None or self.ssn.jobs[uid].queue == self.job.queue)}
            most = amounts(queue.real_capability if queue else plugin.idle_resource)
            sums = reduce(added, kept.values(), added(
                held["allocated"], amounts(queue.elastic), -1.0) if queue else {})
            if more := sorted(over(sums, most).keys() - asks.keys()):
                by = [self.ssn.jobs[uid].pod_group.key for uid in largest(kept, more)
                      if is_ghost(seen, uid)]
                yield {"plugin": plugin.name, "asked": part(sums, more), "limit": part(most, more),
                       "by": Message("earlier.all.by", n=len(by), groups=by) if by else None}

    def tree(self, row: Facts) -> Iterator[Facts]:
        """What is not consistent in a tree of queues."""
        plugin: Any = self.ssn.plugins["capacity"]
        why, whole = [*getattr(plugin.tree, "warnings", ())], amounts(self.ssn.total_resource)
        limits = {name: amounts(Resource.from_list(queue.queue.spec.capability or {}))
                  for name, queue in self.ssn.queues.items() if name != ROOT_QUEUE}
        for name, mine in limits.items() if differs(self.seen.scheduler, "above") else ():
            above = limits.get(self.ssn.queues[name].queue.spec.parent, whole)
            named = {each: whole[each] for each in whole if each in SIZES or each in above}
            if more := over(mine, named):
                why.append(Message(f"earlier.above{'' if above is whole else '.named'}", queue=name,
                                   found=part(mine, more), allowed=part(named, more)))
        yield from [{"why": why}] if why and plugin.hierarchical else []


def _sums(seen: Evidence, task: TaskInfo) -> dict[str, Amounts]:
    """The amounts that rows compare for a pod. `share` is its queue's part by weight, `limited` of
    what its capability names; the job requests `sizes` of cpu and memory that this does not name,
    and `extended` resources where it names another one. `evicted` is what pods request that may
    leave its node for it, `marked` what that has left once those are gone that an annotation or
    label marks, `theirs` what their queues have allocated, `beside` its own request where a node is
    large enough only once others have left.
    """
    job = seen.ssn.jobs[task.job]
    most = amounts(Resource.from_list(seen.ssn.queues[job.queue].queue.spec.capability or {}))
    share, asked = _share(seen, job.queue), amounts(job.get_min_resources())
    unnamed = sorted(asked.keys() - most) if most else []
    held: Any = seen.trace.start["queues"].get(job.queue, {"allocated": {}})
    return held | _moves(seen, task) | {
        "nothing": {}, "share": share, "limited": part(share, filter(most.__contains__, share)),
        "wanted": added(part(held["allocated"], amounts(task.resreq)), amounts(task.resreq)),
        "capability": most, "sizes": part(asked, filter(SIZES.__contains__, unnamed)),
        "extended": part(asked, sorted({*unnamed} - SIZES) if most.keys() - SIZES else ())}


def _share(seen: Evidence, queue: str) -> Amounts:
    weights = sum(seen.ssn.queues[name].weight for name in getattr(
        seen.ssn.plugins.get("proportion"), "queue_opts", ()))
    return {name: amount * seen.ssn.queues[queue].weight / weights for name, amount in amounts(
        seen.ssn.total_resource).items()} if weights else {}


def _moves(seen: Evidence, task: TaskInfo) -> dict[str, Amounts]:
    pod, free, start = amounts(task.init_resreq), seen.free(None), seen.trace.start
    pods = [seen.tasks[each] for record in seen.of("victims", task=task.key, node=task.node_name)
            for each in record["candidates"]]
    marked = [each for each in pods if each.job == task.job or PREEMPTABLE in (
        each.pod.metadata.annotations | each.pod.metadata.labels)]
    later = [name for name, left in free.items() if not over(pod, left) and over(
        pod, start["nodes"][name]["idle"])]
    queues = {seen.ssn.jobs[each.job].queue for each in pods} & start["queues"].keys()
    theirs: list[Amounts] = [start["queues"][queue]["allocated"] for queue in queues]
    return {"pod": pod, "free": free[task.node_name], "evicted": requested(pods),
            "marked": added(free[task.node_name], requested(marked)),
            "beside": part(pod, pod if later else ()), "theirs": reduce(added, theirs or [pod])}
