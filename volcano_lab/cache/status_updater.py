"""A session's results, written to the API server: PodGroups, queues, the conditions of pods,
events.

An update from a version that is not the latest is refused by the server; the next session retries.
Equal events are counted, not stored one by one, as in Kubernetes' recorder.

Volcano: pkg/scheduler/cache/cache.go (defaultStatusUpdater, RecordJobStatusEvent,
taskUnschedulable)
"""

from volcano_lab.api import JobInfo, TaskInfo
from volcano_lab.api.fit_error import ALL_NODES_UNAVAILABLE
from volcano_lab.api.job_conditions import fit_error, task_scheduling_reason
from volcano_lab.api.objects import KubernetesObject, PodCondition
from volcano_lab.api.status import ALLOCATED, PENDING, PIPELINED
from volcano_lab.cache.api_server import ApiError, ApiServer, with_condition
from volcano_lab.messages import log

SCHEDULER_ERROR = "SchedulerError"
UNDECIDED_PHASES = ("Unknown", "Pending", "Inqueue")
EVENT_LIFETIME = 3600.0
"""Seconds after which Kubernetes deletes an event that was not repeated."""
MOST_EVENTS = 5000
"""The most events that are kept, so that a long-running process does not grow."""


class StatusUpdater:
    """Writes to `server`; `events` counts recorded events by (object, type, reason, message), the
    `MOST_EVENTS` latest only.

    `last_seen` has the time of each event's latest occurrence, in seconds since the epoch, the
    oldest first.
    """

    def __init__(self, server: ApiServer):
        self.server = server
        self.events: dict[tuple[str, str, str, str], int] = {}
        self.last_seen: dict[tuple[str, str, str, str], float] = {}

    def record(self, about: str, kind: str, reason: str, message: str) -> None:
        """Count an event of an object, and delete those that are too old or too many."""
        entry, now = (about, kind, reason, message), self.server.clock()
        self.events[entry] = self.events.get(entry, 0) + 1
        self.last_seen.pop(entry, None)
        self.last_seen[entry] = now
        while (self.last_seen[oldest := next(iter(self.last_seen))] <= now - EVENT_LIFETIME
               or len(self.events) > MOST_EVENTS):
            del self.last_seen[oldest], self.events[oldest]

    def write(self, obj: KubernetesObject) -> bool:
        """Write a session's version of an object; return whether the server accepted it."""
        try:
            self.server.update(obj)
        except ApiError as error:
            log.error("failed to update %s %s: %s", obj.kind, obj.key, error)
            return False
        return True

    def record_job_status(self, job: JobInfo, updated: bool) -> None:
        """Record on a job, and on each of its pending pods, why it waits, or that it no longer
        does.

        For pods with a scheduling gate the API server does so.
        """
        text = fit_error(job)
        about = f"PodGroup {job.uid}"
        if job.pod_group.status.phase in UNDECIDED_PHASES:
            waiting = len(job.in_status(PENDING))
            self.record(about, "Warning", "Unschedulable",
                        f"{waiting}/{len(job.tasks)} tasks in gang unschedulable: {text}")
        elif updated:
            self.record(about, "Normal", "Scheduled", "pod group is ready")
        for status in (ALLOCATED, PENDING, PIPELINED):
            for uid, task in sorted(job.in_status(status).items()):
                if not task.sch_gated:
                    reason = task_scheduling_reason(job, uid)
                    message = reason.message or text or ALL_NODES_UNAVAILABLE
                    self.task_unschedulable(task, reason.reason, message, reason.nominated_node)

    def task_unschedulable(self, task: TaskInfo, reason: str, message: str,
                           nominated_node: str = "") -> None:
        """Write in a pod's status why it waits, and the node on which resources are released for
        it.

        A nominated node is kept until another one replaces it: in the next session the pod still
        waits for it. An unchanged status is not written.
        """
        pod = task.pod
        changed = with_condition(pod, PodCondition("PodScheduled", "False", reason, message),
                                 self.server.now())
        if nominated_node and nominated_node != pod.status.nominated_node_name:
            changed = changed.changed(status={"nominated_node_name": nominated_node})
        if changed is pod:
            log.v(4, "pod %s still waits: %s", pod.key, message)
            return
        log.v(3, "pod %s waits, %s: %s", pod.key, reason, message)
        self.record(f"Pod {pod.key}", "Warning", "FailedScheduling", message)
        self.write(changed)
