"""Rules of policy as a reader of the specification would compute them: from a session's tasks and
objects alone, one by one, without the plugins that they check.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import Any

from queue_audit import above_where, deadline, held, held_in, line

from volcano_lab.api.job import JobInfo
from volcano_lab.api.node import NodeInfo
from volcano_lab.api.objects import Taint
from volcano_lab.api.queue import QueueInfo
from volcano_lab.api.resource import CPU, MEMORY, MIN_RESOURCE, PODS, Resource, share_of
from volcano_lab.api.status import PENDING, READY_STATUSES
from volcano_lab.api.task import TaskInfo
from volcano_lab.framework.session import Session
from volcano_lab.plugins.kube.resources import pod_requests

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


RULES: dict[tuple[str, str], Callable[[Session, TaskInfo, Tasks], list[TaskInfo]]] = {
    ("preemptable", "priority"): _by_priority,
    ("preemptable", "gang"): _by_gang, ("reclaimable", "gang"): _by_gang,
    ("preemptable", "conformance"): _by_conformance,
    ("reclaimable", "conformance"): _by_conformance,
    ("preemptable", "drf"): _by_drf,
    ("preemptable", "pdb"): _by_budgets, ("reclaimable", "pdb"): _by_budgets,
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


def _exceeds(amount: Resource, limit: Resource, of: Resource) -> bool:
    return any(of.get(name) > 0 and amount.get(name) > limit.get(name) for name in (CPU, MEMORY))


# -- which node is best ----------------------------------------------------------------------------


def keeps_off(task: TaskInfo, node: NodeInfo) -> str:
    """Return what of the node itself keeps a pod off it, "" where nothing does."""
    spec = node.node.spec
    cordon = [Taint("node.kubernetes.io/unschedulable", effect="NoSchedule")] * spec.unschedulable
    for taint in (*spec.taints, *cordon):
        if taint.effect != "PreferNoSchedule" and not tolerated(taint, task):
            return f"the node's taint {taint.key} is not tolerated"
    wanted = task.pod.spec.node_selector
    return "" if wanted.items() <= node.labels.items() else (
        "the pod's nodeSelector names other nodes")


def tolerated(taint: Taint, task: TaskInfo) -> bool:
    """Return whether a pod tolerates a taint, whatever its value."""
    return any(each.key in ("", taint.key) and each.effect in ("", taint.effect)
               for each in task.pod.spec.tolerations)


def score(ssn: Session, task: TaskInfo, node: NodeInfo, pods: Sequence[Any]) -> float:
    """Return a node's score for a pod without preferences: nodeorder's and binpack's parts."""
    points = 0.0
    if "nodeorder" in ssn.plugins:
        asked, counted = pod_requests(task.pod), [pod_requests(pod) for pod in pods]
        offered = [int(node.allocatable.get(name)) for name in (CPU, MEMORY)]
        taken = [sum(each.counted_non_zero[n] for each in counted) + asked.asked_non_zero[n]
                 for n in (0, 1)]
        free = [max(has - of, 0) * 100 // has for of, has in zip(taken, offered, strict=True)
                if has]
        points += sum(free) // len(free) if free else 0
        gpus = "nvidia.com/gpu"
        used = {name: sum(dict(each.counted).get(name, 0) for each in counted)
                + dict(asked.asked).get(name, 0) for name in (CPU, MEMORY, gpus)}
        has = {CPU: offered[0], MEMORY: offered[1], gpus: node.allocatable.get(gpus) / 1000}
        parts = [min(used[name] / has[name], 1.0) for name in has if has[name] and (
            name != gpus or dict(asked.asked).get(gpus))]
        if any(dict(asked.asked).values()):
            mean = sum(parts) / len(parts) if parts else 0.0
            spread = sum((part - mean) ** 2 for part in parts) / max(len(parts), 1)
            points += (1 - spread ** 0.5) * 100 // 1
        points -= 300 * any(taint.effect == "PreferNoSchedule"
                            and not tolerated(taint, task) for taint in node.node.spec.taints)
    if "binpack" in ssn.plugins:
        weights = {name: amount for name, amount in task.resreq if name in (CPU, MEMORY) and amount}
        filled = {name: node.used.get(name) + amount for name, amount in weights.items()}
        if weights and all(amount <= node.allocatable.get(name) for name, amount in filled.items()):
            points += 100 * sum(amount / node.allocatable.get(name)
                                for name, amount in filled.items()) / len(weights)
    return points
