"""Why a job is refused: by enqueue, or by its queue in allocate; what the plugins compared, at
which level of the tree, and which jobs hold what they counted.

Volcano: none
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import Any

from volcano_lab.api import JobInfo, total
from volcano_lab.explain import holders, origin, overcommit, owners, quotas, rules
from volcano_lab.explain.evidence import Evidence, requested, unplaced
from volcano_lab.explain.explanation import Amounts, Cause, added, over, part
from volcano_lab.explain.nodes import closed_causes, missing, nearest, withheld
from volcano_lab.explain.requests import at_first, member, not_announced, rest_of, still_needed
from volcano_lab.messages import Message
from volcano_lab.trace import Record, State, amounts, grouped


def admission_causes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield why a job's PodGroup is still Pending, from the refusals that were recorded."""
    if "enqueue" not in seen.ssn.enabled_actions:
        yield Cause.of("no_enqueue_action")
        return
    if not seen.ssn.queues[job.queue].is_open:
        yield origin.closed(seen, job.queue, job.uid)
        return
    compared = [record for kind in ("enqueue_comparison", "quota_comparison")
                for record in seen.of(kind, job=job.uid) if record["short_of"]]
    for record in compared:
        refused = quotas.quota_causes if record.kind == "quota_comparison" else _compared
        yield from refused(seen, job, record)
        if origin.SHARES & {*seen.plugins("job_enqueueable")}:
            yield from _unasked(seen, job, record, amounts(job.get_min_resources()),
                                ("allocated", "inqueue"))
    yield from overcommit.would_refuse(seen, job) if compared else ()
    yield from _beyond_pods(job, compared)
    for record in [] if seen.brief else compared[:1]:
        yield from holders.overtakers(seen, job, record)
    yield from hopeless(seen, job, "admitted")
    reported = {record["plugin"] for record in compared}
    for record in seen.of("job_enqueueable", job=job.uid):
        if record["answer"] < 0 and record["plugin"] not in reported:
            yield origin.refused(seen, record, "admission.refused")


def _compared(seen: Evidence, job: JobInfo, record: Record) -> Iterator[Cause]:
    """Yield the sum that a plugin compared, the jobs behind it, and those that can never start."""
    yield _comparison(seen, job, record)
    for cause in holders.by_whom(seen, job, record):
        yield cause
        yield from never_starts(seen, cause.numbers.get("holders", ()))


def hopeless(seen: Evidence, job: JobInfo, then: str) -> list[Cause]:
    """Return why the job cannot start even with its quota (`then`: admitted, or queue): it is too
    large for the cluster or each node, or rules refuse all nodes that are large enough.
    """
    return [*origin.too_large(seen, job)] or [*closed_causes(seen, job, then)]


def never_starts(seen: Evidence, jobs: Iterable[str]) -> Iterator[Cause]:
    """Yield which jobs with reserved resources can never start, those alike in one sentence."""
    alike: dict[str, tuple[Message, list[str]]] = {}
    for job in map(seen.ssn.jobs.__getitem__, jobs):
        starts = len(unplaced(job)) < len(job.tasks) or owners.kind_of(job) in owners.KINDS["later"]
        for cause in [] if starts else hopeless(seen, job, "admitted")[:1]:
            kind = cause.code if cause.code in origin.TOO_LARGE else "rules"
            why = Message(f"never_starts.{kind}", **cause.numbers)
            alike.setdefault(str(why), (why, []))[1].append(job.uid)
    for why, uids in alike.values():
        yield Cause.of("never_starts", context=True, jobs=[*map(seen.called, uids)], why=why,
                       uids=uids)


def _beyond_pods(job: JobInfo, compared: list[Record]) -> Iterator[Cause]:
    """Yield that the PodGroup's minResources are more than all its pods request."""
    beyond = owners.beyond_pods(job)
    names = [*dict.fromkeys(name for record in compared for name in record["short_of"]
                            if name in beyond)]
    later = owners.grows(job)
    if job.tasks and names:
        trainer = [Message("min_resources.trainer")] * (owners.kind_of(job) == "TrainJob")
        yield Cause.of("min_resources_ahead" if later else "min_resources_beyond", *trainer,
                       context=True, least=part(amounts(job.get_min_resources()), names),
                       asked=part(requested(job.tasks.values()), names), later=later)


