"""What a cycle decided about a tree of queues, as pandas tables; the rows are those of
`queue_levels`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from volcano_lab.display.tables.frame import frame
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.trace.views.queue_levels import admission as admission_rows
from volcano_lab.trace.views.queue_levels import gangs as gang_rows
from volcano_lab.trace.views.queue_levels import levels as level_rows

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS = [
    "queue", "parent", "deserved", "guarantee", "real_capability", "request", "allocated",
    "inqueue", "elastic", "share"
]
SUM = ["job", "level", "minimum", "allocated", "inqueue", "elastic", "sum", "may_hold", "verdict"]


def levels(cycle: Cycle, resource: str = "cpu") -> DataFrame:
    """A row a queue, each below its parent; sums cover all queues below.

    >>> from volcano_lab.cluster import Cluster
    >>> conf = 'actions: "enqueue, allocate"\\ntiers: [{plugins: [{name: gang}, {name: capacity, enableHierarchy: true}]}]'
    >>> cluster = Cluster().node("n1", cpu=4).queue("a").queue("b", parent="a", capability=2)
    >>> levels(cluster.run(conf))["real capability"].tolist()
    [4, 4, 2, 4]
    """
    rows = [{column: row[column] for column in COLUMNS} for row in level_rows(cycle, resource)]
    return frame(rows, COLUMNS, "queue")


def admission(cycle: Cycle, job: str = "", resource: str = "cpu") -> DataFrame:
    """What enqueue compared, level by level: minimum + allocated + in queue − elastic, and what the
    level may hold.
    """
    return frame(list(admission_rows(cycle, job, resource)), SUM, "job")


def gangs(cycle: Cycle) -> DataFrame:
    """What became of each job that waits or was placed."""
    rows = [row | {"operations": ", ".join(row["operations"])} for row in gang_rows(cycle)]
    return frame(rows, ["job", "phase", "statement", "operations", "why"], "job")
