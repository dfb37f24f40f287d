"""The number that decided a job's outcome, as a sentence and as the few words of a lane.

The amounts are those of the recorded comparison; the plugin that compared them is named.
"""

from typing import Any

from volcano_lab.api import in_units
from volcano_lab.explain import Cause
from volcano_lab.explain.head import gap_of
from volcano_lab.messages import Message
from volcano_lab.trace import TraceReader
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.widgets.channels import amount, sharing_plugin, unit_of
from volcano_lab.widgets.story import counted, plain

REASONS = {"overcommit_refuses": "cluster", "over_deserved": "deserved"}
"""A cause of a lacking resource -> the message of the deciding limit; others name their limit."""


def short_reason(cause: Cause, queue: str, plugin: str) -> tuple[str, str]:
    """Return the number that decided, with the plugin, and as short words.

    ("a needs 32 CPUs and deserves 28 (proportion)", "needs 32, deserves 28 CPUs")
    """
    numbers = cause.numbers
    if not numbers.get("short_of") or "limit" not in numbers:
        gap = gap_of(cause)
        brief = str(Message("reason.waits", gap=gap)) if gap else ""
        said: Any = next(iter(cause.sentences), "")
        if cause.code == "gang_invalid":  # without Volcano's message, which says the same
            said = Message("reason.invalid", needs=said.facts["needs"])
        return str(said).rstrip(".。"), brief
    name, level = numbers["short_of"][0], numbers.get("level", queue)
    asked, limit = _compared(numbers, name)
    code, unit = f"reason.{REASONS.get(cause.code, 'limit')}", unit_of(name)
    whole = REASONS.get(cause.code) == "cluster"
    facts = {"queue": level, "plugin": plugin, "asked": plain(asked), "limit": counted(limit, unit)}
    sums = {} if whole else {"asked": _sum(cause, name, asked), "limit": plain(limit)}
    brief = code if whole or level == queue else "reason.level"
    return str(Message(code, **facts | sums)), str(Message(f"{brief}.short", **facts))


def _sum(cause: Cause, name: str, asked: float) -> str:
    """Return what a queue would hold, as the sum of what it holds and its next pod's request."""
    each = amount(in_units(name, cause.numbers.get("each", {}).get(name, 0)), name) or 0
    shown = counted(asked, unit_of(name))
    return str(Message("reason.sum", asked=shown, held=plain(asked - each), each=plain(each))
               ) if 0 < each < asked else shown


def admission(refused: Cause | None, trace: TraceReader, job: str) -> str:
    """Return the sum by which a job is admitted, beside the one that refused it before; "" for a
    refusal without a sum.
    """
    for last in (each for each in (refused.records if refused else ())
                 if each.kind == "enqueue_comparison"):
        for found in trace.iter(last.kind, job=job, plugin=last["plugin"], level=last.get("level")):
            name = last["short_of"][0]
            (asked, limit), (was, had) = (_compared(each, name) for each in (found, last))
            return str(Message(
                "admits.queue" if last.get("level") else "admits.cluster", queue=last.get("level"),
                plugin=last["plugin"], asked=plain(asked), limit=counted(limit, unit_of(name)),
                was=plain(was), had=plain(had)))
    return ""


def _compared(sums: Any, name: str) -> tuple[float, float]:
    """Return what is asked of a resource, and its limit."""
    asked, limit = (amount(in_units(name, sums[side][name]), name) or 0
                    for side in ("asked", "limit"))
    return asked, limit


def held_reason(cycle: Cycle, queue: str, resource: str) -> str:
    """Return what a queue holds of its deserved share or its limit, with the deciding plugin."""
    row = next((row for row in cycle.queues() if row["queue"] == queue), None)
    if row is None:  # no plugin shares between queues
        sums = sum(job.allocated.get(resource) for job in cycle.session.jobs.values()
                   if job.queue == queue)
        return str(Message("held", queue=queue, plugin="",
                           held=plain(amount(in_units(resource, sums), resource) or 0)))
    plugin = sharing_plugin(cycle)
    of = "deserved" if plugin == "proportion" else "real_capability"
    held, most = (amount(row[key].get(resource, 0), resource) for key in ("allocated", of))
    return str(Message("held" if most is None else f"held.{of}", queue=queue, held=plain(held or 0),
                       most=plain(most or 0), plugin=plugin))
