"""What reclaim and preempt share: which tasks may evict, which tasks on a node are evictable, and
whether evicting them is enough.

`EvictableTasks` has no counterpart there: it computes for all nodes at once where no eviction
helps, so that plugins are not called for those.

Volcano: pkg/scheduler/util/scheduler_helper.go (ValidateVictims),
pkg/scheduler/actions/reclaim/reclaim.go, pkg/scheduler/actions/preempt/preempt.go
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np

from volcano_lab.api import MIN_RESOURCE, PENDING, JobInfo, NodeInfo, Resource, TaskInfo
from volcano_lab.api.node_table import Memo, RowMemo
from volcano_lab.framework import (
    PriorityQueue,
    Session,
    Statement,
    StatementError,
    node_arrays,
    unplace,
)
from volcano_lab.framework.placement.arrays import LATER, fit_memo
from volcano_lab.messages import guard

FAILURES = 8
"""After as many nodes without any victim for a task, one candidate of each job is checked."""


def admitted_jobs(ssn: Session) -> Iterator[JobInfo]:
    """Yield jobs that were admitted, are valid and have a queue: others may be evicted for them."""
    for job in ssn.jobs.values():
        if not job.is_pending() and ssn.job_valid(job) is None:
            yield job


def waiting_tasks(ssn: Session, job: JobInfo) -> PriorityQueue[TaskInfo]:
    """Return a job's pending tasks without scheduling gates, in task order."""
    return ssn.task_queue([task for _, task in sorted(job.in_status(PENDING).items())
                           if not task.sch_gated])


def never_preempts(task: TaskInfo) -> bool:
    """Return whether the pod's preemption policy is Never."""
    return task.pod.spec.preemption_policy == "Never"


def tasks_of(node: NodeInfo, accepts: Callable[[TaskInfo], bool]) -> list[TaskInfo]:
    """Return those of a node's tasks that `accepts` selects, by "namespace/name"."""
    return [task for _, task in sorted([item for item in node.tasks.items() if accepts(item[1])])]


def rows_where(ssn: Session, nodes: Sequence[NodeInfo], mask: np.ndarray) -> np.ndarray:
    """Return the rows of the nodes for which the mask (a boolean per row) holds, in their order."""
    if nodes is ssn.node_list:
        return mask.nonzero()[0]
    rows = np.array([node.row for node in nodes], np.intp)
    return rows[mask[rows]]


def nodes_at(ssn: Session, rows: np.ndarray) -> Iterator[NodeInfo]:
    """Yield the nodes of some rows; lazily, as mostly the first one fits."""
    return map(ssn.node_list.__getitem__, rows.tolist())


def suffices(task: TaskInfo, node: NodeInfo, victims: Sequence[TaskInfo]) -> bool:
    """Return whether a task fits a node's future idle resources with the victims evicted.

    It may fit without any victim, too: those evicted for an earlier task may have freed more than
    that task requested.
    """
    idle = node.future_idle
    for name, amount in task.init_resreq.items:
        left = idle.get(name)
        for victim in victims:
            left += victim.resreq.get(name)
        if amount - left >= MIN_RESOURCE:
            return False
    return True


def note_victims(ssn: Session, action: str, task: TaskInfo, node: NodeInfo,
                 chosen: Iterable[TaskInfo], candidates: Iterable[TaskInfo] | None = None) -> None:
    """Report to the observer the victims on a node for a task, and their candidates."""
    if ssn.observer.watching:
        among = {} if candidates is None else {"candidates": [victim.key for victim in candidates]}
        ssn.observer.note("victims", action=action, task=task.key, node=node.name, **among,
                          chosen=[victim.key for victim in chosen])


def pipeline(statement: Statement, task: TaskInfo, node: str, evicted: bool) -> None:
    """Pipeline a task onto a node; on failure log the error and undo it."""
    try:
        statement.pipeline(task, node, evicted)
    except StatementError as error:
        statement.ssn.log.error("%s", error)
        unplace(statement.ssn, task)


