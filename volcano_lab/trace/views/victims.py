"""Victims in a trace: whom plugins let go, whom they keep, and who was evicted.

Volcano: pkg/scheduler/framework/session_plugins.go
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

from volcano_lab.trace import Record, TraceReader

POINTS = ("preemptable", "reclaimable")
MAY_GO, STAYS, NOT_ASKED, ABSTAINS = "may go", "stays", "not asked", "abstains"


def votes(trace: TraceReader, task: str | None = None) -> Iterator[dict[str, Any]]:
    """A row a question about victims, plugin and candidate: whether the plugin lets it go, and what
    the tiers made of it.

    `question` counts them; `verdict` is "may go", "stays", "abstains", or "not asked" where an
    earlier answer ended it; `agreed` says whether the candidate may go in the end, `evicted`
    whether it was chosen. `task` is the pod for which room was sought (None: all).
    """
    asked = [record for record in trace.iter("asked") if record["point"] in POINTS]
    voters = {(call["point"], call["plugin"]) for record in asked
              for call in trace.calls_of(record)}
    wanted = [record for record in asked if record["candidates"] and task in (None, record["task"])]
    seats = [(tier, name) for tier, names in enumerate(trace.tiers, 1) for name in names]
    for question, record in enumerate(wanted, 1):
        calls = {call["plugin"]: call for call in trace.calls_of(record)}
        evicted = _evicted_after(trace, record, asked)
        voting = [seat for seat in seats if (record["point"], seat[1]) in voters]
        for (tier, plugin), candidate in product(voting, record["candidates"]):
            yield {"question": question, "action": record.action, "task": record["task"],
                   "tier": tier, "plugin": plugin, "candidate": candidate,
                   "verdict": _verdict(calls.get(plugin), candidate),
                   "agreed": candidate in (record["answer"] or ()),
                   "evicted": candidate in evicted, "number": record.number}


def _evicted_after(trace: TraceReader, record: Record, asked: list[Record]) -> set[str]:
    """The pods that were chosen between a question and the next one."""
    end = next((each.number for each in asked if each.number > record.number), None)
    return {pod for each in trace.records[record.number + 1 : end]
            if each.kind == "victims" for pod in each["chosen"]}


def _verdict(call: Record | None, candidate: str) -> str:
    if call is None:
        return NOT_ASKED
    victims, vote = call["answer"]
    return ABSTAINS if not vote else MAY_GO if candidate in victims else STAYS
