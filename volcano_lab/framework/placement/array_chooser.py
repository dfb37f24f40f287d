"""Finding a node for one task after the other, over arrays: decides the same as
`chooser.PlainChooser`.
"""

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
"""Scores further apart differ whatever is added to both."""

Group = tuple[str, str] | None
"""A job and a role whose tasks share what failed; None for a task that shares nothing."""


class ArrayChooser(PlainChooser):
    """As `PlainChooser`, over arrays: filters for one statement, and remembers by task role which
    nodes failed.
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
                self._failed[self._last_group].settle()  # another role is about to take room
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
        """The best node where the board tells; None leaves it to the full look, which also records
        who fails.
        """
        ranks = board.ranks.current()
        rows = self.arrays.rows(nodes)
        if group is not None:
            failed = self._failed.get(group)
            if failed is None:
                failed = self._failed[group] = Failed(self.arrays, nodes, board)
            elif failed.board is not board:
                return None
            failed.look(task)
        best = ranks.argmax() if rows is None else rows[ranks[rows].argmax()]
        if ranks[best] == -inf:
            return None
        if self.arrays.even in board.parts[
                2]:  # with what is left out, scores so close may round to the same
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
        room = arrays.room(task.init_resreq)
        fits = allowed & (room >= LATER) & among
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
        return self._best(task, arrays.rows(nodes), fits, room), NO_ERRORS

    def _best(self, task: TaskInfo, rows: np.ndarray | None, fits: np.ndarray,
              room: np.ndarray) -> NodeInfo:
        """The first of the highest scores among nodes with room now or, without any, among those
        with room later.
        """
        candidates = fits & (room == FITS)
        count = np.count_nonzero(candidates)
        if not count:
            candidates = fits
            count = np.count_nonzero(fits)
        if count == 1:
            best = candidates.argmax()
        else:
            scores = np.where(candidates, self.arrays.scores(task, candidates), -np.inf)
            best = scores.argmax() if rows is None else rows[scores[rows].argmax()]
        return self.ssn.node_list[best]


class Failed:
    """Where a role has failed in one statement: such nodes fail it for the rest of it, with the
    reason they had then.

    `board` ranks the nodes for the role as long as its tasks are alike. With it, the nodes that
    have failed are worked out only when somebody needs them (`settle`): a node that fails the role
    gets no more of its tasks, so that it stays as it was seen until another role takes room.
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
        """Why nodes have failed so far."""
        if self._errors is None:
            self._errors = ArrayFitErrors(self.arrays)
        return self._errors

    def look(self, task: TaskInfo) -> None:
        """Note that the nodes are looked at for a task of the role."""
        self._task, self._seen = self._task or task, len(self.arrays.table.changes)

    def settle(self) -> np.ndarray:
        """True for nodes on which the role had not failed at its last look."""
        changes, board, task = self.arrays.table.changes, self.board, self._task
        if task is None or board is None:
            return self._not_yet
        if (self._errors is None and self._first == len(changes)
                and self.arrays.rows(self.nodes) is None):
            self._errors = board.refusals(task).copy()  # the same for all tasks alike
            self._not_yet = board.fitting()
        else:
            news = self.arrays.inside(self.nodes) & ~board.fitting() & self._not_yet
            news[changes[self._seen :]] = False  # no task of the role has seen these yet
            self._record(task, news)
        return self._not_yet

    def record(self, task: TaskInfo, fits: np.ndarray, board: Board | None,
               among: np.ndarray) -> None:
        """A look over some nodes: those that don't fit have failed. A role whose tasks differ has
        no board any more.
        """
        if self.board is not board:
            self.board = None
        self._record(task, among & ~fits & self._not_yet)
        self.look(task)

    def _record(self, task: TaskInfo, news: np.ndarray) -> None:
        if np.count_nonzero(news):
            self.errors.record(task, news)
            self._not_yet &= ~news


def _only(row: int, size: int) -> np.ndarray:
    mask = np.zeros(size, dtype=bool)
    mask[row] = True
    return mask


NO_ERRORS = FitErrors()
"""What goes with a node that was found: nobody looks at it."""


def node_chooser(ssn: Session, use_cache: bool = True) -> PlainChooser:
    """A chooser for one statement: over arrays where the session allows it, else node by node."""
    return ArrayChooser(ssn, node_arrays(ssn), use_cache) if ssn.use_arrays else PlainChooser(
        ssn, use_cache)
