"""Where evictions help at all, for all nodes at once, so that no plugin is called for the others.
Decisions are the same without it.

Volcano: none
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from functools import cached_property

import numpy as np

from volcano_lab.actions.evictions import tasks_of
from volcano_lab.api import NodeInfo, Resource, TaskInfo
from volcano_lab.api.node_table import Memo, RowMemo
from volcano_lab.framework import Session, node_arrays
from volcano_lab.framework.placement.arrays import LATER, fit_memo
from volcano_lab.messages import guard

FAILURES = 8
"""After as many nodes without any victim for a task, one candidate of each job is checked."""


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
        return any(all(any(alone(task, candidate) for candidate in candidates) for alone in tier)
                   for tier in self._alone)

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
