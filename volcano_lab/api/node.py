"""A node in the scheduler: the tasks on it, and its row of the node table.

Not modelled: shared devices (GPU sharing, vGPU, NPU) and NUMA; oversubscribed amounts are, by the
node's annotations.

Volcano: pkg/scheduler/api/node_info.go
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

import numpy as np

from volcano_lab.api.durations import parse_float
from volcano_lab.api.node_table import NodeTable
from volcano_lab.api.node_usage import NO_USAGE, NodeUsage, usage_of
from volcano_lab.api.objects import Node
from volcano_lab.api.resource import ZERO, Resource
from volcano_lab.api.status import BINDING, PIPELINED, RELEASING
from volcano_lab.api.task import REVOCABLE_ZONE, TaskInfo

OVERSUBSCRIPTION_CPU = "volcano.sh/oversubscription-cpu"
OVERSUBSCRIPTION_MEMORY = "volcano.sh/oversubscription-memory"


_UNKNOWN: Any = None
"""The object of a node before it is added. Such a node is not ready, and code for ready nodes only
need not check for it."""


class NodeError(ValueError):
    """A task cannot be placed on a node, or is not on the expected node."""


class NodeInfo:
    """A node's name, object and tasks; its amounts are in `table` at `row`.

    `tasks` maps "namespace/name" to a copy of the task as of its placement. A node that pods name
    but that has no object (`node` is None) counts nothing and is not ready. `idle_has_scalars` says
    whether idle has scalars: where the node offers one, or after a task with one was removed.

    >>> from volcano_lab.api.objects import NodeStatus, ObjectMeta
    >>> status = NodeStatus(allocatable={"cpu": "4"})
    >>> node = NodeInfo("n1", NodeTable(), Node(ObjectMeta(name="n1"), status=status))
    >>> node.idle, node.ready
    (Resource(cpu=4000, memory=0), True)
    """

    __slots__ = ("table", "row", "tasks", "name", "node", "revocable_zone",
                 "resource_usage", "allocatable", "idle_has_scalars")

    def __init__(self, name: str, table: NodeTable, node: Node | None = None,
                 attachable: Mapping[str, str] | None = None):
        self.name, self.table = name, table
        self.node: Node = _UNKNOWN if node is None else node
        self.tasks: dict[str, TaskInfo] = {}
        self.resource_usage: NodeUsage = NO_USAGE
        self.row = table.add_row(Resource())
        if node is not None:
            table.set_allocatable(self.row, self._read_node(node, attachable))
        else:
            self.allocatable, self.idle_has_scalars = Resource(), False
            self.revocable_zone = ""

    def _read_node(self, node: Node, attachable: Mapping[str, str] | None) -> Resource:
        """Apply the object and the node's CSINode; return the allocatable resources."""
        labels, notes = node.metadata.labels, node.metadata.annotations
        extra = Resource(parse_float(notes.get(OVERSUBSCRIPTION_CPU)),
                         parse_float(notes.get(OVERSUBSCRIPTION_MEMORY)))
        self.node = node
        self.revocable_zone = labels.get(REVOCABLE_ZONE, "")
        usage = usage_of(notes)
        if usage is not NO_USAGE:
            self.resource_usage = usage
        offered = node.status.allocatable
        self.allocatable = Resource.from_list({**offered, **(attachable or {})}) + extra
        self.idle_has_scalars = bool(self.allocatable.scalars)
        return self.allocatable

    def set_node(self, node: Node, attachable: Mapping[str, str] | None = None) -> None:
        """Set or replace the object: recount the node's tasks against its allocatable resources."""
        self.table.set_allocatable(self.row, self._read_node(node, attachable))
        for task in self.tasks.values():
            self._account(task, put=True)

    def unset_node(self) -> None:
        """Delete the object; the node's tasks are kept, but not counted until it has one again."""
        self.node, self.allocatable = _UNKNOWN, Resource()
        self.table.set_allocatable(self.row, Resource())

    def snapshot(self, table: NodeTable, row: int) -> NodeInfo:
        """Return the same node over a copied table. Tasks on a node are never changed in place, so
        both may share them.
        """
        node = NodeInfo.__new__(NodeInfo)
        node.table, node.row, node.tasks = table, row, dict(self.tasks)
        node.name, node.node, node.allocatable = self.name, self.node, self.allocatable
        node.revocable_zone, node.resource_usage = self.revocable_zone, self.resource_usage
        node.idle_has_scalars = bool(node.allocatable.scalars)
        if self.idle_has_scalars is not node.idle_has_scalars:  # Volcano counts a copy from zero
            table.set_allocatable(row, node.allocatable)
            for task in node.tasks.values():
                node._account(task, put=True)
        return node

    # -- amounts ---------------------------------------------------------------------------------

    @property
    def ready(self) -> bool:
        """Whether the node has an object."""
        return self.node is not None

    @property
    def labels(self) -> dict[str, str]:
        """The labels of its object; empty without one."""
        return self.node.metadata.labels if self.node is not None else {}

    @property
    def scalar_names(self) -> set[str]:
        """The scalar resources in the node's accounts: those it offers and, if it offers any, those
        in its tasks' requests, even with the amount 0.
        """
        offered = self.allocatable.scalars or {}
        return {*offered, *(name for task in self.tasks.values() if offered
                            for name in task.resreq.scalars or ())}

    @property
    def idle(self) -> Resource:
        return self.table.resource("idle", self.row)

    @property
    def used(self) -> Resource:
        return self.table.resource("used", self.row)

    @property
    def releasing(self) -> Resource:
        return self.table.resource("releasing", self.row)

    @property
    def pipelined(self) -> Resource:
        return self.table.resource("pipelined", self.row)

    @property
    def future_idle(self) -> Resource:
        """Return idle plus releasing minus pipelined resources."""
        return self.table.future_idle_resource(self.row)

    def has_room(self, request: Resource) -> bool:
        """Return whether a request fits the idle resources."""
        return self.table.has_room(self.row, request)

    # -- tasks -----------------------------------------------------------------------------------

    def add_task(self, task: TaskInfo) -> None:
        """Add a copy of a task to the node, count it by its status, and set the task's node name.

        Raises `NodeError` where it is on another node, is here already, or is binding and does not
        fit.
        """
        if task.node_name and self.name and task.node_name != self.name:
            raise NodeError(
                f"task <{task.namespace}/{task.name}> already on different node <{task.node_name}>")
        if task.key in self.tasks:
            raise NodeError(f"task <{task.namespace}/{task.name}> already on node <{self.name}>")
        if task.status == BINDING and self.node is not None and not self.has_room(task.resreq):
            names = task.resreq.less_equal_with_resources_name(self.idle, ZERO)[1]
            raise NodeError(f"node {self.name} resources {names} are not enough to put task "
                            f"<{task.key}>, idle: {self.idle}, req: {task.resreq}")
        copy = task.clone()
        task.node_name = copy.node_name = self.name
        self.tasks[task.key] = copy
        self._account(copy, put=True)

    def remove_task(self, task: TaskInfo) -> None:
        """Remove a task from the node, with the amounts of its placement; no effect where it is not
        there.
        """
        known = self.tasks.pop(task.key, None)
        if known is not None:
            self._account(known, put=False)

    def update_task(self, task: TaskInfo) -> None:
        """Count a task again by its current status."""
        self.remove_task(task)
        self.add_task(task)

    def _account(self, task: TaskInfo, put: bool) -> None:
        if self.node is None:
            return
        table, row = self.table, self.row
        amounts = table.vector(task.resreq)[0]
        if not put:
            amounts = -amounts
        table.changes.append(row)
        if task.status == PIPELINED:
            table.pipelined[row] += amounts
            return
        # idle without any scalar has none subtracted, but gets those of a removed task
        if put and not self.idle_has_scalars:
            table.idle[row, :2] -= amounts[:2]
        else:
            table.idle[row] -= amounts
            self.idle_has_scalars = self.idle_has_scalars or bool(task.resreq.scalars)
        table.used[row] += amounts
        if task.status == RELEASING:
            table.releasing[row] += amounts

    def __repr__(self) -> str:
        return f"NodeInfo({self.name}, idle {self.idle}, {len(self.tasks)} tasks)"


class NodeList(list[NodeInfo]):
    """Nodes in a given order. `number` identifies the list; `rows` are their rows of the node
    table, computed once: the list must not change afterwards.
    """

    __slots__ = ("number", "_rows")
    _numbers = count()

    def __init__(self, nodes: Iterable[NodeInfo] = ()):
        super().__init__(nodes)
        self.number = next(self._numbers)
        self._rows: np.ndarray | None = None

    @property
    def rows(self) -> np.ndarray:
        """Row indices, of shape (nodes,)."""
        if self._rows is None:
            self._rows = np.array([node.row for node in self], dtype=np.intp)
        return self._rows
