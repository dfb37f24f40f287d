"""Why no HyperNode of an allowed tier holds a job, or its sub-group: how many pods each takes, and
what those have left that were not tried; and why its pods are in several.

Volcano: none
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from volcano_lab.api import JobInfo, SubJobInfo, TaskInfo
from volcano_lab.api.task_index import TaskIndex
from volcano_lab.explain import holders, lint
from volcano_lab.explain.evidence import Evidence, largest_of, requested, unplaced
from volcano_lab.explain.explanation import Amounts, Cause, added, over, part
from volcano_lab.explain.nodes import missing
from volcano_lab.framework import CLUSTER_TOP
from volcano_lab.messages import Message, meant
from volcano_lab.trace import Record, amounts, grouped

FULL = 3
"""Nodes near a job's pods that are named with what they lack."""


def topology_causes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield that no HyperNode of an allowed tier holds the job or its sub-group, and the jobs that
    hold its resources.
    """
    if not job.contains_hard_topology():
        return
    waiting = {job.task_to_sub_job.get(task.uid) for task in unplaced(job)}
    tries = _tries(seen, job, waiting)
    if tries is None:
        return
    without = waiting - {record["sub_job"] for record in tries if record["fits"]}
    groups = [job.sub_jobs[uid] for uid in sorted(job.sub_jobs.keys() & without)] if (
        tries and job.contains_sub_job_policy()) else []
    failed = [record for record in tries if not record["fits"]]
    chosen = [record for record in failed if record["sub_job"] in without]
    whole = next((group for group in groups if group.hard_topology()[0]), job)
    failed = chosen if groups else chosen or failed
    found, nodes, need = _too_small(
        seen, job, whole, failed, max(groups or (job,), key=_lacks),
        Message("topology.sub_group" if groups else "topology.it"))
    more = _full(seen, unplaced(job), found.numbers["holds"], nodes)
    yield Cause(found.code, [*found.sentences, *more], found.numbers, found.records)
    yield from holders.room_causes(seen, job, Cause("", [], {"allowed": nodes, "request": need},
                                                    (failed or seen.of("job", job=job.uid))[-1:]))


def outside(seen: Evidence, task: TaskInfo, node: str) -> Cause | None:
    """Return that the hard topology of a pod's job, or of its sub-group, excludes a node: in which
    HyperNode its pods are, how full that is, and the tier of the lowest that has both.
    """
    job, names = seen.ssn.jobs[task.job], seen.ssn.topology.node_names
    groups: list[JobInfo | SubJobInfo] = [job, job.sub_jobs[job.task_to_sub_job[task.uid]]]
    for gang in groups if seen.plugins("hyper_node_gradient_for_job") else ():
        hard, tier = gang.hard_topology()
        near = [name for name, info in seen.ssn.topology.hyper_nodes.items() if info.tier <= tier]
        around = [*seen.ssn.topology.hyper_nodes.ancestors(gang.allocated_hyper_node)]
        domain = next((name for name in reversed(around) if name in near), around[0])
        facts = {"node": node, "pod": task.key, "tier": tier, "job": seen.called(job.uid)}
        if hard and domain and node not in names[domain]:
            new = all(map(seen.is_new, (each for each in gang.tasks.values() if each.node_name)))
            said = Message(f"topology_outside.{'chosen' if new else 'kept'}", domain=domain,
                           **facts)
            return Cause("topology_outside", [said, _with_both(seen, around, node), *(
                [] if task.node_name else _how_full(seen, task, domain))], {"domain": domain})
        if hard and not domain and not any(node in names[name] for name in near):
            return Cause("topology_outside", Message("topology_outside.none", **facts))
    return None


def _with_both(seen: Evidence, around: list[str], node: str) -> Message:
    """The lowest of the HyperNodes around pods that has a node, too, and its tier."""
    both = next(name for name in around if node in seen.ssn.topology.node_names[name])
    return Message(f"topology_outside.{'all' if both == CLUSTER_TOP else 'both'}", hyper_node=both,
                   tier=seen.ssn.topology.hyper_nodes[both].tier)


def _how_full(seen: Evidence, task: TaskInfo, hyper_node: str) -> Iterator[Message]:
    """Yield how many nodes of a HyperNode have too little left for a pod, and the jobs on these."""
    request, free = amounts(task.init_resreq), seen.free(None)
    names = sorted(seen.ssn.topology.node_names[hyper_node])
    full = [name for name in names if missing(request, free[name])]
    jobs = dict.fromkeys(each.job for name in full for each in seen.ssn.nodes[name].tasks.values()
                         if each.job in seen.ssn.jobs)
    if full:
        yield Message("topology_outside.full", hyper_node=hyper_node, count=len(names),
                      n=len(full), nodes=full, jobs=[*map(seen.called, jobs)])


def beyond_tier(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield that pods are on nodes which no HyperNode of an allowed tier holds together."""
    tree, tiers = seen.ssn.topology.hyper_nodes, seen.ssn.topology.tier_by_name
    groups: list[JobInfo | SubJobInfo] = [job, *job.sub_jobs.values()]
    for each in groups:
        spec, around = each.network_topology, tree.get(each.allocated_hyper_node)
        most = tiers.get(spec.highest_tier_name, spec.highest_tier_allowed) if spec else None
        if spec and spec.mode == "hard" and most is not None and around and around.tier > most:
            yield Cause.of("beyond_tier", Message("beyond_tier.bare") if all(
                task.best_effort for task in each.tasks.values()) else None, context=True,
                tier=most, nodes=sorted({task.node_name for task in each.tasks.values()}))
            return


