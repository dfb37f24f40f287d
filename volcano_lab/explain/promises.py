"""What is promised to a job: pods that are pipelined, or held for these, what leaves for them or
keeps them from being bound, and pods of it that leave.

Volcano: none
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from volcano_lab.api import PIPELINED, RELEASING, JobInfo, TaskInfo, objects as api, status
from volcano_lab.explain import evictions, evidence, kubelet, nodes, outcome, refusals, rules, taken
from volcano_lab.explain.evidence import Evidence, counts
from volcano_lab.explain.explanation import Cause, moment_text, over
from volcano_lab.explain.origin import SHARES
from volcano_lab.explain.owners import on_event
from volcano_lab.explain.protection import sums_of
from volcano_lab.explain.questions import why_not_cause
from volcano_lab.explain.shuffles import shuffle_causes
from volcano_lab.explain.victims import evicted_for, kept, victim_causes
from volcano_lab.framework import Session
from volcano_lab.messages import Message
from volcano_lab.trace import Record, grouped

OVERDUE = 60
"""Seconds after which a pod that should have ended does not end by itself."""


def going_causes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield which pods of a job are pipelined, why some leave, and that some have no node."""
    going, pending = leaving(seen, job), counts(job)[2]
    for cause in (promised(seen, job), going, nowhere(seen, job.tasks.values())):
        if cause is not None and not (pending and cause.numbers.get("gang")):
            yield from nodes.node_causes(seen, job) if cause.numbers.get("gang") else ()
            yield cause
            yield from _behind(seen, job, cause)
    yield from shuffle_causes(seen, job) if not seen.brief else ()
    evicted = going.numbers["evicted"] if going is not None and not seen.brief else ()
    for cause in victim_causes(seen, evicted[0]) if evicted else ():
        cause.context = True
        yield cause


def _behind(seen: Evidence, job: JobInfo, cause: Cause) -> Iterator[Cause]:
    """Yield how a queue refused pods before they were promised a node, what other nodes than those
    that a rule refuses lack, and why no action evicts within a full queue.
    """
    for record in _refused(seen, job)[-1:] if cause.code == "promised" else ():
        before = refusals.refusal(seen, job, record)
        yield Cause(before.code, [Message("promised.refused"), *before.sentences],
                    before.numbers, [record], True)
    for beside in nodes.node_causes(seen, job) if cause.numbers.get("kept_off") else ():
        beside.context = True
        yield from [beside] if beside.code != cause.numbers["against"] else []
    if cause.code == "never_bound" and "limit" in cause.numbers and not seen.brief:
        yield from evictions.eviction_causes(seen, job)


def promised(seen: Evidence, job: JobInfo) -> Cause | None:
    """The nodes to which pods are pipelined, and the pods that leave these; or that they are never
    bound.
    """
    tasks = list(job.in_status(PIPELINED).values())
    if not tasks:
        return None
    nodes = grouped((task.node_name, task.key) for task in tasks)
    leave = leaving_for(seen.ssn, tasks)
    fails = promise_fails(seen, job)
    if fails and not leave:
        return _never_bound(seen, job, tasks[0])
    records = [each for task in tasks for each in seen.of("victims", task=task.key)]
    parts = [_promised_on(seen, node, pods, records) for node, pods in [*nodes.items()][:3]]
    parts += [Message("promised.more", count=len(nodes) - 3)] if len(nodes) > 3 else []
    parts += _harms(seen, leave, records)
    if fails:
        return _lost(seen, job, parts, records)
    parts += [] if seen.brief else due(seen, job, records)
    late, more = _late(seen, overdue(seen, leave))
    return Cause("promised", [*parts, *more, Message(
        "promised.then" if leave else "promised.again"), *_held(job)],
                 {"promised": len(tasks), **late}, records)


def _held(job: JobInfo) -> Iterator[Message]:
    """Yield which pods have nodes and are not bound before those that are pipelined."""
    if pods := held(job):
        yield Message("promised.held", n=len(pods), pod=pods[0].key,
                      nodes=[*dict.fromkeys(task.node_name for task in pods)])


