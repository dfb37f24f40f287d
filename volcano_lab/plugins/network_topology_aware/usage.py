"""network-topology-aware: the utilization of HyperNodes, kept up to date, with and without a
request.

Volcano: pkg/scheduler/plugins/network-topology-aware/network_topology_aware.go (resourceStatus,
priorityWeight)
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import partial

import numpy as np

from volcano_lab.api import ZERO, Memo, NodeList, Resource, RowMemo
from volcano_lab.framework import Session


class HyperNodeUsage:
    """Each HyperNode's allocatable resources, its tasks' requests, and the idle and future idle
    resources when the session opened.

    `names` are all HyperNodes, ascending; `places` has each one's index in the lists. `used` holds
    amounts by resource; `changes` lists the changed indices, for `RowMemo`. `holders` maps each
    node to the indices of the HyperNodes that hold it.
    """

    def __init__(self, ssn: Session, weights: Mapping[str, int]):
        self.weights = weights
        self.names = sorted(ssn.topology.hyper_nodes)
        self.places = {name: place for place, name in enumerate(self.names)}
        self.count = len(self.names)
        self.changes: list[int] = []
        table, rows = ssn.table, []
        self.holders: dict[str, list[int]] = {}
        for place, name in enumerate(self.names):
            nodes = ssn.topology.nodes.get(name, NodeList())
            rows.append(nodes.rows)
            for node in nodes:
                self.holders.setdefault(node.name, []).append(place)

        def sums(amounts: np.ndarray) -> list[Resource]:
            return [Resource.from_dict(dict(zip(table.dimensions, amounts[held].sum(
                axis=0).tolist(), strict=True))) for held in rows]

        self.allocatable, self.idle, self.future_idle = map(
            sums, (table.allocatable, table.idle, table.future_idle()))
        self.used = [defaultdict(float, resource.items) for resource in sums(table.used)]
        self._pod_scores = Memo(self._score_memo)

    def add(self, node: str, request: Resource, sign: float = 1.0) -> None:
        """Add a task to a node's HyperNodes or, with sign -1, remove it."""
        for place in self.holders.get(node, ()):
            used = self.used[place]
            for name, amount in request.items:
                used[name] += sign * amount
            self.changes.append(place)

    def fits(self, request: Resource, name: str) -> bool:
        """Return whether a HyperNode fitted the request, idle or future idle, when the session
        opened; later placements do not count.
        """
        place = self.places[name]
        return request.less_equal(self.idle[place], ZERO) or request.less_equal(
            self.future_idle[place], ZERO)

    def pod_scores(self, request: Resource) -> np.ndarray:
        """Return `score` of every HyperNode for one pod; the caller must not modify it."""
        return self._pod_scores[request].current()

    def _score_memo(self, request: Resource) -> RowMemo:
        one = partial(self.score, self.asked_for(request))
        return RowMemo(self, lambda places: np.array(list(map(one, places.tolist()))), one)

    def asked_for(self, request: Resource) -> list[tuple[str, float]]:
        """Return (resource, amount) of a request's weighted resources."""
        return [(name, request.get(name))
                for name in request.resource_names() if name in self.weights]

    def score(self, request: Iterable[tuple[str, float]], place: int) -> float:
        """Return the utilization of the HyperNode at an index with the request, from 0 to 1: the
        weighted mean over the requested resources; 0 where it does not fit.
        """
        allocatable, used = self.allocatable[place], self.used[place]
        score, weights = 0.0, 0
        for name, amount in request:
            offered, filled = allocatable.get(name), used[name] + amount
            if filled > offered:
                return 0.0
            score += self.weights[name] * (filled / offered)
            weights += self.weights[name]
        return score / weights if weights > 0 else 0.0


def sum_by_name(requests: Iterable[list[tuple[str, float]]]) -> list[tuple[str, float]]:
    """Sum amounts by resource, in ascending order of names.

    >>> sum_by_name([[("memory", 1.0), ("cpu", 2.0)], [("cpu", 3.0)]])
    [('cpu', 5.0), ('memory', 1.0)]
    """
    amounts: dict[str, float] = {}
    for request in requests:
        for name, amount in request:
            amounts[name] = amounts.get(name, 0.0) + amount
    return sorted(amounts.items())
