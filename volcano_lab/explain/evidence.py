"""What explanations look at: one cycle's session and trace, and the state at any of its moments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

from volcano_lab.api.job import JobInfo
from volcano_lab.api.status import PENDING, PIPELINED, READY_STATUSES, TRANSITIONS
from volcano_lab.explain.explanation import Amounts, added
from volcano_lab.explain.names import Names
from volcano_lab.framework import ExtensionPoint, Session
from volcano_lab.plugins.admission import inqueue_resource
from volcano_lab.trace import Record, State, Trace, TraceReader
from volcano_lab.trace.plain import amounts, plain
from volcano_lab.trace.stepper import Stepper

STATUSES = {str(status): status for status in TRANSITIONS}
ABOUT = ("task", "job", "queue")
"""Facts by which records are found at once."""
READ = {"job_enqueueable", "job_valid", "overused", "allocatable", "predicate", "preemptive",
        "preemptable", "reclaimable"}
"""The extension points whose calls explanations read; the others are about order."""
POINTS = {"reclaim": "reclaimable", "preempt": "preemptable"}
"""Action -> the extension point that names victims."""


class _Call(Record):
    """A call whose facts become plain when they are first read: of most searches nobody asks."""

    __slots__ = ("_live", "_plain")

    def __init__(self, number: int, action: str, kind: str, names: tuple[str, ...],
                 live: tuple[Any, ...]):
        self.number, self.action, self.kind, self.names = number, action, kind, names
        self._live, self._plain = live, None

    @property
    def values(self) -> tuple[Any, ...]:  # type: ignore[override]
        if self._plain is None:
            self._plain, self._live = tuple(map(plain, self._live)), ()
        return self._plain

    def get(self, name: str, default: Any = None) -> Any:
        if self._plain is None and name in self.names:
            return plain(self._live[self.names.index(name)])
        return super().get(name, default)


class CauseTrace(Trace):
    """A trace of what explanations read, in a fraction of a whole one's time and records: for each
    search for victims who was named by whom, not each check of queue and node beside it.
    """

    watches_attempts = False

    def _skips(self, point: ExtensionPoint) -> bool:
        return point.name not in READ

    def _add_call(self, kind: str, point: str, head: tuple[Any, ...], args: tuple[Any, ...],
                  answer: Any) -> None:
        beside = point in ("allocatable", "predicate") or (
            point in POINTS.values() and not args[1])  # nobody was there to go
        if self._action not in POINTS:
            super()._add_call(kind, point, head, args, answer)
        elif not beside:
            names, first = self._named(kind, point, len(args))
            live = (*head, *args[first:], answer)
            self.records.append(_Call(len(self.records), self._action, kind, names, live))


class Evidence:
    """A closed session, its trace, and questions about them that several explanations ask.

    `node_by_node` runs the same cycle once more, with a trace of every call; it is asked only where
    this trace doesn't say why a plugin refused a node.
    """

    def __init__(self, ssn: Session, trace: Trace,
                 node_by_node: Callable[[], TraceReader] | None = None):
        self.ssn, self.trace, self._node_by_node = ssn, trace, node_by_node
        self.names, self.brief = Names(ssn), False  # brief: nobody is named who holds what
        self.called = self.names.called
        self._indices: dict[tuple[str, str], dict[Any, list[Record]]] = {}

    @cached_property
    def _stepper(self) -> Stepper:
        return Stepper(self.trace)

    @cached_property
    def _every_call(self) -> TraceReader:
        return self._node_by_node() if self._node_by_node is not None else self.trace

    @cached_property
    def _index(self) -> dict[str, list[Record]]:
        """Records by kind, calls by their point."""
        index: dict[str, list[Record]] = defaultdict(list)
        for record in self.trace.records:
            index[record.get("point") if record.kind == "call" else record.kind].append(record)
        return index

    def _about(self, name: str, fact: str, value: Any) -> list[Record]:
        """Records of a kind by what they are about."""
        known = self._indices.get((name, fact))
        if known is None:
            known = self._indices[name, fact] = defaultdict(list)
            for record in self._index.get(name, ()):
                said = record.get(fact)
                known[said if isinstance(said, str) else None].append(record)
        return known.get(value, [])

    def of(self, name: str, /, **facts: Any) -> list[Record]:
        """The calls of an extension point, or records of another kind, whose facts are as given."""
        known = next((fact for fact in ABOUT if fact in facts), None)
        found = self._index.get(name, ()) if known is None else self._about(name, known,
                                                                            facts[known])
        return [record for record in found
                if all(record.get(fact) == value for fact, value in facts.items())]

    @cached_property
    def reserved_at_start(self) -> dict[str, Amounts]:
        """What each job had reserved beyond what it held when the session opened."""
        found = {}
        for uid, job in self.ssn.jobs.items():
            then = job.clone()
            then.pod_group.status.phase = self.trace.start["jobs"][uid]["phase"]
            running = then.pod_group.status.phase == "Running"
            for task in list(then.tasks.values()) if running else ():
                then.update_task_status(
                    task, STATUSES[self.trace.start["tasks"][task.key]["status"]])
            found[uid] = amounts(inqueue_resource(then))
        return found

    def refusal(self, task: str, node: str) -> Record | None:
        """What a plugin last said against a node for a task, from this trace or from the run node
        by node; None where neither tells."""
        return _last_refusal(self.trace, task, node) or _last_refusal(self._every_call, task, node)

    def state_at(self, record: Record) -> State:
        """The state right after a record; good until the next call."""
        return self._stepper.goto(record.number).state

    def tasks_of(self, job: JobInfo) -> set[str]:
        return {task.key for task in job.tasks.values()}

    def in_action(self, action: str, name: str, **facts: object) -> list[Record]:
        return [record for record in self.of(name, **facts) if record.action == action]

    def calls_about(self, tasks: Iterable[str], name: str, action: str) -> list[Record]:
        """Records of a kind, in an action, about some tasks."""
        found = [record for task in tasks for record in self._about(name, "task", task)
                 if record.action == action]
        return sorted(found, key=lambda record: record.number)

    def free(self, record: Record, names: Iterable[str] | None = None) -> dict[str, Amounts]:
        """What each node would have left at that moment, with what is releasing gone and what is
        promised come; of some resources, or all.
        """
        nodes = self.state_at(record)["nodes"]
        if names is None:
            return {name: added(added(node["idle"], node["releasing"]), node["pipelined"], -1.0)
                    for name, node in nodes.items()}
        wanted = list(names)
        return {name: {each: node["idle"].get(each, 0.0) + node["releasing"].get(each, 0.0) - node[
            "pipelined"].get(each, 0.0) for each in wanted} for name, node in nodes.items()}

    def refusing(self, choice: Record) -> dict[str, str] | None:
        """{node: plugin} of the nodes that a plugin refused at a choice, whatever room they had;
        None where the trace has no values of all nodes for it.
        """
        last = self.trace.records[choice.number - 1] if choice.number else choice
        if last.kind != "node_values" or last["task"] != choice["task"]:
            return None
        found: dict[str, str] = {}
        for record in self._index["node_values"]:
            if record.number > last.number or record["alike"] != last["alike"]:
                continue
            for row in record["rows"]:
                found.pop(self.trace.nodes[row], None)
            for column, values in record["columns"].items():
                if column.startswith("predicate "):
                    found.update({self.trace.nodes[row]: column.partition(" ")[2] for row,
                                  value in zip(record["rows"], values, strict=True) if not value})
        return found


def _last_refusal(trace: TraceReader, task: str, node: str) -> Record | None:
    """The last objection to a node before the last time that a node was sought for the task."""
    choice = next((record.number for record in reversed(trace.records)
                   if record.kind == "chose" and record["task"] == task), 0)
    said = [record for record in trace.of("predicate", task=task, node=node)
            if record.number < choice and record["answer"] is not None]
    return said[-1] if said else None


def counts(job: JobInfo) -> tuple[int, int, int]:
    """(pods that have a place, pods that were promised one, pods that wait)."""
    return sum(len(job.in_status(s)) for s in READY_STATUSES), len(job.in_status(PIPELINED)), len(
        job.in_status(PENDING))
