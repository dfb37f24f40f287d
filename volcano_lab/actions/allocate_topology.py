"""allocate for jobs with hard network topology: try HyperNodes, keep the best.

Each HyperNode that plugins list is tried with a statement that is saved and discarded; the best one
is recovered. Observers receive `hyper_node_tried` and `hyper_node_chosen`, with an empty `sub_job`
for those of the job.

Volcano: pkg/scheduler/actions/allocate/allocate.go (allocateForJob, allocateForSubJob),
pkg/scheduler/actions/allocate/recorder.go
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from volcano_lab.actions.job_plan import JobWorksheet
from volcano_lab.api import HyperNodeInfo, JobInfo, SubJobInfo, TaskInfo
from volcano_lab.framework import CLUSTER_TOP, Operation, PriorityQueue, Session, Statement
from volcano_lab.framework.statement import StatementError, save_operations

AllocateTasks = Callable[[SubJobInfo, PriorityQueue[TaskInfo], str], Statement | None]


class Placed(NamedTuple):
    """The best placement of a sub-job: HyperNode, its score, the statement, and the tasks left."""

    hyper_node: str
    score: float
    statement: Statement
    left: PriorityQueue[TaskInfo]


class TopologyAllocator:
    """Places jobs with hard topology; `decided` holds each job's HyperNode, `decided_sub_jobs` its
    sub-jobs' for each HyperNode tried.
    """

    def __init__(self, ssn: Session, allocate_tasks: AllocateTasks):
        self.ssn, self.allocate_tasks = ssn, allocate_tasks
        self.decided: dict[str, str] = {}
        self.decided_sub_jobs: dict[str, dict[str, dict[str, str]]] = {}

    # -- the job ---------------------------------------------------------------------------------

    def allocate_for_job(self, job: JobInfo, worksheet: JobWorksheet) -> Statement | None:
        """Return an uncommitted statement in the best HyperNode of the first gradient that fits."""
        ssn = self.ssn
        for hyper_nodes in ssn.hyper_node_gradient_for_job(
                job, ssn.topology.hyper_nodes[CLUSTER_TOP]):
            solutions: dict[str, tuple[list[Operation], JobWorksheet]] = {}
            scores: dict[str, float] = {}
            for hyper_node in hyper_nodes:
                job.nodes_fit_errors = {}
                trial = worksheet.clone()
                statements, score = self._try_job(job, trial, hyper_node)
                saved = save_operations(*statements)
                fits = bool(saved) and (ssn.job_ready(job) or ssn.job_pipelined(job))
                self.ssn.observer.note("hyper_node_tried", job=job.uid, sub_job="",
                                       hyper_node=hyper_node.name, fits=fits, operations=len(saved),
                                       score=score)
                if fits:
                    solutions[hyper_node.name], scores[hyper_node.name] = (saved, trial), score
                for statement in statements:
                    statement.discard()
            if not scores:
                continue
            best = first_highest(scores)
            self.ssn.observer.note("hyper_node_chosen", job=job.uid, sub_job="", hyper_node=best,
                                   scores=scores)
            recovered = self._recover(solutions[best][0]) if best is not None else None
            if best is not None and recovered is not None:
                done = solutions[best][1]
                worksheet.sub_jobs, worksheet.tasks = done.sub_jobs, done.tasks
                self.decided[job.uid] = best
            return recovered
        return None

    def _try_job(self, job: JobInfo, worksheet: JobWorksheet,
                 hyper_node: HyperNodeInfo) -> tuple[list[Statement], float]:
        """Place sub-job after sub-job until the job is ready; return their statements and the sum
        of their scores.
        """
        ssn, statements, total = self.ssn, [], 0.0
        before = {uid: job.sub_jobs[uid].allocated_hyper_node for uid in worksheet.tasks}
        while worksheet.sub_jobs:
            sub_job = worksheet.sub_jobs.pop()
            placed = self._allocate_for_sub_job(job, sub_job, worksheet, hyper_node)
            if placed is None:
                continue
            statements.append(placed.statement)
            total += placed.score
            if placed.left:
                worksheet.sub_jobs.push(sub_job)
            if ssn.job_ready(job):
                break
        for uid, allocated in before.items():  # a trial must not change the sub-jobs
            job.sub_jobs[uid].allocated_hyper_node = allocated
        return statements, total

    # -- its sub-jobs ------------------------------------------------------------------------------

    def _allocate_for_sub_job(self, job: JobInfo, sub_job: SubJobInfo, worksheet: JobWorksheet,
                              hyper_node_for_job: HyperNodeInfo) -> Placed | None:
        ssn, tasks = self.ssn, worksheet.tasks[sub_job.uid]
        for hyper_nodes in ssn.hyper_node_gradient_for_sub_job(sub_job, hyper_node_for_job):
            only_one = len(hyper_nodes) == 1 and not job.contains_sub_job_policy()
            if only_one and not ssn.observer.watches_calls:
                found, placed = self._place_in_only(job, sub_job, tasks, hyper_nodes[0])
            else:
                found, placed = self._place_in_best(job, sub_job, tasks, hyper_nodes)
            if placed is not None:
                allocated = ssn.topology.around(sub_job.allocated_hyper_node, placed.hyper_node)
                sub_job.allocated_hyper_node = allocated
                worksheet.tasks[sub_job.uid] = placed.left
                self.decided_sub_jobs.setdefault(job.uid, {}).setdefault(
                    hyper_node_for_job.name, {})[sub_job.uid] = allocated
            if found:
                return placed
        return None

    def _place_in_best(self, job: JobInfo, sub_job: SubJobInfo, tasks: PriorityQueue[TaskInfo],
                       hyper_nodes: list[HyperNodeInfo]) -> tuple[bool, Placed | None]:
        """Try all HyperNodes and place the sub-job again in the best one.

        Return whether any fits, and the placement; None where it cannot be placed again.
        """
        solutions: dict[str, tuple[list[Operation], PriorityQueue[TaskInfo]]] = {}
        for hyper_node in hyper_nodes:
            statement, left = self._try_sub_job(job, sub_job, tasks, hyper_node)
            if statement is not None:
                solutions[hyper_node.name] = save_operations(statement), left
                statement.discard()
        if not solutions:
            return False, None
        scores = self._scores(sub_job, solutions)
        best = first_highest(scores)
        self.ssn.observer.note("hyper_node_chosen", job=job.uid, sub_job=sub_job.uid,
                               hyper_node=best, scores=scores)
        recovered = self._recover(solutions[best][0]) if best is not None else None
        if best is None or recovered is None:
            return True, None
        return True, Placed(best, scores[best], recovered, solutions[best][1])

    def _place_in_only(self, job: JobInfo, sub_job: SubJobInfo, tasks: PriorityQueue[TaskInfo],
                       hyper_node: HyperNodeInfo) -> tuple[bool, Placed | None]:
        """Do as `_place_in_best` for a job without sub-group policies and a single HyperNode, in
        half the time.

        Volcano discards the operations and repeats them; here they are kept, and only counted as
        undone. The score depends on the state without them, so it is computed first.
        """
        scores = self._scores(sub_job, [hyper_node.name])
        statement, left = self._try_sub_job(job, sub_job, tasks, hyper_node)
        best = first_highest(scores)
        if statement is None:
            return False, None
        self.ssn.observer.note("hyper_node_chosen", job=job.uid, sub_job=sub_job.uid,
                               hyper_node=best, scores=scores)
        if best is None:
            statement.discard()
            return True, None
        self.ssn.undone += len(statement.operations)
        return True, Placed(best, scores[best], statement, left)

    def _try_sub_job(self, job: JobInfo, sub_job: SubJobInfo, tasks: PriorityQueue[TaskInfo],
                     hyper_node: HyperNodeInfo) -> tuple[Statement | None, PriorityQueue[TaskInfo]]:
        """Return the statement that places a sub-job, None where it does not fit, and the tasks
        left.
        """
        job.reset_sub_job_fit_err(sub_job.uid)
        left = tasks.clone()
        statement = self.allocate_tasks(sub_job, left, hyper_node.name)
        if statement is not None and not statement.operations:
            statement = None
        self.ssn.observer.note("hyper_node_tried", job=job.uid, sub_job=sub_job.uid,
                               hyper_node=hyper_node.name, fits=statement is not None,
                               operations=0 if statement is None else len(statement.operations))
        return statement, left

    # -- common ----------------------------------------------------------------------------------

    def _scores(self, sub_job: SubJobInfo, names: Any) -> dict[str, float]:
        """Return each HyperNode's score, summed over the plugins."""
        totals = dict.fromkeys(sorted(names), 0.0)
        by_plugin = self.ssn.hyper_node_order(
            sub_job, {name: self.ssn.topology.nodes.get(name, []) for name in totals})
        for _, scores in sorted(by_plugin.items()):
            for name, score in scores.items():
                if name in totals:
                    totals[name] += score
        return totals

    def _recover(self, saved: list[Operation]) -> Statement | None:
        statement = self.ssn.statement()
        try:
            statement.recover(saved)
        except StatementError as error:
            self.ssn.log.error("%s", error)
            return None
        return statement

    def record_decision(self, job: JobInfo) -> None:
        """Set on the job, and on its sub-jobs, the HyperNode that now holds all of their tasks."""
        decided, around = self.decided[job.uid], self.ssn.topology.around
        job.allocated_hyper_node = around(job.allocated_hyper_node, decided)
        for uid, hyper_node in self.decided_sub_jobs.get(job.uid, {}).get(decided, {}).items():
            sub_job = job.sub_jobs[uid]
            sub_job.allocated_hyper_node = around(sub_job.allocated_hyper_node, hyper_node)


def first_highest(scores: dict[str, float]) -> str | None:
    """Return the name with the highest score, among equals the first in ascending order; None where
    no score is a number.

    >>> first_highest({"b": 1.0, "a": 1.0, "c": 0.5})
    'a'
    """
    numbers = {name: score for name, score in scores.items() if score > float("-inf")}
    return min(numbers, key=lambda name: (-numbers[name], name), default=None)
