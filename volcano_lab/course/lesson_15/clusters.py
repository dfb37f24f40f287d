"""Lesson 15: the power with which work grows, and plugins to find the slow one among."""

import math
import statistics
from collections.abc import Sequence

from volcano_lab.framework.plugin import Plugin


def exponent(sizes: Sequence[float], counts: Sequence[float]) -> float:
    """The power with which counts grow: 0 not at all, 1 with the size, 2 with its square.

    >>> exponent([1, 2, 4], [3, 6, 12]), exponent([1, 2, 4], [5, 5, 5])
    (1.0, 0.0)
    """
    x, y = [math.log(size) for size in sizes], [math.log(count) for count in counts]
    return round(statistics.linear_regression(x, y).slope, 2) + 0.0


# -- plugins of one's own, for the search for the slow one


class Quick(Plugin):
    """One look at a label."""

    def node_order(self, task, node):
        return 1 if node.labels.get("disk") == "ssd" else 0


class Thorough(Plugin):
    """For every pair it goes through all nodes again."""

    def on_session_open(self, ssn):
        self.ssn = ssn

    def node_order(self, task, node):
        by_load = sorted((other.used.milli_cpu, other.name) for other in self.ssn.node_list)
        return by_load.index((node.used.milli_cpu, node.name)) / 1000


class OnceAPod(Plugin):
    """It answers for all nodes in one call."""

    def batch_node_order(self, task, nodes):
        return {node.name: 0.0 for node in nodes}


COLOURS = {"red": Quick, "green": Thorough, "blue": OnceAPod}
"""The plugins of the search, by names that say nothing."""
