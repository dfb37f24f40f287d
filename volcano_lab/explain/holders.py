"""Holders: the jobs behind what is allocated and reserved, the largest first.

Volcano: none
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial, reduce
from itertools import chain
from typing import Any

from volcano_lab.api import MIN_RESOURCE, PENDING, JobInfo, TaskInfo, claims_of, status as states
from volcano_lab.explain import evidence, gangs, origin, owners, requests
from volcano_lab.explain.evidence import Evidence, counts, ended, fails_to_start, requested
from volcano_lab.explain.explanation import Amounts, Cause, added, over, part
from volcano_lab.explain.order import came_first
from volcano_lab.messages import Message
from volcano_lab.trace import POINTS, Record, amounts, grouped

MOST = 3
"""Jobs that are named; the others are counted."""
FEW = 4
"""Pods of a node that somebody may move."""
COUNTED = frozenset(map(str, states.ALLOCATED_STATUSES))
HOLDING = COUNTED | {str(states.RELEASING)}


def below(seen: Evidence, level: str | None) -> list[JobInfo]:
    """Return the jobs of a queue and of all queues below it; without one, all jobs."""
    return [job for job in seen.ssn.jobs.values() if level is None or level in (
        job.queue, *origin.above(seen, job.queue))]


def reserved(seen: Evidence, record: Record, level: str | None) -> dict[str, Amounts]:
    """Return what each job had reserved when a job was refused, beyond what it held: the jobs that
    this plugin admitted, or without a queue the ones that all plugins did, and those before.
    """
    permits = seen.of("enqueued") if level is None else [
        each for each in seen.of("job_enqueueable", plugin=record["plugin"]) if each["answer"] > 0]
    count = Counter(each["job"] for each in permits if each.number < record.number)
    return {job.uid: seen.reserved_at_start[job.uid] if not count[job.uid] else amounts(
        job.deduct_sch_gated_resources(job.get_min_resources()) * count[job.uid])
        for job in below(seen, level)}


def allocated(seen: Evidence, record: Record, level: str | None,
              nodes: Iterable[str] | None = None) -> tuple[dict[str, Amounts], dict[str, Amounts]]:
    """Return (what each job held at a moment, what of it was placed in this cycle), in a queue or
    on some nodes; without places that were rolled back.
    """
    state, start = seen.state_at(record)["tasks"], seen.trace.start["tasks"]
    there = seen.ssn.nodes if nodes is None else {*nodes}
    counted = (COUNTED if nodes is None else HOLDING) | (
        set() if level is None is nodes else {"Pipelined"})
    tasks = {job.uid: [task for task in job.tasks.values() if state[task.key]["status"] in counted
                       and task.node_name and (nodes is None or state[task.key]["node"] in there)]
             for job in below(seen, level)}
    new = {uid: [task for task in each if not start[task.key]["node"]]
           for uid, each in tasks.items()}
    held, placed = ({uid: requested(each) for uid, each in some.items() if each}
                    for some in (tasks, new))
    return held, placed


def largest(by_job: dict[str, Amounts], names: list[str]) -> list[str]:
    """Return the jobs that have an amount of these resources, the largest first."""
    some = [uid for uid, each in by_job.items() if any(each.get(name, 0.0) > 0 for name in names)]
    return sorted(some, key=lambda uid: ([-by_job[uid].get(name, 0.0) for name in names], uid))


def is_ghost(seen: Evidence, uid: str) -> bool:
    """Return whether a PodGroup was admitted before this cycle, and has no pods, or only such as
    have ended.
    """
    job = seen.ssn.jobs[uid]
    return len(job.tasks) == ended(job) and not seen.of("enqueued", job=uid)


def held_by(seen: Evidence, code: str, by_job: dict[str, Amounts], names: list[str],
            about: Callable[[JobInfo], Message | None] = lambda job: None,
            **facts: Any) -> Message | None:
    """Return the jobs that hold some resources, such as "Held by default/a 4, default/b 2", those
    of one owner together; None without any.
    """
    order = largest(by_job, names)
    ghosts = [uid for uid in order if is_ghost(seen, uid)]
    holders = []
    if len(ghosts) > 1:
        holders.append(_ghosts(seen, {uid: part(by_job[uid], names) for uid in ghosts}))
        order = [uid for uid in order if uid not in ghosts]
    groups, by_job = _by_owner(seen, {uid: by_job[uid] for uid in order})
    order = largest(by_job, names)
    ended = {uid: owners.ended_as(seen, seen.ssn.jobs[uid]) for uid in order[:MOST]}
    over_now = {uid: Message("holder.over", phase=phase) if phase else Message("holder.stays")
                for uid, phase in ended.items() if phase or owners.stays(seen.ssn.jobs[uid])}
    said = {uid: about(seen.ssn.jobs[uid]) or over_now.get(uid) for uid in order[:MOST]}
    said |= {uid: Message("holder.groups", n=n) for uid, (_, n) in groups.items()}
    holders += [Message(f"holder{'.named' * (len(names) > 1)}", about=said[uid],
                        job=groups.get(uid, (seen.called(uid), 1))[0],
                        amount=part(by_job[uid], filter(by_job[uid].get, names)),
                        init=_for_init(seen.ssn.jobs[uid], names)) for uid in order[:MOST]]
    if len(order) > MOST:
        rest = reduce(added, (by_job[uid] for uid in order[MOST:]))
        holders.append(Message("holder.rest", amount=part(rest, names),
                               jobs=Message("more_jobs", n=len(order) - MOST)))
    return Message(code, holders=holders, **facts) if holders else None


def _ghosts(seen: Evidence, held: dict[str, Amounts]) -> Message:
    """How many PodGroups hold something and have no pods, or none that runs."""
    alike = {str(each): each for each in held.values()}
    same = Message("holder.ghosts_each", amount=next(iter(alike.values())))
    some = any(seen.ssn.jobs[uid].tasks for uid in held)
    return Message("holder.ghosts.ended" if some else "holder.ghosts", n=len(held),
                   jobs=[*map(seen.called, held)], each=same if len(alike) == 1 else None)


def _by_owner(seen: Evidence, by_job: dict[str, Amounts]
              ) -> tuple[dict[str, tuple[str, int]], dict[str, Amounts]]:
    """(By the first of several jobs of one owner how that is called, and their number; what jobs
    hold, those of one owner in sum.)
    """
    parts = grouped((next(reversed(seen.names.above[uid]), uid), uid) for uid in by_job)
    return ({uids[0]: (name, len(uids)) for name, uids in parts.items() if len(uids) > 1},
            {uids[0]: reduce(added, map(by_job.__getitem__, uids)) for uids in parts.values()})


def _for_init(job: JobInfo, names: list[str]) -> Message | None:
    """That a job holds more for init containers, which may have ended."""
    later = requests.after_init([task for task in job.tasks.values() if task.node_name], names)
    return Message("holder.init", later=later) if later else None


def held_by_strangers(seen: Evidence, names: list[str], nodes: Iterable[str]
                      ) -> tuple[list[Message], list[str]]:
    """Return (what pods on some nodes hold that Volcano does not schedule, and that no action
    evicts them; those of these pods that no owner creates again and that have no volume claims).
    """
    pods = [task for name in nodes for task in seen.ssn.nodes[name].tasks.values()
            if task.job not in seen.ssn.jobs and str(task.status) in HOLDING
            and any(map(task.resreq.get, names))]
    pods.sort(key=lambda task: [-task.resreq.get(name) for name in names])
    taken, evicts = over(part(requested(pods), names), {}), seen.ssn.enabled_actions & {*POINTS}
    said = [Message("strangers", taken=taken, pods=[task.key for task in pods]),
            *[Message("strangers.stay")] * bool(evicts)] if taken else []
    return said, [task.key for task in pods if task.namespace != "kube-system" and not (
        task.pod.metadata.owner_references or claims_of(task.pod))]


def _alone(seen: Evidence, choice: Record, names: list[str], nodes: Iterable[str]
           ) -> list[TaskInfo]:
    """Return the fewest pods of other schedulers on one node without which it has enough left for a
    pod, those with the most of some resources first; those of the system, and of DaemonSets, stay.
    """
    if not choice.get("task"):
        return []
    request = seen.trace.start["tasks"][choice["task"]]["request"]
    free, found = seen.free(choice, request), list[list[TaskInfo]]()
    for node in map(seen.ssn.nodes.__getitem__, nodes):
        pods = sorted((task for task in node.tasks.values() if task.job not in seen.ssn.jobs
                       and task.namespace != "kube-system" and not evidence.of_daemon(task)),
                      key=lambda task: [-task.resreq.get(name) for name in names])
        found += [pods[:n] for n in range(1, min(len(pods), FEW) + 1) if not over(
            request, added(free[node.name], requested(pods[:n])))]
    return min(found, key=len, default=[])


def _said_alone(fewest: list[TaskInfo]) -> Iterator[Message]:
    """Yield that some pods are enough, and which owners create them again."""
    for node in dict.fromkeys(task.node_name for task in fewest):
        yield Message("strangers.alone", pods=[task.key for task in fewest], node=node)
    owned = [*dict.fromkeys(f"{ref.kind} {task.namespace}/{ref.name}" for task in fewest
                            for ref in task.pod.metadata.owner_references
                            if ref.kind in ("ReplicaSet", "StatefulSet"))]
    yield from [Message("strangers.owned", n=len(owned), owners=owned)] * bool(owned)


def standing(seen: Evidence, record: Record, job: JobInfo) -> Message:
    """Return the state of a job with reserved resources when another one was refused."""
    if is_ghost(seen, job.uid):
        return Message("holder.ended" if job.tasks else "holder.no_pods")
    if any(each.number < record.number for each in seen.of("enqueued", job=job.uid)):
        return Message("holder.admitted")
    start = seen.trace.start
    placed = sum(bool(start["tasks"][task.key]["node"]) for task in job.tasks.values())
    return Message("holder.phase", phase=start["jobs"][job.uid]["phase"] or "Pending",
                   placed=placed, pods=len(job.tasks))


def by_whom(seen: Evidence, job: JobInfo, record: Record) -> Iterator[Cause]:
    """Yield the jobs behind the sum that enqueue compared."""
    if seen.brief:
        return
    names, level = record["short_of"], record.get("level")
    kept = reserved(seen, record, level)
    kept.pop(job.uid, None)
    held = allocated(seen, record, level)[0]
    said = [held_by(seen, "held_by.reserved", kept, names, partial(standing, seen, record)),
            held_by(seen, "held_by" if level else "held_by.used", held, names),
            *([] if level else held_by_strangers(seen, names, seen.ssn.nodes)[0])]
    largest_first = largest(kept, names)
    if any(said):
        holders = dict.fromkeys([*largest_first[:12], *largest(held, names)])
        said += [*_never_run(seen, holders), _of_its_owner(seen, job, holders)]
        yield Cause("held_by", said, {"holders": [*holders], "ghosts": [
            uid for uid in largest_first if is_ghost(seen, uid)], "over": _ended(seen, holders)},
            [record], True)
    yield from came_first(seen, [uid for uid in largest_first if seen.of("enqueued", job=uid)],
                          job, record)


def overtakers(seen: Evidence, job: JobInfo, record: Record) -> Iterator[Cause]:
    """Yield the jobs of those that a limit counts which were created later, or admitted after the
    refusal, as they request less.
    """
    names, own = record["short_of"], amounts(job.get_min_resources())
    after = {each["job"] for each in seen.of("enqueued") if each.number > record.number}
    admitted = [each for each in below(seen, record.get("level")) if not each.is_pending() and (
        each.namespace == job.namespace or record.kind == "enqueue_comparison")]
    later = [each for each in admitted if each.priority <= job.priority and any(counts(each)) and (
        each.uid in after or each.creation_timestamp > job.creation_timestamp)]
    if less := [seen.called(each.uid) for each in later
                if {*names} <= {*over(own, amounts(each.get_min_resources()))}]:
        yield Cause.of("overtaken", None if "sla" in seen.ssn.plugins else Message(
            "overtaken.sla"), context=True, n=len(less), jobs=less, resources=names)


def room_causes(seen: Evidence, job: JobInfo, cause: Cause) -> Iterator[Cause]:
    """Yield the jobs that hold what a pod found taken, and why one that was placed in this cycle
    came first.
    """
    if seen.brief:
        return
    record = cause.records[-1]
    names = list(cause.numbers.get("short_of") or cause.numbers.get("request", ()))
    level = cause.numbers.get("level", job.queue) if (
        "limit" in cause.numbers or cause.code == "overused") else None
    nodes = None if level is not None else cause.numbers.get("allowed", seen.trace.nodes)
    held, new = allocated(seen, record, level, nodes)
    in_the_end = allocated(seen, seen.trace.records[-1], level, nodes)[1]
    held[job.uid] = added(held.get(job.uid, {}), new.get(job.uid, {}), -1.0)
    took, later = ({uid: each for uid, each in some.items() if uid != job.uid} for some in (
        new, {uid: added(each, new.get(uid, {}), -1.0) for uid, each in in_the_end.items()}))
    holders = largest(held, names)
    others, bare = held_by_strangers(seen, names, nodes or ())
    alone = _alone(seen, record, names, nodes) if others and nodes else []
    others += _said_alone(alone)
    found = [held_by(
        seen, "held_by.resources" if level is None else "held_by.queue", held, names,
        partial(waiting_pods, job), resources=names, queue=level), *others, *_over(seen, names)]
    if any(found):
        found.append(held_by(seen, "held_by.this_cycle", took, names))
        found += [*_never_run(seen, holders), _of_its_owner(seen, job, holders),
                  _itself(seen, job, record, holders)]
        found += gangs.all_wait(
            seen, job, cause, [seen.ssn.jobs[uid] for uid in holders], nodes or ())
    found += _after(seen, job, held_by(seen, "held_by.later", later, names))
    if any(found):
        yield Cause("held_by", found, {
            "holders": holders, "bare": bare, "alone": [task.key for task in alone],
            "over": _ended(seen, holders)}, [record], True)
    yield from gangs.each_other(seen, job, holders)
    yield from came_first(seen, largest(took, names), job, record)


def _after(seen: Evidence, job: JobInfo, later: Message | None) -> list[Message]:
    """Which jobs got places after its refusal, and what keeps those of a gang for it."""
    kept = job.min_available > 1 and "gang" in seen.ssn.plugins and "sla" not in seen.ssn.plugins
    return [later, *[Message("held_by.sla")] * kept] if later else []


def _of_its_owner(seen: Evidence, job: JobInfo, holders: Iterable[str]) -> Message | None:
    """That an owner whose pods do not come at once has created the job and holders, of which a
    PodGroup without pods counts those of the job, too.
    """
    for name, kind in seen.names.above[job.uid].items():
        later = kind in owners.KINDS["later"]
        jobs = [uid for uid in holders if uid != job.uid and seen.names.above[uid].get(name) == kind
                and (later or not seen.ssn.jobs[uid].tasks)]
        twice = [uid for uid in jobs if later and not seen.ssn.jobs[uid].tasks]
        if jobs and not job.ready_task_num():
            return Message(f"held_by.{'twice' if twice else 'own'}", owner=f"{kind} {name}",
                           jobs=[*map(seen.called, twice or jobs)], group=job.pod_group.name)
    return None


def _itself(seen: Evidence, job: JobInfo, record: Record, holders: list[str]) -> Message | None:
    """That only pods of its owner hold what a pod lacks, which these need to end, and the field by
    which there is no such pod, or they are one gang.
    """
    mine, task = seen.names.above[job.uid], seen.tasks.get(record.get("task", ""))
    fields = [owners.KINDS["itself"].get(f"{kind} {owners.kind_of(job)}") for kind in mine.values()]
    field, gang = max(filter(None, fields), default=""), owners.known_of(
        "minimum", owners.owner_of(job))
    own = all(uid == job.uid or mine.keys() & seen.names.above[uid].keys() for uid in holders)
    if task is None or not (holders and own and (field or owners.head(job, task))):
        return None
    code = f"held_by.itself.{'field' if field else 'gang'}"
    return Message("held_by.itself", name=next(iter(mine), seen.called(job.uid)), field=Message(
        code, field=field or gang) if field or gang else None)


def _never_run(seen: Evidence, holders: Iterable[str]) -> Iterator[Message]:
    """Yield the holders of which no pod starts, and why: they do not end by themselves; and what
    has created them.
    """
    stuck = {uid: fails_to_start(seen.ssn.jobs[uid]) for uid in holders}
    stuck = {uid: why for uid, why in stuck.items() if why}
    if stuck:
        yield Message("never_run", n=len(stuck), jobs=[*map(seen.called, stuck)],
                      why=[*dict.fromkeys(chain(*stuck.values()))])
        yield from owners.created_by(seen, stuck)


def _ended(seen: Evidence, jobs: Iterable[str]) -> list[str]:
    """The jobs whose owner has ended and leaves pods that run."""
    return [uid for uid in jobs if owners.ended_as(seen, seen.ssn.jobs[uid])
            and any(task.status in states.READY_STATUSES and task.status != states.SUCCEEDED
                    for task in seen.ssn.jobs[uid].tasks.values())]


def _over(seen: Evidence, names: list[str]) -> list[Message]:
    """The nodes whose pods hold more than their allocatable."""
    return [Message("node_over", node=node.name, held={name: node.used.get(name)},
                    allocatable={name: node.allocatable.get(name)})
            for name in names for node in seen.ssn.nodes.values()
            if node.used.get(name) - node.allocatable.get(name) >= MIN_RESOURCE]


def waiting_pods(mine: JobInfo, other: JobInfo, past: bool = False) -> Message | None:
    """How many pods of another job wait, or else, where those of the `past` count, have ended, or
    are more than its minimum, unless Volcano's controller has set that.
    """
    beyond = other.ready_task_num() - other.min_available
    if pods := len(other.in_status(PENDING)) * (other is not mine):
        return Message("holder.waits", pods=Message("pods", n=pods))
    if past and ended(other):
        return Message("holder.counted", n=ended(other))
    return Message("holder.above", n=beyond, least=other.min_available) if (
        beyond > 0 and other is not mine and not owners.is_generated(other)) else None
