"""Why a queue gives a job no turn, or not this much: overused, not allocatable, at which level."""

from __future__ import annotations

from collections.abc import Iterator

from volcano_lab.api.job import JobInfo
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Cause, added, amounts_text, part
from volcano_lab.explain.holders import room_causes
from volcano_lab.explain.origin import (
    closed,
    level_called,
    limit_origin,
    over_cause,
    queues_above,
    refused,
)
from volcano_lab.trace import Record


def limit_causes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """What the queue, or one above it, had against the job's pods in allocate."""
    asked = seen.calls_about(job, "allocatable", "allocate")
    refused = [record for record in asked if not record["answer"]]
    waiting = {task.key for task in job.tasks.values() if not task.node_name}
    tried = {record["task"]
             for record in asked} | {r["task"] for r in seen.in_action("allocate", "chose")}
    overused = [record for record in seen.in_action("allocate", "overused", queue=job.queue)
                if record["answer"]]
    if overused and waiting - tried:
        found = _overused(seen, job, overused[-1])
        yield found
        yield from room_causes(seen, job, found)
    told = set()
    for record in refused:
        if record["task"] not in waiting or record["plugin"] in told:
            continue
        told.add(record["plugin"])
        found = _refusal(seen, job, record)
        yield found
        if record["plugin"] == "capacity":
            yield from _above(seen, job, record)
        if "limit" in found.numbers:
            yield from room_causes(seen, job, found)


def _overused(seen: Evidence, job: JobInfo, record: Record) -> Cause:
    queue = seen.state_at(record)["queues"].get(job.queue, {})
    deserved, allocated = queue.get("deserved", {}), queue.get("allocated", {})
    names = [name for name in deserved if name != "pods"]
    held = (f": it holds {amounts_text(allocated, names)} and deserves "
            f"{amounts_text(deserved, names)}" if names else ": it deserves nothing")
    text = f"Queue {job.queue} is overused by {record['plugin']}{held}, so allocate passes it over."
    return Cause("overused", text,
                 {"allocated": part(allocated, names), "deserved": part(deserved, names),
                  "short_of": [name for name in names if deserved[name]]}, [record])


def _refusal(seen: Evidence, job: JobInfo, record: Record) -> Cause:
    queue = seen.ssn.queues[job.queue]
    if record["plugin"] in ("proportion", "capacity") and not queue.is_open:
        return closed(seen, job.queue, job.uid)
    if record["plugin"] == "capacity":
        level = seen.trace.records[record.number - 1]
        if level.kind == "allocatable_level" and level["short_of"]:
            return _over_level(seen, job, record, level)
    if record["plugin"] == "proportion":
        return _over_deserved(seen, job, record)
    return refused(seen, record, f"let queue {job.queue} take pod {record['task']}")


def _over_level(seen: Evidence, job: JobInfo, record: Record, level: Record) -> Cause:
    names, name = level["short_of"], level["level"]
    found = over_cause(seen, job, name, f"{level_called(job, name)} holds "
                       f"{amounts_text(level['allocated'], names)}; with pod {record['task']} it "
                       "would hold", names, (level["asked"], level["limit"]), [level, record],
                       ", and it", each=part(level["request"], names))
    found.text += seen.at_first(seen.tasks[record["task"]], names) + seen.own(job.uid, record)
    return found


def _above(seen: Evidence, job: JobInfo, record: Record) -> Iterator[Cause]:
    """Levels that would refuse the pod, too, had they been asked: the first refusal ends the
    question.
    """
    level = seen.trace.records[record.number - 1]
    for name, queue in queues_above(seen, job, level) if level.kind == "allocatable_level" else ():
        request, limit = level["request"], queue["real_capability"]
        asked = added(queue["allocated"], request)
        names = [r for r in request if r != "pods" and asked[r] > limit.get(r, 0.0)]
        if names:
            yield over_cause(seen, job, name, f"Queue {name} above it would refuse it, too: it "
                             "would hold", names, (asked, limit), (), ", and it",
                             each=part(request, names))


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
    origin = limit_origin(seen, job.queue, numbers["limit"]).strip(" ()")
    text = (f"Queue {job.queue} holds {amounts_text(queue['allocated'], names)}; with pod "
            f"{record['task']} it would hold {amounts_text(numbers['asked'])}, and it deserves "
            f"{amounts_text(numbers['limit'])} ("
            f"{origin}{', ' if origin else ''}weight {queue['weight']})."
            f"{seen.at_first(seen.tasks[record['task']], names)}{seen.own(job.uid, record)}"
            f"{seen.not_announced(names)}{but}")
    return Cause("over_deserved", text, numbers, [record])
