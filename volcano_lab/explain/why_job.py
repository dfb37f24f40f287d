"""Why a job's pods wait: all causes, in the order in which the cycle meets them."""

from __future__ import annotations

from collections.abc import Iterator

from volcano_lab.api import JobInfo, TaskInfo
from volcano_lab.api.objects import Pod
from volcano_lab.api.status import FAILED, PENDING, PIPELINED, RELEASING, RUNNING, SUCCEEDED
from volcano_lab.api.task import GROUP_NAME
from volcano_lab.explain.evictions import eviction_causes
from volcano_lab.explain.evidence import POINTS, Evidence, counts
from volcano_lab.explain.explanation import Cause, moment_text
from volcano_lab.explain.gangs import gang_cause, topology_causes, validity_causes
from volcano_lab.explain.lint import ignored_fields
from volcano_lab.explain.nodes import node_causes
from volcano_lab.explain.origin import best_effort
from volcano_lab.explain.refusals import admission_causes, limit_causes, refusal
from volcano_lab.explain.volumes import claim_causes, driver_causes
from volcano_lab.explain.why_node import why_not_cause
from volcano_lab.framework import Session
from volcano_lab.manifests.pod_group_controller import SCHEDULER
from volcano_lab.messages import listed

OVERDUE = 300
"""Seconds after which a pod that should have ended does not end by itself."""


def head_of(seen: Evidence, job: JobInfo) -> str:
    """Where the job stands, and what its phase does and doesn't mean."""
    placed, promised, pending = counts(job)
    phase = job.pod_group.status.phase or "Pending"
    leaving, failed = len(job.in_status(RELEASING)), len(job.in_status(FAILED))
    ended = len(job.in_status(SUCCEEDED))
    placed -= ended
    parts = [f"of {len(job.tasks)} pod{'' if len(job.tasks) == 1 else 's'} {placed} "
             f"{'has' if placed == 1 else 'have'} a place",
             f"{ended} {'has' if ended == 1 else 'have'} succeeded" if ended else "",
             f"{promised} {'is' if promised == 1 else 'are'} promised one" if promised else "",
             f"{leaving} {'is' if leaving == 1 else 'are'} being evicted or ended" if leaving
             else "", f"{failed} {'has' if failed == 1 else 'have'} failed" if failed else "",
             f"{pending} wait{'s' if pending == 1 else ''}"]
    text = (f"Job {seen.called(job.uid)} of queue {job.queue} is {phase}: "
            f"{', '.join(filter(None, parts)) if job.tasks else 'it has no pods yet'}.")
    if phase == "Inqueue" and pending:
        text += " Inqueue means that it was admitted, not that its pods have a place."
    elif job.is_pending() and pending and _was_let_in(seen, job):
        text += " It had been admitted, and is called Pending again, as nothing of it runs."
    elif job.is_pending() and pending:
        text += " It was not admitted, so allocate does not look at its pods."
    return text + _phase_note(job, phase) + _hours_note(seen, job)


def _hours_note(seen: Evidence, job: JobInfo) -> str:
    """That pods lie on nodes which are open to them for some hours of the day only."""
    tdm = seen.ssn.plugins.get("tdm")
    used = {task.node_name for task in job.tasks.values() if task.node_name in seen.ssn.nodes}
    zones = {seen.ssn.nodes[node].revocable_zone: node for node in sorted(used)}
    return "".join(f" Node {node} is in the revocable zone {zone}, open {tdm.zones[zone]} (UTC); "
                   f"{moment_text(seen.ssn.now)[-5:]} in this cycle."
                   for zone, node in zones.items() if tdm is not None and zone in tdm.zones)


def _phase_note(job: JobInfo, phase: str) -> str:
    """What a phase means that does not say what one would think."""
    running, ended = len(job.in_status(RUNNING)), len(job.in_status(SUCCEEDED)) + len(
        job.in_status(FAILED))
    least = job.pod_group.spec.min_member
    if phase == "Unknown":
        runs = "1 of its pods runs" if running == 1 else f"{running} of its pods run"
        return (f" Unknown means that {runs} while this cycle cannot place the rest of its gang "
                f"of {least}." if counts(job)[2] else
                f" Unknown means that {runs}, fewer than its gang of {least}, and none waits.")
    if phase == "Completed" and ended < len(job.tasks):
        return (f" Completed does not mean that it has ended: its minMember is {least}, {ended} of "
                "its pods have ended, none runs yet, and that is all that this phase counts.")
    return ""


