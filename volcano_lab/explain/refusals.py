"""Why a job is refused: its PodGroup is not admitted, or its queue gives it no turn, or not this
much; what the plugins compared, at which level, and who holds what they counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial, reduce
from typing import Any

from volcano_lab.api import MIN_RESOURCE, JobInfo, amount_text, total
from volcano_lab.explain import origin
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Amounts, Cause, added, amounts_text, part
from volcano_lab.explain.holders import by_whom, held_text, phase_text, room_causes
from volcano_lab.explain.nodes import closed_causes
from volcano_lab.explain.owners import LATER, owner_of
from volcano_lab.messages import listed
from volcano_lab.trace import Record, State, queue_attributes
from volcano_lab.trace.plain import amounts


def admission_causes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Why a job's PodGroup is still Pending, from the refusals that were recorded."""
    if "enqueue" not in seen.ssn.enabled_actions:
        yield Cause("no_enqueue_action",
                    "The configuration has neither enqueue nor allocate, which would admit it.")
        return
    queue = seen.ssn.queues[job.queue]
    if not queue.is_open:
        yield origin.closed(seen, job.queue, job.uid)
        return
    refusals = [record for record in seen.of("job_enqueueable", job=job.uid)
                if record["answer"] < 0]
    compared = [record for record in seen.of("enqueue_comparison", job=job.uid)
                if record["short_of"]]
    counting = {plugin for tier in seen.ssn.points["job_enqueueable"].tiers for plugin, _ in tier}
    unasked = partial(_unasked, seen, job, request=amounts(job.get_min_resources()), counted=(
        "allocated", "inqueue")) if counting & {"proportion", "capacity"} else lambda record: ()
    for record in compared:
        yield _comparison(seen, job, record)
        for cause in by_whom(seen, job, record):
            yield cause
            for uid in cause.numbers.get("holders", ())[:3]:
                yield from _never_starts(seen, seen.ssn.jobs[uid])
        yield from unasked(record)
    for record in seen.of("quota_comparison", job=job.uid):
        if record["short_of"]:
            kept = {name: [*(record[what].get(name, "0") for what in ("hard", "used", "pending")),
                           record["requested"].get(name.removeprefix("requests."), "0")]
                    for name in record["short_of"]}
            sums = "; ".join(
                f"{name} {hard} in all, {used} used, {pending} of jobs admitted before it in this "
                f"cycle, {asked} requested" for name, (hard, used, pending, asked) in kept.items())
            yield Cause("resource_quota", f"ResourceQuota {record['quota']} of its namespace has "
                        f"too little left of {', '.join(kept)} ({sums}).", {
                            "quota": record["quota"], "wanted": {
                                name: each[1:] for name, each in kept.items()}}, [record])
            names = [name.removeprefix("requests.") for name in kept]
            used = {other.uid: amounts(total(task.resreq for task in other.tasks.values()))
                    for other in seen.ssn.jobs.values() if other.namespace == job.namespace
                    and other is not job}
            text = held_text(seen, used, names, "In use by", partial(phase_text, seen, record))
            yield from [Cause("quota_used", text[1:], {}, [], True)] if text else ()
            yield from unasked(record)
    yield from _beyond_pods(job, compared)
    yield from _hopeless(seen, job, "Admitted")
    told = {record["plugin"] for record in [*compared, *seen.of("quota_comparison", job=job.uid)]}
    for record in refusals:
        if record["plugin"] not in told:
            yield origin.refused(seen, record, "admit it")


def _hopeless(seen: Evidence, job: JobInfo, then: str) -> list[Cause]:
    """That no node could hold a pod of the job, or take it, were it admitted."""
    return [*origin.too_large(seen, job)] or [*closed_causes(seen, job, then)]


