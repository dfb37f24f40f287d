"""What a job would wait for, too, once it was admitted, or if its pods had no volumes; whether its
gang has nodes in another order.

Volcano: none
"""

from collections.abc import Iterator
from functools import reduce

from volcano_lab.api import JobInfo, objects as api
from volcano_lab.changes import Change
from volcano_lab.explain import beyond, origin, outcome, why_job
from volcano_lab.explain.candidates import CAPABILITY
from volcano_lab.explain.evidence import Evidence, requested, unplaced
from volcano_lab.explain.explanation import TABLES, Cause, added, over
from volcano_lab.explain.options import World
from volcano_lab.explain.rules import STATIC
from volcano_lab.manifests.loader import Loaded
from volcano_lab.messages import Message
from volcano_lab.scheduler import traced
from volcano_lab.trace import amounts
from volcano_lab.trace.cause_trace import POINTS, CauseTrace

VOLUMES = ("claim_missing", "claim_unbound", "volume_unbound")
"""Causes that hide the search of a node."""
NEXT_DOORS = {*STATIC, *TABLES["doors"]["next"].split(), *TABLES["protection"].values()}
"""Causes that keep a job waiting once it is admitted, however much the cluster has left."""
DOORS = 2
"""How many of these are named."""


def behind(seen: Evidence, job: JobInfo, known: set[str]) -> list[Cause]:
    """What a job would wait for, too, if it was admitted alone, or its pods had no volumes."""
    if known & {*origin.TOO_LARGE, *STATIC} or not seen.objects:
        return []
    code = "with_volume" if known & {*VOLUMES} else "once_admitted"
    world = World(_alone(seen, job, code == "with_volume"), seen.ssn.conf)
    limits = [f"queue/{name}.capability=null" for name in world.line(job.queue)
              if known & {*CAPABILITY} and world.queues[name].spec.capability]
    also = [cause for cause in _causes_with(seen, job, world, limits)
            if cause.code not in {*known, *beyond.WAITED}]
    doors = [*filter(_is_door, also)] if code == "once_admitted" else [
        cause for cause in also if not cause.context]
    if limits and not doors and "overcommit_refuses" not in known:
        doors = [*filter(_is_full, also)][:1]
    return [Cause(cause.code, [
        Message("behind.more" if number else code), *cause.sentences,
        Message("admission_adds", n=len(cause.numbers["allowed"]))
        if code == "once_admitted" and "allowed" in cause.numbers else None],
        cause.numbers, [], True) for number, cause in enumerate(doors[:DOORS])]


def _causes_with(seen: Evidence, job: JobInfo, world: World, settings: list[str]) -> list[Cause]:
    """What a job waits for once it is admitted, in a world with some settings."""
    kept = [action for action in seen.ssn.conf.actions  # in a large cluster no searches for victims
            if action not in POINTS or len(seen.ssn.nodes) < outcome.LARGE]
    objects, conf = world.applied(Change((
        f"podgroup/{job.uid}.status.phase=Inqueue", f"conf/actions={', '.join(kept)}", *settings)))
    trace, ssn = traced(objects, conf, now=seen.ssn.now, trace=CauseTrace(job.uid))
    then, after = Evidence(ssn, trace, objects), ssn.jobs.get(job.uid)
    then.future = outcome.Outcome()  # further cycles are not run
    return why_job.job_causes(then, after) if after is not None else []


def larger_first(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield that all pods of a gang get a node in a cycle that serves its roles with the larger
    requests first, by their priorities.
    """
    whole, size, waiting = amounts(seen.ssn.total_resource), dict[str, float](), unplaced(job)
    for task in waiting:
        part = max((amount / whole[name] for name, amount in amounts(task.init_resreq).items()
                    if whole.get(name)), default=0.0)
        size[task.task_role] = max(part, size.get(task.task_role, 0.0))
    if len({*size.values()}) < 2 or over(requested(waiting), reduce(
            added, seen.free(None).values())):
        return
    roles = sorted(size, key=lambda role: (-size[role], role))
    role_of = {task.key: task.task_role for task in waiting}
    ssn = outcome.run([obj.changed(spec={"priority": -roles.index(role_of[obj.key])})
               if isinstance(obj, api.Pod) and obj.key in role_of else obj
               for obj in seen.objects], seen.ssn.conf, seen.ssn.now)
    if not unplaced(ssn.jobs[job.uid]):
        yield Cause.of("larger_first", context=True, roles=roles)


def _is_door(cause: Cause) -> bool:
    """Whether a cause lasts: by its kind, or as fields of queues or jobs protect all their pods."""
    return cause.code in NEXT_DOORS or bool(
        cause.numbers.get("not_reclaimable") or cause.numbers.get("kept"))


def _is_full(cause: Cause) -> bool:
    """Whether a cause is that the cluster has too little left, which no limit of a queue says."""
    return cause.code == "cluster_full" or "whole" in cause.numbers


def _alone(seen: Evidence, job: JobInfo, bare: bool) -> Loaded:
    """The objects without other pods that wait; the pods of a job `bare` of their volumes."""
    idle = {uid for uid, each in seen.ssn.jobs.items() if each is not job and not any(
        task.node_name for task in each.tasks.values())}
    own = {task.key for task in job.tasks.values()}
    kept = Loaded(obj for obj in seen.objects if not (
        obj.key not in own and not obj.spec.node_name if isinstance(obj, api.Pod)
        else isinstance(obj, api.PodGroup) and obj.key in idle))
    return kept if not bare else Loaded(
        obj.changed(spec={"volumes": []}) if isinstance(obj, api.Pod) and obj.key in own else obj
        for obj in kept)
