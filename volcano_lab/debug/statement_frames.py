"""A trace's statements step by step, as plain frames: what was done, and pods, nodes and queues
right after it. The frames come from a `Stepper` that walks over the trace; amounts are in
the units people use.
"""

from __future__ import annotations

from typing import Any

from volcano_lab.api.formatting import in_units
from volcano_lab.trace import OPERATIONS, Record, State, TraceReader
from volcano_lab.trace.narration import sentence, short
from volcano_lab.trace.stepper import Stepper

Frame = dict[str, Any]


def frames(trace: TraceReader, resource: str = "cpu") -> list[Frame]:
    """The beginning, and a frame for each operation that was done, undone, committed, saved or
    recovered.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> trace, _ = traced(Cluster().node("n1", cpu=4).job("a", pods=1, cpu=1).objects())
    >>> [(frame["kind"], frame["text"], frame["pods"][0]["status"]) for frame in frames(trace)]
    [('start', 'the session is open', 'Pending'), ('do', 'allocate a-0 on n1', 'Allocated'),
     ('commit', 'commit: allocate a-0 on n1', 'Binding')]
    """
    stepper = Stepper(trace)
    shown = [_frame(0, "start", "the session is open", "", stepper.state, resource)]
    for record in trace.records:
        if record.kind in (*OPERATIONS, "saved", "recovers"):
            state = stepper.goto(record.number).state
            shown.append(_frame(len(shown), *_told(record, state), state, resource))
    return shown


def _told(record: Record, state: State) -> tuple[str, str, str]:
    """Kind, sentence, and pod of a record."""
    if record.kind in ("saved", "recovers"):
        word = record.kind.removesuffix("d").removesuffix("s")
        copies = "copies of " if word == "save" else ""
        return word, f"{word} {copies}{len(record['operations'])} operations", ""
    pod, text = short(record["task"]), sentence(record)
    before = {"allocate": "Pending", "evict": "Running"}.get(record["operation"])
    if record.kind == "commit" and before == state["tasks"][record["task"]]["status"]:
        return "refused", text.replace("commit:", "commit refused, undone:"), pod
    return record.kind, text, pod


def _frame(step: int, kind: str, text: str, pod: str, state: State, resource: str) -> Frame:
    def amount(amounts: dict[str, float]) -> float:
        return in_units(resource, amounts.get(resource, 0.0))

    pods = [{"pod": short(name), "job": short(task["job"]), "status": task["status"],
             "node": task["node"], "asks": amount(task["request"])}
            for name, task in sorted(state["tasks"].items())]
    nodes = []
    for name, node in state["nodes"].items():
        sums = {account: amount(node[account])
                for account in ("allocatable", "idle", "used", "releasing", "pipelined")}
        nodes.append({"node": name, **sums,
                      "future_idle": sums["idle"] + sums["releasing"] - sums["pipelined"]})
    queues = [{"queue": name, "deserved": amount(queue["deserved"]),
               "allocated": amount(queue["allocated"]), "share": queue["share"]}
              for name, queue in sorted(state["queues"].items())]
    return {"step": step, "kind": kind, "text": text, "pod": pod, "pods": pods, "nodes": nodes,
            "queues": queues}
