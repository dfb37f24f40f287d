"""Two cycles side by side: the first commitment in which they part, what led to it, and what
follows from it for pods, jobs and queues. The cycles may differ in configuration, cluster, or the
version of either.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any

from attrs import define

from volcano_lab.messages import friendly_errors, listed
from volcano_lab.trace import Part, Record, Shown, State, TraceReader
from volcano_lab.trace.kinds import KINDS, OPERATIONS, sentence, short
from volcano_lab.trace.stepper import Stepper

LEFT_OUT = frozenset(("changes", "since", "statement", "tier", "number", "share"))
"""Facts by which the same decision may differ without being another one."""
ABOUT = ("point", "plugin", "operation", "queue", "job", "task", "level", "left", "right")


@define(slots=True, frozen=True)
class Parting:
    """The first commitments that differ, None on a side that has no more of them, and the first
    decision before them that did (`cause`, a record of each side).
    """

    left: Record | None
    right: Record | None
    cause: tuple[Record, Record] | None = None

    def __str__(self) -> str:
        told = (f"the first cycle goes on with {committed(self.left)}, the second with "
                f"{committed(self.right)}")
        before = [sentence(record) for record in self.cause or ()]
        if len(set(before)) < 2:
            return told
        return f"{told}. What differs before: {before[0]}; against: {before[1]}"


@friendly_errors
class CycleDiff(Shown):
    """The difference between two traces: `starts` at the start, `parting`, and `jobs`, `queues` and
    `pods` at the end; `moved` are the pods that end on another node, [pod, node, node].

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> cluster = Cluster().node("n1", cpu=2).job("a", cpu=1).job("b", cpu=1)
    >>> before, _ = traced(cluster.objects())
    >>> print(CycleDiff(before, traced(cluster.job("a", cpu=2).objects())[0]))
    They part where the first cycle goes on with job b is admitted, the second with allocate a-0 on
    n1. ... 1 pod moved (b-0 from n1 to no node). 2 jobs end otherwise (a, b). ...
    >>> CycleDiff(before, before).parting is None
    True
    """

    def __init__(self, left: TraceReader, right: TraceReader):
        self.left, self.right = left, right
        self.parting = first_parting(left, right)
        self.starts = list(_differences(left.start, right.start))
        found = list(_differences(_end(left), _end(right)))
        self.jobs, self.queues, self.pods = ([each for each in found if each["what"] == what]
                                             for what in ("jobs", "queues", "tasks"))
        self.moved = [[each["name"], each["left"] or "", each["right"] or ""]
                      for each in self.pods if each["field"] == "node"]

    def rows(self) -> list[dict[str, Any]]:
        """Return all that ends otherwise, one row per field: jobs, then queues, then pods."""
        return [*self.jobs, *self.queues, *self.pods]

    def __str__(self) -> str:
        if self.parting is None:
            clusters = " on different clusters" if self.starts else ""
            ends = f"; {len(self.rows())} fields end otherwise" if self.rows() else ""
            return f"The two cycles decide the same{clusters}{ends}."
        moved = [f"{short(pod)} from {left or 'no node'} to {right or 'no node'}"
                 for pod, left, right in self.moved]
        told = [f"They part where {self.parting}", _told(moved, "pod", "moved")]
        for what, found in (("job", self.jobs), ("queue", self.queues)):
            names = sorted({short(each["name"]) for each in found})
            if names:
                told.append(_told(names, what, f"end{'s' * (len(names) == 1)} otherwise"))
        return ". ".join(told) + "."

    def _shown(self) -> Iterable[Part]:
        yield str(self)
        yield [{"pod": pod, "first": left, "second": right} for pod, left, right in self.moved]
        yield self.jobs


def first_parting(left: TraceReader, right: TraceReader) -> Parting | None:
    """Return the first pair of commitments that differ; None where all are the same."""
    for one, other in zip_longest(commitments(left), commitments(right)):
        if one is None or other is None or not same(one, other):
            return Parting(one, other, _cause(left, right, one, other))
    return None


def commitments(trace: TraceReader) -> list[Record]:
    """Return what lasted: jobs that were admitted, operations that were committed, and promises
    (pipeline) that nothing undid.
    """
    found: list[Record] = []
    for record in trace.records:
        promise = record.kind in OPERATIONS and record["operation"] == "pipeline"
        if record.kind == "enqueued" or record.kind == ("do" if promise else "commit"):
            found.append(record)
        elif promise and record.kind == "undo":
            found.remove(next(each for each in reversed(found)
                              if each.get("task") == record["task"]))
    return found


def committed(record: Record | None) -> str:
    """Return a commitment in words."""
    return sentence(record).removeprefix("commit: ") if record else "nothing"


def same(left: Record, right: Record) -> bool:
    """Return whether two records say the same."""
    if (left.kind, left.action, left.names) != (right.kind, right.action, right.names):
        return False
    return all(a == b for name, a, b in zip(left.names, left.values, right.values, strict=True)
               if name not in LEFT_OUT)


def subject(record: Record) -> tuple[Any, ...]:
    """Return what a record is about, without what was said of it."""
    return record.action, record.kind, *(record.get(name) for name in ABOUT)


def _cause(left: TraceReader, right: TraceReader, one: Record | None, other: Record | None
           ) -> tuple[Record, Record] | None:
    """The first decisions about the same that say something else, before the cycles part."""
    mine, theirs = _decisions(left, one), _decisions(right, other)
    answers: dict[tuple[Any, ...], list[Record]] = {}
    for record in theirs:
        answers.setdefault(subject(record), []).append(record)
    for record in mine:
        waiting = answers.get(subject(record))
        if waiting:
            against = waiting.pop(0)
            if not same(record, against):
                return record, against
    return None


def _decisions(trace: TraceReader, end: Record | None) -> Iterator[Record]:
    """What decides: answers of plugins and comparisons, up to a record; no bookkeeping."""
    for record in trace.records[: end.number if end else None]:
        known = KINDS.get(record.kind)
        if record.kind == "call" or (known and not known.detail and known.level
                                     and record.kind not in OPERATIONS):
            yield record


def _end(trace: TraceReader) -> State:
    """The state at the end, and of each job how many pods have a place."""
    state = Stepper(trace).to_end().state
    placed = Counter(task["job"] for task in state["tasks"].values() if task["node"])
    for uid, job in state["jobs"].items():
        job["placed"] = placed[uid]
    return state


def _differences(left: State, right: State) -> Iterator[dict[str, Any]]:
    for what in ("jobs", "queues", "tasks"):
        for name in sorted(left[what].keys() | right[what].keys()):
            mine, theirs = left[what].get(name, {}), right[what].get(name, {})
            for field in sorted((mine.keys() | theirs.keys()) - {"uid"}):
                if mine.get(field) != theirs.get(field):
                    yield {"what": what, "name": name, "field": field, "left": mine.get(field),
                           "right": theirs.get(field)}


def _told(names: list[str], what: str, end: str) -> str:
    s = "s" * (len(names) != 1)
    return f"{len(names)} {what}{s} {end}" + (f" ({listed(names, 5)})" if names else "")
