"""enqueue: admit pending PodGroups, so that their pods are created.

Volcano: pkg/scheduler/actions/enqueue
"""

from volcano_lab.api import JobInfo, QueueInfo
from volcano_lab.framework import Action, PriorityQueue, Session


class Enqueue(Action):
    """Take one pending job of a queue at a time, queues and jobs in order, and admit it if plugins
    allow.

    A job without `minResources` is admitted unconditionally. A refused job is not tried again in
    the same cycle; its queue is.
    """

    name = "enqueue"

    def execute(self, ssn: Session) -> None:
        queues: PriorityQueue[QueueInfo] = PriorityQueue(ssn.queue_order)
        waiting: dict[str, list[JobInfo]] = {}
        for job in ssn.jobs.values():
            if job.queue not in waiting:
                waiting[job.queue] = []
                queues.push(ssn.queues[job.queue])
            if job.is_pending():
                waiting[job.queue].append(job)
        in_order = {queue: ssn.job_queue(jobs) for queue, jobs in waiting.items()}
        while queues:
            queue = queues.pop()
            ssn.observer.popped("queue", queue, queues)
            jobs = in_order[queue.uid]
            if not jobs:
                continue
            job = jobs.pop()
            ssn.observer.popped("job", job, jobs)
            if job.pod_group.spec.min_resources is None or ssn.job_enqueueable(job):
                ssn.job_enqueued(job)
                job.pod_group.status.phase = "Inqueue"
                ssn.observer.changed("enqueued", job)
            queues.push(queue)
