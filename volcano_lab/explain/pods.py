"""Why a pod is on its node, does not run there, waits, or is not on another node.

Volcano: none
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from attrs import evolve

from volcano_lab.api import FAILED, PIPELINED, JobInfo, TaskInfo
from volcano_lab.explain import (
    beyond,
    head,
    kubelet,
    placed,
    promises,
    questions,
    remedies,
    standing,
    taken,
    why_job,
)
from volcano_lab.explain.evidence import Evidence, waits
from volcano_lab.explain.explanation import Cause, Explanation, each_said
from volcano_lab.explain.shuffles import rule
from volcano_lab.explain.topology import spread
from volcano_lab.explain.victims import evicted_for, victim_causes
from volcano_lab.messages import Message


def not_running(seen: Evidence, job: JobInfo) -> list[Cause]:
    """Return why a job of which no pod waits here does not run in the cluster: a part of Volcano
    does not run, pods are not created, or not again, the cluster refuses a pod, or its node does
    not end or start one.
    """
    causes = why_job.job_causes(seen, job) if seen.not_created.get(seen.called(job.uid)) else []
    refused = [*beyond.beyond_causes(seen, job.tasks.values())]
    late = promises.leaving(seen, job) if promises.overdue(seen, job.tasks.values()) else None
    return [cause for cause in causes if cause.code in head.PODS_REFUSED] or [
        *beyond.idle_causes(seen, job)] or [
        cause for cause in kubelet.failed_causes(seen, job) if cause.numbers["stuck"]] or (
        refused if len({cause.code for cause in refused}) > 1 else []) or [
        cause for cause in (*filter(None, [late]), *kubelet.bound_causes(seen, job))
        if cause.numbers.get("stuck") or cause.numbers.get("stalled")]


def why_waits(seen: Evidence, task: TaskInfo, job: Explanation) -> Explanation:
    """Return why a pod waits, by why its job does."""
    choice = questions.last_choice(seen, task.key)
    if choice is None:
        tried = Message("pod.not_tried")
    elif choice["node"] is None:
        tried = Message("pod.tried", n=choice["nodes"])
    else:
        tried = Message("pod.given_back", node=choice["node"])
    said = [*each_said(job.said), Message("pod.waits", pod=task.key, status=task.status), tried]
    return Explanation(f"pod {task.key}", said, job.causes,
                       job.find_remedies and partial(job.find_remedies, pod=task.key))


def why_evicted(seen: Evidence, task: TaskInfo) -> Explanation:
    """Return why a pod was evicted: for which pod, by which plugins, what its queue held."""
    causes, job = [*victim_causes(seen, task.key)], seen.ssn.jobs[task.job]
    by = next((action for (action, _), pods in evicted_for(seen, job).items() if task.key in pods),
              "shuffle")
    jobs = [seen.called(uid) for cause in causes for uid in cause.numbers.get("winners", ())]
    said = Message("pod.shuffled", pod=task.key, why=rule(causes)) if not jobs else Message(
        "pod.evicted.for", pod=task.key, action=by, jobs=jobs)
    return Explanation(f"pod {task.key}", said, causes, remedies.sparing(seen, job, causes))


def with_evicted(seen: Evidence, found: Explanation, tasks: list[TaskInfo],
                 explainer: Callable[..., Any]) -> Explanation:
    """Add to an answer about pods of a job why actions have evicted them before this cycle, and
    what would have kept them: by the same cycle with these pods still there.
    """
    actions, old = taken.by_action(seen, tasks), found.find_remedies
    if actions:
        then = explainer(*taken.undone(seen)).evidence
        job = then.ssn.jobs[tasks[0].job]
        causes = [*promises.again(then, job, actions)]
        found.causes += causes
        if causes and not (old and waits(seen.ssn.jobs[job.uid])):
            find = partial(remedies.remedies_for, then, job, causes, keep=True)
            found.find_remedies = lambda *args, **named: (
                evolve(each, past=True) for each in find(*args, **named))
            found.causes.append(Cause.of("taken.changes", context=True))
    return found


def why_placed(seen: Evidence, task: TaskInfo) -> Explanation:
    """Return why a pod is on its node, or why it does not run there."""
    job = seen.ssn.jobs[task.job]
    idle = [*beyond.idle_causes(seen, job)] if seen.is_new(task) else []
    refused, pending = [*beyond.beyond_causes(seen, [task])], task.status == PIPELINED
    said = [promises.promised(seen, job)] if pending or not refused else []
    said += [] if refused else [
        promises.nowhere(seen, [task]), questions.why_here(seen, task),
        questions.despite(seen, task, task.node_name),
        *standing.unusual(seen, job, [task])]
    causes = idle or [*filter(None, said), *refused]
    if task.status == FAILED:
        causes = [*kubelet.failed_causes(seen, job, task.key)]
    elif not idle:
        stuck = [*kubelet.bound_causes(seen, job, task.key)]
        here = None if stuck or refused else placed.why_runs(seen, [task])
        causes = [*stuck, *filter(None, [here]), *causes]
    by, codes = beyond.decided_by(causes), {cause.code for cause in causes}
    gap = next((head.gap_of(cause, "sure" in cause.numbers) for cause in causes
                if cause in idle or "sure" in cause.numbers), None)
    code = "pod.waited" if codes & {*beyond.WAITED} and not pending else "pod.placed"
    code = "pod.beyond" if by else code
    code = "pod.idle" if gap else code
    return Explanation(f"pod {task.key}", Message(
        code, pod=task.key, status=task.status, node=task.node_name, by=by, gap=gap,
        why=head.chosen(causes)), causes)


def why_not(seen: Evidence, task: TaskInfo, node: str, why_job: Callable[[str], Explanation]
            ) -> Explanation:
    """Return why a pod is not on a node; `why_job` explains its job."""
    key, choice = task.key, questions.last_choice(seen, task.key, node)
    pending = None if task.node_name else why_job(task.job)
    cause = questions.why_not_cause(seen, key, node)
    code, other, causes = "pod.not_on_node", task.node_name, pending.causes if pending else []
    if choice is None:
        code, causes = _not_tried(seen, task, node, [cause] if cause else [], causes)
    elif cause:
        causes = [cause, *filter(None, [questions.rule_against(seen, key, node)] * (
            cause.code == "insufficient"))]
    elif choice["node"] == node:
        code = "node.given_back"
    else:
        code, other = "node.other", choice["node"]
        causes = [*filter(None, [questions.why_here(seen, task, node)])]
    return Explanation(f"pod {key} on node {node}", Message(
        code, pod=key, node=node, other=other), [*causes, *filter(None, [
            questions.despite(seen, task, node)])], pending.find_remedies if pending and (
                "topology_outside" in [each.code for each in causes]) else None)


def _not_tried(seen: Evidence, task: TaskInfo, node: str, found: list[Cause], causes: list[Cause]
               ) -> tuple[str, list[Cause]]:
    """(The first sentence, why a pod is not on a node that no search of it included): by `found`
    or, where none was for it at all, that it could take it; and the `causes` of its job.
    """
    if questions.last_choice(seen, task.key):
        return "pod.not_on_node", [*found, *causes]
    first = next((record["task"] for cause in causes for record in cause.records[-1:]
                  if record.get("task") not in (None, task.key)), None)
    again = [] if found or not task.node_name else [_placed_again(seen, task, node)]
    return "pod.elsewhere" if task.node_name else "pod.no_search", [
        *(found or [*filter(None, again)] or [Cause.of("fits_now", pod=task.key, node=node)]),
        *spread(seen, seen.ssn.jobs[task.job]),
        *[Cause.of("tried_before", pod=first)] * bool(first), *causes]


def _placed_again(seen: Evidence, task: TaskInfo, node: str) -> Cause | None:
    """What scores give its node and another one to a pod that is there already, if it were placed
    now beside the other pods.
    """
    scores = placed.scored(seen, task).scores
    if not {node, task.node_name} <= scores.keys():
        return None
    best = placed.best_of(scores)
    return Cause("best_score", [
        Message("placed_again", node=node), *placed.before(
            scores, best, task.node_name if best == node else node),
        Message("placed.now", pod=task.key)])
