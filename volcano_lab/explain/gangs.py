"""Why a gang does not start: too few pods exist, pods were rolled back, its queue deserves less
than its minimum, or gangs wait for each other.

Volcano: none
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

from volcano_lab.api import FAILED, GROUP_NAME, TASK_SPEC, JobInfo, objects as api
from volcano_lab.explain import asked, lint, owners
from volcano_lab.explain.evidence import Evidence, requested, unplaced, was_admitted
from volcano_lab.explain.explanation import Cause, added, over, part
from volcano_lab.manifests.operators import pod_count
from volcano_lab.manifests.operators.model import OperatorObject, paths_to
from volcano_lab.manifests.owners import job_of
from volcano_lab.manifests.pod_group_controller import OWNERS
from volcano_lab.messages import Message, meant
from volcano_lab.trace import amounts, grouped


def validity_causes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield why allocate does not try the job at all."""
    if not job.tasks:
        label = _slipped(seen, job)
        stage = owners.kind_of(job) not in ("", *OWNERS) and not (  # an operator's own, of pods
            owners.is_generated(job))  # that come later
        others = [] if label or stage else [*_in_others(seen, job)]
        yield Cause("no_pods", others or [Message("gang.no_pods"), *label, _unread(seen, job)],
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
    yield from _lacking(seen, job) if owner else ()
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


def _lacking(seen: Evidence, job: JobInfo) -> Iterator[Message]:
    """Yield the roles of which an owner has fewer pods than it is to have, and whether its kind
    needs one of these.
    """
    owner = owners.owner_of(job)
    lacking = [Message("gang_invalid.role", role=role, count=count, least=least)
               for role, count, least in owners.lacking_roles(seen, job)]
    if owner and lacking:
        yield Message("gang_invalid.lacking", kind=owner.kind, name=owner.name, parts=lacking)
    if owner and (role := owners.missing_head(seen, job)):
        yield Message("gang_invalid.head", role=role, kind=owner.kind)


def _slipped(seen: Evidence, job: JobInfo) -> list[Message]:
    """That pods name the PodGroup where Volcano does not read it."""
    return next(([*asked.slipped(seen, each, slip)] for each in asked.generated(seen, job)
                 for slip in asked.slips(seen, each) if slip[2] == job.pod_group.name), [])


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


def entitled(seen: Evidence, job: JobInfo, causes: Iterable[Cause]) -> Iterator[Cause]:
    """Yield how many pods of an elastic job that lacks something its queue deserves, where its
    minimum is more.
    """
    start, count = seen.trace.start, job.ready_task_num()
    sums = start["queues"].get(job.queue)
    lacks = any({"short_of", "lacks", "free_on_one_node"} & {*each.numbers} for each in causes)
    if sums is None or not (lacks and was_admitted(seen, job)) or job.is_ready() or not (
            1 < job.min_available < len(job.tasks)):
        return
    held = sums["allocated"]
    for request in (task["request"] for task in map(start["tasks"].get, sorted(
            task.key for task in job.tasks.values())) if task and not task["node"]):
        held = added(held, request)
        if over(part(held, request), sums["deserved"]):
            break
        count += 1
    if 0 < count < job.min_available:
        names = over(requested(unplaced(job)), {})
        yield Cause.of("entitled", context=True, queue=job.queue, n=count, least=job.min_available,
                       of=len(job.tasks), deserved=part(sums["deserved"], names),
                       allocated=part(sums["allocated"], names))


# -- gangs that wait for each other ----------------------------------------------------------------


def all_wait(seen: Evidence, mine: JobInfo, cause: Cause, holders: list[JobInfo],
             nodes: Sequence[str]) -> Iterator[Message]:
    """Yield that all holders of some nodes wait for more, which the `cause` then counts; and what
    would admit fewer of them, or of the jobs that wait for these nodes.
    """
    all_wait = len(holders) > 1 and all(
        job.has_pending_tasks() and job.ready_task_num() <= max(job.min_available, 1)
        for job in holders)
    counted = all(map(_counts_all, holders if all_wait else [mine]))
    if all_wait:
        cause.numbers["deadlock"] = len(holders)
        yield Message("all_wait")
    others = [job for job in seen.ssn.jobs.values() if job.has_pending_tasks() and not (
        job.is_pending() or job.ready_task_num())]  # admitted, like this one, and without a pod
    if counted and 0 < len(nodes) < len(seen.ssn.nodes) and (all_wait or (
            mine in others and len(others) > 1 and "enqueue" in seen.ssn.enabled_actions)):
        yield Message("admission_adds", n=len(nodes))
    elif all_wait and not (counted and all(
            job.min_available >= len(job.tasks) for job in holders)):
        yield _minimums(seen, mine)


def _counts_all(job: JobInfo) -> bool:
    """Whether a job's minResources count all that its pods request."""
    return not over(requested(job.tasks.values()), amounts(job.get_min_resources()))


def _minimums(seen: Evidence, job: JobInfo) -> Message:
    """That larger minimums admit fewer jobs at once, and the field of a job's owner for its own."""
    names = amounts(job.get_min_resources()) or {"cpu": 0.0}
    field = owners.known_of("minimum", owners.owner_of(job))
    return Message("all_wait.minimums", field=Message(
        "all_wait.field", field=field, job=seen.called(job.uid), asked=part(
            requested(job.tasks.values()), names)) if field else None)


def each_other(seen: Evidence, job: JobInfo, holders: list[str]) -> Iterator[Cause]:
    """Yield that a job and holders of what it lacks wait for each other: each has some pods placed,
    and not its minimum.
    """
    stuck = [each for each in map(seen.ssn.jobs.__getitem__, dict.fromkeys([job.uid, *holders]))
             if 0 < each.ready_task_num() < each.min_available and each.has_pending_tasks()]
    if job in stuck and len(stuck) > 1:
        parts = [Message("each_other.part", job=seen.called(each.uid), least=each.min_available,
                         n=each.ready_task_num()) for each in stuck]
        yield Cause.of("each_other", parts=parts, others=[each.facts["job"] for each in parts[1:]])
    else:
        yield from _half_started(seen, job, holders)


def _half_started(seen: Evidence, job: JobInfo, holders: list[str]) -> Iterator[Cause]:
    """Yield that an application and holders of what it lacks each have some of their pods placed,
    which no minimum of several holds together; and what would.
    """
    of = {uid: owners.application(seen.called, each) for uid, each in seen.ssn.jobs.items()}
    parts, names = grouped((of[uid], each) for uid, each in seen.ssn.jobs.items()), dict.fromkeys(
        of[uid] for uid in [job.uid, *holders])
    half = {name: parts[name] for name in names if _is_half_started(parts[name])}
    if len(half) < 2 or of[job.uid] not in half:
        return
    counts = [Message("each_other.part", job=name, n=sum(one.ready_task_num() for one in each),
                      least=sum(len(one.tasks) for one in each)) for name, each in half.items()]
    alone = {each[0].uid: len(each[0].tasks) for each in half.values() if len(each) == 1}
    apart = [name for name, each in half.items() if len(each) > 1]
    stuck = half.keys() == names.keys() and not (job.uid in alone and _may_do(seen, job))
    yield Cause("each_other" if stuck else "half_started", [
        Message("half_started", parts=counts), _minimums(seen, job) if job.uid in alone else None,
        Message("half_started.group", names=apart) if apart else None],
        {"others": [*half][1:], "minimums": alone}, [], not stuck)


def _may_do(seen: Evidence, job: JobInfo) -> bool:
    """Whether a job has the places of a minimum that was set for it, and no plugin needs all."""
    return job.is_ready() and not (owners.is_generated(job) or owners.world_of(seen.given, job))


def _is_half_started(jobs: list[JobInfo]) -> bool:
    """Whether some of an application's pods have places, and others wait that it may need."""
    return any(job.ready_task_num() for job in jobs) and any(
        job.has_pending_tasks() for job in jobs) and not any(
        owners.runs_on(job) or owners.one_by_one(job) or 1 < job.min_available <= (
            job.ready_task_num()) for job in jobs)
