"""The recorder: an observer that records a cycle while it runs, in outline or in full."""

from collections.abc import Callable, Sequence
from functools import cache, partialmethod
from operator import ne
from typing import Any

from volcano_lab.api import FitErrors, NodeInfo, TaskInfo
from volcano_lab.framework import ExtensionPoint, Observer, PriorityQueue, Session, node_arrays
from volcano_lab.framework.points.table import BUILT_IN, POINTS
from volcano_lab.framework.statement import Operation, Statement
from volcano_lab.trace import kinds, node_log, reading, state
from volcano_lab.trace.plain import plain
from volcano_lab.trace.record import Record

OPENING, CLOSING = "open", "close"
LEFT_OUT = ("state",)
"""Arguments of extension points without a useful plain form."""


class Outline(Observer, reading.TraceReader):
    """The records needed for rows of a cycle: turns, comparisons, operations, and the queues.

    It costs next to nothing; a `Trace` adds the calls of plugins and the changes of each step.

    >>> from volcano_lab.cluster import Cluster
    >>> trace = Cluster().node("n1", cpu=4).job("a", cpu=1).run().trace
    >>> [(record.kind, record["operation"], record["node"]) for record in trace.operations]
    [('do', 'allocate', 'n1'), ('commit', 'allocate', 'n1')]
    >>> trace.of("overused"), trace.end["queues"]["default"]["allocated"]["cpu"]
    ([], 1000.0)
    """

    whole = watches_attempts = False

    def __init__(self) -> None:
        super().__init__()
        self._action = OPENING
        self._note_names: dict[tuple[str, ...], tuple[str, ...]] = {}
        # the statement, too, so that its id is not reused
        self._statements: dict[int, tuple[Statement, int]] = {}

    def _add(self, kind: str, names: tuple[str, ...], values: tuple[Any, ...]) -> Record:
        record = Record(len(self.records), self._action, kind, names, values)
        self._append(record)
        return record

    def _append(self, record: Record) -> None:
        self.records.append(record)

    # -- the cycle -------------------------------------------------------------------------------

    def opened(self, ssn: Session) -> None:
        self._ssn, before = ssn, len(self.records)
        self.start = self._state(ssn)
        self.queue_order = state.queue_order(ssn)
        del self.records[before:]  # remove the records of our own query
        self.nodes = [node.name for node in ssn.node_list]

    def _state(self, ssn: Session) -> state.State:
        return {"tasks": {}, "jobs": {}, "nodes": {}, "queues": state.queues_of(ssn)}

    @property
    def end(self) -> state.State | None:
        """The current state of queues, and the final one once the cycle has ended; None of a trace
        with all changes, which keeps no session.
        """
        return None if self.whole else self._state(self._ssn)

    def action_started(self, ssn: Session, action: str) -> None:
        self._action = action
        self._add("start", (), ())

    def action_ended(self, ssn: Session, action: str) -> None:
        self._add("end", (), ())
        self._action = CLOSING

    def closed(self, ssn: Session) -> None:
        self._statements.clear()

    def watch_point(self, point: ExtensionPoint, ask: Callable[..., Any]) -> Callable[..., Any]:
        return point.asked() if ask == point.ask else ask  # calls are not recorded

    # -- operations ------------------------------------------------------------------------------

    def _operation(self, kind: str, statement: Statement | None, operation: Operation) -> None:
        task = operation.task
        node = getattr(operation, "node_name", "") or task.node_name
        known = self._statements  # counted from 0 in the order of their first use
        number = None if statement is None else known.setdefault(
            id(statement), (statement, len(known)))[1]
        values = (operation.name, task.key, task.job, node, number)
        self._moved_by(task)
        self._add(kind, kinds.KINDS["do"].fields, values)

    did = partialmethod(_operation, "do")
    undid = partialmethod(_operation, "undo")
    committed = partialmethod(_operation, "commit")

    def _moved_by(self, task: TaskInfo) -> None:
        """Keep what an operation on a task has changed, before its record."""

    # -- notes ------------------------------------------------------------------------------------

    def note(self, kind: str, /, **facts: Any) -> None:
        names = self._note_names.setdefault((kind, *facts), tuple(facts))
        self._add(kind, names, tuple(map(plain, facts.values())))

    def popped(self, kind: str, item: Any, rest: PriorityQueue[Any]) -> None:
        following = rest.peek()
        decided = following and self._decided_between(f"{kind}_order", item, following)
        facts = {kind: item, "next": following, "decided_by": decided}
        if kind == "queue":
            attr = state.queue_attributes(self._ssn).get(item.uid)
            facts["share"] = 0.0 if attr is None else attr.share
        Outline.note(self, kind, **facts)

    def _decided_between(self, point_name: str, first: Any, second: Any) -> list[Any]:
        """Return [plugin, its comparison] that orders one item before another; ["", 0] if only the
        default does.
        """
        point = self._ssn.points[point_name]
        for tier in point.tiers:
            for plugin, _ in tier:
                order = point.functions[plugin](first, second)
                if order:
                    return [plugin, plain(order)]
        return ["", 0]

    def changed(self, kind: str, subject: Any) -> None:
        self._add(kind, ("task" if hasattr(subject, "job") else "job",), (plain(subject),))


class Turns(Outline):
    """An outline of which only turns and victims are read: without sums that plugins compare, and
    without claims that are known to fail.
    """

    def watches_claims(self, job: str) -> bool:
        return False

    watches_sums = watches_claims


