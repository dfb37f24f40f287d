"""The scenes of lesson 06: statements of the scheduler's own actions, and some worked by hand.

Volcano: none
"""

from collections.abc import Callable

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.scenery import cluster_of, conf_text
from volcano_lab.course.kit.tracing import trace_of
from volcano_lab.debug.sandbox import Rehearsal
from volcano_lab.trace import Trace, TraceReader

CONF = conf_text("enqueue, allocate", "gang, proportion")
"""Two actions, two plugins: enough for a statement."""

RECLAIM = conf_text("enqueue, allocate, reclaim", "gang, proportion",
                    switches={"proportion": "enableJobEnqueued: false"})
"""Jobs are admitted even where queues are full, so that reclaim has somebody to make room for."""


def gang_that_fits() -> Cluster:
    """A pod of 2 CPUs runs; a gang of three such pods waits, and 6 CPUs are idle."""
    return cluster_of("06", "fits")


def gang_that_does_not_fit() -> Cluster:
    """The same 6 CPUs are idle, but three on each node: room for two pods of 2 CPUs."""
    return cluster_of("06", "does_not_fit")


def full_cluster(minimum: int = 1) -> Cluster:
    """Job web of queue a holds all 8 CPUs and needs `minimum` of its four pods; a gang of two waits
    in queue b.
    """
    return cluster_of("06", "full").job("web", min_member=minimum)


def half_full() -> Cluster:
    """Job web holds node-0; node-1 is empty, and a gang of two waits."""
    return cluster_of("06", "half_full")


def saved_and_recovered() -> Trace:
    """Two plans are tried, and the first, which was saved, is done again and committed."""
    by_hand = Rehearsal(half_full())
    first = by_hand.statement().allocate("train-0", "node-1").allocate("train-1", "node-1")
    saved = first.save()
    first.discard()
    by_hand.statement().evict("web-1").pipeline("train-0", "node-0").allocate("train-1",
                                                                              "node-1").discard()
    by_hand.statement().recover(saved).commit()
    return by_hand.trace


def refused_by_the_cache() -> Trace:
    """Between the snapshot and the commit, node-1 leaves the cluster."""
    by_hand = Rehearsal(gang_that_fits())
    statement = by_hand.statement().allocate("train-0", "node-0")
    statement.allocate("train-1", "node-1").allocate("train-2", "node-1")
    by_hand.lose_node("node-1")
    statement.commit()
    return by_hand.trace


SCENES: dict[str, Callable[[], TraceReader]] = {
    "a gang that fits: commit": lambda: trace_of(gang_that_fits(), CONF),
    "a gang that does not fit: discard": lambda: trace_of(gang_that_does_not_fit(), CONF),
    "a promise: evict, pipeline, commit": lambda: trace_of(full_cluster(), RECLAIM),
    "half a gang: evict, pipeline, discard": lambda: trace_of(full_cluster(3), RECLAIM),
    "two plans: save, discard, recover": saved_and_recovered,
    "a commit that the cache refuses in part": refused_by_the_cache}
"""Name -> a function that makes the trace."""