class EvictableTasks:
    """By node the tasks that `accepts` selects, and whether evicting them could free enough, kept
    up to date.

    `victims` asks the extension point `point` which of them may be evicted. A node where plugins
    name none is not tried again in the same `attempt`, a period in which no eviction is undone. A
    plugin answers for one candidate by `…_alone`: one that it does not name alone is not named
    among others either, nor after more evictions.
    """

    def __init__(self, ssn: Session, point: str, accepts: Callable[[TaskInfo], bool]):
        self.ssn, self.accepts, self.ask = ssn, accepts, getattr(ssn, point)
        self._unwatched = ssn.points[point].unwatched(ssn).ask
        plugins = [[ssn.plugins[plugin] for plugin, _ in tier] for tier in ssn.points[point].tiers]
        self._alone = [[getattr(plugin, f"{point}_alone") for plugin in tier
                        if hasattr(plugin, f"{point}_alone") and not guard.is_user_defined(plugin)]
                       for tier in plugins if tier]
        self._hopeless = Memo(lambda kind: np.zeros(ssn.table.count, bool))
        self._last, self._failures = "", 0  # the last task, and its nodes without any victim
        self._lists = RowMemo(ssn.table, lambda rows: np.full(len(rows), None), lambda row: None)
        self._sums = RowMemo(ssn.table, self._all_sums, self._sum)
        self._fits = Memo(self._fit_memo)

    def _sum(self, row: int) -> np.ndarray:
        """Return the summed requests of a node's tasks by column."""
        tasks = filter(self.accepts, self.ssn.node_list[row].tasks.values())
        table, together = self.ssn.table, np.zeros(len(self.ssn.table.dimensions))
        for request, count in Counter([task.resreq for task in tasks]).items():
            together += table.vector(request)[0] * count
        return together

    def _all_sums(self, rows: np.ndarray) -> np.ndarray:
        sums = [self._sum(row) for row in rows.tolist()]
        return np.array(sums).reshape(len(sums),
                                      len(self.ssn.table.dimensions))  # also without any node

    def on(self, node: NodeInfo) -> list[TaskInfo]:
        """Return the tasks on one node, by "namespace/name"."""
        lists = self._lists.current()
        if lists[node.row] is None:
            lists[node.row] = tasks_of(node, self.accepts)
        return lists[node.row]

    def may_suffice(self, request: Resource) -> np.ndarray:
        """Return for each node whether a request would fit with all these tasks evicted: elsewhere
        no choice of victims helps.
        """
        return self._fits[request].current() >= LATER

    def promising(self, task: TaskInfo, attempt: int, rows: np.ndarray) -> Iterator[NodeInfo]:
        """Yield the nodes of some rows, without those where plugins name none; lazily, as mostly
        the first one fits.
        """
        skip = self._hopeless[attempt, task.resreq, task.best_effort]
        fits = node_arrays(self.ssn).fit(task.init_resreq)
        for row in rows.tolist():
            if not skip[row] or fits[row] >= LATER:
                yield self.ssn.node_list[row]

    def victims(self, task: TaskInfo, attempt: int, node: NodeInfo,
                candidates: list[TaskInfo]) -> list[TaskInfo]:
        """Return the candidates that may be evicted, without a call where plugins name none."""
        if self.ssn.observer.watches_victims(task.job):
            return self.ask(task, candidates)
        if self._may_name(task, candidates):
            return self._unwatched(task, candidates)
        hopeless = self._hopeless[attempt, task.resreq, task.best_effort]
        hopeless[node.row] = True
        self._failures = self._failures + 1 if self._last == task.uid else 1
        self._last = task.uid
        if self._failures == FAILURES:
            hopeless |= not self._may_name(task, self._of_each_job)
        return []

    def _may_name(self, task: TaskInfo, candidates: Collection[TaskInfo]) -> bool:
        """Return whether a tier may name a candidate: one plugin that names none ends its tier."""
        for tier in self._alone:
            for alone in tier:
                for candidate in candidates:
                    if alone(task, candidate):
                        break
                else:
                    break
            else:
                return True
        return False

    @cached_property
    def _of_each_job(self) -> Collection[TaskInfo]:
        """One task of each job and request."""
        return {(task.job, task.resreq): task for node in self.ssn.node_list
                for task in filter(self.accepts, node.tasks.values())}.values()

    def _fit_memo(self, request: Resource) -> RowMemo:
        table = self.ssn.table
        table.vector(request)  # may add the column of a new resource
        if self._sums.values.shape[1] != len(table.dimensions):
            self._sums = RowMemo(table, self._all_sums, self._sum)
        return fit_memo(table, request, lambda: self._sums.current())
