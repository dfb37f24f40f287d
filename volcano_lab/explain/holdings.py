"""What a queue requests, deserves, holds and may hold, and what a node has left: which jobs hold
it, and why those that wait do not.

Volcano: none
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

from volcano_lab.api import (
    MIN_RESOURCE,
    PENDING,
    PIPELINED,
    ROOT_QUEUE,
    JobInfo,
    Resource,
    total,
)
from volcano_lab.explain import beyond, origin, questions, why_job
from volcano_lab.explain.evidence import Evidence, requested
from volcano_lab.explain.explanation import Amounts, Cause, Explanation, over, part
from volcano_lab.explain.head import gap_of, head_of
from volcano_lab.framework import CLUSTER_TOP
from volcano_lab.messages import Message, Said
from volcano_lab.trace.plain import amounts, grouped


def why_queue(seen: Evidence, queue: str) -> Explanation:
    """Explain what a queue requests, deserves, holds and may hold, what bounds its share, and
    which jobs wait in it.
    """
    queues = seen.state_at(next(reversed(seen.trace.records), None))["queues"]
    sums = queues.get(queue)
    if sums is None:
        return _without_share(seen, queue)
    names = [name for name in {**sums["request"], **sums["deserved"]} if name != "pods"]
    limited = [name for name, amount in sums["capability"].items()
               if name != "pods" and amount < origin.UNLIMITED]
    may = sums["real_capability"]
    bounds = dict.fromkeys([*names, *limited]) or over(may, {})
    code = "queue_head.weight" if "proportion" in seen.ssn.plugins else "queue_head"
    shares = [Message("queue_share", queue=name, weight=each["weight"], deserved=part(
        each["deserved"], names)) for name, each in queues.items() if over(each["request"], {})]
    parts = {name: sums["allocated"].get(name, 0.0) / amount
             for name, amount in sums["deserved"].items() if amount and name in names}
    most = [name for name in names if len(names) > 1 and parts.get(name) == sums["share"] > 0]
    head = Message(code, queue=queue, weight=sums["weight"], share=sums["share"], of=most,
                   limit=part(may, bounds), **{each: part(sums[each], names) for each in (
                       "request", "deserved", "allocated")})
    beside = [Message("queue_shares", shares=shares)] * (code != "queue_head" and len(shares) > 1)
    return Explanation(f"queue {queue}", [head, *beside],
                       [*_queue_causes(seen, queue, sums, limited)])


def _without_share(seen: Evidence, queue: str) -> Explanation:
    """That a queue has no jobs, or no plugin gives it a share; what is kept for it all the same."""
    own, shared = seen.ssn.queues[queue], origin.SHARES & seen.ssn.plugins.keys()
    kept = over(amounts(Resource.from_list(own.queue.spec.guarantee.resource)), {})
    return Explanation(f"queue {queue}", Message(
        "queue_head.empty" if shared else "queue_head.none", queue=queue,
        kept=Message("queue_head.kept", amount=kept) if kept else None),
        [*([] if own.is_open else [origin.closed(seen, queue)]),
         *_waiting(seen, _waits(seen, queue))])


def _queue_causes(seen: Evidence, queue: str, sums: dict[str, Any], limited: list[str]
                  ) -> Iterator[Cause]:
    ssn, may = seen.ssn, sums["real_capability"]
    if not ssn.queues[queue].is_open:
        yield origin.closed(seen, queue)
    yield from _bound(seen, queue, sums)
    if ssn.overused(ssn.queues[queue]) and over(sums["request"], {}):
        names = [name for name in sums["deserved"] if name != "pods"]
        yield Cause("overused", Message("queue_overused", deserved=part(sums["deserved"], names)),
                    {each: sums[each] for each in ("deserved", "allocated")},
                    seen.of("overused", queue=queue)[-1:])
    yield from origin.best_effort(seen, queue)
    less = [name for name in limited if may.get(name, 0.0) < sums["capability"][name]]
    if less:
        yield Cause.of("real_capability", capability=part(sums["capability"], less),
                       limit=part(may, less))
    yield from origin.above_limit(seen, queue)
    coming = [task for job in ssn.jobs.values() if job.queue == queue
              for task in job.in_status(PIPELINED).values()]
    beside = [task for uid, tasks in beyond.unplaceable(seen).items() for task in tasks
              if ssn.jobs[uid].queue == queue and task not in coming]
    for code, tasks in (("queue_promised", coming), ("queue_unplaceable", beside)):
        if tasks:
            yield Cause.of(code, n=len(tasks), amount=part(
                requested(tasks), sums["deserved"]), jobs=[*dict.fromkeys(
                    seen.called(task.job) for task in tasks)])
    waits = _waits(seen, queue)
    yield from _due(seen, queue, sums, waits)
    yield from _waiting(seen, waits)


def _waits(seen: Evidence, queue: str) -> dict[str, int]:
    """Return how many pods of each job of a queue wait."""
    return {uid: pods for uid, pods in beyond.waiting(seen).items()
            if seen.ssn.jobs[uid].queue == queue}


def _due(seen: Evidence, queue: str, sums: dict[str, Any], waits: Iterable[str]
         ) -> Iterator[Cause]:
    """Yield what a queue in which jobs wait is guaranteed, or deserves, beyond what it holds; what
    the queues above it, and beside it, hold of that, and what its jobs without pods request.
    """
    waiting = [seen.ssn.jobs[uid] for uid in waits]
    later = amounts(total(job.get_min_resources() for job in waiting if not job.tasks))
    field, due = next(((each, more) for each in ("guarantee", "deserved") for more in [
        over({name: amount for name, amount in sums.get(each, {}).items() if name != "pods"},
             sums["allocated"])] if more), ("", {}))
    if not waiting or not (due or over(later, {})):
        return
    yield Cause("queue_due", [
        Message("queue_due.later", amount=over(later, {})) if over(later, {}) else None,
        Message(f"queue_due.{field}", due=part(sums[field], due), held=part(
            sums["allocated"], due)) if due else None,
        *_around(seen, queue, due)], {"due": due}, [], True)


def _around(seen: Evidence, queue: str, due: Amounts) -> Iterator[Message]:
    """Yield what the queues above a queue, and beside it, hold of some resources, and whether
    pods of these are evicted for it.
    """
    queues = seen.state_at(next(reversed(seen.trace.records), None))["queues"]
    parent = seen.ssn.queues[queue].queue.spec.parent
    for name in origin.above(seen, queue):
        if name in queues and name != ROOT_QUEUE and due:
            yield Message("queue_due.above", queue=name, **{key: part(
                queues[name][each], due) for key, each in (
                    ("held", "allocated"), ("limit", "real_capability"))})
    beside = [name for name, each in sorted(queues.items()) if name not in (queue, ROOT_QUEUE)
              and over(part(each["allocated"], due), {})
              and seen.ssn.queues[name].queue.spec.parent == parent]
    if not beside:
        return
    yield Message("queue_due.beside", queues=[Message(
        "queue_due.one", queue=name, allocated=part(queues[name]["allocated"], due),
        deserved=part(queues[name]["deserved"], due)) for name in beside])
    if "reclaim" not in seen.ssn.enabled_actions:
        yield Message("queue_due.ends")
    elif kept := [name for name in beside if not seen.ssn.queues[name].reclaimable]:
        yield Message("queue_due.kept", queues=kept)
    elif not any(over(queues[name]["allocated"], queues[name]["deserved"]) for name in beside):
        yield Message("queue_due.reclaim")


def _waiting(seen: Evidence, waits: Mapping[str, int]) -> Iterator[Cause]:
    """Yield the jobs of a queue that wait, with how many pods."""
    waiting = {uid: Message(
        "job_waits", job=seen.called(uid), phase=job.pod_group.status.phase or "Pending",
        pods=Message("pods", n=n) if job.tasks else Message("status.no_pods"))
        for uid, n in waits.items() for job in [seen.ssn.jobs[uid]]}
    if waiting:
        yield Cause("jobs_wait", Message("jobs_wait", jobs=[*waiting.values()]),
                    {"jobs": [*map(seen.called, waiting)]})


def _bound(seen: Evidence, queue: str, sums: dict[str, Any]) -> Iterator[Cause]:
    """Yield what stops its share from growing, and in which round."""
    rounds = [(record, step) for record in seen.of("deserved_round")
              for step in record["round"]["steps"] if step["queue"] == queue]
    records = [record for record, _ in rounds]
    met = next((number for number, (_, step) in enumerate(rounds) if step["met"]), None)
    if rounds and (met is None or not sums["weight"]):
        yield Cause.of("met_nothing" if sums["weight"] else "met_no_weight", records=records,
                       n=len(rounds))
    elif met is not None:
        record, step = rounds[met]
        code, names = ("met_request", []) if step["met"] == "request" else _no_more(sums, step)
        yield Cause(code, Message("sharing_stops", round=record["number"], why=Message(
            code, resources=names)), {"round": record["number"], "after": step["after"]},
            records[:met + 1])


def _no_more(sums: dict[str, Any], step: dict[str, Any]) -> tuple[str, list[str]]:
    """Whether its real capability stops it, or that nothing is left, and of what: Volcano's log
    calls both the capability.
    """
    def ends(names: list[str], more: dict[str, float], less: dict[str, float]) -> list[str]:
        return [name for name in names if more.get(name, 0.0) - less.get(name, 0.0) < MIN_RESOURCE]

    after = step["after"]
    has = ends([*sums["request"]], sums["request"], after)
    wants = [name for name in sums["request"] if name != "pods" and name not in has]
    bound = ends(wants, sums["real_capability"], after)
    gone = ends(wants, step["offered"], step["before"])
    if bound:
        return "met_capability", bound
    return "met_nothing_left" if gone else "met_no_growth", gone


MOST, NAMED = 200, 3
"""Of how many jobs that wait a pod is compared with the node; reasons against an added one."""


def why_node(seen: Evidence, name: str) -> Explanation:
    """Explain what a node has left at the end of the cycle, and what keeps waiting pods off it."""
    node = seen.ssn.nodes[name]
    held = Counter(seen.called(task.job) if task.job in seen.ssn.jobs else task.key
                   for task in node.tasks.values())
    total = over(amounts(node.allocatable), {})
    head = Message("node_head", node=name, n=len(node.tasks), total=total, free={
        each: node.idle.get(each) for each in total})
    jobs = Message("node_holds", jobs=[Message("node_holds.job", job=job, pods=Message(
        "pods", n=count)) for job, count in held.most_common()])
    inside = {each.name for known, nodes in seen.ssn.topology.nodes.items() if known != CLUSTER_TOP
              for each in nodes}
    apart = Message("node_outside", n=len(seen.ssn.nodes.keys() - inside - {name}))
    return Explanation(f"node {name}", [head, *[jobs] * bool(held), *[apart] * bool(
        inside and name not in inside)], [*_kept_off(seen, name)])


def _without_node(seen: Evidence) -> list[JobInfo]:
    """The jobs of which pods wait, or are not created before it is admitted."""
    return [job for job in seen.ssn.jobs.values()
            if job.in_status(PENDING) or (job.is_pending() and not job.tasks)]


def _kept_off(seen: Evidence, node: str) -> Iterator[Cause]:
    """Yield each reason why the first waiting pods of jobs are not on a node, the most frequent
    first; of jobs without pods, what they wait for.
    """
    jobs = _without_node(seen)
    alike = grouped((key, (cause, job)) for job in jobs[:MOST]
                    for key, cause in [_reason(seen, job, node)])
    for cases in sorted(alike.values(), key=len, reverse=True):
        (cause, _), *more = cases
        also = Message("node_also", n=len(more), jobs=[
            seen.called(other.uid) for _, other in more]) if more else None
        yield Cause(cause.code, [*cause.sentences, also], cause.numbers, cause.records)
    if not jobs:
        yield Cause.of("no_pod_waits")


def _reason(seen: Evidence, job: JobInfo, node: str) -> tuple[Hashable, Cause]:
    """Return why a job's first pod is not on a node, or that the node could take it, and what the
    job waits for instead; the first part is the same for jobs that share a sentence.
    """
    pod = next((task.key for task in job.in_status(PENDING).values()), None)
    cause = pod and questions.why_not_cause(seen, pod, node)
    if cause:
        return cause.code, cause
    gap = next(filter(None, map(gap_of, why_job.job_causes(seen, job))), None)
    alike = (gap.code, job.queue, *gap.facts.get("short", {}).items()) if gap else ()
    said = gap and Message("node_fits.gap", gap=gap)
    if pod is None:
        return ("", *alike), Cause.of("node_later", job=seen.called(job.uid), gap=said)
    return alike, Cause.of("node_fits", pod=pod, node=node, gap=said)


def unmoved(seen: Evidence, empty: Iterable[str], same: bool) -> Iterator[Said]:
    """Yield why nodes that a change has added stay `empty` while pods wait, those alike together;
    without such, where all is the `same`, what the first job that waits is short of; and what no
    node has of what pods that are placed request of a plugin.
    """
    waiting = _without_node(seen)
    reasons = {name: [*_kept_off(seen, name)][:NAMED] for name in empty if waiting}
    alike = grouped((tuple(cause.code for cause in causes), name)
                    for name, causes in reasons.items())
    for names in alike.values():
        yield Message("added_unused", n=len(names), nodes=names)
        yield from (said for cause in reasons[names[0]] for said in cause.sentences)
    for job in waiting[:same and not alike]:
        yield Message("as_before", n=len(waiting))
        yield from head_of(seen, job, why_job.job_causes(seen, job))
    for job in seen.ssn.jobs.values():
        if beyond.lacks(seen, job.tasks.values()):
            yield from head_of(seen, job, why_job.job_causes(seen, job))
