"""Why a job's pods wait: all causes, in the order of the cycle.

Volcano: none
"""

from collections.abc import Iterator

from volcano_lab.api import PENDING, JobInfo, Resource, objects as api, total
from volcano_lab.explain import beyond, evictions, evidence, gangs, kubelet, origin, owners, quotas
from volcano_lab.explain.asked import apart, apart_causes, unheeded
from volcano_lab.explain.evidence import Evidence, was_admitted
from volcano_lab.explain.explanation import Cause, over, part
from volcano_lab.explain.lint import ignored_fields
from volcano_lab.explain.nodes import node_causes
from volcano_lab.explain.order import hierarchical_order, priority_causes
from volcano_lab.explain.promises import going_causes
from volcano_lab.explain.refusals import (
    admission_causes,
    admitted_early,
    limit_causes,
    never_starts,
)
from volcano_lab.explain.releases import differs
from volcano_lab.explain.settings import deadlines, ineffective, unread
from volcano_lab.explain.sizes import resources
from volcano_lab.explain.standing import elsewhere, standing_causes
from volcano_lab.explain.topology import topology_causes
from volcano_lab.explain.volumes import claim_causes, driver_causes
from volcano_lab.manifests import job_of, workloads
from volcano_lab.messages import Message, Said, meant
from volcano_lab.plugins.kube.pod_info import PodInfo
from volcano_lab.trace import POINTS, amounts, short

QUEUE_GATE = "scheduling.volcano.sh/queue-allocation-gate"
"""The gate of pods that Volcano v1.15 opens when their queue has enough left."""

ORDERED = {"came_first", "not_less_important"}  # which a priority decides


def job_causes(seen: Evidence, job: JobInfo) -> list[Cause]:
    """Return why pods of a job wait, and what else its objects show."""
    name = seen.called(job.uid)
    lacking = [_not_made(seen, job, why) for why in seen.not_created.get(name, ())]
    lacking += _strangers(seen, job)
    above = [Cause("pods_not_made", Message("not_created", name=owner, what=why), {}, [], True)
             for owner in seen.names.above[job.uid] if owner != name
             for why in seen.not_created.get(owner, ())]
    beside = [*above, *going_causes(seen, job), *_fields(seen, job), *_creator(seen, job),
              *kubelet.failed_causes(seen, job), *kubelet.bound_causes(seen, job),
              *kubelet.evicted_before(seen, job), *_groups_beside(seen, job),
              *apart_causes(seen, job), *quotas.quota_counts(seen, job)]
    stands = bool(job.tasks) and not evidence.waits(job)
    for cause in beside:
        cause.context |= not stands
    if stands:
        return standing_causes(seen, job, beside, lacking)
    popped = seen.of("job", job=job.uid)  # without: no refusal was recorded, or it had no turn
    causes = [*_causes(seen, job)] or [Cause.of("unknown" if popped else "no_turn", records=popped)]
    if {*origin.TOO_LARGE, "larger_than_any_node"}.isdisjoint(cause.code for cause in causes):
        causes += origin.cluster_too_small(seen, job)
    causes.sort(key=lambda cause: cause.code != "each_other")
    causes += [*gangs.entitled(seen, job, causes)]
    causes[1:1] = _unseen_nodes(seen, job)
    stuck = _users_that_never_start(seen, [*lacking, *causes])
    said = {"no_pods"} if lacking else set()
    said |= {"quota_used" for cause in lacking if cause.code == "pods_refused"}
    first, later = _by_admission(lacking, causes)
    ahead, beside = _by_priority(seen, job, causes, beside)
    return [*ahead, *beyond.idle_causes(seen, job), *first,
            *(cause for cause in causes if cause.code not in said), *later, *stuck,
            *origin.both_share(seen, [*causes, *beside]),
            *origin.guaranteed(seen, job, resources(causes)),
            *admitted_early(seen, job, resources(causes)),
            *unread(seen.ssn, causes), *_placed_here(seen, job), *kubelet.scaled(seen, job),
            *deadlines(seen, job), *ineffective(seen, job), *beside]