def admitted_early(seen: Evidence, job: JobInfo, names: Iterable[str]) -> Iterator[Cause]:
    """Yield that enqueue compared less than the minimum of pods requests of what they wait for, as
    the PodGroup's minResources say less.
    """
    given, count = job.pod_group.spec.min_resources, job.min_available
    least = origin.least_request(job, count, names) if given and len(job.tasks) >= count else {}
    less = over(least, amounts(job.get_min_resources()))
    if less and seen.plugins("job_enqueueable") and not job.is_pending():
        field = str(owners.known_of("minimum", owners.owner_of(job)) or "")
        known = amounts(job.get_min_resources())
        named = {name: known[name] for name in less if name in known}
        yield Cause("admitted_early", Message(
            "admitted_early" if named else "admitted_early.none", n=count, least=named,
            asked=part(least, less), names=[*less], field=[
                field.replace("minAvailable", "minResources")] * ("." in field)), context=True)


def _comparison(seen: Evidence, job: JobInfo, record: Record) -> Cause:
    """The sum that a plugin compared with a limit when it refused the job."""
    names = record["short_of"]
    if record["plugin"] == "overcommit":
        return overcommit.refusal(seen, record, names, "overcommit_refuses", record)
    elastic = part(record["elastic"], names)
    parts = [Message(f"sum.{name}", amount=part(record[name], names))
             for name in ("allocated", "inqueue", "min_resources")
             if any(record[name].get(each) for each in names)]
    beyond = Message("sum.elastic", amount=elastic) if any(elastic.values()) else None
    code = "queue_over.admission" if beyond or len(parts) > 1 else "queue_over.alone"
    found = origin.over_cause(
        seen, job, record["level"], code, names, (record["asked"], record["limit"]), [record],
        {"elastic": elastic} if beyond else {}, parts=parts, elastic=beyond,
        only=f"{names[0]} " if len(names) == 1 else "")
    found.said = [*found.sentences, *(said for task in unplaced(job)[:1]
                                      for said in at_first(seen, task, names))]
    return found


def _unasked(seen: Evidence, job: JobInfo, record: Record, request: Amounts,
             counted: Sequence[str], each: bool = False) -> Iterator[Cause]:
    """Yield the queues that would refuse it, too: the first refusal ends the comparison of a line
    of queues.
    """
    queues, level = seen.state_at(record)["queues"], record.get("level")
    line = [job.queue, *origin.above(seen, job.queue)]
    line = line[line.index(level) + 1:] if level else line
    for name in filter(queues.__contains__, line):
        queue = queues[name]
        sums = reduce(added, (queue[what] for what in counted), request)
        if not each:  # enqueue leaves it out of its sum, allocate does not
            sums = added(sums, queue["elastic"], -1.0)
        limit = queue["real_capability"]
        if names := [*over(part(sums, request), limit)]:
            yield origin.over_cause(seen, job, name, "queue_over.too", names, (sums, limit), (),
                                    {"each": part(request, names)} if each else {}, queue=name)


def limit_causes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield why the queue, or one above it, refuses the job's pods in allocate."""
    asked = seen.calls_about(job, "allocatable", "allocate")
    waiting = {task.key for task in unplaced(job)}
    overused = seen.in_action("allocate", "overused", queue=job.queue, answer=True)
    if overused and waiting - {record["task"] for record in [
            *asked, *seen.in_action("allocate", "chose")]}:
        found = _overused(seen, job, overused[-1])
        yield found
        yield from holders.room_causes(seen, job, found)
    refusals = grouped((record["plugin"], record) for record in asked
                       if not record["answer"] and record["task"] in waiting)
    for plugin, (record, *_) in refusals.items():
        found = refusal(seen, job, record)
        found.said = [*found.sentences, _of_gang(seen, job, record, found)]
        if job.is_ready() and "limit" in found.numbers and _fits(
                seen.trace.start["tasks"][record["task"]]["request"], seen.free(record)):
            found.said = [*found.sentences, Message("queue.free")]
        yield found
        yield from never_starts(seen, found.numbers.get("stranded", ()))
        level = seen.trace.records[record.number - 1]
        if plugin == "capacity" and level.kind == "allocatable_level":
            yield from _unasked(seen, job, level, level["request"], ("allocated",), each=True)
        elif found.code == "over_deserved":
            yield from _over_limit(seen, job, record)
        if "limit" in found.numbers:
            yield from holders.room_causes(seen, job, found)
    if refusals and waiting and not seen.calls_about(job, "chose", "allocate"):
        yield from hopeless(seen, job, "queue")


