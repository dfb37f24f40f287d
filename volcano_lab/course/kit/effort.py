"""Count the work of one cycle over a cluster."""

from volcano_lab.cluster import Cluster
from volcano_lab.debug.calls import Effort
from volcano_lab.scheduler import Scheduler


def effort_of(cluster: Cluster, conf: str | None = None, arrays: bool = True) -> Effort:
    """Return the work of one cycle over a cluster. Without `arrays` every pair of pod and node is
    filtered, as in Volcano.

    >>> cluster = Cluster().node("n1", cpu=4).node("n2", cpu=4).job("train", pods=3, cpu=1)
    >>> each, shared = effort_of(cluster, arrays=False), effort_of(cluster)
    >>> each, shared
    (<3 pods placed, 6 pairs of pod and node, 6 scored>,
     <3 pods placed, 6 pairs of pod and node, 4 scored>)
    >>> each.count(point="predicate"), shared.count(point="predicate")
    (6, 0)
    """
    effort = Effort()
    Scheduler(cluster.cache(), conf).run_once(effort, arrays)
    return effort
