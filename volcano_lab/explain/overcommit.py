"""What plugin overcommit compares when enqueue asks whether it admits a job.

Volcano: none
"""

from collections.abc import Iterator, Mapping
from math import ceil
from typing import Any

from volcano_lab.api import MIN_RESOURCE, JobInfo, total
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Cause, over, part
from volcano_lab.messages import Message
from volcano_lab.trace import Record, amounts


def would_refuse(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield that overcommit, which was not asked as another plugin refused a job before, would
    refuse it, too, by what is reserved once the cycle has ended.
    """
    plugin: Any = seen.ssn.plugins.get("overcommit")
    if plugin is None or seen.of("job_enqueueable", job=job.uid, plugin=plugin.name):
        return
    least = amounts(job.get_min_resources())
    sums = {"min_resources": least, "inqueue": amounts(plugin.inqueue_resource),
            "asked": amounts(plugin.inqueue_resource + job.get_min_resources()),
            "limit": amounts(plugin.idle_resource)}
    if names := [*over(part(sums["asked"], least), sums["limit"])]:
        yield refusal(seen, sums, names, "overcommit_refuses.too")


def refusal(seen: Evidence, sums: Mapping[str, Any] | Record, names: list[str],
            code: str, *records: Record) -> Cause:
    """Return the sums of some resources that overcommit compares with its limit, as it did when it
    refused a job, by the record of that, or would.
    """
    return Cause("overcommit_refuses", [Message(code, sums=[
        _sum(seen, sums, name) for name in names]), *_admitted_with(seen, sums, names)], {
        "asked": part(sums["asked"], names), "limit": part(sums["limit"], names),
        "short_of": names}, [*records], not records)


def _admitted_with(seen: Evidence, sums: Mapping[str, Any] | Record, names: list[str]
                   ) -> Iterator[Message]:
    """Yield the factor that would admit a job of which the nodes together have too little left, and
    what its pods would wait for then.
    """
    plugin: Any = seen.ssn.plugins["overcommit"]
    idle = part(amounts(total(node.idle for node in seen.ssn.nodes.values())), names)
    whole = [(name, seen.ssn.total_resource.get(name)) for name in names]
    least = part(sums["min_resources"], names)
    if (short := over(least, idle)) and not over(least, dict(whole)):
        factor = max(plugin.factor + (sums["asked"][name] - sums["limit"].get(name, 0.0)) / more
                     for name, more in whole)
        yield Message("overcommit.factor", factor=ceil(round(factor * 10, 6)) / 10, short=short)


def _sum(seen: Evidence, sums: Mapping[str, Any] | Record, name: str) -> Message:
    """The sum of one resource: reserved, requested, and the limit."""
    requested, reserved, asked, limit = (part(sums[each], [name]) for each in (
        "min_resources", "inqueue", "asked", "limit"))
    plugin: Any = seen.ssn.plugins["overcommit"]
    whole, factor = seen.ssn.total_resource.get(name), plugin.factor
    used = whole * factor - limit.get(name, 0.0)
    if not whole:
        return Message("overcommit.none", requested=requested)
    return Message("overcommit.sum", reserved=reserved, requested=requested, asked=asked,
                   limit=limit, total={name: whole}, factor=factor, used=Message(
                       "overcommit.used", used={name: used}) if used >= MIN_RESOURCE else None)
