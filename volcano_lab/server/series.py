"""The series that Volcano's scheduler exposes: name, kind, labels, buckets, and what each means.

Volcano: pkg/scheduler/metrics/*.go, pkg/controllers/metrics/queue.go
"""

from typing import Any

from attrs import define

COUNTER, GAUGE, HISTOGRAM = "counter", "gauge", "histogram"


def exponential(first: float, factor: float, count: int) -> tuple[float, ...]:
    """Limits of buckets, each the one before times a factor.

    >>> exponential(5, 2, 3)
    (5, 10, 20)
    """
    return tuple(first * factor**power for power in range(count))


MILLISECONDS = exponential(5, 2, 15)
JOB = ("job_name", "queue", "job_namespace")
QUEUE, NAMESPACE = ("queue_name",), ("namespace_name",)
STATES = ("inqueue", "pending", "running", "unknown", "completed")


@define(slots=True, frozen=True)
class Series:
    """One series; the name is without the prefix `volcano_`. Without a `source` Volcano 1.14.0
    declares it and never sets it.
    """

    name: str
    kind: str
    labels: tuple[str, ...]
    meaning: str
    source: str = ""
    buckets: tuple[float, ...] = ()

    @property
    def described(self) -> str:
        """The meaning, and the name under which documents about Volcano speak of it where that is
        another.
        """
        other = OTHER_NAMES.get(self.name)
        return f"{self.meaning} (in some documents {other})" if other else self.meaning


OTHER_NAMES = {"e2e_scheduling_latency_milliseconds": "e2e_scheduling_duration_seconds",
               "action_scheduling_latency_milliseconds": "action_duration_seconds",
               "plugin_scheduling_latency_milliseconds": "plugin_scheduling_duration_seconds",
               "task_scheduling_latency_milliseconds": "task_schedule_duration_seconds",
               **{f"queue_{part}_memory_bytes": f"queue_{part}_memory"
                  for part in ("allocated", "request", "deserved")}}
"""Names that documents use and that Volcano 1.14.0 doesn't expose."""


def _amounts(part: str, meaning: str, source: str) -> list[Series]:
    units = {"milli_cpu": "CPU, in thousandths", "memory_bytes": "memory, in bytes",
             "scalar_resources": "any other resource, in thousandths (pods: whole)"}
    return [Series(f"queue_{part}_{unit}", GAUGE,
                   (*QUEUE, "resource") if unit == "scalar_resources" else QUEUE,
                   f"{meaning}: {what}", source) for unit, what in units.items()]


BOTH = "proportion or capacity, at the end of the cycle"
GANG = "gang, at the end of the cycle"
SERIES = (
    Series("e2e_scheduling_latency_milliseconds", HISTOGRAM, (), "time of a whole cycle",
           "each cycle", MILLISECONDS),
    Series("action_scheduling_latency_milliseconds", HISTOGRAM, ("action",), "time of an action",
           "each action", MILLISECONDS),
    Series("plugin_scheduling_latency_milliseconds", HISTOGRAM, ("plugin", "OnSession"),
           "time a plugin takes when a session opens (OnSessionOpen) or closes (OnSessionClose)",
           "each plugin", MILLISECONDS),
    Series("task_scheduling_latency_milliseconds", HISTOGRAM, (), "from the creation of a pod "
           "until a session sends it to be bound, and once more until it is bound",
           "commits and binds", MILLISECONDS),
    Series("e2e_job_scheduling_latency_milliseconds", HISTOGRAM, (), "from the creation of a job "
           "until one of its tasks is placed", "allocate and backfill", exponential(32, 2, 10)),
    Series("e2e_job_scheduling_duration", GAUGE, JOB,
           "the same for each job, the last time, in milliseconds", "allocate and backfill"),
    Series("e2e_job_scheduling_start_time", GAUGE, JOB,
           "when a job was created, in seconds since the epoch", "PodGroups"),
    Series("e2e_job_scheduling_last_time", GAUGE, JOB, "when a task of a job was placed last",
           "allocate and backfill"),
    Series("schedule_attempts_total", COUNTER, ("result",), "attempts to schedule pods, by result"),
    Series("pod_preemption_victims", GAUGE, (),
           "how many victims there were the last time a task could preempt", "preempt"),
    Series("total_preemption_attempts", COUNTER, (),
           "how often room was made, or tried to be made, by preemption", "preempt"),
    Series("unschedule_task_count", GAUGE, ("job_id",), "tasks that a gang lacks", GANG),
    Series("unschedule_job_count", GAUGE, (), "gangs that lack tasks", GANG),
    Series("job_share", GAUGE, ("job_ns", "job_id"), "a job's dominant share",
           "drf, at the end of the cycle"),
    Series("job_retry_counts", COUNTER, ("job_id",), "cycles in which a gang lacked tasks", GANG),
    Series("namespace_share", GAUGE, NAMESPACE, "a namespace's share"),
    Series("namespace_weight", GAUGE, NAMESPACE, "a namespace's weight"),
    Series("namespace_weighted_share", GAUGE, NAMESPACE, "a namespace's share over its weight"),
    *_amounts("allocated", "what a queue has", BOTH),
    *_amounts("request", "what a queue's jobs ask for, had and waiting", BOTH),
    *_amounts("deserved", "what a queue deserves", BOTH),
    *_amounts("capacity", "what a queue's author lets it have (no limit: in a tree the largest "
              "number, else 0)", "capacity"),
    *_amounts("real_capacity", "what a queue may have once the guarantees of others are kept",
              "capacity"),
    Series("queue_share", GAUGE, QUEUE,
           "what a queue has over what it deserves, the largest dimension", BOTH),
    Series("queue_weight", GAUGE, QUEUE, "a queue's weight", "proportion"),
    Series("queue_overused", GAUGE, QUEUE, "1 if a queue was found to have what it deserves, "
           "else 0", "proportion (overused) or capacity (preemptive), the last answer"),
    *(Series(f"queue_pod_group_{phase}_count", GAUGE, QUEUE,
             f"PodGroups of a queue that are {phase}",
             "the queue controller; here the status of the queue at the end of the cycle")
      for phase in STATES))


def catalogue() -> list[dict[str, Any]]:
    """A row a series: `name`, `kind`, `labels`, `meaning`, `source`.

    >>> [row["name"] for row in catalogue() if row["labels"] == "action"]
    ['volcano_action_scheduling_latency_milliseconds']
    """
    never = "declared by Volcano 1.14.0, never set"
    return [{"name": f"volcano_{series.name}", "kind": series.kind,
             "labels": ", ".join(series.labels), "meaning": series.described,
             "source": series.source or never} for series in SERIES]
