"""The binding pipeline: sends sessions' decisions to the API server, and handles failures.

`AddBindTask`, `processBindTask`, `BindTask`, `Bind`, `defaultEvictor`, `processResyncTask`,
`processCleanupJob`. A task to be bound waits in `channel`; `collect` takes batches from there and
runs the plugins' `pre_bind`; `finish` binds a batch. A task whose binding or eviction failed waits
in `errors` until it is compared with the API server (`resync`).

Differs on purpose: nothing runs by itself. The driver of the pipeline (a simulation, or `drain`)
decides when each step runs, and how long a request takes. The channel has no limit; a job that may
be empty is queued by its name alone. Left out: a task's own handler of bind errors, which nothing
in Volcano sets.

Volcano: pkg/scheduler/cache/cache.go
"""

from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from volcano_lab.api import JobInfo, TaskInfo
from volcano_lab.api.objects import PodCondition
from volcano_lab.cache.api_server import NOT_FOUND, ApiError, ApiServer, with_condition
from volcano_lab.cache.informer import Informer
from volcano_lab.cache.status_updater import SCHEDULER_ERROR, StatusUpdater
from volcano_lab.cache.volume_controller import bind_claims
from volcano_lab.cache.work_queue import WorkQueue
from volcano_lab.framework import BindContext
from volcano_lab.messages import log
from volcano_lab.messages.guard import call_plugin