def _harms(seen: Evidence, leave: list[TaskInfo], records: list[Record]) -> Iterator[Message]:
    """Yield the gangs that fall below their minimum as pods leave, and the jobs of evicted pods
    that end, or start again, as a whole.
    """
    leaving = {task.job for task in leave}
    for job in map(seen.ssn.jobs.__getitem__, sorted(leaving & seen.ssn.jobs.keys())):
        yield from evictions.broken(seen, job)
    victims = {seen.tasks[pod].job: None for record in records for pod in record["chosen"]}
    yield from filter(None, (on_event(seen, seen.ssn.jobs[uid], "PodEvicted") for uid in victims))


def due(seen: Evidence, job: JobInfo, records: list[Record]) -> Iterator[Message]:
    """Yield by what the queue, or the priority, of a job reclaim or preempt evicts for it, and how
    many pods of those that lose some wait in the end.
    """
    by = {record["action"] for record in records}
    losing = [seen.ssn.jobs[uid] for uid in dict.fromkeys(
        seen.tasks[pod].job for record in records for pod in record["chosen"])]
    names = evidence.requested(job.in_status(PIPELINED).values())
    sums = seen.sums(job.queue, over(names, {}))
    owed = over(sums["deserved"], sums["allocated"]) if sums else {}
    shared = SHARES & seen.ssn.plugins.keys()  # two compute it, each in its own way
    if "reclaim" in by and len(shared) == 1 and owed:
        yield Message("promised.owed", queue=job.queue, sums=[sums_of(
            seen, None, queue, owed) for queue in dict.fromkeys(
                [job.queue, *(each.queue for each in losing)])])
    less = max((each.priority for each in losing), default=job.priority)
    if "preempt" in by and less < job.priority:
        yield Message("promised.priority", priority=job.priority, other=less)
    large = len(seen.ssn.nodes) >= outcome.LARGE  # of which only the first cycles have run
    found = (None if large else outcome.future(seen)) or outcome.Outcome()
    for later in [found.jobs[each.uid] for each in losing if each.uid in found.jobs]:
        placed, _, n = counts(later)
        yield from [Message("promised.waits", n=n, job=seen.called(later.uid), placed=placed,
                            cycles=found.cycles, least=later.min_available)] * bool(n)


def _nominated(seen: Evidence, node: str, pods: list[str], leaving: list[TaskInfo]
               ) -> Iterator[Message]:
    """Yield what an autoscaler sees of pods that wait for a node; nothing where it is not known, as
    pods have been evicted there.
    """
    if all(task.eviction_occurred or task.pod.status.nominated_node_name
           for task in map(seen.tasks.__getitem__, pods)):
        yield Message("promised.nominated", node=node)
    elif not any(taken.mark_of(seen, task) for task in leaving):
        yield Message("promised.not_nominated", node=node)


def _promised_on(seen: Evidence, node: str, pods: list[str], records: list[Record]) -> Message:
    """The pods that leave a node to which pods are pipelined, and whether that takes too long."""
    leaving = [task for task in seen.ssn.nodes[node].tasks.values() if task.status == RELEASING]
    evicted = {pod: record["action"] for record in records
               for pod in record["chosen"] if record["task"] in pods}
    by = grouped((evicted.get(task.key, ""), Message(
        "pod.of", pod=task.key, job=seen.called(task.job)) if task.job else task.key)
        for task in sorted(leaving, key=lambda task: task.key not in evicted))
    why = [Message("promised.evicts" if action else "promised.leaves", action=action, pods=who)
           for action, who in by.items()] or [Message("promised.free")]
    late, in_order = overdue(seen, leaving), sorted(leaving, key=lambda task: _ends(seen, task))
    for task in in_order[:1] if late else in_order[-1:]:
        if late or _ends(seen, task) > seen.ssn.now + OVERDUE:
            why += [Message("promised.overdue" if late else "promised.until", moment=moment_text(
                _ends(seen, task)), namespace=task.namespace, name=task.name)]
            why += _nominated(seen, node, pods, leaving)
    code = "promised.part" if len(pods) == 1 else "promised.parts"
    return Message(code, n=len(pods), pod=pods[0], node=node, why=why)


def leaving_for(ssn: Session, pods: Iterable[TaskInfo]) -> list[TaskInfo]:
    """Return the pods that leave the nodes to which some are pipelined."""
    return [task for node in dict.fromkeys(pod.node_name for pod in pods)
            for task in ssn.nodes[node].tasks.values() if task.status == RELEASING]


def _ends(seen: Evidence, task: TaskInfo) -> float:
    """When a pod that leaves has to have ended: its deletion timestamp is the end of its grace."""
    return task.pod.metadata.deletion_timestamp or seen.ssn.now


