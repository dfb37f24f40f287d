"""Why a queue has what it has: what bounds its share, whether it may take more, who waits in it."""

from __future__ import annotations

from collections.abc import Iterator

from volcano_lab.api import MIN_RESOURCE
from volcano_lab.explain.evidence import Evidence, counts
from volcano_lab.explain.explanation import Amounts, Cause, amounts_text
from volcano_lab.explain.origin import best_effort, closed

UNLIMITED = 1e300
"""An amount of a capability that names no limit."""


def queue_head(seen: Evidence, queue: str) -> str:
    sums = _end_of(seen, queue)
    if sums is None:
        return (f"Queue {queue} has no jobs, or no plugin shares between queues "
                "(proportion, capacity).")
    flat = "proportion" in seen.ssn.plugins
    names = [name for name in {**sums["request"], **sums["deserved"]} if name != "pods"]
    may = sums["real_capability"]
    limited = [name for name, amount in sums["capability"].items()
               if name != "pods" and amount < UNLIMITED]
    bounds = dict.fromkeys([*names, *limited]) or [
        name for name, amount in may.items() if amount and name != "pods"]
    origin = f" (weight {sums['weight']}, computed)" if flat else " (as its author wrote)"
    return (f"Queue {queue} asks for {amounts_text(sums['request'], names)}, deserves "
            f"{amounts_text(sums['deserved'], names)}{origin}, holds "
            f"{amounts_text(sums['allocated'], names)} and may hold {amounts_text(may, bounds)}; "
            f"its share is {sums['share']:.3g}.")


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
        yield Cause("overused", "It is overused: it holds all that it deserves, "
                    f"{amounts_text(sums['deserved'], names)}.", numbers, records)
    yield from best_effort(seen, queue)
    capability, real = sums["capability"], sums["real_capability"]
    less = [name for name, amount in capability.items() if name != "pods"
            and real.get(name, 0.0) < amount < UNLIMITED]
    if less:
        text = (f"Of its capability of {amounts_text(capability, less)} it may hold "
                f"{amounts_text(real, less)}: the rest is guaranteed to others, or isn't there.")
        yield Cause("real_capability", text, numbers)
    waiting = [(seen.called(job.uid), f"{pods} pod{'' if pods == 1 else 's'}" if job.tasks else
                "no pods yet", job.pod_group.status.phase or "Pending")
               for job in ssn.jobs.values() if job.queue == queue
               and ((pods := counts(job)[2]) or not job.tasks)]
    if waiting:
        jobs = ", ".join(f"{uid} ({pods}, {phase})" for uid, pods, phase in waiting[:5])
        more = f" and {len(waiting) - 5} more" if len(waiting) > 5 else ""
        yield Cause("jobs_wait", f"In it wait {jobs}{more}.",
                    {"jobs": [uid for uid, *_ in waiting]})


def _bound(seen: Evidence, queue: str) -> Iterator[Cause]:
    """What stopped its share from growing, and in which round."""
    rounds = [(record, step) for record in seen.of("deserved_round")
              for step in record["round"]["steps"] if step["queue"] == queue]
    records = [record for record, _ in rounds]
    for record, step in rounds:
        if step["met"]:
            code, why = ("met_request", "it then has all it asks for") if step[
                "met"] == "request" else _no_more(seen, queue, step)
            yield Cause(code, f"Sharing stops for it in round {record['number']}: {why}.",
                        {"round": record["number"], "after": step["after"]},
                        records[:records.index(record) + 1])
            return
    if rounds:
        yield Cause("met_nothing", f"After {len(rounds)} rounds nothing was left to share.",
                    {"rounds": len(rounds)}, records)


def _no_more(seen: Evidence, queue: str, step: dict[str, Amounts]) -> tuple[str, str]:
    """Whether its real capability stops it, or that nothing is left: Volcano's log calls both the
    capability.
    """
    sums, after = seen.trace.start["queues"][queue], step["after"]
    wants = [name for name, amount in sums["request"].items()
             if name != "pods" and amount - after.get(name, 0.0) >= MIN_RESOURCE]
    bound = [name for name in wants
             if sums["real_capability"].get(name, 0.0) - after.get(name, 0.0) < MIN_RESOURCE]
    if bound:
        return "met_capability", f"it may not hold more {' and '.join(bound)}"
    gone = [name for name in wants
            if step["offered"].get(name, 0.0) - step["before"].get(name, 0.0) < MIN_RESOURCE]
    if gone:
        return "met_nothing_left", f"nothing is left of {' and '.join(gone)}"
    return "met_no_growth", "its part did not grow in that round"


def _end_of(seen: Evidence, queue: str) -> dict | None:
    records = seen.trace.records
    return (seen.state_at(records[-1]) if records else seen.trace.start)["queues"].get(queue)
