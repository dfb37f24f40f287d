"""Which nodes a task fits, and which of them is best: for all nodes at once.

Decides the same as `node_chooser`, which is the readable reference. Fit, score and reasons are
arrays over the nodes; tasks with equal requests share them, and after a placement only the row of
the node that changed is worked out anew. It serves where every plugin that filters or scores nodes
also has the form for all nodes (`predicate_nodes`, `node_order_nodes`, `batch_node_order_nodes`)
and nobody watches each single call.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from volcano_lab.api.node import NodeList
from volcano_lab.api.node_table import NodeTable, RowMemo
from volcano_lab.api.resource import MIN_RESOURCE, Resource
from volcano_lab.api.task import TaskInfo
from volcano_lab.framework.placement.fit_errors import ArrayFitErrors

if TYPE_CHECKING:
    from volcano_lab.framework.session import Session

COMPANIONS = {"predicate": "predicate_nodes", "node_order": "node_order_nodes",
              "batch_node_order": "batch_node_order_nodes"}
"""Extension point -> the plugin's method that answers it for all nodes at once."""

ALIKE = {"predicate": "predicate_alike", "node_order": "node_order_alike",
         "batch_node_order": "batch_node_order_alike"}
"""Extension point -> the plugin's method that says whether its answer for a task, on a node,
depends on that node alone.

It returns a `ByRow`, the same object for all tasks that are alike to the plugin, or None where
other nodes matter, too. A plugin with `alike_by_template` returns the same for all tasks of one
template.
"""

EVEN = "batch_node_order_even"
"""The plugin's method that says whether `batch_node_order` gives some nodes all the same, whatever
that is.
"""

FITS, LATER, NEVER = 2, 1, 0
"""Room now; room once what is releasing has gone; no room."""


class NodeArrays:
    """What one session knows of its nodes as arrays, shared by all choosers of the session.

    `scored` counts the scores that were worked out: where each call is made, there is one for each
    pair of task and node.
    """

    def __init__(self, ssn: Session):
        self.ssn, self.table, self.scored = ssn, ssn.table, 0
        self.predicates = self._companions("predicate")
        self.orders = self._companions("node_order")
        self.batches = self._companions("batch_node_order")
        self._room: dict[Resource, RowMemo] = {}
        self._alike = [self._companions(point, ALIKE[point]) for point in COMPANIONS]
        self._even = self._companions("batch_node_order", EVEN)
        self._nothing = np.zeros(self.table.count)
        self.even = ByRow(lambda row: 0.0, lambda: self._nothing)
        self._boards: dict[tuple, Board] = {}
        self._boards_by_template: dict[int, Board | None] = {}
        self._by_template = all(
            getattr(ssn.plugins[plugin], "alike_by_template", False)
            for point in COMPANIONS for tier in ssn.points[point].tiers for plugin, _ in tier)
        self._inside: dict[int, np.ndarray] = {}
        self._everywhere = np.ones(self.table.count, dtype=bool)

    @staticmethod
    def serve(ssn: Session) -> bool:
        """Whether all plugins that take part have answers for all nodes at once."""
        points = ssn.points
        if any(points[name].flat for name in ("node_map", "best_node")):
            return False
        return all(getattr(ssn.plugins[plugin], method, None) is not None
                   for name, method in COMPANIONS.items() for tier in points[name].tiers
                   for plugin, _ in tier)

    def _companions(self, point: str, method: str = "") -> list:
        plugins = self.ssn.plugins
        return [getattr(plugins[plugin], method or COMPANIONS[point], None)
                for tier in self.ssn.points[point].tiers for plugin, _ in tier]

    def board(self, task: TaskInfo, nodes: NodeList | None = None) -> Board | None:
        """The ranking of the nodes that all tasks like this one share; None where placements
        elsewhere may change it.

        With `nodes` it need only rank these: scores that are the same for all of them are left out.
        """
        if not self._by_template or task.template is None:
            return self._board(task, nodes)
        if task.template not in self._boards_by_template:
            self._boards_by_template[task.template] = self._board(task, nodes)
        return self._boards_by_template[task.template]

    def _board(self, task: TaskInfo, nodes: NodeList | None) -> Board | None:
        parts = []
        for methods in self._alike:
            for number, alike in enumerate(methods):
                part = alike(task) if alike is not None else None
                if part is None:
                    even = self._even[
                        number] if methods is self._alike[-1] and nodes is not None else None
                    if even is None or not even(task, nodes):
                        return None
                    part = self.even
                parts.append(part)
        key = (task.init_resreq, *map(id, parts))
        board = self._boards.get(key)
        if board is None:
            filters, orders, batches = (len(methods) for methods in self._alike)
            board = self._boards[key] = Board(self, task.init_resreq, parts[:filters],
                                              parts[filters:filters + orders],
                                              parts[filters + orders:filters + orders + batches])
        return board

    def rows(self, nodes: NodeList) -> np.ndarray | None:
        """The table rows of some nodes, in their order; None for all nodes in the table's order."""
        return None if nodes is self.ssn.node_list else nodes.rows

    def inside(self, nodes: NodeList) -> np.ndarray:
        """True for the rows of some nodes."""
        if nodes is self.ssn.node_list:
            return self._everywhere
        mask = self._inside.get(nodes.number)
        if mask is None:
            mask = self._inside[nodes.number] = np.zeros(self.table.count, dtype=bool)
            mask[nodes.rows] = True
        return mask

    def room(self, request: Resource) -> np.ndarray:
        """For each node whether a request fits now (`FITS`), later (`LATER`) or not (`NEVER`)."""
        memo = self._room.get(request)
        if memo is None:
            memo = self._room[request] = room_memo(self.table, request)
        return memo.current()

    def allowed(self, task: TaskInfo) -> np.ndarray | None:
        """Where the predicates let a task go; None where one of them can't tell for all nodes."""
        allowed = None
        for predicate in self.predicates:
            mask = predicate(task)
            if mask is None:
                return None
            allowed = mask if allowed is None else allowed & mask
        return self._everywhere if allowed is None else allowed

    def scores(self, task: TaskInfo, candidates: np.ndarray) -> np.ndarray:
        """The scores of all nodes for a task, as compared among the candidates; elsewhere they mean
        nothing.
        """
        self.scored += self.table.count
        order = _sum([score(task) for score in self.orders])
        batch = _sum([score(task, candidates) for score in self.batches])
        if order is None and batch is None:
            return np.zeros(self.table.count)
        return batch if order is None else order if batch is None else order + batch


