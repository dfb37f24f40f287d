"""Jobs in a trace: the operations of their statements, and why their pods wait.

Reasons are sentences about the comparisons of enqueue, the gang's condition, unfitting nodes, full
queues. Conditions and fit errors are quoted as Volcano writes them. An outline is enough, so they
are computed at every move of a slider, and for every job in `volcano-lab run`; `explain` has more
details of one job, and what would change it.
"""

from collections.abc import Iterator
from typing import Any

from volcano_lab.api import PENDING, JobInfo, job_conditions
from volcano_lab.framework import Session
from volcano_lab.messages import Message
from volcano_lab.trace import Rows, TraceReader, queue_attributes, short


def statements(trace: TraceReader, job: str = "") -> Rows:
    """Return one row per statement, of one job ("namespace/name") or all: its job, from which
    record to which, its operations, and its outcome.

    `steps` are its operations, [operation, pod, node], and their undoing. `outcome` is "commit",
    "discard", or "" for neither (the remaining operations have no effect). An action's operations
    outside a statement have the number None.

    >>> from volcano_lab.cluster import Cluster
    >>> cycle = Cluster().node("n1", cpu=4).node("n2", cpu=2).job("a", pods=2, cpu=3).run()
    >>> [(row["job"], row["steps"][0], row["outcome"]) for row in statements(cycle.trace)]
    [('default/a', ['allocate', 'default/a-0', 'n1'], 'discard')]
    """
    rows: dict[Any, dict[str, Any]] = {}
    for record in trace.operations:
        number = record["statement"]
        key = (record["task"], record["operation"]) if number is None else number
        row = rows.setdefault(key, {
            "statement": number, "action": record.action, "job": record["job"],
            "from": record.number, "to": record.number, "steps": [], "outcome": ""})
        row["to"] = record.number
        if record.kind == "commit":
            row["outcome"] = "commit"
            continue
        word = record["operation"]
        row["steps"].append([word if record.kind == "do" else f"undo {word}", record["task"],
                             record["node"]])
        if record.kind == "undo":
            row["outcome"] = row["outcome"] or "discard"
        elif word != "evict":
            row["job"] = record["job"]  # the job it serves, not the victims'
    return (row for row in rows.values() if job in ("", row["job"]))


def operations(trace: TraceReader, job: str) -> Rows:
    """Return one row per step of a job's statements, with the undo that followed."""
    for number, statement in enumerate(statements(trace, job), 1):
        for word, pod, node in statement["steps"]:
            yield {"statement": number, "operation": word, "pod": pod, "node": node,
                   "outcome": statement["outcome"]}


def missing(job: JobInfo) -> int:
    """Return how many pods a gang that has not started lacks."""
    waits = job.pod_group.status.phase in ("", "Pending", "Inqueue")
    return max(job.min_available - len(job.tasks), 0) if waits else 0


def reasons(ssn: Session, trace: TraceReader, job: JobInfo) -> list[str]:
    """Return why pods of a job wait, once its session has closed; empty if none waits.

    >>> from volcano_lab.cluster import Cluster
    >>> cycle = Cluster().node("n1", cpu=4).job("train", pods=6, cpu=1).run()
    >>> reasons(cycle.session, cycle.trace, cycle.session.jobs["default/train"])[0]
    'not admitted by overcommit: cpu 6 > limit 4.8'
    """
    if job.tasks and not job.has_pending_tasks() and not missing(job):
        return []
    before = len(trace.records)
    found = list(dict.fromkeys(_reasons(ssn, trace, job)))
    del trace.records[before:]  # remove the records of our own queries
    return found


def _reasons(ssn: Session, trace: TraceReader, job: JobInfo) -> Iterator[str]:
    if not job.tasks:
        yield str(Message("gang.no_pods.short"))
    if job.is_pending():
        yield from _refusals(trace, job)
        if "enqueue" not in ssn.enabled_actions:
            yield str(Message("no_enqueue_action.short"))
    invalid = ssn.job_valid(job)
    if invalid is not None:
        yield f"{invalid.reason}: {invalid.message}"
    for condition in job.pod_group.status.conditions:
        if condition.type == "Unschedulable" and condition.status == "True":
            yield f"{condition.reason}: {condition.message}"
    if job.is_ready() and job.nodes_fit_errors:
        yield job_conditions.fit_error(job)
    if not job.is_pending():
        yield from _queue_full(ssn, trace, job)


def _refusals(trace: TraceReader, job: JobInfo) -> Iterator[str]:
    """Yield the comparisons with which enqueue refused the job."""
    yield from (str(Message("resource_quota.short", quota=record["quota"],
                            names=record["short_of"]))
                for record in trace.iter("quota_comparison", job=job.uid) if record["short_of"])
    for record in trace.iter("enqueue_comparison", job=job.uid):
        if not record["short_of"]:
            continue
        sums = [Message("above_limit", **{side: {name: record[side].get(name, 0.0)}
                                          for side in ("asked", "limit")})
                for name in record["short_of"]]
        level = record.get("level")
        yield str(Message("queue_refuses.short" if level else "overcommit_refuses.short",
                          plugin=record["plugin"], queue=level, sums=sums))


def _queue_full(ssn: Session, trace: TraceReader, job: JobInfo) -> Iterator[str]:
    """Yield the resources of which one more pod exceeds the limit of the queue, or of a parent."""
    queue, attr = ssn.queues[job.queue], queue_attributes(ssn).get(job.queue)
    task = min(job.in_status(PENDING).values(), key=lambda task: task.uid, default=None)
    if task is None or attr is None:
        return
    before = len(trace.records)
    if ssn.allocatable(queue, task):
        return
    levels = [record["level"] for record in trace.records[before:]
              if record.kind == "allocatable_level" and record["task"] == task.key]
    if not queue.is_open:
        yield str(Message("queue_closed.short", queue=queue.name, state=queue.queue.status.state))
        return
    name, code, most = queue.name, "over_deserved.short", attr.deserved
    if "proportion" not in ssn.plugins:
        name = levels[-1] if levels else queue.name  # the last level refused
        attr = queue_attributes(ssn)[name]
        code, most = "queue_over.short", attr.real_capability
    asked = attr.allocated + task.resreq
    _, short_of = asked.less_equal_with_dimension_and_resources_name(most, task.resreq)
    sums = [Message("above_limit" if code == "queue_over.short" else "above_deserved",
                    asked={each: asked.get(each)}, limit={each: most.get(each)})
            for each in short_of]
    yield str(Message(code, queue=name, pod=short(task.key), sums=sums))
