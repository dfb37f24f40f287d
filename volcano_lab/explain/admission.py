"""Why a PodGroup is not admitted: what the plugins compared, and who holds what they counted."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from volcano_lab.api import MIN_RESOURCE, JobInfo, amount_text, total
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Cause, added, amounts_text, part
from volcano_lab.explain.holders import by_whom, held_text, phase_text
from volcano_lab.explain.nodes import closed_causes
from volcano_lab.explain.origin import (
    closed,
    level_called,
    over_cause,
    queues_above,
    refused,
    too_large,
)
from volcano_lab.trace import Record
from volcano_lab.trace.plain import amounts


def admission_causes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Why a job's PodGroup is still Pending, from the refusals that were recorded."""
    if "enqueue" not in seen.ssn.enabled_actions:
        yield Cause("no_enqueue_action",
                    "The configuration has neither enqueue nor allocate, which would admit it.")
        return
    queue = seen.ssn.queues[job.queue]
    if not queue.is_open:
        yield closed(seen, job.queue, job.uid)
        return
    refusals = [record for record in seen.of("job_enqueueable", job=job.uid)
                if record["answer"] < 0]
    compared = [record for record in seen.of("enqueue_comparison", job=job.uid)
                if record["short_of"]]
    for record in compared:
        yield _comparison(seen, job, record)
        yield from by_whom(seen, job, record)
        yield from _unasked(seen, job, record)
    for record in seen.of("quota_comparison", job=job.uid):
        if record["short_of"]:
            kept = {name: [*(record[what].get(name, "0") for what in ("hard", "used", "pending")),
                           record["requested"].get(name.removeprefix("requests."), "0")]
                    for name in record["short_of"]}
            sums = "; ".join(
                f"{name} {hard} in all, {used} used, {pending} of jobs admitted before it in this "
                f"cycle, {asked} requested" for name, (hard, used, pending, asked) in kept.items())
            yield Cause("resource_quota", f"ResourceQuota {record['quota']} of its namespace has "
                        f"too little left of {', '.join(kept)} ({sums}).", {
                            "quota": record["quota"], "wanted": {
                                name: each[1:] for name, each in kept.items()}}, [record])
            names = [name.removeprefix("requests.") for name in kept]
            used = {other.uid: amounts(total(task.resreq for task in other.tasks.values()))
                    for other in seen.ssn.jobs.values() if other.namespace == job.namespace
                    and other is not job}
            text = held_text(seen, used, names, "In use by",
                             partial(phase_text, seen, record))
            yield from [Cause("quota_used", text[1:], {}, [], True)] if text else ()
            yield from _unasked(seen, job, record)
    yield from _beyond_pods(job, compared)
    hopeless = list(too_large(seen, job)) or closed_causes(seen, job)
    yield from hopeless
    told = {record["plugin"] for record in compared
            } | {r["plugin"] for r in seen.of("quota_comparison", job=job.uid)}
    for record in refusals:
        if record["plugin"] not in told:
            yield refused(seen, record, "admit it")


def _beyond_pods(job: JobInfo, compared: list[Record]) -> Iterator[Cause]:
    """That the PodGroup's minResources are more than all its pods ask for."""
    asked = amounts(total(task.resreq for task in job.tasks.values()))
    least = amounts(job.get_min_resources())
    names = dict.fromkeys(name for record in compared for name in record["short_of"]
                          if least.get(name, 0.0) > asked.get(name, 0.0))
    if job.tasks and names:
        yield Cause("min_resources_beyond", f"Its PodGroup's minResources are "
                    f"{amounts_text(least, names)}, but all its pods together ask for "
                    f"{amounts_text(asked, names)}.", {}, [], True)


def _comparison(seen: Evidence, job: JobInfo, record: Record) -> Cause:
    names = record["short_of"]
    if record["plugin"] == "overcommit":
        refused = "; ".join(_overcommit(seen, record, name) for name in names)
        return Cause("overcommit_refuses", f"overcommit refuses it: {refused}.", {
            "asked": part(record["asked"], names), "limit": part(record["limit"], names),
            "short_of": names}, [record])
    level = record["level"]
    parts = ", ".join(f"{words} {amounts_text(record[name], names)}" for name,
                      words in (("min_resources", "its minimum"), ("allocated", "allocated"),
                                ("inqueue", "reserved by admitted jobs"),
                                ("elastic", "less what jobs hold above their minimum"))
                      if any(record[name].get(each) for each in names))
    elastic = part(record["elastic"], names)
    beyond = {"elastic": elastic} if any(elastic.values()) else {}
    return over_cause(seen, job, level, f"{level_called(job, level)} would have to answer for",
                      names, (record["asked"], record["limit"]), [record], f" ({parts}), and",
                      **beyond)


def _overcommit(seen: Evidence, record: Record, name: str) -> str:
    """The sum of one resource: what is reserved and asked for, and what that may be."""
    def said(amount: float) -> str:
        return amount_text(name, amount)

    reserved, least = record["inqueue"].get(name, 0.0), record["min_resources"].get(name, 0.0)
    limit, total = record["limit"].get(name, 0.0), seen.ssn.total_resource.get(name)
    factor = seen.ssn.plugins["overcommit"].factor
    used = total * factor - limit
    less = f", less {said(used)} in use" if used >= MIN_RESOURCE else ""
    if not total:
        return f"{name} {said(least)} requested, and all nodes of the cluster together have 0"
    return (f"{name} {said(reserved)} reserved + {said(least)} requested = "
            f"{said(record['asked'].get(name, 0.0))}, allowed {said(limit)} "
            f"({said(total)} in the cluster x factor {factor:g}{less})")


def _unasked(seen: Evidence, job: JobInfo, record: Record) -> Iterator[Cause]:
    """Queues that would refuse it, too, had they been asked: the first refusal ends the question;
    those of the whole line where it was not a queue's.
    """
    least = amounts(job.get_min_resources())
    asked = {plugin for tier in seen.ssn.points["job_enqueueable"].tiers for plugin, _ in tier}
    counted = asked & {"proportion", "capacity"}
    for name, queue in queues_above(seen, job, record) if counted else ():
        sums = added(added(added(least, queue["allocated"]), queue["inqueue"]),
                     queue["elastic"], -1.0)
        names = [r for r in least if r != "pods" and sums[r] > queue["real_capability"].get(r, 0.0)]
        if names:
            yield over_cause(seen, job, name, f"Queue {name} would refuse it, too: it would have "
                             "to answer for", names, (sums, queue["real_capability"]))
