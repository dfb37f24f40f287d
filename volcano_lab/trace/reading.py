"""Reading a trace: by extension point, by task, node by node."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from volcano_lab.messages import Message
from volcano_lab.trace import kinds, shown, state
from volcano_lab.trace.record import Record

SCORES = ("node_order", "batch_node_order")
NODE_POINTS = ("predicate", *SCORES)
Columns = dict[str, dict[str, Any]]
"""Node -> the plugins' answers for it, by column."""


class TraceReader(shown.Shown):
    """A cycle's `records` in the order in which they happened, and the state at their `start`.

    `start` is the state of tasks, jobs, nodes and queues when the session opened, `log` what each
    record changed (see `state.py`), `nodes` the names of the nodes in search order, `queue_order`
    the queues with jobs in their order when the session opened.

    Attributes:
        whole: Whether it has all that the stepper needs; an `Outline` lacks the changes of steps.
    """

    whole = True

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.log: dict[int, state.Seen] = {}
        self.start: state.State = {"tasks": {}, "jobs": {}, "nodes": {}, "queues": {}}
        self.nodes: list[str] = []
        self.queue_order: list[str] = []

    @property
    def end(self) -> state.State | None:
        """The state at the end where it is known without stepping."""
        return None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.records)} records)"

    def _shown(self) -> Iterable[shown.Part]:
        yield str(Message("trace", records=len(self.records), nodes=len(self.nodes)))
        counts = Counter((record.action, record.kind) for record in self.records)
        yield [{"action": action, "kind": kind, "records": count,
                "what": kinds.KINDS[kind].about if kind in kinds.KINDS else ""}
               for (action, kind), count in counts.items()]

    # -- by kind -----------------------------------------------------------------------------------

    def of(self, name: str, /, **facts: Any) -> list[Record]:
        """Return the calls of an extension point, or the records of another kind, with the given
        facts.

        >>> from volcano_lab.scheduler import traced
        >>> from volcano_lab.cluster import Cluster
        >>> trace, _ = traced(Cluster().node("n1", cpu=4).job("a", cpu=1).objects())
        >>> [record["answer"] for record in trace.of("job_ready", plugin="gang", job="default/a")]
        [True, True, True]
        """
        return list(self.iter(name, **facts))

    def iter(self, name: str, /, **facts: Any) -> Iterator[Record]:
        for record in self.records:
            named = record.kind == name or (record.kind == "call" and record.get("point") == name)
            if named and all(record.get(key) == value for key, value in facts.items()):
                yield record

    @property
    def operations(self) -> list[Record]:
        """Return the operations done, undone and committed, in order."""
        return [record for record in self.records if record.kind in kinds.OPERATIONS]

    def calls_of(self, asked: Record) -> list[Record]:
        """Return the plugins' answers that a combined answer consists of."""
        point = asked["point"]
        return [record for record in self.records[asked["since"] : asked.number]
                if record.kind == "call" and record.get("point") == point]

    def searches(self, tasks: Collection[str], before: int | None = None
                 ) -> dict[str, tuple[Record, Columns]]:
        """Return the choice of each task's last search (before a record's number), and the answers
        for each node, {node: {column: value}}.

        The columns are "fit" (2 now, 1 later, 0 not) and "point plugin", such as "node_order
        binpack"; where each call was recorded there is no "fit".
        """
        known: dict[int, dict[str, list[Any]]] = {}
        found: dict[str, tuple[Record, Columns]] = {}
        calls: Columns = {}
        last = None  # the last kind of task
        for record in self.records[:before]:
            if record.kind == "node_values":
                last = record["alike"]
                for column, values in record["columns"].items():
                    whole = known.setdefault(last, {}).setdefault(column, [None] * len(self.nodes))
                    for row, value in zip(record["rows"], values, strict=True):
                        whole[row] = value
            elif record.kind == "call" and record.values[0] in NODE_POINTS:
                if record.get("task") in tasks:
                    _take_call(calls, record)
            elif record.kind == "chose":
                if record["task"] in tasks:
                    at_once = {} if last is None else {
                        node: {column: values[row] for column, values in known[last].items()}
                        for row, node in enumerate(self.nodes)}
                    found[record["task"]] = record, calls or at_once
                calls, last = {}, None
        return found

    def node_values(self, task: str, before: int | None = None) -> Columns:
        """Return the answers for each node in a task's last search; whether a plugin objected is
        False or True. See `searches`.
        """
        _, columns = self.searches({task}, before).get(task, (None, {}))
        return {node: {column: value in (None, True) if column.startswith("predicate ") else value
                       for column, value in row.items()} for node, row in columns.items()}

    def scores(self, task: str, before: int | None = None) -> dict[str, dict[str, float]]:
        """Return {node: {plugin: score}} of that search.

        >>> from volcano_lab.scheduler import traced
        >>> from volcano_lab.cluster import Cluster
        >>> cluster = Cluster().node("n1", cpu=4).node("n2", cpu=8).job("a", cpu=1)
        >>> trace, _ = traced(cluster.objects())
        >>> every_call, _ = traced(cluster.objects(), every_call=True)
        >>> trace.scores("default/a-0") == every_call.scores("default/a-0")
        True
        >>> trace.scores("default/a-0")["n1"]
        {'nodeorder': 475.0, 'predicates': 0.0}
        """
        rows = self.node_values(task, before)
        found = {node: scores_of(row) for node, row in rows.items()}
        return {node: scores for node, scores in found.items() if scores}


def scores_of(row: dict[str, Any]) -> dict[str, float]:
    """Return a node's score of each plugin, from its columns."""
    scores: dict[str, float] = {}
    for column, value in row.items():
        point, _, plugin = column.partition(" ")
        if point in SCORES and isinstance(value, int | float):
            scores[plugin] = scores.get(plugin, 0.0) + value
    return scores


def _take_call(calls: Columns, record: Record) -> None:
    column = f"{record['point']} {record['plugin']}"
    at_once = record["point"] == "batch_node_order"
    answers = record["answer"] if at_once else {record["node"]: record["answer"]}
    for node, answer in answers.items():
        calls.setdefault(node, {})[column] = answer
