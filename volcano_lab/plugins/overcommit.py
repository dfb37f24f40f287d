"""overcommit: admit jobs while their minimum fits the cluster's resources times a factor.

Argument: `overcommit-factor` (at least 1.0; default 1.2).

Volcano: pkg/scheduler/plugins/overcommit/overcommit.go
"""

from volcano_lab.api import JobInfo, total
from volcano_lab.framework import PERMIT, REJECT, Plugin, Session
from volcano_lab.plugins.admission import format_resource_names, inqueue_resource

DEFAULT_FACTOR = 1.2

class Overcommit(Plugin):
    """`idle_resource` is factor x cluster - used, `inqueue_resource` what admitted jobs reserve of
    it.
    """

    name = "overcommit"

    def on_session_open(self, ssn: Session) -> None:
        self.factor = self.arguments.get_float("overcommit-factor", DEFAULT_FACTOR, least=1.0)
        self.idle_resource = ssn.total_resource * self.factor - ssn.table.total("used")
        self.inqueue_resource = total(map(inqueue_resource, ssn.jobs.values()))

    def job_enqueueable(self, job: JobInfo) -> int:
        if job.pod_group.spec.min_resources is None:
            return PERMIT
        least = job.get_min_resources()
        asked = self.inqueue_resource + least
        fits, names = asked.less_equal_with_dimension_and_resources_name(self.idle_resource, least)
        self.ssn.observer.note("enqueue_comparison", plugin=self.name, job=job.uid, queue=job.queue,
                               min_resources=least, inqueue=self.inqueue_resource, asked=asked,
                               limit=self.idle_resource, short_of=names)
        if fits:
            return PERMIT
        self.ssn.cache.record_event(
            job.pod_group, "Normal", "Unschedulable",
            format_resource_names("resource in cluster is overused", "overused", names))
        return REJECT

    def job_enqueued(self, job: JobInfo) -> None:
        if job.pod_group.spec.min_resources is not None:
            self.inqueue_resource = self.inqueue_resource + job.deduct_sch_gated_resources(
                job.get_min_resources())
