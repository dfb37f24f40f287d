"""The stepper: through a cycle operation by operation, forwards and backwards.

It keeps one state. A trace's log has what each record changed, before and after; stepping back
applies what was before in reverse order. No step keeps a copy of the cluster.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Self

from volcano_lab.messages import Misuse, friendly_errors, gettext
from volcano_lab.trace import OPERATIONS, Part, Record, Shown, State, TraceReader, sentence, state

Condition = Callable[[Record], bool]
BACK = {"do": "undo", "undo": "do", "commit": "uncommit"}


class Stepper(Shown):
    """A place in a trace, and the state of tasks, jobs, nodes, queues and statements there.

    `at` is the number of the last applied record, -1 before the first. `statements` are the open
    operations, [operation, task, node] by the number of their statement. `state` is {what: {name:
    {field: value}}}.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> trace, _ = traced(Cluster().node("n1", cpu=4).job("a", pods=2, cpu=1).objects())
    >>> stepper = Stepper(trace)
    >>> stepper.jump(operation="allocate")["task"], stepper.statements
    ('default/a-0', {0: [['allocate', 'default/a-0', 'n1']]})
    >>> stepper.state["nodes"]["n1"]["idle"]["cpu"], stepper.state["queues"]["default"]["share"]
    (3000.0, 0.5)
    >>> stepper.back().kind, stepper.state["nodes"]["n1"]["idle"]["cpu"]
    ('enqueued', 4000.0)
    >>> stepper.goto(len(trace.records)).state["tasks"]["default/a-1"]["status"]
    'Binding'
    >>> stepper.goto(-1).state == trace.start
    True
    """

    @friendly_errors
    def __init__(self, trace: TraceReader):
        if not trace.whole:
            raise Misuse("stepper.outline")
        self.trace, self.at = trace, -1
        self.state: State = {what: dict(items) for what, items in trace.start.items()}
        self.statements: dict[int, list[list[str]]] = {}
        self._steps = [record.number for record in trace.records if record.kind in OPERATIONS
                       or record.number in trace.log]

    def _shown(self) -> Iterable[Part]:
        yield gettext("Record {number} of {last}, action {action}: {sentence}.", number=self.at,
                      last=len(self.trace.records) - 1, sentence=sentence(self.record),
                      action=self.record.action if self.record else "open")
        yield [{"statement": number, "operation": name, "pod": pod, "node": node}
               for number, operations in self.statements.items() for name, pod, node in operations]
        yield [{"job": uid, "queue": job["queue"], "phase": job["phase"],
                "pods": ", ".join(f"{count} {status}" for status, count in Counter(
                    task["status"] for task in self.state["tasks"].values()
                    if task["job"] == uid).items())} for uid, job in self.state["jobs"].items()]

    @property
    def record(self) -> Record | None:
        """The last applied record."""
        return self.trace.records[self.at] if self.at >= 0 else None

    # -- one step ----------------------------------------------------------------------------------

    def forward(self) -> Record | None:
        """Move to the next record with changes; return None without moving if there is none."""
        following = bisect_right(self._steps, self.at)
        return self._to(self._steps[following] if following < len(self._steps) else None)

    def back(self) -> Record | None:
        """Move back before the last change; return the then last record, None at the start."""
        current = bisect_right(self._steps, self.at) - 1  # the last applied step
        return self.goto(self._steps[current - 1] if current > 0 else -1).record

    def goto(self, number: int) -> Self:
        """Move to right after a record, forwards or backwards; -1 is the start."""
        number = max(-1, min(number, len(self.trace.records) - 1))
        then, now = (bisect_right(self._steps, at) for at in (self.at, number))
        self._move(self._steps[then:now], False)
        self._move(self._steps[now:then][::-1], True)
        self.at = number
        return self

    # -- jumps -------------------------------------------------------------------------------------

    def find(self, holds: Condition, backwards: bool = False) -> Record | None:
        """Move to the next (or previous) record for which a condition holds; return None without
        moving if there is none.

        A `Breakpoint` is such a condition.
        """
        records = self.trace.records
        numbers = range(self.at - 1, -1, -1) if backwards else range(self.at + 1, len(records))
        return self._to(next((number for number in numbers if holds(records[number])), None))

    def jump(self, *, job: str = "", queue: str = "", operation: str = "", outcome: str = "",
             backwards: bool = False) -> Record | None:
        """Move to the next record about a job, about a queue, of an operation, of an outcome
        ("commit", "discard"), or all.

        >>> from volcano_lab.cluster import Cluster
        >>> from volcano_lab.scheduler import traced
        >>> trace, _ = traced(Cluster().node("n1", cpu=4).job("a", pods=2, cpu=1).objects())
        >>> Stepper(trace).jump(job="default/a", outcome="commit")["task"]
        'default/a-0'
        """
        kinds = {"commit": ("commit",), "discard": ("undo",), "": None}.get(outcome, ())
        if kinds == ():
            raise Misuse("stepper.outcome", outcome=outcome)
        tasks = {key for key, fields in self.trace.start["tasks"].items() if fields["job"] == job}

        def holds(record: Record) -> bool:
            return ((kinds is None or record.kind in kinds)
                    and operation in ("", record.get("operation"))
                    and queue in ("", record.get("queue"))
                    and (job in ("", record.get("job")) or record.get("task") in tasks))

        return self.find(holds, backwards)

    # -- applying ----------------------------------------------------------------------------------

    def _to(self, number: int | None) -> Record | None:
        return None if number is None else self.goto(number).record

    def _move(self, steps: Iterable[int], back: bool) -> None:
        """Apply some steps, of the changes of an object the last one."""
        last: dict[tuple[str, str], tuple[Any, ...]] = {}
        for step in steps:
            log, record = self.trace.log.get(step, []), self.trace.records[step]
            for what, name, before, now in log[::-1] if back else log:
                last[what, name] = before if back else now
            if record.kind in OPERATIONS and record["statement"] is not None:
                self._track(record, BACK[record.kind] if back else record.kind)
        for (what, name), raw in last.items():
            self.state[what][name] = self.state[what][name] | state.named(what, raw)

    def _track(self, record: Record, way: str) -> None:
        """Update a statement's operations: done at the end, undone from the end, committed from the
        front.
        """
        number: int = record["statement"]
        under_way = self.statements.setdefault(number, [])
        entry = [record["operation"], record["task"], record["node"]]
        if way == "do":
            under_way.append(entry)
        elif way == "uncommit":
            under_way.insert(0, entry)
        elif under_way:
            under_way.pop(-1 if way == "undo" else 0)
        if not under_way:
            del self.statements[number]


def state_at(trace: TraceReader, number: int | None = None) -> State:
    """Return the state right after a record (None: at the end); for repeated use keep a `Stepper`.
    Raises `ValueError` for an outline's records: only its end is known.
    """
    if number is None and trace.end is not None:
        return trace.end
    if number == -1:
        return trace.start
    return Stepper(trace).goto(len(trace.records) - 1 if number is None else number).state
