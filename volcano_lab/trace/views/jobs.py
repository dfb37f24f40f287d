"""Jobs in a trace: what their statements did, and who was to be evicted for them."""

from collections.abc import Iterator
from typing import Any

from volcano_lab.api.status import READY_STATUSES
from volcano_lab.trace import Record, TraceReader

Rows = Iterator[dict[str, Any]]
READY = frozenset(map(str, READY_STATUSES))
POINTS = ("preemptable", "reclaimable")
MAY_GO, STAYS, NOT_ASKED, ABSTAINS = "may go", "stays", "not asked", "abstains"


def statements(trace: TraceReader, job: str = "") -> Rows:
    """One row per statement, of one job ("namespace/name") or all: for whom, from which record to
    which, what it did, and how it ended.

    `steps` are its operations, [operation, pod, node], and their undoing. `outcome` is "commit",
    "discard", or "" for one that neither happened to (what remains of it goes nowhere). What an
    action does without a statement has the number None.

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
            row["job"] = record["job"]  # for whom it is, not from whom it takes
    return (row for row in rows.values() if job in ("", row["job"]))


def operations(trace: TraceReader, job: str) -> Rows:
    """One row per step of a job's statements, with the undoing that followed."""
    for number, statement in enumerate(statements(trace, job), 1):
        for word, pod, node in statement["steps"]:
            yield {"statement": number, "operation": word, "pod": pod, "node": node,
                   "outcome": statement["outcome"]}


def victims(trace: TraceReader, task: str | None = None) -> Rows:
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
    for question, record in enumerate(wanted, 1):
        calls = {call["plugin"]: call for call in trace.calls_of(record)}
        end = next((each.number for each in asked if each.number > record.number), None)
        evicted = [pod for each in trace.records[record.number + 1 : end]
                   if each.kind == "victims" for pod in each["chosen"]]
        for tier, plugin in ((number, name) for number, names in enumerate(trace.tiers, 1)
                             for name in names):
            for candidate in record["candidates"] if (record["point"], plugin) in voters else ():
                yield {"question": question, "action": record.action, "task": record["task"],
                       "tier": tier, "plugin": plugin, "candidate": candidate,
                       "verdict": _verdict(calls.get(plugin), candidate),
                       "agreed": candidate in (record["answer"] or ()),
                       "evicted": candidate in evicted, "number": record.number}


def _verdict(call: Record | None, candidate: str) -> str:
    if call is None:
        return NOT_ASKED
    victims, vote = call["answer"]
    return ABSTAINS if not vote else MAY_GO if candidate in victims else STAYS
