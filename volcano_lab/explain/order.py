"""The order in which an action serves jobs and queues, with the values by which one comes first.

Volcano: none
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cmp_to_key
from typing import Any

from volcano_lab.api import JobInfo, QueueInfo, status as states, total
from volcano_lab.changes.details import of_priority
from volcano_lab.explain import origin, owners
from volcano_lab.explain.evidence import Evidence, counts
from volcano_lab.explain.explanation import Cause, moment_text
from volcano_lab.messages import Message, Said, alike
from volcano_lab.plugins.hierarchy import Hierarchy
from volcano_lab.trace import Record, State

READY = frozenset(map(str, states.READY_STATUSES))
SHARED = frozenset(map(str, (*states.ALLOCATED_STATUSES, states.PIPELINED)))
"""States of the tasks that hierarchical DRF counts."""


def came_first(seen: Evidence, others: list[str], mine: JobInfo, record: Record) -> Iterator[Cause]:
    """Yield the order by which the first of some jobs was served before another, up to a record."""
    for other in (seen.ssn.jobs[uid] for uid in others[:1]):
        turns = [turn_of(seen, record.action, each) for each in sides(seen, other, mine)]
        if turns[0] is not None and turns[0].number < record.number and (
                turns[1] is None or turns[1].number > turns[0].number):
            yield from order_causes(seen, record.action, other, mine, True)


def sides(seen: Evidence, first: JobInfo, second: JobInfo) -> tuple[Any, Any]:
    """Return what an action orders to serve two jobs: these, or their queues."""
    return (first, second) if first.queue == second.queue else (
        seen.ssn.queues[first.queue], seen.ssn.queues[second.queue])


def turn_of(seen: Evidence, action: str, what: JobInfo | QueueInfo) -> Record | None:
    """Return the first record in which an action takes a job or a queue."""
    kind = "job" if isinstance(what, JobInfo) else "queue"
    return next(iter(seen.in_action(action, kind, **{kind: what.uid})), None)


def order_causes(seen: Evidence, action: str, first: JobInfo, second: JobInfo,
                 context: bool = False) -> Iterator[Cause]:
    """Yield the order by which an action serves a job before another, with both values."""
    left, right = sides(seen, first, second)
    turn = turn_of(seen, action, left)
    said = decided(seen, left, right, turn) if turn is not None else None
    if turn is not None and said is not None:
        note = priority_note(seen, second) if said.facts["plugin"] == "priority" else None
        if left is first and owners.is_single(first) and owners.is_single(second):
            note = note or Message("came_first.pods")
        if left is not first and not context and first.priority < second.priority and (
                said.facts["plugin"] in origin.SHARES):
            note = Message("came_first.queue_priority", queue=second.queue)
        yield Cause("came_first", [said, note], {
            "first": left.uid, "plugin": said.facts["plugin"],
            "kind": "job" if left is first else "queue"}, [turn], context)


def decided(seen: Evidence, left: Any, right: Any, turn: Record) -> Message | None:
    """Return the plugin by whose order a job or a queue came before another, with both values; None
    where the order is not known.
    """
    def first(code: str, plugin: str = "", **facts: Any) -> Message:
        names = [seen.called(each.uid) if turn.kind == "job" else Message("queue", queue=each.uid)
                 for each in (left, right)]
        return Message(code, first=names[0], second=names[1], plugin=plugin, **facts)

    state, kind = seen.state_at(turn), turn.kind
    for plugin in seen.plugins(f"{kind}_order"):
        what, key, shown = _compared(seen, plugin, state, left, right)
        if key is None:  # this plugin's values are not known here
            decided = turn.get("next") == right.uid and turn["decided_by"]
            return first("came_first.decided", plugin) if decided and (
                decided[0] == plugin) else None
        theirs, own = key(left), key(right)
        if theirs > own:
            return None
        if theirs < own:
            return first("came_first", plugin, what=what, theirs=shown(theirs), own=shown(own))
    if left.creation_timestamp >= right.creation_timestamp:
        return None
    if kind == "job":
        return first("came_first.older")
    theirs, own = moment_text(left.creation_timestamp), moment_text(right.creation_timestamp)
    return first("came_first.older_queue", theirs=theirs, own=own) if theirs != own else None


def priority_note(seen: Evidence, job: JobInfo) -> Message | None:
    """Return that a job has another priority than its pods: only a PriorityClass of its PodGroup
    counts.
    """
    name, classes = job.pod_group.spec.priority_class_name, seen.classes
    pods = max((task.pod.spec.priority or 0 for task in job.tasks.values()), default=0)
    if pods == job.priority or not job.tasks or name in classes:
        return origin.unknown_class(job, classes, seen.called(job.uid))
    return Message("priority.lost_class" if name else "priority.no_class", name=name, pods=pods,
                   job=seen.called(job.uid), priority=job.priority, where=of_priority(
                       job.pod_group))


def priority_causes(seen: Evidence, job: JobInfo, causes: Iterable[Cause] = ()
                    ) -> Iterator[Cause]:
    """Yield that a job does not have the priority of its pods, unless some causes say so."""
    note = priority_note(seen, job)
    if note is not None and note not in [each for cause in causes for each in cause.sentences]:
        named = {task.pod.spec.priority_class_name for task in job.tasks.values()} - {""}
        lost = note.code == "priority.unknown_class"
        near = alike(note.facts["name"], seen.classes) if lost else sorted(named)
        yield Cause("no_priority_class", [note], {"named": near, "lost": lost}, [], True)


def _compared(seen: Evidence, plugin: str, state: State, left: Any, right: Any
              ) -> tuple[Message | None, Callable[[Any], Any] | None, Callable[[Any], Said]]:
    """(what a plugin compares of two jobs or queues, a key of it at that moment by which the
    smaller comes first, its text); no key where it is not known.
    """
    known: Any = seen.ssn.plugins[plugin]
    if isinstance(left, QueueInfo):
        if plugin in origin.SHARES:
            return _shares(known, state["queues"], left, right)
        return _levels(seen, known, state, left, right) if plugin == "drf" else (None, None, str)
    keys: dict[str, tuple[str, Callable[[Any], Any], Callable[[Any], Said]]] = {
        "drf": ("dominant", lambda job: state["jobs"][job.uid].get("share", 0.0), "{:.4g}".format),
        "priority": ("priority", lambda job: -job.priority, lambda key: f"{-key}"),
        "gang": ("minimum", lambda job: sum(
            state["tasks"][task.key]["status"] in READY or task.best_effort
            for task in job.tasks.values()) >= job.min_available, _yes_or_no),
        "sla": ("deadline", lambda job: known.job_order_key(job), moment_text),
        "tdm": ("preemptable", lambda job: known.job_order_key(job), _yes_or_no)}
    what, key, shown = keys.get(plugin, ("", None, str))
    return Message(f"compared.{what}") if what else None, key, shown


def _shares(known: Any, queues: Any, left: QueueInfo, right: QueueInfo
            ) -> tuple[Message, Callable[[QueueInfo], Any], Callable[[Any], Said]]:
    """How proportion and capacity compare two queues: by priority, then by share, in a tree by that
    of the queues above them that have the same parent.
    """
    mine, theirs = known.tree.branches(left.uid, right.uid) if getattr(
        known, "hierarchical", False) else (known.queue_opts[each.uid] for each in (left, right))
    attrs = {left.uid: mine, right.uid: theirs}

    def first_two(queue: QueueInfo) -> tuple[int, float]:
        return -queue.queue.spec.priority, queues[attrs[queue.uid].name]["share"]

    level = known.name == "capacity" and first_two(left) == first_two(right)
    return (Message("compared.share", of=None if [*attrs] == [mine.name, theirs.name] else Message(
        "compared.of", queues=[mine.name, theirs.name])),
            lambda queue: (*first_two(queue), level and attrs[queue.uid].is_best_effort),
            lambda key: Message("compared.two", priority=-key[0], share=key[1],
                                unset=Message("compared.unset") if key[2] else None))


def _levels(seen: Evidence, known: Any, state: State, left: QueueInfo, right: QueueInfo
            ) -> tuple[Message, Callable[[QueueInfo], Any], Callable[[Any], Said]]:
    """How hierarchical DRF compares two queues: at the first level at which they differ."""
    tree = Hierarchy(known.total)
    held = {job.uid: total(task.resreq for task in job.tasks.values() if state["tasks"][
        task.key]["status"] in SHARED) for job in seen.ssn.jobs.values()}
    tree.total_allocated = total(held.values())
    for uid, job in seen.ssn.jobs.items():
        tree.update(job, seen.ssn.queues[job.queue], held[uid])
    pairs = [*tree.levels(left, right)]
    keys = [tuple((node.saturated, node.share / node.weight) for node in pair) for pair in pairs]
    at = next((at for at, (mine, theirs) in enumerate(keys) if mine != theirs), 0)
    found = dict(zip((left.uid, right.uid), keys[at], strict=True))
    return (Message("compared.level", names=[node.name for node in pairs[at]]),
            lambda queue: found[queue.uid], lambda key: Message(
                "compared.saturated" if key[0] else "compared.weighed", share=key[1]))


def _yes_or_no(key: Any) -> Message:
    return Message("yes" if key else "no")


def hierarchical_order(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield drf's order of queues in a tree: the lowest share for its weight comes first."""
    drf: Any = seen.ssn.plugins.get("drf")
    if drf is None or not drf.hierarchical or seen.brief:
        return
    used = {each.queue for each in seen.ssn.jobs.values()
            if counts(each)[2] or not each.allocated.is_empty()} | {job.queue}
    some = [queue for name, queue in seen.ssn.queues.items() if queue.hierarchy and name in used]
    if len(some) > 1:
        yield Cause.of("hierarchical_order", context=True, queues=[
            Message("hierarchical_order.queue", name=queue.name, path=queue.hierarchy,
                    weights=queue.weights)
            for queue in sorted(some, key=cmp_to_key(drf.hierarchy.compare))])