def _was_let_in(seen: Evidence, job: JobInfo) -> bool:
    """Before the cycle or in it; at its end the phase may be Pending again."""
    before = seen.trace.start["jobs"][job.uid]["phase"]
    return before not in ("", "Pending") or bool(seen.of("enqueued", job=job.uid))


def job_causes(seen: Evidence, job: JobInfo) -> list[Cause]:
    """Nothing where no pod waits."""
    beside = [cause for cause in (_promised(seen, job), _leaving(seen, job), _nowhere(seen, job))
              if cause is not None]
    unmade = [Cause("pods_not_made", f"{text[0].upper()}{text[1:]}.", {}, [], bool(job.tasks))
              for text in seen.unmade.get(seen.called(job.uid), ())]
    beside += [Cause("queue_opened", f"Queue {job.queue}: {text}.")
               for text in seen.unmade.get(job.queue, ())]
    unmade += elsewhere([pod for pod in seen.elsewhere.values() if job.pod_group.key == (
        f"{pod.namespace}/{pod.metadata.annotations.get(GROUP_NAME)}")])
    beside += [*_failed(job), *_groups_beside(seen, job), *_no_effect(seen, job)]
    if job.tasks and not counts(job)[2]:
        return [*beside, *unmade]
    for cause in beside:
        cause.context = True
    causes = list(_causes(seen, job)) or [_otherwise(seen, job)]
    return [*unmade, *(cause for cause in causes if not unmade or cause.code != "no_pods"),
            *_deadline(seen, job), *beside]


def elsewhere(pods: list[Pod]) -> Iterator[Cause]:
    """That pods name another scheduler."""
    if pods:
        names = listed(dict.fromkeys(pod.spec.scheduler_name for pod in pods))
        yield Cause("other_scheduler", f"{_pods([pod.key for pod in pods], 'name')} the scheduler "
                    f"{names} (spec.schedulerName), and Volcano places those that name "
                    f"{SCHEDULER}.", {"pods": len(pods)})


def _failed(job: JobInfo) -> Iterator[Cause]:
    """What the first pod that failed says of it."""
    for task in sorted(job.in_status(FAILED).values(), key=lambda task: task.key)[:1]:
        said = ": ".join(filter(None, (task.pod.status.reason, task.pod.status.message)))
        if said:
            refused = (" The node refused it: there was less room than Volcano had counted."
                       if said.startswith("OutOf") else "")
            yield Cause("failed", f"Pod {task.key} failed with {said.rstrip('.')}.{refused}")


