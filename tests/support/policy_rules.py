"""Rules of policy as a reader of the specification would compute them: from a session's tasks and
objects alone, one by one, without the plugins that they check.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import Any

from node_rules import zone_is_open
from queue_audit import above_where, deadline, held, held_in, line

from volcano_lab.api.job import JobInfo
from volcano_lab.api.queue import QueueInfo
from volcano_lab.api.resource import CPU, MEMORY, MIN_RESOURCE, PODS, Resource, share_of
from volcano_lab.api.status import COMPLETED_STATUSES, PENDING, READY_STATUSES, RUNNING
from volcano_lab.api.task import TaskInfo
from volcano_lab.framework.session import Session

ROLES = "task-topology"
PREEMPTABLE = "volcano.sh/preemptable"
CRITICAL = ("system-cluster-critical", "system-node-critical")
Tasks = Sequence[TaskInfo]


def ready_count(tasks: Any, best_effort: bool = True) -> int:
    """Return how many tasks count towards a gang's minimum; pending best-effort ones may."""
    return sum(task.status in READY_STATUSES
               or (best_effort and task.best_effort and task.status == PENDING) for task in tasks)


def share(ssn: Session, amount: Resource) -> float:
    """Return the largest part of the cluster in any resource."""
    whole = ssn.total_resource
    return max((share_of(amount.get(name), whole.get(name)) for name in whole.resource_names()),
               default=0.0)


# -- who comes first -------------------------------------------------------------------------------

JOB_KEYS: dict[str, Callable[[Session, JobInfo], Any]] = {
    "priority": lambda ssn, job: -job.priority,
    "gang": lambda ssn, job: ready_count(job.tasks.values()) >= job.min_available,
    "drf": lambda ssn, job: share(ssn, held(job)),
    "sla": lambda ssn, job: deadline(ssn, job),
    "tdm": lambda ssn, job: job.pod_group.metadata.annotations.get(PREEMPTABLE) == "true",
}


def job_key(ssn: Session, job: JobInfo, still: bool = True) -> tuple[Any, ...]:
    """Return what orders jobs: each plugin's own key, tier by tier, then age and name. Where
    evictions change keys of jobs that wait (not `still`), only the keys before those.
    """
    plugins = [plugin for tier in ssn.points["job_order"].tiers for plugin, _ in tier]
    if not still:
        return tuple(JOB_KEYS[plugin](ssn, job) for plugin in takewhile(
            lambda plugin: plugin in ("priority", "sla"), plugins))
    return (*(JOB_KEYS[plugin](ssn, job) for plugin in plugins), job.creation_timestamp, job.uid)


def task_key(ssn: Session, task: TaskInfo) -> tuple[Any, ...] | None:
    """Return what orders the tasks of a job that allocate places: priority, the number in a name
    like JOB-TASK-NUMBER, age; None for a job in parts, which are placed one by one.
    """
    spec = ssn.jobs[task.job].pod_group.spec
    notes = ssn.jobs[task.job].pod_group.metadata.annotations
    if spec.network_topology or spec.sub_group_policy or any(ROLES in name for name in notes):
        return None
    number = task.name.rpartition("-")[2] if task.name.count("-") > 1 else ""
    ordered = "priority" in [name for tier in ssn.points["task_order"].tiers for name, _ in tier]
    return (-task.priority if ordered else 0, int(number) if number.isdigit() else 0,
            task.creation_timestamp, task.uid)


# -- who may be evicted ----------------------------------------------------------------------------


def named_by(ssn: Session, point: str, plugin: str, claimant: TaskInfo, candidates: Tasks
             ) -> list[TaskInfo] | None:
    """Return the candidates that a plugin names as victims; None for a plugin without a rule here.
    """
    rule = RULES.get((point, plugin))
    return None if rule is None else rule(ssn, claimant, candidates)


def _by_priority(ssn: Session, claimant: TaskInfo, candidates: Tasks) -> list[TaskInfo]:
    """Of other jobs those with a lower priority, of the same job tasks with a lower one."""
    jobs, mine = ssn.jobs, ssn.jobs[claimant.job]
    return [task for task in candidates if (
        task.priority < claimant.priority if task.job == mine.uid
        else jobs[task.job].priority < mine.priority)]


def _by_gang(ssn: Session, claimant: TaskInfo, candidates: Tasks) -> list[TaskInfo]:
    """As many of each gang as it has above its minimum."""
    named: list[TaskInfo] = []
    for task in candidates:
        job = ssn.jobs[task.job]
        before = sum(other.job == job.uid for other in named)
        if ready_count(job.tasks.values(), best_effort=False) - before > job.min_available:
            named.append(task)
    return named


