"""The nodes' resources as arrays: one row per node, one column per resource.

The single source of truth for node accounting: `NodeInfo` is a row with a name. Fits are computed
for all nodes at once, a snapshot is a copy of a few arrays, and a placement changes only one row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from volcano_lab.api.resource import CPU, MEMORY, MIN_RESOURCE, Resource

K = TypeVar("K")
V = TypeVar("V")
ACCOUNTS = ("allocatable", "idle", "used", "releasing", "pipelined")


class Memo(dict[K, V]):
    """Values by key, each computed on first use.

    >>> squares = Memo(lambda number: number * number)
    >>> squares[3], squares
    (9, {3: 9})
    """

    def __init__(self, compute: Callable[[K], V]):
        super().__init__()
        self.compute = compute

    def __missing__(self, key: K) -> V:
        value = self[key] = self.compute(key)
        return value


class NodeTable:
    """Five arrays of shape (nodes, dimensions), float64, in a resource's internal units.

    `allocatable` is what the node offers, `idle` what is free, `used` its tasks' requests,
    `releasing` the part of `used` that is being released, `pipelined` what is assigned of that. A
    dimension that a node does not have is 0. `changes` lists the changed rows, one entry per
    change, so that readers (`RowMemo`) recompute only those rows.

    >>> table = NodeTable()
    >>> row = table.add_row(Resource.from_list({"cpu": "4", "memory": "1Gi"}))
    >>> table.resource("idle", row)
    Resource(cpu=4000, memory=1073741824)
    >>> table.has_room(row, Resource(4000.0)), table.has_room(row, Resource(4001.0))
    (True, False)
    """

    __slots__ = (*ACCOUNTS, "dimensions", "columns", "count", "changes", "_vectors")
    allocatable: np.ndarray
    idle: np.ndarray
    used: np.ndarray
    releasing: np.ndarray
    pipelined: np.ndarray

    def __init__(self, dimensions: Sequence[str] = (CPU, MEMORY)):
        self.dimensions = list(dimensions)
        self.columns = {name: i for i, name in enumerate(self.dimensions)}
        self.count = 0
        self.changes: list[int] = []
        self._vectors: dict[Resource, tuple[np.ndarray, np.ndarray]] = {}
        for account in ACCOUNTS:
            setattr(self, account, np.zeros((0, len(self.dimensions))))

    # -- shape -----------------------------------------------------------------------------------

    def add_row(self, allocatable: Resource) -> int:
        """Add a node with `allocatable`, all of it idle; return its row."""
        self.ensure(name for name, _ in allocatable)
        row, self.count = self.count, self.count + 1
        if row >= len(self.idle):
            more = max(16, len(self.idle))
            for account in ACCOUNTS:
                setattr(self, account,
                        np.vstack((getattr(self, account), np.zeros((more, len(self.dimensions))))))
        self.set_allocatable(row, allocatable)
        return row

    def set_allocatable(self, row: int, allocatable: Resource) -> None:
        """Reset a row: everything idle, nothing used."""
        self.ensure(name for name, _ in allocatable)
        for account in ACCOUNTS:
            getattr(self, account)[row] = 0.0
        for name, amount in allocatable:
            self.allocatable[row, self.columns[name]] = self.idle[row, self.columns[name]] = amount
        self.changes.append(row)

    def ensure(self, names: Iterable[str]) -> None:
        """Add columns for resources that have none."""
        new = [name for name in names if name not in self.columns]
        if not new:
            return
        for name in new:
            self.columns[name] = len(self.dimensions)
            self.dimensions.append(name)
        self._vectors.clear()
        for account in ACCOUNTS:
            array = getattr(self, account)
            setattr(self, account, np.hstack((array, np.zeros((len(array), len(new))))))

    def select(self, rows: Sequence[int]) -> NodeTable:
        """Return a copy with the given rows, in the given order."""
        table = NodeTable(self.dimensions)
        index = np.asarray(rows, dtype=np.intp)
        table.count = len(index)
        for account in ACCOUNTS:
            setattr(table, account, getattr(self, account)[index])
        return table

    # -- one row ---------------------------------------------------------------------------------

    def vector(self, resource: Resource) -> tuple[np.ndarray, np.ndarray]:
        """Return amounts by column, and the columns to compare in a fit: cpu, memory and those of
        the resource.
        """
        known = self._vectors.get(resource)
        if known is None:
            self.ensure(name for name, _ in resource)
            amounts = np.zeros(len(self.dimensions))
            for name, amount in resource:
                amounts[self.columns[name]] = amount
            known = amounts, np.array([self.columns[name] for name, _ in resource], dtype=np.intp)
            self._vectors[resource] = known
        return known

    def resource(self, account: str, row: int) -> Resource:
        """Return row `row` of `account` as a `Resource`."""
        return self._value(getattr(self, account)[row])

    def total(self, account: str) -> Resource:
        """Return the sum of an account over all rows."""
        return self._value(getattr(self, account)[: self.count].sum(axis=0))

    def future_idle_resource(self, row: int) -> Resource:
        """Return the row's idle plus releasing minus pipelined resources."""
        return self._value(self.idle[row] + self.releasing[row] - self.pipelined[row])

    def _value(self, amounts: np.ndarray) -> Resource:
        cpu, memory, *rest = amounts.tolist()
        scalars = {name: amount
                   for name, amount in zip(self.dimensions[2:], rest, strict=True) if amount}
        return Resource(cpu, memory, scalars or None)

    def has_room(self, row: int, resource: Resource) -> bool:
        """Return whether a resource fits the idle amounts of a row, within the tolerance."""
        idle, columns = self.idle[row].tolist(), self.columns
        for name, amount in resource.items:
            column = columns.get(name)
            if amount - (0.0 if column is None else idle[column]) >= MIN_RESOURCE:
                return False
        return True

    # -- all rows --------------------------------------------------------------------------------

    def future_idle(self) -> np.ndarray:
        """Return idle, plus releasing, minus pipelined, of all rows."""
        n = self.count
        idle: np.ndarray = self.idle[:n] + self.releasing[:n] - self.pipelined[:n]
        return idle