class ByRow:
    """A plugin's answer for all tasks of a kind: `row(row)` for one node, `nodes()` for all, as of
    now.
    """

    __slots__ = ("row", "nodes")

    def __init__(self, row: Callable[[int], float], nodes: Callable[[], np.ndarray]):
        self.row, self.nodes = row, nodes


class Board:
    """Every node's score for tasks of one kind, -inf where there is no room now or a predicate
    refuses.

    After a placement only the row of the node that changed is worked out anew; the best node is one
    look for the highest number. The filters, orders and batches are the plugins' answers in the
    order of the tiers.
    """

    __slots__ = ("arrays", "request", "filters", "orders", "batches", "parts", "ranks", "_refusals")

    def __init__(self, arrays: NodeArrays, request: Resource, filters: list[ByRow],
                 orders: list[ByRow], batches: list[ByRow]):
        self.arrays, self.request = arrays, request
        self.parts = filters, orders, batches  # their identities are the board's key
        self.filters, self.orders, self.batches = ([part.row for part in parts]
                                                   for parts in self.parts)
        self.ranks = RowMemo(arrays.table, self._ranks, self._rank)
        self._refusals: tuple[int, ArrayFitErrors] | None = None

    def fits(self, row: int) -> bool:
        """Whether there is room on a node now or later and no predicate refuses."""
        return self.arrays.room(self.request)[row] != NEVER and all(
            allows(row) for allows in self.filters)

    def fitting(self) -> np.ndarray:
        """`fits` of all nodes."""
        good = self.arrays.room(self.request) != NEVER
        for part in self.parts[0]:
            good = good & part.nodes()
        return good

    def refusals(self, task: TaskInfo) -> ArrayFitErrors:
        """Why nodes don't fit, of all nodes as they are now; worked out once for as long as no node
        changes.
        """
        changes = len(self.arrays.table.changes)
        if self._refusals is None or self._refusals[0] != changes:
            errors = ArrayFitErrors(self.arrays)
            errors.record(task, ~self.fitting())
            self._refusals = changes, errors
        return self._refusals[1]

    def _rank(self, row: int) -> float:
        self.arrays.scored += 1
        if self.arrays.room(self.request)[row] != FITS:
            return -inf
        for allows in self.filters:
            if not allows(row):
                return -inf
        order = batch = 0.0
        for score in self.orders:
            order += score(row)
        for score in self.batches:
            batch += score(row)
        return order + batch

    def _ranks(self, rows: np.ndarray) -> np.ndarray:
        self.arrays.scored += len(rows)
        filters, orders, batches = self.parts
        good = self.arrays.room(self.request) == FITS
        for part in filters:
            good = good & part.nodes()
        order, batch = (_sum([part.nodes() for part in parts]) for parts in (orders, batches))
        scores = (0.0 if order is None else order) + (0.0 if batch is None else batch)
        return np.where(good, scores, -inf)[rows]


def _sum(arrays: list[np.ndarray]) -> np.ndarray | None:
    """The sum from left to right, the order in which the plain way adds; None of nothing."""
    total = arrays[0] if arrays else None
    for array in arrays[1:]:
        total = total + array
    return total


def room_memo(table: NodeTable, request: Resource) -> RowMemo:
    """For each row whether a request fits, kept up to date."""
    amounts, columns = table.vector(request)
    wanted, places = amounts[columns], columns.tolist()
    pairs = list(zip(places, wanted.tolist(), strict=True))

    def all_rows(rows: np.ndarray) -> np.ndarray:
        at = np.ix_(rows, columns)
        idle = table.idle[at]
        now = (wanted - idle < MIN_RESOURCE).all(axis=1)
        later = (wanted - (idle + table.releasing[at] - table.pipelined[at])
                 < MIN_RESOURCE).all(axis=1)
        # a node whose idle room is promised to others no longer fits, even where that room is still
        # idle
        return np.where(later, np.where(now, FITS, LATER), NEVER).astype(np.int8)

    def one_row(row: int) -> int:
        idle, releasing, pipelined = table.idle[row].tolist(), table.releasing[row].tolist(
        ), table.pipelined[row].tolist()
        level = FITS
        for column, amount in pairs:
            if amount - (idle[column] + releasing[column] - pipelined[column]) >= MIN_RESOURCE:
                return NEVER
            if amount - idle[column] >= MIN_RESOURCE:
                level = LATER
        return level

    return RowMemo(table, all_rows, one_row)


def node_arrays(ssn: Session) -> NodeArrays:
    """The session's arrays, made when first asked for; only where `ssn.use_arrays` holds."""
    if ssn.node_arrays is None:
        ssn.node_arrays = NodeArrays(ssn)
    return ssn.node_arrays
