"""Allocating a job whose network topology must hold: dry runs in one HyperNode after the other.

Answers to `allocateForJob`, `allocateForSubJob` of `pkg/scheduler/actions/allocate/allocate.go` and to `recorder.go`.
Each candidate HyperNode is tried with a statement that is saved and discarded; the best one is recovered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from volcano_lab.actions.worksheet import JobWorksheet
from volcano_lab.api.job import JobInfo
from volcano_lab.api.sub_job import SubJobInfo
from volcano_lab.api.task import TaskInfo
from volcano_lab.framework.priority_queue import PriorityQueue
from volcano_lab.framework.session import Session
from volcano_lab.framework.statement import Operation, Statement, StatementError, save_operations
from volcano_lab.framework.topology import CLUSTER_TOP

AllocateTasks = Callable[[SubJobInfo, PriorityQueue[TaskInfo], str], Statement | None]


class TopologyAllocator:
    """`decided` and `decided_sub_jobs` keep, for each job, where it and (for each HyperNode tried) its sub-jobs go."""

    def __init__(self, ssn: Session, allocate_tasks: AllocateTasks):
        self.ssn, self.allocate_tasks = ssn, allocate_tasks
        self.decided: dict[str, str] = {}
        self.decided_sub_jobs: dict[str, dict[str, dict[str, str]]] = {}

    def allocate_for_job(self, job: JobInfo, worksheet: JobWorksheet) -> Statement | None:
        """A statement, done and not yet committed, in the best HyperNode of the first gradient that has any."""
        ssn = self.ssn
        if not worksheet:
            return None
        before = {uid: job.sub_jobs[uid].allocated_hyper_node for uid in worksheet.tasks}
        for hyper_nodes in self._gradients(ssn.hyper_node_gradient_for_job, job, ssn.hyper_nodes[CLUSTER_TOP]):
            solutions: dict[str, tuple[list[Operation], JobWorksheet]] = {}
            scores: dict[str, float] = {}
            for hyper_node in hyper_nodes:
                job.reset_fit_err()
                trial = worksheet.clone()
                statements, score = self._try_job(job, trial, hyper_node)
                for uid, allocated in before.items():
                    job.sub_jobs[uid].allocated_hyper_node = allocated
                saved = save_operations(*statements)
                if not saved:
                    continue
                if ssn.job_ready(job) or ssn.job_pipelined(job):
                    solutions[hyper_node.name] = saved, trial
                    scores[hyper_node.name] = score
                for statement in statements:
                    statement.discard()
            if not scores:
                continue
            best = first_highest(scores)
            if ssn.observer is not None:
                ssn.observer.note("hyper_node_for_job", job=job.uid, scores=scores, best=best)
            statement = self._recover(solutions[best][0])
            if statement is None:
                return None
            worksheet.take_over(solutions[best][1])
            self.decided[job.uid] = best
            return statement
        return None

    def _try_job(self, job: JobInfo, worksheet: JobWorksheet, hyper_node: Any) -> tuple[list[Statement], float]:
        """Place sub-job after sub-job until the job is ready; (their statements, the sum of their scores)."""
        ssn, statements, total = self.ssn, [], 0.0
        while worksheet.sub_jobs:
            sub_job = worksheet.sub_jobs.pop()
            statement, score = self._allocate_for_sub_job(sub_job, worksheet, hyper_node)
            if statement is not None and statement.operations:
                statements.append(statement)
                total += score
                if worksheet.tasks[sub_job.uid]:
                    worksheet.sub_jobs.push(sub_job)
                if ssn.job_ready(job):
                    break
        return statements, total

    def _allocate_for_sub_job(self, sub_job: SubJobInfo, worksheet: JobWorksheet, hyper_node_for_job: Any) -> tuple[Statement | None, float]:
        ssn = self.ssn
        job, tasks = ssn.jobs[sub_job.job], worksheet.tasks.get(sub_job.uid)
        if not tasks:
            return None, 0.0
        for hyper_nodes in self._gradients(ssn.hyper_node_gradient_for_sub_job, sub_job, hyper_node_for_job):
            solutions: dict[str, tuple[list[Operation], PriorityQueue[TaskInfo]]] = {}
            for hyper_node in hyper_nodes:
                job.reset_sub_job_fit_err(sub_job.uid)
                trial = tasks.clone()
                statement = self.allocate_tasks(sub_job, trial, hyper_node.name)
                if statement is not None and statement.operations:
                    solutions[hyper_node.name] = save_operations(statement), trial
                    statement.discard()
            if not solutions:
                continue
            best, score = self._best_hyper_node(solutions, sub_job)
            statement = self._recover(solutions[best][0])
            if statement is None:
                return None, 0.0
            allocated = ssn.hyper_nodes.lowest_common_ancestor(sub_job.allocated_hyper_node, best)
            sub_job.allocated_hyper_node = allocated
            worksheet.tasks[sub_job.uid] = solutions[best][1]
            decisions = self.decided_sub_jobs.setdefault(sub_job.job, {}).setdefault(hyper_node_for_job.name, {})
            decisions[sub_job.uid] = allocated
            return statement, score
        return None, 0.0

    def _gradients(self, point: Callable[..., Any], what: Any, hyper_node: Any) -> list[list[Any]]:
        """HyperNodes to try, the better ones first; the one at hand where no plugin grades them."""
        gradients = point(what, hyper_node)
        return [[hyper_node]] if gradients is None else gradients

    def _best_hyper_node(self, solutions: dict[str, Any], sub_job: SubJobInfo) -> tuple[str, float]:
        candidates = {name: self.ssn.real_nodes_list[name] for name in sorted(solutions)}
        totals = dict.fromkeys(candidates, 0.0)
        by_plugin = self.ssn.hyper_node_order(sub_job, candidates)
        for _, scores in sorted(by_plugin.items()):
            for name, score in scores.items():
                if name in totals:
                    totals[name] += score
        best = first_highest(totals)
        if self.ssn.observer is not None:
            self.ssn.observer.note("hyper_node_for_sub_job", sub_job=sub_job.uid, scores=totals, best=best)
        return best, totals[best]

    def _recover(self, saved: list[Operation]) -> Statement | None:
        statement = self.ssn.statement()
        try:
            statement.recover(saved)
        except StatementError as error:
            self.ssn.log.error("%s", error)
            return None
        return statement

    def record_decision(self, job: JobInfo) -> None:
        """Write down on the job, and on its sub-jobs, the HyperNode that now holds all they have."""
        decided = self.decided.get(job.uid)
        if not decided:
            return
        lca = self.ssn.hyper_nodes.lowest_common_ancestor
        job.allocated_hyper_node = lca(job.allocated_hyper_node, decided)
        for uid, hyper_node in self.decided_sub_jobs.get(job.uid, {}).get(decided, {}).items():
            sub_job = job.sub_jobs[uid]
            sub_job.allocated_hyper_node = lca(sub_job.allocated_hyper_node, hyper_node)


def first_highest(scores: dict[str, float]) -> str:
    """The name with the highest score; among equals the first in ascending order.

    >>> first_highest({"b": 1.0, "a": 1.0, "c": 0.5})
    'a'
    """
    return min(scores, key=lambda name: (-scores[name], name))