def _of_gang(seen: Evidence, job: JobInfo, record: Record, cause: Cause) -> Message | None:
    """What its queue would hold with the whole gang, or all pods that wait, where these are more
    than the refused one, and its sum does not count them all.
    """
    sums = seen.state_at(record)["queues"].get(cause.numbers.get("level", job.queue))
    missing, of = rest_of(job)
    if sums is None or missing < 2 or "limit" not in cause.numbers:
        return None
    limit = sums["deserved" if cause.code == "over_deserved" else "real_capability"]
    own = requested(seen.placed_just_before(job.uid, record))
    held, gang = added(sums["allocated"], own, -1.0), amounts(still_needed(job, missing))
    names = [*{**cause.numbers["limit"], **over(part(added(held, gang), gang), limit)}]
    held, gang, limit = (part(some, names) for some in (held, gang, limit))
    whole = added(held, gang)
    return None if whole == cause.numbers["asked"] or not over(whole, limit) else Message(
        f"queue.{of}{'.more' * (len(names) > len(cause.numbers['limit']))}",
        held=held, gang=gang, sum=whole, n=missing, limit=limit)


def _over_limit(seen: Evidence, job: JobInfo, record: Record) -> Iterator[Cause]:
    """Yield that its queue, which would hold more than it deserves, would with the gang, or all
    pods, also hold more than its limit.
    """
    own = requested(seen.placed_just_before(job.uid, record))
    rest = added(amounts(still_needed(job, rest_of(job)[0])), own, -1.0)
    due = seen.state_at(record)["queues"][job.queue]["deserved"]
    for cause in _unasked(seen, job, record, rest, ("allocated",), each=True):
        limit = cause.numbers["limit"]
        if limit != part(due, limit) and not origin.of_cluster(seen, limit, cause.numbers["level"]):
            yield cause


def _overused(seen: Evidence, job: JobInfo, record: Record) -> Cause:
    """That its queue holds all that it deserves."""
    sums = seen.sums(job.queue, record=record)
    deserved = sums.get("deserved", {})
    return Cause("overused", Message("overused" if deserved else "overused.nothing", **{
        "queue": job.queue, "plugin": record["plugin"], **sums}),
        sums | {"short_of": [name for name, amount in deserved.items() if amount]}, [record])


def refusal(seen: Evidence, job: JobInfo, record: Record) -> Cause:
    """Return why a plugin refuses a pod of a queue, from the record of its answer."""
    plugin, level = record["plugin"], seen.trace.records[record.number - 1]
    if plugin in origin.SHARES and not seen.ssn.queues[job.queue].is_open:
        return origin.closed(seen, job.queue, job.uid)
    if plugin == "capacity" and level.kind == "allocatable_level" and level["short_of"]:
        return _over_level(seen, job, record, level)
    if plugin == "proportion":
        return _over_deserved(seen, job, record)
    return origin.refused(seen, record, "allocation.refused", queue=job.queue, pod=record["task"])


def _over_level(seen: Evidence, job: JobInfo, record: Record, level: Record) -> Cause:
    """That a queue of the line would hold more than its limit."""
    names, pod = level["short_of"], record["task"]
    each, limit = part(level["request"], names), part(level["limit"], names)
    found = origin.over_cause(
        seen, job, level["level"], "queue_over.pod", names, (level["asked"], level["limit"]),
        [level, record], {"each": each, **_whole(seen, level["level"], each, limit, record)},
        held=part(level["allocated"], names), each=each, pod=pod)
    found.said = [*found.sentences, *at_first(seen, seen.tasks[pod], names),
                  seen.own(job.uid, record)]
    return found


def _over_deserved(seen: Evidence, job: JobInfo, record: Record) -> Cause:
    """That a queue would hold more than it deserves, and for which queues free resources are kept.
    """
    state, pod = seen.state_at(record), record["task"]
    queue, request = state["queues"][job.queue], state["tasks"][pod]["request"]
    sums, deserved = added(queue["allocated"], request), queue["deserved"]
    names = [*over(part(sums, request), deserved)]
    asked, limit, each = (part(some, names) for some in (sums, deserved, request))
    numbers: dict[str, Any] = {"asked": asked, "limit": limit, "short_of": names, "each": each,
                               **_whole(seen, job.queue, each, limit, record)}
    whole = origin.limit_origin(seen, job.queue, limit)
    codes, left = [origin.code for origin in whole], None
    if "origin.capability" not in codes:
        left, stranded = _left_for(seen, job, record, names)
        numbers |= {"stranded": stranded} if left else {}
        if left and (barred := _barred(seen, left, record, names)):
            left = Message("resources.barred", kept=left, queues=[*barred])
    said = Message("over_deserved.cluster" if "whole" in numbers else "over_deserved",
                   queue=job.queue, pod=pod, each=each,
                   held=part(queue["allocated"], names), asked=asked, deserved=limit,
                   why=[*whole, Message("weight", weight=queue["weight"])])
    return Cause("over_deserved", [
        said, *at_first(seen, seen.tasks[pod], names), seen.own(job.uid, record),
        *not_announced(seen, names, seen.tasks[pod]),
        *withheld(seen, seen.tasks[pod], seen.ssn.nodes, names), left], numbers, [record])