def _by_conformance(ssn: Session, claimant: TaskInfo, candidates: Tasks) -> list[TaskInfo]:
    return [task for task in candidates if not is_critical(task)]


def is_critical(task: TaskInfo) -> bool:
    """Return whether the cluster itself needs a pod."""
    return (task.namespace == "kube-system"
            or task.pod.spec.priority_class_name in CRITICAL)


def _by_drf(ssn: Session, claimant: TaskInfo, candidates: Tasks) -> list[TaskInfo]:
    """Tasks whose job, without them and all candidates before, has as large a share as the
    claimant's job with it.
    """
    mine = share(ssn, held(ssn.jobs[claimant.job]) + claimant.resreq)
    left = {task.job: held(ssn.jobs[task.job]) for task in candidates}
    named = []
    for task in candidates:
        left[task.job] = left[task.job] - task.resreq
        if share(ssn, left[task.job]) >= mine - 1e-6:
            named.append(task)
    return named


def _in_turn(spares: Callable[[Any, TaskInfo, TaskInfo, Resource], bool]) -> Callable[..., Any]:
    """Return a rule by which each queue loses tasks as long as it `spares` them."""
    def rule(ssn: Session, claimant: TaskInfo, candidates: Tasks) -> list[TaskInfo]:
        attrs = (ssn.plugins.get("proportion") or ssn.plugins["capacity"]).queue_opts
        left, named = {}, []
        for task in candidates:
            queue = ssn.jobs[task.job].queue
            has = left.get(queue) or held_in(ssn, queue)
            if spares(attrs[queue], claimant, task, has):
                named.append(task)
                left[queue] = has - task.resreq
        return named

    return rule


def _above_deserved(attr: Any, claimant: TaskInfo, task: TaskInfo, has: Resource) -> bool:
    """By proportion: while the queue holds more than it deserves of any resource."""
    return any(amount - attr.deserved.get(name) >= MIN_RESOURCE for name, amount in has)


def _above_its_own(attr: Any, claimant: TaskInfo, task: TaskInfo, has: Resource) -> bool:
    """By capacity: a task that frees something asked for, without which the queue has its
    guarantee, and of what the task requests more than it deserves, or deserves nothing.
    """
    asked, due = set(task.resreq.resource_names()) - {PODS}, attr.deserved
    frees = asked & set(claimant.init_resreq.resource_names())
    after = has - task.resreq
    if not frees or any(amount - after.get(name) >= MIN_RESOURCE
                        for name, amount in attr.guarantee):
        return False
    deserved = asked & set(due.resource_names())
    return not deserved or any(has.get(name) > due.get(name) for name in asked
                               if name in deserved or name in (due.scalars or {}))


def _by_budgets(ssn: Session, claimant: TaskInfo, candidates: Tasks) -> list[TaskInfo]:
    """Pods with labels, of each budget as many as it allows; a pod counts for each of its budgets.
    """
    named, taken = [], Counter()
    for task in candidates:
        labels = task.pod.metadata.labels
        mine = [budget for budget in ssn.snapshot.pod_disruption_budgets
                if budget.namespace == task.namespace
                and (budget.spec.selector.match_labels or {"": ""}).items() <= labels.items()]
        taken.update(budget.name for budget in mine)
        if labels and all(taken[budget.name] <= budget.status.disruptions_allowed
                          for budget in mine):
            named.append(task)
    return named


def _by_cooldown(ssn: Session, claimant: TaskInfo, candidates: Tasks) -> list[TaskInfo]:
    """Pods that do not run, or were scheduled long enough ago."""
    named = []
    for task in candidates:
        meta, status = task.pod.metadata, task.pod.status
        text = {**meta.annotations, **meta.labels}.get("volcano.sh/cooldown-time")
        since = [each.last_transition_time for each in status.conditions
                 if each.type == "PodScheduled"]
        seconds = int(text[:-1]) * {"s": 1, "m": 60}[text[-1]] if text else 0
        if not text or not since or status.phase != "Running" or since[0] + seconds <= ssn.now:
            named.append(task)
    return named


RULES: dict[tuple[str, str], Callable[[Session, TaskInfo, Tasks], list[TaskInfo]]] = {
    ("preemptable", "priority"): _by_priority,
    ("preemptable", "gang"): _by_gang, ("reclaimable", "gang"): _by_gang,
    ("preemptable", "conformance"): _by_conformance,
    ("reclaimable", "conformance"): _by_conformance,
    ("preemptable", "drf"): _by_drf,
    ("preemptable", "pdb"): _by_budgets, ("reclaimable", "pdb"): _by_budgets,
    ("preemptable", "cdp"): _by_cooldown, ("reclaimable", "cdp"): _by_cooldown,
    ("reclaimable", "proportion"): _in_turn(_above_deserved),
    ("reclaimable", "capacity"): _in_turn(_above_its_own),
}


