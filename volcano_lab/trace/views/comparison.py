"""Two cycles side by side: the effect of a change, or the differences of two clusters.

Volcano: none
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any

from attrs import Factory, define

from volcano_lab.api import quantity_text
from volcano_lab.messages import Message, Misuse, Said, gettext, paragraph
from volcano_lab.trace import Names, Part, Row, Shown, grouped
from volcano_lab.trace.views.cycle import Cycle

QUEUE = ("deserved", "allocated", "request")
JOB = ("queue", "phase", "pods", "placed", "pending")
TABLES = {"jobs": (("job",), JOB), "queues": (("queue", "resource"), QUEUE)}
"""Table -> the names and the compared values of its rows."""
MOST = 12
"""Fields that are named of what clusters were given."""
EXPECTED = ("placed", "admitted", "pending")
"""The possible expectations for a job: as many pods placed as its minimum, admission, or neither.
"""


@define(frozen=True)
class Later:
    """The outcome of jobs some `cycles` later: how many pods of each are `placed`, [before, after],
    if that differs; the change's `costs` for others, as plain data and as messages in `said`.
    """

    placed: dict[str, list[int]] = Factory(dict)
    costs: dict[str, Any] = Factory(dict)
    said: Sequence[Message] = ()
    cycles: int = 0


class Comparison(Shown):
    """The differences of two cycles; it is false if there are none.

    Attributes:
        before, after: The two cycles.
        refused: The rules of Volcano's webhooks that the second cluster breaks and the first does
            not, a sentence each.
        later: The outcome of jobs in the following cycles; empty if they were not run.
        jobs: One row for each job with a changed value: [before, after] of each value; None where
            the job did not or does not exist.
        queues: The same for each queue and resource.
        placements: One row for each operation that took effect in one cycle only: "less" in the
            first, "more" in the second.
        breaks: The gangs that had their minimum placed, and no longer have it.
        left_out: Why the second cycle lacks what the first did not leave out either.
        added: The jobs that only the second cycle has.
        given: The fields of the configuration, nodes and queues that differ, of a `diff`.

    >>> from volcano_lab.cluster import Cluster
    >>> cluster = Cluster().node("n1", cpu=4).job("train", pods=6, cpu=1)
    >>> found = Comparison(cluster.run(), cluster.node("n2", cpu=4).run())
    >>> found.jobs[0]["placed"], len(found.placements), bool(found)
    ([0, 6], 6, True)
    """

    def __init__(self, before: Cycle, after: Cycle, refused: Sequence[str] = (),
                 look: Callable[[], Later] = Later, given: Sequence[Row] = (),
                 unmoved: Callable[[Sequence[str], bool], Iterable[Said]] = lambda *_: ()):
        self.before, self.after, self.refused, self._look = before, after, list(refused), look
        self.given, self._unmoved = list(given), unmoved
        was, now = _jobs(before), _jobs(after)
        self.jobs = [{"job": job, **values} for job, values in _differing(was, now, JOB)]
        self.queues = [{"queue": queue, "resource": resource, **values} for (queue, resource),
                       values in _differing(_queues(before), _queues(after), QUEUE)]
        self.placements = list(_moved(before, after))
        self.breaks = [job for job, row in now.items()
                       if not _started(row) and _started(was.get(job))]
        self.left_out = [str(reason) for reason in after.session.snapshot.left_out
                         if reason not in before.session.snapshot.left_out]
        self.added = sorted(now.keys() - was.keys())

    @cached_property
    def later(self) -> Later:
        return self._look()

    def __repr__(self) -> str:
        return f"<{next(iter(self._sentences()))}>"

    def __bool__(self) -> bool:
        return any(self.as_dict().values())

    def holds(self, job: str, expected: str = "placed") -> bool:
        """Return whether a job, or each PodGroup of an owner, is "placed" (as many of its pods as
        its minimum), "admitted" or "pending" (not admitted, or below its minimum) in the second
        cycle; false for a job that is not in it.
        """
        if expected not in EXPECTED:
            raise Misuse("comparison.expected", expected=expected, allowed=[*EXPECTED])
        try:
            names = Names(self.after.session)
            groups = [*map(names.called, names.groups(job))]
        except LookupError:
            return False
        return all({"placed": _started(row), "pending": not _started(row),
                    "admitted": row["phase"] not in ("", "Pending")}[expected]
                   for row in self.after.jobs() if row["job"] in groups)

    def chart(self) -> Any:
        """Return an altair chart of what each queue holds and deserves, before and after."""
        return import_module("volcano_lab").charts.queues({"before": self.before,
                                                           "after": self.after})

    def as_dict(self) -> dict[str, Any]:
        """Return all differences as plain data, amounts as Kubernetes quantities; each list is
        empty if there are none. `later` of a job are its pods placed some cycles later, where these
        differ; `later` of all is the cost for others until then.
        """
        later = self.later.placed
        rows = {row["job"]: row for row in self.jobs}
        same = {name: row for name, row in _jobs(self.after).items() if name in later}
        rows |= {job: {"job": job, **{name: [row[name]] * 2 for name in JOB}}
                 for job, row in same.items() if job not in rows}
        return {"jobs": [row | ({"later": later[job]} if job in later else {})
                         for job, row in rows.items()],
                "placements": self.placements, "breaks": self.breaks, "left_out": self.left_out,
                "queues": [row | _amounts(row) for row in self.queues],
                "later": {name: value for name, value in self.later.costs.items() if value}}

    def _frames(self) -> dict[str, list[Row]]:
        return {table: [{**{name: row[name] for name in names}, "value": value,
                         "before": row[value][0], "after": row[value][1]}
                        for row in getattr(self, table) for value in values]
                for table, (names, values) in TABLES.items()} | {
                    "placements": self.placements, "given": self.given}

    def _shown(self) -> Iterable[Part]:
        yield from self._sentences()
        if self.given:
            yield str(Message("differs.given"))
            yield [{"field": row["field"], "value": _text(
                [each and gettext(each) for each in (row["before"], row["after"])])}
                   for row in self.given[:MOST]]
            if len(self.given) > MOST:
                yield gettext("and {n} more", n=len(self.given) - MOST)
        if self.jobs:
            yield str(Message("differs.jobs"))
            yield [{"job": row["job"], **{name: _text(row[name]) for name in JOB}}
                   for row in self.jobs]
        if self.queues:
            yield str(Message("differs.queues"))
            yield [{"queue": row["queue"], "resource": row["resource"],
                    **{name: _text(pair) for name, pair in _amounts(row).items()}}
                   for row in self.queues]
        pods = grouped(((row["change"], row["operation"]), gettext(
            "{pod} on {node}" if row["node"] else "{pod}", pod=row["pod"], node=row["node"]))
            for row in self.placements)
        for (change, operation), names in pods.items():
            yield str(Message("differs.plus" if change == "more" else "differs.minus",
                              operation=operation, names=names))

    def _sentences(self) -> Iterator[str]:
        if not self:
            yield str(Message("differs.same" if self.given else "differs.nothing"))
            yield from self._without_effect(True)
            return
        yield paragraph(self._counts()) or str(Message("comparison.same"))
        if self.breaks:
            yield str(Message("differs.gangs", jobs=self.breaks))
        if deleted := [row["job"] for row in self.jobs if row["phase"][1] is None]:
            yield str(Message("differs.gone", jobs=deleted))
        if self.left_out:
            yield str(Message("left_out.cycle", why=self.left_out))
        yield from self._without_effect(False)
        at_once = {row["job"]: row["placed"][1] for row in self.jobs}
        others = [Message("later.placed", job=job, before=was, n=now)
                  for job, (was, now) in self.later.placed.items() if at_once.get(job) != now]
        if others or self.later.said:
            code = "later" if self.later.cycles else "clauses"
            yield str(Message(code, n=self.later.cycles, parts=[*self.later.said, *others]))

    def _without_effect(self, same: bool) -> Iterator[str]:
        """Yield why added nodes get no pod, or why jobs wait as before."""
        before, after = self.before.session, self.after.session
        empty = [name for name, node in after.nodes.items() if name not in before.nodes
                 and not any(task.job in after.jobs for task in node.tasks.values())]
        yield from filter(None, [paragraph([*self._unmoved(empty, same)])])

    def _counts(self) -> Iterator[Message]:
        """Yield how many pods more or fewer are placed and evicted, and of which jobs they wait."""
        ran = {task.key for job in self.before.session.jobs.values()
               for task in job.tasks.values() if task.pod.spec.node_name}
        again = [row for row in self.placements if row["pod"] in ran
                 and (row["change"], row["operation"]) == ("more", "allocate")]
        yield from [Message("allocate.again", n=len(again))] if again else ()
        changes = [(row["change"], row["operation"]) for row in self.placements]
        for word, moved in (("allocate", len(again)), ("evict", 0)):
            if more := changes.count(("more", word)) - changes.count(("less", word)) - moved:
                yield Message(f"{word}.{'more' if more > 0 else 'fewer'}", n=abs(more))
        yield from self._waiting()

    def _waiting(self) -> Iterator[Message]:
        """Yield of which jobs fewer or more pods wait."""
        waiting = {row["job"]: row["pending"] for row in self.jobs
                   if row["pending"][1] is not None}  # a deleted job is not better off
        same = {row["job"] for row in self.jobs if row["placed"][1] == row["placed"][0]}
        if fewer := [job for job, (was, now) in waiting.items()
                     if now < (was or 0) and not (now and job in same)]:
            yield Message("waiting.fewer", jobs=fewer)
        if longer := [job for job, (was, now) in waiting.items() if now > (was or 0)]:
            yield Message("waiting.more", jobs=longer)


def _amounts(row: Row) -> dict[str, list[str | None]]:
    """Return a queue's compared amounts of one resource, before and after."""
    return {name: [None if value is None else quantity_text(row["resource"], value)
                   for value in row[name]] for name in QUEUE}