def _by_admission(lacking: list[Cause], causes: list[Cause]) -> tuple[list[Cause], list[Cause]]:
    """(Why pods are not created, what of it holds only once a plugin admits the job, which refuses
    it for a ResourceQuota).
    """
    later = [cause for cause in lacking if cause.code == "pods_refused" and any(
        each.code == "resource_quota" for each in causes)]
    return [cause for cause in lacking if cause not in later], [
        Cause(cause.code, [Message("once_admitted"), *cause.sentences], cause.numbers, [], True)
        for cause in later]


def _by_priority(seen: Evidence, job: JobInfo, causes: list[Cause], beside: list[Cause]
                 ) -> tuple[list[Cause], list[Cause]]:
    """(That the job has not the priority of its pods, where that decides, what is beside that.)"""
    decides = ORDERED & {cause.code for cause in causes} and "priority" in seen.ssn.plugins
    return ([*priority_causes(seen, job, causes)], [cause for cause in beside if (
        cause.code != "no_priority_class")]) if decides else ([], beside)


def _users_that_never_start(seen: Evidence, causes: list[Cause]) -> Iterator[Cause]:
    """Yield which jobs use a ResourceQuota that lacks something, and can never start."""
    for cause in causes:
        if cause.code in ("pods_refused", "quota_used"):
            yield from never_starts(seen, cause.numbers["holders"])
            return


def not_created_yet(seen: Evidence, job: JobInfo) -> bool:
    """Return whether pods of a Volcano Job that is not admitted are there in the lab alone."""
    waits = job.is_pending() and job.tasks and seen.volcano_jobs(job)
    return bool(waits) and not any(task.key in seen.named for task in job.tasks.values())


