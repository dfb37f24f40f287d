"""Why a queue has what it has: what bounds its share, whether it may take more, who waits in it."""

from __future__ import annotations

from collections.abc import Iterator

from volcano_lab.api import MIN_RESOURCE
from volcano_lab.explain.evidence import Evidence, counts
from volcano_lab.explain.explanation import Amounts, Cause, part
from volcano_lab.explain.origin import best_effort, closed
from volcano_lab.messages import Message

UNLIMITED = 1e300
"""An amount of a capability that names no limit."""


def queue_head(seen: Evidence, queue: str) -> Message:
    sums = _end_of(seen, queue)
    if sums is None:
        return Message("queue_head.none", queue=queue)
    names = [name for name in {**sums["request"], **sums["deserved"]} if name != "pods"]
    may = sums["real_capability"]
    limited = [name for name, amount in sums["capability"].items()
               if name != "pods" and amount < UNLIMITED]
    bounds = dict.fromkeys([*names, *limited]) or [
        name for name, amount in may.items() if amount and name != "pods"]
    code = "queue_head.weight" if "proportion" in seen.ssn.plugins else "queue_head"
    return Message(code, queue=queue, weight=sums["weight"], share=sums["share"],
                   limit=part(may, bounds), **{each: part(sums[each], names) for each in (
                       "request", "deserved", "allocated")})


def queue_causes(seen: Evidence, queue: str) -> Iterator[Cause]:
    ssn, sums = seen.ssn, _end_of(seen, queue)
    info = ssn.queues[queue]
    if not info.is_open:
        yield closed(seen, queue)
    if sums is None:
        return
    yield from _bound(seen, queue)
    names = [name for name in sums["deserved"] if name != "pods"]
    numbers = {each: sums[each] for each in ("deserved", "allocated", "real_capability")}
    records = seen.of("overused", queue=queue)[-1:]
    if ssn.overused(info):
        yield Cause("overused", Message("queue_overused", deserved=part(sums["deserved"], names)),
                    numbers, records)
    yield from best_effort(seen, queue)
    capability, real = sums["capability"], sums["real_capability"]
    less = [name for name, amount in capability.items() if name != "pods"
            and real.get(name, 0.0) < amount < UNLIMITED]
    if less:
        said = Message("real_capability", capability=part(capability, less), limit=part(real, less))
        yield Cause("real_capability", said, numbers)
    waiting = {job.uid: Message(
        "job_waits", job=seen.called(job.uid), phase=job.pod_group.status.phase or "Pending",
        pods=Message("pods", n=pods) if job.tasks else Message("status.no_pods"))
        for job in ssn.jobs.values() if job.queue == queue
        and ((pods := counts(job)[2]) or not job.tasks)}
    if waiting:
        yield Cause("jobs_wait", Message("jobs_wait", jobs=[*waiting.values()]),
                    {"jobs": [*map(seen.called, waiting)]})


def _bound(seen: Evidence, queue: str) -> Iterator[Cause]:
    """What stopped its share from growing, and in which round."""
    rounds = [(record, step) for record in seen.of("deserved_round")
              for step in record["round"]["steps"] if step["queue"] == queue]
    records = [record for record, _ in rounds]
    for record, step in rounds:
        if step["met"]:
            code, names = ("met_request", []) if step["met"] == "request" else _no_more(
                seen, queue, step)
            said = Message("sharing_stops", round=record["number"],
                           why=Message(code, resources=names))
            yield Cause(code, said, {"round": record["number"], "after": step["after"]},
                        records[:records.index(record) + 1])
            return
    if rounds:
        yield Cause("met_nothing", Message("met_nothing", rounds=len(rounds)),
                    {"rounds": len(rounds)}, records)


def _no_more(seen: Evidence, queue: str, step: dict[str, Amounts]) -> tuple[str, list[str]]:
    """Whether its real capability stops it, or that nothing is left, and of what: Volcano's log
    calls both the capability.
    """
    sums, after = seen.trace.start["queues"][queue], step["after"]
    wants = [name for name, amount in sums["request"].items()
             if name != "pods" and amount - after.get(name, 0.0) >= MIN_RESOURCE]
    bound = [name for name in wants
             if sums["real_capability"].get(name, 0.0) - after.get(name, 0.0) < MIN_RESOURCE]
    gone = [name for name in wants
            if step["offered"].get(name, 0.0) - step["before"].get(name, 0.0) < MIN_RESOURCE]
    code = "met_capability" if bound else "met_nothing_left" if gone else "met_no_growth"
    return code, bound or gone


def _end_of(seen: Evidence, queue: str) -> dict | None:
    records = seen.trace.records
    return (seen.state_at(records[-1]) if records else seen.trace.start)["queues"].get(queue)
