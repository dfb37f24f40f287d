"""The first line of an answer about a job: what it waits for, and how much of it is missing.

Volcano: none
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from volcano_lab.api import FAILED, RELEASING, RUNNING, SUCCEEDED, JobInfo
from volcano_lab.api.objects import Pod, PodGroup
from volcano_lab.explain import beyond, evidence, origin, promises, releases, victims
from volcano_lab.explain.evidence import Evidence, counts, was_admitted
from volcano_lab.explain.explanation import Amounts, Cause, moment_text, over
from volcano_lab.explain.shuffles import zone_hours
from volcano_lab.manifests.job_controller import ENDING, FINISHED
from volcano_lab.messages import Message, known
from volcano_lab.trace import grouped, short

PODS_REFUSED = ("pods_refused", "pods_forbidden")
"""Causes that the API server refuses pods which a controller creates."""
OWN_PARTS = (*evidence.OWN.values(), "no_operator")


def head_of(seen: Evidence, job: JobInfo, causes: list[Cause]) -> list[Message]:
    """Return what the job waits for and how much of it is missing; then what its phase means."""
    status, below = _status(job), job.ready_task_num() < job.min_available
    stuck = any(cause.numbers.get("never") or (below and cause.numbers.get("stuck"))
                for cause in causes)
    sure = next((gap_of(cause, True) for cause in causes if "sure" in cause.numbers), None)
    if job.tasks and not counts(job)[1] and not evidence.waits(job) and not stuck:
        return [_standing(seen, job, causes, _brief(status, sure), sure), *_notes(seen, job)]
    phases = [cause.numbers["phase"] for cause in causes if cause.numbers.get("phase")]
    over = phases and len(job.tasks) == evidence.ended(job)
    return [_ended(seen, job, phases[0], status)] if over else [
        _waiting(seen, job, causes, status, sure), *_notes(seen, job)]


def _waiting(seen: Evidence, job: JobInfo, causes: list[Cause], status: list[Message],
             sure: Message | None) -> Message:
    """The first line about a job of which pods wait or are pipelined."""
    _, promised, pending = counts(job)
    stands = promised and not pending and any(cause.code in beyond.WAITED for cause in causes)
    if stands and not any(beyond.leaves(seen, task) for task in job.tasks.values()):
        gap, code = sure, "job.head" if sure else "job.pipelined"
        status = _brief(status, sure)
    else:
        gaps = map(gap_of, sorted(causes, key=lambda cause: cause.code not in origin.TOO_LARGE))
        gap = next(filter(None, gaps), None)
        code = "job.waits" if gap is None else "job.head"
        if not promised and (gap is None or not gap.facts["own"]):  # else it says how many fit
            status = [*status, *_rolled_back(causes)]
    return Message(code, gap=gap, status=status, job=short(seen.called(job.uid)))


def _rolled_back(causes: Iterable[Cause]) -> list[Message]:
    """How many pods had a node until their gang was rolled back."""
    return [Message(f"status.{said.code}", **cause.numbers) for cause in causes
            if cause.code == "gang_short" for said in cause.sentences[:1]
            if isinstance(said, Message)]


def _brief(status: list[Message], sure: Message | None) -> list[Message]:
    """The phase alone, where what keeps pods waiting is sure."""
    return status if sure is None or sure.code.endswith("depends") else status[:1]


def _standing(seen: Evidence, job: JobInfo, causes: list[Cause], status: list[Message],
              sure: Message | None) -> Message:
    """The first line about a job of which no pod waits here."""
    by, found = beyond.decided_by(causes), grouped((cause.code, cause) for cause in causes)
    idle = next(filter(None, (gap_of(cause) for cause in causes if cause.code in OWN_PARTS)), None)
    refused = next((Message(f"gap.{cause.code}", **cause.numbers) for cause in causes
                    if cause.code in PODS_REFUSED), None)
    phases = {own.status.state.phase for own in seen.volcano_jobs(job)}
    more, ending, ended = _besides(found), phases & {*ENDING}, phases & {*FINISHED}
    loses = victims.evicts(seen, job, causes)
    code = next(code for code, holds in (
        ("job.head", refused or (sure and not idle)), ("job.idle", idle),
        ("job.beyond.answer", by and more["said"]), ("job.beyond", by),
        ("job.placed", found.keys() & {*beyond.WAITED}), ("job.ends", ending),
        ("job.loses", loses),
        ("job.taken", more["taken"]), ("job.bound", more["unready"]),
        ("job.failed", more["why"] and not job.ready_task_num()),
        ("job.queue", more["named"]), ("job.ends", ended), ("job.runs", "placed" in found),
        ("job.stands", True)) if holds)
    return Message(code, status=status, by=loses if code == "job.loses" else by, job=short(
        seen.called(job.uid)), gap=refused or idle or sure, since=_since(seen, job),
        queue=job.queue if more["named"] else None, phase=[*ending, *ended], nodes=[*chain(*(
            cause.numbers["nodes"] for cause in found.get("placed", ())))], here=chosen(causes),
        **more)


def chosen(causes: Iterable[Cause]) -> Message | None:
    """What puts pods that run on their nodes, as far as scores of now show it."""
    return next((Message(f"placed.by.{cause.numbers['by']}", **cause.numbers)
                 for cause in causes if cause.code == "placed" and "by" in cause.numbers), None)


def _ended(seen: Evidence, job: JobInfo, phase: str, status: list[Message]) -> Message:
    """The first line about a job without pods that may run whose owner ends or has ended: with the
    phase of its PodGroup, where one is given.
    """
    groups = [each.status.phase or "Pending" for each in seen.named.get(job.pod_group.key, ())
              if isinstance(each, PodGroup)]
    own = Counter(pod.status.phase for pod in seen.objects if isinstance(pod, Pod) and (
        seen.called(job.uid) in {f"{pod.namespace}/{owner.name}"
                                 for owner in pod.metadata.owner_references}))
    left = [Message(f"status.{code}", count=own[state]) for code, state in (
        ("ended", "Succeeded"), ("failed", "Failed")) if own[state]]
    return Message("job.ends", job=short(seen.called(job.uid)), phase=[phase], since=_since(
        seen, job), status=status if job.tasks else [
            *(Message("status.phase", phase=each) for each in groups),
            *(left or [Message("status.none")])])


def _since(seen: Evidence, job: JobInfo) -> Message | None:
    """Since when a Volcano Job is in its state, and why, where its status says so."""
    for own in seen.volcano_jobs(job):
        state = own.status.state
        if state.last_transition_time is not None:
            return Message("job.since", moment=moment_text(state.last_transition_time),
                           why=[*filter(None, (state.reason, state.message))] or None)
    return None


def _besides(found: Mapping[str, list[Cause]]) -> dict[str, Any]:
    """Why pods have failed, or do not run on their node, another queue that the owner names, and
    the cluster's last answer.
    """
    queues = [queue for cause in found.get("no_effect", ()) for queue in cause.numbers["queue"]
              if cause.numbers["what"] == "unread.queue_above"]
    return {"why": [cause.numbers["reason"] for cause in found.get("failed", ())] or None,
            "unready": next((cause.numbers["why"] for cause in found.get("bound", ())), None),
            "named": queues or None, "taken": next((
                cause.numbers["taken"] for cause in found.get("pods_leave", ())), None),
            "said": next((cause.numbers["said"] for cause in found.get("beyond_answer", ())), None)}


def gap_of(cause: Cause, sure: bool = False) -> Message | None:
    """Return what a cause makes a job wait for, and how much of it is missing; None for context,
    unless it is `sure` beside pods that are all placed.
    """
    code = _gap(cause) + f".{cause.numbers.get('sure')}" * sure
    said = [each for each in cause.sentences if isinstance(each, Message)]
    own, gang, pods, hours, apart, within = (
        next((each.facts for each in said if each.code.startswith(begin)), {})
        for begin in ("own_pods", ("queue.gang", "nodes.gang"), ("queue.pods", "nodes.pods"),
                      "zone.hours", "volume.apart", "topology.placed"))
    for part, holds in (("own", own.get("n")), ("gang", gang), ("pods", pods), ("hours", hours),
                        ("best", "best" in cause.numbers), ("apart", apart), ("within", within)):
        code += f".{part}" * bool(holds and known(f"{code}.{part}"))
    if not known(code) or (cause.context and cause.code not in origin.TOO_LARGE and not sure):
        return None
    facts = {**(said[0].facts if said else {}), **cause.numbers, "own": own.get("n", 0),
             "hours": hours.get("hours"), "waiting": pods.get("n"),
             "within": within.get("hyper_node")} | apart
    facts |= {"which": Message(facts["which"])} if "which" in cause.numbers else {}
    facts["more"] = Message(
        "gap.more", behind=facts.get("behind"),
        fit=[Message("gap.fit", n=own.get("n"))] * bool(own),
        deadlock=Message("gap.deadlock", n=facts["deadlock"]) if "deadlock" in facts else None)
    return Message(code, **facts | _short({**facts, **(gang or pods)}))


def first_gap(causes: Iterable[Cause]) -> Message | None:
    """Return what the first of some causes that has a gap makes a job wait for."""
    return next(filter(None, map(gap_of, causes)), None)


def _short(facts: dict[str, Any]) -> dict[str, Amounts]:
    """What is missing of a sum, or else of what a pod asks for, under `short`."""
    asked, there = (next((facts[name] for name in names if facts.get(name) is not None), None)
                    for names in (("sum", "asked", "request"), ("limit", "total", "free_in_total")))
    return {"short": over(asked, there)} if asked and there is not None else {}


def said_already(cause: Cause, causes: Iterable[Cause]) -> bool:
    """Whether other causes say the same: a known defect, which jobs reclaim looks at; overcommit,
    or that the job is too large, that the cluster has no more; the limit of its queue, that reclaim
    evicts none for it.
    """
    codes = {each.code for each in causes}
    if cause.code in ("reclaim_overused", "reclaim_not_eligible"):
        return cause.context and "queue_over_capability" in codes
    if cause.numbers.get("actions") == ["reclaim"] and cause.code == "evicts_for_admitted":
        return any("owed" in releases.DEFECTS[str(each.numbers["issue"])]
                   for each in causes if each.code == "known_defect")
    return bool(codes & {"overcommit_refuses", *origin.TOO_LARGE}) and any(
        isinstance(said, Message) and said.code == "queue_over.too"
        and [each.code for each in said.facts["origin"]] == ["origin.cluster"]
        for said in cause.sentences)


def _gap(cause: Cause) -> str:
    """The code of the message of what a cause makes a job wait for."""
    code = "gap.cluster_full" if cause.numbers.get("whole") else f"gap.{cause.code}"
    code += ".none" * (cause.code == "pod_too_large" and not any(cause.numbers["largest"].values()))
    code += ".nodes" * (cause.code == "refused" and "reason" in cause.numbers)
    whole = getattr(cause.sentences[0], "code", "").endswith(".cluster") if cause.said else False
    code += ".cluster" * (whole and known(f"{code}.cluster"))
    code += ".some" * ("which" in cause.numbers and known(f"{code}.some"))
    return code + "".join(f".{name}" for name in (
        "elsewhere", "unseen", "overdue", "kept_off", "twice") if cause.numbers.get(name))


def _status(job: JobInfo) -> list[Message]:
    """The phase, and how many of the job's pods are in which state."""
    placed, promised, _ = counts(job)
    done, held = len(job.in_status(SUCCEEDED)), len(promises.held(job))
    parts = [Message("status.phase", phase=job.pod_group.status.phase or "Pending"),
             Message("status.placed", placed=placed - done - held,
                     pods=len(job.tasks)) if job.tasks else Message("status.no_pods")]
    more = {"ended": done, "held": held, "promised": promised,
            "leaving": len(job.in_status(RELEASING)), "failed": len(job.in_status(FAILED))}
    return parts + [Message(f"status.{name}", count=count) for name, count in more.items() if count]


def _notes(seen: Evidence, job: JobInfo) -> Iterator[Message]:
    """Yield what the phase means, and the hours of the nodes that the pods are on."""
    running, least = len(job.in_status(RUNNING)), job.pod_group.spec.min_member
    phase, pending = job.pod_group.status.phase or "Pending", counts(job)[2]
    stays = any(own.status.state.phase == "Running" for own in seen.volcano_jobs(job))
    if job.is_pending() and pending and was_admitted(seen, job):
        yield Message("job.was_admitted", state=Message("job.state_stays") if stays else None)
    elif pending == len(job.tasks) > 0 and stays:
        yield Message("job.none_runs")
    if phase == "Unknown":
        rest = {"_waits": pending, "_promised": counts(job)[1], "": True}
        code = next(code for code, holds in rest.items() if holds)
        yield Message(f"phase.unknown{code}", n=running, least=least)
    elif phase == "Completed" and evidence.ended(job) < len(job.tasks):
        yield Message("phase.completed", ended=evidence.ended(job), least=least)
    yield from zone_hours(seen, job)