def overdue(seen: Evidence, tasks: Iterable[TaskInfo]) -> list[TaskInfo]:
    """The pods that should have ended, the longest overdue first."""
    return sorted((task for task in tasks if _ends(seen, task) < seen.ssn.now - OVERDUE),
                  key=lambda task: _ends(seen, task))


def promise_fails(seen: Evidence, job: JobInfo) -> bool:
    """Return whether pods are pipelined and not bound some cycles later."""
    promised = job.in_status(PIPELINED)
    found = outcome.future(seen) if promised else None
    later = found.jobs.get(job.uid) if found is not None else None
    return later is not None and not later.is_ready() and not any(
        later.tasks[uid].node_name and later.tasks[uid].status != PIPELINED
        for uid in promised if uid in later.tasks)


def _lost(seen: Evidence, job: JobInfo, parts: list[Message], records: list[Record]) -> Cause:
    """That the resources which are freed for it go to others, cycle after cycle."""
    found = outcome.future(seen)
    assert found is not None
    gone = {uid: count for uid, count in found.evicted.items() if count}
    takers = {uid: count for uid, count in found.given.items() if uid != job.uid}
    victims = [f"{seen.called(uid)} {count}" for uid, count in gone.items()]
    others = [Message("node_holds.job", job=seen.called(uid), pods=Message("pods", n=count))
              for uid, count in takers.items()]
    said = Message("promise_lost", cycles=found.cycles, count=sum(gone.values()), victims=victims,
                   placed=found.placed(job.uid), least=job.min_available)
    after = Message("promise_lost.takers", takers=others) if takers else None
    against = next(_kept_off(seen, job, {*gone}), None)
    losing, taking = ({seen.ssn.jobs[uid].queue for uid in some if uid in seen.ssn.jobs}
                      for some in (gone, takers))
    other = outcome.outcome(seen.objects, seen.ssn.conf, job.uid, seen.ssn.now, together=True
                            ) if len(seen.ssn.nodes) < outcome.LARGE else found
    at_once = Message("promise_lost.at_once", placed=other.placed(job.uid), pods=len(job.tasks)
                      ) if other.runs(job.uid) else None
    return Cause("promise_lost", [*parts, said, at_once, after, *(
        [Message("promise_lost.against"), *against.sentences] if against else ())], {
        "action": min((record.action for record in records), default=""), "victims": list(gone),
        "takers": list(takers), **({
            "kept_off": against.numbers["names"], "against": against.code,
            "slips": against.numbers["slips"]} if against else {
            "returned": not losing.isdisjoint(taking)})})


def _kept_off(seen: Evidence, job: JobInfo, gone: set[str]) -> Iterator[Cause]:
    """Yield the rules by which allocate refuses the nodes to which pods are pipelined, unless by
    pods that leave.
    """
    for task in job.in_status(PIPELINED).values():
        reason = rules.refused_now(seen, task, task.node_name)
        chosen = seen.in_action("allocate", "chose", task=task.key)
        if chosen and (code := rules.rule_of(reason)[0]):
            found = next(rules.rule_causes(seen, task.key, {task.node_name: reason}, (0, None),
                                           chosen[-1]))
            holders = {*found.numbers.get("holders", ())}
            leave = gone & holders if code == "pods_exceeded" else gone >= holders
            if code not in rules.OCCUPIED or not leave:
                yield found


def _refused(seen: Evidence, job: JobInfo) -> list[Record]:
    """The records in which a job's queue refused pods that are pipelined now."""
    return [record for task in job.in_status(PIPELINED).values()
            for record in seen.in_action("allocate", "allocatable", task=task.key, answer=False)]


def _never_bound(seen: Evidence, job: JobInfo, task: TaskInfo) -> Cause:
    """That each cycle pipelines a pod to a node that allocate refuses, and why it does."""
    chosen = seen.in_action("allocate", "chose", task=task.key)
    limits = [record for record in _refused(seen, job) if record["task"] == task.key]
    against = refusals.refusal(seen, job, limits[-1]) if limits else None
    against = why_not_cause(seen, task.key, task.node_name) if chosen else against
    facts = against.numbers if against else {}
    said = Message("never_bound" if against else "never_bound.gang", pod=task.key,
                   node=task.node_name)
    evades = {*facts.get("holders", ())} - {job.uid} and seen.calls_about(
        job, "claimant", "preempt")
    numbers = facts if "limit" in facts else {
        "slips": facts.get("slips", []), "evades": bool(evades)}
    return Cause("never_bound", [said, *(against.sentences if against else ()), Message(
        "never_bound.limit", node=task.node_name) if "limit" in facts else None],
        {**numbers, "promised": len(job.in_status(PIPELINED)), "gang": against is None,
         "against": against.code if against else ""}, against.records if against else [])


