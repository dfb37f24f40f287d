"""Why a PodGroup is not let in: what the plugins compared when enqueue asked them."""

from __future__ import annotations

from collections.abc import Iterator

from volcano_lab.api.job import JobInfo
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Cause, added, amounts_text, part
from volcano_lab.trace import Record
from volcano_lab.trace.cycle_record import queue_attributes


def admission_causes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Why a job's PodGroup is still Pending, from the refusals that were recorded."""
    if "enqueue" not in seen.ssn.enabled_actions:
        yield Cause("no_enqueue_action",
                    "The configuration has neither enqueue nor allocate, which would let it in.")
        return
    queue = seen.ssn.queues[job.queue]
    if not queue.is_open:
        yield closed(seen, job)
        return
    refusals = [
        record for record in seen.trace.iter("job_enqueueable", job=job.uid) if record["answer"] < 0
    ]
    compared = [
        record for record in seen.trace.iter("enqueue_comparison", job=job.uid)
        if record["short_of"]
    ]
    for record in compared:
        yield _comparison(job, record)
        yield from _unasked(seen, job, record)
    for record in seen.trace.iter("quota_comparison", job=job.uid):
        if record["short_of"]:
            yield Cause(
                "resource_quota",
                f"ResourceQuota {record['quota']} of its namespace has too little left of "
                f"{', '.join(record['short_of'])}.", {}, [record])
    told = {record["plugin"] for record in compared
            } | {r["plugin"] for r in seen.trace.iter("quota_comparison", job=job.uid)}
    for record in refusals:
        if record["plugin"] not in told:
            text = f"Plugin {record['plugin']} refuses to let it in{warnings_of(seen, record['plugin'])}."
            yield Cause("refused", text, {}, [record])


def closed(seen: Evidence, job: JobInfo) -> Cause:
    state = seen.ssn.queues[job.queue].queue.status.state or "unset"
    records = [
        *seen.trace.of("allocatable", queue=job.queue)[:1],
        *seen.trace.of("job_enqueueable", job=job.uid)[:1]
    ]
    return Cause("queue_closed",
                 f"Queue {job.queue} takes no work: its state is {state}, not Open.",
                 {"state": state}, records)


def _comparison(job: JobInfo, record: Record) -> Cause:
    names = record["short_of"]
    asked, limit = part(record["asked"], names), part(record["limit"], names)
    numbers = {"asked": asked, "limit": limit, "short_of": names}
    if record["plugin"] == "overcommit":
        text = (
            f"overcommit refuses it: with its minimum, jobs that were let in would ask for {amounts_text(asked)} "
            f"of the cluster, where its size times the factor, less what is used, leaves {amounts_text(limit)}."
        )
        return Cause("overcommit_refuses", text, numbers, [record])
    level = record["level"]
    parts = ", ".join(
        f"{words} {amounts_text(record[name], names)}"
        for name, words in (("min_resources", "its minimum"), ("allocated", "allocated"),
                            ("inqueue", "reserved by jobs let in"),
                            ("elastic", "less what jobs hold above their minimum")))
    sums = f"{amounts_text(asked)} ({parts}), and may hold {amounts_text(limit)}"
    if level == job.queue:
        code, where = "queue_over_capability", f"Queue {level}"
    else:
        code, where = "ancestor_over_capability", f"Queue {level}, above queue {job.queue},"
    return Cause(code, f"{where} would have to answer for {sums}.", numbers | {"level": level},
                 [record])


def _unasked(seen: Evidence, job: JobInfo, record: Record) -> Iterator[Cause]:
    """Queues that would refuse it, too, had they been asked: the first refusal ends the question.
    """
    least, queues = record["min_resources"], seen.state_at(record)["queues"]
    for name in _line_above(seen, job, record):
        queue = queues[name]
        asked = added(added(added(least, queue["allocated"]), queue["inqueue"]), queue["elastic"],
                      -1.0)
        names = [
            r for r in least if r != "pods" and asked[r] > queue["real_capability"].get(r, 0.0)
        ]
        if names:
            limit = part(queue["real_capability"], names)
            numbers = {
                "asked": part(asked, names), "limit": limit, "short_of": names, "level": name
            }
            text = (
                f"Queue {name} would refuse it, too: it would have to answer for {amounts_text(numbers['asked'])}, "
                f"and may hold {amounts_text(limit)}.")
            yield Cause(
                "queue_over_capability" if name == job.queue else "ancestor_over_capability", text,
                numbers)


def _line_above(seen: Evidence, job: JobInfo, record: Record) -> list[str]:
    """The queues that come after the one that refused, up to the root; the whole line where
    overcommit refused.
    """
    asked = {plugin for tier in seen.ssn.points["job_enqueueable"].tiers for plugin, _ in tier}
    attrs = queue_attributes(seen.ssn) if asked & {"proportion", "capacity"} else {}
    level = record.get("level")
    attr = attrs.get(level or job.queue)
    if attr is None:
        return []
    return [*([] if level else [job.queue]), *reversed(getattr(attr, "ancestors", ()))]


def warnings_of(seen: Evidence, plugin: str) -> str:
    found = [warning for warning in seen.ssn.warnings if warning.startswith(plugin)]
    return f" ({found[0]})" if found else ""
