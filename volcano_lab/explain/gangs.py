"""Why a gang does not start: too few pods exist, pods were rolled back, no HyperNode is large
enough.

Volcano: none
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from operator import itemgetter
from typing import Any

from volcano_lab.api import FAILED, GROUP_NAME, TASK_SPEC, JobInfo, SubJobInfo, objects as api
from volcano_lab.api.task_index import TaskIndex
from volcano_lab.explain import holders, lint, owners
from volcano_lab.explain.evidence import Evidence, requested, unplaced
from volcano_lab.explain.explanation import Amounts, Cause, over, part
from volcano_lab.explain.nodes import missing
from volcano_lab.framework import CLUSTER_TOP
from volcano_lab.manifests.operators import pod_count
from volcano_lab.manifests.operators.model import OperatorObject, paths_to
from volcano_lab.manifests.owners import job_of
from volcano_lab.manifests.pod_group_controller import OWNERS
from volcano_lab.messages import Message, meant
from volcano_lab.trace import Record, amounts, grouped


def validity_causes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield why allocate does not try the job at all."""
    if not job.tasks:
        label = _by_label(seen, job)
        stage = owners.kind_of(job) not in ("", *OWNERS) and not (  # an operator's own, of pods
            owners.is_generated(job))  # that come later
        others = [] if label or stage else [*_in_others(seen, job)]
        yield Cause("no_pods", others or [Message("gang.no_pods"), label, _unread(seen, job)],
                    {"elsewhere": True} if others else {})
    invalid = seen.ssn.job_valid(job) if job.tasks else None
    if invalid is not None:
        yield _invalid(seen, job, invalid)
    if job.contains_network_topology() and not seen.ssn.topology.ready:
        yield Cause.of("hyper_nodes_not_ready", *(
            Message("sentence", what=each) for each in lint.tangled(seen.ssn)))


def _invalid(seen: Evidence, job: JobInfo, invalid: Any) -> Cause:
    """Which pods a gang lacks, and what creates them."""
    valid, roles = job.valid_task_num(), job.roles_short()
    said = Message("gang_invalid", reason=invalid.reason, message=invalid.message,
                   needs=[Message("gang_invalid.role", role=role, count=count, least=least)
                          for role, (count, least) in roles.items()] or [Message(
                              "gang_invalid.all", least=job.min_available, count=valid)])
    records = [record for record in seen.of("job_valid", job=job.uid) if record["answer"]][:1]
    if over := owners.ended_as(seen, job):
        return Cause("pods_not_made", [said, owners.left_behind(seen, job)], {
            "phase": over, "ended": [over] * bool(seen.volcano_jobs(job))}, records)
    renamed, after = _renamed(job, roles), owners.creates_later(seen, job)
    unnamed = sum(not task.task_role for task in job.tasks.values()) if roles else 0
    comes = any(pod_count(obj, []) > len(job.tasks) for obj in owners.objects_of(seen, job)
                if isinstance(obj, OperatorObject))
    failed = bool(job.in_status(FAILED) and seen.volcano_jobs(job))  # it creates none beside these
    known = any((after, failed, renamed, unnamed, seen.by_others(job), owners.rollout(seen, job),
                 seen.not_created.get(seen.called(job.uid))))
    return Cause("gang_invalid", [
        said, *(Message("gang_invalid.near", role=role, near=near)
                for role, near in renamed.items()),
        Message("gang_invalid.unnamed", n=unnamed, annotation=TASK_SPEC) if unnamed else None,
        *_created(seen, job, known, after)],
        {"min_available": job.min_available, "valid": valid, "roles": roles,
         "slips": [tuple(after.values())] if after.get("at_once") else [
             ("replicas", valid, job.min_available)] * (not (known or roles)),
         "renamed": renamed, "after": after, **({"failed": True} if failed else {}),
         **({"comes": True} if comes else {})}, records)


def _created(seen: Evidence, job: JobInfo, known: bool, after: Mapping[str, str]
             ) -> Iterator[Message]:
    """Yield that tasks of a gang wait for others of it, and what creates those: once these run
    (`after`), or, unless it is `known` why they lack, for another reason; what a lower minimum
    does, unless an operator sets that.
    """
    owner, valid = owners.owner_of(job), job.valid_task_num()
    if job.has_pending_tasks() and any(getattr(each, "code", "") in (
            "not_created.depends", "not_created.later")
            for each in seen.not_created.get(seen.called(job.uid), ())):
        yield Message("gang_invalid.depends")
    if owner and not known:
        most = owners.at_once(seen, job)
        form = "at_once" if most < job.min_available else "owner"
        form = "ordered" if owner.kind == "StatefulSet" and valid else form
        yield Message(f"gang_invalid.{form}", kind=owner.kind, name=owner.name, most=most,
                      least=job.min_available)
    if after:
        yield Message("gang_invalid.after", **after)
    elif valid and not (known or job.roles_short() or owners.lacks_head(job) or (
            owner and owner.kind not in OWNERS)):
        yield Message("gang_invalid.later", count=valid)


