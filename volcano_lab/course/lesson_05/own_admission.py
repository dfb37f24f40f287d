"""A reader's own admission: a function that takes the place of capacity's, in a whole cycle (lesson
05).
"""

from collections.abc import Callable

from volcano_lab.api import JobInfo, Resource
from volcano_lab.cluster import Cluster
from volcano_lab.framework.points.rules import PERMIT, REJECT
from volcano_lab.framework.registry import registered
from volcano_lab.plugins.capacity import Capacity
from volcano_lab.plugins.queue_tree import QueueAttr
from volcano_lab.trace.views.cycle import Cycle

JobEnqueueable = Callable[[Resource, list[QueueAttr]], bool]


def short_of(level: QueueAttr, minimum: Resource) -> list[str]:
    """The resources of which a level has too little to let a job with this minimum in; none where
    it has room.

    A resource is short where minimum + allocated + in queue − elastic is more than the level may
    hold.

    >>> level = QueueAttr("a", "a", allocated=Resource(1000.0), real_capability=Resource(2000.0))
    >>> short_of(level, Resource(1500.0))
    ['cpu']
    """
    asked = minimum + level.allocated + level.inqueue - level.elastic
    return asked.less_equal_with_dimension_and_resources_name(level.real_capability, minimum)[1]


def run_with(job_enqueueable: JobEnqueueable, cluster: Cluster, conf: str) -> Cycle:
    """One cycle in which capacity asks `job_enqueueable(minimum, line)`; `line` goes from the job's
    queue up to the root.

    >>> conf = '''actions: "enqueue, allocate"
    ... tiers: [{plugins: [{name: gang}, {name: capacity, enableHierarchy: true}]}]'''
    >>> cluster = Cluster().node("n1", cpu=4).job("train", pods=2, cpu=1)
    >>> run_with(lambda minimum, line: False, cluster, conf).jobs()[0]["phase"]
    'Pending'
    """

    class OwnAdmission(Capacity):
        def job_enqueueable(self, job: JobInfo) -> int:
            return PERMIT if job_enqueueable(job.get_min_resources(), self.tree.line(
                job.queue)) else REJECT

    with registered(plugin={Capacity.name: OwnAdmission}, replace=True):
        return cluster.run(conf)
