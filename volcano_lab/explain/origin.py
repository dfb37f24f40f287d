"""Where a limit comes from: the cluster, a capability, what is guaranteed to others, a weight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from volcano_lab.api import MIN_RESOURCE, ROOT_QUEUE, JobInfo, QueueInfo, Resource, amount_text
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Amounts, Cause, amounts_text, part
from volcano_lab.messages import listed, meant, near
from volcano_lab.trace import Record
from volcano_lab.trace.plain import amounts as plain_amounts
from volcano_lab.trace.state import queue_attributes


def limit_origin(seen: Evidence, level: str, limit: Amounts) -> str:
    """Why a queue may hold no more than this, in brackets; "" where it is not one of these."""
    if limit and all(_same(seen.ssn.total_resource.get(name), limit[name]) for name in limit):
        return " (all that the cluster has)"
    parts = [text for name, amount in limit.items() if (text := _origin(seen, level, name, amount))]
    return f" ({', '.join(dict.fromkeys(parts))})" if len(parts) == len(limit) else ""


def over_cause(seen: Evidence, job: JobInfo, level: str, before: str, names: list[str],
               sums: tuple[Amounts, Amounts], records: Sequence[Record] = (),
               between: str = ", and", **more: Any) -> Cause:
    """That a queue, or one above it, would come to more than it may hold: `sums` are what is asked
    and the limit, of some resources.
    """
    asked, limit = part(sums[0], names), part(sums[1], names)
    text = (f"{before} {amounts_text(asked)}{between} may hold {amounts_text(limit)}"
            f"{limit_origin(seen, level, limit)}.")
    return Cause("queue_over_capability" if level == job.queue else "ancestor_over_capability",
                 text, {"asked": asked, "limit": limit, "short_of": names, "level": level} | more,
                 [*records])


def closed(seen: Evidence, queue: str, job: str = "") -> Cause:
    """That a queue is not open, with what refused a job in it."""
    state = seen.ssn.queues[queue].queue.status.state or "unset"
    line = getattr(queue_attributes(seen.ssn).get(queue), "ancestors", ())
    above = [name for name in reversed(line) if not seen.ssn.queues[name].is_open]
    more = f", and so is that of {' and '.join(above)} above it" if above else ""
    records = [record for point, about in (("allocatable", {"queue": queue}),
                                           ("job_enqueueable", {"job": job}))
               for record in seen.of(point, **about)[:1] if record["answer"] in (False, -1)]
    text = f"Queue {queue} takes no work: its state is {state}, not Open{more}."
    return Cause("queue_closed", text, {"state": state}, records)


def refused(seen: Evidence, record: Record, what: str) -> Cause:
    """That a plugin does not do what it was asked to, with its warning; and what breaks capacity's
    tree of queues.
    """
    plugin, queues = record["plugin"], seen.ssn.queues
    if getattr(seen.ssn.plugins[plugin], "ready", True):
        why = [f" ({text.removesuffix('.')})" for text in seen.ssn.warnings
               if text.startswith(plugin)]
        return Cause("refused", f"Plugin {plugin} does not {what}{''.join(why[:1])}.", {}, [record])
    below: dict[str, list[str]] = {}
    for name, queue in queues.items():
        below.setdefault(queue.queue.spec.parent or ROOT_QUEUE, []).append(name)
    missing = {name: meant(name, queues, 0.7) for name in below if name not in queues}
    inner = {uid: below[job.queue] for uid, job in seen.ssn.jobs.items() if job.queue in below}
    parts = [f"{name}, the parent of {listed(below[name], 3)}, does not exist ("
             f"{near(name, queues)})" for name in missing]
    parts += [f"{seen.called(uid)} is in {seen.ssn.jobs[uid].queue}, which has queues below it"
              for uid in inner]
    text = (f"The tree of queues is broken: {listed(parts, 3)}. Until that is mended {plugin} lets "
            "in no job of any queue.")
    return Cause("tree_broken", text, {"missing": missing, "inner": inner}, [record])


def best_effort(seen: Evidence, queue: str, context: bool = False) -> Iterator[Cause]:
    """What becomes of a queue that deserves nothing by capacity."""
    sums = seen.trace.start["queues"].get(queue)
    if "capacity" in seen.ssn.plugins and sums is not None and not any(
            amount for name, amount in sums["deserved"].items() if name != "pods"):
        text = (f"Queue {queue} deserves nothing (best effort): its share counts as 1, so that it "
                "comes after every queue that has less than it deserves.")
        yield Cause("best_effort_queue", text, {"share": sums["share"]}, [], context)


def too_large(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """That no node could hold one of its pods, were it empty and the job admitted."""
    nodes = [node.allocatable for node in seen.ssn.nodes.values()]
    for task in job.tasks.values():
        asked = plain_amounts(task.init_resreq)
        most = {name: max((room.get(name) for room in nodes), default=0.0) for name in asked}
        over = [name for name in asked if name != "pods" and asked[name] > most[name]]
        if over and not task.node_name:
            text = (f"No node could hold its pod {task.key}, were it empty: it asks for "
                    f"{amounts_text(asked, over)}, and the largest has {amounts_text(most, over)}.")
            text += seen.at_first(task, over) + seen.not_announced(over)
            yield Cause("pod_too_large", text, {"task": task.key}, [], True)
            return


def level_called(job: JobInfo, level: str) -> str:
    """A queue, and whether it is above the job's."""
    return f"Queue {level}" + (f", above queue {job.queue}," if level != job.queue else "")


