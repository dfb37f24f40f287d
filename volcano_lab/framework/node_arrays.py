"""Which nodes a task fits, and which of them is best: for all nodes at once.

Decides the same as `node_chooser`, which is the readable reference. Fit, score and reasons are arrays over the nodes;
tasks with equal requests share them, and after a placement only the row of the node that changed is worked out anew.
It serves where every plugin that filters or scores nodes also has the form for all nodes (`predicate_nodes`,
`node_order_nodes`, `batch_node_order_nodes`) and nobody watches each single call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from attrs import define

from volcano_lab.api.fit_error import UNSCHEDULABLE, FitError, FitErrors, Status, insufficient
from volcano_lab.api.node import NodeInfo
from volcano_lab.api.node_table import NodeTable, RowMemo
from volcano_lab.api.resource import MIN_RESOURCE, Resource
from volcano_lab.api.task import TaskInfo
from volcano_lab.framework.node_chooser import PlainChooser

if TYPE_CHECKING:
    from volcano_lab.framework.session import Session

COMPANIONS = {"predicate": "predicate_nodes", "node_order": "node_order_nodes", "batch_node_order": "batch_node_order_nodes"}
"""Extension point -> the plugin's method that answers it for all nodes at once."""

FITS, LATER, NEVER = 2, 1, 0
"""Room now; room once what is releasing has gone; no room."""


class NodeArrays:
    """What one session knows of its nodes as arrays, shared by all choosers of the session."""

    def __init__(self, ssn: Session):
        self.ssn, self.table = ssn, ssn.table
        self.predicates = self._companions("predicate")
        self.orders = self._companions("node_order")
        self.batches = self._companions("batch_node_order")
        self._room: dict[Resource, RowMemo] = {}
        self._rows: dict[int, tuple[Sequence[NodeInfo], np.ndarray]] = {}
        self._inside: dict[int, np.ndarray] = {}
        self._everywhere = np.ones(self.table.count, dtype=bool)

    @staticmethod
    def serve(ssn: Session) -> bool:
        """Whether all plugins that take part have answers for all nodes at once."""
        points = ssn.points
        if any(points[name].flat for name in ("node_map", "best_node")):
            return False
        return all(
            getattr(ssn.plugins[plugin], method, None) is not None
            for name, method in COMPANIONS.items() for tier in points[name].tiers for plugin, _ in tier
        )  # fmt: skip

    def _companions(self, point: str) -> list:
        plugins = self.ssn.plugins
        return [getattr(plugins[plugin], COMPANIONS[point]) for tier in self.ssn.points[point].tiers for plugin, _ in tier]

    def rows(self, nodes: Sequence[NodeInfo]) -> np.ndarray | None:
        """The table rows of some nodes, in their order; None for all nodes in the table's order."""
        if nodes is self.ssn.node_list:
            return None
        known = self._rows.get(id(nodes))
        if known is None or known[0] is not nodes:  # the list is kept beside, so that its id stays its own
            known = self._rows[id(nodes)] = nodes, np.array([node.row for node in nodes], dtype=np.intp)
        return known[1]

    def inside(self, nodes: Sequence[NodeInfo]) -> np.ndarray:
        """True for the rows of some nodes."""
        rows = self.rows(nodes)
        mask = self._inside.get(id(nodes)) if rows is not None else self._everywhere
        if mask is None:
            mask = self._inside[id(nodes)] = np.zeros(self.table.count, dtype=bool)
            mask[rows] = True
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
        """The scores of all nodes for a task, as compared among the candidates; elsewhere they mean nothing."""
        order = _sum([score(task) for score in self.orders])
        batch = _sum([score(task, candidates) for score in self.batches])
        if order is None and batch is None:
            return np.zeros(self.table.count)
        return batch if order is None else order if batch is None else order + batch


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
        later = (wanted - (idle + table.releasing[at] - table.pipelined[at]) < MIN_RESOURCE).all(axis=1)
        # a node whose idle room is promised to others no longer fits, even where that room is still idle
        return np.where(later, np.where(now, FITS, LATER), NEVER).astype(np.int8)

    def one_row(row: int) -> int:
        idle, releasing, pipelined = table.idle[row].tolist(), table.releasing[row].tolist(), table.pipelined[row].tolist()
        level = FITS
        for column, amount in pairs:
            if amount - (idle[column] + releasing[column] - pipelined[column]) >= MIN_RESOURCE:
                return NEVER
            if amount - idle[column] >= MIN_RESOURCE:
                level = LATER
        return level

    return RowMemo(table, all_rows, one_row)