def _by_label(seen: Evidence, job: JobInfo) -> Message | None:
    """That pods name the PodGroup in a label, which Volcano does not read."""
    pods = [task.key for task in seen.tasks.values() if task.namespace == job.namespace
            and task.pod.metadata.labels.get(GROUP_NAME) == job.pod_group.name]
    return Message("gang.label", pods=pods, annotation=GROUP_NAME) if pods else None


def _in_others(seen: Evidence, job: JobInfo) -> Iterator[Message]:
    """Yield in which PodGroups the pods are that a PodGroup without pods is meant for: those of its
    owner, or, without an owner, those of its namespace whose PodGroups Volcano's controller created
    as they named none, with the objects that name it where no pod has it from.
    """
    owner, group = owners.owner_of(job), job.pod_group
    mine = grouped((seen.ssn.jobs[task.job].pod_group.name, task.key)
                   for task in seen.tasks.values() if task.namespace == job.namespace and (
                       owner.uid in [ref.uid for ref in task.pod.metadata.owner_references]
                       if owner else owners.is_generated(seen.ssn.jobs[task.job])))
    facts = {"group": group.name, "namespace": job.namespace, "annotation": GROUP_NAME}
    if owner and owner.uid:
        for other, pods in mine.items():
            yield Message("gang.in_other", other=other, n=len(pods), pods=pods, kind=owner.kind,
                          name=owner.name, **facts)
    elif not owner and seen.objects and not any(  # pods of another scheduler may name it
            isinstance(obj, api.Pod) and job_of(obj) == group.key for obj in seen.objects):
        yield Message("gang.unnamed", **facts)
        yield from _named_apart(seen, facts)
        if mine:
            yield Message("gang.unnamed.others", others=[*mine], pods=[*chain(*mine.values())],
                          namespace=job.namespace)
        for obj in seen.given:
            if isinstance(obj, OperatorObject) and obj.namespace == job.namespace:
                fields = [*paths_to(obj.spec, GROUP_NAME, group.name)]
                yield from [Message("gang.named_in", kind=obj.kind, name=obj.key, fields=fields)
                            ] if fields else ()


def _named_apart(seen: Evidence, facts: Mapping[str, str]) -> Iterator[Message]:
    """Yield which pods name the PodGroup of these facts in namespaces that have none so called."""
    pods = [obj.key for obj in seen.objects if isinstance(obj, api.Pod) and facts["group"] in (
        obj.metadata.annotations.get(GROUP_NAME), obj.metadata.labels.get(GROUP_NAME))
        and f"{obj.namespace}/{facts['group']}" not in seen.ssn.jobs]
    yield from [Message("gang.unnamed.apart", pods=pods, **facts)] if pods else ()


def _unread(seen: Evidence, job: JobInfo) -> Message | None:
    """That an object of a kind that is not read is to create the pods of a PodGroup."""
    owner = owners.owner_of(job)
    if owner is None or owners.objects_of(seen, job):
        return None
    return Message("gang.no_pods.owner", kind=owner.kind, name=owner.name, queue=job.queue,
                   least=amounts(job.get_min_resources()) or None, group=job.pod_group.name,
                   namespace=job.namespace)


def _renamed(job: JobInfo, roles: Iterable[str]) -> dict[str, str]:
    """Roles of a gang's minimum that no pod has -> the role of pods that is meant."""
    have = {task.task_role for task in job.tasks.values()}
    others = have - job.task_min_available.keys()
    near = {role: meant(role, others, 0.8) for role in roles if role not in have}
    return {role: other for role, other in near.items() if other}