def may_reclaim(ssn: Session, queue: str, task: TaskInfo) -> bool:
    """Return whether a queue with a further task stays within what it deserves: by proportion in
    all, by capacity in any of the requested resources.
    """
    wanted = held_in(ssn, queue) + task.resreq
    if "proportion" in ssn.plugins:
        return not above_where(wanted, ssn.plugins["proportion"].queue_opts[queue].deserved,
                               task.resreq)
    if "capacity" not in ssn.plugins:
        return True
    due = ssn.plugins["capacity"].queue_opts[queue].deserved
    return any(wanted.get(name) - due.get(name) < MIN_RESOURCE
               for name in task.resreq.resource_names() if name != PODS)


def is_overused(ssn: Session, queue: QueueInfo) -> bool:
    """Return whether, by proportion, a queue has all that it deserves."""
    if "proportion" not in ssn.plugins:
        return False
    has, due = held_in(ssn, queue.uid), ssn.plugins["proportion"].queue_opts[queue.uid].deserved
    return all(amount - has.get(name) < MIN_RESOURCE for name, amount in due)


# -- who is admitted -------------------------------------------------------------------------------


def admission_votes(ssn: Session, job: JobInfo, sums: Any) -> Iterator[list[bool | None]]:
    """Yield each tier's votes about a job; None abstains. `sums` is the session's `QueueAudit`."""
    least = Resource.from_list(job.pod_group.spec.min_resources)
    for tier in ssn.points["job_enqueueable"].tiers:
        votes: list[bool | None] = []
        for plugin, _ in tier:
            if plugin == "sla":
                votes.append(True if ssn.now >= deadline(ssn, job) else None)
            elif plugin == "resourcequota":
                wanted = sums.permitted + least
                votes.append(not any(_exceeds(wanted + used, hard, least)
                                     for hard, used in _quotas(ssn, job)))
                if votes[-1] and False not in votes:  # even where another plugin refuses then
                    sums.permitted = wanted
            elif plugin == "overcommit":
                wanted = sums.everything + least
                limit = ssn.total_resource * 1.2 - ssn.table.total("used")
                votes.append(not _exceeds(wanted, limit, least))
            elif plugin in ("proportion", "capacity"):
                votes.append(ssn.queues[job.queue].is_open and not any(
                    _exceeds(least + held_in(ssn, name) + sums.inqueue[name] - sums.elastic[name],
                             sums.attrs[name].real_capability, least)
                    for name in line(ssn, job.queue)))
        yield votes


def _quotas(ssn: Session, job: JobInfo) -> list[tuple[Resource, Resource]]:
    """Return what each quota of a job's namespace limits, CPU and memory, and what is in use."""
    return [(Resource.from_list(quota.status.hard), Resource.from_list(quota.status.used))
            for quota in ssn.snapshot.resource_quotas.get(job.namespace, ())]


def _exceeds(amount: Resource, limit: Resource, of: Resource) -> bool:
    return any(of.get(name) > 0 and amount.get(name) > limit.get(name) for name in (CPU, MEMORY))


# -- hours of nodes --------------------------------------------------------------------------------


def shuffle_problems(ssn: Session, chosen: Sequence[str]) -> Iterator[str]:
    """Pods leave nodes whose hours have ended, of each job as many at once as its budget says."""
    by_key = {task.key: task for job in ssn.jobs.values() for task in job.tasks.values()}
    for key in chosen:
        zone = ssn.nodes[by_key[key].node_name].labels.get("volcano.sh/revocable-zone")
        notes = by_key[key].pod.metadata.annotations
        if zone is None or zone_is_open(ssn, zone) or notes.get(PREEMPTABLE) != "true":
            yield f"{key} is evicted, and it may stay"
    for uid, count in Counter(by_key[key].job for key in chosen).items():
        if count > may_lose(ssn.jobs[uid]):
            yield f"job {uid} loses {count} tasks, and may lose {may_lose(ssn.jobs[uid])}"


def may_lose(job: JobInfo) -> int:
    """Return how many tasks of a job may be evicted at once, by its annotations as drawn."""
    notes, tasks = job.pod_group.metadata.annotations, job.tasks.values()
    running = sum(task.status == RUNNING for task in tasks)
    ended = sum(task.status in COMPLETED_STATUSES for task in tasks)
    if least := notes.get("volcano.sh/jdb-min-available"):
        return running - int(least) if running >= int(least) else 1
    if most := notes.get("volcano.sh/jdb-max-unavailable"):
        share = -(-int(most.removesuffix("%")) * len(tasks) // 100)
        return max(share - (len(tasks) - ended - running), 0)
    return 1
