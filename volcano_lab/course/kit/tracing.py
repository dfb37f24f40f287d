"""A trace as a table in a lesson: calls and answers; the log."""

import contextlib
import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from volcano_lab.cluster import Cluster
from volcano_lab.messages import Message, gettext, log, mark
from volcano_lab.scheduler import traced
from volcano_lab.trace import TraceReader, short
from volcano_lab.widgets import pictures

if TYPE_CHECKING:
    from pandas import DataFrame
else:
    DataFrame = Any  # pandas is imported with the first table

ABOUT = ("queue", "job", "task", "node", "left", "right")
"""The possible subjects of a call."""


def trace_of(cluster: Cluster, conf: str | None = None) -> TraceReader:
    """Return the trace of a cycle over a cluster, with a configuration's text or the default.

    >>> from volcano_lab.cluster import Cluster
    >>> trace = trace_of(Cluster().node("n1", cpu=4).job("train", pods=1, cpu=1))
    >>> answers(trace, "overused", "allocatable")["answer"].tolist()
    [False, True, True]
    """
    return traced(cluster.objects(), conf)[0]


def answers(trace: TraceReader, *points: str, **facts: Any) -> DataFrame:
    """Return plugins' answers to extension points, in order: action, question, its subject, plugin,
    answer; with facts such as `queue="a"` only those about it.
    """
    rows: list[dict[str, Any]] = [{
        "record": record.number, "action": record.action, "question": record["point"], "about":
        _about(record.facts), "plugin": record["plugin"], "answer": record["answer"]
    } for record in trace.records if record.kind == "call" and record["point"] in points
        and facts.items() <= record.facts.items()]
    return frame(rows, "record", ["record", "action", "question", "about", "plugin", "answer"])


def asked(title: str, cluster: Cluster, point: str, conf: str | None = None, verdict: str = ""
          ) -> pictures.Picture:
    """Draw which plugins a cycle asks a question about each job, by tier, and what they answer.

    >>> from volcano_lab.cluster import Cluster
    >>> asked("", Cluster().node("n1", cpu=4).job("a", pods=9, cpu=1), "job_enqueueable").alt
    'a: overcommit no. An empty box: not asked.'
    """
    trace, ssn = traced(cluster.objects(), conf)
    tiers = enumerate(ssn.points[point].tiers, 1)
    rows: dict[str, dict[str, Any]] = {}
    for call in trace.iter(point):
        yes = call["answer"] > 0
        rows.setdefault(short(call["job"]), {})[call["plugin"]] = {
            "text": str(Message("yes" if yes else "no")), "yes": yes}
    return pictures.votes(title, {
        "tiers": [{"name": gettext("tier {number}", number=number), "decides": False, "note": "",
                   "plugins": [plugin for plugin, _ in tier]} for number, tier in tiers if tier],
        "rows": [{"name": name, "votes": votes} for name, votes in rows.items()],
        "verdict": verdict}, legend="An empty box: not asked.")


def frame(rows: Any, index: str | list[str], columns: list[str] | None = None) -> DataFrame:
    """Return a table of rows that are named by some of their columns.

    >>> print(frame([{"pod": "a", "node": "n1"}], "pod"))
        node
    pod
    a     n1
    """
    import pandas as pd

    return pd.DataFrame(rows, columns=columns).set_index(index)


def _about(facts: dict[str, Any]) -> str:
    return mark(", ").join(str(Message("about", kind=Message(f"about.kind.{name}"),
                                       name=short(str(facts[name]))))
                           for name in ABOUT if name in facts)


def logged(run: Callable[[], Any], level: int, *words: str) -> list[str]:
    """Return lines of the log up to a level while something runs: those with a word, or all.

    >>> from volcano_lab.cluster import Cluster
    >>> logged(Cluster().node("n1", cpu=1).run, 3, "snapshot")
    ['V3 snapshot: jobs 0, queues 2, nodes 1; objects left out 0']
    """
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        log.verbosity(level)
        try:
            run()
        finally:
            log.verbosity(0)
    return [line for line in text.getvalue().splitlines()
            if not words or any(word in line for word in words)]