def _started(row: Row | None) -> bool:
    """Return whether as many pods of a job as its minimum are placed, or none has to be and it is
    admitted.
    """
    return row is not None and row["placed"] >= max(row["min_member"], min(row["pods"], 1)) and (
        row["placed"] > 0 or row["phase"] not in ("", "Pending"))


def _jobs(cycle: Cycle) -> dict[str, Row]:
    return {row["job"]: row for row in cycle.jobs()}


def _queues(cycle: Cycle) -> dict[tuple[str, str], Row]:
    return {(row["queue"], resource): {name: row[name].get(resource, 0) for name in QUEUE}
            for row in cycle.queues() for resource in row["request"] | row["deserved"]
            if resource != "pods"}


def _moved(before: Cycle, after: Cycle) -> Iterator[Row]:
    """Yield the operations that took effect in one cycle only."""
    done = [[tuple(row[:3]) for row in cycle.committed] for cycle in (before, after)]
    for change, ours, theirs in (("less", done[0], {*done[1]}), ("more", done[1], {*done[0]})):
        for operation, pod, node in ours:
            if (operation, pod, node) not in theirs:
                yield {"change": change, "operation": operation, "pod": pod, "node": node}


def _differing(before: dict[Any, Row], after: dict[Any, Row], names: Sequence[str]
               ) -> Iterator[tuple[Any, dict[str, list[Any]]]]:
    """Yield rows that are in one only, or have other values: [before, after] of each."""
    for key in sorted(before | after):
        values = {name: [row and row[name] for row in (before.get(key), after.get(key))]
                  for name in names}
        if any(was != now for was, now in values.values()):
            yield key, values


def _text(pair: list[Any]) -> str:
    was, now = ("-" if value is None else str(value) for value in pair)
    return now if was == now else f"{was} -> {now}"
