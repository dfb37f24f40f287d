"""Compare each decision of a session with the rules of policy, as `policy_rules` computes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import node_rules
import policy_rules as rules
from queue_audit import QueueAudit

from volcano_lab.actions.preempt_topology import pod_priority
from volcano_lab.api.job import JobInfo
from volcano_lab.api.node import NodeInfo
from volcano_lab.api.resource import CPU, MEMORY, PODS, ZERO
from volcano_lab.api.status import PENDING, RELEASING
from volcano_lab.api.task import TaskInfo
from volcano_lab.framework.observer import Observer
from volcano_lab.framework.points.rules import ExtensionPoint, Victims
from volcano_lab.framework.session import Session


class PolicyAudit(Observer):
    """Adds to `problems` a sentence for each decision that a rule does not allow.

    `least` is the victim that must go first of those named last, `asked` the job that enqueue took
    last, with whether it must be admitted.
    """

    def __init__(self, problems: list[str]):
        self.problems = problems

    def opened(self, ssn: Session) -> None:
        self.ssn, self.action, self.queues = ssn, "", QueueAudit(ssn)
        self.leaving = {task.uid for node in ssn.node_list for task in node.tasks.values()
                        if task.status == RELEASING}
        self.asked: tuple[JobInfo, bool | None] | None = None
        self.overused, self.least = "", ""
        self.tried: dict[str, list[TaskInfo]] = {}
        self.placed: set[str] = set()

    def action_started(self, ssn: Session, action: str) -> None:
        self._answered(False)
        self.action, self.overused = action, ""
        self.placed.clear()

    def action_ended(self, ssn: Session, action: str) -> None:
        self._answered(False)

    # -- victims ---------------------------------------------------------------------------------

    def watch(self, point: ExtensionPoint, tier: int, plugin: str,
              function: Callable[..., Any]) -> Callable[..., Any]:
        """Compare whom a plugin names with whom its rule names."""
        def compared(claimant: TaskInfo, candidates: list[TaskInfo]) -> Any:
            named, vote = function(claimant, candidates)
            expected = rules.named_by(self.ssn, point.name, plugin, claimant, candidates)
            if expected is not None and [t.uid for t in named] != [t.uid for t in expected]:
                self.problems.append(
                    f"plugin {plugin} names {[t.key for t in named]} for {claimant.key}, its rule "
                    f"{[t.key for t in expected]}")
            return named, vote

        return compared if isinstance(point, Victims) else function

    def watch_point(self, point: ExtensionPoint, ask: Callable[..., Any]) -> Callable[..., Any]:
        """Keep which victim is the least important, before any is evicted."""
        def asked(claimant: TaskInfo, candidates: list[TaskInfo]) -> Any:
            victims = ask(claimant, candidates)
            jobs = [self.ssn.jobs[uid] for uid in {task.job for task in victims}]
            self.least = max(jobs, key=lambda job: rules.job_key(self.ssn, job)).uid if len(
                {job.queue for job in jobs}) == 1 else ""
            return victims

        return asked if isinstance(point, Victims) else ask

    def _victim_problems(self, task: str, node: str, chosen: Sequence[str],
                         candidates: Sequence[str] | None = None, **_: Any) -> Iterator[str]:
        """The least important victim is first, and who reclaims may do so."""
        by_key = {t.key: t for job in self.ssn.jobs.values() for t in job.tasks.values()}
        claimant = by_key[task]
        job, victims = self.ssn.jobs[claimant.job], [by_key[key] for key in chosen]
        if candidates is None:
            self.tried[node] = victims
        elif victims and self.least and victims[0].job != self.least:
            yield f"{chosen[0]} is evicted for {task} before tasks of {self.least}"
        if claimant.pod.spec.preemption_policy == "Never":
            yield f"{task} has victims, and its preemption policy is Never"
        if self.action == "reclaim" and not rules.may_reclaim(self.ssn, job.queue, claimant):
            yield f"{task} reclaims beyond what queue {job.queue} deserves"

    def _chosen_by_trial(self, node: str, **_: Any) -> Iterator[str]:
        """Of the nodes tried on copies the one with the least important victims is chosen: the
        lowest first one, the lowest sum, the fewest, those that started last.
        """
        def cost(name: str) -> tuple[Any, ...]:
            pods = [task.pod for task in self.tried[name]]
            priorities = [pod_priority(pod) for pod in pods]
            starts = [pod.status.start_time for pod in pods
                      if pod_priority(pod) == max(priorities)]
            first = float("inf") if None in starts and set(starts) == {None} else min(
                start for start in starts if start is not None)
            return priorities[0], sum(priorities) + 2**31 * len(pods), len(pods), -first, name

        best = min(self.tried, key=cost)
        if best != node:
            yield f"preempt chooses node {node}, where {best} has the less important victims"
        self.tried.clear()

    # -- order and admission -----------------------------------------------------------------------

    def popped(self, kind: str, item: Any, rest: Any) -> None:
        self._answered(False)
        if kind == "queue":
            over = self.action in ("allocate", "reclaim") and rules.is_overused(self.ssn, item)
            self.overused = item.uid if over else ""
        else:
            if self.overused:
                self.problems.append(f"{self.action} takes a job of queue {self.overused}, which "
                                     "has all that it deserves")
            others = [entry[1] if isinstance(entry, tuple) else entry for entry in rest.items]
            still = self.action in ("allocate", "enqueue")
            mine = rules.job_key(self.ssn, item, still)
            self.problems += [
                f"{self.action} takes job {item.uid} before {other.uid}, whose turn it is"
                for other in others if rules.job_key(self.ssn, other, still) < mine]
        if kind == "job" and self.action == "enqueue":
            self.asked = item, self._admits(item)

    def _admits(self, job: JobInfo) -> bool | None:
        """Return whether the plugins, tier by tier, must admit a job; None where GPUs decide, which
        they reserve in another unit than they compare.
        """
        if (least := job.pod_group.spec.min_resources) is None:
            return True
        for votes in rules.admission_votes(self.ssn, job, self.queues):
            if False in votes:
                return False
            if True in votes:
                break
        return True if {*least} <= {CPU, MEMORY, PODS} else None

    def changed(self, kind: str, subject: JobInfo | TaskInfo) -> None:
        if kind == "enqueued" and self.action == "enqueue":
            self._answered(True)
            self.queues.admitted(subject)

    def _answered(self, admitted: bool) -> None:
        if self.asked is not None and self.asked[1] not in (admitted, None):
            self.problems.append(f"job {self.asked[0].uid} is {'' if admitted else 'not '}admitted")
        self.asked = None

    # -- nodes -----------------------------------------------------------------------------------

    def chose(self, task: TaskInfo, nodes: Sequence[NodeInfo], node: NodeInfo | None,
              errors: Any) -> None:
        if node is not None and len(self._counted(node)) >= node.allocatable.get("pods"):
            self.problems.append(f"{task.key} is placed on {node.name}, which is full of pods")
        if self.action not in ("allocate", "backfill"):
            return
        self.problems += self._order_problems(task)
        pods = {other.name: self._counted(other) for other in self.ssn.node_list}
        fitting = [other for other in nodes
                   if task.init_resreq.less_equal(other.future_idle, ZERO)
                   and self._is_allowed(task, other, pods)]
        if node is None:
            if fitting and not (task.pod.spec.affinity or task.pod.status.nominated_node_name):
                self.problems.append(f"{task.key} fits on {fitting[0].name}, and is not placed")
            return
        if task.pod.status.nominated_node_name:
            return
        now = [other for other in fitting if task.init_resreq.less_equal(other.idle, ZERO)]
        if node not in (among := now if now and self.action == "allocate" else fitting):
            self.problems.append(f"{task.key} is placed on {node.name}, and others fit before it")
            return
        points = node_rules.scores(self.ssn, task, among, pods)
        if points is not None and points[node.name] < max(points.values()) - 1e-6:
            self.problems.append(f"{task.key} is placed on {node.name}, the scores are {points}")

    def _order_problems(self, task: TaskInfo) -> Iterator[str]:
        """No task of the job that has not been tried comes before this one, unless the queue may
        not have it, or one of its role has found no node.
        """
        job, queue = self.ssn.jobs[task.job], self.ssn.queues[self.ssn.jobs[task.job].queue]
        self.placed.add(task.uid)
        if (key := rules.task_key(self.ssn, task)) is None or self.action != "allocate":
            return
        yield from (f"{task.key} is placed before {other.key}" for other in job.tasks.values()
                    if other.status == PENDING and other.uid not in self.placed
                    and not other.best_effort and not other.sch_gated
                    and other.uid not in job.nodes_fit_errors
                    and rules.task_key(self.ssn, other) < key
                    and self.ssn.allocatable(queue, other))

    def _is_allowed(self, task: TaskInfo, node: NodeInfo, pods: node_rules.Pods) -> bool:
        """Return whether the plugins allow a node; compare them with the rules, which have none
        of volumes.
        """
        allowed = self.ssn.predicate_for_allocate(task, node) is None
        refusal = node_rules.refusal(self.ssn, task, node, pods)
        if (allowed and refusal) or not (allowed or refusal or task.pod.spec.volumes):
            self.problems.append(f"{task.key} is {'' if allowed else 'not '}allowed on "
                                 f"{node.name}: {refusal or 'no rule refuses it'}")
        return allowed

    def _counted(self, node: NodeInfo) -> list[Any]:
        """Return the pods that count on a node: not those evicted in this session."""
        return [task.pod for task in node.tasks.values()
                if task.status != RELEASING or task.uid in self.leaving]

    def note(self, kind: str, /, **facts: Any) -> None:
        if kind == "victims" and facts.get("action") == "shuffle":
            if "rescheduling" in self.ssn.plugins:
                return
            self.problems += rules.shuffle_problems(self.ssn, facts["chosen"])
        elif kind == "victims":
            self.problems += self._victim_problems(**facts)
        elif kind == "prepared":
            self.problems += self._chosen_by_trial(**facts)
        elif kind == "claimant":
            self.tried.clear()
            if self.overused and self.action == "reclaim":
                self.problems.append(f"queue {self.overused} reclaims and has all it deserves")
        elif kind == "passed_over" and facts.get("reason") == "overused":
            if self.overused != facts["queue"]:
                self.problems.append(f"queue {facts['queue']} is passed over and not overused")
            self.overused = ""
        elif kind == "hyper_node_chosen":
            scores = facts["scores"]
            best = min(scores, key=lambda name: (-scores[name], name))
            if facts["hyper_node"] not in (best, None):
                self.problems.append(f"HyperNode {facts['hyper_node']} is chosen before {best}")