def gang_cause(seen: Evidence, job: JobInfo) -> Cause | None:
    """Return that some pods were placed and rolled back, as the gang stayed below its minimum; or
    that it is no gang, or one whose minimum lets a part of pods with roles run.
    """
    least, ready = job.min_available, job.ready_task_num()
    if "gang" not in seen.ssn.plugins and 0 < ready < least:
        return Cause.of("no_gang", context=True, least=least)
    if least == 1 < len(job.tasks) and ready and (said := _no_gang(job)):
        return Cause("no_gang", said, {}, [], True)
    if job.is_ready() and least < len(job.tasks) and owners.is_headed(job):
        world = owners.world_of(seen.given, job)
        return Cause.of("in_part", Message("in_part.world", world=world[1]) if world else None,
                        context=True, least=least, pods=len(job.tasks))
    undone = {record["statement"] for record in seen.in_action("allocate", "undo", job=job.uid)}
    taken_back = grouped((record["statement"], record) for record in seen.in_action(
        "allocate", "do", job=job.uid) if record["statement"] in undone)
    best = max(taken_back.values(), key=len, default=[])
    if not best or (job.is_ready() and job.check_task_ready()):
        return None
    found = len(best)
    code = "gang_short.beside" if ready else "gang_short"
    code = "gang_short.roles" if found + ready >= least else code
    said = Message(code, least=least, found=found, ready=ready, placed=found + ready,
                   short=least - found - ready)
    return Cause("gang_short", said, {"found": found, "ready": ready, "min_available": least}, best,
                 context=True)


def _no_gang(job: JobInfo) -> Message | None:
    """That Volcano's controller has created a PodGroup with a minimum of 1, where the pods name one
    of another scheduler, or their owner came without one.
    """
    above = next(iter(job.pod_group.metadata.owner_references), None)
    owner = above.kind if above else "Pod"
    named = ((label, task.pod.metadata.labels.get(label)) for task in job.tasks.values()
             for label in owners.KINDS["other_gangs"])
    label, name = next(filter(itemgetter(1), named), ("", ""))
    if not owners.is_generated(job) or (not name and owner in (*OWNERS, "Pod")):
        return None
    return Message(f"no_gang.{'label' if name else 'owner'}", owner=owner, label=label, name=name,
                   switch=owners.switch(job, above))


def apart_causes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield that pods which need each other are in several PodGroups of Volcano's controller, and
    some of them run while others wait.
    """
    def owner(each: JobInfo, label: str) -> tuple[str, ...]:
        names = {task.pod.metadata.labels.get(label, "") for task in each.tasks.values()}
        return (each.namespace, *names) if owners.is_generated(each) else ()

    for kind, (label, setting) in owners.KINDS["apart"].items() if not seen.brief else ():
        mine = owner(job, label)
        parts = [each for each in seen.ssn.jobs.values() if mine and any(mine[1:])
                 and owner(each, label) == mine]
        runs = [task for each in parts for task in each.tasks.values() if task.node_name]
        waiting = [task for each in parts for task in unplaced(each)]
        if len(parts) > 1 and runs and waiting:
            yield Cause.of("no_gang.apart", context=True, kind=kind, name=mine[1], n=len(parts),
                           runs=len(runs), waits=len(waiting), setting=setting)


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
    groups = _short_groups(job, without) if tries else []
    failed = [record for record in tries if not record["fits"]]
    chosen = [record for record in failed if record["sub_job"] and record["sub_job"] in without]
    whole = next((group for group in groups if group.hard_topology()[0]), job)
    failed = chosen if groups else chosen or failed
    found, nodes, need = _too_small(
        seen, job, whole, failed, max(groups or (job,), key=_lacks),
        Message("topology.sub_group" if groups else "topology.it"))
    yield found
    yield from holders.room_causes(seen, job, Cause("", [], {"allowed": nodes, "request": need},
                                                    (failed or seen.of("job", job=job.uid))[-1:]))


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


def _short_groups(job: JobInfo, without: set[str | None]) -> list[SubJobInfo]:
    """The sub-groups that found no HyperNode."""
    return [group for uid, group in sorted(job.sub_jobs.items())
            if job.contains_sub_job_policy() and uid in without]


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
    most: dict[str, int] = {}
    for record in tries:
        name = record["hyper_node"]
        most[name] = max(_found(seen, job, record), most.get(name, 0))
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
    return int(sum(min((seen.whole[node.name].get(name, 0.0) // amount
                        for name, amount in least.items() if amount), default=len(sizes))
                   for node in seen.ssn.topology.nodes[hyper_node]))


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
    alike = {count: [name for name in most if most[name] == count] for count in most.values()}
    beside = ".beside" * (facts["n"] < facts["least"])
    said = [Message(f"topology.takes{beside}", **facts, takes=[
        Message("topology.take.each" if len(names) > 1 else "topology.take", hyper_node=names,
                count=count) for count, names in alike.items()])]
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
