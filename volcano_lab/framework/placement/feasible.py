"""How many feasible nodes Volcano searches for.

The lab itself tries all nodes, as Volcano does with `--percentage-nodes-to-find=100`; which ones it
would try depends on where the last search stopped.

Volcano: pkg/scheduler/util/scheduler_helper.go (CalculateNumOfFeasibleNodesToFind)
"""

BASELINE = 50
"""The percentage for small clusters; one less for every `STEP` nodes."""

STEP = 125


def nodes_to_find(nodes: int, percentage: int = 0, minimum: int = 100,
                  least_percentage: int = 5) -> int:
    """Return how many feasible nodes are enough for one pod in a cluster of `nodes` nodes.

    `percentage` is `--percentage-nodes-to-find` (0: by the cluster's size), `minimum`
    `--minimum-feasible-nodes`, `least_percentage` `--minimum-percentage-nodes-to-find`. Raises
    `ValueError` for a number of nodes below 0.

    >>> [nodes_to_find(nodes) for nodes in (100, 101, 1000, 5000, 10_000)]
    [100, 100, 420, 500, 500]
    >>> nodes_to_find(1000, percentage=100), nodes_to_find(1000, percentage=20)
    (1000, 200)
    """
    if nodes < 0:
        raise ValueError(f"nodes is {nodes}; allowed is a whole number from 0.")
    if nodes <= minimum or percentage >= 100:
        return nodes
    if percentage <= 0:
        percentage = max(BASELINE - nodes // STEP, least_percentage)
    return max(nodes * percentage // 100, minimum)
