"""What a cycle decided about a tree of queues, as plain rows: every level, the order, who is let
in, each gang's end.

Answers to no Go file; it reads a cycle and decides nothing. Amounts are in the units people use.
Without a tree (flat capacity, or proportion) every queue stands for itself, and the same rows have
one level.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from volcano_lab.api.formatting import in_units, quantity_text
from volcano_lab.api.queue import ROOT_QUEUE
from volcano_lab.api.resource import CPU, Resource
from volcano_lab.trace.cycle_record import queue_attributes
from volcano_lab.trace.views.cycle import QUEUE_COLUMNS, Cycle

Rows = Iterator[dict[str, Any]]
INDENT = "\u2003"
"""A wide space, which tables and charts keep at the beginning of a text."""


def levels(cycle: Cycle, resource: str = CPU) -> Rows:
    """A row a queue, each below its parent: its parent and depth, what is set, and the sums of all
    jobs at and below it.

    >>> from volcano_lab.cluster import Cluster
    >>> conf = 'actions: "enqueue, allocate"\\ntiers: [{plugins: [{name: gang}, {name: capacity, enableHierarchy: true}]}]'
    >>> cluster = Cluster().node("n1", cpu=4).queue("a").queue("b", parent="a", capability=2)
    >>> [(row["queue"], row["depth"], row["real_capability"]) for row in levels(cluster.run(conf))]
    [('root', 0, 4), ('a', 1, 4), ('b', 2, 2), ('default', 1, 4)]
    """
    attrs = queue_attributes(cycle.session)
    known = {row["queue"]: row for row in cycle.queues()}
    for name in sorted(known, key=lambda name: (*ancestors(attrs[name]), name)):
        row = {
            column: value.get(resource, 0) if column in QUEUE_COLUMNS else value
            for column, value in known[name].items()
        }
        line = ancestors(attrs[name])
        yield {**row, "depth": len(line), "parent": line[-1] if line else ""}


def ancestors(attr: Any) -> tuple[str, ...]:
    """The queues above one, from the root down; none where there is no tree."""
    return getattr(attr, "ancestors", ())


def indented(row: dict[str, Any]) -> str:
    """A queue's name, as far in as it lies deep."""
    return INDENT * row["depth"] + row["queue"]


def order(cycle: Cycle, shares: dict[str, float]) -> Rows:
    """The queues that have jobs, first to last; of each the queues from the top down to it, with
    the shares it opened with.

    Two queues are compared where their ways part. `shares` are those of the moment when the session
    opened.
    """
    attrs = queue_attributes(cycle.session)
    for place, queue in enumerate(cycle.queue_order, 1):
        way = [name for name in (*ancestors(attrs[queue]), queue) if name != ROOT_QUEUE]
        yield {"place": place, "queue": queue, "way": [(name, shares[name]) for name in way]}


def admission(cycle: Cycle, job: str = "", resource: str = CPU) -> Rows:
    """What enqueue compared, for one job ("namespace/name") or all, from the job's queue up: each
    part, and both sides.

    >>> from volcano_lab.cluster import Cluster
    >>> conf = 'actions: enqueue\\ntiers: [{plugins: [{name: capacity, enableHierarchy: true}]}]'
    >>> cycle = Cluster().node("n1", cpu=4).queue("a", capability=2).job("j", queue="a", pods=3, cpu=1).run(conf)
    >>> [(row["level"], row["sum"], row["may_hold"], row["verdict"]) for row in admission(cycle)]
    [('a', 3, 2, 'refused')]
    """
    for fact in cycle.record.facts.get("enqueue_comparison", ()):
        if job in ("", fact["job"]) and "allocated" in fact:
            parts = {
                "minimum": "min_resources", "allocated": "allocated", "inqueue": "inqueue",
                "elastic": "elastic", "sum": "asked", "may_hold": "limit"
            }
            yield {
                "job": fact["job"], "level": fact.get("level", fact["queue"]), **{
                    word: in_units(resource, fact[name].get(resource)) for word, name in parts.items(
                    )
                }, "verdict": "refused" if fact["short_of"] else "room"
            }


def over_limit(cycle: Cycle, job: str) -> str:
    """The level that had no room for one more pod of a job that was being placed; "" where none was
    in the way.
    """
    pods = {task.key for task in cycle.session.jobs[job].tasks.values()}
    for fact in cycle.record.facts.get("allocatable_level", ()):
        if fact["task"] in pods and fact["short_of"]:
            name = fact["short_of"][0]
            return (
                f"with one more pod {fact['level']} would hold {name} {_amount(name, fact['asked'])}, "
                f"and may hold {_amount(name, fact['limit'])}")
    return ""


def gangs(cycle: Cycle) -> Rows:
    """A row a job that has pods waiting or placed in this cycle: its phase, how its statements
    ended, and why it waits.
    """
    for row in cycle.jobs():
        outcomes = [record.outcome for record in cycle.statements(row["job"])]
        if outcomes or row["pending"]:
            outcome = "commit" if "commit" in outcomes else next(iter(outcomes), "none")
            steps = [f"{step['operation']} {step['pod'].rpartition('-')[2]} on {step['node']}"
                     for step in cycle.operations(row["job"])]
            why = (over_limit(cycle, row["job"])
                   or next(iter(row["why"]), "")) if row["pending"] else ""
            yield {
                "job": row["job"], "phase": row["phase"], "statement": outcome, "operations": steps,
                "why": why
            }


def _amount(name: str, resource: Resource) -> str:
    return quantity_text(name, in_units(name, resource.get(name)))
