"""Two cycles side by side: the first decision in which they part, and what follows from it for jobs
and queues.

Answers to no Go file. The cycles may differ in configuration, cluster, or the version of either.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import define

from volcano_lab.trace import OPERATIONS, Record, State, TraceReader
from volcano_lab.trace.stepper import Stepper

LEFT_OUT = frozenset(("changes", "since", "statement", "tier"))
"""Facts by which the same decision may differ without being another one."""
SKIPPED = frozenset(("node_values", "settle", "start", "end", "asked"))
"""Kinds that decide nothing themselves."""


@define(slots=True, frozen=True)
class Parting:
    """The first two records that differ; None on a side that had nothing more to decide."""

    left: Record | None
    right: Record | None

    def __str__(self) -> str:
        if self.left is None or self.right is None:
            only, record = ("second", self.right) if self.left is None else ("first", self.left)
            return f"only the {only} cycle goes on: {describe(record)}"
        if subject(self.left) == subject(self.right):
            different = [
                name for name in self.left.names
                if name not in LEFT_OUT and self.left[name] != self.right.get(name)
            ]
            sides = "; ".join(f"{name} {self.left[name]!r} against {self.right.get(name)!r}"
                              for name in different)
            return f"{describe(self.left)}: {sides}"
        return f"the first cycle goes on with {describe(self.left)}, the second with {describe(self.right)}"


@define(slots=True, frozen=True)
class Difference:
    """One field of a job, pod or queue that ends otherwise."""

    what: str
    name: str
    field: str
    left: Any
    right: Any


class CycleDiff:
    """The difference between two traces: `starts` at the start, `parting`, and `jobs`, `queues` and
    `pods` at the end.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> cluster = Cluster().node("n1", cpu=2).job("a", cpu=1).job("b", cpu=1)
    >>> diff = CycleDiff(traced(cluster.objects())[0], traced(cluster.job("a", cpu=2).objects())[0])
    >>> [(each.name, each.field, each.left, each.right) for each in diff.jobs if each.field == "placed"]
    [('default/b', 'placed', 1, 0)]
    >>> CycleDiff(traced(cluster.objects())[0], traced(cluster.objects())[0]).parting is None
    True
    """

    def __init__(self, left: TraceReader, right: TraceReader):
        self.left, self.right = left, right
        self.parting = first_parting(left, right)
        ends = Stepper(left).to_end().state, Stepper(right).to_end().state
        self.starts = list(_differences(left.start, right.start))
        self.pods = [each for each in _differences(*ends) if each.what == "tasks"]
        self.queues = [each for each in _differences(*ends) if each.what == "queues"]
        self.jobs = [
            *(each for each in _differences(*ends) if each.what == "jobs"), *_placed(*ends)
        ]
        self.jobs.sort(key=lambda each: (each.name, each.field))

    def rows(self) -> list[dict[str, Any]]:
        """All that ends otherwise, a row a field: jobs, then queues, then pods."""
        return [{
            "what": each.what, "name": each.name, "field": each.field, "left": each.left, "right":
            each.right
        } for each in (*self.jobs, *self.queues, *self.pods)]

    def __str__(self) -> str:
        if self.parting is None:
            return f"The two cycles decide the same{' on different clusters' if self.starts else ''}."
        jobs = sorted({each.name for each in self.jobs})
        queues = sorted({each.name for each in self.queues})
        follows = [
            f"{len(names)} {kind}s end otherwise ({', '.join(names[:5])}{', ...' if len(names) > 5 else ''})"
            for kind, names in (("job", jobs), ("queue", queues))
            if names
        ]
        return f"They part where {self.parting}. {'; '.join(follows) or 'Nothing follows from it'}."


def first_parting(left: TraceReader, right: TraceReader) -> Parting | None:
    """The first pair of decisions that differ; None where all are the same."""
    mine, theirs = _decisions(left), _decisions(right)
    while True:
        one, other = next(mine, None), next(theirs, None)
        if one is None and other is None:
            return None
        if one is None or other is None or not same(one, other):
            return Parting(one, other)


def same(left: Record, right: Record) -> bool:
    """Whether two records say the same."""
    if left.kind != right.kind or left.action != right.action or left.names != right.names:
        return False
    return all(a == b
               for name, a, b in zip(left.names, left.values, right.values, strict=True)
               if name not in LEFT_OUT)


def subject(record: Record) -> tuple[Any, ...]:
    """What a record is about, without what was said of it."""
    about = ("point", "plugin", "operation", "queue", "job", "task", "level", "left", "right",
             "number")
    return record.action, record.kind, *(record.get(name) for name in about if name in record.names)


def describe(record: Record) -> str:
    """A record in words.

    >>> describe(Record(3, "allocate", "call", ("point", "tier", "plugin", "queue", "answer"), ("overused", 1, "p", "a", True)))
    'allocate: p on overused (queue a)'
    """
    about = ", ".join(
        f"{name} {record[name]}" for name in ("queue", "job", "task", "node", "level", "number")
        if isinstance(record.get(name), str | int))
    if record.kind == "call":
        return f"{record.action}: {record['plugin']} on {record['point']} ({about})"
    words = f"{record.kind} {record['operation']}" if record.kind in OPERATIONS else record.kind
    return f"{record.action}: {words} ({about})"


def _decisions(trace: TraceReader) -> Iterator[Record]:
    return (record for record in trace.records if record.kind not in SKIPPED)


def _differences(left: State, right: State) -> Iterator[Difference]:
    for what in ("jobs", "queues", "tasks"):
        for name in sorted(left[what].keys() | right[what].keys()):
            mine, theirs = left[what].get(name, {}), right[what].get(name, {})
            for field in sorted((mine.keys() | theirs.keys()) - {"uid"}):
                if mine.get(field) != theirs.get(field):
                    yield Difference(what, name, field, mine.get(field), theirs.get(field))


def _placed(left: State, right: State) -> Iterator[Difference]:
    """By job, how many of its pods have a node at the end."""
    counts = []
    for state in (left, right):
        placed = dict.fromkeys(state["jobs"], 0)
        for task in state["tasks"].values():
            placed[task["job"]] = placed.get(task["job"], 0) + bool(task["node"])
        counts.append(placed)
    for name in sorted(counts[0].keys() | counts[1].keys()):
        if counts[0].get(name) != counts[1].get(name):
            yield Difference("jobs", name, "placed", counts[0].get(name), counts[1].get(name))
