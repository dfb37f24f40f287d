"""Keep separate books of a session, operation by operation, and compare them with the session's.

The audit hears of each operation that is done, undone or committed and knows what follows from it
for the task, its node and its queue. It computes gangs, victims, limits and order from the tasks
and objects alone, not through the plugins that it checks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from node_rules import keeps_off
from object_audit import counts_problems, object_problems
from policy_rules import is_critical, ready_count
from queue_audit import QueueAudit, has_room, limit_problems
from status_audit import written_problems

from volcano_lab.api.job import JobInfo
from volcano_lab.api.resource import ZERO
from volcano_lab.api.status import TaskStatus
from volcano_lab.api.task import TaskInfo
from volcano_lab.framework.observer import Observer
from volcano_lab.framework.points.rules import ABSTAIN, ExtensionPoint, Victims
from volcano_lab.framework.session import Session
from volcano_lab.framework.statement import Allocate, Evict, Operation, Pipeline, Statement
from volcano_lab.simulation.invariants import host_ports, job_problems, node_problems

State = tuple[TaskStatus, str]
DONE = {Allocate: TaskStatus.ALLOCATED, Pipeline: TaskStatus.PIPELINED, Evict: TaskStatus.RELEASING}


class SessionAudit(Observer):
    """`problems` has a sentence for each thing that does not hold in a session.

    `tasks` has the status and node that each task must have by now, `undo` the operations of each
    task that are neither undone nor committed, with the state before them.
    """

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.named: list[tuple[str, set[str]]] = []

    def watch(self, point: ExtensionPoint, tier: int, plugin: str,
              function: Callable[..., Any]) -> Callable[..., Any]:
        """Keep whom each plugin names as victims."""
        def kept(claimant: Any, candidates: list[Any]) -> Any:
            named, vote = function(claimant, candidates)
            if vote != ABSTAIN:
                self.named.append((plugin, {task.uid for task in named}))
            return named, vote

        return kept if isinstance(point, Victims) else function

    def watch_point(self, point: ExtensionPoint, ask: Callable[..., Any]) -> Callable[..., Any]:
        """Whoever is a victim was named by the plugin that was asked last, too."""
        def asked(claimant: Any, candidates: list[Any]) -> Any:
            self.named.clear()
            victims = ask(claimant, candidates)
            for victim in victims:
                if victim.uid not in self.named[-1][1]:
                    self.problems.append(f"{victim.key} is a victim for {claimant.key}, and plugin "
                                         f"{self.named[-1][0]} does not name it")
            return victims

        return asked if isinstance(point, Victims) else ask

    def opened(self, ssn: Session) -> None:
        self.ssn, self.action, self.recorded = ssn, "", 0
        self.tasks: dict[str, State] = {uid: (task.status, task.node_name)
                                        for job in ssn.jobs.values()
                                        for uid, task in job.tasks.items()}
        self.sent = dict(self.tasks)
        self.undo: dict[str, list[tuple[Operation, State]]] = {}
        self.bound: dict[str, set[str]] = {}
        self.lost: Counter[str] = Counter()
        self.queues = QueueAudit(ssn)
        self.problems += [*self.queues.opening_problems(), *object_problems(ssn)]

    def action_started(self, ssn: Session, action: str) -> None:
        self.action = action

    # -- operations ------------------------------------------------------------------------------

    def did(self, statement: Statement | None, operation: Operation) -> None:
        task = operation.task
        before = self.tasks[task.uid]
        self.undo.setdefault(task.uid, []).append((operation, before))
        node = before[1] if isinstance(operation, Evict) else operation.node_name
        self.tasks[task.uid] = (DONE[type(operation)], node)
        self._compare(task, f"{operation.name} was done")
        if isinstance(operation, Evict):
            self.problems += self._eviction_problems(task)
        else:
            self.problems += self._placement_problems(operation)

    def undid(self, statement: Statement | None, operation: Operation) -> None:
        task = operation.task
        standing = [done
                    for done in (statement.operations if statement is not None else [operation])
                    if any(done is other for other, _ in self.undo.get(done.task.uid, ()))]
        if not standing or standing[-1] is not operation:
            self.problems.append(f"{operation} was undone out of turn")
            return
        self._restore(operation, self.undo[task.uid][-1][1])
        self._compare(task, f"{operation.name} was undone")

    def committed(self, statement: Statement | None, operation: Operation) -> None:
        task, committed = operation.task, self.ssn.committed
        history = self.undo.get(task.uid, [])
        place = next((n for n, (done, _) in enumerate(history)
                      if statement is None or done is operation), None)
        if place is None:
            self.problems.append(f"{operation} was committed without having been done")
            return
        _, before = history[place]
        entry = [operation.name, task.key, operation.task.node_name]
        if statement is None or (len(committed) > self.recorded and committed[-1][:3] == entry):
            del history[place]
            if isinstance(operation, Allocate):
                self.tasks[task.uid] = (TaskStatus.BINDING, self.tasks[task.uid][1])
                if statement is not None:
                    self.bound.setdefault(task.job, set()).add(task.node_name)
            if isinstance(operation, Pipeline):
                job = self.ssn.jobs[task.job]
                if self.action == "reclaim" and not self._is_promised(job):
                    self.problems.append(f"{operation} is committed, and its gang does not fit")
            else:
                self.sent[task.uid] = self.tasks[task.uid]
            self.lost[task.job] += isinstance(operation, Evict)
        else:
            self._restore(operation, before)
            self.lost[task.job] += 1
        self.recorded = len(committed)
        self._compare(task, f"{operation.name} was committed")

    def changed(self, kind: str, subject: JobInfo | TaskInfo) -> None:
        if kind == "unplaced":
            self.tasks[subject.uid] = (TaskStatus.PENDING, "")
            self.undo.pop(subject.uid, None)
        elif kind == "enqueued" and self.action == "enqueue":
            self.queues.admitted(subject)

    def _restore(self, operation: Operation, before: State) -> None:
        """What undoing leaves: an evicted task is always Running again, as in Volcano."""
        self.undo[operation.task.uid].pop()
        self.tasks[operation.task.uid] = (TaskStatus.RUNNING, before[1]) if isinstance(operation,
                                                                            Evict) else before

    def _compare(self, task: TaskInfo, after: str) -> None:
        """The session's task, its job and its node against the books."""
        job, (status, node_name) = self.ssn.jobs[task.job], self.tasks[task.uid]
        self.problems += [f"{problem} after {after}"
                          for problem in self._task_problems(job.tasks[task.uid])]
        self.problems += job_problems(job)
        for name in {node_name, getattr(task, "node_name", "")} & self.ssn.nodes.keys():
            node = self.ssn.nodes[name]
            self.problems += node_problems(node)
            held = node.tasks.get(task.key)
            if name == node_name and (held is None or account(held.status) != account(status)):
                self.problems.append(f"node {name} has task {task.key} as {held and held.status}, "
                                     f"not {status}, after {after}")

    def _task_problems(self, task: TaskInfo) -> Iterator[str]:
        status, node = self.tasks[task.uid]
        if (task.status, task.node_name) != (status, node):
            yield (f"task {task.key} is {task.status} on {task.node_name or 'no node'}, "
                   f"and should be {status} on {node or 'no node'}")
        for name, other in self.ssn.nodes.items():
            if name != node and task.key in other.tasks:
                yield f"task {task.key} is still on node {name}"

    # -- rules -----------------------------------------------------------------------------------

    def _placement_problems(self, operation: Allocate | Pipeline) -> Iterator[str]:
        """A node has what is taken from it, its host ports are free, and the queue may have it."""
        task, node = operation.task, self.ssn.nodes[operation.node_name]
        left = node.idle if isinstance(operation, Allocate) else node.future_idle
        short = [name for name, amount in task.resreq if amount > 0 and left.get(name) < -1]
        if short:
            yield (f"{operation} leaves node {node.name} "
                   f"with less than nothing of {', '.join(short)}")
        if isinstance(operation, Allocate):
            others = [other for other in node.tasks.values() if other.uid != task.uid
                      and other.status != TaskStatus.RELEASING]
            taken = {port for other in others for port in host_ports(other.pod)}
            if taken & host_ports(task.pod):
                yield f"{operation}: its host port is taken there"
        if off := keeps_off(task, node):
            yield f"{operation}: {off}"
        # where evictions are tried out on copies, Volcano takes all victims even if that is too few
        arguments = self.ssn.conf.action_arguments(self.action)
        if self.action in ("allocate", "preempt") and not arguments.get(
                "enableTopologyAwarePreemption"):
            yield from limit_problems(self.ssn, operation)

    def _deciding(self) -> set[str]:
        """The plugins each of which every victim of the running action must have been named by.

        These are up to two in one tier. Beyond that Volcano lets a plugin be passed over: the next
        tier decides where one names no victim, the third plugin where two agree on none.
        """
        point = {"preempt": "preemptable", "reclaim": "reclaimable"}.get(self.action)
        tiers = [tier for tier in self.ssn.points[point].tiers if tier] if point else []
        return {plugin
                for plugin, _ in tiers[0]} if len(tiers) == 1 and len(tiers[0]) <= 2 else set()

    def _eviction_problems(self, task: TaskInfo) -> Iterator[str]:
        """What the cluster needs stays, and so does a gang's minimum."""
        job, deciding = self.ssn.jobs[task.job], self._deciding()
        if is_critical(task) and "conformance" in deciding:
            yield f"task {task.key} is evicted, which the cluster needs"
        if "gang" in deciding and ready_count(job.tasks.values()) < job.min_available:
            yield (f"task {task.key} is evicted, "
                   f"and job {job.uid} falls below its minimum of {job.min_available}")

    def note(self, kind: str, /, **facts: Any) -> None:
        if kind == "victims" and facts.get("action") != "shuffle":
            self.problems += self._victim_problems(**facts)

    def _victim_problems(self, task: str, chosen: list[str], candidates: list[str] | None = None,
                         node: str = "", **_: Any) -> Iterator[str]:
        """Preempt takes what matters less within a queue, reclaim from others that allow it; and
        neither takes one more than is needed. Without `candidates` victims are only thought of.
        """
        by_key = {t.key: t for job in self.ssn.jobs.values() for t in job.tasks.values()}
        claimant = by_key[task]
        job = self.ssn.jobs[claimant.job]
        if candidates is not None and len(chosen) > (self.action == "reclaim"):
            last = by_key[chosen[-1]]
            left = self.ssn.nodes[node].future_idle - last.resreq
            if claimant.init_resreq.less_equal(left, ZERO) and (
                    self.action == "reclaim" or has_room(self.ssn, claimant, last)):
                yield f"{last.key} is evicted for {task}, which fitted on {node} already"
        for victim in map(by_key.get, chosen):
            other = self.ssn.jobs[victim.job]
            mine, theirs = (claimant, victim) if other is job else (job, other)
            if self.action == "reclaim":
                wrong = other.queue == job.queue or not self.ssn.queues[other.queue].reclaimable
            else:
                wrong = other.queue != job.queue or (
                    "priority" in self._deciding() and theirs.priority >= mine.priority) or (
                    claimant.best_effort and not victim.best_effort)
            if wrong:
                yield f"{victim.key} is evicted for {task}, which may not take its place"

    def popped(self, kind: str, item: Any, rest: Any) -> None:
        if kind == "queue":
            self.problems += self.queues.order_problems(self.action, item, rest)

    # -- the end ---------------------------------------------------------------------------------

    def closed(self, ssn: Session) -> None:
        for job in ssn.jobs.values():
            for task in job.tasks.values():
                self.problems += self._task_problems(task)
                self.problems += self._sent_problems(task)
            self.problems += [*self._open_problems(job), *counts_problems(job)]
            if job.uid in self.bound:
                self.problems += gang_problems(job, self.lost[job.uid])
                self.problems += self._topology_problems(job)
        self.problems += self.queues.closing_problems()
        self.problems += written_problems(ssn)

    def _sent_problems(self, task: TaskInfo) -> Iterator[str]:
        """The cache has what was committed, and nothing else has changed there."""
        job = self.ssn.cache.jobs.get(task.job)
        known = job and job.tasks.get(task.uid)
        if known is not None and (known.status, known.node_name) != self.sent[task.uid]:
            status, node = self.sent[task.uid]
            yield (f"the cache has task {task.key} as {known.status} on "
                   f"{known.node_name or 'no node'}, and the session made it {status} on "
                   f"{node or 'no node'}")

    def _is_promised(self, job: JobInfo) -> bool:
        """Whether a gang's minimum has places or waits for resources that are freed."""
        waiting = sum(task.status == TaskStatus.PIPELINED for task in job.tasks.values())
        return ready_count(job.tasks.values()) + waiting + self.lost[job.uid] >= job.min_available

    def _open_problems(self, job: JobInfo) -> Iterator[str]:
        """What is neither undone nor committed belongs to a gang that waits for what is freed.

        Best-effort tasks that are placed directly stay, too, where the cache refuses the first of
        them because its node is gone or has less than nothing left.
        """
        left = [task for uid, task in job.tasks.items() if self.undo.get(uid)]
        nodes = self.ssn.cache.nodes
        refused = any(task.node_name not in nodes
                      or not nodes[task.node_name].has_room(task.resreq) for task in left)
        ready, promised = is_gang_ready(job), self._is_promised(job)
        for task in left:
            excused = task.best_effort and (refused or not ready)
            if not excused and (ready or not promised):
                yield f"job {job.uid}: {self.undo[task.uid][-1][0]} is neither undone nor committed"

    def _topology_problems(self, job: JobInfo) -> Iterator[str]:
        """A hard topology: one HyperNode of an allowed tier holds all nodes a job gets at once, but
        for those its pods are nominated for: allocate tries these first, in whatever HyperNode.
        """
        topology, view = job.pod_group.spec.network_topology, self.ssn.snapshot.hyper_nodes
        if topology is None or topology.mode != "hard" or topology.highest_tier_allowed is None:
            return
        nodes = self.bound[job.uid] - {task.pod.status.nominated_node_name
                                       for task in job.tasks.values()}
        allowed = [view.real_nodes_set[name] for name, info in view.hyper_nodes.items()
                   if info.tier <= topology.highest_tier_allowed and name in view.real_nodes_set]
        if nodes and not any(nodes <= inside for inside in allowed):
            yield (f"job {job.uid} is bound to {', '.join(sorted(nodes))}, "
                   "across its network topology")


