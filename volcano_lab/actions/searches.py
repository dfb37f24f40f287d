"""Searches for a node that preempt and reclaim can skip. Decisions do not depend on it.

Volcano: none
"""

from collections.abc import Sequence
from typing import Any

from volcano_lab.actions.evictions import suffices
from volcano_lab.api import NodeInfo, TaskInfo
from volcano_lab.framework import Session, node_arrays
from volcano_lab.framework.placement.arrays import LATER


def suffices_in(ssn: Session, task: TaskInfo, node: NodeInfo, victims: Sequence[TaskInfo]) -> bool:
    """Return `suffices` for a node of the session; without victims the arrays have the answer."""
    if victims or not ssn.use_arrays:
        return suffices(task, node, victims)
    return bool(node_arrays(ssn).fit(task.init_resreq)[node.row] >= LATER)


class Searches:
    """Searches that repeat one that found no node: for a task like an earlier one of its job, among
    the same nodes, with no node changed since. Nothing is skipped while each attempt is recorded.
    """

    def __init__(self, ssn: Session):
        self.table = ssn.table
        self._begun: dict[tuple[Any, ...], tuple[int, Sequence[NodeInfo]]] = {}
        self._serves = ssn.use_arrays and not ssn.observer.watches_attempts

    def repeats(self, task: TaskInfo, nodes: Sequence[NodeInfo], *among: Any) -> bool:
        """Return whether a search is known to fail; otherwise record it as begun: one that finds a
        node changes the table.
        """
        if not self._serves or task.template is None:
            return False
        kind = task.job, task.task_role, task.template, task.priority, *among
        now = len(self.table.changes), nodes
        if self._begun.get(kind) == now:
            return True
        self._begun[kind] = now
        return False