def _no_effect(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """What its author wrote in vain."""
    for sentence in [] if seen.brief else ignored_fields(seen.ssn):
        whom, _, what = sentence.partition(": ")
        if whom == f"Job {seen.called(job.uid)}":
            yield Cause("no_effect", f"{what[0].upper()}{what[1:]}")


def _groups_beside(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """That the job's owner has other PodGroups, whose pods do not count for this gang."""
    groups = [seen.ssn.jobs[uid] for uid in seen.names.beside(job.uid)]
    if groups:
        told = [f"{each.name} ({each.pod_group.status.phase or 'Pending'}, {len(each.tasks)} "
                f"pod{'s' * (len(each.tasks) != 1)})" for each in groups]
        text = (f"{seen.names.owned[job.uid]} has {len(groups)} PodGroups, each of them a gang of "
                f"its own: {listed(told, 3)}.")
        if 0 < job.valid_task_num() < job.min_available and any(
                ref.kind == "ReplicaSet" for ref in job.pod_group.metadata.owner_references):
            text += (" While a Deployment is rolled out it makes only as many new pods as maxSurge "
                     "says (25%, unless set): fewer than a gang's minimum wait forever.")
        yield Cause("groups_beside", text, {"groups": [each.uid for each in groups]})


def _deadline(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Until when sla lets the job wait, and what it does then."""
    sla = seen.ssn.plugins.get("sla")
    deadline = sla.deadline(job) if sla is not None else None
    if deadline is not None:
        until = f"it may wait until {moment_text(deadline)} UTC"
        text = (f"Plugin sla: {until}, which is past, so sla admits it and puts it before jobs "
                "with a later deadline. Room is made for nobody by that."
                if deadline <= seen.ssn.now else
                f"Plugin sla: {until}; from then on sla admits it.")
        yield Cause("deadline", text, {"deadline": deadline}, [], True)


def _causes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    if not _was_let_in(seen, job):
        yield from admission_causes(seen, job)
        return
    invalid = list(validity_causes(seen, job))
    yield from invalid
    if invalid:
        return
    if drivers := list(driver_causes(seen, job)):
        yield from drivers
        return
    yield from limit_causes(seen, job)
    topology = list(topology_causes(seen, job))
    yield from topology
    yield from claim_causes(seen, job)
    yield from node_causes(seen, job, room=not topology)
    gang = gang_cause(seen, job)
    if gang is not None:
        yield gang
    yield from _left_alone(seen, job)
    yield from eviction_causes(seen, job)
    yield from best_effort(seen, job.queue, True)


def _promised(seen: Evidence, job: JobInfo) -> Cause | None:
    """The nodes on which pods wait for room that is being freed, and who is leaving there."""
    promised = list(job.in_status(PIPELINED).values())
    if not promised:
        return None
    nodes: dict[str, list[str]] = {}
    for task in promised:
        nodes.setdefault(task.node_name, []).append(task.key)
    parts = []
    for node, pods in nodes.items():
        leaving = [task for task in seen.ssn.nodes[node].tasks.values() if task.status == RELEASING]
        evicted = {pod: record["action"] for record in seen.of("victims")
                   for pod in record["chosen"] if record.get("task") in pods}
        by: dict[str, list[str]] = {}
        for task in sorted(leaving, key=lambda task: task.key not in evicted):
            by.setdefault(evicted.get(task.key, ""), []).append(
                f"{task.key} (of {seen.called(task.job)})" if task.job else task.key)
        why = "; ".join(f"{action} evicts {listed(who, 3)}" if action else (
            f"{listed(who, 3)} {'is' if len(who) == 1 else 'are'} leaving it")
            for action, who in by.items()) or "there is room, and nobody leaves for it"
        one = f"pod {pods[0]} is" if len(pods) == 1 else f"{len(pods)} pods are"
        ends = min((task.pod.metadata.deletion_timestamp or seen.ssn.now for task in leaving),
                   default=seen.ssn.now)
        if ends < seen.ssn.now - OVERDUE:
            why += (f", and should have ended by {moment_text(ends)} UTC: the kubelet there does "
                    "not answer, or a finalizer keeps them")
        parts.append(f"{one} promised a place on node {node}: {why}")
    shown = ". ".join(part[0].upper() + part[1:] for part in parts[:3])
    more = f", and others on {len(parts) - 3} more nodes" if len(parts) > 3 else ""
    left = [node for node in nodes if any(
        task.status == RELEASING for task in seen.ssn.nodes[node].tasks.values())]
    if promise_is_vain(seen, job):
        return _never_kept(seen, job, promised[0])
    text = f"{shown}{more}. " + ("Once that room is free, the next cycle binds them (Pipelined)."
                                 if left else "The next cycle begins anew with them (Pipelined).")
    records = [record for record in seen.of("victims")
               if record.get("task") in {task.key for task in promised}]
    return Cause("promised", text, {"promised": len(promised)}, records)


def promise_is_vain(seen: Evidence, job: JobInfo) -> bool:
    """Whether pods are promised places where no pod leaves, and have no more some cycles on."""
    nodes = {task.node_name for task in job.in_status(PIPELINED).values()}
    return bool(nodes) and not any(
        task.status == RELEASING for node in nodes for task in seen.ssn.nodes[node].tasks.values()
    ) and _never_bound(seen.last, job)


def _never_bound(last: Session | None, job: JobInfo) -> bool:
    """Whether pods that were promised a place in a first cycle have no more than that in the last.
    """
    later = last and last.jobs.get(job.uid)
    return bool(later) and all(later.tasks[uid].status == PIPELINED
                               for uid in job.in_status(PIPELINED) if uid in later.tasks)


def _never_kept(seen: Evidence, job: JobInfo, task: TaskInfo) -> Cause:
    """That each cycle promises a place which allocate refuses, and what allocate has against it."""
    node = task.node_name
    chosen = seen.in_action("allocate", "chose", task=task.key)
    limits = [record for record in seen.in_action("allocate", "allocatable", task=task.key)
              if not record["answer"]]
    against = why_not_cause(seen, task.key, node, chosen[-1]) if chosen else (
        refusal(seen, job, limits[-1]) if limits else None)
    says = f"allocate refuses it in every cycle: {against.text}" if against else (
        "allocate binds none of its gang.")
    text = (f"Pod {task.key} is promised a place on node {node} in every cycle (Pipelined), where "
            f"no pod is leaving, and {says} While that stays so, the promise is never kept.")
    return Cause("never_bound", text, {"promised": len(job.in_status(PIPELINED))},
                 against.records if against else [])


def _nowhere(seen: Evidence, job: JobInfo) -> Cause | None:
    """That pods are bound to nodes that are not there."""
    lost = {task.key: task.node_name for task in job.tasks.values()
            if task.node_name and task.node_name not in seen.ssn.nodes}
    if not lost:
        return None
    text = (f"{_pods(list(lost), 'lie')} on {listed(dict.fromkeys(lost.values()), 3)}, and no such "
            "node is among the objects.")
    return Cause("node_missing", text, {"pods": lost})


def _leaving(seen: Evidence, job: JobInfo) -> Cause | None:
    """How many pods leave, and for whom those that this cycle evicts."""
    leaving = {task.key for task in job.in_status(RELEASING).values()}
    if not leaving:
        return None
    evicted = {pod: record for record in seen.of("victims") if record.get("task")
               for pod in record["chosen"] if pod in leaving}
    groups: dict[tuple[str, str], list[str]] = {}
    for pod, record in evicted.items():
        groups.setdefault((record["action"], seen.tasks[record["task"]].job), []).append(pod)
    leave = "is leaving its node" if len(leaving) == 1 else "are leaving their nodes"
    text = f"{len(leaving)} of its pods {leave}" + (
        "." if counts(job)[2] else ", and it has no others to place.")
    text += "".join(f" {action} evicts {listed(pods, 3)} for {seen.called(other)}."
                    for (action, other), pods in groups.items())
    if groups:
        text += f" Ask why about {next(iter(evicted))}, and it is told who let it go."
    return Cause("pods_leave", text, {"leaving": len(leaving)},
                 list({record.number: record for record in evicted.values()}.values()))


def _left_alone(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Pods that nobody tries: behind a gate, asking for nothing without backfill, or without
    allocate.
    """
    waiting = [task for task in job.tasks.values() if not task.node_name]
    actions, gated = seen.ssn.enabled_actions, [task.key for task in waiting if task.sch_gated]
    if gated:
        names = dict.fromkeys(gate.name for task in waiting
                              for gate in task.pod.spec.scheduling_gates)
        yield Cause("gated", f"{_pods(gated, 'stand')} behind a scheduling gate. Whoever set it "
                    f"({listed(names, 3)}) has to take it away.", {"gated": len(gated)})
    nothing = [task.key for task in waiting if task.best_effort and not task.sch_gated]
    if nothing and "backfill" not in actions:
        yield Cause("no_backfill_action",
                    f"{_pods(nothing, 'ask')} for nothing; only backfill places such, "
                    "and the configuration doesn't have it.", {"best_effort": len(nothing)})
    own = job.sub_jobs.get(job.uid)
    if ("allocate" in actions and job.contains_sub_job_policy()
            and not job.contains_hard_topology() and (own is None or not own.in_status(PENDING))):
        text = ("Its pods belong to sub-groups. Without a network topology that must hold, "
                "allocate looks at the pods that belong to none, and there are no such.")
        yield Cause("no_default_sub_group", text, {"sub_groups": len(job.sub_jobs)})
    if "allocate" not in actions and actions & {*POINTS} and not seen.ssn.job_starving(job):
        text = ("Its gang has its minimum, so nobody is evicted for more of it, "
                "and the configuration has no allocate action.")
        yield Cause("not_starving", text, {"min_available": job.min_available})
    left = len(waiting) - len(nothing) - len(gated)
    if left and not actions & {"allocate", *POINTS}:
        yield Cause("no_allocate_action", "The configuration has no allocate action.")


def _pods(keys: list[str], verb: str) -> str:
    """
    >>> _pods(["a/b", "a/c"], "ask"), _pods(["a/b"], "ask")
    ('2 pods, as a/b, ask', 'Pod a/b asks')
    """
    one, many = f"Pod {keys[0]} {verb}s", f"{len(keys)} pods, as {keys[0]}, {verb}"
    return one if len(keys) == 1 else many


def _otherwise(seen: Evidence, job: JobInfo) -> Cause:
    """No refusal was recorded; what the PodGroup's condition says."""
    for condition in job.pod_group.status.conditions:
        if condition.type == "Unschedulable" and condition.status == "True":
            return Cause("condition", f"{condition.reason}: {condition.message}.", {})
    popped = list(seen.of("job", job=job.uid))
    text = "It had its turn, and nobody refused it." if popped else "It had no turn in this cycle."
    return Cause("no_turn" if not popped else "unknown", text, {}, popped)
