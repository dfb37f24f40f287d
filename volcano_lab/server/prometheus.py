"""Prometheus series under Volcano's names, updated by observing cycles and binds.

The series and their meanings are in `series.py`. Nothing is measured unless a `Metrics` is passed
to a cycle as its observer. Differs on purpose: the values of queues are those at the end of the
cycle, where Volcano also writes intermediate ones; and counters are exposed as untyped, because
Prometheus' library for Python would add `_total` to their names.

Volcano: pkg/scheduler/metrics
"""

import sys
from collections.abc import Callable
from typing import Any

if sys.platform == "emscripten":  # Python in a browser: its `resource` lacks what the library needs
    import resource

    vars(resource).setdefault("getpagesize", lambda: 65536)

from prometheus_client import CollectorRegistry, Gauge, Histogram
from prometheus_client.exposition import generate_latest

from volcano_lab.api import EMPTY, JobInfo, QueueInfo, Resource, TaskInfo, real_capability, total
from volcano_lab.api.job_conditions import schedulable_task_num
from volcano_lab.api.status import BINDING
from volcano_lab.cache.binding import BindingPipeline
from volcano_lab.framework import ExtensionPoint, Observer, Operation, Session, Statement
from volcano_lab.framework.statement import Allocate, Evict
from volcano_lab.server.series import COUNTER, HISTOGRAM, SERIES, STATES, Series, catalogue

__all__ = ["Metrics", "catalogue"]


class _Count(Gauge):
    """A counter whose name gets no suffix."""

    _type = "unknown"


