"""Where a limit comes from: the cluster, a capability, what is guaranteed to others, a weight."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from volcano_lab.api import MIN_RESOURCE, ROOT_QUEUE, JobInfo, QueueInfo, Resource
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Amounts, Cause, part
from volcano_lab.messages import Message, alike, meant
from volcano_lab.trace import Record
from volcano_lab.trace.plain import amounts as plain_amounts
from volcano_lab.trace.state import queue_attributes


def limit_origin(seen: Evidence, level: str, limit: Amounts) -> list[Message]:
    """Why a queue may hold no more than this; nothing where it is not one of these."""
    if limit and all(_same(seen.ssn.total_resource.get(name), limit[name]) for name in limit):
        return [Message("origin.cluster")]
    parts = [found for name, amount in limit.items()
             if (found := _origin(seen, level, name, amount)) is not None]
    known = {(each.code, str(each.facts)): each for each in parts}
    return [*known.values()] if len(parts) == len(limit) else []


def over_cause(seen: Evidence, job: JobInfo, level: str, code: str, names: list[str],
               sums: tuple[Amounts, Amounts], records: Sequence[Record] = (),
               numbers: dict[str, Any] | None = None, **facts: Any) -> Cause:
    """That a queue, or one above it, would come to more than it may hold: `sums` are what is asked
    and the limit, of some resources; the message `code` has other facts, too.
    """
    asked, limit = part(sums[0], names), part(sums[1], names)
    said = Message(code, asked=asked, limit=limit, origin=limit_origin(seen, level, limit),
                   **{"queue": level_called(job, level), **facts})
    return Cause("queue_over_capability" if level == job.queue else "ancestor_over_capability",
                 [said], {"asked": asked, "limit": limit, "short_of": names, "level": level,
                          **(numbers or {})}, [*records])


def closed(seen: Evidence, queue: str, job: str = "") -> Cause:
    """That a queue is not open, with what refused a job in it."""
    state = seen.ssn.queues[queue].queue.status.state or "unset"
    line = getattr(queue_attributes(seen.ssn).get(queue), "ancestors", ())
    above = [name for name in reversed(line) if not seen.ssn.queues[name].is_open]
    records = [record for point, about in (("allocatable", {"queue": queue}),
                                           ("job_enqueueable", {"job": job}))
               for record in seen.of(point, **about)[:1] if record["answer"] in (False, -1)]
    said = Message("queue_closed", queue=queue, state=state, above=Message(
        "queue_closed.above", queues=above) if above else None)
    return Cause("queue_closed", said, {"state": state}, records)


def refused(seen: Evidence, record: Record, code: str, **facts: Any) -> Cause:
    """That a plugin does not do what it was asked to, with its warning; and what breaks capacity's
    tree of queues.
    """
    plugin = record["plugin"]
    if getattr(seen.ssn.plugins[plugin], "ready", True):
        why = [text.removesuffix(".") for text in seen.ssn.warnings if text.startswith(plugin)]
        return Cause("refused", Message(code, plugin=plugin, warning=why[:1], **facts), {},
                     [record])
    missing, inner, below = _broken(seen)
    parts = [Message("tree.missing", queue=name, children=below[name],
                     near=near(name, seen.ssn.queues)) for name in missing]
    parts += [Message("tree.inner", job=seen.called(uid), queue=seen.ssn.jobs[uid].queue)
              for uid in inner]
    return Cause("tree_broken", Message("tree_broken", parts=parts, plugin=plugin),
                 {"missing": missing, "inner": inner}, [record])


def _broken(seen: Evidence) -> tuple[dict[str, str], dict[str, list[str]], dict[str, list[str]]]:
    """(parents that do not exist, with the queue that is meant; jobs in queues that have children,
    with these; all queues by their parent).
    """
    queues = seen.ssn.queues
    below: dict[str, list[str]] = {}
    for name, queue in queues.items():
        below.setdefault(queue.queue.spec.parent or ROOT_QUEUE, []).append(name)
    missing = {name: meant(name, queues, 0.7) for name in below if name not in queues}
    inner = {uid: below[job.queue] for uid, job in seen.ssn.jobs.items() if job.queue in below}
    return missing, inner, below


def best_effort(seen: Evidence, queue: str, context: bool = False) -> Iterator[Cause]:
    """What becomes of a queue that deserves nothing by capacity."""
    sums = seen.trace.start["queues"].get(queue)
    if "capacity" in seen.ssn.plugins and sums is not None and not any(
            amount for name, amount in sums["deserved"].items() if name != "pods"):
        yield Cause("best_effort_queue", Message("best_effort_queue", queue=queue),
                    {"share": sums["share"]}, [], context)


def too_large(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """That no node could hold one of its pods, were it empty and the job admitted."""
    nodes = [node.allocatable for node in seen.ssn.nodes.values()]
    for task in job.tasks.values():
        asked = plain_amounts(task.init_resreq)
        most = {name: max((room.get(name) for room in nodes), default=0.0) for name in asked}
        over = [name for name in asked if name != "pods" and asked[name] > most[name]]
        if over and not task.node_name:
            said = Message("pod_too_large", pod=task.key, asked=part(asked, over),
                           largest=part(most, over))
            yield Cause("pod_too_large", [said, *seen.at_first(task, over),
                                          *seen.not_announced(over)],
                        {"task": task.key, **said.facts}, [], True)
            return


def near(name: str, known: Iterable[str]) -> Message:
    """The names that are like one, or else the first that there are."""
    found = alike(name, known)
    return Message("near", names=found) if found else Message("near.none", names=[*known])


def level_called(job: JobInfo, level: str) -> Message:
    """A queue, and whether it is above the job's."""
    return Message("queue.this", queue=level) if level == job.queue else Message(
        "queue.above", queue=level, below=job.queue)