class ArrayChooser(PlainChooser):
    """As `PlainChooser`, over arrays: filters for one statement, and remembers by task role which nodes failed."""

    def __init__(self, ssn: Session, arrays: NodeArrays, use_cache: bool = True):
        super().__init__(ssn, use_cache)
        self.arrays = arrays
        self._failed: dict[tuple[str, str] | None, Failed] = {}

    def choose(self, task: TaskInfo, nodes: Sequence[NodeInfo]) -> tuple[NodeInfo | None, FitErrors]:
        arrays = self.arrays
        if task.pod.status.nominated_node_name:
            return super().choose(task, nodes)
        allowed = arrays.allowed(task)
        if allowed is None:
            return super().choose(task, nodes)
        rows = arrays.rows(nodes)
        room = arrays.room(task.init_resreq)
        fits = allowed & (room != NEVER)
        if rows is not None:
            fits &= arrays.inside(nodes)
        group = (task.job, task.task_role) if self.use_cache and task.task_role else None
        failed = self._failed.get(group)
        if failed is not None:
            fits &= failed.not_yet
        count = np.count_nonzero(fits)
        if not count:
            return None, self._errors(task, nodes, group, fits)
        if group is not None and count + (0 if failed is None else failed.count) != len(nodes):
            self._remember(task, nodes, group, fits)
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

    def _remember(self, task: TaskInfo, nodes: Sequence[NodeInfo], group: tuple[str, str], fits: np.ndarray) -> Failed:
        """Nodes that fail a role once fail it for the rest of the statement, with the reason they had then."""
        failed = self._failed.get(group)
        news = self.arrays.inside(nodes) & ~fits
        if failed is None:
            failed = self._failed[group] = Failed(np.ones(len(fits), dtype=bool), ArrayFitErrors(self.arrays))
        news &= failed.not_yet
        failed.errors.record(task, news)
        failed.not_yet = failed.not_yet & ~news
        failed.count += int(np.count_nonzero(news))
        return failed

    def _errors(self, task: TaskInfo, nodes: Sequence[NodeInfo], group: tuple[str, str] | None, fits: np.ndarray) -> FitErrors:
        if group is not None:
            return self._remember(task, nodes, group, fits).errors.copy()
        errors = ArrayFitErrors(self.arrays)
        errors.record(task, self.arrays.inside(nodes))
        return errors


@define(slots=True)
class Failed:
    """What a role has failed on in this statement: nodes not among them, the reasons, how many."""

    not_yet: np.ndarray
    errors: ArrayFitErrors
    count: int = 0


NO_ERRORS = FitErrors()
"""What goes with a node that was found: nobody looks at it."""


class ArrayFitErrors(FitErrors):
    """Fit errors in which nodes that are merely short of a resource are a number each; others are as in `FitErrors`.

    `short[row]` is 0 where the node isn't short, else 1 + the position in `names` of the first resource it lacks.
    """

    __slots__ = ("arrays", "short", "names", "others", "task", "_nodes", "_whole")

    def __init__(self, arrays: NodeArrays):
        super().__init__()
        self.arrays = arrays
        self.short = np.zeros(arrays.table.count, dtype=np.int8)
        self.names: list[str] = []
        self.others: dict[str, FitError] = {}
        self.task = ""
        self._whole = False

    def record(self, task: TaskInfo, failing: np.ndarray) -> None:
        """Find out now why nodes fail: the first short resource, or what the predicates say of a node."""
        table, ssn = self.arrays.table, self.arrays.ssn
        self.task = self.task or task.key
        names = [name for name, _ in task.init_resreq]
        amounts, columns = table.vector(task.init_resreq)
        rows = np.flatnonzero(failing)
        at = np.ix_(rows, columns)
        lacking = amounts[columns] - (table.idle[at] + table.releasing[at] - table.pipelined[at]) >= MIN_RESOURCE
        short = lacking.any(axis=1)
        codes = np.array([self._code(name) for name in names], dtype=np.int8)
        self.short[rows[short]] = codes[lacking[short].argmax(axis=1)]
        for row in rows[~short].tolist():
            node = ssn.node_list[row]
            error = ssn.predicate_for_allocate(task, node)
            if error is not None:
                self.others[node.name] = error

    def _code(self, name: str) -> int:
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name) + 1

    def copy(self) -> ArrayFitErrors:
        errors = ArrayFitErrors(self.arrays)
        errors.short, errors.names, errors.others, errors.task = self.short.copy(), self.names.copy(), dict(self.others), self.task
        return errors

    @property
    def nodes(self) -> dict[str, FitError]:
        """Every node's error, written out when somebody asks."""
        if not self._whole:
            written = {node.name: FitError(self.task, node.name, (Status(UNSCHEDULABLE, insufficient([self.names[code - 1]])),))
                       for node, code in zip(self.arrays.ssn.node_list, self.short.tolist(), strict=True) if code}  # fmt: skip
            self._nodes = {**written, **self.others}
            self._whole = True
        return self._nodes

    @nodes.setter
    def nodes(self, value: dict[str, FitError]) -> None:
        self._nodes, self._whole = value, False

    def unresolvable_nodes(self) -> set[str]:
        return {name for name, error in self.others.items() if error.unresolvable()}

    def reasons(self) -> Counter[str]:
        counts = Counter(reason for error in self.others.values() for reason in error.reasons)
        for code, count in enumerate(np.bincount(self.short, minlength=len(self.names) + 1).tolist()):
            if code and count:
                counts[insufficient([self.names[code - 1]])] += count
        return counts

    def count(self) -> int:
        return int(np.count_nonzero(self.short)) + len(self.others)


def node_chooser(ssn: Session, use_cache: bool = True) -> PlainChooser:
    """A chooser for one statement: over arrays where the session allows it, else node by node."""
    return ArrayChooser(ssn, node_arrays(ssn), use_cache) if ssn.use_arrays else PlainChooser(ssn, use_cache)


def node_arrays(ssn: Session) -> NodeArrays:
    """The session's arrays, made when first asked for; only where `ssn.use_arrays` holds."""
    if ssn.node_arrays is None:
        ssn.node_arrays = NodeArrays(ssn)
    return ssn.node_arrays