def where(condition: Any, yes: Any, no: Any) -> Any:
    """Return `yes` or `no`: of single numbers, or for each element of arrays.

    With it a formula is written once, for one node and for many.

    >>> where(2 > 1, 10, 20), where(np.array([True, False]), 10, 20).tolist()
    (10, [10, 20])
    """
    if condition is True:
        return yes
    return no if condition is False else np.where(condition, yes, no)[()]


class RowFormula:
    """A formula over rows of some arrays, written once for one row and for many; rows with equal
    values share its result.

    `arrays()` returns the current arrays, of shape (rows, columns); `formula` is called with each
    of them, to be indexed by column.

    >>> table = NodeTable()
    >>> row = table.add_row(Resource(4000.0))
    >>> half = RowFormula(lambda: (table.idle,), lambda idle: idle[0] / 2)
    >>> half.at(row), half.of(np.array([row]))
    (2000.0, array([2000.]))
    """

    __slots__ = ("arrays", "formula", "known")

    def __init__(self, arrays: Callable[[], tuple[np.ndarray, ...]], formula: Callable[..., Any]):
        self.arrays, self.formula = arrays, formula
        self.known: dict[bytes, Any] = {}

    def at(self, row: int) -> Any:
        """Return the result for one row."""
        amounts = [array[row] for array in self.arrays()]
        state = b"".join(amounts)
        result = self.known.get(state)
        if result is None:
            result = self.known[state] = self.formula(*[each.tolist() for each in amounts])
        return result

    def of(self, rows: np.ndarray) -> np.ndarray:
        """Return the results for an index array of rows."""
        found: np.ndarray = np.zeros(len(rows)) + self.formula(
            *[array[rows].T for array in self.arrays()])
        return found


class Rows(Protocol):
    """The source of a `RowMemo`: the number of rows, and the changed ones, in order."""

    count: int
    changes: list[int]


class RowMemo:
    """One number (or boolean) per row, kept up to date: only changed rows are recomputed.

    `all_rows(rows)` returns the values of an index array, `one_row(row)` that of a single row: a
    placement changes one row, for which plain Python is faster than an array of one.

    >>> table = NodeTable()
    >>> row = table.add_row(Resource(4000.0))
    >>> memo = RowMemo(table, lambda rows: table.idle[rows, 0], lambda row: table.idle[row, 0])
    >>> table.set_allocatable(row, Resource(3000.0))
    >>> memo.current()
    array([3000.])
    """

    __slots__ = ("table", "all_rows", "one_row", "values", "_seen")

    FEW = 6

    def __init__(self, table: Rows, all_rows: Callable[[np.ndarray], np.ndarray],
                 one_row: Callable[[int], Any]):
        self.table, self.all_rows, self.one_row = table, all_rows, one_row
        self._seen = len(table.changes)
        self.values = all_rows(np.arange(table.count))

    def current(self) -> np.ndarray:
        """Return the current values; the caller must not modify them."""
        changes = self.table.changes
        end = len(changes)
        if self._seen != end:
            if end - self._seen == 1:
                row = changes[-1]
                self.values[row] = self.one_row(row)
            else:
                rows = set(changes[self._seen :])
                if len(rows) <= self.FEW:
                    for row in rows:
                        self.values[row] = self.one_row(row)
                else:
                    index = np.fromiter(rows, np.intp, len(rows))
                    self.values[index] = self.all_rows(index)
            self._seen = end
        return self.values
