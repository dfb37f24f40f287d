"""Lesson 15: a cluster of any size, and the configuration in which its work is counted."""

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit import scenery


def conf_of(sharing: str = "proportion") -> str:
    """The lesson's configuration; `sharing` is the plugin that shares between queues.

    >>> conf_of().split()[:4]
    ['actions:', '"enqueue,', 'allocate,', 'backfill"']
    """
    return scenery.conf_text("enqueue, allocate, backfill", "priority, gang",
                             f"predicates, {sharing}, nodeorder, binpack")


def cost_cluster(nodes: int = 4, pods: int = 3, gang: int = 0, kinds: int = 1, queues: int = 1,
                 depth: int = 1) -> Cluster:
    """Waiting gangs on empty nodes of 64 CPUs; `gang` pods per job (0: all in one job), of `kinds`
    sizes, in `queues` queues.

    With `depth` each queue is the end of a line of `depth` queues, for the plugin capacity.

    >>> len(cost_cluster(2, 4, gang=2).run(conf_of()).committed)
    4
    """
    cluster = scenery.nodes(range(1, nodes + 1), cpu=64, memory="256Gi")
    for number in range(queues):
        parent = None
        for level in range(depth - 1):
            cluster.queue(f"level-{number}-{level}", parent=parent)
            parent = f"level-{number}-{level}"
        cluster.queue(f"queue-{number}", parent=parent)
    size = gang or pods
    for number in range(pods // size):
        kind = number % kinds + 1
        cluster.job(f"job-{number}", queue=f"queue-{number % queues}", pods=size,
                    cpu=f"{kind * 100}m", memory=f"{kind}Gi")
    return cluster