class Metrics(Observer):
    """Pass it to `run_once`, and `attach` it to a binding pipeline; `text()` is the scrape's body.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import Scheduler
    >>> metrics = Metrics()
    >>> _ = Scheduler(Cluster().node("n1", cpu=4).job("a", cpu=2).cache()).run_once(metrics)
    >>> metrics.value("queue_allocated_milli_cpu", queue_name="default")
    2000.0
    """

    _ssn: Session
    """The session that was opened last."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.series: dict[str, Any] = {series.name: self._build(series) for series in SERIES}
        self._scalars: dict[str, set[str]] = {}
        self._queue_names: set[str] = set()
        self._jobs: dict[str, tuple[str, str, str]] = {}

    def _build(self, series: Series) -> Any:
        given: dict[str, Any] = {"labelnames": series.labels, "subsystem": "volcano",
                                 "registry": self.registry}
        if series.kind == HISTOGRAM:
            return Histogram(series.name, series.meaning, buckets=series.buckets, **given)
        return (_Count if series.kind == COUNTER else Gauge)(series.name, series.meaning, **given)

    def text(self) -> str:
        """Return all series in Prometheus' text format."""
        return generate_latest(self.registry).decode()

    def value(self, name: str, **labels: str) -> float | None:
        """Return the value of one series, or None; histograms: name with `_sum` or `_count`."""
        return self.registry.get_sample_value(f"volcano_{name}", labels)

    def attach(self, pipeline: BindingPipeline) -> None:
        """Observe every bind."""
        clock = pipeline.server.clock

        def on_bind(task: TaskInfo, error: str) -> None:
            if not error:
                self._task_scheduled(task, clock())

        pipeline.on_bind = on_bind

    # -- during a cycle ----------------------------------------------------------------------------

    def opened(self, ssn: Session) -> None:
        self._ssn = ssn
        for job in ssn.jobs.values():
            self._job("e2e_job_scheduling_start_time", job, float(int(job.creation_timestamp)))

    def plugin_done(self, ssn: Session, plugin: str, when: str, seconds: float) -> None:
        self._observe("plugin_scheduling_latency", seconds, plugin, when)

    def cycle_ended(self, ssn: Session, times: dict[str, float]) -> None:
        self._observe("e2e_scheduling_latency", times["cycle"])
        for action in ssn.enabled_actions & times.keys():
            self._observe("action_scheduling_latency", times[action], action)

    def watch(self, point: ExtensionPoint, tier: int, plugin: str,
              function: Callable[..., Any]) -> Callable[..., Any]:
        """Record whether a queue is overused; with capacity, whether it may not reclaim."""
        negative = (point.name, plugin) == ("preemptive", "capacity")
        if point.name != "overused" and not negative:
            return function

        def observed(queue: Any, *others: Any) -> Any:
            answer = function(queue, *others)
            self._set("queue_overused", bool(answer) != negative, queue.name)
            return answer

        return observed

    def watch_point(self, point: ExtensionPoint, ask: Callable[..., Any]) -> Callable[..., Any]:
        if point.name != "preemptable":
            return ask

        def observed(*args: Any) -> Any:
            victims = ask(*args)
            if self._action == "preempt":
                self.series["pod_preemption_victims"].set(len(victims or ()))
            return victims

        return observed

    def note(self, kind: str, /, **facts: Any) -> None:
        """Count preemption attempts. Over topologies, several nodes (without "candidates") are
        examined before one is tried.
        """
        if self._action == "preempt" and (kind == "prepared" or
                                          (kind == "victims" and "candidates" in facts)):
            self.series["total_preemption_attempts"].inc()

    def did(self, statement: Statement | None, operation: Operation) -> None:
        if self._action in ("allocate", "backfill") and not isinstance(operation, Evict):
            ssn = self._ssn
            job = ssn.jobs[operation.task.job]
            waited = max(ssn.now - job.creation_timestamp, 0.0)
            self._job("e2e_job_scheduling_duration", job, waited * 1000)
            self._job("e2e_job_scheduling_last_time", job, float(int(ssn.now)))
            self._observe("e2e_job_scheduling_latency", waited)

    def committed(self, statement: Statement | None, operation: Operation) -> None:
        task = operation.task
        if isinstance(operation, Allocate) and task.status == BINDING:  # else it was refused
            self._task_scheduled(task, self._ssn.now)

    def _task_scheduled(self, task: TaskInfo, now: float) -> None:
        self._observe("task_scheduling_latency", max(now - task.creation_timestamp, 0.0))

    def _observe(self, name: str, seconds: float, *labels: str) -> None:
        series = self.series[f"{name}_milliseconds"]
        (series.labels(*labels) if labels else series).observe(seconds * 1000)

    def _set(self, name: str, value: float, *labels: str) -> None:
        self.series[name].labels(*labels).set(value)

    def _job(self, name: str, job: JobInfo, value: float) -> None:
        labels = self._jobs[job.uid] = (job.name, job.queue, job.namespace)
        self._set(name, value, *labels)

    # -- at the end of a cycle ---------------------------------------------------------------------

    def closed(self, ssn: Session) -> None:
        self._forget(ssn)
        self._queues(ssn)
        if "gang" in ssn.plugins:
            self._gangs(ssn)
        if "drf" in ssn.plugins:
            drf: Any = ssn.plugins["drf"]
            for uid, attr in drf.job_attrs.items():
                job = ssn.jobs[uid]
                self._set("job_share", attr.share, job.namespace, job.name)

    def _gangs(self, ssn: Session) -> None:
        gangs = [job for job in ssn.jobs.values() if job.tasks]
        missing = {job.uid: job.min_available - schedulable_task_num(job)
                   for job in gangs if not job.is_ready()}
        self.series["unschedule_job_count"].set(len(missing))
        for job in gangs:
            if not ssn.cache.is_job_terminated(job.uid):
                self._set("unschedule_task_count", missing.get(job.uid, 0), job.name)
                if job.uid in missing:
                    self.series["job_retry_counts"].labels(job.name).inc()

    def _queues(self, ssn: Session) -> None:
        proportion: Any = ssn.plugins.get("proportion")
        capacity: Any = ssn.plugins.get("capacity")
        for name, queue in ssn.queues.items():
            for state in STATES:
                count = getattr(queue.queue.status, state)
                self._set(f"queue_pod_group_{state}_count", count, name)
            if proportion is not None:
                self._held(name, proportion.queue_opts.get(name))
                if name in proportion.queue_opts:
                    self._set("queue_weight", queue.weight, name)
            elif capacity is not None:
                self._held(name, capacity.queue_opts.get(name))
                self._limits(capacity, queue)

    def _held(self, name: str, attr: Any) -> None:
        """Set what a queue has allocated, requests and deserves; 0 if its plugin has no entry."""
        self._amounts("allocated", name, EMPTY if attr is None else attr.allocated)
        self._amounts("request", name, EMPTY if attr is None else attr.request)
        if attr is not None:
            self._amounts("deserved", name, attr.deserved)
            self._set("queue_share", attr.share, name)

    def _limits(self, capacity: Any, queue: QueueInfo) -> None:
        """Set a queue's capacity with the capacity plugin. Without a hierarchy it knows only queues
        with jobs: for the others, the values of their spec.
        """
        attr = capacity.queue_opts.get(queue.name)
        if attr is not None:
            self._amounts("capacity", queue.name, attr.capability)
            self._amounts("real_capacity", queue.name, attr.real_capability)
            return
        spec = queue.queue.spec
        capability = Resource.from_list(spec.capability) if spec.capability else None
        own = Resource.from_list(spec.guarantee.resource)
        guarantees = total(Resource.from_list(each.queue.spec.guarantee.resource)
                           for each in self._ssn.queues.values())
        if capability is not None:
            self._amounts("capacity", queue.name, capability)
        self._amounts("deserved", queue.name, Resource.from_list(spec.deserved))
        self._amounts("real_capacity", queue.name,
                      real_capability(self._ssn.total_resource, guarantees, own, capability))

    def _amounts(self, part: str, queue: str, resource: Resource) -> None:
        """Set the amounts of a resource; a scalar that is no longer present becomes 0."""
        self._set(f"queue_{part}_milli_cpu", resource.milli_cpu, queue)
        self._set(f"queue_{part}_memory_bytes", resource.memory, queue)
        known = self._scalars.setdefault(queue, set())
        known.update(resource.scalars or ())
        for name in sorted(known):
            self._set(f"queue_{part}_scalar_resources", resource.get(name), queue, name)

    def _forget(self, ssn: Session) -> None:
        """Remove the series of deleted queues and jobs."""
        for queue in self._queue_names - ssn.queues.keys():
            self._scalars.pop(queue, None)
            for name, series in self.series.items():
                if name.startswith("queue_"):
                    series.remove_by_labels({"queue_name": queue})
        self._queue_names = set(ssn.queues)
        for uid in self._jobs.keys() - ssn.jobs.keys():
            if not ssn.cache.is_job_terminated(uid):
                continue
            name, queue, namespace = self._jobs.pop(uid)
            labels = {"job_name": name, "queue": queue, "job_namespace": namespace,
                      "job_ns": namespace, "job_id": name}
            for series in SERIES:
                if series.labels and labels.keys() >= {*series.labels}:
                    self.series[series.name].remove_by_labels(
                        {label: labels[label] for label in series.labels})
