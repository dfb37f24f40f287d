"""A whole trace as tables: nodes, gangs, statements, victims, records; and where time went."""

from typing import Any

from volcano_lab.display.tables.frame import Table, frame
from volcano_lab.metrics.calls import Timing
from volcano_lab.trace import TraceReader, sentence, short
from volcano_lab.trace.views import jobs, nodes


def node_use(trace: TraceReader, number: int | None = None) -> Table:
    """One row per node, a column per resource: the part in use right after a record (None: at the
    end).

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> trace, _ = traced(Cluster().node("n1", cpu=4).job("train", cpu=1).objects())
    >>> node_use(trace)["cpu"].tolist()
    [0.25]
    """
    rows: dict[str, dict[str, Any]] = {}
    for row in nodes.use(trace, number):
        rows.setdefault(row["node"], {"node": row["node"]})[row["resource"]] = row["part"]
    return frame(list(rows.values()), ["node"], "node", more=True)


def node_choices(trace: TraceReader, job: str | None = None) -> Table:
    """One row per pod and node: chosen, fits, or why not; the score, and each plugin's part of it.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> cluster = Cluster().node("n1", cpu=4).node("n2", cpu=1).job("train", cpu=2)
    >>> trace, _ = traced(cluster.objects())
    >>> node_choices(trace)[["node", "verdict"]].values.tolist()
    [['n1', 'chosen'], ['n2', 'no room']]
    """
    rows = [{"task": row["task"], "node": row["node"], "verdict": row["verdict"],
             "score": row["score"], **row["scores"]} for row in nodes.choices(trace, job)]
    return frame(rows, ["task", "node", "verdict", "score"], "task", more=True)


def gang_progress(trace: TraceReader) -> Table:
    """How many pods of each job have a place, step by step.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> trace, _ = traced(Cluster().node("n1", cpu=4).job("train", pods=2, cpu=1).objects())
    >>> gang_progress(trace)["placed"].tolist()
    [0, 1, 2]
    """
    columns = ["step", "number", "action", "job", "placed", "promised", "pods", "min_available"]
    return frame(list(jobs.gangs(trace)), columns, "step")


def statements(trace: TraceReader) -> Table:
    """One row per statement: for whom, from which record to which, what it did, and how it ended.

    >>> from volcano_lab.course.lesson_06.scene import SCENES
    >>> statements(SCENES["a gang that fits: commit"]())["outcome"].tolist()
    ['commit']
    """
    columns = ["statement", "action", "job", "from", "to", "operations", "outcome"]
    rows = [row | {"operations": ", ".join(word for word, *_ in row["steps"])}
            for row in jobs.statements(trace)]
    return frame(rows, columns, "statement")


def victims(trace: TraceReader, task: str | None = None) -> Table:
    """One row per question and candidate, a column per plugin with its tier: who lets it go, who
    keeps it, and its fate.

    >>> from volcano_lab.course.lesson_06.scene import SCENES
    >>> table = victims(SCENES["room is made: evict, pipeline, commit"]())
    >>> table[["candidate", "1 gang", "1 proportion", "fate"]].loc[1].values.tolist()
    [['web-0', 'may go', 'may go', 'not chosen'], ['web-1', 'may go', 'may go', 'evicted']]
    """
    rows: dict[tuple[int, str], dict[str, Any]] = {}
    for row in jobs.victims(trace, task):
        about = {"question": row["question"], "action": row["action"], "for": short(row["task"]),
                 "candidate": short(row["candidate"])}
        held = rows.setdefault((row["question"], row["candidate"]), about)
        held[f"{row['tier']} {row['plugin']}"] = row["verdict"]
        held.pop("fate", None)  # the last column
        held["fate"] = ("evicted" if row["evicted"] else "not chosen" if row["agreed"] else "stays")
    columns = ["question", "action", "for", "candidate", "fate"]
    return frame(list(rows.values()), columns, "question", more=True)


def times(timing: Timing) -> Table:
    """One row per phase, plugin and what it did: milliseconds and calls.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import Scheduler
    >>> timing = Timing()
    >>> _ = Scheduler(Cluster().node("n1", cpu=4).job("a", cpu=1).cache()).run_once(timing)
    >>> times(timing).loc["allocate"].query("what == 'overused'")["calls"].tolist()
    [2]
    """
    rows = [row | {"milliseconds": 1000 * row["seconds"]} for row in timing.rows()]
    return frame(rows, ["phase", "plugin", "what", "milliseconds", "calls"], "phase")


def records(trace: TraceReader, *kinds: str) -> Table:
    """One row per record, in sentences; of some kinds, or all.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> trace, _ = traced(Cluster().node("n1", cpu=4).job("a", cpu=1).objects())
    >>> records(trace, "do")["what happened"].tolist()
    ['allocate a-0 on n1']
    """
    rows = [{"number": record.number, "action": record.action, "kind": record.kind,
             "what_happened": sentence(record)} for record in trace.records if not kinds
            or record.kind in kinds]
    return frame(rows, ["number", "action", "kind", "what_happened"], "number")