def _origin(seen: Evidence, level: str, name: str, amount: float) -> Message | None:
    queue = seen.ssn.queues.get(level)
    attr = queue_attributes(seen.ssn).get(level)
    if queue is None or attr is None:
        return None
    written = Resource.from_list(queue.queue.spec.capability)
    if name in (queue.queue.spec.capability or ()) and _same(written.get(name), amount):
        return Message("origin.capability")
    parent = next(reversed(getattr(attr, "ancestors", ())), None)
    room = (queue_attributes(seen.ssn)[parent].real_capability if parent
            else seen.ssn.total_resource).get(name)
    if parent and _same(room, amount):
        return Message("origin.parent", parent=parent)
    above = next((each for each in reversed(attr.ancestors if parent else ())
                  if seen.ssn.queues[each].queue.spec.capability), None)
    if above and not amount and not any(
            name in (seen.ssn.queues[each].queue.spec.capability or ()) for each in (level, above)):
        return Message("origin.unnamed", above=above, resource=name)
    return _left_by_others(seen, level, parent, name, (amount, room))


def _left_by_others(seen: Evidence, level: str, parent: str | None, name: str,
                    sums: tuple[float, float]) -> Message | None:
    """That a limit is what the guarantees of others leave: `sums` are the limit and the whole."""
    amount, room = sums
    others = {other: kept for other, kept in _guarantees(seen, level, parent, name).items() if kept}
    left, own = room - sum(others.values()), guarantee_of(
        seen.ssn.queues[level]).get(name)
    facts = {"kept": {name: sum(others.values())}, "whole": Message(
        "origin.in_parent" if parent else "origin.in_cluster", amount={name: room}, parent=parent)}
    if own and _same(own, amount) and left < own:
        return Message("origin.guarantee", **facts)
    largest_first = sorted(others, key=lambda other: -others[other])
    return Message("origin.less", queues=largest_first, **facts) if (
        others and _same(left, amount)) else None


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
