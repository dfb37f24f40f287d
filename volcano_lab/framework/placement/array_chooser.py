"""Find a node for one task after the other, over arrays; decides as `chooser.PlainChooser` does."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from volcano_lab.api import FitErrors, NodeInfo, NodeList, TaskInfo
from volcano_lab.framework.placement.arrays import FITS, LATER, Board, NodeArrays, node_arrays
from volcano_lab.framework.placement.chooser import PlainChooser
from volcano_lab.framework.placement.fit_errors import ArrayFitErrors

if TYPE_CHECKING:
    from volcano_lab.framework.session import Session

CLOSE = 1e-6
"""Scores further apart stay different whatever is added to both."""

Group = tuple[str, str] | None
"""A job and a role whose tasks share failures; None for a task that shares none."""


class ArrayChooser(PlainChooser):
    """A `PlainChooser` over arrays: filters for one statement, and caches by task role the nodes
    that failed.
    """

    def __init__(self, ssn: Session, arrays: NodeArrays, use_cache: bool = True):
        super().__init__(ssn, use_cache)
        self.arrays = arrays
        self._failed: dict[Group, Failed] = {}
        self._last_group: Group = None

    def choose(self, task: TaskInfo, nodes: NodeList) -> tuple[NodeInfo | None, FitErrors]:
        group = (task.job, task.task_role) if self.use_cache and task.task_role else None
        board = self.arrays.board(task, nodes)
        if group != self._last_group:
            if self._last_group in self._failed:
                self._failed[self._last_group].settle()  # another role takes resources next
            self._last_group = group
        nominated = self.nominated(task)
        if nominated is not None:
            node, errors = self._choose(task, nodes, group, None,
                                        _only(nominated.row, self.arrays.table.count))
            if node is not None:
                return node, errors
        elif board is not None:
            node = self._best_on_board(board, task, nodes, group)
            if node is not None:
                return node, NO_ERRORS
        return self._choose(task, nodes, group, board)

    def _best_on_board(self, board: Board, task: TaskInfo, nodes: NodeList,
                       group: Group) -> NodeInfo | None:
        """Return the best node by the board; None where all nodes must be filtered, which also
        records failures.
        """
        ranks = board.ranks.current()
        rows = self.arrays.rows(nodes)
        if group is not None:
            failed = self._failed.get(group)
            if failed is None:
                failed = self._failed[group] = Failed(self.arrays, nodes, board)
            elif failed.board is not board:
                return None
            failed.tried(task)
        best = ranks.argmax() if rows is None else rows[ranks[rows].argmax()]
        if ranks[best] == -inf:
            return None
        if self.arrays.even in board.parts[
                2]:  # with `even` scores omitted, scores so close may round to the same
            inside = ranks if rows is None else ranks[rows]
            if np.count_nonzero((inside < ranks[best]) & (inside > ranks[best] - CLOSE)):
                return None
        return self.ssn.node_list[best]

    def _choose(self, task: TaskInfo, nodes: NodeList, group: Group, board: Board | None,
                among: np.ndarray | None = None) -> tuple[NodeInfo | None, FitErrors]:
        arrays = self.arrays
        allowed = arrays.allowed(task)
        if allowed is None:
            return super().choose(task, nodes)
        among = arrays.inside(nodes) if among is None else among
        fit = arrays.fit(task.init_resreq)
        fits = allowed & (fit >= LATER) & among
        failed = self._failed.get(group)
        if group is not None:
            if failed is None:
                failed = self._failed[group] = Failed(arrays, nodes, board)
            fits &= failed.settle()
            failed.record(task, fits, board, among)
        if not np.count_nonzero(fits):  # here and below: any() takes several times as long
            if failed is not None:
                return None, failed.errors.copy()
            errors = ArrayFitErrors(arrays)
            errors.record(task, among)
            return None, errors
        return self._best(task, arrays.rows(nodes), fits, fit), NO_ERRORS

    def _best(self, task: TaskInfo, rows: np.ndarray | None, fits: np.ndarray,
              fit: np.ndarray) -> NodeInfo:
        """Return the first of the highest scores among nodes where the task fits idle resources or,
        without any, future idle ones.
        """
        candidates = fits & (fit == FITS)
        count = np.count_nonzero(candidates)
        if not count:
            candidates = fits
            count = np.count_nonzero(fits)
        if count == 1:
            best = int(candidates.argmax())
        else:
            scores = np.where(candidates, self.arrays.scores(task, candidates), -np.inf)
            best = int(scores.argmax() if rows is None else rows[scores[rows].argmax()])
        return self.ssn.node_list[best]


class Failed:
    """Nodes on which a role failed in one statement: they fail it for the rest of the statement,
    for the same reason.

    `board` ranks the nodes for the role while its tasks are alike. With it, the failed nodes are
    computed only when needed (`settle`): a node that fails the role gets no more of its tasks, so
    it does not change until another role takes resources.
    """

    __slots__ = ("arrays", "nodes", "board", "_errors", "_first", "_not_yet", "_seen", "_task")

    def __init__(self, arrays: NodeArrays, nodes: NodeList, board: Board | None):
        self.arrays, self.nodes, self.board = arrays, nodes, board
        self._errors: ArrayFitErrors | None = None
        self._first = self._seen = len(arrays.table.changes)
        self._task: TaskInfo | None = None
        self._not_yet = np.ones(arrays.table.count, dtype=bool)

    @property
    def errors(self) -> ArrayFitErrors:
        """Return why nodes have failed so far."""
        if self._errors is None:
            self._errors = ArrayFitErrors(self.arrays)
        return self._errors

    def tried(self, task: TaskInfo) -> None:
        """Record that the nodes are tried for a task of the role."""
        self._task, self._seen = self._task or task, len(self.arrays.table.changes)

    def settle(self) -> np.ndarray:
        """Return True for nodes on which the role had not failed when last tried."""
        changes, board, task = self.arrays.table.changes, self.board, self._task
        if task is None or board is None:
            return self._not_yet
        if (self._errors is None and self._first == len(changes)
                and self.arrays.rows(self.nodes) is None):
            self._errors = board.refusals(task).copy()  # the same for all tasks alike
            self._not_yet = board.fitting()
        else:
            refused = self.arrays.inside(self.nodes) & ~board.fitting() & self._not_yet
            refused[changes[self._seen :]] = False  # no task of the role has been tried there since
            self._record(task, refused)
        return self._not_yet

    def record(self, task: TaskInfo, fits: np.ndarray, board: Board | None,
               among: np.ndarray) -> None:
        """Record the nodes that failed when some were tried. A role whose tasks differ loses its
        board.
        """
        if self.board is not board:
            self.board = None
        self._record(task, among & ~fits & self._not_yet)
        self.tried(task)

    def _record(self, task: TaskInfo, refused: np.ndarray) -> None:
        if np.count_nonzero(refused):
            self.errors.record(task, refused)
            self._not_yet &= ~refused


def _only(row: int, size: int) -> np.ndarray:
    mask = np.zeros(size, dtype=bool)
    mask[row] = True
    return mask


NO_ERRORS = FitErrors()
"""The errors returned with a node: unused."""


def node_chooser(ssn: Session, use_cache: bool = True) -> PlainChooser:
    """Return a chooser for one statement: over arrays if the session allows, else node by node."""
    return ArrayChooser(ssn, node_arrays(ssn), use_cache) if ssn.use_arrays else PlainChooser(
        ssn, use_cache)