def _whole(seen: Evidence, level: str, each: Amounts, limit: Amounts, record: Record
           ) -> dict[str, Any]:
    """That a limit is all that the cluster has, and what its best node lacks for a pod."""
    if not origin.of_cluster(seen, limit, level):
        return {}
    left = seen.free(record, each)
    return {"whole": True, **nearest(seen, record, each, left, seen.trace.nodes)}


def _left_for(seen: Evidence, job: JobInfo, record: Record, names: list[str]
              ) -> tuple[Message | None, list[str]]:
    """For which queues free resources are kept that a pod may not take: those that can use what
    they deserve, or have a guarantee of it; where there is none, the queues of which one more pod
    exceeds the share, and jobs that wait in them.
    """
    state = seen.state_at(record)
    free, queues = seen.free(record), state["queues"]
    due = {name: [*{(*each.items(),): each for each in _requests(seen, name, state)}.values()]
           for name, sums in queues.items()
           if name != job.queue and over(part(sums["deserved"], names), sums["allocated"])}
    kept = [name for name, requests in due.items() if over(
        part(queues[name]["guarantee"], names), queues[name]["allocated"]) or any(
        _within(queues[name], each, free) for each in requests)]
    theirs = kept or [*due]
    if not theirs or not (kept or all(due.values())) or not _fits(
            state["tasks"][record["task"]]["request"], free):
        return None, []
    said = Message("resources.kept" if kept else "resources.stranded", queues=[
        Message("queue.sums", **seen.sums(name, names, record)) for name in theirs])
    return said, [uid for uid, other in seen.ssn.jobs.items()
                  if other.queue in theirs and other.tasks and not other.is_ready()][:3]


def _barred(seen: Evidence, kept: Message, record: Record, names: list[str]) -> dict[str, Amounts]:
    """The queues for which free resources are kept and of which no waiting pod may use a node that
    has these, by its labels or taints -> what the nodes have that such pods may use.
    """
    found, own = {}, seen.tasks[record["task"]]
    request = seen.state_at(record)["tasks"][record["task"]]["request"]
    fits = [name for name, left in seen.free(record).items()
            if not missing(request, left) and rules.lets_in(seen, own, name)]
    if not fits:
        return {}
    for queue in [each.facts["queue"] for each in kept.facts["queues"]]:
        waiting = [task for job in seen.ssn.jobs.values() if job.queue == queue
                   for task in unplaced(job)[:1]]
        pods = [*{str((task.pod.spec.node_selector, task.pod.spec.tolerations,
                       task.pod.spec.affinity)): task for task in waiting}.values()]
        if pods and not any(rules.lets_in(seen, task, name) for name in fits for task in pods):
            found[queue] = part(amounts(total(node.allocatable for node in seen.ssn.nodes.values()
                                              if rules.lets_in(seen, pods[0], node.name))), names)
    return found


def _fits(request: Amounts, free: dict[str, Amounts]) -> bool:
    """Whether a node has enough left."""
    return any(not missing(request, left) for left in free.values())


def _within(sums: dict[str, Amounts], request: Amounts, free: dict[str, Amounts]) -> bool:
    """Whether a request fits a node, and its queue is within its deserved share with it."""
    return not over(part(added(sums["allocated"], request), request),
                    sums["deserved"]) and _fits(request, free)


def _requests(seen: Evidence, queue: str, state: State) -> Iterator[Amounts]:
    """The request of each pod of a queue that had no node at a moment; of a job without pods, that
    of one member of its minimum.
    """
    for job in seen.ssn.jobs.values():
        if job.queue == queue and job.tasks:
            yield from (state["tasks"][task.key]["request"] for task in job.tasks.values()
                        if not state["tasks"][task.key]["node"])
        elif job.queue == queue:
            yield member(job)
