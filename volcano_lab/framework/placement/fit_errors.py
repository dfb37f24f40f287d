"""Why a task fits none of many nodes: `FitErrors` as arrays, whose cost does not grow per node."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from volcano_lab.api import FitErrors, TaskInfo
from volcano_lab.api.fit_error import UNSCHEDULABLE, FitError, Status, insufficient

if TYPE_CHECKING:
    from volcano_lab.framework.placement.arrays import NodeArrays
    from volcano_lab.framework.session import Session


class Refusals:
    """Why the predicates refuse tasks of one kind on each node, computed again only once the node
    has changed; the error names the first task of the kind.
    """

    def __init__(self, ssn: Session):
        self.ssn, self.seen = ssn, len(ssn.table.changes)
        self.errors: dict[int, FitError | None] = {}

    def among(self, task: TaskInfo, rows: list[int]) -> dict[str, FitError]:
        """Return by node why a task of the kind cannot be allocated now, of the nodes in `rows`."""
        changes, errors = self.ssn.table.changes, self.errors
        for changed in changes[self.seen :]:
            errors.pop(changed, None)
        self.seen = len(changes)
        for row in [each for each in rows if each not in errors]:
            errors[row] = self.ssn.predicate_for_allocate(task, self.ssn.node_list[row])
        return {error.node: error for error in map(errors.get, rows) if error is not None}


class ArrayFitErrors(FitErrors):
    """Fit errors that store a number for each node that is merely short of a resource; others as in
    `FitErrors`.

    `short[row]` is 0 where the node is not short, else 1 + the position in `names` of the first
    short resource.
    """

    __slots__ = ("arrays", "short", "names", "others", "task", "_nodes")
    _nodes: dict[str, FitError] | None
    def __init__(self, arrays: NodeArrays):
        super().__init__()
        self.arrays = arrays
        self.short = np.zeros(arrays.table.count, dtype=np.int8)
        self.names: list[str] = []
        self.others: dict[str, FitError] = {}
        self.task = ""

    def record(self, task: TaskInfo, failing: np.ndarray) -> None:
        """Compute why nodes fail now: the first short resource, or the predicates' reasons on a
        node.
        """
        self.task = self.task or task.key
        names = [name for name, _ in task.init_resreq.items]
        self.names += [name for name in names if name not in self.names]
        codes = np.array([0, *(self.names.index(name) + 1 for name in names)], dtype=np.int8)
        missing = np.minimum(self.arrays.fit(task.init_resreq), 0)
        self.short = np.where(failing & (missing < 0), codes[-missing], self.short)
        rows = (failing & (missing == 0)).nonzero()[0].tolist()
        self.others |= self.arrays.refusals(task)(task, rows)

    def copy(self) -> ArrayFitErrors:
        errors = ArrayFitErrors(self.arrays)
        errors.short, errors.names = self.short.copy(), self.names.copy()
        errors.others, errors.task = dict(self.others), self.task
        return errors

    @property
    def nodes(self) -> dict[str, FitError]:
        """Every node's error, converted on first use."""
        if self._nodes is None:
            written = {
                node.name: FitError(self.task, node.name,
                                    (Status(UNSCHEDULABLE, insufficient([self.names[code - 1]])),))
                for node, code in zip(self.arrays.ssn.node_list, self.short.tolist(), strict=True)
                if code}
            self._nodes = {**written, **self.others}
        return self._nodes

    @nodes.setter
    def nodes(self, value: dict[str, FitError]) -> None:
        self._nodes = None  # converted on first use

    def unresolvable_nodes(self) -> set[str]:
        return {name for name, error in self.others.items() if error.unresolvable()}

    def reasons(self) -> Counter[str]:
        counts = Counter(reason for error in self.others.values() for reason in error.reasons)
        for code, count in enumerate(
                np.bincount(self.short, minlength=len(self.names) + 1).tolist()):
            if code and count:
                counts[insufficient([self.names[code - 1]])] += count
        return counts

    def count(self) -> int:
        return int(np.count_nonzero(self.short)) + len(self.others)
