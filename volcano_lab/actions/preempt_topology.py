"""Topology-aware preemption: simulate evictions on copies of nodes, and evict on the best node.

Where plain preempt evicts on the node with the best score, this simulates several nodes, reprieves
on each every victim that is not needed, and compares the rest. It is needed where evicting a pod
changes other predicates (pod affinity). Plugins implement it in their `simulate_…` functions, on a
copy of their state for the task.

Volcano: pkg/scheduler/actions/preempt/preempt.go (topologyAwarePreempt)
"""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from math import inf
from typing import Any

from attrs import define

from volcano_lab.actions.evictions import note_victims, pipeline, suffices
from volcano_lab.api import ZERO, NodeInfo, QueueInfo, TaskInfo
from volcano_lab.api.objects import Pod
from volcano_lab.framework import Arguments, Session, Statement

Preemptees = Callable[[NodeInfo], list[TaskInfo]]

PRIORITY_OFFSET = 2**31
"""Added to each victim's priority before they are summed, so that few victims beat many even for
negative priorities.
"""


@define(slots=True, frozen=True)
class CandidateLimits:
    """The number of candidate nodes to find: a percentage within two bounds."""

    percentage: int = 10
    at_least: int = 1
    at_most: int = 100

    def changed_by(self, arguments: Arguments) -> "CandidateLimits":
        """Return the same limits with those that the arguments set."""
        read = arguments.get_weight
        return CandidateLimits(read("minCandidateNodesPercentage", self.percentage),
                               read("minCandidateNodesAbsolute", self.at_least),
                               read("maxCandidateNodesAbsolute", self.at_most))

    def count(self, nodes: int) -> int:
        """Return the count for a number of nodes.

        >>> CandidateLimits().count(5), CandidateLimits().count(40)
        (1, 4)
        >>> CandidateLimits(at_least=3).count(2)
        2
        """
        wanted = max(nodes * self.percentage // 100, self.at_least)
        return max(0, min(wanted, self.at_most, nodes))


@define(slots=True, frozen=True)
class Candidate:
    """A node, and the victims there."""

    node: str
    victims: list[TaskInfo]


class Impossible(Exception):
    """Why evictions on a node cannot place the task: a code, and the objection."""

    def __init__(self, reason: str, objection: object = ""):
        super().__init__(reason, str(objection))


def preempt(statement: Statement, task: TaskInfo, queue: QueueInfo, nodes: Iterable[NodeInfo],
            wanted: int, preemptees: Preemptees) -> bool:
    """Preempt on the best of the first `wanted` nodes where the task fits after evictions.

    Return whether there is one; its victims are evicted then. `preemptees(node)` lists the
    candidates on a node.
    """
    ssn = statement.ssn
    candidates: list[Candidate] = []
    for node in nodes:
        if len(candidates) >= wanted:
            break
        try:
            victims = DryRun(ssn, task, queue, node).select_victims(preemptees)
        except Impossible as why:
            ssn.observer.note("passed_over", task=task.key, node=node.name, reason=why.args[0],
                              error=why.args[1])
            continue
        note_victims(ssn, "preempt", task, node, victims)
        candidates.append(Candidate(node.name, victims))
    best = select_candidate(candidates)
    if best is None:
        return False
    for victim in best.victims:
        statement.evict(victim, "preempt")
    ssn.observer.note("prepared", task=task.key, node=best.node,
                      chosen=[victim.key for victim in best.victims])
    pipeline(statement, task, best.node, True)
    return True


class DryRun:
    """A copy of one node, on which evictions for one task are simulated."""

    def __init__(self, ssn: Session, task: TaskInfo, queue: QueueInfo, node: NodeInfo):
        self.ssn, self.task, self.queue = ssn, task, queue
        self.node = node.snapshot(node.table.select([node.row]), 0)
        self.state: dict[str, Any] = {name: copy(value)
                                      for name, value in ssn.cycle_state(task.uid).items()}

    def select_victims(self, preemptees: Preemptees) -> list[TaskInfo]:
        """Return the victims. Raises `Impossible` where none are enough or none are needed."""
        removed = self._remove_until_it_fits(self._potential_victims(preemptees))
        if not removed:
            raise Impossible("no_victims")
        objection = self.ssn.simulate_predicate(self.state, self.task, self.node)
        if objection is not None:
            raise Impossible("still_unfit", objection)
        victims = [victim for victim in removed if not self._spare(victim)]
        if not victims:
            raise Impossible("fits_already")
        return victims

    def _potential_victims(self, preemptees: Preemptees) -> list[TaskInfo]:
        victims = self.ssn.preemptable(self.task,
                                       [other.clone() for other in preemptees(self.node)])
        if not suffices(self.task, self.node, victims):
            raise Impossible("too_little")
        return victims

    def _remove_until_it_fits(self, victims: list[TaskInfo]) -> list[TaskInfo]:
        queue, removed = self.ssn.victims_queue(victims, self.task), []
        while queue:
            victim = queue.pop()
            removed.append(victim)
            self._remove(victim)
            if self._fits():
                break
        return removed

    def _spare(self, victim: TaskInfo) -> bool:
        """Add a victim back, and keep it if the task still fits."""
        objection = self.ssn.simulate_add_task(self.state, self.task, victim, self.node)
        if objection is not None:
            raise Impossible("refused", objection)
        self.node.add_task(victim)
        if self._fits():
            return True
        self._remove(victim)
        return False

    def _remove(self, victim: TaskInfo) -> None:
        objection = self.ssn.simulate_remove_task(self.state, self.task, victim, self.node)
        if objection is not None:
            raise Impossible("refused", objection)
        self.node.remove_task(victim)

    def _fits(self) -> bool:
        ssn, task = self.ssn, self.task
        if not ssn.simulate_allocatable(self.state, self.queue, task):
            return False
        return (task.init_resreq.less_equal(self.node.future_idle, ZERO)
                and ssn.simulate_predicate(self.state, task, self.node) is None)


def select_candidate(candidates: Sequence[Candidate]) -> Candidate | None:
    """Return the candidate with the least important victims; among equals the first by node name.

    In this order: the lowest first victim, the lowest sum of priorities, the fewest victims, and of
    the most important victims the one that started last.
    """

    def cost(candidate: Candidate) -> tuple[float, ...]:
        victims = candidate.victims
        priorities = [pod_priority(victim.pod) for victim in victims]
        return (priorities[0], sum(priorities) + PRIORITY_OFFSET * len(victims), len(victims),
                -earliest_start(victims))

    return min(sorted(candidates, key=lambda candidate: candidate.node), key=cost, default=None)


def earliest_start(victims: Sequence[TaskInfo]) -> float:
    """Return the start time of the first of the victims with the highest priority."""
    highest = max(pod_priority(victim.pod) for victim in victims)
    return min(start_time(victim.pod) for victim in victims if pod_priority(victim.pod) == highest)


def pod_priority(pod: Pod) -> int:
    """Return the pod's own priority, 0 where it has none (a task's defaults to 1)."""
    return pod.spec.priority or 0


def start_time(pod: Pod) -> float:
    """Return a pod's start time in seconds; infinity, later than all others, before it started."""
    return inf if pod.status.start_time is None else pod.status.start_time