def _placed_here(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield that pods beside those that wait are placed here, and have waited in the cluster."""
    placed = [task for task in job.tasks.values() if task.node_name and not seen.brief]
    for cause in beyond.beyond_causes(seen, placed):
        if cause.code == "waited":
            cause.context = True
            yield cause


def _unseen_nodes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield which nodes a pod would fit and the scheduler leaves out by its flag."""
    pods = evidence.unplaced(job)[:1]
    fit = [node for node in seen.unseen for task in pods if not over(
        amounts(task.init_resreq), amounts(Resource.from_list(node.status.allocatable)))
        and PodInfo(task.pod).required_nodes.matches(node)]
    keys = {label.partition(":")[0] for label in seen.node_labels}
    others = sorted({f"{key}:{value}" for node in fit
                     for key, value in node.metadata.labels.items() if key in keys})
    if fit:
        yield Cause.of("nodes_unseen", Message("nodes_unseen.others", labels=others) if others
                       else None, context=True, n=len(fit), nodes=[node.name for node in fit],
                       labels=seen.node_labels)


def _not_made(seen: Evidence, job: JobInfo, why: Said) -> Cause:
    """That pods are not created; where the API server refuses them, what their quota lacks, and the
    jobs that use it.
    """
    said = Message("not_created", name=seen.called(job.uid), what=why)
    facts = why.facts if isinstance(why, Message) else {}
    never = getattr(facts.get("unready"), "code", "") == "not_created.ended"
    if getattr(why, "code", "") == "not_created.depends" and not never:
        return Cause("pods_not_made", said, {"sure": "depends", **facts}, [], bool(job.tasks))
    if classes := facts.get("classes"):
        return Cause("pods_forbidden", said, {
            "by": "classes", "missing": classes, "slips": [
                ("priorityClassName", name, to) for name in classes
                for to in (meant(name, seen.classes, 0.7), None) if to != ""]}, [], bool(job.tasks))
    if (by := facts.get("quota")) is None:
        return Cause("pods_not_made", [said, *seen.by_kueue(*seen.names.above[job.uid])], {
            "never": never, "phase": facts.get("phase"), "ended": [*filter(None, [
                facts.get("phase")])]}, [], bool(job.tasks) and not never)
    if "wanted" not in by.facts:
        return Cause("pods_forbidden", said, {**by.facts, "by": by.code, "slips": [
            (by.facts["name"], by.facts["asked"], by.facts["bound"])] if "asked" in by.facts else []
            }, [], len(job.tasks) >= max(job.min_available, 1))
    return quotas.refused_by_quota(seen, job, said, by.facts, len(facts.get("names", ())))


def _fields(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield fields of the job, or of its queue, that have no effect or name an unknown object."""
    yield from (each for each in priority_causes(seen, job) if "preempt" in seen.ssn.enabled_actions
                or each.numbers["lost"])
    yield from _queue(seen, job)
    yield from [] if seen.brief else unheeded(seen, job)
    for found in [] if seen.brief else ignored_fields(seen.ssn, seen.scheduler):
        place, what = found.facts["place"], found.facts["what"]
        if place.facts == {"n": 1, "names": [seen.names.owned[job.uid]]} or (
                place.code == "place.configuration" and evidence.unbound(job)) or (
                place.code == "place.queue" and place.facts["name"] == job.queue):
            yield Cause("no_effect", found, {"what": what.code, "queue": [
                what.facts.get("found")] * what.code.startswith("unread.queue_")})


def _queue(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield that the queue of pods that run is not open, and what keeps its controller from opening
    it.
    """
    own = seen.ssn.queues[job.queue]
    if not own.is_open and job.tasks and not evidence.waits(job):
        old = Message("queue_stays.earlier", version=seen.scheduler) if (
            differs(seen.scheduler, "states")) else None
        yield Cause.of("queue_stays", old, context=True, queue=job.queue,
                       state=own.queue.status.state)
    for why in seen.not_created.get(job.queue, ()):
        yield Cause("queue_opened", Message("notice", what=why, place=Message(
            "place.queue", name=job.queue)))


def _creator(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield what has created a job that waits, or does not start, and creates further ones."""
    concerns = evidence.waits(job) or evidence.fails_to_start(job)
    for said in owners.created_by(seen, [job.uid]) if concerns and not seen.brief else ():
        yield Cause("created_by", said, context=True)


def _strangers(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield that pods of the PodGroup or, where none is in it, of its owner name another scheduler,
    and a PodGroup of its name that is not Volcano's.
    """
    key, owner = job.pod_group.key, None if job.tasks else owners.owner_of(job)
    if what := owners.unread_group(seen, key, owners.owner_of(job)):
        yield Cause("group_unread", Message("not_created", name=seen.called(job.uid), what=what),
                    {}, [], True)
    yield from elsewhere([pod for pod in seen.elsewhere.values() if job_of(pod) == key or (
        owner is not None and pod.namespace == job.namespace and owner.uid in [
            ref.uid for ref in pod.metadata.owner_references])], owner)


def _groups_beside(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield the other PodGroups of the job's owner: their pods do not count for this gang."""
    groups = [seen.ssn.jobs[uid] for uid in seen.names.beside(job.uid)]
    if groups:
        form, owner = owners.rollout(seen, job), seen.names.owned[job.uid]
        beside = [Message("group", group=short(seen.called(each.uid)), pods=Message(
            "pods", n=len(each.tasks)), phase=each.pod_group.status.phase or "Pending")
            for each in groups]
        cause = Cause.of("groups_beside", Message(f"groups_beside.{form}") if form else None,
                         apart(seen, job), owner=owner, count=len(groups), groups=beside)
        cause.numbers[form] = [owner for obj in seen.given
                               if obj.kind == "Deployment" and obj.key == owner]
        yield cause
    elif aside := apart(seen, job):
        yield Cause("groups_beside", aside)


def _causes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    if not was_admitted(seen, job):
        yield from admission_causes(seen, job)
        lacks = [] if "preempt" in seen.ssn.enabled_actions else [*evictions.no_preempt(seen, job)]
        yield from lacks
        evicting = [action for action in POINTS if action in seen.ssn.enabled_actions
                    and evictions.may_evict(seen, job, action)] + ["preempt"] * bool(lacks)
        if evicting:
            yield Cause.of("evicts_for_admitted", context=True, n=len(evicting), actions=evicting,
                           sums=_owed(seen, job) if "reclaim" in evicting else None)
        return
    hopeless = [*gangs.validity_causes(seen, job)] or [*driver_causes(seen, job)]
    yield from hopeless
    if hopeless:
        return
    yield from limit_causes(seen, job)
    too_small = list(topology_causes(seen, job))
    yield from too_small[:1]
    yield from claim_causes(seen, job)
    yield from node_causes(seen, job, free=not too_small)
    yield from too_small[1:]  # who holds what, after the state of the nodes themselves
    gang = gangs.gang_cause(seen, job)
    if gang is not None:
        yield gang
    yield from _left_alone(seen, job)
    yield from evictions.eviction_causes(seen, job)
    yield from hierarchical_order(seen, job)
    yield from origin.best_effort(seen, job.queue, True)


def _owed(seen: Evidence, job: JobInfo) -> Message | None:
    """What the queue of a job deserves beyond what it holds of what the job requests; None where
    it deserves no more, or the plugin has not computed what it holds.
    """
    sums = seen.sums(job.queue, amounts(job.get_min_resources()))
    owed = over(sums.get("deserved", {}), sums.get("allocated", {}))
    held = amounts(total(each.allocated for each in seen.ssn.jobs.values()
                         if owed and each.queue == job.queue))
    known = owed and not over(part(held, owed), sums["allocated"])
    return evictions.sums_of(seen, None, job.queue, owed) if known else None


def _left_alone(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield the pods that no action tries: with a scheduling gate, without requests where there is
    no backfill, or without allocate.
    """
    actions, waiting = seen.ssn.enabled_actions, evidence.unplaced(job)
    gated = [task for task in waiting if task.sch_gated]
    nothing = [task.key for task in waiting if task.best_effort and not task.sch_gated]
    if gated:
        yield _gated(seen, [task.pod for task in gated])
    if nothing and "backfill" not in actions:
        yield Cause.of("no_backfill_action", n=len(nothing), pod=nothing[0])
    if "allocate" in actions and _in_sub_groups_only(job):
        yield Cause.of("no_default_sub_group")
    if "allocate" not in actions and actions & {*POINTS} and not seen.ssn.job_starving(job):
        yield Cause.of("not_starving")
    if len(waiting) > len(nothing) + len(gated) and not actions & {"allocate", *POINTS}:
        yield Cause.of("no_allocate_action")


def _gated(seen: Evidence, pods: list[api.Pod]) -> Cause:
    """That pods have scheduling gates, and what removes these; Kueue's is not to be removed."""
    gates = [*dict.fromkeys(gate.name for pod in pods for gate in pod.spec.scheduling_gates)]
    said = [Message("gated.later", gate=QUEUE_GATE)] * (QUEUE_GATE in gates)
    if kueue := any(gate.startswith("kueue.x-k8s.io/") for gate in gates):
        said = [Message("gated.kueue", namespace=pods[0].namespace,
                        queue=pods[0].metadata.labels.get(workloads.KUEUE_QUEUE))]
        said = seen.by_kueue(pods[0].key, *(
            f"{pods[0].namespace}/{each.name}" for each in pods[0].metadata.owner_references)
            ) or said
    cause = Cause.of("gated", *said, n=len(pods), pod=pods[0].key, gates=gates)
    cause.numbers["own"] = [] if kueue else gates
    return cause


def _in_sub_groups_only(job: JobInfo) -> bool:
    """Whether allocate, without a hard topology, finds no pending pod outside sub-groups."""
    own, pending = job.sub_jobs.get(job.uid), job.in_status(PENDING).values()
    return (job.contains_sub_job_policy() and not job.contains_hard_topology()
            and (own is None or not own.in_status(PENDING))
            and not all(task.best_effort or task.sch_gated for task in pending))
