"""What plugins say of all nodes at once, written down only where it has changed. Answers to no Go file.

Tasks that are alike share what is said of a node until something on that node changes, so most of the time one row is
new. Where placements elsewhere matter, too (pod affinity, scores that compare nodes), everything is worked out once more
and compared with what was written last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from volcano_lab.api.node import NodeInfo
from volcano_lab.api.task import TaskInfo
from volcano_lab.framework.node_arrays import FITS, NEVER, Board, NodeArrays

ROOM = "room"


class NodeLog:
    """`look` gives (number of the kind of task, rows that are new, {column: values of those rows}).

    The columns are "room" and "point plugin", such as "node_order binpack".
    """

    def __init__(self, arrays: NodeArrays):
        self.arrays = arrays
        points = arrays.ssn.points
        self.columns = [[f"{point} {plugin}" for tier in points[point].tiers for plugin, _ in tier]
                        for point in ("predicate", "node_order", "batch_node_order")]
        self._boards: dict[int, tuple[Board, int, int]] = {}  # the board too: its id stays taken
        self._last: dict[str, np.ndarray] | None = None
        self._count = 1  # 0 stands for tasks that share nothing

    def look(self, task: TaskInfo, nodes: Sequence[NodeInfo]) -> tuple[int, list[int], dict[str, list[Any]]] | None:
        """What is new for a task; None where the plugins can't tell for all nodes."""
        board = self.arrays.board(task)
        if board is None:
            return self._compare(task, nodes)
        changes = self.arrays.table.changes
        _, number, seen = self._boards.get(id(board), (board, 0, 0))
        if not number:
            number, rows = self._count, list(range(self.arrays.table.count))
            self._count += 1
            columns = self._everywhere(board)
        else:
            rows = sorted(set(changes[seen:]))
            columns = self._on_rows(board, rows)
        self._boards[id(board)] = board, number, len(changes)
        return number, rows, columns

    def _everywhere(self, board: Board) -> dict[str, list[Any]]:
        named = zip(self.columns, board.parts, strict=True)
        return {ROOM: self.arrays.room(board.request).tolist(),
                **{column: np.broadcast_to(part.nodes(), self.arrays.table.count).tolist()
                   for names, parts in named for column, part in zip(names, parts, strict=True)}}

    def _on_rows(self, board: Board, rows: list[int]) -> dict[str, list[Any]]:
        room, named = self.arrays.room(board.request), zip(self.columns, board.parts, strict=True)
        return {ROOM: [int(room[row]) for row in rows],
                **{column: [_number(part.row(row)) for row in rows]
                   for names, parts in named for column, part in zip(names, parts, strict=True)}}

    def _compare(self, task: TaskInfo, nodes: Sequence[NodeInfo]) -> tuple[int, list[int], dict[str, list[Any]]] | None:
        now = self._work_out(task, nodes)
        if now is None:
            return None
        known, self._last = self._last, now
        if known is None:
            rows = np.arange(self.arrays.table.count)
        else:
            different = np.zeros(self.arrays.table.count, dtype=bool)
            for column, values in now.items():
                different |= known[column] != values
            rows = np.flatnonzero(different)
        return 0, rows.tolist(), {column: values[rows].tolist() for column, values in now.items()}

    def _work_out(self, task: TaskInfo, nodes: Sequence[NodeInfo]) -> dict[str, np.ndarray] | None:
        arrays, count = self.arrays, self.arrays.table.count
        filters, orders, batches = self.columns
        room = arrays.room(task.init_resreq).copy()
        now, fits = {ROOM: room}, arrays.inside(nodes) & (room != NEVER)
        for column, predicate in zip(filters, arrays.predicates, strict=True):
            allowed = predicate(task)
            if allowed is None:
                return None
            now[column] = np.array(np.broadcast_to(allowed, count))
            fits = fits & allowed
        candidates = fits & (room == FITS)
        candidates = candidates if candidates.any() else fits
        if not candidates.any():
            return now | {column: np.zeros(count) for column in (*orders, *batches)}
        for column, score in zip(orders, arrays.orders, strict=True):
            now[column] = np.array(np.broadcast_to(score(task), count))
        for column, score in zip(batches, arrays.batches, strict=True):
            now[column] = np.array(np.broadcast_to(score(task, candidates), count))
        return now


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