def nowhere(seen: Evidence, tasks: Iterable[TaskInfo]) -> Cause | None:
    """That pods are bound to nodes that are not among the objects."""
    lost = {task.key: task.node_name for task in tasks
            if task.node_name and task.node_name not in seen.ssn.nodes}
    return Cause.of("node_missing", n=len(lost), pod=next(iter(lost)),
                    nodes=[*dict.fromkeys(lost.values())]) if lost else None


def leaving(seen: Evidence, job: JobInfo) -> Cause | None:
    """How many pods leave, and for which job those that this cycle evicts."""
    going = [task for task in job.tasks.values()
             if task.status == RELEASING or task.pod.metadata.deletion_timestamp]
    if not going:
        return None
    stuck = overdue(seen, going)
    groups = evicted_for(seen, job)
    said = [*taken.taken(seen, going), Message(
        "pods_leave" if counts(job)[2] else "pods_leave.all", n=len(going)), *(
            Message("pods_leave.for", action=action, pods=[*records], job=seen.called(other))
            for (action, other), records in groups.items())]
    late, more = _late(seen, stuck)
    said += more
    by_pod = {pod: record for records in groups.values() for pod, record in records.items()}
    records = {record.number: record for record in by_pod.values()}
    return Cause("pods_leave", said, {"leaving": len(going), "stuck": len(stuck),
                                      "evicted": [*by_pod], **late, "taken": [
                                          *taken.by_action(seen, going)]}, [*records.values()])


def again(seen: Evidence, job: JobInfo, actions: Collection[str]) -> Iterator[Cause]:
    """Yield why a cycle evicts pods of a job, where it is as before some actions have evicted them:
    for which job, by which rules, what follows, and what keeps others of its pods.
    """
    for (action, uid), records in evicted_for(seen, job).items():
        if not {action, "Volcano"}.isdisjoint(actions):
            victim, *why = victim_causes(seen, next(iter(records)))
            rules = victim.numbers["named_by"] or Message("victim.no_plugin")
            said = Message("taken.again", victim=seen.called(job.uid), job=seen.called(uid),
                           pods=Message("pods", n=len(records)), action=action, plugins=rules)
            yield Cause("taken_again", [said, *due(seen, seen.ssn.jobs[uid], [*records.values()])],
                        victim.numbers, [*records.values()], True)
            yield from (cause for cause in (*why, *kept(seen, job, [*job.tasks.values()], [action]))
                        if cause.code != "victim")


def _late(seen: Evidence, stuck: list[TaskInfo]) -> tuple[dict[str, Any], list[Message]]:
    """(Which pods should have ended and when, what keeps them there)."""
    if not stuck:
        return {}, []
    late = {"overdue": [task.key for task in stuck], "moment": moment_text(_ends(seen, stuck[0]))}
    nodes = [*dict.fromkeys(task.node_name for task in stuck)]
    kept = [*dict.fromkeys(each for task in stuck for each in task.pod.metadata.finalizers)]
    said = [Message(f"pods_leave.overdue{'.finalizers' * bool(kept)}", finalizers=kept, nodes=nodes,
                    pods=late["overdue"], namespace=stuck[0].namespace, name=stuck[0].name)]
    said += [Message("taint.ready", node=node, text=(each.message or each.reason).rstrip("."))
             for node in nodes for obj in seen.named.get(node, ()) if isinstance(obj, api.Node)
             for each in evidence.not_ready(obj)]
    return late, said + [each for task in stuck for each in kubelet.warnings_of(seen, task)][:1]


def held(job: JobInfo) -> list[TaskInfo]:
    """Return the pods of a gang that have a node in the cycle, and are not bound before others of
    the gang that are pipelined can be.
    """
    waits_for = job.in_status(PIPELINED) and not job.is_ready()
    return [*job.in_status(status.ALLOCATED).values()] if waits_for else []
