"""Plugins' answers for all nodes at once, recorded only where they changed.

Equal tasks share the answers for a node until something on that node changes, so usually one row is
new. Where placements elsewhere matter, too (pod affinity, scores that compare nodes), everything is
recomputed and compared with the last record.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import define

from volcano_lab.api import NodeInfo, NodeList, TaskInfo
from volcano_lab.framework.placement.arrays import FITS, LATER, Board, ByRow, NodeArrays

FIT = "fit"
Look = tuple[int, list[int], dict[str, list[Any]]]


@define(slots=True)
class _Shown:
    """What is recorded for equal tasks: their number, the last change seen, and the plugins of each
    column.
    """

    board: Board  # kept so that its id stays its own
    number: int
    parts: list[tuple[str, ByRow]]
    seen: int = 0


class NodeLog:
    """`look` returns (number of the kind of task, new rows, {column: values of those rows}).

    The columns are "fit" and "point plugin", such as "node_order binpack".
    """

    def __init__(self, arrays: NodeArrays):
        self.arrays = arrays
        points = arrays.ssn.points
        self.columns = [[f"{point} {plugin}" for tier in points[point].tiers for plugin, _ in tier]
                        for point in ("predicate", "node_order", "batch_node_order")]
        self._boards: dict[int, _Shown] = {}
        self._last: dict[str, np.ndarray] | None = None
        self._count = 1  # 0 is for tasks that share nothing

    def look(self, task: TaskInfo, nodes: Sequence[NodeInfo]) -> Look | None:
        """Return what is new for a task; None if plugins can't answer for all nodes at once."""
        board = self.arrays.board(task)
        if board is None:
            return self._compare(task, nodes)
        shown = self._boards.get(id(board))
        table = self.arrays.table
        if shown is None:
            named = zip(self.columns, board.parts, strict=True)
            parts = [pair for names, parts in named for pair in zip(names, parts, strict=True)]
            shown = self._boards[id(board)] = _Shown(board, self._count, parts)
            self._count += 1
            rows, values = list(range(table.count)), {
                column: np.full(table.count, part.nodes()).tolist() for column, part in parts}
        else:
            rows = sorted(set(table.changes[shown.seen :]))
            values = {column: [_number(part.row(row)) for row in rows]
                      for column, part in shown.parts}
        shown.seen = len(table.changes)
        fit = np.maximum(shown.board.fit.current()[rows], 0)
        return shown.number, rows, {FIT: fit.tolist()} | values

    def _compare(self, task: TaskInfo, nodes: Sequence[NodeInfo]) -> Look | None:
        now = self._compute(task, nodes)
        if now is None:
            return None
        known, self._last = self._last, now
        different = np.full(self.arrays.table.count, known is None)
        if known is not None:
            for column, values in now.items():
                different |= known[column] != values
        rows = np.flatnonzero(different)
        return 0, rows.tolist(), {column: values[rows].tolist() for column, values in now.items()}

    def _compute(self, task: TaskInfo, nodes: Sequence[NodeInfo]) -> dict[str, np.ndarray] | None:
        arrays, count = self.arrays, self.arrays.table.count
        assert isinstance(nodes, NodeList)
        filters, orders, batches = self.columns
        fit = np.maximum(arrays.fit(task.init_resreq), 0)
        now, fits = {FIT: fit}, arrays.inside(nodes) & (fit >= LATER)
        for column, predicate in zip(filters, arrays.predicates, strict=True):
            allowed = predicate(task)
            if allowed is None:
                return None
            now[column] = np.full(count, allowed)
            fits = fits & allowed
        candidates = fits & (fit == FITS)
        candidates = candidates if candidates.any() else fits
        if not candidates.any():
            return now | {column: np.zeros(count) for column in (*orders, *batches)}
        for column, score in zip(orders, arrays.orders, strict=True):
            now[column] = np.full(count, score(task))
        for column, score in zip(batches, arrays.batches, strict=True):
            now[column] = np.full(count, score(task, candidates))
        return now


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
