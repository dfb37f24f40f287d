"""What an earlier release of Volcano decides otherwise about a job, where the cluster runs one.

Volcano: none
"""

import re
from collections.abc import Iterator
from functools import reduce
from typing import Any

from volcano_lab.api import PIPELINED, ROOT_QUEUE, TASK_SPEC, JobInfo, Resource
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import added, over, part
from volcano_lab.explain.holders import is_ghost, largest
from volcano_lab.messages import Message
from volcano_lab.trace import amounts

ROLES, TREES, STATES, OWN_ROOT = (1, 10), ((1, 11), (1, 14)), (1, 12), (1, 13)
QUEUES, ORDERS = (1, 4), {"proportion", "capacity"}
CAPPED, APART, ASKED, FULL = (1, 5), (1, 9), (1, 10), (1, 6)
"""The first release that tries each node for each pod without a role; those that place nothing
while a tree of queues is not consistent; the first that reads the state of a queue when it places
pods; the first that reads the capability of the root queue; the first that serves further queues
where no plugin orders them, and the plugins that do; the first that shares on beside a capability
that one resource has reached; the first that keeps pods of one cycle apart; the first that
compares at admission only the resources that a job requests; the first that preempts for a pod
which its queue refuses, on a node that has enough left.
"""


def release(seen: Evidence) -> tuple[int, ...]:
    """The release of the scheduler that runs, where it is not that of the lab; else a later one."""
    found = re.match(r"v?(\d+)\.(\d+)", seen.scheduler)
    return tuple(map(int, found.groups())) if found else (99,)


def earlier(seen: Evidence, job: JobInfo) -> list[Message]:
    """Return what the release that runs decides otherwise about pods that are placed here."""
    runs, found = release(seen), []
    sizes = {str(amounts(task.init_resreq)): amounts(task.init_resreq)
             for task in job.tasks.values() if not task.task_role}
    if runs < ROLES and len(sizes) > 1:
        found.append(Message("earlier.roles", sizes=[*sizes.values()], annotation=TASK_SPEC))
    first = min({each.queue for each in seen.ssn.jobs.values() if each.namespace == job.namespace},
                key=lambda name: (
                    seen.ssn.queues[name].queue.metadata.creation_timestamp or 0.0, name))
    if runs < QUEUES and not ORDERS & seen.ssn.plugins.keys() and first != job.queue:
        found.append(Message("earlier.queues", first=first))
    if runs < CAPPED:
        found += _capped(seen, job)
    start = seen.free(None) if runs < FULL else {}
    for task in job.in_status(PIPELINED).values():
        if start and not over(amounts(task.init_resreq), start[task.node_name]):
            return [*found, Message("earlier.idle", node=task.node_name)]
    found += _all_resources(seen, job) if runs < ASKED else ()
    if TREES[0] <= runs < TREES[1] and (why := [*_tree(seen, runs)]):
        found.append(Message("earlier.tree", why=why))
    return found


def _capped(seen: Evidence, job: JobInfo) -> Iterator[Message]:
    """Yield in which resources a queue's part by weight is more than its capability."""
    plugin: Any = seen.ssn.plugins.get("proportion")
    queue = seen.ssn.queues[job.queue]
    weights = sum(seen.ssn.queues[name].weight for name in getattr(plugin, "queue_opts", ()))
    most = amounts(Resource.from_list(queue.queue.spec.capability or {}))
    share = {name: amount * queue.weight / weights for name, amount in amounts(
        seen.ssn.total_resource).items() if name in most} if weights else {}
    if more := over(share, most):
        yield Message("earlier.capped", queue=job.queue, share=part(share, more),
                      most=part(most, more))


def _all_resources(seen: Evidence, job: JobInfo) -> Iterator[Message]:
    """Yield which plugin refuses a job at admission for resources that it does not request, and the
    PodGroups without pods that reserve them.
    """
    asks, held = amounts(job.get_min_resources()), seen.trace.start["queues"].get(job.queue, {})
    plugin: Any
    for plugin in seen.ssn.plugins.values() if asks else ():
        queue: Any = getattr(plugin, "queue_opts", {}).get(job.queue)
        if queue is None and plugin.name != "overcommit":
            continue
        kept = {uid: each for uid, each in seen.reserved_at_start.items() if uid != job.uid and (
            queue is None or seen.ssn.jobs[uid].queue == job.queue)}
        most = amounts(queue.real_capability if queue else plugin.idle_resource)
        sums = reduce(added, kept.values(), added(
            held["allocated"], amounts(queue.elastic), -1.0) if queue else {})
        if more := sorted(over(sums, most).keys() - asks.keys()):
            by = [seen.ssn.jobs[uid].pod_group.key for uid in largest(kept, more)
                  if is_ghost(seen, uid)]
            yield Message("earlier.all", plugin=plugin.name, asked=part(sums, more), limit=part(
                most, more), by=Message("earlier.all.by", n=len(by), groups=by) if by else None)
            return


def _tree(seen: Evidence, runs: tuple[int, ...]) -> Iterator[Message]:
    """Yield what is not consistent in a tree of queues, for a release that refuses that."""
    plugin: Any = seen.ssn.plugins.get("capacity")
    if not getattr(plugin, "hierarchical", False):
        return
    yield from plugin.tree.warnings
    whole = amounts(seen.ssn.total_resource)
    for name, queue in seen.ssn.queues.items() if runs < OWN_ROOT else ():
        mine = amounts(Resource.from_list(queue.queue.spec.capability or {}))
        if name != ROOT_QUEUE and (more := over(mine, whole)):
            yield Message("earlier.above", queue=name, found=part(mine, more),
                          allowed=part(whole, more))
