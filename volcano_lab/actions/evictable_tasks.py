"""Where evictions help at all, for all nodes at once, so that no plugin is called for the others.
Decisions are the same without it.

Volcano: none
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np

from volcano_lab.actions.evictions import suffices, tasks_of
from volcano_lab.actions.searches import suffices_in
from volcano_lab.api import Memo, NodeInfo, Resource, RowMemo, TaskInfo
from volcano_lab.framework import Session, node_arrays
from volcano_lab.framework.placement.arrays import LATER, fit_memo
from volcano_lab.messages import guard


class EvictableTasks:
    """By node the tasks that `accepts` selects, and whether evicting them could free enough, kept
    up to date.

    `victims` asks the extension point `point` which of them may be evicted. A node where plugins
    name none is not tried again in the same `attempt`, a period in which no eviction is undone. A
    plugin answers for one candidate by `…_alone`: one that it does not name alone is not named
    among others either, nor after more evictions. Where the first tiers name too few, whose plugins
    all set `victims_by_job`, a node is not tried again until a task of a job there, or on the node,
    is evicted, placed or restored.
    """

    def __init__(self, ssn: Session, point: str, accepts: Callable[[TaskInfo], bool]):
        self.ssn, self.accepts, self.ask = ssn, accepts, getattr(ssn, point)
        self._by_job, self._rest = ssn.points[point].unwatched(ssn).split(
            lambda plugin: getattr(ssn.plugins[plugin], "victims_by_job", False))
        plugins = [[ssn.plugins[plugin] for plugin, _ in tier] for tier in ssn.points[point].tiers]
        self._alone = [[getattr(plugin, f"{point}_alone") for plugin in tier
                        if hasattr(plugin, f"{point}_alone") and not guard.is_user_defined(plugin)]
                       for tier in plugins if tier]
        # by attempt and request, the rows where plugins name none
        self._hopeless: Memo[Any, np.ndarray] = Memo(lambda kind: np.zeros(ssn.table.count, bool))
        self._short: Memo[Any, ShortNodes] = Memo(lambda kind: ShortNodes(ssn))
        self._lists = RowMemo(ssn.table, lambda rows: np.full(len(rows), None), lambda row: None)
        self._sums = RowMemo(ssn.table, self._all_sums, self._sum)
        self._fits = Memo(self._fit_memo)

    def _sum(self, row: int) -> np.ndarray:
        """Return the summed requests of a node's tasks by column."""
        table, together = self.ssn.table, np.zeros(len(self.ssn.table.dimensions))
        for task in filter(self.accepts, self.ssn.node_list[row].tasks.values()):
            together += table.vector(task.resreq)[0]
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
        tasks: list[TaskInfo] = lists[node.row]
        return tasks

    def may_suffice(self, request: Resource) -> np.ndarray:
        """Return for each node whether a request would fit with all these tasks evicted: elsewhere
        no choice of victims helps.
        """
        return self._fits[request].current() >= LATER

    def promising(self, task: TaskInfo, attempt: int, rows: np.ndarray) -> Iterator[NodeInfo]:
        """Yield the nodes of some rows, without those where plugins name none or too few; lazily,
        as mostly the first one fits.
        """
        skip, short = self._hopeless[attempt, task.resreq], self._short_for(task)
        fits = node_arrays(self.ssn).fit(task.init_resreq)
        for row in rows.tolist():
            if (not skip[row] or fits[row] >= LATER) and not short.current()[row]:
                yield self.ssn.node_list[row]

    def victims(self, task: TaskInfo, attempt: int, node: NodeInfo,
                candidates: list[TaskInfo]) -> list[TaskInfo] | None:
        """Return the candidates that may be evicted, without a call where plugins name none; None
        where evicting them is not enough.
        """
        ssn, victims = self.ssn, []
        if ssn.observer.watches_victims(task.job):
            victims = self.ask(task, candidates)
        elif self._may_name(task, candidates):
            victims = self._by_job.ask(task, candidates)
            if victims and not suffices(task, node, victims):
                self._short_for(task).current()[node.row] = True
                return None
            victims = victims or self._rest.ask(task, candidates)
        else:
            self._hopeless[attempt, task.resreq][node.row] = True
        return victims if suffices_in(ssn, task, node, victims) else None

    def _short_for(self, task: TaskInfo) -> ShortNodes:
        """Return the nodes known for tasks with this request, of jobs with this priority; tasks of
        a job that has pods are no candidates for itself.
        """
        job = self.ssn.jobs[task.job]
        own = "" if job.allocated.is_empty() else job.uid
        return self._short[own, job.priority, task.resreq]

    def _may_name(self, task: TaskInfo, candidates: Collection[TaskInfo]) -> bool:
        """Return whether a tier may name a candidate: one plugin that names none ends its tier."""
        return any(all(any(alone(task, candidate) for candidate in candidates) for alone in tier)
                   for tier in self._alone)

    def _fit_memo(self, request: Resource) -> RowMemo:
        table = self.ssn.table
        table.vector(request)  # may add the column of a new resource
        if self._sums.values.shape[1] != len(table.dimensions):
            self._sums = RowMemo(table, self._all_sums, self._sum)
        return fit_memo(table, request, lambda: self._sums.current())


class ShortNodes:
    """Where too few victims are named for a task, by row, as long as nothing has changed there."""

    def __init__(self, ssn: Session):
        self.ssn, self._rows, self._seen = ssn, np.zeros(ssn.table.count, bool), len(ssn.moved)

    def current(self) -> np.ndarray:
        """Return the current rows, which a caller may add to."""
        moved, nodes = self.ssn.moved, self.ssn.nodes
        if self._seen < len(moved):
            for job, name in {*moved[self._seen:]} if self._rows.any() else ():
                names = [name, *{task.node_name for task in self.ssn.jobs[job].tasks.values()}]
                self._rows[[nodes[each].row for each in names if each in nodes]] = False
            self._seen = len(moved)
        return self._rows
