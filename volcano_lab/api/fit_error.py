"""Why a task does not fit a node, and the summary of such reasons over nodes.

Volcano: pkg/scheduler/api/unschedule_info.go, pkg/scheduler/api/types.go (Status)
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from attrs import Factory, define

SUCCESS, ERROR, UNSCHEDULABLE, UNRESOLVABLE, WAIT, SKIP = range(6)
"""Codes of a status: ERROR is an internal error, UNSCHEDULABLE may be resolved by evictions,
UNRESOLVABLE (Volcano's UnschedulableAndUnresolvable) may not.
"""

ABORT_CODES = frozenset((UNRESOLVABLE, ERROR, WAIT, SKIP))
"""Codes that end the checks of a node."""

ALL_NODES_UNAVAILABLE = "all nodes are unavailable"

POD_REASON_UNSCHEDULABLE = "Unschedulable"
POD_REASON_SCHEDULABLE = "Schedulable"


@define(slots=True, frozen=True)
class Status:
    """One reason: a code, its message, the check that returned it."""

    code: int
    reason: str = ""
    plugin: str = ""


@define(slots=True)
class FitError:
    """All reasons why one task does not fit one node."""

    task: str
    node: str
    statuses: tuple[Status, ...] = ()

    @property
    def reasons(self) -> list[str]:
        return [status.reason for status in self.statuses]

    def blocks_allocate(self) -> bool:
        """Return whether the allocate action treats this as "does not fit"."""
        return any(status.code != SUCCESS for status in self.statuses)

    def blocks_preempt(self) -> bool:
        """Return whether evictions cannot help: any code but plain UNSCHEDULABLE."""
        return any(status.code in ABORT_CODES for status in self.statuses)

    def unresolvable(self) -> bool:
        return any(status.code == UNRESOLVABLE for status in self.statuses)

    def __str__(self) -> str:
        return f"task {self.task} on node {self.node} fit failed: {', '.join(self.reasons)}"


@define(slots=True)
class FitErrors:
    """The reasons of one task over many nodes, counted for the summary.

    >>> errors = FitErrors()
    >>> too_little = Status(UNSCHEDULABLE, "Insufficient cpu")
    >>> for node in ("n1", "n2"):
    ...     errors.set_node_error(node, FitError("default/a", node, (too_little,)))
    >>> str(errors)
    '0/2 nodes are unavailable: 2 Insufficient cpu.'
    """

    nodes: dict[str, FitError] = Factory(dict)
    hyper_node: str = ""
    message: str = ""

    def set_node_error(self, node: str, error: FitError | str) -> None:
        """Record why the task does not fit `node`; plain text is an `ERROR`."""
        if isinstance(error, str):
            error = FitError("", node, (Status(ERROR, error),))
        self.nodes[node] = error

    def unresolvable_nodes(self) -> set[str]:
        """Return nodes on which evictions would not help."""
        return {name for name, error in self.nodes.items() if error.unresolvable()}

    def reasons(self) -> Counter[str]:
        """Return how many nodes gave each reason."""
        return Counter(reason for error in self.nodes.values() for reason in error.reasons)

    def count(self) -> int:
        """Return on how many nodes the task did not fit."""
        return len(self.nodes)

    def __str__(self) -> str:
        count = self.count()
        if not self.message:
            self.message = f"0/{count} nodes are unavailable"
        if not count:
            return self.message
        text = f"{self.message}: {', '.join(histogram(self.reasons()))}."
        return f"In hyperNode {self.hyper_node}: {text}" if self.hyper_node else text


def unresolvable(task: str, node: str, reason: str, plugin: str = "") -> FitError | None:
    """Return the refusal of a task (by key) on a node that no eviction resolves; None without a
    reason.

    >>> str(unresolvable("team/a-0", "n1", "too hot"))
    'task team/a-0 on node n1 fit failed: too hot'
    """
    status = Status(UNRESOLVABLE, reason, plugin)
    return FitError(task, node, (status,)) if reason else None


def histogram(counts: Mapping[str, int]) -> list[str]:
    """Return "count reason" texts, sorted as text, as conditions show them.

    >>> histogram({"Insufficient cpu": 10, "node(s) were unschedulable": 2})
    ['10 Insufficient cpu', '2 node(s) were unschedulable']
    """
    return sorted(f"{count} {reason}" for reason, count in counts.items())


def insufficient(resource_names: Iterable[str]) -> str:
    """Return the reason for insufficient resources; only the first resource is named.

    >>> insufficient(["cpu", "memory"])
    'Insufficient cpu'
    """
    return next((f"Insufficient {name}" for name in resource_names), "")
