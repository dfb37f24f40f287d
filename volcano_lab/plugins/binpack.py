"""binpack: prefer the node that is fullest with the task.

Arguments: `binpack.weight`, `binpack.cpu`, `binpack.memory`, `binpack.resources` (names, comma
separated) and `binpack.resources.NAME`; each weight is an integer, 1 by default.

Volcano: pkg/scheduler/plugins/binpack/binpack.go
"""

from collections.abc import Iterable, Mapping
from typing import Any

from volcano_lab.api import NodeInfo, Resource, TaskInfo
from volcano_lab.api.node_table import Memo, RowFormula, where
from volcano_lab.framework import Plugin, Session, active_if

MAX_NODE_SCORE = 100
Term = tuple[Any, float, int]


class Binpack(Plugin):
    """Scores from 0 to 100 x weight: the weighted mean, over the requested resources, of the node's
    utilization with the task.
    """

    name = "binpack"
    alike_by_template = True

    def on_session_open(self, ssn: Session) -> None:
        self.weight = self.arguments.get_weight("binpack.weight", 1)
        self.resources = self.arguments.get_resource_weights("binpack.")
        self.table = ssn.table
        self._formulas = Memo(self._formula)

    @active_if("weight")
    def node_order(self, task: TaskInfo, node: NodeInfo) -> float:
        score: float = self.node_order_formula(task).at(node.row)
        return score

    def node_order_key(self, task: TaskInfo) -> Resource:
        return task.resreq

    def node_order_formula(self, task: TaskInfo) -> RowFormula:
        return self._formulas[task.resreq]

    def _formula(self, request: Resource) -> RowFormula:
        table, scale = self.table, MAX_NODE_SCORE * self.weight
        table.ensure(request.resource_names())
        terms = [(table.columns[name], amount, weight)
                 for name, amount, weight in _weighed(request, self.resources)]
        return RowFormula(lambda: (table.allocatable, table.used),
                          lambda allocatable, used: _fullness(terms, allocatable, used) * scale)


def binpacking_score(request: Resource, allocatable: Resource, used: Resource,
                     weights: Mapping[str, int]) -> float:
    """Return a node's utilization with the request, from 0 to 1; 0 where it does not fit.

    >>> binpacking_score(Resource(1000.0, 2.0), Resource(4000.0, 8.0), Resource(1000.0, 2.0),
    ...                  {"cpu": 1, "memory": 1})
    0.5
    """
    names = request.resource_names()
    score: float = _fullness(_weighed(request, weights),
                             {name: allocatable.get(name) for name in names},
                             {name: used.get(name) for name in names})
    return score


def _weighed(request: Resource, weights: Mapping[str, int]) -> list[tuple[str, float, int]]:
    return [(name, request.get(name), weights[name]) for name in request.resource_names()
            if name in weights]


def _fullness(terms: Iterable[Term], allocatable: Any, used: Any) -> Any:
    """Return the score for amounts of one node or arrays of many; a term is a resource's key in
    them, its request, and its weight.
    """
    score, total, too_much = 0.0, 0, False
    for key, amount, weight in terms:
        capacity, filled = allocatable[key], used[key] + amount
        if weight:
            counts = capacity != 0
            too_much = too_much | (counts & (filled > capacity))
            score = score + where(counts, filled * weight / where(counts, capacity, 1.0), 0.0)
        total += weight
    return where(too_much, 0.0, score / total if total else score)