def _origin(seen: Evidence, level: str, name: str, amount: float) -> str:
    queue = seen.ssn.queues.get(level)
    attr = queue_attributes(seen.ssn).get(level)
    if queue is None or attr is None:
        return ""
    written = Resource.from_list(queue.queue.spec.capability)
    if name in (queue.queue.spec.capability or ()) and _same(written.get(name), amount):
        return "its capability"
    parent = next(reversed(getattr(attr, "ancestors", ())), None)
    room = (queue_attributes(seen.ssn)[parent].real_capability if parent
            else seen.ssn.total_resource).get(name)
    where = f"queue {parent} above it may hold" if parent else "in the cluster"
    if parent and _same(room, amount):
        return f"{where} no more"
    above = next((each for each in reversed(attr.ancestors if parent else ())
                  if seen.ssn.queues[each].queue.spec.capability), None)
    if above and not amount and name not in {**(queue.queue.spec.capability or {}), **(
            seen.ssn.queues[above].queue.spec.capability or {})}:
        return f"the capability of queue {above} above it names no {name}"
    others = {other: kept for other, kept in _guarantees(seen, level, parent, name).items() if kept}
    own = guarantee_of(queue).get(name)
    if own and _same(own, amount) and room - sum(others.values()) < own:
        return (f"its own guarantee, as {amount_text(name, sum(others.values()))} guaranteed to "
                f"others leave nothing more of {amount_text(name, room)} {where}")
    if others and _same(room - sum(others.values()), amount):
        had = (f"{where} {amount_text(name, room)}" if parent
               else f"{amount_text(name, room)} {where}")
        return (f"{had}, less {amount_text(name, sum(others.values()))} guaranteed to "
                f"{listed(sorted(others, key=lambda other: -others[other]))}")
    return ""


def _guarantees(seen: Evidence, level: str, parent: str | None, name: str) -> dict[str, float]:
    """What is kept for others beside the queue: its siblings in a tree, else all other queues."""
    siblings = queue_attributes(seen.ssn)[parent].children if parent else seen.ssn.queues
    return {other: guarantee_of(seen.ssn.queues[other]).get(name)
            for other in siblings if other != level and other in seen.ssn.queues}


def guarantee_of(queue: QueueInfo) -> Resource:
    """What a queue is guaranteed, as its author wrote it."""
    return Resource.from_list(queue.queue.spec.guarantee.resource)


def _same(left: float, right: float) -> bool:
    return abs(left - right) < MIN_RESOURCE
