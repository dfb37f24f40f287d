"""Why a job's pods wait: all causes, in the order in which the cycle meets them."""

from __future__ import annotations

from collections.abc import Iterator

from volcano_lab.api.job import JobInfo
from volcano_lab.api.status import PENDING, RELEASING
from volcano_lab.explain.admission import admission_causes
from volcano_lab.explain.evictions import POINTS, eviction_causes
from volcano_lab.explain.evidence import Evidence, counts
from volcano_lab.explain.explanation import Cause
from volcano_lab.explain.gangs import gang_cause, topology_causes, validity_causes
from volcano_lab.explain.limits import limit_causes
from volcano_lab.explain.nodes import node_causes

ROOM = ("fragmented", "cluster_full")


def head_of(seen: Evidence, job: JobInfo) -> str:
    """Where the job stands, and what its phase does and doesn't mean."""
    placed, promised, pending = counts(job)
    phase = job.pod_group.status.phase or "Pending"
    leaving = len(job.in_status(RELEASING))
    parts = [
        f"of {len(job.tasks)} pods {placed} have a place",
        f"{promised} were promised one" if promised else "",
        f"{leaving} are being evicted or ended" if leaving else "", f"{pending} wait"
    ]
    text = f"Job {seen.called(job.uid)} of queue {job.queue} is {phase}: {', '.join(filter(None, parts))}."
    if phase == "Inqueue" and pending:
        text += " Inqueue means that it was let in, not that its pods have a place."
    elif job.is_pending() and pending and _was_let_in(seen, job):
        text += " It had been let in, and is called Pending again, as nothing of it runs."
    elif job.is_pending() and pending:
        text += " Its PodGroup was not let in, so allocate does not look at its pods."
    return text


def _was_let_in(seen: Evidence, job: JobInfo) -> bool:
    """Before the cycle or in it; at its end the phase may be Pending again."""
    before = seen.trace.start["jobs"][job.uid]["phase"]
    return before not in ("", "Pending") or bool(seen.trace.of("enqueued", job=job.uid))


def job_causes(seen: Evidence, job: JobInfo) -> list[Cause]:
    """Nothing where no pod waits."""
    _, promised, pending = counts(job)
    if job.tasks and not pending:
        return [cause for cause in (_promised(promised), _leaving(job)) if cause is not None]
    return list(_causes(seen, job)) or [_otherwise(seen, job)]


def _causes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    if not _was_let_in(seen, job):
        yield from admission_causes(seen, job)
        return
    invalid = list(validity_causes(seen, job))
    yield from invalid
    if invalid:
        return
    yield from limit_causes(seen, job)
    topology = list(topology_causes(seen, job))
    yield from topology
    yield from node_causes(seen, job, room=not topology)
    gang = gang_cause(seen, job)
    if gang is not None:
        yield gang
    yield from _left_alone(seen, job)
    yield from eviction_causes(seen, job)
    yield from _best_effort_queue(seen, job)


def _promised(promised: int) -> Cause | None:
    text = f"{promised} pods wait for room that is being freed, on a node that was promised to them."
    return Cause("promised", text, {"promised": promised}) if promised else None


def _leaving(job: JobInfo) -> Cause | None:
    leaving = len(job.in_status(RELEASING))
    text = f"{leaving} of its pods are leaving their nodes, and it has no others to place."
    return Cause("pods_leave", text, {"leaving": leaving}) if leaving else None


def _left_alone(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Pods that nobody tries: behind a gate, asking for nothing without backfill, or without
    allocate.
    """
    waiting = [task for task in job.tasks.values() if not task.node_name]
    gated = [task.key for task in waiting if task.sch_gated]
    if gated:
        yield Cause("gated", f"{len(gated)} pods stand behind a scheduling gate, as {gated[0]}.",
                    {"gated": len(gated)})
    nothing = [task.key for task in waiting if task.best_effort and not task.sch_gated]
    if nothing and "backfill" not in seen.ssn.enabled_actions:
        yield Cause(
            "no_backfill_action",
            f"{len(nothing)} pods ask for nothing, as {nothing[0]}; only backfill places such, "
            "and the configuration doesn't have it.", {"best_effort": len(nothing)})
    if _without_default_sub_group(seen, job):
        text = (
            "Its pods belong to sub-groups. Without a network topology that must hold, allocate looks at the pods that "
            "belong to none, and there are no such.")
        yield Cause("no_default_sub_group", text, {"sub_groups": len(job.sub_jobs)})
    if not seen.ssn.enabled_actions & {"allocate"} and seen.ssn.enabled_actions & set(
            POINTS) and not seen.ssn.job_starving(job):
        text = "Its gang has its minimum, so nobody is evicted for more of it, and the configuration has no allocate action."
        yield Cause("not_starving", text, {"min_available": job.min_available})
    left = len(waiting) - len(nothing) - len(gated)
    if left and not seen.ssn.enabled_actions & {"allocate", "reclaim", "preempt"}:
        yield Cause("no_allocate_action", "The configuration has no allocate action.")


def _without_default_sub_group(seen: Evidence, job: JobInfo) -> bool:
    if "allocate" not in seen.ssn.enabled_actions or not job.contains_sub_job_policy(
    ) or job.contains_hard_topology():
        return False
    default = job.sub_jobs.get(job.default_sub_job_id)
    return default is None or not default.in_status(PENDING)


def _best_effort_queue(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    queue = seen.trace.start["queues"].get(job.queue)
    if "capacity" in seen.ssn.plugins and queue is not None and deserves_nothing(queue):
        text = (
            f"Queue {job.queue} deserves nothing (best effort): its share counts as 1, so that it comes after every queue "
            "that has less than it deserves.")
        yield Cause("best_effort_queue", text, {"share": queue["share"]}, context=True)


def deserves_nothing(queue: dict) -> bool:
    return not any(amount for name, amount in queue["deserved"].items() if name != "pods")


def _otherwise(seen: Evidence, job: JobInfo) -> Cause:
    """No refusal was recorded; what the PodGroup's condition says."""
    for condition in job.pod_group.status.conditions:
        if condition.type == "Unschedulable" and condition.status == "True":
            return Cause("condition", f"{condition.reason}: {condition.message}.", {})
    popped = list(seen.trace.iter("job", job=job.uid))
    text = "It had its turn, and nobody refused it." if popped else "It had no turn in this cycle."
    return Cause("no_turn" if not popped else "unknown", text, {}, popped)
