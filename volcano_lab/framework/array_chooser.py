"""Finding a node for one task after the other, over arrays: decides the same as `node_chooser.PlainChooser`."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from attrs import define

from volcano_lab.api.fit_error import FitErrors
from volcano_lab.api.node import NodeInfo
from volcano_lab.api.task import TaskInfo
from volcano_lab.framework.array_fit_errors import ArrayFitErrors
from volcano_lab.framework.node_arrays import FITS, NEVER, Board, NodeArrays, node_arrays
from volcano_lab.framework.node_chooser import PlainChooser

if TYPE_CHECKING:
    from volcano_lab.framework.session import Session

Group = tuple[str, str] | None
"""A job and a role whose tasks share what failed; None for a task that shares nothing."""


class ArrayChooser(PlainChooser):
    """As `PlainChooser`, over arrays: filters for one statement, and remembers by task role which nodes failed."""

    def __init__(self, ssn: Session, arrays: NodeArrays, use_cache: bool = True):
        super().__init__(ssn, use_cache)
        self.arrays = arrays
        self._failed: dict[Group, Failed] = {}

    def choose(self, task: TaskInfo, nodes: Sequence[NodeInfo]) -> tuple[NodeInfo | None, FitErrors]:
        if task.pod.status.nominated_node_name:
            return super().choose(task, nodes)
        group = (task.job, task.task_role) if self.use_cache and task.task_role else None
        board = self.arrays.board(task)
        if board is not None:
            node = self._best_on_board(board, task, nodes, group)
            if node is not None:
                return node, NO_ERRORS
        return self._choose(task, nodes, group, board)

    def _best_on_board(self, board: Board, task: TaskInfo, nodes: Sequence[NodeInfo], group: Group) -> NodeInfo | None:
        """The best node where the board tells; None leaves it to the full look, which also records who fails."""
        ranks = board.ranks.current()
        rows = self.arrays.rows(nodes)
        if group is not None:
            failed = self._failed.get(group)
            if failed is None or failed.board is not board:
                return None
            changes = self.arrays.table.changes
            for row in changes[failed.seen :]:
                if failed.not_yet[row] and self.arrays.inside(nodes)[row] and not board.fits(row):
                    failed.add(task, row)
            failed.seen = len(changes)
        best = ranks.argmax() if rows is None else rows[ranks[rows].argmax()]
        if ranks[best] == -inf or (group is not None and not failed.not_yet[best]):
            return None
        return self.ssn.node_list[best]

    def _choose(self, task: TaskInfo, nodes: Sequence[NodeInfo], group: Group, board: Board | None) -> tuple[NodeInfo | None, FitErrors]:
        arrays = self.arrays
        allowed = arrays.allowed(task)
        if allowed is None:
            return super().choose(task, nodes)
        rows = arrays.rows(nodes)
        room = arrays.room(task.init_resreq)
        fits = allowed & (room != NEVER)
        if rows is not None:
            fits &= arrays.inside(nodes)
        failed = self._failed.get(group)
        if failed is not None:
            fits &= failed.not_yet
        if group is not None:
            failed = self._remember(task, nodes, group, fits, board)
        if not fits.any():
            return None, self._errors(task, nodes, failed)
        if board is not None and failed is not None and failed.board is board:
            node = self._best_on_board(board, task, nodes, group)
            if node is not None:
                return node, NO_ERRORS
        return self._best(task, rows, fits, room), NO_ERRORS

    def _best(self, task: TaskInfo, rows: np.ndarray | None, fits: np.ndarray, room: np.ndarray) -> NodeInfo:
        """The first of the highest scores among nodes with room now or, without any, among those with room later."""
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

    # -- what failed, and why ----------------------------------------------------------------------

    def _remember(self, task: TaskInfo, nodes: Sequence[NodeInfo], group: Group, fits: np.ndarray, board: Board | None) -> Failed:
        """Nodes that fail a role once fail it for the rest of the statement, with the reason they had then.

        The board goes on from here; a role whose tasks differ has none.
        """
        failed = self._failed.get(group)
        if failed is None:
            failed = self._failed[group] = Failed(np.ones(len(fits), dtype=bool), ArrayFitErrors(self.arrays), board)
        elif failed.board is not board:
            failed.board = None
        news = self.arrays.inside(nodes) & ~fits & failed.not_yet
        if news.any():
            failed.errors.record(task, news)
            failed.not_yet = failed.not_yet & ~news
        failed.seen = len(self.arrays.table.changes)
        return failed

    def _errors(self, task: TaskInfo, nodes: Sequence[NodeInfo], failed: Failed | None) -> FitErrors:
        if failed is not None:
            return failed.errors.copy()
        errors = ArrayFitErrors(self.arrays)
        errors.record(task, self.arrays.inside(nodes))
        return errors


@define(slots=True)
class Failed:
    """What a role has failed on in this statement: nodes not among them, the reasons.

    `board` ranks the nodes for the role as long as its tasks are alike, `seen` counts the changes taken into account.
    """

    not_yet: np.ndarray
    errors: ArrayFitErrors
    board: Board | None
    seen: int = 0

    def add(self, task: TaskInfo, row: int) -> None:
        """One more node has come to fail."""
        news = np.zeros(len(self.not_yet), dtype=bool)
        news[row] = True
        self.errors.record(task, news)
        self.not_yet[row] = False


NO_ERRORS = FitErrors()
"""What goes with a node that was found: nobody looks at it."""


def node_chooser(ssn: Session, use_cache: bool = True) -> PlainChooser:
    """A chooser for one statement: over arrays where the session allows it, else node by node."""
    return ArrayChooser(ssn, node_arrays(ssn), use_cache) if ssn.use_arrays else PlainChooser(ssn, use_cache)