def spread(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield over how many nodes and HyperNodes the pods of a job are, the plugins that score nodes,
    what a soft network topology adds to that, which nodes near its pods are full, and how many of
    them each HyperNode would take together.
    """
    tree, used = seen.ssn.topology, {*filter(None, (
        task.node_name for task in job.tasks.values()))}
    inside = _leaves(seen)
    places = sorted(name for name, nodes in inside.items() if used & {*nodes})
    code = "free" if job.network_topology is None else job.network_topology.mode
    if code not in ("free", "soft") or len(used) < 2 or len(places) < 2:
        return
    asks = largest_of(task.init_resreq for task in job.tasks.values())
    free = seen.free(None, asks)
    left = {node: added(free[node], requested(
        task for task in job.tasks.values() if task.node_name == node)) for node in free}
    takes = {name: _fitting(asks, left, nodes) for name, nodes in inside.items()}
    yield Cause("spread", [
        Message("spread", nodes=sorted(used), n=len(used), places=places, plugins=[*dict.fromkeys([
            *seen.plugins("node_order"), *seen.plugins("batch_node_order")])]),
        Message(f"spread.{code}"), *_full(seen, job.tasks.values(), places, free.keys() - used),
        Message("spread.takes", n=len(job.tasks), takes=_each_takes(takes))],
        {"places": places, "takes": takes, "tiers": sorted({
            each.tier for name, each in tree.hyper_nodes.items() if name != CLUSTER_TOP})},
        [], True)


def _tries(seen: Evidence, job: JobInfo, waiting: set[str | None]) -> list[Record] | None:
    """The dry runs that decided; None where the job found a HyperNode, or allocate did not reach
    it.
    """
    tries = seen.in_action("allocate", "hyper_node_tried", job=job.uid)
    own = [record for record in tries if record["sub_job"] in waiting]
    if own and not any(record["fits"] for record in own):
        return own  # other sub-groups may have found a HyperNode
    if any(record["fits"] and not record["sub_job"] for record in tries):
        return None
    return tries if tries or seen.in_action("allocate", "job", job=job.uid) else None


def _too_small(seen: Evidence, job: JobInfo, whole: JobInfo | SubJobInfo, tries: list[Record],
               short: TaskIndex, who: Message) -> tuple[Cause, list[str], Amounts]:
    """(How many pods of a job, or of its sub-group that is `short` of most, each HyperNode of an
    allowed tier takes, and what those have left that were not tried; the nodes of these HyperNodes,
    where one takes it once it is empty; what the minimum requests, or else the pods).
    """
    topology, tier = seen.ssn.topology, whole.hard_topology()[1]
    tried = grouped((record["hyper_node"], record) for record in tries)
    most = {name: max(_found(seen, job, each) for each in some) for name, some in tried.items()}
    near = [name for name, info in topology.hyper_nodes.items()
            if info.tier <= tier and name != CLUSTER_TOP and name in topology.nodes]
    need = over(part(amounts(whole.get_min_resources()),
                     seen.ssn.total_resource.resource_names()), {})
    lacks = _lacks(short)
    said = _sizes(seen, job, whole, most, near, need, {
        "who": who, "least": short.min_available if whole is job else lacks, "n": lacks})
    nodes = [node.name for name in near for node in topology.nodes[name]]
    most_empty = max((_when_empty(seen, short, name) for name in near), default=lacks)
    said += [Message("topology.empty", most=most_empty)] * (most_empty < lacks)
    outside = sorted(seen.ssn.nodes.keys() - nodes) if near else []
    said += [Message("topology.outside", nodes=outside)] * bool(outside)
    said += [Message("sentence", what=each) for each in lint.said_misnamed(seen.ssn, near)]
    close = [(name, place, meant(node, outside, 0.8))
             for name, node, place in lint.misnamed(seen.ssn, near)]
    return Cause("topology_too_small", [*said, seen.own(job.uid, tries[-1]) if tries else None], {
        "n": lacks, "holds": most, "tier": tier, "near": near, "outside": outside,
        "misnamed": [each for each in close if each[2]]},
        tries), nodes * (most_empty >= lacks), need or over(requested(unplaced(job)), {})


def _when_empty(seen: Evidence, gang: TaskIndex, hyper_node: str) -> int:
    """How many of a gang's pods that wait a HyperNode takes at most when it is empty: by the least
    that any of them requests.
    """
    sizes = [amounts(task.init_resreq) for task in gang.tasks.values() if not task.node_name]
    least = {name: min(size.get(name, 0.0) for size in sizes) for name in sizes[0]}
    return _fitting(least, seen.whole, [
        node.name for node in seen.ssn.topology.nodes[hyper_node]])


def _fitting(size: Amounts, left: dict[str, Amounts], nodes: Iterable[str]) -> int:
    """How many pods of a size some nodes take, by what each has left."""
    return int(sum(min((max(left[node].get(name, 0.0), 0.0) // amount
                        for name, amount in size.items() if amount), default=0)
                   for node in nodes))


def _leaves(seen: Evidence) -> dict[str, list[str]]:
    """The nodes of each HyperNode of the lowest tier."""
    tree = seen.ssn.topology
    least = min((each.tier for each in tree.hyper_nodes.values()), default=0)
    return {name: [node.name for node in tree.nodes.get(name, ())]
            for name, info in tree.hyper_nodes.items() if info.tier == least}


def _full(seen: Evidence, tasks: Iterable[TaskInfo], places: Iterable[str],
          among: Collection[str]) -> list[Message]:
    """Which nodes of some HyperNodes of the lowest tier, `among` some, have too little left for one
    of some pods, and whose pods are on them.
    """
    asks, inside = largest_of(task.init_resreq for task in tasks), _leaves(seen)
    free, nodes = seen.free(None, asks), seen.ssn.nodes
    return [Message("topology.node_full", node=node, hyper_node=name, request=part(asks, short),
                    free=part(free[node], short), jobs=sorted({
                        seen.called(task.job) if task.job in seen.ssn.jobs else task.key
                        for task in nodes[node].tasks.values()}))
            for name in places for node in inside.get(name, ()) if node in among
            for short in [missing(asks, free[node])] if short and nodes[node].tasks][:FULL]


def _each_takes(most: dict[str, int]) -> list[Message]:
    """How many pods HyperNodes take, those together that take as many."""
    alike = grouped((count, name) for name, count in most.items())
    return [Message("topology.take.each" if len(names) > 1 else "topology.take", hyper_node=names,
                    count=count) for count, names in alike.items()]


def _lacks(gang: TaskIndex) -> int:
    """How many pods a gang, or a sub-group, needs beside those that have nodes; at least one."""
    return max(gang.min_available - gang.ready_task_num() - gang.waiting_task_num(), 1)


def _sizes(seen: Evidence, job: JobInfo, whole: JobInfo | SubJobInfo, most: dict[str, int],
           near: list[str], need: Amounts, facts: dict[str, Any]) -> list[Message]:
    """How many pods the tried HyperNodes take, and what the others have left."""
    hard, tier = whole.hard_topology()
    left = _left(seen, [name for name in near if name not in most], need)
    names = [each for each in need if any(each in has for has in left.values())]
    facts = {**facts, "need": part(need, names), "left": [
        Message("topology.left", hyper_node=name, amount=has) for name, has in left.items()],
        "limit": Message("topology.limit", tier=tier) if hard else None}
    if not most:
        full = "full" if len(left) == len(near) else "untried"
        return [Message(f"topology.{full if near else 'none'}", **facts)]
    beside = ".beside" * (facts["n"] < facts["least"])
    said = [Message(f"topology.takes{beside}", **facts, takes=_each_takes(most))]
    if job.allocated_hyper_node and job.hard_topology()[0]:
        said.append(Message("topology.placed", hyper_node=job.allocated_hyper_node,
                            tier=job.hard_topology()[1]))
    elif left:
        said.append(Message("topology.not_tried", **facts))
    return said


def _left(seen: Evidence, names: list[str], need: Amounts) -> dict[str, Amounts]:
    """What some HyperNodes have left of the resources in which that is too little, the largest
    first.
    """
    free, nodes = seen.free(None, need), seen.ssn.topology.nodes
    sums = {name: {each: sum(max(free[node.name][each], 0.0) for node in nodes[name])
                   for each in need} for name in names}
    short = {name: part(has, missing(need, has)) for name, has in sums.items()}
    return {name: short[name] for name in sorted(filter(short.get, short), key=lambda name: [
        -short[name].get(each, 0.0) for each in need])}


def _found(seen: Evidence, job: JobInfo, tried: Record) -> int:
    """How many pods were placed in a dry run, before it was rolled back."""
    before = max((record.number for record in seen.of("hyper_node_tried", job=job.uid)
                  if record.number < tried.number and record["sub_job"] == tried["sub_job"]),
                 default=-1)
    tasks = {task.key for task in job.tasks.values()
             if tried["sub_job"] in ("", job.task_to_sub_job.get(task.uid))}
    return max(tried["operations"], len({record["task"] for record in seen.of("do", job=job.uid)
                                         if before < record.number < tried.number
                                         and record["task"] in tasks}))
