"""binpack: prefer the node that the task fills most. Answers to
`pkg/scheduler/plugins/binpack/binpack.go`.

Arguments: `binpack.weight`, `binpack.cpu`, `binpack.memory`, `binpack.resources` (names, comma
separated) and `binpack.resources.NAME`; each is a whole number and 1 unless given.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from volcano_lab.api.node import NodeInfo
from volcano_lab.api.node_table import RowMemo
from volcano_lab.api.resource import CPU, MEMORY, Resource
from volcano_lab.api.task import TaskInfo
from volcano_lab.framework.config.arguments import Arguments
from volcano_lab.framework.placement.arrays import ByRow
from volcano_lab.framework.plugin import Plugin, active_if
from volcano_lab.framework.session import Session

MAX_NODE_SCORE = 100


class Binpack(Plugin):
    """Scores from 0 to 100 x weight: the weighted mean, over the resources asked for, of how full
    the node would be.
    """

    name = "binpack"
    alike_by_template = True

    def __init__(self, arguments: Arguments | None = None):
        super().__init__(arguments)
        args = self.arguments
        self.weight = args.get_int("binpack.weight", 1)
        self.resources: dict[str, int] = {}
        for name in args.get_string("binpack.resources", "").split(","):
            if name.strip():
                self.resources[name.strip()] = _not_negative(
                    args.get_int(f"binpack.resources.{name.strip()}", 1))
        self.resources[CPU] = _not_negative(args.get_int("binpack.cpu", 1))
        self.resources[MEMORY] = _not_negative(args.get_int("binpack.memory", 1))

    def on_session_open(self, ssn: Session) -> None:
        self.table = ssn.table
        self._memos: dict[Resource, RowMemo] = {}
        self._alike: dict[Resource, ByRow] = {}

    @active_if("weight")
    def node_order(self, task: TaskInfo, node: NodeInfo) -> float:
        return binpacking_score(task.resreq, node.allocatable, node.used,
                                self.resources) * (MAX_NODE_SCORE * self.weight)

    def node_order_nodes(self, task: TaskInfo) -> np.ndarray:
        """`node_order` of every node in the session's order; not to be changed by the caller."""
        request = task.resreq
        memo = self._memos.get(request)
        if memo is None:
            rows, row = partial(self._score_rows, request), partial(self._score_row, request)
            memo = self._memos[request] = RowMemo(self.table, rows, row)
        return memo.current()

    def node_order_alike(self, task: TaskInfo) -> ByRow:
        """Tasks with equal requests are alike."""
        part = self._alike.get(task.resreq)
        if part is None:
            score = partial(self._score_row, task.resreq)
            part = self._alike[task.resreq] = ByRow(score, partial(self.node_order_nodes, task))
        return part

    def _score_row(self, request: Resource, row: int) -> float:
        table = self.table
        allocatable, used = table.allocatable[row].tolist(), table.used[row].tolist()
        score, weights = 0.0, 0
        for name in request.resource_names():
            weight = self.resources.get(name)
            if weight is None:
                continue
            column = table.columns[name]
            capacity, filled = allocatable[column], used[column] + request.get(name)
            if capacity != 0 and weight != 0:
                if filled > capacity:
                    return 0.0
                score += filled * weight / capacity
            weights += weight
        return (score / weights if weights else score) * (MAX_NODE_SCORE * self.weight)

    def _score_rows(self, request: Resource, rows: np.ndarray) -> np.ndarray:
        table = self.table
        table.vector(request)
        allocatable, used = table.allocatable[rows], table.used[rows]
        score, too_much, weights = np.zeros(len(rows)), np.zeros(len(rows), dtype=bool), 0
        for name in request.resource_names():
            weight = self.resources.get(name)
            if weight is None:
                continue
            column = table.columns[name]
            capacity, filled = allocatable[:, column], used[:, column] + request.get(name)
            counts = capacity != 0 if weight else np.zeros(len(rows), dtype=bool)
            too_much |= counts & (filled > capacity)
            score += np.divide(filled * weight, capacity, out=np.zeros(len(rows)), where=counts)
            weights += weight
        if weights:
            score /= weights
        return np.where(too_much, 0.0, score * (MAX_NODE_SCORE * self.weight))


def binpacking_score(request: Resource, allocatable: Resource, used: Resource,
                     weights: dict[str, int]) -> float:
    """How full a node would be, from 0 to 1; 0 where the request does not fit.

    >>> binpacking_score(Resource(1000.0, 2.0), Resource(4000.0, 8.0), Resource(1000.0, 2.0), {"cpu": 1, "memory": 1})
    0.5
    """
    score, total = 0.0, 0
    for name in request.resource_names():
        weight = weights.get(name)
        if weight is None:
            continue
        capacity, filled = allocatable.get(name), used.get(name) + request.get(name)
        if capacity != 0 and weight != 0:
            if filled > capacity:
                return 0.0
            score += filled * weight / capacity
        total += weight
    return score / total if total else score


def _not_negative(weight: int) -> int:
    return weight if weight >= 0 else 1
