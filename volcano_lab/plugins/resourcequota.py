"""resourcequota: admit a job while its minimum fits its namespace's remaining quotas.

The plugin has no arguments and, as Volcano's, ignores scopes. Quotas are read from their status, as
the quota controller writes it: a quota without a status limits nothing.

Differs on purpose: amounts in the event's text are written as in manifests, not as Go prints its
values.

Volcano: pkg/scheduler/plugins/resourcequota/resourcequota.go
"""

from collections.abc import Mapping

from volcano_lab.api import JobInfo, quantity
from volcano_lab.api.objects import ResourceQuota
from volcano_lab.api.pod_sum import Amounts, add, exceeded, parsed
from volcano_lab.framework import PERMIT, REJECT, Plugin, Session


class ResourceQuotas(Plugin):
    """`pending` is, by namespace, the minimum of all jobs that this plugin has permitted in this
    cycle.
    """

    name = "resourcequota"

    def on_session_open(self, ssn: Session) -> None:
        self.quotas = {namespace: sorted(quotas, key=lambda quota: quota.name)
                       for namespace, quotas in ssn.snapshot.resource_quotas.items()}
        self.pending: dict[str, Amounts] = {}

    def job_enqueueable(self, job: JobInfo) -> int:
        least = job.pod_group.spec.min_resources
        if least is None or job.namespace not in self.quotas:
            return PERMIT
        requested = parsed(least)
        pending = self.pending.setdefault(job.namespace, {})
        for quota in self.quotas[job.namespace]:
            short = exceeded(quota, requested, pending)
            if self.ssn.observer.watching:
                self.ssn.observer.note("quota_comparison", plugin=self.name, job=job.uid,
                                       quota=quota.name, short_of=short, requested=dict(least),
                                       pending={k: quantity.to_text(v) for k, v in pending.items()},
                                       used=dict(quota.status.used), hard=dict(quota.status.hard))
            if short:
                self.ssn.cache.record_event(job.pod_group, "Normal", "Unschedulable",
                                            self._message(quota, least, short))
                return REJECT
        add(pending, requested)
        return PERMIT

    @staticmethod
    def _message(quota: ResourceQuota, least: Mapping[str, str], short: list[str]) -> str:
        parts = [", ".join(f"{name} {amounts[name]}" for name in short if name in amounts)
                 or "nothing" for amounts in (least, quota.status.used, quota.status.hard)]
        return "resource quota insufficient, requested: {}, used: {}, limited: {}".format(*parts)