def account(status: TaskStatus) -> TaskStatus | None:
    """Return how a node counts a task of some status: pipelined, releasing, or just used."""
    return status if status in (TaskStatus.PIPELINED, TaskStatus.RELEASING) else None


def is_gang_ready(job: JobInfo) -> bool:
    """Return whether a gang has its minimum."""
    return not list(gang_problems(job, 0))


def gang_problems(job: JobInfo, lost: int) -> Iterator[str]:
    """A gang that is bound has its minimum in all, of each role, and of each sub-group.

    Args:
        job: A job of a session.
        lost: How many of its tasks were evicted, or refused by the cache, in this session.
    """
    ready = ready_count(job.tasks.values()) + lost
    if ready < job.min_available:
        yield f"job {job.uid} is bound with {ready} of {job.min_available} tasks"
    spec = job.pod_group.spec
    if job.min_available >= sum(spec.min_task_member.values()):
        for role, least in spec.min_task_member.items():
            ready = ready_count(task for task in job.tasks.values() if task.task_role == role)
            if ready + lost < least:
                yield f"job {job.uid} is bound with {ready} of {least} tasks of role {role}"
    for policy in spec.sub_group_policy:
        members = (sub_job.tasks for sub_job in job.sub_jobs.values()
                   if sub_job.gid == f"{job.uid}/{policy.name}")
        whole = sum(ready_count(job.tasks[uid] for uid in tasks) >= (policy.sub_group_size or 1)
                    for tasks in members)
        if whole + lost < (policy.min_sub_groups or 0):
            yield f"job {job.uid} is bound with {whole} of {policy.min_sub_groups} sub-groups"