def _never_starts(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """That a job which reserves room can never start here."""
    least = amounts(job.get_min_resources())
    over = [name for name, amount in least.items() if amount > seen.ssn.total_resource.get(name)]
    hopeless = [] if over else [cause.code for cause in _hopeless(seen, job, "Admitted")]
    if not any(task.node_name for task in job.tasks.values()) and (over or hopeless):
        there = {name: seen.ssn.total_resource.get(name) for name in over}
        why = (f"its minimum is {amounts_text(least, over)}, and the cluster has "
               f"{amounts_text(there)}" if over else "no node could hold a pod of it, were it empty"
               if "pod_too_large" in hopeless else "no node that is large enough takes its pods")
        yield Cause("never_starts", f"{seen.called(job.uid)} can never start here: {why}.",
                    {"job": job.uid}, [], True)


def _beyond_pods(job: JobInfo, compared: list[Record]) -> Iterator[Cause]:
    """That the PodGroup's minResources are more than all its pods ask for."""
    asked = amounts(total(task.resreq for task in job.tasks.values()))
    least = amounts(job.get_min_resources())
    names = dict.fromkeys(name for record in compared for name in record["short_of"]
                          if least.get(name, 0.0) > asked.get(name, 0.0))
    owner = owner_of(job)
    later = LATER.get(owner.kind) if owner is not None else None
    if job.tasks and names and later:
        yield Cause("min_resources_ahead", f"Its PodGroup's minResources are "
                    f"{amounts_text(least, names)}: they count its {later}, which are created "
                    f"when its other pods run; these ask for {amounts_text(asked, names)}.", {}, [],
                    True)
    elif job.tasks and names:
        yield Cause("min_resources_beyond", f"Its PodGroup's minResources are "
                    f"{amounts_text(least, names)}, but all its pods together ask for "
                    f"{amounts_text(asked, names)}.", {}, [], True)


def _comparison(seen: Evidence, job: JobInfo, record: Record) -> Cause:
    names = record["short_of"]
    if record["plugin"] == "overcommit":
        refused = "; ".join(_overcommit(seen, record, name) for name in names)
        return Cause("overcommit_refuses", f"overcommit refuses it: {refused}.", {
            "asked": part(record["asked"], names), "limit": part(record["limit"], names),
            "short_of": names}, [record])
    level = record["level"]
    parts = ", ".join(f"{words} {amounts_text(record[name], names)}" for name,
                      words in (("min_resources", "its minimum"), ("allocated", "allocated"),
                                ("inqueue", "reserved by admitted jobs"),
                                ("elastic", "less what jobs hold above their minimum"))
                      if any(record[name].get(each) for each in names))
    elastic = part(record["elastic"], names)
    beyond = {"elastic": elastic} if any(elastic.values()) else {}
    who = origin.level_called(job, level)
    return origin.over_cause(
        seen, job, level, f"{who} would have to answer for", names,
        (record["asked"], record["limit"]), [record], f" ({parts}), and", **beyond)


def _overcommit(seen: Evidence, record: Record, name: str) -> str:
    """The sum of one resource: what is reserved and asked for, and what that may be."""
    def said(amount: float) -> str:
        return amount_text(name, amount)

    reserved, least = record["inqueue"].get(name, 0.0), record["min_resources"].get(name, 0.0)
    limit, total = record["limit"].get(name, 0.0), seen.ssn.total_resource.get(name)
    factor = seen.ssn.plugins["overcommit"].factor
    used = total * factor - limit
    less = f", less {said(used)} in use" if used >= MIN_RESOURCE else ""
    if not total:
        return f"{name} {said(least)} requested, and all nodes of the cluster together have 0"
    return (f"{name} {said(reserved)} reserved + {said(least)} requested = "
            f"{said(record['asked'].get(name, 0.0))}, allowed {said(limit)} "
            f"({said(total)} in the cluster x factor {factor:g}{less})")


def _unasked(seen: Evidence, job: JobInfo, record: Record, request: Amounts,
             counted: Sequence[str], each: bool = False) -> Iterator[Cause]:
    """Queues that would refuse it, too, had they been asked: the first refusal ends the question;
    those of the whole line where it was not a queue's.
    """
    attrs, queues = queue_attributes(seen.ssn), seen.state_at(record)["queues"]
    level = record.get("level")
    above = reversed(getattr(attrs.get(level or job.queue), "ancestors", ()))
    for name in filter(queues.__contains__, [*([] if level else [job.queue]), *above]):
        queue = queues[name]
        sums = reduce(added, (queue[what] for what in counted), request)
        if not each:  # enqueue leaves it out of its sum, allocate does not
            sums = added(sums, queue["elastic"], -1.0)
        limit = queue["real_capability"]
        names = [r for r in request if r != "pods" and sums[r] > limit.get(r, 0.0)]
        if names:
            yield origin.over_cause(
                seen, job, name, f"Queue {name} would refuse it, too: it would have to answer for",
                names, (sums, limit), **({"each": part(request, names)} if each else {}))


def limit_causes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """What the queue, or one above it, had against the job's pods in allocate."""
    asked = seen.calls_about(job, "allocatable", "allocate")
    waiting = {task.key for task in job.tasks.values() if not task.node_name}
    tried = {record["task"] for record in [*asked, *seen.in_action("allocate", "chose")]}
    overused = [record for record in seen.in_action("allocate", "overused", queue=job.queue)
                if record["answer"]]
    if overused and waiting - tried:
        found = _overused(seen, job, overused[-1])
        yield found
        yield from room_causes(seen, job, found)
    told = set()
    for record in asked:
        if record["answer"] or record["task"] not in waiting or record["plugin"] in told:
            continue
        told.add(record["plugin"])
        found = refusal(seen, job, record)
        yield found
        level = seen.trace.records[record.number - 1]
        if record["plugin"] == "capacity" and level.kind == "allocatable_level":
            yield from _unasked(seen, job, level, level["request"], ("allocated",), each=True)
        if "limit" in found.numbers:
            yield from room_causes(seen, job, found)
    if told and waiting and not seen.calls_about(job, "chose", "allocate"):
        yield from _hopeless(seen, job, "With room in its queue")


def _held(sums: dict[str, Amounts], names: list[str]) -> str:
    return (f"it holds {amounts_text(sums['allocated'], names)} and deserves "
            f"{amounts_text(sums['deserved'], names)}")


def _overused(seen: Evidence, job: JobInfo, record: Record) -> Cause:
    queue = seen.state_at(record)["queues"].get(job.queue, {})
    deserved, allocated = queue.get("deserved", {}), queue.get("allocated", {})
    names = [name for name in deserved if name != "pods"]
    held = f": {_held(queue, names)}" if names else ": it deserves nothing"
    text = f"Queue {job.queue} is overused by {record['plugin']}{held}, so allocate passes it over."
    return Cause("overused", text,
                 {"allocated": part(allocated, names), "deserved": part(deserved, names),
                  "short_of": [name for name in names if deserved[name]]}, [record])


def refusal(seen: Evidence, job: JobInfo, record: Record) -> Cause:
    """That a plugin gives a pod's queue no more, from the record of its answer."""
    plugin, level = record["plugin"], seen.trace.records[record.number - 1]
    if plugin in ("proportion", "capacity") and not seen.ssn.queues[job.queue].is_open:
        return origin.closed(seen, job.queue, job.uid)
    if plugin == "capacity" and level.kind == "allocatable_level" and level["short_of"]:
        return _over_level(seen, job, record, level)
    if plugin == "proportion":
        return _over_deserved(seen, job, record)
    return origin.refused(seen, record, f"let queue {job.queue} take pod {record['task']}")


def _over_level(seen: Evidence, job: JobInfo, record: Record, level: Record) -> Cause:
    names, name = level["short_of"], level["level"]
    found = origin.over_cause(seen, job, name, f"{origin.level_called(job, name)} holds "
                       f"{amounts_text(level['allocated'], names)}; with pod {record['task']} it "
                       "would hold", names, (level["asked"], level["limit"]), [level, record],
                       ", and it", each=part(level["request"], names))
    found.text += seen.at_first(seen.tasks[record["task"]], names) + seen.own(job.uid, record)
    return found


def _over_deserved(seen: Evidence, job: JobInfo, record: Record) -> Cause:
    state = seen.state_at(record)
    queue, request = state["queues"][job.queue], state["tasks"][record["task"]]["request"]
    asked, deserved = added(queue["allocated"], request), queue["deserved"]
    names = [name for name in request if name != "pods" and asked[name] > deserved.get(name, 0.0)]
    numbers = {"asked": part(asked, names), "limit": part(deserved, names), "short_of": names,
               "each": part(request, names)}
    but = ""
    if amounts_text(numbers["asked"]) == amounts_text(numbers["limit"]):
        more = ", ".join(f"{name} by {asked[name] - deserved.get(name, 0.0):.1e}" for name in names)
        but = (f" The difference is one of rounding ({more} in internal units), "
               "and this comparison has no tolerance.")
    whole = origin.limit_origin(seen, job.queue, numbers["limit"]).strip(" ()")
    if "its capability" not in whole:
        text, more = _left_for(seen, job, record, names)
        but, numbers = but + text, numbers | more
    text = (f"Queue {job.queue} holds {amounts_text(queue['allocated'], names)}; with pod "
            f"{record['task']} it would hold {amounts_text(numbers['asked'])}, and it deserves "
            f"{amounts_text(numbers['limit'])} ("
            f"{whole}{', ' if whole else ''}weight {queue['weight']})."
            f"{seen.at_first(seen.tasks[record['task']], names)}{seen.own(job.uid, record)}"
            f"{seen.not_announced(names)}{but}")
    return Cause("over_deserved", text, numbers, [record])


def _left_for(seen: Evidence, job: JobInfo, record: Record, names: list[str]
              ) -> tuple[str, dict[str, Any]]:
    """For whom the free resources are kept that a pod may not take: the queues that can use what
    they deserve, or have a guarantee of it; that no queue can, where there is none.
    """
    state = seen.state_at(record)
    free, queues = seen.free(record), state["queues"]

    def fits(request: Amounts) -> bool:
        return any(all(amount <= node.get(name, 0.0) for name, amount in request.items())
                   for node in free.values())

    def uses(queue: str) -> bool:
        """Whether a pod of the queue fits a node and what the queue deserves."""
        sums = queues[queue]
        return any(fits(each) and all(
            sums["allocated"].get(name, 0.0) + amount <= sums["deserved"].get(name, 0.0)
            for name, amount in each.items() if name != "pods")
            for each in _requests(seen, queue, state))

    if not fits(state["tasks"][record["task"]]["request"]):
        return "", {}
    due = [name for name, sums in queues.items() if name != job.queue and any(
        sums["deserved"].get(each, 0.0) > sums["allocated"].get(each, 0.0) for each in names)]
    kept = [name for name in due if uses(name) or any(queues[name]["guarantee"].get(
        each, 0.0) > queues[name]["allocated"].get(each, 0.0) for each in names)]
    said = listed([f"queue {name} ({_held(queues[name], names)})" for name in kept or due], 3)
    stranded = [uid for uid, other in seen.ssn.jobs.items()
                if other.queue in (kept or due) and other.tasks and not other.is_ready()][:3]
    if kept:
        return f" A node has free resources: they are kept for {said}.", {
            "broken": True, "stranded": stranded}
    if due and all(list(_requests(seen, name, state)) for name in due):
        return (" A node has free resources that no queue can use: one more pod would exceed the "
                f"share of {said}, too.", {"broken": True, "stranded": stranded})
    return "", {}


def _requests(seen: Evidence, queue: str, state: State) -> Iterator[Amounts]:
    """What each pod of a queue asked for that had no node at a moment; of a job without pods, what
    one member of its minimum does.
    """
    for job in seen.ssn.jobs.values():
        if job.queue == queue and job.tasks:
            yield from (state["tasks"][task.key]["request"] for task in job.tasks.values()
                        if not state["tasks"][task.key]["node"])
        elif job.queue == queue:
            yield {name: amount / max(job.min_available, 1)
                   for name, amount in amounts(job.get_min_resources()).items()}
