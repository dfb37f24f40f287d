"""Lesson 07: whose turn it was and who said so, from the trace; which turns came by an old place;
and what would be if the next queue were found again.
"""

from typing import Any
from unittest.mock import patch

from volcano_lab.actions import allocate
from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.tracing import DataFrame, frame, trace_of
from volcano_lab.framework.priority_queue import PriorityQueue, T
from volcano_lab.trace import Outline, short
from volcano_lab.trace.stepper import state_at
from volcano_lab.trace.views.cycle import Cycle


def job_turns(cluster: Cluster, conf: str) -> DataFrame:
    """A row for each time that allocate took one of two jobs or more: which, before which, who
    decided, by how much.

    `before` is the job that would be next; `shares` what drf compared, `difference` the plugin's
    answer, below 0 because the job that was taken goes first. Where no plugin decides, it is the
    older one.

    >>> from volcano_lab.cluster import Cluster
    >>> pair = Cluster().node("n1", cpu=2).job("a", cpu=1).job("b", cpu=1, priority=1)
    >>> job_turns(pair, 'actions: "enqueue, allocate"')["decided by"].tolist()
    ['age']
    """
    trace = trace_of(cluster, conf)
    rows: list[tuple[Any, ...]] = []
    for record in trace.of("job"):
        job, before, decided = record.values
        if record.action == "allocate" and before is not None:
            plugin, difference = decided or ("", 0)
            held = [state_at(trace, record.number)["jobs"][each].get("share", 0.0) for each in (
                job, before)]
            rows.append((len(rows) + 1, short(job), short(before), plugin or "age",
                         "{:.3g} − {:.3g}".format(*held) if plugin == "drf" else "",
                         f"{difference:.3g}" if plugin else ""))
    return frame(rows, "turn", ["turn", "job", "before", "decided by", "shares", "difference"])


class OldPlaces(Outline):
    """Counts the turns of allocate, and notes those in which the numbers of the moment put another
    queue first (`early`: the turn and that queue).

    >>> from volcano_lab.course.lesson_07.scene import HIERARCHICAL, tree_cluster
    >>> turns = OldPlaces()
    >>> _ = tree_cluster().run(HIERARCHICAL, trace=turns)
    >>> turns.early
    {3: 'sci', 8: 'sci', 12: 'sci'}
    """

    def __init__(self) -> None:
        super().__init__()
        self.early, self._turn = dict[int, str](), 0

    def popped(self, kind: str, item: Any, rest: PriorityQueue[Any]) -> None:
        super().popped(kind, item, rest)
        if (self._action, kind) == ("allocate", "queue"):
            self._turn += 1
            first = PriorityQueue(rest.less, [item, *rest.items]).pop()
            if rest.less(first, item):
                self.early[self._turn] = first.name


class FoundAgain(PriorityQueue[T]):
    """Puts all its items in place again whenever one is taken, where Go's heap trusts the places
    that they have.
    """

    def pop(self) -> T:
        fresh = PriorityQueue(self.less, self.items)
        first, self.items = fresh.pop(), fresh.items
        return first


def run_found_again(cluster: Cluster, conf: str) -> Cycle:
    """A cycle in which allocate finds the next queue and the next job again each time. Volcano does
    not do this.

    >>> from volcano_lab.course.lesson_07.scene import HIERARCHICAL, placed, tree_cluster
    >>> placed(run_found_again(tree_cluster(), HIERARCHICAL))
    {'dev': 3, 'prod': 3, 'sci': 6}
    """
    with patch.object(allocate, "PriorityQueue", FoundAgain):
        return cluster.run(conf)
