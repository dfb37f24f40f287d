"""What an earlier release of Volcano decides otherwise about a job, where the cluster runs one: the
rows of the table `earlier` of `tables.toml`, each with its sentence `earlier.ROW`. What
ended with v1.10 is left out.

Volcano: none
"""

from collections.abc import Iterator
from functools import reduce
from itertools import islice
from typing import Any

from volcano_lab.api import PIPELINED, ROOT_QUEUE, JobInfo, Resource, TaskInfo
from volcano_lab.explain.evidence import Evidence, requested, unplaced
from volcano_lab.explain.explanation import Amounts, added, over, part
from volcano_lab.explain.releases import ROWS, differs
from volcano_lab.messages import Message
from volcano_lab.trace import amounts

Facts = dict[str, Any]
SIZES = {"cpu", "memory"}


def earlier(seen: Evidence, job: JobInfo) -> list[Message]:
    """Return what the release that runs decides otherwise about pods that are placed here."""
    names = seen.ssn.plugins.keys() | seen.ssn.enabled_actions
    return [Message(f"earlier.{code}", to=row["to"], since=row.get("since"), **facts)
            for code, row in ROWS.items() if "finds" in row and differs(seen.scheduler, code)
            and names >= {*row.get("with", ())}
            for facts in islice(FINDS[row["finds"]](seen, job, row), 1)]


def _reclaims(seen: Evidence, job: JobInfo, row: Facts) -> Iterator[Facts]:
    """Pods that reclaim pipelines for which amounts are above others."""
    for task in job.in_status(PIPELINED).values():
        done = seen.of("do", task=task.key, operation="pipeline")
        if any(each.action == "reclaim" for each in done):
            some, limit = map(_sums(seen, task).__getitem__, row["amounts"])
            if more := over(some, limit):
                yield {"queue": job.queue, "pod": task.key, "node": task.node_name,
                       "some": part(some, more), "limit": part(limit, more)}


def _backfill(seen: Evidence, job: JobInfo, _: Facts) -> Iterator[Facts]:
    """Pods of other jobs without requests and without a node, where one of the job has one."""
    own = any(task.best_effort and task.node_name for task in job.tasks.values())
    yield from ({"pod": task.key} for job in seen.ssn.jobs.values() for task in unplaced(job)
                if own and task.best_effort and not job.is_pending())


def _tree(seen: Evidence, _: JobInfo, row: Facts) -> Iterator[Facts]:
    """What is not consistent in a tree of queues."""
    plugin: Any = seen.ssn.plugins["capacity"]
    why, whole = [*getattr(plugin.tree, "warnings", ())], amounts(seen.ssn.total_resource)
    limits = {name: amounts(Resource.from_list(queue.queue.spec.capability or {}))
              for name, queue in seen.ssn.queues.items() if name != ROOT_QUEUE}
    for name, mine in limits.items() if differs(seen.scheduler, "above") else ():
        above = limits.get(seen.ssn.queues[name].queue.spec.parent, whole)
        named = {each: whole[each] for each in whole if each in SIZES or each in above}
        if more := over(mine, named):
            why.append(Message(f"earlier.above{'' if above is whole else '.named'}", queue=name,
                               found=part(mine, more), allowed=part(named, more)))
    yield from [{"why": why}] if why and plugin.hierarchical else []


FINDS = {"reclaims": _reclaims, "backfill": _backfill, "tree": _tree}
"""How the facts of a row's sentence are found."""


def _sums(seen: Evidence, task: TaskInfo) -> dict[str, Amounts]:
    """The amounts that rows compare for a pod: what it requests, what its queue deserves and would
    have of these (`wanted`), what pods request that may leave its node for it (`evicted`), and what
    their queues have allocated (`theirs`).
    """
    pod, start = amounts(task.resreq), seen.trace.start["queues"]
    pods = [seen.tasks[each] for record in seen.of("victims", task=task.key, node=task.node_name)
            for each in record["candidates"]]
    queues = {seen.ssn.jobs[each.job].queue for each in pods} & start.keys()
    theirs: list[Amounts] = [start[queue]["allocated"] for queue in queues]
    held: Any = start.get(seen.ssn.jobs[task.job].queue, {"allocated": {}})
    return held | {"pod": amounts(task.init_resreq), "evicted": requested(pods),
                   "wanted": added(part(held["allocated"], pod), pod),
                   "theirs": reduce(added, theirs or [pod])}