class BindingPipeline:
    """Sends the decisions of the cache that it is attached to to a server.

    `bind` and `read` are the requests that may fail; `on_bind` is called with each result (the
    task, and the error or ""). `batch` is how many tasks one worker takes at a time.

    >>> from volcano_lab.cache import Cache
    >>> server = ApiServer()
    >>> pipeline = BindingPipeline(Informer(Cache()), server)
    >>> pipeline.drain(), pipeline.idle
    (None, True)
    """

    def __init__(self, informer: Informer, server: ApiServer, batch: int = 1):
        self.informer, self.cache, self.server, self.batch = informer, informer.cache, server, batch
        self.status = StatusUpdater(server)
        self.channel: deque[BindContext] = deque()
        self.in_flight: dict[int, list[BindContext]] = {}
        self.evictions: deque[tuple[TaskInfo, str]] = deque()
        self.errors, self.deleted_jobs = WorkQueue(), WorkQueue()
        self.bind: Callable[[str, str, str], Any] = server.bind
        self.read: Callable[[str, str], Any] = server.get
        self.on_bind: Callable[[TaskInfo, str], None] | None = None
        self.batches = 0
        self.cache.pipeline = self

    # -- from the cache ----------------------------------------------------------------------------

    def send(self, context: BindContext) -> None:
        """Queue a task to be bound."""
        log.v(5, "task %s waits to be bound to node %s", context.task.key, context.task.node_name)
        self.channel.append(context)

    def evict(self, task: TaskInfo, reason: str) -> None:
        """Queue a task to be evicted."""
        self.evictions.append((task, reason))

    def clean_up(self, job: JobInfo) -> None:
        """Queue a job that may be empty; it is deleted once that is certain."""
        if job.pod_group is None:
            self.deleted_jobs.add(job.uid, self.server.clock())

    @property
    def idle(self) -> bool:
        """Whether nothing is queued or in flight."""
        return not (self.channel or self.in_flight or self.evictions or self.errors
                    or self.deleted_jobs)

    # -- binding ---------------------------------------------------------------------------------

    def collect(self) -> list[int]:
        """Take all tasks from the channel, in batches, run plugins' `pre_bind` for them, and return
        the batches' numbers.
        """
        numbers = []
        while self.channel:
            contexts = [*islice(self.channel, self.batch)]
            for _ in contexts:
                self.channel.popleft()
            log.v(5, "a worker takes %d task%s to bind", len(contexts), "s" * (len(contexts) > 1))
            prepared = [context for context in contexts if self._pre_bind(context)]
            if prepared:
                self.batches += 1
                self.in_flight[self.batches] = prepared
                numbers.append(self.batches)
        return numbers

    def _pre_bind(self, context: BindContext) -> bool:
        """Run plugins' `pre_bind` for a task; where one fails, roll back those before it, the last
        one first.
        """
        done: list[tuple[str, Any]] = []
        for name, binder in sorted(self.cache.pre_binders.items()):
            try:
                call_plugin(binder, f'plugin "{name}", pre_bind', binder.pre_bind, context)
            except Exception as error:  # one plugin's error must not stop the others
                self._roll_back(done, context)
                reason = (f"execute preBind for pod {context.task.key} failed: "
                          f"{error.__cause__ or error}, resync the task")
                log.error("%s", error)
                self._failed(context.task, reason)
                return False
            done.append((name, binder))
        task, node = context.task, self.cache.nodes.get(context.task.node_name)
        if self.cache.storage and node is not None:
            bind_claims(self.server, self.cache.storage, task.pod, node.node)
        return True

    def _roll_back(self, done: list[tuple[str, Any]], context: BindContext) -> None:
        """Roll back plugins' `pre_bind` for a task, the last one first."""
        for name, binder in reversed(done):
            try:
                call_plugin(binder, f'plugin "{name}", pre_bind_roll_back',
                            binder.pre_bind_roll_back, context)
            except Exception as error:  # the others still have to roll back
                log.error("%s", error)

    def finish(self, number: int) -> None:
        """Bind a batch: each task succeeds or fails on its own."""
        contexts = self.in_flight.pop(number)
        failed = 0
        for context in contexts:
            task = context.task
            try:
                self.bind(task.key, task.uid, task.node_name)
            except ApiError as error:
                failed += 1
                log.error("failed to bind pod %s to node %s: %s", task.key, task.node_name, error)
                self._roll_back(sorted(self.cache.pre_binders.items()), context)
                self._failed(task, f"failed to bind to node {task.node_name}: {error}")
                answer = str(error)
            else:
                answer, message = "", f"Successfully assigned {task.key} to {task.node_name}"
                self.status.record(f"Pod {task.key}", "Normal", "Scheduled", message)
            if self.on_bind is not None:
                self.on_bind(task, answer)
        log.v(3, "bound %d tasks, %d failed", len(contexts) - failed, failed)

    def _failed(self, task: TaskInfo, message: str) -> None:
        self.status.task_unschedulable(task, SCHEDULER_ERROR, message)
        log.v(2, "task %s is compared with the API server", task.key)
        self.resync_task(task)

    # -- evicting --------------------------------------------------------------------------------

    def process_evictions(self) -> None:
        """Ask the server to delete evicted pods, with the reason in the pod's status."""
        while self.evictions:
            task, reason = self.evictions.popleft()
            try:
                self._evict(task, reason)
            except ApiError as error:
                log.error("failed to evict pod %s: %s", task.key, error)
                self.resync_task(task)

    def _evict(self, task: TaskInfo, reason: str) -> None:
        """Evict a pod, unless its status already has the eviction with that reason."""
        log.v(3, "evict pod %s: %s", task.key, reason)
        message, now = f"Pod is evicted, because of {reason}", self.server.now()
        self.status.record(f"Pod {task.key}", "Warning", "Evict", message)
        pod = task.pod
        reported = with_condition(pod, PodCondition("Ready", "False", "Evict", message), now)
        why = f"{pod.spec.scheduler_name}: preempting to accommodate a higher priority pod"
        marked = with_condition(
            reported, PodCondition("DisruptionTarget", "True", "PreemptionByScheduler", why), now)
        if reported is pod or marked is reported:
            log.v(1, "pod %s is marked as evicted already", task.key)
            return
        self.server.update(marked)
        self.server.delete("Pod", task.key)

    # -- failures --------------------------------------------------------------------------------

    def resync_task(self, task: TaskInfo) -> None:
        """Queue a task to be compared with the API server."""
        self.errors.add(f"{task.job}/{task.uid}", self.server.clock())

    def resync(self) -> None:
        """Update every task that is due from the API server; one that cannot be read is retried
        later.
        """
        now = self.server.clock()
        while (key := self.errors.get(now)) is not None:
            log.v(5, "%d more tasks wait to be compared", len(self.errors))
            job_uid, _, uid = key.rpartition("/")
            task = self.cache.jobs[job_uid].tasks.get(uid) if job_uid in self.cache.jobs else None
            if task is None:
                self.errors.forget(key)
                continue
            pod = None
            try:
                pod = self.read("Pod", task.key)
            except ApiError as error:
                if error.reason != NOT_FOUND:
                    delay = self.errors.retry(key, now)
                    log.error("failed to read pod %s, again in %g s: %s", task.key, delay, error)
                    continue
            self.informer.refresh("Pod", task.key, pod, self.server.version)
            self.errors.forget(key)
            log.v(4, "pod %s is what the API server says", task.key)

    def clean_up_jobs(self) -> None:
        """Delete empty jobs; one that still has pods is checked again later."""
        now = self.server.clock()
        while (uid := self.deleted_jobs.get(now)) is not None:
            job = self.cache.jobs.get(uid)
            if job is not None and job.pod_group is None:  # else it is gone, or there again
                if job.tasks:
                    self.deleted_jobs.retry(uid, now)
                    continue
                del self.cache.jobs[uid]
                log.v(3, "job %s is gone", uid)
            self.deleted_jobs.forget(uid)

    def next_due(self) -> float | None:
        """Return when the next retry is due, in seconds since the epoch; None without any."""
        return min((due for due in (self.errors.next_due(), self.deleted_jobs.next_due())
                    if due is not None), default=None)

    def retry(self) -> None:
        """Run all retries that are due."""
        self.resync()
        self.clean_up_jobs()

    def drain(self) -> None:
        """Run every step that is possible now, without any time passing."""
        for number in self.collect():
            self.finish(number)
        self.process_evictions()
        self.retry()

    def bound_for(self) -> Sequence[BindContext]:
        """Return every task that is queued or in flight to be bound."""
        return [*self.channel,
                *(context for contexts in self.in_flight.values() for context in contexts)]
