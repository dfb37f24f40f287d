"""Which nodes a task fits, and the best of them: for all nodes at once.

Decides the same as `chooser.PlainChooser`, the readable reference. Fit, score and reasons are
arrays over the nodes; tasks with equal requests share them, and after a placement only the row of
the changed node is recomputed. It is used where every plugin that filters or scores nodes gives a
key of equal tasks (`predicate_key`, `node_order_key`) or answers for all nodes itself
(`predicate_nodes`, `batch_node_order_nodes`), and no observer watches single calls.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from volcano_lab.api import MIN_RESOURCE, NodeList, Resource, TaskInfo
from volcano_lab.api.fit_error import FitError
from volcano_lab.api.node_table import Memo, NodeTable, RowFormula, RowMemo, where
from volcano_lab.framework.placement.fit_errors import ArrayFitErrors, Refusals

if TYPE_CHECKING:
    from volcano_lab.framework.session import Session

POINTS = ("predicate", "node_order", "batch_node_order")
"""The extension points that filter and score nodes, in the order of `NodeArrays.answers`."""

FITS, LATER = 2, 1
"""The request fits idle resources; it fits future idle ones. -1, -2, …: the first, second, …
resource of the request is the first that is short."""


class NodeArrays:
    """A session's nodes as arrays, shared by all choosers of the session.

    `scored` counts the scores computed; node by node there is one for each pair of task and node.
    `by_template` is whether tasks with the same template are alike to all plugins.
    """

    def __init__(self, ssn: Session):
        self.ssn, self.table, self.scored = ssn, ssn.table, 0
        # the unobserved functions: shared answers are no calls
        self.answers = [
            [OwnAnswer(ssn, plugin, point)
             if hasattr(ssn.plugins[plugin], f"{point}_nodes") else KeyedAnswer(ssn, plugin, point)
             for tier in ssn.points[point].tiers for plugin, _ in tier] for point in POINTS]
        functions: list[list[Callable[..., Any]]] = [[answer.nodes for answer in answers]
                                                     for answers in self.answers]
        self.predicates, self.orders, self.batches = functions
        self.fit_of = Memo(partial(fit_memo, self.table))  # a request's `fit`, kept up to date
        self._nothing = np.zeros(self.table.count)
        self.even = ByRow(lambda row: 0.0, lambda: self._nothing)
        self._boards: dict[tuple[Any, ...], Board] = {}
        self._boards_by_template: dict[int, Board | None] = {}
        self.by_template = all(getattr(ssn.plugins[plugin], "alike_by_template", False)
                                for point in POINTS for tier in ssn.points[point].tiers
                                for plugin, _ in tier)
        self._refusals: dict[tuple[int, ...], tuple[list[ByRow | None], Refusals]] = {}
        self._inside: dict[int, np.ndarray] = {}
        self._everywhere = np.ones(self.table.count, dtype=bool)

    @staticmethod
    def serve(ssn: Session) -> bool:
        """Return whether all active plugins can answer for all nodes at once."""
        points = ssn.points
        if any(points[name].flat for name in ("node_map", "best_node")):
            return False
        return all(hasattr(ssn.plugins[plugin], f"{name}_nodes")
                   or hasattr(ssn.plugins[plugin], f"{name}_key")
                   for name in POINTS for tier in points[name].tiers for plugin, _ in tier)

    def board(self, task: TaskInfo, nodes: NodeList | None = None) -> Board | None:
        """Return the ranking of the nodes that all tasks like this one share; None where placements
        on other nodes may change it.

        With `nodes` it ranks only these: scores that are equal for all of them may be omitted.
        """
        if not self.by_template or task.template is None:
            return self._board(task, nodes)
        if task.template not in self._boards_by_template:
            self._boards_by_template[task.template] = self._board(task, nodes)
        return self._boards_by_template[task.template]

    def _board(self, task: TaskInfo, nodes: NodeList | None) -> Board | None:
        parts: list[list[ByRow]] = []
        for answers in self.answers:
            parts.append([])
            for answer in answers:
                part = answer.alike(task)
                if part is None:
                    if nodes is None or not answer.even(task, nodes):
                        return None
                    part = self.even
                parts[-1].append(part)
        key = (task.init_resreq, *(id(part) for of_point in parts for part in of_point))
        board = self._boards.get(key)
        if board is None:
            board = self._boards[key] = Board(self, task.init_resreq, *parts)
        return board

    def refusals(self, task: TaskInfo) -> Callable[[TaskInfo, list[int]], dict[str, FitError]]:
        """Return what says why the predicates refuse a task on the nodes in some rows, now."""
        parts = [answer.alike(task) for answer in self.answers[0]]
        if None in parts:
            return Refusals(self.ssn).among
        key = tuple(map(id, parts))
        if key not in self._refusals:
            self._refusals[key] = parts, Refusals(self.ssn)  # the parts stay, so their ids do
        return self._refusals[key][1].among

    def rows(self, nodes: NodeList) -> np.ndarray | None:
        """Return the table rows of some nodes; None for all nodes in the table's order."""
        return None if nodes is self.ssn.node_list else nodes.rows

    def inside(self, nodes: NodeList) -> np.ndarray:
        """Return True for the rows of some nodes."""
        if nodes is self.ssn.node_list:
            return self._everywhere
        mask = self._inside.get(nodes.number)
        if mask is None:
            mask = self._inside[nodes.number] = np.zeros(self.table.count, dtype=bool)
            mask[nodes.rows] = True
        return mask

    def fit(self, request: Resource) -> np.ndarray:
        """Return for each node `FITS` (idle), `LATER` (future idle) or a number below 0 (short)."""
        return self.fit_of[request].current()

    def allowed(self, task: TaskInfo) -> np.ndarray | None:
        """Return where the predicates allow a task; None where one cannot answer for all nodes."""
        allowed = None
        for predicate in self.predicates:
            mask = predicate(task)
            if mask is None:
                return None
            allowed = mask if allowed is None else allowed & mask
        return self._everywhere if allowed is None else allowed

    def may_fit(self, task: TaskInfo) -> np.ndarray | None:
        """Return where no predicate refuses a task, or the first that does would not after
        evictions; None where one cannot answer for all nodes.
        """
        found, passed = self._everywhere, self._everywhere
        for answer in self.answers[0]:
            mask = answer.nodes(task)
            if mask is None:
                return None
            if np.count_nonzero(refused := passed & ~mask):
                found = found & ~(refused & answer.unresolvable(task, refused))
            passed = passed & mask
        return found

    def scores(self, task: TaskInfo, candidates: np.ndarray) -> np.ndarray:
        """Return the scores of all nodes for a task, as compared among the candidates; others are
        undefined.
        """
        self.scored += self.table.count
        order = sum(score(task) for score in self.orders)
        batch = sum(score(task, candidates) for score in self.batches)
        found: np.ndarray = self._nothing + (order + batch)
        return found


