"""Sharing in rounds, step by step, for lesson 03: the steps of a cycle as a table, and the loop
around a reader's own step.
"""

from collections.abc import Callable, Mapping
from typing import Any

from volcano_lab.api.formatting import in_units
from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.scenery import nodes
from volcano_lab.course.kit.tracing import DataFrame, frame
from volcano_lab.messages import gettext
from volcano_lab.trace.views.cycle import Cycle

Queue = Mapping[str, Any]
QUEUES: dict[str, Queue] = {"a": {"weight": 2, "request": 80, "capability": 50, "guarantee": 10},
          "b": {"weight": 3, "request": 60, "capability": None, "guarantee": 0},
          "c": {"weight": 5, "request": 30, "capability": None, "guarantee": 20}}
"""The worked example: three queues that compete for 100 CPUs."""


def three_queues(**guarantees: int) -> Cluster:
    """The worked example as a cluster of ten nodes; `guarantees` replace those of the queues.

    >>> from volcano_lab import tables
    >>> tables.queues(three_queues().run())["deserved"].tolist()
    [28, 42, 30]
    >>> tables.queues(three_queues(b=40).run())["deserved"].tolist()
    [24, 46, 30]
    """
    cluster = nodes(range(10), cpu=10)
    for name, queue in QUEUES.items():
        least = guarantees.get(name, queue["guarantee"])
        cluster.queue(name, weight=queue["weight"], capability=queue["capability"], guarantee=least
                      or None)
        cluster.job(f"{name}-work", queue=name, pods=queue["request"] // 2, cpu=2, min_member=1)
    return cluster


def steps(cycle: Cycle, resource: str = "cpu") -> DataFrame:
    """Every step of every round, for one resource: what a queue had, was offered, and has after its
    limits.

    >>> print(steps(three_queues().run()).loc[1, ["offered in all", "deserves"]])
           offered in all  deserves
    queue
    a                  20        20
    b                  30        30
    c                  50        30
    """
    done = {"request": "its request is met", "capability": "it cannot grow", "": ""}
    rows: list[dict[str, Any]] = []
    for number, round_ in enumerate(cycle.rounds, 1):
        for step in round_.steps:
            weight = cycle.session.queues[step.queue].weight
            before, offered, after = (in_units(resource, amount.get(resource))
                                      for amount in (step.before, step.offered, step.after))
            rows.append({"round": number, "queue": step.queue,
                         "weight": gettext("{weight} of {total}", weight=weight,
                                           total=round_.total_weight), "had": before,
                         "offered in all": offered,
                         "deserves": after, "more": (after or 0) - (before or 0),
                         "drops out because": gettext(done[step.met])})
    return frame(rows, ["round", "queue"])


def pour(total: float, queues: Mapping[str, Queue],
         take: Callable[[float, float, Queue], float]) -> list[dict[str, float]]:
    """Share `total` among queues, round by round; `take(had, offered, queue)` says what a queue has
    after its turn.

    >>> def greedy(had, offered, queue):
    ...     return min(had + offered, queue["request"])
    >>> two = {"a": {"weight": 1, "request": 2}, "b": {"weight": 1, "request": 9}}
    >>> pour(10, two, greedy)
    [{'a': 2, 'b': 5.0}, {'a': 2, 'b': 8.0}]
    """
    has: dict[str, float] = dict.fromkeys(queues, 0)
    playing, left, rounds = set(queues), total, []
    while playing and left > 0.0001:
        weights = sum(queues[name]["weight"] for name in playing)
        before, offer = dict(has), left / weights
        for name in sorted(playing):
            has[name] = take(before[name], offer * queues[name]["weight"], queues[name])
            if has[name] >= queues[name]["request"] or has[name] == before[name]:
                playing.remove(name)
        left = max(left - sum(has.values()) + sum(before.values()), 0)
        rounds.append(dict(has))
    return rounds
