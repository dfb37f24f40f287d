"""Why pods find no node, and why not a certain one: room, taints, affinity, and what nodes have in
sum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from volcano_lab.api.job import JobInfo
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Amounts, Cause, amounts_text, part
from volcano_lab.trace import Record

INSUFFICIENT = "Insufficient "
RULES = {
    "untolerated taint": ("taint", "a taint that the pod does not tolerate"),
    "anti-affinity": ("anti_affinity", "pods beside which this one must not run (anti-affinity)"),
    "pod affinity": ("pod_affinity", "none of the pods beside which this one must run (affinity)"),
    "node affinity/selector":
    ("node_affinity", "not the labels that the pod asks for (node selector or affinity)"),
    "topology spread": ("topology_spread", "too many such pods in their domain (topology spread)"),
    "pod number exceeded": ("pods_exceeded", "as many pods as they may"),
    "were unschedulable": ("cordoned", "been cordoned"),
    "free ports": ("host_ports", "no free host port of that number"),
}
"""A part of the reason that Kubernetes gives -> (code, what such nodes have)."""


def node_causes(seen: Evidence, job: JobInfo, room: bool = True) -> Iterator[Cause]:
    """Why pods of the job found no node when they were last tried; with `room` also where nodes
    lack resources.
    """
    failed = [
        record for action in ("allocate", "backfill") for record in seen.in_action(action, "chose")
        if record["node"] is None and record["task"] in seen.tasks_of(job)
    ]
    last = {record["task"]: record for record in failed}
    told: set[str] = set()
    for task, record in last.items():
        reasons = Counter(record["reasons"])
        short = [
            reason.removeprefix(INSUFFICIENT)
            for reason in reasons
            if reason.startswith(INSUFFICIENT)
        ]
        if short and room and "room" not in told:
            told.add("room")
            yield _short(seen, task, record, reasons)
        for reason, count in reasons.items():
            code, words = rule_of(reason)
            if code and code not in told:
                told.add(code)
                text = f"Pod {task} may not go to {count} of {record['nodes']} nodes: they have {words}."
                yield Cause(code, text, {"nodes": count, "of": record["nodes"], "reason": reason},
                            [record])
            elif not code and not reason.startswith(INSUFFICIENT) and reason not in told:
                told.add(reason)
                text = f'Pod {task} may not go to {count} of {record["nodes"]} nodes: "{reason}".'
                yield Cause("refused", text,
                            {"nodes": count, "of": record["nodes"], "reason": reason}, [record])


def rule_of(reason: str) -> tuple[str, str]:
    """(code, words) of a reason, both "" for one that isn't among Kubernetes' rules.

    >>> rule_of("node(s) had untolerated taint(s)")[0]
    'taint'
    """
    return next((rule for text, rule in RULES.items() if text in reason), ("", ""))


def _short(seen: Evidence, task: str, record: Record, reasons: Counter[str]) -> Cause:
    """Whether the nodes lack a resource in sum, or only on each single one."""
    free = seen.free(record)
    request: Amounts = seen.trace.start["tasks"][task]["request"]
    short = [
        reason.removeprefix(INSUFFICIENT) for reason in reasons if reason.startswith(INSUFFICIENT)
    ]
    total = {
        name: sum(max(amounts.get(name, 0.0), 0.0) for amounts in free.values()) for name in short
    }
    most = {
        name: max((amounts.get(name, 0.0)
                   for amounts in free.values()), default=0.0)
        for name in short
    }
    numbers = {
        "request": part(request, short), "free_in_total": total, "free_on_one_node": most, "nodes":
        len(free)
    }
    asks = f"Pod {task} asks for {amounts_text(request, short)}"
    if all(total[name] >= request.get(name, 0.0) for name in short):
        text = (
            f"{asks}; the nodes have {amounts_text(total)} left in total, but no single one has room for it: "
            f"the most that one of them has left is {amounts_text(most)}.")
        return Cause("fragmented", text, numbers, [record])
    lacking = [name for name in short if total[name] < request.get(name, 0.0)]
    text = (
        f"Pod {task} asks for {amounts_text(request, lacking)}; all {len(free)} nodes together have "
        f"{amounts_text(total, lacking)} left.")
    return Cause("cluster_full", text, numbers, [record])