class ByRow:
    """A plugin's current answer for all tasks of a kind: `row(row)` for one node, `nodes()` for
    all.
    """

    __slots__ = ("row", "nodes")

    def __init__(self, row: Callable[[int], float], nodes: Callable[[], np.ndarray]):
        self.row, self.nodes = row, nodes


class Answer:
    """What a plugin answers at an extension point. `POINT_unresolvable(task, refused)` is optional:
    the nodes that a predicate refuses whatever is evicted, of those that it refuses.
    """

    def __init__(self, ssn: Session, name: str, point: str):
        self.node_list, self.plugin = ssn.node_list, ssn.plugins[name]
        self.function = ssn.points[point].functions[name]
        self.unresolvable = getattr(self.plugin, f"{point}_unresolvable", self._unresolvable)

    def _unresolvable(self, task: TaskInfo, refused: np.ndarray) -> np.ndarray:
        found = refused.copy()
        for row in refused.nonzero()[0].tolist():
            error = self.function(task, self.node_list[row])
            found[row] = isinstance(error, str) or error.blocks_preempt()
        return found


class OwnAnswer(Answer):
    """A plugin's own methods for all nodes at once: `POINT_nodes(task)`, with the candidates as a
    mask for batch_node_order. Two are optional.

    - `POINT_alike(task)`: a `ByRow`, the same object for all tasks that the plugin treats alike,
      where its answer on a node depends on that node alone; None where other nodes matter, too;
    - `POINT_even(task, nodes)`: whether these nodes all get the same score, whatever it is.
    """

    def __init__(self, ssn: Session, name: str, point: str):
        super().__init__(ssn, name, point)
        self.nodes = getattr(self.plugin, f"{point}_nodes")
        self.alike = getattr(self.plugin, f"{point}_alike", lambda task: None)
        self.even = getattr(self.plugin, f"{point}_even", lambda task, nodes: False)