class Trace(Outline):
    """Every decision of a cycle as plain records; pass it to `Scheduler.run_once`.

    With `every_call` nodes are filtered and scored one by one, and each of those calls is a record;
    without, the answers for all nodes at once are one record, and a cycle is nearly as fast as
    without a trace.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import Scheduler
    >>> trace = Trace()
    >>> ssn = Scheduler(Cluster().node("n1", cpu=4).job("a", cpu=1).cache()).run_once(trace)
    >>> trace.of("overused")[0].facts
    {'point': 'overused', 'tier': 1, 'plugin': 'proportion', 'queue': 'default', 'answer': False}
    """

    whole = watches_attempts = True

    def __init__(self, every_call: bool = False):
        super().__init__()
        self.watches_calls = every_call
        self._named = cache(self._names_of)
        self._node_log: node_log.NodeLog | None = None
        self._changes: Any = None  # `state.Changes` while the session is open

    # -- the cycle -------------------------------------------------------------------------------

    def opened(self, ssn: Session) -> None:
        super().opened(ssn)
        self._changes = state.Changes(ssn, self.start)

    def _state(self, ssn: Session) -> state.State:
        return state.state_of(ssn)

    def action_ended(self, ssn: Session, action: str) -> None:
        self._settle()
        super().action_ended(ssn, action)

    def closed(self, ssn: Session) -> None:
        self._settle()
        super().closed(ssn)
        self._changes = self._node_log = None
        del self._ssn

    def _settle(self) -> None:
        """Record changes without a shown operation."""
        seen = self._changes.everywhere()
        if seen:
            self._keep(seen)
            count = sum(sum(map(ne, before, now)) for *_, before, now in seen)
            self._add("settle", ("n",), (count,))

    def _keep(self, seen: state.Seen) -> None:
        """Keep what changes with the next record."""
        if seen:
            self.log.setdefault(len(self.records), []).extend(seen)

    def _moved_by(self, task: TaskInfo) -> None:
        self._keep(self._changes.of_tasks(task))

    def changed(self, kind: str, subject: Any) -> None:
        changes = self._changes
        job = None if changes is None else self._ssn.jobs.get(getattr(subject, "job", subject.uid))
        if changes is not None and job is not None:
            self._keep(changes.of_jobs(job) if job is subject else changes.of_tasks(subject))
            super().changed(kind, subject)

    # -- extension points ------------------------------------------------------------------------

    def watch(self, point: ExtensionPoint, tier: int, plugin: str,
              function: Callable[..., Any]) -> Callable[..., Any]:
        if self._skips(point):
            return function
        name = point.name

        def watched(*args: Any) -> Any:
            try:
                answer = function(*args)
            except Exception as error:
                self._add_call("call", name, (name, tier, plugin), args, type(error).__name__)
                raise
            self._add_call("call", name, (name, tier, plugin), args, answer)
            return answer

        return watched

    def watch_point(self, point: ExtensionPoint, ask: Callable[..., Any]) -> Callable[..., Any]:
        if self._skips(point) or (not point.flat and point.otherwise is None):
            return ask  # no plugin answers, and no default compares two
        if point.lone and len(point.flat) == 1:
            return point.flat[0]  # combining adds nothing
        name = point.name

        def asked(*args: Any) -> Any:
            since = len(self.records)
            answer = ask(*args)
            self._add_call("asked", name, (name, since), args, answer)
            return answer

        return asked

    def _skips(self, point: ExtensionPoint) -> bool:
        """Return whether it sorts a job's tasks, which follows from their names and priorities."""
        return point.name == "task_order" and not self.watches_calls

    def _add_call(self, kind: str, point: str, head: tuple[Any, ...], args: tuple[Any, ...],
                  answer: Any) -> None:
        names, first = self._named(kind, point, len(args))
        values = (*head, *map(plain, args[first:]), plain(answer))
        self._append(Record(len(self.records), self._action, kind, names, values))

    @staticmethod
    def _names_of(kind: str, point: str, count: int) -> tuple[tuple[str, ...], int]:
        """Return (the names of a call's facts, the number of leading arguments left out)."""
        row = POINTS.own.get(point) or BUILT_IN.get(point)
        arguments = row.arguments if row else ()
        if len(arguments) != count:  # an unknown point
            arguments = tuple(f"argument_{number}" for number in range(count))
        kept = tuple(name for name in arguments if name not in LEFT_OUT)
        lead = ("point", "tier", "plugin") if kind == "call" else ("point", "since")
        return (*lead, *kept, "answer"), count - len(kept)

    # -- choosing a node ---------------------------------------------------------------------------

    def chose(self, task: TaskInfo, nodes: Sequence[NodeInfo], node: NodeInfo | None,
              errors: FitErrors) -> None:
        ssn = self._ssn
        if ssn.use_arrays:
            self._node_log = self._node_log or node_log.NodeLog(node_arrays(ssn))
            looked = self._node_log.look(task, nodes)
            if looked is not None:
                self._add("node_values", ("task", "alike", "rows", "columns"), (task.key, *looked))
        result = (node.name, None, {}) if node else (None, str(errors), dict(errors.reasons()))
        self._add("chose", kinds.KINDS["chose"].fields, (task.key, len(nodes), *result))