class KeyedAnswer(Answer):
    """A plugin's answers node by node, kept for tasks of equal key until the node changes.

    The plugin has `POINT_key(task)` beside `POINT(task, node)`: tasks with equal keys get equal
    answers on an unchanged node. The key None means that the answer depends on more. With
    `POINT_formula(task)`, a `RowFormula` of the same answers or None, all nodes take less time.
    """

    def __init__(self, ssn: Session, name: str, point: str):
        super().__init__(ssn, name, point)
        self.table, self.key = ssn.table, getattr(self.plugin, f"{point}_key")
        self.is_filter = point == "predicate"
        self._formula = getattr(self.plugin, f"{point}_formula", lambda task: None)
        self._parts: dict[Any, ByRow] = {}

    def _one(self, task: TaskInfo, row: int) -> float:
        answer = self.function(task, self.node_list[row])
        return answer is None if self.is_filter else answer

    def _row_by_row(self, task: TaskInfo, rows: np.ndarray) -> np.ndarray:
        answers = [self._one(task, row) for row in rows.tolist()]
        return np.array(answers, dtype=bool if self.is_filter else float)

    def alike(self, task: TaskInfo) -> ByRow | None:
        key = self.key(task)
        part = self._parts.get(key)
        if part is None and key is not None:
            formula = self._formula(task)
            one, many = (formula.at, formula.of) if formula else (
                partial(self._one, task), partial(self._row_by_row, task))
            part = self._parts[key] = ByRow(one, RowMemo(self.table, many, one).current)
        return part

    def nodes(self, task: TaskInfo) -> np.ndarray:
        part = self.alike(task)
        if part is not None:
            return part.nodes()
        return self._row_by_row(task, np.arange(self.table.count))

    def even(self, task: TaskInfo, nodes: NodeList) -> bool:
        return False


class Board:
    """Every node's score for tasks of one kind, -inf where the request does not fit idle resources
    or a predicate refuses.

    After a placement only the row of the changed node is recomputed; the best node is one argmax.
    The filters, orders and batches are the plugins' answers in the order of the tiers.
    """

    __slots__ = ("arrays", "fit", "filters", "orders", "batches", "parts", "ranks", "_refusals")

    def __init__(self, arrays: NodeArrays, request: Resource, filters: list[ByRow],
                 orders: list[ByRow], batches: list[ByRow]):
        self.arrays, self.fit = arrays, arrays.fit_of[request]
        self.parts = filters, orders, batches  # their identities are the board's key
        self.filters, self.orders, self.batches = ([part.row for part in parts]
                                                   for parts in self.parts)
        self.ranks = RowMemo(arrays.table, self._ranks, self._rank)
        self._refusals: tuple[int, ArrayFitErrors] | None = None

    def fitting(self) -> np.ndarray:
        """Return True for nodes that fit (idle or future idle) and that no predicate refuses."""
        good: np.ndarray = self.fit.current() >= LATER
        for part in self.parts[0]:
            good = good & part.nodes()
        return good

    def refusals(self, task: TaskInfo) -> ArrayFitErrors:
        """Return why nodes do not fit, for all nodes in their current state; computed once until a
        node changes.
        """
        changes = len(self.arrays.table.changes)
        if self._refusals is None or self._refusals[0] != changes:
            errors = ArrayFitErrors(self.arrays)
            errors.record(task, ~self.fitting())
            self._refusals = changes, errors
        return self._refusals[1]

    def _rank(self, row: int) -> float:
        self.arrays.scored += 1
        if self.fit.current()[row] != FITS:
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
        good = self.fit.current() == FITS
        for part in filters:
            good = good & part.nodes()
        # from left to right, the order in which `PlainChooser` adds
        order, batch = (sum(part.nodes() for part in parts) for parts in (orders, batches))
        ranks: np.ndarray = np.where(good, order + batch, -inf)[rows]
        return ranks


def fit_memo(table: NodeTable, request: Resource, *more: Callable[[], np.ndarray]) -> RowMemo:
    """Return `NodeArrays.fit` of a request, kept up to date; `more` is released later, too."""
    amounts, columns = table.vector(request)
    wanted = [(place, column, amounts[column].item())
              for place, column in enumerate(columns.tolist(), 1)][::-1]

    def level(idle: Any, releasing: Any, pipelined: Any, *others: Any) -> Any:
        now, short = True, 0
        for place, column, amount in wanted:
            left = idle[column] + releasing[column] - pipelined[column]
            for other in others:
                left = left + other[column]
            now = now & (amount - idle[column] < MIN_RESOURCE)
            short = where(amount - left >= MIN_RESOURCE, -place, short)
        # a node whose idle resources are pipelined to other tasks does not fit, even while they
        # are still idle
        return where(short != 0, short, where(now, FITS, LATER))

    formula = RowFormula(lambda: (table.idle, table.releasing, table.pipelined,
                                  *[amounts() for amounts in more]), level)
    return RowMemo(table, lambda rows: formula.of(rows).astype(np.int8), formula.at)


def node_arrays(ssn: Session) -> NodeArrays:
    """Return the session's arrays, created on first use; only where `ssn.use_arrays` holds."""
    if ssn.node_arrays is None:
        ssn.node_arrays = NodeArrays(ssn)
    return ssn.node_arrays
